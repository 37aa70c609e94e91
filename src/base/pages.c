// SPDX-License-Identifier: Apache-2.0
// Blocks are cut one behind the other from reservations of address space, which take memory only as far as they are
// used. Larger ones than LARGEST are malloc's.
#include "base/pages.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
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
enum { UNIT = 64, LARGEST = 1 << 18, LARGE_PAGE = 1 << 21, RESERVED = 1 << 25 };

typedef struct Block {
    struct Block *next;
} Block;

struct Pages {
    pthread_mutex_t lock;
    Block *free[LARGEST / UNIT + 1];  // by size, in units
    u8 *at, *end;                     // of the newest reservation, what is not used yet
    Vec(u8 *) reserved;
};

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

// Whole large pages: what does not begin or end with one goes back.
static u8 *reserve(void) {
    u8 *p =
        mmap(NULL, RESERVED + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t before = -(uintptr_t)p % LARGE_PAGE;
    if (before) munmap(p, before);
    if (LARGE_PAGE - before) munmap(p + before + RESERVED, LARGE_PAGE - before);
    madvise(p + before, RESERVED, MADV_HUGEPAGE);  // where refused, small pages do
    return p + before;
}

static void *cut(Pages *pages, size_t size) {
    if ((size_t)(pages->end - pages->at) < size) {
        if (vec_reserve(&pages->reserved, 1) != STATUS_OK) return NULL;
        u8 *more = reserve();
        if (!more) return NULL;
        pages->reserved.data[pages->reserved.len++] = more;
        pages->at = more;
        pages->end = more + RESERVED;
    }
    pages->at += size;
    return pages->at - size;
}

static bool is_separate(const Pages *pages, size_t size) { return SEPARATE || !pages || size > LARGEST; }

void *pages_take(Pages *pages, size_t size) {
    if (is_separate(pages, size)) return mem_alloc(size);
    if (mem_refused(size)) return NULL;
    size_t units = (size + UNIT - 1) / UNIT;
    if (!units) units = 1;
    pthread_mutex_lock(&pages->lock);
    Block *block = pages->free[units];
    if (block)
        pages->free[units] = block->next;
    else
        block = cut(pages, units * UNIT);
    pthread_mutex_unlock(&pages->lock);
    return block;
}

void pages_give(Pages *pages, void *given, size_t size) {
    if (!given || is_separate(pages, size)) return mem_free(given);
    size_t units = (size + UNIT - 1) / UNIT;
    if (!units) units = 1;
    Block *block = given;
    pthread_mutex_lock(&pages->lock);
    block->next = pages->free[units];
    pages->free[units] = block;
    pthread_mutex_unlock(&pages->lock);
}

void *pages_resize(Pages *pages, void *block, size_t before, size_t size) {
    void *bigger = pages_take(pages, size);
    if (!bigger) return NULL;
    if (block) memcpy(bigger, block, before < size ? before : size);
    pages_give(pages, block, before);
    return bigger;
}
