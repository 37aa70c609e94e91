// SPDX-License-Identifier: Apache-2.0
// The part of loop-unrolling that is about loops whose turns an argument of the launch decides: with the number as a
// constant all turns are one sequence, in which what is made of the turn's number alone is a number itself, and
// constants that it indexes are operands.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum { MOST_INSNS = 1024 /* of the sequence */ };
#define LEAST_SAVED 0.2  // of what the loop issues; less is counting and jumping, which any unrolling spares

typedef struct Known {
    const CasePart *part;
    u32 loop;
    Bitset nodes;  // values that become numbers, as far as has not been found otherwise
} Known;

// R1 is the stack pointer of the machine code's calling convention: a place in a thread's frame is a number behind it.
static bool is_stack_pointer(const CasePart *part, u32 node) {
    const FlowCode *code = part->view->flow.code;
    u32 pc = part->view->flow.chains->nodes[node].insn;
    if (!code->sass || pc == WL_NONE || !code->insns[pc].defs) return false;
    const FlowOperand *o = &code->operands[code->insns[pc].operands];
    return o->kind == FLOW_VALUE && code->value_regs[o->id].file == SASS_R && code->value_regs[o->id].index == 1;
}

static bool is_number_before(const Known *k, u32 node) {
    const FlowResults *flow = &k->part->view->flow;
    return node != WL_NONE && (!flow->affine->forms[node].term_count || is_stack_pointer(k->part, node));
}

static bool is_known(const Known *k, u32 node) {
    const FlowResults *flow = &k->part->view->flow;
    if (node == WL_NONE) return false;
    return flow_loop_has(flow->loops, k->loop, flow->chains->nodes[node].block) ? bitset_has(&k->nodes, node)
                                                                                : is_number_before(k, node);
}

static bool is_known_operand(const Known *k, u32 operand) {
    const FlowResults *flow = &k->part->view->flow;
    const FlowOperand *o = &flow->code->operands[operand];
    i64 number;
    switch (o->kind) {
    case FLOW_IMMEDIATE: return true;
    case FLOW_VALUE: return is_known(k, flow->chains->of_operand[operand]);
    case FLOW_PARAMETER_VALUE:
        return flow_argument(flow->code, flow->arguments, o->id, o->value, o->width / 8, &number);
    default: return false;
    }
}

static bool has_known_operands(const Known *k, u32 pc) {
    const FlowInsn *in = case_insn(k->part, pc);
    u32 guard = k->part->view->flow.chains->of_guard[pc];
    if (in->guard != WL_NONE && !is_known(k, guard)) return false;
    for (u32 u = 0; u < in->uses; u++)
        if (!is_known_operand(k, in->operands + in->defs + u)) return false;
    return true;
}

// Of a load from constant memory: the word itself need not be known, it is an operand then.
static bool has_known_address(const Known *k, u32 pc) {
    const FlowResults *flow = &k->part->view->flow;
    const FlowInsn *in = case_insn(k->part, pc);
    for (u32 u = 0; u < in->uses; u++) {
        u32 operand = in->operands + in->defs + u;
        if (flow->code->operands[operand].kind == FLOW_VALUE && !is_known_operand(k, operand)) return false;
    }
    return in->guard == WL_NONE || is_known(k, flow->chains->of_guard[pc]);
}

static bool has_known_place(const Known *k, u32 pc) {
    const FlowInsn *in = case_insn(k->part, pc);
    return in->address_use != 0xff && is_known_operand(k, in->operands + in->defs + in->address_use);
}

static bool stays_known(const Known *k, u32 node) {
    const Chains *chains = k->part->view->flow.chains;
    const ChainNode *n = &chains->nodes[node];
    if (n->insn != WL_NONE)
        return k->part->insns[n->insn].traits & TRAIT_ARITHMETIC && !case_access(k->part, n->insn) &&
               has_known_operands(k, n->insn);
    for (u32 a = 0; a < n->arg_count; a++)
        if (!is_known(k, chains->args[n->args + a])) return false;
    return n->arg_count > 0;
}

// All are taken for known until something that is not leads to them.
static void find_known(Known *k) {
    const FlowResults *flow = &k->part->view->flow;
    bool changed = true;
    for (u32 n = 0; n < flow->chains->node_count; n++)
        if (flow_loop_has(flow->loops, k->loop, flow->chains->nodes[n].block)) bitset_add(&k->nodes, n);
    while (changed) {
        changed = false;
        for (u32 n = 0; n < flow->chains->node_count; n++)
            if (bitset_has(&k->nodes, n) && !stays_known(k, n)) bitset_remove(&k->nodes, n), changed = true;
    }
}

static bool goes(const Known *k, u32 pc) {
    const FlowInsn *in = case_insn(k->part, pc);
    if (in->kind == FLOW_BRANCH) return in->guard == WL_NONE || is_known(k, k->part->view->flow.chains->of_guard[pc]);
    bool constant = in->is_load && in->space == SPACE_CONST, known = in->defs > 0;
    if (constant) return has_known_address(k, pc);
    for (u32 d = 0; d < in->defs; d++) known &= is_known(k, k->part->view->flow.chains->of_operand[in->operands + d]);
    return known;
}

static bool find_gone(AdviceCase *c, Known *k, Bitset *gone) {
    const CasePart *part = k->part;
    if (!bitset_init(&k->nodes, c->scratch, part->view->flow.chains->node_count + 1) ||
        !bitset_init(gone, c->scratch, part->view->insn_count + 1))
        return c->status = STATUS_NO_MEMORY, false;
    find_known(k);
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (loop_has(part, k->loop, pc) && goes(k, pc)) bitset_add(gone, pc);
    return true;
}

bool known_turns_mark(AdviceCase *c, const CasePart *part, u32 loop, Bitset *gone) {
    Known k = {.part = part, .loop = loop};
    return find_gone(c, &k, gone);
}

// --- arrays in local memory ----------------------------------------------------------------------------------------
// A loop becomes one sequence of up to some 2500 instructions (36 loops, nvcc 13.0; rules/fetch.c), in which places
// that were made of the turn's number are numbers, and an array needs no memory.
enum { MOST_UNROLLED = 2500 };

static u32 insns_left(const Known *k, const Bitset *gone) {
    u32 left = k->part->loops[k->loop].insns;
    for (u32 pc = bitset_next(gone, 0); pc != WL_NONE; pc = bitset_next(gone, pc + 1))
        left -= loop_has(k->part, k->loop, pc);
    return left;
}

bool known_turns_free_locals(AdviceCase *c, const CasePart *part, u32 loop, Bitset *gone) {
    i64 turns = part->view->flow.loops->loops[loop].trip_count;
    Known k = {.part = part, .loop = loop};
    u32 within = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!local_is_computed(part, a)) continue;
        if (!loop_has(part, loop, a->pc)) return false;
        within++;
    }
    if (!within || turns < 2 || !find_gone(c, &k, gone)) return false;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (a->space != SPACE_LOCAL) continue;
        if (local_is_computed(part, a) && !has_known_place(&k, a->pc)) return false;
        bitset_add(gone, a->pc);
    }
    return insns_left(&k, gone) * (f64)turns <= MOST_UNROLLED;
}

u32 known_turns_of_launch(AdviceCase *c, const CasePart *part, u32 loop, f64 *share) {
    const FlowLoop *l = &part->view->flow.loops->loops[loop];
    f64 issued = 0;
    u32 left = part->loops[loop].insns;
    Bitset gone;
    if (l->trip_count > 0 || l->launch_trips < 2 || l->launch_trips > MOST_INSNS || part->loops[loop].active <= 0)
        return 0;
    if (!known_turns_mark(c, part, loop, &gone)) return 0;
    for (u32 pc = bitset_next(&gone, 0); pc != WL_NONE; pc = bitset_next(&gone, pc + 1))
        issued += part->insns[pc].issued, left--;
    *share = issued / part->loops[loop].active;
    return *share >= LEAST_SAVED && left * (f64)l->launch_trips <= MOST_INSNS ? (u32)l->launch_trips : 0;
}
