// SPDX-License-Identifier: Apache-2.0
// Devices as the driver API describes them.
#include <stdio.h>
#include <string.h>

#include "cuda/api.h"
#include "cuda/driver/device_context.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/driver_copy.h"

static bool valid(const CudaContext *c, CUdevice device) { return device >= 0 && (u32)device < c->config.devices; }

static cudaError_t get(CudaContext *c, CUdevice *to, int ordinal) {
    if (!to) return cudaErrorInvalidValue;
    if (!valid(c, ordinal)) return cudaErrorInvalidDevice;
    *to = ordinal;
    return cudaSuccess;
}

CUDA_API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    DRIVER_RETURN(c, DRIVER_READY, get(c, device, ordinal));
}

static cudaError_t get_name(char *to, int size, CUdevice device) {
    struct cudaDeviceProp p;
    if (!to || size <= 0) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error == cudaSuccess) snprintf(to, (size_t)size, "%s", p.name);
    return error;
}

CUDA_API CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, get_name(name, len, dev));
}

static cudaError_t get_uuid(CUuuid *to, CUdevice device) {
    struct cudaDeviceProp p;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error == cudaSuccess) *to = p.uuid;
    return error;
}

CUDA_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) { DRIVER_RETURN(c, DRIVER_READY, get_uuid(uuid, dev)); }

static cudaError_t total_memory(size_t *to, CUdevice device) {
    struct cudaDeviceProp p;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error == cudaSuccess) *to = p.totalGlobalMem;
    return error;
}

CUDA_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, total_memory(bytes, dev));
}

static bool driver_attribute(const GpuModel *g, CUdevice_attribute attribute, int *value) {
    (void)g;
    switch (attribute) {
#define DRIVER_ATTRIBUTE(number, name, expression) \
    case number:                                   \
        *value = (int)(expression);                \
        return true;
#include "cuda/driver/driver_attributes.def"
#undef DRIVER_ATTRIBUTE
    default: return false;
    }
}

static cudaError_t get_attribute(CudaContext *c, int *value, CUdevice_attribute attribute, CUdevice device) {
    int found;
    if (!value) return cudaErrorInvalidValue;
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    if (!driver_attribute(&c->gpus[device], attribute, &found))
        return cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
    *value = found;
    return cudaSuccess;
}

CUDA_API CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, get_attribute(c, pi, attrib, dev));
}

enum { LIMIT_SHARED = 7, LIMIT_CIG, LIMIT_CIG_FALLBACK };  // CU_LIMIT_SHMEM_SIZE, ...: of graphics interoperation

static cudaError_t get_limit(size_t *to, CUlimit limit) {
    if (limit == LIMIT_CIG_FALLBACK) return cudaErrorUnsupportedLimit;
    if (limit != LIMIT_SHARED && limit != LIMIT_CIG) return cudaDeviceGetLimit(to, (enum cudaLimit)limit);
    if (!to) return cudaErrorInvalidValue;
    *to = 0;
    return cudaSuccess;
}

CUDA_API CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, get_limit(pvalue, limit));
}

static cudaError_t compute_capability(int *major, int *minor, CUdevice device) {
    struct cudaDeviceProp p;
    if (!major || !minor) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess) return error;
    *major = p.major;
    *minor = p.minor;
    return cudaSuccess;
}

CUDA_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, compute_capability(major, minor, dev));
}

static cudaError_t get_properties(CUdevprop *to, CUdevice device) {
    struct cudaDeviceProp p;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&to->clockRate, cudaDevAttrClockRate, device);
    if (error != cudaSuccess) return error;
    to->maxThreadsPerBlock = p.maxThreadsPerBlock;
    memcpy(to->maxThreadsDim, p.maxThreadsDim, sizeof to->maxThreadsDim);
    memcpy(to->maxGridSize, p.maxGridSize, sizeof to->maxGridSize);
    to->sharedMemPerBlock = (int)p.sharedMemPerBlock;
    to->totalConstantMemory = (int)p.totalConstMem;
    to->SIMDWidth = p.warpSize;
    to->memPitch = (int)p.memPitch;
    to->regsPerBlock = p.regsPerBlock;
    to->textureAlign = (int)p.textureAlignment;
    return cudaSuccess;
}

CUDA_API CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, get_properties(prop, dev));
}

// Locally unique identifiers belong to Windows.
CUDA_API CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev) {
    (void)luid, (void)deviceNodeMask, (void)dev;
    DRIVER_RETURN(c, DRIVER_READY, cudaErrorNotSupported);
}

static cudaError_t affinity_support(CudaContext *c, int *to, CUexecAffinityType type, CUdevice device) {
    if (!to || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return cudaErrorInvalidValue;
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    *to = 0;  // a matter of MPS
    return cudaSuccess;
}

CUDA_API CUresult cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, affinity_support(c, pi, type, dev));
}

static cudaError_t linear_width(size_t *to, CUarray_format format, unsigned channels, CUdevice device) {
    struct cudaChannelFormatDesc desc;
    cudaError_t error = driver_channels(format, channels, &desc);
    return error == cudaSuccess ? cudaDeviceGetTexture1DLinearMaxWidth(to, &desc, device) : error;
}

CUDA_API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format,
                                                     unsigned numChannels, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, linear_width(maxWidthInElements, format, numChannels, dev));
}

CUDA_API CUresult cuFlushGPUDirectRDMAWrites(int target, int scope) {
    (void)target, (void)scope;
    DRIVER_RETURN(c, DRIVER_READY, cudaErrorNotSupported);  // no device here has the attribute
}
