// SPDX-License-Identifier: Apache-2.0
// What would leave the process: memory and events of other processes, pools as file descriptors, RDMA. A simulated GPU
// is not shared, so well-formed requests are refused with cudaErrorNotSupported, and said so once; the mistakes give
// what an H200 gives.
#include "cuda/api.h"
#include "cuda/pool.h"
#include "cuda/stream.h"

static cudaError_t refuse(const char *name) {
    static unsigned char told;
    return cuda_not_implemented(name, &told);
}

static cudaError_t event_handle(CudaContext *c, cudaIpcEventHandle_t *to, cudaEvent_t handle) {
    const CudaEvent *event = object_get(&c->objects, handle, OBJECT_EVENT);
    if (!handle) return cudaErrorInvalidValue;
    if (!event || !(event->flags & cudaEventInterprocess)) return cudaErrorInvalidResourceHandle;
    return to ? refuse("cudaIpcGetEventHandle: sharing an event with another process") : cudaErrorInvalidValue;
}

CUDA_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event) {
    CUDA_RETURN(c, NEED_HEALTHY, event_handle(c, handle, event));
}

CUDA_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle) {
    (void)handle;
    CUDA_RETURN(c, NEED_HEALTHY,
                event ? refuse("cudaIpcOpenEventHandle: sharing an event with another process")
                      : cudaErrorInvalidValue);
}

static cudaError_t memory_handle(CudaContext *c, cudaIpcMemHandle_t *to, void *pointer) {
    const SimAllocation *a = sim_find(c->sim, (DevicePtr)(uintptr_t)pointer);
    if (!to || !a || a->kind != MEMORY_DEVICE) return cudaErrorInvalidValue;
    return refuse("cudaIpcGetMemHandle: sharing memory with another process");
}

CUDA_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr) {
    CUDA_RETURN(c, NEED_HEALTHY, memory_handle(c, handle, devPtr));
}

CUDA_API cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags) {
    (void)handle, (void)flags;
    CUDA_RETURN(c, NEED_HEALTHY,
                devPtr ? refuse("cudaIpcOpenMemHandle: sharing memory with another process") : cudaErrorInvalidValue);
}

// Nothing was ever opened.
CUDA_API cudaError_t cudaIpcCloseMemHandle(void *devPtr) {
    (void)devPtr;
    CUDA_RETURN(c, NEED_HEALTHY, cudaErrorInvalidValue);
}

// No pool can be exported: cudaMemPoolCreate refuses handle types.
CUDA_API cudaError_t cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool, int handleType,
                                                        unsigned int flags) {
    (void)shareableHandle, (void)memPool, (void)handleType, (void)flags;
    CUDA_RETURN(c, NEED_HEALTHY, cudaErrorInvalidValue);
}

CUDA_API cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *memPool, void *shareableHandle, int handleType,
                                                          unsigned int flags) {
    (void)shareableHandle, (void)handleType, (void)flags;
    CUDA_RETURN(c, NEED_HEALTHY,
                memPool ? refuse("cudaMemPoolImportFromShareableHandle: sharing a pool with another process")
                        : cudaErrorInvalidValue);
}

CUDA_API cudaError_t cudaMemPoolExportPointer(void *exportData, void *ptr) {
    (void)exportData, (void)ptr;
    CUDA_RETURN(c, NEED_HEALTHY, cudaErrorInvalidValue);
}

CUDA_API cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t memPool, void *exportData) {
    (void)ptr, (void)memPool, (void)exportData;
    CUDA_RETURN(c, NEED_HEALTHY, cudaErrorInvalidValue);
}

enum { FLUSH_CURRENT_DEVICE = 0, FLUSH_TO_OWNER = 100, FLUSH_TO_ALL_DEVICES = 200 };

// There are no such writes.
CUDA_API cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
    bool known = target == FLUSH_CURRENT_DEVICE && (scope == FLUSH_TO_OWNER || scope == FLUSH_TO_ALL_DEVICES);
    CUDA_RETURN(c, NEED_HEALTHY, known ? cudaSuccess : cudaErrorInvalidValue);
}

// Atomics over a link or the bus: none is native (cudaDevAttrHostNativeAtomicSupported).
static cudaError_t atomics(CudaContext *c, unsigned *to, const int *operations, unsigned count, int a, int b) {
    int devices = (int)c->config.devices;
    if (!to || !operations || !count) return cudaErrorInvalidValue;
    if (a < 0 || b < 0 || a >= devices || b >= devices) return cudaErrorInvalidDevice;
    for (unsigned i = 0; i < count; i++) to[i] = 0;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities, const int *operations,
                                                         unsigned int count, int device) {
    CUDA_RETURN(c, NEED_DEVICE, atomics(c, capabilities, operations, count, device, device));
}

CUDA_API cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities, const int *operations,
                                                        unsigned int count, int srcDevice, int dstDevice) {
    CUDA_RETURN(c, NEED_DEVICE,
                srcDevice == dstDevice ? cudaErrorInvalidDevice
                                       : atomics(c, capabilities, operations, count, srcDevice, dstDevice));
}
