// SPDX-License-Identifier: Apache-2.0
// The functions behind the .approx instructions, in double precision: more than 30 good bits, so that rounding them to
// f32 or less stays within every error that the PTX ISA documents. Branch-free, for loops that vectorise.
#ifndef WL_SIM_EXEC_APPROX_H
#define WL_SIM_EXEC_APPROX_H

#include "sim/exec/float.h"

// Approximations that other files' selectors hand out.
#define APPROX_FN(name) SIM_ISA_NAME(approx_##name)
void APPROX_FN(div_f32)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(div_f32_ftz)(Exec *x, const SimInsn *in, u32 mask);
void APPROX_FN(rcp_f64)(Exec *x, const SimInsn *in, u32 mask);

// 2^v; Taylor series on [-1/2, 1/2].
static inline f64 exp2_f64(f64 v) {
    f64 limited = v > 250.0 ? 250.0 : v < -250.0 ? -250.0 : v;
    f64 shifted = limited + 0x1.8p52, n = shifted - 0x1.8p52;
    f64 t = (limited - n) * 0.69314718055994530942;
    f64 p = 1.0 / 362880;
    p = p * t + 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    return p * f64_of_bits((bits_of_f64(shifted) << 52) + 0x3ff0000000000000ull);
}

// log2 of a positive number: exponent + 2/ln 2 * atanh((m - 1) / (m + 1)), m within [sqrt(1/2), sqrt(2)).
static inline f64 log2_f64(f64 v) {
    u64 offset = bits_of_f64(v) - 0x3fe6a09e667f3bcdull;
    u64 k = (u64)((i64)offset >> 52);
    f64 m = f64_of_bits(bits_of_f64(v) - (k << 52));
    f64 exponent = f64_of_bits(k + 0x4338000000000000ull) - 0x1.8p52;
    f64 s = (m - 1.0) / (m + 1.0), z = s * s;
    f64 p = 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1.0;
    return exponent + p * s * 2.8853900817779268147;
}

// sin(2 pi r) for |r| <= 1/4.
static inline f64 sin_turns_f64(f64 r) {
    f64 y = r * 6.2831853071795864769, z = y * y;
    f64 p = 1.0 / 355687428096000;
    p = p * z - 1.0 / 1307674368000;
    p = p * z + 1.0 / 6227020800;
    p = p * z - 1.0 / 39916800;
    p = p * z + 1.0 / 362880;
    p = p * z - 1.0 / 5040;
    p = p * z + 1.0 / 120;
    p = p * z - 1.0 / 6;
    return y + y * z * p;
}

static inline f64 tanh_f64(f64 v) {
    f64 a = f64_of_bits(bits_of_f64(v) & 0x7fffffffffffffffull);
    f64 e = exp2_f64((a > 20.0 ? 20.0 : a) * 2.8853900817779268147);
    f64 t = a < 0x1p-10 ? a - a * a * a * (1.0 / 3) : (e - 1.0) / (e + 1.0);
    return f64_of_bits(bits_of_f64(t) | (bits_of_f64(v) & 0x8000000000000000ull));
}

#endif
