// SPDX-License-Identifier: Apache-2.0
// The loop over quanta: CTAs are started, SMs run, the memory system serves what they asked for, all in a fixed order.
//
// A quantum is shorter than the least latency of the memory system, so what an SM asks for in it is not answered in it.
// With several threads it is two halves: what is asked for in one is served while the SMs are in the next one, and is
// there in time for the one after that. With one thread the SMs run through, which is kinder to the host's caches; the
// results are the same.
#include "sim/time/machine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/time/sample.h"

// QUANTUM_WORTH: in warp instructions, for the progress line: as many as make it move a few times a second.
enum { QUIET_MOST = 4096, WATCH_GRID = 1000, QUANTUM_WORTH = 4096 };

// Quanta end at multiples of their length, whoever watches, and what is watched every thousand cycles ends with one: so
// watching changes nothing.
static u64 quantum_of(u64 least_latency) {
    u64 quantum = least_latency < WATCH_GRID ? least_latency : WATCH_GRID;
    while (quantum > 1 && WATCH_GRID % quantum) quantum--;
    return quantum ? quantum : 1;
}

static void empty_inboxes(TimeMachine *m) {
    for (u32 i = 0; i < 2 * m->sm_count; i++) {
        Inbox *inbox = &m->inbox[i % 2][i / 2];
        inbox->replies.len = 0;
        inbox->first = NEVER;
    }
}

static SamplePlan plan_samples(const SimConfig *config) {
    u32 periods = config->pc_periods ? config->pc_periods : SIM_PC_PERIOD;
    SamplePlan plan = {.offset = config->pc_offset, .shift = {62}};
    for (u32 shift = 1; shift < 32; shift++)  // period 1 is every cycle of every warp
        if (periods >> shift & 1 && plan.count < SAMPLE_SETS) plan.shift[plan.count++] = (u8)shift;
    plan.mask = (1ull << plan.shift[0]) - 1;
    plan.ahead = plan.mask + plan.offset;
    return plan;
}

static Status create_starting(TimeMachine *m) {
    m->starting = mem_zero(machine_workers(m), sizeof *m->starting);
    if (!m->starting) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < machine_workers(m); i++)
        if (!(m->starting[i].sms = mem_zero(m->sm_count, sizeof *m->starting[i].sms))) return STATUS_NO_MEMORY;
    return STATUS_OK;
}

Status time_machine_create(Sim *sim, u32 device, TimeMachine **machine) {
    TimeMachine *m = mem_zero(1, sizeof *m);
    if (!m) return STATUS_NO_MEMORY;
    *machine = m;
    m->sim = sim;
    m->device = device;
    m->gpu = sim_gpu(sim, device);
    m->sm_count = (u32)m->gpu->sms;
    m->samples = plan_samples(&sim->config);
    m->next_watch = NEVER;
    m->sms = mem_zero(m->sm_count, sizeof *m->sms);
    m->active = mem_zero(m->sm_count, sizeof *m->active);
    for (u32 side = 0; side < 2; side++)
        if (!(m->inbox[side] = mem_zero(m->sm_count, sizeof *m->inbox[side]))) return STATUS_NO_MEMORY;
    m->senders = mem_zero(m->sm_count, sizeof *m->senders);
    m->awake = (Bitset){mem_zero((m->sm_count + 63) / 64, sizeof(u64)), m->sm_count};
    m->ran = (Bitset){mem_zero((m->sm_count + 63) / 64, sizeof(u64)), m->sm_count};
    if (!m->sms || !m->active || !m->senders || !m->awake.words || !m->ran.words) return STATUS_NO_MEMORY;
    empty_inboxes(m);
    m->still = true;
    if (sim->config.threads > 1) TRY(pool_create(&m->pool, sim->config.threads));
    for (u32 i = 0; i < m->sm_count; i++) sm_init(&m->sms[i], m, m->gpu, i);
    TRY(create_starting(m));
    TRY(memsys_create(m->gpu, sim->pages, m->pool, &m->memsys));
    m->quantum = quantum_of(memsys_least_latency(m->memsys));
    m->behind = m->pool && m->quantum > 1;
    return window_create(m);
}

void time_machine_destroy(TimeMachine *m) {
    if (!m) return;
    for (u32 i = 0; m->sms && i < m->sm_count; i++) sm_free(&m->sms[i]);
    mem_free(m->sms);
    mem_free(m->active);
    mem_free(m->senders);
    mem_free(m->awake.words);
    mem_free(m->ran.words);
    for (u32 i = 0; m->starting && i < machine_workers(m); i++) mem_free(m->starting[i].sms);
    mem_free(m->starting);
    for (u32 i = 0; i < 2 * m->sm_count; i++)
        if (m->inbox[i % 2]) vec_free(&m->inbox[i % 2][i / 2].replies);
    for (u32 side = 0; side < 2; side++) mem_free(m->inbox[side]);
    window_destroy(m->window);
    mem_free(m->order);
    vec_free(&m->requests);
    vec_free(&m->replies);
    vec_free(&m->runs);
    vec_free(&m->host);
    vec_free(&m->code);
    memsys_destroy(m->memsys);
    sample_groups_free(m->groups);
    if (m->pool) pool_destroy(m->pool);
    mem_free(m);
}

u64 time_quantum(const TimeMachine *m) { return m->quantum; }
u64 time_now(const TimeMachine *m) { return m->now; }
u64 time_clock(const TimeMachine *m) { return m->now + m->owed; }
f64 time_ns(const TimeMachine *m, u64 cycles) { return (f64)cycles * 1000.0 / (f64)m->gpu->clock_mhz; }
u64 time_cycles(const TimeMachine *m, u64 ns) { return (ns * m->gpu->clock_mhz + 999) / 1000; }
bool time_is_busy(const TimeMachine *m) { return m->runs.len; }
u32 time_sms(const TimeMachine *m) { return m->sm_count; }
u32 time_schedulers(const TimeMachine *m) { return m->sms[0].scheduler_count; }
const u64 *time_sm_values(const TimeMachine *m, u32 sm) {
    sm_sum_up(&m->sms[sm]);
    return m->sms[sm].values;
}
const u64 *time_sm_counters(const TimeMachine *m, u32 sm) { return time_sm_values(m, sm); }
const u64 *time_sm_stalls(const TimeMachine *m, u32 sm) { return time_sm_values(m, sm) + SM_STALLS; }
const MemSys *time_memsys(const TimeMachine *m) { return m->memsys; }

void time_flush(TimeMachine *m) {
    memsys_flush(m->memsys);
    m->code.len = 0;
    for (u32 i = 0; i < m->sm_count; i++) sm_flush(&m->sms[i]);
}

// By warps, without gaps: at a power of two apart, all would access one channel and bank at a time. By words: so that
// CTAs of neighbouring SMs lie behind each other, then the next CTA of each, as GPGPU-Sim 2.1.1b has it
// (-gpgpu_local_mem_map, translate_local_memaddr in cuda-sim.cc).
#define LOCAL_BASE (0x10ca1ull << 28)
enum { LOCAL_WARPS, LOCAL_WORDS };  // words of the key `local_layout`
void machine_local(const TimeMachine *m, const TimeRun *run, u32 sm, u32 cta, u32 index, Trace *trace) {
    u64 words = (u64)run->cta_warps * LANES, place = cta * m->sm_count + sm;
    trace->local_step = 4 * LANES;
    trace->local_base = LOCAL_BASE + (place * run->cta_warps + index) * run->local_bytes;
    if (m->gpu->local_layout != LOCAL_WORDS) return;
    trace->local_step = 4 * words * run->limit * m->sm_count;
    trace->local_base = LOCAL_BASE + 4 * (place * words + index * LANES);
}

void machine_abandon(TimeMachine *m) {
    m->runs.len = 0;
    for (u32 i = 0; i < m->sm_count; i++) sm_abandon(&m->sms[i], m->now);
    memsys_flush(m->memsys);
    m->code.len = 0;
    empty_inboxes(m);
    m->sender_count = 0;
    m->pending = false;
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
static Status gather(TimeMachine *m) {
    u32 span = (u32)(m->sent_until - m->sent_from), total = 0;
    if (m->order_cap < span + 1) {
        mem_free(m->order);
        m->order = mem_alloc(sizeof *m->order * (span + 1));
        m->order_cap = m->order ? span + 1 : 0;
        if (!m->order) return STATUS_NO_MEMORY;
    }
    memset(m->order, 0, sizeof *m->order * (span + 1));
    for (u32 i = 0; i < m->sender_count; i++) {
        const Requests *sent = &m->sms[m->senders[i]].sent;
        for (u32 k = 0; k < sent->len; k++) {
            assert(sent->data[k].cycle >= m->sent_from && sent->data[k].cycle < m->sent_until);
            m->order[sent->data[k].cycle - m->sent_from + 1]++;
        }
        total += sent->len;
    }
    for (u32 c = 0; c < span; c++) m->order[c + 1] += m->order[c];
    m->requests.len = 0;
    TRY(vec_reserve(&m->requests, total));
    m->requests.len = total;
    for (u32 i = 0; i < m->sender_count; i++) {
        Requests *sent = &m->sms[m->senders[i]].sent;
        for (u32 k = 0; k < sent->len; k++)
            m->requests.data[m->order[sent->data[k].cycle - m->sent_from]++] = sent->data[k];
        sent->len = 0;
    }
    m->sender_count = 0;
    return STATUS_OK;
}

Status memory_serve(TimeMachine *m, u32 side) {
    TRY(gather(m));
    m->replies.len = 0;
    TRY(memsys_step(m->memsys, m->requests.data, m->requests.len, m->sent_from, m->sent_until, &m->replies));
    for (u32 i = 0; i < m->replies.len; i++) {
        const MemReply *reply = &m->replies.data[i];
        Inbox *inbox = &m->inbox[side][reply->sm];
        TRY(vec_push(&inbox->replies, *reply));
        bitset_add(&m->awake, reply->sm);
        if (reply->cycle < inbox->first) inbox->first = reply->cycle;
    }
    return STATUS_OK;
}

Status machine_catch_up(TimeMachine *m) {
    if (!m->pending) return STATUS_OK;
    m->pending = false;
    return memory_serve(m, m->side);
}

void machine_take_replies(TimeMachine *m, Sm *sm, u32 side) {
    Inbox *inbox = &m->inbox[side][sm->id];
    for (u32 i = 0; i < inbox->replies.len; i++) sm_receive(sm, &inbox->replies.data[i]);
    inbox->replies.len = 0;
    inbox->first = NEVER;
}

// --- a quantum -----------------------------------------------------------------------------------------------------
static bool sm_is_active(const TimeMachine *m, const Sm *sm) {
    return sm->busy || sm->starts.len || m->inbox[m->side][sm->id].replies.len;
}

static void activate(TimeMachine *m, u32 sm, u64 now) {
    m->active[m->active_count++] = sm;
    m->sms[sm].now = now;
    bitset_add(&m->ran, sm);
}

static void choose_active(TimeMachine *m) {
    m->active_count = 0;
    for (u32 i = bitset_next(&m->awake, 0); i != WL_NONE; i = bitset_next(&m->awake, i + 1)) {
        if (!sm_is_active(m, &m->sms[i])) {
            bitset_remove(&m->awake, i);
            continue;
        }
        activate(m, i, m->now);
    }
}

void machine_choose_late(TimeMachine *m, u64 now, u32 side) {
    for (u32 i = bitset_next(&m->awake, 0); i != WL_NONE; i = bitset_next(&m->awake, i + 1))
        if (!bitset_has(&m->ran, i) && m->inbox[side][i].replies.len) activate(m, i, now);
}

void machine_send(TimeMachine *m, u64 from, u64 until, bool first_half) {
    for (u32 i = bitset_next(&m->ran, 0); i != WL_NONE; i = bitset_next(&m->ran, i + 1)) {
        Requests *asked = first_half ? &m->sms[i].asked : &m->sms[i].out, sent = *asked;
        *asked = m->sms[i].sent;
        m->sms[i].sent = sent;
        if (sent.len) m->senders[m->sender_count++] = i;
    }
    m->sent_from = from;
    m->sent_until = until;
}

static Status run_quantum(TimeMachine *m, u64 until, Diag *diag) {
    u64 middle = m->now / m->quantum * m->quantum + m->quantum / 2;
    TRY(window_run(m, m->now < middle && middle < until ? middle : until, until, diag));
    m->pending = true;
    m->given = false;
    m->now = until;
    if (!m->behind) TRY(machine_catch_up(m));
    for (u32 i = 0; i < m->active_count; i++)
        if (m->sms[m->active[i]].stuck_warps) return front_try_again(m, m->now, diag);
    return STATUS_OK;
}

static u64 next_of(const TimeMachine *m, const Sm *sm) {
    u64 reply = m->inbox[m->side][sm->id].first, next = sm->next < reply ? sm->next : reply;
    for (u32 i = 0; i < sm->starts.len; i++)
        if (sm->starts.data[i].start < next) next = sm->starts.data[i].start;
    return next;
}

static u64 next_of_sms(const TimeMachine *m) {
    u64 next = NEVER;
    for (u32 i = 0; i < m->active_count; i++) {
        u64 at = next_of(m, &m->sms[m->active[i]]);
        if (at < next) next = at;
    }
    return next;
}

// The next event, exactly if it is behind `until`: then what is pending decides, too.
static Status next_event(TimeMachine *m, u64 until, u64 *next) {
    *next = next_of_sms(m);
    if (*next <= until) return STATUS_OK;
    TRY(machine_catch_up(m));
    choose_active(m);
    u64 sms = next_of_sms(m), memory = memsys_next_event(m->memsys);
    *next = sms < memory ? sms : memory;
    return STATUS_OK;
}

// What a quantum begins with, done now.
static Status top_up_all(TimeMachine *m, Diag *diag) {
    bool done;
    for (u32 i = 0; i < m->active_count; i++)
        TRY(front_top_up(&m->sms[m->active[i]], m->now, FRONT_IN_ORDER, &done, diag));
    return STATUS_OK;
}

// Whether the front has executed anything since it was last asked.
static bool has_moved(TimeMachine *m) {
    bool moved = false;
    for (u32 i = 0; i < m->active_count; i++) {
        Sm *sm = &m->sms[m->active[i]];
        moved |= sm->moved;
        sm->moved = false;
    }
    return moved;
}

// Nothing happens before `to`.
static Status jump(TimeMachine *m, u64 to, Diag *diag) {
    TRY(dispatch_start(m));
    TRY(top_up_all(m, diag));
    m->now = to;
    for (u32 i = 0; i < m->active_count; i++) m->sms[m->active[i]].now = to;
    return front_try_again(m, to, diag);
}

static bool run_is_over(const TimeRun *run) {
    if (run->ended < run->grid->cta_count) return false;
    for (u32 i = 0; i < run->machine->sm_count; i++)
        if (run->machine->sms[i].run_tickets[run->index]) return false;
    return true;
}

// Its last CTA is over, and what that takes; meanwhile its last stores are answered. 60 launches of up to 4,300 cycles
// on an H200 take as long with stores at their end as empty ones. Not before the machine has got there.
static u64 last_work(const TimeRun *run) {
    u64 last = run->last_cta + run->machine->gpu->launch_end;
    if (run->machine->now > last) last = run->machine->now;
    for (u32 i = 0; i < run->machine->sm_count; i++)
        if (run->machine->sms[i].run_last[run->index] > last) last = run->machine->sms[i].run_last[run->index];
    return last;
}

// What was not simulated makes the launch longer.
static void estimate_end(TimeRun *run) {
    Sample *s = run->sample;
    if (s->whole) run->end = run->begin;
    sample_end(run);
    run->estimated = (u64)(s->estimate.value + 0.5);
    run->end += run->estimated;
    run->machine->owed += run->estimated;
    if (run->first_cta == NEVER) run->first_cta = run->begin;
    if (run->last_cta < run->first_cta || run->estimated) run->last_cta = run->end - run->machine->gpu->launch_end;
    if (run->last_cta < run->first_cta || run->last_cta > run->end) run->last_cta = run->end;
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
        m->quiet = 0;  // launches that are not simulated in detail move no SM
        front_collect(run);
        run->end = last_work(run);
        if (run->sample) estimate_end(run);
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
    TRY(dispatch_ctas(m, diag));
    choose_active(m);
    u64 next, until = (m->now / m->quantum + 1) * m->quantum;
    TRY(next_event(m, until, &next));
    u64 most = m->next_watch < limit ? m->next_watch : limit;
    if (next != NEVER && next > until)
        TRY(jump(m, next < most ? next : most, diag));
    else
        TRY(run_quantum(m, until < most ? until : most, diag));
    dispatch_collect(m);
    m->quiet = has_moved(m) || next != NEVER ? 0 : m->quiet + 1;
    if (m->quiet > QUIET_MOST) return deadlock(m, diag);
    if (m->now == m->next_watch) {
        TRY(machine_catch_up(m));
        settle_all(m);
        m->watcher.interval(m->watcher.context, m, m->now);
        m->next_watch += m->watcher.cycles;
    }
    return STATUS_OK;
}

static void pass_cycles(TimeMachine *m, u64 cycles) {
    m->now += cycles;
    settle_all(m);
    if (m->next_watch <= m->now) m->next_watch = (m->now / m->watcher.cycles + 1) * m->watcher.cycles;
}

void time_pass(TimeMachine *m, u64 ns) {
    if (m->runs.len == 0) pass_cycles(m, ns * m->gpu->clock_mhz / 1000);
}

void machine_pay(TimeMachine *m) {
    if (m->runs.len || !m->owed) return;
    pass_cycles(m, m->owed);
    m->owed = 0;
}

static Status advance(TimeMachine *m, TimeRun *run, bool any, u64 limit, Diag *diag) {
    circle_forget(m);
    while (m->runs.len && m->now < limit) {
        grid_report(m->runs.data[0]->grid, QUANTUM_WORTH, m->runs.data[0]->ended);
        TRY(step(m, limit, diag));
        if (end_runs(m) && (any || run->over)) break;
        if (m->now >= m->circle.next_look && circle_look(m)) break;
    }
    TRY(machine_catch_up(m));
    TRY(top_up_all(m, diag));
    (void)has_moved(m);
    return STATUS_OK;
}

u32 time_workers(const TimeMachine *m) { return m->pool ? pool_threads(m->pool) - 1 : 0; }

bool time_waits(const TimeMachine *m) { return m->circle.found; }

Status time_advance(TimeMachine *m, TimeRun *run, bool any, u64 limit, bool *over, Diag *diag) {
    Status status = run->over ? STATUS_OK : advance(m, run, any, limit, diag);
    for (u32 i = 0; i < m->runs.len; i++) front_collect(m->runs.data[i]);
    *over = run->over;
    return status;
}
