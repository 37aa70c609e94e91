// SPDX-License-Identifier: Apache-2.0
// Warps that wait for a unit of their scheduler that is taken. One of many that finds its unit taken twice in a row is
// held: it is not tried while the unit is taken, and what it waited for is accounted for when it issues. The cycles in
// which its unit is taken are stalls for the unit (math_pipe_throttle, mio_throttle); in those in which it is free, the
// scheduler issues another warp (not_selected). In kernels of integer instructions 15 warps may wait for each that
// issues.
#ifndef WL_SIM_SM_UNIT_H
#define WL_SIM_SM_UNIT_H

#include "sim/time/sm_account.h"

// Gives the unit to the instruction; when it begins with it.
static inline u64 unit_take(const GpuModel *gpu, Scheduler *s, const TimeWarp *w, const TimeOp *op, u64 cycle) {
    u64 free = s->unit_free[op->unit], start = free > cycle ? free : cycle;
    s->unit_free[op->unit] = start + op->interval;
    if (op->unit == UNIT_XU && gpu->xu_queue) {
        if (free < cycle) s->xu_since = cycle;
        s->xu_last = w->slot;
    }
    return start;
}

// When the unit can be asked for. The slow unit has a queue, in which instructions wait without their warp. When it has
// had no rest for as long as that takes, it is for one warp at a time, and who is oldest goes first: of chains three or
// four warps of a scheduler have the unit for themselves (h200-cta-ends.tsv, ex2, f2i).
static inline u64 unit_free_for(const GpuModel *gpu, const Scheduler *s, const TimeWarp *w, const TimeOp *op,
                                u64 cycle) {
    u64 free = s->unit_free[op->unit];
    if (op->unit != UNIT_XU || !gpu->xu_queue) return free;
    u64 waiting = gpu->xu_queue * gpu->xu_interval;
    if (s->xu_last != w->slot && free > s->xu_since + waiting) return free;
    return free > cycle + waiting ? free - waiting : cycle;
}

// An instruction that issued at `cycle` has its unit from `start` on: for warps that are held.
void unit_note(Scheduler *s, const TimeOp *op, u64 cycle, u64 start);
// The slow unit is behind the queue of shared memory and constants. [bench/hwref/h200-stall-reasons.tsv, row_ex2,
// row_f2i, row_popc: 16 warps of an SM wait 14 to 18 cycles an instruction, all of them mio_throttle]
static inline StallReason unit_throttle(const TimeOp *op) {
    return op->unit == UNIT_XU ? STALL_MIO_THROTTLE : STALL_MATH_PIPE_THROTTLE;
}

// A warp that has waited for its unit finds it taken again. True: it is held.
bool unit_hold(Sm *sm, Scheduler *s, TimeWarp *w, const TimeOp *op, u64 cycle);
// Its unit is free, and it is not held any longer.
void unit_let_go(Sm *sm, Scheduler *s, TimeWarp *w, u64 cycle);
// Brings the accounts of all held warps up to `cycle`; ... of one scheduler.
void unit_settle_held(Sm *sm, Scheduler *s, u64 cycle);
static inline void unit_settle(Sm *sm, u64 cycle) {
    for (u32 i = 0; i < sm->scheduler_count; i++)
        if (sm->schedulers[i].held) unit_settle_held(sm, &sm->schedulers[i], cycle);
}
// Held warps whose units are free at `cycle`; when one of them can be tried after it, if that is before `next`.
u64 unit_ready(const Scheduler *s, u64 cycle);
u64 unit_next(const Scheduler *s, u64 cycle, u64 next);
// When a held warp could issue, as far as is known.
u64 unit_at(const Scheduler *s, const TimeWarp *w);

static inline bool is_held(const Scheduler *s, const TimeWarp *w) { return s->held >> w->slot & 1; }

#endif
