// SPDX-License-Identifier: Apache-2.0
// Which of the loops of tests/time/loops.tsv are unrolled, beside what ptxas does with them: never otherwise than the
// table says, and nine of ten of them as ptxas. --update renews the table.
#include "sim/time/time_table_testing.h"

static const char *const path = "tests/time/loops.tsv";

static bool has_unrolled(const TimeCode *code) {
    for (u32 b = 0; b < code->block_count; b++)
        if (code->blocks[b].unrolled_count) return true;
    return false;
}

TEST(loops_are_unrolled_that_ptxas_unrolls) {
    static TestTable t;
    static i32 ours[TABLE_ROWS];
    u32 equal = 0;
    table_read(&t, path);
    for (u32 i = 0; i < t.row_count; i++) {
        TestCode c;
        test_code_build(&c, t.rows[i].column[COLUMN_PTX]);
        ours[i] = has_unrolled(c.code);
        equal += ours[i] == atoi(t.rows[i].column[COLUMN_PTXAS]);
        test_code_drop(&c);
    }
    print_message("%u of %u loops as ptxas leaves or unrolls them\n", equal, t.row_count);
    table_check(&t, path, ours);
    assert_true(equal * 10 >= t.row_count * 9);
    free(t.text);
}

int main(int argc, char **argv) {
    golden_arguments(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_are_unrolled_that_ptxas_unrolls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
