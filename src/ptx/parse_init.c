// SPDX-License-Identifier: Apache-2.0
// Initialisers: nested lists of constants and addresses, laid out as bytes (Module.init_bytes) and relocations.
#include <string.h>

#include "ptx/parse.h"

enum { MAX_INIT_BYTES = 1 << 28 };

typedef struct Init {
    Parser *p;
    Var *var;
    u32 levels;     // array dimensions, and one for vectors
    u64 spans[10];  // elements below each level; spans[levels] is 1
} Init;

static bool place(Init *init, const char *at, u64 position, u32 *offset) {
    Parser *p = init->p;
    u64 size = type_bytes(init->var->type), begin = position * size, end = begin + size;
    if (!init->var->unsized && end > init->var->size) return parse_error(p, at, "more initial values than elements");
    if (init->var->init + end > MAX_INIT_BYTES) return parse_error(p, at, "initial value too large");
    while (init->var->init_size < end) {
        u32 more = (u32)(end - init->var->init_size);
        if (vec_reserve(&p->init_bytes, more) != STATUS_OK) return parse_no_memory(p);
        memset(p->init_bytes.data + p->init_bytes.len, 0, more);
        p->init_bytes.len += more;
        init->var->init_size = (u32)end;
    }
    *offset = (u32)begin;
    return true;
}

static u64 bits_of_f64(f64 value) {
    u64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The literal as the bits of an element of `type`.
static bool convert(Init *init, const char *at, Literal literal, u64 *bits) {
    const TypeInfo *type = &ptx_types[init->var->type];
    f64 wide;
    f32 narrow;
    if (literal.kind == LITERAL_F32) {
        u32 low = (u32)literal.bits;
        memcpy(&narrow, &low, sizeof narrow);
        wide = (f64)narrow;
    } else if (literal.kind == LITERAL_F64) {
        memcpy(&wide, &literal.bits, sizeof wide);
    } else {
        wide = literal.is_unsigned ? (f64)literal.bits : (f64)(i64)literal.bits;
    }
    bool is_float = init->var->type == TYPE_F32 || init->var->type == TYPE_F64;
    if (!is_float && literal.kind != LITERAL_INT && type->class != TYPE_CLASS_BITS) {
        return parse_error(init->p, at, "a .%s cannot start with a float", type->text);
    }
    if (literal.kind == LITERAL_INT && !is_float) {
        *bits = literal.bits;
    } else if (literal.kind == LITERAL_F32 && type->bits == 32) {
        *bits = literal.bits;
    } else if (type->bits == 64) {
        *bits = bits_of_f64(wide);
    } else if (type->bits == 32) {
        u32 low;
        narrow = (f32)wide;
        memcpy(&low, &narrow, sizeof low);
        *bits = low;
    } else {
        return parse_error(init->p, at, "a .%s cannot start with a float", type->text);
    }
    return true;
}

static bool put_number(Init *init, const char *at, u64 position, Literal literal) {
    u32 offset;
    u64 bits = 0;
    if (!convert(init, at, literal, &bits) || !place(init, at, position, &offset)) return false;
    u32 size = type_bytes(init->var->type);
    u8 *bytes = init->p->init_bytes.data + init->var->init + offset;
    for (u32 i = 0; i < size; i++) bytes[i] = i < 8 ? (u8)(bits >> i * 8) : 0;
    return true;
}

// symbol, generic(symbol), either with an offset. The rest of the record is filled in by the caller.
static bool parse_target(Init *init, VarReloc *reloc) {
    Parser *p = init->p;
    Str name;
    if (!parse_name(p, "a symbol", &name)) return false;
    if (parse_is(name, "generic") && *p->lex.at == '(') {
        if (!parse_expect(p, '(') || !parse_name(p, "a symbol", &name) || !parse_expect(p, ')')) return false;
        reloc->generic = true;
    }
    u32 number;
    Binding binding = symbol_find(p, name, &number);
    if (binding.kind == BIND_VAR || binding.kind == BIND_FUNC) {
        reloc->is_func = binding.kind == BIND_FUNC;
        reloc->target = binding.ref;
    } else if (!symbol_pend(p, name, PENDING_RELOC, p->relocs.len)) {
        return false;
    }
    if (*p->lex.at != '+' && *p->lex.at != '-') return true;
    Literal addend = {.kind = LITERAL_INT};
    if (!parse_constant_rest(p, &addend)) return false;
    if (addend.kind != LITERAL_INT) return parse_error(p, name.data, "an offset is an integer");
    reloc->addend = (i64)addend.bits;
    return true;
}

static bool put_address(Init *init, const char *at, u64 position, u64 mask) {
    u32 shift = 0;
    u32 size = type_bytes(init->var->type);
    if (mask) {
        shift = (u32)__builtin_ctzll(mask) & ~7u;
        if (mask >> shift != 0xff) return parse_error(init->p, at, "a mask selects one byte");
    }
    if (size > 8) return parse_error(init->p, at, "an address does not fit here");
    VarReloc reloc = {.size = (u8)size, .shift = (u8)shift, .target = WL_NONE};
    if (!parse_target(init, &reloc) || !place(init, at, position, &reloc.offset)) return false;
    return PUSH(init->p, &init->p->relocs, reloc);
}

// A number, an address, or 0xFF00(address).
static bool parse_value(Init *init, u64 position) {
    Parser *p = init->p;
    const char *at = p->lex.at;
    bool warp_size = strncmp(at, "WARP_SZ", 7) == 0 && !(lex_class[(u8)at[7]] & LEX_NAME);
    if (lex_class[(u8)*at] & LEX_FIRST && !warp_size) return put_address(init, at, position, 0);
    Literal literal;
    if (!parse_constant(p, &literal)) return false;
    if (*p->lex.at != '(') return put_number(init, at, position, literal);
    if (literal.kind != LITERAL_INT || !literal.bits) return parse_error(p, at, "a mask selects one byte");
    return parse_expect(p, '(') && put_address(init, at, position, literal.bits) && parse_expect(p, ')');
}

// A list in braces at `level`, whose first element is element `position` of the variable.
static bool parse_init_list(Init *init, u32 level, u64 position) {
    Parser *p = init->p;
    u64 first = position, room = level == 0 && init->var->unsized ? UINT64_MAX : init->spans[level];
    if (parse_accept(p, '}')) return true;
    for (;;) {
        lex_skip(&p->lex);
        const char *at = p->lex.at;
        if (position - first >= room) return parse_error(p, at, "more initial values than elements");
        if (*at == '{') {
            if (level + 1 >= init->levels) return parse_error(p, at, "more braces than dimensions");
            p->lex.at++;
            if (!parse_init_list(init, level + 1, position)) return false;
            position += init->spans[level + 1];
        } else {
            if (!parse_value(init, position)) return false;
            position++;
        }
        if (parse_accept(p, '}')) return true;
        if (!parse_expect(p, ',')) return false;
    }
}

// { addr_mode_0 = clamp_to_border, filter_mode = nearest }: kept as text, in an attribute called "opaque".
static bool parse_opaque(Parser *p, Var *var) {
    if (!parse_accept(p, '{')) return parse_error(p, p->lex.at, "expected '{'");
    const char *from = p->lex.at, *to = from;
    while (to < p->lex.end && *to != '}' && *to != ';' && *to != '\n') to++;
    if (*to != '}') return parse_error(p, from, "expected '}' on the same line");
    Directive opaque = {.value_count = 1, .insn = WL_NONE, .scope = WL_NONE, .is_text = true, .values = p->refs.len};
    u32 text, old = var->attributes;
    if (!parse_intern(p, STR("opaque"), &opaque.name) || !parse_intern(p, (Str){from, (size_t)(to - from)}, &text))
        return false;
    var->attributes = p->directives.len;
    for (u32 i = 0; i < var->attribute_count; i++) {
        if (!PUSH(p, &p->directives, p->directives.data[old + i])) return false;
    }
    var->attribute_count++;
    p->lex.at = to + 1;
    return PUSH(p, &p->refs, text) && PUSH(p, &p->directives, opaque);
}

bool parse_initializer(Parser *p, Var *var) {
    if (ptx_types[var->type].class == TYPE_CLASS_OPAQUE) return parse_opaque(p, var);
    Init init = {.p = p, .var = var};
    init.levels = var->dim_count + (var->vector > 1);
    u64 span = 1;
    init.spans[init.levels] = 1;
    for (u32 i = init.levels; i-- > 0;) {
        span *= i >= var->dim_count ? var->vector : p->dims.data[var->dims + i] ? p->dims.data[var->dims + i] : 1;
        init.spans[i] = span;
    }
    var->init = p->init_bytes.len;
    var->reloc = p->relocs.len;
    bool good;
    if (parse_accept(p, '{')) {
        good = init.levels ? parse_init_list(&init, 0, 0) : parse_value(&init, 0) && parse_expect(p, '}');
    } else {
        good = init.levels ? parse_error(p, p->lex.at, "expected '{'") : parse_value(&init, 0);
    }
    var->reloc_count = p->relocs.len - var->reloc;
    if (!var->unsized || !var->init_size) return good;
    u64 row = init.spans[0] * type_bytes(var->type);
    var->size = row ? (var->init_size + row - 1) / row * row : 0;
    var->unsized = false;
    return good;
}
