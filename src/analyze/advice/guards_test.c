// SPDX-License-Identifier: Apache-2.0
// branch-elimination on loads behind tests of the thread's position, of which there are only samples, made up.
#include "analyze/advice/rule.h"
#include "analyze/analyze_testing.h"

enum { WAIT_OF_LOAD = 400 };

typedef struct Tested {
    f64 stalls, l1;  // that go with the tests
    f64 of_loads;    // what the L1 was taken to have of the guarded loads
} Tested;

// Every load is waited for by what comes behind it.
static Tested without_tests(const char *body) {
    Subject subject;
    Arena arena = {0}, scratch = {0};
    AdviceCase c;
    subject_ptx(&subject, body);
    KernelView *view = &subject.view;
    const FlowCode *code = view->flow.code;
    view->provenance = "sampled";
    view->basis = VIEW_SAMPLES;
    view->executed = view->issued = NULL;
    ProfileLaunch launch = {.grid = {1000, 1, 1}, .block = {128, 1, 1}};
    const ProfileLaunch *rows[] = {&launch};
    view->launches = (ViewLaunches){.count = 1, .rows = rows, .typical = &launch, .share = 1, .alike = 1, .shapes = 1};
    for (u32 pc = 0; pc < code->insn_count; pc++) {
        bool waits = pc && code->insns[pc - 1].is_load && code->insns[pc - 1].space == SPACE_GLOBAL;
        subject_stall(&subject, pc, STALL_SELECTED, 10);
        if (waits) subject_stall(&subject, pc, STALL_LONG_SCOREBOARD, WAIT_OF_LOAD);
    }
    const KernelView *views[] = {view};
    AdviceContext context = {.arena = &arena, .kernels = views, .kernel_count = 1};
    assert_int_equal(case_make(&context, view, &scratch, &c), STATUS_OK);
    for (u32 i = 0; i < advice_rule_count; i++) {
        if (strcmp(advice_rules[i].name, "branch-elimination") != 0) continue;
        c.rule = &advice_rules[i];
        advice_functions[i](&c);
    }
    assert_int_equal(c.status, STATUS_OK);
    assert_int_equal(c.hits.len, 1);
    const EstimateChange *change = &c.hits.data[0]->change;
    Tested tested = {.stalls = change->stalls, .l1 = change->relief[RESOURCE_LSU]};
    for (u32 i = 0; i < c.parts[0].access_count; i++) {
        u32 pc = c.parts[0].accesses[i].pc;
        if (code->insns[pc].guard != WL_NONE) tested.of_loads += c.parts[0].insns[pc].use[RESOURCE_LSU];
    }
    case_free(&c);
    arena_free(&scratch);
    arena_free(&arena);
    subject_free(&subject);
    return tested;
}

#define BEGIN                                                                                            \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;\n" \
    "ld.param.u64 %rd1, [p]; cvt.u32.u64 %r5, %rd1; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
#define CHECKED(d) "add.s32 %r10, %r4, " #d "; setp.lt.s32 %p1, %r10, %r5;\n"
#define GUARDED(d) CHECKED(d) "@%p1 ld.global.f32 %f1, [%rd3+4*" #d "]; @%p1 add.f32 %f2, %f2, %f1;\n"
#define IN_A_BLOCK(d) \
    CHECKED(d) "@!%p1 bra B" #d "; ld.global.f32 %f1, [%rd3+4*" #d "]; add.f32 %f2, %f2, %f1; B" #d ":\n"
#define END "st.global.f32 [%rd3], %f2; ret;"

// What lies behind branches is waited for one after the other, and without them for all at once; guards let the
// compiler start all of a block together as it is.
static void loads_behind_branches_start_together_without(void **state) {
    (void)state;
    f64 guarded = without_tests(BEGIN GUARDED(1) GUARDED(2) GUARDED(3) GUARDED(4) END).stalls;
    f64 blocks = without_tests(BEGIN IN_A_BLOCK(1) IN_A_BLOCK(2) IN_A_BLOCK(3) IN_A_BLOCK(4) END).stalls;
    assert_true(guarded < WAIT_OF_LOAD);
    assert_true(blocks > 2.9 * WAIT_OF_LOAD && blocks < 3.5 * WAIT_OF_LOAD);
}

// Half of what a guard may keep back was taken to be made. Only the edge's is not, and all of it is without tests.
static void the_l1_has_all_loads_without(void **state) {
    (void)state;
    Tested guarded = without_tests(BEGIN GUARDED(1) GUARDED(2) GUARDED(3) GUARDED(4) END);
    Tested blocks = without_tests(BEGIN IN_A_BLOCK(1) IN_A_BLOCK(2) IN_A_BLOCK(3) IN_A_BLOCK(4) END);
    assert_true(guarded.of_loads > 0);
    assert_float_equal(guarded.l1, -guarded.of_loads, 1e-9);
    assert_float_equal(blocks.l1, 0, 1e-9);
}

// The compiler unrolled the loop in part: guards are in its turns.
static void tests_in_turns_go_as_well(void **state) {
    (void)state;
    Tested turns = without_tests(BEGIN "mov.u32 %r8, 0;\nmore: " GUARDED(1) GUARDED(2) GUARDED(3)
                                     GUARDED(4) "add.s32 %r8, %r8, 4; setp.lt.s32 %p2, %r8, 64; @%p2 bra more;\n" END);
    assert_true(turns.of_loads > 0);
    assert_float_equal(turns.l1, -turns.of_loads, 1e-9);
}

// Inside a box: below the first comparison x | y, as compilers join two with zero, then one behind the other.
#define AND(compare) "setp." compare "; and.pred %p1, %p1, %p2;\n"
#define IN_BOX(d)                                                                                                      \
    "add.s32 %r10, %r4, " #d "; or.b32 %r11, %r10, %r4; setp.ge.s32 %p1, %r11, " #d ";\n" AND("lt.s32 %p2, %r10, %r5") \
        AND("lt.s32 %p2, %r10, %r6") AND("gt.s32 %p2, %r10, %r7") AND("gt.s32 %p2, %r4, %r7")                          \
            AND("lt.s32 %p2, %r4, %r6") "@%p1 ld.global.f32 %f1, [%rd3+4*" #d "]; @%p1 add.f32 %f2, %f2, %f1;\n"

static void tests_of_three_dimensions_are_tests(void **state) {
    (void)state;
    Tested boxes =
        without_tests(BEGIN "shr.u32 %r6, %r5, 1; shr.u32 %r7, %r5, 2;\n" IN_BOX(1) IN_BOX(2) IN_BOX(3) IN_BOX(4) END);
    assert_true(boxes.of_loads > 0);
    assert_float_equal(boxes.l1, -boxes.of_loads, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tests_of_three_dimensions_are_tests),
                                       cmocka_unit_test(loads_behind_branches_start_together_without),
                                       cmocka_unit_test(the_l1_has_all_loads_without),
                                       cmocka_unit_test(tests_in_turns_go_as_well)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
