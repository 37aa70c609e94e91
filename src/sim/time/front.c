// SPDX-License-Identifier: Apache-2.0
// The functional front: executes warps ahead of the timing model, in a fixed order.
#include "sim/time/machine.h"

// PTX instructions that a warp executes at a time; words of its trace with which it is far enough ahead.
enum { FRONT_BUDGET = 256, FRONT_WORDS = 512 };

Status front_fault(Grid *g, Diag *diag) {
    g->faulting_pc = (u32)((const PcState *)(const void *)g->exec.count - g->states);
    fault_explain(g, diag);
    return STATUS_FAULT;
}

// What a warp is executed further at a time. The first times differ from SM to SM, so that CTAs that began together do
// not need the front together: it would keep all SMs waiting, and then have nothing to do.
enum { FIRST_TURNS = 8 };
static u64 front_budget(const Sm *sm, const Warp *warp) {
    return warp->executed ? FRONT_BUDGET : FRONT_BUDGET / FIRST_TURNS * (1 + sm->id % FIRST_TURNS);
}

static u32 words_ahead(const Trace *t) { return t->complete - t->begin; }

// One turn of a warp, up to its next load from global memory: as without timing, so that kernels whose warps depend on
// taking turns compute the same.
static Status turn(Grid *g, Warp *warp, u64 cycle, WarpStop *stop, Diag *diag) {
    Cta *cta = warp->cta;
    u64 executed = warp->executed;
    warp->trace->clock = cycle;
    g->exec.shared = cta->shared;
    g->exec.shared_size = cta->shared_size;
    *stop = warp_run(&g->exec, warp, FRONT_BUDGET);
    g->executed += warp->executed - executed;
    if (*stop == WARP_FAULT) return front_fault(g, diag);
    if (cta->exited_threads == cta->threads) cta->used = false;
    return warp->trace->failed ? STATUS_NO_MEMORY : STATUS_OK;
}

// Executes further for one warp; the others of its CTA get their turns, as far as they are not much ahead. *moved:
// something was executed.
static Status fill(const Sm *sm, TimeWarp *w, u64 cycle, bool *moved, Diag *diag) {
    Cta *cta = w->front->cta;
    Grid *g = w->run->grid;
    u64 goal = w->front->executed + front_budget(sm, w->front);
    bool any = true;
    while (any && !warp_done(w->front) && w->front->executed < goal) {
        any = false;
        for (u32 i = 0; i < cta->warp_count; i++) {
            Warp *warp = &cta->warps[i];
            if (warp_done(warp) || (warp != w->front && words_ahead(warp->trace) > FRONT_WORDS)) continue;
            u64 executed = warp->executed;
            WarpStop stop;
            TRY(turn(g, warp, cycle, &stop, diag));
            any |= warp->executed != executed;
            if (warp == w->front && stop == WARP_BUDGET && warp->executed == executed)
                goal = 0;  // it waits for its clock
        }
        *moved |= any;
    }
    return STATUS_OK;
}

Status front_serve(Sm *sm, u64 cycle, Diag *diag) {
    for (u32 i = 0; i < sm->scheduler_count; i++) {
        Scheduler *s = &sm->schedulers[i];
        for (u32 k = 0; k < s->slots; k++) {
            TimeWarp *w = s->warps[k];
            if (!w || w->state != TW_TRACE || s->at[k] > cycle) continue;
            bool moved = false;
            if (trace_empty(&w->trace) && !warp_done(w->front)) TRY(fill(sm, w, cycle, &moved, diag));
            sm_warp_traced(sm, w, cycle);
        }
    }
    return STATUS_OK;
}

Status front_top_up(Sm *sm, u64 cycle, bool *moved, Diag *diag) {
    for (u32 k = 0; k < sm->low.len; k++) {
        TimeWarp *w = &sm->warps[sm->low.data[k]];
        if (w->state != TW_FREE && w->trace.begin + w->run_words + w->low_words >= w->trace.complete &&
            !warp_done(w->front))
            TRY(fill(sm, w, cycle, moved, diag));
    }
    sm->low.len = 0;
    return STATUS_OK;
}

Status front_try_again(TimeMachine *m, u64 cycle, bool *moved, Diag *diag) {
    for (u32 i = 0; i < m->active_count; i++) {
        Sm *sm = &m->sms[m->active[i]];
        TRY(front_top_up(sm, cycle, moved, diag));
        for (u32 k = 0; k < sm->warp_count && sm->stuck_warps; k++) {
            TimeWarp *w = &sm->warps[k];
            if (w->state != TW_FRONT) continue;
            TRY(fill(sm, w, cycle, moved, diag));
            sm_warp_traced(sm, w, cycle);
        }
    }
    return STATUS_OK;
}
