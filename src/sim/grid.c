// SPDX-License-Identifier: Apache-2.0
// The CTAs of a launch are run one after the other, each to its end. Where one makes no headway - it spins on what
// another CTA will write, and stores nothing meanwhile or the same again and again - more are made resident, up to what
// the GPU could hold, and take turns; when they all go in a circle, they wait for what is outside of the launch; when
// all are blocked, that is a deadlock.
#include "sim/grid.h"

#include <string.h>

#include "sim/check/check.h"

#define WARP_TURN 4000u           // warp instructions before the next warp of the CTA
#define CTA_TURN 100000u          // ... before another resident CTA, while this one is the only one
#define CTA_TURN_POLLING 8000u    // ... while it is, and polls
#define CTA_TURN_SHARED 3000u     // ... while several are resident
#define STUCK_INTERVAL 16u        // rounds without headway from one look at the whole state to the next
#define PATIENT_ROUNDS 8u         // rounds that poll and store, and end no CTA, before more are made resident
#define PROGRESS_STEP (1u << 19)  // warp instructions between two progress reports

// --- CTAs --------------------------------------------------------------------------------------------------------
static Status cta_reserve(Pages *pages, Cta *cta, u32 warps, u32 shared) {
    if (warps > cta->warp_cap) {
        Warp *bigger = pages_resize(pages, cta->warps, sizeof *bigger * cta->warp_cap, sizeof *bigger * warps);
        if (!bigger) return STATUS_NO_MEMORY;
        memset(bigger + cta->warp_cap, 0, sizeof *bigger * (warps - cta->warp_cap));
        cta->warps = bigger;
        cta->warp_cap = warps;
    }
    if (shared > cta->shared_cap || !cta->shared) {
        mem_free(cta->shared);
        cta->shared = mem_alloc(shared + 1);
        cta->shared_cap = cta->shared ? shared : 0;
        if (!cta->shared) return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

u64 grid_local_stride(const Grid *g) {
    u64 bytes = g->program->local_bytes;
    if (g->program->recursive) bytes = bytes + 65536;
    return (bytes + 15) & ~15ull;
}

// CTA `linear` in the order in which they start: cluster after cluster, by rank in each.
static void place_cta(const Grid *g, Cta *cta, u64 linear) {
    u64 cluster = linear / g->cluster_size;
    u32 rank = (u32)(linear % g->cluster_size);
    cta->linear = linear;
    cta->rank = rank;
    for (u32 i = 0; i < 3; i++) {
        u32 clusters = g->grid[i] / g->cluster[i];
        cta->id[i] = (u32)(cluster % clusters) * g->cluster[i] + rank % g->cluster[i];
        cluster /= clusters;
        rank /= g->cluster[i];
    }
}

u32 cta_shared_end(const Grid *g, u32 bytes) {
    u32 unit = (u32)g->sim->config.gpu[g->device].shared_unit;
    return (bytes + unit - 1) / unit * unit;
}

Status grid_cta_start(Grid *g, Cta *cta, u64 linear) {
    u32 threads = g->block[0] * g->block[1] * g->block[2], warps = (threads + LANES - 1) / LANES;
    u32 shared = g->program->shared_bytes + g->dynamic_shared, end = cta_shared_end(g, shared);
    TRY(cta_reserve(g->sim->pages, cta, warps, end));
    cta->grid = g;
    place_cta(g, cta, linear);
    cta->threads = threads;
    cta->warp_count = warps;
    cta->exited_threads = cta->next_warp = cta->cluster_arrived = 0;
    cta->wgmma_committed = false;
    cta->executed = 0;
    cta->shared_size = shared;
    memset(cta->shared, 0, end);
    if (cta->open_barriers) memset(cta->barriers, 0, sizeof cta->barriers);
    cta->open_barriers = 0;
    for (u32 w = 0; w < warps; w++) {
        u32 lanes = threads - w * LANES < LANES ? threads - w * LANES : LANES;
        cta->warps[w].cta = cta;
        cta->warps[w].index = w;
        cta->warps[w].tid = (const u32(*)[LANES])g->tids[w];
        cta->warps[w].trace = NULL;
        TRY(warp_start(&cta->warps[w], g->program, lanes, grid_local_stride(g)));
    }
    cta->used = true;
    return g->exec.check ? check_cta_start(g->exec.check, cta) : STATUS_OK;
}

typedef enum CtaStop { CTA_DONE, CTA_TIRED, CTA_BLOCKED, CTA_FAULT } CtaStop;

// Runs a CTA's warps in turns until it ends, blocks, or has executed `budget` instructions.
static CtaStop cta_run(Grid *g, Cta *cta, u64 budget) {
    Exec *x = &g->exec;
    x->shared = cta->shared;
    x->shared_size = cta->shared_size;
    u64 end = cta->executed + budget;
    u32 idle = 0;
    while (cta->exited_threads < cta->threads) {
        Warp *w = &cta->warps[cta->next_warp];
        cta->next_warp = cta->next_warp + 1 == cta->warp_count ? 0 : cta->next_warp + 1;
        u64 before = cta->executed;
        WarpStop stop = warp_done(w) ? WARP_DONE : warp_run(x, w, WARP_TURN);
        if (stop == WARP_FAULT) return CTA_FAULT;
        idle = cta->executed == before ? idle + 1 : 0;
        if (idle > cta->warp_count) return CTA_BLOCKED;
        if (cta->executed >= end) return CTA_TIRED;
    }
    return CTA_DONE;
}

// --- no headway --------------------------------------------------------------------------------------------------
static u64 mix(u64 hash, const void *data, size_t size) { return hash_u64(hash ^ hash_bytes(data, size)); }

u64 grid_state(const Grid *g) {
    u64 hash = 1;
    for (u32 c = 0; c < g->cta_cap; c++) {
        const Cta *cta = &g->ctas[c];
        if (!cta->used) continue;
        hash = hash_u64(hash ^ cta->linear ^ (u64)cta->next_warp << 48);
        for (u32 i = 0; i < cta->warp_count; i++) {
            const Warp *w = &cta->warps[i];
            hash = mix(hash, w->splits, sizeof *w->splits * w->split_count);
            hash = mix(hash, w->r32, w->r32_size);
            hash = mix(hash, w->r64, w->r64_size);
            hash = mix(hash, w->preds, w->pred_count * sizeof *w->preds);
            hash = mix(hash, w->local, w->local_stride * LANES);
        }
        hash = mix(hash, cta->shared, cta->shared_size);
    }
    return hash;
}

static bool waits_for_others(const Warp *w) {
    for (u32 s = 0; s < w->split_count; s++)
        if (w->splits[s].state == SPLIT_READY) return false;
    return true;
}

bool grid_turned(Grid *g) {
    bool all = true;
    for (u32 c = 0; c < g->cta_cap; c++) {
        const Cta *cta = &g->ctas[c];
        for (u32 i = 0; cta->used && i < cta->warp_count; i++) {
            Warp *w = &cta->warps[i];
            all &= w->executed != w->turned || waits_for_others(w);
            w->turned = w->executed;
        }
    }
    return all;
}

bool grid_has_ctas(const Grid *g) {
    for (u32 c = 0; c < g->cta_cap; c++)
        if (g->ctas[c].used) return true;
    return false;
}

bool stuck_again(Stuck *s, u64 hash) {
    if (s->hashed && hash == s->saved) return true;
    if (s->hashed >= s->next_save) s->saved = hash, s->next_save = s->next_save ? s->next_save * 2 : 1;
    s->hashed++;
    return false;
}

static bool is_stuck(Stuck *s, const Grid *g) {
    return ++s->rounds % STUCK_INTERVAL == 0 && stuck_again(s, grid_state(g));
}

// --- the loop over CTAs ------------------------------------------------------------------------------------------
Status grid_reserve_ctas(Grid *g, u32 count) {
    if (count <= g->cta_cap) return STATUS_OK;
    Cta *bigger = mem_resize(g->ctas, sizeof *bigger * count);
    if (!bigger) return STATUS_NO_MEMORY;
    memset(&bigger[g->cta_cap], 0, sizeof *bigger * (count - g->cta_cap));
    g->ctas = bigger;
    g->cta_cap = count;
    for (u32 c = 0; c < count; c++)  // warps point at their CTA, which may have moved
        for (u32 i = 0; i < bigger[c].warp_count; i++) bigger[c].warps[i].cta = &bigger[c];
    return STATUS_OK;
}

static bool cluster_used(const Cta *first, u32 size) {
    for (u32 i = 0; i < size; i++)
        if (first[i].used) return true;
    return false;
}

// Clusters come as a whole, into places that are all free.
static Status admit(Grid *g, Residency *r) {
    u32 size = g->cluster_size;
    while (r->used < r->wanted && r->next < g->cta_count) {
        u32 slot = 0;
        while (slot + size <= g->cta_cap && cluster_used(&g->ctas[slot], size)) slot += size;
        TRY(grid_reserve_ctas(g, slot + size));
        for (u32 i = 0; i < size; i++) TRY(grid_cta_start(g, &g->ctas[slot + i], r->next++));
        r->used += size;
    }
    return STATUS_OK;
}

void grid_report(Grid *g, u64 executed, u64 done) {
    const SimConfig *c = &g->sim->config;
    g->sim->unreported += executed;
    if (!c->progress || g->sim->unreported < PROGRESS_STEP) return;
    g->sim->unreported = 0;
    c->progress(c->progress_context, g->kernel->info.name, done, g->cta_count);
}

static u32 pc_of_fault(const Grid *g) { return (u32)((const PcState *)(const void *)g->exec.count - g->states); }

Status grid_deadlock(Grid *g, Diag *diag) {
    deadlock_explain(g, diag);
    if (g->exec.check) check_deadlock(g);
    return STATUS_DEADLOCK;
}

static Status say_fault(Grid *g, Diag *diag) {
    g->faulting_pc = pc_of_fault(g);
    fault_explain(g, diag);
    if (g->exec.check) check_fault(g);
    return STATUS_FAULT;
}

static u64 full_turn(const Grid *g) {
    if (g->residency.used > 1) return CTA_TURN_SHARED;
    return g->round.polling ? CTA_TURN_POLLING : CTA_TURN;
}

// Gives the CTA whose turn it is the rest of its turn, or `left` instructions of it. A turn that is cut in pieces is
// the same turn: what is executed, and in which order, does not depend on budgets.
static Status give_turn(Grid *g, Cta *cta, u64 *left, Diag *diag) {
    Residency *r = &g->residency;
    Round *round = &g->round;
    if (!round->turn) round->turn = full_turn(g);
    u64 before = cta->executed;
    CtaStop stop = cta_run(g, cta, round->turn < *left ? round->turn : *left);
    u64 executed = cta->executed - before;
    round->executed += executed;
    round->turn -= executed < round->turn ? executed : round->turn;
    *left -= executed < *left ? executed : *left;
    grid_report(g, executed, r->done + (stop == CTA_DONE));
    if (stop == CTA_FAULT) return say_fault(g, diag);
    // Only others of its cluster can help a CTA that is blocked.
    if (stop == CTA_BLOCKED && g->cluster_size == 1) return grid_deadlock(g, diag);
    if (stop != CTA_TIRED) round->turn = 0;
    if (stop != CTA_DONE) return STATUS_OK;
    g->executed += cta->executed;
    cta->used = false;
    r->used--;
    r->done++;
    round->finished = true;
    return STATUS_OK;
}

// A turn for every resident CTA from `round.place` on, until `*left` instructions are used up.
static Status round_robin(Grid *g, u64 *left, Diag *diag) {
    Round *round = &g->round;
    while (round->place < g->cta_cap && *left) {
        Cta *cta = &g->ctas[round->place];
        if (cta->used) TRY(give_turn(g, cta, left, diag));
        if (!round->turn) round->place++;
    }
    return STATUS_OK;
}

// A CTA that waits for others needs them to be resident.
static bool admit_more(Residency *r, const Grid *g) {
    if (r->wanted == r->most || r->next == g->cta_count) return false;
    r->wanted = r->wanted * 2 < r->most ? r->wanted * 2 : r->most;
    return true;
}

// Whether the resident CTAs have polled and stored for so long, and none has ended, that they may wait for one that has
// not begun: kernels that go over their data until nothing changes store what was there in each pass.
static bool goes_on_for_long(Grid *g, bool polled) {
    g->unfinished = g->round.finished || !polled ? 0 : g->unfinished + 1;
    if (g->unfinished < PATIENT_ROUNDS) return false;
    g->unfinished = 0;
    return true;
}

// All CTAs have had their turn. *waits: they go in a circle, and there are no others.
static Status end_round(Grid *g, bool *waits, Diag *diag) {
    Round *round = &g->round;
    bool headway = round->finished || g->exec.stores != round->stores, polled = g->exec.polls != round->polls;
    round->open = false;
    round->polling = !headway && polled;
    round->moved |= headway;
    if (!round->executed && !headway) return grid_deadlock(g, diag);
    bool long_since = goes_on_for_long(g, polled);
    if (headway) {
        g->stuck = (Stuck){0};
        if (long_since) admit_more(&g->residency, g);
    } else if (polled && admit_more(&g->residency, g))
        return STATUS_OK;
    else if (is_stuck(&g->stuck, g)) {
        g->stuck = (Stuck){0};
        *waits = !admit_more(&g->residency, g);
    }
    return STATUS_OK;
}

static Status begin_round(Grid *g) {
    Round *round = &g->round;
    *round = (Round){.open = true,
                     .stores = g->exec.stores,
                     .polls = g->exec.polls,
                     .polling = round->polling,
                     .moved = round->moved};
    return admit(g, &g->residency);
}

Status grid_step(Grid *g, u64 budget, SimStep *step, Diag *diag) {
    bool waits = false;
    g->round.moved = false;
    g->stuck = (Stuck){0};  // what is outside of the launch may have changed
    while (!waits && budget && g->residency.done < g->cta_count) {
        if (!g->round.open) TRY(begin_round(g));
        TRY(round_robin(g, &budget, diag));
        if (g->round.place == g->cta_cap) TRY(end_round(g, &waits, diag));
    }
    bool done = g->residency.done == g->cta_count;
    *step = (SimStep){.state = done    ? STEP_DONE
                               : waits ? STEP_WAITS
                                       : STEP_MORE,
                      .moved = g->round.moved || done || g->exec.stores != g->round.stores,
                      .polls = g->exec.polls != 0,
                      .idle = g->round.polling};
    return STATUS_OK;
}

void grid_free(Grid *g) {
    if (!g) return;
    for (u32 c = 0; c < g->cta_cap; c++) {
        for (u32 i = 0; i < g->ctas[c].warp_cap; i++) warp_free(g->sim->pages, &g->ctas[c].warps[i]);
        pages_give(g->sim->pages, g->ctas[c].warps, sizeof(Warp) * g->ctas[c].warp_cap);
        mem_free(g->ctas[c].shared);
    }
    mem_free(g->ctas);
    mem_free(g->states);
    mem_free(g->params);
    mem_free(g->tids);
    mem_free(g->overrun);
    vec_free(&g->children);
    map_free(&g->thread_errors);
    mem_free(g);
}
