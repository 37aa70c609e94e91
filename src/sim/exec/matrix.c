// SPDX-License-Identifier: Apache-2.0
// mma.sync, wmma.mma and movmatrix (PTX ISA 9.7.14): the fragments are gathered into matrices, multiplied, and
// scattered again. Products are exact. f16, bf16, tf32 and fp8 are summed in f32 one after the other, in the order of
// k, and rounded to f16 at the end where that is the accumulator; the hardware sums groups of products at once and
// truncates, so that the last bits differ.
#include "sim/exec/matrix.h"
#include "sim/exec/fp8.h"
#include "sim/exec/half.h"
#include <string.h>

typedef enum Arithmetic { IN_F32, IN_F64, IN_S32, IN_BITS } Arithmetic;

typedef struct Plan {  // in SimInsn.offset
    u16 shape;
    u8 a, b, c;  // PtxTypes
    u8 d;
    u8 satfinite : 1, bit_and : 1;
    u8 rounding;  // of f64: RND_* minus RND_RN
} Plan;
union PlanBits {
    Plan plan;
    i64 bits;
};

// A matrix in rows; the largest is 16 x 256 bits.
typedef struct Tile {
    union {
        f32 f[4096];
        f64 d[512];
        i32 i[4096];
        u32 u[4096];
    };
} Tile;

static Arithmetic arithmetic_of(const Plan *p) {
    if (p->d == TYPE_F64) return IN_F64;
    if (p->d != TYPE_S32) return IN_F32;
    return p->a == TYPE_B1 ? IN_BITS : IN_S32;
}

// Element e of the registers of 32 lanes, as f32 or, of integers, as i32 in the same place.
#define EACH_LANE(out, expression)    \
    for (u32 l = 0; l < LANES; l++) { \
        u32 v = regs[l];              \
        (out)[l] = (expression);      \
    }                                 \
    break
static void unpack(u8 type, const Cell32 *regs, u32 e, Tile *out) {
    u32 shift = e * ptx_types[type].bits % 32;
    switch (type) {
    case TYPE_F16: EACH_LANE(out->f, f16_to_f32(v >> shift & 0xffff));
    case TYPE_BF16: EACH_LANE(out->f, bf16_to_f32(v >> shift & 0xffff));
    case TYPE_TF32: EACH_LANE(out->f, f32_of_bits(v & ~0x1fffu));  // the lower bits are not looked at
    case TYPE_E4M3: EACH_LANE(out->f, fp8_to_f32(FP8_E4M3, (u8)(v >> shift)));
    case TYPE_E5M2: EACH_LANE(out->f, fp8_to_f32(FP8_E5M2, (u8)(v >> shift)));
    case TYPE_U8: EACH_LANE(out->i, (i32)(v >> shift & 0xff));
    case TYPE_S8: EACH_LANE(out->i, (i8)(v >> shift));
    case TYPE_U4: EACH_LANE(out->i, (i32)(v >> shift & 15));
    case TYPE_S4: EACH_LANE(out->i, (i32)(v << (28 - shift)) >> 28);
    case TYPE_B1: EACH_LANE(out->i, (i32)(v >> shift & 1));
    default: EACH_LANE(out->i, (i32)v);  // f32 and s32, the same bits
    }
}

// An element's place in the tile is the sum of one part that depends on the lane and one on register and element. A is
// kept m by k, B k by n, C m by n.
typedef struct Places {
    MatrixShape shape;
    MatrixRole role;
    u8 type;
    u32 stride, of_lane[LANES];
} Places;
static u32 place(const Places *p, u32 reg, u32 e) {
    u32 row, col;
    matrix_register_part(p->shape, p->role, p->type, reg, e, &row, &col);
    return row * p->stride + col;
}
static Places places_of(const Plan *plan, MatrixRole role, u8 type) {
    MatrixShape s = matrix_shape(plan->shape);
    Places p = {.shape = s, .role = role, .type = type, .stride = role == MATRIX_A ? matrix_k(s) : s.n};
    for (u32 l = 0; l < LANES; l++) {
        u32 row, col;
        matrix_lane_part(s, role, type, l, &row, &col);
        p.of_lane[l] = row * p.stride + col;
    }
    return p;
}

static void gather(const Exec *x, const SimOperand *regs, u32 count, const Places *p, Tile *tile) {
    Tile lanes;
    for (u32 r = 0; r < count; r++) {
        const void *source = exec_operand(x, regs[r]);
        for (u32 e = 0; e < matrix_elements(p->type); e++) {
            u32 start = place(p, r, e);
            if (p->type == TYPE_F64) {
                for (u32 l = 0; l < LANES; l++) tile->d[start + p->of_lane[l]] = ((const CellF64 *)source)[l];
                continue;
            }
            unpack(p->type, source, e, &lanes);
            for (u32 l = 0; l < LANES; l++) tile->i[start + p->of_lane[l]] = lanes.i[l];
        }
    }
}

static void scatter(const Exec *x, const SimOperand *regs, u32 count, const Places *p, const Tile *tile, u32 mask) {
    for (u32 r = 0; r < count; r++) {
        if (regs[r] == SIM_NO_OPERAND) continue;
        void *d = exec_operand(x, regs[r]);
        u32 low = place(p, r, 0), high = place(p, r, 1);
        const u32 *at = p->of_lane;
        if (p->type == TYPE_F64)
            LANES_EACH(mask, CellF64, (CellF64 *)d, tile->d[low + at[l]]);
        else if (p->type != TYPE_F16)
            LANES_EACH(mask, Cell32, (Cell32 *)d, (u32)tile->i[low + at[l]]);
        else
            LANES_EACH(mask, Cell32, (Cell32 *)d,
                       f16_of_f32(tile->f[low + at[l]]) | f16_of_f32(tile->f[high + at[l]]) << 16);
    }
}

static inline f64 fma_f64(f64 a, f64 b, f64 c) {
    f64 result = __builtin_fma(a, b, c);
    f64 nan = b != b ? quiet_f64(b) : c != c ? quiet_f64(c) : a != a ? quiet_f64(a) : f64_of_bits(NAN_BITS_F64);
    return result == result ? result : nan;
}

// c += a * b, eight columns and four rows at a time: the order of the sum over k is that of one element after the
// other.
#define MULTIPLY(T, field)                                                                       \
    typedef T __attribute__((vector_size(32))) Eight_##field;                                    \
    static void multiply_##field(MatrixShape s, const Tile *a, const Tile *b, Tile *c) {         \
        u32 k = matrix_k(s), n = s.n;                                                            \
        for (u32 col = 0; col < n; col += 8) {                                                   \
            for (u32 row = 0; row < s.m; row += 4) {                                             \
                Eight_##field sum[4], vb;                                                        \
                for (u32 r = 0; r < 4; r++) memcpy(&sum[r], &c->field[(row + r) * n + col], 32); \
                const T *va = &a->field[row * k];                                                \
                for (u32 t = 0; t < k; t++) {                                                    \
                    memcpy(&vb, &b->field[t * n + col], 32);                                     \
                    sum[0] += va[t] * vb;                                                        \
                    sum[1] += va[k + t] * vb;                                                    \
                    sum[2] += va[2 * k + t] * vb;                                                \
                    sum[3] += va[3 * k + t] * vb;                                                \
                }                                                                                \
                for (u32 r = 0; r < 4; r++) memcpy(&c->field[(row + r) * n + col], &sum[r], 32); \
            }                                                                                    \
        }                                                                                        \
    }
MULTIPLY(f32, f)
MULTIPLY(u32, u)

static void multiply_d(MatrixShape s, const Tile *a, const Tile *b, Tile *c) {  // n is 8
    u32 k = matrix_k(s);
    for (u32 row = 0; row < s.m; row++) {
        f64 sum[8];
        for (u32 col = 0; col < 8; col++) sum[col] = c->d[row * 8 + col];
        for (u32 t = 0; t < k; t++)
            for (u32 col = 0; col < 8; col++) sum[col] = fma_f64(a->d[row * k + t], b->d[t * 8 + col], sum[col]);
        for (u32 col = 0; col < 8; col++) c->d[row * 8 + col] = sum[col];
    }
}

// .satfinite of integers: the exact sum, clamped.
static void multiply_saturated(MatrixShape s, const Tile *a, const Tile *b, Tile *c) {
    for (u32 row = 0; row < s.m; row++) {
        for (u32 col = 0; col < s.n; col++) {
            i64 sum = c->i[row * s.n + col];
            for (u32 t = 0; t < matrix_k(s); t++) sum += a->i[row * matrix_k(s) + t] * b->i[t * s.n + col];
            c->i[row * s.n + col] = (i32)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
        }
    }
}
static void multiply_bits(MatrixShape s, bool bit_and, const Tile *a, const Tile *b, Tile *c) {
    u32 k = matrix_k(s);
    for (u32 row = 0; row < s.m; row++) {
        for (u32 col = 0; col < s.n; col++) {
            u32 sum = c->u[row * s.n + col];
            for (u32 t = 0; t < k; t++) {
                u32 va = a->u[row * k + t], vb = b->u[t * s.n + col];
                sum += bit_and ? va & vb : va ^ vb;
            }
            c->u[row * s.n + col] = sum;
        }
    }
}

static void multiply(const Plan *p, const Tile *a, const Tile *b, Tile *c) {
    MatrixShape s = matrix_shape(p->shape);
    switch (arithmetic_of(p)) {
    case IN_F64: {
        Rounding old = rounding_enter((u16)(RND_RN + p->rounding));
        multiply_d(s, a, b, c);
        rounding_leave(old);
        break;
    }
    case IN_BITS: multiply_bits(s, p->bit_and, a, b, c); break;
    case IN_S32:
        if (p->satfinite)
            multiply_saturated(s, a, b, c);
        else
            multiply_u(s, a, b, c);
        break;
    case IN_F32:
        multiply_f(s, a, b, c);
        for (u32 i = 0; i < (u32)s.m * s.n; i++) c->f[i] = canonical_f32(c->f[i]);
        break;
    }
}

// Registers of the fragment of a matrix with `elements` in all.
static u32 register_count(u32 elements, u8 type) { return elements / LANES / matrix_elements(type); }

static void multiply_add(Exec *x, const SimInsn *in, u32 mask) {
    const union PlanBits u = {.bits = in->offset};
    const Plan *p = &u.plan;
    MatrixShape s = matrix_shape(p->shape);
    const SimOperand *regs = exec_list(x, in);
    u32 d_count = register_count((u32)s.m * s.n, p->d), c_count = register_count((u32)s.m * s.n, p->c);
    u32 a_count = register_count(s.m * matrix_k(s), p->a), b_count = register_count(s.n * matrix_k(s), p->b);
    // wmma's f16 fragments of A and B always have eight registers.
    u32 a_held = a_count, b_held = b_count;
    if (in->list_count > d_count + a_count + b_count + c_count) a_held = b_held = 8;
    Tile a, b, c;
    Places at_a = places_of(p, MATRIX_A, p->a), at_b = places_of(p, MATRIX_B, p->b);
    Places at_c = places_of(p, MATRIX_C, p->c), at_d = places_of(p, MATRIX_C, p->d);
    gather(x, regs + d_count, a_count, &at_a, &a);
    gather(x, regs + d_count + a_held, b_count, &at_b, &b);
    gather(x, regs + d_count + a_held + b_held, c_count, &at_c, &c);
    multiply(p, &a, &b, &c);
    scatter(x, regs, d_count, &at_d, &c, mask);
}

// mma.m8n8k4 of f16: each quad pair (lanes q, q+4.., 4q..4q+3 and 4q+16..4q+19) multiplies 8x4 by 4x8 matrices of its
// own.
static f32 half_element(const Exec *x, SimOperand reg, u32 lane, u32 e) {
    return f16_to_f32(((const Cell32 *)exec_operand(x, reg))[lane] >> (16 * e) & 0xffff);
}
static u32 quad_lane(u32 pair, u32 index) {
    return pair * 4 + index % 4 + index / 4 * 16;
}  // index 0..7 within the pair
static void quad_element(bool along_k, u32 index, u32 e, u32 *major, u32 *k) {
    *major = along_k ? index : index / 4 * 4 + e;
    *k = along_k ? e : index % 4;
}
static void quad_f32_coord(u32 index, u32 e, u32 *row, u32 *col) {  // lane index of the pair, accumulator of f32
    *row = (index & 1) + (e & 2) + (index >= 4 ? 4 : 0);
    *col = (e & 4) + (index & 2) + (e & 1);
}
enum { QUAD_A_ROW = 1, QUAD_B_COL = 2, QUAD_C_F16 = 4, QUAD_D_F16 = 8 };
static void multiply_quads(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *regs = exec_list(x, in);
    u32 d_count = in->mods & QUAD_D_F16 ? 4 : 8;
    const SimOperand *ra = regs + d_count, *rb = ra + 2, *rc = rb + 2;
    for (u32 pair = 0; pair < 4; pair++) {
        f32 a[8][4], b[4][8], c[8][8];
        u32 row, col, k, lane;
        for (u32 i = 0; i < 8; i++) {
            lane = quad_lane(pair, i);
            for (u32 e = 0; e < 4; e++) {
                quad_element(in->mods & QUAD_A_ROW, i, e, &row, &k);
                a[row][k] = half_element(x, ra[e / 2], lane, e % 2);
                quad_element(in->mods & QUAD_B_COL, i, e, &col, &k);
                b[k][col] = half_element(x, rb[e / 2], lane, e % 2);
            }
            for (u32 e = 0; e < 8; e++) {
                if (in->mods & QUAD_C_F16) {
                    c[i][e] = half_element(x, rc[e / 2], lane, e % 2);
                } else {
                    quad_f32_coord(i, e, &row, &col);
                    c[row][col] = ((const CellF32 *)exec_operand(x, rc[e]))[lane];
                }
            }
        }
        for (row = 0; row < 8; row++)
            for (k = 0; k < 4; k++)
                for (col = 0; col < 8; col++) c[row][col] += a[row][k] * b[k][col];
        for (u32 i = 0; i < 8; i++) {
            lane = quad_lane(pair, i);
            if (!(mask >> lane & 1)) continue;
            for (u32 e = 0; e < 8; e++) {
                if (in->mods & QUAD_D_F16) {
                    if (e % 2) continue;
                    ((Cell32 *)exec_operand(x, regs[e / 2]))[lane] = f16_of_f32(c[i][e]) | f16_of_f32(c[i][e + 1])
                                                                                               << 16;
                } else {
                    quad_f32_coord(i, e, &row, &col);
                    ((CellF32 *)exec_operand(x, regs[e]))[lane] = canonical_f32(c[row][col]);
                }
            }
        }
    }
}

static bool is_supported(const Plan *p, MatrixShape s) {
    static const u8 inputs[] = {TYPE_F16, TYPE_BF16, TYPE_TF32, TYPE_E4M3, TYPE_E5M2, TYPE_F64,
                                TYPE_U8,  TYPE_S8,   TYPE_U4,   TYPE_S4,   TYPE_B1};
    bool known_a = false, known_b = false;
    for (u32 i = 0; i < WL_COUNT(inputs); i++) known_a |= inputs[i] == p->a, known_b |= inputs[i] == p->b;
    u32 span = 4 * matrix_elements(p->a);
    return known_a && known_b && s.m && matrix_k(s) % span == 0 && (p->d != TYPE_F64 || s.n == 8);
}

static ExecFn select_multiply(const ExecShape *shape, SimInsn *in, u8 d, u8 a, u8 b, u8 c) {
    u16 rounding = shape_mod(shape, MOD_RND);
    union PlanBits u = {.bits = 0};
    u.plan = (Plan){.shape = shape_mod(shape, MOD_SHAPE),
                    .a = a,
                    .b = b,
                    .c = c,
                    .d = d,
                    .satfinite = shape_has(shape, MOD_SATFINITE),
                    .bit_and = shape_mod(shape, MOD_MMA_BIT) == MMA_BIT_AND,
                    .rounding = (u8)(rounding == MOD_TOKEN_NONE ? 0 : rounding - RND_RN)};
    if (!is_supported(&u.plan, matrix_shape(u.plan.shape))) return NULL;
    in->offset = u.bits;
    return multiply_add;
}

EXEC_SELECT(mma) {
    const u8 *t = shape->form->types;
    if (shape_mod(shape, MOD_SHAPE) == SHAPE_M8N8K4 && t[1] == TYPE_F16) {
        in->mods = (u16)((shape_mod(shape, MOD_LAYOUT) == LAYOUT_ROW ? QUAD_A_ROW : 0) |
                         (shape_mod(shape, MOD_LAYOUT_B) == LAYOUT_B_COL ? QUAD_B_COL : 0) |
                         (t[3] == TYPE_F16 ? QUAD_C_F16 : 0) | (t[0] == TYPE_F16 ? QUAD_D_F16 : 0));
        return multiply_quads;
    }
    return select_multiply(shape, in, t[0], t[1], t[2], t[3]);
}
EXEC_SELECT(mma_sp) {
    (void)shape, (void)in;
    return NULL;
}
EXEC_SELECT(wmma_mma) {
    const u8 *t = shape->form->types;
    if (shape->form->type_count == 2) return select_multiply(shape, in, t[0], TYPE_F16, TYPE_F16, t[1]);
    return select_multiply(shape, in, t[0], t[1], t[2], t[3]);
}

// movmatrix.trans: an 8x8 matrix of 16-bit elements, transposed.
static void movmatrix_b16(Exec *x, const SimInsn *in, u32 mask) {
    const Cell32 *a = exec_operand(x, in->src[0]);
    Cell32 *d = exec_operand(x, in->dst);
    u32 result[LANES];
    for (u32 l = 0; l < LANES; l++) {
        u32 row = l / 4, col = l % 4 * 2;
        // Element (row, col) comes from (col, row): lane col * 4 + row / 2, half row % 2.
        u32 low = a[col * 4 + row / 2] >> (16 * (row % 2)) & 0xffff,
            high = a[(col + 1) * 4 + row / 2] >> (16 * (row % 2)) & 0xffff;
        result[l] = low | high << 16;
    }
    LANES_SET(mask, Cell32, d, result[l]);
}
EXEC_SELECT(movmatrix) {
    (void)shape, (void)in;
    return movmatrix_b16;
}
