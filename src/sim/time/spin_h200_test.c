// SPDX-License-Identifier: Apache-2.0
// Sums in shared memory that are loops around a compare-and-swap, on gpus/h200.gpu against what an H200 takes
// (bench/hwref/h200-shared-turns.tsv, 2026-11-22), and what such loops issue.
#include <stdlib.h>

#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

enum { TIMES = 32, TEXT = 2048 };

typedef struct Spin {
    f64 cycles;  // of a round
    u64 issued;  // in all, of two launches
} Spin;

// A round is an atomic of each thread and a barrier, as in bench/micro/shared_turns.cu: `meet` lanes share a word,
// those of other warps, too, unless they are `apart`.
static void write_kernel(char *text, const char *type, u32 bytes) {
    const char *reg = bytes == 8 ? "rd5" : "r5";
    snprintf(text, TEXT,
             PTX_HEAD ".visible .entry k(.param .u64 out, .param .u32 meet, .param .u32 apart, .param .u64 value) {\n"
                      ".reg .b64 %%rd<9>;\n.reg .b32 %%r<16>;\n.reg .pred %%p<3>;\n.shared .align 8 .b8 words[8192];\n"
                      "ld.param.u64 %%rd1, [out];\nld.param.u32 %%r1, [meet];\nld.param.u32 %%r2, [apart];\n"
                      "ld.param.u64 %%rd5, [value];\ncvt.u32.u64 %%r5, %%rd5;\nmov.u32 %%r3, %%tid.x;\n"
                      "and.b32 %%r4, %%r3, 31;\ndiv.u32 %%r4, %%r4, %%r1;\nshr.u32 %%r6, %%r3, 5;\n"
                      "mad.lo.u32 %%r4, %%r6, %%r2, %%r4;\nmul.lo.u32 %%r4, %%r4, %u;\nmov.u32 %%r7, words;\n"
                      "add.u32 %%r4, %%r4, %%r7;\nmov.u32 %%r8, 0;\nbar.sync 0;\nmov.u64 %%rd2, %%clock64;\nTURN:\n"
                      "red.shared.add.%s [%%r4], %%%s;\nbar.sync 0;\nadd.u32 %%r8, %%r8, 1;\n"
                      "setp.lt.u32 %%p1, %%r8, %u;\n@%%p1 bra TURN;\nmov.u64 %%rd3, %%clock64;\n"
                      "sub.s64 %%rd3, %%rd3, %%rd2;\nst.global.u64 [%%rd1], %%rd3;\nret;\n}\n",
             bytes, type, reg, TIMES);
}

static Spin play(const char *type, u32 meet, u32 warps, bool apart) {
    bool f64_sum = strcmp(type, "f64") == 0, wide = f64_sum || strcmp(type, "u64") == 0;
    char text[TEXT];
    TestDevice d = {0};
    SimKernel *kernel;
    write_kernel(text, type, wide ? 8 : 4);
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    u64 one = f64_sum ? 0x3ff0000000000000 : wide ? 1 : 0x3f800000, took;
    struct {
        u64 out;
        u32 meet, apart;
        u64 value;
    } params = {device_memory(&d, NULL, 8), meet, apart ? 32 / meet : 0, one};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "k", &kernel), STATUS_OK);
    SimLaunchResult result;
    for (u32 i = 0; i < 2; i++) {
        SimLaunch launch = {.kernel = kernel, .grid = {1, 1, 1}, .block = {warps * 32, 1, 1}, .params = &params};
        result = (SimLaunchResult){0};
        assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    }
    memcpy(&took, device_view(&d, params.out, 8), 8);
    u64 issued = 0;
    for (u32 sm = 0; sm < time_sms(d.sim->machines[0]); sm++)
        issued += time_sm_counters(d.sim->machines[0], sm)[SMC_ISSUED];
    device_close(&d);
    return (Spin){(f64)took / TIMES, issued};
}

// What an H200 takes for a round, and how far from that the model may be. 32 warps crowd the queue and the schedulers.
TEST(sums_take_the_turns_of_an_h200) {
    static const struct {
        const char *type;
        u32 meet, warps;
        bool apart;
        f64 h200, tolerance;
    } rows[] = {
        {"f32", 1, 1, false, 124.3, 0.05},    {"f32", 2, 1, false, 219.3, 0.05},   {"f32", 8, 1, false, 789.3, 0.05},
        {"f32", 32, 1, false, 3069.3, 0.05},  {"f32", 1, 2, false, 206.3, 0.05},   {"f32", 32, 2, false, 5693.3, 0.05},
        {"f32", 32, 2, true, 3069.3, 0.05},   {"f32", 1, 8, false, 710.7, 0.05},   {"f32", 8, 8, false, 5417.0, 0.05},
        {"f32", 8, 8, true, 804.8, 0.05},     {"f32", 1, 32, false, 1600.5, 0.15}, {"f32", 1, 32, true, 208.8, 0.15},
        {"f32", 8, 32, false, 11375.1, 0.15}, {"f32", 8, 32, true, 997.5, 0.15},   {"f64", 1, 1, false, 148.0, 0.1},
        {"f64", 8, 1, false, 929.0, 0.1},     {"f64", 8, 2, false, 1721.0, 0.1},   {"f64", 8, 2, true, 929.0, 0.1},
        {"f64", 8, 8, false, 6821.9, 0.1},    {"f64", 1, 32, false, 2415.9, 0.2},  {"u64", 1, 1, false, 148.0, 0.1},
        {"u64", 8, 1, false, 929.0, 0.1},     {"u64", 32, 2, false, 6658.0, 0.1},
    };
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        f64 cycles = play(rows[i].type, rows[i].meet, rows[i].warps, rows[i].apart).cycles, h200 = rows[i].h200;
        print_message("%s, %u lanes meet, %u warps%s: %.1f, an H200 %.1f\n", rows[i].type, rows[i].meet, rows[i].warps,
                      rows[i].apart ? " apart" : "", cycles, h200);
        assert_true(cycles > h200 * (1 - rows[i].tolerance) && cycles < h200 * (1 + rows[i].tolerance));
    }
}

// LDS, FADD, ATOMS, ISETP and BRA again for each lane more, and BSYNC for those that are done before; without BSYNC
// where another warp was quicker.
TEST(turns_are_issued) {
    u64 alone = play("f32", 1, 1, false).issued;
    assert_int_equal(play("f32", 2, 1, false).issued, alone + 2 * TIMES * 6);
    assert_int_equal(play("f32", 32, 1, false).issued, alone + 2 * TIMES * 6 * 31);
    u64 apart = play("f32", 1, 2, true).issued, together = play("f32", 1, 2, false).issued;
    assert_in_range(together, apart + 2 * (TIMES - 1) * 5, apart + 2 * TIMES * 5);  // they need not begin together
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_take_the_turns_of_an_h200),
                                       cmocka_unit_test(turns_are_issued)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
