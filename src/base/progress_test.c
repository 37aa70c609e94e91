// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <string.h>

#include "base/testing.h"

static void assert_line(u64 done, u64 total, f64 elapsed, const char *expected) {
    Progress progress = {.start = 100, .done = done, .total = total, .started = true};
    char line[256];
    size_t len = progress_format(&progress, 100 + elapsed, "matmul", "CTAs", line, sizeof line);
    assert_string_equal(line, expected);
    assert_int_equal(len, strlen(expected));
}

TEST(lines_read_well) {
    assert_line(1024, 4096, 1.2607, "matmul: 1,024 of 4,096 CTAs (25 %), 812 CTAs/s, 3.8 s left");
    assert_line(0, 4096, 0, "matmul: 0 of 4,096 CTAs (0 %)");
    assert_line(0, 4096, 5, "matmul: 0 of 4,096 CTAs (0 %)");
    assert_line(1234567, 0, 1, "matmul: 1,234,567 CTAs, 1,234,567 CTAs/s");
    assert_line(4096, 4096, 5, "matmul: 4,096 of 4,096 CTAs (100 %), 819 CTAs/s, took 5.0 s");
    assert_line(4095, 4096, 1, "matmul: 4,095 of 4,096 CTAs (99 %), 4,095 CTAs/s, 0.0 s left");
    assert_line(5, 10, 2, "matmul: 5 of 10 CTAs (50 %), 2.5 CTAs/s, 2.0 s left");
    assert_line(1, 10, 4, "matmul: 1 of 10 CTAs (10 %), 0.25 CTAs/s, 36 s left");
}

TEST(time_left_has_a_sensible_unit) {
    assert_line(1, 101, 1, "matmul: 1 of 101 CTAs (0 %), 1.0 CTAs/s, 100 s left");
    assert_line(1, 601, 1, "matmul: 1 of 601 CTAs (0 %), 1.0 CTAs/s, 10 min left");
    assert_line(1, 11701, 1, "matmul: 1 of 11,701 CTAs (0 %), 1.0 CTAs/s, 3 h 15 min left");
    assert_line(1, 864001, 1, "matmul: 1 of 864,001 CTAs (0 %), 1.0 CTAs/s, 10 days left");
}

TEST(a_short_buffer_is_cut) {
    Progress progress = {.done = 1};
    char line[5];
    assert_int_equal(progress_format(&progress, 0, "abc", "x", line, sizeof line), strlen("abc: 1 x"));
    assert_string_equal(line, "abc:");
}

TEST(lines_are_due_at_intervals_and_at_the_end) {
    Progress progress = {.interval = 0.5};
    assert_false(progress_update(&progress, 10.0, 0, 100));
    assert_false(progress_update(&progress, 10.4, 10, 100));
    assert_true(progress_update(&progress, 10.5, 20, 100));
    assert_false(progress_update(&progress, 10.9, 30, 100));
    assert_true(progress_update(&progress, 11.0, 40, 100));
    assert_true(progress_update(&progress, 11.1, 100, 100));
    assert_false(progress_update(&progress, 12.0, 100, 100));
}

TEST(short_work_shows_nothing) {
    Progress progress = {.interval = 0.5};
    assert_false(progress_update(&progress, 1.0, 0, 10));
    assert_false(progress_update(&progress, 1.1, 5, 10));
    assert_false(progress_update(&progress, 1.2, 10, 10));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_read_well),          cmocka_unit_test(time_left_has_a_sensible_unit),
        cmocka_unit_test(a_short_buffer_is_cut),    cmocka_unit_test(lines_are_due_at_intervals_and_at_the_end),
        cmocka_unit_test(short_work_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
