// SPDX-License-Identifier: Apache-2.0
// The part of function-inlining that is about what a function makes of arguments that are the same in all turns of the
// loop which calls it: called, it makes that every time; inlined, it leaves the loop, as the reciprocal of a number
// does that all turns divide by. Machine code, whose functions are behind the kernel's instructions.
#include "analyze/advice/rule.h"
#include "base/bitset.h"

typedef struct Invariants {
    const CasePart *part;
    Bitset written;  // registers that the loop or a function changes
    Bitset *same;    // instructions whose results are the same in all turns
} Invariants;

static void add_written(Invariants *v, u32 loop) {
    const FlowCode *code = v->part->view->flow.code;
    for (u32 pc = 0; pc < code->insn_count; pc++) {
        if (!loop_has(v->part, loop, pc) && !insn_routine(v->part, pc)) continue;
        const FlowInsn *in = &code->insns[pc];
        for (u32 d = in->operands; d < in->operands + in->defs; d++)
            if (code->operands[d].kind == FLOW_VALUE) bitset_add(&v->written, code->operands[d].id);
    }
}

// Nobody writes the register, or one of these instructions alone.
static bool is_same_value(const Invariants *v, const FlowOperand *o, u32 node) {
    const Chains *chains = v->part->view->flow.chains;
    if (o->kind != FLOW_VALUE || !bitset_has(&v->written, o->id)) return true;
    return node != WL_NONE && chains->nodes[node].insn != WL_NONE && bitset_has(v->same, chains->nodes[node].insn);
}

static bool is_same(const Invariants *v, u32 pc) {
    const FlowCode *code = v->part->view->flow.code;
    const Chains *chains = v->part->view->flow.chains;
    const FlowInsn *in = &code->insns[pc];
    bool branch = in->kind == FLOW_BRANCH && in->guard != WL_NONE;
    bool computes = in->kind == FLOW_PLAIN && in->defs && in->guard == WL_NONE && !in->is_store && !in->has_effects &&
                    v->part->insns[pc].traits & TRAIT_ARITHMETIC;
    if ((!branch && !computes) || in->is_load) return false;
    for (u32 u = in->operands + in->defs; u < in->operands + in->defs + in->uses; u++)
        if (!is_same_value(v, &code->operands[u], chains->of_operand[u])) return false;
    u32 guard = branch ? chains->of_guard[pc] : WL_NONE;
    return !branch ||
           (guard != WL_NONE && chains->nodes[guard].insn != WL_NONE && bitset_has(v->same, chains->nodes[guard].insn));
}

// Lanes need not meet behind a way that is the same for all turns.
static void add_meetings(Invariants *v, u32 pc) {
    const CasePart *part = v->part;
    u32 end = pc + 1;
    if (insn_machine(part, pc)->op != SASS_OP_BSSY) return;
    for (; end < part->view->insn_count && insn_machine(part, end)->op != SASS_OP_BSYNC; end++)
        if (part->insns[end].executed > 0 && !bitset_has(v->same, end)) return;
    if (end < part->view->insn_count) bitset_add(v->same, pc), bitset_add(v->same, end);
}

bool callee_invariants(AdviceCase *c, const CasePart *part, u32 call, Bitset *same) {
    u32 loop = part->insns[call].loop, count = part->view->flow.code->insn_count;
    Invariants v = {.part = part, .same = same};
    if (!bitset_init(same, c->scratch, count + 1) ||
        !bitset_init(&v.written, c->scratch, part->view->flow.code->value_count + 1))
        return c->status = STATUS_NO_MEMORY, false;
    if (part->view->kind != VIEW_SASS || loop == WL_NONE || part->loops[loop].trips <= 1) return false;
    add_written(&v, loop);
    for (u32 pc = 0; pc < count; pc++)
        if (is_own_function(part, pc) && is_same(&v, pc)) bitset_add(same, pc);
    for (u32 pc = 0; pc < count; pc++)
        if (is_own_function(part, pc)) add_meetings(&v, pc);
    return true;
}
