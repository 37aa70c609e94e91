// SPDX-License-Identifier: Apache-2.0
// wrong-type: float code that computes in double, because of a constant without f or a call of a double function. The
// sign is values that are widened from f32 and narrowed back. Integers of 64 bits where 32 would do: wide.c,
// short_divisions.c.
#include "analyze/advice/rule.h"

typedef struct Doubles {
    f64 arithmetic, conversions;  // samples in which they issued
    u32 widened, narrowed;
    const CasePart *part;  // the hottest instruction
    u32 pc;
    f64 most;
} Doubles;

static bool is_double(const CasePart *part, u32 pc) {
    return (part->insns[pc].traits & (TRAIT_FP64 | TRAIT_WIDEN | TRAIT_NARROW)) == TRAIT_FP64;
}

// Machine code: makes half of a constant, for arithmetic in double precision alone. That of a float is part of the
// instruction that uses it.
static bool is_constant_of_double(const CasePart *part, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    if (part->view->kind == VIEW_PTX || in->kind != FLOW_PLAIN || in->has_effects || !in->defs || in->is_load)
        return false;
    for (u32 u = 0; u < in->uses; u++)
        if (flow->code->operands[in->operands + in->defs + u].kind != FLOW_IMMEDIATE) return false;
    u32 users = 0;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = flow->chains->of_operand[in->operands + d];
        for (u32 i = node == WL_NONE ? 0 : flow->chains->first_user[node];
             node != WL_NONE && i < flow->chains->first_user[node + 1]; i++, users++)
            if (flow->chains->users[i].insn == WL_NONE || !is_double(part, flow->chains->users[i].insn)) return false;
    }
    return users > 0;
}

// Arithmetic with a constant.
static bool is_term(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    if (!is_double(part, pc)) return false;
    for (u32 u = 0; u < in->uses; u++) {
        u8 kind = part->view->flow.code->operands[in->operands + in->defs + u].kind;
        u32 source = insn_source(part, pc, u);
        if (kind == FLOW_IMMEDIATE || kind == FLOW_OTHER || (source != WL_NONE && is_constant_of_double(part, source)))
            return true;
    }
    return false;
}

// Terms of a series one after the other, `pc` among them: those that its value goes through or comes from.
static u32 terms_on(const CasePart *part, u32 pc, bool back, u32 most) {
    const Chains *chains = part->view->flow.chains;
    const FlowInsn *in = case_insn(part, pc);
    u32 longest = 0;
    if (!most || !is_term(part, pc)) return 0;
    for (u32 u = 0; back && u < in->uses; u++) {
        u32 source = insn_source(part, pc, u);
        if (source != WL_NONE && source < pc) longest = u32_max(longest, terms_on(part, source, back, most - 1));
    }
    u32 node = back || !in->defs ? WL_NONE : chains->of_operand[in->operands];
    for (u32 i = node == WL_NONE ? 0 : chains->first_user[node]; node != WL_NONE && i < chains->first_user[node + 1];
         i++) {
        u32 user = chains->users[i].insn;
        if (user != WL_NONE && user > pc) longest = u32_max(longest, terms_on(part, user, back, most - 1));
    }
    return 1 + longest;
}

// Functions are series of terms: of 53 bits twice as many as of 24 (exp: 11 and 5, the logarithm in pow: 7 and 3, as
// nvcc 13.0 compiles them for sm_90).
enum { LEAST_SERIES = 6, MOST_SERIES = 16 };
#define TERMS_LESS 0.5

static bool is_of_series(const CasePart *part, u32 pc) {
    u32 back = terms_on(part, pc, true, MOST_SERIES);
    return back && back + terms_on(part, pc, false, MOST_SERIES) > LEAST_SERIES;
}

// The compiler's routines for functions in double precision (pow) are bookkeeping of exponents and signs by half; those
// for float are a third as long, and in line.
enum { ROUTINES = 16 };
#define ROUTINE_LESS 0.7

typedef struct Routines {
    const char *names[ROUTINES];
    u32 count;
} Routines;

static bool is_of_routine(const Routines *r, const char *name) {
    for (u32 i = 0; i < r->count; i++)
        if (r->names[i] == name) return true;
    return false;
}

static Routines double_routines(const CasePart *part) {
    Routines r = {0};
    for (u32 pc = 0; pc < part->view->insn_count && r.count < ROUTINES; pc++) {
        const char *name = is_double(part, pc) ? insn_routine(part, pc) : NULL;
        if (name && !is_of_routine(&r, name)) r.names[r.count++] = name;
    }
    return r;
}

// Divisions and roots in line begin with an estimate of the upper half, which Newton's method makes exact: of 53 bits
// that takes `steps` instructions, of 24 `kept`. Divisions see with `tests` more whether the result is in range, those
// of floats with one of the special function unit (nvcc 13.0 for sm_90).
enum { NEWTON_REACH = 64 /* instructions, of which others may be between */ };
static const struct {
    const char *estimate;  // MUFU
    u32 steps, kept, tests;
} newton[] = {{"RCP64H", 8, 5, 3}, {"RSQ64H", 8, 4, 0}};

typedef struct Exact {
    f64 *less;   // by instruction: the part of it that floats do without
    f64 checks;  // samples of issue of the special function unit that they need besides
} Exact;

static u32 estimate_of(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    for (u32 k = 0; insn && insn->op == SASS_OP_MUFU && k < WL_COUNT(newton); k++)
        if (sass_has(insn, newton[k].estimate)) return k;
    return WL_NONE;
}

static bool is_range_test(const CasePart *part, u32 pc) {
    u32 op = insn_machine(part, pc)->op;
    return op == SASS_OP_FSETP || op == SASS_OP_FFMA;
}

static void mark_steps(const CasePart *part, u32 pc, u32 kind, Exact *x) {
    u32 steps = newton[kind].steps, tests = newton[kind].tests;
    for (u32 at = pc + 1; at < part->view->insn_count && at < pc + NEWTON_REACH; at++) {
        if (!same_line(part, at, pc) || x->less[at] > 0) continue;
        if (steps && is_double(part, at))
            x->less[at] = 1 - (f64)newton[kind].kept / newton[kind].steps, steps--;
        else if (tests && is_range_test(part, at))
            x->less[at] = 1, tests--;
    }
    if (newton[kind].tests) x->checks += part->insns[pc].issued;
}

static bool find_exact(AdviceCase *c, const CasePart *part, Exact *x) {
    *x = (Exact){.less = ARENA_ARRAY(c->scratch, f64, part->view->insn_count + 1)};
    if (!x->less) return c->status = STATUS_NO_MEMORY, false;
    for (u32 pc = 0; pc < part->view->insn_count && part->view->kind == VIEW_SASS; pc++) {
        u32 kind = insn_routine(part, pc) ? WL_NONE : estimate_of(part, pc);
        if (kind != WL_NONE) mark_steps(part, pc, kind, x);
    }
    return true;
}

static void add(Hit *hit, const CasePart *part, u32 pc, const Routines *routines, const Exact *exact, Doubles *d) {
    const CaseInsn *in = &part->insns[pc];
    const GpuModel *g = hit->c->gpu;
    f64 slower = g && g->fp64_latency ? 1 - (f64)g->alu_latency / (f64)g->fp64_latency : 0.5;
    bool converts = (in->traits & (TRAIT_WIDEN | TRAIT_NARROW)) != 0;
    d->widened += (in->traits & TRAIT_WIDEN) != 0;
    d->narrowed += (in->traits & TRAIT_NARROW) != 0;
    if (in->issued + in->blamed > d->most) d->most = in->issued + in->blamed, d->part = part, d->pc = pc;
    if (converts) {
        d->conversions += in->issued;
        hit_remove(hit, part, pc, 1);
        return;
    }
    d->arithmetic += in->issued;
    const char *routine = routines->count ? insn_routine(part, pc) : NULL;
    f64 less = routine && is_of_routine(routines, routine)              ? ROUTINE_LESS
               : exact->less[pc] > 0                                    ? exact->less[pc]
               : part->view->kind != VIEW_PTX && is_of_series(part, pc) ? TERMS_LESS
                                                                        : 0;
    hit_edit(hit, EDIT_AS_FLOAT, part, pc, 1);
    hit_spare(hit, part, pc, less);
    hit_blamed(hit, part, pc, ~STALL_BIT(MATH_PIPE_THROTTLE), slower * (1 - less));
    hit_blamed(hit, part, pc, STALL_BIT(MATH_PIPE_THROTTLE), 1 - less);
    hit_relieve(hit, RESOURCE_FP64, in->use[RESOURCE_FP64] * (1 - less));
    f64 ratio = g && g->fp64_interval ? (f64)g->fma_interval / (f64)g->fp64_interval : 0.5;
    hit_relieve(hit, RESOURCE_FMA, -in->use[RESOURCE_FP64] * (1 - less) * ratio);
}

static void shorten_routines(Hit *hit, const CasePart *part, const Routines *r) {
    for (u32 pc = 0; pc < part->view->insn_count && r->count; pc++) {
        bool other = !(part->insns[pc].traits & (TRAIT_FP64 | TRAIT_WIDEN | TRAIT_NARROW));
        const char *name = other && !is_constant_of_double(part, pc) ? insn_routine(part, pc) : NULL;
        if (name && is_of_routine(r, name)) hit_spare(hit, part, pc, ROUTINE_LESS);
    }
}

void rule_wrong_type(AdviceCase *c) {
    Doubles d = {0};
    narrow_integers(c);
    shorten_divisions(c);
    Hit *hit = hit_begin(c);
    for (u32 p = 0; p < c->part_count; p++) {
        Routines routines = double_routines(&c->parts[p]);
        Exact exact;
        if (!find_exact(c, &c->parts[p], &exact)) return hit_drop(hit);
        for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++)
            if (c->parts[p].insns[pc].traits & (TRAIT_FP64 | TRAIT_WIDEN | TRAIT_NARROW))
                add(hit, &c->parts[p], pc, &routines, &exact, &d);
            else if (exact.less[pc] > 0)
                hit_spare(hit, &c->parts[p], pc, exact.less[pc]);
            else if (is_constant_of_double(&c->parts[p], pc))
                hit_spare(hit, &c->parts[p], pc, 1);
        shorten_routines(hit, &c->parts[p], &routines);
        hit_add_special(hit, exact.checks);
    }
    if (!d.widened || !d.narrowed || d.arithmetic + d.conversions <= 0) return hit_drop(hit);
    f64 share = 100 * (d.arithmetic + d.conversions) / c->load.issued;
    hit_fact(hit, "fp64_issue_share", share, "%",
             "%.1f %% of the instructions compute in double precision or convert to it and back", share);
    hit_fact(hit, "conversions", d.widened + d.narrowed, "instructions", "%u conversions from float to double, %u back",
             d.widened, d.narrowed);
    hit_narrows(hit);
    hit_caution(hit, "check that the result does not need the digits");
    hit_end_line(hit, d.part, d.pc, "Compute in float at %s: write constants with f, call float functions",
                 place_text(c, d.part, d.pc));
}
