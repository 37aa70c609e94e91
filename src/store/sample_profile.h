// SPDX-License-Identifier: Apache-2.0
// Records of a made-up run, for tests and benchmarks: what a collector would send, always the same.
#ifndef WL_STORE_SAMPLE_PROFILE_H
#define WL_STORE_SAMPLE_PROFILE_H

#include <stdio.h>
#include <string.h>

#include "metric/metric.h"
#include "record/record.h"

typedef struct SampleSpec {
    u32 functions, lines, launches;  // launches of each function
    u32 metrics;                     // per launch, from the top of the catalogue
    bool no_line_info;
    bool timing;  // as the simulator's timing model writes it
} SampleSpec;

// Joins texts with their NULs; `parts` ends with NULL. Returns the size.
static inline size_t sample_tail(char *tail, const char *const *parts) {
    char *out = tail;
    for (; *parts; parts++) out = stpcpy(out, *parts) + 1;
    return (size_t)(out - tail);
}
#define SAMPLE_TAIL(tail, ...) sample_tail((tail), (const char *const[]){__VA_ARGS__, NULL})

static inline Status sample_meta(Sink *sink, const char *key, const char *value) {
    char tail[512];
    RecordMeta record = {0};
    return sink_write(sink, RECORD_META, &record, tail, SAMPLE_TAIL(tail, key, value));
}

static inline Status sample_file(Sink *sink, u32 id, const char *path) {
    RecordFileName record = {.file = id};
    return sink_write(sink, RECORD_FILE_NAME, &record, path, strlen(path) + 1);
}

static inline Status sample_function(Sink *sink, u32 id, const char *name, u32 insns) {
    RecordFunction record = {.function = id, .module = 1, .is_entry = 1, .insn_count = insns, .registers = 32};
    return sink_write(sink, RECORD_FUNCTION, &record, name, strlen(name) + 1);
}

static inline Status sample_insns(Sink *sink, u32 function, const RecordInsn *insns, u32 count) {
    RecordInsns record = {.function = function, .count = count};
    return sink_write(sink, RECORD_INSN, &record, insns, count * sizeof *insns);
}

static inline Status sample_launch(Sink *sink, u32 launch, u32 function) {
    RecordLaunch record = {.launch = launch, .function = function, .source = 1, .grid = {4, 2, 1}, .block = {64, 1, 1}};
    record.begin_ns = launch * 1000u;
    return sink_write(sink, RECORD_LAUNCH, &record, NULL, 0);
}

static inline Status sample_launch_end(Sink *sink, u32 launch) {
    RecordLaunchEnd record = {.launch = launch, .end_ns = launch * 1000u + 500u};
    return sink_write(sink, RECORD_LAUNCH_END, &record, NULL, 0);
}

static inline Status sample_counts(Sink *sink, u32 launch, const RecordCount *counts, u32 count) {
    RecordLaunchCounts record = {.launch = launch, .count = count};
    return sink_write(sink, RECORD_LAUNCH_COUNTS, &record, counts, count * sizeof *counts);
}

static inline Status sample_pc_counts(Sink *sink, u32 function, const RecordPcCount *counts, u32 count) {
    RecordPcCounts record = {.function = function, .source = 1, .count = count};
    return sink_write(sink, RECORD_PC_COUNTS, &record, counts, count * sizeof *counts);
}

enum { SAMPLE_STALL_WAIT, SAMPLE_STALL_MEMORY };

static inline Status sample_stall_names(Sink *sink) {
    char tail[128];
    RecordStallName wait = {1, SAMPLE_STALL_WAIT}, memory = {1, SAMPLE_STALL_MEMORY};
    TRY(sink_write(sink, RECORD_STALL_NAME, &wait, tail, SAMPLE_TAIL(tail, "wait", "a result of fixed latency")));
    return sink_write(sink, RECORD_STALL_NAME, &memory, tail, SAMPLE_TAIL(tail, "long_scoreboard", "data of memory"));
}

static inline Status sample_time(Sink *sink, u32 launch) {
    u64 begin = launch * 10000u;
    RecordLaunchTime time = {.launch = launch,
                             .source = 1,
                             .begin_cycle = begin,
                             .end_cycle = begin + 8000,
                             .first_cta_cycle = begin + 1000,
                             .last_cta_cycle = begin + 7500,
                             .begin_ns = (f64)begin / 2,
                             .end_ns = (f64)begin / 2 + 4000,
                             .registers = 32,
                             .ctas_per_sm = 4};
    return sink_write(sink, RECORD_LAUNCH_TIME, &time, NULL, 0);
}

static inline Status sample_latencies(Sink *sink, u32 launch) {
    RecordLatencies record = {.launch = launch, .source = 1, .count = 2};
    RecordLatency buckets[] = {{256, 362, 90}, {362, 512, 10}};
    return sink_write(sink, RECORD_LATENCIES, &record, buckets, sizeof buckets);
}

// Instruction 1 waits for 0, the last one for 1.
static inline Status sample_stalls(Sink *sink, u32 function, u32 insns) {
    RecordStallCauses record = {.function = function, .source = 1, .count = 2};
    RecordStallCause causes[] = {{1, SAMPLE_STALL_MEMORY, function, 0, 5000, 50},
                                 {insns - 1, SAMPLE_STALL_WAIT, function, 1, 700, 70}};
    TRY(sink_write(sink, RECORD_STALL_CAUSES, &record, causes, sizeof causes));
    RecordSamples samples = {.function = function, .source = 1, .count = 2, .period = 512};
    RecordSample rows[] = {{1, SAMPLE_STALL_MEMORY, 30, 20}, {insns - 1, SAMPLE_STALL_WAIT, 5, 1}};
    return sink_write(sink, RECORD_SAMPLES, &samples, rows, sizeof rows);
}

// Value of metric m (of METRIC_INST and METRIC_THREAD_INST), unit u, point p.
static inline u64 sample_point(u32 m, u32 u, u32 p) { return (m ? 32 : 1) * (100 + u + p % 7 * 10); }

static inline Status sample_timeline(Sink *sink, u32 launch, TimelineUnit unit, u32 units, u32 points, u32 max_bytes) {
    static u8 tail[1 << 16];
    RecordTimeline record = {.launch = launch,
                             .source = 1,
                             .unit = unit,
                             .units = units,
                             .metrics = 2,
                             .points = points,
                             .max_bytes = max_bytes,
                             .first = launch * 10000u,
                             .step = 1000,
                             .tick_ns = 0.5};
    u32 metrics[] = {METRIC_INST, METRIC_THREAD_INST};
    size_t size = sizeof metrics;
    memcpy(tail, metrics, sizeof metrics);
    for (u32 at = 0; at < 2 * units * points && size + 8 <= sizeof tail; at++, size += 8) {
        u64 value = sample_point(at / points / units, at / points % units, at % points);
        memcpy(tail + size, &value, sizeof value);
    }
    return sink_write(sink, RECORD_TIMELINE, &record, tail, size);
}

static inline Status sample_timing(Sink *sink, u32 launch, u32 function, u32 insns) {
    TRY(sample_time(sink, launch));
    TRY(sample_latencies(sink, launch));
    TRY(sample_stalls(sink, function, insns));
    TRY(sample_timeline(sink, launch, TIMELINE_GPU, 1, 8, 0));
    return sample_timeline(sink, launch, TIMELINE_SM, 4, 8, 0);
}

// Program, source, module, two files (the second one a toolkit header).
static inline Status sample_head(Sink *sink) {
    char tail[256];
    TRY(sample_meta(sink, "command", "./app --size 64"));
    TRY(sample_meta(sink, "exit_code", "0"));
    RecordSource source = {.source = 1, .provenance = PROVENANCE_SIMULATED};
    TRY(sink_write(sink, RECORD_SOURCE, &source, tail, SAMPLE_TAIL(tail, "warplens", "Test GPU", "2 SMs")));
    size_t size = SAMPLE_TAIL(tail, "app.ptx");
    size_t text_size = (size_t)sprintf(tail + size, ".version 8.0\n.target sm_75\n.address_size 64\n");
    RecordModule module = {.module = 1, .hash = 0x1234, .text_size = text_size};
    TRY(sink_write(sink, RECORD_MODULE, &module, tail, size + text_size));
    TRY(sample_file(sink, 1, "src/app.cu"));
    return sample_file(sink, 2, "/usr/local/cuda-13.0/targets/x86_64-linux/include/sm_60_atomic_functions.hpp");
}

// One function with `lines` lines of two instructions each.
static inline Status sample_one_function(Sink *sink, const SampleSpec *spec, u32 function) {
    char name[64];
    snprintf(name, sizeof name, "_Z7kernel%uPfi", function);
    TRY(sample_function(sink, function, name, spec->lines * 2));
    for (u32 line = 0; line < spec->lines; line++) {
        u32 file = spec->no_line_info ? 0 : 1;
        RecordInsn insn = {.file = file, .line = file ? line + 10 : 0, .text_line = line * 2 + 5};
        RecordInsn insns[2] = {insn, insn};
        RecordInsns record = {.function = function, .first = line * 2, .count = 2};
        TRY(sink_write(sink, RECORD_INSN, &record, insns, sizeof insns));
    }
    return STATUS_OK;
}

static inline Status sample_one_launch(Sink *sink, const SampleSpec *spec, u32 launch, u32 function) {
    RecordCount counts[METRIC_COUNT];
    u32 count = 0;
    for (u32 i = 0; i < METRIC_COUNT && count < spec->metrics; i++) {
        if (!metric_table[i].formula) counts[count++] = (RecordCount){.metric = i, .value = 1000.0 + launch + i};
    }
    TRY(sample_launch(sink, launch, function));
    TRY(sample_counts(sink, launch, counts, count));
    for (u32 pc = 0; pc < spec->lines * 2; pc++) {
        RecordPcCount cells[3] = {{pc, METRIC_INST, 8}, {pc, METRIC_THREAD_INST, 200}, {pc, METRIC_BRANCH, pc % 2}};
        TRY(sample_pc_counts(sink, function, cells, 3));
    }
    if (spec->timing) TRY(sample_timing(sink, launch, function, spec->lines * 2));
    return sample_launch_end(sink, launch);
}

static inline Status sample_run(Sink *sink, const SampleSpec *spec) {
    TRY(sample_head(sink));
    if (spec->timing) TRY(sample_stall_names(sink));
    for (u32 i = 1; i <= spec->functions; i++) TRY(sample_one_function(sink, spec, i));
    for (u32 i = 0; i < spec->launches; i++) {
        for (u32 f = 0; f < spec->functions; f++)
            TRY(sample_one_launch(sink, spec, i * spec->functions + f + 1, f + 1));
    }
    return STATUS_OK;
}

#endif
