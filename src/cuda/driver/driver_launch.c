// SPDX-License-Identifier: Apache-2.0
// Launches, and the old way to them: cuFuncSetBlockShape, cuParamSet..., cuLaunch.
#include <string.h>

#include "cuda/api.h"
#include "cuda/driver/driver_api.h"
#include "cuda/launch.h"

CUDA_API CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                 unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra) {
    CudaLaunch l = {
        .grid = {gridDimX, gridDimY, gridDimZ}, .block = {blockDimX, blockDimY, blockDimZ}, .shared = sharedMemBytes};
    DRIVER_RETURN_ON(c, hStream, launch_function(c, f, l, kernelParams, extra, hStream));
}

CUDA_API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                            unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                            void **kernelParams) {
    CudaLaunch l = {.grid = {gridDimX, gridDimY, gridDimZ},
                    .block = {blockDimX, blockDimY, blockDimZ},
                    .shared = sharedMemBytes,
                    .cooperative = true};
    DRIVER_RETURN_ON(c, hStream, launch_function(c, f, l, kernelParams, NULL, hStream));
}

static cudaLaunchConfig_t runtime_config(const CUlaunchConfig *config) {
    return (cudaLaunchConfig_t){.gridDim = {config->gridDimX, config->gridDimY, config->gridDimZ},
                                .blockDim = {config->blockDimX, config->blockDimY, config->blockDimZ},
                                .dynamicSmemBytes = config->sharedMemBytes,
                                .stream = config->hStream,
                                .attrs = config->attrs,
                                .numAttrs = config->numAttrs};
}

static cudaError_t launch_ex(CudaContext *c, const CUlaunchConfig *config, CUfunction f, void **args, void **extra) {
    if (!config) return cudaErrorInvalidValue;
    cudaLaunchConfig_t same = runtime_config(config);
    return launch_configured(c, &same, f, args, extra);
}

CUDA_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, launch_ex(c, config, f, kernelParams, extra));
}

static cudaError_t max_clusters(int *to, CUfunction f, const CUlaunchConfig *config) {
    if (!config) return cudaErrorInvalidValue;
    cudaLaunchConfig_t same = runtime_config(config);
    return cudaOccupancyMaxActiveClusters(to, f, &same);
}

CUDA_API CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, max_clusters(numClusters, func, config));
}

static cudaError_t potential_cluster(int *to, CUfunction f, const CUlaunchConfig *config) {
    if (!config) return cudaErrorInvalidValue;
    cudaLaunchConfig_t same = runtime_config(config);
    return cudaOccupancyMaxPotentialClusterSize(to, f, &same);
}

CUDA_API CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, potential_cluster(clusterSize, func, config));
}

// --- the old way: a function keeps its block and its arguments until it is launched ---

enum { LEGACY_PARAM_BYTES = 4096 };

typedef struct LegacyLaunch {
    dim3 block;
    u32 shared, param_bytes;
    u8 params[LEGACY_PARAM_BYTES];
} LegacyLaunch;

static cudaError_t legacy(CudaContext *c, CUfunction handle, LegacyLaunch **to) {
    CudaFunction *f;
    cudaError_t error = function_find(c, handle, &f);
    if (error != cudaSuccess) return error;
    if (!f->legacy) f->legacy = mem_zero(1, sizeof *f->legacy);
    *to = f->legacy;
    return f->legacy ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t set_block(CudaContext *c, CUfunction f, int x, int y, int z) {
    LegacyLaunch *l;
    cudaError_t error = x > 0 && y > 0 && z > 0 ? legacy(c, f, &l) : cudaErrorInvalidValue;
    if (error == cudaSuccess) l->block = (dim3){(unsigned)x, (unsigned)y, (unsigned)z};
    return error;
}

CUDA_API CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, set_block(c, hfunc, x, y, z));
}

static cudaError_t set_shared(CudaContext *c, CUfunction f, unsigned bytes) {
    LegacyLaunch *l;
    cudaError_t error = legacy(c, f, &l);
    if (error == cudaSuccess) l->shared = bytes;
    return error;
}

CUDA_API CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, set_shared(c, hfunc, bytes));
}

static cudaError_t set_size(CudaContext *c, CUfunction f, unsigned bytes) {
    LegacyLaunch *l;
    cudaError_t error = bytes <= LEGACY_PARAM_BYTES ? legacy(c, f, &l) : cudaErrorInvalidValue;
    if (error == cudaSuccess) l->param_bytes = bytes;
    return error;
}

CUDA_API CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, set_size(c, hfunc, numbytes));
}

static cudaError_t set_param(CudaContext *c, CUfunction f, int offset, const void *from, unsigned bytes) {
    LegacyLaunch *l;
    bool fits = from && offset >= 0 && bytes <= LEGACY_PARAM_BYTES && (unsigned)offset <= LEGACY_PARAM_BYTES - bytes;
    cudaError_t error = fits ? legacy(c, f, &l) : cudaErrorInvalidValue;
    if (error == cudaSuccess) memcpy(l->params + offset, from, bytes);
    return error;
}

CUDA_API CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, set_param(c, hfunc, offset, &value, sizeof value));
}
CUDA_API CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, set_param(c, hfunc, offset, &value, sizeof value));
}
CUDA_API CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, set_param(c, hfunc, offset, ptr, numbytes));
}

static cudaError_t launch_legacy(CudaContext *c, CUfunction f, int width, int height, CUstream stream) {
    LegacyLaunch *l;
    cudaError_t error = width > 0 && height > 0 ? legacy(c, f, &l) : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    size_t size = l->param_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, l->params, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CudaLaunch shape = {.grid = {(unsigned)width, (unsigned)height, 1}, .block = l->block, .shared = l->shared};
    return launch_function(c, f, shape, NULL, extra, stream);
}

CUDA_API CUresult cuLaunch(CUfunction f) { DRIVER_RETURN(c, DRIVER_CONTEXT, launch_legacy(c, f, 1, 1, NULL)); }
CUDA_API CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, launch_legacy(c, f, grid_width, grid_height, NULL));
}
CUDA_API CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, launch_legacy(c, f, grid_width, grid_height, hStream));
}
