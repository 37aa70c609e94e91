// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct ArenaBlock {
    ArenaBlock *older;
    size_t size;  // of the whole block, this header included
};

// Blocks double from the first to the largest size; a request that needs more gets a block of its own size.
enum { FIRST_BLOCK = 4 << 10, LARGEST_BLOCK = 1 << 20 };

static void use_block(Arena *arena, ArenaBlock *block) {
    arena->block = block;
    arena->next = (u8 *)(block + 1);
    arena->end = (u8 *)block + block->size;
}

static bool add_block(Arena *arena, size_t size, size_t align) {
    size_t need;
    if (__builtin_add_overflow(size, sizeof(ArenaBlock) + align, &need)) return false;
    size_t usual = arena->block ? arena->block->size * 2 : FIRST_BLOCK;
    if (usual > LARGEST_BLOCK) usual = LARGEST_BLOCK;
    if (need < usual) need = usual;

    ArenaBlock *block = mem_alloc(need);
    if (!block) return false;
    block->older = arena->block;
    block->size = need;
    arena->reserved += need;
    use_block(arena, block);
    return true;
}

static size_t padding(const Arena *arena, size_t align) { return -(uintptr_t)arena->next & (align - 1); }

void *arena_alloc(Arena *arena, size_t size, size_t align) {
    assert(align && (align & (align - 1)) == 0);
    size_t room = (size_t)(arena->end - arena->next);
    size_t pad = padding(arena, align);
    if (WL_UNLIKELY(!arena->block || pad > room || size > room - pad)) {
        if (!add_block(arena, size, align)) return NULL;
        pad = padding(arena, align);
    }
    u8 *result = arena->next + pad;
    arena->next = result + size;
    arena->used += size;
    return result;
}

void *arena_zero(Arena *arena, size_t size, size_t align) {
    void *result = arena_alloc(arena, size, align);
    return result ? memset(result, 0, size) : NULL;
}

char *arena_copy_str(Arena *arena, Str text) {
    if (text.len == SIZE_MAX) return NULL;
    char *copy = arena_alloc(arena, text.len + 1, 1);
    if (!copy) return NULL;
    if (text.len) memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0) return NULL;

    char *text = arena_alloc(arena, (size_t)len + 1, 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

static void free_older(Arena *arena) {
    ArenaBlock *block = arena->block->older;
    while (block) {
        ArenaBlock *older = block->older;
        mem_free(block);
        block = older;
    }
    arena->block->older = NULL;
}

void arena_reset(Arena *arena) {
    if (!arena->block) return;
    free_older(arena);
    use_block(arena, arena->block);
    arena->used = 0;
    arena->reserved = arena->block->size;
}

void arena_free(Arena *arena) {
    if (arena->block) free_older(arena);
    mem_free(arena->block);
    *arena = (Arena){0};
}
