// SPDX-License-Identifier: Apache-2.0
// A window: all SMs advance to its end. Who does what when, on any number of threads:
//
//   front    is done by one thread at a time, in an order that depends on nothing but the SMs: first it executes
//            further for the warps that will need it soon, SM after SM, after letting those run that have none; then,
//            round after round, it serves the SMs that have stopped for it, in their order. What is an SM's own affair
//            its thread executes before (front.c), so that most stops need no turn. What has to wait until nothing
//            else is executed waits until all SMs have come as far as they can.
//   SMs      run as soon as the front has been with them, on any thread; rather on the one that has them in its caches.
//   memory   serves what the SMs asked for half a window before (TimeMachine.behind), on one thread: first what is
//            pending, whose answers are wanted from the middle of the window on, then what they ask for up to the
//            middle.
//
// An SM that has come to the middle goes on when what was pending is served, wherever the others are. The front does
// not: nothing is executed behind the middle before all SMs are there.
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
    u64 from, middle, until;  // middle: where SMs go on by themselves; `until`: nowhere
    _Atomic u64 stops;        // the front serves those that stopped before it now
    Diag *diag;
    bool front_at_home;  // on the caller's thread
    _Atomic bool front_busy, front_done, failed;
    _Atomic u32 memory_asked, memory_taken, memory_done;  // parts: MEMORY_PENDING, MEMORY_FIRST_HALF
    u32 memory_parts;                                     // to be done before the window is over

    Ready *ready;  // of each worker, filled by the front
    Ready *later;  // ... by the worker: those that have come to the middle
    u32 workers;
    _Atomic u32 *ran;       // by place: runs that have ended
    _Atomic u8 *topped_up;  // ... TopUp
    _Atomic u8 *half;       // ... Half

    // Of the front, for who has `front_busy`.
    u32 *may_run;      // by place: runs that it has allowed
    u32 *turn, *next;  // places in the order of their turns; those that are served, and come again
    u32 *held;         // those that wait until nothing else is executed
    u32 at, count, next_count, held_count;
    bool all_topped_up;
    Status status, memory_status;
};

// Warps of the SM that will need the front soon: its thread has yet to try; all of them have had it; in order, then.
typedef enum TopUp { TOP_UP_OPEN, TOP_UP_DONE, TOP_UP_IN_ORDER } TopUp;

// Where an SM is: before the middle; there; behind it.
typedef enum Half { HALF_FIRST, HALF_MIDDLE, HALF_SECOND } Half;

// What the memory system serves: what is pending when the window begins; what SMs ask for up to the middle.
enum { MEMORY_PENDING = 1, MEMORY_FIRST_HALF };

static void destroy_rings(Ready *rings, u32 workers) {
    for (u32 i = 0; rings && i < workers; i++) mem_free((void *)rings[i].places);
    mem_free(rings);
}

static Ready *create_rings(const TimeMachine *m) {
    u32 workers = machine_workers(m);
    Ready *rings = mem_zero(workers, sizeof *rings);
    for (u32 i = 0; rings && i < workers; i++)
        if (!(rings[i].places = mem_zero(m->sm_count, sizeof *rings->places)))
            return destroy_rings(rings, workers), NULL;
    return rings;
}

static void empty_rings(Ready *rings, u32 workers) {
    for (u32 i = 0; i < workers; i++) {
        atomic_store(&rings[i].pushed, 0);
        atomic_store(&rings[i].popped, 0);
    }
}

Status window_create(TimeMachine *m) {
    Window *w = m->window = mem_zero(1, sizeof *w);
    if (!w) return STATUS_NO_MEMORY;
    w->machine = m;
    w->workers = machine_workers(m);
    w->ready = create_rings(m);
    w->later = create_rings(m);
    w->ran = mem_zero(m->sm_count, sizeof *w->ran);
    w->may_run = mem_zero(m->sm_count, sizeof *w->may_run);
    w->turn = mem_zero(m->sm_count, sizeof *w->turn);
    w->next = mem_zero(m->sm_count, sizeof *w->next);
    w->held = mem_zero(m->sm_count, sizeof *w->held);
    w->topped_up = mem_zero(m->sm_count, sizeof *w->topped_up);
    w->half = mem_zero(m->sm_count, sizeof *w->half);
    bool rings = w->ready && w->later, places = w->ran && w->topped_up && w->half;
    return rings && places && w->may_run && w->turn && w->next && w->held ? STATUS_OK : STATUS_NO_MEMORY;
}

void window_destroy(Window *w) {
    if (!w) return;
    destroy_rings(w->ready, w->workers);
    destroy_rings(w->later, w->workers);
    mem_free((void *)w->ran);
    mem_free(w->may_run);
    mem_free(w->turn);
    mem_free(w->next);
    mem_free(w->held);
    mem_free((void *)w->topped_up);
    mem_free((void *)w->half);
    mem_free(w);
}

static void notify(const Window *w) {
    if (w->machine->pool) pool_notify(w->machine->pool);
}

static Sm *sm_at(const Window *w, u32 place) { return &w->machine->sms[w->machine->active[place]]; }

static bool is_over(Window *w) {
    return atomic_load(&w->failed) || (atomic_load(&w->front_done) && atomic_load(&w->memory_done) == w->memory_parts);
}

// SMs may be behind the middle.
static bool is_halved(const Window *w) { return w->middle < w->until; }
static bool is_served(Window *w) { return atomic_load(&w->memory_done) >= MEMORY_PENDING; }

// --- SMs -----------------------------------------------------------------------------------------------------------
static void push(const Window *w, Ready *r, u32 place) {
    u32 at = atomic_load_explicit(&r->pushed, memory_order_relaxed);
    atomic_store_explicit(&r->places[at % w->machine->sm_count], place, memory_order_relaxed);
    atomic_store(&r->pushed, at + 1);
    notify(w);
}

static void let_run(Window *w, u32 place) {
    w->may_run[place]++;
    push(w, &w->ready[sm_at(w, place)->home], place);
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
static bool take_any(const Window *w, Ready *rings, u32 worker, u32 *place) {
    for (u32 i = 0; i < w->workers; i++)
        if (take_ready(w, &rings[(worker + i) % w->workers], place)) return true;
    return false;
}

// What the front has to do for it and is its own affair. False: it needs its turn.
static bool serve_ahead(Sm *sm) {
    bool done;
    Status status = front_serve(sm, sm->now, FRONT_AHEAD, &done, NULL);
    if (status != STATUS_OK) sm->status = status;
    return status == STATUS_OK && done;
}

static bool top_up_ahead(Window *w, Sm *sm, u32 place) {
    if (atomic_load(&w->topped_up[place]) != TOP_UP_OPEN) return true;
    bool done;
    Status status = front_top_up(sm, w->machine->now, FRONT_AHEAD, &done, NULL);
    if (status != STATUS_OK) sm->status = status, done = false;
    atomic_store(&w->topped_up[place], done ? TOP_UP_DONE : TOP_UP_IN_ORDER);
    notify(w);
    return done;
}

// As far as it gets: to `until`, or to where it needs its turn.
static void run_sm(const Window *w, Sm *sm, u64 until) {
    while (!sm->paused || (sm->now < atomic_load(&w->stops) && serve_ahead(sm))) {
        sm_run(sm, until);
        if (!sm->paused) return;
    }
}

// For who runs it.
static Half half_of(const Window *w, u32 place) {
    return (Half)atomic_load_explicit(&w->half[place], memory_order_relaxed);
}

static void run_first_half(Window *w, Sm *sm, u32 place) {
    if (sm->starts.len) sm_start_ctas(sm);
    if (sm->status != STATUS_OK || !top_up_ahead(w, sm, place)) return;
    machine_take_replies(w->machine, sm, w->machine->side);
    run_sm(w, sm, w->middle);
}

static bool comes_to_middle(const Window *w, const Sm *sm) {
    return is_halved(w) && sm->status == STATUS_OK && !sm->paused && sm->now == w->middle;
}

static void run_second_half(Window *w, Sm *sm, u32 place) {
    if (half_of(w, place) == HALF_MIDDLE) {
        machine_take_replies(w->machine, sm, !w->machine->side);
        atomic_store_explicit(&w->half[place], HALF_SECOND, memory_order_relaxed);
    }
    run_sm(w, sm, w->until);
}

// What it has asked for up to the middle is kept apart from what comes.
static void pass_on(Window *w, Sm *sm, u32 place) {
    Requests asked = sm->out;
    sm->out = sm->asked;
    sm->asked = asked;
    atomic_store(&w->half[place], HALF_MIDDLE);
    notify(w);
}

// Whether so many SMs have yet to begin that one may run through, which is kinder to the host's caches: it need not be
// taken again soon to share the work out evenly.
static bool many_wait(const Window *w) {
    enum { EACH = 4 };
    u32 waiting = 0;
    for (u32 i = 0; i < w->workers; i++) waiting += atomic_load(&w->ready[i].pushed) - atomic_load(&w->ready[i].popped);
    return waiting >= EACH * w->workers;
}

static bool run_one(Window *w, u32 worker) {
    u32 place;
    if (!take_any(w, w->ready, worker, &place) && !(is_served(w) && take_any(w, w->later, worker, &place)))
        return false;
    Sm *sm = sm_at(w, place);
    sm->home = worker;
    sm_of_worker(sm, worker);
    if (half_of(w, place) == HALF_FIRST) {
        run_first_half(w, sm, place);
        if (comes_to_middle(w, sm)) {
            pass_on(w, sm, place);
            if (!is_served(w) || !many_wait(w)) return push(w, &w->later[worker], place), true;
        }
    }
    if (half_of(w, place) != HALF_FIRST) run_second_half(w, sm, place);
    sm_note(sm);
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

static bool has_ended(const Window *w, u32 place) { return atomic_load(&w->ran[place]) == w->may_run[place]; }

static void enter(Window *w, u32 place, Half half, TopUp topped_up) {
    w->may_run[place] = 0;
    atomic_store_explicit(&w->ran[place], 0, memory_order_relaxed);
    atomic_store_explicit(&w->half[place], half, memory_order_relaxed);
    atomic_store_explicit(&w->topped_up[place], topped_up, memory_order_relaxed);
}

// Whether SMs have anything to execute ahead.
static bool goes_ahead(const TimeMachine *m) {
    for (u32 i = 0; i < m->runs.len; i++)
        if (m->runs.data[i]->ahead) return true;
    return false;
}

// The first turns: those of SMs that need nothing come first.
static void order_top_ups(Window *w) {
    u32 count = w->machine->active_count;
    bool ahead = goes_ahead(w->machine);
    w->count = 0;
    for (u32 needed = 0; needed < 2; needed++)
        for (u32 i = 0; i < count; i++) {
            if ((sm_at(w, i)->low.len > 0) != needed) continue;
            w->turn[w->count++] = i;
            enter(w, i, HALF_FIRST, !needed ? TOP_UP_DONE : ahead ? TOP_UP_OPEN : TOP_UP_IN_ORDER);
        }
}

// Who can begin without the front does; those that have most to do, as they are topped up, before the others.
static void let_begin(Window *w) {
    static const TopUp first[] = {TOP_UP_OPEN, TOP_UP_DONE};
    for (u32 k = 0; k < WL_COUNT(first); k++)
        for (u32 i = 0; i < w->count; i++)
            if (atomic_load_explicit(&w->topped_up[w->turn[i]], memory_order_relaxed) == first[k])
                let_run(w, w->turn[i]);
}

// What the front can only do while nothing else is executed: all SMs have come as far as they can.
static void serve_held(Window *w, u32 worker) {
    TimeMachine *m = w->machine;
    Status status = STATUS_OK;
    bool done;
    m->still = true;
    w->count = w->held_count;
    w->held_count = 0;
    for (u32 i = 0; i < w->count && status == STATUS_OK; i++) {
        u32 place = w->turn[i] = w->held[i];
        Sm *sm = sm_at(w, place);
        sm_of_worker(sm, worker);
        bool topped_up = atomic_load(&w->topped_up[place]) == TOP_UP_DONE;
        status = topped_up ? front_serve(sm, sm->now, FRONT_IN_ORDER, &done, w->diag)
                           : front_top_up(sm, m->now, FRONT_IN_ORDER, &done, w->diag);
        atomic_store(&w->topped_up[place], TOP_UP_DONE);
    }
    m->still = false;
    if (status != STATUS_OK) return fail(w, status);
    for (u32 i = 0; i < w->count; i++) let_run(w, w->turn[i]);
}

// All SMs have come to the middle. Those that only get answers behind it join them, and what they have asked for can be
// served.
static void pass_middle(Window *w) {
    TimeMachine *m = w->machine;
    machine_send(m, w->from, w->middle, true);
    u32 first = m->active_count;
    machine_choose_late(m, w->middle, !m->side);
    for (u32 i = first; i < m->active_count; i++) {
        enter(w, i, HALF_MIDDLE, TOP_UP_DONE);
        let_run(w, i);
    }
    atomic_store(&w->memory_asked, MEMORY_FIRST_HALF);
    notify(w);
}

// Those that have stopped at `stops` or later go on, too.
static void go_on(Window *w) {
    if (is_halved(w)) pass_middle(w);
    atomic_store(&w->stops, w->until);
    everybody_has_a_turn(w);
    for (u32 i = 0; i < w->count; i++)
        if (has_ended(w, i) && sm_at(w, i)->paused) let_run(w, i);
}

// A round is over: the next one, or those that stopped later, or the front is done. False: it has to wait.
static bool next_round(Window *w, u32 worker) {
    if (!w->next_count && w->all_topped_up && !w->held_count && is_halved(w) && !is_served(w)) return false;
    u32 *turn = w->turn;
    w->turn = w->next;
    w->next = turn;
    w->count = w->next_count;
    w->at = w->next_count = 0;
    if (w->count) return true;
    if (!w->all_topped_up) {
        w->all_topped_up = true;
        everybody_has_a_turn(w);
    } else if (w->held_count) {
        serve_held(w, worker);
    } else if (atomic_load(&w->stops) < w->until) {
        go_on(w);
    } else {
        atomic_store(&w->front_done, true);
    }
    return true;
}

// What comes of a turn: the SM goes on, or waits until nothing else is executed.
static bool after_turn(Window *w, u32 place, Status status, bool done) {
    if (status != STATUS_OK) return fail(w, status), false;
    if (!done) return w->held[w->held_count++] = place, false;
    let_run(w, place);
    return true;
}

// The first turn of an SM. False: its thread is still with it.
static bool top_up_turn(Window *w, u32 place, u32 worker) {
    Sm *sm = sm_at(w, place);
    TopUp state = atomic_load(&w->topped_up[place]);
    if (state == TOP_UP_DONE) return true;
    if (state == TOP_UP_OPEN || !has_ended(w, place)) return false;
    if (sm->status != STATUS_OK) return fail(w, sm->status), true;
    bool done = false;
    sm_of_worker(sm, worker);
    Status status = front_top_up(sm, w->machine->now, FRONT_IN_ORDER, &done, w->diag);
    if (status == STATUS_OK && done) atomic_store(&w->topped_up[place], TOP_UP_DONE);
    after_turn(w, place, status, done);
    return true;
}

// The turn of an SM. False: it is still running.
static bool serve_turn(Window *w, u32 place, u32 worker) {
    Sm *sm = sm_at(w, place);
    u64 stops = atomic_load(&w->stops);
    if (!w->all_topped_up) return top_up_turn(w, place, worker);
    if (is_halved(w) && stops < w->until && atomic_load(&w->half[place]) != HALF_FIRST) return true;
    if (!has_ended(w, place)) return false;
    if (sm->status != STATUS_OK) return fail(w, sm->status), true;
    if (!sm->paused || sm->now >= stops) return true;
    bool done = false;
    sm_of_worker(sm, worker);
    Status status = front_serve(sm, sm->now, FRONT_IN_ORDER, &done, w->diag);
    if (after_turn(w, place, status, done)) w->next[w->next_count++] = place;
    return true;
}

// Does what the front can do now. False: nothing.
static bool front_goes_on(Window *w, u32 worker) {
    if ((w->front_at_home && worker != 0) || atomic_load(&w->front_done)) return false;
    if (atomic_exchange(&w->front_busy, true)) return false;
    bool any = false;
    while (!atomic_load(&w->failed) && !atomic_load(&w->front_done)) {
        bool round = w->at == w->count, goes = round ? next_round(w, worker) : serve_turn(w, w->turn[w->at], worker);
        if (!goes) break;
        if (!round) w->at++;
        any = true;
    }
    atomic_store(&w->front_busy, false);
    if (any) notify(w);
    return any;
}

// --- memory --------------------------------------------------------------------------------------------------------
static bool memory_goes_on(Window *w) {
    u32 part = atomic_load(&w->memory_taken);
    if (part == atomic_load(&w->memory_asked) || !atomic_compare_exchange_strong(&w->memory_taken, &part, part + 1))
        return false;
    // What was pending is answered behind the middle, what comes after it in the next window.
    u32 side = part + 1 == MEMORY_PENDING ? !w->machine->side : w->machine->side;
    Status status = memory_serve(w->machine, side);
    if (status != STATUS_OK) w->memory_status = status;
    atomic_store(&w->memory_done, part + 1);
    notify(w);
    return true;
}

// --- a window ------------------------------------------------------------------------------------------------------
// The memory system has most to do at a stretch, and much that it comes back to in its thread's caches: the last worker
// begins with it, and another one has it only when there is nothing else to do.
static bool work(Window *w, u32 worker) {
    if (worker == w->workers - 1 && memory_goes_on(w)) return true;
    return front_goes_on(w, worker) || run_one(w, worker) || memory_goes_on(w);
}

static void work_on(void *context, u32 part, u32 worker) {
    Window *w = context;
    Pool *pool = w->machine->pool;
    (void)part;
    while (!is_over(w)) {
        if (work(w, worker) || !pool) continue;
        u64 ticket = pool_ticket(pool);
        if (is_over(w) || work(w, worker))
            pool_return(pool);
        else
            pool_wait(pool, ticket);
    }
}

// Kernels that launch graphs call into the runtime, which knows its threads.
static bool calls_the_runtime(const TimeMachine *m) {
    for (u32 i = 0; i < m->runs.len; i++)
        if (m->runs.data[i]->grid->program->launches_graphs) return true;
    return false;
}

static void begin(Window *w, u64 stops, u64 until) {
    TimeMachine *m = w->machine;
    w->from = m->now;
    w->until = until;
    w->middle = m->behind ? stops : until;
    atomic_store(&w->stops, stops);
    w->front_at_home = calls_the_runtime(m);
    w->all_topped_up = false;
    w->status = w->memory_status = STATUS_OK;
    w->at = w->next_count = w->held_count = 0;
    empty_rings(w->ready, w->workers);
    empty_rings(w->later, w->workers);
    u32 served = m->pending ? 0 : MEMORY_PENDING;
    atomic_store(&w->memory_asked, MEMORY_PENDING);
    atomic_store(&w->memory_taken, served);
    atomic_store(&w->memory_done, served);
    w->memory_parts = is_halved(w) ? MEMORY_FIRST_HALF : MEMORY_PENDING;
    atomic_store(&w->front_done, false);
    atomic_store(&w->failed, false);
    order_top_ups(w);
    let_begin(w);
}

Status window_run(TimeMachine *m, u64 stops, u64 until, Diag *diag) {
    Window *w = m->window;
    w->diag = diag;
    begin(w, stops, until);
    m->still = false;
    if (m->pool && (m->active_count > 1 || m->pending))
        pool_run(m->pool, pool_threads(m->pool), work_on, w);
    else
        work_on(w, 0, 0);
    m->still = true;
    TRY(w->status);
    TRY(w->memory_status);
    // What has come up to the middle is served, if the window has one, and answered for the next window.
    machine_send(m, is_halved(w) ? w->middle : w->from, until, false);
    if (!is_halved(w)) m->side = !m->side;
    return STATUS_OK;
}
