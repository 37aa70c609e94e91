// SPDX-License-Identifier: Apache-2.0
// Where the simulator saw what each stalled warp waited for, nothing has to be inferred.
#include "analyze/blame_inside.h"

static u32 first_cause(const KernelView *view, u32 pc, u32 stall) {
    u32 low = 0, high = view->cause_count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        const ProfileStallCause *c = &view->causes[middle];
        if (c->pc < pc || (c->pc == pc && c->stall < stall))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// What lies in another function is charged to the use: edges are within one.
Status blame_known(Blamer *b, u32 use, StallReason reason, BlameSources *sources) {
    const KernelView *view = b->view;
    f64 cycles = 0;
    sources->list.len = sources->before = 0;
    for (u32 i = first_cause(view, use, reason); i < view->cause_count; i++) {
        const ProfileStallCause *c = &view->causes[i];
        if (c->pc != use || c->stall != (u32)reason) break;
        bool own = c->cause_function == view->function->id && c->cause_pc < view->insn_count;
        u32 def = own ? c->cause_pc : use;
        BlameSource source = {.def = def, .weight = (f64)c->cycles};
        if (def != use && b->flow) source.path = blame_path(b, def, use);
        TRY(vec_push(&sources->list, source));
        cycles += (f64)c->cycles;
    }
    for (u32 i = 0; i < sources->list.len; i++) sources->list.data[i].weight /= cycles > 0 ? cycles : 1;
    if (cycles <= 0) sources->list.len = 0;
    return STATUS_OK;
}
