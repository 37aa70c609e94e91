// SPDX-License-Identifier: Apache-2.0
// Reading affine forms: as text, and how they change per iteration.
#include <inttypes.h>

#include "flow/affine.h"
#include "flow/affine_poly.h"
#include "flow/flow_text.h"

static void print_param(FlowText *text, const FlowCode *code, const AffineFactor *factor) {
    u32 first = code->module ? code->module->funcs[code->func].params : 0;
    flow_print(text, "param%u", factor->id - first);
    if (factor->offset) flow_print(text, "[%" PRId64 "]", factor->offset);
}

// A value that is not understood is named with the place where it is made: %r7@12, or the block of a merge.
static void print_node(FlowText *text, const Chains *chains, u32 id) {
    const ChainNode *node = &chains->nodes[id];
    flow_print_value(text, chains->cfg->code, node->value);
    if (node->insn == WL_NONE)
        flow_print(text, "@B%u", node->block);
    else
        flow_print(text, "@%u", node->insn);
}

static void print_factor(FlowText *text, const Affine *affine, u32 id) {
    static const char component[] = "xyzw";
    const AffineFactor *factor = &affine->factors[id];
    const FlowCode *code = affine->chains->cfg->code;
    switch (factor->kind) {
    case AFFINE_SREG:
        flow_print(text, "%s", ptx_sregs[factor->id].text + 1);
        if (factor->component < 4) flow_print(text, ".%c", component[factor->component]);
        break;
    case AFFINE_PARAMETER: print_param(text, code, factor); break;
    case AFFINE_SYMBOL: flow_print_variable(text, code, factor->id); break;
    case AFFINE_COUNTER: flow_print(text, "L%u", factor->id); break;
    default: print_node(text, affine->chains, factor->id); break;
    }
}

static void print_term(FlowText *text, const Affine *affine, const AffineTerm *term, bool first) {
    bool negative = term->coefficient < 0;
    u64 size = negative ? 0 - (u64)term->coefficient : (u64)term->coefficient;
    flow_print(text, "%s", first ? (negative ? "-" : "") : (negative ? " - " : " + "));
    if (size != 1) flow_print(text, "%" PRIu64 "*", size);
    for (u32 k = 0; k < term_degree(term); k++) {
        if (k) flow_print(text, "*");
        print_factor(text, affine, term->factors[k]);
    }
}

static bool is_base(const AffineTerm *term, u32 base) {
    return term->coefficient == 1 && term->factors[0] == base && term_degree(term) == 1;
}

Status affine_print(const Affine *affine, u32 form, u32 base, TextBuffer *out) {
    FlowText text = {.out = out};
    const AffineForm *f = &affine->forms[form];
    bool first = true;
    for (u32 pass = base == WL_NONE; pass < 2; pass++) {
        for (u32 i = 0; i < f->term_count; i++) {
            const AffineTerm *term = &affine->terms[f->terms + i];
            if (is_base(term, base) != (pass == 0)) continue;
            print_term(&text, affine, term, first);
            first = false;
        }
    }
    u64 size = f->constant < 0 ? 0 - (u64)f->constant : (u64)f->constant;
    if (first)
        flow_print(&text, "%" PRId64, f->constant);
    else if (size)
        flow_print(&text, " %c %" PRIu64, f->constant < 0 ? '-' : '+', size);
    return text.status;
}

// --- coefficients -------------------------------------------------------------------------------------------------

typedef struct FactorName {
    u8 kind, component;
    u32 id;
} FactorName;

static bool is_factor(const AffineFactor *factor, const FactorName *name) {
    return factor->kind == name->kind && factor->id == name->id && factor->component == name->component;
}

// The term without the factor; false when it does not have it.
static bool divide(const Affine *affine, const AffineTerm *term, const FactorName *name, AffineTerm *rest) {
    *rest = *term;
    for (u32 k = 0; k < term_degree(term); k++) {
        if (!is_factor(&affine->factors[term->factors[k]], name)) continue;
        for (u32 i = k; i + 1 < AFFINE_DEGREE; i++) rest->factors[i] = rest->factors[i + 1];
        rest->factors[AFFINE_DEGREE - 1] = WL_NONE;
        return true;
    }
    return false;
}

static Status print_coefficient(const Affine *affine, u32 form, FactorName name, TextBuffer *out) {
    FlowText text = {.out = out};
    const AffineForm *f = &affine->forms[form];
    bool first = true;
    for (u32 i = 0; i < f->term_count; i++) {
        AffineTerm rest;
        if (!divide(affine, &affine->terms[f->terms + i], &name, &rest)) continue;
        if (term_degree(&rest))
            print_term(&text, affine, &rest, first);
        else
            flow_print(&text, first ? "%" PRId64 : " + %" PRId64, rest.coefficient);
        first = false;
    }
    if (first) flow_print(&text, "0");
    return text.status;
}

Status affine_print_stride(const Affine *affine, u32 form, u32 axis, TextBuffer *out) {
    return print_coefficient(affine, form, (FactorName){AFFINE_SREG, (u8)axis, SREG_TID}, out);
}

Status affine_print_step(const Affine *affine, u32 form, u32 loop, TextBuffer *out) {
    return print_coefficient(affine, form, (FactorName){AFFINE_COUNTER, 0, loop}, out);
}

AffineStride affine_step(const Affine *affine, u32 form, u32 loop, i64 *step) {
    const FactorName counter = {AFFINE_COUNTER, 0, loop};
    const AffineForm *f = &affine->forms[form];
    AffineStride kind = AFFINE_STRIDE_CONSTANT;
    *step = 0;
    for (u32 i = 0; i < f->term_count; i++) {
        const AffineTerm *term = &affine->terms[f->terms + i];
        AffineTerm rest;
        for (u32 k = 0; k < term_degree(term); k++) {
            const AffineFactor *factor = &affine->factors[term->factors[k]];
            bool inside = factor->kind == AFFINE_NODE &&
                          flow_loop_has(affine->loops, loop, affine->chains->nodes[factor->id].block);
            if (inside) kind = AFFINE_STRIDE_UNKNOWN;
        }
        if (!divide(affine, term, &counter, &rest)) continue;
        if (term_degree(&rest) == 0)
            *step = rest.coefficient;
        else if (kind == AFFINE_STRIDE_CONSTANT)
            kind = AFFINE_STRIDE_SYMBOLIC;
    }
    if (kind != AFFINE_STRIDE_CONSTANT) *step = 0;
    return kind;
}
