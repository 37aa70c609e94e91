// SPDX-License-Identifier: Apache-2.0
// abs, neg, min, max, copysign and testp of f32, f64 (PTX ISA 9.7.3).
#include "sim/exec/float.h"

#define SIGN32 0x80000000u
#define SIGN64 0x8000000000000000ull

#define EXP32 0x7f800000u
#define EXP64 0x7ff0000000000000ull

// A NaN becomes the canonical one, or for f64 quiet, and keeps its sign (measured on an H200: abs and neg are additions
// there).
static inline u32 number_or_nan32(u32 a, u32 result) { return (a & ~SIGN32) > EXP32 ? NAN_BITS_F32 : result; }
static inline u64 number_or_nan64(u64 a, u64 result) {
    return (a & ~SIGN64) > EXP64 ? a | 0x0008000000000000ull : result;
}
MAP1(abs_f32, u32, u32, number_or_nan32(a, a & ~SIGN32))
MAP1(abs_f32_ftz, u32, u32, number_or_nan32(a, flush_bits_f32(a) & ~SIGN32))
MAP1(abs_f64, u64, u64, number_or_nan64(a, a & ~SIGN64))
MAP1(neg_f32, u32, u32, number_or_nan32(a, a ^ SIGN32))
MAP1(neg_f32_ftz, u32, u32, number_or_nan32(a, flush_bits_f32(a) ^ SIGN32))
MAP1(neg_f64, u64, u64, number_or_nan64(a, a ^ SIGN64))
MAP2(copysign_f32, u32, u32, u32, (a & SIGN32) | (b & ~SIGN32))
MAP2(copysign_f64, u64, u64, u64, (a & SIGN64) | (b & ~SIGN64))

static ExecFn select_sign(const ExecShape *shape, ExecFn narrow, ExecFn narrow_ftz, ExecFn wide) {
    if (shape_type(shape, 0) == TYPE_F64) return wide;
    return shape_has(shape, MOD_FTZ) ? narrow_ftz : narrow;
}
EXEC_SELECT(abs_f) {
    (void)in;
    return select_sign(shape, abs_f32, abs_f32_ftz, abs_f64);
}
EXEC_SELECT(neg_f) {
    (void)in;
    return select_sign(shape, neg_f32, neg_f32_ftz, neg_f64);
}
EXEC_SELECT(copysign) {
    (void)in;
    return select_sign(shape, copysign_f32, copysign_f32, copysign_f64);
}

// min, max: a number wins over NaN unless .NaN is given; -0 is less than +0 (equal operands differ in their sign at
// most, so or-ing and and-ing their bits chooses).
#define MIN_MAX(T, BOTH_NAN)                                           \
    static inline T min_number_##T(T a, T b) {                         \
        T m = ((a < b) | (b != b)) ? a : b;                            \
        m = a == b ? T##_of_bits(bits_of_##T(a) | bits_of_##T(b)) : m; \
        return m == m ? m : BOTH_NAN;                                  \
    }                                                                  \
    static inline T max_number_##T(T a, T b) {                         \
        T m = ((a > b) | (b != b)) ? a : b;                            \
        m = a == b ? T##_of_bits(bits_of_##T(a) & bits_of_##T(b)) : m; \
        return m == m ? m : BOTH_NAN;                                  \
    }
MIN_MAX(f32, f32_of_bits(NAN_BITS_F32))
MIN_MAX(f64, quiet_f64(b))

static inline f32 magnitude_f32(f32 v) { return f32_of_bits(bits_of_f32(v) & ~SIGN32); }
static inline f32 propagate_nan(f32 m, f32 a, f32 b) { return ((a != a) | (b != b)) ? f32_of_bits(NAN_BITS_F32) : m; }
static inline f32 with_xor_sign(f32 m, f32 a, f32 b) {
    return m == m ? f32_of_bits(bits_of_f32(m) | ((bits_of_f32(a) ^ bits_of_f32(b)) & SIGN32)) : m;
}
#define SAME(v) (v)
#define MIN_MAX_F32(op, suffix, FLUSH)                                                                    \
    MAP2(op##_f32##suffix, f32, f32, f32, op##_number_f32(FLUSH(a), FLUSH(b)))                            \
    MAP2(op##_f32##suffix##_nan, f32, f32, f32, propagate_nan(op##_number_f32(FLUSH(a), FLUSH(b)), a, b)) \
    MAP2(op##_f32##suffix##_xorsign, f32, f32, f32,                                                       \
         with_xor_sign(op##_number_f32(magnitude_f32(FLUSH(a)), magnitude_f32(FLUSH(b))), a, b))          \
    MAP2(op##_f32##suffix##_nan_xorsign, f32, f32, f32,                                                   \
         with_xor_sign(propagate_nan(op##_number_f32(magnitude_f32(FLUSH(a)), magnitude_f32(FLUSH(b))), a, b), a, b))
MIN_MAX_F32(min, , SAME)
MIN_MAX_F32(min, _ftz, flush_f32)
MIN_MAX_F32(max, , SAME)
MIN_MAX_F32(max, _ftz, flush_f32)
MAP2(min_f64, f64, f64, f64, min_number_f64(a, b))
MAP2(max_f64, f64, f64, f64, max_number_f64(a, b))

#define MIN_MAX_SELECT(op)                                                                                 \
    EXEC_SELECT(op##_f) {                                                                                  \
        static const ExecFn table[2][2][2] = {                                                             \
            {{op##_f32, op##_f32_nan}, {op##_f32_xorsign, op##_f32_nan_xorsign}},                          \
            {{op##_f32_ftz, op##_f32_ftz_nan}, {op##_f32_ftz_xorsign, op##_f32_ftz_nan_xorsign}}};         \
        (void)in;                                                                                          \
        if (shape_type(shape, 0) == TYPE_F64) return op##_f64;                                             \
        return table[shape_has(shape, MOD_FTZ)][shape_has(shape, MOD_XORSIGN)][shape_has(shape, MOD_NAN)]; \
    }
MIN_MAX_SELECT(min)
MIN_MAX_SELECT(max)

// Of three: the first two, then the third. The NaN that stands for "none of the first two is a number" loses to a
// number.
#define MIN_MAX3(op, suffix, FLUSH, PREPARE)                                     \
    static inline f32 op##3_f32##suffix##_of(f32 a, f32 b, f32 c) {              \
        f32 x = PREPARE(FLUSH(a)), y = PREPARE(FLUSH(b)), z = PREPARE(FLUSH(c)); \
        return op##_number_f32(op##_number_f32(x, y), z);                        \
    }                                                                            \
    MAP3(op##3_f32##suffix, f32, f32, f32, f32, op##3_f32##suffix##_of(a, b, c)) \
    MAP3(op##3_f32##suffix##_nan, f32, f32, f32, f32,                            \
         propagate_nan(propagate_nan(op##3_f32##suffix##_of(a, b, c), a, b), c, c))
#define MIN_MAX3_SELECT(op)                                                                            \
    MIN_MAX3(op, , SAME, SAME)                                                                         \
    MIN_MAX3(op, _ftz, flush_f32, SAME)                                                                \
    MIN_MAX3(op, _abs, SAME, magnitude_f32)                                                            \
    MIN_MAX3(op, _ftz_abs, flush_f32, magnitude_f32)                                                   \
    EXEC_SELECT(op##3_f) {                                                                             \
        static const ExecFn table[2][2][2] = {                                                         \
            {{op##3_f32, op##3_f32_nan}, {op##3_f32_abs, op##3_f32_abs_nan}},                          \
            {{op##3_f32_ftz, op##3_f32_ftz_nan}, {op##3_f32_ftz_abs, op##3_f32_ftz_abs_nan}}};         \
        (void)in;                                                                                      \
        return table[shape_has(shape, MOD_FTZ)][shape_has(shape, MOD_ABS)][shape_has(shape, MOD_NAN)]; \
    }
MIN_MAX3_SELECT(min)
MIN_MAX3_SELECT(max)

// testp; zeros count as normal.
#define TESTP(name, T, condition)                                    \
    static void testp_##name(Exec *x, const SimInsn *in, u32 mask) { \
        const CELL_##T *pa = exec_operand(x, in->src[0]);            \
        u32 result = 0;                                              \
        for (u32 l = 0; l < LANES; l++) {                            \
            T a = pa[l];                                             \
            result |= (u32)(condition) << l;                         \
        }                                                            \
        exec_set_pred(x, in->pred_dst, result, mask);                \
    }
#define TESTP_ALL(T, EXP, SIGN)                                                    \
    TESTP(finite_##T, T, (a & EXP) != EXP)                                         \
    TESTP(infinite_##T, T, (a & ~SIGN) == EXP)                                     \
    TESTP(number_##T, T, (a & ~SIGN) <= EXP)                                       \
    TESTP(notanumber_##T, T, (a & ~SIGN) > EXP)                                    \
    TESTP(normal_##T, T, (a & EXP) != EXP && ((a & EXP) != 0 || (a & ~SIGN) == 0)) \
    TESTP(subnormal_##T, T, (a & EXP) == 0 && (a & ~SIGN) != 0)
TESTP_ALL(u32, EXP32, SIGN32)
TESTP_ALL(u64, EXP64, SIGN64)

EXEC_SELECT(testp) {
#define TESTP_TABLE(T)                                                                                  \
    {                                                                                                   \
        testp_finite_##T, testp_infinite_##T, testp_number_##T, testp_notanumber_##T, testp_normal_##T, \
            testp_subnormal_##T                                                                         \
    }
    static const ExecFn table[2][6] = {TESTP_TABLE(u32), TESTP_TABLE(u64)};
    (void)in;
    return table[shape_type(shape, 0) == TYPE_F64][shape_mod(shape, MOD_TESTP_OP) - TESTP_OP_FINITE];
}
