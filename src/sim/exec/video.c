// SPDX-License-Identifier: Apache-2.0
// Scalar and SIMD video instructions (PTX ISA 9.7.18, 9.7.19), lane by lane, with their selectors: a part of a scalar
// operand (.b1, .h0), the parts of [b:a] that a SIMD operand is made of (.b7531), and the parts of the result that are
// written (the others are c's).
#include "sim/exec/lanes.h"

typedef enum VideoOp { V_ADD, V_SUB, V_ABSDIFF, V_MIN, V_MAX, V_SHL, V_SHR, V_MAD, V_SET, V_AVRG } VideoOp;

static i64 extend_to(i64 value, u32 bits, bool is_signed) {
    u32 unused = 64 - bits;
    return is_signed ? (i64)((u64)value << unused) >> unused : (i64)((u64)value << unused >> unused);
}
static i64 clamp_to(i64 value, u32 bits, bool is_signed) {
    i64 max = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1, min = is_signed ? -max - 1 : 0;
    return value > max ? max : value < min ? min : value;
}
static bool compare(u16 cmp, i64 a, i64 b) {
    switch (cmp) {
    case CMP_EQ: return a == b;
    case CMP_NE: return a != b;
    case CMP_LT: return a < b;
    case CMP_LE: return a <= b;
    case CMP_GT: return a > b;
    default: return a >= b;
    }
}

typedef struct Video {  // in SimInsn.offset
    u64 op : 4;         // VideoOp
    u64 lanes : 3;      // 1, 2, 4 parts of a register
    u64 cmp : 3;        // V_SET: CMP_* minus CMP_EQ
    u64 then : 2;       // secondary: VIDEO_OP2_* minus VIDEO_OP2_ADD, plus 1; 0 = none
    u64 shift : 4;      // V_MAD: right shift of the result
    u64 d_signed : 1, a_signed : 1, b_signed : 1, sat : 1, wrap : 1, po : 1;
    u64 a : 16, b : 16;  // scalar: COMPONENT_*; SIMD: a nibble for each part, 0..7 over [b:a]
    u64 d : 4;           // scalar: COMPONENT_*; SIMD: mask of parts
} Video;
union VideoBits {
    Video video;
    i64 bits;
};
_Static_assert(sizeof(Video) == sizeof(i64), "fits SimInsn.offset");

static i64 operate(const Video *v, u32 bits, i64 a, i64 b) {
    switch (v->op) {
    case V_ADD: return a + b;
    case V_SUB: return a - b;
    case V_ABSDIFF: return a > b ? a - b : b - a;
    case V_MIN: return a < b ? a : b;
    case V_MAX: return a > b ? a : b;
    case V_AVRG: {  // rounded half away from zero
        i64 sum = a + b;
        return (sum + (sum >= 0)) >> 1;
    }
    case V_SET: return compare((u16)(CMP_EQ + v->cmp), a, b);
    default: {  // shifts, by an unsigned amount
        u64 amount = (u64)b & 0xffffffff;
        amount = v->wrap ? amount & (bits - 1) : amount > bits ? bits : amount;
        return v->op == V_SHL ? (i64)((u64)a << amount) : a >> amount;
    }
    }
}

// Where a component lies in a register.
static void component_field(u32 component, u32 *shift, u32 *bits) {
    *shift = 0, *bits = 32;
    if (component >= COMPONENT_B0 && component <= COMPONENT_B3)
        *shift = (component - COMPONENT_B0) * 8, *bits = 8;
    else if (component == COMPONENT_H0 || component == COMPONENT_H1)
        *shift = (component - COMPONENT_H0) * 16, *bits = 16;
}
static i64 component_of(u32 reg, u32 component, bool is_signed) {
    u32 shift, bits;
    component_field(component, &shift, &bits);
    return extend_to(reg >> shift, bits, is_signed);
}

// From sm_60 on ptxas makes several instructions of one of these. What they compute is followed where it is not what
// the ISA says (measured on an H200, CUDA 13.0): .sat of a part knows no lower bound, that of an unsigned word no upper
// one, that of shifts looks at 34 bits and at the whole word only; .h1 gets the upper half of the result; vmad takes
// words as signed.
static i64 saturate(const Video *v, u32 bits, i64 r) {
    if (!v->sat) return r;
    if (v->op == V_SHL || v->op == V_SHR) return extend_to(clamp_to(extend_to(r, 34, true), 32, v->d_signed), 32, true);
    if (bits < 32) {
        u32 max = (1u << (bits - v->d_signed)) - 1;
        return (u32)r > max ? max : (u32)r;
    }
    return v->d_signed ? clamp_to(r, 32, true) : r < 0 ? 0 : r;
}
// min and max compare what has not been cut to 32 bits, sums apart.
static u32 secondary(const Video *v, i64 r, u32 c) {
    if (VIDEO_OP2_ADD + v->then - 1 == VIDEO_OP2_ADD) return (u32)r + c;
    if (v->op == V_ADD || v->op == V_SUB) r = extend_to(r, 32, true);
    bool less = v->d_signed ? r < (i32)c : (u64)r < c;
    return less == (VIDEO_OP2_ADD + v->then - 1 == VIDEO_OP2_MIN) ? (u32)r : c;
}
static u32 scalar(const Video *v, u32 ra, u32 rb, u32 rc) {
    u32 shift, bits;
    component_field(v->d, &shift, &bits);
    i64 a = component_of(ra, v->a, v->a_signed), b = component_of(rb, v->b, v->b_signed);
    i64 r = saturate(v, bits, operate(v, 32, a, b));
    if (bits < 32) {
        u32 field = ((1u << bits) - 1) << shift, part = v->d == COMPONENT_H1 ? (u32)r >> 16 : (u32)r;
        return (rc & ~field) | (part << shift & field);
    }
    return v->then ? secondary(v, r, rc) : (u32)r;
}

// vmad: a * b + c, +1 for .po, shifted right.
static u32 multiply_add(const Video *v, u32 ra, u32 rb, u32 rc) {
    bool is_signed = v->a_signed || v->b_signed;
    i64 a = component_of(ra, v->a, v->a == 0 || v->a_signed);
    i64 b = component_of(rb, v->b, v->b == 0 || v->b_signed);
    i64 r = (a * b + (i32)rc + v->po) >> v->shift;
    if (!v->sat) return (u32)r;
    if (is_signed) return (u32)clamp_to(r, 32, true);
    // Shifted, a negative sum counts as a large one.
    return v->shift ? ((u64)r > UINT32_MAX ? UINT32_MAX : (u32)r) : (u32)clamp_to(r, 32, false);
}

// With .add the written parts are summed into one number with c; without, they replace c's.
static u32 simd(const Video *v, u32 ra, u32 rb, u32 rc) {
    u32 bits = 32u / v->lanes, packed = rc, sum = rc;
    u64 both = (u64)rb << 32 | ra;
    for (u32 i = 0; i < v->lanes; i++) {
        if (!(v->d >> i & 1)) continue;
        u32 from_a = (v->a >> (4 * i) & 7) * bits % 64, from_b = (v->b >> (4 * i) & 7) * bits % 64, shift = i * bits;
        i64 a = extend_to((i64)(both >> from_a), bits, v->a_signed),
            b = extend_to((i64)(both >> from_b), bits, v->b_signed);
        i64 r = operate(v, bits, a, b);
        if (v->sat) r = clamp_to(r, bits, v->d_signed);
        u32 field = (UINT32_MAX >> (32 - bits)) << shift;
        sum += (u32)r;
        packed = (packed & ~field) | ((u32)r << shift & field);
    }
    return v->then ? sum : packed;
}

#define VIDEO_HANDLER(name, f)                                                                \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                                  \
        const union VideoBits u = {.bits = in->offset};                                       \
        static const u32 zeros[LANES];                                                        \
        Cell32 *d = exec_operand(x, in->dst);                                                 \
        const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);      \
        const Cell32 *c = in->src[2] == SIM_NO_OPERAND ? zeros : exec_operand(x, in->src[2]); \
        LANES_EACH(mask, Cell32, d, f(&u.video, a[l], b[l], c[l]));                           \
    }
VIDEO_HANDLER(video_scalar, scalar)
VIDEO_HANDLER(video_mad, multiply_add)
VIDEO_HANDLER(video_simd, simd)

// Selectors as written: SIMD digits as nibbles, plain ones as one digit; `natural` where there is none.
static u32 digits_of(const Operand *o, u32 natural, u32 *count) {
    u32 c = o->component;
    *count = 4;
    if (c == COMPONENT_BYTES || c == COMPONENT_HALVES) return *count = (u32)(o->value >> 32 & 15), (u32)o->value;
    *count = 1;
    if (c >= COMPONENT_B0 && c <= COMPONENT_B3) return c - COMPONENT_B0;
    if (c == COMPONENT_H0 || c == COMPONENT_H1) return c - COMPONENT_H0;
    return *count = 4, natural;
}
static void read_selectors(const ExecShape *shape, Video *v) {
    bool simd = v->lanes > 1;
    v->a = simd ? 0x3210 : 0;
    v->b = !simd ? 0 : v->lanes == 4 ? 0x7654 : 0x32;
    v->d = simd ? 0xf : 0;
    if (!shape->insn) return;
    const Operand *d = insn_operand(shape->module, shape->insn, 0), *a = insn_operand(shape->module, shape->insn, 1);
    const Operand *b = insn_operand(shape->module, shape->insn, 2);
    if (!simd) {
        v->a = a->component, v->b = b->component, v->d = d->component;
        return;
    }
    u32 count, mask = 0;
    v->a = digits_of(a, v->a, &count);
    v->b = digits_of(b, v->b, &count);
    u32 written = digits_of(d, 0x3210, &count);
    for (u32 i = 0; i < count; i++) mask |= 1u << (written >> (4 * i) & 3);
    v->d = mask;
}

EXEC_SELECT(video) {
    static const struct {
        u8 op, lanes;
    } ops[OP_COUNT] = {[OP_VADD] = {V_ADD, 1},          [OP_VSUB] = {V_SUB, 1},          [OP_VABSDIFF] = {V_ABSDIFF, 1},
                       [OP_VMIN] = {V_MIN, 1},          [OP_VMAX] = {V_MAX, 1},          [OP_VSHL] = {V_SHL, 1},
                       [OP_VSHR] = {V_SHR, 1},          [OP_VMAD] = {V_MAD, 1},          [OP_VSET] = {V_SET, 1},
                       [OP_VADD2] = {V_ADD, 2},         [OP_VSUB2] = {V_SUB, 2},         [OP_VAVRG2] = {V_AVRG, 2},
                       [OP_VABSDIFF2] = {V_ABSDIFF, 2}, [OP_VMIN2] = {V_MIN, 2},         [OP_VMAX2] = {V_MAX, 2},
                       [OP_VSET2] = {V_SET, 2},         [OP_VADD4] = {V_ADD, 4},         [OP_VSUB4] = {V_SUB, 4},
                       [OP_VAVRG4] = {V_AVRG, 4},       [OP_VABSDIFF4] = {V_ABSDIFF, 4}, [OP_VMIN4] = {V_MIN, 4},
                       [OP_VMAX4] = {V_MAX, 4},         [OP_VSET4] = {V_SET, 4}};
    u16 op = shape->form->op, then = shape_mod(shape, MOD_VIDEO_OP2), cmp = shape_mod(shape, MOD_CMP);
    bool set = ops[op].op == V_SET;  // vset has no type of its own for the result: a's
    union VideoBits u = {.bits = 0};
    u.video = (Video){.op = ops[op].op & 15,
                      .lanes = ops[op].lanes & 7,
                      .cmp = (set ? cmp - CMP_EQ : 0) & 7,
                      .then = (then ? then - VIDEO_OP2_ADD + 1u : 0) & 3,
                      .shift = shape_mod(shape, MOD_VIDEO_SCALE) == VIDEO_SCALE_SHR7    ? 7
                               : shape_mod(shape, MOD_VIDEO_SCALE) == VIDEO_SCALE_SHR15 ? 15
                                                                                        : 0,
                      .d_signed = shape_type(shape, 0) == TYPE_S32,
                      .a_signed = shape_type(shape, !set) == TYPE_S32,
                      .b_signed = shape_type(shape, 1 + !set) == TYPE_S32,
                      .sat = shape_has(shape, MOD_SAT),
                      .wrap = shape_mod(shape, MOD_SHIFT) == SHIFT_WRAP,
                      .po = shape_has(shape, MOD_VIDEO_PO)};
    read_selectors(shape, &u.video);
    in->offset = u.bits;
    if (u.video.op == V_MAD) return video_mad;
    return u.video.lanes == 1 ? video_scalar : video_simd;
}
