// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver/device_context.h"

#include "cuda/api.h"
#include "cuda/driver/driver_api.h"
#include "cuda/module.h"

typedef struct Owned {
    CudaCtx *by;
    OwnedKind kind;
} Owned;

static CudaCtx *find(CudaContext *c, CUcontext handle) { return object_get(&c->objects, handle, OBJECT_CONTEXT); }

static bool valid_device(const CudaContext *c, int device) { return device >= 0 && (u32)device < c->config.devices; }

static CudaCtx *make(CudaContext *c, int device, unsigned flags, unsigned version) {
    CudaCtx *ctx = object_new(&c->objects, OBJECT_CONTEXT, sizeof *ctx);
    if (ctx) *ctx = (CudaCtx){.id = ++c->next_context_id, .device = device, .flags = flags, .version = version};
    return ctx;
}

CudaCtx *context_primary(CudaContext *c, int device) {
    if (!valid_device(c, device)) return NULL;
    CudaDevice *d = &c->devices[device];
    if (!d->primary) {
        d->primary = make(c, device, 0, 3020);
        if (d->primary) d->primary->primary = true;
    }
    return d->primary;
}

// --- the stack of each host thread ---

cudaError_t context_current(CudaCtx **current) {
    CudaThread *t = cuda_thread();
    *current = NULL;
    if (!t->context_count) return cudaSuccess;
    CudaCtx *top = t->contexts[t->context_count - 1];
    if (top->destroyed) return cudaErrorContextIsDestroyed;
    *current = top;
    return cudaSuccess;
}

// The runtime's functions follow the current context's device.
static void follow(void) {
    CudaCtx *current;
    if (context_current(&current) == cudaSuccess && current) cuda_thread()->device = current->device;
}

static cudaError_t push(CudaCtx *ctx) {
    CudaThread *t = cuda_thread();
    if (t->context_count == WL_COUNT(t->contexts)) return cudaErrorMemoryAllocation;
    t->contexts[t->context_count++] = ctx;
    follow();
    return cudaSuccess;
}

static cudaError_t replace_top(CudaCtx *ctx) {
    CudaThread *t = cuda_thread();
    if (t->context_count) t->context_count--;
    return push(ctx);
}

cudaError_t context_use_device(CudaContext *c, int device) {
    CudaCtx *primary = context_primary(c, device);
    if (!primary) return cudaErrorMemoryAllocation;
    primary->runtime = true;
    return replace_top(primary);
}

cudaError_t context_bind(CudaContext *c) {
    CudaCtx *current;
    cudaError_t error = context_current(&current);
    if (error != cudaSuccess || !current) return context_use_device(c, cuda_thread()->device);
    if (current->primary) current->runtime = true;
    return cudaSuccess;
}

// --- what belongs to a context ---

cudaError_t context_own(CudaContext *c, OwnedKind kind, const void *handle) {
    CudaCtx *current;
    cudaError_t error = context_current(&current);
    if (error != cudaSuccess || !current || current->primary) return error;
    Owned *owned = mem_alloc(sizeof *owned);
    if (!owned) return cudaErrorMemoryAllocation;
    *owned = (Owned){current, kind};
    context_disown(c, handle);  // an address that was freed through the runtime API
    Status status = map_put(&c->owned, (u64)(uintptr_t)handle, (u64)(uintptr_t)owned);
    if (status != STATUS_OK) mem_free(owned);
    return cuda_error_of(status);
}

void context_disown(CudaContext *c, const void *handle) {
    const u64 *found = c->owned.len ? map_get(&c->owned, (u64)(uintptr_t)handle) : NULL;
    if (!found) return;
    mem_free((void *)(uintptr_t)*found);
    map_remove(&c->owned, (u64)(uintptr_t)handle);
}

CudaCtx *context_owner(CudaContext *c, const void *handle, int device) {
    const u64 *found = map_get(&c->owned, (u64)(uintptr_t)handle);
    return found ? ((Owned *)(uintptr_t)*found)->by : context_primary(c, device);
}

static void release(CudaContext *c, OwnedKind kind, void *handle) {
    switch (kind) {
    case OWNED_MEMORY: (void)cudaFree(handle); break;
    case OWNED_HOST: (void)cudaFreeHost(handle); break;
    case OWNED_STREAM: (void)cudaStreamDestroy(handle); break;
    case OWNED_EVENT: (void)cudaEventDestroy(handle); break;
    case OWNED_ARRAY: (void)cudaFreeArray(handle); break;
    case OWNED_MIPMAP: (void)cudaFreeMipmappedArray(handle); break;
    case OWNED_MODULE: module_unload(c, handle); break;
    }
}

static void release_owned(CudaContext *c, const CudaCtx *ctx) {
    u64 key, value;
    for (u32 at = 0; map_next(&c->owned, &at, &key, &value);) {
        const Owned *owned = (Owned *)(uintptr_t)value;
        if (owned->by != ctx) continue;
        OwnedKind kind = owned->kind;
        context_disown(c, (void *)(uintptr_t)key);
        release(c, kind, (void *)(uintptr_t)key);
        at = 0;  // the map has changed
    }
}

// --- creating and destroying ---

static bool valid_flags(unsigned flags) {
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    return !(flags & ~(unsigned)CU_CTX_FLAGS_MASK) && schedule != 3 && schedule <= 4;
}

static cudaError_t create(CudaContext *c, CUcontext *to, unsigned flags, CUdevice device, unsigned version) {
    if (!to || !valid_flags(flags)) return cudaErrorInvalidValue;
    if (!valid_device(c, device)) return cudaErrorInvalidDevice;
    if (c->devices[device].sticky != cudaSuccess) return c->devices[device].sticky;
    CudaCtx *ctx = make(c, device, flags, version);
    if (!ctx) return cudaErrorMemoryAllocation;
    cudaError_t error = push(ctx);
    if (error != cudaSuccess)
        object_delete(&c->objects, ctx);
    else
        *to = (CUcontext)ctx;
    return error;
}

CUDA_API CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, create(c, pctx, flags, dev, 3020));
}

static cudaError_t create_with_affinity(CudaContext *c, CUcontext *to, const CUexecAffinityParam *params, int count,
                                        unsigned flags, CUdevice device) {
    if (count < 0 || (count && !params)) return cudaErrorInvalidValue;
    if (count) return cudaErrorUnsupportedExecAffinity;  // only under MPS
    return create(c, to, flags, device, 3020);
}

CUDA_API CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int flags,
                                 CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, create_with_affinity(c, pctx, paramsArray, numParams, flags, dev));
}

static cudaError_t create_with_params(CudaContext *c, CUcontext *to, const CUctxCreateParams *params, unsigned flags,
                                      CUdevice device) {
    if (!params) return create(c, to, flags, device, 3020);
    if (params->cigParams) return cudaErrorNotSupported;  // sharing with a graphics API
    return create_with_affinity(c, to, params->execAffinityParams, params->numExecAffinityParams, flags, device);
}

CUDA_API CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                                 CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, create_with_params(c, pctx, ctxCreateParams, flags, dev));
}

static cudaError_t destroy(CudaContext *c, CUcontext handle) {
    CudaCtx *ctx = find(c, handle), *current = NULL;
    if (!handle) return cudaErrorInvalidValue;
    if (!ctx || ctx->primary) return cudaErrorDeviceUninitialized;
    if (ctx->destroyed) return cudaErrorContextIsDestroyed;
    release_owned(c, ctx);
    (void)context_current(&current);
    if (current == ctx) cuda_thread()->context_count--;
    ctx->destroyed = true;
    follow();
    return cudaSuccess;
}

CUDA_API CUresult cuCtxDestroy_v2(CUcontext ctx) { DRIVER_RETURN(c, DRIVER_READY, destroy(c, ctx)); }

static cudaError_t attach(CUcontext *to, unsigned flags) {
    CudaCtx *current;
    cudaError_t error = context_current(&current);
    if (error == cudaSuccess && (!to || flags)) error = cudaErrorInvalidValue;
    if (error == cudaSuccess && !current) error = cudaErrorDeviceUninitialized;
    if (error != cudaSuccess) return error;
    current->uses++;
    *to = (CUcontext)current;
    return cudaSuccess;
}

CUDA_API CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags) {
    DRIVER_RETURN(c, DRIVER_READY, attach(pctx, flags));
}

static cudaError_t detach(CudaContext *c, CUcontext handle) {
    CudaCtx *ctx = find(c, handle), *current;
    cudaError_t error = context_current(&current);
    if (error != cudaSuccess) return error;
    if (!ctx || ctx != current) return cudaErrorDeviceUninitialized;
    if (!ctx->uses) return destroy(c, handle);
    ctx->uses--;
    return cudaSuccess;
}

CUDA_API CUresult cuCtxDetach(CUcontext ctx) { DRIVER_RETURN(c, DRIVER_READY, detach(c, ctx)); }

// --- which one is current ---

static cudaError_t push_handle(CudaContext *c, CUcontext handle) {
    CudaCtx *ctx = find(c, handle);
    if (!handle) return cudaErrorInvalidValue;
    return ctx ? push(ctx) : cudaErrorDeviceUninitialized;
}

CUDA_API CUresult cuCtxPushCurrent_v2(CUcontext ctx) { DRIVER_RETURN(c, DRIVER_READY, push_handle(c, ctx)); }

static cudaError_t pop(CUcontext *to) {
    CudaThread *t = cuda_thread();
    if (!t->context_count) return cudaErrorDeviceUninitialized;
    CudaCtx *top = t->contexts[--t->context_count];
    if (to) *to = (CUcontext)top;
    follow();
    return cudaSuccess;
}

CUDA_API CUresult cuCtxPopCurrent_v2(CUcontext *pctx) { DRIVER_RETURN(c, DRIVER_READY, pop(pctx)); }

static cudaError_t set_current(CudaContext *c, CUcontext handle) {
    CudaCtx *ctx = find(c, handle);
    if (!handle) return cuda_thread()->context_count ? pop(NULL) : cudaSuccess;
    return ctx ? replace_top(ctx) : cudaErrorDeviceUninitialized;
}

CUDA_API CUresult cuCtxSetCurrent(CUcontext ctx) { DRIVER_RETURN(c, DRIVER_READY, set_current(c, ctx)); }

static cudaError_t get_current(CUcontext *to) {
    CudaThread *t = cuda_thread();
    if (!to) return cudaErrorInvalidValue;
    *to = t->context_count ? (CUcontext)t->contexts[t->context_count - 1] : NULL;
    return cudaSuccess;
}

CUDA_API CUresult cuCtxGetCurrent(CUcontext *pctx) { DRIVER_RETURN(c, DRIVER_READY, get_current(pctx)); }

// --- what a context is; NULL stands for the current one ---

static cudaError_t given_or_current(CudaContext *c, CUcontext handle, CudaCtx **to) {
    cudaError_t error = handle ? cudaSuccess : context_current(to);
    if (handle) *to = find(c, handle);
    if (error == cudaSuccess && *to && (*to)->destroyed) error = cudaErrorContextIsDestroyed;
    return error == cudaSuccess && !*to ? cudaErrorDeviceUninitialized : error;
}

// Also of a context that is no more.
static cudaError_t get_device(CudaContext *c, CUdevice *to, CUcontext handle) {
    CudaThread *t = cuda_thread();
    CudaCtx *ctx = handle ? find(c, handle) : t->context_count ? t->contexts[t->context_count - 1] : NULL;
    if (!ctx) return cudaErrorDeviceUninitialized;
    if (!to) return cudaErrorInvalidValue;
    *to = ctx->device;
    return cudaSuccess;
}

CUDA_API CUresult cuCtxGetDevice(CUdevice *device) { DRIVER_RETURN(c, DRIVER_READY, get_device(c, device, NULL)); }
CUDA_API CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx) {
    DRIVER_RETURN(c, DRIVER_READY, get_device(c, device, ctx));
}

static cudaError_t synchronize(CudaContext *c, CUcontext handle) {
    CudaCtx *ctx;
    cudaError_t error = given_or_current(c, handle, &ctx);
    if (error != cudaSuccess) return error;
    int before = cuda_thread()->device;
    cuda_thread()->device = ctx->device;
    error = cudaDeviceSynchronize();
    cuda_thread()->device = before;
    return error;
}

CUDA_API CUresult cuCtxSynchronize_v2(CUcontext ctx) { DRIVER_RETURN(c, DRIVER_READY, synchronize(c, ctx)); }

static cudaError_t get_id(CudaContext *c, CUcontext handle, unsigned long long *to) {
    CudaCtx *ctx;
    cudaError_t error = given_or_current(c, handle, &ctx);
    if (error == cudaSuccess && !to) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) *to = ctx->id;
    return error;
}

CUDA_API CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId) {
    DRIVER_RETURN(c, DRIVER_READY, get_id(c, ctx, ctxId));
}

static cudaError_t get_version(CudaContext *c, CUcontext handle, unsigned *to) {
    CudaCtx *ctx;
    cudaError_t error = given_or_current(c, handle, &ctx);
    if (error == cudaSuccess && !to) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) *to = ctx->version;
    return error;
}

CUDA_API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
    DRIVER_RETURN(c, DRIVER_READY, get_version(c, ctx, version));
}

static unsigned flags_of(CudaContext *c, const CudaCtx *ctx) {
    return ctx->primary ? c->devices[ctx->device].flags & ~(unsigned)CU_CTX_MAP_HOST : ctx->flags;
}

static cudaError_t get_flags(CudaContext *c, unsigned *to) {
    CudaCtx *ctx;
    cudaError_t error = given_or_current(c, NULL, &ctx);
    if (error == cudaSuccess && !to) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) *to = flags_of(c, ctx);
    return error;
}

CUDA_API CUresult cuCtxGetFlags(unsigned int *flags) { DRIVER_RETURN(c, DRIVER_READY, get_flags(c, flags)); }

static cudaError_t set_flags(CudaContext *c, unsigned flags) {
    CudaCtx *ctx;
    cudaError_t error = given_or_current(c, NULL, &ctx);
    if (error == cudaSuccess && !valid_flags(flags)) error = cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    if (ctx->primary)
        c->devices[ctx->device].flags = flags;
    else
        ctx->flags = flags;
    return cudaSuccess;
}

CUDA_API CUresult cuCtxSetFlags(unsigned int flags) { DRIVER_RETURN(c, DRIVER_READY, set_flags(c, flags)); }

static cudaError_t get_affinity(CudaContext *c, CUexecAffinityParam *to, CUexecAffinityType type) {
    CudaCtx *ctx;
    cudaError_t error = given_or_current(c, NULL, &ctx);
    if (error == cudaSuccess && (!to || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)) error = cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    int sms = 0;
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, ctx->device);
    *to = (CUexecAffinityParam){.type = type, .param.smCount.val = (unsigned)sms};
    return error;
}

CUDA_API CUresult cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type) {
    DRIVER_RETURN(c, DRIVER_READY, get_affinity(c, pExecAffinity, type));
}

// --- peers: all devices reach each other ---

static cudaError_t enable_peer(CudaContext *c, CUcontext handle, unsigned flags) {
    CudaCtx *peer = find(c, handle);
    return peer ? cudaDeviceEnablePeerAccess(peer->device, flags) : cudaErrorDeviceUninitialized;
}

CUDA_API CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, enable_peer(c, peerContext, Flags));
}

static cudaError_t disable_peer(CudaContext *c, CUcontext handle) {
    CudaCtx *peer = find(c, handle);
    return peer ? cudaDeviceDisablePeerAccess(peer->device) : cudaErrorDeviceUninitialized;
}

CUDA_API CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, disable_peer(c, peerContext));
}

// --- primary contexts ---

static cudaError_t retain(CudaContext *c, CUcontext *to, CUdevice device) {
    if (!valid_device(c, device)) return cudaErrorInvalidDevice;
    CudaCtx *primary = to ? context_primary(c, device) : NULL;
    if (!primary) return to ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    primary->uses++;
    *to = (CUcontext)primary;
    return cudaSuccess;
}

CUDA_API CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, retain(c, pctx, dev));
}

void context_reset_primary(CudaContext *c, int device) {
    CudaCtx *primary = context_primary(c, device);
    if (primary) primary->runtime = false;
}

static cudaError_t reset_primary(CudaContext *c, CUdevice device) {
    if (!valid_device(c, device)) return cudaErrorInvalidDevice;
    int before = cuda_thread()->device;
    cuda_thread()->device = device;
    cudaError_t error = cudaDeviceReset();
    cuda_thread()->device = before;
    if (c->devices[device].primary) c->devices[device].primary->uses = 0;
    return error;
}

CUDA_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) { DRIVER_RETURN(c, DRIVER_READY, reset_primary(c, dev)); }

static cudaError_t release_primary(CudaContext *c, CUdevice device) {
    if (!valid_device(c, device)) return cudaErrorInvalidDevice;
    CudaCtx *primary = context_primary(c, device);
    if (!primary || !primary->uses) return cudaErrorDeviceUninitialized;
    primary->uses--;
    return primary->uses || primary->runtime ? cudaSuccess : reset_primary(c, device);
}

CUDA_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
    DRIVER_RETURN(c, DRIVER_READY, release_primary(c, dev));
}

static cudaError_t set_primary_flags(CudaContext *c, CUdevice device, unsigned flags) {
    if (!valid_device(c, device)) return cudaErrorInvalidDevice;
    if (!valid_flags(flags)) return cudaErrorInvalidValue;
    c->devices[device].flags = flags | CU_CTX_MAP_HOST;
    return cudaSuccess;
}

CUDA_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
    DRIVER_RETURN(c, DRIVER_READY, set_primary_flags(c, dev, flags));
}

static cudaError_t primary_state(CudaContext *c, CUdevice device, unsigned *flags, int *active) {
    if (!valid_device(c, device)) return cudaErrorInvalidDevice;
    CudaCtx *primary = flags && active ? context_primary(c, device) : NULL;
    if (!primary) return cudaErrorInvalidValue;
    *flags = flags_of(c, primary);
    *active = primary->uses > 0 || primary->runtime;
    return cudaSuccess;
}

CUDA_API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
    DRIVER_RETURN(c, DRIVER_READY, primary_state(c, dev, flags, active));
}
