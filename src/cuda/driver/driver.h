// SPDX-License-Identifier: Apache-2.0
// The driver API (libcuda.so.1) over the same context as the runtime API. Each behaviour is implemented once: driver
// functions check what the driver demands - cuInit, a current context -, translate types, and call the runtime's. Owner
// and lock as in context.h. While a driver function runs, the runtime's functions neither note a last error nor make a
// primary context current (CudaThread.driver_depth).
#ifndef WL_CUDA_DRIVER_H
#define WL_CUDA_DRIVER_H

#include "cuda/context.h"
#include "cuda/driver/driver_abi.h"

typedef enum DriverNeed {
    DRIVER_NOTHING,  // not even cuInit
    DRIVER_READY,    // cuInit, or any runtime call that starts the simulator
    DRIVER_HEALTHY,  // and no kernel fault on the thread's device
    DRIVER_CONTEXT,  // and a current context
} DriverNeed;

// Takes the lock; driver_leave must follow in any case.
cudaError_t driver_enter(CudaContext **context, DriverNeed need);
// For work in a stream: a stream that the program made brings its device along where the thread has no context.
cudaError_t driver_enter_on(CudaContext **context, CUstream stream);
CUresult driver_leave(CudaContext *context, cudaError_t error);  // the error as the driver API tells it
CUresult driver_not_implemented(const char *name, unsigned char *told);

// The body of nearly every driver function, as CUDA_RETURN is of the runtime's.
#define DRIVER_RETURN(c, need, expression)            \
    CudaContext *c;                                   \
    cudaError_t error_ = driver_enter(&c, need);      \
    c->api = __func__;                                \
    if (error_ == cudaSuccess) error_ = (expression); \
    return driver_leave(c, error_)

#define DRIVER_RETURN_ON(c, stream, expression)       \
    CudaContext *c;                                   \
    int device_ = cuda_thread()->device;              \
    cudaError_t error_ = driver_enter_on(&c, stream); \
    c->api = __func__;                                \
    if (error_ == cudaSuccess) error_ = (expression); \
    (void)cuda_switch_device(device_);                \
    return driver_leave(c, error_)

// Where the driver calls a device that there is not a wrong value.
static inline cudaError_t driver_value_error(cudaError_t error) {
    return error == cudaErrorInvalidDevice ? cudaErrorInvalidValue : error;
}

static inline void *driver_pointer(CUdeviceptr address) { return (void *)(uintptr_t)address; }
static inline CUdeviceptr driver_address(const void *pointer) { return (CUdeviceptr)(uintptr_t)pointer; }

#endif
