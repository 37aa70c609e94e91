// SPDX-License-Identifier: Apache-2.0
// What a rule sees of a kernel and how it says what it found. A rule is a function `void rule_NAME(AdviceCase *)` in
// rules/NAME.c and a row of rules.def. It looks at the case, and for each change that it would make it fills a Hit:
//     Hit *hit = hit_begin(c);
//     hit_remove(hit, part, pc, 0.75);             the instruction's stalls and issues, three quarters of them
//     hit_fact(hit, "name", value, "unit", "each request touches %.1f sectors", value);
//     hit_end(hit, part, WITHIN_LINES, "Coalesce the load at %s", place_text(c, part, pc));
// The estimate is made of what was put into hit->change (estimate.h). Running out of memory is remembered in the case:
// all functions do nothing then, and a Hit is never NULL. One thread; memory is the case's.
#ifndef WL_ANALYZE_ADVICE_RULE_H
#define WL_ANALYZE_ADVICE_RULE_H

#include <stdarg.h>

#include "analyze/advice/advice.h"
#include "analyze/advice/estimate.h"
#include "base/bitset.h"
#include "base/vec.h"
#include "record/edit.h"

// --- what is known of an instruction -------------------------------------------------------------------------------
typedef enum InsnTrait {
    TRAIT_FP64 = 1 << 0,        // computes in double precision
    TRAIT_WIDEN = 1 << 1,       // f32 to f64
    TRAIT_NARROW = 1 << 2,      // f64 to f32
    TRAIT_CONVERT = 1 << 3,     // between numbers of different kinds, on the slow unit
    TRAIT_INT_DIVIDE = 1 << 4,  // division or remainder of integers: a routine
    TRAIT_EXACT_MATH = 1 << 5,  // correctly rounded f32 division, root, reciprocal: a sequence
    TRAIT_SPECIAL = 1 << 6,     // one operation of the special function unit
    TRAIT_ASYNC = 1 << 7,       // asynchronous copy
    TRAIT_CALL = 1 << 8,
    TRAIT_ARITHMETIC = 1 << 9,  // computes; no memory, no control
    TRAIT_SHUFFLE = 1 << 10,
    TRAIT_HINTED = 1 << 11,     // a load or store with a cache hint of its own
    TRAIT_BARRIER = 1 << 12,    // of the CTA
    TRAIT_READ_ONLY = 1 << 13,  // load that nothing writes to meanwhile (ld.global.nc)
    TRAIT_FLOAT_ATOMIC = 1 << 14,
    TRAIT_LANE_ATOMIC =
        1 << 15,             // that compilers do not do once for a warp: of floats, the greatest of 64 bits, exchanges
    TRAIT_STRONG = 1 << 16,  // a load or store that others are to see, or tell by: volatile, relaxed, acquire, release
    TRAIT_EXCHANGE = 1 << 17,  // an atomic that compares and swaps, or exchanges
    TRAIT_MATRIX = 1 << 18,    // a warp's fragment of a matrix: lanes have parts of it, whatever the address says
} InsnTrait;

typedef enum AccessKnown {
    ACCESS_UNKNOWN,  // nothing but that it is an access
    ACCESS_STATIC,   // from the stride between lanes
    ACCESS_COUNTED,
} AccessKnown;

// A warp's access to memory on average. Sectors of 32 bytes for global and local memory, wavefronts for shared memory.
typedef struct CaseAccess {
    u32 pc;
    u8 known;  // AccessKnown
    u8 space;  // PtxSpace; SPACE_NONE: generic
    u8 bytes;  // of a lane
    bool load, store, atomic;
    bool uniform;                // one address for all lanes
    bool gathered;               // a load of global memory whose lanes go where data sends them
    f64 requests;                // samples in which it issued
    f64 lanes;                   // active, 1..32
    f64 sectors, fewest;         // global, local: touched, and as many as its bytes need
    f64 lines, turns;            // ... of 128 bytes, and cycles of the L1, if lanes are in strides; 0: not known
    f64 leaving;                 // sectors that a store sends to the L2, where others join it in the L1
    i64 apart;                   // bytes from one lane to the next, where all are as far apart; 0: not known
    f64 passes, fewest_passes;   // shared: wavefronts, and the fewest possible
    f64 latency;                 // cycles that warps waited for a load of global memory in its block; 0: not known
    f64 serial;                  // ... of which so many come one after the other
    f64 together;                // ... and so many lines of 128 bytes are waited for together, if lanes have theirs
                                 // side by side
    const AffineAccess *affine;  // NULL: not analysed
} CaseAccess;

typedef struct CaseInsn {
    f64 issued;    // samples in which it issued
    f64 held;      // ... times the cycles for which it holds the dispatcher
    f64 executed;  // times that a warp executed it, in the same unit (PTX: one may be several machine instructions)
    f64 stalled;   // samples of warps that waited at it
    f64 blamed;    // samples of waits that it is blamed for, its own included
    u32 traits;    // InsnTrait
    u32 loop;      // innermost, WL_NONE
    u32 access;    // CasePart.accesses, WL_NONE
    f64 use[RESOURCE_COUNT];  // part of the kernel's time for which it keeps a resource busy
    f64 turn;                 // cycles for which each execution keeps the L1 busy, times the schedulers of an SM
} CaseInsn;

enum { MOST_PHASES = 8 };  // of a kernel that are told apart

typedef enum SpinKind {
    SPIN_NONE,
    SPIN_RETRY,  // repeats what it does to a word until no other thread has changed it meanwhile
    SPIN_FLAG,   // reads a word until another thread has changed it
    SPIN_LOCK,   // asks for a lock until it has it
} SpinKind;

typedef struct CaseLoop {
    f64 active;   // samples that issued in it and in loops within (equation 5)
    f64 stalled;  // samples of stalls in them
    f64 trips;    // turns per entry: constant or measured; 0 = not known
    u32 insns;    // instructions in it and in loops within
    bool innermost;
    bool has_barrier, has_call;
    bool tells;     // threads tell each other something in it: exchanges, strong accesses
    bool together;  // lanes side by side leave it together: lanes_leave_together()
    bool skips;     // it brings a state of cuRAND's forward to where a thread begins. random_states.c
    u8 spin;        // SpinKind
    u32 spin_pc;    // ... the access to that word
} CaseLoop;

typedef struct CasePart {  // the kernel's function, or a device function that it calls
    const KernelView *view;
    const Blame *blame;
    f64 weight;  // of its samples, the part that belongs to this kernel; already in the numbers below
    CaseInsn *insns;
    CaseLoop *loops;
    CaseAccess *accesses;  // by pc
    u32 access_count;
    const u8 *phases;  // by pc: between which barriers outside of loops; NULL: CTAs do not go in step. phases.c
    const u32 *first_blaming, *blaming;  // edges that blame pc: blame->edges[blaming[first_blaming[pc]]] and on
} CasePart;

enum { CONSTANT_LINE = 64 };  // bytes of the caches of constants (bench/hwref/h200-constant-kinds.tsv)

// Sectors at random take DRAM as long as so many in order: 19.3 a cycle at 1,980 MHz are 1.22 TB/s, where reading in
// order reaches 4.46 (bench/hwref/h200-far-loads.tsv, gather/1/8192/64).
#define AT_RANDOM 3.6

#define EXPLAINED 0.6  // busy: a unit that works more than that may be what loads wait for

#define L1_QUEUED 0.1  // of the samples that wait for a place in the L1's queue: with as many, all loads wait in it

#define MOSTLY_ALIKE 0.8  // ViewLaunches.alike: with less, means over launches say nothing of the typical one

// What a rule found.
typedef struct HitSpot {
    const CasePart *part;
    u32 use, def;
    u8 reason, class;  // BlameClass
    f64 samples;
    f64 whole;  // those of the edge
} HitSpot;

// An instruction that an experiment edits (record/edit.h).
typedef struct HitEdit {
    const CasePart *part;
    u32 pc;
    u8 kind;     // EditKind
    u8 percent;  // of the instruction
} HitEdit;

typedef struct AdviceCase AdviceCase;

typedef struct Hit {
    AdviceCase *c;
    const AdviceRule *rule;
    const AdviceText *text;  // hit_text; NULL: the rule's
    const char *also;        // Advice.also; NULL: there is none
    EstimateChange change;
    AdvicePlace scope;
    const char *what, *caution, *basis;
    const char *remedy;  // of a line: `what` as a format, without its place; else NULL
    u32 more_lines;      // that were found to need the same
    u32 last_line;       // ... the last of them
    bool doubtful;       // the evidence is thin: confidence is low whatever the interval
    bool of_dispatcher;  // how long what goes away holds the dispatcher counts, not only how often
    f64 share;           // of the program's kernel time that the change concerns; 0: the kernel's own
    bool of_launch;      // the change concerns launches as a whole, not only their CTAs
    bool of_shape;       // hit_of_shape
    Vec(HitSpot) spots;
    Vec(AdviceFact) facts;
    Vec(HitEdit) edits;
    const char *edit_text;  // hit_edits, once ranked
} Hit;

// What is the same for all kernels.
typedef struct AdviceContext {
    Profile *profile;
    KernelViews *views;
    const ProfileFunction *functions;
    u32 function_count;
    const KernelView **kernels;  // that are looked at, most time first
    u32 kernel_count;
    const ProfileExperiment *experiments;
    u32 experiment_count;
    Arena *arena;  // of the result
    Diag *diag;
} AdviceContext;

struct AdviceCase {
    Status status;
    const AdviceContext *context;
    const KernelView *view;  // parts[0].view
    const GpuModel *gpu;     // NULL: not known
    CasePart *parts;
    u32 part_count;
    EstimateLoad load;
    bool counted;          // accesses were counted, not only sampled
    f64 samples;           // samples behind the figures; INFINITY: every cycle was counted
    f64 warps;             // resident warps of a scheduler; 0 = not known
    f64 waiting;           // of the latency of loads, the part that is waiting behind other accesses, 0..1
    f64 latency;           // of loads of global memory, cycles as counted; 0: not counted
    f64 past_l1, past_l2;  // ... the part of them that waits for the L2, and of these for DRAM
    f64 of_l1;             // ... the part that is waiting or the L1's own latency; 1 = not known
    bool l1_full;          // latencies are as long as warps in line for the L1 make them
    bool fits_l2;          // as far as is known, what a launch touches is in the L2 from launch to launch
    bool misses_known;     // ... and the next two
    bool gathers_l2;       // most waits for loads are for lanes that go anywhere in the L2
    f64 l1_miss, l2_miss;  // part of the sectors of global loads that go to the L2, and on to DRAM; 1 = not known
    Resource full;         // case_full_queue
    Resource behind;       // of L1, L2 and DRAM the busiest: where loads of global memory queue
    Resource behind_of[MOST_PHASES];  // ... in a phase of the kernel
    f64 fixed;                        // part of the kernel's duration before its first CTA and after its last, 0..1
    f64 active;                       // sms_active(); 0: not known yet
    f64 stalls[STALL_COUNT];
    Arena *arena;            // of the result
    Arena *scratch;          // until the next kernel
    const AdviceRule *rule;  // that is looking
    Vec(Hit *) hits;
    Hit spare;  // where to write when memory is out
};

static inline const FlowInsn *case_insn(const CasePart *part, u32 pc) { return &part->view->flow.code->insns[pc]; }
// Machine code: the instruction itself; NULL: it is PTX.
static inline const SassInsn *insn_machine(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    return code->sass ? &code->sass->insns.data[code->sass->functions.data[code->func].first + pc] : NULL;
}
static inline const CaseAccess *case_access(const CasePart *part, u32 pc) {
    return part->insns[pc].access == WL_NONE ? NULL : &part->accesses[part->insns[pc].access];
}
// numbers.c: the nth number that an instruction reads, of 32-bit floating point, where it is the same in all threads
// and all launches looked at: a constant, an argument, or what few sums and products make of these. `nth` below
// case_source_count(). False: it is not, or not known.
u32 case_source_count(const CasePart *part, u32 pc);
bool case_number(const CasePart *part, u32 pc, u32 nth, f32 *number);
// Samples of all parts together.
static inline f64 case_share(const AdviceCase *c, f64 samples) {
    return c->load.total > 0 ? samples / c->load.total : 0;
}
f64 case_stalls(const AdviceCase *c, u32 reasons);  // samples of these reasons (STALL_BIT)
#define STALL_BIT(reason) (1u << STALL_##reason)
// Ready, but other warps have the scheduler or its dispatcher: no instruction is to blame.
#define STALLED_BY_OTHERS(reason) ((reason) == STALL_NOT_SELECTED || (reason) == STALL_DISPATCH)

// Passes of 32 lanes that each pick one of 32 banks: the mean of the most in one.
#define ACCESS_AT_RANDOM 3.5
// Cycles of the SM's L1 (lines looked up, data moved) for one access of a warp with so many sectors or passes.
f64 access_l1_cycles(const CaseAccess *access, f64 sectors, f64 passes);
static inline bool access_is_shared(const CaseAccess *a) {
    return a->space == SPACE_SHARED || a->space == SPACE_SHARED_CLUSTER;
}
static inline bool insn_is_global(const FlowInsn *in) { return in->space == SPACE_GLOBAL || in->space == SPACE_NONE; }
static inline bool access_is_global(const CaseAccess *a) { return a->space == SPACE_GLOBAL || a->space == SPACE_NONE; }
// Its address as the code says it of any launch, of FlowResults.written: arguments are no numbers there.
static inline const AffineForm *access_form_written(const CasePart *part, const CaseAccess *a) {
    const FlowResults *flow = &part->view->flow;
    return &flow->written->forms[flow->written->accesses[a->affine - flow->affine->accesses].form];
}
// The pointer or variable that the address starts from: accesses of one part with the same number have the same;
// WL_NONE: not known.
static inline u32 access_base(const CaseAccess *a) { return a->affine ? a->affine->base : WL_NONE; }

// Atomics of global memory, in which loads may stand in line in the L2.
bool part_has_atomics(const CasePart *part);

// Bytes of the array that the address starts from, as the arguments of the launch say; 0: not known.
f64 access_array_bytes(const CasePart *part, const CaseAccess *a);

// An atomic of global memory whose word is the same for all threads of a launch, or for those of a warp where all words
// are of one slice of the L2.
bool access_is_one_word(const CasePart *part, const CaseAccess *a);
// Lanes of it that the L2 takes one after the other. Compilers do those of integers of 32 bits on one word beforehand.
f64 atomic_lanes(const CasePart *part, const CaseAccess *a);
// An atomic of shared memory whose lanes may meet on words that data names, where nobody counted how many do.
bool atomic_meets_in_shared(const CasePart *part, const CaseAccess *a);
// Part of the kernel's time that the L2 needs for atomics with which each CTA adds what it has collected to words that
// all have; 0: not known.
f64 atomic_flush(const AdviceCase *c);

// Accesses of one array, as far as is known; else of one line.
bool access_same_array(const CasePart *part, const CaseAccess *a, const CaseAccess *b);
// The distance in bytes from `a` to `b`, accesses of one kind and array, where it is constant.
bool access_distance(const CasePart *part, const CaseAccess *a, const CaseAccess *b, i64 *bytes);
bool access_same_address(const CasePart *part, const CaseAccess *a, const CaseAccess *b);
// Accesses of a thread that together are all bytes from the word of `a` to the next lane's; 0: they are not, or more
// than one access can be.
enum { WIDEST_ACCESS = 16 };  // bytes of a lane
u32 access_pieces(const CasePart *part, const CaseAccess *a);
// Whether the address is known turns before, as it needs nothing that is loaded in the loop.
bool access_goes_ahead(const CasePart *part, const CaseAccess *a, u32 loop);
// Whether what is loaded in the loop says in a turn if there is another one: no load of that can start before.
bool loop_ends_by_data(const CasePart *part, u32 loop);
// Turns of the loop after which a load has the word that another one of the loop had; 0: none is known to.
u32 access_repeats(const CasePart *part, const CaseAccess *a, u32 loop);
// A word that each turn of the loop loads and stores: the next turn cannot have it before.
bool access_is_carried(const CasePart *part, const CaseAccess *a, u32 loop);
// Whether something in the function writes to the array that `a` starts from. Errs towards true.
bool access_is_written(const CasePart *part, const CaseAccess *a);

// Times that a warp ran the block, in samples.
f64 block_runs(const CasePart *part, u32 block);
// Whether a value (node of Chains) comes from global or shared memory, through at most so many instructions of
// arithmetic; what was only spilled to local memory is not known.
enum { LOADED_STEPS = 10 };
bool node_is_loaded(const CasePart *part, u32 node, u32 depth);
// ... from that load. rules/both_loads.c
bool node_is_made_of(const CasePart *part, u32 node, u32 load, u32 depth);
// Lanes that go on past a guarded branch or exit together, on average of the warps of which some do; `taken`: those
// that jump or leave. 0: not known. lanes.c
f64 lanes_of_way(const AdviceCase *c, const CasePart *part, u32 branch, bool taken);
// A test that a lane passes when its value, a node of Chains, is not 0 (`wanted`), or is.
typedef struct LaneTest {
    u32 node;
    bool wanted;
} LaneTest;
enum { MOST_LANE_TESTS = 8 };
// Of the turns of a loop of so many, the part in which some lane of a warp passes all tests that are made of the
// thread's and the CTA's numbers, of arguments that are known and of what grows by as much in each turn; tried out for
// warps all over the grid. 1: there is no such test, or those that a lane passes are not one run of turns. lanes.c
f64 lanes_let_in(const AdviceCase *c, const CasePart *part, u32 loop, u32 turns, const LaneTest *tests, u32 count);
// Bytes from the first lane's address to each lane's, by trying out its arithmetic for one warp with the draw-th values
// for what is the same for all lanes and not known (low 32 bits). False: not understood, or a CTA has one warp only.
// lanes.c
bool lanes_of_address(const AdviceCase *c, const CasePart *part, u32 pc, u32 draw, u32 warp, i64 offsets[32]);
// Bytes from a lane's address to that of the same lane of the next warp, where it is as far for all lanes and warps of
// the CTA, as far as was tried; 0: it is not, or not understood. lanes.c
i64 warps_of_address(const AdviceCase *c, const CasePart *part, u32 pc);
enum { LANES_LARGE_DRAWS = 6 };  // the first, in which what is not known is a large number, as sizes are
// What the address has gone through. lanes.c
typedef enum LanesThrough {
    LANES_DIVIDED = 1 << 0,  // a division by a number that is known at launch only, or to data
    LANES_GUARDED = 1 << 1,  // guarded instructions
} LanesThrough;
u32 lanes_through(const AdviceCase *c, const CasePart *part, u32 pc);
// Whether the second warp, and a CTA in the middle of the grid, name other addresses than the first warp, by trying it
// out as well. False: not understood. lanes.c
bool lanes_go_apart(const AdviceCase *c, const CasePart *part, u32 pc);
// Whether the lanes of a warp leave the loop in the same turn, but for one border between them, as far as its tests
// compare what moves on by as much in each turn: strides of a CTA over an array of any length. lanes.c
bool lanes_leave_together(const AdviceCase *c, const CasePart *part, u32 loop);
// A call of what is not part of the program's code, or known only when it runs: printf, malloc, assert, a function
// pointer.
bool insn_calls_outside(const CasePart *part, u32 pc);
// Part of the warps' time in such calls of known functions; `where` and `pc`: the one that is waited for most,
// untouched when it is 0. Of PTX alone.
f64 case_outside(const AdviceCase *c, const CasePart **where, u32 *pc);
const char *callee_name(const CasePart *part, u32 pc);  // what such a call is for whoever wrote the source
// A call of a function of the program's that calls itself, or others that call it.
bool insn_calls_itself(AdviceCase *c, const CasePart *part, u32 pc);
// Machine code: the name of the compiler's routine or of the device function behind the kernel that `pc` is in; NULL:
// none.
const char *insn_routine(const CasePart *part, u32 pc);
// The operation without its modifiers, SassOp or PtxOp, below INSN_OPS. traits.c
enum { INSN_OPS = 1024 };
u32 insn_op(const CasePart *part, u32 pc);
// Machine instructions for one execution; 1 where it is not known.
f64 insn_steps(const CasePart *part, u32 pc);
// The instruction that defines what operand `use` (0: the first source) of `pc` sees; WL_NONE: none, or several.
u32 insn_source(const CasePart *part, u32 pc, u32 use);
// Machine code: the use (FlowCode.operands) by which it reads the register; WL_NONE: it does not. case.c
u32 insn_reads(const CasePart *part, u32 pc, const SassReg *reg);
// Whether the value of `pc` is used, through arithmetic of at most `depth` instructions, by one that `wanted` says yes
// to.
bool insn_feeds(const CasePart *part, u32 pc, u32 depth, bool (*wanted)(const CasePart *part, u32 pc, u32 from));

// The part of thread-increase that is about tables which each CTA has to itself. False: there is none.
// rules/shared_tables.c
bool share_tables(AdviceCase *c);
// The part of strength-reduction that is about powf. rules/math.c
void replace_powers(AdviceCase *c);
// ... about float divisions by what a loop keeps. rules/math.c
void divide_before_loops(AdviceCase *c);
// ... about remainders by 2^k - 1. rules/folds.c
void fold_remainders(AdviceCase *c);
// The part of branch-elimination that is about loops that only bring a value near. rules/stepping.c
void skip_steps(AdviceCase *c);
// ... about ways that lanes need not part for: those that do the same with other values, and the next two; adds their
// blocks, and those that they begin in, to `blocks`, which is empty. rules/alike.c
void join_ways(AdviceCase *c, const CasePart *part, Bitset *blocks);
// ... about tests that let in one run of a loop's turns. rules/one_run.c
void bound_loops(AdviceCase *c);
// ... about loads behind a test of the data beside theirs. rules/both_loads.c
void load_both(AdviceCase *c);
// ... of which one is known to lie so near to the other that a line holds both
bool access_is_beside(const CasePart *part, const CaseAccess *first, const CaseAccess *second);
// ... about unrolled lists whose end is looked for element by element. rules/list_ends.c
void load_to_the_end(AdviceCase *c);
// ... about ways on which lanes only choose a constant; adds their blocks to `blocks`. rules/tables.c
void use_tables(AdviceCase *c, const CasePart *part, Bitset *blocks);
// ... about ways too short for branches; leaves out those with a block in `blocks`, and adds its own.
// rules/small_ways.c
void go_without_branches(AdviceCase *c, const CasePart *part, Bitset *blocks);
// The part of memory-transactions that is about numbers wider than they need to be. rules/narrow.c
void narrow_places(AdviceCase *c);
// ... about what is gathered at one index from several arrays. rules/gathers.c
void join_gathers(AdviceCase *c);
// How far apart neighbours are in the array that data names elements of: of the index, what is multiplied with most; 0:
// data names none.
i64 access_pitch(const CasePart *part, const CaseAccess *a);
// Part of the time that the L2 needs for all sectors of the kernel, those that data names among them, where it may be
// what all wait for: where it needs no more than all of it. `padded`: when structures lie across no two sectors.
f64 gathers_time_of_l2(const AdviceCase *c, bool padded);
// The part of wrong-type that is about integers of 64 bits. rules/wide.c
void narrow_integers(AdviceCase *c);
// ... about divisions of 64 bits whose numbers fit 32. rules/short_divisions.c
void shorten_divisions(AdviceCase *c);
// function-inlining: the part's instructions of functions that make the same in all turns of the loop around the call;
// false: there are none to look for. rules/callee_invariants.c
bool callee_invariants(AdviceCase *c, const CasePart *part, u32 call, Bitset *same);
bool is_own_function(const CasePart *part, u32 pc);  // of the program, called in machine code. rules/fetch.c
// What is computed in half as many bits takes fewer registers: more CTAs may fit. rules/occupancy.c
void hit_narrows(Hit *hit);
// Marks instructions of machine code, all OTHER at first, where a division of 32 bits begins at `pc`: what makes the
// divisor's reciprocal, and the quotients that it is used for. rules/divisions.c
enum { DIVISION_OTHER, DIVISION_STEP, DIVISION_QUOTIENT, DIVISION_DONE, DIVISION_CARRIED };
void division_mark(const CasePart *part, u32 pc, u8 *marks);
// Whether the remainder that the quotient is for goes on from the one before, so that a comparison tells whether the
// divisor is to be taken off. rules/carried.c
bool division_is_carried(const CasePart *part, u32 quotient, const u8 *marks);
bool is_negation(const CasePart *part, u32 pc);  // of one register and nothing else. rules/divisions.c
// Instructions of the loop that are gone when all its turns are one sequence, whose number is in the code: what is made
// of the turn's number alone, and what tests it. False: memory is out. rules/known_turns.c
bool known_turns_mark(AdviceCase *c, const CasePart *part, u32 loop, Bitset *gone);
// Turns of which an argument of the launch says how many there are, where the code would be much less if they were one
// sequence; *share: of what the loop issues. 0: it is not so.
u32 known_turns_of_launch(AdviceCase *c, const CasePart *part, u32 loop, f64 *share);
// Whether all arrays in local memory could be in registers if all turns of the loop, whose number is in the code, were
// one sequence; marks, as known_turns_mark(), what is gone then, accesses to them included. rules/known_turns.c
bool known_turns_free_locals(AdviceCase *c, const CasePart *part, u32 loop, Bitset *gone);
// An access to local memory at a place that is computed at run time: of an array. rules/local_memory.c
bool local_is_computed(const CasePart *part, const CaseAccess *a);
// The part of register-reuse that is about several results for each thread. rules/register_tiles.c
void reuse_in_tiles(AdviceCase *c);
// Whether the SMs still have warps enough where a thread has so many results. rules/register_tiles.c
bool warps_suffice(const AdviceCase *c, u32 results);
// ... about results of which each needs nearly the elements of the next one. rules/windows.c
void reuse_windows(AdviceCase *c);
// ... about several turns of a loop around another, whose loads and stores they share. rules/strips.c
void reuse_over_turns(AdviceCase *c);
// What a sequence of known turns does not compute: branches, tests, counters, places. rules/loop_unrolling.c
bool insn_only_counts(const CasePart *part, u32 pc);

// Nanoseconds from the begin of the function's launches to that of the next one on its stream, on average, as the
// profiled run had them; 0: they do not follow each other, or not often. rules/merge.c
f64 launches_period(const ProfileLaunch *launches, u32 count, u32 function);
// The function that is launched `step` places on (1: next, -1: before) from nearly all launches of `function`, on the
// same stream: now and then it may be another one, or the order in which they were recorded. WL_NONE: there is none.
u32 launches_beside(const ProfileLaunch *launches, u32 count, u32 function, i64 step);
// The same of kernels that follow each other again and again, but for what comes round: the one that was launched first
// goes on with nothing that the last one made.
u32 launches_linked(const ProfileLaunch *launches, u32 count, u32 function, i64 step);
// The part of kernel-merge that is about arrays which the first makes element by element, in loops, for the second.
// rules/merge_maps.c
void merge_map(AdviceCase *c, const KernelView *first, const KernelView *second);
// Part of the bytes that two kernels move which are still moved when they are one. rules/merge.c
f64 merged_bytes_left(const KernelView *first, const KernelView *second);
// What one kernel issues in place of several, in the time that these took, over what the case's kernel issued in as
// long; 0: not known. rules/merge_issue.c
f64 merged_issues(AdviceCase *c, const KernelView *const *views, u32 count);
// Whether the use of a store is what is stored: in machine code words of addresses come before it. traits.c
bool insn_stores_use(const KernelView *view, u32 pc, u32 use);
// Nanoseconds of a stream's time that a launch takes, of which its own kernel runs for `own`, where the next one begins
// `period` after its begin (0: not known).
f64 launch_on_stream(f64 own, f64 period);
bool loop_has(const CasePart *part, u32 loop, u32 pc);
bool loop_skips_ahead(const CasePart *part, u32 loop);  // CaseLoop.skips, or a loop around it does
// Whether a value (node of Chains) is the same in all turns of the loop, as far as at most so many instructions of
// arithmetic say; what is no register is. spins.c
bool node_stays(const CasePart *part, u32 loop, u32 node, u32 depth);
bool loop_spins(const CasePart *part, u32 loop);  // turns until others change a word; WL_NONE does not. spins.c
// Changes a word that such a loop asks for, or reads.
bool access_is_spun_on(const CasePart *part, const CaseAccess *a);
// A ticket: the loop around it goes on or ends by its result.
bool atomic_ends_loop(const CasePart *part, const CaseAccess *a);
// Part of the samples in such loops of one kind; `where` and `pc`: the access of the hottest, untouched when it is 0.
f64 case_spinning(const AdviceCase *c, SpinKind kind, const CasePart **where, u32 *pc);
bool loop_goes_on(const CasePart *part,
                  u32 loop);  // it is executed, does not spin, and is not known to end after one turn
// Turns of the source's loop that the compiler made one turn of; 1: it did not, or it is not seen. unrolled.c
u32 loop_copies(const CasePart *part, u32 loop);
// Turns of a loop of PTX that the assembler made one of: its branch is issued once for them, or never. unrolled.c
u32 loop_assembled(const CasePart *part, u32 loop);
// Of so many turns, each with so many loads of global memory, those whose loads the compiler starts together; in loops
// in which no ways meet. unrolled.c
f64 loop_turns_together(f64 loads, f64 turns);
bool loop_is_sequence(const CasePart *part, u32 loop);
// Warps alive of those that resident CTAs have room for; 1 = not known, as when CTAs are not all as large. ctas.c
f64 warps_alive(const AdviceCase *c);
// Time with CTAs of the average SM over that of the longest, where all CTAs are resident from the begin of the launch
// and some may have more to do than others; else 1. rules/launch.c
f64 sms_active(AdviceCase *c);
// Warps of a launch whose CTAs are all resident from its begin, over those that are on average, by samples, where no SM
// has run out of CTAs before: warps of the same CTAs have ended. 1: not known. rules/launch.c
f64 warps_missing(const AdviceCase *c);
// Whether an argument of the launch has a say in the guard of the instruction. ctas.c
bool guard_has_argument(AdviceCase *c, const CasePart *part, u32 pc);
bool ctas_may_differ(AdviceCase *c);  // ctas.c: some loop or way may be another CTA's longer
// Whether the guard may be another thread's different, or another CTA's: else constants and arguments of the launch
// decide it. Errs towards true. ctas.c
bool guard_differs(AdviceCase *c, const CasePart *part, u32 pc);
// Whether threads of the same place in different CTAs may store different values there, as their CTA's number or what
// the kernel itself writes has a say in them. Errs towards true. ctas.c
bool store_differs_by_cta(AdviceCase *c, const CasePart *part, u32 pc);
// Turns that need nothing of the turn before can be dealt to different threads; those in which the warps of a CTA meet,
// to different CTAs. What is joined at the end (sums) counts as nothing. deal.c
bool loop_can_be_dealt(AdviceCase *c, const CasePart *part, u32 loop);
// Bytes that a turn of the loop goes on by, with the sizes of CTAs and grid as launched and a number drawn for what is
// not known; the address is of the form AffineAccess has. deal.c
f64 access_step(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop);
// Each turn goes on by the elements of all the CTA's threads: a tile in shared memory that they deal among themselves.
// deal.c
bool access_deals_tile(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop);
// What each turn of the loop takes over from the one before, moved on by what no turn changes: a pointer. deal.c
bool node_moves_on(const CasePart *part, u32 loop, u32 node);
// Ways of a branch that do the same with other values: so much of the longer one's instructions the other has as well,
// and of fewer than so many, compilers select.
#define WAYS_ALIKE 0.8
enum { LEAST_OF_ALIKE = 8 };
// Machine code: the BSYNC at the begin of block `meets`, and in block `parts` the BSSY (WL_NONE: it is elsewhere) of
// the same barrier, by which lanes wait for those that went another way. False: there is none. scope.c
bool lanes_meet(const CasePart *part, u32 parts, u32 meets, u32 *begin, u32 *end);
u32 loop_header_pc(const CasePart *part, u32 loop);
u32 loop_line_pc(const CasePart *part, u32 loop);  // the first instruction from there on whose line is known

// --- what it found -------------------------------------------------------------------------------------------------
Hit *hit_begin(AdviceCase *c);
// Why and how, and the example, of a row of texts.def instead of the rule's: hit_text(hit, TEXT_narrow).
typedef enum AdviceTextId {
#define ADVICE_TEXT(id, why, how, before, after) TEXT_##id,
#include "analyze/advice/texts.def"
#undef ADVICE_TEXT
} AdviceTextId;
void hit_text(Hit *hit, AdviceTextId id);
// Stalls that the instruction is blamed for, wherever warps waited, of these reasons (UINT32_MAX: all). Returns them.
f64 hit_blamed(Hit *hit, const CasePart *part, u32 pc, u32 reasons, f64 fraction);
f64 hit_blamed_where(Hit *hit, const CasePart *part, u32 pc, u32 reasons, f64 fraction,
                     bool (*wanted)(const CasePart *part, const BlameEdge *edge));  // NULL: all
// What hit_blamed has left of the instruction's waits for accesses stays as it is: it is no queue that gets shorter
// when the unit has less to do.
void hit_no_queue(Hit *hit, const CasePart *part, u32 pc, f64 gone);
// The same as latency that other work may overlap, only where def and use lie in `loop` (WL_NONE: anywhere).
f64 hit_overlapped(Hit *hit, const CasePart *part, u32 pc, u32 reasons, u32 loop, f64 fraction);
// All turns of a loop become one sequence: nothing counts them, and constants at places of the counter are operands.
// rules/loop_unrolling.c
void hit_sequence(Hit *hit, const CasePart *part, u32 loop);
// ... and so do waits for constants that are of one line with the one read before, where what warps waited for in
// between goes. Every hit's, when it ends. constants.c
void hit_constants_meet(Hit *hit);
// Stalls at an instruction, whoever is to blame.
f64 hit_stalled(Hit *hit, const CasePart *part, u32 pc, u32 reasons, f64 fraction);
// The instruction is executed that much less often: its issues and its use of resources go.
void hit_unissue(Hit *hit, const CasePart *part, u32 pc, f64 fraction);
// ... and the stalls that it is blamed for.
void hit_spare(Hit *hit, const CasePart *part, u32 pc, f64 fraction);
// The same, and an experiment does not issue it.
void hit_remove(Hit *hit, const CasePart *part, u32 pc, f64 fraction);
// The instruction's accesses take the L1 so much less, each of them.
void hit_shorten(Hit *hit, const CasePart *part, u32 pc, f64 fraction);
void hit_relieve(Hit *hit, Resource resource, f64 part_of_time);
// So many samples of issues are added, of instructions of the special function unit.
void hit_add_special(Hit *hit, f64 issued);
void hit_add_integer(Hit *hit, f64 issued);  // ... of the integer unit
// The experiment that tries the advice edits this instruction so, to that part; on the simulator only.
void hit_edit(Hit *hit, EditKind kind, const CasePart *part, u32 pc, f64 fraction);
void hit_fact(Hit *hit, const char *name, f64 value, const char *unit, const char *format, ...) WL_PRINTF(5, 6);
void hit_caution(Hit *hit, const char *format, ...) WL_PRINTF(2, 3);
void hit_basis(Hit *hit, const char *format, ...) WL_PRINTF(2, 3);
// The change concerns the launches alone that are like the typical one (ViewLaunches.alike); a fact says so when there
// are others.
void hit_of_shape(Hit *hit);
void hit_drop(Hit *hit);  // nothing was found after all
// Done; the scope is the whole kernel, one loop, or the line of one instruction.
void hit_end_kernel(Hit *hit, const char *format, ...) WL_PRINTF(2, 3);
void hit_end_function(Hit *hit, const CasePart *part, const char *format, ...) WL_PRINTF(3, 4);
void hit_end_loop(Hit *hit, const CasePart *part, u32 loop, const char *format, ...) WL_PRINTF(4, 5);
void hit_end_line(Hit *hit, const CasePart *part, u32 pc, const char *format, ...) WL_PRINTF(4, 5);

// "nbody.cu:41", or "instruction 41 of nbody" where lines are not known.
const char *place_text(AdviceCase *c, const CasePart *part, u32 pc);
// Same file and line, or, where lines are not known, the same instruction.
bool same_line(const CasePart *part, u32 a, u32 b);
const char *case_printf(AdviceCase *c, const char *format, ...) WL_PRINTF(2, 3);  // "" when memory is out
const char *case_vprintf(AdviceCase *c, const char *format, va_list args) WL_PRINTF(2, 0);

// --- the inside of the engine, for its own files -------------------------------------------------------------------
// case.c. A kernel in which there is nothing to look at has no parts.
WL_MUST_USE Status case_make(const AdviceContext *context, const KernelView *view, Arena *scratch, AdviceCase *c);
void case_free(AdviceCase *c);
f64 insn_held(const AdviceCase *c, const CasePart *part, u32 pc);      // dispatch.c: cycles
bool insn_is_wide_product(const CasePart *part, u32 pc);               // ... machine code: IMAD.HI, IMAD.WIDE
u32 insn_traits(const KernelView *view, u32 pc);                       // traits.c
WL_MUST_USE Status case_find_accesses(AdviceCase *c, CasePart *part);  // access.c
void case_find_spins(CasePart *part);                                  // spins.c
void case_find_skips(CasePart *part);                                  // random_states.c
void case_join_stores(AdviceCase *c);                                  // access.c: once warps are known
WL_MUST_USE Status case_find_load(AdviceCase *c);                      // load.c
WL_MUST_USE Status case_find_loops(AdviceCase *c, CasePart *part);     // scope.c
// footprint.c: turns of outermost loops where few samples told of them; part of the time in which DRAM has to work at
// least, which fills in the uses of it by instruction.
void case_find_trips(AdviceCase *c);
void case_bound_by_warps(AdviceCase *c);  // how often instructions outside of loops are executed
f64 case_dram_busy(AdviceCase *c);
// Bytes of a CTA's shared memory from the first one that is accessed to the last one that is loaded: what is stored
// beyond that nobody reads. 0: where one of the loads goes is not known.
f64 case_shared_reach(const AdviceCase *c);
f64 case_l1_room(const AdviceCase *c);  // bytes of the L1 that shared memory leaves; AdviceCase.gpu is known
// Different bytes that one CTA accesses by this instruction, those like it sharing what they have in common; 0: not
// known.
f64 access_cta_bytes(const AdviceCase *c, const CasePart *part, const CaseAccess *a);
// Of the sectors that it and those like it touch in the launch, or in a CTA, the part that somebody wants.
f64 access_part_wanted(const AdviceCase *c, const CasePart *part, const CaseAccess *a, bool of_cta);
// Part of the time for which L2 or DRAM are busy at most, as if no cache in front of them had anything; 0: not known.
f64 case_most_busy(const AdviceCase *c, Resource r);
f64 case_l2_busy(AdviceCase *c);     // ... the L2
f64 case_l2_gathers(AdviceCase *c);  // ... the L2 for loads whose lanes go where data sends them
// ... for so many sectors, in samples of requests, of which each slice answers one a cycle; 0: not known. footprint.c
f64 case_l2_sectors(const AdviceCase *c, f64 sectors);
// phases.c
WL_MUST_USE Status case_find_phases(AdviceCase *c);
void case_find_behind(AdviceCase *c);                                     // once it is known how busy all units are
Resource case_behind(const AdviceCase *c, const CasePart *part, u32 pc);  // where that load of global memory queues
void case_find_atomics(AdviceCase *c, f64 per_slot);                      // atomics.c
// Part of the time in which the L1 works, of which so much is known and `line` is what the warps in line for it say:
// what is missing is given to atomics that meet in shared memory, as far as their lanes can take so long. atomics.c
f64 case_shared_atomics(AdviceCase *c, f64 known, f64 line, f64 per_slot);
f64 case_waits_by_shared_atomics(const AdviceCase *c);  // samples of waits for loads in loops with such atomics
// Part of an edge's samples in which its warps waited in line for a unit or a memory, as they would not on an idle
// machine, and which that is. queues.c
f64 case_in_line(const AdviceCase *c, const CasePart *part, const BlameEdge *edge, Resource *queue);
// What keeps the queue of the L1 full where warps wait for a place in it (LG_THROTTLE): stores leave the L1 no sooner
// than the L2 takes them, so that it is the L2 where they alone keep that busier than all accesses the L1.
Resource case_full_queue(const AdviceCase *c);
Resource case_slow_unit(const AdviceCase *c);  // whose queue it is that is full where warps wait for one (MIO_THROTTLE)
// Cycles that a load of global memory takes on an idle machine (AdviceCase.gpu, which is known), of which so much goes
// past the L1, and of that past the L2. load.c
f64 case_idle_latency(const AdviceCase *c, f64 past_l1, f64 past_l2);
// The same until the last of so many lines is there.
f64 case_idle_last(const AdviceCase *c, f64 past_l1, f64 past_l2, f64 lines);
// Part of the waits for loads of global memory that goes when as many of them as there are `together` now and `times`
// as many again are under way at once. Where most hit the L1, they wait for the one that misses. load.c
f64 case_part_together(const AdviceCase *c, f64 together, f64 times);
const char *kernel_library(const KernelView *view);  // libraries.c: that the kernel is part of; NULL: none
const char *case_limit(AdviceCase *c);               // load.c: AdviceKernel.limit
// ... of kernels that are over as soon as they have begun; "" of others, NULL when memory is out. Needs no samples.
const char *case_short(Arena *arena, const KernelView *view);
const char *hit_edits(Hit *hit);                              // experiment.c: the list of edits as text, "" = none
bool hit_tried_counts(const Hit *hit);                        // ... whether an experiment of the rule is the estimate
f64 hit_tried(const Hit *hit);                                // ... the speedup; 0: not tried
void hit_estimate(const Hit *hit, AdviceEstimate *estimate);  // advice_estimate.c

typedef void RuleFunction(AdviceCase *c);
extern RuleFunction *const advice_functions[];
#define ADVICE_RULE(id, ...) RuleFunction rule_##id;
#include "analyze/advice/rules.def"
#undef ADVICE_RULE

#endif
