// SPDX-License-Identifier: Apache-2.0
// Stall counts: how many cycles behind an instruction the next one of its block issues at the earliest. Since Maxwell
// the compiler says so in the control word, from the latencies that are fixed and the time that units take (ptxas 13.0
// for sm_90 has two integer operations two cycles apart, two of the slow unit eight), for instructions that follow each
// other without delay. A warp that has waited for a load in between still waits as long again: on an H200 the cycles of
// the reason `wait` are the stall counts less one of what was executed (10 kernels: 1.6 to 3.1 cycles an instruction,
// both within 4 % on average; bench/hwref/h200-stalls.csv). Behind a block's last instruction, and for results of
// others, TimeWarp.ready alone says when the next one can issue.
#include "sim/time/time_lower.h"

#include <string.h>

#define BY_SCOREBOARD UINT32_MAX
enum { GAP_MOST = 15 };  // four bits of the control word

typedef struct Gaps {
    const GpuModel *gpu;
    TimeOp *ops;
    const u16 *regs;
    const u8 *late;
    u32 *ready;  // by slot: cycle of the block in which a result of fixed latency can be read; 0 = none; BY_SCOREBOARD
    u32 apart[2];          // ... in which another constant, access can issue
    u32 free[UNIT_COUNT];  // ... in which a unit of the scheduler can take another instruction of the warp
} Gaps;

static bool is_fixed(const TimeOp *op) {
    return op->path == TIME_BY_UNIT && op->kind != TIME_FIXED && !(op->flags & TIME_SHORT);
}

// The cycle, not before `cycle`, in which an instruction issues.
static u32 issue_cycle(Gaps *g, const TimeOp *op, u32 cycle) {
    for (u32 i = 0; i < (u32)op->dst_count + op->src_count; i++) {
        u32 at = g->ready[g->regs[op->regs + i]];
        if (at == BY_SCOREBOARD)
            memset(g->free, 0, sizeof g->free);  // by then no unit is taken
        else if (at && at + g->late[op->regs + i] > cycle)
            cycle = at + g->late[op->regs + i];
    }
    if (op->path == TIME_BY_UNIT && g->free[op->unit] > cycle) cycle = g->free[op->unit];
    u32 space = op->spaced ? g->apart[op->spaced != SPACED_CONSTANT] : 0;
    return space > cycle ? space : cycle;
}

static void note_issue(Gaps *g, const TimeOp *op, u32 cycle) {
    for (u32 i = 0; i < op->dst_count; i++)
        g->ready[g->regs[op->regs + i]] = is_fixed(op) ? cycle + op->latency : BY_SCOREBOARD;
    g->free[op->unit] = cycle + op->interval;
    if (op->spaced)
        g->apart[op->spaced != SPACED_CONSTANT] =
            cycle + (u32)(op->spaced == SPACED_CONSTANT ? g->gpu->constant_interval : g->gpu->access_interval);
}

static void set_gaps(Gaps *g, u32 first, u32 count) {
    u32 cycle = 1;
    g->apart[0] = g->apart[1] = 0;
    memset(g->free, 0, sizeof g->free);
    for (u32 i = first; i < first + count; i++) {
        u32 at = issue_cycle(g, &g->ops[i], cycle), gap = i > first ? at - cycle + 1 : 1;
        if (i > first) g->ops[i - 1].gap = (u8)(gap < GAP_MOST ? gap : GAP_MOST);
        note_issue(g, &g->ops[i], at);
        cycle = at + 1;
    }
    for (u32 i = first; i < first + count; i++)
        for (u32 k = 0; k < g->ops[i].dst_count; k++) g->ready[g->regs[g->ops[i].regs + k]] = 0;
}

Status time_gaps(TimeLower *lower) {
    for (u32 i = 0; i < lower->ops.len; i++) lower->ops.data[i].gap = 1;
    if (lower->gpu->sm_version < SM_MAXWELL) return STATUS_OK;
    Gaps g = {.gpu = lower->gpu, .ops = lower->ops.data, .regs = lower->regs.data, .late = lower->late.data};
    if (!(g.ready = mem_zero(lower->slots + 1u, sizeof *g.ready))) return STATUS_NO_MEMORY;
    for (u32 b = 0; b < lower->blocks.len; b += lower->blocks.data[b].parts) {
        const TimeBlock *block = &lower->blocks.data[b];
        set_gaps(&g, block->ops, block->op_count);
        set_gaps(&g, block->unrolled, block->unrolled_count);
        set_gaps(&g, block->entry, block->entry_count);
        set_gaps(&g, block->pair, block->pair_count);
    }
    mem_free(g.ready);
    return STATUS_OK;
}
