// SPDX-License-Identifier: Apache-2.0
// The one hash map: u64 keys to u64 values, open addressing. Text keys go through intern.h first. A zeroed Map is
// empty and ready. Iteration order is not defined: sort what you print. Not thread-safe for writers.
#ifndef WL_BASE_MAP_H
#define WL_BASE_MAP_H

#include "base/status.h"

typedef struct MapSlot {
    u64 key, value;
} MapSlot;

typedef struct Map {
    MapSlot *slots;
    u8 *state;  // per slot: 0 free, 1 used, 2 deleted
    u32 cap;    // power of two, 0 at first
    u32 len;    // used slots
    u32 fill;   // used and deleted slots
} Map;

WL_MUST_USE Status map_put(Map *map, u64 key, u64 value);  // inserts or replaces
u64 *map_get(const Map *map, u64 key);                     // NULL when absent; valid until the next map_put
bool map_remove(Map *map, u64 key);
void map_free(Map *map);

// Walks all pairs: for (u32 at = 0; map_next(&map, &at, &key, &value);)
bool map_next(const Map *map, u32 *at, u64 *key, u64 *value);

u64 hash_bytes(const void *data, size_t len);  // 64-bit, the same on every machine and in every run
// The finaliser of splitmix64: every input bit changes about half of the output bits, and no two inputs collide.
static inline u64 hash_u64(u64 value) {
    value += 0x9e3779b97f4a7c15ull;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    return value ^ value >> 31;
}

#endif
