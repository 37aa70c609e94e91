// SPDX-License-Identifier: Apache-2.0
// Start, end and locking of the simulated runtime, and its way to the log and the profile.
#include "cuda/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/shell.h"
#include "binary/demangle.h"
#include "cuda/checker.h"
#include "cuda/driver/device_context.h"
#include "cuda/filter.h"
#include "cuda/memory.h"
#include "cuda/pending.h"
#include "cuda/progress.h"
#include "cuda/runtime_hooks.h"
#include "cuda/stream.h"
#include "record/edit.h"

#define DEVICE_PAGE (2ull << 20)  // in which drivers map device memory, from Pascal on

static CudaContext context;  // the one mutable context of this shared object
static _Thread_local CudaThread thread;

CudaThread *cuda_thread(void) { return &thread; }

u64 cuda_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000ull + (u64)t.tv_nsec;
}

u64 cuda_time(const CudaContext *c) { return c->clock ? c->clock(c->clock_context) : cuda_now(); }

cudaError_t cuda_error_of(Status status) {
    switch (status) {
    case STATUS_OK: return cudaSuccess;
    case STATUS_NO_MEMORY: return cudaErrorMemoryAllocation;
    case STATUS_UNSUPPORTED: return cudaErrorNotSupported;
    case STATUS_NOT_FOUND: return cudaErrorSymbolNotFound;
    case STATUS_FAULT:
    case STATUS_DEADLOCK: return cudaErrorLaunchFailure;
    default: return cudaErrorInvalidValue;
    }
}

// --- messages ---

void cuda_sink_told(CudaContext *c, Status status) {
    if (status == STATUS_OK) return;
    log_printf(&c->log, LOG_ERROR, "the profile cannot be written any more (%s); the program goes on without it",
               status_text(status));
}

void cuda_message(CudaContext *c, LogLevel level, const char *format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    progress_clear(c);
    log_printf(&c->log, level, "%s", text);
    RecordMessage record = {.severity = level, .time_ns = cuda_now()};
    cuda_sink_told(c, sink_write(c->sink, RECORD_MESSAGE, &record, text, strlen(text) + 1));
}

void cuda_message_diag(CudaContext *c, const Diag *diag) {
    static const LogLevel levels[] = {LOG_INFO, LOG_WARNING, LOG_ERROR};
    char text[4096];
    for (u32 i = 0; i < diag->entries.len; i++) {
        diag_format(&diag->entries.data[i], text, sizeof text);
        char *readable = demangle_text(text);
        cuda_message(c, levels[diag->entries.data[i].severity], "%s", readable ? readable : text);
        mem_free(readable);
    }
}

static void record(CudaContext *c, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    cuda_sink_told(c, sink_write(c->sink, kind, fixed, tail, size));
}

void cuda_record_alloc(CudaContext *c, u32 device, u32 kind, u64 address, u64 bytes, bool freed, const char *label) {
    RecordAlloc r = {
        .device = device, .kind = kind, .address = address, .bytes = bytes, .time_ns = cuda_now(), .freed = freed};
    record(c, RECORD_ALLOC, &r, label, strlen(label) + 1);
}

u64 cuda_simulated_ns(const CudaContext *c) {
    u64 latest = 0;
    for (u32 d = 0; d < c->config.devices; d++) {
        u64 now = sim_clock_ns(c->sim, d);
        if (now > latest) latest = now;
    }
    return latest;
}

static u64 simulated_ns(void *of) { return cuda_simulated_ns(of); }

void cuda_record_copy(CudaContext *c, u32 kind, u32 stream, u64 bytes, u64 begin_ns, u64 end_ns) {
    RecordCopy r = {.source = CUDA_RECORD_SOURCE,
                    .device = (u32)thread.device,
                    .stream = stream,
                    .kind = kind,
                    .bytes = bytes,
                    .begin_ns = begin_ns,
                    .end_ns = end_ns ? end_ns : cuda_time(c)};
    record(c, RECORD_COPY, &r, NULL, 0);
}

static void write_stderr(void *unused, LogLevel level, const char *text) {
    (void)unused;
    log_to_stderr(NULL, level, text);
}

// --- starting ---

static Status open_profile(CudaContext *c, Diag *diag) {
    char path[4096], sibling[4096], problem[512];
    Status status = config_expand_path(c->config.output, path, sizeof path, problem, sizeof problem);
    if (status != STATUS_OK) {
        diag_text(diag, DIAG_ERROR, NULL, 0, 0, "%s", *problem ? problem : "the profile's name is too long");
        return status;
    }
    struct stat info;
    bool older = stat(path, &info) == 0 &&
                 (u64)info.st_mtim.tv_sec * 1000000000ull + (u64)info.st_mtim.tv_nsec < c->config.run_ns;
    if (older && !c->config.overwrite) {
        diag_text(diag, DIAG_ERROR, path, 0, 0, "the file exists already; nothing is recorded");
        return STATUS_EXISTS;
    }
    Diag first = {0};
    status = c->host.open_profile(path, older, &c->sink, &c->profile, &first);
    if (status != STATUS_EXISTS) {
        for (u32 i = 0; i < first.entries.len; i++)
            diag_text(diag, first.entries.data[i].severity, path, 0, 0, "%s", first.entries.data[i].text);
    }
    diag_free(&first);
    if (status != STATUS_EXISTS) return status;
    TRY(config_sibling_path(path, (u64)getpid(), sibling, sizeof sibling));  // another process of this run has it
    return c->host.open_profile(sibling, false, &c->sink, &c->profile, diag);
}

static void record_meta(CudaContext *c, const char *key, const char *value) {
    char tail[4096];
    size_t length = strlen(key) + 1;
    memcpy(tail, key, length);
    int rest = snprintf(tail + length, sizeof tail - length, "%s", value);
    length += (size_t)rest < sizeof tail - length ? (size_t)rest + 1 : sizeof tail - length;
    record(c, RECORD_META, &(RecordMeta){0}, tail, length);
}

// "NVIDIA H200"; with several devices "2 x NVIDIA H200, Tesla T4".
static void name_devices(const CudaContext *c, char *text, size_t size) {
    size_t length = 0;
    for (u32 d = 0, same; d < c->config.devices && length < size; d += same) {
        for (same = 1; d + same < c->config.devices && !strcmp(c->gpus[d].id, c->gpus[d + same].id);) same++;
        char count[16] = "";
        if (same > 1) snprintf(count, sizeof count, "%u x ", same);
        length += (size_t)snprintf(text + length, size - length, "%s%s%s", d ? ", " : "", count, c->gpus[d].name);
    }
}

static void record_start(CudaContext *c) {
    RecordSource source = {.source = CUDA_RECORD_SOURCE, .provenance = PROVENANCE_SIMULATED};
    char tail[1200], names[1024], command[2048], pid[32];
    name_devices(c, names, sizeof names);
    int length = snprintf(tail, sizeof tail, "warplens%c%s%c%s", 0, names, 0, c->gpus[0].id);
    record(c, RECORD_SOURCE, &source, tail, (size_t)length + 1);
    shell_command(command, sizeof command);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    record_meta(c, "command", command);
    record_meta(c, "device", names);
    record_meta(c, "pid", pid);
}

static void print_output(void *unused, const char *text, size_t size) {
    (void)unused;
    progress_clear(&context);
    fwrite(text, 1, size, stdout);  // in order with what the program prints itself
}

static Status read_edits(CudaContext *c, Diag *diag) {
    if (!c->config.edits[0]) return STATUS_OK;
    TRY(file_read(c->config.edits, &c->edits, diag));
    return edit_check((Str){(const char *)c->edits.data, c->edits.size}, c->config.edits, diag);
}

static Status start_simulator(CudaContext *c, Diag *diag) {
    TRY(read_edits(c, diag));
    c->devices = mem_zero(c->config.devices, sizeof *c->devices);
    c->gpus = mem_zero(c->config.devices, sizeof *c->gpus);
    if (!c->devices || !c->gpus) return STATUS_NO_MEMORY;
    for (u32 d = 0; d < c->config.devices; d++) {
        char model[1024];
        config_gpu_of(&c->config, d, model, sizeof model);
        TRY(gpu_load(c->config.gpu_dir, model, &c->gpus[d], diag));
        if (c->config.timing) TRY(gpu_need_timing(&c->gpus[d], model, diag));
    }
    SimConfig config = {.gpu = c->gpus,
                        .devices = c->config.devices,
                        .threads = c->config.threads,
                        .sink = c->sink,
                        .source = CUDA_RECORD_SOURCE,
                        .log = c->log,
                        .print = print_output,
                        .progress = progress_show,
                        .progress_context = c,
                        .runtime = &runtime_hooks,
                        .runtime_context = c,
                        .timing = c->config.timing,
                        .interval = c->config.interval,
                        .pc_periods = c->config.pc_periods,
                        .pc_offset = c->config.pc_offset,
                        .flush_caches = c->config.flush_caches,
                        .sample = c->config.sample,
                        .passes = c->sink && filter_passes(c),
                        .edits = {(const char *)c->edits.data, c->edits.size},
                        .page = c->config.checks ? 0 : DEVICE_PAGE};
    checker_setup(c, &config);
    TRY(sim_create(&config, &c->sim));
    if (c->config.timing) c->clock = simulated_ns, c->clock_context = c;
    for (u32 i = 0; i < c->config.devices; i++) device_defaults(&c->devices[i]);
    // The checker follows one launch at a time. Timed work waits, so that kernels of several streams run side by side.
    c->lazy = (c->config.lazy || c->config.timing) && !c->config.checks;
    return stream_setup(c);
}

static void start(CudaContext *c) {
    Diag diag = {0};
    if (c->problem[0]) cuda_message(c, LOG_WARNING, "%s", c->problem);
    // The profile comes first, so that what the simulator says is in it. Without one the program still runs.
    if (c->config.output[0] && c->host.open_profile && open_profile(c, &diag) != STATUS_OK) {
        c->sink = NULL;
        c->profile = NULL;
    }
    Status status = start_simulator(c, &diag);
    cuda_message_diag(c, &diag);
    diag_free(&diag);
    if (status != STATUS_OK)
        cuda_message(c, LOG_ERROR, "the simulator cannot start: %s", status_text(status));
    else if (c->sink)
        record_start(c);
    c->state = status == STATUS_OK ? CUDA_RUNNING : CUDA_FAILED;
    if (status == STATUS_OK) filter_setup(c);
}

static cudaError_t state_error(CudaContext *c) {
    switch (c->state) {
    case CUDA_RUNNING: return cudaSuccess;
    case CUDA_CLOSED: return cudaErrorCudartUnloading;
    default: return cudaErrorInitializationError;
    }
}

cudaError_t cuda_enter(CudaContext **out, CudaNeed need) {
    CudaContext *c = *out = &context;
    pthread_mutex_lock(&c->lock);
    thread.entered++;
    c->calls++;
    if (need == NEED_NOTHING) return cudaSuccess;
    if (c->state == CUDA_IDLE) start(c);
    cudaError_t error = state_error(c);
    pending_poke(c);
    if (error == cudaSuccess && need >= NEED_HEALTHY && !thread.driver_depth) error = context_bind(c);
    if (error == cudaSuccess && need >= NEED_HEALTHY) error = cuda_device(c)->sticky;
    if (error == cudaSuccess && need == NEED_UNCAPTURED) error = stream_check_uncaptured(c);
    return error;
}

cudaError_t cuda_leave(CudaContext *c, cudaError_t error) {
    if (thread.driver_depth == 0) {
        if (error != cudaSuccess && error != cudaErrorNotReady) thread.last_error = error;
        thread.per_thread_default = false;
    }
    thread.entered--;
    pthread_mutex_unlock(&c->lock);
    return error;
}

CudaDevice *cuda_device(CudaContext *c) { return &c->devices[thread.device]; }
const GpuModel *cuda_gpu(const CudaContext *c) { return &c->gpus[thread.device]; }

static pthread_key_t thread_key;

static void thread_ends(void *ended) {
    pthread_mutex_lock(&context.lock);
    stream_thread_ends(&context, ended);
    pthread_mutex_unlock(&context.lock);
}

void cuda_watch_thread(void) { (void)pthread_setspecific(thread_key, &thread); }

void cuda_per_thread_call(void) { thread.per_thread_default = true; }

int cuda_switch_device(int device) {
    int before = thread.device;
    thread.device = device;
    return before;
}

void cuda_call_host(CudaContext *c, cudaHostFn_t fn, void *data) {
    bool per_thread = thread.per_thread_default;
    u32 depth = thread.driver_depth;
    u32 entered = thread.entered;
    thread.per_thread_default = false;
    thread.driver_depth = thread.entered = 0;
    thread.host_depth++;
    for (u32 i = 0; i < entered; i++) pthread_mutex_unlock(&c->lock);
    fn(data);
    for (u32 i = 0; i < entered; i++) pthread_mutex_lock(&c->lock);
    thread.host_depth--;
    thread.per_thread_default = per_thread;
    thread.driver_depth = depth;
    thread.entered = entered;
}

cudaError_t cuda_not_implemented(const char *name, unsigned char *told) {
    CudaContext *c;
    (void)cuda_enter(&c, NEED_NOTHING);
    if (!*told) cuda_message(c, LOG_ERROR, "%s is not implemented; it returns cudaErrorNotSupported", name);
    *told = 1;
    return cuda_leave(c, cudaErrorNotSupported);
}

// --- life of the shared object ---

static void init_lock(CudaContext *c) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&c->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void before_fork(void) { pthread_mutex_lock(&context.lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&context.lock); }

// A child of a process whose GPU is in use cannot use it, as with CUDA. Its parent's profile is not touched.
static void after_fork_child(void) {
    CudaContext *c = &context;
    if (c->state == CUDA_RUNNING) {
        c->state = CUDA_FORKED;
        if (c->profile) c->host.abandon_profile(c->profile);
        c->profile = NULL;
        c->sink = NULL;
    }
    init_lock(c);  // the child's thread does not own the lock it inherited
}

void cuda_setup(const CudaHost *host) {
    CudaContext *c = &context;
    init_lock(c);
    (void)pthread_key_create(&thread_key, thread_ends);
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    if (host) c->host = *host;
    config_read(&c->config, c->problem, sizeof c->problem);
    c->log = (Log){.write = write_stderr, .level = c->config.quiet ? LOG_ERROR : LOG_WARNING};
}

// The simulator itself is left to the system: other threads of the program may still be inside a call.
void cuda_note_exit(int status) {
    CudaContext *c = &context;
    char text[16];
    snprintf(text, sizeof text, "%d", status);
    pthread_mutex_lock(&c->lock);
    if (c->sink) record_meta(c, "exit_code", text);
    pthread_mutex_unlock(&c->lock);
}

void cuda_shutdown(void) {
    CudaContext *c = &context;
    pthread_mutex_lock(&c->lock);
    thread.entered++;
    progress_clear(c);
    if (c->state == CUDA_RUNNING) pending_finish(c);
    if (c->state == CUDA_RUNNING) checker_finish(c);
    if (c->profile) c->host.close_profile(c->profile);
    c->profile = NULL;
    c->sink = NULL;
    if (c->state == CUDA_RUNNING) c->state = CUDA_CLOSED;
    thread.entered--;
    pthread_mutex_unlock(&c->lock);
}
