// SPDX-License-Identifier: Apache-2.0
// The figures of a profile: per launch, per source line, per function. Sums run in the order of launch or pc, so that
// the same profile gives the same last bit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/launch_times.h"
#include "store/pc_totals.h"
#include "store/profile.h"

// The value of a row that holds a metric and its value in two columns, added to `set`.
static void add_value(const Query *query, int column, MetricSet *set) {
    MetricId metric = profile_metric(query->profile, query_u64(query, column));
    f64 value = query_f64(query, column + 1);
    if (metric != METRIC_COUNT && isfinite(value)) metric_add(set, metric, value);
}

// --- launches ---------------------------------------------------------------------------------------------------

typedef Vec(ProfileLaunch) LaunchRows;
static const MetricSet nothing_counted;

static void read_triple(const Query *query, int column, u32 *triple) {
    for (int i = 0; i < 3; i++) triple[i] = query_u32(query, column + i);
}

static Status read_launches(Profile *profile, u32 function, LaunchRows *rows, Map *index, Diag *diag) {
    Status status = STATUS_OK;
    Query query = query_begin(profile, function ? PROFILE_LAUNCHES : PROFILE_LAUNCHES_ALL, function, profile->source);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileLaunch row = {.id = query_u32(&query, 0), .index = query_u32(&query, 1), .metrics = &nothing_counted};
        row.function = query_u32(&query, 2);
        row.source = query_u32(&query, 3);
        read_triple(&query, 4, row.grid);
        read_triple(&query, 7, row.block);
        read_triple(&query, 10, row.cluster);
        row.dynamic_shared_bytes = query_u32(&query, 13);
        row.begin_ns = query_u64(&query, 14);
        row.end_ns = query_u64(&query, 15);
        row.status = query_u32(&query, 16);
        row.device = query_u32(&query, 17);
        row.stream = query_u32(&query, 18);
        row.stack = query_u32(&query, 19);
        status = map_put(index, row.id, rows->len);
        if (status == STATUS_OK) status = vec_push(rows, row);
    }
    return query_finish(&query, status, diag);
}

// Of a launch that something was counted of: most that ran on a GPU have none, and there may be a million launches.
static MetricSet *begin_metrics(Profile *profile, ProfileLaunch *row, Status *status) {
    MetricSet *set = ARENA_ARRAY(&profile->arena, MetricSet, 1);
    if (set) row->metrics = set;
    if (!set) *status = STATUS_NO_MEMORY;
    return set;
}

// Rows come launch by launch.
static Status read_launch_metrics(Profile *profile, u32 function, ProfileLaunch *rows, const Map *index, Diag *diag) {
    u32 launch = 0;
    MetricSet *set = NULL;
    Status status = STATUS_OK;
    Query query = query_begin(profile, function ? PROFILE_LAUNCH_METRICS : PROFILE_LAUNCH_METRICS_ALL, function, 0);
    while (status == STATUS_OK && query_row(&query)) {
        if (!set || launch != query_u32(&query, 0)) {
            if (set) metric_run(profile->program, set);
            launch = query_u32(&query, 0);
            u64 *at = map_get(index, launch);
            set = at ? begin_metrics(profile, &rows[*at], &status) : NULL;
        }
        if (set) add_value(&query, 1, set);
    }
    if (set) metric_run(profile->program, set);
    return query_finish(&query, status, diag);
}

static Status read_launch_times(Profile *profile, u32 function, ProfileLaunch *rows, const Map *index, Diag *diag) {
    Query query = query_begin(profile, function ? PROFILE_LAUNCH_TIMES : PROFILE_LAUNCH_TIMES_ALL, function, 0);
    while (query_row(&query)) {
        u64 *at = map_get(index, query_u64(&query, 0));
        if (!at) continue;
        rows[*at].time = (ProfileTime){.known = true,
                                       .begin_cycle = query_u64(&query, 1),
                                       .end_cycle = query_u64(&query, 2),
                                       .first_cta_cycle = query_u64(&query, 3),
                                       .last_cta_cycle = query_u64(&query, 4),
                                       .begin_ns = query_f64(&query, 5),
                                       .end_ns = query_f64(&query, 6),
                                       .registers = query_u32(&query, 7),
                                       .ctas_per_sm = query_u32(&query, 8),
                                       .overlapped = query_u32(&query, 9) != 0,
                                       .detail = 1};
        u64 cycles = rows[*at].time.end_cycle - rows[*at].time.begin_cycle;
        rows[*at].time.low_cycles = rows[*at].time.high_cycles = cycles;
    }
    return query_end(&query, diag);
}

static Status read_launch_estimates(Profile *profile, ProfileLaunch *rows, const Map *index, Diag *diag) {
    Query query = query_begin(profile, PROFILE_LAUNCH_ESTIMATES, 0, 0);
    while (query_row(&query)) {
        u64 *at = map_get(index, query_u64(&query, 0));
        f64 detail = query_f64(&query, 3);
        if (!at || !rows[*at].time.known) continue;
        ProfileTime *time = &rows[*at].time;
        time->estimated = true;
        time->low_cycles = query_u64(&query, 1);
        time->high_cycles = query_u64(&query, 2);
        time->detail = detail >= 0 && detail <= 1 ? detail : 0;
    }
    return query_end(&query, diag);
}

static Status load_launches(Profile *profile, u32 function, LaunchRows *rows, Map *index, Diag *diag) {
    TRY(read_launches(profile, function, rows, index, diag));
    TRY(read_launch_metrics(profile, function, rows->data, index, diag));
    TRY(read_launch_times(profile, function, rows->data, index, diag));
    TRY(read_launch_estimates(profile, rows->data, index, diag));
    ProfileLaunch *kept = ARENA_ARRAY(&profile->arena, ProfileLaunch, rows->len + 1);
    if (!kept) return profile_tell(profile, diag, STATUS_NO_MEMORY);
    if (rows->len) memcpy(kept, rows->data, rows->len * sizeof *kept);
    Status status = launch_times_estimate(kept, rows->len);
    if (status == STATUS_OK)
        status = profile_remember(profile, &profile->launches, function, (ProfileList){kept, rows->len});
    return status == STATUS_OK ? status : profile_tell(profile, diag, status);
}

Status profile_launches(Profile *profile, u32 function, const ProfileLaunch **launches, u32 *count, Diag *diag) {
    if (!profile_recall(profile, &profile->launches, function)) {
        LaunchRows rows = {0};
        Map index = {0};
        Status status = load_launches(profile, function, &rows, &index, diag);
        vec_free(&rows);
        map_free(&index);
        if (status != STATUS_OK) return status;
    }
    const ProfileList *list = profile_recall(profile, &profile->launches, function);
    *launches = list->rows;
    *count = list->count;
    return STATUS_OK;
}

// --- functions --------------------------------------------------------------------------------------------------

static Status load_totals(Profile *profile, Diag *diag) {
    TRY(profile_load_functions(profile, diag));
    if (profile->has_totals) return STATUS_OK;
    mem_free(profile->totals);
    profile->totals = mem_zero(profile->function_count + 1u, sizeof *profile->totals);
    if (!profile->totals) return profile_tell(profile, diag, STATUS_NO_MEMORY);
    Query query = query_begin(profile, PROFILE_TOTALS, 0, 0);
    while (query_row(&query)) {
        u64 *at = map_get(&profile->function_index, query_u64(&query, 0));
        if (at && profile->functions[*at].source == query_u32(&query, 1)) {
            add_value(&query, 2, &profile->totals[*at]);
        }
    }
    TRY(query_end(&query, diag));
    for (u32 i = 0; i < profile->function_count; i++) metric_run(profile->program, &profile->totals[i]);
    profile->has_totals = true;
    return STATUS_OK;
}

Status profile_function_metrics(Profile *profile, u32 function, MetricSet *metrics, Diag *diag) {
    *metrics = (MetricSet){0};
    TRY(load_totals(profile, diag));
    u64 *at = map_get(&profile->function_index, function);
    if (at) *metrics = profile->totals[*at];
    return STATUS_OK;
}

// --- lines ------------------------------------------------------------------------------------------------------

typedef struct LineBuild {
    Vec(ProfileLine) lines;
    Map by_place;  // file id and line -> position in lines
    Map by_pc;     // pc -> position in lines
} LineBuild;

static Status load_files(Profile *profile, Diag *diag) {
    if (profile->has_files) return STATUS_OK;
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_FILES, 0, 0);
    while (status == STATUS_OK && query_row(&query)) {
        ProfileFile file = {query_text(&query, 1), query_u32(&query, 2) != 0};
        if (!file.path) break;
        status = map_put(&profile->files, query_u64(&query, 0), profile->file_rows.len);
        if (status == STATUS_OK) status = vec_push(&profile->file_rows, file);
    }
    TRY(query_finish(&query, status, diag));
    profile->has_files = true;
    return STATUS_OK;
}

static const ProfileFile *find_file(const Profile *profile, u64 id) {
    u64 *at = map_get(&profile->files, id);
    return at ? &profile->file_rows.data[*at] : NULL;
}

// The rule of the view insn_line in schema.sql.
static ProfilePlace place_of(const Query *query) {
    const ProfileFile *file = find_file(query->profile, query_u64(query, 1));
    const ProfileFile *call = find_file(query->profile, query_u64(query, 3));
    if (!file) return (ProfilePlace){.line = query_u32(query, 6)};
    const char *header = file->system ? file->path : NULL;
    bool at_call = query_u32(query, 5) > 0 && header && call && !call->system;
    if (at_call) return (ProfilePlace){.file = call->path, .line = query_u32(query, 4), .header = header};
    return (ProfilePlace){.file = file->path, .line = query_u32(query, 2), .header = header};
}

static Status find_line(LineBuild *build, Intern *texts, ProfilePlace place, u64 *at) {
    u32 file = 0;  // the text's id, plus 1
    if (place.file) {
        TRY(intern_add(texts, (Str){place.file, strlen(place.file)}, &file));
        file++;
    }
    u64 key = (u64)file << 32 | place.line;
    u64 *known = map_get(&build->by_place, key);
    *at = known ? *known : build->lines.len;
    if (known) return STATUS_OK;
    TRY(map_put(&build->by_place, key, build->lines.len));
    return vec_push(&build->lines, ((ProfileLine){.file = place.file, .line = place.line}));
}

typedef Vec(ProfilePlace) PlaceRows;

// Grows with zeros: instructions without a row are nowhere.
static Status put_place(PlaceRows *rows, u64 pc, ProfilePlace place) {
    if (pc >= PC_LIMIT) return STATUS_OK;
    if (pc >= rows->len) {
        u32 extra = (u32)pc + 1 - rows->len;
        TRY(vec_reserve(rows, extra));
        memset(rows->data + rows->len, 0, extra * sizeof *rows->data);
        rows->len = (u32)pc + 1;
    }
    rows->data[pc] = place;
    return STATUS_OK;
}

static Status load_places(Profile *profile, u32 function, Diag *diag) {
    PlaceRows rows = {0};
    TRY(load_files(profile, diag));
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_INSNS, function, 0);
    while (status == STATUS_OK && query_row(&query)) {
        ProfilePlace place = place_of(&query);
        u32 op = query_u32(&query, 7);
        place.op_class = op & INSN_UNIT;
        place.space = op >> INSN_SPACE_BIT & INSN_SPACE;
        place.atomic = op & INSN_ATOMIC;
        status = put_place(&rows, query_u64(&query, 0), place);
    }
    ProfileList list = {profile_keep(profile, rows.data, rows.len, sizeof *rows.data), rows.len};
    if (status == STATUS_OK && !list.rows) status = STATUS_NO_MEMORY;
    if (status == STATUS_OK) status = profile_remember(profile, &profile->places, function, list);
    vec_free(&rows);
    return query_finish(&query, status, diag);
}

Status profile_places(Profile *profile, u32 function, const ProfilePlace **places, u32 *count, Diag *diag) {
    if (!profile_recall(profile, &profile->places, function)) TRY(load_places(profile, function, diag));
    const ProfileList *list = profile_recall(profile, &profile->places, function);
    *places = list->rows;
    *count = list->count;
    return STATUS_OK;
}

static Status sort_places(Profile *profile, u32 function, LineBuild *build, Diag *diag) {
    const ProfilePlace *places;
    u32 count;
    TRY(profile_places(profile, function, &places, &count, diag));
    for (u32 pc = 0; pc < count; pc++) {
        u64 at;
        Status status = find_line(build, &profile->texts, places[pc], &at);
        if (status == STATUS_OK) status = map_put(&build->by_pc, pc, at);
        if (status != STATUS_OK) return profile_tell(profile, diag, status);
    }
    return STATUS_OK;
}

static Status read_line_metrics(Profile *profile, u32 function, u32 source, LineBuild *build, Diag *diag) {
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_PC_METRICS, function, source);
    while (status == STATUS_OK && query_row(&query)) {
        u64 *known = map_get(&build->by_pc, query_u64(&query, 0)), at = known ? *known : 0;
        if (!known) status = find_line(build, &profile->texts, (ProfilePlace){0}, &at);
        if (status == STATUS_OK) add_value(&query, 1, &build->lines.data[at].metrics);
    }
    return query_finish(&query, status, diag);
}

static int compare_lines(const void *left, const void *right) {
    const ProfileLine *a = left, *b = right;
    if (!a->file != !b->file) return a->file ? -1 : 1;
    int order = a->file ? strcmp(a->file, b->file) : 0;
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static bool has_figures(const ProfileLine *line) { return memchr(line->metrics.present, 1, METRIC_COUNT) != NULL; }

static Status load_lines(Profile *profile, u32 function, u32 source, LineBuild *build, Diag *diag) {
    TRY(sort_places(profile, function, build, diag));
    TRY(read_line_metrics(profile, function, source, build, diag));
    ProfileLine *kept = ARENA_ARRAY(&profile->arena, ProfileLine, build->lines.len + 1);
    if (!kept) return profile_tell(profile, diag, STATUS_NO_MEMORY);
    u32 count = 0;
    for (u32 i = 0; i < build->lines.len; i++) {
        if (has_figures(&build->lines.data[i])) kept[count++] = build->lines.data[i];
    }
    qsort(kept, count, sizeof *kept, compare_lines);
    for (u32 i = 0; i < count; i++) metric_run(profile->program, &kept[i].metrics);
    Status status = profile_remember(profile, &profile->lines, function, (ProfileList){kept, count});
    return status == STATUS_OK ? status : profile_tell(profile, diag, status);
}

Status profile_lines(Profile *profile, u32 function, const ProfileLine **lines, u32 *count, Diag *diag) {
    if (!profile_recall(profile, &profile->lines, function)) {
        TRY(profile_load_functions(profile, diag));
        u64 *at = map_get(&profile->function_index, function);
        u32 source = at ? profile->functions[*at].source : 0;
        LineBuild build = {0};
        Status status = load_lines(profile, function, source, &build, diag);
        vec_free(&build.lines);
        map_free(&build.by_place);
        map_free(&build.by_pc);
        if (status != STATUS_OK) return status;
    }
    const ProfileList *list = profile_recall(profile, &profile->lines, function);
    *lines = list->rows;
    *count = list->count;
    return STATUS_OK;
}

// --- instructions -----------------------------------------------------------------------------------------------

Status profile_pc_metrics(Profile *profile, const ProfileFunction *function, const ProfilePcMetric **counts, u32 *count,
                          Diag *diag) {
    Vec(ProfilePcMetric) rows = {0};
    Status status = STATUS_OK;
    Query query = query_begin(profile, PROFILE_PC_METRICS, function->id, function->source);
    while (status == STATUS_OK && query_row(&query)) {
        ProfilePcMetric row = {query_u32(&query, 0), profile_metric(profile, query_u64(&query, 1)),
                               query_f64(&query, 2)};
        if (row.metric != METRIC_COUNT && isfinite(row.value)) status = vec_push(&rows, row);
    }
    *count = rows.len;
    *counts = profile_keep(profile, rows.data, rows.len, sizeof *rows.data);
    vec_free(&rows);
    if (status == STATUS_OK && !*counts) status = STATUS_NO_MEMORY;
    return query_finish(&query, status, diag);
}

void profile_evaluate(const Profile *profile, MetricSet *metrics) { metric_run(profile->program, metrics); }
