// SPDX-License-Identifier: Apache-2.0
// Growable arrays of any type. A zeroed Vec is empty and ready; vec_free gives the memory back. Not thread-safe.
//
//     Vec(u32) numbers = {0};
//     TRY(vec_push(&numbers, 7));
//     for (u32 i = 0; i < numbers.len; i++) use(numbers.data[i]);
#ifndef WL_BASE_VEC_H
#define WL_BASE_VEC_H

#include "base/mem.h"
#include "base/status.h"

#define Vec(T)   \
    struct {     \
        T *data; \
        u32 len; \
        u32 cap; \
    }

// Makes room for `extra` more elements of `size` bytes. STATUS_NO_MEMORY leaves the vector as it was.
// `data` points to the vector's data pointer, of whatever type that is.
Status vec_grow(void *data, u32 *cap, u32 len, u32 extra, size_t size);

#define vec_reserve(v, extra)                        \
    ((v)->cap - (v)->len >= (u32)(extra) ? STATUS_OK \
                                         : vec_grow(&(v)->data, &(v)->cap, (v)->len, (u32)(extra), sizeof *(v)->data))
#define vec_push(v, ...) \
    (vec_reserve(v, 1) == STATUS_OK ? ((v)->data[(v)->len] = (__VA_ARGS__), (v)->len++, STATUS_OK) : STATUS_NO_MEMORY)
#define vec_free(v) (mem_free((v)->data), (v)->data = NULL, (v)->len = (v)->cap = 0)

#endif
