// SPDX-License-Identifier: Apache-2.0
// What holds a kernel back: one diagnosis for `warplens report` and `warplens advise`, whether units' work was counted
// or follows from samples. Pure functions.
#ifndef WL_ANALYZE_LIMIT_H
#define WL_ANALYZE_LIMIT_H

#include "analyze/advice/estimate.h"
#include "gpu/gpu.h"
#include "metric/metric.h"

typedef enum HeldBy {
    HELD_BY_LAUNCH,  // beginning and ending launches
    HELD_BY_SMS,     // SMs without CTAs
    HELD_BY_UNIT,    // a unit or memory at its limit
    HELD_BY_ISSUE,   // issue slots
    HELD_BY_WAITS,   // what most warps wait for
} HeldBy;

typedef struct LimitFacts {    // parts of time, 0..1
    f64 fixed;                 // of the launches: besides their CTAs
    f64 sms;                   // of the SMs and of the rest: with CTAs
    f64 issue;                 // of the cycles in which a scheduler has warps: it issues
    f64 busy[RESOURCE_COUNT];  // of the time in which SMs have CTAs
} LimitFacts;

typedef struct Limit {
    HeldBy by;
    Resource unit;  // HELD_BY_UNIT
    f64 part;       // that it takes: of the launches' time, of the SMs' time, ...
} Limit;

// Of counters; `gpu` NULL: arithmetic units are not known. `fixed` as in LimitFacts.
LimitFacts limit_facts(const MetricSet *metrics, const GpuModel *gpu, f64 fixed);
// Part of `count` launches' time, together `cycles`, that beginning and ending them takes.
f64 limit_fixed(const GpuModel *gpu, f64 count, f64 cycles);
// Part of `cycles` in which starting so many CTAs keeps the GPU or each SM busy.
f64 limit_starts(const GpuModel *gpu, f64 ctas, f64 warps_per_cta, f64 cycles);
// What comes first of: most of the time is beginning and ending; the L2's atomic units, for which SMs may be idle; SMs
// are idle; the busiest unit; issue; waits.
Limit limit_of(const LimitFacts *facts);

#endif
