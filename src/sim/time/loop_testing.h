// SPDX-License-Identifier: Apache-2.0
// Kernels that measure themselves, as those of bench/micro do, on gpus/h200.gpu: what they say they took.
#ifndef WL_SIM_TIME_LOOP_TESTING_H
#define WL_SIM_TIME_LOOP_TESTING_H

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

// A kernel with the parameters `out`, a pointer to zeros, and up to two numbers.
typedef struct LoopTest {
    const char *text, *kernel;
    u32 sms;       // of the GPU; 0: all
    u32 cluster;   // CTAs, all of one cluster; 0: one CTA without
    u32 threads;   // of each
    u32 launches;  // one after the other; the last counts, and with two finds its code and data
    u32 bytes;     // at `out`
    u32 at;        // where its cycles are, behind `out`: u64
    u32 values[2];
} LoopTest;

static inline u64 loop_cycles(const LoopTest *t) {
    TestDevice d = {0};
    SimKernel *kernel;
    device_open_with(&d, t->text, (SimConfig){.threads = 1, .timing = true});
    if (t->sms) d.gpu.sms = t->sms;
    struct {
        DevicePtr out;
        u32 values[2];
    } params = {device_memory(&d, NULL, t->bytes), {t->values[0], t->values[1]}};
    assert_int_equal(sim_find_kernel(d.sim, d.module, t->kernel, &kernel), STATUS_OK);
    u32 ctas = t->cluster ? t->cluster : 1;
    SimLaunch launch = {.kernel = kernel, .grid = {ctas, 1, 1}, .block = {t->threads, 1, 1}, .params = &params};
    if (t->cluster) launch.cluster[0] = ctas, launch.cluster[1] = launch.cluster[2] = 1;
    for (u32 i = 0; i < t->launches; i++) {
        SimLaunchResult result = {0};
        Status status = sim_launch(d.sim, &launch, &result, &d.diag);
        if (status != STATUS_OK) device_show(&d);
        assert_int_equal(status, STATUS_OK);
    }
    u64 cycles = *(const u64 *)device_view(&d, params.out + t->at, sizeof cycles);
    device_close(&d);
    return cycles;
}

#endif
