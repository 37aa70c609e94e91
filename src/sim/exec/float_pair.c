// SPDX-License-Identifier: Apache-2.0
// add, sub, mul, fma of f32x2 (PTX ISA 9.7.3) and of f32 with f16 or bf16 operands (9.7.5), both from sm_100 on. A pair
// lies in a 64-bit register, the first element in its lower half.
#include "sim/exec/half.h"

// --- f32x2: each half as the f32 instruction --------------------------------------------------------------------
static inline f32 low_f32(u64 v) { return f32_of_bits((u32)v); }
static inline f32 high_f32(u64 v) { return f32_of_bits((u32)(v >> 32)); }
static inline u64 pair_f32(f32 low, f32 high) {
    return bits_of_f32(canonical_f32(low)) | (u64)bits_of_f32(canonical_f32(high)) << 32;
}

#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define ADD_FTZ(a, b) flush_f32(flush_f32(a) + flush_f32(b))
#define SUB_FTZ(a, b) flush_f32(flush_f32(a) - flush_f32(b))
#define MUL_FTZ(a, b) MUL_FTZ_F32(flush_f32(a), flush_f32(b))
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define FMA_FTZ(a, b, c) FMA_FTZ_F32(flush_f32(a), flush_f32(b), flush_f32(c))

// Not from lane functions: the directed roundings are the host's mode, and a call may be moved out of it.
#define PAIR2(name, OP)                                                                                             \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                                                        \
        Cell64 *d = exec_operand(x, in->dst);                                                                       \
        const Cell64 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);                            \
        LANES_SET(mask, Cell64, d, pair_f32(OP(low_f32(a[l]), low_f32(b[l])), OP(high_f32(a[l]), high_f32(b[l])))); \
    }                                                                                                               \
    ROUNDED(name)
#define PAIR3(name, OP)                                                                  \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                             \
        Cell64 *d = exec_operand(x, in->dst);                                            \
        const Cell64 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]); \
        const Cell64 *c = exec_operand(x, in->src[2]);                                   \
        LANES_EACH(mask, Cell64, d,                                                      \
                   pair_f32(OP(low_f32(a[l]), low_f32(b[l]), low_f32(c[l])),             \
                            OP(high_f32(a[l]), high_f32(b[l]), high_f32(c[l]))));        \
    }                                                                                    \
    ROUNDED(name)
PAIR2(add_pair, ADD)
PAIR2(add_pair_ftz, ADD_FTZ)
PAIR2(sub_pair, SUB)
PAIR2(sub_pair_ftz, SUB_FTZ)
PAIR2(mul_pair, MUL)
PAIR2(mul_pair_ftz, MUL_FTZ)
PAIR3(fma_pair, FMA)
PAIR3(fma_pair_ftz, FMA_FTZ)

static bool is_directed(const ExecShape *shape, SimInsn *in) {
    in->mods = shape_mod(shape, MOD_RND);
    return in->mods != MOD_TOKEN_NONE && in->mods != RND_RN;
}
#define PAIR_SELECT(op)                                                                                             \
    EXEC_SELECT(op##_f32x2) {                                                                                       \
        static const ExecFn table[2][2] = {{op##_pair, op##_pair_rounded}, {op##_pair_ftz, op##_pair_ftz_rounded}}; \
        return table[shape_has(shape, MOD_FTZ)][is_directed(shape, in)];                                            \
    }
PAIR_SELECT(add)
PAIR_SELECT(sub)
PAIR_SELECT(mul)
PAIR_SELECT(fma)

// --- mixed precision: the narrow operands are widened, exactly; then the f32 operation ----------------------------
#define MIXED_ADD(name, T, OP, CLAMP)                                            \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                     \
        CellF32 *d = exec_operand(x, in->dst);                                   \
        const Cell32 *a = exec_operand(x, in->src[0]);                           \
        const CellF32 *c = exec_operand(x, in->src[1]);                          \
        LANES_SET(mask, CellF32, d, CLAMP(OP(T##_to_f32(a[l] & 0xffff), c[l]))); \
    }                                                                            \
    ROUNDED(name)
#define MIXED_FMA(name, T, CLAMP)                                                                             \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                                                  \
        CellF32 *d = exec_operand(x, in->dst);                                                                \
        const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);                      \
        const CellF32 *c = exec_operand(x, in->src[2]);                                                       \
        LANES_EACH(mask, CellF32, d, CLAMP(FMA(T##_to_f32(a[l] & 0xffff), T##_to_f32(b[l] & 0xffff), c[l]))); \
    }                                                                                                         \
    ROUNDED(name)
#define MIXED_ALL(T)                               \
    MIXED_ADD(add_##T, T, ADD, canonical_f32)      \
    MIXED_ADD(add_##T##_sat, T, ADD, saturate_f32) \
    MIXED_ADD(sub_##T, T, SUB, canonical_f32)      \
    MIXED_ADD(sub_##T##_sat, T, SUB, saturate_f32) \
    MIXED_FMA(fma_##T, T, canonical_f32)           \
    MIXED_FMA(fma_##T##_sat, T, saturate_f32)
MIXED_ALL(f16)
MIXED_ALL(bf16)

// [bf16][.sat][directed rounding]
#define MIXED_SELECT(op)                                                               \
    EXEC_SELECT(op##_mixed) {                                                          \
        static const ExecFn table[2][2][2] = {                                         \
            {{op##_f16, op##_f16_rounded}, {op##_f16_sat, op##_f16_sat_rounded}},      \
            {{op##_bf16, op##_bf16_rounded}, {op##_bf16_sat, op##_bf16_sat_rounded}}}; \
        bool bfloat = shape_type(shape, 1) == TYPE_BF16;                               \
        return table[bfloat][shape_has(shape, MOD_SAT)][is_directed(shape, in)];       \
    }
MIXED_SELECT(add)
MIXED_SELECT(sub)
MIXED_SELECT(fma)
