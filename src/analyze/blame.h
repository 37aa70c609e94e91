// SPDX-License-Identifier: Apache-2.0
// The instruction blamer: from the instruction where a warp was seen waiting to the one that made it wait. As in GPA
// (Zhou et al., "GPA: A GPU Performance Advisor Based on Instruction Sampling", section 4): backward slicing over
// registers, predicates and the six barriers, pruning of cold edges, apportioning by equation 1; with what it lacks
// (uniform registers, barriers' late arrivers, an AND where barriers must agree, latencies of the machine at hand).
#ifndef WL_ANALYZE_BLAME_H
#define WL_ANALYZE_BLAME_H

#include "analyze/kernel_view.h"

// What kind of thing was waited for: finer than the stall reason (GPA, figure 5).
typedef enum BlameClass {
#define BLAME_CLASS(id, text) BLAME_##id,
#include "analyze/blame_classes.def"
#undef BLAME_CLASS
    BLAME_CLASS_COUNT
} BlameClass;
extern const char *const blame_class_names[BLAME_CLASS_COUNT];

typedef struct BlameEdge {
    u32 use, def;    // pc: where warps waited, what they waited for; def == use: the instruction itself is the cause
    u8 reason;       // StallReason
    u8 class;        // BlameClass
    bool same_loop;  // def and use are in one loop (innermost loop of either contains both)
    u32 distance;    // instructions issued on the longest path from def to use (0: def == use)
    f64 samples, latency_samples;  // apportioned; sums over edges of a use equal its samples of that reason
} BlameEdge;

typedef struct BlameCoverage {               // single-dependency coverage (GPA, section 6.3)
    u32 nodes, single_before, single_after;  // instructions with stalls of a dependency; with one source only
    u64 edges_before, edges_after;
} BlameCoverage;

typedef struct Blame {
    const KernelView *view;
    const BlameEdge *edges;  // by (use, reason, def)
    u32 edge_count;
    const u32 *first;  // edges of use pc: edges[first[pc]] up to edges[first[pc + 1]]
    BlameCoverage coverage;
    f64 unattributed;  // samples of dependency stalls for which no source was found (charged to the use itself)
} Blame;

// Switches exist to measure what each rule is worth (bench/blame-truth); all on is the default of a zeroed struct.
typedef struct BlameOptions {
    bool no_opcode_pruning, no_dominator_pruning, no_latency_pruning, no_issue_weights, no_path_weights;
} BlameOptions;

WL_MUST_USE Status blame_kernel(const KernelView *view, const BlameOptions *options, Arena *arena, Blame **blame);

// How much of the stall cycles is on the right instruction, where the simulator knows the truth (view->causes):
// sum over (use, reason) of the overlap of both distributions, weighted by stall cycles. NAN without truth.
typedef struct BlameTruth {
    f64 cycles;          // stall cycles compared
    f64 precision;       // 0..1, exact instruction
    f64 line_precision;  // ... right source line
    f64 class_precision[BLAME_CLASS_COUNT];
} BlameTruth;
WL_MUST_USE Status blame_compare(const Blame *blame, Arena *arena, BlameTruth *truth);

#endif
