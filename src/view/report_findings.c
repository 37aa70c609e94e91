// SPDX-License-Identifier: Apache-2.0
// What the checker found: the rows of the profile with their evidence taken apart. Evidence that is not as described in
// docs/profile-format.md is passed over, field by field.
#include <jansson.h>
#include <string.h>

#include "binary/kernel_name.h"
#include "view/report_data.h"
#include "view/utf8.h"

typedef struct Loader {
    Report *report;
    Arena *arena;
} Loader;

static const char *clean(Loader *loader, const char *text) {
    return utf8_clean(loader->arena, (Str){text, strlen(text)}, true);
}

static const char *text_of(Loader *loader, json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? clean(loader, text) : "";
}

static const char *plain_name(Loader *loader, const char *mangled) {
    const ReportOptions *o = &loader->report->options;
    const char *signature = o->demangle ? o->demangle(o->demangle_context, mangled) : mangled;
    const char *name = utf8_clean(loader->arena, (Str){signature, strlen(signature)}, true);
    return name ? arena_copy_str(loader->arena, kernel_plain_name(name)) : NULL;
}

static const char *thread_of(Loader *loader, json_t *place) {
    json_t *thread = json_object_get(place, "thread"), *block = json_object_get(place, "block");
    json_int_t t[3], b[3];
    if (json_unpack(thread, "[III]", &t[0], &t[1], &t[2]) || json_unpack(block, "[III]", &b[0], &b[1], &b[2]))
        return "";
    return arena_printf(loader->arena,
                        "by thread (%" JSON_INTEGER_FORMAT ",%" JSON_INTEGER_FORMAT ",%" JSON_INTEGER_FORMAT
                        ") of block (%" JSON_INTEGER_FORMAT ",%" JSON_INTEGER_FORMAT ",%" JSON_INTEGER_FORMAT ")",
                        t[0], t[1], t[2], b[0], b[1], b[2]);
}

static Status load_notes(Loader *loader, json_t *notes, ReportFinding *f) {
    size_t count = json_array_size(notes);
    const char **texts = ARENA_ARRAY(loader->arena, const char *, count + 1);
    if (!texts) return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const char *note = json_string_value(json_array_get(notes, i));
        texts[i] = clean(loader, note ? note : "");
        if (!texts[i]) return STATUS_NO_MEMORY;
    }
    f->notes = texts;
    f->note_count = (u32)count;
    return STATUS_OK;
}

static Status load(Loader *loader, const ProfileFinding *row, ReportFinding *f) {
    json_t *evidence = json_loads(row->evidence, 0, NULL);
    json_t *place = json_object_get(evidence, "place"), *other = json_object_get(evidence, "other");
    json_int_t count = json_integer_value(json_object_get(evidence, "count"));
    const char *function = json_string_value(json_object_get(place, "function"));
    *f = (ReportFinding){.row = row,
                         .count = count > 0 ? (u64)count : 1,
                         .function = function ? plain_name(loader, function) : "",
                         .place = thread_of(loader, place),
                         .other_role = text_of(loader, evidence, "other_role"),
                         .other_file = text_of(loader, other, "file"),
                         .other_line = (u32)json_integer_value(json_object_get(other, "line")),
                         .other_place = thread_of(loader, other)};
    Status status = load_notes(loader, json_object_get(evidence, "notes"), f);
    json_decref(evidence);
    bool whole = f->function && f->place && f->other_role && f->other_file && f->other_place;
    return whole ? status : STATUS_NO_MEMORY;
}

Status report_load_findings(Report *report, Arena *arena, Diag *diag) {
    const ProfileFinding *rows;
    u32 count;
    Loader loader = {.report = report, .arena = arena};
    TRY(profile_findings(report->profile, &rows, &count, diag));
    ReportFinding *findings = ARENA_ARRAY(arena, ReportFinding, count + 1u);
    if (!findings) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) TRY(load(&loader, &rows[i], &findings[i]));
    report->findings = findings;
    report->finding_count = count;
    return STATUS_OK;
}
