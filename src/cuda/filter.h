// SPDX-License-Identifier: Apache-2.0
// Which launches are recorded: -k REGEX, --launch-skip, --launch-count. The others run uncounted.
#ifndef WL_CUDA_FILTER_H
#define WL_CUDA_FILTER_H

#include "cuda/context.h"

void filter_setup(CudaContext *c);
// Counts a launch of the kernel; PASS_NONE when it is to be recorded. The expression is tried on the readable name and
// on the mangled one.
SimPass filter_launch(CudaContext *c, const char *kernel);
bool filter_passes(const CudaContext *c);  // some launches may not be recorded

#endif
