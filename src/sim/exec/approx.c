// SPDX-License-Identifier: Apache-2.0
// The .approx and .full instructions of f32 and f64 (PTX ISA 9.7.3): the multifunction unit (mufu.h) with what ptxas
// puts around it, the same for sm_75 to sm_120 (CUDA 13.0): the unit takes subnormals for zeros, so that without .ftz
// arguments are scaled first, results afterwards.
#include "sim/exec/approx.h"
#include "sim/exec/mufu.h"

static inline f32 magnitude_f32(f32 v) { return f32_of_bits(bits_of_f32(v) & 0x7fffffff); }
static inline bool is_tiny(f32 v) { return magnitude_f32(v) < 0x1p-126f; }
static inline bool is_huge(f32 v) { return magnitude_f32(v) > 0x1p126f; }

// Defines the handler of a function of the unit, `op`: it is given `scaled`, of the argument a; the result is
// `rescaled`, of its result r and of a.
#define MUFU1_(function, name, op, T, scaled, rescaled)                                          \
    static inline T name##_scaled(T a) { return scaled; }                                        \
    static inline T name##_rescaled(T a, T r) {                                                  \
        (void)a;                                                                                 \
        return rescaled;                                                                         \
    }                                                                                            \
    function(Exec *x, const SimInsn *in, u32 mask) {                                             \
        CELL_##T *d = exec_operand(x, in->dst);                                                  \
        const CELL_##T *a = exec_operand(x, in->src[0]);                                         \
        T v[LANES];                                                                              \
        u32 place[LANES];                                                                        \
        MufuRows rows;                                                                           \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) {                                          \
            v[l] = name##_scaled(a[l]);                                                          \
            place[l] = mufu_##op##_row(v[l]);                                                    \
        }                                                                                        \
        mufu_fetch(&rows, mufu_##op##_rows, place);                                              \
        LANES_SET(mask, CELL_##T, d, name##_rescaled(a[l], mufu_##op(v[l], mufu_at(&rows, l)))); \
    }

#define MUFU1(name, ...) MUFU1_(static void name, name, __VA_ARGS__)
#define MUFU1_SHARED(name, ...) MUFU1_(void APPROX_FN(name), name, __VA_ARGS__)

// --- rcp, div ---------------------------------------------------------------------------------------------------
// The reciprocals of huge numbers are subnormal: rcp and div.full scale those as well, div.approx lets them vanish.
static inline f32 scale_tiny(f32 v) { return is_tiny(v) ? 0x1p24f : 1.0f; }
static inline f32 scale_huge(f32 v) { return is_huge(v) ? 0.25f : 1.0f; }
static inline f32 scale_both(f32 v) { return is_tiny(v) ? 0x1p24f : scale_huge(v); }
MUFU1_SHARED(rcp_f32, rcp, f32, a *scale_both(a), canonical_f32(r *scale_both(a)))
MUFU1_SHARED(rcp_f32_ftz, rcp, f32, a, r)

// a / b: SCALE, of b, is applied to both; then MULTIPLY a by the reciprocal r.
#define RECIPROCALS(SCALE)                                                            \
    CellF32 *d = exec_operand(x, in->dst);                                            \
    const CellF32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]); \
    f32 v[LANES], r[LANES];                                                           \
    u32 place[LANES];                                                                 \
    MufuRows rows;                                                                    \
    SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) {                                   \
        v[l] = b[l] * SCALE(b[l]);                                                    \
        place[l] = mufu_rcp_row(v[l]);                                                \
    }                                                                                 \
    mufu_fetch(&rows, mufu_rcp_rows, place);                                          \
    SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) r[l] = mufu_rcp(v[l], mufu_at(&rows, l));
#define DIVISION(name, SCALE, FLUSH, MULTIPLY)                                                        \
    void APPROX_FN(name)(Exec * x, const SimInsn *in, u32 mask) {                                     \
        RECIPROCALS(SCALE)                                                                            \
        LANES_SET(mask, CellF32, d, canonical_f32(MULTIPLY(FLUSH(FLUSH(a[l]) * SCALE(b[l])), r[l]))); \
    }
// The same in a contracted sum, which takes that multiplication.
#define SUM_DIVISION(name, SCALE, FLUSH, FMA, FINISH)                                     \
    static void sum_##name(Exec *x, const SimInsn *in, u32 mask) {                        \
        RECIPROCALS(SCALE)                                                                \
        const CellF32 *c = exec_operand(x, in->src[2]);                                   \
        CONTRACT_SIGNS(32)                                                                \
        LANES_FMA(mask, CellF32, d,                                                       \
                  FINISH(FMA(SIGNED_F32(FLUSH(FLUSH(a[l]) * SCALE(b[l])), product), r[l], \
                             SIGNED_F32(FLUSH(c[l]), addend))));                          \
    }
#define SCALE_NONE(v) 1.0f
#define FLUSH_NONE(v) (v)
#define MULTIPLY(a, b) ((a) * (b))
static inline f32 multiply_ftz(f32 a, f32 b) { return MUL_FTZ_F32(a, b); }
DIVISION(div_f32, scale_tiny, FLUSH_NONE, MULTIPLY)
DIVISION(div_f32_ftz, SCALE_NONE, flush_f32, multiply_ftz)
DIVISION(div_full_f32, scale_both, FLUSH_NONE, MULTIPLY)
DIVISION(div_full_f32_ftz, scale_huge, flush_f32, multiply_ftz)
SUM_DIVISION(div_f32, scale_tiny, FLUSH_NONE, __builtin_fmaf, canonical_f32)
SUM_DIVISION(div_f32_ftz, SCALE_NONE, flush_f32, FMA_FTZ_F32, canonical_f32)
SUM_DIVISION(div_full_f32, scale_both, FLUSH_NONE, __builtin_fmaf, canonical_f32)
SUM_DIVISION(div_full_f32_ftz, scale_huge, flush_f32, FMA_FTZ_F32, canonical_f32)
SUM_DIVISION(div_f32_sat, scale_tiny, FLUSH_NONE, __builtin_fmaf, saturate_f32)
SUM_DIVISION(div_f32_ftz_sat, SCALE_NONE, flush_f32, FMA_FTZ_F32, saturate_f32)
SUM_DIVISION(div_full_f32_sat, scale_both, FLUSH_NONE, __builtin_fmaf, saturate_f32)
SUM_DIVISION(div_full_f32_ftz_sat, scale_huge, flush_f32, FMA_FTZ_F32, saturate_f32)

ExecFn APPROX_FN(contracted_division)(const ExecShape *shape) {
    static const ExecFn fns[2][2][2] = {
        {{sum_div_f32, sum_div_f32_ftz}, {sum_div_f32_sat, sum_div_f32_ftz_sat}},
        {{sum_div_full_f32, sum_div_full_f32_ftz}, {sum_div_full_f32_sat, sum_div_full_f32_ftz_sat}}};
    bool full = shape->product->mods[MOD_APPROX] == APPROX_FULL;
    return fns[full][shape_has(shape, MOD_SAT)][shape_has(shape, MOD_FTZ)];
}

// --- sqrt, rsqrt ------------------------------------------------------------------------------------------------
MUFU1_SHARED(sqrt_f32, sqrt, f32, a *scale_tiny(a), canonical_f32(r *(is_tiny(a) ? 0x1p-12f : 1.0f)))
MUFU1_SHARED(sqrt_f32_ftz, sqrt, f32, a, r)
MUFU1(rsqrt_f32, rsqrt, f32, a *scale_tiny(a), canonical_f32(r *(is_tiny(a) ? 0x1p12f : 1.0f)))
MUFU1(rsqrt_f32_ftz, rsqrt, f32, a, r)

// --- sin, cos, lg2, ex2, tanh -----------------------------------------------------------------------------------
// One multiplication, rounded towards zero, turns an angle into revolutions: that decides what large ones give. .ftz
// changes nothing.
static inline f32 revolutions(f32 v) { return (f32)mufu_truncate((f64)v * (f64)0.15915494f); }
MUFU1(sin_f32, sin, f32, revolutions(a), r)
MUFU1(cos_f32, cos, f32, revolutions(a), r)
MUFU1(lg2_f32, lg2, f32, a *scale_tiny(a), canonical_f32(r - (is_tiny(a) ? 24.0f : 0.0f)))
MUFU1(lg2_f32_ftz, lg2, f32, a, r)
MUFU1(ex2_f32, ex2, f32, a *(a < -126.0f ? 0.5f : 1.0f), canonical_f32(r *(a < -126.0f ? r : 1.0f)))
MUFU1(ex2_f32_ftz, ex2, f32, a, r)
MUFU1(tanh_f32, tanh, f32, a, r)

// --- f64 --------------------------------------------------------------------------------------------------------
MUFU1_SHARED(rcp_f64, rcp_f64, f64, a, r)
MUFU1(rsqrt_f64_ftz, rsqrt_f64, f64, a, r)

// One step of a third-order iteration.
static inline f64 rsqrt_refined(f64 v) {
    f64 y = mufu_rsqrt_f64(v, mufu_rsqrt_rows[mufu_rsqrt_f64_row(v)]), rest = __builtin_fma(v, -(y * y), 1.0);
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

// --- selectors --------------------------------------------------------------------------------------------------
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
EXEC_SELECT(lg2) {
    (void)in;
    return shape_has(shape, MOD_FTZ) ? lg2_f32_ftz : lg2_f32;
}
EXEC_SELECT(ex2) {
    (void)in;
    return shape_has(shape, MOD_FTZ) ? ex2_f32_ftz : ex2_f32;
}
EXEC_SELECT(rsqrt) {
    bool ftz = shape_has(shape, MOD_FTZ);
    (void)in;
    if (shape_type(shape, 0) == TYPE_F64) return ftz ? rsqrt_f64_ftz : rsqrt_f64;
    return ftz ? rsqrt_f32_ftz : rsqrt_f32;
}
