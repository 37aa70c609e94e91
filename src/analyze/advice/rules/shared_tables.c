// SPDX-License-Identifier: Apache-2.0
// The part of thread-increase that is about CTAs of few warps, each of which fills its shared memory with what all the
// others have there, too. As many of them as an SM has room for are few warps; of CTAs of more threads all have one
// table together, which is filled once for them.
#include <math.h>

#include "analyze/advice/rule.h"
#include "gpu/occupancy.h"

enum { WARP = 32, BLOCK_WARPS = 8 };  // CTAs of 256 threads

// Words that the CTA's threads deal among themselves, the same in each CTA.
static bool fills_table(AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    u32 loop = part->insns[a->pc].loop;
    return loop != WL_NONE && access_deals_tile(c, part, a, loop) && !store_differs_by_cta(c, part, a->pc);
}

// Nothing else is kept in shared memory, or what depends on the CTA, or on how many threads it has, is among it.
static bool has_only_tables(AdviceCase *c) {
    u32 tables = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (!access_is_shared(a) || !(a->store || a->atomic)) continue;
            if (p || a->atomic || !fills_table(c, &c->parts[p], a)) return false;
            tables++;
        }
    return tables > 0;
}

// The loops that fill them are turned by as many more threads.
static void fill_once(Hit *hit, const CasePart *part, f64 gone) {
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
        bool fills = false;
        for (u32 i = 0; i < part->access_count && !fills; i++) {
            const CaseAccess *a = &part->accesses[i];
            fills = access_is_shared(a) && a->store && part->insns[a->pc].loop == l;
        }
        for (u32 pc = 0; fills && pc < part->view->insn_count; pc++)
            if (part->insns[pc].loop == l) hit_spare(hit, part, pc, gone);
    }
}

// Warps that an SM would hold of CTAs `pieces` times as large, which are as many times fewer.
static f64 warps_of_larger(const AdviceCase *c, u32 pieces) {
    const KernelView *v = c->view;
    u32 warps = v->occupancy.warps_per_cta, threads = warps * pieces * WARP;
    u32 registers = kernel_view_registers(v);
    f64 fit = gpu_occupancy_ctas(gpu_occupancy(c->gpu, registers, kernel_view_shared_bytes(v), threads));
    f64 of_grid = ceil(v->occupancy.waves * v->occupancy.ctas_per_sm / pieces);
    return fmin(fit, of_grid) * pieces * warps;
}

bool share_tables(AdviceCase *c) {
    const ViewOccupancy *o = &c->view->occupancy;
    u32 pieces = o->warps_per_cta ? BLOCK_WARPS / o->warps_per_cta : 0;
    if (pieces < 2 || !(o->limits & 1u << LIMIT_SHARED) || o->waves <= 1 || !has_only_tables(c)) return false;
    f64 after = warps_of_larger(c, pieces);
    if (after <= o->warps_per_sm) return false;
    u32 threads = o->warps_per_cta * WARP;
    u64 shared = kernel_view_shared_bytes(c->view);
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_shared_tables);
    hit_of_shape(hit);
    hit->change.warps = after / o->warps_per_sm;
    fill_once(hit, &c->parts[0], 1 - 1.0 / pieces);
    hit_fact(hit, "theoretical_warps_per_sm", o->warps_per_sm, "warps",
             "an SM has room for %u CTAs with %.1f KiB of shared memory each, which are %u warps", o->ctas_per_sm,
             (f64)shared / 1024, o->warps_per_sm);
    hit_fact(hit, "launch__block_size", threads, "threads", "all CTAs, of %u threads, fill it with the same words",
             threads);
    hit_basis(hit, "equations 8 to 10, %.0f warps on an SM instead of %u, and tables filled by more threads", after,
              o->warps_per_sm);
    hit_end_kernel(hit, "Launch CTAs of %u threads instead of %u, which share the table in shared memory",
                   threads * pieces, threads);
    return true;
}
