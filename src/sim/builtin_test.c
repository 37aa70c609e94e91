// SPDX-License-Identifier: Apache-2.0
// The device runtime: heap, assert, launches from kernels.
#include "sim/device_testing.h"

static const char heap_ptx[] = PTX_HEAD
    ".extern .func (.param .b64 r) malloc (.param .b64 s);\n"
    ".extern .func free (.param .b64 p);\n"
    ".visible .entry take(.param .u64 out, .param .u64 size) {\n"
    "  .reg .b64 %d<6>; .reg .b32 %r<3>; .reg .pred %p;\n"
    "  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [size];\n"
    "  { .param .b64 a; .param .b64 q; st.param.b64 [a+0], %d2; call.uni (q), malloc, (a); ld.param.b64 %d3, [q+0]; }\n"
    "  mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 8; add.u64 %d4, %d1, %d4; st.global.u64 [%d4], %d3;\n"
    "  setp.eq.u64 %p, %d3, 0; @%p ret; st.u32 [%d3], %r1;\n"
    "  ret;\n}\n"
    ".visible .entry give(.param .u64 blocks) {\n"
    "  .reg .b64 %d<6>; .reg .b32 %r<3>;\n"
    "  ld.param.u64 %d1, [blocks]; mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 8; add.u64 %d4, %d1, %d4; ld.global.u64 "
    "%d3, [%d4];\n"
    "  { .param .b64 a; st.param.b64 [a+0], %d3; call.uni free, (a); }\n"
    "  ret;\n}\n";

TEST(heap_blocks_outlive_the_launch) {
    TestDevice d;
    device_open(&d, heap_ptx);
    struct {
        u64 out, size;
    } params = {device_memory(&d, NULL, 64 * 8), 100};
    device_run(&d, "take", 1, 64, &params);
    u64 *blocks = device_view(&d, params.out, 64 * 8);
    for (u32 i = 0; i < 64; i++) {
        assert_true(blocks[i] != 0 && blocks[i] % 16 == 0);
        assert_int_equal(*(u32 *)device_view(&d, blocks[i], 100), i);
        for (u32 k = 0; k < i; k++) assert_true(blocks[k] != blocks[i]);
    }
    u64 freed = blocks[0];
    device_run(&d, "give", 1, 64, &params.out);
    assert_null(sim_find(d.sim, freed));
    assert_int_equal(device_try(&d, "give", 1, 64, &params.out), STATUS_FAULT);  // a second time
    device_close(&d);
}

TEST(heap_is_limited) {
    TestDevice d;
    device_open(&d, heap_ptx);
    struct {
        u64 out, size;
    } params = {device_memory(&d, NULL, 64 * 8), 1 << 20};
    device_run(&d, "take", 1, 64, &params);
    u64 *blocks = device_view(&d, params.out, 64 * 8);
    u32 given = 0;
    for (u32 i = 0; i < 64; i++) given += blocks[i] != 0;
    assert_int_equal(given, 8);                  // 8 MiB
    device_run(&d, "give", 1, 64, &params.out);  // free(NULL) is allowed
    device_run(&d, "take", 1, 1, &params);
    assert_true(blocks[0] != 0);
    u64 other = params.out;
    memcpy(device_view(&d, params.out, 8), &other, 8);  // memory of the host's cudaMalloc is none of its blocks
    assert_int_equal(device_try(&d, "give", 1, 1, &params.out), STATUS_FAULT);
    device_close(&d);
}

TEST(assert_prints_each_thread) {
    static const char ptx[] = PTX_HEAD
        ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
        ".visible .entry check(.param .u64 message, .param .u64 file, .param .u64 function) {\n"
        "  .reg .b64 %d<6>; .reg .b32 %r<3>; .reg .pred %p;\n"
        "  ld.param.u64 %d1, [message]; ld.param.u64 %d2, [file]; ld.param.u64 %d3, [function];\n"
        "  mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 3; @%p ret;\n"
        "  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 e; .param .b64 f;\n"
        "    st.param.b64 [a+0], %d1; st.param.b64 [b+0], %d2; st.param.b32 [c+0], 17; st.param.b64 [e+0], %d3; "
        "st.param.b64 [f+0], 1;\n"
        "    call.uni __assertfail, (a, b, c, e, f); }\n"
        "  ret;\n}\n";
    TestDevice d;
    device_open(&d, ptx);
    struct {
        u64 message, file, function;
    } params = {device_memory(&d, "x == 1", 7), device_memory(&d, "a.cu", 5), device_memory(&d, "void f()", 9)};
    assert_int_equal(device_try(&d, "check", 1, 5, &params), STATUS_FAULT);
    assert_string_equal(d.printed, "a.cu:17: void f(): block: [0,0,0], thread: [3,0,0] Assertion `x == 1` failed.\n"
                                   "a.cu:17: void f(): block: [0,0,0], thread: [4,0,0] Assertion `x == 1` failed.\n");
    assert_int_equal(sim_fault_code(d.sim), 710);
    assert_non_null(strstr(d.diag.entries.data[0].text, "thread: [3,0,0] Assertion `x == 1` failed."));
    device_close(&d);
}

// --- dynamic parallelism -------------------------------------------------------------------------------------------
// down(log, n): thread 0 of each CTA appends n to the log, then launches down(log, n-1) with n-1 CTAs; `grid` CTAs of
// `block` threads.
static const char cdp_ptx[] =
    PTX_HEAD ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2 (.param .b64 f, .param .align 4 .b8 g[12], "
             ".param .align 4 .b8 b[12], .param .b32 s);\n"
             ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 b, .param .b64 s);\n"
             ".visible .entry down(.param .u64 log, .param .u32 n, .param .u32 block) {\n"
             "  .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p;\n"
             "  ld.param.u64 %d1, [log]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [block];\n"
             "  mov.u32 %r3, %tid.x; setp.ne.u32 %p, %r3, 0; @%p ret;\n"
             "  atom.global.add.u32 %r4, [%d1], 1; mul.wide.u32 %d2, %r4, 4; add.u64 %d2, %d1, %d2; st.global.u32 "
             "[%d2+4], %r1;\n"
             "  sub.u32 %r5, %r1, 1; setp.eq.u32 %p, %r5, 0; @%p ret;\n"
             "  mov.u64 %d3, down;\n"
             "  { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 q;\n"
             "    st.param.b64 [f+0], %d3; st.param.b32 [g+0], %r5; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"
             "    st.param.b32 [b+0], %r2; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s+0], 0;\n"
             "    call.uni (q), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %d4, [q+0]; }\n"
             "  setp.eq.u64 %p, %d4, 0; @%p ret;\n"
             "  st.u64 [%d4], %d1; st.u32 [%d4+8], %r5; st.u32 [%d4+12], %r2;\n"
             "  { .param .b64 a; .param .b64 s; .param .b32 q; st.param.b64 [a+0], %d4; st.param.b64 [s+0], 0;\n"
             "    call.uni (q), __cudaCDP2LaunchDeviceV2, (a, s); ld.param.b32 %r6, [q+0]; }\n"
             "  ret;\n}\n";

TEST(children_run_after_their_parents) {
    TestDevice d;
    device_open(&d, cdp_ptx);
    struct {
        u64 log;
        u32 n, block;
    } params = {device_memory(&d, NULL, 1024), 3, 32};
    u64 before = 0, after = 0, total;
    sim_memory_info(d.sim, 0, &before, &total);
    device_run(&d, "down", 1, 64, &params);
    // 3 launches one grid of 2 CTAs; each of these launches a grid of 1 CTA.
    static const u32 wanted[] = {5, 3, 2, 2, 1, 1};
    assert_memory_equal(device_view(&d, params.log, sizeof wanted), wanted, sizeof wanted);
    sim_memory_info(d.sim, 0, &after, &total);
    assert_int_equal(before, after);  // the parameter buffers are gone
    device_close(&d);
}

// How long down(log, n) of one CTA takes.
static u64 cycles_down(u32 n, const GpuModel **gpu) {
    static TestDevice d;
    device_open_with(&d, cdp_ptx, (SimConfig){.threads = 1, .timing = true});
    struct {
        u64 log;
        u32 n, block;
    } params = {device_memory(&d, NULL, 1024), n, 32};
    SimLaunch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &params};
    SimLaunchResult result = {0};
    assert_int_equal(sim_find_kernel(d.sim, d.module, "down", &launch.kernel), STATUS_OK);
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    device_close(&d);
    *gpu = &d.gpu;
    return result.cycles;
}

// A parent is over when its children are; each takes the call that launches it, the way to its begin, and its own time.
TEST(time_of_parents_holds_that_of_their_children) {
    const GpuModel *gpu;
    u64 alone = cycles_down(1, &gpu), with_child = cycles_down(2, &gpu), nested = cycles_down(3, &gpu);
    u64 child = gpu->child_launch + gpu->child_interval * gpu->clock_mhz / 1000 + gpu->launch_overhead;
    assert_true(alone < gpu->child_launch);
    assert_in_range(with_child, alone + child, alone + child + 5000);
    assert_in_range(nested, with_child + child, with_child + 2 * (child + 5000));  // two CTAs, a child of each
}

TEST(impossible_children_get_no_buffer) {
    TestDevice d;
    device_open(&d, cdp_ptx);
    struct {
        u64 log;
        u32 n, block;
    } params = {device_memory(&d, NULL, 1024), 3, 4096};
    device_run(&d, "down", 1, 32, &params);
    assert_int_equal(*(u32 *)device_view(&d, params.log, 4), 1);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_blocks_outlive_the_launch),
        cmocka_unit_test(heap_is_limited),
        cmocka_unit_test(assert_prints_each_thread),
        cmocka_unit_test(children_run_after_their_parents),
        cmocka_unit_test(impossible_children_get_no_buffer),
        cmocka_unit_test(time_of_parents_holds_that_of_their_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
