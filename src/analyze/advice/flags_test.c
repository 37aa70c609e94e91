// SPDX-License-Identifier: Apache-2.0
// branch-elimination on data that are loaded where a flag beside them says so, of which there are only samples, made
// up.
#include "analyze/advice/sampled_testing.h"

enum { FLAG_WAIT = 400, TURNS = 1000 };

// A turn of the loop: a flag, and where that is set what `data` loads.
#define FLAGGED(data)                                                                                                  \
    BEGIN "mov.u32 %r8, 0; mov.f32 %f2, 0f00000000;\n"                                                                 \
          "more: ld.global.u32 %r9, [%rd3]; setp.lt.u32 %p1, %r9, 4; @%p1 bra next;\n" data "add.f32 %f2, %f2, %f1;\n" \
          "next: add.s64 %rd3, %rd3, 65536; add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, %r5; @%p2 bra more;\n"          \
          "st.global.f32 [%rd1], %f2; ret;"
#define BESIDE "ld.global.f32 %f1, [%rd3+4096];\n"
#define NAMED "mul.wide.u32 %rd4, %r9, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];\n"

// Waits for the flag that go, where `set` of 1000 warps find it set for some lane and wait so long for the data; -1:
// the test is not advised against.
static f64 gone(const char *body, u32 set, u32 data_wait) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    const FlowResults *flow = &view->flow;
    u32 loads = 0;
    for (u32 pc = 0; pc < flow->code->insn_count; pc++) {
        const FlowBlock *block = &flow->cfg->blocks[flow->cfg->block_of[pc]];
        bool turns = flow->loops->loop_of[flow->cfg->block_of[pc]] != WL_NONE;
        bool guarded = turns && block->succ_count == 1;
        subject_stall(&s.subject, pc, STALL_SELECTED, guarded ? set : turns ? TURNS : 10);
        if (waits_for_load(view, pc))
            subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, loads++ ? data_wait : FLAG_WAIT);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "branch-elimination");
    f64 waits = hit ? hit->change.stalls : -1;
    forget(&s);
    return waits;
}

// Both start together: the longer wait is left.
static void data_do_not_wait_for_their_flag(void **state) {
    (void)state;
    assert_float_equal(gone(FLAGGED(BESIDE), TURNS, 300), 300, 1e-6);
    assert_float_equal(gone(FLAGGED(BESIDE), TURNS, 900), FLAG_WAIT, 1e-6);
}

static void flags_that_decide_or_name_are_waited_for(void **state) {
    (void)state;
    assert_float_equal(gone(FLAGGED(NAMED), TURNS, 300), 0, 1e-6);
    assert_float_equal(gone(FLAGGED(BESIDE), TURNS / 2, 300), -1, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(data_do_not_wait_for_their_flag),
                                       cmocka_unit_test(flags_that_decide_or_name_are_waited_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
