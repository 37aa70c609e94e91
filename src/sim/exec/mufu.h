// SPDX-License-Identifier: Apache-2.0
// The multifunction unit (MUFU) that computes the .approx instructions, bit by bit: quadratic interpolation
// C0 + C1 d + C2 d^2 between the rows of a table, in fixed point (Oberman, Siu: A High-Performance Area-Efficient
// Multifunction Interpolator, ARITH 2005; for the first unit of this kind, envytools' nvhw/sfu.c). Tables, widths and
// rounding constants reproduce what an NVIDIA H200 gives for all 2^32 arguments (2026-11-21, driver 580, CUDA 13.0);
// other GPUs are taken to have the same unit. Arguments and results that are subnormal are zeros here.
//
// Sums of integers below 2^53 are exact in f64, in which they vectorise.
#ifndef WL_SIM_EXEC_MUFU_H
#define WL_SIM_EXEC_MUFU_H

#include "sim/exec/float.h"
#include <math.h>

#define MUFU_PACKED(c0, c1, c2) {c0, (u32)(c1) << 16 | (c2)},
static const u32 mufu_rcp_rows[128][2] = {
#define MUFU_RCP MUFU_PACKED
#include "sim/exec/mufu.def"
};
static const u32 mufu_rsqrt_rows[128][2] = {
#define MUFU_RSQRT MUFU_PACKED
#include "sim/exec/mufu.def"
};
static const u32 mufu_sqrt_rows[128][2] = {
#define MUFU_SQRT MUFU_PACKED
#include "sim/exec/mufu.def"
};
static const u32 mufu_sin_rows[64][2] = {
#define MUFU_SIN MUFU_PACKED
#include "sim/exec/mufu.def"
};
static const u32 mufu_ex2_rows[64][2] = {
#define MUFU_EX2 MUFU_PACKED
#include "sim/exec/mufu.def"
};
static const u32 mufu_lg2_rows[64][2] = {
#define MUFU_LG2 MUFU_PACKED
#include "sim/exec/mufu.def"
};
static const i32 mufu_tanh_rows[51][4] = {
#define MUFU_TANH(c0, c1, c2) {c0, c1, c2, 0},
#include "sim/exec/mufu.def"
};

// The unit's squarer: of the 17 x 17 partial products of x only those that weigh 2^18 or more are added.
#define MUFU_SQUARE_BIT(i) \
    ((0u - (x >> (i) & 1)) & (((x & ((1u << (i)) - 1)) + ((i) > 9 ? 1u << ((i) - 1) : 0)) >> (18 - (i))))
static inline u32 mufu_square(u32 x) {
    return MUFU_SQUARE_BIT(9) + MUFU_SQUARE_BIT(10) + MUFU_SQUARE_BIT(11) + MUFU_SQUARE_BIT(12) + MUFU_SQUARE_BIT(13) +
           MUFU_SQUARE_BIT(14) + MUFU_SQUARE_BIT(15) + MUFU_SQUARE_BIT(16);
}

// The terms of a row: C0 (26 bits), C1 d and C2 d^2 / 2^19.
typedef struct MufuTerms {
    f64 c0, linear, square;
} MufuTerms;
static inline MufuTerms mufu_terms(const u32 *row, u32 d, u32 square) {
    u32 c0 = row[0], c12 = row[1];
    return (MufuTerms){(f64)(i32)c0, (f64)(i32)(c12 >> 16) * (f64)(i32)d, (f64)(i32)(c12 & 0xffff) * (f64)(i32)square};
}

// What of a number fits 24 bits; exact.
static inline f64 mufu_truncate(f64 v) { return f64_of_bits(bits_of_f64(v) & ~0x1fffffffull); }
static inline f32 mufu_nan(void) { return f32_of_bits(NAN_BITS_F32); }
static inline u32 mufu_exponent(f32 v) { return bits_of_f32(v) >> 23 & 0xff; }
static inline u32 mufu_fraction(f32 v) { return bits_of_f32(v) & 0x7fffff; }
static inline u32 mufu_sign(f32 v) { return bits_of_f32(v) & 0x80000000; }
// A float from a biased exponent and a mantissa between 2^23 and 2^24, both included; too small is 0, too large infinity.
static inline u32 mufu_compose(i32 exponent, i32 mantissa) {
    i32 bits = (i32)((u32)exponent << 23) + (mantissa - 0x800000);
    return (u32)(bits < 0x00800000 ? 0 : bits > 0x7f800000 ? 0x7f800000 : bits);
}

// 2^24 / (1 + fraction / 2^23)
static inline i32 mufu_rcp_mantissa(u32 fraction) {
    u32 d = fraction & 0xffff;
    MufuTerms t = mufu_terms(mufu_rcp_rows[fraction >> 16], d, mufu_square(d << 1));
    return (i32)((t.c0 * 0x1p13 - t.linear + t.square + 0x47e7) * 0x1p-15);
}
// 2^24 / sqrt(1 + fraction / 2^23), and of 2 (1 + fraction / 2^23) with bit 23 set
static inline i32 mufu_rsqrt_mantissa(u32 fraction) {
    u32 d = fraction & 0x1ffff;
    MufuTerms t = mufu_terms(mufu_rsqrt_rows[fraction >> 17], d, mufu_square(d));
    i32 mantissa = (i32)((t.c0 * 0x1p14 - t.linear + t.square * 4.0 + 0x7fff) * 0x1p-16);
    return fraction ? mantissa : 0x1000000;
}
// 2^23 sqrt(1 + fraction / 2^23), and of 2 (1 + fraction / 2^23) with bit 23 set
static inline i32 mufu_sqrt_mantissa(u32 fraction) {
    u32 d = fraction & 0x1ffff;
    MufuTerms t = mufu_terms(mufu_sqrt_rows[fraction >> 17], d, mufu_square(d));
    f64 scaled = (t.linear - t.square + 0x7fff) * (fraction >> 23 ? 1.0 : 0.5) + t.c0 * 0x1p14;
    i32 mantissa = (i32)(scaled * 0x1p-16);
    return fraction ? mantissa : 0x800000;
}
// The fraction, with the exponent's parity in bit 23: what the roots look at.
static inline u32 mufu_root_fraction(u32 exponent, u32 fraction) { return fraction | (~exponent & 1) << 23; }

static inline f32 mufu_rcp(f32 v) {
    u32 exponent = mufu_exponent(v);
    u32 bits = mufu_compose(253 - (i32)exponent, mufu_rcp_mantissa(mufu_fraction(v)));
    bits = (exponent ? bits : 0x7f800000) | mufu_sign(v);
    return v == v ? f32_of_bits(bits) : mufu_nan();
}
static inline f32 mufu_rsqrt(f32 v) {
    u32 exponent = mufu_exponent(v), sign = mufu_sign(v);
    i32 mantissa = mufu_rsqrt_mantissa(mufu_root_fraction(exponent, mufu_fraction(v)));
    u32 bits = mufu_compose(126 - ((i32)(exponent + 129) / 2 - 128), mantissa);
    bits = exponent == 255 ? 0 : bits;
    bits = exponent ? bits : 0x7f800000 | sign;
    return v == v && !(exponent && sign) ? f32_of_bits(bits) : mufu_nan();
}
static inline f32 mufu_sqrt(f32 v) {
    u32 exponent = mufu_exponent(v), sign = mufu_sign(v);
    i32 mantissa = mufu_sqrt_mantissa(mufu_root_fraction(exponent, mufu_fraction(v)));
    u32 bits = mufu_compose((i32)(exponent + 129) / 2 - 1, mantissa);
    bits = exponent == 255 ? 0x7f800000 : bits;
    bits = exponent ? bits : sign;
    return v == v && !(exponent && sign) ? f32_of_bits(bits) : mufu_nan();
}

// The argument is made a fixed-point number with 23 fractional bits, truncated; a negative one is taken by its ones'
// complement unless it is an integer.
static inline f32 mufu_ex2(f32 v) {
    f32 magnitude = f32_of_bits(bits_of_f32(v) & 0x7fffffff);
    i32 fixed = (i32)((magnitude < 128.0f ? magnitude : 128.0f) * 0x1p23f);
    i32 negated = fixed & 0x7fffff ? ~fixed : -fixed;
    fixed = mufu_sign(v) ? negated : fixed;
    u32 fraction = (u32)fixed & 0x7fffff, d = fraction & 0x1ffff;
    MufuTerms t = mufu_terms(mufu_ex2_rows[fraction >> 17], d, mufu_square(d));
    i32 mantissa = (i32)((t.c0 * 0x1p13 + t.linear + t.square + 0x77e2) * 0x1p-15);
    return v == v ? f32_of_bits(mufu_compose((fixed >> 23) + 127, mantissa)) : mufu_nan();
}

// The logarithm of the mantissa with 36 fractional bits, the exponent added, truncated; a negative sum is taken by its
// ones' complement.
static inline f32 mufu_lg2(f32 v) {
    u32 exponent = mufu_exponent(v), fraction = mufu_fraction(v), d = fraction & 0x1ffff;
    MufuTerms t = mufu_terms(mufu_lg2_rows[fraction >> 17], d, mufu_square(d));
    f64 quarters = t.c0 * 0x1p12 + t.linear - t.square * 2.0 + 0x3345;
    f64 whole = (quarters * 0.25 - 0.375 + 0x1p52) - 0x1p52;  // rounded down
    f64 log = (fraction | (exponent ^ 127) ? whole : 0.0) + (f64)((i32)exponent - 127) * 0x1p36;
    f64 magnitude = mufu_truncate(log < 0.0 ? -1.0 - log : log);
    f32 result = (f32)(magnitude * 0x1p-36);
    result = f32_of_bits(bits_of_f32(result) | (log < 0.0 ? 0x80000000 : 0));
    result = exponent == 255 ? INFINITY : result;
    result = v < 0.0f ? mufu_nan() : result;
    result = exponent ? result : -INFINITY;
    return v == v ? result : mufu_nan();
}

// sin(2 pi v) for a v of 24 bits: made a fixed-point number of quarters with 23 fractional bits, truncated; the cosine is
// the sine of |v| and one quarter more.
static inline f32 mufu_sin_quarters(f64 v, u32 more) {
    u64 sign = bits_of_f64(v) >> 63;
    f64 magnitude = f64_of_bits(bits_of_f64(v) & 0x7fffffffffffffffull);
    f64 finite = magnitude < 0x1p24 ? magnitude : 0.0;
    u32 fixed = (u32)(i32)((finite - (f64)(i32)finite) * 0x1p25) + (more << 23);
    u32 fraction = (fixed >> 23 & 1 ? ~fixed : fixed) & 0x7fffff, d = fraction & 0x1ffff;
    MufuTerms t = mufu_terms(mufu_sin_rows[fraction >> 17], d, mufu_square(d));
    f32 sine = (f32)(mufu_truncate(t.c0 * 0x1p11 + t.linear - t.square) * 0x1p-37);
    u32 bits = bits_of_f32(sine) ^ ((more ? 0 : (u32)sign) ^ (fixed >> 24 & 1)) << 31;
    return magnitude < (f64)INFINITY ? f32_of_bits(bits) : mufu_nan();
}

// tanh: each octave from 2^-8 to 2^2 has its own number of segments, 2^bits from row `first`. Below tanh v = v, above 1.
static inline f32 mufu_tanh(f32 v) {
    // first << 4 | bits
    static const u32 octaves[11] = {0x000, 0x010, 0x020, 0x031, 0x051, 0x072, 0x0b2, 0x0f2, 0x133, 0x1b4, 0x2b3};
    i32 exponent = (i32)mufu_exponent(v) - 127, octave = exponent < -8 ? 0 : exponent > 2 ? 10 : exponent + 8;
    u32 place = octaves[octave], bits = place & 15, fraction = mufu_fraction(v) << bits;
    const i32 *row = mufu_tanh_rows[(place >> 4) + (fraction >> 23)];
    u32 d = (fraction & 0x7fffff) >> 6;
    f64 sum = (f64)row[0] * 0x1p16 + (f64)row[1] * (f64)(i32)d - (f64)row[2] * (f64)(i32)mufu_square(d);
    f64 unit = f64_of_bits((u64)(u32)(octave - 8 > 0 ? 1023 - 40 : 1023 - 48 + octave) << 52);
    f32 result = (f32)(mufu_truncate(sum) * unit);
    result = exponent < -8 ? f32_of_bits(bits_of_f32(v) & 0x7fffffff) : exponent > 2 ? 1.0f : result;
    return v == v ? f32_of_bits(bits_of_f32(result) | mufu_sign(v)) : mufu_nan();
}

// rcp and rsqrt of an f64: of its upper 32 bits, with a result of as many (PTX ISA 9.7.3, .approx.ftz.f64).
static inline u32 mufu_upper(f64 v) { return (u32)(bits_of_f64(v) >> 32); }
static inline f64 mufu_of_upper(u32 bits) { return f64_of_bits((u64)bits << 32); }
static inline u32 mufu_compose_upper(i32 exponent, i32 mantissa) {
    i32 bits = (i32)((u32)exponent << 20) + ((mantissa >> 3) - 0x100000);
    return (u32)(bits < 0x00100000 ? 0 : bits);
}
static inline f64 mufu_rcp_f64(f64 v) {
    u32 upper = mufu_upper(v), exponent = upper >> 20 & 0x7ff;
    u32 bits = mufu_compose_upper(2045 - (i32)exponent, mufu_rcp_mantissa((upper & 0xfffff) << 3));
    bits = (exponent ? bits : 0x7ff00000) | (upper & 0x80000000);
    return mufu_of_upper(v == v ? bits : NAN_BITS_F32);
}
static inline f64 mufu_rsqrt_f64(f64 v) {
    u32 upper = mufu_upper(v), exponent = upper >> 20 & 0x7ff, sign = upper & 0x80000000;
    i32 mantissa = mufu_rsqrt_mantissa(mufu_root_fraction(exponent, (upper & 0xfffff) << 3));
    u32 bits = mufu_compose_upper(1022 - ((i32)(exponent + 1025) / 2 - 1024), mantissa);
    bits = exponent == 0x7ff ? 0 : bits;
    bits = exponent ? bits : 0x7ff00000 | sign;
    return mufu_of_upper(v == v && !(exponent && sign) ? bits : NAN_BITS_F32);
}

#endif
