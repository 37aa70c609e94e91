// SPDX-License-Identifier: Apache-2.0
// Entering and leaving the driver API, its error codes, and what it says without a device.
#include "cuda/driver/driver.h"

#include <dlfcn.h>
#include <string.h>

#include "cuda/api.h"
#include "cuda/driver/device_context.h"
#include "cuda/driver/driver_api.h"
#include "cuda/pending.h"
#include "cuda/stream.h"

static cudaError_t state_error(const CudaContext *c) {
    switch (c->state) {
    case CUDA_RUNNING: return cudaSuccess;
    case CUDA_CLOSED: return cudaErrorCudartUnloading;
    default: return cudaErrorInitializationError;
    }
}

static cudaError_t check_context(CudaContext *c) {
    CudaCtx *current;
    cudaError_t error = context_current(&current);
    if (error == cudaSuccess && !current) error = cudaErrorDeviceUninitialized;
    return error == cudaSuccess ? cuda_device(c)->sticky : error;
}

cudaError_t driver_enter(CudaContext **out, DriverNeed need) {
    (void)cuda_enter(out, NEED_NOTHING);
    cuda_thread()->driver_depth++;
    if (need == DRIVER_NOTHING) return cudaSuccess;
    cudaError_t error = state_error(*out);
    pending_poke(*out);
    if (error == cudaSuccess && need == DRIVER_HEALTHY) return cuda_device(*out)->sticky;
    return error == cudaSuccess && need == DRIVER_CONTEXT ? check_context(*out) : error;
}

cudaError_t driver_enter_on(CudaContext **out, CUstream handle) {
    CudaCtx *current;
    cudaError_t error = driver_enter(out, DRIVER_READY);
    if (error != cudaSuccess) return error;
    const CudaStream *stream = object_get(&(*out)->objects, handle, OBJECT_STREAM);
    if (context_current(&current) != cudaSuccess || current || !stream) return check_context(*out);
    (void)cuda_switch_device(stream->device);
    return cuda_device(*out)->sticky;
}

// Codes that only the runtime API has.
static CUresult translate(cudaError_t error) {
    switch ((int)error) {
#define DRIVER_ERROR(number, name) case number:
#include "cuda/driver/results.def"
#undef DRIVER_ERROR
        return (CUresult)error;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult driver_leave(CudaContext *c, cudaError_t error) {
    cuda_thread()->driver_depth--;
    (void)cuda_leave(c, cudaSuccess);
    return translate(error);
}

CUresult driver_not_implemented(const char *name, unsigned char *told) {
    CudaContext *c;
    (void)driver_enter(&c, DRIVER_NOTHING);
    if (!*told) cuda_message(c, LOG_ERROR, "%s is not implemented; it returns CUDA_ERROR_NOT_SUPPORTED", name);
    *told = 1;
    return driver_leave(c, cudaErrorNotSupported);
}

static cudaError_t init(unsigned flags) {
    int count;
    return flags ? cudaErrorInvalidValue : cudaGetDeviceCount(&count);  // which starts the simulator
}

CUDA_API CUresult cuInit(unsigned int Flags) { DRIVER_RETURN(c, DRIVER_NOTHING, init(Flags)); }

CUDA_API CUresult cuDriverGetVersion(int *driverVersion) {
    DRIVER_RETURN(c, DRIVER_NOTHING, cudaDriverGetVersion(driverVersion));
}

// --- names and texts ---

static const struct {
    int number;
    const char *name;
} results[] = {
#define DRIVER_ERROR(number, name) {number, #name},
#include "cuda/driver/results.def"
#undef DRIVER_ERROR
};

static const char *name_of(CUresult error) {
    for (u32 i = 0; i < WL_COUNT(results); i++)
        if (results[i].number == (int)error) return results[i].name;
    return NULL;
}

CUDA_API CUresult cuGetErrorName(CUresult error, const char **pStr) {
    if (!pStr) return CUDA_ERROR_INVALID_VALUE;
    *pStr = name_of(error);
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_API CUresult cuGetErrorString(CUresult error, const char **pStr) {
    if (!pStr) return CUDA_ERROR_INVALID_VALUE;
    *pStr = NULL;
    if (!name_of(error)) return CUDA_ERROR_INVALID_VALUE;
    if (error == CUDA_ERROR_CONTEXT_ALREADY_CURRENT)
        *pStr = "context already current";
    else if (error == CUDA_ERROR_KEY_ROTATION)
        *pStr = "an error happened during the key rotation sequence";
    else
        *pStr = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

// --- undocumented tables: there are none here. libnvrtc goes on without, libraries with a CUDA runtime inside (cuRAND,
// cuBLAS, ...) give up; their functions then return errors that say nothing ---

static void tell_library(CudaContext *c, const void *caller) {
    Dl_info info;
    const char *path = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "", *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    bool library = strstr(name, ".so") && strncmp(name, "libnvrtc", 8) != 0;
    if (!library)
        cuda_message(c, LOG_INFO, "cuGetExportTable: the simulator has none of the driver's undocumented tables");
    else if (c->told_library != info.dli_fbase)
        cuda_message(c, LOG_WARNING,
                     "%s cannot be simulated, as its kernels are machine code, and its functions will fail: run the "
                     "program on a GPU (--on gpu), or give it kernels of its own for them",
                     name);
    if (library) c->told_library = info.dli_fbase;
}

static cudaError_t export_table(CudaContext *c, const void **to, const void *caller) {
    if (!to) return cudaErrorInvalidValue;
    *to = NULL;
    tell_library(c, caller);
    return cudaErrorInvalidValue;
}

CUDA_API CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId) {
    (void)pExportTableId;
    const void *caller = __builtin_return_address(0);
    DRIVER_RETURN(c, DRIVER_NOTHING, export_table(c, ppExportTable, caller));
}

// --- the functions that are the runtime's ---

#define DIRECT(name, parameters, need, expression) \
    CUDA_API CUresult name parameters { DRIVER_RETURN(c, need, expression); }
#define DIRECT_ON(name, parameters, stream, expression) \
    CUDA_API CUresult name parameters { DRIVER_RETURN_ON(c, stream, expression); }
#include "cuda/driver/direct.def"
#undef DIRECT
#undef DIRECT_ON
