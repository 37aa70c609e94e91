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
    const char *step;
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

static CuptiResult make_config(Chip *chip, void *host, PmCounters *counters) {
    CuptiHostAdd add = {CUPTI_SIZE_TO(CuptiHostAdd, count), .host = host, .names = counters->names,
                        .count = counters->name_count};
    chip->step = "cuptiProfilerHostConfigAddMetrics";
    CuptiResult result = chip->cupti->cuptiProfilerHostConfigAddMetrics(&add);
    if (result != CUPTI_OK) return result;
    CuptiHostConfigSize size = {CUPTI_SIZE_TO(CuptiHostConfigSize, bytes), .host = host};
    chip->step = "cuptiProfilerHostGetConfigImageSize";
    result = chip->cupti->cuptiProfilerHostGetConfigImageSize(&size);
    if (result != CUPTI_OK) return result;
    mem_free(counters->config);
    counters->config_bytes = size.bytes;
    counters->config = mem_alloc(size.bytes + 1);
    if (!counters->config) return CUPTI_OUT_OF_MEMORY;
    CuptiHostConfig config = {CUPTI_SIZE_TO(CuptiHostConfig, config), .host = host, .bytes = size.bytes,
                              .config = counters->config};
    chip->step = "cuptiProfilerHostGetConfigImage";
    return chip->cupti->cuptiProfilerHostGetConfigImage(&config);
}

// Makes counters->host and ->config for the names chosen so far. False: they do not fit one pass, or one is not known.
static bool fits(Chip *chip, PmCounters *counters, CuptiResult *result) {
    void *host = NULL;
    *result = host_begin(chip, &host);
    if (*result == CUPTI_OK) *result = make_config(chip, host, counters);
    CuptiHostPasses passes = {CUPTI_SIZE_TO(CuptiHostPasses, passes), .bytes = counters->config_bytes,
                              .config = counters->config};
    bool one =
        *result == CUPTI_OK && chip->cupti->cuptiProfilerHostGetNumOfPasses(&passes) == CUPTI_OK && passes.passes == 1;
    host_end(chip->cupti, one ? counters->host : host);
    if (one) counters->host = host;
    return one;
}

static u32 column_of(const PmCounters *counters, MetricId metric) {
    for (u32 i = 0; i < counters->column_count; i++)
        if (counters->columns[i].metric == metric) return i;
    return PM_COUNTERS;
}

// False: there is one of this metric already, or what it is a share of is missing.
static bool append(PmCounters *counters, const Row *row, u32 warps) {
    PmColumn column = {.metric = row->metric, .name = PM_COUNTERS, .times = PM_COUNTERS, .factor = 1};
    if (column_of(counters, row->metric) != PM_COUNTERS || counters->column_count == PM_COUNTERS) return false;
    if (row->times != METRIC_NONE) column.times = column_of(counters, row->times);
    if (row->times != METRIC_NONE && column.times == PM_COUNTERS) return false;
    if (row->name) column.name = counters->name_count;
    if (row->name) counters->names[counters->name_count++] = row->name;
    if (!row->name) column.factor = warps;
    counters->columns[counters->column_count++] = column;
    return true;
}

static void take_back(PmCounters *counters) {
    counters->column_count--;
    counters->name_count--;
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

// All first choices at once, which is enough where they fit; otherwise one after the other.
static CuptiResult choose(Chip *chip, PmCounters *counters, u32 warps) {
    CuptiResult result, last;
    for (u32 i = 0; i < WL_COUNT(rows); i++) append(counters, &rows[i], warps);
    if (fits(chip, counters, &result)) return CUPTI_OK;
    counters->column_count = counters->name_count = 0;
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        if (!append(counters, &rows[i], warps) || !rows[i].name) continue;
        if (!fits(chip, counters, &last)) take_back(counters);
    }
    if (!counters->name_count) return result == CUPTI_OK ? CUPTI_NOT_SUPPORTED : result;
    return fits(chip, counters, &last) ? CUPTI_OK : last ? last : CUPTI_NOT_SUPPORTED;
}

static CuptiResult read_availability(const Cupti *cupti, u32 device, u8 **availability, const char **step) {
    CuptiPmAvailability ask = {CUPTI_SIZE_TO(CuptiPmAvailability, availability), .device = device};
    *step = "cuptiPmSamplingGetCounterAvailability";
    CuptiResult result = cupti->cuptiPmSamplingGetCounterAvailability(&ask);
    if (result != CUPTI_OK) return result;
    *availability = ask.availability = mem_zero(ask.bytes + 1, 1);
    if (!ask.availability) return CUPTI_OUT_OF_MEMORY;
    return cupti->cuptiPmSamplingGetCounterAvailability(&ask);
}

CuptiResult pm_counters_choose(PmCounters *counters, const Cupti *cupti, u32 device, u32 warps, const char **step) {
    CuptiProfilerInit init = {.size = sizeof init};
    CuptiChipName chip_name = {CUPTI_SIZE_TO(CuptiChipName, name), .device = device};
    u8 *availability = NULL;
    *counters = (PmCounters){.cupti = cupti};
    *step = "cuptiProfilerInitialize";
    CuptiResult result = cupti->cuptiProfilerInitialize(&init);
    if (result == CUPTI_OK) {
        *step = "cuptiDeviceGetChipName";
        result = cupti->cuptiDeviceGetChipName(&chip_name);
    }
    if (result == CUPTI_OK) result = read_availability(cupti, device, &availability, step);
    if (result == CUPTI_OK) {
        Chip chip = {.cupti = cupti, .name = chip_name.name, .availability = availability};
        result = choose(&chip, counters, warps);
        *step = chip.step;
    }
    mem_free(availability);
    if (result == CUPTI_OK) note_left_out(counters);
    if (result != CUPTI_OK) pm_counters_free(counters);
    return result;
}

void pm_counters_free(PmCounters *counters) {
    if (counters->cupti) host_end(counters->cupti, counters->host);
    mem_free(counters->config);
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
