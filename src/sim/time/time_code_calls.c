// SPDX-License-Identifier: Apache-2.0
// What a call of a function takes besides jumping there and back ([L], ptxas 13.0 for sm_90; tests/time/calls.ptx and
// calls_apart.ptx have what is seen there).
//
// In a module that may be linked to others - one with a function that is visible - and through a pointer, calls follow
// the ABI: each word of an argument is moved into its register (from R4 on) unless it is computed there, and the return
// address into two. In other modules each function has registers of its own choice, in which its callers keep the
// arguments; the return address is one word, which the function extends before it returns.
#include "sim/time/time_lower.h"

static bool may_be_linked(const Module *m) {
    for (u32 i = 0; i < m->func_count; i++)
        if (!m->funcs[i].is_entry && m->funcs[i].has_body && m->funcs[i].linkage == LINKAGE_VISIBLE) return true;
    return false;
}

static bool is_call(const TimeFunc *f, u32 insn) {
    return f->code->insns[insn].kind == FLOW_CALL && time_builtin(f, insn) == 0;
}

static bool follows_abi(const TimeFunc *f, u32 call) {
    return time_insn(f, call)->target == WL_NONE || may_be_linked(f->lower->module);
}

// The call that the argument is for; WL_NONE: of a function of the runtime.
static u32 call_of(const TimeFunc *f, u32 argument) {
    const FlowBlock *block = &f->cfg->blocks[f->cfg->block_of[argument]];
    for (u32 i = argument + 1; i < block->first + block->count; i++)
        if (f->code->insns[i].kind == FLOW_CALL) return is_call(f, i) ? i : WL_NONE;
    return WL_NONE;
}

// Whether the value's only reader is the argument, in the block where it is computed.
static bool is_made_there(const TimeFunc *f, u32 value, u32 argument) {
    u32 def = f->sole_def[value];
    return f->use_count[value] == 1 && def != WL_NONE && f->cfg->block_of[def] == f->cfg->block_of[argument];
}

static u32 argument_moves(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    u32 call = call_of(f, insn), words = in->access_bytes > 4 ? in->access_bytes / 4 : 1;
    if (call == WL_NONE || !follows_abi(f, call)) return 0;
    const FlowOperand *uses = time_uses(f, insn);
    for (u32 k = 0; k < in->uses; k++) {
        bool value = k != in->address_use && uses[k].kind == FLOW_VALUE;
        if (value && is_made_there(f, uses[k].id, insn)) return 0;
    }
    return words;
}

static bool is_argument(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    if (!in->is_store || in->space != SPACE_PARAM || in->address_use == 0xff) return false;
    return time_uses(f, insn)[in->address_use].kind != FLOW_VALUE;
}

u32 time_call_moves(const TimeFunc *f, u32 insn) {
    if (f->lower->gpu->sm_version < 70) return 0;
    if (is_call(f, insn)) return follows_abi(f, insn);  // the row has the first word of the return address
    if (is_argument(f, insn)) return argument_moves(f, insn);
    bool returns = form_op(time_form(f, insn))->flags & OPF_RET && !f->function->is_entry;
    return returns && !may_be_linked(f->lower->module);
}
