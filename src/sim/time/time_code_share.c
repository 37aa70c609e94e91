// SPDX-License-Identifier: Apache-2.0
// Divisions of 32 bits begin with the reciprocal of their divisor. ptxas computes that once for all that divide by the
// same value: those behind the first have only the rest of the sequence, but in loops that may go around them; a
// quotient and a remainder of the same two values are found together; but none of it behind what may call a subroutine
// [listings of ptxas 13.0 for sm_90]. Sine and cosine of the same value have one product that takes it to turns.
#include "sim/time/time_lower.h"

enum { DIVISIONS_KEPT = 256 };

typedef struct Factor {
    u32 value;  // WL_NONE: a number
    i64 number;
} Factor;

typedef struct Division {
    u32 insn, type;
    Factor dividend, divisor;
} Division;

typedef Vec(Division) Divisions;

static Factor factor_of(const TimeFunc *f, u32 insn, const FlowOperand *o) {
    Factor factor = {.value = WL_NONE, .number = o->kind == FLOW_IMMEDIATE ? o->value : 0};
    if (o->kind == FLOW_VALUE) factor.value = time_look_through(f, o->id, insn, &factor.number);
    return factor;
}

static bool same_factor(const TimeFunc *f, const Factor *a, u32 from, const Factor *b, u32 to) {
    if (a->value != b->value || (a->value == WL_NONE && a->number != b->number)) return false;
    return a->value == WL_NONE || time_is_same(f, a->value, from, to);
}

// By a literal of the instruction's own there is no reciprocal; by a register that holds one there is.
static bool is_division(const TimeFunc *f, u32 insn, Division *d) {
    const Form *form = time_form(f, insn);
    const FlowOperand *uses = time_uses(f, insn);
    bool word = form->types[0] == TYPE_S32 || form->types[0] == TYPE_U32;
    if ((form->op != OP_DIV_INT && form->op != OP_REM) || !word || uses[1].kind != FLOW_VALUE) return false;
    *d = (Division){insn, form->types[0], factor_of(f, insn, uses), factor_of(f, insn, uses + 1)};
    return true;
}

// As if the turns were divided by the value. That of a number is a number.
static bool is_of_turns(const TimeFunc *f, u32 insn, Division *d) {
    u32 op = time_op(f, insn);
    const FlowOperand *use = time_uses(f, insn);
    if ((op != OP_SIN && op != OP_COS) || use->kind != FLOW_VALUE) return false;
    *d = (Division){insn, TYPE_F32, {WL_NONE, (i64)op}, factor_of(f, insn, use)};
    return d->divisor.value != WL_NONE;
}

// --- calls between ------------------------------------------------------------------------------------------------
typedef struct Calls {
    bool any;
    Bitset blocks, seen;  // that have some; that were looked at
    u32 *work;
} Calls;

static Status find_calls(const TimeFunc *f, Calls *c) {
    Arena *arena = &f->lower->scratch;
    u32 count = f->cfg->block_count;
    c->work = ARENA_ARRAY(arena, u32, count + 1);
    if (!c->work || !bitset_init(&c->blocks, arena, count + 1) || !bitset_init(&c->seen, arena, count + 1))
        return STATUS_NO_MEMORY;
    for (u32 b = 0; b < count; b++) {
        const FlowBlock *block = &f->cfg->blocks[b];
        if (!block->reachable || !time_calls_between(f, block->first, block->first + block->count)) continue;
        bitset_add(&c->blocks, b);
        c->any = true;
    }
    return STATUS_OK;
}

// Whether a way from instruction `from` to `to`, whose block it dominates, comes through a call: backwards from there.
static bool call_between(const TimeFunc *f, Calls *c, u32 from, u32 to) {
    u32 first = f->cfg->block_of[from], last = f->cfg->block_of[to], count = 0;
    if (!c->any) return false;
    if (first == last) return time_calls_between(f, from, to);
    const FlowBlock *begin = &f->cfg->blocks[first];
    if (time_calls_between(f, from, begin->first + begin->count) ||
        time_calls_between(f, f->cfg->blocks[last].first, to))
        return true;
    bitset_clear(&c->seen);
    bitset_add(&c->seen, first);
    c->work[count++] = last;
    while (count) {
        const FlowBlock *block = &f->cfg->blocks[c->work[--count]];
        for (u32 p = 0; p < block->pred_count; p++) {
            u32 b = f->cfg->edges[block->preds + p];
            if (bitset_has(&c->seen, b) || !f->cfg->blocks[b].reachable) continue;
            if (bitset_has(&c->blocks, b)) return true;
            bitset_add(&c->seen, b);
            c->work[count++] = b;
        }
    }
    return false;
}

// Whether instruction `to` is in a loop, `from` before that, and a turn may go around it: then it has its own
// reciprocal (divisions behind sides and loops, in sides, and in loops, in every turn and not).
static bool goes_around(const TimeFunc *f, u32 from, u32 to) {
    u32 block = f->cfg->block_of[to];
    for (u32 loop = f->loops->loop_of[block]; loop != WL_NONE; loop = f->loops->loops[loop].parent) {
        if (flow_loop_has(f->loops, loop, f->cfg->block_of[from])) return false;
        if (!time_is_always_run(f, loop, block)) return true;
    }
    return false;
}

// What is known of a division from those before it.
static void compare(TimeFunc *f, Calls *calls, const Divisions *before, const Division *d) {
    for (u32 i = 0; i < before->len; i++) {
        const Division *o = &before->data[i];
        bool number = d->divisor.value == WL_NONE;  // of either sign
        if ((o->type != d->type && !number) || !same_factor(f, &o->divisor, o->insn, &d->divisor, d->insn)) continue;
        if (!dom_dominates(f->dominators, f->cfg->block_of[o->insn], f->cfg->block_of[d->insn])) continue;
        if (goes_around(f, o->insn, d->insn) || call_between(f, calls, o->insn, d->insn)) continue;
        bitset_add(&f->same_divisor, d->insn);
        if (o->type == d->type && same_factor(f, &o->dividend, o->insn, &d->dividend, d->insn))
            bitset_add(&f->same_division, d->insn);
    }
}

Status time_share(TimeFunc *f) {
    Divisions before = {0};
    Calls calls = {0};
    Division d;
    TRY(flow_dominators(f->cfg, &f->lower->scratch, &f->dominators));
    TRY(flow_loops(f->cfg, f->dominators, &f->lower->scratch, &f->loops));
    TRY(find_calls(f, &calls));
    Status status = STATUS_OK;
    for (u32 i = 0; i < f->code->insn_count && status == STATUS_OK; i++) {
        if (!f->picked[i].needed || !f->cfg->blocks[f->cfg->block_of[i]].reachable ||
            !(is_division(f, i, &d) || is_of_turns(f, i, &d)))
            continue;
        compare(f, &calls, &before, &d);
        if (before.len < DIVISIONS_KEPT) status = vec_push(&before, d);
    }
    vec_free(&before);
    return status;
}
