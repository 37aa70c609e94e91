// SPDX-License-Identifier: Apache-2.0
#include "base/intern.h"

#include <stdio.h>

#include "base/testing.h"

static u32 add(Intern *intern, const char *format, u32 number) {
    char text[32];
    int len = snprintf(text, sizeof text, format, number);
    u32 id;
    assert_int_equal(intern_add(intern, (Str){text, (size_t)len}, &id), STATUS_OK);
    return id;
}

TEST(ids_are_dense_and_in_order_of_first_appearance) {
    Intern intern = {0};
    for (u32 i = 0; i < 5000; i++) assert_int_equal(add(&intern, "%%r%u", i), i);
    for (u32 i = 0; i < 5000; i += 7) assert_int_equal(add(&intern, "%%r%u", i), i);
    assert_int_equal(intern.len, 5000);
    assert_string_equal(intern_text(&intern, 4321), "%r4321");
    assert_int_equal(intern_str(&intern, 4321).len, 6);
    assert_int_equal(intern_find(&intern, STR("%r77")), 77);
    assert_int_equal(intern_find(&intern, STR("%r5000")), WL_NONE);
    intern_free(&intern);
    assert_int_equal(intern.len, 0);
}

TEST(texts_stay_where_they_are) {
    Intern intern = {0};
    add(&intern, "first%u", 0);
    const char *text = intern_text(&intern, 0);
    for (u32 i = 0; i < 1000; i++) add(&intern, "%u", i);
    assert_ptr_equal(intern_text(&intern, 0), text);
    intern_free(&intern);
}

TEST(empty_texts_and_nul_bytes_are_texts) {
    Intern intern = {0};
    u32 empty, again, nul, prefix;
    assert_int_equal(intern_find(&intern, STR("")), WL_NONE);
    assert_int_equal(intern_add(&intern, STR(""), &empty), STATUS_OK);
    assert_int_equal(intern_add(&intern, (Str){NULL, 0}, &again), STATUS_OK);
    assert_int_equal(intern_add(&intern, STR("a\0b"), &nul), STATUS_OK);
    assert_int_equal(intern_add(&intern, STR("a"), &prefix), STATUS_OK);
    assert_int_equal(empty, again);
    assert_int_not_equal(nul, prefix);
    intern_free(&intern);
}

TEST(no_id_reads_as_empty) {
    Intern intern = {0};
    assert_string_equal(intern_text(&intern, WL_NONE), "");
    assert_int_equal(intern_str(&intern, WL_NONE).len, 0);
}

TEST(out_of_memory_leaves_it_as_it_was) {
    for (u64 allowed = 0; allowed < 8; allowed++) {
        Intern intern = {0};
        u64 left = allowed;
        u32 added = 0, id;
        Status status;
        testing_memory_out_after(&left);
        for (;; added++) {
            char text[32];
            int len = snprintf(text, sizeof text, "name%u", added);
            status = intern_add(&intern, (Str){text, (size_t)len}, &id);
            if (status != STATUS_OK) break;
        }
        testing_memory_back();
        assert_int_equal(status, STATUS_NO_MEMORY);
        assert_int_equal(intern.len, added);
        for (u32 i = 0; i <= added; i++) assert_int_equal(add(&intern, "name%u", i), i);
        intern_free(&intern);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_in_order_of_first_appearance),
        cmocka_unit_test(texts_stay_where_they_are),
        cmocka_unit_test(empty_texts_and_nul_bytes_are_texts),
        cmocka_unit_test(no_id_reads_as_empty),
        cmocka_unit_test(out_of_memory_leaves_it_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
