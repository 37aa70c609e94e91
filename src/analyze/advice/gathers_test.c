// SPDX-License-Identifier: Apache-2.0
// memory-transactions on what lanes gather at one index from several arrays, of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

// %r6: which element, as data says; %rd5 and %rd7: where it is in two arrays.
#define ELEMENTS(second)                                                                       \
    ".global .align 4 .b8 other[4096];\n" BEGIN "ld.global.u32 %r6, [%rd3];\n"                 \
    "mul.wide.s32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];\n" second \
    "ld.global.f32 %f2, [%rd7]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd3], %f3; ret;"

// Issues that go, -1: nothing was found.
static f64 issues_gone(const char *body) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    sample_waits(&s, view, 400);
    sampled_end(&s);
    const Hit *hit = ask(&s, "memory-transactions");
    f64 gone = hit ? hit->change.issues : -1;
    if (hit) assert_non_null(strstr(hit->text->why, "sector of 32 bytes"));  // its own words, not the rule's
    forget(&s);
    return gone;
}

static void elements_of_one_number_come_together(void **state) {
    (void)state;
    assert_float_equal(issues_gone(ELEMENTS("mov.u64 %rd6, other; add.s64 %rd7, %rd6, %rd4;\n")), 10, 1e-6);
    // Two elements of one array, and of another number.
    assert_float_equal(issues_gone(ELEMENTS("add.s64 %rd7, %rd5, 4096;\n")), -1, 1e-6);
    assert_float_equal(issues_gone(ELEMENTS("mov.u64 %rd6, other; add.s64 %rd8, %rd6, %rd4; add.s64 %rd7, %rd8, 4;\n")),
                       -1, 1e-6);
}

// %r6: which structure of so many bytes; parts of it at its begin and so far on.
#define PARTS(bytes, on)                                                                              \
    BEGIN "ld.global.u32 %r6, [%rd3]; mul.wide.s32 %rd4, %r6, " bytes "; add.s64 %rd5, %rd1, %rd4;\n" \
          "ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd5+" on "]; add.f32 %f3, %f1, %f2;\n"     \
          "st.global.f32 [%rd3], %f3; ret;"

static void parts_of_a_structure_come_together(void **state) {
    (void)state;
    assert_float_equal(issues_gone(PARTS("128", "64")), 10, 1e-6);
    assert_float_equal(issues_gone(PARTS("128", "16")), -1, 1e-6);  // in one sector already
    assert_float_equal(issues_gone(PARTS("32", "64")), -1, 1e-6);   // of another structure
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_of_one_number_come_together),
                                       cmocka_unit_test(parts_of_a_structure_come_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
