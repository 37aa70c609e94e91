// SPDX-License-Identifier: Apache-2.0
// The part of strength-reduction that is about remainders of 64 bits by 2^k - 1, as generators of random numbers and
// hashes take them: compilers multiply by the reciprocal, to 128 bits, as for any other constant. Since 2^k leaves 1,
// the upper bits can be added to the lower k, and the divisor taken off once.
#include "analyze/advice/rule.h"
#include "base/bitset.h"

// What takes the remainder's place: mask, shift, sum, difference, the lesser of both.
enum { FOLD_STEPS = 5, PTX_STEPS = 22 /* machine instructions of rem.u64 by a constant, nvcc 13.0 */ };

enum { SLICE_DEPTH = 12 };
#define WORTH_IT 0.02  // of what is issued

typedef struct Folds {
    const CasePart *part;  // where most is done
    u32 pc, count, bits;
    f64 most;
} Folds;

// k of a number 2^k - 1 of less than 32 bits; 0: it is none.
static u32 bits_of(u64 number) {
    u32 bits = 0;
    if (number < 3 || number >= UINT32_MAX || (number & (number + 1))) return 0;
    for (; number; number >>= 1) bits++;
    return bits;
}

static void found(Folds *f, const CasePart *part, u32 pc, u32 bits) {
    f64 runs = block_runs(part, part->view->flow.cfg->block_of[pc]);
    f->count++;
    if (runs > f->most) f->most = runs, f->part = part, f->pc = pc, f->bits = bits;
}

// --- PTX -----------------------------------------------------------------------------------------------------------
static void fold_ptx(Hit *hit, const CasePart *part, u32 pc, Folds *f) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    const FlowOperand *o = &code->operands[in->operands];
    if (!(part->insns[pc].traits & TRAIT_INT_DIVIDE) || part->insns[pc].issued <= 0) return;
    if (in->defs != 1 || in->uses < 2 || o[2].kind != FLOW_IMMEDIATE || insn_op(part, pc) != OP_REM) return;
    if (o->kind != FLOW_VALUE || code->value_bits[o->id] != 64) return;
    u32 bits = bits_of((u64)o[2].value);
    f64 steps = insn_steps(part, pc);
    if (!bits) return;
    hit_remove(hit, part, pc, 1 - FOLD_STEPS / (steps > FOLD_STEPS ? steps : PTX_STEPS));
    found(f, part, pc, bits);
}

// --- the product with the reciprocal ---------------------------------------------------------------------------------
// The dividend less the quotient times 2^k - 1: a product with the negative divisor, which is added to the dividend.
static u32 divisor_bits(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    const SassOperand *o = part->view->flow.code->sass->operands.data + insn->operands;
    u32 bits = 0;
    if (insn->op != SASS_OP_IMAD || sass_has(insn, "HI")) return 0;
    if (o[insn->operand_count - 1].kind != SASS_OPERAND_REG || o[insn->operand_count - 1].reg.index == SASS_ZERO)
        return 0;
    for (u32 i = 0; i < insn->operand_count && !bits; i++)
        if (o[i].kind == SASS_OPERAND_IMMEDIATE) bits = bits_of(-(u32)o[i].value);
    return bits;
}

static bool is_product(const FlowCode *code, u32 pc, u32 half) {
    const Module *m = code->module;
    const Form *form = m ? insn_form(m, &m->insns[m->funcs[code->func].insns + pc]) : NULL;
    return form && form->op == OP_MUL_INT && form->mods[MOD_MUL_HALF] == half && type_bytes(form->types[0]) == 8;
}

// A product of 64 by 64 bits: machine code takes the carry of its lower half.
static bool is_long_product(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    if (!code->sass) return is_product(code, pc, MUL_HALF_HI);
    const SassInsn *insn = insn_machine(part, pc);
    return insn->op == SASS_OP_IMAD && sass_has(insn, "WIDE") && sass_has(insn, "X");
}

typedef struct Slice {  // what the quotient is made of, and what only it is used for
    const CasePart *part;
    u32 last;  // the product with the divisor
    u32 steps;
    bool is_long;
    Bitset insns, zeros, products;  // zeros: the remainder's upper word; products of it
} Slice;

static bool add_step(Slice *s, u32 pc) {
    if (pc == WL_NONE || !same_line(s->part, pc, s->last) || bitset_has(&s->insns, pc)) return false;
    if (!(s->part->insns[pc].traits & TRAIT_ARITHMETIC)) return false;
    bitset_add(&s->insns, pc);
    s->steps++;
    s->is_long |= is_long_product(s->part, pc);
    return true;
}

// Up to the dividend, or to another line.
static void add_made_of(Slice *s, u32 node, u32 dividend, u32 depth) {
    const Chains *chains = s->part->view->flow.chains;
    if (node == WL_NONE || chains->nodes[node].insn == dividend || !add_step(s, chains->nodes[node].insn) || !depth)
        return;
    const FlowInsn *in = case_insn(s->part, chains->nodes[node].insn);
    for (u32 u = 0; u < in->uses; u++)
        add_made_of(s, chains->of_operand[in->operands + in->defs + u], dividend, depth - 1);
}

// The remainder's upper word, made of the quotient's words and the dividend's alone.
static bool is_upper_word(const Slice *s, u32 pc) {
    const Chains *chains = s->part->view->flow.chains;
    const FlowInsn *in = case_insn(s->part, pc), *last = case_insn(s->part, s->last);
    bool uses = false;
    for (u32 u = 0; u < in->uses; u++) {
        u32 node = chains->of_operand[in->operands + in->defs + u];
        if (s->part->view->flow.code->operands[in->operands + in->defs + u].kind != FLOW_VALUE) continue;
        if (node == WL_NONE || chains->nodes[node].insn == WL_NONE || node == chains->of_operand[last->operands] ||
            !bitset_has(&s->insns, chains->nodes[node].insn))
            return false;
        uses = true;
    }
    return uses;
}

static bool uses_result_of(const CasePart *part, u32 pc, u32 of) {
    const Chains *chains = part->view->flow.chains;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses; u++) {
        u32 node = chains->of_operand[in->operands + in->defs + u];
        if (node != WL_NONE && chains->nodes[node].insn == of) return true;
    }
    return false;
}

static const FlowBlock *block_of(const CasePart *part, u32 pc) {
    return &part->view->flow.cfg->blocks[part->view->flow.cfg->block_of[pc]];
}

// From a product's factors up to the dividend, which is what defines `node`.
static void add_factors(Slice *s, u32 product, u32 factors, u32 node) {
    const Chains *chains = s->part->view->flow.chains;
    const FlowInsn *in = case_insn(s->part, product);
    u32 dividend = node == WL_NONE ? WL_NONE : chains->nodes[node].insn;
    for (u32 u = 0; u < factors; u++)
        add_made_of(s, chains->of_operand[in->operands + in->defs + u], dividend, SLICE_DEPTH);
}

static void find_slice(Slice *s) {
    const Chains *chains = s->part->view->flow.chains;
    const FlowInsn *in = case_insn(s->part, s->last);
    add_step(s, s->last);
    add_factors(s, s->last, in->uses - 1u, chains->of_operand[in->operands + in->defs + in->uses - 1u]);
    const FlowBlock *block = block_of(s->part, s->last);
    for (u32 pc = block->first; pc < block->first + block->count; pc++)
        if (is_upper_word(s, pc) && add_step(s, pc) && uses_result_of(s->part, pc, s->last)) bitset_add(&s->zeros, pc);
}

// What has one use of a word that is zero, and `others` of other values.
static bool uses_zero(const Slice *s, const Bitset *zeros, u32 pc, u32 others) {
    const Chains *chains = s->part->view->flow.chains;
    const FlowInsn *in = case_insn(s->part, pc);
    u32 found[2] = {0};
    if (bitset_has(&s->insns, pc) || !(s->part->insns[pc].traits & TRAIT_ARITHMETIC)) return false;
    for (u32 u = 0; u < in->uses; u++) {
        u32 node = chains->of_operand[in->operands + in->defs + u];
        if (s->part->view->flow.code->operands[in->operands + in->defs + u].kind != FLOW_VALUE) continue;
        found[node != WL_NONE && chains->nodes[node].insn != WL_NONE && bitset_has(zeros, chains->nodes[node].insn)]++;
    }
    return found[1] == 1 && found[0] == others;
}

// The remainder has a single word: what multiplies its upper one goes, and the sum of that with another upper word.
static void spare_upper_words(Hit *hit, Slice *s) {
    const FlowBlock *block = block_of(s->part, s->last);
    for (u32 pc = block->first; pc < block->first + block->count; pc++) {
        if (uses_zero(s, &s->zeros, pc, 0))
            bitset_add(&s->products, pc);
        else if (!uses_zero(s, &s->products, pc, 1))
            continue;
        hit_remove(hit, s->part, pc, 1);
    }
}

static bool slice_begin(Slice *s, AdviceCase *c) {
    u32 count = s->part->view->insn_count;
    bool done = bitset_init(&s->insns, c->scratch, count) && bitset_init(&s->zeros, c->scratch, count) &&
                bitset_init(&s->products, c->scratch, count);
    if (!done) c->status = STATUS_NO_MEMORY;
    return done;
}

// Machine instructions that take the place of the slice's.
static f64 slice_steps(const Slice *s) {
    f64 steps = 0;
    for (u32 i = 0; i < s->part->view->insn_count; i++)
        if (bitset_has(&s->insns, i)) steps += insn_steps(s->part, i);
    return steps;
}

static void fold_slice(Hit *hit, Slice *s, u32 bits, Folds *f) {
    f64 steps = s->part->view->kind == VIEW_SASS ? s->steps : slice_steps(s);
    if (!s->is_long || steps <= FOLD_STEPS) return;
    for (u32 i = 0; i < s->part->view->insn_count; i++)
        if (bitset_has(&s->insns, i)) hit_remove(hit, s->part, i, 1 - FOLD_STEPS / steps);
    spare_upper_words(hit, s);
    found(f, s->part, s->last, bits);
}

static void fold_machine(Hit *hit, const CasePart *part, u32 pc, Folds *f) {
    Slice s = {.part = part, .last = pc};
    u32 bits = part->insns[pc].issued > 0 && !insn_routine(part, pc) ? divisor_bits(part, pc) : 0;
    if (!bits || !slice_begin(&s, hit->c)) return;
    find_slice(&s);
    fold_slice(hit, &s, bits, f);
}

// PTX in which the compiler has made the product with the reciprocal already: dividend - quotient * (2^k - 1).
static void fold_difference(Hit *hit, const CasePart *part, u32 pc, Folds *f) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    if (part->insns[pc].issued <= 0 || insn_op(part, pc) != OP_SUB_INT || in->uses != 2) return;
    u32 product = insn_source(part, pc, 1);
    if (product == WL_NONE || !is_product(code, product, MUL_HALF_LO)) return;
    const FlowInsn *times = &code->insns[product];
    const FlowOperand *divisor = &code->operands[times->operands + times->defs + 1u];
    u32 bits = divisor->kind == FLOW_IMMEDIATE ? bits_of((u64)divisor->value) : 0;
    Slice s = {.part = part, .last = pc};
    if (!bits || !slice_begin(&s, hit->c) || !add_step(&s, pc) || !add_step(&s, product)) return;
    add_factors(&s, product, 1, part->view->flow.chains->of_operand[in->operands + in->defs]);
    fold_slice(hit, &s, bits, f);
}

// --- both ----------------------------------------------------------------------------------------------------------
void fold_remainders(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_folds);
    Folds f = {0};
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 pc = 0; pc < c->parts[p].view->flow.code->insn_count; pc++)
            if (c->parts[p].view->kind == VIEW_SASS)
                fold_machine(hit, &c->parts[p], pc, &f);
            else
                fold_ptx(hit, &c->parts[p], pc, &f), fold_difference(hit, &c->parts[p], pc, &f);
    if (!f.part || hit->change.issues < WORTH_IT * c->load.issued) return hit_drop(hit);
    hit_fact(hit, "remainders_of_all_ones", f.count, "remainders",
             "remainders of 64 bits by a number of binary ones: %u, by 2^%u - 1", f.count, f.bits);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "division_issue_share", share, "%", "%.0f %% of what is issued would not be needed", share);
    hit_caution(hit, "of numbers above 2^%u fold twice", 2 * f.bits);
    hit_end_line(hit, f.part, f.pc, "Add the upper bits to the lower %u at %s instead of taking the remainder", f.bits,
                 place_text(c, f.part, f.pc));
}
