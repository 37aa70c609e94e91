// SPDX-License-Identifier: Apache-2.0
// cvt to tf32, and to and from pairs: f16x2 and bf16x2 from two f32; e4m3x2, e5m2x2, e2m3x2, e3m2x2, e2m1x2 and ue8m0x2
// from and to pairs (PTX ISA 9.7.9.21).
#include "sim/exec/convert.h"
#include "sim/exec/fp8.h"
#include "sim/exec/half.h"

static inline f32 relu_f32(f32 v) { return v <= 0.0f ? 0.0f : v; }
static inline f32 finite_f32(f32 v, f32 max) { return v > max ? max : v < -max ? -max : v; }
// Truncation: the nearest, one less where that is too large.
static inline u32 f16_truncated(f32 v) {
    u32 h = f16_of_f32(v);
    return h - (f16_to_f32(h & 0x7fff) > f32_of_bits(bits_of_f32(v) & 0x7fffffff));
}
static inline u32 bf16_truncated(f32 v) { return v != v ? NAN_BITS_HALF : bits_of_f32(v) >> 16; }

// a goes to the upper, b to the lower half.
#define PACK(name, f, CLAMP) MAP2(name, u32, f32, f32, f(CLAMP(b)) | f(CLAMP(a)) << 16)
#define SAME(v) (v)
#define FINITE_F16(v) finite_f32(v, 65504.0f)
#define FINITE_BF16(v) finite_f32(v, 0x1.fep127f)
#define PACK_ALL(T, suffix, f, FINITE)                                         \
    PACK(T##suffix, f, SAME)                                                   \
    PACK(T##suffix##_relu, f, relu_f32)                                        \
    PACK(T##suffix##_finite, f, FINITE)                                        \
    static inline f32 T##suffix##_clamp(f32 v) { return FINITE(relu_f32(v)); } \
    PACK(T##suffix##_relu_finite, f, T##suffix##_clamp)
PACK_ALL(pack_f16, _rn, f16_of_f32, FINITE_F16)
PACK_ALL(pack_f16, _rz, f16_truncated, FINITE_F16)
PACK_ALL(pack_bf16, _rn, bf16_of_f32, FINITE_BF16)
PACK_ALL(pack_bf16, _rz, bf16_truncated, FINITE_BF16)

#define PACK_TABLE(name)                                           \
    {                                                              \
        {name, name##_finite}, { name##_relu, name##_relu_finite } \
    }
EXEC_SELECT(cvt_halfx2) {
    static const ExecFn table[2][2][2][2] = {{PACK_TABLE(pack_f16_rn), PACK_TABLE(pack_f16_rz)},
                                             {PACK_TABLE(pack_bf16_rn), PACK_TABLE(pack_bf16_rz)}};
    (void)in;
    return table[shape_type(shape, 0) == TYPE_BF16X2][shape_mod(shape, MOD_RND) == RND_RZ][shape_has(shape, MOD_RELU)]
                [shape_has(shape, MOD_SATFINITE)];
}

// fp8: in->mods says which.
enum { E5M2 = 1, BFLOAT = 2, WITH_RELU = 4 };
static f32 clamp(const SimInsn *in, f32 v) { return in->mods & WITH_RELU ? relu_f32(v) : v; }
static Fp8 format_of(const SimInsn *in) { return in->mods & E5M2 ? FP8_E5M2 : FP8_E4M3; }

static void fp8_from_f32(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const CellF32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);
    Fp8 format = format_of(in);
    FOR_LANES(mask, d[l] = fp8_of_f32(format, clamp(in, b[l])) | (u32)fp8_of_f32(format, clamp(in, a[l])) << 8);
}
static f32 widen(const SimInsn *in, u32 h) { return in->mods & BFLOAT ? bf16_to_f32(h) : f16_to_f32(h); }
static void fp8_from_half(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]);
    Fp8 format = format_of(in);
    FOR_LANES(mask, d[l] = fp8_of_f32(format, clamp(in, widen(in, a[l] & 0xffff))) |
                           (u32)fp8_of_f32(format, clamp(in, widen(in, a[l] >> 16))) << 8);
}
static u32 narrow(const SimInsn *in, u8 code) {
    f32 v = clamp(in, fp8_to_f32(format_of(in), code));
    return in->mods & BFLOAT ? bf16_of_f32(v) : f16_of_f32(v);
}
static void half_from_fp8(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = narrow(in, (u8)a[l]) | narrow(in, (u8)(a[l] >> 8)) << 16);
}

EXEC_SELECT(cvt_fp8) {
    u8 to = shape_type(shape, 0), from = shape_type(shape, 1);
    bool narrows = to == TYPE_E4M3X2 || to == TYPE_E5M2X2;
    u8 fp8 = narrows ? to : from, other = narrows ? from : to;
    in->mods = (u16)((fp8 == TYPE_E5M2X2 ? E5M2 : 0) | (other == TYPE_BF16X2 ? BFLOAT : 0) |
                     (shape_has(shape, MOD_RELU) ? WITH_RELU : 0));
    if (!narrows) return half_from_fp8;
    return from == TYPE_F32 ? fp8_from_f32 : fp8_from_half;
}

// fp6 and fp4: in->mods is the format and WITH_RELU. Elements lie 8 bits apart, those of e2m1 4 bits.
enum { MINI_FORMAT = 7, MINI_RELU = 8 };
static u32 mini_shift(const SimInsn *in) { return (in->mods & MINI_FORMAT) == FP4_E2M1 ? 4 : 8; }
static u32 mini_narrow(const SimInsn *in, f32 v) {
    return fp8_of_f32((Fp8)(in->mods & MINI_FORMAT), in->mods & MINI_RELU ? relu_f32(v) : v);
}
static u32 mini_widen(const SimInsn *in, u32 codes) {
    f32 v = fp8_to_f32((Fp8)(in->mods & MINI_FORMAT), (u8)codes);
    return f16_of_f32(in->mods & MINI_RELU ? relu_f32(v) : v);
}
static void mini_from_f32(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const CellF32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);
    u32 shift = mini_shift(in);
    FOR_LANES(mask, d[l] = mini_narrow(in, b[l]) | mini_narrow(in, a[l]) << shift);
}
static void half_from_mini(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]);
    u32 shift = mini_shift(in);
    FOR_LANES(mask, d[l] = mini_widen(in, a[l]) | mini_widen(in, a[l] >> shift) << 16);
}
EXEC_SELECT(cvt_minifloat) {
    u8 to = shape_type(shape, 0), from = shape_type(shape, 1), mini = from == TYPE_F32 ? to : from;
    u32 format = mini == TYPE_E2M3X2 ? FP6_E2M3 : mini == TYPE_E3M2X2 ? FP6_E3M2 : FP4_E2M1;
    in->mods = (u16)(format | (shape_has(shape, MOD_RELU) ? MINI_RELU : 0));
    return from == TYPE_F32 ? mini_from_f32 : half_from_mini;
}

// ue8m0: powers of two from 2^-127, 0xff is NaN. The sign is not looked at. `bits` are those of an f32.
enum { SCALE_UP = 1, SCALE_FINITE = 2 };
static u32 scale_of(const SimInsn *in, u32 bits) {
    u32 magnitude = bits & 0x7fffffff, code = magnitude >> 23;
    if (magnitude > 0x7f800000) return 0xff;
    if (in->mods & SCALE_UP && magnitude & 0x7fffff && magnitude > 0x400000) code++;  // 0x400000: 2^-127
    return in->mods & SCALE_FINITE && code == 0xff ? 0xfe : code;
}
static u32 bf16_of_scale(u32 code) { return code == 0xff ? NAN_BITS_HALF : code ? code << 7 : 0x40; }
static void scale_from_f32(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);
    FOR_LANES(mask, d[l] = scale_of(in, b[l]) | scale_of(in, a[l]) << 8);
}
static void scale_from_bf16(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = scale_of(in, a[l] << 16) | scale_of(in, a[l] & 0xffff0000) << 8);
}
static void bf16_from_scale(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = bf16_of_scale(a[l] & 0xff) | bf16_of_scale(a[l] >> 8 & 0xff) << 16);
}
EXEC_SELECT(cvt_ue8m0) {
    in->mods = (u16)((shape_mod(shape, MOD_RND) == RND_RP ? SCALE_UP : 0) |
                     (shape_has(shape, MOD_SATFINITE) ? SCALE_FINITE : 0));
    if (shape_type(shape, 0) == TYPE_BF16X2) return bf16_from_scale;
    return shape_type(shape, 1) == TYPE_F32 ? scale_from_f32 : scale_from_bf16;
}

// tf32: f32 with 13 bits less, rounded half away from zero (.rna), to even, or cut. .rna keeps the bits of a NaN.
static inline u32 tf32_of_bits(u32 bits, u32 half) {
    return ((bits & 0x7fffffff) > 0x7f800000 ? bits : bits + half) & ~0x1fffu;
}
static inline u32 canonical_bits(u32 bits) { return (bits & 0x7fffffff) > 0x7f800000 ? NAN_BITS_F32 : bits; }
#define TF32_MAX 0x7f7fe000u
enum { TF32_RELU = 1, TF32_FINITE = 2 };
static inline u32 tf32_clamped(const SimInsn *in, u32 bits) {
    if (in->mods & TF32_RELU && bits & 0x80000000 && (bits & 0x7fffffff) <= 0x7f800000) return 0;
    if (in->mods & TF32_FINITE && (bits & 0x7fffffff) > TF32_MAX && (bits & 0x7fffffff) <= 0x7f800000)
        return (bits & 0x80000000) | TF32_MAX;
    return bits;
}
#define TF32(name, expression)                                      \
    static void tf32_##name(Exec *x, const SimInsn *in, u32 mask) { \
        Cell32 *d = exec_operand(x, in->dst);                       \
        const Cell32 *a = exec_operand(x, in->src[0]);              \
        LANES_SET(mask, Cell32, d, tf32_clamped(in, expression));   \
    }
TF32(rna, tf32_of_bits(a[l], 0x1000))
// Of a NaN one less (measured on an H200).
static inline u32 nan_less(u32 bits) { return (bits & 0x7fffffff) > 0x7f800000 ? bits - 0x2000 : bits; }
TF32(rna_finite, tf32_of_bits(nan_less(a[l]), 0x1000))
TF32(rn, tf32_of_bits(canonical_bits(a[l]), 0xfff + (a[l] >> 13 & 1)))
TF32(rz, tf32_of_bits(canonical_bits(a[l]), 0))

ExecFn SIM_ISA_NAME(select_tf32)(const ExecShape *shape, SimInsn *in) {
    in->mods =
        (u16)((shape_has(shape, MOD_RELU) ? TF32_RELU : 0) | (shape_has(shape, MOD_SATFINITE) ? TF32_FINITE : 0));
    switch (shape_mod(shape, MOD_RND)) {
    case RND_RNA: return shape_has(shape, MOD_SATFINITE) ? tf32_rna_finite : tf32_rna;
    case RND_RZ: return tf32_rz;
    default: return tf32_rn;
    }
}
