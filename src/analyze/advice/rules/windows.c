// SPDX-License-Identifier: Apache-2.0
// register-reuse, windows. A result that is made of a window of elements in a row - a filter, a stencil - has all but
// one of them in common with the result beside it: where the thread beside makes that one, each element is loaded as
// often as the window is long. A thread that makes T results beside each other loads W + T - 1 elements for them
// instead of T * W, and whatever all results are made with (taps) once. From shared memory along any axis; from global
// memory along those that leave the lanes of a warp side by side. Threads with one index that make two of it (thread %
// 32, thread / 32) lie beside those of the next warp.
#include <math.h>

#include "analyze/advice/boxes.h"
#include "analyze/advice/rule.h"

enum {
    LEAST_WINDOW = 4,  // loads of one: of fewer, little is common
    AT_ONCE = 8,       // elements of a window that goes on from turn to turn, in registers
    ALONG_ROWS = 7,    // results: odd, so that lanes so far apart are in different banks of shared memory
    ACROSS_ROWS = 8,
    NEXT_WARP = 3,  // for an axis: of threads with one index, the next warp's beside this one's
    WARP = 32,
};

#define MOSTLY 0.3  // of what keeps the limit busy

typedef struct Window {
    const CasePart *part;
    const CaseAccess *load;  // one of it
    u32 loop;                // WL_NONE: in none
    u32 axis;                // along which threads are beside each other
    i64 apart;               // bytes from one element to the next
    u32 length;              // elements in a turn
    bool goes_on;            // the next turn has those behind them
    u32 results;             // for each thread, as advised
} Window;

// --- addresses that are kept within an array -------------------------------------------------------------------------
// An index that is the lesser or the larger of a place and a bound is the place anywhere but at the ends.
typedef struct Bounded {
    i64 times, added;
    u32 node, term;  // the value that is bounded, WL_NONE: none is; the term of the address that it is in
} Bounded;

// The value that the instruction bounds, and what it adds to it before; WL_NONE: it bounds none.
static u32 bounded_by(const CasePart *part, u32 pc, i64 *added) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    const SassInsn *insn = insn_machine(part, pc);
    bool sum = insn && insn->op == SASS_OP_VIADDMNMX && !sass_has(insn, "RELU");
    u32 found = WL_NONE;
    if (!sum && in->arith != FLOW_MIN && in->arith != FLOW_MAX) return WL_NONE;
    for (u32 u = 0; u < in->uses; u++) {
        u32 operand = in->operands + in->defs + u;
        if (sum && u == 1 && flow->code->operands[operand].kind == FLOW_IMMEDIATE)
            *added += (i32)(u32)flow->code->operands[operand].value;
        if (flow->code->operands[operand].kind != FLOW_VALUE || !divergence_of_use(flow->divergence, pc, operand))
            continue;
        if (found != WL_NONE) return WL_NONE;
        found = flow->chains->of_operand[operand];
    }
    return found;
}

enum { BOUNDS = 2 /* of a place: before the begin and behind the end */ };

static Bounded bounded_of(const CasePart *part, const CaseAccess *a) {
    const FlowResults *flow = &part->view->flow;
    const AffineForm *form = &flow->affine->forms[a->affine->form];
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &flow->affine->terms[form->terms + t];
        const AffineFactor *f = term->factors[0] == WL_NONE ? NULL : &flow->affine->factors[term->factors[0]];
        if (!f || f->kind != AFFINE_NODE || term->factors[1] != WL_NONE) continue;
        Bounded b = {.times = term->coefficient, .node = f->id, .term = t};
        u32 bounds = 0;
        for (u32 next; bounds < BOUNDS && flow->chains->nodes[b.node].insn != WL_NONE; bounds++, b.node = next) {
            next = bounded_by(part, flow->chains->nodes[b.node].insn, &b.added);
            if (next == WL_NONE) break;
        }
        if (bounds) return b;
    }
    return (Bounded){.node = WL_NONE};
}

// Bytes from one address to the other, where bounded places are their only difference, or a number.
static bool distance(const CasePart *part, const CaseAccess *a, const CaseAccess *b, i64 *bytes) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *f = &affine->forms[a->affine->form], *g = &affine->forms[b->affine->form];
    Bounded x = bounded_of(part, a), y = bounded_of(part, b);
    if (x.node == WL_NONE || y.node == WL_NONE) return x.node == y.node && access_distance(part, a, b, bytes);
    bool alike = x.times == y.times && x.term == y.term && f->term_count == g->term_count && a->bytes == b->bytes;
    if (!alike || a->space != b->space || !affine_same_terms(affine, x.node, y.node)) return false;
    for (u32 t = 0; t < f->term_count; t++)
        if (t != x.term && !affine_same_term(&affine->terms[f->terms + t], &affine->terms[g->terms + t])) return false;
    i64 places = y.added + affine->forms[y.node].constant - x.added - affine->forms[x.node].constant;
    *bytes = g->constant - f->constant + x.times * places;
    return true;
}

// By how much the value grows with the thread's place along the axis, or its CTA's; *known: as far as is known.
static i64 coefficient_of(const CasePart *part, u32 form, PtxSreg place, u32 axis, bool *known) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *f = &affine->forms[form];
    i64 all = 0;
    for (u32 t = 0; t < f->term_count; t++) {
        const AffineTerm *term = &affine->terms[f->terms + t];
        for (u32 i = 0; i < AFFINE_DEGREE && term->factors[i] != WL_NONE; i++) {
            const AffineFactor *factor = &affine->factors[term->factors[i]];
            if (factor->kind != AFFINE_SREG || factor->id != place || factor->component != axis) continue;
            *known &= i == 0 && term->factors[1] == WL_NONE;
            all += term->coefficient;
        }
    }
    return all;
}

// Bytes from the element of a thread to that of the next along the axis; 0: not known.
static i64 apart_along(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 axis) {
    if (axis == NEXT_WARP) return warps_of_address(c, part, a->pc);
    PtxSreg place = c->view->launches.typical->block[axis] > 1 ? SREG_TID : SREG_CTAID;
    Bounded b = bounded_of(part, a);
    bool known = true;
    i64 apart = coefficient_of(part, a->affine->form, place, axis, &known);
    if (b.node != WL_NONE) apart += b.times * coefficient_of(part, b.node, place, axis, &known);
    return known ? apart : 0;
}

static bool is_plain_load(const CaseAccess *a) {
    return a->load && !a->atomic && a->affine && a->requests > 0 && (access_is_shared(a) || access_is_global(a));
}

// The place in the window of a load, counted from that of `from`; false: it is of another one.
static bool place_in(const CasePart *part, const CaseAccess *from, i64 apart, const CaseAccess *a, i64 *place) {
    i64 bytes;
    bool of_loop = is_plain_load(a) && part->insns[a->pc].loop == part->insns[from->pc].loop;
    if (!of_loop || !distance(part, from, a, &bytes) || bytes % apart) return false;
    *place = bytes / apart;
    return true;
}

// Elements in a row that the turn loads, `from` the first of them; 0: they are not in a row.
static u32 length_from(const CasePart *part, const CaseAccess *from, i64 apart) {
    i64 last = 0, place;
    u32 loads = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        if (!place_in(part, from, apart, &part->accesses[i], &place)) continue;
        if (place < 0) return 0;
        last = place > last ? place : last;
        loads++;
    }
    return loads == last + 1 ? loads : 0;
}

static bool has(const CasePart *part, const Window *w, const CaseAccess *a) {
    i64 place;
    return place_in(part, w->load, w->apart, a, &place);
}

// Threads so many that the SMs still have warps enough where each makes several results; 1: there are not.
static u32 results_of_thread(const AdviceCase *c, u32 axis) {
    u32 results = axis == 0 ? ALONG_ROWS : ACROSS_ROWS;
    while (results > 1 && !warps_suffice(c, results)) results /= 2;
    return results;
}

static bool find_window(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 axis, Window *w) {
    i64 step = 0, apart = apart_along(c, part, a, axis);
    u32 loop = part->insns[a->pc].loop;
    if (!apart || (axis == 0 && !access_is_shared(a)) || (apart < 0 ? -apart : apart) < a->bytes) return false;
    u32 length = length_from(part, a, apart);
    bool stepped =
        loop != WL_NONE && affine_step(part->view->flow.affine, a->affine->form, loop, &step) == AFFINE_STRIDE_CONSTANT;
    bool goes_on = stepped && length && step == (i64)length * apart;
    if (length < LEAST_WINDOW && !goes_on) return false;
    *w = (Window){part, a, loop, axis, apart, length, goes_on, results_of_thread(c, axis)};
    return w->results > 1;
}

// --- what T results have in common ----------------------------------------------------------------------------------
// Of what is done for each element of the window, the part that goes.
static f64 fewer_elements(const Window *w) {
    f64 elements = w->goes_on && w->length < AT_ONCE ? AT_ONCE : w->length, results = w->results;
    return 1 - (elements + results - 1) / (elements * results);
}

// The same for all results of a thread: nothing in the address knows its place along the axis.
static bool is_of_all(const Window *w, const CaseAccess *a) {
    const Affine *affine = w->part->view->flow.affine;
    const AffineForm *form = a->affine ? &affine->forms[a->affine->form] : NULL;
    if (!form || !is_plain_load(a)) return false;
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[form->terms + t].factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[affine->terms[form->terms + t].factors[i]];
            bool place = f->kind == AFFINE_SREG && (f->id == SREG_TID || f->id == SREG_CTAID);
            u32 axis = w->axis == NEXT_WARP && f->id == SREG_TID ? 0 : w->axis;
            if (f->kind == AFFINE_NODE || (place && f->component == axis)) return false;
        }
    return true;
}

// What brings an element into the form in which it is used.
static bool forms_element(const Window *w, u32 pc) {
    const u32 forms = TRAIT_CONVERT | TRAIT_WIDEN | TRAIT_NARROW;
    u32 from = w->part->insns[pc].traits & forms ? insn_source(w->part, pc, 0) : WL_NONE;
    const CaseAccess *a = from == WL_NONE ? NULL : case_access(w->part, from);
    return a && has(w->part, w, a);
}

// Whether the turn loads nothing but the window and what all results have in common: of windows with several rows
// registers would have to hold all.
static bool is_alone(const Window *w) {
    for (u32 i = 0; i < w->part->access_count; i++) {
        const CaseAccess *a = &w->part->accesses[i];
        bool loads = a->load && w->part->insns[a->pc].loop == w->loop && a->space != SPACE_LOCAL;
        if (loads && !has(w->part, w, a) && !is_of_all(w, a)) return false;
    }
    return true;
}

enum { MADE_OF = 16 /* instructions behind an address, one after the other */ };

// Adds what the operand is made of in the loop.
static void add_makers(const Window *w, u32 pc, u32 use, Bitset *makers, u32 depth) {
    u32 from = insn_source(w->part, pc, use);
    bool makes = from != WL_NONE && w->part->insns[from].loop == w->loop && !case_access(w->part, from);
    if (!makes || !depth || bitset_has(makers, from)) return;
    bitset_add(makers, from);
    for (u32 u = 0; u < case_insn(w->part, from)->uses; u++) add_makers(w, from, u, makers, depth - 1);
}

// What makes the addresses of the window's elements.
static bool find_makers(AdviceCase *c, const Window *w, Bitset *makers) {
    if (!bitset_init(makers, c->scratch, w->part->view->insn_count)) return c->status = STATUS_NO_MEMORY, false;
    for (u32 i = 0; i < w->part->access_count; i++) {
        const CaseAccess *a = &w->part->accesses[i];
        const FlowInsn *in = case_insn(w->part, a->pc);
        if (in->address_use != 0xff && has(w->part, w, a)) add_makers(w, a->pc, in->address_use, makers, MADE_OF);
    }
    return true;
}

// Part of an instruction of the window's loop that goes.
static f64 fewer_of(const Window *w, u32 pc, const Bitset *makers) {
    const CaseAccess *a = case_access(w->part, pc);
    if (a) return has(w->part, w, a) ? fewer_elements(w) : is_of_all(w, a) ? 1 - 1.0 / w->results : 0;
    bool once = insn_only_counts(w->part, pc) || forms_element(w, pc) || bitset_has(makers, pc);
    return once ? fewer_elements(w) : 0;
}

// A tile in shared memory has the windows of all of a CTA's threads: for T results of each it is not T times as large.
static f64 fewer_fills(const AdviceCase *c, const Window *w) {
    f64 trips = w->loop == WL_NONE ? 1 : w->part->loops[w->loop].trips, results = w->results;
    const u32 *block = c->view->launches.typical->block;
    f64 threads = w->axis == NEXT_WARP ? (f64)block[0] / WARP : block[w->axis],
        beyond = w->length * (w->goes_on ? trips : 1) - 1;
    if (!access_is_shared(w->load) || trips <= 0) return 0;
    return 1 - (results * threads + beyond) / (results * (threads + beyond));
}

// Returns the load of the window that is waited for most.
static u32 do_once(Hit *hit, const Window *w) {
    u32 at = w->load->pc, first = w->loop == WL_NONE ? 0 : loop_header_pc(w->part, w->loop);
    f64 fills = w->loop == WL_NONE ? 0 : fewer_fills(hit->c, w), most = 0;
    Bitset makers;
    if (!find_makers(hit->c, w, &makers)) return at;
    for (u32 pc = 0; pc < w->part->view->insn_count; pc++) {
        const CaseInsn *in = &w->part->insns[pc];
        const CaseAccess *a = case_access(w->part, pc);
        f64 fewer = in->loop == w->loop ? fewer_of(w, pc, &makers) : pc < first ? fills : 0;
        if (fewer > 0) hit_spare(hit, w->part, pc, fewer);
        if (a && has(w->part, w, a) && in->issued + in->blamed > most) most = in->issued + in->blamed, at = pc;
    }
    return at;
}

// Whether a unit or memory that is the limit has much less to do.
static bool frees_limit(const Hit *hit) {
    const EstimateLoad *load = &hit->c->load;
    for (u32 r = 0; r < RESOURCE_COUNT; r++)
        if (load->busy[r] >= EXPLAINED && hit->change.relief[r] >= MOSTLY * load->busy[r]) return true;
    return false;
}

static void share_window(AdviceCase *c, const Window *w) {
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_windows);
    u32 at = do_once(hit, w);
    if (!frees_limit(hit)) return hit_drop(hit);
    f64 share = 100 * hit->change.issues / c->load.issued;
    hit_fact(hit, "moves_share", share, "%",
             "%.0f %% of what is issued would not be needed: the thread beside loads the same elements but one", share);
    hit_basis(hit, "equation 2: %.0f %% of the loads of a window less for %u results", 100 * fewer_elements(w),
              w->results);
    hit_caution(hit, "a thread has %u results in registers: check that the occupancy stays", w->results);
    hit->doubtful = true;
    hit_end_line(hit, w->part, at,
                 "Let a thread compute %u results beside each other, the window loaded at %s serving all of them",
                 w->results, place_text(c, w->part, at));
}

void reuse_windows(AdviceCase *c) {
    static const u32 axes[] = {2, 1, 0, NEXT_WARP};  // the last is tried out, which takes longer
    for (u32 p = 0; p < c->part_count && c->view->launches.typical; p++) {
        const CasePart *part = &c->parts[p];
        if (part->access_count > ACCESS_GROUP_LIMIT) continue;
        for (u32 i = 0; i < part->access_count; i++) {
            Window w;
            bool found = false;
            for (u32 k = 0; k < WL_COUNT(axes) && !found && is_plain_load(&part->accesses[i]); k++)
                found = find_window(c, part, &part->accesses[i], axes[k], &w);
            if (found && is_alone(&w)) share_window(c, &w);
        }
    }
}
