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

// --- what a function saves ------------------------------------------------------------------------------------------
// Functions of the ABI keep what they need behind a call, of another one or of a division's subroutine, in registers
// whose values they have stored before and load again at their end: the return address, two words, the barrier of the
// lanes that may take the subroutine, and values (growth of examples/advice/held_out_28/mussels.cu: R2, R16, R20, R21
// and B6 by way of R16). What does not outlive a call has registers that nobody keeps.
enum { ADDRESS_WORDS = 2, BARRIER_WORDS = 1 };

static bool is_called_by_name(const TimeFunc *f) {
    const SimProgram *p = f->lower->program;
    for (u32 i = 0; i < p->insn_count; i++)
        if (p->insns[i].kind == SIM_CALL && p->insns[i].target == (u32)(f->func - p->funcs)) return true;
    return false;
}

// Words that are alive behind instruction `insn`, in `alive`, and before it.
static u32 words_across(const TimeFunc *f, u32 insn, const Bitset *alive) {
    const FlowInsn *in = &f->code->insns[insn];
    u32 words = 0;
    for (u32 v = bitset_next(alive, 0); v != WL_NONE; v = bitset_next(alive, v + 1)) {
        bool made = false;
        for (u32 k = 0; k < in->defs; k++) made |= f->code->operands[in->operands + k].id == v;
        if (!made && f->code->value_bits[v] > 1) words += (f->code->value_bits[v] + 31u) / 32;
    }
    return words;
}

// The most words that a call of the function has to leave as they are; WL_NONE in *most: there is no call.
static Status find_kept(TimeFunc *f, u32 *most) {
    Liveness *live;
    Bitset alive;
    *most = WL_NONE;
    TRY(flow_liveness(f->cfg, &f->lower->scratch, &live));
    if (!bitset_init(&alive, &f->lower->scratch, f->code->value_count + 1)) return STATUS_NO_MEMORY;
    for (u32 b = 0; b < f->cfg->block_count; b++) {
        const FlowBlock *block = &f->cfg->blocks[b];
        if (!block->reachable) continue;
        bitset_clear(&alive);
        liveness_add_out(live, b, &alive);
        for (u32 i = block->first + block->count; i-- > block->first; liveness_step_back(f->code, i, &alive)) {
            if (!time_calls(f, i) || time_builtin(f, i)) continue;
            u32 words = words_across(f, i, &alive);
            if (*most == WL_NONE || words > *most) *most = words;
        }
    }
    return STATUS_OK;
}

static MachineOp save_op(const TimeFunc *f, const MachineOp *at, TimeKind kind) {
    const GpuModel *gpu = f->lower->gpu;
    bool access = kind != TIME_MATH;
    return (MachineOp){.pc = at->pc,
                       .operands = f->operands.len,
                       .kind = (u8)kind,
                       .unit = access ? UNIT_LSU : UNIT_ALU,
                       .interval = (u8)(access ? 1 : gpu->alu_interval),
                       .latency = (u16)(access ? 0 : gpu->alu_latency),
                       .space = SPACE_LOCAL,
                       .bytes = 4,
                       .guard = WL_NONE,
                       .base = WL_NONE,
                       .symbol = WL_NONE};
}

// The stack pointer is moved and `words` are stored, or loaded.
static Status add_saves(TimeFunc *f, MachineOps *to, const MachineOp *at, TimeKind kind, u32 words, bool barrier) {
    for (u32 k = 0; k <= barrier; k++) TRY(vec_push(to, save_op(f, at, TIME_MATH)));
    for (u32 k = 0; k < words; k++) {
        MachineOp op = save_op(f, at, kind);
        op.constant = time_spilled(f->lower->frame + k, 1);
        if (kind == TIME_LOAD) {
            op.defs = 1;
            TRY(vec_push(&f->operands, f->value_count++));
            TRY(vec_push(&f->value_bits, 32));
        }
        TRY(vec_push(to, op));
    }
    return STATUS_OK;
}

// The return waits for its address, the last words loaded.
static Status wait_for_address(TimeFunc *f, MachineOp *back) {
    u32 from = back->operands, kept = (u32)back->defs + back->uses;
    back->operands = f->operands.len;
    for (u32 k = 0; k < kept; k++) TRY(vec_push(&f->operands, f->operands.data[from + k]));
    for (u32 k = 0; k < ADDRESS_WORDS; k++) TRY(vec_push(&f->operands, f->value_count - 1 - k));
    back->uses += ADDRESS_WORDS;
    return STATUS_OK;
}

static bool returns_at(const TimeFunc *f, const MachineOp *op) {
    return op->kind == TIME_BRANCH && op->flags & TIME_INDIRECT && form_op(time_form(f, op->pc))->flags & OPF_RET;
}

static Status insert_saves(TimeFunc *f, u32 words, bool barrier, MachineOps *all) {
    TRY(add_saves(f, all, &f->ops.data[0], TIME_STORE, words, barrier));
    for (u32 i = 0; i < f->ops.len; i++) {
        MachineOp op = f->ops.data[i];
        if (returns_at(f, &op)) {
            TRY(add_saves(f, all, &op, TIME_LOAD, words, barrier));
            TRY(wait_for_address(f, &op));
        }
        TRY(vec_push(all, op));
    }
    return STATUS_OK;
}

Status time_save(TimeFunc *f) {
    u32 kept;
    MachineOps all = {0};
    if (f->function->is_entry || f->lower->gpu->sm_version < 70 || !f->ops.len) return STATUS_OK;
    if (!may_be_linked(f->lower->module) && is_called_by_name(f)) return STATUS_OK;
    TRY(find_kept(f, &kept));
    if (kept == WL_NONE) return STATUS_OK;
    bool barrier = false;
    for (u32 i = 0; i < f->ops.len; i++) barrier |= f->ops.data[i].kind == TIME_SLOW;
    u32 words = kept + (barrier ? BARRIER_WORDS : 0) + ADDRESS_WORDS;
    if (f->lower->frame + words > SPILL_WORDS) return STATUS_OK;
    Status status = insert_saves(f, words, barrier, &all);
    if (status != STATUS_OK) return vec_free(&all), status;
    vec_free(&f->ops);
    f->ops = all;
    f->lower->frame += words;
    return STATUS_OK;
}
