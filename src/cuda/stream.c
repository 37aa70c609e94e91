// SPDX-License-Identifier: Apache-2.0
#include "cuda/stream.h"

#include "cuda/api.h"
#include "cuda/pending.h"

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };  // as on an H200

static CudaStream *new_stream(CudaContext *c, int device) {
    CudaStream *stream = object_new(&c->objects, OBJECT_STREAM, sizeof *stream);
    if (!stream) return NULL;
    stream->id = c->next_stream_id++;
    stream->device = device;
    return stream;
}

Status stream_setup(CudaContext *c) {
    c->next_stream_id = 0;
    for (u32 d = 0; d < c->config.devices; d++) {
        CudaStream *stream = c->devices[d].default_stream = new_stream(c, (int)d);
        if (!stream) return STATUS_NO_MEMORY;
        stream->legacy = true;
    }
    return STATUS_OK;
}

static CudaStream *thread_stream(CudaContext *c) {
    CudaThread *thread = cuda_thread();
    CudaStream **own = &thread->streams[thread->device];
    if (!*own && (*own = new_stream(c, thread->device))) {
        (*own)->per_thread = true;
        cuda_watch_thread();
    }
    return *own;
}

static void delete_stream(CudaContext *c, CudaStream *stream) {
    vec_free(&stream->tips);
    stream->doomed = true;
    object_retire(&c->objects, stream);
    stream_unqueued(c, stream);
}

void stream_unqueued(CudaContext *c, CudaStream *stream) {
    (void)c;
    if (stream->doomed && !stream->queued) mem_free(stream);
}

bool stream_blocks(const CudaStream *stream) { return !stream->legacy && !(stream->flags & cudaStreamNonBlocking); }

void stream_thread_ends(CudaContext *c, CudaThread *thread) {
    for (u32 d = 0; d < WL_COUNT(thread->streams); d++) {
        CudaStream *stream = thread->streams[d];
        if (stream && !stream->capture) delete_stream(c, stream);
        thread->streams[d] = NULL;
    }
}

CudaStream *stream_find(CudaContext *c, cudaStream_t handle) {
    if (!handle) handle = cuda_thread()->per_thread_default ? cudaStreamPerThread : cudaStreamLegacy;
    if (handle == cudaStreamLegacy) return cuda_device(c)->default_stream;
    if (handle == cudaStreamPerThread) return thread_stream(c);
    return object_get(&c->objects, handle, OBJECT_STREAM);
}

static cudaError_t create(CudaContext *c, cudaStream_t *to, unsigned flags, int priority) {
    if (!to || flags & ~(unsigned)cudaStreamNonBlocking) return cudaErrorInvalidValue;
    CudaStream *stream = new_stream(c, cuda_thread()->device);
    if (!stream) return cudaErrorMemoryAllocation;
    stream->flags = flags;
    stream->priority = priority > LEAST_PRIORITY ? LEAST_PRIORITY : priority;
    if (stream->priority < GREATEST_PRIORITY) stream->priority = GREATEST_PRIORITY;
    stream->attributes[cudaLaunchAttributePriority].priority = stream->priority;
    *to = (cudaStream_t)stream;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaStreamCreate(cudaStream_t *pStream) { CUDA_RETURN(c, NEED_HEALTHY, create(c, pStream, 0, 0)); }

CUDA_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, create(c, pStream, flags, 0));
}

CUDA_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority) {
    CUDA_RETURN(c, NEED_HEALTHY, create(c, pStream, flags, priority));
}

static cudaError_t destroy(CudaContext *c, cudaStream_t handle) {
    CudaStream *stream = object_get(&c->objects, handle, OBJECT_STREAM);
    if (!stream || stream->legacy || stream->per_thread) return cudaErrorInvalidResourceHandle;
    if (stream->capture && stream->capture->origin == stream) {
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    delete_stream(c, stream);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaStreamDestroy(cudaStream_t stream) { CUDA_RETURN(c, NEED_HEALTHY, destroy(c, stream)); }

static cudaError_t check_done(CudaContext *c, cudaStream_t handle, bool waits) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
        stream->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
    }
    cudaError_t error = stream_check_implicit(c, stream);
    if (error == cudaSuccess) error = stream_check_uncaptured(c);
    if (error != cudaSuccess) return error;
    PendingSet set = {.stream = stream, .device = -1};
    return waits ? pending_wait(c, set) : pending_query(c, set);
}

CUDA_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, check_done(c, stream, true));
}
CUDA_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, check_done(c, stream, false));
}

static cudaError_t synchronize(CudaContext *c) {
    cudaError_t error = stream_check_synchronize(c);
    return error == cudaSuccess ? pending_wait(c, (PendingSet){.device = cuda_thread()->device}) : error;
}

CUDA_API cudaError_t cudaDeviceSynchronize(void) { CUDA_RETURN(c, NEED_HEALTHY, synchronize(c)); }

// --- what a stream is ---

#define GET(c, handle, to, value)                            \
    do {                                                     \
        CudaStream *stream_ = stream_find(c, handle);        \
        if (!stream_) return cudaErrorInvalidResourceHandle; \
        if (!(to)) return cudaErrorInvalidValue;             \
        *(to) = stream_->value;                              \
        return cudaSuccess;                                  \
    } while (0)

static cudaError_t get_priority(CudaContext *c, cudaStream_t s, int *to) { GET(c, s, to, priority); }
static cudaError_t get_flags(CudaContext *c, cudaStream_t s, unsigned *to) { GET(c, s, to, flags); }
static cudaError_t get_id(CudaContext *c, cudaStream_t s, unsigned long long *to) { GET(c, s, to, id); }
static cudaError_t get_device(CudaContext *c, cudaStream_t s, int *to) { GET(c, s, to, device); }

CUDA_API cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority) {
    CUDA_RETURN(c, NEED_HEALTHY, get_priority(c, hStream, priority));
}
CUDA_API cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags) {
    CUDA_RETURN(c, NEED_HEALTHY, get_flags(c, hStream, flags));
}
CUDA_API cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId) {
    CUDA_RETURN(c, NEED_HEALTHY, get_id(c, hStream, streamId));
}
CUDA_API cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device) {
    CUDA_RETURN(c, NEED_HEALTHY, get_device(c, hStream, device));
}

static cudaError_t priority_range(int *least, int *greatest) {
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
    CUDA_RETURN(c, NEED_HEALTHY, priority_range(leastPriority, greatestPriority));
}

static const bool is_stream_attribute[] = {
    [cudaLaunchAttributeAccessPolicyWindow] = true, [cudaLaunchAttributeSynchronizationPolicy] = true,
    [cudaLaunchAttributePriority] = true,           [cudaLaunchAttributeMemSyncDomainMap] = true,
    [cudaLaunchAttributeMemSyncDomain] = true,      [cudaLaunchAttributeNvlinkUtilCentricScheduling] = true,
};

// The stream's own value of an attribute that streams have.
static cudaError_t attribute(CudaContext *c, cudaStream_t handle, cudaLaunchAttributeID id, const void *value,
                             cudaLaunchAttributeValue **own) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    bool known = (unsigned)id < WL_COUNT(is_stream_attribute) && is_stream_attribute[id];
    if (!known || !value) return cudaErrorInvalidValue;
    *own = &stream->attributes[id];
    return cudaSuccess;
}

static cudaError_t attribute_get(CudaContext *c, cudaStream_t handle, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue *to) {
    cudaLaunchAttributeValue *own;
    cudaError_t error = attribute(c, handle, id, to, &own);
    if (error == cudaSuccess) *to = *own;
    return error;
}

static cudaError_t attribute_set(CudaContext *c, cudaStream_t handle, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *from) {
    cudaLaunchAttributeValue *own;
    cudaError_t error = attribute(c, handle, id, from, &own);
    if (error != cudaSuccess) return error;
    bool window = id == cudaLaunchAttributeAccessPolicyWindow;
    if (window && !(from->accessPolicyWindow.hitRatio >= 0 && from->accessPolicyWindow.hitRatio <= 1))
        return cudaErrorInvalidValue;
    *own = *from;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                            cudaLaunchAttributeValue *value) {
    CUDA_RETURN(c, NEED_HEALTHY, attribute_get(c, hStream, attr, value));
}

CUDA_API cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                            const cudaLaunchAttributeValue *value) {
    CUDA_RETURN(c, NEED_HEALTHY, attribute_set(c, hStream, attr, value));
}

static cudaError_t copy_attributes(CudaContext *c, cudaStream_t to, cudaStream_t from) {
    CudaStream *a = stream_find(c, to), *b = stream_find(c, from);
    if (!a || !b) return cudaErrorInvalidResourceHandle;
    for (u32 i = 0; i < WL_COUNT(a->attributes); i++) a->attributes[i] = b->attributes[i];
    return cudaSuccess;
}

CUDA_API cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    CUDA_RETURN(c, NEED_HEALTHY, copy_attributes(c, dst, src));
}

// --- work of the host ---

static cudaError_t host_function(CudaContext *c, cudaStream_t stream, cudaHostFn_t fn, void *data) {
    if (!fn) return cudaErrorInvalidValue;
    CudaWork work = {.type = cudaGraphNodeTypeHost, .host = {fn, data}};
    return work_submit(c, stream, &work);
}

CUDA_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData) {
    CUDA_RETURN(c, NEED_HEALTHY, host_function(c, stream, fn, userData));
}

static cudaError_t stream_callback(CudaContext *c, CudaCallback call, unsigned flags) {
    if (!call.function || flags) return cudaErrorInvalidValue;
    CudaStream *stream = stream_find(c, call.stream);
    if (!stream) return cudaErrorInvalidResourceHandle;
    cudaError_t error = stream_forbid_capture(stream);
    if (error != cudaSuccess) return error;
    CudaWork work = {.type = WORK_CALLBACK, .callback = call};
    return pending_submit(c, stream, &work);
}

CUDA_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *userData,
                                           unsigned int flags) {
    CudaCallback call = {callback, stream, userData};
    CUDA_RETURN(c, NEED_HEALTHY, stream_callback(c, call, flags));
}

static cudaError_t attach(CudaContext *c, cudaStream_t handle, const void *pointer, size_t length, unsigned flags) {
    CudaStream *stream = stream_find(c, handle);
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)pointer);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!a || a->kind != MEMORY_MANAGED || (length && length != a->size)) return cudaErrorInvalidValue;
    cudaError_t error = stream_forbid_capture(stream);
    if (error != cudaSuccess) return error;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return cudaErrorInvalidValue;
    return flags == cudaMemAttachSingle && (stream->legacy || stream->per_thread) ? cudaErrorInvalidValue : cudaSuccess;
}

CUDA_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, attach(c, stream, devPtr, length, flags));
}
