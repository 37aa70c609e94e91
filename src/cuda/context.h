// SPDX-License-Identifier: Apache-2.0
// The one mutable context of the simulated runtime: configuration, simulator, devices and everything programs made.
// Owner: this module. Threads: any host thread calls the API; cuda_enter takes the one lock, cuda_leave gives it back.
// What belongs to a host thread (current device, last error, pushed launch configuration) is in CudaThread.
//
// Order of execution: every operation runs to completion when it is submitted, in the order of submission over all
// streams, but for kernels that wait for memory and what has to come after them (pending.h). That is one of the orders
// a GPU may choose.
#ifndef WL_CUDA_CONTEXT_H
#define WL_CUDA_CONTEXT_H

#include <pthread.h>

#include "base/file.h"
#include "base/progress.h"
#include "cuda/config.h"
#include "cuda/cuda_abi.h"
#include "cuda/object.h"
#include "sim/sim.h"

enum { CUDA_RECORD_SOURCE = 1 };  // RecordSource id of all that this process records

typedef struct CudaModule CudaModule;
typedef struct CudaFunction CudaFunction;
typedef struct CudaSymbol CudaSymbol;
typedef struct CudaStream CudaStream;
typedef struct CudaPool CudaPool;
typedef struct CudaGraph CudaGraph;

// What the shared object provides: this module cannot include the store (deps.txt).
typedef struct CudaHost {
    // Opens a profile. STATUS_EXISTS when the file is there and must not be replaced.
    Status (*open_profile)(const char *path, bool overwrite, Sink **sink, void **profile, Diag *diag);
    void (*close_profile)(void *profile);
    void (*abandon_profile)(void *profile);  // in a forked child
} CudaHost;

enum { ENGINE_TO_DEVICE, ENGINE_TO_HOST, ENGINE_INSIDE, ENGINE_COUNT };  // that copy beside kernels
typedef struct CudaDevice {
    cudaError_t sticky;  // of a kernel fault; every later call on this device gives it
    u64 peers;           // bit d: access to device d is enabled
    size_t limits[8];    // by enum cudaLimit
    int cache_config;
    unsigned flags;
    CudaPool *default_pool, *current_pool;
    CudaStream *default_stream;                                            // the legacy one
    u64 graph_used, graph_used_high, graph_reserved, graph_reserved_high;  // bytes of graph allocations
    struct CudaCtx *primary;                                               // NULL until something asks for it
    u32 queued_blocking;                                                   // items of pending work in blocking streams
    u64 blocking_pass, legacy_pass;  // as CudaStream.pass, of blocking streams and of the legacy one
    cudaError_t failed;              // work that had to wait; told by the next call that waits for the device
    Vec(u64) transfers;              // transfer.h: ends of those under way, ns of the device's clock
    u64 engine_free_ns[ENGINE_COUNT];
} CudaDevice;

typedef enum CudaState { CUDA_IDLE, CUDA_RUNNING, CUDA_FAILED, CUDA_FORKED, CUDA_CLOSED } CudaState;

typedef struct CudaContext {
    pthread_mutex_t lock;  // recursive
    CudaHost host;
    CudaConfig config;
    CudaState state;
    Log log;
    char problem[512];  // with the configuration
    GpuModel *gpus;     // by device
    FileData edits;     // CudaConfig.edits, read
    Sim *sim;
    Sink *sink;     // NULL: nothing is recorded
    void *profile;  // what host.open_profile gave
    CudaDevice *devices;
    ObjectTable objects;
    Map functions;                       // host address -> CudaFunction *
    Map symbols;                         // host address (managed: also the address of the storage) -> CudaSymbol *
    Map pool_of;                         // address of a pool allocation -> CudaPool *
    Map freeing;                         // address of memory that pending work is going to free
    Map managed_hints;                   // serial of an allocation -> Hints * (managed.c)
    Map conditions;                      // cudaGraphConditionalHandle -> CudaCondition *
    Map graph_memory;                    // address of a graph allocation -> 1 live, 0 freed
    Map host_flags;                      // address of host memory -> flags it was made with
    Map texture_info;                    // texture or surface handle -> TextureInfo *
    struct JitMemory *jit;               // driver/jit.c; NULL until there is something to remember
    struct CudaVirtual *virtual_memory;  // driver/virtual_memory.c; NULL until it is used
    Map owned;                           // what ends with a context of the driver API (driver/device_context.h)
    Vec(CudaModule *) modules;
    Vec(CudaFunction *) retired;  // of unloaded modules
    u64 next_stream_id, last_event_ns, next_capture_id, next_condition, next_context_id;
    CudaPool *host_pool;             // of host memory
    bool lazy;                       // work is executed when somebody waits for it (pending.h)
    Vec(struct CudaItem *) pending;  // in the order of submission
    u64 submitted, changes, pass;    // items so far, changes of the list, passes over it
    u32 begun;                       // items under way
    u32 failed;                      // devices with CudaDevice.failed
    u32 waiters;                     // threads that wait for pending work
    u32 poke_calls, poke_interval;   // calls since kernels under way had a turn, and when they have the next
    bool watching;                   // the watching thread is there
    struct CudaTask *running;        // the kernel under way
    u64 calls;                       // of the API
    u64 (*clock)(void *context);     // of cuda_time; NULL: the host's
    void *clock_context;
    u64 matched_launches;  // that the kernel filter let pass
    u32 captures;          // streams being captured now
    void *filter;          // compiled kernel_regex, NULL = every kernel
    u64 launches;
    u64 graphs;                // made so far
    const void *told_library;  // loaded here: it cannot be simulated, and that was said
    Progress progress;         // of the running launch
    u64 progress_launch;       // which one that is
    bool progress_shown;       // a progress line stands on the terminal
    bool newer_code_told;      // that the GPU model could not run the code really
    const char *api;           // the function that the program called last; NULL = none yet
    u64 findings_shown;        // of the checker; those past the limit too
} CudaContext;

typedef struct CudaThread {
    int device;
    cudaError_t last_error;
    enum cudaStreamCaptureMode capture_mode;  // cudaThreadExchangeStreamCaptureMode
    struct CudaPushed {
        dim3 grid, block;
        size_t shared;
        cudaStream_t stream;
    } pushed[16];  // __cudaPushCallConfiguration
    u32 pushed_count;
    bool per_thread_default;       // the call under way came through a _ptsz entry point: stream 0 is the thread's own
    CudaStream *streams[64];       // cudaStreamPerThread by device, made at first use
    struct CudaCtx *contexts[64];  // the driver API's stack of contexts; the last one is current
    u32 context_count;
    u32 driver_depth;  // driver functions under way
    u32 entered;       // times that the thread holds the lock
    u32 host_depth;    // functions of the program under way that work called (cuda_call_host)
} CudaThread;

// What a call needs before it may go on.
typedef enum CudaNeed {
    NEED_NOTHING = 0,
    NEED_DEVICE = 1,      // a running simulator
    NEED_HEALTHY = 3,     // and no kernel fault before
    NEED_UNCAPTURED = 7,  // and it is forbidden while a stream is being captured (it would synchronise or allocate)
} CudaNeed;

CudaThread *cuda_thread(void);
// Takes the lock and prepares what `need` asks for. cuda_leave must follow in any case.
cudaError_t cuda_enter(CudaContext **context, CudaNeed need);
// Gives the lock back and notes the error for cudaGetLastError; returns it. cudaErrorNotReady is not noted, nor is
// anything inside a driver function.
cudaError_t cuda_leave(CudaContext *context, cudaError_t error);

// The body of nearly every API function: enter, evaluate `expression` (which sees the context as `c`) unless entering
// failed, leave, return.
#define CUDA_RETURN(c, need, expression)              \
    CudaContext *c;                                   \
    cudaError_t error_ = cuda_enter(&c, need);        \
    c->api = __func__;                                \
    if (error_ == cudaSuccess) error_ = (expression); \
    return cuda_leave(c, error_)

// Exported by the shared object, under its documented name.
#define CUDA_API __attribute__((visibility("default")))

CudaDevice *cuda_device(CudaContext *c);         // the calling thread's current device
const GpuModel *cuda_gpu(const CudaContext *c);  // its model
u64 cuda_now(void);                              // ns, monotonic
// The simulated clock: of the device that is furthest, so that it never goes back.
u64 cuda_simulated_ns(const CudaContext *context);
u64 cuda_time(const CudaContext *c);  // ns, of the clock that events and copies are stamped with
cudaError_t cuda_error_of(Status status);

// The calling thread owns something that is to go when it ends.
void cuda_watch_thread(void);
// The call that follows came through a per-thread default stream entry point (_ptsz, _ptds).
void cuda_per_thread_call(void);
// Makes another device the calling thread's for a while; returns the one it was.
int cuda_switch_device(int device);

// Runs a function of the program with the lock released.
void cuda_call_host(CudaContext *c, cudaHostFn_t fn, void *data);

// One line on stderr (through the log) and a message in the profile.
void cuda_message(CudaContext *c, LogLevel level, const char *format, ...) WL_PRINTF(3, 4);
void cuda_message_diag(CudaContext *c, const Diag *diag);
void cuda_sink_told(CudaContext *c, Status status);  // what the sink returned: says on stderr that writing has failed
void cuda_record_alloc(CudaContext *c, u32 device, u32 kind, u64 address, u64 bytes, bool freed, const char *label);
// `end_ns` 0: now.
void cuda_record_copy(CudaContext *c, u32 kind, u32 stream, u64 bytes, u64 begin_ns, u64 end_ns);

// --- for the shared object ---
void cuda_setup(const CudaHost *host);  // once, from its constructor; reads the configuration
void cuda_note_exit(int status);        // the program's exit code, for the profile; before cuda_shutdown
void cuda_shutdown(void);               // closes the profile; later calls give cudaErrorCudartUnloading
cudaError_t cuda_not_implemented(const char *name, unsigned char *told);

#endif
