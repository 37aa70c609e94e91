// SPDX-License-Identifier: Apache-2.0
// Scope analysis (GPA, equation 5): what issues and what waits within each loop, loops inside included; how often a
// loop turns.
#include "analyze/advice/rule.h"

bool loop_has(const CasePart *part, u32 loop, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    return flow_loop_has(flow->loops, loop, flow->cfg->block_of[pc]);
}

bool loop_goes_on(const CasePart *part, u32 loop) {
    return part->loops[loop].active > 0 && part->loops[loop].trips != 1 && !loop_spins(part, loop);
}

u32 loop_header_pc(const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    return flow->cfg->blocks[flow->loops->loops[loop].header].first;
}

u32 loop_line_pc(const CasePart *part, u32 loop) {
    u32 header = loop_header_pc(part, loop);
    for (u32 pc = header; pc < part->view->insn_count; pc++)
        if (part->view->places[pc].line && loop_has(part, loop, pc)) return pc;
    return header;
}

// Turns per entry: how often the header ran, over how often it was come to from outside. Whoever comes from there may
// also have gone elsewhere: less than one turn says nothing, and samples are never sure of one.
static f64 measured_trips(const CasePart *part, const FlowLoop *loop, u32 at) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *header = &flow->cfg->blocks[loop->header];
    f64 turns = block_runs(part, loop->header), entries = 0;
    for (u32 i = 0; i < header->pred_count; i++) {
        u32 pred = flow->cfg->edges[header->preds + i];
        if (!flow_loop_has(flow->loops, at, pred)) entries += block_runs(part, pred);
    }
    if (entries > 0 && turns > entries) return turns / entries;
    return part->view->executed && entries > 0 && turns == entries ? 1 : 0;
}

static void add_to_loops(const CasePart *part, u32 pc) {
    const Loops *loops = part->view->flow.loops;
    const CaseInsn *in = &part->insns[pc];
    for (u32 l = in->loop; l != WL_NONE; l = loops->loops[l].parent) {
        part->loops[l].active += in->issued;
        part->loops[l].stalled += in->stalled;
        part->loops[l].insns++;
        part->loops[l].has_barrier |= (in->traits & TRAIT_BARRIER) != 0;
        part->loops[l].has_call |= (in->traits & TRAIT_CALL) != 0;
    }
}

Status case_find_loops(AdviceCase *c, CasePart *part) {
    const Loops *loops = part->view->flow.loops;
    part->loops = ARENA_ARRAY(c->scratch, CaseLoop, loops->loop_count + 1);
    if (!part->loops) return STATUS_NO_MEMORY;
    for (u32 l = 0; l < loops->loop_count; l++) {
        const FlowLoop *loop = &loops->loops[l];
        part->loops[l].innermost = flow_loop_is_innermost(loops, l);
        i64 known = flow_loop_turns(loop);
        part->loops[l].trips = known > 0 ? (f64)known : measured_trips(part, loop, l);
    }
    for (u32 pc = 0; pc < part->view->insn_count; pc++) add_to_loops(part, pc);
    for (u32 l = 0; l < loops->loop_count; l++) part->loops[l].together = lanes_leave_together(c, part, l);
    return STATUS_OK;
}

static const SassOperand *barrier_of(const CasePart *part, u32 pc, SassOp op) {
    const SassInsn *insn = insn_machine(part, pc);
    if (!insn || insn->op != op || !insn->operand_count) return NULL;
    return &part->view->flow.code->sass->operands.data[insn->operands];
}

bool lanes_meet(const CasePart *part, u32 parts, u32 meets, u32 *begin, u32 *end) {
    const FlowBlock *b = &part->view->flow.cfg->blocks[parts];
    *begin = WL_NONE;
    *end = part->view->flow.cfg->blocks[meets].first;
    const SassOperand *sync = barrier_of(part, *end, SASS_OP_BSYNC);
    for (u32 pc = b->first; sync && pc < b->first + b->count; pc++) {
        const SassOperand *bssy = barrier_of(part, pc, SASS_OP_BSSY);
        if (bssy && bssy->reg.index == sync->reg.index) *begin = pc;
    }
    return sync != NULL;
}
