// SPDX-License-Identifier: Apache-2.0
// Threads that load and store in a line each, on gpus/h200.gpu, against what an H200 takes (bench/hwref/h200-rows.tsv,
// rows/PROGRAM/own/128/4_bytes/WARPS_warps, 2026-11-22): L is a load, S a store, H one of a half word
// (own/1536/2_bytes, S and s there), U a load of one word by all, W a wait for what was loaded, and P after it all, of
// which there are no figures, a last store that every second warp makes.
#include "sim/time/loop_testing.h"

enum { TURNS = 64, ARRAY = 1 << 17, RESULTS = 4096, TEXT = 8192 };

static void kernel_of(const char *program, char *text) {
    int at = snprintf(
        text, TEXT,
        PTX_HEAD ".visible .entry rows(.param .u64 out, .param .u32 turns) {\n.reg .b64 %%rd<12>;\n.reg .b32 %%r<40>;\n"
                 ".reg .pred %%p<3>;\nld.param.u64 %%rd1, [out];\nld.param.u32 %%r39, [turns];\ncvta.to.global.u64 "
                 "%%rd1, %%rd1;\n"
                 "mov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, %d;\nadd.s64 %%rd3, %%rd1, %%rd2;\n"
                 "and.b32 %%r2, %%r1, 32;\nsetp.eq.u32 %%p2, %%r2, 0;\nmov.u32 %%r2, 0;\nmov.u32 %%r3, "
                 "0;\nmov.u64 %%rd5, %%rd3;\nmov.u64 %%rd9, %%rd1;\nmov.u64 %%rd6, %%clock64;\nTURN:\n",
        strchr(program, 'H') ? 1536 : 128);
    u32 arrays = 0, waited = 0;
    for (const char *p = program; *p; p++) {
        u32 off = RESULTS + arrays * ARRAY;
        if (*p == 'L') at += snprintf(text + at, TEXT - at, "ld.global.u32 %%r%u, [%%rd5+%u];\n", 10 + arrays++, off);
        if (*p == 'U')
            at +=
                snprintf(text + at, TEXT - at, "ld.global.u32 %%r%u, [%%rd9+%u];\n", 10 + arrays, RESULTS + 4 * arrays),
                arrays++;
        if (*p == 'S') at += snprintf(text + at, TEXT - at, "st.global.u32 [%%rd5+%u], %%r3;\n", off), arrays++;
        if (*p == 'H') at += snprintf(text + at, TEXT - at, "st.global.u16 [%%rd5+%u], %%r3;\n", off), arrays++;
        if (*p != 'W') continue;
        for (; waited < arrays; waited++)
            if (!strchr("SH", program[waited]))
                at += snprintf(text + at, TEXT - at, "add.u32 %%r3, %%r3, %%r%u;\n", 10 + waited);
        at += snprintf(text + at, TEXT - at,
                       "cvt.u64.u32 %%rd7, %%r3;\nadd.s64 %%rd5, %%rd3, %%rd7;\nadd.s64 %%rd9, %%rd1, %%rd7;\n");
    }
    at +=
        snprintf(text + at, TEXT - at,
                 "add.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%p1, %%r2, %%r39;\n@%%p1 bra TURN;\nmov.u64 %%rd8, %%clock64;\n"
                 "sub.s64 %%rd8, %%rd8, %%rd6;\nshr.u32 %%r4, %%r1, 5;\nmul.wide.u32 %%rd9, %%r4, 8;\nadd.s64 %%rd9, "
                 "%%rd1, %%rd9;\n"
                 "st.global.u64 [%%rd9], %%rd8;\nst.global.u32 [%%rd9+2048], %%r3;\n");
    for (const char *p = strchr(program, 'P'); p && *p; p++)
        at += snprintf(text + at, TEXT - at, "@%%p2 st.global.u32 [%%rd3+%u], %%r3;\n", RESULTS);
    snprintf(text + at, TEXT - at, "ret;\n}\n");
}

// Cycles for a turn of the warps that are done first and last, of CTAs on one SM; the second of two launches, which
// finds all in the L2.
static void play(const char *program, u32 ctas, u32 warps, u32 turns, double *first, double *last) {
    TestDevice d = {0};
    char text[TEXT];
    SimKernel *kernel;
    kernel_of(program, text);
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    d.gpu.sms = 1;
    DevicePtr out = device_memory(&d, NULL, RESULTS + 8 * ARRAY);
    struct {
        DevicePtr out;
        u32 turns;
    } params = {out, turns};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "rows", &kernel), STATUS_OK);
    for (u32 i = 0; i < 2; i++) {
        SimLaunch launch = {.kernel = kernel, .grid = {ctas, 1, 1}, .block = {warps * 32, 1, 1}, .params = &params};
        SimLaunchResult result = {0};
        assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    }
    const u64 *ends = device_view(&d, out, warps * sizeof *ends);
    *first = *last = (double)ends[0] / turns;
    for (u32 w = 0; w < warps; w++) {
        double end = (double)ends[w] / turns;
        *first = end < *first ? end : *first;
        *last = end > *last ? end : *last;
    }
    device_close(&d);
}

static void expect(const char *program, u32 ctas, u32 warps, double h200, double tolerance) {
    double first, last;
    play(program, ctas, warps, TURNS, &first, &last);
    print_message("%-10s %2u warps %8.1f to %8.1f, an H200 %g\n", program, warps, first, last, h200);
    if (last < h200 * (1 - tolerance) || last > h200 * (1 + tolerance))
        fail_msg("%s of %u warps: %g, not within %g %% of %g", program, warps, last, tolerance * 100, h200);
}

// 32 words in one bank: a warp's loads follow each other by 64 cycles (what is in the loop besides them is not the same
// here and there), those of several warps by 32.
TEST(loads_of_rows) {
    double first, one, eight;
    play("LW", 1, 1, TURNS, &first, &one);
    play("LLLLLLLLW", 1, 1, TURNS, &first, &eight);
    print_message("a further load %.1f, an H200 %.1f\n", (eight - one) / 7, (612.4 - 165.2) / 7);
    assert_true((eight - one) / 7 > 58 && (eight - one) / 7 < 70);
    expect("LLLLW", 1, 4, 522, 0.1);
    expect("LW", 1, 8, 264, 0.1);
    expect("LLLLW", 1, 8, 1037, 0.1);
}

// Cycles of a load of a word of each of 32 lines that hit, so many bytes apart; of one word: 0.
static double cycles_of_load(u32 apart) {
    static const char text[] = PTX_HEAD
        ".visible .entry load(.param .u64 out, .param .u32 apart, .param .u32 zero) {\n.reg .b64 %rd<9>;\n.reg .b32 "
        "%r<9>;\n"
        ".reg .pred %p<2>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [apart];\nld.param.u32 %r2, [zero];\n"
        "mov.u32 %r3, %tid.x;\nmul.wide.u32 %rd2, %r3, %r1;\nadd.s64 %rd2, %rd1, %rd2;\n"
        "ld.global.u32 %r4, [%rd2+1024];\nmul.wide.u32 %rd3, %r4, %r2;\nadd.s64 %rd2, %rd2, %rd3;\n"
        "mov.u64 %rd4, %clock64;\nadd.s64 %rd2, %rd2, %rd3;\nld.global.u32 %r5, [%rd2+1024];\ncvt.u64.u32 %rd5, %r5;\n"
        "add.s64 %rd4, %rd4, %rd5;\nmov.u64 %rd6, %clock64;\nsub.s64 %rd6, %rd6, %rd4;\nsetp.eq.u32 %p1, %r3, 0;\n"
        "@%p1 st.global.u64 [%rd1], %rd6;\nret;\n}\n";
    return (double)loop_cycles(&(LoopTest){.text = text,
                                           .kernel = "load",
                                           .sms = 1,
                                           .threads = 32,
                                           .launches = 1,
                                           .bytes = 1 << 17,
                                           .at = 0,
                                           .values = {apart, 0}});
}

// Tags are looked up before data are read: 8 lines of 32 in the fullest of four banks of tags when they lie behind each
// other, 11 and 14 when 384 and 1,536 bytes apart; 62 cycles more for 32 words of a bank (h200-row-turns.tsv, L and U).
TEST(tags_of_rows_are_looked_up_before_their_data) {
    double word = cycles_of_load(0), next = cycles_of_load(128) - word, far = cycles_of_load(1536) - word;
    print_message("32 lines %.0f and %.0f cycles more than a word, an H200 69 and 75\n", next, far);
    assert_true(next > 66 && next < 72);
    assert_true(far > next && far < 80);
}

// Warps that find the queue full keep the unit busy: 125.5 bytes a cycle of 128 (Accel-Sim's l1_bw_32f on an H200, one
// CTA of 32 warps, 2026-11-23). The 1.55 cycles of stride/load_l1/0 (h200-micro.tsv) are what that loop's additions
// take. There the L1 has all before clocks are read; here the first turns bring it, so that later ones count.
TEST(loads_of_a_word_leave_no_gap) {
    double first, begun, all, h200 = 8 * 32 * 128 / 125.5;
    play("UUUUUUUUW", 1, 32, TURNS, &first, &begun);
    play("UUUUUUUUW", 1, 32, 2 * TURNS, &first, &all);
    print_message("UUUUUUUUW %.1f, an H200 %.1f\n", 2 * all - begun, h200);
    assert_true(2 * all - begun > 0.95 * h200 && 2 * all - begun < 1.05 * h200);
}

// Each sector goes out alone, two cycles with its bytes' mask, and loads wait for the stores before them.
TEST(stores_of_rows_and_loads_behind_them) {
    expect("S", 1, 8, 477, 0.2);
    expect("SSSS", 1, 8, 2013, 0.15);
    expect("SLW", 1, 8, 814, 0.15);
    expect("LSW", 1, 8, 782, 0.15);
    expect("SSSSLW", 1, 8, 2211, 0.15);
}

// Loads of several warps take turns, so that all warps have theirs at the end, and then all store: one after the other
// it was 277, 512 and 1,030 cycles, as some still load when others store.
TEST(loads_begun_together_end_together) {
    expect("LLWS", 1, 2, 312, 0.1);
    expect("LLWS", 1, 4, 581, 0.1);
    expect("LLWS", 1, 8, 1144, 0.1);
}

// Of a word that is not stored whole the rest is read before: 80 to 89 cycles a store and not 64.
TEST(half_words_are_merged_into_their_lines) {
    expect("HHHH", 1, 2, 673, 0.1);
    expect("HHHH", 1, 8, 2735, 0.1);
    expect("HLW", 1, 4, 546, 0.1);
    expect("HLW", 1, 16, 1980, 0.1);
}

// Warps that find the queue full take turns: the first is done when the last is, nearly (937 and 991 of 16).
TEST(warps_that_store_take_turns) {
    double first, last;
    play("S", 1, 16, TURNS, &first, &last);
    print_message("first %.1f last %.1f\n", first, last);
    assert_true(first > 0.8 * last);
}

// A store all of whose lanes are predicated off leaves its place in the queue to the next warp, or nothing ends.
TEST(stores_of_no_lane_let_others_in) {
    double first, last;
    play("SPPPP", 1, 16, TURNS, &first, &last);
    play("SPPPP", 1, 32, TURNS, &first, &last);
    assert_true(last > 32);
}

// The same in a queue of one place, and with nothing behind: all warps but the first store with no lane and end.
TEST(a_queue_of_one_is_passed_on) {
    static const char text[] =
        PTX_HEAD ".visible .entry first(.param .u64 p) {\n.reg .pred %q;\n.reg .b32 %r;\n.reg .b64 %d;\n"
                 "ld.param.u64 %d, [p];\nmov.u32 %r, %tid.x;\nsetp.lt.u32 %q, %r, 32;\n@%q st.global.u32 [%d], %r;\n"
                 "@%q st.global.u32 [%d+4], %r;\n@%q st.global.u32 [%d+8], %r;\nret;\n}\n";
    TestDevice d = {0};
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    d.gpu.sms = d.gpu.lsu_queue = 1;
    DevicePtr out = device_memory(&d, NULL, 64);
    device_run(&d, "first", 1, 1024, &out);
    device_close(&d);
}

// Eight lanes load a line each, all from DRAM: the lines numbered in `lines`, from a multiple of 2 MiB on.
static double cycles_of(const u32 *lines) {
    static const char text[] = PTX_HEAD
        ".visible .entry lines(.param .u64 list, .param .u64 data) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<5>;\n"
        "ld.param.u64 %rd1, [list];\nld.param.u64 %rd2, [data];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nld.global.u32 %r2, [%rd3];\n"
        "mul.wide.u32 %rd4, %r2, 128;\nadd.s64 %rd4, %rd2, %rd4;\nmov.u64 %rd5, %clock64;\nld.global.u32 %r3, [%rd4];\n"
        "cvt.u64.u32 %rd6, %r3;\nadd.s64 %rd5, %rd5, %rd6;\nmov.u64 %rd7, %clock64;\nsub.s64 %rd7, %rd7, %rd5;\n"
        "st.global.u64 [%rd1+64], %rd7;\nret;\n}\n";
    enum { ALIGN = 1 << 21 };
    TestDevice d = {0};
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    d.gpu.sms = 1;
    u32 list[32] = {0};
    memcpy(list, lines, 8 * sizeof *lines);
    struct {
        DevicePtr list, data;
    } params = {device_memory(&d, list, sizeof list), device_memory(&d, NULL, 2 * ALIGN)};
    params.data = (params.data + ALIGN - 1) / ALIGN * ALIGN;
    device_run(&d, "lines", 1, 8, &params);
    double cycles = (double)*(const u64 *)device_view(&d, params.list + 64, sizeof(u64));
    device_close(&d);
    return cycles;
}

// More lines of a set than it has places are under way at once (h200-l1-sets.tsv has what shares a set).
TEST(misses_do_not_wait_for_their_set) {
    static const u32 one_set[8] = {0x000, 0x271, 0x41b, 0x66a, 0x976, 0xb07, 0xd6d, 0xf1c},
                     others[8] = {0x000, 0x200, 0x400, 0x600, 0x800, 0xa00, 0xc00, 0xe00};
    double same = cycles_of(one_set), different = cycles_of(others);
    print_message("8 lines of a set %.0f, of several %.0f\n", same, different);
    assert_true(different > 300 && same < 1.2 * different);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_rows),
        cmocka_unit_test(tags_of_rows_are_looked_up_before_their_data),
        cmocka_unit_test(loads_of_a_word_leave_no_gap),
        cmocka_unit_test(stores_of_rows_and_loads_behind_them),
        cmocka_unit_test(loads_begun_together_end_together),
        cmocka_unit_test(half_words_are_merged_into_their_lines),
        cmocka_unit_test(warps_that_store_take_turns),
        cmocka_unit_test(stores_of_no_lane_let_others_in),
        cmocka_unit_test(a_queue_of_one_is_passed_on),
        cmocka_unit_test(misses_do_not_wait_for_their_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
