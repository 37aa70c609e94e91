// SPDX-License-Identifier: Apache-2.0
// register-reuse on arrays in local memory, of which there are only samples, made up.
#include <math.h>

#include "analyze/advice/sampled_testing.h"

enum { ISSUES = 10, ELEMENTS = 8 };

// Adds to the element whose number `place` says.
#define SCORES(place)                                                                                   \
    BEGIN ".local .align 4 .b8 scores[32]; ld.global.u32 %r6, [%rd3]; " place "and.b32 %r6, %r6, 7;\n"  \
          "shl.b32 %r7, %r6, 2; mov.u32 %r8, scores; add.s32 %r8, %r8, %r7; ld.local.u32 %r9, [%r8];\n" \
          "add.s32 %r9, %r9, 1; st.local.u32 [%r8], %r9; st.global.u32 [%rd3], %r9; ret;"

// 0: not advised.
static f64 issues_gone(const char *body, u32 bytes) {
    Sampled s;
    ProfileFunction function = {.name = "scores", .local_bytes = bytes};
    KernelView *view = sampled_begin(&s, body);
    view->function = &function;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES);
    sampled_end(&s);
    const Hit *hit = ask(&s, "register-reuse");
    f64 issues = hit ? hit->change.issues : 0;
    forget(&s);
    return issues;
}

// In registers each element is compared with the number, for the load and for the store; larger arrays are not chosen
// from, and no thread has registers for more than 1020 bytes.
static void elements_by_data_are_chosen(void **state) {
    (void)state;
    f64 chosen = issues_gone(SCORES(""), ELEMENTS * 4), large = issues_gone(SCORES(""), 1020);
    assert_true(fabs(large - chosen - 2 * ELEMENTS * ISSUES) < 1e-9);
    assert_true(issues_gone(SCORES(""), 1024) == 0);
    f64 known = issues_gone(SCORES("mov.u32 %r6, %r1;\n"), ELEMENTS * 4);
    assert_true(known > chosen);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_by_data_are_chosen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
