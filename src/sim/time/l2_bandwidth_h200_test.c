// SPDX-License-Identifier: Apache-2.0
// Loads of one SM whose warps take turns with the same lines, on gpus/h200.gpu, against an H200 (2026-11-23, driver
// 580.159.04, CUDA 13.0): bench/hwref/h200-l2-bandwidth.tsv, PATTERN/KIND/16/one, bytes a cycle. The same loop as
// bench/micro/l2_bandwidth.cu. What the L1 does not keep comes once for every load, though the L2 is asked for it once.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/machine.h"
#include "sim/time/time.h"

enum { TURNS = 64, AHEAD = 4, WARPS = 32, LOAD = 512, RESULTS = 8192, TEXT = 8192 };

// Each warp `turns` turns; what it loads lies `step` further on in each, and `begin` from warp to warp.
static void kernel_of(const char *kind, char *text) {
    int at = snprintf(text, TEXT,
                      PTX_HEAD
                      ".visible .entry loads(.param .u64 out, .param .u32 step) {\n.reg .b64 %%rd<12>;\n"
                      ".reg .b32 %%r<40>;\n.reg .pred %%p<3>;\nld.param.u64 %%rd1, [out];\nld.param.u32 %%r2, [step];\n"
                      "mov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, 16;\nadd.s64 %%rd3, %%rd1, %%rd2;\n"
                      "cvt.u64.u32 %%rd4, %%r2;\nmov.u32 %%r3, 0;\nmov.u32 %%r4, 0;\nbar.sync 0;\n"
                      "mov.u64 %%rd6, %%clock64;\nTURN:\n");
    for (u32 k = 0; k < AHEAD; k++) {
        u32 r = 8 + 4 * k;
        at += snprintf(text + at, TEXT - (size_t)at,
                       "ld.global.%s.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%rd3+%u];\nadd.s64 %%rd3, %%rd3, %%rd4;\n",
                       kind, r, r + 1, r + 2, r + 3, (u32)RESULTS);
    }
    for (u32 k = 0; k < 4 * AHEAD; k++)
        at += snprintf(text + at, TEXT - (size_t)at, "xor.b32 %%r4, %%r4, %%r%u;\n", 8 + k);
    snprintf(text + at, TEXT - (size_t)at,
             "add.u32 %%r3, %%r3, %u;\nsetp.lt.u32 %%p1, %%r3, %u;\n@%%p1 bra TURN;\nbar.sync 0;\n"
             "mov.u64 %%rd8, %%clock64;\nsub.s64 %%rd8, %%rd8, %%rd6;\nsetp.eq.u32 %%p2, %%r1, 0;\n"
             "@%%p2 st.global.u64 [%%rd1], %%rd8;\nmul.wide.u32 %%rd9, %%r1, 4;\nadd.s64 %%rd9, %%rd1, %%rd9;\n"
             "st.global.u32 [%%rd9+64], %%r4;\nret;\n}\n",
             (u32)AHEAD, (u32)TURNS);
}

static u64 reply_flits(const TestDevice *d) {
    const MemSys *memory = time_memsys(d->sim->machines[0]);
    return memsys_counter(memory, MEMC_NOC_REPLY_FLITS)[0];
}

// Bytes a cycle of the second of two launches, which finds all in the L2; `came`: flits of both.
static double play(const char *kind, u32 step, u64 *came) {
    TestDevice d = {0};
    char text[TEXT];
    SimKernel *kernel;
    kernel_of(kind, text);
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    d.gpu.sms = 1;
    DevicePtr out = device_memory(&d, NULL, RESULTS + WARPS * LOAD * (1 + TURNS));
    struct {
        DevicePtr out;
        u32 step;
    } params = {out, step};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "loads", &kernel), STATUS_OK);
    for (u32 i = 0; i < 2; i++) {
        SimLaunch launch = {.kernel = kernel, .grid = {1, 1, 1}, .block = {WARPS * 32, 1, 1}, .params = &params};
        SimLaunchResult result = {0};
        assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    }
    double cycles = (double)*(const u64 *)device_view(&d, out, sizeof(u64));
    *came = reply_flits(&d);
    device_close(&d);
    return (double)TURNS * WARPS * LOAD / cycles;
}

static void expect(const char *name, double value, double h200) {
    print_message("%-16s %.1f bytes a cycle, an H200 %.1f\n", name, value, h200);
    if (value < h200 * 0.9 || value > h200 * 1.1) fail_msg("%s: %g, not within 10 %% of %g", name, value, h200);
}

TEST(each_load_past_the_l1_has_an_answer) {
    u64 own, shift;
    double all = play("cg", WARPS * LOAD, &own);
    expect("own/cg", all, 92.0);
    expect("shift/cg", play("cg", LOAD, &shift), 92.0);
    print_message("flits %llu, %llu\n", (unsigned long long)own, (unsigned long long)shift);
    assert_in_range(shift, own * 99 / 100, own * 101 / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_load_past_the_l1_has_an_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
