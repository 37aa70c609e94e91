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
typedef i32 Four_i32 __attribute__((vector_size(16)));
typedef i64 Four_i64 __attribute__((vector_size(32)));
typedef f32 Four_f32 __attribute__((vector_size(16)));
typedef f64 Four_f64 __attribute__((vector_size(32)));

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
// Products and sums are in f32 arithmetic, which is exact here: a product, times the power of two that makes the last
// bit to be kept 1, is cut off by its conversion to an integer. Operands far from 1 are first taken apart, so that
// neither the product nor that power leaves the range of f32. Infinities and NaN count as zeros, and make sum_any
// compute their rows and columns anew.
enum {
    FAR = 1,  // what flags say of a row of A, a column of B, a row of C
    INFINITIES = 2,
    NANS = 4,
    SPECIAL = INFINITIES | NANS,
};

// Vectors are passed by address: by value, their way depends on the instruction set.
static inline void raise_to(Eight_i32 *a, const Eight_i32 *b) {
#if defined(__AVX2__)
    *a = (Eight_i32)_mm256_max_epi32((__m256i)*a, (__m256i)*b);
#else
    Eight_i32 first = *a > *b;
    *a = (*a & first) | (*b & ~first);
#endif
}

static inline f32 power_of_two(i32 exponent) { return f32_of_bits((u32)(127 + exponent) << 23); }
// value * 2^-exponent, for every exponent of an f32
static inline f32 normalised(f32 value, i32 exponent) {
    return exponent == NO_EXPONENT ? value
                                   : value * power_of_two(-(exponent / 2)) * power_of_two(exponent / 2 - exponent);
}

// Eight elements of C. `special`: bits of those that are no numbers.
static inline u32 load_sums(u8 type, const u32 *bits, f32 *value, i32 *exponent, u32 *special) {
    u32 far = 0;
    *special = 0;
    for (u32 i = 0; i < 8; i++) {
        f32 v = type == TYPE_F16 ? f16_to_f32(bits[i]) : f32_of_bits(bits[i]);
        u32 magnitude = bits_of_f32(v) & 0x7fffffff;
        i32 field = (i32)(magnitude >> 23) - 127, lowest = type == TYPE_F16 ? -14 : -126;
        bool finite = field != 128;
        value[i] = finite ? v : 0.0f;
        exponent[i] = magnitude == 0 || !finite ? NO_EXPONENT : field < lowest ? lowest : field;
        *special |= (u32)!finite << i;
        far |= exponent[i] != NO_EXPONENT && exponent[i] < SAFE_SUM_LOW;
    }
    return far ? FAR : 0;
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
    u32 kept = rule->short_result ? 0x7ffffc00 : 0x7fffffff, cut[8], infinite[8];
    for (u32 i = 0; i < 8; i += 4) {
        Four_f64 wide;
        memcpy(&wide, sum + i, sizeof wide);
        Four_f32 narrow = __builtin_convertvector(wide, Four_f32);
        Four_i32 large = __builtin_convertvector((wide >= 0x1p128) | (wide <= -0x1p128), Four_i32);
        memcpy(cut + i, &narrow, sizeof narrow);
        memcpy(infinite + i, &large, sizeof large);
    }
    for (u32 i = 0; i < 8; i++) {
        u32 magnitude = infinite[i] ? 0x7f800000 : cut[i] & kept;
        bits[i] = magnitude ? magnitude | (cut[i] & 0x80000000) : 0;
    }
}

// `count` packed elements as numbers; returns flags. Made for one format at a time, so that it vectorises.
static inline u8 decode(Format y, bool no_infinity, u32 count, const u8 *packed, f32 *value, i32 *exponent) {
    u32 field_mask = (1u << y.exponent) - 1, bias = field_mask >> 1, all = (1u << (y.mantissa + y.exponent)) - 1;
    u32 far = 0, special = 0, nan = 0;
    f32 factor = f32_of_bits((127 + 127 - bias) << 23);  // moves the exponent's bias; exact, for subnormals too
    for (u32 i = 0; i < count; i++) {
        u16 short_bits;
        u32 bits = packed[i];
        if (y.bits == 16) memcpy(&short_bits, packed + 2 * i, 2), bits = short_bits;
        if (y.bits == 32) memcpy(&bits, packed + 4 * i, 4);
        bits >>= y.unused;
        u32 magnitude = bits & all, sign = bits >> (y.mantissa + y.exponent) << 31, field = magnitude >> y.mantissa;
        u32 finite = no_infinity ? magnitude != all : field != field_mask;
        special |= finite ? 0u : 1u;
        nan |= !finite && (no_infinity || magnitude != field_mask << y.mantissa) ? 1u : 0u;
        magnitude = finite ? magnitude : 0;
        i32 e = (i32)(field ? field : 1) - (i32)bias;
        value[i] = f32_of_bits(bits_of_f32(f32_of_bits(magnitude << (23 - y.mantissa)) * factor) | sign);
        exponent[i] = magnitude ? e : NO_EXPONENT;
        u32 outside = (u32)(e - SAFE_LOW) > SAFE_HIGH - SAFE_LOW ? 1u : 0u;
        far |= y.exponent == 8 && magnitude ? outside : 0u;
    }
    return (u8)((far ? FAR : 0) | (special ? INFINITIES : 0) | (nan ? NANS : 0));
}

static u8 decode_floats(u8 type, u32 count, const u8 *packed, f32 *value, i32 *exponent) {
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
    u8 flags[8], all_flags;
} FloatColumns;

static void decode_columns(const MatrixRule *rule, const PanelRow *b, FloatColumns *columns) {
    f32 value[PANEL_K];
    i32 exponent[PANEL_K];
    columns->all_flags = 0;
    for (u32 col = 0; col < PANEL_COLUMNS; col++) {
        columns->flags[col] = decode_floats(rule->b, rule->k, b[col], value, exponent);
        columns->all_flags |= columns->flags[col];
        for (u32 k = 0; k < rule->k; k++) columns->value[k][col] = value[k], columns->exponent[k][col] = exponent[k];
    }
}

// One group of a row, added to the numbers c with exponents ec. Sums of 8 products below 2^27 and one number below 2^26
// fit in 32 bits. `taken_apart`: a, b and c are normalised.
static inline void sum_eight(const MatrixRule *rule, const f32 *a, const i32 *ea, const FloatColumns *b, u32 start,
                             bool taken_apart, const f32 *c, const i32 *ec, f64 *sum) {
    Eight_f32 value, scale;
    Eight_i32 highest, exponent, sums[2] = {{0}, {0}}, zero = {0}, lowest = zero + (taken_apart ? -400 : SAFE_SUM_LOW);
    u32 end = start + rule->group;
    memcpy(&value, c, sizeof value);
    memcpy(&exponent, ec, sizeof exponent);
    highest = exponent;
    raise_to(&highest, &lowest);
    for (u32 k = start; k < end; k++) {
        Eight_i32 e;
        memcpy(&e, b->exponent[k], sizeof e);
        e += ea[k];
        raise_to(&highest, &e);
    }
    // The power of two of a sum, or, for what was taken apart, of each product.
#define SCALE(e)                                                    \
    do {                                                            \
        Eight_i32 power = (e) + rule->fraction, least = zero - 126; \
        raise_to(&power, &least);                                   \
        power = (power + 127) << 23;                                \
        memcpy(&scale, &power, sizeof scale);                       \
    } while (0)
    SCALE(taken_apart ? exponent - highest : -highest);
    sums[0] = __builtin_convertvector(value * scale, Eight_i32);
    for (u32 k = start; k < end; k += 4) {  // a sparse A has two in four
        Eight_i32 four = {0};
        for (u32 i = k; i < k + 4; i++) {
            Eight_f32 vb;
            memcpy(&vb, b->value[i], sizeof vb);
            if (taken_apart) {
                memcpy(&exponent, b->exponent[i], sizeof exponent);
                SCALE(exponent + ea[i] - highest);
            }
            four += __builtin_convertvector(vb * a[i] * scale, Eight_i32);
        }
        sums[0] += four;
        four = sums[0], sums[0] = sums[1], sums[1] = four;
    }
#undef SCALE
    for (u32 i = 0; i < 8; i += 4) {
        Four_i32 part[3];
        memcpy(&part[0], (const char *)&sums[0] + 4 * i, sizeof part[0]);
        memcpy(&part[1], (const char *)&sums[1] + 4 * i, sizeof part[1]);
        memcpy(&part[2], (const char *)&highest + 4 * i, sizeof part[2]);
        Four_f64 total = __builtin_convertvector(part[0], Four_f64) + __builtin_convertvector(part[1], Four_f64), unit;
        Four_i64 power = __builtin_convertvector(part[2] + (1023 - rule->fraction), Four_i64) << 52;
        memcpy(&unit, &power, sizeof unit);
        total *= unit;
        memcpy(sum + i, &total, sizeof total);
    }
}

// A row of D; returns the elements, as bits, that were computed with zeros for infinities or NaN.
static u32 sum_row(const MatrixRule *rule, const f32 *a, const i32 *ea, const FloatColumns *near,
                   const FloatColumns *far, u32 *c) {
    u32 special = 0, some;
    f32 value[8], a_apart[PANEL_K];
    i32 exponent[8];
    f64 sum[8];
    bool apart = far;
    if (apart)
        for (u32 k = 0; k < rule->k; k++) a_apart[k] = normalised(a[k], ea[k]);
    for (u32 start = 0; start < rule->k; start += rule->group) {
        u32 flags = load_sums(start ? rule->d : rule->c, c, value, exponent, &some);
        special |= some;
        if (!apart && flags) return 0xff;
        if (apart)
            for (u32 i = 0; i < 8; i++) value[i] = normalised(value[i], exponent[i]);
        if (apart)
            sum_eight(rule, a_apart, ea, far, start, true, value, exponent, sum);
        else
            sum_eight(rule, a, ea, near, start, false, value, exponent, sum);
        store_sums(rule, sum, c);
    }
    return special;
}

static void take_apart(const MatrixRule *rule, const FloatColumns *from, FloatColumns *to) {
    for (u32 k = 0; k < rule->k; k++)
        for (u32 col = 0; col < 8; col++) {
            to->value[k][col] = normalised(from->value[k][col], from->exponent[k][col]);
            to->exponent[k][col] = from->exponent[k][col];
        }
}

static void sum_specials(const MatrixRule *rule, const MatrixRows *a, const PanelRow *b, const FloatColumns *columns,
                         u32 row, u32 which, const u32 *c, u32 *d) {
    u32 nan = rule->d == TYPE_F16 ? NAN_BITS_HALF : NAN_BITS_F32;
    for (; which; which &= which - 1) {
        u32 col = (u32)__builtin_ctz(which);
        bool certain = a->flags[row] & NANS || (columns->flags[col] & NANS && !a->present);
        d[col] =
            certain ? nan : sum_any(rule, a->packed->row[row], a->present ? a->present[row] : ~0ull, b[col], c[col]);
    }
}

static void multiply_floats(const MatrixRule *rule, const MatrixRows *a, const PanelRow *b, MatrixTile *tile) {
    FloatColumns columns, apart;
    u32 special_columns = 0;
    decode_columns(rule, b, &columns);
    for (u32 col = 0; col < 8; col++) special_columns |= (u32)((columns.flags[col] & SPECIAL) != 0) << col;
    bool far = (a->all_flags | columns.all_flags) & FAR;
    if (far) take_apart(rule, &columns, &apart);
    Rounding old = rounding_enter(rule->d == TYPE_F16 ? RND_RN : RND_RZ);
    for (u32 row = 0; row < rule->m; row++) {
        u32 c[8], special = special_columns;
        memcpy(c, tile->u[row], sizeof c);
        if (a->flags[row] & SPECIAL) {
            special = 0xff;
        } else {
            special |= sum_row(rule, a->value[row], a->exponent[row], &columns, far ? &apart : NULL, tile->u[row]);
        }
        if (special) sum_specials(rule, a, b, &columns, row, special, c, tile->u[row]);
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
    rows->all_flags = 0;
    switch (arithmetic_of(rule)) {
    case IN_FLOATS:
        for (u32 row = 0; row < rule->m; row++) {
            rows->flags[row] = decode_floats(rule->a, rule->k, a->row[row], rows->value[row], rows->exponent[row]);
            rows->all_flags |= rows->flags[row];
        }
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
