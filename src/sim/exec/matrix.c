// SPDX-License-Identifier: Apache-2.0
// mma.sync, mma.sp, wmma.mma and movmatrix (PTX ISA 9.0, 9.7.14): fragments in registers are put together to rows of A,
// columns of B and eight columns each of C; matrix_sum.c multiplies.
#include "sim/exec/matrix.h"
#include "sim/exec/half.h"
#include "sim/exec/matrix_fragment.h"
#include "sim/exec/matrix_sum.h"
#include <string.h>

typedef struct Plan {  // in SimInsn.offset
    u16 shape;
    u8 a, b, c, d;    // PtxTypes
    u8 rounding : 2;  // of f64: RND_* minus RND_RN
    u8 satfinite : 1, bit_and : 1, sparse : 1, wmma : 1;
} Plan;
union PlanBits {
    Plan plan;
    i64 bits;
};

static bool is_fp8(u8 type) { return type == TYPE_E4M3 || type == TYPE_E5M2; }
// C and D of different types: C is converted before the multiplication, D after it, which are in f32.
static bool is_mixed(const Plan *p) { return p->c != p->d; }

// Sums measured on an H200. All products of k are summed at once, except: tf32 in wmma by fours; 8-bit elements, which
// are converted to f16, in two halves (see widen), without C, which is added at the end as by add.f32 or add.f16.
static MatrixRule rule_of(const Plan *p, MatrixShape s) {
    u32 k = matrix_k(s);
    MatrixRule rule = {.a = p->a,
                       .b = p->b,
                       .c = p->c,
                       .d = p->d,
                       .m = s.m,
                       .k = (u16)k,
                       .fraction = 25,
                       .group = (u8)k,
                       .rounding = p->rounding,
                       .satfinite = p->satfinite,
                       .bit_and = p->bit_and};
    if (is_mixed(p)) rule.c = rule.d = TYPE_F32;
    if (p->wmma && p->a == TYPE_TF32) rule.group = 4;
    if (is_fp8(p->a)) rule.a = rule.b = TYPE_F16, rule.group = (u8)(k / 2);
    return rule;
}

// --- steps of a multiplication --------------------------------------------------------------------------------------
static void halves_of_fp8(u8 type, u32 count, const u8 *packed, u16 *halves) {
    if (type == TYPE_E5M2) {
        for (u32 i = 0; i < count; i++) halves[i] = (u16)(packed[i] << 8);
        return;
    }
    for (u32 i = 0; i < count; i++) {
        u32 magnitude = packed[i] & 0x7f, sign = (u32)(packed[i] & 0x80) << 8;
        // In f32 the multiplication moves the exponent's bias; f16 has all of them as normal numbers.
        u32 bits = bits_of_f32(f32_of_bits(magnitude << 20) * 0x1p120f);
        u32 half = magnitude ? (bits >> 13) - (112 << 10) : 0;
        halves[i] = (u16)(magnitude == 0x7f ? NAN_BITS_HALF : half | sign);
    }
}

// fp8 to f16. The first halves of all runs come first: of two elements, or, when A is sparse, of four.
static void widen(Panel *panel, u32 rows, u8 type, u32 k, u32 run) {
    u32 bytes = run * 2;
    for (u32 row = 0; row < rows; row++) {
        u16 halves[PANEL_BYTES / 2];
        u8 *first = panel->row[row], *second = first + k;
        halves_of_fp8(type, k, panel->row[row], halves);
        for (u32 i = 0; i < k; i += 2 * run, first += bytes, second += bytes) {
            memcpy(first, halves + i, bytes);
            memcpy(second, halves + i + run, bytes);
        }
    }
}
static u32 widened_place(u32 i, u32 k, u32 run) { return i / run % 2 * (k / 2) + i / run / 2 * run + i % run; }
static void widen_present(u64 *present, u32 rows, u32 k, u32 run) {
    for (u32 row = 0; row < rows; row++) {
        u64 moved = 0;
        for (u32 i = 0; i < k; i++) moved |= (present[row] >> i & 1) << widened_place(i, k, run);
        present[row] = moved;
    }
}

#define EACH_ELEMENT(statement)                       \
    for (u32 t = 0; t < columns / 8; t++)             \
        for (u32 row = 0; row < rows; row++)          \
            for (u32 col = 0; col < 8; col++) {       \
                u32 *element = &tiles[t].u[row][col]; \
                statement;                            \
            }
static void convert_tiles(MatrixTile *tiles, u32 rows, u32 columns, bool to_f32) {
    if (to_f32)
        EACH_ELEMENT(*element = bits_of_f32(f16_to_f32(*element)))
    else
        EACH_ELEMENT(*element = f16_of_f32(f32_of_bits(*element)))
}
// tiles += late, in f32, or in f16: an f32 has enough bits to round the sum of two f16 twice.
static void add_tiles(MatrixTile *tiles, const MatrixTile *late, u8 type, u32 rows, u32 columns) {
    if (type == TYPE_F16)
        EACH_ELEMENT(*element = f16_of_f32(f16_to_f32(*element) + f16_to_f32(late[t].u[row][col])))
    else
        EACH_ELEMENT(*element = bits_of_f32(canonical_f32(f32_of_bits(*element) + f32_of_bits(late[t].u[row][col]))))
}

// --- mma.sync, mma.sp, wmma.mma -------------------------------------------------------------------------------------
static void multiply_panels(const Plan *p, MatrixShape s, const Panel *a, const u64 *present, const Panel *b,
                            MatrixTile *tiles) {
    MatrixRule rule = rule_of(p, s);
    MatrixRows rows;
    MatrixTile late[PANEL_ROWS / 8];
    bool adds_late = is_fp8(p->a);
    if (adds_late) memcpy(late, tiles, s.n / 8 * sizeof *tiles), memset(tiles, 0, s.n / 8 * sizeof *tiles);
    if (is_mixed(p) && p->c == TYPE_F16) convert_tiles(tiles, s.m, s.n, true);
    matrix_decode_rows(&rule, a, present, &rows);
    for (u32 t = 0; t < s.n / 8u; t++) matrix_multiply(&rule, &rows, b->row + 8 * t, &tiles[t]);
    if (is_mixed(p) && p->d == TYPE_F16) convert_tiles(tiles, s.m, s.n, false);
    if (adds_late) add_tiles(tiles, late, p->d, s.m, s.n);
}

static void multiply_add(Exec *x, const SimInsn *in, u32 mask) {
    const union PlanBits u = {.bits = in->offset};
    const Plan *p = &u.plan;
    MatrixShape s = matrix_shape(p->shape), stored = s;
    const SimOperand *regs = exec_list(x, in);
    u32 k = matrix_k(s);
    if (p->sparse) stored.k = (u8)(k / 2);
    u32 d_count = matrix_register_count((u32)s.m * s.n, p->d), c_count = matrix_register_count((u32)s.m * s.n, p->c);
    u32 a_count = matrix_register_count(s.m * matrix_k(stored), p->a), b_count = matrix_register_count(s.n * k, p->b);
    // wmma's f16 fragments of A and B always have eight registers, where those beyond the matrix repeat earlier ones.
    u32 a_held = p->wmma && p->a == TYPE_F16 ? 8 : a_count, b_held = p->wmma && p->b == TYPE_F16 ? 8 : b_count;
    const SimOperand *ra = regs + d_count, *rb = ra + a_held, *rc = rb + b_held;
    Panel a, b, all;
    u64 present[PANEL_ROWS];
    MatrixTile tiles[PANEL_ROWS / 8];
    matrix_gather_panel(x, ra, a_count, stored, MATRIX_A, p->a, p->sparse ? &all : &a);
    if (p->sparse) {
        u32 selector = *(const u32 *)exec_operand(x, rc[c_count]);
        if (!matrix_expand(x, exec_operand(x, in->src[0]), selector, p->a, k, &all, &a, present)) return;
    }
    matrix_gather_panel(x, rb, b_count, s, MATRIX_B, p->b, &b);
    if (is_fp8(p->a)) {
        u32 run = p->sparse ? 4 : 2;
        widen(&a, s.m, p->a, k, run);
        widen(&b, s.n, p->b, k, run);
        if (p->sparse) widen_present(present, s.m, k, run);
    }
    matrix_gather_sums(x, rc, c_count, s, p->c, tiles);
    multiply_panels(p, s, &a, p->sparse ? present : NULL, &b, tiles);
    matrix_scatter_sums(x, regs, d_count, s, p->d, tiles, mask);
}

// --- mma.m8n8k4 of f16: each quad pair (lanes 4q..4q+3 and 4q+16..4q+19) multiplies matrices of its own -------------
// No tensor core does it any more: products are added in f32, each sum rounded; where the result is f32 one after the
// other and the accumulator last, where it is f16 in pairs (measured on an H200).
typedef struct Quad {
    f32 a[8][4], b[4][8], c[8][8];
} Quad;

static f32 half_element(const Exec *x, SimOperand reg, u32 lane, u32 e) {
    return f16_to_f32(((const u32 *)exec_operand(x, reg))[lane] >> (16 * e) & 0xffff);
}
static u32 quad_lane(u32 pair, u32 index) { return pair * 4 + index % 4 + index / 4 * 16; }  // index 0..7 in the pair
static void quad_element(bool along_k, u32 index, u32 e, u32 *major, u32 *k) {
    *major = along_k ? index : index / 4 * 4 + e;
    *k = along_k ? e : index % 4;
}
static void quad_f32_coord(u32 index, u32 e, u32 *row, u32 *col) {  // accumulator of f32
    *row = (index & 1) + (e & 2) + (index >= 4 ? 4 : 0);
    *col = (e & 4) + (index & 2) + (e & 1);
}
enum { QUAD_A_ROW = 1, QUAD_B_COL = 2, QUAD_C_F16 = 4, QUAD_D_F16 = 8 };

static void gather_quad(const Exec *x, const SimInsn *in, const SimOperand *regs, u32 pair, Quad *q) {
    u32 row, col, k;
    for (u32 i = 0; i < 8; i++) {
        u32 lane = quad_lane(pair, i);
        for (u32 e = 0; e < 4; e++) {
            quad_element(in->mods & QUAD_A_ROW, i, e, &row, &k);
            q->a[row][k] = half_element(x, regs[e / 2], lane, e % 2);
            quad_element(in->mods & QUAD_B_COL, i, e, &col, &k);
            q->b[k][col] = half_element(x, regs[2 + e / 2], lane, e % 2);
        }
        for (u32 e = 0; e < 8; e++) {
            quad_f32_coord(i, e, &row, &col);
            if (in->mods & QUAD_C_F16)
                q->c[i][e] = half_element(x, regs[4 + e / 2], lane, e % 2);
            else
                q->c[row][col] = f32_of_bits(((const u32 *)exec_operand(x, regs[4 + e]))[lane]);
        }
    }
}

static void multiply_quad(Quad *q, bool in_pairs) {
    for (u32 row = 0; row < 8; row++)
        for (u32 col = 0; col < 8; col++) {
            f32 p[4], c = q->c[row][col], sum = 0;
            for (u32 k = 0; k < 4; k++) p[k] = q->a[row][k] * q->b[k][col];  // exact
            for (u32 k = 0; k < 4; k++) sum += p[k];
            q->c[row][col] = canonical_f32(in_pairs ? (c + (p[0] + p[1])) + (p[2] + p[3]) : sum + c);
        }
}

static void multiply_quads(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *regs = exec_list(x, in);
    bool halves = in->mods & QUAD_D_F16;
    for (u32 pair = 0; pair < 4; pair++) {
        Quad q;
        u32 row, col;
        gather_quad(x, in, regs + (halves ? 4 : 8), pair, &q);
        multiply_quad(&q, halves);
        for (u32 i = 0; i < 8; i++) {
            u32 lane = quad_lane(pair, i);
            if (!(mask >> lane & 1)) continue;
            for (u32 e = 0; e < 8; e++) {
                quad_f32_coord(i, e, &row, &col);
                if (!halves)
                    ((u32 *)exec_operand(x, regs[e]))[lane] = bits_of_f32(q.c[row][col]);
                else if (e % 2 == 0)
                    ((u32 *)exec_operand(x, regs[e / 2]))[lane] = f16_of_f32(q.c[i][e]) | f16_of_f32(q.c[i][e + 1])
                                                                                              << 16;
            }
        }
    }
}

static bool is_supported(const Plan *p, MatrixShape s) {
    static const u8 inputs[] = {TYPE_F16, TYPE_BF16, TYPE_TF32, TYPE_E4M3, TYPE_E5M2, TYPE_F64,
                                TYPE_U8,  TYPE_S8,   TYPE_U4,   TYPE_S4,   TYPE_B1};
    bool known_a = false, known_b = false;
    for (u32 i = 0; i < WL_COUNT(inputs); i++) known_a |= inputs[i] == p->a, known_b |= inputs[i] == p->b;
    u32 span = 4 * matrix_elements(p->a) * (p->sparse ? 2 : 1);
    return known_a && known_b && s.m && matrix_k(s) % span == 0 && (p->d != TYPE_F64 || s.n == 8);
}

// Types of D, A, B, C.
static ExecFn select_multiply(const ExecShape *shape, SimInsn *in, const u8 types[4], bool wmma, bool sparse) {
    u16 rounding = shape_mod(shape, MOD_RND);
    union PlanBits u = {.bits = 0};
    u.plan = (Plan){.shape = shape_mod(shape, MOD_SHAPE),
                    .d = types[0],
                    .a = types[1],
                    .b = types[2],
                    .c = types[3],
                    .satfinite = shape_has(shape, MOD_SATFINITE),
                    .bit_and = shape_mod(shape, MOD_MMA_BIT) == MMA_BIT_AND,
                    .rounding = rounding == MOD_TOKEN_NONE ? 0 : (rounding - RND_RN) & 3,
                    .wmma = wmma,
                    .sparse = sparse};
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
    return select_multiply(shape, in, t, false, false);
}
EXEC_SELECT(mma_sp) { return select_multiply(shape, in, shape->form->types, false, true); }
EXEC_SELECT(wmma_mma) {
    const u8 *t = shape->form->types, halves[4] = {t[0], TYPE_F16, TYPE_F16, t[1]};
    return select_multiply(shape, in, shape->form->type_count == 2 ? halves : t, true, false);
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
