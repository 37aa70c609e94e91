// SPDX-License-Identifier: Apache-2.0
// Arrays, textures and surfaces: the runtime's, with formats and sampling in the driver's words.
#include <string.h>

#include "cuda/api.h"
#include "cuda/array.h"
#include "cuda/driver/device_context.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/driver_copy.h"

// --- formats ---

static const struct {
    CUarray_format format;
    int bits;
    enum cudaChannelFormatKind kind;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

cudaError_t driver_channels(CUarray_format format, unsigned channels, struct cudaChannelFormatDesc *to) {
    if (channels != 1 && channels != 2 && channels != 4) return cudaErrorInvalidValue;
    for (u32 i = 0; i < WL_COUNT(formats); i++) {
        int bits = formats[i].bits;
        if (formats[i].format != format) continue;
        *to = (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                             channels > 3 ? bits : 0, formats[i].kind};
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

static void format_of(struct cudaChannelFormatDesc desc, CUarray_format *format, unsigned *channels) {
    *channels = 1u + (desc.y > 0) + (desc.z > 0) + (desc.w > 0);
    for (u32 i = 0; i < WL_COUNT(formats); i++)
        if (formats[i].bits == desc.x && formats[i].kind == desc.f) *format = formats[i].format;
}

// --- arrays ---

static cudaError_t create(CudaContext *c, CUarray *to, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    struct cudaChannelFormatDesc format;
    if (!to || !d) return cudaErrorInvalidValue;
    cudaError_t error = driver_channels(d->Format, d->NumChannels, &format);
    if (error != cudaSuccess) return error;
    error = cudaMalloc3DArray(to, &format, (struct cudaExtent){d->Width, d->Height, d->Depth}, d->Flags);
    return error == cudaSuccess ? context_own(c, OWNED_ARRAY, *to) : error;
}

static cudaError_t create_2d(CudaContext *c, CUarray *to, const CUDA_ARRAY_DESCRIPTOR *d) {
    if (!d) return cudaErrorInvalidValue;
    CUDA_ARRAY3D_DESCRIPTOR same = {
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return create(c, to, &same);
}

CUDA_API CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, create_2d(c, pHandle, pAllocateArray));
}
CUDA_API CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, create(c, pHandle, pAllocateArray));
}

static cudaError_t describe(CudaContext *c, CUDA_ARRAY3D_DESCRIPTOR *to, CUarray handle) {
    const CudaArray *array = array_find(c, handle);
    if (!to) return cudaErrorInvalidValue;
    if (!array) return cudaErrorInvalidResourceHandle;
    *to = (CUDA_ARRAY3D_DESCRIPTOR){.Width = array->extent.width,
                                    .Height = array->extent.height,
                                    .Depth = array->extent.depth,
                                    .Flags = array->flags};
    format_of(array->format, &to->Format, &to->NumChannels);
    return cudaSuccess;
}

static cudaError_t describe_2d(CudaContext *c, CUDA_ARRAY_DESCRIPTOR *to, CUarray handle) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    cudaError_t error = to ? describe(c, &d, handle) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *to = (CUDA_ARRAY_DESCRIPTOR){d.Width, d.Height, d.Format, d.NumChannels};
    return error;
}

CUDA_API CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, describe_2d(c, pArrayDescriptor, hArray));
}
CUDA_API CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, describe(c, pArrayDescriptor, hArray));
}

static cudaError_t destroy(CudaContext *c, CUarray array) {
    cudaError_t error = array ? cudaFreeArray(array) : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess) context_disown(c, array);
    return error;
}

CUDA_API CUresult cuArrayDestroy(CUarray hArray) { DRIVER_RETURN(c, DRIVER_CONTEXT, destroy(c, hArray)); }

static cudaError_t create_mipmap(CudaContext *c, CUmipmappedArray *to, const CUDA_ARRAY3D_DESCRIPTOR *d,
                                 unsigned levels) {
    struct cudaChannelFormatDesc format;
    if (!to || !d) return cudaErrorInvalidValue;
    cudaError_t error = driver_channels(d->Format, d->NumChannels, &format);
    if (error != cudaSuccess) return error;
    struct cudaExtent extent = {d->Width, d->Height, d->Depth};
    error = cudaMallocMipmappedArray(to, &format, extent, levels ? levels : 1, d->Flags);
    return error == cudaSuccess ? context_own(c, OWNED_MIPMAP, *to) : error;
}

CUDA_API CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                         unsigned int numMipmapLevels) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, create_mipmap(c, pHandle, pMipmappedArrayDesc, numMipmapLevels));
}

static cudaError_t destroy_mipmap(CudaContext *c, CUmipmappedArray mipmap) {
    cudaError_t error = mipmap ? cudaFreeMipmappedArray(mipmap) : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess) context_disown(c, mipmap);
    return error;
}

CUDA_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, destroy_mipmap(c, hMipmappedArray));
}

// --- textures and surfaces ---

static cudaError_t resource_of(const CUDA_RESOURCE_DESC *d, struct cudaResourceDesc *to) {
    *to = (struct cudaResourceDesc){.resType = d->resType};
    switch (d->resType) {
    case cudaResourceTypeArray: to->res.array.array = d->res.array.hArray; return cudaSuccess;
    case cudaResourceTypeMipmappedArray: to->res.mipmap.mipmap = d->res.mipmap.hMipmappedArray; return cudaSuccess;
    case cudaResourceTypeLinear:
        to->res.linear.devPtr = driver_pointer(d->res.linear.devPtr);
        to->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        return driver_channels(d->res.linear.format, d->res.linear.numChannels, &to->res.linear.desc);
    case cudaResourceTypePitch2D:
        to->res.pitch2D.devPtr = driver_pointer(d->res.pitch2D.devPtr);
        to->res.pitch2D.width = d->res.pitch2D.width;
        to->res.pitch2D.height = d->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        return driver_channels(d->res.pitch2D.format, d->res.pitch2D.numChannels, &to->res.pitch2D.desc);
    default: return cudaErrorInvalidValue;
    }
}

static void driver_resource(const struct cudaResourceDesc *d, CUDA_RESOURCE_DESC *to) {
    *to = (CUDA_RESOURCE_DESC){.resType = d->resType};
    switch (d->resType) {
    case cudaResourceTypeArray: to->res.array.hArray = d->res.array.array; break;
    case cudaResourceTypeMipmappedArray: to->res.mipmap.hMipmappedArray = d->res.mipmap.mipmap; break;
    case cudaResourceTypeLinear:
        to->res.linear.devPtr = driver_address(d->res.linear.devPtr);
        to->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        format_of(d->res.linear.desc, &to->res.linear.format, &to->res.linear.numChannels);
        break;
    case cudaResourceTypePitch2D:
        to->res.pitch2D.devPtr = driver_address(d->res.pitch2D.devPtr);
        to->res.pitch2D.width = d->res.pitch2D.width;
        to->res.pitch2D.height = d->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        format_of(d->res.pitch2D.desc, &to->res.pitch2D.format, &to->res.pitch2D.numChannels);
        break;
    }
}

// The format that a resource is read in.
static cudaError_t format_of_resource(const struct cudaResourceDesc *r, struct cudaChannelFormatDesc *to) {
    cudaArray_t array = r->res.array.array;
    switch (r->resType) {
    case cudaResourceTypeLinear: *to = r->res.linear.desc; return cudaSuccess;
    case cudaResourceTypePitch2D: *to = r->res.pitch2D.desc; return cudaSuccess;
    case cudaResourceTypeMipmappedArray: {
        cudaError_t error = cudaGetMipmappedArrayLevel(&array, r->res.mipmap.mipmap, 0);
        if (error != cudaSuccess) return error;
        break;
    }
    default: break;
    }
    return cudaGetChannelDesc(to, array);
}

// Integers of 8 and 16 bits are read as floats from 0 or -1 to 1, unless a flag says otherwise.
static struct cudaTextureDesc sampling_of(const CUDA_TEXTURE_DESC *d, struct cudaChannelFormatDesc format) {
    bool small = format.f != cudaChannelFormatKindFloat && format.x < 32;
    struct cudaTextureDesc to = {
        .filterMode = d->filterMode,
        .readMode =
            small && !(d->flags & CU_TRSF_READ_AS_INTEGER) ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = (d->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (d->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = d->maxAnisotropy,
        .mipmapFilterMode = d->mipmapFilterMode,
        .mipmapLevelBias = d->mipmapLevelBias,
        .minMipmapLevelClamp = d->minMipmapLevelClamp,
        .maxMipmapLevelClamp = d->maxMipmapLevelClamp,
        .disableTrilinearOptimization = (d->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
        .seamlessCubemap = (d->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0,
    };
    memcpy(to.addressMode, d->addressMode, sizeof to.addressMode);
    memcpy(to.borderColor, d->borderColor, sizeof to.borderColor);
    return to;
}

static void driver_sampling(const struct cudaTextureDesc *d, CUDA_TEXTURE_DESC *to) {
    *to = (CUDA_TEXTURE_DESC){
        .filterMode = d->filterMode,
        .flags = (d->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
                 (d->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (d->sRGB ? CU_TRSF_SRGB : 0u) |
                 (d->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
                 (d->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u),
        .maxAnisotropy = d->maxAnisotropy,
        .mipmapFilterMode = d->mipmapFilterMode,
        .mipmapLevelBias = d->mipmapLevelBias,
        .minMipmapLevelClamp = d->minMipmapLevelClamp,
        .maxMipmapLevelClamp = d->maxMipmapLevelClamp,
    };
    memcpy(to->addressMode, d->addressMode, sizeof to->addressMode);
    memcpy(to->borderColor, d->borderColor, sizeof to->borderColor);
}

#define TEXTURE_FLAGS                                                                    \
    (unsigned)(CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB | \
               CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

static cudaError_t create_texture(CUtexObject *to, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                                  const CUDA_RESOURCE_VIEW_DESC *view) {
    struct cudaResourceDesc same;
    struct cudaChannelFormatDesc format;
    if (!to || !resource || !texture || texture->flags & ~TEXTURE_FLAGS) return cudaErrorInvalidValue;
    cudaError_t error = resource_of(resource, &same);
    if (error == cudaSuccess) error = format_of_resource(&same, &format);
    if (error != cudaSuccess) return error;
    struct cudaTextureDesc sampling = sampling_of(texture, format);
    return cudaCreateTextureObject(to, &same, &sampling, view);
}

CUDA_API CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                    const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, create_texture(pTexObject, pResDesc, pTexDesc, pResViewDesc));
}

static cudaError_t create_surface(CUsurfObject *to, const CUDA_RESOURCE_DESC *resource) {
    struct cudaResourceDesc same;
    if (!to || !resource) return cudaErrorInvalidValue;
    cudaError_t error = resource_of(resource, &same);
    return error == cudaSuccess ? cudaCreateSurfaceObject(to, &same) : error;
}

CUDA_API CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, create_surface(pSurfObject, pResDesc));
}

typedef cudaError_t ResourceOf(struct cudaResourceDesc *to, unsigned long long object);

static cudaError_t object_resource(CUDA_RESOURCE_DESC *to, ResourceOf *get, unsigned long long object) {
    struct cudaResourceDesc same;
    cudaError_t error = to ? get(&same, object) : cudaErrorInvalidValue;
    if (error == cudaSuccess) driver_resource(&same, to);
    return error;
}

CUDA_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, object_resource(pResDesc, cudaGetTextureObjectResourceDesc, texObject));
}

CUDA_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, object_resource(pResDesc, cudaGetSurfaceObjectResourceDesc, surfObject));
}

static cudaError_t texture_sampling(CUDA_TEXTURE_DESC *to, CUtexObject texture) {
    struct cudaTextureDesc same;
    cudaError_t error = to ? cudaGetTextureObjectTextureDesc(&same, texture) : cudaErrorInvalidValue;
    if (error == cudaSuccess) driver_sampling(&same, to);
    return error;
}

CUDA_API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, texture_sampling(pTexDesc, texObject));
}
