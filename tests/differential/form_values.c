// SPDX-License-Identifier: Apache-2.0
// Operand values: special ones, and random ones of every size.
// f f32, d f64, i 32-bit, l 64-bit, s 16-bit integer, h f16, b bf16, H and B pairs of them, a amount 0..255 mostly
// below 72, u 0..31, A -10..9, k shfl's clamp and mask, q predicate.
#include "form.h"

#include <string.h>

typedef struct Random {
    u64 state;
} Random;
static u64 next(Random *r) {
    u64 z = r->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
static u32 bits32(f32 v) {
    u32 b;
    return memcpy(&b, &v, 4), b;
}
static u64 bits64(f64 v) {
    u64 b;
    return memcpy(&b, &v, 8), b;
}

static u64 value_f32(Random *g) {
    static const u32 special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc12345, 0x7f812345, 0x7fffffff, 1,          0x80000001, 0x007fffff, 0x807fffff,
                                  0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x3fc00000, 0xc0200000,
                                  0x4b000000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x5f000000, 0xdf000000,
                                  0x5f800000, 0x33800000, 0x3effffff, 0x42fe0000, 0xc2fe0000, 0x7e800000, 0x7f000000};
    u64 r = next(g);
    switch (r >> 60) {
    case 0:
    case 1:
    case 2: return special[r % WL_COUNT(special)];
    case 3:
    case 4:
    case 5:
    case 6: return (u32)r;
    case 7: return (u32)r & 0x80ffffff;
    case 8: return bits32((f32)((i64)(r & 0xffff) - 32768) * 0.5f);
    case 9: return bits32((f32)(i32)r);
    default: return bits32((f32)((f64)(i64)(r << 4) * 0x1p-61));
    }
}
static u64 value_f64(Random *g) {
    static const u64 special[] = {0,
                                  0x8000000000000000,
                                  0x3ff0000000000000,
                                  0xbff0000000000000,
                                  0x7ff0000000000000,
                                  0xfff0000000000000,
                                  0x7ff8000000000000,
                                  0xfff8000012345678,
                                  0x7ff0123456789abc,
                                  0x7fffffffffffffff,
                                  1,
                                  0x8000000000000001,
                                  0x000fffffffffffff,
                                  0x0010000000000000,
                                  0x8010000000000000,
                                  0x7fefffffffffffff,
                                  0x3fe0000000000000,
                                  0x3ff8000000000000,
                                  0x4330000000000000,
                                  0x41e0000000000000,
                                  0xc1e0000000000000,
                                  0x41efffffffe00000,
                                  0x43e0000000000000,
                                  0xc3e0000000000000,
                                  0x43f0000000000000,
                                  0x380fffffffffffff,
                                  0x47efffffefffffff};
    u64 r = next(g);
    switch (r >> 60) {
    case 0:
    case 1:
    case 2: return special[r % WL_COUNT(special)];
    case 3:
    case 4:
    case 5:
    case 6: return r << 4 ^ r >> 40;
    case 7: return bits64((f64)((i64)(r & 0xffff) - 32768) * 0.5);
    case 8: return bits64((f64)(i32)r + 0.5);
    case 9: return (r & 0x800fffffffffffff) | (0x369 + (r >> 52 & 0xff)) << 52;  // around f32's subnormals
    default: return bits64((f64)(i64)(r << 4) * 0x1p-61);
    }
}
static u64 value_int(Random *g, u32 bits) {
    u64 r = next(g), mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    switch (r >> 60) {
    case 0: return r & 3;
    case 1: return (0 - (r & 3)) & mask;
    case 2: return 1ull << (bits - 1) & mask;
    case 3: return mask >> 1;
    default: return next(g) >> (r & 63) & mask;
    }
}
static u64 value_half(Random *g) {
    static const u16 special[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7d01,
                                  0xfe00, 0x7bff, 0x7fff, 0x3f80, 0x7f80, 0xff80, 0x7fc0, 0x0001,
                                  0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x7f7f};
    u64 r = next(g);
    return r >> 61 ? r & 0xffff : special[(r >> 8) % WL_COUNT(special)];
}
static u64 value(Random *g, char kind) {
    u64 r = next(g);
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
    case 'a': return r >> 60 ? r % 72 : r & 0xff;
    case 'A': return (u32)((i32)(r % 20) - 10);
    case 'u': return r & 31;
    case 'k': return (r & 31) | (r >> 8 & 1 ? 0x1f : 0) | (r >> 16 & 31) << 8;
    case 'q': return r >> 63;
    default: return 0;
    }
}
// A word of memory full of such values.
static u64 word_of(Random *g, char kind) {
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
    i32 e = (i32)(bits64(v) >> 52 & 0x7ff) - 1023;
    u64 m = (bits64(v) & 0xfffffffffffff) >> (52 - mantissa);
    return (u64)(e + bias) << mantissa | m;
}
// Two factors, or dividend and divisor, whose result is just below or above it: whether .ftz looks before or after
// rounding shows there.
static void boundary(Random *g, const FormCase *f, char kind, u64 *row) {
    static const struct {
        char kind;
        u8 mantissa;
        i16 bias, emin;
    } formats[] = {
        {'f', 23, 127, -126}, {'h', 10, 15, -14}, {'H', 10, 15, -14}, {'b', 7, 127, -126}, {'B', 7, 127, -126}};
    bool divides = f->op == OP_DIV_F || f->op == OP_DIV_F_RND;
    for (u32 i = 0; i < WL_COUNT(formats); i++) {
        if (formats[i].kind != kind) continue;
        u64 r = next(g);
        f64 min = 1, a = 1 + (f64)(r >> 40) * 0x1p-24;
        for (i32 e = 0; e > formats[i].emin; e--) min *= 0.5;
        if (kind != 'h' && kind != 'H')
            a *= 0x1p-40;
        else
            a *= 0x1p-6;
        u64 x = encode(a, formats[i].mantissa, formats[i].bias);
        u64 kept = bits64(a) >> (52 - formats[i].mantissa) << (52 - formats[i].mantissa);
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
    if (f->op == OP_RCP) row[0] = 0x7e7ffffc + (next(g) & 7) + (next(g) & 0x80000000);  // of about 2^126
    if (kind == 'd')
        row[0] = (next(g) & 1ull << 63) | (0x3810000000000000ull - (next(g) >> 62 << 27) - (next(g) >> 60 << 24));
}

void form_inputs(const FormCase *f, u64 *in) {
    char kinds[8], memory;
    u32 n = form_kinds(f, kinds, &memory);
    Random g = {f->variant};
    for (const char *p = f->mnemonic; *p; p++) g.state = g.state * 31 + (u8)*p;
    memset(in, 0, FORM_THREADS * FORM_INPUTS * 8);
    for (u32 t = 0; t < FORM_THREADS; t++) {
        u64 *row = in + t * FORM_INPUTS;
        for (u32 k = 0; k < n; k++) {
            row[k] = value(&g, kinds[k]);
            if (k && kinds[k] == kinds[k - 1] && kinds[k] != 'k' && kinds[k] != 'q' && next(&g) % 16 == 0)
                row[k] = row[k - 1];
        }
        row[7] = next(&g);
        if (n && next(&g) % 8 == 0 && ptx_types[f->types[0]].class == TYPE_CLASS_FLOAT && !memory)
            boundary(&g, f, kinds[0], row);
        for (u32 k = 8; memory && k < FORM_INPUTS; k++) row[k] = word_of(&g, memory);
        // Half of the comparisons of cas succeed.
        if (f->op == OP_ATOM_CAS && next(&g) & 1)
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
    u64 h = 0xcbf29ce484222325ull;
    for (u32 i = 0; i < FORM_THREADS * FORM_OUTPUTS; i++) h = (h ^ out[i]) * 0x100000001b3ull, h ^= h >> 29;
    return h ? h : 1;
}
