// SPDX-License-Identifier: Apache-2.0
// Stream capture: work becomes nodes of a graph instead of running.
#include "cuda/api.h"
#include "cuda/stream.h"

// Streams that are being captured: calls `visit` for each until it returns an error.
typedef cudaError_t (*CaptureVisit)(CudaContext *c, CudaStream *stream);

static cudaError_t each_captured(CudaContext *c, CaptureVisit visit) {
    u64 key, value;
    if (!c->captures) return cudaSuccess;
    for (u32 at = 0; map_next(&c->objects.kinds, &at, &key, &value);) {
        CudaStream *stream = value == OBJECT_STREAM ? (CudaStream *)(uintptr_t)key : NULL;
        cudaError_t error = stream && stream->capture ? visit(c, stream) : cudaSuccess;
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

static cudaError_t forbid_unsafe(CudaContext *c, CudaStream *stream) {
    (void)c;
    CudaCapture *capture = stream->capture;
    CudaThread *thread = cuda_thread();
    bool mine = capture->thread == thread;
    if (capture->mode == cudaStreamCaptureModeRelaxed || thread->capture_mode == cudaStreamCaptureModeRelaxed)
        return cudaSuccess;
    bool local =
        capture->mode == cudaStreamCaptureModeThreadLocal || thread->capture_mode == cudaStreamCaptureModeThreadLocal;
    if (local && !mine) return cudaSuccess;
    capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

static cudaError_t forbid_synchronize(CudaContext *c, CudaStream *stream) {
    (void)c;
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

static cudaError_t forbid_implicit(CudaContext *c, CudaStream *stream) {
    (void)c;
    if (stream->flags & cudaStreamNonBlocking || stream->device != cuda_thread()->device) return cudaSuccess;
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureImplicit;
}

cudaError_t stream_forbid_capture(CudaStream *stream) {
    if (!stream->capture) return cudaSuccess;
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t stream_check_uncaptured(CudaContext *c) { return each_captured(c, forbid_unsafe); }
cudaError_t stream_check_synchronize(CudaContext *c) { return each_captured(c, forbid_synchronize); }
cudaError_t stream_check_implicit(CudaContext *c, CudaStream *stream) {
    return stream->legacy ? each_captured(c, forbid_implicit) : cudaSuccess;
}

cudaError_t capture_add(CudaContext *c, CudaStream *stream, CudaWork *work, CudaNode **out) {
    CudaNode *node = NULL;
    if (stream->capture->invalid) {
        work_release(c, work);
        return cudaErrorStreamCaptureInvalidated;
    }
    cudaError_t error = graph_add(c, stream->capture->graph, stream->tips.data, stream->tips.len, work, &node);
    if (error != cudaSuccess) return error;
    for (u32 i = 0; stream->programmatic && i < node->needs.len; i++) {
        cudaGraphEdgeData programmatic = {.from_port = 1, .type = 1};
        if (edge_possible(node->needs.data[i], node, programmatic)) node->edges.data[i] = programmatic;
    }
    stream->programmatic = false;
    stream->tips.len = 0;
    if (out) *out = node;
    return cuda_error_of(vec_push(&stream->tips, node));
}

// --- begin and end ---

static cudaError_t begin(CudaContext *c, cudaStream_t handle, cudaGraph_t into, const cudaGraphNode_t *needs,
                         size_t count, enum cudaStreamCaptureMode mode) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed || (count && !needs)) return cudaErrorInvalidValue;
    if (stream->legacy) return cudaErrorStreamCaptureUnsupported;
    if (stream->capture) return cudaErrorIllegalState;
    CudaGraph *graph = into ? object_get(&c->objects, into, OBJECT_GRAPH) : graph_new(c);
    if (!graph) return into ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
    stream->tips.len = 0;
    for (size_t i = 0; i < count; i++) {
        CudaNode *node = object_get(&c->objects, needs[i], OBJECT_NODE);
        if (!node || node->graph != graph) return cudaErrorInvalidValue;
        if (vec_push(&stream->tips, node) != STATUS_OK) return cudaErrorMemoryAllocation;
    }
    CudaCapture *capture = mem_zero(1, sizeof *capture);
    if (!capture) return cudaErrorMemoryAllocation;
    *capture = (CudaCapture){.id = ++c->next_capture_id,
                             .graph = graph,
                             .given_graph = into != NULL,
                             .origin = stream,
                             .mode = mode,
                             .thread = cuda_thread()};
    stream->capture = capture;
    c->captures++;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    CUDA_RETURN(c, NEED_HEALTHY, begin(c, stream, NULL, NULL, 0, mode));
}

CUDA_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                   const cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                                   enum cudaStreamCaptureMode mode) {
    (void)dependencyData;
    CUDA_RETURN(c, NEED_HEALTHY,
                graph ? begin(c, stream, graph, dependencies, numDependencies, mode) : cudaErrorInvalidValue);
}

// Lets every stream of the capture go. False when one has work that the origin never waited for.
static bool release_streams(CudaContext *c, CudaCapture *capture) {
    u64 key, value;
    bool joined = true;
    for (u32 at = 0; map_next(&c->objects.kinds, &at, &key, &value);) {
        CudaStream *stream = value == OBJECT_STREAM ? (CudaStream *)(uintptr_t)key : NULL;
        if (!stream || stream->capture != capture || stream == capture->origin) continue;
        for (u32 i = 0; i < stream->tips.len && joined; i++)
            joined = graph_reaches(capture->graph, &capture->origin->tips, stream->tips.data[i]);
        stream->capture = NULL;
        stream->tips.len = 0;
    }
    capture->origin->capture = NULL;
    capture->origin->tips.len = 0;
    return joined;
}

static cudaError_t end(CudaContext *c, cudaStream_t handle, cudaGraph_t *to) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    CudaCapture *capture = stream->capture;
    if (!capture) return cudaErrorIllegalState;
    cudaGraph_t unwanted;  // who gave the graph need not be told it
    if (!to && !capture->given_graph) return cudaErrorInvalidValue;
    if (!to) to = &unwanted;
    *to = NULL;
    if (capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != cuda_thread())
        return cudaErrorStreamCaptureWrongThread;
    cudaError_t error = capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (!release_streams(c, capture) && error == cudaSuccess) error = cudaErrorStreamCaptureUnjoined;
    c->captures--;
    if (error == cudaSuccess)
        *to = (cudaGraph_t)capture->graph;
    else if (!capture->given_graph)
        graph_destroy(c, capture->graph);
    mem_free(capture);
    return error;
}

CUDA_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph) {
    CUDA_RETURN(c, NEED_DEVICE, end(c, stream, pGraph));
}

// --- questions ---

static enum cudaStreamCaptureStatus status_of(const CudaStream *stream) {
    if (!stream->capture) return cudaStreamCaptureStatusNone;
    return stream->capture->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

static cudaError_t is_capturing(CudaContext *c, cudaStream_t handle, enum cudaStreamCaptureStatus *to) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = stream_check_implicit(c, stream);
    if (error == cudaSuccess) *to = status_of(stream);
    return error;
}

CUDA_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus) {
    CUDA_RETURN(c, NEED_HEALTHY, is_capturing(c, stream, pCaptureStatus));
}

typedef struct CaptureInfo {
    enum cudaStreamCaptureStatus *status;
    unsigned long long *id;
    cudaGraph_t *graph;
    const cudaGraphNode_t **tips;
    const cudaGraphEdgeData **edges;
    size_t *count;
} CaptureInfo;

static cudaError_t info(CudaContext *c, cudaStream_t handle, CaptureInfo to) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!to.status) return cudaErrorInvalidValue;
    *to.status = status_of(stream);
    if (*to.status != cudaStreamCaptureStatusActive) return cudaSuccess;
    if (to.id) *to.id = stream->capture->id;
    if (to.graph) *to.graph = (cudaGraph_t)stream->capture->graph;
    if (to.tips) *to.tips = (const cudaGraphNode_t *)stream->tips.data;
    if (to.edges) *to.edges = NULL;
    if (to.count) *to.count = stream->tips.len;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                              unsigned long long *id_out, cudaGraph_t *graph_out,
                                              const cudaGraphNode_t **dependencies_out,
                                              const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out) {
    CaptureInfo to = {captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out};
    CUDA_RETURN(c, NEED_HEALTHY, info(c, stream, to));
}

static cudaError_t update(CudaContext *c, cudaStream_t handle, cudaGraphNode_t *nodes, size_t count, unsigned flags) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!stream->capture) return cudaErrorIllegalState;
    if (flags > cudaStreamSetCaptureDependencies || (count && !nodes)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        CudaNode *node = object_get(&c->objects, nodes[i], OBJECT_NODE);
        if (!node || node->graph != stream->capture->graph) return cudaErrorInvalidValue;
    }
    if (flags == cudaStreamSetCaptureDependencies) stream->tips.len = 0;
    for (size_t i = 0; i < count; i++)
        if (vec_push(&stream->tips, (CudaNode *)nodes[i]) != STATUS_OK) return cudaErrorMemoryAllocation;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                         const cudaGraphEdgeData *dependencyData,
                                                         size_t numDependencies, unsigned int flags) {
    (void)dependencyData;
    CUDA_RETURN(c, NEED_HEALTHY, update(c, stream, dependencies, numDependencies, flags));
}

static cudaError_t exchange_mode(enum cudaStreamCaptureMode *mode) {
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    enum cudaStreamCaptureMode before = cuda_thread()->capture_mode;
    cuda_thread()->capture_mode = *mode;
    *mode = before;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    CUDA_RETURN(c, NEED_DEVICE, exchange_mode(mode));
}
