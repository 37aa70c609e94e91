// SPDX-License-Identifier: Apache-2.0
// branch-elimination on branches by which lanes choose a constant, of which there are only samples, made up.
#include <math.h>
#include <string.h>

#include "analyze/advice/sampled_testing.h"

enum { RUNS = 10, WAIT_OF_WAY = 500, LOOK_UP_STEPS = 2, LOOK_UP_LATENCY = 29 };

#define TREE(test, value)                                                                               \
    BEGIN "ld.global.u32 %r6, [%rd3]; ld.global.u32 %r8, [%rd3+4]; ld.global.f32 %f1, [%rd3+8];\n" test \
          "@%p1 bra HIGH; setp.gt.s32 %p2, %r6, 8; @%p2 bra SECOND; mov.u32 %r7, 5; bra MEET;\n"        \
          "SECOND: mov.u32 %r7, 9; bra MEET;\n"                                                         \
          "HIGH: setp.gt.s32 %p3, %r6, 35; @%p3 bra LAST; mov.u32 %r7, 14; bra MEET;\n"                 \
          "LAST: " value "MEET: st.global.u32 [%rd3], %r7; ret;"
#define OF_THE_NUMBER "setp.gt.s32 %p1, %r6, 20;\n"
#define OF_A_FLOAT "setp.gt.f32 %p1, %f1, 0f41A00000;\n"
#define OF_ANOTHER "setp.gt.s32 %p1, %r8, 20;\n"
#define OF_MANY "setp.gt.s32 %p1, %r6, 2000000;\n"
#define A_CONSTANT "mov.u32 %r7, 75;\n"
#define ITSELF "mov.u32 %r7, %r6;\n"
#define COMPUTED "add.s32 %r7, %r6, %r8;\n"
#define LOADED "ld.global.u32 %r7, [%rd3+16];\n"
enum { OF_TREE = 12 };  // instructions: the branch, and all between it and where ways meet

static bool is_wait(const KernelView *view, u32 pc) {
    const FlowCode *code = view->flow.code;
    return pc && code->insns[pc - 1].kind == FLOW_BRANCH && code->insns[pc].kind == FLOW_PLAIN;
}

static bool finds_table(const char *body, EstimateChange *change) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, RUNS);
        if (is_wait(view, pc)) subject_stall(&s.subject, pc, STALL_BRANCH_RESOLVING, WAIT_OF_WAY);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "branch-elimination");
    if (hit) *change = hit->change;
    bool table = hit && strstr(hit->what, "Look the value up");  // ... not what is computed on the ways
    forget(&s);
    return table;
}

// All that chooses goes, and the look-up comes.
static void constants_are_looked_up(void **state) {
    (void)state;
    EstimateChange change;
    assert_true(finds_table(TREE(OF_THE_NUMBER, A_CONSTANT), &change));
    assert_true(fabs(change.issues - (OF_TREE - LOOK_UP_STEPS) * RUNS) < 1e-9);
    f64 waits = change.stalls + LOOK_UP_LATENCY * RUNS;
    assert_true(waits >= 5 * WAIT_OF_WAY && waits <= 7 * WAIT_OF_WAY);
    assert_true(finds_table(TREE(OF_THE_NUMBER, ITSELF), &change));
}

static void what_is_no_table_is_none(void **state) {
    (void)state;
    EstimateChange change;
    assert_false(finds_table(TREE(OF_A_FLOAT, A_CONSTANT), &change));
    assert_false(finds_table(TREE(OF_ANOTHER, A_CONSTANT), &change));
    assert_false(finds_table(TREE(OF_MANY, A_CONSTANT), &change));
    assert_false(finds_table(TREE(OF_THE_NUMBER, COMPUTED), &change));
    assert_false(finds_table(TREE(OF_THE_NUMBER, LOADED), &change));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants_are_looked_up),
                                       cmocka_unit_test(what_is_no_table_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
