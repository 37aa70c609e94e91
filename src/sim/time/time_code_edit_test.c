// SPDX-License-Identifier: Apache-2.0
// Experiments on small kernels: each edit takes away the time that it should, and nothing that the kernel computes.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time_code.h"

enum { THREADS = 256, WORDS = THREADS * 32 };  // of "rows"; of the others a warp

#define ENTRY(name)                                                                                                   \
    ".visible .entry " name                                                                                           \
    "(.param .u64 out) {\n.reg .b64 %rd<6>;\n.reg .b32 %r<10>;\n.reg .pred %p<2>;\n.reg .f32 %f<4>;\n"                \
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nmov.u32 %r3, " \
    "0;\n"
#define TURN "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 32;\n@%p1 bra TURN;\n"

static const char kernels[] = PTX_HEAD ENTRY("empty") "ret;\n}\n"
    // Lanes read a column of a tile: all in one bank.
    ENTRY("conflicts") ".shared .align 4 .b32 tile[1024];\nmov.u32 %r4, tile;\nshl.b32 %r5, %r1, 7;\nadd.u32 %r4, %r4, "
                       "%r5;\nst.shared.u32 [%r4], %r1;\nTURN:\nld.shared.u32 %r6, [%r4];\nadd.u32 %r3, %r3, "
                       "%r6;\nadd.u32 %r4, %r4, 4;\n" TURN
                       "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r3;\nret;\n}\n"
    // Each lane goes along a row of its own.
    ENTRY("rows") "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd2, %rd1, %rd2;\nmov.u64 %rd3, %rd2;\nTURN:\n"
                  "ld.global.u32 %r6, [%rd3];\nadd.u32 %r3, %r3, %r6;\nadd.s64 %rd3, %rd3, 4;\n" TURN
                  "st.global.u32 [%rd2], %r3;\nret;\n}\n"
    // A sum that is kept in memory.
    ENTRY("sum") "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nTURN:\nld.global.u32 %r6, [%rd2];\n"
                 "add.u32 %r6, %r6, %r2;\nst.global.u32 [%rd2], %r6;\n" TURN "ret;\n}\n"
    // Exact divisions.
    ENTRY("divide") "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\ncvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, "
                    "0f40400000;\nTURN:\ndiv.rn.f32 %f1, %f1, %f2;\n" TURN "st.global.f32 [%rd2], %f1;\nret;\n}\n"
    // A chain in double precision.
    ENTRY("doubles") ".reg .f64 %d<3>;\nmul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd2, %rd1, %rd2;\ncvt.rn.f64.u32 %d1, "
                     "%r1;\nmov.f64 %d2, 0d3FE0000000000000;\nTURN:\nfma.rn.f64 %d1, %d1, %d2, %d2;\n" TURN
                     "st.global.f64 [%rd2], %d1;\nret;\n}\n"
    // All lanes add to one word.
    ENTRY("meet") "mov.f32 %f1, 0f3F800000;\nTURN:\nred.global.add.f32 [%rd1], %f1;\n" TURN "ret;\n}\n"
    // Words far apart, one a turn.
    ENTRY("walk") "mov.u64 %rd2, %rd1;\nTURN:\n.pragma \"nounroll\";\nld.global.u32 %r6, [%rd2];\nadd.u32 %r3, %r3, "
                  "%r6;\nadd.s64 %rd2, %rd2, 512;\n" TURN "st.global.u32 [%rd1], %r3;\nret;\n}\n"
    // CTAs that fill the shared memory of an SM two at a time.
    ENTRY("crowd") ".shared .align 4 .b8 room[40000];\nmov.u32 %r4, room;\nmov.u64 %rd2, %rd1;\nTURN:\nld.global.u32 "
                   "%r6, [%rd2];\nadd.u32 %r3, %r3, %r6;\nand.b32 %r6, %r6, 0;\ncvt.u64.u32 %rd3, %r6;\nadd.s64 %rd2, "
                   "%rd2, %rd3;\n" TURN "st.shared.u32 [%r4], %r3;\nret;\n}\n";

typedef struct Outcome {
    u64 ns;
    u32 words[WORDS];
} Outcome;

static void run(const char *kernel, const char *edits, u32 threads, Outcome *outcome) {
    TestDevice d;
    static u32 words[WORDS];
    device_open_with(&d, kernels, (SimConfig){.threads = threads, .timing = true, .edits = {edits, strlen(edits)}});
    for (u32 i = 0; i < WORDS; i++) words[i] = i * 7 + 3;
    DevicePtr out = device_memory(&d, words, sizeof words);
    d.gpu.sms = 1;
    device_run(&d, kernel, strcmp(kernel, "crowd") == 0 ? 20 : 1, strcmp(kernel, "rows") == 0 ? THREADS : 32, &out);
    outcome->ns = sim_clock_ns(d.sim, 0);
    memcpy(outcome->words, device_view(&d, out, sizeof words), sizeof words);
    device_close(&d);
}

// With the edits it takes less than this part of the time, computes the same, and does both again with two threads.
static void gains(const char *kernel, const char *edits, double part) {
    static Outcome plain, edited, again, empty;
    run(kernel, "", 1, &plain);
    run(kernel, edits, 1, &edited);
    run(kernel, edits, 2, &again);
    assert_memory_equal(plain.words, edited.words, sizeof plain.words);
    run("empty", "", 1, &empty);
    if ((double)(edited.ns - empty.ns) >= part * (double)(plain.ns - empty.ns))
        fail_msg("%s: %llu ns instead of %llu, %llu of them the launch", kernel, (unsigned long long)edited.ns,
                 (unsigned long long)plain.ns, (unsigned long long)empty.ns);
    assert_int_equal(edited.ns, again.ns);
}

// The last instruction of this operation.
static u32 pc_of(const char *kernel, u32 op) {
    TestDevice d;
    device_open(&d, kernels);
    const Module *m = sim_module_ptx(d.module);
    u32 found = WL_NONE;
    for (u32 f = 0; f < m->func_count; f++) {
        if (strcmp(module_text(m, m->funcs[f].name), kernel) != 0) continue;
        for (u32 i = 0; i < m->funcs[f].insn_count; i++)
            if (insn_form(m, &m->insns[m->funcs[f].insns + i])->op == op) found = i;
    }
    device_close(&d);
    assert_int_not_equal(found, WL_NONE);
    return found;
}

static const char *list(const char *edit, const char *kernel, u32 pc) {
    static char text[128];
    snprintf(text, sizeof text, "%s %u %s %s\n", edit, pc, kernel, kernel);
    return text;
}

TEST(conflicts_go) { gains("conflicts", list("conflict-free 100", "conflicts", pc_of("conflicts", OP_LD)), 0.8); }

TEST(rows_are_read_sector_by_sector) { gains("rows", list("coalesced 100", "rows", pc_of("rows", OP_LD)), 0.7); }

TEST(what_is_kept_in_a_register_is_not_accessed) {
    char text[256];
    int at = snprintf(text, sizeof text, "%s", list("free 97", "sum", pc_of("sum", OP_LD)));
    snprintf(text + at, sizeof text - (size_t)at, "%s", list("free 97", "sum", pc_of("sum", OP_ST)));
    gains("sum", text, 0.6);
}

TEST(part_of_a_sequence_goes) { gains("divide", list("free 80", "divide", pc_of("divide", OP_DIV_F_RND)), 0.7); }

TEST(doubles_take_the_time_of_floats) {
    gains("doubles", list("as-float 100", "doubles", pc_of("doubles", OP_FMA_F64)), 0.9);
}

TEST(one_lane_asks_for_its_warp) { gains("meet", list("joined 100", "meet", pc_of("meet", OP_RED)), 0.7); }

TEST(turns_overlap) { gains("walk", list("unrolled 100", "walk", pc_of("walk", OP_LD)), 0.7); }

TEST(more_are_resident) { gains("crowd", list("resident 100", "crowd", 20), 0.7); }

// Of another kernel, another function, or behind the end: nothing is edited.
TEST(other_edits_change_nothing) {
    static Outcome plain, edited;
    run("rows", "", 1, &plain);
    run("rows", "free 100 9 sum sum\nfree 100 9 sum rows\nfree 100 100000 rows rows\ncoalesced 100 0 rows rows\n", 1,
        &edited);
    assert_int_equal(plain.ns, edited.ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conflicts_go),
                                       cmocka_unit_test(rows_are_read_sector_by_sector),
                                       cmocka_unit_test(what_is_kept_in_a_register_is_not_accessed),
                                       cmocka_unit_test(part_of_a_sequence_goes),
                                       cmocka_unit_test(doubles_take_the_time_of_floats),
                                       cmocka_unit_test(one_lane_asks_for_its_warp),
                                       cmocka_unit_test(turns_overlap),
                                       cmocka_unit_test(more_are_resident),
                                       cmocka_unit_test(other_edits_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
