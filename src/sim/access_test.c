// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of shared memory, in all the ways in which lanes may ask, beside a plain count.
#include "base/map.h"
#include "base/testing.h"
#include "sim/exec/access.h"

enum { BANKS = 32, WORDS = LANES * 4 };

// Distinct words of the fullest bank.
static u32 plain_degree(const u64 *address, u32 mask, u32 words) {
    u32 worst = 0;
    for (u32 bank = 0; bank < BANKS; bank++) {
        u32 seen[WORDS], count = 0;
        for (u32 i = 0; i < LANES * words; i++) {
            u32 lane = i / words, word = (u32)(address[lane] >> 2) + i % words, at = 0;
            if (!(mask >> lane & 1) || word % BANKS != bank) continue;
            while (at < count && seen[at] != word) at++;
            if (at == count) seen[count++] = word;
        }
        if (count > worst) worst = count;
    }
    return worst;
}

static u32 plain_wavefronts(const u64 *address, u32 mask, u32 bytes) {
    u32 passes = bytes <= 4 ? 1 : bytes / 4, lanes = LANES / passes, total = 0;
    for (u32 pass = 0; pass < passes; pass++) {
        u32 part = (u32)(mask & ((1ull << lanes) - 1) << pass * lanes);
        if (part) total += plain_degree(address, part, bytes <= 4 ? 1 : bytes / 4);
    }
    return total;
}

// Lane `l` of the pattern: lines, steps, halves that agree, rows and columns of tiles, one word, any word.
static u64 element(u32 pattern, u32 l, u64 random) {
    switch (pattern % 8) {
    case 0: return l;
    case 1: return l * (random % 40);
    case 2: return l % 16 + random % 64;
    case 3: return l / 16 * (random % 64);
    case 4: return random % 512;
    case 5: return l ^ (random & 31);
    case 6: return 2 * l - (l & (random % 32));
    default: return hash_u64(random + l) % 96;
    }
}

TEST(conflicts_are_those_of_a_plain_count) {
    static const u32 widths[] = {1, 4, 8, 16};
    u64 random = 1, address[LANES];
    for (u32 k = 0; k < 8000; k++) {
        u32 bytes = widths[k / 8 % WL_COUNT(widths)], fewest;
        random = hash_u64(random);
        for (u32 l = 0; l < LANES; l++) address[l] = element(k, l, random >> 20) * bytes;
        u32 mask = k / 32 % 2 ? FULL_MASK : (u32)random | 1u << random % LANES;
        u32 wavefronts = count_wavefronts(address, mask, bytes, &fewest);
        assert_int_equal(wavefronts, plain_wavefronts(address, mask, bytes));
        assert_in_range(fewest, 1, wavefronts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conflicts_are_those_of_a_plain_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
