// SPDX-License-Identifier: Apache-2.0
// loop-unrolling: a loop in which each turn waits for its own loads or results. Unrolled, loads of several turns are
// under way at once, other turns' instructions fill the waits (equation 5), and counter and branch are shared.
#include <math.h>

#include "analyze/advice/rule.h"

enum {
    SECTOR = 32 /* bytes */,
    MOST_INSNS = 1024 /* of the unrolled body */,
    MOST_TIMES = 8 /* turns of the source's loop in one */,
    LEAST_TRIPS = 4
};
#define RESULTS (STALL_BIT(WAIT) | STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(SHORT_SCOREBOARD) | STALL_BIT(BARRIER))

// Stores through a pointer may hit what is loaded: the compiler keeps later loads behind them, who unrolls by hand need
// not.
static bool has_stores(const CasePart *part, u32 loop, bool shared) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if ((a->store || a->atomic) && access_is_shared(a) == shared && loop_has(part, loop, a->pc)) return true;
    }
    return false;
}

// Stores of all turns to one word need not be in the loop (redundant-loads); then nothing keeps loads back.
static bool could_leave(const CasePart *part, const CaseAccess *store, u32 loop) {
    i64 step;
    return store->affine && !store->atomic &&
           affine_step(part->view->flow.affine, store->affine->form, loop, &step) == AFFINE_STRIDE_CONSTANT && !step;
}

static bool only_such_stores(const CasePart *part, u32 loop, bool shared) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool store = (a->store || a->atomic) && access_is_shared(a) == shared && loop_has(part, loop, a->pc);
        if (store && !could_leave(part, a, loop)) return false;
    }
    return true;
}

static u32 times_of(const CaseLoop *loop, u32 copies) {
    u32 times = MOST_TIMES / copies;
    while (times > 1 && (loop->insns * times > MOST_INSNS || (loop->trips > 0 && 2 * times > loop->trips))) times /= 2;
    return times;
}

// --- what goes on by a constant --------------------------------------------------------------------------------------
enum { STEPS_BACK = 4 };

// The loop's own value at the begin of a turn that a sum with constants, or a copy, is made of; WL_NONE: it is no such.
// The upper half of a pointer of 64 bits also takes the carry of the lower one.
static u32 taken_over(const CasePart *part, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    u32 found = WL_NONE;
    if (in->guard != WL_NONE || (in->arith != FLOW_ADD && in->arith != FLOW_ADD3 && in->arith != FLOW_MOVE))
        return WL_NONE;
    for (u32 u = 0; u < in->uses; u++) {
        u32 operand = in->operands + in->defs + u;
        const FlowOperand *o = &flow->code->operands[operand];
        if (o->kind == FLOW_IMMEDIATE) continue;
        if (o->kind != FLOW_VALUE) return WL_NONE;
        if (flow->code->value_bits[o->id] == 1) continue;  // a carry
        if (found != WL_NONE) return WL_NONE;
        found = flow->chains->of_operand[operand];
    }
    return found;
}

// Counters and pointers that each turn moves on by a constant: one instruction does it for all turns that are unrolled,
// whose accesses have the rest in their addresses. So do copies of them.
static bool goes_on(const CasePart *part, u32 loop, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    u32 node = taken_over(part, pc);
    for (u32 step = 0; node != WL_NONE && step < STEPS_BACK; step++) {
        const ChainNode *n = &flow->chains->nodes[node];
        if (n->insn != WL_NONE) {
            node = loop_has(part, loop, n->insn) ? taken_over(part, n->insn) : WL_NONE;
            continue;
        }
        if (n->block != l->header) return false;
        bool moves = false;
        for (u32 i = 0; i < n->arg_count; i++) {
            u32 arg = flow->chains->args[n->args + i], from = arg == WL_NONE ? WL_NONE : flow->chains->nodes[arg].insn;
            if (from == WL_NONE || !loop_has(part, loop, from)) continue;
            for (u32 back = 0; back < STEPS_BACK && arg != WL_NONE && arg != node; back++)
                arg = flow->chains->nodes[arg].insn == WL_NONE ? WL_NONE
                                                               : taken_over(part, flow->chains->nodes[arg].insn);
            if (arg != node) return false;
            moves = true;
        }
        return moves;
    }
    return false;
}

// A copy that is there for the next turn alone, as in `before = last; last = now;`: turns that are one have a register
// for each.
static bool is_for_next_turn(const CasePart *part, u32 loop, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    if (in->guard != WL_NONE || in->arith != FLOW_MOVE || in->defs != 1) return false;
    u32 node = flow->chains->of_operand[in->operands];
    bool value = false, next = false;
    for (u32 u = 0; u < in->uses; u++) value |= flow->code->operands[in->operands + in->defs + u].kind == FLOW_VALUE;
    for (u32 i = node == WL_NONE ? 0 : flow->chains->first_user[node];
         node != WL_NONE && i < flow->chains->first_user[node + 1]; i++) {
        const ChainUser *user = &flow->chains->users[i];
        u32 merge = user->insn == WL_NONE ? flow->chains->nodes[user->operand].block : WL_NONE;
        if (user->insn != WL_NONE && loop_has(part, loop, user->insn)) return false;
        next |= merge == flow->loops->loops[loop].header;
    }
    return value && next;
}

// Instructions of a turn that are left when its number is known: all but those that count, test and find places.
static u32 insns_of_turn(const CasePart *part, u32 loop) {
    u32 left = part->loops[loop].insns;
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        left -= part->insns[pc].loop == loop && (goes_on(part, loop, pc) || is_for_next_turn(part, loop, pc));
    return left;
}

// All turns of a loop whose number is in the code; 0: it is not, or they are too many to be one.
static u32 turns_of_whole(const CasePart *part, u32 loop) {
    i64 turns = part->view->flow.loops->loops[loop].trip_count;
    return turns > 0 && turns <= MOST_INSNS && turns * insns_of_turn(part, loop) <= MOST_INSNS ? (u32)turns : 0;
}

// Counter, comparison and branch: what the latch's condition is made of, within the loop and for nothing else.
static void add_overhead(Hit *hit, const CasePart *part, u32 loop, f64 fraction) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    for (u32 i = 0; i < l->latch_count; i++) {
        const FlowBlock *b = &flow->cfg->blocks[flow->loops->members[l->latches + i]];
        u32 branch = b->first + b->count - 1, node;
        if (case_insn(part, branch)->kind != FLOW_BRANCH) continue;
        hit_spare(hit, part, branch, fraction);
        node = flow->chains->of_guard[branch];
        u32 compare = node == WL_NONE ? WL_NONE : flow->chains->nodes[node].insn;
        if (compare == WL_NONE || !loop_has(part, loop, compare)) continue;
        hit_spare(hit, part, compare, fraction);
        const FlowInsn *in = case_insn(part, compare);
        node = in->uses ? flow->chains->of_operand[in->operands + in->defs] : WL_NONE;
        u32 counter = node == WL_NONE ? WL_NONE : flow->chains->nodes[node].insn;
        bool adds = counter != WL_NONE && loop_has(part, loop, counter) && case_insn(part, counter)->arith == FLOW_ADD;
        if (adds && !goes_on(part, loop, counter)) hit_spare(hit, part, counter, fraction);
    }
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (part->insns[pc].loop == loop && (goes_on(part, loop, pc) || is_for_next_turn(part, loop, pc)))
            hit_spare(hit, part, pc, fraction);
}

// The instruction that moves on the place of a constant from turn to turn; WL_NONE: that is no such load.
static u32 constant_moved_by(const CasePart *part, u32 loop, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; in->is_load && in->space == SPACE_CONST && u < in->uses; u++) {
        u32 node = flow->chains->of_operand[in->operands + in->defs + u];
        if (node == WL_NONE || flow->chains->nodes[node].insn != WL_NONE) continue;
        const ChainNode *n = &flow->chains->nodes[node];
        for (u32 i = 0; i < n->arg_count && n->block == flow->loops->loops[loop].header; i++) {
            u32 arg = flow->chains->args[n->args + i], from = arg == WL_NONE ? WL_NONE : flow->chains->nodes[arg].insn;
            if (from != WL_NONE && loop_has(part, loop, from) && goes_on(part, loop, from)) return from;
        }
    }
    return WL_NONE;
}

static bool is_constant_of_turn(const CasePart *part, u32 loop, u32 pc) {
    return constant_moved_by(part, loop, pc) != WL_NONE;
}

// Turns that find their constant in one line of the cache of such constants.
static f64 turns_of_line(const CasePart *part, u32 loop, u32 pc) {
    u32 by = constant_moved_by(part, loop, pc);
    const FlowInsn *in = by == WL_NONE ? NULL : case_insn(part, by);
    for (u32 u = 0; in && u < in->uses; u++) {
        const FlowOperand *o = &part->view->flow.code->operands[in->operands + in->defs + u];
        f64 step = o->kind == FLOW_IMMEDIATE ? fabs((f64)(i32)o->value) : 0;
        if (step > 0) return fmax(CONSTANT_LINE / step, 1);
    }
    return 1;
}

// Few lines of constants that turns index stay near a scheduler, and warps that are elsewhere take them away
// (bench/hwref/h200-constant-steps.tsv): turns that are one read a line once.
static void add_constants(Hit *hit, const CasePart *part, u32 loop, u32 times) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (part->insns[pc].loop == loop && is_constant_of_turn(part, loop, pc))
            hit_blamed(hit, part, pc, STALL_BIT(IMC_MISS), 1 - 1 / fmin(times, turns_of_line(part, loop, pc)));
}

static f64 waits_for_constants(const CasePart *part, u32 loop) {
    f64 waits = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        bool moves = part->insns[pc].loop == loop && is_constant_of_turn(part, loop, pc);
        for (u32 i = part->first_blaming[pc]; moves && i < part->first_blaming[pc + 1]; i++) {
            const BlameEdge *edge = &part->blame->edges[part->blaming[i]];
            if (edge->reason == STALL_IMC_MISS) waits += edge->samples * part->weight;
        }
    }
    return waits;
}

void hit_sequence(Hit *hit, const CasePart *part, u32 loop) {
    add_overhead(hit, part, loop, 1);
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (loop_has(part, loop, pc) && is_constant_of_turn(part, loop, pc)) hit_spare(hit, part, pc, 1);
}

static void spare_all(Hit *hit, const CasePart *part, const Bitset *gone) {
    for (u32 pc = bitset_next(gone, 0); pc != WL_NONE; pc = bitset_next(gone, pc + 1)) hit_spare(hit, part, pc, 1);
}

static void spare_known(Hit *hit, const CasePart *part, u32 loop) {
    Bitset gone;
    if (known_turns_mark(hit->c, part, loop, &gone)) spare_all(hit, part, &gone);
}

static f64 loads_of_turn(const CasePart *part, u32 loop) {
    f64 loads = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        loads += a->load && access_is_global(a) && part->insns[a->pc].loop == loop;
    }
    return loads;
}

// What another load of the loop had turns before is loaded once for all turns that are one, unless others may have
// written it meanwhile.
static void share_loads(Hit *hit, const CasePart *part, u32 loop, u32 times) {
    for (u32 i = 0; i < part->access_count && !part->loops[loop].tells; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!a->load || a->atomic || part->insns[a->pc].loop != loop) continue;
        u32 turns = has_stores(part, loop, access_is_shared(a)) ? 0 : access_repeats(part, a, loop);
        if (turns && turns < times) hit_unissue(hit, part, a->pc, 1 - (f64)turns / times);
    }
}

// Turns that go on within a sector miss the L1 once for all of it, whether they are one or not: what is gained on the
// others, as part of what `times` loads of sectors of their own would gain.
static f64 gain_in_sector(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop, u32 times) {
    f64 sector = a->affine ? fabs(access_step(c, part, a, loop)) / SECTOR : 1;
    if (!c->gpu || sector <= 0 || sector >= 1) return 1;
    f64 hit = (f64)c->gpu->l1_latency, miss = fmax((f64)c->gpu->l2_latency, hit), misses = sector * times;
    f64 before = times * (sector * miss + (1 - sector) * hit);
    f64 after = misses < 1 ? misses * miss + (1 - misses) * hit : miss;
    return (1 - after / before) / (1 - 1.0 / times);
}

// The same of all loads of a turn, which wait for each other.
static f64 gain_in_sectors(const AdviceCase *c, const CasePart *part, u32 loop, u32 times) {
    f64 most = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool far = a->load && access_is_global(a) && part->insns[a->pc].loop == loop;
        if (far) most = fmax(most, gain_in_sector(c, part, a, loop, times));
    }
    return most;
}

static u32 add_loads(Hit *hit, const CasePart *part, u32 loop, u32 copies, u32 times, bool *by_hand) {
    bool stores[2] = {has_stores(part, loop, false), has_stores(part, loop, true)};
    f64 together = loop_turns_together(loads_of_turn(part, loop), times);
    f64 far = case_part_together(hit->c, copies, together) * gain_in_sectors(hit->c, part, loop, times);
    u32 loads = 0;
    if (!loop_is_sequence(part, loop) || loop_ends_by_data(part, loop)) return 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool kept_back = stores[access_is_shared(a)] && !(part->insns[a->pc].traits & TRAIT_READ_ONLY);
        if (!a->load || a->atomic || part->insns[a->pc].loop != loop || !access_goes_ahead(part, a, loop)) continue;
        if (access_is_carried(part, a, loop) || (kept_back && only_such_stores(part, loop, access_is_shared(a))))
            continue;
        f64 gone = access_is_global(a) ? far : 1 - 1.0 / times;
        bool waits = hit_blamed(hit, part, a->pc, RESULTS, gone) > 0;
        loads += waits;
        *by_hand |= waits && kept_back;
    }
    return loads;
}

static void add_results(Hit *hit, const CasePart *part, u32 loop) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (part->insns[pc].loop == loop && part->insns[pc].access == WL_NONE)
            hit_overlapped(hit, part, pc, STALL_BIT(WAIT) | STALL_BIT(SHORT_SCOREBOARD), loop, 1);
    hit->change.scope_active = part->loops[loop].active;
}

static void look_at(AdviceCase *c, const CasePart *part, u32 loop) {
    const CaseLoop *l = &part->loops[loop];
    u32 copies = loop_copies(part, loop) * loop_assembled(part, loop), header = loop_line_pc(part, loop);
    if (2 * l->insns > MOST_INSNS) copies = MOST_TIMES;
    u32 times = times_of(l, copies);
    f64 known = 0;
    Bitset gone;
    bool locals = known_turns_free_locals(c, part, loop, &gone);
    u32 whole = locals ? (u32)part->view->flow.loops->loops[loop].trip_count : turns_of_whole(part, loop);
    u32 launched = whole ? 0 : known_turns_of_launch(c, part, loop, &known);
    if (launched) whole = launched, times = times < 2 ? 2 : times;
    if (times < 2) return;
    f64 fraction = 1 - 1.0 / times;
    Hit *hit = hit_begin(c);
    bool by_hand = false;
    u32 loads = add_loads(hit, part, loop, copies, times, &by_hand);
    share_loads(hit, part, loop, whole ? whole : times);
    add_results(hit, part, loop);
    hit->change.hidden *= fraction;
    hit->change.scope_active *= times - 1;
    if (!whole) add_constants(hit, part, loop, times);
    if (locals)
        spare_all(hit, part, &gone);
    else if (launched)
        spare_known(hit, part, loop);
    else if (whole)
        hit_sequence(hit, part, loop);
    else
        add_overhead(hit, part, loop, fraction);
    hit_edit(hit, EDIT_UNROLLED, part, loop_header_pc(part, loop), 1);
    f64 share = 100 * case_share(c, l->active + l->stalled);
    hit_fact(hit, "loop_share", share, "%", "%.0f %% of the kernel's samples are in the loop, %.0f %% wait", share,
             100 * case_share(c, l->stalled));
    if (l->trips > 0) hit_fact(hit, "loop_trip_count", l->trips, "turns", "it turns %.0f times", l->trips);
    if (copies > 1)
        hit_fact(hit, "unrolled", copies, "turns", "%u turns of it are one already: the compiler unrolled it", copies);
    if (loads)
        hit_fact(hit, "independent_loads", loads, "loads", "%u of its loads could start before the turn before ends",
                 loads);
    f64 constants = 100 * case_share(c, waits_for_constants(part, loop));
    if (constants >= 1)
        hit_fact(hit, "constants_of_turns", constants, "%",
                 "%.0f %% wait for constants at places that each turn moves on, of which a scheduler keeps few lines",
                 constants);
    if (launched)
        hit_fact(
            hit, "known_share", 100 * known, "%",
            "%.0f %% of what it issues is made of the turn's number alone: constants, if an argument of the launch "
            "did not say how many turns there are",
            100 * known);
    hit_basis(hit, "equation 5, and equation 2 for loads of %u turns under way at once", times);
    hit_caution(hit, "more registers are needed: check that the occupancy stays%s",
                by_hand ? "; the compiler keeps loads behind stores: load for several turns before the first store"
                        : "");
    if (launched)
        return hit_end_loop(hit, part, loop,
                            "Make the number of turns at %s a constant (a template argument) and unroll",
                            place_text(c, part, header));
    hit_end_loop(hit, part, loop, "Unroll the loop at %s %u times", place_text(c, part, header),
                 (whole ? whole : times) * copies);
}

// --- loops that the compiler unrolled for more turns than there are --------------------------------------------------
// Of a loop whose turns only the launch knows compilers make one of sixteen turns at once and code for what is left
// over. Where there are few turns, that code is all that runs, and its tests and counting are most of it. With the
// number as a constant all turns of it and of the loop around it are one sequence.

// Loops within that were hardly seen running: less than twice for each time that they were come to.
#define ONCE 1.5  // turns

static bool has_idle_loops_only(const CasePart *part, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    u32 within = 0;
    for (u32 l = 0; l < loops->loop_count; l++) {
        if (loops->loops[l].parent != loop) continue;
        bool runs = part->loops[l].active + part->loops[l].stalled > 0;
        if (runs && (part->loops[l].trips <= 0 || part->loops[l].trips > ONCE)) return false;
        within++;
    }
    return within > 0;
}

// One of the loops of few turns that compilers make of one, some turns at once and the rest.
static bool is_piece(const CasePart *part, u32 loop) {
    const FlowLoop *loops = part->view->flow.loops->loops;
    u32 line = loop_line_pc(part, loop), count = 0;
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
        if (!part->loops[l].innermost || loops[l].parent != loops[loop].parent || part->loops[l].active <= 0) continue;
        if (!same_line(part, line, loop_line_pc(part, l))) continue;
        if (part->loops[l].trips >= LEAST_TRIPS) return false;
        count++;
    }
    return count > 1;
}

// An argument of the launch says how often it turns.
static bool ends_by_argument(AdviceCase *c, const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    for (u32 i = 0; i < l->block_count; i++) {
        const FlowBlock *b = &flow->cfg->blocks[flow->loops->members[l->blocks + i]];
        bool leaves = false;
        for (u32 k = 0; k < b->succ_count; k++)
            leaves |= !flow_loop_has(flow->loops, loop, flow->cfg->edges[b->succs + k]);
        if (leaves && b->count && guard_has_argument(c, part, b->first + b->count - 1)) return true;
    }
    return false;
}

// Constants and the launch's arguments decide every way in the loop.
static bool goes_as_launched(AdviceCase *c, const CasePart *part, u32 loop) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (loop_has(part, loop, pc) && case_insn(part, pc)->kind == FLOW_BRANCH && guard_differs(c, part, pc))
            return false;
    return true;
}

bool insn_only_counts(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    bool argument = in->is_load && (in->space == SPACE_CONST || in->space == SPACE_PARAM);
    if (in->kind == FLOW_BRANCH || argument) return true;
    if (case_access(part, pc) || !(part->insns[pc].traits & TRAIT_ARITHMETIC)) return false;
    if (in->unit == UNIT_FMA || in->unit == UNIT_FP64 || in->unit == UNIT_XU) return false;
    for (u32 d = 0; d < in->defs; d++)
        if (node_is_loaded(part, chains->of_operand[in->operands + d], LOADED_STEPS)) return false;
    return true;
}

static void make_turns_constant(AdviceCase *c, const CasePart *part, u32 loop) {
    const CaseLoop *l = &part->loops[loop];
    f64 runs = block_runs(part, part->view->flow.loops->loops[loop].header);
    bool few = l->trips > 1 && runs > 0 && l->active / runs * l->trips <= MOST_INSNS;
    if (!few || l->has_barrier || l->has_call || loop_spins(part, loop) || !goes_as_launched(c, part, loop) ||
        !ends_by_argument(c, part, loop))
        return;
    Hit *hit = hit_begin(c);
    f64 before = l->active;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const CaseAccess *a = case_access(part, pc);
        if (!loop_has(part, loop, pc)) continue;
        if (insn_only_counts(part, pc)) hit_spare(hit, part, pc, 1);
        if (a && a->load && !a->atomic) hit_blamed(hit, part, pc, RESULTS, 1 - 1 / l->trips);
    }
    if (hit->change.issues <= 0) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / before;
    hit_fact(hit, "counting_share", share, "%",
             "%.0f %% of what the loop issues counts, tests and finds places: the compiler unrolled it, or a loop "
             "within, for "
             "more turns than there are",
             share);
    hit_fact(hit, "loop_trip_count", l->trips, "turns", "it turns %.0f times, which the launch's arguments decide",
             l->trips);
    hit_basis(hit, "equation 2 over what only counts, and for loads of all turns under way at once");
    hit_caution(hit, "a kernel for each number that occurs; more registers are needed: check that the occupancy stays");
    hit_end_loop(hit, part, loop, "Make the number of turns at %s a constant (a template argument) and unroll",
                 place_text(c, part, loop_line_pc(part, loop)));
}

// --- loops around loops ----------------------------------------------------------------------------------------------
// Compilers move no load ahead of a loop within: unrolled, each turn still waits for its own. Who loads for several
// turns into registers first waits once for all of them. (Where only ways meet in a turn, code-reordering says so.)

// Whether one of the loops within is one in machine code as well: of PTX with a known number of turns it may not be.
static bool has_loop_within(const CasePart *part, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    for (u32 l = 0; l < loops->loop_count; l++)
        if (loops->loops[l].parent == loop && (part->view->kind != VIEW_PTX || loops->loops[l].trip_count <= 0))
            return true;
    return false;
}

static bool is_in_every_turn(const CasePart *part, u32 loop, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    for (u32 i = 0; i < l->latch_count; i++) {
        u32 latch = flow->loops->members[l->latches + i];
        if (!dom_dominates(flow->dominators, flow->cfg->block_of[pc], latch)) return false;
    }
    return true;
}

static bool may_load_first(const CasePart *part, const CaseAccess *a, u32 loop) {
    return a->load && !a->atomic && access_is_global(a) && a->requests > 0 && part->insns[a->pc].loop == loop &&
           !(part->insns[a->pc].traits & TRAIT_ASYNC) && access_goes_ahead(part, a, loop) &&
           !access_is_carried(part, a, loop) && is_in_every_turn(part, loop, a->pc);
}

static void load_turns_first(AdviceCase *c, const CasePart *part, u32 loop) {
    const CaseLoop *l = &part->loops[loop];
    u32 loads = 0, times = MOST_TIMES;
    for (u32 i = 0; i < part->access_count; i++) loads += may_load_first(part, &part->accesses[i], loop);
    while (times > 1 && l->trips > 0 && 2 * times > l->trips) times /= 2;
    times = (u32)loop_turns_together(loads, times);
    if (!loads || times < 2 || l->tells || loop_ends_by_data(part, loop)) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_turns_first);
    for (u32 i = 0; i < part->access_count; i++)
        if (may_load_first(part, &part->accesses[i], loop))
            hit_blamed(hit, part, part->accesses[i].pc, STALL_BIT(LONG_SCOREBOARD), case_part_together(c, 1, times));
    if (hit->change.stalls <= 0) return hit_drop(hit);
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "load_wait_share", share, "%", "%.0f %% of the samples wait for %u load%s of each turn alone", share,
             loads, plural(loads));
    hit_basis(hit, "equation 2 for loads of %u turns under way at once", times);
    hit_caution(hit, "more registers are needed: check that the occupancy stays");
    hit_end_loop(hit, part, loop, "Unroll the loop at %s %u times, the loads of all turns first",
                 place_text(c, part, loop_line_pc(part, loop)), times);
}

// --- the rule --------------------------------------------------------------------------------------------------------
void rule_loop_unrolling(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
            const CaseLoop *loop = &part->loops[l];
            bool short_loop = loop->trips > 0 && loop->trips < LEAST_TRIPS;
            bool pieces = has_idle_loops_only(part, l) || (loop->innermost && short_loop && is_piece(part, l));
            if (loop->active > 0 && pieces) make_turns_constant(c, part, l);
            if (loop->innermost && loop->active > 0 && !loop_spins(part, l) && !loop->has_barrier && !loop->has_call &&
                !short_loop)
                look_at(c, part, l);
            if (has_loop_within(part, l) && loop_goes_on(part, l) && !loop->has_barrier && !loop->has_call &&
                !short_loop)
                load_turns_first(c, part, l);
        }
    }
}
