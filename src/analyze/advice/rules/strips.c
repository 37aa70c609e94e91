// SPDX-License-Identifier: Apache-2.0
// register-reuse, several turns of a loop around another. Where the loop within goes over an array whose elements it
// loads, changes and stores again, and the loop around it comes back to the same elements in each of its turns -
// dynamic programming row by row, sums over what the loop around goes through - memory only carries a value from one
// turn of the loop around to the next. Who takes several of these turns at once ("unroll and jam": Callahan, Cocke,
// Kennedy: "Estimating Interlock and Improving Balance for Pipelined Architectures", JPDC 1988) has it in a register in
// between: the array is loaded and stored once for all of them, and so is everything else that is the same in each of
// them.
#include <math.h>

#include "analyze/advice/boxes.h"
#include "analyze/advice/rule.h"

enum {
    MOST_TURNS = 8,
    LEAST_TURNS = 2,
    MOST_ARRAYS = 16,
    MOST_HANDED_ON = 64 /* registers: more leave too few warps */
};

typedef struct Nest {
    const CasePart *part;
    u32 outer, inner;
} Nest;

// The address is the same in all turns of the loop, but for what loops within count.
static bool stays_in(const CasePart *part, const CaseAccess *a, u32 loop) {
    const Affine *affine = part->view->flow.affine;
    if (!a->affine) return false;
    const AffineForm *form = &affine->forms[a->affine->form];
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[form->terms + t].factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[affine->terms[form->terms + t].factors[i]];
            if (f->kind == AFFINE_COUNTER && f->id == loop) return false;
            if (f->kind == AFFINE_NODE && !node_stays(part, loop, f->id, 0)) return false;
        }
    return true;
}

static bool is_plain(const CaseAccess *a) {
    return a->affine && !a->atomic && a->space != SPACE_LOCAL && (access_is_shared(a) || access_is_global(a));
}

// The other of a load and a store of one element in one turn; NULL: there is none.
static const CaseAccess *partner(const CasePart *part, const CaseAccess *a) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        bool other = b->load != a->load && b->store != a->store && part->insns[b->pc].loop == part->insns[a->pc].loop;
        if (other && is_plain(b) && a->bytes == b->bytes && access_same_address(part, a, b)) return b;
    }
    return NULL;
}

// An element that the loop within loads and stores, and the loop around comes back to.
static bool is_carried(Nest n, const CaseAccess *a) {
    i64 step;
    if (n.part->insns[a->pc].loop != n.inner || !is_plain(a) || !stays_in(n.part, a, n.outer)) return false;
    bool stands = affine_step(n.part->view->flow.affine, a->affine->form, n.inner, &step) == AFFINE_STRIDE_CONSTANT;
    return !(stands && step == 0) && partner(n.part, a);
}

// Whether nothing in the loop around reads or writes the array but who has the same element for load and store: a turn
// of the loop around needs of those before it only what they made of its own element.
static bool has_its_own(Nest n, const CaseAccess *carried) {
    for (u32 i = 0; i < n.part->access_count; i++) {
        const CaseAccess *a = &n.part->accesses[i];
        if (!loop_has(n.part, n.outer, a->pc) || access_is_shared(a) != access_is_shared(carried)) continue;
        if (access_base(a) != access_base(carried) && access_base(a) != WL_NONE) continue;
        if (!is_plain(a) || !partner(n.part, a)) return false;
    }
    return true;
}

// Of each array once, however many of its elements a turn has.
static bool is_memory_the_way(Nest n) {
    u32 bases[MOST_ARRAYS], count = 0;
    const CaseLoop *outer = &n.part->loops[n.outer];
    if (outer->has_barrier || outer->has_call || outer->tells || loop_spins(n.part, n.outer)) return false;
    for (u32 i = 0; i < n.part->access_count; i++) {
        const CaseAccess *a = &n.part->accesses[i];
        if (!a->store || !is_carried(n, a)) continue;
        u32 base = access_base(a), known = 0;
        while (known < count && bases[known] != base) known++;
        if (known < count) continue;
        if (base == WL_NONE || count == MOST_ARRAYS || !has_its_own(n, a)) return false;
        bases[count++] = base;
    }
    return count > 0;
}

// --- what is there once for all turns -------------------------------------------------------------------------------
// An access whose element all turns of the loop around have in common.
static bool is_common(Nest n, const CaseAccess *a) { return is_plain(a) && stays_in(n.part, a, n.outer); }

// Its addresses in turns of the loop around differ by constants, which are part of the instruction.
static bool is_apart_by_constants(Nest n, const CaseAccess *a) {
    i64 step;
    return a->affine &&
           affine_step(n.part->view->flow.affine, a->affine->form, n.outer, &step) == AFFINE_STRIDE_CONSTANT;
}

static void spare_address(Hit *hit, Nest n, const CaseAccess *a, f64 fewer) {
    const FlowInsn *in = case_insn(n.part, a->pc);
    u32 from = in->address_use == 0xff ? WL_NONE : insn_source(n.part, a->pc, in->address_use);
    if (from == WL_NONE || !loop_has(n.part, n.inner, from) || case_access(n.part, from)) return;
    if (!insn_only_counts(n.part, from)) hit_spare(hit, n.part, from, fewer);
}

// Moves, conversions, what takes words apart and puts them together. Of PTX, whose moves compilers leave out,
// conversions.
static bool only_forms(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    if (case_access(part, pc)) return false;
    return part->insns[pc].traits & (TRAIT_CONVERT | TRAIT_WIDEN | TRAIT_NARROW) ||
           (insn && (case_insn(part, pc)->arith == FLOW_MOVE || insn->op == SASS_OP_PRMT));
}

// What brings a value that is loaded once into the form in which it is used.
static bool forms_common(Nest n, u32 pc, u32 depth) {
    const FlowInsn *in = case_insn(n.part, pc);
    for (u32 u = 0; depth && only_forms(n.part, pc) && u < in->uses; u++) {
        u32 from = insn_source(n.part, pc, u);
        if (from == WL_NONE || n.part->insns[from].loop != n.inner) continue;
        const CaseAccess *a = case_access(n.part, from);
        if (a ? a->load && is_common(n, a) : forms_common(n, from, depth - 1)) return true;
    }
    return false;
}

// ... and what brings one that is stored once into the form in which it is kept.
static bool forms_stored(Nest n, u32 pc) {
    const FlowInsn *in = case_insn(n.part, pc);
    const Chains *chains = n.part->view->flow.chains;
    u32 node = in->defs ? chains->of_operand[in->operands] : WL_NONE;
    if (node == WL_NONE || !only_forms(n.part, pc) || chains->first_user[node + 1] - chains->first_user[node] != 1)
        return false;
    u32 user = chains->users[chains->first_user[node]].insn;
    const CaseAccess *a = user == WL_NONE ? NULL : case_access(n.part, user);
    return a && a->store && n.part->insns[user].loop == n.inner && is_common(n, a);
}

static bool is_once(Nest n, u32 pc) {
    const CaseAccess *a = case_access(n.part, pc);
    if (a) return is_common(n, a);
    return insn_only_counts(n.part, pc) || forms_common(n, pc, LOADED_STEPS) || forms_stored(n, pc);
}

// Returns the hottest carried load.
static u32 do_once(Hit *hit, Nest n, f64 fewer) {
    u32 at = WL_NONE;
    f64 most = 0;
    for (u32 pc = 0; pc < n.part->view->insn_count; pc++) {
        const CaseAccess *a = case_access(n.part, pc);
        const CaseInsn *in = &n.part->insns[pc];
        if (in->loop != n.inner) continue;
        if (is_once(n, pc)) hit_spare(hit, n.part, pc, fewer);
        if (a && !is_common(n, a) && is_apart_by_constants(n, a)) spare_address(hit, n, a, fewer);
        bool hot = a && a->load && is_carried(n, a) && in->issued + in->blamed > most;
        if (hot) most = in->issued + in->blamed, at = pc;
    }
    return at;
}

// Values that the loop within hands on from turn to turn, without what counts and pointers: each turn of the loop
// around has its own.
static u32 handed_on(Nest n) {
    const FlowResults *flow = &n.part->view->flow;
    u32 count = 0;
    for (u32 node = flow->chains->def_count; node < flow->chains->node_count; node++) {
        bool counts = affine_kinds(flow->affine, node) & 1u << AFFINE_COUNTER || node_moves_on(n.part, n.inner, node);
        count += flow->chains->nodes[node].block == flow->loops->loops[n.inner].header && !counts;
    }
    return count;
}

static f64 turns_at_once(Nest n) {
    f64 trips = n.part->loops[n.outer].trips, turns = MOST_TURNS, values = handed_on(n);
    while (turns >= LEAST_TURNS && ((trips > 0 && turns > trips) || turns * values > MOST_HANDED_ON)) turns /= 2;
    return turns;
}

static void take_turns(AdviceCase *c, Nest n) {
    f64 turns = turns_at_once(n);
    if (turns < LEAST_TURNS || !is_memory_the_way(n)) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_strips);
    u32 at = do_once(hit, n, 1 - 1 / turns);
    if (at == WL_NONE) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(
        hit, "moves_share", share, "%",
        "%.0f %% of what is issued would not be needed: in each turn of the loop around, the loop loads and stores "
        "the same elements",
        share);
    hit_basis(hit, "equation 2: loads, stores and counting once for %.0f turns", turns);
    hit_caution(hit, "the values of %.0f turns are in registers: check that the occupancy stays", turns);
    hit->doubtful = true;
    hit_end_line(
        hit, n.part, at,
        "Take %.0f turns of the loop around at once, so that the value loaded at %s stays in registers for all", turns,
        place_text(c, n.part, at));
}

void reuse_over_turns(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        if (part->access_count > ACCESS_GROUP_LIMIT) continue;
        for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
            Nest n = {.part = part, .inner = l, .outer = part->view->flow.loops->loops[l].parent};
            if (n.outer != WL_NONE && part->loops[l].innermost && part->loops[l].active > 0) take_turns(c, n);
        }
    }
}
