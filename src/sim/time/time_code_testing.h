// SPDX-License-Identifier: Apache-2.0
// For tests of the lowering for timing: figures of a GPU that a reader of the expected texts can tell apart, and that
// do not change when a model is calibrated.
#ifndef WL_SIM_TIME_CODE_TESTING_H
#define WL_SIM_TIME_CODE_TESTING_H

#include "gpu/gpu.h"

static inline void set_test_timing(GpuModel *gpu) {
    gpu->alu_latency = 4, gpu->alu_interval = 2, gpu->fma_interval = 1, gpu->fmaheavy_interval = 2;
    gpu->fp64_latency = 8, gpu->fp64_interval = 2, gpu->fp16_interval = 1, gpu->xu_latency = 17, gpu->xu_interval = 8;
    gpu->tensor_latency = 33, gpu->tensor_interval = 8, gpu->uniform_interval = 2, gpu->cbu_interval = 2;
    gpu->adu_interval = 2, gpu->shared_latency = 23, gpu->tex_latency = 88, gpu->tex_interval = 4;
    gpu->const_l1_latency = 30, gpu->imc = 2048, gpu->imc_latency = 2, gpu->branch_latency = 5;
    gpu->wide_interval = 4;
}

#endif
