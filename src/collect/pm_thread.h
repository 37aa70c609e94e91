// SPDX-License-Identifier: Apache-2.0
// The thread that samples the counters of one GPU, and what it hands over. Internal to collect.
#ifndef WL_COLLECT_PM_THREAD_H
#define WL_COLLECT_PM_THREAD_H

#include "collect/collect_inside.h"
#include "collect/pm_counters.h"
#include "collect/pm_timeline.h"

// A chunk of decoded samples, one mapping.
typedef struct PmChunk {
    struct PmChunk *next;
    size_t bytes;
    u32 count;
    u64 lost;        // samples that are missing
    u64 *values;     // [count][columns]
    PmSpan spans[];  // ns, on the profile's clock
} PmChunk;

typedef enum PmState { PM_IDLE, PM_STARTING, PM_RUNNING, PM_FAILED } PmState;

typedef struct PmThread {
    Collector *collector;
    u32 device;
    u64 interval;  // ns
    atomic_uint state;
    _Atomic(PmChunk *) chunks;  // the latest first
    PmCounters counters;        // set before PM_RUNNING, then constant until the thread has ended
    pthread_t thread;
    sem_t wake;
    atomic_bool end;
    // The thread's own.
    void *object;  // of CUPTI
    u8 *image;
    size_t image_bytes;
    u32 seen;    // samples of the image that were read
    u64 last;    // end of the latest sample, CUPTI's clock
    u64 due;     // when to decode next, on our clock
    bool begun;  // there was a sample since the last start
    bool evaluated;
} PmThread;

// False: no thread could be made.
bool pm_thread_begin(PmThread *t);
void pm_thread_end(PmThread *t);  // waits for it

#endif
