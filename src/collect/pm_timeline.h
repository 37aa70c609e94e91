// SPDX-License-Identifier: Apache-2.0
// Counters over time in bounded memory, from samples of any length: those of the whole run at a step that doubles as it
// grows, and the latest samples as they are, from which launches get points of their own once their times are known.
// Times are ns on the profile's clock. What a sample counted is taken to be spread evenly over its time; sums are
// exact. One thread.
#ifndef WL_COLLECT_PM_TIMELINE_H
#define WL_COLLECT_PM_TIMELINE_H

#include "base/status.h"

enum { PM_POINTS = 4096, PM_LATEST = 1 << 16, PM_LAUNCH_POINTS = 256, PM_LEAST_POINTS = 8 };

typedef struct PmSpan {
    u64 begin, end;
} PmSpan;

typedef struct PmTimeline {
    u32 metrics, points;
    u64 first, step, last;  // last: end of the latest sample, 0 = none yet
    u64 *values;            // [PM_POINTS][metrics]
    u64 taken;              // samples; the latest PM_LATEST of them are in the two below
    PmSpan *spans;          // [PM_LATEST]
    u64 *latest;            // [PM_LATEST][metrics]
} PmTimeline;

WL_MUST_USE Status pm_timeline_make(PmTimeline *t, u32 metrics, u64 step);
void pm_timeline_free(PmTimeline *t);

// Samples come in order; false, and nothing is taken: this one has no length or begins before the last one ended.
bool pm_timeline_add(PmTimeline *t, PmSpan span, const u64 *values);

// Points of what lies between, PM_LAUNCH_POINTS at most, to values[metrics][points]; *step: ns of each. 0: it is
// shorter than PM_LEAST_POINTS samples, or not over yet for the samples.
u32 pm_timeline_cut(const PmTimeline *t, PmSpan span, u64 *step, u64 *values);

// The whole run, to values[metrics][points].
void pm_timeline_all(const PmTimeline *t, u64 *values);

#endif
