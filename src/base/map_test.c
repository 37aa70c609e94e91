// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include "base/testing.h"

TEST(empty_map_answers) {
    Map map = {0};
    u32 at = 0;
    u64 key, value;
    assert_null(map_get(&map, 0));
    assert_false(map_remove(&map, 0));
    assert_false(map_next(&map, &at, &key, &value));
    map_free(&map);
}

TEST(puts_gets_and_replaces) {
    Map map = {0};
    for (u64 i = 0; i < 5000; i++) assert_int_equal(map_put(&map, i << 32, i), STATUS_OK);
    for (u64 i = 0; i < 5000; i += 2) assert_int_equal(map_put(&map, i << 32, i + 1), STATUS_OK);
    assert_int_equal(map.len, 5000);
    for (u64 i = 0; i < 5000; i++) assert_int_equal(*map_get(&map, i << 32), i % 2 ? i : i + 1);
    assert_null(map_get(&map, 1));
    *map_get(&map, 0) = 99;
    assert_int_equal(*map_get(&map, 0), 99);
    map_free(&map);
}

// Against a plain array, with many removals, so that deleted slots are reused and swept.
TEST(agrees_with_an_array_under_random_use) {
    enum { KEYS = 512 };
    u64 expected[KEYS] = {0};  // 0 = absent
    Map map = {0};
    u64 random = 1;
    u32 len = 0;
    for (u64 step = 1; step < 100000; step++) {
        random = hash_u64(random);
        u32 key = random % KEYS;
        if (random >> 40 & 1) {
            len += expected[key] == 0;
            expected[key] = step;
            assert_int_equal(map_put(&map, key, step), STATUS_OK);
        } else {
            assert_int_equal(map_remove(&map, key), expected[key] != 0);
            len -= expected[key] != 0;
            expected[key] = 0;
        }
        assert_int_equal(map.len, len);
    }
    for (u32 key = 0; key < KEYS; key++) {
        u64 *value = map_get(&map, key);
        assert_int_equal(value ? *value : 0, expected[key]);
    }
    assert_true(map.cap <= 4 * KEYS);
    map_free(&map);
}

TEST(steady_churn_does_not_grow_it) {
    Map map = {0};
    for (u64 i = 0; i < 100000; i++) {
        assert_int_equal(map_put(&map, i, i), STATUS_OK);
        if (i >= 10) assert_true(map_remove(&map, i - 10));
    }
    assert_int_equal(map.len, 10);
    assert_true(map.cap <= 64);
    map_free(&map);
}

TEST(walks_every_pair_once) {
    Map map = {0};
    for (u64 i = 1; i <= 100; i++) assert_int_equal(map_put(&map, i, i * i), STATUS_OK);
    assert_true(map_remove(&map, 50));
    u64 keys = 0, key, value;
    u32 count = 0;
    for (u32 at = 0; map_next(&map, &at, &key, &value); count++) {
        assert_int_equal(value, key * key);
        keys += key;
    }
    assert_int_equal(count, 99);
    assert_int_equal(keys, 5000);
    map_free(&map);
}

TEST(out_of_memory_leaves_it_as_it_was) {
    for (u64 allowed = 0; allowed < 5; allowed++) {
        Map map = {0};
        u64 left = allowed, put = 0;
        testing_memory_out_after(&left);
        Status status;
        while ((status = map_put(&map, put, put + 1)) == STATUS_OK) put++;
        testing_memory_back();
        assert_int_equal(status, STATUS_NO_MEMORY);
        assert_int_equal(map.len, put);
        for (u64 i = 0; i < put; i++) assert_int_equal(*map_get(&map, i), i + 1);
        assert_int_equal(map_put(&map, put, 0), STATUS_OK);
        map_free(&map);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_map_answers),
        cmocka_unit_test(puts_gets_and_replaces),
        cmocka_unit_test(agrees_with_an_array_under_random_use),
        cmocka_unit_test(steady_churn_does_not_grow_it),
        cmocka_unit_test(walks_every_pair_once),
        cmocka_unit_test(out_of_memory_leaves_it_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
