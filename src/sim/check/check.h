// SPDX-License-Identifier: Apache-2.0
// The checker (docs/checker.md): memory errors, reads of what was never written, races on shared memory, misuse of
// barriers. Inside of the simulator.
//
// Off, it costs nothing: Exec.check is NULL and programs are lowered as ever. On, the exec function of every
// instruction that touches memory is replaced by one that looks first and then calls the original one (check_access.c),
// barriers and warp synchronisation tell what they do (check_sync.c), and allocations are followed (check_memory.c). An
// access that cannot be made is reported and goes to a few bytes of zeros instead, so that the program goes on. Owner:
// the Sim. One thread.
#ifndef WL_SIM_CHECK_CHECK_H
#define WL_SIM_CHECK_CHECK_H

#include "sim/grid.h"

typedef enum CheckRule {
#define RULE(id, name, severity, check, headline) RULE_##id,
#include "sim/check/rules.def"
#undef RULE
    RULE_COUNT
} CheckRule;

// What an instruction does, as far as the checker cares.
typedef enum CheckClass {
    CLASS_NONE,
    CLASS_LOAD_STORE,
    CLASS_ATOMIC,
    CLASS_FENCE,
    CLASS_MBARRIER_INIT,
    CLASS_MBARRIER_ARRIVE,
    CLASS_MBARRIER_WAIT,
    CLASS_COPY,         // cp.async
    CLASS_COPY_COMMIT,  // ... .commit_group
    CLASS_COPY_WAIT,    // ... .wait_group, .wait_all
    CLASS_COPY_ARRIVE,  // ... .mbarrier.arrive
    CLASS_BULK,         // copies of whole boxes: what they write is written and ordered by their mbarrier
    CLASS_OTHER,        // loads and stores lane by lane: matrices
} CheckClass;

// Of one instruction of a program that is checked.
typedef struct CheckPc {
    ExecFn plain;  // what it executes
    u8 class;      // CheckClass
    u8 rule;       // of `finding`
    bool strong;   // atomic, volatile, relaxed or stronger
    bool release, acquire;
    u16 used;         // of a load: bit k, element k is used for something (check_uses.c)
    u32 other;        // pc of the other party of `finding`
    u32 finding;      // index of the last one here, WL_NONE
    u64 start, size;  // allocation hit last
    u64 generation;
    u8 *written;  // its shadow
    bool read_only;
} CheckPc;

typedef struct CheckAlloc {  // every allocation ever made, by serial
    u64 address, size;
    u8 kind;      // SimMemoryKind
    bool device;  // made by a kernel
    bool live;
    u32 ordinal;            // among those made by the same function
    const char *label;      // or NULL
    SimOrigin made, freed;  // freed.api NULL: not freed
} CheckAlloc;

// --- shared memory: what happened to each granule
// ----------------------------------------------------------------------- Times are ticks of a warp: one per
// instruction that touches memory, never reset while cells live. A cell older than the CTA (tick < CheckCta.base) is
// empty.
enum { CELL_STRONG = 1, CELL_ASYNC = 2 };
typedef struct RaceCell {
    u32 tick;
    u32 pc;
    u32 active;    // lanes of the split then
    u16 interval;  // CTA barriers that the warp had passed
    u8 warp, lane;
    u8 flags;
    u8 unused[3];
} RaceCell;

typedef struct PendingCopy {  // cp.async under way
    u32 lane, group, granule, count, pc;
} PendingCopy;

typedef struct CheckWarp {
    u32 tick;
    u16 interval;
    u32 wgmma_tick;           // of its last wgmma.commit_group
    u32 synced;               // up to this tick all lanes are ordered
    bool partly;              // known[] holds more
    u32 known[LANES][LANES];  // [a][b]: up to which tick of b lane a's accesses are ordered behind b's
    u32 groups[LANES];        // cp.async groups committed
    Vec(PendingCopy) copies;
    u8 *local_written;  // a bit per byte, LANES * local stride
    u64 local_bits;     // bytes of it
} CheckWarp;

typedef struct CheckBarrier {  // since its last release
    bool used;
    u32 count;   // of threads, as the first one said; 0 = all
    u32 pc;      // of the first one
    u32 thread;  // of the CTA
} CheckBarrier;

typedef struct CheckCta {
    u32 warp_count, warp_cap;
    CheckWarp *warps;
    u32 base;            // ticks below belong to earlier CTAs
    u8 *shared_written;  // a bit per byte
    u32 shared_cap;
    u32 shift, granules;  // log2 of the granule's bytes
    RaceCell *writes;     // [granule][strong]: the last weak and the last strong write
    u32 *readers;         // [granule]: warps that read since the last write
    RaceCell *reads;      // [warp][granule]
    u64 write_cap, read_cap;
    u32 *clocks;          // [warp][warp] happens-before: ticks of others that a warp is behind
    u32 *fenced;          // [warp][warp] ... at its last fence
    u32 *pending;         // [warp][warp] ... got by relaxed reads, valid after the next fence
    u32 *barriers_clock;  // [barrier][warp]
    u64 clock_cap;
    Map sync_at;  // key of a synchronisation variable -> index in sync_clock / warp_count
    Vec(u32) sync_clock;
    CheckBarrier barriers[CTA_BARRIERS + 1];
} CheckCta;

typedef struct Check {
    Sim *sim;
    u32 checks;  // SimCheck bits
    Grid *grid;  // running
    u32 launch;
    CheckCta *ctas;  // by slot of Grid.ctas
    u32 cta_cap;
    u32 last_tick;    // highest of any CTA so far
    bool quiet;       // access_resolve is only to resolve: all was looked at before
    u64 local_limit;  // bytes of local memory that a thread of the running kernel has
    u64 nowhere[8];   // accesses that cannot be made go here
    Arena arena;      // texts
    Vec(SimFinding *) findings;
    u32 announced;                  // of findings
    Map index;                      // hash of rule, function, pc, other pc -> finding
    u64 dropped;                    // findings over the limit
    Vec(CheckAlloc) allocs;         // by serial - 1
    Map ordinals;                   // hash of the api's name -> allocations made by it
    Vec(SimAllocation) quarantine;  // freed, addresses not given out again yet
    u32 quarantine_first;
    u64 quarantined;
    u64 leaks, leaked_bytes;
    u64 race_bytes;  // of records of shared memory
} Check;

// One access of a lane, for messages.
typedef struct CheckAccess {
    u64 address;
    u32 bytes;
    u8 lane, space;
    bool store, atomic;
} CheckAccess;

// --- check.c ---
Status check_create(Sim *sim);
void check_destroy(Check *check);
void check_launch_begin(Check *c, Grid *grid, u32 launch, u64 local_bytes);
void check_launch_end(Check *c);
Status check_cta_start(Check *c, const Cta *cta);
static inline CheckCta *check_cta(const Check *c, const Cta *cta) { return &c->ctas[cta - c->grid->ctas]; }
static inline CheckWarp *check_warp(const Check *c, const Warp *w) { return &check_cta(c, w->cta)->warps[w->index]; }

// --- check_findings.c ---
// The finding of this rule here, new or known. The text of `what` goes into the headline. *is_new: fill in notes and
// the second place. NULL: too many.
SimFinding *check_find(Check *c, CheckRule rule, u32 pc, u32 other, bool *is_new, const char *what);
// ... of an access: with its address and the thread. NULL when it is a known one, too.
SimFinding *check_find_access(Exec *x, CheckRule rule, u32 pc, const CheckAccess *access);
SimFinding *check_find_api(Check *c, CheckRule rule, const char *api, u64 key, bool *is_new, const char *what);
void check_note(Check *c, SimFinding *f, const char *format, ...) WL_PRINTF(3, 4);
SimPlace check_place(Check *c, u32 pc);
void check_place_thread(SimPlace *place, const Cta *cta, u32 thread);
void check_place_lane(SimPlace *place, const Warp *w, u32 lane);
const char *check_access_text(char *buffer, size_t size, const CheckAccess *access);
void check_note_origin(Check *c, SimFinding *f, const char *verb, const SimOrigin *origin);
void check_note_alloc(Check *c, SimFinding *f, const CheckAlloc *a);

// --- check_memory.c ---
// Instead of access_aligned while checking: reports what is wrong, never NULL.
u8 *check_resolve(Exec *x, u32 lane, u64 address, u32 bytes, u32 align, u8 space, bool store, u8 *found);
void check_allocated(Check *c, SimAllocation *a);
bool check_freed(Check *c, const SimAllocation *a);  // true: the address must not be given out again yet
void check_unmapped(Check *c, const SimAllocation *a);
CheckAlloc *check_alloc_of(Check *c, u64 serial);
bool check_refill(Check *c, CheckPc *p, u64 address);
bool check_bad_device_free(Exec *x, u32 lane, u64 address);  // false: not looked for
void check_leaks(Check *c, bool errors);
void check_bad_access(Exec *x, u32 pc, const CheckAccess *access);  // why it cannot be made

// --- check_init.c ---
bool check_bits_all(const u8 *bits, u64 first, u64 count);
bool check_bits_none(const u8 *bits, u64 first, u64 count);
void check_bits_set(u8 *bits, u64 first, u64 count, bool value);
void check_unwritten(Exec *x, u32 pc, const CheckAccess *access);

// --- check_race.c ---
typedef struct RaceAccess {
    u32 pc, lane;
    u64 offset;
    u32 bytes;
    bool store, atomic, strong, async;
    u64 value;  // stored, of up to 8 bytes; for conflicts in one instruction
} RaceAccess;
Status race_cta_start(Check *c, const Cta *cta, CheckCta *cc);
void race_cta_free(CheckCta *cc);
void race_access(Exec *x, const RaceAccess *access);
void race_sync_read(Exec *x, u64 key, bool acquire);   // a strong read of a variable
void race_sync_write(Exec *x, u64 key, bool release);  // a strong write of it
void race_fence(Exec *x);
void race_commit(Exec *x, u32 mask);
void race_copies_done(Exec *x, u32 mask, u32 keep, bool all);  // all but the last `keep` groups; all: uncommitted too
void race_barrier_arrive(Check *c, const Warp *w, u32 barrier);
void race_barrier_leave(Check *c, const Warp *w, u32 barrier, u32 lanes, bool open);  // open: of all threads
void race_exit(Check *c, const Warp *w);
void race_barrier_reset(Check *c, const Cta *cta, u32 barrier);
void race_wgmma_commit(Check *c, const Warp *w);
void race_wgmma_done(Check *c, const Warp *w, u32 warps);  // of its warpgroup
void race_lanes_synced(Check *c, const Warp *w, u32 lanes);

// --- check_uses.c ---
Status check_mark_uses(SimProgram *program);

// --- check_access.c ---
Status check_wrap(SimProgram *program);
bool check_same_value(Exec *x, const SimInsn *in, u32 a, u32 b);  // whether two lanes store the same bytes
bool check_stores_same(Exec *x, const SimInsn *in, u32 lane, u64 offset);

// --- check_sync.c: told by warp.c, barrier.c and grid.c ---
void check_barrier_arrive(Exec *x, const Warp *w, const Split *s, const SimInsn *in, u32 id, u32 count, u32 mask);
void check_barrier_release(const Cta *cta, u32 id);
void check_warp_sync(Exec *x, const Warp *w, const SimInsn *in, u32 mask);
void check_warp_mask(Exec *x, const Warp *w, const SimInsn *in, u32 mask);
void check_blocked(Exec *x, const Warp *w);
void check_deadlock(Grid *g);
void check_fault(Grid *g);
void check_enter(Exec *x, const Warp *w, const SimFunc *callee, u32 local, u32 mask);

#endif
