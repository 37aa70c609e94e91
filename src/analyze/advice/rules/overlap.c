// SPDX-License-Identifier: Apache-2.0
// code-reordering, async-copy: loads that are waited for right after they start. What the loop does besides waiting for
// them could go on meanwhile, other waits included: equation 5 with that as the active part.
#include <math.h>

#include "analyze/advice/rule.h"

#define LOAD_WAITS (STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(BARRIER))
enum { WORD = 4 };  // bytes: a register of each thread holds what it brings to a tile for the next turn

static bool is_shared_store(const CasePart *part, u32 pc, u32 from) {
    const CaseAccess *a = case_access(part, pc);
    const FlowInsn *in = case_insn(part, pc);
    (void)from;
    return a && a->store && !a->load && access_is_shared(a) && in->is_store;
}

static bool goes_to_shared(const CasePart *part, u32 pc) { return insn_feeds(part, pc, 1, is_shared_store); }

// What a turn takes over from the one before, be it through arithmetic; it must not wait for what is loaded in it.
typedef struct Carried {
    const CasePart *part;
    u32 loop;
    bool carried;  // found
} Carried;

enum { ARITHMETIC_STEPS = 8, MOST_COPIES = 8 /* turns of the source's in one */ };

static bool is_taken_over(Carried *x, u32 node, u32 depth) {
    const FlowResults *flow = &x->part->view->flow;
    const Chains *chains = flow->chains;
    if (node == WL_NONE || !flow_loop_has(flow->loops, x->loop, chains->nodes[node].block)) return true;
    if (chains->nodes[node].insn == WL_NONE) {
        bool header = chains->nodes[node].block == flow->loops->loops[x->loop].header;
        x->carried |= header;
        return header;
    }
    u32 pc = chains->nodes[node].insn;
    const FlowInsn *in = case_insn(x->part, pc);
    if (!depth || case_access(x->part, pc) || !(x->part->insns[pc].traits & TRAIT_ARITHMETIC)) return false;
    for (u32 u = 0; u < in->uses; u++)
        if (!is_taken_over(x, chains->of_operand[in->operands + in->defs + u], depth - 1)) return false;
    return true;
}

static bool address_is_taken_over(const CasePart *part, u32 pc, u32 loop) {
    const FlowInsn *in = case_insn(part, pc);
    Carried x = {.part = part, .loop = loop};
    if (in->address_use == 0xff) return false;
    u32 node = part->view->flow.chains->of_operand[in->operands + in->defs + in->address_use];
    return is_taken_over(&x, node, ARITHMETIC_STEPS) && x.carried;
}

// The instruction of the loop that a value comes from, but for those that only move it, or make it an address with what
// all turns have; WL_NONE: none, or several.
static u32 comes_from(const CasePart *part, u32 node, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const Chains *chains = flow->chains;
    for (u32 i = 0; i < ARITHMETIC_STEPS && node != WL_NONE; i++) {
        u32 pc = chains->nodes[node].insn, only = WL_NONE;
        if (pc == WL_NONE || case_access(part, pc)) return pc;
        const FlowInsn *in = case_insn(part, pc);
        for (u32 u = 0; u < in->uses; u++) {
            u32 from = chains->of_operand[in->operands + in->defs + u];
            if (from == WL_NONE || !flow_loop_has(flow->loops, loop, chains->nodes[from].block)) continue;
            if (only != WL_NONE && from != only) return WL_NONE;
            only = from;
        }
        node = part->insns[pc].traits & TRAIT_ARITHMETIC ? only : WL_NONE;
    }
    return WL_NONE;
}

// Whether where the access goes is known when the turn begins, or, of a turn that several of the source's have become,
// when another such load has come.
static bool is_next(const CasePart *part, u32 pc, u32 loop, u32 depth) {
    const FlowInsn *in = case_insn(part, pc);
    if (in->address_use == 0xff) return false;
    if (address_is_taken_over(part, pc, loop)) return true;
    u32 from = comes_from(part, part->view->flow.chains->of_operand[in->operands + in->defs + in->address_use], loop);
    const CaseAccess *link = from == WL_NONE ? NULL : case_access(part, from);
    return depth && link && link->load && loop_has(part, loop, from) && is_next(part, from, loop, depth - 1);
}

// A list: where the next turn's data is stands in a word whose place is known when the turn begins. The value that the
// loop takes over comes from such a load, not from a decision.
static bool follows_list(const CasePart *part, const CaseAccess *a, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    bool links = false;
    if (!is_next(part, a->pc, loop, MOST_COPIES)) return false;
    for (u32 n = flow->chains->def_count; n < flow->chains->node_count; n++) {
        const ChainNode *node = &flow->chains->nodes[n];
        for (u32 i = 0; node->block == flow->loops->loops[loop].header && i < node->arg_count; i++) {
            u32 pc = comes_from(part, flow->chains->args[node->args + i], loop);
            const CaseAccess *link = pc == WL_NONE ? NULL : case_access(part, pc);
            links |= link && link->load && loop_has(part, loop, pc) && is_next(part, pc, loop, MOST_COPIES);
        }
    }
    return links;
}

static bool is_candidate(const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && access_is_global(a) && a->requests > 0 &&
           !(part->insns[a->pc].traits & TRAIT_ASYNC) && part->insns[a->pc].loop != WL_NONE;
}

static f64 loop_samples(const CasePart *part, u32 loop) { return part->loops[loop].active + part->loops[loop].stalled; }

// --- async-copy ----------------------------------------------------------------------------------------------------
static bool has_async(const AdviceCase *c) { return !c->gpu || c->gpu->sm_version >= 80; }

static void remove_store(Hit *hit, const CasePart *part, u32 load) {
    const FlowInsn *in = case_insn(part, load);
    const Chains *chains = part->view->flow.chains;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        if (node == WL_NONE) continue;
        for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
            u32 user = chains->users[i].insn;
            if (user != WL_NONE && is_shared_store(part, user, load)) hit_unissue(hit, part, user, 1.0 / in->defs);
        }
    }
}

// The innermost loop around the load that also waits at a barrier; without one there is nothing to overlap with.
static u32 loop_with_barrier(const CasePart *part, u32 pc) {
    const Loops *loops = part->view->flow.loops;
    for (u32 l = part->insns[pc].loop; l != WL_NONE; l = loops->loops[l].parent)
        if (part->loops[l].has_barrier) return l;
    return WL_NONE;
}

// Where a turn's other work is much shorter than the wait, copies start several turns ahead: of the pairs in
// examples/advice those with 22, 50 and 62 % of it have buffers for three, three and two (looms, elevators and welds of
// held_out_28, 29 and 32), those with 76 % and more for one (vowels, wave_tile, gravestones).
enum { MOST_TURNS = 8 };
#define HIDES_MOST (2.0 / 3)  // of the wait

// Turns for whose buffers there is shared memory beside as many CTAs as are resident now; all that a CTA has is taken
// to be the tile.
static f64 turns_with_room(const AdviceCase *c) {
    const ViewOccupancy *o = &c->view->occupancy;
    f64 tile = (f64)kernel_view_shared_bytes(c->view);
    f64 resident = o->waves > 0 ? fmin(ceil(o->waves * o->ctas_per_sm), o->ctas_per_sm) : o->ctas_per_sm;
    if (!c->gpu || tile <= 0 || resident <= 0) return 1;
    return fmax(floor((f64)c->gpu->shared_per_sm / resident / tile) - 1, 1);
}

static u32 turns_ahead(const AdviceCase *c, f64 wait, f64 work) {
    f64 turns = work > 0 && work < HIDES_MOST * wait ? ceil(wait / work) : 1;
    return (u32)fmin(fmin(turns, MOST_TURNS), turns_with_room(c));
}

// Instructions of a warp for each copy into a ring of buffers: where it goes and where the oldest is, whether there is
// another turn, the group that it belongs to and the wait for that (elevators 18, looms 10, welds 23, crankshafts 39).
#define RING_INSNS 20.0

// What so many turns' work hides of the wait, and what the copies of as many `requests` cost.
static void start_ahead(Hit *hit, u32 turns, f64 requests) {
    f64 work = hit->change.scope_active;
    hit->change.scope_active = work * turns;
    if (turns < 2) return;
    hit->change.issues -= RING_INSNS * requests;
    hit_fact(hit, "copy_turns", turns, "turns",
             "a turn's other work is %.0f %% of that wait: %u turns ahead, with as many buffers more, hide %.0f %%",
             100 * work / hit->change.hidden, turns, 100 * fmin(work * turns / hit->change.hidden, 1));
}

static void copy_ahead(AdviceCase *c, const CasePart *part, u32 loop) {
    Hit *hit = hit_begin(c);
    u32 loads = 0, at = 0, block = WL_NONE;
    f64 most = 0, of_block = 0, longest = 0, requests = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_candidate(part, a) || loop_with_barrier(part, a->pc) != loop || !goes_to_shared(part, a->pc)) continue;
        if (!access_goes_ahead(part, a, loop)) continue;
        f64 waits = hit_blamed(hit, part, a->pc, LOAD_WAITS, 1);
        if (part->view->flow.cfg->block_of[a->pc] != block) of_block = 0;
        block = part->view->flow.cfg->block_of[a->pc];
        of_block += waits;
        longest = fmax(longest, of_block);
        remove_store(hit, part, a->pc);
        requests += a->requests;
        loads++;
        if (waits >= most) most = waits, at = a->pc;
    }
    if (!loads || most <= 0) return hit_drop(hit);
    // What is loaded in one block after the other is waited for one after the other, so that it can be stored; copies
    // all start together, and the longest wait is what is left to overlap.
    hit->change.scope_active = loop_samples(part, loop) - hit->change.stalls;
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit->change.hidden = longest;
    hit->change.stalls -= longest;
    hit_fact(hit, "copy_wait_share", share, "%",
             "%.0f %% of the samples wait for %u load%s that only fill%s shared memory", share, loads, plural(loads),
             loads == 1 ? "s" : "");
    u32 turns = turns_ahead(c, longest, hit->change.scope_active);
    start_ahead(hit, turns, requests);
    hit_basis(hit, "equation 5 over %.0f %% of the samples, the rest of the loop being the active part", share);
    // held_out_13/back_projection: 32.7 million warp instructions before, 78.9 after
    hit_caution(hit,
                "a second buffer takes shared memory, which may cost occupancy; smsp__inst_executed.sum should hardly "
                "grow (a compiler may keep less out of a loop with such copies)");
    const char *place = place_text(c, part, at);
    if (turns > 1)
        return hit_end_loop(hit, part, loop, "Copy the tile at %s asynchronously, %u turns ahead", place, turns);
    hit_end_loop(hit, part, loop, "Copy the tile at %s asynchronously, one turn ahead", place);
}

void rule_async_copy(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count && has_async(c); p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++)
            if (c->parts[p].loops[l].has_barrier && loop_goes_on(&c->parts[p], l)) copy_ahead(c, &c->parts[p], l);
}

// --- code-reordering -----------------------------------------------------------------------------------------------
#define OTHERS_WRITE "only if no other thread writes there before the barrier"

static u32 nearest_use(const CasePart *part, u32 pc) {
    u32 least = UINT32_MAX;
    for (u32 i = part->first_blaming[pc]; i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *e = &part->blame->edges[part->blaming[i]];
        if (e->use != pc && e->distance < least) least = e->distance;
    }
    return least;
}

// Where the load is waited for most; WL_NONE: nowhere.
static u32 main_use(const CasePart *part, u32 pc) {
    u32 use = WL_NONE;
    f64 most = 0;
    for (u32 i = part->first_blaming[pc]; i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *e = &part->blame->edges[part->blaming[i]];
        if (e->reason == STALL_LONG_SCOREBOARD && e->use != pc && e->samples > most) most = e->samples, use = e->use;
    }
    return use;
}

// Samples of the loop's work between the load and that, in this turn or on into the next one: it overlaps the load
// already.
static f64 overlaps_already(const CasePart *part, u32 loop, u32 load) {
    u32 use = main_use(part, load);
    f64 work = 0;
    for (u32 pc = 0; use != WL_NONE && pc < part->view->insn_count; pc++) {
        bool between = use > load ? pc > load && pc < use : pc > load || pc < use;
        if (!between || !loop_has(part, loop, pc)) continue;
        f64 waits = part->weight * (f64)part->view->samples[pc].all[STALL_LONG_SCOREBOARD];
        work += part->insns[pc].issued + part->insns[pc].stalled - waits;
    }
    return work;
}

// Turns whose loads are under way together, in an unrolled loop: of so many copies of a load as few are waited for, as
// the first to arrive brings the others' wait with it. `squares`: the sum of the squares of their waits.
static f64 turns_under_way(f64 copies, f64 waits, f64 squares) {
    f64 waited_for = squares > 0 ? waits * waits / squares : copies;
    return fmax(copies / fmax(waited_for, 1), 1);
}

// A turn of W samples of waiting and R of other work, B of them between the load and its use, takes max(W + B, R) with
// its loads one turn ahead, where the value has to be moved from `next` to `now` at the turn's end, which waits for it.
// An unrolled loop has no such moves: a turn's loads start before those of the turn before have arrived, so that two
// turns' are under way and a turn takes max((W + R) / 2, R). Where `under_way` turns' are already, they wait together
// for what one turn's work is not to overlap. What fills a tile is stored to it before the next load starts.
// Where ways meet in an unrolled loop a load starts no earlier than its turn before, right ahead of the wait for that
// turn's own. Copies of a load share one of six scoreboards, on which a warp waits for all that it counts: every second
// turn it waits for the load that it has just started, and a turn takes W / 2 + R. (nvcc 13.0, control words of
// held_out_22/pinecones: four loads on scoreboard 5, 922 cycles of waiting at one of two turns, none at the other.)
static f64 work_to_overlap(const CasePart *part, u32 loop, f64 waits, f64 already, f64 under_way) {
    f64 all = loop_samples(part, loop), rest = all - waits;
    if (under_way > 0 && !loop_is_sequence(part, loop)) return waits / 2;
    if (under_way <= 0) return fmax(rest - already, 0);
    return fmax(fmax(rest / under_way, all * (1 - under_way / 2)) - already, 0);
}

// A call waits for all that is under way: the long way of a division, say, if a lane needs it. Samples of the loop's
// work from the load on that then overlap nothing any more, as often as turns make the calls before them.
static f64 work_behind_calls(const CasePart *part, u32 loop, u32 load) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    f64 turns = block_runs(part, block_of[load]), overlapped = 1, lost = 0;
    for (u32 pc = load; turns > 0 && pc < part->view->insn_count; pc++) {
        if (!loop_has(part, loop, pc)) continue;
        f64 waits = part->weight * (f64)part->view->samples[pc].all[STALL_LONG_SCOREBOARD];
        lost += (1 - overlapped) * (part->insns[pc].issued + part->insns[pc].stalled - waits);
        const SassInsn *insn = insn_machine(part, pc);
        if (insn ? insn->op == SASS_OP_CALL : case_insn(part, pc)->kind == FLOW_CALL)
            overlapped *= 1 - fmin(block_runs(part, block_of[pc]) / turns, 1);
    }
    return lost;
}

// Behind a barrier threads load what others have stored before it: of the load's array something is stored in the loop,
// or before it where it is in none, that is not the word the thread itself loads.
static bool may_be_of_others(const CasePart *part, const CaseAccess *a, u32 loop) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        bool before = loop == WL_NONE ? b->pc < a->pc : loop_has(part, loop, b->pc);
        if (before && (b->store || b->atomic) && access_is_global(b) && access_same_array(part, a, b) &&
            !access_same_address(part, a, b))
            return true;
    }
    return false;
}

static bool comes_before(const CasePart *part, u32 a, u32 b) {
    const FlowResults *flow = &part->view->flow;
    return a < b && dom_dominates(flow->dominators, flow->cfg->block_of[a], flow->cfg->block_of[b]);
}

// Loads of a turn that start behind another's wait, as where ways meet in between, wait once more. A turn ahead all
// start together: what is left is the longest wait, until the last of their lines is there.
typedef struct TurnWaits {
    const AdviceCase *c;
    const CasePart *part;
    f64 left;                               // samples of turns before this one, where several are one in the code
    f64 group, group_lines;                 // of loads that start together now: samples, lines
    f64 longest, longest_lines, all_lines;  // of the turn's groups
    u32 use;                                // the first wait of the group; WL_NONE: none yet
    u32 first;                              // the turn's first access
} TurnWaits;

static void end_turn(TurnWaits *w) {
    const AdviceCase *c = w->c;
    f64 far = c->fits_l2 ? 0 : 1, later = 1;
    if (c->gpu && w->longest > 0)
        later = case_idle_last(c, 1, far, w->all_lines) / case_idle_last(c, 1, far, w->longest_lines);
    w->left += w->longest * fmax(later, 1);
    w->longest = w->all_lines = 0;
}

// Whether the turn has a load of the same line and array already: then it is the next turn's.
static bool was_in_turn(const TurnWaits *w, u32 access) {
    const CaseAccess *a = &w->part->accesses[access];
    for (u32 i = w->first; i < access; i++) {
        const CaseAccess *b = &w->part->accesses[i];
        if (b->load && same_line(w->part, a->pc, b->pc) && access_same_array(w->part, a, b)) return true;
    }
    return false;
}

static void add_to_turn(TurnWaits *w, u32 access, f64 waits) {
    const CaseAccess *a = &w->part->accesses[access];
    u32 use = main_use(w->part, a->pc);
    if (w->use != WL_NONE && comes_before(w->part, w->use, a->pc)) {
        w->group = w->group_lines = 0, w->use = WL_NONE;
        if (was_in_turn(w, access)) end_turn(w), w->first = access;
    }
    f64 lines = fmax(a->together, 1);
    w->all_lines += fmax(lines - w->group_lines, 0);
    w->group_lines = fmax(w->group_lines, lines);
    w->group += waits;
    if (w->group > w->longest) w->longest = w->group, w->longest_lines = w->group_lines;
    if (use != WL_NONE && use > a->pc && use < w->use) w->use = use;
}

static void load_earlier(AdviceCase *c, const CasePart *part, u32 loop) {
    Hit *hit = hit_begin(c);
    u32 at = 0, distance = 0;
    bool tile = false, list = false, barrier = part->loops[loop].has_barrier;
    f64 most = 0, already = 0, squares = 0, copies = loop_copies(part, loop);
    TurnWaits turn = {.c = c, .part = part, .use = WL_NONE};
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_candidate(part, a) || part->insns[a->pc].loop != loop) continue;
        bool to_tile = goes_to_shared(part, a->pc);
        if (to_tile && a->bytes > WORD) continue;  // async-copy
        if (access_is_carried(part, a, loop)) continue;
        if (barrier && may_be_of_others(part, a, loop)) continue;
        bool ahead = access_goes_ahead(part, a, loop);
        if (!ahead && !follows_list(part, a, loop)) continue;
        list |= !ahead;
        f64 waits = hit_blamed(hit, part, a->pc, LOAD_WAITS, 1);
        tile |= to_tile;
        already += waits * overlaps_already(part, loop, a->pc);
        squares += waits * waits;
        add_to_turn(&turn, i, waits);
        if (waits > most) most = waits, at = a->pc, distance = nearest_use(part, a->pc);
    }
    if (most <= 0) return hit_drop(hit);
    f64 waits = hit->change.stalls, under_way = tile || copies <= 1 ? 0 : turns_under_way(copies, waits, squares);
    end_turn(&turn);
    // The links of a list stay behind each other.
    hit->change.hidden = under_way > 0 || list ? waits : fmin(turn.left, waits);
    hit->change.stalls -= hit->change.hidden;
    f64 work = work_to_overlap(part, loop, waits, already / waits, under_way) - work_behind_calls(part, loop, at);
    hit->change.scope_active = fmax(work, 0);
    hit_fact(hit, "load_to_use_distance", distance, "instructions",
             "the load at %s is waited for %u instruction%s after its start", place_text(c, part, at), distance,
             plural(distance));
    f64 share = 100 * case_share(c, waits);
    hit_fact(hit, "load_wait_share", share, "%", "%.0f %% of the samples wait for it and others like it", share);
    if (hit->change.stalls > 0)
        hit_fact(hit, "loads_behind_waits", 100 * case_share(c, hit->change.stalls), "%",
                 "%.0f %% of the samples wait once more, for loads that start behind the wait for another",
                 100 * case_share(c, hit->change.stalls));
    hit_basis(hit, "equation 5 over %.0f %% of the samples, the rest of the loop being the active part", share);
    if (barrier)
        hit_caution(hit, OTHERS_WRITE);
    else
        hit_text(hit, TEXT_next_turn);
    hit_end_loop(hit, part, loop, "Start the load at %s earlier, ahead of the %s", place_text(c, part, at),
                 barrier ? "barrier" : "work that does not need it");
}

// --- ... outside of loops, behind a barrier ---------------------------------------------------------------------
enum { ADDRESS_STEPS = 12 };  // of arithmetic between what is loaded and an address

typedef struct Ahead {
    const CasePart *part;
    u32 *known;    // by pc: known_from; WL_NONE: not asked for yet
    u32 *barrier;  // by access: the first barrier between where it may start and where it does; WL_NONE: none
    u32 *start;    // by access: where it may start
} Ahead;

static u32 known_from(const Ahead *x, u32 node, u32 depth);

static u32 operands_known_from(const Ahead *x, u32 pc, u32 depth) {
    const Chains *chains = x->part->view->flow.chains;
    const FlowInsn *in = case_insn(x->part, pc);
    u32 latest = known_from(x, chains->of_guard[pc], depth);
    for (u32 u = 0; u < in->uses; u++)
        latest = u32_max(latest, known_from(x, chains->of_operand[in->operands + in->defs + u], depth));
    return latest;
}

// After which instruction the value is known, if arithmetic is done as soon as it can be; 0: from the start.
static u32 known_from(const Ahead *x, u32 node, u32 depth) {
    const CasePart *part = x->part;
    const FlowResults *flow = &part->view->flow;
    if (node == WL_NONE) return 0;
    u32 pc = flow->chains->nodes[node].insn;
    if (pc == WL_NONE) return flow->cfg->blocks[flow->chains->nodes[node].block].first;
    if (x->known[pc] != WL_NONE) return x->known[pc];
    const FlowInsn *in = case_insn(part, pc);
    bool memory = case_access(part, pc) != NULL;
    bool at_once = !memory && !in->uses && !in->has_effects && in->guard == WL_NONE;  // special registers, constants
    if (at_once)
        x->known[pc] = 0;
    else if (memory || !(part->insns[pc].traits & TRAIT_ARITHMETIC) || !depth)
        x->known[pc] = pc;
    else
        x->known[pc] = operands_known_from(x, pc, depth - 1);
    return x->known[pc];
}

static bool is_kept_back(const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && access_is_global(a) && a->requests > 0 && part->insns[a->pc].loop == WL_NONE &&
           !(part->insns[a->pc].traits & TRAIT_ASYNC) && !may_be_of_others(part, a, WL_NONE);
}

static void find_barrier(const Ahead *x, u32 access) {
    const CasePart *part = x->part;
    u32 load = part->accesses[access].pc, start = operands_known_from(x, load, ADDRESS_STEPS);
    x->start[access] = start;
    for (u32 pc = start; pc < load && x->barrier[access] == WL_NONE; pc++) {
        bool stops = part->insns[pc].traits & TRAIT_BARRIER && part->insns[pc].loop == WL_NONE;
        if (stops && (!start || comes_before(part, start, pc)) && comes_before(part, pc, load)) x->barrier[access] = pc;
    }
}

static bool look_ahead(AdviceCase *c, const CasePart *part, Ahead *x) {
    *x = (Ahead){.part = part,
                 .known = ARENA_ARRAY(c->scratch, u32, part->view->insn_count + 1),
                 .barrier = ARENA_ARRAY(c->scratch, u32, part->access_count + 1),
                 .start = ARENA_ARRAY(c->scratch, u32, part->access_count + 1)};
    if (!x->known || !x->barrier || !x->start) return c->status = STATUS_NO_MEMORY, false;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) x->known[pc] = WL_NONE;
    for (u32 i = 0; i < part->access_count; i++) {
        x->barrier[i] = WL_NONE;
        if (is_kept_back(part, &part->accesses[i])) find_barrier(x, i);
    }
    return true;
}

// All loads that this barrier keeps back start together.
static void load_before(AdviceCase *c, const Ahead *x, u32 barrier) {
    const CasePart *part = x->part;
    Hit *hit = hit_begin(c);
    u32 at = 0, first = UINT32_MAX, last = 0;
    f64 most = 0, waits = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        if (x->barrier[i] != barrier) continue;
        u32 pc = part->accesses[i].pc;
        f64 own = hit_blamed(hit, part, pc, LOAD_WAITS, 1);
        waits += own;
        if (x->start[i] < first) first = x->start[i];
        last = u32_max(last, pc);
        if (own > most) most = own, at = pc;
    }
    if (most <= 0) return hit_drop(hit);
    hit->change.hidden = waits;
    hit->change.stalls = 0;
    for (u32 pc = first; pc < last; pc++) hit->change.scope_active += part->insns[pc].issued + part->insns[pc].stalled;
    f64 share = 100 * case_share(c, waits), before = 100 * case_share(c, hit->change.scope_active);
    hit_fact(hit, "load_wait_share", share, "%", "%.0f %% of the samples wait for loads that start behind the barrier",
             share);
    hit_fact(hit, "overlap_share", before, "%",
             "their addresses are known before; from there to the loads are %.0f %% of the samples", before);
    hit_basis(hit, "equation 5, what comes before the loads being the active part");
    hit_caution(hit, OTHERS_WRITE);
    hit_end_line(hit, part, at, "Start the load at %s earlier, ahead of the barrier at %s", place_text(c, part, at),
                 place_text(c, part, barrier));
}

static void load_before_barriers(AdviceCase *c, const CasePart *part) {
    Ahead x;
    if (!look_ahead(c, part, &x)) return;
    for (u32 i = 0; i < part->access_count; i++) {
        u32 j = 0;
        while (j < i && x.barrier[j] != x.barrier[i]) j++;
        if (j == i && x.barrier[i] != WL_NONE) load_before(c, &x, x.barrier[i]);
    }
}

// Where unrolling is possible the compiler moves loads by itself; barriers, calls and stores keep them in place.
void rule_code_reordering(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 l = 0; l < part->view->flow.loops->loop_count; l++)
            if (loop_goes_on(part, l)) load_earlier(c, part, l);
        load_before_barriers(c, part);
    }
}
