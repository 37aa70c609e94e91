// SPDX-License-Identifier: Apache-2.0
// The instruction blamer: from the instruction where a warp was seen waiting to the one that made it wait. As in GPA
// (Zhou et al., "GPA: A GPU Performance Advisor Based on Instruction Sampling", section 4): backward slicing over
// registers, predicates and the six barriers, pruning of cold edges, apportioning by equation 1; with what it lacks
// (uniform registers, barriers' late arrivers, an AND where barriers must agree, latencies of the machine at hand).
// What it gives belongs to the arena and is immutable. docs/blame.md says how well it does.
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
    u32 nodes, single_before, single_after;  // instructions with stalls of a dependency; with at most one source
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
    bool no_last_source;  // of sources that are all waited for, not the one that is ready last but all alike
    bool no_late_arrivers;
    bool no_own_steps;  // an instruction that is issued in several steps does not wait for itself
    bool no_turns;      // ... nor for whoever has its unit or branched to it; results of fixed latency that are there
                        // before others are not told apart
    bool no_boards;     // PTX: what shares a scoreboard with a source is not waited for
    bool published;     // apportioning by equation 1 alone, as published
    bool known_causes;  // what the simulator saw is taken where the view has it, and only the rest inferred
} BlameOptions;

// A view without code has edges to the instructions themselves only. `options` may be NULL.
WL_MUST_USE Status blame_kernel(const KernelView *view, const BlameOptions *options, Arena *arena, Blame **blame);

// How much of the stall cycles is on the right instruction, where the simulator knows the truth (view->causes):
// sum over (use, reason) of the overlap of both distributions, weighted by stall cycles. NAN without truth.
typedef struct BlameTruth {
    f64 cycles;                              // stall cycles whose cause is known and that were compared
    f64 precision;                           // 0..1, exact instruction
    f64 line_precision;                      // ... right source line
    f64 class_cycles[BLAME_CLASS_COUNT];     // of `cycles`, by the class of the true cause
    f64 class_precision[BLAME_CLASS_COUNT];  // NAN: no cycles
    f64 reason_cycles[STALL_COUNT], reason_precision[STALL_COUNT];
} BlameTruth;
WL_MUST_USE Status blame_compare(const Blame *blame, Arena *arena, BlameTruth *truth);

#endif
