// SPDX-License-Identifier: Apache-2.0
// How many branches are issued for each of the kernels of tests/time/sides.tsv, beside what ptxas leaves of them: never
// another number than the table says, and for nine of ten ptxas' own. --update renews the table.
#include "sim/time/time_table_testing.h"

static const char *const path = "tests/time/sides.tsv";

// What all kernels begin with, from the comment "#!".
static const char *head_of(const TestTable *t) {
    for (u32 i = 0; i < t->comment_count; i++)
        if (t->comments[i][1] == '!') return t->comments[i] + 2;
    fail_msg("%s has no head", path);
    return NULL;
}

static i32 count_branches(const TimeCode *code) {
    i32 count = 0;
    for (u32 b = 0; b < code->block_count; b += code->blocks[b].parts)
        for (u32 i = 0; i < code->blocks[b].op_count; i++)
            count += code->ops[code->blocks[b].ops + i].kind == TIME_BRANCH;
    return count;
}

static i32 issued(const char *head, const char *body) {
    TestCode c;
    size_t room = strlen(head) + strlen(body) + 64;
    char *kernel = malloc(room);
    snprintf(kernel, room, ".visible .entry k%s %s ret; }\n", head, body);
    test_code_build(&c, kernel);
    i32 count = count_branches(c.code);
    test_code_drop(&c);
    free(kernel);
    return count;
}

TEST(sides_are_predicated_that_ptxas_predicates) {
    static TestTable t;
    static i32 ours[TABLE_ROWS];
    u32 equal = 0;
    table_read(&t, path);
    const char *head = head_of(&t);
    for (u32 i = 0; i < t.row_count; i++) {
        ours[i] = issued(head, t.rows[i].column[COLUMN_PTX]);
        equal += ours[i] == atoi(t.rows[i].column[COLUMN_PTXAS]);
    }
    print_message("%u of %u kernels have the branches that ptxas leaves\n", equal, t.row_count);
    table_check(&t, path, ours);
    assert_true(equal * 10 >= t.row_count * 9);
    free(t.text);
}

// `count` times: if (x[k] > 0) sum += y[x[k]]; else missing++;
static void write_choices(char *text, size_t room, u32 count) {
    int at = snprintf(text, room,
                      ".visible .entry k(.param .u64 x, .param .u64 y) {\n.reg .b64 %%rd<9>;\n.reg .b32 %%r<9>;\n"
                      ".reg .f32 %%f<4>;\n.reg .pred %%p<2>;\nld.param.u64 %%rd1, [x];\nld.param.u64 %%rd2, [y];\n"
                      "mov.f32 %%f1, 0f00000000;\nmov.u32 %%r2, 0;\n");
    for (u32 k = 0; k < count; k++)
        at += snprintf(text + at, room - (size_t)at,
                       "ld.global.u32 %%r1, [%%rd1+%u];\nsetp.gt.s32 %%p1, %%r1, 0;\n@%%p1 bra T%u;\nbra.uni E%u;\n"
                       "T%u:\nmul.wide.s32 %%rd3, %%r1, 4;\nadd.s64 %%rd3, %%rd2, %%rd3;\n"
                       "ld.global.f32 %%f2, [%%rd3];\nadd.f32 %%f1, %%f1, %%f2;\nbra.uni J%u;\n"
                       "E%u:\nadd.s32 %%r2, %%r2, 1;\nJ%u:\n",
                       4 * k, k, k, k, k, k, k);
    snprintf(text + at, room - (size_t)at, "st.global.f32 [%%rd2], %%f1;\nst.global.u32 [%%rd2+4], %%r2;\nret;\n}\n");
}

// Regions of blocks with sides; no side is left without what decides on it.
static u32 count_regions(u32 choices) {
    enum { TEXT = 1 << 15 };
    TestCode c;
    char *text = malloc(TEXT);
    write_choices(text, TEXT, choices);
    test_code_build(&c, text);
    u32 count = 0;
    for (u32 b = 0; b < c.code->block_count; b += c.code->blocks[b].parts) {
        assert_false(c.code->blocks[b].predicated);
        count += c.code->blocks[b].parts > 1;
    }
    test_code_drop(&c);
    free(text);
    return count;
}

TEST(sides_with_an_else_are_one_region_as_far_as_there_is_room) {
    assert_int_equal(count_regions(1), 1);
    assert_int_equal(count_regions(8), 1);
    assert_int_equal(count_regions(40), 2);  // of 161 blocks 128 at most
    assert_int_equal(count_regions(41), 2);
    assert_int_equal(count_regions(42), 2);
    assert_int_equal(count_regions(43), 2);
}

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides_are_predicated_that_ptxas_predicates),
                                       cmocka_unit_test(sides_with_an_else_are_one_region_as_far_as_there_is_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
