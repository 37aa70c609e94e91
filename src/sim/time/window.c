// SPDX-License-Identifier: Apache-2.0
// A window: all SMs advance to its end. Who does what when, on any number of threads:
//
//   front    is done by one thread at a time, in an order that depends on nothing but the SMs: first it executes
//            further for the warps that will need it soon, SM after SM, after letting those run that have none; then,
//            round after round, it serves the SMs that have stopped for it, in their order.
//   SMs      run as soon as the front has been with them, on any thread; rather on the one that has them in its caches.
//   memory   serves what the SMs asked for in the window before (TimeMachine.behind), on one thread.
//
// A thread that finds nothing to do waits until another has got on. With one thread the same parts follow each other.
#include <stdatomic.h>
#include <string.h>

#include "sim/time/machine.h"

// SMs that may run, by place in TimeMachine.active, for one worker first: a ring. Each is in one of them once at most.
typedef struct Ready {
    _Atomic u32 pushed;
    u8 apart[60];  // from what other threads write
    _Atomic u32 popped;
    u8 apart_too[60];
    _Atomic u32 *places;
} Ready;

struct Window {
    TimeMachine *machine;
    u64 until, stops;  // the window's end; the front serves those that stopped before `stops` now
    Diag *diag;
    bool tops_up, front_at_home;  // at home: on the caller's thread
    _Atomic bool front_busy, memory_taken, memory_done, front_done, failed;

    Ready *ready;  // of each worker
    u32 workers;
    _Atomic u32 *ran;  // by place: runs that have ended

    // Of the front, for who has `front_busy`.
    u32 *may_run;      // by place: runs that it has allowed
    u32 *turn, *next;  // places in the order of their turns; those that are served, and come again
    u32 at, count, next_count;
    bool topped_up, moved;
    Status status, memory_status;
};

Status window_create(TimeMachine *m) {
    Window *w = m->window = mem_zero(1, sizeof *w);
    if (!w) return STATUS_NO_MEMORY;
    w->machine = m;
    w->workers = m->pool ? pool_threads(m->pool) : 1;
    w->ready = mem_zero(w->workers, sizeof *w->ready);
    for (u32 i = 0; w->ready && i < w->workers; i++)
        if (!(w->ready[i].places = mem_zero(m->sm_count, sizeof *w->ready->places))) return STATUS_NO_MEMORY;
    w->ran = mem_zero(m->sm_count, sizeof *w->ran);
    w->may_run = mem_zero(m->sm_count, sizeof *w->may_run);
    w->turn = mem_zero(m->sm_count, sizeof *w->turn);
    w->next = mem_zero(m->sm_count, sizeof *w->next);
    return w->ready && w->ran && w->may_run && w->turn && w->next ? STATUS_OK : STATUS_NO_MEMORY;
}

void window_destroy(Window *w) {
    if (!w) return;
    for (u32 i = 0; w->ready && i < w->workers; i++) mem_free((void *)w->ready[i].places);
    mem_free(w->ready);
    mem_free((void *)w->ran);
    mem_free(w->may_run);
    mem_free(w->turn);
    mem_free(w->next);
    mem_free(w);
}

static void notify(const Window *w) {
    if (w->machine->pool) pool_notify(w->machine->pool);
}

static Sm *sm_at(const Window *w, u32 place) { return &w->machine->sms[w->machine->active[place]]; }

static bool is_over(Window *w) {
    return atomic_load(&w->failed) || (atomic_load(&w->front_done) && atomic_load(&w->memory_done));
}

// --- SMs -----------------------------------------------------------------------------------------------------------
static void let_run(Window *w, u32 place) {
    Ready *r = &w->ready[sm_at(w, place)->home];
    u32 at = atomic_load_explicit(&r->pushed, memory_order_relaxed);
    w->may_run[place]++;
    atomic_store_explicit(&r->places[at % w->machine->sm_count], place, memory_order_relaxed);
    atomic_store(&r->pushed, at + 1);
    notify(w);
}

static bool take_ready(const Window *w, Ready *r, u32 *place) {
    u32 at = atomic_load(&r->popped);
    while (at != atomic_load(&r->pushed)) {  // the entry is valid when nobody else took it meanwhile
        *place = atomic_load_explicit(&r->places[at % w->machine->sm_count], memory_order_relaxed);
        if (atomic_compare_exchange_weak(&r->popped, &at, at + 1)) return true;
    }
    return false;
}

// One of the worker's own, else another's.
static bool take_any(const Window *w, u32 worker, u32 *place) {
    for (u32 i = 0; i < w->workers; i++)
        if (take_ready(w, &w->ready[(worker + i) % w->workers], place)) return true;
    return false;
}

static bool run_one(Window *w, u32 worker) {
    u32 place;
    if (!take_any(w, worker, &place)) return false;
    Sm *sm = sm_at(w, place);
    sm->worker = sm->home = worker;
    machine_take_replies(w->machine, sm);
    sm_run(sm, w->until);
    atomic_fetch_add(&w->ran[place], 1);
    notify(w);
    return true;
}

// --- the front -----------------------------------------------------------------------------------------------------
static void fail(Window *w, Status status) {
    if (w->status == STATUS_OK) w->status = status;
    atomic_store(&w->failed, true);
}

static void everybody_has_a_turn(Window *w) {
    w->count = w->machine->active_count;
    for (u32 i = 0; i < w->count; i++) w->turn[i] = i;
}

// The first turns: those of SMs that need nothing come first.
static void order_top_ups(Window *w) {
    u32 count = w->machine->active_count;
    w->count = 0;
    for (u32 needed = 0; needed < 2; needed++)
        for (u32 i = 0; i < count; i++)
            if ((w->tops_up && sm_at(w, i)->low.len) == needed) w->turn[w->count++] = i;
}

// A round is over: the next one, or those that stopped later, or the front is done.
static void next_round(Window *w) {
    u32 *turn = w->turn;
    w->turn = w->next;
    w->next = turn;
    w->count = w->next_count;
    w->at = w->next_count = 0;
    if (w->count) return;
    if (!w->topped_up) {
        w->topped_up = true;
        everybody_has_a_turn(w);
    } else if (w->stops < w->until) {
        w->stops = w->until;
        everybody_has_a_turn(w);
    } else {
        atomic_store(&w->front_done, true);
    }
}

// The turn of an SM. False: it is still running.
static bool serve_turn(Window *w, u32 place, u32 worker) {
    Sm *sm = sm_at(w, place);
    if (!w->topped_up) {
        if (w->tops_up) {
            Status status = front_top_up(sm, w->machine->now, &w->moved, w->diag);
            if (status != STATUS_OK) return fail(w, status), true;
        }
        let_run(w, place);
        return true;
    }
    if (atomic_load(&w->ran[place]) != w->may_run[place]) return false;
    if (sm->status != STATUS_OK) return fail(w, sm->status), true;
    if (!sm->paused || sm->now >= w->stops) return true;
    sm->worker = worker;  // whose accounts it goes into
    Status status = front_serve(sm, sm->now, w->diag);
    if (status != STATUS_OK) return fail(w, status), true;
    w->next[w->next_count++] = place;
    let_run(w, place);
    return true;
}

// Does what the front can do now. False: nothing.
static bool front_goes_on(Window *w, u32 worker) {
    if ((w->front_at_home && worker != 0) || atomic_load(&w->front_done)) return false;
    if (atomic_exchange(&w->front_busy, true)) return false;
    bool any = false;
    while (!atomic_load(&w->failed) && !atomic_load(&w->front_done)) {
        if (w->at == w->count)
            next_round(w);
        else if (serve_turn(w, w->turn[w->at], worker))
            w->at++;
        else
            break;
        any = true;
    }
    atomic_store(&w->front_busy, false);
    if (any) notify(w);
    return any;
}

// --- memory --------------------------------------------------------------------------------------------------------
static bool memory_goes_on(Window *w) {
    if (atomic_load(&w->memory_done) || atomic_exchange(&w->memory_taken, true)) return false;
    w->memory_status = memory_serve(w->machine, !w->machine->side);
    atomic_store(&w->memory_done, true);
    notify(w);
    return true;
}

// --- a window ------------------------------------------------------------------------------------------------------
// The memory system has most to do at a stretch: who is not needed for the front begins with it.
static bool work(Window *w, u32 worker) {
    if (worker != 0 && memory_goes_on(w)) return true;
    return front_goes_on(w, worker) || memory_goes_on(w) || run_one(w, worker);
}

static void work_on(void *context, u32 part, u32 worker) {
    Window *w = context;
    const Pool *pool = w->machine->pool;
    (void)part;
    for (;;) {
        u64 ticket = pool ? pool_ticket(pool) : 0;
        if (is_over(w)) return;
        if (!work(w, worker) && pool) pool_wait(w->machine->pool, ticket);
    }
}

// Kernels that launch graphs call into the runtime, which knows its threads.
static bool calls_the_runtime(const TimeMachine *m) {
    for (u32 i = 0; i < m->runs.len; i++)
        if (m->runs.data[i]->grid->program->launches_graphs) return true;
    return false;
}

Status window_run(TimeMachine *m, u64 stops, u64 until, bool tops_up, bool *moved, Diag *diag) {
    Window *w = m->window;
    w->until = until;
    w->stops = stops;
    w->diag = diag;
    w->tops_up = tops_up;
    w->front_at_home = calls_the_runtime(m);
    w->topped_up = w->moved = false;
    w->status = w->memory_status = STATUS_OK;
    w->at = w->next_count = 0;
    order_top_ups(w);
    for (u32 i = 0; i < m->active_count; i++)
        w->may_run[i] = 0, atomic_store_explicit(&w->ran[i], 0, memory_order_relaxed);
    for (u32 i = 0; i < w->workers; i++) {
        atomic_store(&w->ready[i].pushed, 0);
        atomic_store(&w->ready[i].popped, 0);
    }
    atomic_store(&w->memory_taken, !m->pending);
    atomic_store(&w->memory_done, !m->pending);
    atomic_store(&w->front_done, false);
    atomic_store(&w->failed, false);
    if (m->pool && (m->active_count > 1 || m->pending))
        pool_run(m->pool, pool_threads(m->pool), work_on, w);
    else
        work_on(w, 0, 0);
    *moved |= w->moved;
    TRY(w->status);
    return w->memory_status;
}
