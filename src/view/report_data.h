// SPDX-License-Identifier: Apache-2.0
// What exporters work on: the profile's rows, read, filtered, named and sorted. Everything lives as long as the report.
#ifndef WL_VIEW_REPORT_DATA_H
#define WL_VIEW_REPORT_DATA_H

#include "base/arena.h"
#include "gpu/gpu.h"
#include "metric/formula.h"
#include "record/stall.h"
#include "view/report.h"

// Warps that waited at a line, and the line that they truly waited for, over all launches.
typedef struct ReportStall {
    const char *file;  // NULL: a line of the PTX
    u32 line;
    const char *reason;
    const char *cause_file;
    u32 cause_line;   // 0: not known
    u32 cause_class;  // BlameClass of what was waited for, of several that of most cycles; BLAME_OTHER: not known
    f64 cycles, times;
} ReportStall;

// What a GPU's samples say of a kernel, and how long its launches took there.
typedef struct ReportSamples {
    u32 launches;            // with a time on the GPU
    u32 unknown;             // recorded without one, and no other of the kernel has one
    u32 estimated;           // of them: whose time is that of others
    f64 total_ns, error_ns;  // error: half of the total's interval of 95 % confidence
    f64 least_ns, most_ns;   // of those measured
    u64 samples;             // of warps, as they were taken
    u64 weight, stalled;     // as many of `period` as they count for; of those, that did not issue
    u64 period, longest;     // cycles between two samples of an SM; more than one: `period` to `longest`; 0 = not known
    f64 reasons[STALL_COUNT];
    const ReportStall *rows;  // `cycles` are samples of `period`, causes the blamer's; most samples first
    u32 row_count;
} ReportSamples;

typedef struct ReportKernel {
    const ProfileFunction *function;
    const char *name;        // without parameters, valid UTF-8
    const char *signature;   // demangled
    const char *mangled;     // valid UTF-8
    const char *provenance;  // of the figures
    const GpuModel *gpu;     // that the figures are of; NULL: not known
    MetricSet metrics;       // over all launches; of the lines when the launches have none
    const ProfileLaunch *launches;
    u32 launch_count;
    const ProfileLine *lines;
    u32 line_count;
    const ReportStall *stalls;  // most cycles first
    u32 stall_count;
    const ReportSamples *sampled;     // NULL: did not run on a GPU
    const ProfileLatency *latencies;  // of global loads
    u32 latency_count;
    u32 timed_launches;
    // Partial simulation: launches with an estimated time; the cycles of all launches with a time lie between `low` and
    // `high`; `detail`: share of their warp instructions that were simulated cycle by cycle.
    u32 estimated_launches;
    f64 low, high, detail;
    const ProfileLaunch *longest;  // of those with a time; NULL: there are none
    f64 time_ns;                   // of all launches, on the clock of the machine that ran them; 0: not known
    f64 first, order;  // by which kernels are sorted: the time unless another column is asked for, then `order`
} ReportKernel;

typedef struct ReportFinding {
    const ProfileFinding *row;  // its texts are valid UTF-8 only after cleaning
    u64 count;
    const char *function;    // plain name, "" = not in a kernel
    const char *place;       // "by thread ... of block ..."; "" = not known
    const char *other_role;  // "Written"; "" = there is no other party
    const char *other_file;
    u32 other_line;
    const char *other_place;
    const char *const *notes;
    u32 note_count;
} ReportFinding;

struct Report {
    Profile *profile;
    ReportOptions options;
    ProfileSummary summary;
    const ProfileSource *sources;
    u32 source_count;
    const GpuModel **gpus;  // of the sources; NULL: not known
    const char *const *messages;
    u32 message_count;
    const ProfileLoss *losses;
    u32 loss_count;
    const ReportFinding *findings;
    u32 finding_count;
    const ReportKernel *kernels;  // sorted, largest first
    u32 kernel_count;
    const char *others;  // names of kernels that the filter leaves out, of many the first; NULL: there are none
    u32 other_count;
    Formula line_order;  // by which lines are sorted in the text
};

WL_MUST_USE Status report_load(Profile *profile, const ReportOptions *options, Arena *arena, Report *report,
                               Diag *diag);

WL_MUST_USE Status report_load_findings(Report *report, Arena *arena, Diag *diag);

// Kernels and launches are sorted by their time where there is one: by default, or asked for.
bool report_by_time(const ReportOptions *options);

// Sorts and joins rows of the same place, reason and cause, most cycles first; returns how many are left.
u32 report_join_stalls(ReportStall *rows, u32 count);

WL_MUST_USE Status report_load_timing(Report *report, ReportKernel *kernel, Arena *arena, Diag *diag);

// Of the kernels that ran on a GPU.
WL_MUST_USE Status report_load_samples(Report *report, ReportKernel *kernels, u32 count, Arena *arena, Diag *diag);

Status export_text(const Report *report, Output *out, Diag *diag);
Status export_json(const Report *report, Output *out, Diag *diag);
Status export_csv(const Report *report, Output *out, Diag *diag);

#endif
