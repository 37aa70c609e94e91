// SPDX-License-Identifier: Apache-2.0
#include "cuda/graph_condition.h"

#include "cuda/api.h"
#include "cuda/graph_run.h"
#include "cuda/graph_work.h"
#include "cuda/stream.h"

typedef struct CudaCondition {
    const CudaGraph *graph;  // that it was made for
    u32 value, first;
    bool assign;  // `first` at each launch
    bool used;    // a node has it
} CudaCondition;

enum { CONDITION_ASSIGN_DEFAULT = 1 };  // cudaGraphCondAssignDefault

static CudaCondition *find(CudaContext *c, u64 handle) {
    const u64 *found = map_get(&c->conditions, handle);
    return found ? (CudaCondition *)(uintptr_t)*found : NULL;
}

static cudaError_t create(CudaContext *c, cudaGraphConditionalHandle *to, cudaGraph_t handle, unsigned value,
                          unsigned flags) {
    CudaGraph *graph = graph_find(c, handle);
    if (!to || !graph || flags > CONDITION_ASSIGN_DEFAULT) return cudaErrorInvalidValue;
    CudaCondition *condition = mem_alloc(sizeof *condition);
    if (!condition) return cudaErrorMemoryAllocation;
    *condition = (CudaCondition){.graph = graph, .first = value, .assign = flags & CONDITION_ASSIGN_DEFAULT};
    u64 id = ++c->next_condition;
    if (map_put(&c->conditions, id, (u64)(uintptr_t)condition) != STATUS_OK)
        return mem_free(condition), cudaErrorMemoryAllocation;
    *to = id;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out, cudaGraph_t graph,
                                                      unsigned int defaultLaunchValue, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, create(c, pHandle_out, graph, defaultLaunchValue, flags));
}

void condition_set(CudaContext *c, u64 handle, u32 value) {
    CudaCondition *condition = find(c, handle);
    if (condition) condition->value = value;
}

void conditions_reset(CudaContext *c, const CudaGraph *graph) {
    for (u32 i = 0; i < graph->nodes.len; i++) {
        const CudaWork *work = &graph->nodes.data[i]->work;
        if (work->type == cudaGraphNodeTypeGraph) conditions_reset(c, work->graph);
        if (work->type != cudaGraphNodeTypeConditional) continue;
        CudaCondition *condition = find(c, work->conditional.handle);
        if (condition && condition->assign) condition->value = condition->first;
        for (u32 k = 0; k < work->conditional.size; k++) conditions_reset(c, work->conditional.bodies[k]);
    }
}

void conditions_forget(CudaContext *c, const CudaGraph *graph) {
    u64 handle, value;
    for (u32 at = 0; map_next(&c->conditions, &at, &handle, &value);) {
        CudaCondition *condition = (CudaCondition *)(uintptr_t)value;
        if (condition->graph == graph) condition->graph = NULL;  // executables may still use it
    }
}

// --- nodes -----------------------------------------------------------------------------------------------------------
cudaError_t make_conditional(CudaContext *c, struct cudaConditionalNodeParams *p, CudaWork *work) {
    static const unsigned most[] = {[CONDITION_IF] = 2, [CONDITION_WHILE] = 1, [CONDITION_SWITCH] = 1 << 20};
    *work = (CudaWork){.type = cudaGraphNodeTypeConditional};
    CudaCondition *condition = find(c, p->handle);
    if (!condition || condition->used || (unsigned)p->type >= WL_COUNT(most)) return cudaErrorInvalidValue;
    if (!p->size || p->size > most[p->type]) return cudaErrorInvalidValue;
    CudaConditional *to = &work->conditional;
    *to = (CudaConditional){.handle = p->handle, .type = p->type, .size = p->size};
    to->bodies = mem_zero(p->size, sizeof(CudaGraph *));
    for (u32 i = 0; to->bodies && i < p->size; i++) {
        to->bodies[i] = graph_new(c);
        if (!to->bodies[i]) return cudaErrorMemoryAllocation;
        to->bodies[i]->child = true;
    }
    if (!to->bodies) return cudaErrorMemoryAllocation;
    condition->used = true;
    p->phGraph_out = (cudaGraph_t *)(void *)to->bodies;
    return cudaSuccess;
}

cudaError_t conditional_clone(CudaContext *c, const CudaConditional *from, CudaConditional *to) {
    *to = *from;
    to->bodies = mem_zero(from->size, sizeof(CudaGraph *));
    if (!to->bodies) return to->size = 0, cudaErrorMemoryAllocation;
    for (u32 i = 0; i < from->size; i++) {
        cudaError_t error = graph_clone(c, from->bodies[i], &to->bodies[i]);
        if (error != cudaSuccess) return error;
        to->bodies[i]->child = true;
    }
    return cudaSuccess;
}

void conditional_release(CudaContext *c, CudaConditional *conditional) {
    for (u32 i = 0; conditional->bodies && i < conditional->size; i++) graph_destroy(c, conditional->bodies[i]);
    mem_free(conditional->bodies);
}

// CUDA programming guide, "Conditional Graph Nodes": what bodies may hold.
static bool body_is_valid(const CudaGraph *graph) {
    for (u32 i = 0; i < graph->nodes.len; i++) {
        const CudaWork *work = &graph->nodes.data[i]->work;
        switch (work->type) {
        case cudaGraphNodeTypeKernel:
        case cudaGraphNodeTypeMemcpy:
        case cudaGraphNodeTypeMemset:
        case cudaGraphNodeTypeEmpty: break;
        case cudaGraphNodeTypeGraph:
            if (!body_is_valid(work->graph)) return false;
            break;
        case cudaGraphNodeTypeConditional:
            if (!conditional_is_valid(&work->conditional)) return false;
            break;
        default: return false;
        }
    }
    return true;
}

bool conditional_is_valid(const CudaConditional *conditional) {
    for (u32 i = 0; i < conditional->size; i++)
        if (!body_is_valid(conditional->bodies[i])) return false;
    return true;
}

static u32 value_of(CudaContext *c, const CudaConditional *conditional) {
    CudaCondition *condition = find(c, conditional->handle);
    return condition ? condition->value : 0;
}

// Which body runs next; conditional->size: none.
static u32 next_body(CudaContext *c, const CudaConditional *conditional) {
    u32 value = value_of(c, conditional);
    switch (conditional->type) {
    case CONDITION_WHILE: return value ? 0 : conditional->size;
    case CONDITION_IF: return !value;  // the body for "else" is the second one
    default: return value;
    }
}

cudaError_t conditional_go(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    const CudaConditional *conditional = &task->work->conditional;
    for (;;) {
        if (!task->graph) {
            u32 body = next_body(c, conditional);
            if (body >= conditional->size) return task->state = TASK_DONE, cudaSuccess;
            cudaError_t made = graph_run_inner(c, task->stream, conditional->bodies[body], task->launch, &task->graph);
            if (made != cudaSuccess) return made;
        }
        bool done;
        cudaError_t error = graph_run_go(c, task->graph, effort, &done);
        task->state = TASK_BEGUN;
        if (!done) return cudaSuccess;
        graph_run_free(c, task->graph);
        task->graph = NULL;
        bool again = conditional->type == CONDITION_WHILE && error == cudaSuccess;
        if (!again || c->devices[task->stream->device].sticky != cudaSuccess) return task->state = TASK_DONE, error;
    }
}
