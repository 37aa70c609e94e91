// SPDX-License-Identifier: Apache-2.0
// Memory for what there are thousands of and what is touched all the time, such as the state of simulated warps: blocks
// lie close together in large pages of the host (where it has them), so that few page faults bring them in and few
// entries of the TLB reach them. Blocks that are given back serve the next request of their size, those of a
// pool's thread rather its own. A sanitizer sees each
// block as one of malloc's.
// Threads: safe.
#ifndef WL_BASE_PAGES_H
#define WL_BASE_PAGES_H

#include "base/status.h"
#include "base/types.h"

typedef struct Pages Pages;

WL_MUST_USE Status pages_create(Pages **pages);
void pages_destroy(Pages *pages);  // its blocks have been given back

// A block aligned to 64 bytes, with any content; NULL: no memory. Without pages it is mem_alloc's.
void *pages_take(Pages *pages, size_t size);
void pages_give(Pages *pages, void *block, size_t size);  // `size` as it was taken; NULL is allowed
// A block of `size` with what was in `block`, which is given back unless the result is NULL.
void *pages_resize(Pages *pages, void *block, size_t before, size_t size);

bool pages_are_separate(void);  // each block is one of malloc's: in a build with a sanitizer that looks for such errors

#endif
