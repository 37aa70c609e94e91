// SPDX-License-Identifier: Apache-2.0
// Waits for constants of a line that warps have just read go with what they waited for in between.
#include "analyze/advice/sampled_testing.h"

#define TWO_CONSTANTS(place)                                                                                     \
    BEGIN "mov.u32 %r8, 0; mov.f32 %f2, 0f00000000; turn: ld.const.f32 %f1, [%rd3];\n"                           \
          "ld.global.f32 %f3, [%rd2]; add.f32 %f2, %f2, %f3; ld.const.f32 %f4, [" place "];\n"                   \
          "fma.rn.f32 %f2, %f1, %f2, %f4; add.s64 %rd3, %rd3, 64; add.s64 %rd2, %rd2, 4; add.s32 %r8, %r8, 1;\n" \
          "setp.ne.s32 %p2, %r8, %r5; @%p2 bra turn; st.global.f32 [%rd1], %f2; ret;"

static bool is_constant(const FlowInsn *in) { return in->is_load && in->space == SPACE_CONST; }

// Part of the waits for the second constant that goes when `part` of those for the load does.
static f64 gone_with(const char *body, f64 part, f64 *first) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    u32 load = 0, constants[2] = {0, 0}, found = 0;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        const FlowInsn *in = &view->flow.code->insns[pc];
        subject_stall(&s.subject, pc, STALL_SELECTED, 100);
        if (is_constant(in)) subject_stall(&s.subject, pc, STALL_IMC_MISS, 5000), constants[found++] = pc;
        if (in->is_load && in->space == SPACE_GLOBAL) load = pc;
        if (waits_for_load(view, pc)) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, 3000);
    }
    sampled_end(&s);
    f64 all = 0, gone[2] = {0, 0};
    Hit *hit = hit_begin(&s.c);
    assert_true(hit_blamed(hit, s.c.parts, load, STALL_BIT(LONG_SCOREBOARD), part) > 0);
    hit_constants_meet(hit);
    for (u32 i = 0; i < s.c.parts->blame->edge_count; i++)
        if (s.c.parts->blame->edges[i].def == constants[1]) all += s.c.parts->blame->edges[i].samples;
    for (u32 i = 0; i < hit->spots.len; i++)
        for (u32 k = 0; k < 2; k++)
            if (hit->spots.data[i].def == constants[k]) gone[k] += hit->spots.data[i].samples;
    hit_drop(hit);
    forget(&s);
    *first = gone[0];
    return gone[1] / all;
}

static void constants_stay_while_nobody_waits(void **state) {
    (void)state;
    f64 first;
    assert_float_equal(gone_with(TWO_CONSTANTS("%rd3+8"), 1, &first), 1, 0.01);
    assert_float_equal(first, 0, 0);  // of a line that no turn before has read
    assert_float_equal(gone_with(TWO_CONSTANTS("%rd3+8"), 0.5, &first), 0.5, 0.01);
    assert_float_equal(gone_with(TWO_CONSTANTS("%rd3+64"), 1, &first), 0, 0);
    assert_float_equal(gone_with(TWO_CONSTANTS("%rd4"), 1, &first), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants_stay_while_nobody_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
