// SPDX-License-Identifier: Apache-2.0
// Which sides of branches ptxas predicates. From 7,400 kernels compiled by ptxas 13.0 for sm_90, which differ in
// what the side is, what stands before it (the head) and where it leads (the join): tests/time/sides.tsv has some.
//
// A short side is predicated whatever it is. A longer one where the head, the side and the join, made one block, would
// hide more of the latency of loads from global memory: loads of two of them would be under way together, or one would
// have instructions of the others to wait behind.
#include "sim/time/time_code_control.h"

enum {
    // Machine instructions of a side, all of them: where lanes part, where they do not, and where latency is hidden.
    SIDE_MAX = 8,
    SIDE_UNIFORM_MAX = 6,
    SIDE_HIDING_MAX = 20,
    // What a block must have for a load of the other one, head or join, to be hidden behind it.
    HIDING_MIN = 6,
    // ... and what must be independent of a side's load, in it and in the join, where neither of the others loads;
    // more where a store keeps the load from going first.
    INDEPENDENT_MIN = 2,
    INDEPENDENT_STORED_MIN = 4,
    // In a loop, of a variable in shared memory that is named in the side: S2R and MOV besides LEA.
    NAMED_MORE = 2,
};

// What counts of a block, or of blocks that are one already.
typedef struct Extent {
    u32 cost;     // machine instructions, but for loads of parameters
    u32 loads;    // of global memory
    u32 pending;  // ... whose results the block does not read itself
    u32 shared;   // loads of shared memory
    u32 kept;     // stores to shared memory
    bool stored;  // a store to other memory stands before the first load of global memory
} Extent;

typedef struct Sides {
    const TimeControl *c;
    Extent *extents;  // by block; of blocks that are one: by the first of them
    u32 *first;       // by block: the first one of those that it is one with
    Bitset loaded;    // values that depend on a load of the side under work
} Sides;

// if (p) { sides[0] } or if (p) { sides[0] } else { sides[1] }
typedef struct Choice {
    u32 head, join;
    u32 sides[2], count;
} Choice;

static const FlowBlock *block_at(const Sides *s, u32 b) { return &s->c->f->cfg->blocks[b]; }
static u32 end_of(const FlowBlock *block) { return block->first + block->count; }
static const FlowInsn *insn_at(const Sides *s, u32 i) { return &s->c->f->code->insns[i]; }
static bool is_needed(const Sides *s, u32 i) { return s->c->f->picked[i].needed; }

static Extent *extent_of(const Sides *s, u32 b) { return &s->extents[s->first[b]]; }

static bool is_far_load(const Sides *s, u32 i) {
    const FlowInsn *in = insn_at(s, i);
    if (!is_needed(s, i) || in->is_atomic) return false;
    if (time_kind(s->c->f, i) == TIME_TEXTURE) return in->defs > 0;
    return in->is_load && (in->space == SPACE_GLOBAL || in->space == SPACE_NONE);
}

static bool is_parameter(const FlowInsn *in) { return in->is_load && in->space == SPACE_PARAM; }

static bool reads(const Sides *s, u32 i, u32 value) {
    const FlowOperand *uses = time_uses(s->c->f, i);
    if (insn_at(s, i)->guard == value) return true;
    for (u32 k = 0; k < insn_at(s, i)->uses; k++)
        if (uses[k].kind == FLOW_VALUE && uses[k].id == value) return true;
    return false;
}

// Whether instruction `insn` of a block makes something that a later one of it reads.
static bool is_used_within(const Sides *s, const FlowBlock *block, u32 insn) {
    const FlowInsn *in = insn_at(s, insn);
    for (u32 i = insn + 1; i < end_of(block); i++)
        for (u32 d = 0; d < in->defs; d++)
            if (reads(s, i, s->c->f->code->operands[in->operands + d].id)) return true;
    return false;
}

// A move of what the block has made costs nothing: the two share a register.
static bool is_shared(const Sides *s, const FlowBlock *block, u32 i) {
    const FlowInsn *in = insn_at(s, i);
    const FlowOperand *uses = time_uses(s->c->f, i);
    if (in->arith != FLOW_MOVE || in->uses != 1 || uses[0].kind != FLOW_VALUE) return false;
    for (u32 k = block->first; k < i; k++)
        for (u32 d = 0; d < insn_at(s, k)->defs; d++)
            if (s->c->f->code->operands[insn_at(s, k)->operands + d].id == uses[0].id) return true;
    return false;
}

enum { NAME_DEPTH = 4 };  // of sums that fold into what reads them

// Whether all that instruction `insn`, part of `loop`, has of variables in shared memory was named outside of the loop.
static bool is_named_outside(const Sides *s, u32 loop, u32 insn, u32 depth) {
    const TimeFunc *f = s->c->f;
    const FlowOperand *uses = time_uses(f, insn);
    if (!flow_loop_has(f->loops, loop, f->cfg->block_of[insn])) return true;
    for (u32 k = 0; k < insn_at(s, insn)->uses; k++) {
        if (uses[k].kind == FLOW_SYMBOL) return false;
        u32 def = uses[k].kind == FLOW_VALUE ? f->sole_def[uses[k].id] : WL_NONE;
        if (def == WL_NONE || is_needed(s, def)) continue;
        if (depth == 0 || !is_named_outside(s, loop, def, depth - 1)) return false;
    }
    return true;
}

// Whether the block, part of a loop, names a variable in shared memory itself.
static bool names_shared(const Sides *s, const FlowBlock *block, u32 b) {
    const TimeFunc *f = s->c->f;
    u32 loop = f->loops->loop_of[b];
    for (u32 i = block->first; i < end_of(block) && loop != WL_NONE; i++)
        if (is_needed(s, i) && f->picked[i].window && !is_named_outside(s, loop, i, NAME_DEPTH)) return true;
    return false;
}

static Extent find_extent(const Sides *s, u32 b) {
    const FlowBlock *block = block_at(s, b);
    Extent e = {.cost = s->c->cost[b]};
    for (u32 i = block->first; i < end_of(block); i++) {
        const FlowInsn *in = insn_at(s, i);
        if (!is_needed(s, i)) continue;
        e.cost -= (is_parameter(in) || is_shared(s, block, i)) && e.cost;
        bool shared = in->space == SPACE_SHARED;
        e.stored |= in->is_store && !shared && !e.loads;
        e.kept += in->is_store && shared;
        e.shared += in->is_load && shared;
        if (!is_far_load(s, i)) continue;
        e.loads++;
        e.pending += !is_used_within(s, block, i);
    }
    e.stored &= e.loads > 0;
    if (names_shared(s, block, b)) e.cost += NAMED_MORE;
    return e;
}

// --- what hides latency -------------------------------------------------------------------------------------------
static bool is_loaded(const Sides *s, u32 i) {
    const FlowInsn *in = insn_at(s, i);
    const FlowOperand *uses = time_uses(s->c->f, i);
    if (is_far_load(s, i) || (in->guard != WL_NONE && bitset_has(&s->loaded, in->guard))) return true;
    for (u32 k = 0; k < in->uses; k++)
        if (uses[k].kind == FLOW_VALUE && bitset_has(&s->loaded, uses[k].id)) return true;
    return false;
}

// Of instruction `i`: whether it depends on loads, which is noted for what it makes.
static bool follow(Sides *s, u32 i) {
    const FlowInsn *in = insn_at(s, i);
    bool loaded = is_loaded(s, i);
    for (u32 d = 0; d < in->defs; d++) {
        u32 value = s->c->f->code->operands[in->operands + d].id;
        if (loaded)
            bitset_add(&s->loaded, value);
        else
            bitset_remove(&s->loaded, value);
    }
    return loaded;
}

static bool is_counted(const Sides *s, u32 i) {
    const FlowInsn *in = insn_at(s, i);
    return is_needed(s, i) && !in->is_load && in->kind != FLOW_BRANCH;
}

// What a load of the side has beside it: other instructions of the join, which wait neither for it nor behind a store
// that does, and of the side; *ends: that stores what it has loaded.
static u32 count_side(Sides *s, u32 side, bool *ends) {
    const FlowBlock *block = block_at(s, side);
    const Extent *e = &s->extents[side];
    u32 count = e->loads - 1 + e->kept * INDEPENDENT_MIN;
    bitset_clear(&s->loaded);
    *ends = false;
    for (u32 i = block->first; i < end_of(block); i++) {
        const FlowInsn *in = insn_at(s, i);
        *ends |= follow(s, i) && in->is_store && in->space != SPACE_SHARED;
        if (is_counted(s, i) && !in->is_store) count += time_step_count(s->c->f, i);
    }
    return e->stored && count > INDEPENDENT_MIN ? INDEPENDENT_MIN : count;
}

// Whether block `b` ends with a branch, which leads on, not back.
static bool ends_with_branch(const Sides *s, u32 b) {
    const FlowBlock *block = block_at(s, b);
    u32 last = end_of(block) - 1;
    if (insn_at(s, last)->kind != FLOW_BRANCH || s->c->f->no_branch[last]) return false;
    for (u32 k = 0; k < block->succ_count; k++) {
        u32 to = s->c->f->cfg->edges[block->succs + k];
        if (time_only_leaves(s->c, to) || dom_dominates(s->c->f->dominators, to, b)) return false;
    }
    return true;
}

static u32 count_join(Sides *s, u32 join, u32 *plain) {
    const FlowBlock *block = block_at(s, join);
    u32 count = *plain = ends_with_branch(s, join) ? INDEPENDENT_MIN : 0;
    bool stored = false;
    for (u32 i = block->first; i < end_of(block) && !insn_at(s, i)->is_barrier; i++) {
        const FlowInsn *in = insn_at(s, i);
        bool loaded = follow(s, i);
        stored |= loaded && in->is_store;
        if (!is_counted(s, i) || loaded || (stored && in->is_store)) continue;
        count += time_step_count(s->c->f, i);
        *plain += !in->is_store && in->arith != FLOW_COMPARE && in->arith != FLOW_MOVE;
    }
    return count;
}

static bool has_beside(Sides *s, u32 side, u32 join) {
    bool ends;
    u32 plain, within = count_side(s, side, &ends), behind = count_join(s, join, &plain);
    if (ends) return plain > 0;
    return within + behind >= (s->extents[side].stored ? INDEPENDENT_STORED_MIN : INDEPENDENT_MIN);
}

// Whether loads of the head or of the join gain by the two being one.
static bool is_hidden_around(const Extent *head, const Extent *join) {
    return (head->loads && join->loads) || (join->loads && head->cost >= HIDING_MIN) ||
           (head->pending && join->cost >= HIDING_MIN);
}

static bool is_hidden_in(Sides *s, const Choice *choice, u32 side) {
    const Extent *e = &s->extents[side], *head = extent_of(s, choice->head), *join = extent_of(s, choice->join);
    if (join->loads && (e->loads || e->shared)) return true;
    if (!e->loads) return false;
    if (head->loads && !e->stored) return true;
    return has_beside(s, side, choice->join);
}

// --- the choice ---------------------------------------------------------------------------------------------------
static bool can_predicate_insn(const Sides *s, u32 b, u32 i) {
    const TimeFunc *f = s->c->f;
    const FlowInsn *in = insn_at(s, i);
    u32 flags = form_op(time_form(f, i))->flags;
    bool jump = in->kind == FLOW_BRANCH && i + 1 == end_of(block_at(s, b)) && in->guard == WL_NONE;
    if ((in->kind != FLOW_PLAIN && !jump) || in->is_barrier || (in->guard != WL_NONE && !jump)) return false;
    if (flags & (OPF_CONVERGENT | OPF_WARP_SYNC | OPF_FENCE | OPF_ASYNC)) return false;
    if (is_needed(s, i) && in->is_atomic) return false;
    return true;
}

// Whether nothing leads to block `b` but `head`, with the conditions that it asks for together.
static bool is_entered_by(const Sides *s, u32 head, u32 b) {
    const FlowBlock *block = block_at(s, b);
    for (u32 k = 0; k < block->pred_count; k++) {
        u32 pred = s->c->f->cfg->edges[block->preds + k];
        if (s->c->through[pred]) pred--;  // the jump behind a branch
        if (pred > head || pred + s->c->conditions[head] < head) return false;
    }
    return true;
}

static bool can_predicate(const Sides *s, u32 head, u32 b) {
    const FlowBlock *block = block_at(s, b);
    if (!is_entered_by(s, head, b) || block->succ_count != 1 || block->leaves || !block->count) return false;
    if (s->extents[b].cost > SIDE_HIDING_MAX) return false;
    for (u32 i = block->first; i < end_of(block); i++)
        if (!can_predicate_insn(s, b, i)) return false;
    return true;
}

static bool is_short(const Sides *s, const Choice *choice, u32 most) {
    for (u32 k = 0; k < choice->count; k++)
        if (s->extents[choice->sides[k]].cost + (choice->count == 2 && k == 0) > most) return false;
    return true;
}

// A side of those that load nothing is hidden where the other one's loads, or what is around both, gains by it.
static bool is_hiding(Sides *s, const Choice *choice) {
    const Extent *head = extent_of(s, choice->head), *join = extent_of(s, choice->join);
    u32 hidden = 0, cost = 0;
    for (u32 k = 0; k < choice->count; k++) {
        hidden += is_hidden_in(s, choice, choice->sides[k]);
        cost += s->extents[choice->sides[k]].cost;
    }
    if (choice->count == hidden) return true;
    return (hidden || is_hidden_around(head, join)) && cost + choice->count - 1 <= SIDE_HIDING_MAX;
}

static bool has_loads(const Sides *s, const Choice *choice) {
    return s->extents[choice->sides[0]].loads || s->extents[choice->sides[1]].loads;
}

static bool is_worth_it(Sides *s, const Choice *choice) {
    const TimeFunc *f = s->c->f;
    const Extent *side = &s->extents[choice->sides[0]];
    u32 branch = end_of(block_at(s, choice->head)) - 1;
    u32 most = bitset_has(&f->divergence->branches, branch) ? SIDE_MAX : SIDE_UNIFORM_MAX;
    // A load that nothing hides, however short the side is; of two sides, where other ways lead to the join, too.
    bool waits = choice->count == 1 ? side->loads : block_at(s, choice->join)->pred_count > 2 && has_loads(s, choice);
    if (!waits && is_short(s, choice, most)) return true;
    return is_short(s, choice, SIDE_HIDING_MAX) && is_hiding(s, choice);
}

// Block `b` is one with those that begin with `first`.
static void join_to(Sides *s, u32 first, u32 b) {
    u32 last = b;
    Extent *e = &s->extents[first];
    const Extent *other = extent_of(s, b);
    e->cost += other->cost, e->loads += other->loads, e->pending += other->pending;
    for (; last < s->c->f->cfg->block_count && s->first[last] == b; last++) s->first[last] = first;
}

// Jumps to a side that are not issued are part of it.
static void predicate_jumps(Sides *s, u32 side) {
    const FlowBlock *block = block_at(s, side);
    for (u32 k = 0; k < block->pred_count; k++) {
        u32 pred = s->c->f->cfg->edges[block->preds + k];
        if (s->c->through[pred]) s->c->f->predicated[pred] = true;
    }
}

static void predicate(Sides *s, const Choice *choice) {
    TimeFunc *f = s->c->f;
    u32 first = s->first[choice->head];
    f->no_branch[end_of(block_at(s, choice->head)) - 1] = true;
    for (u32 k = 0; k < choice->count; k++) {
        u32 last = end_of(block_at(s, choice->sides[k])) - 1;
        f->predicated[choice->sides[k]] = true;
        predicate_jumps(s, choice->sides[k]);
        if (insn_at(s, last)->kind == FLOW_BRANCH) f->no_branch[last] = true;
        join_to(s, first, choice->sides[k]);
    }
    if (block_at(s, choice->join)->pred_count == 2) join_to(s, first, choice->join);
}

// The sides of the branch at the end of block `b`, when there is nothing else.
static bool find_choice(const Sides *s, u32 b, Choice *choice) {
    const FlowBlock *block = block_at(s, b);
    const FlowInsn *branch = insn_at(s, end_of(block) - 1);
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE || block->succ_count != 2) return false;
    const u32 *edges = s->c->f->cfg->edges;
    u32 side = time_behind_jump(s->c, edges[block->succs + 1]), other = time_behind_jump(s->c, edges[block->succs]);
    if (time_only_leaves(s->c, side) || time_only_leaves(s->c, other)) return false;
    bool side_ok = can_predicate(s, b, side), other_ok = can_predicate(s, b, other);
    u32 after_side = side_ok ? edges[block_at(s, side)->succs] : WL_NONE;
    u32 after_other = other_ok ? edges[block_at(s, other)->succs] : WL_NONE;
    if (after_side == other)
        *choice = (Choice){b, other, {side}, 1};
    else if (after_other == side)
        *choice = (Choice){b, side, {other}, 1};
    else if (side_ok && other_ok && after_side == after_other && !time_only_leaves(s->c, after_side))
        *choice = (Choice){b, after_side, {side, other}, 2};
    else
        return false;
    return true;
}

// Predicates what is worth it of all branches. Returns whether there was any.
static bool predicate_some(Sides *s, bool joined) {
    const Cfg *cfg = s->c->f->cfg;
    bool some = false;
    for (u32 b = cfg->block_count; b-- > 0;) {
        const FlowBlock *block = &cfg->blocks[b];
        Choice choice;
        if (joined && !s->c->conditions[b]) continue;
        if (!block->reachable || !block->count || s->c->f->no_branch[end_of(block) - 1]) continue;
        if (!find_choice(s, b, &choice) || !is_worth_it(s, &choice)) continue;
        predicate(s, &choice);
        some = true;
    }
    return some;
}

Status time_choose_predicated(TimeControl *c, bool joined) {
    u32 count = c->f->cfg->block_count;
    Arena *arena = &c->f->lower->scratch;
    Sides s = {.c = c, .extents = ARENA_ARRAY(arena, Extent, count + 1), .first = ARENA_ARRAY(arena, u32, count + 1)};
    if (!s.extents || !s.first || !bitset_init(&s.loaded, arena, c->f->code->value_count + 1)) return STATUS_NO_MEMORY;
    for (u32 b = 0; b < count; b++) s.first[b] = b;
    for (u32 b = 0; b < count; b++) s.extents[b] = find_extent(&s, b);
    while (predicate_some(&s, joined)) {}
    return STATUS_OK;
}
