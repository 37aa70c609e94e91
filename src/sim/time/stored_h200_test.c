// SPDX-License-Identifier: Apache-2.0
// Stores of a warp to the same words, so many dependent instructions apart, on gpus/h200.gpu: how many of their sectors
// hit the L1, against an H200 (2026-11-22, driver 580.159.04, CUDA 13.0): bench/hwref/h200-joins.tsv, byte_of_word, the
// same kernel as bench/micro/l1_joins.cu. Each group is a line that nobody has accessed.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/machine.h"
#include "sim/time/time.h"

enum { GROUPS_OF_STORES = 64, TEXT = 4096 };

static void kernel_of(u32 stores, u32 gap, char *text) {
    int at = snprintf(
        text, TEXT,
        PTX_HEAD ".visible .entry join(.param .u64 out) {\n.reg .b64 %%rd<8>;\n.reg .b32 %%r<8>;\n"
                 ".reg .pred %%p<2>;\nld.param.u64 %%rd1, [out];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, "
                 "4;\nadd.s64 %%rd2, %%rd1, %%rd2;\nmov.u32 %%r2, 0;\nmov.u32 %%r3, %%tid.x;\nTURN:\n");
    for (u32 k = 0; k < stores; k++) {
        at += snprintf(text + at, TEXT - (size_t)at, "st.global.u8 [%%rd2+%u], %%r3;\n", k);
        for (u32 i = 0; i < gap; i++) at += snprintf(text + at, TEXT - (size_t)at, "mad.lo.u32 %%r3, %%r3, %%r3, 1;\n");
    }
    snprintf(text + at, TEXT - (size_t)at,
             "mov.u64 %%rd3, %%clock64;\nWAIT:\nmov.u64 %%rd4, %%clock64;\nsub.s64 %%rd4, %%rd4, %%rd3;\n"
             "setp.lt.s64 %%p1, %%rd4, 2000;\n@%%p1 bra WAIT;\nadd.s64 %%rd2, %%rd2, 4096;\nadd.u32 %%r2, %%r2, 1;\n"
             "setp.lt.u32 %%p1, %%r2, %u;\n@%%p1 bra TURN;\nret;\n}\n",
             (u32)GROUPS_OF_STORES);
}

static u64 hits(u32 stores, u32 gap) {
    TestDevice d = {0};
    char text[TEXT];
    SimKernel *kernel;
    kernel_of(stores, gap, text);
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    d.gpu.sms = 1;
    DevicePtr out = device_memory(&d, NULL, GROUPS_OF_STORES * 4096);
    assert_int_equal(sim_find_kernel(d.sim, d.module, "join", &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &out};
    SimLaunchResult result = {0};
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    const u64 *counters = time_sm_counters(d.sim->machines[0], 0);
    assert_int_equal(counters[SMC_L1_GLOBAL_ST_SECTORS], GROUPS_OF_STORES * 4 * stores);
    u64 found = counters[SMC_L1_GLOBAL_ST_HITS];
    device_close(&d);
    return found;
}

// A line that a store brings is there as long after it as l1_store_there says, and for those that leave with it.
TEST(stores_just_behind_others_miss) {
    static const struct {
        u32 stores, gap, h200;
    } rows[] = {{2, 0, 256}, {2, 2, 256}, {2, 3, 0},    {2, 4, 0}, {2, 5, 0},
                {2, 6, 256}, {2, 8, 256}, {2, 14, 256}, {4, 4, 0}, {4, 8, 768}};
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        u64 found = hits(rows[i].stores, rows[i].gap);
        print_message("%u stores, gap %u: %llu, an H200 %u\n", rows[i].stores, rows[i].gap, (unsigned long long)found,
                      rows[i].h200);
        if (found > rows[i].h200 + 4 || found + 4 < rows[i].h200)
            fail_msg("%u stores, gap %u: %llu, an H200 %u", rows[i].stores, rows[i].gap, (unsigned long long)found,
                     rows[i].h200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stores_just_behind_others_miss)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
