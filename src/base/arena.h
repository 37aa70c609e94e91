// SPDX-License-Identifier: Apache-2.0
// Bump allocation by lifetime: everything in an arena is freed at once. Not thread-safe; one owner.
#ifndef WL_BASE_ARENA_H
#define WL_BASE_ARENA_H

#include "base/types.h"

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena {
    ArenaBlock *block;  // newest block, linked to older ones
    u8 *next;           // first free byte
    u8 *end;            // end of the newest block
    size_t used;        // bytes handed out
    size_t reserved;    // bytes taken from the heap
} Arena;

// A zeroed Arena is ready for use.
void *arena_alloc(Arena *arena, size_t size, size_t align);  // uninitialised; NULL when out of memory
void *arena_zero(Arena *arena, size_t size, size_t align);
char *arena_copy_str(Arena *arena, Str text);  // NUL-terminated
char *arena_printf(Arena *arena, const char *format, ...) WL_PRINTF(2, 3);
void arena_reset(Arena *arena);  // forget everything, keep the newest block
void arena_free(Arena *arena);

#define ARENA_NEW(arena, T) ((T *)arena_zero((arena), sizeof(T), _Alignof(T)))
#define ARENA_ARRAY(arena, T, count) ((T *)arena_zero((arena), sizeof(T) * (size_t)(count), _Alignof(T)))

#endif
