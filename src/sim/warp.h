// SPDX-License-Identifier: Apache-2.0
// A warp in execution: splits of lanes with a pc each, call frames, and convergence points.
//
// Where a branch diverges, a convergence point is made at its immediate post-dominator: both sides run under it, arrive
// there and go on together. Before Volta that is all: the side that runs keeps running until it arrives or ends (the
// classic SIMT stack). From Volta on (independent thread scheduling) splits share the warp fairly, and lanes that wait
// at a convergence point are let go when the others make no headway without them, so that spinning on a lock held by a
// lane of the same warp ends.
#ifndef WL_SIM_WARP_H
#define WL_SIM_WARP_H

#include "sim/exec.h"
#include "sim/machine.h"
#include "sim/time/trace.h"

typedef struct Grid Grid;

typedef enum SplitState { SPLIT_READY, SPLIT_SYNC, SPLIT_BARRIER, SPLIT_WARPGROUP } SplitState;

typedef struct Split {
    u32 pc, mask;
    u32 frame;      // Warp.frames
    u32 conv;       // innermost convergence point, WL_NONE
    u8 state;       // SplitState
    u8 barrier;     // SPLIT_BARRIER: which
    u32 sync_mask;  // SPLIT_SYNC: the lanes waited for
    u32 result;     // bar.red
} Split;

typedef struct Frame {
    u32 parent;                 // WL_NONE for the kernel
    u32 func;                   // SimProgram.funcs
    u32 call_pc;                // the call instruction
    u32 r32, r64, pred, local;  // offsets of the frame in the warp's areas
    u32 refs;                   // splits, convergence points and frames that name it
} Frame;

typedef struct Conv {
    u32 parent;
    u32 pc, frame;  // where the lanes meet
    u32 mask;       // lanes that will come
    u32 arrived;
    u32 refs;      // splits and convergence points below
    bool is_call;  // the return point of a call
} Conv;

typedef struct Warp {
    struct Cta *cta;
    u32 index;  // in the CTA
    u32 lanes;  // lanes that exist
    u32 exited;
    Split *splits;  // `all`, or `only` until its lanes part for the first time: of most kernels they never do
    Split *all;     // LANES of them; NULL: not yet
    Split only;
    u32 split_count, current;
    Vec(Frame) frames;
    Vec(u32) free_frames;
    Vec(Conv) convs;
    Vec(u32) free_convs;
    u8 *r32, *r64;
    u32 *preds;
    u32 r32_size, r64_size, pred_count;  // bytes, bytes, slots
    u8 *local;                           // all lanes
    u64 local_stride, local_cap;         // bytes of a lane: in this launch, allocated
    u64 local_used;                      // ... that may not be zero
    u32 stack[LANES];     // SimProgram.allocates: where what alloca gave begins, as offsets in the lanes' local memory
    u32 stack_limit;      // the lowest of them
    u64 executed;         // warp instructions, for clocks and budgets
    u64 turn;             // instructions that the current split has had in its turn
    u64 stuck_since;      // `executed` when the current split last had company or made way
    bool polled;          // a lane of it has polled since (Exec.polls)
    u64 turned;           // `executed` when it was last asked about (grid_turned)
    bool stopped;         // it was told WARP_LATER: its turn goes on
    u32 wgmma_committed;  // groups so far
    u32 wgmma_awaited;    // SPLIT_WARPGROUP: the groups that every warp of the warpgroup has to have committed
    u32 cluster_pending;  // lanes that have arrived at the cluster's barrier, in the phase that is not complete
    const u32 (*tid)[LANES];  // Grid.tids
    Trace *trace;             // NULL: nothing is timed
} Warp;

typedef enum WarpStop { WARP_BUDGET, WARP_BLOCKED, WARP_POLLED, WARP_DONE, WARP_FAULT, WARP_LATER } WarpStop;
// A traced warp stops between runs only, before an instruction of SIM_IN_TIME while its trace is not used up, and
// after an attempt that has to be repeated (WARP_POLLED).

// Prepares a warp for a new CTA: lanes [0, lanes), registers cleared, at the kernel's entry.
Status warp_start(Warp *warp, const SimProgram *program, u32 lanes, u64 local_stride);
// Executes up to `budget` warp instructions.
WarpStop warp_run(Exec *x, Warp *warp, u64 budget);
// ... of a traced warp. WARP_LATER: it stands before an instruction that cannot be executed now (Exec.ahead,
// Exec.alone); called again with what is then left in *budget, it goes on as if it had not been stopped.
WarpStop warp_run_apart(Exec *x, Warp *warp, u64 *budget);
#define RELEASE_FIRST 20000u      // Grid.release_budget: instructions after which lanes are let go the first time
#define RELEASE_LATER 256u        // ... and afterwards in the same launch
#define RELEASE_PLAIN (1u << 22)  // ... where no lane has polled
// Moves `lanes` of a split to a new split at `pc`; nothing happens when there are none.
void warp_split_off(Warp *warp, Split *split, u32 lanes, u32 pc);
// Lanes that have been let go on together at `pc` become one split, unless others are waited for with some of them.
// Splits may move.
void splits_join(Warp *warp, u32 pc);
void warp_free(Pages *pages, Warp *warp);

// stack.c: memory of alloca. `slot`: where in the lanes' local memory a function keeps what was given before it.
void stack_reset(Warp *warp);
void stack_update(Warp *warp);  // after a change of Warp.stack
void stack_enter(Warp *warp, u32 slot, u32 mask);
void stack_leave(Warp *warp, u32 slot, u32 mask);

static inline bool warp_done(const Warp *warp) { return warp->split_count == 0; }

// barrier.c: a split arrives at a CTA barrier. False: it has to wait (its state is set).
#define CTA_BARRIERS 16
#define CLUSTER_BARRIER 16  // Split.barrier of those that wait at the cluster's
typedef struct Barrier {
    u32 expected;  // threads, 0 = nobody has arrived
    u32 arrived;
    u32 sum;          // bar.red.popc
    bool all, any;    // bar.red.and, .or
    bool open_count;  // waits for all threads of the CTA, however many are left
} Barrier;

typedef struct Cta {
    struct Grid *grid;
    u32 id[3];
    u64 linear;
    u32 rank;             // in its cluster; the CTAs of a cluster lie behind each other in Grid.ctas, by rank
    u32 cluster_arrived;  // rank 0: threads that have arrived at the cluster's barrier
    u32 threads, warp_count;
    u32 exited_threads;
    bool wgmma_committed;  // by any of its warps
    Warp *warps;
    u32 warp_cap;
    u32 next_warp;      // round robin
    u32 open_barriers;  // bit b: somebody has arrived at barriers[b]; the others are zero
    Barrier barriers[CTA_BARRIERS];
    u8 *shared;
    u32 shared_size, shared_cap;
    u64 executed;
    bool used;         // holds a running CTA
    u32 members_left;  // timing, rank 0: CTAs of the cluster that are not over
    u8 apart[64];      // from the next CTA, which may be another thread's, in the host's caches
} Cta;

bool barrier_arrive(Exec *x, Warp *warp, Split *split, const SimInsn *in, u32 mask);
void barrier_threads_exited(Cta *cta);

// cluster.c: barrier.cluster. Its threads that have exited count as arrived.
bool cluster_barrier(Exec *x, Warp *warp, Split *split, const SimInsn *in, u32 mask);
void cluster_lanes_exited(Warp *warp, u32 lanes);
void cluster_check(Cta *first);  // completes the phase when nobody is left to wait for; `first`: of rank 0
static inline Cta *cluster_first(Cta *cta) { return cta - cta->rank; }
// The CTA of that rank in the cluster of `cta`; NULL when there is none, or it has exited.
Cta *cluster_cta(const Cta *cta, u32 rank);

// warpgroup.c: groups of wgmma, which are complete when all warps of the warpgroup have committed them.
enum { WARPGROUP = 4 };                        // warps
void warpgroup_commit(Warp *warp);             // one more group
bool warpgroup_wait(Warp *warp, u32 pending);  // false: more than the last `pending` are not complete, it has to wait
void warpgroup_advanced(const Warp *warp);     // the warp has committed, or is done: others may be able to go on

// One pc's row of counters and the allocation it hit last.
typedef struct PcState {
    PcCounters counters;
    u64 start, size;  // device addresses last found valid; size 0 = none
    i64 delta;        // device address to host address
    u64 generation;
    bool read_only;
} PcState;

typedef struct ChildLaunch ChildLaunch;  // device-side launch, child.c
typedef Vec(ChildLaunch *) ChildList;

typedef struct Residency {  // of CTAs
    u64 next, done;         // started, finished
    u32 used, wanted, most;
} Residency;

typedef struct Stuck {  // Brent's cycle search over the states of rounds without headway
    u64 saved, rounds, hashed, next_save;
} Stuck;

typedef struct Round {  // one turn for every resident CTA
    bool open;
    u32 place;          // in Grid.ctas, whose turn it is
    u64 turn;           // what is left of it, 0: it has not begun
    u64 executed;       // warp instructions so far
    u64 stores, polls;  // Exec's when it began
    bool finished;      // a CTA ended
    bool polling;       // in the round before, nothing was done but polling
    bool moved;         // something finished or was written since the step began
} Round;

struct Grid {  // also called SimRun
    Sim *sim;
    SimKernel *kernel;
    u32 device;  // of the kernel
    const SimProgram *program;
    u32 grid[3], block[3], cluster[3];  // cluster: at least 1
    u32 cluster_size;                   // CTAs
    bool explicit_cluster;              // asked for by the launch or the kernel
    u64 cta_count;
    u32 dynamic_shared;
    u32 carve_out;  // SimLaunch.carve_out
    u8 *params;
    u32 param_size, param_cap;
    PcState *states;  // by pc
    u32 state_cap;
    Cta *ctas;  // resident ones
    u32 cta_cap;
    u32 (*tids)[3][LANES];  // thread indices of the warps of a CTA, tid_cap of them
    u32 tid_cap;
    u64 executed;        // warp instructions
    u64 graph_exec;      // SimLaunch.graph_exec
    u64 grid_workspace;  // device address of the grid barrier's word, 0 = none
    bool its;            // independent thread scheduling
    u8 apart_from[64];   // what the front writes all the time, from what all threads read
    Exec exec;
    u8 apart_too[64];
    struct TimeRun *time_run;  // NULL: not timed
    struct TimelineRun *timeline;
    ChildList children;
    Map thread_errors;   // thread of the grid -> cudaError_t of its last failed call of the device runtime
    char message[1024];  // what Exec.message points to when it is composed at run time
    char *overrun;       // overrun_explain(), until the launch is over
    u32 faulting_pc;
    u32 launch_id;       // of the record
    u32 release_budget;  // warp instructions of a split that polls before lanes that wait for it are let go
    bool record;         // SimLaunch.record
    SimPass pass;        // SimLaunch.pass
    bool apart;          // timed, and SMs execute what is their own affair at the same time (time/front.c)
    Residency residency;
    Round round;
    Stuck stuck;
    u32 unfinished;          // rounds with polls since a CTA ended
    u64 begin_ns, end_ns;    // host time at which it began, at which its last step ended
    u64 host_ns;             // spent on it
    struct Grid *next_free;  // Sim.free_grids
};

#endif
