// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above
#include <cmocka.h>

#include "base/mem.h"
#include "collect/pm_timeline.h"

enum { METRICS = 2, STEP = 100 };

static u64 out[PM_POINTS * METRICS];

static void take(PmTimeline *t, u64 begin, u64 end, u64 first, u64 second) {
    assert_true(pm_timeline_add(t, (PmSpan){begin, end}, (u64[]){first, second}));
}

static u64 sum(const u64 *values, u32 count) {
    u64 all = 0;
    for (u32 i = 0; i < count; i++) all += values[i];
    return all;
}

static void samples_become_points(void **state) {
    (void)state;
    PmTimeline t;
    assert_int_equal(pm_timeline_make(&t, METRICS, STEP), STATUS_OK);
    take(&t, 1000, 1100, 7, 70);
    take(&t, 1100, 1250, 9, 0);  // the second half of the next point belongs to nobody yet
    take(&t, 1300, 1400, 5, 1);  // after a gap
    assert_int_equal(t.points, 4);
    pm_timeline_all(&t, out);
    const u64 expected[] = {7, 6, 3, 5, 70, 0, 0, 1};
    assert_memory_equal(out, expected, sizeof expected);
    pm_timeline_free(&t);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    PmTimeline t;
    assert_int_equal(pm_timeline_make(&t, METRICS, STEP), STATUS_OK);
    u64 values[METRICS] = {1, 1};
    assert_false(pm_timeline_add(&t, (PmSpan){1000, 1000}, values));
    assert_false(pm_timeline_add(&t, (PmSpan){1000, 900}, values));
    take(&t, 1000, 1100, 1, 1);
    assert_false(pm_timeline_add(&t, (PmSpan){1050, 1150}, values));
    assert_false(pm_timeline_add(&t, (PmSpan){500, 600}, values));
    pm_timeline_all(&t, out);
    assert_int_equal(t.points, 1);
    assert_int_equal(out[0], 1);
    pm_timeline_free(&t);
}

// However long the run is, memory is bounded, and nothing is lost of what was counted.
static void long_runs_get_coarser(void **state) {
    (void)state;
    PmTimeline t;
    assert_int_equal(pm_timeline_make(&t, METRICS, STEP), STATUS_OK);
    u64 count = 10 * PM_POINTS + 17;
    for (u64 i = 0; i < count; i++) take(&t, 1000 + i * 130, 1130 + i * 130, 3, i);
    assert_true(t.points <= PM_POINTS && t.points > PM_POINTS / 2);
    assert_int_equal(t.step, STEP * 16);
    pm_timeline_all(&t, out);
    assert_int_equal(sum(out, t.points), 3 * count);
    assert_int_equal(sum(out + t.points, t.points), count * (count - 1) / 2);
    take(&t, 1000 + (1ull << 50), 1100 + (1ull << 50), 4, 0);  // a suspended machine wakes up
    pm_timeline_all(&t, out);
    assert_int_equal(sum(out, t.points), 3 * count + 4);
    pm_timeline_free(&t);
}

static void launches_are_cut_out(void **state) {
    (void)state;
    PmTimeline t;
    u64 step;
    assert_int_equal(pm_timeline_make(&t, METRICS, STEP), STATUS_OK);
    assert_int_equal(pm_timeline_cut(&t, (PmSpan){1000, 2000}, &step, out), 0);  // nothing was sampled
    for (u64 i = 0; i < 5000; i++) take(&t, 1000 + i * 100, 1100 + i * 100, 10, i);
    u32 points = pm_timeline_cut(&t, (PmSpan){2000, 3050}, &step, out);
    assert_int_equal(points, 11);
    assert_int_equal(step, 100);
    assert_int_equal(out[0], 10);
    assert_int_equal(out[9], 10);
    assert_int_equal(out[10], 5);       // half a sample
    assert_int_equal(out[points], 10);  // the second metric
    assert_int_equal(out[points + 3], 13);
    points = pm_timeline_cut(&t, (PmSpan){1000, 501000}, &step, out);
    assert_true(points <= PM_LAUNCH_POINTS && points > PM_LAUNCH_POINTS / 2);
    assert_int_equal(sum(out, points), 50000);
    assert_int_equal(pm_timeline_cut(&t, (PmSpan){2000, 2700}, &step, out), 0);      // too short
    assert_int_equal(pm_timeline_cut(&t, (PmSpan){500000, 501001}, &step, out), 0);  // not over yet
    assert_int_equal(pm_timeline_cut(&t, (PmSpan){900, 2000}, &step, out), 0);       // before the first sample
    assert_int_equal(pm_timeline_cut(&t, (PmSpan){3000, 2000}, &step, out), 0);
    pm_timeline_free(&t);
}

// Of a launch that began before the latest samples only the points of the run are left.
static void long_launches_come_from_the_run(void **state) {
    (void)state;
    PmTimeline t;
    u64 step, count = PM_LATEST + 5000;
    assert_int_equal(pm_timeline_make(&t, METRICS, STEP), STATUS_OK);
    for (u64 i = 0; i < count; i++) take(&t, 1000 + i * 100, 1100 + i * 100, 10, 1);
    u32 points = pm_timeline_cut(&t, (PmSpan){1000, 1000 + count * 100}, &step, out);
    assert_true(points <= PM_LAUNCH_POINTS && points > PM_LAUNCH_POINTS / 2);
    assert_int_equal(sum(out, points), 10 * count);
    assert_int_equal(pm_timeline_cut(&t, (PmSpan){1000, 1000 + 100 * STEP}, &step, out), 0);  // too coarse for it
    pm_timeline_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_become_points),           cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(long_runs_get_coarser),           cmocka_unit_test(launches_are_cut_out),
        cmocka_unit_test(long_launches_come_from_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
