// SPDX-License-Identifier: Apache-2.0
// Stall counts: how many cycles behind an instruction the next one of its block issues at the earliest. Since Maxwell
// the compiler says so in the control word, from the latencies that are fixed and the time that units take (ptxas 13.0
// for sm_90 has two integer operations two cycles apart, two of the slow unit eight), for instructions that follow each
// other without delay. A warp that has waited for a load in between still waits as long again: on an H200 the cycles of
// the reason `wait` are the stall counts less one of what was executed (10 kernels: 1.6 to 3.1 cycles an instruction,
// both within 4 % on average; bench/hwref/h200-stalls.csv). Behind a block's last instruction, and for results of
// others, TimeWarp.ready alone says when the next one can issue. What a stall count is for (TimeOp.waits_for) is the
// last of what the next instruction needs: a result, its unit, its turn.
#include "sim/time/time_lower.h"

#include <string.h>

#define BY_SCOREBOARD UINT32_MAX
enum { GAP_MOST = 15 };  // four bits of the control word

typedef struct Ready {
    u32 at;  // cycle of the block; 0 = there is none; BY_SCOREBOARD
    u32 pc;  // of what it is for
} Ready;

typedef struct Gaps {
    const GpuModel *gpu;
    const SimInsn *insns;
    TimeOp *ops;
    const u16 *regs;
    const u8 *late, *words;
    Ready *ready;            // by slot: when a result of fixed latency can be read
    Ready apart[2];          // ... another constant, access can issue
    Ready free[UNIT_COUNT];  // ... a unit of the scheduler can take another instruction of the warp
} Gaps;

static bool is_fixed(const TimeOp *op) {
    return op->path == TIME_BY_UNIT && op->kind != TIME_FIXED && !(op->flags & TIME_SHORT);
}

static Ready later(Ready a, Ready b) { return b.at > a.at ? b : a; }

// The cycle, not before `cycle`, in which an instruction issues, and whom it waits for until then.
static Ready issue_cycle(Gaps *g, const TimeOp *op, u32 cycle) {
    Ready next = {cycle, WL_NONE};
    for (u32 i = 0; i < (u32)op->dst_count + op->src_count; i++) {
        Ready value = g->ready[g->regs[op->regs + i]];
        if (value.at == BY_SCOREBOARD)
            memset(g->free, 0, sizeof g->free);  // by then no unit is taken
        else if (value.at)
            next = later(next, (Ready){value.at + g->late[op->regs + i], value.pc});
    }
    if (op->path == TIME_BY_UNIT) next = later(next, g->free[op->unit]);
    return op->spaced && op->spaced != SPACED_SPECIAL ? later(next, g->apart[op->spaced > SPACED_SPECIAL]) : next;
}

static void note_issue(Gaps *g, const TimeOp *op, u32 cycle) {
    for (u32 i = 0; i < op->dst_count; i++)
        g->ready[g->regs[op->regs + i]] = (Ready){is_fixed(op) ? cycle + op->latency : BY_SCOREBOARD, op->pc};
    g->free[op->unit] = (Ready){cycle + op->interval, op->pc};
    if (op->spaced) {
        u64 apart = op->spaced > SPACED_SPECIAL ? g->gpu->access_interval : g->gpu->constant_interval;
        if (op->spaced == SPACED_SPECIAL && apart) apart--;
        g->apart[op->spaced > SPACED_SPECIAL] = (Ready){cycle + (u32)apart, op->pc};
    }
}

static bool is_arithmetic(const TimeOp *op) {
    TimePipe pipe = time_pipe(op->unit);
    return op->path == TIME_BY_UNIT && pipe != PIPE_OTHER && pipe != PIPE_MEMORY && op->kind == TIME_MATH;
}

static bool among(const u16 *regs, u32 count, u16 reg) {
    for (u32 i = 0; i < count; i++)
        if (regs[i] == reg) return true;
    return false;
}

// Registers of 32 bits that an instruction reads, each once. What the one before it has read too, the cycle before, is
// still there: ptxas marks it (.reuse).
static u32 counted_reads(const Gaps *g, const TimeOp *op, const TimeOp *before) {
    const u16 *sources = g->regs + op->regs + op->dst_count;
    bool reuse = before && before->gap == 1 && is_arithmetic(before);
    const u16 *had = before ? g->regs + before->regs : NULL;
    u32 reads = 0;
    for (u32 i = 0; i < op->src_count; i++) {
        bool kept = reuse && among(had + before->dst_count, before->src_count, sources[i]) &&
                    !among(had, before->dst_count, sources[i]);
        if (!kept && !among(sources, i, sources[i])) reads += g->words[op->regs + op->dst_count + i];
    }
    return reads;
}

// Shared and local memory, shuffles: an address is one register.
static bool is_near(const Gaps *g, const TimeOp *op) {
    return op->spaced != SPACED_ACCESS || op->constant || g->insns[op->pc].space == SPACE_LOCAL;
}

// Registers that could be handed out while it holds the dispatcher, whatever it reads.
static u64 held_reads(const Gaps *g, const TimeOp *op) {
    const GpuModel *gpu = g->gpu;
    if (op->kind == TIME_MATH && op->flags & TIME_CARRY) return gpu->carry_reads;
    if (op->unit == UNIT_XU) return gpu->queue_reads;
    if (op->unit == UNIT_FMAHEAVY && op->interval > gpu->fmaheavy_interval) return gpu->wide_reads;
    if (op->path != TIME_BY_QUEUE || op->unit != UNIT_LSU) return 0;
    if (is_near(g, op)) return op->kind == TIME_LOAD ? 0 : gpu->queue_reads;
    return op->kind == TIME_STORE ? gpu->store_reads : gpu->global_reads;
}

// TimeOp.reads, and the time of the f64 unit, which reads an operand of 64 bits a cycle while it works: it takes the
// longer of both, and the dispatcher is held for little.
static void set_reads(const Gaps *g, TimeOp *op, const TimeOp *before) {
    u64 rate = g->gpu->register_reads, held = held_reads(g, op);
    if (!rate) return;
    u64 reads = is_arithmetic(op) ? counted_reads(g, op, before) : 0;
    if (op->unit == UNIT_FP64) {
        u64 turns = (reads + rate - 1) / rate;
        if (turns > op->interval) op->interval = (u8)turns;
        if (reads > rate + 1) reads = rate + 1;
    }
    if (held > reads) reads = held;
    op->reads = (u8)(reads < UINT8_MAX ? reads : UINT8_MAX);
}

static void set_gaps(Gaps *g, u32 first, u32 count) {
    u32 cycle = 1;
    memset(g->apart, 0, sizeof g->apart);
    memset(g->free, 0, sizeof g->free);
    for (u32 i = first; i < first + count; i++) {
        Ready next = issue_cycle(g, &g->ops[i], cycle);
        u32 gap = i > first ? next.at - cycle + 1 : 1;
        g->ops[i].waits_for = next.pc;
        if (i > first) g->ops[i - 1].gap = (u8)(gap < GAP_MOST ? gap : GAP_MOST);
        set_reads(g, &g->ops[i], i > first ? &g->ops[i - 1] : NULL);
        note_issue(g, &g->ops[i], next.at);
        cycle = next.at + 1;
    }
    for (u32 i = first; i < first + count; i++)
        for (u32 k = 0; k < g->ops[i].dst_count; k++) g->ready[g->regs[g->ops[i].regs + k]] = (Ready){0};
}

Status time_gaps(TimeLower *lower) {
    for (u32 i = 0; i < lower->ops.len; i++) lower->ops.data[i].gap = 1, lower->ops.data[i].waits_for = WL_NONE;
    if (lower->gpu->sm_version < SM_MAXWELL) return STATUS_OK;
    Gaps g = {.gpu = lower->gpu,
              .insns = lower->program->insns,
              .ops = lower->ops.data,
              .regs = lower->regs.data,
              .late = lower->late.data,
              .words = lower->words.data};
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
