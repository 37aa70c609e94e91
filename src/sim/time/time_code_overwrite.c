// SPDX-License-Identifier: Apache-2.0
// Selections between two registers, as ptxas has them: one of the two becomes the result, and what makes the other one
// is done behind the condition, with it as guard, into the same register (@P0 FMUL R7, R0, R0 and no FSEL; @P0 LDG R7).
// So a load that only a selection wants waits for the condition. From listings of ptxas 13.0 for sm_90
// (tests/time/overwrite.ptx, snippets "over ..." of idioms.tsv): the register that stays must have no reader left, what
// makes the other one must be one machine instruction with a result of a register that nobody else reads - of the two
// sides the one that is made last, if it can - and no store may lie between a load and the selection. Not for shuffles,
// atomics, pairs of registers, numbers and parameters.
#include "sim/time/time_lower.h"

#include <string.h>

typedef struct Overwriter {
    TimeFunc *f;
    Bitset alive;    // behind the operation under work
    Bitset uniform;  // values that a uniform instruction makes
    u32 first;       // of the block's operations
} Overwriter;

static const u32 *results(const TimeFunc *f, const MachineOp *op) { return f->operands.data + op->operands; }
static const u32 *sources(const TimeFunc *f, const MachineOp *op) { return results(f, op) + op->defs; }

static bool is_register(const TimeFunc *f, u32 value) {
    u32 bits = f->value_bits.data[value];
    return bits > 1 && bits <= 32 && value != f->code->carry;
}

static bool is_plain(const MachineOp *op) {
    return !op->hidden && !op->copy && op->guard == WL_NONE && !op->guard_use && op->mark == UNROLL_NONE &&
           op->flow == FLOW_PLAIN && op->defs == 1;
}

typedef struct Selection {
    u32 at, result, sides[2], condition;
} Selection;

static bool find_selection(const Overwriter *o, u32 at, Selection *s) {
    const TimeFunc *f = o->f;
    const MachineOp *op = &f->ops.data[at];
    if (!is_plain(op) || op->uses != 3 || time_op(f, op->pc) != OP_SELP || op->unit == UNIT_UNIFORM) return false;
    const u32 *use = sources(f, op);
    *s = (Selection){at, results(f, op)[0], {use[0], use[1]}, use[2]};
    bool condition = f->value_bits.data[s->condition] == 1;
    return condition && is_register(f, s->result) && is_register(f, use[0]) && is_register(f, use[1]) &&
           use[0] != use[1];
}

// The last operation before the selection, in its block, that writes the value; WL_NONE.
static u32 maker_of(const Overwriter *o, const Selection *s, u32 value) {
    for (u32 i = s->at; i-- > o->first;)
        if (time_names(o->f, &o->f->ops.data[i], value, true)) return i;
    return WL_NONE;
}

// Whether the two are of one instruction of the PTX; constants that no operation names stand before the first that
// needs them.
static bool belongs_to(const MachineOp *a, const MachineOp *b) {
    return a->defs && a->pc == b->pc && a->iteration == b->iteration;
}

// One machine instruction for an instruction of the PTX, which can have a guard.
static bool can_be_guarded(const Overwriter *o, u32 at) {
    const MachineOp *op = &o->f->ops.data[at];
    u32 flags = form_op(time_form(o->f, op->pc))->flags;
    bool several = (at > o->first && belongs_to(op - 1, op)) || belongs_to(op + 1, op);
    bool kind = op->kind == TIME_MATH || (op->kind == TIME_LOAD && op->order <= ORDER_LOAD);
    return is_plain(op) && kind && !several && op->uses + 1 < UINT8_MAX && op->unit != UNIT_UNIFORM &&
           !(flags & (OPF_WARP_SYNC | OPF_CONVERGENT));
}

static bool is_between(const MachineOp *load, const MachineOp *op) {
    if (load->kind != TIME_LOAD || load->order == ORDER_FREE) return false;
    bool same = op->space == load->space || op->space == SPACE_NONE || load->space == SPACE_NONE;
    return op->order >= ORDER_FENCE || (op->order == ORDER_STORE && same);
}

// Whether the operation can go behind all others up to the selection.
static bool can_wait(const Overwriter *o, u32 at, const Selection *s) {
    const TimeFunc *f = o->f;
    const MachineOp *maker = &f->ops.data[at];
    u32 value = results(f, maker)[0];
    for (u32 i = at + 1; i < s->at; i++) {
        const MachineOp *op = &f->ops.data[i];
        if (op->order == ORDER_ALL || op->mark != UNROLL_NONE || time_names(f, op, value, false) ||
            is_between(maker, op))
            return false;
        for (u32 k = 0; k < maker->uses; k++)
            if (time_names(f, op, sources(f, maker)[k], true)) return false;
    }
    return true;
}

// Whether `side` can be made under the condition, over `other`.
static bool can_overwrite(const Overwriter *o, const Selection *s, u32 side, u32 other, u32 maker) {
    const TimeFunc *f = o->f;
    if (maker == WL_NONE || bitset_has(&o->alive, side) || bitset_has(&o->uniform, other)) return false;
    if (other != s->result && bitset_has(&o->alive, other)) return false;
    const MachineOp *made = &f->ops.data[maker], *select = &f->ops.data[s->at];
    if (made->iteration != select->iteration || made->version != select->version) return false;
    if (time_block(f, made->pc) != time_block(f, select->pc) || !can_be_guarded(o, maker)) return false;
    if (other != s->result && time_names(f, made, s->result, false)) return false;
    return can_wait(o, maker, s);
}

// The maker goes behind what becomes of the selection: a copy of the other side, which will most likely need no
// instruction.
static Status overwrite(TimeFunc *f, const Selection *s, u32 other, u32 maker) {
    MachineOp *ops = f->ops.data;
    TRY(time_guard_op(f, maker, s->condition, true));
    u32 *operands = f->operands.data + ops[maker].operands;
    for (u32 k = ops[maker].defs; k < ops[maker].defs + ops[maker].uses - 1u; k++)
        if (operands[k] == other) operands[k] = s->result;
    operands[0] = s->result;
    MachineOp made = ops[maker], copy = ops[s->at];
    copy.operands = f->operands.len;
    copy.uses = 1;
    copy.copy = true;
    TRY(vec_push(&f->operands, s->result));
    TRY(vec_push(&f->operands, other));
    memmove(ops + maker, ops + maker + 1, sizeof *ops * (s->at - maker - 1));
    ops[s->at - 1] = copy;
    ops[s->at] = made;
    return STATUS_OK;
}

// --- what is counted ------------------------------------------------------------------------------------------------
// count + (p ? number : 0) is y = count + number; @!P0 MOV y, count [ptxas 13.0, sm_90: any number]: two instructions
// of each count wait for the one before it, not one.
typedef struct Count {
    u32 select, at;              // operations: of the number or 0, of the sum
    u32 number, condition, sum;  // values: what the selection makes, ...
    u32 before;                  // the other one that is added
} Count;

static bool is_sum_of_two(const TimeFunc *f, const MachineOp *op) {
    return is_plain(op) && op->uses == 2 && time_op(f, op->pc) == OP_ADD_INT && op->kind == TIME_MATH &&
           op->unit != UNIT_UNIFORM && ptx_types[time_form(f, op->pc)->types[0]].class != TYPE_CLASS_FLOAT &&
           is_register(f, results(f, op)[0]);
}

// A selection between a number and 0, which is all that the operation `at` has of it.
static bool is_number_or_zero(const Overwriter *o, u32 select, u32 at) {
    const TimeFunc *f = o->f;
    const MachineOp *op = &f->ops.data[select];
    const MachineOp *sum = &f->ops.data[at];
    if (!is_plain(op) || op->uses != 1 || op->unit == UNIT_UNIFORM || !time_selects_number(f, op->pc)) return false;
    return op->iteration == sum->iteration && op->version == sum->version &&
           time_block(f, op->pc) == time_block(f, sum->pc);
}

static bool find_count(const Overwriter *o, u32 at, Count *c) {
    const TimeFunc *f = o->f;
    const MachineOp *sum = &f->ops.data[at];
    if (!is_sum_of_two(f, sum)) return false;
    for (u32 k = 0; k < 2; k++) {
        u32 number = sources(f, sum)[k], before = sources(f, sum)[!k], select = at;
        if (number == before || bitset_has(&o->alive, number) || !is_register(f, before)) continue;
        while (select > o->first && !time_names(f, &f->ops.data[select - 1], number, true)) select--;
        if (select-- == o->first || !is_number_or_zero(o, select, at)) continue;
        *c = (Count){select, at, number, sources(f, &f->ops.data[select])[0], results(f, sum)[0], before};
        bool clear = f->value_bits.data[c->condition] == 1;
        for (u32 i = select + 1; i < at && clear; i++)
            clear =
                !time_names(f, &f->ops.data[i], number, false) && !time_names(f, &f->ops.data[i], c->condition, true);
        if (clear) return true;
    }
    return false;
}

static Status count_up(TimeFunc *f, const Count *c) {
    MachineOp *ops = f->ops.data, sum = ops[c->at], move = ops[c->at];
    sum.pc = ops[c->select].pc;
    sum.operands = f->operands.len;
    sum.uses = 1;
    TRY(vec_push(&f->operands, c->number));
    TRY(vec_push(&f->operands, c->before));
    move.operands = f->operands.len;
    move.uses = c->sum == c->before ? 1 : 2;
    TRY(vec_push(&f->operands, c->sum));
    TRY(vec_push(&f->operands, c->number));
    if (move.uses == 2) TRY(vec_push(&f->operands, c->before));
    memmove(ops + c->select, ops + c->select + 1, sizeof *ops * (c->at - c->select - 1));
    ops[c->at - 1] = sum;
    ops[c->at] = move;
    return time_guard_op(f, c->at, c->condition, c->sum == c->before);
}

static Status look_at(Overwriter *o, u32 at) {
    Selection s;
    Count c;
    if (find_count(o, at, &c)) return count_up(o->f, &c);
    if (!find_selection(o, at, &s)) return STATUS_OK;
    u32 makers[2] = {maker_of(o, &s, s.sides[0]), maker_of(o, &s, s.sides[1])};
    u32 last = makers[1] != WL_NONE && (makers[0] == WL_NONE || makers[1] > makers[0]);
    for (u32 k = 0; k < 2; k++) {
        u32 side = k ? !last : last;
        if (!can_overwrite(o, &s, s.sides[side], s.sides[!side], makers[side])) continue;
        return overwrite(o->f, &s, s.sides[!side], makers[side]);
    }
    return STATUS_OK;
}

static void step_back(Overwriter *o, const MachineOp *op) {
    for (u32 k = 0; k < op->defs && op->guard == WL_NONE; k++) bitset_remove(&o->alive, results(o->f, op)[k]);
    if (op->guard != WL_NONE) bitset_add(&o->alive, results(o->f, op)[0]);
    for (u32 k = 0; k < op->uses; k++) bitset_add(&o->alive, sources(o->f, op)[k]);
}

Status time_overwrite(TimeFunc *f) {
    Overwriter o = {.f = f};
    Cfg *cfg;
    Liveness *live;
    if (f->lower->gpu->sm_version < SM_MAXWELL) return STATUS_OK;  // nobody has looked
    TRY(time_flow(f, &cfg, &live));
    Arena *arena = &f->lower->scratch;
    if (!bitset_init(&o.alive, arena, f->value_count + 1) || !bitset_init(&o.uniform, arena, f->value_count + 1))
        return STATUS_NO_MEMORY;
    for (u32 i = 0; i < f->ops.len; i++)
        for (u32 k = 0; k < f->ops.data[i].defs; k++)
            if (f->ops.data[i].unit == UNIT_UNIFORM) bitset_add(&o.uniform, results(f, &f->ops.data[i])[k]);
    for (u32 b = 0; b < cfg->block_count; b++) {
        const FlowBlock *block = &cfg->blocks[b];
        o.first = block->first;
        bitset_clear(&o.alive);
        liveness_add_out(live, b, &o.alive);
        for (u32 i = block->first + block->count; i-- > block->first;) {
            TRY(look_at(&o, i));
            step_back(&o, &f->ops.data[i]);
        }
    }
    return STATUS_OK;
}
