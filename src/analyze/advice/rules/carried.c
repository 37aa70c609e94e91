// SPDX-License-Identifier: Apache-2.0
// Remainders that can be carried on: by a divisor that all turns of a loop share, of a dividend that goes on by as much
// in every turn, or by something in proportion from the remainder before. Less than a divisor away from the one before,
// as places in a ring are, they need no product, only a comparison and what it chooses.
#include "analyze/advice/rule.h"

enum { HANDED_ON = 4 /* moves and signs */, TRACED_BACK = 12, MOST_TRACED = 512 };

static const FlowResults *flow_of(const CasePart *part) { return &part->view->flow; }

// The value behind moves and |x|.
static u32 behind(const CasePart *part, u32 node) {
    const Chains *chains = flow_of(part)->chains;
    for (u32 i = 0; i < HANDED_ON && node != WL_NONE && !chain_is_merge(chains, node); i++) {
        const FlowInsn *in = case_insn(part, chains->nodes[node].insn);
        u32 from = in->uses ? chains->of_operand[in->operands + in->defs] : WL_NONE;
        bool same = in->arith == FLOW_MOVE || insn_machine(part, chains->nodes[node].insn)->op == SASS_OP_IABS;
        if (!same || in->uses != 1 || from == WL_NONE) break;
        node = from;
    }
    return node;
}

typedef struct Factors {  // nodes; divisor: WL_NONE where it is in the constant bank
    u32 reciprocal, divisor, dividend;
} Factors;

// The step of a reciprocal that the value is, or is on one of the ways; WL_NONE: it is none.
static u32 step_of(const CasePart *part, u32 node, const u8 *marks) {
    const ChainNode *nodes = flow_of(part)->chains->nodes, *n = &nodes[node];
    if (n->insn != WL_NONE) return marks[n->insn] == DIVISION_STEP ? n->insn : WL_NONE;
    for (u32 a = 0; a < n->arg_count; a++) {
        u32 arg = flow_of(part)->chains->args[n->args + a];
        if (arg != WL_NONE && nodes[arg].insn != WL_NONE && marks[nodes[arg].insn] == DIVISION_STEP)
            return nodes[arg].insn;
    }
    return WL_NONE;
}

// What the reciprocal is of: back through its steps to the conversion with which they begin.
static u32 divisor_of(const CasePart *part, u32 step, const u8 *marks) {
    const Chains *chains = flow_of(part)->chains;
    u32 pc = step;
    for (u32 i = 0; i < TRACED_BACK && !(part->insns[pc].traits & TRAIT_INT_DIVIDE); i++) {
        u32 from = WL_NONE;
        for (u32 u = 0; u < case_insn(part, pc)->uses && (from == WL_NONE || marks[from] != DIVISION_STEP); u++)
            from = insn_source(part, pc, u);
        if (from == WL_NONE || marks[from] != DIVISION_STEP) return WL_NONE;
        pc = from;
    }
    const FlowInsn *in = case_insn(part, pc);
    return in->uses ? behind(part, chains->of_operand[in->operands + in->defs]) : WL_NONE;
}

static Factors factors_of(const CasePart *part, u32 quotient, const u8 *marks) {
    const Chains *chains = flow_of(part)->chains;
    const FlowInsn *in = case_insn(part, quotient);
    Factors f = {WL_NONE, WL_NONE, WL_NONE};
    for (u32 u = 0; u < in->uses; u++) {
        u32 node = chains->of_operand[in->operands + in->defs + u];
        if (node == WL_NONE) continue;
        u32 step = step_of(part, node, marks);
        if (step == WL_NONE)
            f.dividend = behind(part, node);
        else
            f.reciprocal = node, f.divisor = divisor_of(part, step, marks);
    }
    return f;
}

static bool is_same_divisor(const CasePart *part, Factors f, Factors g) {
    if (f.reciprocal == g.reciprocal) return true;
    return f.divisor != WL_NONE && g.divisor != WL_NONE &&
           affine_same_form(flow_of(part)->affine, f.divisor, g.divisor);
}

// How often the loop's counter is in the value; WL_NONE: the loop changes it in another way, too.
static u32 counts_in(const CasePart *part, u32 node, u32 loop) {
    const FlowResults *flow = flow_of(part);
    const AffineForm *form = &flow->affine->forms[node];
    u32 counts = 0;
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && flow->affine->terms[form->terms + t].factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &flow->affine->factors[flow->affine->terms[form->terms + t].factors[i]];
            bool node_of_loop =
                f->kind == AFFINE_NODE && flow_loop_has(flow->loops, loop, flow->chains->nodes[f->id].block);
            if (node_of_loop) return WL_NONE;
            counts += f->kind == AFFINE_COUNTER && f->id == loop;
        }
    return counts;
}

// What makes a remainder of its quotient, or hands it on: the product with the divisor, corrections, choices.
static bool is_of_remainder(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    u32 op = insn_machine(part, pc)->op;
    return in->guard != WL_NONE || in->arith == FLOW_MOVE || op == SASS_OP_SEL || is_negation(part, pc) ||
           (op == SASS_OP_IMAD && in->arith != FLOW_ADD);
}

// Whether the value is a remainder by the same divisor.
static bool comes_from(const CasePart *part, u32 node, Factors f, const u8 *marks, u32 depth, u32 *left) {
    const Chains *chains = flow_of(part)->chains;
    if (node == WL_NONE || !depth || !*left) return false;
    --*left;
    const ChainNode *n = &chains->nodes[node];
    for (u32 a = 0; a < n->arg_count; a++)
        if (comes_from(part, chains->args[n->args + a], f, marks, depth - 1, left)) return true;
    if (chain_is_merge(chains, node)) return false;
    if (marks[n->insn] >= DIVISION_QUOTIENT) return is_same_divisor(part, f, factors_of(part, n->insn, marks));
    const FlowInsn *in = case_insn(part, n->insn);
    for (u32 u = 0; u < in->uses && is_of_remainder(part, n->insn); u++)
        if (comes_from(part, chains->of_operand[in->operands + in->defs + u], f, marks, depth - 1, left)) return true;
    return false;
}

// The dividend is such a remainder and something more.
static bool goes_on_itself(const CasePart *part, Factors f, const u8 *marks) {
    const Affine *affine = flow_of(part)->affine;
    const AffineForm *form = &affine->forms[f.dividend];
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        if (term->coefficient != 1 || term->factors[0] == WL_NONE || term->factors[1] != WL_NONE) continue;
        const AffineFactor *factor = &affine->factors[term->factors[0]];
        u32 left = MOST_TRACED;
        if (factor->kind == AFFINE_NODE && comes_from(part, factor->id, f, marks, TRACED_BACK, &left)) return true;
    }
    return false;
}

// Another remainder before it in its block, by the same divisor, of a dividend that is as far away as the code says.
static bool follows_other(const CasePart *part, u32 quotient, Factors f, const u8 *marks) {
    const FlowResults *flow = flow_of(part);
    for (u32 pc = quotient; pc-- > flow->cfg->blocks[flow->cfg->block_of[quotient]].first;) {
        if (marks[pc] < DIVISION_QUOTIENT) continue;
        Factors other = factors_of(part, pc, marks);
        if (other.dividend != WL_NONE && is_same_divisor(part, f, other) &&
            affine_same_terms(flow->affine, other.dividend, f.dividend))
            return true;
    }
    return false;
}

bool division_is_carried(const CasePart *part, u32 quotient, const u8 *marks) {
    Factors f = factors_of(part, quotient, marks);
    u32 loop = part->insns[quotient].loop;
    if (f.reciprocal == WL_NONE || f.dividend == WL_NONE) return false;
    if (follows_other(part, quotient, f, marks)) return true;
    if (loop == WL_NONE || (f.divisor != WL_NONE && counts_in(part, f.divisor, loop))) return false;
    u32 counts = counts_in(part, f.dividend, loop);
    return counts == WL_NONE ? goes_on_itself(part, f, marks) : counts > 0;
}
