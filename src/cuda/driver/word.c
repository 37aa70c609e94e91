// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver/word.h"

#include <string.h>

#include "cuda/driver/driver.h"
#include "cuda/memory.h"

static cudaError_t view_of(CudaContext *c, const CudaWord *word, u8 **view) {
    if (word->address % word->bytes) return cudaErrorInvalidValue;
    return memory_view(c, driver_pointer(word->address), word->bytes, SIDE_DEVICE, view, NULL);
}

cudaError_t word_check(CudaContext *c, const CudaWord *word) {
    u8 *view;
    return view_of(c, word, &view);
}

cudaError_t word_write(CudaContext *c, const CudaWord *word) {
    u8 *view;
    cudaError_t error = view_of(c, word, &view);
    if (error == cudaSuccess) memcpy(view, &word->value, word->bytes);
    return error;
}

static bool holds(u64 now, const CudaWord *word) {
    i64 ahead = word->bytes == 4 ? (i32)((u32)now - (u32)word->value) : (i64)(now - word->value);
    u64 all = word->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    switch (word->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return ahead >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == (word->value & all);
    case CU_STREAM_WAIT_VALUE_AND: return (now & word->value) != 0;
    default: return (~(now | word->value) & all) != 0;
    }
}

cudaError_t word_is_there(CudaContext *c, const CudaWord *word, bool *there) {
    u8 *view;
    u64 now = 0;
    cudaError_t error = view_of(c, word, &view);
    if (error != cudaSuccess) return error;
    memcpy(&now, view, word->bytes);
    *there = holds(now, word);
    return cudaSuccess;
}
