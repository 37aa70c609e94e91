// SPDX-License-Identifier: Apache-2.0
// What an experiment changes in a kernel (record/edit.h), by the pc of its instructions: found once, before lowering.
#include <string.h>

#include "sim/time/time_lower.h"
#include "sim/time/trace.h"

static bool is_named(const Module *module, u32 func, Str name) {
    const char *text = module_text(module, module->funcs[func].name);
    return strlen(text) == name.len && memcmp(text, name.data, name.len) == 0;
}

static Status note_edit(TimeLower *lower, const SimFunc *func, const Edit *edit) {
    const SimProgram *p = lower->program;
    if (edit->kind == EDIT_RESIDENT) return lower->resident = edit->pc, STATUS_OK;
    if (edit->pc >= lower->module->funcs[func->func].insn_count) return STATUS_OK;
    u8 **edited = &lower->edited[edit->kind];
    if (!*edited) *edited = ARENA_ARRAY(&lower->arena, u8, p->insn_count + 1);
    if (!*edited) return STATUS_NO_MEMORY;
    (*edited)[func->entry + edit->pc] = edit->percent;
    return STATUS_OK;
}

Status time_read_edits(TimeLower *lower, Str text) {
    const SimProgram *p = lower->program;
    u32 line = 0;
    for (bool more = true;;) {
        Edit edit;
        TRY(edit_next(&text, "", &line, &edit, &more, NULL));
        if (!more) return STATUS_OK;
        if (!is_named(lower->module, p->funcs[0].func, edit.kernel)) continue;
        for (u32 i = 0; i < p->func_count; i++)
            if (is_named(lower->module, p->funcs[i].func, edit.function)) TRY(note_edit(lower, &p->funcs[i], &edit));
    }
}

Status time_trace_edits(const TimeLower *lower, u8 **edits) {
    static const u8 bits[EDIT_KIND_COUNT] = {
        [EDIT_CONFLICT_FREE] = TRACE_CONFLICT_FREE, [EDIT_COALESCED] = TRACE_COALESCED};
    *edits = NULL;
    for (u32 kind = 0; kind < EDIT_KIND_COUNT; kind++) {
        if (!bits[kind] || !lower->edited[kind]) continue;
        if (!*edits) *edits = mem_zero(lower->program->insn_count + 1u, sizeof **edits);
        if (!*edits) return STATUS_NO_MEMORY;
        for (u32 pc = 0; pc < lower->program->insn_count; pc++)
            if (lower->edited[kind][pc]) (*edits)[pc] |= bits[kind];
    }
    return STATUS_OK;
}

enum { MOSTLY = 50 };  // per cent: from there on an access is left out

bool time_is_free(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    u32 percent = time_edited(f, insn, EDIT_FREE);
    if ((in->kind != FLOW_PLAIN && in->kind != FLOW_BRANCH) || in->is_barrier) return false;
    return percent == 100 || (percent >= MOSTLY && (in->is_load || in->is_store));
}

u32 time_free_steps(const TimeFunc *f, u32 insn, u32 steps) {
    u32 percent = time_edited(f, insn, EDIT_FREE);
    const FlowInsn *in = &f->code->insns[insn];
    if (!percent || in->kind != FLOW_PLAIN || in->is_load || in->is_store || in->has_effects) return 0;
    u32 freed = (steps * percent + MOSTLY) / 100;
    return freed < steps ? freed : steps - 1;
}

void time_as_float(const TimeFunc *f, MachineOp *op) {
    const GpuModel *gpu = f->lower->gpu;
    op->unit = UNIT_FMA;
    op->interval = (u8)gpu->fma_interval;
    op->latency = (u16)gpu->alu_latency;
}
