// SPDX-License-Identifier: Apache-2.0
// How many CTAs fit on an SM, as CUDA's occupancy calculator has it (cuda_occupancy.h of the toolkit; checked against
// an H200 in sim/occupancy_test.c).
#ifndef WL_GPU_OCCUPANCY_H
#define WL_GPU_OCCUPANCY_H

#include "gpu/gpu.h"

typedef struct GpuOccupancy {  // CTAs that fit on an SM by each of its resources
    u32 by_ctas, by_warps, by_registers, by_shared;
} GpuOccupancy;

// `registers` of a thread, `shared` bytes of a CTA (static and dynamic). All 0 without threads.
GpuOccupancy gpu_occupancy(const GpuModel *gpu, u32 registers, u64 shared, u32 cta_threads);

static inline u32 gpu_occupancy_ctas(GpuOccupancy o) {
    u32 a = o.by_ctas < o.by_warps ? o.by_ctas : o.by_warps;
    u32 b = o.by_registers < o.by_shared ? o.by_registers : o.by_shared;
    return a < b ? a : b;
}

#endif
