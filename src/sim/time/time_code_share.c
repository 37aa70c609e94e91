// SPDX-License-Identifier: Apache-2.0
// Divisions of 32 bits begin with the reciprocal of their divisor. ptxas computes that once for all that divide by the
// same value: those behind the first have only the rest of the sequence; a quotient and a remainder of the same two
// values are found together [listings of ptxas 13.0 for sm_90].
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

// What is known of a division from those before it.
static void compare(TimeFunc *f, const Divisions *before, const Division *d) {
    for (u32 i = 0; i < before->len; i++) {
        const Division *o = &before->data[i];
        bool number = d->divisor.value == WL_NONE;  // of either sign
        if ((o->type != d->type && !number) || !same_factor(f, &o->divisor, o->insn, &d->divisor, d->insn)) continue;
        if (!dom_dominates(f->dominators, f->cfg->block_of[o->insn], f->cfg->block_of[d->insn])) continue;
        bitset_add(&f->same_divisor, d->insn);
        if (o->type == d->type && same_factor(f, &o->dividend, o->insn, &d->dividend, d->insn))
            bitset_add(&f->same_division, d->insn);
    }
}

Status time_share(TimeFunc *f) {
    Divisions before = {0};
    Division d;
    TRY(flow_dominators(f->cfg, &f->lower->scratch, &f->dominators));
    Status status = STATUS_OK;
    for (u32 i = 0; i < f->code->insn_count && status == STATUS_OK; i++) {
        if (!f->picked[i].needed || !f->cfg->blocks[f->cfg->block_of[i]].reachable || !is_division(f, i, &d)) continue;
        compare(f, &before, &d);
        if (before.len < DIVISIONS_KEPT) status = vec_push(&before, d);
    }
    vec_free(&before);
    return status;
}
