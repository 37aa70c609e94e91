// SPDX-License-Identifier: Apache-2.0
#include "store/launch_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CONFIDENCE 1.96  // standard errors that 95 % of a normal distribution lie within

// The launches of one function, or those of them that are alike, in the order of the run.
typedef struct Group {
    const ProfileLaunch *const *rows;
    u32 count;
} Group;
typedef struct Measured {
    u32 count;
    f64 mean, deviation;  // of one launch
    f64 error;            // standard error of the mean
} Measured;

static f64 ns_of(const ProfileLaunch *row) { return row->time.end_ns - row->time.begin_ns; }

static bool is_measured(const ProfileLaunch *row) {
    return ns_of(row) > 0 && !row->time.estimated && row->time.begin_cycle == row->time.end_cycle;
}

static bool lacks_time(const ProfileLaunch *row) {
    return !row->begin_ns && !row->end_ns && !row->time.estimated && ns_of(row) <= 0;
}

static int compare_functions(const ProfileLaunch *a, const ProfileLaunch *b) {
    if (a->function != b->function) return a->function < b->function ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

static int compare_shapes(const ProfileLaunch *a, const ProfileLaunch *b) {
    int grids = memcmp(a->grid, b->grid, sizeof a->grid), blocks = memcmp(a->block, b->block, sizeof a->block);
    if (grids || blocks) return grids ? grids : blocks;
    return (a->dynamic_shared_bytes > b->dynamic_shared_bytes) - (a->dynamic_shared_bytes < b->dynamic_shared_bytes);
}

static int by_function(const void *left, const void *right) {
    const ProfileLaunch *a = *(const ProfileLaunch *const *)left, *b = *(const ProfileLaunch *const *)right;
    int functions = compare_functions(a, b);
    return functions ? functions : (a->index > b->index) - (a->index < b->index);
}

static int by_shape(const void *left, const void *right) {
    const ProfileLaunch *a = *(const ProfileLaunch *const *)left, *b = *(const ProfileLaunch *const *)right;
    int functions = compare_functions(a, b), shapes = compare_shapes(a, b);
    return functions ? functions : shapes ? shapes : (a->index > b->index) - (a->index < b->index);
}

// CUPTI measures neighbours, and neighbours are alike: what is independent is not the launch but the run of launches
// between two that were not measured. So the error is that of a mean of clusters (Cochran, Sampling Techniques, 3rd
// edition, 9A.1).
static f64 error_of_mean(const Group *group, const Measured *m) {
    f64 squares = 0, cluster = 0;
    u32 clusters = 0;
    for (u32 i = 0; i <= group->count; i++) {
        if (i < group->count && is_measured(group->rows[i])) {
            clusters += !i || !is_measured(group->rows[i - 1]);
            cluster += ns_of(group->rows[i]) - m->mean;
            continue;
        }
        squares += cluster * cluster;
        cluster = 0;
    }
    return clusters > 1 ? sqrt(squares * clusters / (clusters - 1)) / m->count : m->deviation;
}

static Measured measure(const Group *group) {
    Measured m = {0};
    f64 sum = 0, squares = 0;
    for (u32 i = 0; i < group->count; i++)
        if (is_measured(group->rows[i])) sum += ns_of(group->rows[i]), m.count++;
    if (!m.count) return m;
    m.mean = sum / m.count;
    for (u32 i = 0; i < group->count; i++)
        if (is_measured(group->rows[i])) squares += pow(ns_of(group->rows[i]) - m.mean, 2);
    m.deviation = m.count > 1 ? sqrt(squares / (m.count - 1)) : m.mean;  // one tells nothing of its spread
    m.error = error_of_mean(group, &m);
    return m;
}

static void set_times(const Group *group, ProfileLaunch *all, const ProfileTime *time) {
    for (u32 i = 0; i < group->count; i++)
        if (lacks_time(group->rows[i])) all[group->rows[i] - all].time = *time;
}

static ProfileTime estimate(const Measured *m, f64 error) {
    return (ProfileTime){
        .known = true, .estimated = true, .end_ns = m->mean, .error_ns = fmin(CONFIDENCE * error, m->mean)};
}

static u32 count_lacking(const Group *group) {
    u32 count = 0;
    for (u32 i = 0; i < group->count; i++) count += lacks_time(group->rows[i]);
    return count;
}

// The time of `lacking` launches together is as uncertain as their mean, and each varies besides.
static void estimate_alike(const Group *group, ProfileLaunch *all) {
    Measured m = measure(group);
    u32 lacking = count_lacking(group);
    if (!m.count || !lacking) return;
    ProfileTime time = estimate(&m, sqrt(m.error * m.error + m.deviation * m.deviation / lacking));
    set_times(group, all, &time);
}

// Launches of which none alike was measured take what the function's others do, give or take how these differ.
static void estimate_others(const Group *group, ProfileLaunch *all) {
    Measured m = measure(group);
    if (!m.count) return;
    ProfileTime time = estimate(&m, m.deviation);
    set_times(group, all, &time);
}

static void each_group(const ProfileLaunch **rows, u32 count, int (*order)(const void *, const void *),
                       bool (*same)(const ProfileLaunch *, const ProfileLaunch *),
                       void (*visit)(const Group *, ProfileLaunch *), ProfileLaunch *all) {
    qsort(rows, count, sizeof *rows, order);
    for (u32 first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && same(rows[first], rows[end]);) end++;
        visit(&(Group){rows + first, end - first}, all);
    }
}

static bool same_function(const ProfileLaunch *a, const ProfileLaunch *b) { return !compare_functions(a, b); }
static bool same_shape(const ProfileLaunch *a, const ProfileLaunch *b) {
    return !compare_functions(a, b) && !compare_shapes(a, b);
}

Status launch_times_estimate(ProfileLaunch *launches, u32 count) {
    bool lacking = false;
    for (u32 i = 0; i < count; i++) lacking |= lacks_time(&launches[i]);
    if (!lacking) return STATUS_OK;
    const ProfileLaunch **rows = mem_alloc(count * sizeof *rows);
    if (!rows) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) rows[i] = &launches[i];
    each_group(rows, count, by_shape, same_shape, estimate_alike, launches);
    each_group(rows, count, by_function, same_function, estimate_others, launches);
    mem_free(rows);
    return STATUS_OK;
}
