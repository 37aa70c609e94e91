// SPDX-License-Identifier: Apache-2.0
// Numbers of 32-bit floating point that are the same in all threads and all launches looked at: constants of the code,
// arguments, and what few sums and products make of these.
#include <string.h>

#include "analyze/advice/rule.h"
#include "base/floats.h"

enum { NUMBER_STEPS = 3, NUMBER_SOURCES = 2 };  // instructions between what is known and its use; sources of each

typedef enum Making { MAKES_NONE, MAKES_SAME, MAKES_SUM, MAKES_PRODUCT } Making;

static bool number_of_source(const CasePart *part, u32 pc, u32 nth, u32 steps, f32 *number);

// PtxOp of an instruction of PTX.
static u16 ptx_op_of(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const Module *m = code->module;
    return m ? insn_form(m, &m->insns[m->funcs[code->func].insns + pc])->op : OP_COUNT;
}

// How the instruction makes its result of its sources; MAKES_NONE: in another way, or of words of another size.
static Making making_of(const CasePart *part, u32 pc) {
    const SassInsn *machine = insn_machine(part, pc);
    const FlowInsn *in = case_insn(part, pc);
    if (in->defs != 1 || in->guard != WL_NONE) return MAKES_NONE;
    if (!machine) {
        u16 op = ptx_op_of(part, pc);
        bool loads = in->uses == 1 && part->view->flow.code->operands[in->operands + 1].kind == FLOW_PARAMETER;
        return loads && in->access_bytes == 4 ? MAKES_SAME
               : op == OP_ADD_F               ? MAKES_SUM
               : op == OP_MUL_F               ? MAKES_PRODUCT
                                              : MAKES_NONE;
    }
    switch (machine->op) {
    case SASS_OP_LDC:
    case SASS_OP_ULDC:
    case SASS_OP_MOV:
    case SASS_OP_UMOV: return strchr(machine->name, '.') ? MAKES_NONE : MAKES_SAME;
    case SASS_OP_FADD: return MAKES_SUM;
    case SASS_OP_FMUL: return MAKES_PRODUCT;
    default: return MAKES_NONE;
    }
}

static bool number_of_node(const CasePart *part, u32 node, u32 steps, f32 *number) {
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE || !steps || chain_is_merge(chains, node)) return false;
    u32 pc = chains->nodes[node].insn;
    Making making = making_of(part, pc);
    f32 s[NUMBER_SOURCES] = {0};
    for (u32 i = 0; i < (making == MAKES_SAME ? 1 : NUMBER_SOURCES); i++)
        if (making == MAKES_NONE || !number_of_source(part, pc, i, steps - 1, &s[i])) return false;
    *number = making == MAKES_SAME ? s[0] : making == MAKES_SUM ? s[0] + s[1] : s[0] * s[1];
    return true;
}

static bool number_of_machine(const CasePart *part, u32 pc, const SassOperand *o, u32 steps, f32 *number) {
    const FlowResults *flow = &part->view->flow;
    bool is_register = o->kind == SASS_OPERAND_REG && (o->reg.file == SASS_R || o->reg.file == SASS_UR);
    bool fixed = !o->bank && (o->reg.file == SASS_NO_FILE || o->reg.index == SASS_ZERO), known = false;
    i64 bits = 0;
    if (o->absolute || o->inverted || o->words > 1) return false;
    if (o->kind == SASS_OPERAND_IMMEDIATE)
        *number = f32_of_bits((u32)o->value), known = true;
    else if (o->kind == SASS_OPERAND_CONSTANT && fixed)
        known = flow_constant_argument(flow->code, flow->arguments, o->value, &bits), *number = f32_of_bits((u32)bits);
    else if (is_register && o->reg.index != SASS_ZERO) {
        u32 operand = insn_reads(part, pc, &o->reg);
        known = operand != WL_NONE && number_of_node(part, flow->chains->of_operand[operand], steps, number);
    }
    if (o->negated) *number = -*number;
    return known;
}

static bool number_of_source(const CasePart *part, u32 pc, u32 nth, u32 steps, f32 *number) {
    const FlowResults *flow = &part->view->flow;
    const SassInsn *machine = insn_machine(part, pc);
    const FlowInsn *in = case_insn(part, pc);
    i64 bits = 0;
    *number = 0;
    for (u32 i = 0; machine && i < machine->operand_count; i++) {
        const SassOperand *o = &flow->code->sass->operands.data[machine->operands + i];
        if (!o->is_def && !nth--) return number_of_machine(part, pc, o, steps, number);
    }
    if (machine || nth >= in->uses) return false;
    const FlowOperand *use = &flow->code->operands[in->operands + in->defs + nth];
    switch (use->kind) {
    case FLOW_OTHER: return *number = f32_of_bits((u32)use->value), use->width == 32;
    case FLOW_VALUE:
        return number_of_node(part, flow->chains->of_operand[in->operands + in->defs + nth], steps, number);
    case FLOW_PARAMETER:
        if (!flow_argument(flow->code, flow->arguments, use->id, in->address_offset, 4, &bits)) return false;
        return *number = f32_of_bits((u32)bits), true;
    default: return false;
    }
}

u32 case_source_count(const CasePart *part, u32 pc) {
    const SassInsn *machine = insn_machine(part, pc);
    u32 count = 0;
    if (!machine) return case_insn(part, pc)->uses;
    for (u32 i = 0; i < machine->operand_count; i++)
        count += !part->view->flow.code->sass->operands.data[machine->operands + i].is_def;
    return count;
}

bool case_number(const CasePart *part, u32 pc, u32 nth, f32 *number) {
    return number_of_source(part, pc, nth, NUMBER_STEPS, number);
}
