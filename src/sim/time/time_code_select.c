// SPDX-License-Identifier: Apache-2.0
// Which PTX instructions the machine has to issue anything for, and which it folds into others: copies, constants,
// conversions that only rename a register, address arithmetic, multiply-adds, three-input logic. From the instructions
// with effects back to what they read; what nobody asks for is dead.
// Checked against the listings of ptxas 13.0 for sm_90.
#include "sim/time/time_lower.h"

enum { RESOLVE_DEPTH = 32, LOGIC_INPUTS = 3 };

// --- definitions ------------------------------------------------------------------------------------------------
static const FlowOperand *operands_of(const TimeFunc *f, u32 insn) {
    return f->code->operands + f->code->insns[insn].operands;
}

static Status find_definitions(TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    u32 values = f->code->value_count;
    f->sole_def = ARENA_ARRAY(arena, u32, values + 1);
    f->first_def = ARENA_ARRAY(arena, u32, values + 2);
    f->defs_of = ARENA_ARRAY(arena, u32, f->code->operand_count + 1);
    f->use_count = ARENA_ARRAY(arena, u32, values + 1);
    if (!f->sole_def || !f->first_def || !f->defs_of || !f->use_count) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        const FlowOperand *o = operands_of(f, i);
        const FlowInsn *in = &f->code->insns[i];
        for (u32 k = 0; k < in->defs; k++) f->first_def[o[k].id + 2]++;
        for (u32 k = in->defs; k < in->defs + (u32)in->uses; k++)
            if (o[k].kind == FLOW_VALUE) f->use_count[o[k].id]++;
        if (in->guard != WL_NONE) f->use_count[in->guard]++;
    }
    for (u32 v = 1; v < values + 2; v++) f->first_def[v] += f->first_def[v - 1];
    for (u32 i = 0; i < f->code->insn_count; i++) {
        const FlowOperand *o = operands_of(f, i);
        for (u32 k = 0; k < f->code->insns[i].defs; k++) f->defs_of[f->first_def[o[k].id + 1]++] = i;
    }
    for (u32 v = 0; v < values; v++) {
        u32 first = f->first_def[v];
        bool sole = f->first_def[v + 1] == first + 1 && f->code->insns[f->defs_of[first]].guard == WL_NONE;
        f->sole_def[v] = sole ? f->defs_of[first] : WL_NONE;
    }
    return STATUS_OK;
}

bool time_is_same(const TimeFunc *f, u32 value, u32 from, u32 to) {
    if (f->sole_def[value] != WL_NONE || f->first_def[value] == f->first_def[value + 1]) return true;
    if (f->cfg->block_of[from] != f->cfg->block_of[to] || from > to) return false;
    u32 low = f->first_def[value], high = f->first_def[value + 1];
    while (low < high) {  // the first definition at or behind `from`
        u32 mid = (low + high) / 2;
        if (f->defs_of[mid] < from)
            low = mid + 1;
        else
            high = mid;
    }
    return low == f->first_def[value + 1] || f->defs_of[low] >= to;
}

static u32 op_of(const TimeFunc *f, u32 insn) { return time_form(f, insn)->op; }
static u32 type_bits(const TimeFunc *f, u32 insn, u32 which) {
    const Form *form = time_form(f, insn);
    return which < form->type_count ? ptx_types[form->types[which]].bits : 0;
}

// --- what costs nothing -----------------------------------------------------------------------------------------
// In the constant bank, which arithmetic reads as an operand up to Ampere; from Hopper on it takes an LDC [L].
static bool is_free_constant(const TimeFunc *f) { return f->lower->gpu->sm_version < 90; }
static bool is_free_sreg(const TimeFunc *f, u32 sreg) {
    return (sreg == SREG_NTID || sreg == SREG_NCTAID) && is_free_constant(f);
}

// A register of another width or type whose bits are the same, or the lower ones.
static bool is_free_conversion(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    if (form->mods[MOD_SAT]) return false;
    u32 to = type_bits(f, insn, 0), from = type_bits(f, insn, 1);
    bool is_signed = ptx_types[form->types[1]].class == TYPE_CLASS_SINT;
    if (to <= from) return to >= 16;
    return !is_signed && from >= 16;
}

// The value before it was extended by a load: those fill the register.
static bool is_loaded_narrow(const TimeFunc *f, u32 insn) {
    const FlowOperand *use = time_uses(f, insn);
    if (use->kind != FLOW_VALUE || f->sole_def[use->id] == WL_NONE) return false;
    u32 def = f->sole_def[use->id];
    return f->code->insns[def].is_load && type_bits(f, def, 0) <= type_bits(f, insn, 1) &&
           ptx_types[time_form(f, insn)->types[0]].bits <= 32;
}

// cvt.sat.f32.f32 of a sum or product: its .SAT modifier.
static bool is_saturation(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    const FlowOperand *use = time_uses(f, insn);
    if (!form->mods[MOD_SAT] || form->types[0] != TYPE_F32 || form->types[1] != TYPE_F32) return false;
    if (use->kind != FLOW_VALUE || f->sole_def[use->id] == WL_NONE || f->use_count[use->id] != 1) return false;
    return form_op(time_form(f, f->sole_def[use->id]))->unit == UNIT_FMA;
}

static bool is_free_move(const TimeFunc *f, u32 insn) {
    const FlowOperand *use = time_uses(f, insn);
    return f->code->insns[insn].uses != 1 || use->kind != FLOW_SREG || is_free_sreg(f, use->id);
}

// Whether the result of an instruction is its sources under another name (or a constant) to whoever reads it.
static bool is_alias(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    if (in->has_effects || in->guard != WL_NONE) return false;
    switch (op_of(f, insn)) {
    case OP_MOV: return is_free_move(f, insn);
    case OP_MOV_PACK:
    case OP_MOV_UNPACK:
    case OP_MOV_VECTOR:
    case OP_CVTA: return true;
    case OP_NEG_F:
    case OP_ABS_F:
    case OP_NEG_F64:
    case OP_ABS_F64:
    case OP_NEG_HALF: return true;  // modifiers of a source
    case OP_NOT: return time_form(f, insn)->types[0] == TYPE_PRED;
    case OP_CVT_F: return is_saturation(f, insn);
    case OP_CVT_INT: return is_free_conversion(f, insn) || is_loaded_narrow(f, insn);
    case OP_LD: return in->arith == FLOW_LOAD_PARAM && f->function->is_entry && is_free_constant(f);
    default: return false;
    }
}

// A constant operand of the bank of __constant__ variables.
static bool is_constant_load(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return in->is_load && in->space == SPACE_CONST && in->guard == WL_NONE &&
           time_uses(f, insn)[in->address_use].kind != FLOW_VALUE;
}

// --- operands ---------------------------------------------------------------------------------------------------
static Status add_leaf(TimeFunc *f, Picked *p, u32 value) {
    for (u32 i = p->leaves; i < f->leaves.len; i++)
        if (f->leaves.data[i] == value) return STATUS_OK;
    TRY(vec_push(&f->leaves, value));
    p->leaf_count++;
    return STATUS_OK;
}

static bool can_fold(const TimeFunc *f, u32 def, u32 into) {
    const FlowOperand *uses = time_uses(f, def);
    for (u32 k = 0; k < f->code->insns[def].uses; k++)
        if (uses[k].kind == FLOW_VALUE && !time_is_same(f, uses[k].id, def, into)) return false;
    return true;
}

// The definition behind a value that instruction `at` may take apart, WL_NONE.
static u32 foldable_def(const TimeFunc *f, u32 value, u32 at) {
    u32 def = f->sole_def[value];
    return def != WL_NONE && def != at && can_fold(f, def, at) ? def : WL_NONE;
}

// A variable in shared memory is named: its address is that of the window of shared memory and more.
static void note_symbol(const TimeFunc *f, Picked *p, u32 var) {
    if (var != WL_NONE && f->lower->module->vars[var].space == SPACE_SHARED) p->window = true;
}

static void note_operand(const TimeFunc *f, Picked *p, const FlowOperand *o) {
    if (o->kind == FLOW_SYMBOL) note_symbol(f, p, o->id);
}

// A loaded value is what was known of that memory before.
static u32 known_as(const TimeFunc *f, u32 value) {
    while (f->stands_for[value] != WL_NONE) value = f->stands_for[value];
    return value;
}

static Status resolve(TimeFunc *f, Picked *p, u32 value, u32 at, u32 depth) {
    value = known_as(f, value);
    u32 def = foldable_def(f, value, at);
    if (def == WL_NONE || depth == 0 || !(is_alias(f, def) || is_constant_load(f, def))) return add_leaf(f, p, value);
    const FlowOperand *uses = time_uses(f, def);
    for (u32 k = 0; k < f->code->insns[def].uses; k++) {
        note_operand(f, p, &uses[k]);
        if (uses[k].kind == FLOW_VALUE) TRY(resolve(f, p, uses[k].id, at, depth - 1));
    }
    return STATUS_OK;
}

static Status resolve_all(TimeFunc *f, Picked *p, u32 insn, u32 at) {
    const FlowOperand *uses = time_uses(f, insn);
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        note_operand(f, p, &uses[k]);
        if (uses[k].kind == FLOW_VALUE) TRY(resolve(f, p, uses[k].id, at, RESOLVE_DEPTH));
    }
    return STATUS_OK;
}

typedef struct Constant {
    bool is_known;
    u32 symbol;  // a variable's address, WL_NONE
    i64 number;
} Constant;

static Constant constant_of(const FlowOperand *o) {
    bool number = o->kind == FLOW_IMMEDIATE, symbol = o->kind == FLOW_SYMBOL;
    return (Constant){number || symbol, symbol ? o->id : WL_NONE, number || symbol ? o->value : 0};
}

// Follows copies: the value that `value` is a name of as `at` sees it, or the constant (WL_NONE).
static u32 look_through(const TimeFunc *f, u32 value, u32 at, Constant *constant) {
    *constant = (Constant){.symbol = WL_NONE};
    for (u32 depth = 0; depth < RESOLVE_DEPTH; depth++) {
        value = known_as(f, value);
        u32 def = foldable_def(f, value, at);
        if (def == WL_NONE || !is_alias(f, def) || f->code->insns[def].uses != 1) return value;
        const FlowOperand *use = time_uses(f, def);
        *constant = constant_of(use);
        if (constant->is_known) return WL_NONE;
        if (use->kind != FLOW_VALUE) return value;
        value = use->id;
    }
    return value;
}

u32 time_look_through(const TimeFunc *f, u32 value, u32 at, i64 *number) {
    Constant constant;
    value = look_through(f, value, at, &constant);
    *number = constant.number;
    return value;
}

// --- addresses --------------------------------------------------------------------------------------------------
// [base + offset]: sums with a number on the way to the base are part of the access, 24 bits since Volta; those with
// the address of a variable are computed.
static Status pick_address(TimeFunc *f, Picked *p, u32 value, u32 at, i64 offset) {
    p->offset = offset;
    for (u32 depth = 0; depth < RESOLVE_DEPTH; depth++) {
        Constant constant;
        value = look_through(f, value, at, &constant);
        if (constant.is_known) {
            if (constant.symbol != WL_NONE) p->symbol = constant.symbol;
            note_symbol(f, p, constant.symbol);
            p->offset += constant.number;
            return STATUS_OK;
        }
        u32 def = foldable_def(f, value, at);
        if (def == WL_NONE || f->code->insns[def].arith != FLOW_ADD) break;
        const FlowOperand *uses = time_uses(f, def);
        u32 next = WL_NONE;
        for (u32 k = 0; k < 2 && next == WL_NONE; k++) {
            const FlowOperand *other = &uses[1 - k];
            if (uses[k].kind != FLOW_VALUE) continue;
            constant = constant_of(other);
            if (other->kind == FLOW_VALUE) look_through(f, other->id, at, &constant);
            if (!constant.is_known || constant.symbol != WL_NONE) continue;
            if (constant.number < -(1 << 23) || constant.number >= 1 << 23) continue;
            next = uses[k].id, p->offset += constant.number;
        }
        if (next == WL_NONE) break;
        value = next;
    }
    p->base = value;
    return resolve(f, p, value, at, RESOLVE_DEPTH);
}

// --- folding of arithmetic ----------------------------------------------------------------------------------------
static bool is_single(const TimeFunc *f, u32 value) { return f->use_count[value] == 1; }

static bool is_logic(u32 op) { return op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_NOT; }

// Rounded to an integer of the same type, which becomes one: F2I rounds.
static bool is_rounded(const TimeFunc *f, u32 insn, u32 def) {
    const Form *form = time_form(f, insn), *from = time_form(f, def);
    u16 rounding = from->mods[MOD_RND];
    bool whole = rounding == RND_RNI || rounding == RND_RZI || rounding == RND_RMI || rounding == RND_RPI;
    bool same = from->types[0] == from->types[1] && form->types[1] == from->types[0] && !from->mods[MOD_SAT];
    return form->op == OP_CVT_F && from->op == OP_CVT_F && whole && same &&
           ptx_types[form->types[0]].class != TYPE_CLASS_FLOAT;
}

// What the instruction swallows of the definition of one of its sources: its steps are then those of *steps.
static bool absorbs(const TimeFunc *f, u32 insn, u32 def, u32 value, u32 *steps) {
    u32 op = op_of(f, insn), from = op_of(f, def);
    const FlowInsn *d = &f->code->insns[def];
    if (d->guard != WL_NONE || d->has_effects) return false;
    bool wide_sum = (op == OP_ADD_INT || op == OP_SUB_INT) && type_bits(f, insn, 0) == 64;
    bool sum =
        (op == OP_ADD_INT || op == OP_SUB_INT) && type_bits(f, insn, 0) == 32 && !time_form(f, insn)->mods[MOD_SAT];
    bool plain = !time_form(f, insn)->mods[MOD_RND] && !time_form(f, def)->mods[MOD_RND];
    bool by_literal = d->uses == 2 && time_uses(f, def)[1].kind == FLOW_IMMEDIATE;
    if (is_rounded(f, insn, def)) return is_single(f, value);                            // F2I.FLOOR
    if (wide_sum && from == OP_MUL_WIDE && op == OP_ADD_INT) return *steps = def, true;  // IMAD.WIDE
    if (wide_sum && from == OP_MUL_INT && op == OP_ADD_INT && is_single(f, value) &&
        time_variant(f, def) == VARIANT_NARROW)
        return *steps = def, true;                                                  // IMAD.WIDE
    if (wide_sum && from == OP_CVT_INT && type_bits(f, def, 1) == 32) return true;  // IADD3, LEA.HI.X.SX32
    if (wide_sum && from == OP_SHL && by_literal && op == OP_ADD_INT)
        return is_single(f, value);  // LEA, LEA.HI.X; for several it is shifted once
    if (sum && from == OP_SHL && by_literal && op == OP_ADD_INT) return true;  // LEA
    if (sum && from == OP_MUL_INT && is_single(f, value) && !(time_form(f, def)->mods[MOD_MUL_HALF] == MUL_HALF_HI))
        return *steps = def, op == OP_ADD_INT;  // IMAD
    if (sum && (from == OP_ADD_INT || from == OP_SUB_INT || from == OP_NEG_INT) && is_single(f, value))
        return true;  // IADD3
    bool of_zero = f->code->insns[insn].uses == 2 && time_uses(f, insn)[1].kind == FLOW_IMMEDIATE &&
                   time_uses(f, insn)[1].value == 0;
    bool equal = f->code->insns[insn].compare == FLOW_EQUAL || f->code->insns[insn].compare == FLOW_NOT_EQUAL;
    if (op == OP_SETP_INT && of_zero && equal && is_logic(from) && from != OP_NOT)
        return is_single(f, value) && type_bits(f, def, 0) == 32;  // LOP3 writes a predicate
    if ((op == OP_ADD_F || op == OP_SUB_F) && from == OP_MUL_F) return plain && is_single(f, value);           // FFMA
    if ((op == OP_ADD_F64 || op == OP_SUB_F64) && from == OP_MUL_F64) return plain && is_single(f, value);     // DFMA
    if ((op == OP_ADD_HALF || op == OP_SUB_HALF) && from == OP_MUL_HALF) return plain && is_single(f, value);  // HFMA2
    return false;
}

// The sum, or the disjunction, of a value shifted left and the same shifted right by the rest of 64 bits: a rotation,
// two SHF. WL_NONE: it is none; else the shift to the left.
static u32 rotation(const TimeFunc *f, u32 insn) {
    u32 op = op_of(f, insn), shift[2];
    const FlowOperand *uses = time_uses(f, insn);
    if ((op != OP_ADD_INT && op != OP_OR && op != OP_XOR) || type_bits(f, insn, 0) != 64) return WL_NONE;
    for (u32 k = 0; k < 2; k++) {
        shift[k] = uses[k].kind == FLOW_VALUE && is_single(f, uses[k].id) ? foldable_def(f, uses[k].id, insn) : WL_NONE;
        if (shift[k] == WL_NONE || f->code->insns[shift[k]].guard != WL_NONE) return WL_NONE;
    }
    if (op_of(f, shift[0]) == OP_SHR) shift[0] ^= shift[1], shift[1] ^= shift[0], shift[0] ^= shift[1];
    if (op_of(f, shift[0]) != OP_SHL || op_of(f, shift[1]) != OP_SHR) return WL_NONE;
    if (ptx_types[time_form(f, shift[1])->types[0]].class == TYPE_CLASS_SINT) return WL_NONE;
    const FlowOperand *left = time_uses(f, shift[0]), *right = time_uses(f, shift[1]);
    bool same = left->kind == FLOW_VALUE && right->kind == FLOW_VALUE && left->id == right->id;
    bool literal = left[1].kind == FLOW_IMMEDIATE && right[1].kind == FLOW_IMMEDIATE;
    return same && literal && left[1].value + right[1].value == 64 ? shift[0] : WL_NONE;
}

static Status pick_rotation(TimeFunc *f, Picked *p, u32 insn, u32 left) {
    p->steps = left;
    return resolve(f, p, time_uses(f, left)->id, insn, RESOLVE_DEPTH);
}

// LOP3: any function of three inputs.
static Status pick_logic(TimeFunc *f, Picked *p, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 inputs[2 * LOGIC_INPUTS], count = 0;
    for (u32 k = 0; k < f->code->insns[insn].uses; k++)
        if (uses[k].kind == FLOW_VALUE) inputs[count++] = uses[k].id;
    u32 literals = f->code->insns[insn].uses - count;
    for (u32 k = 0, folds = 0; k < count && folds < LOGIC_INPUTS; k++) {
        u32 def = foldable_def(f, inputs[k], insn);
        if (def == WL_NONE || !is_logic(op_of(f, def)) || !is_single(f, inputs[k]) ||
            f->code->insns[def].guard != WL_NONE || type_bits(f, def, 0) != type_bits(f, insn, 0))
            continue;
        const FlowInsn *d = &f->code->insns[def];
        if (count + literals + d->uses - 1 > LOGIC_INPUTS) continue;
        const FlowOperand *inner = time_uses(f, def);
        inputs[k] = inputs[--count];
        for (u32 j = 0; j < d->uses; j++)
            if (inner[j].kind == FLOW_VALUE)
                inputs[count++] = inner[j].id;
            else
                literals++;
        folds++, k = WL_NONE;  // from the first one again
    }
    for (u32 k = 0; k < count; k++) TRY(resolve(f, p, inputs[k], insn, RESOLVE_DEPTH));
    return STATUS_OK;
}

// Predicate logic: a comparison takes the other input as its combiner, so one of the two is swallowed.
static Status pick_predicate_logic(TimeFunc *f, Picked *p, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    bool swallowed = false;
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        if (uses[k].kind != FLOW_VALUE) continue;
        u32 def = swallowed ? WL_NONE : foldable_def(f, uses[k].id, insn);
        bool compare = def != WL_NONE && is_single(f, uses[k].id) && f->code->insns[def].guard == WL_NONE &&
                       (op_of(f, def) == OP_SETP_INT || op_of(f, def) == OP_SETP_F || op_of(f, def) == OP_SETP_F64) &&
                       f->code->insns[def].defs == 1 && f->cfg->block_of[def] == f->cfg->block_of[insn];
        if (compare) {
            swallowed = true;
            p->steps = def;
            TRY(resolve_all(f, p, def, insn));
        } else {
            TRY(resolve(f, p, uses[k].id, insn, RESOLVE_DEPTH));
        }
    }
    return STATUS_OK;
}

// The operand whose definition the instruction swallows, one at most: a shift rather than another, as a sum that is
// left alone may swallow a shift itself. WL_NONE: none.
static u32 absorbed_use(const TimeFunc *f, u32 insn, u32 *steps) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 found = WL_NONE;
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        u32 def = uses[k].kind == FLOW_VALUE ? foldable_def(f, uses[k].id, insn) : WL_NONE, row = insn;
        if (def == WL_NONE || !absorbs(f, insn, def, uses[k].id, &row)) continue;
        if (found != WL_NONE && op_of(f, def) != OP_SHL) continue;
        found = k;
        *steps = row;
        if (op_of(f, def) == OP_SHL) break;
    }
    return found;
}

static Status pick_arithmetic(TimeFunc *f, Picked *p, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 absorbed = absorbed_use(f, insn, &p->steps);
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        note_operand(f, p, &uses[k]);
        if (k == absorbed)
            TRY(resolve_all(f, p, foldable_def(f, uses[k].id, insn), insn));
        else if (uses[k].kind == FLOW_VALUE)
            TRY(resolve(f, p, uses[k].id, insn, RESOLVE_DEPTH));
    }
    return STATUS_OK;
}

static Status pick_access(TimeFunc *f, Picked *p, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const FlowOperand *uses = time_uses(f, insn);
    for (u32 k = 0; k < in->uses; k++) {
        note_operand(f, p, &uses[k]);
        if (k == in->address_use && uses[k].kind == FLOW_SYMBOL)
            p->symbol = uses[k].id, p->offset = uses[k].value + in->address_offset;
        if (uses[k].kind != FLOW_VALUE) continue;
        if (k == in->address_use)
            TRY(pick_address(f, p, uses[k].id, insn, in->address_offset));
        else
            TRY(resolve(f, p, uses[k].id, insn, RESOLVE_DEPTH));
    }
    return STATUS_OK;
}

static Status need(TimeFunc *f, u32 insn) {
    if (f->picked[insn].needed) return STATUS_OK;
    f->picked[insn].needed = true;
    return vec_push(&f->work, insn);
}

static Status pick(TimeFunc *f, u32 insn) {
    Picked *p = &f->picked[insn];
    const FlowInsn *in = &f->code->insns[insn];
    u32 op = op_of(f, insn), left;
    bool predicate = time_form(f, insn)->types[0] == TYPE_PRED;
    *p = (Picked){
        .leaves = f->leaves.len, .steps = insn, .needed = true, .guard = WL_NONE, .base = WL_NONE, .symbol = WL_NONE};
    if (in->address_use != 0xff && !(in->arith == FLOW_LOAD_PARAM))
        TRY(pick_access(f, p, insn));
    else if (!predicate && (left = rotation(f, insn)) != WL_NONE)
        TRY(pick_rotation(f, p, insn, left));
    else if (is_logic(op) && predicate)
        TRY(pick_predicate_logic(f, p, insn));
    else if (is_logic(op))
        TRY(pick_logic(f, p, insn));
    else
        TRY(pick_arithmetic(f, p, insn));
    if (in->guard != WL_NONE) {
        Constant constant;
        p->guard = look_through(f, in->guard, insn, &constant);
        if (p->guard != WL_NONE) TRY(add_leaf(f, p, p->guard));
    }
    for (u32 i = 0; i < p->leaf_count; i++) {
        u32 value = f->leaves.data[p->leaves + i];
        for (u32 d = f->first_def[value]; d < f->first_def[value + 1]; d++) TRY(need(f, f->defs_of[d]));
    }
    return STATUS_OK;
}

static bool is_root(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    if (in->kind != FLOW_PLAIN || in->has_effects || in->is_barrier) return true;
    const Form *form = time_form(f, insn);
    bool kept = form->mods[MOD_SEM] > SEM_WEAK || form->op == OP_PREFETCH || form->op == OP_PREFETCHU;
    return kept && f->cfg->blocks[f->cfg->block_of[insn]].reachable;
}

Status time_select(TimeFunc *f) {
    TRY(find_definitions(f));
    TRY(time_repeat(f));
    f->picked = ARENA_ARRAY(&f->lower->scratch, Picked, f->code->insn_count + 1);
    bool ok = bitset_init(&f->same_divisor, &f->lower->scratch, f->code->insn_count + 1) &&
              bitset_init(&f->same_division, &f->lower->scratch, f->code->insn_count + 1);
    if (!f->picked || !ok) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < f->code->insn_count; i++)
        if (is_root(f, i)) TRY(need(f, i));
    while (f->work.len) TRY(pick(f, f->work.data[--f->work.len]));
    return STATUS_OK;
}
