// SPDX-License-Identifier: Apache-2.0
// The arithmetic of partial simulation.
#include "sim/time/sample_math.h"

#include <math.h>
#include <string.h>

#include "base/testing.h"

static Mix mix_of(u32 at, f64 insts, f64 sectors) {
    Mix mix = {.insts = insts, .threads = insts * 32, .sectors = sectors};
    mix.part[at] = insts;
    return mix;
}

TEST(mixes_are_compared_by_shares) {
    Mix a = mix_of(3, 100, 400), twice = mix_of(3, 200, 800), other = mix_of(4, 100, 400);
    Mix scattered = mix_of(3, 100, 800), empty = {0};
    assert_true(mix_distance(&a, &twice) == 0);
    assert_true(mix_distance(&a, &other) == 1);
    assert_true(fabs(mix_distance(&a, &scattered) - 0.5) < 1e-12);
    assert_true(mix_distance(&a, &empty) == 1 && mix_distance(&empty, &empty) == 0);
    Mix rest = mix_difference(&twice, &a);
    assert_true(mix_distance(&rest, &a) == 0 && rest.insts == 100);
}

TEST(means_and_deviations_have_weights) {
    SampleTally t = {0};
    sample_add(&t, 10, 1);
    assert_true(sample_deviation(&t) == 0);
    sample_add(&t, 20, 3);
    sample_add(&t, 99, 0);  // no weight: nothing
    assert_int_equal(t.count, 2);
    assert_true(fabs(t.mean - 17.5) < 1e-12);
    assert_true(sample_deviation(&t) > 0.3 && sample_deviation(&t) < 0.4);
    assert_true(sample_student(2) > sample_student(5) && sample_student(5) > sample_student(100));
}

// Chunks follow each other, in order, within the launch, and leave the last wave.
static void check_plan(u64 waves, u32 period, u64 wanted) {
    SampleChunks chunks = {0};
    u64 measured = wanted, detail = 0, last = 0;
    assert_int_equal(sample_plan(waves, period, 7, &measured, &chunks), STATUS_OK);
    if (!sample_worth(waves)) {
        assert_int_equal(chunks.len, 0);
        return;
    }
    assert_true(chunks.len > SAMPLE_CHUNKS && measured >= 1 && measured <= wanted);
    for (u32 i = 0; i < chunks.len; i++) {
        const SampleChunk *c = &chunks.data[i];
        if (i) assert_int_equal(c->count, measured + 1);
        assert_true(c->first >= last);
        last = c->first + c->count;
        detail += c->count;
    }
    u64 share = waves / period < 64 ? waves / period : 64, least = measured + SAMPLE_FIRST;
    assert_int_equal(chunks.data[0].count, share > least ? share : least);
    assert_true(last < waves && detail * 4 < waves * 3);
    vec_free(&chunks);
}

TEST(plans_leave_most_waves_out) {
    for (u64 waves = 0; waves < 300; waves++)
        for (u64 wanted = 1; wanted < 12; wanted += 5) check_plan(waves, 20, wanted);
    check_plan(1000000, 20, 3);
    SampleChunks chunks = {0};
    u64 measured = 1;
    assert_int_equal(sample_plan(100000, 20, 1, &measured, &chunks), STATUS_OK);
    assert_in_range(chunks.len * 2, 100000 / 20 - 10, 100000 / 20 + 10);  // one wave of twenty
    vec_free(&chunks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixes_are_compared_by_shares),
        cmocka_unit_test(means_and_deviations_have_weights),
        cmocka_unit_test(plans_leave_most_waves_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
