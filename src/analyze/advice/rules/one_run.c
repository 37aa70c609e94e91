// SPDX-License-Identifier: Apache-2.0
// The part of branch-elimination that is about a loop whose turns do something only where a test of the turn's number
// lets them: a ray's steps within a cube, the columns up to the diagonal, the taps within a window. What is compared
// grows by as much in each turn, so that those let in are one run of turns; the loop can go from the first to the last
// of them, and needs no test. How many they are follows from the launch's arguments.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum { LEAST_TURNS = 8 /* of fewer, compilers make a sequence */, TEST_DEPTH = 12 };
#define MOST_LET_IN 0.9  // more: the test hardly decides (branches.c)
#define WORTH_IT 0.05    // of the samples

// Waits for what is not asked for where the test fails.
#define OF_MEMORY                                                                                                  \
    (STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(SHORT_SCOREBOARD) | STALL_BIT(LG_THROTTLE) | STALL_BIT(MIO_THROTTLE) | \
     STALL_BIT(TEX_THROTTLE))

typedef struct Bounded {
    const CasePart *part;
    u32 loop;
    Bitset guards;  // nodes that decide in the loop about an access
    Bitset tests;   // instructions that only test, or that only the test keeps in the loop
    f64 let_in;     // part of the turns
} Bounded;

static bool is_access(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return (in->is_load && in->space != SPACE_CONST) || in->is_store || in->is_atomic;
}

// Adds a test that is made in the loop; the same for all turns is another matter.
static void add_test(const Bounded *b, u32 node, bool wanted, LaneTest *tests, u32 *count) {
    const Chains *chains = b->part->view->flow.chains;
    if (node == WL_NONE || *count == MOST_LANE_TESTS || chains->nodes[node].insn == WL_NONE) return;
    if (loop_has(b->part, b->loop, chains->nodes[node].insn)) tests[(*count)++] = (LaneTest){node, wanted};
}

// The tests that the instruction is behind in a turn: its own guard, and branches of which its block is on one side.
static u32 tests_before(const Bounded *b, u32 pc, LaneTest *tests) {
    const FlowResults *flow = &b->part->view->flow;
    const Cfg *cfg = flow->cfg;
    u32 count = 0;
    add_test(b, flow->chains->of_guard[pc], !case_insn(b->part, pc)->guard_negated, tests, &count);
    for (u32 block = cfg->block_of[pc]; block != flow->loops->loops[b->loop].header;) {
        u32 above = flow->dominators->parent[block];
        if (above == WL_NONE || !flow_loop_has(flow->loops, b->loop, above)) break;
        u32 last = cfg->blocks[above].first + cfg->blocks[above].count - 1;
        const FlowInsn *in = case_insn(b->part, last);
        if (cfg->blocks[above].succ_count == 2 && cfg->blocks[block].pred_count == 1 && in->kind == FLOW_BRANCH) {
            bool taken = in->target_count == 1 && flow->code->targets[in->targets] == cfg->blocks[block].first;
            add_test(b, flow->chains->of_guard[last], taken != in->guard_negated, tests, &count);
        }
        block = above;
    }
    return count;
}

static bool is_on_way(const Bounded *b, u32 pc, bool *issued_anyway) {
    LaneTest tests[MOST_LANE_TESTS];
    u32 count = tests_before(b, pc, tests), own = b->part->view->flow.chains->of_guard[pc];
    bool on_way = false;
    *issued_anyway = true;
    for (u32 i = 0; i < count; i++) {
        if (!bitset_has(&b->guards, tests[i].node)) continue;
        on_way = true;
        *issued_anyway &= tests[i].node == own;
    }
    return on_way;
}

// --- whether turns that are not let in do nothing --------------------------------------------------------------------
// Whether the value stays what it was at the loop's begin where tests fail.
static bool may_stay(const Bounded *b, u32 node, u32 merge, u32 depth) {
    const Chains *chains = b->part->view->flow.chains;
    if (node == merge) return true;
    if (node == WL_NONE || !depth) return false;
    const ChainNode *n = &chains->nodes[node];
    if (n->insn != WL_NONE && case_insn(b->part, n->insn)->guard == WL_NONE) return false;
    for (u32 i = 0; i < n->arg_count; i++)
        if (may_stay(b, chains->args[n->args + i], merge, depth - 1)) return true;
    return false;
}

static bool only_counts(const Bounded *b, u32 merge) {
    const FlowResults *flow = &b->part->view->flow;
    const ChainNode *n = &flow->chains->nodes[merge];
    const FlowBlock *header = &flow->cfg->blocks[n->block];
    i64 step;
    if (affine_step(flow->affine, merge, b->loop, &step) != AFFINE_STRIDE_UNKNOWN) return true;
    for (u32 i = 0; i < header->pred_count && i < n->arg_count; i++) {
        bool back = flow_loop_has(flow->loops, b->loop, flow->cfg->edges[header->preds + i]);
        if (back && !may_stay(b, flow->chains->args[n->args + i], merge, TEST_DEPTH)) return false;
    }
    return true;
}

static bool does_nothing_else(const Bounded *b) {
    const FlowResults *flow = &b->part->view->flow;
    const CaseLoop *l = &b->part->loops[b->loop];
    bool anyway;
    if (l->has_barrier || l->has_call) return false;
    for (u32 pc = 0; pc < b->part->view->insn_count; pc++) {
        if (!loop_has(b->part, b->loop, pc)) continue;
        const FlowInsn *in = case_insn(b->part, pc);
        bool does = is_access(b->part, pc) || b->part->insns[pc].traits & TRAIT_SHUFFLE || in->polls;
        if (does && !is_on_way(b, pc, &anyway)) return false;
    }
    for (u32 n = flow->chains->def_count; n < flow->chains->node_count; n++)
        if (flow->chains->nodes[n].block == flow->loops->loops[b->loop].header && !only_counts(b, n)) return false;
    return true;
}

// --- the hit ---------------------------------------------------------------------------------------------------------
// Predicates, and comparisons with what they compare computed for them alone.
static void mark_test(Bounded *b, u32 node, u32 depth) {
    const FlowResults *flow = &b->part->view->flow;
    if (node == WL_NONE || !depth || flow->chains->nodes[node].insn == WL_NONE) return;
    u32 pc = flow->chains->nodes[node].insn;
    const FlowInsn *in = case_insn(b->part, pc);
    const FlowOperand *first = &flow->code->operands[in->operands];
    bool predicate = in->defs && first->kind == FLOW_VALUE && flow->code->value_bits[first->id] == 1;
    bool alone = flow->chains->first_user[node + 1] - flow->chains->first_user[node] <= 1;
    if (!loop_has(b->part, b->loop, pc) || bitset_has(&b->tests, pc) || !(predicate || alone)) return;
    if (!(b->part->insns[pc].traits & TRAIT_ARITHMETIC)) return;
    bitset_add(&b->tests, pc);
    for (u32 u = 0; u < in->uses; u++) mark_test(b, flow->chains->of_operand[in->operands + in->defs + u], depth - 1);
}

// The tests' branches, and guarded instructions that make the same in all turns: without the guard compilers have them
// before the loop.
static void mark_guarded(Bounded *b) {
    const CasePart *part = b->part;
    const FlowResults *flow = &part->view->flow;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const FlowInsn *in = case_insn(part, pc);
        u32 guard = flow->chains->of_guard[pc];
        bool same = guard != WL_NONE && bitset_has(&b->guards, guard) && loop_has(part, b->loop, pc);
        if (same && in->kind == FLOW_BRANCH) bitset_add(&b->tests, pc);
        if (!same || is_access(part, pc) || in->kind != FLOW_PLAIN || in->has_effects) continue;
        for (u32 u = 0; u < in->uses; u++) {
            u32 node = flow->chains->of_operand[in->operands + in->defs + u];
            u32 from = node == WL_NONE ? WL_NONE : flow->chains->nodes[node].insn;
            if (node == WL_NONE) continue;
            bool inside = flow_loop_has(flow->loops, b->loop, flow->chains->nodes[node].block);
            same &= !inside || (from != WL_NONE && bitset_has(&b->tests, from));
        }
        if (same) bitset_add(&b->tests, pc);
    }
}

// What is issued in all turns now is issued in those let in; tests are not. Memory is asked for in those as it was.
static void turn_less(Hit *hit, const Bounded *b) {
    const CasePart *part = b->part;
    f64 gone = 1 - b->let_in;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        bool anyway;
        if (!loop_has(part, b->loop, pc)) continue;
        bool on_way = is_on_way(b, pc, &anyway), tests = bitset_has(&b->tests, pc);
        f64 of_it = tests ? 1 : on_way && !anyway ? 0 : gone;
        if (of_it <= 0) continue;
        hit_stalled(hit, part, pc, on_way && !tests ? ~(u32)OF_MEMORY : UINT32_MAX, of_it);
        hit_unissue(hit, part, pc, of_it);
        const CaseAccess *a = case_access(part, pc);
        for (u32 r = 0; a && r < RESOURCE_COUNT; r++) hit_relieve(hit, (Resource)r, -part->insns[pc].use[r] * of_it);
    }
}

static void say(AdviceCase *c, const Bounded *b, u32 turns) {
    const CasePart *part = b->part;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_one_run);
    turn_less(hit, b);
    if (case_share(c, hit->change.issues + hit->change.stalls) < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "turns_let_in", 100 * b->let_in, "%",
             "in %.0f %% of a warp's %u turns its test lets some lane in, as the launch's arguments say; they follow "
             "each other",
             100 * b->let_in, turns);
    hit_basis(hit, "equation 2 over the turns that the test lets no lane in, and over the test");
    hit_end_loop(hit, part, b->loop, "Turn the loop at %s only from the first turn to the last that its test lets in",
                 place_text(c, part, loop_line_pc(part, b->loop)));
}

// Of the turns those in which an access is made, on average of all accesses. Nodes of the tests become guards.
static bool find_tests(AdviceCase *c, Bounded *b, u32 turns) {
    const CasePart *part = b->part;
    f64 sum = 0;
    u32 count = 0, before = WL_NONE;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        LaneTest tests[MOST_LANE_TESTS];
        if (!loop_has(part, b->loop, pc) || !is_access(part, pc)) continue;
        u32 tested = tests_before(b, pc, tests);
        if (!tested) return false;
        if (tests[0].node == before) continue;  // behind the same as the one before
        before = tests[0].node;
        f64 let_in = lanes_let_in(c, part, b->loop, turns, tests, tested);
        if (let_in >= MOST_LET_IN) return false;
        for (u32 i = 0; i < tested; i++) bitset_add(&b->guards, tests[i].node), mark_test(b, tests[i].node, TEST_DEPTH);
        sum += let_in, count++;
    }
    b->let_in = count ? sum / count : 1;
    return count > 0;
}

static void look_at_loop(AdviceCase *c, const CasePart *part, u32 loop) {
    const CaseLoop *l = &part->loops[loop];
    Bounded b = {.part = part, .loop = loop};
    if (!l->innermost || l->trips < LEAST_TURNS || case_share(c, l->active + l->stalled) < WORTH_IT) return;
    if (!bitset_init(&b.guards, c->scratch, part->view->flow.chains->node_count + 1) ||
        !bitset_init(&b.tests, c->scratch, part->view->insn_count + 1)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    u32 turns = (u32)fmin(l->trips, INT32_MAX);
    if (!find_tests(c, &b, turns) || !does_nothing_else(&b)) return;
    mark_guarded(&b);
    say(c, &b, turns);
}

void bound_loops(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++) look_at_loop(c, &c->parts[p], l);
}
