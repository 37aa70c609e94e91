// SPDX-License-Identifier: Apache-2.0
// Hints about managed memory. It has one place here, so they have no effect; they are kept and told, for a whole
// allocation each. Error codes are those of an H200: tests/cuda/h200_calls.txt.
#include <string.h>

#include "cuda/api.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

typedef struct Hints {
    bool read_mostly;
    struct cudaMemLocation preferred, prefetched;
    u64 accessed_by;  // bit d: device d; bit 63: the host
} Hints;

enum { HOST_BIT = 63 };

static const Hints no_hints = {.preferred = {cudaMemLocationTypeInvalid, cudaInvalidDeviceId},
                               .prefetched = {cudaMemLocationTypeInvalid, cudaInvalidDeviceId}};

// The managed allocation that holds a range; NULL when there is none.
static const SimAllocation *managed(CudaContext *c, const void *pointer, size_t count) {
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)pointer);
    if (!a || a->kind != MEMORY_MANAGED || !count) return NULL;
    return count <= a->address + a->size - (u64)(uintptr_t)pointer ? a : NULL;
}

// Serials are never used again, so hints of freed memory are never found.
static Hints hints_of(CudaContext *c, const SimAllocation *a) {
    const u64 *found = map_get(&c->managed_hints, a->serial);
    return found ? *(const Hints *)(uintptr_t)*found : no_hints;
}

static cudaError_t keep(CudaContext *c, const SimAllocation *a, const Hints *hints) {
    const u64 *found = map_get(&c->managed_hints, a->serial);
    Hints *own = found ? (Hints *)(uintptr_t)*found : mem_alloc(sizeof *own);
    if (!own) return cudaErrorMemoryAllocation;
    *own = *hints;
    return cuda_error_of(map_put(&c->managed_hints, a->serial, (u64)(uintptr_t)own));
}

static bool is_host(struct cudaMemLocation location) {
    return location.type == cudaMemLocationTypeHost || location.type == cudaMemLocationTypeHostNuma ||
           location.type == cudaMemLocationTypeHostNumaCurrent;
}

static bool is_device(const CudaContext *c, struct cudaMemLocation location) {
    return location.type == cudaMemLocationTypeDevice && location.id >= 0 && (u32)location.id < c->config.devices;
}

static cudaError_t prefetch(CudaContext *c, const void *pointer, size_t count, struct cudaMemLocation location,
                            unsigned long long flags, cudaStream_t handle) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    cudaError_t error = stream_forbid_capture(stream);
    if (error != cudaSuccess) return error;
    const SimAllocation *a = managed(c, pointer, count);
    if (!a || flags) return cudaErrorInvalidValue;
    if (location.type == cudaMemLocationTypeDevice && !is_device(c, location)) return cudaErrorInvalidDevice;
    if (!is_device(c, location) && !is_host(location)) return cudaErrorInvalidValue;
    Hints hints = hints_of(c, a);
    hints.prefetched = location;
    return keep(c, a, &hints);
}

CUDA_API cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, struct cudaMemLocation location,
                                          unsigned int flags, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, prefetch(c, devPtr, count, location, flags, stream));
}

static cudaError_t advise(CudaContext *c, const void *pointer, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) {
    const SimAllocation *a = managed(c, pointer, count);
    if (!a || advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return cudaErrorInvalidValue;
    bool located = advice == cudaMemAdviseSetPreferredLocation || advice >= cudaMemAdviseSetAccessedBy;
    bool wrong = located && !is_device(c, location) && !is_host(location);
    if (wrong) return cuda_thread()->driver_depth ? cudaErrorInvalidDevice : cudaErrorInvalidValue;  // as an H200
    Hints hints = hints_of(c, a);
    u64 bit = 1ull << (is_host(location) ? HOST_BIT : (u32)location.id & 63);
    switch (advice) {
    case cudaMemAdviseSetReadMostly: hints.read_mostly = true; break;
    case cudaMemAdviseUnsetReadMostly: hints.read_mostly = false; break;
    case cudaMemAdviseSetPreferredLocation: hints.preferred = location; break;
    case cudaMemAdviseUnsetPreferredLocation: hints.preferred = no_hints.preferred; break;
    case cudaMemAdviseSetAccessedBy: hints.accessed_by |= bit; break;
    default: hints.accessed_by &= ~bit; break;
    }
    return keep(c, a, &hints);
}

CUDA_API cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                   struct cudaMemLocation location) {
    CUDA_RETURN(c, NEED_UNCAPTURED, advise(c, devPtr, count, advice, location));
}

// --- what is known ---------------------------------------------------------------------------------------------------
static int location_id(struct cudaMemLocation location) { return is_host(location) ? cudaCpuDeviceId : location.id; }

static void give_accessed_by(const Hints *hints, int *to, size_t count) {
    size_t given = 0;
    for (int d = 0; d < HOST_BIT && given < count; d++)
        if (hints->accessed_by >> d & 1) to[given++] = d;
    if (hints->accessed_by >> HOST_BIT && given < count) to[given++] = cudaCpuDeviceId;
    while (given < count) to[given++] = cudaInvalidDeviceId;
}

static cudaError_t range_attribute(CudaContext *c, void *data, size_t size, enum cudaMemRangeAttribute attribute,
                                   const void *pointer, size_t count) {
    const SimAllocation *a = managed(c, pointer, count);
    bool list = attribute == cudaMemRangeAttributeAccessedBy;
    if (!a || !data || !size || (list ? size % sizeof(int) : size != sizeof(int))) return cudaErrorInvalidValue;
    Hints hints = hints_of(c, a);
    int values[] = {
        [cudaMemRangeAttributeReadMostly] = hints.read_mostly,
        [cudaMemRangeAttributePreferredLocation] = location_id(hints.preferred),
        [cudaMemRangeAttributeAccessedBy] = 0,
        [cudaMemRangeAttributeLastPrefetchLocation] = location_id(hints.prefetched),
        [cudaMemRangeAttributePreferredLocationType] = (int)hints.preferred.type,
        [cudaMemRangeAttributePreferredLocationId] = hints.preferred.id,
        [cudaMemRangeAttributeLastPrefetchLocationType] = (int)hints.prefetched.type,
        [cudaMemRangeAttributeLastPrefetchLocationId] = hints.prefetched.id,
    };
    if (attribute < cudaMemRangeAttributeReadMostly || (unsigned)attribute >= WL_COUNT(values))
        return cudaErrorInvalidValue;
    if (list)
        give_accessed_by(&hints, data, size / sizeof(int));
    else
        memcpy(data, &values[attribute], sizeof(int));
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize, enum cudaMemRangeAttribute attribute,
                                              const void *devPtr, size_t count) {
    CUDA_RETURN(c, NEED_HEALTHY, range_attribute(c, data, dataSize, attribute, devPtr, count));
}

static cudaError_t range_attributes(CudaContext *c, void **data, const size_t *sizes,
                                    const enum cudaMemRangeAttribute *attributes, size_t number, const void *pointer,
                                    size_t count) {
    if (!data || !sizes || !attributes || !number) return cudaErrorInvalidValue;
    for (size_t i = 0; i < number; i++) {
        cudaError_t error = range_attribute(c, data[i], sizes[i], attributes[i], pointer, count);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes, enum cudaMemRangeAttribute *attributes,
                                               size_t numAttributes, const void *devPtr, size_t count) {
    CUDA_RETURN(c, NEED_HEALTHY, range_attributes(c, data, dataSizes, attributes, numAttributes, devPtr, count));
}

// --- many ranges at once ---------------------------------------------------------------------------------------------
typedef struct Batch {
    void **pointers;
    size_t *sizes, count;
    struct cudaMemLocation *locations;  // from `starts[i]` on; NULL: contents are only discarded
    size_t *starts, location_count;
} Batch;

// Discarding leaves the contents as they are: one of the values they may have.
static cudaError_t batch(CudaContext *c, const Batch *b, unsigned long long flags, cudaStream_t stream) {
    if (!b->pointers || !b->sizes || !b->count || flags || !stream || stream == cudaStreamLegacy)
        return cudaErrorInvalidValue;
    if (b->location_count && (!b->locations || !b->starts || b->starts[0] != 0)) return cudaErrorInvalidValue;
    size_t at = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (!managed(c, b->pointers[i], b->sizes[i])) return cudaErrorInvalidValue;
        while (at + 1 < b->location_count && b->starts[at + 1] <= i) at++;
        cudaError_t error =
            b->location_count ? prefetch(c, b->pointers[i], b->sizes[i], b->locations[at], 0, stream) : cudaSuccess;
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                               struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                               size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream) {
    Batch b = {dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs};
    CUDA_RETURN(c, NEED_HEALTHY, numPrefetchLocs ? batch(c, &b, flags, stream) : cudaErrorInvalidValue);
}

CUDA_API cudaError_t cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                              cudaStream_t stream) {
    Batch b = {.pointers = dptrs, .sizes = sizes, .count = count};
    CUDA_RETURN(c, NEED_HEALTHY, batch(c, &b, flags, stream));
}

CUDA_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
                                                         struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                                         size_t numPrefetchLocs, unsigned long long flags,
                                                         cudaStream_t stream) {
    Batch b = {dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs};
    CUDA_RETURN(c, NEED_HEALTHY, numPrefetchLocs ? batch(c, &b, flags, stream) : cudaErrorInvalidValue);
}
