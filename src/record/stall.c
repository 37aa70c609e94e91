// SPDX-License-Identifier: Apache-2.0
#include "record/stall.h"

#include <string.h>

const char *const stall_names[STALL_COUNT] = {
#define STALL(id, name, help) [STALL_##id] = name,
#include "record/stalls.def"
#undef STALL
};

const char *const stall_helps[STALL_COUNT] = {
#define STALL(id, name, help) [STALL_##id] = help,
#include "record/stalls.def"
#undef STALL
};

StallReason stall_find(const char *name) {
    u32 reason = 0;
    while (reason < STALL_COUNT && strcmp(stall_names[reason], name) != 0) reason++;
    return (StallReason)reason;
}
