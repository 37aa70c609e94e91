// SPDX-License-Identifier: Apache-2.0
#include "flow/affine.h"

#include <string.h>

#include "base/map.h"
#include "flow/affine_poly.h"
#include "flow/flow_util.h"

typedef struct Induction {  // of a merge at a loop's header
    u32 loop;               // WL_NONE: the merge is not an induction variable
    u32 init;               // node
    u32 step;               // in AffineFinder.steps
    bool same;              // of any merge: `step` is what it is, whichever way was taken
} Induction;

enum { MOST_SAME = 32 /* merges that lead to each other */ };

typedef struct AffineFinder {
    const Chains *chains;
    const Cfg *cfg;
    const FlowCode *code;
    const Loops *loops;
    const DivergenceInfo *divergence;
    const FlowArguments *arguments;
    Vec(AffineFactor) factors;
    Map factor_of;  // hash of the factor -> first factor with it
    Vec(AffineTerm) terms;
    AffineForm *forms;      // by node
    Induction *inductions;  // by merge: node - def_count
    Vec(Poly) steps;
    Vec(AffineForm) access_forms;
    Vec(AffineAccess) accesses;
} AffineFinder;

// --- factors and forms --------------------------------------------------------------------------------------------

static bool same_factor(const AffineFactor *a, const AffineFactor *b) {
    return a->kind == b->kind && a->component == b->component && a->bits == b->bits && a->id == b->id &&
           a->offset == b->offset;
}

static Status factor_id(AffineFinder *f, AffineFactor factor, u32 *id) {
    u64 key = hash_u64((u64)factor.id << 24 | (u64)factor.bits << 16 | (u64)factor.component << 8 | factor.kind);
    key = hash_u64(key ^ (u64)factor.offset);
    u64 *known;
    while ((known = map_get(&f->factor_of, key)) && !same_factor(&f->factors.data[*known], &factor)) key++;
    if (known) {
        *id = (u32)*known;
        return STATUS_OK;
    }
    *id = f->factors.len;
    TRY(vec_push(&f->factors, factor));
    return map_put(&f->factor_of, key, *id);
}

static Status make_factor(AffineFinder *f, AffineFactor factor, Poly *poly) {
    u32 id;
    TRY(factor_id(f, factor, &id));
    *poly = poly_factor(id);
    return STATUS_OK;
}

static Status make_opaque(AffineFinder *f, u32 node, Poly *poly) {
    u16 bits = f->code->value_bits[f->chains->nodes[node].value];
    return make_factor(f, (AffineFactor){.kind = AFFINE_NODE, .bits = bits < 256 ? (u8)bits : 255, .id = node}, poly);
}

static Poly load_form(const AffineFinder *f, const AffineForm *form) {
    Poly poly = {.constant = form->constant, .count = form->term_count};
    if (form->term_count) memcpy(poly.terms, f->terms.data + form->terms, sizeof(AffineTerm) * form->term_count);
    return poly;
}

static Status store_form(AffineFinder *f, const Poly *poly, AffineForm *form) {
    *form = (AffineForm){.constant = poly->constant, .terms = f->terms.len, .term_count = poly->count};
    TRY(vec_reserve(&f->terms, poly->count));
    if (poly->count) memcpy(f->terms.data + f->terms.len, poly->terms, sizeof(AffineTerm) * poly->count);
    f->terms.len += poly->count;
    return STATUS_OK;
}

// --- instructions -------------------------------------------------------------------------------------------------

// What lies at a parameter: a number where the arguments are known. The lower half of a pointer stands for the whole.
static Status parameter_poly(AffineFinder *f, u32 id, i64 offset, u32 bits, Poly *poly) {
    i64 value;
    if (flow_argument(f->code, f->arguments, id, offset, bits / 8, &value))
        return *poly = poly_constant(value), STATUS_OK;
    if (flow_argument_is_pointer(f->code, f->arguments, id, offset)) bits = 64;
    return make_factor(f, (AffineFactor){.kind = AFFINE_PARAMETER, .bits = (u8)bits, .id = id, .offset = offset}, poly);
}

// *known is false when the operand cannot be expressed.
static Status operand_poly(AffineFinder *f, u32 index, Poly *poly, bool *known) {
    const FlowOperand *operand = &f->code->operands[index];
    *poly = poly_constant(0);
    switch (operand->kind) {
    case FLOW_VALUE:
        *known = f->chains->of_operand[index] != WL_NONE;
        if (*known) *poly = load_form(f, &f->forms[f->chains->of_operand[index]]);
        return STATUS_OK;
    case FLOW_IMMEDIATE:
        *poly = poly_constant(operand->width == 32 ? (i64)(i32)operand->value : operand->value);
        return STATUS_OK;
    case FLOW_SREG:
        return make_factor(f,
                           (AffineFactor){.kind = AFFINE_SREG,
                                          .component = operand->component,
                                          .bits = (u8)ptx_types[ptx_sregs[operand->id].type].bits,
                                          .id = operand->id},
                           poly);
    case FLOW_SYMBOL:
        TRY(make_factor(f, (AffineFactor){.kind = AFFINE_SYMBOL, .bits = 64, .id = operand->id}, poly));
        poly->constant = operand->value;
        return STATUS_OK;
    case FLOW_PARAMETER_VALUE: return parameter_poly(f, operand->id, operand->value, operand->width, poly);
    default: *known = false; return STATUS_OK;
    }
}

// a | b is a + b when every bit that b can have is below the lowest one of a.
static bool disjoint(const AffineFinder *f, const Poly *a, const Poly *b) {
    u64 bound, low = (u64)a->constant;
    for (u32 i = 0; i < a->count; i++) low |= (u64)a->terms[i].coefficient;
    if (b->count == 0) {
        bound = (u64)b->constant;
    } else {
        const AffineFactor *factor = &f->factors.data[b->terms[0].factors[0]];
        bool is_tid = b->count == 1 && b->constant == 0 && b->terms[0].coefficient == 1 &&
                      term_degree(&b->terms[0]) == 1 && factor->kind == AFFINE_SREG && factor->id == SREG_TID;
        if (!is_tid) return false;
        bound = 1023;  // CUDA programming guide: at most 1024 threads along x and y
    }
    return low == 0 || bound < (low & -low);
}

static bool shift_left(Poly *a, const Poly *amount) {
    if (amount->count || amount->constant < 0 || amount->constant > 63) return false;
    poly_scale(a, (i64)(1ull << amount->constant));
    return true;
}

// What is no polynomial can still be computed from numbers, as compilers do to split a loop: n & 3. Not from negative
// ones, which would have to be known to be signed.
static bool compute(u8 arith, i64 a, i64 b, i64 *value) {
    if (a < 0 || b < 0) return false;
    switch (arith) {
    case FLOW_AND: return *value = a & b, true;
    case FLOW_OR: return *value = a | b, true;
    case FLOW_MIN: return *value = a < b ? a : b, true;
    case FLOW_MAX: return *value = a > b ? a : b, true;
    case FLOW_SHIFT_RIGHT: return *value = b > 62 ? 0 : a >> b, true;
    default: return false;
    }
}

// s: the sources. False when the result is not a small polynomial of them.
static bool combine(const AffineFinder *f, u8 arith, Poly *s, Poly *result) {
    bool numbers = flow_arith_uses[arith] == 2 && !s[0].count && !s[1].count;
    *result = poly_constant(0);
    if (numbers && compute(arith, s[0].constant, s[1].constant, &result->constant)) return true;
    switch (arith) {
    case FLOW_CONVERT: *result = s[0]; return true;
    case FLOW_NEGATE:
        poly_scale(&s[0], -1);
        *result = s[0];
        return true;
    case FLOW_ADD: *result = s[0]; return poly_add(result, &s[1], 1);
    case FLOW_ADD3: *result = s[0]; return poly_add(result, &s[1], 1) && poly_add(result, &s[2], 1);
    case FLOW_SUB: *result = s[0]; return poly_add(result, &s[1], -1);
    case FLOW_MUL: return poly_multiply(&s[0], &s[1], result);
    case FLOW_MULADD: return poly_multiply(&s[0], &s[1], result) && poly_add(result, &s[2], 1);
    case FLOW_SHIFT_LEFT: *result = s[0]; return shift_left(result, &s[1]);
    case FLOW_AND:  // of 64 bits with the low 32: a conversion
        *result = s[0];
        return s[1].count == 0 && s[1].constant == UINT32_MAX;
    case FLOW_OR:
        if (!disjoint(f, &s[0], &s[1]) && !disjoint(f, &s[1], &s[0])) return false;
        *result = s[0];
        return poly_add(result, &s[1], 1);
    default: return false;
    }
}

static Status load_param_poly(AffineFinder *f, const FlowInsn *insn, u32 operand, Poly *poly) {
    const FlowOperand *base = &flow_uses(f->code, insn)[insn->address_use];
    u32 bytes = insn->access_bytes / insn->defs;
    i64 offset = base->value + insn->address_offset + (i64)bytes * (operand - insn->operands);
    return parameter_poly(f, base->id, offset, bytes * 8, poly);
}

static bool is_wide_enough(const FlowOperand *def) { return def->width >= 32; }  // narrower ones wrap on purpose

// A guarded definition leaves what was there before when its guard is false, which nobody sees who reads it under the
// same guard: the compiler writes short conditional code so. Readers are followed through the definitions and merges
// that keep the value, at most GUARD_NODES of them.
enum { GUARD_NODES = 16 };

static bool add_node(u32 *nodes, u32 *count, u32 node) {
    for (u32 i = 0; i < *count; i++)
        if (nodes[i] == node) return true;
    if (*count == GUARD_NODES) return false;
    nodes[(*count)++] = node;
    return true;
}

static bool has_guard_of(const AffineFinder *f, u32 insn, u32 as) {
    return f->chains->of_guard[insn] == f->chains->of_guard[as] &&
           f->code->insns[insn].guard_negated == f->code->insns[as].guard_negated;
}

static bool seen_under_guard_only(const AffineFinder *f, u32 node) {
    u32 nodes[GUARD_NODES] = {node}, count = 1, insn = f->chains->nodes[node].insn;
    if (f->chains->of_guard[insn] == WL_NONE) return false;  // not known which
    for (u32 at = 0; at < count; at++) {
        bool is_merge = chain_is_merge(f->chains, nodes[at]);
        for (u32 i = f->chains->first_user[nodes[at]]; i < f->chains->first_user[nodes[at] + 1]; i++) {
            const ChainUser *user = &f->chains->users[i];
            if (user->insn != WL_NONE && (is_merge || !has_guard_of(f, user->insn, insn))) return false;
            if (user->insn != WL_NONE) continue;
            const ChainNode *keeper = &f->chains->nodes[user->operand];
            if (keeper->insn != WL_NONE && !has_guard_of(f, keeper->insn, insn)) return false;
            if (!add_node(nodes, &count, user->operand)) return false;
        }
    }
    return true;
}

static Status definition_poly(AffineFinder *f, const ChainNode *node, Poly *poly, bool *known) {
    const FlowInsn *insn = &f->code->insns[node->insn];
    u32 index = (u32)(node - f->chains->nodes);
    *known = insn->arith != FLOW_OPAQUE && (insn->guard == WL_NONE || seen_under_guard_only(f, index));
    if (!*known) return STATUS_OK;
    if (insn->arith == FLOW_LOAD_PARAM) return load_param_poly(f, insn, node->operand, poly);
    u32 nth = node->operand - insn->operands, first = insn->operands + insn->defs;
    if (insn->arith == FLOW_MOVE && nth < insn->uses) return operand_poly(f, first + nth, poly, known);
    *known = nth == 0 && insn->uses >= flow_arith_uses[insn->arith] && is_wide_enough(&flow_defs(f->code, insn)[0]);
    Poly sources[3];
    for (u32 u = 0; u < flow_arith_uses[insn->arith] && *known; u++)
        TRY(operand_poly(f, first + u, &sources[u], known));
    *known = *known && combine(f, insn->arith, sources, poly);
    return STATUS_OK;
}

// --- induction variables ------------------------------------------------------------------------------------------

// The step with every node in it replaced by what is known of it by now.
static Status substitute(AffineFinder *f, const Poly *poly, Poly *result, bool *known) {
    *result = poly_constant(poly->constant);
    for (u32 i = 0; i < poly->count && *known; i++) {
        Poly product = poly_constant(poly->terms[i].coefficient);
        for (u32 k = 0; k < term_degree(&poly->terms[i]) && *known; k++) {
            u32 id = poly->terms[i].factors[k];
            const AffineFactor *factor = &f->factors.data[id];
            Poly with = factor->kind == AFFINE_NODE ? load_form(f, &f->forms[factor->id]) : poly_factor(id), next;
            *known = poly_multiply(&product, &with, &next);
            product = next;
        }
        *known = *known && poly_add(result, &product, 1);
    }
    return STATUS_OK;
}

static Status induction_poly(AffineFinder *f, const Induction *induction, Poly *poly, bool *known) {
    Poly step, counter, product;
    *known = true;
    TRY(substitute(f, &f->steps.data[induction->step], &step, known));
    if (!*known) return STATUS_OK;
    TRY(make_factor(f, (AffineFactor){.kind = AFFINE_COUNTER, .bits = 64, .id = induction->loop}, &counter));
    *poly = load_form(f, &f->forms[induction->init]);
    *known = poly_multiply(&step, &counter, &product) && poly_add(poly, &product, 1);
    return STATUS_OK;
}

static bool is_invariant(const AffineFinder *f, const Poly *poly, u32 loop) {
    for (u32 i = 0; i < poly->count; i++) {
        for (u32 k = 0; k < term_degree(&poly->terms[i]); k++) {
            const AffineFactor *factor = &f->factors.data[poly->terms[i].factors[k]];
            if (factor->kind == AFFINE_NODE && flow_loop_has(f->loops, loop, f->chains->nodes[factor->id].block))
                return false;
        }
    }
    return true;
}

// The value that comes back is the merge itself plus the same step over every latch; one value comes from outside.
static Status find_induction(AffineFinder *f, u32 index, Induction *induction) {
    const ChainNode *node = &f->chains->nodes[index];
    u32 loop = f->loops->loop_of[node->block], init = WL_NONE;
    const FlowBlock *block = &f->cfg->blocks[node->block];
    *induction = (Induction){.loop = WL_NONE};
    bool counted = loop != WL_NONE && f->loops->loops[loop].header == node->block &&
                   !f->loops->loops[loop].irreducible && node->arg_count == block->pred_count;
    Poly self, step = {0};
    TRY(make_opaque(f, index, &self));
    bool has_step = false;
    for (u32 a = 0; a < node->arg_count && counted; a++) {
        u32 pred = f->cfg->edges[block->preds + a], arg = f->chains->args[node->args + a];
        if (!f->cfg->blocks[pred].reachable) continue;
        if (arg == WL_NONE) return STATUS_OK;
        if (!flow_loop_has(f->loops, loop, pred)) {
            counted = init == WL_NONE || init == arg;
            init = arg;
            continue;
        }
        Poly change = load_form(f, &f->forms[arg]);
        counted = poly_add(&change, &self, -1) && (!has_step || poly_equal(&change, &step));
        step = change;
        has_step = true;
    }
    if (!counted || !has_step || init == WL_NONE || !is_invariant(f, &step, loop)) return STATUS_OK;
    *induction = (Induction){.loop = loop, .init = init, .step = f->steps.len};
    return vec_push(&f->steps, step);
}

// --- merges of the same -------------------------------------------------------------------------------------------
// A value that the compiler makes again instead of keeping it, as who the thread is (S2R), in loops and on ways.
typedef struct Same {
    u32 merges[MOST_SAME], count;
    Poly poly;  // of all definitions so far
    bool known;
} Same;

// Made of what is known at launch alone.
static bool is_of_launch(const AffineFinder *f, const Poly *poly) {
    for (u32 i = 0; i < poly->count; i++)
        for (u32 k = 0; k < term_degree(&poly->terms[i]); k++) {
            u8 kind = f->factors.data[poly->terms[i].factors[k]].kind;
            if (kind == AFFINE_NODE || kind == AFFINE_COUNTER) return false;
        }
    return true;
}

static bool is_same(const AffineFinder *f, u32 node, Same *s) {
    if (node == WL_NONE) return false;
    if (!chain_is_merge(f->chains, node)) {
        Poly poly = load_form(f, &f->forms[node]);
        if (s->known) return poly_equal(&poly, &s->poly);
        s->poly = poly;
        return s->known = is_of_launch(f, &poly);
    }
    for (u32 i = 0; i < s->count; i++)
        if (s->merges[i] == node) return true;
    if (s->count == MOST_SAME) return false;
    s->merges[s->count++] = node;
    const ChainNode *n = &f->chains->nodes[node];
    for (u32 a = 0; a < n->arg_count; a++)
        if (!is_same(f, f->chains->args[n->args + a], s)) return false;
    return n->arg_count > 0;
}

static Status find_same(AffineFinder *f, u32 index, Induction *induction) {
    Same s = {.count = 0};
    if (induction->loop != WL_NONE || !is_same(f, index, &s) || !s.known) return STATUS_OK;
    *induction = (Induction){.loop = WL_NONE, .step = f->steps.len, .same = true};
    return vec_push(&f->steps, s.poly);
}

// --- passes over all nodes ----------------------------------------------------------------------------------------

static Status evaluate(AffineFinder *f, u32 index, bool with_inductions) {
    const ChainNode *node = &f->chains->nodes[index];
    bool known = false;
    Poly poly;
    if (node->insn != WL_NONE) {
        TRY(definition_poly(f, node, &poly, &known));
    } else if (with_inductions) {
        const Induction *induction = &f->inductions[index - f->chains->def_count];
        if (induction->loop != WL_NONE) TRY(induction_poly(f, induction, &poly, &known));
        if (induction->same) poly = f->steps.data[induction->step], known = true;
    }
    if (!known) TRY(make_opaque(f, index, &poly));
    return store_form(f, &poly, &f->forms[index]);
}

// In reverse post-order, so that but for merges everything is known before it is used.
static Status evaluate_all(AffineFinder *f, bool with_inductions) {
    u32 merge = f->chains->def_count;
    f->terms.len = 0;
    for (u32 r = 0; r < f->cfg->rpo_count; r++) {
        u32 b = f->cfg->rpo[r];
        const FlowBlock *block = &f->cfg->blocks[b];
        for (; merge < f->chains->node_count && f->chains->nodes[merge].block == b; merge++)
            TRY(evaluate(f, merge, with_inductions));
        for (u32 i = block->first; i < block->first + block->count; i++) {
            const FlowInsn *insn = &f->code->insns[i];
            for (u32 d = insn->operands; d < insn->operands + insn->defs; d++)
                if (f->chains->of_operand[d] != WL_NONE) TRY(evaluate(f, f->chains->of_operand[d], with_inductions));
        }
    }
    return STATUS_OK;
}

// --- memory accesses ----------------------------------------------------------------------------------------------

static bool factor_differs(const AffineFinder *f, const AffineFactor *factor, u32 insn) {
    u32 block = f->cfg->block_of[insn];
    switch (factor->kind) {
    case AFFINE_SREG: return ptx_sregs[factor->id].divergence == DIV_DIVERGENT;
    case AFFINE_PARAMETER: return !f->code->is_entry;
    case AFFINE_COUNTER:
        return !flow_loop_has(f->loops, factor->id, block) && bitset_has(&f->divergence->temporal, factor->id);
    case AFFINE_NODE: return divergence_of_node(f->divergence, factor->id, block);
    default: return false;
    }
}

// The stride of one axis is what tid.x is multiplied with; unknown when that differs itself, as in tid.x*tid.x.
static void note_stride(const AffineFinder *f, const AffineTerm *term, u32 at, u32 axis, AffineAccess *access) {
    u32 degree = term_degree(term);
    if (degree == 1)
        access->stride[axis] = term->coefficient;
    else if (access->stride_kind[axis] == AFFINE_STRIDE_CONSTANT)
        access->stride_kind[axis] = AFFINE_STRIDE_SYMBOLIC;
    for (u32 k = 0; k < degree; k++)
        if (k != at && factor_differs(f, &f->factors.data[term->factors[k]], access->insn))
            access->stride_kind[axis] = AFFINE_STRIDE_UNKNOWN;
}

// Where anything but thread indices differs between lanes, no stride is known.
static void find_strides(const AffineFinder *f, const Poly *poly, AffineAccess *access) {
    bool differs = false;
    for (u32 axis = 0; axis < 3; axis++) access->stride_kind[axis] = AFFINE_STRIDE_CONSTANT;
    for (u32 i = 0; i < poly->count; i++) {
        const AffineTerm *term = &poly->terms[i];
        for (u32 k = 0; k < term_degree(term); k++) {
            const AffineFactor *factor = &f->factors.data[term->factors[k]];
            bool tid = factor->kind == AFFINE_SREG && factor->id == SREG_TID && factor->component < 3;
            if (tid)
                note_stride(f, term, k, factor->component, access);
            else
                differs |= factor_differs(f, factor, access->insn);
        }
    }
    for (u32 axis = 0; axis < 3; axis++) {
        if (differs) access->stride_kind[axis] = AFFINE_STRIDE_UNKNOWN;
        if (access->stride_kind[axis] != AFFINE_STRIDE_CONSTANT) access->stride[axis] = 0;
    }
}

// The one variable, else the one pointer-sized parameter, else the one pointer-sized value among the plain terms.
static u32 find_base(const AffineFinder *f, const Poly *poly) {
    static const u8 order[] = {AFFINE_SYMBOL, AFFINE_PARAMETER, AFFINE_NODE};
    for (u32 o = 0; o < WL_COUNT(order); o++) {
        u32 found = WL_NONE, count = 0;
        for (u32 i = 0; i < poly->count; i++) {
            const AffineTerm *term = &poly->terms[i];
            const AffineFactor *factor = &f->factors.data[term->factors[0]];
            if (term->coefficient != 1 || term_degree(term) != 1 || factor->kind != order[o] || factor->bits != 64)
                continue;
            found = term->factors[0];
            count++;
        }
        if (count) return count == 1 ? found : WL_NONE;
    }
    return WL_NONE;
}

// The address itself: the base, shifted, and what is added to it.
static Status address_poly(AffineFinder *f, const FlowInsn *insn, u32 use, bool second, Poly *poly, bool *known) {
    TRY(operand_poly(f, use, poly, known));
    if (second || !*known) return STATUS_OK;
    if (insn->address_shift) poly_scale(poly, 1ll << insn->address_shift);
    if (!insn->address_index) return STATUS_OK;
    Poly index;
    TRY(operand_poly(f, insn->operands + insn->defs + insn->address_index - 1u, &index, known));
    *known = *known && poly_add(poly, &index, 1);
    return STATUS_OK;
}

static Status add_access(AffineFinder *f, u32 index, bool second) {
    const FlowInsn *insn = &f->code->insns[index];
    u32 use = insn->operands + insn->defs + (second ? insn->address2_use : insn->address_use);
    bool known = f->code->operands[use].kind != FLOW_PARAMETER;
    if (!known) return STATUS_OK;
    Poly poly;
    TRY(address_poly(f, insn, use, second, &poly, &known));
    AffineAccess access = {.insn = index,
                           .second = second,
                           .space = second ? insn->space2 : insn->space,
                           .bytes = insn->access_bytes,
                           .base = WL_NONE};
    if (known) {
        poly.constant += second ? insn->address2_offset : insn->address_offset;
        access.uniform =
            second ? !divergence_of_use(f->divergence, index, use) : !divergence_of_address(f->divergence, index);
        find_strides(f, &poly, &access);
        access.base = find_base(f, &poly);
    }
    AffineForm form;
    TRY(store_form(f, &poly, &form));
    access.form = f->chains->node_count + f->access_forms.len;
    TRY(vec_push(&f->access_forms, form));
    return vec_push(&f->accesses, access);
}

static Status list_accesses(AffineFinder *f) {
    for (u32 i = 0; i < f->code->insn_count; i++) {
        const FlowInsn *insn = &f->code->insns[i];
        if (!(insn->is_load || insn->is_store || insn->is_atomic) || !f->cfg->blocks[f->cfg->block_of[i]].reachable)
            continue;
        if (insn->address_use != 0xff) TRY(add_access(f, i, false));
        if (insn->address2_use != 0xff) TRY(add_access(f, i, true));
    }
    return STATUS_OK;
}

// --- all together -------------------------------------------------------------------------------------------------

static void *copy(Arena *arena, const void *data, size_t bytes, size_t align) {
    void *result = arena_alloc(arena, bytes + 1, align);
    if (result && bytes) memcpy(result, data, bytes);
    return result;
}

static Status finish(AffineFinder *f, Arena *arena, Affine *affine) {
    u32 nodes = f->chains->node_count;
    affine->form_count = nodes + f->access_forms.len;
    affine->factor_count = f->factors.len;
    affine->access_count = f->accesses.len;
    affine->factors = copy(arena, f->factors.data, sizeof(AffineFactor) * f->factors.len, _Alignof(AffineFactor));
    affine->terms = copy(arena, f->terms.data, sizeof(AffineTerm) * f->terms.len, _Alignof(AffineTerm));
    affine->accesses = copy(arena, f->accesses.data, sizeof(AffineAccess) * f->accesses.len, _Alignof(AffineAccess));
    affine->forms = ARENA_ARRAY(arena, AffineForm, (size_t)affine->form_count + 1);
    if (!affine->factors || !affine->terms || !affine->accesses || !affine->forms) return STATUS_NO_MEMORY;
    memcpy(affine->forms, f->forms, sizeof(AffineForm) * nodes);
    if (f->access_forms.len)
        memcpy(affine->forms + nodes, f->access_forms.data, sizeof(AffineForm) * f->access_forms.len);
    return STATUS_OK;
}

static Status build(AffineFinder *f, Arena *arena, Arena *scratch, Affine *affine) {
    u32 merges = f->chains->node_count - f->chains->def_count;
    f->forms = ARENA_ARRAY(scratch, AffineForm, (size_t)f->chains->node_count + 1);
    f->inductions = ARENA_ARRAY(scratch, Induction, (size_t)merges + 1);
    if (!f->forms || !f->inductions) return STATUS_NO_MEMORY;
    TRY(evaluate_all(f, false));
    for (u32 m = 0; m < merges; m++) {
        TRY(find_induction(f, f->chains->def_count + m, &f->inductions[m]));
        TRY(find_same(f, f->chains->def_count + m, &f->inductions[m]));
    }
    TRY(evaluate_all(f, true));
    TRY(list_accesses(f));
    return finish(f, arena, affine);
}

Status flow_affine(const Chains *chains, const Loops *loops, const DivergenceInfo *divergence,
                   const FlowArguments *arguments, Arena *arena, Affine **affine) {
    *affine = NULL;
    Affine *result = ARENA_NEW(arena, Affine);
    if (!result) return STATUS_NO_MEMORY;
    result->chains = chains;
    result->loops = loops;
    result->arguments = arguments;
    AffineFinder finder = {.chains = chains,
                           .cfg = chains->cfg,
                           .code = chains->cfg->code,
                           .loops = loops,
                           .divergence = divergence,
                           .arguments = arguments};
    Arena scratch = {0};
    Status status = build(&finder, arena, &scratch, result);
    vec_free(&finder.factors);
    vec_free(&finder.terms);
    vec_free(&finder.steps);
    vec_free(&finder.access_forms);
    vec_free(&finder.accesses);
    map_free(&finder.factor_of);
    arena_free(&scratch);
    if (status == STATUS_OK) *affine = result;
    return status;
}

u32 affine_kinds(const Affine *affine, u32 form) {
    const AffineForm *f = &affine->forms[form];
    u32 kinds = 0;
    for (u32 t = 0; t < f->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[f->terms + t].factors[i] != WL_NONE; i++)
            kinds |= 1u << affine->factors[affine->terms[f->terms + t].factors[i]].kind;
    return kinds;
}

bool affine_same_term(const AffineTerm *a, const AffineTerm *b) {
    return a->coefficient == b->coefficient && !memcmp(a->factors, b->factors, sizeof a->factors);
}

bool affine_same_terms(const Affine *affine, u32 a, u32 b) {
    const AffineForm *f = &affine->forms[a], *g = &affine->forms[b];
    bool same = f->term_count == g->term_count;
    for (u32 i = 0; i < f->term_count && same; i++)
        same = affine_same_term(&affine->terms[f->terms + i], &affine->terms[g->terms + i]);
    return same;
}

bool affine_same_form(const Affine *affine, u32 a, u32 b) {
    return affine->forms[a].constant == affine->forms[b].constant && affine_same_terms(affine, a, b);
}
