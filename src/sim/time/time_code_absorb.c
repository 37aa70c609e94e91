// SPDX-License-Identifier: Apache-2.0
// What one machine instruction does of two PTX instructions: multiply-adds, shifted and three-input sums, the greatest
// of three. Each from what ptxas 13.0 makes for sm_90 of the two alone, 400 of them.
#include "sim/time/time_lower.h"

// The last source is a number: the amount of a shift.
static bool by_literal(const TimeFunc *f, u32 insn) {
    u32 uses = f->code->insns[insn].uses;
    return uses >= 2 && time_uses(f, insn)[uses - 1].kind == FLOW_IMMEDIATE;
}

static bool by_power(const TimeFunc *f, u32 insn) {
    i64 number = by_literal(f, insn) ? time_uses(f, insn)[f->code->insns[insn].uses - 1u].value : 0;
    return number > 0 && !(number & (number - 1));
}

// Rounded to an integer of the same type, which becomes one: F2I rounds.
static bool is_rounded(const TimeFunc *f, u32 insn, u32 def) {
    const Form *form = time_form(f, insn), *from = time_form(f, def);
    u16 rounding = from->mods[MOD_RND];
    bool whole = rounding == RND_RNI || rounding == RND_RZI || rounding == RND_RMI || rounding == RND_RPI;
    bool same = from->types[0] == from->types[1] && form->types[1] == from->types[0] && !from->mods[MOD_SAT];
    return form->op == OP_CVT_F && from->op == OP_CVT_F && whole && same &&
           ptx_types[form->types[0]].class != TYPE_CLASS_FLOAT;
}

static bool is_sum(u32 op) { return op == OP_ADD_INT || op == OP_SUB_INT; }

// A sum that is one IMAD.WIDE or LEA with what it adds is left as it is.
static bool adds_product(const TimeFunc *f, u32 insn) {
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        const FlowOperand *o = &time_uses(f, insn)[k];
        u32 def = o->kind == FLOW_VALUE ? f->sole_def[o->id] : WL_NONE;
        if (def == WL_NONE) continue;
        if (time_op(f, def) == OP_MUL_WIDE || time_op(f, def) == OP_MUL_INT || time_op(f, def) == OP_SHL) return true;
    }
    return false;
}

// Sums of 64 bits.
static bool sum_absorbs_wide(const TimeFunc *f, u32 insn, u32 def, u32 value, u32 *steps) {
    bool add = time_op(f, insn) == OP_ADD_INT;
    switch (time_op(f, def)) {
    case OP_MUL_WIDE:  // IMAD.WIDE
        *steps = def;
        return add;
    case OP_MUL_INT:  // IMAD.WIDE and the upper words'
        *steps = def;
        return add && time_is_single(f, value) && time_form(f, def)->mods[MOD_MUL_HALF] != MUL_HALF_HI;
    case OP_CVT_INT: return time_bits(f, def, 1) == 32;                         // IADD3, LEA.HI.X.SX32
    case OP_SHL: return add && by_literal(f, def) && time_is_single(f, value);  // LEA, LEA.HI.X; for several: once
    case OP_ADD_INT:
    case OP_SUB_INT:  // IADD3, IADD3.X
        return time_bits(f, def, 0) == 64 && time_is_single(f, value) && !adds_product(f, def);
    default: return false;
    }
}

// A sum with a number or 0, as a condition says: an addition and a move of its own (time_code_overwrite.c).
static bool counts(const TimeFunc *f, u32 insn) {
    for (u32 k = 0; time_op(f, insn) == OP_ADD_INT && k < f->code->insns[insn].uses; k++) {
        const FlowOperand *o = &time_uses(f, insn)[k];
        u32 def = o->kind == FLOW_VALUE ? f->sole_def[o->id] : WL_NONE;
        if (def != WL_NONE && time_selects_number(f, def)) return true;
    }
    return false;
}

// Sums of 32 bits.
static bool sum_absorbs(const TimeFunc *f, u32 insn, u32 def, u32 value, u32 *steps) {
    bool add = time_op(f, insn) == OP_ADD_INT;
    switch (time_op(f, def)) {
    case OP_SHL: return by_literal(f, def);  // LEA; IMAD by a negative power of two
    case OP_SHR:
    case OP_SHF: return add && by_literal(f, def);  // LEA.HI
    case OP_MUL_WIDE:                               // of 16 bits: LEA, IMAD
        if (add && by_power(f, def)) return true;
        *steps = def;
        return add && time_is_single(f, value);
    case OP_MUL_INT: {  // IMAD, with the addend's sign or that of a literal
        const FlowOperand *first = time_uses(f, insn);
        bool product_first = first->kind == FLOW_VALUE && first->id == value;
        *steps = def;
        return time_is_single(f, value) && time_form(f, def)->mods[MOD_MUL_HALF] != MUL_HALF_HI &&
               (add || product_first || by_literal(f, def));
    }
    case OP_ADD_INT:
    case OP_SUB_INT:
    case OP_NEG_INT: return time_is_single(f, value) && !counts(f, insn) && !counts(f, def);  // IADD3
    default: return false;
    }
}

// VIMNMX3 and VIADDMNMX, since Hopper.
static bool extreme_absorbs(const TimeFunc *f, u32 insn, u32 def, u32 value) {
    bool words = time_bits(f, insn, 0) == 32 && time_bits(f, def, 0) == 32 && !time_form(f, def)->mods[MOD_SAT];
    bool fits = time_op(f, def) == OP_ADD_INT ||
                (time_op(f, def) == time_op(f, insn) && time_form(f, def)->types[0] == time_form(f, insn)->types[0]);
    return f->lower->gpu->sm_version >= 90 && words && fits && time_is_single(f, value);
}

// A comparison with zero of bits that operations on them have made: LOP3 writes a predicate, of 64 bits one for each
// word.
bool time_tests_bits(const TimeFunc *f, u32 insn, u32 def, u32 value) {
    u32 from = time_op(f, def), compare = f->code->insns[insn].compare;
    bool of_zero = by_literal(f, insn) && time_uses(f, insn)[1].value == 0;
    bool equal = compare == FLOW_EQUAL || compare == FLOW_NOT_EQUAL;
    return time_op(f, insn) == OP_SETP_INT && of_zero && equal && time_is_logic(from) && from != OP_NOT &&
           time_is_single(f, value) && f->code->insns[def].guard == WL_NONE &&
           time_bits(f, def, 0) == time_bits(f, insn, 0);
}

// FFMA, DFMA, HFMA2.
static bool contracts(const TimeFunc *f, u32 insn, u32 def, u32 value) {
    static const struct {
        u16 sum, difference, product;
    } rows[] = {
        {OP_ADD_F, OP_SUB_F, OP_MUL_F}, {OP_ADD_F64, OP_SUB_F64, OP_MUL_F64}, {OP_ADD_HALF, OP_SUB_HALF, OP_MUL_HALF}};
    u32 op = time_op(f, insn), from = time_op(f, def);
    if (time_form(f, insn)->mods[MOD_RND] || time_form(f, def)->mods[MOD_RND] || !time_is_single(f, value))
        return false;
    for (u32 i = 0; i < WL_COUNT(rows); i++)
        if ((op == rows[i].sum || op == rows[i].difference) && from == rows[i].product) return true;
    return false;
}

bool time_takes_bytes(const TimeFunc *f, u32 insn, u32 def) {
    const Form *form = time_form(f, insn), *from = time_form(f, def);
    if (form->op != OP_CVT_F || form->types[0] != TYPE_F32 || time_bits(f, insn, 1) != 32) return false;
    if (ptx_types[form->types[1]].class == TYPE_CLASS_FLOAT) return false;
    i64 mask = by_literal(f, def) ? time_uses(f, def)[1].value : 0;
    if (from->op == OP_AND) return mask == UINT8_MAX || mask == UINT16_MAX;
    if (from->op == OP_CVT_INT) return time_bits(f, def, 1) == 8;
    return from->op == OP_BFE && time_variant(f, def) == VARIANT_BYTES;
}

// What is divided by a power of two is multiplied by that of the negative exponent: no MUFU.RCP.
static bool inverts_power(const TimeFunc *f, u32 insn, u32 def, u32 value) {
    const Form *form = time_form(f, insn), *from = time_form(f, def);
    const FlowOperand *divisor = &time_uses(f, insn)[form->op == OP_DIV_F];
    bool rough = form->mods[MOD_APPROX] == APPROX_APPROX && form->mods[MOD_FTZ] && from->mods[MOD_FTZ];
    return rough && from->op == OP_EX2 && divisor->kind == FLOW_VALUE && divisor->id == value &&
           time_is_single(f, value);
}

bool time_absorbs(const TimeFunc *f, u32 insn, u32 def, u32 value, u32 *steps) {
    u32 op = time_op(f, insn), own = insn;
    const FlowInsn *d = &f->code->insns[def];
    if (d->guard != WL_NONE || d->has_effects) return false;
    if (is_rounded(f, insn, def)) return time_is_single(f, value);  // F2I.FLOOR
    bool absorbs = false;
    if (is_sum(op) && time_bits(f, insn, 0) == 64)
        absorbs = sum_absorbs_wide(f, insn, def, value, &own);
    else if (is_sum(op) && time_bits(f, insn, 0) == 32 && !time_form(f, insn)->mods[MOD_SAT])
        absorbs = sum_absorbs(f, insn, def, value, &own);
    else if (op == OP_MIN_INT || op == OP_MAX_INT)
        absorbs = extreme_absorbs(f, insn, def, value);
    else if (op == OP_CVT_F)
        absorbs = time_takes_bytes(f, insn, def);
    else if (op == OP_RCP || op == OP_DIV_F)
        absorbs = inverts_power(f, insn, def, value);
    else if (op == OP_SETP_INT)
        absorbs = time_tests_bits(f, insn, def, value);
    else
        absorbs = contracts(f, insn, def, value);
    if (absorbs) *steps = own;
    return absorbs;
}
