// SPDX-License-Identifier: Apache-2.0
// Loops that ptxas unrolls altogether, although each turn may leave them or has sides that stay branches: one turn
// stands behind the other, and what counted them is gone, the branch that leaves stays. `while (i < 100 && inside)`,
// with `and.pred` or as two branches, loops with a branch around a store. The blocks are issued as they are, but for
// what straight code has not. From listings of ptxas 13.0 for sm_90 of 1,600 such loops (tests/time/loops.tsv has
// some): of 8, 16, 32, 64, 100, 256 and 1,000 turns those with bodies of up to 60, 41, 28, 20, 16, 11 and 5
// instructions, comparisons and branches included, loads twice; pointers that each turn moves on are offsets, a counter
// that begins with a number is one in each turn.
#include "flow/affine.h"
#include "sim/time/time_lower.h"

typedef struct Apart {
    TimeFunc *f;
    u32 loop;
    u32 branch;   // that leaves behind the last turn,
    u32 compare;  // when this says so,
    u32 joined;   // together with another condition (and.pred, or.pred); WL_NONE: alone
    i64 turns;    // most of them
    u64 weight;   // of one
    u64 most;     // turns * weight^2
} Apart;

static const FlowLoop *loop_of(const Apart *a) { return &a->f->loops->loops[a->loop]; }
static const FlowInsn *insn_at(const Apart *a, u32 i) { return &a->f->code->insns[i]; }
static const FlowBlock *member(const Apart *a, u32 k) {
    return &a->f->cfg->blocks[a->f->loops->members[loop_of(a)->blocks + k]];
}
static u32 last_of(const FlowBlock *block) { return block->first + block->count - 1; }
static u32 result_of(const Apart *a, u32 i) { return a->f->code->operands[insn_at(a, i)->operands].id; }
static bool is_inside(const Apart *a, u32 insn) {
    return flow_loop_has(a->f->loops, a->loop, a->f->cfg->block_of[insn]);
}

// --- how many turns -----------------------------------------------------------------------------------------------
static bool is_compare(const Apart *a, u32 insn) {
    return insn != WL_NONE && insn_at(a, insn)->arith == FLOW_COMPARE && insn_at(a, insn)->defs == 1 &&
           is_inside(a, insn);
}

static void note_compare(Apart *a, u32 branch, u32 compare, u32 joined, bool true_stays) {
    i64 turns = is_compare(a, compare) ? flow_compare_turns(a->f->affine, compare, a->loop, true_stays) : -1;
    if (turns < 0 || (a->turns >= 0 && a->turns <= turns)) return;
    a->turns = turns;
    a->branch = branch;
    a->compare = compare;
    a->joined = joined;
}

// A branch out of the loop that every turn comes to: whether it counts.
static void look_at_exit(Apart *a, const FlowBlock *block, u32 b) {
    TimeFunc *f = a->f;
    u32 last = last_of(block), latch = f->loops->members[loop_of(a)->latches];
    const FlowInsn *branch = insn_at(a, last);
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE || block->succ_count != 2) return;
    bool taken_stays = flow_loop_has(f->loops, a->loop, f->cfg->edges[block->succs]);
    bool other_stays = flow_loop_has(f->loops, a->loop, f->cfg->edges[block->succs + 1]);
    u32 def = f->sole_def[branch->guard];
    if (taken_stays == other_stays || def == WL_NONE || !dom_dominates(f->dominators, b, latch)) return;
    bool true_stays = taken_stays != branch->guard_negated;
    note_compare(a, last, def, WL_NONE, true_stays);
    if (time_op(f, def) != (true_stays ? OP_AND : OP_OR) || !is_inside(a, def)) return;
    for (u32 k = 0; k < insn_at(a, def)->uses; k++) {
        const FlowOperand *use = &time_uses(f, def)[k];
        if (use->kind == FLOW_VALUE) note_compare(a, last, f->sole_def[use->id], def, true_stays);
    }
}

// --- whether ------------------------------------------------------------------------------------------------------
// r = r + constant, nothing else in the loop.
static bool is_step(const Apart *a, u32 i) {
    const TimeFunc *f = a->f;
    u32 found = 0;
    if (!time_adds_number(f, i)) return false;
    for (u32 r = result_of(a, i), d = f->first_def[r]; d < f->first_def[r + 1]; d++)
        found += is_inside(a, f->defs_of[d]);
    return found == 1;
}

// Whether the loop begins with a number in `value`: a counter, whose only other definition is the step.
static bool begins_with_number(const Apart *a, u32 value) {
    const TimeFunc *f = a->f;
    u32 numbers = 0, steps = 0;
    for (u32 d = f->first_def[value]; d < f->first_def[value + 1]; d++) {
        u32 i = f->defs_of[d];
        bool number = insn_at(a, i)->arith == FLOW_MOVE && time_uses(f, i)->kind == FLOW_IMMEDIATE;
        numbers += number && insn_at(a, i)->guard == WL_NONE && !is_inside(a, i);
        steps += is_inside(a, i);
    }
    return numbers == 1 && steps == 1 && f->first_def[value + 1] - f->first_def[value] == 2;
}

// A sum that has room for the number that a counter is in each turn.
static bool takes_number(const Apart *a, u32 i, u32 value) {
    const FlowInsn *in = insn_at(a, i);
    const FlowOperand *uses = time_uses(a->f, i);
    if (in->arith != FLOW_ADD || !is_inside(a, i) || a->f->picked[i].steps != i || in->uses != 2) return false;
    u32 k = uses[0].kind == FLOW_VALUE && uses[0].id == value;
    return uses[k].kind == FLOW_VALUE && uses[k].id != value && uses[1 - k].kind == FLOW_VALUE &&
           begins_with_number(a, value);
}

// Whether an instruction needs the value in a register: not as an address, which has the step in its offset, nor to
// count.
static bool needs_value(const Apart *a, u32 i, u32 value) {
    const Picked *p = &a->f->picked[i];
    if (!p->needed || i == a->compare || i == a->joined || p->base == value || takes_number(a, i, value)) return false;
    if (is_step(a, i) && result_of(a, i) == value) return false;
    for (u32 k = 0; k < p->leaf_count; k++)
        if (a->f->leaves.data[p->leaves + k] == value) return true;
    return false;
}

static bool is_needed_inside(const Apart *a, u32 value) {
    for (u32 k = 0; k < loop_of(a)->block_count; k++)
        for (u32 i = member(a, k)->first; i <= last_of(member(a, k)); i++)
            if (needs_value(a, i, value)) return true;
    return false;
}

static bool is_needed_outside(const Apart *a, u32 value) {
    for (u32 i = 0; i < a->f->code->insn_count; i++)
        if (!is_inside(a, i) && needs_value(a, i, value)) return true;
    return false;
}

// What ptxas counts of an instruction.
static u32 weight_of(const Apart *a, u32 i) {
    const FlowInsn *in = insn_at(a, i);
    const TimeFunc *f = a->f;
    if (in->kind == FLOW_BRANCH) return in->guard != WL_NONE;
    u32 op = time_op(f, i);
    bool compare = op == OP_SETP_INT || op == OP_SETP_F || op == OP_SETP_F64;
    bool swallowed = compare && f->use_count[result_of(a, i)];
    if (!f->picked[i].needed && !swallowed) return 0;
    bool load = in->is_load && !in->is_atomic && in->space != SPACE_CONST && in->space != SPACE_PARAM;
    return 1 + load;
}

static bool can_stand(const Apart *a, u32 i) {
    u32 flags = form_op(time_form(a->f, i))->flags;
    return !(flags & (OPF_FENCE | OPF_CALL | OPF_VOLATILE | OPF_ASYNC | OPF_CONVERGENT | OPF_WARP_SYNC | OPF_ATOMIC));
}

// Adds up what a turn weighs; false: it has something that is not unrolled.
static bool weigh(Apart *a) {
    for (u32 k = 0; k < loop_of(a)->block_count; k++)
        for (u32 i = member(a, k)->first; i <= last_of(member(a, k)); i++) {
            if (!can_stand(a, i)) return false;
            bool pointer = is_step(a, i) && result_of(a, i) != result_of(a, a->compare) && a->f->picked[i].needed &&
                           a->f->code->value_bits[result_of(a, i)] == 64;
            bool placed = time_has_known_place(a->f, i);
            a->weight += pointer || placed ? 0 : weight_of(a, i);
            a->most += placed ? TIME_PLACED_MORE : 0;
        }
    return true;
}

static bool is_unrolled(Apart *a) {
    const TimeFunc *f = a->f;
    const FlowLoop *loop = loop_of(a);
    if (!flow_loop_is_innermost(f->loops, a->loop) || loop->irreducible || loop->latch_count != 1) return false;
    if ((f->unrolled[loop->header] && !f->whole[loop->header]) || !f->affine) return false;
    for (u32 k = 0; k < loop->block_count; k++) look_at_exit(a, member(a, k), f->loops->members[loop->blocks + k]);
    if (f->whole[loop->header]) return a->turns >= 2;
    if (a->turns < 2 || a->turns > TIME_WHOLE_MAX || !weigh(a)) return false;
    return (u64)a->turns * a->weight * a->weight <= a->most &&
           !time_forbids_unrolling(f, f->cfg->blocks[loop->header].first);
}

// --- what goes ----------------------------------------------------------------------------------------------------
static void replace_leaf(TimeFunc *f, u32 insn, u32 value, u32 by) {
    Picked *p = &f->picked[insn];
    for (u32 k = 0; k < p->leaf_count; k++)
        if (f->leaves.data[p->leaves + k] == value) f->leaves.data[p->leaves + k] = by;
    if (p->guard == value) p->guard = by;
}

// The other condition that is asked together with the count.
static u32 other_condition(const Apart *a) {
    const FlowOperand *uses = time_uses(a->f, a->joined);
    u32 counted = result_of(a, a->compare);
    u32 k = uses[0].kind == FLOW_VALUE && uses[0].id == counted;
    return k < insn_at(a, a->joined)->uses && uses[k].kind == FLOW_VALUE ? uses[k].id : WL_NONE;
}

// The branch asks for the other condition alone. Where that is a comparison which is one with the `and` (Picked.steps),
// it stays where that is.
static void drop_joined(Apart *a) {
    TimeFunc *f = a->f;
    Picked *joined = &f->picked[a->joined];
    u32 other = other_condition(a), def = other == WL_NONE ? WL_NONE : f->sole_def[other];
    if (other == WL_NONE || !joined->needed) return;
    f->gone[a->compare] = true;
    if (joined->steps == def && def != a->compare)
        replace_leaf(f, a->joined, result_of(a, a->compare),
                     joined->leaf_count ? f->leaves.data[joined->leaves] : other);
    else
        f->gone[a->joined] = true, replace_leaf(f, a->branch, result_of(a, a->joined), other);
}

static void drop_branch(Apart *a) {
    TimeFunc *f = a->f;
    u32 b = f->cfg->block_of[a->branch];
    f->gone[a->compare] = true;
    if (!f->speculated[b]) {
        f->no_branch[a->branch] = !f->whole[b] || a->branch + 1 == time_region_end(f, time_block(f, a->branch));
        return;
    }
    const FlowInsn *first = insn_at(a, last_of(&f->cfg->blocks[b - 1]));
    if (first->guard != WL_NONE) replace_leaf(f, a->branch, f->picked[a->branch].guard, first->guard);
}

// A copy for the next turn is a name there.
static bool is_renamed(const Apart *a, u32 i) {
    const FlowInsn *in = insn_at(a, i);
    return time_op(a->f, i) == OP_MOV && in->guard == WL_NONE && in->defs == 1 && in->uses == 1 &&
           time_uses(a->f, i)->kind == FLOW_VALUE && !is_needed_outside(a, result_of(a, i));
}

// The number that a counter begins with, where nobody asks for the counter but those who have numbers instead.
static void drop_number(Apart *a, u32 value) {
    TimeFunc *f = a->f;
    if (!begins_with_number(a, value) || is_needed_outside(a, value)) return;
    for (u32 d = f->first_def[value]; d < f->first_def[value + 1]; d++) f->gone[f->defs_of[d]] = true;
}

static void drop_control(Apart *a) {
    TimeFunc *f = a->f;
    u32 latch = last_of(&f->cfg->blocks[f->loops->members[loop_of(a)->latches]]);
    if (insn_at(a, latch)->kind == FLOW_BRANCH && insn_at(a, latch)->guard == WL_NONE) f->no_branch[latch] = true;
    if (a->joined != WL_NONE)
        drop_joined(a);
    else
        drop_branch(a);
    for (u32 k = 0; k < loop_of(a)->block_count; k++)
        for (u32 i = member(a, k)->first; i <= last_of(member(a, k)); i++) {
            if (!f->picked[i].needed) continue;
            f->placed[i] = time_has_known_place(f, i);
            bool step = is_step(a, i) && !is_needed_inside(a, result_of(a, i));
            bool counts = step && f->code->value_bits[result_of(a, i)] == 32;
            if ((step && !(counts && is_needed_outside(a, result_of(a, i)))) || is_renamed(a, i)) f->gone[i] = true;
            if (counts) drop_number(a, result_of(a, i));
        }
}

void time_choose_apart(TimeFunc *f) {
    for (u32 l = 0; l < f->loops->loop_count; l++) {
        Apart a = {.f = f, .loop = l, .turns = -1, .most = TIME_WHOLE_MAX};
        if (is_unrolled(&a)) drop_control(&a);
    }
}
