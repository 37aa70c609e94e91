// SPDX-License-Identifier: Apache-2.0
// CUPTI's number of a stream, and the GPU of its context, for launches and waits that are noted in callbacks. Each
// thread keeps those that it met last, until some stream or context is destroyed, whose address another one may get.
#include "collect/collect_inside.h"

enum { KEPT = 8 };

typedef struct Kept {
    const void *context, *stream;
    u64 turn;  // of destruction when it was looked up, and 1; 0: nothing is kept here
    bool per_thread;
    StreamPlace place;
} Kept;

// CUPTI refuses a stream that is not of the context given; a wait may be for one of another context than the current.
static bool look_up(const Collector *c, void *context, void *stream, bool per_thread, StreamPlace *place) {
    u32 id = 0;
    *place = (StreamPlace){0};
    if (c->cupti.cuptiGetDeviceId(context, &id) == CUPTI_OK) place->device = id;
    if (!c->cupti.cuptiGetStreamIdEx) return true;
    bool known = c->cupti.cuptiGetStreamIdEx(context, stream, per_thread, &id) == CUPTI_OK ||
                 c->cupti.cuptiGetStreamIdEx(NULL, stream, per_thread, &id) == CUPTI_OK;
    if (known) place->stream = id;
    return known;
}

StreamPlace streams_place(Collector *c, void *context, void *stream, bool per_thread) {
    static _Thread_local Kept kept[KEPT];
    u64 turn = atomic_load_explicit(&c->destroyed, memory_order_acquire) + 1;
    Kept *at = &kept[hash_u64((u64)(uintptr_t)stream ^ (u64)(uintptr_t)context * 31) % KEPT];
    if (at->turn == turn && at->context == context && at->stream == stream && at->per_thread == per_thread)
        return at->place;
    Kept found = {context, stream, turn, per_thread, {0}};
    if (look_up(c, context, stream, per_thread, &found.place)) *at = found;
    return found.place;
}

void streams_destroyed(Collector *c) { atomic_fetch_add(&c->destroyed, 1); }
