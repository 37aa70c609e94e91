// SPDX-License-Identifier: Apache-2.0
// Copies that are made of other copies: batches of boxes, arrays as a row of bytes.
#include "cuda/api.h"
#include "cuda/array.h"
#include "cuda/stream.h"

// --- batches
// ----------------------------------------------------------------------------------------------------------- Rows and
// layers of a pointer are counted in elements of the array on the other side, of bytes when there is none.
static cudaError_t side(CudaContext *c, const struct cudaMemcpy3DOperand *operand, struct cudaExtent extent,
                        size_t element, cudaArray_t *array, struct cudaPos *at, struct cudaPitchedPtr *pointer) {
    switch (operand->type) {
    case cudaMemcpyOperandTypePointer: {
        size_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent.width;
        size_t rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent.height;
        *pointer = (struct cudaPitchedPtr){operand->op.ptr.ptr, row * element, row * element, rows};
        return operand->op.ptr.ptr ? cudaSuccess : cudaErrorInvalidValue;
    }
    case cudaMemcpyOperandTypeArray:
        *array = operand->op.array.array;
        *at = (struct cudaPos){operand->op.array.offset.x, operand->op.array.offset.y, operand->op.array.offset.z};
        return array_find(c, *array) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    default: return cudaErrorInvalidValue;
    }
}

static size_t element_of(CudaContext *c, const struct cudaMemcpy3DBatchOp *op) {
    size_t element = 0;
    if (op->src.type == cudaMemcpyOperandTypeArray) element = array_element(c, op->src.op.array.array);
    if (!element && op->dst.type == cudaMemcpyOperandTypeArray) element = array_element(c, op->dst.op.array.array);
    return element ? element : 1;
}

static cudaError_t one(CudaContext *c, const struct cudaMemcpy3DBatchOp *op, cudaStream_t stream) {
    struct cudaMemcpy3DParms copy = {.extent = op->extent, .kind = cudaMemcpyDefault};
    size_t element = element_of(c, op);
    if (!op->extent.width || !op->extent.height || !op->extent.depth) return cudaErrorInvalidValue;
    if (op->srcAccessOrder < 1 || op->srcAccessOrder > 3) return cudaErrorInvalidValue;
    cudaError_t error = side(c, &op->src, op->extent, element, &copy.srcArray, &copy.srcPos, &copy.srcPtr);
    if (error == cudaSuccess)
        error = side(c, &op->dst, op->extent, element, &copy.dstArray, &copy.dstPos, &copy.dstPtr);
    if (error != cudaSuccess) return error;
    CudaWork work = {.type = cudaGraphNodeTypeMemcpy, .copy = copy};
    return work_submit(c, stream, &work);
}

static cudaError_t boxes(CudaContext *c, size_t count, const struct cudaMemcpy3DBatchOp *list, unsigned long long flags,
                         cudaStream_t stream) {
    if (!count || !list || flags || !stream || stream == cudaStreamLegacy) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        cudaError_t error = one(c, &list[i], stream);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

CUDA_API cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList, unsigned long long flags,
                                            cudaStream_t stream) {
    CUDA_RETURN(c, NEED_HEALTHY, boxes(c, numOps, opList, flags, stream));
}

// --- array to array
// ---------------------------------------------------------------------------------------------------- `count` bytes
// over the rows of both, from (x, y) on: by way of the host.
static cudaError_t between(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                           size_t from_y, size_t count) {
    void *bytes = mem_alloc(count ? count : 1);
    if (!bytes) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMemcpyFromArray(bytes, from, from_x, from_y, count, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpyToArray(to, to_x, to_y, bytes, count, cudaMemcpyHostToDevice);
    mem_free(bytes);
    return error;
}

CUDA_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                            cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
                                            enum cudaMemcpyKind kind) {
    bool possible = kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
    CUDA_RETURN(c, NEED_HEALTHY,
                possible ? between(dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, count)
                         : cudaErrorInvalidMemcpyDirection);
}
