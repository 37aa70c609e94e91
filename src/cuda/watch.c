// SPDX-License-Identifier: Apache-2.0
#include "cuda/watch.h"

#include <dirent.h>
#include <sched.h>
#include <time.h>

#include "base/thread.h"
#include "cuda/pending.h"

#define FIRST_PAUSE 20000ull  // ns
#define MOST_PAUSE 5000000ull
#define QUIET_NS 20000000ull         // without a call: then kernels under way go on,
#define LAZY_QUIET_NS 1000000000ull  // ... and work of a lazy context begins

static void sleep_ns(u64 ns) { nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL); }

// The lock is recursive, so it is given back as often as it was taken.
static void unlocked(CudaContext *c, u64 ns) {
    u32 depth = cuda_thread()->entered;
    for (u32 i = 0; i < depth; i++) pthread_mutex_unlock(&c->lock);
    if (ns)
        sleep_ns(ns);
    else
        sched_yield();
    for (u32 i = 0; i < depth; i++) pthread_mutex_lock(&c->lock);
}

void watch_pause(CudaContext *c, WatchPause *pause) {
    if (pause->ns < FIRST_PAUSE) pause->ns = FIRST_PAUSE;
    unlocked(c, pause->ns);
    pause->total += pause->ns;
    pause->ns = pause->ns * 2 < MOST_PAUSE ? pause->ns * 2 : MOST_PAUSE;
}

void watch_yield(CudaContext *c) { unlocked(c, 0); }

static u32 threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    u32 count = 0;
    if (!tasks) return 1;
    for (const struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

// Threads that wait here themselves change nothing, nor do the simulator's.
bool watch_others(const CudaContext *c) { return threads() > c->waiters + c->watching + sim_workers(c->sim); }

// --- the watching thread ---------------------------------------------------------------------------------------------
typedef struct Quiet {
    u64 calls, since;
} Quiet;

// True when it has nothing more to do, ever.
static bool take_turn(CudaContext *c, Quiet *quiet, u64 *pause) {
    if (c->state != CUDA_RUNNING || (!c->pending.len && !c->lazy)) return true;
    u64 now = cuda_now();
    if (quiet->calls != c->calls || c->waiters) *quiet = (Quiet){c->calls, now};
    *pause = MOST_PAUSE;
    if (now - quiet->since < QUIET_NS) return false;
    bool begin = !c->lazy || now - quiet->since >= LAZY_QUIET_NS;
    if (pending_watch(c, begin)) *pause = 0;
    return false;
}

static void *watch(void *context) {
    CudaContext *c = context;
    Quiet quiet = {0};
    u64 pause = MOST_PAUSE;
    for (bool over = false; !over;) {
        if (pause)
            sleep_ns(pause);
        else
            sched_yield();
        pthread_mutex_lock(&c->lock);
        cuda_thread()->entered++;
        over = take_turn(c, &quiet, &pause);
        if (over) c->watching = false;
        cuda_thread()->entered--;
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

void watch_begin(CudaContext *c) {
    pthread_t thread;
    if (c->watching) return;
    c->watching = thread_start(&thread, watch, c) == 0;
    if (c->watching) pthread_detach(thread);
}
