// SPDX-License-Identifier: Apache-2.0
// One function of a profile as every analysis sees it: its code as a flow view (PTX or SASS alike), where its warps
// were sampled and why, what was counted, how it was launched and on what machine. Loaded once, then read-only;
// everything lives as long as the arena and the Profile it was made from.
#ifndef WL_ANALYZE_KERNEL_VIEW_H
#define WL_ANALYZE_KERNEL_VIEW_H

#include "flow/flow_results.h"
#include "gpu/gpu.h"
#include "record/stall.h"
#include "store/store.h"

typedef enum ViewCode { VIEW_PTX, VIEW_SASS } ViewCode;

// Samples of one instruction, over all launches taken into account. A sample is one warp in one sampled cycle.
typedef struct ViewSamples {
    u64 all[STALL_COUNT];      // by reason; STALL_SELECTED: the warp issued
    u64 latency[STALL_COUNT];  // ... of cycles in which the scheduler issued nothing (CUPTI: _not_issued)
} ViewSamples;

// Of the launches of a kernel that count as alike, the sums and the most typical one.
typedef struct ViewLaunches {
    const ProfileLaunch *rows;
    u32 count;
    const ProfileLaunch *typical;  // of median duration; NULL: the kernel was not launched (a device function)
    f64 total_ns;                  // on the clock of the machine that ran them; 0 = not known
    f64 share;                     // of the time of all kernels of the profile and source; 0..1
} ViewLaunches;

// What fits on an SM and what limits it.
typedef enum OccupancyLimit { LIMIT_CTAS, LIMIT_WARPS, LIMIT_REGISTERS, LIMIT_SHARED, LIMIT_GRID } OccupancyLimit;
typedef struct ViewOccupancy {
    u32 ctas_per_sm, warps_per_cta, warps_per_sm;  // theoretical, as CUDA's occupancy calculator has them
    u32 limits;                                    // bits 1 << OccupancyLimit
    f64 warps_per_scheduler;  // achieved on average while the SM was active; theoretical if unknown
    f64 waves;                // CTAs of the typical launch / CTAs that the GPU holds at once
} ViewOccupancy;

typedef struct KernelView {
    const ProfileFunction *function;
    const char *provenance;  // "simulated", "sampled": of the samples
    ViewCode kind;
    FlowResults flow;     // flow.code->insns by pc
    const GpuModel *gpu;  // of the device the source names; NULL: not known
    bool latency_known;   // false: no table for this architecture, only bounds are used
    u32 insn_count;
    ViewSamples *samples;  // by pc
    u64 *executed;         // by pc: warp instructions executed when counted, else 0 everywhere (see executed_known)
    bool executed_known;
    u64 total, total_latency, total_issued;  // samples: all, of cycles without issue, of warps that issued
    u64 period;                              // cycles between two samples of a scheduler
    const ProfilePlace *places;              // by pc
    MetricSet metrics;                       // over all launches
    const MetricSet *pc_metrics;             // by pc, evaluated; NULL: nothing counted per instruction
    const ProfileStallCause *causes;         // the truth, when the simulator knew it; else none
    u32 cause_count;
    ViewLaunches launches;
    ViewOccupancy occupancy;
} KernelView;

// Device functions that a profile's code calls are views of their own: kernel_view_load_all loads every function with
// samples, most samples first, at most `most` (0 = all). STATUS_OK with views that have no flow (flow.code NULL) where
// the profile holds no code; `diag` then says what is missing and how to get it.
WL_MUST_USE Status kernel_view_load(Profile *profile, const ProfileFunction *function, const char *gpu_folder,
                                    Arena *arena, KernelView **view, Diag *diag);
WL_MUST_USE Status kernel_view_load_all(Profile *profile, const char *gpu_folder, u32 most, Arena *arena,
                                        KernelView ***views, u32 *count, Diag *diag);

#endif
