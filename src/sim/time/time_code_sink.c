// SPDX-License-Identifier: Apache-2.0
// Where constants are loaded: ptxas moves the loads of parameters, and what else Hopper needs registers for, down to
// the block that all uses lie behind. Out of loops only what every turn needs, and where the loop has none inside: in a
// loop around others constants are loaded in every turn, and apart from those outside (compiled loops of all kinds). A
// warp that leaves early never gets there. Words side by side are loaded at once.
#include "sim/time/time_lower.h"

#include <stdlib.h>

typedef struct Sinking {
    TimeFunc *f;
    bool *stays;  // by instruction, then SunkConstant: it is issued where it stands
    u32 *from;    // ... the block that it is known from on
    u32 *first;   // by constant: its first place, WL_NONE
    Vec(SunkPlace) places;
} Sinking;

static bool is_constant(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return f->picked[insn].needed && in->kind == FLOW_PLAIN && in->guard == WL_NONE && !in->is_atomic && in->defs > 0 &&
           time_variant(f, insn) == VARIANT_CONSTANT;
}

static bool is_candidate(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    for (u32 k = 0; k < in->defs; k++)
        if (f->sole_def[f->code->operands[in->operands + k].id] != insn) return false;
    return is_constant(f, insn);
}

static u32 common_block(const DomTree *tree, u32 a, u32 b) {
    if (a == WL_NONE) return b;
    while (a != b) {
        u32 *deeper = tree->depth[a] >= tree->depth[b] ? &a : &b;
        if (tree->parent[*deeper] == WL_NONE) return *deeper;
        *deeper = tree->parent[*deeper];
    }
    return a;
}

typedef Status (*UseFn)(Sinking *s, u32 constant, u32 insn);

// Calls `use` for each constant that an instruction needs.
static Status for_uses(Sinking *s, u32 insn, UseFn use) {
    const TimeFunc *f = s->f;
    const Picked *p = &f->picked[insn];
    const FlowInsn *in = &f->code->insns[insn];
    for (u32 k = 0; k < p->leaf_count; k++) {
        u32 def = f->sole_def[f->leaves.data[p->leaves + k]];
        if (def != WL_NONE && !s->stays[def]) TRY(use(s, def, insn));
    }
    if (p->window) TRY(use(s, f->code->insn_count + SUNK_WINDOW, insn));
    if (in->address_use == 0xff) return STATUS_OK;
    if (in->space == SPACE_GLOBAL || in->space == SPACE_NONE) TRY(use(s, f->code->insn_count + SUNK_DESCRIPTOR, insn));
    TimeVariant variant = in->is_atomic ? time_variant(f, insn) : VARIANT_PLAIN;
    if (is_joined(variant) && variant != VARIANT_SCANNED) TRY(use(s, f->code->insn_count + SUNK_LEADER, insn));
    return STATUS_OK;
}

bool time_is_always_run(const TimeFunc *f, u32 loop, u32 block) {
    const FlowLoop *l = &f->loops->loops[loop];
    for (u32 k = 0; k < l->latch_count; k++)
        if (common_block(f->dominators, f->loops->members[l->latches + k], block) != block) return false;
    return true;
}

// The block that a use in `block` has a constant loaded in. The descriptor is outside of all loops.
static u32 home_of(const Sinking *s, u32 block, u32 constant) {
    const TimeFunc *f = s->f;
    bool own = constant != f->code->insn_count + SUNK_DESCRIPTOR;
    if (own && f->predicated[block]) return block;
    for (u32 loop = f->loops->loop_of[block]; loop != WL_NONE; loop = f->loops->loop_of[block]) {
        u32 before = f->dominators->parent[f->loops->loops[loop].header];
        bool stays = own && (!flow_loop_is_innermost(f->loops, loop) || !time_is_always_run(f, loop, block));
        if (before == WL_NONE || flow_loop_has(f->loops, loop, s->from[constant]) || stays) break;
        block = before;
    }
    return block;
}

// The place of a constant for uses whose home is in the same loop, or in none.
static u32 find_place(const Sinking *s, u32 constant, u32 loop) {
    u32 p = s->first[constant];
    while (p != WL_NONE && s->places.data[p].loop != loop) p = s->places.data[p].other;
    return p;
}

// Each side has its own: parameters, and the window of shared memory.
static bool is_apart_in(const Sinking *s, u32 constant, u32 block) {
    return constant <= s->f->code->insn_count + SUNK_WINDOW && s->f->predicated[block] &&
           constant != s->f->code->insn_count + SUNK_DESCRIPTOR;
}

// Whether a predicated side finds a constant where what is always executed before it has loaded it, or another use in
// it.
static bool is_there(const Sinking *s, u32 constant, u32 side) {
    for (u32 p = s->first[constant]; p != WL_NONE; p = s->places.data[p].other)
        if ((s->places.data[p].block != side || is_apart_in(s, constant, side)) &&
            dom_dominates(s->f->dominators, s->places.data[p].block, side))
            return true;
    return false;
}

static Status meet(Sinking *s, u32 constant, u32 block) {
    u32 home = home_of(s, block, constant), loop = s->f->loops->loop_of[home];
    u32 p = is_apart_in(s, constant, home) ? WL_NONE : find_place(s, constant, loop);
    if (p != WL_NONE) {
        s->places.data[p].block = common_block(s->f->dominators, s->places.data[p].block, home);
        return STATUS_OK;
    }
    SunkPlace place = {.constant = constant,
                       .block = home,
                       .loop = loop,
                       .insn = WL_NONE,
                       .other = s->first[constant],
                       .next = WL_NONE,
                       .beside = WL_NONE};
    s->first[constant] = s->places.len;
    return vec_push(&s->places, place);
}

static u32 last_of(const TimeFunc *f, u32 block) {
    return f->cfg->blocks[block].first + f->cfg->blocks[block].count - 1;
}

static Status meet_use(Sinking *s, u32 constant, u32 insn) {
    u32 block = time_home(s->f, insn);
    return s->f->predicated[block] ? STATUS_OK : meet(s, constant, block);
}

static Status meet_side_use(Sinking *s, u32 constant, u32 insn) {
    u32 block = time_home(s->f, insn);
    return !s->f->predicated[block] || is_there(s, constant, block) ? STATUS_OK : meet(s, constant, block);
}

// The first use in the block of the place; what is hoisted there comes last.
static Status place_use(Sinking *s, u32 constant, u32 insn) {
    u32 block = time_home(s->f, insn);
    if (s->f->hoisted[insn] != WL_NONE) return STATUS_OK;
    for (u32 p = s->first[constant]; p != WL_NONE; p = s->places.data[p].other)
        if (s->places.data[p].block == block && s->places.data[p].insn == WL_NONE) s->places.data[p].insn = insn;
    return STATUS_OK;
}

static Status for_all_uses(Sinking *s, UseFn use) {
    const TimeFunc *f = s->f;
    for (u32 i = 0; i < f->code->insn_count; i++)
        if (f->picked[i].needed && f->cfg->blocks[f->cfg->block_of[i]].reachable) TRY(for_uses(s, i, use));
    return STATUS_OK;
}

// --- words side by side -------------------------------------------------------------------------------------------
// Two words that begin at a multiple of eight come by one ULDC.64 where both are needed in the block, and no barrier or
// call is between (ptxas 13.0, sm_90: of eight words in a row four loads, five where the first is the upper half).
static bool is_word(const TimeFunc *f, const SunkPlace *place) {
    if (place->constant >= f->code->insn_count || f->hoisted[place->constant] != WL_NONE || place->reciprocal)
        return false;
    const FlowInsn *in = &f->code->insns[place->constant];
    return f->lower->gpu->imc && in->is_load && in->access_bytes == 4;
}

// The words of a block in the order of their addresses.
typedef struct Word {
    u64 address;
    u32 block, place;
} Word;

static int by_address(const void *a, const void *b) {
    const Word *x = a, *y = b;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return x->address != y->address ? x->address < y->address ? -1 : 1 : 0;
}

static bool is_apart(const TimeFunc *f, u32 a, u32 b) {
    for (u32 i = a < b ? a : b; i < (a < b ? b : a); i++)
        if (time_insn(f, i)->kind > SIM_MEMORY) return true;
    return false;
}

static void join_words(TimeFunc *f, const Word *words, u32 count) {
    for (u32 k = 0; k + 1 < count; k++) {
        SunkPlace *low = &f->sunk_places[words[k].place], *high = &f->sunk_places[words[k + 1].place];
        bool pair = words[k].block == words[k + 1].block && words[k].address % 8 == 0 &&
                    words[k + 1].address == words[k].address + 4;
        if (!pair || is_apart(f, low->insn, high->insn)) continue;
        if (high->insn < low->insn) low->insn = high->insn;
        low->beside = high->constant;
        high->constant = WL_NONE;
    }
}

static Status join_places(TimeFunc *f, u32 count) {
    Word *words = ARENA_ARRAY(&f->lower->scratch, Word, count + 1);
    u32 found = 0;
    if (!words) return STATUS_NO_MEMORY;
    for (u32 p = 0; p < count; p++) {
        const SunkPlace *place = &f->sunk_places[p];
        if (!is_word(f, place)) continue;
        words[found++] = (Word){time_constant_address(f, place->constant), place->block, p};
    }
    qsort(words, found, sizeof *words, by_address);
    join_words(f, words, found);
    return STATUS_OK;
}

// Keeps the places where emitting finds them: before each instruction.
static Status chain_places(Sinking *s) {
    TimeFunc *f = s->f;
    f->sunk_places = ARENA_ARRAY(&f->lower->scratch, SunkPlace, s->places.len + 1);
    if (!f->sunk_places) return STATUS_NO_MEMORY;
    for (u32 p = 0; p < s->places.len; p++) {
        SunkPlace *place = &f->sunk_places[p];
        *place = s->places.data[p];
        if (place->insn == WL_NONE) place->insn = last_of(f, place->block);
        if (place->constant < f->code->insn_count && !place->reciprocal) f->sunk[place->constant] = true;
    }
    TRY(join_places(f, s->places.len));
    for (u32 p = 0; p < s->places.len; p++) {
        SunkPlace *place = &f->sunk_places[p];
        if (place->constant == WL_NONE) continue;
        place->next = f->sunk_at[place->insn];
        f->sunk_at[place->insn] = p;
    }
    return STATUS_OK;
}

// In front of the constants, as each place is put before the ones of the same instruction: from the last instruction
// on, for what another one hoisted reads comes before it.
static Status place_hoisted(Sinking *s) {
    const TimeFunc *f = s->f;
    for (u32 i = f->code->insn_count; i-- > 0;) {
        bool reciprocal = f->divided[i] != WL_NONE;
        u32 block = reciprocal ? f->divided[i] : f->hoisted[i];
        if (block == WL_NONE) continue;
        TRY(vec_push(&s->places, (SunkPlace){.constant = i,
                                             .block = block,
                                             .insn = last_of(f, block),
                                             .loop = WL_NONE,
                                             .other = WL_NONE,
                                             .next = WL_NONE,
                                             .beside = WL_NONE,
                                             .reciprocal = reciprocal}));
    }
    return STATUS_OK;
}

// --- what changes later -------------------------------------------------------------------------------------------
static bool reads_result(const TimeFunc *f, u32 insn, u32 of) {
    const FlowInsn *in = &f->code->insns[insn], *load = &f->code->insns[of];
    for (u32 d = 0; d < load->defs; d++) {
        u32 value = f->code->operands[load->operands + d].id;
        if (in->guard == value) return true;
        for (u32 k = 0; k < (u32)in->defs + in->uses; k++) {
            const FlowOperand *o = &f->code->operands[in->operands + k];
            if (o->kind == FLOW_VALUE && o->id == value) return true;
        }
    }
    return false;
}

// The block behind the exits that come before anybody asks for the constant of `insn`, to which nothing else leads;
// its own: there are none.
static u32 behind_exits(const TimeFunc *f, u32 insn) {
    u32 b = f->cfg->block_of[insn];
    for (u32 i = insn + 1;; i = f->cfg->blocks[b].first) {
        const FlowBlock *block = &f->cfg->blocks[b];
        for (; i < block->first + block->count; i++)
            if (reads_result(f, i, insn)) return b;
        if (block->succ_count != 2 || f->predicated[b] || f->speculated[b]) return b;
        u32 taken = f->cfg->edges[block->succs], next = b + 1;
        if (!f->exits[taken] || f->cfg->edges[block->succs + 1] != next || f->cfg->blocks[next].pred_count != 1)
            return b;
        b = next;
    }
}

// A parameter in a register that a loop changes is loaded behind the exits, too.
static Status place_changing(Sinking *s) {
    const TimeFunc *f = s->f;
    for (u32 i = 0; i < f->code->insn_count; i++) {
        if (!s->stays[i] || !is_constant(f, i) || !f->cfg->blocks[f->cfg->block_of[i]].reachable) continue;
        u32 block = behind_exits(f, i);
        if (block == f->cfg->block_of[i]) continue;
        TRY(vec_push(&s->places, (SunkPlace){.constant = i,
                                             .block = block,
                                             .insn = f->cfg->blocks[block].first,
                                             .loop = WL_NONE,
                                             .other = WL_NONE,
                                             .next = WL_NONE,
                                             .beside = WL_NONE}));
    }
    return STATUS_OK;
}

static Status find_places(Sinking *s) {
    TimeFunc *f = s->f;
    u32 count = f->code->insn_count + SUNK_COUNT;
    for (u32 i = 0; i < count; i++) {
        s->first[i] = WL_NONE;
        s->from[i] = i < f->code->insn_count ? f->cfg->block_of[i] : 0;
        s->stays[i] = i < f->code->insn_count && (!f->function->is_entry || !is_candidate(f, i));
    }
    TRY(place_hoisted(s));
    TRY(for_all_uses(s, meet_use));
    TRY(for_all_uses(s, meet_side_use));
    TRY(for_all_uses(s, place_use));
    TRY(place_changing(s));
    return chain_places(s);
}

Status time_sink(TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    u32 count = f->code->insn_count + SUNK_COUNT;
    Sinking s = {.f = f,
                 .stays = ARENA_ARRAY(arena, bool, count),
                 .from = ARENA_ARRAY(arena, u32, count),
                 .first = ARENA_ARRAY(arena, u32, count)};
    f->sunk = ARENA_ARRAY(arena, bool, count);
    f->sunk_at = ARENA_ARRAY(arena, u32, count);
    if (!s.stays || !s.from || !s.first || !f->sunk || !f->sunk_at) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) f->sunk_at[i] = WL_NONE;
    Status status = find_places(&s);
    vec_free(&s.places);
    return status;
}
