// SPDX-License-Identifier: Apache-2.0
// wgmma and mma.sp in kernels: operands and literals as a program writes them, warps of a warpgroup, descriptors that
// lead out of shared memory. (Values and layouts: exec_matrix_test.c.)
#include "sim/device_testing.h"

// Thread t has r1 = t, d5 = out + 16 t. Shared memory: halves numbered 0..7 over and over at 0, ones from 8192 on.
#define ENTRY                                                                                                   \
    ".version 8.2\n.target sm_90a\n.address_size 64\n.visible .entry run(.param .u64 out)\n{\n"                 \
    ".reg .b32 %r<20>;\n.reg .b32 %f<8>;\n.reg .b64 %d<10>;\n.reg .pred %p<4>;\n"                               \
    ".shared .align 1024 .b8 tile[16384];\n"                                                                    \
    "mov.u32 %r1, %tid.x; ld.param.u64 %d1, [out]; mad.wide.u32 %d5, %r1, 16, %d1; mov.u32 %r2, tile;\n"        \
    "shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r2;\n"                                                             \
    "mov.u32 %r4, 0x3c000000; mov.u32 %r5, 0x42004000; mov.u32 %r6, 0x45004400; mov.u32 %r7, 0x47004600;\n"     \
    "st.shared.v4.b32 [%r3], {%r4, %r5, %r6, %r7}; mov.u32 %r8, 0x3c003c00;\n"                                  \
    "st.shared.v4.b32 [%r3+8192], {%r8, %r8, %r8, %r8};\n"                                                      \
    "shr.u32 %r9, %r2, 4; cvt.u64.u32 %d2, %r9; add.u64 %d3, %d2, 0x0000000800080000; add.u64 %d4, %d3, 512;\n" \
    "mov.b32 %f1, 0f3f800000; mov.b32 %f2, %f1; mov.b32 %f3, %f1; mov.b32 %f4, %f1;\n"                          \
    "setp.eq.u32 %p1, %r1, %r1; fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;\n"
#define END                                                               \
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" \
    "st.global.v4.b32 [%d5], {%f1, %f2, %f3, %f4}; ret;\n}\n"

static Status run_threads(const char *body, u32 threads, f32 out[512]) {
    static TestDevice d;
    char ptx[4096];
    snprintf(ptx, sizeof ptx, "%s%s%s", ENTRY, body, END);
    device_open(&d, ptx);
    DevicePtr memory = device_memory(&d, NULL, 2048);
    Status status = device_try(&d, "run", 1, threads, &memory);
    if (status != STATUS_OK && status != STATUS_FAULT) device_show(&d);
    memcpy(out, device_view(&d, memory, 2048), 2048);
    device_close(&d);
    return status;
}

static Status run(const char *body, f32 out[512]) { return run_threads(body, 128, out); }

// Register e of thread t is row t / 32 * 16 + t % 32 / 4 + e / 2 * 8, column t % 4 * 2 + e % 2.
static void check(const f32 out[512], f32 every, f32 by_column, f32 by_row) {
    for (u32 i = 0; i < 512; i++) {
        u32 t = i / 4, e = i % 4, row = t / 32 * 16 + t % 32 / 4 + e / 2 * 8, column = t % 4 * 2 + e % 2;
        assert_true(out[i] == every + by_column * (f32)column + by_row * (f32)(row % 8));
    }
}

#define WGMMA "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, "

TEST(literals_are_heeded) {
    f32 out[512];
    // A ones, B columns of 0..7 twice: 56, and the accumulator's 1.
    assert_int_equal(run(WGMMA "%d4, %d3, %p1, 1, 1, 0, 0;\n", out), STATUS_OK);
    check(out, 57, 0, 0);
    assert_int_equal(run(WGMMA "%d4, %d3, %p1, -1, 1, 0, 0;\n", out), STATUS_OK);
    check(out, -55, 0, 0);
    assert_int_equal(run(WGMMA "%d4, %d3, %p1, -1, -1, 0, 0;\n", out), STATUS_OK);
    check(out, 57, 0, 0);
    // Transposed, B's element (k, n) is n.
    assert_int_equal(run(WGMMA "%d4, %d3, %p1, 1, -1, 0, 1;\n", out), STATUS_OK);
    check(out, 1, -16, 0);
    assert_int_equal(run(WGMMA "%d3, %d4, %p1, 1, 1, 1, 0;\n", out), STATUS_OK);
    check(out, 1, 0, 16);
    // scale-d as a literal and as a predicate; A in registers.
    assert_int_equal(run(WGMMA "%d4, %d3, 0, 1, 1, 0, 0;\n", out), STATUS_OK);
    check(out, 56, 0, 0);
    assert_int_equal(run("setp.ne.u32 %p1, %r1, %r1;\n" WGMMA "{%r8, %r8, %r8, %r8}, %d3, %p1, 1, 1, 1;\n", out),
                     STATUS_OK);
    check(out, 0, 16, 0);
}

TEST(sparse_selectors_are_heeded) {
    f32 out[512];
    // Indices 2 and 3 in lanes 2 and 3 of a quad, 0 and 1 in the others: sums of 2 3 6 7 or 0 1 4 5, four times.
    static const char *const meta = "and.b32 %r10, %r1, 2; setp.ne.u32 %p2, %r10, 0; selp.b32 %r11, 0xeeeeeeee, "
                                    "0x44444444, %p2;\n";
    for (u32 selector = 0; selector < 2; selector++) {
        char body[512];
        snprintf(
            body, sizeof body,
            "%swgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%%f1, %%f2, %%f3, %%f4}, %%d4, %%d3, %%r11, %u, "
            "%%p1, 1, 1, 0, 0;\n",
            meta, selector);
        assert_int_equal(run(body, out), STATUS_OK);
        check(out, selector ? 73 : 41, 0, 0);
        // B's columns are 2 0 0 4 over and over.
        snprintf(body, sizeof body,
                 "%sand.b32 %%r12, %%r1, 1; setp.ne.u32 %%p3, %%r12, 0; selp.b32 %%r12, 0x44000000, 0x4000, %%p3;\n"
                 "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%f1, %%f2, %%f3, %%f4}, {%%r8, %%r8}, {%%r12, "
                 "%%r12}, {%%f1, %%f2, %%f3, %%f4}, %%r11, %u;\n",
                 meta, selector * 2);
        assert_int_equal(run(body, out), STATUS_OK);
        check(out, selector ? 17 : 9, 0, 0);
    }
}

// ptxas lets it pass; an H200 calls it an illegal instruction.
TEST(wrong_selector_is_a_fault) {
    f32 out[512];
    assert_int_equal(
        run("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r8, %r8, %r8, %r8}, "
            "{%r8, %r8, %r8, %r8}, {%f1, %f2, %f3, %f4}, %r1, 2;\n",
            out),
        STATUS_FAULT);
}

TEST(descriptors_stay_in_shared_memory) {
    f32 out[512];
    assert_int_equal(run("add.u64 %d3, %d3, 1020;\n" WGMMA "%d4, %d3, %p1, 1, 1, 0, 0;\n", out), STATUS_FAULT);
    assert_int_equal(run("mov.b64 %d4, 0x3fff;\n" WGMMA "%d4, %d3, %p1, 1, 1, 0, 0;\n", out), STATUS_FAULT);
}

#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n) "wgmma.wait_group.sync.aligned " #n ";\n"
#define WARP "shr.u32 %r12, %r1, 5; setp.eq.u32 %p2, %r12, 0; setp.eq.u32 %p3, %r12, 4;\n"
#define FLAG "[%r2+12288]"

// Thread 0 has waited for its warpgroup, and says so; only then is B cleared. The other warps are late.
TEST(a_group_is_complete_when_all_warps_have_committed_it) {
    f32 out[512];
    static const char *const body =
        WARP "@%p3 bra CLEAR; @%p2 bra MULTIPLY; mov.u32 %r13, 50000;\n"
             "LATE: sub.u32 %r13, %r13, 1; setp.ne.u32 %p3, %r13, 0; @%p3 bra LATE;\n"
             "MULTIPLY:\n" WGMMA "%d4, %d3, %p1, 1, 1, 0, 0;\n" COMMIT WAIT(
                 0) "setp.eq.u32 %p3, %r1, 0; mov.u32 %r13, 7; @%p3 st.volatile.shared.u32 " FLAG ", %r13; bra END;\n"
                    "CLEAR: ld.volatile.shared.u32 %r13, " FLAG "; setp.ne.u32 %p3, %r13, 7; @%p3 bra CLEAR;\n"
                    "and.b32 %r13, %r1, 31; shl.b32 %r13, %r13, 4; add.u32 %r13, %r13, %r2; mov.u32 %r8, 0;\n"
                    "st.shared.v4.b32 [%r13], {%r8, %r8, %r8, %r8}; exit;\nEND:\n";
    assert_int_equal(run_threads(body, 160, out), STATUS_OK);
    check(out, 57, 0, 0);
}

// The first warp has committed two groups and waits for the first one, the others commit the second one later.
TEST(the_last_groups_may_be_pending) {
    f32 out[512];
    static const char *const body =
        WARP WGMMA "%d4, %d3, %p1, 1, 1, 0, 0;\n" COMMIT
                   "@%p2 bra FIRST; bar.sync 1, 128; bra END;\nFIRST:\n" COMMIT WAIT(1) "bar.sync 1, 128;\nEND:\n";
    assert_int_equal(run(body, out), STATUS_OK);
    check(out, 57, 0, 0);
}

TEST(a_group_that_is_not_committed_is_waited_for) {
    f32 out[512];
    static const char *const body =
        WARP WGMMA "%d4, %d3, %p1, 1, 1, 0, 0;\n" COMMIT
                   "@%p2 bra FIRST; bar.sync 1, 128; bra END;\nFIRST:\n" COMMIT WAIT(0) "bar.sync 1, 128;\nEND:\n";
    assert_int_not_equal(run(body, out), STATUS_OK);
    // ... but not by warps that have exited.
    static const char *const exits = WARP "@!%p2 exit;\n" WGMMA "%d4, %d3, %p1, 1, 1, 0, 0;\n" COMMIT WAIT(0);
    assert_int_equal(run(exits, out), STATUS_OK);
    assert_true(out[0] == 57);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_heeded),
        cmocka_unit_test(sparse_selectors_are_heeded),
        cmocka_unit_test(wrong_selector_is_a_fault),
        cmocka_unit_test(descriptors_stay_in_shared_memory),
        cmocka_unit_test(a_group_is_complete_when_all_warps_have_committed_it),
        cmocka_unit_test(the_last_groups_may_be_pending),
        cmocka_unit_test(a_group_that_is_not_committed_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
