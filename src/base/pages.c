// SPDX-License-Identifier: Apache-2.0
// Blocks are cut one behind the other from reservations of address space, which take memory only as far as they are
// used. Larger ones than LARGEST are malloc's. A thread of a pool cuts from reservations of its own, and a block goes
// back to where it was cut: what the thread takes next it has in its caches, whoever gave it back. Others' free blocks
// are taken before more is cut, so that memory does not grow with the threads.
#include "base/pages.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"

#if defined(__SANITIZE_ADDRESS__)
#define SEPARATE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SEPARATE 1
#endif
#endif
#ifndef SEPARATE
#define SEPARATE 0
#endif

// A slice of an H200's L2, of 184 KiB, is the largest block that a model has many of.
// Reservations are aligned to their size and begin with their corner's number.
enum { UNIT = 64, LARGEST = 1 << 18, LARGE_PAGE = 1 << 21, RESERVED = 1 << 25, CORNERS = 8 };

typedef struct Block {
    struct Block *next;
} Block;

typedef struct Corner {
    Block *free[LARGEST / UNIT + 1];  // by size, in units
    u8 *at, *end;                     // of the newest reservation, what is not used yet
} Corner;

struct Pages {
    pthread_mutex_t lock;
    Corner corners[CORNERS];  // of the threads
    u32 used;                 // corners that something was cut from
    Vec(u8 *) reserved;
};

static Corner *own_corner(Pages *pages) { return &pages->corners[pool_worker() % CORNERS]; }

static Corner *corner_of(Pages *pages, const void *block) {
    const u8 *p = block;
    return &pages->corners[*(const u32 *)(const void *)(p - (uintptr_t)p % RESERVED)];
}

Status pages_create(Pages **created) {
    Pages *pages = mem_zero(1, sizeof *pages);
    if (!pages) return STATUS_NO_MEMORY;
    pthread_mutex_init(&pages->lock, NULL);
    *created = pages;
    return STATUS_OK;
}

void pages_destroy(Pages *pages) {
    if (!pages) return;
    for (u32 i = 0; i < pages->reserved.len; i++) munmap(pages->reserved.data[i], RESERVED);
    vec_free(&pages->reserved);
    pthread_mutex_destroy(&pages->lock);
    mem_free(pages);
}

// Whole large pages: what comes before and behind goes back.
static u8 *reserve(void) {
    u8 *p = mmap(NULL, 2 * RESERVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t before = -(uintptr_t)p % RESERVED;
    if (before) munmap(p, before);
    munmap(p + before + RESERVED, RESERVED - before);
    madvise(p + before, RESERVED, MADV_HUGEPAGE);  // where refused, small pages do
    return p + before;
}
_Static_assert(RESERVED % LARGE_PAGE == 0, "reservations are whole large pages");

static void *cut(Pages *pages, Corner *corner, size_t size) {
    if ((size_t)(corner->end - corner->at) < size) {
        if (vec_reserve(&pages->reserved, 1) != STATUS_OK) return NULL;
        u8 *more = reserve();
        if (!more) return NULL;
        pages->reserved.data[pages->reserved.len++] = more;
        u32 number = (u32)(corner - pages->corners);
        *(u32 *)(void *)more = number;
        if (pages->used <= number) pages->used = number + 1;
        corner->at = more + UNIT;
        corner->end = more + RESERVED;
    }
    corner->at += size;
    return corner->at - size;
}

static void *pop(Corner *corner, size_t units) {
    Block *block = corner->free[units];
    if (block) corner->free[units] = block->next;
    return block;
}

// A free block of the corner, else of another.
static void *reuse(Pages *pages, Corner *corner, size_t units) {
    void *block = pop(corner, units);
    for (u32 i = 0; i < pages->used && !block; i++) block = pop(&pages->corners[i], units);
    return block;
}

bool pages_are_separate(void) { return SEPARATE; }

static bool is_separate(const Pages *pages, size_t size) { return SEPARATE || !pages || size > LARGEST; }

void *pages_take(Pages *pages, size_t size) {
    if (is_separate(pages, size)) return mem_alloc(size);
    if (mem_refused(size)) return NULL;
    size_t units = (size + UNIT - 1) / UNIT;
    if (!units) units = 1;
    pthread_mutex_lock(&pages->lock);
    Corner *corner = own_corner(pages);
    void *block = reuse(pages, corner, units);
    if (!block) block = cut(pages, corner, units * UNIT);
    pthread_mutex_unlock(&pages->lock);
    return block;
}

void pages_give(Pages *pages, void *given, size_t size) {
    if (!given || is_separate(pages, size)) return mem_free(given);
    size_t units = (size + UNIT - 1) / UNIT;
    if (!units) units = 1;
    Block *block = given;
    pthread_mutex_lock(&pages->lock);
    Corner *corner = corner_of(pages, block);
    block->next = corner->free[units];
    corner->free[units] = block;
    pthread_mutex_unlock(&pages->lock);
}

void *pages_resize(Pages *pages, void *block, size_t before, size_t size) {
    void *bigger = pages_take(pages, size);
    if (!bigger) return NULL;
    if (block) memcpy(bigger, block, before < size ? before : size);
    pages_give(pages, block, before);
    return bigger;
}
