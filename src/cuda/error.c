// SPDX-License-Identifier: Apache-2.0
// Errors: their names and texts, and each thread's last one. An error of a call is kept until cudaGetLastError; one of
// a kernel stays with the device and comes back from every later call that uses it.
#include "cuda/api.h"
#include "cuda/context.h"

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define CUDA_ERROR(number, name, text) {number, #name, text},
#include "cuda/errors.def"
#undef CUDA_ERROR
};

CUDA_API const char *cudaGetErrorName(cudaError_t error) {
    for (u32 i = 0; i < WL_COUNT(errors); i++)
        if (errors[i].number == (int)error) return errors[i].name;
    return "unrecognized error code";
}

CUDA_API const char *cudaGetErrorString(cudaError_t error) {
    for (u32 i = 0; i < WL_COUNT(errors); i++)
        if (errors[i].number == (int)error) return errors[i].text;
    return "unrecognized error code";
}

CUDA_API cudaError_t cudaPeekAtLastError(void) { return cuda_thread()->last_error; }

CUDA_API cudaError_t cudaGetLastError(void) {
    cudaError_t error = cuda_thread()->last_error;
    cuda_thread()->last_error = cudaSuccess;
    return error;
}
