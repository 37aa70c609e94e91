// SPDX-License-Identifier: Apache-2.0
// From the parameters of graph nodes, as programs give them, to work - and what both kinds of graph need to find nodes.
#ifndef WL_CUDA_GRAPH_WORK_H
#define WL_CUDA_GRAPH_WORK_H

#include "cuda/graph.h"

cudaError_t make_kernel(CudaContext *c, const struct cudaKernelNodeParams *params, CudaWork *work);
cudaError_t make_copy(CudaContext *c, const struct cudaMemcpy3DParms *params, CudaWork *work);
cudaError_t make_linear(CudaContext *c, void *to, const void *from, size_t count, enum cudaMemcpyKind kind,
                        CudaWork *work);
cudaError_t make_to_symbol(CudaContext *c, const void *symbol, const void *from, size_t count, size_t offset,
                           enum cudaMemcpyKind kind, CudaWork *work);
cudaError_t make_from_symbol(CudaContext *c, void *to, const void *symbol, size_t count, size_t offset,
                             enum cudaMemcpyKind kind, CudaWork *work);
cudaError_t make_fill(CudaContext *c, const struct cudaMemsetParams *params, CudaWork *work);
cudaError_t make_host(const struct cudaHostNodeParams *params, CudaWork *work);
cudaError_t make_child(CudaContext *c, cudaGraph_t graph, CudaWork *work);
cudaError_t make_event(CudaContext *c, enum cudaGraphNodeType type, cudaEvent_t event, CudaWork *work);
cudaError_t make_alloc(CudaContext *c, struct cudaMemAllocNodeParams *params, CudaWork *work);
cudaError_t make_free(CudaContext *c, void *pointer, CudaWork *work);
cudaError_t make_any(CudaContext *c, struct cudaGraphNodeParams *params, CudaWork *work);

CudaGraph *graph_find(CudaContext *c, cudaGraph_t handle);
CudaNode *node_find(CudaContext *c, cudaGraphNode_t handle);
// Gives a node other parameters of the same type, when `made` says that `work` was made. Takes over what `work` owns.
cudaError_t node_set(CudaContext *c, CudaNode *node, cudaError_t made, CudaWork *work);

#endif
