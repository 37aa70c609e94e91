// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdio.h>
#include <string.h>

#include "base/testing.h"

typedef struct Seen {
    u32 lines;
    size_t len;
    LogLevel level;
    char text[64];
} Seen;

static void keep(void *context, LogLevel level, const char *text) {
    Seen *seen = context;
    seen->lines++;
    seen->level = level;
    seen->len = strlen(text);
    snprintf(seen->text, sizeof seen->text, "%s", text);
}

TEST(only_asked_for_levels_are_made) {
    Seen seen = {0};
    Log log = {keep, &seen, LOG_WARNING};
    log_printf(&log, LOG_INFO, "not this");
    log_printf(&log, LOG_DEBUG, "nor this");
    assert_int_equal(seen.lines, 0);
    log_printf(&log, LOG_WARNING, "dropped %u records", 3u);
    assert_int_equal(seen.lines, 1);
    assert_int_equal(seen.level, LOG_WARNING);
    assert_string_equal(seen.text, "dropped 3 records");
}

TEST(a_log_without_writer_is_silent) {
    log_printf(&(Log){.level = LOG_DEBUG}, LOG_ERROR, "nothing");
    log_printf(NULL, LOG_ERROR, "nothing");
}

TEST(long_texts_arrive_whole_or_cut_when_memory_is_out) {
    Seen seen = {0};
    Log log = {keep, &seen, LOG_DEBUG};
    log_printf(&log, LOG_INFO, "%5000d", 1);
    assert_int_equal(seen.len, 5000);
    u64 left = 0;
    testing_memory_out_after(&left);
    log_printf(&log, LOG_INFO, "%5000d", 1);
    testing_memory_back();
    assert_int_equal(seen.len, 1023);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_asked_for_levels_are_made),
        cmocka_unit_test(a_log_without_writer_is_silent),
        cmocka_unit_test(long_texts_arrive_whole_or_cut_when_memory_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
