// SPDX-License-Identifier: Apache-2.0
// What kind of work an instruction does, as far as rules ask for it.
#include "analyze/advice/traits.h"
#include "analyze/advice/rule.h"
#include "ptx/ptx.h"

static u32 arithmetic_unit(const FlowInsn *in) {
    switch ((UnitClass)in->unit) {
    case UNIT_ALU:
    case UNIT_FMA:
    case UNIT_FMAHEAVY:
    case UNIT_FP64:
    case UNIT_FP16:
    case UNIT_XU:
    case UNIT_UNIFORM: return TRAIT_ARITHMETIC;
    default: return 0;
    }
}

static u32 convert_traits(const Form *form) {
    if (form->types[0] == TYPE_F64 && form->types[1] == TYPE_F32) return TRAIT_WIDEN | TRAIT_CONVERT;
    if (form->types[0] == TYPE_F32 && form->types[1] == TYPE_F64) return TRAIT_NARROW | TRAIT_CONVERT;
    return form->op == OP_CVT_F ? TRAIT_CONVERT : 0;
}

static bool is_approximate(const Form *form) { return form->mods[MOD_RND] == MOD_TOKEN_NONE; }

static bool has_hint(const Form *form) {
    return form->mods[MOD_COP] != MOD_TOKEN_NONE || form->mods[MOD_EVICT1] != MOD_TOKEN_NONE ||
           form->mods[MOD_EVICT2] != MOD_TOKEN_NONE || form->mods[MOD_CACHE_HINT] != MOD_TOKEN_NONE;
}

static bool is_float(u32 type) {
    static const u8 floats[] = {TYPE_F16, TYPE_F16X2, TYPE_BF16, TYPE_BF16X2, TYPE_F32, TYPE_F64};
    for (u32 i = 0; i < WL_COUNT(floats); i++)
        if (floats[i] == type) return true;
    return false;
}

// Of 32 bits there is REDUX, of 64 there is not (examples/advice/held_out_2/best_match.cu on an H200).
static u32 atomic_traits(const Form *form) {
    u32 op = form->mods[MOD_ATOM_OP];
    bool wide = type_bytes(form->types[0]) == 8 && (op == ATOM_OP_MIN || op == ATOM_OP_MAX);
    if (op == ATOM_OP_EXCH || form->op == OP_ATOM_CAS) return TRAIT_LANE_ATOMIC | TRAIT_EXCHANGE;
    if (is_float(form->types[0])) return TRAIT_FLOAT_ATOMIC | TRAIT_LANE_ATOMIC;
    return wide ? TRAIT_LANE_ATOMIC : 0;
}

static u32 ptx_traits(const Form *form) {
    switch ((PtxOp)form->op) {
    case OP_DIV_INT:
    case OP_REM: return TRAIT_INT_DIVIDE;
    case OP_DIV_F_RND: return TRAIT_EXACT_MATH;
    case OP_SQRT:
    case OP_RCP: return is_approximate(form) ? TRAIT_SPECIAL : TRAIT_EXACT_MATH;
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2:
    case OP_DIV_F:
    case OP_TANH: return TRAIT_SPECIAL;
    case OP_CVT_INT:
    case OP_CVT_F: return convert_traits(form);
    case OP_CALL: return TRAIT_CALL;
    case OP_SHFL:
    case OP_SHFL_SYNC: return TRAIT_SHUFFLE;
    case OP_LD:
    case OP_ST:
        return (has_hint(form) ? TRAIT_HINTED : 0u) | (form->mods[MOD_NC] != MOD_TOKEN_NONE ? TRAIT_READ_ONLY : 0u) |
               (form->mods[MOD_SEM] > SEM_WEAK ? TRAIT_STRONG : 0u);
    case OP_ATOM:
    case OP_ATOM_CAS:
    case OP_ATOM_VECTOR:
    case OP_RED:
    case OP_RED_VECTOR: return atomic_traits(form);
    case OP_BAR_SYNC:
    case OP_BARRIER_SYNC:
    case OP_BAR_RED:
    case OP_BAR_RED_POPC:
    case OP_BARRIER_RED:
    case OP_BARRIER_RED_POPC: return TRAIT_BARRIER;
    default: return 0;
    }
}

u32 insn_traits(const KernelView *view, u32 pc) {
    const FlowCode *code = view->flow.code;
    const FlowInsn *in = &code->insns[pc];
    u32 traits = arithmetic_unit(in) | (in->unit == UNIT_FP64 ? TRAIT_FP64 : 0);
    if (code->sass) return traits | insn_traits_sass(code, pc);
    if (in->kind == FLOW_CALL) traits |= TRAIT_CALL;
    if (!code->module) return traits | (in->is_barrier ? TRAIT_BARRIER : 0);
    const Module *m = code->module;
    const Insn *insn = &m->insns[m->funcs[code->func].insns + pc];
    const Form *form = insn_form(m, insn);
    if (ptx_ops[form->op].flags & OPF_ASYNC) traits |= TRAIT_ASYNC;
    if (ptx_ops[form->op].flags & OPF_MATRIX) traits |= TRAIT_MATRIX;
    return traits | ptx_traits(form);
}

_Static_assert((u32)OP_COUNT <= INSN_OPS && (u32)SASS_OP_COUNT < INSN_OPS, "rules count instructions by operation");

u32 insn_op(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    if (code->sass) return insn_machine(part, pc)->op;
    const Module *m = code->module;
    return m ? insn_form(m, &m->insns[m->funcs[code->func].insns + pc])->op : 0;
}

bool insn_stores_use(const KernelView *view, u32 pc, u32 use) {
    enum { WORD = 4 };
    const FlowInsn *in = &view->flow.code->insns[pc];
    u32 words = in->access_bytes > WORD ? in->access_bytes / WORD : 1u;
    return view->flow.code->sass ? use + words >= in->uses : use != in->address_use;
}
