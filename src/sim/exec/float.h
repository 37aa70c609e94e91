// SPDX-License-Identifier: Apache-2.0
// Scalars of the floating-point handlers, written so that a loop over them vectorises: NaN results, flushing,
// saturation, and the host's rounding mode for .rz .rm .rp.
#ifndef WL_SIM_EXEC_FLOAT_H
#define WL_SIM_EXEC_FLOAT_H

#include "base/floats.h"
#include "sim/exec/lanes.h"
#include <fenv.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define NAN_BITS_F32 0x7fffffffu            // every f32 result that is NaN (PTX ISA 9.7.3)
#define NAN_BITS_F64 0xfff8000000000000ull  // an f64 NaN made from numbers

static inline f64 quiet_f64(f64 v) { return f64_of_bits(bits_of_f64(v) | 0x0008000000000000ull); }
static inline f32 canonical_f32(f32 v) { return v == v ? v : f32_of_bits(NAN_BITS_F32); }
// .ftz: a subnormal becomes a zero of its sign.
static inline u32 flush_bits_f32(u32 bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }
static inline f32 flush_f32(f32 v) { return f32_of_bits(flush_bits_f32(bits_of_f32(v))); }
// .ftz of a result. It is subnormal when it is after rounding to 24 bits whatever the exponent, not in units of 2^-149
// (measured on an H200): `scaled` is the same operation in the same rounding mode, with a result 2^24 times as large.
// Where that overflows on its way, it may come out small, but the result is not. Macros, so that nothing is moved out
// of a rounding mode.
static inline f32 flush_scaled_f32(f32 result, f32 scaled) {
    u32 bits = bits_of_f32(result), tiny = (bits_of_f32(scaled) & 0x7fffffff) < 0x0c800000;  // 2^-102
    tiny &= (bits & 0x7fffffff) <= 0x00800000;                                               // 2^-126
    return f32_of_bits(tiny ? bits & 0x80000000 : bits);
}
#define MUL_FTZ_F32(a, b) flush_scaled_f32((a) * (b), (a)*0x1p24f * (b))
#define DIV_FTZ_F32(a, b) flush_scaled_f32((a) / (b), (a)*0x1p24f / (b))
#define FMA_FTZ_F32(a, b, c) flush_scaled_f32(__builtin_fmaf(a, b, c), __builtin_fmaf((a)*0x1p24f, b, (c)*0x1p24f))
// One rounding: the instruction where there is one, else the library's function lane by lane.
#if defined(__FMA__)
#define LANES_FMA LANES_SET
#else
#define LANES_FMA LANES_EACH
#endif
// Of a contracted sum (code.h): sign bits to be flipped in the product and in what it is added to.
#define CONTRACT_SIGNS(BITS)                                                     \
    const u##BITS product = (u##BITS)(in->mods & NEGATED_PRODUCT) << (BITS - 1); \
    const u##BITS addend = (u##BITS)(in->mods & NEGATED_ADDEND) << (BITS - 2);
#define SIGNED_F32(v, sign) f32_of_bits(bits_of_f32(v) ^ (sign))
#define SIGNED_F64(v, sign) f64_of_bits(bits_of_f64(v) ^ (sign))
// .sat: [+0, 1]; NaN becomes +0.
static inline f32 saturate_f32(f32 v) {
    f32 low = v > 0.0f ? v : 0.0f;
    return low < 1.0f ? low : 1.0f;
}
static inline f64 saturate_f64(f64 v) {
    f64 low = v > 0.0 ? v : 0.0;
    return low < 1.0 ? low : 1.0;
}

// Changes the rounding mode of the calling thread around a loop; what is loaded after entering and stored before
// leaving is rounded so.
#if defined(__SSE2__)
typedef u32 Rounding;
static inline Rounding rounding_enter(u16 token) {
    static const u16 control[4] = {0x0000, 0x6000, 0x2000, 0x4000};  // rn rz rm rp
    Rounding old = _mm_getcsr();
    _mm_setcsr((old & ~0x6000u) | control[(token - RND_RN) & 3]);
    __asm__ volatile("" ::: "memory");
    return old;
}
static inline void rounding_leave(Rounding old) {
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(old);
}
#else
typedef int Rounding;
static inline Rounding rounding_enter(u16 token) {
    static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    Rounding old = fegetround();
    fesetround(modes[(token - RND_RN) & 3]);
    __asm__ volatile("" ::: "memory");
    return old;
}
static inline void rounding_leave(Rounding old) {
    __asm__ volatile("" ::: "memory");
    fesetround(old);
}
#endif

// Defines name_rounded: `name` in the rounding mode that the selector left in in->mods.
#define ROUNDED(name)                                                  \
    static void name##_rounded(Exec *x, const SimInsn *in, u32 mask) { \
        Rounding old = rounding_enter(in->mods);                       \
        name(x, in, mask);                                             \
        rounding_leave(old);                                           \
    }

// The integer nearest to v, ties to even; and the other roundings to integers.
static inline f64 round_even_f64(f64 v) {
    f64 magic = f64_of_bits(0x4330000000000000ull | (bits_of_f64(v) & 0x8000000000000000ull));  // +-2^52
    f64 rounded = (v + magic) - magic;
    f64 magnitude = f64_of_bits(bits_of_f64(v) & 0x7fffffffffffffffull);
    f64 result = magnitude < 0x1p52 ? rounded : v;
    return f64_of_bits(bits_of_f64(result) | (bits_of_f64(v) & 0x8000000000000000ull));  // -0.3 gives -0
}
static inline f64 keep_sign_f64(f64 v, f64 sign) {
    return f64_of_bits(bits_of_f64(v) | (bits_of_f64(sign) & 0x8000000000000000ull));
}
static inline f64 round_down_f64(f64 v) {
    f64 r = round_even_f64(v);
    return keep_sign_f64(r > v ? r - 1.0 : r, v);
}
static inline f64 round_up_f64(f64 v) {
    f64 r = round_even_f64(v);
    return keep_sign_f64(r < v ? r + 1.0 : r, v);
}
static inline f64 round_zero_f64(f64 v) {
    f64 a = f64_of_bits(bits_of_f64(v) & 0x7fffffffffffffffull), r = round_even_f64(a);
    return keep_sign_f64(r > a ? r - 1.0 : r, v);
}

#endif
