// SPDX-License-Identifier: Apache-2.0
// A job is open while its caller hands out parts. Workers join an open job and leave it when no part is left; the
// caller works too, then closes the job and waits for those inside. A worker that wakes up late finds the job closed
// and costs the caller nothing, so small jobs are cheap. Whatever somebody may wait for is an event: a number that
// grows. Who waits looks at it for a while before it goes to sleep, so that jobs that follow each other closely need no
// help of the kernel's.
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"

// Looks before sleeping: 100 to 200 microseconds. Windows of the simulator follow each other within some ten, and their
// threads wait for each other as long; a thread of a virtual machine that has gone to sleep is back after 50 or more.
enum { LOOKS = 4000 };

typedef struct Worker {
    Pool *pool;
    pthread_t thread;
    u32 index;
} Worker;

struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t happened;  // an event, while somebody sleeps
    _Atomic u64 events;
    _Atomic u32 waiters, sleepers;  // waiters: hold a ticket
    u32 looks;
    Worker *workers;  // those with a thread: indices 1..threads-1
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

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

u64 pool_ticket(Pool *pool) {
    atomic_fetch_add(&pool->waiters, 1);
    return atomic_load(&pool->events);
}

void pool_return(Pool *pool) { atomic_fetch_sub(&pool->waiters, 1); }

static void sleep_until(Pool *pool, u64 ticket) {
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->events) == ticket) pthread_cond_wait(&pool->happened, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

void pool_wait(Pool *pool, u64 ticket) {
    u32 looks = pool->looks;
    while (looks && atomic_load(&pool->events) == ticket) looks--, relax();
    if (!looks) sleep_until(pool, ticket);
    pool_return(pool);
}

// Either the waiter's ticket is seen here, or the waiter, who looks once more after it has taken it, sees what was
// done. While nobody waits no thread writes what the others read.
void pool_notify(Pool *pool) {
    atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load(&pool->waiters)) return;
    atomic_fetch_add(&pool->events, 1);
    if (!atomic_load(&pool->sleepers)) return;
    pthread_mutex_lock(&pool->lock);  // who counts as a sleeper sleeps now, or has seen the event
    pthread_cond_broadcast(&pool->happened);
    pthread_mutex_unlock(&pool->lock);
}

typedef enum Found { FOUND_NOTHING, FOUND_JOB, FOUND_CLOSING } Found;

// Joins the open job if the worker was not in it yet.
static Found join(Pool *pool, u64 *seen) {
    pthread_mutex_lock(&pool->lock);
    bool joins = pool->open && pool->job_number != *seen, closing = pool->closing;
    *seen = pool->job_number;
    pool->inside += joins;
    pthread_mutex_unlock(&pool->lock);
    return joins ? FOUND_JOB : closing ? FOUND_CLOSING : FOUND_NOTHING;
}

static void leave(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->inside--;
    pthread_mutex_unlock(&pool->lock);
    pool_notify(pool);
}

static _Thread_local u32 worker_index;

u32 pool_worker(void) { return worker_index; }

static void *worker_main(void *argument) {
    Worker *worker = argument;
    worker_index = worker->index;
    Pool *pool = worker->pool;
    for (u64 seen = 0;;) {
        u64 ticket = pool_ticket(pool);
        Found found = join(pool, &seen);
        if (found == FOUND_NOTHING) {
            pool_wait(pool, ticket);
            continue;
        }
        pool_return(pool);
        if (found == FOUND_CLOSING) return NULL;
        run_parts(pool, worker->index);
        leave(pool);
    }
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
    pthread_cond_init(&pool->happened, NULL);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pool->looks = processors > 0 && threads > (u64)processors ? 0 : LOOKS;
    for (u32 i = 1; i < threads; i++) {
        Worker *worker = &workers[i - 1];
        *worker = (Worker){.pool = pool, .index = i};
        if (thread_start(&worker->thread, worker_main, worker) != 0) {
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
    pthread_mutex_unlock(&pool->lock);
    pool_notify(pool);

    run_parts(pool, 0);

    for (;;) {
        u64 ticket = pool_ticket(pool);
        pthread_mutex_lock(&pool->lock);
        pool->open = false;
        u32 inside = pool->inside;
        pthread_mutex_unlock(&pool->lock);
        if (!inside) return pool_return(pool);
        pool_wait(pool, ticket);
    }
}

u32 pool_threads(const Pool *pool) { return pool->threads; }

void pool_destroy(Pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_mutex_unlock(&pool->lock);
    pool_notify(pool);
    for (u32 i = 1; i < pool->threads; i++) pthread_join(pool->workers[i - 1].thread, NULL);
    pthread_cond_destroy(&pool->happened);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->workers);
    mem_free(pool);
}
