// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/testing.h"

// Module hashes are stored in profiles: a change of these figures makes old profiles unmatchable.
TEST(figures_never_change) {
    assert_int_equal(hash_bytes("", 0), 0x96ebbe173ff72a30ull);
    assert_int_equal(hash_bytes("warplens", 8), 0x703c386a253235f1ull);
    const char *text = "who evicts whom, which thread waits where";
    assert_int_equal(hash_bytes(text, strlen(text)), 0x4d3c43550a625615ull);
    assert_int_equal(hash_u64(0), 0xe220a8397b1dcdafull);
}

TEST(does_not_depend_on_alignment) {
    static const char text[] = "the same bytes at another address, longer than a block";
    char buffer[sizeof text + 8];
    for (u32 offset = 0; offset < 8; offset++) {
        memcpy(buffer + offset, text, sizeof text);
        assert_int_equal(hash_bytes(buffer + offset, sizeof text), hash_bytes(text, sizeof text));
    }
}

TEST(zero_bytes_at_the_end_count) {
    u8 zeros[64] = {0};
    for (u32 a = 0; a < 64; a++) {
        for (u32 b = 0; b < a; b++) assert_int_not_equal(hash_bytes(zeros, a), hash_bytes(zeros, b));
    }
}

// Every input bit must change about half of the output: 32 +- 12 on average over many samples is generous.
TEST(every_bit_counts) {
    for (u32 len = 1; len <= 40; len++) {
        u8 bytes[40];
        for (u32 i = 0; i < len; i++) bytes[i] = (u8)(i * 37 + len);
        u64 hash = hash_bytes(bytes, len);
        u64 changed = 0;
        for (u32 bit = 0; bit < len * 8; bit++) {
            bytes[bit / 8] ^= (u8)(1 << bit % 8);
            u64 other = hash_bytes(bytes, len);
            assert_int_not_equal(hash, other);
            changed += (u64)__builtin_popcountll(hash ^ other);
            bytes[bit / 8] ^= (u8)(1 << bit % 8);
        }
        assert_in_range(changed / (len * 8), 26, 38);
    }
}

static int compare(const void *a, const void *b) {
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}

// The lower 32 bits are what tables use. 20,000 names collide 0.05 times on average when they are well spread.
TEST(lower_half_hardly_collides) {
    enum { NAMES = 20000 };
    static u32 hashes[NAMES];
    for (u32 i = 0; i < NAMES; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "%%r%u", i);
        hashes[i] = (u32)hash_bytes(name, (size_t)len);
    }
    qsort(hashes, NAMES, sizeof *hashes, compare);
    u32 collisions = 0;
    for (u32 i = 1; i < NAMES; i++) collisions += hashes[i] == hashes[i - 1];
    assert_in_range(collisions, 0, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_never_change),        cmocka_unit_test(does_not_depend_on_alignment),
        cmocka_unit_test(zero_bytes_at_the_end_count), cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(lower_half_hardly_collides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
