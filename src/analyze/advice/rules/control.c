// SPDX-License-Identifier: Apache-2.0
// divergence: instructions that run with part of the lanes; branch-elimination: tests in a loop that hardly ever
// decide.
#include <math.h>

#include "analyze/advice/rule.h"

enum { WARP = 32 };
#define FEW_LANES 28.0  // on average; above, regrouping is not worth it
#define ONE_SIDED 0.9   // a branch that goes one way that often

// --- divergence ----------------------------------------------------------------------------------------------------
static f64 lanes_of(const AdviceCase *c, const CasePart *part, u32 pc) {
    MetricSet m;
    kernel_view_metrics(c->context->views, part->view, pc, &m);
    return m.value[METRIC_INST] > 0 ? m.value[METRIC_THREAD_INST] / m.value[METRIC_INST] : WARP;
}

static bool is_side(const FlowResults *flow, u32 block, u32 of) {
    return flow->cfg->blocks[of].pred_count == 1 && flow->postdominators->parent[block] != of;
}

// Without counts of lanes: when both sides of a branch run nearly as often as the branch, most warps go both ways, and
// on average each way has half of the lanes.
static f64 part_of_side(const CasePart *part, u32 block) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    f64 sides = 0, all = block_runs(part, block);
    u32 count = 0;
    for (u32 i = 0; i < b->succ_count; i++) {
        u32 to = flow->cfg->edges[b->succs + i];
        if (!is_side(flow, block, to)) continue;
        sides += fmin(block_runs(part, to), all);
        count++;
    }
    return count >= 2 && all > 0 && sides > all ? all / sides : 1;
}

// The part that goes from `block` to `below`, which it dominates directly.
static f64 part_of_way(const AdviceCase *c, const CasePart *part, u32 block, u32 below) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    u32 branch = b->first + b->count - 1;
    bool parts = b->count && bitset_has(&flow->divergence->branches, branch);
    if (!parts || !is_side(flow, block, below)) return 1;
    const FlowInsn *in = case_insn(part, branch);
    bool taken = in->kind == FLOW_BRANCH && in->target_count == 1 &&
                 flow->code->targets[in->targets] == flow->cfg->blocks[below].first;
    f64 lanes = in->kind == FLOW_SWITCH ? 0 : lanes_of_way(c, part, branch, taken) / WARP;
    return lanes > 0 ? lanes : part_of_side(part, block);
}

// By block, of the lanes that come to its direct dominator, those that come to it; NULL where lanes were counted.
static const f64 *find_ways(AdviceCase *c, const CasePart *part) {
    const FlowResults *flow = &part->view->flow;
    f64 *ways = part->view->executed ? NULL : ARENA_ARRAY(c->scratch, f64, flow->cfg->block_count + 1);
    if (!ways && !part->view->executed) c->status = STATUS_NO_MEMORY;
    for (u32 b = 0; ways && b < flow->cfg->block_count; b++) {
        u32 parent = flow->dominators->parent[b];
        bool partial = bitset_has(&flow->divergence->partial, b);
        ways[b] = parent != WL_NONE && partial ? part_of_way(c, part, parent, b) : 1;
    }
    return ways;
}

static f64 lanes_guessed(const CasePart *part, const f64 *ways, u32 block) {
    f64 lanes = WARP;
    for (u32 b = block; b != WL_NONE; b = part->view->flow.dominators->parent[b]) lanes *= ways[b];
    return lanes;
}

static bool is_uneven_end(const AdviceCase *c, f64 lanes) {  // CTAs that are no multiple of a warp
    const ProfileLaunch *l = c->view->launches.typical;
    u32 threads = l ? l->block[0] * l->block[1] * l->block[2] : 0;
    return threads % WARP != 0 && lanes >= threads % WARP && threads < WARP;
}

typedef struct Parting {
    const CasePart *part;  // of the hottest such block
    const f64 *ways;       // of the part that is looked at
    u32 pc, branch;
    f64 most, fraction;
    f64 lanes, issued;
} Parting;

// Of the warps that run the block, those that would have to even if its lanes were gathered: one of each CTA that comes
// to the branch before it.
static f64 least_part(const AdviceCase *c, const CasePart *part, u32 block) {
    const FlowResults *flow = &part->view->flow;
    u32 below = block, warps = c->view->occupancy.warps_per_cta;
    for (u32 b = flow->dominators->parent[block]; b != WL_NONE; below = b, b = flow->dominators->parent[b]) {
        const FlowBlock *at = &flow->cfg->blocks[b];
        f64 runs = block_runs(part, below);
        if (!at->count || !bitset_has(&flow->divergence->branches, at->first + at->count - 1)) continue;
        return warps && runs > 0 ? fmin(block_runs(part, b) / warps / runs, 1) : 0;
    }
    return 0;
}

// Gathered lanes access what they accessed before: the L1 has as much to do. Where both ways are taken, of one way's
// loads and the other's the first fetch what both need; where there is but one, fewer warps wait for it.
static void gather_lanes(Hit *hit, const CasePart *part, u32 pc, f64 fraction, bool one_way) {
    const CaseAccess *a = case_access(part, pc);
    bool fetches = a && a->load && access_is_global(a) && !one_way;
    hit_blamed(hit, part, pc, fetches ? ~STALL_BIT(LONG_SCOREBOARD) : UINT32_MAX, fraction);
    hit_unissue(hit, part, pc, fraction);
    if (!a) return;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) hit_relieve(hit, (Resource)r, -part->insns[pc].use[r] * fraction);
}

#define MOST_OF_IT 0.7  // of what is issued, that comes behind the test
#define PARTED 0.8      // of the lanes that come to a branch: fewer go on together

// Whether the branch at the end of `block` is where lanes of the block below it, which it dominates, leave the others.
static bool parts_lanes(const AdviceCase *c, const CasePart *part, const f64 *ways, u32 block, u32 below, f64 lanes) {
    const FlowResults *flow = &part->view->flow;
    if (part->view->executed) return lanes < PARTED * lanes_of(c, part, flow->cfg->blocks[block].first);
    return ways[below] < PARTED;
}

// The branch after which the lanes of the block run alone.
static u32 parting_branch(const AdviceCase *c, const CasePart *part, const f64 *ways, u32 block) {
    const FlowResults *flow = &part->view->flow;
    u32 below = block, nearest = WL_NONE;
    f64 lanes = part->view->executed ? lanes_of(c, part, flow->cfg->blocks[block].first) : 0;
    for (u32 b = flow->dominators->parent[block]; b != WL_NONE; below = b, b = flow->dominators->parent[b]) {
        const FlowBlock *at = &flow->cfg->blocks[b];
        u32 last = at->first + at->count - 1;
        if (!at->count || !bitset_has(&flow->divergence->branches, last)) continue;
        if (parts_lanes(c, part, ways, b, below, lanes)) return last;
        if (nearest == WL_NONE) nearest = last;
    }
    return nearest;
}

// An `if` without an `else`: who does not take it only waits.
static bool has_one_way(const CasePart *part, u32 branch) {
    const FlowResults *flow = &part->view->flow;
    u32 block = flow->cfg->block_of[branch], ways = 0;
    const FlowBlock *b = &flow->cfg->blocks[block];
    for (u32 i = 0; i < b->succ_count; i++) ways += is_side(flow, block, flow->cfg->edges[b->succs + i]);
    return ways == 1;
}

static void add_block(Hit *hit, const CasePart *part, u32 block, Parting *d) {
    const FlowBlock *b = &part->view->flow.cfg->blocks[block];
    const AdviceCase *c = hit->c;
    bool partial = bitset_has(&part->view->flow.divergence->partial, block);
    if (!b->reachable || !partial) return;
    f64 lanes = d->ways ? lanes_guessed(part, d->ways, block) : lanes_of(c, part, b->first);
    if (lanes >= FEW_LANES || is_uneven_end(c, lanes)) return;
    f64 fraction = 1 - fmax(lanes / WARP, least_part(c, part, block)), issued = 0;
    if (fraction <= 0) return;
    u32 branch = parting_branch(c, part, d->ways, block);
    for (u32 pc = b->first; pc < b->first + b->count; pc++) {
        gather_lanes(hit, part, pc, fraction, branch != WL_NONE && has_one_way(part, branch));
        issued += part->insns[pc].issued;
    }
    d->issued += issued;
    d->lanes += issued * lanes;
    if (issued * fraction <= d->most) return;
    d->most = issued * fraction;
    d->fraction = fraction;
    d->part = part;
    d->pc = b->first;
    d->branch = branch;
}

// Where a thread that does not pass the test ends: nothing but an exit is left.
static bool ends_behind(const CasePart *part, u32 branch) {
    const FlowResults *flow = &part->view->flow;
    u32 meet = flow->postdominators->parent[flow->cfg->block_of[branch]];
    if (part->insns[branch].loop != WL_NONE) return false;
    return meet == WL_NONE || case_insn(part, flow->cfg->blocks[meet].first)->kind == FLOW_EXIT;
}

// Threads that the test leaves without work need not be launched: what they do before it goes as well, and CTAs.
static void remove_threads(Hit *hit, const Parting *d) {
    const AdviceCase *c = hit->c;
    const FlowResults *flow = &d->part->view->flow;
    if (d->branch == WL_NONE || d->issued < MOST_OF_IT * c->load.issued || !has_one_way(d->part, d->branch) ||
        !ends_behind(d->part, d->branch))
        return;
    for (u32 pc = 0; pc <= d->branch; pc++)
        if (!bitset_has(&flow->divergence->partial, flow->cfg->block_of[pc]))
            gather_lanes(hit, d->part, pc, d->fraction, true);
    hit_relieve(hit, RESOURCE_LAUNCH, c->load.busy[RESOURCE_LAUNCH] * d->fraction);
    hit_fact(hit, "idle_threads", 100 * d->fraction, "%", "%.0f %% of the threads have nothing to do: launch fewer",
             100 * d->fraction);
}

void rule_divergence(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    Parting d = {0};
    for (u32 p = 0; p < c->part_count; p++) {
        d.ways = find_ways(c, &c->parts[p]);
        for (u32 b = 0; b < c->parts[p].view->flow.cfg->block_count && c->status == STATUS_OK; b++)
            add_block(hit, &c->parts[p], b, &d);
    }
    if (!d.part || d.issued <= 0) return hit_drop(hit);
    u32 branch = d.branch == WL_NONE ? d.pc : d.branch;
    remove_threads(hit, &d);
    hit_fact(hit, "smsp__thread_inst_executed_per_inst_executed.ratio", d.lanes / d.issued, "lanes",
             "%.0f %% of what is issued runs with part of the lanes, %.1f of 32 on average",
             100 * d.issued / c->load.issued, d.lanes / d.issued);
    hit->doubtful = !d.part->view->executed;
    const char *place = place_text(c, d.part, branch);
    if (has_one_way(d.part, branch))
        hit_end_line(hit, d.part, branch, "Give all lanes of a warp work behind the test at %s", place);
    else
        hit_end_line(hit, d.part, branch, "Let the lanes of a warp go the same way at %s", place);
}

// --- branch-elimination --------------------------------------------------------------------------------------------
// A branch within a loop that goes the same way nearly always, but does not leave the loop or end it.
static bool hardly_decides(const CasePart *part, u32 block, u32 branch) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    u32 loop = flow->loops->loop_of[block];
    f64 all = block_runs(part, block);
    if (case_insn(part, branch)->kind != FLOW_BRANCH || case_insn(part, branch)->guard == WL_NONE) return false;
    if (loop == WL_NONE || b->succ_count != 2 || all <= 0) return false;
    f64 most = 0;
    for (u32 i = 0; i < 2; i++) {
        u32 to = flow->cfg->edges[b->succs + i];
        if (!flow_loop_has(flow->loops, loop, to) || to == flow->loops->loops[loop].header) return false;
        if (flow->cfg->blocks[to].pred_count == 1) most = fmax(most, block_runs(part, to));
    }
    return most >= ONE_SIDED * all;
}

enum { TEST_DEPTH = 5 /* instructions from the first comparison to what is guarded */, TEST_LINES = 32 };

typedef struct Tests {  // instructions that only test, and one of each of their lines
    const CasePart *part;
    u32 loop;
    Bitset found;
    u32 lines[TEST_LINES], line_count;
    bool of_lines;  // only what belongs to them
} Tests;

static bool defines_predicate(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    const FlowOperand *first = &code->operands[in->operands];
    return in->defs && first->kind == FLOW_VALUE && code->value_bits[first->id] == 1;
}

static bool has_line_of(const Tests *t, u32 pc) {
    for (u32 i = 0; i < t->line_count; i++)
        if (same_line(t->part, t->lines[i], pc)) return true;
    return false;
}

// What the test is made of, if it is for nothing else: predicates, and comparisons with what they compare computed for
// them alone.
static void find_test(Tests *t, u32 node, u32 depth) {
    const CasePart *part = t->part;
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE || chains->nodes[node].insn == WL_NONE) return;
    u32 pc = chains->nodes[node].insn;
    bool alone = chains->first_user[node + 1] - chains->first_user[node] <= 1 || defines_predicate(part, pc);
    bool fits = alone && loop_has(part, t->loop, pc) && part->insns[pc].traits & TRAIT_ARITHMETIC;
    if (t->of_lines) fits &= defines_predicate(part, pc) || has_line_of(t, pc);
    if (!fits || bitset_has(&t->found, pc)) return;
    bitset_add(&t->found, pc);
    if (!t->of_lines && part->view->places[pc].line && t->line_count < TEST_LINES && !has_line_of(t, pc))
        t->lines[t->line_count++] = pc;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses && depth > 1; u++)
        find_test(t, chains->of_operand[in->operands + in->defs + u], depth - 1);
    find_test(t, chains->of_guard[pc], depth - 1);
}

// Whether what guards the instruction is computed in a line that the tests found so far belong to.
static bool is_guarded_by_line(const Tests *t, u32 node, u32 depth) {
    const Chains *chains = t->part->view->flow.chains;
    if (node == WL_NONE || chains->nodes[node].insn == WL_NONE) return false;
    u32 pc = chains->nodes[node].insn;
    const FlowInsn *in = case_insn(t->part, pc);
    if (!loop_has(t->part, t->loop, pc) || !defines_predicate(t->part, pc)) return false;
    if (t->part->view->places[pc].line && has_line_of(t, pc)) return true;
    for (u32 u = 0; u < in->uses && depth > 1; u++)
        if (is_guarded_by_line(t, chains->of_operand[in->operands + in->defs + u], depth - 1)) return true;
    return false;
}

// The compiler makes of the same test in another copy of the loop's body a guard instead of a branch.
static void find_guards(Tests *t) {
    const Chains *chains = t->part->view->flow.chains;
    t->of_lines = true;
    for (u32 pc = 0; pc < t->part->view->insn_count; pc++) {
        bool guarded = case_insn(t->part, pc)->kind == FLOW_PLAIN && chains->of_guard[pc] != WL_NONE;
        if (guarded && loop_has(t->part, t->loop, pc) && is_guarded_by_line(t, chains->of_guard[pc], TEST_DEPTH))
            find_test(t, chains->of_guard[pc], TEST_DEPTH);
    }
}

static u32 outermost(const CasePart *part, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    while (loops->loops[loop].parent != WL_NONE) loop = loops->loops[loop].parent;
    return loop;
}

static void look_at_nest(AdviceCase *c, const CasePart *part, u32 nest) {
    const FlowResults *flow = &part->view->flow;
    u32 count = 0, at = 0;
    f64 most = 0;
    Tests t = {.part = part, .loop = nest};
    if (!bitset_init(&t.found, c->scratch, part->view->insn_count)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    Hit *hit = hit_begin(c);
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        const FlowBlock *block = &flow->cfg->blocks[b];
        u32 branch = block->first + block->count - 1, loop = flow->loops->loop_of[b];
        if (loop == WL_NONE || outermost(part, loop) != nest || !block->count || !hardly_decides(part, b, branch))
            continue;
        bitset_add(&t.found, branch);
        find_test(&t, flow->chains->of_guard[branch], TEST_DEPTH);
        count++;
        if (part->insns[branch].issued > most) most = part->insns[branch].issued, at = branch;
    }
    if (!count || most <= 0) return hit_drop(hit);
    find_guards(&t);
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (bitset_has(&t.found, pc)) hit_remove(hit, part, pc, 1);
    hit_fact(hit, "one_sided_branches", count, "branches",
             "%u branches in the loop go the same way in more than nine of ten turns", count);
    hit_fact(hit, "test_issue_share", 100 * hit->change.issues / c->load.issued, "%",
             "%.0f %% of what is issued only tests", 100 * hit->change.issues / c->load.issued);
    hit->change.scope_active = part->loops[nest].active;
    for (u32 i = 0; i < part->access_count; i++) {
        u32 pc = part->accesses[i].pc;
        if (loop_has(part, nest, pc) && part->accesses[i].load)
            hit_overlapped(hit, part, pc, UINT32_MAX, part->insns[pc].loop, 1);
    }
    hit_basis(hit, "equation 2 over the tests, equation 5 over the loads that no longer wait for them");
    hit_end_line(hit, part, at, "Take the test at %s out of the loop", place_text(c, part, at));
}

void rule_branch_elimination(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++)
            if (c->parts[p].loops[l].active > 0 && outermost(&c->parts[p], l) == l) look_at_nest(c, &c->parts[p], l);
}
