// SPDX-License-Identifier: Apache-2.0
// Divisions and roots of one warp on gpus/h200.gpu against an H200. Their fast path branches over the call of a
// subroutine, and where lanes differ they meet behind it, so that none begins before the one before it is over. Lanes
// alike: bench/hwref/h200-micro.tsv, throughput of one warp, eight chains. Lanes that differ: cycles that samples of
// examples/advice/held_out_34/dinghies.cu show between the special function unit's instruction, or the test ahead of
// it, and the instruction behind the BSYNC (2026-11-30, 855 samples of each instruction's issue).
#include "sim/time/loop_testing.h"

enum { TURNS = 64, CHAINS = 8, TEXT = 8192 };

static const struct {
    const char *name, *text;
    double alike, differ;
} rows[] = {{"div.rn.f32", "div.rn.f32 %%f%u, %%f%u, %%f9;\n", 44.2, 58.3},
            {"sqrt.rn.f32", "sqrt.rn.f32 %%f%u, %%f%u;\n", 42.8, 56.5}};

static const char head[] =
    PTX_HEAD ".visible .entry loop(.param .u64 out, .param .u32 turns) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n"
             ".reg .f32 %f<16>;\n.reg .pred %p<3>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [turns];\n"
             "mov.u32 %r3, %tid.x;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";

static double cycles_of(u32 row, bool differ) {
    char code[TEXT];
    int at = snprintf(code, TEXT, "%s", head);
    at +=
        snprintf(code + at, TEXT - (size_t)at,
                 "cvt.rn.f32.u32 %%f9, %s;\nfma.rn.f32 %%f9, %%f9, 0f00000000, 0f3F800000;\n", differ ? "%r3" : "%r1");
    for (u32 i = 0; i < CHAINS; i++)
        at += snprintf(code + at, TEXT - (size_t)at, "add.f32 %%f%u, %%f9, 0f3F000000;\n", i);
    at += snprintf(code + at, TEXT - (size_t)at, "mov.u32 %%r2, 0;\nbar.sync 0;\nmov.u64 %%rd4, %%clock64;\nTURN:\n");
    for (u32 i = 0; i < CHAINS; i++) at += snprintf(code + at, TEXT - (size_t)at, rows[row].text, i, i);
    at += snprintf(code + at, TEXT - (size_t)at,
                   "add.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%p1, %%r2, %%r1;\n@%%p1 bra TURN;\nbar.sync 0;\n"
                   "mov.u64 %%rd5, %%clock64;\nsub.s64 %%rd5, %%rd5, %%rd4;\nst.global.u64 [%%rd1], %%rd5;\n");
    for (u32 i = 0; i < CHAINS; i++)
        at += snprintf(code + at, TEXT - (size_t)at, "st.global.f32 [%%rd3+%u], %%f%u;\n", 1024 * (i + 1), i);
    snprintf(code + at, TEXT - (size_t)at, "ret;\n}\n");
    u64 cycles[2];
    for (u32 i = 0; i < 2; i++)
        cycles[i] = loop_cycles(&(LoopTest){.text = code,
                                            .kernel = "loop",
                                            .sms = 1,
                                            .threads = 32,
                                            .launches = 2,
                                            .bytes = 64 << 10,
                                            .values = {(i + 1) * TURNS}});
    return (double)(cycles[1] - cycles[0]) / (TURNS * CHAINS);
}

TEST(divisions_and_roots_take_as_long_as_on_an_h200) {
    for (u32 i = 0; i < WL_COUNT(rows); i++)
        for (u32 differ = 0; differ < 2; differ++) {
            double now = cycles_of(i, differ), h200 = differ ? rows[i].differ : rows[i].alike;
            print_message("%-12s %s %.1f cycles, an H200 %.1f\n", rows[i].name, differ ? "differ" : "alike ", now,
                          h200);
            if (now < 0.85 * h200 || now > 1.15 * h200) fail_msg("%s: %g, an H200 %g", rows[i].name, now, h200);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(divisions_and_roots_take_as_long_as_on_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
