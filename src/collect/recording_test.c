// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "base/testing.h"
#include "collect/collect_inside.h"

enum { MS = 1000000, STEP = 50 * MS };

// A program of kernels one after the other, looked at every 50 ms.
typedef struct Run {
    Recording recording;
    u64 now, begin;
    f64 launched, recorded, estimated;
    f64 phase, before;  // recorded since recording was last switched on, and before that
    u32 turns;
} Run;

static Run run_begin(void) { return (Run){.recording = recording_begin(1000), .now = 1000, .begin = 1000}; }

// `rate` launches a second, which keep the GPU busy for a part of the time.
static void run_on(Run *run, f64 seconds, f64 rate, f64 busy) {
    Recording *r = &run->recording;
    for (u64 end = run->now + (u64)(seconds * 1e9); run->now < end;) {
        f64 launches = round(rate * STEP * 1e-9);
        run->launched += launches;
        for (u32 i = 0; r->on && i < (u32)launches; i++) {
            recording_count(r, (u64)(busy * STEP / launches));
            run->recorded++, run->phase++;
        }
        run->now += STEP;
        if (!recording_turns(r, run->now)) continue;
        run->turns++;
        if (!r->on) continue;
        run->estimated += run->phase * r->weight;
        run->before = run->phase;
        run->phase = 0;
    }
}

static void run_end(Run *run) {
    const Recording *r = &run->recording;
    run->estimated +=
        run->phase > 0 ? run->phase * recording_weight(r, run->now) : run->before * recording_more(r, run->now);
}

TEST(a_gpu_with_pauses_has_every_launch_recorded) {
    Run run = run_begin();
    run_on(&run, 20, 40000, 0.5);
    run_end(&run);
    assert_true(run.turns == 0 && run.recorded == run.launched && run.estimated == run.launched);
}

TEST(few_launches_are_all_recorded) {
    Run run = run_begin();
    run_on(&run, 60, 1000, 1);
    run_end(&run);
    assert_true(run.turns == 0 && run.estimated == run.launched);
}

TEST(a_full_gpu_has_a_budget) {
    for (f64 rate = 4000; rate < 200000; rate *= 3) {
        Run run = run_begin();
        run_on(&run, 40, rate, 1);
        run_end(&run);
        f64 moments = rate / 40 * 20;  // at least as often as every 2 s
        assert_true(run.turns > 4);
        assert_true(run.recorded < fmax(10000 + 1100 * 40, moments) + rate);  // a window is seen before it is known
        assert_true(fabs(run.estimated / run.launched - 1) < 0.001);
    }
}

TEST(an_end_in_a_gap_is_stood_for) {
    for (f64 seconds = 0.5; seconds < 6; seconds += 0.35) {
        Run run = run_begin();
        run_on(&run, seconds, 20000, 1);
        run_end(&run);
        assert_true(fabs(run.estimated / run.launched - 1) < 0.001);
    }
}

TEST(when_the_gpu_has_pauses_again_all_are_recorded_again) {
    Run run = run_begin();
    run_on(&run, 10, 20000, 1);
    u32 turns = run.turns;
    assert_true(turns > 4);
    run_on(&run, 5, 20000, 0.3);
    assert_true(run.recording.on && !run.recording.moments);
    f64 recorded = run.recorded, launched = run.launched;
    turns = run.turns;
    run_on(&run, 5, 20000, 0.3);
    assert_true(run.turns == turns && run.recorded - recorded == run.launched - launched);
    run_on(&run, 10, 20000, 1);
    assert_true(run.turns > turns);
    run_end(&run);
    assert_true(fabs(run.estimated / run.launched - 1) < 0.02);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_with_pauses_has_every_launch_recorded),
        cmocka_unit_test(few_launches_are_all_recorded),
        cmocka_unit_test(a_full_gpu_has_a_budget),
        cmocka_unit_test(an_end_in_a_gap_is_stood_for),
        cmocka_unit_test(when_the_gpu_has_pauses_again_all_are_recorded_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
