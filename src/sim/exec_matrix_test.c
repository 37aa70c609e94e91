// SPDX-License-Identifier: Apache-2.0
// Matrix fragments: wmma with the repeated elements of its f16 fragments, the selectors of video instructions. (What an
// H200 gives for mma, movmatrix and the other wmma shapes is in exec_gpu_test.c.)
#include "base/testing.h"

#include "sim/exec/matrix.h"
#include "sim/exec_testing.h"
#include "sim/machine.h"
#include "sim/warp.h"

static const ExecSelect *tables[2];
static u32 table_count;
static int find_tables(void **state) {
    (void)state;
    tables[table_count++] = exec_table_base;
#if SIM_HAS_V3
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables[table_count++] = exec_table_v3;
#endif
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
            // 0x44 + b's byte 3, 0xfe + b's byte 1; and -2 + 0x0304
            assert_int_equal(t.r32[3][9], scalar ? 0x0302ccdd : 0xaa01cc45);
            assert_int_equal(t.r32[3][8], 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wmma_f16_multiplies),
        cmocka_unit_test(fragments_cover_their_matrices),
        cmocka_unit_test(video_selectors),
    };
    return cmocka_run_group_tests(tests, find_tables, NULL);
}
