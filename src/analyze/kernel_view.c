// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_view_inside.h"

// --- sources -----------------------------------------------------------------------------------------------------
// "NVIDIA H200" of "2 x NVIDIA H200, Tesla T4": the first device stands for all.
static const char *first_device(Arena *arena, const char *names) {
    char *rest;
    unsigned long count = strtoul(names, &rest, 10);
    if (count && strncmp(rest, " x ", 3) == 0) names = rest + 3;
    return arena_copy_str(arena, (Str){names, strcspn(names, ",")});
}

Status kernel_gpu(const char *gpu_folder, const char *devices, Arena *arena, const GpuModel **gpu) {
    const char *device = first_device(arena, devices);
    GpuModel *model = ARENA_NEW(arena, GpuModel);
    *gpu = NULL;
    if (!device || !model) return STATUS_NO_MEMORY;
    if (!*device || !gpu_folder) return STATUS_OK;
    Status status = gpu_find(gpu_folder, device, model, NULL);
    if (status == STATUS_OK) *gpu = model;
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

static Status read_stalls(KernelViews *views, ViewSource *source, Diag *diag) {
    const ProfileStall *rows;
    u32 count;
    memset(source->reason, STALL_MISC, sizeof source->reason);
    TRY(profile_stalls(views->profile, source->row->id, &rows, &count, diag));
    for (u32 i = 0; i < count; i++) {
        StallReason reason = stall_find(rows[i].name);
        if (rows[i].id < VIEW_STALL_IDS && reason != STALL_COUNT) source->reason[rows[i].id] = (u8)reason;
    }
    return STATUS_OK;
}

static Status read_sources(KernelViews *views, Diag *diag) {
    const ProfileSource *rows;
    TRY(profile_sources(views->profile, &rows, &views->source_count, diag));
    views->sources = ARENA_ARRAY(&views->arena, ViewSource, views->source_count + 1);
    if (!views->sources) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < views->source_count; i++) {
        views->sources[i].row = &rows[i];
        TRY(kernel_gpu(views->options.gpu_folder, rows[i].device, &views->arena, &views->sources[i].gpu));
        TRY(read_stalls(views, &views->sources[i], diag));
    }
    return STATUS_OK;
}

const ViewSource *view_source(const KernelViews *views, u32 id) {
    for (u32 i = 0; i < views->source_count; i++)
        if (views->sources[i].row->id == id) return &views->sources[i];
    return NULL;
}

// --- life --------------------------------------------------------------------------------------------------------
static Status open_all(KernelViews *views, Diag *diag) {
    TRY(read_sources(views, diag));
    TRY(profile_functions(views->profile, &views->functions, &views->function_count, diag));
    views->figures = ARENA_ARRAY(&views->arena, ViewFigures, views->function_count + 1);
    views->made = ARENA_ARRAY(&views->arena, const KernelView *, views->function_count + 1);
    if (!views->figures || !views->made) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < views->function_count; i++) TRY(map_put(&views->function_index, views->functions[i].id, i));
    TRY(view_read_figures(views, diag));
    return view_read_launches(views, diag);
}

Status kernel_views_open(Profile *profile, const KernelViewOptions *options, KernelViews **result, Diag *diag) {
    *result = NULL;
    KernelViews *views = mem_zero(1, sizeof *views);
    if (!views) return STATUS_NO_MEMORY;
    views->profile = profile;
    views->options = *options;
    views->disassemble_ms = MACHINE_CODE_MS;
    Status status = open_all(views, diag);
    if (status != STATUS_OK) return kernel_views_close(views), status;
    *result = views;
    return STATUS_OK;
}

void kernel_views_close(KernelViews *views) {
    if (!views) return;
    for (u32 i = 0; i < views->module_rows.len; i++) {
        module_free(views->module_rows.data[i].ptx);
        if (views->module_rows.data[i].machine) machine_code_free(views->module_rows.data[i].machine);
        mem_free(views->module_rows.data[i].machine);
    }
    vec_free(&views->module_rows);
    map_free(&views->modules);
    map_free(&views->function_index);
    arena_free(&views->arena);
    mem_free(views);
}

// --- views -------------------------------------------------------------------------------------------------------
static Status make(KernelViews *views, u32 at, Diag *diag) {
    KernelView *view = ARENA_NEW(&views->arena, KernelView);
    if (!view) return STATUS_NO_MEMORY;
    const ProfileFunction *function = view->function = &views->functions[at];
    const ViewSource *source = view_source(views, views->figures[at].source);
    view->provenance = source ? source->row->provenance : "";
    view->gpu = source ? source->gpu : NULL;
    view->latency_known = view->gpu && gpu_has_timing(view->gpu, &(const char *){NULL});
    TRY(profile_function_metrics(views->profile, function->id, &view->metrics, diag));
    TRY(view_load_code(views, view, diag));
    TRY(view_fill_figures(views, &views->figures[at], view, diag));
    TRY(view_fill_launches(views, &views->figures[at], view));
    TRY(view_fill_arguments(views, &views->figures[at], view, diag));
    views->made[at] = view;
    return STATUS_OK;
}

Status kernel_views_get(KernelViews *views, const ProfileFunction *function, const KernelView **view, Diag *diag) {
    *view = NULL;
    u64 *at = map_get(&views->function_index, function->id);
    if (!at) return STATUS_NOT_FOUND;
    if (!views->made[*at]) TRY(make(views, (u32)*at, diag));
    *view = views->made[*at];
    return STATUS_OK;
}

typedef struct Ranked {
    f64 weight;
    u32 at;
} Ranked;

static int most_first(const void *left, const void *right) {
    const Ranked *a = left, *b = right;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

Status kernel_views_all(KernelViews *views, u32 most, const KernelView *const **list, u32 *count, Diag *diag) {
    Ranked *ranked = ARENA_ARRAY(&views->arena, Ranked, views->function_count + 1);
    const KernelView **rows = ARENA_ARRAY(&views->arena, const KernelView *, views->function_count + 1);
    if (!ranked || !rows) return STATUS_NO_MEMORY;
    u32 found = 0;
    for (u32 i = 0; i < views->function_count; i++)
        if (views->figures[i].weight || views->options.every_function)
            ranked[found++] = (Ranked){(f64)views->figures[i].weight, i};
    if (found) qsort(ranked, found, sizeof *ranked, most_first);
    if (most && found > most) found = most;
    for (u32 i = 0; i < found; i++) TRY(kernel_views_get(views, &views->functions[ranked[i].at], &rows[i], diag));
    *list = rows;
    *count = found;
    return STATUS_OK;
}

Status kernel_views_launched(KernelViews *views, u32 most,
                             bool (*wanted)(void *context, const ProfileFunction *function), void *context,
                             const ProfileFunction *const **list, u32 *count) {
    Ranked *ranked = ARENA_ARRAY(&views->arena, Ranked, views->function_count + 1);
    const ProfileFunction **rows = ARENA_ARRAY(&views->arena, const ProfileFunction *, views->function_count + 1);
    if (!ranked || !rows) return STATUS_NO_MEMORY;
    u32 found = 0;
    for (u32 i = 0; i < views->function_count; i++) {
        const ViewFigures *f = &views->figures[i];
        if (!f->launch_count || (wanted && !wanted(context, &views->functions[i]))) continue;
        ranked[found++] = (Ranked){views->all_ns > 0 ? f->ns : (f64)f->weight, i};
    }
    if (found) qsort(ranked, found, sizeof *ranked, most_first);
    if (most && found > most) found = most;
    for (u32 i = 0; i < found; i++) rows[i] = &views->functions[ranked[i].at];
    *list = rows;
    *count = found;
    return STATUS_OK;
}

void kernel_view_metrics(const KernelViews *views, const KernelView *view, u32 pc, MetricSet *metrics) {
    *metrics = (MetricSet){0};
    if (pc >= view->insn_count) return;
    for (u32 i = view->first_count[pc]; i < view->first_count[pc + 1]; i++)
        metric_add(metrics, view->counts[i].metric, view->counts[i].value);
    profile_evaluate(views->profile, metrics);
}
