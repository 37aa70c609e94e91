// SPDX-License-Identifier: Apache-2.0
// strength-reduction: divisions of integers by what is known at run time only, and what a multiplication or a shift
// leaves of them.
#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"

// PTX: machine instructions of a division of 32 bits, and of what takes its place.
enum { ROUTINE_STEPS = 20, DIVIDE_STEPS = 4, WIDE_MULTIPLY_STEPS = 14 /* the same of 64 bits */ };

typedef struct Divisions {
    const CasePart *part;  // where most is done
    u32 pc;
    f64 most;
    bool routine;  // some are calls of one
    u32 carried;   // remainders
} Divisions;

static void at_most(Divisions *d, const CasePart *part, u32 pc, f64 runs) {
    if (runs > d->most) d->part = part, d->pc = pc, d->most = runs;
}

static f64 runs_of(const CasePart *part, u32 pc) { return block_runs(part, part->view->flow.cfg->block_of[pc]); }

// --- PTX -----------------------------------------------------------------------------------------------------------
static bool by_constant(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->uses >= 2 && part->view->flow.code->operands[in->operands + in->defs + 1].kind == FLOW_IMMEDIATE;
}

// Of a loop whose counter goes on by a number that is known at run time only, compilers count the turns first, to
// unroll it: the way divided by that number.
enum { HANDED_ON = 4 /* moves and conversions */ };

static u32 origin_of(const CasePart *part, u32 node) {
    const Chains *chains = part->view->flow.chains;
    for (u32 i = 0; i < HANDED_ON && node != WL_NONE && chains->nodes[node].insn != WL_NONE; i++) {
        const FlowInsn *in = case_insn(part, chains->nodes[node].insn);
        u32 from = in->uses == 1 ? chains->of_operand[in->operands + in->defs] : WL_NONE;
        if ((in->arith != FLOW_MOVE && in->arith != FLOW_CONVERT) || from == WL_NONE) break;
        node = from;
    }
    return node;
}

// The addition that makes the loop go on by the value; WL_NONE: there is none.
static u32 goes_on_by(const CasePart *part, u32 loop, u32 value) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const FlowInsn *in = case_insn(part, pc);
        if (part->insns[pc].loop != loop || in->arith != FLOW_ADD) continue;
        for (u32 u = 0; u < in->uses; u++)
            if (origin_of(part, part->view->flow.chains->of_operand[in->operands + in->defs + u]) == value) return pc;
    }
    return WL_NONE;
}

// The first loop from `loop` on whose turns the division counts: it goes on by the divisor, and the division has no
// line of its own. WL_NONE: none.
static u32 counted_loop(const CasePart *part, u32 pc, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    u32 value = in->uses < 2 ? WL_NONE : origin_of(part, flow->chains->of_operand[in->operands + in->defs + 1]);
    for (; value != WL_NONE && loop < flow->loops->loop_count; loop++) {
        const FlowLoop *l = &flow->loops->loops[loop];
        if (l->parent != part->insns[pc].loop || flow->cfg->blocks[l->header].first < pc) continue;
        u32 step = goes_on_by(part, loop, value);
        if (step != WL_NONE && (!part->view->places[pc].line || same_line(part, pc, step))) return loop;
    }
    return WL_NONE;
}

static bool divides(const CasePart *part, u32 pc) {
    const CaseInsn *in = &part->insns[pc];
    return in->traits & TRAIT_INT_DIVIDE && in->issued > 0 && !by_constant(part, pc);
}

#define MOST_UNROLLED 0.1  // of the samples: where the unrolled loop has more, it is worth its division

static void count_no_turns(AdviceCase *c, const CasePart *part) {
    Hit *hit = hit_begin(c);
    u32 count = 0, where = WL_NONE;
    f64 unrolled = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        u32 loop = divides(part, pc) ? counted_loop(part, pc, 0) : WL_NONE;
        if (loop == WL_NONE) continue;
        hit_remove(hit, part, pc, 1);
        where = loop;
        count++;
        while ((loop = counted_loop(part, pc, loop + 1)) != WL_NONE)
            unrolled += part->loops[loop].active + part->loops[loop].stalled;
    }
    if (where == WL_NONE || case_share(c, unrolled) > MOST_UNROLLED) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "counting_divisions", count, "instructions",
             "divisions by which the compiler counts turns, to unroll: %u, %.0f %% of what is issued", count, share);
    hit_caution(hit, "only while the loop turns few times");
    hit_end_loop(hit, part, where,
                 "Leave the loop at %s as it is (#pragma unroll 1): its turns are counted by a division",
                 place_text(c, part, loop_line_pc(part, where)));
}

static u32 reduce_ptx(Hit *hit, const CasePart *part, Divisions *d) {
    u32 count = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const CaseInsn *in = &part->insns[pc];
        if (!divides(part, pc) || counted_loop(part, pc, 0) != WL_NONE) continue;
        f64 steps = insn_steps(part, pc);
        if (steps <= DIVIDE_STEPS) steps = ROUTINE_STEPS;
        hit_remove(hit, part, pc, 1 - DIVIDE_STEPS / steps);
        count++;
        at_most(d, part, pc, in->issued);
    }
    return count;
}

// --- routines of the machine code ----------------------------------------------------------------------------------
static bool is_divide_routine(const CasePart *part, u32 pc) {
    const char *name = insn_routine(part, pc);
    return name && (strstr(name, "_rem_") || strstr(name, "_div_u") || strstr(name, "_div_s"));
}

// Part of the routine's instructions that a multiplication in its place would not need.
static f64 routine_saved(const CasePart *part, u32 pc) {
    f64 all = 0, runs = 0;
    const char *name = insn_routine(part, pc);
    for (u32 i = 0; i < part->view->insn_count; i++) {
        const char *other = insn_routine(part, i);
        if (!other || strcmp(other, name)) continue;
        all += part->insns[i].executed;
        runs = fmax(runs, runs_of(part, i));
    }
    return all > 0 ? fmax(1 - WIDE_MULTIPLY_STEPS * runs / all, 0) : 0;
}

// --- sequences of the machine code ---------------------------------------------------------------------------------
// A division of 32 bits is (nvcc 13.0, sm_90; examples/advice/held_out_9/digit_sums.cu) the divisor's reciprocal, which
// loops keep: I2F.RP, MUFU.RCP, IADD3, F2I, negation, IMAD, IMAD.HI.U32; and for each dividend the quotient,
// IMAD.HI.U32 with nothing added, what it leaves of the dividend, negation and IMAD, and two corrections: ISETP.GE.U32,
// two guarded additions, ISETP.GE.U32, one, SEL; of the rest alone for a remainder. Where both are wanted, negation and
// IMAD again. By a reciprocal that the compiler or the host knows the product and a shift are left, and for the
// remainder one more product: compares, corrections, choices and negations go away, and an IMAD becomes the shift.
// Warps wait 13 cycles for a predicate, so that what goes away is more of the time than of the instructions.
enum { RECIPROCAL_DEPTH = 8 };

static bool is_high_product(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    return insn->op == SASS_OP_IMAD && sass_has(insn, "HI") && sass_has(insn, "U32");
}

// A high product to which nothing is added: the reciprocal's last step adds to it.
static bool is_quotient(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    const SassOperand *last = part->view->flow.code->sass->operands.data + insn->operands + insn->operand_count - 1;
    return is_high_product(part, pc) && last->kind == SASS_OPERAND_REG && last->reg.index == SASS_ZERO;
}

// From the I2F on, all that is made of it only, on whichever way it comes; up to the quotients, which are marked as
// such.
static void mark_reciprocal(const CasePart *part, u32 pc, u32 depth, u8 *marks);

static void mark_users(const CasePart *part, u32 node, u32 depth, u8 *marks) {
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE || !depth) return;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        if (user == WL_NONE) {
            mark_users(part, chains->users[i].operand, depth - 1, marks);
            continue;
        }
        if (marks[user] != DIVISION_OTHER || insn_routine(part, user)) continue;
        if (is_quotient(part, user))
            marks[user] = DIVISION_QUOTIENT;
        else
            mark_reciprocal(part, user, depth - 1, marks);
    }
}

static void mark_reciprocal(const CasePart *part, u32 pc, u32 depth, u8 *marks) {
    const FlowInsn *in = case_insn(part, pc);
    marks[pc] = DIVISION_STEP;
    if (in->defs) mark_users(part, part->view->flow.chains->of_operand[in->operands], depth, marks);
}

void division_mark(const CasePart *part, u32 pc, u8 *marks) {
    bool begins = part->insns[pc].traits & TRAIT_INT_DIVIDE && case_insn(part, pc)->kind == FLOW_PLAIN;
    if (begins && marks[pc] == DIVISION_OTHER) mark_reciprocal(part, pc, RECIPROCAL_DEPTH, marks);
}

bool is_negation(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    const SassOperand *o = part->view->flow.code->sass->operands.data + insn->operands;
    u32 registers = 0, negated = 0;
    if (insn->op != SASS_OP_IADD3 && insn->op != SASS_OP_IMAD) return false;
    for (u32 i = 0; i < insn->operand_count; i++) {
        if (o[i].is_def || o[i].kind != SASS_OPERAND_REG || o[i].reg.file != SASS_R || o[i].reg.index == SASS_ZERO)
            continue;
        registers++;
        negated += o[i].negated;
    }
    return registers == 1 && negated == 1;
}

// Whether the instruction's result decides which way a warp goes: it is not the division's own.
static bool decides_way(const CasePart *part, u32 pc) {
    const Chains *chains = part->view->flow.chains;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        for (u32 i = node == WL_NONE ? 0 : chains->first_user[node];
             node != WL_NONE && i < chains->first_user[node + 1]; i++)
            if (chains->users[i].insn != WL_NONE && case_insn(part, chains->users[i].insn)->kind != FLOW_PLAIN)
                return true;
    }
    return false;
}

// Truth tables of ~b, the quotient of a division by zero, and of a ^ b, whose sign a quotient has.
enum { LOP_NOT = 0x33, LOP_XOR = 0x3c };

static bool is_sign_or_none(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    const SassOperand *o = part->view->flow.code->sass->operands.data + insn->operands;
    for (u32 i = 0; insn->op == SASS_OP_LOP3 && i < insn->operand_count; i++)
        if (o[i].kind == SASS_OPERAND_IMMEDIATE && (o[i].value == LOP_NOT || o[i].value == LOP_XOR)) return true;
    return insn->op == SASS_OP_IABS;
}

// What only a quotient needs that may be too small, or whose operands have signs.
static bool is_correction(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    const FlowInsn *in = case_insn(part, pc);
    if (in->is_load || in->is_store || in->kind != FLOW_PLAIN) return false;
    if (insn->op == SASS_OP_ISETP) return !decides_way(part, pc);
    return in->guard != WL_NONE || insn->op == SASS_OP_SEL || is_negation(part, pc) || is_sign_or_none(part, pc);
}

// Of the line of the division; where lines are not known, not far behind it.
enum { NEAR = 16 };

static bool is_near(const CasePart *part, u32 pc, u32 first) {
    bool known = part->view->places[pc].line && part->view->places[first].line;
    return known ? same_line(part, pc, first) : pc - first <= NEAR;
}

typedef struct Line {  // quotients and corrections of one line and block, which the compiler mixes
    u32 first, end;
    u32 quotients, carried, steps, guarded, signs;
} Line;

static Line line_of(const CasePart *part, u32 first, u8 *marks) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    Line l = {.first = first, .end = first};
    for (; l.end < part->view->insn_count && block_of[l.end] == block_of[first]; l.end++) {
        if (!is_near(part, l.end, first)) continue;
        if (marks[l.end] == DIVISION_QUOTIENT) {
            marks[l.end] = division_is_carried(part, l.end, marks) ? DIVISION_CARRIED : DIVISION_DONE;
            l.carried += marks[l.end] == DIVISION_CARRIED;
            l.quotients++;
        }
        if (marks[l.end] == DIVISION_STEP || !is_correction(part, l.end)) continue;
        l.steps++;
        l.guarded += case_insn(part, l.end)->guard != WL_NONE && !is_sign_or_none(part, l.end);
        l.signs |= insn_machine(part, l.end)->op == SASS_OP_IABS;
    }
    return l;
}

// The product of a carried quotient with the divisor, which the dividend is left by.
static bool is_left_by(const CasePart *part, u32 pc, const u8 *marks) {
    const FlowInsn *in = case_insn(part, pc);
    if (insn_machine(part, pc)->op != SASS_OP_IMAD || is_high_product(part, pc)) return false;
    for (u32 u = 0; u < in->uses; u++) {
        u32 from = insn_source(part, pc, u);
        if (from != WL_NONE && is_negation(part, from)) from = insn_source(part, from, 0);
        if (from != WL_NONE && marks[from] == DIVISION_CARRIED) return true;
    }
    return false;
}

// What is left of a carried remainder: a comparison, a difference and a choice.
enum { CARRIED_STEPS = 3 };

// A remainder alone has two corrections, not three; it keeps the product with the negated quotient, and takes the shift
// besides (32 remainders compiled by nvcc 13.0 take 17.8 instructions each, by a product 4.0, by product and shift
// 5.5); signs take one instruction more then, too. Where it is carried, no product is left.
static u32 remove_corrections(Hit *hit, const CasePart *part, u32 first, u8 *marks, Divisions *d) {
    Line l = line_of(part, first, marks);
    bool alone = l.guarded < (3 + l.signs) * l.quotients;
    u32 carried = alone ? l.carried : 0;
    f64 kept = (l.quotients - carried) * ((alone ? 2.0 : 0.0) + l.signs) + carried * CARRIED_STEPS;
    if (l.steps <= kept) return 0;
    d->carried += carried;
    for (u32 pc = first; pc < l.end; pc++) {
        if (!is_near(part, pc, first) || marks[pc] == DIVISION_STEP) continue;
        if (is_correction(part, pc))
            hit_remove(hit, part, pc, 1 - kept / l.steps);
        else if (carried && (marks[pc] == DIVISION_CARRIED || is_left_by(part, pc, marks)))
            hit_remove(hit, part, pc, 1);
    }
    return l.quotients;
}

static u32 reduce_machine(Hit *hit, const CasePart *part, Divisions *d) {
    u32 quotients = 0, count = part->view->flow.code->insn_count;
    u8 *marks = ARENA_ARRAY(hit->c->scratch, u8, count + 1);
    if (!marks) return hit->c->status = STATUS_NO_MEMORY, 0;
    for (u32 pc = 0; pc < count; pc++) {
        bool routine = insn_routine(part, pc) != NULL;
        if (routine && is_divide_routine(part, pc)) {
            d->routine |= part->insns[pc].issued > 0;
            hit_remove(hit, part, pc, routine_saved(part, pc));
        }
        if (!routine) division_mark(part, pc, marks);
    }
    for (u32 pc = 0; pc < count; pc++) {
        if (marks[pc] == DIVISION_OTHER || marks[pc] > DIVISION_QUOTIENT || part->insns[pc].issued <= 0) continue;
        if (marks[pc] == DIVISION_STEP) hit_remove(hit, part, pc, 1);
        if (marks[pc] == DIVISION_QUOTIENT) quotients += remove_corrections(hit, part, pc, marks, d);
        at_most(d, part, pc, runs_of(part, pc));
    }
    return quotients;
}

// --- the rule ------------------------------------------------------------------------------------------------------
static void replace_divisions(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    Divisions d = {0};
    u32 count = 0;
    for (u32 p = 0; p < c->part_count; p++)
        count += c->parts[p].view->kind == VIEW_SASS ? reduce_machine(hit, &c->parts[p], &d)
                                                     : reduce_ptx(hit, &c->parts[p], &d);
    if (!d.part || hit->change.issues <= 0) return hit_drop(hit);
    hit->of_dispatcher = !d.routine;
    hit_fact(hit, "integer_divisions", count, "instructions",
             "divisions or remainders by a number that is known at run time only: %u", count);
    if (d.carried)
        hit_fact(hit, "carried_remainders", d.carried, "instructions",
                 "of these %u go on from the one before: add the step, and take the divisor off where it is reached",
                 d.carried);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "division_issue_share", share, "%", "%.0f %% of what is issued would not be needed", share);
    hit_end_line(hit, d.part, d.pc, "Replace the division at %s by a multiplication or a shift",
                 place_text(c, d.part, d.pc));
}

void rule_strength_reduction(AdviceCase *c) {
    replace_divisions(c);
    for (u32 p = 0; p < c->part_count; p++)
        if (c->parts[p].view->kind == VIEW_PTX) count_no_turns(c, &c->parts[p]);
    fold_remainders(c);
    replace_powers(c);
    divide_before_loops(c);
}
