// SPDX-License-Identifier: Apache-2.0
#include "base/vec.h"

#include <string.h>

enum { FIRST_CAP = 8 };

Status vec_grow(void *data, u32 *cap, u32 len, u32 extra, size_t size) {
    u64 need = (u64)len + extra;
    u64 grown = (u64)*cap + *cap / 2;
    if (grown < need) grown = need;
    if (grown < FIRST_CAP) grown = FIRST_CAP;
    if (grown > UINT32_MAX) grown = UINT32_MAX;
    size_t bytes;
    if (need > grown || __builtin_mul_overflow((size_t)grown, size, &bytes)) return STATUS_NO_MEMORY;

    // The data pointer has a type that is not known here, so it is read and written as bytes.
    void *block;
    memcpy(&block, data, sizeof block);
    block = mem_resize(block, bytes);
    if (!block) return STATUS_NO_MEMORY;
    memcpy(data, &block, sizeof block);
    *cap = (u32)grown;
    return STATUS_OK;
}
