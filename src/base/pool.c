// SPDX-License-Identifier: Apache-2.0
// A job is open while its caller hands out parts. Workers join an open job and leave it when no part is left; the
// caller works too, then closes the job and waits for those inside. A worker that wakes up late finds the job closed
// and costs the caller nothing, so small jobs are cheap.
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/mem.h"

typedef struct Worker {
    Pool *pool;
    pthread_t thread;
    u32 index;
} Worker;

struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t opened;  // a job was opened, or the pool is closing
    pthread_cond_t left;    // the last worker left the job
    Worker *workers;        // those with a thread: indices 1..threads-1
    u32 threads;

    // Under `lock`.
    u64 job_number;  // grows with each job: a worker joins each one once
    bool open, closing;
    u32 inside;  // workers that run parts now

    // Written while the job is not open and nobody is inside.
    PoolJob job;
    void *context;
    u32 parts;
    _Atomic u64 next_part;  // 64 bits: goes past `parts` by one per worker
};

static void run_parts(Pool *pool, u32 worker) {
    for (;;) {
        u64 part = atomic_fetch_add_explicit(&pool->next_part, 1, memory_order_relaxed);
        if (part >= pool->parts) return;
        pool->job(pool->context, (u32)part, worker);
    }
}

static void *worker_main(void *argument) {
    Worker *worker = argument;
    Pool *pool = worker->pool;
    u64 seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->closing && !(pool->open && pool->job_number != seen)) {
            pthread_cond_wait(&pool->opened, &pool->lock);
        }
        if (pool->closing) break;
        seen = pool->job_number;
        pool->inside++;
        pthread_mutex_unlock(&pool->lock);
        run_parts(pool, worker->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->inside == 0 && !pool->open) pthread_cond_signal(&pool->left);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

// The host program's signals are not for our threads.
static int start_thread(Worker *worker) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&worker->thread, NULL, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

Status pool_create(Pool **result, u32 threads) {
    if (threads == 0) return STATUS_INVALID;
    Pool *pool = mem_zero(1, sizeof *pool);
    Worker *workers = mem_zero(threads - 1, sizeof *workers);
    if (!pool || !workers) {
        mem_free(pool);
        mem_free(workers);
        return STATUS_NO_MEMORY;
    }
    pool->workers = workers;
    pool->threads = 1;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->left, NULL);
    for (u32 i = 1; i < threads; i++) {
        Worker *worker = &workers[i - 1];
        *worker = (Worker){.pool = pool, .index = i};
        if (start_thread(worker) != 0) {
            pool_destroy(pool);
            return STATUS_LIMIT;
        }
        pool->threads++;
    }
    *result = pool;
    return STATUS_OK;
}

void pool_run(Pool *pool, u32 parts, PoolJob job, void *context) {
    if (pool->threads == 1 || parts <= 1) {
        for (u32 part = 0; part < parts; part++) job(context, part, 0);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    assert(!pool->open && pool->inside == 0);
    pool->job = job;
    pool->context = context;
    pool->parts = parts;
    atomic_store_explicit(&pool->next_part, 0, memory_order_relaxed);
    pool->job_number++;
    pool->open = true;
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);

    run_parts(pool, 0);

    pthread_mutex_lock(&pool->lock);
    pool->open = false;
    while (pool->inside > 0) pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

u32 pool_threads(const Pool *pool) { return pool->threads; }

void pool_destroy(Pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (u32 i = 1; i < pool->threads; i++) pthread_join(pool->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->opened);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->workers);
    mem_free(pool);
}
