// SPDX-License-Identifier: Apache-2.0
// CUDA arrays: rows of elements in device memory.
#ifndef WL_CUDA_ARRAY_H
#define WL_CUDA_ARRAY_H

#include "cuda/context.h"

typedef struct CudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent;  // elements; height, depth 0 when absent; depth counts layers (6 faces each of cubemaps)
    unsigned flags;
    size_t element;  // bytes
    size_t pitch, slice, bytes;
    void *data;  // device address
    int device;
    bool is_level;  // of a mipmap, with which it goes
} CudaArray;

typedef struct CudaMipmap {
    CudaArray *levels[SIM_TEXTURE_LEVELS];
    unsigned count;
} CudaMipmap;

CudaArray *array_find(CudaContext *c, cudaArray_const_t handle);
size_t array_element(CudaContext *c, cudaArray_const_t handle);  // bytes, 0 when there is no such array
// Bytes of an element and number of channels; false when the format is not possible.
bool format_size(struct cudaChannelFormatDesc format, size_t *element, u32 *channels);

#endif
