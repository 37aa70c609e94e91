// SPDX-License-Identifier: Apache-2.0
// istypep, against what an H200 gives for it (2026-11-21, driver 580, CUDA 13.0), and other small instructions that ask
// about addresses and sizes.
#include "sim/device_testing.h"

static const char text[] = PTX_HEAD
    ".global .texref gtex;\n.global .surfref gsurf;\n.global .b32 plain;\n.extern .shared .b32 dynamic[];\n"
    ".visible .entry kinds(.param .u64 out) {\n"
    "  .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<9>;\n"
    "  ld.param.u64 %d1, [out];\n"
    "  mov.u64 %d2, gtex; istypep.texref %p1, %d2; istypep.surfref %p2, %d2; istypep.samplerref %p3, %d2;\n"
    "  mov.u64 %d2, gsurf; istypep.texref %p4, %d2; istypep.surfref %p5, %d2;\n"
    "  mov.u64 %d2, plain; istypep.texref %p6, %d2; istypep.texref %p7, %d1;\n"
    "  selp.b32 %r1, 1, 0, %p1; selp.b32 %r2, 2, 0, %p2; selp.b32 %r3, 4, 0, %p3; selp.b32 %r4, 8, 0, %p4;\n"
    "  selp.b32 %r5, 16, 0, %p5; selp.b32 %r6, 32, 0, %p6; selp.b32 %r7, 64, 0, %p7;\n"
    "  or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3; or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5;\n"
    "  or.b32 %r1, %r1, %r6; or.b32 %r1, %r1, %r7; st.global.u32 [%d1], %r1; ret;\n}\n"
    ".visible .entry sizes(.param .u64 out) {\n"
    "  .reg .b64 %d<4>; .reg .b32 %r<9>; .shared .b32 fixed[25];\n"
    "  ld.param.u64 %d1, [out]; mov.u32 %r1, %total_smem_size; mov.u32 %r2, %dynamic_smem_size; mov.u32 %r3, fixed;\n"
    "  mov.u32 %r4, dynamic; st.shared.u32 [%r3], %r4;\n"
    "  st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r2; ret;\n}\n"
    ".visible .entry policies(.param .u64 out, .param .u64 base) {\n"
    "  .reg .b64 %d<4>; .reg .f32 %f<3>;\n"
    "  ld.param.u64 %d1, [out]; ld.param.u64 %d3, [base]; mov.f32 %f1, 0f3F000000;\n"
    "  createpolicy.fractional.L2::evict_last.b64 %d2, %f1; st.global.u64 [%d1], %d2;\n"
    "  createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %d2; st.global.u64 [%d1+8], %d2;\n"
    "  createpolicy.fractional.L2::evict_unchanged.L2::evict_unchanged.b64 %d2, 0f3EAAAAAB; st.global.u64 [%d1+16], "
    "%d2;\n"
    "  createpolicy.range.global.L2::evict_last.b64 %d2, [%d3], 100000, 1048576; st.global.u64 [%d1+24], %d2;\n"
    "  createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d2, [%d3], 0x309, 0x1e63; st.global.u64 [%d1+32], "
    "%d2;\n"
    "  createpolicy.range.global.L2::evict_first.b64 %d2, [%d3], 16777216, 16777216; st.global.u64 [%d1+40], %d2;\n"
    "  createpolicy.cvt.L2.b64 %d2, %d2; st.global.u64 [%d1+48], %d2; ret;\n}\n";

TEST(opaque_variables_are_known_by_their_address) {
    TestDevice d;
    device_open(&d, text);
    u64 out = device_memory(&d, NULL, 64);
    device_run(&d, "kinds", 1, 1, &out);
    assert_int_equal(*(u32 *)device_view(&d, out, 4), 1 | 16);
    device_close(&d);
}

TEST(shared_memory_is_counted_in_steps_of_128_bytes) {
    TestDevice d;
    SimKernel *kernel;
    SimKernelInfo info;
    device_open(&d, text);
    u64 out = device_memory(&d, NULL, 64);
    assert_int_equal(sim_find_kernel(d.sim, d.module, "sizes", &kernel), STATUS_OK);
    assert_int_equal(sim_kernel_prepare(d.sim, kernel, &info, &d.diag), STATUS_OK);
    SimLaunch launch = {
        .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared_bytes = 500, .params = &out};
    assert_int_equal(sim_launch(d.sim, &launch, &(SimLaunchResult){0}, &d.diag), STATUS_OK);
    const u32 *sizes = device_view(&d, out, 8);
    assert_int_equal(sizes[0], 640);  // 112 static, 500 dynamic
    assert_int_equal(sizes[1], 500);
    device_close(&d);
}

TEST(policies_have_the_bits_of_the_hardware) {
    TestDevice d;
    device_open(&d, text);
    struct {
        u64 out, base;
    } params = {device_memory(&d, NULL, 64), 0x7fcdee010000};
    device_run(&d, "policies", 1, 1, &params);
    const u64 *made = device_view(&d, params.out, 64);
    assert_true(made[0] == 0x1470000000000000);
    assert_true(made[1] == 0x17f0000000000000);
    assert_true(made[2] == 0x1050000000000000);
    assert_true(made[3] == 0x1c1081a000000000);
    assert_true(made[4] == 0x1d01002000000000);
    assert_true(made[5] == 0x1a500fe000000000);
    assert_true(made[6] == made[5]);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(opaque_variables_are_known_by_their_address),
                                       cmocka_unit_test(shared_memory_is_counted_in_steps_of_128_bytes),
                                       cmocka_unit_test(policies_have_the_bits_of_the_hardware)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
