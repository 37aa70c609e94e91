// SPDX-License-Identifier: Apache-2.0
// The arithmetic of tensor cores.
//
// Floating point below f64 is not summed step by step. Products are exact; all products of a group and the accumulator
// are shifted to the largest exponent among them, cut off (towards zero) `fraction` bits below that exponent's unit,
// added exactly, and the sum is rounded once: towards zero to f32, to nearest even to f16. (Fasi, Higham, Mikaitis,
// Pranesh 2021; Xie, Wang, Yang, Yang 2025.) The exponent of a product is the sum of its operands' exponents, subnormal
// operands with the smallest normal one; the product of a zero has none. What becomes zero is +0. A group, and the bits
// kept, depend on the instruction: matrix.c, matrix_wgmma.c.
#include "sim/exec/matrix_sum.h"
#include "sim/exec/fp8.h"
#include "sim/exec/half.h"
#include <string.h>

typedef f32 Eight_f32 __attribute__((vector_size(32)));
typedef i32 Eight_i32 __attribute__((vector_size(32)));
typedef i16 Sixteen_i16 __attribute__((vector_size(32)));

enum {
    NO_EXPONENT = -1000,  // of zero; the sum of two is below every other
    // Operands of these exponents are safe in f32 arithmetic: products, and factors that bring the smallest of them up.
    SAFE_LOW = -48,
    SAFE_HIGH = 60,
    SAFE_SUM_LOW = -100,  // the factor 2^(fraction - exponent) is an f32
};

// --- numbers as sign, significand, exponent -------------------------------------------------------------------------
typedef struct Format {
    u8 bits, mantissa, exponent;
    u8 unused;  // low bits that are not looked at
} Format;

static Format format_of(u8 type) {
    switch (type) {
    case TYPE_F16: return (Format){16, 10, 5, 0};
    case TYPE_BF16: return (Format){16, 7, 8, 0};
    case TYPE_TF32: return (Format){32, 10, 8, 13};
    case TYPE_E4M3: return (Format){8, 3, 4, 0};
    case TYPE_E5M2: return (Format){8, 2, 5, 0};
    default: return (Format){32, 23, 8, 0};  // f32
    }
}

typedef enum NumberClass { FINITE, INFINITE, NOT_A_NUMBER } NumberClass;

typedef struct Number {  // (negative ? -1 : 1) * significand * 2^(exponent - mantissa)
    u8 class;
    bool negative;
    u8 mantissa;
    u32 significand;
    i32 exponent;  // NO_EXPONENT for zero
} Number;

static Number number_of(u8 type, u32 bits) {
    Format y = format_of(type);
    bits >>= y.unused;
    u32 fraction = bits & ((1u << y.mantissa) - 1), mask = (1u << y.exponent) - 1, field = bits >> y.mantissa & mask;
    i32 bias = (i32)(mask >> 1);
    Number n = {.mantissa = y.mantissa, .negative = bits >> (y.mantissa + y.exponent) & 1};
    if (type == TYPE_E4M3 && field == mask && fraction == 7) n.class = NOT_A_NUMBER;
    if (type != TYPE_E4M3 && field == mask) n.class = fraction ? NOT_A_NUMBER : INFINITE;
    n.significand = field ? fraction | 1u << y.mantissa : fraction;
    n.exponent = !n.significand ? NO_EXPONENT : (i32)(field ? field : 1) - bias;
    return n;
}

static u32 element_bits(const u8 *row, u8 bits, u32 k) {
    u32 value = 0;
    memcpy(&value, row + k * bits / 8, bits / 8);
    return value;
}

// --- one element of D, any operands ---------------------------------------------------------------------------------
// sum * 2^unit to the format of `rule`: no arithmetic of the host, as sums may be far outside of its range.
static u32 round_sum(const MatrixRule *rule, i64 sum, i32 unit) {
    bool half = rule->d == TYPE_F16;
    i32 mantissa = half ? 10 : 23, kept = half ? 10 : rule->short_result ? 13 : 23, lowest = half ? -14 : -126;
    u32 sign = sum < 0 ? half ? 0x8000u : 0x80000000u : 0, infinity = half ? 0x7c00 : 0x7f800000;
    u64 magnitude = sum < 0 ? 0 - (u64)sum : (u64)sum;
    if (!magnitude) return 0;
    i32 exponent = 63 - __builtin_clzll(magnitude) + unit, shift;
    bool subnormal = exponent < lowest;
    shift = (subnormal ? lowest : exponent) - kept - unit;  // to the last place kept
    u64 result;
    if (shift <= 0) {
        result = magnitude << -shift;
    } else if (shift > 62) {
        result = 0;
    } else {
        result = magnitude >> shift;
        u64 rest = magnitude & ((1ull << shift) - 1), tie = 1ull << (shift - 1);
        if (half && (rest > tie || (rest == tie && result & 1))) result++;
    }
    result <<= mantissa - kept;
    u64 bits = subnormal ? result : ((u64)(exponent - lowest) << mantissa) + result;
    return !bits ? 0 : sign | (bits > infinity ? infinity : (u32)bits);
}

// Infinities and NaN: the sum's class and sign, FINITE when there are none.
static NumberClass special_sum(const Number *a, const Number *b, u32 count, Number c, bool *negative) {
    bool plus = c.class == INFINITE && !c.negative, minus = c.class == INFINITE && c.negative,
         nan = c.class == NOT_A_NUMBER;
    for (u32 i = 0; i < count; i++) {
        nan |= a[i].class == NOT_A_NUMBER || b[i].class == NOT_A_NUMBER;
        if (a[i].class != INFINITE && b[i].class != INFINITE) continue;
        nan |= !a[i].significand || !b[i].significand;
        if (a[i].negative != b[i].negative)
            minus = true;
        else
            plus = true;
    }
    *negative = minus;
    return nan || (plus && minus) ? NOT_A_NUMBER : plus || minus ? INFINITE : FINITE;
}

static i64 aligned(bool negative, u64 significand, i32 shift) {
    if (!significand) return 0;
    u64 magnitude = shift >= 0 ? significand << shift : shift > -64 ? significand >> -shift : 0;
    return negative ? -(i64)magnitude : (i64)magnitude;
}

static u32 sum_group(const MatrixRule *rule, const Number *a, const Number *b, u32 count, Number c) {
    bool negative, half = rule->d == TYPE_F16;
    NumberClass special = special_sum(a, b, count, c, &negative);
    if (special == NOT_A_NUMBER) return half ? NAN_BITS_HALF : NAN_BITS_F32;
    if (special == INFINITE) return half ? (negative ? 0xfc00 : 0x7c00) : negative ? 0xff800000 : 0x7f800000;
    i32 highest = c.exponent;
    for (u32 i = 0; i < count; i++)
        if (a[i].exponent + b[i].exponent > highest) highest = a[i].exponent + b[i].exponent;
    i32 top = rule->fraction - highest;
    i64 sum = aligned(c.negative, c.significand, top + c.exponent - c.mantissa);
    for (u32 i = 0; i < count; i++) {
        u64 product = (u64)a[i].significand * b[i].significand;
        i32 shift = top + a[i].exponent + b[i].exponent - a[i].mantissa - b[i].mantissa;
        sum += aligned(a[i].negative != b[i].negative, product, shift);
    }
    return round_sum(rule, sum, -top);
}

// `present`: the k that take part.
static u32 sum_any(const MatrixRule *rule, const u8 *row, u64 present, const u8 *column, u32 c) {
    Format y = format_of(rule->a), z = format_of(rule->b);
    u8 c_type = rule->c;
    for (u32 start = 0; start < rule->k; start += rule->group) {
        Number a[PANEL_K], b[PANEL_K];
        u32 count = 0;
        for (u32 k = start; k < start + rule->group; k++) {
            if (!(present >> k & 1)) continue;
            a[count] = number_of(rule->a, element_bits(row, y.bits, k));
            b[count++] = number_of(rule->b, element_bits(column, z.bits, k));
        }
        c = sum_group(rule, a, b, count, number_of(c_type, c));
        c_type = rule->d;
    }
    return c;
}

// --- eight elements at a time ---------------------------------------------------------------------------------------
// Vectors are passed by address: by value, their way depends on the instruction set.
static inline void raise_to(Eight_i32 *a, const Eight_i32 *b) {
    Eight_i32 first = *a > *b;
    *a = (*a & first) | (*b & ~first);
}

// Eight elements of C or D as numbers; false when they are not safe.
static inline bool load_sums(u8 type, const u32 *bits, Eight_f32 *value, Eight_i32 *exponent) {
    f32 v[8];
    i32 e[8];
    u32 unsafe = 0;
    for (u32 i = 0; i < 8; i++) {
        v[i] = type == TYPE_F16 ? f16_to_f32(bits[i]) : f32_of_bits(bits[i]);
        u32 magnitude = bits_of_f32(v[i]) & 0x7fffffff;
        i32 field = (i32)(magnitude >> 23) - 127, lowest = type == TYPE_F16 ? -14 : -126;
        e[i] = magnitude == 0 ? NO_EXPONENT : field < lowest ? lowest : field;
        unsafe |= (u32)(field == 128) | (u32)(magnitude != 0 && e[i] < SAFE_SUM_LOW);
    }
    memcpy(value, v, sizeof v);
    memcpy(exponent, e, sizeof e);
    return !unsafe;
}

// The f64 sums, rounded: rounding towards zero is the mode that the caller set.
static inline void store_sums(const MatrixRule *rule, const f64 *sum, u32 *bits) {
    if (rule->d == TYPE_F16) {
        for (u32 i = 0; i < 8; i++) {
            u32 half = f16_of_f64(sum[i]);
            bits[i] = half == 0x8000 ? 0 : half;
        }
        return;
    }
    u32 kept = rule->short_result ? ~0x3ffu : ~0u;
    for (u32 i = 0; i < 8; i++) {
        u32 cut = bits_of_f32((f32)sum[i]) & kept, sign = cut & 0x80000000;
        f64 magnitude = f64_of_bits(bits_of_f64(sum[i]) & 0x7fffffffffffffffull);
        bits[i] = magnitude >= 0x1p128 ? sign | 0x7f800000 : cut == sign ? 0 : cut;
    }
}

// `count` packed elements as numbers: true when one is not safe. Made for one format at a time, so that it vectorises.
static inline bool decode(Format y, bool no_infinity, u32 count, const u8 *packed, f32 *value, i32 *exponent) {
    u32 mask = (1u << y.exponent) - 1, bias = mask >> 1, unsafe = 0;
    f32 factor = f32_of_bits((127 + 127 - bias) << 23);  // moves the exponent's bias; exact, for subnormals too
    for (u32 i = 0; i < count; i++) {
        u16 short_bits;
        u32 bits = packed[i];
        if (y.bits == 16) memcpy(&short_bits, packed + 2 * i, 2), bits = short_bits;
        if (y.bits == 32) memcpy(&bits, packed + 4 * i, 4);
        bits >>= y.unused;
        u32 magnitude = bits & ((1u << (y.mantissa + y.exponent)) - 1), sign = bits >> (y.mantissa + y.exponent) << 31;
        u32 field = magnitude >> y.mantissa;
        i32 e = (i32)(field ? field : 1) - (i32)bias;
        value[i] = f32_of_bits(bits_of_f32(f32_of_bits(magnitude << (23 - y.mantissa)) * factor) | sign);
        exponent[i] = magnitude ? e : NO_EXPONENT;
        unsafe |= no_infinity ? magnitude == (1u << (y.mantissa + y.exponent)) - 1 : field == mask;
        if (y.exponent == 8) unsafe |= (u32)(magnitude != 0) & (u32)((e < SAFE_LOW) | (e > SAFE_HIGH));
    }
    return unsafe;
}

static bool decode_floats(u8 type, u32 count, const u8 *packed, f32 *value, i32 *exponent) {
    switch (type) {
    case TYPE_F16: return decode((Format){16, 10, 5, 0}, false, count, packed, value, exponent);
    case TYPE_BF16: return decode((Format){16, 7, 8, 0}, false, count, packed, value, exponent);
    case TYPE_TF32: return decode((Format){32, 10, 8, 13}, false, count, packed, value, exponent);
    case TYPE_E4M3: return decode((Format){8, 3, 4, 0}, true, count, packed, value, exponent);
    default: return decode((Format){8, 2, 5, 0}, false, count, packed, value, exponent);
    }
}

typedef struct FloatColumns {
    _Alignas(32) f32 value[PANEL_K][8];
    _Alignas(32) i32 exponent[PANEL_K][8];
} FloatColumns;

static bool decode_columns(const MatrixRule *rule, const PanelRow *b, FloatColumns *columns) {
    f32 value[PANEL_K];
    i32 exponent[PANEL_K];
    bool hard = false;
    for (u32 col = 0; col < PANEL_COLUMNS; col++) {
        hard |= decode_floats(rule->b, rule->k, b[col], value, exponent);
        for (u32 k = 0; k < rule->k; k++) columns->value[k][col] = value[k], columns->exponent[k][col] = exponent[k];
    }
    return hard;
}

// One group of a row. Sums of 8 products below 2^27 and one number below 2^26 fit in 32 bits.
static inline bool sum_eight(const MatrixRule *rule, const f32 *a, const i32 *ea, const FloatColumns *b, u32 start,
                             u8 c_type, u32 *c) {
    Eight_f32 value, scale;
    Eight_i32 highest, sums[2] = {{0}, {0}};
    u32 end = start + rule->group;
    if (!load_sums(c_type, c, &value, &highest)) return false;
    for (u32 k = start; k < end; k++) {
        Eight_i32 e;
        memcpy(&e, b->exponent[k], sizeof e);
        e += ea[k];
        raise_to(&highest, &e);
    }
    Eight_i32 lowest = (Eight_i32){0} + SAFE_SUM_LOW;
    raise_to(&highest, &lowest);
    Eight_i32 scale_bits = (127 + rule->fraction - highest) << 23;
    memcpy(&scale, &scale_bits, sizeof scale);
    sums[0] = __builtin_convertvector(value * scale, Eight_i32);
    for (u32 k = start; k < end; k++) {
        Eight_f32 vb;
        memcpy(&vb, b->value[k], sizeof vb);
        sums[k >> 2 & 1] += __builtin_convertvector(vb * a[k] * scale, Eight_i32);
    }
    f64 sum[8];
    for (u32 i = 0; i < 8; i++)
        sum[i] = ((f64)sums[0][i] + (f64)sums[1][i]) * f64_of_bits((u64)(1023 + highest[i] - rule->fraction) << 52);
    store_sums(rule, sum, c);
    return true;
}

static void multiply_floats(const MatrixRule *rule, const MatrixRows *a, const PanelRow *b, MatrixTile *tile) {
    FloatColumns columns;
    bool hard = decode_columns(rule, b, &columns) || a->hard;
    Rounding old = rounding_enter(rule->d == TYPE_F16 ? RND_RN : RND_RZ);
    for (u32 row = 0; row < rule->m; row++) {
        u32 c[8];
        memcpy(c, tile->u[row], sizeof c);
        bool done = !hard;
        for (u32 start = 0; done && start < rule->k; start += rule->group)
            done = sum_eight(rule, a->value[row], a->exponent[row], &columns, start, start ? rule->d : rule->c, c);
        if (done)
            memcpy(tile->u[row], c, sizeof c);
        else
            for (u32 col = 0; col < 8; col++)
                tile->u[row][col] =
                    sum_any(rule, a->packed->row[row], a->present ? a->present[row] : ~0ull, b[col], tile->u[row][col]);
    }
    rounding_leave(old);
}

// --- f64: a chain of fused multiply-adds in the order of k ----------------------------------------------------------
static inline f64 fma_f64(f64 a, f64 b, f64 c) {
    f64 result = __builtin_fma(a, b, c);
    f64 nan = b != b ? quiet_f64(b) : c != c ? quiet_f64(c) : a != a ? quiet_f64(a) : f64_of_bits(NAN_BITS_F64);
    return result == result ? result : nan;
}

static void multiply_doubles(const MatrixRule *rule, const Panel *a, const PanelRow *b, MatrixTile *tile) {
    f64 columns[PANEL_BYTES / 8][8];
    for (u32 k = 0; k < rule->k; k++)
        for (u32 col = 0; col < 8; col++) memcpy(&columns[k][col], b[col] + 8 * k, 8);
    Rounding old = rounding_enter((u16)(RND_RN + rule->rounding));
    for (u32 row = 0; row < rule->m; row++) {
        f64 sum[8], va;
        memcpy(sum, tile->d[row], sizeof sum);
        for (u32 k = 0; k < rule->k; k++) {
            memcpy(&va, a->row[row] + 8 * k, 8);
            for (u32 col = 0; col < 8; col++) sum[col] = fma_f64(va, columns[k][col], sum[col]);
        }
        memcpy(tile->d[row], sum, sizeof sum);
    }
    rounding_leave(old);
}

// --- integers -------------------------------------------------------------------------------------------------------
static void decode_integers(u8 type, u32 count, const u8 *packed, i16 *value) {
    switch (type) {
    case TYPE_U8:
        for (u32 i = 0; i < count; i++) value[i] = packed[i];
        break;
    case TYPE_S8:
        for (u32 i = 0; i < count; i++) value[i] = (i8)packed[i];
        break;
    case TYPE_U4:
        for (u32 i = 0; i < count; i++) value[i] = packed[i / 2] >> (i % 2 * 4) & 15;
        break;
    default:
        for (u32 i = 0; i < count; i++) value[i] = (i16)((i8)(packed[i / 2] << (4 - i % 2 * 4)) >> 4);
        break;
    }
}

// sum += the products of neighbours, added in pairs.
static inline void add_pair_products(Eight_i32 *sum, const Sixteen_i16 *a, const Sixteen_i16 *b) {
#if defined(__AVX2__)
    *sum += (Eight_i32)_mm256_madd_epi16((__m256i)*a, (__m256i)*b);
#else
    for (u32 i = 0; i < 8; i++) (*sum)[i] += (*a)[2 * i] * (*b)[2 * i] + (*a)[2 * i + 1] * (*b)[2 * i + 1];
#endif
}

// The sum of the products fits in 32 bits; the accumulator is added with wrap-around, or clamped.
static inline u32 accumulate(const MatrixRule *rule, u32 c, i32 products) {
    if (!rule->satfinite) return c + (u32)products;
    i64 sum = (i64)(i32)c + products;
    return (u32)(i32)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static void multiply_integers(const MatrixRule *rule, const MatrixRows *a, const PanelRow *b, MatrixTile *tile) {
    _Alignas(32) i16 columns[PANEL_K / 2][8][2], value[PANEL_K];
    for (u32 col = 0; col < 8; col++) {
        decode_integers(rule->b, rule->k, b[col], value);
        for (u32 k = 0; k < rule->k; k++) columns[k / 2][col][k % 2] = value[k];
    }
    for (u32 row = 0; row < rule->m; row++) {
        Eight_i32 sum = {0};
        for (u32 k = 0; k < rule->k; k += 2) {
            i32 pair;
            Sixteen_i16 vb;
            memcpy(&pair, &a->integer[row][k], 4);
            memcpy(&vb, columns[k / 2], sizeof vb);
            Sixteen_i16 va = (Sixteen_i16)((Eight_i32){0} + pair);
            add_pair_products(&sum, &va, &vb);
        }
        for (u32 col = 0; col < 8; col++) tile->u[row][col] = accumulate(rule, tile->u[row][col], sum[col]);
    }
}

static void multiply_bits(const MatrixRule *rule, const Panel *a, const PanelRow *b, MatrixTile *tile) {
    for (u32 row = 0; row < rule->m; row++) {
        for (u32 col = 0; col < 8; col++) {
            u32 sum = 0;
            for (u32 byte = 0; byte < rule->k / 8; byte += 8) {
                u64 va, vb;
                memcpy(&va, a->row[row] + byte, 8);
                memcpy(&vb, b[col] + byte, 8);
                sum += (u32)__builtin_popcountll(rule->bit_and ? va & vb : va ^ vb);
            }
            tile->u[row][col] += sum;
        }
    }
}

// --- by type --------------------------------------------------------------------------------------------------------
typedef enum Arithmetic { IN_FLOATS, IN_DOUBLES, IN_INTEGERS, IN_BITS } Arithmetic;
static Arithmetic arithmetic_of(const MatrixRule *rule) {
    if (rule->d == TYPE_F64) return IN_DOUBLES;
    if (rule->d != TYPE_S32) return IN_FLOATS;
    return rule->a == TYPE_B1 ? IN_BITS : IN_INTEGERS;
}

void matrix_decode_rows(const MatrixRule *rule, const Panel *a, const u64 *present, MatrixRows *rows) {
    rows->packed = a;
    rows->present = present;
    rows->hard = false;
    switch (arithmetic_of(rule)) {
    case IN_FLOATS:
        for (u32 row = 0; row < rule->m; row++)
            rows->hard |= decode_floats(rule->a, rule->k, a->row[row], rows->value[row], rows->exponent[row]);
        break;
    case IN_INTEGERS:
        for (u32 row = 0; row < rule->m; row++) decode_integers(rule->a, rule->k, a->row[row], rows->integer[row]);
        break;
    default: break;
    }
}

void matrix_multiply(const MatrixRule *rule, const MatrixRows *a, const PanelRow *b, MatrixTile *tile) {
    switch (arithmetic_of(rule)) {
    case IN_FLOATS: multiply_floats(rule, a, b, tile); break;
    case IN_DOUBLES: multiply_doubles(rule, a->packed, b, tile); break;
    case IN_INTEGERS: multiply_integers(rule, a, b, tile); break;
    case IN_BITS: multiply_bits(rule, a->packed, b, tile); break;
    }
}
