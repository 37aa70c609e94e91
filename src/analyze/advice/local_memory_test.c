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

// The simulator's: half of what is issued for an addition loads a value that has no register, and the addition waits
// for that three times as long as for the load of its other operand.
static void values_without_registers_are_spills(void **state) {
    (void)state;
    enum { LOADED = 20, SPILLED = 60, MOST = 32 };
    u64 issued[MOST], spilled[MOST] = {0};
    Sampled s;
    KernelView *view = sampled_begin(&s, BEGIN "ld.global.u32 %r6, [%rd3]; add.s32 %r7, %r6, %r1;\n"
                                               "st.global.u32 [%rd3], %r7; ret;");
    u32 count = view->flow.code->insn_count, load = 0;
    assert_true(count <= MOST);
    while (!view->flow.code->insns[load].is_load || view->flow.code->insns[load].space != SPACE_GLOBAL) load++;
    for (u32 pc = 0; pc < count; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES), issued[pc] = ISSUES;
    subject_stall(&s.subject, load + 1, STALL_LONG_SCOREBOARD, LOADED + SPILLED);
    const ProfileStallCause causes[] = {
        {.pc = load + 1, .stall = STALL_LONG_SCOREBOARD, .cause_function = 1, .cause_pc = load, .cycles = LOADED},
        {.pc = load + 1, .stall = STALL_LONG_SCOREBOARD, .cause_function = 1, .cause_pc = load + 1, .cycles = SPILLED}};
    view->issued = issued, view->spilled = spilled, view->causes = causes, view->cause_count = WL_COUNT(causes);
    sampled_end(&s);
    assert_null(ask(&s, "spills"));
    spilled[load + 1] = ISSUES / 2;
    const Hit *hit = ask(&s, "spills");
    assert_non_null(hit);
    assert_true(fabs(hit->change.issues - ISSUES / 2) < 1e-9);
    assert_true(fabs(samples_gone(hit, STALL_LONG_SCOREBOARD) - SPILLED) < 1e-9);
    forget(&s);
}

// Loads whose results are stored at once, each waiting for its own: with registers all `LOADS` wait once.
static void spilled_loads_wait_together(void **state) {
    (void)state;
    enum { LOADS = 4, WAITS = 40, MOST = 32 };
    u64 issued[MOST], spilled[MOST] = {0};
    ProfileStallCause causes[LOADS];
    Sampled s;
    KernelView *view = sampled_begin(&s, BEGIN "ld.global.u32 %r5, [%rd3]; ld.global.u32 %r6, [%rd3+512];\n"
                                               "ld.global.u32 %r7, [%rd3+1024]; ld.global.u32 %r8, [%rd3+1536];\n"
                                               "st.global.v4.u32 [%rd3], {%r5, %r6, %r7, %r8}; ret;");
    u32 count = view->flow.code->insn_count, loads = 0;
    assert_true(count <= MOST);
    for (u32 pc = 0; pc < count; pc++) {
        const FlowInsn *in = &view->flow.code->insns[pc];
        subject_stall(&s.subject, pc, STALL_SELECTED, issued[pc] = ISSUES);
        if (!in->is_load || in->space != SPACE_GLOBAL) continue;
        subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, WAITS);
        spilled[pc] = ISSUES / 2;
        causes[loads++] = (ProfileStallCause){
            .pc = pc, .stall = STALL_LONG_SCOREBOARD, .cause_function = 1, .cause_pc = pc, .cycles = WAITS};
    }
    assert_int_equal(loads, LOADS);
    view->issued = issued, view->spilled = spilled, view->causes = causes, view->cause_count = LOADS;
    sampled_end(&s);
    const Hit *hit = ask(&s, "spills");
    assert_non_null(hit);
    assert_true(fabs(samples_gone(hit, STALL_LONG_SCOREBOARD) - (LOADS - 1) * WAITS) < 1e-9);
    forget(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_by_data_are_chosen),
                                       cmocka_unit_test(values_without_registers_are_spills),
                                       cmocka_unit_test(spilled_loads_wait_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
