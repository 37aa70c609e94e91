// SPDX-License-Identifier: Apache-2.0
// One piece of work for a stream: a launch, a copy, a fill, ... Submitting it runs it at once, or makes it a graph node
// when the stream is being captured. Graph launches run the same thing (work_run).
#ifndef WL_CUDA_WORK_H
#define WL_CUDA_WORK_H

#include "cuda/context.h"

typedef struct CudaLaunch {
    CudaFunction *function;
    dim3 grid, block, cluster;  // cluster.x 0 = none asked for
    u32 shared;                 // dynamic, bytes
    bool cooperative;
    int device;
    u8 *params;  // the parameter block, owned
    u32 param_bytes;
} CudaLaunch;

typedef struct CudaConditional {  // graph_condition.h
    u64 handle;
    int type;
    u32 size;
    CudaGraph **bodies;  // `size` of them, owned
} CudaConditional;

typedef struct CudaWork {
    enum cudaGraphNodeType type;
    union {
        CudaLaunch launch;
        struct cudaMemcpy3DParms copy;  // also of all smaller copies
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        cudaEvent_t event;
        CudaGraph *graph;  // owned
        struct cudaMemAllocNodeParams alloc;
        void *freed;
        CudaConditional conditional;
    };
} CudaWork;

// Takes over what `work` owns, in any case.
cudaError_t work_submit(CudaContext *c, cudaStream_t stream, CudaWork *work);
cudaError_t work_run(CudaContext *c, CudaStream *stream, const CudaWork *work);
cudaError_t work_clone(CudaContext *c, const CudaWork *from, CudaWork *to);
void work_release(CudaContext *c, CudaWork *work);

// copy.c
cudaError_t copy_check(const struct cudaMemcpy3DParms *copy);  // what can be said without running it
// ... and what a graph node is refused for: nothing to copy, or memory that is not there.
cudaError_t copy_check_sides(CudaContext *c, const struct cudaMemcpy3DParms *copy);
cudaError_t fill_check(CudaContext *c, const struct cudaMemsetParams *fill);
cudaError_t copy_run(CudaContext *c, CudaStream *stream, const struct cudaMemcpy3DParms *copy);
cudaError_t fill_run(CudaContext *c, CudaStream *stream, const struct cudaMemsetParams *fill);
struct cudaMemcpy3DParms copy_linear(void *to, const void *from, size_t count, enum cudaMemcpyKind kind);

#endif
