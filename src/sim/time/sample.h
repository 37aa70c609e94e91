// SPDX-License-Identifier: Apache-2.0
// Partial simulation (SimConfig.sample): of large launches some waves of CTAs are simulated cycle by cycle, of launches
// that are alike some launches; the others are executed functionally while the machine's time stands still, and what
// they would have taken is estimated from the cycles per warp instruction of the measured ones that are most like them.
// Launches that nobody asked about are executed so as a whole.
// After systematic sampling of processors (Wunderlich et al., "SMARTS", ISCA 2003) and of launches by the counts of
// their basic blocks (Sherwood et al., "SimPoint", ASPLOS 2002). Driven from the thread that drives the machine.
#ifndef WL_SIM_SAMPLE_H
#define WL_SIM_SAMPLE_H

#include "sim/time/sample_math.h"
#include "sim/time/time.h"

// What was found of one launch, kept for those that will be estimated from it.
typedef struct SampleFigures {
    u64 cycles;         // in detail; 0: there is nothing
    TimeResult result;  // its arrays belong to this
    u64 *totals;        // the recorder's own
    u32 total_count;
} SampleFigures;

typedef struct SampleCluster {  // launches that are alike
    Mix mix;
    SampleTally cycles;  // by warp instruction
    bool cold;           // of the first launch only, which had to fill the caches
    SampleFigures figures;
    struct SampleCluster *next;
} SampleCluster;

typedef struct SampleGroup {  // launches of one kernel and shape
    u32 code, grid[3], block[3], cluster[3], dynamic_shared;
    u32 detailed, since;  // launches simulated in detail, and those since the last of them
    bool refused;         // its CTAs wait for each other, or read clocks
    bool unlike;          // the last one was like none: the next is simulated in detail
    SampleCluster *clusters;
    struct SampleGroup *next;
} SampleGroup;

typedef struct SampleSkip {  // CTAs of a launch, in the order of their start
    u64 first, count;
} SampleSkip;

typedef struct SampleWave {  // waves that were measured together
    Mix mix;
    u64 cycles;
} SampleWave;

typedef struct Sample {  // of a run
    SampleGroup *group;
    SampleCluster *cluster;  // that it is like; known at its end
    u64 wave;                // CTAs that the machine holds
    u64 measured;            // waves that are measured at a time; 0: not known yet
    u64 first_wave;          // when the second wave began
    bool whole;              // the launch is not simulated in detail at all
    bool passed;             // ... because nobody asked about it (SimLaunch.pass)
    bool untraced;           // what it touches is not looked up in the L2
    bool off;                // nothing more is skipped
    bool shared;             // another launch was on the machine at the same time
    Vec(SampleSkip) skips;
    u32 next_skip;
    Vec(Mix) skipped;  // what was executed functionally, by stretch
    Vec(SampleWave) waves;
    bool measuring;
    bool closing;       // the measured waves have started all of their CTAs, and `mark` is what was executed meanwhile
    u64 measure_until;  // CTA
    u32 period;
    bool in_waves;  // stretches of its CTAs may be skipped
    u64 mark_cycle;
    Mix mark;
    Mix before;  // of the stretch that is being skipped
    bool skipping;
    SampleEstimate estimate;  // cycles of what was skipped
    f64 detail;               // share of the warp instructions that were simulated in detail
    Trace trace;              // of the warp that is executed functionally
    TraceSyncs syncs;
    u64 *filter;  // lines that were touched of late
} Sample;

// How the launch `run` will be simulated. `period`: one wave, or launch, of so many in detail; 0: all that are asked
// about.
WL_MUST_USE Status sample_begin(TimeRun *run, u32 period);
void sample_end(TimeRun *run);  // it is over: run->sample->estimate
void sample_free(TimeRun *run);
void sample_groups_free(SampleGroup *groups);

// The CTAs from run->next_linear on are to be skipped, up to `goal`; or some of them are under way.
bool sample_due(const TimeRun *run, u64 *goal);
void sample_skip_begin(TimeRun *run);
void sample_skip_end(TimeRun *run);
// CTA `linear` will start at `start`.
void sample_given(TimeRun *run, u64 linear, u64 start);
// Keeps what was found of a launch in detail for those like it, unless there is something already. `totals`: the
// caller's own.
WL_MUST_USE Status sample_keep(TimeRun *run, const TimeResult *result, const u64 *totals, u32 count);
// What a launch that was skipped as a whole is told from; NULL: it was not, or there is nothing.
const SampleFigures *sample_figures(const TimeRun *run);

// fast_forward.c: executes CTAs that are due, without time, and has the L2 hold what they touch. *waits: they wait for
// CTAs that are not over; to be called again.
WL_MUST_USE Status fast_forward(TimeRun *run, bool *waits, Diag *diag);

#endif
