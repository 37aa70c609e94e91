// SPDX-License-Identifier: Apache-2.0
// The bits of floating-point numbers (IEEE 754), and back.
#ifndef WL_BASE_FLOATS_H
#define WL_BASE_FLOATS_H

#include "base/types.h"

static inline u32 bits_of_f32(f32 v) {
    union {
        f32 v;
        u32 bits;
    } u = {.v = v};
    return u.bits;
}
static inline f32 f32_of_bits(u32 bits) {
    union {
        u32 bits;
        f32 v;
    } u = {.bits = bits};
    return u.v;
}
static inline u64 bits_of_f64(f64 v) {
    union {
        f64 v;
        u64 bits;
    } u = {.v = v};
    return u.bits;
}
static inline f64 f64_of_bits(u64 bits) {
    union {
        u64 bits;
        f64 v;
    } u = {.bits = bits};
    return u.v;
}

#endif
