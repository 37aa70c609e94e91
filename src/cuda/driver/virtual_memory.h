// SPDX-License-Identifier: Apache-2.0
#ifndef WL_CUDA_VIRTUAL_MEMORY_H
#define WL_CUDA_VIRTUAL_MEMORY_H

#include "cuda/driver/driver.h"

// The mapping (cuMemMap) an address is in; either result may be NULL. False: it is in none.
bool virtual_range(CudaContext *c, u64 address, CUdeviceptr *base, size_t *size);

#endif
