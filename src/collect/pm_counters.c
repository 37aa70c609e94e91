// SPDX-License-Identifier: Apache-2.0
#include "collect/pm_counters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

typedef struct Row {
    MetricId metric, times;  // METRIC_COUNT: none
    const char *name;        // NULL: cycles in `times`, times the places for warps
} Row;
#define METRIC_NONE METRIC_COUNT
static const Row rows[] = {
#define PM(metric, times, name) {METRIC_##metric, METRIC_##times, name},
#define PM_SLOTS(metric, cycles) {METRIC_##metric, METRIC_##cycles, NULL},
#include "collect/pm_counters.def"
#undef PM
#undef PM_SLOTS
};

// --- what fits ---
typedef struct Chip {
    const Cupti *cupti;
    const char *name;
    const u8 *availability;
    u32 warps;
    const char *step;
    CuptiResult result;  // of the last call that failed
} Chip;

static CuptiResult host_begin(Chip *chip, void **host) {
    CuptiHostInit init = {.size = CUPTI_SIZE_TO(CuptiHostInit, host),
                          .profiler = CUPTI_PROFILER_PM,
                          .chip = chip->name,
                          .availability = chip->availability};
    chip->step = "cuptiProfilerHostInitialize";
    CuptiResult result = chip->cupti->cuptiProfilerHostInitialize(&init);
    *host = init.host;
    return result;
}

static void host_end(const Cupti *cupti, void *host) {
    CuptiHostEnd end = {CUPTI_SIZE_TO(CuptiHostEnd, host), .host = host};
    if (host) cupti->cuptiProfilerHostDeinitialize(&end);
}

// *config: to be freed, also after a failure.
static CuptiResult make_config(Chip *chip, void *host, PmCounters *counters, u8 **config, size_t *bytes) {
    CuptiHostAdd add = {CUPTI_SIZE_TO(CuptiHostAdd, count), .host = host, .names = counters->names,
                        .count = counters->name_count};
    chip->step = "cuptiProfilerHostConfigAddMetrics";
    CuptiResult result = chip->cupti->cuptiProfilerHostConfigAddMetrics(&add);
    if (result != CUPTI_OK) return result;
    CuptiHostConfigSize size = {CUPTI_SIZE_TO(CuptiHostConfigSize, bytes), .host = host};
    chip->step = "cuptiProfilerHostGetConfigImageSize";
    result = chip->cupti->cuptiProfilerHostGetConfigImageSize(&size);
    if (result != CUPTI_OK) return result;
    *bytes = size.bytes;
    *config = mem_alloc(size.bytes + 1);
    if (!*config) return CUPTI_OUT_OF_MEMORY;
    CuptiHostConfig get = {CUPTI_SIZE_TO(CuptiHostConfig, config), .host = host, .bytes = size.bytes,
                           .config = *config};
    chip->step = "cuptiProfilerHostGetConfigImage";
    return chip->cupti->cuptiProfilerHostGetConfigImage(&get);
}

// Makes counters->host and ->config for the names chosen so far. False: they do not fit one pass, or one is not known;
// both are then as they were.
static bool fits(Chip *chip, PmCounters *counters) {
    void *host = NULL;
    u8 *config = NULL;
    size_t bytes = 0;
    CuptiResult result = host_begin(chip, &host);
    if (result == CUPTI_OK) result = make_config(chip, host, counters, &config, &bytes);
    CuptiHostPasses passes = {CUPTI_SIZE_TO(CuptiHostPasses, passes), .bytes = bytes, .config = config};
    bool one =
        result == CUPTI_OK && chip->cupti->cuptiProfilerHostGetNumOfPasses(&passes) == CUPTI_OK && passes.passes == 1;
    if (result != CUPTI_OK) chip->result = result;
    host_end(chip->cupti, one ? counters->host : host);
    mem_free(one ? counters->config : config);
    if (!one) return false;
    counters->host = host;
    counters->config = config;
    counters->config_bytes = bytes;
    return true;
}

static u32 column_of(const PmCounters *counters, MetricId metric) {
    for (u32 i = 0; i < counters->column_count; i++)
        if (counters->columns[i].metric == metric) return i;
    return PM_COUNTERS;
}

// Nothing, when there is one of this metric already, or when what it is a share of is missing.
static void append(PmCounters *counters, const Row *row, u32 warps) {
    PmColumn column = {.metric = row->metric, .name = PM_COUNTERS, .times = PM_COUNTERS, .factor = 1};
    if (column_of(counters, row->metric) != PM_COUNTERS || counters->column_count == PM_COUNTERS) return;
    if (row->times != METRIC_NONE) column.times = column_of(counters, row->times);
    if (row->times != METRIC_NONE && column.times == PM_COUNTERS) return;
    if (row->name) column.name = counters->name_count;
    if (row->name) counters->names[counters->name_count++] = row->name;
    if (!row->name) column.factor = warps;
    counters->columns[counters->column_count++] = column;
}

static void note_left_out(PmCounters *counters) {
    size_t used = 0;
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        const char *name = metric_table[rows[i].metric].name;
        if (column_of(counters, rows[i].metric) != PM_COUNTERS || strstr(counters->left_out, name)) continue;
        int length =
            snprintf(counters->left_out + used, sizeof counters->left_out - used, "%s%s", used ? ", " : "", name);
        if (length > 0 && used + (size_t)length < sizeof counters->left_out) used += (size_t)length;
    }
}

// What fits of the rows from `first` to `end` (not included): all at once, or else of either half. The same as one
// after the other, with fewer calls, of which each takes CUPTI 5 ms.
static void choose(Chip *chip, PmCounters *counters, u32 first, u32 end) {
    u32 columns = counters->column_count, names = counters->name_count, middle = first + (end - first) / 2;
    for (u32 i = first; i < end; i++) append(counters, &rows[i], chip->warps);
    if (counters->name_count == names || fits(chip, counters)) return;
    counters->column_count = columns;
    counters->name_count = names;
    if (end - first < 2) return;
    choose(chip, counters, first, middle);
    choose(chip, counters, middle, end);
}

static CuptiResult read_availability(PmCounters *counters, u32 device, const char **step) {
    CuptiPmAvailability ask = {CUPTI_SIZE_TO(CuptiPmAvailability, availability), .device = device};
    *step = "cuptiPmSamplingGetCounterAvailability";
    CuptiResult result = counters->cupti->cuptiPmSamplingGetCounterAvailability(&ask);
    if (result != CUPTI_OK) return result;
    counters->availability = ask.availability = mem_zero(ask.bytes + 1, 1);
    if (!ask.availability) return CUPTI_OUT_OF_MEMORY;
    return counters->cupti->cuptiPmSamplingGetCounterAvailability(&ask);
}

CuptiResult pm_counters_choose(PmCounters *counters, const Cupti *cupti, u32 device, u32 warps, const char **step) {
    CuptiProfilerInit init = {.size = sizeof init};
    CuptiChipName name = {CUPTI_SIZE_TO(CuptiChipName, name), .device = device};
    *counters = (PmCounters){.cupti = cupti};
    *step = "cuptiProfilerInitialize";
    CuptiResult result = cupti->cuptiProfilerInitialize(&init);
    if (result == CUPTI_OK) {
        *step = "cuptiDeviceGetChipName";
        result = cupti->cuptiDeviceGetChipName(&name);
    }
    if (result == CUPTI_OK) result = read_availability(counters, device, step);
    if (result == CUPTI_OK) {
        Chip chip = {.cupti = cupti, .name = name.name, .availability = counters->availability, .warps = warps};
        choose(&chip, counters, 0, WL_COUNT(rows));
        if (!counters->name_count) result = chip.result ? chip.result : CUPTI_NOT_SUPPORTED;
        *step = chip.step;
    }
    if (result == CUPTI_OK) note_left_out(counters);
    if (result != CUPTI_OK) pm_counters_free(counters);
    return result;
}

void pm_counters_free(PmCounters *counters) {
    if (counters->cupti) host_end(counters->cupti, counters->host);
    mem_free(counters->config);
    mem_free(counters->availability);
    *counters = (PmCounters){0};
}

// --- what they say ---
static u64 whole(f64 value) { return value > 0 && value < 0x1p63 ? (u64)(value + 0.5) : 0; }

bool pm_counters_read(const PmCounters *counters, const u8 *image, size_t bytes, size_t sample, u64 *values) {
    f64 found[PM_COUNTERS], exact[PM_COUNTERS];
    const char *names[PM_COUNTERS];
    memcpy(names, counters->names, sizeof names);
    CuptiHostEvaluate evaluate = {.size = CUPTI_SIZE_TO(CuptiHostEvaluate, values),
                                  .host = counters->host,
                                  .image = image,
                                  .image_bytes = bytes,
                                  .sample = sample,
                                  .names = names,
                                  .count = counters->name_count,
                                  .values = found};
    if (counters->cupti->cuptiProfilerHostEvaluateToGpuValues(&evaluate) != CUPTI_OK) return false;
    for (u32 i = 0; i < counters->column_count; i++) {
        const PmColumn *column = &counters->columns[i];
        f64 value = column->factor * (column->name != PM_COUNTERS ? found[column->name] : 1);
        if (column->times != PM_COUNTERS) value *= exact[column->times];
        exact[i] = isfinite(value) ? value : 0;
        values[i] = whole(exact[i]);
    }
    return true;
}
