// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of shared memory, in all the ways in which lanes may ask, beside a plain count.
#include <stdio.h>

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

static bool plain_agree(const u64 *address, u32 mask, u32 apart) {
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1 && mask >> (l ^ apart) & 1 && address[l] != address[l ^ apart]) return false;
    return true;
}

static u32 plain_wavefronts(const u64 *address, u32 mask, u32 bytes, bool load) {
    u32 passes = bytes <= 4 ? 1 : bytes / 4, lanes = LANES / passes, total = 0, words = bytes <= 4 ? 1 : bytes / 4;
    for (u32 pass = 0; pass < passes; pass++) {
        u32 part = (u32)(mask & ((1ull << lanes) - 1) << pass * lanes);
        u32 both = passes == 1 ? part : (u32)(mask & ((1ull << 2 * lanes) - 1) << pass * lanes);
        if (load && pass % 2 == 0 && passes > 1 && (plain_agree(address, both, 1) || plain_agree(address, both, 2))) {
            total += plain_degree(address, both, words);
            pass++;
        } else {
            total += plain_degree(address, part, words);
        }
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
        bool load = k / 64 % 2;
        u32 wavefronts = count_wavefronts(address, mask, bytes, load, &fewest);
        assert_int_equal(wavefronts, plain_wavefronts(address, mask, bytes, load));
        assert_in_range(fewest, 1, wavefronts);
    }
}

// bench/hwref/h200-shared-reads.tsv: what an H200 counts, wavefronts and conflicts.
TEST(wavefronts_are_an_h200s) {
    FILE *f = fopen("bench/hwref/h200-shared-reads.tsv", "r");
    char line[256], order[8];
    u32 rows = 0, bytes, places, apart, wavefronts, conflicts;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "shared_reads/%u_bytes/%u_places/%7[a-z]/%u_words/counted\t%u\twavefronts\t%u", &bytes,
                   &places, order, &apart, &wavefronts, &conflicts) != 6)
            continue;
        u64 address[LANES];
        u32 fewest, all;
        for (u32 l = 0; l < LANES; l++)
            address[l] = 4ull * apart * (order[0] == 't' ? l % places : l / (LANES / places));
        all = count_wavefronts(address, FULL_MASK, bytes, true, &fewest);
        if (all != wavefronts || all - fewest != conflicts) fail_msg("%u of %u for %s", all, fewest, line);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 138);
}

// Banks of the generations, beside what CUDA's programming guides and the papers on them say.
TEST(banks_are_those_of_the_model) {
    static const GpuModel gt200 = {.shared_banks = 16, .shared_bank_bytes = 4, .shared_lanes = 16},
                          fermi = {.shared_banks = 32, .shared_bank_bytes = 4, .shared_lanes = 32},
                          wide = {.shared_banks = 32, .shared_bank_bytes = 8, .shared_lanes = 32};
    static const struct {
        const GpuModel *gpu;
        u32 bytes, step, fewest, wavefronts;  // lane l at l * step
    } cases[] = {
        {&gt200, 4, 4, 1, 1},                           // G.3.3.1 of the guide 3.0: 16 lanes, 16 banks
        {&gt200, 4, 8, 1, 2},                           // every second bank
        {&gt200, 4, 12, 1, 1},                          // odd steps
        {&gt200, 4, 64, 1, 16},                         // a column of 16 words: one bank
        {&gt200, 4, 68, 1, 1},                          // ... and a word of padding
        {&gt200, 4, 128, 1, 16},                        // 32 lanes of one bank would be 32, half warps are 16 each
        {&fermi, 4, 128, 1, 32}, {&gt200, 8, 8, 2, 2},  // half the lanes at a time
        {&gt200, 4, 0, 1, 1},                           // one word for all
        {&fermi, 4, 8, 1, 2},    {&wide, 4, 8, 1, 1},   // G.5.3: 64-bit mode of Kepler
        {&wide, 4, 4, 1, 1},                            // two lanes a bank
        {&fermi, 8, 8, 2, 2},    {&wide, 8, 8, 1, 1},   // a whole warp at a time
        {&wide, 4, 16, 1, 2},    {&wide, 16, 16, 2, 2},
    };
    u64 address[LANES];
    for (u32 i = 0; i < WL_COUNT(cases); i++) {
        for (u32 l = 0; l < LANES; l++) address[l] = l * cases[i].step;
        u32 fewest, wavefronts = count_wavefronts_of(cases[i].gpu, address, FULL_MASK, cases[i].bytes, false, &fewest);
        if (wavefronts != cases[i].wavefronts || fewest != cases[i].fewest)
            fail_msg("case %u: %u of %u, expected %u of %u", i, wavefronts, fewest, cases[i].wavefronts,
                     cases[i].fewest);
    }
}

TEST(any_banks_agree_with_the_usual_ones) {
    static const GpuModel usual = {.shared_banks = 32, .shared_bank_bytes = 4, .shared_lanes = 32};
    static const u32 widths[] = {1, 4, 8, 16};
    u64 random = 7, address[LANES];
    for (u32 k = 0; k < 2000; k++) {
        u32 bytes = widths[k / 8 % WL_COUNT(widths)], fewest, same;
        random = hash_u64(random);
        for (u32 l = 0; l < LANES; l++) address[l] = element(k, l, random >> 20) * bytes;
        u32 mask = k / 32 % 2 ? FULL_MASK : (u32)random | 1u << random % LANES;
        bool load = k / 64 % 2;
        assert_int_equal(count_wavefronts(address, mask, bytes, load, &fewest),
                         count_wavefronts_of(&usual, address, mask, bytes, load, &same));
        assert_int_equal(fewest, same);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflicts_are_those_of_a_plain_count), cmocka_unit_test(wavefronts_are_an_h200s),
        cmocka_unit_test(banks_are_those_of_the_model), cmocka_unit_test(any_banks_agree_with_the_usual_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
