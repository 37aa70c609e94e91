// SPDX-License-Identifier: Apache-2.0
#include "cuda/graph_work.h"

#include "cuda/graph_condition.h"
#include "cuda/launch.h"
#include "cuda/stream.h"

CudaGraph *graph_find(CudaContext *c, cudaGraph_t handle) { return object_get(&c->objects, handle, OBJECT_GRAPH); }
CudaNode *node_find(CudaContext *c, cudaGraphNode_t handle) { return object_get(&c->objects, handle, OBJECT_NODE); }

cudaError_t make_kernel(CudaContext *c, const struct cudaKernelNodeParams *p, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeKernel};
    if (!p) return cudaErrorInvalidValue;
    if (!p->func) return cudaErrorInvalidDeviceFunction;
    work->launch = (CudaLaunch){.grid = p->gridDim, .block = p->blockDim, .shared = p->sharedMemBytes};
    cudaError_t error = function_find(c, p->func, &work->launch.function);
    return error == cudaSuccess ? launch_prepare(c, &work->launch, p->kernelParams, p->extra) : error;
}

cudaError_t make_copy(CudaContext *c, const struct cudaMemcpy3DParms *p, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeMemcpy};
    if (!p) return cudaErrorInvalidValue;
    work->copy = *p;
    return copy_check_sides(c, p);
}

cudaError_t make_linear(CudaContext *c, void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                        CudaWork *work) {
    struct cudaMemcpy3DParms copy = copy_linear(to, from, count, kind);
    return make_copy(c, &copy, work);
}

static cudaError_t in_symbol(CudaContext *c, const void *symbol, size_t count, size_t offset, u8 **at) {
    void *address = NULL;
    size_t size = 0;
    cudaError_t error = cuda_symbol_find(c, symbol, &address, &size);
    if (error != cudaSuccess) return error;
    *at = (u8 *)address + offset;
    return offset > size || count > size - offset ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t make_to_symbol(CudaContext *c, const void *symbol, const void *from, size_t count, size_t offset,
                           enum cudaMemcpyKind kind, CudaWork *work) {
    u8 *at = NULL;
    cudaError_t error = in_symbol(c, symbol, count, offset, &at);
    *work = (CudaWork){.type = cudaGraphNodeTypeMemcpy};
    return error == cudaSuccess ? make_linear(c, at, from, count, kind, work) : error;
}

cudaError_t make_from_symbol(CudaContext *c, void *to, const void *symbol, size_t count, size_t offset,
                             enum cudaMemcpyKind kind, CudaWork *work) {
    u8 *at = NULL;
    cudaError_t error = in_symbol(c, symbol, count, offset, &at);
    *work = (CudaWork){.type = cudaGraphNodeTypeMemcpy};
    if (error == cudaSuccess && kind == cudaMemcpyHostToDevice) error = cudaErrorInvalidMemcpyDirection;
    return error == cudaSuccess ? make_linear(c, to, at, count, kind, work) : error;
}

cudaError_t make_fill(CudaContext *c, const struct cudaMemsetParams *p, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeMemset};
    if (!p) return cudaErrorInvalidValue;
    work->fill = *p;
    return fill_check(c, p);
}

cudaError_t make_host(const struct cudaHostNodeParams *p, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeHost};
    if (!p || !p->fn) return cudaErrorInvalidValue;
    work->host = *p;
    return cudaSuccess;
}

cudaError_t make_child(CudaContext *c, cudaGraph_t handle, CudaWork *work) {
    CudaGraph *graph = graph_find(c, handle);
    *work = (CudaWork){.type = cudaGraphNodeTypeGraph};
    return graph ? graph_clone(c, graph, &work->graph) : cudaErrorInvalidValue;
}

cudaError_t make_event(CudaContext *c, enum cudaGraphNodeType type, cudaEvent_t event, CudaWork *work) {
    *work = (CudaWork){.type = type, .event = event};
    return object_get(&c->objects, event, OBJECT_EVENT) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t make_alloc(CudaContext *c, struct cudaMemAllocNodeParams *p, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeMemAlloc};
    if (!p || !p->bytesize || p->poolProps.location.type != cudaMemLocationTypeDevice || p->poolProps.location.id < 0 ||
        (u32)p->poolProps.location.id >= c->config.devices)
        return cudaErrorInvalidValue;
    cudaError_t error = graph_memory_new(c, p->bytesize, &p->dptr);
    work->alloc = *p;
    return error;
}

cudaError_t make_free(CudaContext *c, void *pointer, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeMemFree, .freed = pointer};
    return map_get(&c->graph_memory, (u64)(uintptr_t)pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t make_any(CudaContext *c, struct cudaGraphNodeParams *p, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeEmpty};
    if (!p) return cudaErrorInvalidValue;
    switch (p->type) {
    case cudaGraphNodeTypeKernel: return make_kernel(c, &p->kernel, work);
    case cudaGraphNodeTypeMemcpy: return make_copy(c, &p->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: return make_fill(c, &p->memset, work);
    case cudaGraphNodeTypeHost: return make_host(&p->host, work);
    case cudaGraphNodeTypeGraph: return make_child(c, p->graph.graph, work);
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return make_event(c, p->type, p->eventWait.event, work);
    case cudaGraphNodeTypeEventRecord: return make_event(c, p->type, p->eventRecord.event, work);
    case cudaGraphNodeTypeMemAlloc: return make_alloc(c, &p->alloc, work);
    case cudaGraphNodeTypeMemFree: return make_free(c, p->free.dptr, work);
    case cudaGraphNodeTypeConditional: return make_conditional(c, &p->conditional, work);
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait: return cudaErrorNotSupported;
    default: return cudaErrorInvalidValue;
    }
}

cudaError_t node_set(CudaContext *c, CudaNode *node, cudaError_t made, CudaWork *work) {
    if (made == cudaSuccess && (!node || node->work.type != work->type)) made = cudaErrorInvalidValue;
    if (made != cudaSuccess) {
        work_release(c, work);
        return made;
    }
    if (work->type == cudaGraphNodeTypeKernel) {  // attributes of the node stay
        work->launch.cooperative = node->work.launch.cooperative;
        work->launch.cluster = node->work.launch.cluster;
    }
    work_release(c, &node->work);
    mem_free(node->arguments);
    node->arguments = NULL;
    node->work = *work;
    if (work->type == cudaGraphNodeTypeGraph) work->graph->child = true;
    return cudaSuccess;
}
