// SPDX-License-Identifier: Apache-2.0
#include "base/near.h"

#include <stdio.h>
#include <string.h>

#include "base/testing.h"

static const char *const rules[] = {"global-coalescing", "spills", "loop-unrolling", "async-copy", "report", "run"};

static const char *nearest(const char *word) {
    Near near = {.word = word};
    for (u32 i = 0; i < WL_COUNT(rules); i++) near_try(&near, rules[i]);
    return near_result(&near) ? near_result(&near) : "";
}

TEST(what_was_meant_is_named) {
    assert_string_equal(nearest("lop-unroling"), "loop-unrolling");
    assert_string_equal(nearest("coalescin"), "global-coalescing");
    assert_string_equal(nearest("reprot"), "report");
    assert_string_equal(nearest("rum"), "run");
    assert_string_equal(nearest("spill"), "spills");
}

TEST(what_is_like_nothing_is_not) {
    assert_string_equal(nearest("foo"), "");
    assert_string_equal(nearest(""), "");
    assert_string_equal(nearest("banana"), "");
    char longer[200];
    for (size_t i = 0; i < sizeof longer; i++) longer[i] = i + 1 < sizeof longer ? 'r' : 0;
    assert_string_equal(nearest(longer), "");
    assert_null(near_result(&(Near){.word = "run"}));
}

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_meant_is_named),
        cmocka_unit_test(what_is_like_nothing_is_not),
        cmocka_unit_test(paths_become_words_of_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
