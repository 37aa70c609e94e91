// SPDX-License-Identifier: Apache-2.0
// Registers and variables.
#include <string.h>

#include "ptx/parse.h"

static const struct {
    const char *text;
    u8 space;
} space_words[] = {
    {".global", SPACE_GLOBAL},      {".shared", SPACE_SHARED},
    {".local", SPACE_LOCAL},        {".const", SPACE_CONST},
    {".param", SPACE_PARAM},        {".tex", SPACE_TEX},
    {".shared::cta", SPACE_SHARED}, {".shared::cluster", SPACE_SHARED_CLUSTER},
    {".param::entry", SPACE_PARAM}, {".param::func", SPACE_PARAM},
};

bool parse_space(Str dotted, u8 *space) {
    for (u32 i = 0; i < WL_COUNT(space_words); i++) {
        if (!parse_is(dotted, space_words[i].text)) continue;
        *space = space_words[i].space;
        return true;
    }
    return false;
}

static u8 find_type(Str dotted) {
    for (u8 i = 1; i < TYPE_COUNT; i++) {
        if (parse_is((Str){dotted.data + 1, dotted.len - 1}, ptx_types[i].text)) return i;
    }
    return TYPE_NONE;
}

static u8 find_vector(Str dotted) {
    if (dotted.len != 3 || dotted.data[1] != 'v') return 0;
    return dotted.data[2] == '2' || dotted.data[2] == '4' || dotted.data[2] == '8' ? (u8)(dotted.data[2] - '0') : 0;
}

// ---- registers

static bool add_regs(Parser *p, const char *at, const RegDecl *decl) {
    if (decl->count > MAX_REGS || p->regs.len + decl->count > MAX_REGS) return parse_error(p, at, "too many registers");
    if (vec_reserve(&p->regs, decl->count) != STATUS_OK) return parse_no_memory(p);
    Reg reg = {
        .prefix = decl->prefix, .number = WL_NONE, .scope = decl->scope, .type = decl->type, .vector = decl->vector};
    for (u32 i = 0; i < decl->count; i++) {
        if (decl->ranged) reg.number = i;
        p->regs.data[p->regs.len++] = reg;
    }
    u8 kind = decl->ranged ? BIND_RANGE : BIND_REG;
    return symbol_bind(p, at, kind, decl->prefix, decl->first, decl->count);
}

static bool parse_reg_name(Parser *p, RegDecl decl) {
    Str name;
    if (!parse_name(p, "a register name", &name) || !parse_intern(p, name, &decl.prefix)) return false;
    decl.first = p->regs.len;
    decl.count = 1;
    decl.scope = p->open.data[p->open.len - 1].scope;
    decl.insn = parse_insn_index(p);
    decl.order = p->order++;
    if (*p->lex.at == '<') {
        p->lex.at++;
        lex_skip(&p->lex);
        Literal count = lex_number(&p->lex);  // not an expression: '>' ends it
        if (count.kind != LITERAL_INT || count.bits > MAX_REGS)
            return parse_error(p, name.data, "bad number of registers");
        if (!parse_expect(p, '>')) return false;
        decl.count = (u32)count.bits;
        decl.ranged = true;
    }
    return PUSH(p, &p->reg_decls, decl) && add_regs(p, name.data, &decl);
}

// The type and perhaps a vector width, in any order.
static bool parse_reg_type(Parser *p, u8 *type, u8 *vector) {
    *type = TYPE_NONE;
    *vector = 1;
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    for (Str word; (word = lex_dotted(&p->lex)).len; lex_skip(&p->lex)) {
        u8 found = find_type(word), lanes = find_vector(word);
        if (!found && !lanes) return parse_error(p, word.data, "expected the type of a register");
        if (found) *type = found;
        if (lanes) *vector = lanes;
    }
    if (*type && ptx_types[*type].class != TYPE_CLASS_OPAQUE) return true;
    return parse_error(p, at, "expected the type of a register");
}

bool parse_reg_decl(Parser *p) {
    RegDecl decl = {0};
    if (!parse_reg_type(p, &decl.type, &decl.vector)) return false;
    do {
        if (!parse_reg_name(p, decl)) return false;
    } while (parse_accept(p, ','));
    return parse_expect(p, ';');
}

// ---- variables

// One attribute of a list, `.managed` or `.unified(1, 2)`, as a Directive.
static bool parse_attribute(Parser *p) {
    lex_skip(&p->lex);
    Str word = lex_dotted(&p->lex);
    if (!word.len) return parse_error(p, p->lex.at, "expected an attribute");
    Directive attribute = {.values = p->refs.len, .insn = WL_NONE, .scope = WL_NONE};
    if (!parse_intern(p, (Str){word.data + 1, word.len - 1}, &attribute.name)) return false;
    if (parse_accept(p, '(')) {
        do {
            u64 value;  // a UUID half: two refs, low first
            if (!parse_integer(p, "a number", &value)) return false;
            if (!PUSH(p, &p->refs, (u32)value) || !PUSH(p, &p->refs, (u32)(value >> 32))) return false;
        } while (parse_accept(p, ','));
        if (!parse_expect(p, ')')) return false;
    }
    attribute.value_count = p->refs.len - attribute.values;
    return PUSH(p, &p->directives, attribute);
}

bool parse_attributes(Parser *p, u32 *first, u32 *count) {
    *first = p->directives.len;
    if (!parse_expect(p, '(')) return false;
    do {
        if (!parse_attribute(p)) return false;
    } while (parse_accept(p, ','));
    *count = p->directives.len - *first;
    return parse_expect(p, ')');
}

static bool parse_align(Parser *p, u32 *align) {
    const char *at = p->lex.at;
    if (!parse_u32(p, "an alignment", align)) return false;
    if (*align && !(*align & (*align - 1))) return true;
    return parse_error(p, at, "an alignment is a power of two");
}

// .ptr [.space] [.align N]
static bool parse_ptr(Parser *p, Var *var) {
    u8 space = SPACE_NONE;
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    Str word = lex_dotted(&p->lex);
    if (!parse_space(word, &space)) p->lex.at = at;
    lex_skip(&p->lex);
    at = p->lex.at;
    word = lex_dotted(&p->lex);
    var->ptr_space = (u8)(space + 1);
    if (parse_is(word, ".align")) return parse_align(p, &var->ptr_align);
    p->lex.at = at;
    return true;
}

static bool is_managed(const Parser *p, const Var *var) {
    u32 managed = intern_find(&p->m->texts, STR("managed"));
    for (u32 i = 0; i < var->attribute_count; i++) {
        if (p->directives.data[var->attributes + i].name == managed) return true;
    }
    return false;
}

// .const[2]: the bank of PTX 1.x and 2.x, kept as an attribute.
static bool parse_bank(Parser *p, Var *var) {
    u32 bank;
    Directive attribute = {.values = p->refs.len, .value_count = 1, .insn = WL_NONE, .scope = WL_NONE};
    if (!parse_u32(p, "a constant bank", &bank) || !parse_expect(p, ']')) return false;
    if (!parse_intern(p, STR("bank"), &attribute.name) || !PUSH(p, &p->refs, bank)) return false;
    var->attributes = p->directives.len;
    var->attribute_count = 1;
    return PUSH(p, &p->directives, attribute);
}

// What stands between the state space and the name.
static bool parse_var_type(Parser *p, Var *var) {
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    if (var->space == SPACE_CONST && parse_accept(p, '[') && !parse_bank(p, var)) return false;
    for (Str word; (word = lex_dotted(&p->lex)).len; lex_skip(&p->lex)) {
        u8 type = find_type(word), vector = find_vector(word);
        if (type && var->type) return parse_error(p, word.data, "a variable has one type");
        if (var->attribute_count && parse_is(word, ".attribute"))  // a bank is kept as one
            return parse_error(p, word.data, "attributes are given once, and not with a constant bank");
        if (type)
            var->type = type;
        else if (vector)
            var->vector = vector;
        else if (parse_is(word, ".align")       ? !parse_align(p, &var->align)
                 : parse_is(word, ".ptr")       ? !parse_ptr(p, var)
                 : parse_is(word, ".attribute") ? !parse_attributes(p, &var->attributes, &var->attribute_count)
                                                : !parse_error(p, word.data, "'%.*s' is not known here",
                                                               (int)(word.len < 60 ? word.len : 60), word.data))
            return false;
    }
    if (!var->type) return parse_error(p, at, "expected the type of a variable");
    if (var->type == TYPE_PRED && var->space != SPACE_REG)
        return parse_error(p, at, "predicates live in registers only");
    var->managed = is_managed(p, var);
    return true;
}

static bool parse_dims(Parser *p, Var *var) {
    var->dims = p->dims.len;
    u64 size = (u64)type_bytes(var->type) * var->vector;
    while (parse_accept(p, '[')) {
        u64 extent = 0;
        const char *at = p->lex.at;
        if (*p->lex.at != ']' && !parse_integer(p, "an array size", &extent)) return false;
        if (!parse_expect(p, ']')) return false;
        if (extent == 0 && p->dims.len > var->dims) return parse_error(p, at, "only the first extent may be left out");
        if (extent > UINT32_MAX || __builtin_mul_overflow(size, extent, &size) || size > 1ull << 40) {
            return parse_error(p, at, "array too large");
        }
        if (extent == 0) var->unsized = true, size = (u64)type_bytes(var->type) * var->vector;
        if (!PUSH(p, &p->dims, (u32)extent)) return false;
    }
    var->dim_count = p->dims.len - var->dims;
    if (var->dim_count > 8) return parse_error(p, p->lex.at, "more than 8 dimensions");
    var->size = var->unsized ? 0 : size;
    return true;
}

static void natural_align(Var *var) {
    u32 natural = type_bytes(var->type) * (u32)var->vector;
    while (natural & (natural - 1)) natural &= natural - 1;
    if (natural > 128) natural = 128;
    if (var->align < natural) var->align = natural;
}

static bool parse_declarator(Parser *p, Var *var) {
    Str name;
    if (!parse_name(p, "a variable name", &name) || !parse_intern(p, name, &var->name)) return false;
    var->line = p->lex.line;
    var->insn = parse_insn_index(p);
    var->order = p->order++;
    if (!parse_dims(p, var)) return false;
    natural_align(var);
    if (parse_accept(p, '=') && !parse_initializer(p, var)) return false;
    u32 ref = p->vars.len;
    if (!PUSH(p, &p->vars, *var)) return false;
    if (p->func == WL_NONE && !PUSH(p, &p->global_vars, ref)) return false;
    return symbol_bind(p, name.data, BIND_VAR, var->name, ref, 0);
}

bool parse_variables(Parser *p, u8 space, u8 linkage) {
    Var var = {.space = space, .linkage = linkage, .vector = 1, .func = p->func, .scope = WL_NONE, .reg = WL_NONE};
    if (p->open.len) var.scope = p->open.data[p->open.len - 1].scope;
    if (!parse_var_type(p, &var)) return false;
    do {
        Var one = var;
        if (!parse_declarator(p, &one)) return false;
    } while (parse_accept(p, ','));
    return parse_expect(p, ';');
}

bool parse_parameter(Parser *p, Var *var, bool *named) {
    lex_skip(&p->lex);
    *var = (Var){.vector = 1, .func = WL_NONE, .scope = WL_NONE, .reg = WL_NONE};
    Str word = lex_dotted(&p->lex);
    if (parse_is(word, ".reg"))
        var->space = SPACE_REG;
    else if (!parse_space(word, &var->space) || var->space != SPACE_PARAM) {
        return parse_error(p, p->lex.at, "expected .param or .reg");
    }
    if (!parse_var_type(p, var)) return false;
    Str name;
    if (!parse_name(p, "a parameter name", &name) || !parse_intern(p, name, &var->name)) return false;
    var->line = p->lex.line;
    *named = !parse_is(name, "_");
    if (!parse_dims(p, var)) return false;
    natural_align(var);
    return true;
}
