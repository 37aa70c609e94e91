// SPDX-License-Identifier: Apache-2.0
// Tables for a terminal: the run, the kernels, and for each kernel its most expensive lines.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/columns.h"
#include "view/export/text.h"
#include "view/short_name.h"
#include "view/utf8.h"
#include "view/wrap.h"

enum { DEFAULT_LINES = 20, LEAST_NAME = 24, MOST_NAME = 80, LEAST_PLACE = 14, LEAST_SOURCE = 16, MESSAGES = 10 };

const char *text_clean(Text *text, const char *raw) { return utf8_clean(&text->arena, (Str){raw, strlen(raw)}, true); }

const char *text_kernel(Text *text, const ReportKernel *kernel) {
    const char *name = text_clean(text, kernel->name);
    return name ? short_name(&text->arena, name, MOST_NAME) : NULL;
}

const char *text_kernel_beside(Text *text, const ReportKernel *kernel, u32 others) {
    u32 width = text_width(text), room = width >= others + LEAST_NAME ? width - others : MOST_NAME;
    const char *name = text_clean(text, kernel->name);
    return name ? short_name(&text->arena, name, width && room < MOST_NAME ? room : MOST_NAME) : NULL;
}

const char *text_keep(Text *text, NumberText number) {
    return arena_copy_str(&text->arena, (Str){number.text, strlen(number.text)});
}

void text_heading(Text *text, const char *title) {
    output_text(text->out, text->begun ? "\n" : "");
    output_printf(text->out, text->report->options.color ? "\033[1m%s\033[0m\n" : "%s\n", title ? title : "");
    text->begun = true;
}

u32 text_width(const Text *text) { return text->report->options.width; }

// --- summary ----------------------------------------------------------------------------------------------------

static void item(Text *text, const char *name, const char *value) {
    if (!value) {
        text->out->status = STATUS_NO_MEMORY;
    } else if (value[0]) {
        output_printf(text->out, "  %-11s %s\n", name, value);
    }
}

static void write_provenance(Text *text) {
    const char *known = "";
    for (u32 i = 0; i < text->report->source_count; i++) {
        const char *one = text->report->sources[i].provenance;
        if (strstr(known, one)) continue;
        known = arena_printf(&text->arena, "%s%s%s", known, known[0] ? ", " : "", one);
        if (!known) break;
    }
    item(text, "provenance", known ? text_clean(text, known) : NULL);
}

// What is no measurement of everything is said first of all: partial simulation, launches recorded without their times.
static void write_sampling(Text *text) {
    u32 estimated = 0, timed = 0;
    bool on_gpu = false;
    for (u32 i = 0; i < text->report->kernel_count; i++) {
        const ReportKernel *kernel = &text->report->kernels[i];
        estimated += kernel->estimated_launches;
        timed += kernel->timed_launches;
        on_gpu |= kernel->sampled && kernel->sampled->estimated;
    }
    if (!estimated) return;
    item(text, on_gpu ? "estimated" : "sampled",
         arena_printf(&text->arena, "the times of %u of %u launches are estimates, from %s", estimated, timed,
                      on_gpu ? "launches alike that were timed" : "parts that were simulated"));
}

static const char *state_of(Text *text, const ProfileSummary *summary) {
    const char *state = summary->complete ? "complete" : "cut off: the program was killed or is still running";
    if (summary->dropped == 0) return state;
    if (!summary->complete) state = "incomplete: it could not be written any more";
    return arena_printf(&text->arena, "%s; %llu record%s lost", state, (unsigned long long)summary->dropped,
                        summary->dropped == 1 ? " was" : "s were");
}

static const char *command_of(Text *text, const ProfileSummary *summary) {
    const char *command = text_clean(text, summary->command);
    if (!command || summary->exit_code <= 0) return command;
    return arena_printf(&text->arena, "%s  (exit code %d)", command, summary->exit_code);
}

static void write_losses(Text *text) {
    const Report *report = text->report;
    for (u32 i = 0; i < report->loss_count && i < MESSAGES; i++) {
        const ProfileLoss *loss = &report->losses[i];
        item(text, "lost",
             arena_printf(&text->arena, "%llu %s", (unsigned long long)loss->count, text_clean(text, loss->what)));
    }
    if (report->loss_count > MESSAGES)
        item(text, "", arena_printf(&text->arena, "and %u more", report->loss_count - MESSAGES));
}

// How long all launches took; and the whole run, which on the simulator is no time of the program's.
static void write_times(Text *text, const ProfileSummary *summary) {
    const Report *report = text->report;
    const char *wall = text_keep(text, number_time((f64)summary->wall_ns)), *provenance = NULL;
    f64 ns = 0;
    bool simulated = false;
    for (u32 i = 0; i < report->kernel_count; i++) {
        ns += report->kernels[i].time_ns;
        if (report->kernels[i].time_ns > 0 && !provenance) provenance = report->kernels[i].provenance;
    }
    for (u32 i = 0; i < report->source_count; i++) simulated |= !strcmp(report->sources[i].provenance, "simulated");
    if (provenance)
        item(text, "kernel time",
             arena_printf(&text->arena, "%s in all launches (%s)", number_time(ns).text, provenance));
    item(text, "wall time", wall && simulated ? arena_printf(&text->arena, "%s of the simulation", wall) : wall);
}

// "": copies have no time, or only one of the host's clock.
static const char *copies_time(Text *text, const ProfileSummary *summary) {
    f64 ns = 0;
    for (u32 i = 0; i < text->report->kernel_count; i++) ns += text->report->kernels[i].time_ns;
    bool timed = ns > 0 && summary->copy_ns;
    return timed ? arena_printf(&text->arena, ", %s", number_time((f64)summary->copy_ns).text) : "";
}

static void write_summary(Text *text) {
    const Report *report = text->report;
    const ProfileSummary *summary = &report->summary;
    text_heading(text, "Warplens report");
    if (report->options.path) item(text, "profile", text_clean(text, report->options.path));
    item(text, "program", command_of(text, summary));
    item(text, "device", text_clean(text, summary->device));
    write_provenance(text);
    write_sampling(text);
    u32 kernels = 0, launches = 0;  // of those that the report is about
    for (u32 i = 0; i < report->kernel_count; i++) {
        kernels += report->kernels[i].launch_count > 0;
        launches += report->kernels[i].launch_count;
    }
    item(text, "launches", arena_printf(&text->arena, "%u (%u kernel%s)", launches, kernels, plural(kernels)));
    if (summary->copies) {
        item(text, "copies",
             arena_printf(&text->arena, "%llu (%s)%s", (unsigned long long)summary->copies,
                          number_bytes(summary->copy_bytes).text, copies_time(text, summary)));
    }
    write_times(text, summary);
    item(text, "state", state_of(text, summary));
    write_losses(text);
    for (u32 i = 0; i < report->message_count && i < MESSAGES; i++) {
        item(text, "message", text_clean(text, report->messages[i]));
    }
    if (report->message_count > MESSAGES) {
        item(text, "", arena_printf(&text->arena, "and %u more", report->message_count - MESSAGES));
    }
}

// --- figures ----------------------------------------------------------------------------------------------------

void text_note_columns(const Text *text, TextColumns *set, const MetricSet *metrics) {
    for (u32 i = 0; i < column_count; i++) {
        f64 value = formula_run(&text->columns[i], metrics);
        if (!isnan(value) && value != 0) set->shown[i] = true;
    }
}

void text_figure_columns(Table *table, const TextColumns *set, char which) {
    for (u32 i = 0; i < column_count; i++) {
        const Column *column = &column_table[i];
        if (!set->shown[i] || !strchr(column->tables, which)) continue;
        table_column(table, (TableColumn){.header = column->header, .importance = column->importance});
    }
}

void text_figure_cells(Text *text, Table *table, const TextColumns *set, char which, const MetricSet *metrics) {
    for (u32 i = 0; i < column_count; i++) {
        const Column *column = &column_table[i];
        if (!set->shown[i] || !strchr(column->tables, which)) continue;
        f64 value = formula_run(&text->columns[i], metrics);
        bool ratio = column->kind == COLUMN_RATIO && fabs(value) < 9999.5;
        table_cell(table, isnan(value) ? "-" : text_keep(text, ratio ? number_fixed(value, 1) : number_human(value)));
    }
}

// --- kernels ----------------------------------------------------------------------------------------------------

const char *text_shape(Text *text, const u32 *dims) {
    if (dims[2] > 1) return arena_printf(&text->arena, "%ux%ux%u", dims[0], dims[1], dims[2]);
    if (dims[1] > 1) return arena_printf(&text->arena, "%ux%u", dims[0], dims[1]);
    return arena_printf(&text->arena, "%u", dims[0]);
}

const char *text_launch_shape(Text *text, const ReportKernel *kernel) {
    if (kernel->launch_count == 0) return "-";
    const ProfileLaunch *first = &kernel->launches[0];
    for (u32 i = 1; i < kernel->launch_count; i++) {
        const ProfileLaunch *launch = &kernel->launches[i];
        bool same = memcmp(launch->grid, first->grid, sizeof first->grid) == 0 &&
                    memcmp(launch->block, first->block, sizeof first->block) == 0;
        if (!same) return "various";
    }
    const char *grid = text_shape(text, first->grid), *block = text_shape(text, first->block);
    return grid && block ? arena_printf(&text->arena, "%s x %s", grid, block) : NULL;
}

static void write_troubles(Text *text) {
    u32 failed = 0, unfinished = 0;
    for (u32 i = 0; i < text->report->kernel_count; i++) {
        const ReportKernel *kernel = &text->report->kernels[i];
        for (u32 k = 0; k < kernel->launch_count; k++) {
            failed += kernel->launches[k].status != 0;
            unfinished += kernel->launches[k].end_ns == 0;
        }
    }
    if (failed) output_printf(text->out, "  %u launch%s failed\n", failed, failed == 1 ? "" : "es");
    if (unfinished) output_printf(text->out, "  %u launch%s did not finish\n", unfinished, unfinished == 1 ? "" : "es");
}

// A GPU counts nothing per kernel: the table of their times, in the next section, is all there is.
static bool has_times_only(Text *text, const TextColumns *set) {
    if (text->report->options.section != REPORT_DEFAULT || !text->report->kernel_count) return false;
    for (u32 i = 0; i < column_count; i++)
        if (set->shown[i]) return false;
    for (u32 i = 0; i < text->report->kernel_count; i++) {
        const ReportKernel *kernel = &text->report->kernels[i];
        if (!kernel->sampled || kernel->sampled->launches != kernel->launch_count) return false;
    }
    return true;
}

static void time_cells(Text *text, Table *table, const ReportKernel *kernel, f64 all_ns) {
    const char *mark = kernel->estimated_launches ? "~" : "";
    bool known = kernel->time_ns > 0;
    table_cell(table, known ? text_keep(text, number_fixed(100 * kernel->time_ns / all_ns, 1)) : "-");
    table_cell(table, known ? arena_printf(&text->arena, "%s%s", mark, number_time(kernel->time_ns).text) : "-");
}

static void write_no_kernel(Text *text) {
    const char *others = text->report->others ? text_clean(text, text->report->others) : NULL;
    if (!others) {
        output_text(text->out, "  no launch was profiled\n");
        return;
    }
    output_text(text->out, "  no kernel matches the filter; there are ");
    wrap_text(text->out, others, 2 + (u32)strlen("no kernel matches the filter; there are "), text_width(text));
}

static void write_kernels(Text *text) {
    const Report *report = text->report;
    Table table = {0};
    TextColumns set = {0};
    f64 all_ns = 0;
    for (u32 i = 0; i < report->kernel_count; i++) {
        text_note_columns(text, &set, &report->kernels[i].metrics);
        all_ns += report->kernels[i].time_ns;
    }
    if (has_times_only(text, &set)) {
        write_troubles(text);
        return;
    }
    text_heading(text, "Kernels");
    if (report->kernel_count == 0) {
        write_no_kernel(text);
        return;
    }
    table_column(&table, (TableColumn){.header = "kernel", .align = TABLE_LEFT_NAME, .least = LEAST_NAME});
    table_column(&table, (TableColumn){.header = "calls", .importance = 2});
    table_column(&table, (TableColumn){.header = "grid x block", .importance = 12});
    if (all_ns > 0) table_column(&table, (TableColumn){.header = "time %"});
    if (all_ns > 0) table_column(&table, (TableColumn){.header = "time"});
    text_figure_columns(&table, &set, 'K');
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        table_cell(&table, text_kernel(text, kernel));
        table_cell(&table, kernel->launch_count ? text_keep(text, number_human(kernel->launch_count)) : "-");
        table_cell(&table, text_launch_shape(text, kernel));
        if (all_ns > 0) time_cells(text, &table, kernel, all_ns);
        text_figure_cells(text, &table, &set, 'K', &kernel->metrics);
    }
    text->hidden += table_print(&table, text->out, text_width(text), report->options.color);
    table_free(&table);
    write_troubles(text);
}

const char *text_path(const char *file) {
    static const char prefix[] = "/proc/self/cwd/";
    return strncmp(file, prefix, sizeof prefix - 1) ? file : file + sizeof prefix - 1;
}

// --- findings ---------------------------------------------------------------------------------------------------

static void write_party(Text *text, const char *role, const char *file, u32 line, const char *function,
                        const char *place) {
    const char *shown = text_clean(text, text_path(file));
    if (!line && !*function) return;
    output_printf(text->out, "      %s %s%s%u%s%s\n", role, *file && shown ? shown : "line ", *file ? ":" : "", line,
                  *file ? "" : " of the PTX", *function ? arena_printf(&text->arena, " in %s", function) : "");
    if (*place) output_printf(text->out, "          %s\n", place);
}

static void write_finding(Text *text, const ReportFinding *f) {
    const char *headline = text_clean(text, f->row->text), *rule = text_clean(text, f->row->rule);
    output_printf(text->out, "  %s: %s [%s]\n", strcmp(f->row->severity, "error") ? "warning" : "error",
                  headline ? headline : "", rule ? rule : "");
    write_party(text, "at", f->row->file, f->row->line, f->function, f->place);
    if (*f->other_role)
        write_party(text, arena_printf(&text->arena, "%s at", f->other_role), f->other_file, f->other_line, "",
                    f->other_place);
    for (u32 i = 0; i < f->note_count; i++) output_printf(text->out, "      %s\n", f->notes[i]);
    if (f->count > 1) output_printf(text->out, "      %s times\n", number_human((f64)f->count).text);
}

// In the whole report only when there are any.
static void write_findings(Text *text) {
    const Report *report = text->report;
    if (report->finding_count == 0 && report->options.section != REPORT_FINDINGS) return;
    text_heading(text, "Findings of the checker");
    for (u32 i = 0; i < report->finding_count; i++) write_finding(text, &report->findings[i]);
    if (report->finding_count == 0) output_text(text->out, "  none; `warplens run --check all` looks for them\n");
}

// --- lines ------------------------------------------------------------------------------------------------------

typedef struct RankedLine {
    const ProfileLine *line;
    f64 order;
    u32 position;
} RankedLine;

static int compare_ranks(const void *left, const void *right) {
    const RankedLine *a = left, *b = right;
    if (a->order != b->order) return a->order < b->order ? 1 : -1;
    return (a->position > b->position) - (a->position < b->position);
}

static RankedLine *rank_lines(Text *text, const ReportKernel *kernel) {
    RankedLine *ranked = ARENA_ARRAY(&text->arena, RankedLine, kernel->line_count + 1);
    if (!ranked) return NULL;
    for (u32 i = 0; i < kernel->line_count; i++) {
        f64 order = formula_run(&text->report->line_order, &kernel->lines[i].metrics);
        ranked[i] = (RankedLine){&kernel->lines[i], isnan(order) ? -INFINITY : order, i};
    }
    qsort(ranked, kernel->line_count, sizeof *ranked, compare_ranks);
    return ranked;
}

static bool same_file(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static f64 executed(const ProfileLine *line) {
    return line->metrics.present[METRIC_INST] ? line->metrics.value[METRIC_INST] : 0;
}

// The file in which the kernel executes most, so that its name need not stand in every row; "PTX" without line
// information. The lines are sorted by file.
static const char *main_file(const ReportKernel *kernel) {
    const char *best = kernel->lines[0].file, *file = best;
    f64 most = -1, sum = 0;
    for (u32 i = 0; i < kernel->line_count; i++) {
        sum = same_file(kernel->lines[i].file, file) ? sum : 0;
        file = kernel->lines[i].file;
        sum += executed(&kernel->lines[i]);
        if (sum <= most) continue;
        most = sum;
        best = file;
    }
    return best ? best : "PTX";
}

static bool is_elsewhere(const ProfileLine *line, const char *main) {
    return line->file && strcmp(line->file, main) != 0;
}

static bool has_line_info(const ReportKernel *kernel) { return kernel->lines[0].file != NULL; }  // files come first

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_other_of_name(const char *file, const char *other) {
    return other && strcmp(other, file) && !strcmp(base_name(other), base_name(file));
}

const char *text_file(const ReportKernel *kernel, const char *file) {
    bool doubt = false;
    if (!file) return "PTX";
    for (u32 i = 0; i < kernel->line_count; i++) doubt |= is_other_of_name(file, kernel->lines[i].file);
    for (u32 i = 0; kernel->sampled && i < kernel->sampled->row_count; i++)
        doubt |= is_other_of_name(file, kernel->sampled->rows[i].file) ||
                 is_other_of_name(file, kernel->sampled->rows[i].cause_file);
    return doubt ? text_path(file) : base_name(file);
}

const char *text_place(Text *text, const ReportKernel *kernel, const char *file, u32 number, bool with_file) {
    if (!number && !(with_file && file)) return "(unknown)";
    const char *line = number ? arena_printf(&text->arena, "%u", number) : "?";
    if (!with_file || !line) return line;
    const char *raw = arena_printf(&text->arena, "%s:%s", text_file(kernel, file), line);
    return raw ? text_clean(text, raw) : NULL;
}

const char *text_code(Text *text, const ReportKernel *kernel, const ProfileLine *line) {
    Str found =
        line->file ? source_line(&text->sources, line->file, line->line)
                   : source_module_line(&text->sources, text->report->profile, kernel->function->module_id, line->line);
    return utf8_clean(&text->arena, found, true);
}

static f64 share_of(const ReportKernel *kernel, const ProfileLine *line) {
    f64 all = kernel->metrics.present[METRIC_INST] ? kernel->metrics.value[METRIC_INST] : 0;
    return all > 0 ? 100 * executed(line) / all : 0;
}

// Lines of other files than `main` are named with their file.
static void line_table(Text *text, const ReportKernel *kernel, const RankedLine *ranked, u32 count, const char *main) {
    Table table = {0};
    TextColumns set = {0};
    bool has_code = false, named = false;
    const char **codes = ARENA_ARRAY(&text->arena, const char *, count + 1);
    if (!codes) text->out->status = STATUS_NO_MEMORY;
    for (u32 i = 0; codes && i < count; i++) {
        text_note_columns(text, &set, &ranked[i].line->metrics);
        named |= is_elsewhere(ranked[i].line, main);
        codes[i] = text_code(text, kernel, ranked[i].line);
        has_code |= codes[i] && codes[i][0];
    }
    TableColumn place_column = {.header = "line", .align = TABLE_LEFT_TAIL, .least = LEAST_PLACE};
    table_column(&table, named ? place_column : (TableColumn){.header = "line"});
    table_column(&table, (TableColumn){.header = "share %"});
    text_figure_columns(&table, &set, 'L');
    if (has_code) {
        table_column(&table,
                     (TableColumn){.header = "source", .align = TABLE_LEFT, .importance = 6, .least = LEAST_SOURCE});
    }
    for (u32 i = 0; codes && i < count; i++) {
        const ProfileLine *line = ranked[i].line;
        table_cell(&table, text_place(text, kernel, line->file, line->line, is_elsewhere(line, main)));
        table_cell(&table, text_keep(text, number_fixed(share_of(kernel, line), 1)));
        text_figure_cells(text, &table, &set, 'L', &line->metrics);
        if (has_code) table_cell(&table, codes[i]);
    }
    text->hidden += table_print(&table, text->out, text_width(text), text->report->options.color);
    table_free(&table);
}

static void write_rest(Text *text, const ReportKernel *kernel, const RankedLine *ranked, u32 shown) {
    f64 share = 0;
    for (u32 i = shown; i < kernel->line_count; i++) share += share_of(kernel, ranked[i].line);
    if (shown == kernel->line_count) return;
    u32 more = kernel->line_count - shown;
    output_printf(text->out, "  and %u more line%s with %s %%\n", more, plural(more), number_fixed(share, 1).text);
}

static const char *lines_title(Text *text, const ReportKernel *kernel, const char *file) {
    const char *kind = kernel->launch_count ? "" : " (device function)", *shown = text_clean(text, text_path(file));
    const char *rest = shown ? arena_printf(&text->arena, "%s in %s", kind, shown) : NULL;
    const char *name = rest ? text_kernel_beside(text, kernel, (u32)strlen("Lines of ") + utf8_width(rest)) : NULL;
    return name ? arena_printf(&text->arena, "Lines of %s%s", name, rest) : NULL;
}

static void write_kernel_lines(Text *text, const ReportKernel *kernel) {
    const char *file = main_file(kernel);
    const char *title = lines_title(text, kernel, file);
    RankedLine *ranked = rank_lines(text, kernel);
    if (!title || !ranked) {
        text->out->status = STATUS_NO_MEMORY;
        return;
    }
    u32 limit = text->report->options.lines ? text->report->options.lines : DEFAULT_LINES;
    u32 count = kernel->line_count < limit ? kernel->line_count : limit;
    text_heading(text, title);
    if (!has_line_info(kernel)) {
        output_text(text->out, "  no source lines: compile with nvcc -lineinfo; these are lines of the PTX\n");
    }
    line_table(text, kernel, ranked, count, file);
    write_rest(text, kernel, ranked, count);
}

static void write_lines(Text *text) {
    const Report *report = text->report;
    u32 shown = 0, limit = report->options.section == REPORT_LINES ? UINT32_MAX : KERNELS_WITH_LINES;
    for (u32 i = 0; i < report->kernel_count && text->out->status == STATUS_OK; i++) {
        if (report->kernels[i].line_count && shown++ < limit) write_kernel_lines(text, &report->kernels[i]);
    }
    if (!shown && report->options.section == REPORT_LINES) {
        text_heading(text, "Lines");
        output_text(text->out, "  nothing was counted by line\n");
    }
    if (shown <= limit) return;
    output_printf(text->out, "\n  the lines of %u more kernel%s: --section lines, or choose with -k\n", shown - limit,
                  plural(shown - limit));
}

static Status compile_columns(Text *text) {
    if (column_count > MAX_COLUMNS) return STATUS_LIMIT;
    for (u32 i = 0; i < column_count; i++) TRY(formula_compile(column_table[i].formula, &text->columns[i], NULL));
    return STATUS_OK;
}

Status export_text(const Report *report, Output *out, Diag *diag) {
    Text *text = mem_zero(1, sizeof *text);
    if (!text) return STATUS_NO_MEMORY;
    text->report = report;
    text->out = out;
    text->sources.run_at = source_run_at(report->summary.created);
    Status status = compile_columns(text);
    ReportSection section = report->options.section;
    if (status == STATUS_OK) {
        bool all = section == REPORT_DEFAULT;
        if (all || section == REPORT_SUMMARY) write_summary(text);
        if (all || section == REPORT_FINDINGS) write_findings(text);
        if (all || section == REPORT_KERNELS) write_kernels(text);
        if (all || section == REPORT_TIMING) text_timing(text);
        if (all || section == REPORT_SAMPLES) text_samples(text);
        if (all) status = text_run_curves(text, true, diag);
        if (all || section == REPORT_LINES) write_lines(text);
        if (section == REPORT_STALLS) text_stalls(text);
        if (section == REPORT_TIMELINE) status = text_timelines(text, diag);
        if (section == REPORT_LAUNCHES) text_launches(text);
        const char *missing = source_missing(&text->sources);
        if (missing) {
            const char *file = text_clean(text, text_path(missing));
            output_printf(out, "\n  no source to show: %s is not found; call it from the folder of the sources\n",
                          file ? file : "");
        }
        if (text->sources.changed) {
            const char *file = text_clean(text, text_path(text->sources.changed));
            output_printf(out, "\n  %s was changed after the run: its lines may be others now\n", file ? file : "");
        }
        if (text->hidden) {
            output_text(out, "\n  some columns do not fit: widen the terminal, or use --format csv\n");
        }
    }
    source_free(&text->sources);
    arena_free(&text->arena);
    mem_free(text);
    return status == STATUS_OK ? out->status : status;
}
