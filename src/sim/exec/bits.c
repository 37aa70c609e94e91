// SPDX-License-Identifier: Apache-2.0
// Bit counting, fields, reversal and byte permutation (PTX ISA 9.7.1 and 9.7.9).
#include "sim/exec/lanes.h"

static inline u32 popc_of_u32(u32 v) {  // in vectors; SSE2 and AVX2 have no population count
    v = v - (v >> 1 & 0x55555555);
    v = (v & 0x33333333) + (v >> 2 & 0x33333333);
    v = (v + (v >> 4)) & 0x0f0f0f0f;
    v = v + (v >> 8);
    return (v + (v >> 16)) & 0x3f;
}
static inline u32 brev_of_u32(u32 v) {
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    v = (v >> 8 & 0x00ff00ff) | (v & 0x00ff00ff) << 8;
    return v >> 16 | v << 16;
}
static inline u64 brev_of_u64(u64 v) { return (u64)brev_of_u32((u32)v) << 32 | brev_of_u32((u32)(v >> 32)); }
static inline u32 clz_of_u32(u32 v) { return v ? (u32)__builtin_clz(v) : 32; }
static inline u32 clz_of_u64(u64 v) { return v ? (u32)__builtin_clzll(v) : 64; }
static inline u32 bfind_of_u64(u64 v) { return v ? 63 - (u32)__builtin_clzll(v) : UINT32_MAX; }
static inline u32 bfind_shift_of(u64 v, u32 msb) { return v ? msb - bfind_of_u64(v) : UINT32_MAX; }

MAP1(popc_u32, u32, u32, popc_of_u32(a))
MAP1(popc_u64, u32, u64, popc_of_u32((u32)a) + popc_of_u32((u32)(a >> 32)))
MAP1(brev_u32, u32, u32, brev_of_u32(a))
MAP1(brev_u64, u64, u64, brev_of_u64(a))
EACH1(clz_u32, u32, u32, clz_of_u32(a))
EACH1(clz_u64, u32, u64, clz_of_u64(a))
EACH1(bfind_u32, u32, u32, bfind_of_u64(a))
EACH1(bfind_u64, u32, u64, bfind_of_u64(a))
EACH1(bfind_i32, u32, i32, bfind_of_u64((u32)(a ^ a >> 31)))
EACH1(bfind_i64, u32, i64, bfind_of_u64((u64)(a ^ a >> 63)))
EACH1(bfind_shift_u32, u32, u32, bfind_shift_of(a, 31))
EACH1(bfind_shift_u64, u32, u64, bfind_shift_of(a, 63))
EACH1(bfind_shift_i32, u32, i32, bfind_shift_of((u32)(a ^ a >> 31), 31))
EACH1(bfind_shift_i64, u32, i64, bfind_shift_of((u64)(a ^ a >> 63), 63))

EXEC_SELECT(popc) {
    (void)in;
    return shape_type(shape, 0) == TYPE_B64 ? popc_u64 : popc_u32;
}
EXEC_SELECT(brev) {
    (void)in;
    return shape_type(shape, 0) == TYPE_B64 ? brev_u64 : brev_u32;
}
EXEC_SELECT(clz) {
    (void)in;
    return shape_type(shape, 0) == TYPE_B64 ? clz_u64 : clz_u32;
}
EXEC_SELECT(bfind) {
    static const ExecFn table[2][TYPE_COUNT] = {
        {[TYPE_U32] = bfind_u32, [TYPE_U64] = bfind_u64, [TYPE_S32] = bfind_i32, [TYPE_S64] = bfind_i64},
        {[TYPE_U32] = bfind_shift_u32,
         [TYPE_U64] = bfind_shift_u64,
         [TYPE_S32] = bfind_shift_i32,
         [TYPE_S64] = bfind_shift_i64}};
    (void)in;
    return table[shape_has(shape, MOD_SHIFTAMT)][shape_type(shape, 0)];
}

// fns: the n-th set bit of a counted from bit b, upwards for c > 0 and downwards for c < 0; c = 0 tests bit b itself.
static u32 nth_set(u32 a, u32 b, i32 c) {
    if (c == 0) return b < 32 && a >> b & 1 ? b : UINT32_MAX;
    if (c == INT32_MIN) return 0;  // measured on an H200
    u32 left = c > 0 ? (u32)c : 0 - (u32)c;
    for (i64 pos = b; pos >= 0 && pos<32; pos += c> 0 ? 1 : -1)
        if (a >> pos & 1 && --left == 0) return (u32)pos;
    return UINT32_MAX;
}
EACH3(fns_b32, u32, u32, u32, i32, nth_set(a, b, c))

EXEC_SELECT(fns) {
    (void)shape, (void)in;
    return fns_b32;
}

// Bit fields. Position and length are 0..255: of larger values sm_90 looks at the low 8 bits for 32-bit fields, at all
// for 64-bit ones. What lies beyond the top bit reads as the sign (bfe) or is dropped (bfi).
static inline u64 low_bits(u32 n) { return n > 63 ? UINT64_MAX : (1ull << n) - 1; }
static inline u64 field_unsigned(u64 a, u32 pos, u32 len) { return pos > 63 ? 0 : a >> pos & low_bits(len); }
static inline u64 field_signed(u64 a, u32 pos, u32 len, u32 msb) {
    u64 top = (u64)pos + len - 1;
    if (len == 0) return 0;
    u64 sign = 0 - (a >> (top > msb ? msb : top) & 1);
    u32 valid = pos > msb ? 0 : top > msb ? msb + 1 - pos : len;  // bits that come from a
    return (valid ? a >> pos & low_bits(valid) : 0) | (sign & ~low_bits(valid));
}
static inline u64 insert_field(u64 a, u64 b, u32 pos, u32 len) {
    if (pos > 63) return b;
    u64 mask = low_bits(len) << pos;
    return (b & ~mask) | (a << pos & mask);
}
// The common width, in vectors.
static inline u32 low_bits32(u32 n) { return n > 31 ? UINT32_MAX : (1u << (n & 31)) - 1; }
static inline u32 insert_field32(u32 a, u32 b, u32 c, u32 e) {
    u32 pos = c & 0xff, mask = pos > 31 ? 0 : low_bits32(e & 0xff) << (pos & 31);
    return (b & ~mask) | (a << (pos & 31) & mask);
}
static inline u32 field_unsigned32(u32 a, u32 b, u32 c) {
    u32 pos = b & 0xff;
    return pos > 31 ? 0 : a >> (pos & 31) & low_bits32(c & 0xff);
}
MAP3(bfe_u32, u32, u32, u32, u32, field_unsigned32(a, b, c))
EACH3(bfe_u64, u64, u64, u32, u32, field_unsigned(a, b, c))
EACH3(bfe_i32, u32, u32, u32, u32, field_signed(a, b & 0xff, c & 0xff, 31))
EACH3(bfe_i64, u64, u64, u32, u32, field_signed(a, b, c, 63))
MAP4(bfi_u32, u32, u32, u32, u32, u32, insert_field32(a, b, c, e))
MAP4_(LANES_EACH, bfi_u64, u64, u64, u64, u32, u32, insert_field(a, b, c, e))

EXEC_SELECT(bfe) {
    static const ExecFn table[TYPE_COUNT] = {
        [TYPE_U32] = bfe_u32, [TYPE_U64] = bfe_u64, [TYPE_S32] = bfe_i32, [TYPE_S64] = bfe_i64};
    (void)in;
    return table[shape_type(shape, 0)];
}
EXEC_SELECT(bfi) {
    (void)in;
    return shape_type(shape, 0) == TYPE_B64 ? bfi_u64 : bfi_u32;
}

// szext: the low b bits of a, sign- or zero-extended. bmsk: b ones from bit a up.
static inline u32 extend_bits(u32 a, u32 b, bool clamp, bool is_signed) {
    u32 n = b & 31, mask = clamp && b >= 32 ? 0 : ~0u << n;
    u32 sign = is_signed && n && a >> ((n - 1) & 31) & 1 ? mask : 0;
    return (a & ~mask) | sign;
}
static inline u32 mask_bits(u32 a, u32 b, bool clamp) {
    u32 first = a & 31, count = b & 31, end = first + count;
    u32 from = clamp && a >= 32 ? 0 : ~0u << first;
    bool overflow = end >= 32 || (clamp && (a >= 32 || b >= 32));
    u32 beyond = overflow ? 0 : count == 0 ? ~0u : ~0u << (end & 31);
    return from & ~beyond;
}
EACH2(szext_clamp_u32, u32, u32, u32, extend_bits(a, b, true, false))
EACH2(szext_clamp_i32, u32, u32, u32, extend_bits(a, b, true, true))
EACH2(szext_wrap_u32, u32, u32, u32, extend_bits(a, b, false, false))
EACH2(szext_wrap_i32, u32, u32, u32, extend_bits(a, b, false, true))
EACH2(bmsk_clamp, u32, u32, u32, mask_bits(a, b, true))
EACH2(bmsk_wrap, u32, u32, u32, mask_bits(a, b, false))

EXEC_SELECT(szext) {
    static const ExecFn table[2][2] = {{szext_clamp_u32, szext_clamp_i32}, {szext_wrap_u32, szext_wrap_i32}};
    (void)in;
    return table[shape_mod(shape, MOD_SHIFT) == SHIFT_WRAP][shape_type(shape, 0) == TYPE_S32];
}
EXEC_SELECT(bmsk) {
    (void)in;
    return shape_mod(shape, MOD_SHIFT) == SHIFT_WRAP ? bmsk_wrap : bmsk_clamp;
}

// prmt: each byte of the result is one of the eight bytes of [b:a]. In the default mode a nibble of c chooses it, and
// its top bit asks for copies of the byte's sign; the other modes choose by c & 3 from a table of selectors.
static inline u32 permuted_byte(u64 bytes, u32 selector) {
    u32 byte = (u32)(bytes >> (selector & 7) * 8) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
static inline u32 permute(u32 a, u32 b, u32 selectors) {
    u64 bytes = (u64)b << 32 | a;
    return permuted_byte(bytes, selectors) | permuted_byte(bytes, selectors >> 4) << 8 |
           permuted_byte(bytes, selectors >> 8) << 16 | permuted_byte(bytes, selectors >> 12) << 24;
}
static const u16 prmt_selectors[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
};
MAP3(prmt_b32, u32, u32, u32, u32, permute(a, b, c))

static void prmt_mode(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]), *c = exec_operand(x, in->src[2]);
    const u16 *selectors = prmt_selectors[in->mods - PRMT_MODE_F4E];
    LANES_EACH(mask, Cell32, d, permute(a[l], b[l], selectors[c[l] & 3]));
}
EXEC_SELECT(prmt) {
    in->mods = shape_mod(shape, MOD_PRMT_MODE);
    return in->mods == MOD_TOKEN_NONE ? prmt_b32 : prmt_mode;
}
