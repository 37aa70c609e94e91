// SPDX-License-Identifier: Apache-2.0
// Streams, events and stream capture.
#ifndef WL_CUDA_STREAM_H
#define WL_CUDA_STREAM_H

#include "cuda/graph.h"
#include "cuda/work.h"

typedef struct CudaCapture {  // shared by the streams that take part
    u64 id;
    CudaGraph *graph;
    bool given_graph;  // cudaStreamBeginCaptureToGraph: the program's own
    CudaStream *origin;
    enum cudaStreamCaptureMode mode;
    CudaThread *thread;  // that began it
    bool invalid;
} CudaCapture;

struct CudaStream {
    u64 id;
    int device, priority;
    bool legacy, per_thread;  // one of the two default streams
    unsigned flags;
    CudaCapture *capture;  // NULL = runs its work
    NodeList tips;         // nodes that the next captured one depends on
    bool programmatic;     // that next one may begin before kernels among them end
    cudaLaunchAttributeValue attributes[17];
    u32 queued;   // items of pending work
    u64 pass;     // the last pass over these in which one was left
    bool doomed;  // destroyed, to go with the last of them
};

typedef struct CudaEvent {
    unsigned flags;
    int device;
    bool recorded;
    EventMark *mark;  // of the last recording; NULL: it was made at once,
    u64 time_ns;      // ... at this time
    u64 capture;      // id of the capture it was recorded in, 0 = none
    NodeList tips;    // then: what it stands for
} CudaEvent;

Status stream_setup(CudaContext *c);
// NULL when there is none. Handle 0 and the two predefined ones are streams of the current device.
CudaStream *stream_find(CudaContext *c, cudaStream_t handle);
// Its last item of pending work is over.
void stream_unqueued(CudaContext *c, CudaStream *stream);
bool stream_blocks(const CudaStream *stream);  // waits for the legacy default stream, and that for it
// The calling thread ends: its default streams go. Without the lock.
void stream_thread_ends(CudaContext *c, CudaThread *thread);

// Error when a call that is unsafe during capture must fail now; the capture is invalidated then.
cudaError_t stream_check_uncaptured(CudaContext *c);
// The legacy stream would wait for streams that are being captured.
cudaError_t stream_check_implicit(CudaContext *c, CudaStream *stream);
// For calls that a capture cannot hold: invalidates that of the stream, if there is one.
cudaError_t stream_forbid_capture(CudaStream *stream);
// Every stream of the device would be waited for.
cudaError_t stream_check_synchronize(CudaContext *c);
// Appends the work as a node behind the stream's tips. Takes over what `work` owns. `node` may be NULL.
cudaError_t capture_add(CudaContext *c, CudaStream *stream, CudaWork *work, CudaNode **node);
// Recording: now, with the mark of a recording that was issued before, or with NULL; or later, when somebody comes to
// the mark (owned by the caller).
cudaError_t event_record_now(CudaContext *c, cudaEvent_t event, EventMark *mark);
cudaError_t event_issue(CudaContext *c, cudaEvent_t event, EventMark **mark);
// What to wait for, owned by the caller; NULL: nothing.
EventMark *event_mark(CudaContext *c, cudaEvent_t event);
void event_mark_release(EventMark *mark);  // NULL is allowed

#endif
