// SPDX-License-Identifier: Apache-2.0
#ifndef WL_CUDA_LAUNCH_H
#define WL_CUDA_LAUNCH_H

#include "cuda/module.h"
#include "cuda/work.h"

// Copies the arguments into a parameter block and checks the configuration. `launch` has function, grid, block,
// cluster, shared and cooperative; params are filled in (owned by it) also when an error comes back. The arguments are
// either `args`, a pointer to each, or `extra`, the driver API's list with one packed buffer.
cudaError_t launch_prepare(CudaContext *c, CudaLaunch *launch, void **args, void **extra);
// Prepares and submits it; `func` is whatever stands for a function, `launch.function` is filled in.
cudaError_t launch_function(CudaContext *c, const void *func, CudaLaunch launch, void **args, void **extra,
                            cudaStream_t stream);
cudaError_t launch_configured(CudaContext *c, const cudaLaunchConfig_t *config, const void *func, void **args,
                              void **extra);
// task_go of a kernel.
cudaError_t launch_go(CudaContext *c, CudaTask *task, WorkEffort *effort);
// Ends a kernel under way: given up; told as a deadlock, which becomes the error of its device.
void launch_give_up(CudaContext *c, CudaTask *task);
cudaError_t launch_deadlock(CudaContext *c, CudaTask *task);
void launch_explain(CudaContext *c, const CudaTask *task);  // a warning that says where a kernel waits

#endif
