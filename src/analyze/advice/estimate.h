// SPDX-License-Identifier: Apache-2.0
// How much faster a kernel gets: pure functions over a handful of numbers. Equations 2 to 10 are those of Zhou et al.,
// "GPA: A GPU Performance Advisor Based on Instruction Sampling" (CGO 2021), section 5.2; estimate_time() joins them
// and adds what they leave out: schedulers that are busy already, and units and memories that work at their limit.
// Times are in samples of warps of the kernel, shares of the kernel's time from 0 to 1. Every result is finite.
#ifndef WL_ANALYZE_ADVICE_ESTIMATE_H
#define WL_ANALYZE_ADVICE_ESTIMATE_H

#include "base/types.h"

#define ESTIMATE_MOST 256.0  // no estimate is above; what promises more was measured on next to nothing

// Equations 2 and 3: `gone` of `total` samples are no longer there.
f64 estimate_elimination(f64 total, f64 gone);
// Equations 4 and 5: `latency` samples are overlapped by `active` samples, of the kernel (4) or of the loops or
// functions within the scope (5). At most 2 (theorem 5.1).
f64 estimate_hiding(f64 total, f64 active, f64 latency);
// Equations 8 and 9: part of the cycles in which a scheduler with `warps` warps issues, each of which could in `ready`
// of the cycles.
f64 estimate_issue_rate(f64 ready, f64 warps);
// Equation 8 solved for the warps: as many as would issue that often if each were ready independently of the others. So
// the equations describe a kernel exactly before they are asked about another.
f64 estimate_warps(f64 ready, f64 rate);
// Equation 10; `change_of_warps` is that of equation 6, `change_of_issue` of equation 7.
f64 estimate_parallel(f64 change_of_warps, f64 change_of_issue, f64 factor);

// What can be busy all the time, and then sets the pace.
typedef enum Resource {
#define RESOURCE(id, text) RESOURCE_##id,
#include "analyze/advice/resources.def"
#undef RESOURCE
    RESOURCE_COUNT
} Resource;
extern const char *const resource_names[RESOURCE_COUNT];

typedef struct EstimateLoad {
    f64 total;                      // T: samples
    f64 issued;                     // A: samples in which the warp issued
    f64 held;                       // ... times the cycles for which that holds the dispatcher; 0: one each
    f64 not_selected;               // samples in which it could have
    f64 latency;                    // L: samples of cycles in which its scheduler issued nothing
    f64 issue_rate;                 // part of the cycles in which a scheduler issues, 0..1
    f64 busy[RESOURCE_COUNT];       // part of the time in which it works, 0..1; 0: not known
    f64 most[RESOURCE_COUNT];       // ... at most, as far as that is known; 0: it is not
    f64 queued[RESOURCE_COUNT];     // samples of waits for a place in its queue
    f64 customers[RESOURCE_COUNT];  // warps that share one of these units; 0: not known, or their queue is `queued`
    f64 from_dram;                  // samples of waits for loads that DRAM has to serve
    f64 barrier;                    // samples of waits for other warps of the CTA
    f64 turns;     // of what keeps the L1 busy, each access's part of it times the cycles that it takes at once
    f64 behind;    // part of the time in which no SM has warps any more, and the L2 goes on with atomics
    f64 too_high;  // `issue_rate` and the units' `busy` may be so many times what they are; 0: they are counted
} EstimateLoad;

typedef struct EstimateChange {
    f64 stalls;                  // samples of stalls that go away (M of equation 2)
    f64 issues;                  // samples of issue that go away; negative: that are added
    f64 held;                    // of EstimateLoad.held, what goes beyond the mean of so many issues
    f64 hidden;                  // latency samples that other work may overlap (M^L of equation 5)
    f64 scope_active;            // active samples of the scope, which can overlap them
    f64 relief[RESOURCE_COUNT];  // of `busy`, what goes away; negative: is added
    f64 queued[RESOURCE_COUNT];  // of `stalls`, those that are in EstimateLoad.queued
    f64 shorter;                 // part of EstimateLoad.turns that goes away beyond the part that `relief` says
    f64 from_dram;               // of `stalls`, those that are in EstimateLoad.from_dram
    f64 barrier;                 // of `stalls`, those that are in EstimateLoad.barrier
    f64 warps;                   // resident warps after / before (equation 6); 0: as before
    f64 work;                    // work of the busiest SM after / before; 0: as before
    f64 stays;                   // part of the time that stays in any case
} EstimateChange;

// The kernel's time after the change, of its time before. With a single warp per scheduler and no unit at its limit it
// is T / S of equation 2 or 5. Queues get shorter as what goes through them gets less.
f64 estimate_time(const EstimateLoad *load, const EstimateChange *change);
// The least time that a change of this kind can leave, whatever becomes of latencies: of what is left to be issued and
// to be moved.
f64 estimate_least_time(const EstimateLoad *load, const EstimateChange *change);
// The change as it would be if `factor` times as many samples had matched.
EstimateChange estimate_scaled(const EstimateChange *change, f64 factor);
// Standard deviation of ln(speedup - 1) because the matched samples are a binomial draw of `samples` (INFINITY: they
// were counted, not sampled; the error is 0).
f64 estimate_error(const EstimateLoad *load, const EstimateChange *change, f64 samples);

#endif
