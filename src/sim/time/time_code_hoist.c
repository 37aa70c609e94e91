// SPDX-License-Identifier: Apache-2.0
// What does not change in an innermost loop is computed before it. ptxas 13.0 (sm_90, loops written in PTX, 12 kinds of
// arithmetic in four places each) takes out of it whatever each turn comes through, and keeps the register. What a turn
// may go around stays, and so do divisions and roots with a subroutine. Of a division of 32 bits by what does not
// change the reciprocal goes; of several with signs only that of one, where no other one has the same divisor (loops
// with one and two divisions, quotients and remainders, by parameters, special registers, and what is loaded or
// computed before). Out of the loops around it ptxas takes what needs no more registers there; here that stays in them.
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

// The block before the innermost loop around `block` that instructions of it may go to; WL_NONE.
static u32 loop_before(const TimeFunc *f, u32 block) {
    u32 loop = f->loops->loop_of[block];
    if (loop == WL_NONE || !flow_loop_is_innermost(f->loops, loop) || f->predicated[block] || f->speculated[block])
        return WL_NONE;
    u32 before = f->dominators->parent[f->loops->loops[loop].header];
    return before == WL_NONE || f->predicated[before] || f->speculated[before] ? WL_NONE : before;
}

// The block before the loop of an instruction that leaves it; WL_NONE: it stays.
static u32 block_before(const TimeFunc *f, u32 insn) {
    u32 block = f->cfg->block_of[insn], loop = f->loops->loop_of[block], before = loop_before(f, block);
    if (before == WL_NONE) return WL_NONE;
    bool leaves = is_movable(f, insn) && time_is_always_run(f, loop, block) && !reads_of_loop(f, insn, loop);
    return leaves ? before : WL_NONE;
}

// --- reciprocals --------------------------------------------------------------------------------------------------
static bool is_signed_division(const TimeFunc *f, u32 insn) {
    u32 op = time_op(f, insn);
    return (op == OP_DIV_INT || op == OP_REM) && time_form(f, insn)->types[0] == TYPE_S32;
}

// Whether there is nothing in the loop that keeps a division with signs as it is: another one before it, or one by the
// same value.
static bool is_first_division(const TimeFunc *f, u32 insn, u32 loop) {
    const FlowLoop *l = &f->loops->loops[loop];
    for (u32 k = 0; k < l->block_count; k++) {
        const FlowBlock *block = &f->cfg->blocks[f->loops->members[l->blocks + k]];
        for (u32 i = block->first; i < block->first + block->count; i++) {
            if (i == insn || !f->picked[i].needed || !is_signed_division(f, i)) continue;
            if (i < insn || bitset_has(&f->same_divisor, i)) return false;
        }
    }
    return true;
}

static bool has_reciprocal(const TimeFunc *f, u32 insn) {
    u32 op = time_op(f, insn);
    u8 type = op == OP_DIV_INT || op == OP_REM ? time_form(f, insn)->types[0] : TYPE_NONE;
    return (type == TYPE_S32 || type == TYPE_U32) && f->picked[insn].needed && f->picked[insn].guard == WL_NONE &&
           f->code->insns[insn].guard == WL_NONE && time_variant(f, insn) == VARIANT_PLAIN;
}

// Whether operand 1 was made in the loop.
static bool divides_by_changing(const TimeFunc *f, u32 insn, u32 loop) {
    const FlowOperand *divisor = time_uses(f, insn) + 1;
    if (divisor->kind != FLOW_VALUE) return true;
    for (u32 d = f->first_def[divisor->id]; d < f->first_def[divisor->id + 1]; d++)
        if (flow_loop_has(f->loops, loop, time_home(f, f->defs_of[d]))) return true;
    return false;
}

static u32 block_of_reciprocal(const TimeFunc *f, u32 insn) {
    u32 block = f->cfg->block_of[insn], loop = f->loops->loop_of[block];
    if (!has_reciprocal(f, insn)) return WL_NONE;
    u32 before = loop_before(f, block);
    if (before == WL_NONE || !time_is_always_run(f, loop, block) || divides_by_changing(f, insn, loop)) return WL_NONE;
    return is_signed_division(f, insn) && !is_first_division(f, insn, loop) ? WL_NONE : before;
}

Status time_hoist(TimeFunc *f) {
    Arena *arena = &f->lower->scratch;
    u32 count = f->code->insn_count;
    f->hoisted = ARENA_ARRAY(arena, u32, count + 1);
    f->reciprocals = ARENA_ARRAY(arena, u32, count + 1);
    u32 *divided = ARENA_ARRAY(arena, u32, count + 1);
    if (!f->hoisted || !f->reciprocals || !divided) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) f->hoisted[i] = divided[i] = f->reciprocals[i] = WL_NONE;
    for (u32 i = 0; i < count; i++)
        if (f->cfg->blocks[f->cfg->block_of[i]].reachable) f->hoisted[i] = block_before(f, i);
    for (u32 i = 0; i < count; i++)
        if (f->cfg->blocks[f->cfg->block_of[i]].reachable && f->hoisted[i] == WL_NONE)
            divided[i] = block_of_reciprocal(f, i);
    f->divided = divided;
    for (u32 i = 0; i < count; i++) {
        TimeSteps steps;  // looked up for those who count them
        u32 form = f->lower->module->insns[f->function->insns + i].form;
        if (divided[i] != WL_NONE) TRY(time_steps(f->lower, form, VARIANT_DIVIDED, &steps));
    }
    return STATUS_OK;
}
