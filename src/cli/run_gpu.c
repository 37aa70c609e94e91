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

bool run_interval(const char *text, u64 *ns) {
    static const struct {
        const char *name;
        u64 ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    char *end;
    *ns = 0;
    if (strcmp(text, "auto") == 0) return true;
    u64 number = strtoull(text, &end, 10), unit = 0;
    for (u32 i = 0; i < WL_COUNT(units); i++)
        if (strcmp(end, units[i].name) == 0) unit = units[i].ns;
    if (!unit || *text < '0' || *text > '9' || number > COLLECT_MOST_INTERVAL) return false;
    *ns = number * unit;
    return *ns >= COLLECT_LEAST_INTERVAL && *ns <= COLLECT_MOST_INTERVAL;
}
