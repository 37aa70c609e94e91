// SPDX-License-Identifier: Apache-2.0
#include "cuda/work.h"

#include <string.h>

#include "cuda/graph.h"
#include "cuda/graph_condition.h"
#include "cuda/launch.h"
#include "cuda/stream.h"

cudaError_t work_run(CudaContext *c, CudaStream *stream, const CudaWork *work) {
    switch (work->type) {
    case cudaGraphNodeTypeKernel: return launch_run(c, stream, &work->launch);
    case cudaGraphNodeTypeMemcpy: return copy_run(c, stream, &work->copy);
    case cudaGraphNodeTypeMemset: return fill_run(c, stream, &work->fill);
    case cudaGraphNodeTypeHost: cuda_call_host(c, work->host.fn, work->host.userData); return cudaSuccess;
    case cudaGraphNodeTypeGraph: return graph_run(c, stream, work->graph);
    case cudaGraphNodeTypeEventRecord: return event_record_now(c, work->event);
    case cudaGraphNodeTypeMemAlloc: return graph_memory_set(c, work->alloc.dptr, true);
    case cudaGraphNodeTypeMemFree: return graph_memory_set(c, work->freed, false);
    case cudaGraphNodeTypeConditional: return conditional_run(c, stream, &work->conditional);
    default: return cudaSuccess;  // empty nodes, and waits: what they wait for has run
    }
}

cudaError_t work_clone(CudaContext *c, const CudaWork *from, CudaWork *to) {
    *to = *from;
    if (from->type == cudaGraphNodeTypeGraph) return graph_clone(c, from->graph, &to->graph);
    if (from->type == cudaGraphNodeTypeConditional) return conditional_clone(c, &from->conditional, &to->conditional);
    if (from->type != cudaGraphNodeTypeKernel || !from->launch.params) return cudaSuccess;
    to->launch.params = mem_alloc(from->launch.param_bytes);
    if (!to->launch.params) return cudaErrorMemoryAllocation;
    memcpy(to->launch.params, from->launch.params, from->launch.param_bytes);
    return cudaSuccess;
}

void work_release(CudaContext *c, CudaWork *work) {
    if (work->type == cudaGraphNodeTypeKernel) mem_free(work->launch.params);
    if (work->type == cudaGraphNodeTypeGraph) graph_destroy(c, work->graph);
    if (work->type == cudaGraphNodeTypeConditional) conditional_release(c, &work->conditional);
    *work = (CudaWork){.type = cudaGraphNodeTypeEmpty};
}

cudaError_t work_submit(CudaContext *c, cudaStream_t handle, CudaWork *work) {
    CudaStream *stream = stream_find(c, handle);
    cudaError_t error = stream ? stream_check_implicit(c, stream) : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && stream->capture) return capture_add(c, stream, work, NULL);
    if (error == cudaSuccess) error = work_run(c, stream, work);
    work_release(c, work);
    return error;
}
