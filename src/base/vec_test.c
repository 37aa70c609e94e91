// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"

#include "base/testing.h"

typedef struct Pair {
    u32 key;
    f64 value;
} Pair;

TEST(keeps_what_is_pushed) {
    Vec(u32) numbers = {0};
    for (u32 i = 0; i < 10000; i++) assert_int_equal(vec_push(&numbers, i * 3), STATUS_OK);
    assert_int_equal(numbers.len, 10000);
    for (u32 i = 0; i < 10000; i++) assert_int_equal(numbers.data[i], i * 3);
    vec_free(&numbers);
    assert_null(numbers.data);
    assert_int_equal(numbers.cap, 0);
}

TEST(takes_structs_with_commas) {
    Vec(Pair) pairs = {0};
    assert_int_equal(vec_push(&pairs, (Pair){7, 0.5}), STATUS_OK);
    assert_int_equal(pairs.data[0].key, 7);
    vec_free(&pairs);
}

TEST(reserve_makes_room_for_exactly_that_many) {
    Vec(u8) bytes = {0};
    assert_int_equal(vec_reserve(&bytes, 1000), STATUS_OK);
    assert_true(bytes.cap >= 1000);
    u8 *data = bytes.data;
    for (u32 i = 0; i < 1000; i++) assert_int_equal(vec_push(&bytes, (u8)i), STATUS_OK);
    assert_ptr_equal(bytes.data, data);
    vec_free(&bytes);
}

TEST(out_of_memory_leaves_it_as_it_was) {
    Vec(u32) numbers = {0};
    u64 left = 1;
    testing_memory_out_after(&left);
    Status status;
    while ((status = vec_push(&numbers, numbers.len)) == STATUS_OK) continue;
    testing_memory_back();
    assert_int_equal(status, STATUS_NO_MEMORY);
    assert_true(numbers.len > 0 && numbers.len == numbers.cap);
    for (u32 i = 0; i < numbers.len; i++) assert_int_equal(numbers.data[i], i);
    assert_int_equal(vec_push(&numbers, 5), STATUS_OK);
    vec_free(&numbers);
}

TEST(more_than_32_bits_of_elements_are_refused) {
    Vec(u64) numbers = {0};
    assert_int_equal(vec_push(&numbers, 1), STATUS_OK);
    assert_int_equal(vec_reserve(&numbers, UINT32_MAX), STATUS_NO_MEMORY);
    assert_int_equal(numbers.data[0], 1);
    vec_free(&numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_is_pushed),
        cmocka_unit_test(takes_structs_with_commas),
        cmocka_unit_test(reserve_makes_room_for_exactly_that_many),
        cmocka_unit_test(out_of_memory_leaves_it_as_it_was),
        cmocka_unit_test(more_than_32_bits_of_elements_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
