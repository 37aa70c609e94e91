// SPDX-License-Identifier: Apache-2.0
#include "base/near.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_meant_is_named),
        cmocka_unit_test(what_is_like_nothing_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
