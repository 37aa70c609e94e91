// SPDX-License-Identifier: Apache-2.0
// nvcc takes a parameter's address where a structure is handed on by reference - mov.b64 %rd2, p; ld.param.f32 %f1,
// [%rd2+8] - and ptxas knows the place all the same. Loads through a register that nothing but one such mov sets name
// the parameter here: ld.param.f32 %f1, [p+8].
#include "base/mem.h"
#include "ptx/ptx.h"

typedef struct Pointed {  // of a register of the function
    u32 writes;
    VarRef var;  // WL_NONE: what was written is no parameter's address
    u64 offset;
} Pointed;

static bool is_own(const Function *function, VarRef var) {
    return var >= function->params && var - function->params < function->param_count;
}

// `moved`: what a mov without a guard writes; else NULL.
static void note_write(const Module *m, const Function *function, Pointed *pointed, const Operand *operand,
                       const Operand *moved) {
    switch (operand->kind) {
    case OPERAND_REG: {
        Pointed *p = &pointed[operand->ref - function->regs];
        bool address = moved && moved->kind == OPERAND_VAR && is_own(function, moved->ref);
        p->writes++;
        p->var = address ? moved->ref : WL_NONE;
        p->offset = address ? moved->value : 0;
        break;
    }
    case OPERAND_VECTOR:
    case OPERAND_GROUP:
    case OPERAND_PAIR:
        for (u32 i = 0; i < operand->count; i++) note_write(m, function, pointed, &m->operands[operand->ref + i], NULL);
        break;
    default: break;
    }
}

// Of calls all registers are taken to be written.
static void note_writes(const Module *m, const Function *function, Pointed *pointed) {
    for (u32 i = 0; i < function->insn_count; i++) {
        const Insn *insn = &m->insns[function->insns + i];
        const Form *form = insn_form(m, insn);
        bool call = form_op(form)->flags & OPF_CALL;
        bool mov = insn->guard == WL_NONE && form->op == OP_MOV;
        for (u32 k = 0; k < insn->operands; k++) {
            u8 access = call ? ACCESS_WRITE : k < form->spec_count ? form->specs[k].access : ACCESS_READ;
            if (access == ACCESS_WRITE || access == ACCESS_READ_WRITE)
                note_write(m, function, pointed, insn_operand(m, insn, k), mov ? insn_operand(m, insn, 1) : NULL);
        }
    }
}

static void name_parameters(Module *m, const Function *function, const Pointed *pointed) {
    for (u32 i = 0; i < function->insn_count; i++) {
        const Insn *insn = &m->insns[function->insns + i];
        const Form *form = insn_form(m, insn);
        if (!(form_op(form)->flags & OPF_LOAD) || form->space != SPACE_PARAM) continue;
        for (u32 k = 0; k < insn->operands; k++) {
            Operand *operand = &m->operands[insn_operand(m, insn, k) - m->operands];
            bool through = operand->kind == OPERAND_ADDRESS && operand->base == OPERAND_REG;
            const Pointed *p = through ? &pointed[operand->ref - function->regs] : NULL;
            if (!p || p->writes != 1 || p->var == WL_NONE) continue;
            operand->base = OPERAND_VAR;
            operand->ref = p->var;
            operand->value += p->offset;
        }
    }
}

Status ptx_name_parameters(Module *m) {
    for (u32 f = 0; f < m->func_count; f++) {
        const Function *function = &m->funcs[f];
        if (!function->is_entry || !function->has_body) continue;
        Pointed *pointed = mem_zero(function->reg_count + 1, sizeof *pointed);
        if (!pointed) return STATUS_NO_MEMORY;
        note_writes(m, function, pointed);
        name_parameters(m, function, pointed);
        mem_free(pointed);
    }
    return STATUS_OK;
}
