// SPDX-License-Identifier: Apache-2.0
// Sets of small integers as bits, for data-flow analyses. Memory belongs to the arena it was made in.
#ifndef WL_BASE_BITSET_H
#define WL_BASE_BITSET_H

#include "base/arena.h"
#include "base/types.h"

typedef struct Bitset {
    u64 *words;
    u32 bits;  // capacity
} Bitset;

bool bitset_init(Bitset *set, Arena *arena, u32 bits);  // empty set; false when out of memory
static inline bool bitset_has(const Bitset *set, u32 bit) { return set->words[bit >> 6] >> (bit & 63) & 1; }
static inline void bitset_add(Bitset *set, u32 bit) { set->words[bit >> 6] |= 1ull << (bit & 63); }
static inline void bitset_remove(Bitset *set, u32 bit) { set->words[bit >> 6] &= ~(1ull << (bit & 63)); }
void bitset_clear(Bitset *set);
bool bitset_equal(const Bitset *a, const Bitset *b);
u32 bitset_count(const Bitset *set);
u32 bitset_next(const Bitset *set, u32 from);  // first member >= from, WL_NONE at the end

#endif
