// SPDX-License-Identifier: Apache-2.0
// What holds a kernel back, of counters made up.
#include "analyze/limit.h"

#include "base/testing.h"

static Limit of(const MetricSet *set, const GpuModel *gpu, f64 fixed) {
    LimitFacts facts = limit_facts(set, gpu, fixed);
    return limit_of(&facts);
}

static void set_to(MetricSet *set, MetricId metric, f64 value) {
    metric_add(set, metric, value - (set->present[metric] ? set->value[metric] : 0));
}

// Two SMs for 1000 cycles.
static MetricSet two_sms(f64 active) {
    MetricSet set = {0};
    set_to(&set, METRIC_ELAPSED, 1000);
    set_to(&set, METRIC_SM_ELAPSED, 2000);
    set_to(&set, METRIC_SM_ACTIVE, active);
    return set;
}

static void units_count_while_sms_work(void **state) {
    (void)state;
    MetricSet set = two_sms(1600);
    set_to(&set, METRIC_L1_DATA_CYCLES, 1400);
    Limit limit = of(&set, NULL, 0);
    assert_int_equal(limit.by, HELD_BY_UNIT);
    assert_int_equal(limit.unit, RESOURCE_LSU);
    assert_true(limit.part > 0.874 && limit.part < 0.876);
    set_to(&set, METRIC_DRAM_READ_BYTES, 95);
    set_to(&set, METRIC_DRAM_PEAK, 100);
    assert_int_equal(of(&set, NULL, 0).unit, RESOURCE_DRAM);
    // Both without rest: the L1's queue waits for DRAM. No unit works more than always.
    set_to(&set, METRIC_L1_DATA_CYCLES, 1760);
    limit = of(&set, NULL, 0);
    assert_int_equal(limit.unit, RESOURCE_LSU);
    assert_true(limit.part >= 1 && limit.part <= 1);
    set_to(&set, METRIC_DRAM_READ_BYTES, 100);
    assert_int_equal(of(&set, NULL, 0).unit, RESOURCE_DRAM);
}

// The few SMs that have CTAs may be as busy as they like: what is missing are the others.
static void idle_sms_come_first(void **state) {
    (void)state;
    MetricSet set = two_sms(800);
    set_to(&set, METRIC_L1_DATA_CYCLES, 780);
    assert_int_equal(of(&set, NULL, 0).by, HELD_BY_SMS);
    // They were idle because most of the launch was not its CTAs' time.
    assert_int_equal(of(&set, NULL, 0.55).by, HELD_BY_UNIT);
    assert_int_equal(of(&set, NULL, 0.6).by, HELD_BY_LAUNCH);
}

// Where the L2 goes on with atomics when CTAs have ended, more CTAs are not what is missing.
static void atomics_leave_sms_idle(void **state) {
    (void)state;
    LimitFacts facts = {.sms = 0.1, .busy = {[RESOURCE_ATOMIC] = 0.95}};
    Limit limit = limit_of(&facts);
    assert_true(limit.by == HELD_BY_UNIT && limit.unit == RESOURCE_ATOMIC);
    facts.busy[RESOURCE_ATOMIC] = 0.5;
    assert_int_equal(limit_of(&facts).by, HELD_BY_SMS);
}

static void arithmetic_units_need_the_gpu(void **state) {
    (void)state;
    GpuModel gpu = {.warp_schedulers = 4, .xu_interval = 8, .launch_overhead = 300, .launch_end = 100};
    MetricSet set = two_sms(2000);
    set_to(&set, METRIC_PIPE_XU, 900);  // 8 cycles each of 8000 slots
    assert_int_equal(of(&set, &gpu, 0).unit, RESOURCE_XU);
    assert_int_equal(of(&set, NULL, 0).by, HELD_BY_WAITS);
    gpu.sms = 4, gpu.cta_interval = 10, gpu.warp_start = 2, gpu.cta_dispatch = 300;  // hundredths
    assert_true(limit_starts(&gpu, 100, 8, 1000) == 0.65);                           // 25 on each SM, 26 cycles
    assert_true(limit_starts(&gpu, 100, 0, 1000) == 0.3 && limit_starts(NULL, 1, 1, 1) == 0);
    assert_true(limit_fixed(&gpu, 3, 2400) == 0.5 && limit_fixed(&gpu, 100, 1) < 1 && limit_fixed(NULL, 1, 1) == 0);
}

static void issue_is_of_the_cycles_with_warps(void **state) {
    (void)state;
    MetricSet set = two_sms(2000);
    set_to(&set, METRIC_ISSUE_ACTIVE, 850);
    set_to(&set, METRIC_ISSUE_STALLED, 150);
    assert_int_equal(of(&set, NULL, 0).by, HELD_BY_ISSUE);
    set_to(&set, METRIC_ISSUE_STALLED, 1000);
    assert_int_equal(of(&set, NULL, 0).by, HELD_BY_WAITS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_count_while_sms_work),
        cmocka_unit_test(idle_sms_come_first),
        cmocka_unit_test(atomics_leave_sms_idle),
        cmocka_unit_test(arithmetic_units_need_the_gpu),
        cmocka_unit_test(issue_is_of_the_cycles_with_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
