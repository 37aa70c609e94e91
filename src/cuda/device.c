// SPDX-License-Identifier: Apache-2.0
// Devices: how many, which one, what they are (attributes.def over the GPU model), limits, peers.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cuda/api.h"
#include "cuda/array.h"
#include "cuda/driver/device_context.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/pending.h"
#include "cuda/runtime_hooks.h"
#include "cuda/stream.h"

#define RUNTIME_VERSION 13000

static bool valid(const CudaContext *c, int device) { return device >= 0 && (u32)device < c->config.devices; }

// --- which device ---

static cudaError_t get_count(CudaContext *c, int *count) {
    if (!count) return cudaErrorInvalidValue;
    *count = (int)c->config.devices;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetDeviceCount(int *count) { CUDA_RETURN(c, NEED_DEVICE, get_count(c, count)); }

static cudaError_t set_device(CudaContext *c, int device) {
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    return context_use_device(c, device);
}

CUDA_API cudaError_t cudaSetDevice(int device) { CUDA_RETURN(c, NEED_DEVICE, set_device(c, device)); }

static cudaError_t get_device(int *device) {
    if (!device) return cudaErrorInvalidValue;
    *device = cuda_thread()->device;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetDevice(int *device) { CUDA_RETURN(c, NEED_DEVICE, get_device(device)); }

// At most one way to wait: spin, yield, block.
static bool flags_possible(unsigned flags) {
    const unsigned known = cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | 0x40 |
                           cudaDeviceSyncMemops;  // 0x40: an H200 takes it and says nothing
    unsigned waiting = flags & cudaDeviceScheduleMask;
    return !(flags & ~known) && !(waiting & (waiting - 1));
}

static cudaError_t init_device(CudaContext *c, int device, unsigned flags, unsigned which) {
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    if (!(which & cudaInitDeviceFlagsAreValid)) return cudaSuccess;
    if (!flags_possible(flags)) return cudaErrorInvalidValue;
    c->devices[device].flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
    CUDA_RETURN(c, NEED_DEVICE, init_device(c, device, deviceFlags, flags));
}

static cudaError_t valid_devices(CudaContext *c, const int *devices, int count) {
    if (count < 0 || (count && !devices)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; i++)
        if (!valid(c, devices[i])) return cudaErrorInvalidDevice;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaSetValidDevices(int *device_arr, int len) {
    CUDA_RETURN(c, NEED_DEVICE, valid_devices(c, device_arr, len));
}

static cudaError_t choose_device(CudaContext *c, int *device, const struct cudaDeviceProp *wanted) {
    if (!device || !wanted) return cudaErrorInvalidValue;
    int best = -1;
    for (int i = (int)c->config.devices - 1; i >= 0; i--) {  // the first of those that meet most wishes
        const GpuModel *g = &c->gpus[i];
        int met = (int)g->sm_version >= wanted->major * 10 + wanted->minor;
        met += g->memory_bytes >= wanted->totalGlobalMem;
        met += (int)g->sms >= wanted->multiProcessorCount;
        met += g->shared_per_cta >= wanted->sharedMemPerBlock;
        if (met >= best) best = met, *device = i;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop) {
    CUDA_RETURN(c, NEED_DEVICE, choose_device(c, device, prop));
}

static cudaError_t set_flags(CudaContext *c, unsigned flags) {
    if (!flags_possible(flags)) return cudaErrorInvalidValue;
    cuda_device(c)->flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaSetDeviceFlags(unsigned int flags) { CUDA_RETURN(c, NEED_DEVICE, set_flags(c, flags)); }

static cudaError_t get_flags(CudaContext *c, unsigned *flags) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = cuda_device(c)->flags;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetDeviceFlags(unsigned int *flags) { CUDA_RETURN(c, NEED_DEVICE, get_flags(c, flags)); }

static cudaError_t reset(CudaContext *c) {
    cudaError_t error = stream_check_synchronize(c);
    CudaDevice *d = cuda_device(c);
    (void)pending_settle(c);
    pending_drop(c, cuda_thread()->device);
    if (d->failed != cudaSuccess) c->failed--;
    d->failed = cudaSuccess;
    d->sticky = cudaSuccess;
    device_defaults(d);
    for (u32 peer = 0; peer < c->config.devices; peer++) sim_set_peer(c->sim, (u32)cuda_thread()->device, peer, false);
    modules_reset(c);
    context_reset_primary(c, cuda_thread()->device);
    cuda_thread()->last_error = cudaSuccess;
    return error;
}

CUDA_API cudaError_t cudaDeviceReset(void) { CUDA_RETURN(c, NEED_DEVICE, reset(c)); }

// --- what a device is ---

static bool attribute_value(const GpuModel *g, int device, int attribute, int *value) {
    switch (attribute) {
#define DEVICE_ATTRIBUTE(number, name, expression) \
    case number:                                   \
        *value = (int)(expression);                \
        return true;
#include "cuda/attributes.def"
#undef DEVICE_ATTRIBUTE
    default: return false;
    }
}

cudaError_t device_attribute(const CudaContext *c, u32 device, int attribute, int *value) {
    return attribute_value(&c->gpus[device], (int)device, attribute, value) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t get_attribute(CudaContext *c, int *value, int attribute, int device) {
    if (!value) return cudaErrorInvalidValue;
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    return device_attribute(c, (u32)device, attribute, value);
}

CUDA_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device) {
    CUDA_RETURN(c, NEED_DEVICE, get_attribute(c, value, (int)attr, device));
}

static cudaError_t get_properties(CudaContext *c, struct cudaDeviceProp *p, int device) {
    if (!p) return cudaErrorInvalidValue;
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    int value = 0;
    *p = (struct cudaDeviceProp){0};
    snprintf(p->name, sizeof p->name, "%s", c->gpus[device].name);
    char uuid[32] = {0};
    snprintf(uuid, sizeof uuid, "warplens-%d", device);
    memcpy(p->uuid.bytes, uuid, sizeof p->uuid.bytes);
    p->totalGlobalMem = c->gpus[device].memory_bytes;
#define DEVICE_PROPERTY(field, attribute)                                            \
    (void)attribute_value(&c->gpus[device], device, cudaDevAttr##attribute, &value); \
    p->field = (__typeof__(p->field))value;
#include "cuda/properties.def"
#undef DEVICE_PROPERTY
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) {
    CUDA_RETURN(c, NEED_DEVICE, get_properties(c, prop, device));
}

static cudaError_t give_version(int *to, int version) {
    if (!to) return cudaErrorInvalidValue;
    *to = version;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDriverGetVersion(int *driverVersion) {
    CUDA_RETURN(c, NEED_NOTHING, give_version(driverVersion, DRIVER_VERSION));
}

CUDA_API cudaError_t cudaRuntimeGetVersion(int *runtimeVersion) {
    CUDA_RETURN(c, NEED_NOTHING, give_version(runtimeVersion, RUNTIME_VERSION));
}

static cudaError_t linear_width(CudaContext *c, size_t *width, const struct cudaChannelFormatDesc *format, int device) {
    if (!width || !format) return cudaErrorInvalidValue;
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    int value = 0;
    size_t element;
    u32 channels;
    if (!format_size(*format, &element, &channels)) return cudaErrorInvalidValue;
    (void)attribute_value(&c->gpus[device], device, cudaDevAttrMaxTexture1DLinearWidth, &value);
    *width = (size_t)value * 16 / element;  // the attribute counts the largest elements
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                          const struct cudaChannelFormatDesc *fmtDesc, int device) {
    CUDA_RETURN(c, NEED_DEVICE, linear_width(c, maxWidthInElements, fmtDesc, device));
}

// --- bus ids: 0000:01:<device>.0 ---

static cudaError_t bus_id(CudaContext *c, char *to, int size, int device) {
    char text[16];
    if (!to || size <= 0) return cudaErrorInvalidValue;
    if (!valid(c, device)) return cudaErrorInvalidDevice;
    int length = snprintf(text, sizeof text, "0000:01:%02X.0", (unsigned)device);
    if (length >= size) return cudaErrorInvalidValue;
    memcpy(to, text, (size_t)length + 1);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device) {
    CUDA_RETURN(c, NEED_DEVICE, bus_id(c, pciBusId, len, device));
}

static cudaError_t by_bus_id(CudaContext *c, int *to, const char *text) {
    unsigned domain, bus, slot, function;
    if (!to || !text) return cudaErrorInvalidValue;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 &&
        sscanf(text, "%x:%x.%x", &bus, &slot, &function) != 3 && sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3)
        return cuda_thread()->driver_depth ? cudaErrorInvalidDevice : cudaErrorInvalidValue;  // as an H200
    for (int i = 0; i < (int)c->config.devices; i++) {
        char id[16];
        if (bus_id(c, id, sizeof id, i) != cudaSuccess) continue;
        if (strcasecmp(text, id) != 0 && strcasecmp(text, id + 5) != 0) continue;
        *to = i;
        return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
}

CUDA_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId) {
    CUDA_RETURN(c, NEED_DEVICE, by_bus_id(c, device, pciBusId));
}

// --- limits and preferences ---

void device_defaults(CudaDevice *d) {
    static const size_t limits[] = {
        // as an H200 has them (CUDA 13.0)
        [cudaLimitStackSize] = 1024,           [cudaLimitPrintfFifoSize] = 8650752,
        [cudaLimitMallocHeapSize] = 8388608,   [cudaLimitDevRuntimePendingLaunchCount] = 2048,
        [cudaLimitMaxL2FetchGranularity] = 64, [cudaLimitPersistingL2CacheSize] = 0,
    };
    memcpy(d->limits, limits, sizeof limits);
    d->cache_config = cudaFuncCachePreferNone;
    d->flags = cudaDeviceMapHost;
    d->peers = 0;
}

static cudaError_t check_limit(CudaContext *c, enum cudaLimit limit) {
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize) return cudaErrorInvalidValue;
    (void)c;
    return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaSuccess;
}

static cudaError_t set_limit(CudaContext *c, enum cudaLimit limit, size_t value) {
    cudaError_t error = check_limit(c, limit);
    if (error != cudaSuccess) return error;
    u64 highest = UINT64_MAX;
    if (limit == cudaLimitStackSize) highest = 512 * 1024;  // local memory of a thread, programming guide table 24
    if (limit == cudaLimitMaxL2FetchGranularity) highest = 128;
    if (limit == cudaLimitPersistingL2CacheSize) highest = cuda_gpu(c)->persisting_l2_bytes;
    if (limit == cudaLimitPrintfFifoSize) highest = cuda_gpu(c)->memory_bytes;
    if (value > highest) return cudaErrorInvalidValue;
    cuda_device(c)->limits[limit] = value;
    if (limit == cudaLimitMallocHeapSize) sim_set_heap_limit(c->sim, (u32)cuda_thread()->device, value);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    CUDA_RETURN(c, NEED_UNCAPTURED, set_limit(c, limit, value));
}

static cudaError_t get_limit(CudaContext *c, size_t *value, enum cudaLimit limit) {
    cudaError_t error = value ? check_limit(c, limit) : cudaErrorInvalidValue;
    if (error == cudaSuccess) *value = cuda_device(c)->limits[limit];
    return error;
}

CUDA_API cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit) {
    CUDA_RETURN(c, NEED_HEALTHY, get_limit(c, pValue, limit));
}

static cudaError_t set_cache(CudaContext *c, int config) {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    cuda_device(c)->cache_config = config;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig) {
    CUDA_RETURN(c, NEED_HEALTHY, set_cache(c, (int)cacheConfig));
}

static cudaError_t get_cache(CudaContext *c, enum cudaFuncCache *config) {
    if (!config) return cudaErrorInvalidValue;
    *config = (enum cudaFuncCache)cuda_device(c)->cache_config;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig) {
    CUDA_RETURN(c, NEED_HEALTHY, get_cache(c, pCacheConfig));
}

static cudaError_t get_banks(enum cudaSharedMemConfig *config) {
    if (!config) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig) {
    CUDA_RETURN(c, NEED_HEALTHY, get_banks(pConfig));
}

CUDA_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    CUDA_RETURN(c, NEED_HEALTHY,
                (unsigned)config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess);
}

CUDA_API cudaError_t cudaCtxResetPersistingL2Cache(void) { CUDA_RETURN(c, NEED_HEALTHY, cudaSuccess); }
CUDA_API cudaError_t cudaProfilerStart(void) { CUDA_RETURN(c, NEED_HEALTHY, cudaSuccess); }
CUDA_API cudaError_t cudaProfilerStop(void) { CUDA_RETURN(c, NEED_HEALTHY, cudaSuccess); }

// --- peers: devices of the same model reach each other ---

static cudaError_t check_pair(CudaContext *c, int device, int peer) {
    return valid(c, device) && valid(c, peer) ? cudaSuccess : cudaErrorInvalidDevice;
}

static bool are_peers(const CudaContext *c, int device, int peer) {
    return device != peer && strcmp(c->gpus[device].id, c->gpus[peer].id) == 0;
}

static cudaError_t can_access(CudaContext *c, int *can, int device, int peer) {
    if (!can) return cudaErrorInvalidValue;
    cudaError_t error = check_pair(c, device, peer);
    if (error == cudaSuccess) *can = are_peers(c, device, peer);
    return error;
}

CUDA_API cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice) {
    CUDA_RETURN(c, NEED_DEVICE, can_access(c, canAccessPeer, device, peerDevice));
}

static cudaError_t enable_peer(CudaContext *c, int peer, unsigned flags) {
    if (!valid(c, peer)) return cudaErrorInvalidDevice;
    if (flags) return cudaErrorInvalidValue;
    if (!are_peers(c, cuda_thread()->device, peer)) return cudaErrorPeerAccessUnsupported;
    if (cuda_device(c)->peers >> peer & 1) return cudaErrorPeerAccessAlreadyEnabled;
    cuda_device(c)->peers |= 1ull << peer;
    sim_set_peer(c->sim, (u32)cuda_thread()->device, (u32)peer, true);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, enable_peer(c, peerDevice, flags));
}

static cudaError_t disable_peer(CudaContext *c, int peer) {
    if (!valid(c, peer)) return cudaErrorInvalidDevice;
    if (!(cuda_device(c)->peers >> peer & 1)) return cudaErrorPeerAccessNotEnabled;
    cuda_device(c)->peers &= ~(1ull << peer);
    sim_set_peer(c->sim, (u32)cuda_thread()->device, (u32)peer, false);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
    CUDA_RETURN(c, NEED_HEALTHY, disable_peer(c, peerDevice));
}

static cudaError_t p2p_attribute(CudaContext *c, int *value, enum cudaDeviceP2PAttr attribute, int from, int to) {
    if (!value) return cudaErrorInvalidValue;
    cudaError_t error = check_pair(c, from, to);
    if (error != cudaSuccess || from == to) return cudaErrorInvalidDevice;
    if (attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrOnlyPartialNativeAtomicSupported)
        return cudaErrorInvalidValue;
    bool supported =
        attribute != cudaDevP2PAttrPerformanceRank && attribute != cudaDevP2PAttrOnlyPartialNativeAtomicSupported;
    *value = supported && are_peers(c, from, to);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice) {
    CUDA_RETURN(c, NEED_DEVICE, p2p_attribute(c, value, attr, srcDevice, dstDevice));
}
