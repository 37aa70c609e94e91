// SPDX-License-Identifier: Apache-2.0
// For *_test.c only: cmocka with the headers it wants before it, and memory that runs out on demand.
#ifndef WL_BASE_TESTING_H
#define WL_BASE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

// TEST(grows) { ... } is run by cmocka_unit_test(grows).
#define TEST(name) static void name(void **state __attribute__((unused)))

static inline bool testing_hook(void *context, size_t size) {
    (void)size;
    u64 *left = context;
    if (!*left) return false;
    --*left;
    return true;
}

// Lets *left more allocations succeed and all later ones fail, until testing_memory_back().
static inline void testing_memory_out_after(u64 *left) { mem_set_hook(testing_hook, left); }
static inline void testing_memory_back(void) { mem_set_hook(NULL, NULL); }

#endif
