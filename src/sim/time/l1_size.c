// SPDX-License-Identifier: Apache-2.0
#include "sim/time/l1_size.h"

// Shared memory that an SM sets aside, from the L1's array: the steps of the CUDA Programming Guide, compute capability
// 9.0 (fewer of them exist before).
static const u32 steps[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

// The first step that is as much, or all that there is.
static u64 step_for(const GpuModel *gpu, u64 wanted) {
    for (u32 i = 0; i < WL_COUNT(steps); i++)
        if (steps[i] * 1024ull >= wanted && steps[i] * 1024ull < gpu->l1_size) return steps[i] * 1024ull;
    return gpu->shared_per_sm;
}

// What the driver of an H200 sees to, before steps (bench/hwref/h200-carve-outs.tsv, of 520 launches 517): that as many
// CTAs as fit find their shared memory, and as far as half of the array twice as many, but where one fits only, or they
// have 1,024 threads. For kernels without shared memory the number of threads decides.
static u64 shared_wanted(const GpuModel *gpu, const L1Shape *s) {
    enum { UNIT = 128, FEW = 448, MANY = 640, MOST = 1024 };  // bytes; threads
    if (!s->shared && !gpu->shared_reserved) return 0;
    if (!s->shared) return s->threads > MANY || s->ctas < 2 ? 8 << 10 : (s->threads > FEW ? 16 : 32) << 10;
    u64 each = (s->shared + gpu->shared_reserved + UNIT - 1) / UNIT * UNIT, all = s->ctas * each;
    if (s->ctas < 2 || s->threads >= MOST) return all;
    u64 ctas = 2ull * s->ctas < gpu->max_ctas_per_sm ? 2ull * s->ctas : gpu->max_ctas_per_sm;
    u64 half = step_for(gpu, gpu->l1_size / 2), more = ctas * each < half ? ctas * each : half;
    return more > all ? more : all;
}

u64 l1_size(const GpuModel *gpu, L1Shape shape) {
    if (!gpu->l1_unified) return gpu->l1_size;
    u64 wanted = shared_wanted(gpu, &shape);
    u64 told = gpu->shared_per_sm * shape.carve_out / 100;  // bench/hwref/h200-carveout.tsv
    if (told > wanted) wanted = told;
    u64 taken = step_for(gpu, wanted);
    return gpu->l1_size > taken ? gpu->l1_size - taken : 0;
}
