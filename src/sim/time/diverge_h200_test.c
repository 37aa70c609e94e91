// SPDX-License-Identifier: Apache-2.0
// What it costs when lanes part, on gpus/h200.gpu against an H200 (bench/hwref/h200-diverge.tsv,
// bench/micro/diverge.cu): a turn of a loop around a side of 16 multiply-adds that all lanes, none or half of them
// take.
#include <math.h>

#include "sim/time/loop_testing.h"

enum { TURNS = 64, MORE_TURNS = 128 };

#define FMA "fma.rn.f32 %f1, %f1, %f2, %f3;\n"
#define FMA_4 FMA FMA FMA FMA
#define IF                                                                                                             \
    ".visible .entry k(.param .u64 out, .param .u32 turns, .param .u32 lanes) {\n.reg .b64 %rd<5>;\n"                  \
    ".reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .pred %p<3>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [turns];\n"   \
    "ld.param.u32 %r4, [lanes];\nmov.u32 %r2, %tid.x;\nsub.u32 %r5, %r2, %r4;\nshr.s32 %r5, %r5, 31;\n"                \
    "cvt.rn.f32.u32 %f1, %r2;\nmov.f32 %f2, 0f3F000000;\nmov.f32 %f3, 0f3E800000;\nmov.u32 %r3, 0;\n"                  \
    "mov.u64 %rd2, %clock64;\nTURN:\nand.b32 %r6, %r3, 15;\nmov.u32 %r7, 1;\nshl.b32 %r6, %r7, %r6;\n"                 \
    "and.b32 %r6, %r6, %r5;\nadd.u32 %r3, %r3, 1;\nsetp.eq.u32 %p2, %r6, 0;\n@%p2 bra JOIN;\n" FMA_4 FMA_4 FMA_4 FMA_4 \
    "JOIN:\nadd.f32 %f1, %f1, 0f3F800000;\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra TURN;\nmov.u64 %rd3, %clock64;\n"      \
    "sub.s64 %rd3, %rd3, %rd2;\nst.global.u64 [%rd1], %rd3;\nst.global.f32 [%rd1+8], %f1;\nret;\n}\n"

static u64 play(u32 turns, u32 lanes) {
    return loop_cycles(&(LoopTest){
        .text = PTX_HEAD IF, .kernel = "k", .threads = 32, .launches = 1, .bytes = 16, .values = {turns, lanes}});
}

static f64 turn_of(u32 lanes) { return (f64)(play(TURNS + MORE_TURNS, lanes) - play(TURNS, lanes)) / MORE_TURNS; }

static f64 compare(const char *name, u32 lanes) {
    char row[64];
    snprintf(row, sizeof row, "diverge/one/%s/1", name);
    f64 here = turn_of(lanes), there = hwref_value("h200-diverge.tsv", row);
    print_message("%s: %.1f cycles, an H200 %.1f\n", name, here, there);
    assert_true(fabs(here / there - 1) < 0.1);
    return here;
}

TEST(lanes_that_part_meet_again_later) {
    f64 all = compare("all", 32), half = compare("half", 16);
    compare("none", 0);
    assert_true(half > all + 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_that_part_meet_again_later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
