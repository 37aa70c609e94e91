// SPDX-License-Identifier: Apache-2.0
// setp and set of f16, bf16 and their pairs (PTX ISA 9.7.7): the halves are widened to f32 and compared there.
#include "sim/exec/half.h"

#define TEST(token, condition)                                           \
    case token:                                                          \
        for (u32 l = 0; l < LANES; l++) result |= (u32)(condition) << l; \
        break;
static u32 test_f32(u16 cmp, const f32 *a, const f32 *b) {
    u32 result = 0;
    switch (cmp) {
        TEST(CMP_EQ, a[l] == b[l])
        TEST(CMP_NE, (a[l] < b[l]) | (a[l] > b[l]))
        TEST(CMP_LT, a[l] < b[l])
        TEST(CMP_LE, a[l] <= b[l])
        TEST(CMP_GT, a[l] > b[l])
        TEST(CMP_GE, a[l] >= b[l])
        TEST(CMP_EQU, !((a[l] < b[l]) | (a[l] > b[l])))
        TEST(CMP_NEU, a[l] != b[l])
        TEST(CMP_LTU, !(a[l] >= b[l]))
        TEST(CMP_LEU, !(a[l] > b[l]))
        TEST(CMP_GTU, !(a[l] <= b[l]))
        TEST(CMP_GEU, !(a[l] < b[l]))
        TEST(CMP_NUM, (a[l] == a[l]) & (b[l] == b[l]))
        TEST(CMP_NAN, (a[l] != a[l]) | (b[l] != b[l]))
    default: break;
    }
    return result;
}

// in->mods
enum { MODS_CMP = 31, MODS_BOOL_SHIFT = 5, MODS_FTZ = 1 << 7, MODS_BF16 = 1 << 8, MODS_TYPE_SHIFT = 9 };

static void widen(const SimInsn *in, const Cell32 *source, u32 shift, f32 *out) {
    if (in->mods & MODS_BF16)
        for (u32 l = 0; l < LANES; l++) out[l] = bf16_to_f32(source[l] >> shift & 0xffff);
    else if (in->mods & MODS_FTZ)
        for (u32 l = 0; l < LANES; l++) out[l] = f16_to_f32(flush_f16(source[l] >> shift));
    else
        for (u32 l = 0; l < LANES; l++) out[l] = f16_to_f32(source[l] >> shift);
}
static u32 test_half(const Exec *x, const SimInsn *in, u32 shift) {
    f32 a[LANES], b[LANES];
    widen(in, exec_operand(x, in->src[0]), shift, a);
    widen(in, exec_operand(x, in->src[1]), shift, b);
    return test_f32((u16)((in->mods & MODS_CMP) + CMP_EQ), a, b);
}
static u32 combine(const Exec *x, const SimInsn *in, u32 result) {
    switch (in->mods >> MODS_BOOL_SHIFT & 3) {
    case 1: return result & exec_get_pred(x, in);
    case 2: return result | exec_get_pred(x, in);
    case 3: return result ^ exec_get_pred(x, in);
    default: return result;
    }
}
static u16 pack_mods(const ExecShape *shape, u8 source) {
    u16 bool_op = shape_mod(shape, MOD_BOOL), cmp = shape_mod(shape, MOD_CMP);
    u32 op = bool_op == MOD_TOKEN_NONE ? 0 : bool_op - BOOL_AND + 1u;
    return (u16)((cmp - CMP_EQ) | op << MODS_BOOL_SHIFT | (shape_has(shape, MOD_FTZ) ? MODS_FTZ : 0) |
                 (source == TYPE_BF16 || source == TYPE_BF16X2 ? MODS_BF16 : 0));
}

// One half: p and its complement; two: p for the lower, q for the upper half.
static void setp_one(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = test_half(x, in, 0), p = combine(x, in, result), q = combine(x, in, ~result);
    exec_set_pred(x, in->pred_dst, p, mask);
    exec_set_pred(x, in->pred_dst2, q, mask);
}
static void setp_two(Exec *x, const SimInsn *in, u32 mask) {
    u32 p = combine(x, in, test_half(x, in, 0)), q = combine(x, in, test_half(x, in, 16));
    exec_set_pred(x, in->pred_dst, p, mask);
    exec_set_pred(x, in->pred_dst2, q, mask);
}
EXEC_SELECT(setp_half) {
    u8 type = shape_type(shape, 0);
    in->mods = pack_mods(shape, type);
    return ptx_types[type].elements == 2 ? setp_two : setp_one;
}

// set: what true looks like in the destination, for one half and for a half of a pair.
static const u32 true_of[] = {UINT32_MAX, 0xffff, 0x3c00, 0x3f80};
enum { TRUE_INT, TRUE_SHORT, TRUE_F16, TRUE_BF16 };

static void set_one(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = combine(x, in, test_half(x, in, 0)), yes = true_of[in->mods >> MODS_TYPE_SHIFT];
    Cell32 *d = exec_operand(x, in->dst);
    LANES_SET(mask, Cell32, d, lane_bit[l] & result ? yes : 0);
}
static void set_two(Exec *x, const SimInsn *in, u32 mask) {
    u32 low = combine(x, in, test_half(x, in, 0)), high = combine(x, in, test_half(x, in, 16));
    u32 yes = true_of[in->mods >> MODS_TYPE_SHIFT];
    Cell32 *d = exec_operand(x, in->dst);
    LANES_SET(mask, Cell32, d, (lane_bit[l] & low ? yes : 0) | (lane_bit[l] & high ? yes << 16 : 0));
}
EXEC_SELECT(set_half) {
    u8 type = shape_type(shape, 0), source = shape_type(shape, 1);
    bool pair = ptx_types[source].elements == 2;
    u32 yes;
    switch (type) {
    case TYPE_F16:
    case TYPE_F16X2: yes = TRUE_F16; break;
    case TYPE_BF16:
    case TYPE_BF16X2: yes = TRUE_BF16; break;
    case TYPE_U16:
    case TYPE_S16: yes = TRUE_SHORT; break;
    default: yes = pair ? TRUE_SHORT : TRUE_INT; break;
    }
    in->mods = (u16)(pack_mods(shape, source) | yes << MODS_TYPE_SHIFT);
    return pair ? set_two : set_one;
}
