// SPDX-License-Identifier: Apache-2.0
// register-reuse, several results for each thread. Of rows and columns: each thread of a tile meets the values of its
// row with those of its column, one with one, so that for every two values from shared memory there is one result's
// arithmetic. Who computes T rows' and columns' meetings has T * T of them for 2 T values, and CTAs fill tiles for T
// times as many results. From global memory, too, where the loop has no tiles or was unrolled altogether. Of lists:
// each thread meets every value of a list in shared memory with its own; who has T of its own loads the list once for T
// results. Of CTAs: what all of a row or a column of the grid load is loaded once by one that does the work of several.
#include <math.h>

#include "analyze/advice/rule.h"

enum { MOST_SIDE = 4, WORD = 4, BUSY_WARPS = 2 /* of a scheduler: with many results each waits for nobody */ };

typedef enum Side { SIDE_NONE, SIDE_ROW, SIDE_COLUMN } Side;

// Whether lanes of a CTA's row, or of its column, all load the same. How far rows lie apart in global memory is often
// known at launch only.
static Side side_of(const CaseAccess *a) {
    bool plain = a && a->load && !a->atomic && (access_is_shared(a) || access_is_global(a)) && a->requests > 0;
    if (!plain || !a->affine || a->affine->stride_kind[0] != AFFINE_STRIDE_CONSTANT ||
        a->affine->stride_kind[1] == AFFINE_STRIDE_UNKNOWN)
        return SIDE_NONE;
    bool x = a->affine->stride[0] != 0,
         y = a->affine->stride_kind[1] == AFFINE_STRIDE_SYMBOLIC || a->affine->stride[1] != 0;
    return x && !y ? SIDE_COLUMN : y && !x ? SIDE_ROW : SIDE_NONE;
}

static Side side_of_use(const CasePart *part, u32 pc, u32 use) {
    u32 from = insn_source(part, pc, use);
    return from == WL_NONE ? SIDE_NONE : side_of(case_access(part, from));
}

// Takes a value of the thread's row and one of its column.
static bool meets(const CasePart *part, u32 pc) {
    bool found[SIDE_COLUMN + 1] = {false};
    if (case_access(part, pc)) return false;
    for (u32 u = 0; u < case_insn(part, pc)->uses; u++) found[side_of_use(part, pc, u)] = true;
    return found[SIDE_ROW] && found[SIDE_COLUMN];
}

// One value of each side for every meeting: no thread has several rows or columns yet. In no loop (WL_NONE): as many
// meetings as a loop that was unrolled leaves.
enum { LEAST_MEETINGS = 8 };

static bool is_one_by_one(const CasePart *part, u32 loop) {
    u32 words = 0, meetings = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (part->insns[pc].loop != loop) continue;
        if (side_of(case_access(part, pc))) words += case_access(part, pc)->bytes / WORD;
        meetings += meets(part, pc);
    }
    return meetings >= (loop == WL_NONE ? LEAST_MEETINGS : 1) && 2 * meetings <= words;
}

static bool is_global_side(const CaseAccess *a) { return side_of(a) && access_is_global(a); }

static bool has_global_sides(const CasePart *part, u32 loop) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (part->insns[pc].loop == loop && is_global_side(case_access(part, pc))) return true;
    return false;
}

// The loop that fills the tiles.
static u32 loop_of_tiles(const CasePart *part, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    while (loop != WL_NONE && !part->loops[loop].has_barrier) loop = loops->loops[loop].parent;
    return loop;
}

bool warps_suffice(const AdviceCase *c, u32 results) {
    const ProfileLaunch *l = c->view->launches.typical;
    if (!l || !c->gpu) return false;
    f64 ctas = (f64)l->grid[0] * l->grid[1] * l->grid[2], warps = ctas * c->view->occupancy.warps_per_cta;
    return warps / results >= (f64)(c->gpu->sms * c->gpu->warp_schedulers * BUSY_WARPS);
}

// Rows and columns of a thread, so many that the SMs still have warps enough; 1: there are too few CTAs.
static u32 side_that_fits(const AdviceCase *c) {
    const ProfileLaunch *l = c->view->launches.typical;
    u32 side = MOST_SIDE;
    if (!l || l->block[0] < MOST_SIDE || l->block[1] < MOST_SIDE) return 1;
    while (side > 1 && !warps_suffice(c, side * side)) side /= 2;
    return side;
}

// What is there once for several results: loads, tiles, barriers and counting; where a loop was unrolled altogether
// (WL_NONE) the loads and their places, as what comes behind it is there for each result.
static bool is_there_once(const CasePart *part, u32 tiles, u32 pc, bool (*of_tile)(const CaseAccess *)) {
    const CaseInsn *in = &part->insns[pc];
    const CaseAccess *a = case_access(part, pc);
    if (tiles == WL_NONE)
        return in->loop == WL_NONE && (a ? of_tile(a) : in->traits & TRAIT_ARITHMETIC && insn_only_counts(part, pc));
    return loop_has(part, tiles, pc) && (a || in->traits & TRAIT_BARRIER || insn_only_counts(part, pc));
}

// Returns the hottest load of the loop.
static u32 do_once(Hit *hit, const CasePart *part, u32 tiles, u32 loop, f64 fewer,
                   bool (*of_tile)(const CaseAccess *)) {
    u32 at = WL_NONE;
    f64 most = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const CaseInsn *in = &part->insns[pc];
        if (!is_there_once(part, tiles, pc, of_tile)) continue;
        hit_spare(hit, part, pc, fewer);
        bool hot = in->loop == loop && of_tile(case_access(part, pc)) && in->issued + in->blamed > most;
        if (hot) most = in->issued + in->blamed, at = pc;
    }
    return at;
}

static bool is_of_side(const CaseAccess *a) { return side_of(a) != SIDE_NONE; }

// --- what is made of one side alone ----------------------------------------------------------------------------------
// Bits by value (node): made of the row's values, of the column's; what comes from ahead of the loop and differs
// between threads counts as both.
enum { OF_ROW = 1, OF_COLUMN = 2, OF_BOTH = OF_ROW | OF_COLUMN, MOST_PASSES = 8 };

static u8 made_of(const CasePart *part, const ChainNode *n, const u8 *of) {
    const Chains *chains = part->view->flow.chains;
    u8 all = 0;
    for (u32 i = 0; i < n->arg_count; i++) {
        u32 arg = chains->args[n->args + i];
        all |= arg == WL_NONE ? OF_BOTH : of[arg];
    }
    if (n->insn == WL_NONE) return all;
    const CaseAccess *a = case_access(part, n->insn);
    const FlowInsn *in = case_insn(part, n->insn);
    Side side = side_of(a);
    if (side) return side == SIDE_ROW ? OF_ROW : OF_COLUMN;
    if (a || !(part->insns[n->insn].traits & TRAIT_ARITHMETIC)) return in->is_load && !a ? 0 : OF_BOTH;
    for (u32 u = 0; u < in->uses; u++) {
        u32 used = chains->of_operand[in->operands + in->defs + u];
        all |= used == WL_NONE ? 0 : of[used];
    }
    return all;
}

// NULL: memory is out.
static const u8 *sides_of_values(AdviceCase *c, const CasePart *part, u32 tiles) {
    const FlowResults *flow = &part->view->flow;
    u32 count = flow->chains->node_count;
    u8 *of = ARENA_ARRAY(c->scratch, u8, count + 1);
    bool changed = of != NULL;
    if (!of) c->status = STATUS_NO_MEMORY;
    for (u32 pass = 0; pass < MOST_PASSES && changed; pass++) {
        changed = false;
        for (u32 node = 0; node < count; node++) {
            const ChainNode *n = &flow->chains->nodes[node];
            bool within = flow_loop_has(flow->loops, tiles, n->block);
            u8 now = within ? made_of(part, n, of) : bitset_has(&flow->divergence->nodes, node) ? OF_BOTH : 0;
            changed |= now != of[node];
            of[node] = now;
        }
    }
    return of;
}

// Arithmetic on the values of a row, or of a column, is there once for all results of it as well: sums of them, say.
static void make_once(Hit *hit, const CasePart *part, u32 tiles, f64 fewer) {
    const Chains *chains = part->view->flow.chains;
    const u8 *of = tiles == WL_NONE ? NULL : sides_of_values(hit->c, part, tiles);
    for (u32 pc = 0; pc < part->view->insn_count && of; pc++) {
        const FlowInsn *in = case_insn(part, pc);
        u32 node = in->defs ? chains->of_operand[in->operands] : WL_NONE;
        bool makes = node != WL_NONE && part->insns[pc].traits & TRAIT_ARITHMETIC && loop_has(part, tiles, pc);
        if (!makes || insn_only_counts(part, pc) || case_access(part, pc)) continue;
        if (of[node] == OF_ROW || of[node] == OF_COLUMN) hit_spare(hit, part, pc, fewer);
    }
}

static void say_share(Hit *hit, const char *why) {
    f64 share = 100 * hit->change.issues / hit->c->load.issued;
    hit_fact(hit, "moves_share", share, "%", "%.0f %% of what is issued would not be needed: %s", share, why);
    hit->doubtful = true;
}

static void tile_loop(AdviceCase *c, const CasePart *part, u32 loop, u32 side) {
    bool global = has_global_sides(part, loop);
    u32 tiles = global ? loop : loop_of_tiles(part, loop);
    if ((tiles == WL_NONE && !global) || !is_one_by_one(part, loop)) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, global ? TEXT_global_tiles : TEXT_tiles);
    u32 at = do_once(hit, part, tiles, loop, 1 - 1.0 / side, is_of_side);
    if (at == WL_NONE) return hit_drop(hit);
    make_once(hit, part, tiles, 1 - 1.0 / side);
    say_share(hit, "for each meeting of a row with a column two values are loaded");
    hit_basis(hit, "equation 2: loads, tiles and counting once for %u results each", side);
    if (global)
        hit_caution(hit, "a thread has %u results in registers: check that the occupancy stays", side * side);
    else
        hit_caution(hit,
                    "a thread has %u sums in registers, and a tile of shared memory is %u times as large: check that "
                    "the occupancy stays",
                    side * side, side);
    hit_end_line(hit, part, at, "Let a thread compute %u x %u results, each value loaded at %s serving %u", side, side,
                 place_text(c, part, at), side);
}

// --- lists -----------------------------------------------------------------------------------------------------------
enum { MOST_RESULTS = 4 };
#define USES 2.0  // of a value, for one result: where there are more a thread has several already

// One value of shared memory for all threads.
static bool is_of_list(const CaseAccess *a) {
    return a && a->load && !a->atomic && access_is_shared(a) && a->requests > 0 && a->uniform && a->bytes >= WORD;
}

static u32 users_of(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    u32 count = 0;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        if (node != WL_NONE) count += chains->first_user[node + 1] - chains->first_user[node];
    }
    return count;
}

// Nothing but values of the list is loaded in the loop, each for one result.
static bool goes_over_list(const CasePart *part, u32 loop) {
    f64 words = 0, users = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const CaseAccess *a = case_access(part, pc);
        if (part->insns[pc].loop != loop || !a) continue;
        if (!is_of_list(a)) return false;
        words += a->bytes / (f64)WORD;
        users += users_of(part, pc);
    }
    return words > 0 && users <= USES * words;
}

// Results of a thread, so many that the SMs still have warps enough; 1: there are too few CTAs.
static u32 results_that_fit(const AdviceCase *c) {
    u32 results = MOST_RESULTS;
    while (results > 1 && !warps_suffice(c, results)) results /= 2;
    return results;
}

static void share_list(AdviceCase *c, const CasePart *part, u32 loop, u32 results) {
    u32 tiles = loop_of_tiles(part, loop);
    if (!part->loops[loop].innermost || tiles == WL_NONE || tiles == loop || !goes_over_list(part, loop)) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_lists);
    u32 at = do_once(hit, part, tiles, loop, 1 - 1.0 / results, is_of_list);
    if (at == WL_NONE) return hit_drop(hit);
    say_share(hit, "each value of the list is loaded by a thread for one result");
    hit_basis(hit, "equation 2: loads, tiles and counting once for %u results", results);
    hit_caution(hit, "a thread has the values and sums of %u results in registers: check that the occupancy stays",
                results);
    hit_end_line(hit, part, at, "Let a thread compute %u results, each value loaded at %s serving all of them", results,
                 place_text(c, part, at));
}

// --- what other CTAs load as well ------------------------------------------------------------------------------------
#define MOSTLY 0.3  // of what keeps the L2 busy

// Along which axis of the grid all CTAs load the same, as the address says; 3: none.
static u32 axis_of_all(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    const ProfileLaunch *l = c->view->launches.typical;
    const Affine *affine = part->view->flow.affine;
    bool has[3] = {false};
    if (!a->load || a->atomic || !access_is_global(a) || a->gathered || a->uniform || !a->affine || a->requests <= 0)
        return 3;
    const AffineForm *form = &affine->forms[a->affine->form];
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[form->terms + t].factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[affine->terms[form->terms + t].factors[i]];
            if (f->kind == AFFINE_NODE) return 3;
            if (f->kind == AFFINE_SREG && f->id == SREG_CTAID && f->component < 3) has[f->component] = true;
        }
    for (u32 axis = 3; axis-- > 0;)
        if (!has[axis] && l->grid[axis] >= 2 * MOST_RESULTS && (has[0] || has[1] || has[2])) return axis;
    return 3;
}

// Where the L2 is the limit, and what it is asked for is the same for CTAs of a row or a column of the grid: one that
// does the work of several asks once.
static void share_with_ctas(AdviceCase *c, const CasePart *part, u32 results) {
    f64 saved = 0, most = 0, fewer = 1 - 1.0 / results;
    u32 at = WL_NONE;
    if (c->load.busy[RESOURCE_L2] < EXPLAINED || results < 2) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_ctas);
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        const CaseInsn *in = &part->insns[a->pc];
        if (axis_of_all(c, part, a) == 3) continue;
        saved += in->use[RESOURCE_L2];
        hit_spare(hit, part, a->pc, fewer);
        if (in->use[RESOURCE_L2] > most) most = in->use[RESOURCE_L2], at = a->pc;
    }
    if (at == WL_NONE || saved < MOSTLY * c->load.busy[RESOURCE_L2]) return hit_drop(hit);
    f64 share = 100 * saved / c->load.busy[RESOURCE_L2];
    hit_fact(hit, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 100 * c->load.busy[RESOURCE_L2], "%",
             "the L2 is busy %.0f %% of the time, %.0f %% of it with what other CTAs of the grid load, too",
             100 * c->load.busy[RESOURCE_L2], fmin(share, 100));
    hit_basis(hit, "equation 2: these loads once for %u results", results);
    hit_caution(hit, "a thread has %u results in registers: check that the occupancy stays", results);
    hit->doubtful = true;
    hit_end_line(hit, part, at,
                 "Let a thread compute the results of %u CTAs, each value loaded at %s serving all of them", results,
                 place_text(c, part, at));
}

void reuse_in_tiles(AdviceCase *c) {
    u32 side = side_that_fits(c), results = results_that_fit(c);
    if (c->part_count) share_with_ctas(c, &c->parts[0], results);
    for (u32 p = 0; p < c->part_count; p++) {
        if (side > 1) tile_loop(c, &c->parts[p], WL_NONE, side);
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++) {
            if (c->parts[p].loops[l].active <= 0) continue;
            if (side > 1) tile_loop(c, &c->parts[p], l, side);
            if (results > 1) share_list(c, &c->parts[p], l, results);
        }
    }
}
