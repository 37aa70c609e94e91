// SPDX-License-Identifier: Apache-2.0
// What stalls are added up into, and which of a warp's stalls is remembered at a barrier.
#include "sim/time/sm_account.h"

#include "base/testing.h"

static const TimeEdge *edge_of(const Tally *t, u32 pc, u32 cause, u8 reason) {
    for (u32 i = 0; i < t->edge_cap; i++) {
        const TimeEdge *e = &t->edges[i];
        if (e->times && e->pc == pc && e->cause == cause && e->reason == reason) return e;
    }
    return NULL;
}

TEST(causes_that_come_by_turns_keep_their_sums) {
    Tally t, other;
    assert_int_equal(tally_init(&t, 4, 1), STATUS_OK);
    assert_int_equal(tally_init(&other, 4, 1), STATUS_OK);
    for (u32 i = 0; i < 900; i++)
        tally_charge(&t, tally_row(&t, 2), STALL_LONG_SCOREBOARD, i % 3 ? i % 3 : WL_NONE, 10 + i % 3, 4);
    tally_charge(&t, tally_row(&t, 2), STALL_MIO_THROTTLE, 0, 7, 0);
    tally_charge(&other, tally_row(&other, 2), STALL_LONG_SCOREBOARD, 1, 100, 0);
    tally_edge(&other, 2, 3, STALL_LONG_SCOREBOARD, 5, 0);  // so far only cycles
    for (u32 again = 0; again < 2; again++) tally_settle(&t);
    tally_settle(&other);
    tally_merge(&t, &other);
    assert_int_equal(t.pcs[2].stalls[STALL_LONG_SCOREBOARD], 300 * (10 + 11 + 12) + 100);
    assert_int_equal(t.pcs[2].latency[STALL_LONG_SCOREBOARD], 300 * (10 + 11 + 12) + 100 - 900 * 4);
    assert_int_equal(t.pcs[2].stalls[STALL_MIO_THROTTLE], 7);
    const TimeEdge *one = edge_of(&t, 2, 1, STALL_LONG_SCOREBOARD), *two = edge_of(&t, 2, 2, STALL_LONG_SCOREBOARD);
    assert_true(one && two && !edge_of(&t, 2, 3, STALL_LONG_SCOREBOARD));
    assert_int_equal(one->cycles, 300 * 11 + 100);
    assert_int_equal(one->times, 301);
    assert_int_equal(two->cycles, 300 * 12);
    assert_true(edge_of(&t, 2, 0, STALL_MIO_THROTTLE) != NULL);
    tally_charge(&t, tally_row(&t, 2), STALL_LONG_SCOREBOARD, 3, 1, 0);
    tally_settle(&t);
    assert_int_equal(edge_of(&t, 2, 3, STALL_LONG_SCOREBOARD)->cycles, 6);
    tally_free(&t);
    tally_free(&other);
}

// Stalls of 1 to 64 cycles: of 20,000 warps each has been remembered by as many as its share of the cycles, but for
// four standard deviations.
TEST(a_stall_is_remembered_as_often_as_it_is_long) {
    enum { WARPS = 20000, STALLS = 7 };
    TimeCode code = {.meets = true};
    u32 seen[STALLS] = {0};
    for (u32 i = 0; i < WARPS; i++) {
        u64 at = 1000 + i / 8 * 4;
        TimeWarp w = {.code = &code, .delay_from = at, .delay_next = at, .salt = hash_u64(i % 8)};
        for (u32 k = 0; k < STALLS; k++) {
            note_delay(&w, STALL_WAIT, 0, k, at += 1ull << k);
            note_delay(&w, STALL_BARRIER, 0, STALLS, at + 1000);
        }
        assert_true(w.delay_pc < STALLS);
        seen[w.delay_pc]++;
    }
    for (u32 k = 0; k < STALLS; k++) {
        f64 share = (f64)(1u << k) / ((1u << STALLS) - 1), mean = WARPS * share, off = seen[k] - mean;
        assert_true(off * off < 16 * mean * (1 - share));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(causes_that_come_by_turns_keep_their_sums),
        cmocka_unit_test(a_stall_is_remembered_as_often_as_it_is_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
