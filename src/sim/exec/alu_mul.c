// SPDX-License-Identifier: Apache-2.0
// Integer multiplication, multiply-add, division and dot products (PTX ISA 9.7.1).
#include "sim/exec/lanes.h"

// The full product in the type twice as wide, and halves of it.
static inline u64 high_u64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
static inline i64 high_i64(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
static inline i32 clamp_s32(i64 v) { return (i32)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v); }

#define MULTIPLY(T, W, U, N)                                   \
    MAP2(mul_lo_##T, T, T, T, (U)a *(U)b)                      \
    MAP2(mul_hi_##T, T, T, T, (W)a *(W)b >> N)                 \
    MAP3(mad_lo_##T, T, T, T, T, (U)a *(U)b + (U)c)            \
    MAP3(mad_hi_##T, T, T, T, T, (U)((W)a * (W)b >> N) + (U)c) \
    MAP2(mul_wide_##T, W, T, T, (W)a *(W)b)
MULTIPLY(u16, u32, u32, 16)
MULTIPLY(i16, i32, u32, 16)
MULTIPLY(u32, u64, u32, 32)
MULTIPLY(i32, i64, u32, 32)
MAP3(mad_wide_u16, u32, u16, u16, u32, (u32)a *b + c)
MAP3(mad_wide_i16, u32, i16, i16, u32, (u32)((i32)a *b) + c)
MAP3(mad_wide_u32, u64, u32, u32, u64, (u64)a *b + c)
MAP3(mad_wide_i32, u64, i32, i32, u64, (u64)((i64)a *b) + c)
MAP2(mul_lo_u64, u64, u64, u64, a *b)
MAP3(mad_lo_u64, u64, u64, u64, u64, a *b + c)
EACH2(mul_hi_u64, u64, u64, u64, high_u64(a, b))
EACH2(mul_hi_i64, i64, i64, i64, high_i64(a, b))
EACH3(mad_hi_u64, u64, u64, u64, u64, high_u64(a, b) + c)
EACH3(mad_hi_i64, u64, i64, i64, u64, (u64)high_i64(a, b) + c)
MAP3(mad_hi_sat, i32, i32, i32, i32, clamp_s32(((i64)a * b >> 32) + c))

#define TABLE_MUL(op)                                                                               \
    {                                                                                               \
        [TYPE_U16] = op##_u16, [TYPE_U32] = op##_u32, [TYPE_U64] = op##_u64, [TYPE_S16] = op##_i16, \
        [TYPE_S32] = op##_i32, [TYPE_S64] = op##_i64                                                \
    }
#define mul_lo_i64 mul_lo_u64
#define mad_lo_i64 mad_lo_u64

EXEC_SELECT(mul_int) {
    static const ExecFn lo[TYPE_COUNT] = TABLE_MUL(mul_lo), hi[TYPE_COUNT] = TABLE_MUL(mul_hi);
    (void)in;
    return (shape_mod(shape, MOD_MUL_HALF) == MUL_HALF_HI ? hi : lo)[shape_type(shape, 0)];
}

EXEC_SELECT(mad_int) {
    static const ExecFn lo[TYPE_COUNT] = TABLE_MUL(mad_lo), hi[TYPE_COUNT] = TABLE_MUL(mad_hi);
    (void)in;
    bool high = shape_mod(shape, MOD_MUL_HALF) == MUL_HALF_HI;
    if (shape_has(shape, MOD_SAT)) return high && shape_type(shape, 0) == TYPE_S32 ? mad_hi_sat : NULL;
    return (high ? hi : lo)[shape_type(shape, 0)];
}

EXEC_SELECT(mul_wide) {
    static const ExecFn table[TYPE_COUNT] = {
        [TYPE_U16] = mul_wide_u16, [TYPE_S16] = mul_wide_i16, [TYPE_U32] = mul_wide_u32, [TYPE_S32] = mul_wide_i32};
    (void)in;
    return table[shape_type(shape, 0)];
}

EXEC_SELECT(mad_wide) {
    static const ExecFn table[TYPE_COUNT] = {
        [TYPE_U16] = mad_wide_u16, [TYPE_S16] = mad_wide_i16, [TYPE_U32] = mad_wide_u32, [TYPE_S32] = mad_wide_i32};
    (void)in;
    return table[shape_type(shape, 0)];
}

// The 48-bit product of the low 24 bits; .lo is its low, .hi its upper 32 bits.
static inline i64 product24_u32(u32 a, u32 b) { return (i64)((u64)(a & 0xffffff) * (b & 0xffffff)); }
static inline i64 product24_i32(i32 a, i32 b) {
    return (i64)((i32)((u32)a << 8) >> 8) * (i64)((i32)((u32)b << 8) >> 8);
}
#define MULTIPLY24(T)                                                 \
    MAP2(mul24_lo_##T, T, T, T, product24_##T(a, b))                  \
    MAP2(mul24_hi_##T, T, T, T, product24_##T(a, b) >> 16)            \
    MAP3(mad24_lo_##T, T, T, T, T, (u32)product24_##T(a, b) + (u32)c) \
    MAP3(mad24_hi_##T, T, T, T, T, (u32)(product24_##T(a, b) >> 16) + (u32)c)
MULTIPLY24(u32)
MULTIPLY24(i32)
MAP3(mad24_hi_sat, i32, i32, i32, i32, clamp_s32((i64)(i32)(product24_i32(a, b) >> 16) + c))

EXEC_SELECT(mul24) {
    static const ExecFn table[2][2] = {{mul24_lo_u32, mul24_lo_i32}, {mul24_hi_u32, mul24_hi_i32}};
    (void)in;
    return table[shape_mod(shape, MOD_MUL_HALF) == MUL_HALF_HI][shape_type(shape, 0) == TYPE_S32];
}

EXEC_SELECT(mad24) {
    static const ExecFn table[2][2] = {{mad24_lo_u32, mad24_lo_i32}, {mad24_hi_u32, mad24_hi_i32}};
    (void)in;
    bool high = shape_mod(shape, MOD_MUL_HALF) == MUL_HALF_HI, is_signed = shape_type(shape, 0) == TYPE_S32;
    if (shape_has(shape, MOD_SAT)) return high && is_signed ? mad24_hi_sat : NULL;
    return table[high][is_signed];
}

// Division. 32-bit quotients go through doubles, eight lanes at a time: for |a|, |b| < 2^32 a fractional a/b is at
// least 2^-32 away from the next integer, relative to a quotient below 2^32 / b, so that the correctly rounded double
// never reaches it and its floor is exact. By zero the quotient and the remainder are all ones, as sm_90 gives them
// (measured on an H200).
static inline f64 double_of(u32 v) {  // without a branch: 2^52 + v has v in its low mantissa bits
    union {
        u64 bits;
        f64 value;
    } u = {.bits = 0x4330000000000000ull | v};
    return u.value - 0x1p52;
}
static inline u32 quotient_u32(u32 a, u32 b) {
    f64 q = double_of(a) / double_of(b | (b == 0));
    union {
        f64 value;
        u64 bits;
    } u = {.value = q + 0x1p52};
    f64 rounded = u.value - 0x1p52;
    return (u32)u.bits - (rounded > q);
}
static inline u32 magnitude(i32 v) { return v < 0 ? 0 - (u32)v : (u32)v; }

static inline u32 div_u32_(u32 a, u32 b) { return b == 0 ? UINT32_MAX : quotient_u32(a, b); }
static inline u32 rem_u32_(u32 a, u32 b) { return b == 0 ? UINT32_MAX : a - quotient_u32(a, b) * b; }
static inline u32 div_s32_(i32 a, i32 b) {
    u32 q = quotient_u32(magnitude(a), magnitude(b)), sign = (u32)((a ^ b) >> 31);
    return b == 0 ? UINT32_MAX : (q ^ sign) - sign;
}
static inline u32 rem_s32_(i32 a, i32 b) {
    u32 r = magnitude(a) - quotient_u32(magnitude(a), magnitude(b)) * magnitude(b), sign = (u32)(a >> 31);
    return b == 0 ? UINT32_MAX : (r ^ sign) - sign;
}
static inline u64 div_u64_(u64 a, u64 b) { return b == 0 ? UINT64_MAX : (a | b) >> 32 ? a / b : (u32)a / (u32)b; }
static inline u64 rem_u64_(u64 a, u64 b) { return b == 0 ? UINT64_MAX : (a | b) >> 32 ? a % b : (u32)a % (u32)b; }
static inline u64 div_s64_(i64 a, i64 b) { return b == 0 ? UINT64_MAX : b == -1 ? 0 - (u64)a : (u64)(a / b); }
static inline u64 rem_s64_(i64 a, i64 b) { return b == 0 ? UINT64_MAX : b == -1 ? 0 : (u64)(a % b); }

MAP2(div_u32, u32, u32, u32, div_u32_(a, b))
MAP2(div_i32, u32, i32, i32, div_s32_(a, b))
MAP2(rem_u32, u32, u32, u32, rem_u32_(a, b))
MAP2(rem_i32, u32, i32, i32, rem_s32_(a, b))
MAP2(div_u16, u16, u16, u16, div_u32_(a, b))
MAP2(div_i16, i16, i16, i16, div_s32_(a, b))
MAP2(rem_u16, u16, u16, u16, rem_u32_(a, b))
MAP2(rem_i16, i16, i16, i16, rem_s32_(a, b))
EACH2(div_u64, u64, u64, u64, div_u64_(a, b))
EACH2(div_i64, u64, i64, i64, div_s64_(a, b))
EACH2(rem_u64, u64, u64, u64, rem_u64_(a, b))
EACH2(rem_i64, u64, i64, i64, rem_s64_(a, b))

EXEC_SELECT(div_int) {
    static const ExecFn table[TYPE_COUNT] = TABLE_MUL(div);
    (void)in;
    return table[shape_type(shape, 0)];
}
EXEC_SELECT(rem) {
    static const ExecFn table[TYPE_COUNT] = TABLE_MUL(rem);
    (void)in;
    return table[shape_type(shape, 0)];
}

// dp4a, dp2a: products of packed bytes (dp2a: of 16-bit halves of a and two bytes of b) added to c.
#define BYTE_u(v, n) (i32)((v) >> (8 * (n)) & 0xff)
#define BYTE_s(v, n) (i32)(i8)((v) >> (8 * (n)))
#define HALF_u(v, n) (i32)((v) >> (16 * (n)) & 0xffff)
#define HALF_s(v, n) (i32)(i16)((v) >> (16 * (n)))
#define DOT4(A, B)                                                                     \
    MAP3(dp4a_##A##B, u32, u32, u32, u32,                                              \
         c + (u32)(BYTE_##A(a, 0) * BYTE_##B(b, 0) + BYTE_##A(a, 1) * BYTE_##B(b, 1) + \
                   BYTE_##A(a, 2) * BYTE_##B(b, 2) + BYTE_##A(a, 3) * BYTE_##B(b, 3)))
#define DOT2(A, B, half, n)                        \
    MAP3(dp2a_##half##_##A##B, u32, u32, u32, u32, \
         c + (u32)(HALF_##A(a, 0) * BYTE_##B(b, n) + HALF_##A(a, 1) * BYTE_##B(b, n + 1)))
DOT4(u, u)
DOT4(u, s)
DOT4(s, u)
DOT4(s, s)
DOT2(u, u, lo, 0)
DOT2(u, s, lo, 0)
DOT2(s, u, lo, 0)
DOT2(s, s, lo, 0)
DOT2(u, u, hi, 2)
DOT2(u, s, hi, 2)
DOT2(s, u, hi, 2)
DOT2(s, s, hi, 2)

EXEC_SELECT(dp4a) {
    static const ExecFn table[2][2] = {{dp4a_uu, dp4a_us}, {dp4a_su, dp4a_ss}};
    (void)in;
    return table[shape_type(shape, 0) == TYPE_S32][shape_type(shape, 1) == TYPE_S32];
}
EXEC_SELECT(dp2a) {
    static const ExecFn table[2][2][2] = {{{dp2a_lo_uu, dp2a_lo_us}, {dp2a_lo_su, dp2a_lo_ss}},
                                          {{dp2a_hi_uu, dp2a_hi_us}, {dp2a_hi_su, dp2a_hi_ss}}};
    (void)in;
    bool high = shape_mod(shape, MOD_MUL_HALF) == MUL_HALF_HI;
    return table[high][shape_type(shape, 0) == TYPE_S32][shape_type(shape, 1) == TYPE_S32];
}
