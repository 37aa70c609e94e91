// SPDX-License-Identifier: Apache-2.0
// Tensor maps are the simulator's (sim/tensor_map.h): the types below have the numbers of the driver API's enumerators.
#include "sim/tensor_map.h"

#include "cuda/driver/driver_api.h"

static bool supported(const CudaContext *c) { return cuda_gpu(c)->sm_version >= 90; }

static TensorMapSpec spec_of(int type, unsigned int rank, void *address, const unsigned long long *dims,
                             const unsigned long long *strides, const unsigned int *element_strides, int interleave,
                             int swizzle, int l2_promotion, int fill) {
    return (TensorMapSpec){.type = (u32)type,
                           .rank = rank,
                           .address = driver_address(address),
                           .dims = (const u64 *)dims,
                           .strides = (const u64 *)strides,
                           .element_strides = element_strides,
                           .interleave = (u32)interleave,
                           .swizzle = (u32)swizzle,
                           .l2_promotion = (u32)l2_promotion,
                           .fill = (u32)fill};
}

// What all of them demand first.
static cudaError_t prepare(CudaContext *c, const CUtensorMap *to, TensorMapSpec *spec, bool corners) {
    if (!to || !spec->dims || !spec->element_strides || !corners) return cudaErrorInvalidValue;
    if (!supported(c)) return cudaErrorNotSupported;
    spec->sm_version = (u32)cuda_gpu(c)->sm_version;
    return cudaSuccess;
}

static cudaError_t encode_tiled(CudaContext *c, CUtensorMap *to, TensorMapSpec *spec, const u32 *box) {
    cudaError_t error = prepare(c, to, spec, box);
    if (error != cudaSuccess) return error;
    return cuda_error_of(sim_tensor_map_encode_tiled(to, spec, box));
}

CUDA_API CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                         void *globalAddress, const unsigned long long *globalDim,
                                         const unsigned long long *globalStrides, const unsigned int *boxDim,
                                         const unsigned int *elementStrides, int interleave, int swizzle,
                                         int l2Promotion, int oobFill) {
    TensorMapSpec spec = spec_of(tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                                 interleave, swizzle, l2Promotion, oobFill);
    DRIVER_RETURN(c, DRIVER_READY, encode_tiled(c, tensorMap, &spec, boxDim));
}

static cudaError_t encode_im2col(CudaContext *c, CUtensorMap *to, TensorMapSpec *spec, const i32 *lower,
                                 const i32 *upper, u32 channels, u32 pixels) {
    cudaError_t error = prepare(c, to, spec, lower && upper);
    if (error != cudaSuccess) return error;
    return cuda_error_of(sim_tensor_map_encode_im2col(to, spec, lower, upper, channels, pixels));
}

CUDA_API CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                          void *globalAddress, const unsigned long long *globalDim,
                                          const unsigned long long *globalStrides, const int *pixelBoxLowerCorner,
                                          const int *pixelBoxUpperCorner, unsigned int channelsPerPixel,
                                          unsigned int pixelsPerColumn, const unsigned int *elementStrides,
                                          int interleave, int swizzle, int l2Promotion, int oobFill) {
    TensorMapSpec spec = spec_of(tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                                 interleave, swizzle, l2Promotion, oobFill);
    DRIVER_RETURN(c, DRIVER_READY,
                  encode_im2col(c, tensorMap, &spec, pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel,
                                pixelsPerColumn));
}

static cudaError_t encode_wide(CudaContext *c, CUtensorMap *to, TensorMapSpec *spec, i32 lower, i32 upper, u32 channels,
                               u32 pixels, u32 mode) {
    cudaError_t error = prepare(c, to, spec, true);
    if (error != cudaSuccess) return error;
    return cuda_error_of(sim_tensor_map_encode_im2col_wide(to, spec, lower, upper, channels, pixels, mode));
}

CUDA_API CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                              void *globalAddress, const unsigned long long *globalDim,
                                              const unsigned long long *globalStrides, int pixelBoxLowerCornerWidth,
                                              int pixelBoxUpperCornerWidth, unsigned int channelsPerPixel,
                                              unsigned int pixelsPerColumn, const unsigned int *elementStrides,
                                              int interleave, int mode, int swizzle, int l2Promotion, int oobFill) {
    TensorMapSpec spec = spec_of(tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                                 interleave, swizzle, l2Promotion, oobFill);
    DRIVER_RETURN(c, DRIVER_READY,
                  encode_wide(c, tensorMap, &spec, pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, channelsPerPixel,
                              pixelsPerColumn, (u32)mode));
}

CUDA_API CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress) {
    DRIVER_RETURN(c, DRIVER_READY,
                  tensorMap ? cuda_error_of(sim_tensor_map_replace_address(tensorMap, driver_address(globalAddress)))
                            : cudaErrorInvalidValue);
}
