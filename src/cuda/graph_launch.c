// SPDX-License-Identifier: Apache-2.0
// Running executable graphs, and graphs that kernels launch: fire-and-forget graphs run when the kernel is over, tail
// launches when its graph is (CUDA programming guide, "Device Graph Launch").
#include "cuda/api.h"
#include "cuda/graph_condition.h"
#include "cuda/graph_work.h"
#include "cuda/runtime_hooks.h"
#include "cuda/stream.h"

static cudaError_t run_nodes(CudaContext *c, CudaStream *stream, CudaExec *exec) {
    cudaError_t error = cudaSuccess;
    conditions_reset(c, exec->graph);
    exec->pending = false;
    c->running_exec = exec->flags & EXEC_DEVICE_LAUNCH ? exec : NULL;
    for (u32 i = 0; i < exec->order.len && error == cudaSuccess; i++) {
        CudaNode *node = exec->order.data[i];
        if (!node->disabled) error = work_run(c, stream, &node->work);
        if (c->devices[stream->device].sticky != cudaSuccess) break;  // told by the next call, as for a launch
    }
    return error;
}

// Tails of a tail come before what was queued earlier.
static cudaError_t run_tails(CudaContext *c, CudaStream *stream, ExecList *tails) {
    cudaError_t error = cudaSuccess;
    while (tails->len && error == cudaSuccess) {
        ExecList later = *tails;
        *tails = (ExecList){0};
        error = run_nodes(c, stream, later.data[0]);
        for (u32 i = 1; i < later.len; i++)
            if (vec_push(tails, later.data[i]) != STATUS_OK) error = cudaErrorMemoryAllocation;
        vec_free(&later);
    }
    return error;
}

cudaError_t exec_run(CudaContext *c, CudaStream *stream, CudaExec *exec) {
    ExecList fired = {0}, tailed = {0}, *outer_fired = c->fired, *outer_tailed = c->tailed;
    CudaExec *outer = c->running_exec;
    c->fired = &fired;
    c->tailed = &tailed;
    cudaError_t error = run_nodes(c, stream, exec);
    if (error == cudaSuccess) error = run_tails(c, stream, &tailed);
    vec_free(&fired);
    vec_free(&tailed);
    c->running_exec = outer;
    c->fired = outer_fired;
    c->tailed = outer_tailed;
    return error;
}

cudaError_t exec_run_fired(CudaContext *c, CudaStream *stream) {
    cudaError_t error = cudaSuccess;
    if (!c->fired || !c->fired->len) return cudaSuccess;
    ExecList now = *c->fired;
    *c->fired = (ExecList){0};
    for (u32 i = 0; i < now.len && error == cudaSuccess; i++) error = exec_run(c, stream, now.data[i]);
    vec_free(&now);
    return error;
}

// --- asked for by kernels: graph and stream handles come from device memory
// --------------------------------------------
enum { STREAM_TAIL = 1, STREAM_FIRE_AND_FORGET = 2, STREAM_SIBLING = 3 };  // top byte of the predefined streams

int graph_launch_from_device(CudaContext *c, u64 handle, u64 stream) {
    CudaExec *exec = object_get(&c->objects, (void *)(uintptr_t)handle, OBJECT_EXEC);
    u64 mode = stream >> 56;
    bool known = stream << 8 == 0 && mode >= STREAM_TAIL && mode <= STREAM_SIBLING;
    if (!exec || !known || !c->running_exec || !c->fired) return cudaErrorInvalidValue;
    if (!(exec->flags & EXEC_DEVICE_LAUNCH) || !exec->uploaded || exec->pending) return cudaErrorInvalidValue;
    if (exec == c->running_exec && mode != STREAM_TAIL) return cudaErrorInvalidValue;
    if (vec_push(mode == STREAM_TAIL ? c->tailed : c->fired, exec) != STATUS_OK) return cudaErrorMemoryAllocation;
    exec->pending = true;
    return cudaSuccess;
}

int graph_change_from_device(CudaContext *c, const SimNodeChange *change) {
    CudaNode *made = object_get(&c->objects, (void *)(uintptr_t)change->node, OBJECT_NODE);
    CudaNode *node = made && made->updatable ? made->executable : NULL;
    if (!node) return cudaErrorInvalidValue;
    CudaLaunch *launch = &node->work.launch;
    switch (change->kind) {
    case NODE_CHANGE_ENABLED: node->disabled = !change->enabled; return cudaSuccess;
    case NODE_CHANGE_GRID:
        if (!change->grid[0] || !change->grid[1] || !change->grid[2]) return cudaErrorInvalidValue;
        launch->grid = (dim3){change->grid[0], change->grid[1], change->grid[2]};
        return cudaSuccess;
    default:
        if (change->offset > launch->param_bytes || change->size > launch->param_bytes - change->offset)
            return cudaErrorInvalidValue;
        for (u64 i = 0; i < change->size; i++) launch->params[change->offset + i] = ((const u8 *)change->value)[i];
        return cudaSuccess;
    }
}
