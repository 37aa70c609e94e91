// SPDX-License-Identifier: Apache-2.0
// The part of branch-elimination that is about two ways which do the same with other values: lanes that take one wait
// for those on the other. Who chooses the values first goes one way, once.
#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum { NEITHER = 3 /* way */ };
#define BOTH_TAKEN 1.3  // runs of both ways over those of the branch
#define WORTH_IT 0.02   // of the samples

typedef struct Alike {
    const CasePart *part;
    u8 *side;      // by block: the way that it is on, of the branch that is looked at; 0: not looked up yet
    u32 *of[2];    // by opcode: instructions on either side
    Bitset *done;  // blocks on ways that were found, and those they begin in
    u32 count, pc;
    f64 most;
} Alike;

// The two blocks that the branch at the end of `block` leads to and that only it does, where lanes part and meet again.
static bool has_two_ways(const CasePart *part, u32 block, u32 heads[2]) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    u32 meet = flow->postdominators->parent[block];
    if (b->succ_count != 2 || !b->count || meet == WL_NONE) return false;
    if (!bitset_has(&flow->divergence->branches, b->first + b->count - 1)) return false;
    for (u32 i = 0; i < 2; i++) {
        heads[i] = flow->cfg->edges[b->succs + i];
        if (flow->cfg->blocks[heads[i]].pred_count != 1 || heads[i] == meet) return false;
    }
    return true;
}

// 1, 2: the way that the block is on, of those whose begins are known; each block is looked up once.
static u8 way_of(Alike *a, u32 block) {
    const u32 *parent = a->part->view->flow.dominators->parent;
    u32 known = block;
    while (known != WL_NONE && !a->side[known]) known = parent[known];
    u8 side = known == WL_NONE ? NEITHER : a->side[known];
    for (u32 b = block; b != known; b = parent[b]) a->side[b] = side;
    return side;
}

// Instructions of both ways by opcode; returns those that both have, `longer` are those of the longer one.
static u32 count_alike(Alike *a, const u32 heads[2], u32 *longer) {
    const CasePart *part = a->part;
    const FlowResults *flow = &part->view->flow;
    u32 all[2] = {0}, alike = 0;
    memset(a->side, 0, flow->cfg->block_count);
    for (u32 i = 0; i < 2; i++) {
        memset(a->of[i], 0, INSN_OPS * sizeof *a->of[i]);
        a->side[heads[i]] = (u8)(i + 1);
    }
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        const FlowBlock *block = &flow->cfg->blocks[b];
        u8 side = way_of(a, b);
        for (u32 pc = block->first; side != NEITHER && pc < block->first + block->count; pc++) {
            if (case_insn(part, pc)->kind == FLOW_BRANCH) continue;  // the end of the way that comes first
            a->of[side - 1][insn_op(part, pc)]++;
            all[side - 1]++;
        }
    }
    for (u32 op = 0; op < INSN_OPS; op++) alike += a->of[0][op] < a->of[1][op] ? a->of[0][op] : a->of[1][op];
    *longer = all[0] > all[1] ? all[0] : all[1];
    return alike;
}

// The branch, and where lanes wait for those on the other way.
static void need_no_branch(Hit *hit, const CasePart *part, u32 block) {
    const FlowResults *flow = &part->view->flow;
    u32 begin, end;
    hit_remove(hit, part, flow->cfg->blocks[block].first + flow->cfg->blocks[block].count - 1, 1);
    if (!lanes_meet(part, block, flow->postdominators->parent[block], &begin, &end)) return;
    hit_remove(hit, part, end, 1);
    hit_blamed(hit, part, end + 1, STALL_BIT(BRANCH_RESOLVING), 1);
    if (begin != WL_NONE) hit_remove(hit, part, begin, 1);
}

// What both ways have runs as often as the branch, no longer on one and then on the other.
static void go_one_way(Hit *hit, Alike *a, u32 block, f64 both) {
    const FlowResults *flow = &a->part->view->flow;
    f64 gone = 1 - block_runs(a->part, block) / both, samples = hit->change.stalls + hit->change.issues;
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        const FlowBlock *at = &flow->cfg->blocks[b];
        if (a->side[b] == NEITHER) continue;
        bitset_add(a->done, b);
        for (u32 pc = at->first; pc < at->first + at->count; pc++) {
            u32 op = insn_op(a->part, pc), own = a->of[a->side[b] - 1][op], other = a->of[2 - a->side[b]][op];
            hit_remove(hit, a->part, pc, gone * fmin((f64)other / own, 1));
        }
    }
    need_no_branch(hit, a->part, block);
    bitset_add(a->done, block);
    a->count++;
    samples = hit->change.stalls + hit->change.issues - samples;
    if (samples > a->most)
        a->most = samples, a->pc = flow->cfg->blocks[block].first + flow->cfg->blocks[block].count - 1;
}

static void look_at_branch(Hit *hit, Alike *a, u32 block) {
    u32 heads[2], longer;
    f64 runs = block_runs(a->part, block);
    if (bitset_has(a->done, block) || runs <= 0 || !has_two_ways(a->part, block, heads)) return;
    f64 both = block_runs(a->part, heads[0]) + block_runs(a->part, heads[1]);
    if (both < BOTH_TAKEN * runs) return;
    u32 alike = count_alike(a, heads, &longer);
    if (alike >= LEAST_OF_ALIKE && alike >= WAYS_ALIKE * longer) go_one_way(hit, a, block, both);
}

void join_ways(AdviceCase *c, const CasePart *part, Bitset *done) {
    u32 blocks = part->view->flow.cfg->block_count;
    Alike a = {.part = part, .side = ARENA_ARRAY(c->scratch, u8, blocks + 1), .done = done};
    for (u32 i = 0; i < 2; i++) a.of[i] = ARENA_ARRAY(c->scratch, u32, INSN_OPS);
    if (!a.side || !a.of[0] || !a.of[1]) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    use_tables(c, part, done);
    go_without_branches(c, part, done);
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_alike);
    for (u32 b = 0; b < blocks; b++) look_at_branch(hit, &a, b);
    f64 share = case_share(c, hit->change.issues + hit->change.stalls);
    if (share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "ways_alike", a.count, "branches",
             "lanes part at %u branch%s whose two ways do the same with other values", a.count,
             a.count == 1 ? "" : "es");
    hit_fact(hit, "ways_alike_share", 100 * share, "%", "%.0f %% of the samples are there twice", 100 * share);
    hit_end_line(hit, part, a.pc, "Choose values at %s, not ways: both do the same", place_text(c, part, a.pc));
}
