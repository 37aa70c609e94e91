// SPDX-License-Identifier: Apache-2.0
// From a warp's trace to what it issues next. A run of a warp is one of the trace, or those of a whole pass through a
// region (TimeBlock.parts), or of TimeBlock.turns passes through an unrolled loop.
#ifndef WL_SIM_SM_TRACE_H
#define WL_SIM_SM_TRACE_H

#include "sim/time/machine.h"

// Goes to the next run with something to issue. False: the trace is used up, or more of it is wanted (wants_trace).
bool sm_next_run(Sm *sm, TimeWarp *w);

static inline bool wants_trace(const TimeWarp *w) {
    return (trace_empty(&w->trace) || w->ask == ASK_WANTED) && !warp_done(w->front);
}

// To the next operation of the run.
static inline bool next_op(TimeWarp *w) {
    const TimeOp *ops = w->run->code->ops;
    while (w->op < w->op_end && (ops[w->op].pc < w->from || ops[w->op].pc >= w->to)) w->op++;
    return w->op < w->op_end;
}

// The accesses of the run of the trace that an operation belongs to, in words behind Trace.begin: all, or from the one
// on that was found last, where those of the operation are not before it.
typedef struct OpRun {
    u32 from;  // program counter that the run begins at
    u32 at, end;
} OpRun;

static inline u32 part_of(const TimeWarp *w, const TimeOp *op) { return w->part[w->joined ? op->extra : 0]; }

// The first access of `op` lies at `at`.
static inline void sought_is(TimeWarp *w, const TimeOp *op, u32 at) {
    w->sought_part = part_of(w, op);
    w->sought = at;
}

static inline OpRun run_of(const TimeWarp *w, const TimeOp *op) {
    u32 at = part_of(w, op);
    if (at == NO_PART) return (OpRun){0};
    const u64 *words = w->trace.words + w->trace.begin;
    TraceRun run = trace_run(words + at);
    bool behind = w->sought_part == at && trace_access(words[w->sought]).insn <= op->pc - run.from;
    return (OpRun){run.from, behind ? w->sought : at + TRACE_HEAD, at + TRACE_HEAD + run.words};
}

// The next access of an instruction among those in `run`, which loses it; NULL: there is none (left).
const u64 *next_access(const TimeWarp *w, OpRun *run, const TimeOp *op);

#endif
