// SPDX-License-Identifier: Apache-2.0
// Loops with divisions of 32 bits by what does not change in them: how many instructions a turn has after ptxas 13.0
// for sm_90, without the load, the store, the steps of pointer and counter, the comparison and the branch of all of
// them.
#include "sim/time/time_table_testing.h"

enum { TEXT = 4096, FRAME = 7 };

typedef struct Row {
    const char *before, *body;  // %r3: a parameter, %r10 and %r20: loaded in each turn, %r11: stored
    u32 issued;                 // by ptxas
    u32 more;                   // than that, here
} Row;

static const Row rows[] = {
    {"", "div.u32 %r11, %r10, %r3;", 9, 0},
    {"", "rem.u32 %r11, %r10, %r3;", 8, 0},
    {"", "div.s32 %r11, %r10, %r3;", 14, 0},
    {"", "rem.s32 %r11, %r10, %r3;", 12, 0},
    {"mov.u32 %r31, %ntid.x;", "div.u32 %r11, %r10, %r31;", 9, 0},
    {"mov.u32 %r31, %ntid.x;", "div.s32 %r11, %r10, %r31;", 15, -1u},
    {"add.s32 %r31, %r3, 5;", "div.u32 %r11, %r10, %r31;", 9, 0},
    {"", "div.u32 %r11, %r10, %r3; div.u32 %r12, %r20, %r2; xor.b32 %r11, %r11, %r12;", 19, 1},
};

// The block of the loop.
static u32 issued(const Row *row) {
    static char text[TEXT];
    TestCode c;
    snprintf(text, TEXT,
             ".visible .entry k(.param .u64 a, .param .u32 n, .param .u32 m) { .reg .pred %%p; .reg .b32 %%r<40>; .reg "
             ".b64 %%d<9>; ld.param.u64 %%d1, [a]; ld.param.u32 %%r2, [n]; ld.param.u32 %%r3, [m]; mov.u32 %%r1, "
             "%%tid.x; mul.wide.s32 %%d2, %%r1, 4; add.s64 %%d3, %%d1, %%d2; %s L: ld.global.u32 %%r10, [%%d3]; %s %s "
             "st.global.u32 [%%d3+4], %%r11; add.s64 %%d3, %%d3, %%d1; add.s32 %%r1, %%r1, 1; setp.lt.s32 %%p, %%r1, "
             "%%r2; @%%p bra L; ret; }",
             row->before, strstr(row->body, "%r20") ? "ld.global.u32 %r20, [%d3+8];" : "", row->body);
    test_code_build(&c, text);
    assert_true(c.code->block_count >= 2);
    u32 count = c.code->blocks[1].op_count;
    test_code_drop(&c);
    return count - FRAME;
}

TEST(reciprocals_of_what_does_not_change_stand_before_the_loop) {
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        u32 count = issued(&rows[i]);
        print_message("%s: %u, ptxas %u\n", rows[i].body, count, rows[i].issued);
        assert_int_equal(count, rows[i].issued + rows[i].more);
    }
}

static const char *const pairs =
    ".visible .entry k(.param .u64 a, .param .u32 m) { .reg .pred %%p<3>; .reg .b32 %%r<40>; .reg .b64 %%d<9>; "
    "ld.param.u64 %%d1, [a]; ld.param.u32 %%r3, [m]; mov.u32 %%r1, %%tid.x; mul.wide.s32 %%d2, %%r1, 4; add.s64 %%d3, "
    "%%d1, %%d2; ld.global.u32 %%r10, [%%d3]; div.u32 %%r11, %%r10, %%r3; st.global.u32 [%%d3+4], %%r11; %s ret; }";

// MUFU.RCP, with two conversions each.
static u32 count_reciprocals(const char *second) {
    static char text[TEXT];
    TestCode c;
    u32 count = 0;
    snprintf(text, TEXT, pairs, second);
    test_code_build(&c, text);
    for (u32 i = 0; i < c.code->op_count; i++) count += c.code->ops[i].unit == UNIT_XU;
    test_code_drop(&c);
    return count / 3;
}

TEST(a_turn_that_may_go_around_a_division_has_its_own_reciprocal) {
    assert_int_equal(count_reciprocals("setp.eq.s32 %p1, %r10, 7; @%p1 bra X; ld.global.u32 %r20, [%d3+8]; div.u32 "
                                       "%r12, %r20, %r3; red.global.add.u32 [%d3+12], %r12; X:"),
                     1);
    assert_int_equal(count_reciprocals("L: ld.global.u32 %r20, [%d3+8]; setp.eq.s32 %p1, %r20, 7; @%p1 bra X; div.u32 "
                                       "%r12, %r20, %r3; red.global.add.u32 [%d3+12], %r12; bra L; X:"),
                     1);
    assert_int_equal(count_reciprocals("L: ld.global.u32 %r20, [%d3+8]; setp.eq.s32 %p1, %r20, 7; @%p1 bra X; div.u32 "
                                       "%r12, %r20, %r3; red.global.add.u32 [%d3+12], %r12; X: ld.global.u32 %r21, "
                                       "[%d3+16]; setp.ne.s32 %p2, %r21, 0; @%p2 bra L;"),
                     2);
}

TEST(the_sine_of_a_number_is_no_division_by_it) {
    assert_int_equal(count_reciprocals("mov.b32 %r30, 7; mov.b32 %r31, 7; sin.approx.f32 %r32, %r31; div.u32 %r12, "
                                       "%r10, %r30; red.global.add.u32 [%d3+12], %r12; st.global.b32 [%d3+16], %r32;"),
                     2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reciprocals_of_what_does_not_change_stand_before_the_loop),
        cmocka_unit_test(a_turn_that_may_go_around_a_division_has_its_own_reciprocal),
        cmocka_unit_test(the_sine_of_a_number_is_no_division_by_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
