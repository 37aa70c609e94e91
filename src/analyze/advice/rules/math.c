// SPDX-License-Identifier: Apache-2.0
// fast-math, strength-reduction: arithmetic that takes many instructions where few would do.
#include <math.h>

#include "analyze/advice/rule.h"

enum { FAST_STEPS = 2, DIVIDE_STEPS = 4, EXACT_STEPS = 8, ROUTINE_STEPS = 20 };

// Functions of CUDA's math library (libdevice) are inlined without a trace but for their constants: one that only
// this function has, the instructions of the exact version, and of the fast one.
static const struct {
    u32 bits;
    const char *name, *fast;
    u32 exact_steps, fast_steps;
} math_functions[] = {
    {0x3bbb989d, "expf", "__expf", 9, 2},                        // 1 / 174.67: log2(e) / 252
    {0x3e1039f6, "logf", "__logf", 22, 2},                       // of the polynomial
    {0x3f22f983, "the reduction of an angle", "__sinf", 12, 0},  // 2 / pi
    {0x3c0885e4, "sinf or cosf", "__sinf or __cosf", 17, 2},     // of the polynomial
};

static u32 function_of(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const FlowOperand *use = &part->view->flow.code->operands[in->operands + in->defs];
    for (u32 u = 0; u < in->uses; u++)
        for (u32 f = 0; f < WL_COUNT(math_functions); f++)
            if (use[u].kind == FLOW_OTHER && (u32)use[u].value == math_functions[f].bits) return f;
    return WL_NONE;
}

// --- fast-math -----------------------------------------------------------------------------------------------------
static f64 block_runs(const CasePart *part, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[flow->cfg->block_of[pc]];
    f64 most = 0;
    for (u32 i = b->first; i < b->first + b->count; i++)
        if (part->insns[i].executed > most) most = part->insns[i].executed;
    return most;
}

static bool is_of_function(const CasePart *part, u32 pc) {
    u32 traits = part->insns[pc].traits;
    bool own = traits & (TRAIT_EXACT_MATH | TRAIT_CALL | TRAIT_BARRIER | TRAIT_SHUFFLE);
    return !own && (traits & TRAIT_ARITHMETIC || case_insn(part, pc)->kind == FLOW_BRANCH);
}

typedef struct LineMath {
    f64 saved, issued;  // samples of issue that the fast versions save; of all arithmetic of the line
    u32 first, end;     // instructions that may be of the line
} LineMath;

// The functions' instructions are among those of the line that calls them, and as slow as these are on average.
static LineMath look_at_line(const CasePart *part, u32 pc) {
    LineMath l = {0};
    for (u32 i = 0; i < part->view->insn_count; i++) {
        if (!same_line(part, i, pc) || !is_of_function(part, i)) continue;
        u32 f = function_of(part, i);
        l.issued += part->insns[i].issued;
        if (f != WL_NONE)
            l.saved += block_runs(part, i) * (math_functions[f].exact_steps - math_functions[f].fast_steps);
    }
    return l;
}

static bool seen_before(const CasePart *part, u32 pc) {
    for (u32 i = 0; i < pc; i++)
        if (same_line(part, i, pc) && function_of(part, i) != WL_NONE) return true;
    return false;
}

typedef struct MathFound {
    const CasePart *part;
    u32 pc, exact, functions;
    f64 most;
    u32 names;  // bits: math_functions
} MathFound;

static void found(MathFound *m, const CasePart *part, u32 pc, f64 weight) {
    if (weight > m->most) m->most = weight, m->part = part, m->pc = pc;
}

static void add_function(Hit *hit, const CasePart *part, u32 pc, MathFound *m) {
    m->functions++;
    m->names |= 1u << function_of(part, pc);
    if (seen_before(part, pc)) return;
    LineMath l = look_at_line(part, pc);
    f64 fraction = l.issued > 0 ? fmin(l.saved / l.issued, 0.95) : 0;
    for (u32 i = 0; i < part->view->insn_count && fraction > 0; i++)
        if (same_line(part, i, pc) && is_of_function(part, i)) hit_remove(hit, part, i, fraction);
    found(m, part, pc, l.saved);
}

static void add_exact(Hit *hit, const CasePart *part, u32 pc, MathFound *m) {
    f64 steps = insn_steps(part, pc);
    if (steps <= FAST_STEPS) steps = EXACT_STEPS;
    m->exact++;
    hit_remove(hit, part, pc, 1 - FAST_STEPS / steps);
    found(m, part, pc, part->insns[pc].issued);
}

void rule_fast_math(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    MathFound m = {0};
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 pc = 0; pc < part->view->insn_count; pc++) {
            if (part->insns[pc].traits & TRAIT_EXACT_MATH && part->insns[pc].issued > 0) add_exact(hit, part, pc, &m);
            if (function_of(part, pc) != WL_NONE) add_function(hit, part, pc, &m);
        }
    }
    if (!m.part) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "exact_math_issue_share", share, "%",
             "%.0f %% of the instructions make functions exact to the last bit", share);
    if (m.exact)
        hit_fact(hit, "exact_operations", m.exact, "instructions",
                 "%u divisions, roots and reciprocals are correctly rounded", m.exact);
    for (u32 f = 0; f < WL_COUNT(math_functions); f++)
        if (m.names & 1u << f)
            hit_fact(hit, "math_function", math_functions[f].exact_steps, "instructions",
                     "%s takes some %u instructions; %s takes %u", math_functions[f].name,
                     math_functions[f].exact_steps, math_functions[f].fast, math_functions[f].fast_steps);
    hit_caution(hit, "results change in their last digits; large arguments of sine and cosine lose more");
    hit_end_line(hit, m.part, m.pc, "Use the fast versions of the math functions at %s", place_text(c, m.part, m.pc));
}

// --- strength-reduction --------------------------------------------------------------------------------------------
static bool by_constant(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->uses >= 2 && part->view->flow.code->operands[in->operands + in->defs + 1].kind == FLOW_IMMEDIATE;
}

void rule_strength_reduction(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = NULL;
    u32 at = 0, count = 0;
    f64 most = 0, steps_of_most = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 pc = 0; pc < part->view->insn_count; pc++) {
            const CaseInsn *in = &part->insns[pc];
            if (!(in->traits & TRAIT_INT_DIVIDE) || in->issued <= 0 || by_constant(part, pc)) continue;
            f64 steps = insn_steps(part, pc);
            if (steps <= DIVIDE_STEPS) steps = ROUTINE_STEPS;
            hit_remove(hit, part, pc, 1 - DIVIDE_STEPS / steps);
            count++;
            if (in->issued > most) most = in->issued, where = part, at = pc, steps_of_most = steps;
        }
    }
    if (!where) return hit_drop(hit);
    hit_fact(hit, "integer_divisions", count, "instructions",
             "%u divisions or remainders by a number known at run time only, some %.0f instructions each", count,
             steps_of_most);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "division_issue_share", share, "%", "%.0f %% of what is issued would not be needed", share);
    hit_end_line(hit, where, at, "Replace the division at %s by a multiplication or a shift", place_text(c, where, at));
}
