// SPDX-License-Identifier: Apache-2.0
// Kernels that ran on a GPU: their launches' times, and their samples with what the blamer charges them to.
#include <string.h>

#include "analyze/blame.h"
#include "view/report_data.h"

typedef struct Loader {
    Report *report;
    KernelViews *views;  // NULL: nothing was sampled
    Arena *arena;
    Diag *diag;
} Loader;

static bool is_of_gpu(const ProfileLaunch *launch) {
    const ProfileTime *time = &launch->time;
    return time->known && time->end_cycle == time->begin_cycle && time->end_ns > time->begin_ns;
}

static void add_times(const ReportKernel *kernel, ReportSamples *s) {
    for (u32 i = 0; i < kernel->launch_count; i++) {
        const ProfileLaunch *launch = &kernel->launches[i];
        s->unknown += !launch->time.known && !launch->begin_ns && !launch->end_ns;
        if (!is_of_gpu(launch)) continue;
        f64 ns = profile_launch_ns(launch);
        s->total_ns += ns;
        s->error_ns += launch->time.error_ns;
        s->launches++;
        s->estimated += launch->time.estimated;
        if (launch->time.estimated) continue;
        if (s->most_ns <= 0 || ns < s->least_ns) s->least_ns = ns;
        if (ns > s->most_ns) s->most_ns = ns;
    }
}

static Status add_rows(Loader *loader, const Blame *blame, ReportSamples *s) {
    const KernelView *view = blame->view;
    ReportStall *rows = ARENA_ARRAY(loader->arena, ReportStall, blame->edge_count + 1u);
    if (!rows) return STATUS_NO_MEMORY;
    u32 count = 0;
    for (u32 i = 0; i < blame->edge_count; i++) {
        const BlameEdge *edge = &blame->edges[i];
        const ProfilePlace *at = &view->places[edge->use], *cause = &view->places[edge->def];
        if (edge->reason == STALL_SELECTED || edge->samples <= 0) continue;
        rows[count++] = (ReportStall){.file = at->file,
                                      .line = at->line,
                                      .reason = stall_names[edge->reason],
                                      .cause_file = cause->file,
                                      .cause_line = cause->line,
                                      .cause_class = edge->use == edge->def ? BLAME_OTHER : edge->class,
                                      .cycles = edge->samples};
    }
    s->row_count = report_join_stalls(rows, count);
    s->rows = rows;
    return STATUS_OK;
}

static Status add_samples(Loader *loader, const ReportKernel *kernel, ReportSamples *s) {
    const KernelView *view;
    Blame *blame;
    Arena scratch = {0};
    TRY(kernel_views_get(loader->views, kernel->function, &view, NULL));
    if (!view->total || strcmp(view->provenance, "sampled") != 0) return STATUS_OK;
    for (u32 pc = 0; pc < view->insn_count; pc++)
        for (u32 r = 0; r < STALL_COUNT; r++) s->reasons[r] += (f64)view->samples[pc].all[r];
    s->samples = view->taken;
    s->weight = view->total;
    s->stalled = view->total - (u64)s->reasons[STALL_SELECTED];
    s->period = view->period;
    s->longest = view->longest;
    Status status = blame_kernel(view, NULL, &scratch, &blame);
    if (status == STATUS_OK) status = add_rows(loader, blame, s);
    arena_free(&scratch);
    return status;
}

static Status load(Loader *loader, ReportKernel *kernel) {
    ReportSamples found = {0};
    add_times(kernel, &found);
    if (loader->views) TRY(add_samples(loader, kernel, &found));
    if (!found.launches && !found.samples && !found.unknown) return STATUS_OK;
    ReportSamples *kept = ARENA_NEW(loader->arena, ReportSamples);
    if (!kept) return STATUS_NO_MEMORY;
    *kept = found;
    kernel->sampled = kept;
    return STATUS_OK;
}

// Samples are not read for sections that do not show them: it takes seconds where the code is that of large libraries.
static bool are_wanted(const Report *report) {
    ReportSection section = report->options.section;
    if (section != REPORT_DEFAULT && section != REPORT_SAMPLES) return false;
    for (u32 i = 0; i < report->source_count; i++)
        if (strcmp(report->sources[i].provenance, "sampled") == 0) return true;
    return false;
}

Status report_load_samples(Report *report, ReportKernel *kernels, u32 count, Arena *arena, Diag *diag) {
    Loader loader = {report, NULL, arena, diag};
    KernelViewOptions options = {.gpu_folder = report->options.gpu_folder};
    if (are_wanted(report)) TRY(kernel_views_open(report->profile, &options, &loader.views, diag));
    Status status = STATUS_OK;
    for (u32 i = 0; i < count && status == STATUS_OK; i++) status = load(&loader, &kernels[i]);
    kernel_views_close(loader.views);
    return status;
}
