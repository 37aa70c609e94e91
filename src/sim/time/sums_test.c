// SPDX-License-Identifier: Apache-2.0
// Sums of every length about the width of the host's registers, against one value at a time.
#include "sim/time/sums.h"

#include <string.h>

#include "base/testing.h"

enum { MOST = 70, ROWS = 5, GUARD = 1 };  // a value behind the last, which stays as it is

static const u64 untouched = 0x5a5a5a5a5a5a5a5a;

static u64 next(u64 *seed) { return *seed = *seed * 6364136223846793005u + 1442695040888963407u; }

static void fill(u64 *values, u64 *seed) {
    for (u32 i = 0; i < MOST + GUARD; i++) values[i] = next(seed);
}

TEST(a_row_is_added_to_another) {
    u64 seed = 1, to[MOST + GUARD], from[MOST + GUARD], want[MOST + GUARD];
    for (u32 count = 0; count <= MOST; count++) {
        fill(to, &seed), fill(from, &seed);
        for (u32 i = 0; i < MOST + GUARD; i++) want[i] = to[i] + (i < count ? from[i] : 0);
        sums_add(to, from, count);
        assert_memory_equal(to, want, sizeof want);
    }
}

TEST(a_row_has_a_sum_and_bits) {
    u64 seed = 2, values[MOST + GUARD];
    for (u32 count = 0; count <= MOST; count++) {
        u64 sum = 0, any = 0;
        fill(values, &seed);
        for (u32 i = 0; i < MOST; i++) values[i] &= (u64)1 << (i % 64);  // each has one bit, or none
        for (u32 i = 0; i < count; i++) sum += values[i], any |= values[i];
        assert_int_equal(sums_all(values, count), sum);
        assert_int_equal(sums_bits(values, count), any);
    }
}

TEST(what_was_added_is_noted) {
    u64 seed = 3, to[MOST + GUARD], now[MOST + GUARD], base[MOST + GUARD], want[MOST + GUARD], want_base[MOST + GUARD];
    for (u32 count = 0; count <= MOST; count++) {
        fill(to, &seed), fill(now, &seed), fill(base, &seed);
        for (u32 i = 0; i < MOST + GUARD; i++) {
            want[i] = i < count ? now[i] - base[i] : to[i];
            want_base[i] = i < count ? now[i] : base[i];
        }
        sums_note(to, now, base, count);
        assert_memory_equal(to, want, sizeof want);
        assert_memory_equal(base, want_base, sizeof want_base);
    }
}

TEST(rows_are_summed) {
    u64 seed = 4, rows[ROWS][MOST + GUARD], to[MOST + GUARD];
    const u64 *row[ROWS];
    for (u32 r = 0; r < ROWS; r++) fill(rows[r], &seed), row[r] = rows[r];
    for (u32 row_count = 0; row_count <= ROWS; row_count++)
        for (u32 count = 0; count <= MOST; count++) {
            to[count] = untouched;
            sums_rows(to, row, row_count, count);
            for (u32 i = 0; i < count; i++) {
                u64 sum = 0;
                for (u32 r = 0; r < row_count; r++) sum += rows[r][i];
                assert_int_equal(to[i], sum);
            }
            assert_int_equal(to[count], untouched);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_added_to_another),
        cmocka_unit_test(a_row_has_a_sum_and_bits),
        cmocka_unit_test(what_was_added_is_noted),
        cmocka_unit_test(rows_are_summed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
