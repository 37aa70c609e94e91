// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation. A pool only counts: memory comes from the device and goes back at once.
#ifndef WL_CUDA_POOL_H
#define WL_CUDA_POOL_H

#include "cuda/context.h"

struct CudaPool {
    int device;
    struct cudaMemPoolProps props;
    u64 used, used_high, reserved_high, threshold;
    int reuse[4];   // by attribute 1..3
    u64 access[2];  // bit d: device d may read, may write
};

bool pool_forget(CudaContext *c, void *address, u64 size);  // true when the allocation came from a pool
cudaError_t pool_release(CudaContext *c, void *address);    // cudaFreeAsync, when its turn has come

#endif
