// SPDX-License-Identifier: Apache-2.0
// Attributes of kernels, and how many of their CTAs fit.
#include <string.h>

#include "cuda/api.h"
#include "cuda/module.h"
#include "cuda/runtime_hooks.h"

static cudaError_t find(CudaContext *c, const void *func, CudaFunction **f, CudaKernel **kernel) {
    cudaError_t error = function_find(c, func, f);
    return error == cudaSuccess ? function_prepare(c, *f, kernel) : error;
}

static int default_dynamic_shared(const GpuModel *g, const SimKernelInfo *info) {
    i64 left = (i64)g->shared_per_cta - info->static_shared_bytes;
    return left > 0 ? (int)left : 0;
}

// The most threads whose registers fit, in whole warps of every scheduler; at most what the kernel was built for.
static int max_threads(const GpuModel *g, const SimKernelInfo *info) {
    u64 limit =
        info->max_threads && info->max_threads < g->max_threads_per_cta ? info->max_threads : g->max_threads_per_cta;
    u64 per_warp = (info->registers * 32ull + g->register_unit - 1) / g->register_unit * g->register_unit;
    if (!per_warp) return (int)limit;
    u64 warps = g->registers_per_cta / per_warp / g->warp_schedulers * g->warp_schedulers;
    return (int)(warps * 32 < limit ? warps * 32 : limit);
}

// Without what the program set for the function.
void function_describe(const GpuModel *gpu, const SimKernelInfo *info, struct cudaFuncAttributes *to) {
    *to = (struct cudaFuncAttributes){
        .sharedSizeBytes = info->static_shared_bytes,
        .constSizeBytes = info->const_bytes,
        .localSizeBytes = info->local_bytes,
        .maxThreadsPerBlock = max_threads(gpu, info),
        .numRegs = (int)info->registers,
        // Both are the target of the PTX that runs: CUB looks for the kernel variant built for exactly that.
        .ptxVersion = (int)info->target_sm,
        .binaryVersion = (int)info->target_sm,
        .maxDynamicSharedSizeBytes = default_dynamic_shared(gpu, info),
        .preferredShmemCarveout = -1,
        .clusterDimMustBeSet = info->cluster[0] != 0 || info->needs_cluster,
        .requiredClusterWidth = (int)info->cluster[0],
        .requiredClusterHeight = (int)info->cluster[1],
        .requiredClusterDepth = (int)info->cluster[2],
    };
}

static cudaError_t get_attributes(CudaContext *c, struct cudaFuncAttributes *to, const void *func) {
    CudaFunction *f;
    CudaKernel *kernel;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = find(c, func, &f, &kernel);
    if (error != cudaSuccess) return error;
    function_describe(cuda_gpu(c), &kernel->info, to);
    if (f->max_dynamic_shared >= 0) to->maxDynamicSharedSizeBytes = f->max_dynamic_shared;
    to->preferredShmemCarveout = f->carveout;
    to->clusterSchedulingPolicyPreference = f->cluster_policy;
    to->nonPortableClusterSizeAllowed = f->non_portable_cluster;
    if (kernel->info.cluster[0]) return cudaSuccess;
    to->requiredClusterWidth = f->cluster_required[0];
    to->requiredClusterHeight = f->cluster_required[1];
    to->requiredClusterDepth = f->cluster_required[2];
    return cudaSuccess;
}

CUDA_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func) {
    CUDA_RETURN(c, NEED_HEALTHY, get_attributes(c, attr, func));
}

static cudaError_t set_attribute(CudaContext *c, const void *func, enum cudaFuncAttribute attribute, int value) {
    CudaFunction *f;
    CudaKernel *kernel;
    cudaError_t error = find(c, func, &f, &kernel);
    if (error != cudaSuccess) return error;
    i64 most = (i64)cuda_gpu(c)->shared_per_cta_optin - kernel->info.static_shared_bytes;
    struct {
        int low, high, *field;
    } const rows[] = {
        [cudaFuncAttributeMaxDynamicSharedMemorySize] = {0, most > 0 ? (int)most : 0, &f->max_dynamic_shared},
        [cudaFuncAttributePreferredSharedMemoryCarveout] = {-1, 100, &f->carveout},
        [cudaFuncAttributeRequiredClusterWidth] = {0, 16, &f->cluster_required[0]},
        [cudaFuncAttributeRequiredClusterHeight] = {0, 16, &f->cluster_required[1]},
        [cudaFuncAttributeRequiredClusterDepth] = {0, 16, &f->cluster_required[2]},
        [cudaFuncAttributeNonPortableClusterSizeAllowed] = {INT32_MIN, INT32_MAX, &f->non_portable_cluster},
        [cudaFuncAttributeClusterSchedulingPolicyPreference] = {0, 2, &f->cluster_policy},
    };
    if ((unsigned)attribute >= WL_COUNT(rows) || !rows[attribute].field) return cudaErrorInvalidValue;
    if (value < rows[attribute].low || value > rows[attribute].high) return cudaErrorInvalidValue;
    *rows[attribute].field = value;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value) {
    CUDA_RETURN(c, NEED_HEALTHY, set_attribute(c, func, attr, value));
}

static cudaError_t set_cache(CudaContext *c, const void *func, int config) {
    CudaFunction *f;
    cudaError_t error = function_find(c, func, &f);
    if (error != cudaSuccess) return error;
    if (config < 0 || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    f->cache_config = config;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig) {
    CUDA_RETURN(c, NEED_HEALTHY, set_cache(c, func, (int)cacheConfig));
}

u32 function_carve_out(CudaContext *c, const CudaFunction *f) {
    static const u8 of_config[] = {[cudaFuncCachePreferShared] = 100, [cudaFuncCachePreferEqual] = 50};
    int config = f->cache_config ? f->cache_config : cuda_device(c)->cache_config;
    if (f->carveout >= 0) return (u32)f->carveout;
    return (u32)config < WL_COUNT(of_config) ? of_config[config] : 0;
}

// Banks have been as wide as they are since Maxwell.
static cudaError_t set_banks(CudaContext *c, const void *func, int config) {
    CudaFunction *f;
    cudaError_t error = function_find(c, func, &f);
    if (error != cudaSuccess) return error;
    return config < 0 || config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess;
}

CUDA_API cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config) {
    CUDA_RETURN(c, NEED_HEALTHY, set_banks(c, func, (int)config));
}

static cudaError_t get_name(CudaContext *c, const char **name, const void *func) {
    CudaFunction *f;
    cudaError_t error = name ? function_find(c, func, &f) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *name = f->name;
    return error;
}

CUDA_API cudaError_t cudaFuncGetName(const char **name, const void *func) {
    CUDA_RETURN(c, NEED_HEALTHY, get_name(c, name, func));
}

static cudaError_t param_info(CudaContext *c, const void *func, size_t index, size_t *offset, size_t *size) {
    CudaFunction *f;
    CudaKernel *kernel;
    cudaError_t error = find(c, func, &f, &kernel);
    if (error != cudaSuccess) return error;
    if (!offset || index >= kernel->info.param_count) return cudaErrorInvalidValue;
    *offset = kernel->info.params[index].offset;
    if (size) *size = kernel->info.params[index].size;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize) {
    CUDA_RETURN(c, NEED_HEALTHY, param_info(c, func, paramIndex, paramOffset, paramSize));
}

// --- occupancy ---

static cudaError_t max_blocks(CudaContext *c, int *blocks, const void *func, int threads, size_t shared) {
    CudaFunction *f;
    CudaKernel *kernel;
    cudaError_t error = find(c, func, &f, &kernel);
    if (error != cudaSuccess) return error;
    if (!blocks || threads <= 0) return cudaErrorInvalidValue;
    bool possible = (u64)threads <= cuda_gpu(c)->max_threads_per_cta && shared <= cuda_gpu(c)->shared_per_sm;
    *blocks = possible ? (int)sim_occupancy(cuda_gpu(c), &kernel->info, (u32)threads, (u32)shared) : 0;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize,
                                                                   size_t dynamicSMemSize) {
    CUDA_RETURN(c, NEED_HEALTHY, max_blocks(c, numBlocks, func, blockSize, dynamicSMemSize));
}

CUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                            int blockSize, size_t dynamicSMemSize,
                                                                            unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY,
                flags & ~(unsigned)cudaOccupancyDisableCachingOverride
                    ? cudaErrorInvalidValue
                    : max_blocks(c, numBlocks, func, blockSize, dynamicSMemSize));
}

static cudaError_t available_shared(CudaContext *c, size_t *bytes, const void *func, int blocks, int threads) {
    CudaFunction *f;
    CudaKernel *kernel;
    cudaError_t error = find(c, func, &f, &kernel);
    if (error != cudaSuccess) return error;
    if (!bytes || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    const GpuModel *g = cuda_gpu(c);
    u64 unit = g->shared_unit, fixed = g->shared_reserved + kernel->info.static_shared_bytes;
    u64 each = g->shared_per_sm / (u64)blocks / unit * unit;
    u64 left = each > fixed ? each - fixed : 0;
    if ((u64)blocks > g->max_ctas_per_sm) return cudaErrorInvalidValue;
    int allowed = f->max_dynamic_shared >= 0 ? f->max_dynamic_shared : default_dynamic_shared(g, &kernel->info);
    u64 most = (u64)allowed;
    *bytes = left < most ? left : most;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks,
                                                               int blockSize) {
    CUDA_RETURN(c, NEED_HEALTHY, available_shared(c, dynamicSmemSize, func, numBlocks, blockSize));
}

static u64 cluster_size(const cudaLaunchConfig_t *config) {
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const uint3 *dim = &config->attrs[i].val.clusterDim;
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) return (u64)dim->x * dim->y * dim->z;
    }
    return 1;
}

static cudaError_t max_clusters(CudaContext *c, int *clusters, const void *func, const cudaLaunchConfig_t *config) {
    CudaFunction *f;
    CudaKernel *kernel;
    if (!clusters || !config || (config->numAttrs && !config->attrs)) return cudaErrorInvalidValue;
    cudaError_t error = function_find(c, func, &f);
    if (error == cudaSuccess) error = function_prepare(c, f, &kernel);
    if (error != cudaSuccess) return error;
    u64 size = cluster_size(config), threads = (u64)config->blockDim.x * config->blockDim.y * config->blockDim.z;
    if (size == 0 || size > (f->non_portable_cluster ? 16 : 8)) return cudaErrorInvalidClusterSize;
    *clusters = (int)sim_cluster_occupancy(cuda_gpu(c), &kernel->info, threads > 1 << 20 ? 1 << 20 : (u32)threads,
                                           (u32)config->dynamicSmemBytes, (u32)size);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                                    const cudaLaunchConfig_t *launchConfig) {
    CUDA_RETURN(c, NEED_HEALTHY, max_clusters(c, numClusters, func, launchConfig));
}

static cudaError_t potential_cluster(CudaContext *c, int *size, const void *func) {
    CudaFunction *f;
    cudaError_t error = function_find(c, func, &f);
    if (error != cudaSuccess) return error;
    if (!size) return cudaErrorInvalidValue;
    *size = cuda_gpu(c)->sm_version < 90 ? 1 : f->non_portable_cluster ? 16 : 8;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                          const cudaLaunchConfig_t *launchConfig) {
    (void)launchConfig;
    CUDA_RETURN(c, NEED_HEALTHY, potential_cluster(c, clusterSize, func));
}
