// SPDX-License-Identifier: Apache-2.0
#include "flow/liveness.h"

#include <string.h>

#include "flow/flow_util.h"

typedef struct LiveFinder {
    const Cfg *cfg;
    FlowPairs exposed;  // value, block: read before any unguarded write of the block
    FlowPairs killed;   // value, block: written without a guard
    FlowPairs live;     // block, value: the answer
    u32 *stamp;         // value: block + 1 that killed it last; later, block: value + 1 that is live-in there
    u32 *kill_stamp;    // block: value + 1 that it kills
} LiveFinder;

static Status note_use(LiveFinder *f, u32 block, u32 value) {
    return f->stamp[value] == block + 1 ? STATUS_OK : vec_push(&f->exposed, (FlowPair){value, block});
}

static Status scan_insn(LiveFinder *f, u32 block, const FlowInsn *insn) {
    const FlowOperand *defs = flow_defs(f->cfg->code, insn), *uses = flow_uses(f->cfg->code, insn);
    for (u32 i = 0; i < insn->uses; i++)
        if (uses[i].kind == FLOW_VALUE) TRY(note_use(f, block, uses[i].id));
    if (insn->guard != WL_NONE) return note_use(f, block, insn->guard);
    for (u32 i = 0; i < insn->defs; i++) {
        if (defs[i].kind != FLOW_VALUE || f->stamp[defs[i].id] == block + 1) continue;
        f->stamp[defs[i].id] = block + 1;
        TRY(vec_push(&f->killed, (FlowPair){defs[i].id, block}));
    }
    return STATUS_OK;
}

static Status scan_blocks(LiveFinder *f) {
    for (u32 b = 0; b < f->cfg->block_count; b++) {
        const FlowBlock *block = &f->cfg->blocks[b];
        if (!block->reachable) continue;
        for (u32 i = 0; i < block->count; i++) TRY(scan_insn(f, b, &f->cfg->code->insns[block->first + i]));
    }
    return STATUS_OK;
}

static Status push_live(LiveFinder *f, u32 block, u32 value) {
    if (f->stamp[block] == value + 1) return STATUS_OK;
    f->stamp[block] = value + 1;
    return vec_push(&f->live, (FlowPair){block, value});
}

// The pairs of this value behind `live.len` at the start are the work list.
static Status walk_back(LiveFinder *f, u32 value, const u32 *uses, u32 use_count) {
    u32 work = f->live.len;
    for (u32 i = 0; i < use_count; i++) TRY(push_live(f, uses[i], value));
    for (; work < f->live.len; work++) {
        const FlowBlock *block = &f->cfg->blocks[f->live.data[work].key];
        for (u32 p = 0; p < block->pred_count; p++) {
            u32 pred = f->cfg->edges[block->preds + p];
            if (f->cfg->blocks[pred].reachable && f->kill_stamp[pred] != value + 1) TRY(push_live(f, pred, value));
        }
    }
    return STATUS_OK;
}

static Status find_live(LiveFinder *f, Arena *scratch) {
    const FlowCode *code = f->cfg->code;
    FlowGroups exposed, killed;
    TRY(flow_group(&f->exposed, code->value_count, scratch, &exposed));
    TRY(flow_group(&f->killed, code->value_count, scratch, &killed));
    f->stamp = ARENA_ARRAY(scratch, u32, f->cfg->block_count);
    f->kill_stamp = ARENA_ARRAY(scratch, u32, f->cfg->block_count);
    if (!f->stamp || !f->kill_stamp) return STATUS_NO_MEMORY;
    for (u32 v = 0; v < code->value_count; v++) {
        for (u32 i = killed.first[v]; i < killed.first[v + 1]; i++) f->kill_stamp[killed.items[i]] = v + 1;
        TRY(walk_back(f, v, exposed.items + exposed.first[v], exposed.first[v + 1] - exposed.first[v]));
    }
    return STATUS_OK;
}

static Status build(LiveFinder *f, Arena *arena, Arena *scratch, Liveness *liveness) {
    f->stamp = ARENA_ARRAY(scratch, u32, f->cfg->code->value_count + 1);
    if (!f->stamp) return STATUS_NO_MEMORY;
    TRY(scan_blocks(f));
    TRY(find_live(f, scratch));
    FlowGroups groups;
    TRY(flow_group(&f->live, f->cfg->block_count, arena, &groups));
    *liveness = (Liveness){.cfg = f->cfg, .first = groups.first, .values = groups.items};
    return STATUS_OK;
}

Status flow_liveness(const Cfg *cfg, Arena *arena, Liveness **liveness) {
    *liveness = NULL;
    Liveness *result = ARENA_NEW(arena, Liveness);
    if (!result) return STATUS_NO_MEMORY;
    LiveFinder finder = {.cfg = cfg};
    Arena scratch = {0};
    Status status = build(&finder, arena, &scratch, result);
    vec_free(&finder.exposed);
    vec_free(&finder.killed);
    vec_free(&finder.live);
    arena_free(&scratch);
    if (status == STATUS_OK) *liveness = result;
    return status;
}

u32 liveness_find_in(const Liveness *liveness, u32 block, u32 value) {
    u32 low = liveness->first[block], end = liveness->first[block + 1], high = end;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (liveness->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && liveness->values[low] == value ? low : WL_NONE;
}

bool liveness_has_in(const Liveness *liveness, u32 block, u32 value) {
    return liveness_find_in(liveness, block, value) != WL_NONE;
}

void liveness_add_in(const Liveness *liveness, u32 block, Bitset *set) {
    for (u32 i = liveness->first[block]; i < liveness->first[block + 1]; i++) bitset_add(set, liveness->values[i]);
}

void liveness_add_out(const Liveness *liveness, u32 block, Bitset *set) {
    const FlowBlock *from = &liveness->cfg->blocks[block];
    for (u32 s = 0; s < from->succ_count && from->reachable; s++)
        liveness_add_in(liveness, liveness->cfg->edges[from->succs + s], set);
}

void liveness_step_back(const FlowCode *code, u32 index, Bitset *set) {
    const FlowInsn *insn = &code->insns[index];
    const FlowOperand *defs = flow_defs(code, insn), *uses = flow_uses(code, insn);
    for (u32 i = 0; i < insn->defs && insn->guard == WL_NONE; i++)
        if (defs[i].kind == FLOW_VALUE) bitset_remove(set, defs[i].id);
    for (u32 i = 0; i < insn->uses; i++)
        if (uses[i].kind == FLOW_VALUE) bitset_add(set, uses[i].id);
    if (insn->guard != WL_NONE) bitset_add(set, insn->guard);
}

// --- register pressure ------------------------------------------------------------------------------------------

typedef struct PressureWalk {
    const FlowCode *code;
    Bitset live;
    u32 units, predicates;  // of `live`
} PressureWalk;

static void count_value(PressureWalk *w, u32 value, bool live) {
    if (bitset_has(&w->live, value) == live) return;
    u32 units = flow_value_units(w->code, value),
        predicate = w->code->value_bits[value] == 1 && value != w->code->carry;
    if (live) {
        bitset_add(&w->live, value);
        w->units += units;
        w->predicates += predicate;
    } else {
        bitset_remove(&w->live, value);
        w->units -= units;
        w->predicates -= predicate;
    }
}

// Blocks are walked backwards, so of equal instructions the last one noted comes first within its block.
static void note_pressure(const PressureWalk *w, u32 insn, u32 dead_units, RegisterPressure *pressure,
                          u32 block_first) {
    u32 units = w->units + dead_units;
    bool same_block = pressure->insn != WL_NONE && pressure->insn >= block_first;
    if (units > pressure->units || pressure->insn == WL_NONE || (units == pressure->units && same_block)) {
        pressure->units = units;
        pressure->insn = insn;
    }
    if (w->predicates > pressure->predicates) pressure->predicates = w->predicates;
}

// A result that nobody reads takes a register at the moment it is written.
static u32 dead_units(const PressureWalk *w, const FlowInsn *insn) {
    const FlowOperand *defs = flow_defs(w->code, insn);
    u32 units = 0;
    for (u32 i = 0; i < insn->defs; i++)
        if (defs[i].kind == FLOW_VALUE && !bitset_has(&w->live, defs[i].id))
            units += flow_value_units(w->code, defs[i].id);
    return units;
}

static void walk_insn(PressureWalk *w, u32 index, RegisterPressure *pressure, u32 block_first) {
    const FlowInsn *insn = &w->code->insns[index];
    const FlowOperand *defs = flow_defs(w->code, insn), *uses = flow_uses(w->code, insn);
    note_pressure(w, index, dead_units(w, insn), pressure, block_first);
    for (u32 i = 0; i < insn->defs && insn->guard == WL_NONE; i++)
        if (defs[i].kind == FLOW_VALUE) count_value(w, defs[i].id, false);
    for (u32 i = 0; i < insn->uses; i++)
        if (uses[i].kind == FLOW_VALUE) count_value(w, uses[i].id, true);
    if (insn->guard != WL_NONE) count_value(w, insn->guard, true);
    note_pressure(w, index, 0, pressure, block_first);
}

static void walk_block(PressureWalk *w, const Liveness *liveness, u32 b, u32 *units, u32 *predicates,
                       RegisterPressure *pressure) {
    const Cfg *cfg = liveness->cfg;
    const FlowBlock *block = &cfg->blocks[b];
    for (u32 s = 0; s < block->succ_count; s++) {
        u32 to = cfg->edges[block->succs + s];
        for (u32 i = liveness->first[to]; i < liveness->first[to + 1]; i++) count_value(w, liveness->values[i], true);
    }
    for (u32 i = block->first + block->count; i-- > block->first;) {
        walk_insn(w, i, pressure, block->first);
        if (units) units[i] = w->units;
        if (predicates) predicates[i] = w->predicates;
    }
    for (u32 i = liveness->first[b]; i < liveness->first[b + 1]; i++) count_value(w, liveness->values[i], false);
}

Status flow_pressure_by_insn(const Liveness *liveness, u32 *units, u32 *predicates, RegisterPressure *pressure) {
    *pressure = (RegisterPressure){.insn = WL_NONE};
    const Cfg *cfg = liveness->cfg;
    PressureWalk walk = {.code = cfg->code};
    Arena scratch = {0};
    if (!bitset_init(&walk.live, &scratch, cfg->code->value_count + 1)) {
        arena_free(&scratch);
        return STATUS_NO_MEMORY;
    }
    if (units) memset(units, 0, sizeof *units * cfg->code->insn_count);
    if (predicates) memset(predicates, 0, sizeof *predicates * cfg->code->insn_count);
    for (u32 b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].reachable) walk_block(&walk, liveness, b, units, predicates, pressure);
    arena_free(&scratch);
    return STATUS_OK;
}

Status flow_pressure(const Liveness *liveness, RegisterPressure *pressure) {
    return flow_pressure_by_insn(liveness, NULL, NULL, pressure);
}
