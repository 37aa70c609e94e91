// SPDX-License-Identifier: Apache-2.0
// register-reuse, results of rows and columns: each thread of a tile meets the values of its row with those of its
// column, one with one, so that for every two values from shared memory there is one result's arithmetic. Who computes
// T rows' and columns' meetings has T * T of them for 2 T values, and CTAs fill tiles for T times as many results.
#include "analyze/advice/rule.h"

enum { MOST_SIDE = 4, WORD = 4, BUSY_WARPS = 2 /* of a scheduler: with many results each waits for nobody */ };

typedef enum Side { SIDE_NONE, SIDE_ROW, SIDE_COLUMN } Side;

// Whether lanes of a CTA's row, or of its column, all load the same.
static Side side_of(const CaseAccess *a) {
    bool plain = a && a->load && !a->atomic && access_is_shared(a) && a->requests > 0 && a->affine;
    if (!plain || a->affine->stride_kind[0] != AFFINE_STRIDE_CONSTANT ||
        a->affine->stride_kind[1] != AFFINE_STRIDE_CONSTANT)
        return SIDE_NONE;
    i64 x = a->affine->stride[0], y = a->affine->stride[1];
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

// One value of each side for every meeting: no thread has several rows or columns yet.
static bool is_one_by_one(const CasePart *part, u32 loop) {
    u32 words = 0, meetings = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (part->insns[pc].loop != loop) continue;
        if (side_of(case_access(part, pc))) words += case_access(part, pc)->bytes / WORD;
        meetings += meets(part, pc);
    }
    return meetings && 2 * meetings <= words;
}

// The loop that fills the tiles.
static u32 loop_of_tiles(const CasePart *part, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    while (loop != WL_NONE && !part->loops[loop].has_barrier) loop = loops->loops[loop].parent;
    return loop;
}

// Rows and columns of a thread, so many that the SMs still have warps enough; 1: there are too few CTAs.
static u32 side_that_fits(const AdviceCase *c) {
    const ProfileLaunch *l = c->view->launches.typical;
    if (!l || !c->gpu || l->block[0] < MOST_SIDE || l->block[1] < MOST_SIDE) return 1;
    f64 ctas = (f64)l->grid[0] * l->grid[1] * l->grid[2], warps = ctas * c->view->occupancy.warps_per_cta;
    for (u32 side = MOST_SIDE; side > 1; side /= 2)
        if (warps / (side * side) >= (f64)(c->gpu->sms * c->gpu->warp_schedulers * BUSY_WARPS)) return side;
    return 1;
}

static void tile_loop(AdviceCase *c, const CasePart *part, u32 loop, u32 side) {
    u32 tiles = loop_of_tiles(part, loop);
    if (tiles == WL_NONE || !is_one_by_one(part, loop)) return;
    Hit *hit = hit_begin(c);
    f64 fewer = 1 - 1.0 / side, most = 0;
    u32 at = WL_NONE;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const CaseInsn *in = &part->insns[pc];
        if (!loop_has(part, tiles, pc)) continue;
        bool moves = case_access(part, pc) || in->traits & TRAIT_BARRIER;
        if (moves || insn_only_counts(part, pc)) hit_spare(hit, part, pc, fewer);
        bool of_tile = in->loop == loop && side_of(case_access(part, pc));
        if (of_tile && in->issued + in->blamed > most) most = in->issued + in->blamed, at = pc;
    }
    if (at == WL_NONE) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(
        hit, "moves_share", share, "%",
        "%.0f %% of what is issued would not be needed: for each meeting of a row with a column two values are loaded",
        share);
    hit_basis(hit, "equation 2: loads, tiles and counting once for %u results each", side);
    hit_caution(hit,
                "a thread has %u sums in registers, and a tile of shared memory is %u times as large: check that the "
                "occupancy stays",
                side * side, side);
    hit->doubtful = true;
    hit_end_line(hit, part, at, "Let a thread compute %u x %u results, each value loaded at %s serving %u", side, side,
                 place_text(c, part, at), side);
}

void reuse_in_tiles(AdviceCase *c) {
    u32 side = side_that_fits(c);
    for (u32 p = 0; p < c->part_count && side > 1; p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++)
            if (c->parts[p].loops[l].active > 0) tile_loop(c, &c->parts[p], l, side);
}
