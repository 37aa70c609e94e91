// SPDX-License-Identifier: Apache-2.0
// What a warp waits for before what keeps it in the end (TimeWarp.until, WaitPart): for sm.c.
#ifndef WL_SIM_SM_WAIT_H
#define WL_SIM_SM_WAIT_H

#include "sim/time/sm_account.h"

// Of the cycles behind a taken branch, those in which it waits for the code of the target: 2.7 of 9.4 cycles are
// branch_resolving on an H200, 2.4 no_instruction (stall samples of taken branches, gpus/h200.gpu, branch_taken).
enum { TARGET_FETCH = 2 };

// Whether the branch before this instruction was taken, so that it goes on at w->jumped.
static inline bool has_jumped(TimeWarp *w) {
    bool jumped = w->behind != WL_NONE && w->from != w->behind;
    w->behind = WL_NONE;
    return jumped;
}

// What the stall count of the instruction before is for: behind a block's last one and in a subroutine the branch
// there.
static inline u32 counted_for(const TimeWarp *w, const TimeOp *op) {
    return op->waits_for == WL_NONE || w->steps ? w->held_by : op->waits_for;
}

// When what a warp waits for first is over: the stall count, other code (0: it has that). TimeWarp.until.
typedef struct FirstWaits {
    u64 counted, fetched;
    bool jumped;  // it goes on at TimeWarp.jumped
} FirstWaits;

static inline FirstWaits begin_wait(TimeWarp *w, const TimeOp *op, u64 earliest, StallReason reason) {
    if (reason == STALL_WAIT && earliest > w->since) w->counted_for = counted_for(w, op);
    return (FirstWaits){reason == STALL_WAIT ? earliest : w->until[PART_WAIT], 0, has_jumped(w)};
}

// The warp stalls for `reason` in the end, from `cycle` on.
static inline void stall_behind(Sm *sm, TimeWarp *w, u64 cycle, StallReason reason, u32 cause,
                                const FirstWaits *first) {
    stall(sm, w, cycle, reason, cause);
    if (reason == STALL_WAIT) return (void)(w->until[PART_FETCH] = 0);
    u64 *until = w->until, target = first->counted + (first->jumped ? TARGET_FETCH : 0);
    until[PART_WAIT] = first->counted;
    until[PART_TARGET] = target;
    until[PART_BRANCH] = first->jumped && w->jumped > target ? w->jumped : target;
    until[PART_FETCH] = first->fetched > until[PART_BRANCH] ? first->fetched : until[PART_BRANCH];
}

#endif
