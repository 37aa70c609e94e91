// SPDX-License-Identifier: Apache-2.0
// warp-balance: warps of a CTA that wait for others, at barriers or until the CTA's last warp ends.
#include <math.h>

#include "analyze/advice/rule.h"

#define HOT 0.2     // of the samples
#define UNEVEN 0.9  // warps alive of a resident CTA, on average

// Warps alive of those that resident CTAs have room for; 1 = not known, as when CTAs are not all as large.
static f64 alive(const AdviceCase *c) {
    if (c->view->launches.alike < MOSTLY_ALIKE) return 1;
    const MetricSet *m = &c->view->metrics;
    f64 warps = m->value[METRIC_CTAS_ACTIVE] * c->view->occupancy.warps_per_cta;
    return m->present[METRIC_CTAS_ACTIVE] && warps > 0 ? fmin(m->value[METRIC_WARPS_ACTIVE] / warps, 1) : 1;
}

// Whether threads turn a hot loop a different number of times: else warps end apart by chance.
static bool turns_differ(const AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        const FlowResults *flow = &part->view->flow;
        for (u32 l = 0; l < flow->loops->loop_count; l++)
            if (bitset_has(&flow->divergence->temporal, l) &&
                case_share(c, part->loops[l].active + part->loops[l].stalled) > HOT)
                return true;
    }
    return false;
}

static f64 stalls_at(const CasePart *part, u32 pc) {
    return (f64)part->view->samples[pc].all[STALL_BARRIER] * part->weight;
}

// Waits at barriers that come from loads every warp makes alike are latency, not imbalance.
static f64 add_waits(Hit *hit, const CasePart *part, u32 pc) {
    f64 all = 0;
    for (u32 i = part->blame->first[pc]; i < part->blame->first[pc + 1]; i++) {
        const BlameEdge *e = &part->blame->edges[i];
        if (e->reason != STALL_BARRIER) continue;
        const CaseAccess *a = case_access(part, e->def);
        f64 samples = e->samples * part->weight;
        if (a && access_is_global(a)) continue;
        HitSpot spot = {.part = part, .use = pc, .def = e->def, .reason = STALL_BARRIER, .samples = samples};
        if (samples > 0 && vec_push(&hit->spots, spot) != STATUS_OK) hit->c->status = STATUS_NO_MEMORY;
        all += samples;
    }
    hit->change.stalls += all;
    return all;
}

void rule_warp_balance(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = c->parts;
    u32 at = 0;
    f64 most = 0, barrier = 0, part_alive = turns_differ(c) ? alive(c) : 1;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++) {
            if (stalls_at(&c->parts[p], pc) <= 0) continue;
            f64 samples = add_waits(hit, &c->parts[p], pc);
            barrier += samples;
            if (samples > most) most = samples, where = &c->parts[p], at = pc;
        }
    if (part_alive < UNEVEN) hit->change.work = part_alive;
    if (barrier <= 0 && part_alive >= UNEVEN) return hit_drop(hit);
    if (barrier > 0)
        hit_fact(hit, "smsp__pcsamp_warps_issue_stalled_barrier", 100 * case_share(c, barrier), "%",
                 "%.0f %% of the samples are warps that wait at a barrier for slower ones",
                 100 * case_share(c, barrier));
    if (part_alive < UNEVEN)
        hit_fact(hit, "warps_alive", 100 * part_alive, "%",
                 "on average %.0f %% of the warps of a resident CTA still run", 100 * part_alive);
    hit_basis(hit, "equation 2 over %.0f %% of the samples%s", 100 * case_share(c, barrier),
              part_alive < UNEVEN ? ", and the mean of the warps' times instead of the longest" : "");
    if (barrier > 0)
        hit_end_line(hit, where, at, "Give the warps that meet at %s equal work", place_text(c, where, at));
    else
        hit_end_kernel(hit, "Give the warps of a CTA equal work");
}
