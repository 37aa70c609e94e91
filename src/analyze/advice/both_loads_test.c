// SPDX-License-Identifier: Apache-2.0
// branch-elimination on a load behind a test of the one beside it, of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

enum { FIRST_WAIT = 400, SECOND_WAIT = 300, ISSUES = 10 };

#define SEARCH(test, at)                                                                   \
    BEGIN                                                                                  \
    "mov.u32 %r8, %r4;\n"                                                                  \
    "L: mul.wide.s32 %rd4, %r8, 4; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r9, [%rd5];\n" \
    "add.u32 %r6, %r9, 1;\n" test "@%p1 bra NEXT;\n"                                       \
    "ld.global.u32 %r10, [%rd5+" at "]; setp.gt.u32 %p2, %r10, %r4; @%p2 bra OUT;\n"       \
    "NEXT: shr.u32 %r8, %r8, 1; setp.ne.u32 %p3, %r8, 0; @%p3 bra L;\n"                    \
    "OUT: st.global.u32 [%rd3], %r6; ret;"
#define OF_THE_FIRST "setp.gt.u32 %p1, %r9, %r4;\n"
#define OF_THE_PLACE "setp.gt.u32 %p1, %r8, 100;\n"

static f64 stalls_of_both(const char *body) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    u32 waits = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES);
        if (waits_for_load(view, pc))
            subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, waits++ ? SECOND_WAIT : FIRST_WAIT);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "branch-elimination");
    f64 stalls = hit && strstr(hit->what, "Load both") ? hit->change.stalls : 0;
    forget(&s);
    return stalls;
}

// The first load is waited for as before.
static void both_loads_start_before_the_test(void **state) {
    (void)state;
    assert_float_equal(stalls_of_both(SEARCH(OF_THE_FIRST, "4")), SECOND_WAIT, 1e-6);
    assert_float_equal(stalls_of_both(SEARCH(OF_THE_FIRST, "4096")), 0, 1e-6);
    assert_float_equal(stalls_of_both(SEARCH(OF_THE_PLACE, "4")), 0, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_loads_start_before_the_test)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
