// SPDX-License-Identifier: Apache-2.0
// divergence of an `if` whose data lets most warps in, of which there are only samples, made up.
#include "analyze/advice/sampled_testing.h"

#define IF                                                                                   \
    BEGIN "ld.global.u32 %r6, [%rd3]; setp.gt.u32 %p1, %r6, 7; @%p1 bra out;\n"              \
          "add.u32 %r7, %r6, 1; mul.lo.u32 %r7, %r7, %r7; xor.b32 %r7, %r7, %r6;\n"          \
          "mul.lo.u32 %r7, %r7, %r7; add.u32 %r7, %r7, 9; st.global.u32 [%rd3+4096], %r7;\n" \
          "out: st.global.u32 [%rd3], %r6; ret;"

// Whether lanes are said to be few, where each instruction was caught issuing so often.
static bool has_few_lanes(u32 before, u32 within) {
    Sampled s;
    KernelView *view = sampled_begin(&s, IF);
    bool inside = false;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        const FlowInsn *in = &view->flow.code->insns[pc];
        subject_stall(&s.subject, pc, STALL_SELECTED, inside ? within : before);
        inside = in->kind == FLOW_BRANCH || (inside && !in->is_store);
    }
    sampled_end(&s);
    const Hit *hit = ask(&s, "divergence");
    forget(&s);
    return hit != NULL;
}

// A warp in ten that has no lane to let in tells how likely each is let in; a difference that samples make by
// themselves tells nothing.
static void warps_that_none_of_is_let_in_tell_of_lanes(void **state) {
    (void)state;
    assert_true(has_few_lanes(10000, 9000));
    assert_false(has_few_lanes(10, 9));
    assert_false(has_few_lanes(10000, 9990));
    assert_false(has_few_lanes(10000, 4000));  // they go together
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(warps_that_none_of_is_let_in_tell_of_lanes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
