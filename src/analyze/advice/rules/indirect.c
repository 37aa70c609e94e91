// SPDX-License-Identifier: Apache-2.0
// indirect-addressing: a pointer, or where a row or a block begins, is loaded, and waited for, before the data it leads
// to can be.
#include "analyze/advice/rule.h"

enum {
    POINTER = 8,
    PLACE = 4,
    WARP = 32,
    TRIALS = 4,
    SHARED_BY = 4 /* lanes for each place: what each lane looks up for itself is data */
};

static bool is_base_of_access(const CasePart *part, u32 pc, u32 from) {
    const FlowInsn *in = case_insn(part, pc);
    const CaseAccess *a = case_access(part, pc);
    if (!a || a->space == SPACE_LOCAL || in->address_use == 0xff) return false;
    // Its address, not what is stored: the source itself or sums of it.
    const Chains *chains = part->view->flow.chains;
    u32 node = chains->of_operand[in->operands + in->defs + in->address_use];
    return node != WL_NONE && chains->nodes[node].insn == from;
}

static bool is_pointer_load(const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && a->bytes % POINTER == 0 && a->bytes && a->requests > 0 &&
           (access_is_global(a) || access_is_shared(a)) && insn_feeds(part, a->pc, 3, is_base_of_access);
}

static bool compares(const CasePart *part, u32 pc, u32 from) {
    (void)from;
    return case_insn(part, pc)->arith == FLOW_COMPARE;
}

// Neighbouring lanes load the same word.
static bool lanes_share(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    const ProfileLaunch *l = c->view->launches.typical;
    u32 warps = l ? (l->block[0] * l->block[1] * l->block[2] + WARP - 1) / WARP : 0;
    if (a->uniform) return true;
    for (u32 trial = 0; trial < TRIALS; trial++) {
        i64 offsets[WARP];
        u32 words = 1;
        if (!warps || !lanes_of_address(c, part, a->pc, trial, trial % warps, offsets)) return false;
        for (u32 lane = 1; lane < WARP; lane++) words += offsets[lane] != offsets[lane - 1];
        if (words * SHARED_BY > WARP) return false;
    }
    return true;
}

// A number that many lanes have in common and that leads to an element of another array. What loops end with is the
// length of something besides: data.
static bool is_place_load(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && a->bytes == PLACE && a->requests > 0 && access_is_global(a) &&
           !access_is_written(part, a) && insn_feeds(part, a->pc, LOADED_STEPS, is_base_of_access) &&
           !insn_feeds(part, a->pc, LOADED_STEPS, compares) && lanes_share(c, part, a);
}

void rule_indirect_addressing(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = NULL;
    u32 at = 0, count = 0, places = 0;
    f64 most = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            u32 pc = part->accesses[i].pc;
            f64 weight = part->insns[pc].issued + part->insns[pc].blamed;
            bool pointer = is_pointer_load(part, &part->accesses[i]);
            if (!pointer && !is_place_load(c, part, &part->accesses[i])) continue;
            places += !pointer;
            hit_blamed(hit, part, pc, UINT32_MAX, 1);  // an instruction that computes takes its place
            for (u32 r = 0; r < RESOURCE_COUNT; r++) hit_relieve(hit, (Resource)r, part->insns[pc].use[r]);
            hit_edit(hit, EDIT_FREE, part, pc, 1);
            count++;
            if (weight > most) most = weight, where = part, at = pc;
        }
    }
    if (!where) return hit_drop(hit);
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "pointer_loads", count, "instructions", "%s that the next access needs are fetched by %u load%s",
             places ? "places" : "pointers", count, plural(count));
    if (places) hit_caution(hit, "only where what is loaded could be computed: where rows of equal length begin, say");
    hit->doubtful = places > 0;
    hit_fact(hit, "pointer_wait_share", share, "%", "%.0f %% of the samples wait for them", share);
    hit_end_line(hit, where, at, "Compute the address at %s instead of loading it", place_text(c, where, at));
}
