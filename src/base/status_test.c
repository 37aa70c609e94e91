// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"
#include "base/testing.h"

static Status pass_on(Status status, bool *reached_end) {
    *reached_end = false;
    TRY(status);
    *reached_end = true;
    return STATUS_OK;
}

TEST(names_and_texts_come_from_the_table) {
    assert_string_equal(status_name(STATUS_OK), "OK");
    assert_string_equal(status_name(STATUS_CANCELLED), "CANCELLED");
    assert_string_equal(status_text(STATUS_NO_MEMORY), "out of memory");
}

TEST(a_status_outside_the_table_is_survived) {
    assert_string_equal(status_name((Status)999), "unknown status");
    assert_string_equal(status_text((Status)-1), "unknown status");
}

TEST(try_returns_what_is_not_ok) {
    bool end;
    assert_int_equal(pass_on(STATUS_IO, &end), STATUS_IO);
    assert_false(end);
    assert_int_equal(pass_on(STATUS_OK, &end), STATUS_OK);
    assert_true(end);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts_come_from_the_table),
        cmocka_unit_test(a_status_outside_the_table_is_survived),
        cmocka_unit_test(try_returns_what_is_not_ok),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
