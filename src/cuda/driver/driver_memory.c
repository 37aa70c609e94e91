// SPDX-License-Identifier: Apache-2.0
// Memory as the driver API hands it out and asks about it. Allocation, pools and hints are the runtime's.
#include <string.h>

#include "cuda/api.h"
#include "cuda/driver/device_context.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/virtual_memory.h"
#include "cuda/pool.h"

// Gives a fresh allocation to the program, and to the current context.
static cudaError_t give(CudaContext *c, CUdeviceptr *to, void *made, OwnedKind kind) {
    *to = driver_address(made);
    return context_own(c, kind, made);
}

// --- device memory ---

static cudaError_t allocate(CudaContext *c, CUdeviceptr *to, size_t size) {
    void *made;
    if (!to || !size) return cudaErrorInvalidValue;
    cudaError_t error = cudaMalloc(&made, size);
    return error == cudaSuccess ? give(c, to, made, OWNED_MEMORY) : error;
}

CUDA_API CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, allocate(c, dptr, bytesize));
}

static cudaError_t allocate_pitch(CudaContext *c, CUdeviceptr *to, size_t *pitch, size_t width, size_t height,
                                  unsigned element) {
    void *made;
    if (!to || !pitch || !width || !height) return cudaErrorInvalidValue;
    if (element != 4 && element != 8 && element != 16) return cudaErrorInvalidValue;
    cudaError_t error = cudaMallocPitch(&made, pitch, width, height);
    return error == cudaSuccess ? give(c, to, made, OWNED_MEMORY) : error;
}

CUDA_API CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                     unsigned int ElementSizeBytes) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, allocate_pitch(c, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes));
}

static cudaError_t allocate_managed(CudaContext *c, CUdeviceptr *to, size_t size, unsigned flags) {
    void *made;
    if (!to || !size) return cudaErrorInvalidValue;
    cudaError_t error = cudaMallocManaged(&made, size, flags);
    return error == cudaSuccess ? give(c, to, made, OWNED_MEMORY) : error;
}

CUDA_API CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, allocate_managed(c, dptr, bytesize, flags));
}

static cudaError_t release(CudaContext *c, CUdeviceptr address) {
    cudaError_t error = cudaFree(driver_pointer(address));
    if (error == cudaSuccess) context_disown(c, driver_pointer(address));
    return error;
}

CUDA_API CUresult cuMemFree_v2(CUdeviceptr dptr) { DRIVER_RETURN(c, DRIVER_HEALTHY, release(c, dptr)); }

static cudaError_t allocate_async(CUdeviceptr *to, size_t size, CUstream stream) {
    void *made;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = cudaMallocAsync(&made, size, stream);
    if (error == cudaSuccess) *to = driver_address(made);
    return error;
}

CUDA_API CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, allocate_async(dptr, bytesize, hStream));
}

static cudaError_t allocate_from_pool(CUdeviceptr *to, size_t size, CUmemoryPool pool, CUstream stream) {
    void *made;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = cudaMallocFromPoolAsync(&made, size, pool, stream);
    if (error == cudaSuccess) *to = driver_address(made);
    return error;
}

CUDA_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, allocate_from_pool(dptr, bytesize, pool, hStream));
}

CUDA_API CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, dptr ? cudaFreeAsync(driver_pointer(dptr), hStream) : cudaSuccess);
}

// --- host memory ---

static cudaError_t allocate_host(CudaContext *c, void **to, size_t size, unsigned flags) {
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = cudaHostAlloc(to, size, flags);
    return error == cudaSuccess && size ? context_own(c, OWNED_HOST, *to) : error;
}

CUDA_API CUresult cuMemAllocHost_v2(void **pp, size_t bytesize) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, allocate_host(c, pp, bytesize, 0));
}

CUDA_API CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, allocate_host(c, pp, bytesize, Flags));
}

static cudaError_t release_host(CudaContext *c, void *p) {
    cudaError_t error = cudaFreeHost(p);
    if (error == cudaSuccess) context_disown(c, p);
    return error;
}

CUDA_API CUresult cuMemFreeHost(void *p) { DRIVER_RETURN(c, DRIVER_HEALTHY, release_host(c, p)); }

CUDA_API CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, cudaHostRegister(p, bytesize, Flags));
}

static cudaError_t device_pointer(CUdeviceptr *to, void *p, unsigned flags) {
    void *device;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = cudaHostGetDevicePointer(&device, p, flags);
    if (error == cudaSuccess) *to = driver_address(device);
    return error;
}

CUDA_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, device_pointer(pdptr, p, Flags));
}

// --- hints; a device number below 0 is the host ---

static CUmemLocation location_of(CUdevice device) {
    return device < 0 ? (CUmemLocation){cudaMemLocationTypeHost, 0}
                      : (CUmemLocation){cudaMemLocationTypeDevice, device};
}

CUDA_API CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
    DRIVER_RETURN(c, DRIVER_READY, cudaMemAdvise(driver_pointer(devPtr), count, advice, location_of(device)));
}
CUDA_API CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
    DRIVER_RETURN(c, DRIVER_READY, cudaMemAdvise(driver_pointer(devPtr), count, advice, location));
}
CUDA_API CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream,
                     cudaMemPrefetchAsync(driver_pointer(devPtr), count, location_of(dstDevice), 0, hStream));
}
CUDA_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                        CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, cudaMemPrefetchAsync(driver_pointer(devPtr), count, location, flags, hStream));
}
CUDA_API CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                         CUdeviceptr devPtr, size_t count) {
    DRIVER_RETURN(c, DRIVER_READY, cudaMemRangeGetAttribute(data, dataSize, attribute, driver_pointer(devPtr), count));
}

static cudaError_t range_attributes(void **data, const size_t *sizes, const CUmem_range_attribute *attributes, size_t n,
                                    CUdeviceptr address, size_t count) {
    if (!data || !sizes || !attributes || !n) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < n && error == cudaSuccess; i++)
        error = cudaMemRangeGetAttribute(data[i], sizes[i], attributes[i], driver_pointer(address), count);
    return error;
}

CUDA_API CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                          size_t numAttributes, CUdeviceptr devPtr, size_t count) {
    DRIVER_RETURN(c, DRIVER_READY, range_attributes(data, dataSizes, attributes, numAttributes, devPtr, count));
}

// --- questions ---

static cudaError_t address_range(CudaContext *c, CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    const SimAllocation *a = sim_find(c->sim, address);
    if (!a) return cudaErrorSymbolNotFound;
    if (a->mapped && virtual_range(c, address, base, size)) return cudaSuccess;
    if (base) *base = a->address;
    if (size) *size = a->size;
    return cudaSuccess;
}

CUDA_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, address_range(c, pbase, psize, dptr));
}

// What an attribute is: a number of so many bytes; 0 = no such attribute.
typedef struct PointerValue {
    u64 number;
    u32 bytes;
} PointerValue;

static u64 pool_of(CudaContext *c, const SimAllocation *a) {
    const u64 *found = map_get(&c->pool_of, a->address);
    return found ? *found : 0;
}

static PointerValue pointer_value(CudaContext *c, CUpointer_attribute attribute, const SimAllocation *a, u64 address) {
    bool host = a->kind == MEMORY_PINNED || a->kind == MEMORY_HOST, managed = a->kind == MEMORY_MANAGED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return (PointerValue){(u64)(uintptr_t)context_owner(c, driver_pointer(a->address), (int)a->device), 8};
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return (PointerValue){host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, 4};
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return (PointerValue){address, 8};
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return (PointerValue){host || managed ? address : 0, 8};
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return (PointerValue){!host, 4};
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return (PointerValue){a->serial, 8};
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return (PointerValue){managed, 4};
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return (PointerValue){a->device, 4};
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return (PointerValue){a->address, 8};
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return (PointerValue){a->size, 8};
    case CU_POINTER_ATTRIBUTE_MAPPED: return (PointerValue){1, 4};
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return (PointerValue){0, 8};
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return (PointerValue){0, 4};
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return (PointerValue){a->read_only ? cudaMemAccessFlagsProtRead : cudaMemAccessFlagsProtReadWrite, 4};
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return (PointerValue){pool_of(c, a), 8};
    default: return (PointerValue){0, 0};
    }
}

static cudaError_t pointer_attribute(CudaContext *c, void *data, CUpointer_attribute attribute, CUdeviceptr address) {
    const SimAllocation *a = sim_find(c->sim, address);
    if (!data || !a) return cudaErrorInvalidValue;
    PointerValue value = pointer_value(c, attribute, a, address);
    if (!value.bytes)
        return attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS ? cudaErrorNotSupported : cudaErrorInvalidValue;
    if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && !value.number) return cudaErrorInvalidValue;
    memcpy(data, &value.number, value.bytes);
    return cudaSuccess;
}

CUDA_API CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    DRIVER_RETURN(c, DRIVER_READY, pointer_attribute(c, data, attribute, ptr));
}

// Here an address that CUDA does not know is no error: its attributes are 0, its device is -2.
static cudaError_t pointer_attributes(CudaContext *c, unsigned count, const CUpointer_attribute *attributes,
                                      void **data, CUdeviceptr address) {
    static const SimAllocation unknown;
    const SimAllocation *a = sim_find(c->sim, address);
    if (!count || !attributes || !data) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; i++) {
        PointerValue value = pointer_value(c, attributes[i], a ? a : &unknown, address);
        if (!value.bytes || !data[i]) return cudaErrorInvalidValue;
        if (!a) value.number = attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (u64)(i64)cudaInvalidDeviceId : 0;
        memcpy(data[i], &value.number, value.bytes);
    }
    return cudaSuccess;
}

CUDA_API CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                         CUdeviceptr ptr) {
    DRIVER_RETURN(c, DRIVER_READY, pointer_attributes(c, numAttributes, attributes, data, ptr));
}

static cudaError_t set_pointer_attribute(CudaContext *c, const void *value, CUpointer_attribute attribute,
                                         CUdeviceptr address) {
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return cudaErrorInvalidValue;
    return sim_find(c->sim, address) ? cudaSuccess : cudaErrorInvalidValue;  // memory operations are synchronous anyway
}

CUDA_API CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    DRIVER_RETURN(c, DRIVER_READY, set_pointer_attribute(c, value, attribute, ptr));
}
