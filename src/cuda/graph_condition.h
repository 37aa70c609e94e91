// SPDX-License-Identifier: Apache-2.0
// Conditional nodes: a value that kernels set (cudaGraphSetConditional) chooses which of the node's bodies run.
#ifndef WL_CUDA_GRAPH_CONDITION_H
#define WL_CUDA_GRAPH_CONDITION_H

#include "cuda/graph.h"

enum { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH };  // cudaGraphConditionalNodeType

cudaError_t make_conditional(CudaContext *c, struct cudaConditionalNodeParams *params, CudaWork *work);
cudaError_t conditional_clone(CudaContext *c, const CudaConditional *from, CudaConditional *to);
void conditional_release(CudaContext *c, CudaConditional *conditional);
cudaError_t conditional_go(CudaContext *c, CudaTask *task, WorkEffort *effort);  // task_go of such a node
// Whether all nodes of the bodies are of types that may be there.
bool conditional_is_valid(const CudaConditional *conditional);

void condition_set(CudaContext *c, u64 handle, u32 value);
// A graph begins: conditions made with cudaGraphCondAssignDefault get their first value.
void conditions_reset(CudaContext *c, const CudaGraph *graph);
void conditions_forget(CudaContext *c, const CudaGraph *graph);  // that were made for it

#endif
