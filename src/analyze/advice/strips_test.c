// SPDX-License-Identifier: Apache-2.0
// register-reuse by several turns of a loop around another, on kernels of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

// In each turn of a loop around it, a loop goes over an array: `first` before it, `change` behind its load.
#define SWEEPS(first, change)                                                                              \
    BEGIN "mov.u32 %r6, 0;\n"                                                                              \
          "around: " first "mov.u64 %rd4, %rd3; mov.u32 %r7, 0;\n"                                         \
          "turn: ld.global.u32 %r8, [%rd4]; add.s32 %r9, %r8, %r6; " change "st.global.u32 [%rd4], %r9;\n" \
          "add.s64 %rd4, %rd4, 4096; add.s32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, %r5; @%p1 bra turn;\n"     \
          "add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, %r5; @%p2 bra around; ret;"

static const Hit *ask_for_turns(Sampled *s, const char *body) {
    const KernelView *view = sampled_begin(s, body);
    sample_waits(s, view, 1000);
    sampled_end(s);
    const Hit *hit = ask(s, "register-reuse");
    return hit && strstr(hit->what, "Take 8 turns") ? hit : NULL;
}

static bool takes_turns(const char *body) {
    Sampled s;
    bool does = ask_for_turns(&s, body) != NULL;
    forget(&s);
    return does;
}

// An element that each turn of the loop around takes from memory and puts back can stay in a register for several; not
// where threads meet in between, where others' elements, or what became of all of them, are asked for, or where each
// turn of the loop around has an array of its own.
static void elements_stay_for_several_turns(void **state) {
    (void)state;
    assert_true(takes_turns(SWEEPS("", "")));
    assert_false(takes_turns(SWEEPS("bar.sync 0; ", "")));
    assert_false(takes_turns(SWEEPS("", "ld.global.u32 %r10, [%rd4+4]; add.s32 %r9, %r9, %r10; ")));
    assert_false(takes_turns(SWEEPS("ld.global.u32 %r6, [%rd3]; ", "")));
    assert_false(takes_turns(SWEEPS("add.s64 %rd3, %rd3, 65536; ", "")));
}

static f64 issues_gone(const char *body) {
    Sampled s;
    const Hit *hit = ask_for_turns(&s, body);
    assert_non_null(hit);
    f64 gone = hit->change.issues / 100;
    forget(&s);
    return gone;
}

// Seven of eight loads, stores, tests and counts go, waits for the load as well; what is computed with it stays.
static void loads_are_there_once(void **state) {
    (void)state;
    Sampled s;
    const Hit *hit = ask_for_turns(&s, SWEEPS("", ""));
    assert_non_null(hit);
    assert_float_equal(samples_gone(hit, STALL_LONG_SCOREBOARD), 1000 * 7 / 8.0, 1);
    forget(&s);
    f64 plain = issues_gone(SWEEPS("", ""));
    assert_float_equal(plain, 6 * 7 / 8.0, 0.01);
    assert_float_equal(issues_gone(SWEEPS("", "mul.lo.s32 %r9, %r9, %r8; ")), plain, 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stay_for_several_turns),
        cmocka_unit_test(loads_are_there_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
