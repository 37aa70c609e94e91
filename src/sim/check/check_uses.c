// SPDX-License-Identifier: Apache-2.0
// Which loaded values are used for something. A value that was never written may be loaded and moved about - structures
// are copied with their padding, tiles with a border that nobody looks at, compilers load ahead of a condition - and is
// an error only where it is computed with, decides something, or leaves for global memory. Told apart per register,
// without regard to control flow: nvcc's registers have one definition mostly. What goes through selp, or back to
// shared or local memory, is not followed further.
#include <string.h>

#include "base/bitset.h"
#include "sim/check/check.h"

typedef struct Uses {
    const Module *m;
    const Function *f;
    Bitset used;  // registers of the function, by RegRef - Function.regs
    bool changed;
} Uses;

static void use(Uses *u, u32 reg) {
    u32 at = reg - u->f->regs;
    if (bitset_has(&u->used, at)) return;
    bitset_add(&u->used, at);
    u->changed = true;
}

static void use_operand(Uses *u, const Operand *o) {
    if (o->kind == OPERAND_REG || (o->kind == OPERAND_ADDRESS && o->base == OPERAND_REG)) use(u, o->ref);
    if (o->kind != OPERAND_VECTOR && o->kind != OPERAND_GROUP && o->kind != OPERAND_PAIR) return;
    for (u32 i = 0; i < o->count; i++) use_operand(u, &u->m->operands[o->ref + i]);
}

static bool is_used(const Uses *u, const Operand *o) {
    if (o->kind == OPERAND_REG) return bitset_has(&u->used, o->ref - u->f->regs);
    if (o->kind != OPERAND_VECTOR) return false;
    for (u32 i = 0; i < o->count; i++)
        if (is_used(u, &u->m->operands[o->ref + i])) return true;
    return false;
}

static bool is_move(u16 op) { return op == OP_MOV || op == OP_MOV_PACK || op == OP_MOV_UNPACK || op == OP_CVT_INT; }

static bool stays_near(const Form *form) {
    return form->space == SPACE_SHARED || form->space == SPACE_LOCAL || form->space == SPACE_PARAM;
}

static void look_at(Uses *u, const Insn *insn) {
    const Form *form = insn_form(u->m, insn);
    if (is_move(form->op)) {
        if (is_used(u, insn_operand(u->m, insn, 0))) use_operand(u, insn_operand(u->m, insn, 1));
        return;
    }
    for (u32 i = 0; i < insn->operands; i++) {
        const Operand *o = insn_operand(u->m, insn, i);
        u8 access = form->specs[i < form->spec_count ? i : form->spec_count - 1u].access;
        bool moved = (form->op == OP_SELP && i > 0 && i < 3) || (form->op == OP_ST && i == 1 && stays_near(form));
        if (access != ACCESS_WRITE && !moved) use_operand(u, o);
    }
    if (insn->guard != WL_NONE) use(u, insn->guard);
}

// Bit k: element k of the load is used.
static u16 used_elements(const Uses *u, const Operand *to) {
    u16 bits = 0;
    if (to->kind != OPERAND_VECTOR) return is_used(u, to) ? 0xffff : 0;
    for (u32 k = 0; k < to->count && k < 16; k++) bits |= (u16)((u32)is_used(u, &u->m->operands[to->ref + k]) << k);
    return bits;
}

static Status mark_function(SimProgram *p, const SimFunc *func, Arena *scratch) {
    Uses u = {.m = p->module, .f = &p->module->funcs[func->func], .changed = true};
    if (!bitset_init(&u.used, scratch, u.f->reg_count + 1)) return STATUS_NO_MEMORY;
    while (u.changed) {
        u.changed = false;
        for (u32 i = u.f->insn_count; i-- > 0;) look_at(&u, &u.m->insns[u.f->insns + i]);
    }
    for (u32 i = 0; i < u.f->insn_count; i++) {
        const Insn *insn = &u.m->insns[u.f->insns + i];
        u16 op = insn_form(u.m, insn)->op;
        p->check[func->entry + i].used =
            op == OP_LD || op == OP_LDU ? used_elements(&u, insn_operand(u.m, insn, 0)) : (u16)0xffff;
    }
    return STATUS_OK;
}

Status check_mark_uses(SimProgram *p) {
    Arena scratch = {0};
    Status status = STATUS_OK;
    for (u32 i = 0; i < p->func_count && status == STATUS_OK; i++) {
        status = mark_function(p, &p->funcs[i], &scratch);
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    return status;
}
