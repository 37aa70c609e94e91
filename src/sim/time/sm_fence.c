// SPDX-License-Identifier: Apache-2.0
#include "sim/time/sm_fence.h"

// Cycles that one takes with no store under way.
static u64 fence_cycles(const GpuModel *gpu, u32 fence) {
    switch (fence) {
    case FENCE_CTA: return gpu->fence_cta;
    case FENCE_GPU: return gpu->fence_gpu;
    case FENCE_SYSTEM: return gpu->fence_system;
    case FENCE_PROXY: return gpu->fence_proxy;
    default: return 0;
    }
}

bool fence_begin(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    w->fenced = cycle + 1 + fence_cycles(sm->gpu, op->extra);
    if (op->extra == FENCE_GPU || op->extra == FENCE_SYSTEM) cache_clear(sm->l1);  // CCTL.IVALL
    return op->extra != FENCE_CTA && op->extra != FENCE_PROXY;
}

u64 fence_end(const Sm *sm, const TimeWarp *w, u64 cycle) {
    u64 end = cycle + (w->wait_slot == FENCE_GPU ? sm->gpu->fence_stores : 0);
    return end > w->fenced ? end : w->fenced;
}
