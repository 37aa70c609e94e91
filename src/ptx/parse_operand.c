// SPDX-License-Identifier: Apache-2.0
// Operands. They gather on Parser.scratch, because the elements of a group must lie side by side in Module.operands.
#include <string.h>

#include "ptx/parse.h"

static bool find_sreg(Str name, u32 *sreg) {
    for (u32 i = 0; name.data[0] == '%' && i < SREG_COUNT; i++) {
        if (ptx_sregs[i].text[1] != name.data[1] || !parse_is(name, ptx_sregs[i].text)) continue;
        *sreg = i;
        return true;
    }
    return false;
}

// ---- selectors: %v.x, %tid.y, %r1.b0, %r1.h32

static u8 plain_selector(Str word) {
    static const char names[] = "xyzwrgba";
    const char *found = word.len == 1 ? strchr(names, word.data[0]) : NULL;
    if (found && *found) return (u8)(COMPONENT_X + (found - names) % 4);
    if (word.len != 2 || word.data[1] < '0') return 0;
    if (word.data[0] == 'b' && word.data[1] <= '3') return (u8)(COMPONENT_B0 + word.data[1] - '0');
    if (word.data[0] == 'h' && word.data[1] <= '1') return (u8)(COMPONENT_H0 + word.data[1] - '0');
    return 0;
}

// .b3210, .h32: several digits, each a nibble.
static bool digit_selector(Str word, Operand *operand) {
    if (word.len < 3 || word.len > 5 || (word.data[0] != 'b' && word.data[0] != 'h')) return false;
    u64 nibbles = 0;
    for (size_t i = 1; i < word.len; i++) {
        if (word.data[i] < '0' || word.data[i] > '7') return false;
        nibbles = nibbles << 4 | (u64)(word.data[i] - '0');
    }
    operand->component = word.data[0] == 'b' ? COMPONENT_BYTES : COMPONENT_HALVES;
    operand->value = nibbles | (u64)(word.len - 1) << 32;
    return true;
}

static bool parse_selector(Parser *p, Operand *operand) {
    if (*p->lex.at != '.') return true;
    Str word = lex_dotted(&p->lex);
    Str name = {word.data + 1, word.len ? word.len - 1 : 0};
    u8 plain = plain_selector(name);
    if (operand->kind == OPERAND_SREG) {
        if (!plain || plain > COMPONENT_W) return parse_error(p, word.data, "special registers have .x .y .z .w only");
        operand->component = (u8)(plain - COMPONENT_X);
        return true;
    }
    if (plain)
        operand->component = plain;
    else if (!digit_selector(name, operand))
        return parse_error(p, word.data, "unknown element selector");
    return true;
}

// ---- literals

static void operand_of_literal(const Literal *literal, Operand *operand) {
    static const u8 kinds[] = {[LITERAL_INT] = OPERAND_INT, [LITERAL_F32] = OPERAND_F32, [LITERAL_F64] = OPERAND_F64};
    *operand = (Operand){.kind = kinds[literal->kind], .value = literal->bits};
    if (literal->kind != LITERAL_INT) return;
    if (literal->suffix) operand->flags |= OPERAND_UNSIGNED;
    if (!literal->is_unsigned && literal->bits >> 63) operand->flags |= OPERAND_NEGATIVE;
}

static bool parse_literal(Parser *p, Operand *operand) {
    Literal literal;
    const char *at = p->lex.at;
    if (lex_class[(u8)*at] & LEX_DIGIT) {  // mostly a number and nothing else
        literal = lex_number(&p->lex);
        if (literal.kind != LITERAL_BAD && (*p->lex.at == ';' || *p->lex.at == ',' || *p->lex.at == ']')) {
            operand_of_literal(&literal, operand);
            return true;
        }
        if (literal.kind == LITERAL_BAD) return parse_error(p, at, "malformed or too large number");
        if (!parse_constant_rest(p, &literal)) return false;
    } else if (!parse_constant(p, &literal)) {
        return false;
    }
    operand_of_literal(&literal, operand);
    return true;
}

// ---- symbols

static bool symbol_offset(Parser *p, Operand *operand) {
    lex_skip(&p->lex);
    if (*p->lex.at != '+' && *p->lex.at != '-') return true;
    Literal offset = {.kind = LITERAL_INT};
    const char *at = p->lex.at;
    if (!parse_constant_rest(p, &offset)) return false;
    if (offset.kind != LITERAL_INT) return parse_error(p, at, "an offset is an integer");
    operand->value = offset.bits;
    return true;
}

static bool unknown_symbol(Parser *p, Str name, Operand *operand) {
    u32 sreg;
    if (find_sreg(name, &sreg)) {
        *operand = (Operand){.kind = OPERAND_SREG, .ref = sreg, .component = 0xff};
        return parse_selector(p, operand);
    }
    if (parse_is(name, "WARP_SZ")) {
        Literal literal = {.kind = LITERAL_INT, .bits = 32};
        if (!parse_constant_rest(p, &literal)) return false;
        operand_of_literal(&literal, operand);
        return true;
    }
    if (name.data[0] == '%') {
        return parse_error(p, name.data, "register '%.*s' is not declared", (int)(name.len < 100 ? name.len : 100),
                           name.data);
    }
    *operand = (Operand){.kind = OPERAND_LABEL, .flags = OPERAND_PENDING, .ref = p->pendings.len};
    return symbol_pend(p, name, PENDING_OPERAND, WL_NONE) && symbol_offset(p, operand);
}

static bool parse_symbol(Parser *p, Operand *operand) {
    Str name = lex_name(&p->lex);
    u32 number;
    Binding binding = symbol_find(p, name, &number);
    switch (binding.kind) {
    case BIND_RANGE:
    case BIND_REG:
        *operand = (Operand){.kind = OPERAND_REG, .ref = binding.ref + (binding.kind == BIND_RANGE ? number : 0)};
        return parse_selector(p, operand);
    case BIND_VAR: *operand = (Operand){.kind = OPERAND_VAR, .ref = binding.ref}; return symbol_offset(p, operand);
    case BIND_FUNC: *operand = (Operand){.kind = OPERAND_FUNC, .ref = binding.ref}; return true;
    default: return unknown_symbol(p, name, operand);
    }
}

// ---- groups

static void note_place(Parser *p, Operand *operand, u32 index) {
    if (!(operand->flags & OPERAND_PENDING)) return;
    p->pendings.data[operand->ref].at = index;
    operand->flags &= (u8)~OPERAND_PENDING;
}

bool parse_flush_operands(Parser *p, u32 from, u32 *first) {
    u32 count = p->scratch.len - from;
    *first = p->operands.len;
    if (vec_reserve(&p->operands, count) != STATUS_OK) return parse_no_memory(p);
    for (u32 i = 0; i < count; i++) {
        Operand *operand = &p->operands.data[p->operands.len];
        *operand = p->scratch.data[from + i];
        note_place(p, operand, p->operands.len++);
    }
    p->scratch.len = from;
    return true;
}

static bool finish_group(Parser *p, u32 from, u8 kind, u8 flags, Operand *operand) {
    u32 count = p->scratch.len - from;
    *operand = (Operand){.kind = kind, .flags = flags};
    operand->count = count;
    return parse_flush_operands(p, from, &operand->ref);
}

// A whole vector register is the list of its elements: `%v` is {%v.x, %v.y, ...} from here on.
static bool expand_vector(Parser *p, Operand *operand) {
    if (operand->kind != OPERAND_REG || operand->component) return true;
    u32 count = p->regs.data[operand->ref].vector, from = p->scratch.len;
    if (count < 2) return true;
    for (u32 i = 0; i < count; i++) {
        Operand element = *operand;
        element.component = (u8)(COMPONENT_X + i);
        if (!PUSH(p, &p->scratch, element)) return false;
    }
    return finish_group(p, from, OPERAND_VECTOR, 0, operand);
}

static bool parse_element(Parser *p, Operand *operand);

// Elements up to `close`, which is taken. The opening character was taken.
static bool parse_list(Parser *p, char close, u8 kind, u8 flags, Operand *operand) {
    u32 from = p->scratch.len;
    if (!parse_accept(p, close)) {
        for (;;) {
            Operand element;
            if (!parse_element(p, &element) || !PUSH(p, &p->scratch, element)) return false;
            if (parse_accept(p, close)) break;
            if (!parse_expect(p, ',')) return false;
        }
    }
    return finish_group(p, from, kind, flags, operand);
}

// Inside [ ]: reg, reg+imm, var, var+imm, imm. The operand is REG, VAR, INT or (reg+imm) ADDRESS.
static bool parse_base(Parser *p, Operand *operand) {
    lex_skip(&p->lex);
    if (!(lex_class[(u8)*p->lex.at] & LEX_FIRST)) return parse_literal(p, operand);
    const char *at = p->lex.at;
    if (!parse_symbol(p, operand)) return false;
    if (operand->kind == OPERAND_SREG || operand->kind == OPERAND_FUNC)
        return parse_error(p, at, "this cannot be an address");
    if (operand->kind != OPERAND_REG) return true;
    lex_skip(&p->lex);
    if (*p->lex.at != '+' && *p->lex.at != '-') return true;
    operand->kind = OPERAND_ADDRESS;
    operand->base = OPERAND_REG;
    return symbol_offset(p, operand);
}

static void address_of_base(Operand *operand) {
    if (operand->kind == OPERAND_ADDRESS) return;
    operand->base = operand->kind;
    operand->kind = OPERAND_ADDRESS;
    if (operand->base == OPERAND_INT) operand->ref = WL_NONE;
}

// [a], or [a, {..}], [a, b, {..}] of textures and tensors.
static bool parse_address(Parser *p, Operand *operand) {
    u32 from = p->scratch.len;
    Operand base;
    if (!parse_base(p, &base)) return false;
    if (base.kind != OPERAND_INT && base.kind != OPERAND_REG && base.kind != OPERAND_VAR &&
        base.kind != OPERAND_ADDRESS && base.kind != OPERAND_LABEL) {
        return parse_error(p, p->lex.at, "this cannot be an address");
    }
    if (parse_accept(p, ',')) {
        if (!PUSH(p, &p->scratch, base)) return false;
        do {
            Operand element;
            if (!parse_element(p, &element) || !PUSH(p, &p->scratch, element)) return false;
        } while (parse_accept(p, ','));
        return parse_expect(p, ']') && finish_group(p, from, OPERAND_GROUP, 0, operand);
    }
    if (!parse_expect(p, ']')) return false;
    *operand = base;
    address_of_base(operand);
    if (strncmp(p->lex.at, ".unified", 8) == 0 && !(lex_class[(u8)p->lex.at[8]] & LEX_NAME)) {
        p->lex.at += 8;
        operand->flags |= OPERAND_UNIFIED;
    }
    return true;
}

static bool parse_negated(Parser *p, Operand *operand) {
    const char *at = p->lex.at++;
    lex_skip(&p->lex);
    if (!(lex_class[(u8)*p->lex.at] & LEX_FIRST)) {  // an operator on a literal
        p->lex.at = at;
        return parse_literal(p, operand);
    }
    if (strncmp(p->lex.at, "WARP_SZ", 7) == 0) return p->lex.at = at, parse_literal(p, operand);
    if (!parse_symbol(p, operand)) return false;
    if (operand->kind != OPERAND_REG && operand->kind != OPERAND_SREG)
        return parse_error(p, at, "only registers can be negated");
    operand->flags |= *at == '-' ? OPERAND_NEGATED | OPERAND_MINUS : OPERAND_NEGATED;
    return true;
}

static bool is_sink(const Lexer *lex) { return lex->at[0] == '_' && !(lex_class[(u8)lex->at[1]] & LEX_NAME); }

// An operand without a `|p` behind it.
static bool parse_single(Parser *p, bool call, Operand *operand) {
    char c = *p->lex.at;
    if (is_sink(&p->lex)) {
        p->lex.at++;
        *operand = (Operand){.kind = OPERAND_SINK};
        return true;
    }
    if (lex_class[(u8)c] & LEX_FIRST) return parse_symbol(p, operand) && expand_vector(p, operand);
    switch (c) {
    case '[': p->lex.at++; return parse_address(p, operand);
    case '{': p->lex.at++; return parse_list(p, '}', OPERAND_VECTOR, 0, operand);
    case '(':
        if (!call) return parse_literal(p, operand);
        p->lex.at++;
        return parse_list(p, ')', OPERAND_GROUP, OPERAND_PAREN, operand);
    case '!':
    case '-': return parse_negated(p, operand);
    default: return parse_literal(p, operand);
    }
}

// Elements of lists nest only as [a, {..}]; a deeper vector is refused here.
static bool parse_element(Parser *p, Operand *operand) {
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    if (*at == '{') {
        p->lex.at++;
        u32 from = p->scratch.len;
        for (;;) {
            Operand element;
            lex_skip(&p->lex);
            if (*p->lex.at == '{' || *p->lex.at == '[') return parse_error(p, p->lex.at, "lists are nested too deeply");
            const char *begin = p->lex.at;
            if (!parse_single(p, false, &element)) return false;
            if (element.kind == OPERAND_VECTOR) return parse_error(p, begin, "a list cannot hold a whole vector");
            if (!PUSH(p, &p->scratch, element)) return false;
            if (parse_accept(p, '}')) break;
            if (!parse_expect(p, ',')) return false;
        }
        return finish_group(p, from, OPERAND_VECTOR, 0, operand);
    }
    if (*at == '[') return parse_error(p, at, "an address cannot be an element of a list");
    return parse_single(p, false, operand);
}

bool parse_operand(Parser *p, bool call, Operand *operand) {
    if (!parse_single(p, call, operand)) return false;
    lex_skip(&p->lex);
    if (*p->lex.at != '|') return true;
    if (operand->kind != OPERAND_REG && operand->kind != OPERAND_SINK && operand->kind != OPERAND_VECTOR) {
        return parse_error(p, p->lex.at, "only a destination can be followed by '|'");
    }
    p->lex.at++;
    lex_skip(&p->lex);
    u32 from = p->scratch.len;
    Operand second;
    if (!PUSH(p, &p->scratch, *operand) || !parse_single(p, false, &second) || !PUSH(p, &p->scratch, second))
        return false;
    lex_skip(&p->lex);
    return finish_group(p, from, OPERAND_PAIR, 0, operand);
}
