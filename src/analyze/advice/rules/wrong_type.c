// SPDX-License-Identifier: Apache-2.0
// wrong-type: float code that computes in double, because of a constant without f or a call of a double function. The
// sign is values that are widened from f32 and narrowed back.
#include "analyze/advice/rule.h"

typedef struct Doubles {
    f64 arithmetic, conversions;  // samples in which they issued
    u32 widened, narrowed;
    const CasePart *part;  // the hottest instruction
    u32 pc;
    f64 most;
} Doubles;

static void add(Hit *hit, const CasePart *part, u32 pc, Doubles *d) {
    const CaseInsn *in = &part->insns[pc];
    const GpuModel *g = hit->c->gpu;
    f64 slower = g && g->fp64_latency ? 1 - (f64)g->alu_latency / (f64)g->fp64_latency : 0.5;
    bool converts = (in->traits & (TRAIT_WIDEN | TRAIT_NARROW)) != 0;
    d->widened += (in->traits & TRAIT_WIDEN) != 0;
    d->narrowed += (in->traits & TRAIT_NARROW) != 0;
    if (in->issued + in->blamed > d->most) d->most = in->issued + in->blamed, d->part = part, d->pc = pc;
    if (converts) {
        d->conversions += in->issued;
        hit_remove(hit, part, pc, 1);
        return;
    }
    d->arithmetic += in->issued;
    hit_edit(hit, EDIT_AS_FLOAT, part, pc, 1);
    hit_blamed(hit, part, pc, ~STALL_BIT(MATH_PIPE_THROTTLE), slower);
    hit_blamed(hit, part, pc, STALL_BIT(MATH_PIPE_THROTTLE), 1);
    hit_relieve(hit, RESOURCE_FP64, in->use[RESOURCE_FP64]);
    f64 ratio = g && g->fp64_interval ? (f64)g->fma_interval / (f64)g->fp64_interval : 0.5;
    hit_relieve(hit, RESOURCE_FMA, -in->use[RESOURCE_FP64] * ratio);
}

void rule_wrong_type(AdviceCase *c) {
    Doubles d = {0};
    Hit *hit = hit_begin(c);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++)
            if (c->parts[p].insns[pc].traits & (TRAIT_FP64 | TRAIT_WIDEN | TRAIT_NARROW))
                add(hit, &c->parts[p], pc, &d);
    if (!d.widened || !d.narrowed || d.arithmetic + d.conversions <= 0) return hit_drop(hit);
    f64 share = 100 * (d.arithmetic + d.conversions) / c->load.issued;
    hit_fact(hit, "fp64_issue_share", share, "%",
             "%.1f %% of the instructions compute in double precision or convert to it and back", share);
    hit_fact(hit, "conversions", d.widened + d.narrowed, "instructions", "%u conversions from float to double, %u back",
             d.widened, d.narrowed);
    hit_caution(hit, "check that the result does not need the digits");
    hit_end_line(hit, d.part, d.pc, "Compute in float at %s: write constants with f, call float functions",
                 place_text(c, d.part, d.pc));
}
