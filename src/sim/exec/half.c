// SPDX-License-Identifier: Apache-2.0
// Half-precision arithmetic (PTX ISA 9.7.4): add, sub, mul, fma, neg, abs, min, max, ex2, tanh of f16, f16x2, bf16,
// bf16x2. Sums and products are computed in f32 (24 bits >= 2 * 11 + 2, so that rounding twice is rounding once), fma
// rounded to odd in f64.
#include "sim/exec/half.h"
#include "sim/exec/mufu.h"

#define SAME(v) (v)
#define KEEP(result, exact) (result)
#define PAIR1(f) (f(a & 0xffff) | f(a >> 16) << 16)
#define PAIR2(f) (f(a & 0xffff, b & 0xffff) | f(a >> 16, b >> 16) << 16)

// From a function of halves: the handler of one half, and of two in a register (suffix x2).
#define HALF1(name, f) MAP1(name, u32, u32, f(a & 0xffff)) MAP1(name##_x2, u32, u32, PAIR1(f))
#define HALF2(name, f) MAP2(name, u32, u32, u32, f(a & 0xffff, b & 0xffff)) MAP2(name##_x2, u32, u32, u32, PAIR2(f))
static inline f32 relu_f32(f32 v) { return v <= 0.0f ? 0.0f : v; }  // also of -0

#define ARITHMETIC(op, OP, T, suffix, FLUSH, FLUSH_RESULT, CLAMP)    \
    static inline u32 op##_##T##suffix##_of(u32 a, u32 b) {          \
        f32 r = CLAMP(T##_to_f32(FLUSH(a)) OP T##_to_f32(FLUSH(b))); \
        return FLUSH_RESULT(T##_of_f32(r), r);                       \
    }                                                                \
    HALF2(op##_##T##suffix, op##_##T##suffix##_of)
#define ARITHMETIC_ALL(op, OP)                                                   \
    ARITHMETIC(op, OP, f16, , SAME, KEEP, SAME)                                  \
    ARITHMETIC(op, OP, f16, _ftz, flush_f16, flush_result_f16, SAME)             \
    ARITHMETIC(op, OP, f16, _sat, SAME, KEEP, saturate_f32)                      \
    ARITHMETIC(op, OP, f16, _ftz_sat, flush_f16, flush_result_f16, saturate_f32) \
    ARITHMETIC(op, OP, bf16, , SAME, KEEP, SAME)
ARITHMETIC_ALL(add, +)
ARITHMETIC_ALL(sub, -)
ARITHMETIC_ALL(mul, *)

// fma in steps of one loop each, which vectorise where one loop over all would not. Contracted sums have signs in
// in->mods (code.h).
typedef struct HalfSigns {
    u32 product, addend;
} HalfSigns;
static inline HalfSigns half_signs(const SimInsn *in) {
    return (HalfSigns){(in->mods & NEGATED_PRODUCT) << 15, (in->mods & NEGATED_ADDEND) << 14};
}
#define FMA_HALF(T, suffix, FLUSH, FLUSH_RESULT, CLAMP)                                                               \
    static void fma_##T##suffix##_part(const Cell32 *a, const Cell32 *b, const Cell32 *c, HalfSigns signs, u32 shift, \
                                       u32 *out) {                                                                    \
        f64 fa[LANES], fb[LANES], fc[LANES];                                                                          \
        for (u32 l = 0; l < LANES; l++) fa[l] = T##_to_f32(FLUSH((a[l] >> shift & 0xffff) ^ signs.product));          \
        for (u32 l = 0; l < LANES; l++) fb[l] = T##_to_f32(FLUSH(b[l] >> shift & 0xffff));                            \
        for (u32 l = 0; l < LANES; l++) fc[l] = T##_to_f32(FLUSH((c[l] >> shift & 0xffff) ^ signs.addend));           \
        for (u32 l = 0; l < LANES; l++) fa[l] = odd_fma_f64(fa[l], fb[l], fc[l]);                                     \
        f32 r[LANES];                                                                                                 \
        for (u32 l = 0; l < LANES; l++) r[l] = odd_f32(fa[l]);                                                        \
        for (u32 l = 0; l < LANES; l++) out[l] = FLUSH_RESULT(T##_of_f32(CLAMP(r[l])), CLAMP(r[l]));                  \
    }                                                                                                                 \
    static void fma_##T##suffix(Exec *x, const SimInsn *in, u32 mask) {                                               \
        u32 low[LANES];                                                                                               \
        Cell32 *d = exec_operand(x, in->dst);                                                                         \
        fma_##T##suffix##_part(exec_operand(x, in->src[0]), exec_operand(x, in->src[1]), exec_operand(x, in->src[2]), \
                               half_signs(in), 0, low);                                                               \
        LANES_SET(mask, Cell32, d, low[l]);                                                                           \
    }                                                                                                                 \
    static void fma_##T##suffix##_x2(Exec *x, const SimInsn *in, u32 mask) {                                          \
        u32 low[LANES], high[LANES];                                                                                  \
        Cell32 *d = exec_operand(x, in->dst);                                                                         \
        const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);                              \
        const Cell32 *c = exec_operand(x, in->src[2]);                                                                \
        fma_##T##suffix##_part(a, b, c, half_signs(in), 0, low);                                                      \
        fma_##T##suffix##_part(a, b, c, half_signs(in), 16, high);                                                    \
        LANES_SET(mask, Cell32, d, low[l] | high[l] << 16);                                                           \
    }
FMA_HALF(f16, , SAME, KEEP, SAME)
FMA_HALF(f16, _ftz, flush_f16, flush_result_f16, SAME)
FMA_HALF(f16, _sat, SAME, KEEP, saturate_f32)
FMA_HALF(f16, _ftz_sat, flush_f16, flush_result_f16, saturate_f32)
FMA_HALF(f16, _relu, SAME, KEEP, relu_f32)
FMA_HALF(f16, _ftz_relu, flush_f16, flush_result_f16, relu_f32)
FMA_HALF(bf16, , SAME, KEEP, SAME)
FMA_HALF(bf16, _relu, SAME, KEEP, relu_f32)

// fma.oob: 0 where a or b is the NaN that stands for "out of bounds" (PTX ISA 9.7.4, fma): 0x7ff7 of either sign, found
// by measurement on an H200.
#define OOB_NAN 0x7ff7u
static u32 oob_halves(u32 a, u32 b) {
    u32 low = (a & 0x7fff) == OOB_NAN || (b & 0x7fff) == OOB_NAN;
    u32 high = (a >> 16 & 0x7fff) == OOB_NAN || (b >> 16 & 0x7fff) == OOB_NAN;
    return (low ? 0xffff : 0) | (high ? 0xffff0000 : 0);
}
#define FMA_OOB(name)                                                                    \
    static void name##_oob(Exec *x, const SimInsn *in, u32 mask) {                       \
        const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]); \
        u32 out[LANES];                                                                  \
        for (u32 l = 0; l < LANES; l++) out[l] = oob_halves(a[l], b[l]);                 \
        name(x, in, mask);                                                               \
        Cell32 *d = exec_operand(x, in->dst);                                            \
        LANES_SET(mask, Cell32, d, d[l] & ~out[l]);                                      \
    }
FMA_OOB(fma_f16)
FMA_OOB(fma_f16_x2)
FMA_OOB(fma_f16_sat)
FMA_OOB(fma_f16_sat_x2)
FMA_OOB(fma_f16_relu)
FMA_OOB(fma_f16_relu_x2)
FMA_OOB(fma_bf16)
FMA_OOB(fma_bf16_x2)
FMA_OOB(fma_bf16_relu)
FMA_OOB(fma_bf16_relu_x2)

// [.ftz][.sat, .relu or neither], one or two halves
enum { PLAIN, SAT, RELU };
typedef struct HalfFns {
    ExecFn f16[2][3][2], bf16[3][2];
} HalfFns;
#define BOTH(name) \
    { name, name##_x2 }
#define HALF_FNS(op)                                                                                              \
    {                                                                                                             \
        {{BOTH(op##_f16), BOTH(op##_f16_sat)}, {BOTH(op##_f16_ftz), BOTH(op##_f16_ftz_sat)}}, { BOTH(op##_bf16) } \
    }

static ExecFn select_half(const ExecShape *shape, const HalfFns *fns) {
    u8 type = shape_type(shape, 0);
    bool pair = ptx_types[type].elements == 2, is_f16 = type == TYPE_F16 || type == TYPE_F16X2;
    u32 clamp = shape_has(shape, MOD_SAT) ? SAT : shape_has(shape, MOD_RELU) ? RELU : PLAIN;
    if (is_f16) return fns->f16[shape_has(shape, MOD_FTZ)][clamp][pair];
    return shape_has(shape, MOD_FTZ) ? NULL : fns->bf16[clamp][pair];
}
EXEC_SELECT(add_half) {
    static const HalfFns fns = HALF_FNS(add);
    (void)in;
    return select_half(shape, &fns);
}
EXEC_SELECT(sub_half) {
    static const HalfFns fns = HALF_FNS(sub);
    (void)in;
    return select_half(shape, &fns);
}
EXEC_SELECT(mul_half) {
    static const HalfFns fns = HALF_FNS(mul);
    (void)in;
    return select_half(shape, &fns);
}
EXEC_SELECT(fma_half) {
    static const HalfFns fns = {{{BOTH(fma_f16), BOTH(fma_f16_sat), BOTH(fma_f16_relu)},
                                 {BOTH(fma_f16_ftz), BOTH(fma_f16_ftz_sat), BOTH(fma_f16_ftz_relu)}},
                                {BOTH(fma_bf16), {NULL, NULL}, BOTH(fma_bf16_relu)}};
    static const ExecFn oob[2][3][2] = {
        {{fma_f16_oob, fma_f16_x2_oob}, {fma_f16_sat_oob, fma_f16_sat_x2_oob}, {fma_f16_relu_oob, fma_f16_relu_x2_oob}},
        {{fma_bf16_oob, fma_bf16_x2_oob}, {NULL, NULL}, {fma_bf16_relu_oob, fma_bf16_relu_x2_oob}}};
    u8 type = shape_type(shape, 0);
    bool bfloat = type == TYPE_BF16 || type == TYPE_BF16X2;
    (void)in;
    if (shape_has(shape, MOD_OOB)) {
        u32 clamp = shape_has(shape, MOD_SAT) ? SAT : shape_has(shape, MOD_RELU) ? RELU : PLAIN;
        return oob[bfloat][clamp][ptx_types[type].elements == 2];
    }
    return select_half(shape, &fns);
}

// neg, abs: the sign bit; NaN becomes the canonical one.
static inline u32 is_nan_f16(u32 h) { return (h & 0x7fff) > 0x7c00; }
static inline u32 is_nan_bf16(u32 h) { return (h & 0x7fff) > 0x7f80; }
#define SIGN_OP(op, T, suffix, FLUSH, expression)            \
    static inline u32 op##_##T##suffix##_of(u32 a) {         \
        u32 h = FLUSH(a);                                    \
        return is_nan_##T(h) ? NAN_BITS_HALF : (expression); \
    }                                                        \
    HALF1(op##_##T##suffix, op##_##T##suffix##_of)
SIGN_OP(neg, f16, , SAME, h ^ 0x8000)
SIGN_OP(neg, f16, _ftz, flush_f16, h ^ 0x8000)
SIGN_OP(neg, bf16, , SAME, h ^ 0x8000)
SIGN_OP(abs, f16, , SAME, h & 0x7fff)
SIGN_OP(abs, f16, _ftz, flush_f16, h & 0x7fff)
SIGN_OP(abs, bf16, , SAME, h & 0x7fff)

static ExecFn select_unary(const ExecShape *shape, const ExecFn fns[3][2]) {
    u8 type = shape_type(shape, 0);
    bool bfloat = type == TYPE_BF16 || type == TYPE_BF16X2;
    return fns[bfloat ? 2 : shape_has(shape, MOD_FTZ)][ptx_types[type].elements == 2];
}
EXEC_SELECT(neg_half) {
    static const ExecFn fns[3][2] = {BOTH(neg_f16), BOTH(neg_f16_ftz), BOTH(neg_bf16)};
    (void)in;
    return select_unary(shape, fns);
}
EXEC_SELECT(abs_half) {
    static const ExecFn fns[3][2] = {BOTH(abs_f16), BOTH(abs_f16_ftz), BOTH(abs_bf16)};
    (void)in;
    return select_unary(shape, fns);
}

// min, max as in float_misc.c.
static inline u32 xor_sign(u32 m, u32 a, u32 b) { return m == NAN_BITS_HALF ? m : m | ((a ^ b) & 0x8000); }
#define MIN_MAX(op, OP, ZERO_OP, T)                                                   \
    static inline u32 op##_##T##_of(u32 a, u32 b) {                                   \
        f32 fa = T##_to_f32(a), fb = T##_to_f32(b);                                   \
        u32 m = ((fa OP fb) | (fb != fb)) ? a : b;                                    \
        m = fa == fb ? (a ZERO_OP b) : m;                                             \
        return is_nan_##T(m) ? NAN_BITS_HALF : m;                                     \
    }                                                                                 \
    static inline u32 op##_##T##_nan_of(u32 a, u32 b) {                               \
        return (is_nan_##T(a) | is_nan_##T(b)) ? NAN_BITS_HALF : op##_##T##_of(a, b); \
    }                                                                                 \
    static inline u32 op##_##T##_xorsign_of(u32 a, u32 b) {                           \
        return xor_sign(op##_##T##_of(a & 0x7fff, b & 0x7fff), a, b);                 \
    }                                                                                 \
    static inline u32 op##_##T##_nan_xorsign_of(u32 a, u32 b) {                       \
        return xor_sign(op##_##T##_nan_of(a & 0x7fff, b & 0x7fff), a, b);             \
    }                                                                                 \
    HALF2(op##_##T, op##_##T##_of)                                                    \
    HALF2(op##_##T##_nan, op##_##T##_nan_of)                                          \
    HALF2(op##_##T##_xorsign, op##_##T##_xorsign_of)                                  \
    HALF2(op##_##T##_nan_xorsign, op##_##T##_nan_xorsign_of)
#define MIN_MAX_FTZ(op, kind)                                   \
    static inline u32 op##_f16_ftz##kind##_of(u32 a, u32 b) {   \
        return op##_f16##kind##_of(flush_f16(a), flush_f16(b)); \
    }                                                           \
    HALF2(op##_f16_ftz##kind, op##_f16_ftz##kind##_of)
MIN_MAX(min, <, |, f16)
MIN_MAX(max, >, &, f16)
MIN_MAX(min, <, |, bf16)
MIN_MAX(max, >, &, bf16)
MIN_MAX_FTZ(min, )
MIN_MAX_FTZ(min, _nan)
MIN_MAX_FTZ(min, _xorsign)
MIN_MAX_FTZ(min, _nan_xorsign)
MIN_MAX_FTZ(max, )
MIN_MAX_FTZ(max, _nan)
MIN_MAX_FTZ(max, _xorsign)
MIN_MAX_FTZ(max, _nan_xorsign)

#define MIN_MAX_TABLE(name)                                                                \
    {                                                                                      \
        {BOTH(name), BOTH(name##_nan)}, { BOTH(name##_xorsign), BOTH(name##_nan_xorsign) } \
    }
#define MIN_MAX_SELECT(op)                                                                                           \
    EXEC_SELECT(op##_half) {                                                                                         \
        static const ExecFn fns[3][2][2][2] = {MIN_MAX_TABLE(op##_f16), MIN_MAX_TABLE(op##_f16_ftz),                 \
                                               MIN_MAX_TABLE(op##_bf16)};                                            \
        (void)in;                                                                                                    \
        u8 type = shape_type(shape, 0);                                                                              \
        u32 format = type == TYPE_BF16 || type == TYPE_BF16X2 ? 2 : shape_has(shape, MOD_FTZ);                       \
        return fns[format][shape_has(shape, MOD_XORSIGN)][shape_has(shape, MOD_NAN)][ptx_types[type].elements == 2]; \
    }
MIN_MAX_SELECT(min)
MIN_MAX_SELECT(max)

// ex2 and tanh are the f32 results of the multifunction unit, truncated. ex2.approx.f16 keeps subnormals; bf16 has .ftz
// always and flushes them.
static inline u32 f16_truncated(f32 v) {
    u32 h = f16_of_f32(v);
    f32 magnitude = f32_of_bits(bits_of_f32(v) & 0x7fffffff);
    return h - ((f16_to_f32(h & 0x7fff) > magnitude) & (magnitude < 0x1p16f));
}
static inline u32 f16_truncated_ftz(f32 v) { return flush_f16(f16_truncated(v)); }
static inline f32 f16_to_f32_ftz(u32 h) { return f16_to_f32(flush_f16(h)); }
static inline u32 bf16_truncated(f32 v) { return bits_of_f32(v) >> 16; }

// A function of the unit, for all lanes in place.
#define MUFU_LANES(op)                                                                           \
    static inline void op##_lanes(f32 *v) {                                                      \
        u32 place[LANES];                                                                        \
        MufuRows rows;                                                                           \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) place[l] = mufu_##op##_row(v[l]);          \
        mufu_fetch(&rows, mufu_##op##_rows, place);                                              \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) v[l] = mufu_##op(v[l], mufu_at(&rows, l)); \
    }
MUFU_LANES(ex2)
MUFU_LANES(tanh)

#define HALF_MUFU(name, op, widen, narrow)                                         \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                       \
        Cell32 *d = exec_operand(x, in->dst);                                      \
        const Cell32 *a = exec_operand(x, in->src[0]);                             \
        f32 v[LANES];                                                              \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) v[l] = widen(a[l] & 0xffff); \
        op##_lanes(v);                                                             \
        LANES_SET(mask, Cell32, d, narrow(v[l]));                                  \
    }                                                                              \
    static void name##_x2(Exec *x, const SimInsn *in, u32 mask) {                  \
        Cell32 *d = exec_operand(x, in->dst);                                      \
        const Cell32 *a = exec_operand(x, in->src[0]);                             \
        f32 low[LANES], high[LANES];                                               \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) {                            \
            low[l] = widen(a[l] & 0xffff);                                         \
            high[l] = widen(a[l] >> 16);                                           \
        }                                                                          \
        op##_lanes(low);                                                           \
        op##_lanes(high);                                                          \
        LANES_SET(mask, Cell32, d, narrow(low[l]) | narrow(high[l]) << 16);        \
    }
HALF_MUFU(ex2_f16, ex2, f16_to_f32, f16_truncated)
HALF_MUFU(ex2_f16_ftz, ex2, f16_to_f32_ftz, f16_truncated_ftz)
HALF_MUFU(ex2_bf16, ex2, bf16_to_f32, bf16_truncated)
HALF_MUFU(tanh_f16, tanh, f16_to_f32, f16_truncated)
HALF_MUFU(tanh_bf16, tanh, bf16_to_f32, bf16_truncated)

EXEC_SELECT(ex2_half) {
    static const ExecFn f16[2][2] = {BOTH(ex2_f16), BOTH(ex2_f16_ftz)}, bf16[2] = BOTH(ex2_bf16);
    (void)in;
    u8 type = shape_type(shape, 0);
    if (type == TYPE_F16 || type == TYPE_F16X2) return f16[shape_has(shape, MOD_FTZ)][type == TYPE_F16X2];
    return bf16[type == TYPE_BF16X2];
}
EXEC_SELECT(tanh_half) {
    static const ExecFn f16[2] = BOTH(tanh_f16), bf16[2] = BOTH(tanh_bf16);
    (void)in;
    u8 type = shape_type(shape, 0);
    if (type == TYPE_F16 || type == TYPE_F16X2) return f16[type == TYPE_F16X2];
    return bf16[type == TYPE_BF16X2];
}
