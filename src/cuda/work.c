// SPDX-License-Identifier: Apache-2.0
#include "cuda/work.h"

#include <string.h>

#include "cuda/driver/word.h"
#include "cuda/graph_condition.h"
#include "cuda/graph_run.h"
#include "cuda/launch.h"
#include "cuda/pending.h"
#include "cuda/pool.h"
#include "cuda/transfer.h"

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
    if (error == cudaSuccess) return pending_submit(c, stream, work);
    work_release(c, work);
    return error;
}

// --- in execution ----------------------------------------------------------------------------------------------------
cudaError_t task_prepare(CudaContext *c, CudaTask *task) {
    const CudaWork *work = task->work;
    switch (work->type) {
    case cudaGraphNodeTypeEventRecord: return event_issue(c, work->event, &task->mark);
    case cudaGraphNodeTypeWaitEvent: task->mark = event_mark(c, work->event); return cudaSuccess;
    case cudaGraphNodeTypeGraph: return graph_run_inner(c, task->stream, work->graph, task->launch, &task->graph);
    case WORK_EXEC: return graph_run_exec(c, task->stream, work->exec, &task->graph);
    default: return cudaSuccess;
    }
}

static cudaError_t run_callback(CudaContext *c, const CudaCallback *callback, const CudaStream *stream);

// What is done at once when it is begun.
static cudaError_t run(CudaContext *c, const CudaTask *task) {
    const CudaWork *work = task->work;
    switch (work->type) {
    case cudaGraphNodeTypeMemcpy: return copy_run(c, task->stream, &work->copy, task->time);
    case cudaGraphNodeTypeMemset: return fill_run(c, task->stream, &work->fill, task->time);
    case cudaGraphNodeTypeHost: cuda_call_host(c, work->host.fn, work->host.userData); return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: return event_record_now(c, work->event, task->mark);
    case cudaGraphNodeTypeMemAlloc: return graph_memory_set(c, work->alloc.dptr, true);
    case cudaGraphNodeTypeMemFree: return graph_memory_set(c, work->freed, false);
    case WORK_CALLBACK: return run_callback(c, &work->callback, task->stream);
    case WORK_FREE: return pool_release(c, work->freed);
    case WORK_WRITE_WORD: return word_write(c, &work->word);
    default: return cudaSuccess;  // empty nodes
    }
}

static cudaError_t go_graph(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    bool done;
    cudaError_t error = graph_run_go(c, task->graph, effort, &done);
    task->state = done ? TASK_DONE : TASK_BEGUN;
    return error;
}

static bool moves(CudaContext *c, const CudaWork *work, Transfer *transfer) {
    return work->type == cudaGraphNodeTypeMemcpy ? copy_moves(c, &work->copy, transfer)
                                                 : fill_moves(c, &work->fill, transfer);
}

static cudaError_t go_transfer(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    Transfer transfer;
    bool takes_time = task->state == TASK_BEGUN || (c->config.timing && moves(c, task->work, &transfer));
    if (takes_time && task->state == TASK_NEW) {
        if (!transfer_begin(c, task, &transfer)) return cudaErrorMemoryAllocation;
        task->state = TASK_BEGUN;
    }
    if (takes_time && !transfer_is_over(c, task, effort)) return cudaSuccess;
    if (takes_time) transfer_end(c, task);
    task->state = TASK_DONE;
    return run(c, task);
}

static cudaError_t go(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    switch (task->work->type) {
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset: return go_transfer(c, task, effort);
    case cudaGraphNodeTypeKernel: return launch_go(c, task, effort);
    case cudaGraphNodeTypeGraph:
    case WORK_EXEC: return go_graph(c, task, effort);
    case cudaGraphNodeTypeConditional: return conditional_go(c, task, effort);
    case cudaGraphNodeTypeWaitEvent:
        if (!task->mark || task->mark->done) task->state = TASK_DONE;
        return cudaSuccess;
    case WORK_WAIT_WORD: {
        bool there = false;
        cudaError_t error = word_is_there(c, &task->work->word, &there);
        task->state = there || error != cudaSuccess ? TASK_DONE : TASK_BEGUN;
        return error;
    }
    default: task->state = TASK_DONE; return run(c, task);
    }
}

cudaError_t task_go(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    cudaError_t error = go(c, task, effort);
    if (error != cudaSuccess) task->state = TASK_DONE;
    effort->moved |= task->state == TASK_DONE;
    return error;
}

CudaTask *task_waiting(CudaTask *task) {
    if (task->run) return task->waits ? task : NULL;
    return task->graph && task->state == TASK_BEGUN ? graph_run_waiting(task->graph) : NULL;
}

void task_release(CudaContext *c, CudaTask *task) {
    if (task->run) launch_give_up(c, task);
    if (task->state == TASK_BEGUN) transfer_end(c, task);
    graph_run_free(c, task->graph);
    for (u32 i = 0; i < task->fired.len; i++) graph_run_unqueue(c, task->fired.data[i]);
    vec_free(&task->fired);
    if (task->mark && task->work->type == cudaGraphNodeTypeEventRecord) task->mark->done = true;
    event_mark_release(task->mark);
    task->graph = NULL;
    task->mark = NULL;
    task->state = TASK_DONE;
}

typedef struct Call {
    const CudaCallback *callback;
    cudaError_t error;
} Call;

static void call_back(void *data) {
    const Call *call = data;
    call->callback->function(call->callback->stream, call->error, call->callback->data);
}

static cudaError_t run_callback(CudaContext *c, const CudaCallback *callback, const CudaStream *stream) {
    Call call = {callback, c->devices[stream->device].sticky};
    cuda_call_host(c, call_back, &call);
    return cudaSuccess;
}
