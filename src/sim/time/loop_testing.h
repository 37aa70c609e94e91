// SPDX-License-Identifier: Apache-2.0
// Kernels that measure themselves, as those of bench/micro do, on gpus/h200.gpu: what they say they took.
#ifndef WL_SIM_TIME_LOOP_TESTING_H
#define WL_SIM_TIME_LOOP_TESTING_H

#include <stdlib.h>

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

// A kernel with the parameters `out`, a pointer to zeros, and up to two numbers.
typedef struct LoopTest {
    const char *text, *kernel;
    u32 sms;           // of the GPU; 0: all
    u32 cluster;       // CTAs, all of one cluster; 0: without
    u32 ctas;          // where they are no cluster; 0: one
    u32 cta_interval;  // cycles from one that comes to an SM to the next; 0: the GPU's
    u32 threads;       // of each
    u32 launches;      // one after the other; the last counts, and with two finds its code and data
    u32 bytes;         // at `out`
    u32 at;            // where its cycles are, behind `out`: u64
    u32 values[2];
} LoopTest;

// What is at `out` behind the last launch: `bytes` of it.
static inline void loop_run(const LoopTest *t, void *out) {
    TestDevice d = {0};
    SimKernel *kernel;
    device_open_with(&d, t->text, (SimConfig){.threads = 1, .timing = true});
    if (t->sms) d.gpu.sms = t->sms;
    if (t->cta_interval) d.gpu.cta_interval = t->cta_interval;
    struct {
        DevicePtr out;
        u32 values[2];
    } params = {device_memory(&d, NULL, t->bytes), {t->values[0], t->values[1]}};
    assert_int_equal(sim_find_kernel(d.sim, d.module, t->kernel, &kernel), STATUS_OK);
    u32 ctas = t->cluster ? t->cluster : t->ctas ? t->ctas : 1;
    SimLaunch launch = {.kernel = kernel, .grid = {ctas, 1, 1}, .block = {t->threads, 1, 1}, .params = &params};
    if (t->cluster) launch.cluster[0] = ctas, launch.cluster[1] = launch.cluster[2] = 1;
    for (u32 i = 0; i < t->launches; i++) {
        SimLaunchResult result = {0};
        Status status = sim_launch(d.sim, &launch, &result, &d.diag);
        if (status != STATUS_OK) device_show(&d);
        assert_int_equal(status, STATUS_OK);
    }
    memcpy(out, device_view(&d, params.out, t->bytes), t->bytes);
    device_close(&d);
}

static inline u64 loop_cycles(const LoopTest *t) {
    u64 cycles;
    u8 *out = malloc(t->bytes);
    assert_non_null(out);
    loop_run(t, out);
    memcpy(&cycles, out + t->at, sizeof cycles);
    free(out);
    return cycles;
}

// The row of a file of bench/hwref whose first column is `name`: what comes behind it, in `rest`.
static inline void hwref_row(const char *file, const char *name, char *rest, size_t size) {
    char path[128], line[512];
    size_t length = strlen(name);
    bool found = false;
    snprintf(path, sizeof path, "bench/hwref/%s", file);
    FILE *rows = fopen(path, "r");
    assert_non_null(rows);
    while (!found && fgets(line, sizeof line, rows)) found = !strncmp(line, name, length) && line[length] == '\t';
    fclose(rows);
    assert_true(found);
    snprintf(rest, size, "%s", line + length + 1);
}

static inline f64 hwref_value(const char *file, const char *name) {
    char rest[512];
    hwref_row(file, name, rest, sizeof rest);
    return strtod(rest, NULL);
}

#endif
