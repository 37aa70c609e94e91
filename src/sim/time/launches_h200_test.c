// SPDX-License-Identifier: Apache-2.0
// What a launch leaves to the next one on gpus/h200.gpu: lines in the L2, none in the L1, addresses translated. On an
// H200 loads of 32 lines one after the other take 667 to 1,021 cycles each in a kernel's first launch, 290 to 338 in
// the second and third, the first of them no more than 80 longer (bench/hwref/h200-load-order.tsv, kept).
#include "sim/time/loop_testing.h"

// `name`: so many loads of lines, each when the one before is there.
#define LOAD "ld.global.u32 %r2, [%rd3];\ncvt.u64.u32 %rd4, %r2;\nadd.s64 %rd3, %rd3, %rd4;\nadd.s64 %rd3, %rd3, 128;\n"
#define KERNEL(name, loads)                                                                                      \
    ".visible .entry " name "(.param .u64 out, .param .u32 a, .param .u32 b) {\n.reg .b64 %rd<9>;\n"             \
    ".reg .b32 %r<5>;\nld.param.u64 %rd1, [out];\nadd.s64 %rd3, %rd1, 1024;\nmov.u64 %rd5, %clock64;\n" loads    \
    "mov.u64 %rd6, %clock64;\nsub.s64 %rd6, %rd6, %rd5;\nadd.s64 %rd6, %rd6, %rd3;\nsub.s64 %rd6, %rd6, %rd1;\n" \
    "st.global.u64 [%rd1], %rd6;\nret;\n}\n"

enum { LOADS = 8, WAY = 1024 + 128 * LOADS };  // WAY: what the address has moved, and is added to the cycles

static double cycles_of_a_load(u32 launches) {
    static const char text[] = PTX_HEAD KERNEL("chase", LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD);
    LoopTest test = {
        .text = text, .kernel = "chase", .sms = 1, .threads = 1, .launches = launches, .bytes = 1 << 14, .at = 0};
    return (double)(loop_cycles(&test) - WAY) / LOADS;
}

TEST(the_l1_is_empty_when_a_launch_begins) {
    double first = cycles_of_a_load(1), second = cycles_of_a_load(2), third = cycles_of_a_load(3);
    print_message("cycles of a load %.0f, %.0f, %.0f, an H200 766, 306, 306\n", first, second, third);
    assert_true(second > 0.85 * 306 && second < 1.15 * 306);
    assert_true(third > 0.85 * 306 && third < 1.15 * 306);
    assert_true(first > second);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_l1_is_empty_when_a_launch_begins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
