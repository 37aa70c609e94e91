// SPDX-License-Identifier: Apache-2.0
// Issue: which warp, when, and what the others wait for (accounts: sm_account.h).
#include <string.h>

#include "sim/slow_path.h"
#include "sim/time/sm_account.h"
#include "sim/time/sm_fence.h"
#include "sim/time/sm_parts.h"
#include "sim/time/sm_print.h"
#include "sim/time/sm_spin.h"
#include "sim/time/sm_trace.h"
#include "sim/time/sm_unit.h"
#include "sim/time/sm_wait.h"

// --- what comes next for a warp ------------------------------------------------------------------------------------
// The latest of the registers that the next instruction reads or writes (TimeCode.late).
static inline u64 registers_ready(const TimeWarp *w, const TimeOp *op, u32 *latest) {
    const u16 *regs = code_of(w)->regs + op->regs;
    const u8 *late = code_of(w)->late + op->regs;
    u64 ready = 0;
    for (u32 i = 0; i < (u32)op->dst_count + op->src_count; i++) {
        u64 at = w->ready[regs[i]];
        at += at == NEVER ? 0 : late[i];
        if (at > ready) ready = at, *latest = regs[i];
    }
    return ready;
}

// Of TimeWarp.apart: constants have an interval of their own, all other accesses one together.
static inline u32 apart_of(const TimeOp *op) { return op->spaced > SPACED_SPECIAL; }

// How far behind it the next of these issues: ptxas has LDC and S2UR 8 cycles behind each other, 7 behind S2R.
static inline u64 apart_by(const GpuModel *gpu, const TimeOp *op) {
    if (op->spaced > SPACED_SPECIAL) return gpu->access_interval;
    return gpu->constant_interval - (op->spaced == SPACED_SPECIAL && gpu->constant_interval);
}

// BSYNC, behind lanes that diverged or a subroutine.
static inline bool is_sync(const TimeOp *op) { return op->kind == TIME_SYNC || op->kind == TIME_MEET; }

// What keeps a warp from an instruction whose code and operands are there.
static inline u64 warp_ready(const Sm *sm, TimeWarp *w, const TimeOp *op, u64 earliest, StallReason *reason) {
    if (op->spaced && op->spaced != SPACED_SPECIAL && w->apart[apart_of(op)] > earliest)
        earliest = w->apart[apart_of(op)], *reason = STALL_WAIT;
    if (is_sync(op) && w->settled + sm->gpu->settle_latency > earliest)
        earliest = w->settled + sm->gpu->settle_latency, *reason = STALL_WAIT;
    return earliest;
}

// A warp at a barrier goes on with arithmetic; what accesses memory or decides where it goes on waits. [On an H200
// stall samples of `barrier` lie at the first LDS, STS, LDG, LDC, ULDC, BRA, BSSY, EXIT or BAR behind
// BAR.SYNC.DEFER_BLOCKING, whatever arithmetic comes before; bench/hwref/h200-barriers.tsv, BF: 16 dependent FFMA go on
// while 32 warps arrive.]
static bool waits_for_barrier(const TimeOp *op) {
    const u32 free = 1u << UNIT_ALU | 1u << UNIT_FMA | 1u << UNIT_FMAHEAVY | 1u << UNIT_FP16 | 1u << UNIT_FP64;
    return op->kind != TIME_MATH || op->path != TIME_BY_UNIT || !(free >> op->unit & 1);
}

static void wait_for_barrier(Sm *sm, TimeWarp *w) {
    w->wait = WAIT_BARRIER;
    set_at(sm, w, TW_WAIT, NEVER);
}

// When the next instruction can issue, not before `earliest`; sets state and reason from `cycle` on.
static void plan(Sm *sm, TimeWarp *w, u64 cycle, u64 earliest, StallReason reason, u32 cause) {
    const TimeCode *code = code_of(w);
    const TimeOp *op = &code->ops[w->op];
    u32 line = w->op * code->insn_bytes / 128, latest = WL_NONE;
    FirstWaits first = begin_wait(w, op, earliest, reason);
    if (first.jumped && w->jumped > earliest) earliest = w->jumped, reason = STALL_BRANCH_RESOLVING;
    if (w->barred > earliest && waits_for_barrier(op)) {
        if (w->barred == NEVER) {
            stall_behind(sm, w, cycle, STALL_BARRIER, WL_NONE, &first);
            return wait_for_barrier(sm, w);
        }
        earliest = w->barred, reason = STALL_BARRIER, cause = w->barred_by;
    }
    if (line != w->line) {
        u64 fetched = memory_fetch(sm, w, line, first.jumped && w->jumped > cycle ? w->jumped : cycle);
        w->line = line;
        if (fetched == NEVER) {
            stall_behind(sm, w, cycle, STALL_NO_INSTRUCTIONS, WL_NONE, &first);
            w->wait = WAIT_FETCH;
            return set_at(sm, w, TW_WAIT, NEVER);
        }
        if (fetched > earliest) earliest = fetched, reason = STALL_NO_INSTRUCTIONS, cause = WL_NONE;
        first.fetched = fetched;
    }
    if (op->kind == TIME_IMMEDIATE) {
        u64 there = memory_immediate(sm, w, op, cycle);
        if (there == NEVER) {
            stall_behind(sm, w, cycle, STALL_IMC_MISS, WL_NONE, &first);
            w->wait = WAIT_CONSTANT;
            return set_at(sm, w, TW_WAIT, NEVER);
        }
        if (there > earliest) earliest = there, reason = STALL_IMC_MISS, cause = WL_NONE;
    }
    earliest = warp_ready(sm, w, op, earliest, &reason);
    u64 ready = registers_ready(w, op, &latest);
    if (ready > earliest) {
        earliest = ready;
        reason = (StallReason)(w->producer[latest] >> 24);
        cause = w->producer[latest] & 0xffffff;
    } else if (reason == STALL_WAIT) {
        cause = w->counted_for;
    } else if (cause == WL_NONE && (reason == STALL_BRANCH_RESOLVING || reason == STALL_LONG_SCOREBOARD)) {
        cause = w->held_by;
    }
    stall_behind(sm, w, cycle, reason, cause, &first);
    if (ready == NEVER) {
        w->wait = WAIT_SLOT;
        w->wait_slot = (u16)latest;
        return set_at(sm, w, TW_WAIT, NEVER);
    }
    set_at(sm, w, TW_READY, earliest);
}

static void warp_exit(Sm *sm, TimeWarp *w, u64 cycle);

bool sm_comes_in_time(const TimeWarp *w) {
    const SimProgram *program = code_of(w)->program;
    return w->to < program->insn_count && program->insns[w->to].flags & SIM_IN_TIME;
}

// The warp has issued (or begins): finds the next instruction.
static void advance(Sm *sm, TimeWarp *w, u64 cycle, u64 earliest, StallReason reason) {
    if ((w->op < w->op_end && next_op(w)) || sm_next_run(sm, w)) return plan(sm, w, cycle, earliest, reason, WL_NONE);
    bool done = warp_done(w->front);
    if (w->barred > earliest && (done || sm_comes_in_time(w))) {
        if (w->barred == NEVER) {
            stall(sm, w, cycle, STALL_BARRIER, WL_NONE);
            return wait_for_barrier(sm, w);
        }
        earliest = w->barred, reason = STALL_BARRIER;
    } else if (done) {
        return warp_exit(sm, w, cycle);
    }
    stall(sm, w, cycle, reason, WL_NONE);
    set_at(sm, w, TW_TRACE, earliest);
}

void sm_warp_traced(Sm *sm, TimeWarp *w, u64 cycle) {
    if (w->since == w->start) w->issued_before = sm->schedulers[w->sched].issued;
    bool stuck = w->state == TW_FRONT;
    if (w->ask == ASK_WANTED) w->ask = ASK_TRIED;
    bool more = sm_next_run(sm, w);
    if (more || warp_done(w->front)) {
        sm->stuck_warps -= stuck;
        return more ? plan(sm, w, cycle, cycle, w->reason, w->cause) : warp_exit(sm, w, cycle);
    }
    if (w->ask == ASK_WANTED) {  // at once: it has a trace, so nobody else need do anything first
        sm->stuck_warps -= stuck;
        return set_at(sm, w, TW_TRACE, cycle);
    }
    if (stuck) return;
    stall(sm, w, cycle, w->barred == NEVER ? STALL_BARRIER : STALL_SLEEPING, WL_NONE);
    set_at(sm, w, TW_FRONT, NEVER);
    sm->stuck_warps++;
}

// --- the end of warps and CTAs -------------------------------------------------------------------------------------
static void barrier_check(Sm *sm, TimeCta *cta, u32 id, u64 cycle, const TimeWarp *last);

// Its slot is free for another warp.
static void warp_leave(Sm *sm, TimeWarp *w, u64 cycle) {
    TimeCta *cta = w->cta;
    Scheduler *s = &sm->schedulers[w->sched];
    stall(sm, w, cycle, w->reason, w->cause);
    account_residents(sm, cycle);
    account_slots(sm, s, cycle, w);
    set_slot(s, w->slot, NEVER);
    sm_leave_slot(s, w->slot);
    sm->resident_warps--;
    w->state = TW_FREE;
    if (--cta->warps_left) return;
    sm->resident_ctas--;
    sm_leave_places(sm, cta);
    sm->share -= cta->share;
    sm->counters[SMC_CTAS_ENDED]++;
    if (vec_push(&sm->ended, (u32)(cta - sm->ctas)) != STATUS_OK || vec_push(&sm->ended_at, cycle) != STATUS_OK)
        sm->status = STATUS_NO_MEMORY;
}

// The warp has issued its exit, which takes as long as a branch that is taken and more, or has nothing left to issue.
static bool is_leaving(Sm *sm, TimeWarp *w, u64 cycle) {
    if (w->leaving) return true;
    w->leaving = true;
    if (w->op) w->op--;  // the exit, where samples see it
    if (!sm->gpu->exit_latency) return true;
    stall(sm, w, cycle, STALL_BRANCH_RESOLVING, WL_NONE);
    set_at(sm, w, TW_TRACE, cycle + sm->gpu->exit_latency);
    return false;
}

// The warp is over; it keeps its slot until its last store has read what it stores (store_drain), and while the SM has
// yet to send stores of it. PC samples on an H200 show that: 30 to 50 cycles where the queue is short, two thirds of
// the time where atomics on one word block it.
static void warp_exit(Sm *sm, TimeWarp *w, u64 cycle) {
    TimeCta *cta = w->cta;
    u32 lanes = (u32)__builtin_popcount(w->front->lanes);
    cta->exited += lanes - w->exited;
    w->exited = lanes;
    for (u32 id = 0; id < CTA_BARRIERS; id++)
        if (cta->barriers[id].open) barrier_check(sm, cta, id, cycle, w);
    if (!is_leaving(sm, w, cycle)) return;
    bool drains = w->stored && w->stored + sm->gpu->store_drain > cycle;
    if (!w->queued && !drains) return warp_leave(sm, w, cycle);
    stall(sm, w, cycle, STALL_DRAIN, w->last_store);
    if (drains) return set_at(sm, w, TW_TRACE, w->stored + sm->gpu->store_drain);
    w->wait = WAIT_DRAIN;
    set_at(sm, w, TW_WAIT, NEVER);
}

void sm_store_sent(Sm *sm, TimeWarp *w, u64 cycle) {
    w->queued--;
    if (!w->queued && w->state == TW_WAIT && w->wait == WAIT_DRAIN) warp_leave(sm, w, cycle);
}

// --- waking up -----------------------------------------------------------------------------------------------------
void sm_set_result(TimeWarp *w, const TimeCode *code, const TimeOp *op, u64 cycle, StallReason reason) {
    const u16 *regs = code->regs + op->regs;
    for (u32 i = 0; i < op->dst_count; i++) {
        w->ready[regs[i]] = cycle;
        w->producer[regs[i]] = op->pc | (u32)reason << 24;
    }
}

// Of several results that a warp waits for, the last one to come is the cause, also of the time before: without the
// others the wait would have been as long. Told apart by reason, which is what a sampler sees at the time. So as long
// as another one of that reason is still to come, the warp waits on and nothing is accounted for. True: it does.
static bool waits_on(TimeWarp *w) {
    u32 latest = w->wait_slot;
    u64 ready = registers_ready(w, &code_of(w)->ops[w->op], &latest);
    if (w->producer[latest] >> 24 != w->reason) return false;
    w->cause = w->producer[latest] & 0xffffff;
    w->wait_slot = (u16)latest;
    return ready == NEVER;
}

void sm_wake_slot(Sm *sm, TimeWarp *w, u64 cycle) {
    if (w->state != TW_WAIT || w->wait != WAIT_SLOT || w->ready[w->wait_slot] == NEVER) return;
    u64 known = w->ready[w->wait_slot];
    if (waits_on(w)) return;
    plan(sm, w, cycle, known > cycle ? known : cycle, w->reason, w->cause);
}

// All groups but the newest `allowed` ones are complete.
static bool groups_done(const TimeWarp *w, u32 allowed) {
    for (u32 i = allowed; i < w->groups && i < GROUPS; i++)
        if (w->group_loads[(w->groups - 1 - i) % GROUPS]) return false;
    return true;
}

static bool wait_is_over(const TimeWarp *w) {
    switch (w->wait) {
    case WAIT_STORES: return w->stores == 0;
    case WAIT_GROUP: return groups_done(w, w->wait_slot);
    case WAIT_SYNC: return w->cta->sync_done[w->wait_slot] >= w->wait_made;
    default: return false;
    }
}

void sm_wake_other(Sm *sm, TimeWarp *w, u64 cycle) {
    if (w->state == TW_WAIT && (w->wait == WAIT_FETCH || w->wait == WAIT_CONSTANT))
        return plan(sm, w, cycle, cycle, w->reason, w->cause);
    if (w->state != TW_WAIT || !wait_is_over(w)) return;
    stall(sm, w, cycle, w->reason, w->cause);  // up to now it waited at this instruction
    w->op++;
    if (w->wait == WAIT_STORES) return advance(sm, w, cycle, fence_end(sm, w, cycle), STALL_MEMBAR);
    advance(sm, w, cycle, cycle, STALL_WAIT);
}

void sm_sync_done(Sm *sm, TimeCta *cta, u32 sync, u32 count, u64 cycle) {
    cta->sync_done[sync] += count;
    for (u32 i = 0; i < sm->warp_count; i++) {
        TimeWarp *w = &sm->warps[i];
        if (w->cta == cta && w->state == TW_WAIT && w->wait == WAIT_SYNC && w->wait_slot == sync)
            sm_wake_other(sm, w, cycle);
    }
}

// --- barriers ------------------------------------------------------------------------------------------------------
static void barrier_release(Sm *sm, TimeCta *cta, u32 id, u64 cycle, const TimeWarp *last) {
    u32 cause = last->delay_pc != WL_NONE ? last->delay_pc : last->barrier_pc;
    cta->barriers[id] = (TimeBarrier){0};
    for (u32 i = 0; i < sm->warp_count; i++) {
        TimeWarp *w = &sm->warps[i];
        if (w->cta != cta || w->state == TW_FREE || w->barrier != id) continue;
        w->at_barrier = 0;
        if (w->barred != NEVER) continue;
        bool waits = w->state == TW_WAIT && w->wait == WAIT_BARRIER;
        w->barred = (sm->barrier_free > cycle ? sm->barrier_free : cycle + 1) + sm->gpu->barrier_latency;
        w->barred_by = w != last ? cause : WL_NONE;
        if (w->barred_by != WL_NONE && w->untold)
            tally_edge(tally_of(sm, w), w->barrier_pc, w->barred_by, STALL_BARRIER, w->untold, 0);
        w->untold = 0;
        w->delay_from = w->delay_next = w->barred;
        w->delay_pc = WL_NONE;
        if (!waits) continue;
        w->cause = w->barred_by;
        if (w->op < w->op_end)
            plan(sm, w, cycle + 1, cycle + 1, STALL_BARRIER, WL_NONE);
        else
            advance(sm, w, cycle + 1, cycle + 1, STALL_BARRIER);
    }
}

static void barrier_check(Sm *sm, TimeCta *cta, u32 id, u64 cycle, const TimeWarp *last) {
    TimeBarrier *b = &cta->barriers[id];
    u32 expected = b->expected ? b->expected : cta->threads - cta->exited;
    if (b->arrived >= expected) barrier_release(sm, cta, id, cycle, last);
}

// Lanes of the warp wait at a barrier (TimeWarp.barrier). The warp itself does when it has no others left.
static void wait_at_barrier(TimeWarp *w, u32 pc) {
    bool all = w->at_barrier && w->at_barrier + w->exited >= (u32)__builtin_popcount(w->front->lanes);
    if (all) w->barred = NEVER, w->barrier_pc = pc;
}

// Lanes are over, which barriers need not wait for.
static void issue_exit(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    OpRun run = run_of(w, op);
    const u64 *access = next_access(w, &run, op);
    if (!access) return;
    u32 lanes = trace_access(*access).lanes;
    w->exited += lanes;
    w->cta->exited += lanes;
    wait_at_barrier(w, op->pc);
    for (u32 id = 0; id < CTA_BARRIERS; id++)
        if (w->cta->barriers[id].open) barrier_check(sm, w->cta, id, cycle, w);
}

static void issue_barrier(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    OpRun run = run_of(w, op);
    const u64 *access = next_access(w, &run, op);
    if (!access) return;  // predicated off
    TraceAccess a = trace_access(*access);
    u32 id = a.wavefronts;
    TimeBarrier *b = &w->cta->barriers[id];
    b->open = true;
    b->arrived += a.lanes;
    b->expected = (u32)access[1];
    if (a.bytes) {
        sm->counters[SMC_BARRIER_WAITS]++;
        w->at_barrier += a.lanes;
        w->barrier = (u8)id;
        wait_at_barrier(w, op->pc);
    }
    u64 noted = sm->barrier_free > cycle ? sm->barrier_free : cycle;
    sm->barrier_free = noted + sm->gpu->barrier_arrival;
    barrier_check(sm, w->cta, id, cycle, w);
}

// mbarriers: true when the warp has to wait.
static bool issue_sync(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    OpRun run = run_of(w, op);
    for (const u64 *access; (access = next_access(w, &run, op));) {
        TraceAccess a = trace_access(*access);
        if (a.space != TRACE_SYNC || a.wavefronts == SYNC_BULK) continue;
        if (a.wavefronts != SYNC_WAIT) {
            sm_sync_done(sm, w->cta, a.lanes, 1, cycle);
        } else if (w->cta->sync_done[a.lanes] < (u32)access[1]) {
            stall(sm, w, cycle + 1, STALL_LONG_SCOREBOARD, WL_NONE);
            w->wait = WAIT_SYNC;
            w->wait_slot = a.lanes;
            w->wait_made = (u32)access[1];
            set_at(sm, w, TW_WAIT, NEVER);
            return true;
        }
    }
    return false;
}

// --- printf --------------------------------------------------------------------------------------------------------
void sm_printed(Sm *sm, TimeWarp *w, u64 cycle) {
    u64 own = print_cycles(sm, w);
    stall(sm, w, cycle, STALL_LONG_SCOREBOARD, w->held_by);
    w->op++;
    advance(sm, w, cycle, cycle + own, STALL_LONG_SCOREBOARD);
}

// --- groups of asynchronous work -----------------------------------------------------------------------------------
// Loads that are under way are those of the group w->groups; it is closed, and the next one begins.
static void commit_group(TimeWarp *w) { w->groups++; }

static bool wait_for(Sm *sm, TimeWarp *w, u64 cycle, WaitKind kind, u32 what, StallReason reason) {
    w->wait = (u8)kind;
    w->wait_slot = (u16)what;
    if (wait_is_over(w)) return false;
    stall(sm, w, cycle + 1, reason, WL_NONE);
    set_at(sm, w, TW_WAIT, NEVER);
    return true;
}

static bool issue_fence(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    bool waits = fence_begin(sm, w, op, cycle);
    return waits && wait_for(sm, w, cycle, WAIT_STORES, op->extra, STALL_MEMBAR);
}

// --- issuing -------------------------------------------------------------------------------------------------------
static const u8 unit_counter[UNIT_COUNT] = {
    [UNIT_ALU] = SMC_UNIT_ALU,   [UNIT_FMA] = SMC_UNIT_FMA,   [UNIT_FMAHEAVY] = SMC_UNIT_FMAHEAVY,
    [UNIT_FP64] = SMC_UNIT_FP64, [UNIT_FP16] = SMC_UNIT_FP16, [UNIT_XU] = SMC_UNIT_XU,
    [UNIT_LSU] = SMC_UNIT_LSU,   [UNIT_TEX] = SMC_UNIT_TEX,   [UNIT_TENSOR] = SMC_UNIT_TENSOR,
    [UNIT_ADU] = SMC_UNIT_ADU,   [UNIT_CBU] = SMC_UNIT_CBU,   [UNIT_UNIFORM] = SMC_UNIT_UNIFORM,
    [UNIT_TMA] = SMC_UNIT_LSU,   [UNIT_NONE] = SMC_UNIT_ALU};

// Books an issue at `cycle`.
static void count_issue(Sm *sm, Scheduler *s, TimeWarp *w, const TimeOp *op, u64 cycle) {
    Tally *tally = tally_of(sm, w);
    u64 interval = sm->gpu->issue_interval;
    account_slots(sm, s, cycle, w);
    charge_issue(sm, s, w, tally, op->pc, cycle);
    if (WL_UNLIKELY(cycle == sm->sample_next)) account_issue_sample(sm, s, w, op->pc, cycle);
    s->issued += interval;
    w->issued_before++;
    w->since = cycle + 1;
    s->accounted = s->busy = cycle + interval;
    sm->counters[w->lane_counter]++;
    sm->counters[unit_counter[op->unit]]++;
    tally->issued[op->pc]++;  // TimePc.stalls has these cycles, too, in the end
}

static bool throttle(Sm *sm, Scheduler *s, TimeWarp *w, u64 cycle, u64 until, StallReason reason) {
    charge_in_vain(sm, s, w, code_of(w)->ops[w->op].pc, cycle);
    w->since = cycle;
    w->reason = (u8)reason;
    w->cause = WL_NONE;
    set_slot(s, w->slot, until);
    if (until < s->next) s->next = until;
    return false;
}

static StallReason result_reason(const TimeOp *op) {
    return op->flags & TIME_SHORT ? STALL_SHORT_SCOREBOARD : STALL_WAIT;
}

// Does what the instruction does to the warp. True: the warp waits or is elsewhere; it must not go on by itself.
static bool issue_effect(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    switch (op->kind) {
    case TIME_BARRIER:
    case TIME_ARRIVE: issue_barrier(sm, w, op, cycle); return false;
    case TIME_MBARRIER:
    case TIME_MBARRIER_WAIT: return issue_sync(sm, w, op, cycle);
    case TIME_EXIT: issue_exit(sm, w, op, cycle); return false;
    case TIME_FENCE: return issue_fence(sm, w, op, cycle);
    case TIME_INVALIDATE: cache_clear(sm->l1); return false;
    case TIME_PRINT: return print_begin(sm, w, op, cycle);
    case TIME_ASYNC_COMMIT: commit_group(w); return false;
    case TIME_ASYNC_WAIT: return wait_for(sm, w, cycle, WAIT_GROUP, op->extra, STALL_LONG_SCOREBOARD);
    default: return false;
    }
}

// wgmma: the groups end at known times.
static u64 issue_gmma(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    Scheduler *s = &sm->schedulers[w->sched];
    if (op->kind == TIME_GMMA) {
        u64 begin = s->unit_free[UNIT_TENSOR] > cycle ? s->unit_free[UNIT_TENSOR] : cycle;
        s->unit_free[UNIT_TENSOR] = begin + op->interval;
        w->gmma_last = begin + op->latency;
        if (op->extra) w->gmma_group[w->gmma_groups++ % GROUPS] = w->gmma_last;
    } else if (op->kind == TIME_GMMA_COMMIT) {
        w->gmma_group[w->gmma_groups++ % GROUPS] = w->gmma_last;
    } else if (w->gmma_groups > op->extra) {
        u64 done = w->gmma_group[(w->gmma_groups - op->extra - 1) % GROUPS];
        if (done > cycle) return done;
    }
    return cycle + 1;
}

// A call of the runtime, one lane after the other.
static u64 runtime_cycles(const GpuModel *gpu, const TimeOp *op, u32 lanes) {
    const u64 cycles[CALL_COUNT][2] = {[CALL_MALLOC] = {gpu->heap_malloc, gpu->heap_malloc_lane},
                                       [CALL_FREE] = {gpu->heap_free, gpu->heap_free_lane},
                                       [CALL_LAUNCH] = {gpu->child_launch, gpu->child_launch_lane}};
    return cycles[op->extra][0] + (lanes - 1) * cycles[op->extra][1];
}

// By SlowPath: of the subroutine of a division or root, cycles from the branch to its return and instructions issued.
static const struct Subroutine {
    u16 cycles, issued;
} subroutines[SLOW_PATHS] = {
#define TIME_SLOW_PATH(path, cycles, issued) [path] = {cycles, issued},
#include "sim/time/timing.def"
#undef TIME_SLOW_PATH
};

// What the values of the lanes make of the operation; 0: nothing.
static u32 noted_of(const TimeWarp *w, const TimeOp *op, TraceSpace space) {
    OpRun run = run_of(w, op);
    for (const u64 *access; (access = next_access(w, &run, op));) {
        TraceAccess a = trace_access(*access);
        if (a.space == space) return a.wavefronts;
    }
    return 0;
}

static u32 step_cycles(u32 path) { return subroutines[path].cycles / (subroutines[path].issued + 1u); }

// The branch to a subroutine has been issued, or one of its instructions, which are this one again. True: the next one.
static bool issue_subroutine(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    if (!w->steps) w->slow_path = (u8)noted_of(w, op, TRACE_SLOW);
    if (w->slow_path == SLOW_NONE) return false;
    w->steps = w->steps ? w->steps - 1 : subroutines[w->slow_path].issued;
    w->held_by = op->pc;
    if (w->steps) plan(sm, w, cycle + 1, cycle + step_cycles(w->slow_path), STALL_WAIT, WL_NONE);
    return w->steps;
}

// From a branch that is taken to the next instruction.
static u64 taken_latency(const GpuModel *gpu, const TimeOp *op) {
    bool indirect = op->flags & TIME_INDIRECT && gpu->branch_indirect;
    return (u64)(indirect ? gpu->branch_indirect : gpu->branch_taken);
}

// Behind a subroutine's last instruction, or the branch around it.
static u64 issue_around(const Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle, StallReason *reason) {
    const struct Subroutine *s = &subroutines[w->slow_path];
    if (w->slow_path != SLOW_NONE) return cycle + s->cycles - s->issued * step_cycles(w->slow_path);
    if (!sm->gpu->branch_latency) return cycle + op->gap;
    w->held_by = op->pc;
    *reason = STALL_BRANCH_RESOLVING;
    return cycle + (u64)(sm->gpu->branch_taken ? sm->gpu->branch_taken : sm->gpu->branch_latency);
}

// When the bit of the GPU's timer that a nanosleep waits for has changed.
static u64 sleep_end(const Sm *sm, const TimeWarp *w, const TimeOp *op, u64 cycle) {
    u32 bit = noted_of(w, op, TRACE_SLEEP);
    u64 mhz = (u64)sm->gpu->clock_mhz;
    return bit ? ((((cycle * 1000 / mhz) >> bit) + 1) << bit) * mhz / 1000 + 1 : cycle;
}

static u64 next_issue(const Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle, StallReason *reason) {
    u32 lanes = w->lanes;
    *reason = STALL_WAIT;
    switch (op->kind) {
    case TIME_FENCE: return *reason = STALL_MEMBAR, w->fenced;
    case TIME_INVALIDATE: return *reason = STALL_MEMBAR, cycle + sm->gpu->fence_cta;
    case TIME_CLUSTER_ARRIVE: return *reason = STALL_BARRIER, cycle + 1 + sm->gpu->cluster_arrive;
    case TIME_CLUSTER_WAIT: return *reason = STALL_BARRIER, cycle + 1 + sm->gpu->cluster_wait;
    case TIME_BULK: return cycle + 1 + sm->gpu->bulk_ask;
    case TIME_SLEEP: return *reason = STALL_SLEEPING, sleep_end(sm, w, op, cycle) + 1 + op->latency;
    case TIME_SLOW: return issue_around(sm, w, op, cycle, reason);
    default: break;
    }
    if (op->kind == TIME_RUNTIME) {
        w->held_by = op->pc;
        return *reason = STALL_LONG_SCOREBOARD, cycle + runtime_cycles(sm->gpu, op, lanes);
    }
    bool branch = op->kind == TIME_BRANCH, spin = op->kind == TIME_SPIN_BRANCH;
    bool sync = is_sync(op) || op->kind == TIME_SPIN_SYNC;
    if (branch || spin || sync) w->held_by = op->pc;
    if (branch && op->pc + 1 == w->to && sm->gpu->branch_taken)
        w->behind = w->to, w->jumped = cycle + taken_latency(sm->gpu, op);
    if (sync && op->kind != TIME_SYNC && sm->gpu->sync_latency) {
        w->until[PART_WAIT] = w->until[PART_FETCH] = cycle + sm->gpu->branch_latency;
        return *reason = STALL_BRANCH_RESOLVING, cycle + sm->gpu->sync_latency;
    }
    if ((!branch && !spin) || !sm->gpu->branch_latency) return cycle + op->gap;
    if (!sm->gpu->branch_taken) *reason = STALL_BRANCH_RESOLVING;  // else only what a taken one has beyond
    return cycle + sm->gpu->branch_latency;
}

// Of a loop around a compare-and-swap, the branch or BSYNC has been issued. True: the warp goes round again: at once
// when none of its lanes is done, else when those that are wait at BSYNC.
static bool issue_spin(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    bool sync = op->kind == TIME_SPIN_SYNC;
    if (!w->spin_more || (w->spin_parts && !sync)) return false;
    w->held_by = op->pc;
    w->op = spin_begin(code_of(w), w->op);
    u64 latency = sync ? sm->gpu->sync_latency : sm->gpu->branch_taken;
    plan(sm, w, cycle + 1, cycle + (latency ? latency : 1), STALL_BRANCH_RESOLVING, WL_NONE);
    return true;
}

// False: the queue of its unit has no room for it.
static bool enter_queue(Sm *sm, Scheduler *s, TimeWarp *w, const TimeOp *op, u64 cycle) {
    Pipe *pipe = op->unit == UNIT_TEX ? &sm->tex : &sm->lsu;
    u64 full = memory_full_until(sm, pipe, w, cycle);
    StallReason reason = pipe == &sm->tex              ? STALL_TEX_THROTTLE
                         : op->spaced == SPACED_ACCESS ? STALL_LG_THROTTLE
                                                       : STALL_MIO_THROTTLE;
    return !full || throttle(sm, s, w, cycle, full, reason);
}

// The register file hands out GpuModel.register_reads registers a cycle; what it is late with less than a cycle's
// does not show. Some instructions hold the dispatcher for longer than their registers take: their TimeOp.reads says
// so. False: the dispatcher is held, and nothing issues in this cycle.
static bool reads_registers(Sm *sm, Scheduler *s, TimeWarp *w, const TimeOp *op, u64 cycle) {
    u64 rate = sm->gpu->register_reads, now = cycle * rate;
    if (s->reads < now + rate) {
        s->reads = (s->reads > now ? s->reads : now) + op->reads;
        return true;
    }
    s->busy = s->reads / rate;
    return throttle(sm, s, w, cycle, s->busy, STALL_DISPATCH);
}

static bool try_issue(Sm *sm, Scheduler *s, TimeWarp *w, u64 cycle) {
    const TimeCode *code = code_of(w);
    const TimeOp *op = &code->ops[w->op];
    bool memory = op->path == TIME_BY_QUEUE;
    if (op->path == TIME_BY_UNIT) {
        u64 free = unit_free_for(sm->gpu, s, w, op, cycle);
        if (free > cycle) {
            bool held = w->reason == unit_throttle(op) && unit_hold(sm, s, w, op, cycle);
            return !held && throttle(sm, s, w, cycle, free, unit_throttle(op));
        }
        if (WL_UNLIKELY(is_held(s, w))) unit_let_go(sm, s, w, cycle);
    }
    if ((op->reads | s->reads) && !reads_registers(sm, s, w, op, cycle)) return false;
    if (memory) {
        if (!enter_queue(sm, s, w, op, cycle)) return false;
        memory_issue(sm, w, op, cycle);
    }
    count_issue(sm, s, w, op, cycle);
    if (op->spaced) w->apart[apart_of(op)] = cycle + apart_by(sm->gpu, op);
    if (!memory) {
        u64 start = op->path == TIME_BY_UNIT ? unit_take(sm->gpu, s, w, op, cycle) : cycle;
        if (WL_UNLIKELY(s->held) && op->path == TIME_BY_UNIT) unit_note(s, op, cycle, start);
        if (op->kind == TIME_FIXED)
            memory_fixed(sm, w, op, cycle);
        else if (op->dst_count) {
            sm_set_result(w, code, op, start + op->latency, result_reason(op));
            if (start + op->latency > w->settled && !(op->flags & TIME_SHORT)) w->settled = start + op->latency;
        }
    }
    if (op->path == TIME_BY_TENSOR || op->kind == TIME_GMMA_COMMIT || op->kind == TIME_GMMA_WAIT) {
        u64 go = issue_gmma(sm, w, op, cycle);
        w->op++;
        advance(sm, w, cycle + 1, go, STALL_GMMA);
        return true;
    }
    if (op->kind == TIME_SYNC && w->arrivals) {
        w->arrivals--;
        w->held_by = op->pc;
        plan(sm, w, cycle + 1, cycle + 1 + sm->gpu->sync_latency, STALL_BRANCH_RESOLVING, WL_NONE);
        return true;
    }
    if (op->kind == TIME_SLOW && issue_subroutine(sm, w, op, cycle)) return true;
    if ((op->kind == TIME_SPIN_BRANCH || op->kind == TIME_SPIN_SYNC) && issue_spin(sm, w, op, cycle)) return true;
    if (issue_effect(sm, w, op, cycle)) return true;
    StallReason reason;
    u64 go = next_issue(sm, w, op, cycle, &reason);
    w->op++;
    advance(sm, w, cycle + 1, go, reason);
    return true;
}

// --- choosing ------------------------------------------------------------------------------------------------------
// The oldest, of slots none of which lies in front of *at in the order of age.
static u32 oldest(const Scheduler *s, u64 ready, u32 *at) {
    while (!(ready >> s->by_age[*at] & 1)) ++*at;
    return s->by_age[*at];
}

static u32 after_last(const Scheduler *s, u64 ready) {
    u64 later = s->last + 1 < 64 ? ready & (NEVER << (s->last + 1)) : 0;
    return (u32)__builtin_ctzll(later ? later : ready);
}

// Two-level: only the first warps, by age, of those that do not wait for something long take turns.
static u64 active_set(const Sm *sm, const Scheduler *s, u64 ready) {
    u64 active = 0, left = 0;
    u32 at = 0;
    for (u32 i = 0; i < s->slots; i++)
        if (s->warps[i] && s->warps[i]->state != TW_WAIT) left |= 1ull << i;
    for (u32 n = 0; n < sm->gpu->two_level_active && left; n++) {
        u32 i = oldest(s, left, &at);
        active |= 1ull << i;
        left &= ~(1ull << i);
    }
    return active & ready ? active & ready : ready;
}

static u32 same_again(const Scheduler *s, u64 ready) { return ready >> s->last & 1 ? s->last : after_last(s, ready); }

// Those of the CTA that came first: on an H200 the older of two CTAs of an SM ends first in 1,270 of 1,270 pairs of
// which the newer has the lower place (chains, loops and loads, 8,448 CTAs of 256 threads, 2026-11-23).
// Warps of the next ones have turns as long as these are fewer than GpuModel.two_level_active, but for what waits for
// memory (h200-cta-ends.tsv, fma).
static u64 first_ctas(const Sm *sm, const Scheduler *s) {
    u64 left = s->ready | s->waiting | s->held, set = 0;
    for (u32 by_age = 0; left && (u64)__builtin_popcountll(set) < sm->gpu->two_level_active;) {
        u64 peers = s->peers[oldest(s, left, &by_age)];
        set |= left & peers;
        left &= ~peers;
    }
    return set;
}

static u64 of_first(const Scheduler *s, u64 first, u64 ready, u32 *at) {
    return first & ready ? first & ready : ready & s->peers[oldest(s, ready, at)];
}

// One of `ready`, which only loses slots from one call to the next; *at is 0 at first. `first`: first_ctas.
static u32 choose(const Sm *sm, const Scheduler *s, u64 ready, u64 first, u32 *at) {
    switch ((SchedulerPolicy)sm->gpu->scheduler) {
    case POLICY_LRR: return after_last(s, ready);
    case POLICY_GTO: return ready >> s->last & 1 ? s->last : oldest(s, ready, at);
    case POLICY_GRR: return same_again(s, ready);
    case POLICY_CTA_GRR: return same_again(s, of_first(s, first, ready, at));
    case POLICY_TWO_LEVEL: return after_last(s, active_set(sm, s, ready));
    default: return oldest(s, ready, at);
    }
}

// Slots whose time has come become ready; the least time of the others.
static u64 look_at_slots(Scheduler *s, u64 cycle) {
    u64 next = NEVER;
    for (u64 left = s->waiting; left; left &= left - 1) {
        u64 at = s->at[__builtin_ctzll(left)];
        if (at > cycle)
            next = at < next ? at : next;
        else
            s->ready |= left & -left;
    }
    s->waiting &= ~s->ready;
    return next;
}

// One cycle of a scheduler. False: a warp needs the front first.
static __attribute__((noinline)) bool schedule(Sm *sm, Scheduler *s, u64 cycle) {
    if (s->busy > cycle) return s->next = s->busy, true;
    u64 next = look_at_slots(s, cycle), traced = 0;
    for (u64 left = s->ready & s->tracing; left; left &= left - 1) {
        TimeWarp *w = s->warps[__builtin_ctzll(left)];
        if (wants_trace(w)) return false;
        sm_warp_traced(sm, w, cycle);
        if (w->state == TW_TRACE && wants_trace(w)) return false;
        traced |= left & -left;
    }
    if (traced) next = look_at_slots(s, cycle);
    s->next = NEVER;  // set_at lowers it
    u64 ready = s->ready;
    if (WL_UNLIKELY(s->held)) ready |= unit_ready(s, cycle);
    u64 first = ready && sm->gpu->scheduler == POLICY_CTA_GRR ? first_ctas(sm, s) : 0;
    u32 by_age = 0;
    while (ready && s->busy <= cycle) {
        u32 i = choose(sm, s, ready, first, &by_age);
        ready &= ~(1ull << i);
        if (try_issue(sm, s, s->warps[i], cycle)) {
            s->last = i;
            break;
        }
    }
    if (WL_UNLIKELY(s->held)) ready &= ~s->held, next = unit_next(s, cycle, next);
    if (ready && cycle + 1 < next) next = cycle + 1;
    if (next < s->next) s->next = next;
    if (s->next < s->busy) s->next = s->busy;
    return true;
}

static u64 next_of_schedulers(const Sm *sm) {
    u64 next = NEVER;
    for (u32 i = 0; i < sm->scheduler_count; i++)
        if (sm->schedulers[i].next < next) next = sm->schedulers[i].next;
    return next;
}

void sm_note(Sm *sm) {
    u64 memory = memory_next(sm), next = next_of_schedulers(sm);
    sm->next = memory < next ? memory : next;
    sm->busy = sm->resident_warps || sm->replies.next != NEVER || sm->lsu.count || sm->stores.count || sm->tex.count;
}

void sm_run(Sm *sm, u64 until) {
    sm->paused = false;
    for (;;) {
        u64 memory = memory_next(sm), cycle = next_of_schedulers(sm);
        if (memory < cycle) cycle = memory;
        if (cycle < sm->now) cycle = sm->now;
        if (cycle >= until) break;
        sm->now = cycle;
        if (cycle > sm->sample_next) account_sample_cycles(sm, cycle);
        if (memory <= cycle) memory_events(sm, cycle);
        for (u32 i = 0; i < sm->scheduler_count; i++)
            if (sm->schedulers[i].next <= cycle && !schedule(sm, &sm->schedulers[i], cycle)) {
                sm->paused = true;
                return;
            }
    }
    sm->now = until;
}
