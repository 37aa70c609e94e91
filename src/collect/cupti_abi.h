// SPDX-License-Identifier: Apache-2.0
// The part of CUPTI's documented interface (CUDA 12 and 13) that the collector uses, so that building needs no CUDA
// toolkit; cupti_abi_test.c holds it against NVIDIA's headers where there are some. Records grow at their end only from
// version to version: what is here is the part that all have.
#ifndef WL_COLLECT_CUPTI_ABI_H
#define WL_COLLECT_CUPTI_ABI_H

#include <stddef.h>

#include "base/types.h"
#include "collect/cupti_pm_abi.h"

typedef int CuptiResult;
enum {
    CUPTI_OK = 0,
    CUPTI_INVALID_PARAMETER = 1,
    CUPTI_OUT_OF_MEMORY = 8,
    CUPTI_MAX_LIMIT_REACHED = 12,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_VIRTUALIZED = 33,
    CUPTI_NO_PRIVILEGES = 35,
    CUPTI_OTHER_SUBSCRIBER = 39,
    CUPTI_VIRTUALIZED_NO_PRIVILEGES = 40,
    CUPTI_MIG = 43
};

// --- callbacks ---
enum { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2, CUPTI_DOMAIN_RESOURCE = 3 };
enum {
    CUPTI_CONTEXT_CREATED = 1,
    CUPTI_CONTEXT_DESTROY_STARTING = 2,
    CUPTI_STREAM_DESTROY_STARTING = 4,
    CUPTI_MODULE_LOADED = 6,
    CUPTI_MODULE_UNLOAD_STARTING = 7
};
typedef void (*CuptiCallback)(void *context, u32 domain, u32 cbid, const void *data);
typedef struct CuptiApiCall {
    u32 site;  // 0 enter, 1 exit
    const char *function;
    const void *parameters;
    void *result;
    const char *symbol;  // of the kernel that is launched
    void *context;
    u32 context_id;
    u64 *own;
    u32 correlation;
} CuptiApiCall;
typedef struct CuptiResource {
    void *context;
    void *handle;
    void *descriptor;
} CuptiResource;
typedef struct CuptiModule {
    u32 module;
    size_t size;
    const void *cubin;
} CuptiModule;

// --- activities ---
typedef void (*CuptiBufferRequest)(u8 **buffer, size_t *size, size_t *max_records);
typedef void (*CuptiBufferComplete)(void *context, u32 stream, u8 *buffer, size_t size, size_t valid);
enum { CUPTI_FLUSH_FORCED = 1 };
enum {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_KERNEL = 10,
    CUPTI_KIND_MARKER = 12,
    CUPTI_KIND_MEMCPY2 = 22,
    CUPTI_KIND_MEMORY2 = 49
};
#define CUPTI_PACKED __attribute__((packed, aligned(8)))
typedef struct CUPTI_PACKED CuptiKernel {
    u32 kind;
    u8 cache_config, shared_config;
    u16 registers;
    u32 partitioned_requested, partitioned_executed;
    u64 begin, end, completed;
    u32 device, context, stream;
    i32 grid[3], block[3];
    i32 static_shared, dynamic_shared;
    u32 local_per_thread, local_total;
    u32 correlation;
    i64 grid_id;
    const char *name;
    void *reserved0;
    u64 queued, submitted;
    u8 launch_type, carveout_requested, carveout, padding;
    u32 shared_executed;
    u64 graph_node;
    u32 shared_limit;
    u32 graph;
    void *policy_window;
    u32 channel, channel_type;
    u32 cluster[3];
} CuptiKernel;
typedef struct CUPTI_PACKED CuptiMemcpy {
    u32 kind;
    u8 copy, from, to, flags;
    u64 bytes, begin, end;
    u32 device, context, stream;
} CuptiMemcpy;  // MEMCPY2 (between devices) begins alike
typedef struct CUPTI_PACKED CuptiMemset {
    u32 kind;
    u32 value;
    u64 bytes, begin, end;
    u32 device, context, stream;
} CuptiMemset;
typedef struct CUPTI_PACKED CuptiMemory {
    u32 kind;
    u32 operation, memory;
    u32 correlation;
    u64 address, bytes, time;
    u64 pc;
    u32 process, device, context, stream;
    const char *name;
} CuptiMemory;
enum { CUPTI_MARKER_INSTANT = 1, CUPTI_MARKER_START = 2, CUPTI_MARKER_END = 4 };
typedef struct CUPTI_PACKED CuptiMarker {
    u32 kind;
    u32 flags;
    u64 time;
    u32 id;
    u32 object_kind;
    u8 object[12];  // process id, then thread id
    u32 pad;
    const char *name;
    const char *domain;
} CuptiMarker;

// --- PC sampling ---
enum {
    CUPTI_SAMPLING_PERIOD = 1,
    CUPTI_SAMPLING_SCRATCH_BYTES = 3,
    CUPTI_SAMPLING_HARDWARE_BYTES = 4,
    CUPTI_SAMPLING_MODE = 5,
    CUPTI_SAMPLING_BUFFER = 8,
    CUPTI_SAMPLING_WORKER_SLEEP = 9
};
enum { CUPTI_SAMPLING_CONTINUOUS = 1, CUPTI_SAMPLING_SERIALIZED = 2 };
typedef struct CUPTI_PACKED CuptiStall {
    u32 reason, samples;
} CuptiStall;
typedef struct CUPTI_PACKED CuptiPc {
    size_t size;
    u64 crc, offset;
    u32 function_index, pad;
    char *function;
    size_t stall_count;
    CuptiStall *stalls;
    u32 correlation;
} CuptiPc;
typedef struct CUPTI_PACKED CuptiPcData {
    size_t size;
    size_t room;
    u64 total, dropped;
    size_t count, remaining;
    u64 range;
    CuptiPc *pcs;
    u64 other;  // samples of kernels that are not the program's
    u8 buffer_full;
} CuptiPcData;
typedef struct CuptiSamplingAttribute {
    u32 type;
    CuptiResult result;
    union {
        u64 data[3];
        u32 number;
        size_t bytes;
        void *pointer;
    };
} CuptiSamplingAttribute;
typedef struct CuptiSamplingConfig {
    size_t size;
    void *priv;
    void *context;
    size_t count;
    CuptiSamplingAttribute *attributes;
} CuptiSamplingConfig;
typedef struct CuptiSamplingReasons {
    size_t size;
    void *priv;
    void *context;
    union {
        size_t *count_out;  // cuptiPCSamplingGetNumStallReasons
        size_t count;       // cuptiPCSamplingGetStallReasons
    };
    u32 *indices;
    char **names;
} CuptiSamplingReasons;
enum { CUPTI_REASON_NAME_BYTES = 128 };
typedef struct CuptiSamplingContext {
    size_t size;
    void *priv;
    void *context;
} CuptiSamplingContext;
typedef struct CuptiSamplingGet {
    size_t size;
    void *priv;
    void *context;
    CuptiPcData *data;
} CuptiSamplingGet;
typedef struct CuptiProfilerInit {
    size_t size;
    void *priv;
} CuptiProfilerInit;
typedef struct CuptiCubinCrc {
    size_t size;
    size_t cubin_size;
    const void *cubin;
    u64 crc;
} CuptiCubinCrc;

// Of the functions that launch kernels, in the driver domain.
#define CUPTI_LAUNCH_CBIDS(X)                    \
    X(307, cuLaunchKernel)                       \
    X(442, cuLaunchKernel_ptsz)                  \
    X(477, cuLaunchCooperativeKernel)            \
    X(478, cuLaunchCooperativeKernel_ptsz)       \
    X(480, cuLaunchCooperativeKernelMultiDevice) \
    X(514, cuGraphLaunch)                        \
    X(515, cuGraphLaunch_ptsz)                   \
    X(652, cuLaunchKernelEx)                     \
    X(653, cuLaunchKernelEx_ptsz)

enum {
    CUPTI_LAUNCH_PTSZ = 442,
    CUPTI_LAUNCH_COOPERATIVE = 477,
    CUPTI_LAUNCH_COOPERATIVE_PTSZ = 478,
    CUPTI_LAUNCH_DEVICES = 480,
    CUPTI_LAUNCH_GRAPH = 514,
    CUPTI_LAUNCH_GRAPH_PTSZ = 515,
    CUPTI_LAUNCH_EX = 652,
    CUPTI_LAUNCH_EX_PTSZ = 653
};
typedef struct CuptiLaunchShape {
    u32 grid[3], block[3], shared;
    void *stream;
} CuptiLaunchShape;
enum { CUPTI_LAUNCH_CLUSTER = 4 };  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: three numbers
typedef struct CuptiLaunchAttribute {
    u32 id, pad;
    u64 value[8];
} CuptiLaunchAttribute;
typedef struct CuptiLaunchConfig {
    CuptiLaunchShape shape;
    const CuptiLaunchAttribute *attributes;
    u32 attribute_count;
} CuptiLaunchConfig;
typedef union CuptiLaunchParameters {
    struct {
        void *function;
        CuptiLaunchShape shape;
        void *const *arguments;
        void *const *extra;  // not of cooperative launches
    };
    struct {  // of CUPTI_LAUNCH_EX
        const CuptiLaunchConfig *config;
        void *function;
        void *const *arguments;
        void *const *extra;
    } ex;
} CuptiLaunchParameters;

// Of those that wait for the GPU, with what they are called in the profile.
enum { CUPTI_STREAM_WAIT = 126, CUPTI_STREAM_WAIT_PTSZ = 440 };
#define CUPTI_WAIT_CBIDS(X)                                \
    X(17, cuCtxSynchronize, "context synchronize")         \
    X(121, cuEventSynchronize, "event synchronize")        \
    X(126, cuStreamSynchronize, "stream synchronize")      \
    X(440, cuStreamSynchronize_ptsz, "stream synchronize") \
    X(800, cuCtxSynchronize_v2, "context synchronize")

// Of those that load modules. What is loaded is the second parameter of each.
#define CUPTI_LOAD_CBIDS(X)      \
    X(19, cuModuleLoadData)      \
    X(20, cuModuleLoadDataEx)    \
    X(21, cuModuleLoadFatBinary) \
    X(678, cuLibraryLoadData)
typedef struct CuptiLoadParameters {
    void *handle;
    const void *code;
} CuptiLoadParameters;

// The functions, all NULL until cupti_load.
typedef struct Cupti {
#define CUPTI(name, need, arguments) CuptiResult(*name) arguments;
#include "collect/cupti.def"
#undef CUPTI
} Cupti;

#endif
