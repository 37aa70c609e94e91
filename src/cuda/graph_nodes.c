// SPDX-License-Identifier: Apache-2.0
// The API for graphs under construction: adding nodes, their parameters, their dependencies.
#include <stdio.h>

#include "cuda/api.h"
#include "cuda/graph_work.h"
#include "cuda/module.h"

// --- graphs ---

static cudaError_t create(CudaContext *c, cudaGraph_t *to, unsigned flags) {
    if (!to || flags) return cudaErrorInvalidValue;
    *to = (cudaGraph_t)graph_new(c);
    return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}

CUDA_API cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags) {
    CUDA_RETURN(c, NEED_DEVICE, create(c, pGraph, flags));
}

static cudaError_t destroy(CudaContext *c, cudaGraph_t handle) {
    CudaGraph *graph = graph_find(c, handle);
    if (!graph || graph->child) return cudaErrorInvalidValue;
    graph_destroy(c, graph);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) { CUDA_RETURN(c, NEED_DEVICE, destroy(c, graph)); }

static cudaError_t clone_graph(CudaContext *c, cudaGraph_t *to, cudaGraph_t from) {
    CudaGraph *graph = graph_find(c, from), *copy = NULL;
    if (!to || !graph) return cudaErrorInvalidValue;
    for (u32 i = 0; i < graph->nodes.len; i++) {
        enum cudaGraphNodeType type = graph->nodes.data[i]->work.type;
        if (type == cudaGraphNodeTypeConditional || type == cudaGraphNodeTypeMemAlloc ||
            type == cudaGraphNodeTypeMemFree)
            return cudaErrorNotSupported;
    }
    cudaError_t error = graph_clone(c, graph, &copy);
    *to = (cudaGraph_t)copy;
    return error;
}

CUDA_API cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph) {
    CUDA_RETURN(c, NEED_HEALTHY, clone_graph(c, pGraphClone, originalGraph));
}

static cudaError_t in_clone(CudaContext *c, cudaGraphNode_t *to, cudaGraphNode_t node, cudaGraph_t handle) {
    CudaGraph *graph = graph_find(c, handle);
    if (!to || !graph || !node_find(c, node)) return cudaErrorInvalidValue;
    for (u32 i = 0; i < graph->nodes.len; i++) {
        if (graph->nodes.data[i]->original != (CudaNode *)node) continue;
        *to = (cudaGraphNode_t)graph->nodes.data[i];
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

CUDA_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                              cudaGraph_t clonedGraph) {
    CUDA_RETURN(c, NEED_HEALTHY, in_clone(c, pNode, originalNode, clonedGraph));
}

// --- adding nodes ---

static cudaError_t add(CudaContext *c, cudaGraphNode_t *to, cudaGraph_t handle, const cudaGraphNode_t *needs,
                       size_t count, cudaError_t made, CudaWork *work) {
    CudaGraph *graph = graph_find(c, handle);
    CudaNode *node = NULL;
    if (made == cudaSuccess && (!to || !graph || (count && !needs))) made = cudaErrorInvalidValue;
    for (size_t i = 0; i < count && made == cudaSuccess; i++)
        if (!node_find(c, needs[i])) made = cudaErrorInvalidValue;
    if (made != cudaSuccess) {
        work_release(c, work);
        return made;
    }
    cudaError_t error = graph_add(c, graph, (CudaNode *const *)needs, count, work, &node);
    if (error == cudaSuccess) *to = (cudaGraphNode_t)node;
    return error;
}

static cudaError_t add_with_edges(CudaContext *c, cudaGraphNode_t *to, cudaGraph_t graph, const cudaGraphNode_t *needs,
                                  const cudaGraphEdgeData *edges, size_t count, cudaError_t made, CudaWork *work) {
    cudaError_t error = add(c, to, graph, needs, count, made, work);
    CudaNode *node = error == cudaSuccess && edges ? (CudaNode *)*to : NULL;
    for (size_t i = 0; node && i < count; i++) {
        if (!edge_possible(node->needs.data[i], node, edges[i])) {
            node->graph->nodes.len--;  // it is the last one
            node_delete(c, node);
            return cudaErrorInvalidValue;
        }
        node->edges.data[i] = edges[i];
    }
    return error;
}

#define ADD_PARAMETERS \
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies, size_t numDependencies
// The body of an add function: `made` makes `work`.
#define ADD_RETURN(c, made) \
    CudaWork work;          \
    CUDA_RETURN(c, NEED_DEVICE, add(c, pGraphNode, graph, pDependencies, numDependencies, made, &work))

CUDA_API cudaError_t cudaGraphAddKernelNode(ADD_PARAMETERS, const struct cudaKernelNodeParams *pNodeParams) {
    ADD_RETURN(c, make_kernel(c, pNodeParams, &work));
}
CUDA_API cudaError_t cudaGraphAddMemcpyNode(ADD_PARAMETERS, const struct cudaMemcpy3DParms *pCopyParams) {
    ADD_RETURN(c, make_copy(c, pCopyParams, &work));
}
CUDA_API cudaError_t cudaGraphAddMemcpyNode1D(ADD_PARAMETERS, void *dst, const void *src, size_t count,
                                              enum cudaMemcpyKind kind) {
    ADD_RETURN(c, make_linear(c, dst, src, count, kind, &work));
}
CUDA_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(ADD_PARAMETERS, const void *symbol, const void *src, size_t count,
                                                    size_t offset, enum cudaMemcpyKind kind) {
    ADD_RETURN(c, make_to_symbol(c, symbol, src, count, offset, kind, &work));
}
CUDA_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(ADD_PARAMETERS, void *dst, const void *symbol, size_t count,
                                                      size_t offset, enum cudaMemcpyKind kind) {
    ADD_RETURN(c, make_from_symbol(c, dst, symbol, count, offset, kind, &work));
}
CUDA_API cudaError_t cudaGraphAddMemsetNode(ADD_PARAMETERS, const struct cudaMemsetParams *pMemsetParams) {
    ADD_RETURN(c, make_fill(c, pMemsetParams, &work));
}
CUDA_API cudaError_t cudaGraphAddHostNode(ADD_PARAMETERS, const struct cudaHostNodeParams *pNodeParams) {
    ADD_RETURN(c, make_host(pNodeParams, &work));
}
CUDA_API cudaError_t cudaGraphAddChildGraphNode(ADD_PARAMETERS, cudaGraph_t childGraph) {
    ADD_RETURN(c, make_child(c, childGraph, &work));
}
CUDA_API cudaError_t cudaGraphAddEmptyNode(ADD_PARAMETERS) {
    ADD_RETURN(c, (work = (CudaWork){.type = cudaGraphNodeTypeEmpty}, cudaSuccess));
}
CUDA_API cudaError_t cudaGraphAddEventRecordNode(ADD_PARAMETERS, cudaEvent_t event) {
    ADD_RETURN(c, make_event(c, cudaGraphNodeTypeEventRecord, event, &work));
}
CUDA_API cudaError_t cudaGraphAddEventWaitNode(ADD_PARAMETERS, cudaEvent_t event) {
    ADD_RETURN(c, make_event(c, cudaGraphNodeTypeWaitEvent, event, &work));
}
CUDA_API cudaError_t cudaGraphAddMemAllocNode(ADD_PARAMETERS, struct cudaMemAllocNodeParams *nodeParams) {
    ADD_RETURN(c, make_alloc(c, nodeParams, &work));
}
CUDA_API cudaError_t cudaGraphAddMemFreeNode(ADD_PARAMETERS, void *dptr) { ADD_RETURN(c, make_free(c, dptr, &work)); }

CUDA_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, const cudaGraphEdgeData *dependencyData,
                                      size_t numDependencies, struct cudaGraphNodeParams *nodeParams) {
    CudaWork work;
    CUDA_RETURN(c, NEED_DEVICE,
                add_with_edges(c, pGraphNode, graph, pDependencies, dependencyData, numDependencies,
                               make_any(c, nodeParams, &work), &work));
}

// --- reading parameters ---

static CudaNode *of_type(CudaContext *c, cudaGraphNode_t handle, enum cudaGraphNodeType type) {
    CudaNode *node = node_find(c, handle);
    return node && node->work.type == type ? node : NULL;
}

static cudaError_t get_kernel(CudaContext *c, cudaGraphNode_t handle, struct cudaKernelNodeParams *to) {
    CudaNode *node = of_type(c, handle, cudaGraphNodeTypeKernel);
    CudaKernel *kernel;
    if (!node || !to) return cudaErrorInvalidValue;
    const CudaLaunch *l = &node->work.launch;
    cudaError_t error = function_prepare(c, l->function, &kernel);
    if (error != cudaSuccess) return error;
    if (!node->arguments) node->arguments = mem_zero(kernel->info.param_count + 1, sizeof(void *));
    if (!node->arguments) return cudaErrorMemoryAllocation;
    for (u32 i = 0; i < kernel->info.param_count; i++) node->arguments[i] = l->params + kernel->info.params[i].offset;
    *to = (struct cudaKernelNodeParams){.func = l->function->host ? (void *)(uintptr_t)l->function->host : l->function,
                                        .gridDim = l->grid,
                                        .blockDim = l->block,
                                        .sharedMemBytes = l->shared,
                                        .kernelParams = node->arguments};
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *pNodeParams) {
    CUDA_RETURN(c, NEED_HEALTHY, get_kernel(c, node, pNodeParams));
}

// A function that copies one field of a node's work out.
#define GETTER(name, node_type, type, field)                                    \
    static cudaError_t name(CudaContext *c, cudaGraphNode_t handle, type *to) { \
        CudaNode *node = of_type(c, handle, node_type);                         \
        if (!node || !to) return cudaErrorInvalidValue;                         \
        *to = node->work.field;                                                 \
        return cudaSuccess;                                                     \
    }
GETTER(get_copy, cudaGraphNodeTypeMemcpy, struct cudaMemcpy3DParms, copy)
GETTER(get_fill, cudaGraphNodeTypeMemset, struct cudaMemsetParams, fill)
GETTER(get_host, cudaGraphNodeTypeHost, struct cudaHostNodeParams, host)
GETTER(get_alloc, cudaGraphNodeTypeMemAlloc, struct cudaMemAllocNodeParams, alloc)
GETTER(get_free, cudaGraphNodeTypeMemFree, void *, freed)
GETTER(get_child, cudaGraphNodeTypeGraph, CudaGraph *, graph)
GETTER(get_record, cudaGraphNodeTypeEventRecord, cudaEvent_t, event)
GETTER(get_wait, cudaGraphNodeTypeWaitEvent, cudaEvent_t, event)

CUDA_API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *pNodeParams) {
    CUDA_RETURN(c, NEED_HEALTHY, get_copy(c, node, pNodeParams));
}
CUDA_API cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *pNodeParams) {
    CUDA_RETURN(c, NEED_HEALTHY, get_fill(c, node, pNodeParams));
}
CUDA_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams) {
    CUDA_RETURN(c, NEED_HEALTHY, get_host(c, node, pNodeParams));
}
CUDA_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out) {
    CUDA_RETURN(c, NEED_HEALTHY, get_alloc(c, node, params_out));
}
CUDA_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *dptr_out) {
    CUDA_RETURN(c, NEED_HEALTHY, get_free(c, node, dptr_out));
}
CUDA_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *pGraph) {
    CUDA_RETURN(c, NEED_HEALTHY, get_child(c, node, (CudaGraph **)pGraph));
}
CUDA_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out) {
    CUDA_RETURN(c, NEED_HEALTHY, get_record(c, node, event_out));
}
CUDA_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event_out) {
    CUDA_RETURN(c, NEED_HEALTHY, get_wait(c, node, event_out));
}

// --- changing parameters ---

// The body of a set function: `made` makes `work`.
#define SET_RETURN(c, node, made) \
    CudaWork work;                \
    CUDA_RETURN(c, NEED_HEALTHY, node_set(c, node_find(c, node), made, &work))

CUDA_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                  const struct cudaKernelNodeParams *pNodeParams) {
    SET_RETURN(c, node, make_kernel(c, pNodeParams, &work));
}
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *pNodeParams) {
    SET_RETURN(c, node, make_copy(c, pNodeParams, &work));
}
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t count,
                                                    enum cudaMemcpyKind kind) {
    SET_RETURN(c, node, make_linear(c, dst, src, count, kind, &work));
}
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                          size_t count, size_t offset, enum cudaMemcpyKind kind) {
    SET_RETURN(c, node, make_to_symbol(c, symbol, src, count, offset, kind, &work));
}
CUDA_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol,
                                                            size_t count, size_t offset, enum cudaMemcpyKind kind) {
    SET_RETURN(c, node, make_from_symbol(c, dst, symbol, count, offset, kind, &work));
}
CUDA_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *pNodeParams) {
    SET_RETURN(c, node, make_fill(c, pNodeParams, &work));
}
CUDA_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams) {
    SET_RETURN(c, node, make_host(pNodeParams, &work));
}
CUDA_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    SET_RETURN(c, node, make_event(c, cudaGraphNodeTypeEventRecord, event, &work));
}
CUDA_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    SET_RETURN(c, node, make_event(c, cudaGraphNodeTypeWaitEvent, event, &work));
}
static cudaError_t make_settable(CudaContext *c, struct cudaGraphNodeParams *p, CudaWork *work) {
    *work = (CudaWork){.type = cudaGraphNodeTypeEmpty};
    return p && p->type == cudaGraphNodeTypeConditional ? cudaErrorNotSupported : make_any(c, p, work);
}

CUDA_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams) {
    SET_RETURN(c, node, make_settable(c, nodeParams, &work));
}

// Attributes that change the launch; all others are taken and have no effect.
static cudaError_t set_attribute(CudaContext *c, cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *value) {
    CudaNode *node = of_type(c, handle, cudaGraphNodeTypeKernel);
    if (!node || !value || (unsigned)id > cudaLaunchAttributeNvlinkUtilCentricScheduling) return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributeCooperative) node->work.launch.cooperative = value->cooperative != 0;
    if (id == cudaLaunchAttributeClusterDimension) node->work.launch.cluster = value->clusterDim;
    if (id != cudaLaunchAttributeDeviceUpdatableKernelNode) return cudaSuccess;
    if (!value->deviceUpdatableKernelNode.deviceUpdatable) return cudaErrorInvalidValue;  // there is no way back
    node->updatable = true;
    // The reference says so: the device node comes back in what is otherwise input.
    ((cudaLaunchAttributeValue *)(uintptr_t)value)->deviceUpdatableKernelNode.devNode = (cudaGraphDeviceNode_t)handle;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                                     const cudaLaunchAttributeValue *value) {
    CUDA_RETURN(c, NEED_HEALTHY, set_attribute(c, hNode, attr, value));
}

static cudaError_t get_attribute(CudaContext *c, cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue *value) {
    CudaNode *node = of_type(c, handle, cudaGraphNodeTypeKernel);
    if (!node || !value || (unsigned)id > cudaLaunchAttributeNvlinkUtilCentricScheduling) return cudaErrorInvalidValue;
    *value = (cudaLaunchAttributeValue){0};
    if (id == cudaLaunchAttributeCooperative) value->cooperative = node->work.launch.cooperative;
    if (id == cudaLaunchAttributeDeviceUpdatableKernelNode && node->updatable) {
        value->deviceUpdatableKernelNode.deviceUpdatable = 1;
        value->deviceUpdatableKernelNode.devNode = (cudaGraphDeviceNode_t)handle;
    }
    if (id == cudaLaunchAttributeClusterDimension) value->clusterDim = node->work.launch.cluster;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                                     cudaLaunchAttributeValue *value_out) {
    CUDA_RETURN(c, NEED_HEALTHY, get_attribute(c, hNode, attr, value_out));
}

static cudaError_t copy_attributes(CudaContext *c, cudaGraphNode_t to, cudaGraphNode_t from) {
    CudaNode *a = of_type(c, to, cudaGraphNodeTypeKernel), *b = of_type(c, from, cudaGraphNodeTypeKernel);
    if (!a || !b) return cudaErrorInvalidValue;
    a->work.launch.cooperative = b->work.launch.cooperative;
    a->work.launch.cluster = b->work.launch.cluster;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc) {
    CUDA_RETURN(c, NEED_HEALTHY, copy_attributes(c, hDst, hSrc));
}
