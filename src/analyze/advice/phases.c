// SPDX-License-Identifier: Apache-2.0
// Phases: what lies between barriers that are in no loop. CTAs that start together go through them in step, each unit
// of the GPU being asked for by all at once, or by none: loads of the first phase do not wait behind a unit that only
// the second one keeps busy.
#include "analyze/advice/rule.h"

#define IN_STEP 4.0  // waves of CTAs: with more, CTAs that were early start others while the late ones go on

static bool ends_phase(const CasePart *part, u32 pc) {
    return part->insns[pc].traits & TRAIT_BARRIER && part->insns[pc].loop == WL_NONE &&
           case_insn(part, pc)->guard == WL_NONE;
}

static bool comes_behind(const CasePart *part, u32 barrier, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    u32 a = flow->cfg->block_of[barrier], b = flow->cfg->block_of[pc];
    return a == b ? barrier < pc : dom_dominates(flow->dominators, a, b);
}

Status case_find_phases(AdviceCase *c) {
    f64 waves = c->view->occupancy.waves;
    CasePart *part = &c->parts[0];
    u32 count = part->view->insn_count;
    if (waves <= 0 || waves > IN_STEP) return STATUS_OK;
    u8 *phases = ARENA_ARRAY(c->scratch, u8, count + 1);
    if (!phases) return STATUS_NO_MEMORY;
    for (u32 barrier = 0; barrier < count; barrier++)
        for (u32 pc = 0; pc < count && ends_phase(part, barrier); pc++)
            if (phases[pc] < MOST_PHASES - 1 && comes_behind(part, barrier, pc)) phases[pc]++;
    part->phases = phases;
    return STATUS_OK;
}

static Resource busiest(const f64 use[RESOURCE_COUNT]) {
    Resource most = RESOURCE_LSU;
    if (use[RESOURCE_L2] > use[most]) most = RESOURCE_L2;
    if (use[RESOURCE_DRAM] > use[most]) most = RESOURCE_DRAM;
    return most;
}

void case_find_behind(AdviceCase *c) {
    const CasePart *part = &c->parts[0];
    c->behind = busiest(c->load.busy);
    if (c->gathers_l2 && c->load.busy[c->behind] < EXPLAINED) c->behind = RESOURCE_L2;
    for (u32 phase = 0; phase < MOST_PHASES; phase++) {
        f64 use[RESOURCE_COUNT] = {0};
        for (u32 pc = 0; pc < part->view->insn_count && part->phases; pc++)
            for (u32 r = RESOURCE_LSU; r <= RESOURCE_DRAM && part->phases[pc] == phase; r++)
                use[r] += part->insns[pc].use[r];
        c->behind_of[phase] = part->phases && !c->gathers_l2 ? busiest(use) : c->behind;
    }
}

Resource case_behind(const AdviceCase *c, const CasePart *part, u32 pc) {
    return part->phases ? c->behind_of[part->phases[pc]] : c->behind;
}
