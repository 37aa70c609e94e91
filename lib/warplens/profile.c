// SPDX-License-Identifier: Apache-2.0
// The public reader of profiles: src/store behind opaque types.
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
