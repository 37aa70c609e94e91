// SPDX-License-Identifier: Apache-2.0
// divergence: instructions that run with part of the lanes.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum { WARP = 32 };
#define FEW_LANES 28.0  // on average; above, regrouping is not worth it

// --- divergence ----------------------------------------------------------------------------------------------------
static f64 lanes_of(const AdviceCase *c, const CasePart *part, u32 pc) {
    MetricSet m;
    kernel_view_metrics(c->context->views, part->view, pc, &m);
    return m.value[METRIC_INST] > 0 ? m.value[METRIC_THREAD_INST] / m.value[METRIC_INST] : WARP;
}

static bool is_side(const FlowResults *flow, u32 block, u32 of) {
    return flow->cfg->blocks[of].pred_count == 1 && flow->postdominators->parent[block] != of;
}

// Whether what the branch at the end of the block asks comes from memory.
static bool asks_data(const CasePart *part, u32 block) {
    const FlowBlock *b = &part->view->flow.cfg->blocks[block];
    u32 node = part->view->flow.chains->of_guard[b->first + b->count - 1];
    return node != WL_NONE && node_is_loaded(part, node, LOADED_STEPS);
}

// An `if` whose data lets nearly all warps in, but not all: where each lane is let in as likely as the others, so many
// are that a warp of 32 has none as seldom as was seen. What is seen is as sure as the samples of both blocks are many.
#define OFTEN_NONE 0.5  // of the warps: more are warps that go together
#define SURE 3.0        // standard deviations

static f64 samples_of(const CasePart *part, u32 block) {
    const FlowBlock *b = &part->view->flow.cfg->blocks[block];
    f64 all = 0;
    for (u32 pc = b->first; pc < b->first + b->count; pc++) all += part->insns[pc].issued;
    return all;
}

static f64 part_let_in(const CasePart *part, u32 block, u32 side) {
    f64 none = 1 - block_runs(part, side) / block_runs(part, block);
    f64 noise = sqrt(1 / fmax(samples_of(part, block), 1) + 1 / fmax(samples_of(part, side), 1));
    if (none < SURE * noise || none > OFTEN_NONE || !asks_data(part, block)) return 1;
    return 1 - pow(none, 1.0 / WARP);
}

// Without counts of lanes: when both sides of a branch run nearly as often as the branch, most warps go both ways, and
// on average each way has half of the lanes.
static f64 part_of_side(const CasePart *part, u32 block) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    f64 sides = 0, all = block_runs(part, block);
    u32 count = 0, side = WL_NONE;
    for (u32 i = 0; i < b->succ_count; i++) {
        u32 to = flow->cfg->edges[b->succs + i];
        if (!is_side(flow, block, to)) continue;
        sides += fmin(block_runs(part, to), all);
        side = to;
        count++;
    }
    if (count == 1 && all > 0 && part->insns[b->first].loop == WL_NONE) return part_let_in(part, block, side);
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
static bool parts_lanes(const AdviceCase *c, const CasePart *part, const f64 *ways, u32 block, u32 below) {
    const FlowBlock *blocks = part->view->flow.cfg->blocks;
    if (!part->view->executed) return ways[below] < PARTED;
    return lanes_of(c, part, blocks[below].first) < PARTED * lanes_of(c, part, blocks[block].first);
}

// Of a loop whose header is `header`, the branch by which lanes leave it that others stay in; WL_NONE: there is none.
static u32 leaving_branch(const CasePart *part, u32 header) {
    const FlowResults *flow = &part->view->flow;
    u32 loop = flow->loops->loop_of[header];
    if (loop == WL_NONE || flow->loops->loops[loop].header != header || !bitset_has(&flow->divergence->temporal, loop))
        return WL_NONE;
    for (u32 i = 0; i < flow->loops->loops[loop].block_count; i++) {
        u32 block = flow->loops->members[flow->loops->loops[loop].blocks + i];
        const FlowBlock *b = &flow->cfg->blocks[block];
        u32 last = b->first + b->count - 1;
        if (!b->count || !bitset_has(&flow->divergence->branches, last)) continue;
        if (flow_loop_left_from(flow->cfg, flow->loops, loop, block)) return last;
    }
    return WL_NONE;
}

// The branch after which the lanes of the block run alone.
static u32 parting_branch(const AdviceCase *c, const CasePart *part, const f64 *ways, u32 block) {
    const FlowResults *flow = &part->view->flow;
    u32 below = block, nearest = WL_NONE;
    for (u32 b = flow->dominators->parent[block]; b != WL_NONE; below = b, b = flow->dominators->parent[b]) {
        const FlowBlock *at = &flow->cfg->blocks[b];
        u32 last = at->first + at->count - 1, leaving = part->view->executed ? leaving_branch(part, below) : WL_NONE;
        bool parts = parts_lanes(c, part, ways, b, below);
        if (parts && leaving != WL_NONE) return leaving;
        if (!at->count || !bitset_has(&flow->divergence->branches, last)) continue;
        if (parts) return last;
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

// Bulk and tensor copies are a thread's business: it asks for what all threads need. So is what it prints, or asks the
// driver's code for, which does so for one lane after the other.
static bool is_for_one_thread(const CasePart *part, const FlowBlock *b) {
    for (u32 pc = b->first; pc < b->first + b->count; pc++)
        if (case_insn(part, pc)->unit == UNIT_TMA || insn_calls_outside(part, pc)) return true;
    return false;
}

static void add_block(Hit *hit, const CasePart *part, u32 block, Parting *d) {
    const FlowBlock *b = &part->view->flow.cfg->blocks[block];
    const AdviceCase *c = hit->c;
    bool partial = bitset_has(&part->view->flow.divergence->partial, block);
    if (loop_spins(part, part->view->flow.loops->loop_of[block])) return;
    if (!b->reachable || !partial || is_for_one_thread(part, b)) return;
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
    if (meet == WL_NONE) return true;
    u8 kind = case_insn(part, flow->cfg->blocks[meet].first)->kind;
    return kind == FLOW_EXIT || kind == FLOW_RET;
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
    f64 starts = c->load.busy[RESOURCE_LAUNCH];
    if (c->view->occupancy.waves <= 1) hit->change.stays *= 1 - fmin(starts, 1) * d->fraction;  // the last start sooner
    hit_relieve(hit, RESOURCE_LAUNCH, starts * d->fraction);
    hit_fact(hit, "idle_threads", 100 * d->fraction, "%", "%.0f %% of the threads have nothing to do: launch fewer",
             100 * d->fraction);
}

// Samples of a warp that goes the longest way wherever lanes part: by blocks, deepest in the dominator tree first.
static f64 longest_way(AdviceCase *c, const CasePart *part) {
    const FlowResults *flow = &part->view->flow;
    const u32 *parent = flow->dominators->parent;
    u32 count = flow->cfg->block_count, deepest = 0;
    u32 *depth = ARENA_ARRAY(c->scratch, u32, count + 1);
    f64 *cost = ARENA_ARRAY(c->scratch, f64, count + 1), *side = ARENA_ARRAY(c->scratch, f64, count + 1);
    if (!depth || !cost || !side) return c->status = STATUS_NO_MEMORY, 0;
    for (u32 b = 0; b < count; b++) {
        const FlowBlock *block = &flow->cfg->blocks[b];
        for (u32 up = parent[b]; up != WL_NONE; up = parent[up]) depth[b]++;
        if (depth[b] > deepest) deepest = depth[b];
        for (u32 pc = block->first; pc < block->first + block->count; pc++)
            cost[b] += part->insns[pc].issued + part->insns[pc].stalled;
    }
    for (u32 d = deepest; d > 0; d--)
        for (u32 b = 0; b < count; b++) {
            if (depth[b] != d) continue;
            u32 up = parent[b], branch = flow->cfg->blocks[up].first + flow->cfg->blocks[up].count - 1;
            f64 all = cost[b] + side[b];
            bool parts = flow->cfg->blocks[up].count && bitset_has(&flow->divergence->branches, branch);
            if (parts && is_side(flow, up, b))
                side[up] = fmax(side[up], all);
            else
                cost[up] += all;
        }
    return cost[0] + side[0];
}

// Where all CTAs are resident at once, the launch ends with its longest warp: gathered lanes make short ones shorter,
// and leave those that go the longest way what they do. They wait less for the others.
static f64 stays_longest(AdviceCase *c) {
    const CasePart *part = &c->parts[0];
    f64 waves = ceil(c->view->occupancy.waves), all = longest_way(c, part);
    f64 queues = c->stalls[STALL_LG_THROTTLE] + c->stalls[STALL_MIO_THROTTLE] + c->stalls[STALL_MATH_PIPE_THROTTLE] +
                 c->waiting * c->stalls[STALL_LONG_SCOREBOARD];
    if (!part->view->executed || waves <= 0) return 0;
    return case_share(c, fmax(all - queues, 0)) / waves;
}

// --- ... loops of different length -----------------------------------------------------------------------------------
// Of the lanes of a warp, those that still turn a loop whose length data decides for each lane: how long the loops are
// is not seen in samples. Where all lengths up to the longest are as likely, it is half.
#define STILL_TURNING 0.6
#define HOT 0.2  // of the samples

enum { MOST_NODES = 256 /* that are looked back through from a test */ };

typedef struct Origin {
    const CasePart *part;
    u32 loop;
    Bitset seen;  // nodes of Chains
    u32 left;     // that may still be looked at
} Origin;

static bool is_by_data(Origin *o, u32 node);

// Where values merge in the loop, what was decided before does: how deep a stack is that some lanes pushed to.
static bool is_decided_by_data(Origin *o, u32 block) {
    const FlowResults *flow = &o->part->view->flow;
    u32 before = flow->dominators->parent[block];
    if (before == WL_NONE || block == flow->loops->loops[o->loop].header) return false;
    const FlowBlock *b = &flow->cfg->blocks[before];
    u32 branch = b->first + b->count - 1;
    bool divides = b->count && bitset_has(&flow->divergence->branches, branch);
    return divides && flow_loop_has(flow->loops, o->loop, before) && is_by_data(o, flow->chains->of_guard[branch]);
}

// Whether the value differs between lanes because of what was loaded.
static bool is_by_data(Origin *o, u32 node) {
    const FlowResults *flow = &o->part->view->flow;
    const Chains *chains = flow->chains;
    if (node == WL_NONE || !o->left || bitset_has(&o->seen, node) || !bitset_has(&flow->divergence->nodes, node))
        return false;
    bitset_add(&o->seen, node);
    o->left--;
    const ChainNode *n = &chains->nodes[node];
    for (u32 i = 0; i < n->arg_count; i++)
        if (is_by_data(o, chains->args[n->args + i])) return true;
    if (n->insn == WL_NONE) return is_decided_by_data(o, n->block);
    const FlowInsn *in = case_insn(o->part, n->insn);
    if (in->is_load) return in->space == SPACE_GLOBAL || in->space == SPACE_SHARED || in->space == SPACE_NONE;
    for (u32 u = 0; u < in->uses; u++)
        if (is_by_data(o, chains->of_operand[in->operands + in->defs + u])) return true;
    return is_by_data(o, chains->of_guard[n->insn]);
}

// Whether data decides a branch out of the loop, for each lane on its own.
static bool data_ends(AdviceCase *c, const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        const FlowBlock *block = &flow->cfg->blocks[b];
        u32 last = block->first + block->count - 1, node;
        if (!block->count || !flow_loop_has(flow->loops, loop, b)) continue;
        node = flow->chains->of_guard[last];
        if (!flow_loop_left_from(flow->cfg, flow->loops, loop, b) || node == WL_NONE ||
            !bitset_has(&flow->divergence->branches, last))
            continue;
        Origin o = {.part = part, .loop = loop, .left = MOST_NODES};
        if (!bitset_init(&o.seen, c->scratch, flow->chains->node_count)) return c->status = STATUS_NO_MEMORY, false;
        if (is_by_data(&o, node)) return true;
    }
    return false;
}

static bool ends_unevenly(AdviceCase *c, const CasePart *part, u32 loop) {
    return bitset_has(&part->view->flow.divergence->temporal, loop) && data_ends(c, part, loop);
}

static bool is_uneven_loop(AdviceCase *c, const CasePart *part, u32 loop) {
    const CaseLoop *l = &part->loops[loop];
    return case_share(c, l->active + l->stalled) >= HOT && ends_unevenly(c, part, loop);
}

static u32 latch_pc(const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *latch = &flow->cfg->blocks[flow->loops->members[flow->loops->loops[loop].latches]];
    return latch->first + latch->count - 1;
}

// What compilers made of the rest of the turns of a loop that they unrolled: a loop of its own, which goes back at the
// same line.
static bool is_rest_of(AdviceCase *c, const CasePart *part, u32 other, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    bool beside = other != loop && loops->loops[other].parent == loops->loops[loop].parent &&
                  same_line(part, latch_pc(part, other), latch_pc(part, loop));
    return beside && !is_uneven_loop(c, part, other) && ends_unevenly(c, part, other);
}

// Who sorts by the outer loop's length has the inner ones alike as well, or not: it is one change.
static bool is_within_uneven(AdviceCase *c, const CasePart *part, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    for (u32 l = loops->loops[loop].parent; l != WL_NONE; l = loops->loops[l].parent)
        if (is_uneven_loop(c, part, l)) return true;
    return false;
}

static void even_out_loop(AdviceCase *c, const CasePart *part, u32 loop) {
    if (!is_uneven_loop(c, part, loop) || is_within_uneven(c, part, loop)) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_lengths);
    f64 samples = 0;
    for (u32 o = 0; o < part->view->flow.loops->loop_count; o++) {
        if (o != loop && !is_rest_of(c, part, o, loop)) continue;
        samples += part->loops[o].active + part->loops[o].stalled;
        for (u32 pc = 0; pc < part->view->insn_count; pc++)
            if (loop_has(part, o, pc)) gather_lanes(hit, part, pc, 1 - STILL_TURNING, true);
    }
    hit->doubtful = true;
    f64 share = 100 * case_share(c, samples);
    hit_fact(hit, "loop_share", share, "%",
             "%.0f %% of the samples are in a loop that data ends for each lane on its own", share);
    hit_caution(hit, "samples do not say how far apart the lengths are: look at the data");
    hit_end_loop(hit, part, loop, "Give the lanes of a warp loops of equal length at %s: sort or group the data by it",
                 place_text(c, part, loop_line_pc(part, loop)));
}

static void even_out_loops(AdviceCase *c, const CasePart *part) {
    const FlowResults *flow = &part->view->flow;
    for (u32 l = 0; l < flow->loops->loop_count && !part->view->executed; l++) even_out_loop(c, part, l);
}

void rule_divergence(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    Parting d = {0};
    for (u32 p = 0; p < c->part_count; p++) {
        even_out_loops(c, &c->parts[p]);
        d.ways = find_ways(c, &c->parts[p]);
        for (u32 b = 0; b < c->parts[p].view->flow.cfg->block_count && c->status == STATUS_OK; b++)
            add_block(hit, &c->parts[p], b, &d);
    }
    if (!d.part || d.issued <= 0) return hit_drop(hit);
    u32 branch = d.branch == WL_NONE ? d.pc : d.branch;
    hit->change.stays = stays_longest(c);
    remove_threads(hit, &d);
    hit_fact(hit, "smsp__thread_inst_executed_per_inst_executed.ratio", d.lanes / d.issued, "lanes",
             "%.0f %% of what is issued runs with part of the lanes, %.1f of 32 on average",
             100 * d.issued / c->load.issued, d.lanes / d.issued);
    hit->doubtful = !d.part->view->executed;
    const char *place = place_text(c, d.part, branch);
    u32 loop = d.part->insns[branch].loop;
    if (d.part->view->executed && loop != WL_NONE &&
        leaving_branch(d.part, d.part->view->flow.loops->loops[loop].header) == branch)
        hit_end_loop(hit, d.part, loop,
                     "Give the lanes of a warp loops of equal length at %s: sort or group the data by it",
                     place_text(c, d.part, loop_line_pc(d.part, loop)));
    else if (has_one_way(d.part, branch))
        hit_end_line(hit, d.part, branch, "Give all lanes of a warp work behind the test at %s", place);
    else
        hit_end_line(hit, d.part, branch, "Let the lanes of a warp go the same way at %s", place);
}
