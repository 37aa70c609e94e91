// SPDX-License-Identifier: Apache-2.0
// PTX: what a stall count can be for besides results. Where the machine's order is known, so is who has the unit of an
// instruction before it (a logic unit takes a warp instruction in two cycles: of two in a row the second one waits for
// the first), and which branch stands before the first instruction of a block. In machine code the control words say
// how long a wait is, and the instruction before is what is left (blame_region.c).
#include <math.h>
#include <stdlib.h>

#include "analyze/blame_inside.h"

enum { LOOKED_BACK = 8 };  // instructions: so far back one that still has its unit can stand

static f64 interval_of(const GpuModel *g, u8 unit) {
    switch ((UnitClass)unit) {
    case UNIT_ALU: return (f64)g->alu_interval;
    case UNIT_FMA: return (f64)g->fma_interval;
    case UNIT_FMAHEAVY: return (f64)g->fmaheavy_interval;
    case UNIT_FP64: return (f64)g->fp64_interval;
    case UNIT_FP16: return (f64)g->fp16_interval;
    case UNIT_XU: return (f64)g->xu_interval;
    case UNIT_LSU: return (f64)g->access_interval;
    default: return 1;
    }
}

// Halves of 64 bits of logic, sums, comparisons: neither needs the other.
static bool has_halves(const Blamer *b, u32 pc) {
    const FlowCode *code = b->flow->code;
    const FlowInsn *in = &code->insns[pc];
    if (in->unit != UNIT_ALU || b->insns[pc].steps > 2.5f || in->kind != FLOW_PLAIN) return false;
    for (u32 k = 0; k < (u32)in->defs + in->uses; k++) {
        const FlowOperand *operand = &code->operands[in->operands + k];
        if (operand->kind == FLOW_VALUE && code->value_bits[operand->id] == 64) return true;
    }
    return false;
}

typedef struct Placed {
    f32 before;
    u32 pc;
} Placed;

static int by_place(const void *left, const void *right) {
    const Placed *a = left, *c = right;
    if (a->before != c->before) return a->before < c->before ? -1 : 1;
    return (a->pc > c->pc) - (a->pc < c->pc);
}

// The order of a block's instructions that are issued.
static void order_block(Blamer *b, const FlowBlock *block, Placed *placed) {
    u32 count = 0;
    for (u32 pc = block->first; pc < block->first + block->count; pc++)
        if (b->insns[pc].steps > 0) placed[count++] = (Placed){b->before[pc], pc};
    if (count) qsort(placed, count, sizeof *placed, by_place);
    for (u32 i = 0; i < count; i++) b->earlier[placed[i].pc] = i ? placed[i - 1].pc : WL_NONE;
}

// Blocks at whose begin lanes that parted at a branch meet again: BSYNC counts for their first instruction.
static Status find_meetings(Blamer *b) {
    const FlowResults *f = b->flow;
    b->meets = ARENA_ARRAY(&b->scratch, bool, f->cfg->block_count + 1);
    if (!b->meets) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < f->cfg->block_count; i++) {
        const FlowBlock *block = &f->cfg->blocks[i];
        u32 last = block->first + block->count - 1, end = f->postdominators->parent[i];
        if (!block->count || !block->reachable || end == WL_NONE || end >= f->cfg->block_count) continue;
        if (b->insns[last].steps > 0 && bitset_has(&f->divergence->branches, last)) b->meets[end] = true;
    }
    return STATUS_OK;
}

Status blame_order(Blamer *b) {
    const Cfg *cfg = b->flow->cfg;
    u32 count = b->flow->code->insn_count;
    if (b->view->kind != VIEW_PTX || !b->view->place || !b->view->gpu) return STATUS_OK;
    Placed *placed = ARENA_ARRAY(&b->scratch, Placed, count + 1);
    b->earlier = ARENA_ARRAY(&b->scratch, u32, count + 1);
    if (!placed || !b->earlier) return STATUS_NO_MEMORY;
    for (u32 pc = 0; pc < count; pc++) {
        b->insns[pc].interval = (f32)interval_of(b->view->gpu, b->flow->code->insns[pc].unit);
        b->insns[pc].halves = has_halves(b, pc);
        b->earlier[pc] = WL_NONE;
    }
    for (u32 i = 0; i < cfg->block_count; i++) order_block(b, &cfg->blocks[i], placed);
    return find_meetings(b);
}

// The BSYNC of a block, when that is all that its first instruction stands for and the next to issue behind it is
// `use`.
static u32 meeting_before(const Blamer *b, u32 use) {
    u32 block = b->flow->cfg->block_of[use], first = b->flow->cfg->blocks[block].first;
    return b->meets[block] && b->earlier[use] == first && b->insns[first].steps < 1.5f ? first : WL_NONE;
}

static Status add_source(BlameSources *sources, u32 def, u32 group, f64 ready) {
    BlameSource source = {.def = def, .group = group, .ready = ready, .path = {1, 1, true}};
    return vec_push(&sources->list, source);
}

// Whoever has its unit.
static Status add_unit(const Blamer *b, u32 use, u32 group, BlameSources *sources) {
    const FlowInsn *insns = b->flow->code->insns;
    u32 at = b->earlier[use];
    for (u32 i = 0; i < LOOKED_BACK && at != WL_NONE; i++, at = b->earlier[at]) {
        if (insns[at].unit != insns[use].unit) continue;
        f64 distance = fmax((f64)b->before[use] - (f64)b->before[at] - (f64)b->insns[at].steps + 1, 1);
        f64 ready = (f64)b->insns[at].interval - distance;
        return ready > 0 ? add_source(sources, at, group, ready) : STATUS_OK;
    }
    return STATUS_OK;
}

// The branches that lead to it.
static Status add_branches(const Blamer *b, u32 use, u32 group, f64 ready, BlameSources *sources) {
    const Cfg *cfg = b->flow->cfg;
    const FlowBlock *block = &cfg->blocks[cfg->block_of[use]];
    for (u32 i = 0; i < block->pred_count && ready > 0; i++) {
        const FlowBlock *pred = &cfg->blocks[cfg->edges[block->preds + i]];
        u32 last = pred->first + pred->count - 1;
        bool branch = pred->count && pred->reachable && b->flow->code->insns[last].kind != FLOW_PLAIN;
        if (branch && b->insns[last].steps > 0) TRY(add_source(sources, last, group, ready));
    }
    return STATUS_OK;
}

Status blame_turns(Blamer *b, u32 use, BlameSources *sources) {
    if (!b->earlier || b->options.no_turns) return STATUS_OK;
    u32 group = 0, met = meeting_before(b, use);
    f64 branch = (f64)b->view->gpu->branch_latency - 1;
    for (u32 i = 0; i < sources->list.len; i++)
        if (sources->list.data[i].group >= group) group = sources->list.data[i].group + 1;
    if (met != WL_NONE) return branch > 0 ? add_source(sources, met, group, branch) : STATUS_OK;
    if (b->earlier[use] == WL_NONE) return add_branches(b, use, group, branch, sources);
    return add_unit(b, use, group, sources);
}

// Behind the stall count: of a branch that was taken, and of BSYNC.
Status blame_targets(Blamer *b, u32 use, BlameSources *sources) {
    const GpuModel *g = b->view->gpu;
    u32 block = b->flow->cfg->block_of[use], met = meeting_before(b, use);
    bool first = b->flow->cfg->blocks[block].first == use;
    sources->list.len = 0;
    if (met != WL_NONE) return add_source(sources, met, 0, 1);
    TRY(add_branches(b, use, 0, fmax((f64)g->branch_taken - (f64)g->branch_latency, 1), sources));
    sources->own = b->meets[block] && first && b->insns[use].steps > 1.5f;
    return STATUS_OK;
}
