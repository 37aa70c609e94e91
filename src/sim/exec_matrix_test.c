// SPDX-License-Identifier: Apache-2.0
// Matrix fragments: wmma with the repeated elements of its f16 fragments, the selectors of video instructions. (What an
// H200 gives for mma, movmatrix and the other wmma shapes is in exec_gpu_test.c.)
#include "base/testing.h"

#include "sim/exec/matrix.h"
#include "sim/exec_testing.h"
#include "sim/machine.h"
#include "sim/matrix_cases.h"
#include "sim/warp.h"

static const ExecSelect *tables[2];
static u32 table_count;
static int find_tables(void **state) {
    (void)state;
    table_count = testing_tables(tables);
    return 0;
}

static TestFrame t;

static u32 half_of(i32 n) {  // a small integer as f16
    if (!n) return 0;
    u32 a = (u32)(n < 0 ? -n : n), top = 31 - (u32)__builtin_clz(a);
    return (n < 0 ? 0x8000u : 0) | (top + 15) << 10 | ((a << 10 >> top) & 0x3ff);
}
static i32 value_at(u32 row, u32 col, u32 salt) { return (i32)((row * 7 + col * 3 + salt) % 9) - 4; }

TEST(wmma_f16_multiplies) {
    static const struct {
        const char *name;
        u16 shape;
    } cases[] = {
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", SHAPE_M16N16K16},
        {"wmma.mma.sync.aligned.col.row.m32n8k16.f32.f32", SHAPE_M32N8K16},
        {"wmma.mma.sync.aligned.row.row.m8n32k16.f32.f32", SHAPE_M8N32K16},
    };
    for (u32 k = 0; k < table_count; k++) {
        for (u32 n = 0; n < WL_COUNT(cases); n++) {
            Form form;
            SimInsn in;
            SimOperand list[32];
            SimProgram program = {.lists = list};
            Grid grid = {.program = &program};
            assert_true(testing_form(cases[n].name, &form));
            testing_insn(&form, &in);
            in.list_count = 32;  // d, a, b, c: eight registers each
            for (u32 i = 0; i < 32; i++) list[i] = r32_operand(i);
            ExecFn fn = tables[k][form.op](&(ExecShape){.form = &form}, &in);
            assert_non_null(fn);
            testing_frame(&t);
            t.x.grid = &grid;
            u32 row, col;
            for (u32 l = 0; l < LANES; l++) {
                for (u32 e = 0; e < 16; e++) {
                    wmma_fragment_coord(cases[n].shape, MATRIX_A, TYPE_F16, l, e, &row, &col);
                    t.r32[8 + e / 2][l] |= half_of(value_at(row, col, 1)) << (e % 2 * 16);
                    wmma_fragment_coord(cases[n].shape, MATRIX_B, TYPE_F16, l, e, &row, &col);
                    t.r32[16 + e / 2][l] |= half_of(value_at(row, col, 5)) << (e % 2 * 16);
                }
                for (u32 e = 0; e < 8; e++) {
                    wmma_fragment_coord(cases[n].shape, MATRIX_C, TYPE_F32, l, e, &row, &col);
                    f32 c = (f32)value_at(row, col, 2);
                    memcpy(&t.r32[24 + e][l], &c, 4);
                }
            }
            fn(&t.x, &in, FULL_MASK);
            for (u32 l = 0; l < LANES; l++) {
                for (u32 e = 0; e < 8; e++) {
                    wmma_fragment_coord(cases[n].shape, MATRIX_C, TYPE_F32, l, e, &row, &col);
                    i32 want = value_at(row, col, 2);
                    for (u32 i = 0; i < 16; i++) want += value_at(row, i, 1) * value_at(i, col, 5);
                    f32 got;
                    memcpy(&got, &t.r32[e][l], 4);
                    assert_true(got == (f32)want);
                }
            }
        }
    }
}

// Every element of every matrix is held by some lane.
TEST(fragments_cover_their_matrices) {
    static const struct {
        u16 shape;
        u8 type;
    } cases[] = {{SHAPE_M16N16K16, TYPE_F16}, {SHAPE_M32N8K16, TYPE_BF16}, {SHAPE_M8N32K16, TYPE_U8},
                 {SHAPE_M16N16K8, TYPE_TF32}, {SHAPE_M8N8K4, TYPE_F64},    {SHAPE_M8N8K32, TYPE_S4},
                 {SHAPE_M8N8K128, TYPE_B1},   {SHAPE_M16N8K256, TYPE_B1},  {SHAPE_M16N8K64, TYPE_U4},
                 {SHAPE_M16N8K16, TYPE_F64},  {SHAPE_M16N8K32, TYPE_E4M3}};
    for (u32 n = 0; n < WL_COUNT(cases); n++) {
        MatrixShape s = matrix_shape(cases[n].shape);
        for (u32 role = MATRIX_A; role <= MATRIX_C; role++) {
            u8 type = role == MATRIX_C ? TYPE_F32 : cases[n].type;
            u32 rows = role == MATRIX_B ? matrix_k(s) : s.m, cols = role == MATRIX_A ? matrix_k(s) : s.n, seen = 0;
            static bool held[4096];
            memset(held, 0, sizeof held);
            for (u32 l = 0; l < LANES; l++) {
                for (u32 e = 0; e < rows * cols / LANES; e++) {
                    u32 row, col;
                    wmma_fragment_coord(cases[n].shape, (MatrixRole)role, type, l, e, &row, &col);
                    assert_true(row < rows && col < cols);
                    seen += !held[row * cols + col];
                    held[row * cols + col] = true;
                }
            }
            assert_int_equal(seen, rows * cols);
        }
    }
}

// --- against an H200 ------------------------------------------------------------------------------------------------
enum { SELECTOR_REG = 250, LITERAL_REG = 251, MANY_REGS = 256 };
static _Alignas(64) u32 many32[MANY_REGS][LANES];
static _Alignas(64) u64 many64[64][LANES];

typedef struct TensorCode {
    TensorForm f;
    SimInsn insn;
    SimOperand list[MANY_REGS];
    ExecFn fn;
} TensorCode;

// D in registers from 0 (wgmma: C too), then A, B, C.
static bool tensor_select(const TensorCase *c, const ExecSelect *table, TensorCode *code) {
    memset(code, 0, sizeof *code);
    if (!tensor_form(c, &code->f)) return false;
    const TensorForm *f = &code->f;
    SimInsn *in = &code->insn;
    u32 reg = 0;
    testing_insn(&f->form, in);
    for (u32 role = 0; role < (f->wgmma ? 2u : 4u); role++)
        for (u32 r = 0; r < f->count[role]; r++, reg++)
            code->list[in->list_count++] = f->width[role] == 2 ? r64_operand(reg) : r32_operand(reg);
    u32 next = 0;
    if (c->flags & A_IN_MEMORY) in->src[next++] = r64_operand(62);
    if (f->wgmma) in->src[next++] = r64_operand(63), in->pred_src = 4;
    if (f->sparse) in->src[next] = r32_operand(reg), code->list[in->list_count++] = r32_operand(SELECTOR_REG);
    u32 literals = !f->wgmma || f->type[0] == TYPE_S32 ? 0
                   : ptx_types[f->type[1]].bits != 16  ? 2
                   : c->flags & A_IN_MEMORY            ? 4
                                                       : 3;
    for (u32 i = 0; i < literals; i++) code->list[in->list_count++] = r32_operand(LITERAL_REG + i);
    code->fn = table[f->form.op](&(ExecShape){.form = &f->form}, in);
    return code->fn != NULL;
}

static void tensor_set_literals(const TensorCase *c) {
    u32 last = LITERAL_REG + (c->flags & A_IN_MEMORY ? 3 : 2);
    for (u32 l = 0; l < LANES; l++) {
        many32[SELECTOR_REG][l] = c->selector;
        many32[LITERAL_REG][l] = c->flags & NEGATIVE_A ? (u32)-1 : 1;
        many32[LITERAL_REG + 1][l] = 1;
        many32[LITERAL_REG + 2][l] = (c->flags & ACROSS_A) != 0;
        many32[last][l] = (c->flags & ACROSS_B) != 0;
    }
}

// Warp `warp` of a unit.
static void tensor_run(const TensorCode *code, const TensorUnit *u, u32 warp, Exec *x, u32 results[][TENSOR_THREADS]) {
    const TensorForm *f = &code->f;
    u32 row = 0, reg = f->wgmma ? 0 : f->count[0], first = warp * LANES;
    for (u32 l = 0; l < LANES; l++) many64[62][l] = u->descriptor[0], many64[63][l] = u->descriptor[1];
    for (u32 role = 1; role < 5; role++) {
        if (f->wgmma && role == 1) reg = f->count[0];
        u32 at = reg, count = role == 4 ? f->sparse : f->count[role];
        if (f->wgmma && role == 3) at = 0;
        for (u32 r = 0; r < count; r++, at++) {
            u32 width = role == 4 ? 1 : f->width[role];
            for (u32 l = 0; l < LANES; l++) {
                many32[at][l] = u->rows[row][first + l];
                if (width == 2) many64[at][l] = u->rows[row][l] | (u64)u->rows[row + 1][l] << 32;
            }
            row += width;
        }
        if (at > reg) reg = at;
    }
    code->fn(x, &code->insn, FULL_MASK);
    for (u32 r = 0; r < f->count[0]; r++)
        for (u32 l = 0; l < LANES; l++) {
            u64 value = f->width[0] == 2 ? many64[r][l] : many32[r][l];
            results[r * f->width[0]][first + l] = (u32)value;
            if (f->width[0] == 2) results[2 * r + 1][first + l] = (u32)(value >> 32);
        }
}

static u64 tensor_hash_of(const TensorCase *c, const TensorCode *code) {
    static TensorUnit unit;
    static u32 results[TENSOR_ROWS][TENSOR_THREADS];
    SimProgram program = {.lists = (u32 *)code->list};
    Grid grid = {.program = &program};
    u32 preds[16] = {0};
    u64 hash = 0;
    tensor_set_literals(c);
    for (u32 n = 0; n < TENSOR_UNITS; n++) {
        tensor_unit(c, &code->f, n, &unit);
        preds[4] = unit.adds ? FULL_MASK : 0;
        for (u32 w = 0; w < code->f.threads / LANES; w++) {
            Warp warp = {.index = w};
            PcCounters counted = {0};
            Exec x = {.count = &counted,
                      .base = {(u8 *)many32, (u8 *)many64},
                      .pred = preds,
                      .grid = &grid,
                      .warp = &warp,
                      .shared = (u8 *)unit.image,
                      .shared_size = code->f.image};
            tensor_run(code, &unit, w, &x, results);
            assert_int_equal(x.fault.kind, FAULT_NONE);
        }
        hash = tensor_hash(hash, &code->f, results);
    }
    return hash;
}

TEST(sums_are_those_of_an_h200) {
    u32 wrong = 0;
    static TensorCode code;
    for (u32 i = 0; i < WL_COUNT(matrix_cases); i++) {
        const TensorCase *c = &matrix_cases[i];
        for (u32 k = 0; k < table_count; k++) {
            bool found = tensor_select(c, tables[k], &code);
            u64 hash = found ? tensor_hash_of(c, &code) : 0;
            if (found && hash == c->hash) continue;
            print_error("%s %u %u: %s (%s) %llx\n", c->mnemonic, c->selector, c->flags,
                        found ? "not what the GPU gave" : "not executable", k ? "v3" : "base",
                        (unsigned long long)hash);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

// vadd4.u32.u32.u32 d.b20, a.b3210, b.b0123, c and vadd.s32.s32.u32 d.h1, a.b2, b.h0, c
TEST(video_selectors) {
    Module m = {0};
    Operand operands[4] = {{.kind = OPERAND_REG, .component = COMPONENT_BYTES, .value = 0x20 | 2ull << 32},
                           {.kind = OPERAND_REG, .component = COMPONENT_BYTES, .value = 0x3210 | 4ull << 32},
                           {.kind = OPERAND_REG, .component = COMPONENT_BYTES, .value = 0x4567 | 4ull << 32},
                           {.kind = OPERAND_REG}};
    Insn insn = {.operands = 4};
    m.operands = operands;
    for (u32 k = 0; k < table_count; k++) {
        Form form;
        SimInsn in;
        ExecShape shape = {.form = &form, .insn = &insn, .module = &m};
        for (u32 scalar = 0; scalar < 2; scalar++) {
            assert_true(testing_form(scalar ? "vadd.s32.s32.u32" : "vadd4.u32.u32.u32", &form));
            operands[0].component = scalar ? COMPONENT_H1 : COMPONENT_BYTES;
            operands[1].component = scalar ? COMPONENT_B2 : COMPONENT_BYTES;
            operands[2].component = scalar ? COMPONENT_H0 : COMPONENT_BYTES;
            testing_insn(&form, &in);
            testing_frame(&t);
            in.dst = r32_operand(3);
            for (u32 r = 0; r < 3; r++) in.src[r] = r32_operand(r);
            ExecFn fn = tables[k][form.op](&shape, &in);
            assert_non_null(fn);
            t.r32[0][9] = 0x11fe3344, t.r32[1][9] = 0x01020304, t.r32[2][9] = 0xaabbccdd;
            fn(&t.x, &in, 1u << 9);
            // 0x44 + b's byte 3, 0xfe + b's byte 1; and -2 + 0x0304, of which h1 gets the upper half
            assert_int_equal(t.r32[3][9], scalar ? 0x0000ccdd : 0xaa01cc45);
            assert_int_equal(t.r32[3][8], 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wmma_f16_multiplies),
        cmocka_unit_test(fragments_cover_their_matrices),
        cmocka_unit_test(sums_are_those_of_an_h200),
        cmocka_unit_test(video_selectors),
    };
    return cmocka_run_group_tests(tests, find_tables, NULL);
}
