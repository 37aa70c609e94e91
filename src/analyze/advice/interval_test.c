// SPDX-License-Identifier: Apache-2.0
// What holds of intervals whatever the estimate.
#include "analyze/advice/interval.h"

#include <math.h>

#include "base/testing.h"

static const f64 speedups[] = {1, 1.001, 1.02, 1.1, 1.5, 2, 5, 20, 64, 1000};
static const f64 widths[] = {0.5, 0.8, 1, 1.3, 3};
static const f64 errors[] = {0, 0.05, 0.3, 1, 2};

typedef void Check(f64 speedup, f64 width, f64 error);

static void for_all(Check *check) {
    for (u32 s = 0; s < WL_COUNT(speedups); s++)
        for (u32 w = 0; w < WL_COUNT(widths); w++)
            for (u32 e = 0; e < WL_COUNT(errors); e++) check(speedups[s], widths[w], errors[e]);
}

static void is_around(f64 speedup, f64 width, f64 error) {
    Interval i = interval_around(speedup, width, error);
    assert_true(isfinite(i.high) && 1 <= i.low && i.low <= speedup * (1 + 1e-9) && speedup < i.high);
}

static void grows(f64 speedup, f64 width, f64 error) {
    Interval i = interval_around(speedup, width, error), wider = interval_around(speedup, width * 1.1, error),
             surer = interval_around(speedup, width, error / 2), more = interval_around(speedup * 1.1, width, error);
    assert_true(wider.low <= i.low && wider.high > i.high);
    assert_true(surer.low >= i.low && surer.high <= i.high);
    assert_true(more.high > i.high);
}

static void it_is_around_the_estimate(void **state) {
    (void)state;
    for_all(is_around);
}

static void what_is_less_sure_is_wider(void **state) {
    (void)state;
    for_all(grows);
}

// The scores that are calibrated with say the same: at a quantile of q the end of the interval is where the score is q.
static void ends_are_where_scores_are_the_quantiles(void **state) {
    (void)state;
    for (u32 s = 4; s < WL_COUNT(speedups); s++) {
        Interval i = interval_around(speedups[s], 0.9, 0);
        f64 x = log(speedups[s]), above = (log(i.high) - x) / (0.9 * sqrt(x + INTERVAL_FLOOR_ABOVE)),
            below = (x - log(i.low)) / (0.9 * (x + INTERVAL_FLOOR_BELOW));
        assert_true(fabs(above - INTERVAL_ABOVE) < 1e-9 && fabs(below - INTERVAL_BELOW) < 1e-9);
    }
}

// A large gain keeps a part of itself, a small one may be nothing, and nothing may still be something.
static void it_says_something(void **state) {
    (void)state;
    assert_true(interval_around(3, 1, 0).low > 1.1 && interval_around(3, 1, 0).high < 12);
    assert_true(interval_around(1.02, 1, 0).low < 1.02);
    assert_true(interval_around(1, 1, 0).high > 1.05 && interval_around(1, 1, 0).high < 1.4);
    assert_true(interval_around(0.5, 1, 0).low == 1);  // an estimate is never below 1
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_around_the_estimate),
        cmocka_unit_test(what_is_less_sure_is_wider),
        cmocka_unit_test(ends_are_where_scores_are_the_quantiles),
        cmocka_unit_test(it_says_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
