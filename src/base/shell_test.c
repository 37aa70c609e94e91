// SPDX-License-Identifier: Apache-2.0
#include "base/shell.h"

#include <stdio.h>
#include <string.h>

#include "base/testing.h"

// What a shell makes of the word is the text again.
static void expect_round_trip(const char *text, bool quoted) {
    Arena arena = {0};
    const char *word = shell_word(&arena, text);
    assert_non_null(word);
    assert_int_equal(word[0] == '\'', quoted);
    char *command = arena_printf(&arena, "printf '%%s' %s", word), got[256] = "";
    FILE *shell = popen(command, "r");
    assert_non_null(shell);
    size_t size = fread(got, 1, sizeof got - 1, shell);
    assert_int_equal(pclose(shell), 0);
    assert_int_equal(size, strlen(text));
    assert_string_equal(got, text);
    arena_free(&arena);
}

TEST(paths_become_words_of_a_shell) {
    expect_round_trip("out/app.1.wlp", false);
    expect_round_trip("m\xc3\xa4tmul.1.wlp", false);
    expect_round_trip("a b/p q.wlp", true);
    expect_round_trip("it's $HOME`x`.wlp", true);
    expect_round_trip("", true);
    expect_round_trip("a;b&c\n(d)*?[e]~", true);
}

// The harness runs this test with whatever arguments it likes; its own name is first in any case.
TEST(the_command_line_is_this_test_s) {
    char command[4096], little[16];
    shell_command(command, sizeof command);
    assert_non_null(strstr(command, "shell_test"));
    shell_command(little, sizeof little);
    assert_true(strlen(little) < sizeof little);
    assert_non_null(strstr(little, " ..."));  // the path of a build is longer
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_become_words_of_a_shell),
        cmocka_unit_test(the_command_line_is_this_test_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
