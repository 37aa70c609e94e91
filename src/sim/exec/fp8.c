// SPDX-License-Identifier: Apache-2.0
#include "sim/exec/fp8.h"
#include "sim/exec/float.h"

typedef struct Layout {
    i32 mantissa, min_exponent;  // bits; exponent of the smallest normal number
    u8 max, infinity;            // codes of the largest finite number, and of the first that is no number
} Layout;
static const Layout layouts[] = {[FP8_E4M3] = {3, -6, 0x7e, 0x7f}, [FP8_E5M2] = {2, -14, 0x7b, 0x7c}};

u8 fp8_of_f32(Fp8 format, f32 value) {
    const Layout *y = &layouts[format];
    u32 bits = bits_of_f32(value), sign = bits >> 24 & 0x80;
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7f;
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
    u32 magnitude = code & 0x7f, sign = (u32)(code & 0x80) << 24;
    if (format == FP8_E4M3 ? magnitude == 0x7f : magnitude > 0x7c) return f32_of_bits(NAN_BITS_F32);
    if (format == FP8_E5M2 && magnitude == 0x7c) return f32_of_bits(0x7f800000 | sign);
    u32 exponent = magnitude >> y->mantissa, fraction = magnitude & ((1u << y->mantissa) - 1);
    i32 power = (exponent ? (i32)exponent - 1 : 0) + y->min_exponent - y->mantissa;
    u32 significand = exponent ? fraction | 1u << y->mantissa : fraction;
    f32 scaled = (f32)significand * f32_of_bits((u32)(127 + power) << 23);
    return f32_of_bits(bits_of_f32(scaled) | sign);
}
