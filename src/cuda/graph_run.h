// SPDX-License-Identifier: Apache-2.0
// Nodes of a graph in execution: each one when those that it needs are done.
#ifndef WL_CUDA_GRAPH_RUN_H
#define WL_CUDA_GRAPH_RUN_H

#include "cuda/graph.h"

// A launch of an executable.
cudaError_t graph_run_exec(CudaContext *c, CudaStream *stream, CudaExec *exec, GraphRun **run);
// A child graph, or the body of a conditional node; `launch` is the executable's run that it is part of.
cudaError_t graph_run_inner(CudaContext *c, CudaStream *stream, CudaGraph *graph, GraphRun *launch, GraphRun **run);
// Goes on. *done: nothing is left to do, also with an error.
cudaError_t graph_run_go(CudaContext *c, GraphRun *run, WorkEffort *effort, bool *done);
// The run is gone then; what is not done is given up.
void graph_run_free(CudaContext *c, GraphRun *run);
// Puts an executable that a kernel launched into a list of these, and takes it out.
cudaError_t graph_run_queue(ExecList *list, CudaExec *exec);
void graph_run_unqueue(CudaContext *c, CudaExec *exec);
ExecList *graph_run_tails(GraphRun *run);  // what follows the executable's run
CudaTask *graph_run_waiting(GraphRun *run);
CudaExec *graph_run_of(const GraphRun *run);  // the device graph whose nodes run now; NULL when there is none

#endif
