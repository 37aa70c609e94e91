// SPDX-License-Identifier: Apache-2.0
// CUDA arrays and mipmapped arrays. They lie in device memory as pitched rows; nothing depends on their layout.
#include "cuda/array.h"

#include "cuda/api.h"
#include "cuda/memory.h"
#include "cuda/pending.h"

CudaArray *array_find(CudaContext *c, cudaArray_const_t handle) {
    return object_get(&c->objects, handle, OBJECT_ARRAY);
}

size_t array_element(CudaContext *c, cudaArray_const_t handle) {
    CudaArray *array = array_find(c, handle);
    return array ? array->element : 0;
}

bool format_size(struct cudaChannelFormatDesc format, size_t *element, u32 *channels) {
    const int bits[4] = {format.x, format.y, format.z, format.w};
    u32 count = 0;
    if (format.f < cudaChannelFormatKindSigned || format.f > cudaChannelFormatKindFloat) return false;
    if (format.x != 8 && format.x != 16 && format.x != 32) return false;
    if (format.f == cudaChannelFormatKindFloat && format.x == 8) return false;
    while (count < 4 && bits[count] == format.x) count++;
    for (u32 i = count; i < 4; i++)
        if (bits[i]) return false;
    if (count == 3) return false;
    *channels = count;
    *element = (size_t)format.x / 8 * count;
    return true;
}

static size_t at_least_one(size_t n) { return n ? n : 1; }

static cudaError_t check_shape(struct cudaExtent e, unsigned flags) {
    const unsigned known = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (!e.width || flags & ~known) return cudaErrorInvalidValue;
    bool layered = flags & cudaArrayLayered, cubemap = flags & cudaArrayCubemap, box = e.depth && !layered && !cubemap;
    if (layered && !e.depth) return cudaErrorInvalidValue;
    if (cubemap && (e.width != e.height || !e.depth || (layered ? e.depth % 6 : e.depth != 6)))
        return cudaErrorInvalidValue;
    if (flags & cudaArrayTextureGather && (!e.height || box)) return cudaErrorInvalidValue;
    if (box && !e.height) return cudaErrorInvalidValue;
    // The limits of the technical specifications (attributes.def).
    size_t width = box ? 16384 : layered || cubemap ? 32768 : 131072;
    size_t height = box ? 16384 : layered || cubemap ? 32768 : 65536, depth = box ? 16384 : 2048;
    return e.width > width || e.height > height || e.depth > depth ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t make(CudaContext *c, CudaArray **to, const struct cudaChannelFormatDesc *format,
                        struct cudaExtent extent, unsigned flags) {
    size_t element;
    u32 channels;
    if (!format) return cudaErrorInvalidValue;
    if (!format_size(*format, &element, &channels)) return cudaErrorInvalidChannelDescriptor;
    cudaError_t error = check_shape(extent, flags);
    if (error != cudaSuccess) return error;
    CudaArray *array = object_new(&c->objects, OBJECT_ARRAY, sizeof *array);
    if (!array) return cudaErrorMemoryAllocation;
    size_t pitch = memory_pitch(extent.width * element), slice = pitch * at_least_one(extent.height);
    *array = (CudaArray){.format = *format,
                         .extent = extent,
                         .flags = flags,
                         .element = element,
                         .pitch = pitch,
                         .slice = slice,
                         .bytes = slice * at_least_one(extent.depth),
                         .device = cuda_thread()->device};
    error = memory_new(c, MEMORY_DEVICE, 0, array->bytes, &array->data);
    if (error != cudaSuccess)
        object_delete(&c->objects, array);
    else
        *to = array;
    return error;
}

static cudaError_t drop(CudaContext *c, CudaArray *array) {
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)array->data);
    cudaError_t error = a ? memory_release(c, a, 0) : cudaSuccess;
    object_delete(&c->objects, array);
    return error;
}

static cudaError_t make_array(CudaContext *c, cudaArray_t *to, const struct cudaChannelFormatDesc *format,
                              struct cudaExtent extent, unsigned flags) {
    CudaArray *array = NULL;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = make(c, &array, format, extent, flags);
    *to = (cudaArray_t)array;
    return error;
}

CUDA_API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
                                     size_t height, unsigned int flags) {
    CUDA_RETURN(c, NEED_UNCAPTURED, make_array(c, array, desc, (struct cudaExtent){width, height, 0}, flags));
}

CUDA_API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                       struct cudaExtent extent, unsigned int flags) {
    CUDA_RETURN(c, NEED_UNCAPTURED, make_array(c, array, desc, extent, flags));
}

static cudaError_t free_array(CudaContext *c, cudaArray_t handle) {
    CudaArray *array = array_find(c, handle);
    if (!handle) return cudaSuccess;
    if (array && array->is_level) return cudaSuccess;  // an H200's answer too
    cudaError_t error = pending_settle(c);
    if (error != cudaSuccess) return error;
    return array ? drop(c, array) : cudaErrorInvalidResourceHandle;
}

CUDA_API cudaError_t cudaFreeArray(cudaArray_t array) {
    CUDA_RETURN(c, array ? NEED_UNCAPTURED : NEED_HEALTHY, free_array(c, array));
}

static cudaError_t array_info(CudaContext *c, struct cudaChannelFormatDesc *format, struct cudaExtent *extent,
                              unsigned *flags, cudaArray_const_t handle) {
    CudaArray *array = array_find(c, handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                      unsigned int *flags, cudaArray_t array) {
    CUDA_RETURN(c, NEED_HEALTHY, array_info(c, desc, extent, flags, array));
}

CUDA_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array) {
    CUDA_RETURN(c, NEED_HEALTHY, desc ? array_info(c, desc, NULL, NULL, array) : cudaErrorInvalidValue);
}

CUDA_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

// What only arrays with deferred mapping, sparse arrays and multi-planar formats have, none of which can be made here.
static cudaError_t no_such_array(CudaContext *c) { return (void)c, cudaErrorInvalidValue; }

CUDA_API cudaError_t cudaArrayGetPlane(cudaArray_t *pPlaneArray, cudaArray_t hArray, unsigned int planeIdx) {
    (void)pPlaneArray, (void)hArray, (void)planeIdx;
    CUDA_RETURN(c, NEED_HEALTHY, no_such_array(c));
}

CUDA_API cudaError_t cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                    cudaArray_t array, int device) {
    (void)memoryRequirements, (void)array, (void)device;
    CUDA_RETURN(c, NEED_HEALTHY, no_such_array(c));
}

CUDA_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements *memoryRequirements,
                                                             cudaMipmappedArray_t mipmap, int device) {
    (void)memoryRequirements, (void)mipmap, (void)device;
    CUDA_RETURN(c, NEED_HEALTHY, no_such_array(c));
}

CUDA_API cudaError_t cudaArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                  cudaArray_t array) {
    (void)sparseProperties, (void)array;
    CUDA_RETURN(c, NEED_HEALTHY, no_such_array(c));
}

CUDA_API cudaError_t cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties *sparseProperties,
                                                           cudaMipmappedArray_t mipmap) {
    (void)sparseProperties, (void)mipmap;
    CUDA_RETURN(c, NEED_HEALTHY, no_such_array(c));
}

// --- mipmaps: one array per level ---

static void drop_mipmap(CudaContext *c, CudaMipmap *mipmap) {
    for (unsigned i = 0; i < mipmap->count; i++) (void)drop(c, mipmap->levels[i]);
    object_delete(&c->objects, mipmap);
}

static size_t halve(size_t n) { return n > 1 ? n / 2 : n; }

static cudaError_t make_mipmap(CudaContext *c, cudaMipmappedArray_t *to, const struct cudaChannelFormatDesc *format,
                               struct cudaExtent extent, unsigned levels, unsigned flags) {
    if (!to) return cudaErrorInvalidValue;
    if (!levels) levels = 1;
    CudaMipmap *mipmap = object_new(&c->objects, OBJECT_MIPMAP, sizeof *mipmap);
    if (!mipmap) return cudaErrorMemoryAllocation;
    for (unsigned i = 0; i < levels && i < WL_COUNT(mipmap->levels); i++) {
        cudaError_t error = make(c, &mipmap->levels[i], format, extent, flags);
        if (error != cudaSuccess) {
            drop_mipmap(c, mipmap);
            return error;
        }
        mipmap->levels[i]->is_level = true;
        mipmap->count++;
        bool last = extent.width <= 1 && extent.height <= 1;
        extent.width = halve(extent.width);
        extent.height = halve(extent.height);
        if (!(flags & (cudaArrayLayered | cudaArrayCubemap))) extent.depth = halve(extent.depth);
        if (last) break;
    }
    *to = (cudaMipmappedArray_t)mipmap;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                              const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                                              unsigned int numLevels, unsigned int flags) {
    CUDA_RETURN(c, NEED_UNCAPTURED, make_mipmap(c, mipmappedArray, desc, extent, numLevels, flags));
}

static cudaError_t free_mipmap(CudaContext *c, cudaMipmappedArray_t handle) {
    CudaMipmap *mipmap = object_get(&c->objects, handle, OBJECT_MIPMAP);
    if (!handle) return cudaSuccess;
    if (!mipmap) return cudaErrorInvalidResourceHandle;
    cudaError_t error = pending_settle(c);
    if (error != cudaSuccess) return error;
    drop_mipmap(c, mipmap);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray) {
    CUDA_RETURN(c, NEED_UNCAPTURED, free_mipmap(c, mipmappedArray));
}

static cudaError_t mipmap_level(CudaContext *c, cudaArray_t *to, cudaMipmappedArray_const_t handle, unsigned level) {
    CudaMipmap *mipmap = object_get(&c->objects, handle, OBJECT_MIPMAP);
    if (!mipmap) return cudaErrorInvalidResourceHandle;
    if (!to || level >= mipmap->count) return cudaErrorInvalidValue;
    *to = (cudaArray_t)mipmap->levels[level];
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                                unsigned int level) {
    CUDA_RETURN(c, NEED_HEALTHY, mipmap_level(c, levelArray, mipmappedArray, level));
}
