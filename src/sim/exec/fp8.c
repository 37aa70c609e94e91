// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/fp8.h"
#include "sim/exec/float.h"

typedef struct Layout {
    i32 mantissa, min_exponent;  // bits; exponent of the smallest normal number
    u8 max, nan;                 // codes of the largest finite number, and of the result for NaN
    u8 sign;                     // the sign's bit
} Layout;
static const Layout layouts[] = {[FP8_E4M3] = {3, -6, 0x7e, 0x7f, 0x80},
                                 [FP8_E5M2] = {2, -14, 0x7b, 0x7f, 0x80},
                                 [FP6_E2M3] = {3, 0, 0x1f, 0x1f, 0x20},
                                 [FP6_E3M2] = {2, -2, 0x1f, 0x1f, 0x20},
                                 [FP4_E2M1] = {1, 0, 0x07, 0x07, 0x08}};

u8 fp8_of_f32(Fp8 format, f32 value) {
    const Layout *y = &layouts[format];
    u32 bits = bits_of_f32(value), sign = bits >> 31 ? y->sign : 0;
    if ((bits & 0x7fffffff) > 0x7f800000) return y->nan;
    f64 magnitude = f32_of_bits(bits & 0x7fffffff);
    i32 exponent = (i32)(bits >> 23 & 0xff) - 127;
    if (exponent < y->min_exponent) exponent = y->min_exponent;
    if (exponent > 16) return (u8)(sign | y->max);
    // In units of the last place; codes count upwards through the exponents.
    f64 unit = f64_of_bits((u64)(1023 + exponent - y->mantissa) << 52);
    u32 code = (u32)round_even_f64(magnitude / unit) + ((u32)(exponent - y->min_exponent) << y->mantissa);
    return (u8)(sign | (code > y->max ? y->max : code));
}

f32 fp8_to_f32(Fp8 format, u8 code) {
    const Layout *y = &layouts[format];
    u32 magnitude = code & (y->sign - 1u), sign = code & y->sign ? 0x80000000 : 0;
    if (magnitude > y->max && magnitude != 0x7c) return f32_of_bits(NAN_BITS_F32);
    if (format == FP8_E5M2 && magnitude == 0x7c) return f32_of_bits(0x7f800000 | sign);
    u32 exponent = magnitude >> y->mantissa, fraction = magnitude & ((1u << y->mantissa) - 1);
    i32 power = (exponent ? (i32)exponent - 1 : 0) + y->min_exponent - y->mantissa;
    u32 significand = exponent ? fraction | 1u << y->mantissa : fraction;
    f32 scaled = (f32)significand * f32_of_bits((u32)(127 + power) << 23);
    return f32_of_bits(bits_of_f32(scaled) | sign);
}
