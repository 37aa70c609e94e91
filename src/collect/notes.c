// SPDX-License-Identifier: Apache-2.0
// Launches that CUPTI does not record. For a record it takes the kernel's times, which keeps the end of one kernel and
// the beginning of the next apart: a program that launches short kernels on several streams loses 8 % to that. When it
// has cost the program more than a small share of its time, recording ends (CUPTI refuses to begin again while it
// samples), and later launches are noted in their callbacks, with everything but the times.
#include <string.h>

#include "collect/collect_inside.h"

// What a record costs on an H200 (CUDA 13.0), docs/collect.md: of two kernels of different streams that follow each
// other closely, of one stream, of a graph's nodes.
enum { CHANGE_NS = 4500, SAME_NS = 400, NODE_NS = 600, NEAR_NS = 20000 };
enum { ALLOWED_NS = 20000000, ALLOWED_PART = 100 };  // 20 ms and 1 % of the run

// --- on the program's threads -----------------------------------------------------------------------------------
static void note_attributes(LaunchNote *note, const CuptiLaunchConfig *config) {
    for (u32 i = 0; config->attributes && i < config->attribute_count; i++)
        if (config->attributes[i].id == CUPTI_LAUNCH_CLUSTER)
            memcpy(note->cluster, config->attributes[i].value, sizeof note->cluster);
}

// NULL: of several devices at once, or not known.
static const CuptiLaunchShape *shape_of(LaunchNote *note, u32 cbid, const CuptiLaunchParameters *given) {
    if (!given || cbid == CUPTI_LAUNCH_DEVICES) return NULL;
    if (cbid != CUPTI_LAUNCH_EX && cbid != CUPTI_LAUNCH_EX_PTSZ) return &given->shape;
    if (given->config) note_attributes(note, given->config);
    return given->config ? &given->config->shape : NULL;
}

static bool is_per_thread(u32 cbid) {
    return cbid == CUPTI_LAUNCH_PTSZ || cbid == CUPTI_LAUNCH_COOPERATIVE_PTSZ || cbid == CUPTI_LAUNCH_EX_PTSZ;
}

static void note_place(Collector *c, LaunchNote *note, u32 cbid, const CuptiApiCall *call, void *stream) {
    u32 id = 0;
    if (c->cupti.cuptiGetDeviceId(call->context, &id) == CUPTI_OK) note->device = id;
    if (!c->cupti.cuptiGetStreamIdEx) return;
    if (c->cupti.cuptiGetStreamIdEx(call->context, stream, is_per_thread(cbid), &id) == CUPTI_OK) note->stream = id;
}

static void note_shape(Collector *c, LaunchNote *note, u32 cbid, const CuptiApiCall *call) {
    const CuptiLaunchShape *shape = shape_of(note, cbid, call->parameters);
    if (!shape) return;
    memcpy(note->grid, shape->grid, sizeof note->grid);
    memcpy(note->block, shape->block, sizeof note->block);
    note->dynamic_shared = shape->shared;
    note_place(c, note, cbid, call, shape->stream);
}

void notes_launch(Collector *c, u32 cbid, const CuptiApiCall *call, u32 stack) {
    u32 state = atomic_load_explicit(&c->notes.state, memory_order_acquire);
    if (cbid == CUPTI_LAUNCH_GRAPH || cbid == CUPTI_LAUNCH_GRAPH_PTSZ) {
        graphs_launch(c, call, stack, state == NOTES_TAKEN);
        return;
    }
    if (state == NOTES_NONE) return;
    u64 ticket;
    const char *name = call->symbol ? call->symbol : "(unknown)";
    size_t length = strnlen(name, NOTE_NAME_BYTES - 1);
    LaunchNote *note = ring_put(&c->notes.ring, &ticket);
    if (!note) return;
    memset(note, 0, offsetof(LaunchNote, name));
    note->correlation = call->correlation;
    note->stack = stack;
    note->early = state == NOTES_EARLY;
    note_shape(c, note, cbid, call);
    memcpy(note->name, name, length);
    note->name[length] = 0;
    ring_put_end(&c->notes.ring, ticket);
    if (ticket % (NOTE_SLOTS / 4) == 0) sem_post(&c->wake);
}

// --- the writer ---------------------------------------------------------------------------------------------------
static void add_cost(Notes *n, const CuptiKernel *kernel) {
    LastKernel *last = &n->last[kernel->device % NOTE_DEVICES];
    if (!kernel->begin) return;
    bool near = kernel->begin < last->end_ns + NEAR_NS;
    n->cost_ns += kernel->graph ? NODE_NS : near && kernel->stream != last->stream ? CHANGE_NS : SAME_NS;
    *last = (LastKernel){kernel->end, kernel->stream};
}

void notes_recorded(Collector *c, const CuptiKernel *kernel) {
    Notes *n = &c->notes;
    add_cost(n, kernel);
    for (u32 i = 0; i < n->early.len; i++)
        if (n->early.data[i].correlation == kernel->correlation) n->early.data[i].recorded = true;
}

bool notes_are_cheaper(const Collector *c) {
    return c->notes.cost_ns > ALLOWED_NS + (collect_now() - c->begin_ns) / ALLOWED_PART;
}

// A launch that begins while CUPTI ends recording is noted, and may be recorded too.
void notes_begin(Collector *c) {
    if (!ring_make(&c->notes.ring, NOTE_SLOTS, sizeof(LaunchNote))) return;
    callbacks_of_launches(c, true);
    atomic_store(&c->notes.state, NOTES_EARLY);
    CuptiResult result = c->cupti.cuptiActivityDisable(CUPTI_KIND_KERNEL);
    atomic_store(&c->notes.state, result == CUPTI_OK ? NOTES_TAKEN : NOTES_NONE);
}

static RecordLaunchDone launch_of(const LaunchNote *note) {
    RecordLaunchDone r = {.device = note->device, .stream = note->stream, .dynamic_shared_bytes = note->dynamic_shared};
    for (u32 i = 0; i < 3; i++) {
        r.grid[i] = note->grid[i];
        r.block[i] = note->block[i];
        r.cluster[i] = note->cluster[i] ? note->cluster[i] : 1;
    }
    return r;
}

static void take(Collector *c, const LaunchNote *note) {
    RecordLaunchDone r = launch_of(note);
    const CollectFunction *function = names_function(c, note->name);
    if (!function || !function->wanted) return;
    EarlyNote early = {note->correlation, note->stack, (u64)(function - c->names.functions.data), false, r};
    if (note->early && vec_push(&c->notes.early, early) == STATUS_OK) return;
    activity_write_launch(c, function, note->correlation, note->stack, &r);
}

void notes_take(Collector *c) {
    Notes *n = &c->notes;
    const LaunchNote *note;
    if (!n->ring.memory) return;
    for (u64 until = atomic_load(&n->ring.head); (note = ring_take(&n->ring, until)); ring_take_end(&n->ring))
        take(c, note);
    collect_dropped(c, "launches (collector behind)", atomic_exchange(&n->ring.missed, 0));
}

void notes_end(Collector *c) {
    Notes *n = &c->notes;
    notes_take(c);
    for (u32 i = 0; i < n->early.len; i++) {
        EarlyNote *early = &n->early.data[i];
        const CollectFunction *function = &c->names.functions.data[early->function];
        if (!early->recorded) activity_write_launch(c, function, early->correlation, early->stack, &early->launch);
    }
    vec_free(&n->early);
}
