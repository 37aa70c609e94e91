// SPDX-License-Identifier: Apache-2.0
// Arguments of launches: of each kernel and shape those of the first ones, then of the 8th, the 16th and so on. They
// are copied in the callback at the launch's entry, and wait for the launch's record.
#include <string.h>

#include "collect/collect_inside.h"

enum { FIRST_LAUNCHES = 4, MOST_WAITING = 4096 };
// What cuLaunchKernel's `extra` has pairs of, each with a pointer.
enum { EXTRA_BUFFER = 1, EXTRA_SIZE = 2 };

// --- on the program's threads -----------------------------------------------------------------------------------
// How often the kernel was launched in this shape before; UINT64_MAX: there is no room to tell.
static u64 launched_before(Arguments *a, const LaunchGiven *given) {
    u64 shape[4] = {(u64)(size_t)given->function};
    memcpy(shape + 1, given->shape->grid, sizeof given->shape->grid + sizeof given->shape->block);
    u64 key = hash_bytes(shape, sizeof shape) | 1;
    for (u32 i = 0; i < ARGUMENT_PROBES; i++) {
        ArgumentCount *count = &a->counts[((key >> 1) + i) % ARGUMENT_SLOTS];
        u64 is = atomic_load_explicit(&count->key, memory_order_relaxed);
        if (is == key || (!is && (atomic_compare_exchange_strong(&count->key, &is, key) || is == key)))
            return atomic_fetch_add_explicit(&count->launches, 1, memory_order_relaxed);
    }
    return UINT64_MAX;
}

static bool is_taken(u64 before) {
    return before < FIRST_LAUNCHES || (before != UINT64_MAX && !(before & (before + 1)));
}

static void copy_buffer(void *const *extra, ArgumentNote *note) {
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; (size_t)extra[0] == EXTRA_BUFFER || (size_t)extra[0] == EXTRA_SIZE; extra += 2) {
        if ((size_t)extra[0] == EXTRA_BUFFER) buffer = extra[1];
        if ((size_t)extra[0] == EXTRA_SIZE) size = extra[1];
    }
    if (!buffer || !size) return;
    note->size = (u32)(*size < sizeof note->data ? *size : sizeof note->data);
    memcpy(note->data, buffer, note->size);
}

// The runtime hands over kernels of libraries (CUkernel) where functions are asked for.
static bool place_of(const Collector *c, void *function, u32 nth, size_t *offset, size_t *size) {
    return (c->function_parameter && c->function_parameter(function, nth, offset, size) == 0) ||
           (c->kernel_parameter && c->kernel_parameter(function, nth, offset, size) == 0);
}

static void copy_each(const Collector *c, const LaunchGiven *given, ArgumentNote *note) {
    size_t offset, size;
    memset(note->data, 0, sizeof note->data);
    for (u32 i = 0; place_of(c, given->function, i, &offset, &size); i++) {
        if (!given->arguments[i] || offset >= sizeof note->data) return;
        size_t bytes = size < sizeof note->data - offset ? size : sizeof note->data - offset;
        memcpy(note->data + offset, given->arguments[i], bytes);
        note->size = (u32)(offset + bytes);
    }
}

void arguments_launch(Collector *c, u32 cbid, const CuptiApiCall *call) {
    Arguments *a = &c->arguments;
    LaunchGiven given = launch_given(cbid, call->parameters);
    u64 ticket;
    if (!a->ring.memory || !given.shape || !given.function || (!given.arguments && !given.extra)) return;
    if (!is_taken(launched_before(a, &given))) return;
    ArgumentNote *note = ring_put(&a->ring, &ticket);
    if (!note) return;  // the writer is behind: later ones will do
    note->correlation = call->correlation;
    note->size = 0;
    if (given.arguments)
        copy_each(c, &given, note);
    else
        copy_buffer(given.extra, note);
    ring_put_end(&a->ring, ticket);
}

// --- the writer -------------------------------------------------------------------------------------------------
// Launches that a graph captures never come: when too many wait for theirs, the latest ones are left out.
void arguments_take(Collector *c) {
    Arguments *a = &c->arguments;
    const ArgumentNote *note;
    if (!a->ring.memory) return;
    for (u64 until = atomic_load(&a->ring.head); (note = ring_take(&a->ring, until)); ring_take_end(&a->ring)) {
        if (!note->size || a->waiting.len == MOST_WAITING || map_get(&a->by_correlation, note->correlation)) continue;
        if (map_put(&a->by_correlation, note->correlation, a->waiting.len) != STATUS_OK) continue;
        if (vec_push(&a->waiting, *note) != STATUS_OK) map_remove(&a->by_correlation, note->correlation);
    }
}

void arguments_write(Collector *c, u32 correlation, u32 launch) {
    Arguments *a = &c->arguments;
    const u64 *at = map_get(&a->by_correlation, correlation);
    if (!at) return;
    ArgumentNote *note = &a->waiting.data[*at], *last = &a->waiting.data[a->waiting.len - 1];
    RecordLaunchArguments r = {launch, note->size};
    if (launch) collect_write(c, RECORD_LAUNCH_ARGUMENTS, &r, note->data, note->size);
    if (note != last) *map_get(&a->by_correlation, last->correlation) = *at;
    map_remove(&a->by_correlation, correlation);
    if (note != last) *note = *last;
    a->waiting.len--;
}

void arguments_free(Arguments *arguments) {
    vec_free(&arguments->waiting);
    map_free(&arguments->by_correlation);
}
