// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"

#include <string.h>

#include "base/testing.h"

TEST(zero_bytes_are_a_block_too) {
    void *a = mem_alloc(0), *b = mem_zero(0, 8), *c = mem_resize(NULL, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    c = mem_resize(c, 0);
    assert_non_null(c);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(NULL);
}

TEST(zeroed_memory_is_zero_and_checks_for_overflow) {
    u8 *block = mem_zero(100, 3);
    for (u32 i = 0; i < 300; i++) assert_int_equal(block[i], 0);
    mem_free(block);
    assert_null(mem_zero(SIZE_MAX / 2, 3));
}

TEST(copies_text_with_a_nul) {
    char *copy = mem_copy_str((Str){"warplens", 4});
    assert_string_equal(copy, "warp");
    mem_free(copy);
    copy = mem_copy_str((Str){NULL, 0});
    assert_string_equal(copy, "");
    mem_free(copy);
}

TEST(the_hook_fails_every_kind_of_allocation) {
    u64 left = 1;
    testing_memory_out_after(&left);
    char *block = mem_alloc(4);
    assert_non_null(block);
    memcpy(block, "abc", 4);
    assert_null(mem_alloc(1));
    assert_null(mem_zero(1, 1));
    assert_null(mem_resize(block, 100));
    assert_null(mem_copy_str(STR("x")));
    testing_memory_back();
    assert_string_equal(block, "abc");
    mem_free(block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bytes_are_a_block_too),
        cmocka_unit_test(zeroed_memory_is_zero_and_checks_for_overflow),
        cmocka_unit_test(copies_text_with_a_nul),
        cmocka_unit_test(the_hook_fails_every_kind_of_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
