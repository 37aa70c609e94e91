// SPDX-License-Identifier: Apache-2.0
// CUDA contexts. A context is a device and the right to use it: memory, streams and modules live in the device, so what
// one API makes is valid in the other. The runtime API uses a device's primary context, which becomes current in a
// thread that has none. What was made while another context was current through the driver API ends with that context.
#ifndef WL_CUDA_DEVICE_CONTEXT_H
#define WL_CUDA_DEVICE_CONTEXT_H

#include "cuda/driver/driver.h"

typedef struct CudaCtx {
    u64 id;  // unique in the process: cuCtxGetId
    int device;
    unsigned flags, version;
    bool primary, runtime;  // runtime: the runtime API holds this primary context
    bool destroyed;         // it stays, because handles to it may stay too
    u32 uses;               // of a primary context: retained so often; of others: cuCtxAttach
} CudaCtx;

typedef enum OwnedKind {
    OWNED_MEMORY = 1,
    OWNED_HOST,
    OWNED_STREAM,
    OWNED_EVENT,
    OWNED_ARRAY,
    OWNED_MIPMAP,
    OWNED_MODULE,
} OwnedKind;

// The calling thread's; *current becomes NULL when it has none. cudaErrorContextIsDestroyed: it was, but is no more.
cudaError_t context_current(CudaCtx **current);
CudaCtx *context_primary(CudaContext *c, int device);  // NULL: no memory, or no such device
// What cudaSetDevice does: the device's primary context becomes the thread's current one.
cudaError_t context_use_device(CudaContext *c, int device);
// The runtime API's way to a context: the primary one of the thread's device, unless one is current.
cudaError_t context_bind(CudaContext *c);
void context_reset_primary(CudaContext *c, int device);  // cudaDeviceReset: the runtime lets go of it

// What ends with the current context, unless that is a primary one. `handle` is the object, or the address.
cudaError_t context_own(CudaContext *c, OwnedKind kind, const void *handle);
void context_disown(CudaContext *c, const void *handle);
// The context something was made in; the device's primary one when nothing else is known.
CudaCtx *context_owner(CudaContext *c, const void *handle, int device);

#endif
