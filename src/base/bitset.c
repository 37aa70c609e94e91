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

void bitset_fill(Bitset *set) {
    memset(set->words, 0xff, word_count(set) * sizeof *set->words);
    if (set->bits & 63) set->words[set->bits >> 6] = (1ull << (set->bits & 63)) - 1;
}

void bitset_copy(Bitset *to, const Bitset *from) {
    assert(to->bits == from->bits);
    memmove(to->words, from->words, word_count(to) * sizeof *to->words);
}

bool bitset_union(Bitset *to, const Bitset *from) {
    assert(to->bits == from->bits);
    u64 changed = 0;
    for (u32 i = 0, count = word_count(to); i < count; i++) {
        changed |= from->words[i] & ~to->words[i];
        to->words[i] |= from->words[i];
    }
    return changed != 0;
}

bool bitset_intersect(Bitset *to, const Bitset *from) {
    assert(to->bits == from->bits);
    u64 changed = 0;
    for (u32 i = 0, count = word_count(to); i < count; i++) {
        changed |= to->words[i] & ~from->words[i];
        to->words[i] &= from->words[i];
    }
    return changed != 0;
}

void bitset_subtract(Bitset *to, const Bitset *from) {
    assert(to->bits == from->bits);
    for (u32 i = 0, count = word_count(to); i < count; i++) to->words[i] &= ~from->words[i];
}

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
