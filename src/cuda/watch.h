// SPDX-License-Identifier: Apache-2.0
// Host threads and pending work: waiting with the lock released, what other threads there are, and the watching thread,
// which exists while kernels wait for memory. It gives them turns when the program has not called for a while, as
// when it waits itself for what a kernel writes.
#ifndef WL_CUDA_WATCH_H
#define WL_CUDA_WATCH_H

#include "cuda/context.h"

typedef struct WatchPause {
    u64 ns;     // the next one; doubled each time
    u64 total;  // so far
} WatchPause;

void watch_pause(CudaContext *c, WatchPause *pause);
void watch_yield(CudaContext *c);         // lets another thread have the lock
bool watch_others(const CudaContext *c);  // other threads of the program run, which may change memory or submit work
void watch_begin(CudaContext *c);         // a kernel is under way that others may have to wait for

#endif
