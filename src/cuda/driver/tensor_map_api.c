// SPDX-License-Identifier: Apache-2.0
// Tensor maps are the simulator's (sim/tensor_map.h): the types below have the numbers of the driver API's enumerators.
#include "sim/tensor_map.h"

#include "cuda/driver/driver_api.h"

static bool supported(const CudaContext *c) { return cuda_gpu(c)->sm_version >= 90; }

static cudaError_t encode_tiled(CudaContext *c, CUtensorMap *to, TensorMapSpec *spec, const u32 *box) {
    if (!to || !spec->dims || !spec->element_strides || !box) return cudaErrorInvalidValue;
    if (!supported(c)) return cudaErrorNotSupported;
    spec->sm_version = (u32)cuda_gpu(c)->sm_version;
    return cuda_error_of(sim_tensor_map_encode_tiled(to, spec, box));
}

CUDA_API CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                         void *globalAddress, const unsigned long long *globalDim,
                                         const unsigned long long *globalStrides, const unsigned int *boxDim,
                                         const unsigned int *elementStrides, int interleave, int swizzle,
                                         int l2Promotion, int oobFill) {
    TensorMapSpec spec = {(u32)tensorDataType,
                          tensorRank,
                          driver_address(globalAddress),
                          (const u64 *)globalDim,
                          (const u64 *)globalStrides,
                          elementStrides,
                          (u32)interleave,
                          (u32)swizzle,
                          (u32)l2Promotion,
                          (u32)oobFill};
    DRIVER_RETURN(c, DRIVER_READY, encode_tiled(c, tensorMap, &spec, boxDim));
}

static cudaError_t encode_im2col(CudaContext *c, CUtensorMap *to, TensorMapSpec *spec, const i32 *lower,
                                 const i32 *upper, u32 channels, u32 pixels) {
    if (!to || !spec->dims || !spec->element_strides || !lower || !upper) return cudaErrorInvalidValue;
    if (!supported(c)) return cudaErrorNotSupported;
    spec->sm_version = (u32)cuda_gpu(c)->sm_version;
    return cuda_error_of(sim_tensor_map_encode_im2col(to, spec, lower, upper, channels, pixels));
}

CUDA_API CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                          void *globalAddress, const unsigned long long *globalDim,
                                          const unsigned long long *globalStrides, const int *pixelBoxLowerCorner,
                                          const int *pixelBoxUpperCorner, unsigned int channelsPerPixel,
                                          unsigned int pixelsPerColumn, const unsigned int *elementStrides,
                                          int interleave, int swizzle, int l2Promotion, int oobFill) {
    TensorMapSpec spec = {(u32)tensorDataType,
                          tensorRank,
                          driver_address(globalAddress),
                          (const u64 *)globalDim,
                          (const u64 *)globalStrides,
                          elementStrides,
                          (u32)interleave,
                          (u32)swizzle,
                          (u32)l2Promotion,
                          (u32)oobFill};
    DRIVER_RETURN(c, DRIVER_READY,
                  encode_im2col(c, tensorMap, &spec, pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel,
                                pixelsPerColumn));
}

static cudaError_t encode_wide(CudaContext *c, CUtensorMap *to, TensorMapSpec *spec, i32 lower, i32 upper, u32 channels,
                               u32 pixels, u32 mode) {
    if (!to || !spec->dims || !spec->element_strides) return cudaErrorInvalidValue;
    if (!supported(c)) return cudaErrorNotSupported;
    spec->sm_version = (u32)cuda_gpu(c)->sm_version;
    return cuda_error_of(sim_tensor_map_encode_im2col_wide(to, spec, lower, upper, channels, pixels, mode));
}

CUDA_API CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, int tensorDataType, unsigned int tensorRank,
                                              void *globalAddress, const unsigned long long *globalDim,
                                              const unsigned long long *globalStrides, int pixelBoxLowerCornerWidth,
                                              int pixelBoxUpperCornerWidth, unsigned int channelsPerPixel,
                                              unsigned int pixelsPerColumn, const unsigned int *elementStrides,
                                              int interleave, int mode, int swizzle, int l2Promotion, int oobFill) {
    TensorMapSpec spec = {(u32)tensorDataType,
                          tensorRank,
                          driver_address(globalAddress),
                          (const u64 *)globalDim,
                          (const u64 *)globalStrides,
                          elementStrides,
                          (u32)interleave,
                          (u32)swizzle,
                          (u32)l2Promotion,
                          (u32)oobFill};
    DRIVER_RETURN(c, DRIVER_READY,
                  encode_wide(c, tensorMap, &spec, pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, channelsPerPixel,
                              pixelsPerColumn, (u32)mode));
}

CUDA_API CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress) {
    DRIVER_RETURN(c, DRIVER_READY,
                  tensorMap ? cuda_error_of(sim_tensor_map_replace_address(tensorMap, driver_address(globalAddress)))
                            : cudaErrorInvalidValue);
}
