// SPDX-License-Identifier: Apache-2.0
// What of warps' waits is waiting in line behind others: it gets shorter with what those have to do, and an idle
// machine knows none of it.
#include <math.h>

#include "analyze/advice/rule.h"

Resource case_slow_unit(const AdviceCase *c) {
    return c->load.busy[RESOURCE_XU] > c->load.busy[RESOURCE_LSU] ? RESOURCE_XU : RESOURCE_LSU;
}

// Part of the edge's samples that is above so many cycles each time that `pc` was executed.
static f64 part_above(const CasePart *part, const BlameEdge *edge, u32 pc, f64 cycles) {
    f64 samples = edge->samples * part->weight;
    return samples > 0 && cycles > 0 ? fmax(1 - part->insns[pc].executed * cycles / samples, 0) : 0;
}

// Samples of a GPU say of each wait how long it was.
static bool is_seen(const AdviceCase *c) { return c->gpu && c->load.too_high > 0; }

// Cycles from an access's issue until it has read its registers, on an idle SM; where it may end its warp, the exit is
// not waited for twice.
static f64 until_read(const AdviceCase *c) { return (f64)c->gpu->store_drain - (f64)c->gpu->exit_latency; }

// Shared memory: what is longer than on an idle SM, or as much as the L1 is busy.
static f64 line_for_shared(const AdviceCase *c, const CasePart *part, const BlameEdge *edge, const CaseAccess *a) {
    f64 busy = c->load.busy[RESOURCE_LSU], idle = 0;
    if (!is_seen(c) || edge->reason != STALL_SHORT_SCOREBOARD) return busy;
    if (edge->class == BLAME_SHARED) idle = (f64)c->gpu->shared_latency + a->passes;
    if (edge->class == BLAME_WAR) idle = until_read(c);
    return fmax(busy, part_above(part, edge, edge->use, idle));
}

// A store of global memory that has yet to read its registers stands in the L1's queue, whatever lies behind.
static f64 line_for_global(const AdviceCase *c, const CasePart *part, const BlameEdge *edge, const CaseAccess *a,
                           Resource *queue) {
    bool reads = edge->class == BLAME_WAR && a->store && access_is_global(a);
    if (reads && !a->atomic && is_seen(c)) return part_above(part, edge, edge->use, until_read(c));
    *queue = case_behind(c, part, edge->def);
    return c->waiting;
}

f64 case_in_line(const AdviceCase *c, const CasePart *part, const BlameEdge *edge, Resource *queue) {
    const CaseAccess *a = case_access(part, edge->def);
    *queue = RESOURCE_LSU;
    switch ((StallReason)edge->reason) {
    case STALL_DRAIN: {
        bool stores = a && a->store && !a->atomic && !access_is_shared(a) && is_seen(c);
        return stores ? part_above(part, edge, edge->use, until_read(c)) : 0;
    }
    case STALL_SHORT_SCOREBOARD:
        if (edge->class != BLAME_SREG) break;
        *queue = case_slow_unit(c);
        return c->gpu ? part_above(part, edge, edge->def, (f64)c->gpu->special_latency) : 0;
    case STALL_LONG_SCOREBOARD:
    case STALL_BARRIER: break;
    default: return 0;
    }
    if (!a) return 0;
    return access_is_shared(a) ? line_for_shared(c, part, edge, a) : line_for_global(c, part, edge, a, queue);
}

Resource case_full_queue(const AdviceCase *c) {
    f64 stores = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (a->store && !a->atomic) stores += c->parts[p].insns[a->pc].use[RESOURCE_L2];
        }
    return c->behind == RESOURCE_L2 && stores > c->load.busy[RESOURCE_LSU] ? RESOURCE_L2 : RESOURCE_LSU;
}
