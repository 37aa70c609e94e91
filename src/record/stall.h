// SPDX-License-Identifier: Apache-2.0
// Why a warp does not issue: one list for the simulator, for hardware samples and for every analysis.
#ifndef WL_RECORD_STALL_H
#define WL_RECORD_STALL_H

#include "base/types.h"

typedef enum StallReason {
#define STALL(id, name, help) STALL_##id,
#include "record/stalls.def"
#undef STALL
    STALL_COUNT
} StallReason;

extern const char *const stall_names[STALL_COUNT];
extern const char *const stall_helps[STALL_COUNT];

// The reason of a name as profiles and CUPTI have it ("long_scoreboard"); STALL_COUNT when there is none of that name.
StallReason stall_find(const char *name);

#endif
