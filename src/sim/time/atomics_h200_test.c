// SPDX-License-Identifier: Apache-2.0
// How often the L1 looks up the sectors of reductions whose lanes meet on words, on gpus/h200.gpu, against an H200
// (2026-11-21, driver 580.159.04, CUDA 13.0): bench/hwref/h200-counters.txt, histogram_global of
// examples/histogram --n 65536.
#include "base/mem.h"
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/machine.h"
#include "sim/time/time.h"

enum { ELEMENTS = 65536, BINS = 256, FREQUENT = 17, H200_SECTORS = 53022 };

static const char histogram[] = PTX_HEAD
    ".visible .entry histogram(.param .u64 in, .param .u64 bins) {\n.reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n"
    ".reg .pred %p<2>;\nld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [bins];\nmov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %tid.x;\nmad.lo.u32 %r1, %r1, 256, %r2;\nTURN:\ncvt.u64.u32 %rd3, %r1;\nadd.s64 %rd3, %rd1, %rd3;\n"
    "ld.global.u8 %r3, [%rd3];\nmul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd4, %rd2, %rd4;\nred.global.add.u32 [%rd4], 1;\n"
    "add.u32 %r1, %r1, 16384;\nsetp.lt.u32 %p1, %r1, 65536;\n@%p1 bra TURN;\nret;\n}\n";

// As the example makes them: a quarter of the elements is the same one.
static void fill(u8 *in) {
    u32 state = 1;
    for (u32 i = 0; i < ELEMENTS; i++) {
        state = state * 1664525u + 1013904223u;
        u32 r = (state >> 8) % (4 * BINS);
        in[i] = (u8)(r % 4 ? r / 4 : FREQUENT);
    }
}

TEST(lanes_on_a_word_look_its_sector_up_again) {
    TestDevice d = {0};
    SimKernel *kernel;
    u8 *in = mem_alloc(ELEMENTS);
    assert_non_null(in);
    fill(in);
    device_open_with(&d, histogram, (SimConfig){.threads = 1, .timing = true});
    struct {
        DevicePtr in, bins;
    } params = {device_memory(&d, in, ELEMENTS), device_memory(&d, NULL, BINS * 4)};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "histogram", &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {64, 1, 1}, .block = {256, 1, 1}, .params = &params};
    SimLaunchResult result = {0};
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    u64 sectors = 0;
    for (u32 sm = 0; sm < d.gpu.sms; sm++) sectors += time_sm_counters(d.sim->machines[0], sm)[SMC_L1_ATOMIC_SECTORS];
    print_message("sectors of reductions: %llu, an H200 %u\n", (unsigned long long)sectors, H200_SECTORS);
    assert_in_range(sectors, H200_SECTORS * 99 / 100, H200_SECTORS * 101 / 100);
    device_close(&d);
    mem_free(in);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_on_a_word_look_its_sector_up_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
