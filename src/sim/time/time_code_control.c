// SPDX-License-Identifier: Apache-2.0
// What ptxas makes of branches: short conditional regions are predicated, diverging regions are put between BSSY and
// BSYNC, jumps between neighbours fall away. From listings of ptxas 13.0 for sm_90.
#include "flow/affine.h"
#include "sim/time/time_lower.h"

enum {
    // Of a region that is predicated, measured by compiling regions of every size and kind: machine instructions
    // besides its loads, but with those of shared memory; stores to global memory.
    PREDICATED_MAX = 8,
    PREDICATED_STORES = 3,
    SPECULATED_MAX = 5,  // of a second condition that is computed whatever the first one is
};

typedef struct Control {
    TimeFunc *f;
    u32 *cost;       // of each block: machine instructions
    u32 *loads;      // ... of these, loads, but for those of shared memory
    u32 *through;    // block + 1 that one leads to which is only a jump, and is not issued; 0 = none
    Bitset claimed;  // blocks that a jump is laid out before
} Control;

static const FlowBlock *block_at(const Control *c, u32 b) { return &c->f->cfg->blocks[b]; }
static u32 last_insn(const FlowBlock *block) { return block->first + block->count - 1; }
static const FlowInsn *insn_at(const Control *c, u32 i) { return &c->f->code->insns[i]; }

static Status find_costs(Control *c) {
    TimeFunc *f = c->f;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        if (!f->picked[i].needed || insn_at(c, i)->kind == FLOW_BRANCH) continue;
        TimeSteps steps;
        u32 row = f->picked[i].steps;
        TRY(time_steps(f->lower, f->lower->module->insns[f->function->insns + row].form, time_variant(f, row), &steps));
        c->cost[f->cfg->block_of[i]] += steps.count;
        c->loads[f->cfg->block_of[i]] += insn_at(c, i)->is_load && insn_at(c, i)->space != SPACE_SHARED;
    }
    return STATUS_OK;
}

// --- predication
// ------------------------------------------------------------------------------------------------------
// Whether instruction `insn` of a block makes something that a later one of it reads.
static bool is_used_within(const Control *c, const FlowBlock *block, u32 insn) {
    const FlowInsn *in = insn_at(c, insn);
    for (u32 i = insn + 1; i < block->first + block->count; i++) {
        const FlowOperand *uses = time_uses(c->f, i);
        for (u32 k = 0; k < insn_at(c, i)->uses; k++)
            for (u32 d = 0; d < in->defs; d++)
                if (uses[k].kind == FLOW_VALUE && uses[k].id == c->f->code->operands[in->operands + d].id) return true;
    }
    return false;
}

static u32 cost_without_loads(const Control *c, u32 b) { return c->cost[b] - c->loads[b]; }

// What ptxas leaves between branches, however short: two loads of global memory whose results only those behind the
// region read, more than a few stores, atomics.
static bool has_few_accesses(const Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    u32 unused = 0, stores = 0;
    for (u32 i = block->first; i < block->first + block->count; i++) {
        const FlowInsn *in = insn_at(c, i);
        if (in->address_use == 0xff || !c->f->picked[i].needed) continue;
        if (in->is_atomic) return false;
        bool global = in->space == SPACE_GLOBAL || in->space == SPACE_NONE;
        if (in->is_load && global) unused += !is_used_within(c, block, i);
        stores += in->is_store && global;
    }
    return unused < 2 && stores <= PREDICATED_STORES;
}

static bool can_predicate(const Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    if (block->pred_count != 1 || block->succ_count != 1 || block->leaves) return false;
    if (cost_without_loads(c, b) > PREDICATED_MAX || c->loads[b] > PREDICATED_MAX) return false;
    for (u32 i = block->first; i < block->first + block->count; i++) {
        const FlowInsn *in = insn_at(c, i);
        u32 flags = form_op(time_form(c->f, i))->flags;
        bool jump = in->kind == FLOW_BRANCH && i == last_insn(block) && in->guard == WL_NONE;
        if ((in->kind != FLOW_PLAIN && !jump) || in->is_barrier) return false;
        if (flags & (OPF_CONVERGENT | OPF_WARP_SYNC | OPF_FENCE) || flags & OPF_ASYNC) return false;
        if (in->guard != WL_NONE && !jump) return false;
        // Uniform instructions, here those that find shared memory, stay in the region when it is in a loop.
        if (c->f->picked[i].needed && c->f->picked[i].window && c->f->loops->loop_of[b] != WL_NONE) return false;
    }
    return has_few_accesses(c, b);
}

static void predicate(Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    c->f->predicated[b] = true;
    if (insn_at(c, last_insn(block))->kind == FLOW_BRANCH) c->f->no_branch[last_insn(block)] = true;
}

// The kernel ends here and nothing else: branches to it are conditional exits.
static bool only_leaves(const Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    return block->leaves && block->succ_count == 0 && c->cost[b] <= 1 && c->f->function->is_entry;
}

// `@p bra X; bra Y; X:` is one branch on the machine, to Y unless p.
static void invert_branch(Control *c, u32 b) {
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

static u32 behind_jump(const Control *c, u32 b) { return c->through[b] ? c->through[b] - 1 : b; }

// if (p) { side } and if (p) { side } else { other }, both short.
static void predicate_branch(Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    const FlowInsn *branch = insn_at(c, last_insn(block));
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE || block->succ_count != 2) return;
    const u32 *succs = c->f->cfg->edges + block->succs;
    u32 side = behind_jump(c, succs[1]), other = behind_jump(c, succs[0]);
    if (only_leaves(c, side) || only_leaves(c, other)) return;
    bool side_ok = can_predicate(c, side), other_ok = can_predicate(c, other);
    u32 after_side = side_ok ? c->f->cfg->edges[block_at(c, side)->succs] : WL_NONE;
    u32 after_other = other_ok ? c->f->cfg->edges[block_at(c, other)->succs] : WL_NONE;
    if (side_ok && after_side == other && cost_without_loads(c, side) <= PREDICATED_MAX) {
        predicate(c, side);
    } else if (other_ok && after_other == side && cost_without_loads(c, other) <= PREDICATED_MAX) {
        predicate(c, other);
    } else if (side_ok && other_ok && after_side == after_other &&
               cost_without_loads(c, side) + cost_without_loads(c, other) <= PREDICATED_MAX) {
        predicate(c, side);
        predicate(c, other);
    } else {
        return;
    }
    c->f->no_branch[last_insn(block)] = true;
}

// --- second conditions
// -----------------------------------------------------------------------------------------------
// `a && b` is two branches in PTX. What b takes is computed whatever a is, and one branch asks for both.
static bool can_speculate(const Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    const FlowInsn *branch = insn_at(c, last_insn(block));
    if (block->pred_count != 1 || block->succ_count != 2 || c->cost[b] > SPECULATED_MAX) return false;
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE) return false;
    for (u32 i = block->first; i < last_insn(block); i++) {
        const FlowInsn *in = insn_at(c, i);
        u32 flags = form_op(time_form(c->f, i))->flags;
        if (in->kind != FLOW_PLAIN || in->has_effects || in->is_barrier || in->guard != WL_NONE) return false;
        if (in->is_load && c->f->picked[i].needed) return false;
        if (flags & (OPF_CONVERGENT | OPF_WARP_SYNC | OPF_FENCE | OPF_ASYNC)) return false;
    }
    return true;
}

static void speculate_branch(Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    const FlowInsn *branch = insn_at(c, last_insn(block));
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE || block->succ_count != 2) return;
    if (c->f->no_branch[last_insn(block)] || b + 1 == c->f->cfg->block_count) return;
    const u32 *succs = c->f->cfg->edges + block->succs;
    u32 next = b + 1, taken = succs[0] == next ? succs[1] : succs[0];
    if ((succs[0] != next && succs[1] != next) || taken == next || !can_speculate(c, next)) return;
    const u32 *then = c->f->cfg->edges + block_at(c, next)->succs;
    if (then[0] != taken && then[1] != taken) return;
    c->f->speculated[next] = true;
    c->f->no_branch[last_insn(block)] = true;
}

// --- divergence
// -------------------------------------------------------------------------------------------------------

// Where the region of a diverging branch begins: before the loops that its end lies outside of.
static u32 region_begin(const Control *c, u32 b, u32 end) {
    for (u32 loop = c->f->loops->loop_of[b]; loop != WL_NONE && !flow_loop_has(c->f->loops, loop, end);
         loop = c->f->loops->loop_of[b]) {
        u32 before = c->f->dominators->parent[c->f->loops->loops[loop].header];
        if (before == WL_NONE) break;
        b = before;
    }
    return b;
}

static void synchronize(Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    u32 last = last_insn(block), end = c->f->postdominators->parent[b];
    bool branch = insn_at(c, last)->kind == FLOW_BRANCH || insn_at(c, last)->kind == FLOW_SWITCH;
    if (!branch || c->f->no_branch[last] || end == WL_NONE || only_leaves(c, end)) return;
    if (!bitset_has(&c->f->divergence->branches, last)) return;
    u32 begin = region_begin(c, b, end);
    // The first branch to an end opens its region; those inside share it.
    for (u32 up = begin; up != WL_NONE; up = c->f->dominators->parent[up])
        if (c->f->opens[up] == end + 1) return;
    if (c->f->opens[begin]) return;
    c->f->opens[begin] = end + 1;
    c->f->closes[end] = true;
}

// --- layout
// ----------------------------------------------------------------------------------------------------------- A jump
// costs nothing when its target can be laid out behind it: nothing else falls into the target.
static void lay_out(Control *c, u32 b) {
    const FlowBlock *block = block_at(c, b);
    u32 last = last_insn(block);
    const FlowInsn *jump = insn_at(c, last);
    if (jump->kind != FLOW_BRANCH || jump->guard != WL_NONE || block->succ_count != 1) return;
    u32 target = c->f->cfg->edges[block->succs];
    bool before = target > 0 && block_at(c, target - 1)->count > 0;
    const FlowInsn *above = before ? insn_at(c, last_insn(block_at(c, target - 1))) : NULL;
    bool falls = above && (above->kind == FLOW_PLAIN || above->kind == FLOW_CALL || above->guard != WL_NONE);
    if (only_leaves(c, target) && target != b + 1) return;
    if (target == b + 1 || (!falls && target > b && !bitset_has(&c->claimed, target))) {
        bitset_add(&c->claimed, target);
        c->f->no_branch[last] = true;
    }
}

// --- the pass
// -----------------------------------------------------------------------------------------------------------
static Status analyze(Control *c) {
    TimeFunc *f = c->f;
    Arena *arena = &f->lower->scratch;
    Liveness *live;
    Chains *chains;
    Affine *affine;
    u32 blocks = f->cfg->block_count + 1;
    TRY(flow_postdominators(f->cfg, arena, &f->postdominators));
    TRY(flow_loops(f->cfg, f->dominators, arena, &f->loops));
    TRY(flow_liveness(f->cfg, arena, &live));
    TRY(flow_chains(live, arena, &chains));
    TRY(flow_divergence(chains, f->loops, f->postdominators, arena, &f->divergence));
    if (f->loops->loop_count) {
        TRY(flow_affine(chains, f->loops, f->divergence, arena, &affine));
        flow_trip_counts(affine, f->dominators, f->loops);
    }
    c->cost = ARENA_ARRAY(arena, u32, blocks);
    c->loads = ARENA_ARRAY(arena, u32, blocks);
    c->through = ARENA_ARRAY(arena, u32, blocks);
    f->predicated = ARENA_ARRAY(arena, bool, blocks);
    f->exits = ARENA_ARRAY(arena, bool, blocks);
    f->speculated = ARENA_ARRAY(arena, bool, blocks);
    f->opens = ARENA_ARRAY(arena, u32, blocks);
    f->closes = ARENA_ARRAY(arena, bool, blocks);
    f->unrolled = ARENA_ARRAY(arena, u8, blocks);
    f->rest = ARENA_ARRAY(arena, bool, blocks);
    f->no_branch = ARENA_ARRAY(arena, bool, f->code->insn_count + 1);
    f->loop_control = ARENA_ARRAY(arena, bool, f->code->insn_count + 1);
    bool ok = bitset_init(&c->claimed, arena, blocks) && bitset_init(&f->counted, arena, f->code->value_count + 1);
    ok = ok && c->cost && c->loads && c->through && f->predicated && f->exits && f->speculated && f->opens &&
         f->closes && f->no_branch && f->loop_control && f->unrolled && f->rest;
    return ok ? find_costs(c) : STATUS_NO_MEMORY;
}

Status time_control(TimeFunc *f) {
    Control c = {.f = f};
    TRY(analyze(&c));
    for (u32 b = 0; b < f->cfg->block_count; b++) f->exits[b] = f->cfg->blocks[b].count && only_leaves(&c, b);
    for (u32 b = 0; b < f->cfg->block_count; b++)
        if (f->cfg->blocks[b].reachable && f->cfg->blocks[b].count) invert_branch(&c, b);
    for (u32 b = 0; b < f->cfg->block_count; b++)
        if (f->cfg->blocks[b].reachable && f->cfg->blocks[b].count) predicate_branch(&c, b);
    for (u32 b = 0; b < f->cfg->block_count; b++)
        if (f->cfg->blocks[b].reachable && f->cfg->blocks[b].count) speculate_branch(&c, b);
    if (f->lower->gpu->sm_version >= 70)
        for (u32 k = 0; k < f->cfg->rpo_count; k++)
            if (f->cfg->blocks[f->cfg->rpo[k]].count) synchronize(&c, f->cfg->rpo[k]);
    for (u32 b = 0; b < f->cfg->block_count; b++)
        if (f->cfg->blocks[b].reachable && f->cfg->blocks[b].count) lay_out(&c, b);
    time_join(f);
    time_choose_unrolled(f);
    return STATUS_OK;
}
