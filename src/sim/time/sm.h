// SPDX-License-Identifier: Apache-2.0
// One streaming multiprocessor of the timing model: schedulers with their warps, scoreboards, units, the load/store
// path with the L1, instruction fetch, barriers. Driven by one thread at a time; SMs share nothing while they run.
#ifndef WL_SIM_SM_H
#define WL_SIM_SM_H

#include "sim/time/cache.h"
#include "sim/time/tally.h"
#include "sim/time/time.h"

#define NEVER UINT64_MAX
enum { MACHINE_RUNS = 32, SCHED_WARPS = 64, SM_SCHEDULERS = 8, GROUPS = 16 };

// What executes ahead on a worker thread, of one run.
typedef struct FrontAhead {
    Exec exec;
    PcState *states;  // its counters are added to the grid's in the end
    u64 executed;     // warp instructions, not yet in Grid.executed
    u8 apart[128];    // from what the next worker writes all the time
} FrontAhead;

// The front's work for one warp (front.c), which may be stopped and go on later.
typedef struct FrontFill {
    struct TimeWarp *warp;  // NULL: none is open
    u64 goal;               // of Warp.executed
    u32 at;                 // warp of the CTA whose turn it is
    u64 left, began;        // of its turn, when it is stopped: instructions; Warp.executed at its begin
    bool stopped, any;      // any: a turn of this round has executed something
} FrontFill;

// The stages of a time run that a CTA belongs to.
struct TimeRun {
    TimeMachine *machine;
    u32 index;  // in the machine
    Grid *grid;
    const TimeCode *code;
    Tally *tallies;     // one per worker thread
    FrontAhead *ahead;  // ... NULL: nothing is executed ahead of the front's order
    u32 limit;          // CTAs that fit on an SM
    u32 fit;            // ... by registers and shared memory; an experiment may have others
    u32 cta_warps;
    u64 local_bytes;         // local memory of a warp
    u64 spill_words;         // ... words of a thread before those of TimeCode.frame
    u64 next_linear, ended;  // CTAs handed out, over
    u64 begin, first_cta, last_cta, end;
    u64 next_dispatch;  // hundredths of a cycle
    u32 *free_slots;    // groups of cluster_size places in grid->ctas
    u32 free_count, slot_groups;
    Tally result;
    Vec(TimeEdge) edges;
    Vec(TimeSample) samples;
    u32 *block_ends;  // by pc
    u32 code_id;
    bool over;
    u64 estimated;          // cycles of `end` that were not simulated
    struct Sample *sample;  // NULL: everything is simulated in detail
};

typedef struct TimeBarrier {
    u32 arrived, expected;  // threads; expected 0 = all that are left
    bool open;              // somebody has arrived
} TimeBarrier;

typedef struct TimeCta {
    TimeRun *run;
    Cta *front;
    u64 linear;  // of the launch
    u32 slot_group;
    u32 threads, exited, warps_left;
    TimeBarrier barriers[CTA_BARRIERS];
    TraceSyncs syncs;
    u32 sync_done[TRACE_SYNCS];  // operations that are over
    u64 share;                   // of the SM
    u32 next_free;
    u32 serial;                // tells the CTAs apart that have this place one after the other
    u64 came;                  // as which of the SM's CTAs
    u8 places[SM_SCHEDULERS];  // of its warps, by scheduler
    u32 first_place, placed;   // the scheduler from which on they were given, how many
    bool used;
} TimeCta;

typedef enum WarpState {
    TW_FREE,
    TW_READY,  // the next instruction can issue at `at`
    TW_WAIT,   // ... when a register, a barrier, a fence, a group is there
    TW_TRACE,  // what comes next is not known yet: the front must execute further, at `at`
    TW_FRONT   // the front cannot go on with it for now
} WarpState;

typedef enum WaitKind {
    WAIT_SLOT,
    WAIT_BARRIER,
    WAIT_STORES,
    WAIT_GROUP,
    WAIT_GMMA,
    WAIT_SYNC,
    WAIT_FETCH,
    WAIT_CONSTANT,  // a line of constants, to the cache behind the first ones
    WAIT_PRINT,
    WAIT_DRAIN,  // over, but for stores in the SM's queue
} WaitKind;

// The trace ends before it is known whether what comes is a whole region: more of it is wanted, or there is no more.
typedef enum TraceAsk { ASK_NOTHING, ASK_WANTED, ASK_TRIED } TraceAsk;

enum { PARTED_KEPT = 32 };
#define NO_PART UINT32_MAX

// What every instruction needs comes first: the warps of all SMs do not fit into the host's caches.
// What a warp waits for first before it waits for anything else: the stall count of the instruction before, the code at
// the target of a branch, the branch, other code. Ends in this order.
typedef enum WaitPart { PART_WAIT, PART_TARGET, PART_BRANCH, PART_FETCH, WAIT_PARTS } WaitPart;

typedef struct TimeWarp {
    u8 state, sched, slot, reason;  // WarpState; StallReason since `since`
    u8 wait;                        // WaitKind
    u8 lanes, barrier;
    u8 lane_counter;        // SmCounter of so many lanes
    u8 ask;                 // TraceAsk
    bool leaving;           // it has nothing left to issue
    bool entering;          // what is issued on the way into `loop` has been, and nothing since
    u8 turns_left;          // of lanes that left `loop` before others did, by bits: 2: two turns at once, 1: one
    bool joined;            // the run is several runs of the trace: TimeOp.extra says which of TimeWarp.part
    u32 op, op_end;         // TimeCode.ops: next, end of the run's block
    u32 from, to;           // the run
    u32 loop;               // unrolled loop of unknown turns that the last run is in: where it begins; WL_NONE
    TimeRun *run;           // of the kernel
    const TimeCode *code;   // ... its
    Tally *tallies;         // ... its
    u64 since;              // start of the present stall
    u64 until[WAIT_PARTS];  // ... whose begin has other reasons (WaitPart), each until then; PART_FETCH not behind
                            // `since`: it has none
    u64 issued_before;      // of Scheduler.issued, those that its accounts have had
    u64 *ready;             // by register slot: when it can be read; NEVER: not known yet
    u32 *producer;          // by register slot: pc | StallReason << 24
    u32 cause;              // pc of what it waits for, WL_NONE
    u32 counted_for;        // ... what the last stall count was for (TimeOp.waits_for)
    u32 held_by;            // ... its last branch, BSYNC or call of the runtime
    u32 line;               // of instructions, that it reads; WL_NONE
    u32 delay_pc;           // what it waited for in one cycle since delay_from, any of them; WL_NONE
    u32 serial;             // tells the warps apart that have this place one after the other
    u64 held_taken;         // it is held by a unit: HeldUnit.taken when that began, as if at `since`
    u64 delay_from;         // when its last barrier let it go on
    u64 delay_next;         // a stall that ends later than this has its turn to be delay_pc
    u64 salt;               // of that choice, another one in each warp of the GPU
    Trace trace;
    u32 run_words;            // words of the run, its heads included; 0 = no run
    u32 asked;                // words of the trace when the front was last asked for more of it (TraceAsk)
    u32 low_words;            // so few words behind the run are too few: the front is asked for more
    u32 part[TIME_PARTS];     // of each run of the trace that it is: words before it; NO_PART: not executed
    u32 sought_part, sought;  // of the run with so many words before it, the access that was found last; NO_PART: none
    TimeCta *cta;
    Warp *front;
    u16 wait_slot;                      // WAIT_SLOT: register; WAIT_SYNC: which; WAIT_GROUP: groups that may be open
    u32 wait_made;                      // WAIT_SYNC
    u64 fenced;                         // when its last fence is over, as far as stores allow
    u32 exited;                         // lanes that are over
    u32 at_barrier;                     // lanes that wait at barrier `barrier`
    u64 untold;                         // cycles at that barrier accounted for already, but not who was late
    u32 stores;                         // writes and reductions not yet answered
    u32 queued;                         // accesses of them that the SM has yet to send
    u32 last_store;                     // its pc
    u64 stored;                         // when the last of them was issued; 0: none has been
    u32 groups;                         // cp.async: committed groups
    u32 group_loads[GROUPS];            // loads under way, by group
    u64 gmma_group[GROUPS], gmma_last;  // wgmma: when committed groups are over
    u32 gmma_groups;
    u32 slot_cap;
    u64 start;
    u64 place;               // as which it found the queue of a unit full, or PLACE_LET_IN; 0: neither
    u64 entered;             // when it last put something into one
    u64 apart[2];            // when it may issue another constant, access (TimeSpaced)
    u64 settled;             // when all that it computed could be read, by units of the same kind
    u64 jumped;              // when it goes on behind its last branch, if that was taken ...
    u32 behind;              // ... which is so unless the next run begins at this instruction; WL_NONE
    u64 barred;              // when the barrier that it has arrived at lets it go on; NEVER: not known yet
    u32 barrier_pc;          // of that barrier
    u32 barred_by;           // pc of what the last one there waited for; WL_NONE
    u8 arrivals;             // groups of lanes that have yet to pass the BSYNC at the begin of the run
    u16 steps;               // instructions that the subroutine of its division or root has yet to issue
    u8 slow_path;            // SlowPath of that one
    bool spins;              // it is in a loop around a compare-and-swap ...
    bool spin_more;          // ... and lanes have to go round again,
    bool spin_parts;         // ... others of them not
    u64 spin_loaded;         // when the load there had its turn last
    u8 spin_left[LANES];     // by place of TRACE_SPIN: turns that its lanes have yet to take
    u8 parted_count;         // groups that left the others ...
    u8 parted[PARTED_KEPT];  // ... of a warp that had so many lanes active
} TimeWarp;

// Sample cycles in which a scheduler issued.
typedef struct SampledSlots {
    u64 issued;  // bit k & 63: in sample cycle k
    u64 head;    // the newest k in `issued`
} SampledSlots;

// Code on its way from the SM's instruction cache to a scheduler's, which asks for the next lines of what it comes to.
enum { FETCH_NEXT = 3, FETCH_LINES = 8, FETCH_KNOWN = 16 };
typedef struct LineAhead {
    u64 address, at;  // when it is there
} LineAhead;
// A line behind which nothing is to be brought, as long as no code came to the scheduler or the SM: `changes` is the
// same.
typedef struct LineKnown {
    u64 address, changes;
} LineKnown;

// GpuModel.scheduler.
typedef enum SchedulerPolicy {
    POLICY_LRR,
    POLICY_GTO,
    POLICY_TWO_LEVEL,
    POLICY_OLDEST,
    POLICY_GRR,
    POLICY_CTA_GRR
} SchedulerPolicy;

// A unit of a scheduler's own that warps wait for (sm_unit.h).
typedef struct HeldUnit {
    u64 held;   // slots of these; without any, the rest is not kept up
    u64 from;   // behind the last issue to it
    u64 taken;  // cycles that it was taken, or will be, behind the one of the issue
} HeldUnit;

enum { MOST_INDEXED = 8 };  // GpuModel.indexed_lines

typedef struct Scheduler {
    u64 ready, waiting;  // slots: `at` was reached when the scheduler was last looked at; other times than NEVER
    u64 tracing;         // ... whose warps are in state TW_TRACE
    u64 next;            // the least of `at`, or when it may issue again
    u64 busy;            // until then it cannot issue
    u64 accounted;       // cycles before this one are accounted for
    u64 issued;          // cycles in which it issued
    u32 slots, resident;
    u32 taken;            // places of warps of CTAs that are there, of those that are over, too
    u32 last;             // slot that issued last
    u64 at[SCHED_WARPS];  // by slot: when the warp can issue; NEVER
    TimeWarp *warps[SCHED_WARPS];
    u8 by_age[SCHED_WARPS];  // slots, oldest warp first: `resident` of them
    u64 peers[SCHED_WARPS];  // by slot that has a warp: the slots of warps of its CTA
    u64 held;                // slots whose warps wait for a unit that they found taken: neither ready nor waiting
    u32 held_units;          // ... the units
    HeldUnit units[UNIT_COUNT];
    u64 unit_free[UNIT_COUNT];
    u64 xu_since;      // the slow unit has been at work since then
    u8 xu_last;        // slot of the warp that has something in the queue of the slow unit (GpuModel.xu_queue)
    u64 special_free;  // when it can read another special register
    u64 reads;         // registers that its register file could have handed out when it has those of what was issued
    SampledSlots sampled[SAMPLE_SETS];
    u64 indexed[MOST_INDEXED],
        indexed_at[MOST_INDEXED];  // lines of indexed constants, last used first, + 1; since when
    Cache *fetch;                  // L0
    LineAhead ahead[FETCH_LINES];
    u32 ahead_last;  // of these, the one asked for last
    LineKnown known[FETCH_KNOWN];
    u64 brought;  // lines that came to its cache, and times that it was emptied
} Scheduler;

typedef enum TicketKind { TICKET_LOAD, TICKET_ASYNC, TICKET_BULK, TICKET_STORE } TicketKind;
// A memory instruction under way.
typedef struct Ticket {
    TimeRun *run;
    TimeWarp *warp;
    TimeCta *cta;
    u32 serial, cta_serial;  // theirs when it was issued
    u64 issued;
    u64 done;       // latest cycle of what is there already
    u32 op;         // TimeCode.ops
    u32 remaining;  // sectors, and 1 while it is in the queue
    u16 group;      // cp.async: group; bulk: place in TraceSyncs, NO_SYNC = none
    u16 copies;     // bulk: of them, one a lane; the mbarrier of `group` hears of each
    u8 kind;        // TicketKind
    u8 same_word;   // of an atomic, for each of its lines: as many lanes as meet on a word, 0 where none do
    bool global;    // a load from global memory: counts for the latency
} Ticket;

typedef struct Waiter {  // of a line under way
    u32 ticket, next;
    u32 sectors;
} Waiter;

typedef struct Miss {  // line under way to the L1
    u64 line;
    u64 owner;  // who asked for it first
    u32 sectors;
    u32 kept;     // sectors that the cache keeps when they are there (l1_fill)
    u32 waiters;  // list
    u32 next;     // free list; hash chain
} Miss;

enum { CONST_MISSES = 8 };
typedef struct ConstMiss {  // line under way to the cache behind the first ones
    u64 line;
    u32 parts;    // requests that are not answered; 0: the place is free
    u32 waiters;  // list
} ConstMiss;

enum { CONST_LINES = 8 };  // of more under way the newest are told
typedef struct ConstLine {
    u64 line, at;
} ConstLine;

// A load that hits several words of a bank (sm_reads.c): behind another one of its warp's, by turns with those of other
// warps, through. What came behind it and is through at once is so, too.
typedef enum ReadState { READ_WAITS, READ_TURNS, READ_DONE } ReadState;

enum { STORED_LINES = 32 };  // by their address: more than come within l1_store_there
typedef struct StoredLine {  // that a store has brought into the L1
    u64 line, looked_up;     // ... by the last one that did not find it there
} StoredLine;

typedef struct PipeEntry {
    u64 issued;
    u64 read_end;   // in Pipe.read_clock; while it READ_WAITS, from its begin
    u16 read_late;  // cycles that looking up its tags adds
    u8 read_state;  // ReadState; of the first Pipe.reading
    u32 ticket, op;
    u32 words, count;  // lines in Pipe.words from `words`
    u32 next_line;
    u16 wavefronts, fewest;
    u8 space;          // TraceSpace
    u8 kind;           // TimeKind
    u8 lanes, bytes;   // bytes: of a lane
    u8 share;          // of stores: bytes of each sector
    bool distributed;  // shared memory of another CTA
    u8 sched;          // scheduler of the warp
} PipeEntry;

enum { PIPE_WAITING = 128 };  // warps that an SM may have
#define PLACE_LET_IN UINT64_MAX

// The warps that may put something into a queue: all of an SM's, or with a queue of each scheduler's before it (own)
// those of one.
typedef struct PipeGate {
    u64 places;                // warps that have found it full
    u64 coming;                // of these, those let in that have not issued yet
    u32 waiting_count;         // ... those that wait:
    u8 waiting[PIPE_WAITING];  // index in Sm.warps
    u32 last;                  // warp that put something into it last
    u32 behind;                // instructions in the queue of the scheduler
    bool closed;               // it was full, and few instructions have left since
} PipeGate;

// The queue before the load/store or the texture unit: served in order.
typedef struct Pipe {
    Pages *pages;
    PipeEntry *entries;  // ring of `cap`; behind the first `room`, what is in the queues of the schedulers
    u32 first, count, cap;
    u32 room;    // instructions that may wait ...
    u32 own;     // ... and in a queue of each scheduler's besides; 0 = there is none
    u64 *words;  // of their lines; ring of `word_cap`
    u32 word_first, word_count, word_cap;
    u64 free_at;    // when the unit can start on the next
    u64 data_free;  // when the stores that it has served have left
    // Loads that take turns (sm_reads.c). `reading` entries from the first on have been looked up; of these `turns_of`
    // are in READ_TURNS, `reads` not in READ_DONE, of which there are `most_reads` at most.
    u32 reading, turns_of, reads, most_reads;
    u64 read_clock;  // what each in READ_TURNS has been given, at cycle read_at
    u64 read_at;
    u32 held;       // a half of a cycle that something else took, beside read_at
    u64 read_next;  // when the next of them is through; NEVER
    u64 read_free;  // when all that was to be read could have been, a wavefront a cycle
    u32 owed;       // hundredths of a cycle that it is busy longer
    bool blocked;   // the L1 can take no further miss
    bool turns;     // warps that find it full issue in the order in which they came
    PipeGate gates[SM_SCHEDULERS];
} Pipe;

enum {
    STORE_QUEUE = 32
};  // lines that wait for an SM's port: three stores of each of 8 warps still meet, of 32 hardly
    // (bench/hwref/h200-joins.tsv, words_by_12)
typedef struct StoreLine {
    u64 line, ready;
    u32 waiters;  // tickets; free list
    u8 sectors, whole;
    u8 bytes[4];  // written of each sector, as if none were written twice
    bool local;
} StoreLine;
typedef struct StoreQueue {
    StoreLine *lines;                     // until they are answered: up to GpuModel.l1_writes
    u32 free, used, room;                 // used: those that have ever been; room: that there is memory for
    u32 ring[STORE_QUEUE], first, count;  // those that have not left
    u64 keys[STORE_QUEUE];                // ... their lines
    u16 tags[STORE_QUEUE];                // ... and 16 bits of these, to be searched several at a time
    u64 port_free;
    u16 cycles[2][5];  // that the port is busy: of whole sectors only, or not; by their number
} StoreQueue;

// A word of shared memory that a loop around a compare-and-swap changed last at `at`. So few words change so often that
// it matters that one forgets another.
enum { SPUN_WORDS = 128 };
typedef struct SpunWord {
    u64 key;  // place of the CTA, address
    u64 at;
} SpunWord;

typedef Vec(MemRequest) Requests;

// Replies that have not arrived at the SM (sm_reply.c).
typedef struct Replies {
    u64 next;        // the earliest's cycle; NEVER
    MemReply *near;  // [first, end), in order
    u32 first, end, cap;
    u32 far_len, far_cap;
    MemReply *far;  // what comes much later, a heap
} Replies;

typedef struct LaunchCode {  // what a launch fetches ahead of it
    u64 address, bytes;
} LaunchCode;

typedef struct CtaStart {
    TimeRun *run;
    Cta *front;
    u64 linear, start;  // of the launch; when its first warp begins
    u32 slot_group;
} CtaStart;

typedef struct Sm {
    // What is looked at between windows, of all SMs, by one thread. The others have written it: few lines of the host's
    // cache.
    u64 now;
    u64 next;         // its next event, as of sm_note()
    u64 share;        // taken, of SM_SHARE
    bool busy;        // there is something to do for it, as of sm_note()
    bool furnished;   // it has been given a CTA: only then it has warps, caches and queues
    bool paused;      // a warp needs the front at `now`
    bool moved;       // the front has executed something
    u32 stuck_warps;  // in state TW_FRONT
    u32 warp_count, resident_warps;
    u32 home;  // who ran it last: has it in the host's caches
    Status status;
    Vec(u32) low;          // warps whose trace is nearly used up
    Vec(CtaStart) starts;  // CTAs that it has been given, to be started
    u32 starting_warps;    // ... their warps
    Vec(u32) ended;        // CTAs that are over

    TimeMachine *machine;
    const GpuModel *gpu;
    u32 id, scheduler_count;
    Scheduler schedulers[SM_SCHEDULERS];
    u32 first_place;  // the scheduler that the first warp of the next CTA comes to, where all have as many
    TimeWarp *warps;  // max_threads_per_sm / 32
    u32 resident_ctas;
    u64 ctas_came;  // so far
    TimeCta *ctas;
    u32 cta_count;
    u64 start_free;   // when it can start another CTA
    u64 room_at[64];  // when the places that CTAs left can be taken: a ring, in order of their ends
    u32 room_first, rooms;
    bool cold;        // its caches were emptied, and no CTA has started since
    u64 code_at;      // when the first instruction of the first CTA behind that is there
    bool translated;  // global memory was accessed since then
    Pipe lsu, tex;
    Cache *l1, *tex_cache, *const_l1, *const_l15, *imc, *fetch_l1;
    u64 code_come;  // times that code came to fetch_l1
    ConstMiss const_misses[CONST_MISSES];
    u64 const_free;                      // when the unit for constants can take another load
    u64 indexed_free;                    // when it can bring a scheduler another line of indexed constants
    u64 indexed_line, indexed_since;     // the line + 1 that was asked for last, when
    u64 imc_line, imc_ready;             // the line that comes to it, when it is there
    bool imc_touched, const_touched;     // since the launch began there was a miss of it, and of parameters in const_l1
    ConstLine const_lines[CONST_LINES];  // what comes to const_l1 from the cache behind: a ring
    u32 const_last;
    u64 l1_bytes;
    Cache *l1_before;  // that of another size, which the next kernel may want; its content is void
    u64 l1_before_bytes;
    Vec(Ticket) tickets;
    Vec(u32) free_tickets;
    Vec(Waiter) waiters;
    u32 free_waiters;
    Miss *misses;
    u32 *miss_hash;
    u32 miss_cap, free_misses, used_misses, sectors_under_way;  // used: those that have ever been
    u32 miss_room;                                              // of miss_cap, those that there is memory for
    u32 writes;                                                 // and atomics, not yet answered
    StoreQueue stores;
    StoredLine stored[STORED_LINES];
    u32 same_word;  // lanes of atomics that meet on a word, not yet answered
    SpunWord spun[SPUN_WORDS];
    u64 barrier_free;  // when the SM can note another arrival at a barrier
    Requests out;      // sorted by cycle
    Requests asked;    // those up to the middle of a window that the SM has passed
    Requests sent;     // those that the memory system has yet to serve
    Replies replies;   // that have not arrived
    FrontFill fill;
    Exec *failed;  // ahead of its turn: how; NULL: not
    Vec(u64) ended_at;
    union {
        struct {
            u64 counters[SM_COUNTER_COUNT], stalls[STALL_COUNT], slot_stalls[STALL_COUNT];
        };
        u64 values[SM_VALUES];
    };
    u32 run_tickets[MACHINE_RUNS];  // under way, by TimeRun.index
    u64 run_last[MACHINE_RUNS];     // when the last one was complete
    u64 not_eligible;               // cycles of STALL_NOT_SELECTED in which a warp could not have issued
    u64 integrated;                 // counters of residents are summed up to here
    u32 worker;                     // who runs it now (sm_of_worker)
    u64 tally_at;                   // ... bytes from TimeWarp.tallies to that one's
    u64 sampled;                    // behind the last cycle of PC samples that it has passed; 0: none
    u64 sample_next;                // ... the next one
    u8 apart[64];                   // from the next one, which may be another thread's
} Sm;
#define SM_SHARE (1ull << 32)

// An SM that has not been furnished is idle: its cycles pass, its caches are empty but for TimeMachine.code.
void sm_init(Sm *sm, TimeMachine *machine, const GpuModel *gpu, u32 id);
void sm_free(Sm *sm);
// Whose accounts what it does goes into.
static inline void sm_of_worker(Sm *sm, u32 worker) {
    sm->worker = worker;
    sm->tally_at = worker * sizeof(Tally);
}
// Runs until cycle `until`, or pauses earlier when a warp needs the front.
void sm_run(Sm *sm, u64 until);
void sm_flush(Sm *sm);               // caches empty
void sm_abandon(Sm *sm, u64 cycle);  // no warps, nothing under way
// Brings all lazy accounts up to `cycle`, which the SM has reached.
void sm_settle(Sm *sm, u64 cycle);
void sm_sum_up(Sm *sm);  // counters that are sums of others (sm_account.c): they lack what was counted since then
// ... among the values of an SM, or the sums of those of several with their cycles of Sm.not_eligible.
void sm_sum_up_values(u64 *values, u64 not_eligible, u64 issue_interval);
void sm_give_cta(Sm *sm, CtaStart start);  // it will be started, and its room is taken
void sm_start_ctas(Sm *sm);                // those that it was given: here and in the front
// Before a kernel begins: the code that the launch fetches ahead is there.
void sm_prefetch(Sm *sm, const LaunchCode *code);
WL_MUST_USE Status sm_furnish(Sm *sm);
bool sm_comes_in_time(const TimeWarp *w);  // what comes behind the warp's run depends on when it is executed
// The front has executed further for a warp in state TW_TRACE or TW_FRONT (or could not): `stop` says how it ended.
void sm_warp_traced(Sm *sm, TimeWarp *w, u64 cycle);
void sm_receive(Sm *sm, const MemReply *reply);
// Notes when it has something to do next, after it ran or was changed otherwise; what it sends apart.
void sm_note(Sm *sm);

// sm_memory.c, sm_queue.c, sm_memory_create.c
u64 memory_next(const Sm *sm);  // next event of pipes and replies
void memory_events(Sm *sm, u64 cycle);
// A warp issues a memory instruction, or one that goes through the same queue, which has room: Sm.tex for textures,
// Sm.lsu for all else.
void memory_issue(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle);
// When the warp may put an instruction into the queue of a unit; 0: now, NEVER: it will be woken.
u64 memory_full_until(Sm *sm, Pipe *pipe, TimeWarp *w, u64 cycle);
// When the instructions of a line can be issued; NEVER: the warp is told.
u64 memory_fetch(Sm *sm, TimeWarp *w, u32 line, u64 cycle);
WL_MUST_USE Status memory_init_sm(Sm *sm);
void memory_begins(Sm *sm);  // a launch begins: the L1 and the texture cache are empty

// sm_const.c
// When an operation that reads an immediate constant (TIME_IMMEDIATE) can be issued; NEVER: the warp is told.
u64 memory_immediate(Sm *sm, const TimeWarp *w, const TimeOp *op, u64 cycle);
// A load of a constant with a fixed address (TIME_FIXED): sets its result, or has a ticket do it.
void memory_fixed(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle);
WL_MUST_USE Status sm_set_l1(Sm *sm, u64 bytes);  // gives it another size, empty
void memory_abandon(Sm *sm);
void memory_free_sm(Sm *sm);

void sm_leave_places(Sm *sm, const TimeCta *cta);
void sm_leave_slot(Scheduler *s, u8 slot);  // sm_cta.c: its warp is over

// sm.c, for sm_memory.c and sm_cta.c
void sm_wake_slot(Sm *sm, TimeWarp *w, u64 cycle);   // a register that the warp may wait for has become known
void sm_printed(Sm *sm, TimeWarp *w, u64 cycle);     // printf
void sm_wake_other(Sm *sm, TimeWarp *w, u64 cycle);  // stores, groups, syncs, instructions
void sm_store_sent(Sm *sm, TimeWarp *w, u64 cycle);  // one of TimeWarp.queued
void sm_set_result(TimeWarp *w, const TimeCode *code, const TimeOp *op, u64 cycle, StallReason reason);
void sm_sync_done(Sm *sm, TimeCta *cta, u32 sync, u32 count, u64 cycle);

#endif
