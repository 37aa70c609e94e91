// SPDX-License-Identifier: Apache-2.0
// Fences and accesses that order memory, on gpus/h200.gpu, against what an H200 takes (2026-11-23):
// bench/hwref/h200-fences.tsv; the same loops as bench/micro/fences.cu. Cycles are those of a turn, less those of the
// same turn without the fence, or without the order.
#include "sim/time/loop_testing.h"

enum { TURNS = 64 };

#define STORE "st.global.u32 [%rd2], %r5;\n"
#define LOOP(body)                                                                                       \
    PTX_HEAD ".visible .entry loop(.param .u64 out, .param .u32 turns) {\n.reg .b64 %rd<16>;\n"          \
             ".reg .b32 %r<64>;\n.reg .pred %p<3>;\n"                                                    \
             "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [turns];\nmov.u32 %r3, %tid.x;\n"             \
             "mul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\n" \
             "mov.u64 %rd6, %clock64;\nTURN:\n.pragma \"nounroll\";\n" body                              \
             "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra TURN;\n"                        \
             "mov.u64 %rd8, %clock64;\nsub.s64 %rd8, %rd8, %rd6;\nsetp.eq.u32 %p2, %r3, 0;\n"            \
             "@%p2 st.global.u64 [%rd1+512], %rd8;\nst.global.u32 [%rd2+1024], %r6;\nret;\n}\n"
// One load, or atomic, after the other.
#define CHAIN(access) "mul.wide.u32 %rd4, %r6, 4;\nadd.s64 %rd4, %rd2, %rd4;\n" access "add.u32 %r6, %r6, %r7;\n"

// Cycles of a turn of one warp; of the second launch, which finds its code and data.
static double play(const char *text) {
    return (double)loop_cycles(&(LoopTest){.text = text,
                                           .kernel = "loop",
                                           .sms = 1,
                                           .threads = 32,
                                           .launches = 2,
                                           .bytes = 4096,
                                           .at = 512,
                                           .values = {TURNS}}) /
           TURNS;
}

typedef struct Row {
    const char *name, *with, *without;
    double h200, off;  // cycles that it may be off
} Row;

static void expect_rows(const Row *rows, u32 count) {
    for (u32 i = 0; i < count; i++) {
        double cycles = play(rows[i].with) - play(rows[i].without), off = cycles - rows[i].h200;
        print_message("%-20s %7.1f, an H200 %7.1f\n", rows[i].name, cycles, rows[i].h200);
        if (off < -rows[i].off || off > rows[i].off) fail_msg("%s: %g, not %g", rows[i].name, cycles, rows[i].h200);
    }
}

// That of a CTA waits for nothing; that of the GPU for stores, and as long as a way to the L2 without them.
TEST(fences_by_scope) {
    static const Row rows[] = {
        {"cta", LOOP("fence.acq_rel.cta;\n"), LOOP(""), 9, 3},
        {"cta, store", LOOP(STORE "membar.cta;\n"), LOOP(STORE), 9, 3},
        {"gpu", LOOP("fence.acq_rel.gpu;\n"), LOOP(""), 264, 10},
        {"gpu, store", LOOP(STORE "membar.gl;\n"), LOOP(STORE), 386.5, 20},
        {"sys", LOOP("fence.acq_rel.sys;\n"), LOOP(""), 1021.9, 20},
        {"sys, store", LOOP(STORE "membar.sys;\n"), LOOP(STORE), 1021, 20},
    };
    expect_rows(rows, WL_COUNT(rows));
}

// What releases has a fence before it, what acquires waits for its result; within a CTA the L1 answers.
// Behind an atomic that has been answered an H200's fence takes as long as behind a store, here as with nothing under
// way: 104 cycles too few.
TEST(accesses_that_order_others) {
    static const Row rows[] = {
        {"st.release.cta", LOOP("st.release.cta.global.u32 [%rd2], %r5;\n"), LOOP(STORE), 7, 5},
        {"st.release.gpu", LOOP("st.release.gpu.global.u32 [%rd2], %r5;\n"), LOOP(STORE), 381, 40},
        {"ld.acquire.gpu", LOOP(CHAIN("ld.acquire.gpu.global.u32 %r7, [%rd4];\n")),
         LOOP(CHAIN("ld.relaxed.gpu.global.u32 %r7, [%rd4];\n")), 10.7, 5},
        {"ld.acquire.cta", LOOP(CHAIN("ld.acquire.cta.global.u32 %r7, [%rd4];\n")),
         LOOP(CHAIN("ld.global.u32 %r7, [%rd4];\n")), 8, 8},
        {"atom.release.gpu", LOOP(CHAIN("atom.release.gpu.global.add.u32 %r7, [%rd4], 0;\n")),
         LOOP(CHAIN("atom.relaxed.gpu.global.add.u32 %r7, [%rd4], 0;\n")), 380.5, 115},
    };
    expect_rows(rows, WL_COUNT(rows));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences_by_scope),
        cmocka_unit_test(accesses_that_order_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
