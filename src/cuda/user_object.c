// SPDX-License-Identifier: Apache-2.0
#include "cuda/user_object.h"

#include "cuda/api.h"
#include "cuda/graph.h"

static CudaUserObject *find(CudaContext *c, cudaUserObject_t handle) {
    return object_get(&c->objects, handle, OBJECT_USER);
}

void user_object_release(CudaContext *c, CudaUserObject *object, u64 count) {
    object->references = object->references > count ? object->references - count : 0;
    if (object->references) return;
    cuda_call_host(c, object->destroy, object->pointer);
    object_delete(&c->objects, object);
}

static cudaError_t create(CudaContext *c, cudaUserObject_t *to, void *pointer, cudaHostFn_t destroy,
                          unsigned references, unsigned flags) {
    if (!to || !destroy || !references || flags != 1) return cudaErrorInvalidValue;  // cudaUserObjectNoDestructorSync
    CudaUserObject *object = object_new(&c->objects, OBJECT_USER, sizeof *object);
    if (!object) return cudaErrorMemoryAllocation;
    *object = (CudaUserObject){pointer, destroy, references};
    *to = (cudaUserObject_t)object;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                          unsigned int initialRefcount, unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, create(c, object_out, ptr, destroy, initialRefcount, flags));
}

static cudaError_t retain(CudaContext *c, cudaUserObject_t handle, unsigned count) {
    CudaUserObject *object = find(c, handle);
    if (!object || !count) return cudaErrorInvalidValue;
    object->references += count;
    return cudaSuccess;
}

CUDA_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    CUDA_RETURN(c, NEED_HEALTHY, retain(c, object, count));
}

static cudaError_t release(CudaContext *c, cudaUserObject_t handle, unsigned count) {
    CudaUserObject *object = find(c, handle);
    if (!object || !count || count > object->references) return cudaErrorInvalidValue;
    user_object_release(c, object, count);
    return cudaSuccess;
}

CUDA_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    CUDA_RETURN(c, NEED_HEALTHY, release(c, object, count));
}

static cudaError_t graph_retain(CudaContext *c, cudaGraph_t handle, cudaUserObject_t user, unsigned count,
                                unsigned flags) {
    CudaGraph *graph = object_get(&c->objects, handle, OBJECT_GRAPH);
    CudaUserObject *object = find(c, user);
    if (!graph || !object || !count || flags > 1) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; i++)
        if (vec_push(&graph->objects, object) != STATUS_OK) return cudaErrorMemoryAllocation;
    if (!flags) object->references += count;  // cudaGraphUserObjectMove hands the caller's references over
    return cudaSuccess;
}

CUDA_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                               unsigned int flags) {
    CUDA_RETURN(c, NEED_HEALTHY, graph_retain(c, graph, object, count, flags));
}

static cudaError_t graph_release(CudaContext *c, cudaGraph_t handle, cudaUserObject_t user, unsigned count) {
    CudaGraph *graph = object_get(&c->objects, handle, OBJECT_GRAPH);
    CudaUserObject *object = find(c, user);
    if (!graph || !object || !count) return cudaErrorInvalidValue;
    for (u32 i = graph->objects.len; count && i-- > 0;) {
        if (graph->objects.data[i] != object) continue;
        graph->objects.data[i] = graph->objects.data[--graph->objects.len];
        count--;
        user_object_release(c, object, 1);
    }
    return count ? cudaErrorInvalidValue : cudaSuccess;
}

CUDA_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count) {
    CUDA_RETURN(c, NEED_HEALTHY, graph_release(c, graph, object, count));
}
