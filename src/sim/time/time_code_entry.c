// SPDX-License-Identifier: Apache-2.0
// What ptxas puts around the turns of a loop that it unrolls without knowing how many they are: whether TIME_UNROLL of
// them are left, and behind those whether two are, and whether one is. From listings of ptxas 13.0 for sm_90 of loops
// that count up and down, to a constant, a parameter and a value of the lane (tests/time/lowering.ptx has two). Here
// all of it is issued on the way in.
#include "sim/time/time_lower.h"

typedef struct Entry {
    TimeFunc *f;
    u32 pc;
} Entry;

static MachineOp entry_op(const Entry *e, u8 unit, u64 interval, u64 latency) {
    return (MachineOp){.pc = e->pc,
                       .operands = e->f->operands.len,
                       .version = VERSION_ENTRY,
                       .unit = unit,
                       .interval = (u8)interval,
                       .latency = (u16)latency,
                       .guard = WL_NONE,
                       .base = WL_NONE,
                       .symbol = WL_NONE};
}

// Something of integers, a predicate of 1 bit or a register of 32.
static Status emit_integer(const Entry *e, u16 bits, u32 *made) {
    TimeFunc *f = e->f;
    const GpuModel *gpu = f->lower->gpu;
    MachineOp op = entry_op(e, UNIT_ALU, gpu->alu_interval, gpu->alu_latency);
    op.balanced = bits > 1;
    op.defs = 1;
    op.uses = *made != WL_NONE;
    u32 from = *made;
    *made = f->value_count++;
    TRY(vec_push(&f->value_bits, bits));
    TRY(vec_push(&f->operands, *made));
    if (op.uses) TRY(vec_push(&f->operands, from));
    return vec_push(&f->ops, op);
}

static Status emit_branch(const Entry *e, u32 predicate) {
    MachineOp op = entry_op(e, UNIT_CBU, e->f->lower->gpu->cbu_interval, 1);
    op.kind = TIME_BRANCH;
    op.order = ORDER_ALL;
    op.uses = op.guard_use = 1;
    op.guard = predicate;
    TRY(vec_push(&e->f->operands, predicate));
    return vec_push(&e->f->ops, op);
}

// BSSY, BSYNC: lanes that leave the turns at different times.
static Status emit_meeting(const Entry *e, bool parts) {
    for (u32 k = 0; k < 2 && parts; k++)
        TRY(vec_push(&e->f->ops, entry_op(e, UNIT_CBU, e->f->lower->gpu->cbu_interval, 0)));
    return STATUS_OK;
}

// A question: a comparison, of a distance when that has to be computed first, and the branch.
static Status emit_question(const Entry *e, bool distance) {
    u32 value = WL_NONE;
    if (distance) TRY(emit_integer(e, 32, &value));
    TRY(emit_integer(e, 1, &value));
    return emit_branch(e, value);
}

static u32 find_compare(const TimeFunc *f, u32 begin, u32 end) {
    for (u32 i = begin; i < end; i++)
        if (f->loop_control[i] && time_compares(f, i)) return i;
    return WL_NONE;
}

Status time_emit_entry(TimeFunc *f, u32 begin, u32 end) {
    Entry e = {f, begin};
    u32 compare = find_compare(f, begin, end), flag = WL_NONE, limit = WL_NONE;
    if (compare == WL_NONE) return STATUS_OK;
    const FlowInsn *in = &f->code->insns[compare];
    const FlowOperand *bound = &f->code->operands[in->operands + in->defs + 1];
    u64 bits;
    bool number = time_is_literal(f, bound, &bits), distance = !number || bits != 0;
    bool parts = bitset_has(&f->divergence->branches, end - 1);
    if (in->compare == FLOW_NOT_EQUAL || in->compare == FLOW_EQUAL) TRY(emit_question(&e, false));
    TRY(emit_meeting(&e, parts));
    TRY(emit_integer(&e, 1, &flag));
    TRY(emit_question(&e, distance));
    flag = WL_NONE;
    TRY(emit_integer(&e, 1, &flag));
    if (!number) TRY(emit_integer(&e, 32, &limit));
    TRY(emit_meeting(&e, parts));
    TRY(emit_question(&e, distance));
    return emit_question(&e, false);
}
