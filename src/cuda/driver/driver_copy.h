// SPDX-License-Identifier: Apache-2.0
// Boxes of the driver API as the runtime has them, and back: for copies, and for graph nodes that copy.
#ifndef WL_CUDA_DRIVER_COPY_H
#define WL_CUDA_DRIVER_COPY_H

#include "cuda/driver/driver.h"

cudaError_t driver_box(CudaContext *c, const CUDA_MEMCPY3D *box, struct cudaMemcpy3DParms *to);
void driver_unbox(CudaContext *c, const struct cudaMemcpy3DParms *box, CUDA_MEMCPY3D *to);

#endif
