// SPDX-License-Identifier: Apache-2.0
#include "base/bitset.h"

#include "base/testing.h"

static Bitset make(Arena *arena, u32 bits, u32 step) {
    Bitset set;
    assert_true(bitset_init(&set, arena, bits));
    for (u32 bit = 0; step && bit < bits; bit += step) bitset_add(&set, bit);
    return set;
}

TEST(members_come_and_go) {
    Arena arena = {0};
    Bitset set = make(&arena, 130, 0);
    bitset_add(&set, 0);
    bitset_add(&set, 64);
    bitset_add(&set, 129);
    assert_true(bitset_has(&set, 129) && bitset_has(&set, 64) && !bitset_has(&set, 65));
    bitset_remove(&set, 64);
    assert_false(bitset_has(&set, 64));
    assert_int_equal(bitset_count(&set), 2);
    bitset_clear(&set);
    assert_int_equal(bitset_count(&set), 0);
    arena_free(&arena);
}

TEST(equal_means_the_same_members) {
    Arena arena = {0};
    Bitset twos = make(&arena, 600, 2), again = make(&arena, 600, 2), threes = make(&arena, 600, 3);
    assert_true(bitset_equal(&twos, &again));
    assert_false(bitset_equal(&twos, &threes));
    assert_int_equal(bitset_count(&threes), 200);
    arena_free(&arena);
}

TEST(next_walks_in_order) {
    Arena arena = {0};
    Bitset set = make(&arena, 1000, 77);
    u32 expected = 0;
    for (u32 bit = bitset_next(&set, 0); bit != WL_NONE; bit = bitset_next(&set, bit + 1)) {
        assert_int_equal(bit, expected);
        expected += 77;
    }
    assert_int_equal(expected, 1001);
    assert_int_equal(bitset_next(&set, 1000), WL_NONE);
    assert_int_equal(bitset_next(&set, WL_NONE), WL_NONE);
    Bitset empty = make(&arena, 0, 0);
    assert_int_equal(bitset_next(&empty, 0), WL_NONE);
    arena_free(&arena);
}

TEST(out_of_memory_is_reported) {
    Arena arena = {0};
    Bitset set;
    u64 left = 0;
    testing_memory_out_after(&left);
    assert_false(bitset_init(&set, &arena, 100));
    testing_memory_back();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_and_go),
        cmocka_unit_test(equal_means_the_same_members),
        cmocka_unit_test(next_walks_in_order),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
