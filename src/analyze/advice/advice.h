// SPDX-License-Identifier: Apache-2.0
// What to change in which kernel, and how much faster the program should then be. As in GPA (Zhou et al., "GPA: A GPU
// Performance Advisor Based on Instruction Sampling", section 5): rules match stalls that the blamer has charged to
// their causes, estimators (equations 2 to 10) turn what matched into a speedup. Beyond it: each estimate has an
// interval, from the sampling error and from how the rule did on known pairs (rules.def), and advice that would remove
// the same stalls is marked, so that nobody adds it up. docs/advice.md describes every rule.
// What is given out belongs to the arena and is immutable; nothing here knows how it will be shown.
#ifndef WL_ANALYZE_ADVICE_H
#define WL_ANALYZE_ADVICE_H

#include "analyze/blame.h"

// What a rule wants to change; decides which estimator is used and under which heading advice is shown.
typedef enum AdviceKind {
    ADVICE_ELIMINATE,  // stalls or instructions go away (equation 2)
    ADVICE_HIDE,       // stalls are overlapped with other work (equations 3 to 5)
    ADVICE_PARALLEL,   // more, or more even, parallelism (equations 6 to 10)
} AdviceKind;

typedef enum AdviceConfidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH } AdviceConfidence;
extern const char *const advice_confidence_names[3];  // "low", "medium", "high"

// How a rule's estimates compared with what was achieved on the pairs of examples/advice (tools/score_advice.py).
typedef struct AdviceRecord {
    f64 scale;          // achieved gain / gain of the model, median; a gain is a speedup - 1
    f64 width;          // of its intervals: how far it was out, in terms of all rules together
    u32 helped, tried;  // pairs that became faster, of so many
} AdviceRecord;

// Words of a change that is not what its rule is mainly about: a row of texts.def, as in AdviceRule.
typedef struct AdviceText {
    const char *why, *how, *before, *after;
} AdviceText;

// A row of rules.def.
typedef struct AdviceRule {
    const char *name;            // "loop-unrolling": in JSON and SARIF, and for --rule; never renamed
    const char *title;           // "Unroll the loop", sentence case, imperative
    const char *why;             // one sentence: what goes wrong in general
    const char *how;             // what to do, in words: one to three sentences
    const char *before, *after;  // a short example in CUDA C++, a few lines each; "" if code cannot show it
    AdviceKind kind;
    AdviceRecord record;     // of samples of a GPU
    AdviceRecord simulated;  // of the simulator's
} AdviceRule;
extern const AdviceRule advice_rules[];
// The record that holds for advice on the kernel: that of its samples' provenance.
const AdviceRecord *advice_record(const AdviceRule *rule, const KernelView *kernel);
extern const u32 advice_rule_count;

// The scope in which an advice acts, or a place that is part of its evidence.
typedef enum AdvicePlaceKind { PLACE_KERNEL, PLACE_FUNCTION, PLACE_LOOP, PLACE_LINE } AdvicePlaceKind;
typedef struct AdvicePlace {
    AdvicePlaceKind kind;
    const KernelView *view;  // the kernel's, or that of a device function it calls
    u32 pc, pc_end;          // instructions [pc, pc_end) that show the place; of a LINE: the one with the most samples
    const ProfilePlace *line;  // file and line of `pc` (of a LOOP: of its header); NULL: not known
    u32 cause_pc;              // LINE: the instruction whose result was waited for; WL_NONE: none or itself
    const ProfilePlace *cause_line;
    u8 cause_class;     // BlameClass
    f64 share;          // of the samples of the advice's kernel that matched here, 0..1
    StallReason stall;  // the main reason of what matched; STALL_SELECTED: no stall
} AdvicePlace;

// A number the advice rests on, in the order of importance. `text` says it all; the others are for machines.
typedef struct AdviceFact {
    const char *name;  // a metric's name where there is one, else snake_case: "loop_trip_count"
    const char *text;  // "each request of line 25 touches 32.0 sectors; 4.0 would do"
    f64 value;
    const char *unit;  // "", "%", "sectors", "warps", "samples", "cycles", ...
} AdviceFact;

typedef struct AdviceEstimate {
    // Of the kernel.
    f64 speedup, low, high;  // 90 % interval; 1 <= low <= speedup <= high <= limit, all finite
    // Of all GPU time of the program (Amdahl): what advice is ranked by. 1 where the kernel's share is not known.
    f64 program_speedup, program_low, program_high;
    f64 saved_ns;  // in all launches of the kernel; 0: times are not known
    AdviceConfidence confidence;
    const char *basis;  // "equation 2 over 1,240 of 9,310 samples": how it was made, one phrase
    // What it was made of.
    f64 model;  // the kernel's speedup before the rule's record was applied
    f64 error;  // standard deviation of ln(model - 1) from sampling
    f64 limit;  // what no change of this kind can exceed
    f64 tried;  // the kernel's speedup in an experiment (docs/advice.md); 0: not tried
} AdviceEstimate;

typedef struct Advice {
    const AdviceRule *rule;
    const AdviceText *text;    // of this change; NULL: what the rule says
    const char *also;          // another rule by whose name the field knows this change as well; NULL: there is none
    const KernelView *kernel;  // whose launches become faster
    const char *what;          // one sentence with the place's own words: "Unroll the loop at nbody.cu:41"
    const char *caution;       // what to check before or what could go wrong here; "" = nothing special
    AdvicePlace scope;
    const AdvicePlace *places;  // hot spots, most samples first, at most 5
    u32 place_count;
    const AdviceFact *facts;
    u32 fact_count;
    AdviceEstimate estimate;
    const char *edits;  // the experiment that tries it (record/edit.h); "": there is none
    u32 group;  // advice of the same kernel whose gains cannot be added has the same number; the group's first is the
                // best
} Advice;

static inline AdviceText advice_words(const Advice *a) {
    return a->text ? *a->text : (AdviceText){a->rule->why, a->rule->how, a->rule->before, a->rule->after};
}

typedef struct AdviceKernel {  // for each kernel that was looked at, most time first
    const KernelView *view;
    u32 first, count;   // AdviceList.ranked
    const char *limit;  // what limits it, one phrase: "waits for global memory (61 % of its warps' time)"
    f64 stalled;        // part of the samples that are stalls, 0..1
    bool of_library;    // left out: its code is not the program's
} AdviceKernel;

typedef struct AdviceList {
    const Advice *rows;  // by expected saving in the whole program, most first
    u32 count;
    const AdviceKernel *kernels;
    u32 kernel_count;
    const u32 *ranked;         // indices of rows, kernel by kernel
    const char *provenance;    // "simulated", "sampled"; "mixed" does not exist: one list is made of one source
    const char *const *notes;  // what was missing and how to get it: sentences
    u32 note_count;
    u64 copies;
    f64 kernel_ns, gpu_ns;  // time of all kernels, of kernels and copies, each added up; 0 = not known
} AdviceList;

typedef struct AdviceOptions {
    const char *const *only;  // names of rules; NULL = all
    u32 only_count;
    const char *const *except;
    u32 except_count;
    f64 least;         // advice with a smaller program_speedup - 1 is left out; 0 = 0.01
    u32 most_kernels;  // kernels looked at, most time first; 0 = 32
    // Kernels to look at: NULL = all.
    bool (*wanted)(void *context, const ProfileFunction *function);
    void *context;
} AdviceOptions;

// STATUS_OK with an empty list and notes where the profile holds no samples; STATUS_INVALID for a rule's name that
// does not exist (in `diag`, with the nearest). `options` may be NULL.
// log2 of the cycles between two samples that suit kernels which run for so long in all: 500 periods (docs/blame.md).
u32 advice_period(f64 total_ns, const GpuModel *gpu);

WL_MUST_USE Status advice_make(Profile *profile, KernelViews *views, const AdviceOptions *options, Arena *arena,
                               AdviceList **list, Diag *diag);

#endif
