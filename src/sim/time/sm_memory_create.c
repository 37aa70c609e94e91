// SPDX-License-Identifier: Apache-2.0
// The memory side of an SM: what it is made of, how it is emptied and taken down.
#include <string.h>

#include "sim/time/machine.h"
#include "sim/time/sm_parts.h"

enum { MISSES_FIRST = 64 };  // a power of two: lines under way that there is memory for at first
// Accesses that wait at each scheduler for room in the queue of the SM, where warps take turns (lsu_turns): warps on 1,
// 2 and 4 schedulers of an H200 have 34 to 36, 42 to 48 and 62 to 68 loads or stores waiting when all stall, 24 of them
// in the SM's queue (bench/hwref/h200-rows.tsv, rows/issue).
enum { SCHEDULER_QUEUE = 10 };

static Status make_cache(Sm *sm, CacheConfig config, Cache **cache) {
    config.line = 128;
    config.sector = 32;
    config.pages = sm->machine->sim->pages;
    config.status = &sm->status;
    return cache_create(&config, cache);
}

Status sm_set_l1(Sm *sm, u64 bytes) {
    if (sm->l1 && sm->l1_bytes == bytes) return STATUS_OK;
    if (sm->l1 && cache_resize(sm->l1, bytes)) return sm->l1_bytes = bytes, STATUS_OK;
    Cache *before = sm->l1_before;
    bool fits = before && sm->l1_before_bytes == bytes;
    sm->l1_before = sm->l1;
    sm->l1_before_bytes = sm->l1_bytes;
    sm->l1 = fits ? before : NULL;
    sm->l1_bytes = bytes;
    if (fits) return cache_clear(before), STATUS_OK;
    cache_destroy(before);
    CacheConfig config = {.size = bytes,
                          .ways = (u32)sm->gpu->l1_ways,
                          .sets = (u32)sm->gpu->l1_sets,
                          .replacement = (u8)sm->gpu->l1_replacement,
                          .words = true,
                          .hashed = true};
    return make_cache(sm, config, &sm->l1);
}

static void clear_misses(Sm *sm) {
    memset(sm->miss_hash, 0xff, sizeof *sm->miss_hash * sm->miss_cap);
    sm->free_misses = WL_NONE;
    sm->used_misses = sm->sectors_under_way = 0;
    sm->waiters.len = 0;
    sm->free_waiters = WL_NONE;
}

Status memory_init_sm(Sm *sm) {
    const GpuModel *g = sm->gpu;
    Pages *pages = sm->machine->sim->pages;
    if (!pipe_init(&sm->lsu, pages, (u32)g->lsu_queue, g->lsu_turns ? SCHEDULER_QUEUE : 0, g->lsu_turns) ||
        !pipe_init(&sm->tex, pages, (u32)g->tex_queue, 0, false))
        return STATUS_NO_MEMORY;
    sm->lsu.most_reads = (u32)g->l1_reads;
    sm->miss_cap = MISSES_FIRST;
    while (sm->miss_cap < g->l1_mshrs) sm->miss_cap *= 2;
    sm->miss_room = MISSES_FIRST;
    sm->misses = pages_take(pages, sm->miss_room * sizeof *sm->misses);
    sm->miss_hash = pages_take(pages, sizeof *sm->miss_hash * sm->miss_cap);
    if (!sm->misses || !sm->miss_hash) return STATUS_NO_MEMORY;
    clear_misses(sm);
    constants_forget(sm);
    TRY(stores_init(sm));
    if (g->tex_size) TRY(make_cache(sm, (CacheConfig){.size = g->tex_size}, &sm->tex_cache));
    TRY(constants_init(sm));
    TRY(make_cache(sm, (CacheConfig){.size = g->icache_l1}, &sm->fetch_l1));
    for (u32 i = 0; g->icache_l0 && i < sm->scheduler_count; i++)
        TRY(make_cache(sm, (CacheConfig){.size = g->icache_l0}, &sm->schedulers[i].fetch));
    return STATUS_OK;
}

// On an H200 a launch has from the L2 what the one before had loaded into the L1 (bench/hwref/h200-load-order.tsv,
// kept).
void memory_begins(Sm *sm) {
    cache_clear(sm->l1);
    if (sm->tex_cache) cache_clear(sm->tex_cache);
}

// Addresses are translated already: under Nsight Compute, which empties the caches before each launch, a load of the
// first lines that a kernel touches takes 580 to 620 cycles on an H200, what the DRAM takes without, in a program's
// first launch, too (bench/hwref/h200-stalls.csv, kernelAddConstant, upsample_forward, write_indices, langevin;
// h200-stall-reasons.tsv, loaded).
void sm_flush(Sm *sm) {
    sm->cold = sm->translated = true;
    if (!sm->furnished) return;
    Cache *caches[] = {sm->l1, sm->tex_cache, sm->const_l1, sm->const_l15, sm->imc, sm->fetch_l1};
    for (u32 i = 0; i < sizeof caches / sizeof *caches; i++)
        if (caches[i]) cache_clear(caches[i]);
    for (u32 i = 0; i < sm->scheduler_count; i++)
        if (sm->schedulers[i].fetch) cache_clear(sm->schedulers[i].fetch), sm->schedulers[i].brought++;
    for (u32 i = 0; i < sm->used_misses; i++) sm->misses[i].kept = 0;
}

void memory_abandon(Sm *sm) {
    pipe_clear(&sm->lsu);
    pipe_clear(&sm->tex);
    sm->tickets.len = sm->free_tickets.len = sm->out.len = sm->asked.len = sm->sent.len = 0;
    sm->writes = sm->same_word = 0;
    replies_clear(sm);
    stores_clear(sm);
    constants_forget(sm);
    memset(sm->run_tickets, 0, sizeof sm->run_tickets);
    clear_misses(sm);
}

void memory_free_sm(Sm *sm) {
    Cache **caches[] = {&sm->l1, &sm->l1_before, &sm->tex_cache, &sm->fetch_l1};
    for (u32 i = 0; i < WL_COUNT(caches); i++) {
        cache_destroy(*caches[i]);
        *caches[i] = NULL;
    }
    for (u32 i = 0; i < sm->scheduler_count; i++) {
        cache_destroy(sm->schedulers[i].fetch);
        sm->schedulers[i].fetch = NULL;
    }
    constants_free(sm);
    stores_free(sm);
    pipe_free(&sm->lsu);
    pipe_free(&sm->tex);
    pages_give(sm->machine->sim->pages, sm->misses, sm->miss_room * sizeof *sm->misses);
    pages_give(sm->machine->sim->pages, sm->miss_hash, sizeof *sm->miss_hash * sm->miss_cap);
    replies_free(sm);
    sm->misses = NULL;
    sm->miss_hash = NULL;
    vec_free(&sm->tickets);
    vec_free(&sm->free_tickets);
    vec_free(&sm->waiters);
    vec_free(&sm->out);
    vec_free(&sm->asked);
    vec_free(&sm->sent);
}
