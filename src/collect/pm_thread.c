// SPDX-License-Identifier: Apache-2.0
#include "collect/pm_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/thread.h"

// On an H200 (CUDA 13.0, 22 Nov 2026): a sample of the counters of pm_counters.def is 75 KB of CUPTI's image; it takes
// 65 us to decode, 30 us to evaluate, 21 us of clearing the image. Beginning takes 75 ms and half a millisecond for
// each MiB of the hardware's buffer, where a sample takes 13 to 25 KB. Decoding goes on in the same image; what finds
// it full is lost, also for later calls, so it is cleared while there is room for several times what comes between two
// calls.
enum { DECODE_NS = 64000000, LEAST_BATCH = 16, MOST_BATCH = 320, ROOM = 1280, SLACK = 3, HARDWARE_BYTES = 64 << 20 };
enum { ATTRIBUTE_SM_THREADS = 39, WARP = 32, WARPS = 64 };  // CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR

static u32 batch_of(u64 interval) {
    u64 batch = DECODE_NS / interval;
    return batch < LEAST_BATCH ? LEAST_BATCH : batch > MOST_BATCH ? MOST_BATCH : (u32)batch;
}

// --- beginning ---
static u32 warps_of_sm(Collector *c, u32 device) {
    int threads = 0;
    bool known = c->device_attribute && c->device_attribute(&threads, ATTRIBUTE_SM_THREADS, (int)device) == 0;
    return known && threads >= WARP ? (u32)threads / WARP : WARPS;
}

static CuptiResult make_image(PmThread *t, const char **step) {
    const Cupti *cupti = &t->collector->cupti;
    CuptiPmImageSize ask = {CUPTI_SIZE_TO(CuptiPmImageSize, bytes), .object = t->object, .names = t->counters.names,
                            .count = t->counters.name_count, .samples = ROOM};
    *step = "cuptiPmSamplingGetCounterDataSize";
    CuptiResult result = cupti->cuptiPmSamplingGetCounterDataSize(&ask);
    if (result != CUPTI_OK) return result;
    void *memory = mmap(NULL, ask.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return CUPTI_OUT_OF_MEMORY;
    t->image = memory;
    t->image_bytes = ask.bytes;
    return CUPTI_OK;
}

static CuptiResult clear_image(PmThread *t) {
    t->seen = 0;
    CuptiPmImage image = {CUPTI_SIZE_TO(CuptiPmImage, image), .object = t->object, .bytes = t->image_bytes,
                          .image = t->image};
    return t->collector->cupti.cuptiPmSamplingCounterDataImageInitialize(&image);
}

// Turing and GA100 have no timer for it (cupti_pmsampling.h): there the system clock's cycles are taken for ns.
static CuptiResult configure(PmThread *t, const char **step) {
    CuptiPmConfig config = {CUPTI_SIZE_TO(CuptiPmConfig, append), .object = t->object,
                            .bytes = t->counters.config_bytes,    .config = t->counters.config,
                            .hardware_bytes = HARDWARE_BYTES,     .interval = t->interval,
                            .trigger = CUPTI_PM_BY_TIME,          .append = CUPTI_PM_KEEP_OLDEST};
    *step = "cuptiPmSamplingSetConfig";
    CuptiResult result = t->collector->cupti.cuptiPmSamplingSetConfig(&config);
    if (result != CUPTI_NOT_SUPPORTED && result != CUPTI_INVALID_PARAMETER) return result;
    config.trigger = CUPTI_PM_BY_SYSCLK;
    return t->collector->cupti.cuptiPmSamplingSetConfig(&config) == CUPTI_OK ? CUPTI_OK : result;
}

static CuptiResult call(PmThread *t, CuptiResult (*function)(CuptiPmObject *)) {
    CuptiPmObject object = {CUPTI_SIZE_TO(CuptiPmObject, object), .object = t->object};
    return function(&object);
}

static CuptiResult run(PmThread *t, const char **step) {
    *step = "cuptiPmSamplingCounterDataImageInitialize";
    CuptiResult result = clear_image(t);
    if (result != CUPTI_OK) return result;
    *step = "cuptiPmSamplingStart";
    t->begun = false;
    return call(t, t->collector->cupti.cuptiPmSamplingStart);
}

static CuptiResult begin(PmThread *t, const char **step) {
    CuptiPmEnable enable = {CUPTI_SIZE_TO(CuptiPmEnable, object), .device = t->device};
    *step = "cuptiPmSamplingEnable";
    CuptiResult result = t->collector->cupti.cuptiPmSamplingEnable(&enable);
    if (result != CUPTI_OK) return result;
    t->object = enable.object;
    result = configure(t, step);
    if (result == CUPTI_OK) result = make_image(t, step);
    return result == CUPTI_OK ? run(t, step) : result;
}

static void stop(PmThread *t) {
    if (t->object) call(t, t->collector->cupti.cuptiPmSamplingDisable);
    if (t->image) munmap(t->image, t->image_bytes);
    t->object = t->image = NULL;
}

static void tell_loaded(PmThread *t) {
    if (t->collector->host.loaded) t->collector->host.loaded();
}

static CuptiResult start(PmThread *t, const char **step) {
    Collector *c = t->collector;
    CuptiResult result = pm_counters_choose(&t->counters, &c->cupti, t->device, warps_of_sm(c, t->device), step);
    if (result == CUPTI_OK) result = begin(t, step);
    tell_loaded(t);
    return result;
}

// --- decoding ---
static PmChunk *make_chunk(u32 count, u32 columns) {
    size_t bytes = sizeof(PmChunk) + count * (sizeof(PmSpan) + columns * sizeof(u64));
    PmChunk *chunk = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return NULL;
    chunk->bytes = bytes;
    chunk->values = (u64 *)(chunk->spans + count);
    return chunk;
}

static void hand_over(PmThread *t, PmChunk *chunk) {
    if (!chunk->count && !chunk->lost) {
        munmap(chunk, chunk->bytes);
        return;
    }
    chunk->next = atomic_load(&t->chunks);
    while (!atomic_compare_exchange_weak(&t->chunks, &chunk->next, chunk)) continue;
}

// The first sample after a start counts from some earlier time on; samples without a length are CUPTI's way of saying
// that it has none.
static bool is_sample(PmThread *t, const CuptiPmSample *sample) {
    bool first = !t->begun;
    if (!sample->begin || sample->end <= sample->begin) return false;
    t->begun = true;
    if (first) t->last = sample->end;
    return !first;
}

// Samples follow each other without a gap unless some were lost.
static u64 missing(PmThread *t, const CuptiPmSample *sample) {
    u64 gap = sample->begin > t->last ? sample->begin - t->last : 0;
    t->last = sample->end;
    return (gap + t->interval / 2) / t->interval;
}

static bool read_sample(PmThread *t, size_t index, PmChunk *chunk) {
    Collector *c = t->collector;
    CuptiPmSample sample = {CUPTI_SIZE_TO(CuptiPmSample, end), .object = t->object, .image = t->image,
                            .bytes = t->image_bytes, .sample = index};
    if (c->cupti.cuptiPmSamplingCounterDataGetSampleInfo(&sample) != CUPTI_OK) return false;
    if (!is_sample(t, &sample)) return true;
    chunk->lost += missing(t, &sample);
    u64 *values = chunk->values + (size_t)chunk->count * t->counters.column_count;
    if (!pm_counters_read(&t->counters, t->image, t->image_bytes, index, values)) return false;
    chunk->spans[chunk->count++] = (PmSpan){sample.begin + (u64)c->clock_offset, sample.end + (u64)c->clock_offset};
    return true;
}

static void read_samples(PmThread *t) {
    CuptiPmImageInfo info = {CUPTI_SIZE_TO(CuptiPmImageInfo, completed), .image = t->image, .bytes = t->image_bytes};
    if (t->collector->cupti.cuptiPmSamplingGetCounterDataInfo(&info) != CUPTI_OK || info.completed <= t->seen) return;
    u32 end = info.completed < ROOM ? (u32)info.completed : ROOM, first = t->seen;
    PmChunk *chunk = make_chunk(end - first, t->counters.column_count);
    for (u32 i = first; chunk && i < end; i++) chunk->lost += !read_sample(t, i, chunk);
    t->seen = end;
    if (chunk) hand_over(t, chunk);
    if (!t->evaluated) tell_loaded(t);
    t->evaluated = true;
}

static void note_lost(PmThread *t, u64 lost) {
    PmChunk *chunk = make_chunk(0, 0);
    if (!chunk) return;
    chunk->lost = lost;
    hand_over(t, chunk);
}

// The hardware's buffer was full: what is in it cannot be had any more, and sampling begins anew. False: it cannot.
static bool restart(PmThread *t) {
    const char *step;
    u64 before = t->last, now = collect_now() - (u64)t->collector->clock_offset;
    bool ending = atomic_load(&t->end);
    if (!ending) stop(t);
    bool again = !ending && begin(t, &step) == CUPTI_OK;
    note_lost(t, before && now > before ? (now - before) / t->interval : 1);
    return again;
}

// False: sampling of this GPU is over.
static bool decode(PmThread *t) {
    Collector *c = t->collector;
    CuptiPmDecode decode = {CUPTI_SIZE_TO(CuptiPmDecode, overflow), .object = t->object, .image = t->image,
                            .bytes = t->image_bytes};
    CuptiResult result = c->cupti.cuptiPmSamplingDecodeData(&decode);
    if (decode.overflow || result == CUPTI_OUT_OF_MEMORY) {
        bool again = restart(t);
        if (!again && !atomic_load(&t->end))
            collect_say(c, LOG_WARNING,
                        "counters over time end before the program: the GPU's buffer for them was full");
        return again;
    }
    if (result != CUPTI_OK) return collect_refused(c, "counters over time", "cuptiPmSamplingDecodeData", result), false;
    read_samples(t);
    bool room = t->seen + batch_of(t->interval) * SLACK <= ROOM && decode.stop != CUPTI_PM_IMAGE_FULL;
    return room || clear_image(t) == CUPTI_OK;
}

// --- the thread ---
static void wait(PmThread *t) {
    u64 now = collect_now();
    t->due += t->interval * batch_of(t->interval);
    if (t->due < now) t->due = now;  // behind, or the first
    struct timespec at = {(time_t)(t->due / 1000000000), (long)(t->due % 1000000000)};
    while (sem_clockwait(&t->wake, CLOCK_MONOTONIC, &at) != 0 && errno == EINTR) continue;
}

static void *sample(void *context) {
    PmThread *t = context;
    const char *step = "CUPTI";
    CuptiResult result = start(t, &step);
    atomic_store(&t->state, result == CUPTI_OK ? PM_RUNNING : PM_FAILED);
    bool running = result == CUPTI_OK;
    atomic_fetch_sub(&t->collector->starting, 1);
    if (!running) collect_refused(t->collector, "recording counters over time", step, result);
    while (running && !atomic_load(&t->end)) {
        wait(t);
        running = decode(t);
    }
    if (running) {
        call(t, t->collector->cupti.cuptiPmSamplingStop);
        decode(t);
    }
    stop(t);
    return NULL;
}

bool pm_thread_begin(PmThread *t) {
    sem_init(&t->wake, 0, 0);
    atomic_store(&t->state, PM_STARTING);
    bool started = thread_start(&t->thread, sample, t) == 0;
    if (!started) atomic_store(&t->state, PM_IDLE);
    if (started) pthread_setname_np(t->thread, "warplens-pm");
    return started;
}

void pm_thread_end(PmThread *t) {
    if (atomic_load(&t->state) == PM_IDLE) return;
    atomic_store(&t->end, true);
    sem_post(&t->wake);
    pthread_join(t->thread, NULL);
    sem_destroy(&t->wake);
}
