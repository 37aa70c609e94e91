// SPDX-License-Identifier: Apache-2.0
// Constants that registers index (ULDC, waited for as imc_miss). Of these a scheduler keeps a few lines, which its
// other warps take away while one waits: the next constant of a line that a warp has just read is missed again. When a
// change leaves nothing to wait for between the two, it is still there.
//
// On an H200 four lines of 64 bytes of a scheduler, each miss 61 cycles, an SM's misses 33 cycles apart
// (bench/hwref/h200-constant-turns.tsv, h200-constant-steps.tsv).
#include <math.h>

#include "analyze/advice/rule.h"

#define LEAST 0.02  // of the kernel's samples wait for such constants

typedef struct Waits {
    const CasePart *part;
    f64 *all, *gone;  // by pc: samples waited there for something else than constants, and those that go
    bool *told;       // ... whether something of its waits for a constant goes already
} Waits;

static bool is_indexed(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->is_load && in->space == SPACE_CONST && in->address_use != 0xff;
}

static bool in_one_line(const CasePart *part, u32 a, u32 b) {
    const FlowInsn *x = case_insn(part, a), *y = case_insn(part, b);
    const u32 *nodes = part->view->flow.chains->of_operand;
    i64 apart = y->address_offset - x->address_offset;
    return nodes[x->operands + x->defs + x->address_use] == nodes[y->operands + y->defs + y->address_use] &&
           apart > -CONSTANT_LINE && apart < CONSTANT_LINE;
}

static bool is_wait(u8 reason) {
    return !STALLED_BY_OTHERS(reason) && reason != STALL_IMC_MISS && reason != STALL_NO_INSTRUCTIONS;
}

static void add_edges(const Waits *w) {
    const CasePart *part = w->part;
    for (u32 i = 0; i < part->blame->edge_count; i++) {
        const BlameEdge *e = &part->blame->edges[i];
        if (is_wait(e->reason)) w->all[e->use] += e->samples * part->weight;
    }
}

static void add_spots(const Waits *w, const Hit *hit) {
    for (u32 i = 0; i < hit->spots.len; i++) {
        const HitSpot *s = &hit->spots.data[i];
        if (s->part != w->part) continue;
        if (is_wait(s->reason)) w->gone[s->use] += s->samples;
        if (s->reason == STALL_IMC_MISS) w->told[s->def] = true;
    }
}

// The part of the waits between two instructions of a block that goes.
static f64 gone_between(const Waits *w, u32 from, u32 to) {
    f64 all = 0, gone = 0;
    for (u32 pc = from + 1; pc <= to; pc++) all += w->all[pc], gone += w->gone[pc];
    return all > 0 ? fmin(gone / all, 1) : 0;
}

static f64 relieve_block(Hit *hit, const Waits *w, const FlowBlock *block) {
    f64 relief = 0;
    u32 before = WL_NONE;
    for (u32 pc = block->first; pc < block->first + block->count; pc++) {
        if (!is_indexed(w->part, pc)) continue;
        f64 gone = before != WL_NONE && in_one_line(w->part, before, pc) ? gone_between(w, before, pc) : 0;
        if (gone > 0 && !w->told[pc]) relief += hit_blamed(hit, w->part, pc, STALL_BIT(IMC_MISS), gone);
        before = pc;
    }
    return relief;
}

static f64 relieve_part(Hit *hit, const CasePart *part) {
    u32 count = part->view->insn_count;
    const Cfg *cfg = part->view->flow.cfg;
    f64 *sums = ARENA_ARRAY(hit->c->scratch, f64, 2 * count + 1), relief = 0;
    bool *told = ARENA_ARRAY(hit->c->scratch, bool, count + 1);
    if (!sums || !told) return hit->c->status = STATUS_NO_MEMORY, 0;
    Waits w = {part, sums, sums + count, told};
    add_edges(&w);
    add_spots(&w, hit);
    for (u32 b = 0; b < cfg->block_count; b++) relief += relieve_block(hit, &w, &cfg->blocks[b]);
    return relief;
}

void hit_constants_meet(Hit *hit) {
    AdviceCase *c = hit->c;
    f64 relief = 0;
    if (case_share(c, c->stalls[STALL_IMC_MISS]) < LEAST || hit->change.hidden > 0 || !hit->spots.len) return;
    for (u32 p = 0; p < c->part_count && c->status == STATUS_OK; p++) relief += relieve_part(hit, &c->parts[p]);
    f64 share = 100 * case_share(c, relief);
    if (share >= 1)
        hit_fact(
            hit, "constants_that_stay", share, "%",
            "constants of one line are read with less waiting in between, and found there: %.0f %% waited for them",
            share);
}
