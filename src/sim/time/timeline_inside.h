// SPDX-License-Identifier: Apache-2.0
// The inside of timeline.h, for its files.
#ifndef WL_SIM_TIMELINE_INSIDE_H
#define WL_SIM_TIMELINE_INSIDE_H

#include "metric/metric.h"
#include "sim/time/timeline.h"

typedef enum TimeSource {
    TIME_SOURCE_SM,
    TIME_SOURCE_STALL,
    TIME_SOURCE_SLOT,
    TIME_SOURCE_MEM,
    TIME_SOURCE_CYCLES
} TimeSource;
typedef enum TimeFactor { TIME_FACTOR_ONE, TIME_FACTOR_WARPS, TIME_FACTOR_DRAM_BYTES, TIME_FACTOR_COUNT } TimeFactor;

// A row of time_metrics.def.
typedef struct TimeMetric {
    u16 metric;  // MetricId
    u8 source;   // TimeSource
    u8 counter;  // of the source
    u8 factor;   // TimeFactor
    bool total;  // of a launch, too
} TimeMetric;
extern const TimeMetric time_metrics[];
extern const u32 time_metric_count;
// The kind of unit that counts it.
TimelineUnit time_metric_unit(const TimeMetric *row);

typedef struct Term {  // a row that is the plain value of a counter of an SM
    u32 value, at;     // at: where the column begins in Group.now
} Term;

// Metrics of all units of one kind, and the counters they are made of.
typedef struct Group {
    u32 units, metrics, rows, terms;
    u32 empty;               // column of SMC_SLOTS_EMPTY, all that an SM counts that has not been furnished; WL_NONE
    MetricId *ids;           // [metrics]
    const TimeMetric **row;  // [rows]
    u32 *column;             // [rows]: which of ids
    Term *term;              // [terms]: those of the rows
    u64 *now;                // [metrics][units], as read last
    u64 read;                // in this cycle
} Group;

struct Timeline {
    TimeMachine *machine;
    const GpuModel *gpu;
    u64 interval;
    f64 factors[TIME_FACTOR_COUNT];
    u32 units[TIMELINE_UNIT_COUNT];
    Group groups[TIMELINE_UNIT_COUNT];
    u64 sm_sums[SM_VALUES], memory_sums[MEM_COUNTER_COUNT];  // over all units, as the GPU's group was read last
    const u64 **furnished;                                   // values of SMs, while they are summed up
    u64 bank_commands;                                       // of DRAM, when those of banks were read last
    struct {
        const u64 *values;  // by unit
        u64 read;           // in this cycle
    } memory[MEM_COUNTER_COUNT];
    Vec(TimelineRun *) runs;
    TimelineRun *spare;  // one that is over, kept for its memory
    Vec(u8) tail;        // of a record
    bool named;          // the stall reasons are in the profile
    Arena arena;
};

// Points of one group: what each added.
typedef struct Track {
    u32 width;  // metrics * units; 0: not used
    u32 points, most;
    u64 first, step;  // cycles
    u64 *base;        // [width]: the counters at the last point
    u64 *values;      // [points][width]
    u64 base_cap, value_cap;
} Track;

struct TimelineRun {
    TimeRun *time;
    Grid *grid;
    u64 *begin;                       // GPU counters at its begin
    u64 begin_cycle, begin_commands;  // commands: Timeline.bank_commands
    u64 base_commands;                // ... when the base of the track of banks was taken; UINT64_MAX: it was not
    bool overlapped;
    bool failed;  // memory was out: no points
    Track tracks[TIMELINE_UNIT_COUNT];
    u64 *issued;  // by pc, as read last
    u64 issued_cap;
};

// Brings group->now up to the present cycle.
void timeline_read_group(Timeline *timeline, TimelineUnit unit);
// The last point, of whatever time is left.
void timeline_finish_tracks(Timeline *timeline, TimelineRun *run);
// timeline_record.c
Status timeline_record(Timeline *timeline, TimelineRun *run, const TimeResult *result, u32 launch);

#endif
