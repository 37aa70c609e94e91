// SPDX-License-Identifier: Apache-2.0
// Options of the driver's compiler, as far as they are answered: where it puts its messages, and how long it took.
#ifndef WL_CUDA_JIT_H
#define WL_CUDA_JIT_H

#include "base/diag.h"
#include "binary/binary.h"
#include "cuda/driver/driver.h"

typedef struct JitOptions {  // borrowed from the caller
    unsigned count;
    const CUjit_option *names;
    void **values;
} JitOptions;

// cudaErrorInvalidValue: an option that there is not, or no arrays.
cudaError_t jit_check(const JitOptions *options);
// Tells what `diag` has: on stderr and in the profile, and in the caller's log buffers. `begin_ns` is when it began.
void jit_report(CudaContext *c, const JitOptions *options, const Diag *diag, u64 begin_ns);

// What a program hands over, to PTX for the current device. cudaErrorNoKernelImageForDevice: there is none for it.
cudaError_t jit_image(CudaContext *c, const void *bytes, BinaryImage *image, Diag *diag);
cudaError_t jit_file(CudaContext *c, const char *path, BinaryImage *image, Diag *diag);

// Machine code that the program got from a compiler along with its PTX: when it loads the one, it gets the other.
// Copies the code; takes over the text.
void jit_remember(const void *cubin, size_t size, char *ptx);
// That PTX; NULL when the code is not known.
const char *jit_recall(CudaContext *c, const void *cubin);

#endif
