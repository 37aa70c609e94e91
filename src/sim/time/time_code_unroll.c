// SPDX-License-Identifier: Apache-2.0
// Loops that ptxas unrolls: beside the block as it stands, the machine instructions of UNROLL iterations at once, with
// the loop's control once, increments in the offsets of addresses, and what depends only on them computed once. A warp
// whose next UNROLL runs are this block issues those instead; the block itself is the rest of the loop.
// In the flow graph the two are alternatives: a mark before the copies branches to either, one behind them back or out.
#include "sim/time/time_lower.h"

typedef struct Unroller {
    TimeFunc *f;
    const FlowBlock *block;
    u32 *name;   // value -> its name in the iteration under work
    u32 *first;  // by leaf: the name that the first iteration read
    u32 *made;   // value -> its name after the first iteration
    u32 iteration;
} Unroller;

static bool is_linear(const TimeFunc *f, u32 insn) {
    switch (f->code->insns[insn].arith) {
    case FLOW_MOVE:
    case FLOW_CONVERT:
    case FLOW_ADD:
    case FLOW_SUB:
    case FLOW_MUL:
    case FLOW_MULADD:
    case FLOW_SHIFT_LEFT: return true;
    default: return false;
    }
}

// In an iteration behind the first: whether all it reads is as it was then, but for the increments.
static bool is_repeated(const Unroller *u, u32 insn) {
    const Picked *p = &u->f->picked[insn];
    if (u->iteration == 0 || !is_linear(u->f, insn)) return false;
    for (u32 k = 0; k < p->leaf_count; k++)
        if (u->name[u->f->leaves.data[p->leaves + k]] != u->first[p->leaves + k]) return false;
    return true;
}

static void reuse(Unroller *u, u32 insn) {
    const FlowInsn *in = &u->f->code->insns[insn];
    for (u32 k = 0; k < in->defs; k++) {
        u32 value = u->f->code->operands[in->operands + k].id;
        u->name[value] = u->made[value];
    }
}

// The results of an iteration have names of their own, those of the last one the values' own.
static Status name_result(Unroller *u, u32 value, u32 *name) {
    if (u->iteration + 1 == TIME_UNROLL) return *name = value, STATUS_OK;
    *name = u->f->value_count++;
    return vec_push(&u->f->value_bits, u->f->value_bits.data[value]);
}

// Puts the names of this iteration into the operations emitted since `from`.
static Status rename_ops(Unroller *u, u32 insn, u32 from) {
    TimeFunc *f = u->f;
    const Picked *p = &f->picked[insn];
    if (u->iteration == 0)
        for (u32 k = 0; k < p->leaf_count; k++) u->first[p->leaves + k] = u->name[f->leaves.data[p->leaves + k]];
    for (u32 i = from; i < f->ops.len; i++) {
        MachineOp *op = &f->ops.data[i];
        op->iteration = (u8)(u->iteration + 1);
        for (u32 k = op->defs; k < op->defs + (u32)op->uses; k++) {
            u32 *value = &f->operands.data[op->operands + k];
            if (*value < f->code->value_count) *value = u->name[*value];
        }
    }
    for (u32 i = from; i < f->ops.len; i++) {
        MachineOp op = f->ops.data[i];
        for (u32 k = 0; k < op.defs; k++) {
            u32 value = f->operands.data[op.operands + k], name;
            if (value >= f->code->value_count) continue;
            TRY(name_result(u, value, &name));
            f->operands.data[op.operands + k] = u->name[value] = name;
            if (u->iteration == 0) u->made[value] = name;
        }
    }
    return STATUS_OK;
}

static Status emit_iteration(Unroller *u) {
    TimeFunc *f = u->f;
    bool last = u->iteration + 1 == TIME_UNROLL;
    for (u32 i = u->block->first; i < u->block->first + u->block->count; i++) {
        if (!time_is_emitted(f, i) || (f->loop_control[i] && !last)) continue;
        if (!f->loop_control[i] && is_repeated(u, i)) {
            reuse(u, i);
            continue;
        }
        u32 from = f->ops.len;
        TRY(time_emit_insn(f, i));
        TRY(rename_ops(u, i, from));
    }
    return STATUS_OK;
}

static Status emit_mark(TimeFunc *f, u32 pc, UnrollMark mark) {
    return vec_push(&f->ops, (MachineOp){.pc = pc,
                                         .operands = f->operands.len,
                                         .hidden = true,
                                         .flow = FLOW_SWITCH,
                                         .mark = (u8)mark,
                                         .guard = WL_NONE,
                                         .base = WL_NONE,
                                         .symbol = WL_NONE});
}

Status time_emit_unrolled(TimeFunc *f, u32 b) {
    const FlowBlock *block = &f->cfg->blocks[b];
    Arena *arena = &f->lower->scratch;
    Unroller u = {.f = f, .block = block};
    u32 values = f->code->value_count + 1;
    u.name = arena_alloc(arena, sizeof(u32) * values, 4);
    u.made = arena_alloc(arena, sizeof(u32) * values, 4);
    u.first = ARENA_ARRAY(arena, u32, f->leaves.len + 1);
    if (!u.name || !u.made || !u.first) return STATUS_NO_MEMORY;
    for (u32 i = block->first; i < block->first + block->count; i++) {  // what the block touches; no more is looked at
        const FlowInsn *in = &f->code->insns[i];
        for (u32 k = 0; k < in->defs; k++) {
            u32 value = f->code->operands[in->operands + k].id;
            u.name[value] = u.made[value] = value;
        }
        const Picked *p = &f->picked[i];
        for (u32 k = 0; k < p->leaf_count; k++) u.name[f->leaves.data[p->leaves + k]] = f->leaves.data[p->leaves + k];
    }
    TRY(emit_mark(f, block->first, UNROLL_BEGIN));
    for (u.iteration = 0; u.iteration < TIME_UNROLL; u.iteration++) TRY(emit_iteration(&u));
    return emit_mark(f, block->first + block->count - 1, UNROLL_END);
}
