// SPDX-License-Identifier: Apache-2.0
// Whether the turns of a loop can be dealt to others: none needs what an earlier one has computed, be it in a register
// or through memory.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

// --- through registers -----------------------------------------------------------------------------------------------
enum { MOST_ADDS = 64 };  // of one sum in an unrolled turn

static bool counts(const CasePart *part, u32 node) {
    return affine_kinds(part->view->flow.affine, node) & 1u << AFFINE_COUNTER;
}

// The only instruction of the loop that uses the value, WL_NONE: several; *ends: none does, it goes to the next turn.
static u32 only_user(const CasePart *part, u32 loop, u32 node, bool *ends) {
    const Chains *chains = part->view->flow.chains;
    u32 found = WL_NONE, users = 0;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        if (user != WL_NONE && loop_has(part, loop, user)) found = user, users++;
    }
    *ends = users == 0;
    return users == 1 ? found : WL_NONE;
}

// Of sums of 64 bits the upper halves, with their carries; extremes of more than two numbers.
static bool joins_machine(const SassInsn *insn) {
    switch (insn ? insn->op : SASS_OP_UNKNOWN) {
    case SASS_OP_IADD3:
    case SASS_OP_VIMNMX3:
    case SASS_OP_FMNMX:
    case SASS_OP_FMNMX3: return true;
    case SASS_OP_IMAD: return sass_has(insn, "X");
    default: return false;
    }
}

// Sums and extremes: others can have their own, to be joined later.
static bool joins(const CasePart *part, u32 pc) {
    switch ((UnitClass)case_insn(part, pc)->unit) {
    case UNIT_FMA:
    case UNIT_FP64: return true;
    default: break;
    }
    switch ((FlowArith)case_insn(part, pc)->arith) {
    case FLOW_ADD:
    case FLOW_ADD3:
    case FLOW_MOVE:
    case FLOW_MIN:
    case FLOW_MAX: return true;
    default: return joins_machine(insn_machine(part, pc));
    }
}

enum { MOST_STEPS = 16 };  // copies and additions in a turn

static bool adds(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    FlowArith arith = (FlowArith)case_insn(part, pc)->arith;
    if (case_insn(part, pc)->guard != WL_NONE) return false;
    return arith == FLOW_MOVE || arith == FLOW_ADD || arith == FLOW_ADD3 ||
           (insn && (insn->op == SASS_OP_IADD3 || (insn->op == SASS_OP_IMAD && sass_has(insn, "X"))));
}

static bool moves_on(const CasePart *part, u32 loop, u32 node, u32 others);

// The value is made of the one that the turn began with, by copies and additions of what no turn changes; of its carry
// from another such value's lower half, `others` of which may take part.
static bool made_by_steps(const CasePart *part, u32 loop, u32 value, u32 node, u32 others, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    const Chains *chains = flow->chains;
    if (value == node || value == WL_NONE || !flow_loop_has(flow->loops, loop, chains->nodes[value].block)) return true;
    u32 pc = chains->nodes[value].insn;
    if (pc == WL_NONE) return others && moves_on(part, loop, value, others - 1);
    const FlowInsn *in = case_insn(part, pc);
    if (!depth || case_access(part, pc) || !adds(part, pc)) return false;
    for (u32 u = 0; u < in->uses; u++)
        if (!made_by_steps(part, loop, chains->of_operand[in->operands + in->defs + u], node, others, depth - 1))
            return false;
    return true;
}

// The value is what the loop began with, where it was read once more on some ways: the thread's index, say.
static bool is_as_at_begin(const CasePart *part, u32 loop, u32 value, u32 node, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    if (value == node) return true;
    if (!depth || value == WL_NONE) return false;
    const ChainNode *merge = &flow->chains->nodes[node], *n = &flow->chains->nodes[value];
    for (u32 i = 0; n->insn != WL_NONE && i < merge->arg_count; i++) {
        u32 begin = flow->chains->args[merge->args + i];
        bool outside = begin != WL_NONE && !flow_loop_has(flow->loops, loop, flow->chains->nodes[begin].block);
        if (outside && affine_same_form(flow->affine, value, begin)) return true;
    }
    for (u32 i = 0; n->insn == WL_NONE && i < n->arg_count; i++)
        if (!is_as_at_begin(part, loop, flow->chains->args[n->args + i], node, depth - 1)) return false;
    return n->insn == WL_NONE && n->arg_count;
}

// A pointer, say, that each turn moves on by as much, however it was copied meanwhile.
static bool moves_on(const CasePart *part, u32 loop, u32 node, u32 others) {
    const Chains *chains = part->view->flow.chains;
    const ChainNode *merge = &chains->nodes[node];
    if (merge->insn != WL_NONE || merge->block != part->view->flow.loops->loops[loop].header) return false;
    for (u32 i = 0; i < merge->arg_count; i++) {
        u32 value = chains->args[merge->args + i];
        if (made_by_steps(part, loop, value, node, others, MOST_STEPS)) continue;
        if (!is_as_at_begin(part, loop, value, node, MOST_STEPS)) return false;
    }
    return true;
}

bool node_moves_on(const CasePart *part, u32 loop, u32 node) { return moves_on(part, loop, node, 1); }

// Whether an instruction of the loop other than `user` uses the value.
static bool used_besides(const CasePart *part, u32 loop, u32 node, u32 user) {
    const Chains *chains = part->view->flow.chains;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 other = chains->users[i].insn;
        if (other != WL_NONE && other != user && loop_has(part, loop, other)) return true;
    }
    return false;
}

// `choice` takes what was there before, where a condition says so, instead of what `sum` made of it.
static bool chooses(const CasePart *part, u32 loop, u32 sum, u32 choice) {
    const Chains *chains = part->view->flow.chains;
    const FlowInsn *s = case_insn(part, sum), *in = case_insn(part, choice);
    if (!s->defs || !in->defs || !joins(part, sum)) return false;
    u32 made = chains->of_operand[s->operands], node = chains->of_operand[in->operands];
    if (made == WL_NONE || node == WL_NONE || used_besides(part, loop, made, choice)) return false;
    const ChainNode *n = &chains->nodes[node];
    if (in->arith == FLOW_MOVE) return n->arg_count && chains->args[n->args] == made;
    bool takes = false;
    for (u32 u = 0; in->arith == FLOW_SELECT && u < in->uses; u++)
        takes |= chains->of_operand[in->operands + in->defs + u] == made;
    return takes;
}

// The choice between the value and a sum of it, which are all that uses it; WL_NONE: it is not so.
static u32 choice_of(const CasePart *part, u32 loop, u32 node) {
    const Chains *chains = part->view->flow.chains;
    u32 users[2], count = 0;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        if (user == WL_NONE || !loop_has(part, loop, user)) continue;
        if (count == 2) return WL_NONE;
        users[count++] = user;
    }
    if (count < 2) return WL_NONE;
    if (chooses(part, loop, users[0], users[1])) return users[1];
    return chooses(part, loop, users[1], users[0]) ? users[0] : WL_NONE;
}

// A value that a turn takes from the one before: all right when it counts, or when turns only add to it,
// or keep the greatest.
static bool only_joins(const CasePart *part, u32 loop, u32 node) {
    const Chains *chains = part->view->flow.chains;
    if (counts(part, node) || node_moves_on(part, loop, node)) return true;
    for (u32 steps = 0; steps < MOST_ADDS; steps++) {
        bool ends;
        u32 user = only_user(part, loop, node, &ends), choice = WL_NONE;
        if (ends) return true;
        if (user == WL_NONE) user = choice = choice_of(part, loop, node);
        if (user == WL_NONE || !case_insn(part, user)->defs) return false;
        node = chains->of_operand[case_insn(part, user)->operands];
        if ((choice == WL_NONE && !joins(part, user)) || node == WL_NONE) return false;
    }
    return false;
}

// --- through memory --------------------------------------------------------------------------------------------------
enum { DEEPEST = 256 /* instructions and merges behind an address, one after the other */ };

// A number for what a factor of an address is: the parameter's own, with the place in it where it is a structure, or,
// of variables, one behind all of them.
enum { VARIABLES = 1 << 30, PLACES = 1 << 12 };

static u32 number_of_parameter(u32 id, i64 inside) { return (id * PLACES + (u32)inside) % VARIABLES; }

static u32 number_of(const Affine *affine, u32 factor) {
    const AffineFactor *f = &affine->factors[factor];
    return f->kind == AFFINE_PARAMETER ? number_of_parameter(f->id, f->offset) : VARIABLES + factor;
}

// The pointer or variable that a polynomial has once and by itself.
static u32 pointer_of(const Affine *affine, u32 form) {
    const AffineForm *f = &affine->forms[form];
    for (u32 t = 0; t < f->term_count; t++) {
        const AffineTerm *term = &affine->terms[f->terms + t];
        if (term->coefficient != 1 || term->factors[0] == WL_NONE || term->factors[1] != WL_NONE) continue;
        const AffineFactor *factor = &affine->factors[term->factors[0]];
        bool pointer = factor->kind == AFFINE_PARAMETER || factor->kind == AFFINE_SYMBOL;
        if (pointer && factor->bits == 64) return number_of(affine, term->factors[0]);
    }
    return WL_NONE;
}

// The pointer that an instruction takes from the kernel's parameters.
static u32 pointer_taken(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *o = &part->view->flow.code->operands[in->operands + in->defs + u];
        if (o->kind == FLOW_PARAMETER_VALUE && o->width == 64) return number_of_parameter(o->id, o->value);
    }
    return WL_NONE;
}

// What the address comes from, also where loops have moved it on: any definition says it. WL_NONE: not found.
static u32 root_of(const CasePart *part, u32 node, Bitset *seen, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    const Chains *chains = flow->chains;
    if (node == WL_NONE || !depth || bitset_has(seen, node)) return WL_NONE;
    bitset_add(seen, node);
    u32 found = pointer_of(flow->affine, node), insn = chains->nodes[node].insn;
    for (u32 i = 0; found == WL_NONE && insn == WL_NONE && i < chains->nodes[node].arg_count; i++)
        found = root_of(part, chains->args[chains->nodes[node].args + i], seen, depth - 1);
    const FlowInsn *in = insn == WL_NONE || case_access(part, insn) ? NULL : case_insn(part, insn);
    if (in && found == WL_NONE) found = pointer_taken(part, insn);
    for (u32 u = 0; in && found == WL_NONE && u < in->uses; u++)
        found = root_of(part, chains->of_operand[in->operands + in->defs + u], seen, depth - 1);
    return found;
}

static u32 array_of(const CasePart *part, const CaseAccess *a, Bitset *seen) {
    const FlowInsn *in = case_insn(part, a->pc);
    u32 base = access_base(a);
    if (base != WL_NONE && part->view->flow.affine->factors[base].kind != AFFINE_NODE)
        return number_of(part->view->flow.affine, base);
    if (in->address_use == 0xff) return WL_NONE;
    bitset_clear(seen);
    return root_of(part, part->view->flow.chains->of_operand[in->operands + in->defs + in->address_use], seen, DEEPEST);
}

// The thread's first address with so many turns behind it, with a number drawn for what is known at launch only.
static f64 address_at(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop, f64 turns) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    const ProfileLaunch *l = c->view->launches.typical;
    f64 all = (f64)form->constant;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        f64 value = (f64)term->coefficient;
        for (u32 i = 0; i < AFFINE_DEGREE && term->factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[term->factors[i]];
            bool size = f->kind == AFFINE_SREG && f->component <= 2;
            if (f->kind == AFFINE_COUNTER)
                value *= f->id == loop ? turns : 0;
            else if (size && f->id == SREG_NTID)
                value *= l->block[f->component];
            else if (size && f->id == SREG_NCTAID)
                value *= l->grid[f->component];
            else
                value *= size && (f->id == SREG_TID || f->id == SREG_CTAID) ? 0 : 4099 + 2 * (f64)term->factors[i];
        }
        all += value;
    }
    return all;
}

f64 access_step(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop) {
    return address_at(c, part, a, loop, 1) - address_at(c, part, a, loop, 0);
}

bool access_deals_tile(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop) {
    const u32 *block = c->view->launches.typical->block;
    f64 turn = (f64)block[0] * block[1] * block[2] * a->bytes * loop_copies(part, loop);
    return access_is_shared(a) && a->affine && fabs(access_step(c, part, a, loop)) == turn;
}

// Whether the load may get what an earlier turn has stored. Elements that each turn has for itself it may not; shared
// memory is filled anew in each turn, if it is stored to before it is read.
static bool may_follow(const AdviceCase *c, const CasePart *part, const u32 *arrays, const CaseAccess *load,
                       const CaseAccess *store, u32 loop) {
    if (access_is_shared(load) != access_is_shared(store)) return false;
    if ((load->space == SPACE_LOCAL) != (store->space == SPACE_LOCAL)) return false;
    if (load->space == SPACE_LOCAL || access_is_shared(load)) return load->pc < store->pc;
    u32 from = arrays[load - part->accesses], to = arrays[store - part->accesses];
    if (from == WL_NONE || to == WL_NONE) return true;
    if (from != to) return false;
    f64 apart = address_at(c, part, load, loop, 0) - address_at(c, part, store, loop, 0);
    return fabs(apart) >= fabs(access_step(c, part, store, loop));
}

static bool passes_nothing_on(AdviceCase *c, const CasePart *part, u32 loop) {
    u32 *arrays = ARENA_ARRAY(c->scratch, u32, part->access_count + 1);
    Bitset seen;
    if (!arrays || !bitset_init(&seen, c->scratch, part->view->flow.chains->node_count))
        return c->status = STATUS_NO_MEMORY, false;
    for (u32 i = 0; i < part->access_count; i++)
        arrays[i] = loop_has(part, loop, part->accesses[i].pc) ? array_of(part, &part->accesses[i], &seen) : WL_NONE;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *load = &part->accesses[i];
        if (!load->load || load->atomic || !loop_has(part, loop, load->pc)) continue;
        if (part->insns[load->pc].traits & TRAIT_READ_ONLY) continue;  // of what nobody stores meanwhile
        bool follows = false, filled = false;
        for (u32 j = 0; j < part->access_count; j++) {
            const CaseAccess *store = &part->accesses[j];
            if (!store->store || store->atomic || !loop_has(part, loop, store->pc)) continue;
            follows |= may_follow(c, part, arrays, load, store, loop);
            filled |= access_is_shared(load) && access_is_shared(store) && store->pc < load->pc;
        }
        if (follows && !filled) return false;
    }
    return true;
}

bool loop_can_be_dealt(AdviceCase *c, const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    for (u32 n = flow->chains->def_count; n < flow->chains->node_count; n++)
        if (flow->chains->nodes[n].block == flow->loops->loops[loop].header && !only_joins(part, loop, n)) return false;
    return passes_nothing_on(c, part, loop);
}
