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
    return sample_launch_end(sink, launch);
}

static inline Status sample_run(Sink *sink, const SampleSpec *spec) {
    TRY(sample_head(sink));
    for (u32 i = 1; i <= spec->functions; i++) TRY(sample_one_function(sink, spec, i));
    for (u32 i = 0; i < spec->launches; i++) {
        for (u32 f = 0; f < spec->functions; f++)
            TRY(sample_one_launch(sink, spec, i * spec->functions + f + 1, f + 1));
    }
    return STATUS_OK;
}

#endif
