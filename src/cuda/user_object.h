// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects of the program that graphs keep alive.
#ifndef WL_CUDA_USER_OBJECT_H
#define WL_CUDA_USER_OBJECT_H

#include "cuda/context.h"

typedef struct CudaUserObject {
    void *pointer;
    cudaHostFn_t destroy;
    u64 references;
} CudaUserObject;

void user_object_release(CudaContext *c, CudaUserObject *object, u64 count);

#endif
