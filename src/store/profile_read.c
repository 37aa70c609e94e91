// SPDX-License-Identifier: Apache-2.0
// What a profile says about the run: summary, sources, functions, messages, module texts.
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "store/profile.h"

enum { MAX_MODULE_TEXT = 1 << 28 };

void profile_use_source(Profile *profile, u32 source) { profile->source = source; }

static Status read_meta(Profile *profile, ProfileSummary *summary, Diag *diag) {
    Query query = query_begin(profile, PROFILE_META, 0, 0);
    while (query_row(&query)) {
        const char *key = query_text(&query, 0), *value = query_text(&query, 1);
        if (!key || !value) break;
        if (strcmp(key, "warplens_version") == 0) summary->tool_version = value;
        if (strcmp(key, "command") == 0) summary->command = value;
        if (strcmp(key, "device") == 0) summary->device = value;
        if (strcmp(key, "created") == 0) summary->created = value;
        if (strcmp(key, "complete") == 0) summary->complete = strcmp(value, "1") == 0;
        if (strcmp(key, "wall_ns") == 0) summary->wall_ns = strtoull(value, NULL, 10);
        if (strcmp(key, "exit_code") == 0) summary->exit_code = atoi(value);
    }
    return query_end(&query, diag);
}

// A damaged file may hold any number where a count should be.
static u64 count_of(f64 value) { return value >= 0 && value < 1e18 ? (u64)value : 0; }

static Status read_counts(Profile *profile, ProfileSummary *summary, Diag *diag) {
    Query query = query_begin(profile, PROFILE_COUNTS, 0, 0);
    if (query_row(&query)) {
        summary->functions = query_u32(&query, 0);
        summary->launches = query_u32(&query, 1);
        summary->modules = query_u32(&query, 2);
        summary->messages = query_u32(&query, 3);
        summary->copies = query_u64(&query, 4);
        summary->copy_bytes = count_of(query_f64(&query, 5));
        summary->copy_ns = count_of(query_f64(&query, 6));
        summary->dropped = count_of(query_f64(&query, 7));
    }
    return query_end(&query, diag);
}

Status profile_summary(Profile *profile, ProfileSummary *summary, Diag *diag) {
    *summary = (ProfileSummary){.tool_version = "",
                                .command = "",
                                .device = "",
                                .created = "",
                                .schema_version = profile->schema_version,
                                .exit_code = -1};
    const ProfileSource *sources;
    u32 count;
    TRY(profile_sources(profile, &sources, &count, diag));
    if (count) summary->device = sources[0].device;
    TRY(read_meta(profile, summary, diag));
    return read_counts(profile, summary, diag);
}

Status profile_sources(Profile *profile, const ProfileSource **sources, u32 *count, Diag *diag) {
    Vec(ProfileSource) rows = {0};
    Query query = query_begin(profile, PROFILE_SOURCES, 0, 0);
    while (query_row(&query)) {
        ProfileSource row = {query_u32(&query, 0), query_text(&query, 1), query_text(&query, 2), query_text(&query, 3),
                             query_text(&query, 4)};
        if (query.code == SQLITE_OK && vec_push(&rows, row) != STATUS_OK) query.code = SQLITE_NOMEM;
    }
    Status status = query_end(&query, diag);
    *count = rows.len;
    *sources = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return *sources || status != STATUS_OK ? status : profile_tell(profile, diag, STATUS_NO_MEMORY);
}

static ProfileFunction read_function(Query *query) {
    return (ProfileFunction){.id = query_u32(query, 0),
                             .name = query_text(query, 1),
                             .module = query_text(query, 2),
                             .module_id = query_u32(query, 3),
                             .insn_count = query_u32(query, 4),
                             .is_entry = query_u32(query, 5) != 0,
                             .registers = query_u32(query, 6),
                             .shared_bytes = query_u32(query, 7),
                             .local_bytes = query_u32(query, 8),
                             .const_bytes = query_u32(query, 9),
                             .launches = query_u32(query, 10),
                             .source = query_u32(query, 11)};
}

Status profile_load_functions(Profile *profile, Diag *diag) {
    if (profile->has_functions) return STATUS_OK;
    Vec(ProfileFunction) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_FUNCTIONS, profile->source, 0);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileFunction row = read_function(&query);
        if (query.code != SQLITE_OK || row.id == 0) continue;
        status = map_put(&profile->function_index, row.id, rows.len);
        if (status == STATUS_OK) status = vec_push(&rows, row);
    }
    Status ended = query_end(&query, diag);
    profile->functions = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    profile->function_count = rows.len;
    vec_free(&rows);
    if (status == STATUS_OK && !profile->functions) status = STATUS_NO_MEMORY;
    profile->has_functions = ended == STATUS_OK && status == STATUS_OK;
    return ended == STATUS_OK && status != STATUS_OK ? profile_tell(profile, diag, status) : ended;
}

Status profile_functions(Profile *profile, const ProfileFunction **functions, u32 *count, Diag *diag) {
    TRY(profile_load_functions(profile, diag));
    *functions = profile->functions;
    *count = profile->function_count;
    return STATUS_OK;
}

Status profile_messages(Profile *profile, const char *const **texts, u32 *count, Diag *diag) {
    Vec(const char *) rows = {0};
    Query query = query_begin(profile, PROFILE_MESSAGES, 0, 0);
    while (query_row(&query)) {
        const char *text = query_text(&query, 0);
        if (text && vec_push(&rows, text) != STATUS_OK) query.code = SQLITE_NOMEM;
    }
    Status status = query_end(&query, diag);
    *count = rows.len;
    *texts = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return *texts || status != STATUS_OK ? status : profile_tell(profile, diag, STATUS_NO_MEMORY);
}

Status profile_losses(Profile *profile, const ProfileLoss **losses, u32 *count, Diag *diag) {
    Vec(ProfileLoss) rows = {0};
    Query query = query_begin(profile, PROFILE_LOSSES, 0, 0);
    while (query_row(&query)) {
        ProfileLoss row = {query_text(&query, 0), count_of(query_f64(&query, 1))};
        if (row.what && vec_push(&rows, row) != STATUS_OK) query.code = SQLITE_NOMEM;
    }
    Status status = query_end(&query, diag);
    *count = rows.len;
    *losses = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return *losses || status != STATUS_OK ? status : profile_tell(profile, diag, STATUS_NO_MEMORY);
}

Status profile_findings(Profile *profile, const ProfileFinding **findings, u32 *count, Diag *diag) {
    Vec(ProfileFinding) rows = {0};
    Query query = query_begin(profile, PROFILE_FINDINGS, 0, 0);
    while (query_row(&query)) {
        ProfileFinding row = {.id = query_u32(&query, 0),
                              .rule = query_text(&query, 1),
                              .severity = query_text(&query, 2),
                              .text = query_text(&query, 3),
                              .evidence = query_text(&query, 4),
                              .file = query_text(&query, 5),
                              .line = query_u32(&query, 6),
                              .function = query_u32(&query, 7)};
        if (query.code == SQLITE_OK && vec_push(&rows, row) != STATUS_OK) query.code = SQLITE_NOMEM;
    }
    Status status = query_end(&query, diag);
    *count = rows.len;
    *findings = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return *findings || status != STATUS_OK ? status : profile_tell(profile, diag, STATUS_NO_MEMORY);
}

static bool copy_blob(Query *query, int column, Str *data) {
    size_t size = (size_t)sqlite3_column_bytes(query->statement, column);
    char *copy = arena_alloc(&query->profile->arena, size + 1, 8);
    if (!copy) return false;
    if (size) memcpy(copy, sqlite3_column_blob(query->statement, column), size);
    *data = (Str){copy, size};
    return true;
}

Status profile_launch_arguments(Profile *profile, u32 function, const ProfileArguments **arguments, u32 *count,
                                Diag *diag) {
    Vec(ProfileArguments) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_LAUNCH_ARGUMENTS, function, 0);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileArguments row = {.launch = query_u32(&query, 0)};
        status = copy_blob(&query, 1, &row.data) ? vec_push(&rows, row) : STATUS_NO_MEMORY;
    }
    *count = rows.len;
    *arguments = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return query_finish(&query, status == STATUS_OK && !*arguments ? STATUS_NO_MEMORY : status, diag);
}

Status profile_allocs(Profile *profile, const ProfileAlloc **allocs, u32 *count, Diag *diag) {
    Vec(ProfileAlloc) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_ALLOCS, 0, 0);
    while (status == STATUS_OK && query_row(&query))
        status = vec_push(&rows, ((ProfileAlloc){query_u64(&query, 0), query_u64(&query, 1)}));
    *count = rows.len;
    *allocs = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return query_finish(&query, status == STATUS_OK && !*allocs ? STATUS_NO_MEMORY : status, diag);
}

Status profile_experiments(Profile *profile, const ProfileExperiment **experiments, u32 *count, Diag *diag) {
    Vec(ProfileExperiment) rows = {0};
    Query query = query_begin(profile, PROFILE_EXPERIMENTS, 0, 0);
    while (query_row(&query)) {
        ProfileExperiment row = {.function = query_u32(&query, 0),
                                 .rule = query_text(&query, 1),
                                 .edits = query_text(&query, 2),
                                 .before_ns = query_f64(&query, 3),
                                 .after_ns = query_f64(&query, 4)};
        bool possible = row.before_ns > 0 && row.after_ns > 0;
        if (possible && query.code == SQLITE_OK && vec_push(&rows, row) != STATUS_OK) query.code = SQLITE_NOMEM;
    }
    Status status = query_end(&query, diag);
    *count = rows.len;
    *experiments = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return *experiments || status != STATUS_OK ? status : profile_tell(profile, diag, STATUS_NO_MEMORY);
}

static Status decompress(Profile *profile, const void *data, size_t size, u64 text_size, Str *text) {
    if (text_size == 0 || !data) return STATUS_OK;
    if (text_size > MAX_MODULE_TEXT) return STATUS_LIMIT;
    char *out = arena_alloc(&profile->arena, text_size + 1, 1);
    if (!out) return STATUS_NO_MEMORY;
    size_t got = ZSTD_decompress(out, text_size, data, size);
    if (ZSTD_isError(got) || got != text_size) return STATUS_FORMAT;
    out[got] = '\0';
    *text = (Str){out, got};
    return STATUS_OK;
}

static Status read_text(Profile *profile, ProfileStatement statement, u32 module, Str *text, Diag *diag) {
    *text = (Str){"", 0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, statement, module, 0);
    if (query_row(&query)) {
        const void *data = sqlite3_column_blob(query.statement, 1);
        size_t size = (size_t)sqlite3_column_bytes(query.statement, 1);
        status = decompress(profile, data, size, query_u64(&query, 0), text);
    }
    Status ended = query_end(&query, diag);
    if (ended != STATUS_OK || status == STATUS_OK) return ended;
    diag_text(diag, DIAG_ERROR, profile->path, 0, 0, "damaged profile: the text of module %u cannot be read", module);
    return status;
}

Status profile_module_text(Profile *profile, u32 module, Str *text, Diag *diag) {
    return read_text(profile, PROFILE_MODULE_TEXT, module, text, diag);
}

Status profile_module_listing(Profile *profile, u32 module, Str *json, Diag *diag) {
    return read_text(profile, PROFILE_MODULE_LISTING, module, json, diag);
}
