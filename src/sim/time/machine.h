// SPDX-License-Identifier: Apache-2.0
// The whole GPU of the timing model, inside.
#ifndef WL_SIM_TIME_MACHINE_H
#define WL_SIM_TIME_MACHINE_H

#include "base/bitset.h"
#include "sim/time/sm.h"

typedef struct Inbox {  // replies that an SM has not taken
    MemReplies replies;
    u64 first;     // the earliest one's cycle, NEVER
    u8 apart[40];  // from the next one, which may be another thread's
} Inbox;
typedef struct StartQueue {  // SMs of one home that have CTAs to start
    u32 *sms, count;
    _Atomic u32 at;  // the next one to be started
} StartQueue;
typedef struct Window Window;  // window.c

typedef struct Circle {  // circle.c
    u64 next_look, headway;
    u64 cycles;  // from the last look to the next
    Stuck stuck;
    bool found;
} Circle;

struct TimeMachine {
    Sim *sim;
    const GpuModel *gpu;
    u32 device;
    Pool *pool;  // NULL: one thread
    Sm *sms;
    u32 sm_count;
    u32 *active;  // SMs that run in this window, by number
    u32 active_count;
    Bitset awake;  // SMs that may have something to do: all others have not
    Bitset ran;    // ... that have been active since CTAs were collected
    u32 *senders;  // SMs that have asked for something in [sent_from, sent_until), by number
    u32 sender_count;
    StartQueue *starting;  // of each worker, for dispatch_start()
    u32 homes;             // SMs that have been dealt out to the workers
    bool given;            // SMs may have been given CTAs that they have not started
    Window *window;
    MemSys *memsys;
    bool behind;   // the memory system serves half a window while the SMs are in the next one
    bool pending;  // what the SMs sent in [sent_from, sent_until) is not served yet
    u64 sent_from, sent_until;
    Requests requests;  // of a window, sorted
    u32 *order;         // counting sort of requests by cycle
    u32 order_cap;
    MemReplies replies;
    Inbox *inbox[2];  // by SM; inbox[side]: to be taken by SMs that run, the other one is being filled
    u32 side;
    Vec(TimeRun *) runs;  // in order of their begin
    u64 indices;          // bit i: a run has index i
    u64 now, quantum;
    u64 dispatched;  // when the last CTA was handed out, hundredths of a cycle
    u64 retired;     // when the last one was known to be over, hundredths of a cycle
    u32 next_sm;     // where the search for room begins
    SamplePlan samples;
    u32 codes;               // programs that have run
    Vec(LaunchCode) code;    // what launches fetched ahead since caches were emptied, for SMs yet to be furnished
    u64 l1_bytes;            // ... of their L1
    Vec(MemHostRange) host;  // what kernels reach of the host's memory, as of `host_known` of Sim.generation
    u64 host_known;
    TimeWatcher watcher;
    u64 next_watch;
    u64 quiet;  // quanta without any progress
    Circle circle;
    bool still;                  // no SM executes anything now, but for the front
    struct SampleGroup *groups;  // launches so far, when not all are simulated in detail
    u64 owed;                    // estimated cycles of launches that are over, which have not passed yet
};

static inline const SamplePlan *machine_samples(const TimeMachine *m) { return &m->samples; }
static inline const u32 *machine_block_ends(const TimeRun *run) { return run->block_ends; }
static inline u32 machine_code_id(const TimeRun *run) { return run->code_id; }
// Where the local memory of a warp lies for the caches: that of warp `index` of the CTA in place `cta` of an SM.
void machine_local(const TimeMachine *m, const TimeRun *run, u32 sm, u32 cta, u32 index, Trace *trace);

// Before a kernel begins: what its launch fetches ahead comes to all SMs.
WL_MUST_USE Status machine_prefetch(TimeMachine *m, const TimeRun *run);
// circle.c: whether the launches go in a circle; to be asked between quanta when circle.next_look has come.
bool circle_look(TimeMachine *m);
void circle_forget(TimeMachine *m);  // memory may have been written from outside

static inline u32 machine_workers(const TimeMachine *m) { return m->pool ? pool_threads(m->pool) : 1; }
void machine_abandon(TimeMachine *machine);  // everything under way is given up
void machine_pay(TimeMachine *machine);      // what is owed passes, when nothing is under way

WL_MUST_USE Status machine_catch_up(TimeMachine *machine);  // the memory system comes up to the SMs
void machine_take_replies(TimeMachine *machine, Sm *sm, u32 side);
// What SMs have asked for in [from, until) is to be served; of the first half: what they have kept apart.
void machine_send(TimeMachine *m, u64 from, u64 until, bool first_half);
// SMs that have nothing to do but to take replies of inbox[side] become active.
void machine_choose_late(TimeMachine *m, u64 now, u32 side);
// Serves what is pending; replies go to inbox[side].
WL_MUST_USE Status memory_serve(TimeMachine *machine, u32 side);

// window.c: SMs from `now` to `until`. The front executes further for warps that will need it soon, then serves those
// that stop before `stops`, then the others. With `behind`, what is pending is served meanwhile, and what SMs ask for
// up to `stops`; the rest is sent.
WL_MUST_USE Status window_create(TimeMachine *machine);
void window_destroy(Window *window);
WL_MUST_USE Status window_run(TimeMachine *m, u64 stops, u64 until, Diag *diag);

// front.c: executes further for warps whose trace is used up, or nearly. Sm.moved: it has executed something.
typedef enum FrontWay {
    FRONT_AHEAD,    // on the SM's thread, what is its own affair
    FRONT_IN_ORDER  // one SM after the other, everything
} FrontWay;
Status front_fault(Grid *grid, Diag *diag);  // explains it; STATUS_FAULT
// Those that the SM has stopped for. *done: all of them; otherwise the rest has to be done in order, or, if that was
// the way, while TimeMachine.still.
WL_MUST_USE Status front_serve(Sm *sm, u64 cycle, FrontWay way, bool *done, Diag *diag);
// ... those that will soon be out of it.
WL_MUST_USE Status front_top_up(Sm *sm, u64 cycle, FrontWay way, bool *done, Diag *diag);
WL_MUST_USE Status front_try_again(TimeMachine *m, u64 cycle, Diag *diag);  // those, and those that waited
// Whether SMs may execute a run ahead is decided when it begins.
WL_MUST_USE Status front_begin(TimeRun *run);
void front_collect(TimeRun *run);  // what was counted ahead comes to the grid
void front_end(TimeRun *run);

// dispatch.c: CTAs to SMs. These start them when they run next, or all at the same time with dispatch_start().
WL_MUST_USE Status dispatch_ctas(TimeMachine *m, Diag *diag);
WL_MUST_USE Status dispatch_start(TimeMachine *m);
void dispatch_collect(TimeMachine *m);  // CTAs that are over

#endif
