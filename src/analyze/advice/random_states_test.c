// SPDX-License-Identifier: Apache-2.0
// States of cuRAND that skip ahead: which loops do, by their lines or by the matrices, and what is said of them.
#include "analyze/advice/sampled_testing.h"

// A loop of the header's in one of the program's, as `curand_init` in a loop; and what the program does behind it.
#define BODY                                                                                                  \
    BEGIN "mov.u32 %r8, 0; mov.f32 %f2, 0f00000000;\n"                                                        \
          "own: mov.u32 %r9, 0; mov.u32 %r10, 0;\n"                                                           \
          "skip: mov.u64 %rd5, precalc_xorwow_matrix; mul.wide.s32 %rd6, %r9, 4; add.s64 %rd7, %rd5, %rd6;\n" \
          "ld.global.u32 %r11, [%rd7]; xor.b32 %r10, %r10, %r11; add.s32 %r9, %r9, 1;\n"                      \
          "setp.lt.s32 %p1, %r9, 100; @%p1 bra skip;\n"                                                       \
          "ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f2, %f1; add.s32 %r8, %r8, 1;\n"                          \
          "setp.lt.s32 %p2, %r8, %r5; @%p2 bra own; st.global.f32 [%rd3], %f2; ret;"

static const char header[] = "/opt/cuda/include/curand_kernel.h";

static u32 innermost(const KernelView *view, u32 pc) { return view->flow.loops->loop_of[view->flow.cfg->block_of[pc]]; }

typedef enum Lines { NO_LINES, OWN_LINES, HEADER_LINES } Lines;

static void sample(Sampled *s, Lines lines) {
    KernelView *view = sampled_begin(s, BODY);
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        u32 loop = innermost(view, pc);
        bool skips = loop != WL_NONE && view->flow.loops->loops[loop].parent != WL_NONE;
        ProfilePlace *place = &s->subject.places[pc];
        *place = (ProfilePlace){.line = pc + 1};
        if (lines) *place = (ProfilePlace){.file = "dice.cu", .line = skips ? 7 : 9};
        if (lines == HEADER_LINES && skips) place->header = header;
        subject_stall(&s->subject, pc, STALL_SELECTED, skips ? 100 : 10);
        if (waits_for_load(view, pc)) subject_stall(&s->subject, pc, STALL_LONG_SCOREBOARD, skips ? 4000 : 400);
    }
    sampled_end(s);
}

static void lines_tell_the_programs_loops(void **state) {
    (void)state;
    Sampled s;
    sample(&s, HEADER_LINES);
    u32 own = 0, skip = 1;
    if (s.view->flow.loops->loops[own].parent != WL_NONE) own = 1, skip = 0;
    assert_true(loop_skips_ahead(s.c.parts, skip));
    assert_false(loop_skips_ahead(s.c.parts, own) || loop_skips_ahead(s.c.parts, WL_NONE));
    const Hit *hit = ask(&s, "random-states");
    assert_non_null(hit);
    assert_string_equal(hit->what, "Make the random states at dice.cu:7 without skipping ahead");
    forget(&s);
    sample(&s, OWN_LINES);
    assert_null(ask(&s, "random-states"));
    forget(&s);
}

// Without lines the loops that name the matrices are taken for the header's, as deep as those are.
static void matrices_tell_it_without_lines(void **state) {
    (void)state;
    Sampled s;
    sample(&s, NO_LINES);
    assert_non_null(ask(&s, "random-states"));
    forget(&s);
}

// Places of the inner loop that these rules name.
static u32 hits_inside(Lines lines) {
    static const char *const rules[] = {"code-reordering", "loop-unrolling", "redundant-loads", "branch-elimination"};
    Sampled s;
    u32 count = 0;
    sample(&s, lines);
    for (u32 r = 0; r < WL_COUNT(rules); r++) ask(&s, rules[r]);
    for (u32 i = 0; i < s.c.hits.len; i++) {
        const AdvicePlace *scope = &s.c.hits.data[i]->scope;
        count += scope->kind != PLACE_KERNEL && scope->line && scope->line->line == 7;
    }
    forget(&s);
    return count;
}

// What nobody can edit is not advised, and would be if the program had written it.
static void the_headers_lines_are_left_alone(void **state) {
    (void)state;
    assert_true(hits_inside(OWN_LINES) >= 2);
    assert_int_equal(hits_inside(HEADER_LINES), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_tell_the_programs_loops),
        cmocka_unit_test(matrices_tell_it_without_lines),
        cmocka_unit_test(the_headers_lines_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
