// SPDX-License-Identifier: Apache-2.0
#include "base/intern.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

enum { FIRST_TABLE_CAP = 64 };

static u32 hash_of(Str text) { return (u32)hash_bytes(text.data, text.len); }

// The table slot that holds `text`, or the free one where it belongs.
static u32 find_slot(const Intern *intern, Str text, u32 hash) {
    u32 mask = intern->table_cap - 1;
    for (u32 at = hash & mask;; at = (at + 1) & mask) {
        u32 id = intern->table[at] - 1;
        if (id == WL_NONE) return at;
        const InternEntry *entry = &intern->entries[id];
        bool same = entry->hash == hash && entry->len == text.len;
        if (same && (text.len == 0 || memcmp(entry->text, text.data, text.len) == 0)) return at;
    }
}

static Status grow_table(Intern *intern) {
    u32 cap = intern->table_cap ? intern->table_cap * 2 : FIRST_TABLE_CAP;
    if (!cap) return STATUS_LIMIT;
    u32 *table = mem_zero(cap, sizeof *table);
    if (!table) return STATUS_NO_MEMORY;
    for (u32 id = 0; id < intern->len; id++) {
        u32 at = intern->entries[id].hash & (cap - 1);
        while (table[at]) at = (at + 1) & (cap - 1);
        table[at] = id + 1;
    }
    mem_free(intern->table);
    intern->table = table;
    intern->table_cap = cap;
    return STATUS_OK;
}

Status intern_add(Intern *intern, Str text, u32 *id) {
    if (text.len >= UINT32_MAX) return STATUS_LIMIT;
    if (intern->len >= intern->table_cap / 4 * 3) TRY(grow_table(intern));

    u32 hash = hash_of(text);
    u32 slot = find_slot(intern, text, hash);
    if (!intern->table[slot]) {
        if (intern->len == intern->cap) {
            TRY(vec_grow(&intern->entries, &intern->cap, intern->len, 1, sizeof *intern->entries));
        }
        char *copy = arena_copy_str(&intern->arena, text);
        if (!copy) return STATUS_NO_MEMORY;
        intern->entries[intern->len++] = (InternEntry){copy, (u32)text.len, hash};
        intern->table[slot] = intern->len;
    }
    *id = intern->table[slot] - 1;
    return STATUS_OK;
}

u32 intern_find(const Intern *intern, Str text) {
    if (!intern->table_cap) return WL_NONE;
    return intern->table[find_slot(intern, text, hash_of(text))] - 1;
}

const char *intern_text(const Intern *intern, u32 id) { return intern_str(intern, id).data; }

Str intern_str(const Intern *intern, u32 id) {
    if (id >= intern->len) return STR("");
    return (Str){intern->entries[id].text, intern->entries[id].len};
}

void intern_free(Intern *intern) {
    arena_free(&intern->arena);
    mem_free(intern->entries);
    mem_free(intern->table);
    *intern = (Intern){0};
}
