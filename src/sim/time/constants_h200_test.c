// SPDX-License-Identifier: Apache-2.0
// Constants with fixed addresses on gpus/h200.gpu, against what an H200 takes (bench/hwref/h200-constant-kinds.tsv,
// 2026-11-22): loads of N places in turns, each xored and added, and parameters that nobody has read yet. There the
// first 54 loads of a round are made before the clock starts, so that of L loads that take C cycles each one that is
// not takes (C L - 54 * 8) / (L - 54).
#include <stdlib.h>

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

enum { TEXT = 1 << 17, PARAMETERS = 256 };
#define SIZE(at) (TEXT - (size_t)(at))
#define DECLARED ".reg .b64 %%rd<8>;\n.reg .b32 %%r<16>;\n.reg .pred %%p<2>;\nld.param.u64 %%rd1, [out];\n"

// Two rounds over `places`, `words` apart, the second one between two clocks.
static char *walk_of(u32 places, u32 words) {
    char *text = malloc(TEXT);
    int at = snprintf(text, TEXT,
                      PTX_HEAD ".const .align 4 .b32 table[16384];\n.visible .entry k(.param .u64 out) {\n" DECLARED
                               "mov.u32 %%r1, %%tid.x;\n");
    for (u32 round = 0; round < 2; round++) {
        at += snprintf(text + at, SIZE(at), "bar.sync 0;\nmov.u64 %%rd%u, %%clock64;\n", 2 + round);
        for (u32 i = 0; i < places; i++)
            at += snprintf(text + at, SIZE(at),
                           "ld.const.u32 %%r2, [table+%u];\nxor.b32 %%r1, %%r1, %%r2;\nadd.u32 %%r1, %%r1, 1;\n",
                           (i * words + round) * 4);
    }
    snprintf(text + at, SIZE(at),
             "bar.sync 0;\nmov.u64 %%rd4, %%clock64;\nsub.s64 %%rd4, %%rd4, %%rd3;\nst.global.u64 [%%rd1], %%rd4;\n"
             "st.global.u32 [%%rd1+8], %%r1;\nret;\n}\n");
    return text;
}

// What the kernel writes to its output; the second of two launches, whose code and constants the L2 has.
static void play(char *text, u32 warps, u64 *out, u32 count) {
    TestDevice d = {0};
    SimKernel *kernel;
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    u64 params[PARAMETERS] = {device_memory(&d, NULL, 4096)};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "k", &kernel), STATUS_OK);
    for (u32 i = 0; i < 2; i++) {
        SimLaunch launch = {.kernel = kernel, .grid = {1, 1, 1}, .block = {warps * 32, 1, 1}, .params = params};
        SimLaunchResult result = {0};
        assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    }
    memcpy(out, device_view(&d, params[0], count * sizeof *out), count * sizeof *out);
    device_close(&d);
    free(text);
}

static void expect(u32 places, u32 words, u32 warps, double h200, double tolerance) {
    u64 cycles;
    play(walk_of(places, words), warps, &cycles, 1);
    double each = (double)cycles / places;
    print_message("%4u places %2u words apart, %2u warps: %.1f, an H200 %.1f\n", places, words, warps, each, h200);
    assert_true(each > h200 * (1 - tolerance) && each < h200 * (1 + tolerance));
}

static double missing(double cycles, double loads) { return (cycles * loads - 54 * 8) / (loads - 54); }

TEST(what_the_cache_holds_is_at_hand) {
    expect(16, 16, 1, 10.0, 0.25);
    expect(32, 16, 1, 10.1, 0.25);
    expect(8, 64, 1, 10.1, 0.35);
}

// A line of 64 bytes stalls the warp, and the others of the SM that need it, once.
TEST(what_it_does_not_hold_stalls_warps) {
    expect(256, 16, 1, missing(56.58, 256), 0.15);
    expect(256, 16, 16, missing(57.80, 256), 0.15);
    expect(64, 64, 1, missing(56.58, 256), 0.15);
    expect(512, 4, 1, missing(23.27, 512), 0.2);
}

// The launch brings the parameters as far as the cache behind: 83 cycles where it takes 25 when the line is there.
TEST(parameters_are_missed_once_a_line) {
    char *text = malloc(TEXT);
    int at = snprintf(text, TEXT,
                      PTX_HEAD ".visible .entry k(.param .u64 out, .param .align 8 .b8 more[2000]) {\n" DECLARED
                               "mov.u32 %%r1, %%tid.x;\n");
    static const u32 offsets[] = {600, 604, 856, 1112};
    for (u32 i = 0; i < WL_COUNT(offsets); i++)
        at += snprintf(text + at, SIZE(at),
                       "bar.sync 0;\nmov.u64 %%rd2, %%clock64;\nld.param.u32 %%r2, [more+%u];\nadd.u32 %%r1, %%r1, "
                       "%%r2;\nbar.sync 0;\nmov.u64 %%rd3, %%clock64;\nsub.s64 %%rd3, %%rd3, %%rd2;\nst.global.u64 "
                       "[%%rd1+%u], %%rd3;\n",
                       offsets[i], 8 * i);
    snprintf(text + at, SIZE(at), "st.global.u32 [%%rd1+64], %%r1;\nret;\n}\n");
    u64 cycles[WL_COUNT(offsets)];
    play(text, 1, cycles, WL_COUNT(offsets));
    print_message("%u %u %u %u\n", (u32)cycles[0], (u32)cycles[1], (u32)cycles[2], (u32)cycles[3]);
    for (u32 i = 0; i < WL_COUNT(offsets); i++)
        if (i != 1) assert_in_range(cycles[i] - cycles[1], 50, 66);
}

// One of `entries` words 64 bytes apart in each turn.
static char *turns_of(u32 entries) {
    char *text = malloc(TEXT);
    snprintf(text, TEXT,
             PTX_HEAD ".const .align 4 .b32 table[16384];\n.visible .entry k(.param .u64 out) {\n" DECLARED
                      "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, 0;\nmov.u32 %%r3, 0;\nmov.u64 %%rd2, table;\nbar.sync "
                      "0;\nmov.u64 %%rd3, %%clock64;\nL:\nmul.wide.u32 %%rd4, %%r2, 64;\nadd.s64 %%rd4, %%rd4, "
                      "%%rd2;\nld.const.u32 %%r4, [%%rd4];\nadd.u32 %%r1, %%r1, %%r4;\nadd.u32 %%r2, %%r2, "
                      "1;\nsetp.eq.u32 %%p1, %%r2, %u;\nselp.b32 %%r2, 0, %%r2, %%p1;\nadd.u32 %%r3, %%r3, "
                      "1;\nsetp.ne.u32 %%p1, %%r3, 1024;\n@%%p1 bra L;\nbar.sync 0;\nmov.u64 %%rd4, "
                      "%%clock64;\nsub.s64 %%rd4, %%rd4, %%rd3;\nst.global.u64 [%%rd1], %%rd4;\nst.global.u32 "
                      "[%%rd1+8], %%r1;\nret;\n}\n",
             entries);
    return text;
}

// bench/hwref/h200-constant-turns.tsv, uniform, 64 bytes apart: what a turn takes that misses, beside one that does
// not, as the arithmetic is another.
static void expect_turns(u32 entries, u32 warps, double more) {
    u64 cycles, at_hand;
    play(turns_of(4), warps, &at_hand, 1);
    play(turns_of(entries), warps, &cycles, 1);
    double misses = ((double)cycles - (double)at_hand) / 1024;
    print_message("%u entries, %u warps: %.1f cycles more than 4, an H200 %.1f\n", entries, warps, misses, more);
    assert_true(misses > more - 5 && misses < more + 5);
}

TEST(four_lines_that_turns_index_are_at_hand) {
    expect_turns(2, 1, 29.50 - 29.62);
    expect_turns(6, 1, 88.62 - 29.62);
    expect_turns(6, 4, 88.62 - 29.62);
    expect_turns(32, 1, 89.96 - 29.62);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_lines_that_turns_index_are_at_hand),
        cmocka_unit_test(what_the_cache_holds_is_at_hand),
        cmocka_unit_test(what_it_does_not_hold_stalls_warps),
        cmocka_unit_test(parameters_are_missed_once_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
