// SPDX-License-Identifier: Apache-2.0
// The inside of KernelViews, for the files kernel_view*.c only.
#ifndef WL_ANALYZE_KERNEL_VIEW_INSIDE_H
#define WL_ANALYZE_KERNEL_VIEW_INSIDE_H

#include "analyze/kernel_view.h"
#include "analyze/machine_code.h"
#include "base/map.h"

typedef struct ViewModule {
    Module *ptx;             // owned; NULL: there is no text, or it cannot be parsed
    const CallGraph *calls;  // NULL: not made yet
    MachineCode *machine;    // owned; NULL: it is no machine code
    const char *why;         // there is no code
} ViewModule;

enum { VIEW_STALL_IDS = 256 };
typedef struct ViewSource {
    const ProfileSource *row;
    const GpuModel *gpu;        // NULL: not known
    u8 reason[VIEW_STALL_IDS];  // StallReason of the source's id
} ViewSource;

// What the profile holds of one function, before it is a view.
typedef struct ViewFigures {
    const ProfileSample *samples;
    u32 sample_count;
    u32 source;  // of the samples: the function's, or the one beside it that sampled while the function's counted
    const ProfilePcMetric *counts;
    u32 count_count;
    bool has_counts;  // they were read
    ViewBasis basis;
    u64 period;   // that the samples are counted in
    bool merged;  // samples of longer periods are taken too
    u64 weight;   // how many all of them are of that period
    const ProfileLaunch **launches;
    u32 launch_count;
    f64 ns;        // of the launches, 0 = not known
    bool guessed;  // ... from the samples: no launch has a time
} ViewFigures;

struct KernelViews {
    Profile *profile;
    KernelViewOptions options;
    Arena arena;
    const ProfileFunction *functions;
    u32 function_count;
    ViewFigures *figures;     // by position in functions
    const KernelView **made;  // ... NULL: not yet
    Map function_index;       // id -> position
    ViewSource *sources;
    u32 source_count;
    u32 disassemble_ms;  // left for nvdisasm
    Map modules;         // id -> position in module_rows
    Vec(ViewModule) module_rows;
    u64 finest;                     // period of a GPU's samples
    f64 all_ns;                     // of all kernels' launches
    u64 all_weight, kernel_weight;  // samples of all functions, of kernels
    ProfileAlloc *allocs;           // by address, of each the last one; NULL: not read yet
    u32 alloc_count;
};

// kernel_view_code.c: fills in `kind`, `flow` and `no_code`.
WL_MUST_USE Status view_load_code(KernelViews *views, KernelView *view, Diag *diag);
// The places of instructions that the cubin's line table gives; for profiles that were not completed.
WL_MUST_USE Status view_machine_places(KernelViews *views, const KernelView *view, ProfilePlace **places, u32 *count);

// kernel_view_figures.c: what is read for all functions at once, and for one.
WL_MUST_USE Status view_read_figures(KernelViews *views, Diag *diag);
WL_MUST_USE Status view_fill_figures(KernelViews *views, const ViewFigures *figures, KernelView *view, Diag *diag);
const ViewSource *view_source(const KernelViews *views, u32 id);  // NULL: none of that id

// kernel_view_launch.c: how it was launched, and what fits on an SM.
WL_MUST_USE Status view_read_launches(KernelViews *views, Diag *diag);
WL_MUST_USE Status view_fill_launches(KernelViews *views, const ViewFigures *figures, KernelView *view);

// kernel_view_arguments.c: what it was launched with; `flow` then has numbers for arguments.
WL_MUST_USE Status view_fill_arguments(KernelViews *views, const ViewFigures *figures, KernelView *view, Diag *diag);

#endif
