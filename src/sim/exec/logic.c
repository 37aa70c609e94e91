// SPDX-License-Identifier: Apache-2.0
// Logic and shifts (PTX ISA 9.7.8).
#include "sim/exec/lanes.h"

#define LOGIC(T)                  \
    MAP2(and_##T, T, T, T, a &b)  \
    MAP2(or_##T, T, T, T, a | b)  \
    MAP2(xor_##T, T, T, T, a ^ b) \
    MAP1(not_##T, T, T, ~a)       \
    MAP1(cnot_##T, T, T, a == 0)
LOGIC(u16)
LOGIC(u32)
LOGIC(u64)

// Predicates: the sources are slot numbers.
#define LOGIC_PRED(name, expression)                                                             \
    static void name##_pred(Exec *x, const SimInsn *in, u32 mask) {                              \
        u32 a = x->pred[in->src[0]], b = in->src[1] == SIM_NO_OPERAND ? 0 : x->pred[in->src[1]]; \
        (void)b;                                                                                 \
        exec_set_pred(x, in->pred_dst, expression, mask);                                        \
    }
LOGIC_PRED(and, a &b)
LOGIC_PRED(or, a | b)
LOGIC_PRED(xor, a ^ b)
LOGIC_PRED(not, ~a)

#define LOGIC_SELECT(op)                                                                                   \
    EXEC_SELECT(op) {                                                                                      \
        static const ExecFn table[TYPE_COUNT] = {                                                          \
            [TYPE_PRED] = op##_pred, [TYPE_B16] = op##_u16, [TYPE_B32] = op##_u32, [TYPE_B64] = op##_u64}; \
        (void)in;                                                                                          \
        return table[shape_type(shape, 0)];                                                                \
    }
LOGIC_SELECT(and)
LOGIC_SELECT(or)
LOGIC_SELECT(xor)
LOGIC_SELECT(not )

EXEC_SELECT(cnot) {
    static const ExecFn table[TYPE_COUNT] = {[TYPE_B16] = cnot_u16, [TYPE_B32] = cnot_u32, [TYPE_B64] = cnot_u64};
    (void)in;
    return table[shape_type(shape, 0)];
}

// Shift amounts are u32 and clamped to the width.
MAP2(shl_u16, u16, u16, u32, b > 15 ? 0 : (u32)a << b)
MAP2(shl_u32, u32, u32, u32, b > 31 ? 0 : a << (b & 31))
MAP2(shl_u64, u64, u64, u32, b > 63 ? 0 : a << (b & 63))
MAP2(shr_u16, u16, u16, u32, b > 15 ? 0 : (u32)a >> (b & 15))
MAP2(shr_u32, u32, u32, u32, b > 31 ? 0 : a >> (b & 31))
MAP2(shr_u64, u64, u64, u32, b > 63 ? 0 : a >> (b & 63))
MAP2(shr_i16, i16, i16, u32, (i32)a >> (b > 15 ? 15 : b))
MAP2(shr_i32, i32, i32, u32, a >> (b > 31 ? 31 : b))
MAP2(shr_i64, i64, i64, u32, a >> (b > 63 ? 63 : b))

EXEC_SELECT(shl) {
    static const ExecFn table[TYPE_COUNT] = {[TYPE_B16] = shl_u16, [TYPE_B32] = shl_u32, [TYPE_B64] = shl_u64};
    (void)in;
    return table[shape_type(shape, 0)];
}

EXEC_SELECT(shr) {
    static const ExecFn table[TYPE_COUNT] = {
        [TYPE_B16] = shr_u16, [TYPE_B32] = shr_u32, [TYPE_B64] = shr_u64, [TYPE_U16] = shr_u16, [TYPE_U32] = shr_u32,
        [TYPE_U64] = shr_u64, [TYPE_S16] = shr_i16, [TYPE_S32] = shr_i32, [TYPE_S64] = shr_i64};
    (void)in;
    return table[shape_type(shape, 0)];
}

// Funnel shifts of [b:a]: .l gives the upper, .r the lower half.
static inline u32 funnel_left(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) << n >> 32); }
static inline u32 funnel_right(u32 a, u32 b, u32 n) { return (u32)(((u64)b << 32 | a) >> n); }
MAP3(shf_l_clamp, u32, u32, u32, u32, funnel_left(a, b, c > 32 ? 32 : c))
MAP3(shf_l_wrap, u32, u32, u32, u32, funnel_left(a, b, c & 31))
MAP3(shf_r_clamp, u32, u32, u32, u32, funnel_right(a, b, c > 32 ? 32 : c))
MAP3(shf_r_wrap, u32, u32, u32, u32, funnel_right(a, b, c & 31))

EXEC_SELECT(shf) {
    static const ExecFn table[2][2] = {{shf_l_clamp, shf_l_wrap}, {shf_r_clamp, shf_r_wrap}};
    (void)in;
    return table[shape_mod(shape, MOD_SHF_DIR) == SHF_DIR_R][shape_mod(shape, MOD_SHIFT) == SHIFT_WRAP];
}

// lop3: the table is a multiplexer tree over c, b, a whose leaves are the eight bits of immLut, spread over the word.
// src[3] is an immediate, so lane 0 speaks for all.
typedef struct Lut {
    u32 leaf[4], flip[4];  // leaf for c = 0; what changes for c = 1; index 2a + b
} Lut;
static inline Lut lut_of(u32 immediate) {
    Lut lut;
    for (u32 k = 0; k < 4; k++) {
        lut.leaf[k] = 0u - (immediate >> (2 * k) & 1);
        lut.flip[k] = lut.leaf[k] ^ (0u - (immediate >> (2 * k + 1) & 1));
    }
    return lut;
}
static inline u32 lut_apply(Lut lut, u32 a, u32 b, u32 c) {
    u32 k0 = lut.leaf[0] ^ (c & lut.flip[0]), k1 = lut.leaf[1] ^ (c & lut.flip[1]);
    u32 k2 = lut.leaf[2] ^ (c & lut.flip[2]), k3 = lut.leaf[3] ^ (c & lut.flip[3]);
    u32 low = k0 ^ (b & (k0 ^ k1)), high = k2 ^ (b & (k2 ^ k3));
    return low ^ (a & (low ^ high));
}

static void lop3_b32(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]), *c = exec_operand(x, in->src[2]);
    Lut lut = lut_of(*(const Cell32 *)exec_operand(x, in->src[3]));
    LANES_SET(mask, Cell32, d, lut_apply(lut, a[l], b[l], c[l]));
}

// lop3.and/or d|p: p = (d != 0) op q.
static void lop3_bool(Exec *x, const SimInsn *in, u32 mask) {
    const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]), *c = exec_operand(x, in->src[2]);
    Lut lut = lut_of(*(const Cell32 *)exec_operand(x, in->src[3]));
    u32 result[LANES], set;
    for (u32 l = 0; l < LANES; l++) result[l] = lut_apply(lut, a[l], b[l], c[l]);
    LANES_TEST(set, result[l] != 0);
    u32 q = exec_get_pred(x, in);
    if (in->dst != SIM_NO_OPERAND) {
        Cell32 *d = exec_operand(x, in->dst);
        LANES_SET(mask, Cell32, d, result[l]);
    }
    exec_set_pred(x, in->pred_dst, in->mods == BOOL_AND ? set & q : set | q, mask);
}

EXEC_SELECT(lop3) {
    if (!shape_has(shape, MOD_BOOL)) return lop3_b32;
    in->mods = shape_mod(shape, MOD_BOOL);
    return lop3_bool;
}
