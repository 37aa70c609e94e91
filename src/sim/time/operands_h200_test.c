// SPDX-License-Identifier: Apache-2.0
// What reading registers, wide products and lines of the L1 cost, on gpus/h200.gpu, against what an H200 takes
// (2026-11-23): bench/hwref/h200-operands.tsv, cycles of a scheduler for an instruction; h200-l1-read.tsv, cycles of
// the SM for a load that hits. The same loops as bench/micro/operands.cu and l1_read.cu.
#include "sim/time/loop_testing.h"

enum { TURNS = 32, COUNT = 64, LOADS = 8, TEXT = 16384 };

// What stands before the loop: eight each of f (v, a, b: 0 to 7, 8 to 15, 16 to 23), fd; %rd2: a lane's place.
#define HEAD                                                                                                       \
    PTX_HEAD ".visible .entry loop(.param .u64 out, .param .u32 turns, .param .u32 lane) {\n.reg .b64 %%rd<16>;\n" \
             ".reg .b32 %%r<64>;\n.reg .f32 %%f<32>;\n.reg .f64 %%fd<32>;\n.reg .pred %%p<3>;\n"                   \
             "ld.param.u64 %%rd1, [out];\nld.param.u32 %%r1, [turns];\nld.param.u32 %%r2, [lane];\n"               \
             "mov.u32 %%r3, %%tid.x;\nand.b32 %%r4, %%r3, 31;\nmul.lo.s32 %%r4, %%r4, %%r2;\ncvt.u64.u32 %%rd2, "  \
             "%%r4;\nadd.s64 %%rd2, %%rd1, %%rd2;\nmul.wide.u32 %%rd3, %%r3, 8;\nadd.s64 %%rd3, %%rd1, %%rd3;\n"
#define TAIL                                                                                \
    "add.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, %%r1;\n@%%p1 bra TURN;\nbar.sync 0;\n" \
    "mov.u64 %%rd8, %%clock64;\nsub.s64 %%rd8, %%rd8, %%rd6;\nsetp.eq.u32 %%p2, %%r3, 0;\n" \
    "@%%p2 st.global.u64 [%%rd1], %%rd8;\n"

static int begin_loop(char *text, int at) {
    return at +
           snprintf(text + at, TEXT - (size_t)at, "mov.u32 %%r5, 0;\nbar.sync 0;\nmov.u64 %%rd6, %%clock64;\nTURN:\n");
}

// Digits of `pattern`: how many registers the instructions read in turn; `type`: f32 or f64.
static void arithmetic(char *text, const char *type, const char *pattern) {
    const char *r = *type == 'f' && type[1] == '6' ? "fd" : "f";
    int at = snprintf(text, TEXT, HEAD);
    for (u32 i = 0; i < 24; i++)
        at += snprintf(text + at, TEXT - (size_t)at, "ld.global.%s %%%s%u, [%%rd3+%u];\n", type, r, i, 8 * i);
    at = begin_loop(text, at);
    for (u32 i = 0; i < COUNT; i++) {
        u32 v = i % 8, reads = (u32)pattern[i % strlen(pattern)] - '0';
        if (reads == 2)
            at += snprintf(text + at, TEXT - (size_t)at, "fma.rn.%s %%%s%u, %%%s%u, %%%s%u, %%%s%u;\n", type, r, v, r,
                           v, r, 8 + v, r, 8 + v);
        else
            at += snprintf(text + at, TEXT - (size_t)at, "fma.rn.%s %%%s%u, %%%s%u, %%%s%u, %%%s%u;\n", type, r, v, r,
                           8 + v, r, 16 + v, r, v);
    }
    at += snprintf(text + at, TEXT - (size_t)at, TAIL);
    for (u32 i = 0; i < 24; i++)
        at += snprintf(text + at, TEXT - (size_t)at, "st.global.%s [%%rd3+%u], %%%s%u;\n", type, 4096 + 8 * i, r, i);
    snprintf(text + at, TEXT - (size_t)at, "ret;\n}\n");
}

// Upper words of products by a literal, eight chains.
static void products(char *text) {
    int at = snprintf(text, TEXT, HEAD);
    for (u32 i = 0; i < 8; i++)
        at += snprintf(text + at, TEXT - (size_t)at, "ld.global.u32 %%r%u, [%%rd3+%u];\n", 16 + i, 8 * i);
    at = begin_loop(text, at);
    for (u32 i = 0; i < COUNT; i++)
        at += snprintf(text + at, TEXT - (size_t)at, "mul.hi.u32 %%r%u, %%r%u, 0x66666667;\n", 16 + i % 8, 16 + i % 8);
    at += snprintf(text + at, TEXT - (size_t)at, TAIL);
    for (u32 i = 0; i < 8; i++)
        at += snprintf(text + at, TEXT - (size_t)at, "st.global.u32 [%%rd3+%u], %%r%u;\n", 4096 + 8 * i, 16 + i);
    snprintf(text + at, TEXT - (size_t)at, "ret;\n}\n");
}

// LOADS loads of 16 bytes a lane, 512 bytes apart, from 512 bytes further on in each turn.
static void loads(char *text) {
    int at = begin_loop(text, snprintf(text, TEXT, HEAD "mov.u32 %%r6, 0;\n"));
    at += snprintf(text + at, TEXT - (size_t)at,
                   "and.b32 %%r7, %%r5, 15;\nmul.wide.u32 %%rd4, %%r7, 512;\nadd.s64 %%rd4, %%rd2, %%rd4;\n");
    for (u32 i = 0; i < LOADS; i++) {
        u32 r = 16 + 4 * i;
        at += snprintf(text + at, TEXT - (size_t)at, "ld.global.ca.v4.u32 {%%r%u,%%r%u,%%r%u,%%r%u}, [%%rd4+%u];\n", r,
                       r + 1, r + 2, r + 3, 512 * i);
    }
    for (u32 i = 0; i < LOADS * 4; i++)
        at += snprintf(text + at, TEXT - (size_t)at, "add.u32 %%r6, %%r6, %%r%u;\n", 16 + i);
    snprintf(text + at, TEXT - (size_t)at, TAIL "st.global.u32 [%%rd3+64], %%r6;\nret;\n}\n");
}

// Cycles of the loop, of a CTA of so many warps; of the second launch, which finds its code and data.
static double play(const char *text, u32 warps, u32 lane) {
    return (double)loop_cycles(&(LoopTest){.text = text,
                                           .kernel = "loop",
                                           .sms = 1,
                                           .threads = warps * 32,
                                           .launches = 2,
                                           .bytes = 64 << 10,
                                           .values = {TURNS, lane}});
}

static void expect(const char *name, double cycles, double h200) {
    print_message("%-12s %.2f, an H200 %.2f\n", name, cycles, h200);
    if (cycles < h200 * 0.9 || cycles > h200 * 1.1) fail_msg("%s: %g, not within 10 %% of %g", name, cycles, h200);
}

static void expect_reads(const char *type, const char *pattern, double h200) {
    char text[TEXT];
    arithmetic(text, type, pattern);
    expect(pattern, play(text, 16, 4) / (TURNS * COUNT * 16 / 4), h200);
}

// A scheduler's register file hands out two registers of 32 bits a cycle.
TEST(three_registers_take_longer_than_two) {
    expect_reads("f32", "2", 1.052);     // ffma_v_a_a
    expect_reads("f32", "3", 1.630);     // ffma_ai_bi_v
    expect_reads("f32", "32", 1.307);    // ffma_fadd
    expect_reads("f32", "3222", 1.255);  // ffma_fadd_fadd_fadd
    expect_reads("f64", "2", 2.045);     // dfma_2
    expect_reads("f64", "3", 3.043);     // dfma_3
}

// IMAD.HI and IMAD.WIDE take their unit for twice as long as IMAD.
TEST(wide_products_take_four_cycles) {
    char text[TEXT];
    products(text);
    expect("hi_literal", play(text, 16, 4) / (TURNS * COUNT * 16 / 4), 4.008);
}

static void expect_loads(const char *name, u32 lane, double h200) {
    char text[TEXT];
    loads(text);
    expect(name, play(text, 32, lane) / (TURNS * LOADS * 32), h200);
}

// Each lane its own words, 127 bytes a cycle, also when all read the same.
TEST(loads_that_hit) {
    expect_loads("lanes/16", 16, 4.043);
    expect_loads("one/16", 0, 4.039);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_registers_take_longer_than_two),
        cmocka_unit_test(wide_products_take_four_cycles),
        cmocka_unit_test(loads_that_hit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
