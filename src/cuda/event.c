// SPDX-License-Identifier: Apache-2.0
// Events hold the time at which the work before them was done (cuda_time). Two recordings are at least one microsecond
// apart, so that a rate computed from them is finite.
#include "cuda/api.h"
#include "cuda/pending.h"
#include "cuda/stream.h"

static CudaEvent *find(CudaContext *c, cudaEvent_t handle) { return object_get(&c->objects, handle, OBJECT_EVENT); }

static cudaError_t create(CudaContext *c, cudaEvent_t *to, unsigned flags) {
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!to || flags & ~known) return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
    CudaEvent *event = object_new(&c->objects, OBJECT_EVENT, sizeof *event);
    if (!event) return cudaErrorMemoryAllocation;
    event->flags = flags;
    event->device = cuda_thread()->device;
    *to = (cudaEvent_t)event;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaEventCreate(cudaEvent_t *event) { CUDA_RETURN(c, NEED_HEALTHY, create(c, event, 0)); }

CUDA_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, create(c, event, flags));
}

static cudaError_t destroy(CudaContext *c, cudaEvent_t handle) {
    CudaEvent *event = find(c, handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    vec_free(&event->tips);
    event_mark_release(event->mark);
    object_delete(&c->objects, event);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaEventDestroy(cudaEvent_t event) { CUDA_RETURN(c, NEED_HEALTHY, destroy(c, event)); }

// --- recordings ---

void event_mark_release(EventMark *mark) {
    if (mark && --mark->refs == 0) mem_free(mark);
}

static void set_mark(CudaEvent *event, EventMark *mark) {
    event_mark_release(event->mark);
    event->mark = mark;
    event->recorded = true;
    event->capture = 0;
}

cudaError_t event_issue(CudaContext *c, cudaEvent_t handle, EventMark **to) {
    CudaEvent *event = find(c, handle);
    *to = NULL;
    if (!event) return cudaErrorInvalidResourceHandle;
    EventMark *mark = mem_alloc(sizeof *mark);
    if (!mark) return cudaErrorMemoryAllocation;
    *mark = (EventMark){.refs = 2};  // the event's and the caller's
    set_mark(event, mark);
    *to = mark;
    return cudaSuccess;
}

EventMark *event_mark(CudaContext *c, cudaEvent_t handle) {
    const CudaEvent *event = find(c, handle);
    if (!event || !event->mark || event->mark->done) return NULL;
    event->mark->refs++;
    return event->mark;
}

static bool is_done(const CudaEvent *event) { return !event->mark || event->mark->done; }
static u64 time_of(const CudaEvent *event) { return event->mark ? event->mark->time_ns : event->time_ns; }

cudaError_t event_record_now(CudaContext *c, cudaEvent_t handle, EventMark *mark) {
    CudaEvent *event = mark ? NULL : find(c, handle);
    if (!event && !mark) return cudaErrorInvalidResourceHandle;
    u64 now = cuda_time(c);
    if (now < c->last_event_ns + 1000) now = c->last_event_ns + 1000;
    c->last_event_ns = now;
    if (mark) {
        mark->time_ns = now;
        mark->done = true;
    } else {
        event->time_ns = now;
        set_mark(event, NULL);
    }
    return cudaSuccess;
}

static cudaError_t record(CudaContext *c, cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
    CudaEvent *event = find(c, handle);
    CudaStream *stream = stream_find(c, stream_handle);
    if (!event || !stream || event->device != stream->device) return cudaErrorInvalidResourceHandle;
    if (flags & ~(unsigned)cudaEventRecordExternal) return cudaErrorInvalidValue;
    if (!stream->capture && flags) return cudaErrorIllegalState;
    if (!stream->capture || flags & cudaEventRecordExternal) {
        CudaWork work = {.type = cudaGraphNodeTypeEventRecord, .event = handle};
        return work_submit(c, stream_handle, &work);
    }
    if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    event->capture = stream->capture->id;
    return cuda_error_of(node_list_copy(&event->tips, &stream->tips));
}

CUDA_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, record(c, event, stream, 0));
}

CUDA_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, record(c, event, stream, flags));
}

// The capture an event belongs to, when that is still under way.
static CudaCapture *capture_of(CudaContext *c, const CudaEvent *event, u64 key) {
    CudaStream *stream = event->capture ? object_get(&c->objects, (void *)(uintptr_t)key, OBJECT_STREAM) : NULL;
    return stream && stream->capture && stream->capture->id == event->capture ? stream->capture : NULL;
}

static CudaCapture *find_capture(CudaContext *c, const CudaEvent *event) {
    u64 key, value;
    for (u32 at = 0; event->capture && map_next(&c->objects.kinds, &at, &key, &value);) {
        CudaCapture *capture = value == OBJECT_STREAM ? capture_of(c, event, key) : NULL;
        if (capture) return capture;
    }
    return NULL;
}

static cudaError_t check_done(CudaContext *c, cudaEvent_t handle, bool waits) {
    CudaEvent *event = find(c, handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    CudaCapture *capture = find_capture(c, event);
    if (!capture) {
        cudaError_t error = stream_check_uncaptured(c);
        if (error != cudaSuccess || is_done(event)) return error;
        PendingSet set = {.mark = event->mark, .device = -1};
        return waits ? pending_wait(c, set) : pending_query(c, set);
    }
    capture->invalid = true;
    return cudaErrorCapturedEvent;
}

CUDA_API cudaError_t cudaEventQuery(cudaEvent_t event) { CUDA_RETURN(c, NEED_HEALTHY, check_done(c, event, false)); }
CUDA_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    CUDA_RETURN(c, NEED_HEALTHY, check_done(c, event, true));
}

static cudaError_t elapsed(CudaContext *c, float *ms, cudaEvent_t start_handle, cudaEvent_t end_handle) {
    CudaEvent *start = find(c, start_handle), *end = find(c, end_handle);
    if (!ms) return cudaErrorInvalidValue;
    if ((start && find_capture(c, start)) || (end && find_capture(c, end))) return cudaErrorCapturedEvent;
    if (!start || !end || !start->recorded || !end->recorded) return cudaErrorInvalidResourceHandle;
    if (start->device != end->device || (start->flags | end->flags) & cudaEventDisableTiming)
        return cudaErrorInvalidResourceHandle;
    if (!is_done(start) || !is_done(end)) return cudaErrorNotReady;
    *ms = (float)((double)(i64)(time_of(end) - time_of(start)) * 1e-6);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    CUDA_RETURN(c, NEED_HEALTHY, elapsed(c, ms, start, end));
}

// Waiting for an event that was recorded in a capture makes the stream take part in it.
static cudaError_t join(CudaStream *stream, CudaCapture *capture, const CudaEvent *event) {
    if (stream->capture && stream->capture != capture) return cudaErrorStreamCaptureMerge;
    stream->capture = capture;
    for (u32 i = 0; i < event->tips.len; i++) {
        bool known = false;
        for (u32 k = 0; k < stream->tips.len; k++) known |= stream->tips.data[k] == event->tips.data[i];
        if (!known && vec_push(&stream->tips, event->tips.data[i]) != STATUS_OK) return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

static cudaError_t wait(CudaContext *c, cudaStream_t stream_handle, cudaEvent_t handle, unsigned flags) {
    CudaStream *stream = stream_find(c, stream_handle);
    CudaEvent *event = find(c, handle);
    if (!stream || !event) return cudaErrorInvalidResourceHandle;
    if (flags & ~(unsigned)cudaEventWaitExternal) return cudaErrorInvalidValue;
    CudaCapture *capture = find_capture(c, event);
    if (capture && stream->legacy) {
        capture->invalid = true;
        return cudaErrorStreamCaptureImplicit;
    }
    if (capture) return join(stream, capture, event);
    if (!stream->capture && flags) return cudaErrorIllegalState;
    if (!stream->capture && is_done(event)) return cudaSuccess;
    CudaWork work = {.type = cudaGraphNodeTypeWaitEvent, .event = handle};
    if (!stream->capture) return work_submit(c, stream_handle, &work);
    if (!event->recorded && !flags) return cudaSuccess;
    if (!(flags & cudaEventWaitExternal)) {
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureIsolation;
    }
    return work_submit(c, stream_handle, &work);
}

CUDA_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, wait(c, stream, event, flags));
}
