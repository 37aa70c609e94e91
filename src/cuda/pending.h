// SPDX-License-Identifier: Apache-2.0
// Submitted work that has not been executed: items in the order of submission, those of a stream one behind the other,
// the legacy default stream before and behind the blocking streams of its device (CUDA programming guide, "Default
// Stream"). Work that can be executed when it is submitted never gets here, unless the context is lazy; a kernel that
// waits for memory does, and what has to come after it. Whoever waits drives the list; otherwise every call gives the
// kernels in it a turn, and after a quiet time the watching thread does. Under the context's lock.
#ifndef WL_CUDA_PENDING_H
#define WL_CUDA_PENDING_H

#include "cuda/stream.h"

typedef struct CudaItem {
    u64 number;  // in order of submission, from 1
    CudaStream *stream;
    CudaWork work;
    CudaTask task;
    void *staged;  // bytes that a copy reads from; owned
    bool busy;     // some host thread is executing it
} CudaItem;

// Which items are waited for: of those submitted so far, those in all of these.
typedef struct PendingSet {
    const CudaStream *stream;  // NULL: any
    const EventMark *mark;     // what it stands for; NULL: any
    const CudaExec *exec;      // launches of it; NULL: any
    int device;                // -1: any
} PendingSet;

// Executes work now if it may be, makes an item of it otherwise.
cudaError_t pending_submit(CudaContext *c, CudaStream *stream, CudaWork *work);

// Waits until nothing of the set is left. The error of what failed; a deadlock is told and becomes the device's error.
cudaError_t pending_wait(CudaContext *c, PendingSet set);
// One bounded try. cudaErrorNotReady: something of the set is left.
cudaError_t pending_query(CudaContext *c, PendingSet set);
// Executes what can be executed, and waits for nothing: for calls that take away what work may use. The error of a
// fault on the current device.
cudaError_t pending_settle(CudaContext *c);
// Whether the last work of a stream that has some is under way.
bool pending_has_begun(const CudaContext *c, const CudaStream *stream);
// Gives the kernels under way a turn, at the beginning of a call of the program's.
void pending_take_turns(CudaContext *c);
static inline void pending_poke(CudaContext *c) {
    const CudaThread *thread = cuda_thread();
    bool any = c->begun || (c->pending.len && !c->lazy);
    if (WL_UNLIKELY(any) && thread->entered == 1 && !thread->host_depth) pending_take_turns(c);
}
// The watching thread's turn, after a quiet time; `begin`: new work may begin. True when something moved.
bool pending_watch(CudaContext *c, bool begin);
// Gives up everything of a device; -1: of all.
void pending_drop(CudaContext *c, int device);
// The program ends: executes what can be, tells what waits, drops it.
void pending_finish(CudaContext *c);

// Of calls that return when their copy, the last work of the thread's default stream, has been made.
cudaError_t pending_finish_copy(CudaContext *c, cudaError_t error);
// The same of fills, which are waited for where the host can see what they fill: pinned, registered and managed memory
// ("API synchronization behavior", Memset).
cudaError_t pending_finish_fill(CudaContext *c, const void *filled, cudaError_t error);

#endif
