// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records as records of the profile.
#include <stdio.h>
#include <string.h>

#include "collect/collect_inside.h"
#include "collect/pm_sampling.h"

static u64 time_of(const Collector *c, u64 time) { return time ? time + (u64)c->clock_offset : 0; }

// The stack's id in the profile, written when it is new. Stacks that differ only in where they lay are one.
static u32 write_stack(Collector *c, u32 index) {
    u64 *known = map_get(&c->written_stacks, index);
    if (known) return (u32)*known;
    const Stack *stack = &c->stacks.entries[index];
    u64 addresses[STACK_FRAMES];
    for (u32 i = 0; i < stack->count; i++) addresses[i] = stack->frames[i].address;
    u64 content = hash_bytes(addresses, stack->count * sizeof *addresses) | 1ull << 63;  // no index
    known = map_get(&c->written_stacks, content);
    u32 id = known ? (u32)*known : objects_write_stack(c, addresses, stack->count);
    if (map_put(&c->written_stacks, index, id) != STATUS_OK || map_put(&c->written_stacks, content, id) != STATUS_OK)
        return 0;
    return id;
}

static bool is_counted(Collector *c) {
    u64 at = c->matched++;
    return at >= c->host.options.launch_skip && at - c->host.options.launch_skip < c->host.options.launch_count;
}

void activity_write_launch(Collector *c, const CollectFunction *function, u32 correlation, u32 stack,
                           RecordLaunchDone *r) {
    if (!is_counted(c)) {
        attribution_launch(c, correlation, LAUNCH_LEFT_OUT);
        arguments_write(c, correlation, 0);
        return;
    }
    r->launch = ++c->launches;
    r->function = function->id;
    r->source = collect_source(c, r->device, false);
    r->stack = stack ? write_stack(c, stack) : 0;
    collect_write(c, RECORD_LAUNCH_DONE, r, NULL, 0);
    attribution_launch(c, correlation, r->launch);
    arguments_write(c, correlation, r->launch);
    pm_sampling_launch(c, r);
}

static void take_kernel(Collector *c, const CuptiKernel *kernel) {
    const CollectFunction *function = names_function(c, kernel->name);
    notes_recorded(c, kernel);
    if (!function || !function->wanted) return;
    bool timed = kernel->end > kernel->begin && notes_leave_time(c, time_of(c, kernel->end));
    RecordLaunchDone r = {.device = kernel->device,
                          .stream = kernel->stream,
                          .dynamic_shared_bytes = (u32)kernel->dynamic_shared,
                          .registers = kernel->registers,
                          .begin_ns = timed ? time_of(c, kernel->begin) : 0,
                          .end_ns = timed ? time_of(c, kernel->end) : 0};
    for (u32 i = 0; i < 3; i++) {
        r.grid[i] = (u32)kernel->grid[i];
        r.block[i] = (u32)kernel->block[i];
        r.cluster[i] = kernel->cluster[i] ? kernel->cluster[i] : 1;
    }
    if (kernel->graph) graphs_learn(c, kernel->correlation, function, &r);
    activity_write_launch(c, function, kernel->correlation, stacks_get(&c->stacks, kernel->correlation), &r);
}

static void take_memcpy(Collector *c, const CuptiMemcpy *copy) {
    static const u8 kinds[] = {[1] = COPY_HOST_TO_DEVICE,   [2] = COPY_DEVICE_TO_HOST,
                               [3] = COPY_HOST_TO_DEVICE,   [4] = COPY_DEVICE_TO_HOST,
                               [5] = COPY_DEVICE_TO_DEVICE, [6] = COPY_DEVICE_TO_DEVICE,
                               [7] = COPY_DEVICE_TO_DEVICE, [8] = COPY_DEVICE_TO_DEVICE,
                               [9] = COPY_HOST_TO_HOST,     [10] = COPY_PEER};  // CUpti_ActivityMemcpyKind
    RecordCopy r = {.source = collect_source(c, copy->device, false),
                    .device = copy->device,
                    .stream = copy->stream,
                    .kind = copy->kind == CUPTI_KIND_MEMCPY2 ? COPY_PEER
                            : copy->copy < WL_COUNT(kinds)   ? kinds[copy->copy]
                                                             : COPY_DEVICE_TO_DEVICE,
                    .bytes = copy->bytes,
                    .begin_ns = time_of(c, copy->begin),
                    .end_ns = time_of(c, copy->end)};
    collect_write(c, RECORD_COPY, &r, NULL, 0);
}

static void take_memset(Collector *c, const CuptiMemset *set) {
    RecordCopy r = {.source = collect_source(c, set->device, false),
                    .device = set->device,
                    .stream = set->stream,
                    .kind = COPY_MEMSET,
                    .bytes = set->bytes,
                    .begin_ns = time_of(c, set->begin),
                    .end_ns = time_of(c, set->end)};
    collect_write(c, RECORD_COPY, &r, NULL, 0);
}

static void take_memory(Collector *c, const CuptiMemory *memory) {
    static const u8 kinds[] = {
        [1] = 2, [2] = 2, [5] = 1, [6] = 3, [7] = 3};  // CUpti_ActivityMemoryKind, RecordAlloc.kind
    RecordAlloc r = {.device = memory->device,
                     .kind = memory->memory < WL_COUNT(kinds) ? kinds[memory->memory] : 0,
                     .address = memory->address,
                     .bytes = memory->bytes,
                     .time_ns = time_of(c, memory->time),
                     .freed = memory->operation == 2};
    const char *label = memory->name ? memory->name : "";
    collect_write(c, RECORD_ALLOC, &r, label, strlen(label) + 1);
}

// Each launch costs the program microseconds, on the GPU too, as long as CUPTI records launches. Serialised samples
// need the launches that are left out, and times.
void activity_end_launches(Collector *c) {
    const CollectOptions *o = &c->host.options;
    if (c->launches_ended || !o->activities || o->sampling == COLLECT_SAMPLING_SERIALIZED) return;
    if (c->matched < o->launch_skip || c->matched - o->launch_skip < o->launch_count) {
        bool notes = atomic_load(&c->notes.state) != NOTES_NONE;
        if (!notes && !o->all_times && notes_are_cheaper(c)) notes_begin(c);
        return;
    }
    c->launches_ended = true;
    CuptiResult ignored = c->cupti.cuptiActivityDisable(CUPTI_KIND_KERNEL);  // then they go on being left out
    (void)ignored;
    callbacks_of_launches(c, false);
}

void activity_read(Collector *c, u8 *buffer, size_t valid) {
    void *record = NULL;
    while (c->cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_OK) {
        switch (*(const u32 *)record) {
        case CUPTI_KIND_KERNEL: take_kernel(c, record); break;
        case CUPTI_KIND_MEMCPY:
        case CUPTI_KIND_MEMCPY2: take_memcpy(c, record); break;
        case CUPTI_KIND_MEMSET: take_memset(c, record); break;
        case CUPTI_KIND_MEMORY2: take_memory(c, record); break;
        case CUPTI_KIND_MARKER: ranges_take(c, record); break;
        default: break;
        }
    }
}
