// SPDX-License-Identifier: Apache-2.0
// Streams and events, which end with the context they were made in, and waiting for and writing words of memory.
#include "cuda/stream.h"

#include <string.h>

#include "cuda/api.h"
#include "cuda/driver/device_context.h"
#include "cuda/driver/driver_api.h"
#include "cuda/memory.h"

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

// --- words of memory. Work runs when it is submitted, so a wait must find its value there already ---

typedef struct Word {
    CUdeviceptr address;
    u64 value;
    u32 bytes;  // 4 or 8
    unsigned flags;
} Word;

static cudaError_t view_word(CudaContext *c, CUstream stream, Word word, u8 **view) {
    CudaStream *s = stream_find(c, stream);
    if (!s) return cudaErrorInvalidResourceHandle;
    if (s->capture) return cudaErrorStreamCaptureUnsupported;
    if (word.address % word.bytes) return cudaErrorInvalidValue;
    return memory_view(c, driver_pointer(word.address), word.bytes, SIDE_DEVICE, view, NULL);
}

static cudaError_t write_word(CudaContext *c, CUstream stream, Word word) {
    u8 *view;
    if (word.flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) return cudaErrorInvalidValue;
    cudaError_t error = view_word(c, stream, word, &view);
    if (error == cudaSuccess) memcpy(view, &word.value, word.bytes);
    return error;
}

static bool word_is_there(u64 now, Word word) {
    i64 ahead = word.bytes == 4 ? (i32)((u32)now - (u32)word.value) : (i64)(now - word.value);
    u64 all = word.bytes == 4 ? UINT32_MAX : UINT64_MAX;
    switch (word.flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return ahead >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == (word.value & all);
    case CU_STREAM_WAIT_VALUE_AND: return (now & word.value) != 0;
    default: return (~(now | word.value) & all) != 0;
    }
}

static cudaError_t wait_word(CudaContext *c, CUstream stream, Word word) {
    u8 *view;
    u64 now = 0;
    if (word.flags & ~(3u | (unsigned)CU_STREAM_WAIT_VALUE_FLUSH)) return cudaErrorInvalidValue;
    cudaError_t error = view_word(c, stream, word, &view);
    if (error != cudaSuccess) return error;
    memcpy(&now, view, word.bytes);
    if (word_is_there(now, word)) return cudaSuccess;
    cuda_message(c, LOG_ERROR,
                 "a stream waits for a value at 0x%llx that is not there yet; the simulator runs work in the order of "
                 "submission and cannot wait for what comes later",
                 word.address);
    return cudaErrorNotSupported;
}

CUDA_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, write_word(c, stream, (Word){addr, value, 4, flags}));
}
CUDA_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, unsigned long long value,
                                          unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, write_word(c, stream, (Word){addr, value, 8, flags}));
}
CUDA_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, wait_word(c, stream, (Word){addr, value, 4, flags}));
}
CUDA_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, unsigned long long value,
                                         unsigned int flags) {
    DRIVER_RETURN_ON(c, stream, wait_word(c, stream, (Word){addr, value, 8, flags}));
}

static cudaError_t one_operation(CudaContext *c, CUstream stream, const CUstreamBatchMemOpParams *p) {
    Word word = {p->value.address, p->value.value64, 4, p->value.flags};
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
