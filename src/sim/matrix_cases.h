// SPDX-License-Identifier: Apache-2.0
// Tensor instructions with generated matrices: shared by exec_matrix_test.c, which compares the simulator with hashes
// of what an H200 gave (matrix_cases.inc), and by tests/exec/matrix_compare.c, which records them. Needs nothing but
// the functions under test.
#ifndef WL_SIM_MATRIX_CASES_H
#define WL_SIM_MATRIX_CASES_H

#include "sim/exec/matrix.h"
#include "sim/exec_testing.h"
#include "sim/test_values.h"

typedef enum TensorKind {
    TENSOR_SUMS,     // matrices of many ranges of exponents, zeros, infinities, NaN; wgmma: B without swizzling
    TENSOR_LAYOUTS,  // wgmma: small integers all over shared memory, any descriptors
} TensorKind;
enum { A_IN_MEMORY = 1, NEGATIVE_A = 2, ACROSS_A = 4, ACROSS_B = 8 };  // wgmma: operands and literals

typedef struct TensorCase {
    const char *mnemonic;
    u8 kind, selector, flags;
    u64 hash;  // of the GPU's results
} TensorCase;

static const TensorCase matrix_cases[] = {
#define TENSOR_CASE(mnemonic, kind, selector, flags, hash) {mnemonic, TENSOR_##kind, selector, flags, hash},
#include "sim/matrix_cases.inc"
#undef TENSOR_CASE
};

enum { TENSOR_UNITS = 26, TENSOR_ROWS = 144, TENSOR_THREADS = 128, TENSOR_IMAGE = 40960 };

// What the mnemonic says. A register of f64 takes two rows.
typedef struct TensorForm {
    Form form;
    bool wgmma, sparse;
    u32 threads, n, k;
    u8 type[4];              // D, A, B, C
    u32 count[4], width[4];  // registers; rows of a register
    u32 image;               // bytes of shared memory
} TensorForm;

// One multiplication: a row for each register of A, B, C and the metadata, a column for each thread.
typedef struct TensorUnit {
    u64 descriptor[2];  // of A and B, relative to the image
    u32 adds, unused;   // scale-d
    u32 rows[TENSOR_ROWS][TENSOR_THREADS];
    u32 image[TENSOR_IMAGE / 4];
} TensorUnit;

static inline bool tensor_form(const TensorCase *c, TensorForm *f) {
    memset(f, 0, sizeof *f);
    if (!testing_form(c->mnemonic, &f->form)) return false;
    const u8 *t = f->form.types;
    f->wgmma = f->form.op == OP_WGMMA || f->form.op == OP_WGMMA_SP;
    f->sparse = f->form.op == OP_WGMMA_SP || f->form.op == OP_MMA_SP;
    f->threads = f->wgmma ? 128 : 32;
    bool halves = f->form.op == OP_WMMA_MMA_F16;
    u8 types[4] = {t[0], halves ? TYPE_F16 : t[1], halves ? TYPE_F16 : t[2], halves ? t[1] : f->wgmma ? t[0] : t[3]};
    memcpy(f->type, types, sizeof types);
    MatrixShape s = matrix_shape(f->form.mods[MOD_SHAPE]);
    u32 m = s.m, index = (u32)(f->form.mods[MOD_WGMMA_SHAPE] - WGMMA_SHAPE_M64N8K8);
    f->n = s.n, f->k = matrix_k(s);
    if (f->wgmma) {
        static const u16 k[] = {8, 16, 32, 64, 256};
        m = 64, f->n = (index % 32 + 1) * 8, f->k = k[index / 32];
    }
    u32 elements[4] = {m * f->n, m * f->k / (f->sparse ? 2 : 1), f->k * f->n, m * f->n};
    bool quads = f->form.mods[MOD_SHAPE] == SHAPE_M8N8K4 && f->type[1] == TYPE_F16;
    for (u32 i = 0; i < 4; i++) {
        f->width[i] = f->type[i] == TYPE_F64 ? 2 : 1;
        f->count[i] = elements[i] * (quads ? 4 : 1) / f->threads / matrix_elements(f->type[i]);
        if (quads && (i == 1 || i == 2)) f->count[i] = 2;
        if (halves && (i == 1 || i == 2)) f->count[i] = 8;
    }
    if (f->wgmma) f->count[2] = 0;
    if (c->flags & A_IN_MEMORY) f->count[1] = 0;
    if (f->wgmma) f->image = c->kind == TENSOR_LAYOUTS ? TENSOR_IMAGE : f->n * f->k * ptx_types[f->type[2]].bits / 8;
    return true;
}

// --- numbers --------------------------------------------------------------------------------------------------------
static u64 tensor_state;
static u64 tensor_random(void) { return value_random(&tensor_state); }
static i32 tensor_below(u32 n) { return (i32)((tensor_random() >> 32) % n); }

typedef struct TensorFormat {
    u32 mantissa, exponent, unused;
} TensorFormat;
static TensorFormat tensor_format(u8 type) {
    switch (type) {
    case TYPE_F16: return (TensorFormat){10, 5, 0};
    case TYPE_BF16: return (TensorFormat){7, 8, 0};
    case TYPE_TF32: return (TensorFormat){10, 8, 13};
    case TYPE_E4M3: return (TensorFormat){3, 4, 0};
    case TYPE_E5M2: return (TensorFormat){2, 5, 0};
    case TYPE_F32: return (TensorFormat){23, 8, 0};
    case TYPE_F64: return (TensorFormat){52, 11, 0};
    default: return (TensorFormat){0, 0, 0};  // an integer
    }
}

// A finite number with this exponent, as far as the format has it; the bits that tf32 does not have are random too.
static u64 tensor_number(u8 type, i32 exponent) {
    TensorFormat y = tensor_format(type);
    u64 r = tensor_random(), mantissa = r & ((1ull << y.mantissa) - 1), sign = r >> 63;
    i32 bias = (1 << (y.exponent - 1)) - 1, highest = (1 << y.exponent) - 2 + (type == TYPE_E4M3);
    i32 field = exponent + bias < 0 ? 0 : exponent + bias > highest ? highest : exponent + bias;
    if (type == TYPE_E4M3 && field == 15 && mantissa == 7) mantissa = 6;
    u64 number = sign << (y.mantissa + y.exponent) | (u64)field << y.mantissa | mantissa;
    return number << y.unused | (r >> 53 & ((1u << y.unused) - 1) & (r >> 52 & 1 ? 0xffff : 0));
}
static u64 tensor_special(u8 type) {
    TensorFormat y = tensor_format(type);
    u64 r = tensor_random(), sign = (r >> 63) << (y.mantissa + y.exponent),
        infinity = ((1ull << y.exponent) - 1) << y.mantissa;
    switch (r >> 8 & 15) {
    case 0: return (type == TYPE_E4M3 ? sign | 0x7e : sign | infinity) << y.unused;
    case 1: return r >> 20 & 1 ? sign << y.unused : (type == TYPE_E4M3 ? sign | 0x7f : sign | infinity | 1) << y.unused;
    case 2: return tensor_number(type, 2000);
    case 3: return (sign | 1) << y.unused;
    case 4: return tensor_number(type, -2000);
    case 5:
    case 6:
    case 7:
    case 8: return sign << y.unused;
    default: return tensor_number(type, tensor_below(31) - 15);
    }
}
static u64 tensor_integer(u8 type, i32 n) {
    TensorFormat y = tensor_format(type);
    if (!y.exponent) return (u64)n & ((1ull << ptx_types[type].bits) - 1);
    if (!n) return 0;
    u32 magnitude = (u32)(n < 0 ? -n : n), top = 31 - (u32)__builtin_clz(magnitude);
    u64 fraction = ((u64)magnitude << y.mantissa >> top) & ((1ull << y.mantissa) - 1);
    u64 bits =
        (u64)(n < 0) << (y.mantissa + y.exponent) | (u64)(top + (1u << (y.exponent - 1)) - 1) << y.mantissa | fraction;
    return bits << y.unused;
}

typedef enum TensorRange {
    ZEROS,
    SMALL_INTEGERS,
    NARROW,
    MEDIUM,
    WIDE,
    FEW_MEDIUM,
    FEW_WIDE,
    SPECIALS,
    ANY_BITS,
    TINY,
    LARGE,
    RISING
} TensorRange;
static u64 tensor_value(u8 type, TensorRange range) {
    TensorFormat y = tensor_format(type);
    i32 bias = y.exponent ? (1 << (y.exponent - 1)) - 1 : 0, wide = y.exponent < 8 ? 40 : 30;
    if (!y.exponent) return tensor_random() >> (type == TYPE_S32 && range < MEDIUM ? 52 : 30);
    switch (range) {
    case ZEROS: return 0;
    case SMALL_INTEGERS: return tensor_integer(type, tensor_below(9) - 4);
    case NARROW: return tensor_number(type, tensor_below(3) - 1);
    case MEDIUM: return tensor_number(type, tensor_below(13) - 6);
    case WIDE: return tensor_number(type, tensor_below((u32)(2 * wide + 1)) - wide);
    case FEW_MEDIUM: return tensor_below(6) ? 0 : tensor_number(type, tensor_below(25) - 12);
    case FEW_WIDE: return tensor_below(4) ? 0 : tensor_number(type, tensor_below((u32)(2 * wide + 1)) - wide);
    case SPECIALS: return tensor_special(type);
    case ANY_BITS: return tensor_random() >> 8;
    case TINY: return tensor_number(type, tensor_below(5) - bias - 1);
    case LARGE: return tensor_number(type, bias + 1 - tensor_below(4));
    default: return tensor_number(type, tensor_below(32) - 2);
    }
}
// A register's elements.
static u64 tensor_word(u8 type, TensorRange range) {
    u32 bits = ptx_types[type].bits;
    u64 word = 0, mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    for (u32 i = 0; i < 32; i += bits) word |= (tensor_value(type, range) & mask) << i;
    return word;
}
static u32 tensor_metadata(u8 type) {
    static const u8 pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    u32 word = 0;
    for (u32 i = 0; i < 32; i += 4)
        word |= (u32)(type == TYPE_TF32 ? (tensor_below(2) ? 0xe : 0x4) : pairs[tensor_below(6)]) << i;
    return word;
}

// --- matrices -------------------------------------------------------------------------------------------------------
static u64 tensor_descriptor(u32 start, u32 leading, u32 stride, u32 base, u32 swizzle) {
    return start >> 4 | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | (u64)base << 49 | (u64)swizzle << 62;
}
static u64 tensor_any_descriptor(u32 start) {
    u32 offset = tensor_below(3) ? 16u * (u32)tensor_below(128) : 1024u * (u32)tensor_below(2);
    u32 leading = 16u * (u32)tensor_below(48) + 16, stride = 16u * (u32)tensor_below(48) + 16;
    u32 base = tensor_below(3) ? 0 : (u32)tensor_below(8);
    return tensor_descriptor(start + offset, leading, stride, base, (u32)tensor_below(4));
}

// Rows [start, start + count * width) of the unit.
static void tensor_fill(TensorUnit *u, const TensorForm *f, u32 role, u32 start, TensorRange range) {
    u8 type = f->type[role];
    bool halves = f->form.op == OP_WMMA_MMA_F16 && (role == 1 || role == 2);
    // Registers of wmma's f16 fragments beyond the matrix repeat the others.
    u32 distinct = halves ? (role == 1 ? 256 / f->n : f->n) * f->k / 64 : f->count[role];
    for (u32 r = 0; r < f->count[role]; r++)
        for (u32 l = 0; l < f->threads; l++) {
            u64 word = tensor_word(type, range);
            u32 *at = &u->rows[start + r * f->width[role]][l];
            *at = r < distinct ? (u32)word : u->rows[start + r % distinct][l];
            if (f->width[role] == 2) at[TENSOR_THREADS] = (u32)(word >> 32);
        }
}

static u32 tensor_row(const TensorForm *f, u32 role) {  // first row of A, B, C (1..3), metadata (4)
    u32 row = 0;
    for (u32 i = 1; i < role; i++) row += f->count[i] * f->width[i];
    return row;
}

static void tensor_unit(const TensorCase *c, const TensorForm *f, u32 n, TensorUnit *u) {
    static const u8 ranges[13][3] = {// of A, B, C
                                     {SMALL_INTEGERS, SMALL_INTEGERS, SMALL_INTEGERS},
                                     {NARROW, NARROW, ZEROS},
                                     {NARROW, NARROW, NARROW},
                                     {MEDIUM, MEDIUM, MEDIUM},
                                     {WIDE, WIDE, WIDE},
                                     {FEW_WIDE, WIDE, WIDE},
                                     {FEW_MEDIUM, NARROW, ZEROS},
                                     {FEW_MEDIUM, MEDIUM, RISING},
                                     {SPECIALS, SPECIALS, SPECIALS},
                                     {ANY_BITS, ANY_BITS, ANY_BITS},
                                     {TINY, MEDIUM, TINY},
                                     {NARROW, NARROW, RISING},
                                     {LARGE, MEDIUM, LARGE}};
    const u8 *range = ranges[n % 13];
    bool layouts = c->kind == TENSOR_LAYOUTS;
    memset(u, 0, sizeof *u);
    tensor_state = value_seed(n, c->mnemonic) * 31 + c->flags * 4u + c->selector;
    for (u32 role = 1; role < 4; role++)
        tensor_fill(u, f, role, tensor_row(f, role), layouts ? SMALL_INTEGERS : (TensorRange)range[role - 1]);
    if (f->sparse)
        for (u32 l = 0; l < f->threads; l++) u->rows[tensor_row(f, 4)][l] = tensor_metadata(f->type[1]);
    if (!f->wgmma) return;
    u32 bits = ptx_types[f->type[2]].bits, across = f->k * bits / 128 * 128;
    u->adds = layouts || n % 8 != 7;
    u->descriptor[0] = tensor_any_descriptor(0);
    u->descriptor[1] = layouts ? tensor_any_descriptor(8192) : tensor_descriptor(0, 128, across, 0, 0);
    for (u32 i = 0; i < f->image / 4; i++)
        u->image[i] = (u32)tensor_word(f->type[2], layouts ? SMALL_INTEGERS : (TensorRange)range[1]);
}

static u64 tensor_hash(u64 h, const TensorForm *f, u32 results[][TENSOR_THREADS]) {
    if (!h) h = VALUE_HASH_START;
    for (u32 row = 0; row < f->count[0] * f->width[0]; row++)
        for (u32 l = 0; l < f->threads; l++) h = value_hash(h, results[row][l]);
    return h;
}

#endif
