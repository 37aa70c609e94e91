// SPDX-License-Identifier: Apache-2.0
#include "collect/pm_timeline.h"

#include <string.h>

#include "base/mem.h"

Status pm_timeline_make(PmTimeline *t, u32 metrics, u64 step) {
    *t = (PmTimeline){.metrics = metrics, .step = step ? step : 1};
    t->values = mem_zero((size_t)PM_POINTS * metrics, sizeof *t->values);
    t->spans = mem_alloc(PM_LATEST * sizeof *t->spans);
    t->latest = mem_alloc((size_t)PM_LATEST * metrics * sizeof *t->latest);
    if (t->values && t->spans && t->latest) return STATUS_OK;
    pm_timeline_free(t);
    return STATUS_NO_MEMORY;
}

void pm_timeline_free(PmTimeline *t) {
    mem_free(t->values);
    mem_free(t->spans);
    mem_free(t->latest);
    *t = (PmTimeline){0};
}

// Cells of time, each with a value of every metric.
typedef struct Cells {
    u64 first, step, end;  // nothing is taken from `end` on
    u32 metrics;
    u64 *values;  // of cell c and metric m: values[c * by_cell + m * by_metric]
    size_t by_cell, by_metric;
} Cells;

static u64 later(u64 a, u64 b) { return a > b ? a : b; }
static u64 earlier(u64 a, u64 b) { return a < b ? a : b; }

// How much of `value` is counted `part` of `whole` ns after the sample's begin.
static u64 share(u64 value, u64 part, u64 whole) { return (u64)((unsigned __int128)value * part / whole); }

static void spread(const Cells *cells, PmSpan span, const u64 *values) {
    u64 whole = span.end - span.begin;
    u64 from = later(span.begin, cells->first), to = earlier(span.end, cells->end);
    while (from < to) {
        u64 cell = (from - cells->first) / cells->step;
        u64 until = earlier(to, cells->first + (cell + 1) * cells->step);
        for (u32 m = 0; m < cells->metrics; m++)
            cells->values[cell * cells->by_cell + m * cells->by_metric] +=
                share(values[m], until - span.begin, whole) - share(values[m], from - span.begin, whole);
        from = until;
    }
}

// Half as many points of twice the time.
static void join(PmTimeline *t) {
    for (u32 p = 0; p < PM_POINTS / 2; p++)
        for (u32 m = 0; m < t->metrics; m++)
            t->values[p * t->metrics + m] = t->values[2 * p * t->metrics + m] + t->values[(2 * p + 1) * t->metrics + m];
    memset(t->values + PM_POINTS / 2 * t->metrics, 0, (size_t)PM_POINTS / 2 * t->metrics * sizeof *t->values);
    t->points = (t->points + 1) / 2;
    t->step *= 2;
}

bool pm_timeline_add(PmTimeline *t, PmSpan span, const u64 *values) {
    if (span.end <= span.begin || span.begin < t->last) return false;
    if (!t->last) t->first = span.begin;
    while ((span.end - t->first - 1) / t->step >= PM_POINTS) join(t);
    Cells cells = {t->first, t->step, t->first + t->step * PM_POINTS, t->metrics, t->values, t->metrics, 1};
    spread(&cells, span, values);
    t->points = (u32)((span.end - t->first - 1) / t->step) + 1;
    t->last = span.end;
    u64 at = t->taken++ % PM_LATEST;
    t->spans[at] = span;
    memcpy(t->latest + at * t->metrics, values, t->metrics * sizeof *values);
    return true;
}

// The first of the latest samples that ends after `time`.
static u64 sample_after(const PmTimeline *t, u64 time) {
    u64 low = t->taken > PM_LATEST ? t->taken - PM_LATEST : 0, high = t->taken;
    while (low < high) {
        u64 middle = low + (high - low) / 2;
        if (t->spans[middle % PM_LATEST].end > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_latest(const PmTimeline *t, u64 time) {
    return t->taken <= PM_LATEST || t->spans[t->taken % PM_LATEST].begin <= time;
}

static void cut_latest(const PmTimeline *t, PmSpan span, const Cells *cells) {
    for (u64 at = sample_after(t, span.begin); at < t->taken; at++) {
        const PmSpan *sample = &t->spans[at % PM_LATEST];
        if (sample->begin >= span.end) break;
        spread(cells, *sample, t->latest + at % PM_LATEST * t->metrics);
    }
}

// From the points of the whole run, when it began too long ago.
static void cut_run(const PmTimeline *t, PmSpan span, const Cells *cells) {
    for (u32 p = (u32)((span.begin - t->first) / t->step); p < t->points; p++) {
        PmSpan point = {t->first + p * t->step, earlier(t->first + (p + 1) * t->step, t->last)};
        if (point.begin >= span.end) break;
        spread(cells, point, t->values + (size_t)p * t->metrics);
    }
}

u32 pm_timeline_cut(const PmTimeline *t, PmSpan span, u64 *step, u64 *values) {
    if (!t->taken || span.begin < t->first || span.end > t->last || span.end <= span.begin) return 0;
    bool latest = is_latest(t, span.begin);
    u64 sample = latest ? sample_after(t, span.begin) % PM_LATEST : 0;
    u64 length = span.end - span.begin, least = latest ? t->spans[sample].end - t->spans[sample].begin : t->step;
    if (length / PM_LEAST_POINTS < least) return 0;
    *step = later(least, (length + PM_LAUNCH_POINTS - 1) / PM_LAUNCH_POINTS);
    u32 points = (u32)((length + *step - 1) / *step);
    memset(values, 0, (size_t)points * t->metrics * sizeof *values);
    Cells cells = {span.begin, *step, span.end, t->metrics, values, 1, points};
    if (latest)
        cut_latest(t, span, &cells);
    else
        cut_run(t, span, &cells);
    return points;
}

void pm_timeline_all(const PmTimeline *t, u64 *values) {
    for (u32 p = 0; p < t->points; p++)
        for (u32 m = 0; m < t->metrics; m++) values[(size_t)m * t->points + p] = t->values[(size_t)p * t->metrics + m];
}
