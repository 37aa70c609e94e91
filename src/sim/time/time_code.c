// SPDX-License-Identifier: Apache-2.0
// From a SimProgram to what the machine issues for it: the pipeline over its functions, and the blocks.
#include "sim/time/time_lower.h"

#include <string.h>

// --- blocks
// -----------------------------------------------------------------------------------------------------------
static void mark(u8 *begins, const SimProgram *p, u32 pc) {
    if (pc < p->insn_count) begins[pc] = 1;
}

static void mark_targets(u8 *begins, const SimProgram *p, u32 pc) {
    const SimInsn *in = &p->insns[pc];
    if (in->kind > SIM_MEMORY) mark(begins, p, pc + 1);
    if (in->flags & SIM_RECONVERGE) mark(begins, p, pc);
    if (in->kind == SIM_BRANCH && in->target != WL_NONE) mark(begins, p, in->target);
    if (in->kind == SIM_SWITCH)
        for (u32 k = 0; k < in->list_count; k++) mark(begins, p, p->lists[in->list + k]);
}

static Status add_block(TimeLower *lower, u32 pc, u32 end) {
    for (u32 i = pc; i < end; i++) lower->block_of[i] = lower->blocks.len;
    return vec_push(&lower->blocks, (TimeBlock){.pc = pc, .pc_end = end, .parts = 1});
}

static Status find_blocks(TimeLower *lower) {
    const SimProgram *p = lower->program;
    u8 *begins = ARENA_ARRAY(&lower->scratch, u8, p->insn_count + 1);
    lower->block_of = mem_zero(p->insn_count + 1u, sizeof(u32));
    if (!begins || !lower->block_of) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < p->func_count; i++) mark(begins, p, p->funcs[i].entry);
    for (u32 pc = 0; pc < p->insn_count; pc++) mark_targets(begins, p, pc);
    u32 first = 0;
    for (u32 pc = 1; pc <= p->insn_count; pc++) {
        if (pc < p->insn_count && !begins[pc] && pc - first < TIME_BLOCK_MAX) continue;
        TRY(add_block(lower, first, pc));
        first = pc;
    }
    return STATUS_OK;
}

// --- functions ----------------------------------------------------------------------------------------------------
static Status lower_passes(TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    TRY(flow_from_ptx(f->lower->module, f->func->func, arena, &f->code));
    TRY(flow_cfg(f->code, arena, &f->cfg));
    TRY(time_select(f));
    TRY(time_share(f));
    TRY(time_control(f));
    TRY(time_take_arrays_apart(f));
    TRY(time_merge(f));
    TRY(time_hoist(f));
    TRY(time_sink(f));
    TRY(time_emit(f));
    TRY(time_overwrite(f));
    TRY(time_coalesce(f));
    TRY(time_predicate(f));
    TRY(time_schedule(f));
    TRY(time_spill(f));
    TRY(time_save(f));
    TRY(time_share_scoreboards(f));
    return time_place(f);
}

static Status lower_function(TimeLower *lower, u32 index, u32 *block) {
    const SimFunc *func = &lower->program->funcs[index];
    u32 end =
        index + 1 < lower->program->func_count ? lower->program->funcs[index + 1].entry : lower->program->insn_count;
    TimeFunc f = {.lower = lower, .func = func, .function = &lower->module->funcs[func->func], .blocks = *block};
    while (*block < lower->blocks.len && lower->blocks.data[*block].pc < end) ++*block;
    f.block_count = *block - f.blocks;
    Status status = lower_passes(&f);
    vec_free(&f.leaves);
    vec_free(&f.work);
    vec_free(&f.ops);
    vec_free(&f.operands);
    vec_free(&f.value_bits);
    arena_reset(&lower->scratch);
    return status;
}

static Status lower_program(TimeLower *lower) {
    u32 forms = lower->module->form_count, block = 0;
    TRY(find_blocks(lower));
    lower->rows = ARENA_ARRAY(&lower->arena, TimeSteps, forms * VARIANT_COUNT + 1);
    if (!lower->rows) return STATUS_NO_MEMORY;
    memset(lower->rows, 0xff, sizeof(TimeSteps) * (forms * VARIANT_COUNT + 1));
    for (u32 i = 0; i < lower->program->func_count; i++) TRY(lower_function(lower, i, &block));
    return STATUS_OK;
}

static TimePath path_of(const TimeOp *op) {
    const u64 queued = 1ull << TIME_LOAD | 1ull << TIME_STORE | 1ull << TIME_ATOMIC | 1ull << TIME_REDUCE |
                       1ull << TIME_CONST | 1ull << TIME_TEXTURE | 1ull << TIME_ASYNC | 1ull << TIME_BULK |
                       1ull << TIME_SPIN_LOAD | 1ull << TIME_SPIN_SWAP;
    if (queued >> op->kind & 1 || op->flags & TIME_MIO) return TIME_BY_QUEUE;
    return op->kind == TIME_GMMA ? TIME_BY_TENSOR : TIME_BY_UNIT;
}

static bool has_barriers(const TimeLower *lower) {
    for (u32 i = 0; i < lower->ops.len; i++)
        if (lower->ops.data[i].kind == TIME_BARRIER || lower->ops.data[i].kind == TIME_ARRIVE) return true;
    return false;
}

static Status finish(TimeLower *lower, TimeCode **code) {
    for (u32 i = 0; i < lower->ops.len; i++) lower->ops.data[i].path = (u8)path_of(&lower->ops.data[i]);
    TRY(time_gaps(lower));
    u8 *edits;
    TRY(time_trace_edits(lower, &edits));
    TimeCode *c = mem_zero(1, sizeof *c);
    if (!c) return mem_free(edits), STATUS_NO_MEMORY;
    *c = (TimeCode){.program = lower->program,
                    .ops = lower->ops.data,
                    .op_count = lower->ops.len,
                    .regs = lower->regs.data,
                    .late = lower->late.data,
                    .reg_count = lower->regs.len,
                    .constants = lower->constants.data,
                    .blocks = lower->blocks.data,
                    .block_count = lower->blocks.len,
                    .block_of = lower->block_of,
                    .slots = lower->slots,
                    .registers = lower->known.registers ? lower->known.registers : lower->registers,
                    .frame = lower->frame,
                    .meets = has_barriers(lower),
                    .edits = edits,
                    .resident = lower->resident,
                    .insn_bytes = lower->gpu->sm_version >= 70 ? 16 : 8};
    *code = c;
    return STATUS_OK;
}

static void lower_free(TimeLower *lower) {
    vec_free(&lower->ops);
    vec_free(&lower->regs);
    vec_free(&lower->late);
    vec_free(&lower->constants);
    vec_free(&lower->blocks);
    mem_free(lower->block_of);
}

Status time_code_build(const SimProgram *program, const GpuModel *gpu, SimMachineCode known, TimeCode **code) {
    return time_code_build_edited(program, gpu, known, (Str){0}, code);
}

Status time_code_build_edited(const SimProgram *program, const GpuModel *gpu, SimMachineCode known, Str edits,
                              TimeCode **code) {
    TimeLower lower = {.program = program, .module = program->module, .gpu = gpu, .known = known};
    Status status = time_read_edits(&lower, edits);
    if (status == STATUS_OK) status = lower_program(&lower);
    if (status == STATUS_OK) status = finish(&lower, code);
    vec_free(&lower.words);
    if (status != STATUS_OK) lower_free(&lower);
    vec_free(&lower.steps);
    arena_free(&lower.arena);
    arena_free(&lower.scratch);
    return status;
}

void time_code_free(TimeCode *code) {
    if (!code) return;
    mem_free(code->ops);
    mem_free(code->regs);
    mem_free(code->late);
    mem_free(code->constants);
    mem_free(code->blocks);
    mem_free(code->block_of);
    mem_free(code->edits);
    mem_free(code);
}
