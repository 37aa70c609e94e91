// SPDX-License-Identifier: Apache-2.0
// Modules, libraries, and the functions in them. A CUfunction, a CUkernel and the runtime's cudaFunction_t and
// cudaKernel_t are one thing here, a CudaFunction, which is prepared on each device where it is used; so are a library
// and its module.
#include "cuda/api.h"
#include "cuda/driver/device_context.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/image.h"

cudaError_t image_load(CudaContext *c, ImageSource source, bool library, JitOptions options, CudaModule **module) {
    BinaryImage image = {0};
    Diag diag = {0};
    u64 begin = cuda_now();
    cudaError_t error = jit_check(&options);
    if (error != cudaSuccess) return error;
    error = source.path ? jit_file(c, source.path, &image, &diag) : jit_image(c, source.image, &image, &diag);
    if (error == cudaSuccess) error = module_load(c, &image, library, &diag, module);
    jit_report(c, &options, &diag, begin);
    diag_free(&diag);
    return error;
}

static cudaError_t load_module(CudaContext *c, CUmodule *to, ImageSource source, JitOptions options) {
    CudaModule *module;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = image_load(c, source, false, options, &module);
    if (error != cudaSuccess) return error;
    *to = (CUmodule)module;
    return context_own(c, OWNED_MODULE, module);
}

CUDA_API CUresult cuModuleLoad(CUmodule *module, const char *fname) {
    DRIVER_RETURN(c, DRIVER_CONTEXT,
                  fname ? load_module(c, module, (ImageSource){.path = fname}, (JitOptions){0})
                        : cudaErrorInvalidValue);
}

CUDA_API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, load_module(c, module, (ImageSource){.image = image}, (JitOptions){0}));
}

CUDA_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                     CUjit_option *options, void **optionValues) {
    JitOptions jit = {numOptions, options, optionValues};
    DRIVER_RETURN(c, DRIVER_CONTEXT, load_module(c, module, (ImageSource){.image = image}, jit));
}

CUDA_API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, load_module(c, module, (ImageSource){.image = fatCubin}, (JitOptions){0}));
}

static cudaError_t unload_module(CudaContext *c, CUmodule handle) {
    CudaModule *module = module_find(c, handle);
    if (!module) return cudaErrorInvalidResourceHandle;
    if (module_is_library(module)) return cudaErrorNotPermitted;
    cudaError_t error = module_unload(c, module);
    if (error == cudaSuccess) context_disown(c, handle);
    return error;
}

CUDA_API CUresult cuModuleUnload(CUmodule hmod) { DRIVER_RETURN(c, DRIVER_CONTEXT, unload_module(c, hmod)); }

CUDA_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    DRIVER_RETURN(c, DRIVER_READY, mode ? (*mode = CU_MODULE_LAZY_LOADING, cudaSuccess) : cudaErrorInvalidValue);
}

// --- what is in a module ---

cudaError_t image_function(CudaContext *c, CudaFunction **to, const void *handle, const char *name) {
    CudaModule *module = module_find(c, handle);
    if (!to || !name || !*name) return cudaErrorInvalidValue;
    return module ? module_function(c, module, name, to) : cudaErrorInvalidResourceHandle;
}

CUDA_API CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, image_function(c, (CudaFunction **)hfunc, hmod, name));
}

cudaError_t image_variable(CudaContext *c, CUdeviceptr *to, size_t *bytes, const void *handle, const char *name) {
    CudaModule *module = module_find(c, handle);
    void *address = NULL;
    if (!name || (!to && !bytes)) return cudaErrorInvalidValue;
    if (!module) return cudaErrorInvalidResourceHandle;
    cudaError_t error = module_variable(c, module, name, &address, bytes);
    if (error == cudaSuccess && to) *to = driver_address(address);
    return error;
}

CUDA_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, image_variable(c, dptr, bytes, hmod, name));
}

cudaError_t image_count(CudaContext *c, unsigned *to, const void *handle) {
    CudaModule *module = module_find(c, handle);
    if (!to) return cudaErrorInvalidValue;
    return module ? module_functions(c, module, NULL, 0, to) : cudaErrorInvalidResourceHandle;
}

CUDA_API CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, image_count(c, count, mod));
}

cudaError_t image_list(CudaContext *c, CudaFunction **to, unsigned room, const void *handle) {
    CudaModule *module = module_find(c, handle);
    u32 count;
    if (!to) return cudaErrorInvalidValue;
    return module ? module_functions(c, module, to, room, &count) : cudaErrorInvalidResourceHandle;
}

CUDA_API CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, image_list(c, (CudaFunction **)functions, numFunctions, mod));
}

// --- functions and kernels ---

static cudaError_t get_module_of(CudaContext *c, const void *function, bool library, void **to) {
    CudaFunction *f;
    cudaError_t error = to ? function_find(c, function, &f) : cudaErrorInvalidValue;
    if (error == cudaSuccess && library && !module_is_library(f->module)) error = cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess) *to = f->module;
    return error;
}

CUDA_API CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
    DRIVER_RETURN(c, DRIVER_HEALTHY, get_module_of(c, hfunc, false, (void **)hmod));
}

CUDA_API CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel) {
    DRIVER_RETURN(c, DRIVER_READY, get_module_of(c, kernel, true, (void **)pLib));
}

static cudaError_t loading_state(CudaContext *c, CUfunctionLoadingState *to, CUfunction function) {
    CudaFunction *f;
    cudaError_t error = to ? function_find(c, function, &f) : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    bool prepared = f->devices && f->devices[cuda_thread()->device].kernel;
    bool loaded = prepared || !module_is_library(f->module);
    *to = loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return cudaSuccess;
}

CUDA_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, loading_state(c, state, function));
}

static cudaError_t prepare(CudaContext *c, const void *function) {
    CudaFunction *f;
    CudaKernel *kernel;
    cudaError_t error = function_find(c, function, &f);
    return error == cudaSuccess ? function_prepare(c, f, &kernel) : error;
}

CUDA_API CUresult cuFuncLoad(CUfunction function) { DRIVER_RETURN(c, DRIVER_CONTEXT, prepare(c, function)); }

static cudaError_t kernel_function(CudaContext *c, CUfunction *to, CUkernel kernel) {
    CudaFunction *f;
    cudaError_t error = to ? function_find(c, kernel, &f) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *to = (CUfunction)f;
    return error;
}

CUDA_API CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, kernel_function(c, pFunc, kernel));
}

// By CUfunction_attribute: where cudaFuncGetAttributes has it.
static int attribute_of(const struct cudaFuncAttributes *a, CUfunction_attribute attribute) {
    const int values[] = {
        a->maxThreadsPerBlock,
        (int)a->sharedSizeBytes,
        (int)a->constSizeBytes,
        (int)a->localSizeBytes,
        a->numRegs,
        a->ptxVersion,
        a->binaryVersion,
        a->cacheModeCA,
        a->maxDynamicSharedSizeBytes,
        a->preferredShmemCarveout,
        a->clusterDimMustBeSet,
        a->requiredClusterWidth,
        a->requiredClusterHeight,
        a->requiredClusterDepth,
        a->nonPortableClusterSizeAllowed,
        a->clusterSchedulingPolicyPreference,
    };
    return values[attribute];
}

enum { FUNCTION_ATTRIBUTES = 16 };

static cudaError_t get_attribute(int *to, CUfunction_attribute attribute, const void *function) {
    struct cudaFuncAttributes all;
    if (!to || attribute < 0 || attribute >= FUNCTION_ATTRIBUTES) return cudaErrorInvalidValue;
    cudaError_t error = cudaFuncGetAttributes(&all, function);
    if (error == cudaSuccess) *to = attribute_of(&all, attribute);
    return error;
}

static cudaError_t set_attribute(const void *function, CUfunction_attribute attribute, int value) {
    return cudaFuncSetAttribute(function, (enum cudaFuncAttribute)attribute, value);
}

CUDA_API CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc) {
    DRIVER_RETURN(c, DRIVER_HEALTHY, get_attribute(pi, attrib, hfunc));
}

CUDA_API CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    DRIVER_RETURN(c, DRIVER_HEALTHY, set_attribute(hfunc, attrib, value));
}

// Kernels are asked for a device: it becomes the thread's for the time of the question.
static cudaError_t on_device(CudaContext *c, CUdevice device, int *before) {
    if (device < 0 || (u32)device >= c->config.devices) return cudaErrorInvalidDevice;
    *before = cuda_thread()->device;
    cuda_thread()->device = device;
    return cudaSuccess;
}

static cudaError_t get_kernel_attribute(CudaContext *c, int *to, CUfunction_attribute attribute, CUkernel kernel,
                                        CUdevice device) {
    int before;
    cudaError_t error = on_device(c, device, &before);
    if (error != cudaSuccess) return error;
    error = get_attribute(to, attribute, kernel);
    cuda_thread()->device = before;
    return error;
}

CUDA_API CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, get_kernel_attribute(c, pi, attrib, kernel, dev));
}

static cudaError_t set_kernel_attribute(CudaContext *c, CUfunction_attribute attribute, int value, CUkernel kernel,
                                        CUdevice device) {
    int before;
    cudaError_t error = on_device(c, device, &before);
    if (error != cudaSuccess) return error;
    error = set_attribute(kernel, attribute, value);
    cuda_thread()->device = before;
    return error;
}

CUDA_API CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, set_kernel_attribute(c, attrib, val, kernel, dev));
}

static cudaError_t set_kernel_cache(CudaContext *c, CUkernel kernel, CUfunc_cache config, CUdevice device) {
    int before;
    cudaError_t error = on_device(c, device, &before);
    if (error != cudaSuccess) return error;
    error = cudaFuncSetCacheConfig(kernel, config);
    cuda_thread()->device = before;
    return error;
}

CUDA_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, set_kernel_cache(c, kernel, config, dev));
}

// --- occupancy ---

typedef struct Occupancy {
    CUfunction function;
    CUoccupancyB2DSize shared_of;  // NULL: always `shared`
    size_t shared;
    int limit;
    unsigned flags;
} Occupancy;

// The block size with which most threads are resident; of equal ones the largest (as cuda_occupancy.h searches).
static cudaError_t best_block(CudaContext *c, const Occupancy *o, int *blocks, int *threads) {
    struct cudaFuncAttributes a;
    int most = 0, best_threads = 0, best_blocks = 0;
    if (!blocks || !threads) return cudaErrorInvalidValue;
    cudaError_t error = cudaFuncGetAttributes(&a, o->function);
    if (error != cudaSuccess) return error;
    int limit = o->limit > 0 && o->limit < a.maxThreadsPerBlock ? o->limit : a.maxThreadsPerBlock;
    int aligned = (limit + 31) / 32 * 32;
    for (int size = aligned; size > 0 && error == cudaSuccess; size -= 32) {
        int block = size < limit ? size : limit, resident;
        size_t shared = o->shared_of ? o->shared_of(block) : o->shared;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&resident, o->function, block, shared, o->flags);
        if (error != cudaSuccess || resident * block <= most) continue;
        most = resident * block;
        best_threads = block;
        best_blocks = resident;
        if (most >= (int)cuda_gpu(c)->max_threads_per_sm) break;
    }
    *threads = best_threads;
    *blocks = best_blocks * (int)cuda_gpu(c)->sms;
    return error;
}

CUDA_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                            CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                            size_t dynamicSMemSize, int blockSizeLimit,
                                                            unsigned int flags) {
    Occupancy o = {func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, flags};
    DRIVER_RETURN(c, DRIVER_CONTEXT, best_block(c, &o, minGridSize, blockSize));
}

CUDA_API CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit) {
    Occupancy o = {func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, 0};
    DRIVER_RETURN(c, DRIVER_CONTEXT, best_block(c, &o, minGridSize, blockSize));
}
