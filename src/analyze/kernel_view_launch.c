// SPDX-License-Identifier: Apache-2.0
// How a kernel was launched, how much of the time it took, and what of it fits on an SM.
#include <stdlib.h>

#include "analyze/kernel_view_inside.h"
#include "gpu/occupancy.h"

enum { WARP_THREADS = 32 };

static f64 duration(const ProfileLaunch *launch) {
    f64 ns = launch->time.known ? launch->time.end_ns - launch->time.begin_ns : 0;
    return ns > 0 ? ns : 0;
}

// --- all kernels -------------------------------------------------------------------------------------------------
static ViewFigures *figures_of(const KernelViews *views, const ProfileLaunch *launch) {
    u64 *at = map_get(&views->function_index, launch->function);
    return at && views->functions[*at].source == launch->source ? &views->figures[*at] : NULL;
}

Status view_read_launches(KernelViews *views, Diag *diag) {
    const ProfileLaunch *rows;
    u32 count;
    TRY(profile_launches(views->profile, 0, &rows, &count, diag));
    for (u32 i = 0; i < count; i++) {
        ViewFigures *figures = figures_of(views, &rows[i]);
        if (figures) figures->launch_count++;
    }
    for (u32 f = 0; f < views->function_count; f++) {
        ViewFigures *figures = &views->figures[f];
        figures->launches = ARENA_ARRAY(&views->arena, const ProfileLaunch *, figures->launch_count + 1);
        if (!figures->launches) return STATUS_NO_MEMORY;
        figures->launch_count = 0;
    }
    for (u32 i = 0; i < count; i++) {
        ViewFigures *figures = figures_of(views, &rows[i]);
        if (!figures) continue;
        figures->launches[figures->launch_count++] = &rows[i];
        figures->ns += duration(&rows[i]);
        views->all_ns += duration(&rows[i]);
    }
    return STATUS_OK;
}

// --- one function ------------------------------------------------------------------------------------------------
static int by_duration(const void *left, const void *right) {
    const ProfileLaunch *a = *(const ProfileLaunch *const *)left, *b = *(const ProfileLaunch *const *)right;
    if (duration(a) < duration(b) || duration(a) > duration(b)) return duration(a) < duration(b) ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static Status find_typical(const ViewFigures *figures, ViewLaunches *launches) {
    if (!figures->launch_count) return STATUS_OK;
    const ProfileLaunch **sorted = mem_alloc(figures->launch_count * sizeof *sorted);
    if (!sorted) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < figures->launch_count; i++) sorted[i] = figures->launches[i];
    qsort(sorted, figures->launch_count, sizeof *sorted, by_duration);
    launches->typical = sorted[figures->launch_count / 2];
    mem_free(sorted);
    return STATUS_OK;
}

static f64 share_of(const KernelViews *views, const ViewFigures *figures, bool is_kernel) {
    if (is_kernel && views->all_ns > 0) return figures->ns / views->all_ns;
    u64 all = is_kernel ? views->kernel_weight : views->all_weight;
    return all ? (f64)figures->weight / (f64)all : 0;
}

static u64 volume(const u32 *size) { return (u64)size[0] * size[1] * size[2]; }

static u32 limits_of(const ViewOccupancy *o, GpuOccupancy fits) {
    return (u32)(fits.by_ctas == o->ctas_per_sm) << LIMIT_CTAS | (u32)(fits.by_warps == o->ctas_per_sm) << LIMIT_WARPS |
           (u32)(fits.by_registers == o->ctas_per_sm) << LIMIT_REGISTERS |
           (u32)(fits.by_shared == o->ctas_per_sm) << LIMIT_SHARED | (u32)(o->waves < 1) << LIMIT_GRID;
}

static void fill_occupancy(KernelView *view) {
    const ProfileLaunch *launch = view->launches.typical;
    ViewOccupancy *o = &view->occupancy;
    if (!launch || !view->gpu) return;
    u64 threads = volume(launch->block);
    if (!threads || threads > view->gpu->max_threads_per_cta) return;
    u32 registers = launch->time.registers ? launch->time.registers : view->function->registers;
    u64 shared = view->function->shared_bytes + (u64)launch->dynamic_shared_bytes;
    GpuOccupancy fits = gpu_occupancy(view->gpu, registers, shared, (u32)threads);
    o->ctas_per_sm = gpu_occupancy_ctas(fits);
    o->warps_per_cta = (u32)((threads + WARP_THREADS - 1) / WARP_THREADS);
    o->warps_per_sm = o->ctas_per_sm * o->warps_per_cta;
    f64 at_once = (f64)o->ctas_per_sm * (f64)view->gpu->sms;
    o->waves = at_once > 0 ? (f64)volume(launch->grid) / at_once : 0;
    o->limits = limits_of(o, fits);
    o->achieved_known = view->metrics.present[METRIC_WARPS_PER_SCHEDULER];
    o->warps_per_scheduler = o->achieved_known ? view->metrics.value[METRIC_WARPS_PER_SCHEDULER]
                                               : (f64)o->warps_per_sm / (f64)view->gpu->warp_schedulers;
}

Status view_fill_launches(KernelViews *views, const ViewFigures *figures, KernelView *view) {
    view->launches = (ViewLaunches){.rows = figures->launches,
                                    .count = figures->launch_count,
                                    .total_ns = figures->ns,
                                    .share = share_of(views, figures, view->function->is_entry)};
    TRY(find_typical(figures, &view->launches));
    fill_occupancy(view);
    return STATUS_OK;
}
