// SPDX-License-Identifier: Apache-2.0
// Whether CTAs may have different amounts of work, as far as the code says: a loop that is left, or a way that is gone,
// by what differs between them - their number, or data.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

#define HOT 0.2   // of the samples, but for those in which another warp had its turn
#define MOST 0.9  // of the warps: ways that more of them go make no difference
enum { DEEPEST = 200 /* values behind a test; behind more it may be anything */ };

typedef struct Origin {
    const CasePart *part;
    bool ctas_only;  // threads of the same place in their CTAs are compared, which find what nobody writes the same
    Bitset seen;     // nodes
} Origin;

static bool node_differs(Origin *o, u32 node, u32 depth);

static bool sreg_differs(const Origin *o, u32 id) {
    if (o->ctas_only && (id == SREG_TID || id == SREG_LANEID)) return false;
    return id != SREG_NTID && id != SREG_NCTAID;
}

// Constants, parameters; of what threads of several CTAs load from global memory where it lies is what decides.
static bool memory_is_fixed(const Origin *o, u32 pc) {
    const FlowInsn *in = case_insn(o->part, pc);
    const CaseAccess *a = case_access(o->part, pc);
    if (in->space == SPACE_CONST || in->space == SPACE_PARAM) return true;
    return o->ctas_only && a && access_is_global(a) && !in->polls && !access_is_written(o->part, a);
}

static bool operand_differs(Origin *o, u32 operand, u32 depth) {
    const FlowCode *code = o->part->view->flow.code;
    switch (code->operands[operand].kind) {
    case FLOW_VALUE: return node_differs(o, o->part->view->flow.chains->of_operand[operand], depth);
    case FLOW_SREG: return sreg_differs(o, code->operands[operand].id);
    default: return false;  // constants and parameters
    }
}

// Errs towards true.
static bool node_differs(Origin *o, u32 node, u32 depth) {
    const Chains *chains = o->part->view->flow.chains;
    if (node == WL_NONE || bitset_has(&o->seen, node)) return false;
    if (!depth) return true;
    bitset_add(&o->seen, node);
    const ChainNode *n = &chains->nodes[node];
    for (u32 a = 0; a < n->arg_count; a++)
        if (node_differs(o, chains->args[n->args + a], depth - 1)) return true;
    if (n->insn == WL_NONE) return false;
    const FlowInsn *in = case_insn(o->part, n->insn);
    if (in->is_atomic || (in->is_load && !memory_is_fixed(o, n->insn))) return true;
    if (node_differs(o, chains->of_guard[n->insn], depth - 1)) return true;
    for (u32 u = 0; u < in->uses; u++)
        if (operand_differs(o, in->operands + in->defs + u, depth - 1)) return true;
    return false;
}

// A jump of machine code may have a second condition besides its guard, as an operand.
bool guard_differs(AdviceCase *c, const CasePart *part, u32 pc) {
    const Chains *chains = part->view->flow.chains;
    const FlowInsn *in = case_insn(part, pc);
    Origin o = {.part = part};
    if (!bitset_init(&o.seen, c->scratch, chains->node_count + 1)) return c->status = STATUS_NO_MEMORY, true;
    bool differs = node_differs(&o, chains->of_guard[pc], DEEPEST);
    for (u32 u = 0; in->kind == FLOW_BRANCH && u < in->uses; u++)
        differs |= operand_differs(&o, in->operands + in->defs + u, DEEPEST);
    return differs;
}

bool store_differs_by_cta(AdviceCase *c, const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    Origin o = {.part = part, .ctas_only = true};
    if (!bitset_init(&o.seen, c->scratch, part->view->flow.chains->node_count + 1))
        return c->status = STATUS_NO_MEMORY, true;
    for (u32 u = 0; u < in->uses; u++) {
        bool place = u == in->address_use || u + 1u == in->address_index;
        if (!place && operand_differs(&o, in->operands + in->defs + u, DEEPEST)) return true;
    }
    return false;
}

// Whether an argument of the launch is among what a value is made of.
static bool node_has_argument(Origin *o, u32 node, u32 depth) {
    const FlowResults *flow = &o->part->view->flow;
    if (node == WL_NONE || !depth || bitset_has(&o->seen, node)) return false;
    bitset_add(&o->seen, node);
    const ChainNode *n = &flow->chains->nodes[node];
    for (u32 a = 0; a < n->arg_count; a++)
        if (node_has_argument(o, flow->chains->args[n->args + a], depth - 1)) return true;
    if (n->insn == WL_NONE) return false;
    const FlowInsn *in = case_insn(o->part, n->insn);
    if (in->is_load && (in->space == SPACE_PARAM || in->space == SPACE_CONST)) return true;
    for (u32 u = 0; u < in->uses; u++) {
        u32 operand = in->operands + in->defs + u, kind = flow->code->operands[operand].kind;
        if (kind == FLOW_PARAMETER || kind == FLOW_PARAMETER_VALUE) return true;
        if (kind == FLOW_VALUE && node_has_argument(o, flow->chains->of_operand[operand], depth - 1)) return true;
    }
    return false;
}

bool guard_has_argument(AdviceCase *c, const CasePart *part, u32 pc) {
    const Chains *chains = part->view->flow.chains;
    Origin o = {.part = part};
    if (!bitset_init(&o.seen, c->scratch, chains->node_count + 1)) return c->status = STATUS_NO_MEMORY, false;
    return node_has_argument(&o, chains->of_guard[pc], DEEPEST);
}

// The jump at the end of the block leaves a hot loop, or some of the warps go around what one of its ways has.
static bool matters(const AdviceCase *c, const CasePart *part, u32 block) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *b = &flow->cfg->blocks[block];
    f64 runs = block_runs(part, block), own = c->load.total - c->load.not_selected;  // as loops have them
    for (u32 i = 0; i < b->succ_count; i++) {
        u32 to = flow->cfg->edges[b->succs + i];
        f64 of_way = block_runs(part, to);
        for (u32 l = flow->loops->loop_of[block]; l != WL_NONE; l = flow->loops->loops[l].parent)
            if (!flow_loop_has(flow->loops, l, to) && part->loops[l].active + part->loops[l].stalled > HOT * own)
                return true;
        if (flow->cfg->blocks[to].pred_count == 1 && of_way > (1 - MOST) * runs && of_way < MOST * runs) return true;
    }
    return false;
}

bool ctas_may_differ(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        const Cfg *cfg = part->view->flow.cfg;
        for (u32 b = 0; b < cfg->block_count; b++) {
            u32 last = cfg->blocks[b].first + cfg->blocks[b].count - 1;
            if (!cfg->blocks[b].count || case_insn(part, last)->kind == FLOW_PLAIN || !matters(c, part, b)) continue;
            if (case_insn(part, last)->kind == FLOW_CALL || guard_differs(c, part, last)) return true;
        }
    }
    return false;
}

// Warps alive of those that resident CTAs have room for; 1 = not known, as when CTAs are not all as large.
f64 warps_alive(const AdviceCase *c) {
    if (c->view->launches.alike < MOSTLY_ALIKE) return 1;
    const MetricSet *m = &c->view->metrics;
    f64 warps = m->value[METRIC_CTAS_ACTIVE] * c->view->occupancy.warps_per_cta;
    return m->present[METRIC_CTAS_ACTIVE] && warps > 0 ? fmin(m->value[METRIC_WARPS_ACTIVE] / warps, 1) : 1;
}
