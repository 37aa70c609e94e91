// SPDX-License-Identifier: Apache-2.0
#include "binary/kernel_name.h"

#include "base/testing.h"

static bool matched(const char *pattern, const char *mangled) {
    regex_t filter;
    char why[128];
    assert_true(kernel_filter_compile(&filter, pattern, why, sizeof why));
    bool found = kernel_matches(&filter, mangled);
    regfree(&filter);
    return found;
}

// "void ns::mm<4>(float const*, int)"
static const char mm[] = "_ZN2ns2mmILi4EEEvPKfi";

TEST(a_kernel_is_known_by_each_of_its_names) {
    assert_true(matched("^ns::mm<4>$", mm));
    assert_true(matched("mm", mm));
    assert_true(matched("float const", mm));
    assert_true(matched("^_ZN2ns2mm", mm));
    assert_true(matched("^void ns", mm));
    assert_true(matched("^plain$", "plain"));
}

TEST(others_are_not_matched) {
    assert_false(matched("^mm", mm));
    assert_false(matched("mm<4>$|mm<5>", "_ZN2ns2mmILi6EEEvPKfi"));
    assert_false(matched("^ns::mm<4>\\(", mm));  // the name alone ends before its parameters
    assert_false(matched("plains", "plain"));
}

static void expect_refusal(const char *pattern, const char *reason) {
    regex_t filter;
    char why[128] = "";
    assert_false(kernel_filter_compile(&filter, pattern, why, sizeof why));
    assert_string_equal(why, reason);
}

// glibc ends the process, or takes gigabytes, for these.
TEST(what_regcomp_cannot_take_is_refused) {
    char many[4200];
    for (u32 i = 0; i < 101; i++) many[i] = '(';
    for (u32 i = 101; i < 202; i++) many[i] = ')';
    many[202] = 0;
    expect_refusal(many, "brackets are nested deeper than 100");
    for (u32 i = 0; i < sizeof many; i++) many[i] = i + 1 < sizeof many ? 'a' : 0;
    expect_refusal(many, "it is longer than 4096 characters");
    expect_refusal("a{1,30000}", "it repeats more than 10000 times");
    expect_refusal("((a{200}){200}){1,200}", "it repeats more than 10000 times");
    expect_refusal("a{18446744073709551615}", "it repeats more than 10000 times");
    expect_refusal("(", "Unmatched ( or \\(");
    assert_true(matched("regex:^(ns::(mm|nn)){1,3}<4>$", mm));
    assert_true(matched("\\(\\(\\(|mm", mm));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_known_by_each_of_its_names),
        cmocka_unit_test(others_are_not_matched),
        cmocka_unit_test(what_regcomp_cannot_take_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
