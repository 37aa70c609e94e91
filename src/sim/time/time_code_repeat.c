// SPDX-License-Identifier: Apache-2.0
// What is known already. Arithmetic on the same operands as before is not done again: the compiler in front of PTX
// leaves no such, but inline assembly comes through it as it was written, conversions of bf16 for instance, one for
// each use of a value (ptxas makes 24 of 256: a product of bf16 by tiles of registers). Loads of what is known already:
// loaded before from the same address, or stored there, and nothing in between that may write such memory. ptxas leaves
// them out. Any store to the space ends it, whatever its address; a barrier, a fence and a call do, but for read-only
// memory; shuffles, votes and clocks do not [70 kernels compiled by ptxas 13.0 for sm_90]. Followed within a block, and
// from the block before it where that is the only way in.
#include "sim/time/time_lower.h"

#include <string.h>

enum { PLACES_KEPT = 64, RESULTS_KEPT = 1024 };

// What is known of memory, by the loads and stores that tell it, and what has been computed.
typedef struct Known {
    TimeFunc *f;
    u32 insns[PLACES_KEPT], count;
    u32 results[RESULTS_KEPT];  // by hash: the last instruction; older than `since`: of another block
    u32 since;
} Known;

static const FlowOperand *data_of(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return in->is_store ? time_uses(f, insn) + (in->address_use == 0) : f->code->operands + in->operands;
}

static u32 data_count(const FlowInsn *in) { return in->is_store ? in->uses - 1u : in->defs; }

static bool is_read_only(const TimeFunc *f, u32 insn) {
    return time_form(f, insn)->mods[MOD_NC] != 0 || f->code->insns[insn].space == SPACE_CONST;
}

// A plain access whose words are registers of as many bits.
static bool tells(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const Form *form = time_form(f, insn);
    if ((form->op != OP_LD && form->op != OP_ST) || in->guard != WL_NONE || form->mods[MOD_SEM] > SEM_WEAK)
        return false;
    if (in->address_use == 0xff || in->space == SPACE_NONE || in->space == SPACE_PARAM) return false;
    for (u32 k = 0; k < data_count(in); k++) {
        const FlowOperand *o = &data_of(f, insn)[k];
        if (o->kind != FLOW_VALUE || f->sole_def[o->id] == WL_NONE) return false;
        if (f->code->value_bits[o->id] != ptx_types[form->types[0]].bits) return false;
    }
    return true;
}

static bool same_operand(const FlowOperand *a, const FlowOperand *b) {
    return a->kind == b->kind && a->id == b->id && a->value == b->value;
}

static bool same_place(const TimeFunc *f, u32 before, u32 insn) {
    const FlowInsn *a = &f->code->insns[before], *b = &f->code->insns[insn];
    const FlowOperand *at = time_uses(f, before) + a->address_use, *to = time_uses(f, insn) + b->address_use;
    if (a->space != b->space || a->access_bytes != b->access_bytes || a->address_offset != b->address_offset)
        return false;
    if (data_count(a) != data_count(b) || !same_operand(at, to)) return false;
    return at->kind != FLOW_VALUE || time_is_same(f, at->id, before, insn);
}

static u32 find_place(const Known *known, u32 insn) {
    for (u32 k = 0; k < known->count; k++)
        if (same_place(known->f, known->insns[k], insn)) return known->insns[k];
    return WL_NONE;
}

static bool ends_all(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    u32 flags = OPF_CALL | OPF_BARRIER | OPF_FENCE | OPF_ASYNC;
    return form_op(form)->flags & flags || form->op == OP_BAR_WARP_SYNC || form->op == OP_NANOSLEEP ||
           form->mods[MOD_SEM] == SEM_ACQUIRE || form->mods[MOD_SEM] == SEM_ACQ_REL;
}

static void forget(Known *known, u8 space) {
    u32 kept = 0;
    for (u32 k = 0; k < known->count; k++) {
        u32 insn = known->insns[k];
        bool apart = space != SPACE_NONE && known->f->code->insns[insn].space != space;
        if (apart || is_read_only(known->f, insn)) known->insns[kept++] = insn;
    }
    known->count = kept;
}

static void keep(Known *known, u32 insn) {
    if (known->count < PLACES_KEPT) known->insns[known->count++] = insn;
}

static void stand_in(TimeFunc *f, u32 before, u32 load) {
    const FlowOperand *known = data_of(f, before), *loaded = data_of(f, load);
    for (u32 k = 0; k < f->code->insns[load].defs; k++) f->stands_for[loaded[k].id] = known[k].id;
}

// --- arithmetic
// A result that depends on the operands alone.
static bool is_pure(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    if (in->kind != FLOW_PLAIN || in->guard != WL_NONE || in->has_effects || in->is_barrier || in->defs != 1)
        return false;
    const FlowOperand *o = f->code->operands + in->operands;
    if (form_op(time_form(f, insn))->flags || o->kind != FLOW_VALUE || f->sole_def[o->id] == WL_NONE) return false;
    for (u32 k = 1; k <= in->uses; k++)
        if (o[k].kind != FLOW_VALUE && o[k].kind != FLOW_IMMEDIATE && o[k].kind != FLOW_OTHER) return false;
    return f->code->value_bits[o->id] > 1;
}

static u32 hash_of(const TimeFunc *f, u32 insn) {
    const FlowOperand *uses = time_uses(f, insn);
    u64 hash = f->code->insns[insn].uses + 31ull * time_op(f, insn);
    for (u32 k = 0; k < f->code->insns[insn].uses; k++)
        hash = (hash ^ (uses[k].id + (u64)uses[k].value)) * 0x9e3779b97f4a7c15ull;
    return (u32)(hash >> 32) % RESULTS_KEPT;
}

static bool same_result(const TimeFunc *f, u32 before, u32 insn) {
    const FlowOperand *a = time_uses(f, before), *b = time_uses(f, insn);
    u32 count = f->code->insns[insn].uses;
    if (time_form(f, before) != time_form(f, insn) || f->code->insns[before].uses != count) return false;
    for (u32 k = 0; k < count; k++)
        if (!same_operand(&a[k], &b[k]) || (a[k].kind == FLOW_VALUE && !time_is_same(f, a[k].id, before, insn)))
            return false;
    return true;
}

static void look_at_result(Known *known, u32 insn) {
    TimeFunc *f = known->f;
    u32 at = hash_of(f, insn), before = known->results[at];
    if (before != WL_NONE && before >= known->since && same_result(f, before, insn))
        f->stands_for[data_of(f, insn)->id] = data_of(f, before)->id;
    else
        known->results[at] = insn;
}

static void look_at(Known *known, u32 insn) {
    TimeFunc *f = known->f;
    const FlowInsn *in = &f->code->insns[insn];
    if (is_pure(f, insn)) return look_at_result(known, insn);
    if (ends_all(f, insn))
        forget(known, SPACE_NONE);
    else if (in->is_store || in->is_atomic)
        forget(known, in->space);
    if (!tells(f, insn)) return;
    u32 before = in->is_load ? find_place(known, insn) : WL_NONE;
    if (before != WL_NONE)
        stand_in(f, before, insn);
    else
        keep(known, insn);
}

Status time_repeat(TimeFunc *f) {
    Known known = {.f = f};
    memset(known.results, 0xff, sizeof known.results);
    f->stands_for = ARENA_ARRAY(&f->lower->scratch, u32, f->code->value_count + 1);
    if (!f->stands_for) return STATUS_NO_MEMORY;
    for (u32 v = 0; v < f->code->value_count; v++) f->stands_for[v] = WL_NONE;
    for (u32 b = 0; b < f->cfg->block_count; b++) {
        const FlowBlock *block = &f->cfg->blocks[b];
        if (block->pred_count != 1 || f->cfg->edges[block->preds] + 1 != b) known.count = 0, known.since = block->first;
        for (u32 i = block->first; i < block->first + block->count; i++) look_at(&known, i);
    }
    return STATUS_OK;
}
