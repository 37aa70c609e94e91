// SPDX-License-Identifier: Apache-2.0
// A TimeCode as text, for tests and for people: each block with its machine instructions in the order of issue.
#include "sim/time/time_code_print.h"

static const char *const kind_names[] = {
    [TIME_MATH] = "",
    [TIME_LOAD] = "load",
    [TIME_STORE] = "store",
    [TIME_ATOMIC] = "atomic",
    [TIME_REDUCE] = "reduce",
    [TIME_CONST] = "const",
    [TIME_FIXED] = "fixed",
    [TIME_IMMEDIATE] = "immediate",
    [TIME_TEXTURE] = "texture",
    [TIME_BRANCH] = "branch",
    [TIME_BARRIER] = "barrier",
    [TIME_ARRIVE] = "arrive",
    [TIME_FENCE] = "fence",
    [TIME_CLUSTER_ARRIVE] = "cluster_arrive",
    [TIME_CLUSTER_WAIT] = "cluster_wait",
    [TIME_INVALIDATE] = "invalidate",
    [TIME_ASYNC] = "async",
    [TIME_ASYNC_WAIT] = "async_wait",
    [TIME_ASYNC_COMMIT] = "async_commit",
    [TIME_BULK] = "bulk",
    [TIME_MBARRIER] = "mbarrier",
    [TIME_MBARRIER_WAIT] = "mbarrier_wait",
    [TIME_GMMA] = "gmma",
    [TIME_GMMA_WAIT] = "gmma_wait",
    [TIME_GMMA_COMMIT] = "gmma_commit",
    [TIME_CLOCK] = "clock",
    [TIME_SLEEP] = "sleep",
    [TIME_EXIT] = "exit",
    [TIME_SYNC] = "sync",
    [TIME_RUNTIME] = "runtime",
    [TIME_PRINT] = "print",
    [TIME_SPIN_LOAD] = "spin_load",
    [TIME_SPIN_SWAP] = "spin_swap",
    [TIME_SPIN_BRANCH] = "spin_branch",
    [TIME_SPIN_SYNC] = "spin_sync",
    [TIME_SLOW] = "slow",
    [TIME_MEET] = "meet",
};

static const char *const unit_names[UNIT_COUNT] = {
    [UNIT_NONE] = "none",       [UNIT_ALU] = "alu",       [UNIT_FMA] = "fma", [UNIT_FMAHEAVY] = "fmaheavy",
    [UNIT_FP64] = "fp64",       [UNIT_FP16] = "fp16",     [UNIT_XU] = "xu",   [UNIT_LSU] = "lsu",
    [UNIT_TEX] = "tex",         [UNIT_TENSOR] = "tensor", [UNIT_ADU] = "adu", [UNIT_CBU] = "cbu",
    [UNIT_UNIFORM] = "uniform", [UNIT_TMA] = "tma",
};

static const char *form_text(const TimeCode *code, u32 pc) {
    const SimProgram *p = code->program;
    const Form *form = p->insns[pc].form;
    return form ? module_text(p->module, form->text) : "ret";
}

static void print_op(FlowText *text, const TimeCode *code, const TimeOp *op) {
    const u16 *regs = code->regs + op->regs;
    flow_print(text, "  %4u %-22s %-8s", op->pc, op->flags & TIME_FIRST ? form_text(code, op->pc) : "",
               unit_names[op->unit]);
    if (op->latency || op->interval > 1) flow_print(text, " %u/%u", op->latency, op->interval);
    if (op->kind != TIME_MATH) flow_print(text, " %s", kind_names[op->kind]);
    if (op->extra) flow_print(text, " %u", op->extra);
    for (u32 k = 0; k < op->dst_count; k++) flow_print(text, "%s%u", k ? "," : "  s", regs[k]);
    for (u32 k = 0; k < op->src_count; k++)
        flow_print(text, "%s%s%u", k ? "," : " <- s", k + 1u == op->guard ? "@" : "", regs[op->dst_count + k]);
    flow_print(text, "\n");
}

Status time_code_print(const TimeCode *code, TextBuffer *out) {
    FlowText text = {.out = out};
    for (u32 b = 0; b < code->block_count; b++) {
        const TimeBlock *block = &code->blocks[b];
        flow_print(&text, "block %u: pc %u to %u%s%s%s\n", b, block->pc, block->pc_end,
                   block->predicated ? " predicated" : "", block->speculated ? " speculated" : "",
                   block->exits ? " exits" : "");
        if (block->part + 1u < block->parts) continue;
        for (u32 i = 0; i < block->op_count; i++) print_op(&text, code, &code->ops[block->ops + i]);
        if (block->unrolled_count) flow_print(&text, "  %d times:\n", block->turns);
        for (u32 i = 0; i < block->unrolled_count; i++) print_op(&text, code, &code->ops[block->unrolled + i]);
        if (block->pair_count) flow_print(&text, "  %d times:\n", block->left);
        for (u32 i = 0; i < block->pair_count; i++) print_op(&text, code, &code->ops[block->pair + i]);
        if (block->entry_count) flow_print(&text, "  on the way in:\n");
        for (u32 i = 0; i < block->entry_count; i++) print_op(&text, code, &code->ops[block->entry + i]);
    }
    flow_print(&text, "registers %u\n", code->registers);
    return text.status;
}
