// SPDX-License-Identifier: Apache-2.0
// The .approx instructions of f32 and f64 (PTX ISA 9.7.3): computed in double precision and rounded, so closer to the
// truth than the hardware's tables; special values as the ISA's tables say.
#include "sim/exec/approx.h"
#include <math.h>

static inline f32 round_f32(f64 v) { return canonical_f32((f32)v); }

// a * (1/b); for |b| above 2^126 the reciprocal is flushed: zero, or NaN for an infinite a.
static inline f32 div_approx(f32 a, f32 b) {
    f32 magnitude = f32_of_bits(bits_of_f32(b) & 0x7fffffff);
    f64 reciprocal = 1.0 / (f64)b;
    f64 flushed = f64_of_bits(bits_of_f64(reciprocal) & 0x8000000000000000ull);
    return round_f32((f64)a * (magnitude > 0x1p126f ? flushed : reciprocal));
}
#define HANDLER2(name, expression)                                                        \
    void APPROX_FN(name)(Exec * x, const SimInsn *in, u32 mask) {                         \
        CellF32 *d = exec_operand(x, in->dst);                                            \
        const CellF32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]); \
        LANES_SET(mask, CellF32, d, expression);                                          \
    }
HANDLER2(div_f32, div_approx(a[l], b[l]))
HANDLER2(div_f32_ftz, flush_f32(div_approx(flush_f32(a[l]), flush_f32(b[l]))))

// sin and cos turn their argument into revolutions with one f32 multiplication rounded towards zero, as sm_90's code
// does: that decides what large arguments give.
static inline f64 revolutions(f32 v) {
    f64 t = (f64)v * (f64)0.15915494f;
    t = f64_of_bits(bits_of_f64(t) & ~0x1fffffffull);
    f64 magic = f64_of_bits(0x4330000000000000ull | (bits_of_f64(t) & 0x8000000000000000ull));
    f64 whole = (t + magic) - magic, size = f64_of_bits(bits_of_f64(t) & 0x7fffffffffffffffull);
    return size < 0x1p52 ? t - whole : size < (f64)INFINITY ? 0.0 * t : t - t;
}
static inline f32 sin_approx(f32 v) {
    f64 r = revolutions(v);
    f64 folded = r > 0.25 ? 0.5 - r : r < -0.25 ? -0.5 - r : r;
    f64 s = sin_turns_f64(folded);
    return round_f32(v == 0.0f ? (f64)v : s);
}
static inline f32 cos_approx(f32 v) {
    f64 r = revolutions(v);
    return round_f32(sin_turns_f64(0.25 - f64_of_bits(bits_of_f64(r) & 0x7fffffffffffffffull)));
}
static inline f32 lg2_approx(f32 v) {
    f64 log = log2_f64((f64)v);
    log = v == 0.0f ? -(f64)INFINITY : v < 0.0f ? (f64)NAN : v < INFINITY ? log : (f64)v;
    return round_f32(log);
}
static inline f32 rsqrt_approx(f32 v) { return round_f32(1.0 / __builtin_sqrt((f64)v)); }

MAP1(sin_f32, f32, f32, sin_approx(a))
MAP1(sin_f32_ftz, f32, f32, flush_f32(sin_approx(flush_f32(a))))
MAP1(cos_f32, f32, f32, cos_approx(a))
MAP1(cos_f32_ftz, f32, f32, cos_approx(flush_f32(a)))
MAP1(lg2_f32, f32, f32, lg2_approx(a))
MAP1(lg2_f32_ftz, f32, f32, lg2_approx(flush_f32(a)))
MAP1(ex2_f32, f32, f32, round_f32(exp2_f64(a)))
MAP1(ex2_f32_ftz, f32, f32, flush_f32(round_f32(exp2_f64(flush_f32(a)))))
MAP1(tanh_f32, f32, f32, round_f32(tanh_f64(a)))
MAP1(rsqrt_f32, f32, f32, rsqrt_approx(a))
MAP1(rsqrt_f32_ftz, f32, f32, rsqrt_approx(flush_f32(a)))

#define APPROX_SELECT(op)                                           \
    EXEC_SELECT(op) {                                               \
        (void)in;                                                   \
        return shape_has(shape, MOD_FTZ) ? op##_f32_ftz : op##_f32; \
    }
APPROX_SELECT(sin)
APPROX_SELECT(cos)
APPROX_SELECT(lg2)
APPROX_SELECT(ex2)

EXEC_SELECT(tanh) {
    (void)shape, (void)in;
    return tanh_f32;
}

// f64 .approx.ftz: of the argument's upper 32 bits (1.11.20), with a result of as many; subnormals are zeros.
static inline f64 upper_f64(f64 v) {
    u64 bits = bits_of_f64(v);
    return f64_of_bits(bits & 0x7ff0000000000000ull ? bits & 0xffffffff00000000ull : bits & 0x8000000000000000ull);
}
static inline f64 gross_f64(f64 v) {
    u64 bits = bits_of_f64(v), rounded = bits & 0xffffffff00000000ull;
    rounded = bits & 0x7ff0000000000000ull ? rounded : bits & 0x8000000000000000ull;
    return f64_of_bits(v == v ? rounded : 0x7fffffff00000000ull);
}
static inline f64 nan_of(f64 result, f64 a) {
    return result == result ? result : a == a ? f64_of_bits(NAN_BITS_F64) : quiet_f64(a);
}

void APPROX_FN(rcp_f64)(Exec *x, const SimInsn *in, u32 mask) {
    CellF64 *d = exec_operand(x, in->dst);
    const CellF64 *a = exec_operand(x, in->src[0]);
    LANES_SET(mask, CellF64, d, gross_f64(1.0 / upper_f64(a[l])));
}
MAP1(rsqrt_f64_ftz, f64, f64, gross_f64(1.0 / __builtin_sqrt(upper_f64(a))))
MAP1(rsqrt_f64, f64, f64, nan_of(1.0 / __builtin_sqrt(a), a))

EXEC_SELECT(rsqrt) {
    bool ftz = shape_has(shape, MOD_FTZ);
    (void)in;
    if (shape_type(shape, 0) == TYPE_F64) return ftz ? rsqrt_f64_ftz : rsqrt_f64;
    return ftz ? rsqrt_f32_ftz : rsqrt_f32;
}
