// SPDX-License-Identifier: Apache-2.0
// Integer add, sub, neg, abs, min, max, sad and the carry chains (PTX ISA 9.7.1, 9.7.2).
#include "sim/exec/lanes.h"

#define ALL_TYPES(X) X(u16) X(u32) X(u64) X(i16) X(i32) X(i64)
#define SIGNED_TYPES(X) X(i16) X(i32) X(i64)
#define TABLE6(op)                                                                                  \
    {                                                                                               \
        [TYPE_U16] = op##_u16, [TYPE_U32] = op##_u32, [TYPE_U64] = op##_u64, [TYPE_S16] = op##_i16, \
        [TYPE_S32] = op##_i32, [TYPE_S64] = op##_i64                                                \
    }

// Signed saturation without a wider type, so that the loop stays in 32-bit vectors.
static inline i32 add_sat_s32(i32 a, i32 b) {
    i32 sum = (i32)((u32)a + (u32)b), limit = (i32)(((u32)a >> 31) + 0x7fffffffu);
    return ((a ^ sum) & (b ^ sum)) < 0 ? limit : sum;
}
static inline i32 sub_sat_s32(i32 a, i32 b) {
    i32 difference = (i32)((u32)a - (u32)b), limit = (i32)(((u32)a >> 31) + 0x7fffffffu);
    return ((a ^ b) & (a ^ difference)) < 0 ? limit : difference;
}

#define ADD_SUB(T) MAP2(add_##T, T, T, T, (u64)a + (u64)b) MAP2(sub_##T, T, T, T, (u64)a - (u64)b)
#define ADD_SUB32(T) MAP2(add_##T, T, T, T, (u32)a + (u32)b) MAP2(sub_##T, T, T, T, (u32)a - (u32)b)
ADD_SUB32(u16)
ADD_SUB32(i16)
ADD_SUB32(u32)
ADD_SUB32(i32)
ADD_SUB(u64)
ADD_SUB(i64)
MAP2(add_sat, i32, i32, i32, add_sat_s32(a, b))
MAP2(sub_sat, i32, i32, i32, sub_sat_s32(a, b))

#define MIN_MAX(T) MAP2(min_##T, T, T, T, a < b ? a : b) MAP2(max_##T, T, T, T, a > b ? a : b)
ALL_TYPES(MIN_MAX)

#define MIN_MAX_RELU(T)                                                    \
    MAP2(min_relu_##T, T, T, T, (a < b ? a : b) > 0 ? (a < b ? a : b) : 0) \
    MAP2(max_relu_##T, T, T, T, (a > b ? a : b) > 0 ? (a > b ? a : b) : 0)
SIGNED_TYPES(MIN_MAX_RELU)

#define NEG_ABS(T) MAP1(neg_##T, T, T, 0 - (u64)a) MAP1(abs_##T, T, T, a < 0 ? 0 - (u64)a : (u64)a)
#define NEG_ABS32(T) MAP1(neg_##T, T, T, 0 - (u32)a) MAP1(abs_##T, T, T, a < 0 ? 0 - (u32)a : (u32)a)
NEG_ABS32(i16)
NEG_ABS32(i32)
NEG_ABS(i64)

#define SAD(T) MAP3(sad_##T, T, T, T, T, (u64)c + (a < b ? (u64)b - (u64)a : (u64)a - (u64)b))
#define SAD32(T) MAP3(sad_##T, T, T, T, T, (u32)c + (a < b ? (u32)b - (u32)a : (u32)a - (u32)b))
SAD32(u16)
SAD32(i16)
SAD32(u32)
SAD32(i32)
SAD(u64)
SAD(i64)

EXEC_SELECT(add_int) {
    static const ExecFn table[TYPE_COUNT] = TABLE6(add);
    (void)in;
    u8 type = shape_type(shape, 0);
    if (shape_has(shape, MOD_SAT)) return type == TYPE_S32 ? add_sat : NULL;
    return table[type];
}

EXEC_SELECT(sub_int) {
    static const ExecFn table[TYPE_COUNT] = TABLE6(sub);
    (void)in;
    u8 type = shape_type(shape, 0);
    if (shape_has(shape, MOD_SAT)) return type == TYPE_S32 ? sub_sat : NULL;
    return table[type];
}

EXEC_SELECT(min_int) {
    static const ExecFn table[2][TYPE_COUNT] = {
        TABLE6(min), {[TYPE_S16] = min_relu_i16, [TYPE_S32] = min_relu_i32, [TYPE_S64] = min_relu_i64}};
    (void)in;
    return table[shape_has(shape, MOD_RELU)][shape_type(shape, 0)];
}

EXEC_SELECT(max_int) {
    static const ExecFn table[2][TYPE_COUNT] = {
        TABLE6(max), {[TYPE_S16] = max_relu_i16, [TYPE_S32] = max_relu_i32, [TYPE_S64] = max_relu_i64}};
    (void)in;
    return table[shape_has(shape, MOD_RELU)][shape_type(shape, 0)];
}

EXEC_SELECT(neg_int) {
    static const ExecFn table[TYPE_COUNT] = {[TYPE_S16] = neg_i16, [TYPE_S32] = neg_i32, [TYPE_S64] = neg_i64};
    (void)in;
    return table[shape_type(shape, 0)];
}

EXEC_SELECT(abs_int) {
    static const ExecFn table[TYPE_COUNT] = {[TYPE_S16] = abs_i16, [TYPE_S32] = abs_i32, [TYPE_S64] = abs_i64};
    (void)in;
    return table[shape_type(shape, 0)];
}

EXEC_SELECT(sad) {
    static const ExecFn table[TYPE_COUNT] = TABLE6(sad);
    (void)in;
    return table[shape_type(shape, 0)];
}

// Two 16-bit numbers in a register.
#define HALVES(lo, hi) ((u32)(u16)(lo) | (u32)(u16)(hi) << 16)
#define LO(T, v) ((T)(v))
#define HI(T, v) ((T)((v) >> 16))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
MAP2(add_x2, u32, u32, u32, HALVES(a + b, (a >> 16) + (b >> 16)))

#define MIN_MAX_X2(T)                                                                         \
    MAP2(min_x2_##T, u32, u32, u32, HALVES(MIN(LO(T, a), LO(T, b)), MIN(HI(T, a), HI(T, b)))) \
    MAP2(max_x2_##T, u32, u32, u32, HALVES(MAX(LO(T, a), LO(T, b)), MAX(HI(T, a), HI(T, b))))
MIN_MAX_X2(u16)
MIN_MAX_X2(i16)
MAP2(min_x2_relu, u32, u32, u32, HALVES(MAX(MIN(LO(i16, a), LO(i16, b)), 0), MAX(MIN(HI(i16, a), HI(i16, b)), 0)))
MAP2(max_x2_relu, u32, u32, u32, HALVES(MAX(MAX(LO(i16, a), LO(i16, b)), 0), MAX(MAX(HI(i16, a), HI(i16, b)), 0)))

EXEC_SELECT(add_intx2) {
    (void)shape, (void)in;
    return add_x2;
}
EXEC_SELECT(min_intx2) {
    (void)in;
    if (shape_type(shape, 0) == TYPE_U16X2) return shape_has(shape, MOD_RELU) ? NULL : min_x2_u16;
    return shape_has(shape, MOD_RELU) ? min_x2_relu : min_x2_i16;
}
EXEC_SELECT(max_intx2) {
    (void)in;
    if (shape_type(shape, 0) == TYPE_U16X2) return shape_has(shape, MOD_RELU) ? NULL : max_x2_u16;
    return shape_has(shape, MOD_RELU) ? max_x2_relu : max_x2_i16;
}

// Carry chains. CC.CF is a predicate slot: pred_src when read, pred_dst2 when written. After a subtraction it holds the
// borrow.
static inline u32 carry_in(const Exec *x, const SimInsn *in) {
    return in->pred_src == WL_NONE ? 0 : x->pred[in->pred_src];
}

#define CARRY_HANDLER(name, T, LOAD, SUM, CARRY)                     \
    static void name##_##T(Exec *x, const SimInsn *in, u32 mask) {   \
        CELL_##T *pd = exec_operand(x, in->dst);                     \
        LOAD(T)                                                      \
        u32 flags = carry_in(x, in), out = 0;                        \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) {              \
            T a = pa[l], b = pb[l], cf = (lane_bit[l] & flags) != 0; \
            T r = SUM, old = pd[l];                                  \
            out |= (CARRY) ? lane_bit[l] : 0u;                       \
            pd[l] = lane_bit[l] & mask ? r : old;                    \
        }                                                            \
        exec_set_pred(x, in->pred_dst2, out, mask);                  \
    }
#define CARRY_LOAD2(T) const CELL_##T *pa = exec_operand(x, in->src[0]), *pb = exec_operand(x, in->src[1]);
CARRY_HANDLER(add_carry, u32, CARRY_LOAD2, a + b + cf, (r < a) | ((r == a) & (cf != 0)))
CARRY_HANDLER(add_carry, u64, CARRY_LOAD2, a + b + cf, (r < a) | ((r == a) & (cf != 0)))
CARRY_HANDLER(sub_carry, u32, CARRY_LOAD2, a - b - cf, (a < b) | ((a == b) & (cf != 0)))
CARRY_HANDLER(sub_carry, u64, CARRY_LOAD2, a - b - cf, (a < b) | ((a == b) & (cf != 0)))

// The lowering gives the carry slot to both sides; an instruction that does not read or write it lets go of it here.
static void keep_carry(const ExecShape *shape, SimInsn *in, bool reads) {
    if (!reads) in->pred_src = WL_NONE;
    if (!shape_has(shape, MOD_CC)) in->pred_dst2 = WL_NONE;
}
#define CARRY_SELECT(op, fn, reads)                                              \
    EXEC_SELECT(op) {                                                            \
        keep_carry(shape, in, reads);                                            \
        return ptx_types[shape_type(shape, 0)].bits == 64 ? fn##_u64 : fn##_u32; \
    }
CARRY_SELECT(add_cc, add_carry, false)
CARRY_SELECT(addc, add_carry, true)
CARRY_SELECT(sub_cc, sub_carry, false)
CARRY_SELECT(subc, sub_carry, true)

// mad.cc, madc: the product (its low or high half) plus c plus the carry.
static inline u64 mul_hi_u64(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
static inline u64 mul_hi_s64(u64 a, u64 b) { return (u64)((__int128)(i64)a * (i64)b >> 64); }
static inline u32 mul_hi_u32(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
static inline u32 mul_hi_s32(u32 a, u32 b) { return (u32)((i64)(i32)a * (i32)b >> 32); }
static inline u32 mul_lo_u32(u32 a, u32 b) { return a * b; }
static inline u64 mul_lo_u64(u64 a, u64 b) { return a * b; }

#define MAD_CARRY(T, PRODUCT)                                                                  \
    static void mad_carry_##PRODUCT(Exec *x, const SimInsn *in, u32 mask) {                    \
        CELL_##T *pd = exec_operand(x, in->dst);                                               \
        const CELL_##T *pa = exec_operand(x, in->src[0]), *pb = exec_operand(x, in->src[1]);   \
        const CELL_##T *pc = exec_operand(x, in->src[2]);                                      \
        u32 flags = carry_in(x, in), out = 0;                                                  \
        for (u32 l = 0; l < LANES; l++) {                                                      \
            T p = PRODUCT(pa[l], pb[l]), cf = flags >> l & 1, r = p + pc[l] + cf, old = pd[l]; \
            out |= (u32)((r < p) | ((r == p) & (cf != 0))) << l;                               \
            pd[l] = lane_bit[l] & mask ? r : old;                                              \
        }                                                                                      \
        exec_set_pred(x, in->pred_dst2, out, mask);                                            \
    }
MAD_CARRY(u32, mul_lo_u32)
MAD_CARRY(u32, mul_hi_u32)
MAD_CARRY(u32, mul_hi_s32)
MAD_CARRY(u64, mul_lo_u64)
MAD_CARRY(u64, mul_hi_u64)
MAD_CARRY(u64, mul_hi_s64)

static ExecFn select_mad_carry(const ExecShape *shape, SimInsn *in, bool reads) {
    static const ExecFn lo[TYPE_COUNT] = {[TYPE_U32] = mad_carry_mul_lo_u32,
                                          [TYPE_S32] = mad_carry_mul_lo_u32,
                                          [TYPE_U64] = mad_carry_mul_lo_u64,
                                          [TYPE_S64] = mad_carry_mul_lo_u64};
    static const ExecFn hi[TYPE_COUNT] = {[TYPE_U32] = mad_carry_mul_hi_u32,
                                          [TYPE_S32] = mad_carry_mul_hi_s32,
                                          [TYPE_U64] = mad_carry_mul_hi_u64,
                                          [TYPE_S64] = mad_carry_mul_hi_s64};
    keep_carry(shape, in, reads);
    return (shape_mod(shape, MOD_MUL_HALF) == MUL_HALF_HI ? hi : lo)[shape_type(shape, 0)];
}
EXEC_SELECT(mad_cc) { return select_mad_carry(shape, in, false); }
EXEC_SELECT(madc) { return select_mad_carry(shape, in, true); }
