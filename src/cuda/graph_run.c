// SPDX-License-Identifier: Apache-2.0
// Nodes run in an order that puts each behind what it needs; one that has to wait holds up only those that need it.
// Device graph launch (CUDA programming guide): fire-and-forget graphs run when the kernel that launched them is over
// (launch.c), tail launches when the graph is; tails of a tail come before what was queued earlier.
#include "cuda/graph_run.h"

#include "cuda/graph_condition.h"
#include "cuda/stream.h"

struct GraphRun {
    CudaGraph *graph;  // of a child graph or body, NULL with an executable
    CudaExec *exec;    // whose nodes run now
    GraphRun *launch;  // itself with an executable
    CudaStream *stream;
    NodeList own_order;
    const NodeList *order;
    CudaTask *tasks;  // by position in the order
    u32 first;        // tasks before this one are done
    bool begun;
    ExecList tailed;  // what kernels launched to follow
    ExecList rest;    // what was queued before that
};

CudaExec *graph_run_of(const GraphRun *run) {
    return run && run->exec && run->exec->flags & EXEC_DEVICE_LAUNCH ? run->exec : NULL;
}

static void clear_tasks(CudaContext *c, GraphRun *run) {
    for (u32 i = 0; run->tasks && i < run->order->len; i++) task_release(c, &run->tasks[i]);
    mem_free(run->tasks);
    run->tasks = NULL;
}

static cudaError_t make_tasks(CudaContext *c, GraphRun *run) {
    run->first = 0;
    run->begun = false;
    run->tasks = mem_zero(run->order->len ? run->order->len : 1, sizeof *run->tasks);
    if (!run->tasks) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaSuccess;
    for (u32 i = 0; i < run->order->len && error == cudaSuccess; i++) {
        CudaNode *node = run->order->data[i];
        node->place = i;
        run->tasks[i] = (CudaTask){.work = &node->work, .stream = run->stream, .launch = run->launch};
        if (!node->disabled) error = task_prepare(c, &run->tasks[i]);
    }
    return error;
}

static void exec_leave(CudaContext *c, CudaExec *exec) {
    if (!exec || --exec->runs || !exec->doomed) return;
    exec_free(c, exec);
}

// Goes over to the nodes of `exec`.
static cudaError_t take_exec(CudaContext *c, GraphRun *run, CudaExec *exec) {
    clear_tasks(c, run);
    exec->runs++;
    if (run->exec && run->begun) run->exec->busy = false;
    exec_leave(c, run->exec);
    run->exec = exec;
    run->order = &exec->order;
    return make_tasks(c, run);
}

cudaError_t graph_run_exec(CudaContext *c, CudaStream *stream, CudaExec *exec, GraphRun **to) {
    GraphRun *run = mem_zero(1, sizeof *run);
    *to = NULL;
    if (!run) return cudaErrorMemoryAllocation;
    run->launch = run;
    run->stream = stream;
    cudaError_t error = take_exec(c, run, exec);
    if (error != cudaSuccess) return graph_run_free(c, run), error;
    *to = run;
    return cudaSuccess;
}

cudaError_t graph_run_inner(CudaContext *c, CudaStream *stream, CudaGraph *graph, GraphRun *launch, GraphRun **to) {
    GraphRun *run = mem_zero(1, sizeof *run);
    *to = NULL;
    if (!run) return cudaErrorMemoryAllocation;
    *run = (GraphRun){.graph = graph, .launch = launch, .stream = stream};
    run->order = &run->own_order;
    cudaError_t error = graph_order(graph, &run->own_order);
    if (error == cudaSuccess) error = make_tasks(c, run);
    if (error != cudaSuccess) return graph_run_free(c, run), error;
    *to = run;
    return cudaSuccess;
}

void graph_run_unqueue(CudaContext *c, CudaExec *exec) {
    exec->pending = false;
    exec_leave(c, exec);
}

static void free_execs(CudaContext *c, ExecList *list) {
    for (u32 i = 0; i < list->len; i++) graph_run_unqueue(c, list->data[i]);
    vec_free(list);
}

void graph_run_free(CudaContext *c, GraphRun *run) {
    if (!run) return;
    clear_tasks(c, run);
    free_execs(c, &run->tailed);
    free_execs(c, &run->rest);
    vec_free(&run->own_order);
    if (run->exec && run->begun) run->exec->busy = false;
    exec_leave(c, run->exec);
    mem_free(run);
}

CudaTask *graph_run_waiting(GraphRun *run) {
    for (u32 i = run->first; i < run->order->len; i++) {
        CudaTask *waiting = task_waiting(&run->tasks[i]);
        if (waiting) return waiting;
    }
    return NULL;
}

cudaError_t graph_run_queue(ExecList *list, CudaExec *exec) {
    if (vec_push(list, exec) != STATUS_OK) return cudaErrorMemoryAllocation;
    exec->runs++;
    exec->pending = true;
    return cudaSuccess;
}

ExecList *graph_run_tails(GraphRun *run) { return &run->launch->tailed; }

static bool may_begin(const GraphRun *run, const CudaNode *node) {
    for (u32 i = 0; i < node->needs.len; i++)
        if (run->tasks[node->needs.data[i]->place].state != TASK_DONE) return false;
    return true;
}

// An executable's nodes run for one launch at a time.
static bool enter(CudaContext *c, GraphRun *run) {
    if (run->begun) return true;
    if (run->exec) {
        if (run->exec->busy) return false;
        run->exec->busy = true;
        run->exec->pending = false;
        conditions_reset(c, run->exec->graph);
    }
    return run->begun = true;
}

static cudaError_t go_nodes(CudaContext *c, GraphRun *run, WorkEffort *effort) {
    for (u32 i = run->first; i < run->order->len; i++) {
        CudaTask *task = &run->tasks[i];
        const CudaNode *node = run->order->data[i];
        bool begins = task->state == TASK_NEW && effort->begin && may_begin(run, node);
        cudaError_t error = cudaSuccess;
        if (begins && node->disabled)
            task->state = TASK_DONE;
        else if (begins || task->state == TASK_BEGUN)
            error = task_go(c, task, effort);
        if (error != cudaSuccess) return error;
        if (c->devices[run->stream->device].sticky != cudaSuccess) return cudaSuccess;
        if (task->state == TASK_DONE && run->first == i) run->first++;
    }
    return cudaSuccess;
}

// The tail launch that comes next; NULL when there is none.
static cudaError_t next_tail(GraphRun *run, CudaExec **next) {
    *next = NULL;
    if (!run->tailed.len && !run->rest.len) return cudaSuccess;
    for (u32 i = 0; i < run->rest.len; i++)
        if (vec_push(&run->tailed, run->rest.data[i]) != STATUS_OK) return cudaErrorMemoryAllocation;
    run->rest.len = 0;
    ExecList all = run->tailed;
    run->tailed = run->rest;
    run->rest = all;
    *next = all.data[0];
    for (u32 i = 1; i < all.len; i++) all.data[i - 1] = all.data[i];
    run->rest.len--;
    return cudaSuccess;
}

cudaError_t graph_run_go(CudaContext *c, GraphRun *run, WorkEffort *effort, bool *done) {
    *done = false;
    for (;;) {
        if (!enter(c, run)) return cudaSuccess;
        cudaError_t error = go_nodes(c, run, effort);
        bool failed = error != cudaSuccess || c->devices[run->stream->device].sticky != cudaSuccess;
        if (!failed && run->first < run->order->len) return cudaSuccess;
        CudaExec *next = NULL;
        if (!failed) error = next_tail(run, &next);
        if (!next || error != cudaSuccess) return *done = true, error;
        error = take_exec(c, run, next);
        graph_run_unqueue(c, next);  // the run has it now
        if (error != cudaSuccess) return *done = true, error;
    }
}
