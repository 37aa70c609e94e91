// SPDX-License-Identifier: Apache-2.0
// A fixed set of worker threads that run the parts of one job at a time. The order in which parts run is not defined:
// whoever needs determinism writes results by part index and reduces in order.
#ifndef WL_BASE_POOL_H
#define WL_BASE_POOL_H

#include "base/status.h"

typedef struct Pool Pool;

// `worker` is 0..threads-1 and is stable for the thread that runs it.
typedef void (*PoolJob)(void *context, u32 part, u32 worker);

// threads >= 1; the caller of pool_run is worker 0, so 1 starts no thread.
WL_MUST_USE Status pool_create(Pool **pool, u32 threads);
void pool_run(Pool *pool, u32 parts, PoolJob job, void *context);  // returns when all parts are done
u32 pool_threads(const Pool *pool);
void pool_destroy(Pool *pool);
u32 pool_worker(void);  // which worker of its pool the calling thread is; 0: of none, or the caller of pool_run

// For parts that depend on each other; none may rely on another one being run by another thread. A part that finds
// nothing to do takes a ticket, looks once more, and waits until somebody has called pool_notify since it took the
// ticket; or it returns the ticket when there is something to do. Waiting, here and for the next job, is looking for
// a tenth or two of a millisecond (not where threads outnumber processors), then sleeping.
u64 pool_ticket(Pool *pool);
void pool_return(Pool *pool);
void pool_wait(Pool *pool, u64 ticket);
void pool_notify(Pool *pool);

#endif
