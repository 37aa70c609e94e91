// SPDX-License-Identifier: Apache-2.0
// The program's waits for the GPU. CUPTI has a kind of activity for them, which costs PyTorch 5 us a launch on an H200
// (docs/collect.md): callbacks of the few functions that wait cost as much as their calls. They run on the program's
// threads and put the waits into a ring, which the writer empties; when it is full they are counted.
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/collect_inside.h"

static const char *name_of(u32 cbid) {
    switch (cbid) {
#define X(id, function, name) \
    case id: return name;
        CUPTI_WAIT_CBIDS(X)
#undef X
    default: return NULL;
    }
}

bool waits_is_one(u32 cbid) { return name_of(cbid) != NULL; }

// Of the calling thread, asked for once: a call of the kernel takes longer than all else here. A forked child, which
// has another, is not collected.
static u32 thread_id(void) {
    static _Thread_local u32 id;
    if (!id) id = (u32)syscall(SYS_gettid);
    return id;
}

// The first parameter of those that wait for a stream is the stream.
static u32 stream_of(Collector *c, const CuptiApiCall *call, u32 cbid) {
    bool per_thread = cbid == CUPTI_STREAM_WAIT_PTSZ;
    if ((cbid != CUPTI_STREAM_WAIT && !per_thread) || !call->parameters) return 0;
    return streams_place(c, call->context, *(void *const *)call->parameters, per_thread).stream;
}

// CUPTI keeps *own from the beginning of a call to its end.
void waits_call(Collector *c, u32 cbid, const CuptiApiCall *call) {
    if (!call->own) return;
    u64 now = collect_now();
    if (call->site == 0) {
        *call->own = now;
        return;
    }
    if (!*call->own || *call->own > now) return;  // begun before it was listened to
    u64 ticket;
    Wait *wait = ring_put(&c->waits, &ticket);
    if (!wait) return;
    *wait = (Wait){
        .cbid = cbid, .stream = stream_of(c, call, cbid), .thread = thread_id(), .begin_ns = *call->own, .end_ns = now};
    ring_put_end(&c->waits, ticket);
}

void waits_take(Collector *c) {
    const Wait *wait;
    for (u64 until = atomic_load(&c->waits.head); (wait = ring_take(&c->waits, until)); ring_take_end(&c->waits)) {
        const char *name = name_of(wait->cbid);
        RecordSpan r = {.kind = SPAN_SYNC,
                        .thread = wait->thread,
                        .stream = wait->stream,
                        .begin_ns = wait->begin_ns,
                        .end_ns = wait->end_ns};
        collect_write(c, RECORD_SPAN, &r, name, strlen(name) + 1);
    }
    collect_dropped(c, "waits for the GPU", atomic_exchange(&c->waits.missed, 0));
}
