// SPDX-License-Identifier: Apache-2.0
// Where constants are loaded: ptxas moves the loads of parameters, and what else Hopper needs registers for, down to
// the block that all uses lie behind, but into no loop. A warp that leaves early never gets there.
#include "sim/time/time_lower.h"

typedef struct Sinking {
    TimeFunc *f;
    u32 *meet;   // by instruction, then SunkConstant: block behind which all uses lie, WL_NONE = no use
    u32 *place;  // ... instruction before which it is issued
} Sinking;

static bool is_candidate(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    return f->picked[insn].needed && in->kind == FLOW_PLAIN && in->guard == WL_NONE && !in->is_atomic &&
           time_variant(f, insn) == VARIANT_CONSTANT && in->defs == 1 &&
           f->sole_def[f->code->operands[in->operands].id] == insn;
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

// Calls `use` for each constant that an instruction needs.
static void for_uses(Sinking *s, u32 insn, void (*use)(Sinking *s, u32 constant, u32 insn)) {
    const TimeFunc *f = s->f;
    const Picked *p = &f->picked[insn];
    const FlowInsn *in = &f->code->insns[insn];
    for (u32 k = 0; k < p->leaf_count; k++) {
        u32 def = f->sole_def[f->leaves.data[p->leaves + k]];
        if (def != WL_NONE && s->place[def] == 0) use(s, def, insn);
    }
    if (in->address_use == 0xff) return;
    if (in->space == SPACE_GLOBAL || in->space == SPACE_NONE) use(s, f->code->insn_count + SUNK_DESCRIPTOR, insn);
    if (in->is_atomic && is_joined(time_variant(f, insn)) && ptx_types[time_form(f, insn)->types[0]].bits == 32)
        use(s, f->code->insn_count + SUNK_LEADER, insn);
    if (in->space == SPACE_SHARED) use(s, f->code->insn_count + SUNK_WINDOW, insn);
}

static void meet_use(Sinking *s, u32 constant, u32 insn) {
    s->meet[constant] = common_block(s->f->dominators, s->meet[constant], s->f->cfg->block_of[insn]);
}

static void place_use(Sinking *s, u32 constant, u32 insn) {
    bool first = s->f->cfg->block_of[insn] == s->meet[constant] && s->f->sunk[constant] == WL_NONE;
    if (first) s->f->sunk[constant] = insn;
}

static u32 out_of_loops(const TimeFunc *f, u32 block, u32 from) {
    for (u32 loop = f->loops->loop_of[block]; loop != WL_NONE && !flow_loop_has(f->loops, loop, from);
         loop = f->loops->loop_of[block]) {
        u32 before = f->dominators->parent[f->loops->loops[loop].header];
        if (before == WL_NONE) break;
        block = before;
    }
    return block;
}

static void settle(Sinking *s, u32 constant, u32 from) {
    u32 block = s->meet[constant];
    if (block == WL_NONE || s->f->predicated[block]) return;  // of a predicated region they are not moved out of loops
    block = s->meet[constant] = out_of_loops(s->f, block, from);
}

static void chain_sunk(TimeFunc *f, u32 constant) {
    u32 insn = f->sunk[constant];
    f->sunk_next[constant] = f->sunk_at[insn];
    f->sunk_at[insn] = constant;
}

Status time_sink(TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    u32 count = f->code->insn_count + SUNK_COUNT;
    Sinking s = {.f = f, .meet = ARENA_ARRAY(arena, u32, count), .place = ARENA_ARRAY(arena, u32, count)};
    f->sunk = ARENA_ARRAY(arena, u32, count);
    f->sunk_at = ARENA_ARRAY(arena, u32, count);
    f->sunk_next = ARENA_ARRAY(arena, u32, count);
    if (!s.meet || !s.place || !f->sunk || !f->sunk_at || !f->sunk_next) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) {
        s.meet[i] = f->sunk[i] = f->sunk_at[i] = f->sunk_next[i] = WL_NONE;
        s.place[i] = i < f->code->insn_count && !is_candidate(f, i);  // 1: stays where it is
    }
    if (!f->function->is_entry) return STATUS_OK;
    for (u32 i = 0; i < f->code->insn_count; i++)
        if (f->picked[i].needed && f->cfg->blocks[f->cfg->block_of[i]].reachable) for_uses(&s, i, meet_use);
    for (u32 i = 0; i < count; i++)
        if (s.place[i] == 0) settle(&s, i, i < f->code->insn_count ? f->cfg->block_of[i] : 0);
    for (u32 i = 0; i < f->code->insn_count; i++)
        if (f->picked[i].needed && f->cfg->blocks[f->cfg->block_of[i]].reachable) for_uses(&s, i, place_use);
    for (u32 i = 0; i < count; i++) {
        if (s.place[i] || s.meet[i] == WL_NONE) continue;
        const FlowBlock *block = &f->cfg->blocks[s.meet[i]];
        if (f->sunk[i] == WL_NONE) f->sunk[i] = block->first + block->count - 1;
        chain_sunk(f, i);
    }
    return STATUS_OK;
}
