// SPDX-License-Identifier: Apache-2.0
// From hits to rows: estimates, hot places, groups of what cannot be added up, and the order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/advice/advice_inside.h"

enum { MOST_PLACES = 5, MOST_OF_KERNEL = 40 };
#define SAME_ROOT 0.5   // of the samples of the smaller of two hits, matched by both
#define COMPARABLE 0.2  // ... which is no less than this part of the larger
#define NEAR_LIMIT 0.9  // of the gain that the limit allows

typedef struct RankedHit {
    Hit *hit;
    AdviceEstimate estimate;
    u32 order;  // in which it was found
    u32 group;
} RankedHit;

static int by_gain(const void *left, const void *right) {
    const RankedHit *a = left, *b = right;
    if (a->estimate.program_speedup != b->estimate.program_speedup)
        return a->estimate.program_speedup > b->estimate.program_speedup ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

// --- places --------------------------------------------------------------------------------------------------------
static int compare_texts(const char *a, const char *b) { return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b); }

static int by_place(const void *left, const void *right) {
    const HitSpot *a = left, *b = right;
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    const ProfilePlace *p = &a->part->view->places[a->use], *q = &b->part->view->places[b->use];
    int files = compare_texts(p->file, q->file);
    if (files) return files;
    if (p->line != q->line) return p->line < q->line ? -1 : 1;
    if (a->use != b->use) return a->use < b->use ? -1 : 1;
    return a->def != b->def ? (a->def < b->def ? -1 : 1) : (a->reason > b->reason) - (a->reason < b->reason);
}

// An edge is there once, with no more than it has: a change may both spare a wait and hide what is left of it.
static void join_spots(Hit *hit) {
    u32 kept = 0;
    for (u32 i = 0; i < hit->spots.len; i++) {
        HitSpot *last = kept ? &hit->spots.data[kept - 1] : NULL, *spot = &hit->spots.data[i];
        if (last && by_place(last, spot) == 0)
            last->samples = fmin(last->samples + spot->samples, spot->whole);
        else
            hit->spots.data[kept++] = *spot;
    }
    hit->spots.len = kept;
}

static bool one_place(const HitSpot *a, const HitSpot *b) {
    return a->part == b->part && same_line(a->part, a->use, b->use);
}

static AdvicePlace place_of(const AdviceCase *c, const HitSpot *spots, u32 count) {
    const CasePart *part = spots->part;
    f64 by_reason[STALL_COUNT] = {0}, all = 0;
    u32 best = 0, reason = 0;
    for (u32 i = 0; i < count; i++) {
        all += spots[i].samples;
        by_reason[spots[i].reason] += spots[i].samples;
        if (spots[i].samples > spots[best].samples) best = i;
    }
    for (u32 r = 1; r < STALL_COUNT; r++)
        if (by_reason[r] > by_reason[reason]) reason = r;
    const ProfilePlace *places = part->view->places;
    u32 use = spots[best].use, def = spots[best].def;
    bool caused = def != use;
    return (AdvicePlace){.kind = PLACE_LINE,
                         .view = part->view,
                         .pc = use,
                         .pc_end = use + 1,
                         .line = places[use].line ? &places[use] : NULL,
                         .cause_pc = caused ? def : WL_NONE,
                         .cause_line = caused && places[def].line ? &places[def] : NULL,
                         .cause_class = spots[best].class,
                         .share = case_share(c, all),
                         .stall = (StallReason)reason};
}

static u32 insert_place(AdvicePlace *places, u32 count, AdvicePlace place) {
    u32 at = count < MOST_PLACES ? count : MOST_PLACES - 1;
    if (count == MOST_PLACES && places[at].share >= place.share) return count;
    while (at > 0 && places[at - 1].share < place.share) places[at] = places[at - 1], at--;
    places[at] = place;
    return count < MOST_PLACES ? count + 1 : count;
}

static Status find_places(const AdviceCase *c, const Hit *hit, Advice *row) {
    AdvicePlace *places = ARENA_ARRAY(c->arena, AdvicePlace, MOST_PLACES);
    f64 share = 0;
    if (!places) return STATUS_NO_MEMORY;
    for (u32 i = 0, next; i < hit->spots.len; i = next) {
        for (next = i + 1; next < hit->spots.len; next++)
            if (!one_place(&hit->spots.data[i], &hit->spots.data[next])) break;
        AdvicePlace place = place_of(c, &hit->spots.data[i], next - i);
        share += place.share;
        row->place_count = insert_place(places, row->place_count, place);
    }
    row->places = places;
    row->scope = hit->scope;
    row->scope.share = share;
    if (row->place_count) row->scope.stall = places[0].stall;
    return STATUS_OK;
}

static Status keep_facts(const AdviceCase *c, const Hit *hit, Advice *row) {
    AdviceFact *facts = ARENA_ARRAY(c->arena, AdviceFact, hit->facts.len + 1);
    if (!facts) return STATUS_NO_MEMORY;
    if (hit->facts.len) memcpy(facts, hit->facts.data, hit->facts.len * sizeof *facts);
    row->facts = facts;
    row->fact_count = hit->facts.len;
    return STATUS_OK;
}

// --- groups --------------------------------------------------------------------------------------------------------
static f64 spot_sum(const Hit *hit) {
    f64 all = 0;
    for (u32 i = 0; i < hit->spots.len; i++) all += hit->spots.data[i].samples;
    return all;
}

static int by_instruction(const HitSpot *a, const HitSpot *b) {
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    return (a->use > b->use) - (a->use < b->use);
}

static f64 of_instruction(const Hit *hit, u32 *at) {
    const HitSpot *first = &hit->spots.data[*at];
    f64 all = 0;
    while (*at < hit->spots.len && by_instruction(first, &hit->spots.data[*at]) == 0)
        all += hit->spots.data[(*at)++].samples;
    return all;
}

static int by_use(const void *left, const void *right) { return by_instruction(left, right); }

// Samples that both hits would remove; spots are sorted by instruction.
static f64 common(const Hit *a, const Hit *b) {
    f64 all = 0;
    u32 i = 0, j = 0;
    while (i < a->spots.len && j < b->spots.len) {
        int order = by_instruction(&a->spots.data[i], &b->spots.data[j]);
        if (order < 0) i++;
        if (order > 0) j++;
        if (order == 0) {
            f64 x = of_instruction(a, &i), y = of_instruction(b, &j);
            all += x < y ? x : y;
        }
    }
    return all;
}

// Both come as far as the same unit or memory lets them.
static bool one_limit(const AdviceEstimate *a, const AdviceEstimate *b) {
    return a->model > 1 + NEAR_LIMIT * (a->limit - 1) && b->model > 1 + NEAR_LIMIT * (b->limit - 1) &&
           fabs(a->limit - b->limit) < (1 - NEAR_LIMIT) * (a->limit - 1);
}

static bool one_root(const RankedHit *left, const RankedHit *right) {
    const Hit *a = left->hit, *b = right->hit;
    f64 x = spot_sum(a), y = spot_sum(b), more = x > y ? x : y, fewer = x < y ? x : y;
    if (one_limit(&left->estimate, &right->estimate)) return true;
    if (fewer <= 0) return more <= 0 && a->rule->kind == ADVICE_PARALLEL && b->rule->kind == ADVICE_PARALLEL;
    return fewer >= COMPARABLE * more && common(a, b) >= SAME_ROOT * fewer;
}

// Each joins the first group whose best it shares its root with.
static void find_groups(AdviceMaker *m, RankedHit *ranked, u32 count) {
    for (u32 i = 0; i < count; i++) {
        ranked[i].group = WL_NONE;
        for (u32 j = 0; j < i && ranked[i].group == WL_NONE; j++)
            if (one_root(&ranked[j], &ranked[i])) ranked[i].group = ranked[j].group;
        if (ranked[i].group == WL_NONE) ranked[i].group = m->groups++;
    }
}

// --- rows ----------------------------------------------------------------------------------------------------------
static Status add_row(AdviceMaker *m, const AdviceCase *c, const RankedHit *ranked) {
    Hit *hit = ranked->hit;
    Advice row = {.rule = hit->rule,
                  .kernel = c->view,
                  .text = hit->text,
                  .also = hit->also,
                  .what = hit->what,
                  .caution = hit->caution,
                  .estimate = ranked->estimate,
                  .edits = hit->edit_text,
                  .group = ranked->group};
    if (hit->spots.len) qsort(hit->spots.data, hit->spots.len, sizeof *hit->spots.data, by_place);
    join_spots(hit);
    TRY(find_places(c, hit, &row));
    TRY(keep_facts(c, hit, &row));
    return vec_push(&m->rows, row);
}

static u32 loop_of(const AdviceCase *c, const AdvicePlace *place) {
    for (u32 p = 0; p < c->part_count; p++)
        if (c->parts[p].view == place->view) return c->parts[p].insns[place->pc].loop;
    return WL_NONE;
}

// What a rule found twice at one line (code that was inlined or copied by the compiler) is one change, and so is the
// same remedy for lines of one loop that follow each other.
static bool one_change(const AdviceCase *c, const Hit *a, const Hit *b) {
    const AdvicePlace *p = &a->scope, *q = &b->scope;
    if (a->rule != b->rule || a->rule->kind == ADVICE_PARALLEL || !p->line || !q->line || p->kind != q->kind)
        return false;
    u32 apart = p->line->line > q->line->line ? p->line->line - q->line->line : q->line->line - p->line->line;
    if (compare_texts(p->line->file, q->line->file) != 0) return false;
    bool alike = p->view == q->view && a->remedy && a->remedy == b->remedy && loop_of(c, p) == loop_of(c, q);
    return apart == 0 || (alike && apart <= 1 + a->more_lines);
}

static Status add_change(Hit *to, const Hit *from) {
    EstimateChange *x = &to->change;
    const EstimateChange *y = &from->change;
    f64 hidden = fmin(x->hidden, x->scope_active) + fmin(y->hidden, y->scope_active);  // each within its own scope
    x->stalls += y->stalls;
    x->issues += y->issues;
    x->hidden = x->scope_active = hidden;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) x->relief[r] += y->relief[r], x->queued[r] += y->queued[r];
    to->doubtful |= from->doubtful;
    u32 line = from->scope.line->line;
    if (line != to->scope.line->line && line != to->last_line) {
        to->what = case_printf(to->c, "%s, and likewise line %u", to->what, line);
        to->more_lines++;
        to->last_line = line;
    }
    for (u32 i = 0; i < from->spots.len; i++) TRY(vec_push(&to->spots, from->spots.data[i]));
    for (u32 i = 0; i < from->edits.len; i++) TRY(vec_push(&to->edits, from->edits.data[i]));
    return STATUS_OK;
}

static Status merge_hits(AdviceCase *c) {
    u32 count = 0;
    for (u32 i = 0; i < c->hits.len; i++) {
        Hit *hit = c->hits.data[i];
        u32 j = 0;
        while (j < count && !one_change(c, c->hits.data[j], hit)) j++;
        if (j < count) {
            TRY(add_change(c->hits.data[j], hit));
            hit_drop(hit);
        } else {
            c->hits.data[count++] = hit;
        }
    }
    c->hits.len = count;
    return STATUS_OK;
}

Status rank_kernel(AdviceMaker *m, AdviceCase *c) {
    RankedHit *ranked = ARENA_ARRAY(c->scratch, RankedHit, c->hits.len + 1);
    u32 count = 0;
    if (!ranked) return STATUS_NO_MEMORY;
    TRY(merge_hits(c));
    for (u32 i = 0; i < c->hits.len; i++) {
        RankedHit *r = &ranked[count];
        *r = (RankedHit){.hit = c->hits.data[i], .order = i};
        r->hit->edit_text = hit_edits(r->hit);
        hit_estimate(r->hit, &r->estimate);
        count += r->estimate.program_speedup - 1 >= m->least || r->estimate.tried > 0;
    }
    if (count) qsort(ranked, count, sizeof *ranked, by_gain);
    if (count > MOST_OF_KERNEL) count = MOST_OF_KERNEL;
    for (u32 i = 0; i < count; i++)
        if (ranked[i].hit->spots.len)
            qsort(ranked[i].hit->spots.data, ranked[i].hit->spots.len, sizeof(HitSpot), by_use);
    find_groups(m, ranked, count);
    for (u32 i = 0; i < count; i++) TRY(add_row(m, c, &ranked[i]));
    return c->status;
}

// --- the whole list ------------------------------------------------------------------------------------------------
static int by_saving(const void *left, const void *right) {
    const Advice *a = left, *b = right;
    if (a->estimate.program_speedup != b->estimate.program_speedup)
        return a->estimate.program_speedup > b->estimate.program_speedup ? -1 : 1;
    if (a->kernel != b->kernel) return a->kernel->function->id < b->kernel->function->id ? -1 : 1;
    return a->rule != b->rule ? (a->rule < b->rule ? -1 : 1)
                              : (a->scope.pc > b->scope.pc) - (a->scope.pc < b->scope.pc);
}

static void rank_by_kernel(AdviceList *list, AdviceKernel *kernels, u32 *ranked) {
    u32 count = 0;
    for (u32 k = 0; k < list->kernel_count; k++) {
        kernels[k].first = count;
        for (u32 i = 0; i < list->count; i++)
            if (list->rows[i].kernel == kernels[k].view) ranked[count++] = i;
        kernels[k].count = count - kernels[k].first;
    }
}

Status time_of_all(const AdviceMaker *m, AdviceTimes *times) {
    ProfileSummary summary;
    TRY(profile_summary(m->context.profile, &summary, m->context.diag));
    *times = (AdviceTimes){.copies = summary.copies, .copy_ns = (f64)summary.copy_ns};
    for (u32 i = 0; i < m->context.kernel_count && times->kernel_ns <= 0; i++) {
        const ViewLaunches *l = &m->context.kernels[i]->launches;
        if (l->share > 0 && l->total_ns > 0) times->kernel_ns = l->total_ns / l->share;
    }
    return STATUS_OK;
}

static Status find_times(const AdviceMaker *m, AdviceList *list) {
    AdviceTimes times;
    TRY(time_of_all(m, &times));
    for (u32 i = 0; i < m->context.kernel_count && !*list->provenance; i++)
        list->provenance = m->context.kernels[i]->provenance;
    list->kernel_ns = times.kernel_ns;
    list->copies = times.copies;
    list->gpu_ns = times.kernel_ns > 0 ? times.kernel_ns + times.copy_ns : 0;
    return STATUS_OK;
}

#define KEEP(m, vec) arena_keep((m)->context.arena, (m)->vec.data, (m)->vec.len, sizeof *(m)->vec.data)
static void *arena_keep(Arena *arena, const void *data, u32 count, size_t size) {
    void *copy = arena_alloc(arena, size * ((size_t)count + 1), _Alignof(f64));
    if (copy && count) memcpy(copy, data, size * count);
    return copy;
}

Status rank_all(AdviceMaker *m) {
    if (m->rows.len) qsort(m->rows.data, m->rows.len, sizeof *m->rows.data, by_saving);
    AdviceList *list = m->list = ARENA_NEW(m->context.arena, AdviceList);
    u32 *ranked = ARENA_ARRAY(m->context.arena, u32, m->rows.len + 1);
    AdviceKernel *kernels = KEEP(m, kernels);
    Advice *rows = KEEP(m, rows);
    const char **notes = KEEP(m, notes);
    if (!list || !ranked || !kernels || !rows || !notes) return STATUS_NO_MEMORY;
    *list = (AdviceList){.rows = rows,
                         .count = m->rows.len,
                         .kernels = kernels,
                         .kernel_count = m->kernels.len,
                         .ranked = ranked,
                         .provenance = "",
                         .notes = notes,
                         .note_count = m->notes.len};
    rank_by_kernel(list, kernels, ranked);
    return find_times(m, list);
}
