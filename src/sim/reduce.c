// SPDX-License-Identifier: Apache-2.0
// Reductions, one function per operation and type. What the ISA leaves open about floating-point ones - NaNs, zeros,
// subnormals - is as on an H200 (tensor_gpu_test.c).
#include "sim/reduce.h"

#include <string.h>

#include "sim/exec/half.h"

#define REDUCE(name, T, expression)                       \
    static void name(u8 *to, const u8 *from, u32 count) { \
        for (u32 i = 0; i < count; i++) {                 \
            T a, b, c;                                    \
            memcpy(&a, to + i * sizeof a, sizeof a);      \
            memcpy(&b, from + i * sizeof b, sizeof b);    \
            c = (T)(expression);                          \
            memcpy(to + i * sizeof c, &c, sizeof c);      \
        }                                                 \
    }

static u32 add_f32_bits(u32 a, u32 b) { return bits_of_f32(canonical_f32(f32_of_bits(a) + f32_of_bits(b))); }
static u16 add_f16_bits(u32 a, u32 b) { return (u16)f16_of_f64((f64)f16_to_f32(a) + (f64)f16_to_f32(b)); }
static u16 add_bf16_bits(u32 a, u32 b) { return (u16)bf16_of_f64((f64)bf16_to_f32(a) + (f64)bf16_to_f32(b)); }

static u32 add_ftz_bits(u32 a, u32 b) {
    return bits_of_f32(flush_f32(canonical_f32(flush_f32(f32_of_bits(a)) + flush_f32(f32_of_bits(b)))));
}
// A NaN comes through as it is, the source's first.
static u64 add_f64_bits(u64 a, u64 b) {
    f64 x = f64_of_bits(a), y = f64_of_bits(b);
    return y != y ? b : x != x ? a : bits_of_f64(x + y);
}

// Numbers win over NaN; -0 is below +0. As integers of sign and magnitude.
static i32 half_order(u32 bits) { return bits & 0x8000 ? -(i32)(bits & 0x7fff) - 1 : (i32)bits; }
static u16 pick_half(u32 a, u32 b, u32 infinity, bool least) {
    bool a_is_nan = (a & 0x7fff) > infinity, b_is_nan = (b & 0x7fff) > infinity;
    if (a_is_nan || b_is_nan) return (u16)(a_is_nan && b_is_nan ? NAN_BITS_HALF : a_is_nan ? b : a);
    return (u16)((half_order(a) < half_order(b)) == least ? a : b);
}

REDUCE(and_32, u32, a &b)
REDUCE(or_32, u32, a | b)
REDUCE(xor_32, u32, a ^ b)
REDUCE(and_64, u64, a &b)
REDUCE(or_64, u64, a | b)
REDUCE(xor_64, u64, a ^ b)
REDUCE(add_32, u32, a + b)
REDUCE(add_64, u64, a + b)
REDUCE(inc_u32, u32, a >= b ? 0 : a + 1)
REDUCE(dec_u32, u32, a == 0 || a > b ? b : a - 1)
REDUCE(min_u32, u32, a < b ? a : b)
REDUCE(max_u32, u32, a > b ? a : b)
REDUCE(min_s32, i32, a < b ? a : b)
REDUCE(max_s32, i32, a > b ? a : b)
REDUCE(min_u64, u64, a < b ? a : b)
REDUCE(max_u64, u64, a > b ? a : b)
REDUCE(min_s64, i64, a < b ? a : b)
REDUCE(max_s64, i64, a > b ? a : b)
REDUCE(add_f16, u16, add_f16_bits(a, b))
REDUCE(add_bf16, u16, add_bf16_bits(a, b))
REDUCE(min_f16, u16, pick_half(a, b, 0x7c00, true))
REDUCE(max_f16, u16, pick_half(a, b, 0x7c00, false))
REDUCE(min_bf16, u16, pick_half(a, b, 0x7f80, true))
REDUCE(max_bf16, u16, pick_half(a, b, 0x7f80, false))
REDUCE(add_f32, u32, add_f32_bits(a, b))
REDUCE(add_f32_ftz, u32, add_ftz_bits(a, b))
REDUCE(add_f64, u64, add_f64_bits(a, b))

static const struct {
    u16 op;
    u8 type;
    ReduceFn function;
} rows[] = {
    {ATOM_OP_AND, TYPE_B32, and_32},    {ATOM_OP_OR, TYPE_B32, or_32},      {ATOM_OP_XOR, TYPE_B32, xor_32},
    {ATOM_OP_AND, TYPE_B64, and_64},    {ATOM_OP_OR, TYPE_B64, or_64},      {ATOM_OP_XOR, TYPE_B64, xor_64},
    {ATOM_OP_ADD, TYPE_U32, add_32},    {ATOM_OP_ADD, TYPE_S32, add_32},    {ATOM_OP_ADD, TYPE_U64, add_64},
    {ATOM_OP_ADD, TYPE_S64, add_64},    {ATOM_OP_INC, TYPE_U32, inc_u32},   {ATOM_OP_DEC, TYPE_U32, dec_u32},
    {ATOM_OP_MIN, TYPE_U32, min_u32},   {ATOM_OP_MAX, TYPE_U32, max_u32},   {ATOM_OP_MIN, TYPE_S32, min_s32},
    {ATOM_OP_MAX, TYPE_S32, max_s32},   {ATOM_OP_MIN, TYPE_U64, min_u64},   {ATOM_OP_MAX, TYPE_U64, max_u64},
    {ATOM_OP_MIN, TYPE_S64, min_s64},   {ATOM_OP_MAX, TYPE_S64, max_s64},   {ATOM_OP_ADD, TYPE_F16, add_f16},
    {ATOM_OP_ADD, TYPE_BF16, add_bf16}, {ATOM_OP_MIN, TYPE_F16, min_f16},   {ATOM_OP_MAX, TYPE_F16, max_f16},
    {ATOM_OP_MIN, TYPE_BF16, min_bf16}, {ATOM_OP_MAX, TYPE_BF16, max_bf16}, {ATOM_OP_ADD, TYPE_F32, add_f32},
    {ATOM_OP_ADD, TYPE_F64, add_f64},
};

ReduceFn reduce_add_f32_ftz(void) { return add_f32_ftz; }

ReduceFn reduce_function(u16 op, u8 type) {
    for (u32 i = 0; i < WL_COUNT(rows); i++)
        if (rows[i].op == op && rows[i].type == type) return rows[i].function;
    return NULL;
}
