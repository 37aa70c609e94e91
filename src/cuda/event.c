// SPDX-License-Identifier: Apache-2.0
// Events hold the host's monotonic time at which the work before them was done. Two recordings are at least one
// microsecond apart, so that a rate computed from them is finite.
#include "cuda/api.h"
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
    object_delete(&c->objects, event);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaEventDestroy(cudaEvent_t event) { CUDA_RETURN(c, NEED_HEALTHY, destroy(c, event)); }

cudaError_t event_record_now(CudaContext *c, cudaEvent_t handle) {
    CudaEvent *event = find(c, handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    u64 now = cuda_now();
    if (now < c->last_event_ns + 1000) now = c->last_event_ns + 1000;
    event->time_ns = c->last_event_ns = now;
    event->recorded = true;
    event->capture = 0;
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

static cudaError_t check_done(CudaContext *c, cudaEvent_t handle) {
    CudaEvent *event = find(c, handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    CudaCapture *capture = find_capture(c, event);
    if (!capture) return stream_check_uncaptured(c);
    capture->invalid = true;
    return cudaErrorCapturedEvent;
}

CUDA_API cudaError_t cudaEventQuery(cudaEvent_t event) { CUDA_RETURN(c, NEED_HEALTHY, check_done(c, event)); }
CUDA_API cudaError_t cudaEventSynchronize(cudaEvent_t event) { CUDA_RETURN(c, NEED_HEALTHY, check_done(c, event)); }

static cudaError_t elapsed(CudaContext *c, float *ms, cudaEvent_t start_handle, cudaEvent_t end_handle) {
    CudaEvent *start = find(c, start_handle), *end = find(c, end_handle);
    if (!ms) return cudaErrorInvalidValue;
    if ((start && find_capture(c, start)) || (end && find_capture(c, end))) return cudaErrorCapturedEvent;
    if (!start || !end || !start->recorded || !end->recorded) return cudaErrorInvalidResourceHandle;
    if (start->device != end->device || (start->flags | end->flags) & cudaEventDisableTiming)
        return cudaErrorInvalidResourceHandle;
    *ms = (float)((double)(i64)(end->time_ns - start->time_ns) * 1e-6);
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
    if (!stream->capture) return flags ? cudaErrorIllegalState : cudaSuccess;  // what it stands for has run
    if (!event->recorded && !flags) return cudaSuccess;
    if (!(flags & cudaEventWaitExternal)) {
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureIsolation;
    }
    CudaWork work = {.type = cudaGraphNodeTypeWaitEvent, .event = handle};
    return work_submit(c, stream_handle, &work);
}

CUDA_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, wait(c, stream, event, flags));
}
