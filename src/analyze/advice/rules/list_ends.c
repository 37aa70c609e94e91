// SPDX-License-Identifier: Apache-2.0
// The part of branch-elimination that is about lists whose end a thread looks for element by element, unrolled: each
// load waits for the test of the one before, although where it goes is known. Who loads all of them first waits once.
#include "analyze/advice/rule.h"

enum { TEST_DEPTH = 4 /* instructions from a load to a branch */, LEAST_TESTS = 4, MOST_TESTS = 64 };
#define TO_THE_END 0.7  // of the warps that make the first test make the last one, too
#define WORTH_IT 0.02   // of the samples

typedef struct ListEnd {
    const CasePart *part;
    u32 to;  // the block to which all tests lead that find the end
    u32 branches[MOST_TESTS], loads[MOST_TESTS], count;
} ListEnd;

// The load of global memory that a value is made of; WL_NONE: it is made of none.
static u32 load_of(const CasePart *part, u32 node, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    u32 pc = node == WL_NONE ? WL_NONE : chains->nodes[node].insn;
    if (pc == WL_NONE || !depth) return WL_NONE;
    const CaseAccess *a = case_access(part, pc);
    if (a) return a->load && !a->atomic && access_is_global(a) ? pc : WL_NONE;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses; u++) {
        u32 load = load_of(part, chains->of_operand[in->operands + in->defs + u], depth - 1);
        if (load != WL_NONE) return load;
    }
    return WL_NONE;
}

static bool place_is_known(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    if (in->address_use == 0xff) return false;
    u32 node = part->view->flow.chains->of_operand[in->operands + in->defs + in->address_use];
    return !node_is_loaded(part, node, LOADED_STEPS);
}

// The block that the branch at the end of a block jumps to, ahead; WL_NONE: there is no such branch.
static u32 jumps_to(const CasePart *part, u32 block) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    u32 branch = b->first + b->count - 1;
    if (!b->count || b->succ_count != 2 || case_insn(part, branch)->guard == WL_NONE) return WL_NONE;
    for (u32 i = 0; i < 2; i++) {
        u32 to = flow->cfg->edges[b->succs + i];
        if (flow->cfg->blocks[to].first > branch + 1) return to;
    }
    return WL_NONE;
}

static void find_tests(ListEnd *list) {
    const CasePart *part = list->part;
    const FlowResults *flow = &part->view->flow;
    for (u32 b = 0; b < flow->cfg->block_count && list->count < MOST_TESTS; b++) {
        u32 branch = flow->cfg->blocks[b].first + flow->cfg->blocks[b].count - 1;
        if (jumps_to(part, b) != list->to) continue;
        u32 load = load_of(part, flow->chains->of_guard[branch], TEST_DEPTH);
        u32 before = list->count ? list->branches[list->count - 1] : WL_NONE;
        bool links = load != WL_NONE && place_is_known(part, load) &&
                     (before == WL_NONE || (same_line(part, branch, before) && load > before));
        if (!links) continue;
        list->branches[list->count] = branch;
        list->loads[list->count++] = load;
    }
}

static bool goes_to_the_end(const ListEnd *list) {
    const CasePart *part = list->part;
    const u32 *block_of = part->view->flow.cfg->block_of;
    f64 first = block_runs(part, block_of[list->branches[0]]),
        last = block_runs(part, block_of[list->branches[list->count - 1]]);
    return first > 0 && last >= TO_THE_END * first;
}

static void load_first(AdviceCase *c, const ListEnd *list) {
    const CasePart *part = list->part;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_list_ends);
    for (u32 i = 0; i < list->count; i++) {
        hit_blamed(hit, part, list->loads[i], STALL_BIT(LONG_SCOREBOARD), 1 - 1.0 / list->count);
        hit_remove(hit, part, list->branches[i], 1);
    }
    f64 share = case_share(c, hit->change.stalls);
    if (share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "tests_for_the_end", list->count, "tests",
             "%u loads wait for a test of what the one before has brought, although it is known where they go",
             list->count);
    hit_fact(hit, "link_wait_share", 100 * share, "%", "%.0f %% of the samples wait for them", 100 * share);
    hit_basis(hit, "equation 2: loads of all elements under way at once");
    hit_caution(hit, "what lies behind the end is loaded, too: it has to be there, and to count as nothing");
    hit_end_line(hit, part, list->branches[0],
                 "Load all elements before the tests for the end at %s, and select instead of branching",
                 place_text(c, part, list->branches[0]));
}

void load_to_the_end(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 b = 0; b < part->view->flow.cfg->block_count && c->status == STATUS_OK; b++) {
            ListEnd list = {.part = part, .to = b};
            if (part->view->flow.cfg->blocks[b].pred_count < LEAST_TESTS) continue;
            find_tests(&list);
            if (list.count >= LEAST_TESTS && goes_to_the_end(&list)) load_first(c, &list);
        }
    }
}
