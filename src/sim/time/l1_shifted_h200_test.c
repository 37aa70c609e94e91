// SPDX-License-Identifier: Apache-2.0
// Loads of neighbouring words that do not begin at a line, on gpus/h200.gpu, against what an H200 takes
// (bench/hwref/h200-l1-shifted.tsv, 2026-11-29, driver 580.159.04, CUDA 13.0): as long as those that do.
#include <stdlib.h>

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

enum { TEXT = 1 << 14, TURNS = 64, LOADS = 8, WARPS = 32 };

// Cycles of the SM for a load of a warp: eight in a turn, of 32 lanes side by side, `shift` bytes behind a line.
static f64 cycles_of(u32 bytes, u32 shift) {
    char *text = malloc(TEXT);
    int at =
        snprintf(text, TEXT,
                 PTX_HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %%rd<32>;\n.reg .b32 %%r<32>;\n"
                          ".reg .pred %%p<2>;\nld.param.u64 %%rd1, [out];\nmov.u32 %%r1, %%tid.x;\n"
                          "and.b32 %%r2, %%r1, 31;\nmul.wide.u32 %%rd2, %%r2, %u;\nadd.s64 %%rd2, %%rd2, %%rd1;\n"
                          "mov.u32 %%r3, 0;\nmov.u64 %%rd6, 0;\n"
                          "L: setp.eq.u32 %%p1, %%r3, 2;\n@%%p1 mov.u64 %%rd6, %%clock64;\n"
                          "and.b32 %%r4, %%r3, 1;\nmul.wide.u32 %%rd3, %%r4, 2048;\nadd.s64 %%rd3, %%rd3, %%rd2;\n",
                 bytes);
    for (u32 k = 0, from = 1024 + shift; k < LOADS; k++, from += 256) {
        if (bytes == 8)
            at += snprintf(text + at, TEXT - (size_t)at, "ld.global.v2.u32 {%%r%u, %%r%u}, [%%rd3+%u];\n", 10 + k,
                           20 + k, from);
        else
            at += snprintf(text + at, TEXT - (size_t)at, "ld.global.u32 %%r%u, [%%rd3+%u];\n", 10 + k, from);
    }
    for (u32 k = 0; k < LOADS; k++)
        for (u32 word = 0; word < bytes / 4; word++)
            at += snprintf(text + at, TEXT - (size_t)at, "xor.b32 %%r1, %%r1, %%r%u;\n", 10 * (word + 1) + k);
    snprintf(text + at, TEXT - (size_t)at,
             "add.u32 %%r3, %%r3, 1;\nsetp.ne.u32 %%p1, %%r3, %u;\n@%%p1 bra L;\nbar.sync 0;\n"
             "mov.u64 %%rd7, %%clock64;\nsub.s64 %%rd7, %%rd7, %%rd6;\nst.global.u64 [%%rd1], %%rd7;\n"
             "st.global.u32 [%%rd1+8], %%r1;\nret;\n}\n",
             TURNS + 2);
    TestDevice d = {0};
    SimKernel *kernel;
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    u64 params[1] = {device_memory(&d, NULL, 16384)};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "k", &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {1, 1, 1}, .block = {WARPS * 32, 1, 1}, .params = params};
    SimLaunchResult result = {0};
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    u64 cycles = *(const u64 *)device_view(&d, params[0], 8);
    device_close(&d);
    free(text);
    return (f64)cycles / (TURNS * LOADS * WARPS);
}

TEST(words_of_two_lines_take_no_longer) {
    static const u32 shifts[] = {8, 32, 72, 120};
    for (u32 bytes = 4; bytes <= 8; bytes += 4) {
        f64 aligned = cycles_of(bytes, 0);
        assert_true(aligned > bytes / 4 * 0.95);  // 128 bytes a cycle
        for (u32 i = 0; i < WL_COUNT(shifts); i++) {
            f64 shifted = cycles_of(bytes, shifts[i]);
            print_message("%u bytes, %u behind a line: %.2f cycles, at its begin %.2f\n", bytes, shifts[i], shifted,
                          aligned);
            assert_true(shifted < aligned * 1.05);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_two_lines_take_no_longer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
