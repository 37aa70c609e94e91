// SPDX-License-Identifier: Apache-2.0
#include "sim/time/tally.h"

#include "base/map.h"

Status tally_init(Tally *t, u32 pc_count, u32 sample_sets) {
    *t = (Tally){.pc_count = pc_count, .edge_cap = 256, .sets = sample_sets};
    while (t->edge_cap < 4 * pc_count) t->edge_cap *= 2;
    t->issued = mem_zero(pc_count, sizeof *t->issued);
    t->cells = mem_zero((u64)pc_count * STALL_COUNT, sizeof *t->cells);
    t->pcs = mem_zero(pc_count, sizeof *t->pcs);
    t->edges = mem_zero(t->edge_cap, sizeof *t->edges);
    t->samples = mem_zero((u64)sample_sets * pc_count * STALL_COUNT * 2, sizeof *t->samples);
    if (!t->issued || !t->cells || !t->pcs || !t->edges || !t->samples) return STATUS_NO_MEMORY;
    for (u32 pc = 0; pc < pc_count; pc++) tally_row(t, pc)[STALL_NOT_SELECTED].cause = WL_NONE;
    return STATUS_OK;
}

void tally_free(Tally *t) {
    mem_free(t->issued);
    mem_free(t->cells);
    mem_free(t->pcs);
    mem_free(t->edges);
    mem_free(t->samples);
    *t = (Tally){0};
}

static TimeEdge *find(TimeEdge *edges, u32 cap, u32 pc, u32 cause, u8 reason) {
    u32 at = (u32)hash_u64((u64)pc << 32 ^ (u64)cause << 8 ^ reason) & (cap - 1);
    while (edges[at].cycles && (edges[at].pc != pc || edges[at].cause != cause || edges[at].reason != reason))
        at = (at + 1) & (cap - 1);
    return &edges[at];
}

static bool grow(Tally *t) {
    TimeEdge *bigger = mem_zero(t->edge_cap * 2, sizeof *bigger);
    if (!bigger) return false;
    for (u32 i = 0; i < t->edge_cap; i++) {
        const TimeEdge *e = &t->edges[i];
        if (e->cycles) *find(bigger, t->edge_cap * 2, e->pc, e->cause, e->reason) = *e;
    }
    mem_free(t->edges);
    t->edges = bigger;
    t->edge_cap *= 2;
    return true;
}

void tally_edge(Tally *t, u32 pc, u32 cause, u8 reason, u64 cycles, u64 times) {
    TimeEdge *e = find(t->edges, t->edge_cap, pc, cause, reason);
    if (!e->cycles) {
        if (t->edge_count >= t->edge_cap / 4 * 3) {
            if (!grow(t)) return (void)(t->failed = true);
            e = find(t->edges, t->edge_cap, pc, cause, reason);
        }
        *e = (TimeEdge){.pc = pc, .cause = cause, .reason = reason};
        t->edge_count++;
    }
    e->cycles += cycles;
    e->times += times;
}

void tally_turn(Tally *t, TallyCell *cell, u32 cause) {
    u64 at = (u64)(cell - t->cells);
    u32 pc = (u32)(at / STALL_COUNT), reason = (u32)(at % STALL_COUNT);
    TallyCell had = *cell;
    *cell = (TallyCell){.cause = cause};
    if (!had.cycles) return;
    t->pcs[pc].stalls[reason] += had.cycles;
    t->pcs[pc].latency[reason] += had.cycles - had.issued;
    if (had.cause != WL_NONE) tally_edge(t, pc, had.cause, (u8)reason, had.cycles, had.times);
}

void tally_settle(Tally *t) {
    for (u64 i = 0; i < (u64)t->pc_count * STALL_COUNT; i++)
        if (t->cells[i].cycles) tally_turn(t, &t->cells[i], t->cells[i].cause);
}

void tally_merge(Tally *to, const Tally *from) {
    for (u32 pc = 0; pc < to->pc_count; pc++) {
        to->issued[pc] += from->issued[pc];
        to->pcs[pc].spilled += from->pcs[pc].spilled;
        for (u32 r = 0; r < STALL_COUNT; r++) {
            to->pcs[pc].stalls[r] += from->pcs[pc].stalls[r];
            to->pcs[pc].latency[r] += from->pcs[pc].latency[r];
        }
    }
    for (u64 i = 0; i < (u64)to->sets * to->pc_count * STALL_COUNT * 2; i++) to->samples[i] += from->samples[i];
    for (u32 i = 0; i < from->edge_cap; i++) {
        const TimeEdge *e = &from->edges[i];
        if (e->cycles) tally_edge(to, e->pc, e->cause, e->reason, e->cycles, e->times);
    }
    for (u32 r = 0; r < STALL_COUNT; r++) {
        to->slot_stalls[r] += from->slot_stalls[r];
    }
    for (u32 i = 0; i < LATENCY_BUCKETS; i++) to->load_latency[i] += from->load_latency[i];
    to->failed |= from->failed;
}
