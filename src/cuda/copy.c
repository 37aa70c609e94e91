// SPDX-License-Identifier: Apache-2.0
// Copies and fills. All of them come down to a box of bytes, rows and slices (cudaMemcpy3DParms) between two sides,
// each an array or a pitched pointer. Which errors a GPU gives for which mistake: tests/cuda/h200_errors.txt.
#include <string.h>

#include "cuda/api.h"
#include "cuda/array.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/pending.h"
#include "cuda/stream.h"
#include "cuda/transfer.h"

typedef struct Side {
    u8 *bytes;  // first byte of the box
    size_t pitch, slice;
    u32 kind;           // SimMemoryKind, MEMORY_KIND_COUNT for unregistered memory
    DevicePtr address;  // of `bytes` in the device's address space
} Side;

typedef struct Box {
    size_t width, height, depth;  // bytes, rows, slices
} Box;

static const MemorySide sides[][2] = {
    // source, destination. Unified addressing lets host-to-host mean anything.
    [cudaMemcpyHostToHost] = {SIDE_ANY, SIDE_ANY},       [cudaMemcpyHostToDevice] = {SIDE_HOST, SIDE_DEVICE},
    [cudaMemcpyDeviceToHost] = {SIDE_DEVICE, SIDE_HOST}, [cudaMemcpyDeviceToDevice] = {SIDE_DEVICE, SIDE_DEVICE},
    [cudaMemcpyDefault] = {SIDE_ANY, SIDE_ANY},
};

struct cudaMemcpy3DParms copy_linear(void *to, const void *from, size_t count, enum cudaMemcpyKind kind) {
    return (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)from, count, count, 1},
        .dstPtr = {to, count, count, 1},
        .extent = {count, 1, 1},
        .kind = kind,
    };
}

static size_t at_least_one(size_t n) { return n ? n : 1; }

static cudaError_t array_side(CudaContext *c, cudaArray_t handle, struct cudaPos at, Box box, Side *side) {
    CudaArray *array = array_find(c, handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    size_t x = at.x * array->element;
    if (x + box.width > array->extent.width * array->element || x + box.width < x) return cudaErrorInvalidValue;
    if (at.y + box.height > at_least_one(array->extent.height) || at.y + box.height < at.y)
        return cudaErrorInvalidValue;
    if (at.z + box.depth > at_least_one(array->extent.depth) || at.z + box.depth < at.z) return cudaErrorInvalidValue;
    side->pitch = array->pitch;
    side->slice = array->slice;
    cudaError_t error = memory_view(c, array->data, array->bytes, SIDE_DEVICE, &side->bytes, &side->kind);
    if (error != cudaSuccess) return error;
    size_t first = x + at.y * side->pitch + at.z * side->slice;
    side->bytes += first;
    side->address = (DevicePtr)(uintptr_t)array->data + first;
    return cudaSuccess;
}

static cudaError_t find_pointer_side(CudaContext *c, struct cudaPitchedPtr p, struct cudaPos at, Box box,
                                     MemorySide use, Side *side) {
    if (!p.ptr) return cudaErrorInvalidValue;
    if (box.depth > 1 && p.ysize < box.height) return cudaErrorInvalidPitchValue;
    side->pitch = box.height > 1 || box.depth > 1 ? p.pitch : box.width;
    side->slice = box.depth > 1 || at.z ? p.pitch * p.ysize : 0;
    if (side->pitch < box.width) return cudaErrorInvalidPitchValue;
    unsigned __int128 first =
        (unsigned __int128)at.x + (unsigned __int128)at.y * p.pitch + (unsigned __int128)at.z * side->slice;
    unsigned __int128 span = (unsigned __int128)(box.depth - 1) * side->slice +
                             (unsigned __int128)(box.height - 1) * side->pitch + box.width;
    if (first > (u64)1 << 62 || span > (u64)1 << 62) return cudaErrorInvalidValue;
    side->address = (DevicePtr)(uintptr_t)p.ptr + (u64)first;
    return memory_view(c, (u8 *)p.ptr + (u64)first, (u64)span, use, &side->bytes, &side->kind);
}

// A range that leaves its allocation, or lies in none: told by the checker.
static cudaError_t pointer_side(CudaContext *c, struct cudaPitchedPtr p, struct cudaPos at, Box box, MemorySide use,
                                bool store, Side *side) {
    side->address = 0;
    cudaError_t error = find_pointer_side(c, p, at, box, use, side);
    if (error == cudaErrorInvalidValue && side->address) {
        u64 span = (u64)(box.depth - 1) * side->slice + (u64)(box.height - 1) * side->pitch + box.width;
        sim_check_bad_range(c->sim, c->api ? c->api : "a copy", side->address, span, store);
    }
    return error;
}

cudaError_t copy_check(const struct cudaMemcpy3DParms *copy) {
    if ((unsigned)copy->kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (copy->srcArray && copy->srcPtr.ptr) return cudaErrorInvalidValue;
    if (copy->dstArray && copy->dstPtr.ptr) return cudaErrorInvalidValue;
    return cudaSuccess;
}

static void move_rows(const Side *to, const Side *from, Box box) {
    if (box.height > 1 && to->pitch == box.width && from->pitch == box.width &&
        (box.depth == 1 || (to->slice == to->pitch * box.height && from->slice == from->pitch * box.height))) {
        box.width *= box.height * box.depth;
        box.height = box.depth = 1;
    }
    for (size_t z = 0; z < box.depth; z++)
        for (size_t y = 0; y < box.height; y++)
            memmove(to->bytes + z * to->slice + y * to->pitch, from->bytes + z * from->slice + y * from->pitch,
                    box.width);
}

// What a copy brings is as written as its source; host memory always is.
static void note_copied(CudaContext *c, const Side *to, const Side *from, Box box) {
    bool whole = box.depth == 1 && (box.height == 1 || (to->pitch == box.width && from->pitch == box.width));
    if (whole) box = (Box){box.width * box.height, 1, 1};
    for (size_t z = 0; z < box.depth; z++)
        for (size_t y = 0; y < box.height; y++) {
            DevicePtr row = to->address + z * to->slice + y * to->pitch;
            if (from->kind == MEMORY_KIND_COUNT)
                sim_check_written(c->sim, row, box.width);
            else
                sim_check_copied(c->sim, row, from->address + z * from->slice + y * from->pitch, box.width);
        }
}

static bool on_device(u32 kind) { return kind == MEMORY_DEVICE || kind == MEMORY_MODULE || kind == MEMORY_MANAGED; }

static cudaError_t find_sides(CudaContext *c, const struct cudaMemcpy3DParms *copy, Side *from, Side *to, Box *box) {
    size_t element = 1;  // the width counts elements of the array, when there is one
    if (copy->srcArray)
        element = array_element(c, copy->srcArray);
    else if (copy->dstArray)
        element = array_element(c, copy->dstArray);
    if (!element) return cudaErrorInvalidResourceHandle;
    if (copy->extent.width > ((u64)1 << 60) / element) return cudaErrorInvalidValue;
    *box = (Box){copy->extent.width * element, copy->extent.height, copy->extent.depth};
    const MemorySide *use = sides[copy->kind];
    cudaError_t error = copy->srcArray ? array_side(c, copy->srcArray, copy->srcPos, *box, from)
                                       : pointer_side(c, copy->srcPtr, copy->srcPos, *box, use[0], false, from);
    if (error == cudaSuccess)
        error = copy->dstArray ? array_side(c, copy->dstArray, copy->dstPos, *box, to)
                               : pointer_side(c, copy->dstPtr, copy->dstPos, *box, use[1], true, to);
    bool array = copy->srcArray || copy->dstArray;
    return array && error == cudaErrorInvalidPitchValue ? cudaErrorInvalidValue : error;
}

static bool is_empty(const struct cudaMemcpy3DParms *copy) {
    return !copy->extent.width || !copy->extent.height || !copy->extent.depth;
}

cudaError_t copy_check_sides(CudaContext *c, const struct cudaMemcpy3DParms *copy) {
    Side from, to;
    Box box;
    cudaError_t error = copy_check(copy);
    if (error != cudaSuccess) return error;
    return is_empty(copy) ? cudaErrorInvalidValue : find_sides(c, copy, &from, &to, &box);
}

static u32 kind_of(const Side *from, const Side *to) {
    static const u32 kinds[2][2] = {{COPY_HOST_TO_HOST, COPY_HOST_TO_DEVICE},
                                    {COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE}};
    return kinds[on_device(from->kind)][on_device(to->kind)];
}

static u64 bytes_in(Box box) { return (u64)box.width * box.height * box.depth; }

bool copy_moves(CudaContext *c, const struct cudaMemcpy3DParms *copy, Transfer *transfer) {
    Side from, to;
    Box box;
    if (copy_check(copy) != cudaSuccess || is_empty(copy) || find_sides(c, copy, &from, &to, &box) != cudaSuccess)
        return false;
    *transfer = (Transfer){kind_of(&from, &to), bytes_in(box)};
    return true;
}

bool fill_moves(CudaContext *c, const struct cudaMemsetParams *fill, Transfer *transfer) {
    if (!fill->width || !fill->height || fill_check(c, fill) != cudaSuccess) return false;
    *transfer = (Transfer){COPY_MEMSET, (u64)fill->width * fill->elementSize * fill->height};
    return true;
}

cudaError_t copy_run(CudaContext *c, CudaStream *stream, const struct cudaMemcpy3DParms *copy, TransferTime time) {
    Side from, to;
    Box box;
    cudaError_t error = copy_check(copy);
    if (error != cudaSuccess || is_empty(copy)) return error;
    error = find_sides(c, copy, &from, &to, &box);
    if (error != cudaSuccess) return error;
    u64 begin = time.end_ns ? time.begin_ns : cuda_time(c);
    move_rows(&to, &from, box);
    if (sim_checks(c->sim, CHECK_INIT)) note_copied(c, &to, &from, box);
    cuda_record_copy(c, kind_of(&from, &to), (u32)stream->id, bytes_in(box), begin, time.end_ns);
    return cudaSuccess;
}

// The source of a copy as a row of rows without gaps.
static u8 *read_now(const Side *from, Box box) {
    u8 *bytes = mem_alloc(box.width * box.height * box.depth);
    Side to = {.bytes = bytes, .pitch = box.width, .slice = box.width * box.height};
    if (bytes) move_rows(&to, from, box);
    return bytes;
}

cudaError_t copy_defer(CudaContext *c, struct cudaMemcpy3DParms *copy, void **staged, bool *blocks) {
    Side from, to;
    Box box;
    cudaError_t error = copy_check(copy);
    if (error != cudaSuccess || is_empty(copy)) return error;
    error = find_sides(c, copy, &from, &to, &box);
    if (error != cudaSuccess) return error;
    *blocks = to.kind == MEMORY_KIND_COUNT;
    if (from.kind != MEMORY_KIND_COUNT || *blocks) return cudaSuccess;
    *staged = read_now(&from, box);
    if (!*staged) return cudaErrorMemoryAllocation;
    copy->srcPos = (struct cudaPos){0};
    copy->srcPtr = (struct cudaPitchedPtr){*staged, box.width, box.width, box.height};
    return cudaSuccess;
}

cudaError_t fill_check(CudaContext *c, const struct cudaMemsetParams *fill) {
    Side side;
    if (!fill->width || !fill->height || fill->width > (u64)1 << 60) return cudaErrorInvalidValue;
    if (fill->elementSize != 1 && fill->elementSize != 2 && fill->elementSize != 4) return cudaErrorInvalidValue;
    if ((uintptr_t)fill->dst % fill->elementSize) return cudaErrorInvalidValue;
    Box box = {fill->width * fill->elementSize, fill->height, 1};
    struct cudaPitchedPtr to = {fill->dst, fill->pitch, box.width, box.height};
    cudaError_t error = pointer_side(c, to, (struct cudaPos){0}, box, SIDE_DEVICE, true, &side);
    return error == cudaSuccess ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t fill_run(CudaContext *c, CudaStream *stream, const struct cudaMemsetParams *fill, TransferTime time) {
    if (!fill->width || !fill->height) return cudaSuccess;
    if (fill->elementSize != 1 && fill->elementSize != 2 && fill->elementSize != 4) return cudaErrorInvalidValue;
    if (fill->width > (u64)1 << 60) return cudaErrorInvalidValue;
    Side side;
    Box box = {fill->width * fill->elementSize, fill->height, 1};
    struct cudaPitchedPtr to = {fill->dst, fill->pitch, box.width, box.height};
    if (pointer_side(c, to, (struct cudaPos){0}, box, SIDE_DEVICE, true, &side) != cudaSuccess)
        return cudaErrorInvalidValue;
    u64 begin = time.end_ns ? time.begin_ns : cuda_time(c);
    if (sim_checks(c->sim, CHECK_INIT)) {
        if (side.pitch == box.width)
            sim_check_written(c->sim, side.address, box.width * box.height);
        else
            for (size_t y = 0; y < box.height; y++) sim_check_written(c->sim, side.address + y * side.pitch, box.width);
    }
    for (size_t y = 0; y < box.height; y++) {
        u8 *row = side.bytes + y * side.pitch;
        if (fill->elementSize == 1)
            memset(row, (int)fill->value, box.width);
        else
            for (size_t x = 0; x < box.width; x += fill->elementSize) memcpy(row + x, &fill->value, fill->elementSize);
    }
    cuda_record_copy(c, COPY_MEMSET, (u32)stream->id, (u64)box.width * box.height, begin, time.end_ns);
    return cudaSuccess;
}

// --- the API, by shape ---

static cudaError_t submit(CudaContext *c, const struct cudaMemcpy3DParms *copy, cudaStream_t stream) {
    CudaStream *captured = stream_find(c, stream);
    cudaError_t error = copy_check(copy);
    if (error == cudaSuccess && captured && captured->capture) {
        if (is_empty(copy)) return cudaSuccess;
        error = copy_check_sides(c, copy);
    }
    if (error != cudaSuccess) return error;
    CudaWork work = {.type = cudaGraphNodeTypeMemcpy, .copy = *copy};
    return work_submit(c, stream, &work);
}

static cudaError_t linear(CudaContext *c, void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                          cudaStream_t stream) {
    struct cudaMemcpy3DParms copy = copy_linear(to, from, count, kind);
    return submit(c, &copy, stream);
}

// Copies within devices are not waited for ("API synchronization behavior").
static cudaError_t finish(CudaContext *c, enum cudaMemcpyKind kind, cudaError_t error) {
    return kind == cudaMemcpyDeviceToDevice ? error : pending_finish_copy(c, error);
}

CUDA_API cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind) {
    if (!count) {  // after a fault too
        CUDA_RETURN(c, NEED_DEVICE, linear(c, dst, src, count, kind, NULL));
    }
    CUDA_RETURN(c, NEED_HEALTHY, finish(c, kind, linear(c, dst, src, count, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, linear(c, dst, src, count, kind, stream));
}

static cudaError_t peer(CudaContext *c, void *to, int to_device, const void *from, int from_device, size_t count,
                        cudaStream_t stream) {
    int devices = (int)c->config.devices;
    if (to_device < 0 || from_device < 0 || to_device >= devices || from_device >= devices)
        return cudaErrorInvalidDevice;
    return linear(c, to, from, count, cudaMemcpyDeviceToDevice, stream);
}

CUDA_API cudaError_t cudaMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t count) {
    CUDA_RETURN(c, NEED_HEALTHY, peer(c, dst, dstDevice, src, srcDevice, count, NULL));
}

CUDA_API cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t count,
                                         cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, peer(c, dst, dstDevice, src, srcDevice, count, stream));
}

static cudaError_t batch(CudaContext *c, void *const *to, const void *const *from, const size_t *sizes, size_t count,
                         const struct cudaMemcpyAttributes *attributes, size_t attribute_count, cudaStream_t handle) {
    if (!to || !from || !sizes || !handle || handle == cudaStreamLegacy) return cudaErrorInvalidValue;
    if (!attributes || !count) return cudaErrorInvalidValue;
    for (size_t i = 0; i < attribute_count; i++)
        if (attributes[i].srcAccessOrder < 1 || attributes[i].srcAccessOrder > 3) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        cudaError_t error = linear(c, to[i], from[i], sizes[i], cudaMemcpyDefault, handle);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
                                          struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                          cudaStream_t stream) {
    (void)attrsIdxs;  // which of the attributes, which are hints
    CUDA_RETURN(c, NEED_HEALTHY, batch(c, dsts, srcs, sizes, count, attrs, numAttrs, stream));
}

typedef struct Rect {  // one side of a two-dimensional copy, in bytes
    void *pointer;
    cudaArray_t array;
    size_t pitch, x, y;
} Rect;

static cudaError_t rectangle(CudaContext *c, Rect to, Rect from, size_t width, size_t height, enum cudaMemcpyKind kind,
                             cudaStream_t stream) {
    bool arrays = to.array || from.array;
    if ((to.pointer && to.pitch < width) || (from.pointer && from.pitch < width))
        return arrays ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue;
    size_t element = 1;
    if (to.array || from.array) element = array_element(c, from.array ? from.array : to.array);
    if (!element) return cudaErrorInvalidResourceHandle;
    struct cudaMemcpy3DParms copy = {
        .srcArray = from.array,
        .srcPos = {from.x / (from.array ? element : 1), from.y, 0},
        .srcPtr = {from.pointer, from.pitch, from.pitch, height},
        .dstArray = to.array,
        .dstPos = {to.x / (to.array ? element : 1), to.y, 0},
        .dstPtr = {to.pointer, to.pitch, to.pitch, height},
        .extent = {width / element, height, 1},
        .kind = kind,
    };
    if (!to.array && !to.pointer && width && height) return cudaErrorInvalidValue;
    return submit(c, &copy, stream);
}

// Between an array and memory: what a copy the other way round would be.
static cudaError_t array_rectangle(CudaContext *c, Rect to, Rect from, cudaArray_const_t array, size_t width,
                                   size_t height, enum cudaMemcpyKind wrong, enum cudaMemcpyKind kind,
                                   cudaStream_t stream) {
    if (!array_find(c, array)) return cudaErrorInvalidResourceHandle;
    if (kind == wrong || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
    return rectangle(c, to, from, width, height, kind, stream);
}

static Rect of_pointer(const void *pointer, size_t pitch) {
    return (Rect){.pointer = (void *)(uintptr_t)pointer, .pitch = pitch};
}
static Rect of_array(cudaArray_const_t array, size_t x, size_t y) {
    return (Rect){.array = (cudaArray_t)(uintptr_t)array, .x = x, .y = y};
}

CUDA_API cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                  enum cudaMemcpyKind kind) {
    CUDA_RETURN(
        c, NEED_HEALTHY,
        finish(c, kind, rectangle(c, of_pointer(dst, dpitch), of_pointer(src, spitch), width, height, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY,
                rectangle(c, of_pointer(dst, dpitch), of_pointer(src, spitch), width, height, kind, stream));
}

CUDA_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                         size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind) {
    CUDA_RETURN(c, NEED_HEALTHY,
                pending_finish_copy(c, array_rectangle(c, of_array(dst, wOffset, hOffset), of_pointer(src, spitch), dst,
                                                       width, height, cudaMemcpyDeviceToHost, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                              size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                                              cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY,
                array_rectangle(c, of_array(dst, wOffset, hOffset), of_pointer(src, spitch), dst, width, height,
                                cudaMemcpyDeviceToHost, kind, stream));
}

CUDA_API cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                           size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind) {
    CUDA_RETURN(c, NEED_HEALTHY,
                pending_finish_copy(c, array_rectangle(c, of_pointer(dst, dpitch), of_array(src, wOffset, hOffset), src,
                                                       width, height, cudaMemcpyHostToDevice, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                                size_t hOffset, size_t width, size_t height, enum cudaMemcpyKind kind,
                                                cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY,
                array_rectangle(c, of_pointer(dst, dpitch), of_array(src, wOffset, hOffset), src, width, height,
                                cudaMemcpyHostToDevice, kind, stream));
}

CUDA_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                              cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t width,
                                              size_t height, enum cudaMemcpyKind kind) {
    CUDA_RETURN(c, NEED_HEALTHY,
                array_find(c, src) && array_find(c, dst)
                    ? rectangle(c, of_array(dst, wOffsetDst, hOffsetDst), of_array(src, wOffsetSrc, hOffsetSrc), width,
                                height, kind, NULL)
                    : cudaErrorInvalidResourceHandle);
}

// The old cudaMemcpyToArray family counts bytes over the rows of the array, from (wOffset, hOffset) on.
static cudaError_t flat_array(CudaContext *c, cudaArray_const_t handle, size_t x, size_t y, void *pointer, size_t count,
                              bool to_array, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CudaArray *array = array_find(c, handle);
    if (!array) return cudaErrorInvalidResourceHandle;
    size_t row = array->extent.width * array->element;
    if (!row || x >= row) return count ? cudaErrorInvalidValue : cudaSuccess;
    for (u8 *at = pointer; count;) {
        size_t rows = x == 0 && count >= row ? count / row : 1;
        size_t width = rows > 1 || (x == 0 && count >= row) ? row : (count < row - x ? count : row - x);
        Rect memory = of_pointer(at, width), box = of_array(handle, x, y);
        cudaError_t error = to_array ? rectangle(c, box, memory, width, rows, kind, stream)
                                     : rectangle(c, memory, box, width, rows, kind, stream);
        if (error != cudaSuccess) return error;
        at += width * rows;
        count -= width * rows;
        y += rows;
        x = 0;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
                                       enum cudaMemcpyKind kind) {
    CUDA_RETURN(
        c, NEED_HEALTHY,
        pending_finish_copy(c, flat_array(c, dst, wOffset, hOffset, (void *)(uintptr_t)src, count, true, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                            size_t count, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY,
                flat_array(c, dst, wOffset, hOffset, (void *)(uintptr_t)src, count, true, kind, stream));
}

CUDA_API cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                         enum cudaMemcpyKind kind) {
    CUDA_RETURN(c, NEED_HEALTHY,
                pending_finish_copy(c, flat_array(c, src, wOffset, hOffset, dst, count, false, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                              size_t count, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, flat_array(c, src, wOffset, hOffset, dst, count, false, kind, stream));
}

static cudaError_t box(CudaContext *c, const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    return p ? submit(c, p, stream) : cudaErrorInvalidValue;
}

CUDA_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    CUDA_RETURN(c, NEED_HEALTHY, pending_finish_copy(c, box(c, p, NULL)));
}

CUDA_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, box(c, p, stream));
}

static cudaError_t box_peer(CudaContext *c, const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    if (!p) return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms copy = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                     p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
    return submit(c, &copy, stream);
}

CUDA_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
    CUDA_RETURN(c, NEED_HEALTHY, box_peer(c, p, NULL));
}

CUDA_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, box_peer(c, p, stream));
}

// --- variables ---

// `count` bytes of the variable from `offset` on. `kind` must be `wanted` or leave the direction open.
static cudaError_t find_bytes(CudaContext *c, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                              enum cudaMemcpyKind wanted, u8 **bytes) {
    void *address;
    size_t size;
    if (kind != wanted && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = cuda_symbol_find(c, symbol, &address, &size);
    if (error != cudaSuccess) return error;
    if (offset > size || count > size - offset) return cudaErrorInvalidValue;
    *bytes = (u8 *)address + offset;
    return cudaSuccess;
}

static cudaError_t to_symbol(CudaContext *c, const void *symbol, const void *from, size_t count, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream) {
    u8 *to;
    cudaError_t error = find_bytes(c, symbol, count, offset, kind, cudaMemcpyHostToDevice, &to);
    return error == cudaSuccess ? linear(c, to, from, count, kind, stream) : error;
}

static cudaError_t from_symbol(CudaContext *c, void *to, const void *symbol, size_t count, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream) {
    u8 *from;
    cudaError_t error = find_bytes(c, symbol, count, offset, kind, cudaMemcpyDeviceToHost, &from);
    return error == cudaSuccess ? linear(c, to, from, count, kind, stream) : error;
}

CUDA_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                                        enum cudaMemcpyKind kind) {
    CUDA_RETURN(c, NEED_HEALTHY, pending_finish_copy(c, to_symbol(c, symbol, src, count, offset, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                             enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, to_symbol(c, symbol, src, count, offset, kind, stream));
}

CUDA_API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                          enum cudaMemcpyKind kind) {
    CUDA_RETURN(c, NEED_HEALTHY, pending_finish_copy(c, from_symbol(c, dst, symbol, count, offset, kind, NULL)));
}

CUDA_API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                               enum cudaMemcpyKind kind, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, from_symbol(c, dst, symbol, count, offset, kind, stream));
}

// --- fills ---

static cudaError_t fill(CudaContext *c, void *to, size_t pitch, int value, size_t width, size_t height,
                        cudaStream_t stream) {
    CudaWork work = {.type = cudaGraphNodeTypeMemset,
                     .fill = {.dst = to,
                              .pitch = pitch,
                              .value = (unsigned)value & 0xff,
                              .elementSize = 1,
                              .width = width,
                              .height = height}};
    if (height > 1 && pitch < width) return cudaErrorInvalidValue;
    return work_submit(c, stream, &work);
}

static cudaError_t fill_3d(CudaContext *c, struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                           cudaStream_t stream) {
    if (extent.depth > 1 && to.ysize < extent.height) return cudaErrorInvalidValue;
    for (size_t z = 0; z < extent.depth; z++) {
        u8 *slice = (u8 *)to.ptr + z * to.pitch * to.ysize;
        cudaError_t error = fill(c, slice, to.pitch, value, extent.width, extent.height, stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemset(void *devPtr, int value, size_t count) {
    CUDA_RETURN(c, NEED_HEALTHY, pending_finish_fill(c, devPtr, fill(c, devPtr, count, value, count, 1, NULL)));
}

CUDA_API cudaError_t cudaMemsetAsync(void *devPtr, int value, size_t count, cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, fill(c, devPtr, count, value, count, 1, stream));
}

CUDA_API cudaError_t cudaMemset2D(void *devPtr, size_t pitch, int value, size_t width, size_t height) {
    CUDA_RETURN(c, NEED_HEALTHY, pending_finish_fill(c, devPtr, fill(c, devPtr, pitch, value, width, height, NULL)));
}

CUDA_API cudaError_t cudaMemset2DAsync(void *devPtr, size_t pitch, int value, size_t width, size_t height,
                                       cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, fill(c, devPtr, pitch, value, width, height, stream));
}

CUDA_API cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent) {
    CUDA_RETURN(c, NEED_HEALTHY,
                pending_finish_fill(c, pitchedDevPtr.ptr, fill_3d(c, pitchedDevPtr, value, extent, NULL)));
}

CUDA_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                                       cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, fill_3d(c, pitchedDevPtr, value, extent, stream));
}
