// SPDX-License-Identifier: Apache-2.0
// RFC 4180: CRLF, one header row, quotes where needed. One table: the kernels unless another section is asked for. All
// metrics of the catalogue are columns; an empty field means "not known".
#include <math.h>
#include <string.h>

#include "view/number.h"
#include "view/report_data.h"
#include "view/utf8.h"

typedef struct Csv {
    Output *out;
    Arena scratch;
    bool inside;  // the row has fields already
} Csv;

static void field(Csv *csv, const char *raw) {
    const char *text = utf8_clean(&csv->scratch, (Str){raw, strlen(raw)}, false);
    if (!text) {
        csv->out->status = STATUS_NO_MEMORY;
        return;
    }
    if (csv->inside) output_text(csv->out, ",");
    csv->inside = true;
    if (!text[strcspn(text, ",\"\r\n")]) {
        output_text(csv->out, text);
        return;
    }
    output_text(csv->out, "\"");
    for (const char *at = text; *at; at++) {
        if (*at == '"') output_text(csv->out, "\"");
        output_bytes(csv->out, at, 1);
    }
    output_text(csv->out, "\"");
}

static void end_row(Csv *csv) {
    output_text(csv->out, "\r\n");
    csv->inside = false;
    arena_reset(&csv->scratch);
}

static void number_field(Csv *csv, f64 value) { field(csv, number_exact(value).text); }

// A line of a file; 0: there is none.
static void line_field(Csv *csv, u32 line) { number_field(csv, line ? (f64)line : (f64)NAN); }

static void fields(Csv *csv, const char *const *names) {
    for (; *names; names++) field(csv, *names);
}

static void metric_names(Csv *csv, char scope) {
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (metric_has_scope((MetricId)i, scope)) field(csv, metric_table[i].name);
    }
    end_row(csv);
}

static void metric_fields(Csv *csv, const MetricSet *set, char scope) {
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (metric_has_scope((MetricId)i, scope)) number_field(csv, set->present[i] ? set->value[i] : NAN);
    }
    end_row(csv);
}

static void write_kernels(Csv *csv, const Report *report) {
    fields(csv, (const char *const[]){"kernel", "signature", "mangled", "module", "provenance", "launches", NULL});
    metric_names(csv, 'L');
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        fields(csv, (const char *const[]){kernel->name, kernel->signature, kernel->mangled, kernel->function->module,
                                          kernel->provenance, NULL});
        number_field(csv, kernel->launch_count);
        metric_fields(csv, &kernel->metrics, 'L');
    }
}

static void write_lines(Csv *csv, const Report *report) {
    fields(csv, (const char *const[]){"kernel", "mangled", "provenance", "file", "line", NULL});
    metric_names(csv, 'P');
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        for (u32 k = 0; k < kernel->line_count; k++) {
            const char *file = kernel->lines[k].file ? kernel->lines[k].file : "";
            fields(csv, (const char *const[]){kernel->name, kernel->mangled, kernel->provenance, file, NULL});
            number_field(csv, kernel->lines[k].line);
            metric_fields(csv, &kernel->lines[k].metrics, 'P');
        }
    }
}

static void write_launches(Csv *csv, const Report *report) {
    fields(csv,
           (const char *const[]){"kernel", "mangled", "provenance", "index", "grid_x", "grid_y", "grid_z", "block_x",
                                 "block_y", "block_z", "dynamic_shared_bytes", "status", "finished", NULL});
    metric_names(csv, 'L');
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        for (u32 k = 0; k < kernel->launch_count; k++) {
            const ProfileLaunch *launch = &kernel->launches[k];
            fields(csv, (const char *const[]){kernel->name, kernel->mangled, kernel->provenance, NULL});
            number_field(csv, launch->index);
            for (u32 d = 0; d < 3; d++) number_field(csv, launch->grid[d]);
            for (u32 d = 0; d < 3; d++) number_field(csv, launch->block[d]);
            number_field(csv, launch->dynamic_shared_bytes);
            number_field(csv, launch->status);
            number_field(csv, launch->end_ns != 0);
            metric_fields(csv, &launch->metrics, 'L');
        }
    }
}

static void write_findings(Csv *csv, const Report *report) {
    fields(csv, (const char *const[]){"id", "severity", "rule", "text", "kernel", "file", "line", "count", "other_role",
                                      "other_file", "other_line", NULL});
    end_row(csv);
    for (u32 i = 0; i < report->finding_count; i++) {
        const ReportFinding *f = &report->findings[i];
        number_field(csv, f->row->id);
        fields(csv,
               (const char *const[]){f->row->severity, f->row->rule, f->row->text, f->function, f->row->file, NULL});
        line_field(csv, f->row->line);
        number_field(csv, (f64)f->count);
        fields(csv, (const char *const[]){f->other_role, f->other_file, NULL});
        line_field(csv, f->other_line);
        end_row(csv);
    }
}

static void pair(Csv *csv, const char *key, const char *value) {
    fields(csv, (const char *const[]){key, value, NULL});
    end_row(csv);
}

static void write_summary(Csv *csv, const Report *report) {
    const ProfileSummary *summary = &report->summary;
    pair(csv, "key", "value");
    pair(csv, "command", summary->command);
    pair(csv, "device", summary->device);
    for (u32 i = 0; i < report->source_count; i++) pair(csv, "provenance", report->sources[i].provenance);
    pair(csv, "created", summary->created);
    pair(csv, "warplens_version", summary->tool_version);
    pair(csv, "complete", summary->complete ? "1" : "0");
    pair(csv, "exit_code", summary->exit_code < 0 ? "" : number_exact(summary->exit_code).text);
    pair(csv, "wall_ns", number_exact((f64)summary->wall_ns).text);
    pair(csv, "launches", number_exact(summary->launches).text);
    pair(csv, "copies", number_exact((f64)summary->copies).text);
    pair(csv, "copy_bytes", number_exact((f64)summary->copy_bytes).text);
    pair(csv, "dropped", number_exact((f64)summary->dropped).text);
}

Status export_csv(const Report *report, Output *out, Diag *diag) {
    static void (*const writers[REPORT_SECTION_COUNT])(Csv *, const Report *) = {
        [REPORT_DEFAULT] = write_kernels, [REPORT_SUMMARY] = write_summary,   [REPORT_KERNELS] = write_kernels,
        [REPORT_LINES] = write_lines,     [REPORT_LAUNCHES] = write_launches, [REPORT_FINDINGS] = write_findings,
    };
    (void)diag;
    Csv csv = {.out = out};
    writers[report->options.section](&csv, report);
    arena_free(&csv.scratch);
    return out->status;
}
