// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

// The one exception to "no mutable file-scope state": the test hook, see mem.h.
static MemHook hook;
static void *hook_context;

bool mem_refused(size_t size) { return WL_UNLIKELY(hook != NULL) && !hook(hook_context, size); }

void *mem_alloc(size_t size) { return mem_refused(size) ? NULL : malloc(size ? size : 1); }

void *mem_zero(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || mem_refused(bytes)) return NULL;
    return calloc(1, bytes ? bytes : 1);
}

void *mem_resize(void *block, size_t size) { return mem_refused(size) ? NULL : realloc(block, size ? size : 1); }

void mem_free(void *block) { free(block); }

char *mem_copy_str(Str text) {
    if (text.len == SIZE_MAX) return NULL;
    char *copy = mem_alloc(text.len + 1);
    if (!copy) return NULL;
    if (text.len) memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return copy;
}

void mem_set_hook(MemHook new_hook, void *context) {
    hook = new_hook;
    hook_context = context;
}
