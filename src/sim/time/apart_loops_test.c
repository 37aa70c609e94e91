// SPDX-License-Identifier: Apache-2.0
// Loops that may be left in every turn, or have a branch around a store: how many multiply-adds there may be in a turn
// for ptxas 13.0 to put all turns behind each other for sm_90, and the same here.
#include "sim/time/time_table_testing.h"

enum { MANY = 1000000, MOST = 64, TEXT = 1 << 14 };

typedef struct Shape {
    const char *name, *begin, *turn, *end;  // around the multiply-adds; the number of turns is put in
} Shape;

static const char head[] =
    ".visible .entry k(.param .u64 a, .param .f32 b) { .reg .pred %p<5>; .reg .f32 %f<9>; .reg .b32 %r<10>; .reg .b64 "
    "%rd<9>; ld.param.u64 %rd1, [a]; ld.param.f32 %f2, [b]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.s64 "
    "%rd2, %rd1, %rd2; ld.global.f32 %f1, [%rd2]; mov.u32 %r9, 0; L: ";
static const char tail[] = "E: st.global.u32 [%rd2], %r9; st.global.f32 [%rd2+4], %f1; ret; }";

static const Shape shapes[] = {
    {"and", "", "fma.rn.f32 %f1, %f1, %f2, %f2; ",
     "setp.lt.f32 %%p1, %%f1, 0f40800000; add.s32 %%r9, %%r9, 1; setp.lt.u32 %%p2, "
     "%%r9, %u; and.pred %%p3, %%p1, %%p2; @%%p3 bra L; "},
    {"two branches", "", "fma.rn.f32 %f1, %f1, %f2, %f2; ",
     "setp.ge.f32 %%p1, %%f1, 0f40800000; @%%p1 bra E; add.s32 %%r9, %%r9, 1; "
     "setp.lt.u32 %%p2, %%r9, %u; @%%p2 bra L; "},
    {"left at the top", "setp.ge.f32 %p1, %f1, 0f40800000; @%p1 bra E; ", "fma.rn.f32 %f1, %f1, %f2, %f2; ",
     "add.s32 %%r9, %%r9, 1; setp.lt.u32 %%p2, %%r9, %u; @%%p2 bra L; "},
    {"a side", "ld.global.f32 %f3, [%rd2]; setp.gt.f32 %p1, %f3, 0f40800000; @%p1 bra S; ", "sin.approx.f32 %f3, %f3; ",
     "st.global.f32 [%%rd2], %%f3; S: add.s64 %%rd2, %%rd2, 4096; add.s32 %%r9, %%r9, 1; "
     "setp.lt.u32 %%p2, %%r9, %u; @%%p2 bra L; "},
};

// Machine instructions of the kernel.
static u32 count_ops(const Shape *shape, u32 length, u32 turns) {
    static char text[TEXT];
    TestCode c;
    u32 at = (u32)snprintf(text, TEXT, "%s%s", head, shape->begin);
    for (u32 i = 0; i < length; i++) at += (u32)snprintf(text + at, TEXT - at, "%s", shape->turn);
    at += (u32)snprintf(text + at, TEXT - at, shape->end, turns);
    assert_true(at + sizeof tail < TEXT);
    strcpy(text + at, tail);
    test_code_build(&c, text);
    u32 count = c.code->op_count;
    test_code_drop(&c);
    return count;
}

// The longest turn that stands behind another one: it has no counting.
static u32 longest(const Shape *shape, u32 turns) {
    for (u32 n = MOST; n > 0; n--)
        if (count_ops(shape, n, turns) < count_ops(shape, n, MANY)) return n;
    return 0;
}

TEST(turns_that_leave_stand_behind_each_other_as_in_ptxas) {
    static const u32 turns[] = {8, 16, 32, 64, 100, 256, 1000}, most[] = {55, 36, 23, 15, 11, 6, 0};
    for (u32 s = 0; s < 3; s++)
        for (u32 i = 0; i < WL_COUNT(turns); i++) {
            u32 n = longest(&shapes[s], turns[i]);
            print_message("%s, %u turns: %u, ptxas %u\n", shapes[s].name, turns[i], n, most[i]);
            assert_true(n <= most[i] + 1 && n + 1 >= most[i]);
        }
}

TEST(turns_with_sides_stand_behind_each_other_as_in_ptxas) {
    static const struct {
        u32 length, most, over;  // turns: as many stand behind each other, so many do not
    } rows[] = {{12, 64, 1000}, {20, 32, 64}, {30, 16, 32}};
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        u32 many = count_ops(&shapes[3], rows[i].length, MANY);
        assert_true(count_ops(&shapes[3], rows[i].length, rows[i].most) < many);
        assert_int_equal(count_ops(&shapes[3], rows[i].length, rows[i].over), many);
    }
}

// `for (i = 0; i < 32 && x + i < n; i += 8)`: of the counter nothing is left, but the sum.
static u32 count_rows(const char *begin, u32 end) {
    static char text[TEXT];
    TestCode c;
    snprintf(
        text, TEXT,
        ".visible .entry k(.param .u64 a, .param .u32 n) { .reg .pred %%p<5>; .reg .b32 %%r<10>; .reg .b64 %%rd<9>; "
        "ld.param.u64 %%rd1, [a]; ld.param.u32 %%r2, [n]; mov.u32 %%r1, %%tid.x; mov.u32 %%r9, %s; mov.u32 %%r8, "
        "%%r1; L: mul.wide.s32 %%rd2, %%r8, 4; add.s64 %%rd3, %%rd1, %%rd2; st.global.u32 [%%rd3], %%r1; add.s32 "
        "%%r9, %%r9, 8; add.s32 %%r8, %%r1, %%r9; setp.lt.s32 %%p1, %%r8, %%r2; setp.lt.u32 %%p2, %%r9, %u; "
        "and.pred %%p3, %%p2, %%p1; @%%p3 bra L; ret; }",
        begin, end);
    test_code_build(&c, text);
    u32 count = c.code->op_count;
    test_code_drop(&c);
    return count;
}

TEST(a_counter_that_begins_with_a_number_is_one_in_each_turn) {
    u32 turns = count_rows("0", 32);
    assert_int_equal(count_rows("0", 8 * MANY) - turns, 3);  // begin, step and comparison
    assert_int_equal(count_rows("%r2", 32) - turns, 3);
}

// A loop around constants and as many multiply-adds with one each, and `more` without; what begins a turn's end.
// Whether each constant has its own place, as the turns stand behind each other.
static bool has_places(u32 turns, u32 constants, u32 more, const char *base, const char *side) {
    static char text[TEXT];
    TestCode c;
    u32 at = (u32)snprintf(
        text, TEXT,
        ".const .align 4 .b8 tab[16384]; .visible .entry k(.param .u64 a) { .reg .pred %%p<9>; .reg .f32 %%f<40>; .reg "
        ".b32 %%r<9>; .reg .b64 %%rd<9>; ld.param.u64 %%rd1, [a]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd3, %%r1, 4; "
        "add.s64 %%rd4, %%rd1, %%rd3; ld.global.f32 %%f1, [%%rd4]; mov.f32 %%f2, 0f3F800000; mov.u32 %%r2, 0; mov.u64 "
        "%%rd5, tab; %s L: ",
        base);
    for (u32 i = 0; i < constants; i++)
        at +=
            (u32)snprintf(text + at, TEXT - at, "ld.const.f32 %%f%u, [%%rd5+%u]; fma.rn.f32 %%f2, %%f2, %%f1, %%f%u; ",
                          10 + i, 4 * i, 10 + i);
    for (u32 i = 0; i < more; i++) at += (u32)snprintf(text + at, TEXT - at, "fma.rn.f32 %%f2, %%f2, %%f1, %%f1; ");
    at += (u32)snprintf(text + at, TEXT - at,
                        "%s add.s64 %%rd5, %%rd5, %u; add.s32 %%r2, %%r2, 1; setp.ne.s32 %%p1, %%r2, %u; @%%p1 bra L; "
                        "st.global.f32 [%%rd4], %%f2; E: ret; }",
                        side, 4 * constants, turns);
    assert_true(at < TEXT);
    test_code_build(&c, text);
    u32 places = 0;
    for (u32 i = 0; i < c.code->op_count; i++) {
        const TimeOp *op = &c.code->ops[i];
        places += op->kind == TIME_IMMEDIATE && op->flags & TIME_INDEXED && op->flags & TIME_PLACED;
    }
    test_code_drop(&c);
    return places > 0;
}

static u32 most_more(u32 turns, u32 constants, const char *base, const char *side) {
    u32 low = 0, high = 400;
    while (high - low > 1) {
        u32 middle = (low + high) / 2;
        if (has_places(turns, constants, middle, base, side))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static const char stores[] =
    "setp.leu.f32 %p2, %f10, 0f00000000; @%p2 bra S; st.global.f32 [%rd4+8], %f2; st.global.f32 [%rd4+16], %f10; "
    "fma.rn.f32 %f2, %f2, %f1, %f1; st.global.f32 [%rd4+24], %f2; st.global.f32 [%rd4+32], %f2; st.global.f32 "
    "[%rd4+64], %f2; st.global.f32 [%rd4+80], %f2; S: ";

// How many multiply-adds more a turn may have for ptxas 13.0, sm_90.
TEST(constants_have_places_in_longer_turns_as_in_ptxas) {
    static const struct {
        u32 turns, constants, most;
        const char *side;
    } rows[] = {{8, 1, 94, ""},    {8, 4, 158, ""},     {8, 13, 281, ""},     {20, 1, 55, ""},  {20, 4, 94, ""},
                {20, 13, 170, ""}, {64, 1, 29, ""},     {64, 4, 52, ""},      {64, 13, 92, ""}, {200, 4, 28, ""},
                {200, 13, 46, ""}, {20, 4, 79, stores}, {20, 13, 155, stores}};
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        u32 most = most_more(rows[i].turns, rows[i].constants, "", rows[i].side);
        print_message("%u turns, %u constants: %u, ptxas %u\n", rows[i].turns, rows[i].constants, most, rows[i].most);
        assert_in_range(most, rows[i].most * 17 / 20, rows[i].most * 23 / 20);
    }
}

TEST(constants_at_an_unknown_base_have_no_places) {
    static const char base[] = "mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd6, %r5, 4; add.s64 %rd5, %rd5, %rd6; ";
    assert_true(has_places(20, 4, 8, "", ""));
    assert_false(has_places(20, 4, 8, base, ""));
}

// As of examples/advice/held_out_37/pathogens.cu after its change: `if (x >= width || y >= height) return;` parts
// nobody, and its 225 weights come to uniform registers, two at a time.
TEST(lanes_that_have_left_the_kernel_take_no_places_away) {
    static const char leaves[] = "setp.gt.u32 %p3, %r1, 100; @%p3 bra E; ";
    assert_true(has_places(15, 15, 15, leaves, ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns_that_leave_stand_behind_each_other_as_in_ptxas),
                                       cmocka_unit_test(turns_with_sides_stand_behind_each_other_as_in_ptxas),
                                       cmocka_unit_test(a_counter_that_begins_with_a_number_is_one_in_each_turn),
                                       cmocka_unit_test(constants_have_places_in_longer_turns_as_in_ptxas),
                                       cmocka_unit_test(constants_at_an_unknown_base_have_no_places),
                                       cmocka_unit_test(lanes_that_have_left_the_kernel_take_no_places_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
