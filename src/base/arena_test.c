// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <string.h>

#include "base/testing.h"

TEST(blocks_are_aligned_and_apart) {
    Arena arena = {0};
    u8 *blocks[2000];
    for (u32 i = 0; i < WL_COUNT(blocks); i++) {
        size_t align = (size_t)1 << i % 7, size = i % 50;
        blocks[i] = arena_alloc(&arena, size, align);
        assert_int_equal((uintptr_t)blocks[i] % align, 0);
        memset(blocks[i], (int)(i & 0xff), size);
    }
    for (u32 i = 0; i < WL_COUNT(blocks); i++) {
        for (u32 at = 0; at < i % 50; at++) assert_int_equal(blocks[i][at], i & 0xff);
    }
    assert_true(arena.used <= arena.reserved);
    arena_free(&arena);
    assert_int_equal(arena.reserved, 0);
}

TEST(one_block_may_be_larger_than_usual) {
    Arena arena = {0};
    u8 *large = arena_zero(&arena, 5 << 20, 64);
    assert_non_null(large);
    assert_int_equal(large[(5 << 20) - 1], 0);
    assert_non_null(arena_alloc(&arena, 10, 1));
    arena_free(&arena);
}

TEST(zeroed_helpers_give_zeros) {
    Arena arena = {0};
    memset(arena_alloc(&arena, 1000, 8), 0xff, 1000);
    arena_reset(&arena);
    u64 *words = ARENA_ARRAY(&arena, u64, 100);
    for (u32 i = 0; i < 100; i++) assert_int_equal(words[i], 0);
    assert_int_equal(*ARENA_NEW(&arena, u32), 0);
    arena_free(&arena);
}

TEST(texts_are_copied_and_formatted) {
    Arena arena = {0};
    assert_string_equal(arena_copy_str(&arena, (Str){"warplens", 4}), "warp");
    assert_string_equal(arena_copy_str(&arena, (Str){NULL, 0}), "");
    assert_string_equal(arena_printf(&arena, "%s-%03u", "sm", 7u), "sm-007");
    char *wide = arena_printf(&arena, "%20000d", 1);
    assert_int_equal(strlen(wide), 20000);
    arena_free(&arena);
}

TEST(reset_keeps_one_block) {
    Arena arena = {0};
    arena_reset(&arena);
    for (u32 i = 0; i < 1000; i++) assert_non_null(arena_alloc(&arena, 100, 8));
    size_t before = arena.reserved;
    arena_reset(&arena);
    assert_int_equal(arena.used, 0);
    assert_true(arena.reserved > 0 && arena.reserved < before);
    size_t kept = arena.reserved;
    assert_non_null(arena_alloc(&arena, kept / 2, 8));
    assert_int_equal(arena.reserved, kept);
    arena_free(&arena);
}

TEST(impossible_sizes_are_refused) {
    Arena arena = {0};
    assert_null(arena_alloc(&arena, SIZE_MAX, 8));
    assert_null(arena_alloc(&arena, SIZE_MAX - 16, 8));
    assert_non_null(arena_alloc(&arena, 8, 8));
    assert_null(arena_alloc(&arena, SIZE_MAX - 4, 8));
    assert_null(arena_copy_str(&arena, (Str){"", SIZE_MAX}));
    arena_free(&arena);
}

TEST(out_of_memory_leaves_it_as_it_was) {
    Arena arena = {0};
    u64 left = 1;
    testing_memory_out_after(&left);
    char *text = arena_copy_str(&arena, STR("kept"));
    while (arena_alloc(&arena, 100, 1)) continue;
    assert_null(arena_zero(&arena, 4000, 8));
    assert_null(arena_printf(&arena, "%4000d", 1));
    assert_null(arena_copy_str(&arena, (Str){text, 4 << 10}));
    assert_string_equal(text, "kept");
    testing_memory_back();
    assert_non_null(arena_alloc(&arena, 100, 1));
    assert_string_equal(text, "kept");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_apart),
        cmocka_unit_test(one_block_may_be_larger_than_usual),
        cmocka_unit_test(zeroed_helpers_give_zeros),
        cmocka_unit_test(texts_are_copied_and_formatted),
        cmocka_unit_test(reset_keeps_one_block),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(out_of_memory_leaves_it_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
