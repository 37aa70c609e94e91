// SPDX-License-Identifier: Apache-2.0
// Constants that all lanes index alike, which ptxas reads to uniform registers (ULDC with a register in its address)
// and not to vector registers (LDC), from Hopper on [L: what ptxas 13.0 makes of kernels of a loop, some of them the
// rows of time_code_test.c]: whoever reads it takes one operand from a uniform register, beside no literal, and
// computes on it; the place does not go backwards in the innermost loop, as far as is known, and stays in those around;
// all lanes come there in every turn.
#include "flow/affine.h"
#include "sim/time/time_lower.h"

enum { MOST_BYTES = 16 };

static const AffineAccess *access_of(const TimeFunc *f, u32 insn) {
    for (u32 i = 0; f->affine && i < f->affine->access_count; i++)
        if (f->affine->accesses[i].insn == insn) return &f->affine->accesses[i];
    return NULL;
}

// Not backwards, as far as is known, and not on from turn to turn of a loop around.
static bool goes_forward(const TimeFunc *f, u32 insn, u32 loop) {
    const AffineAccess *a = access_of(f, insn);
    i64 step;
    if (!a) return false;
    if (affine_step(f->affine, a->form, loop, &step) == AFFINE_STRIDE_CONSTANT && step < 0) return false;
    for (u32 l = f->loops->loops[loop].parent; l != WL_NONE; l = f->loops->loops[l].parent)
        if (affine_step(f->affine, a->form, l, &step) != AFFINE_STRIDE_CONSTANT || step) return false;
    return true;
}

// Every lane comes there in every turn of the loop, and they leave it together.
static bool comes_each_turn(const TimeFunc *f, u32 block, u32 loop) {
    const FlowLoop *l = &f->loops->loops[loop];
    for (u32 i = 0; i < l->latch_count; i++)
        if (!dom_dominates(f->dominators, block, f->loops->members[l->latches + i])) return false;
    for (; loop != WL_NONE; loop = f->loops->loops[loop].parent)
        if (bitset_has(&f->divergence->temporal, loop)) return false;
    return true;
}

// As far as the innermost loop's turn tells: not by another value, nor by the turn of a loop around.
bool time_has_known_place(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const AffineAccess *a = access_of(f, insn);
    u32 loop = f->loops->loop_of[f->cfg->block_of[insn]];
    i64 step;
    if (!in->is_load || in->space != SPACE_CONST || !a || loop == WL_NONE) return false;
    if (affine_kinds(f->affine, a->form) & ~(1u << AFFINE_SYMBOL | 1u << AFFINE_COUNTER)) return false;
    for (u32 l = f->loops->loops[loop].parent; l != WL_NONE; l = f->loops->loops[l].parent)
        if (affine_step(f->affine, a->form, l, &step) != AFFINE_STRIDE_CONSTANT || step) return false;
    return true;
}

static bool is_indexed_load(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return in->is_load && in->space == SPACE_CONST && in->guard == WL_NONE && in->address_use != 0xff &&
           in->access_bytes <= MOST_BYTES && time_uses(f, insn)[in->address_use].kind == FLOW_VALUE &&
           !divergence_of_address(f->divergence, insn);
}

// Of two such constants that one instruction reads, the first one comes by LDC.
static bool reads_from_uniform(const TimeFunc *f, u32 reader, u32 operand) {
    const FlowInsn *in = &f->code->insns[reader];
    const u32 *nodes = f->divergence->chains->of_operand;
    if (in->kind != FLOW_PLAIN || in->is_store || in->is_load || in->is_atomic || time_step_count(f, reader) > 2)
        return false;
    for (u32 u = 0; u < in->uses; u++) {
        u32 at = in->operands + in->defs + u, node = nodes[at];
        const FlowOperand *o = &f->code->operands[at];
        if (at == operand) continue;
        if (o->kind == FLOW_IMMEDIATE || o->kind == FLOW_OTHER || node == nodes[operand]) return false;
        u32 from = node == WL_NONE ? WL_NONE : f->divergence->chains->nodes[node].insn;
        if (at > operand && from != WL_NONE && is_indexed_load(f, from)) return false;
    }
    return true;
}

bool time_is_indexed(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const Chains *chains = f->divergence->chains;
    if (!f->lower->gpu->indexed_lines || !is_indexed_load(f, insn)) return false;
    u32 block = f->cfg->block_of[insn], loop = f->loops->loop_of[block];
    if (loop == WL_NONE || f->placed[insn] ? f->predicated[block] || time_lanes_parted(f, block)
                                           : !comes_each_turn(f, block, loop) || !goes_forward(f, insn, loop))
        return false;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        for (u32 i = node == WL_NONE ? 0 : chains->first_user[node];
             node != WL_NONE && i < chains->first_user[node + 1]; i++) {
            const ChainUser *user = &chains->users[i];
            if (user->insn == WL_NONE || !reads_from_uniform(f, user->insn, user->operand)) return false;
        }
    }
    return true;
}
