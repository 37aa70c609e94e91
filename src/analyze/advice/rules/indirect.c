// SPDX-License-Identifier: Apache-2.0
// indirect-addressing: a pointer is loaded, and waited for, before the data it points to can be.
#include "analyze/advice/rule.h"

enum { POINTER = 8 };

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

void rule_indirect_addressing(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = NULL;
    u32 at = 0, count = 0;
    f64 most = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            u32 pc = part->accesses[i].pc;
            f64 weight = part->insns[pc].issued + part->insns[pc].blamed;
            if (!is_pointer_load(part, &part->accesses[i])) continue;
            hit_blamed(hit, part, pc, UINT32_MAX, 1);  // an instruction that computes takes its place
            for (u32 r = 0; r < RESOURCE_COUNT; r++) hit_relieve(hit, (Resource)r, part->insns[pc].use[r]);
            hit_edit(hit, EDIT_FREE, part, pc, 1);
            count++;
            if (weight > most) most = weight, where = part, at = pc;
        }
    }
    if (!where) return hit_drop(hit);
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "pointer_loads", count, "instructions",
             "pointers that the next access needs are fetched by %u load%s", count, plural(count));
    hit_fact(hit, "pointer_wait_share", share, "%", "%.0f %% of the samples wait for them", share);
    hit_end_line(hit, where, at, "Compute the address at %s instead of loading it", place_text(c, where, at));
}
