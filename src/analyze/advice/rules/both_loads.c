// SPDX-License-Identifier: Apache-2.0
// The part of branch-elimination that is about a load behind a test of another one beside it, as a search has them that
// looks at an element and, where that is not too large, at the next. Who loads both and then selects waits once.
#include "analyze/advice/rule.h"

enum { TEST_DEPTH = 3 /* instructions from a load to a branch */, LINE = 128 /* bytes, that L1 and L2 look up */ };
#define WORTH_IT 0.02  // of the samples

typedef struct Both {
    const CasePart *part;
    u32 count, pc;
    f64 most;
} Both;

bool node_is_made_of(const CasePart *part, u32 node, u32 load, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    u32 pc = node == WL_NONE ? WL_NONE : chains->nodes[node].insn;
    if (pc == load) return node != WL_NONE;
    if (pc == WL_NONE || !depth || case_insn(part, pc)->is_load) return false;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses; u++)
        if (node_is_made_of(part, chains->of_operand[in->operands + in->defs + u], load, depth - 1)) return true;
    return false;
}

// The branch that parts lanes by the data of `first`, after which alone comes the block; WL_NONE: there is none.
static u32 branch_between(const CasePart *part, u32 first, u32 block) {
    const FlowResults *flow = &part->view->flow;
    u32 begin = flow->cfg->block_of[first];
    for (u32 b = flow->dominators->parent[block]; b != WL_NONE && block != begin; b = flow->dominators->parent[b]) {
        const FlowBlock *at = &flow->cfg->blocks[b];
        u32 branch = at->first + at->count - 1;
        bool parts = at->count && bitset_has(&flow->divergence->branches, branch);
        if (parts && node_is_made_of(part, flow->chains->of_guard[branch], first, TEST_DEPTH)) return branch;
        if (b == begin) break;
    }
    return WL_NONE;
}

bool access_is_beside(const CasePart *part, const CaseAccess *first, const CaseAccess *second) {
    i64 bytes;
    return first != second && access_distance(part, first, second, &bytes) && bytes && bytes < LINE && bytes > -LINE;
}

static bool is_searched(const CasePart *part, const CaseAccess *a) {
    u32 loop = part->insns[a->pc].loop;
    return a->load && !a->atomic && access_is_global(a) && a->requests > 0 && loop != WL_NONE &&
           part->loops[loop].innermost && !loop_spins(part, loop);
}

static void look_behind(Hit *hit, Both *both, const CaseAccess *second) {
    const CasePart *part = both->part;
    u32 block = part->view->flow.cfg->block_of[second->pc];
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *first = &part->accesses[i];
        if (!is_searched(part, first) || part->insns[first->pc].loop != part->insns[second->pc].loop) continue;
        u32 branch = access_is_beside(part, first, second) ? branch_between(part, first->pc, block) : WL_NONE;
        if (branch == WL_NONE) continue;
        f64 samples = hit_blamed(hit, part, second->pc, UINT32_MAX, 1);
        hit_remove(hit, part, branch, 1);
        if (samples > both->most) both->most = samples, both->pc = branch;
        both->count++;
        return;
    }
}

static void look_at(AdviceCase *c, const CasePart *part) {
    Both both = {.part = part};
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_both_loads);
    for (u32 i = 0; i < part->access_count; i++)
        if (is_searched(part, &part->accesses[i])) look_behind(hit, &both, &part->accesses[i]);
    f64 share = case_share(c, hit->change.stalls + hit->change.issues);
    if (share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "loads_behind_tests", both.count, "loads", "loads that wait for a test of the data beside theirs: %u",
             both.count);
    hit_fact(hit, "second_wait_share", 100 * share, "%", "%.0f %% of the samples wait for them", 100 * share);
    hit_end_line(hit, part, both.pc, "Load both values before the test at %s, and select instead of branching",
                 place_text(c, part, both.pc));
}

void load_both(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count && c->status == STATUS_OK; p++) look_at(c, &c->parts[p]);
}
