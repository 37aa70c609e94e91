// SPDX-License-Identifier: Apache-2.0
// The checker's side to the program: what it finds goes to stderr, who called is found out from the stack.
#ifndef WL_CUDA_CHECKER_H
#define WL_CUDA_CHECKER_H

#include "cuda/context.h"

void checker_setup(CudaContext *c, SimConfig *config);  // before the simulator is made
void checker_finish(CudaContext *c);                    // at the end of the program: leaks, and the summary

#endif
