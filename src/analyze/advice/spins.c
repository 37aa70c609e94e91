// SPDX-License-Identifier: Apache-2.0
// Loops that turn until other threads change a word: who tries to take a lock (a compare-and-swap or exchange with the
// same operands in every turn), and who reads a flag, a ticket or the counter of a barrier until it says to go on. And
// those that turn as long as others do: operations made of compare-and-swap, on one word, with operands made anew of
// what is there. Their turns are no work: there are as many as the wait is long, or as threads meet.
#include <math.h>

#include "analyze/advice/rule.h"

enum {
    MOVES = 4 /* copies and sums behind an operand that is made anew in each turn */,
    STEPS = 4 /* arithmetic from the word to the test */
};

static bool insn_stays(const CasePart *part, u32 loop, u32 pc, u32 depth) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    if (!depth || in->is_load || in->is_atomic || in->guard != WL_NONE || in->has_effects) return false;
    for (u32 u = 0; u < in->uses; u++)
        if (!node_stays(part, loop, chains->of_operand[in->operands + in->defs + u], depth - 1)) return false;
    return true;
}

bool node_stays(const CasePart *part, u32 loop, u32 node, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    if (node == WL_NONE) return true;
    const ChainNode *n = &flow->chains->nodes[node];
    if (!flow_loop_has(flow->loops, loop, n->block)) return true;
    return n->insn != WL_NONE && insn_stays(part, loop, n->insn, depth);
}

// The first of the operands, or all when there are fewer; the address is first.
static bool operands_stay(const CasePart *part, u32 loop, u32 pc, u32 first) {
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < in->uses && u < first; u++)
        if (!node_stays(part, loop, part->view->flow.chains->of_operand[in->operands + in->defs + u], MOVES))
            return false;
    return true;
}

// A jump that leaves the loop around it, or begins its next turn.
static bool ends_turn(const CasePart *part, u32 pc, u32 from) {
    const FlowResults *flow = &part->view->flow;
    const FlowBlock *block = &flow->cfg->blocks[flow->cfg->block_of[pc]];
    u32 loop = part->insns[from].loop;
    if (case_insn(part, pc)->kind == FLOW_PLAIN || case_insn(part, pc)->guard == WL_NONE) return false;
    while (loop == WL_NONE || !flow_loop_has(flow->loops, loop, flow->cfg->block_of[pc])) {
        if (loop == WL_NONE) return false;
        loop = flow->loops->loops[loop].parent;
    }
    for (u32 i = 0; i < block->succ_count; i++) {
        u32 to = flow->cfg->edges[block->succs + i];
        if (!flow_loop_has(flow->loops, loop, to) || to == flow->loops->loops[loop].header) return true;
    }
    return false;
}

static bool hands_on(const CasePart *part, u32 pc, u32 from) {
    const CaseAccess *a = case_access(part, pc);
    (void)from;
    return part->insns[pc].traits & TRAIT_SHUFFLE || (a && a->store && access_is_shared(a));
}

// A ticket: how far the loop goes on follows from what the atomic says, also where one lane hands it on to its warp or
// CTA.
bool atomic_ends_loop(const CasePart *part, const CaseAccess *a) {
    if (!a->atomic || part->insns[a->pc].loop == WL_NONE) return false;
    return insn_feeds(part, a->pc, STEPS, ends_turn) || (a->lanes <= 1 && insn_feeds(part, a->pc, 1, hands_on));
}

static SpinKind spin_of(const CasePart *part, const CaseAccess *a) {
    u32 traits = part->insns[a->pc].traits, loop = part->insns[a->pc].loop;
    bool takes = a->atomic && traits & TRAIT_EXCHANGE, looks = a->load && !a->atomic && traits & TRAIT_STRONG;
    if (loop == WL_NONE || (!takes && !looks) || !operands_stay(part, loop, a->pc, 1)) return SPIN_NONE;
    if (!insn_feeds(part, a->pc, STEPS, ends_turn)) return SPIN_NONE;
    if (!operands_stay(part, loop, a->pc, WL_NONE)) return takes ? SPIN_RETRY : SPIN_NONE;
    return takes ? SPIN_LOCK : SPIN_FLAG;
}

void case_find_spins(CasePart *part) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        SpinKind kind = spin_of(part, a);
        u32 around = part->insns[a->pc].loop;
        bool tells = part->insns[a->pc].traits & (TRAIT_EXCHANGE | TRAIT_STRONG);
        if (around != WL_NONE) part->loops[around].tells |= tells;
        CaseLoop *loop = kind == SPIN_NONE ? NULL : &part->loops[part->insns[a->pc].loop];
        if (loop && kind > loop->spin) loop->spin = (u8)kind, loop->spin_pc = a->pc;
    }
}

bool loop_spins(const CasePart *part, u32 loop) { return loop != WL_NONE && part->loops[loop].spin != SPIN_NONE; }

bool access_is_spun_on(const CasePart *part, const CaseAccess *a) {
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
        const CaseAccess *word = loop_spins(part, l) ? case_access(part, part->loops[l].spin_pc) : NULL;
        if (word && (a == word || access_same_address(part, a, word))) return true;
    }
    return false;
}

f64 case_spinning(const AdviceCase *c, SpinKind kind, const CasePart **where, u32 *pc) {
    f64 all = 0, most = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++) {
            const CaseLoop *loop = &c->parts[p].loops[l];
            f64 samples = loop->spin == kind ? loop->active + loop->stalled : 0;
            all += samples;
            if (samples <= most) continue;
            most = samples;
            *where = &c->parts[p];
            *pc = loop->spin_pc;
        }
    return fmin(case_share(c, all), 1);
}
