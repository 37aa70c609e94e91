// SPDX-License-Identifier: Apache-2.0
#include "binary/kernel_name.h"

#include "base/testing.h"

static bool matched(const char *pattern, const char *mangled) {
    regex_t filter;
    assert_int_equal(regcomp(&filter, pattern, REG_EXTENDED | REG_NOSUB), 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_known_by_each_of_its_names),
        cmocka_unit_test(others_are_not_matched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
