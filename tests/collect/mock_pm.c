// SPDX-License-Identifier: Apache-2.0
// PM sampling of the mock CUPTI. A GPU of which each sample counts the same; which counters it knows and how many fit
// one pass is the script's. Compiled with hidden symbols, it is a CUPTI that is too old for it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/cupti_abi.h"
#include "mock.h"

enum { DEVICES = 8, UNKNOWN_METRIC = 999, INVALID_OPERATION = 7 };
enum { RECORDED_COUNTERS = 32, RECORDED_SAMPLES = 256, RECORDED_KERNELS = 16, LINE_BYTES = 2048 };

typedef struct Sample {
    u64 begin, end;
} Sample;

// What an image holds: as a real one, it is CUPTI's to read.
typedef struct Image {
    u32 room, count;
    Sample samples[];
} Image;

// What a GPU gave.
typedef struct Recording {
    u32 counters, samples, kernels;
    char names[RECORDED_COUNTERS][128];
    Sample times[RECORDED_SAMPLES];
    double values[RECORDED_SAMPLES][RECORDED_COUNTERS];
    char kernel_names[RECORDED_KERNELS][64];
    Sample kernel_times[RECORDED_KERNELS];
} Recording;

typedef struct Device {
    bool enabled, configured, running, first, full, playing;
    u64 interval, time;
    u32 pending;
} Device;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Device devices[DEVICES];
    MockPmScript script;
    Recording recording;
} pm = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

#define CUPTI(name, need, arguments) CuptiResult name arguments;
#include "collect/cupti.def"
#undef CUPTI

MockPmScript *mock_pm_script(void) { return &pm.script; }

// --- on the host ---
typedef struct Host {
    u32 count;
} Host;

CuptiResult cuptiDeviceGetChipName(CuptiChipName *chip) { return chip->name = "MOCK100", CUPTI_OK; }
CuptiResult cuptiProfilerHostInitialize(CuptiHostInit *init) {
    if (init->profiler != CUPTI_PROFILER_PM || strcmp(init->chip, "MOCK100") != 0 || !init->availability) return 1;
    return init->host = calloc(1, sizeof(Host)), CUPTI_OK;
}
CuptiResult cuptiProfilerHostDeinitialize(CuptiHostEnd *end) { return free(end->host), CUPTI_OK; }
static u32 recorded(const char *name) {
    u32 i = 0;
    while (i < pm.recording.counters && strcmp(pm.recording.names[i], name) != 0) i++;
    return i;
}
static bool is_known(const char *name) {
    if (pm.recording.counters) return recorded(name) < pm.recording.counters;
    return !pm.script.unknown || !strstr(name, pm.script.unknown);
}
CuptiResult cuptiProfilerHostConfigAddMetrics(CuptiHostAdd *add) {
    for (size_t i = 0; i < add->count; i++)
        if (!is_known(add->names[i])) return UNKNOWN_METRIC;
    return ((Host *)add->host)->count = (u32)add->count, CUPTI_OK;
}
CuptiResult cuptiProfilerHostGetConfigImageSize(CuptiHostConfigSize *size) {
    return size->bytes = sizeof(u32), CUPTI_OK;
}
CuptiResult cuptiProfilerHostGetConfigImage(CuptiHostConfig *config) {
    memcpy(config->config, &((Host *)config->host)->count, sizeof(u32));
    return CUPTI_OK;
}
CuptiResult cuptiProfilerHostGetNumOfPasses(CuptiHostPasses *passes) {
    u32 count;
    memcpy(&count, passes->config, sizeof count);
    passes->passes = pm.script.fit && count > pm.script.fit ? 2 : 1;
    return CUPTI_OK;
}

static double value_of(const char *name, const Sample *sample) {
    for (u32 i = 0; i < pm.recording.samples; i++)
        if (pm.recording.times[i].end == sample->end) return pm.recording.values[i][recorded(name)];
    double ns = (double)(sample->end - sample->begin);
    if (strstr(name, "dram__bytes_read")) return ns * 2;
    if (strstr(name, "inst_executed_realtime") || strstr(name, "sm__inst_executed.sum")) return ns * 5;
    if (strstr(name, "hit_rate")) return 0.25;
    return ns;
}
CuptiResult cuptiProfilerHostEvaluateToGpuValues(CuptiHostEvaluate *evaluate) {
    const Image *image = (const Image *)evaluate->image;
    if (evaluate->sample >= image->count || ((Host *)evaluate->host)->count != evaluate->count) return 1;
    for (size_t i = 0; i < evaluate->count; i++)
        evaluate->values[i] = value_of(evaluate->names[i], &image->samples[evaluate->sample]);
    return CUPTI_OK;
}

// --- on the device ---
static Device *device_of(void *object) { return &pm.devices[(size_t)object - 1]; }

CuptiResult cuptiPmSamplingGetCounterAvailability(CuptiPmAvailability *ask) {
    const char *result = getenv("MOCK_PM");
    if (result) return atoi(result);
    if (ask->availability) memset(ask->availability, 1, ask->bytes);
    return ask->bytes = 16, CUPTI_OK;
}
CuptiResult cuptiPmSamplingEnable(CuptiPmEnable *enable) {
    Device *d = &pm.devices[enable->device];
    if (d->enabled) return INVALID_OPERATION;
    *d = (Device){.enabled = true};
    return enable->object = (void *)(enable->device + 1), CUPTI_OK;
}
CuptiResult cuptiPmSamplingDisable(CuptiPmObject *object) {
    Device *d = device_of(object->object);
    pthread_mutex_lock(&pm.lock);
    d->enabled = d->running = false;
    pthread_cond_broadcast(&pm.changed);
    pthread_mutex_unlock(&pm.lock);
    return CUPTI_OK;
}
CuptiResult cuptiPmSamplingSetConfig(CuptiPmConfig *config) {
    Device *d = device_of(config->object);
    u32 count;
    memcpy(&count, config->config, sizeof count);
    if (pm.script.config_result) return pm.script.config_result;
    if (pm.script.no_timer && config->trigger == CUPTI_PM_BY_TIME) return CUPTI_NOT_SUPPORTED;
    if (!d->enabled || d->running || (pm.script.fit && count > pm.script.fit)) return CUPTI_NOT_SUPPORTED;
    d->configured = true;
    d->interval = config->interval;
    return CUPTI_OK;
}
CuptiResult cuptiPmSamplingGetCounterDataSize(CuptiPmImageSize *size) {
    return size->bytes = sizeof(Image) + size->samples * sizeof(Sample), CUPTI_OK;
}
CuptiResult cuptiPmSamplingCounterDataImageInitialize(CuptiPmImage *image) {
    *(Image *)image->image = (Image){.room = (u32)((image->bytes - sizeof(Image)) / sizeof(Sample))};
    return CUPTI_OK;
}
CuptiResult cuptiPmSamplingStart(CuptiPmObject *object) {
    Device *d = device_of(object->object);
    pthread_mutex_lock(&pm.lock);
    bool good = d->configured && !d->running;
    if (good) d->running = d->first = true, d->full = false, d->pending = 0;
    pthread_cond_broadcast(&pm.changed);
    pthread_mutex_unlock(&pm.lock);
    return good ? CUPTI_OK : INVALID_OPERATION;
}
CuptiResult cuptiPmSamplingStop(CuptiPmObject *object) {
    Device *d = device_of(object->object);
    return d->running ? d->running = false, CUPTI_OK : INVALID_OPERATION;
}

// The first sample counts from long ago; an image without room loses the rest.
static void fill(Device *d, Image *image) {
    if (d->playing)
        for (u32 i = 0; i < pm.recording.samples && image->count < image->room; i++)
            image->samples[image->count++] = pm.recording.times[i];
    if (d->playing) d->pending = 0, d->playing = false;
    if (d->first && d->pending) image->samples[image->count++] = (Sample){1, d->time}, d->first = false;
    for (u32 i = 0; i < d->pending && image->count < image->room; i++, d->time += d->interval)
        image->samples[image->count++] = (Sample){d->time, d->time + d->interval};
    d->pending = 0;
}
CuptiResult cuptiPmSamplingDecodeData(CuptiPmDecode *decode) {
    Device *d = device_of(decode->object);
    pthread_mutex_lock(&pm.lock);
    CuptiResult result = d->full ? CUPTI_OUT_OF_MEMORY : pm.script.decode_result;
    decode->overflow = d->full;
    decode->stop = CUPTI_PM_END_OF_RECORDS;
    if (!d->full) fill(d, (Image *)decode->image);
    pthread_cond_broadcast(&pm.changed);
    pthread_mutex_unlock(&pm.lock);
    return result;
}
CuptiResult cuptiPmSamplingGetCounterDataInfo(CuptiPmImageInfo *info) {
    const Image *image = (const Image *)info->image;
    info->room = image->room;
    return info->populated = info->completed = image->count, CUPTI_OK;
}
CuptiResult cuptiPmSamplingCounterDataGetSampleInfo(CuptiPmSample *sample) {
    const Image *image = (const Image *)sample->image;
    if (sample->sample >= image->count) return 1;
    sample->begin = image->samples[sample->sample].begin;
    sample->end = image->samples[sample->sample].end;
    return CUPTI_OK;
}

// --- what the program does ---
void mock_pm_wait(u32 device) {
    pthread_mutex_lock(&pm.lock);
    while (!pm.devices[device].running) pthread_cond_wait(&pm.changed, &pm.lock);
    pthread_mutex_unlock(&pm.lock);
}
void mock_pm_samples(u32 device, u64 begin, u32 count) {
    Device *d = &pm.devices[device];
    pthread_mutex_lock(&pm.lock);
    d->time = begin;
    d->pending = count;
    while (d->pending && d->running) pthread_cond_wait(&pm.changed, &pm.lock);
    pthread_mutex_unlock(&pm.lock);
}
void mock_pm_overflow(u32 device) {
    pthread_mutex_lock(&pm.lock);
    pm.devices[device].full = true;
    while (pm.devices[device].full || !pm.devices[device].running) pthread_cond_wait(&pm.changed, &pm.lock);
    pthread_mutex_unlock(&pm.lock);
}

// --- recordings ---
static void load_time(char *text, Sample *time, char **end) {
    time->begin = strtoull(text, end, 10);
    time->end = strtoull(*end, end, 10);
}
static void load_line(Recording *r, const char *kind, char *rest) {
    char *end, *name;
    if (strcmp(kind, "counters") == 0)
        while ((name = strtok_r(NULL, " \n", &rest)) && r->counters < RECORDED_COUNTERS)
            snprintf(r->names[r->counters++], sizeof r->names[0], "%s", name);
    if (strcmp(kind, "kernel") == 0 && r->kernels < RECORDED_KERNELS && (name = strtok_r(NULL, " ", &rest))) {
        snprintf(r->kernel_names[r->kernels], sizeof r->kernel_names[0], "%s", name);
        load_time(rest, &r->kernel_times[r->kernels++], &end);
    }
    if (strcmp(kind, "sample") == 0 && r->samples < RECORDED_SAMPLES) {
        load_time(rest, &r->times[r->samples], &end);
        for (u32 i = 0; i < r->counters; i++) r->values[r->samples][i] = strtod(end, &end);
        r->samples++;
    }
}
bool mock_pm_load(const char *path) {
    char line[LINE_BYTES], *rest;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *kind = strtok_r(line, " \n", &rest);
        if (kind) load_line(&pm.recording, kind, rest);
    }
    return file && fclose(file) == 0 && pm.recording.samples && pm.recording.kernels;
}
void mock_pm_play(u32 device) {
    Device *d = &pm.devices[device];
    for (u32 i = 0; i < pm.recording.kernels; i++)
        mock_kernel(pm.recording.kernel_names[i], pm.recording.kernel_times[i].begin, pm.recording.kernel_times[i].end);
    pthread_mutex_lock(&pm.lock);
    d->playing = true;
    d->first = false;
    d->pending = 1;
    while (d->pending && d->running) pthread_cond_wait(&pm.changed, &pm.lock);
    pthread_mutex_unlock(&pm.lock);
}
