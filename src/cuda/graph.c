// SPDX-License-Identifier: Apache-2.0
// Making, copying and ordering graphs. The API for their nodes is in graph_nodes.c, for executables in
// graph_exec.c.
#include "cuda/graph.h"

#include "cuda/graph_condition.h"
#include "cuda/memory.h"
#include "cuda/user_object.h"

CudaGraph *graph_new(CudaContext *c) {
    CudaGraph *graph = object_new(&c->objects, OBJECT_GRAPH, sizeof(CudaGraph));
    if (graph) graph->serial = ++c->graphs;
    return graph;
}

void node_delete(CudaContext *c, CudaNode *node) {
    work_release(c, &node->work);
    vec_free(&node->needs);
    vec_free(&node->edges);
    mem_free(node->arguments);
    object_delete(&c->objects, node);
}

void graph_destroy(CudaContext *c, CudaGraph *graph) {
    if (!graph) return;
    conditions_forget(c, graph);
    for (u32 i = 0; i < graph->nodes.len; i++) node_delete(c, graph->nodes.data[i]);
    for (u32 i = 0; i < graph->objects.len; i++) user_object_release(c, graph->objects.data[i], 1);
    vec_free(&graph->objects);
    vec_free(&graph->nodes);
    object_delete(&c->objects, graph);
}

Status node_list_copy(NodeList *to, const NodeList *from) {
    to->len = 0;
    TRY(vec_reserve(to, from->len));
    for (u32 i = 0; i < from->len; i++) to->data[to->len++] = from->data[i];
    return STATUS_OK;
}

Status node_need(CudaNode *node, CudaNode *needed, cudaGraphEdgeData edge) {
    TRY(vec_reserve(&node->needs, 1));
    TRY(vec_push(&node->edges, edge));
    return vec_push(&node->needs, needed);
}

enum { PORT_PROGRAMMATIC = 1, PORT_LAUNCH_ORDER = 2, EDGE_PROGRAMMATIC = 1 };

bool edge_is_plain(cudaGraphEdgeData edge) {
    return !edge.from_port && !edge.to_port && !edge.type && !edge.reserved[0] && !edge.reserved[1] &&
           !edge.reserved[2] && !edge.reserved[3] && !edge.reserved[4];
}

bool edge_possible(const CudaNode *from, const CudaNode *to, cudaGraphEdgeData edge) {
    bool kernel = from->work.type == cudaGraphNodeTypeKernel;
    for (u32 i = 0; i < sizeof edge.reserved; i++)
        if (edge.reserved[i]) return false;
    if (edge.to_port || edge.type > EDGE_PROGRAMMATIC || edge.from_port > PORT_LAUNCH_ORDER) return false;
    if (edge.from_port && !kernel) return false;
    if (edge.type != EDGE_PROGRAMMATIC) return edge.from_port != PORT_PROGRAMMATIC;
    return kernel && edge.from_port && to->work.type == cudaGraphNodeTypeKernel;
}

static cudaError_t check_needs(const CudaGraph *graph, CudaNode *const *needs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (needs[i]->graph != graph) return cudaErrorInvalidValue;
        for (size_t k = 0; k < i; k++)
            if (needs[k] == needs[i]) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t graph_add(CudaContext *c, CudaGraph *graph, CudaNode *const *needs, size_t count, CudaWork *work,
                      CudaNode **out) {
    cudaError_t error = check_needs(graph, needs, count);
    CudaNode *node = error == cudaSuccess ? object_new(&c->objects, OBJECT_NODE, sizeof *node) : NULL;
    if (error == cudaSuccess && !node) error = cudaErrorMemoryAllocation;
    if (error != cudaSuccess) {
        work_release(c, work);
        return error;
    }
    node->graph = graph;
    node->work = *work;
    if (work->type == cudaGraphNodeTypeGraph) work->graph->child = true;
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        status = node_need(node, needs[i], (cudaGraphEdgeData){0});
    if (status == STATUS_OK) status = vec_push(&graph->nodes, node);
    if (status != STATUS_OK) {
        node_delete(c, node);
        return cudaErrorMemoryAllocation;
    }
    *out = node;
    return cudaSuccess;
}

// --- copies ---

// `mark` of an original is the position of its copy.
cudaError_t graph_clone(CudaContext *c, const CudaGraph *from, CudaGraph **to) {
    CudaGraph *graph = *to = graph_new(c);
    if (!graph) return cudaErrorMemoryAllocation;
    graph->original = (CudaGraph *)from;
    cudaError_t error = cudaSuccess;
    for (u32 i = 0; i < from->nodes.len && error == cudaSuccess; i++) {
        CudaNode *node = from->nodes.data[i], *copy = NULL;
        CudaWork work;
        error = work_clone(c, &node->work, &work);
        if (error == cudaSuccess) error = graph_add(c, graph, NULL, 0, &work, &copy);
        if (error != cudaSuccess) break;
        copy->original = node;
        copy->disabled = node->disabled;
        node->mark = i;
        for (u32 k = 0; k < node->needs.len && error == cudaSuccess; k++)
            if (node_need(copy, node->needs.data[k], node->edges.data[k]) != STATUS_OK)
                error = cudaErrorMemoryAllocation;
    }
    for (u32 i = 0; i < graph->nodes.len && error == cudaSuccess; i++) {
        NodeList *needs = &graph->nodes.data[i]->needs;
        for (u32 k = 0; k < needs->len; k++) needs->data[k] = graph->nodes.data[needs->data[k]->mark];
    }
    if (error != cudaSuccess) {
        for (u32 i = 0; i < graph->nodes.len; i++) graph->nodes.data[i]->needs.len = 0;
        graph_destroy(c, graph);
        *to = NULL;
    }
    return error;
}

// --- order ---

enum { MARK_NEW, MARK_OPEN, MARK_DONE };

// Depth-first from `first`, without recursion; what it needs comes before it.
static cudaError_t visit(CudaNode *first, NodeList *stack, NodeList *order) {
    if (first->mark == MARK_DONE) return cudaSuccess;
    if (vec_push(stack, first) != STATUS_OK) return cudaErrorMemoryAllocation;
    while (stack->len) {
        CudaNode *node = stack->data[stack->len - 1], *next = NULL;
        node->mark = MARK_OPEN;
        for (u32 i = 0; i < node->needs.len && !next; i++)
            if (node->needs.data[i]->mark != MARK_DONE) next = node->needs.data[i];
        if (next && next->mark == MARK_OPEN) return cudaErrorInvalidValue;  // a circle
        if (next) {
            if (vec_push(stack, next) != STATUS_OK) return cudaErrorMemoryAllocation;
            continue;
        }
        stack->len--;
        node->mark = MARK_DONE;
        if (vec_push(order, node) != STATUS_OK) return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

cudaError_t graph_order(CudaGraph *graph, NodeList *order) {
    NodeList stack = {0};
    cudaError_t error = cudaSuccess;
    order->len = 0;
    for (u32 i = 0; i < graph->nodes.len; i++) graph->nodes.data[i]->mark = MARK_NEW;
    for (u32 i = 0; i < graph->nodes.len && error == cudaSuccess; i++) {
        stack.len = 0;
        error = visit(graph->nodes.data[i], &stack, order);
    }
    vec_free(&stack);
    return error;
}

bool graph_reaches(CudaGraph *graph, const NodeList *from, const CudaNode *wanted) {
    NodeList stack = {0}, seen = {0};
    for (u32 i = 0; i < graph->nodes.len; i++) graph->nodes.data[i]->mark = MARK_NEW;
    for (u32 i = 0; i < from->len; i++) (void)visit(from->data[i], &stack, &seen);
    vec_free(&stack);
    vec_free(&seen);
    return wanted->mark == MARK_DONE;
}

// --- memory of allocation nodes ---

static void count_used(CudaDevice *d, u64 add, u64 less) {
    d->graph_used += add;
    d->graph_used -= less;
    if (d->graph_used > d->graph_used_high) d->graph_used_high = d->graph_used;
}

cudaError_t graph_memory_new(CudaContext *c, size_t size, void **address) {
    cudaError_t error = memory_new(c, MEMORY_DEVICE, 4, size, address);
    if (error != cudaSuccess) return error;
    CudaDevice *d = cuda_device(c);
    d->graph_reserved += size;
    if (d->graph_reserved > d->graph_reserved_high) d->graph_reserved_high = d->graph_reserved;
    return cuda_error_of(map_put(&c->graph_memory, (u64)(uintptr_t)*address, 0));
}

cudaError_t graph_memory_set(CudaContext *c, void *address, bool live) {
    u64 *state = map_get(&c->graph_memory, (u64)(uintptr_t)address);
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)address);
    if (!state || !a) return cudaErrorInvalidValue;
    if (*state != live) count_used(&c->devices[a->device], live ? a->size : 0, live ? 0 : a->size);
    *state = live;
    return cudaSuccess;
}

bool graph_memory_free(CudaContext *c, void *address) {
    return map_get(&c->graph_memory, (u64)(uintptr_t)address) && graph_memory_set(c, address, false) == cudaSuccess;
}
