// SPDX-License-Identifier: Apache-2.0
// The estimators against numbers worked out by hand.
#include "analyze/advice/estimate.h"

#include <math.h>

#include "base/testing.h"

static void near(f64 a, f64 b) { assert_true(fabs(a - b) < 1e-9); }
// Where a unit is far from its limit, and yet is felt a little.
static void about(f64 a, f64 b) { assert_true(fabs(a - b) < 2e-3 * b); }
// A unit needs `limit`, before `busy`, of the time; warps would need `own`.
static f64 knee(f64 own, f64 limit, f64 busy) {
    return pow((pow(own, 8) + pow(limit, 8)) / (1 + pow(busy, 8)), 1 / 8.0);
}

static void the_papers_equations(void **state) {
    (void)state;
    near(estimate_elimination(100, 20), 1.25);  // 100 / 80
    near(estimate_elimination(100, 0), 1);
    near(estimate_hiding(100, 30, 50), 100.0 / 70);  // the 30 that are active hide no more than 30
    near(estimate_hiding(100, 30, 10), 100.0 / 90);
    near(estimate_hiding(100, 50, 50), 2);  // theorem 5.1: no more than 2
    near(estimate_issue_rate(0.25, 1), 0.25);
    near(estimate_issue_rate(0.25, 2), 1 - 0.75 * 0.75);
    near(estimate_issue_rate(1, 8), 1);
    near(estimate_issue_rate(0, 8), 0);
    near(estimate_warps(0.25, estimate_issue_rate(0.25, 3)), 3);
    near(estimate_warps(0.25, 0.1), 1);          // never less than one
    near(estimate_parallel(0.5, 0.75, 1), 1.5);  // half the warps, three quarters of the issue rate
}

static void nothing_is_infinite(void **state) {
    (void)state;
    near(estimate_elimination(100, 100), ESTIMATE_MOST);
    near(estimate_elimination(100, 1e9), ESTIMATE_MOST);
    near(estimate_elimination(0, 0), 1);
    near(estimate_parallel(0, 1, 1), ESTIMATE_MOST);
    EstimateLoad load = {.total = 10, .issued = 1, .latency = 9, .issue_rate = 0.1};
    EstimateChange all = {.stalls = 1e6, .issues = 1e6};
    assert_true(estimate_time(&load, &all) >= 1 / ESTIMATE_MOST);
    assert_true(estimate_least_time(&load, &all) >= 1 / ESTIMATE_MOST);
    near(estimate_time(&(EstimateLoad){0}, &all), 1);
}

// One warp per scheduler: what a warp gains, the kernel gains.
static void one_warp_is_equation_2(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 20, .latency = 80, .issue_rate = 0.2};
    about(1 / estimate_time(&load, &(EstimateChange){.stalls = 40}), estimate_elimination(100, 40));
    about(1 / estimate_time(&load, &(EstimateChange){.issues = 5, .stalls = 10}), estimate_elimination(100, 15));
    EstimateChange hidden = {.hidden = 60, .scope_active = 15};
    about(1 / estimate_time(&load, &hidden), estimate_hiding(100, 15, 60));
    near(estimate_time(&load, &(EstimateChange){0}), 1);
}

// A scheduler that issues in 80 % of its cycles is not 3 times faster when its warps wait less.
static void issue_slots_are_a_limit(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 100, .not_selected = 100, .latency = 200, .issue_rate = 0.8};
    EstimateChange change = {.stalls = 700};
    f64 speedup = 1 / estimate_time(&load, &change);
    assert_true(speedup > 1.2 && speedup <= 1.25);
    near(estimate_least_time(&load, &change), 0.8);
    change.issues = 50;  // half of the instructions go, too
    near(estimate_least_time(&load, &change), 0.4);
    load.too_high = 1.25;  // of sampled rates only so much is certain: the limit is farther away, the estimate is not
    near(estimate_least_time(&load, &change), 0.32);
    about(1 / estimate_time(&load, &(EstimateChange){.stalls = 700}), speedup);
}

static void a_busy_unit_is_a_limit(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.1};
    EstimateChange change = {.stalls = 80};
    load.busy[RESOURCE_DRAM] = 0.5;
    about(estimate_time(&load, &change), 0.5);
    change.relief[RESOURCE_DRAM] = 0.25;
    about(estimate_time(&load, &change), knee(0.2, 0.25, 0.5));
    change.relief[RESOURCE_DRAM] = 0.5;
    about(estimate_time(&load, &change), 0.2);
}

// Warps that would take 0.5 of the time share a unit that needs as much: more than either, and less where the unit is
// farther away.
static void two_limits_at_once_are_not_reached(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.1};
    EstimateChange change = {.stalls = 50};
    load.busy[RESOURCE_DRAM] = 0.5;
    about(estimate_time(&load, &change), knee(0.5, 0.5, 0.5));
    load.busy[RESOURCE_DRAM] = 0.3;
    about(estimate_time(&load, &change), knee(0.5, 0.3, 0.3));
    load.busy[RESOURCE_DRAM] = 1;  // no faster, and no slower
    near(estimate_time(&load, &change), 1);
}

// Half of the time goes to waiting for other warps, which have a fifth less to do.
static void waits_at_barriers_go_with_the_work(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.1, .barrier = 50};
    about(estimate_time(&load, &(EstimateChange){.stalls = 10}), 0.8);
    near(estimate_time(&load, &(EstimateChange){0}), 1);
    about(estimate_time(&load, &(EstimateChange){.stalls = 10, .barrier = 10}), 0.9);  // a change that is about them
    about(estimate_time(&load, &(EstimateChange){.hidden = 10, .scope_active = 50}), 0.9);
    f64 before = 1;
    for (f64 gone = 5; gone <= 200; gone += 5) {
        f64 time = estimate_time(&load, &(EstimateChange){.stalls = gone});
        assert_true(time <= before && time >= 1 / ESTIMATE_MOST);
        before = time;
    }
}

// What more CTAs do besides is counted, not matched by samples: a limit of four times the change has it once.
static void costs_of_more_ctas_are_certain(void **state) {
    (void)state;
    EstimateChange more = {.issues = -3, .warps = 2, .relief = {[RESOURCE_ATOMIC] = -0.2, [RESOURCE_LSU] = 0.1}};
    EstimateChange most = estimate_scaled(&more, 4);
    near(most.issues, -3);
    near(most.relief[RESOURCE_ATOMIC], -0.2);
    near(most.relief[RESOURCE_LSU], 0.4);
    more.warps = 0;
    near(estimate_scaled(&more, 4).issues, -12);
}

// Who still queues waits less when others no longer queue; but the kernel gets faster by it, and the unit busier again.
static void queues_get_shorter(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.1};
    load.busy[RESOURCE_LSU] = 0.6;  // waits go with 0.6 / 0.4 = 1.5
    load.queued[RESOURCE_LSU] = 60;
    EstimateChange half = {.relief = {[RESOURCE_LSU] = 0.3}};
    about(estimate_time(&load, &half), 0.7);  // 0.3 / 0.7 busy: 0.4 + 0.6 * (0.3 / 0.4) / 1.5
    half.stalls = half.queued[RESOURCE_LSU] =
        25;  // of the 60, by the rule itself: t = 0.4 + 0.35 * (0.3 / (t - 0.3)) / 1.5
    about(estimate_time(&load, &half), (0.7 + sqrt(0.29)) / 2);
    near(estimate_time(&load, &(EstimateChange){0}), 1);
}

// Of 64 warps 45 wait for a place in the L1's queue: it is full, however little accesses are known to take of it, so
// that half of them take half of the time, and not three quarters.
static void a_long_queue_is_of_a_busy_unit(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 1, .latency = 99, .issue_rate = 0.1};
    load.busy[RESOURCE_LSU] = 0.2;
    load.queued[RESOURCE_LSU] = 70;
    EstimateChange half = {.relief = {[RESOURCE_LSU] = 0.1}};
    f64 unknown = estimate_time(&load, &half);
    assert_true(unknown > 0.7 && unknown < 0.8);
    load.customers[RESOURCE_LSU] = 64;
    near(estimate_time(&load, &half), unknown);  // counted
    load.too_high = 1.2;
    f64 time = estimate_time(&load, &half);
    assert_true(time > 0.5 && time < 0.55);
    near(estimate_time(&load, &(EstimateChange){0}), 1);
}

// Two kinds of accesses keep the L1 busy for 0.3 of the time each, with turns of 32 cycles and of 2. Where those of 32
// become ones of 2 as well, as many wait a seventeenth as long behind as much work, and not only for less of it.
static void queues_of_short_turns_are_short(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.1, .turns = 0.3 * 32 + 0.3 * 2};
    load.busy[RESOURCE_LSU] = 0.6;
    load.queued[RESOURCE_LSU] = 60;
    f64 gone = 0.3 * 15 / 16, squares = 0.3 * 32 * (1 - 1.0 / 256);
    EstimateChange shorter = {.relief = {[RESOURCE_LSU] = gone}, .shorter = squares / load.turns - gone / 0.6};
    f64 mean = 2.0 / 17, time = 0.4;
    for (u32 i = 0; i < 50; i++) time = 0.4 + 0.6 * mean * ((0.6 - gone) / (time - 0.6 + gone)) / 1.5;
    assert_true(fabs(estimate_time(&load, &shorter) - time) < 0.02);
    EstimateChange fewer = {.relief = {[RESOURCE_LSU] = gone}};
    assert_true(estimate_time(&load, &fewer) > 1.3 * time);
}

// A kernel that takes half of the time asks DRAM for as many bytes in it: at 60 % of the peak instead of 30 % loads
// take 1.15 / 1.043 times as long, so that it does not take half of the time.
static void loads_wait_longer_for_a_busy_dram(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.1, .from_dram = 40};
    load.busy[RESOURCE_DRAM] = 0.3;
    EstimateChange change = {.stalls = 50};
    f64 time = estimate_time(&load, &change), at = 0.3 / time, before = 1 + 0.1 * 0.3 / 0.7;
    assert_true(time > 0.5);
    about(time, 0.5 + 0.4 * ((1 + 0.1 * at / (1 - at)) / before - 1));
}

// Four warps share a unit that works half of the time. Without 40 of 100 samples it would work 0.5 / 0.6 of the time:
// who comes finds others there more often.
static void who_shares_a_unit_waits_longer(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.1};
    EstimateChange change = {.stalls = 40};
    load.busy[RESOURCE_LSU] = 0.5;
    about(estimate_time(&load, &change), knee(0.6, 0.5, 0.5));
    load.customers[RESOURCE_LSU] = 4;
    f64 own = 0.6, before = 0.5 * 3 / 4;
    for (u32 i = 0; i < 50; i++) {
        f64 after = 0.5 / own * 3 / 4;
        own = 0.6 + 0.5 * 0.5 / 4 * (after / (1 - after) - before / (1 - before));
    }
    assert_true(own > 0.63);
    about(estimate_time(&load, &change), knee(own, 0.5, 0.5));
    near(estimate_time(&load, &(EstimateChange){0}), 1);
}

static void warps_and_work(void **state) {
    (void)state;
    EstimateLoad load = {.total = 100, .issued = 10, .latency = 90, .issue_rate = 0.19};  // 1.9 warps, never in line
    EstimateChange twice = {.warps = 2};
    about(1 / estimate_time(&load, &twice), 2);
    // Three warps in line, for 14 cycles of own time and one of waiting for their turn among the two others: 0.2 of the
    // cycles issue, and 2.6 warps come at once. Twice as many wait longer, each among five.
    EstimateLoad busy = {.total = 150, .issued = 10, .not_selected = 10, .latency = 130, .issue_rate = 0.2};
    f64 rate = 0.2 / estimate_time(&busy, &twice);
    f64 two = 0.2 * 2 / 3, five = rate * 5 / 6;
    f64 at_once = 3 * (1 - two);
    about(rate * (14 + (at_once - 1) / 2 + at_once / 2 * five / (1 - five)), 6);
    // Five cycles among two come from meeting all at once; but nobody waits for more than the five others there are.
    EstimateLoad bursts = {.total = 150, .issued = 10, .not_selected = 50, .latency = 90, .issue_rate = 0.2};
    about(0.2 / estimate_time(&bursts, &twice) * (10 + 5), 6);
    // Half of the warps on as many more SMs come two at once instead of four.
    f64 halved = estimate_time(&bursts, &(EstimateChange){.warps = 0.5, .work = 0.5}), now = 0.2 * 0.5 / halved;
    f64 burst = 2 * 5.5 / (1 + two / (1 - two)) / 2, third = now * 0.5 / 1.5;
    about(now * (10 + (burst * (1 + third / (1 - third)) - 1) / 2), 1.5);
    EstimateChange spread = {.work = 0.25};
    about(estimate_time(&load, &spread), 0.25);
    load.busy[RESOURCE_XU] = 0.8;  // other SMs' units take their part of it
    about(estimate_time(&load, &spread), 0.25);
    load.busy[RESOURCE_DRAM] = 0.8;  // there is only one
    about(estimate_time(&load, &spread), 0.8);
}

// Half of 32 warps stand in the L2's line, where each finds 15.5 others: it serves one after the other in 16 of 16.5
// turns, and twice as many warps cannot have more of it. Where CTAs start too slowly for as many to be resident, and
// where nobody is in line, they can.
static void more_warps_stand_in_the_same_line(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 10, .latency = 990, .issue_rate = 0.05};
    EstimateChange twice = {.warps = 2};
    load.busy[RESOURCE_L2] = 0.3;
    load.customers[RESOURCE_LSU] = 32;
    f64 free = estimate_time(&load, &twice);
    load.queued[RESOURCE_L2] = 500;
    f64 in_line = estimate_time(&load, &twice);
    assert_true(free < 0.6 && in_line > 16 / 16.5 - 1e-6 && in_line < 1);
    load.busy[RESOURCE_LAUNCH] = 1;
    assert_true(estimate_time(&load, &(EstimateChange){.warps = 2, .relief = {[RESOURCE_LAUNCH] = 0.9}}) < 0.6);
}

// A line that would take more work than there can be is not only that: twice as many warps reach what there can be.
static void a_line_is_no_more_than_there_is_to_do(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 10, .latency = 990, .issue_rate = 0.05};
    load.busy[RESOURCE_L2] = 0.3;
    load.customers[RESOURCE_LSU] = 32;
    load.queued[RESOURCE_L2] = 500;
    load.most[RESOURCE_L2] = 0.6;
    f64 time = estimate_time(&load, &(EstimateChange){.warps = 2});
    assert_true(time > 0.6 - 1e-6 && time < 0.8);
    load.most[RESOURCE_L2] = 0.1;  // what is known to be done is
    assert_true(estimate_time(&load, &(EstimateChange){.warps = 2}) > 0.5 - 1e-6);
    load.most[RESOURCE_L2] = 2;
    assert_true(estimate_time(&load, &(EstimateChange){.warps = 2}) > 16 / 16.5 - 1e-6);
}

// A tenth of 32 warps' time is the L2's line: 3.2 are in it, so that it works 3.2 / (1 + 3.2 * 31 / 32) of the time,
// and the others are elsewhere. Of 64 warps each finds 63 of 64 parts of a longer line, until all go round as often.
static void lines_grow_with_the_warps(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 1, .latency = 999, .issue_rate = 0.032};
    load.busy[RESOURCE_L2] = 0.3;
    load.customers[RESOURCE_LSU] = 32;
    load.queued[RESOURCE_L2] = 100;
    f64 busy = 3.2 / (1 + 3.2 * 31 / 32), line = 3.2, rounds = 1;
    for (u32 i = 0; i < 2000; i++) {
        rounds = 64 / (32 - 3.2 + busy * (1 + line * 63 / 64));
        line += 0.1 * (rounds * busy * (1 + line * 63 / 64) - line);
    }
    f64 time = estimate_time(&load, &(EstimateChange){.warps = 2});
    assert_true(rounds > 1.1 && rounds < 1 / busy);
    assert_float_equal(time, 1 / rounds, 0.02);
}

static void the_error_is_that_of_a_binomial(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 200, .latency = 800, .issue_rate = 0.2};
    EstimateChange change = {.stalls = 100};
    near(estimate_error(&load, &change, INFINITY), 0);
    // p = 0.1 of n = 1000: +- sqrt(0.9 / 100) = 9.5 % of the samples; of the gain M / (T - M) a little more
    f64 error = estimate_error(&load, &change, 1000);
    assert_true(error > 0.095 && error < 0.115);
    assert_true(estimate_error(&load, &change, 100000) < error / 9);
    assert_true(isfinite(estimate_error(&load, &(EstimateChange){0}, 10)));
}

// Atomics on one word, one after the other for a thousand warps: as long as they take all the time, they say how long
// it is; as soon as they need less, hardly any warp is in line.
static void a_line_of_all_warps_is_full_or_short(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 1, .latency = 900, .issue_rate = 0.01};
    load.busy[RESOURCE_ATOMIC] = 0.98;
    load.queued[RESOURCE_ATOMIC] = 980;
    load.customers[RESOURCE_ATOMIC] = 1000;
    EstimateChange joined = {0};
    joined.relief[RESOURCE_ATOMIC] = 0.98 * 31 / 32;
    f64 time = estimate_time(&load, &joined), left = 0.98 / 32;
    assert_true(time > left && time < 1.1 * left);
    near(estimate_time(&load, &(EstimateChange){0}), 1);
}

// Warps that leave additions behind and end: the time is the L2's, and issue slots are a limit while there are warps.
static void what_is_left_behind_takes_its_time(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 700, .latency = 300, .issue_rate = 0.7, .behind = 0.9};
    load.busy[RESOURCE_ATOMIC] = 0.96;
    EstimateChange joined = {0}, other = {.stalls = 200};
    joined.relief[RESOURCE_ATOMIC] = 0.96 * 7 / 8;
    assert_true(estimate_time(&load, &joined) > 0.12 && estimate_time(&load, &joined) < 0.25);
    assert_true(estimate_least_time(&load, &joined) < 0.13);
    assert_true(estimate_time(&load, &other) > 0.95);
    near(estimate_time(&load, &(EstimateChange){0}), 1);
}

// Who waits at a barrier waits for warps that stand in line for an atomic.
static void barriers_wait_for_the_line(void **state) {
    (void)state;
    EstimateLoad load = {.total = 1000, .issued = 10, .latency = 900, .issue_rate = 0.01, .barrier = 800};
    load.busy[RESOURCE_ATOMIC] = 0.9;
    load.queued[RESOURCE_ATOMIC] = 150;
    load.customers[RESOURCE_ATOMIC] = 1000;
    EstimateChange joined = {0};
    joined.relief[RESOURCE_ATOMIC] = 0.9 * 7 / 8;
    f64 time = estimate_time(&load, &joined);
    assert_true(time > 0.2 && time < 0.4);  // 50 of 200 samples stay, and as much of those at the barrier
}

// What goes away held the dispatcher for two cycles each time, 1.25 being the mean: what is left takes one, so that
// 0.7 * 75 instead of 0.7 * 125 of its cycles are left.
static void some_hold_the_dispatcher_for_longer(void **state) {
    (void)state;
    EstimateLoad load = {
        .total = 1000, .issued = 100, .not_selected = 600, .latency = 50, .issue_rate = 0.7, .held = 125};
    EstimateChange as_mean = {.issues = 25}, longer = {.issues = 25, .held = 25 * (2 - 1.25)};
    near(estimate_least_time(&load, &as_mean), 0.7 * 1.25 * 0.75);
    near(estimate_least_time(&load, &longer), 0.7 * 0.75);
    assert_true(estimate_time(&load, &longer) < 0.9 * estimate_time(&load, &as_mean));
    load.held = 0;
    near(estimate_time(&load, &longer), estimate_time(&load, &as_mean));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_equations),
        cmocka_unit_test(nothing_is_infinite),
        cmocka_unit_test(one_warp_is_equation_2),
        cmocka_unit_test(issue_slots_are_a_limit),
        cmocka_unit_test(a_busy_unit_is_a_limit),
        cmocka_unit_test(two_limits_at_once_are_not_reached),
        cmocka_unit_test(queues_get_shorter),
        cmocka_unit_test(queues_of_short_turns_are_short),
        cmocka_unit_test(a_long_queue_is_of_a_busy_unit),
        cmocka_unit_test(waits_at_barriers_go_with_the_work),
        cmocka_unit_test(costs_of_more_ctas_are_certain),
        cmocka_unit_test(loads_wait_longer_for_a_busy_dram),
        cmocka_unit_test(who_shares_a_unit_waits_longer),
        cmocka_unit_test(warps_and_work),
        cmocka_unit_test(a_line_of_all_warps_is_full_or_short),
        cmocka_unit_test(what_is_left_behind_takes_its_time),
        cmocka_unit_test(more_warps_stand_in_the_same_line),
        cmocka_unit_test(a_line_is_no_more_than_there_is_to_do),
        cmocka_unit_test(lines_grow_with_the_warps),
        cmocka_unit_test(barriers_wait_for_the_line),
        cmocka_unit_test(the_error_is_that_of_a_binomial),
        cmocka_unit_test(some_hold_the_dispatcher_for_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
