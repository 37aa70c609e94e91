// SPDX-License-Identifier: Apache-2.0
// NVTX: ranges and marks of the program, which CUPTI records once it has NVTX's table of functions.
#include <dlfcn.h>
#include <string.h>

#include "collect/collect_inside.h"

static void write_span(Collector *c, RecordSpanKind kind, const char *name, u32 thread, u64 begin_ns, u64 end_ns) {
    RecordSpan r = {.kind = kind, .thread = thread, .begin_ns = begin_ns, .end_ns = end_ns};
    collect_write(c, RECORD_SPAN, &r, name, strlen(name) + 1);
}

static void begin(Collector *c, const CuptiMarker *marker, const char *name, u32 thread, u64 now) {
    Ranges *r = &c->ranges;
    Range range = {.begin_ns = now, .thread = thread, .name = mem_copy_str((Str){name, strlen(name)})};
    if (range.name && vec_push(&r->list, range) == STATUS_OK &&
        map_put(&r->open, marker->id, r->list.len - 1) == STATUS_OK)
        return;
    mem_free(range.name);
    collect_dropped(c, "NVTX ranges", 1);
}

static void end(Collector *c, u32 id, u64 now) {
    Ranges *r = &c->ranges;
    u64 *at = map_get(&r->open, id);
    if (!at) return;
    Range *range = &r->list.data[*at];
    write_span(c, SPAN_RANGE, range->name, range->thread, range->begin_ns, now);
    mem_free(range->name);
    range->name = NULL;
    map_remove(&r->open, id);
    while (r->list.len && !r->list.data[r->list.len - 1].name) r->list.len--;  // nested ones end from the inside
}

void ranges_take(Collector *c, const CuptiMarker *marker) {
    u32 thread;
    memcpy(&thread, marker->object + 4, sizeof thread);
    u64 now = marker->time + (u64)c->clock_offset;
    const char *name = marker->name ? marker->name : "";
    if (marker->flags & CUPTI_MARKER_INSTANT) write_span(c, SPAN_MARK, name, thread, now, now);
    if (marker->flags & CUPTI_MARKER_START) begin(c, marker, name, thread, now);
    if (marker->flags & CUPTI_MARKER_END) end(c, marker->id, now);
}

void ranges_end(Collector *c) {
    Ranges *r = &c->ranges;
    for (u32 i = 0; i < r->list.len; i++) {
        const Range *range = &r->list.data[i];
        if (range->name) write_span(c, SPAN_RANGE, range->name, range->thread, range->begin_ns, collect_now());
        mem_free(range->name);
    }
    vec_free(&r->list);
    map_free(&r->open);
}

int collect_nvtx(void *table) {
    char path[4096], looked[256];
    void *library = cupti_open(path, sizeof path, looked, sizeof looked);
    int (*begin_nvtx)(void *) = NULL;
    if (library) *(void **)&begin_nvtx = dlsym(library, "InitializeInjectionNvtx2");
    return begin_nvtx ? begin_nvtx(table) : 0;
}
