// SPDX-License-Identifier: Apache-2.0
// Executable graphs: instantiate, update, launch.
#include "cuda/api.h"
#include "cuda/graph_condition.h"
#include "cuda/graph_work.h"
#include "cuda/pending.h"
#include "cuda/stream.h"

static CudaExec *find(CudaContext *c, cudaGraphExec_t handle) { return object_get(&c->objects, handle, OBJECT_EXEC); }

// Graphs with memory nodes, and with nodes that kernels update, have one executable at a time.
static bool has_executable(CudaContext *c, const CudaGraph *graph) {
    u64 key, kind;
    for (u32 at = 0; map_next(&c->objects.kinds, &at, &key, &kind);)
        if (kind == OBJECT_EXEC && ((CudaExec *)(uintptr_t)key)->source == graph->serial) return true;
    return false;
}

static cudaError_t check_nodes(CudaContext *c, const CudaGraph *graph, unsigned long long flags) {
    if (flags & EXEC_DEVICE_LAUNCH && !graph->nodes.len) return cudaErrorInvalidValue;
    for (u32 i = 0; i < graph->nodes.len; i++) {
        const CudaNode *node = graph->nodes.data[i];
        enum cudaGraphNodeType type = node->work.type;
        bool simple = type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
                      type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeGraph;
        if (flags & EXEC_DEVICE_LAUNCH && !simple) return cudaErrorInvalidValue;
        if (type == cudaGraphNodeTypeConditional && !conditional_is_valid(&node->work.conditional))
            return cudaErrorInvalidValue;
        bool memory = type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree;
        if ((memory || node->updatable) && has_executable(c, graph)) return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

static void note_updatable(const CudaExec *exec) {
    for (u32 i = 0; i < exec->graph->nodes.len; i++) {
        CudaNode *node = exec->graph->nodes.data[i];
        if (node->original->updatable) node->original->executable = node;
    }
}

static cudaError_t instantiate(CudaContext *c, cudaGraphExec_t *to, cudaGraph_t handle, unsigned long long flags) {
    CudaGraph *graph = graph_find(c, handle);
    if (!to || !graph || flags > 15) return cudaErrorInvalidValue;
    cudaError_t possible = check_nodes(c, graph, flags);
    if (possible != cudaSuccess) return possible;
    CudaExec *exec = object_new(&c->objects, OBJECT_EXEC, sizeof *exec);
    if (!exec) return cudaErrorMemoryAllocation;
    exec->flags = flags;
    cudaError_t error = graph_clone(c, graph, &exec->graph);
    if (error == cudaSuccess) error = graph_order(exec->graph, &exec->order);
    if (error != cudaSuccess) {
        graph_destroy(c, exec->graph);
        vec_free(&exec->order);
        object_delete(&c->objects, exec);
        return error;
    }
    exec->graph->child = true;
    exec->source = graph->serial;
    exec->uploaded = flags & EXEC_UPLOAD;
    note_updatable(exec);
    *to = (cudaGraphExec_t)exec;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph, unsigned long long flags) {
    CUDA_RETURN(c, NEED_HEALTHY, instantiate(c, pGraphExec, graph, flags));
}

CUDA_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                   unsigned long long flags) {
    CUDA_RETURN(c, NEED_HEALTHY, instantiate(c, pGraphExec, graph, flags));
}

static cudaError_t with_params(CudaContext *c, cudaGraphExec_t *to, cudaGraph_t graph, cudaGraphInstantiateParams *p) {
    if (!p) return cudaErrorInvalidValue;
    cudaError_t error = instantiate(c, to, graph, p->flags);
    p->errNode_out = NULL;
    p->result_out = error == cudaSuccess ? 0 : 2;  // cudaGraphInstantiateSuccess, ...InvalidStructure
    return error;
}

CUDA_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                    cudaGraphInstantiateParams *instantiateParams) {
    CUDA_RETURN(c, NEED_HEALTHY, with_params(c, pGraphExec, graph, instantiateParams));
}

void exec_free(CudaContext *c, CudaExec *exec) {
    graph_destroy(c, exec->graph);
    vec_free(&exec->order);
    object_retire(&c->objects, exec);
    mem_free(exec);
}

static cudaError_t destroy(CudaContext *c, cudaGraphExec_t handle) {
    CudaExec *exec = find(c, handle);
    if (!exec) return cudaErrorInvalidValue;
    for (u32 i = 0; i < exec->graph->nodes.len; i++) {
        CudaNode *made = object_get(&c->objects, exec->graph->nodes.data[i]->original, OBJECT_NODE);
        if (made && made->executable == exec->graph->nodes.data[i]) made->executable = NULL;
    }
    exec->doomed = true;
    if (!exec->runs) return exec_free(c, exec), cudaSuccess;
    object_retire(&c->objects, exec);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    CUDA_RETURN(c, NEED_DEVICE, destroy(c, graphExec));
}

static cudaError_t get_flags(CudaContext *c, cudaGraphExec_t handle, unsigned long long *flags) {
    CudaExec *exec = find(c, handle);
    if (!exec || !flags) return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags) {
    CUDA_RETURN(c, NEED_HEALTHY, get_flags(c, graphExec, flags));
}

static cudaError_t captured_launch(CudaContext *c, CudaStream *stream, const CudaExec *exec) {
    CudaWork work = {.type = cudaGraphNodeTypeGraph};
    cudaError_t error = graph_clone(c, exec->graph, &work.graph);
    return error == cudaSuccess ? capture_add(c, stream, &work, NULL) : error;
}

// What an earlier launch allocated and nothing freed: goes now, or forbids the launch.
static cudaError_t check_live_memory(CudaContext *c, const CudaExec *exec) {
    for (u32 i = 0; i < exec->order.len; i++) {
        const CudaWork *work = &exec->order.data[i]->work;
        if (work->type != cudaGraphNodeTypeMemAlloc) continue;
        (void)pending_settle(c);  // which may free it
        const u64 *live = map_get(&c->graph_memory, (u64)(uintptr_t)work->alloc.dptr);
        if (!live || !*live) continue;
        if (!(exec->flags & EXEC_AUTO_FREE)) return cudaErrorInvalidValue;
        cudaError_t error = graph_memory_set(c, work->alloc.dptr, false);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

static cudaError_t launch(CudaContext *c, cudaGraphExec_t handle, cudaStream_t stream_handle) {
    CudaExec *exec = find(c, handle);
    CudaStream *stream = stream_find(c, stream_handle);
    if (!exec) return stream && stream->capture ? stream_forbid_capture(stream) : cudaErrorInvalidValue;
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture) return captured_launch(c, stream, exec);
    cudaError_t error = stream_check_implicit(c, stream);
    if (error == cudaSuccess) error = check_live_memory(c, exec);
    exec->uploaded = true;
    CudaWork work = {.type = WORK_EXEC, .exec = exec};
    return error == cudaSuccess ? work_submit(c, stream_handle, &work) : error;
}

CUDA_API cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, launch(c, graphExec, stream));
}

static cudaError_t upload(CudaContext *c, cudaGraphExec_t handle, cudaStream_t stream) {
    CudaExec *exec = find(c, handle);
    if (!exec) return cudaErrorInvalidValue;
    if (!stream_find(c, stream)) return cudaErrorInvalidResourceHandle;
    exec->uploaded = true;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, upload(c, graphExec, stream));
}

// --- changing nodes of an executable ---

// Launches under way are of the nodes as they were.
static cudaError_t wait_for(CudaContext *c, const CudaExec *exec) {
    if (!exec || !exec->runs) return cudaSuccess;
    return pending_wait(c, (PendingSet){.exec = exec, .device = -1});
}

// The executable's copy of a node of the graph it was made from.
static CudaNode *exec_node(CudaContext *c, cudaGraphExec_t handle, cudaGraphNode_t node) {
    CudaExec *exec = find(c, handle);
    for (u32 i = 0; exec && i < exec->graph->nodes.len; i++)
        if (exec->graph->nodes.data[i]->original == (CudaNode *)node) return exec->graph->nodes.data[i];
    return NULL;
}

// ... to be changed; NULL also when launches of it are not over.
static CudaNode *node_to_change(CudaContext *c, cudaGraphExec_t handle, cudaGraphNode_t node) {
    CudaExec *exec = find(c, handle);
    return wait_for(c, exec) == cudaSuccess && exec && !exec->runs ? exec_node(c, handle, node) : NULL;
}

#define EXEC_SET_RETURN(c, exec, node, made) \
    CudaWork work;                           \
    CUDA_RETURN(c, NEED_HEALTHY, node_set(c, node_to_change(c, exec, node), made, &work))

CUDA_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                      const struct cudaKernelNodeParams *pNodeParams) {
    EXEC_SET_RETURN(c, hGraphExec, node, make_kernel(c, pNodeParams, &work));
}
// The direction of a copy stays as it is.
static cudaError_t same_kind(CudaContext *c, cudaGraphExec_t exec, cudaGraphNode_t handle, cudaError_t made,
                             const CudaWork *work) {
    const CudaNode *node = exec_node(c, exec, handle);
    bool copies = node && node->work.type == cudaGraphNodeTypeMemcpy;
    return made == cudaSuccess && copies && node->work.copy.kind != work->copy.kind ? cudaErrorInvalidValue : made;
}

CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                      const struct cudaMemcpy3DParms *pNodeParams) {
    EXEC_SET_RETURN(c, hGraphExec, node, same_kind(c, hGraphExec, node, make_copy(c, pNodeParams, &work), &work));
}
CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void *dst,
                                                        const void *src, size_t count, enum cudaMemcpyKind kind) {
    EXEC_SET_RETURN(c, hGraphExec, node,
                    same_kind(c, hGraphExec, node, make_linear(c, dst, src, count, kind, &work), &work));
}
CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                              const void *symbol, const void *src, size_t count,
                                                              size_t offset, enum cudaMemcpyKind kind) {
    EXEC_SET_RETURN(c, hGraphExec, node, make_to_symbol(c, symbol, src, count, offset, kind, &work));
}
CUDA_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                                void *dst, const void *symbol, size_t count,
                                                                size_t offset, enum cudaMemcpyKind kind) {
    EXEC_SET_RETURN(c, hGraphExec, node, make_from_symbol(c, dst, symbol, count, offset, kind, &work));
}
CUDA_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                      const struct cudaMemsetParams *pNodeParams) {
    EXEC_SET_RETURN(c, hGraphExec, node, make_fill(c, pNodeParams, &work));
}
CUDA_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                    const struct cudaHostNodeParams *pNodeParams) {
    EXEC_SET_RETURN(c, hGraphExec, node, make_host(pNodeParams, &work));
}
static cudaError_t make_other_child(CudaContext *c, cudaGraphExec_t exec, cudaGraphNode_t handle, cudaGraph_t graph,
                                    CudaWork *work) {
    const CudaNode *node = exec_node(c, exec, handle);
    cudaError_t error = make_child(c, graph, work);
    bool other = node && node->work.type != cudaGraphNodeTypeGraph;
    return error == cudaSuccess && other ? cudaErrorGraphExecUpdateFailure : error;
}

CUDA_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                          cudaGraph_t childGraph) {
    EXEC_SET_RETURN(c, hGraphExec, node, make_other_child(c, hGraphExec, node, childGraph, &work));
}
CUDA_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                          cudaEvent_t event) {
    EXEC_SET_RETURN(c, hGraphExec, hNode, make_event(c, cudaGraphNodeTypeEventRecord, event, &work));
}
CUDA_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                                        cudaEvent_t event) {
    EXEC_SET_RETURN(c, hGraphExec, hNode, make_event(c, cudaGraphNodeTypeWaitEvent, event, &work));
}
CUDA_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                                struct cudaGraphNodeParams *nodeParams) {
    EXEC_SET_RETURN(c, graphExec, node, make_any(c, nodeParams, &work));
}

static cudaError_t set_enabled(CudaContext *c, cudaGraphExec_t exec, cudaGraphNode_t handle, unsigned enabled) {
    CudaNode *node = node_to_change(c, exec, handle);
    if (!node || node->work.type > cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    node->disabled = !enabled;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                             unsigned int isEnabled) {
    CUDA_RETURN(c, NEED_HEALTHY, set_enabled(c, hGraphExec, hNode, isEnabled));
}

static cudaError_t get_enabled(CudaContext *c, cudaGraphExec_t exec, cudaGraphNode_t handle, unsigned *enabled) {
    CudaNode *node = exec_node(c, exec, handle);
    if (!node || !enabled || node->work.type > cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
    *enabled = !node->disabled;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                             unsigned int *isEnabled) {
    CUDA_RETURN(c, NEED_HEALTHY, get_enabled(c, hGraphExec, hNode, isEnabled));
}

// --- updating it as a whole ---

static bool same_needs(const CudaGraph *a, u32 node, const CudaGraph *b) {
    const NodeList *x = &a->nodes.data[node]->needs, *y = &b->nodes.data[node]->needs;
    if (x->len != y->len) return false;
    for (u32 i = 0; i < x->len; i++)
        if (x->data[i]->mark != y->data[i]->mark) return false;
    return true;
}

// Nodes are paired in order of creation.
static enum cudaGraphExecUpdateResult compare(CudaGraph *exec, CudaGraph *graph, CudaNode **at) {
    *at = NULL;
    if (exec->nodes.len != graph->nodes.len) return cudaGraphExecUpdateErrorTopologyChanged;
    for (u32 i = 0; i < graph->nodes.len; i++) exec->nodes.data[i]->mark = graph->nodes.data[i]->mark = i;
    for (u32 i = 0; i < graph->nodes.len; i++) {
        *at = graph->nodes.data[i];
        if (exec->nodes.data[i]->work.type != graph->nodes.data[i]->work.type)
            return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (!same_needs(exec, i, graph)) return cudaGraphExecUpdateErrorTopologyChanged;
    }
    *at = NULL;
    return cudaGraphExecUpdateSuccess;
}

static cudaError_t update(CudaContext *c, cudaGraphExec_t handle, cudaGraph_t from,
                          cudaGraphExecUpdateResultInfo *info) {
    CudaExec *exec = find(c, handle);
    CudaGraph *graph = graph_find(c, from);
    CudaNode *at;
    cudaGraphExecUpdateResultInfo unused;
    if (!exec || !graph) return cudaErrorInvalidValue;
    if (!info) info = &unused;
    *info = (cudaGraphExecUpdateResultInfo){.result = compare(exec->graph, graph, &at)};
    info->errorNode = (cudaGraphNode_t)at;
    if (info->result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    cudaError_t waited = wait_for(c, exec);
    if (waited != cudaSuccess) return waited;
    for (u32 i = 0; i < graph->nodes.len; i++) {
        CudaWork work;
        CudaNode *node = exec->graph->nodes.data[i];
        cudaError_t error = work_clone(c, &graph->nodes.data[i]->work, &work);
        if (error != cudaSuccess) return error;
        work_release(c, &node->work);
        node->work = work;
        node->original = graph->nodes.data[i];
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                         cudaGraphExecUpdateResultInfo *resultInfo) {
    CUDA_RETURN(c, NEED_HEALTHY, update(c, hGraphExec, hGraph, resultInfo));
}

// --- memory of allocation nodes ---

static cudaError_t memory_attribute(CudaContext *c, int device, enum cudaGraphMemAttributeType attribute, void *value,
                                    bool set) {
    if (device < 0 || (u32)device >= c->config.devices) return cudaErrorInvalidDevice;
    CudaDevice *d = &c->devices[device];
    u64 *const fields[] = {&d->graph_used, &d->graph_used_high, &d->graph_reserved, &d->graph_reserved_high};
    if ((unsigned)attribute >= WL_COUNT(fields) || !value) return cudaErrorInvalidValue;
    if (!set)
        *(u64 *)value = *fields[attribute];
    else if (*(u64 *)value || !(attribute & 1))
        return cudaErrorInvalidValue;  // high-water marks can be reset
    else
        *fields[attribute] = *fields[attribute - 1];
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value) {
    CUDA_RETURN(c, NEED_DEVICE, memory_attribute(c, device, attr, value, false));
}

CUDA_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void *value) {
    CUDA_RETURN(c, NEED_DEVICE, memory_attribute(c, device, attr, value, true));
}

// What is in use by no one is reported as given back; it stays at its address for the next launch.
static cudaError_t trim(CudaContext *c, int device) {
    if (device < 0 || (u32)device >= c->config.devices) return cudaErrorInvalidDevice;
    c->devices[device].graph_reserved = c->devices[device].graph_used;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGraphMemTrim(int device) { CUDA_RETURN(c, NEED_DEVICE, trim(c, device)); }
