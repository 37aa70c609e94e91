// SPDX-License-Identifier: Apache-2.0
// branch-elimination on ways too short for branches, of which there are only samples, made up.
#include <math.h>

#include "analyze/advice/sampled_testing.h"

enum { RUNS = 10, WAIT_OF_WAY = 500, WAIT_FOR_LOAD = 3000, LOOK_UP_STEPS = 2, LOOK_UP_LATENCY = 29 };

#define LOADS "ld.global.u32 %r6, [%rd3]; ld.global.u32 %r8, [%rd3+4];\n"
// Each of the ways is gone by some lanes of each warp.
#define ORDER(first, second)                                                                          \
    BEGIN LOADS "setp.gt.s32 %p1, %r6, %r8; @%p1 bra HIGH; " first "bra MEET;\nHIGH: " second "MEET:" \
                " st.global.u32 [%rd3], %r7; ret;"
#define CASES(rest, value)                                                                                  \
    BEGIN LOADS "setp.eq.s32 %p1, %r6, 1; @%p1 bra FIRST; setp.eq.s32 %p2, %r6, 2; @%p2 bra SECOND;\n" rest \
                "add.s32 %r7, %r8, 11; bra MEET;\nFIRST: mul.lo.s32 %r7, %r8, 7; add.s32 %r7, %r7, 3;"      \
                "bra MEET;\nSECOND: " value "bra MEET;\nTHIRD: mul.lo.s32 %r7, %r8, 5;\n"                   \
                "MEET: st.global.u32 [%rd3], %r7; ret;"
#define OF_THE_NUMBER "setp.eq.s32 %p3, %r6, 3; @%p3 bra THIRD;\n"
#define A_SUM "add.s32 %r7, %r8, 5;\n"
#define A_STORE "st.global.u32 [%rd3+8], %r8; mov.u32 %r7, %r8;\n"
#define A_LOAD "ld.global.u32 %r7, [%rd3+8];\n"

// Two copies of a turn: the greater of what is kept and what is loaded stays. `second` is what the second one orders.
#define COPIES(second)                                                                                            \
    BEGIN                                                                                                         \
    "mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r20, 0; LOOP: ld.global.u32 %r6, [%rd3];\n"       \
    "setp.gt.s32 %p1, %r6, 40; @%p1 bra HIGH; add.s32 %r10, %r6, 9; bra MEET; HIGH: sub.s32 %r10, %r6, %r4;\n"    \
    "MEET: add.s32 %r20, %r20, %r10; ld.global.u32 %r8, [%rd3+512];\n"                                            \
    "setp.gt.s32 %p2, " second ", 40; @%p2 bra UP; add.s32 %r11, %r8, 9; bra JOIN; UP: sub.s32 %r11, %r8, %r4;\n" \
    "JOIN: add.s32 %r20, %r20, %r11; add.s64 %rd3, %rd3, 1024; add.s32 %r9, %r9, 2;\n"                            \
    "setp.lt.s32 %p3, %r9, %r5; @%p3 bra LOOP; st.global.u32 [%rd3], %r20; ret;"

static bool is_jump(const FlowInsn *in) { return in->kind == FLOW_BRANCH; }

// All run as often; behind a branch warps wait for where it went, and for the first use of what was loaded.
static void sample(Sampled *s, const char *body, u32 wait_for_results) {
    KernelView *view = sampled_begin(s, body);
    const FlowCode *code = view->flow.code;
    for (u32 pc = 0; pc < code->insn_count; pc++) {
        subject_stall(&s->subject, pc, STALL_SELECTED, RUNS);
        if (pc && is_jump(&code->insns[pc - 1]) && !is_jump(&code->insns[pc]))
            subject_stall(&s->subject, pc, STALL_BRANCH_RESOLVING, WAIT_OF_WAY);
        if (waits_for_load(view, pc)) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, WAIT_FOR_LOAD);
        if (wait_for_results) subject_stall(&s->subject, pc, STALL_WAIT, wait_for_results);
    }
    sampled_end(s);
}

static bool finds(const char *body, EstimateChange *change) {
    Sampled s;
    sample(&s, body, 0);
    const Hit *hit = ask(&s, "branch-elimination");
    if (hit) *change = hit->change;
    forget(&s);
    return hit != NULL;
}

// What is computed on both ways is computed once by all lanes; the branch becomes a selection, the jump goes.
static void ways_become_a_sequence(void **state) {
    (void)state;
    EstimateChange change;
    assert_true(finds(ORDER("add.s32 %r7, %r8, 9;", "sub.s32 %r7, %r6, %r4;"), &change));
    assert_true(fabs(change.issues - RUNS) < 1e-9);
    assert_true(change.stalls >= 2 * WAIT_OF_WAY);
    assert_false(finds(ORDER(A_STORE, A_SUM), &change));
    assert_false(finds(ORDER("atom.global.add.u32 %r7, [%rd3], 1;", A_SUM), &change));
}

// Of a switch's cases what the longest one does stays, and a table is looked at.
static void cases_become_one(void **state) {
    (void)state;
    enum { OF_SWITCH = 13, OF_LONGEST = 2 };
    EstimateChange change;
    assert_true(finds(CASES(OF_THE_NUMBER, A_SUM), &change));
    assert_true(fabs(change.issues - (OF_SWITCH - OF_LONGEST - LOOK_UP_STEPS) * RUNS) < 1e-9);
    assert_true(fabs(change.stalls - (6 * WAIT_OF_WAY - LOOK_UP_LATENCY * RUNS)) < 1e-9);
    assert_true(finds(CASES(OF_THE_NUMBER, A_LOAD), &change));  // from the table's place
    assert_false(finds(CASES(OF_THE_NUMBER A_STORE, A_SUM), &change));
}

static f64 waits_gone(const char *body, StallReason reason) {
    Sampled s;
    sample(&s, body, 50);
    const Hit *hit = ask(&s, "branch-elimination");
    f64 gone = hit ? samples_gone(hit, reason) : 0;
    assert_true(hit && s.c.hits.len == 1);  // whose tests are not said to decide nothing besides
    forget(&s);
    return gone;
}

// Where nothing else parts the lanes of a turn, the loads of its copies start together; results of copies that need
// nothing of each other are waited for together.
static void copies_go_together(void **state) {
    (void)state;
    assert_true(waits_gone(COPIES("%r8"), STALL_LONG_SCOREBOARD) >= WAIT_FOR_LOAD / 2);
    f64 apart = waits_gone(COPIES("%r8"), STALL_WAIT), linked = waits_gone(COPIES("%r10"), STALL_WAIT);
    assert_true(apart > linked);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ways_become_a_sequence), cmocka_unit_test(cases_become_one),
                                       cmocka_unit_test(copies_go_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
