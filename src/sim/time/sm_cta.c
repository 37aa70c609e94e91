// SPDX-License-Identifier: Apache-2.0
// CTAs and their warps come to an SM; how an SM begins and ends.
#include <string.h>

#include "sim/time/sm_account.h"

// --- CTAs ----------------------------------------------------------------------------------------------------------
static void free_slots(Pages *pages, TimeWarp *w, u32 slots) {
    pages_give(pages, w->ready, sizeof *w->ready * slots);
    pages_give(pages, w->producer, sizeof *w->producer * slots);
    w->ready = NULL;
    w->producer = NULL;
    w->slot_cap = 0;
}

static Status warp_reserve_slots(Pages *pages, TimeWarp *w, u32 slots) {
    if (slots > w->slot_cap) {
        free_slots(pages, w, w->slot_cap);
        w->ready = pages_take(pages, sizeof *w->ready * slots);
        w->producer = pages_take(pages, sizeof *w->producer * slots);
        if (!w->ready || !w->producer) return free_slots(pages, w, slots), STATUS_NO_MEMORY;
        w->slot_cap = slots;
    }
    memset(w->ready, 0, sizeof *w->ready * slots);
    return STATUS_OK;
}

// Warps of CTAs come to the schedulers in turn, each to one of those that have fewest, and the first one of a CTA to
// the one behind the last one's of the CTA before; where that would always be the same scheduler, to the next. A place
// is free again when the CTA is over, not before, and one of as many warps takes the same
// (bench/hwref/h200-warp-places.tsv).
static u32 take_place(Sm *sm, TimeCta *cta, u32 index) {
    u32 count = sm->scheduler_count, best = (cta->first_place + index) % count;
    for (u32 i = 1; i < count; i++) {
        u32 k = (cta->first_place + index + i) % count;
        if (sm->schedulers[k].taken < sm->schedulers[best].taken) best = k;
    }
    sm->schedulers[best].taken++;
    cta->places[best]++;
    return best;
}

// The scheduler of the first warp. `place`: as the CTA left it that was there before.
static u32 first_place(Sm *sm, const TimeCta *place, u32 warps) {
    u32 count = sm->scheduler_count, first = sm->first_place;
    if (warps % count && place->placed == warps) return place->first_place;
    sm->first_place = (first + warps + (warps % count == 0)) % count;
    return first;
}

void sm_leave_places(Sm *sm, const TimeCta *cta) {
    for (u32 i = 0; i < sm->scheduler_count; i++) sm->schedulers[i].taken -= cta->places[i];
}

// A warp takes the first slot that is free.
static void take_slot(Scheduler *s, TimeWarp *w) {
    while (s->warps[w->slot]) w->slot++;
    u64 peers = 1ull << w->slot;
    for (u32 i = 0; i < s->resident; i++)
        if (s->warps[s->by_age[i]]->cta == w->cta) peers |= 1ull << s->by_age[i];
    for (u64 left = peers; left; left &= left - 1) s->peers[__builtin_ctzll(left)] = peers;
    s->warps[w->slot] = w;
    s->by_age[s->resident++] = w->slot;
}

void sm_leave_slot(Scheduler *s, u8 slot) {
    u32 at = 0;
    while (s->by_age[at] != slot) at++;
    memmove(s->by_age + at, s->by_age + at + 1, --s->resident - at);
    for (u64 left = s->peers[slot]; left; left &= left - 1) s->peers[__builtin_ctzll(left)] &= ~(1ull << slot);
    s->warps[slot] = NULL;
}

// A warp that is over does not need the front any more.
static void leave_low(Sm *sm, u32 place) {
    u32 kept = 0;
    for (u32 i = 0; i < sm->low.len; i++)
        if (sm->low.data[i] != place) sm->low.data[kept++] = sm->low.data[i];
    sm->low.len = kept;
}

static Status start_warp(Sm *sm, TimeCta *cta, u32 index, u64 start) {
    u32 at = 0;
    while (sm->warps[at].state != TW_FREE) at++;
    leave_low(sm, at);
    TimeWarp *w = &sm->warps[at], kept = *w;
    *w = (TimeWarp){.trace = kept.trace, .ready = kept.ready, .producer = kept.producer, .slot_cap = kept.slot_cap};
    TRY(warp_reserve_slots(sm->machine->sim->pages, w, cta->run->code->slots + 1));
    w->cta = cta;
    w->run = cta->run;
    w->code = cta->run->code;
    w->tallies = cta->run->tallies;
    w->front = &cta->front->warps[index];
    w->serial = kept.serial + 1;
    w->line = w->cause = w->counted_for = w->held_by = w->delay_pc = w->behind = w->loop = WL_NONE;
    w->start = w->since = w->delay_from = start;
    w->delay_next = w->code->meets ? start : NEVER;  // without barriers nobody asks who was late
    w->salt = hash_u64((u64)sm->id << 48 ^ (u64)at << 32 ^ w->serial);
    w->reason = STALL_NO_INSTRUCTIONS;
    w->lane_counter = SMC_LANES_1_4;
    w->sched = (u8)take_place(sm, cta, index);
    Scheduler *s = &sm->schedulers[w->sched];
    if (!s->resident) account_slots(sm, s, start, NULL);
    take_slot(s, w);
    trace_reset(&w->trace);
    w->trace.half = (u32)sm->gpu->coalesce_lanes;
    w->trace.block_end = machine_block_ends(cta->run);
    w->trace.edits = cta->run->code->edits;
    machine_local(sm->machine, cta->run, sm->id, (u32)(cta - sm->ctas), index, &w->trace);
    w->trace.syncs = &cta->syncs;
    w->front->trace = &w->trace;
    set_at(sm, w, TW_TRACE, start);
    return STATUS_OK;
}

void sm_give_cta(Sm *sm, CtaStart start) {
    if (vec_push(&sm->starts, start) != STATUS_OK) sm->status = STATUS_NO_MEMORY;
    sm->share += SM_SHARE / start.run->limit;
    sm->starting_warps += start.run->cta_warps;
}

static Status start_cta(Sm *sm, const CtaStart *s) {
    u32 at = 0;
    u64 start = s->start;
    Cta *front = s->front;
    TRY(grid_cta_start(s->run->grid, front, s->linear));
    while (sm->ctas[at].used) at++;
    TimeCta *cta = &sm->ctas[at];
    u32 first = first_place(sm, cta, front->warp_count);
    *cta = (TimeCta){.run = s->run,
                     .front = front,
                     .slot_group = s->slot_group,
                     .linear = s->linear,
                     .used = true,
                     .threads = front->threads,
                     .serial = cta->serial + 1,
                     .came = ++sm->ctas_came,
                     .first_place = first,
                     .placed = front->warp_count};
    cta->warps_left = front->warp_count;
    cta->share = SM_SHARE / s->run->limit;
    account_residents(sm, start > sm->integrated ? start : sm->integrated);
    sm->resident_ctas++;
    sm->resident_warps += front->warp_count;
    sm->counters[SMC_CTAS_STARTED]++;
    for (u32 i = 0; i < front->warp_count; i++) TRY(start_warp(sm, cta, i, start + i * sm->gpu->warp_start));
    return STATUS_OK;
}

void sm_start_ctas(Sm *sm) {
    if (!sm->furnished) sm->status = sm_furnish(sm);
    for (u32 i = 0; i < sm->starts.len && sm->status == STATUS_OK; i++) sm->status = start_cta(sm, &sm->starts.data[i]);
    sm->starts.len = sm->starting_warps = 0;
}

// --- life ----------------------------------------------------------------------------------------------------------
void sm_init(Sm *sm, TimeMachine *machine, const GpuModel *gpu, u32 id) {
    sm->machine = machine;
    sm->gpu = gpu;
    sm->id = id;
    sm->scheduler_count = (u32)gpu->warp_schedulers;
    sm->warp_count = (u32)gpu->max_threads_per_sm / LANES;
    sm->cta_count = (u32)gpu->max_ctas_per_sm;
    sm->next = sm->replies.next = NEVER;
}

static void furnish_scheduler(const Sm *sm, Scheduler *s) {
    s->slots = (sm->warp_count + sm->scheduler_count - 1) / sm->scheduler_count;
    if (s->slots > SCHED_WARPS) s->slots = SCHED_WARPS;
    s->next = NEVER;
    s->accounted = sm->integrated;
    for (u32 k = 0; k < SCHED_WARPS; k++) s->at[k] = NEVER;
}

static Status furnish(Sm *sm) {
    const TimeMachine *m = sm->machine;
    for (u32 i = 0; i < sm->scheduler_count; i++) furnish_scheduler(sm, &sm->schedulers[i]);
    sm->warps = pages_take(m->sim->pages, sizeof *sm->warps * sm->warp_count);
    if (!sm->warps) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < sm->warp_count; i++) sm->warps[i] = (TimeWarp){.trace = {.pages = m->sim->pages}};
    sm->ctas = pages_take(m->sim->pages, sizeof *sm->ctas * sm->cta_count);
    if (!sm->ctas) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < sm->cta_count; i++) sm->ctas[i] = (TimeCta){.used = false};
    TRY(memory_init_sm(sm));
    TRY(sm_set_l1(sm, m->l1_bytes));
    for (u32 i = 0; i < m->code.len; i++) sm_prefetch(sm, &m->code.data[i]);
    return STATUS_OK;
}

// What it was furnished with, in full or in part.
static void clear_out(Sm *sm) {
    Pages *pages = sm->machine->sim->pages;
    for (u32 i = 0; sm->warps && i < sm->warp_count; i++) {
        trace_free(&sm->warps[i].trace);
        free_slots(pages, &sm->warps[i], sm->warps[i].slot_cap);
    }
    pages_give(pages, sm->warps, sizeof *sm->warps * sm->warp_count);
    pages_give(pages, sm->ctas, sizeof *sm->ctas * sm->cta_count);
    sm->warps = NULL;
    sm->ctas = NULL;
    memory_free_sm(sm);
    sm->furnished = false;
}

Status sm_furnish(Sm *sm) {
    Status status = furnish(sm);
    sm->furnished = true;
    if (status != STATUS_OK) clear_out(sm);
    return status;
}

void sm_free(Sm *sm) {
    if (sm->furnished) clear_out(sm);
    mem_free(sm->failed);
    vec_free(&sm->low);
    vec_free(&sm->starts);
    vec_free(&sm->ended);
    vec_free(&sm->ended_at);
}

void sm_abandon(Sm *sm, u64 cycle) {
    sm->cold = true;
    sm->share = 0;
    sm->starts.len = sm->starting_warps = 0;
    if (!sm->furnished) return;
    for (u32 i = 0; i < sm->warp_count; i++) {
        sm->warps[i].state = TW_FREE;
        sm->warps[i].serial++;
    }
    for (u32 i = 0; i < sm->cta_count; i++) sm->ctas[i].used = false, sm->ctas[i].placed = 0, sm->ctas[i].serial++;
    for (u32 i = 0; i < sm->scheduler_count; i++) {
        Scheduler *s = &sm->schedulers[i];
        for (u32 k = 0; k < SCHED_WARPS; k++) s->at[k] = NEVER, s->warps[k] = NULL;
        s->ready = s->waiting = s->tracing = s->held = s->held_units = 0;
        for (u32 k = 0; k < UNIT_COUNT; k++) s->units[k].held = 0;
        s->resident = s->taken = 0;
        s->next = NEVER;
        account_slots(sm, s, cycle, NULL);
    }
    sm->resident_warps = sm->resident_ctas = sm->stuck_warps = sm->first_place = 0;
    sm->paused = sm->moved = false;
    sm->fill = (FrontFill){0};
    mem_free(sm->failed);
    sm->failed = NULL;
    sm->low.len = sm->ended.len = sm->ended_at.len = 0;
    memory_abandon(sm);
    sm_flush(sm);
    sm_note(sm);
}
