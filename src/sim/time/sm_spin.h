// SPDX-License-Identifier: Apache-2.0
// Atomics on shared memory that are loops around a compare-and-swap (TIME_SPIN_*): how often a warp goes round. The
// swap of a turn is one lane's for each word; it fails when the word has changed since the turn's load, which another
// warp of the CTA can have done. [bench/hwref, h200-shared-turns.tsv]
#ifndef WL_SIM_SM_SPIN_H
#define WL_SIM_SM_SPIN_H

#include "sim/time/machine.h"

// The swap has its turn in the queue: sets whether lanes are left (TimeWarp.spin_more) and whether some are done
// (spin_parts).
void spin_swap(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle);
// Where the loop begins in TimeCode.ops whose branch or BSYNC is `at`: behind its BSSY.
u32 spin_begin(const TimeCode *code, u32 at);

#endif
