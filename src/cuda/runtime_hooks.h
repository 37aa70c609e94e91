// SPDX-License-Identifier: Apache-2.0
// What kernels ask the runtime for while they run (SimRuntime). The lock is held then: by the call that launched.
#ifndef WL_CUDA_RUNTIME_HOOKS_H
#define WL_CUDA_RUNTIME_HOOKS_H

#include "cuda/context.h"

extern const SimRuntime runtime_hooks;  // its context is the CudaContext

// graph_launch.c
int graph_launch_from_device(CudaContext *c, u64 exec, u64 stream);
int graph_change_from_device(CudaContext *c, const SimNodeChange *change);

// device.c, function.c
cudaError_t device_attribute(const CudaContext *c, u32 device, int attribute, int *value);
void function_describe(const GpuModel *gpu, const SimKernelInfo *info, struct cudaFuncAttributes *to);

#endif
