// SPDX-License-Identifier: Apache-2.0
#include "collect/pm_sampling.h"

#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "collect/pm_thread.h"

// Kernels with launches of their own points: the first so many of each, and so many in all. The bytes of a timeline are
// the store's to keep to.
enum { DEVICES = 16, LAUNCHES_OF_KERNEL = 16, LAUNCHES_IN_ALL = 1024, WAITING = 4096 };
enum { LAUNCH_BYTES = 16 << 10, RUN_BYTES = 1 << 20 };
static const u64 write_ns = 1000000000;  // between two writings of the whole run
// What CUPTI's decoder keeps up with at a quarter of one processor.
static const u64 default_interval = 500000;

typedef struct Waiting {
    u32 launch, source, device;
    PmSpan span;
} Waiting;

typedef struct PmDevice {
    PmThread thread;
    PmTimeline timeline;
    bool wanted, told;
    u64 written_ns, written_taken;
} PmDevice;

struct PmSampling {
    PmDevice devices[DEVICES];
    Vec(Waiting) waiting;
    Map launches_of;  // function -> launches that have points, or wait for them
    u32 launches;
    u64 values[PM_POINTS * PM_COUNTERS];
    Vec(u8) tail;
};

bool pm_sampling_is_known(const Cupti *cupti) {
    return cupti->cuptiPmSamplingEnable && cupti->cuptiPmSamplingDisable && cupti->cuptiPmSamplingSetConfig &&
           cupti->cuptiPmSamplingStart && cupti->cuptiPmSamplingStop && cupti->cuptiPmSamplingDecodeData &&
           cupti->cuptiPmSamplingGetCounterAvailability && cupti->cuptiPmSamplingGetCounterDataSize &&
           cupti->cuptiPmSamplingCounterDataImageInitialize && cupti->cuptiPmSamplingGetCounterDataInfo &&
           cupti->cuptiPmSamplingCounterDataGetSampleInfo && cupti->cuptiProfilerInitialize &&
           cupti->cuptiDeviceGetChipName && cupti->cuptiProfilerHostInitialize &&
           cupti->cuptiProfilerHostDeinitialize && cupti->cuptiProfilerHostConfigAddMetrics &&
           cupti->cuptiProfilerHostGetConfigImageSize && cupti->cuptiProfilerHostGetConfigImage &&
           cupti->cuptiProfilerHostGetNumOfPasses && cupti->cuptiProfilerHostEvaluateToGpuValues;
}

// --- beginning ---
void pm_sampling_wanted(Collector *c, void *context) {
    u32 device = 0;
    if (c->cupti.cuptiGetDeviceId(context, &device) != CUPTI_OK) device = 0;
    if (device >= DEVICES || atomic_fetch_or(&c->pm_known, 1ull << device) >> device & 1) return;
    atomic_fetch_add(&c->starting, 1);
    atomic_fetch_or(&c->pm_wanted, 1ull << device);
    sem_post(&c->wake);
}

// From here on the thread says when it has started, or not.
static CuptiResult begin(Collector *c, u32 device) {
    u64 interval = c->host.options.interval_ns;
    if (!c->pm) c->pm = mem_zero(1, sizeof *c->pm);
    if (!c->pm) return CUPTI_OUT_OF_MEMORY;
    if (!sampling_lock_device(c, device)) return CUPTI_HARDWARE_BUSY;
    PmDevice *d = &c->pm->devices[device];
    d->wanted = true;
    d->thread.collector = c;
    d->thread.device = device;
    d->thread.interval = interval ? interval : default_interval;
    return pm_thread_begin(&d->thread) ? CUPTI_OK : CUPTI_OUT_OF_MEMORY;
}

static void begin_wanted(Collector *c) {
    u64 wanted = atomic_exchange(&c->pm_wanted, 0);
    bool known = pm_sampling_is_known(&c->cupti);
    if (wanted && !known && !c->pm_told)
        collect_say(c, LOG_WARNING,
                    "counters over time are not recorded: this CUPTI has no PM sampling; CUDA 12.6 or newer has");
    if (wanted && !known) c->pm_told = true;
    for (u32 d = 0; d < DEVICES; d++) {
        if (!(wanted >> d & 1)) continue;
        CuptiResult result = known ? begin(c, d) : CUPTI_NOT_SUPPORTED;
        if (result != CUPTI_OK) atomic_fetch_sub(&c->starting, 1);
        if (known && result != CUPTI_OK) collect_refused(c, "recording counters over time", "CUPTI", result);
    }
}

// --- writing ---
static void write_timeline(Collector *c, const PmDevice *d, RecordTimeline head) {
    struct PmSampling *pm = c->pm;
    const PmCounters *counters = &d->thread.counters;
    size_t ids = head.metrics * sizeof(u32), values = (size_t)head.metrics * head.points * sizeof(u64);
    if (vec_reserve(&pm->tail, (u32)(ids + values)) != STATUS_OK) return;
    for (u32 i = 0; i < head.metrics; i++)
        memcpy(pm->tail.data + i * sizeof(u32), &(u32){counters->columns[i].metric}, sizeof(u32));
    memcpy(pm->tail.data + ids, pm->values, values);
    collect_write(c, RECORD_TIMELINE, &head, pm->tail.data, ids + values);
}

static void write_run(Collector *c, PmDevice *d) {
    const PmTimeline *t = &d->timeline;
    if (t->points < 2 || d->written_taken == t->taken) return;
    d->written_taken = t->taken;
    d->written_ns = collect_now();
    pm_timeline_all(t, c->pm->values);
    write_timeline(c, d,
                   (RecordTimeline){.source = collect_source(c, d->thread.device, false),
                                    .unit = TIMELINE_GPU,
                                    .units = 1,
                                    .metrics = t->metrics,
                                    .points = t->points,
                                    .max_bytes = RUN_BYTES,
                                    .first = t->first,
                                    .step = t->step,
                                    .tick_ns = 1});
}

static void write_launch(Collector *c, PmDevice *d, const Waiting *w) {
    u64 step = 0;
    u32 points = pm_timeline_cut(&d->timeline, w->span, &step, c->pm->values);
    if (!points) return;
    write_timeline(c, d,
                   (RecordTimeline){.launch = w->launch,
                                    .source = w->source,
                                    .unit = TIMELINE_GPU,
                                    .units = 1,
                                    .metrics = d->timeline.metrics,
                                    .points = points,
                                    .max_bytes = LAUNCH_BYTES,
                                    .first = w->span.begin,
                                    .step = step,
                                    .tick_ns = 1});
}

static void write_launches(Collector *c, bool all) {
    struct PmSampling *pm = c->pm;
    u32 kept = 0;
    for (u32 i = 0; i < pm->waiting.len; i++) {
        Waiting w = pm->waiting.data[i];
        PmDevice *d = &pm->devices[w.device];
        if (!all && d->timeline.last < w.span.end)
            pm->waiting.data[kept++] = w;
        else
            write_launch(c, d, &w);
    }
    pm->waiting.len = kept;
}

// --- taking ---
static void tell(Collector *c, PmDevice *d) {
    d->told = true;
    if (*d->thread.counters.left_out)
        collect_say(c, LOG_INFO, "counters over time: not in one pass, or unknown to this GPU: %s",
                    d->thread.counters.left_out);
}

static void take_chunk(Collector *c, PmDevice *d, const PmChunk *chunk) {
    u64 refused = 0;
    u32 columns = d->thread.counters.column_count;
    if (!d->timeline.values && pm_timeline_make(&d->timeline, columns, d->thread.interval) != STATUS_OK) {
        collect_dropped(c, "counters over time (samples)", chunk->count + chunk->lost);
        return;
    }
    for (u32 i = 0; i < chunk->count; i++)
        refused += !pm_timeline_add(&d->timeline, chunk->spans[i], chunk->values + (size_t)i * columns);
    collect_dropped(c, "counters over time (samples)", chunk->lost + refused);
}

static void take_chunks(Collector *c, PmDevice *d) {
    if (atomic_load(&d->thread.state) == PM_RUNNING && !d->told) tell(c, d);
    PmChunk *list = atomic_exchange(&d->thread.chunks, NULL), *in_order = NULL, *next;
    for (; list; list = next) {
        next = list->next;
        list->next = in_order;
        in_order = list;
    }
    for (; in_order; in_order = next) {
        next = in_order->next;
        take_chunk(c, d, in_order);
        munmap(in_order, in_order->bytes);
    }
}

void pm_sampling_take(Collector *c) {
    begin_wanted(c);
    if (!c->pm) return;
    for (u32 i = 0; i < DEVICES; i++) {
        PmDevice *d = &c->pm->devices[i];
        take_chunks(c, d);
        if (d->timeline.taken && collect_now() - d->written_ns >= write_ns) write_run(c, d);
    }
    write_launches(c, false);
}

// Launches too short for points are not asked for.
void pm_sampling_launch(Collector *c, const RecordLaunchDone *r) {
    struct PmSampling *pm = c->pm;
    if (!pm || r->device >= DEVICES || pm->launches == LAUNCHES_IN_ALL || pm->waiting.len == WAITING) return;
    const PmDevice *d = &pm->devices[r->device];
    if (!d->wanted || r->end_ns <= r->begin_ns || (r->end_ns - r->begin_ns) / PM_LEAST_POINTS < d->thread.interval)
        return;
    u64 *known = map_get(&pm->launches_of, r->function), count = known ? *known : 0;
    if (count == LAUNCHES_OF_KERNEL || map_put(&pm->launches_of, r->function, count + 1) != STATUS_OK) return;
    Waiting w = {r->launch, r->source, r->device, {r->begin_ns, r->end_ns}};
    if (vec_push(&pm->waiting, w) == STATUS_OK) pm->launches++;
}

void pm_sampling_end(Collector *c) {
    if (!c->pm) return;
    for (u32 i = 0; i < DEVICES; i++) {
        PmDevice *d = &c->pm->devices[i];
        pm_thread_end(&d->thread);
        take_chunks(c, d);
        write_run(c, d);
    }
    write_launches(c, true);
    for (u32 i = 0; i < DEVICES; i++) {
        pm_counters_free(&c->pm->devices[i].thread.counters);
        pm_timeline_free(&c->pm->devices[i].timeline);
    }
    vec_free(&c->pm->waiting);
    vec_free(&c->pm->tail);
    map_free(&c->pm->launches_of);
    mem_free(c->pm);
    c->pm = NULL;
}
