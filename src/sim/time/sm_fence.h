// SPDX-License-Identifier: Apache-2.0
// Fences (TIME_FENCE, TimeFence): how long they take, for which stores they wait, what they leave of the L1
// [bench/hwref/h200-fences.tsv].
#ifndef WL_SIM_SM_FENCE_H
#define WL_SIM_SM_FENCE_H

#include "sim/time/machine.h"

// A fence is issued: TimeWarp.fenced says when it is over if no store is under way. True: it waits for stores.
bool fence_begin(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle);
// When the warp that waits at a fence (TimeWarp.wait_slot: TimeFence) goes on, whose last store is done at `cycle`.
u64 fence_end(const Sm *sm, const TimeWarp *w, u64 cycle);

#endif
