// SPDX-License-Identifier: Apache-2.0
// add, sub, mul, fma and mad of f32, f64 (PTX ISA 9.7.3). Directed rounding runs the same loops in another rounding
// mode of the host.
#include "sim/exec/float.h"

#define OPERANDS2(T)                        \
    CELL_##T *d = exec_operand(x, in->dst); \
    const CELL_##T *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);
#define OPERANDS3(T) OPERANDS2(T) const CELL_##T *c = exec_operand(x, in->src[2]);

#define ADD_(a, b) (a) + (b)
#define SUB_(a, b) (a) - (b)
#define MUL_(a, b) (a) * (b)
#define ADD_FTZ_(a, b) flush_f32((a) + (b))  // a sum below 2^-126 is exact
#define SUB_FTZ_(a, b) flush_f32((a) - (b))

#define BINARY_F32(op, OP, OP_FTZ)                                                            \
    static void op##_f32(Exec *x, const SimInsn *in, u32 mask) {                              \
        OPERANDS2(f32)                                                                        \
        LANES_SET(mask, CellF32, d, canonical_f32(OP(a[l], b[l])));                           \
    }                                                                                         \
    static void op##_f32_ftz(Exec *x, const SimInsn *in, u32 mask) {                          \
        OPERANDS2(f32)                                                                        \
        LANES_SET(mask, CellF32, d, canonical_f32(OP_FTZ(flush_f32(a[l]), flush_f32(b[l])))); \
    }                                                                                         \
    static void op##_f32_sat(Exec *x, const SimInsn *in, u32 mask) {                          \
        OPERANDS2(f32)                                                                        \
        LANES_SET(mask, CellF32, d, saturate_f32(OP(a[l], b[l])));                            \
    }                                                                                         \
    static void op##_f32_ftz_sat(Exec *x, const SimInsn *in, u32 mask) {                      \
        OPERANDS2(f32)                                                                        \
        LANES_SET(mask, CellF32, d, saturate_f32(OP_FTZ(flush_f32(a[l]), flush_f32(b[l]))));  \
    }                                                                                         \
    ROUNDED(op##_f32)                                                                         \
    ROUNDED(op##_f32_ftz)                                                                     \
    ROUNDED(op##_f32_sat)                                                                     \
    ROUNDED(op##_f32_ftz_sat)

#define BINARY_F64(op, OP)                                                 \
    static void op##_f64(Exec *x, const SimInsn *in, u32 mask) {           \
        OPERANDS2(f64)                                                     \
        LANES_SET(mask, CellF64, d, nan_of_2(OP(a[l], b[l]), a[l], b[l])); \
    }                                                                      \
    ROUNDED(op##_f64)

// f64 keeps the payload of a NaN operand, made quiet: of b before c before a (measured on an H200); 0xfff8000000000000
// when none is.
static inline f64 nan_of_2(f64 result, f64 a, f64 b) {
    f64 nan = b != b ? quiet_f64(b) : a != a ? quiet_f64(a) : f64_of_bits(NAN_BITS_F64);
    return result == result ? result : nan;
}
static inline f64 nan_of_3(f64 result, f64 a, f64 b, f64 c) {
    f64 nan = b != b ? quiet_f64(b) : c != c ? quiet_f64(c) : a != a ? quiet_f64(a) : f64_of_bits(NAN_BITS_F64);
    return result == result ? result : nan;
}

BINARY_F32(add, ADD_, ADD_FTZ_)
BINARY_F32(sub, SUB_, SUB_FTZ_)
BINARY_F32(mul, MUL_, MUL_FTZ_F32)
BINARY_F64(add, ADD_)
BINARY_F64(sub, SUB_)
BINARY_F64(mul, MUL_)

#define FMA_F32_LANE __builtin_fmaf(a[l], b[l], c[l])
#define FMA_F32_LANE_FTZ FMA_FTZ_F32(flush_f32(a[l]), flush_f32(b[l]), flush_f32(c[l]))

static void fma_f32(Exec *x, const SimInsn *in, u32 mask) {
    OPERANDS3(f32)
    LANES_FMA(mask, CellF32, d, canonical_f32(FMA_F32_LANE));
}
static void fma_f32_ftz(Exec *x, const SimInsn *in, u32 mask) {
    OPERANDS3(f32)
    LANES_FMA(mask, CellF32, d, canonical_f32(FMA_F32_LANE_FTZ));
}
static void fma_f32_sat(Exec *x, const SimInsn *in, u32 mask) {
    OPERANDS3(f32)
    LANES_FMA(mask, CellF32, d, saturate_f32(FMA_F32_LANE));
}
static void fma_f32_ftz_sat(Exec *x, const SimInsn *in, u32 mask) {
    OPERANDS3(f32)
    LANES_FMA(mask, CellF32, d, saturate_f32(FMA_F32_LANE_FTZ));
}
static void fma_f64(Exec *x, const SimInsn *in, u32 mask) {
    OPERANDS3(f64)
    LANES_FMA(mask, CellF64, d, nan_of_3(__builtin_fma(a[l], b[l], c[l]), a[l], b[l], c[l]));
}

// Contracted sums; the bits of NaNs are left.
#define CONTRACT_F32(suffix, FMA, FLUSH, FINISH)                                                                \
    static void contract_f32##suffix(Exec *x, const SimInsn *in, u32 mask) {                                    \
        OPERANDS3(f32)                                                                                          \
        CONTRACT_SIGNS(32)                                                                                      \
        LANES_FMA(mask, CellF32, d,                                                                             \
                  FINISH(FMA(FLUSH(SIGNED_F32(a[l], product)), FLUSH(b[l]), FLUSH(SIGNED_F32(c[l], addend))))); \
    }
CONTRACT_F32(, __builtin_fmaf, , canonical_f32)
CONTRACT_F32(_ftz, FMA_FTZ_F32, flush_f32, canonical_f32)
CONTRACT_F32(_sat, __builtin_fmaf, , saturate_f32)
CONTRACT_F32(_ftz_sat, FMA_FTZ_F32, flush_f32, saturate_f32)
static void contract_f64(Exec *x, const SimInsn *in, u32 mask) {
    OPERANDS3(f64)
    CONTRACT_SIGNS(64)
    LANES_FMA(mask, CellF64, d,
              nan_of_3(__builtin_fma(SIGNED_F64(a[l], product), b[l], SIGNED_F64(c[l], addend)), a[l], b[l], c[l]));
}

ROUNDED(fma_f32)
ROUNDED(fma_f32_ftz)
ROUNDED(fma_f32_sat)
ROUNDED(fma_f32_ftz_sat)
ROUNDED(fma_f64)

// [directed rounding][.sat][.ftz], then f64
typedef struct FloatFns {
    ExecFn f32[2][2][2], f64[2];
} FloatFns;
#define FLOAT_FNS(op)                                                                                   \
    {                                                                                                   \
        {{{op##_f32, op##_f32_ftz}, {op##_f32_sat, op##_f32_ftz_sat}},                                  \
         {{op##_f32_rounded, op##_f32_ftz_rounded}, {op##_f32_sat_rounded, op##_f32_ftz_sat_rounded}}}, \
        {                                                                                               \
            op##_f64, op##_f64_rounded                                                                  \
        }                                                                                               \
    }

static ExecFn select_float(const ExecShape *shape, SimInsn *in, const FloatFns *fns) {
    u16 rounding = shape_mod(shape, MOD_RND);
    bool directed = rounding != MOD_TOKEN_NONE && rounding != RND_RN;
    in->mods = rounding;
    if (shape_type(shape, 0) == TYPE_F64) return fns->f64[directed];
    return fns->f32[directed][shape_has(shape, MOD_SAT)][shape_has(shape, MOD_FTZ)];
}

EXEC_SELECT(add_f) {
    static const FloatFns fns = FLOAT_FNS(add);
    return select_float(shape, in, &fns);
}
EXEC_SELECT(sub_f) {
    static const FloatFns fns = FLOAT_FNS(sub);
    return select_float(shape, in, &fns);
}
EXEC_SELECT(mul_f) {
    static const FloatFns fns = FLOAT_FNS(mul);
    return select_float(shape, in, &fns);
}
EXEC_SELECT(fma_f) {
    static const FloatFns fns = FLOAT_FNS(fma);
    static const ExecFn contract_f32s[2][2] = {{contract_f32, contract_f32_ftz},
                                               {contract_f32_sat, contract_f32_ftz_sat}};
    if (shape->product && shape_type(shape, 0) == TYPE_F64) return contract_f64;
    if (shape->product) return contract_f32s[shape_has(shape, MOD_SAT)][shape_has(shape, MOD_FTZ)];
    return select_float(shape, in, &fns);
}
