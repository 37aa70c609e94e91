// SPDX-License-Identifier: Apache-2.0
// Constant trip counts: loops with one exit, tested once per iteration, whose condition compares affine values.
#include "flow/affine.h"
#include "flow/affine_poly.h"

enum { MOST_COPIES = 2 };  // of a predicate, one behind the other

typedef struct Distance {  // of the two sides of a comparison: start + step * iteration
    i64 start, step;
} Distance;

static bool operand_form(const Affine *affine, u32 index, Poly *poly) {
    const FlowCode *code = affine->chains->cfg->code;
    const FlowOperand *operand = &code->operands[index];
    i64 number;
    if (operand->kind == FLOW_PARAMETER_VALUE &&
        flow_argument(code, affine->arguments, operand->id, operand->value, operand->width / 8, &number))
        return *poly = poly_constant(number), true;
    if (operand->kind == FLOW_IMMEDIATE) {
        *poly = poly_constant(operand->width == 32 ? (i64)(i32)operand->value : operand->value);
        return true;
    }
    u32 node = operand->kind == FLOW_VALUE ? affine->chains->of_operand[index] : WL_NONE;
    if (node == WL_NONE) return false;
    const AffineForm *form = &affine->forms[node];
    *poly = poly_constant(form->constant);
    for (u32 i = 0; i < form->term_count; i++) poly->terms[poly->count++] = affine->terms[form->terms + i];
    return true;
}

static bool find_distance(const Affine *affine, const FlowInsn *compare, u32 loop, Distance *distance) {
    Poly left, right;
    u32 first = compare->operands + compare->defs;
    if (!operand_form(affine, first, &left) || !operand_form(affine, first + 1, &right)) return false;
    if (!poly_add(&left, &right, -1) || left.count != 1) return false;
    const AffineFactor *factor = &affine->factors[left.terms[0].factors[0]];
    if (term_degree(&left.terms[0]) != 1 || factor->kind != AFFINE_COUNTER || factor->id != loop) return false;
    *distance = (Distance){left.constant, left.terms[0].coefficient};
    return true;
}

static FlowCompare opposite(FlowCompare compare) {
    static const u8 table[] = {
        [FLOW_EQUAL] = FLOW_NOT_EQUAL,           [FLOW_NOT_EQUAL] = FLOW_EQUAL,    [FLOW_LESS] = FLOW_GREATER_EQUAL,
        [FLOW_GREATER_EQUAL] = FLOW_LESS,        [FLOW_GREATER] = FLOW_LESS_EQUAL, [FLOW_LESS_EQUAL] = FLOW_GREATER,
        [FLOW_COMPARE_NONE] = FLOW_COMPARE_NONE,
    };
    return table[compare];
}

// How often start + step * k < 0 holds for k = 0, 1, ...; -1 when for ever.
static i64 times_below_zero(Distance d) {
    if (d.start >= 0) return 0;
    if (d.step <= 0 || d.start == INT64_MIN) return -1;
    return (-d.start - 1) / d.step + 1;
}

static Distance negated(Distance d) { return (Distance){-d.start, -d.step}; }

// How often the comparison of the distance with 0 holds in a row from the first iteration on; -1 when not known.
static i64 times_true(FlowCompare compare, Distance d) {
    if (d.start <= -(INT64_MAX / 2) || d.start >= INT64_MAX / 2 || d.step == INT64_MIN) return -1;
    switch (compare) {
    case FLOW_LESS: return times_below_zero(d);
    case FLOW_LESS_EQUAL: d.start--; return times_below_zero(d);
    case FLOW_GREATER: return times_below_zero(negated(d));
    case FLOW_GREATER_EQUAL: d.start++; return times_below_zero(negated(d));
    case FLOW_EQUAL: return d.start == 0;
    case FLOW_NOT_EQUAL: return d.start % d.step == 0 && d.start / d.step <= 0 ? -(d.start / d.step) : -1;
    default: return -1;
    }
}

// A routine of the machine code that is called from the loop comes back behind the call.
static bool calls(const Cfg *cfg, u32 block) {
    const FlowBlock *b = &cfg->blocks[block];
    const FlowCode *code = cfg->code;
    return b->count && code->sass &&
           code->sass->insns.data[code->sass->functions.data[code->func].first + b->first + b->count - 1].op ==
               SASS_OP_CALL;
}

// The one block of the loop with an edge out of it, when every iteration passes through it; else WL_NONE.
static u32 exiting_block(const Cfg *cfg, const DomTree *dominators, const Loops *loops, u32 index) {
    const FlowLoop *loop = &loops->loops[index];
    u32 found = WL_NONE;
    if (loop->leaves) return WL_NONE;
    for (u32 i = 0; i < loop->exit_count; i++) {
        const FlowBlock *outside = &cfg->blocks[loops->members[loop->exits + i]];
        for (u32 p = 0; p < outside->pred_count; p++) {
            u32 b = cfg->edges[outside->preds + p];
            if (b == found || !flow_loop_has(loops, index, b) || calls(cfg, b)) continue;
            if (found != WL_NONE || loops->loop_of[b] != index) return WL_NONE;
            found = b;
        }
    }
    for (u32 i = 0; i < loop->latch_count && found != WL_NONE; i++)
        if (!dom_dominates(dominators, found, loops->members[loop->latches + i])) return WL_NONE;
    return found;
}

i64 flow_compare_turns(const Affine *affine, u32 insn, u32 loop, bool true_stays) {
    const FlowInsn *compare = &affine->chains->cfg->code->insns[insn];
    Distance distance;
    if (compare->arith != FLOW_COMPARE || compare->guard != WL_NONE || !find_distance(affine, compare, loop, &distance))
        return -1;
    i64 times = times_true(true_stays ? compare->compare : opposite(compare->compare), distance);
    return times < 0 ? -1 : times + 1;
}

// The one register that a machine instruction PLOP3 copies: the AND (0x80) of it and of what is always true. WL_NONE:
// it does something else.
static u32 copied_use(const FlowCode *code, u32 pc) {
    const SassInsn *in = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    const SassOperand *operands = &code->sass->operands.data[in->operands];
    u32 registers = 0, immediates = 0;
    for (u32 i = 0; i < in->operand_count; i++) {
        const SassOperand *o = &operands[i];
        if (o->kind == SASS_OPERAND_IMMEDIATE && !immediates++ && o->value != 0x80) return WL_NONE;
        if (o->kind != SASS_OPERAND_REG || o->is_def) continue;
        if (o->negated) return WL_NONE;
        registers += o->reg.index != SASS_ZERO;
    }
    bool copies = in->op == SASS_OP_PLOP3 && registers == 1 && immediates && code->insns[pc].guard == WL_NONE;
    for (u32 u = 0; copies && u < code->insns[pc].uses; u++) {
        u32 operand = code->insns[pc].operands + code->insns[pc].defs + u;
        if (code->operands[operand].kind == FLOW_VALUE) return operand;
    }
    return WL_NONE;
}

u32 flow_condition(const Chains *chains, u32 node) {
    const FlowCode *code = chains->cfg->code;
    for (u32 i = 0; code->sass && i < MOST_COPIES && node != WL_NONE && !chain_is_merge(chains, node); i++) {
        u32 operand = copied_use(code, chains->nodes[node].insn);
        if (operand == WL_NONE) break;
        node = chains->of_operand[operand];
    }
    return node;
}

static i64 trip_count(const Affine *affine, const DomTree *dominators, const Loops *loops, u32 index) {
    const Cfg *cfg = affine->chains->cfg;
    const FlowCode *code = cfg->code;
    u32 b = loops->loops[index].irreducible ? WL_NONE : exiting_block(cfg, dominators, loops, index);
    if (b == WL_NONE || cfg->blocks[b].succ_count != 2) return -1;
    u32 last = cfg->blocks[b].first + cfg->blocks[b].count - 1;
    const FlowInsn *branch = &code->insns[last];
    u32 node = branch->kind == FLOW_BRANCH && branch->guard != WL_NONE ? affine->chains->of_guard[last] : WL_NONE;
    node = flow_condition(affine->chains, node);
    if (node == WL_NONE || chain_is_merge(affine->chains, node)) return -1;
    bool taken_stays = flow_loop_has(loops, index, cfg->edges[cfg->blocks[b].succs]);
    return flow_compare_turns(affine, affine->chains->nodes[node].insn, index, taken_stays != branch->guard_negated);
}

void flow_trip_counts(const Affine *affine, const DomTree *dominators, Loops *loops) {
    for (u32 l = 0; l < loops->loop_count; l++) loops->loops[l].trip_count = trip_count(affine, dominators, loops, l);
}

void flow_launch_trips(const Affine *affine, const DomTree *dominators, Loops *loops) {
    for (u32 l = 0; l < loops->loop_count; l++) loops->loops[l].launch_trips = trip_count(affine, dominators, loops, l);
}
