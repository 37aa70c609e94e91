// SPDX-License-Identifier: Apache-2.0
// The part of branch-elimination that is about ways too short for branches: lanes part, go each way one after the
// other, and meet again. Without branches (minimum and maximum, selection) all lanes do once what all ways have; where
// the ways are cases of one number, they do once what the longest case has, with values from a table. Where lanes meet
// nowhere in a turn, no load of the next copy of it is kept back either, and copies that need nothing of each other
// wait for results together.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum {
    LEAST_CASES = 3 /* of one number: of fewer, it is no switch */,
    MOST_OF_CASE = 16 /* instructions: longer ones are formulas of their own, not rows of a table */,
    MOST_OF_WAYS = 64 /* ... of all ways together that become one sequence */,
    MOST_BLOCKS = 256
};
#define WORTH_IT 0.05  // of the samples: with less, code is not worth writing anew

// What takes a switch's place: an address, a load of shared memory, and the cycles until its data is there (sm_90).
enum { LOOK_UP_STEPS = 2, LOOK_UP_LATENCY = 29 };

enum { AT_JUMPS = STALL_BIT(BRANCH_RESOLVING) | STALL_BIT(NO_INSTRUCTIONS), AT_MEETING = AT_JUMPS | STALL_BIT(WAIT) };

// Cycles that a branch holds what stands behind it, whether taken or not (stall counts of nvcc 13.0 for sm_90).
#define HELD_BY_BRANCH 4.0

typedef struct Cost {
    f64 samples;  // of one run
    u32 insns;
} Cost;

enum { NOT_SEEN, UNDER_WAY, KNOWN };

typedef struct Longest {  // of the ways from a block to where they meet
    u8 state;
    bool asks;  // which case it is
    Cost cost;
    u32 next;  // block; WL_NONE: the meeting is next
} Longest;

typedef struct Ways {
    const CasePart *part;
    u32 root, meet;  // blocks
    Bitset blocks;   // between them
    u32 list[MOST_BLOCKS], count;
    bool loads;    // something is loaded on a way
    u32 selector;  // node: the number that a switch is over; WL_NONE: none was met yet
    u8 kind;
    Bitset stay;       // ... of one way: its blocks
    Longest *longest;  // by block
    u32 *ops;          // by opcode: instructions of the longest way
    f64 serial;        // part of the waits for results that is left where other ways' instructions can be issued
                       // meanwhile
} Ways;

enum { ALL_WAYS, LONGEST_WAY, LONGEST_CASE };  // Ways.kind: what stays

typedef struct Region {  // ways whose instructions are few enough
    u32 root, meet;
    u32 level;  // of those of its loop, so many are needed one after the other before it
} Region;

typedef struct Small {  // in a part
    Region *regions;    // in order of their roots
    u32 count;
    u32 *region_of;       // by block: whose way it is on, WL_NONE: none
    Bitset roots, taken;  // blocks; on ways that go
    u32 taken_count, pc;
    f64 most;
    u8 kind;  // of the hottest
} Small;

static const FlowBlock *block_at(const CasePart *part, u32 block) { return &part->view->flow.cfg->blocks[block]; }

static u32 last_of(const CasePart *part, u32 block) {
    const FlowBlock *b = block_at(part, block);
    return b->first + b->count - 1;
}

// Only says where lanes go, and where they wait for others.
static bool is_control(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const SassInsn *machine = insn_machine(part, pc);
    if (in->kind == FLOW_BRANCH || in->kind == FLOW_SWITCH) return true;
    if (!machine) return false;
    return machine->op == SASS_OP_BSSY || machine->op == SASS_OP_BSYNC || machine->op == SASS_OP_BREAK ||
           machine->op == SASS_OP_WARPSYNC;
}

// --- the ways --------------------------------------------------------------------------------------------------------
static bool add_block(Ways *w, u32 block) {
    const u32 *loop_of = w->part->view->flow.loops->loop_of;
    if (block == w->meet) return true;
    if (block == w->root || w->count == MOST_BLOCKS || loop_of[block] != loop_of[w->root]) return false;
    if (bitset_has(&w->blocks, block)) return true;
    bitset_add(&w->blocks, block);
    w->longest[block] = (Longest){0};
    w->list[w->count++] = block;
    return true;
}

static bool add_ways(Ways *w, u32 block) {
    const FlowBlock *b = block_at(w->part, block);
    for (u32 i = 0; i < b->succ_count; i++)
        if (!add_block(w, w->part->view->flow.cfg->edges[b->succs + i])) return false;
    return !b->leaves;
}

static bool is_entered_elsewhere(const Ways *w, u32 block) {
    const FlowBlock *b = block_at(w->part, block);
    for (u32 i = 0; i < b->pred_count; i++) {
        u32 from = w->part->view->flow.cfg->edges[b->preds + i];
        if (from != w->root && !bitset_has(&w->blocks, from)) return true;
    }
    return false;
}

// Computes, or loads: a lane may do so whatever way it is on.
static bool may_be_done_by_all(Ways *w, u32 pc) {
    const FlowInsn *in = case_insn(w->part, pc);
    if (is_control(w->part, pc)) return true;
    if (in->is_load && in->space != SPACE_CONST) {
        w->loads = true;
        return !in->is_atomic && !in->polls && (insn_is_global(in) || in->space == SPACE_SHARED);
    }
    return in->kind == FLOW_PLAIN && !in->has_effects && !in->is_store && !(w->part->insns[pc].traits & TRAIT_SHUFFLE);
}

static bool find_ways(Ways *w) {
    const CasePart *part = w->part;
    if (!add_ways(w, w->root)) return false;
    for (u32 i = 0; i < w->count; i++) {
        const FlowBlock *b = block_at(part, w->list[i]);
        if (!add_ways(w, w->list[i])) return false;
        for (u32 pc = b->first; pc < b->first + b->count; pc++)
            if (!may_be_done_by_all(w, pc)) return false;
    }
    for (u32 i = 0; i < w->count; i++)
        if (is_entered_elsewhere(w, w->list[i])) return false;
    return w->count > 0;
}

// --- what all lanes do without branches ------------------------------------------------------------------------------
// Waits for what is loaded before lanes part are waits wherever it is used first.
static u32 own_waits(const Ways *w) {
    u32 own = ~(u32)AT_JUMPS;
    return w->loads ? own : own & ~STALL_BIT(LONG_SCOREBOARD);
}

static f64 waits_at(const CasePart *part, u32 pc, u32 reasons) {
    f64 all = 0;
    for (u32 i = part->blame->first[pc]; i < part->blame->first[pc + 1]; i++) {
        const BlameEdge *edge = &part->blame->edges[i];
        if (!STALLED_BY_OTHERS(edge->reason) && reasons & 1u << edge->reason) all += edge->samples * part->weight;
    }
    return all;
}

static Cost cost_of(const Ways *w, u32 block) {
    const FlowBlock *b = block_at(w->part, block);
    f64 runs = block_runs(w->part, block);
    Cost cost = {0};
    for (u32 pc = b->first; pc < b->first + b->count; pc++) {
        if (is_control(w->part, pc)) continue;
        cost.samples += w->part->insns[pc].issued + waits_at(w->part, pc, own_waits(w));
        cost.insns++;
    }
    cost.samples = runs > 0 ? cost.samples / runs : 0;
    return cost;
}

// Whether the branch at the end of the block asks for a case: a number compared with a constant, the same one in the
// whole switch, or where to go by a table.
static bool asks_case(Ways *w, u32 block) {
    const FlowResults *flow = &w->part->view->flow;
    u32 branch = last_of(w->part, block), guard = flow->chains->of_guard[branch];
    if (!block_at(w->part, block)->count) return false;
    if (case_insn(w->part, branch)->kind == FLOW_SWITCH) return true;
    u32 test = guard == WL_NONE ? WL_NONE : flow->chains->nodes[guard].insn;
    const FlowInsn *in = test == WL_NONE ? NULL : case_insn(w->part, test);
    if (!in || in->compare == FLOW_COMPARE_NONE || in->uses < 2) return false;
    u32 node = flow->chains->of_operand[in->operands + in->defs];
    if (node == WL_NONE || flow->code->operands[in->operands + in->defs + 1].kind != FLOW_IMMEDIATE) return false;
    if (w->selector == WL_NONE) w->selector = node;
    return node == w->selector;
}

// The cases' tests cost nothing: a table has their place.
static Cost longest_from(Ways *w, u32 block) {
    const FlowBlock *b = block_at(w->part, block);
    Longest *l = &w->longest[block];
    if (l->state != NOT_SEEN) return l->cost;
    *l = (Longest){.state = UNDER_WAY, .next = WL_NONE};
    l->asks = asks_case(w, block);
    for (u32 i = 0; i < b->succ_count; i++) {
        u32 to = w->part->view->flow.cfg->edges[b->succs + i];
        Cost cost = to == w->meet ? (Cost){0} : longest_from(w, to);
        if (to != w->meet && (l->next == WL_NONE || cost.samples > l->cost.samples)) l->cost = cost, l->next = to;
    }
    l->state = KNOWN;
    Cost own = l->asks ? (Cost){0} : cost_of(w, block);
    l->cost = (Cost){l->cost.samples + own.samples, l->cost.insns + own.insns};
    return l->cost;
}

// Ways on which the number is known.
static u32 count_cases(const Ways *w) {
    u32 count = 0;
    for (u32 i = 0; i < w->count; i++) {
        const FlowBlock *b = block_at(w->part, w->list[i]);
        bool is_head = !w->longest[w->list[i]].asks;
        for (u32 k = 0; k < b->pred_count; k++) {
            u32 from = w->part->view->flow.cfg->edges[b->preds + k];
            is_head &= w->longest[from].asks && (from == w->root || bitset_has(&w->blocks, from));
        }
        count += is_head;
    }
    return count;
}

static void count_ops(const Ways *w, u32 block) {
    const FlowBlock *b = block_at(w->part, block);
    for (u32 pc = b->first; pc < b->first + b->count; pc++)
        if (!is_control(w->part, pc)) w->ops[insn_op(w->part, pc)]++;
}

static void clear_ops(const Ways *w, u32 block) {
    const FlowBlock *b = block_at(w->part, block);
    for (u32 pc = b->first; pc < b->first + b->count; pc++) w->ops[insn_op(w->part, pc)] = 0;
}

// Of the block's instructions those that the longest way has as well.
static u32 count_alike(const Ways *w, u32 block) {
    const FlowBlock *b = block_at(w->part, block);
    u32 alike = 0;
    for (u32 k = 0; k < w->count; k++)
        if (bitset_has(&w->stay, w->list[k])) count_ops(w, w->list[k]);
    for (u32 pc = b->first; pc < b->first + b->count; pc++) {
        u32 *left = &w->ops[insn_op(w->part, pc)];
        if (!is_control(w->part, pc) && *left) (*left)--, alike++;
    }
    for (u32 k = 0; k < w->count; k++) clear_ops(w, w->list[k]);
    return alike;
}

// Whether the longest way has what each of the others has, and one of them is worth that.
static bool are_alike(const Ways *w) {
    bool worth = false;
    for (u32 i = 0; i < w->count; i++) {
        u32 insns = cost_of(w, w->list[i]).insns;
        if (bitset_has(&w->stay, w->list[i])) continue;
        if (count_alike(w, w->list[i]) < WAYS_ALIKE * insns) return false;
        worth |= insns >= LEAST_OF_ALIKE;
    }
    return worth;
}

// False: they are too long.
static bool choose_what_stays(Ways *w) {
    w->longest[w->root] = (Longest){0};
    Cost longest = longest_from(w, w->root);
    u32 insns = 0;
    for (u32 i = 0; i < w->count; i++) insns += cost_of(w, w->list[i]).insns;
    for (u32 b = w->longest[w->root].next; b != WL_NONE; b = w->longest[b].next)
        if (!w->longest[b].asks) bitset_add(&w->stay, b);
    if (w->longest[w->root].asks && count_cases(w) >= LEAST_CASES) {
        w->kind = LONGEST_CASE;
        return longest.insns <= MOST_OF_CASE;
    }
    if (w->loads || insns > MOST_OF_WAYS) return false;
    w->kind = are_alike(w) ? LONGEST_WAY : ALL_WAYS;
    return true;
}

static bool are_small(Ways *w) {
    const FlowResults *flow = &w->part->view->flow;
    const FlowBlock *root = block_at(w->part, w->root);
    if (!root->count || root->succ_count < 2 || w->meet == WL_NONE || block_runs(w->part, w->root) <= 0) return false;
    if (!bitset_has(&flow->divergence->branches, last_of(w->part, w->root))) return false;
    if (flow->loops->loop_of[w->meet] != flow->loops->loop_of[w->root]) return false;
    return find_ways(w) && choose_what_stays(w);
}

static void forget_ways(Ways *w) {
    for (u32 i = 0; i < w->count; i++) bitset_remove(&w->blocks, w->list[i]), bitset_remove(&w->stay, w->list[i]);
    w->count = 0, w->loads = false, w->selector = WL_NONE;
}

// Those of a region again.
static void look_again(Ways *w, const Region *r) {
    w->root = r->root, w->meet = r->meet;
    if (find_ways(w)) choose_what_stays(w);
}

// --- what goes -------------------------------------------------------------------------------------------------------
typedef struct Gone {                   // parts of an instruction's
    f64 issues, waits, results, jumps;  // issues; waits besides those for results; for results; behind jumps
} Gone;

// What the block has besides branches runs as often as lanes come to where they part: less than 0, where that is more
// often than before.
static f64 part_gone(const Ways *w, u32 block) {
    f64 runs = block_runs(w->part, block);
    if (w->kind != ALL_WAYS && !bitset_has(&w->stay, block)) return 1;
    return runs > 0 ? 1 - block_runs(w->part, w->root) / runs : 0;
}

// A test's result is waited for 13 cycles, that of a selection 4 (sm_90, stall counts of nvcc 13.0).
#define SELECTION_WAITS (4.0 / 13.0)

// Where all ways become one sequence a branch becomes a selection, for which the next one waits.
static Gone gone_of_control(const Ways *w, u32 pc, f64 gone) {
    bool selects =
        w->kind == ALL_WAYS && case_insn(w->part, pc)->kind == FLOW_BRANCH && case_insn(w->part, pc)->guard != WL_NONE;
    if (!selects) return (Gone){1, 1, 1, 1};
    return (Gone){gone, 1, 1 - (1 - gone) * w->serial * SELECTION_WAITS, 1};
}

static bool is_copy(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->arith == FLOW_MOVE && in->uses == 1 &&
           part->view->flow.code->operands[in->operands + in->defs].kind == FLOW_VALUE;
}

// A copy to where the ways' values meet that was made on the way here already: selections only take what differs.
static bool is_copied_before(const Ways *w, u32 pc) {
    const FlowResults *flow = &w->part->view->flow;
    const FlowInsn *in = case_insn(w->part, pc);
    u32 from = flow->chains->of_operand[in->operands + in->defs], to = flow->code->operands[in->operands].id;
    for (u32 b = flow->cfg->block_of[pc]; b != w->root && b != WL_NONE;) {
        b = flow->dominators->parent[b];
        if (b == WL_NONE || (b != w->root && !bitset_has(&w->blocks, b))) return false;
        const FlowBlock *before = block_at(w->part, b);
        for (u32 k = before->first; k < before->first + before->count; k++) {
            const FlowInsn *other = case_insn(w->part, k);
            if (is_copy(w->part, k) && flow->code->operands[other->operands].id == to &&
                flow->chains->of_operand[other->operands + other->defs] == from)
                return true;
        }
    }
    return false;
}

// Results are waited for less as there is more to issue meanwhile, though not less than each issue takes.
static Gone gone_of(const Ways *w, u32 pc, f64 gone) {
    if (is_control(w->part, pc)) return gone_of_control(w, pc, gone);
    if (is_copy(w->part, pc) && is_copied_before(w, pc)) return (Gone){1, 1, 1, 1};
    f64 issued = w->part->insns[pc].issued, now = waits_at(w->part, pc, STALL_BIT(WAIT));
    bool is_first = block_at(w->part, w->part->view->flow.cfg->block_of[pc])->first == pc;
    f64 left = fmax(now - (is_first ? HELD_BY_BRANCH * issued : 0), 0) * (1 - gone);
    f64 stays = fmax(left * w->serial, fmin(left, issued * (1 - gone)));
    return (Gone){gone, gone, now > 0 ? 1 - stays / now : gone, 1};
}

static f64 samples_of(const Ways *w, u32 pc, const Gone *gone) {
    const CasePart *part = w->part;
    u32 result = STALL_BIT(WAIT);
    return gone->issues * part->insns[pc].issued + gone->waits * waits_at(part, pc, own_waits(w) & ~result) +
           gone->results * waits_at(part, pc, result) + gone->jumps * waits_at(part, pc, AT_JUMPS);
}

// The branch where lanes part: without it something waits for its test all the same, but where a table is looked up.
static Gone gone_of_root(const Ways *w) {
    return w->kind == ALL_WAYS ? (Gone){0, 1, 1 - w->serial, 1} : (Gone){1, 1, 1, 1};
}

static f64 samples_gone(const Ways *w) {
    const CasePart *part = w->part;
    Gone whole = {1, 1, 1, 1}, of_root = gone_of_root(w);
    f64 all = samples_of(w, last_of(part, w->root), &of_root);
    u32 begin, end;
    if (lanes_meet(part, w->root, w->meet, &begin, &end))
        all += samples_of(w, end, &whole) + waits_at(part, end + 1, AT_MEETING) +
               (begin == WL_NONE ? 0 : samples_of(w, begin, &whole));
    if (w->kind == LONGEST_CASE) all -= (LOOK_UP_STEPS + w->serial * LOOK_UP_LATENCY) * block_runs(part, w->root);
    for (u32 i = 0; i < w->count; i++) {
        const FlowBlock *b = block_at(part, w->list[i]);
        f64 of_block = part_gone(w, w->list[i]);
        for (u32 pc = b->first; pc < b->first + b->count; pc++) {
            Gone gone = gone_of(w, pc, of_block);
            all += samples_of(w, pc, &gone);
        }
    }
    return all;
}

static void remove_samples(Hit *hit, const Ways *w, u32 pc, const Gone *gone) {
    const CasePart *part = w->part;
    u32 result = STALL_BIT(WAIT);
    hit_stalled(hit, part, pc, own_waits(w) & ~result, gone->waits);
    hit_stalled(hit, part, pc, result, gone->results);
    hit_stalled(hit, part, pc, AT_JUMPS, gone->jumps);
    hit_unissue(hit, part, pc, gone->issues);
    if (is_control(part, pc)) hit_edit(hit, EDIT_FREE, part, pc, 1);
}

static void go_without(Hit *hit, const Ways *w) {
    const CasePart *part = w->part;
    u32 begin, end;
    Gone whole = {1, 1, 1, 1}, of_root = gone_of_root(w);
    for (u32 i = 0; i < w->count; i++) {
        const FlowBlock *b = block_at(part, w->list[i]);
        f64 of_block = part_gone(w, w->list[i]);
        for (u32 pc = b->first; pc < b->first + b->count; pc++) {
            Gone gone = gone_of(w, pc, of_block);
            remove_samples(hit, w, pc, &gone);
        }
    }
    remove_samples(hit, w, last_of(part, w->root), &of_root);
    if (lanes_meet(part, w->root, w->meet, &begin, &end)) {
        remove_samples(hit, w, end, &whole);
        hit_stalled(hit, part, end + 1, AT_MEETING, 1);
        if (begin != WL_NONE) remove_samples(hit, w, begin, &whole);
    }
    if (w->kind != LONGEST_CASE) return;
    hit->change.issues -= LOOK_UP_STEPS * block_runs(part, w->root);
    hit->change.stalls -= w->serial * LOOK_UP_LATENCY * block_runs(part, w->root);
}

// --- all of a part ---------------------------------------------------------------------------------------------------
static void add_region(Small *s, const Ways *w) {
    for (u32 i = 0; i < w->count; i++) s->region_of[w->list[i]] = s->count;
    bitset_add(&s->roots, w->root);
    s->regions[s->count++] = (Region){.root = w->root, .meet = w->meet};
}

static bool has_one_of(const Ways *w, const Bitset *others) {
    bool has = bitset_has(others, w->root);
    for (u32 i = 0; i < w->count; i++) has |= bitset_has(others, w->list[i]);
    return has;
}

static void find_regions(Ways *w, const Bitset *others, Small *s) {
    const FlowResults *flow = &w->part->view->flow;
    for (u32 b = 0; b < flow->cfg->block_count; b++) s->region_of[b] = WL_NONE;
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        if (s->region_of[b] != WL_NONE) continue;
        w->root = b, w->meet = flow->postdominators->parent[b];
        if (are_small(w) && !has_one_of(w, others)) add_region(s, w);
        forget_ways(w);
    }
}

// --- which ways need the result of others ----------------------------------------------------------------------------
// By node, how many regions of the loop are needed one after the other to make it; each region's own is what it needs.
typedef struct Levels {
    const CasePart *part;
    const Small *s;
    u32 *of_node;
    u32 *met_at, *begun_at;  // by block: the region whose ways meet there, that begins there; WL_NONE: none
} Levels;

static u32 level_of(const Levels *l, u32 node, u32 loop) {
    if (node == WL_NONE) return 0;
    u32 block = l->part->view->flow.chains->nodes[node].block;
    return l->part->view->flow.loops->loop_of[block] == loop ? l->of_node[node] : 0;
}

static void level_merge(Levels *l, u32 node, u32 loop) {
    const FlowResults *flow = &l->part->view->flow;
    const ChainNode *n = &flow->chains->nodes[node];
    u32 met = l->met_at[n->block], most = met == WL_NONE ? 0 : l->s->regions[met].level + 1;
    if (loop != WL_NONE && flow->loops->loops[loop].header == n->block) return;  // of the turn before
    for (u32 i = 0; i < n->arg_count; i++) {
        u32 level = level_of(l, flow->chains->args[n->args + i], loop);
        most = level > most ? level : most;
    }
    l->of_node[node] = most;
}

static void level_insn(Levels *l, u32 pc, u32 loop) {
    const FlowResults *flow = &l->part->view->flow;
    const FlowInsn *in = case_insn(l->part, pc);
    u32 block = flow->cfg->block_of[pc], most = level_of(l, flow->chains->of_guard[pc], loop);
    u32 region = in->kind == FLOW_PLAIN || l->begun_at[block] == WL_NONE ? l->s->region_of[block] : l->begun_at[block];
    for (u32 u = 0; u < in->uses; u++) {
        u32 level = level_of(l, flow->chains->of_operand[in->operands + in->defs + u], loop);
        most = level > most ? level : most;
    }
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = flow->chains->of_operand[in->operands + d];
        if (node != WL_NONE) l->of_node[node] = most;
    }
    if (region != WL_NONE && most > l->s->regions[region].level) l->s->regions[region].level = most;
}

// Blocks in order of the code, merges with their blocks.
static bool find_levels(AdviceCase *c, const CasePart *part, const Small *s) {
    const FlowResults *flow = &part->view->flow;
    u32 merge = flow->chains->def_count;
    Levels l = {.part = part,
                .s = s,
                .of_node = ARENA_ARRAY(c->scratch, u32, flow->chains->node_count + 1),
                .met_at = ARENA_ARRAY(c->scratch, u32, flow->cfg->block_count + 1),
                .begun_at = ARENA_ARRAY(c->scratch, u32, flow->cfg->block_count + 1)};
    if (!l.of_node || !l.met_at || !l.begun_at) return c->status = STATUS_NO_MEMORY, false;
    for (u32 b = 0; b < flow->cfg->block_count; b++) l.met_at[b] = l.begun_at[b] = WL_NONE;
    for (u32 r = 0; r < s->count; r++) l.met_at[s->regions[r].meet] = l.begun_at[s->regions[r].root] = r;
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        const FlowBlock *block = &flow->cfg->blocks[b];
        u32 loop = flow->loops->loop_of[b];
        for (; merge < flow->chains->node_count && flow->chains->nodes[merge].block <= b; merge++)
            level_merge(&l, merge, loop);
        for (u32 pc = block->first; pc < block->first + block->count; pc++) level_insn(&l, pc, loop);
    }
    return true;
}

// --- loads that branches kept apart ----------------------------------------------------------------------------------
// Whether nothing but small ways parts the lanes within the loop.
static bool is_sequence_without(const CasePart *part, u32 loop, const Small *s) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    if (part->loops[loop].has_barrier || part->loops[loop].has_call || !part->loops[loop].innermost) return false;
    for (u32 i = 0; i < l->block_count; i++) {
        u32 block = flow->loops->members[l->blocks + i];
        const FlowBlock *b = block_at(part, block);
        bool parts = b->count && b->succ_count > 1 && !flow_loop_left_from(flow->cfg, flow->loops, loop, block);
        if (parts && !bitset_has(&s->roots, block) && s->region_of[block] == WL_NONE) return false;
    }
    return true;
}

static bool was_kept_back(const CasePart *part, const CaseAccess *a, u32 loop, const Small *s) {
    return a->load && !a->atomic && access_is_global(a) && part->insns[a->pc].loop == loop &&
           s->region_of[part->view->flow.cfg->block_of[a->pc]] == WL_NONE && access_goes_ahead(part, a, loop);
}

// Of the blocks with loads, which all start together then, only the longest wait is left, until the last of all lines
// is there.
static f64 waits_left(const AdviceCase *c, const CasePart *part, u32 loop, const Small *s) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    f64 all = 0, longest = 0, block = 0, lines = 0, longest_lines = 1, far = c->fits_l2 ? 0 : 1;
    u32 last = WL_NONE;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!was_kept_back(part, a, loop, s)) continue;
        f64 waits = part->insns[a->pc].blamed;
        bool goes_on = block_of[a->pc] == last;
        block = goes_on ? block + waits : waits;
        lines += goes_on ? 0 : a->together;
        last = block_of[a->pc];
        all += waits;
        if (block > longest) longest = block, longest_lines = a->together;
    }
    f64 later = c->gpu ? case_idle_last(c, 1, far, lines) / case_idle_last(c, 1, far, longest_lines) : 1;
    return all > 0 ? fmin(longest * fmax(later, 1) / all, 1) : 1;
}

static void start_together(Hit *hit, const CasePart *part, u32 loop, const Small *s) {
    f64 left = waits_left(hit->c, part, loop, s);
    for (u32 i = 0; i < part->access_count && left < 1; i++)
        if (was_kept_back(part, &part->accesses[i], loop, s))
            hit_blamed(hit, part, part->accesses[i].pc, STALL_BIT(LONG_SCOREBOARD), 1 - left);
}

// --- the hit ---------------------------------------------------------------------------------------------------------
// Of the regions of the loop, one after the other; 0: there are none.
static f64 serial_part(const CasePart *part, u32 loop, const Small *s) {
    u32 count = 0, levels = 0;
    for (u32 r = 0; r < s->count; r++) {
        if (part->view->flow.loops->loop_of[s->regions[r].root] != loop) continue;
        count++;
        if (s->regions[r].level + 1 > levels) levels = s->regions[r].level + 1;
    }
    return count ? (f64)levels / count : 0;
}

static void take(Hit *hit, const Ways *w, Small *s) {
    f64 gone = samples_gone(w);
    go_without(hit, w);
    bitset_add(&s->taken, w->root);
    for (u32 i = 0; i < w->count; i++) bitset_add(&s->taken, w->list[i]);
    s->taken_count++;
    if (gone > s->most) s->most = gone, s->pc = last_of(w->part, w->root), s->kind = w->kind;
}

// Regions of a loop, or of none: all of them where that makes the code faster, as copies of one source are alike, else
// those that do.
static void take_of_loop(Hit *hit, Ways *w, u32 loop, Small *s) {
    const CasePart *part = w->part;
    f64 all = 0;
    bool sequence = loop != WL_NONE && is_sequence_without(part, loop, s);
    w->serial = sequence ? serial_part(part, loop, s) : 1;
    for (u32 step = 0; step < 2; step++)
        for (u32 r = 0; r < s->count; r++) {
            if (part->view->flow.loops->loop_of[s->regions[r].root] != loop) continue;
            look_again(w, &s->regions[r]);
            f64 gone = samples_gone(w);
            if (!step) all += gone;
            if (step && (all > 0 || gone > 0)) take(hit, w, s);
            forget_ways(w);
        }
    if (sequence && all > 0) start_together(hit, part, loop, s);
}

static void say(Hit *hit, const CasePart *part, const Small *s) {
    static const char *const remedies[] = {
        [ALL_WAYS] = "Write what is chosen at %s without branches: minimum, maximum, selection",
        [LONGEST_WAY] = "Choose values at %s, not ways: they do the same",
        [LONGEST_CASE] = "Make the cases at %s rows of a table for one formula"};
    f64 share = case_share(hit->c, hit->change.issues + hit->change.stalls);
    hit_fact(hit, "small_ways", s->taken_count, "branches",
             "lanes part at %u branch%s for a few instructions, go each way after the other and meet again",
             s->taken_count, s->taken_count == 1 ? "" : "es");
    hit_fact(hit, "small_ways_share", 100 * share, "%", "%.0f %% of the samples would not be there without branches",
             100 * share);
    hit_end_line(hit, part, s->pc, remedies[s->kind], place_text(hit->c, part, s->pc));
}

static bool begin(AdviceCase *c, const CasePart *part, Ways *w, Small *s) {
    u32 blocks = part->view->flow.cfg->block_count + 1;
    *w = (Ways){.part = part,
                .selector = WL_NONE,
                .longest = ARENA_ARRAY(c->scratch, Longest, blocks),
                .ops = ARENA_ARRAY(c->scratch, u32, INSN_OPS)};
    *s = (Small){.regions = ARENA_ARRAY(c->scratch, Region, blocks), .region_of = ARENA_ARRAY(c->scratch, u32, blocks)};
    return w->longest && w->ops && s->regions && s->region_of && bitset_init(&w->blocks, c->scratch, blocks) &&
           bitset_init(&w->stay, c->scratch, blocks) && bitset_init(&s->roots, c->scratch, blocks) &&
           bitset_init(&s->taken, c->scratch, blocks);
}

void go_without_branches(AdviceCase *c, const CasePart *part, Bitset *blocks) {
    Ways w;
    Small s;
    if (!begin(c, part, &w, &s)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    find_regions(&w, blocks, &s);
    if (!s.count || !find_levels(c, part, &s)) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_small_ways);
    take_of_loop(hit, &w, WL_NONE, &s);
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) take_of_loop(hit, &w, l, &s);
    if (!s.taken_count) return hit_drop(hit);
    if (case_share(c, hit->change.issues + hit->change.stalls) < WORTH_IT) return hit_drop(hit);
    for (u32 b = bitset_next(&s.taken, 0); b != WL_NONE; b = bitset_next(&s.taken, b + 1)) bitset_add(blocks, b);
    say(hit, part, &s);
}
