// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects over arrays, mipmaps and plain memory.
#include <string.h>

#include "cuda/api.h"
#include "cuda/array.h"
#include "cuda/memory.h"
#include "cuda/pending.h"

typedef struct TextureInfo {  // what the program gave, for the cudaGet... questions
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
    struct cudaResourceViewDesc view;
    bool surface;
} TextureInfo;

static cudaError_t of_format(struct cudaChannelFormatDesc format, SimTexture *to, size_t *element) {
    u32 channels;
    if (!format_size(format, element, &channels)) return cudaErrorInvalidChannelDescriptor;
    to->channels = (u8)channels;
    to->channel_bits = (u8)format.x;
    to->channel_kind = (u8)format.f;  // SimChannelKind has the same order
    return cudaSuccess;
}

static cudaError_t of_array(CudaContext *c, const CudaArray *array, SimTexture *to) {
    size_t element;
    (void)c;
    cudaError_t error = of_format(array->format, to, &element);
    to->data = (DevicePtr)(uintptr_t)array->data;
    to->width = (u32)array->extent.width;
    to->height = (u32)array->extent.height;
    to->pitch = array->pitch;
    to->slice = array->slice;
    to->tiled = true;
    to->cubemap = (array->flags & cudaArrayCubemap) != 0;
    if (array->flags & (cudaArrayLayered | cudaArrayCubemap))
        to->layers = (u32)array->extent.depth;
    else
        to->depth = (u32)array->extent.depth;
    return error;
}

static cudaError_t of_mipmap(CudaContext *c, const CudaMipmap *mipmap, SimTexture *to) {
    cudaError_t error = of_array(c, mipmap->levels[0], to);
    to->level_count = (u8)mipmap->count;
    for (unsigned i = 1; i < mipmap->count; i++) {
        const CudaArray *level = mipmap->levels[i];
        to->levels[i] = (SimTextureLevel){.data = (DevicePtr)(uintptr_t)level->data,
                                          .width = (u32)level->extent.width,
                                          .height = (u32)level->extent.height,
                                          .depth = to->layers ? 0 : (u32)level->extent.depth,
                                          .pitch = level->pitch,
                                          .slice = level->slice};
    }
    return error;
}

static cudaError_t of_memory(CudaContext *c, void *pointer, struct cudaChannelFormatDesc format, size_t bytes,
                             SimTexture *to, size_t *element) {
    u8 *view;
    cudaError_t error = of_format(format, to, element);
    if (error == cudaSuccess && !bytes) error = cudaErrorInvalidValue;
    // Only the start must be device memory: a GPU takes a size that goes past the end, and programs rely on it.
    if (error == cudaSuccess) error = memory_view(c, pointer, 1, SIDE_DEVICE, &view, NULL);
    if (error == cudaSuccess && (uintptr_t)pointer % MEMORY_ALIGNMENT) error = cudaErrorInvalidValue;
    to->data = (DevicePtr)(uintptr_t)pointer;
    return error;
}

static cudaError_t of_resource(CudaContext *c, const struct cudaResourceDesc *r, SimTexture *to) {
    CudaArray *array;
    CudaMipmap *mipmap;
    size_t element = 1;
    cudaError_t error;
    switch (r->resType) {
    case cudaResourceTypeArray:
        array = array_find(c, r->res.array.array);
        return array ? of_array(c, array, to) : cudaErrorInvalidResourceHandle;
    case cudaResourceTypeMipmappedArray:
        mipmap = object_get(&c->objects, r->res.mipmap.mipmap, OBJECT_MIPMAP);
        return mipmap ? of_mipmap(c, mipmap, to) : cudaErrorInvalidResourceHandle;
    case cudaResourceTypeLinear:
        error = of_memory(c, r->res.linear.devPtr, r->res.linear.desc, r->res.linear.sizeInBytes, to, &element);
        to->width = (u32)(r->res.linear.sizeInBytes / element);
        to->pitch = to->slice = r->res.linear.sizeInBytes;
        to->linear_memory = true;
        return error;
    case cudaResourceTypePitch2D:
        to->pitch = r->res.pitch2D.pitchInBytes;
        to->width = (u32)r->res.pitch2D.width;
        to->height = (u32)r->res.pitch2D.height;
        if (to->pitch % 32 || !to->width || !to->height) return cudaErrorInvalidValue;
        error = of_format(r->res.pitch2D.desc, to, &element);
        if (error != cudaSuccess) return error;
        if (to->width * element > to->pitch) return cudaErrorInvalidPitchValue;
        to->slice = to->pitch * to->height;
        return of_memory(c, r->res.pitch2D.devPtr, r->res.pitch2D.desc,
                         to->pitch * (to->height - 1) + to->width * element, to, &element);
    default: return cudaErrorInvalidValue;
    }
}

static cudaError_t check_sampling(const struct cudaTextureDesc *t, const SimTexture *made) {
    bool floats = made->channel_kind == CHANNEL_FLOAT;
    bool normalized = t->readMode == cudaReadModeNormalizedFloat;
    if (normalized && (floats || made->channel_bits == 32)) return cudaErrorInvalidNormSetting;
    if (t->filterMode == cudaFilterModeLinear && !floats && !normalized) return cudaErrorInvalidFilterSetting;
    if ((unsigned)t->filterMode > cudaFilterModeLinear || (unsigned)t->readMode > cudaReadModeNormalizedFloat)
        return cudaErrorInvalidValue;
    if ((unsigned)t->mipmapFilterMode > cudaFilterModeLinear || (t->seamlessCubemap && !made->cubemap))
        return cudaErrorInvalidValue;
    for (u32 i = 0; i < 3; i++)
        if ((unsigned)t->addressMode[i] > cudaAddressModeBorder) return cudaErrorInvalidValue;
    return cudaSuccess;
}

static void of_sampling(const struct cudaTextureDesc *t, SimTexture *to) {
    for (u32 i = 0; i < 3; i++) {
        to->address[i] = (u8)t->addressMode[i];
        // Wrapping and mirroring need normalized coordinates; without them they mean clamping.
        if (!t->normalizedCoords && t->addressMode[i] != cudaAddressModeBorder) to->address[i] = ADDRESS_CLAMP;
    }
    to->filter = (u8)t->filterMode;
    to->normalized_coords = t->normalizedCoords != 0;
    to->read_normalized = t->readMode == cudaReadModeNormalizedFloat && to->channel_kind != CHANNEL_FLOAT;
    to->srgb = t->sRGB && to->read_normalized && to->channel_kind == CHANNEL_UNSIGNED && to->channel_bits == 8;
    to->mip_filter = (u8)t->mipmapFilterMode;
    to->level_bias = t->mipmapLevelBias;
    to->level_min = t->minMipmapLevelClamp;
    to->level_max = t->maxMipmapLevelClamp;
    memcpy(to->border, t->borderColor, sizeof to->border);
}

// Views may choose levels and layers; a format must have the texels' size, and the size must be that of the resource.
static bool view_possible(const struct cudaResourceViewDesc *view, const SimTexture *t) {
    static const u8 channel_bytes[] = {1, 1, 2, 2, 4, 4, 2, 4};  // by kinds of format, three channel counts each
    static const u8 channels[] = {1, 2, 4};
    if (view->format < 1 || view->format > 24) return false;  // none, block compressed
    u32 bytes = (u32)channel_bytes[(view->format - 1) / 3] * channels[(view->format - 1) % 3];
    return bytes * 8 == (u32)t->channels * t->channel_bits && view->width == t->width && view->height == t->height;
}

static cudaError_t keep(CudaContext *c, const SimTexture *made, const TextureInfo *info, unsigned long long *handle) {
    TextureInfo *copy = mem_alloc(sizeof *copy);
    u64 id;
    if (!copy) return cudaErrorMemoryAllocation;
    Status status = sim_texture_create(c->sim, made, &id);
    if (status == STATUS_OK) status = map_put(&c->texture_info, id, (u64)(uintptr_t)copy);
    if (status != STATUS_OK) {
        mem_free(copy);
        return cuda_error_of(status);
    }
    *copy = *info;
    *handle = id;
    return cudaSuccess;
}

static cudaError_t make(CudaContext *c, unsigned long long *handle, const struct cudaResourceDesc *resource,
                        const struct cudaTextureDesc *texture, const struct cudaResourceViewDesc *view) {
    SimTexture made = {0};
    TextureInfo info = {.surface = !texture};
    if (!handle || !resource) return cudaErrorInvalidValue;
    cudaError_t error = of_resource(c, resource, &made);
    if (error != cudaSuccess) return error;
    info.resource = *resource;
    if (texture) {
        error = check_sampling(texture, &made);
        if (error != cudaSuccess) return error;
        of_sampling(texture, &made);
        info.texture = *texture;
        if (view && !view_possible(view, &made)) return cudaErrorInvalidValue;
        if (view) info.view = *view;
    } else if (resource->resType != cudaResourceTypeArray) {
        return cudaErrorInvalidValue;
    }
    return keep(c, &made, &info, handle);
}

static TextureInfo *find(CudaContext *c, unsigned long long handle, bool surface) {
    u64 *found = map_get(&c->texture_info, handle);
    TextureInfo *info = found ? (TextureInfo *)(uintptr_t)*found : NULL;
    return info && info->surface == surface ? info : NULL;
}

static cudaError_t destroy(CudaContext *c, unsigned long long handle, bool surface) {
    TextureInfo *info = find(c, handle, surface);
    if (!handle || (!info && !surface)) return cudaSuccess;  // any number: H200, driver 580
    if (!info) return cudaErrorInvalidValue;
    cudaError_t error = pending_settle(c);
    if (error != cudaSuccess) return error;
    map_remove(&c->texture_info, handle);
    mem_free(info);
    return cuda_error_of(sim_texture_destroy(c->sim, handle));
}

CUDA_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject, const struct cudaResourceDesc *pResDesc,
                                             const struct cudaTextureDesc *pTexDesc,
                                             const struct cudaResourceViewDesc *pResViewDesc) {
    // Views that keep the format are the resource itself.
    CUDA_RETURN(c, NEED_HEALTHY,
                pTexDesc ? make(c, pTexObject, pResDesc, pTexDesc, pResViewDesc) : cudaErrorInvalidValue);
}

CUDA_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject) {
    CUDA_RETURN(c, NEED_HEALTHY, destroy(c, texObject, false));
}

CUDA_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                                             const struct cudaResourceDesc *pResDesc) {
    CUDA_RETURN(c, NEED_HEALTHY, make(c, pSurfObject, pResDesc, NULL, NULL));
}

CUDA_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject) {
    CUDA_RETURN(c, NEED_HEALTHY, destroy(c, surfObject, true));
}

static cudaError_t get_resource(CudaContext *c, struct cudaResourceDesc *to, unsigned long long handle, bool surface) {
    TextureInfo *info = find(c, handle, surface);
    if (!to || !info) return cudaErrorInvalidValue;
    *to = info->resource;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                      cudaTextureObject_t texObject) {
    CUDA_RETURN(c, NEED_HEALTHY, get_resource(c, pResDesc, texObject, false));
}

CUDA_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                      cudaSurfaceObject_t surfObject) {
    CUDA_RETURN(c, NEED_HEALTHY, get_resource(c, pResDesc, surfObject, true));
}

static cudaError_t get_sampling(CudaContext *c, struct cudaTextureDesc *to, unsigned long long handle) {
    TextureInfo *info = find(c, handle, false);
    if (!to || !info) return cudaErrorInvalidValue;
    *to = info->texture;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc, cudaTextureObject_t texObject) {
    CUDA_RETURN(c, NEED_HEALTHY, get_sampling(c, pTexDesc, texObject));
}

static cudaError_t get_view(CudaContext *c, struct cudaResourceViewDesc *to, unsigned long long handle) {
    TextureInfo *info = find(c, handle, false);
    if (!info) return cudaErrorInvalidValue;
    if (to) *to = info->view;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                          cudaTextureObject_t texObject) {
    CUDA_RETURN(c, NEED_HEALTHY, get_view(c, pResViewDesc, texObject));
}
