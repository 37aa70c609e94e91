// SPDX-License-Identifier: Apache-2.0
// What of a timed launch is written down: totals of the machine's counters while it ran, the same over time in bounded
// space, stalls by instruction with their causes, samples. One Timeline per machine; it watches and never changes what
// the machine does. Driven from the thread that drives the machine.
#ifndef WL_SIM_TIMELINE_H
#define WL_SIM_TIMELINE_H

#include "sim/time/time.h"

typedef struct Timeline Timeline;
typedef struct TimelineRun TimelineRun;  // of one launch

// Points of a launch at most: then neighbours are joined.
enum { TIMELINE_INTERVAL = 1000, TIMELINE_POINTS = 1024 };

// `interval`: cycles between two points, 0 = totals only; rounded up to whole quanta of the machine, whose watcher the
// timeline becomes.
WL_MUST_USE Status timeline_create(TimeMachine *machine, const GpuModel *gpu, u64 interval, Timeline **timeline);
void timeline_destroy(Timeline *timeline);

// A launch has been put on the machine.
WL_MUST_USE Status timeline_begin(Timeline *timeline, TimeRun *time, Grid *grid, TimelineRun **run);
// It is over: writes all of it to the simulator's sink, as launch `launch`, and frees the run. `result`: of
// time_run_result() just now.
WL_MUST_USE Status timeline_end(Timeline *timeline, TimelineRun *run, const TimeResult *result, u32 launch);
void timeline_drop(Timeline *timeline, TimelineRun *run);  // without a word; NULL is allowed

#endif
