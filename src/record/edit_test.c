// SPDX-License-Identifier: Apache-2.0
// Lists of edits: what is read, and what is said of a list that is wrong.
#include "record/edit.h"

#include "base/testing.h"

#include <string.h>

TEST(a_list_is_read_line_by_line) {
    Str text = STR("# of one kernel\n\nfree 100 12 f k\n  coalesced  50 0 k k\nconflict-free 100 3 k k");
    Edit edits[3];
    u32 line = 0, count = 0;
    for (bool more = true; more;) {
        Edit edit;
        assert_int_equal(edit_next(&text, "list", &line, &edit, &more, NULL), STATUS_OK);
        if (more) edits[count++] = edit;
    }
    assert_int_equal(count, 3);
    assert_int_equal(edits[0].kind, EDIT_FREE);
    assert_int_equal(edits[0].pc, 12);
    assert_memory_equal(edits[0].function.data, "f", 1);
    assert_memory_equal(edits[0].kernel.data, "k", 1);
    assert_int_equal(edits[1].kind, EDIT_COALESCED);
    assert_int_equal(edits[1].percent, 50);
    assert_int_equal(edits[2].kind, EDIT_CONFLICT_FREE);
    assert_int_equal(line, 5);
}

static void is_refused(const char *text, u32 line, const char *words) {
    Diag diag = {0};
    char said[512];
    assert_int_equal(edit_check((Str){text, strlen(text)}, "list", &diag), STATUS_INVALID);
    assert_int_equal(diag.errors, 1);
    assert_int_equal(diag.entries.data[0].line, line);
    diag_format(&diag.entries.data[0], said, sizeof said);
    if (!strstr(said, words)) fail_msg("%s", said);
    diag_free(&diag);
}

TEST(a_wrong_list_is_told) {
    is_refused("free 100 1 f k\nconflict-fre 100 1 f k\n", 2, "did you mean `conflict-free`?");
    is_refused("nonsense 100 1 f k\n", 1, "no edit is called `nonsense`");
    is_refused("free 0 1 f k\n", 1, "EDIT PERCENT PC FUNCTION KERNEL");
    is_refused("free 101 1 f k\n", 1, "EDIT PERCENT PC FUNCTION KERNEL");
    is_refused("free 100 4294967296 f k\n", 1, "EDIT PERCENT PC FUNCTION KERNEL");
    is_refused("free 100 -1 f k\n", 1, "EDIT PERCENT PC FUNCTION KERNEL");
    is_refused("free 100 1 f\n", 1, "EDIT PERCENT PC FUNCTION KERNEL");
    is_refused("free 100 1 f k more\n", 1, "EDIT PERCENT PC FUNCTION KERNEL");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_list_is_read_line_by_line),
                                       cmocka_unit_test(a_wrong_list_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
