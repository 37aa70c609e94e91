// SPDX-License-Identifier: Apache-2.0
// Moves that the machine needs before an instruction: numbers that are shifted or stored, and registers that must lie
// side by side; literals of arithmetic: time_code_literals.c. From listings of ptxas 13.0 for sm_90.
#include "sim/time/time_lower.h"

enum { MOVES_MAX = 8 };

// --- literals -----------------------------------------------------------------------------------------------------
bool time_is_literal(const TimeFunc *f, const FlowOperand *use, u64 *bits) {
    u32 def = use->kind == FLOW_VALUE ? f->sole_def[use->id] : WL_NONE;
    if (def != WL_NONE && time_form(f, def)->op == OP_MOV && f->code->insns[def].uses == 1) use = time_uses(f, def);
    *bits = (u64)use->value;
    return use->kind == FLOW_OTHER || use->kind == FLOW_IMMEDIATE;
}

// A number that is shifted by a register comes from one. In a loop of one block it lies there, in others it is moved
// there in every turn (loops with 1 to 16 such shifts, with and without sides).
static u32 shifted_moves(const TimeFunc *f, u32 insn) {
    u32 op = time_op(f, insn), loop = f->loops->loop_of[f->cfg->block_of[insn]];
    u64 literal;
    bool kept = loop != WL_NONE && f->loops->loops[loop].block_count == 1;
    if ((op != OP_SHL && op != OP_SHR) || kept) return 0;
    const FlowOperand *uses = time_uses(f, insn);
    return uses[1].kind == FLOW_VALUE && time_is_literal(f, uses, &literal) && literal != 0;
}

// --- pairs --------------------------------------------------------------------------------------------------------
// A product of 64 bits takes its addend from a pair of registers: one that was extended by zeros needs the zero.
static u32 extension_moves(const TimeFunc *f, u32 insn) {
    u32 row = f->picked[insn].steps;
    if (row == insn || time_form(f, insn)->op != OP_ADD_INT || time_makes_lower(f, insn)) return 0;
    for (u32 k = 0; k < f->code->insns[insn].uses; k++) {
        const FlowOperand *use = &time_uses(f, insn)[k];
        u32 def = use->kind == FLOW_VALUE ? f->sole_def[use->id] : WL_NONE;
        bool extended = def != WL_NONE && def != row && time_form(f, def)->op == OP_CVT_INT && !f->picked[def].needed;
        if (extended && form_op(time_form(f, row))->unit == UNIT_FMAHEAVY) return 1;
    }
    return 0;
}

// A comparison of 64 bits is two: the first operand of the one of the upper words is not read from a uniform register,
// but for a parameter's.
static u32 compared_moves(const TimeFunc *f, u32 insn) {
    const FlowOperand *first = time_uses(f, insn);
    if (time_op(f, insn) != OP_SETP_INT || time_bits(f, insn, 0) != 64 || first->kind != FLOW_VALUE) return 0;
    u32 def = f->sole_def[first->id];
    return def != WL_NONE && f->picked[def].needed && !f->code->insns[def].is_load && !f->value_bits.data[first->id];
}

// --- stores -------------------------------------------------------------------------------------------------------
// The load of several words that makes a value, as one of its definitions; WL_NONE.
static u32 wide_load_of(const TimeFunc *f, u32 value) {
    for (u32 d = f->first_def[value]; d < f->first_def[value + 1]; d++) {
        const FlowInsn *in = &f->code->insns[f->defs_of[d]];
        if (in->is_load && in->defs > 1) return f->defs_of[d];
    }
    return WL_NONE;
}

// Whether operand k of a wide store lies where a wide load has put it, and the others with it.
static bool lies_ready(const TimeFunc *f, u32 load, const FlowOperand *data, u32 count) {
    const FlowInsn *in = &f->code->insns[load];
    if (in->defs != count) return false;
    for (u32 k = 0; k < count; k++)
        if (data[k].kind != FLOW_VALUE || data[k].id != f->code->operands[in->operands + k].id) return false;
    return true;
}

typedef struct Stored {
    u32 words, numbers, zeros, placed;
} Stored;

static void add_stored(const TimeFunc *f, u32 insn, Stored *s) {
    const FlowInsn *in = &f->code->insns[insn];
    const FlowOperand *uses = time_uses(f, insn), *data = uses + (in->address_use == 0);
    u32 count = in->uses - 1u;
    s->words += count;
    for (u32 k = 0; k < count; k++) {
        u64 literal;
        if (time_is_literal(f, &data[k], &literal)) {
            bool pair = time_bits(f, insn, 0) == 64;
            s->numbers += literal == 0 ? 0 : pair ? 2 : 1, s->zeros += literal == 0;
        } else if (count > 1 && data[k].kind == FLOW_VALUE) {
            u32 load = wide_load_of(f, data[k].id);
            s->placed += load != WL_NONE && !lies_ready(f, load, data, count);
        }
    }
}

// What is stored comes from registers, of a wide store from neighbouring ones. A zero is one everywhere but beside
// others.
static u32 data_moves(const TimeFunc *f, u32 insn) {
    Stored s = {.words = 0};
    u32 end = time_merged_end(f, insn);
    for (u32 i = time_merged_first(f, insn); i < end; i++)
        if (i == insn || f->merged[i] == insn) add_stored(f, i, &s);
    bool beside = s.words > 1 && s.zeros < s.words;
    return s.numbers + s.placed + (beside ? (s.zeros + 1) / 2 : 0);
}

// Two halfwords of a store that was merged are put into a register (PRMT).
static u32 packing_moves(const TimeFunc *f, u32 insn) {
    u32 halves = 0, end = time_merged_end(f, insn);
    const FlowInsn *in = &f->code->insns[insn];
    if (f->merged[insn] != insn || in->access_bytes != 2 || in->is_load) return 0;
    for (u32 i = time_merged_first(f, insn); i < end; i++) halves += f->merged[i] == insn;
    return halves / 2;
}

// The upper half of a register, as a number that is shifted to become an f32: of a bf16 the half is taken first (PRMT),
// where the lower one is needed as well; else the load is one of 16 bits. An f16 is read from either half (HADD2).
static u32 upper_half_moves(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    const FlowOperand *use = time_uses(f, insn);
    if (form->op != OP_CVT_F || form->types[0] != TYPE_F32 || form->types[1] != TYPE_BF16) return 0;
    u32 def = use->kind == FLOW_VALUE ? f->sole_def[use->id] : WL_NONE;
    if (def == WL_NONE || f->code->insns[def].defs < 2 || time_bits(f, def, 0) > 32) return 0;
    const FlowOperand *halves = f->code->operands + f->code->insns[def].operands;
    for (u32 k = 1; k < f->code->insns[def].defs; k += 2)
        if (halves[k].id == use->id) return f->use_count[halves[k - 1].id] != 0;
    return 0;
}

// A store of a half that was rounded for it.
static bool stores_rounded(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    if (!in->is_store || in->access_bytes != 2 || in->address_use != 0 || in->uses != 2) return false;
    const FlowOperand *data = &time_uses(f, insn)[1];
    u32 def = data->kind == FLOW_VALUE ? f->sole_def[data->id] : WL_NONE;
    if (def == WL_NONE || !f->picked[def].needed || time_form(f, def)->op != OP_CVT_F) return false;
    PtxType to = (PtxType)time_form(f, def)->types[0];
    return to == TYPE_F16 || to == TYPE_BF16;
}

// Whether instruction `i` is a load that may not go before the store `insn`.
static bool waits_for_store(const TimeFunc *f, u32 insn, u32 i) {
    if (!f->code->insns[i].is_load || time_form(f, i)->mods[MOD_NC]) return false;
    return f->picked[i].base != f->picked[insn].base || f->picked[i].offset == f->picked[insn].offset;
}

// Halves that are rounded and stored one after the other share registers: each is put into one by a PRMT, but the last
// of the function, and those that are alone in their block. None where loads need not wait for stores, and the
// roundings stand beside each other. (ptxas 13.0, sm_90: of 4 in a row 3, in a loop that is unrolled all, of one a turn
// behind it none)
static u32 rounded_moves(const TimeFunc *f, u32 insn) {
    u32 b = f->cfg->block_of[insn], first = f->cfg->blocks[b].first, end = first + f->cfg->blocks[b].count;
    bool loaded = false, beside = false;
    if (f->merged[insn] != WL_NONE || !stores_rounded(f, insn)) return 0;
    for (u32 i = first; i < insn; i++) {
        loaded |= f->unrolled[b] && waits_for_store(f, insn, i);
        beside |= stores_rounded(f, i);
    }
    if (loaded) return 1;
    for (u32 i = insn + 1; i < f->code->insn_count; i++) {
        loaded |= waits_for_store(f, insn, i);
        if (loaded && stores_rounded(f, i)) return beside || i < end;
    }
    return 0;
}

// In loops they are made ready before.
static u32 store_moves(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    u32 block = f->cfg->block_of[insn];
    TimeKind kind = time_kind(f, insn);
    bool stores = kind == TIME_STORE || kind == TIME_ATOMIC || kind == TIME_REDUCE;
    if (!stores || in->address_use != 0 || in->uses < 2 || f->loops->loop_of[block] != WL_NONE) return 0;
    u32 moves = data_moves(f, insn);
    return moves < MOVES_MAX ? moves : MOVES_MAX;
}

u32 time_moves(const TimeFunc *f, u32 insn, u32 steps) {
    if (steps > 1) return compared_moves(f, insn);
    return extension_moves(f, insn) + store_moves(f, insn) + packing_moves(f, insn) + rounded_moves(f, insn) +
           shifted_moves(f, insn) + upper_half_moves(f, insn) + time_pointer_moves(f, insn);
}
