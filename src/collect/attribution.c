// SPDX-License-Identifier: Apache-2.0
// Which launch samples belong to, where CUPTI says so: it runs kernels one at a time then (serialized) and gives each
// sample its launch's correlation id, as activities have it. Samples may come before the launch's activity: they are
// kept until the next fetch, and then until that has come.
#include "collect/collect_inside.h"

static bool is_on(const Collector *c) { return c->host.options.sampling == COLLECT_SAMPLING_SERIALIZED; }

// The kernels of a graph have one correlation id in common.
void attribution_launch(Collector *c, u32 correlation, u32 launch) {
    if (!is_on(c)) return;
    bool shared = map_get(&c->attribution.launches, correlation) != NULL;
    if (map_put(&c->attribution.launches, correlation, shared ? LAUNCH_SHARED : launch) != STATUS_OK)
        collect_dropped(c, "launches that samples belong to", 1);
}

bool attribution_keep(Collector *c, const RecordSamples *of, u32 correlation, const RecordSample *rows) {
    if (!is_on(c) || !correlation) return false;
    for (u32 i = 0; i < of->count; i++) {
        LaunchSample sample = {correlation, *of, rows[i]};
        if (vec_push(&c->attribution.pending, sample) != STATUS_OK) collect_dropped(c, "PC samples", rows[i].samples);
    }
    return true;
}

static bool is_same_group(const LaunchSample *a, const LaunchSample *b) {
    return a->correlation == b->correlation && a->of.function == b->of.function && a->of.source == b->of.source &&
           a->of.period == b->of.period;
}

static void write_group(Collector *c, u32 launch, const LaunchSample *samples, u32 count) {
    RecordSamples r = samples->of;
    r.launch = launch == LAUNCH_SHARED ? 0 : launch;
    r.count = 0;
    c->rows.len = 0;
    for (u32 i = 0; i < count; i++) r.count += vec_push(&c->rows, samples[i].row) == STATUS_OK;
    collect_write(c, RECORD_SAMPLES, &r, c->rows.data, r.count * sizeof *c->rows.data);
    c->rows.len = 0;
}

void attribution_write(Collector *c, bool last) {
    Attribution *a = &c->attribution;
    u32 kept = 0;
    for (u32 first = 0, end; first < a->pending.len; first = end) {
        const LaunchSample *group = &a->pending.data[first];
        for (end = first + 1; end < a->pending.len && is_same_group(group, &a->pending.data[end]);) end++;
        const u64 *launch = map_get(&a->launches, group->correlation);
        if (launch && *launch == LAUNCH_LEFT_OUT) continue;
        if (launch || last)
            write_group(c, launch ? (u32)*launch : 0, group, end - first);
        else
            for (u32 i = first; i < end; i++) a->pending.data[kept++] = a->pending.data[i];
    }
    a->pending.len = kept;
}

void attribution_free(Collector *c) {
    map_free(&c->attribution.launches);
    vec_free(&c->attribution.pending);
}
