// SPDX-License-Identifier: Apache-2.0
// Turns of the source's loop that are one turn of the code's already: compilers unroll loops on their own, most by
// four. The counter then goes on by that, and there are as many copies of what a turn does.
#include <math.h>

#include "analyze/advice/rule.h"

enum { MOST_STEP = 1024 /* of a counter of turns; larger ones are pitches */, MOST_ASSEMBLED = 64 };

// The constant that the counter goes on by; 0: there is none.
static i64 step_of_counter(const CasePart *part, u32 loop, u32 compare) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, compare);
    for (u32 u = 0; u < in->uses; u++) {
        u32 node = flow->chains->of_operand[in->operands + in->defs + u];
        u32 pc = node == WL_NONE ? WL_NONE : flow->chains->nodes[node].insn;
        if (pc == WL_NONE || !loop_has(part, loop, pc)) continue;
        const FlowInsn *add = case_insn(part, pc);
        if (add->arith != FLOW_ADD && add->arith != FLOW_ADD3 && add->arith != FLOW_SUB) continue;
        for (u32 v = 0; v < add->uses; v++) {
            const FlowOperand *o = &flow->code->operands[add->operands + add->defs + v];
            if (o->kind == FLOW_IMMEDIATE && o->value) return o->value < 0 ? -o->value : o->value;
        }
    }
    return 0;
}

static u32 compare_of_latch(const CasePart *part, u32 loop, u32 latch) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[flow->loops->members[flow->loops->loops[loop].latches + latch]];
    u32 branch = b->first + b->count - 1;
    if (case_insn(part, branch)->kind != FLOW_BRANCH || flow->chains->of_guard[branch] == WL_NONE) return WL_NONE;
    u32 compare = flow->chains->nodes[flow->chains->of_guard[branch]].insn;
    return compare != WL_NONE && loop_has(part, loop, compare) ? compare : WL_NONE;
}

// Without lines all that do the same are taken for copies.
static bool may_be_copies(const CasePart *part, u32 a, u32 b) {
    const FlowInsn *x = case_insn(part, a), *y = case_insn(part, b);
    bool known = part->view->places[a].line && part->view->places[b].line;
    return x->is_load == y->is_load && x->unit == y->unit && x->space == y->space && (!known || same_line(part, a, b));
}

static i64 count_alike(const CasePart *part, u32 loop, u32 pc) {
    i64 alike = 0;
    for (u32 other = 0; other < part->view->insn_count; other++)
        alike += part->insns[other].loop == loop && may_be_copies(part, pc, other);
    return alike;
}

// Whether each turn has as many copies of some load, or operation of floating point.
static bool has_copies(const CasePart *part, u32 loop, i64 copies) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const FlowInsn *in = case_insn(part, pc);
        if (part->insns[pc].loop != loop || (!in->is_load && in->unit != UNIT_XU && in->unit != UNIT_FMA)) continue;
        i64 alike = count_alike(part, loop, pc);
        if (alike >= copies && alike % copies == 0) return true;
    }
    return false;
}

// Whether a load that is another one in each turn has fewer copies: of turns that are one each has its own.
static bool has_single(const CasePart *part, u32 loop, i64 copies) {
    i64 step;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!a->load || part->insns[a->pc].loop != loop) continue;
        bool stays = a->affine &&
                     affine_step(part->view->flow.affine, a->affine->form, loop, &step) == AFFINE_STRIDE_CONSTANT &&
                     !step;
        if (!stays && count_alike(part, loop, a->pc) < copies) return true;
    }
    return false;
}

// Loads of the access's line that follow it, each `apart` bytes behind the one before.
static u32 loads_behind(const CasePart *part, const CaseAccess *a, i64 apart, u32 most) {
    u32 found = 0;
    for (u32 next = 1; next <= most; next++) {
        bool is_there = false;
        i64 bytes;
        for (u32 i = 0; i < part->access_count && !is_there; i++) {
            const CaseAccess *b = &part->accesses[i];
            is_there = part->insns[b->pc].loop == part->insns[a->pc].loop && may_be_copies(part, a->pc, b->pc) &&
                       access_distance(part, a, b, &bytes) && bytes == next * apart;
        }
        if (!is_there) break;
        found++;
    }
    return found;
}

// Where a place is the counter, it goes on by bytes. The copies then share the way of a turn: so many loads of a line
// divide it evenly.
static u32 copies_of_place(const CasePart *part, u32 loop) {
    static const u32 usual[] = {16, 8, 4};  // two are as often neighbours that the source names
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        i64 way = 0;
        if (!a->load || a->atomic || !a->affine || part->insns[a->pc].loop != loop) continue;
        affine_step(part->view->flow.affine, a->affine->form, loop, &way);
        for (u32 k = 0; way && k < sizeof usual / sizeof *usual; k++)
            if (way % usual[k] == 0 && loads_behind(part, a, way / usual[k], usual[k] - 1) == usual[k] - 1)
                return usual[k];
    }
    return 1;
}

u32 loop_copies(const CasePart *part, u32 loop) {
    const FlowLoop *l = &part->view->flow.loops->loops[loop];
    for (u32 i = 0; i < l->latch_count; i++) {
        u32 compare = compare_of_latch(part, loop, i);
        i64 step = compare == WL_NONE ? 0 : step_of_counter(part, loop, compare);
        if (step <= 1) continue;
        u32 copies = step <= MOST_STEP && has_copies(part, loop, step) ? (u32)step : copies_of_place(part, loop);
        return has_single(part, loop, copies) ? 1 : copies;
    }
    return 1;
}

// How often the branches back are issued each time that they are executed.
static f64 steps_of_latch(const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    f64 executed = 0, issued = 0;
    for (u32 i = 0; i < l->latch_count; i++) {
        const FlowBlock *b = &flow->cfg->blocks[flow->loops->members[l->latches + i]];
        const CaseInsn *branch = &part->insns[b->first + b->count - 1];
        executed += branch->executed;
        issued += branch->issued;
    }
    return executed > 0 ? issued / executed : 1;
}

u32 loop_assembled(const CasePart *part, u32 loop) {
    f64 steps = part->view->kind == VIEW_PTX ? steps_of_latch(part, loop) : 1;
    return steps * MOST_ASSEMBLED > 1 ? (u32)fmax(1 / steps + 0.5, 1) : MOST_ASSEMBLED;
}

// Of a long sequence ptxas starts no more loads ahead than some eight, and as many again as have arrived: of 70
// unrolled loops of 4 to 64 loads (nvcc 13.0, sm_90, one to eight arrays, five kinds of sums) those of up to eight
// started nearly all together, the others had 3 to 9 under way when one was used, 5.6 on average.
#define LOADS_UNDER_WAY 8.0

f64 loop_turns_together(f64 loads, f64 turns) { return fmax(fmin(LOADS_UNDER_WAY / fmax(loads, 1), turns), 1); }

// Compilers move no load ahead of the place where ways meet again, as behind the long way of a division. Ways of PTX
// may become guards in machine code.
bool loop_is_sequence(const CasePart *part, u32 loop) {
    return part->view->kind == VIEW_PTX || part->view->flow.loops->loops[loop].block_count == 1;
}
