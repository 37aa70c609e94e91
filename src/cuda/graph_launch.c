// SPDX-License-Identifier: Apache-2.0
// What kernels ask for: launches of graphs, changes of nodes. Graph and stream handles come from device memory.
#include "cuda/api.h"
#include "cuda/graph_run.h"
#include "cuda/runtime_hooks.h"

enum { STREAM_TAIL = 1, STREAM_FIRE_AND_FORGET = 2, STREAM_SIBLING = 3 };  // top byte of the predefined streams

int graph_launch_from_device(CudaContext *c, u64 handle, u64 stream) {
    CudaExec *exec = object_get(&c->objects, (void *)(uintptr_t)handle, OBJECT_EXEC);
    u64 mode = stream >> 56;
    CudaTask *task = c->running;
    CudaExec *running = task ? graph_run_of(task->launch) : NULL;
    bool known = stream << 8 == 0 && mode >= STREAM_TAIL && mode <= STREAM_SIBLING;
    if (!exec || !known || !running) return cudaErrorInvalidValue;
    if (!(exec->flags & EXEC_DEVICE_LAUNCH) || !exec->uploaded || exec->pending) return cudaErrorInvalidValue;
    if (exec == running && mode != STREAM_TAIL) return cudaErrorInvalidValue;
    return graph_run_queue(mode == STREAM_TAIL ? graph_run_tails(task->launch) : &task->fired, exec);
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
