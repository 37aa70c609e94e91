// SPDX-License-Identifier: Apache-2.0
// When eight CTAs of an SM end that have equal work, over the first one's end, against an H200
// (bench/hwref/h200-cta-ends.tsv, bench/micro/cta_ends.cu, of which these are the kernels with fewer turns).
#include <math.h>

#include "sim/time/loop_testing.h"

enum { CTAS = 8, TURNS = 400, TEXT = 4096, BETWEEN_STARTS = 29 /* cycles, as 131 other SMs get one each meanwhile */ };

#define FMA(n) "fma.rn.f32 %y" n ", %y" n ", 0f3F7D70A4, %x;\n"
#define LOAD \
    "ld.volatile.shared.f32 %x, [%r4];\ncvt.rzi.s32.f32 %r5, %x;\nand.b32 %r5, %r5, 1023;\nadd.s32 %r4, %r3, %r5;\n"
#define CONVERT "cvt.rzi.s32.f32 %r5, %x;\nadd.s32 %r5, %r5, 1;\ncvt.rn.f32.s32 %x, %r5;\n"
#define STORE "st.volatile.shared.f32 [%r6+4096], %y1;\n"

// `away`: the most that the logarithm of an end may be off. Conversions: which warps found the unit free in the first
// cycles stays so for longer than on an H200.
static const struct {
    const char *name, *turn;
    f64 away;
} kinds[] = {
    {"fma", FMA("1") FMA("2") FMA("3") FMA("4") FMA("5") FMA("6") FMA("7") FMA("8"), 0.4},
    {"chain", FMA("1") FMA("1") FMA("1") FMA("1") FMA("1") FMA("1") FMA("1") FMA("1"), 0.3},
    {"f2i", CONVERT CONVERT CONVERT CONVERT, 0.56},
    {"shared4", LOAD LOAD LOAD LOAD, 0.05},
    {"shared4_s", LOAD STORE LOAD STORE LOAD STORE LOAD STORE, 0.4},
    {"store4", STORE STORE STORE STORE, 0.4},
};

// Lane l's words in shared memory lie four from those of lane l + 1: conflicts of four.
static void write_kernel(char *text, const char *turn) {
    int size = snprintf(
        text, TEXT,
        PTX_HEAD
        ".visible .entry k(.param .u64 out) {\n.reg .b64 %%rd<9>;\n.reg .b32 %%r<9>;\n.reg .f32 %%x, %%y<9>;\n"
        ".reg .pred %%p<2>;\n.shared .align 4 .b8 words[24576];\nld.param.u64 %%rd1, [out];\nmov.u32 %%r1, %%tid.x;\n"
        "mov.u32 %%r7, %%ctaid.x;\nand.b32 %%r2, %%r1, 31;\nshl.b32 %%r2, %%r2, 4;\nmov.u32 %%r3, words;\n"
        "add.u32 %%r3, %%r3, %%r2;\nmov.u32 %%r4, %%r3;\nshr.u32 %%r6, %%r1, 5;\nshl.b32 %%r6, %%r6, 2;\n"
        "add.u32 %%r6, %%r6, %%r3;\ncvt.rn.f32.u32 %%x, %%r1;\nmov.f32 %%y1, 0f3F800000;\nmov.f32 %%y2, %%y1;\n"
        "mov.f32 %%y3, %%y1;\nmov.f32 %%y4, %%y1;\nmov.f32 %%y5, %%y1;\nmov.f32 %%y6, %%y1;\nmov.f32 %%y7, %%y1;\n"
        "mov.f32 %%y8, %%y1;\nmov.u32 %%r8, 0;\nst.shared.f32 [%%r3], 0f00000000;\nbar.sync 0;\n"
        "mov.u64 %%rd2, %%clock64;\nTURN:\n.pragma \"nounroll\";\n%s"
        "add.u32 %%r8, %%r8, 1;\nsetp.lt.u32 %%p1, %%r8, %d;\n@%%p1 bra TURN;\nbar.sync 0;\nmov.u64 %%rd3, %%clock64;\n"
        "add.f32 %%y1, %%y1, %%y2;\nadd.f32 %%y1, %%y1, %%y3;\nadd.f32 %%y1, %%y1, %%y4;\nadd.f32 %%y1, %%y1, %%y5;\n"
        "add.f32 %%y1, %%y1, %%y6;\nadd.f32 %%y1, %%y1, %%y7;\nadd.f32 %%y1, %%y1, %%y8;\nadd.f32 %%y1, %%y1, %%x;\n"
        "setp.ne.u32 %%p1, %%r1, 0;\n@%%p1 ret;\nmul.wide.u32 %%rd4, %%r7, 32;\nadd.s64 %%rd4, %%rd1, %%rd4;\n"
        "st.global.u64 [%%rd4], %%rd2;\nst.global.u64 [%%rd4+8], %%rd3;\nst.global.f32 [%%rd4+16], %%y1;\nret;\n}\n",
        turn, TURNS);
    assert_in_range(size, 1, TEXT - 1);
}

typedef struct Times {
    u64 begin, end, unused[2];
} Times;

static void play(const char *turn, u32 threads, f64 ends[CTAS]) {
    char text[TEXT];
    Times times[CTAS];
    write_kernel(text, turn);
    loop_run(&(LoopTest){.text = text,
                         .kernel = "k",
                         .sms = 1,
                         .ctas = CTAS,
                         .cta_interval = BETWEEN_STARTS,
                         .threads = threads,
                         .launches = 1,
                         .bytes = sizeof times},
             times);
    for (u32 i = 0; i < CTAS; i++)
        ends[i] = (f64)(times[i].end - times[0].begin) / (f64)(times[0].end - times[0].begin);
}

// What the H200's note says: the ends of eight CTAs over the first one's.
static void read_h200(const char *kind, u32 threads, f64 ends[CTAS]) {
    char name[64], row[256];
    snprintf(name, sizeof name, "cta_ends/%s/%u/spread", kind, threads);
    hwref_row("h200-cta-ends.tsv", name, row, sizeof row);
    assert_int_equal(sscanf(strrchr(row, '\t'), "%lf %lf %lf %lf %lf %lf %lf %lf", &ends[0], &ends[1], &ends[2],
                            &ends[3], &ends[4], &ends[5], &ends[6], &ends[7]),
                     CTAS);
}

// With turns by arrival all CTAs of store4 end together; with the oldest CTA first at every issue those of fma end up
// to 7.9 times as late as the first.
TEST(ctas_end_one_after_the_other_as_on_an_h200) {
    static const u32 threads[] = {32, 64, 128, 256};
    f64 all = 0;
    for (u32 k = 0; k < WL_COUNT(kinds); k++)
        for (u32 t = 0; t < WL_COUNT(threads); t++) {
            f64 ends[CTAS], h200[CTAS];
            play(kinds[k].turn, threads[t], ends);
            read_h200(kinds[k].name, threads[t], h200);
            print_message("%-10s %3u:", kinds[k].name, threads[t]);
            for (u32 i = 0; i < CTAS; i++) {
                f64 off = fabs(log(ends[i] / h200[i]));
                print_message(" %.2f (%.2f)", ends[i], h200[i]);
                assert_true(off < kinds[k].away);
                all += off / (CTAS * WL_COUNT(threads) * WL_COUNT(kinds));
            }
            print_message("\n");
        }
    print_message("%.3f away on average\n", all);
    assert_true(all < 0.07);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ctas_end_one_after_the_other_as_on_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
