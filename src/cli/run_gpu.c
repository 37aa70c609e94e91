// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run.h"
#include "collect/collect.h"

bool run_gpu_present(void) { return access("/dev/nvidiactl", R_OK | W_OK) == 0; }

u32 run_period(const char *text) {
    char *end;
    bool power = strncmp(text, "2^", 2) == 0;
    u64 number = strtoull(power ? text + 2 : text, &end, 10);
    if (*end || *text < '0' || *text > '9') return 0;
    u32 exponent = (u32)number;
    if (!power) {
        if (!number || (number & (number - 1))) return 0;
        exponent = (u32)__builtin_ctzll(number);
    }
    bool good = number <= UINT32_MAX && exponent >= COLLECT_LEAST_PERIOD && exponent <= COLLECT_MOST_PERIOD;
    return good ? exponent : 0;
}
