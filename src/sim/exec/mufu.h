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

// A row: C0 (26 bits); C1 (16 bits) and C2 (14 bits) packed.
typedef struct MufuRow {
    u32 c0, c12;
} MufuRow;
#define MUFU_ROW(c0, c1, c2) {c0, (u32)(c1) << 16 | (c2)},
static const MufuRow mufu_rcp_rows[128] = {
#define MUFU_RCP MUFU_ROW
#include "sim/exec/mufu.def"
};
static const MufuRow mufu_rsqrt_rows[128] = {
#define MUFU_RSQRT MUFU_ROW
#include "sim/exec/mufu.def"
};
static const MufuRow mufu_sqrt_rows[128] = {
#define MUFU_SQRT MUFU_ROW
#include "sim/exec/mufu.def"
};
static const MufuRow mufu_sin_rows[64] = {
#define MUFU_SIN MUFU_ROW
#include "sim/exec/mufu.def"
};
static const MufuRow mufu_ex2_rows[64] = {
#define MUFU_EX2 MUFU_ROW
#include "sim/exec/mufu.def"
};
static const MufuRow mufu_lg2_rows[64] = {
#define MUFU_LG2 MUFU_ROW
#include "sim/exec/mufu.def"
};
static const MufuRow mufu_tanh_rows[51] = {
#define MUFU_TANH MUFU_ROW
#include "sim/exec/mufu.def"
};

// The unit's squarer: of the 17 x 17 partial products of x only those that weigh 2^18 or more are added.
#define MUFU_SQUARE_BIT(i) \
    ((0u - (x >> (i)&1)) & (((x & ((1u << (i)) - 1)) + ((i) > 9 ? 1u << ((i)-1) : 0)) >> (18 - (i))))
static inline u32 mufu_square(u32 x) {
    return MUFU_SQUARE_BIT(9) + MUFU_SQUARE_BIT(10) + MUFU_SQUARE_BIT(11) + MUFU_SQUARE_BIT(12) + MUFU_SQUARE_BIT(13) +
           MUFU_SQUARE_BIT(14) + MUFU_SQUARE_BIT(15) + MUFU_SQUARE_BIT(16);
}

// The terms of the interpolation: C0, C1 d and C2 d^2 / 2^19.
static inline f64 mufu_constant(MufuRow row) { return (f64)(i32)row.c0; }
static inline f64 mufu_linear(MufuRow row, u32 d) { return (f64)(i32)(row.c12 >> 16) * (f64)(i32)d; }
static inline f64 mufu_quadratic(MufuRow row, u32 square) { return (f64)(i32)(row.c12 & 0xffff) * (f64)(i32)square; }

// What of a number fits 24 bits; exact.
static inline f64 mufu_truncate(f64 v) { return f64_of_bits(bits_of_f64(v) & ~0x1fffffffull); }
static inline f32 mufu_nan(void) { return f32_of_bits(NAN_BITS_F32); }
static inline u32 mufu_exponent(f32 v) { return bits_of_f32(v) >> 23 & 0xff; }
static inline u32 mufu_fraction(f32 v) { return bits_of_f32(v) & 0x7fffff; }
static inline u32 mufu_sign(f32 v) { return bits_of_f32(v) & 0x80000000; }
// A float from a biased exponent and a mantissa between 2^23 and 2^24, both included; too small is 0, too large
// infinity.
static inline u32 mufu_compose(i32 exponent, i32 mantissa) {
    i32 bits = (i32)((u32)exponent << 23) + (mantissa - 0x800000);
    return (u32)(bits < 0x00800000 ? 0 : bits > 0x7f800000 ? 0x7f800000 : bits);
}

// Every function comes in two parts, between which the row is fetched: mufu_NAME_row, its number in mufu_NAME_rows, and
// mufu_NAME, the result. So both vectorise.
typedef struct MufuRows {
    u32 c0[LANES], c12[LANES];
} MufuRows;
static inline void mufu_fetch(MufuRows *rows, const MufuRow *table, const u32 *place) {
    for (u32 l = 0; l < LANES; l++) rows->c0[l] = table[place[l]].c0, rows->c12[l] = table[place[l]].c12;
}
static inline MufuRow mufu_at(const MufuRows *rows, u32 l) { return (MufuRow){rows->c0[l], rows->c12[l]}; }

// --- rcp, rsqrt, sqrt -------------------------------------------------------------------------------------------
// 2^24 / (1 + fraction / 2^23)
static inline i32 mufu_rcp_mantissa(u32 fraction, MufuRow row) {
    u32 d = fraction & 0xffff;
    f64 sum = mufu_constant(row) * 0x1p13 - mufu_linear(row, d) + mufu_quadratic(row, mufu_square(d << 1));
    return (i32)((sum + 0x47e7) * 0x1p-15);
}
// 2^24 / sqrt(1 + fraction / 2^23), and of 2 (1 + fraction / 2^23) with bit 23 set
static inline i32 mufu_rsqrt_mantissa(u32 fraction, MufuRow row) {
    u32 d = fraction & 0x1ffff;
    f64 sum = mufu_constant(row) * 0x1p14 - mufu_linear(row, d) + mufu_quadratic(row, mufu_square(d)) * 4.0;
    i32 mantissa = (i32)((sum + 0x7fff) * 0x1p-16);
    return fraction ? mantissa : 0x1000000;
}
// 2^23 sqrt(1 + fraction / 2^23), and of 2 (1 + fraction / 2^23) with bit 23 set
static inline i32 mufu_sqrt_mantissa(u32 fraction, MufuRow row) {
    u32 d = fraction & 0x1ffff;
    f64 slope = mufu_linear(row, d) - mufu_quadratic(row, mufu_square(d)) + 0x7fff;
    i32 mantissa = (i32)((mufu_constant(row) * 0x1p14 + slope * (fraction >> 23 ? 1.0 : 0.5)) * 0x1p-16);
    return fraction ? mantissa : 0x800000;
}
// What the roots look at: the fraction, with the exponent's parity in bit 23.
static inline u32 mufu_root_fraction(f32 v) { return mufu_fraction(v) | (~bits_of_f32(v) & 0x800000); }

static inline u32 mufu_rcp_row(f32 v) { return mufu_fraction(v) >> 16; }
static inline f32 mufu_rcp(f32 v, MufuRow row) {
    u32 exponent = mufu_exponent(v);
    u32 bits = mufu_compose(253 - (i32)exponent, mufu_rcp_mantissa(mufu_fraction(v), row));
    bits = (exponent ? bits : 0x7f800000) | mufu_sign(v);
    return v == v ? f32_of_bits(bits) : mufu_nan();
}
static inline u32 mufu_rsqrt_row(f32 v) { return mufu_root_fraction(v) >> 17; }
static inline f32 mufu_rsqrt(f32 v, MufuRow row) {
    u32 exponent = mufu_exponent(v), sign = mufu_sign(v);
    i32 half = (i32)((exponent + 1) >> 1) - 64;  // of the exponent, rounded down
    u32 bits = mufu_compose(126 - half, mufu_rsqrt_mantissa(mufu_root_fraction(v), row));
    bits = exponent == 255 ? 0 : bits;
    bits = exponent ? (sign ? NAN_BITS_F32 : bits) : 0x7f800000 | sign;
    return v == v ? f32_of_bits(bits) : mufu_nan();
}
static inline u32 mufu_sqrt_row(f32 v) { return mufu_root_fraction(v) >> 17; }
static inline f32 mufu_sqrt(f32 v, MufuRow row) {
    u32 exponent = mufu_exponent(v), sign = mufu_sign(v);
    i32 half = (i32)((exponent + 1) >> 1) - 64;
    u32 bits = mufu_compose(127 + half, mufu_sqrt_mantissa(mufu_root_fraction(v), row));
    bits = exponent == 255 ? 0x7f800000 : bits;
    bits = exponent ? (sign ? NAN_BITS_F32 : bits) : sign;
    return v == v ? f32_of_bits(bits) : mufu_nan();
}

// rcp and rsqrt of an f64: of its upper 32 bits, with a result of as many (PTX ISA 9.7.3, .approx.ftz.f64).
static inline u32 mufu_upper(f64 v) { return (u32)(bits_of_f64(v) >> 32); }
static inline f64 mufu_of_upper(u32 bits) { return f64_of_bits((u64)bits << 32); }
static inline u32 mufu_compose_upper(i32 exponent, i32 mantissa) {
    i32 bits = (i32)((u32)exponent << 20) + ((mantissa >> 3) - 0x100000);
    return (u32)(bits < 0x00100000 ? 0 : bits);
}
#define mufu_rcp_f64_rows mufu_rcp_rows
#define mufu_rsqrt_f64_rows mufu_rsqrt_rows
static inline u32 mufu_rcp_f64_row(f64 v) { return (mufu_upper(v) & 0xfffff) >> 13; }
static inline f64 mufu_rcp_f64(f64 v, MufuRow row) {
    u32 upper = mufu_upper(v), exponent = upper >> 20 & 0x7ff;
    u32 bits = mufu_compose_upper(2045 - (i32)exponent, mufu_rcp_mantissa((upper & 0xfffff) << 3, row));
    bits = (exponent ? bits : 0x7ff00000) | (upper & 0x80000000);
    return mufu_of_upper(v == v ? bits : NAN_BITS_F32);
}
static inline u32 mufu_root_fraction_f64(f64 v) {
    u32 upper = mufu_upper(v);
    return (upper & 0xfffff) << 3 | (~upper & 0x100000) << 3;
}
static inline u32 mufu_rsqrt_f64_row(f64 v) { return mufu_root_fraction_f64(v) >> 17; }
static inline f64 mufu_rsqrt_f64(f64 v, MufuRow row) {
    u32 upper = mufu_upper(v), exponent = upper >> 20 & 0x7ff, sign = upper & 0x80000000;
    i32 half = (i32)((exponent + 1) >> 1) - 512;
    u32 bits = mufu_compose_upper(1022 - half, mufu_rsqrt_mantissa(mufu_root_fraction_f64(v), row));
    bits = exponent == 0x7ff ? 0 : bits;
    bits = exponent ? (sign ? NAN_BITS_F32 : bits) : 0x7ff00000 | sign;
    return mufu_of_upper(v == v ? bits : NAN_BITS_F32);
}

// --- ex2, lg2 ---------------------------------------------------------------------------------------------------
// The argument as a fixed-point number with 23 fractional bits, truncated; a negative one is taken by its ones'
// complement unless it is an integer.
static inline i32 mufu_ex2_fixed(f32 v) {
    f32 magnitude = f32_of_bits(bits_of_f32(v) & 0x7fffffff);
    i32 fixed = (i32)((magnitude < 128.0f ? magnitude : 128.0f) * 0x1p23f);
    i32 negated = fixed & 0x7fffff ? ~fixed : -fixed;
    return mufu_sign(v) ? negated : fixed;
}
static inline u32 mufu_ex2_row(f32 v) { return (u32)mufu_ex2_fixed(v) >> 17 & 63; }
static inline f32 mufu_ex2(f32 v, MufuRow row) {
    i32 fixed = mufu_ex2_fixed(v);
    u32 d = (u32)fixed & 0x1ffff;
    f64 sum = mufu_constant(row) * 0x1p13 + mufu_linear(row, d) + mufu_quadratic(row, mufu_square(d));
    i32 mantissa = (i32)((sum + 0x77e2) * 0x1p-15);
    return v == v ? f32_of_bits(mufu_compose((fixed >> 23) + 127, mantissa)) : mufu_nan();
}

// The mantissa's logarithm with 36 fractional bits, the exponent added, truncated; a negative sum is taken by its ones'
// complement.
static inline u32 mufu_lg2_row(f32 v) { return mufu_fraction(v) >> 17; }
static inline f32 mufu_lg2(f32 v, MufuRow row) {
    u32 exponent = mufu_exponent(v), fraction = mufu_fraction(v), d = fraction & 0x1ffff;
    f64 sum = mufu_constant(row) * 0x1p12 + mufu_linear(row, d) - mufu_quadratic(row, mufu_square(d)) * 2.0;
    f64 whole = ((sum + 0x3345) * 0.25 - 0.375 + 0x1p52) - 0x1p52;  // a quarter, rounded down
    f64 log = (fraction | (exponent ^ 127) ? whole : 0.0) + (f64)((i32)exponent - 127) * 0x1p36;
    f32 result = (f32)(mufu_truncate(log < 0.0 ? -1.0 - log : log) * 0x1p-36);
    u32 bits = bits_of_f32(result) | (log < 0.0 ? 0x80000000 : 0);
    bits = exponent == 255 ? 0x7f800000 : bits;
    bits = exponent ? (mufu_sign(v) ? NAN_BITS_F32 : bits) : 0xff800000;
    return v == v ? f32_of_bits(bits) : mufu_nan();
}

// --- sin, cos ---------------------------------------------------------------------------------------------------
// sin(2 pi v): v in quarters, a fixed-point number with 23 fractional bits, truncated. cos(2 pi v) is that of |v| and
// one quarter more.
static inline u32 mufu_quarters(f32 v) {
    u32 magnitude = bits_of_f32(v) & 0x7fffffff, fractional = 0u - (magnitude < 0x4b800000);  // below 2^24
    f32 turns = f32_of_bits(magnitude & fractional);
    return (u32)(i32)((turns - (f32)(i32)turns) * 0x1p25f);
}
// Odd quarters are run through backwards.
static inline u32 mufu_sin_place(u32 quarters) { return (quarters ^ (0u - (quarters >> 23 & 1))) & 0x7fffff; }
static inline f32 mufu_sin_of(f32 v, u32 quarters, u32 sign, MufuRow row) {
    u32 d = mufu_sin_place(quarters) & 0x1ffff;
    f64 sum = mufu_constant(row) * 0x1p11 + mufu_linear(row, d) - mufu_quadratic(row, mufu_square(d));
    f32 sine = (f32)(mufu_truncate(sum) * 0x1p-37);
    u32 bits = bits_of_f32(sine) ^ sign ^ (quarters << 7 & 0x80000000);
    u32 none = 0u - (mufu_exponent(v) == 255);
    return f32_of_bits((bits & ~none) | (NAN_BITS_F32 & none));
}
static inline u32 mufu_sin_row(f32 v) { return mufu_sin_place(mufu_quarters(v)) >> 17; }
static inline f32 mufu_sin(f32 v, MufuRow row) { return mufu_sin_of(v, mufu_quarters(v), mufu_sign(v), row); }
static inline u32 mufu_cos_row(f32 v) { return mufu_sin_place(mufu_quarters(v) + 0x800000) >> 17; }
static inline f32 mufu_cos(f32 v, MufuRow row) { return mufu_sin_of(v, mufu_quarters(v) + 0x800000, 0, row); }
#define mufu_cos_rows mufu_sin_rows

// --- tanh -------------------------------------------------------------------------------------------------------
// Each octave from 2^-8 to 2^2 has its own number of segments. Smaller arguments are their own result, that of larger
// ones is 1.
static inline u32 mufu_tanh_log(u32 exponent) {  // of the number
    return (exponent > 121) + (exponent > 123) + (exponent > 126) + (exponent > 127) - (exponent > 128);
}
static inline u32 mufu_tanh_row(f32 v) {
    static const u32 first[11] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
    u32 exponent = mufu_exponent(v), octave = exponent < 119 ? 0 : exponent > 129 ? 10 : exponent - 119;
    return first[octave] + (mufu_fraction(v) << mufu_tanh_log(octave + 119) >> 23);
}
static inline f32 mufu_tanh(f32 v, MufuRow row) {
    u32 exponent = mufu_exponent(v), log = mufu_tanh_log(exponent), d = (mufu_fraction(v) << log & 0x7fffff) >> 6;
    f64 sum = mufu_constant(row) * 0x1p15 + mufu_linear(row, d) - mufu_quadratic(row, mufu_square(d)) * 2.0;
    u32 scale = 127 - 31 - 2 * log + (exponent < 127 ? exponent - 127 : 0);
    f32 result = (f32)(mufu_truncate(sum) * f32_of_bits(scale << 23));
    u32 magnitude = bits_of_f32(v) & 0x7fffffff;
    u32 bits = exponent < 119 ? magnitude : exponent > 129 ? 0x3f800000 : bits_of_f32(result);
    return v == v ? f32_of_bits(bits | mufu_sign(v)) : mufu_nan();
}

#endif
