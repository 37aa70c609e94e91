// SPDX-License-Identifier: Apache-2.0
// The public reader of profiles: src/store behind opaque types.
#include <math.h>
#include <stdio.h>

#include "warplens/profile_inside.h"

void profile_keep_error(WlProfile *p, Status status) {
    if (p->diag.entries.len)
        diag_format(&p->diag.entries.data[p->diag.entries.len - 1], p->error, sizeof p->error);
    else
        snprintf(p->error, sizeof p->error, "%s", status_text(status));
}

static Status load(WlProfile *p, const char *path) {
    TRY(profile_open(path, &p->profile, &p->diag));
    TRY(profile_summary(p->profile, &p->summary, &p->diag));
    return profile_functions(p->profile, &p->functions, &p->count, &p->diag);
}

PUBLIC int wl_profile_open(const char *path, WlProfile **profile) {
    WlProfile *p = mem_zero(1, sizeof *p);
    *profile = p;
    if (!p) return 1;
    Status status = load(p, path);
    if (status == STATUS_OK) return 0;
    profile_keep_error(p, status);
    p->count = 0;
    return 1;
}

PUBLIC void wl_profile_close(WlProfile *p) {
    if (!p) return;
    if (p->profile) profile_close(p->profile);
    diag_free(&p->diag);
    mem_free(p);
}

PUBLIC const char *wl_profile_error(const WlProfile *p) { return p ? p->error : "out of memory"; }
PUBLIC int wl_profile_complete(const WlProfile *p) { return p->summary.complete; }
PUBLIC unsigned wl_profile_kernels(const WlProfile *p) { return p->count; }

PUBLIC const char *wl_kernel_name(const WlProfile *p, unsigned kernel) {
    return kernel < p->count ? p->functions[kernel].name : "";
}

PUBLIC unsigned wl_kernel_launches(const WlProfile *p, unsigned kernel) {
    return kernel < p->count ? p->functions[kernel].launches : 0;
}

static int pick(const MetricSet *set, const char *metric, double *value) {
    MetricId id = metric_find(metric);
    if (id == METRIC_COUNT || !set->present[id]) return 0;
    *value = set->value[id];
    return 1;
}

PUBLIC int wl_kernel_metric(WlProfile *p, unsigned kernel, const char *metric, double *value) {
    MetricSet set = {0};
    if (kernel >= p->count) return 0;
    Status status = profile_function_metrics(p->profile, p->functions[kernel].id, &set, &p->diag);
    if (status != STATUS_OK) return profile_keep_error(p, status), 0;
    return pick(&set, metric, value);
}

static const ProfileLine *lines_of(WlProfile *p, unsigned kernel, u32 *count) {
    const ProfileLine *lines = NULL;
    *count = 0;
    if (kernel >= p->count) return NULL;
    Status status = profile_lines(p->profile, p->functions[kernel].id, &lines, count, &p->diag);
    if (status != STATUS_OK) profile_keep_error(p, status), *count = 0;
    return lines;
}

static const ProfileLine *line_of(WlProfile *p, unsigned kernel, unsigned line) {
    u32 count;
    const ProfileLine *lines = lines_of(p, kernel, &count);
    return line < count ? &lines[line] : NULL;
}

PUBLIC unsigned wl_kernel_lines(WlProfile *p, unsigned kernel) {
    u32 count;
    lines_of(p, kernel, &count);
    return count;
}

PUBLIC const char *wl_line_file(WlProfile *p, unsigned kernel, unsigned line) {
    const ProfileLine *found = line_of(p, kernel, line);
    return found ? found->file : NULL;
}

PUBLIC unsigned wl_line_number(WlProfile *p, unsigned kernel, unsigned line) {
    const ProfileLine *found = line_of(p, kernel, line);
    return found ? found->line : 0;
}

PUBLIC int wl_line_metric(WlProfile *p, unsigned kernel, unsigned line, const char *metric, double *value) {
    const ProfileLine *found = line_of(p, kernel, line);
    return found ? pick(&found->metrics, metric, value) : 0;
}

// --- launches ----------------------------------------------------------------------------------------------------
static const ProfileLaunch *launches_of(WlProfile *p, u32 *count) {
    const ProfileLaunch *launches = NULL;
    *count = 0;
    if (!p->profile) return NULL;
    Status status = profile_launches(p->profile, 0, &launches, count, &p->diag);
    if (status != STATUS_OK) profile_keep_error(p, status), *count = 0;
    return launches;
}

static const ProfileLaunch *launch_of(WlProfile *p, unsigned launch) {
    u32 count;
    const ProfileLaunch *launches = launches_of(p, &count);
    return launch < count ? &launches[launch] : NULL;
}

PUBLIC unsigned wl_profile_launches(WlProfile *p) {
    u32 count;
    launches_of(p, &count);
    return count;
}

PUBLIC unsigned wl_launch_kernel(WlProfile *p, unsigned launch) {
    const ProfileLaunch *found = launch_of(p, launch);
    for (u32 k = 0; found && k < p->count; k++)
        if (p->functions[k].id == found->function) return k;
    return p->count;
}

PUBLIC int wl_launch_metric(WlProfile *p, unsigned launch, const char *metric, double *value) {
    const ProfileLaunch *found = launch_of(p, launch);
    return found ? pick(found->metrics, metric, value) : 0;
}

PUBLIC int wl_launch_cycles(WlProfile *p, unsigned launch, double *cycles, double *low, double *high) {
    const ProfileLaunch *found = launch_of(p, launch);
    if (!found || !found->time.known) return 0;
    *cycles = (double)(found->time.end_cycle - found->time.begin_cycle);
    if (low) *low = (double)found->time.low_cycles;
    if (high) *high = (double)found->time.high_cycles;
    return 1;
}

// --- timelines ---------------------------------------------------------------------------------------------------
struct WlTimeline {
    WlProfile *profile;
    const ProfileTimeline *head;
    TimelineData data;
};

// launch: NULL for the whole run.
static const ProfileTimeline *find_timeline(WlProfile *p, const ProfileLaunch *launch, const char *unit) {
    const ProfileTimeline *rows;
    u32 count;
    Status status = profile_timelines(p->profile, launch ? launch->id : 0, &rows, &count, &p->diag);
    if (status != STATUS_OK) return profile_keep_error(p, status), NULL;
    TimelineUnit wanted = timeline_unit_find(unit);
    for (u32 i = 0; i < count; i++)
        if (rows[i].unit == wanted && wanted != TIMELINE_PC && (!launch || rows[i].source == launch->source))
            return &rows[i];
    return NULL;
}

PUBLIC WlTimeline *wl_timeline_open(WlProfile *p, unsigned launch, const char *unit) {
    const ProfileLaunch *found = launch_of(p, launch);
    bool any = found || launch == WL_WHOLE_RUN;
    const ProfileTimeline *head = any ? find_timeline(p, found, unit) : NULL;
    WlTimeline *t = head ? mem_zero(1, sizeof *t) : NULL;
    if (!t) return NULL;
    t->profile = p;
    t->head = head;
    Status status = timeline_read(p->profile, head, &t->data, &p->diag);
    if (status == STATUS_OK) return t;
    profile_keep_error(p, status);
    mem_free(t);
    return NULL;
}

PUBLIC void wl_timeline_close(WlTimeline *t) {
    if (t) timeline_free(&t->data);
    mem_free(t);
}

PUBLIC unsigned wl_timeline_units(const WlTimeline *t) { return t->head->units; }
PUBLIC unsigned wl_timeline_points(const WlTimeline *t) { return t->head->points; }
PUBLIC unsigned long long wl_timeline_first(const WlTimeline *t) { return t->head->first; }
PUBLIC unsigned long long wl_timeline_step(const WlTimeline *t) { return t->head->step; }
PUBLIC double wl_timeline_cycle_ns(const WlTimeline *t) { return t->head->tick_ns; }

PUBLIC int wl_timeline_metric(WlTimeline *t, const char *metric, int unit, double *values) {
    MetricId id = metric_find(metric);
    int any = 0;
    if (id == METRIC_COUNT || (unit >= 0 && (u32)unit >= t->head->units)) return 0;
    timeline_figure(t->profile->profile, t->head, &t->data, id, unit, values);
    for (u32 p = 0; p < t->head->points; p++) any |= !isnan(values[p]);
    return any;
}
