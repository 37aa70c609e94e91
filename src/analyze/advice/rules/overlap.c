// SPDX-License-Identifier: Apache-2.0
// code-reordering, async-copy: loads that are waited for right after they start. What the loop does besides waiting for
// them could go on meanwhile, other waits included: equation 5 with that as the active part.
#include "analyze/advice/rule.h"

#define LOAD_WAITS (STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(BARRIER))
enum { FAR = 64 };  // instructions between a load and its use; from there on it was issued early enough

static bool is_shared_store(const CasePart *part, u32 pc, u32 from) {
    const CaseAccess *a = case_access(part, pc);
    const FlowInsn *in = case_insn(part, pc);
    (void)from;
    return a && a->store && !a->load && access_is_shared(a) && in->is_store;
}

static bool goes_to_shared(const CasePart *part, u32 pc) { return insn_feeds(part, pc, 1, is_shared_store); }

// Its address needs nothing that is loaded in the loop.
static bool known_ahead(const CasePart *part, const CaseAccess *a, u32 loop) {
    i64 step;
    return a->affine && affine_step(part->view->flow.affine, a->affine->form, loop, &step) != AFFINE_STRIDE_UNKNOWN;
}

static bool is_candidate(const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && access_is_global(a) && a->requests > 0 &&
           !(part->insns[a->pc].traits & TRAIT_ASYNC) && part->insns[a->pc].loop != WL_NONE;
}

static f64 loop_samples(const CasePart *part, u32 loop) { return part->loops[loop].active + part->loops[loop].stalled; }

// --- async-copy ----------------------------------------------------------------------------------------------------
static bool has_async(const AdviceCase *c) { return !c->gpu || c->gpu->sm_version >= 80; }

static void remove_store(Hit *hit, const CasePart *part, u32 load) {
    const FlowInsn *in = case_insn(part, load);
    const Chains *chains = part->view->flow.chains;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        if (node == WL_NONE) continue;
        for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
            u32 user = chains->users[i].insn;
            if (user != WL_NONE && is_shared_store(part, user, load)) hit_unissue(hit, part, user, 1.0 / in->defs);
        }
    }
}

// The innermost loop around the load that also waits at a barrier; without one there is nothing to overlap with.
static u32 loop_with_barrier(const CasePart *part, u32 pc) {
    const Loops *loops = part->view->flow.loops;
    for (u32 l = part->insns[pc].loop; l != WL_NONE; l = loops->loops[l].parent)
        if (part->loops[l].has_barrier) return l;
    return WL_NONE;
}

static void copy_ahead(AdviceCase *c, const CasePart *part, u32 loop) {
    Hit *hit = hit_begin(c);
    u32 loads = 0, at = 0;
    f64 most = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_candidate(part, a) || loop_with_barrier(part, a->pc) != loop || !goes_to_shared(part, a->pc)) continue;
        if (!known_ahead(part, a, loop)) continue;
        f64 waits = hit_blamed(hit, part, a->pc, LOAD_WAITS, 1);
        remove_store(hit, part, a->pc);
        loads++;
        if (waits >= most) most = waits, at = a->pc;
    }
    if (!loads || most <= 0) return hit_drop(hit);
    hit->change.hidden = hit->change.stalls;
    hit->change.stalls = 0;
    hit->change.scope_active = loop_samples(part, loop) - hit->change.hidden;
    f64 share = 100 * case_share(c, hit->change.hidden);
    hit_fact(hit, "copy_wait_share", share, "%",
             "%.0f %% of the samples wait for %u loads that only go to shared memory", share, loads);
    hit_basis(hit, "equation 5 over %.0f %% of the samples, the rest of the loop being the active part", share);
    hit_caution(hit, "a second buffer takes shared memory: check that the occupancy stays");
    hit_end_loop(hit, part, loop, "Copy the tile at %s asynchronously, one turn ahead", place_text(c, part, at));
}

void rule_async_copy(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count && has_async(c); p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++)
            if (c->parts[p].loops[l].has_barrier && c->parts[p].loops[l].active > 0) copy_ahead(c, &c->parts[p], l);
}

// --- code-reordering -----------------------------------------------------------------------------------------------
static u32 nearest_use(const CasePart *part, u32 pc) {
    u32 least = UINT32_MAX;
    for (u32 i = part->first_blaming[pc]; i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *e = &part->blame->edges[part->blaming[i]];
        if (e->use != pc && e->distance < least) least = e->distance;
    }
    return least;
}

static void load_earlier(AdviceCase *c, const CasePart *part, u32 loop) {
    Hit *hit = hit_begin(c);
    u32 at = 0, distance = 0;
    f64 most = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        u32 near = nearest_use(part, a->pc);
        if (!is_candidate(part, a) || part->insns[a->pc].loop != loop || near > FAR || !known_ahead(part, a, loop))
            continue;
        if (goes_to_shared(part, a->pc)) continue;
        f64 waits = hit_blamed(hit, part, a->pc, LOAD_WAITS, 1);
        if (waits > most) most = waits, at = a->pc, distance = near;
    }
    if (most <= 0) return hit_drop(hit);
    hit->change.hidden = hit->change.stalls;
    hit->change.stalls = 0;
    hit->change.scope_active = loop_samples(part, loop) - hit->change.hidden;
    hit_fact(hit, "load_to_use_distance", distance, "instructions",
             "the load at %s is waited for %u instructions after its start", place_text(c, part, at), distance);
    f64 share = 100 * case_share(c, hit->change.hidden);
    hit_fact(hit, "load_wait_share", share, "%", "%.0f %% of the samples wait for it and others like it", share);
    hit_basis(hit, "equation 5 over %.0f %% of the samples, the rest of the loop being the active part", share);
    hit_end_loop(hit, part, loop, "Start the load at %s earlier, ahead of the %s", place_text(c, part, at),
                 part->loops[loop].has_barrier ? "barrier" : "work that does not need it");
}

// Where unrolling is possible the compiler moves loads by itself; barriers, calls and stores keep them in place.
void rule_code_reordering(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++)
            if (c->parts[p].loops[l].active > 0) load_earlier(c, &c->parts[p], l);
}
