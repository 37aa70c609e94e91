// SPDX-License-Identifier: Apache-2.0
// How a kernel was launched, how much of the time it took, and what of it fits on an SM.
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_view_inside.h"
#include "gpu/occupancy.h"

enum { WARP_THREADS = 32 };

// --- all kernels -------------------------------------------------------------------------------------------------
static ViewFigures *figures_of(const KernelViews *views, const ProfileLaunch *launch) {
    u64 *at = map_get(&views->function_index, launch->function);
    return at && views->functions[*at].source == launch->source ? &views->figures[*at] : NULL;
}

static bool is_untimed(const ProfileLaunch *launch) {
    return !launch->time.known && !launch->begin_ns && !launch->end_ns;
}

// Kernels that a GPU ran without anything measured have samples all the same: they are taken to have run as long for
// each as the others did.
static void guess_times(KernelViews *views) {
    f64 ns = 0, samples = 0;
    for (u32 f = 0; f < views->function_count; f++) {
        const ViewFigures *figures = &views->figures[f];
        if (figures->ns > 0) ns += figures->ns, samples += (f64)figures->weight;
    }
    for (u32 f = 0; f < views->function_count && samples > 0; f++) {
        ViewFigures *figures = &views->figures[f];
        if (figures->ns > 0 || !figures->launch_count || !is_untimed(figures->launches[0])) continue;
        figures->ns = (f64)figures->weight / samples * ns;
        figures->guessed = figures->ns > 0;
        views->all_ns += figures->ns;
    }
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
        figures->ns += profile_launch_ns(&rows[i]);
        views->all_ns += profile_launch_ns(&rows[i]);
    }
    guess_times(views);
    return STATUS_OK;
}

// --- one function ------------------------------------------------------------------------------------------------
// What launches take of the time; where times are not known, each as much.
static f64 weight(const ViewFigures *figures, const ProfileLaunch *launch) {
    return figures->ns > 0 && !figures->guessed ? profile_launch_ns(launch) : 1;
}

static u64 volume(const u32 *size) { return (u64)size[0] * size[1] * size[2]; }

static int compare_blocks(const ProfileLaunch *a, const ProfileLaunch *b) {
    if (a->dynamic_shared_bytes != b->dynamic_shared_bytes)
        return a->dynamic_shared_bytes < b->dynamic_shared_bytes ? -1 : 1;
    return memcmp(a->block, b->block, sizeof a->block);
}

static int by_block(const void *left, const void *right) {
    const ProfileLaunch *a = *(const ProfileLaunch *const *)left, *b = *(const ProfileLaunch *const *)right;
    int blocks = compare_blocks(a, b), grids = memcmp(a->grid, b->grid, sizeof a->grid);
    return blocks ? blocks : grids ? grids : (a->index > b->index) - (a->index < b->index);
}

static int by_duration(const void *left, const void *right) {
    const ProfileLaunch *a = *(const ProfileLaunch *const *)left, *b = *(const ProfileLaunch *const *)right;
    if (profile_launch_ns(a) < profile_launch_ns(b) || profile_launch_ns(a) > profile_launch_ns(b))
        return profile_launch_ns(a) < profile_launch_ns(b) ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

typedef struct LaunchGroup {  // of the same blocks: rows[first..first + count)
    u32 first, count;
    f64 weight;
} LaunchGroup;

// Of rows that are sorted by blocks. Counts shapes on the way.
static LaunchGroup heaviest_group(const ViewFigures *figures, const ProfileLaunch **rows, u32 *shapes) {
    LaunchGroup most = {.weight = -1}, group = {0};
    for (u32 i = 0; i < figures->launch_count; i++) {
        bool same = i && !compare_blocks(rows[i - 1], rows[i]);
        *shapes += !same || memcmp(rows[i - 1]->grid, rows[i]->grid, sizeof rows[i]->grid) != 0;
        if (!same) group = (LaunchGroup){.first = i};
        group.count++;
        group.weight += weight(figures, rows[i]);
        if (group.weight > most.weight) most = group;
    }
    return most;
}

static const ProfileLaunch *middle_of(const ViewFigures *figures, const ProfileLaunch **rows,
                                      const LaunchGroup *group) {
    f64 up_to = 0;
    u32 i = group->first;
    qsort(rows + i, group->count, sizeof *rows, by_duration);
    for (; i + 1 < group->first + group->count; i++)
        if ((up_to += weight(figures, rows[i])) >= group->weight / 2) break;
    return rows[i];
}

static f64 part_alike(const ViewFigures *figures, const ProfileLaunch **rows, const LaunchGroup *group,
                      const ProfileLaunch *typical) {
    f64 alike = 0, all = 0;
    u64 ctas = volume(typical->grid);
    for (u32 i = 0; i < figures->launch_count; i++) all += weight(figures, rows[i]);
    for (u32 i = group->first; i < group->first + group->count; i++) {
        u64 other = volume(rows[i]->grid);
        if (other <= 2 * ctas && ctas <= 2 * other) alike += weight(figures, rows[i]);
    }
    return alike < all ? alike / all : 1;
}

static Status find_typical(const ViewFigures *figures, ViewLaunches *launches) {
    launches->alike = 1;
    if (!figures->launch_count) return STATUS_OK;
    const ProfileLaunch **rows = mem_alloc(figures->launch_count * sizeof *rows);
    if (!rows) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < figures->launch_count; i++) rows[i] = figures->launches[i];
    qsort(rows, figures->launch_count, sizeof *rows, by_block);
    LaunchGroup group = heaviest_group(figures, rows, &launches->shapes);
    launches->typical = middle_of(figures, rows, &group);
    launches->alike = part_alike(figures, rows, &group, launches->typical);
    mem_free(rows);
    return STATUS_OK;
}

static f64 share_of(const KernelViews *views, const ViewFigures *figures, bool is_kernel) {
    if (is_kernel && views->all_ns > 0) return figures->ns / views->all_ns;
    u64 all = is_kernel ? views->kernel_weight : views->all_weight;
    return all ? (f64)figures->weight / (f64)all : 0;
}

static u32 limits_of(const ViewOccupancy *o, GpuOccupancy fits) {
    return (u32)(fits.by_ctas == o->ctas_per_sm) << LIMIT_CTAS | (u32)(fits.by_warps == o->ctas_per_sm) << LIMIT_WARPS |
           (u32)(fits.by_registers == o->ctas_per_sm) << LIMIT_REGISTERS |
           (u32)(fits.by_shared == o->ctas_per_sm) << LIMIT_SHARED | (u32)(o->waves < 1) << LIMIT_GRID;
}

u32 kernel_view_registers(const KernelView *view) {
    const ProfileLaunch *launch = view->launches.typical;
    return launch && launch->time.registers ? launch->time.registers : view->function->registers;
}

u64 kernel_view_shared_bytes(const KernelView *view) {
    const ProfileLaunch *launch = view->launches.typical;
    return view->function->shared_bytes + (u64)(launch ? launch->dynamic_shared_bytes : 0);
}

static void fill_occupancy(KernelView *view) {
    const ProfileLaunch *launch = view->launches.typical;
    ViewOccupancy *o = &view->occupancy;
    if (!launch || !view->gpu) return;
    u64 threads = volume(launch->block);
    if (!threads || threads > view->gpu->max_threads_per_cta) return;
    GpuOccupancy fits =
        gpu_occupancy(view->gpu, kernel_view_registers(view), kernel_view_shared_bytes(view), (u32)threads);
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
    for (u32 i = 0; i < figures->launch_count; i++) {
        const ProfileLaunch *launch = figures->launches[i];
        view->launches.unmeasured += launch->time.estimated && !launch->end_ns;
        view->launches.unknown += is_untimed(launch);
        view->launches.error_ns += launch->time.error_ns;
    }
    if (figures->guessed) view->launches.error_ns = figures->ns;
    TRY(find_typical(figures, &view->launches));
    fill_occupancy(view);
    return STATUS_OK;
}
