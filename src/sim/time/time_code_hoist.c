// SPDX-License-Identifier: Apache-2.0
// What does not change in an innermost loop is computed before it. ptxas 13.0 (sm_90, loops written in PTX, 12 kinds of
// arithmetic in four places each) takes out of it whatever each turn comes through, and keeps the register. What a turn
// may go around stays, and so do divisions and roots with a subroutine. Out of the loops around it ptxas takes what
// needs no more registers there; here that stays in them.
#include "sim/time/time_lower.h"

#include "sim/slow_path.h"

static bool has_unit(u8 unit) {
    return unit == UNIT_ALU || unit == UNIT_FMA || unit == UNIT_FMAHEAVY || unit == UNIT_FP16 || unit == UNIT_FP64 ||
           unit == UNIT_XU;
}

static bool is_edited(const TimeFunc *f, u32 insn) {
    for (u32 k = 0; k < EDIT_KIND_COUNT; k++)
        if (time_edited(f, insn, (EditKind)k)) return true;
    return false;
}

static bool is_movable(const TimeFunc *f, u32 insn) {
    const FlowInsn *in = &f->code->insns[insn];
    const Picked *p = &f->picked[insn];
    const u32 stays = OPF_CONVERGENT | OPF_VOLATILE | OPF_WARP_SYNC | OPF_CARRY_IN | OPF_CARRY_OUT | OPF_MATRIX;
    if (!p->needed || p->leaf_count == 0 || p->window || p->guard != WL_NONE || f->merged[insn] != WL_NONE)
        return false;
    if (in->kind != FLOW_PLAIN || in->guard != WL_NONE || in->is_load || in->is_store || in->is_atomic || in->defs != 1)
        return false;
    const Form *form = time_form(f, insn);
    if (form_op(form)->flags & stays || has_slow_path(form) || !has_unit(form_op(form)->unit)) return false;
    TimeVariant variant = time_variant(f, insn);
    return f->sole_def[f->code->operands[in->operands].id] == insn && !f->loop_control[insn] &&
           time_kind(f, insn) == TIME_MATH && variant != VARIANT_SPECIAL && variant != VARIANT_CONSTANT &&
           !is_edited(f, insn);
}

static bool reads_of_loop(const TimeFunc *f, u32 insn, u32 loop) {
    const Picked *p = &f->picked[insn];
    for (u32 k = 0; k < p->leaf_count; k++) {
        u32 leaf = f->leaves.data[p->leaves + k];
        for (u32 d = f->first_def[leaf]; d < f->first_def[leaf + 1]; d++)
            if (flow_loop_has(f->loops, loop, time_home(f, f->defs_of[d]))) return true;
    }
    return false;
}

// The block before the loop of an instruction that leaves it; WL_NONE: it stays.
static u32 block_before(const TimeFunc *f, u32 insn) {
    u32 block = f->cfg->block_of[insn], loop = f->loops->loop_of[block];
    if (loop == WL_NONE || !flow_loop_is_innermost(f->loops, loop) || f->predicated[block] || f->speculated[block])
        return WL_NONE;
    u32 before = f->dominators->parent[f->loops->loops[loop].header];
    if (before == WL_NONE || f->predicated[before] || f->speculated[before]) return WL_NONE;
    bool leaves = is_movable(f, insn) && time_is_always_run(f, loop, block) && !reads_of_loop(f, insn, loop);
    return leaves ? before : WL_NONE;
}

Status time_hoist(TimeFunc *f) {
    f->hoisted = ARENA_ARRAY(&f->lower->scratch, u32, f->code->insn_count + 1);
    if (!f->hoisted) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < f->code->insn_count; i++) f->hoisted[i] = WL_NONE;
    for (u32 i = 0; i < f->code->insn_count; i++)
        if (f->cfg->blocks[f->cfg->block_of[i]].reachable) f->hoisted[i] = block_before(f, i);
    return STATUS_OK;
}
