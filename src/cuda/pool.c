// SPDX-License-Identifier: Apache-2.0
#include "cuda/pool.h"

#include <string.h>

#include "cuda/api.h"
#include "cuda/graph.h"
#include "cuda/memory.h"
#include "cuda/pending.h"
#include "cuda/stream.h"

enum { RECORD_POOL = 4 };  // RecordAlloc.kind

static CudaPool *new_pool(CudaContext *c, int device) {
    CudaPool *pool = object_new(&c->objects, OBJECT_POOL, sizeof *pool);
    if (!pool) return NULL;
    pool->device = device;
    pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
    return pool;
}

static CudaPool *default_pool(CudaContext *c, int device) {
    CudaDevice *d = &c->devices[device];
    if (!d->default_pool) d->default_pool = new_pool(c, device);
    return d->default_pool;
}

static CudaPool *current_pool(CudaContext *c, int device) {
    CudaDevice *d = &c->devices[device];
    return d->current_pool ? d->current_pool : default_pool(c, device);
}

static CudaPool *find(CudaContext *c, cudaMemPool_t handle) { return object_get(&c->objects, handle, OBJECT_POOL); }

static bool valid(const CudaContext *c, int device) { return device >= 0 && (u32)device < c->config.devices; }

// --- allocation ---

static void count(CudaPool *pool, u64 add, u64 less) {
    pool->used += add;
    pool->used -= less;
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->used > pool->reserved_high) pool->reserved_high = pool->used;
}

bool pool_forget(CudaContext *c, void *address, u64 size) {
    const u64 *found = map_get(&c->pool_of, (u64)(uintptr_t)address);
    CudaPool *pool = found ? object_get(&c->objects, (void *)(uintptr_t)*found, OBJECT_POOL) : NULL;
    if (pool) count(pool, 0, size);
    return map_remove(&c->pool_of, (u64)(uintptr_t)address);
}

// In a capture, an allocation is a node; its address is known at once.
static cudaError_t captured_alloc(CudaContext *c, CudaStream *stream, void **to, size_t size) {
    CudaWork work = {.type = cudaGraphNodeTypeMemAlloc,
                     .alloc = {.poolProps = {.allocType = cudaMemAllocationTypePinned,
                                             .location = {cudaMemLocationTypeDevice, cuda_thread()->device}},
                               .bytesize = size}};
    cudaError_t error = graph_memory_new(c, size, &work.alloc.dptr);
    *to = work.alloc.dptr;
    return error == cudaSuccess ? capture_add(c, stream, &work, NULL) : error;
}

// Without a pool: the current one of the stream's device.
static cudaError_t alloc(CudaContext *c, void **to, size_t size, CudaPool *pool, cudaStream_t handle) {
    CudaStream *stream = stream_find(c, handle);
    if (!to) return cudaErrorInvalidValue;
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!pool) pool = current_pool(c, stream->device);
    if (!pool) return cudaErrorMemoryAllocation;
    *to = NULL;
    cudaError_t implicit = stream_check_implicit(c, stream);
    if (!size || implicit != cudaSuccess) return implicit;
    if (stream->capture) return captured_alloc(c, stream, to, size);
    if (pool->props.maxSize && pool->used + size > pool->props.maxSize) return cudaErrorMemoryAllocation;
    cudaError_t error = memory_new_on(c, pool->device, MEMORY_DEVICE, RECORD_POOL, size, to);
    if (error != cudaSuccess) return error;
    sim_set_sharing(c->sim, (DevicePtr)(uintptr_t)*to, pool->access[1]);
    count(pool, size, 0);
    return cuda_error_of(map_put(&c->pool_of, (u64)(uintptr_t)*to, (u64)(uintptr_t)pool));
}

static cudaError_t release(CudaContext *c, void *address, cudaStream_t handle) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!address) return cudaSuccess;
    cudaError_t error = stream_check_implicit(c, stream);
    if (error != cudaSuccess) return error;
    if (stream->capture) {
        if (!map_get(&c->graph_memory, (u64)(uintptr_t)address) && !map_get(&c->pool_of, (u64)(uintptr_t)address))
            return cudaErrorInvalidValue;
        CudaWork work = {.type = cudaGraphNodeTypeMemFree, .freed = address};
        return capture_add(c, stream, &work, NULL);
    }
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)address);
    if (a && a->kind == MEMORY_MANAGED) return cudaErrorNotSupported;
    if (!a || a->address != (u64)(uintptr_t)address || a->kind != MEMORY_DEVICE) return memory_bad_free(c, address);
    if (map_get(&c->freeing, (u64)(uintptr_t)address)) return memory_bad_free(c, address);
    CudaWork work = {.type = WORK_FREE, .freed = address};
    if ((c->lazy || c->pending.len) && map_put(&c->freeing, (u64)(uintptr_t)address, 1) != STATUS_OK)
        return cudaErrorMemoryAllocation;
    return work_submit(c, handle, &work);
}

cudaError_t pool_release(CudaContext *c, void *address) {
    map_remove(&c->freeing, (u64)(uintptr_t)address);
    if (graph_memory_free(c, address)) return cudaSuccess;
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)address);
    if (!a) return memory_bad_free(c, address);  // freed twice
    bool pooled = pool_forget(c, address, a->size);
    return memory_release(c, a, pooled ? RECORD_POOL : 0);
}

CUDA_API cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream) {
    CUDA_RETURN(c, NEED_HEALTHY, alloc(c, devPtr, size, NULL, hStream));
}

CUDA_API cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY,
                find(c, memPool) ? alloc(c, ptr, size, find(c, memPool), stream) : cudaErrorInvalidValue);
}

CUDA_API cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream) {
    CUDA_RETURN(c, NEED_HEALTHY, release(c, devPtr, hStream));
}

// --- pools ---

static cudaError_t create(CudaContext *c, cudaMemPool_t *to, const struct cudaMemPoolProps *props) {
    if (!to || !props || props->location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
    if (!valid(c, props->location.id)) return cudaErrorInvalidValue;
    if (props->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (props->handleTypes & ~0xf) return cudaErrorInvalidValue;
    if (props->handleTypes) return cudaErrorNotSupported;  // sharing with other processes
    CudaPool *pool = new_pool(c, props->location.id);
    if (!pool) return cudaErrorMemoryAllocation;
    pool->props = *props;
    *to = (cudaMemPool_t)pool;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps) {
    CUDA_RETURN(c, NEED_HEALTHY, create(c, memPool, poolProps));
}

static cudaError_t destroy(CudaContext *c, cudaMemPool_t handle) {
    CudaPool *pool = find(c, handle);
    if (!pool) return cudaErrorInvalidValue;
    CudaDevice *d = &c->devices[pool->device];
    if (pool == d->default_pool) return cudaErrorInvalidValue;
    if (pool == d->current_pool) d->current_pool = NULL;
    object_delete(&c->objects, pool);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) { CUDA_RETURN(c, NEED_HEALTHY, destroy(c, memPool)); }

static cudaError_t give(cudaMemPool_t *to, CudaPool *pool) {
    if (!to) return cudaErrorInvalidValue;
    *to = (cudaMemPool_t)pool;
    return pool ? cudaSuccess : cudaErrorMemoryAllocation;
}

CUDA_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device) {
    CUDA_RETURN(c, NEED_DEVICE, valid(c, device) ? give(memPool, default_pool(c, device)) : cudaErrorInvalidDevice);
}

CUDA_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device) {
    CUDA_RETURN(c, NEED_DEVICE, valid(c, device) ? give(memPool, current_pool(c, device)) : cudaErrorInvalidValue);
}

static cudaError_t set_current(CudaContext *c, int device, cudaMemPool_t handle) {
    CudaPool *pool = find(c, handle);
    if (!valid(c, device) || !pool || pool->device != device) return cudaErrorInvalidValue;
    c->devices[device].current_pool = pool;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
    CUDA_RETURN(c, NEED_DEVICE, set_current(c, device, memPool));
}

// --- pools by where their memory is: of a device, or of the host ---

static CudaPool *host_pool(CudaContext *c) {
    if (!c->host_pool) c->host_pool = new_pool(c, 0);
    return c->host_pool;
}

static cudaError_t pool_at(CudaContext *c, cudaMemPool_t *to, const struct cudaMemLocation *location,
                           enum cudaMemAllocationType type, bool current) {
    if (!to || !location || type != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (location->type == cudaMemLocationTypeHost) return give(to, host_pool(c));
    if (location->type != cudaMemLocationTypeDevice || !valid(c, location->id)) return cudaErrorInvalidValue;
    return give(to, current ? current_pool(c, location->id) : default_pool(c, location->id));
}

CUDA_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                              enum cudaMemAllocationType type) {
    CUDA_RETURN(c, NEED_HEALTHY, pool_at(c, memPool, location, type, false));
}

CUDA_API cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                       enum cudaMemAllocationType type) {
    CUDA_RETURN(c, NEED_HEALTHY, pool_at(c, memPool, location, type, true));
}

static cudaError_t set_at(CudaContext *c, const struct cudaMemLocation *location, enum cudaMemAllocationType type,
                          cudaMemPool_t pool) {
    if (!location || type != cudaMemAllocationTypePinned || location->type != cudaMemLocationTypeDevice)
        return cudaErrorInvalidValue;
    return set_current(c, location->id, pool);
}

CUDA_API cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                                       cudaMemPool_t memPool) {
    CUDA_RETURN(c, NEED_HEALTHY, set_at(c, location, type, memPool));
}

static cudaError_t trim(CudaContext *c, cudaMemPool_t handle) {
    CudaPool *pool = find(c, handle);
    if (!pool) return cudaErrorInvalidValue;
    return cudaSuccess;  // nothing is kept back
}

CUDA_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep) {
    (void)minBytesToKeep;
    CUDA_RETURN(c, NEED_HEALTHY, trim(c, memPool));
}

static cudaError_t set_attribute(CudaContext *c, cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value) {
    CudaPool *pool = find(c, handle);
    if (!pool || !value) return cudaErrorInvalidValue;
    u64 number;
    switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: memcpy(&pool->reuse[attribute - 1], value, sizeof(int)); break;
    case cudaMemPoolAttrReleaseThreshold: memcpy(&pool->threshold, value, sizeof(u64)); break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:  // may only be reset
        memcpy(&number, value, sizeof number);
        if (number) return cudaErrorInvalidValue;
        *(attribute == cudaMemPoolAttrUsedMemHigh ? &pool->used_high : &pool->reserved_high) = pool->used;
        break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value) {
    CUDA_RETURN(c, NEED_HEALTHY, set_attribute(c, memPool, attr, value));
}

// Pools of an H200 take memory in blocks of 32 MiB.
static u64 reserved(u64 used) { return (used + (32u << 20) - 1) & ~(u64)((32u << 20) - 1); }

static cudaError_t get_attribute(CudaContext *c, cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value) {
    CudaPool *pool = find(c, handle);
    if (!pool || !value) return cudaErrorInvalidValue;
    const u64 numbers[] = {
        [cudaMemPoolAttrReleaseThreshold] = pool->threshold,
        [cudaMemPoolAttrReservedMemCurrent] = reserved(pool->used),
        [cudaMemPoolAttrReservedMemHigh] = reserved(pool->reserved_high),
        [cudaMemPoolAttrUsedMemCurrent] = pool->used,
        [cudaMemPoolAttrUsedMemHigh] = pool->used_high,
    };
    if ((unsigned)attribute >= WL_COUNT(numbers) || !attribute) return cudaErrorInvalidValue;
    if (attribute < cudaMemPoolAttrReleaseThreshold)
        memcpy(value, &pool->reuse[attribute - 1], sizeof(int));
    else
        memcpy(value, &numbers[attribute], sizeof(u64));
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value) {
    CUDA_RETURN(c, NEED_HEALTHY, get_attribute(c, memPool, attr, value));
}

static cudaError_t set_access(CudaContext *c, cudaMemPool_t handle, const struct cudaMemAccessDesc *list, size_t n) {
    CudaPool *pool = find(c, handle);
    if (!pool || (n && !list)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++) {
        if (list[i].location.type != cudaMemLocationTypeDevice) return cudaErrorNotSupported;
        if (list[i].flags == cudaMemAccessFlagsProtRead) return cudaErrorNotSupported;
        if (!valid(c, list[i].location.id)) return cudaErrorInvalidDevice;
        if (list[i].location.id == pool->device && list[i].flags == cudaMemAccessFlagsProtNone)
            return cudaErrorInvalidDevice;
        u64 bit = 1ull << list[i].location.id;
        for (u32 k = 0; k < 2; k++)
            pool->access[k] = list[i].flags >> k & 1 ? pool->access[k] | bit : pool->access[k] & ~bit;
    }
    u64 address, owner;
    for (u32 at = 0; map_next(&c->pool_of, &at, &address, &owner);)
        if (owner == (u64)(uintptr_t)pool) sim_set_sharing(c->sim, address, pool->access[1]);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                          size_t count) {
    CUDA_RETURN(c, NEED_HEALTHY, set_access(c, memPool, descList, count));
}

static cudaError_t get_access(CudaContext *c, enum cudaMemAccessFlags *flags, cudaMemPool_t handle,
                              const struct cudaMemLocation *location) {
    CudaPool *pool = find(c, handle);
    if (!pool || !flags || !location) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice) return *flags = cudaMemAccessFlagsProtNone, cudaSuccess;
    if (!valid(c, location->id)) return cudaErrorInvalidValue;
    unsigned both = (unsigned)(pool->access[0] >> location->id & 1) | (unsigned)(pool->access[1] >> location->id & 1)
                                                                          << 1;
    *flags = location->id == pool->device ? cudaMemAccessFlagsProtReadWrite : (enum cudaMemAccessFlags)both;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                          struct cudaMemLocation *location) {
    CUDA_RETURN(c, NEED_HEALTHY, get_access(c, flags, memPool, location));
}
