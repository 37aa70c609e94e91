// SPDX-License-Identifier: Apache-2.0
// The part of branch-elimination that is about loops that do nothing but bring a value near: an angle by whole turns, a
// distance by whole boxes, a number by halves. Where it ends follows from where it begins.
#include "analyze/advice/rule.h"
#include "base/bitset.h"

// What takes the place of such a loop, or of two that go either way: a product, a rounding, and what so many steps make
// together. The special function unit rounds.
enum { FORM_STEPS = 3, FORM_SPECIAL = 1 };

enum { MOST_INSNS = 10, MOST_VALUES = 2, MOST_BEFORE = 4 /* instructions of a block that only leads to the loop */ };
#define WORTH_IT 0.02  // of the samples

typedef struct Steps {
    const CasePart *part;
    Bitset gone;    // instructions
    Bitset joined;  // ... behind which lanes that left a loop at different turns have met
    u32 count, pc;
    f64 forms, most;
} Steps;

// --- which loops -----------------------------------------------------------------------------------------------------
static bool is_of_loop(const CasePart *part, u32 loop, u32 node) {
    const ChainNode *n = &part->view->flow.chains->nodes[node];
    return flow_loop_has(part->view->flow.loops, loop, n->block);
}

static bool is_predicate(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    const FlowOperand *first = &code->operands[in->operands];
    return in->defs && first->kind == FLOW_VALUE && code->value_bits[first->id] == 1;
}

static bool is_zero(const FlowOperand *o) { return o->kind == FLOW_IMMEDIATE && !o->value; }

// A sum, product or shift of what the loop has carried here, `carried`, and one thing that stays.
static bool takes_step(const CasePart *part, u32 loop, u32 pc, u32 carried) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    u32 own = 0, others = 0;
    if (in->kind != FLOW_PLAIN || in->guard != WL_NONE || in->defs != 1 || in->has_effects) return false;
    for (u32 u = 0; u < in->uses; u++) {
        u32 operand = in->operands + in->defs + u, node = flow->chains->of_operand[operand];
        const FlowOperand *o = &flow->code->operands[operand];
        if (is_zero(o)) continue;
        if (o->kind == FLOW_VALUE && node == carried)
            own++;
        else if (o->kind == FLOW_VALUE && (node == WL_NONE || is_of_loop(part, loop, node)))
            return false;
        else
            others++;
    }
    return own == 1 && others == 1;
}

// Whether each turn brings the merge at the loop's begin on by one such instruction.
static bool goes_by_steps(const CasePart *part, u32 loop, u32 node) {
    const Chains *chains = part->view->flow.chains;
    const ChainNode *n = &chains->nodes[node];
    u32 steps = 0;
    for (u32 i = 0; i < n->arg_count; i++) {
        u32 arg = chains->args[n->args + i];
        if (arg == WL_NONE || !is_of_loop(part, loop, arg)) continue;
        u32 pc = chains->nodes[arg].insn;
        if (pc == WL_NONE || !takes_step(part, loop, pc, node)) return false;
        steps++;
    }
    return steps == 1;
}

// Values that the loop carries from turn to turn, all by such steps; 0: others as well, or too many.
static u32 values_of(const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    u32 header = flow->loops->loops[loop].header, values = 0;
    for (u32 node = flow->chains->def_count; node < flow->chains->node_count; node++) {
        if (flow->chains->nodes[node].block != header) continue;
        if (!goes_by_steps(part, loop, node) || ++values > MOST_VALUES) return 0;
    }
    return values;
}

// Nothing but these steps, tests and branches.
static bool only_steps(const CasePart *part, u32 loop) {
    u32 values = values_of(part, loop), steps = 0;
    for (u32 pc = 0; pc < part->view->insn_count && values; pc++) {
        const FlowInsn *in = case_insn(part, pc);
        if (part->insns[pc].loop != loop) continue;
        bool plain = in->kind == FLOW_PLAIN && !in->has_effects && part->insns[pc].traits & TRAIT_ARITHMETIC;
        if (in->kind != FLOW_BRANCH && !plain) return false;
        if (plain && !is_predicate(part, pc)) steps++;
    }
    return values && steps == values;
}

static bool brings_near(const CasePart *part, u32 loop) {
    const CaseLoop *l = &part->loops[loop];
    return l->innermost && !l->has_barrier && !l->has_call && !l->tells && l->spin == SPIN_NONE &&
           l->insns <= MOST_INSNS && l->active > 0 && !(l->trips > 0 && l->trips <= 1) && only_steps(part, loop);
}

// --- what goes with them ---------------------------------------------------------------------------------------------
static void remove_block(Steps *s, u32 block) {
    const FlowBlock *b = &s->part->view->flow.cfg->blocks[block];
    for (u32 pc = b->first; pc < b->first + b->count; pc++) bitset_add(&s->gone, pc);
}

// The test that keeps lanes from the loop which need no turn: branch, and comparison if it is for that alone.
static void remove_test(Steps *s, u32 block) {
    const FlowResults *flow = &s->part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    u32 branch = b->first + b->count - 1, node = flow->chains->of_guard[branch];
    if (b->succ_count != 2 || case_insn(s->part, branch)->kind != FLOW_BRANCH || node == WL_NONE) return;
    bitset_add(&s->gone, branch);
    u32 compare = flow->chains->nodes[node].insn;
    bool alone = flow->chains->first_user[node + 1] - flow->chains->first_user[node] == 1;
    if (compare != WL_NONE && alone) bitset_add(&s->gone, compare);
}

// Where lanes wait for those that turn on, in front of the block behind the loop.
static void remove_join(Steps *s, u32 join, u32 guard) {
    u32 begin, end;
    if (!lanes_meet(s->part, guard, join, &begin, &end)) return;
    bitset_add(&s->gone, end);
    bitset_add(&s->joined, end + 1);
    if (begin != WL_NONE) bitset_add(&s->gone, begin);
}

static u32 block_behind(const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    u32 behind = WL_NONE;
    for (u32 i = 0; i < l->block_count; i++) {
        const FlowBlock *b = &flow->cfg->blocks[flow->loops->members[l->blocks + i]];
        for (u32 e = 0; e < b->succ_count; e++) {
            u32 to = flow->cfg->edges[b->succs + e];
            if (flow_loop_has(flow->loops, loop, to)) continue;
            if (behind != WL_NONE && behind != to) return WL_NONE;
            behind = to;
        }
    }
    return behind;
}

// Whether the value that the loop begins with comes out of another such loop: both together are one form.
static bool goes_on_from(const Steps *s, u32 node, u32 depth) {
    const Chains *chains = s->part->view->flow.chains;
    const ChainNode *n = node == WL_NONE ? NULL : &chains->nodes[node];
    if (!n || !depth) return false;
    if (n->insn != WL_NONE) return bitset_has(&s->gone, n->insn);
    for (u32 i = 0; i < n->arg_count; i++)
        if (goes_on_from(s, chains->args[n->args + i], depth - 1)) return true;
    return false;
}

enum { MERGES = 4 };  // between two loops

static bool is_second(const Steps *s, u32 loop) {
    const FlowResults *flow = &s->part->view->flow;
    for (u32 node = flow->chains->def_count; node < flow->chains->node_count; node++) {
        const ChainNode *n = &flow->chains->nodes[node];
        if (n->block != flow->loops->loops[loop].header) continue;
        for (u32 i = 0; i < n->arg_count; i++) {
            u32 arg = flow->chains->args[n->args + i];
            if (arg != WL_NONE && !is_of_loop(s->part, loop, arg) && goes_on_from(s, arg, MERGES)) return true;
        }
    }
    return false;
}

static void remove_loop(Steps *s, u32 loop) {
    const FlowResults *flow = &s->part->view->flow;
    u32 header = flow->loops->loops[loop].header, behind = block_behind(s->part, loop);
    u32 before = flow->dominators->parent[header];
    if (behind == WL_NONE || before == WL_NONE || !brings_near(s->part, loop)) return;
    bool second = is_second(s, loop);
    for (u32 pc = 0; pc < s->part->view->insn_count; pc++)
        if (s->part->insns[pc].loop == loop) bitset_add(&s->gone, pc);
    const FlowBlock *lead = &flow->cfg->blocks[before];
    if (lead->succ_count == 1 && lead->count <= MOST_BEFORE && flow->dominators->parent[before] != WL_NONE) {
        remove_block(s, before);
        before = flow->dominators->parent[before];
    }
    remove_test(s, before);
    remove_join(s, behind, before);
    s->count++;
    if (!second) s->forms += block_runs(s->part, before);
    f64 samples = s->part->loops[loop].active + s->part->loops[loop].stalled;
    if (samples > s->most) s->most = samples, s->pc = loop_line_pc(s->part, loop);
}

// --- the change ------------------------------------------------------------------------------------------------------
static void take_away(Hit *hit, const Steps *s) {
    for (u32 pc = 0; pc < s->part->view->insn_count; pc++)
        if (bitset_has(&s->gone, pc))
            hit_remove(hit, s->part, pc, 1);
        else if (bitset_has(&s->joined, pc))
            hit_blamed(hit, s->part, pc, STALL_BIT(BRANCH_RESOLVING), 1);
}

static void look_at(AdviceCase *c, const CasePart *part) {
    const FlowResults *flow = &part->view->flow;
    Steps s = {.part = part};
    if (!bitset_init(&s.gone, c->scratch, part->view->insn_count + 1) ||
        !bitset_init(&s.joined, c->scratch, part->view->insn_count + 1)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    for (u32 b = 0; b < flow->cfg->block_count; b++)
        for (u32 l = 0; l < flow->loops->loop_count; l++)
            if (flow->loops->loops[l].header == b) remove_loop(&s, l);
    if (!s.count || c->load.issued <= 0) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_steps);
    take_away(hit, &s);
    f64 share = case_share(c, hit->change.issues + hit->change.stalls);
    hit->change.issues -= s.forms * (FORM_STEPS - FORM_SPECIAL);
    hit_add_special(hit, s.forms * FORM_SPECIAL);
    if (share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "stepping_loops", s.count, "loops", "%u loop%s only bring%s a value near, step by step", s.count,
             plural(s.count), s.count == 1 ? "s" : "");
    hit_fact(hit, "stepping_share", 100 * share, "%", "%.0f %% of the samples are theirs, with what leads there",
             100 * share);
    hit_caution(hit, "the last bits of results may change; see that the rounding is right at the edges");
    hit_end_line(hit, part, s.pc, "Compute where the loop at %s ends: round, or shift by a count of bits",
                 place_text(c, part, s.pc));
}

void skip_steps(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count && c->status == STATUS_OK; p++) look_at(c, &c->parts[p]);
}
