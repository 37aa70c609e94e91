// SPDX-License-Identifier: Apache-2.0
// Loops whose turns are known: how many of them ptxas 13.0 has at once for sm_90, and how many are here. Bodies of
// loads that are added up and multiply-adds, with the test at the bottom or in the middle of the loop.
#include "sim/time/time_table_testing.h"

enum { TEXT = 1 << 14 };

typedef struct Row {
    u32 loads, adds;  // multiply-adds
    u32 turns;
    u32 at_once, left;
    u32 counters;  // besides that of the turns
} Row;

// Of 900 loops; `at_once` 0: as they are.
static const Row rows[] = {
    {1, 4, 499, 45, 4},    {1, 4, 500, 50, 0},    {1, 4, 509, 46, 3},  {1, 4, 997, 38, 9},  {1, 4, 1009, 48, 1},
    {1, 4, 1024, 39, 10},  {1, 8, 200, 25, 0},    {1, 8, 206, 25, 6},  {1, 8, 209, 26, 1},  {1, 8, 214, 23, 7},
    {1, 8, 249, 22, 7},    {1, 8, 1024, 20, 4},   {1, 16, 201, 11, 3}, {1, 16, 204, 17, 0}, {1, 16, 213, 15, 3},
    {1, 16, 230, 12, 2},   {1, 16, 1000, 12, 4},  {0, 16, 200, 20, 0}, {0, 16, 206, 17, 2}, {0, 16, 232, 12, 4},
    {1, 30, 201, 8, 1},    {1, 30, 214, 6, 4},    {1, 30, 997, 7, 3},  {1, 50, 1003, 3, 1}, {1, 60, 1001, 4, 1},
    {1, 60, 1002, 3, 0},   {1, 68, 1001, 2, 1},   {1, 70, 1001, 0, 0}, {0, 72, 1001, 2, 1}, {0, 86, 1001, 0, 0},
    {1, 8, 301, 25, 1, 2}, {1, 8, 317, 21, 2, 2},
};

static u32 put_body(char *text, u32 at, u32 loads, u32 adds) {
    for (u32 i = 0; i < loads; i++)
        at +=
            (u32)snprintf(text + at, TEXT - at, "ld.global.f32 %%f2, [%%rd3+%u]; add.f32 %%f1, %%f1, %%f2; ", 512 * i);
    for (u32 i = 0; i < adds; i++) at += (u32)snprintf(text + at, TEXT - at, "fma.rn.f32 %%f1, %%f1, %%f3, %%f3; ");
    return at;
}

// The loop's block. In the middle: the loads stand before the test, the multiply-adds behind it.
static TimeBlock built(const Row *row, bool middle) {
    static char text[TEXT];
    TestCode c;
    u32 at = (u32)snprintf(
        text, TEXT,
        ".visible .entry k(.param .u64 p, .param .f32 q) { .reg .pred %%p; .reg .f32 %%f<9>; .reg .b32 %%r<9>; .reg "
        ".b64 %%rd<9>; ld.param.u64 %%rd1, [p]; ld.param.f32 %%f3, [q]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, "
        "%%r1, 4; add.s64 %%rd3, %%rd1, %%rd2; mov.f32 %%f1, 0f00000000; mov.u32 %%r2, 0; mov.u32 %%r4, %%r1; mov.u32 "
        "%%r5, %%r1; %s L: ",
        middle ? "bra.uni MID; " : "");
    at = put_body(text, at, middle ? 0 : row->loads, row->adds);
    at += (u32)snprintf(text + at, TEXT - at, "add.s64 %%rd3, %%rd3, 4096; add.s32 %%r2, %%r2, 1; %s ",
                        middle ? "MID:" : "");
    if (middle) at = put_body(text, at, row->loads, 0);
    for (u32 i = 0; i < row->counters; i++)
        at += (u32)snprintf(text + at, TEXT - at, "add.s32 %%r%u, %%r%u, 7; ", 4 + i, 4 + i);
    at += (u32)snprintf(text + at, TEXT - at,
                        "setp.%s.s32 %%p, %%r2, %u; @%%p bra %s st.global.f32 [%%rd1], %%f1; st.global.v2.u32 "
                        "[%%rd1+8], {%%r4, %%r5}; ret; }",
                        middle ? "eq" : "ne", row->turns, middle ? "X; bra.uni L; X:" : "L;");
    assert_true(at < TEXT);
    test_code_build(&c, text);
    TimeBlock found = {0};
    for (u32 b = 0; b < c.code->block_count; b++)
        if (c.code->blocks[b].unrolled_count) found = c.code->blocks[b];
    test_code_drop(&c);
    return found;
}

static void expect(const Row *row, bool middle) {
    TimeBlock block = built(row, middle);
    u32 at_once = block.unrolled_count ? block.turns : 0;
    print_message("%u loads, %u multiply-adds, %u turns: %u at once, ptxas %u\n", row->loads, row->adds, row->turns,
                  at_once, row->at_once);
    assert_int_equal(at_once, row->at_once);
    if (at_once) assert_int_equal(block.left, row->left > 1 ? row->left : 0);
}

TEST(as_many_turns_are_at_once_as_in_ptxas) {
    for (u32 i = 0; i < WL_COUNT(rows); i++) expect(&rows[i], false);
}

// The part before the test is issued once more than the part behind it, and then it is a loop like the others, as long
// as the trace is looked through for so many blocks.
TEST(loops_that_are_left_in_the_middle_are_unrolled_likewise) {
    for (u32 i = 0; i < WL_COUNT(rows); i++)
        if (rows[i].loads && rows[i].adds >= 8) expect(&rows[i], true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_turns_are_at_once_as_in_ptxas),
        cmocka_unit_test(loops_that_are_left_in_the_middle_are_unrolled_likewise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
