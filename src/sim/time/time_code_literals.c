// SPDX-License-Identifier: Apache-2.0
// Literals that floating-point instructions have no room for lie in registers: which are moved there before which
// instruction, and which are there already. ptxas moves each of them once, and all that come behind find it there: over
// branches and joins, barriers, other literals, in and behind loops; but not behind a call of a subroutine (divisions
// and roots with a slow path, 64-bit divisions, functions). A side that is a branch has its own; in an unrolled loop
// there is one for all turns that are made at once [L: 60 kernels with 1 to 16 literals].
#include "sim/time/time_lower.h"

#include <string.h>

enum { KEPT = 256, WANTED = 3 };

typedef struct Known {
    u64 bits;   // without the sign, which is a modifier of the operand
    u32 asked;  // instructions that it may be moved for
} Known;

typedef struct Keeper {
    TimeFunc *f;
    Known known[KEPT];
    u32 count;
    u32 *there;  // by block and literal: the value that it is in at the block's end, WL_NONE
    bool *done;  // by block
} Keeper;

// The literals of an instruction, an addend behind a factor.
typedef struct Wanted {
    u64 bits[WANTED];
    u32 count, width;
} Wanted;

static void want(const TimeFunc *f, u32 insn, Wanted *w) {
    const FlowInsn *in = &f->code->insns[insn];
    for (u32 k = 0; k < in->uses && w->count < WANTED; k++) {
        u64 bits;
        if (!time_is_literal(f, &time_uses(f, insn)[k], &bits)) continue;
        bits &= (1ull << (w->width - 1)) - 1;
        if (bits) w->bits[w->count++] = bits;
    }
}

static Status read_literals(const TimeFunc *f, u32 insn, Wanted *w) {
    u32 row = f->picked[insn].steps, form = f->lower->module->insns[f->function->insns + row].form;
    u8 unit = form_op(time_form(f, insn))->unit;
    TimeSteps steps;
    *w = (Wanted){.width = unit == UNIT_FMA ? 32 : 64};
    if (unit != UNIT_FMA && unit != UNIT_FP64) return STATUS_OK;
    TRY(time_steps(f->lower, form, time_variant(f, row), &steps));
    if (steps.count != 1) return STATUS_OK;
    if (row != insn) want(f, row, w);
    want(f, insn, w);
    return STATUS_OK;
}

// An instruction has room for one literal of 32 bits, or for the upper word of an f64.
static bool fits(const Wanted *w, u32 k) { return w->width == 32 || (u32)w->bits[k] == 0; }

static u32 find_known(const Keeper *keep, u64 bits) {
    u32 k = 0;
    while (k < keep->count && keep->known[k].bits != bits) k++;
    return k < keep->count ? k : WL_NONE;
}

static u32 *places_of(const Keeper *keep, u32 block) { return &keep->there[(u64)block * keep->count]; }

static u32 *place_of(const Keeper *keep, u32 block, u64 bits) {
    u32 k = find_known(keep, bits);
    return k == WL_NONE ? NULL : &places_of(keep, block)[k];
}

static bool is_there(const Keeper *keep, u32 block, u64 bits) {
    const u32 *place = place_of(keep, block, bits);
    return place && *place != WL_NONE;
}

static u32 asked(const Keeper *keep, u64 bits) {
    u32 k = find_known(keep, bits);
    return k == WL_NONE ? 0 : keep->known[k].asked;
}

// The one that is part of the instruction: the addend, but for one that is in a register already, or is moved for more
// others than the factor. WL_NONE: none; a factor is not where the addend does not fit.
static u32 operand_of(const Keeper *keep, u32 block, const Wanted *w) {
    u32 last = w->count - 1;
    if (w->count == 1) return fits(w, 0) ? 0 : WL_NONE;
    if (!fits(w, last)) return WL_NONE;
    if (!fits(w, 0)) return last;
    bool factor = is_there(keep, block, w->bits[0]), addend = is_there(keep, block, w->bits[last]);
    if (factor != addend) return factor ? last : 0;
    return asked(keep, w->bits[last]) > asked(keep, w->bits[0]) ? 0 : last;
}

static Status new_value(TimeFunc *f, u32 words, bool uniform, u32 *value) {
    *value = f->value_count;
    f->value_count += words;
    for (u32 k = 0; k < words; k++) TRY(vec_push(&f->value_bits, uniform ? 0 : 32));
    return STATUS_OK;
}

static Status keep_literal(Keeper *keep, u32 insn, u32 block, u64 bits, TimeLiteral l) {
    TimeFunc *f = keep->f;
    TimeLiterals *all = &f->literals[insn];
    u32 *place = place_of(keep, block, bits);
    l.moved = !place || *place == WL_NONE;
    if (l.moved)
        TRY(new_value(f, l.words, l.uniform, &l.value));
    else
        l.value = *place;
    if (place) *place = l.value;
    all->each[all->count++] = l;
    return STATUS_OK;
}

// An f64 that is the last operand comes from uniform registers, beside another literal none does.
static Status keep_literals(Keeper *keep, u32 insn, u32 block) {
    Wanted w;
    TRY(read_literals(keep->f, insn, &w));
    u32 operand = w.count ? operand_of(keep, block, &w) : WL_NONE;
    for (u32 k = 0; k < w.count; k++) {
        bool uniform = w.width == 64 && operand == WL_NONE && k + 1 == w.count && keep->f->lower->gpu->sm_version >= 75;
        TimeLiteral l = {.words = (u8)(w.width / 32), .uniform = uniform};
        if (k != operand) TRY(keep_literal(keep, insn, block, w.bits[k], l));
    }
    return STATUS_OK;
}

static bool loop_calls(const TimeFunc *f, const FlowLoop *loop) {
    if (loop->irreducible) return true;
    for (u32 k = 0; k < loop->block_count; k++) {
        const FlowBlock *b = &f->cfg->blocks[f->loops->members[loop->blocks + k]];
        if (time_calls_between(f, b->first, b->first + b->count)) return true;
    }
    return false;
}

static void forget(Keeper *keep, u32 block) {
    for (u32 k = 0; k < keep->count; k++) places_of(keep, block)[k] = WL_NONE;
}

// What is the same on all ways in. The way back of a loop has what the others have, unless something in it calls.
static void meet(Keeper *keep, u32 block) {
    const TimeFunc *f = keep->f;
    const FlowBlock *b = &f->cfg->blocks[block];
    u32 loop = f->loops->loop_of[block], *own = places_of(keep, block);
    bool header = loop != WL_NONE && f->loops->loops[loop].header == block, met = false;
    forget(keep, block);
    if (header && loop_calls(f, &f->loops->loops[loop])) return;
    for (u32 p = 0; p < b->pred_count; p++) {
        u32 from = f->cfg->edges[b->preds + p];
        const u32 *other = places_of(keep, from);
        if (!f->cfg->blocks[from].reachable || (header && flow_loop_has(f->loops, loop, from))) continue;
        if (!keep->done[from]) return forget(keep, block);
        for (u32 k = 0; k < keep->count; k++) own[k] = !met || own[k] == other[k] ? other[k] : WL_NONE;
        met = true;
    }
}

// A part of a region comes behind the part before it, whichever way the branch goes.
static void begin_block(Keeper *keep, u32 block) {
    const TimeFunc *f = keep->f;
    bool inside = time_block(f, f->cfg->blocks[block].first)->part != 0 && keep->done[block - 1];
    if (!inside) return meet(keep, block);
    memcpy(places_of(keep, block), places_of(keep, block - 1), sizeof(u32) * keep->count);
}

static Status keep_in_block(Keeper *keep, u32 block) {
    TimeFunc *f = keep->f;
    const FlowBlock *b = &f->cfg->blocks[block];
    begin_block(keep, block);
    for (u32 i = b->first; i < b->first + b->count; i++) {
        for (u32 p = f->sunk_at[i]; p != WL_NONE; p = f->sunk_places[p].next)
            if (f->sunk_places[p].constant < f->code->insn_count && !f->sunk_places[p].reciprocal)
                TRY(keep_literals(keep, f->sunk_places[p].constant, block));
        if (time_is_emitted(f, i)) TRY(keep_literals(keep, i, block));
        if (time_calls(f, i)) forget(keep, block);
    }
    keep->done[block] = true;
    return STATUS_OK;
}

static void ask_for(Keeper *keep, u64 bits) {
    u32 k = find_known(keep, bits);
    if (k == WL_NONE && keep->count == KEPT) return;
    if (k == WL_NONE) keep->known[k = keep->count++] = (Known){.bits = bits};
    keep->known[k].asked++;
}

static Status find_literals(Keeper *keep) {
    const TimeFunc *f = keep->f;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        Wanted w;
        if (!f->picked[i].needed || !f->cfg->blocks[f->cfg->block_of[i]].reachable) continue;
        TRY(read_literals(f, i, &w));
        for (u32 k = 0; k < w.count; k++)
            if (w.count > 1 || !fits(&w, k)) ask_for(keep, w.bits[k]);
    }
    return STATUS_OK;
}

Status time_keep_literals(TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    Keeper keep = {.f = f};
    f->literals = ARENA_ARRAY(arena, TimeLiterals, f->code->insn_count + 1);
    if (!f->literals) return STATUS_NO_MEMORY;
    TRY(find_literals(&keep));
    if (!keep.count) return STATUS_OK;
    keep.there = ARENA_ARRAY(arena, u32, (u64)f->cfg->block_count * keep.count);
    keep.done = ARENA_ARRAY(arena, bool, f->cfg->block_count);
    if (!keep.there || !keep.done) return STATUS_NO_MEMORY;
    for (u32 k = 0; k < f->cfg->rpo_count; k++) TRY(keep_in_block(&keep, f->cfg->rpo[k]));
    return STATUS_OK;
}
