// SPDX-License-Identifier: Apache-2.0
#ifndef WL_CUDA_LAUNCH_H
#define WL_CUDA_LAUNCH_H

#include "cuda/module.h"
#include "cuda/work.h"

// Copies the arguments into a parameter block and checks the configuration. `launch` has function, grid, block,
// cluster, shared and cooperative; params are filled in (owned by it) also when an error comes back.
cudaError_t launch_prepare(CudaContext *c, CudaLaunch *launch, void **args);
cudaError_t launch_run(CudaContext *c, CudaStream *stream, const CudaLaunch *launch);

#endif
