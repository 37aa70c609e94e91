// SPDX-License-Identifier: Apache-2.0
// Launches that CUPTI does not record. For a record it takes the kernel's times, which keeps the end of one kernel and
// the beginning of the next apart: a program that launches short kernels on several streams loses 8 % to that. When it
// has cost the program more than a small share of its time, recording ends (CUPTI refuses to begin again while it
// samples), and later launches are noted in their callbacks, with everything but the times.
#include <string.h>

#include "collect/collect_inside.h"

// What a record costs on an H200 (CUDA 13.0), docs/collect.md: of two kernels of different streams that follow each
// other closely, and of one stream. Nodes of graphs cost 0.6 us each, which counts for nothing here: of graphs that are
// launched for the first time when nothing is recorded any more the kernels are not known.
enum { CHANGE_NS = 4500, SAME_NS = 400, NEAR_NS = 20000 };
enum { ALLOWED_NS = 10000000, ALLOWED_PART = 100 };  // 10 ms and 1 % of the time since

// --- on the program's threads -----------------------------------------------------------------------------------
static bool is_per_thread(u32 cbid) {
    return cbid == CUPTI_LAUNCH_PTSZ || cbid == CUPTI_LAUNCH_COOPERATIVE_PTSZ || cbid == CUPTI_LAUNCH_EX_PTSZ;
}

static void note_cluster(LaunchNote *note, const CuptiLaunchConfig *config) {
    for (u32 i = 0; config->attributes && i < config->attribute_count; i++)
        if (config->attributes[i].id == CUPTI_LAUNCH_CLUSTER)
            memcpy(note->cluster, config->attributes[i].value, sizeof note->cluster);
}

static void note_shape(LaunchNote *note, const CuptiLaunchShape *shape) {
    memcpy(note->grid, shape->grid, sizeof note->grid);
    memcpy(note->block, shape->block, sizeof note->block);
    note->dynamic_shared = shape->shared;
}

static void put(Collector *c, u32 cbid, const CuptiApiCall *call, const LaunchGiven *given) {
    const CuptiLaunchShape *shape = given->shape;
    u64 ticket;
    const char *name = kernel_names_find(&c->notes.names, call->symbol ? call->symbol : "(unknown)");
    LaunchNote *note = ring_put(&c->notes.ring, &ticket);
    if (!note) return;
    *note = (LaunchNote){.correlation = call->correlation, .name = name ? name : "(unknown)"};
    note->stack = stacks_get(&c->stacks, call->correlation);
    note->early = !call->own || *call->own != NOTES_TAKEN;
    if (shape) note_shape(note, shape);
    if (given->config) note_cluster(note, given->config);
    StreamPlace place = streams_place(c, call->context, shape ? shape->stream : NULL, is_per_thread(cbid));
    note->device = place.device;
    note->stream = place.stream;
    ring_put_end(&c->notes.ring, ticket);
    if (ticket % (NOTE_SLOTS / 4) == 0) sem_post(&c->wake);
}

// What a stream captures is launched with its graph.
static bool is_captured(const Collector *c, void *stream) {
    int status = 0;
    return stream && c->stream_captures && c->stream_captures(stream, &status) == 0 && status != 0;
}

// When it begins. CUPTI keeps *own until it has ended.
void notes_launch(Collector *c, u32 cbid, const CuptiApiCall *call, u32 stack) {
    u32 state = atomic_load_explicit(&c->notes.state, memory_order_acquire);
    if (launch_is_graph(cbid)) graphs_launch(c, call, stack, state == NOTES_TAKEN);
    if (call->own) *call->own = state;
}

void notes_launched(Collector *c, u32 cbid, const CuptiApiCall *call) {
    bool failed = call->result && *(const int *)call->result != 0;
    if (failed || launch_is_graph(cbid) || cbid == CUPTI_LAUNCH_DEVICES) return;
    atomic_fetch_add_explicit(&c->notes.calls, 1, memory_order_relaxed);
    if (atomic_load_explicit(&c->notes.state, memory_order_acquire) == NOTES_NONE) return;
    LaunchGiven given = launch_given(cbid, call->parameters);
    if (!given.shape || !is_captured(c, given.shape->stream)) put(c, cbid, call, &given);
}

// --- the writer ---------------------------------------------------------------------------------------------------
static void add_cost(Notes *n, const CuptiKernel *kernel) {
    LastKernel *last = &n->last[kernel->device % NOTE_DEVICES];
    if (!kernel->begin || kernel->graph) return;
    bool near = kernel->begin < last->end_ns + NEAR_NS;
    n->cost_ns += near && kernel->stream != last->stream ? CHANGE_NS : SAME_NS;
    if (!n->first_ns) n->first_ns = kernel->begin;
    if (kernel->end > n->first_ns + n->elapsed_ns) n->elapsed_ns = kernel->end - n->first_ns;
    *last = (LastKernel){kernel->end, kernel->stream};
}

void notes_recorded(Collector *c, const CuptiKernel *kernel) {
    Notes *n = &c->notes;
    n->told += !kernel->graph;
    add_cost(n, kernel);
    for (u32 i = 0; i < n->early.len; i++)
        if (n->early.data[i].correlation == kernel->correlation) n->early.data[i].recorded = true;
}

// Launches whose records have not come - CUPTI has them, or they wait in the GPU's queues - cost as much as the others.
// Where graphs are launched, some of the calls were captured for these, and cost nothing.
bool notes_are_cheaper(const Collector *c) {
    const Notes *n = &c->notes;
    u64 calls = atomic_load(&c->graphs.ring.head) ? 0 : atomic_load_explicit(&n->calls, memory_order_relaxed);
    f64 with_those = n->told && calls > n->told ? (f64)calls / (f64)n->told : 1;
    return (f64)n->cost_ns * with_those > ALLOWED_NS + (f64)n->elapsed_ns / ALLOWED_PART;
}

// What was under way when recording ended has been seen to end a third of a second too late (CUDA 13.0, nodes of a
// graph): that is no time.
bool notes_leave_time(const Collector *c, u64 end_ns) { return !c->notes.begin_ns || end_ns <= c->notes.begin_ns; }

// A launch that begins while CUPTI ends recording is noted, and may be recorded too.
void notes_begin(Collector *c) {
    if (!kernel_names_make(&c->notes.names) || !ring_make(&c->notes.ring, NOTE_SLOTS, sizeof(LaunchNote))) return;
    callbacks_of_launches(c, true);
    atomic_store(&c->notes.state, NOTES_EARLY);
    c->notes.begin_ns = collect_now();
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

static void write_note(Collector *c, const EarlyNote *note) {
    const CollectFunction *function = &c->names.functions.data[note->function];
    RecordLaunchDone r = note->launch;
    c->notes.told++;
    if (function->wanted) activity_write_launch(c, function, note->correlation, note->stack, &r);
}

static void take(Collector *c, const LaunchNote *note) {
    const CollectFunction *function = names_function(c, note->name);
    if (!function) return;
    EarlyNote early = {.correlation = note->correlation,
                       .stack = note->stack,
                       .function = (u64)(function - c->names.functions.data),
                       .launch = launch_of(note)};
    if (!note->early || vec_push(&c->notes.early, early) != STATUS_OK) write_note(c, &early);
}

void notes_take(Collector *c) {
    Notes *n = &c->notes;
    const LaunchNote *note;
    if (!n->ring.memory) return;
    for (u64 until = atomic_load(&n->ring.head); (note = ring_take(&n->ring, until)); ring_take_end(&n->ring))
        take(c, note);
    u64 missed = atomic_exchange(&n->ring.missed, 0);
    n->dropped += missed;
    collect_dropped(c, "launches (collector behind)", missed);
}

void notes_end(Collector *c) {
    Notes *n = &c->notes;
    notes_take(c);
    for (u32 i = 0; i < n->early.len; i++)
        if (!n->early.data[i].recorded) write_note(c, &n->early.data[i]);
    vec_free(&n->early);
}

// Every launch must have been told of. Where graphs are launched, some of the calls were captured for these.
void notes_check(Collector *c) {
    const Notes *n = &c->notes;
    u64 told = n->told + n->dropped, calls = atomic_load(&n->calls);
    bool all = c->host.options.activities && !c->launches_ended && !atomic_load(&c->graphs.ring.head);
    if (all && calls > told) collect_dropped(c, "launches that CUPTI gave no record of", calls - told);
}
