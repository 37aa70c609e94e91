// SPDX-License-Identifier: Apache-2.0
// Loops that lanes leave apart: a branch out of the loop asks for what an atomic or a volatile, relaxed or acquiring
// load of the same loop has given, be it through other values. Not those that only count, or read such a value aside
// (12 loops on an H200, bench/hwref/h200-yields.tsv; ptxas 13.0 for sm_90 has a YIELD in just these).
#include "base/bitset.h"
#include "flow/flow_util.h"

typedef struct Finder {
    const Cfg *cfg;
    const Loops *loops;
    const FlowLoop *loop;  // under work
    const u32 *members;    // its blocks
    Bitset told;           // values that depend on what the loop polls
    bool more;             // one has been added
} Finder;

static bool is_told(const Finder *f, const FlowInsn *in) {
    const FlowOperand *uses = flow_uses(f->cfg->code, in);
    if (in->guard != WL_NONE && bitset_has(&f->told, in->guard)) return true;
    for (u32 u = 0; u < in->uses; u++)
        if (uses[u].kind == FLOW_VALUE && bitset_has(&f->told, uses[u].id)) return true;
    return false;
}

static void follow(Finder *f, const FlowInsn *in) {
    const FlowOperand *defs = flow_defs(f->cfg->code, in);
    if (!in->polls && (in->is_load || !is_told(f, in))) return;
    for (u32 d = 0; d < in->defs; d++) {
        f->more |= !bitset_has(&f->told, defs[d].id);
        bitset_add(&f->told, defs[d].id);
    }
}

static bool leads_out(const Finder *f, u32 b) {
    const FlowBlock *block = &f->cfg->blocks[b];
    const FlowInsn *last = &f->cfg->code->insns[block->first + block->count - 1];
    if (block->succ_count < 2 || last->guard == WL_NONE || !bitset_has(&f->told, last->guard)) return false;
    for (u32 s = 0; s < block->succ_count; s++)
        if (!flow_loop_has(f->loops, (u32)(f->loop - f->loops->loops), f->cfg->edges[block->succs + s])) return true;
    return false;
}

static bool polls(const Finder *f) {
    for (u32 k = 0; k < f->loop->block_count; k++) {
        const FlowBlock *block = &f->cfg->blocks[f->members[k]];
        for (u32 i = block->first; i < block->first + block->count; i++)
            if (f->cfg->code->insns[i].polls) return true;
    }
    return false;
}

static bool yields(Finder *f) {
    if (!polls(f)) return false;
    bitset_clear(&f->told);
    for (f->more = true; f->more;) {
        f->more = false;
        for (u32 k = 0; k < f->loop->block_count; k++) {
            const FlowBlock *block = &f->cfg->blocks[f->members[k]];
            for (u32 i = block->first; i < block->first + block->count; i++) follow(f, &f->cfg->code->insns[i]);
        }
    }
    for (u32 k = 0; k < f->loop->block_count; k++)
        if (leads_out(f, f->members[k])) return true;
    return false;
}

Status flow_yields(const Cfg *cfg, Arena *arena, Meets *meets) {
    const Loops *loops = meets->loops;
    Finder f = {.cfg = cfg, .loops = loops};
    meets->yields = ARENA_ARRAY(arena, bool, loops->loop_count + 1);
    if (!meets->yields || !bitset_init(&f.told, arena, cfg->code->value_count + 1)) return STATUS_NO_MEMORY;
    for (u32 l = 0; l < loops->loop_count; l++) {
        f.loop = &loops->loops[l];
        f.members = loops->members + f.loop->blocks;
        meets->yields[l] = yields(&f);
    }
    return STATUS_OK;
}

bool flow_yields_at(const Meets *meets, u32 b) {
    const Loops *loops = meets->loops;
    for (u32 l = loops->loop_of[b]; l != WL_NONE; l = loops->loops[l].parent)
        for (u32 k = 0; meets->yields[l] && k < loops->loops[l].latch_count; k++)
            if (loops->members[loops->loops[l].latches + k] == b) return true;
    return false;
}

bool flow_leaves_apart(const Meets *meets, u32 b, u32 at) {
    for (u32 l = meets->loops->loop_of[b]; l != WL_NONE; l = meets->loops->loops[l].parent)
        if (meets->yields[l] && !flow_loop_has(meets->loops, l, at)) return true;
    return false;
}
