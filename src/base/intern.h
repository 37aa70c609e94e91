// SPDX-License-Identifier: Apache-2.0
// Texts to dense 32-bit ids and back; equal texts have equal ids. Ids are given in order of first appearance.
// The table owns the copies. A zeroed Intern is ready. Not thread-safe for writers.
#ifndef WL_BASE_INTERN_H
#define WL_BASE_INTERN_H

#include "base/arena.h"
#include "base/status.h"

typedef struct InternEntry {
    const char *text;  // NUL-terminated, in the arena
    u32 len;
    u32 hash;
} InternEntry;

typedef struct Intern {
    Arena arena;
    InternEntry *entries;
    u32 len, cap;
    u32 *table;  // open addressing: id + 1, 0 = free
    u32 table_cap;
} Intern;

WL_MUST_USE Status intern_add(Intern *intern, Str text, u32 *id);
u32 intern_find(const Intern *intern, Str text);        // WL_NONE when absent
const char *intern_text(const Intern *intern, u32 id);  // "" for WL_NONE
Str intern_str(const Intern *intern, u32 id);
void intern_free(Intern *intern);

#endif
