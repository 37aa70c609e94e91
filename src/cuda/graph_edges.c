// SPDX-License-Identifier: Apache-2.0
// The shape of a graph: which nodes there are and who needs whom.
#include <stdio.h>

#include "cuda/api.h"
#include "cuda/graph_work.h"

// Lists are asked for twice: with a NULL array for the length, then for the elements. Elements past the end become
// NULL.
typedef struct Output {
    cudaGraphNode_t *nodes;
    size_t room, found;
    cudaGraphEdgeData *edges;  // NULL: not asked for
    bool lossy;                // an edge is not plain, and its data was not asked for
} Output;

static void give(Output *to, CudaNode *node) {
    if (to->nodes && to->found < to->room) to->nodes[to->found] = (cudaGraphNode_t)node;
    to->found++;
}

static void give_edge(Output *to, CudaNode *node, cudaGraphEdgeData edge) {
    bool fits = to->nodes && to->found < to->room;
    if (fits && to->edges) to->edges[to->found] = edge;
    to->lossy |= fits && !to->edges && !edge_is_plain(edge);
    give(to, node);
}

static cudaError_t finish(Output *to, size_t *count) {
    if (to->nodes && to->room < to->found) to->found = to->room;
    for (size_t i = to->found; to->nodes && i < to->room; i++) to->nodes[i] = NULL;
    *count = to->found;
    return to->lossy ? cudaErrorLossyQuery : cudaSuccess;
}

static cudaError_t get_nodes(CudaContext *c, cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count, bool roots) {
    CudaGraph *graph = graph_find(c, handle);
    if (!graph || !count) return cudaErrorInvalidValue;
    Output to = {.nodes = nodes, .room = *count};
    for (u32 i = 0; i < graph->nodes.len; i++)
        if (!roots || !graph->nodes.data[i]->needs.len) give(&to, graph->nodes.data[i]);
    return finish(&to, count);
}

CUDA_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes) {
    CUDA_RETURN(c, NEED_HEALTHY, get_nodes(c, graph, nodes, numNodes, false));
}

CUDA_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes) {
    CUDA_RETURN(c, NEED_HEALTHY, get_nodes(c, graph, pRootNodes, pNumRootNodes, true));
}

static cudaError_t get_edges(CudaContext *c, cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to,
                             cudaGraphEdgeData *data, size_t *count) {
    CudaGraph *graph = graph_find(c, handle);
    if (!graph || !count || !from != !to) return cudaErrorInvalidValue;
    Output starts = {.nodes = from, .room = *count, .edges = data}, ends = {.nodes = to, .room = *count};
    for (u32 i = 0; i < graph->nodes.len; i++) {
        CudaNode *node = graph->nodes.data[i];
        for (u32 k = 0; k < node->needs.len; k++) {
            give_edge(&starts, node->needs.data[k], node->edges.data[k]);
            give(&ends, node);
        }
    }
    size_t ignored = *count;
    (void)finish(&ends, &ignored);
    return finish(&starts, count);
}

CUDA_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                       cudaGraphEdgeData *edgeData, size_t *numEdges) {
    CUDA_RETURN(c, NEED_HEALTHY, get_edges(c, graph, from, to, edgeData, numEdges));
}

static cudaError_t get_needs(CudaContext *c, cudaGraphNode_t handle, cudaGraphNode_t *nodes, cudaGraphEdgeData *data,
                             size_t *count) {
    CudaNode *node = node_find(c, handle);
    if (!node || !count) return cudaErrorInvalidValue;
    Output to = {.nodes = nodes, .room = *count, .edges = data};
    for (u32 i = 0; i < node->needs.len; i++) give_edge(&to, node->needs.data[i], node->edges.data[i]);
    return finish(&to, count);
}

CUDA_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                                  cudaGraphEdgeData *edgeData, size_t *pNumDependencies) {
    CUDA_RETURN(c, NEED_HEALTHY, get_needs(c, node, pDependencies, edgeData, pNumDependencies));
}

static u32 need_index(const CudaNode *node, const CudaNode *needed) {
    for (u32 i = 0; i < node->needs.len; i++)
        if (node->needs.data[i] == needed) return i;
    return WL_NONE;
}

static cudaError_t get_dependents(CudaContext *c, cudaGraphNode_t handle, cudaGraphNode_t *nodes,
                                  cudaGraphEdgeData *data, size_t *count) {
    CudaNode *node = node_find(c, handle);
    if (!node || !count) return cudaErrorInvalidValue;
    Output to = {.nodes = nodes, .room = *count, .edges = data};
    for (u32 i = 0; i < node->graph->nodes.len; i++) {
        CudaNode *dependent = node->graph->nodes.data[i];
        u32 index = need_index(dependent, node);
        if (index != WL_NONE) give_edge(&to, dependent, dependent->edges.data[index]);
    }
    return finish(&to, count);
}

CUDA_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                                    cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes) {
    CUDA_RETURN(c, NEED_HEALTHY, get_dependents(c, node, pDependentNodes, edgeData, pNumDependentNodes));
}

// --- changing it ---

static void drop_need(CudaNode *node, u32 index) {
    node->needs.data[index] = node->needs.data[--node->needs.len];
    node->edges.data[index] = node->edges.data[--node->edges.len];
}

static bool same_edge(cudaGraphEdgeData a, cudaGraphEdgeData b) {
    return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
}

static cudaError_t change_edges(CudaContext *c, cudaGraph_t handle, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t count, bool remove) {
    CudaGraph *graph = graph_find(c, handle);
    if (!graph || (count && (!from || !to))) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        CudaNode *needed = node_find(c, from[i]), *node = node_find(c, to[i]);
        if (!needed || !node || needed->graph != graph || node->graph != graph || needed == node)
            return cudaErrorInvalidValue;
        u32 index = need_index(node, needed);
        if ((index != WL_NONE) != remove) return cudaErrorInvalidValue;
        if (edges && remove && !same_edge(edges[i], node->edges.data[index])) return cudaErrorInvalidValue;
        if (edges && !remove && !edge_possible(needed, node, edges[i])) return cudaErrorInvalidValue;
    }
    for (size_t i = 0; i < count; i++) {
        CudaNode *needed = (CudaNode *)from[i], *node = (CudaNode *)to[i];
        u32 index = need_index(node, needed);
        if (remove && index != WL_NONE) drop_need(node, index);
        cudaGraphEdgeData edge = edges ? edges[i] : (cudaGraphEdgeData){0};
        if (!remove && node_need(node, needed, edge) != STATUS_OK) return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                              const cudaGraphEdgeData *edgeData, size_t numDependencies) {
    CUDA_RETURN(c, NEED_HEALTHY, change_edges(c, graph, from, to, edgeData, numDependencies, false));
}

CUDA_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                 const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
                                                 size_t numDependencies) {
    CUDA_RETURN(c, NEED_HEALTHY, change_edges(c, graph, from, to, edgeData, numDependencies, true));
}

static cudaError_t destroy_node(CudaContext *c, cudaGraphNode_t handle) {
    CudaNode *node = node_find(c, handle);
    if (!node) return cudaErrorInvalidValue;
    NodeList *nodes = &node->graph->nodes;
    u32 kept = 0;
    for (u32 i = 0; i < nodes->len; i++) {
        u32 index = need_index(nodes->data[i], node);
        if (index != WL_NONE) drop_need(nodes->data[i], index);
        if (nodes->data[i] != node) nodes->data[kept++] = nodes->data[i];
    }
    nodes->len = kept;
    node_delete(c, node);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { CUDA_RETURN(c, NEED_HEALTHY, destroy_node(c, node)); }

static cudaError_t get_type(CudaContext *c, cudaGraphNode_t handle, enum cudaGraphNodeType *type) {
    CudaNode *node = node_find(c, handle);
    if (!node || !type) return cudaErrorInvalidValue;
    *type = node->work.type;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType) {
    CUDA_RETURN(c, NEED_HEALTHY, get_type(c, node, pType));
}

// --- picture ---

static const char *const type_names[] = {
    [cudaGraphNodeTypeKernel] = "kernel",
    [cudaGraphNodeTypeMemcpy] = "memcpy",
    [cudaGraphNodeTypeMemset] = "memset",
    [cudaGraphNodeTypeHost] = "host",
    [cudaGraphNodeTypeGraph] = "graph",
    [cudaGraphNodeTypeEmpty] = "empty",
    [cudaGraphNodeTypeWaitEvent] = "event wait",
    [cudaGraphNodeTypeEventRecord] = "event record",
    [cudaGraphNodeTypeMemAlloc] = "alloc",
    [cudaGraphNodeTypeMemFree] = "free",
    [cudaGraphNodeTypeConditional] = "conditional",
};

static cudaError_t print_dot(CudaContext *c, cudaGraph_t handle, const char *path) {
    CudaGraph *graph = graph_find(c, handle);
    if (!graph || !path) return cudaErrorInvalidValue;
    FILE *file = fopen(path, "w");
    if (!file) return cudaErrorOperatingSystem;
    fputs("digraph graph_1 {\n", file);
    for (u32 i = 0; i < graph->nodes.len; i++) graph->nodes.data[i]->mark = i;
    for (u32 i = 0; i < graph->nodes.len; i++) {
        const CudaNode *node = graph->nodes.data[i];
        fprintf(file, "n%u [label=\"%u: %s\"];\n", i, i, type_names[node->work.type]);
        for (u32 k = 0; k < node->needs.len; k++) fprintf(file, "n%u -> n%u;\n", node->needs.data[k]->mark, i);
    }
    fputs("}\n", file);
    return fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
}

CUDA_API cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags) {
    (void)flags;
    CUDA_RETURN(c, NEED_HEALTHY, print_dot(c, graph, path));
}
