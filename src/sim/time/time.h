// SPDX-License-Identifier: Apache-2.0
// The timing model: how long what the functional front executes would take on the GPU of the model. One machine per
// simulated device. SMs advance in quanta, in parallel on the pool's threads; between quanta the memory system serves
// what they asked for, the front executes further, and CTAs are started, all in a fixed order: the results do not
// depend on the number of threads.
#ifndef WL_SIM_TIME_H
#define WL_SIM_TIME_H

#include "base/pool.h"
#include "record/stall.h"
#include "sim/grid.h"
#include "sim/time/memsys.h"
#include "sim/time/time_code.h"

typedef enum SmCounter {
#define SM_COUNTER(id, help) SMC_##id,
#include "sim/time/sm_counters.def"
#undef SM_COUNTER
    SM_COUNTER_COUNT
} SmCounter;

typedef struct TimeMachine TimeMachine;
typedef struct TimeRun TimeRun;  // a kernel on the machine

WL_MUST_USE Status time_machine_create(Sim *sim, u32 device, TimeMachine **machine);
void time_machine_destroy(TimeMachine *machine);
u64 time_quantum(const TimeMachine *machine);  // cycles; quanta end at its multiples
u64 time_now(const TimeMachine *machine);      // cycles of the SM clock since creation
u64 time_clock(const TimeMachine *machine);    // and those of launches that are over, whose time is estimated
f64 time_ns(const TimeMachine *machine, u64 cycles);
u64 time_cycles(const TimeMachine *machine, u64 ns);  // after which so many ns have passed
bool time_is_busy(const TimeMachine *machine);        // a run is on it
void time_pass(TimeMachine *machine, u64 ns);         // nothing happens meanwhile; not while a run is on it

// Puts a prepared grid on the machine: its CTAs are started when there is room for them, after those of earlier grids.
WL_MUST_USE Status time_run_begin(TimeMachine *machine, Grid *grid, TimeRun **run);
// Advances the machine until the run is over (`any`: or another one), or until cycle `limit`. *over: this one is.
// Faults and deadlocks as sim_launch_step.
WL_MUST_USE Status time_advance(TimeMachine *machine, TimeRun *run, bool any, u64 limit, bool *over, Diag *diag);
bool time_waits(const TimeMachine *machine);  // that ended because all runs go in a circle
void time_run_extend(TimeRun *run);           // it is over now: what it launched is part of it
void time_run_end(TimeRun *run);              // and what of its time was estimated passes
void time_flush(TimeMachine *machine);        // all caches empty

// --- what was found; valid until time_run_end ---------------------------------------------------------------------
typedef struct TimePc {        // by pc of the program
    u64 issued;                // machine instructions
    u64 spilled;               // ... that store or load a value with no register, or that a function saves
    u64 stalls[STALL_COUNT];   // cycles of warps whose next instruction it was
    u64 latency[STALL_COUNT];  // ... in which their scheduler issued nothing
} TimePc;
typedef struct TimeEdge {  // cycles that warps waited at `pc` because of `cause`
    u32 pc, cause;  // cause: the instruction that made the awaited value, or that warps missing at a barrier were at
    u8 reason;      // StallReason
    u64 cycles, times;
} TimeEdge;
typedef struct TimeSample {  // as the hardware's PC sampling
    u32 period;              // cycles
    u32 pc;
    u8 reason;
    u32 count;          // all samples
    u32 latency_count;  // ... of cycles in which the scheduler did not issue
} TimeSample;
#define LATENCY_BUCKETS 32
typedef struct TimeResult {
    u64 begin, end;                     // cycles: the launch, launch overhead included
    u64 first_cta, last_cta;            // first CTA started, last one ended
    u64 stalls[STALL_COUNT];            // warp cycles
    u64 slot_stalls[STALL_COUNT];       // scheduler cycles without issue, by the reason of the warp that ended them
    u64 issued;                         // machine instructions
    u64 load_latency[LATENCY_BUCKETS];  // loads of global memory by the logarithm of their cycles, in halves
    const TimePc *pcs;                  // program->insn_count of them
    const TimeEdge *edges;              // sorted by (pc, cause, reason)
    u32 edge_count;
    const TimeSample *samples;  // sorted by (period, pc, reason)
    u32 sample_count;
    u32 registers;    // of a thread, as used for the occupancy
    u32 ctas_per_sm;  // that fit
    // Partial simulation: all of the above but begin and end are of what was simulated in detail.
    u64 detail_end;  // the end, had that been all
    u64 low, high;   // of the cycles from begin to end: the interval of 95 % confidence
    f64 detail;      // share of the warp instructions that were simulated in detail
    f64 scale;       // by which counts are to be multiplied to be those of the whole launch
} TimeResult;
WL_MUST_USE Status time_run_result(TimeRun *run, TimeResult *result);
// Machine instructions issued so far, added to `issued` by pc of the program. Correct between quanta.
void time_run_issued(const TimeRun *run, u64 *issued);

u32 time_workers(const TimeMachine *machine);  // threads of its own

// --- the machine's counters: totals since creation, correct between quanta -----------------------------------------
u32 time_sms(const TimeMachine *machine);
u32 time_schedulers(const TimeMachine *machine);  // of an SM
// All that an SM counts: SM_COUNTER_COUNT counters, then cycles of warps and of schedulers without issue, by reason.
enum {
    SM_STALLS = SM_COUNTER_COUNT,
    SM_SLOT_STALLS = SM_STALLS + STALL_COUNT,
    SM_VALUES = SM_SLOT_STALLS + STALL_COUNT
};
const u64 *time_sm_values(const TimeMachine *machine, u32 sm);
const u64 *time_sm_counters(const TimeMachine *machine, u32 sm);  // SM_COUNTER_COUNT values
const u64 *time_sm_stalls(const TimeMachine *machine, u32 sm);    // STALL_COUNT values: warp cycles
const MemSys *time_memsys(const TimeMachine *machine);

// Called between quanta when a multiple of `cycles`, which must be one of the quantum, has been reached. Whether
// anybody watches changes nothing of what the machine does. NULL: nobody watches.
typedef struct TimeWatcher {
    void (*interval)(void *context, TimeMachine *machine, u64 cycle);
    void *context;
    u64 cycles;  // between two calls
} TimeWatcher;
void time_watch(TimeMachine *machine, const TimeWatcher *watcher);

#endif
