// SPDX-License-Identifier: Apache-2.0
// A launch from its beginning to its end: what may be launched, the Grid that stands for it, what is recorded.
#include <string.h>
#include <time.h>

#include "sim/check/check.h"
#include "sim/child.h"
#include "sim/grid.h"
#include "sim/time/timeline.h"

#define WORKSPACE_BYTES 256u
#define FAULT_CODE_UNKNOWN 719u  // cudaErrorLaunchFailure

static u64 now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

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

// NULL: banks that need no model. One without timing may not say which it has.
static const GpuModel *other_banks(const GpuModel *gpu) {
    bool usual = gpu->shared_banks == 32 && gpu->shared_bank_bytes == 4 && gpu->shared_lanes == 32;
    return usual || !gpu->shared_banks || !gpu->shared_bank_bytes || !gpu->shared_lanes ? NULL : gpu;
}

static void exec_prepare(Grid *g) {
    Exec *x = &g->exec;
    *x = (Exec){.grid = g,
                .states = g->states,
                .alone = true,
                .params = g->params,
                .param_size = g->param_size,
                .banks = other_banks(sim_gpu(g->sim, g->device)),
                .check = g->sim->check};
    x->base[AREA_C32] = g->program->c32;
    x->base[AREA_C64] = g->program->c64;
    for (u32 c = 0; c < g->cta_cap; c++) g->ctas[c].used = false;
}

static Status place_threads(Grid *g) {
    const u32 *block = g->block;
    u32 warps = (block[0] * block[1] * block[2] + LANES - 1) / LANES;
    if (warps > g->tid_cap) {
        mem_free(g->tids);
        g->tids = mem_alloc(sizeof *g->tids * warps);
        g->tid_cap = g->tids ? warps : 0;
        if (!g->tids) return STATUS_NO_MEMORY;
    }
    for (u32 t = 0; t < warps * LANES; t++) {
        u32(*tid)[LANES] = g->tids[t / LANES], lane = t % LANES;
        tid[0][lane] = t % block[0];
        tid[1][lane] = t / block[0] % block[1];
        tid[2][lane] = t / block[0] / block[1];
    }
    return STATUS_OK;
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
    g->carve_out = l->carve_out;
    g->executed = 0;
    g->release_budget = RELEASE_FIRST;
    g->apart = false;
    g->graph_exec = l->graph_exec;
    g->record = l->record;
    g->pass = l->pass;
    map_free(&g->thread_errors);
    g->its = sim_gpu(sim, l->kernel->module->device)->sm_version >= 70 && g->program->target_sm >= 60;
    TRY(grid_reserve(g, l, info));
    TRY(place_threads(g));
    exec_prepare(g);
    if (l->cooperative) {
        TRY(sim_alloc(sim, l->kernel->module->device, MEMORY_MODULE, WORKSPACE_BYTES, 256, &g->grid_workspace));
        u32 size = WORKSPACE_BYTES;
        memcpy(sim_host_view(sim, g->grid_workspace, 4, NULL), &size, 4);
    }
    return STATUS_OK;
}

static Status record_begin(Sim *sim, const SimLaunch *l, const Grid *g) {
    TRY(count_announce(l->kernel));
    RecordLaunch record = {.launch = g->launch_id,
                           .function = l->kernel->module->function_ids[l->kernel->func],
                           .source = sim->config.source,
                           .device = l->kernel->module->device,
                           .stream = l->stream,
                           .dynamic_shared_bytes = l->dynamic_shared_bytes,
                           .begin_ns = g->begin_ns};
    memcpy(record.grid, l->grid, sizeof record.grid);
    memcpy(record.block, l->block, sizeof record.block);
    memcpy(record.cluster, g->cluster, sizeof record.cluster);
    TRY(sink_write(sim->config.sink, RECORD_LAUNCH, &record, NULL, 0));
    u32 size = l->kernel->info.param_bytes;
    if (!size) return STATUS_OK;
    RecordLaunchArguments arguments = {g->launch_id, size < RECORD_ARGUMENT_BYTES ? size : RECORD_ARGUMENT_BYTES};
    return sink_write(sim->config.sink, RECORD_LAUNCH_ARGUMENTS, &arguments, g->params, arguments.size);
}

static u32 most_resident(const Sim *sim, const SimLaunch *l, const SimKernelInfo *info, u64 ctas) {
    const GpuModel *gpu = sim_gpu(sim, l->kernel->module->device);
    u64 fit =
        (u64)sim_occupancy(gpu, info, l->block[0] * l->block[1] * l->block[2], l->dynamic_shared_bytes) * gpu->sms;
    if (fit == 0) fit = 1;
    return (u32)(ctas < fit ? ctas : fit);
}

Grid *grid_take(Sim *sim) {
    Grid *g = sim->free_grids;
    if (!g) return mem_zero(1, sizeof *g);
    sim->free_grids = g->next_free;
    return g;
}

static void grid_give(Sim *sim, Grid *g) {
    g->next_free = sim->free_grids;
    sim->free_grids = g;
}

static void free_workspace(Grid *g) {
    if (g->grid_workspace && sim_free(g->sim, g->grid_workspace) == STATUS_OK) g->grid_workspace = 0;
}

// --- timing ------------------------------------------------------------------------------------------------------
static Status begin_timing(Sim *sim, const SimLaunch *l, Grid *g) {
    TimeMachine **machine = &sim->machines[g->device];
    Timeline **timeline = &sim->timelines[g->device];
    const SimConfig *config = &sim->config;
    if (!*machine) {
        TRY(time_machine_create(sim, g->device, machine));
        time_pass(*machine, sim->early_ns[g->device]);
    }
    if (!*timeline && config->sink) TRY(timeline_create(*machine, &config->gpu[g->device], config->interval, timeline));
    const GpuModel *gpu = &config->gpu[g->device];
    time_pass(*machine, l->child && gpu->child_interval ? gpu->child_interval : gpu->launch_interval);
    TRY(time_run_begin(*machine, g, &g->time_run));
    return *timeline && g->record ? timeline_begin(*timeline, g->time_run, g, &g->timeline) : STATUS_OK;
}

static Status step_timing(Sim *sim, Grid *g, u64 budget, SimStep *step, Diag *diag) {
    TimeMachine *machine = sim->machines[g->device];
    u64 now = time_now(machine), limit = budget < UINT64_MAX - now ? now + budget : UINT64_MAX;
    bool over = false, any = step->any;
    u64 until = step->until_ns ? time_cycles(machine, step->until_ns) : UINT64_MAX;
    TRY(time_advance(machine, g->time_run, any, limit < until ? limit : until, &over, diag));
    bool waits = !over && time_waits(machine);
    bool other = any && !over && !waits && (time_now(machine) < limit || time_now(machine) >= until);
    *step = (SimStep){.state = over    ? STEP_DONE
                               : waits ? STEP_WAITS
                                       : STEP_MORE,
                      .moved = !waits,
                      .any = any,
                      .until_ns = step->until_ns,
                      .other = other};
    return STATUS_OK;
}

u64 sim_clock_ns(const Sim *sim, u32 device) {
    const TimeMachine *machine = sim->machines ? sim->machines[device] : NULL;
    return machine ? (u64)time_ns(machine, time_clock(machine)) : sim->machines ? sim->early_ns[device] : 0;
}

bool sim_clock_runs(const Sim *sim, u32 device) {
    return sim->machines && sim->machines[device] && time_is_busy(sim->machines[device]);
}

void sim_clock_pass(Sim *sim, u32 device, u64 ns) {
    if (!sim->machines) return;
    if (sim->machines[device])
        time_pass(sim->machines[device], ns);
    else
        sim->early_ns[device] += ns;
}

static void end_timing(Grid *g, Status status, SimLaunchResult *told) {
    TimeResult result;
    if (status == STATUS_OK) status = time_run_result(g->time_run, &result);
    if (status == STATUS_OK) {
        told->cycles = result.end - result.begin;
        told->low_cycles = result.low;
        told->high_cycles = result.high;
        told->detail = result.detail;
    }
    Timeline *timeline = g->sim->timelines[g->device];
    if (timeline && status == STATUS_OK && g->timeline)
        status = timeline_end(timeline, g->timeline, &result, g->launch_id);
    else if (timeline)
        timeline_drop(timeline, g->timeline);
    if (status != STATUS_OK && !g->sim->fault_code)
        log_printf(&g->sim->config.log, LOG_WARNING, "the times of a launch could not be recorded");
    time_run_end(g->time_run);
    g->time_run = NULL;
    g->timeline = NULL;
}

Status sim_launch_begin(Sim *sim, const SimLaunch *l, SimRun **run, Diag *diag) {
    SimKernelInfo info;
    TRY(sim_kernel_prepare(sim, l->kernel, &info, diag));
    TRY(check_config(sim, l, &info, diag));
    Grid *g = grid_take(sim);
    if (!g) return STATUS_NO_MEMORY;
    g->launch_id = ++sim->launches;
    g->begin_ns = g->end_ns = now_ns();
    g->host_ns = 0;
    Status status = grid_prepare(g, sim, l, &info);
    if (status != STATUS_OK) {
        free_workspace(g);
        grid_give(sim, g);
        return status;
    }
    // A full disk must not change what the program computes: what the sink reports is its own business.
    if (l->record && record_begin(sim, l, g) != STATUS_OK)
        log_printf(&sim->config.log, LOG_WARNING, "the launch of %s could not be recorded", info.name);
    g->residency = (Residency){.most = most_resident(sim, l, &info, g->cta_count)};
    g->residency.wanted = l->cooperative ? g->residency.most : 1;  // and a cluster at least
    g->round = (Round){0};
    if (sim->check)
        check_launch_begin(sim->check, g, g->launch_id, g->program->recursive ? UINT64_MAX : grid_local_stride(g));
    *run = g;
    g->time_run = NULL;
    return sim->machines ? begin_timing(sim, l, g) : STATUS_OK;
}

Status sim_launch_step(Sim *sim, SimRun *g, u64 budget, SimStep *step, Diag *diag) {
    u64 begin = g->host_ns ? now_ns() : g->begin_ns;  // preparing it counts too
    Status status = g->time_run ? step_timing(sim, g, budget, step, diag) : grid_step(g, budget, step, diag);
    if (status == STATUS_OK && step->state == STEP_WAITS && sim->check) status = grid_deadlock(g, diag);
    g->end_ns = now_ns();
    g->host_ns += g->end_ns - begin;
    return status;
}

Status sim_launch_deadlock(Sim *sim, SimRun *g, Diag *diag) {
    (void)sim;
    return grid_deadlock(g, diag);
}

static Status record_end(Sim *sim, Grid *g, Status status) {
    u32 code = sim->fault_code ? sim->fault_code : FAULT_CODE_UNKNOWN;
    RecordLaunchEnd over = {.launch = g->launch_id, .status = status == STATUS_OK ? 0 : code, .end_ns = g->end_ns};
    TRY(count_launch(g, g->launch_id, g->host_ns));
    return sink_write(sim->config.sink, RECORD_LAUNCH_END, &over, NULL, 0);
}

// A kernel is over when those that it launched are, and its time holds theirs, as on hardware. Not of too many kernels
// at a time: a chain of tail launches may be of any length.
enum { PARENTS_HELD = 16 };

static void run_within(Sim *sim, Grid *g, Status *status, Diag *diag) {
    if (!g->time_run || *status != STATUS_OK || !g->children.len || sim->parents == PARENTS_HELD) return;
    ChildList children = g->children;
    g->children = (ChildList){0};
    sim->parents++;
    *status = child_run_all(sim, g->kernel->module, &children, diag);
    sim->parents--;
    time_run_extend(g->time_run);
}

Status sim_launch_end(Sim *sim, SimRun *g, Status status, SimLaunchResult *result, Diag *diag) {
    if (sim->check) check_launch_end(sim->check);
    if (g->record && record_end(sim, g, status) != STATUS_OK) {}  // as above
    free_workspace(g);
    sim->time += g->executed;
    if (g->overrun) diag_text(diag, DIAG_WARNING, NULL, 0, 0, "%s", g->overrun);
    mem_free(g->overrun);
    g->overrun = NULL;
    SimLaunchResult told = {.host_ns = g->host_ns, .detail = 1};
    Status own = status;
    run_within(sim, g, &status, diag);
    if (g->time_run) end_timing(g, own, &told);
    if (result) {
        *result = told;
        for (u32 pc = 0; pc < g->program->insn_count; pc++) {
            result->warp_insts += g->states[pc].counters.warps;
            result->thread_insts += g->states[pc].counters.threads;
        }
    }
    ChildList children = {0};
    if (status == STATUS_OK) {
        children = g->children;
        g->children = (ChildList){0};
    } else {
        child_discard(g);
    }
    SimModule *module = g->kernel->module;
    grid_give(sim, g);  // children use its memory
    return children.len ? child_run_all(sim, module, &children, diag) : status;
}

// Who is killed in a launch of minutes leaves those before it. The sink's own status: as above.
enum { KEEP_NS = 500000000, KEEP_BUDGET = 1 << 24 };
static void keep_records(Sim *sim, const Grid *g) {
    if (!sim->kept_ns) sim->kept_ns = g->begin_ns;
    if (!sim->config.sink || g->end_ns - sim->kept_ns < KEEP_NS) return;
    sim->kept_ns = g->end_ns;
    if (sink_flush(sim->config.sink) != STATUS_OK) {}
}

static Status step_through(Sim *sim, SimRun *run, SimStep *step, Diag *diag) {
    Status status;
    do {
        // the checker follows one launch at a time
        status = sim_launch_step(sim, run, sim->check ? UINT64_MAX : KEEP_BUDGET, step, diag);
        keep_records(sim, run);
    } while (status == STATUS_OK && step->state == STEP_MORE);
    return status;
}

Status sim_launch(Sim *sim, const SimLaunch *l, SimLaunchResult *result, Diag *diag) {
    SimRun *run;
    SimStep step = {.any = false};
    TRY(sim_launch_begin(sim, l, &run, diag));
    Status status = step_through(sim, run, &step, diag);
    if (status == STATUS_OK && step.state == STEP_WAITS) status = sim_launch_deadlock(sim, run, diag);
    return sim_launch_end(sim, run, status, result, diag);
}

Status grid_run_child(Sim *sim, SimModule *module, FuncRef func, const u32 grid[3], const u32 block[3], u32 shared,
                      const void *params, Diag *diag) {
    SimLaunch l = {.dynamic_shared_bytes = shared, .params = params, .record = true, .child = true};
    TRY(sim_find_kernel(sim, module, module_text(module->ptx, module->ptx->funcs[func].name), &l.kernel));
    memcpy(l.grid, grid, sizeof l.grid);
    memcpy(l.block, block, sizeof l.block);
    return sim_launch(sim, &l, NULL, diag);
}
