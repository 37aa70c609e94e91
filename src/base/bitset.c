// SPDX-License-Identifier: Apache-2.0
// Bits at and past `bits` in the last word are always 0.
#include "base/bitset.h"

#include <assert.h>
#include <string.h>

static u32 word_count(const Bitset *set) { return (u32)(((u64)set->bits + 63) / 64); }

bool bitset_init(Bitset *set, Arena *arena, u32 bits) {
    Bitset fresh = {.bits = bits};
    fresh.words = ARENA_ARRAY(arena, u64, word_count(&fresh));
    if (!fresh.words) return false;
    *set = fresh;
    return true;
}

void bitset_clear(Bitset *set) { memset(set->words, 0, word_count(set) * sizeof *set->words); }

bool bitset_equal(const Bitset *a, const Bitset *b) {
    assert(a->bits == b->bits);
    return memcmp(a->words, b->words, word_count(a) * sizeof *a->words) == 0;
}

u32 bitset_count(const Bitset *set) {
    u32 total = 0;
    for (u32 i = 0, count = word_count(set); i < count; i++) total += (u32)__builtin_popcountll(set->words[i]);
    return total;
}

u32 bitset_next(const Bitset *set, u32 from) {
    if (from >= set->bits) return WL_NONE;
    u32 at = from >> 6;
    u64 word = set->words[at] & ~0ull << (from & 63);
    for (u32 count = word_count(set); !word;) {
        if (++at == count) return WL_NONE;
        word = set->words[at];
    }
    return at * 64 + (u32)__builtin_ctzll(word);
}
