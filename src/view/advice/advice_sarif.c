// SPDX-License-Identifier: Apache-2.0
// SARIF 2.1.0 (OASIS Standard, errata 01): one run, a rule for each rule that found something, a result for each piece
// of advice. Locations below the root are relative to the base SRCROOT, whose value whoever reads the file knows.
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "view/advice/advice_stack.h"
#include "view/export/json_value.h"
#include "view/number.h"

enum { WARNING_PERCENT = 10 };  // saving from which a result is a warning, not a note

typedef struct Sarif {
    Json json;
    const AdviceReport *report;
    SourceTexts sources;
    json_t *artifacts;
    Intern files;  // by position in artifacts
} Sarif;

static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

// Empty ones are left out.
static void set_list(json_t *object, const char *key, json_t *list) {
    if (json_array_size(list))
        set(object, key, list);
    else
        json_decref(list);
}

static json_t *message(Sarif *s, const char *text) {
    json_t *object = json_object();
    set(object, "text", json_text(&s->json, text));
    return object;
}

static const char *text(Sarif *s, const char *made) {
    if (!made) s->json.out->status = STATUS_NO_MEMORY;
    return made ? made : "";
}

// --- locations ------------------------------------------------------------------------------------------------------
// A path as a URI reference (RFC 3986): absolute ones as file URIs, others relative to SRCROOT.
static const char *uri_of(Sarif *s, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+!$&'()*,;=@";
    char *uri = arena_alloc(&s->json.scratch, strlen(path) * 3 + sizeof "file://", 1), *to = uri;
    if (!uri) return text(s, NULL);
    if (*path == '/') to = stpcpy(to, "file://");
    for (; *path; path++) {
        if (strchr(plain, *path))
            *to++ = *path;
        else
            to += sprintf(to, "%%%02X", (unsigned)(u8)*path);
    }
    *to = '\0';
    return uri;
}

static json_t *artifact_location(Sarif *s, const char *file) {
    const char *path = text(s, advice_path(s->report, file, &s->json.scratch));
    json_t *object = json_object();
    set(object, "uri", json_text(&s->json, uri_of(s, path)));
    if (*path != '/') set(object, "uriBaseId", json_string("SRCROOT"));
    return object;
}

static json_t *indexed_artifact(Sarif *s, const char *file) {
    u32 index;
    json_t *location = artifact_location(s, file);
    if (intern_add(&s->files, (Str){file, strlen(file)}, &index) != STATUS_OK) return text(s, NULL), location;
    if (index == json_array_size(s->artifacts)) {
        json_t *artifact = json_object();
        set(artifact, "location", json_deep_copy(location));
        json_array_append_new(s->artifacts, artifact);
    }
    set(location, "index", json_count(index));
    return location;
}

static json_t *physical_location(Sarif *s, const KernelView *view, const ProfilePlace *place) {
    json_t *object = json_object(), *region = json_object();
    const char *code = text(s, advice_code(s->report, &s->sources, view, place, &s->json.scratch));
    set(object, "artifactLocation", indexed_artifact(s, place->file));
    set(region, "startLine", json_count(place->line));
    if (*code) set(region, "snippet", message(s, code));
    set(object, "region", region);
    return object;
}

static json_t *logical_location(Sarif *s, const KernelView *view) {
    const AdviceName *name = advice_name(s->report, view);
    json_t *object = json_object();
    set(object, "name", json_text(&s->json, name->name));
    set(object, "fullyQualifiedName", json_text(&s->json, name->signature));
    set(object, "decoratedName", json_text(&s->json, name->mangled));
    set(object, "kind", json_string("function"));
    return object;
}

// `place` may be NULL or of a PTX text, which is no artifact: then only the function is told.
static json_t *location(Sarif *s, const KernelView *view, const ProfilePlace *place) {
    json_t *object = json_object(), *logical = json_array();
    if (place && place->file && place->line) set(object, "physicalLocation", physical_location(s, view, place));
    json_array_append_new(logical, logical_location(s, view));
    set(object, "logicalLocations", logical);
    return object;
}

static void add_related(Sarif *s, json_t *list, const KernelView *view, const ProfilePlace *place, const char *words) {
    if (!place || !place->file || !place->line) return;
    json_t *object = location(s, view, place);
    set(object, "id", json_count(json_array_size(list) + 1));
    set(object, "message", message(s, words));
    json_array_append_new(list, object);
}

static json_t *related_locations(Sarif *s, const Advice *advice) {
    json_t *list = json_array();
    for (u32 i = 0; i < advice->place_count; i++) {
        const AdvicePlace *p = &advice->places[i];
        const char *reason = p->stall == STALL_SELECTED ? "instructions issued" : stall_names[p->stall];
        const char *words = arena_printf(&s->json.scratch, "%s %% of the kernel's samples: %s",
                                         number_fixed(100 * p->share, 1).text, reason);
        add_related(s, list, p->view, p->line, text(s, words));
        const char *cause = arena_printf(&s->json.scratch, "what it waits for (%s)", reason);
        add_related(s, list, p->view, p->cause_line, text(s, cause));
    }
    return list;
}

// --- code flows -----------------------------------------------------------------------------------------------------
enum { FLOW_FRAMES = 8 };  // of the host's call stack, innermost

static void add_step(Sarif *s, json_t *steps, json_t *location, const char *words, u32 nesting) {
    json_t *step = json_object();
    set(location, "message", message(s, words));
    set(step, "location", location);
    set(step, "nestingLevel", json_count(nesting));
    json_array_append_new(steps, step);
}

static json_t *frame_location(Sarif *s, const AdviceFrame *frame) {
    json_t *object = json_object(), *logical = json_array(), *name = json_object();
    set(name, "name", json_text(&s->json, *frame->name ? frame->name : "?"));
    set(name, "kind", json_string("function"));
    json_array_append_new(logical, name);
    if (frame->file && frame->line) {
        json_t *place = json_object(), *region = json_object();
        set(place, "artifactLocation", indexed_artifact(s, frame->file));
        set(region, "startLine", json_count(frame->line));
        set(place, "region", region);
        set(object, "physicalLocation", place);
    }
    set(object, "logicalLocations", logical);
    return object;
}

// The way to the kernel: who calls, who launches, which function and loop.
static u32 add_way(Sarif *s, json_t *steps, const Advice *advice) {
    AdviceStack stack;
    const AdvicePlace *scope = &advice->scope;
    if (advice_stack(s->report, advice->kernel, &s->json.scratch, &stack) != STATUS_OK) text(s, NULL);
    u32 frames = stack.count < FLOW_FRAMES ? stack.count : FLOW_FRAMES;
    for (u32 i = frames; i > 0; i--)
        add_step(s, steps, frame_location(s, &stack.frames[i - 1]), i > 1 ? "calls" : "launches the kernel",
                 frames - i);
    const KernelView *view = scope->view ? scope->view : advice->kernel;
    add_step(s, steps, location(s, view, advice_main_place(advice)), advice->what, frames);
    return frames + 1;
}

static void add_wait(Sarif *s, json_t *steps, const AdvicePlace *p, u32 nesting) {
    bool stalled = p->stall != STALL_SELECTED;
    const char *reason = stalled ? stall_names[p->stall] : "instructions issued";
    if (p->cause_line && p->cause_line->file && p->cause_line->line)
        add_step(s, steps, location(s, p->view, p->cause_line), "what is waited for begins here", nesting);
    const char *words =
        arena_printf(&s->json.scratch, "%s: %s %% of the kernel's samples (%s)",
                     stalled ? "warps wait here" : "executed here", number_fixed(100 * p->share, 1).text, reason);
    add_step(s, steps, location(s, p->view, p->line), text(s, words), nesting);
}

// One flow for each hot place: from the host's call through the scope to the cause and to the instruction that waits.
static json_t *code_flows(Sarif *s, const Advice *advice) {
    json_t *flows = json_array();
    for (u32 i = 0; i < advice->place_count; i++) {
        const AdvicePlace *p = &advice->places[i];
        if (!p->line || !p->line->file || !p->line->line) continue;
        json_t *flow = json_object(), *threads = json_array(), *thread = json_object(), *steps = json_array();
        add_wait(s, steps, p, add_way(s, steps, advice));
        set(thread, "locations", steps);
        json_array_append_new(threads, thread);
        set(flow, "threadFlows", threads);
        json_array_append_new(flows, flow);
    }
    return flows;
}

// --- results --------------------------------------------------------------------------------------------------------
static f64 saved_percent(const Advice *advice) { return 100 * advice_saved(advice->estimate.program_speedup); }

static const char *result_text(Sarif *s, const Advice *advice) {
    const AdviceEstimate *e = &advice->estimate;
    const char *tried =
        e->tried > 0 ? text(s, arena_printf(&s->json.scratch, "; tried: %sx", number_fixed(e->tried, 2).text)) : "";
    const char *words = arena_printf(&s->json.scratch,
                                     "%s. The kernel %s should become %sx as fast (%s to %s), the time of all kernels "
                                     "%s %% less (%s confidence, %s%s).",
                                     advice->what, advice_name(s->report, advice->kernel)->name,
                                     number_fixed(e->speedup, 2).text, number_fixed(e->low, 2).text,
                                     number_fixed(e->high, 2).text, number_fixed(saved_percent(advice), 1).text,
                                     advice_confidence_names[e->confidence], s->report->list->provenance, tried);
    for (u32 i = 0; i < advice->fact_count && i < 3 && words; i++)
        words = arena_printf(&s->json.scratch, "%s\n- %s", words, advice->facts[i].text);
    if (words && *advice->caution) words = arena_printf(&s->json.scratch, "%s\nCheck: %s", words, advice->caution);
    return text(s, words);
}

// The same for the same advice after the file was edited elsewhere: of the line its text counts, not its number.
static json_t *fingerprints(Sarif *s, const Advice *advice) {
    const ProfilePlace *place = advice_main_place(advice);
    const char *code = text(s, advice_code(s->report, &s->sources, advice->scope.view, place, &s->json.scratch));
    const char *file = place && place->file ? strrchr(place->file, '/') : NULL;
    const char *key =
        arena_printf(&s->json.scratch, "%s|%s|%s|%s|%u", advice->rule->name, advice->kernel->function->name,
                     file ? file + 1 : "", code, *code || !place ? 0 : place->line);
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hash_bytes(text(s, key), strlen(text(s, key))));
    json_t *object = json_object();
    set(object, "warplensAdvice/v1", json_string(hash));
    return object;
}

static json_t *properties(Sarif *s, const Advice *advice) {
    const AdviceEstimate *e = &advice->estimate;
    json_t *object = json_object();
    set(object, "kernel", json_text(&s->json, advice_name(s->report, advice->kernel)->name));
    set(object, "speedup", json_figure(e->speedup));
    set(object, "low", json_figure(e->low));
    set(object, "high", json_figure(e->high));
    set(object, "programSpeedup", json_figure(e->program_speedup));
    set(object, "programLow", json_figure(e->program_low));
    set(object, "programHigh", json_figure(e->program_high));
    set(object, "savedNs", json_figure(e->saved_ns));
    set(object, "confidence", json_string(advice_confidence_names[e->confidence]));
    set(object, "basis", json_text(&s->json, e->basis));
    if (e->tried > 0) set(object, "tried", json_figure(e->tried));
    set(object, "group", json_count(advice->group));
    if (advice->also) set(object, "also", json_text(&s->json, advice->also));
    set(object, "provenance", json_text(&s->json, s->report->list->provenance));
    return object;
}

static json_t *result(Sarif *s, const Advice *advice, u32 rule) {
    json_t *object = json_object(), *locations = json_array();
    set(object, "ruleId", json_string(advice->rule->name));
    set(object, "ruleIndex", json_count(rule));
    set(object, "level", json_string(saved_percent(advice) >= WARNING_PERCENT ? "warning" : "note"));
    set(object, "rank", json_figure(saved_percent(advice)));
    set(object, "message", message(s, result_text(s, advice)));
    json_array_append_new(
        locations, location(s, advice->scope.view ? advice->scope.view : advice->kernel, advice_main_place(advice)));
    set(object, "locations", locations);
    set_list(object, "relatedLocations", related_locations(s, advice));
    set_list(object, "codeFlows", code_flows(s, advice));
    set(object, "partialFingerprints", fingerprints(s, advice));
    set(object, "properties", properties(s, advice));
    return object;
}

// --- rules ----------------------------------------------------------------------------------------------------------
static json_t *help(Sarif *s, const AdviceRule *rule) {
    const char *words = arena_printf(&s->json.scratch, "%s %s", rule->why, rule->how), *markdown = words;
    if (*rule->before)
        markdown = arena_printf(&s->json.scratch, "%s\n\nBefore:\n\n```cuda\n%s\n```\n\nAfter:\n\n```cuda\n%s\n```\n",
                                text(s, words), rule->before, rule->after);
    json_t *object = message(s, text(s, words));
    set(object, "markdown", json_text(&s->json, text(s, markdown)));
    return object;
}

// "loop-unrolling" -> "LoopUnrolling"
static const char *pascal(Sarif *s, const char *name) {
    char *copy = arena_alloc(&s->json.scratch, strlen(name) + 1, 1), *to = copy;
    if (!copy) return text(s, NULL);
    bool upper = true;
    for (; *name; name++) {
        if (*name != '-') *to++ = upper && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
        upper = *name == '-';
    }
    *to = '\0';
    return copy;
}

static json_t *rule_value(Sarif *s, const AdviceRule *rule) {
    json_t *object = json_object();
    set(object, "id", json_string(rule->name));
    set(object, "name", json_text(&s->json, pascal(s, rule->name)));
    set(object, "shortDescription", message(s, rule->title));
    set(object, "fullDescription", message(s, rule->why));
    set(object, "help", help(s, rule));
    set(object, "properties", json_pack("{s:[s,s,s]}", "tags", "performance", "cuda", advice_kind_names[rule->kind]));
    return object;
}

// The rules of what is shown, each once; of each piece of advice its rule's position.
static json_t *used_rules(Sarif *s, u32 *positions) {
    const AdviceReport *report = s->report;
    json_t *rules = json_array();
    for (u32 i = 0; i < report->shown; i++) {
        u32 earlier = 0;
        while (report->list->rows[earlier].rule != report->list->rows[i].rule) earlier++;
        positions[i] = earlier < i ? positions[earlier] : (u32)json_array_size(rules);
        if (earlier == i) json_array_append_new(rules, rule_value(s, report->list->rows[i].rule));
    }
    return rules;
}

// --- run ------------------------------------------------------------------------------------------------------------
static json_t *tool(json_t *rules) {
    json_t *driver = json_object(), *object = json_object();
    set(driver, "name", json_string("Warplens"));
    set(driver, "version", json_string(WARPLENS_VERSION));
    set(driver, "rules", rules);
    set(object, "driver", driver);
    return object;
}

static json_t *invocations(Sarif *s) {
    const AdviceList *list = s->report->list;
    json_t *notes = json_array(), *invocation = json_object(), *array = json_array();
    for (u32 i = 0; i < list->note_count; i++) {
        json_t *note = json_object();
        set(note, "level", json_string("note"));
        set(note, "message", message(s, list->notes[i]));
        json_array_append_new(notes, note);
    }
    set(invocation, "executionSuccessful", json_true());
    set(invocation, "toolExecutionNotifications", notes);
    json_array_append_new(array, invocation);
    return array;
}

static json_t *bases(Sarif *s) {
    json_t *root = json_object(), *object = json_object();
    set(root, "description", message(s, "the root of the program's sources: where `warplens advise` was called"));
    set(object, "SRCROOT", root);
    return object;
}

static json_t *run(Sarif *s, u32 *positions) {
    json_t *object = json_object(), *results = json_array(), *rules = used_rules(s, positions);
    for (u32 i = 0; i < s->report->shown; i++)
        json_array_append_new(results, result(s, &s->report->list->rows[i], positions[i]));
    set(object, "tool", tool(rules));
    set(object, "invocations", invocations(s));
    set(object, "originalUriBaseIds", bases(s));
    set(object, "artifacts", json_incref(s->artifacts));
    set(object, "results", results);
    set(object, "columnKind", json_string("unicodeCodePoints"));
    return object;
}

Status advice_sarif(const AdviceReport *report, Output *out, Diag *diag) {
    Sarif s = {.json = {.out = out, .diag = diag}, .report = report, .artifacts = json_array()};
    Arena arena = {0};
    u32 *positions = ARENA_ARRAY(&arena, u32, report->shown + 1);
    json_t *log = json_object(), *runs = json_array();
    if (!positions) out->status = STATUS_NO_MEMORY;
    set(log, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
    set(log, "version", json_string("2.1.0"));
    if (positions) json_array_append_new(runs, run(&s, positions));
    set(log, "runs", runs);
    json_write(&s.json, log, false);
    output_text(out, "\n");
    json_decref(s.artifacts);
    source_free(&s.sources);
    intern_free(&s.files);
    arena_free(&s.json.scratch);
    arena_free(&arena);
    return out->status;
}
