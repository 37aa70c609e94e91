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

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides_are_predicated_that_ptxas_predicates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
