// SPDX-License-Identifier: Apache-2.0
// Schema warplens-advice/1: docs/advice.schema.json. Each kernel and piece of advice is made and written by itself.
#include <string.h>

#include "view/advice/advice_data.h"
#include "view/advice/advice_stack.h"
#include "view/export/json_value.h"

static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

static json_t *place_value(Json *json, const AdviceReport *report, const AdvicePlace *place) {
    const ProfilePlace *line = place->line && place->line->line ? place->line : NULL;
    const ProfilePlace *cause = place->cause_line && place->cause_line->line ? place->cause_line : NULL;
    json_t *object = json_object();
    set(object, "kind", json_string(advice_place_names[place->kind]));
    set(object, "function", json_text(json, place->view ? advice_name(report, place->view)->name : NULL));
    set(object, "file", json_text(json, line && line->file ? advice_path(report, line->file, &json->scratch) : NULL));
    set(object, "line", line ? json_count(line->line) : json_null());
    set(object, "instruction", place->pc == WL_NONE ? json_null() : json_count(place->pc));
    set(object, "instruction_end", place->pc_end == WL_NONE ? json_null() : json_count(place->pc_end));
    set(object, "share", json_figure(place->share));
    set(object, "stall", place->stall == STALL_SELECTED ? json_null() : json_string(stall_names[place->stall]));
    set(object, "cause_file",
        json_text(json, cause && cause->file ? advice_path(report, cause->file, &json->scratch) : NULL));
    set(object, "cause_line", cause ? json_count(cause->line) : json_null());
    return object;
}

static json_t *fact_value(Json *json, const AdviceFact *fact) {
    json_t *object = json_object();
    set(object, "name", json_text(json, fact->name));
    set(object, "text", json_text(json, fact->text));
    set(object, "value", json_figure(fact->value));
    set(object, "unit", json_text(json, fact->unit));
    return object;
}

static json_t *estimate_value(Json *json, const AdviceEstimate *e) {
    json_t *object = json_object(), *model = json_object();
    set(object, "speedup", json_figure(e->speedup));
    set(object, "low", json_figure(e->low));
    set(object, "high", json_figure(e->high));
    set(object, "program_speedup", json_figure(e->program_speedup));
    set(object, "program_low", json_figure(e->program_low));
    set(object, "program_high", json_figure(e->program_high));
    set(object, "saved_ns", json_figure(e->saved_ns));
    set(object, "confidence", json_string(advice_confidence_names[e->confidence]));
    set(object, "basis", json_text(json, e->basis));
    set(model, "speedup", json_figure(e->model));
    set(model, "error", json_figure(e->error));
    set(model, "limit", json_figure(e->limit));
    set(object, "model", model);
    if (e->tried > 0) set(object, "tried", json_figure(e->tried));
    return object;
}

static void set_rule(Json *json, json_t *object, const Advice *advice) {
    const AdviceRule *rule = advice->rule;
    AdviceText words = advice_words(advice);
    set(object, "rule", json_text(json, rule->name));
    if (advice->also) set(object, "also", json_text(json, advice->also));
    set(object, "title", json_text(json, rule->title));
    set(object, "kind", json_string(advice_kind_names[rule->kind]));
    set(object, "why", json_text(json, words.why));
    set(object, "how", json_text(json, words.how));
    set(object, "before", json_text(json, words.before));
    set(object, "after", json_text(json, words.after));
}

static json_t *advice_value(Json *json, const AdviceReport *report, const Advice *advice) {
    json_t *object = json_object(), *places = json_array(), *facts = json_array();
    const AdviceName *name = advice_name(report, advice->kernel);
    set(object, "rank", json_count(advice_rank(report, advice)));
    set_rule(json, object, advice);
    set(object, "kernel", json_text(json, name->name));
    set(object, "kernel_mangled", json_text(json, name->mangled));
    set(object, "what", json_text(json, advice->what));
    set(object, "caution", json_text(json, advice->caution));
    set(object, "confidence", json_string(advice_confidence_names[advice->estimate.confidence]));
    set(object, "group", json_count(advice->group));
    set(object, "estimate", estimate_value(json, &advice->estimate));
    set(object, "scope", place_value(json, report, &advice->scope));
    for (u32 i = 0; i < advice->place_count; i++)
        json_array_append_new(places, place_value(json, report, &advice->places[i]));
    for (u32 i = 0; i < advice->fact_count; i++) json_array_append_new(facts, fact_value(json, &advice->facts[i]));
    set(object, "places", places);
    set(object, "facts", facts);
    return object;
}

static json_t *dims_value(const u32 *dims) {
    return json_pack("[I,I,I]", (json_int_t)dims[0], (json_int_t)dims[1], (json_int_t)dims[2]);
}

static json_t *stack_value(Json *json, const AdviceReport *report, const KernelView *view) {
    json_t *object = json_object(), *frames = json_array();
    AdviceStack stack;
    if (advice_stack(report, view, &json->scratch, &stack) != STATUS_OK) json->out->status = STATUS_NO_MEMORY;
    for (u32 i = 0; i < stack.count; i++) {
        const AdviceFrame *f = &stack.frames[i];
        json_t *frame = json_object();
        set(frame, "function", json_text(json, f->name));
        set(frame, "file", json_text(json, f->file));
        set(frame, "line", f->file ? json_count(f->line) : json_null());
        set(frame, "object", json_text(json, f->object));
        json_array_append_new(frames, frame);
    }
    set(object, "launches", json_count(stack.launches));
    set(object, "frames", frames);
    return object;
}

static json_t *kernel_value(Json *json, const AdviceReport *report, const AdviceKernel *kernel) {
    const KernelView *view = kernel->view;
    const AdviceName *name = advice_name(report, view);
    const ProfileLaunch *typical = view->launches.typical;
    json_t *object = json_object(), *ranks = json_array();
    set(object, "name", json_text(json, name->name));
    set(object, "signature", json_text(json, name->signature));
    set(object, "mangled", json_text(json, name->mangled));
    set(object, "launches", json_count(view->launches.count));
    set(object, "grid", typical ? dims_value(typical->grid) : json_null());
    set(object, "block", typical ? dims_value(typical->block) : json_null());
    set(object, "shapes", json_count(view->launches.shapes));
    set(object, "share_alike", json_figure(view->launches.alike));
    set(object, "total_ns", json_figure(view->launches.total_ns));
    set(object, "error_ns", json_figure(view->launches.error_ns));
    set(object, "share", json_figure(view->launches.share));
    set(object, "samples", json_count(view->taken));
    set(object, "stalled", json_figure(kernel->stalled));
    set(object, "limit", json_text(json, kernel->limit));
    set(object, "launched_by", stack_value(json, report, view));
    for (u32 i = 0; i < kernel->count; i++) {
        u32 row = report->list->ranked[kernel->first + i];
        if (row < report->shown) json_array_append_new(ranks, json_count(row + 1));
    }
    set(object, "advice", ranks);
    return object;
}

static json_t *head_value(Json *json, const AdviceReport *report) {
    const AdviceList *list = report->list;
    json_t *object = json_object(), *notes = json_array();
    set(object, "schema", json_string("warplens-advice/1"));
    set(object, "warplens_version", json_string(WARPLENS_VERSION));
    set(object, "command", json_text(json, report->summary.command));
    set(object, "device", json_text(json, report->summary.device));
    set(object, "provenance", json_text(json, list->provenance));
    set(object, "kernel_ns", json_figure(list->kernel_ns));
    set(object, "gpu_ns", json_figure(list->gpu_ns));
    for (u32 i = 0; i < list->note_count; i++) json_array_append_new(notes, json_text(json, list->notes[i]));
    set(object, "notes", notes);
    return object;
}

Status advice_json(const AdviceReport *report, Output *out, Diag *diag) {
    Json json = {.out = out, .diag = diag};
    const AdviceList *list = report->list;
    json_write(&json, head_value(&json, report), true);
    output_text(out, ",\"kernels\":[");
    for (u32 i = 0; i < list->kernel_count; i++) {
        output_text(out, i ? ",\n" : "\n");
        json_write(&json, kernel_value(&json, report, &list->kernels[i]), false);
    }
    output_text(out, "],\"advice\":[");
    for (u32 i = 0; i < report->shown; i++) {
        output_text(out, i ? ",\n" : "\n");
        json_write(&json, advice_value(&json, report, &list->rows[i]), false);
    }
    output_text(out, "]}\n");
    arena_free(&json.scratch);
    return out->status;
}
