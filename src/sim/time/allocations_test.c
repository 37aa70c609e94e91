// SPDX-License-Identifier: Apache-2.0
// A simulated cycle takes nothing from the heap: a launch allocates as often, however many turns its loop has, but for
// lists that are twice as long when they are full (20 of 30 allocations; 38,400 turns of warps).
#include "base/mem.h"
#include "sim/device_testing.h"
#include "sim/machine.h"

// Each turn: a load of lines nobody had, one of a line that all have, a store, an atomic, shared memory and a barrier.
static const char text[] = PTX_HEAD
    ".visible .entry turns(.param .u64 out, .param .u32 count) {\n"
    ".reg .b64 %rd<9>;\n.reg .b32 %r<12>;\n.reg .f32 %f<4>;\n.reg .pred %p<3>;\n.shared .align 4 .b8 s[1024];\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [count];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\n"
    "mad.lo.s32 %r4, %r3, 256, %r2;\nmov.u32 %r5, s;\nshl.b32 %r6, %r2, 2;\nadd.s32 %r5, %r5, %r6;\nmov.u32 %r7, 0;\n"
    "mov.f32 %f1, 0f3F800000;\n"
    "again:\nmad.lo.s32 %r8, %r7, 4096, %r4;\nand.b32 %r8, %r8, 262143;\nmul.wide.u32 %rd2, %r8, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f2, [%rd3+4096];\nld.global.f32 %f3, [%rd1+2048];\n"
    "fma.rn.f32 %f1, %f1, %f2, %f3;\nst.shared.f32 [%r5], %f1;\nbar.sync 0;\nld.shared.f32 %f2, [%r5];\n"
    "st.global.f32 [%rd3+4096], %f2;\natom.global.add.u32 %r9, [%rd1], 1;\nbar.sync 0;\n"
    "add.s32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, %r1;\n@%p1 bra again;\n"
    "st.global.f32 [%rd3+4096], %f1;\nret;\n}\n";

enum { CTAS = 16, BYTES = 1 << 21 };

static bool count_it(void *context, size_t size) {
    (void)size;
    ++*(u64 *)context;
    return true;
}

static u64 allocations(TestDevice *d, DevicePtr out, u32 turns) {
    SimKernel *kernel;
    struct {
        DevicePtr out;
        u32 turns;
    } params = {out, turns};
    assert_int_equal(sim_find_kernel(d->sim, d->module, "turns", &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {CTAS, 1, 1}, .block = {256, 1, 1}, .params = &params};
    SimLaunchResult result = {0};
    u64 count = 0;
    mem_set_hook(count_it, &count);
    Status status = sim_launch(d->sim, &launch, &result, &d->diag);
    mem_set_hook(NULL, NULL);
    if (status != STATUS_OK) device_show(d);
    assert_int_equal(status, STATUS_OK);
    return count;
}

TEST(a_cycle_allocates_nothing) {
    enum { FEW = 20, MANY = 300, LISTS = 20 };
    TestDevice d = {0};
    device_open_with(&d, text, (SimConfig){.threads = 1, .timing = true});
    DevicePtr out = device_memory(&d, NULL, BYTES);
    for (u32 i = 0; i < 2; i++) allocations(&d, out, MANY);  // what is kept grows to what it needs
    u64 few = allocations(&d, out, FEW), many = allocations(&d, out, MANY);
    print_message("allocations of a launch of %u turns %llu, of %u %llu\n", FEW, (unsigned long long)few, MANY,
                  (unsigned long long)many);
    assert_true(many <= few + LISTS);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cycle_allocates_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
