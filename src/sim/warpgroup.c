// SPDX-License-Identifier: Apache-2.0
// The order that wgmma brings into a warpgroup (PTX ISA 9.0, 9.7.15.7): its four warps multiply together, so a group of
// wgmma is complete, and what it reads may be overwritten, when all four have committed it. A warp that has exited
// commits no more: nobody waits for it.
#include "sim/check/check.h"
#include "sim/warp.h"

static Warp *first_of(const Warp *w) { return w->cta->warps + w->index / WARPGROUP * WARPGROUP; }
static u32 warps_of(const Warp *w) {
    u32 left = w->cta->warp_count - w->index / WARPGROUP * WARPGROUP;
    return left < WARPGROUP ? left : WARPGROUP;
}

static bool is_complete(const Warp *w) {
    const Warp *first = first_of(w);
    for (u32 i = 0; i < warps_of(w); i++)
        if (first[i].wgmma_committed < w->wgmma_awaited && !warp_done(&first[i])) return false;
    return true;
}

static void go_on(Warp *w) {
    if (WL_UNLIKELY(w->cta->grid->exec.check)) race_wgmma_done(w->cta->grid->exec.check, w, warps_of(w));
    for (u32 k = 0; k < w->split_count; k++)
        if (w->splits[k].state == SPLIT_WARPGROUP) w->splits[k].state = SPLIT_READY, w->splits[k].pc++;
}

bool warpgroup_wait(Warp *warp, u32 pending) {
    warp->wgmma_awaited = warp->wgmma_committed > pending ? warp->wgmma_committed - pending : 0;
    if (!is_complete(warp)) return false;
    go_on(warp);
    return true;
}

void warpgroup_advanced(const Warp *warp) {
    Warp *first = first_of(warp);
    for (u32 i = 0; i < warps_of(warp); i++)
        for (u32 k = 0; k < first[i].split_count; k++)
            if (first[i].splits[k].state == SPLIT_WARPGROUP && is_complete(&first[i])) go_on(&first[i]);
}

void warpgroup_commit(Warp *warp) {
    warp->wgmma_committed++;
    warp->cta->wgmma_committed = true;
    if (WL_UNLIKELY(warp->cta->grid->exec.check)) race_wgmma_commit(warp->cta->grid->exec.check, warp);
    warpgroup_advanced(warp);
}
