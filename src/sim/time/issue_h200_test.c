// SPDX-License-Identifier: Apache-2.0
// When warps issue on gpus/h200.gpu, against what an H200 takes (bench/hwref/h200-issue.tsv, 2026-11-22): loops of a
// chain of f32 and a branch by many warps, chains of units of two kinds, accesses in a row.
#include <stdlib.h>

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

enum { TEXT = 1 << 15, TURNS = 400, PAIRS = 32, MOST_WARPS = 32 };
#define SIZE(at) (TEXT - (size_t)(at))

// Cycles from the first clock to the second, of the warp that takes longest; of two launches the second, which finds
// its code.
static double play(char *text, u32 warps) {
    TestDevice d = {0};
    SimKernel *kernel;
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    u64 params[] = {device_memory(&d, NULL, 1 << 16)}, cycles[MOST_WARPS], most = 0;
    assert_int_equal(sim_find_kernel(d.sim, d.module, "k", &kernel), STATUS_OK);
    for (u32 i = 0; i < 2; i++) {
        SimLaunch launch = {.kernel = kernel, .grid = {1, 1, 1}, .block = {warps * 32, 1, 1}, .params = params};
        SimLaunchResult result = {0};
        assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    }
    memcpy(cycles, device_view(&d, params[0], warps * sizeof *cycles), warps * sizeof *cycles);
    for (u32 i = 0; i < warps; i++) most = cycles[i] > most ? cycles[i] : most;
    device_close(&d);
    free(text);
    return (double)most;
}

// `body` between two clocks.
static char *timed(const char *body) {
    char *text = malloc(TEXT);
    int at =
        snprintf(text, TEXT,
                 PTX_HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %%rd<8>;\n.reg .b32 %%r<64>;\n.reg .f32 "
                          "%%f<8>;\n.reg .pred %%p<3>;\n.shared .align 4 .b8 words[8192];\nld.param.u64 %%rd1, "
                          "[out];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%ntid.x;\nand.b32 %%r4, %%r1, 31;\n"
                          "shl.b32 %%r4, %%r4, 2;\nmov.u32 %%r5, words;\nadd.u32 %%r4, %%r4, %%r5;\n"
                          "cvt.rn.f32.u32 %%f1, %%r1;\nmov.u32 %%r3, 0;\nshr.u32 %%r6, %%r1, 5;\nmul.wide.u32 "
                          "%%rd5, %%r6, 8;\nadd.s64 %%rd1, %%rd1, %%rd5;\nbar.sync 0;\nmov.u64 %%rd2, "
                          "%%clock64;\n");
    at += snprintf(text + at, SIZE(at), "%s", body);
    snprintf(text + at, SIZE(at),
             "mov.u64 %%rd3, %%clock64;\nsub.s64 %%rd3, %%rd3, %%rd2;\nst.global.u64 [%%rd1], %%rd3;\n"
             "st.global.f32 [%%rd1+4096], %%f1;\nst.global.u32 [%%rd1+8192], %%r1;\nret;\n}\n");
    return text;
}

static void expect(const char *what, u32 warps, double cycles, double h200, double tolerance) {
    print_message("%s, %u warps: %.1f, an H200 %.1f\n", what, warps, cycles, h200);
    assert_true(cycles > h200 * (1 - tolerance) && cycles < h200 * (1 + tolerance));
}

static void expect_loop(u32 fmas, u32 warps, double h200, double tolerance) {
    char body[8192], what[64];
    // The number of turns is not known when it is compiled.
    int at = snprintf(body, sizeof body, "mul.lo.u32 %%r7, %%r2, %u;\nTURN:\n", TURNS);
    for (u32 i = 0; i < fmas; i++)
        at += snprintf(body + at, sizeof body - (size_t)at, "fma.rn.f32 %%f1, %%f1, %%f1, %%f1;\n");
    snprintf(body + at, sizeof body - (size_t)at,
             "add.u32 %%r3, %%r3, %%r2;\nsetp.lt.u32 %%p1, %%r3, %%r7;\n@%%p1 bra TURN;\n");
    snprintf(what, sizeof what, "a turn of %u fma", fmas);
    expect(what, warps, play(timed(body), warps) / TURNS, h200, tolerance);
}

// One warp: the predicate of the branch after 13 cycles, the branch itself 10. 16 and 32: nearly an instruction a cycle
// and scheduler, as they take turns; with the oldest first, 10 % less.
TEST(warps_take_turns_in_loops) {
    expect_loop(2, 1, 29, 0.1);
    expect_loop(16, 1, 71, 0.05);
    expect_loop(64, 1, 263, 0.02);
    expect_loop(64, 16, 274.9, 0.03);
    expect_loop(16, 32, 153.3, 0.03);
    expect_loop(64, 32, 540.5, 0.03);
}

static double pairs(const char *one, const char *two, u32 count) {
    char body[8192];
    int at = 0;
    for (u32 i = 0; i < count; i++) at += snprintf(body + at, sizeof body - (size_t)at, "%s\n%s\n", one, two);
    return play(timed(body), 1);
}

// What PAIRS more take: what else is between the clocks, the first value's way among it, is not of the chain.
static void expect_pair(const char *what, const char *one, const char *two, double h200) {
    expect(what, 1, (pairs(one, two, 2 * PAIRS) - pairs(one, two, PAIRS)) / PAIRS, h200, 0.04);
}

TEST(results_come_later_to_units_of_another_kind) {
    const char *logic = "shf.l.wrap.b32 %r1, %r1, %r1, 5;", *product = "mad.lo.s32 %r1, %r1, %r1, %r1;";
    const char *fma = "fma.rn.f32 %r1, %r1, %r1, %r1;", *special = "ex2.approx.ftz.f32 %r1, %r1;";
    expect_pair("shf, shf", logic, logic, 8);
    expect_pair("shf, imad", logic, product, 10);
    expect_pair("imad, imad", product, product, 8);
    expect_pair("ffma, ffma", fma, fma, 8);
    expect_pair("ffma, shf", fma, logic, 10);
    expect_pair("ffma, ex2", fma, special, 23);
}

TEST(a_warp_issues_accesses_four_cycles_apart) {
    for (u32 warps = 1; warps <= 4; warps *= 2) {
        double cycles[2];
        for (u32 k = 0; k < 2; k++) {
            char body[2048];
            int at = 0;
            for (u32 i = 0; i < 8u << k; i++)
                at +=
                    snprintf(body + at, sizeof body - (size_t)at, "st.volatile.shared.u32 [%%r4+%u], %%r1;\n", 128 * i);
            cycles[k] = play(timed(body), warps);
        }
        expect("an access", warps, (cycles[1] - cycles[0]) / 8, 4.4, 0.15);
    }
}

// Cycles of a launch of CTAs of 256 threads: 64 dependent f32 products (`busy` of bench/micro/stalls.cu).
static double cycles_of_busy(u32 ctas) {
    char text[8192];
    TestDevice d = {0};
    SimKernel *kernel;
    int at = snprintf(text, sizeof text,
                      PTX_HEAD ".visible .entry k(.param .u64 out) {\n.reg .b32 %%r<3>;\n.reg .f32 %%f<3>;\n"
                               ".reg .pred %%p<2>;\nmov.u32 %%r1, %%tid.x;\ncvt.rn.f32.u32 %%f1, %%r1;\n");
    for (u32 i = 0; i < 64; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "fma.rn.f32 %%f1, %%f1, %%f1, %%f1;\n");
    snprintf(text + at, sizeof text - (size_t)at,
             "setp.neu.f32 %%p1, %%f1, 0f47F12000;\n@%%p1 bra END;\ntrap;\nEND: ret;\n}\n");
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true, .flush_caches = true});
    u64 params[] = {0};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "k", &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {ctas, 1, 1}, .block = {256, 1, 1}, .params = params};
    SimLaunchResult result = {0};
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    device_close(&d);
    return (double)result.cycles;
}

// Of CTAs that do the same beside each other the first are through first: while the last ones run, the others' ends and
// the next ones' begins pass (h200-stall-reasons.tsv, busy; 5,374 and 14,937 cycles where all take turns).
TEST(ctas_go_one_after_the_other) {
    expect("busy, 132 CTAs", 8, cycles_of_busy(132), 3485, 0.03);
    expect("busy, 1,056 CTAs", 8, cycles_of_busy(1056), 4504, 0.03);
    expect("busy, 8,448 CTAs", 8, cycles_of_busy(8448), 13301, 0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctas_go_one_after_the_other),
        cmocka_unit_test(warps_take_turns_in_loops),
        cmocka_unit_test(results_come_later_to_units_of_another_kind),
        cmocka_unit_test(a_warp_issues_accesses_four_cycles_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
