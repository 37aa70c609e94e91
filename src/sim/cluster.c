// SPDX-License-Identifier: Apache-2.0
// Clusters: barrier.cluster.arrive and .wait (PTX ISA 9.0, 9.7.13.4) over the threads of all CTAs of a cluster, and the
// CTAs behind addresses of distributed shared memory.
#include "sim/check/check.h"
#include "sim/warp.h"

Cta *cluster_cta(const Cta *cta, u32 rank) {
    if (rank >= cta->grid->cluster_size) return NULL;
    Cta *found = &cta->grid->ctas[cta - cta->grid->ctas - cta->rank + rank];
    return found->used ? found : NULL;
}

static void release_warp(Warp *w) {
    w->cluster_pending = 0;
    for (u32 k = 0; k < w->split_count; k++) {
        Split *s = &w->splits[k];
        if (s->state != SPLIT_BARRIER || s->barrier != CLUSTER_BARRIER) continue;
        if (WL_UNLIKELY(w->cta->grid->exec.check))
            race_barrier_leave(w->cta->grid->exec.check, w, CLUSTER_BARRIER, s->mask, true);
        s->state = SPLIT_READY;
        s->pc++;
    }
}

// The phase is complete when all threads that are left have arrived.
void cluster_check(Cta *first) {
    if (first->cluster_arrived == 0) return;
    u32 size = first->grid->cluster_size, live = 0;
    for (u32 i = 0; i < size; i++)
        if (first[i].used) live += first[i].threads - first[i].exited_threads;
    if (first->cluster_arrived < live) return;
    first->cluster_arrived = 0;
    for (u32 i = 0; i < size; i++)
        for (u32 w = 0; first[i].used && w < first[i].warp_count; w++) release_warp(&first[i].warps[w]);
}

static void arrive(Exec *x, Warp *w, u32 mask) {
    u32 again = w->cluster_pending & mask;
    if (again) {
        x->fault = (Fault){.kind = FAULT_BARRIER, .lane = (u8)__builtin_ctz(again)};
        x->message = "barrier.cluster.arrive by a thread that has arrived already and has not waited";
        return;
    }
    w->cluster_pending |= mask;
    Cta *first = cluster_first(w->cta);
    first->cluster_arrived += (u32)__builtin_popcount(mask);
    cluster_check(first);
}

bool cluster_barrier(Exec *x, Warp *w, Split *s, const SimInsn *in, u32 mask) {
    if (in->form_op == OP_BARRIER_CLUSTER_ARRIVE) {
        s->pc++;
        if (WL_UNLIKELY(x->check)) race_barrier_arrive(x->check, w, CLUSTER_BARRIER);
        return arrive(x, w, mask), true;
    }
    if (!(w->cluster_pending & mask)) {
        if (WL_UNLIKELY(x->check)) race_barrier_leave(x->check, w, CLUSTER_BARRIER, mask, true);
        return s->pc++, true;
    }
    warp_split_off(w, s, s->mask & ~mask, s->pc + 1);  // predicated off lanes go on
    s->state = SPLIT_BARRIER;
    s->barrier = CLUSTER_BARRIER;
    s->sync_mask = mask;
    return false;
}

// They count as arrived, in this phase and all later ones.
void cluster_lanes_exited(Warp *w, u32 lanes) {
    cluster_first(w->cta)->cluster_arrived -= (u32)__builtin_popcount(w->cluster_pending & lanes);
    w->cluster_pending &= ~lanes;
}
