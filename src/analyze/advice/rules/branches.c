// SPDX-License-Identifier: Apache-2.0
// branch-elimination: tests that hardly ever decide, in a loop or in the copies that are left of an unrolled one.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

#define ONE_SIDED 0.9  // a branch that goes one way that often

// Where a branch within a loop goes nearly always, if it does not leave the loop or end it; WL_NONE: it decides.
static u32 usual_way(const CasePart *part, u32 block, u32 branch) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    u32 loop = flow->loops->loop_of[block], way = WL_NONE;
    f64 all = block_runs(part, block);
    if (case_insn(part, branch)->kind != FLOW_BRANCH || case_insn(part, branch)->guard == WL_NONE) return WL_NONE;
    if (loop == WL_NONE || b->succ_count != 2 || all <= 0) return WL_NONE;
    f64 most = 0;
    for (u32 i = 0; i < 2; i++) {
        u32 to = flow->cfg->edges[b->succs + i];
        if (!flow_loop_has(flow->loops, loop, to) || to == flow->loops->loops[loop].header) return WL_NONE;
        if (flow->cfg->blocks[to].pred_count != 1 || block_runs(part, to) <= most) continue;
        most = block_runs(part, to), way = to;
    }
    return most >= ONE_SIDED * all ? way : WL_NONE;
}

enum {
    TEST_DEPTH = 8 /* instructions from the first comparison, in three dimensions, to what is guarded */,
    TEST_LINES = 32
};

typedef struct Tests {  // instructions that only test, and one of each of their lines
    const CasePart *part;
    u32 loop;  // in which they are, WL_NONE: anywhere
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

static bool is_within(const Tests *t, u32 pc) { return t->loop == WL_NONE || loop_has(t->part, t->loop, pc); }

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
    bool fits = alone && is_within(t, pc) && part->insns[pc].traits & TRAIT_ARITHMETIC;
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

// --- ... whose data comes late ---------------------------------------------------------------------------------------
// What a turn does with its data where a flag beside them says so: warps wait for the flag, and then for the data. Both
// loaded at once, only the longer wait is left.
static bool is_behind(const CasePart *part, u32 pc, u32 way) {
    const FlowResults *flow = &part->view->flow;
    for (u32 b = flow->cfg->block_of[pc]; b != WL_NONE; b = flow->dominators->parent[b])
        if (b == way) return true;
    return false;
}

static bool is_flag(const CasePart *part, const CaseAccess *a, u32 branch) {
    return a->load && !a->atomic && access_is_global(a) && part->insns[a->pc].loop == part->insns[branch].loop &&
           node_is_made_of(part, part->view->flow.chains->of_guard[branch], a->pc, TEST_DEPTH);
}

// load_both() has those.
static bool is_beside_flag(const CasePart *part, const CaseAccess *a, u32 branch) {
    for (u32 i = 0; i < part->access_count; i++)
        if (access_is_beside(part, &part->accesses[i], a) && is_flag(part, &part->accesses[i], branch)) return true;
    return false;
}

// Samples of waits for what is loaded on the way alone and could be loaded before it. `gone`: of those for each load
// of the part, by access, what goes.
static f64 waits_on_way(const CasePart *part, u32 branch, u32 way, const f64 *gone) {
    u32 loop = part->insns[branch].loop;
    f64 waits = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool data = a->load && !a->atomic && access_is_global(a) && part->insns[a->pc].loop == loop;
        if (data && is_behind(part, a->pc, way) && access_goes_ahead(part, a, loop) && !is_beside_flag(part, a, branch))
            waits += part->insns[a->pc].blamed * (1 - gone[i]);
    }
    return waits;
}

// No more than is waited for on the way.
static void start_with_data(const CasePart *part, u32 branch, u32 way, f64 *gone) {
    f64 flags = 0, data = waits_on_way(part, branch, way, gone);
    for (u32 step = 0; step < 2; step++)
        for (u32 i = 0; i < part->access_count && data > 0; i++) {
            if (!is_flag(part, &part->accesses[i], branch)) continue;
            if (step && flags > 0) gone[i] = fmax(gone[i], fmin(data / flags, 1));
            flags += step ? 0 : part->insns[part->accesses[i].pc].blamed;
        }
}

// The branch that ends the block, if it is of the nest and hardly decides: where it goes; else WL_NONE. Lanes part at
// those in `parting`, and are seen on either way.
static u32 way_of_nest(const CasePart *part, u32 nest, u32 block, const Bitset *parting) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    u32 loop = flow->loops->loop_of[block];
    if (loop == WL_NONE || outermost(part, loop) != nest || !b->count || bitset_has(parting, block)) return WL_NONE;
    return usual_way(part, block, b->first + b->count - 1);
}

// Later tests first: what they no longer keep back is no wait on the way of those before them.
static f64 *waits_for_flags(AdviceCase *c, const CasePart *part, u32 nest, const Bitset *parting) {
    const Cfg *cfg = part->view->flow.cfg;
    f64 *gone = ARENA_ARRAY(c->scratch, f64, part->access_count + 1);
    for (u32 b = cfg->block_count; gone && b-- > 0;) {
        u32 way = way_of_nest(part, nest, b, parting);
        if (way != WL_NONE) start_with_data(part, cfg->blocks[b].first + cfg->blocks[b].count - 1, way, gone);
    }
    return gone;
}

// The loads of the nest no longer wait for tests.
static void free_loads(Hit *hit, const CasePart *part, u32 nest, const f64 *gone) {
    u32 flags = 0;
    hit->change.scope_active = part->loops[nest].active;
    for (u32 i = 0; i < part->access_count; i++) {
        u32 pc = part->accesses[i].pc;
        if (!loop_has(part, nest, pc) || !part->accesses[i].load) continue;
        if (gone[i] > 0) flags++, hit_blamed(hit, part, pc, STALL_BIT(LONG_SCOREBOARD), gone[i]);
        hit_overlapped(hit, part, pc, UINT32_MAX, part->insns[pc].loop, 1 - gone[i]);
    }
    if (!flags) return;
    hit_fact(hit, "flags_waited_for", flags, "loads", "%u load%s waited for before what could be loaded with %s is",
             flags, flags == 1 ? " is" : "s are", flags == 1 ? "it" : "them");
    hit_caution(hit, "only where what the test leaves out can be loaded, and counts as nothing");
}

static void look_at_nest(AdviceCase *c, const CasePart *part, u32 nest, const Bitset *parting) {
    const FlowResults *flow = &part->view->flow;
    u32 count = 0, at = 0;
    f64 most = 0, *gone = waits_for_flags(c, part, nest, parting);
    Tests t = {.part = part, .loop = nest};
    if (!gone || !bitset_init(&t.found, c->scratch, part->view->insn_count)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    Hit *hit = hit_begin(c);
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        u32 branch = flow->cfg->blocks[b].first + flow->cfg->blocks[b].count - 1;
        if (way_of_nest(part, nest, b, parting) == WL_NONE) continue;
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
             "the same way is taken in more than nine of ten turns by %u of the loop's branches", count);
    hit_fact(hit, "test_issue_share", 100 * hit->change.issues / c->load.issued, "%",
             "%.0f %% of what is issued only tests", 100 * hit->change.issues / c->load.issued);
    free_loads(hit, part, nest, gone);
    hit_basis(hit, "equation 2 over the tests, equation 5 over the loads that no longer wait for them");
    hit_end_line(hit, part, at, "Take the test at %s out of the loop", place_text(c, part, at));
}

// --- ... of a loop that was unrolled -----------------------------------------------------------------------------
// The compiler makes guards of them: of many loads, each with a test of its own of where the thread is. Such a test is
// for the edge of the data, and nearly always has the same result. Unrolled in part, the loop has them in its turns.
enum { LEAST_TESTS = 4 };
#define WORTH_IT 0.05  // of what is issued

// `lane == 0` and the like pick threads out; what compares by size looks for an edge.
static bool picks(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    u8 compare = code->insns[pc].compare;
    if (compare == FLOW_EQUAL || compare == FLOW_NOT_EQUAL) return true;
    if (!code->sass) return false;
    const SassInsn *insn = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    return insn->op == SASS_OP_LOP3 || sass_has(insn, "EQ") || sass_has(insn, "NE");
}

// Something that is not understood and differs between threads: data. What is the same for all may be a constant.
static bool has_data(const CasePart *part, u32 node) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[node];
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[form->terms + t].factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[affine->terms[form->terms + t].factors[i]];
            if (f->kind == AFFINE_NODE && bitset_has(&part->view->flow.divergence->nodes, f->id)) return true;
        }
    return false;
}

// ... through any arithmetic: `x >= 0 && y >= 0` is compiled as (x | y) >= 0.
static bool is_position(const CasePart *part, u32 node, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE || !has_data(part, node)) return true;
    u32 pc = chains->nodes[node].insn;
    if (!depth || pc == WL_NONE || !(part->insns[pc].traits & TRAIT_ARITHMETIC)) return false;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses; u++)
        if (!is_position(part, chains->of_operand[in->operands + in->defs + u], depth - 1)) return false;
    return true;
}

// Comparisons of numbers that come from the thread's index and what is the same for all, and what is made of them.
static bool is_of_position(const CasePart *part, u32 node, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE || !depth || chains->nodes[node].insn == WL_NONE) return false;
    u32 pc = chains->nodes[node].insn;
    const FlowInsn *in = case_insn(part, pc);
    if (!defines_predicate(part, pc) || in->is_load || picks(part, pc)) return false;
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *o = &part->view->flow.code->operands[in->operands + in->defs + u];
        u32 from = chains->of_operand[in->operands + in->defs + u];
        if (o->kind != FLOW_VALUE || from == WL_NONE) continue;
        bool predicate = part->view->flow.code->value_bits[o->id] == 1;
        if (predicate ? !is_of_position(part, from, depth - 1) : !is_position(part, from, depth - 1)) return false;
    }
    return true;
}

// The branch that jumps around the instruction's block and nothing else: so PTX has what becomes a guard; WL_NONE:
// none.
static u32 branch_around(const CasePart *part, u32 pc) {
    const Cfg *cfg = part->view->flow.cfg;
    const FlowBlock *b = &cfg->blocks[cfg->block_of[pc]];
    if (b->pred_count != 1 || b->succ_count != 1) return WL_NONE;
    const FlowBlock *before = &cfg->blocks[cfg->edges[b->preds]];
    u32 branch = before->first + before->count - 1, behind = cfg->edges[b->succs];
    if (before->succ_count != 2 || case_insn(part, branch)->kind != FLOW_BRANCH) return WL_NONE;
    bool joins = cfg->edges[before->succs] == behind || cfg->edges[before->succs + 1] == behind;
    return joins ? branch : WL_NONE;
}

// The node that decides whether the load is done; WL_NONE: it always is.
static u32 guard_of(const CasePart *part, u32 pc) {
    const Chains *chains = part->view->flow.chains;
    u32 branch = chains->of_guard[pc] == WL_NONE ? branch_around(part, pc) : WL_NONE;
    return chains->of_guard[branch == WL_NONE ? pc : branch];
}

static bool is_guarded_load(const CasePart *part, const CaseAccess *a, u32 loop) {
    u32 guard = guard_of(part, a->pc);
    return a->load && !a->atomic && a->requests > 0 && guard != WL_NONE && part->insns[a->pc].loop == loop &&
           is_of_position(part, guard, TEST_DEPTH);
}

static bool is_constant_bank(const CasePart *part, const FlowInsn *in) {
    u8 kind = part->view->flow.code->operands[in->operands + in->defs].kind;
    return kind == FLOW_PARAMETER_VALUE || kind == FLOW_PARAMETER;
}

// Constants that each of the guarded copies loads again.
static void remove_constants(Hit *hit, const CasePart *part, const Bitset *guards) {
    const Chains *chains = part->view->flow.chains;
    f64 count = 0;
    for (u32 step = 0; step < 2; step++)
        for (u32 pc = 0; pc < part->view->insn_count; pc++) {
            const FlowInsn *in = case_insn(part, pc);
            u32 guard = chains->of_guard[pc];
            if (guard == WL_NONE || !bitset_has(guards, guard)) continue;
            bool constant = (in->is_load && in->space == SPACE_CONST) || in->arith == FLOW_LOAD_PARAM ||
                            (in->arith == FLOW_MOVE && in->uses && is_constant_bank(part, in));
            if (!constant) continue;
            if (step)
                hit_remove(hit, part, pc, 1 - 1 / count);
            else
                count++;
        }
}

static u32 find_guarded(const CasePart *part, Tests *t, Bitset *guards, u32 *at) {
    u32 count = 0;
    f64 most = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_guarded_load(part, a, t->loop)) continue;
        u32 guard = guard_of(part, a->pc), branch = branch_around(part, a->pc);
        if (part->view->flow.chains->of_guard[a->pc] == WL_NONE) bitset_add(&t->found, branch);
        count += !bitset_has(guards, guard);
        bitset_add(guards, guard);
        find_test(t, guard, TEST_DEPTH);
        f64 waits = part->insns[a->pc].blamed;
        if (waits >= most) most = waits, *at = a->pc;
    }
    return count;
}

// Loads in blocks of their own, with a branch between them, are waited for block after block; without tests all start
// together, and only the longest wait is left. The part of the waits that goes; 0: they are all in one block.
static f64 part_of_waits(const CasePart *part, u32 loop) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    f64 all = 0, longest = 0, block = 0;
    u32 last = WL_NONE;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_guarded_load(part, a, loop)) continue;
        block = block_of[a->pc] == last ? block + part->insns[a->pc].blamed : part->insns[a->pc].blamed;
        last = block_of[a->pc];
        all += part->insns[a->pc].blamed;
        longest = fmax(longest, block);
    }
    return all > 0 ? 1 - longest / all : 0;
}

// Loads behind guards that differ between threads are taken to be made half of the time (load.c); these, whose tests
// only the edge fails, are made nearly always, and without tests the L1 has all of them.
static void make_all(Hit *hit, const CasePart *part, u32 loop) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool half = a->known != ACCESS_COUNTED && divergence_of_guard(part->view->flow.divergence, a->pc);
        if (half && is_guarded_load(part, a, loop))
            hit_relieve(hit, RESOURCE_LSU, -part->insns[a->pc].use[RESOURCE_LSU]);
    }
}

static void start_together(Hit *hit, const CasePart *part, u32 loop) {
    f64 gone = part_of_waits(part, loop);
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_guarded_load(part, a, loop)) continue;
        if (gone > 0) hit_blamed(hit, part, a->pc, UINT32_MAX, gone);
        hit_overlapped(hit, part, a->pc, UINT32_MAX, WL_NONE, 1 - gone);
    }
}

static void look_at_copies(AdviceCase *c, const CasePart *part, u32 loop) {
    Tests t = {.part = part, .loop = loop};
    Bitset guards;
    u32 at = 0;
    if (!bitset_init(&t.found, c->scratch, part->view->insn_count) ||
        !bitset_init(&guards, c->scratch, part->view->flow.chains->node_count)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    u32 count = find_guarded(part, &t, &guards, &at);
    if (count < LEAST_TESTS) return;
    Hit *hit = hit_begin(c);
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (bitset_has(&t.found, pc)) hit_remove(hit, part, pc, 1);
        if (part->insns[pc].loop == loop) hit->change.scope_active += part->insns[pc].issued;
    }
    remove_constants(hit, part, &guards);
    if (hit->change.issues < WORTH_IT * c->load.issued) return hit_drop(hit);
    start_together(hit, part, loop);
    make_all(hit, part, loop);
    hit_fact(hit, "guarded_loads", count, "tests", "loads behind %u different tests of the thread's position", count);
    hit_fact(hit, "test_issue_share", 100 * hit->change.issues / c->load.issued, "%",
             "%.0f %% of what is issued only tests", 100 * hit->change.issues / c->load.issued);
    hit_basis(hit, "equation 2 over the tests, equation 5 over the loads that no longer wait for them");
    hit_end_line(hit, part, at, "Take the tests for the loads at %s away, which only the edge of the data needs",
                 place_text(c, part, at));
}

static void look_at_part(AdviceCase *c, const CasePart *part) {
    Bitset parting;
    if (!bitset_init(&parting, c->scratch, part->view->flow.cfg->block_count + 1)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    join_ways(c, part, &parting);
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
        const CaseLoop *loop = &part->loops[l];
        bool turns = loop_goes_on(part, l) || (loop->active > 0 && !loop->innermost);
        if (turns && outermost(part, l) == l) look_at_nest(c, part, l, &parting);
        if (loop->innermost && loop->active > 0) look_at_copies(c, part, l);
    }
    look_at_copies(c, part, WL_NONE);
}

void rule_branch_elimination(AdviceCase *c) {
    skip_steps(c);
    bound_loops(c);
    load_both(c);
    load_to_the_end(c);
    for (u32 p = 0; p < c->part_count && c->status == STATUS_OK; p++) look_at_part(c, &c->parts[p]);
}
