// SPDX-License-Identifier: Apache-2.0
// setp, set, selp and slct (PTX ISA 9.7.6, 9.7.7) of all types but the half-precision ones (half_compare.c).
#include "sim/exec/float.h"

// A test compares 32 lanes of two operands and returns the lanes in which the comparison holds.
typedef u32 (*CompareFn)(const void *a, const void *b);

#define TEST_(cmp, T, PREPARE, condition)                                \
    static inline u32 test_##cmp##_##T(const void *pa, const void *pb) { \
        const CELL_##T *ca = pa, *cb = pb;                               \
        u32 result = 0;                                                  \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) {                  \
            T a = PREPARE((T)ca[l]), b = PREPARE((T)cb[l]);              \
            result |= (condition) ? lane_bit[l] : 0u;                    \
        }                                                                \
        return result;                                                   \
    }
// 64 bits: comparisons and lane bits in vectors of the same width.
#define TEST64_(cmp, T, PREPARE, condition)                              \
    static inline u32 test_##cmp##_##T(const void *pa, const void *pb) { \
        const CELL_##T *ca = pa, *cb = pb;                               \
        u64 result = 0;                                                  \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) {                  \
            T a = PREPARE((T)ca[l]), b = PREPARE((T)cb[l]);              \
            result |= (condition) ? (u64)lane_bit[l] : 0u;               \
        }                                                                \
        return (u32)result;                                              \
    }
#define SAME(v) (v)
typedef f32 f32_ftz;
#define CELL_f32_ftz CellF32

// Runs the test and, with SET_FAST, nothing but the write of one predicate.
#define SETP_(cmp, T)                                                                                              \
    static void setp_##cmp##_##T(Exec *x, const SimInsn *in, u32 mask) {                                           \
        exec_set_pred(x, in->pred_dst, test_##cmp##_##T(exec_operand(x, in->src[0]), exec_operand(x, in->src[1])), \
                      mask);                                                                                       \
    }
#define ORDERED(X, cmp, T, PREPARE, condition) X(cmp, T, PREPARE, condition) SETP_(cmp, T)
#define INT_TESTS(X, T)             \
    ORDERED(X, eq, T, SAME, a == b) \
    ORDERED(X, ne, T, SAME, a != b) \
    ORDERED(X, lt, T, SAME, a < b)  \
    ORDERED(X, le, T, SAME, a <= b) \
    ORDERED(X, gt, T, SAME, a > b)  \
    ORDERED(X, ge, T, SAME, a >= b)
// ne is ordered; the names with u also hold when an operand is NaN.
#define FLOAT_TESTS(X, T, PREPARE)                    \
    ORDERED(X, eq, T, PREPARE, a == b)                \
    ORDERED(X, ne, T, PREPARE, (a < b) | (a > b))     \
    ORDERED(X, lt, T, PREPARE, a < b)                 \
    ORDERED(X, le, T, PREPARE, a <= b)                \
    ORDERED(X, gt, T, PREPARE, a > b)                 \
    ORDERED(X, ge, T, PREPARE, a >= b)                \
    ORDERED(X, equ, T, PREPARE, !((a < b) | (a > b))) \
    ORDERED(X, neu, T, PREPARE, a != b)               \
    ORDERED(X, ltu, T, PREPARE, !(a >= b))            \
    ORDERED(X, leu, T, PREPARE, !(a > b))             \
    ORDERED(X, gtu, T, PREPARE, !(a <= b))            \
    ORDERED(X, geu, T, PREPARE, !(a < b))             \
    ORDERED(X, num, T, PREPARE, (a == a) & (b == b))  \
    ORDERED(X, nan, T, PREPARE, (a != a) | (b != b))
INT_TESTS(TEST_, u16)
INT_TESTS(TEST_, i16)
INT_TESTS(TEST_, u32)
INT_TESTS(TEST_, i32)
INT_TESTS(TEST64_, u64)
INT_TESTS(TEST64_, i64)
FLOAT_TESTS(TEST_, f32, SAME)
FLOAT_TESTS(TEST_, f32_ftz, flush_f32)
FLOAT_TESTS(TEST64_, f64, SAME)

enum { CMP_TOKENS = CMP_NAN - CMP_EQ + 1 };
#define AT(cmp) [CMP_##cmp - CMP_EQ]
// lo, ls, hi, hs: unsigned whatever the type.
#define INT_ROW(f, T, U)                                                                                         \
    {                                                                                                            \
        AT(EQ) = f##_eq_##T, AT(NE) = f##_ne_##T, AT(LT) = f##_lt_##T, AT(LE) = f##_le_##T, AT(GT) = f##_gt_##T, \
        AT(GE) = f##_ge_##T, AT(LO) = f##_lt_##U, AT(LS) = f##_le_##U, AT(HI) = f##_gt_##U, AT(HS) = f##_ge_##U  \
    }
#define FLOAT_ROW(f, T)                                                                                          \
    {                                                                                                            \
        AT(EQ) = f##_eq_##T, AT(NE) = f##_ne_##T, AT(LT) = f##_lt_##T, AT(LE) = f##_le_##T, AT(GT) = f##_gt_##T, \
        AT(GE) = f##_ge_##T, AT(EQU) = f##_equ_##T, AT(NEU) = f##_neu_##T, AT(LTU) = f##_ltu_##T,                \
        AT(LEU) = f##_leu_##T, AT(GTU) = f##_gtu_##T, AT(GEU) = f##_geu_##T, AT(NUM) = f##_num_##T,              \
        AT(NAN) = f##_nan_##T                                                                                    \
    }
enum { ROW_U16, ROW_I16, ROW_U32, ROW_I32, ROW_U64, ROW_I64, ROW_F32, ROW_F32_FTZ, ROW_F64, ROW_COUNT };
#define TABLE(f)                                                                                                      \
    {                                                                                                                 \
        INT_ROW(f, u16, u16), INT_ROW(f, i16, u16), INT_ROW(f, u32, u32), INT_ROW(f, i32, u32), INT_ROW(f, u64, u64), \
            INT_ROW(f, i64, u64), FLOAT_ROW(f, f32), FLOAT_ROW(f, f32_ftz), FLOAT_ROW(f, f64)                         \
    }
static const CompareFn tests[ROW_COUNT][CMP_TOKENS] = TABLE(test);
static const ExecFn setps[ROW_COUNT][CMP_TOKENS] = TABLE(setp);

static u32 row_of(u8 type, bool ftz) {
    static const u8 rows[TYPE_COUNT] = {
        [TYPE_B16] = ROW_U16, [TYPE_U16] = ROW_U16, [TYPE_S16] = ROW_I16, [TYPE_B32] = ROW_U32,
        [TYPE_U32] = ROW_U32, [TYPE_S32] = ROW_I32, [TYPE_B64] = ROW_U64, [TYPE_U64] = ROW_U64,
        [TYPE_S64] = ROW_I64, [TYPE_F32] = ROW_F32, [TYPE_F64] = ROW_F64};
    return type == TYPE_F32 && ftz ? ROW_F32_FTZ : rows[type];
}

// in->mods of the general handlers: which test, which boolean operator, what the result looks like.
enum { MODS_ROW = 5, MODS_BOOL = 9 };
static u16 pack_mods(u32 row, u16 cmp, u16 bool_op) {
    u32 op = bool_op == MOD_TOKEN_NONE ? 0 : bool_op - BOOL_AND + 1u;
    return (u16)((cmp - CMP_EQ) | row << MODS_ROW | op << MODS_BOOL);
}
static u32 run_test(Exec *x, const SimInsn *in) {
    CompareFn test = tests[in->mods >> MODS_ROW & 15][in->mods & 31];
    return test(exec_operand(x, in->src[0]), exec_operand(x, in->src[1]));
}
static u32 combine(const Exec *x, const SimInsn *in, u32 result) {
    switch (in->mods >> MODS_BOOL) {
    case 1: return result & exec_get_pred(x, in);
    case 2: return result | exec_get_pred(x, in);
    case 3: return result ^ exec_get_pred(x, in);
    default: return result;
    }
}

// p = test op c, q = !test op c.
static void setp_general(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = run_test(x, in), p = combine(x, in, result), q = combine(x, in, ~result);
    exec_set_pred(x, in->pred_dst, p, mask);
    exec_set_pred(x, in->pred_dst2, q, mask);
}

static ExecFn select_setp(const ExecShape *shape, SimInsn *in) {
    u16 cmp = shape_mod(shape, MOD_CMP), bool_op = shape_mod(shape, MOD_BOOL);
    u32 row = row_of(shape_type(shape, 0), shape_has(shape, MOD_FTZ));
    if (!tests[row][cmp - CMP_EQ]) return NULL;
    if (bool_op == MOD_TOKEN_NONE && in->pred_dst2 == WL_NONE) return setps[row][cmp - CMP_EQ];
    in->mods = pack_mods(row, cmp, bool_op);
    return setp_general;
}
EXEC_SELECT(setp_int) { return select_setp(shape, in); }
EXEC_SELECT(setp_f) { return select_setp(shape, in); }

static void set_int(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = combine(x, in, run_test(x, in));
    Cell32 *d = exec_operand(x, in->dst);
    LANES_SET(mask, Cell32, d, lane_bit[l] & result ? UINT32_MAX : 0);
}
static void set_f32(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = combine(x, in, run_test(x, in));
    CellF32 *d = exec_operand(x, in->dst);
    LANES_SET(mask, CellF32, d, lane_bit[l] & result ? 1.0f : 0.0f);
}
static void set_f16(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = combine(x, in, run_test(x, in));
    Cell32 *d = exec_operand(x, in->dst);
    LANES_SET(mask, Cell32, d, lane_bit[l] & result ? 0x3c00 : 0);
}
static void set_bf16(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = combine(x, in, run_test(x, in));
    Cell32 *d = exec_operand(x, in->dst);
    LANES_SET(mask, Cell32, d, lane_bit[l] & result ? 0x3f80 : 0);
}
static ExecFn select_set(const ExecShape *shape, SimInsn *in) {
    static const ExecFn by_result[TYPE_COUNT] = {
        [TYPE_U32] = set_int, [TYPE_S32] = set_int, [TYPE_F32] = set_f32, [TYPE_F16] = set_f16, [TYPE_BF16] = set_bf16};
    u16 cmp = shape_mod(shape, MOD_CMP);
    u32 row = row_of(shape_type(shape, 1), shape_has(shape, MOD_FTZ));
    in->mods = pack_mods(row, cmp, shape_mod(shape, MOD_BOOL));
    return tests[row][cmp - CMP_EQ] ? by_result[shape_type(shape, 0)] : NULL;
}
EXEC_SELECT(set) { return select_set(shape, in); }
EXEC_SELECT(set_to_half) { return select_set(shape, in); }

// Selection.
#define SELECT_(name, T, CHOICE)                                                           \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                               \
        u32 choice = CHOICE;                                                               \
        CELL_##T *d = exec_operand(x, in->dst);                                            \
        const CELL_##T *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]); \
        LANES_SET(mask, CELL_##T, d, lane_bit[l] & choice ? a[l] : b[l]);                  \
    }
SELECT_(selp_32, u32, exec_get_pred(x, in))
SELECT_(selp_64, u64, exec_get_pred(x, in))

EXEC_SELECT(selp) {
    (void)in;
    return ptx_types[shape_type(shape, 0)].bits == 64 ? selp_64 : selp_32;
}

// slct: a where c >= 0, else b; a NaN chooses b.
static const u32 zeros[LANES] __attribute__((aligned(32)));
SELECT_(slct_32_s32, u32, test_ge_i32(exec_operand(x, in->src[2]), zeros))
SELECT_(slct_64_s32, u64, test_ge_i32(exec_operand(x, in->src[2]), zeros))
SELECT_(slct_32_f32, u32, test_ge_f32(exec_operand(x, in->src[2]), zeros))
SELECT_(slct_64_f32, u64, test_ge_f32(exec_operand(x, in->src[2]), zeros))
SELECT_(slct_32_f32_ftz, u32, test_ge_f32_ftz(exec_operand(x, in->src[2]), zeros))
SELECT_(slct_64_f32_ftz, u64, test_ge_f32_ftz(exec_operand(x, in->src[2]), zeros))

EXEC_SELECT(slct) {
    static const ExecFn table[3][2] = {
        {slct_32_s32, slct_64_s32}, {slct_32_f32, slct_64_f32}, {slct_32_f32_ftz, slct_64_f32_ftz}};
    (void)in;
    u32 by = shape_type(shape, 1) == TYPE_S32 ? 0 : shape_has(shape, MOD_FTZ) ? 2 : 1;
    return table[by][ptx_types[shape_type(shape, 0)].bits == 64];
}
