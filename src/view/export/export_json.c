// SPDX-License-Identifier: Apache-2.0
// Schema warplens-report/1. Each launch and line is made and written by itself, so a hundred thousand launches need no
// hundred thousand trees in memory; only the brackets around them are written by hand.
#include <math.h>

#include "view/export/json_value.h"
#include "view/report_data.h"

static json_t *triple(const u32 *values) {
    return json_pack("[I,I,I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

static json_t *metrics(const MetricSet *set, char scope) {
    json_t *object = json_object();
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (!set->present[i] || !metric_has_scope((MetricId)i, scope) || !isfinite(set->value[i])) continue;
        json_object_set_new(object, metric_table[i].name, json_figure(set->value[i]));
    }
    return object;
}

static json_t *launch_value(const ProfileLaunch *launch) {
    json_t *object = json_object();
    json_object_set_new(object, "index", json_count(launch->index));
    json_object_set_new(object, "grid", triple(launch->grid));
    json_object_set_new(object, "block", triple(launch->block));
    if (launch->cluster[0]) json_object_set_new(object, "cluster", triple(launch->cluster));
    json_object_set_new(object, "device", json_count(launch->device));
    json_object_set_new(object, "stream", json_count(launch->stream));
    json_object_set_new(object, "dynamic_shared_bytes", json_count(launch->dynamic_shared_bytes));
    json_object_set_new(object, "finished", json_boolean(launch->end_ns != 0 || !launch->begin_ns));
    json_object_set_new(object, "status", json_count(launch->status));
    json_object_set_new(object, "metrics", metrics(launch->metrics, 'L'));
    return object;
}

// Partial simulation: the interval of 95 % confidence.
static json_t *estimate_value(f64 low, f64 high, f64 detail) {
    json_t *object = json_object();
    json_object_set_new(object, "low_cycles", json_figure(low));
    json_object_set_new(object, "high_cycles", json_figure(high));
    json_object_set_new(object, "detail", json_figure(detail));
    return object;
}

static json_t *time_value(const ProfileTime *time) {
    json_t *object = json_object();
    json_object_set_new(object, "begin_cycle", json_count(time->begin_cycle));
    json_object_set_new(object, "end_cycle", json_count(time->end_cycle));
    json_object_set_new(object, "first_cta_cycle", json_count(time->first_cta_cycle));
    json_object_set_new(object, "last_cta_cycle", json_count(time->last_cta_cycle));
    json_object_set_new(object, "begin_ns", json_figure(time->begin_ns));
    json_object_set_new(object, "end_ns", json_figure(time->end_ns));
    json_object_set_new(object, "registers", json_count(time->registers));
    json_object_set_new(object, "ctas_per_sm", json_count(time->ctas_per_sm));
    json_object_set_new(object, "overlapped", json_boolean(time->overlapped));
    if (time->estimated && !time->high_cycles)
        json_object_set_new(object, "error_ns", json_figure(time->error_ns));
    else if (time->estimated)
        json_object_set_new(object, "estimate",
                            estimate_value((f64)time->low_cycles, (f64)time->high_cycles, time->detail));
    return object;
}

static json_t *timeline_head(const ProfileTimeline *t) {
    json_t *object = json_object();
    json_object_set_new(object, "unit", json_string(timeline_unit_name(t->unit)));
    json_object_set_new(object, "units", json_count(t->units));
    json_object_set_new(object, "first", json_count(t->first));
    json_object_set_new(object, "step", json_count(t->step));
    json_object_set_new(object, "tick_ns", json_figure(t->tick_ns));
    json_object_set_new(object, "points", json_count(t->points));
    return object;
}

// One array of points per unit.
static json_t *timeline_values(const ProfileTimeline *t, const u64 *values) {
    json_t *units = json_array();
    for (u32 u = 0; u < t->units; u++) {
        json_t *points = json_array();
        for (u32 p = 0; p < t->points; p++)
            json_array_append_new(points, json_figure((f64)values[(u64)u * t->points + p]));
        json_array_append_new(units, points);
    }
    return units;
}

static void write_timeline(Json *json, const ProfileTimeline *t, const TimelineData *data) {
    bool first = true;
    json_write(json, timeline_head(t), true);
    output_text(json->out, ",\"metrics\":{");
    for (u32 m = 0; m < t->metrics; m++) {
        if (data->metrics[m] == METRIC_COUNT) continue;
        output_printf(json->out, "%s\"%s\":", first ? "" : ",", metric_table[data->metrics[m]].name);
        json_write(json, timeline_values(t, data->values + (u64)m * t->units * t->points), false);
        first = false;
    }
    output_text(json->out, "}}");
}

static Status write_timelines(Json *json, const Report *report, u32 launch) {
    const ProfileTimeline *timelines;
    u32 count, written = 0;
    TRY(profile_timelines(report->profile, launch, &timelines, &count, json->diag));
    output_text(json->out, ",\"timelines\":[");
    for (u32 i = 0; i < count; i++) {
        if (timelines[i].unit != TIMELINE_GPU && !report->options.units) continue;
        TimelineData data;
        TRY(timeline_read(report->profile, &timelines[i], &data, json->diag));
        output_text(json->out, written++ ? ",\n" : "");
        write_timeline(json, &timelines[i], &data);
        timeline_free(&data);
    }
    output_text(json->out, "]");
    return STATUS_OK;
}

static Status write_launch(Json *json, const Report *report, const ProfileLaunch *launch) {
    json_write(json, launch_value(launch), launch->time.known);
    if (!launch->time.known) return STATUS_OK;
    output_text(json->out, ",\"time\":");
    json_write(json, time_value(&launch->time), false);
    TRY(write_timelines(json, report, launch->id));
    output_text(json->out, "}");
    return STATUS_OK;
}

static json_t *stall_value(Json *json, const ReportStall *stall, bool sampled) {
    json_t *object = json_object();
    json_object_set_new(object, "file", json_text(json, stall->file));
    json_object_set_new(object, "line", json_count(stall->line));
    json_object_set_new(object, "reason", json_text(json, stall->reason));
    json_object_set_new(object, "cause_file", json_text(json, stall->cause_file));
    json_object_set_new(object, "cause_line", stall->cause_line ? json_count(stall->cause_line) : json_null());
    json_object_set_new(object, sampled ? "samples" : "cycles", json_figure(stall->cycles));
    if (!sampled) json_object_set_new(object, "times", json_figure(stall->times));
    return object;
}

// Only of kernels that were timed or sampled.
static void write_stalls(Json *json, const ReportKernel *kernel) {
    if (!kernel->stall_count && !kernel->latency_count) return;
    output_text(json->out, ",\"stalls\":[");
    for (u32 i = 0; i < kernel->stall_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        json_write(json, stall_value(json, &kernel->stalls[i], false), false);
    }
    output_text(json->out, "],\"load_latency\":");
    json_t *latencies = json_array();
    for (u32 i = 0; i < kernel->latency_count; i++) {
        const ProfileLatency *l = &kernel->latencies[i];
        json_array_append_new(latencies, json_pack("{s:I,s:I,s:I}", "low", (json_int_t)l->low, "high",
                                                   (json_int_t)l->high, "count", (json_int_t)l->count));
    }
    json_write(json, latencies, false);
}

// Only of kernels that ran on a GPU.
static void write_samples(Json *json, const ReportSamples *s) {
    if (!s) return;
    json_t *object = json_object(), *reasons = json_object();
    json_object_set_new(object, "launches", json_count(s->launches));
    json_object_set_new(object, "estimated_launches", json_count(s->estimated));
    json_object_set_new(object, "launches_without_time", json_count(s->unknown));
    json_object_set_new(object, "total_ns", json_figure(s->total_ns));
    json_object_set_new(object, "error_ns", json_figure(s->error_ns));
    json_object_set_new(object, "least_ns", json_figure(s->least_ns));
    json_object_set_new(object, "most_ns", json_figure(s->most_ns));
    json_object_set_new(object, "samples", json_count(s->samples));
    json_object_set_new(object, "period_cycles", json_count(s->period));  // of `reasons` and `stalls`
    json_object_set_new(object, "longest_period_cycles", json_count(s->longest));
    for (u32 i = 0; i < STALL_COUNT; i++)
        if (s->reasons[i] > 0) json_object_set_new(reasons, stall_names[i], json_figure(s->reasons[i]));
    json_object_set_new(object, "reasons", reasons);
    output_text(json->out, ",\"on_gpu\":");
    json_write(json, object, true);
    output_text(json->out, ",\"stalls\":[");
    for (u32 i = 0; i < s->row_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        json_write(json, stall_value(json, &s->rows[i], true), false);
    }
    output_text(json->out, "]}");
}

static json_t *line_value(Json *json, const ReportKernel *kernel, const ProfileLine *line) {
    json_t *object = json_object();
    json_object_set_new(object, "file", json_text(json, line->file));
    json_object_set_new(object, "line", json_count(line->line));
    if (!line->file) json_object_set_new(object, "module", json_text(json, kernel->function->module));
    json_object_set_new(object, "metrics", metrics(&line->metrics, 'P'));
    return object;
}

static json_t *kernel_value(Json *json, const ReportKernel *kernel) {
    json_t *object = json_object();
    json_object_set_new(object, "name", json_text(json, kernel->name));
    json_object_set_new(object, "mangled", json_text(json, kernel->mangled));
    json_object_set_new(object, "signature", json_text(json, kernel->signature));
    json_object_set_new(object, "module", json_text(json, kernel->function->module));
    json_object_set_new(object, "entry", json_boolean(kernel->function->is_entry));
    json_object_set_new(object, "provenance", json_text(json, kernel->provenance));
    json_object_set_new(object, "registers", json_count(kernel->function->registers));
    json_object_set_new(object, "shared_bytes", json_count(kernel->function->shared_bytes));
    json_object_set_new(object, "local_bytes", json_count(kernel->function->local_bytes));
    if (kernel->estimated_launches && !kernel->sampled) {
        json_object_set_new(object, "estimated_launches", json_count(kernel->estimated_launches));
        json_object_set_new(object, "estimate", estimate_value(kernel->low, kernel->high, kernel->detail));
    }
    json_object_set_new(object, "metrics", metrics(&kernel->metrics, 'L'));
    return object;
}

static Status write_kernel(Json *json, const Report *report, const ReportKernel *kernel) {
    json_write(json, kernel_value(json, kernel), true);
    output_text(json->out, ",\"launches\":[");
    for (u32 i = 0; i < kernel->launch_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        TRY(write_launch(json, report, &kernel->launches[i]));
    }
    output_text(json->out, "],\"lines\":[");
    for (u32 i = 0; i < kernel->line_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        json_write(json, line_value(json, kernel, &kernel->lines[i]), false);
    }
    output_text(json->out, "]");
    write_stalls(json, kernel);
    write_samples(json, kernel->sampled);
    output_text(json->out, "}");
    return STATUS_OK;
}

static json_t *summary_value(Json *json, const Report *report) {
    const ProfileSummary *summary = &report->summary;
    json_t *object = json_object();
    json_object_set_new(object, "command", json_text(json, summary->command));
    json_object_set_new(object, "device", json_text(json, summary->device));
    json_object_set_new(object, "created", json_text(json, summary->created));
    json_object_set_new(object, "warplens_version", json_text(json, summary->tool_version));
    json_object_set_new(object, "schema_version", json_count(summary->schema_version));
    json_object_set_new(object, "complete", json_boolean(summary->complete));
    json_object_set_new(object, "exit_code", summary->exit_code < 0 ? json_null() : json_integer(summary->exit_code));
    json_object_set_new(object, "wall_ns", json_count(summary->wall_ns));
    json_object_set_new(object, "launches", json_count(summary->launches));
    json_object_set_new(object, "copies", json_count(summary->copies));
    json_object_set_new(object, "copy_bytes", json_count(summary->copy_bytes));
    json_object_set_new(object, "dropped", json_count(summary->dropped));
    return object;
}

static json_t *loss_value(Json *json, const ProfileLoss *loss) {
    json_t *object = json_object();
    json_object_set_new(object, "what", json_text(json, loss->what));
    json_object_set_new(object, "count", json_count(loss->count));
    return object;
}

static json_t *source_value(Json *json, const ProfileSource *source) {
    json_t *object = json_object();
    json_object_set_new(object, "provenance", json_text(json, source->provenance));
    json_object_set_new(object, "tool", json_text(json, source->tool));
    json_object_set_new(object, "device", json_text(json, source->device));
    json_object_set_new(object, "detail", json_text(json, source->detail));
    return object;
}

static json_t *head_value(Json *json, const Report *report) {
    json_t *object = json_object(), *sources = json_array(), *messages = json_array(), *losses = json_array();
    for (u32 i = 0; i < report->source_count; i++) {
        json_array_append_new(sources, source_value(json, &report->sources[i]));
    }
    for (u32 i = 0; i < report->message_count; i++)
        json_array_append_new(messages, json_text(json, report->messages[i]));
    json_object_set_new(object, "schema", json_string("warplens-report/1"));
    json_object_set_new(object, "summary", summary_value(json, report));
    json_object_set_new(object, "sources", sources);
    for (u32 i = 0; i < report->loss_count; i++) json_array_append_new(losses, loss_value(json, &report->losses[i]));
    json_object_set_new(object, "messages", messages);
    json_object_set_new(object, "losses", losses);
    return object;
}

static json_t *finding_value(Json *json, const ReportFinding *f) {
    json_t *object = json_object(), *evidence = json_loads(f->row->evidence, 0, NULL);
    json_object_set_new(object, "id", json_count(f->row->id));
    json_object_set_new(object, "severity", json_text(json, f->row->severity));
    json_object_set_new(object, "rule", json_text(json, f->row->rule));
    json_object_set_new(object, "text", json_text(json, f->row->text));
    json_object_set_new(object, "kernel", json_text(json, f->function));
    json_object_set_new(object, "file", *f->row->file ? json_text(json, f->row->file) : json_null());
    json_object_set_new(object, "line", json_count(f->row->line));
    json_object_set_new(object, "evidence", evidence ? evidence : json_null());
    return object;
}

static void write_findings(Json *json, const Report *report) {
    output_text(json->out, ",\"findings\":[");
    for (u32 i = 0; i < report->finding_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        json_write(json, finding_value(json, &report->findings[i]), false);
    }
    output_text(json->out, "]");
}

Status export_json(const Report *report, Output *out, Diag *diag) {
    Json json = {.out = out, .diag = diag};
    Status status = STATUS_OK;
    json_write(&json, head_value(&json, report), true);
    write_findings(&json, report);
    output_text(out, ",\"kernels\":[");
    for (u32 i = 0; i < report->kernel_count && status == STATUS_OK; i++) {
        output_text(out, i ? ",\n" : "\n");
        status = write_kernel(&json, report, &report->kernels[i]);
    }
    output_text(out, "]");
    if (status == STATUS_OK) status = write_timelines(&json, report, 0);
    output_text(out, "}\n");
    arena_free(&json.scratch);
    return status == STATUS_OK ? out->status : status;
}
