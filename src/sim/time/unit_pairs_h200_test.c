// SPDX-License-Identifier: Apache-2.0
// Pairs of instructions, one of each of two units, in eight chains of 16 warps, on gpus/h200.gpu, against what an H200
// takes (2026-11-30): bench/hwref/h200-unit-pairs.tsv, cycles of a scheduler for a pair. The loops of
// bench/micro/unit_pairs.cu. Where the code has all of one unit first, a pair takes as long as both units one after the
// other; ptxas has them by turns.
#include "sim/time/loop_testing.h"

enum { TURNS = 16, PAIRS = 32, CHAINS = 8, WARPS = 16, TEXT = 16384 };

// %%r10 to %%r17 are the chains, `#` one of them.
#define FMA "{.reg .f32 %f; mov.b32 %f, #; fma.rn.f32 %f, %f, %f, %f; mov.b32 #, %f;}\n"
#define XOR "lop3.b32 #, #, %r2, %r2, 0x1e;\n"

static int add_chain(char *at, const char *text, u32 chain) {
    char *begin = at;
    for (; *text; text++) {
        if (*text == '#')
            at += sprintf(at, "%%r%u", 10 + chain);
        else
            *at++ = *text;
    }
    *at = 0;
    return (int)(at - begin);
}

static void loop_of(const char *pair, u32 chains, char *text) {
    char *at = text;
    at += sprintf(at, PTX_HEAD
                  ".visible .entry loop(.param .u64 out, .param .u32 turns, .param .u32 second) {\n.reg .b64 %%rd<9>;\n"
                  ".reg .b32 %%r<32>;\n.reg .pred %%p<3>;\nld.param.u64 %%rd1, [out];\n"
                  "ld.param.u32 %%r1, [turns];\nld.param.u32 %%r2, [second];\nmov.u32 %%r3, %%tid.x;\n");
    for (u32 i = 0; i < CHAINS; i++) at += sprintf(at, "add.u32 %%r%u, %%r3, %u;\n", 10 + i, i);
    at += sprintf(at, "mov.u32 %%r5, 0;\nbar.sync 0;\nmov.u64 %%rd6, %%clock64;\nTURN:\n");
    for (u32 i = 0; i < PAIRS; i++) at += add_chain(at, pair, i % chains);
    at += sprintf(at,
                  "add.u32 %%r5, %%r5, 1;\nsetp.lt.u32 %%p1, %%r5, %%r1;\n@%%p1 bra TURN;\nbar.sync 0;\n"
                  "mov.u64 %%rd8, %%clock64;\nsub.s64 %%rd8, %%rd8, %%rd6;\nsetp.eq.u32 %%p2, %%r3, 0;\n"
                  "@%%p2 st.global.u64 [%%rd1], %%rd8;\nmul.wide.u32 %%rd3, %%r3, 4;\nadd.s64 %%rd3, %%rd1, %%rd3;\n");
    for (u32 i = 0; i < CHAINS; i++) at += sprintf(at, "st.global.u32 [%%rd3+%u], %%r%u;\n", 4096 + 4096 * i, 10 + i);
    sprintf(at, "ret;\n}\n");
}

static const struct {
    const char *name, *pair;
    double h200;
} rows[] = {
    {"min_s32_fma", "min.s32 #, #, %r2; " FMA, 2.053},
    {"min_s32_xor", "min.s32 #, #, %r2; " XOR, 4.047},
    {"min_f32_fma", "{.reg .f32 %f, %g; mov.b32 %f, #; mov.b32 %g, %r2; min.f32 %f, %f, %g; mov.b32 #, %f;} " FMA,
     2.053},
    {"minmax_s32_fma", "max.s32 #, #, 7; min.s32 #, #, %r2; " FMA, 4.095},
    {"i2f_s32_fma", "{.reg .f32 %f; cvt.rn.f32.s32 %f, #; mov.b32 #, %f;} " FMA, 2.052},
    {"add_s32_fma", "add.s32 #, #, %r2; " FMA, 2.144},
    {"shf_fma", "shf.l.wrap.b32 #, #, %r2, 7; " FMA, 2.091},
    {"prmt_fma", "prmt.b32 #, #, %r2, 0x5140; " FMA, 2.091},
    {"lea_fma", "mad.lo.s32 #, #, 4, %r2; " FMA, 2.149},
    {"mad_xor", "mad.lo.s32 #, #, %r2, %r2; " XOR, 2.090},
};

// Cycles of a scheduler for a pair.
static double play(const char *pair, u32 chains, u32 warps) {
    char text[TEXT];
    loop_of(pair, chains, text);
    u64 cycles = loop_cycles(&(LoopTest){.text = text,
                                         .kernel = "loop",
                                         .sms = 1,
                                         .threads = warps * 32,
                                         .launches = 2,
                                         .bytes = 64 << 10,
                                         .values = {TURNS, 4}});
    return (double)cycles / (TURNS * PAIRS * (warps < 4 ? 1 : warps / 4));
}

static void expect(const char *name, double cycles, double h200) {
    print_message("%-14s %.2f, an H200 %.2f\n", name, cycles, h200);
    if (cycles < h200 * 0.9 || cycles > h200 * 1.1) fail_msg("%s: not within 10 %%", name);
}

TEST(two_units_are_busy_at_once) {
    for (u32 i = 0; i < WL_COUNT(rows); i++) expect(rows[i].name, play(rows[i].pair, CHAINS, WARPS), rows[i].h200);
}

// Two of a division's comparisons guard what follows them, 13 cycles later (h200-micro.tsv, latency/div_s32).
TEST(divisions_wait_for_their_guards) { expect("div_s32", play("div.s32 #, #, %r2;\n", 1, 1), 65.83); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_units_are_busy_at_once),
                                       cmocka_unit_test(divisions_wait_for_their_guards)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
