// SPDX-License-Identifier: Apache-2.0
// For how many cycles instructions hold their scheduler, on gpus/h200.gpu, against an H200 (2026-11-30):
// bench/hwref/h200-held.tsv, cycles more than the stream takes that they stand in, of 32 warps of an SM. The same loops
// as bench/micro/held.cu.
#include "sim/time/loop_testing.h"

enum { TURNS = 32, CHAINS = 8, WARPS = 32, TEXT = 32768 };

// %f0 to 7: the stream's products, %r32 to 39: its shifts; %r16 to 23, %rd16 to 23, %fd0 to 7: the chains' words; %r4
// differs between lanes; %rd4, %r5: the thread's place in global and shared memory.
static const char head[] =
    PTX_HEAD ".visible .entry loop(.param .u64 out, .param .u32 turns) {\n.shared .align 16 .b8 array[16384];\n"
             ".reg .b64 %rd<32>;\n.reg .b32 %r<64>;\n.reg .f32 %f<16>;\n.reg .f64 %fd<16>;\n.reg .pred %p<4>;\n"
             "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [turns];\nmov.u32 %r3, %tid.x;\nmul.wide.u32 %rd3, %r3, 4;\n"
             "add.s64 %rd3, %rd1, %rd3;\nadd.s64 %rd4, %rd3, 16384;\nld.global.u32 %r4, [%rd3];\nmov.u32 %r6, array;\n"
             "mad.lo.s32 %r5, %r3, 4, %r6;\n";

// @a, @w, @d, @f: the chain's word, 64 bits, double and float; @n: where its line is.
// `beside` stands there without what is measured.
static const struct {
    const char *name, *text, *beside;
    double h200;
} rows[] = {{"lop_1", "lop3.b32 @a, @a, @a, @a, 0x1e;\n", "", 1.4},
            {"wide_product", "mov.b64 {%r7, %r8}, @w;\nmul.wide.s32 @w, %r7, %r4;\n", "", 3.7},
            {"add_64", "add.s64 @w, @w, %rd3;\n", "", 3.4},
            {"hi", "mul.hi.u32 @a, @a, %r4;\n", "", 3.3},
            {"add_f64", "add.f64 @d, @d, %fd8;\n", "", 1.3},
            {"fma_f64", "fma.rn.f64 @d, %fd8, %fd8, @d;\n", "", 1.2},
            {"load", "ld.global.ca.b32 %r7, [%rd4+@n];\nxor.b32 @a, @a, %r7;\n", "xor.b32 @a, @a, %r4;\n", 2.1},
            {"shared_load", "ld.volatile.shared.b32 @a, [%r5];\n", "", 1.1},
            {"shared_store", "st.volatile.shared.b32 [%r5], @a;\n", "", 1.6},
            {"shuffle", "shfl.sync.bfly.b32 @a, @a, 1, 31, -1;\n", "", 1.6},
            {"popc", "popc.b32 @a, @a;\n", "", 1.5},
            {"ex2", "mov.b32 @f, @a;\nex2.approx.ftz.f32 @f, @f;\nmov.b32 @a, @f;\n", "", 1.5}};

// Of @KIND: the register's kind, and the first chain's number.
static const struct {
    char kind;
    const char *name;
    u32 first;
} words[] = {{'a', "r", 16}, {'w', "rd", 16}, {'d', "fd", 0}, {'f', "f", 8}};

static int put(char *to, int at, const char *text, u32 chain) {
    for (; *text; text++) {
        if (*text != '@') {
            to[at++] = *text;
            continue;
        }
        text++;
        if (*text == 'n') at += snprintf(to + at, TEXT - (size_t)at, "%u", 4096 * chain);
        for (u32 i = 0; i < WL_COUNT(words); i++)
            if (*text == words[i].kind)
                at += snprintf(to + at, TEXT - (size_t)at, "%%%s%u", words[i].name, words[i].first + chain);
    }
    to[at] = 0;
    return at;
}

// A turn: each chain's instruction and behind it 24 of the stream, two products and a shift in turn.
static double cycles_of(const char *text) {
    static char code[TEXT];
    int at = snprintf(code, TEXT, "%s", head);
    for (u32 i = 0; i < CHAINS; i++)
        at += snprintf(code + at, TEXT - (size_t)at,
                       "add.u32 %%r%u, %%r4, %u;\nmov.u32 %%r%u, %%r%u;\ncvt.rn.f32.u32 %%f%u, %%r%u;\n"
                       "cvt.u64.u32 %%rd%u, %%r%u;\ncvt.rn.f64.u32 %%fd%u, %%r%u;\n",
                       16 + i, i, 32 + i, 16 + i, i, 16 + i, 16 + i, 16 + i, i, 16 + i);
    at += snprintf(code + at, TEXT - (size_t)at,
                   "cvt.rn.f64.u32 %%fd8, %%r3;\nmov.u32 %%r9, 0;\nmov.u64 %%rd6, %%clock64;\nbar.sync 0;\nTURN:\n");
    for (u32 i = 0; i < CHAINS; i++) {
        at = put(code, at, text, i);
        for (u32 k = 0; k < 8; k++)
            at +=
                snprintf(code + at, TEXT - (size_t)at,
                         "fma.rn.f32 %%f%u, %%f%u, 0f3F8CCCCD, %%f%u;\nfma.rn.f32 %%f%u, %%f%u, 0f3F8CCCCD, %%f%u;\n"
                         "shf.l.wrap.b32 %%r%u, %%r%u, %%r4, 7;\n",
                         2 * k % 8, 2 * k % 8, 2 * k % 8, 2 * k % 8 + 1, 2 * k % 8 + 1, 2 * k % 8 + 1, 32 + k, 32 + k);
    }
    at += snprintf(code + at, TEXT - (size_t)at,
                   "add.u32 %%r9, %%r9, 1;\nsetp.lt.u32 %%p1, %%r9, %%r1;\n@%%p1 bra TURN;\nbar.sync 0;\n"
                   "mov.u64 %%rd8, %%clock64;\nsub.s64 %%rd8, %%rd8, %%rd6;\nsetp.eq.u32 %%p2, %%r3, 0;\n"
                   "@%%p2 st.global.u64 [%%rd1], %%rd8;\n");
    for (u32 i = 0; i < CHAINS; i++)
        at += snprintf(
            code + at, TEXT - (size_t)at,
            "st.global.u32 [%%rd3+%u], %%r%u;\nst.global.u32 [%%rd3+%u], %%r%u;\nst.global.f32 [%%rd3+%u], "
            "%%f%u;\nmov.b64 {%%r7, %%r8}, %%rd%u;\nst.global.u32 [%%rd3+%u], %%r7;\nst.global.u32 [%%rd3+%u], %%r8;\n"
            "cvt.rn.f32.f64 %%f8, %%fd%u;\nst.global.f32 [%%rd3+%u], %%f8;\n",
            32768 + 64 * i, 16 + i, 32772 + 64 * i, 32 + i, 32776 + 64 * i, i, 16 + i, 32780 + 64 * i, 32788 + 64 * i,
            i, 32784 + 64 * i);
    snprintf(code + at, TEXT - (size_t)at, "ret;\n}\n");
    // What is before and behind the loop takes as long for twice the turns.
    u64 cycles[2];
    for (u32 i = 0; i < 2; i++)
        cycles[i] = loop_cycles(&(LoopTest){.text = code,
                                            .kernel = "loop",
                                            .sms = 1,
                                            .threads = WARPS * 32,
                                            .launches = 2,
                                            .bytes = 256 << 10,
                                            .values = {(i + 1) * TURNS}});
    return (double)(cycles[1] - cycles[0]) / (TURNS * CHAINS * WARPS / 4);
}

TEST(instructions_hold_their_scheduler_as_long_as_on_an_h200) {
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        double held = cycles_of(rows[i].text) - cycles_of(rows[i].beside);
        print_message("%-12s %.2f cycles more, an H200 %.1f\n", rows[i].name, held, rows[i].h200);
        if (held < rows[i].h200 - 0.6 || held > rows[i].h200 + 0.6)
            fail_msg("%s: %g, an H200 %g", rows[i].name, held, rows[i].h200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_hold_their_scheduler_as_long_as_on_an_h200)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
