// SPDX-License-Identifier: Apache-2.0
// occupancy-up: more warps would fit if CTAs took less of what limits them.
#include <math.h>

#include "analyze/advice/rule.h"
#include "gpu/occupancy.h"

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
    if (limit == LIMIT_REGISTERS) ctas = least_of(ctas, o->ctas_per_sm * 2);  // further down values are spilled
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
