// SPDX-License-Identifier: Apache-2.0
// The one door to the heap. Every allocation of Warplens passes here, so that a test can let the Nth one fail.
// Threads: safe, the hook is set once before other threads exist.
#ifndef WL_BASE_MEM_H
#define WL_BASE_MEM_H

#include "base/types.h"

// Like malloc, calloc, realloc and free; NULL when memory is out or the test hook says so. mem_free(NULL) is allowed.
void *mem_alloc(size_t size);
void *mem_zero(size_t count, size_t size);
void *mem_resize(void *block, size_t size);
void mem_free(void *block);
bool mem_refused(size_t size);  // by the test hook: for those who take memory elsewhere
char *mem_copy_str(Str text);   // NUL-terminated copy

// Tests only: called before each allocation with its size; returning false makes it fail. NULL takes the hook away.
typedef bool (*MemHook)(void *context, size_t size);
void mem_set_hook(MemHook hook, void *context);

#endif
