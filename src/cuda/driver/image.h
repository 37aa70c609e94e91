// SPDX-License-Identifier: Apache-2.0
// What modules and libraries have in common: both are images that the program loads, and are asked for what is in them.
#ifndef WL_CUDA_IMAGE_H
#define WL_CUDA_IMAGE_H

#include "cuda/driver/jit.h"
#include "cuda/module.h"

typedef struct ImageSource {  // one of them
    const void *image;
    const char *path;
} ImageSource;

cudaError_t image_load(CudaContext *c, ImageSource source, bool library, JitOptions options, CudaModule **module);
// `handle` is a module or a library; results that the program does not want may be NULL.
cudaError_t image_function(CudaContext *c, CudaFunction **to, const void *handle, const char *name);
cudaError_t image_variable(CudaContext *c, CUdeviceptr *to, size_t *bytes, const void *handle, const char *name);
cudaError_t image_count(CudaContext *c, unsigned *to, const void *handle);
cudaError_t image_list(CudaContext *c, CudaFunction **to, unsigned room, const void *handle);

#endif
