// SPDX-License-Identifier: Apache-2.0
// printf (TIME_PRINT): a warp asks the host's memory for room, and writes what its lanes print, one after the other.
#ifndef WL_SIM_SM_PRINT_H
#define WL_SIM_SM_PRINT_H

#include "sim/time/machine.h"

// It is issued: the warp waits for room, which sm_printed() says it has. False: none of its lanes prints.
bool print_begin(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle);
// What a warp that has room takes to write.
u64 print_cycles(const Sm *sm, const TimeWarp *w);

#endif
