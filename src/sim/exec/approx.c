// SPDX-License-Identifier: Apache-2.0
// The .approx and .full instructions of f32 and f64 (PTX ISA 9.7.3): the multifunction unit (mufu.h) with what ptxas
// puts around it, the same for sm_75 to sm_120 (CUDA 13.0): the unit takes subnormals for zeros, so that without .ftz
// arguments are scaled first, results afterwards.
#include "sim/exec/approx.h"
#include "sim/exec/mufu.h"

static inline f32 magnitude_f32(f32 v) { return f32_of_bits(bits_of_f32(v) & 0x7fffffff); }
static inline bool is_tiny(f32 v) { return magnitude_f32(v) < 0x1p-126f; }
static inline bool is_huge(f32 v) { return magnitude_f32(v) > 0x1p126f; }

// --- rcp, div ---------------------------------------------------------------------------------------------------
// The reciprocals of huge numbers are subnormal: .full and rcp scale those as well, div.approx lets them vanish.
static inline f32 rcp_approx(f32 v) {
    f32 scale = is_tiny(v) ? 0x1p24f : is_huge(v) ? 0.25f : 1.0f;
    return canonical_f32(mufu_rcp(v * scale) * scale);
}
static inline f32 div_approx(f32 a, f32 b) {
    f32 scale = is_tiny(b) ? 0x1p24f : 1.0f;
    return canonical_f32(mufu_rcp(b * scale) * (a * scale));
}
static inline f32 div_approx_ftz(f32 a, f32 b) { return canonical_f32(flush_f32(flush_f32(a) * mufu_rcp(b))); }
static inline f32 div_full(f32 a, f32 b) {
    f32 scale = is_tiny(b) ? 0x1p24f : is_huge(b) ? 0.25f : 1.0f;
    return canonical_f32(mufu_rcp(b * scale) * (a * scale));
}
static inline f32 div_full_ftz(f32 a, f32 b) {
    f32 scale = is_huge(b) ? 0.25f : 1.0f;
    return canonical_f32(flush_f32(mufu_rcp(b * scale) * flush_f32(flush_f32(a) * scale)));
}

#define HANDLER1(name, CELL, expression)                          \
    void APPROX_FN(name)(Exec * x, const SimInsn *in, u32 mask) { \
        CELL *d = exec_operand(x, in->dst);                       \
        const CELL *a = exec_operand(x, in->src[0]);              \
        LANES_SET(mask, CELL, d, expression);                     \
    }
#define HANDLER2(name, expression)                                                        \
    void APPROX_FN(name)(Exec * x, const SimInsn *in, u32 mask) {                         \
        CellF32 *d = exec_operand(x, in->dst);                                            \
        const CellF32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]); \
        LANES_SET(mask, CellF32, d, expression);                                          \
    }
HANDLER2(div_f32, div_approx(a[l], b[l]))
HANDLER2(div_f32_ftz, div_approx_ftz(a[l], b[l]))
HANDLER2(div_full_f32, div_full(a[l], b[l]))
HANDLER2(div_full_f32_ftz, div_full_ftz(a[l], b[l]))
HANDLER1(rcp_f32, CellF32, rcp_approx(a[l]))
HANDLER1(rcp_f32_ftz, CellF32, mufu_rcp(a[l]))

// --- sqrt, rsqrt ------------------------------------------------------------------------------------------------
static inline f32 sqrt_approx(f32 v) {
    bool tiny = is_tiny(v);
    return canonical_f32(mufu_sqrt(v * (tiny ? 0x1p24f : 1.0f)) * (tiny ? 0x1p-12f : 1.0f));
}
static inline f32 rsqrt_approx(f32 v) {
    bool tiny = is_tiny(v);
    return canonical_f32(mufu_rsqrt(v * (tiny ? 0x1p24f : 1.0f)) * (tiny ? 0x1p12f : 1.0f));
}
HANDLER1(sqrt_f32, CellF32, sqrt_approx(a[l]))
HANDLER1(sqrt_f32_ftz, CellF32, mufu_sqrt(a[l]))
MAP1(rsqrt_f32, f32, f32, rsqrt_approx(a))
MAP1(rsqrt_f32_ftz, f32, f32, mufu_rsqrt(a))

// --- sin, cos, lg2, ex2, tanh -----------------------------------------------------------------------------------
// One multiplication, rounded towards zero, turns an angle into revolutions: that decides what large ones give.
static inline f64 revolutions(f32 v) { return mufu_truncate((f64)v * (f64)0.15915494f); }
MAP1(sin_f32, f32, f32, mufu_sin_quarters(revolutions(a), 0))
MAP1(cos_f32, f32, f32, mufu_sin_quarters(revolutions(a), 1))

static inline f32 lg2_approx(f32 v) {
    bool tiny = is_tiny(v);
    return canonical_f32(mufu_lg2(v * (tiny ? 0x1p24f : 1.0f)) - (tiny ? 24.0f : 0.0f));
}
MAP1(lg2_f32, f32, f32, lg2_approx(a))
MAP1(lg2_f32_ftz, f32, f32, mufu_lg2(a))

static inline f32 ex2_approx(f32 v) {
    bool low = v < -126.0f;
    f32 power = mufu_ex2(v * (low ? 0.5f : 1.0f));
    return power * (low ? power : 1.0f);
}
MAP1(ex2_f32, f32, f32, canonical_f32(ex2_approx(a)))
MAP1(ex2_f32_ftz, f32, f32, mufu_ex2(a))
MAP1(tanh_f32, f32, f32, mufu_tanh(a))

#define APPROX_SELECT(op)                                           \
    EXEC_SELECT(op) {                                               \
        (void)in;                                                   \
        return shape_has(shape, MOD_FTZ) ? op##_f32_ftz : op##_f32; \
    }
APPROX_SELECT(lg2)
APPROX_SELECT(ex2)
// .ftz changes nothing: the unit takes what is subnormal for zero.
EXEC_SELECT(sin) {
    (void)shape, (void)in;
    return sin_f32;
}
EXEC_SELECT(cos) {
    (void)shape, (void)in;
    return cos_f32;
}
EXEC_SELECT(tanh) {
    (void)shape, (void)in;
    return tanh_f32;
}

// --- f64 --------------------------------------------------------------------------------------------------------
HANDLER1(rcp_f64, CellF64, mufu_rcp_f64(a[l]))
MAP1(rsqrt_f64_ftz, f64, f64, mufu_rsqrt_f64(a))

// One step of a third-order iteration.
static inline f64 rsqrt_refined(f64 v) {
    f64 y = mufu_rsqrt_f64(v), rest = __builtin_fma(v, -(y * y), 1.0);
    return __builtin_fma(__builtin_fma(rest, 0.375, 0.5), y * rest, y);
}
static f64 rsqrt_approx_f64(f64 v) {
    u64 sign = bits_of_f64(v) & 0x8000000000000000ull;
    if (v != v) return quiet_f64(v);
    if (!(v < 0.0 || v > 0.0)) return f64_of_bits(sign | 0x7ff0000000000000ull);
    if (sign) return f64_of_bits(NAN_BITS_F64);
    if (v > 0x1.fffffffffffffp1023) return 0.0;
    return v < 0x1p-1022 ? rsqrt_refined(v * 0x1p54) * 0x1p27 : rsqrt_refined(v);
}
EACH1(rsqrt_f64, f64, f64, rsqrt_approx_f64(a))

EXEC_SELECT(rsqrt) {
    bool ftz = shape_has(shape, MOD_FTZ);
    (void)in;
    if (shape_type(shape, 0) == TYPE_F64) return ftz ? rsqrt_f64_ftz : rsqrt_f64;
    return ftz ? rsqrt_f32_ftz : rsqrt_f32;
}
