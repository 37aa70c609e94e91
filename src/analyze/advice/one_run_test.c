// SPDX-License-Identifier: Apache-2.0
// branch-elimination on loops of which a test lets in one run of turns, with numbers that the launch had.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"

enum { TURNS = 256, THREADS = 128 };

// A thread's sum, of which a turn adds something where the test lets it.
#define SUM(test, besides)                                                                                           \
    BEGIN "ld.param.u32 %r7, [n]; mov.u32 %r9, 0; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;\n"               \
          "LOOP: " test "@%p1 bra NEXT; ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f2, %f1;\n"                         \
          "NEXT: " besides "add.s64 %rd3, %rd3, 4; add.s32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, %r7; @%p2 bra LOOP;\n" \
          "add.f32 %f2, %f2, %f3; st.global.f32 [%rd1], %f2; ret;"
#define UP_TO_THE_DIAGONAL "setp.gt.s32 %p1, %r9, %r1;\n"
#define WITHIN_A_WINDOW "add.s32 %r10, %r9, 16; setp.lt.s32 %p3, %r10, %r1; @%p3 bra NEXT;\n" UP_TO_THE_DIAGONAL
#define EACH_OTHER "and.b32 %r10, %r9, 16; setp.ne.s32 %p1, %r10, 0;\n"
#define OF_THE_DATA "ld.global.u32 %r10, [%rd3+4096]; setp.gt.s32 %p1, %r10, %r1;\n"
#define NEARLY_ALWAYS "add.s32 %r10, %r1, 240; setp.gt.s32 %p1, %r9, %r10;\n"

// Part of the loop's issues that go, -1: it is not found.
static f64 gone_of(const char *body, u32 n) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    if (n) subject_launched(&s.subject, n);
    s.launch.block[0] = THREADS;
    sample_waits(&s, view, 200);
    sampled_end(&s);
    const Hit *hit = ask(&s, "branch-elimination");
    bool found = hit && strstr(hit->what, "only from the first turn");
    f64 gone = found ? hit->change.issues / s.c.parts[0].loops[0].active : -1;
    forget(&s);
    return gone;
}

// Of eight instructions of a turn the test and its branch go, and of four the part of the turns in which no lane is let
// in; what is done in the others stays. Warps from 0, 32 and 64 on are tried: 96 of 256 turns at most.
static void turns_of_one_run_stay(void **state) {
    (void)state;
    f64 let_in = (32 + 64 + 96) / 3.0 / TURNS;
    assert_float_equal(gone_of(SUM(UP_TO_THE_DIAGONAL, ""), TURNS), (2 + 4 * (1 - let_in)) / 8, 0.03);
    let_in = (32 + 48 + 48) / 3.0 / TURNS;
    assert_float_equal(gone_of(SUM(WITHIN_A_WINDOW, ""), TURNS), (5 + 4 * (1 - let_in)) / 11, 0.03);
}

static void other_turns_are_needed(void **state) {
    (void)state;
    assert_near(gone_of(SUM(UP_TO_THE_DIAGONAL, ""), 0), -1);  // how many turns there are is not known
    assert_near(gone_of(SUM(EACH_OTHER, ""), TURNS), -1);
    assert_near(gone_of(SUM(OF_THE_DATA, ""), TURNS), -1);
    assert_near(gone_of(SUM(NEARLY_ALWAYS, ""), TURNS), -1);
    assert_near(gone_of(SUM(UP_TO_THE_DIAGONAL, "fma.rn.f32 %f3, %f3, %f2, %f2; "), TURNS), -1);
    assert_near(gone_of(SUM(UP_TO_THE_DIAGONAL, "st.global.f32 [%rd3+8192], %f2; "), TURNS), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns_of_one_run_stay),
                                       cmocka_unit_test(other_turns_are_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
