// SPDX-License-Identifier: Apache-2.0
// Which values lie in uniform registers, from Turing on: integer arithmetic on parameters, constants and such values.
// They take no register of the threads, so they leave room for loads: in loops over the rows of a matrix the stride is
// in UR6 and UR7, and 20 loads are under way instead of 12 (SASS of ptxas 13.0 for sm_90). What changes in a loop is
// left out: some counters are uniform, others not.
#include "sim/time/time_lower.h"

// UIADD3, UIMAD, ULOP3, USHF, UMOV (PTX's cvt of integers, cvta and neg are one of them).
static const u16 uniform_ops[] = {OP_ADD_INT, OP_SUB_INT, OP_MUL_INT, OP_MUL_WIDE, OP_MAD_INT, OP_MAD_WIDE,
                                  OP_NEG_INT, OP_AND,     OP_OR,      OP_XOR,      OP_NOT,     OP_LOP3,
                                  OP_SHL,     OP_SHR,     OP_SHF,     OP_CVT_INT,  OP_CVTA,    OP_MOV};

static bool has_uniform_op(const TimeFunc *f, u32 insn) {
    const Form *form = time_form(f, insn);
    if (form->type_count && ptx_types[form->types[0]].class == TYPE_CLASS_FLOAT) return false;
    for (u32 i = 0; i < WL_COUNT(uniform_ops); i++)
        if (uniform_ops[i] == form->op) return true;
    return false;
}

static bool makes_uniform(const TimeFunc *f, u32 insn, const bool *uniform) {
    const FlowInsn *in = &f->code->insns[insn];
    if (in->kind != FLOW_PLAIN || in->guard != WL_NONE || in->is_atomic || in->defs != 1) return false;
    if (in->arith == FLOW_LOAD_PARAM) return f->function->is_entry;
    for (u32 k = 0; k < in->uses; k++) {
        const FlowOperand *use = &time_uses(f, insn)[k];
        if (use->kind == FLOW_SREG || (use->kind == FLOW_VALUE && !uniform[use->id])) return false;
    }
    return has_uniform_op(f, insn);
}

void time_find_uniform(const TimeFunc *f, bool *uniform) {
    if (f->lower->gpu->sm_version < SM_TURING) return;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        const FlowInsn *in = &f->code->insns[i];
        u32 value = in->defs ? f->code->operands[in->operands].id : WL_NONE;
        if (value != WL_NONE && f->sole_def[value] == i) uniform[value] = makes_uniform(f, i, uniform);
    }
}
