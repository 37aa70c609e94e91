// SPDX-License-Identifier: Apache-2.0
// Libraries, in both APIs. A library and its module are one thing here.
#include "cuda/api.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/image.h"

static cudaError_t load_library(CudaContext *c, CUlibrary *to, ImageSource source, JitOptions options,
                                const CUlibraryOption *names, unsigned count) {
    CudaModule *module;
    if (!to || (!source.image && !source.path) || (count && !names)) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; i++) {
        if ((unsigned)names[i] >= CU_LIBRARY_NUM_OPTIONS) return cudaErrorInvalidValue;
        if (names[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE) return cudaErrorNotSupported;
    }
    cudaError_t error = image_load(c, source, true, options, &module);
    if (error == cudaSuccess) *to = (CUlibrary)module;
    return error;
}

CUDA_API CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                    void **jitOptionsValues, unsigned int numJitOptions,
                                    CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                    unsigned int numLibraryOptions) {
    JitOptions jit = {numJitOptions, jitOptions, jitOptionsValues};
    (void)libraryOptionValues;
    DRIVER_RETURN(c, DRIVER_READY,
                  load_library(c, library, (ImageSource){.image = code}, jit, libraryOptions, numLibraryOptions));
}

CUDA_API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                                        void **jitOptionsValues, unsigned int numJitOptions,
                                        CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                        unsigned int numLibraryOptions) {
    JitOptions jit = {numJitOptions, jitOptions, jitOptionsValues};
    (void)libraryOptionValues;
    DRIVER_RETURN(c, DRIVER_READY,
                  load_library(c, library, (ImageSource){.path = fileName}, jit, libraryOptions, numLibraryOptions));
}

static CudaModule *find_library(CudaContext *c, const void *handle) {
    CudaModule *module = module_find(c, handle);
    return module && module_is_library(module) ? module : NULL;
}

static cudaError_t unload_library(CudaContext *c, CUlibrary handle) {
    CudaModule *module = find_library(c, handle);
    return module ? module_unload(c, module) : cudaErrorInvalidResourceHandle;
}

CUDA_API CUresult cuLibraryUnload(CUlibrary library) { DRIVER_RETURN(c, DRIVER_READY, unload_library(c, library)); }

CUDA_API CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name) {
    DRIVER_RETURN(c, DRIVER_READY, image_function(c, (CudaFunction **)pKernel, find_library(c, library), name));
}

static cudaError_t get_module(CudaContext *c, CUmodule *to, CUlibrary handle) {
    CudaModule *module = find_library(c, handle);
    if (!to) return cudaErrorInvalidValue;
    *to = (CUmodule)module;
    return module ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

CUDA_API CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, get_module(c, pMod, library));
}

CUDA_API CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, image_variable(c, dptr, bytes, find_library(c, library), name));
}

static cudaError_t get_managed(CudaContext *c, CUdeviceptr *to, size_t *bytes, CUlibrary library, const char *name) {
    CUdeviceptr address = 0;
    cudaError_t error = image_variable(c, &address, bytes, find_library(c, library), name);
    const SimAllocation *a = error == cudaSuccess ? sim_find(c->sim, address) : NULL;
    if (error == cudaSuccess && (!a || a->kind != MEMORY_MANAGED)) error = cudaErrorSymbolNotFound;
    if (error == cudaSuccess && to) *to = address;
    return error;
}

CUDA_API CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name) {
    DRIVER_RETURN(c, DRIVER_READY, get_managed(c, dptr, bytes, library, name));
}

CUDA_API CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib) {
    DRIVER_RETURN(c, DRIVER_READY, image_count(c, count, find_library(c, lib)));
}

CUDA_API CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib) {
    DRIVER_RETURN(c, DRIVER_READY, image_list(c, (CudaFunction **)kernels, numKernels, find_library(c, lib)));
}

// --- the same in the runtime API, whose options have the same numbers ---

CUDA_API cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, const int *jitOptions,
                                         void **jitOptionsValues, unsigned int numJitOptions, const int *libraryOptions,
                                         void **libraryOptionValues, unsigned int numLibraryOptions) {
    JitOptions jit = {numJitOptions, (const CUjit_option *)jitOptions, jitOptionsValues};
    (void)libraryOptionValues;
    CUDA_RETURN(c, NEED_HEALTHY,
                load_library(c, library, (ImageSource){.image = code}, jit, (const CUlibraryOption *)libraryOptions,
                             numLibraryOptions));
}

CUDA_API cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName, const int *jitOptions,
                                             void **jitOptionsValues, unsigned int numJitOptions,
                                             const int *libraryOptions, void **libraryOptionValues,
                                             unsigned int numLibraryOptions) {
    JitOptions jit = {numJitOptions, (const CUjit_option *)jitOptions, jitOptionsValues};
    (void)libraryOptionValues;
    CUDA_RETURN(c, NEED_HEALTHY,
                load_library(c, library, (ImageSource){.path = fileName}, jit, (const CUlibraryOption *)libraryOptions,
                             numLibraryOptions));
}

CUDA_API cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    CUDA_RETURN(c, NEED_HEALTHY, unload_library(c, library));
}

CUDA_API cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name) {
    CUDA_RETURN(c, NEED_HEALTHY, image_function(c, (CudaFunction **)pKernel, find_library(c, library), name));
}

static cudaError_t runtime_variable(CudaContext *c, void **to, size_t *bytes, cudaLibrary_t library, const char *name,
                                    bool managed) {
    CUdeviceptr address = 0;
    cudaError_t error = managed ? get_managed(c, &address, bytes, library, name)
                                : image_variable(c, &address, bytes, find_library(c, library), name);
    if (error == cudaSuccess && to) *to = driver_pointer(address);
    return error;
}

CUDA_API cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name) {
    CUDA_RETURN(c, NEED_HEALTHY, runtime_variable(c, dptr, bytes, library, name, false));
}

CUDA_API cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library, const char *name) {
    CUDA_RETURN(c, NEED_HEALTHY, runtime_variable(c, dptr, bytes, library, name, true));
}

CUDA_API cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib) {
    CUDA_RETURN(c, NEED_HEALTHY, image_count(c, count, find_library(c, lib)));
}

CUDA_API cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels, cudaLibrary_t lib) {
    CUDA_RETURN(c, NEED_HEALTHY, image_list(c, (CudaFunction **)kernels, numKernels, find_library(c, lib)));
}
