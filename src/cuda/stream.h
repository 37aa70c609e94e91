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
};

typedef struct CudaEvent {
    unsigned flags;
    int device;
    bool recorded;
    u64 time_ns;
    u64 capture;    // id of the capture it was recorded in, 0 = none
    NodeList tips;  // then: what it stands for
} CudaEvent;

Status stream_setup(CudaContext *c);
// NULL when there is none. Handle 0 and the two predefined ones are streams of the current device.
CudaStream *stream_find(CudaContext *c, cudaStream_t handle);
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
cudaError_t event_record_now(CudaContext *c, cudaEvent_t event);

#endif
