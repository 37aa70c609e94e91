// SPDX-License-Identifier: Apache-2.0
// Operand values: special ones, and random ones of every size.
// f f32, d f64, i 32-bit, l 64-bit, s 16-bit integer, h f16, b bf16, H and B pairs of them, a amount 0..255 mostly
// below 72, u 0..31, A -10..9, k shfl's clamp and mask, q predicate.
#include "form.h"

#include <string.h>

#include "sim/test_values.h"

static u64 value_half(u64 *g) {
    static const u16 special[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7d01,
                                  0xfe00, 0x7bff, 0x7fff, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0001,
                                  0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x7f7f};
    u64 r = value_random(g);
    return r >> 61 ? r & 0xffff : special[(r >> 8) % WL_COUNT(special)];
}
static u64 value(u64 *g, char kind) {
    u64 r = value_random(g);
    switch (kind) {
    case 'f': return value_f32(g);
    case 'd': return value_f64(g);
    case 'i': return value_int(g, 32);
    case 'l': return value_int(g, 64);
    case 's': return value_int(g, 16);
    case 'h':
    case 'b': return value_half(g);
    case 'H':
    case 'B': return value_half(g) | value_half(g) << 16;
    default: return value_small(kind, r);
    }
}
// A word of memory full of such values.
static u64 word_of(u64 *g, char kind) {
    switch (kind) {
    case 'd':
    case 'l': return value(g, kind);
    case 'h':
    case 'b':
    case 's': return value(g, kind) | value(g, kind) << 16 | value(g, kind) << 32 | value(g, kind) << 48;
    default: return value(g, kind) | value(g, kind) << 32;
    }
}

// --- results around the smallest normal number -------------------------------------------------------------------
// Bits of a positive number in a format with so many mantissa bits and this bias.
static u64 encode(f64 v, u32 mantissa, i32 bias) {
    i32 e = (i32)(value_f64_bits(v) >> 52 & 0x7ff) - 1023;
    u64 m = (value_f64_bits(v) & 0xfffffffffffff) >> (52 - mantissa);
    return (u64)(e + bias) << mantissa | m;
}
// Two factors, or dividend and divisor, whose result is just below or above it: whether .ftz looks before or after
// rounding shows there.
static void boundary(u64 *g, const FormCase *f, char kind, u64 *row) {
    static const struct {
        char kind;
        u8 mantissa;
        i16 bias, emin;
    } formats[] = {
        {'f', 23, 127, -126}, {'h', 10, 15, -14}, {'H', 10, 15, -14}, {'b', 7, 127, -126}, {'B', 7, 127, -126}};
    bool divides = f->op == OP_DIV_F || f->op == OP_DIV_F_RND;
    for (u32 i = 0; i < WL_COUNT(formats); i++) {
        if (formats[i].kind != kind) continue;
        u64 r = value_random(g);
        f64 min = 1, a = 1 + (f64)(r >> 40) * 0x1p-24;
        for (i32 e = 0; e > formats[i].emin; e--) min *= 0.5;
        if (kind != 'h' && kind != 'H')
            a *= 0x1p-40;
        else
            a *= 0x1p-6;
        u64 x = encode(a, formats[i].mantissa, formats[i].bias);
        u64 kept = value_f64_bits(a) >> (52 - formats[i].mantissa) << (52 - formats[i].mantissa);
        f64 rounded;
        memcpy(&rounded, &kept, 8);
        u64 y = encode(min / rounded, formats[i].mantissa, formats[i].bias) + (r & 3) - 1;
        if (divides) {  // a * min over a, from a large a
            f64 large = rounded * 0x1p80;
            x = encode(large * min, formats[i].mantissa, formats[i].bias) + (r & 3) - 1;
            y = encode(large, formats[i].mantissa, formats[i].bias);
        }
        u64 sign = (r >> 8 & 1) << (formats[i].mantissa == 23 ? 31 : 15);
        bool pair = kind == 'H' || kind == 'B';
        row[0] = (x ^ sign) | (pair ? x << 16 : 0), row[1] = y | (pair ? (y + 1) << 16 : 0);
    }
    if (f->op == OP_RCP)
        row[0] = 0x7e7ffffc + (value_random(g) & 7) + (value_random(g) & 0x80000000);  // of about 2^126
    if (kind == 'd')
        row[0] = (value_random(g) & 1ull << 63) |
                 (0x3810000000000000ull - (value_random(g) >> 62 << 27) - (value_random(g) >> 60 << 24));
}

void form_inputs(const FormCase *f, u64 *in) {
    char kinds[8], memory;
    u32 n = form_kinds(f, kinds, &memory);
    u64 g = value_seed(f->variant, f->mnemonic);
    memset(in, 0, FORM_THREADS * FORM_INPUTS * 8);
    for (u32 t = 0; t < FORM_THREADS; t++) {
        u64 *row = in + t * FORM_INPUTS;
        for (u32 k = 0; k < n; k++) {
            row[k] = value(&g, kinds[k]);
            if (k && kinds[k] == kinds[k - 1] && kinds[k] != 'k' && kinds[k] != 'q' && value_random(&g) % 16 == 0)
                row[k] = row[k - 1];
        }
        row[7] = value_random(&g);
        if (n && value_random(&g) % 8 == 0 && ptx_types[f->types[0]].class == TYPE_CLASS_FLOAT && !memory)
            boundary(&g, f, kinds[0], row);
        for (u32 k = 8; memory && k < FORM_INPUTS; k++) row[k] = word_of(&g, memory);
        // Half of the comparisons of cas succeed.
        if (f->op == OP_ATOM_CAS && value_random(&g) & 1)
            for (u32 k = 8; k < FORM_INPUTS; k++) {
                u64 v = row[0], bits = ptx_types[f->types[0]].bits;
                row[k] = bits == 16   ? (v & 0xffff) * 0x0001000100010001ull
                         : bits == 32 ? (v & 0xffffffff) * 0x0000000100000001ull
                         : bits == 64 ? v
                         : k & 1      ? ~v
                                      : v;
            }
    }
}
u64 form_hash(const u64 *out) {
    u64 h = VALUE_HASH_START;
    for (u32 i = 0; i < FORM_THREADS * FORM_OUTPUTS; i++) h = value_hash(h, out[i]);
    return h ? h : 1;
}
