// SPDX-License-Identifier: Apache-2.0
// What a launch leaves of an SM's array for the L1, where it shares one with shared memory.
#ifndef WL_SIM_TIME_L1_SIZE_H
#define WL_SIM_TIME_L1_SIZE_H

#include "base/types.h"
#include "gpu/gpu.h"

typedef struct L1Shape {
    u64 shared;     // bytes of a CTA, without what the system takes
    u32 threads;    // of a CTA
    u32 ctas;       // that fit on an SM
    u32 carve_out;  // SimLaunch.carve_out
} L1Shape;

// Bytes.
u64 l1_size(const GpuModel *gpu, L1Shape shape);

#endif
