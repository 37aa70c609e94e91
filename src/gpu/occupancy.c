// SPDX-License-Identifier: Apache-2.0
#include "gpu/occupancy.h"

enum { WARP_THREADS = 32 };

static u64 round_up(u64 value, u64 unit) { return unit ? (value + unit - 1) / unit * unit : value; }

// Registers are given out per warp, warps rounded to the schedulers.
static u64 fit_by_registers(const GpuModel *gpu, u64 registers, u64 warps) {
    u64 per_warp = round_up(registers * WARP_THREADS, gpu->register_unit);
    if (!per_warp) return gpu->max_ctas_per_sm;
    u64 limit = gpu->registers_per_cta / per_warp / gpu->warp_schedulers * gpu->warp_schedulers;
    return limit < warps ? 0 : limit / warps * (gpu->registers_per_sm / gpu->registers_per_cta);
}

GpuOccupancy gpu_occupancy(const GpuModel *gpu, u32 registers, u64 shared, u32 cta_threads) {
    u64 warps = (cta_threads + WARP_THREADS - 1) / WARP_THREADS;
    if (cta_threads == 0) return (GpuOccupancy){0};
    u64 taken = round_up(shared + gpu->shared_reserved, gpu->shared_unit);
    u64 by_shared = shared > gpu->shared_per_cta_optin ? 0 : taken ? gpu->shared_per_sm / taken : gpu->max_ctas_per_sm;
    return (GpuOccupancy){.by_ctas = (u32)gpu->max_ctas_per_sm,
                          .by_warps = (u32)(gpu->max_threads_per_sm / WARP_THREADS / warps),
                          .by_registers = (u32)fit_by_registers(gpu, registers, warps),
                          .by_shared = (u32)by_shared};
}
