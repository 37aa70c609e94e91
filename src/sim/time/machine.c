// SPDX-License-Identifier: Apache-2.0
// The loop over quanta: SMs in parallel, then the memory system, the front and the start of CTAs in a fixed order.
#include "sim/time/machine.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE_SHIFT = 10, QUIET_MOST = 4096, WATCH_GRID = 1000 };

// Quanta end at multiples of their length, whoever watches, and what is watched every thousand cycles ends with one: so
// watching changes nothing.
static u64 quantum_of(u64 least_latency) {
    u64 quantum = least_latency < WATCH_GRID ? least_latency : WATCH_GRID;
    while (quantum > 1 && WATCH_GRID % quantum) quantum--;
    return quantum ? quantum : 1;
}

Status time_machine_create(Sim *sim, u32 device, TimeMachine **machine) {
    TimeMachine *m = mem_zero(1, sizeof *m);
    if (!m) return STATUS_NO_MEMORY;
    *machine = m;
    m->sim = sim;
    m->device = device;
    m->gpu = sim_gpu(sim, device);
    m->sm_count = (u32)m->gpu->sms;
    m->sample_shift = SAMPLE_SHIFT;
    m->next_watch = NEVER;
    m->sms = mem_zero(m->sm_count, sizeof *m->sms);
    m->active = mem_zero(m->sm_count, sizeof *m->active);
    if (!m->sms || !m->active) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < m->sm_count; i++) TRY(sm_init(&m->sms[i], m, m->gpu, i));
    if (sim->config.threads > 1) TRY(pool_create(&m->pool, sim->config.threads));
    TRY(memsys_create(m->gpu, &m->memsys));
    m->quantum = quantum_of(memsys_least_latency(m->memsys));
    return STATUS_OK;
}

void time_machine_destroy(TimeMachine *m) {
    if (!m) return;
    for (u32 i = 0; m->sms && i < m->sm_count; i++) sm_free(&m->sms[i]);
    mem_free(m->sms);
    mem_free(m->active);
    mem_free(m->order);
    vec_free(&m->requests);
    vec_free(&m->replies);
    vec_free(&m->runs);
    memsys_destroy(m->memsys);
    if (m->pool) pool_destroy(m->pool);
    mem_free(m);
}

u64 time_quantum(const TimeMachine *m) { return m->quantum; }
u64 time_now(const TimeMachine *m) { return m->now; }
f64 time_ns(const TimeMachine *m, u64 cycles) { return (f64)cycles * 1000.0 / (f64)m->gpu->clock_mhz; }
u32 time_sms(const TimeMachine *m) { return m->sm_count; }
u32 time_schedulers(const TimeMachine *m) { return m->sms[0].scheduler_count; }
const u64 *time_sm_counters(const TimeMachine *m, u32 sm) { return m->sms[sm].counters; }
const u64 *time_sm_stalls(const TimeMachine *m, u32 sm) { return m->sms[sm].stalls; }
const u64 *time_sm_slot_stalls(const TimeMachine *m, u32 sm) { return m->sms[sm].slot_stalls; }
const MemSys *time_memsys(const TimeMachine *m) { return m->memsys; }

void time_flush(TimeMachine *m) {
    memsys_flush(m->memsys);
    for (u32 i = 0; i < m->sm_count; i++) sm_flush(&m->sms[i]);
}

void machine_abandon(TimeMachine *m) {
    m->runs.len = 0;
    for (u32 i = 0; i < m->sm_count; i++) sm_abandon(&m->sms[i], m->now);
    memsys_flush(m->memsys);
    m->quiet = 0;
}

void time_watch(TimeMachine *m, const TimeWatcher *watcher) {
    m->watcher = watcher ? *watcher : (TimeWatcher){0};
    m->next_watch = m->watcher.interval ? (m->now / m->watcher.cycles + 1) * m->watcher.cycles : NEVER;
}

static void settle_all(TimeMachine *m) {
    for (u32 i = 0; i < m->sm_count; i++) sm_settle(&m->sms[i], m->now);
}

// --- memory --------------------------------------------------------------------------------------------------------
// Requests of all SMs by (cycle, SM, order of asking): each SM's are in order already, so a counting sort by cycle that
// takes the SMs one after the other is enough.
static Status gather(TimeMachine *m, u64 from, u64 until) {
    u32 span = (u32)(until - from), total = 0;
    if (m->order_cap < span + 1) {
        mem_free(m->order);
        m->order = mem_alloc(sizeof *m->order * (span + 1));
        m->order_cap = m->order ? span + 1 : 0;
        if (!m->order) return STATUS_NO_MEMORY;
    }
    memset(m->order, 0, sizeof *m->order * (span + 1));
    for (u32 i = 0; i < m->active_count; i++) {
        Sm *sm = &m->sms[m->active[i]];
        for (u32 k = 0; k < sm->out.len; k++) m->order[sm->out.data[k].cycle - from + 1]++;
        total += sm->out.len;
    }
    for (u32 c = 0; c < span; c++) m->order[c + 1] += m->order[c];
    TRY(vec_reserve(&m->requests, total));
    m->requests.len = total;
    for (u32 i = 0; i < m->active_count; i++) {
        Sm *sm = &m->sms[m->active[i]];
        for (u32 k = 0; k < sm->out.len; k++) {
            const MemRequest *r = &sm->out.data[k];
            m->requests.data[m->order[r->cycle - from]++] = *r;
        }
        sm->out.len = 0;
    }
    return STATUS_OK;
}

typedef enum BetweenPart { BETWEEN_MEMORY, BETWEEN_FRONT, BETWEEN_PARTS } BetweenPart;
typedef struct Between {
    TimeMachine *machine;
    u64 from, until;
    Diag *diag;
    bool moved;
    Status status[BETWEEN_PARTS];
} Between;

static void between_part(void *context, u32 part, u32 worker) {
    Between *b = context;
    TimeMachine *m = b->machine;
    (void)worker;
    if (part == BETWEEN_MEMORY)
        b->status[part] = memsys_step(m->memsys, m->requests.data, m->requests.len, b->from, b->until, &m->replies);
    else
        b->status[part] = front_top_up(m, b->until, &b->moved, b->diag);
}

// Kernels that launch graphs call into the runtime, which knows its threads.
static bool calls_the_runtime(const TimeMachine *m) {
    for (u32 i = 0; i < m->runs.len; i++)
        if (m->runs.data[i]->grid->program->launches_graphs) return true;
    return false;
}

// After a quantum: the memory system serves what was asked, and the front executes further. They share nothing (the
// front reads and writes warps, the memory system itself and the replies), so each may have a thread.
static Status between_quanta(TimeMachine *m, u64 until, bool *moved, Diag *diag) {
    Between b = {.machine = m, .from = m->now, .until = until, .diag = diag};
    TRY(gather(m, b.from, until));
    m->replies.len = 0;
    m->now = until;
    if (m->pool && !calls_the_runtime(m))
        pool_run(m->pool, BETWEEN_PARTS, between_part, &b);
    else
        for (u32 part = 0; part < BETWEEN_PARTS; part++) between_part(&b, part, 0);
    for (u32 part = 0; part < BETWEEN_PARTS; part++) TRY(b.status[part]);
    for (u32 i = 0; i < m->replies.len; i++) sm_receive(&m->sms[m->replies.data[i].sm], &m->replies.data[i]);
    *moved = b.moved;
    return STATUS_OK;
}

// --- a quantum -----------------------------------------------------------------------------------------------------
static void run_part(void *context, u32 part, u32 worker) {
    TimeMachine *m = context;
    Sm *sm = &m->sms[m->active[part]];
    sm->worker = worker;
    sm_run(sm, m->until);
}

static void run_sms(TimeMachine *m, u32 count) {
    if (m->pool && count > 1)
        pool_run(m->pool, count, run_part, m);
    else
        for (u32 i = 0; i < count; i++) run_part(m, i, 0);
}

static bool sm_is_active(const Sm *sm) {
    return sm->resident_warps || sm->heap_len || sm->out.len || sm->lsu.count || sm->tex.count;
}

static void choose_active(TimeMachine *m) {
    m->active_count = 0;
    for (u32 i = 0; i < m->sm_count; i++)
        if (sm_is_active(&m->sms[i]))
            m->active[m->active_count++] = i;
        else
            m->sms[i].now = m->now;
}

// All active SMs to the end of the quantum; those that need the front stop, are served in order, and go on.
static Status run_quantum(TimeMachine *m, Diag *diag) {
    u32 all = m->active_count, left = all;
    while (left) {
        run_sms(m, left);
        u32 stopped = 0;
        for (u32 i = 0; i < left; i++) {
            Sm *sm = &m->sms[m->active[i]];
            TRY(sm->status);
            if (!sm->paused) continue;
            u32 id = m->active[i];
            m->active[i] = m->active[stopped];
            m->active[stopped++] = id;
        }
        // The order of the SMs that stopped is kept: it does not depend on threads.
        for (u32 i = 0; i < stopped; i++) TRY(front_serve(&m->sms[m->active[i]], m->sms[m->active[i]].now, diag));
        left = stopped;
    }
    return STATUS_OK;
}

static int by_number(const void *a, const void *b) {
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

static u64 next_event(const TimeMachine *m) {
    u64 next = memsys_next_event(m->memsys);
    for (u32 i = 0; i < m->active_count; i++) {
        const Sm *sm = &m->sms[m->active[i]];
        u64 at = sm->out.len ? m->now : sm_next_event(sm);
        if (at < next) next = at;
    }
    return next;
}

static bool run_is_over(const TimeRun *run) {
    if (run->ended < run->grid->cta_count) return false;
    for (u32 i = 0; i < run->machine->sm_count; i++)
        if (run->machine->sms[i].run_tickets[run->index]) return false;
    return true;
}

// When its last CTA was over and its last store answered.
static u64 last_work(const TimeRun *run) {
    u64 last = run->last_cta;
    for (u32 i = 0; i < run->machine->sm_count; i++)
        if (run->machine->sms[i].run_last[run->index] > last) last = run->machine->sms[i].run_last[run->index];
    return last;
}

static bool end_runs(TimeMachine *m) {
    bool any = false;
    for (u32 i = 0; i < m->runs.len;) {
        TimeRun *run = m->runs.data[i];
        if (!run_is_over(run)) {
            i++;
            continue;
        }
        run->over = any = true;
        run->end = last_work(run) + m->gpu->launch_end;
        for (u32 k = i; k + 1 < m->runs.len; k++) m->runs.data[k] = m->runs.data[k + 1];
        m->runs.len--;
    }
    return any;
}

static Status deadlock(TimeMachine *m, Diag *diag) {
    if (m->runs.len == 0) return STATUS_OK;
    deadlock_explain(m->runs.data[0]->grid, diag);
    return STATUS_DEADLOCK;
}

// One quantum, or the jump over time in which nothing happens.
static Status step(TimeMachine *m, u64 limit, Diag *diag) {
    TRY(dispatch_ctas(m));
    choose_active(m);
    u64 next = next_event(m), until = (m->now / m->quantum + 1) * m->quantum;
    bool moved = false;
    if (next != NEVER && next > until) {  // nothing happens until then
        u64 to = next < m->next_watch ? next : m->next_watch;
        m->now = to < limit ? to : limit;
        for (u32 i = 0; i < m->active_count; i++) m->sms[m->active[i]].now = m->now;
        TRY(front_top_up(m, m->now, &moved, diag));
    } else {
        if (until > m->next_watch) until = m->next_watch;
        if (until > limit) until = limit;
        m->until = until;
        TRY(run_quantum(m, diag));
        qsort(m->active, m->active_count, sizeof *m->active, by_number);
        TRY(between_quanta(m, until, &moved, diag));
    }
    dispatch_collect(m);
    m->quiet = moved || next != NEVER ? 0 : m->quiet + 1;
    if (m->quiet > QUIET_MOST) return deadlock(m, diag);
    if (m->now == m->next_watch) {
        settle_all(m);
        m->watcher.interval(m->watcher.context, m, m->now);
        m->next_watch += m->watcher.cycles;
    }
    return STATUS_OK;
}

void time_pass(TimeMachine *m, u64 ns) {
    if (m->runs.len) return;
    m->now += ns * m->gpu->clock_mhz / 1000;
    for (u32 i = 0; i < m->sm_count; i++) m->sms[i].now = m->now;
    settle_all(m);
    if (m->next_watch <= m->now) m->next_watch = (m->now / m->watcher.cycles + 1) * m->watcher.cycles;
}

Status time_advance(TimeMachine *m, TimeRun *run, u64 limit, bool *over, Diag *diag) {
    while (m->runs.len && m->now < limit) {
        TRY(step(m, limit, diag));
        if (end_runs(m) && (!run || run->over)) break;
    }
    *over = !run || run->over;
    return STATUS_OK;
}
