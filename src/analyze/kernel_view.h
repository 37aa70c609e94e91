// SPDX-License-Identifier: Apache-2.0
// One function of a profile as every analysis sees it: its code as a flow view (PTX or SASS alike), where its warps
// were sampled and why, what was counted, how it was launched and on what machine.
// KernelViews owns everything that it hands out, and parses each module once; it must not outlive the Profile. One
// thread at a time; views are read-only.
#ifndef WL_ANALYZE_KERNEL_VIEW_H
#define WL_ANALYZE_KERNEL_VIEW_H

#include "flow/flow_results.h"
#include "gpu/gpu.h"
#include "record/stall.h"
#include "store/store.h"

typedef enum ViewCode { VIEW_NO_CODE, VIEW_PTX, VIEW_SASS } ViewCode;

// What KernelView.samples counts.
typedef enum ViewBasis {
    VIEW_NOTHING,
    VIEW_SAMPLES,  // PC samples
    VIEW_CYCLES,   // every cycle of every warp (samples of period 1, the simulator's): no sampling error
} ViewBasis;

// Samples of one instruction, over all launches. A sample is one warp in one sampled cycle. Where a GPU's period
// changed during the run, those of a longer period count for as many of the view's as it is longer.
typedef struct ViewSamples {
    u64 all[STALL_COUNT];      // by reason; STALL_SELECTED: the warp issued
    u64 latency[STALL_COUNT];  // ... of cycles in which the scheduler issued nothing (CUPTI: _not_issued)
} ViewSamples;

// Of the launches of a kernel, the sums and the most typical one. A device function has none of its own. Launches are
// alike when they have the same blocks and dynamic shared memory, and between half and twice as many blocks.
typedef struct ViewLaunches {
    const ProfileLaunch *const *rows;
    u32 count;
    const ProfileLaunch *typical;  // of those with the blocks that took the most time the one in the middle of that
                                   // time; NULL: the kernel was not launched (a device function)
    u32 shapes;                    // different grids, blocks and dynamic shared memory
    f64 alike;                     // of the time: launches like the typical one. 0..1
    f64 total_ns;                  // on the clock of the machine that ran them; 0 = not known
    u32 unmeasured;                // recorded on a GPU without their time, which is that of others
    u32 unknown;                   // ... where there are no others: `total_ns` is what the samples make likely
    f64 error_ns;                  // ... and may make `total_ns` as wrong (95 % confidence)
    f64 share;  // kernels: of the time of all kernels of the profile, or, where times are not known, of all samples;
                // device functions: of all samples. 0..1
} ViewLaunches;

// What fits on an SM and what limits it.
typedef enum OccupancyLimit { LIMIT_CTAS, LIMIT_WARPS, LIMIT_REGISTERS, LIMIT_SHARED, LIMIT_GRID } OccupancyLimit;
typedef struct ViewOccupancy {                     // all 0 without a launch or a GPU model
    u32 ctas_per_sm, warps_per_cta, warps_per_sm;  // theoretical, as CUDA's occupancy calculator has them
    u32 limits;               // bits 1 << OccupancyLimit; LIMIT_GRID: the typical launch has fewer CTAs than fit
    f64 warps_per_scheduler;  // achieved on average while the SM was active; theoretical if not known
    bool achieved_known;
    f64 waves;  // CTAs of the typical launch / CTAs that the GPU holds at once
} ViewOccupancy;

// A pointer among the arguments of the launches like the typical one, and the bytes from there on to the end of the
// allocation that it points into.
typedef struct ViewArray {
    u32 parameter;  // as FlowOperand.id
    i64 inside;     // byte of the parameter
    u64 bytes;
    u64 end;  // address of that end; 0: the launches had different ones
} ViewArray;

typedef struct KernelView {
    const ProfileFunction *function;
    const char *provenance;  // of the samples: "simulated", "sampled"; "" when there are none
    ViewCode kind;
    FlowResults flow;     // flow.code->insns by pc; flow.code NULL: the profile holds no (usable) code
    const char *no_code;  // why not, as a sentence; NULL when there is code
    const GpuModel *gpu;  // of the device the source names; NULL: not known
    bool latency_known;   // false: no table for this architecture, only bounds are used
    ViewBasis basis;
    u32 insn_count;              // at least that of the profile's function and of flow.code
    const ViewSamples *samples;  // by pc
    const u64 *executed;         // by pc: warp instructions executed; NULL: not counted
    const u64 *issued;           // by pc: machine instructions issued for it, 0 where the compiler dropped a PTX
                                 // instruction; NULL: not counted
    const u64 *spilled;          // ... of these, those that store or load values that have no register; NULL: none
    const f64 *place;            // by pc: machine instructions that stand before its own; NULL: the order is that of pc
    u64 total, total_latency, total_issued;  // samples: all, of cycles without issue, of warps that issued
    u64 taken;                               // samples as they were taken: fewer than `total` where the period changed
    f64 effective;  // samples of one period that would be as sure as these; `total` where the period did not change
    u64 period;     // cycles between two samples of a scheduler that `samples` are of, 0 = not known
    u64 longest;    // ... and the longest of those at which they were taken
    const ProfilePlace *places;     // by pc
    MetricSet metrics;              // over all launches
    const ProfilePcMetric *counts;  // by pc: counts[first_count[pc]] up to counts[first_count[pc + 1]]
    const u32 *first_count;
    // The truth, when the simulator knew it; else none. `stall` is a StallReason here. Sorted by pc, stall.
    const ProfileStallCause *causes;
    u32 cause_count;
    ViewLaunches launches;
    ViewOccupancy occupancy;
    const ViewArray *arrays;
    u32 array_count;
} KernelView;

// Of the typical launch: registers of a thread, bytes of shared memory of a CTA, static and dynamic. Without a launch,
// what the code says.
u32 kernel_view_registers(const KernelView *view);
u64 kernel_view_shared_bytes(const KernelView *view);

// Bytes of the array that an address starts from, of the launch's arguments; 0: not known.
u64 kernel_view_array_bytes(const KernelView *view, const AffineFactor *base);
const ViewArray *kernel_view_array(const KernelView *view, const AffineFactor *base);  // NULL: not known

typedef struct KernelViewOptions {
    const char *gpu_folder;  // with the .gpu files
    u64 period;              // only samples of this period; 0: of each function the finest, of a GPU's all, weighted
    bool every_function;     // kernel_views_all: also those without samples
} KernelViewOptions;

typedef struct KernelViews KernelViews;

// The model of the first device that a source names ("2 x NVIDIA H200"); *gpu NULL: there is none, or no folder.
WL_MUST_USE Status kernel_gpu(const char *gpu_folder, const char *devices, Arena *arena, const GpuModel **gpu);

WL_MUST_USE Status kernel_views_open(Profile *profile, const KernelViewOptions *options, KernelViews **views,
                                     Diag *diag);
void kernel_views_close(KernelViews *views);

// A function's view; made at the first call. STATUS_OK with a view that has no flow (flow.code NULL) where the profile
// holds no code; `diag` then has a note that says what is missing and how to get it.
WL_MUST_USE Status kernel_views_get(KernelViews *views, const ProfileFunction *function, const KernelView **view,
                                    Diag *diag);
// Every function with samples, kernels and device functions alike, most samples first, at most `most` (0 = all).
WL_MUST_USE Status kernel_views_all(KernelViews *views, u32 most, const KernelView *const **list, u32 *count,
                                    Diag *diag);

// The kernels that were launched, most time first (most samples first where times are not known), at most `most`
// (0 = all); `wanted` NULL: all. Makes no view. The list belongs to the views.
WL_MUST_USE Status kernel_views_launched(KernelViews *views, u32 most,
                                         bool (*wanted)(void *context, const ProfileFunction *function), void *context,
                                         const ProfileFunction *const **list, u32 *count);

// What was counted at one instruction, with the formulas over it.
void kernel_view_metrics(const KernelViews *views, const KernelView *view, u32 pc, MetricSet *metrics);

#endif
