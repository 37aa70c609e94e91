// SPDX-License-Identifier: Apache-2.0
// Correctly rounded div, rcp and sqrt (PTX ISA 9.7.3), and the selectors shared with the approximations of approx.c.
#include "sim/exec/approx.h"
#include "sim/exec/float.h"

// The payload of the first operand that is NaN.
static inline f64 quiet_nan_f64(f64 result, f64 a, f64 b) {
    f64 nan = a != a ? quiet_f64(a) : b != b ? quiet_f64(b) : f64_of_bits(NAN_BITS_F64);
    return result == result ? result : nan;
}

MAP2(div_f32, f32, f32, f32, canonical_f32(a / b))
MAP2(div_f32_ftz, f32, f32, f32, canonical_f32(DIV_FTZ_F32(flush_f32(a), flush_f32(b))))
MAP2(div_f64, f64, f64, f64, quiet_nan_f64(a / b, a, b))
MAP1(rcp_f32, f32, f32, canonical_f32(1.0f / a))
MAP1(rcp_f32_ftz, f32, f32, canonical_f32(DIV_FTZ_F32(1.0f, flush_f32(a))))
MAP1(rcp_f64, f64, f64, quiet_nan_f64(1.0 / a, a, a))
ROUNDED(div_f32)
ROUNDED(div_f32_ftz)
ROUNDED(div_f64)
ROUNDED(rcp_f32)
ROUNDED(rcp_f32_ftz)
ROUNDED(rcp_f64)

#if defined(__SSE2__)
static void sqrt_lanes_f32(const CellF32 *a, f32 *r) {
    for (u32 l = 0; l < LANES; l += 4) _mm_storeu_ps(r + l, _mm_sqrt_ps(_mm_loadu_ps((const f32 *)a + l)));
}
static void sqrt_lanes_f64(const CellF64 *a, f64 *r) {
    for (u32 l = 0; l < LANES; l += 2) _mm_storeu_pd(r + l, _mm_sqrt_pd(_mm_loadu_pd((const f64 *)a + l)));
}
#else
static void sqrt_lanes_f32(const CellF32 *a, f32 *r) {
    for (u32 l = 0; l < LANES; l++) r[l] = __builtin_sqrtf(a[l]);
}
static void sqrt_lanes_f64(const CellF64 *a, f64 *r) {
    for (u32 l = 0; l < LANES; l++) r[l] = __builtin_sqrt(a[l]);
}
#endif

static void sqrt_f32(Exec *x, const SimInsn *in, u32 mask) {
    CellF32 *d = exec_operand(x, in->dst);
    f32 r[LANES];
    sqrt_lanes_f32(exec_operand(x, in->src[0]), r);
    LANES_SET(mask, CellF32, d, canonical_f32(r[l]));
}
static void sqrt_f32_ftz(Exec *x, const SimInsn *in, u32 mask) {
    CellF32 *d = exec_operand(x, in->dst);
    const CellF32 *a = exec_operand(x, in->src[0]);
    CellF32 flushed[LANES];
    f32 r[LANES];
    for (u32 l = 0; l < LANES; l++) flushed[l] = flush_f32(a[l]);
    sqrt_lanes_f32(flushed, r);
    LANES_SET(mask, CellF32, d, canonical_f32(r[l]));  // a root is never subnormal
}
static void sqrt_f64(Exec *x, const SimInsn *in, u32 mask) {
    CellF64 *d = exec_operand(x, in->dst);
    const CellF64 *a = exec_operand(x, in->src[0]);
    f64 r[LANES];
    sqrt_lanes_f64(a, r);
    LANES_SET(mask, CellF64, d, quiet_nan_f64(r[l], a[l], a[l]));
}
ROUNDED(sqrt_f32)
ROUNDED(sqrt_f32_ftz)
ROUNDED(sqrt_f64)

typedef struct DivFns {
    ExecFn f32[2][2], f64[2], approx[2];  // [directed][ftz]; [directed]; [ftz]
} DivFns;

static ExecFn select_div(const ExecShape *shape, SimInsn *in, const DivFns *fns) {
    u16 rounding = shape_mod(shape, MOD_RND);
    bool directed = rounding != MOD_TOKEN_NONE && rounding != RND_RN, ftz = shape_has(shape, MOD_FTZ);
    in->mods = rounding;
    if (shape_type(shape, 0) == TYPE_F64) return fns->f64[directed];
    // Without a rounding mode: .approx, which PTX before 1.4 may leave out.
    if (shape_has(shape, MOD_APPROX) || rounding == MOD_TOKEN_NONE) return fns->approx[ftz];
    return fns->f32[directed][ftz];
}

EXEC_SELECT(div_f) {
    static const DivFns fns = {{{div_f32, div_f32_ftz}, {div_f32_rounded, div_f32_ftz_rounded}},
                               {div_f64, div_f64_rounded},
                               {APPROX_FN(div_f32), APPROX_FN(div_f32_ftz)}};
    if (shape->product) return APPROX_FN(contracted_division)(shape);
    if (shape_mod(shape, MOD_APPROX) == APPROX_FULL)
        return shape_has(shape, MOD_FTZ) ? APPROX_FN(div_full_f32_ftz) : APPROX_FN(div_full_f32);
    return select_div(shape, in, &fns);
}
EXEC_SELECT(rcp) {
    static const DivFns fns = {{{rcp_f32, rcp_f32_ftz}, {rcp_f32_rounded, rcp_f32_ftz_rounded}},
                               {rcp_f64, rcp_f64_rounded},
                               {APPROX_FN(rcp_f32), APPROX_FN(rcp_f32_ftz)}};
    if (shape_type(shape, 0) == TYPE_F64 && shape_has(shape, MOD_APPROX)) return APPROX_FN(rcp_f64);
    return select_div(shape, in, &fns);
}
EXEC_SELECT(sqrt) {
    static const DivFns fns = {{{sqrt_f32, sqrt_f32_ftz}, {sqrt_f32_rounded, sqrt_f32_ftz_rounded}},
                               {sqrt_f64, sqrt_f64_rounded},
                               {APPROX_FN(sqrt_f32), APPROX_FN(sqrt_f32_ftz)}};
    return select_div(shape, in, &fns);
}
