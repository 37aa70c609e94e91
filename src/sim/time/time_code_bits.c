// SPDX-License-Identifier: Apache-2.0
// What is known of the words of 64 bits: which are zero, and which nobody asks for. One that is known takes no
// instruction of its own. Addresses of constant, local and shared memory have 32 bits, so of those that are computed
// with 64 (ld.const, and what the generic address was taken of) the lower words are; conversions to 64 bits for them
// cost nothing [L].
#include "sim/time/time_lower.h"

// --- lower words --------------------------------------------------------------------------------------------------
// Whether the lower word of what an instruction makes depends on nothing but that of its operand `use`.
static bool keeps_lower(const TimeFunc *f, u32 insn, u32 use) {
    const Form *form = time_form(f, insn);
    switch (form->op) {
    case OP_ADD_INT:
    case OP_SUB_INT:
    case OP_NEG_INT:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_MOV: return form->mods[MOD_SAT] == 0;
    case OP_MUL_INT:
    case OP_MAD_INT: return form->mods[MOD_MUL_HALF] != MUL_HALF_HI;
    case OP_MAD_WIDE: return use == 2;
    case OP_SELP: return use < 2;
    case OP_SHL: return use == 0;
    default: return false;
    }
}

static bool is_near(u8 space) { return space == SPACE_CONST || space == SPACE_LOCAL || space == SPACE_SHARED; }

// x & 0xffffffff
static bool masks_upper(const TimeFunc *f, u32 insn, u32 use) {
    const FlowOperand *other = time_uses(f, insn) + 1 - use;
    return time_op(f, insn) == OP_AND && use < 2 && other->kind == FLOW_IMMEDIATE && (u64)other->value >> 32 == 0;
}

// Whether an instruction asks for no more than the lower word of its operand `use`.
static bool asks_for_lower(const TimeFunc *f, u32 insn, u32 use) {
    const FlowInsn *in = &f->code->insns[insn];
    if (masks_upper(f, insn, use)) return true;
    if (in->is_load || in->is_store || in->is_atomic) return use == in->address_use && is_near(in->space);
    if (time_op(f, insn) == OP_CVT_INT) return time_bits(f, insn, 0) <= 32 && !time_form(f, insn)->mods[MOD_SAT];
    if (in->defs != 1 || in->kind != FLOW_PLAIN || !keeps_lower(f, insn, use)) return false;
    return bitset_has(&f->lower_only, f->code->operands[in->operands].id);
}

static bool drop_whole(TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    bool dropped = false;
    for (u32 k = 0; k < in->uses; k++) {
        const FlowOperand *use = &time_uses(f, insn)[k];
        if (use->kind != FLOW_VALUE || !bitset_has(&f->lower_only, use->id) || asks_for_lower(f, insn, k)) continue;
        bitset_remove(&f->lower_only, use->id);
        dropped = true;
    }
    return dropped;
}

// From all values of 64 bits, less those of which somebody asks for more.
Status time_find_lower(TimeFunc *f) {
    if (!bitset_init(&f->lower_only, &f->lower->scratch, f->code->value_count + 1)) return STATUS_NO_MEMORY;
    for (u32 v = 0; v < f->code->value_count; v++)
        if (f->code->value_bits[v] == 64 && f->use_count[v]) bitset_add(&f->lower_only, v);
    for (bool dropped = true; dropped;) {
        dropped = false;
        for (u32 i = f->code->insn_count; i-- > 0;) dropped |= drop_whole(f, i);
    }
    return STATUS_OK;
}

bool time_makes_lower(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return in->defs == 1 && bitset_has(&f->lower_only, f->code->operands[in->operands].id);
}

// Arithmetic that is as short as that of 32 bits when only the lower word is asked for.
static bool is_lower(const TimeFunc *f, u32 insn) {
    switch (time_op(f, insn)) {
    case OP_ADD_INT:
    case OP_SUB_INT:
    case OP_NEG_INT:
    case OP_MUL_INT:
    case OP_MAD_INT:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHL:
    case OP_SELP:
    case OP_MOV: return time_bits(f, insn, 0) == 64 && time_makes_lower(f, insn);
    default: return false;
    }
}

// --- zeros --------------------------------------------------------------------------------------------------------
// Words of 64 bits that are known to be zero: 1 the lower, 2 the upper.
enum { ZERO_LOWER = 1, ZERO_UPPER = 2, ZERO_DEPTH = 4 };

static u32 zero_words(const TimeFunc *f, const FlowOperand *o, u32 depth);

static u32 zero_when_shifted(const TimeFunc *f, const FlowOperand *uses, bool left, u32 depth) {
    if (uses[1].kind != FLOW_IMMEDIATE) return 0;
    u32 zero = zero_words(f, uses, depth), end = left ? ZERO_LOWER : ZERO_UPPER, other = left ? ZERO_UPPER : ZERO_LOWER;
    if (uses[1].value >= 64) return ZERO_LOWER | ZERO_UPPER;
    if (uses[1].value >= 32) return end | (zero & end ? other : 0);
    return zero & end;
}

static u32 zero_words(const TimeFunc *f, const FlowOperand *o, u32 depth) {
    if (o->kind == FLOW_IMMEDIATE)
        return ((u32)o->value == 0 ? ZERO_LOWER : 0) | ((u64)o->value >> 32 ? 0 : ZERO_UPPER);
    u32 def = o->kind == FLOW_VALUE ? f->sole_def[o->id] : WL_NONE;
    if (def == WL_NONE || !depth) return 0;
    const Form *form = time_form(f, def);
    const FlowOperand *uses = time_uses(f, def);
    bool is_signed = ptx_types[form->types[form->type_count - 1]].class == TYPE_CLASS_SINT;
    switch (form->op) {
    case OP_CVT_INT: return time_bits(f, def, 1) <= 32 && !is_signed ? ZERO_UPPER : 0;
    case OP_MOV: return zero_words(f, uses, depth - 1);
    case OP_AND: return zero_words(f, uses, depth - 1) | zero_words(f, uses + 1, depth - 1);
    case OP_OR:
    case OP_XOR: return zero_words(f, uses, depth - 1) & zero_words(f, uses + 1, depth - 1);
    case OP_SELP: return zero_words(f, uses, depth - 1) & zero_words(f, uses + 1, depth - 1);
    case OP_SHL: return zero_when_shifted(f, uses, true, depth - 1);
    case OP_SHR: return is_signed ? 0 : zero_when_shifted(f, uses, false, depth - 1);
    default: return 0;
    }
}

// A shift to the right by a literal of 16 bits that a load has extended, or a mask: nothing has to be masked before
// [L].
static bool is_extended_shift(const TimeFunc *f, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 def = uses[0].kind == FLOW_VALUE ? f->sole_def[uses[0].id] : WL_NONE;
    if (time_op(f, insn) != OP_SHR || uses[1].kind != FLOW_IMMEDIATE || def == WL_NONE) return false;
    const FlowOperand *mask = &time_uses(f, def)[1];
    return f->code->insns[def].is_load ||
           (time_op(f, def) == OP_AND && mask->kind == FLOW_IMMEDIATE && mask->value >= 0 && mask->value <= INT16_MAX);
}

// A test of bits of one word: that of the upper one comes behind what makes it.
static bool tests_word(const TimeFunc *f, u32 insn) {
    const FlowOperand *tested = time_uses(f, insn);
    u32 def = tested->kind == FLOW_VALUE ? f->sole_def[tested->id] : WL_NONE;
    if (def == WL_NONE || !time_tests_bits(f, insn, def, tested->id)) return false;
    u32 zero = zero_words(f, tested, ZERO_DEPTH);
    for (u32 k = 0; zero == ZERO_LOWER && k < f->code->insns[def].uses; k++) {
        const FlowOperand *o = &time_uses(f, def)[k];
        u32 from = o->kind == FLOW_VALUE && time_is_single(f, o->id) ? f->sole_def[o->id] : WL_NONE;
        if (from != WL_NONE && time_is_logic(time_op(f, from))) return false;
    }
    return zero != 0;
}

// Operations of which ptxas knows enough of the operands' bits to leave a half of 64 bits out, or a mask [L].
bool time_is_narrow(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    const FlowOperand *uses = time_uses(f, insn);
    if (is_lower(f, insn)) return true;
    if (time_bits(f, insn, 0) == 16 && f->code->insns[insn].uses == 2) return is_extended_shift(f, insn);
    if (time_bits(f, insn, 0) != 64 || f->code->insns[insn].uses < 2) return false;
    u32 a = zero_words(f, uses, ZERO_DEPTH), b = zero_words(f, uses + 1, ZERO_DEPTH);
    bool by_literal = uses[1].kind == FLOW_IMMEDIATE, is_signed = ptx_types[form->types[0]].class == TYPE_CLASS_SINT;
    switch (form->op) {
    case OP_AND: return a || b || (by_literal && (u64)uses[1].value >> 32 == UINT32_MAX);
    case OP_OR:
    case OP_XOR: return a || b;
    case OP_SELP: return a & b;
    case OP_SETP_INT: return tests_word(f, insn);
    case OP_SHL: return by_literal && uses[1].value >= 32;
    case OP_SHR: return by_literal && (uses[1].value >= 32 || (a & ZERO_UPPER && !is_signed));
    case OP_MUL_INT:
    case OP_MAD_INT: return a & b & ZERO_UPPER && form->mods[MOD_MUL_HALF] != MUL_HALF_HI;
    default: return false;
    }
}

bool time_has_word(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    const FlowOperand *uses = time_uses(f, insn);
    bool product = form->op == OP_MUL_INT || form->op == OP_MAD_INT;
    if (!product || time_bits(f, insn, 0) != 64 || form->mods[MOD_MUL_HALF] == MUL_HALF_HI) return false;
    bool literal = uses[0].kind == FLOW_IMMEDIATE || uses[1].kind == FLOW_IMMEDIATE;
    return !literal && (zero_words(f, uses, ZERO_DEPTH) | zero_words(f, uses + 1, ZERO_DEPTH)) & ZERO_UPPER;
}
