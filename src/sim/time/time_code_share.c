// SPDX-License-Identifier: Apache-2.0
// Divisions of 32 bits begin with the reciprocal of their divisor. ptxas computes that once for all that divide by the
// same value: those behind the first have only the rest of the sequence [listings of ptxas 13.0 for sm_90].
#include "sim/time/time_lower.h"

typedef struct Division {
    u32 insn, divisor, type;
} Division;

typedef Vec(Division) Divisions;

static bool is_division(const TimeFunc *f, u32 insn, Division *d) {
    const Form *form = time_form(f, insn);
    const FlowOperand *uses = time_uses(f, insn);
    bool word = form->types[0] == TYPE_S32 || form->types[0] == TYPE_U32;
    if ((form->op != OP_DIV_INT && form->op != OP_REM) || !word || uses[1].kind != FLOW_VALUE) return false;
    i64 number;
    *d = (Division){insn, time_look_through(f, uses[1].id, insn, &number), form->types[0]};
    return d->divisor != WL_NONE;
}

static bool dominates(const DomTree *tree, u32 a, u32 b) {
    while (b != WL_NONE && b != a) b = tree->parent[b];
    return b == a;
}

static bool is_known(const TimeFunc *f, const Divisions *before, const Division *d) {
    for (u32 i = 0; i < before->len; i++) {
        const Division *o = &before->data[i];
        if (o->divisor == d->divisor && o->type == d->type && time_is_same(f, d->divisor, o->insn, d->insn) &&
            dominates(f->dominators, f->cfg->block_of[o->insn], f->cfg->block_of[d->insn]))
            return true;
    }
    return false;
}

Status time_share(TimeFunc *f) {
    Divisions before = {0};
    Division d;
    TRY(flow_dominators(f->cfg, &f->lower->scratch, &f->dominators));
    Status status = STATUS_OK;
    for (u32 i = 0; i < f->code->insn_count && status == STATUS_OK; i++) {
        if (!f->picked[i].needed || !f->cfg->blocks[f->cfg->block_of[i]].reachable || !is_division(f, i, &d)) continue;
        if (is_known(f, &before, &d))
            bitset_add(&f->same_divisor, i);
        else
            status = vec_push(&before, d);
    }
    vec_free(&before);
    return status;
}
