// SPDX-License-Identifier: Apache-2.0
#include "view/report_data.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_view.h"
#include "binary/kernel_name.h"
#include "view/columns.h"
#include "view/short_name.h"
#include "view/utf8.h"

enum { OTHERS = 8, OTHER_NAME = 40 };  // kernels to name that are not wanted

typedef struct Loader {
    Report *report;
    Arena *arena;
    Diag *diag;
    regex_t filter;
    bool filtered;
    Formula order;
} Loader;

static Str str(const char *text) { return (Str){text, strlen(text)}; }

static Status name_kernel(Loader *loader, ReportKernel *kernel) {
    const ReportOptions *options = &loader->report->options;
    const char *mangled = kernel->function->name;
    const char *signature = options->demangle ? options->demangle(options->demangle_context, mangled) : mangled;
    kernel->mangled = utf8_clean(loader->arena, str(mangled), false);
    kernel->signature = utf8_clean(loader->arena, str(signature ? signature : mangled), false);
    if (!kernel->mangled || !kernel->signature) return STATUS_NO_MEMORY;
    kernel->name = arena_copy_str(loader->arena, kernel_plain_name(kernel->signature));
    return kernel->name ? STATUS_OK : STATUS_NO_MEMORY;
}

static bool is_wanted(const Loader *loader, const ReportKernel *kernel) {
    return !loader->filtered || kernel_name_matches(&loader->filter, kernel->mangled, kernel->signature);
}

// Told when the filter leaves none in.
static Status note_other(Loader *loader, const ReportKernel *kernel) {
    Report *report = loader->report;
    const char *before = report->others ? report->others : "";
    if (!kernel->function->launches || report->other_count++ > OTHERS) return STATUS_OK;
    const char *name = report->other_count > OTHERS ? "..." : short_name(loader->arena, kernel->name, OTHER_NAME);
    if (!name) return STATUS_NO_MEMORY;
    report->others = arena_printf(loader->arena, "%s%s%s", before, *before ? ", " : "", name);
    return report->others ? STATUS_OK : STATUS_NO_MEMORY;
}

static const char *provenance_of(const Report *report, u32 source) {
    for (u32 i = 0; i < report->source_count; i++) {
        if (report->sources[i].id == source) return report->sources[i].provenance;
    }
    return "";
}

static const GpuModel *gpu_of(const Report *report, u32 source) {
    for (u32 i = 0; i < report->source_count; i++)
        if (report->sources[i].id == source) return report->gpus[i];
    return NULL;
}

// Functions that were only called, never launched, have figures per line alone.
static void add_line_figures(ReportKernel *kernel) {
    for (u32 i = 0; i < kernel->line_count; i++) metric_merge(&kernel->metrics, &kernel->lines[i].metrics);
    metric_evaluate(&kernel->metrics);
}

static Status load_kernel(Loader *loader, ReportKernel *kernel) {
    Profile *profile = loader->report->profile;
    u32 id = kernel->function->id;
    TRY(profile_launches(profile, id, &kernel->launches, &kernel->launch_count, loader->diag));
    TRY(profile_lines(profile, id, &kernel->lines, &kernel->line_count, loader->diag));
    TRY(profile_function_metrics(profile, id, &kernel->metrics, loader->diag));
    if (!kernel->metrics.present[METRIC_INST]) add_line_figures(kernel);
    TRY(report_load_timing(loader->report, kernel, loader->arena, loader->diag));
    kernel->provenance = provenance_of(loader->report, kernel->function->source);
    kernel->gpu = gpu_of(loader->report, kernel->function->source);
    return STATUS_OK;
}

static int compare_kernels(const void *left, const void *right) {
    const ReportKernel *a = left, *b = right;
    if (a->first != b->first) return a->first < b->first ? 1 : -1;
    if (a->order != b->order) return a->order < b->order ? 1 : -1;
    f64 time_a = a->sampled ? a->sampled->total_ns : 0, time_b = b->sampled ? b->sampled->total_ns : 0;
    if (time_a != time_b) return time_a < time_b ? 1 : -1;
    return (a->function->id > b->function->id) - (a->function->id < b->function->id);
}

bool report_by_time(const ReportOptions *options) { return !options->sort || !strcmp(options->sort, "time"); }

// Needs the samples: of a kernel on a GPU they have its time.
static void set_order(const Loader *loader, ReportKernel *kernel) {
    const MetricSet *m = &kernel->metrics;
    kernel->time_ns = m->present[METRIC_DURATION] ? m->value[METRIC_DURATION] : 0;
    if (kernel->sampled && kernel->sampled->total_ns > 0) kernel->time_ns = kernel->sampled->total_ns;
    f64 order = formula_run(&loader->order, m);
    kernel->order = isnan(order) ? -INFINITY : order;
    kernel->first = report_by_time(&loader->report->options) ? kernel->time_ns : 0;
}

static Status load_kernels(Loader *loader) {
    const ProfileFunction *functions;
    u32 count;
    TRY(profile_functions(loader->report->profile, &functions, &count, loader->diag));
    ReportKernel *kernels = ARENA_ARRAY(loader->arena, ReportKernel, count + 1u);
    if (!kernels) return STATUS_NO_MEMORY;
    u32 kept = 0;
    for (u32 i = 0; i < count; i++) {
        ReportKernel *kernel = &kernels[kept];
        *kernel = (ReportKernel){.function = &functions[i]};
        if (functions[i].source == 0) continue;  // neither launched nor counted
        TRY(name_kernel(loader, kernel));
        if (!is_wanted(loader, kernel)) {
            TRY(note_other(loader, kernel));
            continue;
        }
        TRY(load_kernel(loader, kernel));
        kept += kernel->launch_count || kernel->line_count;
    }
    TRY(report_load_samples(loader->report, kernels, kept, loader->arena, loader->diag));
    for (u32 i = 0; i < kept; i++) set_order(loader, &kernels[i]);
    qsort(kernels, kept, sizeof *kernels, compare_kernels);
    loader->report->kernels = kernels;
    loader->report->kernel_count = kept;
    return STATUS_OK;
}

static Status load_order(Loader *loader) {
    const char *sort = loader->report->options.sort;
    bool by_time = report_by_time(&loader->report->options);  // lines have no time
    const char *kernel_order = by_time ? "thread" : sort, *line_order = by_time ? "warp" : sort;
    Status status = column_formula(kernel_order, &loader->order);
    if (status == STATUS_OK) status = column_formula(line_order, &loader->report->line_order);
    if (status == STATUS_OK) return STATUS_OK;
    const char *names = "";
    for (u32 i = 0; i < column_count && names; i++)
        names = arena_printf(loader->arena, "%s%s, ", names, column_table[i].field);
    diag_text(loader->diag, DIAG_ERROR, NULL, 0, 0,
              "cannot sort by '%s': neither a metric (docs/metrics.md) nor a column; columns are %stime", sort,
              names ? names : "");
    return STATUS_INVALID;
}

static Status compile_filter(Loader *loader) {
    const char *pattern = loader->report->options.kernel_regex;
    if (!pattern) return STATUS_OK;
    char reason[128];
    loader->filtered = kernel_filter_compile(&loader->filter, pattern, reason, sizeof reason);
    if (loader->filtered) return STATUS_OK;
    diag_text(loader->diag, DIAG_ERROR, NULL, 0, 0, "kernel filter '%.200s': %s", pattern, reason);
    return STATUS_INVALID;
}

static Status load_run(Loader *loader) {
    Report *report = loader->report;
    TRY(profile_summary(report->profile, &report->summary, loader->diag));
    TRY(profile_sources(report->profile, &report->sources, &report->source_count, loader->diag));
    report->gpus = ARENA_ARRAY(loader->arena, const GpuModel *, report->source_count + 1u);
    if (!report->gpus) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < report->source_count; i++)
        TRY(kernel_gpu(report->options.gpu_folder, report->sources[i].device, loader->arena, &report->gpus[i]));
    TRY(profile_losses(report->profile, &report->losses, &report->loss_count, loader->diag));
    return profile_messages(report->profile, &report->messages, &report->message_count, loader->diag);
}

Status report_load(Profile *profile, const ReportOptions *options, Arena *arena, Report *report, Diag *diag) {
    *report = (Report){.profile = profile, .options = *options};
    Loader loader = {.report = report, .arena = arena, .diag = diag};
    TRY(load_order(&loader));
    TRY(compile_filter(&loader));
    Status status = load_run(&loader);
    if (status == STATUS_OK) status = report_load_findings(report, arena, diag);
    if (status == STATUS_OK) status = load_kernels(&loader);
    if (loader.filtered) regfree(&loader.filter);
    return status;
}
