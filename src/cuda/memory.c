// SPDX-License-Identifier: Apache-2.0
// cudaMalloc and its relatives. Error codes are those of an H200 (driver 580, CUDA 13.0): tests/cuda/h200_errors.txt.
#include "cuda/memory.h"

#include <string.h>

#include "cuda/api.h"
#include "cuda/graph.h"
#include "cuda/pending.h"
#include "cuda/pool.h"
#include "cuda/stream.h"

enum { ALLOC_DEVICE, ALLOC_MANAGED, ALLOC_PINNED, ALLOC_MODULE, ALLOC_POOL };  // RecordAlloc.kind

cudaError_t memory_new_on(CudaContext *c, int device, SimMemoryKind kind, u32 record_kind, u64 size, void **address) {
    DevicePtr at = 0;
    Status status = sim_alloc(c->sim, (u32)device, kind, size, MEMORY_ALIGNMENT, &at);
    if (status == STATUS_NO_MEMORY && c->pending.len) {
        (void)pending_settle(c);  // which may free some
        status = sim_alloc(c->sim, (u32)device, kind, size, MEMORY_ALIGNMENT, &at);
    }
    if (status != STATUS_OK) return cuda_error_of(status);
    *address = (void *)(uintptr_t)at;
    cuda_record_alloc(c, (u32)device, record_kind, at, size, false, "");
    return cudaSuccess;
}

cudaError_t memory_new(CudaContext *c, SimMemoryKind kind, u32 record_kind, u64 size, void **address) {
    return memory_new_on(c, cuda_thread()->device, kind, record_kind, size, address);
}

cudaError_t memory_release(CudaContext *c, const SimAllocation *allocation, u32 record_kind) {
    u64 address = allocation->address, size = allocation->size;
    u32 device = allocation->device;
    if (sim_free(c->sim, address) != STATUS_OK) return cudaErrorInvalidValue;
    cuda_record_alloc(c, device, record_kind, address, size, true, "");
    return cudaSuccess;
}

cudaError_t memory_view(CudaContext *c, const void *address, u64 size, MemorySide side, u8 **bytes, u32 *kind) {
    DevicePtr at = (DevicePtr)(uintptr_t)address;
    const SimAllocation *a = NULL;
    if (kind) *kind = MEMORY_KIND_COUNT;
    if (!address) return cudaErrorInvalidValue;
    u8 *view = sim_host_view(c->sim, at, size, &a);
    if (a) {
        if (kind) *kind = a->kind;
        // The program's own memory may go on behind a registered or pinned range.
        if (!view && side != SIDE_DEVICE && a->kind == MEMORY_HOST) view = (u8 *)(uintptr_t)at;
    } else if (side == SIDE_DEVICE) {
        return cudaErrorInvalidValue;
    }
    *bytes = view;
    return view ? cudaSuccess : cudaErrorInvalidValue;
}

// The allocation that starts at `address` and is of one of two kinds; NULL when there is none.
static const SimAllocation *starts_at(CudaContext *c, const void *address, SimMemoryKind kind, SimMemoryKind other) {
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)address);
    bool fits = a && a->address == (DevicePtr)(uintptr_t)address && (a->kind == kind || a->kind == other);
    return fits ? a : NULL;
}

cudaError_t memory_bad_free(CudaContext *c, const void *pointer) {
    sim_check_bad_free(c->sim, c->api ? c->api : "a free", (DevicePtr)(uintptr_t)pointer);
    return cudaErrorInvalidValue;
}

// --- device memory ---

static cudaError_t allocate(CudaContext *c, SimMemoryKind kind, u32 record_kind, void **pointer, size_t size) {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = NULL;
    return size ? memory_new(c, kind, record_kind, size, pointer) : cudaSuccess;
}

static cudaError_t release(CudaContext *c, void *pointer) {
    if (!pointer) return cudaSuccess;
    cudaError_t error = pending_settle(c);
    if (error != cudaSuccess) return error;
    if (graph_memory_free(c, pointer)) return cudaSuccess;
    const SimAllocation *a = starts_at(c, pointer, MEMORY_DEVICE, MEMORY_MANAGED);
    if (!a) return memory_bad_free(c, pointer);
    bool pooled = pool_forget(c, pointer, a->size);
    return memory_release(c, a, pooled ? ALLOC_POOL : a->kind == MEMORY_MANAGED ? ALLOC_MANAGED : ALLOC_DEVICE);
}

CUDA_API cudaError_t cudaMalloc(void **devPtr, size_t size) {
    if (!devPtr) {  // told before anything else, after a fault too
        CUDA_RETURN(c, NEED_DEVICE, cudaErrorInvalidValue);
    }
    CUDA_RETURN(c, NEED_UNCAPTURED, allocate(c, MEMORY_DEVICE, ALLOC_DEVICE, devPtr, size));
}

CUDA_API cudaError_t cudaFree(void *devPtr) { CUDA_RETURN(c, NEED_UNCAPTURED, release(c, devPtr)); }

static cudaError_t allocate_managed(CudaContext *c, void **pointer, size_t size, unsigned flags) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return allocate(c, MEMORY_MANAGED, ALLOC_MANAGED, pointer, size);
}

CUDA_API cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags) {
    CUDA_RETURN(c, NEED_UNCAPTURED, allocate_managed(c, devPtr, size, flags));
}

static cudaError_t allocate_3d(CudaContext *c, struct cudaPitchedPtr *to, struct cudaExtent extent) {
    if (!to) return cudaErrorInvalidValue;
    size_t pitch = memory_pitch(extent.width);
    *to = (struct cudaPitchedPtr){NULL, pitch, extent.width, extent.height};
    if (extent.width > (size_t)1 << 40 || extent.height > (size_t)1 << 40 || extent.depth > (size_t)1 << 40)
        return cudaErrorMemoryAllocation;
    unsigned __int128 size = (unsigned __int128)pitch * extent.height * extent.depth;
    if (size > (u64)1 << 46) return cudaErrorMemoryAllocation;
    if (!size) to->pitch = 0;
    return allocate(c, MEMORY_DEVICE, ALLOC_DEVICE, &to->ptr, (size_t)size);
}

static cudaError_t allocate_pitch(CudaContext *c, void **pointer, size_t *pitch, size_t width, size_t height) {
    struct cudaPitchedPtr made;
    if (!pointer || !pitch) return cudaErrorInvalidValue;
    cudaError_t error = allocate_3d(c, &made, (struct cudaExtent){width, height, 1});
    *pointer = made.ptr;
    *pitch = made.pitch;
    return error;
}

CUDA_API cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height) {
    CUDA_RETURN(c, NEED_UNCAPTURED, allocate_pitch(c, devPtr, pitch, width, height));
}

CUDA_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent) {
    CUDA_RETURN(c, NEED_UNCAPTURED, allocate_3d(c, pitchedDevPtr, extent));
}

static cudaError_t memory_info(CudaContext *c, size_t *free_bytes, size_t *total_bytes) {
    u64 unused = 0, total = 0;
    sim_memory_info(c->sim, (u32)cuda_thread()->device, &unused, &total);
    if (free_bytes) *free_bytes = unused;
    if (total_bytes) *total_bytes = total;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    CUDA_RETURN(c, NEED_HEALTHY, memory_info(c, free, total));
}

// --- host memory ---

static cudaError_t allocate_host(CudaContext *c, void **pointer, size_t size, unsigned flags) {
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known) return cudaErrorInvalidValue;
    cudaError_t error = allocate(c, MEMORY_PINNED, ALLOC_PINNED, pointer, size);
    if (error == cudaSuccess && *pointer)
        error = cuda_error_of(map_put(&c->host_flags, (u64)(uintptr_t)*pointer, flags | cudaHostAllocMapped));
    return error;
}

static cudaError_t release_host(CudaContext *c, void *pointer) {
    if (!pointer) return cudaSuccess;
    cudaError_t error = pending_settle(c);
    if (error != cudaSuccess) return error;
    const SimAllocation *a = starts_at(c, pointer, MEMORY_PINNED, MEMORY_PINNED);
    if (!a) return memory_bad_free(c, pointer);
    map_remove(&c->host_flags, (u64)(uintptr_t)pointer);
    return memory_release(c, a, ALLOC_PINNED);
}

CUDA_API cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags) {
    CUDA_RETURN(c, NEED_UNCAPTURED, allocate_host(c, pHost, size, flags));
}

CUDA_API cudaError_t cudaMallocHost(void **ptr, size_t size) {
    CUDA_RETURN(c, NEED_UNCAPTURED, allocate_host(c, ptr, size, 0));
}

CUDA_API cudaError_t cudaFreeHost(void *ptr) { CUDA_RETURN(c, NEED_UNCAPTURED, release_host(c, ptr)); }

static cudaError_t register_host(CudaContext *c, void *pointer, size_t size, unsigned flags) {
    const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    const SimAllocation *other = sim_find(c->sim, (DevicePtr)(uintptr_t)pointer);
    if (other && other->kind != MEMORY_HOST) return cudaErrorInvalidValue;
    if (!pointer || !size || flags & ~known) return cudaErrorInvalidValue;
    Status status = sim_register_host(c->sim, pointer, size);
    if (status == STATUS_EXISTS) return cudaErrorHostMemoryAlreadyRegistered;
    if (status == STATUS_OK) status = map_put(&c->host_flags, (u64)(uintptr_t)pointer, flags | cudaHostRegisterMapped);
    return cuda_error_of(status);
}

static cudaError_t unregister_host(CudaContext *c, void *pointer) {
    if (!pointer) return cudaErrorInvalidValue;
    cudaError_t error = pending_settle(c);
    if (error != cudaSuccess) return error;
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)pointer);
    if (!a) return cudaErrorHostMemoryNotRegistered;
    if (a->kind != MEMORY_HOST || a->address != (u64)(uintptr_t)pointer) return cudaErrorInvalidValue;
    map_remove(&c->host_flags, (u64)(uintptr_t)pointer);
    return cuda_error_of(sim_free(c->sim, (DevicePtr)(uintptr_t)pointer));
}

CUDA_API cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags) {
    CUDA_RETURN(c, NEED_UNCAPTURED, register_host(c, ptr, size, flags));
}

CUDA_API cudaError_t cudaHostUnregister(void *ptr) { CUDA_RETURN(c, NEED_UNCAPTURED, unregister_host(c, ptr)); }

static const SimAllocation *host_allocation(CudaContext *c, const void *pointer) {
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)pointer);
    return a && (a->kind == MEMORY_PINNED || a->kind == MEMORY_HOST) ? a : NULL;
}

static cudaError_t device_pointer(CudaContext *c, void **device, void *host, unsigned flags) {
    if (!device || flags || !host_allocation(c, host)) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, device_pointer(c, pDevice, pHost, flags));
}

static cudaError_t host_flags(CudaContext *c, unsigned *flags, void *host) {
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)host);
    if (flags && a && a->kind == MEMORY_MANAGED) return *flags = cudaHostAllocMapped, cudaSuccess;
    a = host_allocation(c, host);
    const u64 *found = a ? map_get(&c->host_flags, a->address) : NULL;
    if (!flags || !found) return cudaErrorInvalidValue;
    *flags = (unsigned)*found;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost) {
    CUDA_RETURN(c, NEED_HEALTHY, host_flags(c, pFlags, pHost));
}

// --- questions and hints ---

static cudaError_t pointer_attributes(CudaContext *c, struct cudaPointerAttributes *to, const void *pointer) {
    static const enum cudaMemoryType types[MEMORY_KIND_COUNT] = {
        [MEMORY_DEVICE] = cudaMemoryTypeDevice, [MEMORY_MANAGED] = cudaMemoryTypeManaged,
        [MEMORY_PINNED] = cudaMemoryTypeHost,   [MEMORY_HOST] = cudaMemoryTypeHost,
        [MEMORY_MODULE] = cudaMemoryTypeDevice,
    };
    if (!to) return cudaErrorInvalidValue;
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)pointer);
    void *same = (void *)(uintptr_t)pointer;
    *to = (struct cudaPointerAttributes){
        .type = cudaMemoryTypeUnregistered, .device = cudaInvalidDeviceId, .hostPointer = same};
    if (!a) return cudaSuccess;
    to->type = types[a->kind];
    to->device = (int)a->device;
    to->devicePointer = same;
    if (to->type == cudaMemoryTypeDevice) to->hostPointer = NULL;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr) {
    CUDA_RETURN(c, NEED_DEVICE, pointer_attributes(c, attributes, ptr));
}
