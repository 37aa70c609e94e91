// SPDX-License-Identifier: Apache-2.0
// warp-balance: warps of a CTA that wait for others, at barriers or until the CTA's last warp ends.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

#define HOT 0.2     // of the samples
#define UNEVEN 0.9  // warps alive of a resident CTA, on average

// Whether threads turn a hot loop a different number of times: else warps end apart by chance.
static bool turns_differ(const AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        const FlowResults *flow = &part->view->flow;
        for (u32 l = 0; l < flow->loops->loop_count; l++)
            if (bitset_has(&flow->divergence->temporal, l) && !loop_spins(part, l) &&
                case_share(c, part->loops[l].active + part->loops[l].stalled) > HOT)
                return true;
    }
    return false;
}

static f64 stalls_at(const CasePart *part, u32 pc) {
    return (f64)part->view->samples[pc].all[STALL_BARRIER] * part->weight;
}

// --- what is before a barrier ---------------------------------------------------------------------------------------
#define FEWER 0.75  // of the warps that meet: a way that not all of them go
enum { MOST_BLOCKS = 4096 /* that are looked back through, one call deep each */ };

typedef struct Before {
    const CasePart *part;
    Bitset seen;  // blocks
    f64 runs;     // of the barrier
    u32 count;    // blocks seen
    bool uneven;
} Before;

// The last barrier in [first, end), WL_NONE: none.
static u32 last_barrier(const CasePart *part, u32 first, u32 end) {
    for (u32 pc = end; pc > first; pc--)
        if (part->insns[pc - 1].traits & TRAIT_BARRIER) return pc - 1;
    return WL_NONE;
}

// Samples of a GPU are at the instruction behind the barrier.
static u32 barrier_of(const CasePart *part, u32 pc) {
    const Cfg *cfg = part->view->flow.cfg;
    const FlowBlock *block = &cfg->blocks[cfg->block_of[pc]];
    u32 at = last_barrier(part, block->first, pc + 1);
    for (u32 i = 0; i < block->pred_count && at == WL_NONE; i++) {
        const FlowBlock *pred = &cfg->blocks[cfg->edges[block->preds + i]];
        at = last_barrier(part, pred->first, pred->first + pred->count);
    }
    return at;
}

// Threads part behind the block: into a loop that some leave earlier, or into a way that not all warps go.
static bool parts_warps(const Before *b, u32 block) {
    const FlowResults *flow = &b->part->view->flow;
    const FlowBlock *from = &flow->cfg->blocks[block];
    u32 loop = flow->loops->loop_of[block];
    if (!from->count || !divergence_of_guard(flow->divergence, from->first + from->count - 1)) return false;
    if (loop != WL_NONE && bitset_has(&flow->divergence->temporal, loop)) return true;
    for (u32 i = 0; i < from->succ_count; i++) {
        u32 to = flow->cfg->edges[from->succs + i];
        bool way = !dom_dominates(flow->postdominators, to, block);
        f64 runs = block_runs(b->part, to);
        if (way && runs > 0 && runs < FEWER * b->runs) return true;
    }
    return false;
}

static void look_before(Before *b, u32 block) {
    const Cfg *cfg = b->part->view->flow.cfg;
    for (u32 i = 0; i < cfg->blocks[block].pred_count && !b->uneven; i++) {
        u32 pred = cfg->edges[cfg->blocks[block].preds + i];
        const FlowBlock *p = &cfg->blocks[pred];
        if (bitset_has(&b->seen, pred) || b->count == MOST_BLOCKS) continue;
        bitset_add(&b->seen, pred);
        b->count++;
        b->uneven = parts_warps(b, pred);
        if (last_barrier(b->part, p->first, p->first + p->count) == WL_NONE) look_before(b, pred);
    }
}

// Whether warps come to the barrier from different work: where all do the same since the last one, who comes late was
// kept by memory or by the other warps, and would be kept again.
static bool comes_from_uneven(AdviceCase *c, const CasePart *part, u32 barrier) {
    const Cfg *cfg = part->view->flow.cfg;
    u32 block = barrier == WL_NONE ? 0 : cfg->block_of[barrier];
    Before b = {.part = part, .runs = block_runs(part, block)};
    if (barrier == WL_NONE) return true;
    if (last_barrier(part, cfg->blocks[block].first, barrier) != WL_NONE) return false;
    if (!bitset_init(&b.seen, c->scratch, cfg->block_count)) return c->status = STATUS_NO_MEMORY, false;
    look_before(&b, block);
    return b.uneven;
}

// --- trees
// ------------------------------------------------------------------------------------------------------------ Sums
// over a CTA in shared memory, half of the threads with each barrier. A step takes some 71 cycles (two loads, an
// addition, a store, the barrier), one with a shuffle 29 (samples of both on an H200).
enum { LEAST_STEPS = 3, MOST_OF_STEP = 48 /* instructions */ };
#define STEP_SAVED 0.6

typedef struct Step {  // what a warp does from one barrier to the next
    const CasePart *part;
    Bitset seen;                     // blocks
    u32 loop, insns, loads, stores;  // of shared memory
    bool guarded, other;             // not all threads; something else, too
} Step;

static bool is_shared_store(const CasePart *part, u32 pc, u32 from) {
    const CaseAccess *a = case_access(part, pc);
    (void)from;
    return a && a->store && access_is_shared(a);
}

static void look_at_step(Step *s, u32 first, u32 end) {
    for (u32 pc = first; pc < end; pc++) {
        const CaseAccess *a = case_access(s->part, pc);
        bool shared = a && access_is_shared(a) && !a->atomic, guarded = case_insn(s->part, pc)->guard != WL_NONE;
        s->loads += shared && a->load;
        s->stores += shared && a->store;
        s->guarded |= guarded && divergence_of_guard(s->part->view->flow.divergence, pc);
        bool copied = shared && a->load && insn_feeds(s->part, pc, 1, is_shared_store);  // nothing is added
        s->other |= (a && !shared) || copied || s->part->insns[pc].loop != s->loop;
    }
    s->insns += end - first;
    s->other |= s->insns > MOST_OF_STEP;
}

// Visits what is before instruction `end` of the block, back to the last barrier.
static void step_back(Step *s, u32 block, u32 end) {
    const Cfg *cfg = s->part->view->flow.cfg;
    const FlowBlock *b = &cfg->blocks[block];
    u32 barrier = last_barrier(s->part, b->first, end);
    look_at_step(s, barrier == WL_NONE ? b->first : barrier + 1, end);
    for (u32 i = 0; i < b->pred_count && barrier == WL_NONE && !s->other; i++) {
        u32 pred = cfg->edges[b->preds + i];
        if (bitset_has(&s->seen, pred)) continue;
        bitset_add(&s->seen, pred);
        step_back(s, pred, cfg->blocks[pred].first + cfg->blocks[pred].count);
    }
}

static bool is_step(AdviceCase *c, const CasePart *part, u32 barrier) {
    const Cfg *cfg = part->view->flow.cfg;
    Step s = {.part = part, .loop = part->insns[barrier].loop};
    if (!bitset_init(&s.seen, c->scratch, cfg->block_count)) return c->status = STATUS_NO_MEMORY, false;
    step_back(&s, cfg->block_of[barrier], barrier);
    return s.loads && s.stores && s.loads <= 2 * s.stores && s.guarded && !s.other;  // stencils load more
}

// The instructions before the barrier, in its block, and its own waits, which are behind it.
static void shorten(Hit *hit, const CasePart *part, u32 barrier) {
    const FlowBlock *b = &part->view->flow.cfg->blocks[part->view->flow.cfg->block_of[barrier]];
    u32 before = last_barrier(part, b->first, barrier), last = b->first + b->count - 1;
    for (u32 pc = before == WL_NONE ? b->first : before + 1; pc <= barrier; pc++) {
        hit_stalled(hit, part, pc, ~STALL_BIT(BARRIER), STEP_SAVED);
        hit_unissue(hit, part, pc, STEP_SAVED);
    }
    hit_stalled(hit, part, barrier, STALL_BIT(BARRIER), STEP_SAVED);
    if (barrier < last) hit_stalled(hit, part, barrier + 1, STALL_BIT(BARRIER), STEP_SAVED);
}

static void add_with_shuffles(AdviceCase *c, const CasePart *part, Bitset *steps) {
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_shuffles);
    u32 first = WL_NONE;
    f64 count = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (!(part->insns[pc].traits & TRAIT_BARRIER) || part->insns[pc].executed <= 0 || !is_step(c, part, pc))
            continue;
        u32 loop = part->insns[pc].loop;
        count += loop == WL_NONE ? 1 : fmax(part->loops[loop].trips, LEAST_STEPS);
        if (first == WL_NONE) first = pc;
        bitset_add(steps, pc);
        shorten(hit, part, pc);
    }
    if (count < LEAST_STEPS) {
        bitset_clear(steps);
        return hit_drop(hit);
    }
    f64 share = 100 * case_share(c, hit->change.stalls + hit->change.issues) / STEP_SAVED;
    hit_fact(hit, "tree_steps", count, "barriers",
             "%.0f barriers, with less and less threads that have something to add", count);
    hit_fact(hit, "tree_share", share, "%", "%.0f %% of the samples are in it", share);
    hit_basis(hit, "equation 2 over %.0f %% of the samples, of which a step with a shuffle takes %.0f %%", share,
              100 * (1 - STEP_SAVED));
    hit_end_line(hit, part, first, "Add up with shuffles what is added up in shared memory at %s, barrier by barrier",
                 place_text(c, part, first));
}

// Whether some threads turn a loop around the instruction more often than others.
static bool turns_unevenly(const CasePart *part, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    u32 loop = flow->loops->loop_of[flow->cfg->block_of[pc]];
    while (loop != WL_NONE && !bitset_has(&flow->divergence->temporal, loop)) loop = flow->loops->loops[loop].parent;
    return loop != WL_NONE;
}

// Waits at barriers that come from loads every warp makes alike are latency, not imbalance; those for who prints, or
// launches kernels, are no work that could be dealt.
static f64 add_waits(Hit *hit, const CasePart *part, u32 pc) {
    f64 all = 0;
    for (u32 i = part->blame->first[pc]; i < part->blame->first[pc + 1]; i++) {
        const BlameEdge *e = &part->blame->edges[i];
        if (e->reason != STALL_BARRIER || loop_spins(part, part->insns[e->def].loop)) continue;
        if (insn_calls_outside(part, e->def)) continue;
        const CaseAccess *a = case_access(part, e->def);
        f64 samples = e->samples * part->weight;
        if (a && access_is_global(a) && !turns_unevenly(part, e->def)) continue;
        HitSpot spot = {
            .part = part, .use = pc, .def = e->def, .reason = STALL_BARRIER, .class = e->class, .samples = samples};
        if (samples > 0 && vec_push(&hit->spots, spot) != STATUS_OK) hit->c->status = STATUS_NO_MEMORY;
        all += samples;
    }
    hit->change.stalls += all;
    hit->change.barrier += all;
    return all;
}

// A loop that one lane of a warp turns, as the test of the thread's index on the way to it says.
enum { TESTS = 4 /* blocks before it */ };
#define ALONE 1.5  // lanes

static bool is_alone(const AdviceCase *c, const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    u32 below = flow->loops->loops[loop].header;
    for (u32 i = 0; i < TESTS; i++) {
        u32 block = flow->dominators->parent[below];
        if (block == WL_NONE) return false;
        const FlowBlock *b = &flow->cfg->blocks[block];
        u32 branch = b->first + b->count - 1;
        const FlowInsn *in = b->count ? case_insn(part, branch) : NULL;
        if (in && in->kind == FLOW_BRANCH && in->target_count == 1 && b->succ_count == 2 && in->guard != WL_NONE) {
            bool taken = flow->code->targets[in->targets] == flow->cfg->blocks[below].first;
            f64 lanes = lanes_of_way(c, part, branch, taken);
            if (lanes > 0 && lanes < ALONE) return true;
        }
        below = block;
    }
    return false;
}

enum { WARP = 32 };
#define SHUFFLES (5 * 29.0)  // cycles in which a warp joins what its lanes have (STEP_SAVED)

// In turns that the lanes share such a loop is hardly there any more, and nobody waits for it. Returns the samples for
// which other warps still wait for what lanes have to join.
static f64 share_turns(Hit *hit, const CasePart *part) {
    const FlowResults *flow = &part->view->flow;
    f64 others = fmax(hit->c->view->occupancy.warps_per_cta, 1) - 1, wait = 0;
    for (u32 l = 0; l < flow->loops->loop_count; l++) {
        if (flow->loops->loops[l].parent != WL_NONE || loop_spins(part, l) || !is_alone(hit->c, part, l)) continue;
        f64 runs = block_runs(part, flow->dominators->parent[flow->loops->loops[l].header]);
        f64 samples = part->loops[l].active + part->loops[l].stalled,
            turns = part->loops[l].trips * loop_copies(part, l);
        f64 join = runs > 0 ? fmin(SHUFFLES * runs, samples) : 0;
        f64 left = samples > 0 ? join / samples + 1 / (turns > 1 ? fmin(turns, WARP) : WARP) : 1;
        wait += others * join;
        for (u32 pc = 0; pc < part->view->insn_count && left < 1; pc++) {
            if (!loop_has(part, l, pc)) continue;
            hit_stalled(hit, part, pc, ~STALL_BIT(BARRIER), 1 - left);
            hit_unissue(hit, part, pc, 1 - left);
        }
    }
    return wait;
}

// Waits of the part's warps for each other, but for those of trees.
static f64 add_part(Hit *hit, const CasePart *part, const Bitset *steps, u32 *at, f64 *most) {
    f64 all = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (stalls_at(part, pc) <= 0) continue;
        u32 barrier = barrier_of(part, pc);
        if (barrier != WL_NONE && bitset_has(steps, barrier)) continue;
        if (!comes_from_uneven(hit->c, part, barrier)) continue;
        f64 samples = add_waits(hit, part, pc);
        all += samples;
        if (samples > *most) *most = samples, *at = pc;
    }
    return all;
}

void rule_warp_balance(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = c->parts;
    u32 at = 0;
    f64 most = 0, barrier = 0, part_alive = turns_differ(c) ? fmin(warps_alive(c), 1 / warps_missing(c)) : 1,
        missing = warps_alive(c) < 1 ? 1 / part_alive - 1 : (1 / part_alive - 1) * (1 - c->waiting);
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        Bitset steps;
        f64 before = most;
        if (!bitset_init(&steps, c->scratch, part->view->insn_count)) {
            c->status = STATUS_NO_MEMORY;
            return hit_drop(hit);
        }
        add_with_shuffles(c, part, &steps);
        f64 waits = add_part(hit, part, &steps, &at, &most);
        f64 stay = waits > 0 ? fmin(share_turns(hit, part), waits) : 0;
        hit->change.stalls -= stay;
        hit->change.barrier -= stay;
        barrier += waits;
        if (most > before) where = part;
    }
    if (part_alive < UNEVEN) hit->change.work = 1 / (1 + missing);  // more are of no use to loads that queue
    if (barrier <= 0 && part_alive >= UNEVEN) return hit_drop(hit);
    if (barrier > 0)
        hit_fact(hit, "smsp__pcsamp_warps_issue_stalled_barrier", 100 * case_share(c, barrier), "%",
                 "%.0f %% of the samples are warps that wait at a barrier for slower ones",
                 100 * case_share(c, barrier));
    if (part_alive < UNEVEN)
        hit_fact(hit, "warps_alive", 100 * part_alive, "%",
                 "on average %.0f %% of the warps of a resident CTA still run", 100 * part_alive);
    hit_basis(hit, "equation 2 over %.0f %% of the samples%s", 100 * case_share(c, barrier),
              part_alive < UNEVEN ? ", and the mean of the warps' times instead of the longest" : "");
    if (barrier > 0)
        hit_end_line(hit, where, at, "Give the warps that meet at %s equal work", place_text(c, where, at));
    else
        hit_end_kernel(hit, "Give the warps of a CTA equal work");
}
