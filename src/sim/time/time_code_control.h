// SPDX-License-Identifier: Apache-2.0
// Shared by time_code_control.c and time_code_sides.c: what is known of the blocks while control flow is lowered.
#ifndef WL_SIM_TIME_TIME_CODE_CONTROL_H
#define WL_SIM_TIME_TIME_CODE_CONTROL_H

#include "flow/liveness.h"
#include "sim/time/time_lower.h"

typedef struct TimeControl {
    TimeFunc *f;
    u32 *cost;       // of each block: machine instructions
    u32 *through;    // block + 1 that one leads to which is only a jump, and is not issued; 0 = none
    u8 *conditions;  // by block: how many of them its branch asks for together, but for the first
    const Liveness *live;
    Bitset claimed;  // blocks that a jump is laid out before
} TimeControl;

// The kernel ends at block `b` and nothing else.
bool time_only_leaves(const TimeControl *c, u32 b);

// Block `b`, or what it leads to when it is nothing but a jump that is not issued.
u32 time_behind_jump(const TimeControl *c, u32 b);

// time_code_sides.c: which sides of branches are predicated (TimeFunc.predicated). `joined`: of branches that ask for
// several conditions, only of these.
WL_MUST_USE Status time_choose_predicated(TimeControl *c, bool joined);

#endif
