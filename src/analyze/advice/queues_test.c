// SPDX-License-Identifier: Apache-2.0
// Which waits are waiting in line, and how long loads take: kernels of which there are only samples, made up.
#include <math.h>

#include "analyze/advice/sampled_testing.h"

enum { ISSUES = 10, READ = 32 - 8, SHARED = 23, LONG = 10000 /* samples */ };

static const GpuModel gpu = {.sms = 100,
                             .warp_schedulers = 4,
                             .clock_mhz = 2000,
                             .exit_latency = 8,
                             .store_drain = 32,
                             .lsu_queue = 24,
                             .l1_latency = 30,
                             .l2_latency = 200,
                             .dram_latency = 300,
                             .shared_latency = SHARED};

// Samples in line for the L1 when its last instruction, or the one before that, waits for so many.
static f64 in_line(const char *body, u32 before_end, StallReason reason, u32 samples) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    u32 at = view->flow.code->insn_count - 1 - before_end;
    view->gpu = &gpu;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES);
    subject_stall(&s.subject, at, reason, samples);
    view->total_latency = view->total * 9 / 10;
    sampled_end(&s);
    f64 queued = s.c.load.queued[RESOURCE_LSU];
    forget(&s);
    return queued;
}

// A warp is over when its last store has read what it stores. What it waits longer than on an idle SM is the queue of
// the L1.
static void warps_end_in_line(void **state) {
    (void)state;
    const char *stores = BEGIN "st.global.u32 [%rd3], %r4; ret;", *adds = BEGIN "red.global.add.u32 [%rd3], 1; ret;";
    assert_near(in_line(stores, 0, STALL_DRAIN, LONG), LONG - ISSUES * READ);
    assert_near(in_line(stores, 0, STALL_DRAIN, ISSUES * READ), 0);
    assert_near(in_line(adds, 0, STALL_DRAIN, LONG), 0);  // theirs is the L2's
}

// So is what shared memory takes longer than on an idle SM, whatever its accesses are known to take.
static void loads_of_shared_memory_wait_in_line(void **state) {
    (void)state;
    const char *loads = BEGIN "mov.u32 %r8, tile; shl.b32 %r9, %r1, 2; add.u32 %r9, %r9, %r8;\n"
                              "ld.shared.u32 %r7, [%r9]; add.u32 %r7, %r7, 1; ret;";
    assert_near(in_line(loads, 1, STALL_SHORT_SCOREBOARD, LONG), LONG - ISSUES * (SHARED + 1));
    assert_true(in_line(loads, 1, STALL_SHORT_SCOREBOARD, ISSUES * SHARED) < ISSUES * SHARED / 2);
}

// Cycles that the loads of the block take, when what needs them waits so long for each.
static f64 latency_of(const char *body) {
    Sampled s;
    KernelView *view = sampled_begin(&s, body);
    const FlowInsn *insns = view->flow.code->insns;
    view->gpu = &gpu;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        bool waits = insns[pc].arith == FLOW_ADD && (waits_for_load(view, pc) || waits_for_load(view, pc - 1));
        subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES);
        if (waits) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, LONG);
    }
    sampled_end(&s);
    f64 latency = 0;
    for (u32 i = 0; i < s.c.parts[0].access_count; i++) latency = fmax(latency, s.c.parts[0].accesses[i].latency);
    forget(&s);
    return latency;
}

#define LOAD(k) "ld.global.u32 %r" #k ", [%rd3+4096*" #k "];\n"
#define ADD(k) "add.u32 %r" #k ", %r" #k ", 1;\n"

// Loads that start together are waited for together; what starts behind the wait for another one waits for itself.
static void loads_behind_a_wait_wait_once_more(void **state) {
    (void)state;
    assert_near(latency_of(BEGIN LOAD(7) ADD(7) "ret;"), (f64)LONG / ISSUES);
    assert_near(latency_of(BEGIN LOAD(7) ADD(7) LOAD(8) ADD(8) "ret;"), (f64)LONG / ISSUES);
    assert_near(latency_of(BEGIN LOAD(7) LOAD(8) ADD(7) ADD(8) "ret;"), 2 * (f64)LONG / ISSUES);
}

// Part of a load's wait, less than DRAM takes, that is waiting for others when so many samples wait for a place in the
// L1's queue; `line`: what its 24 places are of it at the rate of the SM's accesses.
enum { CYCLES = 200 /* for the data */ };

static f64 waiting(u32 throttled, f64 *line) {
    Sampled s;
    KernelView *view = sampled_begin(&s, BEGIN LOAD(7) ADD(7) "ret;");
    view->gpu = &gpu;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES);
        if (waits_for_load(view, pc)) subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, CYCLES * ISSUES);
        if (waits_for_load(view, pc + 1)) subject_stall(&s.subject, pc, STALL_LG_THROTTLE, throttled);
    }
    view->total_latency = view->total / 2;
    sampled_end(&s);
    f64 accesses = s.c.load.issue_rate * (f64)gpu.warp_schedulers * ISSUES / s.c.load.issued;
    f64 latency = CYCLES + (f64)throttled / ISSUES;
    *line = fmin((f64)gpu.lsu_queue / accesses, latency - (f64)gpu.l1_latency) / latency;
    f64 part = s.c.waiting;
    forget(&s);
    return part;
}

// Where it is full, who comes through it has waited for all of them; else loads that take less than from DRAM are some
// from there and some from nearer.
static void a_full_queue_is_waited_for(void **state) {
    (void)state;
    f64 line;
    assert_near(waiting(100, &line), 0);
    f64 part = waiting(1000, &line);
    assert_near(part, line);
    assert_true(part > 0.4 && part < 0.5);
}

// Words of rows of the lanes' own, `second` behind a test of the first; 500 cycles are waited for each, less than DRAM
// takes. Part of the waits that goes with coalescing.
#define ROWS(second)                                                                             \
    BEGIN "mul.wide.s32 %rd4, %r4, 1024; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r7, [%rd5];\n" \
          "setp.gt.s32 %p1, %r7, 0; @%p1 bra out; " second "out: st.global.u32 [%rd3], %r7; ret;"

static f64 coalesced(const char *body) {
    Sampled s;
    f64 waits = 0;
    KernelView *view = sampled_begin(&s, body);
    view->gpu = &gpu;
    for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) {
        subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES);
        if (!waits_for_load(view, pc)) continue;
        subject_stall(&s.subject, pc, STALL_LONG_SCOREBOARD, 500 * ISSUES);
        waits += 500 * ISSUES;
    }
    view->total_latency = view->total * 9 / 10;
    sampled_end(&s);
    s.c.fits_l2 = false;
    const Hit *hit = ask(&s, "global-coalescing");
    f64 gone = hit ? samples_gone(hit, STALL_LONG_SCOREBOARD) / waits : -1;
    forget(&s);
    return gone;
}

// What the L1 has outside of loops another load has brought: it has it when lanes go along rows as well, and only its
// own latency stays. What comes first comes from DRAM then.
static void words_beside_loaded_ones_stay_in_the_l1(void **state) {
    (void)state;
    f64 hit = (1 - 4.0 / 32) * (1 - (f64)gpu.l1_latency / 500);
    assert_near(coalesced(ROWS("")), 0);
    assert_near(coalesced(ROWS("ld.global.u32 %r8, [%rd5+4]; add.u32 %r7, %r7, %r8;\n")), hit / 2);
}

// Stores that keep the L2 busier than the L1 is are what its queue is full of; loads are not.
static void stores_wait_for_the_l2(void **state) {
    (void)state;
    for (u32 store = 0; store < 2; store++) {
        Sampled s;
        const KernelView *view = sampled_begin(&s, BEGIN LOAD(7) "st.global.u32 [%rd3], %r7; ret;");
        for (u32 pc = 0; pc < view->flow.code->insn_count; pc++) subject_stall(&s.subject, pc, STALL_SELECTED, ISSUES);
        sampled_end(&s);
        s.c.behind = RESOURCE_L2;
        s.c.load.busy[RESOURCE_LSU] = 0.5;
        s.c.parts[0].insns[s.c.parts[0].accesses[store].pc].use[RESOURCE_L2] = 0.8;
        assert_int_equal(case_full_queue(&s.c), store ? RESOURCE_L2 : RESOURCE_LSU);
        s.c.load.busy[RESOURCE_LSU] = 0.9;
        assert_int_equal(case_full_queue(&s.c), RESOURCE_LSU);
        forget(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(warps_end_in_line),
                                       cmocka_unit_test(loads_of_shared_memory_wait_in_line),
                                       cmocka_unit_test(loads_behind_a_wait_wait_once_more),
                                       cmocka_unit_test(a_full_queue_is_waited_for),
                                       cmocka_unit_test(stores_wait_for_the_l2),
                                       cmocka_unit_test(words_beside_loaded_ones_stay_in_the_l1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
