// SPDX-License-Identifier: Apache-2.0
// The functional front: executes warps ahead of the timing model. What other CTAs could notice is executed in a fixed
// order, one SM after the other. What is a CTA's own affair - registers, shared and local memory, loads from global
// memory that nobody has written to since the machine was last idle - each SM executes by itself before (FRONT_AHEAD),
// on any thread: the outcome is the same in any order. The first write to an allocation that was only read so far waits
// until no SM executes (TimeMachine.still); from then on it is read in order, too.
#include <stddef.h>
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sample.h"
#include "sim/time/sm_trace.h"

// PTX instructions that a warp executes at a time; words of its trace with which it is far enough ahead.
// A loop around mbarrier.try_wait has so many instructions at most.
enum { FRONT_BUDGET = 256, FRONT_WORDS = 512, POLL_MOST = 8 };

Status front_fault(Grid *g, Diag *diag) {
    g->faulting_pc = (u32)((const PcState *)(const void *)g->exec.count - g->exec.states);
    fault_explain(g, diag);
    return STATUS_FAULT;
}

// --- ahead ---------------------------------------------------------------------------------------------------------
static bool may_go_ahead(const TimeRun *run) {
    const Grid *g = run->grid;
    if (run->machine->sim->config.sample || (run->sample && run->sample->whole)) return false;
    return g->program->apart && g->cluster_size == 1 && !g->exec.check;
}

static void stay_in_order(TimeRun *run) {
    front_collect(run);
    front_end(run);
}

// Runs that are under way together go ahead, or none of them does.
Status front_begin(TimeRun *run) {
    TimeMachine *m = run->machine;
    bool ahead = may_go_ahead(run);
    if (m->runs.len == 0) {  // a new period: nothing has been written to
        m->sim->period++;
        m->sim->generation++;
    }
    for (u32 i = 0; i < m->runs.len; i++) ahead &= m->runs.data[i]->ahead != NULL;
    if (!ahead) {
        for (u32 i = 0; i < m->runs.len; i++) stay_in_order(m->runs.data[i]);
        return STATUS_OK;
    }
    u32 workers = machine_workers(m), count = run->grid->program->insn_count;
    run->ahead = mem_zero(workers, sizeof *run->ahead);
    if (!run->ahead) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < workers; i++) {
        FrontAhead *a = &run->ahead[i];
        a->states = mem_zero(count, sizeof *a->states);
        if (!a->states) return STATUS_NO_MEMORY;
        a->exec = run->grid->exec;
        a->exec.states = a->states;
        a->exec.ahead = true;
        a->exec.alone = false;
    }
    run->grid->apart = true;
    return STATUS_OK;
}

static void add_counters(PcCounters *to, const PcCounters *from) {
    u64 sum[sizeof *to / sizeof(u64)], more[sizeof *to / sizeof(u64)];
    memcpy(sum, to, sizeof sum);
    memcpy(more, from, sizeof more);
    for (u32 i = 0; i < WL_COUNT(sum); i++) sum[i] += more[i];
    memcpy(to, sum, sizeof sum);
}
_Static_assert(sizeof(PcCounters) % sizeof(u64) == 0, "counters are u64");

void front_collect(TimeRun *run) {
    Grid *g = run->grid;
    for (u32 i = 0; run->ahead && i < machine_workers(run->machine); i++) {
        FrontAhead *a = &run->ahead[i];
        for (u32 pc = 0; pc < g->program->insn_count; pc++) {
            add_counters(&g->states[pc].counters, &a->states[pc].counters);
            a->states[pc].counters = (PcCounters){0};
        }
        g->executed += a->executed;
        a->executed = 0;
    }
}

void front_end(TimeRun *run) {
    for (u32 i = 0; run->ahead && i < machine_workers(run->machine); i++) mem_free(run->ahead[i].states);
    mem_free(run->ahead);
    run->ahead = NULL;
    run->grid->apart = false;
}

// Executing it has failed before it was the SM's turn: it is told then. Until then the thread executes others.
static Status keep_fault(Sm *sm, Exec *x) {
    sm->failed = mem_alloc(sizeof *sm->failed);
    if (!sm->failed) return STATUS_NO_MEMORY;
    *sm->failed = *x;
    x->fault = (Fault){.kind = FAULT_NONE};
    return STATUS_OK;
}

static Status tell_fault(const Sm *sm, Diag *diag) {
    Grid *g = sm->failed->grid;
    g->exec = *sm->failed;
    return front_fault(g, diag);
}

// --- turns ---------------------------------------------------------------------------------------------------------
// What a warp is executed further at a time. The first times differ from SM to SM, so that CTAs that began together do
// not need the front together: it would keep all SMs waiting, and then have nothing to do.
enum { FIRST_TURNS = 8 };
static u64 front_budget(const Sm *sm, const Warp *warp) {
    return warp->executed ? FRONT_BUDGET : FRONT_BUDGET / FIRST_TURNS * (1 + sm->id % FIRST_TURNS);
}

static u32 words_ahead(const Trace *t) { return t->complete - t->begin; }

static Exec *exec_of(const Sm *sm, const TimeRun *run, FrontWay way, u64 **executed) {
    if (way == FRONT_AHEAD) {
        *executed = &run->ahead[sm->worker].executed;
        return &run->ahead[sm->worker].exec;
    }
    *executed = &run->grid->executed;
    run->grid->exec.alone = sm->machine->still;
    return &run->grid->exec;
}

// One turn of a warp, or the rest of it, up to its next load from global memory: as without timing, so that kernels
// whose warps depend on taking turns compute the same. WARP_LATER: it is not over.
static Status turn(Sm *sm, const TimeRun *run, Warp *warp, u64 cycle, FrontWay way, WarpStop *stop, Diag *diag) {
    Cta *cta = warp->cta;
    u64 before = warp->executed, *executed;
    Exec *x = exec_of(sm, run, way, &executed);
    warp->trace->clock = cycle;
    x->shared = cta->shared;
    x->shared_size = cta->shared_size;
    *stop = warp_run_apart(x, warp, &sm->fill.left);
    *executed += warp->executed - before;
    if (*stop == WARP_FAULT && way == FRONT_AHEAD) return keep_fault(sm, x);
    if (*stop == WARP_FAULT) return front_fault(run->grid, diag);
    if (cta->exited_threads == cta->threads) cta->used = false;
    return warp->trace->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

// Whether a turn got anywhere: not if all that was done is another try of what has failed before.
static bool has_come_further(const Warp *warp, u64 began, WarpStop stop) {
    return warp->executed - began > (stop == WARP_POLLED ? POLL_MOST : 0);
}

// What comes next depends on when it is executed, and it is asked for when that time has come: what a clock says behind
// a nanosleep, or a barrier.
static bool waits_for_its_time(const Sm *sm, const TimeWarp *w, u64 cycle) {
    bool later = w->state == TW_TRACE && sm->schedulers[w->sched].at[w->slot] > cycle;
    bool barrier = w->state == TW_WAIT && w->wait == WAIT_BARRIER;
    return (later || barrier) && trace_empty(&w->trace) && sm_comes_in_time(w);
}

static const TimeWarp *timed(const Warp *warp) {
    return (const TimeWarp *)(const void *)((const u8 *)warp->trace - offsetof(TimeWarp, trace));
}

// A turn for each warp of the CTA that is not much ahead, from FrontFill.at on.
static Status round_of(Sm *sm, Cta *cta, u64 cycle, FrontWay way, bool *done, Diag *diag) {
    FrontFill *f = &sm->fill;
    const Warp *front = f->warp->front;
    for (; f->at < cta->warp_count; f->at++) {
        Warp *warp = &cta->warps[f->at];
        if (!f->stopped) {
            if (warp_done(warp) || (warp != front && words_ahead(warp->trace) > FRONT_WORDS)) continue;
            if (warp != front && waits_for_its_time(sm, timed(warp), cycle)) continue;
            f->left = FRONT_BUDGET;
            f->began = warp->executed;
        }
        WarpStop stop;
        TRY(turn(sm, f->warp->run, warp, cycle, way, &stop, diag));
        f->stopped = stop == WARP_LATER || (stop == WARP_FAULT && way == FRONT_AHEAD);
        if (f->stopped) return *done = false, STATUS_OK;
        f->any |= has_come_further(warp, f->began, stop);
        if (warp == front && stop == WARP_BUDGET && warp->executed == f->began) f->goal = 0;  // it waits for its clock
    }
    return STATUS_OK;
}

// Executes further for one warp; the others of its CTA get their turns. *done: as far as it should, or can.
static Status fill(Sm *sm, TimeWarp *w, u64 cycle, FrontWay way, bool *done, Diag *diag) {
    FrontFill *f = &sm->fill;
    *done = way == FRONT_IN_ORDER || w->run->ahead;
    if (!*done) return STATUS_OK;
    if (sm->failed) return way == FRONT_IN_ORDER ? tell_fault(sm, diag) : (*done = false, STATUS_OK);
    if (!f->warp) *f = (FrontFill){.warp = w, .goal = w->front->executed + front_budget(sm, w->front), .any = true};
    Cta *cta = w->front->cta;
    for (;;) {
        if (f->at == 0 && !f->stopped) {  // a round begins
            if (!f->any || warp_done(w->front) || w->front->executed >= f->goal) break;
            f->any = false;
        }
        TRY(round_of(sm, cta, cycle, way, done, diag));
        if (!*done) return STATUS_OK;
        f->at = 0;
        sm->moved |= f->any;
    }
    f->warp = NULL;
    return STATUS_OK;
}

static bool is_open(const Sm *sm, const TimeWarp *w) { return sm->fill.warp == w; }

Status front_serve(Sm *sm, u64 cycle, FrontWay way, bool *done, Diag *diag) {
    *done = true;
    for (u32 i = 0; i < sm->scheduler_count; i++) {
        Scheduler *s = &sm->schedulers[i];
        for (u32 k = 0; k < s->slots; k++) {
            TimeWarp *w = s->warps[k];
            while (w && w->state == TW_TRACE && s->at[k] <= cycle) {
                if (is_open(sm, w) || wants_trace(w)) {
                    TRY(fill(sm, w, cycle, way, done, diag));
                    if (!*done) return STATUS_OK;
                }
                sm_warp_traced(sm, w, cycle);
            }
        }
    }
    sm->paused = false;
    return STATUS_OK;
}

static bool is_low(const TimeWarp *w) {
    return w->state != TW_FREE && w->trace.begin + w->run_words + w->low_words >= w->trace.complete &&
           !warp_done(w->front);
}

Status front_top_up(Sm *sm, u64 cycle, FrontWay way, bool *done, Diag *diag) {
    *done = true;
    for (u32 k = 0; k < sm->low.len; k++) {
        TimeWarp *w = &sm->warps[sm->low.data[k]];
        if (!is_open(sm, w) && (!is_low(w) || waits_for_its_time(sm, w, cycle))) continue;
        TRY(fill(sm, w, cycle, way, done, diag));
        if (*done) continue;
        sm->low.len -= k;
        memmove(sm->low.data, sm->low.data + k, sizeof *sm->low.data * sm->low.len);
        return STATUS_OK;
    }
    sm->low.len = 0;
    return STATUS_OK;
}

Status front_try_again(TimeMachine *m, u64 cycle, Diag *diag) {
    bool done;
    for (u32 i = 0; i < m->active_count; i++) {
        Sm *sm = &m->sms[m->active[i]];
        TRY(front_top_up(sm, cycle, FRONT_IN_ORDER, &done, diag));
        for (u32 k = 0; k < sm->warp_count && sm->stuck_warps; k++) {
            TimeWarp *w = &sm->warps[k];
            if (w->state != TW_FRONT) continue;
            TRY(fill(sm, w, cycle, FRONT_IN_ORDER, &done, diag));
            sm_warp_traced(sm, w, cycle);
            sm_note(sm);
            if (sm->out.len) sm->busy = true, sm->next = cycle;  // to be sent with the next window
        }
    }
    return STATUS_OK;
}
