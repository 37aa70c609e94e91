// SPDX-License-Identifier: Apache-2.0
// The part of wrong-type that is about integers of 64 bits: a division of one by a constant is made of four products
// and their carries, of 32 bits it is one, and all else is done twice, for the upper words as well.
#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum { MAGIC = 1 << 24 /* half of the reciprocal of a small number */ };
#define WORTH_IT 0.02  // of what is issued

typedef struct Wide {
    const CasePart *part;
    Bitset blocks;  // with divisions
    Bitset uppers;  // nodes: upper words
    Bitset loaded;  // nodes: words of numbers that are loaded as 64 bits, up to what they are divided by
    u32 pc, count;  // divisions of other numbers; one of those that are run most often
    f64 most;
} Wide;

static const SassOperand *operands_of(const CasePart *part, const SassInsn *insn) {
    return part->view->flow.code->sass->operands.data + insn->operands;
}

static bool is_wide(const SassInsn *insn) { return insn->op == SASS_OP_IMAD && sass_has(insn, "WIDE"); }

static bool is_large(const SassOperand *o) {
    return o->kind == SASS_OPERAND_IMMEDIATE && (o->value >= MAGIC || o->value <= -MAGIC);
}

static bool has_large(const CasePart *part, const SassInsn *insn) {
    for (u32 i = 0; i < insn->operand_count; i++)
        if (is_large(&operands_of(part, insn)[i])) return true;
    return false;
}

static bool is_zero(const SassOperand *o) { return o->kind == SASS_OPERAND_REG && o->reg.index == SASS_ZERO; }

static bool defines_predicate(const CasePart *part, const SassInsn *insn) {
    for (u32 i = 0; i < insn->operand_count; i++) {
        const SassOperand *o = &operands_of(part, insn)[i];
        if (o->is_def && o->reg.file == SASS_P && o->reg.index != SASS_ZERO) return true;
    }
    return false;
}

// --- divisions -----------------------------------------------------------------------------------------------------
static bool has_large_number(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *o = &part->view->flow.code->operands[in->operands + in->defs + u];
        if (o->kind == FLOW_IMMEDIATE && (o->value >> 32 >= MAGIC || o->value >> 32 <= -MAGIC)) return true;
    }
    return false;
}

// The upper half of a product with a reciprocal: machine code has one of the upper words of each, with the others'
// carry.
static bool is_division(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    if (insn) return is_wide(insn) && sass_has(insn, "X") && has_large(part, insn);
    const Module *m = part->view->flow.code->module;
    const Form *form = m ? insn_form(m, &m->insns[m->funcs[part->view->flow.code->func].insns + pc]) : NULL;
    bool upper = form && form->op == OP_MUL_INT && form->mods[MOD_MUL_HALF] == MUL_HALF_HI;
    return upper && type_bytes(form->types[0]) == 8 && has_large_number(part, pc);
}

static bool uses_loaded(const Wide *w, u32 pc) {
    const FlowInsn *in = case_insn(w->part, pc);
    for (u32 u = 0; u < in->uses; u++) {
        u32 node = w->part->view->flow.chains->of_operand[in->operands + in->defs + u];
        if (node != WL_NONE && bitset_has(&w->loaded, node)) return true;
    }
    return false;
}

static void mark(const Wide *w, Bitset *set, u32 pc, u32 def) {
    u32 node = w->part->view->flow.chains->of_operand[case_insn(w->part, pc)->operands + def];
    if (node != WL_NONE) bitset_add(set, node);
}

// What of a number that is loaded is a quotient has fewer bits.
static bool makes_quotient(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    return insn ? insn->op == SASS_OP_SHF || insn->op == SASS_OP_LEA : is_division(part, pc);
}

static void mark_loaded(Wide *w) {
    for (u32 pc = 0; pc < w->part->view->insn_count; pc++) {
        const CaseAccess *a = case_access(w->part, pc);
        bool loads = a && a->load && a->bytes >= 8;
        bool goes_on =
            w->part->insns[pc].traits & TRAIT_ARITHMETIC && !makes_quotient(w->part, pc) && uses_loaded(w, pc);
        for (u32 d = 0; d < case_insn(w->part, pc)->defs && (loads || goes_on); d++) mark(w, &w->loaded, pc, d);
    }
}

static bool find_divisions(AdviceCase *c, Wide *w) {
    const FlowResults *flow = &w->part->view->flow;
    if (!bitset_init(&w->blocks, c->scratch, flow->cfg->block_count + 1) ||
        !bitset_init(&w->uppers, c->scratch, flow->chains->node_count + 1) ||
        !bitset_init(&w->loaded, c->scratch, flow->chains->node_count + 1))
        return c->status = STATUS_NO_MEMORY, false;
    mark_loaded(w);
    for (u32 pc = 0; pc < w->part->view->insn_count; pc++) {
        if (w->part->insns[pc].issued <= 0 || !is_division(w->part, pc) || uses_loaded(w, pc)) continue;
        f64 runs = block_runs(w->part, flow->cfg->block_of[pc]);
        bitset_add(&w->blocks, flow->cfg->block_of[pc]);
        w->count++;
        if (runs > w->most) w->most = runs, w->pc = pc;
    }
    return w->count > 0;
}

// --- upper words of machine code -------------------------------------------------------------------------------------
static bool is_upper(const Wide *w, u32 node) {
    const Chains *chains = w->part->view->flow.chains;
    if (node == WL_NONE) return false;
    if (bitset_has(&w->uppers, node) || !chain_is_merge(chains, node)) return bitset_has(&w->uppers, node);
    for (u32 i = 0; i < chains->nodes[node].arg_count; i++) {
        u32 arg = chains->args[chains->nodes[node].args + i];
        if (arg != WL_NONE && bitset_has(&w->uppers, arg)) return true;
    }
    return false;
}

static bool uses_upper(const Wide *w, u32 pc) {
    const FlowInsn *in = case_insn(w->part, pc);
    for (u32 u = 0; u < in->uses; u++)
        if (is_upper(w, w->part->view->flow.chains->of_operand[in->operands + in->defs + u])) return true;
    return false;
}

// What makes a lower word of an upper one: shifts of both, and the carry of a sign.
static bool makes_lower(const SassInsn *insn) {
    bool shift = insn->op == SASS_OP_SHF && (sass_has(insn, "S64") || sass_has(insn, "U64"));
    return (shift && !sass_has(insn, "HI")) || (insn->op == SASS_OP_LEA && !sass_has(insn, "X"));
}

static bool is_sign(const CasePart *part, const SassInsn *insn) {
    const SassOperand *o = operands_of(part, insn);
    bool shift = insn->op == SASS_OP_SHF && sass_has(insn, "S32") && sass_has(insn, "HI") && insn->operand_count == 4;
    return shift && is_zero(&o[1]) && o[2].kind == SASS_OPERAND_IMMEDIATE && o[2].value == 31;
}

static bool makes_upper(const Wide *w, const SassInsn *insn, u32 pc) {
    if (is_wide(insn) || !(w->part->insns[pc].traits & TRAIT_ARITHMETIC)) return false;
    if (sass_has(insn, "X") || is_sign(w->part, insn)) return true;
    return !makes_lower(insn) && uses_upper(w, pc);
}

// The second word of a product; else the one that is made of upper ones.
static void mark_uppers(Wide *w, u32 pc) {
    const FlowCode *code = w->part->view->flow.code;
    const FlowInsn *in = case_insn(w->part, pc);
    const SassInsn *insn = insn_machine(w->part, pc);
    bool wide = is_wide(insn), upper = makes_upper(w, insn, pc);
    u32 first = WL_NONE;
    for (u32 d = 0; d < in->defs && (wide || upper); d++) {
        const FlowOperand *o = &code->operands[in->operands + d];
        const SassReg *reg = o->kind == FLOW_VALUE ? &code->value_regs[o->id] : NULL;
        if (!reg || reg->file != SASS_R) continue;
        if (first == WL_NONE) first = reg->index;
        if (wide ? reg->index == first + 1 : reg->index == first) mark(w, &w->uppers, pc, d);
    }
}

// --- what is not needed ----------------------------------------------------------------------------------------------
static bool is_long_product(const SassInsn *insn) { return insn && is_wide(insn) && sass_has(insn, "X"); }

// Puts words in order for such a product, or chooses by the sign behind it.
static bool serves_division(const CasePart *part, const SassInsn *insn, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    u32 node = in->defs ? chains->of_operand[in->operands] : WL_NONE;
    if (insn->op == SASS_OP_SEL) {
        for (u32 u = 0; u < in->uses; u++) {
            u32 from = insn_source(part, pc, u);
            if (from != WL_NONE && is_long_product(insn_machine(part, from))) return true;
        }
        return false;
    }
    if (in->arith != FLOW_MOVE || node == WL_NONE) return false;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        if (user == WL_NONE || !is_long_product(insn_machine(part, user))) return false;
    }
    return true;
}

static bool is_only_of_wide(const Wide *w, u32 pc) {
    const SassInsn *insn = insn_machine(w->part, pc);
    const SassOperand *o = operands_of(w->part, insn);
    if (!insn->operand_count || !(w->part->insns[pc].traits & TRAIT_ARITHMETIC)) return false;
    if (is_wide(insn)) {
        bool product = is_zero(&o[insn->operand_count - 1]) && has_large(w->part, insn);
        return !sass_has(insn, "X") && (defines_predicate(w->part, insn) || product);
    }
    bool carry = insn->op == SASS_OP_IADD3 && is_zero(&o[0]) && defines_predicate(w->part, insn);
    return carry || sass_has(insn, "EX") || makes_upper(w, insn, pc) || serves_division(w->part, insn, pc);
}

static void spare_machine(Hit *hit, Wide *w) {
    const FlowResults *flow = &w->part->view->flow;
    for (u32 pass = 0; pass < 2; pass++)  // the second time with what loops bring back
        for (u32 pc = 0; pc < w->part->view->insn_count; pc++) mark_uppers(w, pc);
    for (u32 pc = 0; pc < w->part->view->insn_count; pc++) {
        if (!bitset_has(&w->blocks, flow->cfg->block_of[pc]) || uses_loaded(w, pc)) continue;
        if (is_only_of_wide(w, pc)) hit_remove(hit, w->part, pc, 1);
    }
}

// --- PTX -----------------------------------------------------------------------------------------------------------
// Of 32 bits all is one step.
static void spare_ptx(Hit *hit, Wide *w) {
    const FlowResults *flow = &w->part->view->flow;
    for (u32 pc = 0; pc < w->part->view->insn_count; pc++) {
        const FlowInsn *in = case_insn(w->part, pc);
        const FlowOperand *o = &flow->code->operands[in->operands];
        bool wide = in->defs && o->kind == FLOW_VALUE && flow->code->value_bits[o->id] == 64;
        if (!bitset_has(&w->blocks, flow->cfg->block_of[pc]) || uses_loaded(w, pc)) continue;
        if (!wide || !(w->part->insns[pc].traits & TRAIT_ARITHMETIC)) continue;
        f64 steps = insn_steps(w->part, pc);
        if (steps > 1) hit_remove(hit, w->part, pc, 1 - 1 / steps);
    }
}

void narrow_integers(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count && c->status == STATUS_OK; p++) {
        Wide w = {.part = &c->parts[p]};
        if (!find_divisions(c, &w)) continue;
        Hit *hit = hit_begin(c);
        hit_text(hit, TEXT_wide_integers);
        if (w.part->view->kind == VIEW_PTX)
            spare_ptx(hit, &w);
        else
            spare_machine(hit, &w);
        f64 share = hit->change.issues / c->load.issued;
        if (share < WORTH_IT) {
            hit_drop(hit);
            continue;
        }
        hit_fact(hit, "wide_divisions", w.count, "instructions", "%u division%s or remainders of 64 bits by constants",
                 w.count, plural(w.count));
        hit_fact(hit, "wide_share", 100 * share, "%", "%.0f %% of what is issued is for upper words", 100 * share);
        hit_caution(hit, "only where all numbers that can occur, products too, fit 31 bits");
        hit->doubtful = true;
        hit_narrows(hit);
        hit_end_line(hit, w.part, w.pc, "Compute in int at %s, no longer in 64 bits", place_text(c, w.part, w.pc));
    }
}
