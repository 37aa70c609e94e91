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
            metric_fields(csv, launch->metrics, 'L');
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

static void optional_field(Csv *csv, const char *text) { field(csv, text ? text : ""); }

static void stall_fields(Csv *csv, const ReportStall *stall) {
    optional_field(csv, stall->file);
    number_field(csv, stall->line);
    field(csv, stall->reason);
    optional_field(csv, stall->cause_file);
    number_field(csv, stall->cause_line);
    number_field(csv, stall->cycles);
}

static void write_stalls(Csv *csv, const Report *report) {
    fields(csv, (const char *const[]){"kernel", "mangled", "provenance", "file", "line", "reason", "cause_file",
                                      "cause_line", "cycles", "times", NULL});
    end_row(csv);
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        for (u32 k = 0; k < kernel->stall_count; k++) {
            const ReportStall *stall = &kernel->stalls[k];
            fields(csv, (const char *const[]){kernel->name, kernel->mangled, kernel->provenance, NULL});
            stall_fields(csv, stall);
            number_field(csv, stall->times);
            end_row(csv);
        }
    }
}

static void write_samples(Csv *csv, const Report *report) {
    fields(csv, (const char *const[]){"kernel", "mangled", "file", "line", "reason", "cause_file", "cause_line",
                                      "samples", NULL});
    end_row(csv);
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        for (u32 k = 0; kernel->sampled && k < kernel->sampled->row_count; k++) {
            fields(csv, (const char *const[]){kernel->name, kernel->mangled, NULL});
            stall_fields(csv, &kernel->sampled->rows[k]);
            end_row(csv);
        }
    }
}

static void write_timing(Csv *csv, const Report *report) {
    fields(csv,
           (const char *const[]){"kernel", "mangled", "provenance", "index", "begin_cycle", "end_cycle",
                                 "first_cta_cycle", "last_cta_cycle", "begin_ns", "end_ns", "registers", "ctas_per_sm",
                                 "overlapped", "estimated", "low_cycles", "high_cycles", "detail", NULL});
    metric_names(csv, 'L');
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        for (u32 k = 0; k < kernel->launch_count; k++) {
            const ProfileLaunch *launch = &kernel->launches[k];
            const ProfileTime *t = &launch->time;
            if (!t->known) continue;
            fields(csv, (const char *const[]){kernel->name, kernel->mangled, kernel->provenance, NULL});
            const f64 values[] = {launch->index,
                                  (f64)t->begin_cycle,
                                  (f64)t->end_cycle,
                                  (f64)t->first_cta_cycle,
                                  (f64)t->last_cta_cycle,
                                  t->begin_ns,
                                  t->end_ns,
                                  t->registers,
                                  t->ctas_per_sm,
                                  t->overlapped,
                                  t->estimated,
                                  (f64)t->low_cycles,
                                  (f64)t->high_cycles,
                                  t->detail};
            for (u32 v = 0; v < WL_COUNT(values); v++) number_field(csv, values[v]);
            metric_fields(csv, launch->metrics, 'L');
        }
    }
}

// One row per unit and point; the metrics are those known for any kind of unit.
static bool is_over_time(MetricId metric) {
    for (u32 unit = 0; unit < TIMELINE_UNIT_COUNT; unit++)
        if (metric_has_scope(metric, timeline_unit_scope((TimelineUnit)unit))) return true;
    return metric_has_scope(metric, 'G');
}

// kernel, launch: NULL for the whole run.
static void timeline_point(Csv *csv, const ReportKernel *kernel, const ProfileLaunch *launch, const ProfileTimeline *t,
                           const TimelineData *data, u32 unit, u32 point, Profile *profile) {
    MetricSet set;
    timeline_point_metrics(profile, t, data, unit, point, &set);
    const char *provenance = t->on_gpu ? provenance_name(PROVENANCE_COUNTED) : kernel ? kernel->provenance : "";
    fields(csv, (const char *const[]){kernel ? kernel->name : "", kernel ? kernel->mangled : "", provenance, NULL});
    number_field(csv, launch ? launch->index : (f64)NAN);
    field(csv, timeline_unit_name(t->unit));
    number_field(csv, unit);
    number_field(csv, (f64)(t->first + point * t->step));
    number_field(csv, (f64)t->step);
    for (u32 i = 0; i < METRIC_COUNT; i++)
        if (is_over_time((MetricId)i)) number_field(csv, set.present[i] ? set.value[i] : (f64)NAN);
    end_row(csv);
}

static Status launch_timelines(Csv *csv, const Report *report, const ReportKernel *kernel, const ProfileLaunch *launch,
                               Diag *diag) {
    const ProfileTimeline *timelines;
    u32 count;
    TRY(profile_timelines(report->profile, launch ? launch->id : 0, &timelines, &count, diag));
    for (u32 i = 0; i < count; i++) {
        const ProfileTimeline *t = &timelines[i];
        if (t->unit != TIMELINE_GPU && !report->options.units) continue;
        TimelineData data;
        TRY(timeline_read(report->profile, t, &data, diag));
        for (u32 u = 0; u < t->units; u++)
            for (u32 p = 0; p < t->points && csv->out->status == STATUS_OK; p++)
                timeline_point(csv, kernel, launch, t, &data, u, p, report->profile);
        timeline_free(&data);
    }
    return STATUS_OK;
}

static Status write_timelines(Csv *csv, const Report *report, Diag *diag) {
    fields(csv, (const char *const[]){"kernel", "mangled", "provenance", "index", "unit", "unit_index", "first", "step",
                                      NULL});
    for (u32 i = 0; i < METRIC_COUNT; i++)
        if (is_over_time((MetricId)i)) field(csv, metric_table[i].name);
    end_row(csv);
    TRY(launch_timelines(csv, report, NULL, NULL, diag));
    for (u32 i = 0; i < report->kernel_count; i++) {
        const ReportKernel *kernel = &report->kernels[i];
        for (u32 k = 0; k < kernel->launch_count; k++)
            TRY(launch_timelines(csv, report, kernel, &kernel->launches[k], diag));
    }
    return csv->out->status;
}

Status export_csv(const Report *report, Output *out, Diag *diag) {
    static void (*const writers[REPORT_SECTION_COUNT])(Csv *, const Report *) = {
        [REPORT_DEFAULT] = write_kernels, [REPORT_SUMMARY] = write_summary,   [REPORT_KERNELS] = write_kernels,
        [REPORT_LINES] = write_lines,     [REPORT_LAUNCHES] = write_launches, [REPORT_FINDINGS] = write_findings,
        [REPORT_TIMING] = write_timing,   [REPORT_STALLS] = write_stalls,     [REPORT_SAMPLES] = write_samples,
    };
    Csv csv = {.out = out};
    Status status = STATUS_OK;
    ReportSection section = report->options.section;
    if (section == REPORT_TIMELINE) status = write_timelines(&csv, report, diag);
    if (writers[section]) writers[section](&csv, report);
    arena_free(&csv.scratch);
    return status == STATUS_OK ? out->status : status;
}
