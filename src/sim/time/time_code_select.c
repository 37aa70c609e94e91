// SPDX-License-Identifier: Apache-2.0
// Which PTX instructions the machine has to issue anything for, and which it folds into others: copies, constants,
// conversions that only rename a register, address arithmetic, multiply-adds, three-input logic. From the instructions
// with effects back to what they read; what nobody asks for is dead.
// Checked against the listings of ptxas 13.0 for sm_90.
#include "sim/time/time_lower.h"

enum { RESOLVE_DEPTH = 32, LOGIC_INPUTS = 3, LOGIC_DEPTH = 4 };

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
    f->resolved_for = ARENA_ARRAY(arena, u32, values + 1);
    if (!f->sole_def || !f->first_def || !f->defs_of || !f->use_count || !f->resolved_for) return STATUS_NO_MEMORY;
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

// --- what costs nothing -----------------------------------------------------------------------------------------
// In the constant bank, which arithmetic reads as an operand up to Ampere; from Hopper on it takes an LDC [L].
static bool is_free_constant(const TimeFunc *f) { return f->lower->gpu->sm_version < 90; }
static bool is_free_sreg(const TimeFunc *f, u32 sreg) {
    return (sreg == SREG_NTID || sreg == SREG_NCTAID) && is_free_constant(f);
}

// 16 bits of which the other half of the register is not known to be zero.
static bool is_unmasked_half(const TimeFunc *f, const FlowOperand *half) {
    u32 def = half->kind == FLOW_VALUE ? f->sole_def[half->id] : WL_NONE;
    if (def == WL_NONE) return false;
    switch (time_op(f, def)) {
    case OP_ADD_INT:
    case OP_SUB_INT:
    case OP_MUL_INT:
    case OP_MAD_INT:
    case OP_NEG_INT:
    case OP_SHL:
    case OP_NOT: return true;
    case OP_CVT_INT: return time_bits(f, def, 1) > 16;
    default: return false;
    }
}

// Some of a register's bits: an element of a vector that was loaded, or of a register that is taken apart. It takes a
// PRMT to extend it, where loads of a single one extend it.
bool time_is_part(const TimeFunc *f, const FlowOperand *value) {
    u32 def = value->kind == FLOW_VALUE ? f->sole_def[value->id] : WL_NONE;
    if (def == WL_NONE || f->code->insns[def].defs < 2 || time_bits(f, def, 0) > 32) return false;
    return time_op(f, def) == OP_MOV_UNPACK || (f->code->insns[def].is_load && time_bits(f, def, 0) < 32);
}

// A register of another width or type whose bits are the same, or the lower ones.
static bool is_free_conversion(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    if (form->mods[MOD_SAT]) return false;
    u32 to = time_bits(f, insn, 0), from = time_bits(f, insn, 1);
    bool is_signed = ptx_types[form->types[1]].class == TYPE_CLASS_SINT;
    if (to == 64 && time_makes_lower(f, insn)) to = 32;
    if (to <= from) return to >= 16;
    if (from == 16 && (is_unmasked_half(f, time_uses(f, insn)) || time_is_part(f, time_uses(f, insn)))) return false;
    return !is_signed && from >= 16;
}

// Both halves of a register that is made of them: of one that was taken apart, or rounded together (F2FP).
static bool is_whole_pack(const TimeFunc *f, u32 insn) {
    const FlowOperand *halves = time_uses(f, insn);
    u32 low = halves[0].kind == FLOW_VALUE ? f->sole_def[halves[0].id] : WL_NONE,
        high = halves[1].kind == FLOW_VALUE ? f->sole_def[halves[1].id] : WL_NONE;
    if (low == WL_NONE || high == WL_NONE) return false;
    if (time_op(f, low) == OP_MOV_UNPACK)
        return low == high && f->code->operands[f->code->insns[low].operands].id == halves[0].id &&
               halves[0].id != halves[1].id;
    return time_rounds_pair(f, low, high);
}

static bool is_free_pack(const TimeFunc *f, u32 insn) {
    bool halves = time_bits(f, insn, 0) == 32 && f->code->insns[insn].uses == 2;
    return !halves || is_whole_pack(f, insn);
}

// The value before it was extended by a load: those fill the register.
static bool is_loaded_narrow(const TimeFunc *f, u32 insn) {
    const FlowOperand *use = time_uses(f, insn);
    if (use->kind != FLOW_VALUE || f->sole_def[use->id] == WL_NONE || time_is_part(f, use)) return false;
    u32 def = f->sole_def[use->id];
    return f->code->insns[def].is_load && time_bits(f, def, 0) <= time_bits(f, insn, 1) &&
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

// Whether instruction `insn` inserts bits into a value of which it keeps no more than those of `mask`.
static bool inserts_over(const TimeFunc *f, u32 insn, u32 value, u32 mask) {
    const FlowOperand *uses = time_uses(f, insn);
    bool literal = time_op(f, insn) == OP_BFI && uses[2].kind == FLOW_IMMEDIATE && uses[3].kind == FLOW_IMMEDIATE;
    if (!literal || time_bits(f, insn, 0) != 32 || uses[1].kind != FLOW_VALUE || uses[1].id != value) return false;
    u32 from = (u32)uses[2].value & 31, count = (u32)uses[3].value & 63;
    u32 inserted = (count >= 32 ? UINT32_MAX : (1u << count) - 1) << from;
    return (~inserted & ~mask) == 0;
}

u32 time_only_reader(const TimeFunc *f, u32 insn, u32 *use) {
    enum { SEEN = 1024 };  // a block may be as long as the program
    const FlowInsn *in = &f->code->insns[insn];
    u32 value = in->defs == 1 ? f->code->operands[in->operands].id : WL_NONE, block = f->cfg->block_of[insn];
    if (value == WL_NONE || !time_is_single(f, value)) return WL_NONE;
    for (u32 i = insn + 1; i < f->code->insn_count && i < insn + SEEN && f->cfg->block_of[i] == block; i++)
        for (*use = 0; *use < f->code->insns[i].uses; ++*use)
            if (time_uses(f, i)[*use].kind == FLOW_VALUE && time_uses(f, i)[*use].id == value) return i;
    return WL_NONE;
}

// A mask of what is masked by those who insert into it: `x & 31` below `y << 5`, which is one LOP3 with the shift.
static bool is_masked_later(const TimeFunc *f, u32 insn) {
    const FlowOperand *mask = &time_uses(f, insn)[1];
    if (time_bits(f, insn, 0) != 32 || mask->kind != FLOW_IMMEDIATE) return false;
    u32 use, reader = time_only_reader(f, insn, &use);
    return reader != WL_NONE && use == 1 &&
           inserts_over(f, reader, f->code->operands[f->code->insns[insn].operands].id, (u32)mask->value);
}

// A mask of all bits that a byte or a half, loaded and extended, has.
static bool is_masked_before(const TimeFunc *f, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 def = uses[0].kind == FLOW_VALUE ? f->sole_def[uses[0].id] : WL_NONE;
    if (def == WL_NONE || uses[1].kind != FLOW_IMMEDIATE || time_op(f, def) != OP_CVT_INT) return false;
    const FlowOperand *narrow = time_uses(f, def);
    u32 load = narrow->kind == FLOW_VALUE ? f->sole_def[narrow->id] : WL_NONE;
    if (load == WL_NONE || !f->code->insns[load].is_load || time_bits(f, load, 0) > 16) return false;
    u64 bits = (1ull << time_bits(f, load, 0)) - 1;
    return ptx_types[time_form(f, load)->types[0]].class != TYPE_CLASS_SINT && ((u64)uses[1].value & bits) == bits;
}

// The upper word of 64 bits.
static bool takes_upper(const TimeFunc *f, u32 insn) {
    const FlowOperand *count = &time_uses(f, insn)[1];
    return time_bits(f, insn, 0) == 64 && count->kind == FLOW_IMMEDIATE && count->value == 32 &&
           time_makes_lower(f, insn);
}

static bool is_free_move(const TimeFunc *f, u32 insn) {
    const FlowOperand *use = time_uses(f, insn);
    return f->code->insns[insn].uses != 1 || use->kind != FLOW_SREG || is_free_sreg(f, use->id);
}

// Whether the result of an instruction is its sources under another name (or a constant) to whoever reads it.
static bool is_alias(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    if (in->has_effects || in->guard != WL_NONE) return false;
    if (!in->is_load && time_is_free(f, insn)) return true;
    switch (time_op(f, insn)) {
    case OP_MOV: return is_free_move(f, insn);
    case OP_MOV_PACK: return is_free_pack(f, insn);
    case OP_MOV_UNPACK:
    case OP_MOV_VECTOR:
    case OP_CVTA: return true;
    case OP_NEG_F:
    case OP_ABS_F:
    case OP_NEG_F64:
    case OP_ABS_F64:
    case OP_NEG_HALF: return true;  // modifiers of a source
    case OP_NOT: return time_form(f, insn)->types[0] == TYPE_PRED;
    case OP_AND: return is_masked_later(f, insn) || is_masked_before(f, insn);
    case OP_SHR: return takes_upper(f, insn);
    case OP_CVT_F: return is_saturation(f, insn);
    case OP_CVT_INT: return is_free_conversion(f, insn) || is_loaded_narrow(f, insn);
    case OP_LD: return in->arith == FLOW_LOAD_PARAM && f->function->is_entry && is_free_constant(f);
    default: return false;
    }
}

// A constant operand of the bank of __constant__ variables. Hopper has none (TIME_IMMEDIATE).
static bool is_constant_load(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return !f->lower->gpu->imc && in->is_load && in->space == SPACE_CONST && in->guard == WL_NONE &&
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

// A value that several ways lead to, or that is made of itself, is resolved once for each instruction.
static Status resolve(TimeFunc *f, Picked *p, u32 value, u32 at, u32 depth) {
    value = known_as(f, value);
    if (f->resolved_for[value] == at + 1) return STATUS_OK;
    u32 def = foldable_def(f, value, at);
    if (def == WL_NONE || depth == 0 || !(is_alias(f, def) || is_constant_load(f, def))) return add_leaf(f, p, value);
    f->resolved_for[value] = at + 1;
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
// A variable in constant memory lies at a number that ptxas knows, but where the linker places it. Where one in shared
// memory lies is in a uniform register, which an access adds: [R0+UR4], unless the sum shifts or multiplies at once, or
// both were there before a loop.
static bool is_offset(const TimeFunc *f, const Picked *p, const Constant *constant, u32 index, u32 taken, u32 at) {
    const Module *m = f->lower->module;
    u32 symbol = constant->symbol, def = f->sole_def[index];
    if (symbol == WL_NONE) return true;
    if (p->symbol != WL_NONE) return false;
    if (m->vars[symbol].space == SPACE_CONST) return !m->relocatable;
    if (m->vars[symbol].space != SPACE_SHARED || f->lower->gpu->sm_version < SM_TURING) return false;
    bool elsewhere = taken != WL_NONE && f->cfg->block_of[taken] != f->cfg->block_of[at];
    if (elsewhere && (def == WL_NONE || f->cfg->block_of[def] != f->cfg->block_of[at])) return false;
    u32 op = def == WL_NONE ? OP_COUNT : time_op(f, def);
    return op != OP_SHL && op != OP_MUL_INT && op != OP_MAD_INT && op != OP_MUL_WIDE && op != OP_MAD_WIDE;
}

// [base + offset]: sums with a number on the way to the base are part of the access, 24 bits since Volta; those with
// the address of a variable are computed, but where is_offset says so.
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
            u32 taken = other->kind == FLOW_VALUE ? f->sole_def[other->id] : WL_NONE;
            if (!constant.is_known || !is_offset(f, p, &constant, uses[k].id, taken, at)) continue;
            if (constant.number < -(1 << 23) || constant.number >= 1 << 23) continue;
            next = uses[k].id, p->offset += constant.number;
            if (constant.symbol != WL_NONE) p->symbol = constant.symbol;
            note_symbol(f, p, constant.symbol);
        }
        if (next == WL_NONE) break;
        value = next;
    }
    p->base = value;
    return resolve(f, p, value, at, RESOLVE_DEPTH);
}

// --- folding of arithmetic ----------------------------------------------------------------------------------------
// A value shifted left joined with the same shifted right by the rest of its bits: a rotation, one SHF, or two for a
// sum of 64 bits. WL_NONE: it is none; else the shift to the left.
static u32 rotation(const TimeFunc *f, u32 insn) {
    u32 op = time_op(f, insn), bits = time_bits(f, insn, 0), shift[2];
    const FlowOperand *uses = time_uses(f, insn);
    bool joins = op == OP_ADD_INT || (bits == 32 && (op == OP_OR || op == OP_XOR));
    if (!joins || (bits != 32 && bits != 64)) return WL_NONE;
    for (u32 k = 0; k < 2; k++) {
        shift[k] =
            uses[k].kind == FLOW_VALUE && time_is_single(f, uses[k].id) ? foldable_def(f, uses[k].id, insn) : WL_NONE;
        if (shift[k] == WL_NONE || f->code->insns[shift[k]].guard != WL_NONE) return WL_NONE;
    }
    if (time_op(f, shift[0]) == OP_SHR) shift[0] ^= shift[1], shift[1] ^= shift[0], shift[0] ^= shift[1];
    if (time_op(f, shift[0]) != OP_SHL || time_op(f, shift[1]) != OP_SHR) return WL_NONE;
    if (ptx_types[time_form(f, shift[1])->types[0]].class == TYPE_CLASS_SINT) return WL_NONE;
    const FlowOperand *left = time_uses(f, shift[0]), *right = time_uses(f, shift[1]);
    bool same = left->kind == FLOW_VALUE && right->kind == FLOW_VALUE && left->id == right->id;
    bool literal = left[1].kind == FLOW_IMMEDIATE && right[1].kind == FLOW_IMMEDIATE;
    return same && literal && left[1].value + right[1].value == bits ? shift[0] : WL_NONE;
}

static Status pick_rotation(TimeFunc *f, Picked *p, u32 insn, u32 left) {
    p->steps = left;
    return resolve(f, p, time_uses(f, left)->id, insn, RESOLVE_DEPTH);
}

typedef struct LogicInputs {
    u32 values[2 * LOGIC_INPUTS], count, literals;  // literals: different ones
    i64 literal;                                    // the last
} LogicInputs;

static bool add_input(LogicInputs *in, const FlowOperand *o) {
    if (o->kind != FLOW_VALUE) {
        in->literals += !in->literals || in->literal != o->value;
        in->literal = o->value;
        return true;
    }
    for (u32 k = 0; k < in->count; k++)
        if (in->values[k] == o->id) return true;
    if (in->count == WL_COUNT(in->values)) return false;
    in->values[in->count++] = o->id;
    return true;
}

// Logic on the same bits that only the instruction at `at` reads.
static u32 logic_def(const TimeFunc *f, const FlowOperand *o, u32 at) {
    u32 def = o->kind == FLOW_VALUE && time_is_single(f, o->id) ? foldable_def(f, o->id, at) : WL_NONE;
    bool logic = def != WL_NONE && time_is_logic(time_op(f, def)) && f->code->insns[def].guard == WL_NONE;
    return logic && time_bits(f, def, 0) == time_bits(f, at, 0) ? def : WL_NONE;
}

// The inputs of `insn` when `depth` levels of logic before it are part of it.
static bool find_inputs(const TimeFunc *f, u32 insn, u32 at, u32 depth, LogicInputs *in) {
    const FlowOperand *uses = time_uses(f, insn);
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        u32 def = depth ? logic_def(f, &uses[k], at) : WL_NONE;
        if (!(def != WL_NONE ? find_inputs(f, def, at, depth - 1, in) : add_input(in, &uses[k]))) return false;
    }
    return true;
}

// It has room for one literal.
static bool is_one_lop3(const LogicInputs *in) { return in->count + in->literals <= LOGIC_INPUTS && in->literals <= 1; }

// One operand's definition after the other, as long as that makes no more than three inputs.
static void fold_inputs(const TimeFunc *f, u32 insn, u32 at, LogicInputs *in) {
    find_inputs(f, insn, at, 0, in);
    for (u32 k = 0, folds = 0; k < in->count && folds < LOGIC_INPUTS; k++) {
        u32 def = logic_def(f, &(FlowOperand){.kind = FLOW_VALUE, .id = in->values[k]}, at);
        if (def == WL_NONE) continue;
        LogicInputs next = *in;
        next.values[k] = next.values[--next.count];
        if (!find_inputs(f, def, at, 0, &next) || !is_one_lop3(&next)) continue;
        *in = next;
        folds++, k = WL_NONE;  // from the first one again
    }
}

// LOP3: any function of three inputs; `at`: the instruction that it is issued as.
static Status pick_logic(TimeFunc *f, Picked *p, u32 insn, u32 at) {
    LogicInputs inputs = {.count = 0};
    bool one = false;
    for (u32 depth = LOGIC_DEPTH; depth && !one; depth--) {
        inputs = (LogicInputs){.count = 0};
        one = find_inputs(f, insn, at, depth, &inputs) && is_one_lop3(&inputs);
    }
    if (!one) {
        inputs = (LogicInputs){.count = 0};
        fold_inputs(f, insn, at, &inputs);
    }
    for (u32 k = 0; k < inputs.count; k++) TRY(resolve(f, p, inputs.values[k], at, RESOLVE_DEPTH));
    return STATUS_OK;
}

// The operand whose definition the instruction swallows, one at most: a shift rather than another, as a sum that is
// left alone may swallow a shift itself. WL_NONE: none.
static u32 absorbed_use(const TimeFunc *f, u32 insn, u32 *steps) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 found = WL_NONE;
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        u32 def = uses[k].kind == FLOW_VALUE ? foldable_def(f, uses[k].id, insn) : WL_NONE, row = insn;
        if (def == WL_NONE || !time_absorbs(f, insn, def, uses[k].id, &row)) continue;
        if (found != WL_NONE && time_op(f, def) != OP_SHL) continue;
        found = k;
        *steps = row;
        if (time_op(f, def) == OP_SHL) break;
    }
    return found;
}

// A comparison of the block that only `insn` reads the result of, and which is none of bits (LOP3 combines nothing).
static bool is_combined(const TimeFunc *f, u32 insn, u32 value, u32 def) {
    u32 op = def == WL_NONE ? WL_NONE : time_op(f, def), steps;
    bool compare = op == OP_SETP_INT || op == OP_SETP_F || op == OP_SETP_F64;
    if (!compare || !time_is_single(f, value) || f->code->insns[def].guard != WL_NONE) return false;
    if (f->code->insns[def].defs != 1 || f->cfg->block_of[def] != f->cfg->block_of[insn]) return false;
    return op != OP_SETP_INT || absorbed_use(f, def, &steps) == WL_NONE;
}

// Predicate logic: a comparison takes the other input as its combiner, so one of the two is swallowed.
static Status pick_predicate_logic(TimeFunc *f, Picked *p, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    bool swallowed = false;
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        if (uses[k].kind != FLOW_VALUE) continue;
        u32 def = swallowed ? WL_NONE : foldable_def(f, uses[k].id, insn);
        if (is_combined(f, insn, uses[k].id, def)) {
            swallowed = true;
            p->steps = def;
            TRY(resolve_all(f, p, def, insn));
        } else {
            TRY(resolve(f, p, uses[k].id, insn, RESOLVE_DEPTH));
        }
    }
    return STATUS_OK;
}

static Status pick_arithmetic(TimeFunc *f, Picked *p, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    u32 absorbed = absorbed_use(f, insn, &p->steps);
    u32 def = absorbed == WL_NONE ? WL_NONE : foldable_def(f, uses[absorbed].id, insn);
    p->alone = def != WL_NONE && p->steps == insn && time_op(f, def) != OP_SHL;  // shifted: IMAD does it, too
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        note_operand(f, p, &uses[k]);
        if (k == absorbed && time_tests_bits(f, insn, def, uses[k].id))
            TRY(pick_logic(f, p, def, insn));
        else if (k == absorbed)
            TRY(resolve_all(f, p, def, insn));
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

// Of an access that is left out: what it would have stored is there all the same, in a register.
static Status pick_data(TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const FlowOperand *uses = time_uses(f, insn);
    for (u32 k = 0; k < in->uses && in->is_store; k++)
        if (k != in->address_use && uses[k].kind == FLOW_VALUE)
            TRY(resolve(f, &f->picked[insn], uses[k].id, insn, RESOLVE_DEPTH));
    return STATUS_OK;
}

static Status pick(TimeFunc *f, u32 insn) {
    Picked *p = &f->picked[insn];
    const FlowInsn *in = &f->code->insns[insn];
    u32 op = time_op(f, insn), left;
    bool predicate = time_form(f, insn)->types[0] == TYPE_PRED;
    *p = (Picked){
        .leaves = f->leaves.len, .steps = insn, .needed = true, .guard = WL_NONE, .base = WL_NONE, .symbol = WL_NONE};
    if (time_is_free(f, insn))
        TRY(pick_data(f, insn));
    else if (in->address_use != 0xff && !(in->arith == FLOW_LOAD_PARAM))
        TRY(pick_access(f, p, insn));
    else if (!predicate && (left = rotation(f, insn)) != WL_NONE)
        TRY(pick_rotation(f, p, insn, left));
    else if (time_is_logic(op) && predicate)
        TRY(pick_predicate_logic(f, p, insn));
    else if (time_is_logic(op))
        TRY(pick_logic(f, p, insn, insn));
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
    TRY(time_find_lower(f));
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
