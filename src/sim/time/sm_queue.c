// SPDX-License-Identifier: Apache-2.0
// The queues before the load/store and the texture unit. Instructions are served in the order in which they were
// issued. With lsu_turns warps that find the queue full issue in the order in which they came, whatever the scheduler
// prefers: on an H200 2 to 16 warps that do nothing but store take turns, those of one scheduler, too
// (bench/hwref/h200-rows.tsv, rows/issue/store). What a warp issues without a pause stays together (h200-joins.tsv: of
// 16 and 32 warps that store to a line four times in a row, the stores still meet two to three at a time). Turns do not
// keep the unit waiting: 64 warps that load one word each time have 1.55 cycles a load, as h200-micro.tsv,
// stride/load_l1/0 (HeCBench's surfel: 64 warps, 65,000 cycles; 114,000 with one warp let in every four cycles).
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sm_account.h"
#include "sim/time/sm_parts.h"

enum {
    QUEUE_BATCH = 2,  // places that have to be free before a full queue takes instructions again
    QUEUE_LOW = 8,    // places: when fewer are taken, and will be by warps that were let in, others are let in
    // Cycles in which a warp may add another instruction, four behind the first, before the next one has its turn.
    QUEUE_RUN = 5
};

bool pipe_init(Pipe *p, Pages *pages, u32 room, u32 own, bool turns) {
    *p = (Pipe){
        .pages = pages, .room = room, .own = own, .turns = turns, .cap = room + 64, .word_cap = 512, .most_reads = 1};
    reads_clear(p);
    p->entries = pages_take(pages, p->cap * sizeof *p->entries);
    p->words = pages_take(pages, p->word_cap * sizeof *p->words);
    return p->entries && p->words;
}

void pipe_free(Pipe *p) {
    pages_give(p->pages, p->entries, p->cap * sizeof *p->entries);
    pages_give(p->pages, p->words, p->word_cap * sizeof *p->words);
    *p = (Pipe){0};
}

void pipe_clear(Pipe *p) {
    p->first = p->count = p->word_first = p->word_count = p->owed = 0;
    p->data_free = 0;
    reads_clear(p);
    p->blocked = false;
    memset(p->gates, 0, sizeof p->gates);
}

static bool pipe_words(Pipe *p, u32 count) {
    if (p->word_count + count <= p->word_cap) return true;
    u32 cap = p->word_cap * 2;
    while (cap < p->word_count + count) cap *= 2;
    u64 *bigger = pages_take(p->pages, sizeof *bigger * cap);
    if (!bigger) return false;
    for (u32 i = 0; i < p->word_count; i++)
        bigger[(p->word_first + i) & (cap - 1)] = p->words[(p->word_first + i) & (p->word_cap - 1)];
    pages_give(p->pages, p->words, sizeof *bigger * p->word_cap);
    p->words = bigger;
    p->word_cap = cap;
    return true;
}

static bool pipe_grow(Pipe *p) {
    PipeEntry *bigger = pages_take(p->pages, sizeof *bigger * p->cap * 2);
    if (!bigger) return false;
    for (u32 i = 0; i < p->count; i++) bigger[i] = p->entries[(p->first + i) % p->cap];
    pages_give(p->pages, p->entries, sizeof *bigger * p->cap);
    p->entries = bigger;
    p->first = 0;
    p->cap *= 2;
    return true;
}

static PipeGate *gate_of(Pipe *p, u32 sched) { return &p->gates[p->own ? sched : 0]; }

static bool is_full(const Pipe *p, const PipeGate *gate) { return p->count >= p->room && gate->behind >= p->own; }

bool pipe_push(Pipe *p, PipeEntry e, const u64 *lines, u32 count) {
    if (!pipe_words(p, count) || (p->count == p->cap && !pipe_grow(p))) return false;
    e.words = p->word_first + p->word_count;
    e.count = count;
    for (u32 i = 0; i < count; i++) p->words[(e.words + i) & (p->word_cap - 1)] = lines[i];
    p->word_count += count;
    PipeGate *gate = gate_of(p, e.sched);
    if (p->own && p->count >= p->room) gate->behind++;
    p->entries[(p->first + p->count++) % p->cap] = e;
    if (is_full(p, gate)) gate->closed = true;
    return true;
}

static u64 warps_coming(const Pipe *p) {
    u64 coming = 0;
    for (u32 i = 0; i < SM_SCHEDULERS; i++) coming += p->gates[i].coming;
    return coming;
}

// Whose turn it is: a warp of the CTA that came first, of these the one that has waited longest.
static TimeWarp *take_first(const Sm *sm, PipeGate *gate) {
    u32 first = 0;
    for (u32 k = 1; k < gate->waiting_count; k++) {
        const TimeWarp *a = &sm->warps[gate->waiting[k]], *b = &sm->warps[gate->waiting[first]];
        if (a->cta->came != b->cta->came ? a->cta->came < b->cta->came : a->place < b->place) first = k;
    }
    TimeWarp *w = &sm->warps[gate->waiting[first]];
    gate->waiting[first] = gate->waiting[--gate->waiting_count];
    return w;
}

// Lets in warps from `cycle` on: one, if nobody who was let in is still to come, and as many as keep the unit busy
// until they have come.
static void let_in(Sm *sm, Pipe *p, PipeGate *gate, u64 cycle) {
    u32 low = p->room < QUEUE_LOW ? p->room : QUEUE_LOW;
    while (gate->waiting_count && (!gate->coming || p->count + warps_coming(p) < low)) {
        TimeWarp *w = take_first(sm, gate);
        w->place = PLACE_LET_IN;
        gate->coming++;
        if (scheduler_of(sm, w)->at[w->slot] == NEVER) set_at(sm, w, TW_READY, cycle);
    }
}

// A gate that was closed opens when a batch of instructions has left what is behind it.
static void open_gate(Sm *sm, Pipe *p, PipeGate *gate, u64 cycle) {
    u32 waiting = p->own ? gate->behind : p->count, room = p->own ? p->own : p->room;
    if (gate->closed && p->count && waiting + QUEUE_BATCH > room && (!p->own || p->count >= p->room)) return;
    gate->closed = false;
    // Open already, too: what came last may have put nothing into it, all its lanes predicated off, and woken nobody.
    let_in(sm, p, gate, cycle + 1);
}

void pipe_pop(Sm *sm, Pipe *p, u64 cycle) {
    const PipeEntry *e = &p->entries[p->first];
    p->word_first += e->count;
    p->word_count -= e->count;
    if (p->own && p->count > p->room) gate_of(p, p->entries[(p->first + p->room) % p->cap].sched)->behind--;
    p->first = (p->first + 1) % p->cap;
    p->count--;
    for (u32 i = 0; i < (p->own ? sm->scheduler_count : 1); i++)
        if (p->gates[i].closed || p->gates[i].waiting_count) open_gate(sm, p, &p->gates[i], cycle);
}

void pipe_passed(Sm *sm, Pipe *p, u64 cycle) {
    if (p->count) return;
    for (u32 i = 0; i < (p->own ? sm->scheduler_count : 1); i++) let_in(sm, p, &p->gates[i], cycle + 1);
}

PipeEntry *pipe_head(const Pipe *p) { return &p->entries[(p->first + p->reading) % p->cap]; }

u64 pipe_next_head(const Pipe *p) {
    if (p->count == p->reading || p->reads == p->most_reads || p->reading >= p->room || p->blocked) return NEVER;
    u64 issued = pipe_head(p)->issued;
    return p->free_at > issued ? p->free_at : issued;
}

u64 pipe_next(const Pipe *p) {
    u64 head = pipe_next_head(p);
    return head < p->read_next ? head : p->read_next;
}

// Behind the warps that came before it, and to be woken; 0: it is its turn.
static u64 take_turn(Sm *sm, Pipe *p, TimeWarp *w, u64 cycle) {
    PipeGate *gate = gate_of(p, w->sched);
    u32 number = (u32)(w - sm->warps);
    bool in = w->place == PLACE_LET_IN, running = gate->last == number || cycle - w->entered <= QUEUE_RUN;
    if (in || (!w->place && !gate->closed && (running || !gate->waiting_count))) {
        gate->coming -= in;
        w->place = 0;
        w->entered = cycle;
        gate->last = number;
        if (p->count + 1 < p->room || gate->behind + 1 < p->own)
            let_in(sm, p, gate, cycle + (p->count + 1 < QUEUE_LOW ? 1 : QUEUE_RUN));
        return 0;
    }
    if (!w->place) {
        w->place = ++gate->places;
        gate->waiting[gate->waiting_count++] = (u8)number;
    }
    return NEVER;
}

u64 memory_full_until(Sm *sm, Pipe *p, TimeWarp *w, u64 cycle) {
    if (p->turns) return take_turn(sm, p, w, cycle);
    if (!is_full(p, gate_of(p, w->sched))) return 0;
    u64 next = pipe_next(p);
    return (next == NEVER || next <= cycle ? cycle : next) + (p->blocked ? 16 : 1);
}
