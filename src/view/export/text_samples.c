// SPDX-License-Identifier: Apache-2.0
// Kernels on a GPU in the text report: how long they took, what their warps waited for, by line and blamed cause.
#include <string.h>

#include "view/export/text.h"
#include "view/report_timing.h"

#define LEAST_SHOWN 0.0005  // of the samples that waited

enum { SAMPLE_LINES = 8, REASONS = 4, LEAST_NAME = 12, LEAST_CODE = 16, LEAST_AT = 18, LEAST_CAUSE = 32 };

static const char *percent(Text *text, f64 part, f64 all) {
    return text_keep(text, number_fixed(all > 0 ? 100 * part / all : 0, 1));
}

static const char *time_text(Text *text, f64 ns) { return text_keep(text, number_time(ns)); }

// `timed`: some launches were not, and how many were is told, and how far off that makes the total.
static void time_columns(Table *table, bool timed) {
    static const char *const headers[] = {"share %", "launches", "timed", "total", "+- %", "mean", "least", "most"};
    table_column(table, (TableColumn){.header = "kernel", .align = TABLE_LEFT_NAME, .least = LEAST_NAME});
    table_column(table, (TableColumn){.header = "grid x block", .importance = 8});
    for (u32 i = 0; i < WL_COUNT(headers); i++)
        if (timed || (i != 2 && i != 4))
            table_column(table, (TableColumn){.header = headers[i], .importance = i < 6 ? 0 : i});
}

static void time_cells(Text *text, Table *table, const ReportSamples *s, f64 all, bool timed) {
    bool known = s->launches > 0;
    table_cell(table, known ? percent(text, s->total_ns, all) : "-");
    table_cell(table, arena_printf(&text->arena, "%u", s->launches + s->unknown));
    if (timed) table_cell(table, arena_printf(&text->arena, "%u", s->launches - s->estimated));
    table_cell(table, known ? time_text(text, s->total_ns) : "-");
    if (timed) table_cell(table, known ? percent(text, s->error_ns, s->total_ns) : "-");
    table_cell(table, known ? time_text(text, s->total_ns / s->launches) : "-");
    table_cell(table, known ? time_text(text, s->least_ns) : "-");
    table_cell(table, known ? time_text(text, s->most_ns) : "-");
}

static void write_times(Text *text, f64 all) {
    const Report *report = text->report;
    Table table = {0};
    bool timed = false;
    for (u32 i = 0; i < report->kernel_count; i++)
        if (report->kernels[i].sampled)
            timed |= report->kernels[i].sampled->estimated || report->kernels[i].sampled->unknown;
    time_columns(&table, timed);
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportSamples *s = report->kernels[i].sampled;
        if (!s || !(s->launches + s->unknown)) continue;
        table_cell(&table, text_kernel(text, &report->kernels[i]));
        table_cell(&table, text_launch_shape(text, &report->kernels[i]));
        time_cells(text, &table, s, all, timed);
    }
    text->hidden += table_print(&table, text->out, text_width(text), report->options.color);
    table_free(&table);
}

// The commonest reasons, in per cent of the samples of warps that did not issue.
static const char *reasons(Text *text, const ReportSamples *s) {
    const char *list = "";
    u32 told[REASONS];
    for (u32 n = 0; n < REASONS && list; n++) {
        u32 most = STALL_COUNT;
        for (u32 r = 0; r < STALL_COUNT; r++) {
            bool before = r == STALL_SELECTED;
            for (u32 k = 0; k < n; k++) before |= told[k] == r;
            if (!before && s->reasons[r] > 0 && (most == STALL_COUNT || s->reasons[r] > s->reasons[most])) most = r;
        }
        if (most == STALL_COUNT) break;
        told[n] = most;
        const char *share = percent(text, s->reasons[most], (f64)s->stalled);
        list = arena_printf(&text->arena, "%s%s%s %s %%", list, n ? ", " : "", stall_names[most], share ? share : "");
    }
    return list;
}

// How many of the rows are shown: not those that would be 0.0 %.
static u32 rows_to_show(const ReportSamples *s, u32 most) {
    u32 shown = 0;
    while (shown < s->row_count && shown < most && s->rows[shown].cycles >= LEAST_SHOWN * (f64)s->stalled) shown++;
    return shown;
}

static bool in_one_file(const ReportSamples *s, u32 shown) {
    for (u32 i = 1; i < shown; i++)
        if (!text_same_file(s->rows[i].file, s->rows[0].file)) return false;
    return true;
}

static void write_rows(Text *text, const ReportKernel *kernel, u32 shown) {
    const ReportSamples *s = kernel->sampled;
    bool files = !in_one_file(s, shown), codes = false;
    for (u32 i = 0; i < shown; i++) {
        const char *code = text_code(text, kernel, &(ProfileLine){.file = s->rows[i].file, .line = s->rows[i].line});
        codes |= code && *code;
    }
    Table table = {0};
    table_column(
        &table,
        (TableColumn){.header = "line", .align = files ? TABLE_LEFT_TAIL : TABLE_RIGHT, .least = files ? LEAST_AT : 0});
    table_column(&table, (TableColumn){.header = "waiting %"});
    table_column(&table, (TableColumn){.header = "reason", .align = TABLE_LEFT});
    table_column(
        &table,
        (TableColumn){.header = "waits for (blamed)", .align = TABLE_LEFT, .importance = 1, .least = LEAST_CAUSE});
    TableColumn code = {.header = "source", .align = TABLE_LEFT, .importance = 2, .least = LEAST_CODE};
    if (codes) table_column(&table, code);
    for (u32 i = 0; i < shown; i++) {
        const ReportStall *row = &s->rows[i];
        table_cell(&table, text_place(text, kernel, row->file, row->line, files));
        table_cell(&table, percent(text, row->cycles, (f64)s->stalled));
        table_cell(&table, row->reason);
        table_cell(&table, text_cause(text, kernel, row));
        if (codes) table_cell(&table, text_code(text, kernel, &(ProfileLine){.file = row->file, .line = row->line}));
    }
    text->hidden += table_print(&table, text->out, text_width(text), text->report->options.color);
    table_free(&table);
}

static void write_samples(Text *text, const ReportKernel *kernel, u32 most) {
    const ReportSamples *s = kernel->sampled;
    const char *name = text_kernel(text, kernel), *list = reasons(text, s);
    u32 shown = rows_to_show(s, most);
    const char *file = shown && in_one_file(s, shown) && s->rows[0].file ? s->rows[0].file : "";
    file = text_clean(text, text_path(file));
    NumberText count = number_human((f64)s->samples);
    if (!name || !list || !file) {
        text->out->status = STATUS_NO_MEMORY;
        return;
    }
    text_heading(text,
                 arena_printf(&text->arena, "Waiting warps of %s%s%s (sampled)", name, *file ? " in " : "", file));
    output_printf(text->out, "  %s sample%s", count.text, plural(s->samples));
    if (s->period) output_printf(text->out, ", one of an SM every %llu ", (unsigned long long)s->period);
    if (s->longest > s->period) output_printf(text->out, "to %llu ", (unsigned long long)s->longest);
    if (s->period) output_text(text->out, "cycles");
    output_printf(text->out, "; %s %% of the warps waited\n", percent(text, (f64)s->stalled, (f64)s->weight));
    if (*list) output_printf(text->out, "  %s\n", list);
    if (shown) write_rows(text, kernel, shown);
    if (s->row_count > shown) output_printf(text->out, "  and %u more\n", s->row_count - shown);
}

void text_samples(Text *text) {
    const Report *report = text->report;
    bool alone = report->options.section == REPORT_SAMPLES;
    u32 shown = 0, limit = alone ? UINT32_MAX : KERNELS_WITH_LINES;
    u32 lines = report->options.lines ? report->options.lines : SAMPLE_LINES;
    f64 all = 0;
    for (u32 i = 0; i < report->kernel_count; i++)
        if (report->kernels[i].sampled) all += report->kernels[i].sampled->total_ns;
    if (all > 0) {
        text_heading(text, "Kernels on the GPU");
        write_times(text, all);
    }
    for (u32 i = 0; i < report->kernel_count && text->out->status == STATUS_OK; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        if (!kernel->sampled || !kernel->sampled->samples || shown++ >= limit) continue;
        write_samples(text, kernel, lines);
    }
    if (shown > limit)
        output_printf(text->out, "\n  the samples of %u more kernel%s: --section samples\n", shown - limit,
                      plural(shown - limit));
    if (!alone || shown || all > 0) return;
    text_heading(text, "Kernels on the GPU");
    output_text(text->out, "  the profile has no launches on a GPU; `warplens run --on gpu` records them\n");
}
