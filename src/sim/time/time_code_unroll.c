// SPDX-License-Identifier: Apache-2.0
// Loops that ptxas unrolls: beside the region as it stands, the machine instructions of several iterations at once,
// with the loop's control once, increments in the offsets of addresses, and what depends only on them computed once. A
// warp whose next passes, as many, are through this region issues those instead; the region itself is the rest of the
// loop. In the flow graph the two are alternatives: a mark before the copies branches to either, one behind them back
// or out.
#include "sim/time/time_lower.h"

typedef struct Unroller {
    TimeFunc *f;
    u32 begin, end;        // instructions
    const Liveness *live;  // of what the instructions read; NULL: nothing in the loop is predicated
    Bitset computed;       // values that others than addresses depend on
    Bitset counters;       // those that the loop's control increases
    u32 *advanced;         // counter -> what it is in the iteration under work where that is needed, WL_NONE
    u32 *name;             // value -> its name in the iteration under work
    u32 *first;            // by leaf: the name that the first iteration read
    u32 *made;             // value -> its name after the first iteration
    u32 iteration, turns;
    LoopVersion version;
} Unroller;

static bool is_linear(const TimeFunc *f, u32 insn) {
    switch (f->code->insns[insn].arith) {
    case FLOW_MOVE:
    case FLOW_CONVERT:
    case FLOW_ADD:
    case FLOW_SUB:
    case FLOW_MUL:
    case FLOW_MULADD:
    case FLOW_SHIFT_LEFT: return true;
    default: return false;
    }
}

// Whether it makes 64 bits of 32, which may wrap around in any turn: their increments do not go into the offset of what
// it makes.
static bool is_widening(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const Picked *p = &f->picked[insn];
    if (in->defs != 1 || in->is_load || f->code->value_bits[f->code->operands[in->operands].id] <= 32) return false;
    for (u32 k = 0; k < p->leaf_count; k++)
        if (f->code->value_bits[f->leaves.data[p->leaves + k]] == 32) return true;
    return false;
}

static bool is_in_side(const Unroller *u, u32 insn) { return u->f->predicated[u->f->cfg->block_of[insn]]; }

// Whether the way around the side that an instruction is in needs what it writes as it was: it has to be where that is.
static bool is_tied(const Unroller *u, u32 insn, u32 value) {
    u32 def = u->f->sole_def[value];
    bool loaded = def != WL_NONE && u->f->sunk[def];  // a constant: wherever it is read
    if (!is_in_side(u, insn) || loaded) return false;
    u32 behind = time_block(u->f, insn)->pc_end - u->f->func->entry;
    return liveness_has_in(u->live, u->f->cfg->block_of[behind], value);
}

// In an iteration behind the first: whether all it reads is as it was then, but for the increments, which go into the
// offsets of addresses.
static bool is_repeated(const Unroller *u, u32 insn) {
    const Picked *p = &u->f->picked[insn];
    const FlowInsn *in = &u->f->code->insns[insn];
    if (u->iteration == 0 || !is_linear(u->f, insn)) return false;
    for (u32 k = 0; k < in->defs; k++) {
        u32 value = u->f->code->operands[in->operands + k].id;
        if (is_tied(u, insn, value) || bitset_has(&u->computed, value)) return false;
    }
    bool widening = is_widening(u->f, insn);
    for (u32 k = 0; k < p->leaf_count; k++) {
        u32 leaf = u->f->leaves.data[p->leaves + k];
        if (u->name[leaf] != u->first[p->leaves + k]) return false;
        if (widening && u->f->code->value_bits[leaf] == 32 && bitset_has(&u->counters, leaf)) return false;
    }
    return true;
}

static void reuse(Unroller *u, u32 insn) {
    const FlowInsn *in = &u->f->code->insns[insn];
    for (u32 k = 0; k < in->defs; k++) {
        u32 value = u->f->code->operands[in->operands + k].id;
        u->name[value] = u->made[value];
    }
}

// The results of an iteration have names of their own, those of the last one the values' own.
static Status name_result(Unroller *u, u32 insn, u32 value, u32 *name) {
    if (is_tied(u, insn, value)) return *name = u->name[value], STATUS_OK;
    if (u->iteration + 1 == u->turns) return *name = value, STATUS_OK;
    *name = u->f->value_count++;
    return vec_push(&u->f->value_bits, u->f->value_bits.data[value]);
}

// Whether the instruction needs a counter as it is in this iteration: offsets and sums have the increments as literals.
static bool needs_advanced(const Unroller *u, u32 insn, u32 value) {
    u8 arith = u->f->code->insns[insn].arith;
    bool sum = (arith == FLOW_ADD || arith == FLOW_SUB) && !is_widening(u->f, insn);
    bool literal = sum || value == u->f->picked[insn].base;
    return u->iteration > 0 && !u->f->loop_control[insn] && !literal && bitset_has(&u->counters, value);
}

// Adds what counters have been increased by, once in an iteration.
static Status advance_counters(Unroller *u, u32 insn) {
    TimeFunc *f = u->f;
    const Picked *p = &f->picked[insn];
    for (u32 k = 0; k < p->leaf_count; k++) {
        u32 value = f->leaves.data[p->leaves + k], sum = f->value_count;
        if (!needs_advanced(u, insn, value) || u->advanced[value] != WL_NONE) continue;
        u->advanced[value] = f->value_count++;
        TRY(vec_push(&f->value_bits, f->value_bits.data[value]));
        TRY(vec_push(&f->ops, (MachineOp){.pc = insn,
                                          .operands = f->operands.len,
                                          .defs = 1,
                                          .uses = 1,
                                          .unit = UNIT_ALU,
                                          .interval = (u8)f->lower->gpu->alu_interval,
                                          .latency = (u16)f->lower->gpu->alu_latency,
                                          .balanced = true,
                                          .version = (u8)u->version,
                                          .iteration = (u8)(u->iteration + 1),
                                          .guard = WL_NONE,
                                          .base = WL_NONE,
                                          .symbol = WL_NONE}));
        TRY(vec_push(&f->operands, sum));
        TRY(vec_push(&f->operands, u->name[value]));
    }
    return STATUS_OK;
}

// Puts the names of this iteration into the operations emitted since `from`.
static Status rename_ops(Unroller *u, u32 insn, u32 from) {
    TimeFunc *f = u->f;
    const Picked *p = &f->picked[insn];
    if (u->iteration == 0)
        for (u32 k = 0; k < p->leaf_count; k++) u->first[p->leaves + k] = u->name[f->leaves.data[p->leaves + k]];
    for (u32 i = from; i < f->ops.len; i++) {
        MachineOp *op = &f->ops.data[i];
        op->version = (u8)u->version;
        op->iteration = (u8)(u->iteration + 1);
        if (op->guard != WL_NONE) op->guard = u->name[op->guard];
        for (u32 k = op->defs; k < op->defs + (u32)op->uses; k++) {
            u32 *value = &f->operands.data[op->operands + k];
            if (*value >= f->code->value_count) continue;
            bool advanced = needs_advanced(u, insn, *value) && u->advanced[*value] != WL_NONE;
            *value = advanced ? u->advanced[*value] : u->name[*value];
        }
    }
    for (u32 i = from; i < f->ops.len; i++) {
        MachineOp op = f->ops.data[i];
        for (u32 k = 0; k < op.defs; k++) {
            u32 value = f->operands.data[op.operands + k], name;
            if (value >= f->code->value_count) continue;
            TRY(name_result(u, insn, value, &name));
            f->operands.data[op.operands + k] = u->name[value] = name;
            if (u->iteration == 0) u->made[value] = name;
        }
    }
    return STATUS_OK;
}

static void forget_advanced(Unroller *u) {
    const TimeFunc *f = u->f;
    for (u32 i = u->begin; i < u->end; i++)
        for (u32 k = 0; k < f->picked[i].leaf_count; k++)
            u->advanced[f->leaves.data[f->picked[i].leaves + k]] = WL_NONE;
}

static Status emit_iteration(Unroller *u) {
    TimeFunc *f = u->f;
    bool last = u->iteration + 1 == u->turns;
    forget_advanced(u);
    for (u32 i = u->begin; i < u->end; i++) {
        u32 sunk = f->ops.len;
        if (is_in_side(u, i)) TRY(time_emit_sunk(f, i));
        TRY(rename_ops(u, i, sunk));
        if (!time_is_emitted(f, i) || (f->loop_control[i] && !last)) continue;
        if (!f->loop_control[i] && is_repeated(u, i)) {
            reuse(u, i);
            continue;
        }
        TRY(advance_counters(u, i));
        u32 from = f->ops.len;
        f->again = u->iteration > 0;
        TRY(time_emit_insn(f, i));
        f->again = false;
        TRY(rename_ops(u, i, from));
    }
    return STATUS_OK;
}

static Status emit_mark(TimeFunc *f, u32 pc, UnrollMark mark) {
    return vec_push(&f->ops, (MachineOp){.pc = pc,
                                         .operands = f->operands.len,
                                         .hidden = true,
                                         .flow = FLOW_SWITCH,
                                         .mark = (u8)mark,
                                         .guard = WL_NONE,
                                         .base = WL_NONE,
                                         .symbol = WL_NONE});
}

// Liveness of the function's values where instructions read what they were found to read (Picked.leaves).
static Status find_liveness(Unroller *u) {
    TimeFunc *f = u->f;
    Arena *arena = &f->lower->scratch;
    u32 count = f->code->insn_count, operands = 0;
    for (u32 i = 0; i < count; i++) operands += f->code->insns[i].defs + f->picked[i].leaf_count;
    FlowCode *code = ARENA_NEW(arena, FlowCode);
    Cfg *cfg = ARENA_NEW(arena, Cfg);
    FlowInsn *insns = ARENA_ARRAY(arena, FlowInsn, count + 1);
    FlowOperand *read = ARENA_ARRAY(arena, FlowOperand, operands + 1);
    if (!code || !cfg || !insns || !read) return STATUS_NO_MEMORY;
    u32 at = 0;
    for (u32 i = 0; i < count; i++) {
        const Picked *p = &f->picked[i];
        const FlowOperand *defs = f->code->operands + f->code->insns[i].operands;
        insns[i] = f->code->insns[i];
        insns[i].operands = at;
        for (u32 k = 0; k < insns[i].defs; k++) read[at++] = defs[k];
        insns[i].uses = (u16)p->leaf_count;
        for (u32 k = 0; k < p->leaf_count; k++)
            read[at++] = (FlowOperand){.kind = FLOW_VALUE, .id = f->leaves.data[p->leaves + k]};
    }
    *code = *f->code;
    code->insns = insns;
    code->operands = read;
    code->operand_count = at;
    *cfg = *f->cfg;
    cfg->code = code;
    Liveness *live;
    TRY(flow_liveness(cfg, arena, &live));
    u->live = live;
    return STATUS_OK;
}

static bool makes_computed(const Unroller *u, u32 insn) {
    const FlowInsn *in = &u->f->code->insns[insn];
    bool computed = !is_linear(u->f, insn) || is_widening(u->f, insn);
    for (u32 k = 0; k < in->defs; k++) computed |= bitset_has(&u->computed, u->f->code->operands[in->operands + k].id);
    return computed;
}

// From the end, twice: once more for what the turn before has computed.
static Status find_computed(Unroller *u) {
    const TimeFunc *f = u->f;
    if (!bitset_init(&u->computed, &u->f->lower->scratch, f->code->value_count + 1)) return STATUS_NO_MEMORY;
    for (u32 n = 2 * (u->end - u->begin); n-- > 0;) {
        u32 i = u->begin + n % (u->end - u->begin);
        const Picked *p = &f->picked[i];
        if (!p->needed || f->loop_control[i] || !makes_computed(u, i)) continue;
        for (u32 k = 0; k < p->leaf_count; k++)
            if (f->leaves.data[p->leaves + k] != p->base) bitset_add(&u->computed, f->leaves.data[p->leaves + k]);
    }
    return STATUS_OK;
}

static void note_name(Unroller *u, u32 value) {
    u->name[value] = u->made[value] = value;
    u->advanced[value] = WL_NONE;
}

// What the loop touches; no more is looked at.
static Status begin_names(Unroller *u) {
    const TimeFunc *f = u->f;
    Arena *arena = &u->f->lower->scratch;
    u32 values = f->code->value_count + 1;
    u->name = arena_alloc(arena, sizeof(u32) * values, 4);
    u->made = arena_alloc(arena, sizeof(u32) * values, 4);
    u->first = ARENA_ARRAY(arena, u32, f->leaves.len + 1);
    u->advanced = arena_alloc(arena, sizeof(u32) * values, 4);
    bool ok = u->name && u->made && u->first && u->advanced && bitset_init(&u->counters, arena, values);
    if (!ok) return STATUS_NO_MEMORY;
    for (u32 i = u->begin; i < u->end; i++) {
        const FlowInsn *in = &f->code->insns[i];
        const Picked *p = &f->picked[i];
        for (u32 k = 0; k < in->defs; k++) note_name(u, f->code->operands[in->operands + k].id);
        if (f->loop_control[i] && in->arith == FLOW_ADD) bitset_add(&u->counters, f->code->operands[in->operands].id);
        for (u32 k = 0; k < p->leaf_count; k++) note_name(u, f->leaves.data[p->leaves + k]);
    }
    return STATUS_OK;
}

// So many turns at once, in place of the region.
static Status emit_version(Unroller *u, LoopVersion version, u32 turns) {
    u->version = version;
    u->turns = turns;
    TRY(begin_names(u));
    TRY(emit_mark(u->f, u->begin, UNROLL_BEGIN));
    for (u->iteration = 0; u->iteration < turns; u->iteration++) TRY(emit_iteration(u));
    return emit_mark(u->f, u->end - 1, UNROLL_END);
}

Status time_emit_unrolled(TimeFunc *f, u32 header) {
    u32 begin = f->cfg->blocks[header].first;
    Unroller u = {.f = f, .begin = begin, .end = time_region_end(f, time_block(f, begin))};
    bool sides = false;
    for (u32 i = u.begin; i < u.end; i++) sides |= is_in_side(&u, i);
    if (sides) TRY(find_liveness(&u));
    TRY(find_computed(&u));
    if (f->rest[header]) TRY(time_emit_entry(f, u.begin, u.end));
    TRY(emit_version(&u, VERSION_TURNS, f->unrolled[header]));
    return f->left[header] ? emit_version(&u, VERSION_PAIR, f->left[header]) : STATUS_OK;
}
