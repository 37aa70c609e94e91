// SPDX-License-Identifier: Apache-2.0
#include "base/pool.h"

#include <stdatomic.h>

#include "base/testing.h"

enum { PARTS = 1000 };

typedef struct Work {
    u32 runs[PARTS];    // by part: written without a lock, as real jobs do
    u64 by_worker[16];  // by worker: one thread each
    _Atomic u32 arrived;
    u32 wait_for;
} Work;

static void count(void *context, u32 part, u32 worker) {
    Work *work = context;
    work->runs[part]++;
    work->by_worker[worker]++;
}

TEST(every_part_runs_once_for_any_number_of_threads) {
    for (u32 threads = 1; threads <= 5; threads++) {
        Pool *pool;
        assert_int_equal(pool_create(&pool, threads), STATUS_OK);
        assert_int_equal(pool_threads(pool), threads);
        for (u32 parts = 0; parts <= PARTS; parts = parts * 3 + 1) {
            Work work = {0};
            pool_run(pool, parts, count, &work);
            u64 total = 0;
            for (u32 i = 0; i < PARTS; i++) assert_int_equal(work.runs[i], i < parts);
            for (u32 i = 0; i < 16; i++) total += work.by_worker[i];
            for (u32 i = threads; i < 16; i++) assert_int_equal(work.by_worker[i], 0);
            assert_int_equal(total, parts);
        }
        pool_destroy(pool);
    }
}

// Results of one job are inputs of the next, without any lock of the caller's.
TEST(jobs_follow_each_other) {
    Pool *pool;
    Work work = {0};
    assert_int_equal(pool_create(&pool, 4), STATUS_OK);
    for (u32 job = 0; job < 3000; job++) pool_run(pool, 8, count, &work);
    for (u32 i = 0; i < 8; i++) assert_int_equal(work.runs[i], 3000);
    pool_destroy(pool);
}

static void meet(void *context, u32 part, u32 worker) {
    Work *work = context;
    (void)part;
    work->by_worker[worker]++;
    atomic_fetch_add(&work->arrived, 1);
    while (atomic_load(&work->arrived) < work->wait_for) continue;
}

// Parts that wait for each other end only when all the threads work at once.
TEST(threads_work_at_the_same_time) {
    Pool *pool;
    Work work = {.wait_for = 3};
    assert_int_equal(pool_create(&pool, 3), STATUS_OK);
    pool_run(pool, 3, meet, &work);
    for (u32 i = 0; i < 3; i++) assert_int_equal(work.by_worker[i], 1);
    pool_destroy(pool);
}

TEST(unused_pools_end) {
    Pool *pool;
    assert_int_equal(pool_create(&pool, 4), STATUS_OK);
    pool_destroy(pool);
    pool_destroy(NULL);
}

TEST(bad_and_unlucky_creation_is_reported) {
    Pool *pool;
    assert_int_equal(pool_create(&pool, 0), STATUS_INVALID);
    for (u64 allowed = 0; allowed < 2; allowed++) {
        u64 left = allowed;
        testing_memory_out_after(&left);
        assert_int_equal(pool_create(&pool, 2), STATUS_NO_MEMORY);
        testing_memory_back();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_runs_once_for_any_number_of_threads),
        cmocka_unit_test(jobs_follow_each_other),
        cmocka_unit_test(threads_work_at_the_same_time),
        cmocka_unit_test(unused_pools_end),
        cmocka_unit_test(bad_and_unlucky_creation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
