// SPDX-License-Identifier: Apache-2.0
// The progress line on stderr: kernel, launches done, simulated time, CTAs done, rate, time left.
#ifndef WL_CUDA_PROGRESS_H
#define WL_CUDA_PROGRESS_H

#include "cuda/context.h"

void progress_show(void *context, const char *kernel, u64 done, u64 total);  // SimConfig.progress
void progress_clear(CudaContext *c);                                         // before anything else is written

#endif
