// SPDX-License-Identifier: Apache-2.0
// What one kernel issues in place of several that go over the same elements: what each computes its elements with, and
// once what finds the place of an element and ends the thread.
#include <math.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

// Instructions that make what is stored, and nodes of Chains whose makers are still to be looked at.
typedef struct Making {
    const KernelView *view;
    Bitset seen, insns;  // nodes; instructions
    u32 *work, count;
} Making;

static void look_at(Making *m, u32 node) {
    if (node == WL_NONE || bitset_has(&m->seen, node)) return;
    bitset_add(&m->seen, node);
    m->work[m->count++] = node;
}

static void look_at_uses(Making *m, u32 pc, bool (*wanted)(const Making *m, u32 pc, u32 use)) {
    const FlowInsn *in = &m->view->flow.code->insns[pc];
    for (u32 u = 0; u < in->uses; u++)
        if (!wanted || wanted(m, pc, u)) look_at(m, m->view->flow.chains->of_operand[in->operands + in->defs + u]);
}

static bool is_stored(const Making *m, u32 pc, u32 use) { return insn_stores_use(m->view, pc, use); }

// Where a load goes is what is found once; its value comes from there.
static void look_behind(Making *m, u32 node) {
    const Chains *chains = m->view->flow.chains;
    const ChainNode *n = &chains->nodes[node];
    for (u32 a = 0; a < n->arg_count; a++) look_at(m, chains->args[n->args + a]);
    if (n->insn == WL_NONE) return;
    bitset_add(&m->insns, n->insn);
    look_at(m, chains->of_guard[n->insn]);
    if (!m->view->flow.code->insns[n->insn].is_load) look_at_uses(m, n->insn, NULL);
}

// What is stored, and the ways on which it is made; who has no element leaves at once, by no jump.
static void begin(Making *m) {
    for (u32 pc = 0; pc < m->view->flow.code->insn_count; pc++) {
        const FlowInsn *in = &m->view->flow.code->insns[pc];
        if (in->is_store || in->is_atomic) look_at_uses(m, pc, is_stored);
        if (in->kind != FLOW_BRANCH && in->kind != FLOW_CALL) continue;
        bitset_add(&m->insns, pc);
        look_at(m, m->view->flow.chains->of_guard[pc]);
    }
}

// Part of what the kernel issues; 1 where it is not known.
static f64 part_that_makes(AdviceCase *c, const KernelView *v) {
    Making m = {.view = v};
    u64 issued = 0;
    if (!v->flow.code || !v->total_issued) return 1;
    u32 nodes = v->flow.chains->node_count;
    m.work = ARENA_ARRAY(c->scratch, u32, nodes + 1);
    if (!m.work || !bitset_init(&m.seen, c->scratch, nodes + 1) ||
        !bitset_init(&m.insns, c->scratch, v->flow.code->insn_count + 1))
        return c->status = STATUS_NO_MEMORY, 1;
    begin(&m);
    while (m.count) look_behind(&m, m.work[--m.count]);
    for (u32 pc = 0; pc < v->flow.code->insn_count; pc++)
        if (bitset_has(&m.insns, pc)) issued += v->samples[pc].all[STALL_SELECTED];
    return (f64)issued / (f64)v->total_issued;
}

f64 merged_issues(AdviceCase *c, const KernelView *const *views, u32 count) {
    f64 made = 0, around = 0, ns = 0, own = 0;
    for (u32 i = 0; i < count; i++) {
        const KernelView *v = views[i];
        f64 rate = v->total ? 1 - (f64)v->total_latency / (f64)v->total : 0, makes = part_that_makes(c, v);
        if (v == c->view) own = rate;
        ns += v->launches.total_ns;
        made += rate * v->launches.total_ns * makes;
        around = fmax(around, rate * v->launches.total_ns * (1 - makes));
    }
    return own > 0 && ns > 0 ? (made + around) / (own * ns) : 0;
}
