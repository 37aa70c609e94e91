// SPDX-License-Identifier: Apache-2.0
// Arrays of parameters in local memory: beside how many multiply-adds ptxas 13.0 takes them apart for sm_90, and
// time_code_build does; what is issued for a load then.
#include "sim/time/time_table_testing.h"

enum { TEXT = 1 << 16, MOST = 2000 };

typedef struct Row {
    u32 words, loads;  // loads: in a loop, at its counter
    u32 inside;        // the least number of multiply-adds in the loop,
    u32 behind;        // or behind it, of ptxas
} Row;

static const Row rows[] = {
    {8, 2, 4, 61},     {8, 4, 14, 209},  {14, 1, 5, 79},    {14, 2, 16, 256}, {14, 4, 39, 609},
    {14, 8, 83, 1317}, {24, 1, 15, 231}, {24, 4, 80, 1278}, {32, 2, 53, 839}, {48, 1, 38, 596},
};

static u32 put(char *text, u32 at, const char *what, u32 times) {
    for (u32 i = 0; i < times; i++) at += (u32)snprintf(text + at, TEXT - at, "%s", what);
    return at;
}

static u32 put_stores(char *text, u32 at, u32 words) {
    for (u32 i = 0; i < words; i++)
        at += (u32)snprintf(text + at, TEXT - at, "ld.param.f32 %%f%u, [p+%u]; st.local.f32 [%%rd5+%u], %%f%u; ",
                            10 + i, 4 * i, 4 * i, 10 + i);
    return at;
}

static u32 put_loads(char *text, u32 at, u32 loads) {
    for (u32 r = 0; r < loads; r++)
        at += (u32)snprintf(text + at, TEXT - at,
                            "add.s32 %%r9, %%r2, %u; mul.wide.s32 %%rd6, %%r9, 4; add.s64 %%rd6, %%rd5, %%rd6; "
                            "ld.local.f32 %%f2, [%%rd6]; fma.rn.f32 %%f1, %%f1, %%f2, %%f2; ",
                            r);
    return at;
}

typedef struct Made {
    u32 local;   // loads and stores of local memory
    u32 chosen;  // constants that are loaded where a condition holds
} Made;

static Made build(const Row *row, u32 inside, u32 behind, const char *before_loop) {
    static char text[TEXT];
    static const char fma[] = "fma.rn.f32 %f1, %f1, %f1, %f1; ";
    TestCode c;
    Made made = {0};
    u32 at = (u32)snprintf(text, TEXT,
                           ".visible .entry k(.param .u64 a, .param .u32 n, .param .align 4 .b8 p[%u]) { .reg .pred "
                           "%%p<5>; .reg .f32 %%f<80>; .reg .b32 %%r<10>; .reg .b64 %%rd<9>; .local .align 4 .b8 "
                           "dep[%u]; ld.param.u64 %%rd1, [a]; ld.param.u32 %%r3, [n]; mov.u32 %%r1, %%tid.x; "
                           "mul.wide.u32 %%rd2, %%r1, 4; add.s64 %%rd2, %%rd1, %%rd2; mov.u64 %%rd5, dep; ",
                           4 * row->words, 4 * row->words);
    at = put_stores(text, at, row->words);
    at += (u32)snprintf(text + at, TEXT - at, "mov.f32 %%f1, 0f00000000; mov.u32 %%r2, 0; %s L: .pragma \"nounroll\"; ",
                        before_loop);
    at = put_loads(text, at, row->loads);
    at = put(text, at, fma, inside);
    at = put(text, at, "add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r3; @%p1 bra L; ", 1);
    at = put(text, at, fma, behind);
    at = put(text, at, "st.global.f32 [%rd2], %f1; ret; }", 1);
    assert_true(at < TEXT);
    test_code_build(&c, text);
    for (u32 i = 0; i < c.code->op_count; i++) {
        const TimeOp *op = &c.code->ops[i];
        made.local += (op->kind == TIME_LOAD || op->kind == TIME_STORE) && op->flags & TIME_FIRST;
        made.chosen += op->kind == TIME_FIXED && !(op->flags & TIME_FIRST);
    }
    made.local--, made.chosen--;  // the result and where it goes
    test_code_drop(&c);
    return made;
}

static u32 least(const Row *row, bool inside) {
    u32 low = 0, high = MOST;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (build(row, inside ? middle : 0, inside ? 0 : middle, "").local)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void expect(const Row *row, bool inside) {
    u32 n = least(row, inside), ptxas = inside ? row->inside : row->behind, unit = inside ? 1 : 16;
    print_message("%u words, %u loads, %s the loop: %u, ptxas %u\n", row->words, row->loads, inside ? "in" : "behind",
                  n, ptxas);
    u32 off = 2 * unit + ptxas / 12;
    assert_true(n <= ptxas + off && n + off >= ptxas);
}

TEST(arrays_are_taken_apart_where_ptxas_does_so) {
    for (u32 i = 0; i < WL_COUNT(rows); i++) expect(&rows[i], true);
    for (u32 i = 0; i < WL_COUNT(rows); i++) expect(&rows[i], false);
}

TEST(each_load_chooses_from_all_words) {
    Made made = build(&(Row){.words = 14, .loads = 2}, 100, 0, "");
    assert_int_equal(made.local, 0);
    assert_int_equal(made.chosen, 28);
}

TEST(what_is_stored_in_two_places_stays_in_memory) {
    Made made = build(&(Row){.words = 14, .loads = 1}, 100, 0, "st.local.f32 [%rd5+4], %f10; ");
    assert_true(made.local > 14 / 4);
    assert_int_equal(made.chosen, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_are_taken_apart_where_ptxas_does_so),
                                       cmocka_unit_test(each_load_chooses_from_all_words),
                                       cmocka_unit_test(what_is_stored_in_two_places_stays_in_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
