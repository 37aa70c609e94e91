// SPDX-License-Identifier: Apache-2.0
// Kernel launches: <<<>>> configurations, the parameter block, the limits of the device, and what a fault leaves
// behind.
#include "cuda/launch.h"

#include <string.h>

#include "cuda/api.h"
#include "cuda/filter.h"
#include "cuda/graph_run.h"
#include "cuda/pending.h"
#include "cuda/progress.h"
#include "cuda/stream.h"
#include "cuda/transfer.h"

// The runtime reference has codes for each kind; driver 580 gives this one for all of them (tests/cuda/h200_calls.txt).
enum { ERROR_CONFIGURATION = cudaErrorInvalidValue };

#define MOST_BUDGET (1ull << 24)  // warp instructions of a step, of a kernel that moves while others are pending

static bool sizes_possible(const CudaContext *c, const CudaLaunch *l) {
    u64 limit = cuda_gpu(c)->max_threads_per_cta;
    if (!l->grid.x || !l->grid.y || !l->grid.z || !l->block.x || !l->block.y || !l->block.z) return false;
    if (l->grid.x > 0x7fffffffu || l->grid.y > 65535 || l->grid.z > 65535) return false;
    if (l->block.x > limit || l->block.y > limit || l->block.z > 64) return false;
    return (u64)l->block.x * l->block.y * l->block.z <= limit;
}

static u32 max_shared(const CudaContext *c, const CudaFunction *f, const SimKernelInfo *info) {
    if (f->max_dynamic_shared >= 0) return (u32)f->max_dynamic_shared;
    u64 most = cuda_gpu(c)->shared_per_cta;
    return info->static_shared_bytes > most ? 0 : (u32)(most - info->static_shared_bytes);
}

static cudaError_t check_cluster(const CudaContext *c, const CudaLaunch *l, const SimKernelInfo *info) {
    u32 want[3] = {l->cluster.x, l->cluster.y, l->cluster.z};
    const u32 grid[3] = {l->grid.x, l->grid.y, l->grid.z};
    if (!want[0]) memcpy(want, info->cluster, sizeof want);
    if (!want[0]) return info->needs_cluster ? cudaErrorInvalidClusterSize : cudaSuccess;
    if (info->cluster[0] && memcmp(want, info->cluster, sizeof want) != 0) return cudaErrorInvalidClusterSize;
    if (cuda_gpu(c)->sm_version < 90) return cudaErrorNotSupported;
    u64 size = (u64)want[0] * want[1] * want[2];
    if (size == 0 || size > (l->function->non_portable_cluster ? SIM_MAX_CLUSTER : 8))
        return cudaErrorInvalidClusterSize;
    for (u32 i = 0; i < 3; i++)
        if (grid[i] % want[i]) return cudaErrorInvalidClusterSize;
    return cudaSuccess;
}

static cudaError_t check_cooperative(const CudaContext *c, const CudaLaunch *l, const SimKernelInfo *info) {
    const GpuModel *gpu = cuda_gpu(c);
    const u32 asked[3] = {l->cluster.x, l->cluster.y, l->cluster.z}, *cluster = asked[0] ? asked : info->cluster;
    u32 size = cluster[0] * cluster[1] * cluster[2], threads = l->block.x * l->block.y * l->block.z;
    u64 resident = size ? (u64)sim_cluster_occupancy(gpu, info, threads, l->shared, size) * size
                        : gpu->sms * sim_occupancy(gpu, info, threads, l->shared);
    bool fits = (u64)l->grid.x * l->grid.y * l->grid.z <= resident;
    return !l->cooperative || fits ? cudaSuccess : cudaErrorCooperativeLaunchTooLarge;
}

static cudaError_t check_sizes(const CudaContext *c, const CudaLaunch *l, const SimKernelInfo *info) {
    if (!sizes_possible(c, l)) return (cudaError_t)ERROR_CONFIGURATION;
    u32 threads = l->block.x * l->block.y * l->block.z;
    if (info->max_threads && threads > info->max_threads) return (cudaError_t)ERROR_CONFIGURATION;
    const u32 *fixed = info->required_threads;
    if (fixed[0] && (l->block.x != fixed[0] || l->block.y != fixed[1] || l->block.z != fixed[2]))
        return (cudaError_t)ERROR_CONFIGURATION;
    if (l->shared > max_shared(c, l->function, info)) return (cudaError_t)ERROR_CONFIGURATION;
    if (!sim_occupancy(cuda_gpu(c), info, threads, l->shared)) return (cudaError_t)ERROR_CONFIGURATION;
    cudaError_t error = check_cluster(c, l, info);
    return error == cudaSuccess ? check_cooperative(c, l, info) : error;
}

enum { EXTRA_END, EXTRA_BUFFER, EXTRA_SIZE };  // CU_LAUNCH_PARAM_...: keys of `extra`, each but the end with a value

// The arguments packed into one buffer.
static cudaError_t copy_packed(CudaLaunch *l, void **extra) {
    const void *buffer = NULL;
    const size_t *size = NULL;
    for (; (uintptr_t)*extra != EXTRA_END; extra += 2) {
        if ((uintptr_t)extra[0] == EXTRA_BUFFER)
            buffer = extra[1];
        else if ((uintptr_t)extra[0] == EXTRA_SIZE)
            size = extra[1];
        else
            return cudaErrorInvalidValue;
    }
    if (size && *size > l->param_bytes) return cudaErrorLaunchOutOfResources;
    if (!l->param_bytes) return cudaSuccess;
    if (!buffer || !size) return cudaErrorInvalidValue;
    memcpy(l->params, buffer, *size);  // the rest is zero
    return cudaSuccess;
}

static cudaError_t copy_each(CudaLaunch *l, const SimKernelInfo *info, void **args) {
    if (info->param_count && !args) return cudaErrorInvalidValue;
    for (u32 i = 0; i < info->param_count; i++) {
        if (!args[i]) return cudaErrorInvalidValue;
        memcpy(l->params + info->params[i].offset, args[i], info->params[i].size);
    }
    return cudaSuccess;
}

cudaError_t launch_prepare(CudaContext *c, CudaLaunch *l, void **args, void **extra) {
    CudaKernel *kernel;
    const int *cluster = l->function->cluster_required;
    if (!l->cluster.x && cluster[0])
        l->cluster = (dim3){(unsigned)cluster[0], (unsigned)cluster[1], (unsigned)cluster[2]};
    cudaError_t error = function_prepare(c, l->function, &kernel);
    if (error == cudaSuccess) error = check_sizes(c, l, &kernel->info);
    if (error != cudaSuccess) return error;
    const SimKernelInfo *info = &kernel->info;
    if (args && extra) return cudaErrorInvalidValue;
    l->device = cuda_thread()->device;
    l->param_bytes = info->param_bytes;
    l->params = mem_zero(1, info->param_bytes + 1);
    if (!l->params) return cudaErrorMemoryAllocation;
    return extra ? copy_packed(l, extra) : copy_each(l, info, args);
}

// A fault stays with the device: the launch itself succeeded, as it would on a GPU, where it runs later.
static cudaError_t after_launch(CudaContext *c, Status status, const Diag *diag) {
    cuda_message_diag(c, diag);
    switch (status) {
    case STATUS_OK: return cudaSuccess;
    case STATUS_FAULT:
    case STATUS_DEADLOCK: {
        u32 code = sim_fault_code(c->sim);
        cuda_device(c)->sticky = code ? (cudaError_t)code : cudaErrorLaunchFailure;
        return cudaSuccess;
    }
    case STATUS_INVALID: return (cudaError_t)ERROR_CONFIGURATION;
    default: return cuda_error_of(status);
    }
}

static cudaError_t begin(CudaContext *c, CudaTask *task, const CudaLaunch *l) {
    CudaKernel *kernel;
    cudaError_t error = function_prepare(c, l->function, &kernel);
    if (error != cudaSuccess) return error;
    SimLaunch launch = {
        .kernel = kernel->kernel,
        .grid = {l->grid.x, l->grid.y, l->grid.z},
        .block = {l->block.x, l->block.y, l->block.z},
        .cluster = {l->cluster.x, l->cluster.y, l->cluster.z},
        .dynamic_shared_bytes = l->shared,
        .carve_out = function_carve_out(c, l->function),
        .params = l->params,
        .stream = (u32)task->stream->id,
        .cooperative = l->cooperative,
        .graph_exec = (u64)(uintptr_t)graph_run_of(task->launch),
        .pass = c->sink ? filter_launch(c, l->function->name) : PASS_NONE,
    };
    launch.record = c->sink && launch.pass == PASS_NONE;
    Diag diag = {0};
    c->launches++;
    error = after_launch(c, sim_launch_begin(c->sim, &launch, &task->run, &diag), &diag);
    // It may take minutes: who is interrupted meanwhile finds in the profile what was under way.
    if (c->launches == 1 || c->config.timing) cuda_sink_told(c, sink_flush(c->sink));
    diag_free(&diag);
    task->state = TASK_BEGUN;
    return error;
}

static cudaError_t end(CudaContext *c, CudaTask *task, Status status, Diag *diag) {
    SimRun *run = task->run;
    task->run = NULL;
    status = sim_launch_end(c->sim, run, status, NULL, diag);
    progress_clear(c);
    cudaError_t error = status == STATUS_CANCELLED ? cudaSuccess : after_launch(c, status, diag);
    cuda_sink_told(c, sink_flush(c->sink));
    return error;
}

void launch_give_up(CudaContext *c, CudaTask *task) {
    Diag diag = {0};
    (void)end(c, task, STATUS_CANCELLED, &diag);
    diag_free(&diag);
}

cudaError_t launch_deadlock(CudaContext *c, CudaTask *task) {
    Diag diag = {0};
    int before = cuda_switch_device(task->work->launch.device);
    cudaError_t error = end(c, task, sim_launch_deadlock(c->sim, task->run, &diag), &diag);
    (void)cuda_switch_device(before);
    diag_free(&diag);
    return error;
}

void launch_explain(CudaContext *c, const CudaTask *task) {
    char text[4096] = "";
    Diag diag = {0};
    if (sim_launch_deadlock(c->sim, task->run, &diag) == STATUS_DEADLOCK && diag.entries.len)
        diag_format(&diag.entries.data[0], text, sizeof text);
    cuda_message(c, LOG_WARNING, "waiting for long; another thread of the program may help: %s", text);
    diag_free(&diag);
}

static Status go_on(CudaContext *c, CudaTask *task, const WorkEffort *effort, u64 budget, SimStep *made, Diag *diag) {
    if (c->config.checks) budget = UINT64_MAX;  // the checker follows one launch at a time
    for (u32 more = effort->steps;;) {
        Status status = sim_launch_step(c->sim, task->run, budget, made, diag);
        if (status != STATUS_OK || made->state != STEP_MORE || !effort->whole || !budget || made->other) return status;
        if (!made->polls)
            budget = UINT64_MAX;
        else if (made->idle || more-- == 0)
            return status;
    }
}

// A step takes the larger of what is given to all and what the kernel earned: twice as much each time, while it does
// not merely poll.
static cudaError_t step(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    u64 budget = effort->budget > task->budget ? effort->budget : task->budget,
        device = 1ull << task->work->launch.device;
    SimStep made = {.any = c->config.timing, .until_ns = transfer_next(c, task->work->launch.device)};
    Diag diag = {0};
    if (!budget) return effort->more = true, cudaSuccess;
    if (effort->ended & device) budget = 0;
    CudaTask *outer = c->running;
    c->running = task;
    Status status = go_on(c, task, effort, budget, &made, &diag);
    c->running = outer;
    cudaError_t error = cudaSuccess;
    bool over = status != STATUS_OK || made.state == STEP_DONE;
    if (c->config.timing && (over || made.other)) effort->ended |= device;
    if (over) {
        error = end(c, task, status, &diag);
    } else {
        task->waits = made.state == STEP_WAITS;
        task->budget = made.idle || !made.moved ? 0 : budget < MOST_BUDGET ? budget * 2 : budget;
        effort->moved |= made.moved;
        effort->more |= !task->waits;
    }
    diag_free(&diag);
    return error;
}

static cudaError_t go_fired(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    while ((task->graph || task->fired.len) && cuda_device(c)->sticky == cudaSuccess) {
        if (!task->graph) {
            CudaExec *exec = task->fired.data[0];
            cudaError_t error = graph_run_exec(c, task->stream, exec, &task->graph);
            for (u32 i = 1; i < task->fired.len; i++) task->fired.data[i - 1] = task->fired.data[i];
            task->fired.len--;
            graph_run_unqueue(c, exec);
            if (error != cudaSuccess) return error;
        }
        bool done;
        cudaError_t error = graph_run_go(c, task->graph, effort, &done);
        if (!done) return cudaSuccess;
        graph_run_free(c, task->graph);
        task->graph = NULL;
        if (error != cudaSuccess) return error;
    }
    task->state = TASK_DONE;
    return cudaSuccess;
}

cudaError_t launch_go(CudaContext *c, CudaTask *task, WorkEffort *effort) {
    const CudaLaunch *l = &task->work->launch;
    int before = cuda_switch_device(l->device);  // a graph may be launched from another one
    cudaError_t error = task->state == TASK_NEW ? begin(c, task, l) : cudaSuccess;
    if (error == cudaSuccess && task->run) error = step(c, task, effort);
    if (error == cudaSuccess && !task->run) error = go_fired(c, task, effort);
    (void)cuda_switch_device(before);
    return error;
}

cudaError_t launch_function(CudaContext *c, const void *func, CudaLaunch l, void **args, void **extra,
                            cudaStream_t handle) {
    CudaWork work = {.type = cudaGraphNodeTypeKernel};
    CudaStream *stream = stream_find(c, handle);
    if (!func) return cudaErrorInvalidDeviceFunction;
    if (!stream || stream->device != cuda_thread()->device) return cudaErrorInvalidResourceHandle;
    cudaError_t error = function_find(c, func, &l.function);
    if (error == cudaSuccess) error = launch_prepare(c, &l, args, extra);
    work.launch = l;
    CudaKernel *kernel;
    if (error == cudaSuccess) error = function_prepare(c, l.function, &kernel);
    // Only nodes of device graphs may launch graphs.
    if (error == cudaSuccess && kernel->info.launches_graphs && !stream->capture) error = cudaErrorNotSupported;
    if (error == cudaSuccess) {
        bool waits = c->config.blocking && !stream->capture;
        error = work_submit(c, handle, &work);
        return error == cudaSuccess && waits ? pending_wait(c, (PendingSet){.stream = stream, .device = -1}) : error;
    }
    if (stream->capture) stream->capture->invalid = true;
    work_release(c, &work);
    return error;
}

static cudaError_t launch(CudaContext *c, const void *func, CudaLaunch l, void **args, cudaStream_t stream) {
    return launch_function(c, func, l, args, NULL, stream);
}

static CudaLaunch shape(dim3 grid, dim3 block, size_t shared, bool cooperative) {
    return (CudaLaunch){.grid = grid, .block = block, .shared = (u32)shared, .cooperative = cooperative};
}

CUDA_API cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                      cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, launch(c, func, shape(gridDim, blockDim, sharedMem, false), args, stream));
}

CUDA_API cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                                 size_t sharedMem, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, launch(c, func, shape(gridDim, blockDim, sharedMem, true), args, stream));
}

static cudaError_t check_event(CudaContext *c, cudaEvent_t handle) {
    const CudaEvent *event = object_get(&c->objects, handle, OBJECT_EVENT);
    if (!event) return cudaErrorInvalidResourceHandle;
    return event->flags & cudaEventDisableTiming ? cudaSuccess : cudaErrorNotSupported;
}

static cudaError_t check_attribute(CudaContext *c, const cudaLaunchAttribute *a) {
    if ((unsigned)a->id > cudaLaunchAttributeNvlinkUtilCentricScheduling) return cudaErrorInvalidValue;
    switch (a->id) {
    case cudaLaunchAttributeLaunchCompletionEvent: return check_event(c, a->val.launchCompletionEvent.event);
    case cudaLaunchAttributeProgrammaticEvent: return check_event(c, a->val.programmaticEvent.event);
    case cudaLaunchAttributeMemSyncDomain: return (unsigned)a->val.priority > 1 ? cudaErrorInvalidValue : cudaSuccess;
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
        return a->val.sharedMemCarveout > 100 ? cudaErrorInvalidValue : cudaSuccess;
    default: return cudaSuccess;
    }
}

// An event that a launch brings along: recorded when the kernel has begun, at the latest when it is over.
static cudaError_t record_launch(CudaContext *c, cudaEvent_t event, cudaStream_t handle) {
    const CudaStream *stream = stream_find(c, handle);
    CudaWork work = {.type = cudaGraphNodeTypeEventRecord, .event = event};
    bool waits = stream && !stream->capture && stream->queued && !pending_has_begun(c, stream);
    return waits ? work_submit(c, handle, &work) : event_record_now(c, event, NULL);
}

// Attributes that change which work is done are obeyed. The rest (priorities, cache windows, programmatic dependent
// launch) only let a GPU overlap or place work, which has no effect on a simulator that runs in order.
cudaError_t launch_configured(CudaContext *c, const cudaLaunchConfig_t *config, const void *func, void **args,
                              void **extra) {
    if (!config || (config->numAttrs && !config->attrs)) return cudaErrorInvalidValue;
    CudaLaunch l = shape(config->gridDim, config->blockDim, config->dynamicSmemBytes, false);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeCooperative) l.cooperative = a->val.cooperative != 0;
        if (a->id == cudaLaunchAttributeProgrammaticStreamSerialization && stream_find(c, config->stream))
            stream_find(c, config->stream)->programmatic = a->val.programmaticStreamSerializationAllowed != 0;
        cudaError_t error = check_attribute(c, a);
        if (error != cudaSuccess) return error;
        if (a->id != cudaLaunchAttributeClusterDimension) continue;
        l.cluster = a->val.clusterDim;
        bool empty = !l.cluster.x || !l.cluster.y || !l.cluster.z;
        if (empty && cuda_thread()->driver_depth) return cudaErrorInvalidClusterSize;  // the runtime API takes it
    }
    cudaError_t error = launch_function(c, func, l, args, extra, config->stream);
    for (unsigned i = 0; i < config->numAttrs && error == cudaSuccess; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeLaunchCompletionEvent)
            error = record_launch(c, a->val.launchCompletionEvent.event, config->stream);
        if (a->id == cudaLaunchAttributeProgrammaticEvent)
            error = record_launch(c, a->val.programmaticEvent.event, config->stream);
    }
    return error;
}

CUDA_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args) {
    CUDA_RETURN(c, NEED_HEALTHY, launch_configured(c, config, func, args, NULL));
}

// --- what nvcc makes of kernel<<<grid, block, shared, stream>>>(...) ---

CUDA_API unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, cudaStream_t stream) {
    CudaThread *t = cuda_thread();
    if (t->pushed_count == WL_COUNT(t->pushed)) return 1;
    t->pushed[t->pushed_count++] = (struct CudaPushed){gridDim, blockDim, sharedMem, stream};
    return 0;
}

CUDA_API cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream) {
    CudaThread *t = cuda_thread();
    if (t->pushed_count == 0) return cudaErrorMissingConfiguration;
    const struct CudaPushed *pushed = &t->pushed[--t->pushed_count];
    *gridDim = pushed->grid;
    *blockDim = pushed->block;
    *sharedMem = pushed->shared;
    memcpy(stream, &pushed->stream, sizeof pushed->stream);
    return cudaSuccess;
}

static cudaError_t kernel_handle(CudaContext *c, cudaKernel_t *to, const void *host) {
    CudaFunction *f;
    if (!to) return cudaErrorInvalidValue;
    cudaError_t error = function_find(c, host, &f);
    if (error == cudaSuccess) *to = (cudaKernel_t)f;
    return error;
}

CUDA_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *entry) {
    CUDA_RETURN(c, NEED_NOTHING, kernel_handle(c, kernel, entry));
}

CUDA_API cudaError_t cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr) {
    CUDA_RETURN(c, NEED_HEALTHY, kernel_handle(c, kernelPtr, entryFuncAddr));
}

CUDA_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr) {
    cudaKernel_t unused;  // a GPU takes NULL
    CUDA_RETURN(c, NEED_HEALTHY,
                kernel_handle(c, functionPtr ? (cudaKernel_t *)(void *)functionPtr : &unused, symbolPtr));
}

CUDA_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                        cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, launch(c, kernel, shape(gridDim, blockDim, sharedMem, false), args, stream));
}
