// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Boxes of both APIs differ in how they say where and what: the driver's name the kind of memory on
// each side and count bytes; the runtime's (cudaMemcpy3DParms) have one direction and count elements of arrays.
#include "cuda/driver/driver_copy.h"

#include "cuda/api.h"
#include "cuda/array.h"
#include "cuda/driver/driver_api.h"
#include "cuda/pending.h"
#include "cuda/stream.h"

// --- one range of bytes ---

static void *host(const void *p) { return (void *)(uintptr_t)p; }

#define COPY(name, parameters, to, from, kind)                                               \
    CUDA_API CUresult name parameters {                                                      \
        DRIVER_RETURN(c, DRIVER_CONTEXT, cudaMemcpy(to, from, ByteCount, cudaMemcpy##kind)); \
    }
#define COPY_ASYNC(name, parameters, to, from, kind)                                                   \
    CUDA_API CUresult name parameters {                                                                \
        DRIVER_RETURN_ON(c, hStream, cudaMemcpyAsync(to, from, ByteCount, cudaMemcpy##kind, hStream)); \
    }
#define TO_DEVICE driver_pointer(dstDevice)
#define FROM_DEVICE driver_pointer(srcDevice)

COPY(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), driver_pointer(dst), driver_pointer(src), Default)
COPY(cuMemcpyHtoD_v2, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount), TO_DEVICE, srcHost, HostToDevice)
COPY(cuMemcpyDtoH_v2, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount), dstHost, FROM_DEVICE, DeviceToHost)
COPY(cuMemcpyDtoD_v2, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount), TO_DEVICE, FROM_DEVICE,
     DeviceToDevice)
COPY_ASYNC(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream), driver_pointer(dst),
           driver_pointer(src), Default)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
           TO_DEVICE, srcHost, HostToDevice)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream), dstHost,
           FROM_DEVICE, DeviceToHost)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
           TO_DEVICE, FROM_DEVICE, DeviceToDevice)

static cudaError_t peer(CudaContext *c, CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                        size_t count, CUstream stream) {
    const CUcontext contexts[] = {to_context, from_context};  // NULL: the current one
    for (u32 i = 0; i < 2; i++)
        if (contexts[i] && !object_get(&c->objects, contexts[i], OBJECT_CONTEXT)) return cudaErrorDeviceUninitialized;
    return cudaMemcpyAsync(driver_pointer(to), driver_pointer(from), count, cudaMemcpyDeviceToDevice, stream);
}

CUDA_API CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                               size_t ByteCount) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, peer(c, dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL));
}
CUDA_API CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                    CUcontext srcContext, size_t ByteCount, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, peer(c, dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream));
}

// --- boxes ---

static bool known(CUmemorytype type) { return type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED; }

static enum cudaMemcpyKind direction(CUmemorytype to, CUmemorytype from) {
    if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST) return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

typedef struct DriverSide {  // of a box
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
} DriverSide;

// Bytes of what the width of the box counts: an element of the arrays on its sides, 1 without one.
static cudaError_t element_of(CudaContext *c, const DriverSide *to, const DriverSide *from, size_t *element) {
    *element = 1;
    const DriverSide *sides[] = {to, from};  // the source's decides (copy_run)
    for (u32 i = 0; i < 2; i++) {
        if (sides[i]->type != CU_MEMORYTYPE_ARRAY) continue;
        if (!sides[i]->array) return cudaErrorInvalidValue;
        *element = array_element(c, sides[i]->array);
        if (!*element) return cudaErrorInvalidResourceHandle;
        if (sides[i]->x % *element) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static cudaError_t set_side(CudaContext *c, const DriverSide *s, const CUDA_MEMCPY3D *box, cudaArray_t *array,
                            struct cudaPos *at, struct cudaPitchedPtr *memory) {
    if (s->type == CU_MEMORYTYPE_ARRAY) {
        *array = s->array;
        *at = (struct cudaPos){s->x / array_element(c, s->array), s->y, s->z};
        return cudaSuccess;
    }
    size_t needed = s->x + box->WidthInBytes;
    size_t pitch = s->pitch ? s->pitch : needed, height = s->height ? s->height : box->Height;
    if (pitch < needed || height < box->Height) return cudaErrorInvalidValue;
    void *start = s->type == CU_MEMORYTYPE_HOST ? host(s->host) : driver_pointer(s->device);
    *at = (struct cudaPos){s->x, s->y, s->z};
    *memory = (struct cudaPitchedPtr){start, pitch, pitch, height};
    return start ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t driver_box(CudaContext *c, const CUDA_MEMCPY3D *b, struct cudaMemcpy3DParms *to) {
    *to = (struct cudaMemcpy3DParms){0};
    if (!b || !known(b->srcMemoryType) || !known(b->dstMemoryType)) return cudaErrorInvalidValue;
    DriverSide from = {b->srcMemoryType, b->srcHost, b->srcDevice, b->srcArray, b->srcXInBytes,
                       b->srcY,          b->srcZ,    b->srcPitch,  b->srcHeight};
    DriverSide into = {b->dstMemoryType, b->dstHost, b->dstDevice, b->dstArray, b->dstXInBytes,
                       b->dstY,          b->dstZ,    b->dstPitch,  b->dstHeight};
    size_t element;
    cudaError_t error = element_of(c, &into, &from, &element);
    if (error == cudaSuccess && b->WidthInBytes % element) error = cudaErrorInvalidValue;
    if (error == cudaSuccess) error = set_side(c, &from, b, &to->srcArray, &to->srcPos, &to->srcPtr);
    if (error == cudaSuccess) error = set_side(c, &into, b, &to->dstArray, &to->dstPos, &to->dstPtr);
    if (error != cudaSuccess) return error;
    to->extent = (struct cudaExtent){b->WidthInBytes / element, b->Height, b->Depth};
    to->kind = direction(b->dstMemoryType, b->srcMemoryType);
    return cudaSuccess;
}

static CUmemorytype side_type(cudaArray_t array, enum cudaMemcpyKind kind, bool source) {
    if (array) return CU_MEMORYTYPE_ARRAY;
    switch (kind) {
    case cudaMemcpyHostToHost: return CU_MEMORYTYPE_HOST;
    case cudaMemcpyHostToDevice: return source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    case cudaMemcpyDeviceToHost: return source ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    case cudaMemcpyDeviceToDevice: return CU_MEMORYTYPE_DEVICE;
    default: return CU_MEMORYTYPE_UNIFIED;
    }
}

static DriverSide get_side(CudaContext *c, cudaArray_t array, struct cudaPos at, struct cudaPitchedPtr memory,
                           CUmemorytype type) {
    DriverSide side = {.type = type, .array = array, .x = at.x, .y = at.y, .z = at.z};
    if (array) {
        side.x *= array_element(c, array);
        return side;
    }
    if (type == CU_MEMORYTYPE_HOST)
        side.host = memory.ptr;
    else
        side.device = driver_address(memory.ptr);
    side.pitch = memory.pitch;
    side.height = memory.ysize;
    return side;
}

void driver_unbox(CudaContext *c, const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *to) {
    DriverSide from = get_side(c, p->srcArray, p->srcPos, p->srcPtr, side_type(p->srcArray, p->kind, true));
    DriverSide into = get_side(c, p->dstArray, p->dstPos, p->dstPtr, side_type(p->dstArray, p->kind, false));
    cudaArray_t counted = p->srcArray ? p->srcArray : p->dstArray;
    *to = (CUDA_MEMCPY3D){
        .srcXInBytes = from.x,
        .srcY = from.y,
        .srcZ = from.z,
        .srcMemoryType = from.type,
        .srcHost = from.host,
        .srcDevice = from.device,
        .srcArray = from.array,
        .srcPitch = from.pitch,
        .srcHeight = from.height,
        .dstXInBytes = into.x,
        .dstY = into.y,
        .dstZ = into.z,
        .dstMemoryType = into.type,
        .dstHost = host(into.host),
        .dstDevice = into.device,
        .dstArray = into.array,
        .dstPitch = into.pitch,
        .dstHeight = into.height,
        .WidthInBytes = p->extent.width * (counted ? array_element(c, counted) : 1),
        .Height = p->extent.height,
        .Depth = p->extent.depth,
    };
}

static cudaError_t copy_box(CudaContext *c, const CUDA_MEMCPY3D *b, CUstream stream) {
    struct cudaMemcpy3DParms same;
    cudaError_t error = driver_box(c, b, &same);
    return error == cudaSuccess ? cudaMemcpy3DAsync(&same, stream) : error;
}

static cudaError_t copy_rectangle(CudaContext *c, const CUDA_MEMCPY2D *r, CUstream stream) {
    if (!r) return cudaErrorInvalidValue;
    CUDA_MEMCPY3D b = {
        .srcXInBytes = r->srcXInBytes,
        .srcY = r->srcY,
        .srcMemoryType = r->srcMemoryType,
        .srcHost = r->srcHost,
        .srcDevice = r->srcDevice,
        .srcArray = r->srcArray,
        .srcPitch = r->srcPitch,
        .dstXInBytes = r->dstXInBytes,
        .dstY = r->dstY,
        .dstMemoryType = r->dstMemoryType,
        .dstHost = r->dstHost,
        .dstDevice = r->dstDevice,
        .dstArray = r->dstArray,
        .dstPitch = r->dstPitch,
        .WidthInBytes = r->WidthInBytes,
        .Height = r->Height,
        .Depth = 1,
    };
    return copy_box(c, &b, stream);
}

CUDA_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, pending_finish_copy(c, copy_rectangle(c, pCopy, NULL)));
}
CUDA_API CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, pending_finish_copy(c, copy_rectangle(c, pCopy, NULL)));
}
CUDA_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, copy_rectangle(c, pCopy, hStream));
}
CUDA_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, pending_finish_copy(c, copy_box(c, pCopy, NULL)));
}
CUDA_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, copy_box(c, pCopy, hStream));
}
CUDA_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) {
    DRIVER_RETURN(c, DRIVER_CONTEXT, pending_finish_copy(c, copy_box(c, pCopy, NULL)));
}
CUDA_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream, copy_box(c, pCopy, hStream));
}

CUDA_API CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                        CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                        CUstream hStream) {
    DRIVER_RETURN_ON(c, hStream,
                     cudaMemcpyBatchAsync((void *const *)dsts, (const void *const *)srcs, sizes, count, attrs,
                                          attrsIdxs, numAttrs, hStream));
}

// --- ranges of bytes in the first row of an array ---

static cudaError_t flat(CudaContext *c, DriverSide to, DriverSide from, size_t count, CUstream stream) {
    CUDA_MEMCPY3D b = {
        .srcXInBytes = from.x,
        .srcMemoryType = from.type,
        .srcHost = from.host,
        .srcDevice = from.device,
        .srcArray = from.array,
        .dstXInBytes = to.x,
        .dstMemoryType = to.type,
        .dstHost = host(to.host),
        .dstDevice = to.device,
        .dstArray = to.array,
        .WidthInBytes = count,
        .Height = 1,
        .Depth = 1,
    };
    return copy_box(c, &b, stream);
}

static DriverSide in_array(CUarray array, size_t offset) {
    return (DriverSide){.type = CU_MEMORYTYPE_ARRAY, .array = array, .x = offset};
}
static DriverSide in_device(CUdeviceptr p) { return (DriverSide){.type = CU_MEMORYTYPE_DEVICE, .device = p}; }
static DriverSide in_host(const void *p) { return (DriverSide){.type = CU_MEMORYTYPE_HOST, .host = p}; }

#define FLAT(name, parameters, to, from)                                                       \
    CUDA_API CUresult name parameters {                                                        \
        DRIVER_RETURN_ON(c, NULL, pending_finish_copy(c, flat(c, to, from, ByteCount, NULL))); \
    }
#define FLAT_ASYNC(name, parameters, to, from) \
    CUDA_API CUresult name parameters { DRIVER_RETURN_ON(c, hStream, flat(c, to, from, ByteCount, hStream)); }
FLAT(cuMemcpyDtoA_v2, (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),
     in_array(dstArray, dstOffset), in_device(srcDevice))
FLAT(cuMemcpyAtoD_v2, (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     in_device(dstDevice), in_array(srcArray, srcOffset))
FLAT(cuMemcpyHtoA_v2, (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),
     in_array(dstArray, dstOffset), in_host(srcHost))
FLAT(cuMemcpyAtoH_v2, (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount), in_host(dstHost),
     in_array(srcArray, srcOffset))
FLAT(cuMemcpyAtoA_v2, (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount),
     in_array(dstArray, dstOffset), in_array(srcArray, srcOffset))
FLAT_ASYNC(cuMemcpyHtoAAsync_v2,
           (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream),
           in_array(dstArray, dstOffset), in_host(srcHost))
FLAT_ASYNC(cuMemcpyAtoHAsync_v2,
           (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream), in_host(dstHost),
           in_array(srcArray, srcOffset))

// --- fills ---

static cudaError_t fill(CudaContext *c, struct cudaMemsetParams params, CUstream stream) {
    CudaWork work = {.type = cudaGraphNodeTypeMemset, .fill = params};
    if (driver_address(params.dst) % params.elementSize || params.pitch % params.elementSize)
        return cudaErrorInvalidValue;
    if (params.height > 1 && params.pitch < params.width * params.elementSize) return cudaErrorInvalidValue;
    return work_submit(c, stream, &work);
}

static cudaError_t fill_now(CudaContext *c, struct cudaMemsetParams params, CUstream stream) {
    return pending_finish_fill(c, params.dst, fill(c, params, stream));
}

#define FILL_ROWS(bits, value_type, name, arguments, fills, stream)                                        \
    CUDA_API CUresult name arguments {                                                                     \
        struct cudaMemsetParams p = {driver_pointer(dstDevice), dstPitch, value, bits / 8, Width, Height}; \
        DRIVER_RETURN_ON(c, stream, fills(c, p, stream));                                                  \
    }
#define FILL(bits, value_type, name, arguments, fills, stream)                             \
    CUDA_API CUresult name arguments {                                                     \
        struct cudaMemsetParams p = {driver_pointer(dstDevice), 0, value, bits / 8, N, 1}; \
        DRIVER_RETURN_ON(c, stream, fills(c, p, stream));                                  \
    }
#define FILLS(bits, value_type)                                                                                        \
    FILL(bits, value_type, cuMemsetD##bits##_v2, (CUdeviceptr dstDevice, value_type value, size_t N), fill_now, NULL)  \
    FILL(bits, value_type, cuMemsetD##bits##Async,                                                                     \
         (CUdeviceptr dstDevice, value_type value, size_t N, CUstream hStream), fill, hStream)                         \
    FILL_ROWS(bits, value_type, cuMemsetD2D##bits##_v2,                                                                \
              (CUdeviceptr dstDevice, size_t dstPitch, value_type value, size_t Width, size_t Height), fill_now, NULL) \
    FILL_ROWS(                                                                                                         \
        bits, value_type, cuMemsetD2D##bits##Async,                                                                    \
        (CUdeviceptr dstDevice, size_t dstPitch, value_type value, size_t Width, size_t Height, CUstream hStream),     \
        fill, hStream)
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
