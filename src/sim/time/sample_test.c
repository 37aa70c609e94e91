// SPDX-License-Identifier: Apache-2.0
// Partial simulation against the whole: results, counts and times, kernels whose blocks wait for each other, launches
// that are alike, and any number of threads.
#include "sim/device_testing.h"
#include "sim/machine.h"
#include "sim/time/time.h"

// sum: out[i] = in[i] + in[i ^ 1], `rounds` times; chain: block b waits until block b - 1 has written its number;
// wait: until `rounds` cycles have passed.
static const char kernels[] = PTX_HEAD
    ".visible .entry sum(.param .u64 out, .param .u64 in, .param .u32 rounds) {\n.reg .b64 %rd<8>;\n"
    ".reg .b32 %r<12>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\nld.param.u32 %r9, [rounds];\n"
    "cvta.to.global.u64 %rd1, %rd1;\ncvta.to.global.u64 %rd2, %rd2;\nmov.u32 %r1, %ctaid.x;\n"
    "mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.u32 %r4, %r1, %r2, %r3;\nxor.b32 %r5, %r4, 1;\n"
    "mul.wide.u32 %rd3, %r4, 4;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd2, %rd3;\n"
    "add.s64 %rd6, %rd2, %rd4;\nadd.s64 %rd7, %rd1, %rd3;\nmov.u32 %r8, 0;\nmov.u32 %r10, 0;\nAGAIN:\n"
    "ld.global.u32 %r6, [%rd5];\nld.global.u32 %r7, [%rd6];\nadd.u32 %r8, %r8, %r6;\nadd.u32 %r8, %r8, %r7;\n"
    "add.u32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, %r9;\n@%p1 bra AGAIN;\nst.global.u32 [%rd7], %r8;\nret;\n}\n"
    ".visible .entry chain(.param .u64 out, .param .u64 in, .param .u32 rounds) {\n.reg .b64 %rd<5>;\n"
    ".reg .b32 %r<4>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %ctaid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra GO;\nWAIT:\n"
    "ld.volatile.global.u32 %r2, [%rd3+-4];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra WAIT;\nGO:\n"
    "add.u32 %r3, %r1, 1;\nst.volatile.global.u32 [%rd3], %r3;\nret;\n}\n"
    ".visible .entry wait(.param .u64 out, .param .u64 in, .param .u32 rounds) {\n.reg .b64 %rd<4>;\n"
    ".reg .b32 %r<2>;\n.reg .pred %p<2>;\n"
    "ld.param.u32 %r1, [rounds];\ncvt.u64.u32 %rd1, %r1;\nmov.u64 %rd2, %clock64;\nWAIT:\n"
    "mov.u64 %rd3, %clock64;\nsub.s64 %rd3, %rd3, %rd2;\nsetp.lt.u64 %p1, %rd3, %rd1;\n@%p1 bra WAIT;\nret;\n}\n";

enum { CTAS = 1500, THREADS = 64, WORDS = CTAS * THREADS };

typedef struct Device {
    TestDevice d;
    DevicePtr out, in;
    u32 told;  // calls of hear()
    u64 done;  // in the last one
} Device;

static void hear(void *context, const char *kernel, u64 done, u64 total) {
    Device *t = context;
    assert_true(*kernel && done <= total);
    t->told++;
    t->done = done;
}

static void open_passing(Device *t, u32 threads, u32 sample, bool passes) {
    memset(t, 0, sizeof *t);
    TestDevice *d = &t->d;
    assert_int_equal(gpu_load("gpus", "tegra-k1", &d->gpu, &d->diag), STATUS_OK);
    SimConfig config = {.gpu = &d->gpu, .devices = 1, .threads = threads, .timing = true, .sample = sample};
    config.passes = passes;
    config.progress = hear;
    config.progress_context = t;
    assert_int_equal(sim_create(&config, &d->sim), STATUS_OK);
    Module *module;
    assert_int_equal(ptx_load((Str){kernels, strlen(kernels)}, "test.ptx", &module, &d->diag), STATUS_OK);
    assert_int_equal(sim_load_module(d->sim, 0, module, &d->module, &d->diag), STATUS_OK);
    t->out = device_memory(d, NULL, WORDS * 4);
    t->in = device_memory(d, NULL, WORDS * 4);
    u32 *in = device_view(d, t->in, WORDS * 4);
    for (u32 i = 0; i < WORDS; i++) in[i] = i;
}

static void open_device(Device *t, u32 threads, u32 sample) { open_passing(t, threads, sample, false); }

static SimLaunchResult pass(Device *t, const char *name, u32 ctas, u32 threads, u32 rounds, SimPass pass) {
    struct {
        DevicePtr out, in;
        u32 rounds;
    } params = {t->out, t->in, rounds};
    SimKernel *kernel;
    SimLaunchResult result = {0};
    assert_int_equal(sim_find_kernel(t->d.sim, t->d.module, name, &kernel), STATUS_OK);
    SimLaunch launch = {.kernel = kernel, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = &params};
    launch.pass = pass;
    assert_int_equal(sim_launch(t->d.sim, &launch, &result, &t->d.diag), STATUS_OK);
    return result;
}

static SimLaunchResult run(Device *t, const char *name, u32 ctas, u32 threads, u32 rounds) {
    return pass(t, name, ctas, threads, rounds, PASS_NONE);
}

static void check_sums(Device *t, u32 rounds) {
    const u32 *out = device_view(&t->d, t->out, WORDS * 4);
    for (u32 i = 0; i < WORDS; i++) assert_int_equal(out[i], rounds * (i + (i ^ 1)));
}

TEST(a_large_launch_is_estimated_within_its_interval) {
    SimLaunchResult full, part[2];
    for (u32 i = 0; i < 3; i++) {
        Device t;
        open_device(&t, i == 2 ? 2 : 1, i ? 20 : 0);
        *(i ? &part[i - 1] : &full) = run(&t, "sum", CTAS, THREADS, 40);
        assert_int_equal(sim_clock_ns(t.d.sim, 0) > 0, 1);
        check_sums(&t, 40);
        device_close(&t.d);
    }
    assert_true(full.detail == 1 && full.low_cycles == full.cycles && full.high_cycles == full.cycles);
    assert_true(part[0].detail < 0.5 && part[0].detail > 0);
    assert_int_equal(part[0].warp_insts, full.warp_insts);
    assert_in_range(full.cycles, part[0].low_cycles, part[0].high_cycles);
    assert_in_range(part[0].cycles * 100, full.cycles * 95, full.cycles * 105);
    assert_memory_equal(&part[0].cycles, &part[1].cycles, sizeof full.cycles);
    assert_int_equal(part[0].high_cycles, part[1].high_cycles);
}

// The clock goes on by what was estimated, too.
TEST(launches_that_are_alike_are_estimated) {
    enum { LAUNCHES = 12 };
    u64 sum[2] = {0}, low = 0, high = 0, clock[2];
    u32 estimated = 0;
    for (u32 i = 0; i < 2; i++) {
        Device t;
        open_device(&t, 1, i ? 20 : 0);
        for (u32 k = 0; k < LAUNCHES; k++) {
            SimLaunchResult r = run(&t, "sum", 100, THREADS, 4);
            sum[i] += r.cycles;
            if (i) low += r.low_cycles, high += r.high_cycles, estimated += r.detail == 0;
        }
        clock[i] = sim_clock_ns(t.d.sim, 0);
        device_close(&t.d);
    }
    assert_int_equal(estimated, LAUNCHES - 4);
    assert_in_range(sum[0], low, high);
    assert_in_range(clock[1] * 100, clock[0] * 95, clock[0] * 105);
}

// A launch like none before is told apart, by its wide interval, and the next one is simulated in detail.
TEST(a_launch_that_is_unlike_says_so) {
    Device t;
    open_device(&t, 1, 20);
    for (u32 k = 0; k < 4; k++) assert_true(run(&t, "sum", 100, THREADS, 4).detail == 1);
    SimLaunchResult odd = run(&t, "sum", 100, THREADS, 40), next = run(&t, "sum", 100, THREADS, 40);
    assert_true(odd.detail == 0 && next.detail == 1);
    assert_in_range(next.cycles, odd.low_cycles, odd.high_cycles);
    assert_true(run(&t, "sum", 100, THREADS, 40).detail == 0);
    device_close(&t.d);
}

TEST(blocks_that_wait_for_each_other_get_there) {
    Device t;
    open_device(&t, 1, 20);
    SimLaunchResult first = run(&t, "chain", CTAS, 1, 0);
    const u32 *out = device_view(&t.d, t.out, CTAS * 4);
    for (u32 i = 0; i < CTAS; i++) assert_int_equal(out[i], i + 1);
    assert_true(first.cycles > 0);
    for (u32 k = 0; k < 4; k++) assert_true(run(&t, "chain", CTAS, 1, 0).cycles > 0);
    device_close(&t.d);
}

// A launch that takes long says how far it is, on the machine and where it is executed without time.
TEST(progress_is_told) {
    for (u32 i = 0; i < 2; i++) {
        Device t;
        open_device(&t, 1, i ? 20 : 0);
        (void)run(&t, "sum", CTAS, THREADS, 60);
        assert_in_range(t.told, 2, 200);
        assert_true(t.done > CTAS / 2);
        device_close(&t.d);
    }
}

// Nobody asked about them: they compute what they should, none is simulated cycle by cycle, and their time is that of
// launches like them, or somewhere near when there is none.
TEST(launches_passed_over_are_executed) {
    static const SimPass kinds[] = {PASS_OVER, PASS_REST};
    for (u32 i = 0; i < WL_COUNT(kinds); i++) {
        Device t;
        open_passing(&t, 1, 0, true);
        SimLaunchResult unknown = pass(&t, "sum", CTAS, THREADS, 4, kinds[i]);
        check_sums(&t, 4);
        u64 clock = sim_clock_ns(t.d.sim, 0);
        SimLaunchResult asked = run(&t, "sum", CTAS, THREADS, 4);
        u64 took = sim_clock_ns(t.d.sim, 0) - clock;
        SimLaunchResult known = pass(&t, "sum", CTAS, THREADS, 8, kinds[i]);
        check_sums(&t, 8);
        assert_true(unknown.detail == 0 && asked.detail == 1 && known.detail == 0);
        assert_in_range(unknown.cycles, asked.cycles / 5, asked.cycles * 5);
        assert_in_range(known.cycles, asked.cycles * 3 / 2, asked.cycles * 5 / 2);
        assert_in_range(sim_clock_ns(t.d.sim, 0) - clock - took, took * 3 / 2, took * 5 / 2);
        device_close(&t.d);
    }
}

// What a launch is asked about does not depend on whether the ones before it were passed over, but for the order in
// which lines came to the L2; and not on the number of threads.
TEST(a_launch_after_one_passed_over_finds_the_l2_as_it_left_it) {
    SimLaunchResult result[3];
    for (u32 i = 0; i < 3; i++) {
        Device t;
        open_passing(&t, i == 2 ? 2 : 1, 0, i > 0);
        (void)run(&t, "sum", 1, THREADS, 1);  // the SM has fetched the kernel
        (void)pass(&t, "sum", 400, THREADS, 1, i ? PASS_OVER : PASS_NONE);
        result[i] = run(&t, "sum", 400, THREADS, 1);
        device_close(&t.d);
    }
    assert_in_range(result[1].cycles * 100, result[0].cycles * 97, result[0].cycles * 103);
    assert_int_equal(result[1].cycles, result[2].cycles);
}

TEST(launches_passed_over_that_wait_get_there) {
    static const SimPass kinds[] = {PASS_OVER, PASS_REST};
    for (u32 i = 0; i < WL_COUNT(kinds); i++) {
        Device t;
        open_passing(&t, 1, 0, true);
        assert_true(pass(&t, "chain", CTAS, 1, 0, kinds[i]).detail == 0);
        const u32 *out = device_view(&t.d, t.out, CTAS * 4);
        for (u32 k = 0; k < CTAS; k++) assert_int_equal(out[k], k + 1);
        assert_true(pass(&t, "wait", 4, 32, 5000, kinds[i]).detail == 0);
        device_close(&t.d);
    }
}

// However many there are, one after the other: that no SM does anything is no deadlock.
TEST(many_launches_are_passed_over) {
    static const SimPass kinds[] = {PASS_OVER, PASS_REST};
    for (u32 i = 0; i < WL_COUNT(kinds); i++) {
        Device t;
        open_passing(&t, 1, 0, true);
        for (u32 k = 0; k < 5000; k++) assert_true(pass(&t, "sum", 1, 1, 1, kinds[i]).detail == 0);
        device_close(&t.d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_launch_is_estimated_within_its_interval),
        cmocka_unit_test(launches_that_are_alike_are_estimated),
        cmocka_unit_test(a_launch_that_is_unlike_says_so),
        cmocka_unit_test(blocks_that_wait_for_each_other_get_there),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(launches_passed_over_are_executed),
        cmocka_unit_test(a_launch_after_one_passed_over_finds_the_l2_as_it_left_it),
        cmocka_unit_test(launches_passed_over_that_wait_get_there),
        cmocka_unit_test(many_launches_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
