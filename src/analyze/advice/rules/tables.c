// SPDX-License-Identifier: Apache-2.0
// The part of branch-elimination that is about a tree of branches (a switch) by which lanes only choose a constant:
// they go one way after the other. A table has the same constants, and all lanes look theirs up at once.
#include "analyze/advice/rule.h"
#include "base/bitset.h"

// What takes the tree's place: an address, a load of shared memory, and the cycles until its data is there (sm_90).
enum { LOOK_UP_STEPS = 2, LOOK_UP_LATENCY = 29 };

enum {
    LEAST_WAYS = 4 /* of fewer, compilers select */,
    MOST_CHOSEN = 2 /* values */,
    MOST_ROWS = 4096 /* of a table */,
    MOST_BLOCKS = 256
};
#define WORTH_IT 0.02  // of the samples

typedef struct Tree {
    const CasePart *part;
    u32 root, meet;  // blocks
    Bitset blocks;   // between them
    u32 list[MOST_BLOCKS], count;
    u32 ways;         // that lead to `meet`
    u32 selector;     // node of the value that all tests are of; WL_NONE: not met yet
    i64 least, most;  // that it is compared with
} Tree;

static const FlowBlock *block_at(const CasePart *part, u32 block) { return &part->view->flow.cfg->blocks[block]; }

static u32 last_of(const CasePart *part, u32 block) {
    const FlowBlock *b = block_at(part, block);
    return b->first + b->count - 1;
}

// Merges where the ways meet: the values that were chosen.
static u32 chosen(const Tree *t) {
    const Chains *chains = t->part->view->flow.chains;
    u32 values = 0;
    for (u32 n = chains->def_count; n < chains->node_count; n++) values += chains->nodes[n].block == t->meet;
    return values;
}

// A node of before the tree is the selector, always the same one.
static bool is_selector(Tree *t, u32 node) {
    const Chains *chains = t->part->view->flow.chains;
    if (node == WL_NONE) return false;
    if (bitset_has(&t->blocks, chains->nodes[node].block)) return true;
    if (t->selector == WL_NONE) t->selector = node;
    return node == t->selector;
}

// Integers compared with constants, of a range that a table has rows for.
static bool is_test(Tree *t, u32 pc) {
    const FlowCode *code = t->part->view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    if (in->compare == FLOW_COMPARE_NONE) return false;
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *o = &code->operands[in->operands + in->defs + u];
        if (o->kind != FLOW_IMMEDIATE) continue;
        t->least = o->value < t->least ? o->value : t->least;
        t->most = o->value > t->most ? o->value : t->most;
    }
    return t->most < t->least || t->most - t->least < MOST_ROWS;
}

static bool defines_predicate(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    const FlowOperand *first = &code->operands[in->operands];
    return in->defs && first->kind == FLOW_VALUE && code->value_bits[first->id] == 1;
}

// Tests of the selector, moves of constants, jumps and their table.
static bool only_chooses(Tree *t, u32 pc) {
    const CasePart *part = t->part;
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = case_insn(part, pc);
    bool jumps = in->kind == FLOW_BRANCH || in->kind == FLOW_SWITCH;
    bool jump_table = in->is_load && in->space == SPACE_CONST;
    if (in->kind != FLOW_PLAIN && !jumps) return false;
    if (!jumps && !jump_table && (in->is_load || in->is_store || in->has_effects)) return false;
    if (defines_predicate(part, pc) && !is_test(t, pc)) return false;
    for (u32 u = 0; u < in->uses; u++) {
        u32 operand = in->operands + in->defs + u;
        const FlowOperand *o = &code->operands[operand];
        if (o->kind != FLOW_VALUE) continue;
        bool guard = code->value_bits[o->id] == 1;
        if (!guard && !is_selector(t, part->view->flow.chains->of_operand[operand])) return false;
    }
    return true;
}

static bool add_block(Tree *t, u32 block) {
    if (block == t->meet) return t->ways++, true;
    if (block == t->root || t->count == MOST_BLOCKS) return false;
    if (bitset_has(&t->blocks, block)) return true;
    bitset_add(&t->blocks, block);
    t->list[t->count++] = block;
    return true;
}

static bool add_ways(Tree *t, u32 block) {
    const FlowBlock *b = block_at(t->part, block);
    for (u32 i = 0; i < b->succ_count; i++)
        if (!add_block(t, t->part->view->flow.cfg->edges[b->succs + i])) return false;
    return !b->leaves;
}

// Who comes there has come through the root.
static bool is_entered_elsewhere(const Tree *t, u32 block) {
    const FlowBlock *b = block_at(t->part, block);
    for (u32 i = 0; i < b->pred_count; i++) {
        u32 from = t->part->view->flow.cfg->edges[b->preds + i];
        if (from != t->root && !bitset_has(&t->blocks, from)) return true;
    }
    return false;
}

static bool find_ways(Tree *t) {
    const FlowResults *flow = &t->part->view->flow;
    if (!add_ways(t, t->root)) return false;
    for (u32 i = 0; i < t->count; i++) {
        const FlowBlock *b = block_at(t->part, t->list[i]);
        if (flow->loops->loop_of[t->list[i]] != flow->loops->loop_of[t->root] || !add_ways(t, t->list[i])) return false;
        for (u32 pc = b->first; pc < b->first + b->count; pc++)
            if (!only_chooses(t, pc)) return false;
    }
    for (u32 i = 0; i < t->count; i++)
        if (is_entered_elsewhere(t, t->list[i])) return false;
    return t->ways >= LEAST_WAYS;
}

static bool is_tree(Tree *t) {
    const CasePart *part = t->part;
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *root = block_at(part, t->root);
    u32 branch = last_of(part, t->root);
    if (!root->count || root->succ_count < 2 || t->meet == WL_NONE) return false;
    if (!bitset_has(&flow->divergence->branches, branch) || block_runs(part, t->root) <= 0) return false;
    if (!find_ways(t) || chosen(t) > MOST_CHOSEN) return false;
    u32 guard = flow->chains->of_guard[branch], test = guard == WL_NONE ? WL_NONE : flow->chains->nodes[guard].insn;
    return t->selector != WL_NONE && test != WL_NONE && only_chooses(t, test);
}

// The next tree whose root is at `from` or behind it; false: there is none.
static bool next_tree(Tree *t, const CasePart *part, Bitset *blocks, u32 from) {
    const FlowResults *flow = &part->view->flow;
    for (u32 b = from; b < flow->cfg->block_count; b++) {
        *t = (Tree){.part = part,
                    .root = b,
                    .meet = flow->postdominators->parent[b],
                    .selector = WL_NONE,
                    .blocks = *blocks,
                    .least = INT32_MAX,
                    .most = INT32_MIN};
        if (is_tree(t)) return true;
        for (u32 i = 0; i < t->count; i++) bitset_remove(blocks, t->list[i]);
    }
    return false;
}

static void look_up(Hit *hit, const Tree *t) {
    const CasePart *part = t->part;
    f64 runs = block_runs(part, t->root);
    u32 begin, end;
    for (u32 i = 0; i < t->count; i++) {
        const FlowBlock *b = block_at(part, t->list[i]);
        for (u32 pc = b->first; pc < b->first + b->count; pc++) hit_remove(hit, part, pc, 1);
    }
    hit_remove(hit, part, last_of(part, t->root), 1);
    if (lanes_meet(part, t->root, t->meet, &begin, &end)) {
        hit_remove(hit, part, end, 1);
        hit_blamed(hit, part, end + 1, STALL_BIT(BRANCH_RESOLVING), 1);
        if (begin != WL_NONE) hit_remove(hit, part, begin, 1);
    }
    hit->change.issues -= LOOK_UP_STEPS * runs;
    hit->change.stalls -= LOOK_UP_LATENCY * runs;
}

void use_tables(AdviceCase *c, const CasePart *part, Bitset *blocks) {
    Tree t;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_tables);
    u32 trees = 0, ways = 0, pc = 0;
    f64 most = 0;
    for (u32 from = 0; next_tree(&t, part, blocks, from); trees++) {
        f64 before = hit->change.issues + hit->change.stalls;
        look_up(hit, &t);
        f64 samples = hit->change.issues + hit->change.stalls - before;
        if (samples > most) most = samples, pc = last_of(part, t.root), ways = t.ways;
        bitset_add(blocks, t.root);
        for (from = t.root + 1; from < part->view->flow.cfg->block_count && bitset_has(blocks, from);) from++;
    }
    f64 share = case_share(c, hit->change.issues + hit->change.stalls);
    if (share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "ways_to_a_constant", ways, "ways",
             "lanes go up to %u ways, one after the other, on which they only choose a constant by one number", ways);
    hit_fact(hit, "choice_share", 100 * share, "%", "%.0f %% of the samples are on them", 100 * share);
    hit_end_line(hit, part, pc, "Look the value up in a table at %s instead of choosing it by branches",
                 place_text(c, part, pc));
}
