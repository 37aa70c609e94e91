// SPDX-License-Identifier: Apache-2.0
// The whole GPU of the timing model, inside.
#ifndef WL_SIM_TIME_MACHINE_H
#define WL_SIM_TIME_MACHINE_H

#include "sim/time/sm.h"

struct TimeMachine {
    Sim *sim;
    const GpuModel *gpu;
    u32 device;
    Pool *pool;  // NULL: one thread
    Sm *sms;
    u32 sm_count;
    u32 *active;  // SMs that run in this quantum
    u32 active_count;
    MemSys *memsys;
    Vec(MemRequest) requests;
    u32 *order;  // counting sort of requests by cycle
    u32 order_cap;
    MemReplies replies;
    Vec(TimeRun *) runs;  // in order of their begin
    u64 indices;          // bit i: a run has index i
    u64 now, quantum, until;
    u64 dispatched;    // when the last CTA was handed out, hundredths of a cycle
    u64 retired;       // when the last one was known to be over, hundredths of a cycle
    u32 next_sm;       // where the search for room begins
    u32 sample_shift;  // a sample every 2^shift cycles
    u32 codes;         // programs that have run
    TimeWatcher watcher;
    u64 next_watch;
    u64 quiet;  // quanta without any progress
};

static inline u32 machine_sample_shift(const TimeMachine *m) { return m->sample_shift; }
static inline const u32 *machine_block_ends(const TimeRun *run) { return run->block_ends; }
static inline u32 machine_code_id(const TimeRun *run) { return run->code_id; }
// Where the local memory of a warp's place lies for the caches: places of an SM behind each other.
#define LOCAL_BASE (0x10ca1ull << 28)
static inline u64 machine_local_base(const TimeMachine *m, u32 sm, u32 place) {
    return LOCAL_BASE + ((u64)sm * m->sms[sm].warp_count + place) * (1ull << 21);
}

void machine_abandon(TimeMachine *machine);  // everything under way is given up

// front.c: executes further for warps whose trace is used up, or nearly.
WL_MUST_USE Status front_serve(Sm *sm, u64 cycle, Diag *diag);  // those that the SM has stopped for
WL_MUST_USE Status front_top_up(TimeMachine *m, u64 cycle, bool *moved, Diag *diag);  // between quanta

// dispatch.c: CTAs to SMs.
WL_MUST_USE Status dispatch_ctas(TimeMachine *m);
void dispatch_collect(TimeMachine *m);  // CTAs that are over

#endif
