// SPDX-License-Identifier: Apache-2.0
// occupancy-up: more warps would fit if CTAs took less of what limits them. occupancy-down: so many warps are resident
// that each evicts from the L1 what the others are about to use.
#include <math.h>

#include "analyze/advice/rule.h"
#include "gpu/occupancy.h"

#define FILLED 0.7  // of the warps that fit: with fewer resident on average, something else is the limit

static u32 least_of(u32 a, u32 b) { return a < b ? a : b; }

static u32 registers_of(const KernelView *v) {
    u32 launched = v->launches.typical->time.registers;
    return launched ? launched : v->function->registers;
}

// CTAs that an SM would hold if only the limit `without` were gone; no more than the grid has.
static u32 ctas_without(const AdviceCase *c, OccupancyLimit without) {
    const KernelView *v = c->view;
    const ViewOccupancy *o = &v->occupancy;
    u32 threads = o->warps_per_cta * 32;
    u64 shared = v->function->shared_bytes + (u64)v->launches.typical->dynamic_shared_bytes;
    GpuOccupancy fits = gpu_occupancy(c->gpu, registers_of(v), shared, threads);
    u32 ctas = least_of(fits.by_ctas, fits.by_warps);
    if (without != LIMIT_REGISTERS) ctas = least_of(ctas, fits.by_registers);
    if (without != LIMIT_SHARED) ctas = least_of(ctas, fits.by_shared);
    f64 of_grid = ceil(o->waves * o->ctas_per_sm);
    return of_grid < ctas ? (u32)of_grid : ctas;
}

static void look_at(AdviceCase *c, OccupancyLimit limit, const char *what) {
    const ViewOccupancy *o = &c->view->occupancy;
    u32 ctas = ctas_without(c, limit);
    if (!(o->limits & 1u << limit) || ctas <= o->ctas_per_sm || !o->ctas_per_sm) return;
    if (limit == LIMIT_REGISTERS) ctas = least_of(ctas, o->ctas_per_sm * 2);         // further down values are spilled
    if (c->warps * (f64)c->gpu->warp_schedulers < FILLED * o->warps_per_sm) return;  // it is not what keeps warps away
    Hit *hit = hit_begin(c);
    hit->change.warps = (f64)ctas / o->ctas_per_sm;
    hit_fact(hit, "theoretical_warps_per_sm", o->warps_per_sm, "warps", "an SM holds %u of %llu warps, limited by %s",
             o->warps_per_sm, (unsigned long long)c->gpu->max_threads_per_sm / 32, what);
    hit_fact(hit, "issue_rate", 100 * c->load.issue_rate, "%", "schedulers issue in %.0f %% of the cycles",
             100 * c->load.issue_rate);
    if (limit == LIMIT_REGISTERS)
        hit_fact(hit, "launch__registers_per_thread", registers_of(c->view), "registers", "a thread has %u registers",
                 registers_of(c->view));
    hit_basis(hit, "equations 8 to 10, %.1f warps per scheduler instead of %.1f", c->warps * hit->change.warps,
              c->warps);
    if (limit == LIMIT_REGISTERS) hit_caution(hit, "fewer registers may spill: look for local memory afterwards");
    hit_end_kernel(hit, "Let %u CTAs fit on an SM instead of %u by using %s", ctas, o->ctas_per_sm,
                   limit == LIMIT_REGISTERS ? "fewer registers" : "less shared memory");
}

void rule_occupancy_up(AdviceCase *c) {
    if (!c->gpu || !c->view->launches.typical || c->view->occupancy.waves <= 1) return;
    look_at(c, LIMIT_SHARED, "shared memory");
    look_at(c, LIMIT_REGISTERS, "registers");
}

// --- occupancy-down ------------------------------------------------------------------------------------------------
enum { SECTOR = 32 };
#define THRASHING 1.5  // times the misses that a cache which keeps each sector until it is used up would have

typedef struct Walk {  // loads that come back to what they, or their neighbours, loaded before
    const CasePart *part;
    u32 pc;
    f64 sectors, fewest;  // looked up; brought if each is brought once
    f64 bytes;            // of the L1 that a CTA walks through before it comes back
    f64 most;
} Walk;

// Part of the sectors that have to be brought: lanes that each walk through memory of their own, in steps of less than
// a sector; *bytes: of a CTA.
static f64 brought_by_steps(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 *bytes) {
    i64 step = 0;
    if (affine_step(part->view->flow.affine, a->affine->form, part->insns[a->pc].loop, &step) != AFFINE_STRIDE_CONSTANT)
        return 1;
    if (step < 0) step = -step;
    if (step == 0 || step >= SECTOR || a->sectors <= 2 * a->fewest) return 1;
    *bytes = a->sectors * SECTOR * c->view->occupancy.warps_per_cta;
    return (f64)step / SECTOR;
}

// ... or a loop within another, whose turns all go through the same memory.
static f64 brought_by_turns(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 *bytes) {
    const Loops *loops = part->view->flow.loops;
    u32 inner = part->insns[a->pc].loop, outer = loops->loops[inner].parent;
    i64 step = 0, stays = 1;
    if (outer == WL_NONE || part->loops[outer].trips < 2) return 1;
    const Affine *affine = part->view->flow.affine;
    bool walks = affine_step(affine, a->affine->form, inner, &step) == AFFINE_STRIDE_CONSTANT && step;
    bool again = affine_step(affine, a->affine->form, outer, &stays) == AFFINE_STRIDE_CONSTANT && !stays;
    if (!walks || !again) return 1;
    *bytes = access_cta_bytes(c, part, a);
    return *bytes > 0 ? 1 / part->loops[outer].trips : 1;
}

static f64 brought(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 *bytes) {
    *bytes = 0;
    if (!a->load || !access_is_global(a) || !a->affine || a->uniform || part->insns[a->pc].loop == WL_NONE) return 1;
    f64 by_steps = brought_by_steps(c, part, a, bytes);
    return by_steps < 1 ? by_steps : brought_by_turns(c, part, a, bytes);
}

static void add_walk(const AdviceCase *c, const CasePart *part, const CaseAccess *a, Walk *w) {
    f64 bytes, once = brought(c, part, a, &bytes);
    if (once >= 1) return;
    w->sectors += a->requests * a->sectors;
    w->fewest += a->requests * a->sectors * once;
    w->bytes += bytes;
    if (a->requests > w->most) w->most = a->requests, w->part = part, w->pc = a->pc;
}

static void keep_fewer(AdviceCase *c, const Walk *w, f64 room) {
    const ViewOccupancy *o = &c->view->occupancy;
    f64 fit = fmin(fmax(floor(room / w->bytes), 1), o->ctas_per_sm - 1.0), after = w->fewest / w->sectors;
    Hit *hit = hit_begin(c);
    f64 fewer = 1 - after / c->l1_miss;
    for (u32 i = 0; i < w->part->access_count; i++) {
        const CaseAccess *a = &w->part->accesses[i];
        f64 bytes;
        if (brought(c, w->part, a, &bytes) >= 1) continue;
        hit_blamed(hit, w->part, a->pc, UINT32_MAX, fewer);
        hit_relieve(hit, RESOURCE_L2, w->part->insns[a->pc].use[RESOURCE_L2] * fewer);
        if (c->misses_known) hit_relieve(hit, RESOURCE_DRAM, w->part->insns[a->pc].use[RESOURCE_DRAM] * fewer);
    }
    hit->change.warps = fit / o->ctas_per_sm;
    hit->doubtful = !c->misses_known;
    if (c->misses_known)
        hit_fact(hit, "l1tex__t_sector_hit_rate.pct", 100 * (1 - c->l1_miss), "%",
                 "%.0f %% of the sectors hit the L1; %.0f %% would if each stayed until it was used up",
                 100 * (1 - c->l1_miss), 100 * (1 - after));
    f64 all = w->bytes * o->ctas_per_sm / 1024;
    hit_fact(hit, "l1_footprint", all * 1024, "bytes",
             "resident warps walk through %.0f KiB before they come back; the L1 has %.0f", all, room / 1024);
    hit_basis(hit, "equations 2 and 8 to 10: fewer misses, %.0f CTAs on an SM instead of %u", fit, o->ctas_per_sm);
    hit_end_kernel(hit, "Let %.0f CTAs be resident on an SM instead of %u, so that the L1 holds what they use", fit,
                   o->ctas_per_sm);
}

void rule_occupancy_down(AdviceCase *c) {
    const ViewOccupancy *o = &c->view->occupancy;
    Walk w = {0};
    if (!c->gpu || !o->ctas_per_sm || o->ctas_per_sm < 2 || !c->view->launches.typical) return;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) add_walk(c, &c->parts[p], &c->parts[p].accesses[i], &w);
    u64 shared = c->view->function->shared_bytes + (u64)c->view->launches.typical->dynamic_shared_bytes;
    f64 room = (f64)c->gpu->l1_size - (c->gpu->l1_unified ? (f64)(shared * o->ctas_per_sm) : 0);
    // Where misses were not counted, what is used again only after more than the L1 holds is taken for lost.
    f64 least = c->misses_known ? room : THRASHING * room;
    bool thrashes = w.sectors > 0 && c->l1_miss * w.sectors > THRASHING * w.fewest && w.bytes * o->ctas_per_sm > least;
    if (thrashes && room > w.bytes) keep_fewer(c, &w, room);
}
