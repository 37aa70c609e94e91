// SPDX-License-Identifier: Apache-2.0
// Sums take products where ptxas 13.0 -O3 makes FFMA, DFMA or HFMA2 for sm_90, and nowhere else. Each row: what is
// written, and the same with every rounding named, as the machine code of it has it. A, B, C, D are loaded, X and Y
// stored; T is the type.
#include "sim/device_testing.h"

typedef struct Row {
    const char *written, *named;
} Row;

static const Row rows[] = {
    {"mul.T %a5, A, B; add.T X, %a5, C;", "fma.rn.T X, A, B, C;"},
    {"mul.T %a5, A, B; add.T X, C, %a5;", "fma.rn.T X, A, B, C;"},
    {"mul.T %a5, A, B; sub.T X, %a5, C;", "neg.T %a5, C; fma.rn.T X, A, B, %a5;"},
    {"mul.T %a5, A, B; sub.T X, C, %a5;", "neg.T %a5, A; fma.rn.T X, %a5, B, C;"},
    // Readers that are sums take the product, all of them or none.
    {"mul.T %a5, A, B; add.T X, %a5, C; sub.T Y, %a5, D;", "neg.T %a5, D; fma.rn.T X, A, B, C; fma.rn.T Y, A, B, %a5;"},
    {"mul.T %a5, A, B; add.T X, %a5, C; mov.b_ Y, %a5;", "mul.rn.T %a5, A, B; add.rn.T X, %a5, C; mov.b_ Y, %a5;"},
    {"mul.T %a5, A, B; add.T X, %a5, C; mul.T Y, %a5, D;",
     "mul.rn.T %a5, A, B; add.rn.T X, %a5, C; mul.rn.T Y, %a5, D;"},
    {"mul.T %a5, A, B; add.T X, %a5, C; fma.rn.T Y, A, D, %a5;",
     "mul.rn.T %a5, A, B; add.rn.T X, %a5, C; fma.rn.T Y, A, D, %a5;"},
    {"mul.T %a5, A, B; add.T X, %a5, %a5;", "mul.rn.T %a5, A, B; add.rn.T X, %a5, %a5;"},
    // Of two products: the first; that of fewer readers.
    {"mul.T %a5, A, B; mul.T %a6, C, D; add.T X, %a5, %a6; sub.T Y, %a5, %a6;",
     "mul.rn.T %a6, C, D; fma.rn.T X, A, B, %a6; neg.T %a6, %a6; fma.rn.T Y, A, B, %a6;"},
    {"mul.T %a5, A, B; mul.T %a6, C, D; add.T X, %a6, %a5;", "mul.rn.T %a5, A, B; fma.rn.T X, C, D, %a5;"},
    {"mul.T %a5, A, B; mul.T %a6, C, D; add.T Y, %a5, C; add.T X, %a5, %a6;",
     "mul.rn.T %a5, A, B; fma.rn.T X, C, D, %a5; add.rn.T Y, %a5, C;"},
    // A sum's sum; a product's product.
    {"mul.T %a5, A, B; add.T %a6, %a5, C; mul.T %a7, A, D; add.T X, %a7, %a6;",
     "fma.rn.T %a6, A, B, C; fma.rn.T X, A, D, %a6;"},
    {"mul.T %a5, A, B; mul.T %a6, %a5, D; add.T X, %a6, C;", "mul.rn.T %a5, A, B; fma.rn.T X, %a5, D, C;"},
    // Named roundings, another block, a guarded product are left as they are; a guarded sum takes its product.
    {"mul.rn.T %a5, A, B; add.T X, %a5, C;", "mul.rn.T %a5, A, B; add.rn.T X, %a5, C;"},
    {"mul.T %a5, A, B; add.rn.T X, %a5, C;", "mul.rn.T %a5, A, B; add.rn.T X, %a5, C;"},
    {"mul.T %a5, A, B; @%p1 bra L; add.T X, %a5, C; L:", "mul.rn.T %a5, A, B; @%p1 bra L; add.rn.T X, %a5, C; L:"},
    {"mul.T %a5, A, B; @%p1 bra L; mul.T X, C, %a5; L:", "mul.rn.T %a5, A, B; @%p1 bra L; mul.rn.T X, C, %a5; L:"},
    {"mov.b_ %a5, D; @%p1 mul.T %a5, A, B; add.T X, %a5, C;",
     "mov.b_ %a5, D; @%p1 mul.rn.T %a5, A, B; add.rn.T X, %a5, C;"},
    {"mul.T %a5, A, B; @%p1 add.T X, %a5, C;", "@%p1 fma.rn.T X, A, B, C;"},
    {"mul.T %a5, A, B; @%p1 add.T X, C, %a5; bar.sync 0; ld.global.b_ %a7, [%d1]; @%p1 sub.T Y, %a7, %a5;",
     "@%p1 fma.rn.T X, A, B, C; neg.T %a5, A; @%p1 fma.rn.T Y, %a5, B, A;"},
};

// Kernels 0 and 1: as written, and with roundings named. In place of T the type, of b_ the bits, of A ... Y registers.
static void append(char *text, const char *body, const char *type, u32 bits) {
    char *at = text + strlen(text);
    for (const char *c = body; *c; c++) {
        if (*c >= 'A' && *c <= 'D')
            at += sprintf(at, "%%a%c", *c - 'A' + '1');
        else if (*c == 'X' || *c == 'Y')
            at += sprintf(at, "%%a%c", *c - 'X' + '8');
        else if (*c == 'T')
            at += sprintf(at, "%s", type);
        else if (*c == '_')
            at += sprintf(at, "%u", bits);
        else
            *at++ = *c;
    }
    *at = 0;
}

static void write_kernel(char *text, u32 kernel, const char *body, const char *type, u32 bits) {
    char line[512];
    sprintf(text + strlen(text),
            ".visible .entry k%u(.param .u64 in, .param .u64 out) {\n.reg .b%u %%a<10>; .reg .b64 %%d<5>; .reg .b32 "
            "%%r<3>; .reg .pred %%p<3>;\nld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [out]; mov.u32 %%r1, %%tid.x;\n"
            "mul.wide.u32 %%d3, %%r1, 32; add.u64 %%d1, %%d1, %%d3; mul.wide.u32 %%d3, %%r1, 16; add.u64 %%d2, %%d2, "
            "%%d3; setp.gt.u32 %%p1, %%r1, 40;\n",
            kernel, bits);
    for (u32 k = 0; k < 4; k++) sprintf(text + strlen(text), "ld.global.b%u %%a%u, [%%d1+%u];\n", bits, k + 1, 8 * k);
    sprintf(line, "mov.b%u %%a8, 0; mov.b%u %%a9, 0;\n", bits, bits);
    strcat(text, line);
    append(text, body, type, bits);
    for (u32 k = 0; k < 2; k++) sprintf(text + strlen(text), "\nst.global.b%u [%%d2+%u], %%a%u;", bits, 8 * k, k + 8);
    strcat(text, "\nret;\n}\n");
}

enum { THREADS = 256 };

static u64 random_bits(u32 i, u32 bits, bool wide_range) {
    u64 z = (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    if (wide_range) return z;
    if (bits == 64) return (z & 0x800fffffffffffffull) | 0x3ff0000000000000ull;
    if (bits == 32) return (z & 0x807fffff) | 0x3f800000;
    return (z & 0x83ff) | 0x3c00;
}

// The results of one kernel.
static void run_kernel(const char *text, const char *name, u32 bits, u64 results[THREADS][2]) {
    static u64 in[THREADS][4];
    for (u32 i = 0; i < THREADS * 4; i++) in[i / 4][i % 4] = random_bits(i, bits, i / 4 >= THREADS / 2);
    TestDevice d;
    device_open(&d, text);
    struct {
        u64 in, out;
    } params = {device_memory(&d, in, sizeof in), device_memory(&d, NULL, sizeof(u64) * THREADS * 2)};
    device_run(&d, name, 1, THREADS, &params);
    memcpy(results, device_view(&d, params.out, sizeof(u64) * THREADS * 2), sizeof(u64) * THREADS * 2);
    device_close(&d);
}

static void check_row(const Row *row, const char *type, u32 bits) {
    static u64 written[THREADS][2], named[THREADS][2];
    static char text[8192];
    strcpy(text, PTX_HEAD);
    write_kernel(text, 0, row->written, type, bits);
    write_kernel(text, 1, row->named, type, bits);
    run_kernel(text, "k0", bits, written);
    run_kernel(text, "k1", bits, named);
    for (u32 i = 0; i < THREADS; i++)
        for (u32 k = 0; k < 2; k++)
            if (written[i][k] != named[i][k])
                fail_msg("%s: `%s` gives %llx in thread %u, `%s` %llx", type, row->written,
                         (unsigned long long)written[i][k], i, row->named, (unsigned long long)named[i][k]);
}

TEST(single_precision) {
    for (u32 k = 0; k < WL_COUNT(rows); k++) check_row(&rows[k], "f32", 32);
}
TEST(double_precision) {
    for (u32 k = 0; k < WL_COUNT(rows); k++) check_row(&rows[k], "f64", 64);
}
TEST(halves) {
    for (u32 k = 0; k < WL_COUNT(rows); k++) {
        check_row(&rows[k], "f16", 16);
        check_row(&rows[k], "f16x2", 32);
        check_row(&rows[k], "bf16", 16);
        check_row(&rows[k], "bf16x2", 32);
    }
}

// Products by a constant are taken in other blocks, too, also by sums of a loop in which a factor is not used
// otherwise.
TEST(constants) {
    static const Row f32s[] = {
        {"mul.T %a5, A, 0f40490F33; @%p1 bra L; add.T X, %a5, C; L:", "@!%p1 fma.rn.T X, A, 0f40490F33, C;"},
        {"mov.T %a6, 0f40490F33; mul.T %a5, %a6, A; @%p1 bra L; sub.T X, C, %a5; bra M; L: add.T Y, D, %a5; M:",
         "mov.T %a6, 0f40490F33; neg.T %a7, %a6; @%p1 fma.rn.T Y, A, %a6, D; @!%p1 fma.rn.T X, A, %a7, C;"},
        {"mul.T %a5, A, 0f40490F33; mov.T X, C; mov.u32 %r2, 0; L: add.T X, X, %a5; mul.T Y, X, D; mul.T X, X, "
         "0f3F400000; "
         "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 5; @%p2 bra L;",
         "mov.T X, C; mov.u32 %r2, 0; L: fma.rn.T X, A, 0f40490F33, X; mul.rn.T Y, X, D; mul.rn.T X, X, 0f3F400000; "
         "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 5; @%p2 bra L;"},
        {"ld.param.T %a6, [out]; mul.T %a5, %a6, A; @%p1 bra L; add.T X, %a5, C; L:",
         "ld.param.T %a6, [out]; @!%p1 fma.rn.T X, A, %a6, C;"},
        {"mul.T %a5, A, 0f40490F33; mov.b_ Y, %a5; @%p1 bra L; add.T X, %a5, C; L:",
         "mul.rn.T %a5, A, 0f40490F33; mov.b_ Y, %a5; @!%p1 add.rn.T X, %a5, C;"},
    };
    for (u32 k = 0; k < WL_COUNT(f32s); k++) check_row(&f32s[k], "f32", 32);
    static const Row half = {"mov.b16 %a6, 0x4249; mul.T %a5, %a6, A; @%p1 bra L; add.T X, %a5, C; L:",
                             "mov.b16 %a6, 0x4249; @!%p1 fma.rn.T X, A, %a6, C;"};
    check_row(&half, "f16", 16);
}

TEST(components_of_vector_registers_are_left) {
    static const Row row = {".reg .v2 .T %v; mov.T %v.y, D; mul.T %v.x, A, B; add.T X, %v.y, C; mov.T Y, %v.x;",
                            "add.rn.T X, D, C; mul.rn.T Y, A, B;"};
    check_row(&row, "f32", 32);
}

// An approximate quotient is the numerator times the reciprocal; these are not so large or small that they are scaled.
TEST(quotients) {
    static const Row f32s[] = {
        {"div.approx.ftz.T %a5, A, B; add.ftz.T X, %a5, C;", "rcp.approx.ftz.T %a5, B; fma.rn.ftz.T X, A, %a5, C;"},
        {"div.approx.ftz.T %a5, A, B; sub.ftz.sat.T X, C, %a5;",
         "rcp.approx.ftz.T %a5, B; neg.T %a6, A; fma.rn.ftz.sat.T X, %a6, %a5, C;"},
        {"div.approx.ftz.T %a5, A, B; sub.ftz.T X, %a5, C; mov.b_ Y, %a5;",
         "rcp.approx.ftz.T %a5, B; mul.rn.ftz.T Y, A, %a5; sub.rn.ftz.T X, Y, C;"},
        {"div.approx.ftz.T %a5, A, 0f40490F33; @%p1 bra L; add.ftz.T X, %a5, C; L:",
         "div.approx.ftz.T %a5, A, 0f40490F33; @%p1 bra L; add.rn.ftz.T X, %a5, C; L:"},
        {"and.b32 B, B, 0xbfffffff; or.b32 B, B, 0x38000000; div.approx.T %a5, A, B; add.T X, %a5, C;",
         "and.b32 B, B, 0xbfffffff; or.b32 B, B, 0x38000000; rcp.approx.T %a5, B; fma.rn.T X, A, %a5, C;"},
        {"and.b32 B, B, 0xbfffffff; or.b32 B, B, 0x38000000; div.full.T %a5, A, B; sub.T X, %a5, C;",
         "and.b32 B, B, 0xbfffffff; or.b32 B, B, 0x38000000; rcp.approx.T %a5, B; neg.T %a6, C; "
         "fma.rn.T X, A, %a5, %a6;"},
        {"and.b32 B, B, 0x807fffff; div.approx.T %a5, A, B; add.T X, %a5, C;",  // subnormal: both times 2^24
         "and.b32 B, B, 0x807fffff; mul.rn.T %a5, B, 0f4b800000; rcp.approx.T %a5, %a5; mul.rn.T %a6, A, 0f4b800000; "
         "fma.rn.T X, %a6, %a5, C;"},
    };
    for (u32 k = 0; k < WL_COUNT(f32s); k++) check_row(&f32s[k], "f32", 32);
}

// .ftz has to be on both or neither; .sat on the sum.
TEST(modifiers) {
    static const Row f32s[] = {
        {"mul.ftz.T %a5, A, B; add.ftz.T X, %a5, C;", "fma.rn.ftz.T X, A, B, C;"},
        {"mul.T %a5, A, B; add.ftz.T X, %a5, C;", "mul.rn.T %a5, A, B; add.rn.ftz.T X, %a5, C;"},
        {"mul.ftz.T %a5, A, B; sub.T X, C, %a5;", "mul.rn.ftz.T %a5, A, B; sub.rn.T X, C, %a5;"},
        {"mul.T %a5, A, B; sub.sat.T X, %a5, C;", "neg.T %a5, C; fma.rn.sat.T X, A, B, %a5;"},
        {"mul.sat.T %a5, A, B; add.T X, %a5, C;", "mul.rn.sat.T %a5, A, B; add.rn.T X, %a5, C;"},
        {"mul.ftz.T %a5, A, B; sub.ftz.sat.T X, C, %a5;", "neg.T %a5, A; fma.rn.ftz.sat.T X, %a5, B, C;"},
    };
    for (u32 k = 0; k < WL_COUNT(f32s); k++) {
        check_row(&f32s[k], "f32", 32);
        check_row(&f32s[k], "f16", 16);
        check_row(&f32s[k], "f16x2", 32);
    }
}

// The debug option of nvcc -G makes ptxas compile as with -O0, which contracts nothing.
TEST(nothing_in_debug_modules) {
    static u64 written[THREADS][2], named[THREADS][2];
    static char text[8192];
    strcpy(text, ".version 8.0\n.target sm_90, debug\n.address_size 64\n");
    write_kernel(text, 0, rows[0].written, "f32", 32);
    write_kernel(text, 1, "mul.rn.T %a5, A, B; add.rn.T X, %a5, C;", "f32", 32);
    run_kernel(text, "k0", 32, written);
    run_kernel(text, "k1", 32, named);
    assert_memory_equal(written, named, sizeof written);
    strcpy(text, PTX_HEAD);
    write_kernel(text, 0, rows[0].written, "f32", 32);
    run_kernel(text, "k0", 32, written);
    assert_memory_not_equal(written, named, sizeof written);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_precision),
        cmocka_unit_test(double_precision),
        cmocka_unit_test(halves),
        cmocka_unit_test(modifiers),
        cmocka_unit_test(constants),
        cmocka_unit_test(quotients),
        cmocka_unit_test(components_of_vector_registers_are_left),
        cmocka_unit_test(nothing_in_debug_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
