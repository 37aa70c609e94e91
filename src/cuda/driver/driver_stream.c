// SPDX-License-Identifier: Apache-2.0
// Streams and events, which end with the context they were made in, and waiting for and writing words of memory.
#include "cuda/stream.h"

#include "cuda/api.h"
#include "cuda/driver/device_context.h"
#include "cuda/driver/driver_api.h"
#include "cuda/driver/word.h"

static cudaError_t new_stream(CudaContext *c, CUstream *to, unsigned flags, int priority) {
    cudaError_t error = cudaStreamCreateWithPriority(to, flags, priority);
    return error == cudaSuccess ? context_own(c, OWNED_STREAM, *to) : error;
}

CUDA_API CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, new_stream(c, phStream, Flags, 0));
}
CUDA_API CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, new_stream(c, phStream, flags, priority));
}

static cudaError_t drop_stream(CudaContext *c, CUstream stream) {
    cudaError_t error = cudaStreamDestroy(stream);
    if (error == cudaSuccess) context_disown(c, stream);
    return error;
}

CUDA_API CUresult cuStreamDestroy_v2(CUstream hStream) { DRIVER_RETURN(c, DRIVER_HEALTHY, drop_stream(c, hStream)); }

static cudaError_t new_event(CudaContext *c, CUevent *to, unsigned flags) {
    cudaError_t error = cudaEventCreateWithFlags(to, flags);
    return error == cudaSuccess ? context_own(c, OWNED_EVENT, *to) : error;
}

CUDA_API CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, new_event(c, phEvent, Flags));
}

static cudaError_t drop_event(CudaContext *c, CUevent event) {
    cudaError_t error = cudaEventDestroy(event);
    if (error == cudaSuccess) context_disown(c, event);
    return error;
}

CUDA_API CUresult cuEventDestroy_v2(CUevent hEvent) { DRIVER_RETURN(c, DRIVER_HEALTHY, drop_event(c, hEvent)); }

static cudaError_t context_of_stream(CudaContext *c, CUcontext *to, CUstream handle) {
    CudaStream *stream = stream_find(c, handle);
    CudaCtx *current = NULL;
    if (!to) return cudaErrorInvalidValue;
    if (!stream) return cudaErrorInvalidResourceHandle;
    cudaError_t error = context_current(&current);
    *to = (CUcontext)(stream->legacy || stream->per_thread ? current : context_owner(c, stream, stream->device));
    return error;
}

CUDA_API CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx) {
    DRIVER_RETURN_ON(c, hStream, context_of_stream(c, pctx, hStream));
}

static cudaError_t context_of_stream_v2(CudaContext *c, CUcontext *to, void **green, CUstream stream) {
    if (green) *green = NULL;  // there are no green contexts here
    return context_of_stream(c, to, stream);
}

CUDA_API CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, void **pGreenCtx) {
    DRIVER_RETURN_ON(c, hStream, context_of_stream_v2(c, pCtx, pGreenCtx, hStream));
}

CUDA_API CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags) {
    DRIVER_RETURN_ON(c, hStream, cudaStreamAddCallback(hStream, (cudaStreamCallback_t)callback, userData, flags));
}

CUDA_API CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags) {
    DRIVER_RETURN_ON(c, hStream, cudaStreamAttachMemAsync(hStream, driver_pointer(dptr), length, flags));
}

// --- words of memory ---

static cudaError_t submit_word(CudaContext *c, CUstream handle, u32 type, CudaWord word) {
    CudaStream *stream = stream_find(c, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture) return cudaErrorStreamCaptureUnsupported;
    cudaError_t error = word_check(c, &word);
    CudaWork work = {.type = type, .word = word};
    return error == cudaSuccess ? work_submit(c, handle, &work) : error;
}

static cudaError_t write_word(CudaContext *c, CUstream stream, CudaWord word) {
    if (word.flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) return cudaErrorInvalidValue;
    return submit_word(c, stream, WORK_WRITE_WORD, word);
}

static cudaError_t wait_word(CudaContext *c, CUstream stream, CudaWord word) {
    if (word.flags & ~(3u | (unsigned)CU_STREAM_WAIT_VALUE_FLUSH)) return cudaErrorInvalidValue;
    return submit_word(c, stream, WORK_WAIT_WORD, word);
}

CUDA_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, write_word(c, stream, (CudaWord){addr, value, 4, flags}));
}
CUDA_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, unsigned long long value,
                                          unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, write_word(c, stream, (CudaWord){addr, value, 8, flags}));
}
CUDA_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, wait_word(c, stream, (CudaWord){addr, value, 4, flags}));
}
CUDA_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, unsigned long long value,
                                         unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, wait_word(c, stream, (CudaWord){addr, value, 8, flags}));
}

static cudaError_t one_operation(CudaContext *c, CUstream stream, const CUstreamBatchMemOpParams *p) {
    CudaWord word = {p->value.address, p->value.value64, 4, p->value.flags};
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: word.bytes = 8; return wait_word(c, stream, word);
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return wait_word(c, stream, word);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: word.bytes = 8; return write_word(c, stream, word);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return write_word(c, stream, word);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER: return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

static cudaError_t operations(CudaContext *c, CUstream stream, unsigned count, const CUstreamBatchMemOpParams *list,
                              unsigned flags) {
    if (!list || !count || count > 256 || flags) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < count && error == cudaSuccess; i++) error = one_operation(c, stream, &list[i]);
    return error;
}

CUDA_API CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                        unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, operations(c, stream, count, paramArray, flags));
}
