// SPDX-License-Identifier: Apache-2.0
// alloca, stacksave, stackrestore: memory of each lane's own size, given back by restore and by return.
#include "sim/device_testing.h"

static const char text[] = PTX_HEAD
    // sum(n): n words of alloca filled with n and summed, plus sum(n - 1)
    ".func (.param .u32 result) sum(.param .u32 n) {\n"
    "  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;\n"
    "  ld.param.u32 %r1, [n]; mov.u32 %r3, 0; setp.eq.u32 %p, %r1, 0; @%p bra done;\n"
    "  mul.wide.u32 %d1, %r1, 4; alloca.u64 %d2, %d1;\n"
    "  mov.u32 %r2, 0; mov.u64 %d3, %d2;\n"
    "fill:\n"
    "  st.local.u32 [%d3], %r1; add.u64 %d3, %d3, 4; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1; @%p bra fill;\n"
    "  sub.u32 %r4, %r1, 1;\n"
    "  { .param .u32 a; .param .u32 r; st.param.u32 [a], %r4; call (r), sum, (a); ld.param.u32 %r3, [r]; }\n"
    "  mov.u32 %r2, 0; mov.u64 %d3, %d2;\n"
    "add:\n"
    "  ld.local.u32 %r5, [%d3]; add.u32 %r3, %r3, %r5; add.u64 %d3, %d3, 4; add.u32 %r2, %r2, 1;\n"
    "  setp.lt.u32 %p, %r2, %r1; @%p bra add;\n"
    "done:\n"
    "  st.param.u32 [result], %r3; ret;\n}\n"
    // many calls: what they allocated must come back
    ".visible .entry calls(.param .u64 out) {\n"
    "  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p;\n"
    "  mov.u32 %r1, %tid.x; rem.u32 %r2, %r1, 9; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
    "again:\n"
    "  { .param .u32 a; .param .u32 r; st.param.u32 [a], %r2; call (r), sum, (a); ld.param.u32 %r5, [r]; }\n"
    "  add.u32 %r3, %r3, %r5; add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 2000; @%p bra again;\n"
    "  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3; ret;\n}\n"
    ".visible .entry saved(.param .u64 out) {\n"
    "  .reg .b32 %r<9>; .reg .b64 %d<12>; .reg .pred %p;\n"
    "  mov.u32 %r1, %tid.x; mul.wide.u32 %d9, %r1, 4; add.u64 %d9, %d9, 4;\n"
    "  stacksave.u64 %d1; alloca.u64 %d2, %d9, 16; stacksave.u64 %d3;\n"
    "  mov.u64 %d8, 100; alloca.u64 %d4, %d8; st.local.u32 [%d4], 5; stackrestore.u64 %d3; stacksave.u64 %d5;\n"
    "  alloca.u64 %d6, %d8;\n"
    "  sub.u64 %d1, %d1, %d2; sub.u64 %d3, %d3, %d5; sub.u64 %d6, %d6, %d4; and.b64 %d2, %d2, 15; and.b64 %d4, %d4, "
    "7;\n"
    "  ld.param.u64 %d7, [out]; mul.wide.u32 %d8, %r1, 40; add.u64 %d7, %d7, %d8;\n"
    "  st.global.u64 [%d7], %d1; st.global.u64 [%d7+8], %d3; st.global.u64 [%d7+16], %d6;\n"
    "  st.global.u64 [%d7+24], %d2; st.global.u64 [%d7+32], %d4; ret;\n}\n"
    ".visible .entry endless() {\n"
    "  .reg .b64 %d<3>;\n"
    "more: mov.u64 %d1, 4096; alloca.u64 %d2, %d1; bra more;\n}\n"
    // 16 bytes of local memory, read behind them
    ".visible .entry beyond() {\n"
    "  .local .align 4 .b8 own[16]; .reg .b32 %r<3>;\n"
    "  mov.u32 %r1, own; ld.local.u32 %r2, [%r1+64]; ret;\n}\n";

TEST(memory_comes_back_when_a_function_returns) {
    TestDevice d;
    device_open(&d, text);
    u64 out = device_memory(&d, NULL, 128);
    device_run(&d, "calls", 1, 32, &out);
    const u32 *sums = device_view(&d, out, 128);
    for (u32 t = 0; t < 32; t++) {
        u32 n = t % 9;
        assert_int_equal(sums[t], 2000 * n * (n + 1) * (2 * n + 1) / 6);
    }
    device_close(&d);
}

TEST(restore_takes_back_what_came_after_save) {
    TestDevice d;
    device_open(&d, text);
    u64 out = device_memory(&d, NULL, 32 * 40);
    device_run(&d, "saved", 1, 32, &out);
    for (u32 t = 0; t < 32; t++) {
        const u64 *row = device_view(&d, out + t * 40, 40);
        assert_in_range(row[0], 4 * t + 4, 4 * t + 4 + 16);
        for (u32 k = 1; k < 5; k++) assert_int_equal(row[k], 0);  // saved again, allocated again, alignments
    }
    device_close(&d);
}

TEST(the_stack_has_an_end) {
    TestDevice d;
    device_open(&d, text);
    assert_int_equal(device_try(&d, "endless", 1, 32, NULL), STATUS_FAULT);
    device_close(&d);
}

// Where a thread's local memory ends does not depend on what ran before.
TEST(local_memory_is_that_of_the_launch) {
    TestDevice d;
    device_open(&d, text);
    u64 out = device_memory(&d, NULL, 32 * 40);
    device_run(&d, "saved", 1, 32, &out);
    assert_int_equal(device_try(&d, "beyond", 1, 32, NULL), STATUS_FAULT);
    device_close(&d);
}

// deep(n, w): n calls down, each with local memory that it stores to, or sums up; without alloca most of the stack is
// never cleared.
static const char recursive[] =
    PTX_HEAD ".func (.param .u32 result) deep(.param .u32 n, .param .u32 w) {\n"
             "  .local .align 4 .b8 own[40]; .reg .b32 %r<9>; .reg .pred %p;\n"
             "  ld.param.u32 %r1, [n]; ld.param.u32 %r2, [w]; mov.u32 %r3, 0; setp.eq.u32 %p, %r2, 0; @%p bra read;\n"
             "  st.local.u32 [own+36], %r1; bra.uni down;\n"
             "read:\n"
             "  ld.local.u32 %r3, [own+36];\n"
             "down:\n"
             "  setp.eq.u32 %p, %r1, 0; @%p bra done; sub.u32 %r4, %r1, 1;\n"
             "  { .param .u32 a; .param .u32 b; .param .u32 r; st.param.u32 [a], %r4; st.param.u32 [b], %r2;\n"
             "    call (r), deep, (a, b); ld.param.u32 %r5, [r]; }\n"
             "  add.u32 %r3, %r3, %r5;\n"
             "done:\n"
             "  st.param.u32 [result], %r3; ret;\n}\n"
             ".visible .entry k(.param .u64 out, .param .u32 n, .param .u32 w) {\n"
             "  .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
             "  ld.param.u32 %r1, [n]; ld.param.u32 %r2, [w];\n"
             "  { .param .u32 a; .param .u32 b; .param .u32 r; st.param.u32 [a], %r1; st.param.u32 [b], %r2;\n"
             "    call (r), deep, (a, b); ld.param.u32 %r5, [r]; }\n"
             "  ld.param.u64 %d1, [out]; mov.u32 %r6, %tid.x; mul.wide.u32 %d2, %r6, 4; add.u64 %d1, %d1, %d2;\n"
             "  st.global.u32 [%d1], %r5; ret;\n}\n";

TEST(nothing_is_left_of_earlier_stacks) {
    TestDevice d;
    device_open(&d, recursive);
    u64 out = device_memory(&d, NULL, 128);
    struct {
        u64 out;
        u32 depth, writes;
    } writing = {out, 200, 1}, reading = {out, 200, 0}, less = {out, 3, 1};
    device_run(&d, "k", 1, 32, &writing);
    device_run(&d, "k", 1, 32, &less);
    device_run(&d, "k", 1, 32, &reading);
    const u32 *sums = device_view(&d, out, 128);
    for (u32 t = 0; t < 32; t++) assert_int_equal(sums[t], 0);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_comes_back_when_a_function_returns),
        cmocka_unit_test(restore_takes_back_what_came_after_save), cmocka_unit_test(the_stack_has_an_end),
        cmocka_unit_test(local_memory_is_that_of_the_launch), cmocka_unit_test(nothing_is_left_of_earlier_stacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
