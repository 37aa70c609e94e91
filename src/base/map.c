// SPDX-License-Identifier: Apache-2.0
// Linear probing. At most three quarters of the slots are used or deleted, so every probe meets a free slot.
#include "base/map.h"

#include "base/mem.h"

enum { SLOT_FREE, SLOT_USED, SLOT_DELETED };
enum { FIRST_CAP = 16 };
static const u32 max_cap = 1u << 31;

static u32 first_slot(u32 cap, u64 key) { return (u32)hash_u64(key) & (cap - 1); }

// The slot that holds `key`, WL_NONE when absent.
static u32 find(const Map *map, u64 key) {
    if (!map->cap) return WL_NONE;
    for (u32 at = first_slot(map->cap, key); map->state[at] != SLOT_FREE; at = (at + 1) & (map->cap - 1)) {
        if (map->state[at] == SLOT_USED && map->slots[at].key == key) return at;
    }
    return WL_NONE;
}

// Moves all pairs to new slots, which forgets the deleted ones. Grows only when the used ones alone ask for it.
static Status rehash(Map *map) {
    u32 cap = map->cap ? map->cap : FIRST_CAP;
    if (map->len >= cap / 2) {
        if (cap == max_cap) return STATUS_LIMIT;
        cap *= 2;
    }
    Map fresh = {.slots = mem_alloc(cap * sizeof *fresh.slots), .state = mem_zero(cap, 1), .cap = cap};
    if (!fresh.slots || !fresh.state) {
        map_free(&fresh);
        return STATUS_NO_MEMORY;
    }
    for (u32 i = 0; i < map->cap; i++) {
        if (map->state[i] != SLOT_USED) continue;
        u32 at = first_slot(cap, map->slots[i].key);
        while (fresh.state[at] != SLOT_FREE) at = (at + 1) & (cap - 1);
        fresh.slots[at] = map->slots[i];
        fresh.state[at] = SLOT_USED;
    }
    fresh.len = fresh.fill = map->len;
    map_free(map);
    *map = fresh;
    return STATUS_OK;
}

Status map_put(Map *map, u64 key, u64 value) {
    u32 at = find(map, key);
    if (at != WL_NONE) {
        map->slots[at].value = value;
        return STATUS_OK;
    }
    if (map->fill >= map->cap / 4 * 3) TRY(rehash(map));

    at = first_slot(map->cap, key);
    while (map->state[at] == SLOT_USED) at = (at + 1) & (map->cap - 1);
    if (map->state[at] == SLOT_FREE) map->fill++;
    map->len++;
    map->state[at] = SLOT_USED;
    map->slots[at] = (MapSlot){key, value};
    return STATUS_OK;
}

u64 *map_get(const Map *map, u64 key) {
    u32 at = find(map, key);
    return at == WL_NONE ? NULL : &map->slots[at].value;
}

bool map_remove(Map *map, u64 key) {
    u32 at = find(map, key);
    if (at == WL_NONE) return false;
    // Nobody probes past a slot whose successor is free, so it needs no marker.
    bool last = map->state[(at + 1) & (map->cap - 1)] == SLOT_FREE;
    map->state[at] = last ? SLOT_FREE : SLOT_DELETED;
    map->fill -= last;
    map->len--;
    return true;
}

void map_free(Map *map) {
    mem_free(map->slots);
    mem_free(map->state);
    *map = (Map){0};
}

bool map_next(const Map *map, u32 *at, u64 *key, u64 *value) {
    while (*at < map->cap && map->state[*at] != SLOT_USED) ++*at;
    if (*at >= map->cap) return false;
    *key = map->slots[*at].key;
    *value = map->slots[*at].value;
    ++*at;
    return true;
}
