// SPDX-License-Identifier: Apache-2.0
// Replies come to an SM in one order, in whatever order they were given.
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/testing.h"
#include "sim/time/machine.h"
#include "sim/time/sm_parts.h"

enum { WINDOWS = 60, WINDOW = 100, GIVEN = 40 };

static int by_order(const void *left, const void *right) {
    const MemReply *a = left, *b = right;
    if (a->cycle != b->cycle) return a->cycle < b->cycle ? -1 : 1;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    if (a->tag != b->tag) return a->tag < b->tag ? -1 : 1;
    return (int)a->sectors - (int)b->sectors;
}

static void agree(const MemReply *a, const MemReply *b) {
    assert_int_equal(a->cycle, b->cycle);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->tag, b->tag);
    assert_int_equal(a->sectors, b->sectors);
}

// Some come long after the others; cycles, lines and tags meet.
static MemReply made(u64 now, u64 random) {
    u64 after = random % 50 == 0 ? 900 + random % 5000 : random % 3 ? WINDOW + random / 64 % 70 : random / 64 % 300;
    return (MemReply){.cycle = now + after,
                      .line = random >> 20 & 3,
                      .tag = random >> 24 & 1,
                      .sectors = (u8)(1 + (random >> 28 & 3)),
                      .kind = MEM_READ};
}

TEST(replies_are_taken_in_order) {
    Sm *sm = calloc(1, sizeof *sm);
    MemReply *waiting = calloc(WINDOWS * GIVEN, sizeof *waiting);
    assert_true(sm && waiting);
    u32 count = 0, taken = 0;
    replies_clear(sm);
    for (u64 w = 0; w < WINDOWS || count; w++) {
        sm->now = w * WINDOW;
        for (u32 i = 0; w < WINDOWS && i < GIVEN; i++) {
            waiting[count] = made(sm->now, hash_u64(w * GIVEN + i));
            sm_receive(sm, &waiting[count++]);
        }
        qsort(waiting, count, sizeof *waiting, by_order);
        u32 due = 0;
        for (; due < count && waiting[due].cycle < sm->now + WINDOW; due++, taken++) {
            assert_int_equal(sm->replies.next, waiting[due].cycle);
            MemReply reply = replies_take(&sm->replies);
            agree(&reply, &waiting[due]);
        }
        count -= due;
        memmove(waiting, waiting + due, count * sizeof *waiting);
        assert_int_equal(sm->replies.next, count ? waiting[0].cycle : NEVER);
    }
    assert_int_equal(taken, WINDOWS * GIVEN);
    assert_int_equal(sm->status, STATUS_OK);
    replies_free(sm);
    free(waiting);
    free(sm);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(replies_are_taken_in_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
