// SPDX-License-Identifier: Apache-2.0
// One piece of work for a stream: a launch, a copy, a fill, ... Submitting it is the only way into a stream: it is
// executed (pending.h), or made a graph node when the stream is being captured.
#ifndef WL_CUDA_WORK_H
#define WL_CUDA_WORK_H

#include "cuda/context.h"

typedef struct CudaLaunch {
    CudaFunction *function;
    dim3 grid, block, cluster;  // cluster.x 0 = none asked for
    u32 shared;                 // dynamic, bytes
    bool cooperative;
    int device;
    u8 *params;  // the parameter block, owned
    u32 param_bytes;
} CudaLaunch;

typedef struct CudaConditional {  // graph_condition.h
    u64 handle;
    int type;
    u32 size;
    CudaGraph **bodies;  // `size` of them, owned
} CudaConditional;

typedef struct CudaWord {  // of memory: written, or waited for (cuStreamWriteValue, cuStreamWaitValue)
    DevicePtr address;
    u64 value;
    u32 bytes;  // 4 or 8
    unsigned flags;
} CudaWord;

typedef struct CudaCallback {  // cudaStreamAddCallback
    cudaStreamCallback_t function;
    cudaStream_t stream;
    void *data;
} CudaCallback;

enum {  // work that is no graph node
    WORK_EXEC = 0x100,
    WORK_CALLBACK,
    WORK_FREE,
    WORK_WRITE_WORD,
    WORK_WAIT_WORD,
};

typedef struct CudaWork {
    u32 type;  // enum cudaGraphNodeType, or one of the above
    union {
        CudaLaunch launch;
        struct cudaMemcpy3DParms copy;  // also of all smaller copies
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        cudaEvent_t event;
        CudaGraph *graph;  // owned
        struct cudaMemAllocNodeParams alloc;
        void *freed;
        CudaConditional conditional;
        struct CudaExec *exec;
        CudaCallback callback;
        CudaWord word;
    };
} CudaWork;

// What a recording of an event stands for while its work is pending; shared by the event and those who wait for it.
typedef struct EventMark {
    u32 refs;
    bool done;
    u64 time_ns;
} EventMark;

typedef struct GraphRun GraphRun;  // graph_run.h

typedef struct ExecList {
    struct CudaExec **data;
    u32 len, cap;
} ExecList;

typedef struct Transfer {  // what a copy or fill moves
    u32 kind;              // RecordCopyKind
    u64 bytes;
} Transfer;

// When a copy or fill begins and is over on the clock of its device; end 0: when it has been made.
typedef struct TransferTime {
    u64 begin_ns, end_ns;
} TransferTime;

typedef enum TaskState { TASK_NEW, TASK_BEGUN, TASK_DONE } TaskState;

// Work in execution.
typedef struct CudaTask {
    const CudaWork *work;
    CudaStream *stream;
    TaskState state;
    SimRun *run;        // of a launch under way
    GraphRun *graph;    // nodes under way: of an executable, a child graph, a body, a graph that the kernel launched
    GraphRun *launch;   // the executable's run that the task is part of, NULL = none
    ExecList fired;     // executables that the kernel launched to fire and forget
    EventMark *mark;    // of an event's recording, or what is waited for
    u64 budget;         // of its next step, when it moved in the last one
    TransferTime time;  // of a copy or fill, with timing
    bool waits;         // for memory to change, when its last step ended
} CudaTask;

// How much may be done now.
typedef struct WorkEffort {
    u64 budget;  // warp instructions of one step of a kernel; 0: kernels only begin
    bool begin;  // new work may begin
    bool whole;  // kernels that do not poll run to their end: nobody gains from a turn of them,
    u32 steps;   // ... and those that do, but not merely, have so many steps more
    u64 ended;   // with timing, by device: a kernel is over, so others may begin before what is under way goes on: that
                 // is only looked at
    bool moved;  // out: something was done that may let other work go on
    bool more;   // out: a kernel used its budget up
    bool hurry;  // a copy that is under way is over, as nothing else moves the clock
} WorkEffort;

// Submits work. Takes over what `work` owns, in any case. What is executed at once gives its own error; the error of
// what has to wait is told by the next call that waits for it.
cudaError_t work_submit(CudaContext *c, cudaStream_t stream, CudaWork *work);
cudaError_t work_clone(CudaContext *c, const CudaWork *from, CudaWork *to);
void work_release(CudaContext *c, CudaWork *work);

// Makes what a task needs before it is begun, so that it stands for itself from the moment of its submission.
cudaError_t task_prepare(CudaContext *c, CudaTask *task);
// Begins a task or goes on with it. TASK_DONE in `task->state` when it is over, also with an error.
cudaError_t task_go(CudaContext *c, CudaTask *task, WorkEffort *effort);
// Lets go of what a task holds. One that is not done is given up.
void task_release(CudaContext *c, CudaTask *task);
// The kernel in a task that waits for memory; NULL when there is none.
CudaTask *task_waiting(CudaTask *task);

// copy.c
cudaError_t copy_check(const struct cudaMemcpy3DParms *copy);  // what can be said without running it
// ... and what a graph node is refused for: nothing to copy, or memory that is not there.
cudaError_t copy_check_sides(CudaContext *c, const struct cudaMemcpy3DParms *copy);
cudaError_t fill_check(CudaContext *c, const struct cudaMemsetParams *fill);
cudaError_t copy_run(CudaContext *c, CudaStream *stream, const struct cudaMemcpy3DParms *copy, TransferTime time);
cudaError_t fill_run(CudaContext *c, CudaStream *stream, const struct cudaMemsetParams *fill, TransferTime time);
// What is moved; false: nothing, or it will fail.
bool copy_moves(CudaContext *c, const struct cudaMemcpy3DParms *copy, Transfer *transfer);
bool fill_moves(CudaContext *c, const struct cudaMemsetParams *fill, Transfer *transfer);
struct cudaMemcpy3DParms copy_linear(void *to, const void *from, size_t count, enum cudaMemcpyKind kind);
// A copy that cannot be made yet: memory that the program may change meanwhile (host memory that is neither pinned nor
// registered) is read now, into `*staged`, owned by the caller. *blocks: the program goes on only when it has been
// made, as it is to such memory.
cudaError_t copy_defer(CudaContext *c, struct cudaMemcpy3DParms *copy, void **staged, bool *blocks);

#endif
