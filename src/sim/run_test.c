// SPDX-License-Identifier: Apache-2.0
// Launches under way side by side: one that waits for memory, one that writes it, small budgets, giving up.
#include "sim/device_testing.h"

// relay: CTA i waits until word 0 is the number of CTAs behind it, then raises it. consume: waits until word 0 is 1,
// then writes 7 to word 1. produce: stores 1 to word 0. blocked: a barrier that one warp misses. sums: 8 CTAs count
// their threads in word 2. spins: forever. busy_relay: as relay, and stores to word
// 4 + its number in each turn.
static const char *const kernels = PTX_HEAD
    ".visible .entry relay(.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r1, %r2, %r1; sub.u32 %r1, %r1, "
    "1;\n"
    "WAIT: ld.volatile.global.u32 %r2, [%d1]; setp.ne.u32 %p1, %r2, %r1; @%p1 bra WAIT;\n"
    "add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d1], %r2; ret; }\n"
    ".visible .entry busy_relay(.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %d<3>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;\n"
    "mov.u32 %r2, %nctaid.x; sub.u32 %r1, %r2, %r1; sub.u32 %r1, %r1, 1;\n"
    "WAIT: st.global.u32 [%d2+16], %r1; ld.volatile.global.u32 %r2, [%d1]; setp.ne.u32 %p1, %r2, %r1; @%p1 bra WAIT;\n"
    "add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d1], %r2; ret; }\n"
    ".visible .entry consume(.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p];\n"
    "WAIT: ld.volatile.global.u32 %r1, [%d1]; setp.ne.u32 %p1, %r1, 1; @%p1 bra WAIT;\n"
    "mov.u32 %r2, 7; st.global.u32 [%d1+4], %r2; ret; }\n"
    ".visible .entry produce(.param .u64 p) { .reg .u32 %r<2>; .reg .u64 %d<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, 1; st.volatile.global.u32 [%d1], %r1; ret; }\n"
    ".visible .entry blocked(.param .u64 p) { .reg .u32 %r<2>; .reg .pred %p<2>;\n"
    "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 1, 96; ret; }\n"
    ".visible .entry sums(.param .u64 p) { .reg .u32 %r<3>; .reg .u64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, 0;\n"
    "LOOP: red.global.add.u32 [%d1+8], 1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 50; @%p1 bra LOOP; ret; }\n";

static void begin(TestDevice *d, const char *kernel, u32 ctas, u32 threads, DevicePtr param, SimRun **run) {
    SimKernel *k;
    assert_int_equal(sim_find_kernel(d->sim, d->module, kernel, &k), STATUS_OK);
    SimLaunch launch = {.kernel = k, .grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .params = &param, .record = true};
    assert_int_equal(sim_launch_begin(d->sim, &launch, run, &d->diag), STATUS_OK);
}

static SimStep step(TestDevice *d, SimRun *run, u64 budget) {
    SimStep made;
    assert_int_equal(sim_launch_step(d->sim, run, budget, &made, &d->diag), STATUS_OK);
    return made;
}

static void finish(TestDevice *d, SimRun *run, SimLaunchResult *result) {
    assert_int_equal(sim_launch_end(d->sim, run, STATUS_OK, result, &d->diag), STATUS_OK);
}

static void run_whole(TestDevice *d, SimRun *run, SimLaunchResult *result) {
    assert_int_equal(step(d, run, UINT64_MAX).state, STEP_DONE);
    finish(d, run, result);
}

static void consumer_waits_for_producer(void **state) {
    (void)state;
    TestDevice d;
    device_open(&d, kernels);
    DevicePtr words = device_memory(&d, NULL, 16);
    u32 *view = device_view(&d, words, 16);
    SimRun *consumer, *producer;
    begin(&d, "consume", 1, 32, words, &consumer);
    SimStep waits = step(&d, consumer, UINT64_MAX);
    assert_int_equal(waits.state, STEP_WAITS);
    assert_true(waits.polls && !waits.moved);
    begin(&d, "produce", 1, 1, words, &producer);
    assert_int_equal(step(&d, consumer, UINT64_MAX).state, STEP_WAITS);
    run_whole(&d, producer, NULL);
    SimStep done = step(&d, consumer, UINT64_MAX);
    assert_true(done.state == STEP_DONE && done.moved);
    finish(&d, consumer, NULL);
    assert_int_equal(view[1], 7);
    device_close(&d);
}

static void the_host_lets_it_go_on(void **state) {
    (void)state;
    TestDevice d;
    device_open(&d, kernels);
    DevicePtr words = device_memory(&d, NULL, 16);
    u32 *view = device_view(&d, words, 16);
    SimRun *consumer;
    begin(&d, "consume", 200, 64, words, &consumer);  // more CTAs than are resident at first
    for (u32 i = 0; i < 20; i++) assert_int_equal(step(&d, consumer, 1000).state, STEP_MORE);
    assert_int_equal(step(&d, consumer, UINT64_MAX).state, STEP_WAITS);
    view[0] = 1;
    assert_int_equal(step(&d, consumer, UINT64_MAX).state, STEP_DONE);
    SimLaunchResult result;
    finish(&d, consumer, &result);
    assert_true(result.warp_insts > 20 * 1000 && result.host_ns > 0);
    device_close(&d);
}

// However a launch is cut into steps, it executes the same instructions.
static void budgets_change_nothing(void **state) {
    (void)state;
    TestDevice d;
    device_open(&d, kernels);
    DevicePtr words = device_memory(&d, NULL, 16);
    u32 *view = device_view(&d, words, 16);
    SimLaunchResult whole = {0}, cut = {0};
    SimRun *run;
    begin(&d, "sums", 8, 96, words, &run);
    run_whole(&d, run, &whole);
    assert_int_equal(view[2], 8 * 96 * 50);
    SimRun *other;
    u32 steps = 0;
    begin(&d, "sums", 8, 96, words, &run);
    begin(&d, "sums", 8, 96, words, &other);
    SimStepState first = STEP_MORE, second = STEP_MORE;
    for (; first == STEP_MORE || second == STEP_MORE; steps++) {
        if (first == STEP_MORE) first = step(&d, run, 100).state;
        if (second == STEP_MORE) second = step(&d, other, 170).state;
    }
    assert_true(steps > 3);
    finish(&d, run, &cut);
    assert_int_equal(cut.thread_insts, whole.thread_insts);
    finish(&d, other, &cut);
    assert_int_equal(cut.warp_insts, whole.warp_insts);
    assert_int_equal(view[2], 3 * 8 * 96 * 50);
    device_close(&d);
}

// Blocks that wait for one another get their turns, however small the steps.
static void small_steps_reach_every_block(void **state) {
    (void)state;
    TestDevice d;
    device_open(&d, kernels);
    DevicePtr words = device_memory(&d, NULL, 16);
    u32 *view = device_view(&d, words, 16);
    SimLaunchResult whole = {0}, cut = {0};
    SimRun *run;
    begin(&d, "relay", 12, 1, words, &run);
    run_whole(&d, run, &whole);
    assert_int_equal(view[0], 12);
    view[0] = 0;
    begin(&d, "relay", 12, 1, words, &run);
    u32 steps = 0;
    while (step(&d, run, 900).state == STEP_MORE) steps++;
    assert_true(steps > 12);
    finish(&d, run, &cut);
    assert_int_equal(view[0], 12);
    assert_int_equal(cut.warp_insts, whole.warp_insts);
    device_close(&d);
}

// Blocks that store while they wait for later ones: what they store is no headway.
static void busy_blocks_do_not_keep_others_out(void **state) {
    (void)state;
    TestDevice d;
    device_open(&d, kernels);
    DevicePtr words = device_memory(&d, NULL, 16 + 12 * 4);
    u32 *view = device_view(&d, words, 16 + 12 * 4);
    SimRun *run;
    begin(&d, "busy_relay", 12, 1, words, &run);
    u32 steps = 0;
    while (steps < 200 && step(&d, run, 100000).state == STEP_MORE) steps++;
    assert_true(steps < 200);
    finish(&d, run, NULL);
    assert_int_equal(view[0], 12);
    assert_int_equal(view[4 + 3], 8);
    device_close(&d);
}

static void deadlocks_are_told(void **state) {
    (void)state;
    TestDevice d;
    device_open(&d, kernels);
    DevicePtr words = device_memory(&d, NULL, 16);
    SimRun *run;
    SimStep unused;
    begin(&d, "blocked", 1, 64, words, &run);  // nothing outside can help it
    assert_int_equal(sim_launch_step(d.sim, run, UINT64_MAX, &unused, &d.diag), STATUS_DEADLOCK);
    assert_non_null(strstr(d.diag.entries.data[0].text, "waits at barrier 1 (32 of 96 threads arrived)"));
    assert_int_equal(sim_launch_end(d.sim, run, STATUS_DEADLOCK, NULL, &d.diag), STATUS_DEADLOCK);
    begin(&d, "consume", 1, 1, words, &run);
    assert_int_equal(step(&d, run, UINT64_MAX).state, STEP_WAITS);
    assert_int_equal(sim_launch_deadlock(d.sim, run, &d.diag), STATUS_DEADLOCK);
    assert_non_null(strstr(d.diag.entries.data[1].text, "repeats the same steps forever"));
    assert_int_equal(sim_launch_end(d.sim, run, STATUS_CANCELLED, NULL, &d.diag), STATUS_CANCELLED);
    assert_int_equal(device_try(&d, "consume", 1, 1, &words), STATUS_DEADLOCK);
    device_run(&d, "produce", 1, 1, &words);
    device_run(&d, "consume", 1, 1, &words);
    device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consumer_waits_for_producer),
        cmocka_unit_test(the_host_lets_it_go_on),
        cmocka_unit_test(budgets_change_nothing),
        cmocka_unit_test(small_steps_reach_every_block),
        cmocka_unit_test(busy_blocks_do_not_keep_others_out),
        cmocka_unit_test(deadlocks_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
