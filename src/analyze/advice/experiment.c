// SPDX-License-Identifier: Apache-2.0
// Experiments: what a rule would change, as edits of the simulator's timing (record/edit.h), and what came of it when
// it was tried.
#include <stdlib.h>
#include <string.h>

#include "analyze/advice/rule.h"

#define SEVERAL_STEPS 1.5  // machine instructions: from there on it is a sequence, part of which may go

static int by_place(const void *left, const void *right) {
    const HitEdit *a = left, *b = right;
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    if (a->pc != b->pc) return a->pc < b->pc ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->percent < b->percent) - (a->percent > b->percent);  // the most of one edit first
}

static bool is_again(const HitEdit *a, const HitEdit *b) {
    return a->part == b->part && a->pc == b->pc && a->kind == b->kind;
}

typedef enum ExperimentUse { SHOWN, COUNTS } ExperimentUse;

static const struct Experiment {
    const char *rule;
    ExperimentUse use;
} experiments[] = {
#define EXPERIMENT(rule, use, text) {rule, use},
#include "analyze/advice/experiments.def"
#undef EXPERIMENT
};

static const struct Experiment *experiment_of(const AdviceRule *rule) {
    for (u32 i = 0; i < WL_COUNT(experiments); i++)
        if (strcmp(experiments[i].rule, rule->name) == 0) return &experiments[i];
    return NULL;
}

// Instructions that are one machine instruction each, of which a part goes: of a hundred so many.
static bool comes_up(const HitEdit *e, u32 *carry) {
    bool whole = e->kind != EDIT_FREE || e->percent == 100 || case_access(e->part, e->pc);
    if (whole || insn_steps(e->part, e->pc) > SEVERAL_STEPS) return true;
    *carry += e->percent;
    if (*carry < 100) return false;
    *carry -= 100;
    return true;
}

static u32 percent_of(const HitEdit *e) {
    bool one = e->kind == EDIT_FREE && !case_access(e->part, e->pc) && insn_steps(e->part, e->pc) <= SEVERAL_STEPS;
    return one ? 100 : e->percent;
}

const char *hit_edits(Hit *hit) {
    const char *text = "", *kernel = hit->c->view->function->name;
    u32 carry = 0;
    if (!experiment_of(hit->rule)) return text;
    if (hit->edits.len) qsort(hit->edits.data, hit->edits.len, sizeof *hit->edits.data, by_place);
    for (u32 i = 0; i < hit->edits.len; i++) {
        const HitEdit *e = &hit->edits.data[i];
        if ((i && is_again(e - 1, e)) || !comes_up(e, &carry)) continue;
        text = case_printf(hit->c, "%s%s %u %u %s %s\n", text, edit_name((EditKind)e->kind), percent_of(e), e->pc,
                           e->part->view->function->name, kernel);
    }
    return text;
}

bool hit_tried_counts(const Hit *hit) {
    const struct Experiment *experiment = experiment_of(hit->rule);
    return experiment && experiment->use == COUNTS;
}

f64 hit_tried(const Hit *hit) {
    const AdviceContext *x = hit->c->context;
    for (u32 i = 0; i < x->experiment_count && *hit->edit_text; i++) {
        const ProfileExperiment *e = &x->experiments[i];
        if (e->function != hit->c->view->function->id || strcmp(e->rule, hit->rule->name) != 0) continue;
        if (strcmp(e->edits, hit->edit_text) == 0) return e->before_ns / e->after_ns;
    }
    return 0;
}
