// SPDX-License-Identifier: Apache-2.0
// Calls on gpus/h200.gpu, against what an H200 takes for a turn of a loop around one
// (bench/hwref/h200-stall-reasons.tsv, calls, 2026-11-23: instructions, wait and branch_resolving of a warp, of 64
// turns). The way back is a branch to where a register says, which is resolved 28 cycles later than others.
#include "sim/time/loop_testing.h"

enum { TURNS = 64, MORE_TURNS = 128 };

#define FMA "fma.rn.f32 %f1, %f1, %f1, %f1;\n"
#define LOOP(turn)                                                                                        \
    ".visible .entry k(.param .u64 out, .param .u32 turns) {\n.reg .b64 %rd<5>;\n.reg .b32 %r<4>;\n"      \
    ".reg .f32 %f<3>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [turns];\n"        \
    "mov.u32 %r2, %tid.x;\ncvt.rn.f32.u32 %f1, %r2;\nmov.u32 %r3, 0;\nmov.u64 %rd2, %clock64;\nTURN:\n"   \
    "add.u32 %r3, %r3, 1;\n" turn "setp.lt.u32 %p1, %r3, %r1;\n@%p1 bra TURN;\nmov.u64 %rd3, %clock64;\n" \
    "sub.s64 %rd3, %rd3, %rd2;\nst.global.u64 [%rd1], %rd3;\nst.global.f32 [%rd1+8], %f1;\nret;\n}\n"
#define CALLED                                                                                                     \
    ".func (.param .f32 back) called(.param .f32 x) {\n.reg .f32 %f<2>;\nld.param.f32 %f1, [x];\n" FMA FMA FMA FMA \
    "st.param.f32 [back], %f1;\nret;\n}\n"
#define CALL                                                                                                    \
    "{ .param .f32 x;\n.param .f32 back;\nst.param.f32 [x], %f1;\ncall.uni (back), called, (x);\nld.param.f32 " \
    "%f1, [back]; }\n"

static u64 play(const char *text, u32 turns) {
    return loop_cycles(
        &(LoopTest){.text = text, .kernel = "k", .threads = 32, .launches = 1, .bytes = 16, .values = {turns}});
}

static f64 turn_of(const char *text) { return (f64)(play(text, TURNS + MORE_TURNS) - play(text, TURNS)) / MORE_TURNS; }

TEST(a_return_is_resolved_later_than_other_branches) {
    f64 plain = turn_of(PTX_HEAD LOOP(FMA FMA FMA FMA)), called = turn_of(PTX_HEAD CALLED LOOP(CALL));
    print_message("a turn: %.1f cycles, with a call %.1f, an H200 83.5\n", plain, called);
    assert_true(called > 83.5 * 0.9 && called < 83.5 * 1.1);
    assert_true(called - plain > 2 * 10 + 26);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_return_is_resolved_later_than_other_branches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
