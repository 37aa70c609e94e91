// SPDX-License-Identifier: Apache-2.0
// A kernel on the timed machine, from its launch to its result.
#include <stdlib.h>

#include "sim/time/l1_size.h"
#include "sim/time/machine.h"
#include "sim/time/sample.h"

static u32 least_of(u64 a, u64 b) { return (u32)(a < b ? a : b); }

static u64 l1_size_of(const GpuModel *gpu, const TimeRun *run) {
    const Grid *g = run->grid;
    return l1_size(gpu, (L1Shape){.shared = g->program->shared_bytes + g->dynamic_shared,
                                  .threads = g->block[0] * g->block[1] * g->block[2],
                                  .ctas = least_of(run->limit, run->fit),
                                  .carve_out = g->carve_out});
}

// Whether anything may be executed without being simulated cycle by cycle.
static bool skips(const TimeMachine *m) { return m->sim->config.sample || m->sim->config.passes; }

static Status take_places(TimeRun *run, u32 most) {
    Grid *g = run->grid;
    run->slot_groups = (most + g->cluster_size - 1) / g->cluster_size;
    run->free_slots = mem_alloc(sizeof *run->free_slots * run->slot_groups);
    if (!run->free_slots) return STATUS_NO_MEMORY;
    // One more for those that are executed without time.
    u32 groups = run->slot_groups + skips(run->machine);
    TRY(grid_reserve_ctas(g, groups * g->cluster_size));
    if (groups > run->slot_groups) g->ctas[run->slot_groups * g->cluster_size].members_left = 0;
    for (u32 i = run->slot_groups; i-- > 0;) run->free_slots[run->free_count++] = i;
    return STATUS_OK;
}

static Status find_block_ends(TimeRun *run) {
    const TimeCode *code = run->code;
    u32 count = run->grid->program->insn_count;
    run->block_ends = mem_alloc(sizeof *run->block_ends * (count + 1));
    if (!run->block_ends) return STATUS_NO_MEMORY;
    for (u32 pc = 0; pc < count; pc++) run->block_ends[pc] = code->blocks[code->block_of[pc]].pc_end;
    return STATUS_OK;
}

// The memory of the host that the program has made reachable. What other kernels under way reach stays reachable.
static Status find_host_memory(TimeMachine *m) {
    const Sim *sim = m->sim;
    if (m->host_known == sim->generation) return STATUS_OK;
    m->host.len = 0;
    for (u32 i = 0; i < sim->allocations.len; i++) {
        const SimAllocation *a = &sim->allocations.data[i];
        if (a->kind != MEMORY_PINNED && a->kind != MEMORY_HOST) continue;
        TRY(vec_push(&m->host, ((MemHostRange){a->address, a->address + a->size})));
    }
    memsys_set_host(m->memsys, m->host.data, m->host.len);
    m->host_known = sim->generation;
    return STATUS_OK;
}

// CTAs of an SM, if registers and shared memory were no limit.
static u64 most_resident(const GpuModel *gpu, u32 threads) {
    u64 warps = (threads + LANES - 1) / LANES, by_warps = gpu->max_threads_per_sm / LANES / warps;
    return by_warps < gpu->max_ctas_per_sm ? by_warps : gpu->max_ctas_per_sm;
}

static Status prepare(TimeMachine *m, TimeRun *run, Grid *g) {
    SimKernel *kernel = g->kernel;
    if (!kernel->time_code) {
        TRY(time_code_build_edited(g->program, m->gpu, kernel->known, m->sim->config.edits, &kernel->time_code));
        kernel->time_code_id = m->codes++;
    }
    run->code = kernel->time_code;
    run->code_id = kernel->time_code_id;
    SimKernelInfo info = kernel->info;
    u32 threads = g->block[0] * g->block[1] * g->block[2];
    info.registers = run->code->registers;
    run->cta_warps = (threads + LANES - 1) / LANES;
    run->spill_words = grid_local_stride(g) / 4;
    run->local_bytes = (run->spill_words + run->code->frame) * 4 * LANES;
    run->limit = sim_occupancy(m->gpu, &info, threads, g->dynamic_shared);
    run->fit = run->limit;
    if (run->code->resident) run->limit = least_of(run->code->resident, most_resident(m->gpu, threads));
    if (run->limit == 0) run->limit = 1;
    u64 most = (u64)run->limit * m->gpu->sms;
    TRY(take_places(run, (u32)(most < g->cta_count ? most : g->cta_count)));
    TRY(find_block_ends(run));
    u32 workers = m->pool ? pool_threads(m->pool) : 1;
    run->tallies = mem_zero(workers, sizeof *run->tallies);
    if (!run->tallies) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < workers; i++)
        TRY(tally_init(&run->tallies[i], g->program->insn_count, machine_samples(run->machine)->count));
    for (u32 i = 0; i < m->sm_count; i++) m->sms[i].run_last[run->index] = 0;
    TRY(find_host_memory(m));
    if (m->runs.len == 0) {
        if (m->sim->config.flush_caches) time_flush(m);
        m->l1_bytes = l1_size_of(m->gpu, run);
        for (u32 i = 0; i < m->sm_count; i++)
            if (m->sms[i].furnished) TRY(sm_set_l1(&m->sms[i], m->l1_bytes));
    }
    return machine_prefetch(m, run);
}

Status time_run_begin(TimeMachine *m, Grid *grid, TimeRun **begun) {
    u32 index = (u32)__builtin_ctzll(~m->indices);
    if (index >= MACHINE_RUNS) return STATUS_LIMIT;
    TimeRun *run = mem_zero(1, sizeof *run);
    if (!run) return STATUS_NO_MEMORY;
    *run = (TimeRun){.machine = m, .grid = grid, .index = index, .begin = m->now, .first_cta = NEVER};
    Status status = prepare(m, run, grid);
    if (status == STATUS_OK && skips(m)) status = sample_begin(run, m->sim->config.sample);
    if (status == STATUS_OK) status = front_begin(run);
    if (status == STATUS_OK) status = vec_push(&m->runs, run);
    m->indices |= 1ull << index;
    if (status != STATUS_OK) {
        time_run_end(run);
        return status;
    }
    *begun = run;
    return STATUS_OK;
}

void time_run_extend(TimeRun *run) {
    u64 now = time_clock(run->machine);
    if (now > run->end) run->end = now;
}

void time_run_end(TimeRun *run) {
    if (!run) return;
    TimeMachine *m = run->machine;
    for (u32 i = 0; i < m->runs.len; i++)
        if (m->runs.data[i] == run) {  // it failed: the machine holds its warps
            machine_abandon(m);
            break;
        }
    machine_pay(m);
    m->indices &= ~(1ull << run->index);
    sample_free(run);
    front_end(run);
    u32 workers = m->pool ? pool_threads(m->pool) : 1;
    for (u32 i = 0; run->tallies && i < workers; i++) tally_free(&run->tallies[i]);
    mem_free(run->tallies);
    mem_free(run->free_slots);
    mem_free(run->block_ends);
    vec_free(&run->edges);
    vec_free(&run->samples);
    mem_free(run);
}

static int compare_edges(const void *a, const void *b) {
    const TimeEdge *x = a, *y = b;
    if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
    if (x->cause != y->cause) return x->cause < y->cause ? -1 : 1;
    return (x->reason > y->reason) - (x->reason < y->reason);
}

static Status list_edges(TimeRun *run, const Tally *all) {
    run->edges.len = 0;
    for (u32 i = 0; i < all->edge_cap; i++)
        if (all->edges[i].times) TRY(vec_push(&run->edges, all->edges[i]));
    if (run->edges.len) qsort(run->edges.data, run->edges.len, sizeof *run->edges.data, compare_edges);
    return STATUS_OK;
}

static Status list_samples(TimeRun *run, const Tally *all) {
    run->samples.len = 0;
    const SamplePlan *plan = machine_samples(run->machine);
    for (u32 i = 0; i < plan->count * all->pc_count * STALL_COUNT; i++) {
        u32 reason = i % STALL_COUNT, pc = i / STALL_COUNT % all->pc_count, set = i / STALL_COUNT / all->pc_count;
        const u32 *count = tally_sample(all, set, pc, reason);
        TimeSample sample = {1u << plan->shift[set], pc, (u8)reason, count[0], count[1]};
        if (count[0]) TRY(vec_push(&run->samples, sample));
    }
    return STATUS_OK;
}

void time_run_issued(const TimeRun *run, u64 *issued) {
    u32 workers = run->machine->pool ? pool_threads(run->machine->pool) : 1;
    for (u32 i = 0; i < workers; i++)
        for (u32 pc = 0; pc < run->tallies[i].pc_count; pc++) issued[pc] += run->tallies[i].issued[pc];
}

// A launch that was not simulated is told from one like it.
static void tell_from(const TimeRun *run, const SampleFigures *figures, TimeResult *result) {
    TimeResult own = *result;
    *result = figures->result;
    result->begin = own.begin;
    result->end = own.end;
    result->first_cta = own.first_cta;
    result->last_cta = own.last_cta;
    result->registers = run->code->registers;
    result->ctas_per_sm = run->limit;
}

static void tell_estimate(const TimeRun *run, const SampleFigures *figures, TimeResult *result) {
    u64 cycles = run->end - run->begin, simulated = figures ? figures->cycles : cycles - run->estimated;
    u64 half = run->sample ? (u64)(run->sample->estimate.half + 0.5) : 0, least = cycles - run->estimated;
    result->detail_end = run->end - run->estimated;
    result->low = cycles - least > half ? cycles - half : least;
    result->high = cycles + half;
    result->detail = run->sample ? run->sample->detail : 1;
    result->scale = simulated ? (f64)cycles / (f64)simulated : 1;
}

Status time_run_result(TimeRun *run, TimeResult *result) {
    TimeMachine *m = run->machine;
    for (u32 i = 0; i < m->sm_count; i++) sm_settle(&m->sms[i], m->now);
    Tally *all = &run->tallies[0];
    u32 workers = m->pool ? pool_threads(m->pool) : 1;
    tally_settle(all);
    for (u32 i = 1; i < workers; i++) {
        tally_settle(&run->tallies[i]);
        tally_merge(all, &run->tallies[i]);
        tally_free(&run->tallies[i]);
        TRY(tally_init(&run->tallies[i], all->pc_count, all->sets));
    }
    TRY(list_edges(run, all));
    TRY(list_samples(run, all));
    const SampleFigures *figures = sample_figures(run);
    *result = (TimeResult){.begin = run->begin,
                           .end = run->end,
                           .first_cta = run->first_cta,
                           .last_cta = run->last_cta,
                           .pcs = all->pcs,
                           .edges = run->edges.data,
                           .edge_count = run->edges.len,
                           .samples = run->samples.data,
                           .sample_count = run->samples.len,
                           .registers = run->code->registers,
                           .ctas_per_sm = run->limit};
    for (u32 pc = 0; pc < all->pc_count; pc++) {
        TimePc *at = &all->pcs[pc];
        at->stalls[STALL_SELECTED] = at->issued = all->issued[pc];
        result->issued += at->issued;
        for (u32 r = 0; r < STALL_COUNT; r++) {
            result->stalls[r] += at->stalls[r];
            if ((i64)at->latency[r] < 0) at->latency[r] = 0;  // charge_rest
        }
    }
    for (u32 r = 0; r < STALL_COUNT; r++) result->slot_stalls[r] = all->slot_stalls[r];
    for (u32 i = 0; i < LATENCY_BUCKETS; i++) result->load_latency[i] = all->load_latency[i];
    if (figures) tell_from(run, figures, result);
    tell_estimate(run, figures, result);
    return STATUS_OK;
}
