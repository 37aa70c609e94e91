// SPDX-License-Identifier: Apache-2.0
// Time in the text report: how long each timed kernel took and why, what its warps waited for, its counters over time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/export/text.h"
#include "view/report_timing.h"
#include "view/sparkline.h"
#include "view/utf8.h"
#include "view/wrap.h"

#define ALL_WARPS 99.95  // per cent of an SM's warps, as they are printed

enum { STALL_LINES = 8, REASONS = 4, CURVE_WIDTH = 60, CURVE_LABEL = 26, LEAST_CODE = 16, LEAST_AT = 18, LABEL = 13 };
enum { INDENT = 2, LEAST_CAUSE = 32 };

static f64 value_of(const MetricSet *set, MetricId metric) { return set->present[metric] ? set->value[metric] : 0; }

static const char *fixed(Text *text, f64 value, u32 digits) { return text_keep(text, number_fixed(value, digits)); }
static const char *human(Text *text, f64 value) { return text_keep(text, number_human(value)); }

static const char *bytes(Text *text, f64 value) {
    NumberText n = number_human(value);
    return arena_printf(&text->arena, "%s%sB", n.text, strchr(n.text, ' ') ? "" : " ");
}

static void line(Text *text, const char *name, const char *value) {
    if (!value) text->out->status = STATUS_NO_MEMORY;
    if (!value) return;
    output_printf(text->out, "    %-*s", LABEL, name);
    wrap_text(text->out, value, 4 + LABEL, text_width(text));
}

// --- why -----------------------------------------------------------------------------------------------------------
static const char *title_of(Text *text, const ReportKernel *kernel) {
    f64 cycles = value_of(&kernel->metrics, METRIC_ELAPSED), ns = value_of(&kernel->metrics, METRIC_DURATION);
    const char *rest =
        arena_printf(&text->arena, ": %s cycles, %s%s (%s%s)", human(text, cycles), text_keep(text, number_time(ns)),
                     kernel->timed_launches > 1 ? " in all launches" : "", kernel->provenance,
                     kernel->estimated_launches ? " in part" : "");
    const char *name = rest ? text_kernel_beside(text, kernel, INDENT + utf8_width(rest)) : NULL;
    return name ? arena_printf(&text->arena, "%s%s", name, rest) : NULL;
}

// Partial simulation: how sure the cycles are.
static const char *interval(Text *text, const ReportKernel *kernel) {
    const char *low = human(text, kernel->low), *high = human(text, kernel->high);
    return arena_printf(
        &text->arena,
        "%s to %s cycles with 95 %% confidence; %s %% of the warp instructions cycle by cycle, %u of %u "
        "launches estimated",
        low ? low : "", high ? high : "", fixed(text, 100 * kernel->detail, 1), kernel->estimated_launches,
        kernel->timed_launches);
}

static const char *slots(Text *text, const MetricSet *m) {
    f64 all = value_of(m, METRIC_SMSP_ELAPSED);
    if (all <= 0) return "";
    return arena_printf(&text->arena, "%s %% issued, %s %% stalled, %s %% without warps",
                        fixed(text, 100 * value_of(m, METRIC_ISSUE_ACTIVE) / all, 1),
                        fixed(text, 100 * value_of(m, METRIC_ISSUE_STALLED) / all, 1),
                        fixed(text, 100 * value_of(m, METRIC_ISSUE_EMPTY) / all, 1));
}

static int by_value(const void *left, const void *right) {
    const f64 *a = left, *b = right;
    if (a[0] != b[0]) return a[0] < b[0] ? 1 : -1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

// The commonest reasons, in per cent of the time that warps waited.
static const char *reasons(Text *text, const MetricSet *m) {
    f64 all = value_of(m, METRIC_WARP_STALLED), rows[64][2];
    const char *list = "";
    if (all <= 0) return "";
    for (u32 i = 0; i < stall_text_count; i++) {
        rows[i][0] = value_of(m, stall_texts[i].metric);
        rows[i][1] = i;
    }
    qsort(rows, stall_text_count, sizeof rows[0], by_value);
    for (u32 i = 0; i < REASONS && rows[i][0] > 0 && list; i++) {
        const char *share = fixed(text, 100 * rows[i][0] / all, 1);
        list = arena_printf(&text->arena, "%s%s%s %s %%", list, i ? ", " : "", stall_texts[(u32)rows[i][1]].name,
                            share ? share : "");
    }
    return list;
}

static const char *limiter(const MetricSet *m) {
    static const struct {
        MetricId limit;
        const char *text;
    } limits[] = {{METRIC_LIMIT_REGISTERS, "registers"},
                  {METRIC_LIMIT_SHARED, "shared memory"},
                  {METRIC_LIMIT_WARPS, "warps"},
                  {METRIC_LIMIT_BLOCKS, "CTAs"}};
    const char *least = "";
    f64 fit = INFINITY;
    for (u32 i = 0; i < WL_COUNT(limits); i++) {
        if (!m->present[limits[i].limit] || m->value[limits[i].limit] >= fit) continue;
        fit = m->value[limits[i].limit];
        least = limits[i].text;
    }
    return least;
}

static const char *occupancy(Text *text, const MetricSet *m) {
    const char *by = limiter(m);
    f64 most = value_of(m, METRIC_OCCUPANCY_MOST);
    bool limited = *by && most < ALL_WARPS;
    return arena_printf(&text->arena, "occupancy %s %% of %s %% possible%s%s; %s registers, %s waves",
                        fixed(text, value_of(m, METRIC_OCCUPANCY), 1), fixed(text, most, 1),
                        limited ? ", limited by " : "", limited ? by : "",
                        fixed(text, value_of(m, METRIC_REGISTERS), 0), fixed(text, value_of(m, METRIC_WAVES), 2));
}

static const char *hits(Text *text, const MetricSet *m) {
    const char *l1 = m->present[METRIC_L1_HIT_RATE] ? fixed(text, m->value[METRIC_L1_HIT_RATE], 1) : "-";
    const char *l2 = m->present[METRIC_L2_HIT_RATE] ? fixed(text, m->value[METRIC_L2_HIT_RATE], 1) : "-";
    return arena_printf(&text->arena, "hits: L1 %s %%, L2 %s %%", l1, l2);
}

static const char *dram(Text *text, const MetricSet *m) {
    if (value_of(m, METRIC_DRAM_READ_BYTES) + value_of(m, METRIC_DRAM_WRITE_BYTES) == 0) return "not used";
    return arena_printf(&text->arena, "%s/s, %s %% of peak; %s read, %s written",
                        bytes(text, value_of(m, METRIC_DRAM_RATE)), fixed(text, value_of(m, METRIC_DRAM_PCT), 1),
                        bytes(text, value_of(m, METRIC_DRAM_READ_BYTES)),
                        bytes(text, value_of(m, METRIC_DRAM_WRITE_BYTES)));
}

static void write_reasons(Text *text, const ReportKernel *kernel) {
    const MetricSet *m = &kernel->metrics;
    const char *list = reasons(text, m);
    if (kernel->estimated_launches) line(text, "estimated", interval(text, kernel));
    line(text, "limited by", timing_limit(kernel, &text->arena));
    line(text, "issue slots", slots(text, m));
    if (!list || *list) line(text, "warps wait", list);
    line(text, "warps", occupancy(text, m));
    line(text, "caches", hits(text, m));
    line(text, "DRAM", dram(text, m));
    if (m->present[METRIC_LOAD_LATENCY])
        line(text, "loads",
             arena_printf(&text->arena, "%s cycles on average", fixed(text, m->value[METRIC_LOAD_LATENCY], 0)));
}

// --- curves --------------------------------------------------------------------------------------------------------
typedef struct Curve {
    MetricId metric;
    bool brief;  // also in the timing section; of a whole run, in the report without sections
    u32 digits;
    const char *label;
    bool rate;  // per second
} Curve;
static const Curve simulated_curves[] = {
    {METRIC_IPC, true, 2, "instructions/cycle, SM"},
    {METRIC_OCCUPANCY, false, 0, "occupancy %"},
    {METRIC_ISSUE_PCT_ELAPSED, false, 0, "issue slots used %"},
    {METRIC_CTAS_ACTIVE, false, 0, "CTA cycles"},
    {METRIC_LANE_PCT, false, 0, "active lanes %"},
    {METRIC_L1_HIT_RATE, false, 0, "L1 hits %"},
    {METRIC_LOAD_LATENCY, false, 0, "load latency, cycles"},
    {METRIC_NOC_REPLY_LOAD, false, 2, "flits/cycle to an SM"},
    {METRIC_L2_HIT_RATE, false, 0, "L2 hits %"},
    {METRIC_DRAM_PCT, true, 0, "DRAM throughput %"},
    {METRIC_DRAM_EFFICIENCY, false, 0, "DRAM efficiency %"},
    {METRIC_STALL_LONG_SCOREBOARD, false, 0, "memory waits, cycles"},
    {METRIC_STALL_BARRIER, false, 0, "barrier waits, cycles"},
    {METRIC_STALL_NO_INSTRUCTIONS, false, 0, "instruction waits, cycles"},
};
static const Curve gpu_curves[] = {
    {METRIC_SM_ACTIVE_PCT, true, 0, "SMs with warps %"},
    {METRIC_IPC_EXECUTED, true, 2, "instructions/cycle, SM"},
    {METRIC_OCCUPANCY, false, 0, "occupancy %"},
    {METRIC_TENSOR_PCT, true, 0, "tensor cores %"},
    {METRIC_FP64_PCT, false, 0, "FP64 unit %"},
    {METRIC_L1_HIT_RATE, false, 0, "L1 hits %"},
    {METRIC_L2_PCT, false, 0, "L2 throughput %"},
    {METRIC_L2_SM_HIT_RATE, false, 0, "L2 hits of SMs %"},
    {METRIC_DRAM_PCT, true, 0, "DRAM throughput %"},
    {METRIC_DRAM_READ_BYTES, false, 0, "DRAM reads, B/s", true},
    {METRIC_DRAM_WRITE_BYTES, false, 0, "DRAM writes, B/s", true},
    {METRIC_PCIE_READ, true, 0, "PCIe reads, B/s", true},
    {METRIC_PCIE_WRITE, false, 0, "PCIe writes, B/s", true},
    {METRIC_NVLINK_RX, true, 0, "NVLink received, B/s", true},
    {METRIC_NVLINK_TX, true, 0, "NVLink sent, B/s", true},
    {METRIC_ELAPSED, false, 0, "SM clock, Hz", true},
};

static u32 curve_width(const Text *text) {
    u32 width = text_width(text);
    return width && width < CURVE_WIDTH + CURVE_LABEL + 22 ? (width > 68 ? width - CURVE_LABEL - 22 : 20) : CURVE_WIDTH;
}

static const char *top_text(Text *text, f64 top, u32 digits) {
    while (digits < 4 && top < 0.5 * pow(10, -(f64)digits)) digits++;  // it would be 0
    return top >= 10000 ? human(text, top) : fixed(text, top, digits);
}

// False: nothing happened, nothing was drawn.
static bool write_curve(Text *text, const Curve *curve, const f64 *values, u32 count) {
    f64 top = 0;
    for (u32 i = 0; i < count; i++)
        if (values[i] > top) top = values[i];  // false for NAN
    if (top <= 0) return false;
    const char *shape = sparkline(&text->arena, values, count, top, curve_width(text), !text->report->options.ascii);
    if (shape)
        output_printf(text->out, "    %-*s %s  to %s\n", CURVE_LABEL, curve->label, shape,
                      top_text(text, top, curve->digits));
    if (!shape) text->out->status = STATUS_NO_MEMORY;
    return true;
}

static void per_second(const ProfileTimeline *t, f64 *values) {
    for (u32 p = 0; p < t->points; p++) values[p] *= 1e9 / ((f64)t->step * t->tick_ns);
}

// A GPU's counters are not read at the same moment: of a point in which next to nothing ran, a share may be anything.
static void at_most_all(MetricId metric, const ProfileTimeline *t, f64 *values) {
    if (!t->on_gpu || strcmp(metric_table[metric].unit, "percent") != 0) return;
    for (u32 p = 0; p < t->points; p++)
        if (values[p] > 100) values[p] = 100;
}

static const char *step_text(Text *text, const ProfileTimeline *t, u32 width) {
    f64 ticks = floor((f64)t->step * t->points / width);
    return t->on_gpu ? text_keep(text, number_time(ticks))
                     : arena_printf(&text->arena, "%s cycles", human(text, ticks));
}

static Status write_timeline(Text *text, const ProfileTimeline *t, bool brief, Diag *diag) {
    const Curve *curves = t->on_gpu ? gpu_curves : simulated_curves;
    u32 count = t->on_gpu ? WL_COUNT(gpu_curves) : WL_COUNT(simulated_curves);
    Profile *profile = text->report->profile;
    TimelineData data;
    TRY(timeline_read(profile, t, &data, diag));
    f64 *values = ARENA_ARRAY(&text->arena, f64, t->points + 1);
    u32 drawn = 0, width = t->points < curve_width(text) ? t->points : curve_width(text);
    for (u32 i = 0; i < count && values; i++) {
        if (brief && !curves[i].brief) continue;
        timeline_figure(profile, t, &data, curves[i].metric, TIMELINE_ALL, values);
        if (curves[i].rate) per_second(t, values);
        at_most_all(curves[i].metric, t, values);
        drawn += write_curve(text, &curves[i], values, t->points);
    }
    if (drawn) output_printf(text->out, "    %-*s %s each\n", CURVE_LABEL, "", step_text(text, t, width));
    timeline_free(&data);
    return values ? STATUS_OK : STATUS_NO_MEMORY;
}

static Status write_launch_curves(Text *text, const ProfileLaunch *launch, bool brief, Diag *diag) {
    const ProfileTimeline *timelines;
    u32 count;
    TRY(profile_timelines(text->report->profile, launch->id, &timelines, &count, diag));
    for (u32 i = 0; i < count; i++)
        if (timelines[i].unit == TIMELINE_GPU && timelines[i].points > 1) {
            TRY(write_timeline(text, &timelines[i], brief, diag));
        }
    return STATUS_OK;
}

static const char *run_title(Text *text, const ProfileTimeline *t) {
    const Report *report = text->report;
    for (u32 i = 0; i < report->source_count; i++)
        if (report->sources[i].id == t->source && *report->sources[i].detail)
            return arena_printf(&text->arena, "The whole run, %s (%s)", text_clean(text, report->sources[i].detail),
                                report->sources[i].provenance);
    return "The whole run";
}

Status text_run_curves(Text *text, bool brief, Diag *diag) {
    const ProfileTimeline *timelines;
    u32 count;
    TRY(profile_timelines(text->report->profile, 0, &timelines, &count, diag));
    for (u32 i = 0; i < count; i++) {
        if (timelines[i].unit != TIMELINE_GPU || timelines[i].points < 2) continue;
        text_heading(text, run_title(text, &timelines[i]));
        TRY(write_timeline(text, &timelines[i], brief, diag));
    }
    return STATUS_OK;
}

// --- stalls by line ------------------------------------------------------------------------------------------------
typedef struct StallLine {
    const ProfileLine *line;
    f64 cycles;
    u32 position;
} StallLine;

static int compare_lines(const void *left, const void *right) {
    const StallLine *a = left, *b = right;
    if (a->cycles != b->cycles) return a->cycles < b->cycles ? 1 : -1;
    return (a->position > b->position) - (a->position < b->position);
}

bool text_same_file(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

const char *text_cause(Text *text, const ReportKernel *kernel, const ReportStall *s) {
    const StallText *reason = stall_text_find(s->reason);
    if (!reason || !*reason->cause || !s->cause_line) return "";
    const char *words = stall_cause_words(reason, s->cause_class);
    bool same = text_same_file(s->cause_file, s->file);
    if (same && s->cause_line == s->line) return arena_printf(&text->arena, "%s this line", words);
    return arena_printf(&text->arena, "%s %s%s", words, same ? "line " : "",
                        text_place(text, kernel, s->cause_file, s->cause_line, !same));
}

// "data loaded at line 41": the commonest cause of what this line waited for by its main reason; empty when that of
// most is not known, as of calls of the device's runtime.
static const char *cause_text(Text *text, const ReportKernel *kernel, const ProfileLine *at, const StallText *reason) {
    const ReportStall *first = NULL;
    f64 known = 0, all = kernel->estimated_launches ? 0 : value_of(&at->metrics, reason->metric);
    for (u32 i = 0; i < kernel->stall_count; i++) {
        const ReportStall *s = &kernel->stalls[i];
        if (s->line != at->line || !text_same_file(s->file, at->file) || strcmp(s->reason, reason->name)) continue;
        if (!first) first = s;
        if (s->cause_line) known += s->cycles;
    }
    return first && 2 * known >= all ? text_cause(text, kernel, first) : "";
}

typedef struct StallColumns {
    bool file, code;
} StallColumns;

static void stall_row(Text *text, Table *table, const ReportKernel *kernel, const StallLine *row, StallColumns with) {
    const StallText *reason = stall_text_main(&row->line->metrics);
    f64 all = value_of(&kernel->metrics, METRIC_WARP_STALLED);
    f64 main = reason ? 100 * value_of(&row->line->metrics, reason->metric) / row->cycles : 0;
    table_cell(table, text_place(text, kernel, row->line->file, row->line->line, with.file));
    table_cell(table, fixed(text, all > 0 ? 100 * row->cycles / all : 0, 1));
    table_cell(table, reason ? arena_printf(&text->arena, "%s %s %%", reason->name, fixed(text, main, 0)) : "-");
    table_cell(table, reason ? cause_text(text, kernel, row->line, reason) : "");
    if (with.code) table_cell(table, text_code(text, kernel, row->line));
}

static bool in_one_file(const StallLine *rows, u32 count) {
    for (u32 i = 1; i < count; i++)
        if (!text_same_file(rows[i].line->file, rows[0].line->file)) return false;
    return true;
}

static void stall_table(Text *text, const ReportKernel *kernel, const StallLine *rows, u32 count) {
    Table table = {0};
    StallColumns with = {.file = !in_one_file(rows, count)};
    for (u32 i = 0; i < count; i++) {
        const char *code = text_code(text, kernel, rows[i].line);
        with.code |= code && *code;
    }
    TableColumn at = {
        .header = "line", .align = with.file ? TABLE_LEFT_TAIL : TABLE_RIGHT, .least = with.file ? LEAST_AT : 0};
    table_column(&table, at);
    table_column(&table, (TableColumn){.header = "waiting %"});
    table_column(&table, (TableColumn){.header = "main reason", .align = TABLE_LEFT});
    table_column(&table,
                 (TableColumn){.header = "waits for", .align = TABLE_LEFT, .importance = 1, .least = LEAST_CAUSE});
    TableColumn code = {.header = "source", .align = TABLE_LEFT, .importance = 2, .least = LEAST_CODE};
    if (with.code) table_column(&table, code);
    for (u32 i = 0; i < count; i++) stall_row(text, &table, kernel, &rows[i], with);
    text->hidden += table_print(&table, text->out, text_width(text), text->report->options.color);
    table_free(&table);
}

static void write_stall_lines(Text *text, const ReportKernel *kernel, u32 most) {
    StallLine *rows = ARENA_ARRAY(&text->arena, StallLine, kernel->line_count + 1);
    u32 count = 0;
    if (!rows) text->out->status = STATUS_NO_MEMORY;
    for (u32 i = 0; rows && i < kernel->line_count; i++) {
        f64 cycles = value_of(&kernel->lines[i].metrics, METRIC_WARP_STALLED);
        if (cycles > 0) rows[count++] = (StallLine){&kernel->lines[i], cycles, i};
    }
    if (!count) return;
    qsort(rows, count, sizeof *rows, compare_lines);
    stall_table(text, kernel, rows, count < most ? count : most);
    if (count > most) output_printf(text->out, "  and %u more line%s\n", count - most, plural(count - most));
}

// --- sections ------------------------------------------------------------------------------------------------------
static bool is_timed(const ReportKernel *kernel) { return kernel->metrics.present[METRIC_ELAPSED]; }

// A launch on a GPU has a time in ns only.
static bool is_of_gpu(const ProfileLaunch *launch) { return launch->time.end_cycle == launch->time.begin_cycle; }

static void nothing_timed(Text *text) {
    bool on_gpu = false;
    for (u32 i = 0; i < text->report->kernel_count; i++) on_gpu |= text->report->kernels[i].sampled != NULL;
    output_text(text->out, on_gpu ? "  no launch was simulated; --section samples has the times on the GPU\n"
                                  : "  no launch was timed; `warplens run` and `warplens sim` do it with --timing\n");
}

static void write_kernel_timing(Text *text, const ReportKernel *kernel) {
    const char *title = title_of(text, kernel);
    if (!title) {
        text->out->status = STATUS_NO_MEMORY;
        return;
    }
    output_printf(text->out, "  %s\n", title);
    write_reasons(text, kernel);
    if (kernel->longest) {
        Status status = write_launch_curves(text, kernel->longest, true, NULL);
        if (status == STATUS_NO_MEMORY) text->out->status = status;  // a damaged curve is left out
    }
    write_stall_lines(text, kernel, STALL_LINES);
}

void text_timing(Text *text) {
    const Report *report = text->report;
    u32 shown = 0, limit = report->options.section == REPORT_TIMING ? UINT32_MAX : KERNELS_WITH_LINES;
    for (u32 i = 0; i < report->kernel_count && text->out->status == STATUS_OK; i++) {
        if (!is_timed(&report->kernels[i]) || shown++ >= limit) continue;
        if (shown == 1) text_heading(text, "Timing (by a model of the GPU: docs/simulator-model.md)");
        if (shown > 1) output_text(text->out, "\n");
        write_kernel_timing(text, &report->kernels[i]);
    }
    if (shown > limit)
        output_printf(text->out, "\n  the timing of %u more kernel%s: --section timing\n", shown - limit,
                      plural(shown - limit));
    if (shown || report->options.section != REPORT_TIMING) return;
    text_heading(text, "Timing");
    nothing_timed(text);
}

void text_stalls(Text *text) {
    const Report *report = text->report;
    u32 shown = 0;
    for (u32 i = 0; i < report->kernel_count && text->out->status == STATUS_OK; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        if (value_of(&kernel->metrics, METRIC_WARP_STALLED) <= 0 && !kernel->stall_count) continue;
        const char *name = text_kernel_beside(text, kernel, (u32)strlen("Waiting warps of "));
        text_heading(text, name ? arena_printf(&text->arena, "Waiting warps of %s", name) : NULL);
        write_stall_lines(text, kernel, report->options.lines ? report->options.lines : UINT32_MAX);
        shown++;
    }
    if (shown) return;
    text_heading(text, "Waiting warps");
    nothing_timed(text);
}

Status text_timelines(Text *text, Diag *diag) {
    const Report *report = text->report;
    const ProfileTimeline *timelines;
    u32 shown = 0, count;
    TRY(text_run_curves(text, false, diag));
    TRY(profile_timelines(report->profile, 0, &timelines, &shown, diag));
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        const char *name = text_kernel(text, kernel);
        if (!name) return STATUS_NO_MEMORY;
        for (u32 k = 0; k < kernel->launch_count; k++) {
            const ProfileLaunch *launch = &kernel->launches[k];
            if (!launch->time.known) continue;
            TRY(profile_timelines(report->profile, launch->id, &timelines, &count, diag));
            if (!count && is_of_gpu(launch)) continue;  // too short for its points, or one of very many
            text_heading(text, arena_printf(&text->arena, "Launch %u: %s", launch->index, name));
            TRY(write_launch_curves(text, launch, false, diag));
            shown++;
        }
    }
    if (shown) return STATUS_OK;
    text_heading(text, "Timelines");
    nothing_timed(text);
    return STATUS_OK;
}
