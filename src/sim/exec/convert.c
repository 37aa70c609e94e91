// SPDX-License-Identifier: Apache-2.0
// cvt with a floating-point type on either side (PTX ISA 9.7.9.21). Any combination is a pipeline over 32 doubles: load
// the source (exact; 64-bit integers rounded to odd), round to an integer, clamp, store with the destination's
// rounding. The most used combinations are single loops made of the same scalars.
#include "sim/exec/convert.h"
#include "sim/exec/half.h"

// --- loading ----------------------------------------------------------------------------------------------------
// Exact without a branch: 2^52 + v has v in its low mantissa bits.
static inline f64 f64_of_u32(u32 v) { return f64_of_bits(0x4330000000000000ull | v) - 0x1p52; }
// 64 bits do not fit: rounded to odd, so that a later rounding to f32 or less is right.
static inline f64 odd_of_u64(u64 v) {
    u64 kept = v >> 11 | ((v & 0x7ff) != 0);
    return v >> 53 ? (f64)(i64)kept * 2048.0 : (f64)(i64)v;
}
static inline f64 odd_of_s64(i64 v) { return v < 0 ? -odd_of_u64(0 - (u64)v) : odd_of_u64((u64)v); }

#define LOAD(name, CELL, T, expression)                   \
    static void load_##name(const void *source, f64 *v) { \
        const CELL *s = source;                           \
        for (u32 l = 0; l < LANES; l++) {                 \
            T a = (T)s[l];                                \
            v[l] = expression;                            \
        }                                                 \
    }
LOAD(u8, Cell32, u8, a)
LOAD(u16, Cell32, u16, a)
LOAD(u32, Cell32, u32, f64_of_u32(a))
LOAD(u64, Cell64, u64, odd_of_u64(a))
LOAD(s8, Cell32, i8, a)
LOAD(s16, Cell32, i16, a)
LOAD(s32, Cell32, i32, a)
LOAD(s64, Cell64, i64, odd_of_s64(a))
LOAD(f16, Cell32, u32, f16_to_f32(a))
LOAD(bf16, Cell32, u32, bf16_to_f32(a))
LOAD(f32, CellF32, f32, a)
LOAD(f32_ftz, CellF32, f32, canonical_f32(flush_f32(a)))
LOAD(f64, CellF64, f64, a)

typedef void (*LoadFn)(const void *source, f64 *v);
enum { LOAD_F32_FTZ = TYPE_COUNT, LOAD_COUNT };
static const LoadFn loads[LOAD_COUNT] = {
    [TYPE_U8] = load_u8,          [TYPE_U16] = load_u16,   [TYPE_U32] = load_u32, [TYPE_U64] = load_u64,
    [TYPE_S8] = load_s8,          [TYPE_S16] = load_s16,   [TYPE_S32] = load_s32, [TYPE_S64] = load_s64,
    [TYPE_F16] = load_f16,        [TYPE_BF16] = load_bf16, [TYPE_F32] = load_f32, [TYPE_F64] = load_f64,
    [LOAD_F32_FTZ] = load_f32_ftz};

// --- rounding to integers ---------------------------------------------------------------------------------------
enum { INT_NONE, INT_EVEN, INT_ZERO, INT_DOWN, INT_UP };
static void round_all(f64 *v, u32 how) {
    switch (how) {
    case INT_EVEN:
        for (u32 l = 0; l < LANES; l++) v[l] = round_even_f64(v[l]);
        break;
    case INT_ZERO:
        for (u32 l = 0; l < LANES; l++) v[l] = round_zero_f64(v[l]);
        break;
    case INT_DOWN:
        for (u32 l = 0; l < LANES; l++) v[l] = round_down_f64(v[l]);
        break;
    case INT_UP:
        for (u32 l = 0; l < LANES; l++) v[l] = round_up_f64(v[l]);
        break;
    default: break;
    }
}

// --- storing ----------------------------------------------------------------------------------------------------
// Integers: v is whole; out of range clamps; a NaN gives `nan`.
static inline u32 to_s32(f64 v, u32 nan) {
    f64 low = v > -0x1p31 ? v : -0x1p31, clamped = low < 0x1p31 - 1 ? low : 0x1p31 - 1;
    return v == v ? (u32)(i32)clamped : nan;
}
static inline u32 to_u32(f64 v, u32 nan) {
    f64 low = v > 0.0 ? v : 0.0, clamped = low < 0x1p32 - 1 ? low : 0x1p32 - 1;
    return v == v ? (u32)bits_of_f64(clamped + 0x1p52) : nan;
}
static inline u32 to_small(f64 v, f64 min, f64 max, u32 nan) {
    f64 low = v > min ? v : min, clamped = low < max ? low : max;
    return v == v ? (u32)(i32)clamped : nan;
}
static inline u64 to_s64(f64 v, u64 nan) {
    if (v != v) return nan;
    return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? (u64)INT64_MIN : (u64)(i64)v;
}
static inline u64 to_u64(f64 v, u64 nan) {
    if (v != v) return nan;
    return v >= 0x1p64 ? UINT64_MAX : v <= 0.0 ? 0 : v >= 0x1p63 ? (u64)(i64)(v - 0x1p63) + (1ull << 63) : (u64)(i64)v;
}

// Directed rounding of a format whose encodings count upwards in magnitude: correct the nearest by one. `near` is its
// value.
static inline u32 direct(u32 h, f64 near, f64 v, u16 rounding) {
    bool negative = bits_of_f64(v) >> 63, above = near > v, below = near < v;
    bool away = negative ? below : above;  // the nearest is larger in magnitude
    bool closer = negative ? above : below;
    switch (rounding) {
    case RND_RZ: return h - away;
    case RND_RM: return negative ? h + closer : h - away;
    case RND_RP: return negative ? h - away : h + closer;
    default: return h;
    }
}
typedef struct Plan {  // in SimInsn.offset
    u8 load;           // index of loads
    u8 store;          // PtxType
    u8 to_int;         // INT_*
    u8 rounding;       // RND_RN.. minus RND_RN
    u8 clamp;          // CLAMP_*
    u8 flags;
} Plan;
enum { CLAMP_SAT = 1, CLAMP_RELU = 2, CLAMP_FINITE = 4 };
enum { WIDE_SOURCE = 1, WIDE_RESULT = 2, FTZ_RESULT = 4 };
enum {
    NAN_IS_MIN = 8,
    KEEP_NAN = 16
};  // NaN to int gives the top bit, else 0; f64 to a narrower NaN keeps its upper bits
union PlanBits {
    Plan plan;
    i64 bits;
};

static void clamp_all(f64 *v, const Plan *plan) {
    if (plan->clamp & CLAMP_SAT)
        for (u32 l = 0; l < LANES; l++) v[l] = saturate_f64(v[l]);
    if (plan->clamp & CLAMP_RELU)
        for (u32 l = 0; l < LANES; l++) v[l] = v[l] <= 0.0 ? 0.0 : v[l];
    if (plan->clamp & CLAMP_FINITE) {
        f64 max = plan->store == TYPE_F16 ? 65504.0 : 0x1.fep127;
        for (u32 l = 0; l < LANES; l++) v[l] = v[l] > max ? max : v[l] < -max ? -max : v[l];
    }
}

// Sign and upper mantissa bits of a NaN.
static inline u32 kept_nan(f64 v, u32 exponent, u32 shift) {
    u32 bits = bits_of_f32((f32)v);
    return (bits >> 16 & 0x8000) | exponent | (bits & 0x7fffff) >> shift;
}

static void store_32(Cell32 *d, const f64 *v, const Plan *plan, u32 mask) {
    u16 rounding = (u16)(RND_RN + plan->rounding);
    u32 nan = plan->flags & NAN_IS_MIN ? 1u << (ptx_types[plan->store].bits - 1) : 0;
    switch (plan->store) {
    case TYPE_U8: LANES_SET(mask, Cell32, d, to_small(v[l], 0, 255, nan)); break;
    case TYPE_S8: LANES_SET(mask, Cell32, d, to_small(v[l], -128, 127, 0 - nan)); break;
    case TYPE_U16: LANES_SET(mask, Cell32, d, to_small(v[l], 0, 65535, nan)); break;
    case TYPE_S16: LANES_SET(mask, Cell32, d, to_small(v[l], -32768, 32767, 0 - nan)); break;
    case TYPE_U32: LANES_SET(mask, Cell32, d, to_u32(v[l], nan)); break;
    case TYPE_S32: LANES_SET(mask, Cell32, d, to_s32(v[l], nan)); break;
    case TYPE_F16: {
        u32 h[LANES];
        for (u32 l = 0; l < LANES; l++) h[l] = f16_of_f64(v[l]);
        if (plan->flags & KEEP_NAN)
            for (u32 l = 0; l < LANES; l++) h[l] = v[l] == v[l] ? h[l] : kept_nan(v[l], 0x7c00, 13);
        if (rounding != RND_RN)  // NaN compares false and stays
            for (u32 l = 0; l < LANES; l++) h[l] = direct(h[l], f16_to_f32(h[l]), v[l], rounding);
        LANES_SET(mask, Cell32, d, h[l]);
        break;
    }
    case TYPE_BF16: {
        u32 h[LANES];
        for (u32 l = 0; l < LANES; l++) h[l] = bf16_of_f64(v[l]);
        if (plan->flags & KEEP_NAN)
            for (u32 l = 0; l < LANES; l++) h[l] = v[l] == v[l] ? h[l] : kept_nan(v[l], 0x7f80, 16);
        if (rounding != RND_RN)
            for (u32 l = 0; l < LANES; l++) h[l] = direct(h[l], bf16_to_f32(h[l]), v[l], rounding);
        LANES_SET(mask, Cell32, d, h[l]);
        break;
    }
    default: {  // f32
        f32 r[LANES], scaled[LANES];
        Rounding old = rounding_enter(rounding);
        for (u32 l = 0; l < LANES; l++) r[l] = (f32)v[l];
        if (plan->flags & FTZ_RESULT)
            for (u32 l = 0; l < LANES; l++) scaled[l] = (f32)(v[l] * 0x1p24);
        rounding_leave(old);
        if (plan->flags & FTZ_RESULT)
            for (u32 l = 0; l < LANES; l++) r[l] = flush_scaled_f32(r[l], scaled[l]);
        CellF32 *df = (CellF32 *)d;
        if (plan->flags & KEEP_NAN)
            LANES_SET(mask, CellF32, df, r[l]);
        else
            LANES_SET(mask, CellF32, df, canonical_f32(r[l]));
    }
    }
}

static void store_64(Cell64 *d, const f64 *v, const Plan *plan, u32 mask) {
    u64 nan = 1ull << 63;
    switch (plan->store) {
    case TYPE_S64: LANES_EACH(mask, Cell64, d, to_s64(v[l], nan)); break;
    case TYPE_U64: LANES_EACH(mask, Cell64, d, to_u64(v[l], nan)); break;
    default: {  // f64; a source that has rounded to odd does not come here
        CellF64 *df = (CellF64 *)d;
        LANES_SET(mask, CellF64, df, v[l] == v[l] ? v[l] : quiet_f64(v[l]));
    }
    }
}

static void cvt_any(Exec *x, const SimInsn *in, u32 mask) {
    const union PlanBits u = {.bits = in->offset};
    const Plan *plan = &u.plan;
    const void *source = exec_operand(x, in->src[0]);
    void *d = exec_operand(x, in->dst);
    u32 low[LANES];
    f64 v[LANES];
    if (plan->flags & WIDE_SOURCE) {
        for (u32 l = 0; l < LANES; l++) low[l] = (u32)((const Cell64 *)source)[l];
        source = low;
    }
    loads[plan->load](source, v);
    round_all(v, plan->to_int);
    clamp_all(v, plan);
    if (ptx_types[plan->store].bits == 64) {
        store_64(d, v, plan, mask);
    } else if (plan->flags & WIDE_RESULT) {
        bool sign = ptx_types[plan->store].class == TYPE_CLASS_SINT;
        store_32(low, v, plan, FULL_MASK);
        Cell64 *wide = d;
        if (sign)
            LANES_SET(mask, Cell64, wide, (u64)(i64)(i32)low[l]);
        else
            LANES_SET(mask, Cell64, wide, low[l]);
    } else {
        store_32(d, v, plan, mask);
    }
}

// --- the most used, each one loop -------------------------------------------------------------------------------
MAP1(f32_s32, f32, i32, a)
MAP1(f32_u32, f32, u32, (f32)f64_of_u32(a))
MAP1(f64_s32, f64, i32, a)
MAP1(f64_u32, f64, u32, f64_of_u32(a))
MAP1(f64_s64, f64, i64, a)
// Compilers convert u64 by subtractions, which give -0 for 0 when rounding down.
MAP1(f64_u64, f64, u64, f64_of_bits(bits_of_f64((f64)a) & 0x7fffffffffffffffull))
MAP1(f32_s64, f32, i64, a)
MAP1(f32_u64, f32, u64, f32_of_bits(bits_of_f32((f32)a) & 0x7fffffff))
ROUNDED(f32_s32)
ROUNDED(f64_s64)
ROUNDED(f64_u64)
ROUNDED(f32_s64)
ROUNDED(f32_u64)
MAP1(f64_f32, f64, f32, a)  // NaN: quiet, with the same upper bits, as on the host
MAP1(f32_f64, f32, f64, a)
MAP1(f16_f32, u32, f32, f16_of_f32(a))
MAP1(f32_f16, f32, u32, canonical_f32(f16_to_f32(a)))
MAP1(bf16_f32, u32, f32, bf16_of_f32(a))
MAP1(f32_bf16, u32, u32, a << 16)
MAP1(s32_f32_rni, u32, f32, to_s32(round_even_f64(a), 0))
MAP1(s32_f32_rzi, u32, f32, to_s32(a, 0))
MAP1(s32_f32_rmi, u32, f32, to_s32(round_down_f64(a), 0))
MAP1(s32_f32_rpi, u32, f32, to_s32(round_up_f64(a), 0))
MAP1(u32_f32_rzi, u32, f32, to_u32(round_zero_f64(a), 0))
MAP1(s32_f64_rzi, u32, f64, to_s32(a, 0x80000000))
MAP1(f32_copy, u32, u32, a)
MAP1(f64_copy, u64, u64, a)
MAP1(f32_sat, f32, f32, saturate_f32(a))
MAP1(f32_f32_rni, f32, f32, canonical_f32((f32)round_even_f64(a)))
MAP1(f32_f32_rzi, f32, f32, canonical_f32((f32)round_zero_f64(a)))
MAP1(f32_f32_rmi, f32, f32, canonical_f32((f32)round_down_f64(a)))
MAP1(f32_f32_rpi, f32, f32, canonical_f32((f32)round_up_f64(a)))

typedef struct Fast {
    u8 to, from;
    u16 rounding;   // MOD_TOKEN_NONE: none written
    bool directed;  // also for the other roundings, through in->mods
    ExecFn fn, rounded;
} Fast;
static const Fast fast[] = {
    {TYPE_F32, TYPE_S32, RND_RN, true, f32_s32, f32_s32_rounded},
    {TYPE_F32, TYPE_U32, RND_RN, false, f32_u32, NULL},
    {TYPE_F32, TYPE_S64, RND_RN, true, f32_s64, f32_s64_rounded},
    {TYPE_F32, TYPE_U64, RND_RN, true, f32_u64, f32_u64_rounded},
    {TYPE_F64, TYPE_S64, RND_RN, true, f64_s64, f64_s64_rounded},
    {TYPE_F64, TYPE_U64, RND_RN, true, f64_u64, f64_u64_rounded},
    {TYPE_F64, TYPE_S32, RND_RN, true, f64_s32, f64_s32},
    {TYPE_F64, TYPE_U32, RND_RN, true, f64_u32, f64_u32},
    {TYPE_F64, TYPE_F32, MOD_TOKEN_NONE, false, f64_f32, NULL},
    {TYPE_F32, TYPE_F64, RND_RN, false, f32_f64, NULL},
    {TYPE_F16, TYPE_F32, RND_RN, false, f16_f32, NULL},
    {TYPE_F32, TYPE_F16, MOD_TOKEN_NONE, false, f32_f16, NULL},
    {TYPE_BF16, TYPE_F32, RND_RN, false, bf16_f32, NULL},
    {TYPE_F32, TYPE_BF16, MOD_TOKEN_NONE, false, f32_bf16, NULL},
    {TYPE_S32, TYPE_F32, RND_RNI, false, s32_f32_rni, NULL},
    {TYPE_S32, TYPE_F32, RND_RZI, false, s32_f32_rzi, NULL},
    {TYPE_S32, TYPE_F32, RND_RMI, false, s32_f32_rmi, NULL},
    {TYPE_S32, TYPE_F32, RND_RPI, false, s32_f32_rpi, NULL},
    {TYPE_U32, TYPE_F32, RND_RZI, false, u32_f32_rzi, NULL},
    {TYPE_S32, TYPE_F64, RND_RZI, false, s32_f64_rzi, NULL},
    {TYPE_F32, TYPE_F32, RND_RNI, false, f32_f32_rni, NULL},
    {TYPE_F32, TYPE_F32, RND_RZI, false, f32_f32_rzi, NULL},
    {TYPE_F32, TYPE_F32, RND_RMI, false, f32_f32_rmi, NULL},
    {TYPE_F32, TYPE_F32, RND_RPI, false, f32_f32_rpi, NULL},
};

static bool is_float(u8 type) { return ptx_types[type].class == TYPE_CLASS_FLOAT; }
static bool is_wide(u8 bits) { return bits == 64; }

static ExecFn select_fast(const ExecShape *shape, SimInsn *in, const Plan *plan) {
    u8 to = shape_type(shape, 0), from = shape_type(shape, 1);
    u16 rounding = shape_mod(shape, MOD_RND);
    // Of the modifiers only .sat of f32 alone and the .ftz that changes nothing are here.
    if (plan->flags & (WIDE_SOURCE | WIDE_RESULT)) return NULL;
    if (to == TYPE_F32 && from == TYPE_F32 && plan->clamp == CLAMP_SAT && !plan->to_int && !shape_has(shape, MOD_FTZ))
        return f32_sat;
    if (plan->clamp || (shape_has(shape, MOD_FTZ) && (from == TYPE_F32 || from == TYPE_F64))) return NULL;
    // Of the same type: a copy, NaNs as they are. From bf16: a shift, whatever the rounding.
    if (to == from && rounding == MOD_TOKEN_NONE && !shape_has(shape, MOD_FTZ)) {
        if (to == TYPE_F32) return f32_copy;
        if (to == TYPE_F64) return f64_copy;
    }
    if (to == TYPE_F32 && from == TYPE_BF16) {
        if (shape_has(shape, MOD_FTZ)) return NULL;
        rounding = MOD_TOKEN_NONE;
    }
    for (u32 i = 0; i < WL_COUNT(fast); i++) {
        const Fast *f = &fast[i];
        if (f->to != to || f->from != from) continue;
        if (f->rounding == rounding) return f->fn;
        if (f->directed) {
            in->mods = rounding == MOD_TOKEN_NONE ? RND_RN : rounding;
            return f->rounded;
        }
    }
    return NULL;
}

EXEC_SELECT(cvt_f) {
    u8 to = shape_type(shape, 0), from = shape_type(shape, 1);
    u16 rounding = shape_mod(shape, MOD_RND);
    bool ftz = shape_has(shape, MOD_FTZ);
    if (to == TYPE_TF32) return SIM_ISA_NAME(select_tf32)(shape, in);
    union PlanBits u = {.bits = 0};
    Plan *plan = &u.plan;
    // To f16 the flag changes nothing, though rounding upwards shows it (measured on an H200).
    plan->load = from == TYPE_F32 && ftz && to != TYPE_F16 ? (u8)LOAD_F32_FTZ : from;
    plan->store = to;
    switch (rounding) {
    case RND_RNI: plan->to_int = INT_EVEN; break;
    case RND_RZI: plan->to_int = INT_ZERO; break;
    case RND_RMI: plan->to_int = INT_DOWN; break;
    case RND_RPI: plan->to_int = INT_UP; break;
    case MOD_TOKEN_NONE: break;
    default: plan->rounding = (u8)(rounding - RND_RN); break;
    }
    // Old PTX writes .rn and .rz for integers too; without any, towards zero.
    if (!is_float(to) && !plan->to_int) {
        static const u8 of_rounding[] = {INT_EVEN, INT_ZERO, INT_DOWN, INT_UP};
        plan->to_int = rounding == MOD_TOKEN_NONE ? INT_ZERO : of_rounding[plan->rounding & 3];
    }
    if (is_float(to)) {
        plan->clamp = (u8)((shape_has(shape, MOD_SAT) ? CLAMP_SAT : 0) | (shape_has(shape, MOD_RELU) ? CLAMP_RELU : 0) |
                           (shape_has(shape, MOD_SATFINITE) ? CLAMP_FINITE : 0));
        if (to == TYPE_F32 && ftz) plan->flags |= FTZ_RESULT;
    } else if (from == TYPE_F64) {
        plan->flags |= NAN_IS_MIN;
    }
    if (from == TYPE_F64) plan->flags |= KEEP_NAN;
    if (is_wide(shape->src_bits[0]) && ptx_types[from].bits != 64) plan->flags |= WIDE_SOURCE;
    if (is_wide(shape->dst_bits) && ptx_types[to].bits != 64) plan->flags |= WIDE_RESULT;
    if (!loads[plan->load]) return NULL;
    ExecFn fn = select_fast(shape, in, plan);
    if (fn) return fn;
    // Rounded to odd, 64-bit integers are not exact; clamped to [0, 1] they are.
    if (to == TYPE_F64 && (from == TYPE_U64 || from == TYPE_S64) && !(plan->clamp & CLAMP_SAT)) return NULL;
    in->offset = u.bits;
    return cvt_any;
}
