// SPDX-License-Identifier: Apache-2.0
// Launches: CTAs are run one after the other, each to its end. Where one makes no headway - it spins on what another
// CTA will write - more are made resident, up to what the GPU could hold, and take turns; when none of them can ever go
// on, that is a deadlock.
#include "sim/grid.h"

#include <string.h>
#include <time.h>

#include "sim/check/check.h"
#include "sim/child.h"

#define WARP_TURN 4000u           // warp instructions before the next warp of the CTA
#define CTA_TURN 100000u          // ... before another resident CTA, while this one is the only one
#define CTA_TURN_SHARED 3000u     // ... while several are resident
#define STUCK_INTERVAL 16u        // rounds without headway from one look at the whole state to the next
#define PROGRESS_STEP (1u << 19)  // warp instructions between two progress reports
#define WORKSPACE_BYTES 256u

static u64 now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

// --- CTAs --------------------------------------------------------------------------------------------------------
static void shape_warps(Cta *cta, const Grid *g) {
    for (u32 w = 0; w < cta->warp_count; w++)
        for (u32 l = 0; l < LANES; l++) {
            u32 t = w * LANES + l;
            cta->warps[w].tid[0][l] = t % g->block[0];
            cta->warps[w].tid[1][l] = t / g->block[0] % g->block[1];
            cta->warps[w].tid[2][l] = t / g->block[0] / g->block[1];
        }
    cta->shaped = true;
}

static Status cta_reserve(Cta *cta, u32 warps, u32 shared) {
    if (warps > cta->warp_cap) {
        Warp *bigger = mem_resize(cta->warps, sizeof *bigger * warps);
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

static u64 local_stride(const Grid *g) {
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

static Status cta_start(Grid *g, Cta *cta, u64 linear) {
    u32 threads = g->block[0] * g->block[1] * g->block[2], warps = (threads + LANES - 1) / LANES;
    u32 shared = g->program->shared_bytes + g->dynamic_shared;
    TRY(cta_reserve(cta, warps, shared));
    cta->grid = g;
    place_cta(g, cta, linear);
    cta->threads = threads;
    cta->warp_count = warps;
    cta->exited_threads = cta->next_warp = cta->cluster_arrived = 0;
    cta->executed = 0;
    cta->shared_size = shared;
    memset(cta->shared, 0, shared);
    if (cta->open_barriers) memset(cta->barriers, 0, sizeof cta->barriers);
    cta->open_barriers = 0;
    if (!cta->shaped) shape_warps(cta, g);
    for (u32 w = 0; w < warps; w++) {
        u32 lanes = threads - w * LANES < LANES ? threads - w * LANES : LANES;
        cta->warps[w].cta = cta;
        cta->warps[w].index = w;
        TRY(warp_start(&cta->warps[w], g->program, lanes, local_stride(g)));
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

// Everything that decides what the resident CTAs do next, as a number: equal states without a store in between go on
// equally forever (kernels that read clocks differ each time, and are never called stuck).
static u64 state_hash(const Grid *g) {
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

typedef struct Stuck {  // Brent's cycle search over the states of rounds without headway
    u64 saved, rounds, hashed, next_save;
} Stuck;

static bool is_stuck(Stuck *s, const Grid *g) {
    if (++s->rounds % STUCK_INTERVAL) return false;
    u64 hash = state_hash(g);
    if (s->hashed && hash == s->saved) return true;
    if (s->hashed >= s->next_save) s->saved = hash, s->next_save = s->next_save ? s->next_save * 2 : 1;
    s->hashed++;
    return false;
}

// --- the loop over CTAs ------------------------------------------------------------------------------------------
typedef struct Residency {
    u64 next, done;  // CTAs started, finished
    u32 used, wanted, most;
} Residency;

static Status reserve_ctas(Grid *g, u32 count) {
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
        TRY(reserve_ctas(g, slot + size));
        for (u32 i = 0; i < size; i++) TRY(cta_start(g, &g->ctas[slot + i], r->next++));
        r->used += size;
    }
    return STATUS_OK;
}

// Counted in instructions, over launches: a look at the clock for each CTA would cost more than a small CTA.
static void report_progress(Grid *g, u64 executed, u64 done) {
    const SimConfig *c = &g->sim->config;
    g->sim->unreported += executed;
    if (!c->progress || g->sim->unreported < PROGRESS_STEP) return;
    g->sim->unreported = 0;
    c->progress(c->progress_context, g->kernel->info.name, done, g->cta_count);
}

static u32 pc_of_fault(const Grid *g) { return (u32)((const PcState *)(const void *)g->exec.count - g->states); }

static Status say_deadlock(Grid *g, Diag *diag) {
    deadlock_explain(g, diag);
    if (g->exec.check) check_deadlock(g);
    return STATUS_DEADLOCK;
}

// One turn for every resident CTA. *headway: something finished or was written.
static Status round_robin(Grid *g, Residency *r, bool *headway, Diag *diag) {
    u64 stores = g->exec.stores, executed = 0;
    for (u32 c = 0; c < g->cta_cap; c++) {
        Cta *cta = &g->ctas[c];
        if (!cta->used) continue;
        u64 before = cta->executed;
        CtaStop stop = cta_run(g, cta, r->used == 1 ? CTA_TURN : CTA_TURN_SHARED);
        executed += cta->executed - before;
        report_progress(g, cta->executed - before, r->done + (stop == CTA_DONE));
        if (stop == CTA_FAULT) {
            g->faulting_pc = pc_of_fault(g);
            fault_explain(g, diag);
            if (g->exec.check) check_fault(g);
            return STATUS_FAULT;
        }
        // Only others of its cluster can help a CTA that is blocked.
        if (stop == CTA_BLOCKED && g->cluster_size == 1) return say_deadlock(g, diag);
        if (stop == CTA_TIRED || stop == CTA_BLOCKED) continue;
        g->executed += cta->executed;
        cta->used = false;
        r->used--;
        r->done++;
        *headway = true;
    }
    *headway |= g->exec.stores != stores;
    return executed || *headway ? STATUS_OK : say_deadlock(g, diag);
}

// A CTA that waits for others needs them to be resident.
static bool admit_more(Residency *r, const Grid *g) {
    if (r->wanted == r->most || r->next == g->cta_count) return false;
    r->wanted = r->wanted * 2 < r->most ? r->wanted * 2 : r->most;
    return true;
}

static Status run_ctas(Grid *g, Residency *r, Diag *diag) {
    Stuck stuck = {0};
    while (r->done < g->cta_count) {
        bool headway = false;
        u64 polls = g->exec.polls;
        TRY(admit(g, r));
        TRY(round_robin(g, r, &headway, diag));
        if (headway)
            stuck = (Stuck){0};
        else if (g->exec.polls != polls && admit_more(r, g))
            continue;
        else if (is_stuck(&stuck, g)) {
            stuck = (Stuck){0};
            if (admit_more(r, g)) continue;
            return say_deadlock(g, diag);
        }
    }
    return STATUS_OK;
}

// --- launching ---------------------------------------------------------------------------------------------------
static const u32 *cluster_of(const SimLaunch *l, const SimKernelInfo *info) {
    return l->cluster[0] ? l->cluster : info->cluster;
}

static const char *cluster_problem(const GpuModel *gpu, const SimLaunch *l, const SimKernelInfo *info) {
    const u32 *cluster = cluster_of(l, info);
    if (!cluster[0]) return info->needs_cluster ? "no cluster (the kernel has .explicitcluster)" : NULL;
    u64 size = (u64)cluster[0] * cluster[1] * cluster[2];
    if (gpu->sm_version < 90) return "a cluster (before compute capability 9.0)";
    if (size == 0 || size > SIM_MAX_CLUSTER || (info->max_cluster && size > info->max_cluster))
        return "the number of blocks per cluster";
    for (u32 i = 0; i < 3; i++) {
        if (info->cluster[0] && cluster[i] != info->cluster[i])
            return "the cluster (the kernel has .reqnctapercluster)";
        if (l->grid[i] % cluster[i]) return "a grid that is not made of whole clusters";
    }
    return NULL;
}

static Status check_config(const Sim *sim, const SimLaunch *l, const SimKernelInfo *info, Diag *diag) {
    static const u32 grid_limit[3] = {0x7fffffff, 65535, 65535}, block_limit[3] = {1024, 1024, 64};
    const GpuModel *gpu = sim_gpu(sim, l->kernel->module->device);
    u64 threads = 1;
    const char *what = NULL;
    for (u32 i = 0; i < 3; i++) {
        threads *= l->block[i];
        if (l->grid[i] == 0 || l->grid[i] > grid_limit[i]) what = "the grid";
        if (l->block[i] == 0 || l->block[i] > block_limit[i]) what = "the block";
        if (info->required_threads[0] && l->block[i] != info->required_threads[i])
            what = "the block (the kernel has .reqntid)";
    }
    if (!what) what = cluster_problem(gpu, l, info);
    if (!what && threads > info->max_threads) what = "the number of threads per block";
    if (!what && info->static_shared_bytes + (u64)l->dynamic_shared_bytes > gpu->shared_per_cta_optin)
        what = "the shared memory";
    if (!what) return STATUS_OK;
    diag_text(diag, DIAG_ERROR, NULL, 0, 0,
              "kernel `%s`: %s is not possible: grid %u x %u x %u, block %u x %u x %u, %u + %u bytes of shared memory",
              info->name, what, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
              info->static_shared_bytes, l->dynamic_shared_bytes);
    return STATUS_INVALID;
}

static Status grid_reserve(Grid *g, const SimLaunch *l, const SimKernelInfo *info) {
    u32 count = g->program->insn_count;
    if (count > g->state_cap) {
        mem_free(g->states);
        g->states = mem_alloc(sizeof *g->states * count);
        g->state_cap = g->states ? count : 0;
        if (!g->states) return STATUS_NO_MEMORY;
    }
    memset(g->states, 0, sizeof *g->states * count);
    if (info->param_bytes > g->param_cap || !g->params) {
        mem_free(g->params);
        g->params = mem_alloc(info->param_bytes + 16);
        g->param_cap = g->params ? info->param_bytes : 0;
        if (!g->params) return STATUS_NO_MEMORY;
    }
    if (info->param_bytes) memcpy(g->params, l->params, info->param_bytes);
    g->param_size = info->param_bytes;
    return STATUS_OK;
}

static void exec_prepare(Grid *g) {
    Exec *x = &g->exec;
    *x = (Exec){.grid = g, .params = g->params, .param_size = g->param_size, .check = g->sim->check};
    x->base[AREA_C32] = g->program->c32;
    x->base[AREA_C64] = g->program->c64;
    for (u32 c = 0; c < g->cta_cap; c++) g->ctas[c].used = g->ctas[c].shaped = false;
}

static Status grid_prepare(Grid *g, Sim *sim, const SimLaunch *l, const SimKernelInfo *info) {
    g->sim = sim;
    g->kernel = l->kernel;
    g->device = l->kernel->module->device;
    g->program = l->kernel->program;
    memcpy(g->grid, l->grid, sizeof g->grid);
    memcpy(g->block, l->block, sizeof g->block);
    const u32 *cluster = cluster_of(l, info);
    g->explicit_cluster = cluster[0] != 0;
    for (u32 i = 0; i < 3; i++) g->cluster[i] = cluster[0] ? cluster[i] : 1;
    g->cluster_size = g->cluster[0] * g->cluster[1] * g->cluster[2];
    g->cta_count = (u64)l->grid[0] * l->grid[1] * l->grid[2];
    g->dynamic_shared = l->dynamic_shared_bytes;
    g->executed = 0;
    g->release_budget = 0;
    g->graph_exec = l->graph_exec;
    map_free(&g->thread_errors);
    g->its = sim_gpu(sim, l->kernel->module->device)->sm_version >= 70 && g->program->target_sm >= 60;
    TRY(grid_reserve(g, l, info));
    exec_prepare(g);
    if (l->cooperative) {
        TRY(sim_alloc(sim, l->kernel->module->device, MEMORY_MODULE, WORKSPACE_BYTES, 256, &g->grid_workspace));
        u32 size = WORKSPACE_BYTES;
        memcpy(sim_host_view(sim, g->grid_workspace, 4, NULL), &size, 4);
    }
    return STATUS_OK;
}

static Status record_begin(Sim *sim, const SimLaunch *l, const Grid *g, u32 launch_id, u64 begin) {
    TRY(count_announce(l->kernel));
    RecordLaunch record = {.launch = launch_id,
                           .function = l->kernel->module->function_ids[l->kernel->func],
                           .source = sim->config.source,
                           .device = l->kernel->module->device,
                           .stream = l->stream,
                           .dynamic_shared_bytes = l->dynamic_shared_bytes,
                           .begin_ns = begin};
    memcpy(record.grid, l->grid, sizeof record.grid);
    memcpy(record.block, l->block, sizeof record.block);
    memcpy(record.cluster, g->cluster, sizeof record.cluster);
    return sink_write(sim->config.sink, RECORD_LAUNCH, &record, NULL, 0);
}

static u32 most_resident(const Sim *sim, const SimLaunch *l, const SimKernelInfo *info, u64 ctas) {
    const GpuModel *gpu = sim_gpu(sim, l->kernel->module->device);
    u64 fit =
        (u64)sim_occupancy(gpu, info, l->block[0] * l->block[1] * l->block[2], l->dynamic_shared_bytes) * gpu->sms;
    if (fit == 0) fit = 1;
    return (u32)(ctas < fit ? ctas : fit);
}

// The one grid object, with its memory, reused from launch to launch; children run when their parent is over.
static Grid *take_grid(Sim *sim) {
    if (!sim->grid) sim->grid = mem_zero(1, sizeof *sim->grid);
    return sim->grid;
}

Status sim_launch(Sim *sim, const SimLaunch *l, SimLaunchResult *result, Diag *diag) {
    SimKernelInfo info;
    TRY(sim_kernel_prepare(sim, l->kernel, &info, diag));
    TRY(check_config(sim, l, &info, diag));
    Grid *g = take_grid(sim);
    if (!g) return STATUS_NO_MEMORY;
    u32 launch_id = ++sim->launches;
    u64 begin = now_ns();
    Status status = grid_prepare(g, sim, l, &info);
    // A full disk must not change what the program computes: what the sink reports is its own business.
    if (l->record && record_begin(sim, l, g, launch_id, begin) != STATUS_OK)
        log_printf(&sim->config.log, LOG_WARNING, "the launch of %s could not be recorded", info.name);
    Residency r = {.most = most_resident(sim, l, &info, g->cta_count)};
    r.wanted = l->cooperative ? r.most : 1;  // and a cluster at least
    if (sim->check) check_launch_begin(sim->check, g, launch_id, g->program->recursive ? UINT64_MAX : local_stride(g));
    if (status == STATUS_OK) status = run_ctas(g, &r, diag);
    if (sim->check) check_launch_end(sim->check);
    u64 end = now_ns();
    if (l->record) {
        Status counted = count_launch(g, launch_id, end - begin);
        RecordLaunchEnd over = {
            .launch = launch_id, .status = status == STATUS_OK ? 0 : sim->fault_code, .end_ns = end};
        if (counted == STATUS_OK) counted = sink_write(sim->config.sink, RECORD_LAUNCH_END, &over, NULL, 0);
        // A program that is killed early leaves at least its first launch.
        if (counted == STATUS_OK && launch_id == 1) counted = sink_flush(sim->config.sink);
        (void)counted;
    }
    if (g->grid_workspace && sim_free(sim, g->grid_workspace) == STATUS_OK) g->grid_workspace = 0;
    sim->time += g->executed;
    if (result) {
        *result = (SimLaunchResult){.host_ns = end - begin};
        for (u32 pc = 0; pc < g->program->insn_count; pc++) {
            result->warp_insts += g->states[pc].counters.warps;
            result->thread_insts += g->states[pc].counters.threads;
        }
    }
    if (status == STATUS_OK) return child_run_all(g, diag);
    child_discard(g);
    return status;
}

Status grid_run_child(Sim *sim, SimModule *module, FuncRef func, const u32 grid[3], const u32 block[3], u32 shared,
                      const void *params, Diag *diag) {
    SimLaunch l = {.dynamic_shared_bytes = shared, .params = params, .record = true};
    TRY(sim_find_kernel(sim, module, module_text(module->ptx, module->ptx->funcs[func].name), &l.kernel));
    memcpy(l.grid, grid, sizeof l.grid);
    memcpy(l.block, block, sizeof l.block);
    return sim_launch(sim, &l, NULL, diag);
}

void grid_free(Grid *g) {
    if (!g) return;
    for (u32 c = 0; c < g->cta_cap; c++) {
        for (u32 i = 0; i < g->ctas[c].warp_cap; i++) warp_free(&g->ctas[c].warps[i]);
        mem_free(g->ctas[c].warps);
        mem_free(g->ctas[c].shared);
    }
    mem_free(g->ctas);
    mem_free(g->states);
    mem_free(g->params);
    vec_free(&g->children);
    map_free(&g->thread_errors);
    mem_free(g);
}
