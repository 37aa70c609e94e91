// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 scalars in integer registers: only the low 16 bits of an argument are looked at, results are
// zero-extended. Written without branches, for loops that vectorise. Narrowing rounds to nearest even; the host must be
// in that mode too.
#ifndef WL_SIM_EXEC_HALF_H
#define WL_SIM_EXEC_HALF_H

#include "sim/exec/float.h"

#define NAN_BITS_HALF 0x7fffu  // f16 and bf16 results that are NaN

static inline f32 f16_to_f32(u32 h) {
    u32 magnitude = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    f32 scaled = f32_of_bits(magnitude) * 0x1p112f;  // moves the exponent's bias; exact, for subnormals too
    u32 bits = magnitude >= 0x7c00u << 13 ? magnitude | 0x7f800000 : bits_of_f32(scaled);
    return f32_of_bits(bits | sign);
}
static inline u32 f16_of_f32(f32 v) {
    u32 bits = bits_of_f32(v), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    u32 normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    // The unit of 0.5f's last place is 2^-24, that of f16 subnormals: the addition rounds to it.
    u32 subnormal = bits_of_f32(f32_of_bits(magnitude) + 0.5f) - 0x3f000000;
    u32 result = magnitude < 0x38800000 ? subnormal : magnitude >= 0x477ff000 ? 0x7c00 : normal;
    return magnitude > 0x7f800000 ? NAN_BITS_HALF : result | sign;
}
static inline f32 bf16_to_f32(u32 h) { return f32_of_bits(h << 16); }
static inline u32 bf16_of_f32(f32 v) {
    u32 bits = bits_of_f32(v), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? NAN_BITS_HALF : rounded;
}

// f64 to f32 rounded to odd: truncated, with the last bit set when inexact. Rounding that to a format with at least two
// bits less gives what rounding the f64 itself would (Boldo, Melquiond 2008).
static inline f32 odd_f32(f64 v) {
    f32 near = (f32)v;
    f64 magnitude = f64_of_bits(bits_of_f64(v) & 0x7fffffffffffffffull);
    f64 near_magnitude = (f64)f32_of_bits(bits_of_f32(near) & 0x7fffffff);
    u32 bits = bits_of_f32(near) - (near_magnitude > magnitude);
    bits |= (near_magnitude < magnitude) | (near_magnitude > magnitude);
    return f32_of_bits(bits);
}
static inline u32 f16_of_f64(f64 v) { return f16_of_f32(odd_f32(v)); }
static inline u32 bf16_of_f64(f64 v) { return bf16_of_f32(odd_f32(v)); }

// a * b + c of numbers with at most 26 bits, rounded to odd in f64: the product is exact, and the rest of the sum
// (Knuth's two-sum) decides.
static inline f64 odd_fma_f64(f64 a, f64 b, f64 c) {
    f64 p = a * b, s = p + c, t = s - p, rest = (p - (s - t)) + (c - t);
    u64 bits = bits_of_f64(s), inexact = (rest < 0.0) | (rest > 0.0), grows = (rest > 0.0) == (s > 0.0);
    u64 step = inexact & ~bits & 1;
    return f64_of_bits(grows ? bits + step : bits - step);
}

static inline u32 flush_f16(u32 h) { return h & 0x7c00 ? h & 0xffff : h & 0x8000; }
// As flush_scaled_f32: `exact` is h before it was rounded to nearest.
static inline u32 flush_result_f16(u32 h, f32 exact) {
    u32 magnitude = bits_of_f32(exact) & 0x7fffffff;
    return magnitude < 0x387ff000 ? h & 0x8000 : h;  // 2^-14 less half a unit
}

#endif
