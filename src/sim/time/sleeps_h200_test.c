// SPDX-License-Identifier: Apache-2.0
// How long nanosleep sleeps, what CTAs pay that take a lock one after the other, and what a carve-out leaves of the L1,
// on gpus/h200.gpu, against an H200 (2026-11-24, driver 580.159.04, CUDA 13.0): bench/hwref/h200-sleeps.tsv,
// h200-locks.tsv (plain), h200-carveout.tsv; kernels as in bench/micro.
#include <math.h>

#include "sim/time/loop_testing.h"

// --- nanosleep -----------------------------------------------------------------------------------------------------
// Sleeps `ns` again and again; at the end the mean cycles of all but the first, which may end sooner.
static const char sleeping[] =
    PTX_HEAD ".visible .entry sleeps(.param .u64 out, .param .u32 ns, .param .u32 turns) {\n"
             ".reg .b64 %rd<8>;\n.reg .b32 %r<8>;\n.reg .pred %p<2>;\n"
             "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [ns];\nld.param.u32 %r2, [turns];\nmov.u64 %rd5, 0;\n"
             "mov.u32 %r3, 0;\nnanosleep.u32 %r1;\n"
             "more: mov.u64 %rd2, %clock64;\nnanosleep.u32 %r1;\nmov.u64 %rd3, %clock64;\nsub.u64 %rd4, %rd3, %rd2;\n"
             "add.u64 %rd5, %rd5, %rd4;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra more;\n"
             "cvt.u64.u32 %rd6, %r2;\ndiv.u64 %rd5, %rd5, %rd6;\nmov.u32 %r4, %tid.x;\nmul.wide.u32 %rd7, %r4, 8;\n"
             "add.u64 %rd1, %rd1, %rd7;\nst.global.u64 [%rd1], %rd5;\nret;\n}\n";

static u64 slept(u32 ns, u32 threads) {
    return loop_cycles(&(LoopTest){.text = sleeping,
                                   .kernel = "sleeps",
                                   .sms = 1,
                                   .threads = threads,
                                   .launches = 1,
                                   .bytes = 8 * threads,
                                   .at = 8 * (threads - 1),
                                   .values = {ns, 8}});
}

// An H200's least quartile, of 64 turns.
TEST(nanosleep_ends_with_a_bit_of_the_timer) {
    static const struct {
        u32 ns;
        double h200;
    } rows[] = {{20, 75},        {40, 76},         {100, 208},        {200, 448},         {400, 958},
                {700, 1969},     {1000, 1969},     {2000, 4003},      {4000, 8055},       {10000, 32383},
                {40000, 129713}, {100000, 259475}, {400000, 1038039}, {1000000, 2076128}, {4000000, 2067632}};
    for (u32 i = 0; i < WL_COUNT(rows); i++)
        for (u32 warps = 1; warps <= 8; warps += 7) {
            double cycles = (double)slept(rows[i].ns, 32 * warps);
            print_message("%u ns, %u warps: %.0f cycles, an H200 %.0f\n", rows[i].ns, warps, cycles, rows[i].h200);
            assert_true(fabs(cycles - rows[i].h200) < 0.03 * rows[i].h200 + 30);
        }
}

// The GPU's timer counts nanoseconds.
TEST(the_timer_goes_on_with_the_clock) {
    static const char text[] =
        PTX_HEAD ".visible .entry timer(.param .u64 out, .param .u32 ns, .param .u32 none) {\n"
                 ".reg .b64 %rd<8>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [ns];\n"
                 "mov.u64 %rd2, %globaltimer;\nnanosleep.u32 %r1;\nnanosleep.u32 %r1;\nmov.u64 %rd3, %globaltimer;\n"
                 "sub.u64 %rd4, %rd3, %rd2;\nst.global.u64 [%rd1], %rd4;\nret;\n}\n";
    u64 ns = loop_cycles(&(LoopTest){
        .text = text, .kernel = "timer", .sms = 1, .threads = 1, .launches = 1, .bytes = 8, .values = {60000, 0}});
    assert_in_range(ns, 65536, 2 * 65536 + 100);
}

// --- locks ---------------------------------------------------------------------------------------------------------
static const char locking[] =
    PTX_HEAD ".visible .entry adds(.param .u64 lock) {\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n.reg .f32 %f<3>;\n.reg "
             ".pred %p<2>;\n"
             "ld.param.u64 %rd1, [lock];\n"
             "again: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra again;\n"
             "ld.global.f32 %f1, [%rd1+256];\nadd.f32 %f2, %f1, 0f3F800000;\nst.global.f32 [%rd1+256], %f2;\n"
             "atom.global.exch.b32 %r2, [%rd1], 0;\nret;\n}\n";

// Cycles of a launch of so many CTAs of one thread.
static u64 locked(u32 ctas) {
    TestDevice d = {0};
    SimKernel *kernel;
    SimLaunchResult result = {0};
    device_open_with(&d, locking, (SimConfig){.threads = 1, .timing = true});
    DevicePtr lock = device_memory(&d, NULL, 512);
    assert_int_equal(sim_find_kernel(d.sim, d.module, "adds", &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {ctas, 1, 1}, .block = {1, 1, 1}, .params = &lock};
    for (u32 i = 0; i < 2; i++) assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    assert_float_equal(*(const float *)device_view(&d, lock + 256, 4), 2.0f * (float)ctas, 0);
    device_close(&d);
    return result.cycles;
}

// A lock is open when its exchange has had its turn, not when it is known to come: 827 and 815 cycles a turn.
TEST(who_wants_a_lock_waits_until_it_is_opened) {
    double turn = (double)(locked(64) - locked(32)) / 32;
    print_message("%.0f cycles a turn, an H200 from 32 to 64 CTAs 804\n", turn);
    assert_true(turn > 600 && turn < 1000);
}

// --- carve-outs ----------------------------------------------------------------------------------------------------
// Goes twice through lines of 128 bytes that each say where the next one is; cycles of the second time.
static const char chasing[] =
    PTX_HEAD ".visible .entry chase(.param .u64 at, .param .u64 cycles, .param .u32 steps) {\n"
             ".reg .b64 %rd<8>;\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n"
             "ld.param.u64 %rd1, [at];\nld.param.u64 %rd2, [cycles];\nld.param.u32 %r1, [steps];\nmov.u32 %r3, 0;\n"
             "round: mov.u32 %r2, 0;\nmov.u64 %rd3, %clock64;\n"
             "more: ld.global.u64 %rd1, [%rd1];\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra more;\n"
             "mov.u64 %rd4, %clock64;\nsub.u64 %rd5, %rd4, %rd3;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 2;\n"
             "@%p1 bra round;\nst.global.u64 [%rd2], %rd5;\nst.global.u64 [%rd2+8], %rd1;\nret;\n}\n";

static double cycles_of_load(u32 carve_out, u32 kib) {
    TestDevice d = {0};
    SimKernel *kernel;
    SimLaunchResult result = {0};
    u32 steps = kib * 8;
    device_open_with(&d, chasing, (SimConfig){.threads = 1, .timing = true});
    struct {
        DevicePtr at, cycles;
        u32 steps;
    } params = {device_memory(&d, NULL, kib << 10), device_memory(&d, NULL, 16), steps};
    for (u32 i = 0; i < steps; i++) *(u64 *)device_view(&d, params.at + i * 128, 8) = params.at + (i + 1) % steps * 128;
    assert_int_equal(sim_find_kernel(d.sim, d.module, "chase", &kernel), STATUS_OK);
    SimLaunch launch = {
        .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .carve_out = carve_out, .params = &params};
    assert_int_equal(sim_launch(d.sim, &launch, &result, &d.diag), STATUS_OK);
    double cycles = (double)*(const u64 *)device_view(&d, params.cycles, 8) / steps;
    device_close(&d);
    return cycles;
}

TEST(a_carve_out_is_no_l1) {
    static const struct {
        u32 carve_out, kib;
        double h200;
    } rows[] = {{0, 64, 33}, {0, 192, 32}, {50, 96, 32}, {50, 192, 279}, {100, 16, 34}, {100, 48, 281}};
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        double cycles = cycles_of_load(rows[i].carve_out, rows[i].kib);
        print_message("%u %%, %u KiB: %.0f cycles, an H200 %.0f\n", rows[i].carve_out, rows[i].kib, cycles,
                      rows[i].h200);
        assert_true(fabs(cycles - rows[i].h200) < 0.2 * rows[i].h200 + 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nanosleep_ends_with_a_bit_of_the_timer), cmocka_unit_test(the_timer_goes_on_with_the_clock),
        cmocka_unit_test(who_wants_a_lock_waits_until_it_is_opened), cmocka_unit_test(a_carve_out_is_no_l1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
