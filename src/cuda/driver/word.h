// SPDX-License-Identifier: Apache-2.0
// Words of memory that streams write and wait for (cuStreamWriteValue, cuStreamWaitValue).
#ifndef WL_CUDA_WORD_H
#define WL_CUDA_WORD_H

#include "cuda/work.h"

cudaError_t word_check(CudaContext *c, const CudaWord *word);  // that it is there, and aligned
cudaError_t word_write(CudaContext *c, const CudaWord *word);
cudaError_t word_is_there(CudaContext *c, const CudaWord *word, bool *there);  // whether it has what is waited for

#endif
