// SPDX-License-Identifier: Apache-2.0
// If-conversion of what time_code_control.c chose (Allen, Kennedy, Porterfield, Warren: "Conversion of Control
// Dependence to Data Dependence", POPL 1983): branches inside a region go, and all that a side does gets its predicate
// as guard, as ptxas has it, but for uniform instructions, which have none.
#include "sim/time/time_lower.h"

#include <string.h>

typedef struct Predication {
    TimeFunc *f;
    const Cfg *cfg;  // of the operations as they were
    const Liveness *live;
} Predication;

static bool is_in_side(const TimeFunc *f, const MachineOp *op) { return f->predicated[f->cfg->block_of[op->pc]]; }

// A branch inside of a region; those at its end lead elsewhere.
static bool is_inner_branch(const TimeFunc *f, const MachineOp *op) {
    const TimeBlock *block = time_block(f, op->pc);
    return op->hidden && op->flow == FLOW_BRANCH && block->part + 1u < block->parts;
}

// The first operation behind the side that operation `op` is in.
static u32 end_of_side(const TimeFunc *f, u32 op) {
    const MachineOp *ops = f->ops.data;
    u32 block = f->cfg->block_of[ops[op].pc], end = op;
    while (end < f->ops.len && f->cfg->block_of[ops[end].pc] == block && ops[end].iteration == ops[op].iteration) end++;
    return end;
}

// Whether a way around the side needs a value that the operation writes; `behind`: where such ways go on.
static bool is_needed_around(const Predication *p, const MachineOp *op, u32 behind) {
    if (behind == p->f->ops.len) return false;
    u32 block = p->cfg->block_of[behind];
    for (u32 k = 0; k < op->defs; k++)
        if (liveness_has_in(p->live, block, p->f->operands.data[op->operands + k])) return true;
    return false;
}

Status time_guard_op(TimeFunc *f, u32 at, u32 guard, bool keeps) {
    MachineOp *op = &f->ops.data[at];
    u32 count = (u32)op->defs + op->uses, first = f->operands.len;
    TRY(vec_reserve(&f->operands, first + count + 1));
    memcpy(f->operands.data + first, f->operands.data + op->operands, sizeof(u32) * count);
    f->operands.data[first + count] = guard;
    f->operands.len = first + count + 1;
    op->operands = first;
    if (keeps) op->guard = guard;
    op->uses++;
    op->guard_use = op->uses <= UINT8_MAX ? (u8)op->uses : 0;
    return STATUS_OK;
}

static Status predicate_region(const Predication *p, u32 first, u32 end) {
    TimeFunc *f = p->f;
    u32 guard = WL_NONE;  // of the sides that come next
    for (u32 i = first; i < end; i++) {
        const MachineOp *op = &f->ops.data[i];
        bool side = is_in_side(f, op);
        if (is_inner_branch(f, op)) {
            if (!side) guard = op->uses ? f->operands.data[op->operands + op->defs] : WL_NONE;
        } else if (side && guard != WL_NONE && !op->hidden && op->guard == WL_NONE && op->unit != UNIT_UNIFORM) {
            TRY(time_guard_op(f, i, guard, is_needed_around(p, op, end_of_side(f, i))));
        }
    }
    return STATUS_OK;
}

static void drop_inner_branches(TimeFunc *f) {
    u32 kept = 0;
    for (u32 i = 0; i < f->ops.len; i++)
        if (!is_inner_branch(f, &f->ops.data[i])) f->ops.data[kept++] = f->ops.data[i];
    f->ops.len = kept;
}

Status time_predicate(TimeFunc *f) {
    Predication p = {.f = f};
    Cfg *cfg;
    Liveness *live;
    TRY(time_flow(f, &cfg, &live));
    p.cfg = cfg;
    p.live = live;
    const TimeBlock *block = f->lower->blocks.data + f->blocks, *last = block + f->block_count;
    for (u32 op = 0; block < last; block += block->parts) {
        u32 first = op, end = time_region_end(f, block);
        while (op < f->ops.len && f->ops.data[op].pc < end) op++;
        if (block->parts > 1) TRY(predicate_region(&p, first, op));
    }
    drop_inner_branches(f);
    return STATUS_OK;
}
