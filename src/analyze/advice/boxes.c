// SPDX-License-Identifier: Apache-2.0
#include "analyze/advice/boxes.h"

#include <math.h>
#include <stdlib.h>

// --- one access ----------------------------------------------------------------------------------------------------
// What varies within a launch, and how many values it takes; 1: it does not.
static f64 range_of(const CasePart *part, const ProfileLaunch *l, const AffineFactor *f) {
    if (f->kind == AFFINE_COUNTER) return fmax(part->loops[f->id].trips, 1);
    if (f->kind != AFFINE_SREG || f->component > 2) return 1;
    return f->id == SREG_TID ? l->block[f->component] : f->id == SREG_CTAID ? l->grid[f->component] : 1;
}

static f64 common_step(f64 a, f64 b) {
    a = fabs(a), b = fabs(b);
    while (b >= 1) {
        f64 rest = fmod(a, b);
        a = b, b = rest;
    }
    return a;
}

typedef struct BoxTerm {
    f64 distance, values;  // from one value to the next, and how many
    u32 parameters[BOX_PARAMETERS];
    u32 varying;  // factors that do
    bool understood;
} BoxTerm;

static BoxTerm box_term(const CasePart *part, const ProfileLaunch *l, const AffineTerm *term, i64 times) {
    const Affine *affine = part->view->flow.affine;
    BoxTerm b = {(f64)term->coefficient * (f64)times, 1, {WL_NONE, WL_NONE}, 0, true};
    for (u32 i = 0, n = 0; i < AFFINE_DEGREE && term->factors[i] != WL_NONE; i++) {
        const AffineFactor *f = &affine->factors[term->factors[i]];
        f64 range = range_of(part, l, f);
        bool axis = f->kind == AFFINE_SREG && f->component <= 2;
        b.varying += range > 1;
        b.values *= range;
        if (axis && f->id == SREG_NTID) b.distance *= l->block[f->component];
        if (axis && f->id == SREG_NCTAID) b.distance *= l->grid[f->component];
        if (f->kind != AFFINE_PARAMETER && f->kind != AFFINE_NODE) continue;
        b.understood &= n < BOX_PARAMETERS &&  // a uniform value that is not counts as one
                        (f->kind != AFFINE_NODE || !bitset_has(&part->view->flow.divergence->nodes, f->id));
        if (n < BOX_PARAMETERS) b.parameters[n++] = term->factors[i];
    }
    b.understood &= b.varying <= 1;
    return b;
}

const AffineForm *box_begin(const CasePart *part, const AffineTerm *term) {
    const FlowResults *flow = &part->view->flow;
    const Affine *affine = flow->affine;
    const AffineFactor *f = term->factors[0] == WL_NONE ? NULL : &affine->factors[term->factors[0]];
    if (!f || f->kind != AFFINE_NODE || term->factors[1] != WL_NONE || !chain_is_merge(flow->chains, f->id))
        return NULL;
    const ChainNode *node = &flow->chains->nodes[f->id];
    u32 others = ~(1u << AFFINE_SREG | 1u << AFFINE_PARAMETER | 1u << AFFINE_SYMBOL);
    for (u32 i = 0; i < node->arg_count; i++) {
        u32 arg = flow->chains->args[node->args + i];
        if (arg != WL_NONE && !(affine_kinds(affine, arg) & others)) return &affine->forms[arg];
    }
    return NULL;
}

// --- sides ---------------------------------------------------------------------------------------------------------
enum { BOX_TERMS = 2 * AFFINE_TERMS };

typedef struct BoxTerms {
    BoxTerm rows[BOX_TERMS];
    u32 count;
} BoxTerms;

static BoxSide *add_side(Box *box, BoxSide side) {
    if (box->count == BOX_SIDES) return NULL;
    box->sides[box->count] = side;
    return &box->sides[box->count++];
}

static BoxSide *side_of(Box *box, const u32 parameters[BOX_PARAMETERS]) {
    for (u32 i = 0; i < box->count; i++)
        if (!box->sides[i].pitch && box->sides[i].parameters[0] == parameters[0] &&
            box->sides[i].parameters[1] == parameters[1])
            return &box->sides[i];
    return add_side(box, (BoxSide){.parameters = {parameters[0], parameters[1]}, .values = 1});
}

static bool add_unknown(Box *box, const BoxTerm *b) {
    BoxSide *side = side_of(box, b->parameters);
    if (!side) return false;
    box->measured = false;
    side->values *= b->values;
    side->span += fabs(b->distance) * (b->values - 1);
    if (b->varying)
        side->step = common_step(side->step, b->distance);
    else
        side->offset += b->distance;
    return true;
}

// By rising distance. What goes on where the side ends makes it longer; what goes on beyond that is another side. When
// there are no more sides it is the last one's, as if that had no gaps.
static void add_known(Box *box, const BoxTerm *b, f64 width, f64 grain) {
    BoxSide *last = &box->sides[box->count - 1];
    f64 distance = fabs(b->distance), turns = distance / last->pitch,
        room = last->span + (last->pitch > 1 ? 1 : fmax(width, grain));
    bool goes_on = turns <= room && fmod(distance, last->pitch) == 0;
    if (goes_on || !add_side(box, (BoxSide){.pitch = distance, .span = b->values - 1}))
        last->span += turns * (b->values - 1);
}

static bool add_term(const CasePart *part, const ProfileLaunch *l, const AffineTerm *term, i64 times, Box *box,
                     BoxTerms *known) {
    BoxTerm b = box_term(part, l, term, times);
    if (!b.understood) return false;
    box->all *= b.values;
    if (b.parameters[0] != WL_NONE) return add_unknown(box, &b);
    if (!b.varying || !b.distance) return box->offset += b.varying ? 0 : b.distance, true;
    if (known->count == BOX_TERMS) return false;
    known->rows[known->count++] = b;
    return true;
}

static int by_distance(const void *left, const void *right) {
    f64 a = fabs(((const BoxTerm *)left)->distance), b = fabs(((const BoxTerm *)right)->distance);
    return (a > b) - (a < b);
}

static bool add_terms(const CasePart *part, const ProfileLaunch *l, const AffineForm *form, Box *box, BoxTerms *known) {
    const Affine *affine = part->view->flow.affine;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        const AffineForm *begin = box_begin(part, term);
        if (!begin && !add_term(part, l, term, 1, box, known)) return false;
        for (u32 u = 0; begin && u < begin->term_count; u++)
            if (!add_term(part, l, &affine->terms[begin->terms + u], term->coefficient, box, known)) return false;
        if (begin) box->offset += (f64)(begin->constant * term->coefficient);
    }
    return true;
}

bool box_of(const ProfileLaunch *l, const CasePart *part, const CaseAccess *a, f64 grain, Box *box) {
    const AffineForm *form = &part->view->flow.affine->forms[a->affine->form];
    BoxTerms known = {.count = 0};
    *box = (Box){.sides = {{.pitch = 1, .parameters = {WL_NONE, WL_NONE}}},
                 .count = 1,
                 .offset = (f64)form->constant,
                 .all = 1,
                 .measured = true};
    Box unknown = *box;
    if (!add_terms(part, l, form, &unknown, &known)) return false;
    qsort(known.rows, known.count, sizeof *known.rows, by_distance);
    for (u32 i = 0; i < known.count; i++) add_known(box, &known.rows[i], a->bytes, grain);
    for (u32 i = 1; i < unknown.count; i++)
        if (!add_side(box, unknown.sides[i])) return false;
    box->offset = unknown.offset, box->all = unknown.all, box->measured = unknown.measured;
    return true;
}

f64 box_reach(const Box *box) {
    f64 reach = 0;
    for (u32 i = 0; i < box->count; i++) reach += box->sides[i].pitch * box->sides[i].span;
    return reach;
}

// --- accesses of one array -----------------------------------------------------------------------------------------
static bool varies(const CasePart *part, const ProfileLaunch *l, const AffineTerm *term) {
    BoxTerm b = box_term(part, l, term, 1);
    return b.varying > 0 || !b.understood;
}

// Each term of the one that varies within the launch is one of the other.
static bool has_terms_of(const CasePart *part, const ProfileLaunch *l, const AffineForm *f, const AffineForm *g) {
    const AffineTerm *terms = part->view->flow.affine->terms;
    for (u32 t = 0; t < f->term_count; t++) {
        bool found = !varies(part, l, &terms[f->terms + t]);
        for (u32 u = 0; u < g->term_count && !found; u++)
            found = affine_same_term(&terms[f->terms + t], &terms[g->terms + u]);
        if (!found) return false;
    }
    return true;
}

static bool same_but_distance(const ProfileLaunch *l, const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    const AffineForm *forms = part->view->flow.affine->forms, *f = &forms[a->affine->form],
                     *g = &forms[b->affine->form];
    return a->affine->base == b->affine->base && a->store == b->store && has_terms_of(part, l, f, g) &&
           has_terms_of(part, l, g, f);
}

static f64 whole(const BoxGroup *g, f64 bytes) { return ceil(bytes / g->grain) * g->grain; }

static void widen(BoxGroup *g, u32 side, f64 offset) {
    g->low[side] = fmin(g->low[side], offset);
    g->high[side] = fmax(g->high[side], offset);
}

// A known distance as so many planes, rows and bytes.
static void widen_known(BoxGroup *g, f64 distance) {
    for (u32 i = g->box.count; i-- > 0;) {
        f64 pitch = g->box.sides[i].pitch, turns = pitch > 0 ? round(distance / pitch) : 0;
        if (pitch <= 0) continue;
        widen(g, i, turns);
        distance -= turns * pitch;
    }
}

// Whether another access of the group lies there; when there is no more room, none.
static void note_place(BoxGroup *g, const Box *box) {
    f64 place = box->offset;
    for (u32 i = 0; i < box->count; i++) place += box->sides[i].offset * (f64)(1ull << (8 * i + 8));
    for (u32 i = 0; i < g->place_count && i < BOX_PLACES; i++)
        if (g->places[i] == place) return;
    if (g->place_count < BOX_PLACES) g->places[g->place_count] = place;
    g->place_count++;
}

static bool add_to_group(const ProfileLaunch *l, const CasePart *part, const CaseAccess *a, BoxGroup *g) {
    Box box;
    if (!box_of(l, part, a, g->grain, &box)) return false;
    if (!g->count++) {
        g->box = box;
        for (u32 i = 0; i < box.count; i++) g->step[i] = box.sides[i].step;
    }
    note_place(g, &box);
    widen_known(g, box.offset - g->box.offset);
    for (u32 i = 0; i < box.count; i++) {
        if (box.sides[i].pitch > 0) continue;
        const BoxSide *side = side_of(&g->box, box.sides[i].parameters);
        if (!side) return false;
        u32 at = (u32)(side - g->box.sides);
        f64 offset = box.sides[i].offset - side->offset;
        g->step[at] = common_step(g->step[at], offset);
        widen(g, at, offset);
    }
    g->width = fmax(g->width, a->bytes);
    bool alone = a->known == ACCESS_STATIC && fabs((f64)a->apart) >= g->grain;  // each lane in grains of its own
    g->executions += a->requests * a->lanes * (alone ? whole(g, a->bytes) : a->bytes);
    return true;
}

// Values of one side, of the first in bytes.
static f64 values_of_side(const BoxGroup *g, u32 at) {
    const BoxSide *side = &g->box.sides[at];
    f64 apart = g->high[at] - g->low[at], reach = side->span + apart, times = apart > 0 ? g->place_count : 1;
    if (side->pitch <= 0) return fmin(times * side->values, (g->step[at] > 0 ? reach / g->step[at] : 0) + 1);
    f64 width = at ? 1 : g->width, values = fmin(times * (side->span + width), reach + width);
    return at ? values : whole(g, values);
}

f64 box_group_bytes(const BoxGroup *g) {
    f64 all = 1;
    for (u32 i = 0; i < g->box.count; i++) all *= values_of_side(g, i);
    return fmin(all, g->place_count * g->box.all * whole(g, g->width));
}

bool box_group(const ProfileLaunch *l, const CasePart *part, const CaseAccess *a, f64 grain, BoxGroup *g) {
    *g = (BoxGroup){.grain = grain};
    if (!access_is_global(a) || !a->affine || a->requests <= 0 || part->access_count > ACCESS_GROUP_LIMIT) return false;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!b->affine || !access_is_global(b) || b->requests <= 0 || !same_but_distance(l, part, a, b)) continue;
        if (!add_to_group(l, part, b, g)) return false;
    }
    return g->count > 0;
}
