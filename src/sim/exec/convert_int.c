// SPDX-License-Identifier: Apache-2.0
// cvt between integer types (PTX ISA 9.7.9.21).
#include "sim/exec/lanes.h"

// The natural case, registers as wide as the types: reading as S and writing as D does all the extending and cutting.
#define CVT(D, S) MAP1(cvt_##D##_##S, D, S, a)
#define FROM_ALL(D) CVT(D, u8) CVT(D, u16) CVT(D, u32) CVT(D, u64) CVT(D, i8) CVT(D, i16) CVT(D, i32) CVT(D, i64)
FROM_ALL(u8)
FROM_ALL(u16)
FROM_ALL(u32)
FROM_ALL(u64)
FROM_ALL(i8)
FROM_ALL(i16)
FROM_ALL(i32)
FROM_ALL(i64)

#define ROW(D)                                                                                                        \
    {                                                                                                                 \
        [TYPE_U8] = cvt_##D##_u8, [TYPE_U16] = cvt_##D##_u16, [TYPE_U32] = cvt_##D##_u32, [TYPE_U64] = cvt_##D##_u64, \
        [TYPE_S8] = cvt_##D##_i8, [TYPE_S16] = cvt_##D##_i16, [TYPE_S32] = cvt_##D##_i32, [TYPE_S64] = cvt_##D##_i64  \
    }
static const ExecFn natural[TYPE_COUNT][TYPE_COUNT] = {
    [TYPE_U8] = ROW(u8), [TYPE_U16] = ROW(u16), [TYPE_U32] = ROW(u32), [TYPE_U64] = ROW(u64),
    [TYPE_S8] = ROW(i8), [TYPE_S16] = ROW(i16), [TYPE_S32] = ROW(i32), [TYPE_S64] = ROW(i64)};

// Saturation, and registers wider than the types: lane by lane.
static inline bool is_signed(u8 type) { return ptx_types[type].class == TYPE_CLASS_SINT; }
static inline u64 extend(u64 raw, u8 type) {
    u32 unused = 64u - ptx_types[type].bits;
    return is_signed(type) ? (u64)((i64)(raw << unused) >> unused) : raw << unused >> unused;
}
static u64 saturate(u64 value, u8 to, u8 from) {
    u32 bits = ptx_types[to].bits;
    bool negative = is_signed(from) && (i64)value < 0;
    if (is_signed(to)) {
        i64 max = (i64)(UINT64_MAX >> (65 - bits)), min = -max - 1;
        if (negative) return (i64)value < min ? (u64)min : value;
        return value > (u64)max ? (u64)max : value;
    }
    u64 max = UINT64_MAX >> (64 - bits);
    return negative ? 0 : value > max ? max : value;
}

enum { WIDE_SOURCE = 1, WIDE_RESULT = 2, SATURATE = 4 };
static void cvt_any(Exec *x, const SimInsn *in, u32 mask) {
    u8 to = in->form->types[0], from = in->form->types[1];
    void *d = exec_operand(x, in->dst);
    const void *s = exec_operand(x, in->src[0]);
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u64 value = extend(in->mods & WIDE_SOURCE ? ((const Cell64 *)s)[l] : ((const Cell32 *)s)[l], from);
        if (in->mods & SATURATE) value = saturate(value, to, from);
        value = extend(value, to);
        if (in->mods & WIDE_RESULT)
            ((Cell64 *)d)[l] = value;
        else
            ((Cell32 *)d)[l] = (u32)value;
    }
}

EXEC_SELECT(cvt_int) {
    u8 to = shape_type(shape, 0), from = shape_type(shape, 1);
    bool wide_result = shape->dst_bits == 64, wide_source = shape->src_bits[0] == 64;
    bool sat = shape_has(shape, MOD_SAT);
    if (!sat && wide_result == (ptx_types[to].bits == 64) && wide_source == (ptx_types[from].bits == 64))
        return natural[to][from];
    in->mods = (u16)((wide_source ? WIDE_SOURCE : 0) | (wide_result ? WIDE_RESULT : 0) | (sat ? SATURATE : 0));
    in->form = shape->form;
    return cvt_any;
}

// cvt.pack: two s32 saturated and packed, b lowest, then (below 16 bits) the bits of c above.
static void cvt_pack_any(Exec *x, const SimInsn *in, u32 mask) {
    u8 to = in->form->types[0];
    u32 bits = ptx_types[to].bits;
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]);
    const Cell32 *c = in->src[2] == SIM_NO_OPERAND ? NULL : exec_operand(x, in->src[2]);
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u32 field = (1u << bits) - 1;
        u32 ta = (u32)saturate(extend(a[l], TYPE_S32), to, TYPE_S32) & field;
        u32 tb = (u32)saturate(extend(b[l], TYPE_S32), to, TYPE_S32) & field;
        d[l] = tb | ta << bits | (c && bits < 16 ? c[l] << (2 * bits) : 0);
    }
}
EXEC_SELECT(cvt_pack) {
    in->form = shape->form;
    return cvt_pack_any;
}
