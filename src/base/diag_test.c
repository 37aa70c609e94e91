// SPDX-License-Identifier: Apache-2.0
#include "base/diag.h"

#include <string.h>

#include "base/testing.h"

static void assert_formats(const Diag *diag, u32 index, const char *expected) {
    char line[256];
    assert_true(index < diag->entries.len);
    assert_int_equal(diag_format(&diag->entries.data[index], line, sizeof line), strlen(expected));
    assert_string_equal(line, expected);
}

TEST(entries_read_like_a_compilers) {
    Diag diag = {0};
    diag_text(&diag, DIAG_ERROR, "a.ptx", 3, 7, "unknown opcode '%s'", "foo");
    diag_text(&diag, DIAG_WARNING, "a.ptx", 3, 0, "odd");
    diag_text(&diag, DIAG_NOTE, "a.ptx", 0, 0, "empty");
    diag_text(&diag, DIAG_ERROR, NULL, 0, 0, "no file");
    diag_text(&diag, DIAG_ERROR, NULL, 3, 4, "text");
    diag_offset(&diag, DIAG_ERROR, "b.cubin", 0x1f, "bad section");
    diag_offset(&diag, DIAG_ERROR, NULL, 0, "bad magic");
    assert_formats(&diag, 0, "a.ptx:3:7: error: unknown opcode 'foo'");
    assert_formats(&diag, 1, "a.ptx:3: warning: odd");
    assert_formats(&diag, 2, "a.ptx: note: empty");
    assert_formats(&diag, 3, "error: no file");
    assert_formats(&diag, 4, "3:4: error: text");
    assert_formats(&diag, 5, "b.cubin: at byte 0x1f: error: bad section");
    assert_formats(&diag, 6, "at byte 0x0: error: bad magic");
    assert_int_equal(diag.errors, 5);
    diag_free(&diag);
    assert_int_equal(diag.errors, 0);
}

TEST(a_short_buffer_is_cut_and_the_full_length_told) {
    Diag diag = {0};
    diag_text(&diag, DIAG_ERROR, "f", 1, 1, "text");
    char line[6];
    assert_int_equal(diag_format(&diag.entries.data[0], line, sizeof line), strlen("f:1:1: error: text"));
    assert_string_equal(line, "f:1:1");
    diag_free(&diag);
}

TEST(entries_outlive_the_callers_texts) {
    Diag diag = {0};
    char file[] = "x.ptx", name[] = "foo";
    diag_text(&diag, DIAG_ERROR, file, 1, 1, "%s", name);
    memset(file, 'z', sizeof file - 1);
    memset(name, 'z', sizeof name - 1);
    assert_formats(&diag, 0, "x.ptx:1:1: error: foo");
    diag_free(&diag);
}

TEST(past_the_limit_entries_are_counted) {
    Diag diag = {.limit = 3};
    for (u32 i = 0; i < 10; i++) diag_text(&diag, DIAG_ERROR, "f", i, 1, "error");
    assert_int_equal(diag.entries.len, 3);
    assert_int_equal(diag.dropped, 7);
    assert_int_equal(diag.errors, 10);
    diag_free(&diag);
    for (u32 i = 0; i < 60; i++) diag_text(&diag, DIAG_NOTE, "f", i, 1, "note");
    assert_int_equal(diag.entries.len, 3);
    diag_free(&diag);
    diag.limit = 0;
    for (u32 i = 0; i < 60; i++) diag_text(&diag, DIAG_NOTE, "f", i, 1, "note");
    assert_int_equal(diag.entries.len, 50);
    assert_int_equal(diag.errors, 0);
    diag_free(&diag);
}

TEST(nobody_need_listen) {
    diag_text(NULL, DIAG_ERROR, "f", 1, 1, "text");
    diag_offset(NULL, DIAG_ERROR, "f", 1, "text");
}

TEST(out_of_memory_drops_and_counts) {
    for (u64 allowed = 0; allowed < 3; allowed++) {
        Diag diag = {0};
        u64 left = allowed;
        testing_memory_out_after(&left);
        for (u32 i = 0; i < 40; i++) diag_text(&diag, DIAG_ERROR, "file", i, 1, "%200d", 1);
        testing_memory_back();
        assert_int_equal(diag.errors, 40);
        assert_int_equal(diag.entries.len + diag.dropped, 40);
        assert_true(diag.dropped > 0);
        diag_free(&diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_read_like_a_compilers),
        cmocka_unit_test(a_short_buffer_is_cut_and_the_full_length_told),
        cmocka_unit_test(entries_outlive_the_callers_texts),
        cmocka_unit_test(past_the_limit_entries_are_counted),
        cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(out_of_memory_drops_and_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
