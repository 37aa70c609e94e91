// SPDX-License-Identifier: Apache-2.0
// Constant expressions (PTX ISA 4.6). Integers are .s64 or .u64; a float literal may only be negated, cast or grouped.
#include <string.h>

#include "ptx/parse.h"

enum { MAX_EXPR_DEPTH = 200 };

typedef struct Expr {
    Parser *p;
    u32 depth;
} Expr;

typedef enum Operator {
    OP2_NONE,
    OP2_MUL,
    OP2_DIV,
    OP2_REM,
    OP2_ADD,
    OP2_SUB,
    OP2_SHL,
    OP2_SHR,
    OP2_LT,
    OP2_LE,
    OP2_GT,
    OP2_GE,
    OP2_EQ,
    OP2_NE,
    OP2_AND,
    OP2_XOR,
    OP2_OR,
    OP2_LAND,
    OP2_LOR,
    OP2_SELECT
} Operator;

static const struct {
    char text[3];
    u8 operator, level;  // higher levels bind tighter
} operators[] = {
    // longer texts first
    {"<<", OP2_SHL, 9}, {">>", OP2_SHR, 9},  {"<=", OP2_LE, 8},  {">=", OP2_GE, 8},    {"==", OP2_EQ, 7},
    {"!=", OP2_NE, 7},  {"&&", OP2_LAND, 3}, {"||", OP2_LOR, 2}, {"*", OP2_MUL, 11},   {"/", OP2_DIV, 11},
    {"%", OP2_REM, 11}, {"+", OP2_ADD, 10},  {"-", OP2_SUB, 10}, {"<", OP2_LT, 8},     {">", OP2_GT, 8},
    {"&", OP2_AND, 6},  {"^", OP2_XOR, 5},   {"|", OP2_OR, 4},   {"?", OP2_SELECT, 1},
};

static Literal integer(u64 bits, bool is_unsigned) {
    return (Literal){.kind = LITERAL_INT, .bits = bits, .is_unsigned = is_unsigned, .suffix = is_unsigned};
}

static bool divide(Expr *e, const char *at, u8 operator, Literal a, Literal b, bool is_unsigned, Literal *value) {
    if (b.bits == 0) return parse_error(e->p, at, "division by zero");
    bool overflow = !is_unsigned && b.bits == UINT64_MAX && a.bits == 1ull << 63;
    u64 quotient, rest;
    if (is_unsigned)
        quotient = a.bits / b.bits, rest = a.bits % b.bits;
    else if (overflow)
        quotient = a.bits, rest = 0;
    else
        quotient = (u64)((i64)a.bits / (i64)b.bits), rest = (u64)((i64)a.bits % (i64)b.bits);
    *value = integer(operator== OP2_DIV ? quotient : rest, is_unsigned);
    return true;
}

static bool less(Literal a, Literal b, bool is_unsigned) {
    return is_unsigned ? a.bits < b.bits : (i64)a.bits < (i64)b.bits;
}

static bool combine(Expr *e, const char *at, u8 operator, Literal a, Literal b, Literal *value) {
    if (a.kind != LITERAL_INT || b.kind != LITERAL_INT) return parse_error(e->p, at, "operators take integers only");
    bool is_unsigned = a.is_unsigned || b.is_unsigned;
    u32 shift = (u32)(b.bits & 63);
    bool far = b.bits > 63;
    switch (operator) {
    case OP2_MUL: *value = integer(a.bits * b.bits, is_unsigned); break;
    case OP2_DIV:
    case OP2_REM: return divide(e, at, operator, a, b, is_unsigned, value);
    case OP2_ADD: *value = integer(a.bits + b.bits, is_unsigned); break;
    case OP2_SUB: *value = integer(a.bits - b.bits, is_unsigned); break;
    case OP2_SHL: *value = integer(far ? 0 : a.bits << shift, a.is_unsigned); break;
    case OP2_SHR:
        *value = a.is_unsigned ? integer(far ? 0 : a.bits >> shift, true)
                               : integer((u64)((i64)a.bits >> (far ? 63 : shift)), false);
        break;
    case OP2_LT: *value = integer(less(a, b, is_unsigned), false); break;
    case OP2_GT: *value = integer(less(b, a, is_unsigned), false); break;
    case OP2_LE: *value = integer(!less(b, a, is_unsigned), false); break;
    case OP2_GE: *value = integer(!less(a, b, is_unsigned), false); break;
    case OP2_EQ: *value = integer(a.bits == b.bits, false); break;
    case OP2_NE: *value = integer(a.bits != b.bits, false); break;
    case OP2_AND: *value = integer(a.bits & b.bits, is_unsigned); break;
    case OP2_XOR: *value = integer(a.bits ^ b.bits, is_unsigned); break;
    case OP2_OR: *value = integer(a.bits | b.bits, is_unsigned); break;
    case OP2_LAND: *value = integer(a.bits && b.bits, false); break;
    default: *value = integer(a.bits || b.bits, false); break;
    }
    return true;
}

static bool expression(Expr *e, u32 level, Literal *value);

// (.s64) or (.u64) before a value; otherwise a group.
static bool parenthesis(Expr *e, Literal *value);

static bool negate(Literal *value) {
    switch (value->kind) {
    case LITERAL_INT: *value = integer(0 - value->bits, false); return true;
    case LITERAL_F32: value->bits ^= 1u << 31; return true;
    default: value->bits ^= 1ull << 63; return true;
    }
}

static bool unary(Expr *e, Literal *value) {
    Parser *p = e->p;
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    if (++e->depth > MAX_EXPR_DEPTH) return parse_error(p, at, "expression nested deeper than %d", MAX_EXPR_DEPTH);
    bool good;
    if (strchr("-+!~", *at) && *at) {
        p->lex.at++;
        good = unary(e, value);
        if (good && *at == '-')
            negate(value);
        else if (good && *at != '+' && value->kind != LITERAL_INT)
            good = parse_error(p, at, "operators take integers only");
        else if (good && *at == '!')
            *value = integer(value->bits == 0, false);
        else if (good && *at == '~')
            *value = integer(~value->bits, value->is_unsigned);
    } else if (*at == '(') {
        p->lex.at++;
        good = parenthesis(e, value);
    } else if (lex_class[(u8)*at] & LEX_DIGIT || (*at == '.' && lex_class[(u8)at[1]] & LEX_DIGIT)) {
        *value = lex_number(&p->lex);
        good = value->kind != LITERAL_BAD || parse_error(p, at, "malformed or too large number");
    } else if (strncmp(at, "WARP_SZ", 7) == 0 && !(lex_class[(u8)at[7]] & LEX_NAME)) {
        p->lex.at += 7;
        *value = (Literal){.kind = LITERAL_INT, .bits = 32};
        good = true;
    } else {
        good = parse_error(p, at, "expected a number");
    }
    e->depth--;
    lex_skip(&p->lex);
    return good;
}

static bool parenthesis(Expr *e, Literal *value) {
    lex_skip(&e->p->lex);
    Str cast = lex_dotted(&e->p->lex);
    if (!cast.len) return expression(e, 1, value) && parse_expect(e->p, ')');
    bool is_unsigned = parse_is(cast, ".u64");
    if (!is_unsigned && !parse_is(cast, ".s64")) return parse_error(e->p, cast.data, "only .s64 and .u64 are casts");
    if (!parse_expect(e->p, ')') || !unary(e, value)) return false;
    if (value->kind != LITERAL_INT) return parse_error(e->p, cast.data, "operators take integers only");
    *value = integer(value->bits, is_unsigned);
    return true;
}

static u32 next_operator(const Parser *p) {
    if (!memchr("*/%+-<>=!&^|?", *p->lex.at, 13)) return WL_NONE;
    for (u32 i = 0; i < WL_COUNT(operators); i++) {
        if (strncmp(p->lex.at, operators[i].text, strlen(operators[i].text)) == 0) return i;
    }
    return WL_NONE;
}

static bool select_value(Expr *e, Literal *value) {
    Literal yes, no;
    if (!expression(e, 1, &yes) || !parse_expect(e->p, ':') || !expression(e, 1, &no)) return false;
    *value = value->bits ? yes : no;
    return true;
}

// The rest of an expression whose left operand is in `value`: all operators of `level` or tighter.
static bool rest_of(Expr *e, u32 level, Literal *value) {
    if (++e->depth > MAX_EXPR_DEPTH)
        return parse_error(e->p, e->p->lex.at, "expression nested deeper than %d", MAX_EXPR_DEPTH);
    for (;;) {
        lex_skip(&e->p->lex);
        u32 i = next_operator(e->p);
        if (i == WL_NONE || operators[i].level < level) break;
        const char *at = e->p->lex.at;
        e->p->lex.at += strlen(operators[i].text);
        if (operators[i].operator== OP2_SELECT) {
            if (!select_value(e, value)) return false;
            continue;
        }
        Literal right;
        if (!expression(e, operators[i].level + 1u, &right) ||
            !combine(e, at, operators[i].operator, * value, right, value))
            return false;
    }
    e->depth--;
    return true;
}

static bool expression(Expr *e, u32 level, Literal *value) { return unary(e, value) && rest_of(e, level, value); }

bool parse_constant(Parser *p, Literal *value) { return expression(&(Expr){.p = p}, 1, value); }

bool parse_constant_rest(Parser *p, Literal *value) { return rest_of(&(Expr){.p = p}, 1, value); }

bool parse_integer(Parser *p, const char *what, u64 *value) {
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    Literal literal;
    if (!parse_constant(p, &literal)) return false;
    if (literal.kind != LITERAL_INT) return parse_error(p, at, "expected %s", what);
    *value = literal.bits;
    return true;
}

bool parse_u32(Parser *p, const char *what, u32 *value) {
    lex_skip(&p->lex);
    const char *at = p->lex.at;
    u64 wide;
    if (!parse_integer(p, what, &wide)) return false;
    if (wide > UINT32_MAX) return parse_error(p, at, "expected %s", what);
    *value = (u32)wide;
    return true;
}
