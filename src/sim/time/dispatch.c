// SPDX-License-Identifier: Apache-2.0
// CTAs to SMs: to the SM with the fewest, from where the last search ended; clusters as a whole.
#include <stdatomic.h>

#include "sim/time/gpc.h"
#include "sim/time/machine.h"
#include "sim/time/sample.h"

static u64 max(u64 a, u64 b) { return a > b ? a : b; }

static bool fits(const Sm *sm, u64 share, u32 warps) {
    return sm->share + share <= SM_SHARE && sm->resident_warps + sm->starting_warps + warps <= sm->warp_count;
}

// The SM with the most room; WL_NONE when there is none.
static u32 find_sm(const TimeMachine *m, const TimeRun *run) {
    u64 share = SM_SHARE / run->limit;
    u32 best = WL_NONE;
    for (u32 i = 0, k = m->next_sm; i < m->sm_count; i++, k = k + 1 < m->sm_count ? k + 1 : 0) {
        if (!fits(&m->sms[k], share, run->cta_warps)) continue;
        if (best == WL_NONE || m->sms[k].share < m->sms[best].share) best = k;
        if (m->sms[best].share == 0) break;
    }
    return best;
}

// A grid with fewer CTAs than SMs, alone on the machine, is spread over the GPCs.
static u32 choose_sm(const TimeMachine *m, const TimeRun *run) {
    u64 ctas = run->grid->cta_count;
    if (ctas >= m->sm_count || run->grid->cluster_size > 1 || m->runs.len > 1) return find_sm(m, run);
    u32 at = gpc_place(m->gpu, (u32)run->next_linear, (u32)ctas);
    bool takes = at != WL_NONE && m->sms[at].share == 0 && fits(&m->sms[at], SM_SHARE / run->limit, run->cta_warps);
    return takes ? at : find_sm(m, run);
}

static bool cluster_fits(const TimeMachine *m, const TimeRun *run) {
    u32 room = 0, size = run->grid->cluster_size;
    for (u32 i = 0; i < m->sm_count && room < size; i++) {
        const Sm *sm = &m->sms[i];
        u64 by_share = (SM_SHARE - sm->share) / (SM_SHARE / run->limit);
        u64 by_warps = (sm->warp_count - sm->resident_warps - sm->starting_warps) / run->cta_warps;
        room += (u32)(by_share < by_warps ? by_share : by_warps);
    }
    return room >= size;
}

enum { ROOMS = sizeof((Sm *)0)->room_at / sizeof(u64) };

// A CTA is over: its place can be taken at `cycle`.
static void leave_room(Sm *sm, u64 cycle) {
    sm->room_at[(sm->room_first + sm->rooms) % ROOMS] = cycle;
    if (sm->rooms < ROOMS)
        sm->rooms++;
    else
        sm->room_first = (sm->room_first + 1) % ROOMS;
}

// When the place is free that the next CTA takes: the one that was left first.
static u64 take_room(Sm *sm) {
    if (sm->rooms == 0) return 0;
    u64 cycle = sm->room_at[sm->room_first];
    sm->room_first = (sm->room_first + 1) % ROOMS;
    sm->rooms--;
    return cycle;
}

static void give_one(TimeMachine *m, TimeRun *run, u32 at, u32 group, u32 rank) {
    Sm *sm = &m->sms[at];
    const GpuModel *gpu = m->gpu;
    Cta *front = &run->grid->ctas[group * run->grid->cluster_size + rank];
    m->dispatched = max(m->dispatched + gpu->cta_dispatch, max(m->now, run->begin + gpu->launch_overhead) * 100);
    u64 start = max(max(m->dispatched / 100, m->now) + gpu->cta_start, max(sm->start_free, take_room(sm)));
    if (!sm->furnished && !sm->starts.len) sm->home = m->homes++ % machine_workers(m);
    if (sm->cold) start += gpu->cold_start, sm->code_at = start + gpu->cold_code;
    sm->cold = false;
    sm->start_free = start + gpu->cta_interval + run->cta_warps * gpu->warp_start;
    m->next_sm = (at + 1) % m->sm_count;
    if (run->first_cta == NEVER) run->first_cta = start;
    sample_given(run, run->next_linear, start);
    bitset_add(&m->awake, at);
    sm_give_cta(
        sm, (CtaStart){.run = run, .front = front, .linear = run->next_linear++, .start = start, .slot_group = group});
}

// One SM that has CTAs to start: of the worker's own, else another's.
static void start_part(void *context, u32 part, u32 worker) {
    TimeMachine *m = context;
    (void)part;
    for (u32 i = 0, workers = machine_workers(m); i < workers; i++) {
        StartQueue *q = &m->starting[(worker + i) % workers];
        u32 at = atomic_fetch_add_explicit(&q->at, 1, memory_order_relaxed);
        if (at >= q->count) continue;
        sm_start_ctas(&m->sms[q->sms[at]]);
        return sm_note(&m->sms[q->sms[at]]);
    }
}

// The checker wants to see them one after the other.
static bool is_checked(const TimeMachine *m) {
    bool checked = false;
    for (u32 i = 0; i < m->runs.len; i++) checked |= m->runs.data[i]->grid->exec.check != NULL;
    return checked;
}

// Whether an SM can start its CTAs when it runs: of a cluster, others may look at them before.
static bool can_wait(const TimeMachine *m) {
    bool clusters = false;
    for (u32 i = 0; i < m->runs.len; i++) clusters |= m->runs.data[i]->grid->cluster_size > 1;
    return !clusters && !is_checked(m);
}

// SMs that have CTAs to start, by their homes; returns how many.
static u32 queue_starts(TimeMachine *m) {
    u32 count = 0;
    for (u32 i = 0; i < machine_workers(m); i++) m->starting[i].count = 0, atomic_store(&m->starting[i].at, 0);
    for (u32 i = 0; i < m->sm_count; i++) {
        if (!m->sms[i].starts.len) continue;
        StartQueue *q = &m->starting[m->sms[i].home];
        q->sms[q->count++] = i;
        count++;
    }
    return count;
}

Status dispatch_start(TimeMachine *m) {
    if (!m->given) return STATUS_OK;
    m->given = false;
    u32 count = queue_starts(m);
    if (m->pool && !is_checked(m))
        pool_run(m->pool, count, start_part, m);
    else
        for (u32 i = 0; i < count; i++) start_part(m, i, 0);
    for (u32 i = 0; i < machine_workers(m); i++)
        for (u32 k = 0; k < m->starting[i].count; k++) TRY(m->sms[m->starting[i].sms[k]].status);
    return STATUS_OK;
}

// CTAs of one launch, as many as there is room for.
static Status dispatch_run(TimeMachine *m, TimeRun *run, Diag *diag) {
    u32 size = run->grid->cluster_size, at;
    u64 goal;
    bool waits = false;
    if (run->sample && run->sample->skipping) TRY(fast_forward(run, &waits, diag));
    while (run->next_linear < run->grid->cta_count && run->free_count) {
        if ((size > 1 && !cluster_fits(m, run)) || (at = choose_sm(m, run)) == WL_NONE) break;
        if (!waits && sample_due(run, &goal)) {
            TRY(fast_forward(run, &waits, diag));
            continue;
        }
        u32 group = run->free_slots[--run->free_count];
        run->grid->ctas[group * size].members_left = size;
        for (u32 rank = 0; rank < size; rank++) give_one(m, run, rank ? find_sm(m, run) : at, group, rank);
        m->given = true;
    }
    return STATUS_OK;
}

Status dispatch_ctas(TimeMachine *m, Diag *diag) {
    for (u32 i = 0; i < m->runs.len; i++) {
        TimeRun *run = m->runs.data[i];
        TRY(dispatch_run(m, run, diag));
        if (run->next_linear < run->grid->cta_count) break;  // later kernels wait for the earlier one's CTAs
    }
    return can_wait(m) ? STATUS_OK : dispatch_start(m);
}

// The more SMs take part in a launch the longer it takes: on an H200 12 cycles with two CTAs, 65 with 8, 108 to 167
// with 16 to 64, 172 with 132, from where on it is what the GPU takes for each (cta_retire;
// bench/hwref/h200-starts.tsv, nothing, kept). As if the ends of SMs farther away were known later.
static u64 report(const GpuModel *gpu, u64 linear) {
    enum { FAR = 16 };
    return gpu->cta_report * (linear < FAR ? linear : FAR) / FAR;
}

static void cta_over(TimeMachine *m, Sm *sm, TimeCta *cta, u64 cycle) {
    TimeRun *run = cta->run;
    Grid *g = run->grid;
    run->ended++;
    m->retired = max(m->retired + m->gpu->cta_retire, cycle * 100);
    run->last_cta = max(run->last_cta, max(m->retired / 100, cycle + report(m->gpu, cta->linear)));
    leave_room(sm, m->retired / 100 + m->gpu->cta_end);
    cta->used = false;
    Cta *first = &g->ctas[cta->slot_group * g->cluster_size];
    first->members_left--;
    if (first->members_left == 0) run->free_slots[run->free_count++] = cta->slot_group;
}

void dispatch_collect(TimeMachine *m) {
    for (u32 i = bitset_next(&m->ran, 0); i != WL_NONE; i = bitset_next(&m->ran, i + 1)) {
        Sm *sm = &m->sms[i];
        for (u32 k = 0; k < sm->ended.len; k++) cta_over(m, sm, &sm->ctas[sm->ended.data[k]], sm->ended_at.data[k]);
        sm->ended.len = sm->ended_at.len = 0;
    }
    bitset_clear(&m->ran);
}
