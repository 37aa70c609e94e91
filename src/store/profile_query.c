// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "store/profile.h"

static const char *const statement_sql[PROFILE_STATEMENT_COUNT] = {
#define X(name, sql) [PROFILE_##name] = sql,
    PROFILE_STATEMENTS(X)
#undef X
};

Status profile_tell(Profile *profile, Diag *diag, Status status) {
    bool damaged = status == STATUS_FORMAT || status == STATUS_INVALID;
    const char *reason = status == STATUS_NO_MEMORY || !profile->db ? status_text(status) : sqlite3_errmsg(profile->db);
    diag_text(diag, DIAG_ERROR, profile->path, 0, 0, "%s: %s", damaged ? "damaged profile" : "cannot read the profile",
              reason);
    return status;
}

MetricId profile_metric(const Profile *profile, u64 id) {
    const u64 *known = map_get(&profile->metrics, id);
    return known ? (MetricId)*known : METRIC_COUNT;
}

Query query_begin(Profile *profile, ProfileStatement statement, u64 first, u64 second) {
    Query query = {.profile = profile, .code = SQLITE_OK};
    sqlite3_stmt **prepared = &profile->statements[statement];
    if (!*prepared) {
        query.code =
            sqlite3_prepare_v3(profile->db, statement_sql[statement], -1, SQLITE_PREPARE_PERSISTENT, prepared, NULL);
        query.absent = query.code == SQLITE_ERROR && strncmp(sqlite3_errmsg(profile->db), "no such table", 13) == 0;
        if (query.absent) query.code = SQLITE_OK;
    }
    query.statement = *prepared;
    if (query.code != SQLITE_OK || query.absent) return query;
    int parameters = sqlite3_bind_parameter_count(query.statement);
    if (parameters >= 1) query.code = sqlite3_bind_int64(query.statement, 1, (i64)first);
    if (parameters >= 2 && query.code == SQLITE_OK) query.code = sqlite3_bind_int64(query.statement, 2, (i64)second);
    return query;
}

bool query_row(Query *query) {
    if (query->code != SQLITE_OK || query->absent) return false;
    int code = sqlite3_step(query->statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) query->code = code;
    return false;
}

Status query_end(Query *query, Diag *diag) {
    Status status = db_status(query->code);
    if (status != STATUS_OK) profile_tell(query->profile, diag, status);  // before reset, which changes the message
    if (query->statement) sqlite3_reset(query->statement);
    return status;
}

Status query_finish(Query *query, Status status, Diag *diag) {
    Status ended = query_end(query, diag);
    return ended == STATUS_OK && status != STATUS_OK ? profile_tell(query->profile, diag, status) : ended;
}

void *profile_keep(Profile *profile, const void *rows, u32 count, size_t size) {
    void *kept = arena_alloc(&profile->arena, count * size + 1, 16);
    if (kept && count) memcpy(kept, rows, count * size);
    return kept;
}

Status profile_remember(Profile *profile, Map *map, u32 function, ProfileList list) {
    TRY(vec_push(&profile->lists, list));
    return map_put(map, function, profile->lists.len - 1);
}

ProfileList *profile_recall(Profile *profile, const Map *map, u32 function) {
    u64 *at = map_get(map, function);
    return at ? &profile->lists.data[*at] : NULL;
}

u32 query_u32(const Query *query, int column) {
    i64 value = sqlite3_column_int64(query->statement, column);
    return value < 0 || value > UINT32_MAX ? 0 : (u32)value;
}

const char *query_text(Query *query, int column) {
    const char *text = (const char *)sqlite3_column_text(query->statement, column);
    bool lost = !text && sqlite3_column_type(query->statement, column) != SQLITE_NULL;
    u32 id;
    if (!lost &&
        intern_add(&query->profile->texts, (Str){text ? text : "", text ? strlen(text) : 0}, &id) == STATUS_OK) {
        return intern_text(&query->profile->texts, id);
    }
    query->code = SQLITE_NOMEM;
    return NULL;
}
