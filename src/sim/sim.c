// SPDX-License-Identifier: Apache-2.0
// The machine's life, its texture handles, and occupancy.
#include <string.h>

#include "sim/check/check.h"
#include "sim/grid.h"
#include "sim/machine.h"
#include "sim/time/timeline.h"

#define FIRST_TEXTURE 0x10000ull

Status sim_create(const SimConfig *config, Sim **created) {
    if (!config->gpu || config->devices == 0 || config->devices > 64) return STATUS_INVALID;
    Sim *sim = mem_zero(1, sizeof *sim);
    if (!sim) return STATUS_NO_MEMORY;
    sim->config = *config;
    sim->next_texture = FIRST_TEXTURE;
    sim->devices = mem_zero(config->devices, sizeof *sim->devices);
    Status status = sim->devices ? memory_init(sim) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) status = pages_create(&sim->pages);
    if (status == STATUS_OK && config->checks) status = check_create(sim);
    if (status == STATUS_OK && config->timing) {
        sim->machines = mem_zero(config->devices, sizeof *sim->machines);
        sim->early_ns = mem_zero(config->devices, sizeof *sim->early_ns);
        sim->timelines = mem_zero(config->devices, sizeof *sim->timelines);
        if (!sim->machines || !sim->early_ns || !sim->timelines) status = STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        memory_destroy(sim);
        pages_destroy(sim->pages);
        mem_free(sim->machines);
        mem_free(sim->early_ns);
        mem_free(sim->timelines);
        mem_free(sim->devices);
        mem_free(sim);
        return status;
    }
    *created = sim;
    return STATUS_OK;
}

void sim_destroy(Sim *sim) {
    if (!sim) return;
    for (u32 d = 0; d < sim->config.devices; d++) {
        while (sim->devices[d].modules.len) sim_unload_module(sim, sim->devices[d].modules.data[0]);
        vec_free(&sim->devices[d].modules);
    }
    u64 key, value;
    for (u32 at = 0; map_next(&sim->textures, &at, &key, &value);) mem_free((void *)(uintptr_t)value);
    for (u32 d = 0; sim->timelines && d < sim->config.devices; d++) {
        timeline_destroy(sim->timelines[d]);
        time_machine_destroy(sim->machines[d]);
    }
    mem_free(sim->timelines);
    mem_free(sim->machines);
    mem_free(sim->early_ns);
    map_free(&sim->textures);
    map_free(&sim->device_texts);
    map_free(&sim->file_ids);
    while (sim->free_grids) grid_free(grid_take(sim));
    memory_destroy(sim);
    check_destroy(sim->check);
    pages_destroy(sim->pages);
    mem_free(sim->devices);
    mem_free(sim);
}

u32 sim_workers(const Sim *sim) {
    u32 count = 0;
    for (u32 d = 0; sim->machines && d < sim->config.devices; d++)
        if (sim->machines[d]) count += time_workers(sim->machines[d]);
    return count;
}

u32 sim_fault_code(const Sim *sim) { return sim->fault_code; }

Status sim_texture_create(Sim *sim, const SimTexture *texture, u64 *handle) {
    SimTexture *copy = mem_alloc(sizeof *copy);
    if (!copy) return STATUS_NO_MEMORY;
    *copy = *texture;
    Status status = map_put(&sim->textures, sim->next_texture, (u64)(uintptr_t)copy);
    if (status != STATUS_OK) return mem_free(copy), status;
    *handle = sim->next_texture++;
    return STATUS_OK;
}

static Status forget_texture(Sim *sim, u64 handle) {
    u64 *found = map_get(&sim->textures, handle);
    if (!found) return STATUS_NOT_FOUND;
    mem_free((void *)(uintptr_t)*found);
    map_remove(&sim->textures, handle);
    return STATUS_OK;
}

// What a GPU reads through a destroyed object is as before until another takes its place in the driver's table (H200,
// driver 580: LULESH passes objects to kernels whose destructors have destroyed them). The checker tells it.
Status sim_texture_destroy(Sim *sim, u64 handle) {
    if (sim_checks(sim, CHECK_MEMORY)) return forget_texture(sim, handle);
    if (!map_get(&sim->textures, handle)) return STATUS_NOT_FOUND;
    u64 *oldest = &sim->gone[sim->gone_at++ % GONE_TEXTURES];
    if (*oldest) (void)forget_texture(sim, *oldest);
    *oldest = handle;
    return STATUS_OK;
}

const SimTexture *sim_texture_get(const Sim *sim, u64 handle) {
    u64 *found = map_get(&sim->textures, handle);
    return found ? (const SimTexture *)(uintptr_t)*found : NULL;
}

static u64 least(u64 a, u64 b) { return a < b ? a : b; }

GpuOccupancy sim_occupancy_limits(const GpuModel *gpu, const SimKernelInfo *info, u32 block_threads,
                                  u32 dynamic_shared_bytes) {
    if (block_threads > info->max_threads) return (GpuOccupancy){0};
    return gpu_occupancy(gpu, info->registers, info->static_shared_bytes + (u64)dynamic_shared_bytes, block_threads);
}

u32 sim_occupancy(const GpuModel *gpu, const SimKernelInfo *info, u32 block_threads, u32 dynamic_shared_bytes) {
    return gpu_occupancy_ctas(sim_occupancy_limits(gpu, info, block_threads, dynamic_shared_bytes));
}

// A cluster lies within one group of SMs, and takes no more of them than it has CTAs; SMs hold at most 8 CTAs of
// clusters (measured on an H200: gpus/h200.gpu).
u32 sim_cluster_occupancy(const GpuModel *gpu, const SimKernelInfo *info, u32 block_threads, u32 dynamic_shared_bytes,
                          u32 size) {
    u64 ctas = least(sim_occupancy(gpu, info, block_threads, dynamic_shared_bytes), 8), total = 0;
    u64 grouped = gpu->gpcs_18 * 18 + gpu->gpcs_16 * 16 + gpu->gpcs_8 * 8, known = grouped && grouped <= gpu->sms;
    u64 rest = known ? gpu->sms - grouped : 0;
    const struct {
        u64 count, sms;
    } groups[] = {{known ? gpu->gpcs_18 : 0, 18},
                  {known ? gpu->gpcs_16 : gpu->sms / 16, 16},
                  {known ? gpu->gpcs_8 : 0, 8},
                  {known ? rest / 2 : 0, 2},
                  {known ? 0 : 1, gpu->sms % 16}};
    for (u32 i = 0; size && i < WL_COUNT(groups); i++)
        if (size <= groups[i].sms) total += groups[i].count * (groups[i].sms * ctas / size);
    return (u32)total;
}
