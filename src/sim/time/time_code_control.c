// SPDX-License-Identifier: Apache-2.0
// What ptxas makes of branches: short conditional regions are predicated, diverging regions are put between BSSY and
// BSYNC, jumps between neighbours fall away. From listings of ptxas 13.0 for sm_90.
#include "sim/time/time_code_control.h"
#include "flow/affine.h"

enum {
    SPECULATED_MAX = 5,  // of a second condition that is computed whatever the first one is: instructions
    CONDITIONS_MAX = 4   // of those that share a branch (chains of 1 to 30 have one for each four)
};

static const FlowBlock *block_at(const TimeControl *c, u32 b) { return &c->f->cfg->blocks[b]; }
static u32 last_insn(const FlowBlock *block) { return block->first + block->count - 1; }
static const FlowInsn *insn_at(const TimeControl *c, u32 i) { return &c->f->code->insns[i]; }

static Status find_costs(TimeControl *c) {
    TimeFunc *f = c->f;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        if (!f->picked[i].needed || insn_at(c, i)->kind == FLOW_BRANCH) continue;
        TimeSteps steps;
        u32 row = f->picked[i].steps;
        TRY(time_steps(f->lower, f->lower->module->insns[f->function->insns + row].form, time_variant(f, row), &steps));
        c->cost[f->cfg->block_of[i]] += steps.count;
    }
    return STATUS_OK;
}

// The kernel ends here and nothing else: branches to it are conditional exits.
bool time_only_leaves(const TimeControl *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    return block->leaves && block->succ_count == 0 && c->cost[b] <= 1 && c->f->function->is_entry;
}

// `@p bra X; bra Y; X:` is one branch on the machine, to Y unless p.
static void invert_branch(TimeControl *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    const FlowInsn *branch = insn_at(c, last_insn(block));
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE || b + 2 >= c->f->cfg->block_count) return;
    const FlowBlock *jump = block_at(c, b + 1);
    const FlowInsn *target = jump->count == 1 ? insn_at(c, jump->first) : NULL;
    const u32 *succs = c->f->cfg->edges + block->succs;
    bool around = block->succ_count == 2 && (succs[0] == b + 2 || succs[1] == b + 2);
    if (!target || target->kind != FLOW_BRANCH || target->guard != WL_NONE || jump->pred_count != 1 || !around) return;
    c->f->no_branch[jump->first] = true;
    c->through[b + 1] = c->f->cfg->edges[jump->succs] + 1;
}

u32 time_behind_jump(const TimeControl *c, u32 b) { return c->through[b] ? c->through[b] - 1 : b; }

// --- second conditions
// -----------------------------------------------------------------------------------------------
// `a && b` is two branches in PTX. What b takes is computed whatever a is, and one branch asks for both; not where
// `taken`, to which both lead, reads a result of it.
static bool can_speculate(const TimeControl *c, u32 b, u32 taken) {
    const FlowBlock *block = block_at(c, b);
    const FlowInsn *branch = insn_at(c, last_insn(block));
    if (block->pred_count != 1 || block->succ_count != 2 || c->cost[b] > SPECULATED_MAX) return false;
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE) return false;
    for (u32 i = block->first; i < last_insn(block); i++) {
        const FlowInsn *in = insn_at(c, i);
        u32 flags = form_op(time_form(c->f, i))->flags;
        if (in->kind != FLOW_PLAIN || in->has_effects || in->is_barrier || in->guard != WL_NONE) return false;
        if (in->is_load && c->f->picked[i].needed) return false;
        for (u32 d = 0; d < in->defs; d++)
            if (liveness_has_in(c->live, taken, c->f->code->operands[in->operands + d].id)) return false;
        if (flags & (OPF_CONVERGENT | OPF_WARP_SYNC | OPF_FENCE | OPF_ASYNC)) return false;
    }
    return true;
}

static void speculate_branch(TimeControl *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    const FlowInsn *branch = insn_at(c, last_insn(block));
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE || block->succ_count != 2) return;
    if (c->f->no_branch[last_insn(block)] || b + 1 == c->f->cfg->block_count) return;
    const u32 *succs = c->f->cfg->edges + block->succs;
    u32 next = b + 1, taken = succs[0] == next ? succs[1] : succs[0];
    if ((succs[0] != next && succs[1] != next) || taken == next || !can_speculate(c, next, taken)) return;
    if (time_only_leaves(c, taken)) return;  // two guarded EXITs [L]
    const u32 *then = c->f->cfg->edges + block_at(c, next)->succs;
    if (time_behind_jump(c, then[0]) != taken && time_behind_jump(c, then[1]) != taken) return;
    if (c->conditions[b] + 1 == CONDITIONS_MAX) return;
    c->conditions[next] = (u8)(c->conditions[b] + 1);
    c->f->speculated[next] = true;
    c->f->no_branch[last_insn(block)] = true;
}

// --- divergence
// -------------------------------------------------------------------------------------------------------

// Where the region of a diverging branch begins: before the loops that its end lies outside of.
static u32 region_begin(const TimeControl *c, u32 b, u32 end) {
    for (u32 loop = c->f->loops->loop_of[b]; loop != WL_NONE && !flow_loop_has(c->f->loops, loop, end);
         loop = c->f->loops->loop_of[b]) {
        u32 before = c->f->dominators->parent[c->f->loops->loops[loop].header];
        if (before == WL_NONE) break;
        b = before;
    }
    return b;
}

// Whether a branch is issued at the end of the block that lanes may go different ways at.
static bool parts_lanes(const TimeControl *c, u32 b) {
    if (!block_at(c, b)->count) return false;
    u32 last = last_insn(block_at(c, b)), kind = insn_at(c, last)->kind;
    bool branch = kind == FLOW_BRANCH || kind == FLOW_SWITCH;
    return branch && !c->f->no_branch[last] && bitset_has(&c->f->divergence->branches, last);
}

static void synchronize(TimeControl *c, u32 b) {
    u32 end = c->f->meets.at[b];
    if (end == WL_NONE || time_only_leaves(c, end) || !parts_lanes(c, b)) return;
    u32 begin = region_begin(c, b, end);
    // The first branch to an end opens its region; those inside share it.
    for (u32 up = begin; up != WL_NONE; up = c->f->dominators->parent[up])
        if (c->f->opens[up] == end + 1) return;
    bool taken = c->f->opens[begin] != 0, entry = time_is_loop(c->f, b) && (taken || time_is_loop(c->f, begin));
    if (taken && !entry) return;
    if (entry)
        c->f->entry_opens[b]++;
    else
        c->f->opens[begin] = end + 1;
    c->f->closes[end] = true;
}

// Joins between whose ends a branch parts lanes.
static Status open_joins(TimeControl *c) {
    TimeFunc *f = c->f;
    const Meets *meets = &f->meets;
    u32 blocks = f->cfg->block_count;
    Bitset needed;
    if (!bitset_init(&needed, &f->lower->scratch, blocks + 1)) return STATUS_NO_MEMORY;
    for (u32 b = 0; b < blocks; b++)
        for (u32 k = meets->first[b]; k < meets->first[b + 1] && parts_lanes(c, b); k++)
            bitset_add(&needed, meets->around[k]);
    for (u32 j = 0; j < meets->join_count; j++) {
        const Join *join = &meets->joins[j];
        if (!bitset_has(&needed, join->at)) continue;
        f->joins_opened[join->from]++;
        f->closes[join->at] = true;
    }
    for (u32 b = 0; b < blocks; b++)
        for (u32 k = meets->left_first[b]; k < meets->left_first[b + 1]; k++)
            f->joins_left[b] += bitset_has(&needed, meets->left[k]);
    return STATUS_OK;
}

// --- layout
// ----------------------------------------------------------------------------------------------------------- A jump
// costs nothing when its target can be laid out behind it: nothing else falls into the target.
static void lay_out(TimeControl *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    u32 last = last_insn(block);
    const FlowInsn *jump = insn_at(c, last);
    if (jump->kind != FLOW_BRANCH || jump->guard != WL_NONE || block->succ_count != 1) return;
    u32 target = c->f->cfg->edges[block->succs];
    bool before = target > 0 && block_at(c, target - 1)->count > 0;
    const FlowInsn *above = before ? insn_at(c, last_insn(block_at(c, target - 1))) : NULL;
    bool falls = above && (above->kind == FLOW_PLAIN || above->kind == FLOW_CALL || above->guard != WL_NONE);
    if (time_only_leaves(c, target) && target != b + 1) return;
    if (target == b + 1 || (!falls && target > b && !bitset_has(&c->claimed, target))) {
        bitset_add(&c->claimed, target);
        c->f->no_branch[last] = true;
    }
}

// --- the pass
// -----------------------------------------------------------------------------------------------------------
static Status analyze(TimeControl *c) {
    TimeFunc *f = c->f;
    Arena *arena = &f->lower->scratch;
    Liveness *live;
    Chains *chains;
    u32 blocks = f->cfg->block_count + 1;
    TRY(flow_postdominators(f->cfg, arena, &f->postdominators));
    TRY(flow_meets(f->cfg, f->dominators, f->loops, arena, &f->meets));
    TRY(flow_liveness(f->cfg, arena, &live));
    c->live = live;
    TRY(flow_chains(live, arena, &chains));
    TRY(flow_divergence(chains, f->loops, f->postdominators, arena, &f->divergence));
    if (f->loops->loop_count) {
        TRY(flow_affine(chains, f->loops, f->divergence, NULL, arena, &f->affine));
        flow_trip_counts(f->affine, f->dominators, f->loops);
    }
    c->cost = ARENA_ARRAY(arena, u32, blocks);
    c->through = ARENA_ARRAY(arena, u32, blocks);
    c->conditions = ARENA_ARRAY(arena, u8, blocks);
    f->predicated = ARENA_ARRAY(arena, bool, blocks);
    f->exits = ARENA_ARRAY(arena, bool, blocks);
    f->jumps_back = ARENA_ARRAY(arena, bool, blocks);
    f->speculated = ARENA_ARRAY(arena, bool, blocks);
    f->opens = ARENA_ARRAY(arena, u32, blocks);
    f->closes = ARENA_ARRAY(arena, bool, blocks);
    f->entry_opens = ARENA_ARRAY(arena, u8, blocks);
    f->joins_opened = ARENA_ARRAY(arena, u8, blocks);
    f->joins_left = ARENA_ARRAY(arena, u8, blocks);
    f->unrolled = ARENA_ARRAY(arena, u8, blocks);
    f->left = ARENA_ARRAY(arena, u8, blocks);
    f->whole = ARENA_ARRAY(arena, bool, blocks);
    f->rest = ARENA_ARRAY(arena, bool, blocks);
    f->no_branch = ARENA_ARRAY(arena, bool, f->code->insn_count + 1);
    f->gone = ARENA_ARRAY(arena, bool, f->code->insn_count + 1);
    f->placed = ARENA_ARRAY(arena, bool, f->code->insn_count + 1);
    f->loop_control = ARENA_ARRAY(arena, bool, f->code->insn_count + 1);
    bool ok = bitset_init(&c->claimed, arena, blocks) && bitset_init(&f->counted, arena, f->code->value_count + 1);
    ok = ok && c->cost && c->through && f->predicated && f->exits && f->speculated && f->jumps_back && f->opens &&
         f->closes && f->entry_opens && f->joins_opened && f->joins_left && f->no_branch && f->gone && f->placed &&
         f->loop_control && f->unrolled && f->left && f->whole && f->rest && c->conditions;
    return ok ? find_costs(c) : STATUS_NO_MEMORY;
}

bool time_lanes_parted(const TimeFunc *f, u32 block) {
    for (u32 up = block; up != WL_NONE; up = f->dominators->parent[up])
        if (f->opens[up] && !dom_dominates(f->dominators, f->opens[up] - 1, block)) return true;
    return false;
}

Status time_control(TimeFunc *f) {
    TimeControl c = {.f = f};
    TRY(analyze(&c));
    for (u32 b = 0; b < f->cfg->block_count; b++) f->exits[b] = f->cfg->blocks[b].count && time_only_leaves(&c, b);
    for (u32 b = 0; b < f->cfg->block_count; b++)
        if (f->cfg->blocks[b].reachable && f->cfg->blocks[b].count) invert_branch(&c, b);
    TRY(time_choose_predicated(&c, false));
    for (u32 b = 0; b < f->cfg->block_count; b++)
        if (f->cfg->blocks[b].reachable && f->cfg->blocks[b].count) speculate_branch(&c, b);
    TRY(time_choose_predicated(&c, true));
    if (f->lower->gpu->sm_version >= 70)
        for (u32 k = 0; k < f->cfg->rpo_count; k++)
            if (f->cfg->blocks[f->cfg->rpo[k]].count) synchronize(&c, f->cfg->rpo[k]);
    if (f->lower->gpu->sm_version >= 70) TRY(open_joins(&c));
    for (u32 b = 0; b < f->cfg->block_count; b++)
        if (f->cfg->blocks[b].reachable && f->cfg->blocks[b].count) lay_out(&c, b);
    time_join(f);
    time_choose_unrolled(f);
    time_choose_apart(f);
    return STATUS_OK;
}
