// SPDX-License-Identifier: Apache-2.0
// The inside of the blamer, for the files blame*.c only. Passes, in order: facts of instructions (blame_facts.c,
// blame_reuse.c), backward slices (blame_slice.c), then for each use pruning (blame_prune.c, with blame_path.c) and
// apportioning (blame.c).
#ifndef WL_ANALYZE_BLAME_INSIDE_H
#define WL_ANALYZE_BLAME_INSIDE_H

#include "analyze/blame.h"
#include "base/vec.h"

#define REASON_BIT(reason) (1u << (reason))

typedef struct BlameInsn {
    u32 reasons;    // REASON_BITs: what waiting for its result is called
    u32 latency;    // cycles until its result is there, as a rule
    u32 upper;      // ... at most; UINT32_MAX = not known
    f32 later;      // cycles by which the last part of its result comes behind the first
    f32 steps;      // machine instructions issued for it each time; 1 when not known, 0: dropped
    f32 weight;     // how often it was issued: executed, else samples in which it issued
    f32 miss;       // how often its result is not there at once, 0..1: loads that no cache holds
    f32 spread;     // cycles by which it has to come earlier than another one so that it does come first, as a rule
    u8 class;       // BlameClass of waiting for it
    bool dropped;   // PTX: the machine has no instruction for it, it is its sources under another name
    f32 interval;   // PTX in the machine's order: cycles that one of its steps takes its unit
    bool halves;    // ... its steps do not wait for each other, but for their unit
    bool parallel;  // its result comes from memory or a shared unit: how long it takes differs from time to time
} BlameInsn;

typedef struct BlameDep {
    u32 use, def;
    u32 group;        // deps of one use and group are alternatives, of different groups are all waited for
    u32 next_reader;  // deps: another use of the same def, WL_NONE
    bool mate;        // not read: it shares a scoreboard with what is; of the use's block, issued before it
    u8 barriers;      // bits: of machine code, those that the use waits for and the def raises; 0: found by a register
} BlameDep;

typedef struct PathLength {
    f32 least, most;  // machine instructions issued from behind the def up to the use, 1 for neighbours
    bool found;
} PathLength;

typedef struct PathFinder {
    u32 from;                 // block that the lengths below start at the end of; WL_NONE: none yet
    f32 *least[2], *most[2];  // by block: up to its begin; [1]: along one back edge. least < 0: not reached
    u32 *queue;
    u32 *stamp;  // of the search around a block
    u32 round;
} PathFinder;

typedef struct Blamer {
    const KernelView *view;
    BlameOptions options;
    Arena *arena;  // of the result
    Arena scratch;
    const FlowResults *flow;
    BlameInsn *insns;
    f64 step_latency, slow_latency;  // of a plain instruction, of the slow unit
    f32 *before;                     // by pc: steps issued in its block before it
    f32 *block_length;               // by block
    bool *meets;                     // by block: lanes meet again at its begin
    u32 *earlier;                    // by pc: what its block issues before it; NULL: the machine's order is not known
    Vec(BlameDep) deps;
    u32 *first_dep;     // by use pc, insn_count + 1
    u32 *first_reader;  // by def pc: deps, WL_NONE
    PathFinder paths;
    Vec(BlameEdge) edges;
    u32 *block_stamp;  // of region searches
    u32 region_round;
    Blame *result;
} Blamer;

// What a use may have waited for.
typedef struct BlameSource {
    u32 def, group;
    bool mate;
    u8 barriers;  // as in BlameDep
    PathLength path;
    f64 ready;  // cycles from the use's turn until it can have what it waits for, if the warp issues once a cycle
    f64 weight;
} BlameSource;
typedef struct BlameSources {
    Vec(BlameSource) list;  // by group, def
    u32 before;             // how many there were before any rule
    bool own;               // the use is issued in steps that wait for each other, too
} BlameSources;

// blame_facts.c
WL_MUST_USE Status blame_facts(Blamer *b);

// blame_reuse.c: loads of global memory, which of them find their data in a cache
WL_MUST_USE Status blame_reuse(Blamer *b);

// blame_order.c
WL_MUST_USE Status blame_order(Blamer *b);  // what stands before what
// Adds what has the unit of a use that waits for a stall count, or the branches before it.
WL_MUST_USE Status blame_turns(Blamer *b, u32 use, BlameSources *sources);
// What a use that waits for branches to be resolved waits for; only where the order is known.
WL_MUST_USE Status blame_targets(Blamer *b, u32 use, BlameSources *sources);

// blame_slice.c: deps of every instruction that is issued
WL_MUST_USE Status blame_slice(Blamer *b);

// blame_boards.c: PTX. Adds to the deps of each use what shares a scoreboard with them.
WL_MUST_USE Status blame_boards(Blamer *b);

// blame_scoreboard.c: machine code
void blame_sass_facts(Blamer *b, u32 pc, BlameInsn *insn);
// Deps of a use by the barriers it waits for, in groups counted from behind `group`.
WL_MUST_USE Status blame_scoreboard(Blamer *b, u32 use, u32 group);
bool blame_by_barrier(const Blamer *b, u32 def);  // its result is waited for by a barrier
// Cycles that the compiler's stall counts put between the two at least; false: not in one block, or not known.
bool blame_stall_cycles(const Blamer *b, u32 def, u32 use, f64 *cycles);
bool blame_reads_constant(const Blamer *b, u32 pc);    // machine code: an operand lies in constant memory
bool blame_is_war(const Blamer *b, u32 use, u32 def);  // the use waits until `def` has read its sources

// blame_path.c
WL_MUST_USE Status blame_path_init(Blamer *b);
PathLength blame_path(Blamer *b, u32 def, u32 use);
PathLength blame_path_in_block(const Blamer *b, u32 def, u32 use);  // `def` is issued before it, of the same block
// Every path from `def` to `use` passes `between`. Errs towards false.
bool blame_on_every_path(Blamer *b, u32 def, u32 between, u32 use);

// blame_prune.c
WL_MUST_USE Status blame_sources(Blamer *b, u32 use, StallReason reason, BlameSources *sources);

// blame_weigh.c: shares that add up to 1; adds the use itself where it waits for its own steps
WL_MUST_USE Status blame_weigh(Blamer *b, u32 use, StallReason reason, BlameSources *sources);

// blame_region.c: stalls whose cause is no register: what came before on the way
WL_MUST_USE Status blame_region(Blamer *b, u32 use, StallReason reason, BlameSources *sources);
bool blame_has_region(const Blamer *b, u32 use, StallReason reason);
// Barriers: what the warps that came late were held up by, with shares that add up to 1; none when nothing is known.
// blamed: by pc, what the instruction is blamed for among all other stalls.
WL_MUST_USE Status blame_late_arrivers(Blamer *b, u32 use, const f64 *blamed, BlameSources *sources);

// blame_known.c: causes that the simulator saw, with shares that add up to 1; none where it saw none
WL_MUST_USE Status blame_known(Blamer *b, u32 use, StallReason reason, BlameSources *sources);

static inline bool blame_is_dependency(StallReason reason) {
    return REASON_BIT(reason) & (REASON_BIT(STALL_WAIT) | REASON_BIT(STALL_LONG_SCOREBOARD) |
                                 REASON_BIT(STALL_SHORT_SCOREBOARD) | REASON_BIT(STALL_IMC_MISS));
}

#endif
