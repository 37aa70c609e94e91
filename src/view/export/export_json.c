// SPDX-License-Identifier: Apache-2.0
// Schema warplens-report/1. Each launch and line is made and written by itself, so a hundred thousand launches need no
// hundred thousand trees in memory; only the brackets around them are written by hand.
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "view/report_data.h"
#include "view/utf8.h"

typedef struct Json {
    Output *out;
    Arena scratch;  // texts of one object
    Diag *diag;
} Json;

static json_t *text(Json *json, const char *value) {
    if (!value) return json_null();
    const char *clean = utf8_clean(&json->scratch, (Str){value, strlen(value)}, false);
    if (!clean) json->out->status = STATUS_NO_MEMORY;
    return json_string(clean);
}

// Whole numbers as integers, as far as a double holds them exactly; never NaN or infinity.
static json_t *number(f64 value) {
    if (!isfinite(value)) return json_null();
    bool whole = value == trunc(value) && fabs(value) <= 9007199254740992.0;
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *integer(u64 value) { return json_integer((json_int_t)value); }

static json_t *triple(const u32 *values) {
    return json_pack("[I,I,I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

static json_t *metrics(const MetricSet *set, char scope) {
    json_t *object = json_object();
    for (u32 i = 0; i < METRIC_COUNT; i++) {
        if (!set->present[i] || !metric_has_scope((MetricId)i, scope) || !isfinite(set->value[i])) continue;
        json_object_set_new(object, metric_table[i].name, number(set->value[i]));
    }
    return object;
}

// Writes and frees `value`; `open` leaves out the last bracket so that more members can follow.
static void write_value(Json *json, json_t *value, bool open) {
    char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    if (dumped) {
        output_bytes(json->out, dumped, strlen(dumped) - open);
    } else {
        json->out->status = STATUS_NO_MEMORY;
    }
    free(dumped);
    json_decref(value);
    arena_reset(&json->scratch);
}

static json_t *launch_value(const ProfileLaunch *launch) {
    json_t *object = json_object();
    json_object_set_new(object, "index", integer(launch->index));
    json_object_set_new(object, "grid", triple(launch->grid));
    json_object_set_new(object, "block", triple(launch->block));
    if (launch->cluster[0]) json_object_set_new(object, "cluster", triple(launch->cluster));
    json_object_set_new(object, "device", integer(launch->device));
    json_object_set_new(object, "stream", integer(launch->stream));
    json_object_set_new(object, "dynamic_shared_bytes", integer(launch->dynamic_shared_bytes));
    json_object_set_new(object, "finished", json_boolean(launch->end_ns != 0));
    json_object_set_new(object, "status", integer(launch->status));
    json_object_set_new(object, "metrics", metrics(&launch->metrics, 'L'));
    return object;
}

static json_t *time_value(const ProfileTime *time) {
    json_t *object = json_object();
    json_object_set_new(object, "begin_cycle", integer(time->begin_cycle));
    json_object_set_new(object, "end_cycle", integer(time->end_cycle));
    json_object_set_new(object, "first_cta_cycle", integer(time->first_cta_cycle));
    json_object_set_new(object, "last_cta_cycle", integer(time->last_cta_cycle));
    json_object_set_new(object, "begin_ns", number(time->begin_ns));
    json_object_set_new(object, "end_ns", number(time->end_ns));
    json_object_set_new(object, "registers", integer(time->registers));
    json_object_set_new(object, "ctas_per_sm", integer(time->ctas_per_sm));
    json_object_set_new(object, "overlapped", json_boolean(time->overlapped));
    return object;
}

static json_t *timeline_head(const ProfileTimeline *t) {
    json_t *object = json_object();
    json_object_set_new(object, "unit", json_string(timeline_unit_name(t->unit)));
    json_object_set_new(object, "units", integer(t->units));
    json_object_set_new(object, "first", integer(t->first));
    json_object_set_new(object, "step", integer(t->step));
    json_object_set_new(object, "tick_ns", number(t->tick_ns));
    json_object_set_new(object, "points", integer(t->points));
    return object;
}

// One array of points per unit.
static json_t *timeline_values(const ProfileTimeline *t, const u64 *values) {
    json_t *units = json_array();
    for (u32 u = 0; u < t->units; u++) {
        json_t *points = json_array();
        for (u32 p = 0; p < t->points; p++) json_array_append_new(points, number((f64)values[(u64)u * t->points + p]));
        json_array_append_new(units, points);
    }
    return units;
}

static void write_timeline(Json *json, const ProfileTimeline *t, const TimelineData *data) {
    bool first = true;
    write_value(json, timeline_head(t), true);
    output_text(json->out, ",\"metrics\":{");
    for (u32 m = 0; m < t->metrics; m++) {
        if (data->metrics[m] == METRIC_COUNT) continue;
        output_printf(json->out, "%s\"%s\":", first ? "" : ",", metric_table[data->metrics[m]].name);
        write_value(json, timeline_values(t, data->values + (u64)m * t->units * t->points), false);
        first = false;
    }
    output_text(json->out, "}}");
}

static Status write_timelines(Json *json, const Report *report, const ProfileLaunch *launch) {
    const ProfileTimeline *timelines;
    u32 count, written = 0;
    TRY(profile_timelines(report->profile, launch->id, &timelines, &count, json->diag));
    output_text(json->out, ",\"timelines\":[");
    for (u32 i = 0; i < count; i++) {
        if (timelines[i].unit != TIMELINE_GPU && !report->options.units) continue;
        TimelineData data;
        TRY(timeline_read(report->profile, &timelines[i], &data, json->diag));
        output_text(json->out, written++ ? ",\n" : "");
        write_timeline(json, &timelines[i], &data);
        timeline_free(&data);
    }
    output_text(json->out, "]}");
    return STATUS_OK;
}

static Status write_launch(Json *json, const Report *report, const ProfileLaunch *launch) {
    write_value(json, launch_value(launch), launch->time.known);
    if (!launch->time.known) return STATUS_OK;
    output_text(json->out, ",\"time\":");
    write_value(json, time_value(&launch->time), false);
    return write_timelines(json, report, launch);
}

static json_t *stall_value(Json *json, const ReportStall *stall) {
    json_t *object = json_object();
    json_object_set_new(object, "file", text(json, stall->file));
    json_object_set_new(object, "line", integer(stall->line));
    json_object_set_new(object, "reason", text(json, stall->reason));
    json_object_set_new(object, "cause_file", text(json, stall->cause_file));
    json_object_set_new(object, "cause_line", stall->cause_line ? integer(stall->cause_line) : json_null());
    json_object_set_new(object, "cycles", number(stall->cycles));
    json_object_set_new(object, "times", number(stall->times));
    return object;
}

// Only of kernels that were timed or sampled.
static void write_stalls(Json *json, const ReportKernel *kernel) {
    if (!kernel->stall_count && !kernel->latency_count) return;
    output_text(json->out, ",\"stalls\":[");
    for (u32 i = 0; i < kernel->stall_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        write_value(json, stall_value(json, &kernel->stalls[i]), false);
    }
    output_text(json->out, "],\"load_latency\":");
    json_t *latencies = json_array();
    for (u32 i = 0; i < kernel->latency_count; i++) {
        const ProfileLatency *l = &kernel->latencies[i];
        json_array_append_new(latencies, json_pack("{s:I,s:I,s:I}", "low", (json_int_t)l->low, "high",
                                                   (json_int_t)l->high, "count", (json_int_t)l->count));
    }
    write_value(json, latencies, false);
}

static json_t *line_value(Json *json, const ReportKernel *kernel, const ProfileLine *line) {
    json_t *object = json_object();
    json_object_set_new(object, "file", text(json, line->file));
    json_object_set_new(object, "line", integer(line->line));
    if (!line->file) json_object_set_new(object, "module", text(json, kernel->function->module));
    json_object_set_new(object, "metrics", metrics(&line->metrics, 'P'));
    return object;
}

static json_t *kernel_value(Json *json, const ReportKernel *kernel) {
    json_t *object = json_object();
    json_object_set_new(object, "name", text(json, kernel->name));
    json_object_set_new(object, "mangled", text(json, kernel->mangled));
    json_object_set_new(object, "signature", text(json, kernel->signature));
    json_object_set_new(object, "module", text(json, kernel->function->module));
    json_object_set_new(object, "entry", json_boolean(kernel->function->is_entry));
    json_object_set_new(object, "provenance", text(json, kernel->provenance));
    json_object_set_new(object, "registers", integer(kernel->function->registers));
    json_object_set_new(object, "shared_bytes", integer(kernel->function->shared_bytes));
    json_object_set_new(object, "local_bytes", integer(kernel->function->local_bytes));
    json_object_set_new(object, "metrics", metrics(&kernel->metrics, 'L'));
    return object;
}

static Status write_kernel(Json *json, const Report *report, const ReportKernel *kernel) {
    write_value(json, kernel_value(json, kernel), true);
    output_text(json->out, ",\"launches\":[");
    for (u32 i = 0; i < kernel->launch_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        TRY(write_launch(json, report, &kernel->launches[i]));
    }
    output_text(json->out, "],\"lines\":[");
    for (u32 i = 0; i < kernel->line_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        write_value(json, line_value(json, kernel, &kernel->lines[i]), false);
    }
    output_text(json->out, "]");
    write_stalls(json, kernel);
    output_text(json->out, "}");
    return STATUS_OK;
}

static json_t *summary_value(Json *json, const Report *report) {
    const ProfileSummary *summary = &report->summary;
    json_t *object = json_object();
    json_object_set_new(object, "command", text(json, summary->command));
    json_object_set_new(object, "device", text(json, summary->device));
    json_object_set_new(object, "created", text(json, summary->created));
    json_object_set_new(object, "warplens_version", text(json, summary->tool_version));
    json_object_set_new(object, "schema_version", integer(summary->schema_version));
    json_object_set_new(object, "complete", json_boolean(summary->complete));
    json_object_set_new(object, "exit_code", summary->exit_code < 0 ? json_null() : json_integer(summary->exit_code));
    json_object_set_new(object, "wall_ns", integer(summary->wall_ns));
    json_object_set_new(object, "launches", integer(summary->launches));
    json_object_set_new(object, "copies", integer(summary->copies));
    json_object_set_new(object, "copy_bytes", integer(summary->copy_bytes));
    json_object_set_new(object, "dropped", integer(summary->dropped));
    return object;
}

static json_t *source_value(Json *json, const ProfileSource *source) {
    json_t *object = json_object();
    json_object_set_new(object, "provenance", text(json, source->provenance));
    json_object_set_new(object, "tool", text(json, source->tool));
    json_object_set_new(object, "device", text(json, source->device));
    json_object_set_new(object, "detail", text(json, source->detail));
    return object;
}

static json_t *head_value(Json *json, const Report *report) {
    json_t *object = json_object(), *sources = json_array(), *messages = json_array();
    for (u32 i = 0; i < report->source_count; i++) {
        json_array_append_new(sources, source_value(json, &report->sources[i]));
    }
    for (u32 i = 0; i < report->message_count; i++) json_array_append_new(messages, text(json, report->messages[i]));
    json_object_set_new(object, "schema", json_string("warplens-report/1"));
    json_object_set_new(object, "summary", summary_value(json, report));
    json_object_set_new(object, "sources", sources);
    json_object_set_new(object, "messages", messages);
    return object;
}

static json_t *finding_value(Json *json, const ReportFinding *f) {
    json_t *object = json_object(), *evidence = json_loads(f->row->evidence, 0, NULL);
    json_object_set_new(object, "id", integer(f->row->id));
    json_object_set_new(object, "severity", text(json, f->row->severity));
    json_object_set_new(object, "rule", text(json, f->row->rule));
    json_object_set_new(object, "text", text(json, f->row->text));
    json_object_set_new(object, "kernel", text(json, f->function));
    json_object_set_new(object, "file", *f->row->file ? text(json, f->row->file) : json_null());
    json_object_set_new(object, "line", integer(f->row->line));
    json_object_set_new(object, "evidence", evidence ? evidence : json_null());
    return object;
}

static void write_findings(Json *json, const Report *report) {
    output_text(json->out, ",\"findings\":[");
    for (u32 i = 0; i < report->finding_count; i++) {
        output_text(json->out, i ? ",\n" : "\n");
        write_value(json, finding_value(json, &report->findings[i]), false);
    }
    output_text(json->out, "]");
}

Status export_json(const Report *report, Output *out, Diag *diag) {
    Json json = {.out = out, .diag = diag};
    Status status = STATUS_OK;
    write_value(&json, head_value(&json, report), true);
    write_findings(&json, report);
    output_text(out, ",\"kernels\":[");
    for (u32 i = 0; i < report->kernel_count && status == STATUS_OK; i++) {
        output_text(out, i ? ",\n" : "\n");
        status = write_kernel(&json, report, &report->kernels[i]);
    }
    output_text(out, "]}\n");
    arena_free(&json.scratch);
    return status == STATUS_OK ? out->status : status;
}
