// SPDX-License-Identifier: Apache-2.0
#include "collect/fetches.h"

#include "base/testing.h"

static const u64 ms = 1000000;

TEST(a_program_that_launches_is_fetched_from_every_fifth_of_a_second) {
    Fetches f = {0};
    u64 calls = 0, fetched = 0;
    for (u64 now = 1000 * ms; now < 3000 * ms; now += 50 * ms) {
        bool paused = fetches_paused(&f, ++calls, now);
        assert_false(paused);
        if (!fetches_due(&f, &fetches_of_records, paused, now)) continue;
        fetches_done(&f, now, ms);
        fetched++;
    }
    assert_int_equal(fetched, 10);
}

TEST(fetches_that_take_much_are_fewer_but_never_half_a_second_apart) {
    Fetches f = {0};
    fetches_done(&f, 1000 * ms, 10 * ms);
    fetches_paused(&f, 1, 1000 * ms);
    assert_false(fetches_due(&f, &fetches_of_records, false, 1300 * ms));
    assert_true(fetches_due(&f, &fetches_of_records, false, 1320 * ms));
    fetches_done(&f, 1000 * ms, 20 * ms);
    fetches_paused(&f, 2, 1000 * ms);
    assert_false(fetches_due(&f, &fetches_of_records, false, 1450 * ms));
    assert_true(fetches_due(&f, &fetches_of_records, false, 1500 * ms));
    fetches_done(&f, 2000 * ms, 500 * ms);
    fetches_paused(&f, 3, 2000 * ms);
    assert_false(fetches_due(&f, &fetches_of_records, false, 2450 * ms));
    assert_true(fetches_due(&f, &fetches_of_records, false, 2500 * ms));
    fetches_done(&f, 3000 * ms, 500 * ms);  // nothing was launched since
    assert_true(fetches_due(&f, &fetches_of_records, false, 3200 * ms));
}

TEST(a_pause_is_fetched_from_at_once_and_once) {
    Fetches f = {0};
    assert_false(fetches_paused(&f, 0, 900 * ms));  // nothing was launched yet
    assert_false(fetches_paused(&f, 7, 1000 * ms));
    fetches_done(&f, 1000 * ms, 2 * ms);
    assert_false(fetches_paused(&f, 9, 1050 * ms));
    assert_false(fetches_paused(&f, 9, 1060 * ms));  // turns may follow closely
    assert_true(fetches_paused(&f, 9, 1100 * ms));
    assert_true(fetches_due(&f, &fetches_of_records, true, 1100 * ms));
    fetches_done(&f, 1101 * ms, 20 * ms);
    assert_false(fetches_paused(&f, 9, 1400 * ms));
    assert_false(fetches_paused(&f, 10, 1401 * ms));
    fetches_done(&f, 1402 * ms, 20 * ms);
    assert_false(fetches_paused(&f, 11, 1403 * ms));
    assert_true(fetches_paused(&f, 11, 1453 * ms));
    assert_false(fetches_due(&f, &fetches_of_records, true, 1453 * ms));  // not for more than an eighth of a processor
    assert_true(fetches_due(&f, &fetches_of_records, true, 1562 * ms));
}

TEST(launches_wait_for_fetches_of_samples_a_512th_of_the_time) {
    Fetches f = {0};
    u64 calls = 0, fetched = 0;
    for (u64 now = 1000 * ms; now < 31000 * ms; now += 50 * ms) {
        bool paused = fetches_paused(&f, ++calls, now);
        if (!fetches_due(&f, &fetches_of_samples, paused, now)) continue;
        fetches_done(&f, now, 10 * ms);
        fetched++;
    }
    assert_int_equal(fetched, 6);  // every 5.12 s
    fetches_done(&f, 40000 * ms, 500 * ms);
    fetches_paused(&f, ++calls, 40000 * ms);
    assert_false(fetches_due(&f, &fetches_of_samples, false, 49900 * ms));
    assert_true(fetches_due(&f, &fetches_of_samples, false, 50000 * ms));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_that_launches_is_fetched_from_every_fifth_of_a_second),
        cmocka_unit_test(fetches_that_take_much_are_fewer_but_never_half_a_second_apart),
        cmocka_unit_test(a_pause_is_fetched_from_at_once_and_once),
        cmocka_unit_test(launches_wait_for_fetches_of_samples_a_512th_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
