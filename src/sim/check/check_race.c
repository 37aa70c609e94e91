// SPDX-License-Identifier: Apache-2.0
// Races on shared memory, by happens-before: vector clocks for the warps of a CTA (Flanagan and Freund, "FastTrack:
// efficient and precise dynamic race detection", PLDI 2009), adapted to the GPU.
//
// The unit that synchronises is the warp: what one lane releases counts for all lanes of its warp, which can hide a
// race but never invents one. A tick is one memory instruction of a warp. Order between warps comes from CTA barriers,
// mbarriers, and from strong accesses (PTX ISA 9.0, 8.8: volatile, relaxed, acquire, release, atomics) together with
// fences. atom.cas, atom.exch and volatile accesses acquire and release by themselves: locks and flags without a fence
// are common and work. Accesses that are both strong do not race. Order between lanes of one warp comes from
// __syncwarp and the other .sync instructions, and from running in lockstep.
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"

#define LAST_TICK 0xc0000000u
#define MOST_BYTES (4ull << 30)
#define OVERFLOW_KEY UINT64_MAX  // one variable for all behind the most
enum { MOST_SYNC_VARIABLES = 1 << 16 };
enum { EXIT_ROW = CTA_BARRIERS + 1 };  // behind the barriers' clocks: what exited threads did

// --- per CTA
// -----------------------------------------------------------------------------------------------------------
void race_cta_free(CheckCta *cc) {
    mem_free(cc->writes);
    mem_free(cc->readers);
    mem_free(cc->reads);
    mem_free(cc->clocks);
    map_free(&cc->sync_at);
    vec_free(&cc->sync_clock);
}

// The smallest access to shared memory that the program makes, so that neighbours are told apart.
static u32 granule_shift(const SimProgram *p) {
    u32 shift = 2;
    for (u32 i = 0; i < p->insn_count; i++) {
        u32 class = p->check[i].class;
        const SimInsn *in = &p->insns[i];
        bool shared = in->space == SPACE_SHARED || in->space == SPACE_NONE;
        bool narrow = class == CLASS_LOAD_STORE || class == CLASS_ATOMIC;
        if (shared && narrow && in->width && in->width < 1u << shift) shift = in->width == 1 ? 0 : 1;
    }
    return shift;
}

// Records of many large blocks that are resident at once: there is no room for all.
static bool has_room(Check *c, const CheckCta *cc) {
    u64 writes = cc->granules > cc->write_cap ? cc->granules - cc->write_cap : 0;
    u64 reads =
        (u64)cc->granules * cc->warp_count > cc->read_cap ? (u64)cc->granules * cc->warp_count - cc->read_cap : 0;
    u64 bytes = (2 * writes + reads) * sizeof(RaceCell);
    if (c->race_bytes + bytes > MOST_BYTES) return false;
    c->race_bytes += bytes;
    return true;
}

static Status reserve_cells(CheckCta *cc) {
    if (cc->granules > cc->write_cap) {
        mem_free(cc->writes);
        mem_free(cc->readers);
        cc->writes = mem_zero(cc->granules, 2 * sizeof *cc->writes);
        cc->readers = mem_zero(cc->granules, sizeof *cc->readers);
        cc->write_cap = cc->writes && cc->readers ? cc->granules : 0;
        if (!cc->write_cap) return STATUS_NO_MEMORY;
    }
    u64 reads = (u64)cc->granules * cc->warp_count;
    if (reads > cc->read_cap) {
        mem_free(cc->reads);
        cc->reads = mem_zero(reads, sizeof *cc->reads);
        cc->read_cap = cc->reads ? reads : 0;
        if (!cc->reads) return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static Status reserve_clocks(CheckCta *cc) {
    u64 n = cc->warp_count, needed = 3 * n * n + (EXIT_ROW + 1) * n;
    if (needed > cc->clock_cap) {
        mem_free(cc->clocks);
        cc->clocks = mem_alloc(needed * sizeof *cc->clocks);
        cc->clock_cap = cc->clocks ? needed : 0;
        if (!cc->clocks) return STATUS_NO_MEMORY;
    }
    cc->fenced = cc->clocks + n * n;
    cc->pending = cc->fenced + n * n;
    cc->barriers_clock = cc->pending + n * n;
    for (u64 i = 0; i < needed; i++) cc->clocks[i] = cc->base;
    return STATUS_OK;
}

Status race_cta_start(Check *c, const Cta *cta, CheckCta *cc) {
    for (u32 w = 0; w < cc->warp_cap; w++) {
        if (cc->warps[w].tick > cc->base) cc->base = cc->warps[w].tick;
        cc->warps[w].wgmma_tick = 0;
    }
    cc->granules = 0;
    if (!(c->checks & CHECK_RACE)) return STATUS_OK;
    if (cc->base >= LAST_TICK) {
        for (u32 w = 0; w < cc->warp_cap; w++) cc->warps[w].tick = 0;
        if (cc->write_cap) memset(cc->writes, 0, cc->write_cap * 2 * sizeof *cc->writes);
        if (cc->read_cap) memset(cc->reads, 0, cc->read_cap * sizeof *cc->reads);
        cc->base = 0;
    }
    if (cta->shared_size == 0) return STATUS_OK;
    cc->shift = granule_shift(c->grid->program);
    cc->granules = (cta->shared_size + (1u << cc->shift) - 1) >> cc->shift;
    if (cc->sync_at.len) map_free(&cc->sync_at);
    cc->sync_clock.len = 0;
    if (!has_room(c, cc)) return cc->granules = 0, STATUS_OK;
    TRY(reserve_cells(cc));
    return reserve_clocks(cc);
}

// --- clocks
// ------------------------------------------------------------------------------------------------------------
static void join(u32 *to, const u32 *from, u32 count) {
    for (u32 i = 0; i < count; i++) to[i] = to[i] > from[i] ? to[i] : from[i];
}

static u32 *row(u32 *matrix, const CheckCta *cc, u32 warp) { return matrix + (u64)warp * cc->warp_count; }

// `clock` of a warp goes into `to`, the warp's own accesses so far included when `own`.
static void publish(const CheckCta *cc, u32 *to, const u32 *clock, u32 warp, bool own) {
    join(to, clock, cc->warp_count);
    if (own && to[warp] < cc->warps[warp].tick) to[warp] = cc->warps[warp].tick;
}

static u32 *sync_variable(CheckCta *cc, u64 key, bool make) {
    const u64 *known = map_get(&cc->sync_at, key);
    u32 n = cc->warp_count;
    if (known) return cc->sync_clock.data + *known;
    if (cc->sync_at.len >= MOST_SYNC_VARIABLES && key != OVERFLOW_KEY) return sync_variable(cc, OVERFLOW_KEY, make);
    if (!make || vec_reserve(&cc->sync_clock, n) != STATUS_OK) return NULL;
    u32 at = cc->sync_clock.len;
    if (map_put(&cc->sync_at, key, at) != STATUS_OK) return NULL;
    for (u32 i = 0; i < n; i++) cc->sync_clock.data[at + i] = cc->base;
    cc->sync_clock.len += n;
    return cc->sync_clock.data + at;
}

void race_sync_read(Exec *x, u64 key, bool acquire) {
    CheckCta *cc = check_cta(x->check, x->cta);
    if (!cc->granules) return;
    const u32 *variable = sync_variable(cc, key, false);
    if (variable) join(row(acquire ? cc->clocks : cc->pending, cc, x->warp->index), variable, cc->warp_count);
}

void race_sync_write(Exec *x, u64 key, bool release) {
    CheckCta *cc = check_cta(x->check, x->cta);
    u32 w = x->warp->index;
    if (!cc->granules) return;
    const u32 *fenced = row(cc->fenced, cc, w);
    if (!release && fenced[w] == cc->base) return;  // no fence yet: nothing to pass on
    u32 *variable = sync_variable(cc, key, true);
    if (variable) publish(cc, variable, release ? row(cc->clocks, cc, w) : fenced, w, release);
}

void race_fence(Exec *x) {
    CheckCta *cc = check_cta(x->check, x->cta);
    u32 w = x->warp->index;
    if (!cc->granules) return;
    u32 *clock = row(cc->clocks, cc, w);
    join(clock, row(cc->pending, cc, w), cc->warp_count);
    publish(cc, row(cc->fenced, cc, w), clock, w, true);
}

void race_barrier_arrive(Check *c, const Warp *w, u32 barrier) {
    CheckCta *cc = check_cta(c, w->cta);
    if (cc->granules) publish(cc, row(cc->barriers_clock, cc, barrier), row(cc->clocks, cc, w->index), w->index, true);
}

void race_barrier_leave(Check *c, const Warp *w, u32 barrier, u32 lanes, bool open) {
    CheckCta *cc = check_cta(c, w->cta);
    cc->warps[w->index].interval++;
    race_lanes_synced(c, w, lanes);
    if (!cc->granules) return;
    u32 *clock = row(cc->clocks, cc, w->index);
    join(clock, row(cc->barriers_clock, cc, barrier), cc->warp_count);
    if (open) join(clock, row(cc->barriers_clock, cc, EXIT_ROW), cc->warp_count);
    join(clock, row(cc->pending, cc, w->index), cc->warp_count);
    publish(cc, row(cc->fenced, cc, w->index), clock, w->index, true);
}

// What a group of wgmma reads is read when the group is complete, by whichever warp: a warp that has waited comes after
// what the others of its warpgroup did before they committed. That is more order than there is for their own accesses.
void race_wgmma_commit(Check *c, const Warp *w) { check_warp(c, w)->wgmma_tick = check_warp(c, w)->tick; }
void race_wgmma_done(Check *c, const Warp *w, u32 warps) {
    CheckCta *cc = check_cta(c, w->cta);
    u32 first = w->index - w->index % WARPGROUP;
    if (!cc->granules) return;
    u32 *clock = row(cc->clocks, cc, w->index);
    for (u32 i = first; i < first + warps; i++)
        if (clock[i] < cc->warps[i].wgmma_tick) clock[i] = cc->warps[i].wgmma_tick;
}

// A barrier of all threads does not wait for exited ones, and comes after them.
void race_exit(Check *c, const Warp *w) { race_barrier_arrive(c, w, EXIT_ROW); }

void race_barrier_reset(Check *c, const Cta *cta, u32 barrier) {
    CheckCta *cc = check_cta(c, cta);
    if (!cc->granules) return;
    u32 *clock = row(cc->barriers_clock, cc, barrier);
    for (u32 i = 0; i < cc->warp_count; i++) clock[i] = cc->base;
}

void race_lanes_synced(Check *c, const Warp *w, u32 lanes) {
    CheckWarp *cw = check_warp(c, w);
    u32 all = w->lanes & ~w->exited;
    if ((lanes & all) == all) {
        cw->synced = cw->tick;
        cw->partly = false;
        return;
    }
    if (!cw->partly)
        for (u32 a = 0; a < LANES; a++)
            for (u32 b = 0; b < LANES; b++) cw->known[a][b] = cw->synced;
    cw->partly = true;
    u32 together[LANES] = {0};
    for (u32 left = lanes; left; left &= left - 1) join(together, cw->known[__builtin_ctz(left)], LANES);
    for (u32 left = lanes; left; left &= left - 1) together[__builtin_ctz(left)] = cw->tick;
    for (u32 left = lanes; left; left &= left - 1) memcpy(cw->known[__builtin_ctz(left)], together, sizeof together);
}

// --- accesses
// -----------------------------------------------------------------------------------------------------------
typedef struct Now {  // the access that is looked at
    Exec *x;
    CheckCta *cc;
    CheckWarp *cw;
    const u32 *clock;
    u32 warp, pc, lane;
    u8 flags;
    bool store, atomic;
    u64 offset;
    u32 bytes;
} Now;

static bool is_empty(const Now *n, const RaceCell *cell) { return cell->tick <= n->cc->base; }

static bool lanes_ordered(const Now *n, const RaceCell *cell) {
    const CheckWarp *cw = n->cw;
    if (cell->lane == n->lane || cell->tick <= cw->synced) return true;
    bool lockstep = cell->active >> n->lane & 1 && n->x->active >> cell->lane & 1;
    return lockstep || (cw->partly && cw->known[n->lane][cell->lane] >= cell->tick);
}

typedef struct Party {
    u32 pc, thread;
    bool store, atomic;
    u16 interval;
} Party;

// Which of the two accesses came first is an accident of scheduling: the read, or the write further down in the
// program, is what the finding is about.
static void report(const Now *n, CheckRule rule, const RaceCell *cell, bool cell_is_write) {
    Check *c = n->x->check;
    Party here = {n->pc, n->warp * LANES + n->lane, n->store, n->atomic, n->cw->interval};
    Party there = {cell->pc, cell->warp * LANES + cell->lane, cell_is_write, cell_is_write && cell->flags & CELL_STRONG,
                   cell->interval};
    bool swap = here.store != there.store ? here.store : here.pc < there.pc;
    if (rule == RULE_RACE_ASYNC || rule == RULE_RACE_WARP) swap = false;
    const Party first = swap ? there : here, second = swap ? here : there;
    CheckAccess access = {.bytes = n->bytes, .space = SPACE_SHARED, .store = first.store, .atomic = first.atomic};
    char what[96];
    bool is_new;
    SimFinding *f = check_find(c, rule, first.pc, second.pc, &is_new, check_access_text(what, sizeof what, &access));
    if (!f || !is_new) return;
    check_place_thread(&f->place, n->x->cta, first.thread);
    f->other = check_place(c, second.pc);
    check_place_thread(&f->other, n->x->cta, second.thread);
    f->other_role = rule == RULE_RACE_ASYNC ? "Copied asynchronously" : second.store ? "Written" : "Read";
    f->address = n->offset;
    check_note(c, f, "Offset 0x%llx of the block's %u bytes of shared memory", (unsigned long long)n->offset,
               n->x->cta->shared_size);
    check_note(c, f, "Block barriers passed: %u here, %u there", first.interval, second.interval);
}

// True when nothing is wrong between this access and an earlier one.
static bool is_fine(const Now *n, const RaceCell *cell) {
    if (is_empty(n, cell)) return true;
    if (n->flags & cell->flags & CELL_STRONG) return true;
    if (cell->flags & CELL_ASYNC) return cell->warp == n->warp && cell->lane == n->lane && n->flags & CELL_ASYNC;
    return cell->warp == n->warp ? lanes_ordered(n, cell) : cell->tick <= n->clock[cell->warp];
}

static void complain(const Now *n, const RaceCell *cell, bool cell_is_write) {
    CheckRule rule = cell->flags & CELL_ASYNC    ? RULE_RACE_ASYNC
                     : cell->warp == n->warp     ? RULE_RACE_WARP
                     : n->store && cell_is_write ? RULE_RACE_WRITE_WRITE
                                                 : RULE_RACE_READ_WRITE;
    report(n, rule, cell, cell_is_write);
}

static RaceCell cell_of(const Now *n) {
    return (RaceCell){.tick = n->cw->tick,
                      .pc = n->pc,
                      .active = n->x->active,
                      .interval = n->cw->interval,
                      .warp = (u8)n->warp,
                      .lane = (u8)n->lane,
                      .flags = n->flags};
}

static RaceCell *last_write(const CheckCta *cc, u32 granule, bool strong) { return &cc->writes[2 * granule + strong]; }

// Several threads that store the same value do no harm.
static bool is_silent(const Now *n) {
    return n->store && check_stores_same(n->x, &n->x->grid->program->insns[n->pc], n->lane, n->offset);
}

static void compare_write(const Now *n, u32 granule, bool strong) {
    const RaceCell *last = last_write(n->cc, granule, strong);
    if (!is_fine(n, last) && !is_silent(n)) complain(n, last, true);
}

static void read_granule(const Now *n, u32 granule) {
    compare_write(n, granule, false);
    if (!(n->flags & CELL_STRONG)) compare_write(n, granule, true);
    n->cc->readers[granule] |= 1u << n->warp;
    n->cc->reads[(u64)n->warp * n->cc->granules + granule] = cell_of(n);
}

static void write_granule(const Now *n, u32 granule) {
    bool strong = n->flags & CELL_STRONG;
    RaceCell *last = last_write(n->cc, granule, strong);
    bool together = last->tick == n->cw->tick && last->warp == n->warp && last->lane != n->lane && last->pc == n->pc;
    if (together && !n->atomic && !is_empty(n, last)) {
        if (!check_same_value(n->x, &n->x->grid->program->insns[n->pc], n->lane, last->lane))
            report(n, RULE_RACE_INSTRUCTION, last, true);
    } else {
        compare_write(n, granule, false);
        if (!strong) compare_write(n, granule, true);
    }
    for (u32 left = n->cc->readers[granule]; left; left &= left - 1) {
        u32 warp = (u32)__builtin_ctz(left);
        if (warp >= n->cc->warp_count) break;  // of an earlier, larger CTA
        const RaceCell *reader = &n->cc->reads[(u64)warp * n->cc->granules + granule];
        if (!is_fine(n, reader)) complain(n, reader, false);
    }
    n->cc->readers[granule] = 0;
    *last = cell_of(n);
}

void race_access(Exec *x, const RaceAccess *a) {
    CheckCta *cc = check_cta(x->check, x->cta);
    if (!cc->granules || a->offset + a->bytes > x->cta->shared_size) return;
    u32 warp = x->warp->index, first = (u32)(a->offset >> cc->shift),
        last = (u32)((a->offset + a->bytes - 1) >> cc->shift);
    Now n = {.x = x,
             .cc = cc,
             .cw = &cc->warps[warp],
             .clock = row(cc->clocks, cc, warp),
             .warp = warp,
             .pc = a->pc,
             .lane = a->lane,
             .flags = (u8)((a->strong ? CELL_STRONG : 0) | (a->async ? CELL_ASYNC : 0)),
             .store = a->store,
             .atomic = a->atomic,
             .offset = a->offset,
             .bytes = a->bytes};
    for (u32 g = first; g <= last; g++) {
        if (a->store)
            write_granule(&n, g);
        else
            read_granule(&n, g);
    }
    if (!a->async) return;
    PendingCopy copy = {
        .lane = a->lane, .group = n.cw->groups[a->lane], .granule = first, .count = last - first + 1, .pc = a->pc};
    if (vec_push(&n.cw->copies, copy) != STATUS_OK)  // then the copy is taken for done
        for (u32 g = first; g <= last; g++) last_write(cc, g, false)->flags &= (u8)~CELL_ASYNC;
}

// --- asynchronous copies
// --------------------------------------------------------------------------------------------------
void race_commit(Exec *x, u32 mask) {
    CheckWarp *cw = check_warp(x->check, x->warp);
    for (u32 left = mask; left; left &= left - 1) cw->groups[__builtin_ctz(left)]++;
}

// From now on the copy is a write that its thread made just now.
static void complete(CheckCta *cc, const CheckWarp *cw, u32 warp, const PendingCopy *copy) {
    for (u32 g = copy->granule; g < copy->granule + copy->count; g++) {
        RaceCell *cell = last_write(cc, g, false);
        if (!(cell->flags & CELL_ASYNC) || cell->warp != warp || cell->lane != copy->lane) continue;
        cell->flags &= (u8)~CELL_ASYNC;
        cell->tick = cw->tick;
    }
}

void race_copies_done(Exec *x, u32 mask, u32 keep, bool all) {
    CheckCta *cc = check_cta(x->check, x->cta);
    u32 warp = x->warp->index, kept = 0;
    CheckWarp *cw = &cc->warps[warp];
    for (u32 i = 0; i < cw->copies.len; i++) {
        const PendingCopy copy = cw->copies.data[i];
        u32 committed = cw->groups[copy.lane];
        bool over = all || (committed > keep && copy.group < committed - keep);
        if (mask >> copy.lane & 1 && over)
            complete(cc, cw, warp, &copy);
        else
            cw->copies.data[kept++] = copy;
    }
    cw->copies.len = kept;
}
