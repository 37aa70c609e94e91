// SPDX-License-Identifier: Apache-2.0
// Which counters of a GPU fit one pass of PM sampling (pm_counters.def), and what CUPTI's samples say of them. The
// answers are counters of metrics.def. One thread.
#ifndef WL_COLLECT_PM_COUNTERS_H
#define WL_COLLECT_PM_COUNTERS_H

#include "collect/cupti_abi.h"
#include "metric/metric.h"

enum { PM_COUNTERS = 32 };  // at most

typedef struct PmColumn {
    MetricId metric;
    u32 name;   // of `names`; PM_COUNTERS: it has none
    u32 times;  // column whose value is multiplied; PM_COUNTERS: none
    f64 factor;
} PmColumn;

typedef struct PmCounters {
    const Cupti *cupti;
    void *host;  // of CUPTI
    u8 *availability;
    u32 column_count, name_count;
    PmColumn columns[PM_COUNTERS];
    const char *names[PM_COUNTERS];
    u8 *config;
    size_t config_bytes;
    char left_out[512];  // metrics of the table that were not taken, separated by commas
} PmCounters;

// `warps`: that an SM has places for. On failure *step names the call. CUPTI_NOT_SUPPORTED: not one of them fits.
CuptiResult pm_counters_choose(PmCounters *counters, const Cupti *cupti, u32 device, u32 warps, const char **step);
void pm_counters_free(PmCounters *counters);

// The counters of one decoded sample, by column. False: CUPTI cannot tell.
bool pm_counters_read(const PmCounters *counters, const u8 *image, size_t bytes, size_t sample, u64 *values);

#endif
