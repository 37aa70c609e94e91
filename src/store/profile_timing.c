// SPDX-License-Identifier: Apache-2.0
// What a profile says about time: stalls and their causes, samples, latencies, counters over time.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "store/profile.h"
#include "store/timeline_code.h"

// --- stalls -----------------------------------------------------------------------------------------------------

// Ends a query whose rows were kept (NULL: memory was out).
static Status end_rows(Query *query, const void *kept, Status status, Diag *diag) {
    return query_finish(query, status == STATUS_OK && !kept ? STATUS_NO_MEMORY : status, diag);
}

Status profile_stalls(Profile *profile, u32 source, const ProfileStall **stalls, u32 *count, Diag *diag) {
    Vec(ProfileStall) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_STALLS, source, 0);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileStall row = {query_u32(&query, 0), query_text(&query, 1), query_text(&query, 2)};
        if (query.code == SQLITE_OK) status = vec_push(&rows, row);
    }
    *count = rows.len;
    *stalls = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return end_rows(&query, *stalls, status, diag);
}

Status profile_stall_causes(Profile *profile, const ProfileFunction *function, const ProfileStallCause **causes,
                            u32 *count, Diag *diag) {
    Vec(ProfileStallCause) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_STALL_CAUSES, function->id, function->source);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileStallCause row = {query_u32(&query, 0), query_u32(&query, 1), query_u32(&query, 2),
                                 query_u32(&query, 3), query_u64(&query, 4), query_u64(&query, 5)};
        status = vec_push(&rows, row);
    }
    *count = rows.len;
    *causes = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return end_rows(&query, *causes, status, diag);
}

// --- samples ----------------------------------------------------------------------------------------------------

typedef struct SampleRow {
    u64 key;  // source << 32 | function
    ProfileSample sample;
} SampleRow;
typedef Vec(SampleRow) SampleRows;

static int compare_samples(const void *left, const void *right) {
    const SampleRow *a = left, *b = right;
    const ProfileSample *x = &a->sample, *y = &b->sample;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
    if (x->stall != y->stall) return x->stall < y->stall ? -1 : 1;
    return (x->period > y->period) - (x->period < y->period);
}

static Status read_samples(Profile *profile, SampleRows *rows, Diag *diag) {
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_SAMPLES, 0, 0);
    while (status == STATUS_OK && query_row(&query)) {
        u64 key = (u64)query_u32(&query, 1) << 32 | query_u32(&query, 0);
        ProfileSample row = {query_u32(&query, 2), query_u32(&query, 3), query_u32(&query, 4),
                             query_u64(&query, 5), query_u64(&query, 6), query_u64(&query, 7)};
        status = vec_push(rows, ((SampleRow){key, row}));
    }
    return query_finish(&query, status, diag);
}

// A function that has nothing but samples: its source is theirs.
static void note_source(Profile *profile, u64 key) {
    u64 *at = map_get(&profile->function_index, (u32)key);
    if (at && !profile->functions[*at].source) profile->functions[*at].source = (u32)(key >> 32);
}

// Sorted rows into lists, one for each source and function.
static Status keep_samples(Profile *profile, const SampleRows *rows) {
    ProfileSample *kept = arena_alloc(&profile->arena, rows->len * sizeof *kept + 1, 16);
    if (!kept) return STATUS_NO_MEMORY;
    for (u32 i = 0, first = 0; i < rows->len; i++) {
        kept[i] = rows->data[i].sample;
        u64 key = rows->data[i].key;
        if (i + 1 < rows->len && rows->data[i + 1].key == key) continue;
        TRY(vec_push(&profile->lists, ((ProfileList){kept + first, i + 1 - first})));
        TRY(map_put(&profile->samples, key, profile->lists.len - 1));
        note_source(profile, key);
        first = i + 1;
    }
    return STATUS_OK;
}

// The table is ordered by launch: one pass for all functions, instead of one for each.
static Status load_samples(Profile *profile, Diag *diag) {
    TRY(profile_load_functions(profile, diag));
    SampleRows rows = {0};
    Status status = read_samples(profile, &rows, diag);
    bool sorted = true;
    for (u32 i = 1; i < rows.len && sorted; i++) sorted = compare_samples(&rows.data[i - 1], &rows.data[i]) <= 0;
    if (!sorted) qsort(rows.data, rows.len, sizeof *rows.data, compare_samples);
    if (status == STATUS_OK) {
        status = keep_samples(profile, &rows);
        if (status != STATUS_OK) profile_tell(profile, diag, status);
    }
    vec_free(&rows);
    profile->has_samples = status == STATUS_OK;
    return status;
}

Status profile_samples(Profile *profile, const ProfileFunction *function, const ProfileSample **samples, u32 *count,
                       Diag *diag) {
    *samples = NULL;
    *count = 0;
    if (!profile->has_samples) TRY(load_samples(profile, diag));
    u64 *at = map_get(&profile->function_index, function->id);
    u32 source = function->source || !at ? function->source : profile->functions[*at].source;
    u64 *found = map_get(&profile->samples, (u64)source << 32 | function->id);
    if (!found) return STATUS_OK;
    const ProfileList *list = &profile->lists.data[*found];
    *samples = list->rows;
    *count = list->count;
    return STATUS_OK;
}

Status profile_latencies(Profile *profile, const ProfileFunction *function, const ProfileLatency **latencies,
                         u32 *count, Diag *diag) {
    Vec(ProfileLatency) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_LATENCIES, function->id, function->source);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileLatency row = {query_u32(&query, 0), query_u32(&query, 1), query_u64(&query, 2)};
        ProfileLatency *last = rows.len ? &rows.data[rows.len - 1] : NULL;
        bool same = last && last->low == row.low && last->high == row.high;
        if (same) last->count += row.count;
        if (!same) status = vec_push(&rows, row);
    }
    *count = rows.len;
    *latencies = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return end_rows(&query, *latencies, status, diag);
}

// --- timelines --------------------------------------------------------------------------------------------------

static TimelineShape shape_of(const ProfileTimeline *t) { return (TimelineShape){t->metrics, t->units, t->points}; }

Status profile_timelines(Profile *profile, u32 launch, const ProfileTimeline **timelines, u32 *count, Diag *diag) {
    Vec(ProfileTimeline) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_TIMELINES, launch, 0);
    while (status == STATUS_OK && query_row(&query)) {
        const char *unit = query_text(&query, 1);
        ProfileTimeline row = {.launch = launch,
                               .source = query_u32(&query, 0),
                               .unit = unit ? timeline_unit_find(unit) : TIMELINE_UNIT_COUNT,
                               .function = query_u32(&query, 2),
                               .units = query_u32(&query, 3),
                               .metrics = query_u32(&query, 4),
                               .points = query_u32(&query, 5),
                               .first = query_u64(&query, 6),
                               .step = query_u64(&query, 7),
                               .tick_ns = query_f64(&query, 8)};
        const char *provenance = query_text(&query, 9);
        row.on_gpu = provenance && strcmp(provenance, provenance_name(PROVENANCE_COUNTED)) == 0;
        bool known = row.unit != TIMELINE_UNIT_COUNT && timeline_possible(shape_of(&row)) && isfinite(row.tick_ns);
        if (known && query.code == SQLITE_OK) status = vec_push(&rows, row);
    }
    *count = rows.len;
    *timelines = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    return end_rows(&query, *timelines, status, diag);
}

// A frame may claim any size: one that these values cannot have is refused before memory is taken for it.
static Status unpack(Profile *profile, const ProfileTimeline *timeline, const void *frame, size_t size,
                     TimelineData *data) {
    TimelineShape shape = shape_of(timeline);
    unsigned long long bytes = frame ? ZSTD_getFrameContentSize(frame, size) : ZSTD_CONTENTSIZE_ERROR;
    u64 values = (u64)shape.metrics * shape.units * shape.points;
    if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN) return STATUS_FORMAT;
    if (bytes < values || bytes > (values + shape.metrics) * 10) return STATUS_FORMAT;
    u8 *packed = mem_alloc(bytes + 1);
    u64 *ids = mem_alloc(shape.metrics * sizeof *ids);
    data->values = mem_alloc(values * sizeof *data->values);
    data->metrics = mem_alloc(shape.metrics * sizeof *data->metrics);
    Status status = packed && ids && data->values && data->metrics ? STATUS_OK : STATUS_NO_MEMORY;
    if (status == STATUS_OK && ZSTD_decompress(packed, bytes, frame, size) != bytes) status = STATUS_FORMAT;
    if (status == STATUS_OK) status = timeline_unpack(shape, packed, bytes, ids, data->values);
    for (u32 m = 0; m < shape.metrics && status == STATUS_OK; m++) data->metrics[m] = profile_metric(profile, ids[m]);
    mem_free(packed);
    mem_free(ids);
    return status;
}

Status timeline_read(Profile *profile, const ProfileTimeline *timeline, TimelineData *data, Diag *diag) {
    *data = (TimelineData){0};
    Status status = STATUS_NOT_FOUND;
    Query query = query_begin(profile, PROFILE_TIMELINE_DATA, timeline->launch, timeline->source);
    while (status == STATUS_NOT_FOUND && query_row(&query)) {
        const char *unit = query_text(&query, 1);
        if (!unit || timeline_unit_find(unit) != timeline->unit || query_u32(&query, 2) != timeline->function) continue;
        const void *frame = sqlite3_column_blob(query.statement, 3);
        status = unpack(profile, timeline, frame, (size_t)sqlite3_column_bytes(query.statement, 3), data);
    }
    Status ended = query_end(&query, diag);
    if (ended == STATUS_OK && status == STATUS_OK) return STATUS_OK;
    timeline_free(data);
    if (ended != STATUS_OK) return ended;
    diag_text(diag, DIAG_ERROR, profile->path, 0, 0, "%s: the timeline of launch %u cannot be read: %s",
              status == STATUS_NO_MEMORY ? "out of memory" : "damaged profile", timeline->launch, status_text(status));
    return status;
}

void timeline_free(TimelineData *data) {
    mem_free(data->values);
    mem_free(data->metrics);
    *data = (TimelineData){0};
}

static f64 point_of(const ProfileTimeline *t, const TimelineData *data, u32 metric, i64 unit, u32 point) {
    const u64 *values = data->values + (u64)metric * t->units * t->points + point;
    if (unit >= 0) return (f64)values[(u64)unit * t->points];
    u64 sum = 0;
    for (u32 u = 0; u < t->units; u++) sum += values[(u64)u * t->points];
    return (f64)sum;
}

void timeline_point_metrics(Profile *profile, const ProfileTimeline *t, const TimelineData *data, i64 unit, u32 point,
                            MetricSet *set) {
    *set = (MetricSet){0};
    for (u32 m = 0; m < t->metrics; m++)
        if (data->metrics[m] != METRIC_COUNT) metric_add(set, data->metrics[m], point_of(t, data, m, unit, point));
    if (t->on_gpu)
        metric_run_complete(profile->program, set);
    else
        metric_run(profile->program, set);
}

void timeline_figure(Profile *profile, const ProfileTimeline *t, const TimelineData *data, MetricId metric, i64 unit,
                     f64 *values) {
    for (u32 p = 0; p < t->points; p++) {
        MetricSet set;
        timeline_point_metrics(profile, t, data, unit, p, &set);
        values[p] = set.present[metric] ? set.value[metric] : (f64)NAN;
    }
}
