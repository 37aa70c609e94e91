// SPDX-License-Identifier: Apache-2.0
// What warps wait for that begin at once, on gpus/h200.gpu, against an H200 (2026-11-23, driver 580.159.04, CUDA 13.0):
// bench/hwref/h200-starts.tsv, caches kept, kernels as in bench/micro/starts.cu, CTAs of 256 threads; parameters for
// vector registers from h200-stall-reasons.tsv, loaded.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/machine.h"
#include "sim/time/time.h"

#define KERNEL(name, ...)                                                                                  \
    ".visible .entry " name "(.param .u64 out, .param .u32 word) {\n.reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n" \
    ".reg .pred %p<2>;\n" __VA_ARGS__ "setp.eq.u32 %p1, %r1, 305419896;\n@%p1 trap;\nret;\n}\n"
static const char text[] = PTX_HEAD KERNEL("special_1", "mov.u32 %r1, %tid.x;\n")
    KERNEL("special_4", "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %laneid;\nmov.u32 %r3, %warpid;\nmov.u32 %r4, %smid;\n"
                        "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\n")
        KERNEL("words_1", "ld.param.u32 %r2, [word];\nmov.u32 %r3, %tid.x;\nadd.u32 %r1, %r3, %r2;\n")
            KERNEL("loaded", "ld.param.u64 %rd1, [out];\nmov.u32 %r3, %tid.x;\nmul.wide.u32 %rd2, %r3, 4;\n"
                             "add.s64 %rd1, %rd1, %rd2;\nld.global.u32 %r1, [%rd1];\n");

typedef struct Row {
    const char *kernel;
    u32 ctas, reasons;  // bits
    double h200;
} Row;

#define BIT(reason) (1u << STALL_##reason)
enum {
    ISSUING = BIT(WAIT) | BIT(SHORT_SCOREBOARD) | BIT(MIO_THROTTLE) | BIT(NOT_SELECTED),
    CONSTANTS = ISSUING | BIT(IMC_MISS)
};

static double cycles_of_a_warp(const Row *row) {
    TestDevice d = {0};
    SimKernel *kernel;
    u64 sum = 0;
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    struct {
        DevicePtr out;
        u32 word;
    } params = {device_memory(&d, NULL, 4096), 1};
    assert_int_equal(sim_find_kernel(d.sim, d.module, row->kernel, &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {row->ctas, 1, 1}, .block = {256, 1, 1}, .params = &params};
    SimLaunchResult result = {0};
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    const TimeMachine *m = d.sim->machines[0];
    for (u32 sm = 0; sm < time_sms(m); sm++)
        for (u32 reason = 0; reason < STALL_COUNT; reason++)
            if (row->reasons >> reason & 1) sum += time_sm_stalls(m, sm)[reason];
    device_close(&d);
    return (double)sum / (row->ctas * 8.0);
}

static void expect_rows(const Row *rows, u32 count, double tolerance) {
    for (u32 i = 0; i < count; i++) {
        double cycles = cycles_of_a_warp(&rows[i]), h200 = rows[i].h200;
        print_message("%s, %u CTAs: %.0f cycles, an H200 %.0f\n", rows[i].kernel, rows[i].ctas, cycles, h200);
        assert_true(cycles > h200 * (1 - tolerance) && cycles < h200 * (1 + tolerance));
    }
}

TEST(special_registers_are_read_one_after_the_other) {
    static const Row rows[] = {{"special_1", 132, ISSUING, 38.2},
                               {"special_1", 1056, ISSUING, 40.6},
                               {"special_4", 528, ISSUING, 135},
                               {"special_4", 1056, ISSUING, 170}};
    expect_rows(rows, WL_COUNT(rows), 0.3);
}

TEST(the_first_constant_takes_longer_where_all_sms_ask_for_it) {
    static const Row rows[] = {
        {"words_1", 64, BIT(IMC_MISS), 67.7}, {"words_1", 132, BIT(IMC_MISS), 113.9}, {"loaded", 132, CONSTANTS, 292}};
    expect_rows(rows, WL_COUNT(rows), 0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_registers_are_read_one_after_the_other),
        cmocka_unit_test(the_first_constant_takes_longer_where_all_sms_ask_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
