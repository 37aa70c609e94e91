// SPDX-License-Identifier: Apache-2.0
// What a machine instruction computes, in the vocabulary of FlowArith: moves, sums, products, shifts, comparisons of
// integers. Carries make the upper half of 64 bits and are opaque: the lower half stands for the whole.
#include <string.h>

#include "flow/flow_sass.h"

typedef struct Sources {  // operands that are read and are no predicates
    const SassOperand *list[4];
    u32 count;
    const SassOperand *predicate;  // the last one that is read
    u32 predicates;                // written
} Sources;

static Sources sources_of(const SassAdapter *a, const SassInsn *source) {
    Sources s = {0};
    for (u32 i = 0; i < source->operand_count; i++) {
        const SassOperand *o = &a->sources[i];
        bool predicate = o->kind == SASS_OPERAND_REG && (o->reg.file == SASS_P || o->reg.file == SASS_UP);
        if (o->is_def)
            s.predicates += predicate && o->reg.index != SASS_ZERO;
        else if (predicate)
            s.predicate = o;
        else if (s.count < WL_COUNT(s.list))
            s.list[s.count++] = o;
    }
    return s;
}

static bool is_zero(const SassOperand *o) {
    if (o->kind == SASS_OPERAND_REG) return o->reg.index == SASS_ZERO;
    return o->kind == SASS_OPERAND_IMMEDIATE && !o->is_float && !o->value;
}
static bool is_number(const SassOperand *o) { return o->kind == SASS_OPERAND_IMMEDIATE && !o->is_float; }
static bool is_plain(const SassOperand *o) { return !o->negated && !o->inverted && !o->absolute; }

static Status make(SassAdapter *a, FlowArith arith, const SassOperand *const *operands, u32 count, bool is_signed) {
    a->insn->arith = (u8)arith;
    for (u32 i = 0; i < count; i++) TRY(flow_sass_use(a, operands[i], 0, is_signed));
    return STATUS_OK;
}
#define MAKE(a, arith, ...)                                                                                         \
    make((a), (arith), (const SassOperand *[]){__VA_ARGS__}, (u32)WL_COUNT(((const SassOperand *[]){__VA_ARGS__})), \
         true)

// All words of a constant, a register pair, a special register.
static Status make_move(SassAdapter *a, const SassOperand *from) {
    if (!is_plain(from) || from->kind == SASS_OPERAND_OTHER || !a->insn->defs) return STATUS_OK;
    a->insn->arith = FLOW_MOVE;
    u32 words = a->insn->defs;
    if (from->kind == SASS_OPERAND_REG && from->reg.index != SASS_ZERO && words > from->reg.count)
        words = from->reg.count;
    for (u32 k = 0; k < words; k++) TRY(flow_sass_use(a, from, k, false));
    return STATUS_OK;
}

static Status make_sum(SassAdapter *a, const SassInsn *source, const Sources *s) {
    const SassOperand *plus[3], *minus[3];
    u32 added = 0, subtracted = 0;
    if (sass_has(source, "X") || s->count > 3) return STATUS_OK;
    for (u32 i = 0; i < s->count; i++) {
        const SassOperand *o = s->list[i];
        if (o->inverted || o->absolute) return STATUS_OK;
        if (is_zero(o)) continue;
        if (o->negated)
            minus[subtracted++] = o;
        else
            plus[added++] = o;
    }
    if (subtracted == 0 && added == 0) return make_move(a, s->list[0]);
    if (subtracted == 0 && added == 1) return MAKE(a, FLOW_MOVE, plus[0]);
    if (subtracted == 0 && added == 2) return MAKE(a, FLOW_ADD, plus[0], plus[1]);
    if (subtracted == 0) return MAKE(a, FLOW_ADD3, plus[0], plus[1], plus[2]);
    if (subtracted == 1 && added == 1) return MAKE(a, FLOW_SUB, plus[0], minus[0]);
    if (subtracted == 1 && added == 0) return MAKE(a, FLOW_NEGATE, minus[0]);
    return STATUS_OK;
}

// IMAD and its nicknames: .MOV, .SHL and .IADD are only told apart by the disassembler.
static Status make_product(SassAdapter *a, const SassInsn *source, const Sources *s) {
    if (s->count < 2 || sass_has(source, "HI") || sass_has(source, "X")) return STATUS_OK;
    const SassOperand *l = s->list[0], *r = s->list[1], *c = s->count > 2 ? s->list[2] : NULL;
    bool is_signed = !sass_has(source, "U32");
    bool negates = c && c->negated && !c->absolute && !c->inverted && c->kind == SASS_OPERAND_REG && !is_zero(c);
    if ((is_zero(l) || is_zero(r)) && negates && !sass_has(source, "WIDE")) return MAKE(a, FLOW_NEGATE, c);
    if (is_zero(l) || is_zero(r)) return c ? make_move(a, c) : STATUS_OK;
    if (!is_plain(l) || !is_plain(r)) return STATUS_OK;
    bool one = is_number(r) && r->value == 1;
    if (c && c->negated && one && !c->absolute) return MAKE(a, FLOW_SUB, l, c);
    if (!c || is_zero(c)) return make(a, FLOW_MUL, (const SassOperand *[]){l, r}, 2, is_signed);
    if (!is_plain(c)) return STATUS_OK;
    return make(a, FLOW_MULADD, (const SassOperand *[]){l, r, c}, 3, is_signed);
}

// (a << shift) + b
static Status make_lea(SassAdapter *a, const SassInsn *source, const Sources *s) {
    bool whole = !sass_has(source, "HI") && !sass_has(source, "X");
    if (!whole || s->count != 3 || !is_number(s->list[2]) || s->list[2]->value < 0 || s->list[2]->value > 31)
        return STATUS_OK;
    if (!is_plain(s->list[0]) || !is_plain(s->list[1])) return STATUS_OK;
    a->insn->arith = FLOW_MULADD;
    TRY(flow_sass_use(a, s->list[0], 0, true));
    TRY(flow_sass_immediate(a, 1ll << s->list[2]->value));
    return flow_sass_use(a, s->list[1], 0, true);
}

// SHF.L.U32 R, low, shift, RZ; SHF.R.S32.HI R, RZ, shift, high
static Status make_shift(SassAdapter *a, const SassInsn *source, const Sources *s) {
    if (s->count != 3 || sass_has(source, "U64") || sass_has(source, "S64")) return STATUS_OK;
    for (u32 i = 0; i < 3; i++)
        if (!is_plain(s->list[i])) return STATUS_OK;
    bool left = sass_has(source, "L"), high = sass_has(source, "HI");
    if (left && !high && is_zero(s->list[2])) return MAKE(a, FLOW_SHIFT_LEFT, s->list[0], s->list[1]);
    if (left || !is_zero(s->list[high ? 0 : 2])) return STATUS_OK;
    return make(a, FLOW_SHIFT_RIGHT, (const SassOperand *[]){s->list[high ? 2 : 0], s->list[1]}, 2,
                sass_has(source, "S32"));
}

static Status make_logic(SassAdapter *a, const Sources *s) {
    enum { LUT_AND = 0xc0, LUT_OR = 0xfc };  // of a and b (PTX ISA, lop3)
    if (s->count != 4 || !is_zero(s->list[2]) || !is_number(s->list[3]) || s->predicates) return STATUS_OK;
    if (!is_plain(s->list[0]) || !is_plain(s->list[1])) return STATUS_OK;
    if (s->list[3]->value == LUT_AND) return MAKE(a, FLOW_AND, s->list[0], s->list[1]);
    if (s->list[3]->value == LUT_OR) return MAKE(a, FLOW_OR, s->list[0], s->list[1]);
    return STATUS_OK;
}

static Status make_compare(SassAdapter *a, const SassInsn *source, const Sources *s) {
    static const struct {
        const char *name;
        u8 compare;
    } names[] = {{"EQ", FLOW_EQUAL},      {"NE", FLOW_NOT_EQUAL}, {"LT", FLOW_LESS},
                 {"LE", FLOW_LESS_EQUAL}, {"GT", FLOW_GREATER},   {"GE", FLOW_GREATER_EQUAL}};
    bool alone = s->predicate && s->predicate->reg.index == SASS_ZERO && !s->predicate->negated;
    if (s->count != 2 || s->predicates != 1 || !alone || !sass_has(source, "AND") || sass_has(source, "EX"))
        return STATUS_OK;
    if (!is_plain(s->list[0]) || !is_plain(s->list[1])) return STATUS_OK;
    for (u32 i = 0; i < WL_COUNT(names); i++)
        if (sass_has(source, names[i].name)) a->insn->compare = names[i].compare;
    return make(a, FLOW_COMPARE, (const SassOperand *[]){s->list[0], s->list[1]}, 2, !sass_has(source, "U32"));
}

// R = P ? a : b; the smaller one with PT, the larger one with !PT
static Status make_choice(SassAdapter *a, const SassInsn *source, const Sources *s, bool extreme) {
    if (s->count != 2 || !s->predicate || !is_plain(s->list[0]) || !is_plain(s->list[1])) return STATUS_OK;
    bool fixed = s->predicate->reg.index == SASS_ZERO;
    if (extreme && !fixed) return STATUS_OK;
    if (extreme) return make(a, s->predicate->negated ? FLOW_MAX : FLOW_MIN, s->list, 2, !sass_has(source, "U32"));
    a->insn->arith = FLOW_SELECT;
    TRY(flow_sass_use(a, s->list[s->predicate->negated], 0, true));
    TRY(flow_sass_use(a, s->list[!s->predicate->negated], 0, true));
    return flow_sass_use(a, s->predicate, 0, false);
}

// HFMA2 R, -RZ, RZ, high, low: how the compiler loads a number when the integer units are busy.
static Status make_halves(SassAdapter *a, const Sources *s) {
    bool loads =
        s->count == 4 && is_zero(s->list[0]) && is_zero(s->list[1]) && s->list[2]->is_float && s->list[3]->is_float;
    if (!loads) return STATUS_OK;
    a->insn->arith = FLOW_MOVE;
    return flow_sass_immediate(a, (i64)(i32)(u32)(s->list[2]->value << 16 | (s->list[3]->value & 0xffff)));
}

Status flow_sass_arith(SassAdapter *a, const SassInsn *source) {
    Sources s = sources_of(a, source);
    if (!s.count || a->insn->defs == 0) return STATUS_OK;
    switch (source->op) {
    case SASS_OP_MOV:
    case SASS_OP_MOV32I:
    case SASS_OP_UMOV:
    case SASS_OP_S2R:
    case SASS_OP_S2UR:
    case SASS_OP_CS2R:
    case SASS_OP_LDC:
    case SASS_OP_LDCU:
    case SASS_OP_ULDC:
        return !flow_sass_is_indexed(s.list[0]) || s.list[0]->kind == SASS_OPERAND_REG ? make_move(a, s.list[0])
                                                                                       : STATUS_OK;
    case SASS_OP_HFMA2: return make_halves(a, &s);
    case SASS_OP_R2UR: return make_move(a, s.list[0]);
    case SASS_OP_IADD:
    case SASS_OP_IADD3:
    case SASS_OP_IADD32I:
    case SASS_OP_UIADD3:
    case SASS_OP_VIADD:
    case SASS_OP_UVIADD: return make_sum(a, source, &s);
    case SASS_OP_IMAD:
    case SASS_OP_IMUL:
    case SASS_OP_UIMAD: return make_product(a, source, &s);
    case SASS_OP_LEA:
    case SASS_OP_ULEA: return make_lea(a, source, &s);
    case SASS_OP_SHF:
    case SASS_OP_USHF: return make_shift(a, source, &s);
    case SASS_OP_LOP3:
    case SASS_OP_ULOP3: return make_logic(a, &s);
    case SASS_OP_ISETP:
    case SASS_OP_UISETP: return make_compare(a, source, &s);
    case SASS_OP_SEL:
    case SASS_OP_USEL: return make_choice(a, source, &s, false);
    case SASS_OP_IMNMX:
    case SASS_OP_VIMNMX:
    case SASS_OP_UIMNMX:
    case SASS_OP_UVIMNMX: return make_choice(a, source, &s, true);
    default: return STATUS_OK;
    }
}
