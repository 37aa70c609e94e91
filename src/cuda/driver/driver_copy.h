// SPDX-License-Identifier: Apache-2.0
// What the driver API describes differently, as the runtime has it, and back.
#ifndef WL_CUDA_DRIVER_COPY_H
#define WL_CUDA_DRIVER_COPY_H

#include "cuda/driver/driver.h"

// A format of so many channels (driver_array.c). cudaErrorInvalidValue: there is none.
cudaError_t driver_channels(CUarray_format format, unsigned channels, struct cudaChannelFormatDesc *to);
// Boxes, for copies and for graph nodes that copy.
cudaError_t driver_box(CudaContext *c, const CUDA_MEMCPY3D *box, struct cudaMemcpy3DParms *to);
void driver_unbox(CudaContext *c, const struct cudaMemcpy3DParms *box, CUDA_MEMCPY3D *to);

#endif
