// SPDX-License-Identifier: Apache-2.0
// When copies and fills are over on the simulated clock of their device: they run beside kernels, one at a time in each
// direction of the bus and one within the device. Only with timing.
#ifndef WL_CUDA_TRANSFER_H
#define WL_CUDA_TRANSFER_H

#include "cuda/work.h"

// Begins now, or when what moves in this direction is over. False: out of memory.
bool transfer_begin(CudaContext *c, CudaTask *task, const Transfer *transfer);
// Whether one that has begun is over. Where nothing else is under way on its device the clock goes on to its end,
// unless another one ends before or `effort` leaves no time.
bool transfer_is_over(CudaContext *c, const CudaTask *task, WorkEffort *effort);
// It is no longer under way; nothing happens if it never was.
void transfer_end(CudaContext *c, CudaTask *task);
// When the first of those under way ends; 0: there are none.
u64 transfer_next(const CudaContext *c, int device);

#endif
