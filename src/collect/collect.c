// SPDX-License-Identifier: Apache-2.0
// The life of the collector: beginning, the writer's thread, end.
#include "collect/collect.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "collect/collect_inside.h"
#include "collect/pm_sampling.h"

enum { TICK_NS = 50000000, SAMPLING_END_SECONDS = 2 };

Collector collector;

u64 collect_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

// --- the writer's ways to the sink and to people ---

void collect_write(Collector *c, RecordKind kind, const void *fixed, const void *tail, size_t size) {
    Status status = sink_write(c->sink, kind, fixed, tail, size);
    if (status == STATUS_OK || status == STATUS_INVALID || c->told_sink) return;
    c->told_sink = true;
    log_printf(&c->host.log, LOG_ERROR, "the profile cannot be written any more (%s); the program goes on without it",
               status_text(status));
}

void collect_dropped(Collector *c, const char *what, u64 count) {
    RecordDropped r = {.count = count, .time_ns = collect_now()};
    if (count) collect_write(c, RECORD_DROPPED, &r, what, strlen(what) + 1);
}

u32 collect_source(Collector *c, u32 device, bool sampled) {
    u32 first = device % 64 * 2 + 1;
    if (c->devices >> device % 64 & 1) return first + sampled;
    c->devices |= 1ull << device % 64;
    char name[256] = "", tail[512];
    if (!c->device_name || c->device_name(name, sizeof name, (int)device) != 0) strcpy(name, "GPU");
    for (u32 i = 0; i < 2; i++) {
        RecordSource r = {.source = first + i, .provenance = i ? PROVENANCE_SAMPLED : PROVENANCE_COUNTED};
        int length = snprintf(tail, sizeof tail, "CUPTI%c%s%cdevice %u", 0, name, 0, device);
        collect_write(c, RECORD_SOURCE, &r, tail, (size_t)length + 1);
    }
    if (device == 0 || c->devices == 1ull << device % 64) {
        int length = snprintf(tail, sizeof tail, "device%c%s", 0, name);
        collect_write(c, RECORD_META, &(RecordMeta){0}, tail, (size_t)length + 1);
    }
    return first + sampled;
}

// --- the writer ---

static void write_messages(Collector *c) {
    for (; c->written_messages < MESSAGES; c->written_messages++) {
        const Message *message = &c->messages[c->written_messages];
        if (!atomic_load(&message->ready)) return;
        RecordMessage r = {.severity = message->level, .time_ns = collect_now()};
        collect_write(c, RECORD_MESSAGE, &r, message->text, strlen(message->text) + 1);
    }
}

static void write_losses(Collector *c) {
    collect_dropped(c, "call stacks of launches", atomic_exchange(&c->stacks.missed, 0));
    collect_dropped(c, "activity buffers refused (collector behind)", atomic_exchange(&c->buffers.refused, 0));
    size_t dropped = 0;
    if (c->cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) != CUPTI_OK) return;
    collect_dropped(c, "activity records", dropped);
    c->notes.dropped += dropped;
}

// Those completed by now: threads that launch without a pause, also while the program ends, fill others meanwhile.
static void take_activities(Collector *c) {
    u32 buffer;
    u64 until = atomic_load(&c->buffers.completions);
    graphs_take(c);
    arguments_take(c);
    notes_take(c);
    while ((buffer = buffers_take_full(&c->buffers, until)) != BUFFER_NONE) {
        activity_read(c, c->buffers.memory + (size_t)buffer * BUFFER_BYTES, c->buffers.valid[buffer]);
        buffers_give_back(&c->buffers, buffer);
    }
}

static void write_exit_code(Collector *c) {
    char tail[32];
    int length = snprintf(tail, sizeof tail, "exit_code%c%d", 0, c->exit_code);
    collect_write(c, RECORD_META, &(RecordMeta){0}, tail, (size_t)length + 1);
}

static void *close_all(void *context) {
    Collector *c = context;
    sampling_close_all(c);
    sem_post(&c->closed);
    return NULL;
}

static bool wait_for(sem_t *semaphore, u32 seconds) {
    struct timespec at;
    int waited;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += seconds;
    while ((waited = sem_clockwait(semaphore, CLOCK_MONOTONIC, &at)) != 0 && errno == EINTR) continue;
    return waited == 0;
}

// Ending the sampling of a GPU takes 0.04 s in the driver's kernel module, while what came last is written. False: it
// hangs in CUPTI, which is not to be called any more.
static bool end_sampling(Collector *c) {
    pthread_t thread;
    sampling_fetch(c);
    bool beside = pthread_create(&thread, NULL, close_all, c) == 0;
    if (!beside) close_all(c);
    take_activities(c);
    waits_take(c);
    // The second one finds no samples that the first did not, and puts in those that are added up, too.
    if (sink_flush(c->sink) != STATUS_OK || sink_flush(c->sink) != STATUS_OK) c->told_sink = true;
    if (!wait_for(&c->closed, SAMPLING_END_SECONDS)) {
        if (beside) pthread_detach(thread);
        collect_say(c, LOG_WARNING, "CUPTI did not end sampling within %u s; its last samples are missing",
                    SAMPLING_END_SECONDS);
        return false;
    }
    if (beside) pthread_join(thread, NULL);
    sampling_end_all(c);
    return true;
}

// False: CUPTI hangs.
static bool end_cupti(Collector *c) {
    // Twice: ending the sampling of a GPU that other processes use too may cost launches their times.
    c->cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
    if (!end_sampling(c)) {
        atomic_store(&c->state, COLLECT_OFF);
        return false;
    }
    c->cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
    take_activities(c);
    pm_sampling_end(c);
    atomic_store(&c->state, COLLECT_OFF);
    c->cupti.cuptiUnsubscribe(c->subscriber);
    return true;
}

static void finish(Collector *c) {
    atomic_store(&c->state, COLLECT_ENDING);
    buffers_end(&c->buffers);
    bool returns = end_cupti(c);
    names_take_modules(c);
    take_activities(c);
    notes_end(c);
    graphs_end(c);
    waits_take(c);
    attribution_write(c, true);
    if (returns) write_losses(c);
    if (returns) notes_check(c);
    write_messages(c);
    ranges_end(c);
    write_exit_code(c);
    names_free(&c->names);
    objects_free(&c->objects);
    attribution_free(c);
    arguments_free(&c->arguments);
    map_free(&c->written_stacks);
    vec_free(&c->rows);
}

static u64 worked_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

static void fetch_samples(Collector *c, u64 calls, u64 now) {
    bool paused = fetches_paused(&c->sample_fetches, calls, now);
    if (!fetches_due(&c->sample_fetches, &fetches_of_samples, paused, now)) return;
    c->held_ns = 0;
    sampling_fetch(c);
    fetches_done(&c->sample_fetches, collect_now(), c->held_ns);
}

static void commit(Collector *c, u64 before, u32 flushes) {
    fetches_done(&c->fetches, collect_now(), worked_ns() - before);
    write_losses(c);
    write_messages(c);
    // The second one finds no samples that the first did not, and puts in those that are added up, too.
    for (u32 i = 0; i < flushes; i++)
        if (sink_flush(c->sink) != STATUS_OK) c->told_sink = true;
}

static void wait_for_tick(Collector *c) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += TICK_NS;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    while (sem_clockwait(&c->wake, CLOCK_MONOTONIC, &at) != 0 && errno == EINTR) continue;
}

static void *writer(void *context) {
    Collector *c = context;
    sampling_prepare(c);
    while (!atomic_load(&c->end)) {
        wait_for_tick(c);
        sampling_start_wanted(c);
        names_take_modules(c);
        u64 now = collect_now(), calls = atomic_load_explicit(&c->notes.calls, memory_order_relaxed);
        bool paused = fetches_paused(&c->fetches, calls, now);
        bool due = fetches_due(&c->fetches, &fetches_of_records, paused, now);
        if (due) c->cupti.cuptiActivityFlushAll(0);
        take_activities(c);
        waits_take(c);
        pm_sampling_take(c);
        activity_end_launches(c);
        u64 before = worked_ns();
        fetch_samples(c, calls, now);
        if (due) commit(c, before, paused ? 2 : 1);
        sampling_collect_closed(c);
    }
    finish(c);
    sem_post(&c->ended);
    return NULL;
}

// --- beginning ---

void collect_say(Collector *c, LogLevel level, const char *format, ...) {
    char text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_printf(&c->host.log, level, "%s", text);
    u32 at = atomic_fetch_add(&c->said, 1);
    if (at >= MESSAGES) return;
    c->messages[at].level = level;
    strcpy(c->messages[at].text, text);
    atomic_store(&c->messages[at].ready, true);
}

void collect_refused(Collector *c, const char *what, const char *call, CuptiResult result) {
    static const struct {
        CuptiResult result;
        const char *remedy;
    } remedies[] = {
        {CUPTI_OTHER_SUBSCRIBER,
         "another tool (Nsight, a debugger, PyTorch's profiler) already uses CUPTI in this process; "
         "run the program without it"},
        {CUPTI_NO_PRIVILEGES,
         "the driver gives performance counters to the administrator only (ERR_NVGPUCTRPERM); run as root, "
         "or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0"},
        {CUPTI_VIRTUALIZED_NO_PRIVILEGES, "the virtual GPU does not allow profiling; its administrator can enable it"},
        {CUPTI_VIRTUALIZED, "this virtual GPU cannot be profiled; use a whole GPU"},
        {CUPTI_MIG, "a MIG instance cannot be sampled; use a whole GPU"},
        {CUPTI_HARDWARE_BUSY, "another process samples this GPU (of this run, Nsight Compute, or a monitor such as "
                              "DCGM); one at a time can"},
        {CUPTI_NOT_SUPPORTED, "this GPU or driver does not support it"},
        {CUPTI_OUT_OF_MEMORY, "no memory is left on the GPU for it"}};
    const char *text = "unknown error";
    for (size_t i = 0; i < WL_COUNT(remedies); i++)
        if (remedies[i].result == result) {
            collect_say(c, LOG_WARNING, "%s is not possible: %s", what, remedies[i].remedy);
            return;
        }
    c->cupti.cuptiGetResultString(result, &text);
    collect_say(c, LOG_WARNING, "%s is not possible: %s says %s (%d); a driver as new as the CUDA toolkit may help",
                what, call, text, result);
}

static void set_clock(Collector *c) {
    if (c->cupti.cuptiActivityRegisterTimestampCallback &&
        c->cupti.cuptiActivityRegisterTimestampCallback(collect_now) == CUPTI_OK)
        return;
    struct timespec real;  // what CUPTI uses by itself
    clock_gettime(CLOCK_REALTIME, &real);
    c->clock_offset = (i64)collect_now() - (i64)((u64)real.tv_sec * 1000000000u + (u64)real.tv_nsec);
}

static CuptiResult enable_activities(Collector *c) {
    static const u32 kinds[] = {CUPTI_KIND_KERNEL, CUPTI_KIND_MEMCPY, CUPTI_KIND_MEMCPY2, CUPTI_KIND_MEMSET,
                                CUPTI_KIND_MARKER};
    CuptiResult result = c->cupti.cuptiActivityRegisterCallbacks(buffers_request, buffers_complete);
    for (size_t i = 0; result == CUPTI_OK && i < WL_COUNT(kinds); i++) result = c->cupti.cuptiActivityEnable(kinds[i]);
    if (result == CUPTI_OK && c->host.options.allocations) result = c->cupti.cuptiActivityEnable(CUPTI_KIND_MEMORY2);
    return result;
}

static bool start_writer(Collector *c) {
    sem_init(&c->wake, 0, 0);
    sem_init(&c->ended, 0, 0);
    sem_init(&c->closed, 0, 0);
    bool started = thread_start(&c->thread, writer, c) == 0;
    if (started) pthread_setname_np(c->thread, "warplens");
    return started;
}

static Status load(Collector *c) {
    char path[4096], looked[256];
    void *library = cupti_open(path, sizeof path, looked, sizeof looked);
    if (!library) {
        collect_say(c, LOG_ERROR,
                    "nothing can be collected: libcupti.so is not in %s; install the CUDA toolkit or set CUDA_HOME",
                    looked);
        return STATUS_NOT_FOUND;
    }
    const char *missing = cupti_bind(&c->cupti, library);
    if (!missing) return STATUS_OK;
    collect_say(c, LOG_ERROR, "nothing can be collected: %s has no %s; CUDA 12 or newer is needed", path, missing);
    return STATUS_VERSION;
}

static void find_driver(Collector *c) {
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver) return;
    *(void **)&c->device_name = dlsym(driver, "cuDeviceGetName");
    *(void **)&c->device_bus = dlsym(driver, "cuDeviceGetPCIBusId");
    *(void **)&c->device_uuid = dlsym(driver, "cuDeviceGetUuid");
    *(void **)&c->stream_captures = dlsym(driver, "cuStreamIsCapturing");
    *(void **)&c->function_parameter = dlsym(driver, "cuFuncGetParamInfo");
    *(void **)&c->kernel_parameter = dlsym(driver, "cuKernelGetParamInfo");
    *(void **)&c->device_attribute = dlsym(driver, "cuDeviceGetAttribute");
}

static Status begin(Collector *c) {
    TRY(load(c));
    find_driver(c);
    if (!buffers_make(&c->buffers) || !ring_make(&c->waits, WAIT_SLOTS, sizeof(Wait))) return STATUS_NO_MEMORY;
    modules_make(&c->modules);
    if (c->host.options.stacks && !stacks_make(&c->stacks)) return STATUS_NO_MEMORY;
    bool arguments = c->host.options.arguments;
    if (arguments && !ring_make(&c->arguments.ring, ARGUMENT_NOTES, sizeof(ArgumentNote))) return STATUS_NO_MEMORY;
    bool notes = c->host.options.activities && !c->host.options.all_times;
    if (notes && !ring_make(&c->graphs.ring, GRAPH_SLOTS, sizeof(GraphNote))) return STATUS_NO_MEMORY;
    CuptiResult result = callbacks_subscribe(c);
    if (result != CUPTI_OK) return collect_refused(c, "collection", "cuptiSubscribe", result), STATUS_UNSUPPORTED;
    set_clock(c);
    c->sink = c->host.sink(c->host.context);
    if (!c->sink || !start_writer(c)) return c->cupti.cuptiUnsubscribe(c->subscriber), STATUS_IO;
    result = c->host.options.activities ? enable_activities(c) : CUPTI_OK;
    if (result != CUPTI_OK) collect_refused(c, "recording launches and copies", "cuptiActivityEnable", result);
    return STATUS_OK;
}

Status collect_begin(const CollectHost *host) {
    Collector *c = &collector;
    if (atomic_load(&c->state) != COLLECT_IDLE) return STATUS_INVALID;
    c->host = *host;
    c->pid = getpid();
    atomic_store(&c->state, COLLECT_RUNNING);
    Status status = begin(c);
    if (status != STATUS_OK) {
        atomic_store(&c->state, COLLECT_OFF);
        if (!c->sink) c->sink = c->host.sink(c->host.context);
        if (c->sink) write_messages(c);
    }
    return status;
}

bool collect_end(int exit_code) {
    Collector *c = &collector;
    if (atomic_load(&c->state) != COLLECT_RUNNING || c->pid != getpid()) return true;
    c->exit_code = exit_code;
    atomic_store(&c->end, true);
    sem_post(&c->wake);
    if (wait_for(&c->ended, c->host.options.end_seconds)) return pthread_join(c->thread, NULL), true;
    collect_say(c, LOG_ERROR, "CUPTI did not hand out its last records within %u s; the profile ends before them",
                c->host.options.end_seconds);
    return false;
}

void collect_forget(void) { atomic_store(&collector.state, COLLECT_OFF); }
