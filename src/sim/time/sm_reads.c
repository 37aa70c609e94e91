// SPDX-License-Identifier: Apache-2.0
// Loads that hit several words of one bank of the L1: it gives a wavefront a cycle, by turns to all the warps that have
// such a load under way, so that loads begun together end together. A warp gets one every l1_conflict cycles at most,
// and its loads follow each other (bench/hwref/h200-row-turns.tsv, L, LL, LLLL: loads of 32 wavefronts each of 1, 2, 4
// and 8 warps are there 69, 74, 138 and 270 cycles after one of a word, the first warp's no earlier than the last's;
// h200-rows.tsv, rows/LW, LLW, LLLLW, LLLLLLLLW: 167, 215, 346, 615 cycles for a warp's 1, 2, 4, 8 loads). A store or
// whatever else is no load waits until all could have been read a wavefront a cycle, and for its own warp's (LSU, LSL
// of one warp; h200-rows.tsv, SLW and LSW: 8 and 16 warps take 32 cycles for each load and 64 for each store).
#include "sim/time/sm_parts.h"

enum { WAVEFRONT = 1 << 16 };  // of Pipe.read_clock

static PipeEntry *entry(const Pipe *p, u32 i) { return &p->entries[(p->first + i) % p->cap]; }

static const TimeWarp *warp_of(const Sm *sm, const PipeEntry *e) { return sm->tickets.data[e->ticket].warp; }

static u64 cycles_a_wavefront(const Sm *sm, const Pipe *p) {
    return p->turns_of > sm->gpu->l1_conflict ? p->turns_of : sm->gpu->l1_conflict;
}

static void advance(const Sm *sm, Pipe *p, u64 cycle) {
    if (cycle <= p->read_at) return;
    if (p->turns_of) p->read_clock += (cycle - p->read_at) * WAVEFRONT / cycles_a_wavefront(sm, p);
    p->read_at = cycle;
}

static void find_next(const Sm *sm, Pipe *p) {
    u64 least = NEVER;
    for (u32 i = 0; i < p->reading; i++) {
        const PipeEntry *e = entry(p, i);
        if (e->read_state == READ_TURNS && e->read_end < least) least = e->read_end;
    }
    u64 left = least > p->read_clock ? least - p->read_clock : 0;
    p->read_next = least == NEVER ? NEVER : p->read_at + (left * cycles_a_wavefront(sm, p) + WAVEFRONT - 1) / WAVEFRONT;
}

static void take_turns(Pipe *p, PipeEntry *e) {
    e->read_state = READ_TURNS;
    e->read_end += p->read_clock;
    p->turns_of++;
}

void reads_clear(Pipe *p) {
    p->reading = p->turns_of = p->reads = p->held = 0;
    p->read_clock = p->read_at = p->read_free = 0;
    p->read_next = NEVER;
}

// One of the warp's that is not through yet.
static bool has_read(const Sm *sm, const Pipe *p, const TimeWarp *warp) {
    for (u32 i = 0; i < p->reading; i++)
        if (entry(p, i)->read_state != READ_DONE && warp_of(sm, entry(p, i)) == warp) return true;
    return false;
}

void reads_begin(Sm *sm, Pipe *p, u64 wavefronts, u32 late, u64 cycle) {
    PipeEntry *e = pipe_head(p);
    advance(sm, p, cycle);
    e->read_state = READ_WAITS;
    e->read_end = wavefronts * WAVEFRONT;
    e->read_late = (u16)late;
    if (!has_read(sm, p, warp_of(sm, e))) take_turns(p, e);
    p->reading++;
    p->reads++;
    p->read_free = (p->read_free > cycle ? p->read_free : cycle) + wavefronts;
    find_next(sm, p);
}

// A load of a wavefront takes a cycle, a sector that comes half of one: with nothing to a half of one loads among loads
// that miss are as far from an H200's (h200-row-turns.tsv, ML, LM, MLLL and their like of 1 and 4 warps: 7.5 % in the
// mean), with a whole one farther (8.4 %); of distort, bsearch, tensorAccessor and tissue half a one is the nearest.
void reads_hold(Pipe *p, u32 halves) {
    if (!p->turns_of) return;
    p->held += halves;
    p->read_at += p->held / 2;
    p->read_next += p->held / 2;
    p->held %= 2;
}

u64 reads_wait(const Sm *sm, const Pipe *p) {
    return p->reads && has_read(sm, p, warp_of(sm, pipe_head(p))) ? p->read_next : p->read_free;
}

void reads_leave(Sm *sm, Pipe *p, u64 cycle) {
    if (!p->reading) return pipe_pop(sm, p, cycle);
    pipe_head(p)->read_state = READ_DONE;
    p->reading++;
}

static void through(Sm *sm, Pipe *p, u32 at, u64 cycle) {
    PipeEntry *e = entry(p, at);
    const TimeWarp *warp = warp_of(sm, e);
    e->read_state = READ_DONE;
    p->turns_of--;
    p->reads--;
    for (u32 i = at + 1; i < p->reading; i++)
        if (entry(p, i)->read_state == READ_WAITS && warp_of(sm, entry(p, i)) == warp) {
            take_turns(p, entry(p, i));
            break;
        }
    sm_ticket_part(sm, e->ticket, 1, cycle + sm->gpu->l1_latency + e->read_late - sm->gpu->l1_conflict, cycle);
}

void reads_end(Sm *sm, Pipe *p, u64 cycle) {
    advance(sm, p, cycle);
    for (u32 i = 0; i < p->reading; i++)
        if (entry(p, i)->read_state == READ_TURNS && entry(p, i)->read_end <= p->read_clock) through(sm, p, i, cycle);
    while (p->reading && entry(p, 0)->read_state == READ_DONE) {
        p->reading--;
        pipe_pop(sm, p, cycle);
    }
    if (!p->reading) p->read_clock = 0;
    find_next(sm, p);
}
