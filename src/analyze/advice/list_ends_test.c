// SPDX-License-Identifier: Apache-2.0
// Unrolled lists whose end is looked for element by element: their loads could all be under way at once.
#include "analyze/advice/sampled_testing.h"

#define ELEMENT(n, place)                                                         \
    "ld.global.u32 %r8, [" place "+4096*" #n "]; setp.eq.s32 %p1, %r8, " #n ";\n" \
    "@%p1 bra out; add.s32 %r9, %r9, %r8;\n"
#define FIVE(place) ELEMENT(0, place) ELEMENT(1, place) ELEMENT(2, place) ELEMENT(3, place) ELEMENT(4, place)
#define LIST(elements) BEGIN "mov.u32 %r9, 0;\n" elements "out: st.global.u32 [%rd2], %r9; ret;"
#define LINKED(n) "cvt.s64.s32 %rd4, %r8; add.s64 %rd3, %rd3, %rd4;\n" ELEMENT(n, "%rd3")

// Part of the waits for loads that goes, where each test sends that part of the warps on; 0: not advised.
static f64 gone(const char *body, f64 goes_on) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    f64 runs = 1000, all = 0, part = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        if (pc && case_insn(&(CasePart){.view = view}, pc - 1)->kind == FLOW_BRANCH) runs *= goes_on;
        s.subject.places[pc].line = 7;
        subject_stall(&s.subject, pc, STALL_SELECTED, (u32)runs);
        if (waits_for_load(view, pc)) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, 5000), all += 5000;
    }
    sampled_end(&s);
    ask(&s, "branch-elimination");
    for (u32 i = 0; i < s.c.hits.len; i++) {
        const Hit *hit = s.c.hits.data[i];
        if (strstr(hit->what, "before the tests for the end")) part += samples_gone(hit, STALL_LONG_SCOREBOARD);
    }
    forget(&s);
    return part / all;
}

static void elements_are_loaded_before_their_tests(void **state) {
    (void)state;
    assert_float_equal(gone(LIST(FIVE("%rd3")), 0.98), 4.0 / 5, 0.01);
    assert_float_equal(gone(LIST(FIVE("%rd3")), 0.5), 0, 0);  // most lists are short
    assert_float_equal(gone(LIST(ELEMENT(0, "%rd3") ELEMENT(1, "%rd3")), 0.98), 0, 0);
    // Each element says where the next one is.
    assert_float_equal(gone(LIST(ELEMENT(0, "%rd3") LINKED(1) LINKED(2) LINKED(3) LINKED(4)), 0.98), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_are_loaded_before_their_tests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
