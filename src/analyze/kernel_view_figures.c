// SPDX-License-Identifier: Apache-2.0
// The figures of a view: samples, or cycles where there are none, counts, places, causes; all by pc.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_view_inside.h"

enum { VIEW_PC_LIMIT = 1 << 22 };  // what lies beyond is damage

// --- all functions -------------------------------------------------------------------------------------------------
static Status read_counts(KernelViews *views, u32 at, Diag *diag) {
    ViewFigures *figures = &views->figures[at];
    if (figures->has_counts) return STATUS_OK;
    TRY(profile_pc_metrics(views->profile, &views->functions[at], &figures->counts, &figures->count_count, diag));
    figures->has_counts = true;
    return STATUS_OK;
}

static u64 finest_of(const ViewFigures *figures, u64 finest) {
    for (u32 i = 0; i < figures->sample_count; i++)
        if (figures->samples[i].period < finest) finest = figures->samples[i].period;
    return finest;
}

// A GPU is sampled at one period at a time, which the collector changes during the run: what each sample stands for is
// its period. The simulator's samples of other periods are of the same warps: those of one period are taken.
static bool is_merged(const KernelViews *views, const ViewFigures *figures) {
    const ViewSource *source = view_source(views, figures->source);
    return !views->options.period && source && !strcmp(source->row->provenance, "sampled");
}

#define MOST_SAMPLES 1e15  // of one row; what is more is damage

// How many samples of the figures' period these count for.
static u64 count_of(const ViewFigures *figures, u64 samples, u64 period) {
    if (period == figures->period) return samples;
    if (!figures->merged || !figures->period) return 0;
    f64 count = (f64)samples * ((f64)period / (f64)figures->period);
    return (u64)(fmin(count, MOST_SAMPLES) + 0.5);
}

static void weigh(KernelViews *views, ViewFigures *figures) {
    figures->merged = is_merged(views, figures);
    figures->period = views->options.period ? views->options.period
                      : figures->merged     ? views->finest
                                            : finest_of(figures, UINT64_MAX);
    for (u32 i = 0; i < figures->sample_count; i++)
        figures->weight += count_of(figures, figures->samples[i].samples, figures->samples[i].period);
    figures->basis = !figures->weight ? VIEW_NOTHING : figures->period == 1 ? VIEW_CYCLES : VIEW_SAMPLES;
}

static bool is_same_device(const ViewSource *a, const ViewSource *b) {
    return a && !strcmp(a->row->device, b->row->device) && !strcmp(a->row->detail, b->row->detail);
}

// On a GPU launches are counted and samples are taken by two sources: where the function's own has no samples, those of
// another source are taken, one of the same device if there is one.
static Status read_samples(KernelViews *views, u32 at, Diag *diag) {
    ViewFigures *figures = &views->figures[at];
    ProfileFunction asked = views->functions[at];
    const ViewSource *own = view_source(views, asked.source);
    TRY(profile_samples(views->profile, &asked, &figures->samples, &figures->sample_count, diag));
    figures->source = views->functions[at].source;  // of one that was not launched: known when samples are read
    for (u32 pass = 0; pass < 2; pass++) {
        for (u32 i = 0; i < views->source_count && !figures->sample_count; i++) {
            if (pass == 0 && !is_same_device(own, &views->sources[i])) continue;
            asked.source = views->sources[i].row->id;
            TRY(profile_samples(views->profile, &asked, &figures->samples, &figures->sample_count, diag));
            if (figures->sample_count) figures->source = asked.source;
        }
    }
    return STATUS_OK;
}

Status view_read_figures(KernelViews *views, Diag *diag) {
    views->finest = UINT64_MAX;
    for (u32 i = 0; i < views->function_count; i++) {
        TRY(read_samples(views, i, diag));
        if (is_merged(views, &views->figures[i])) views->finest = finest_of(&views->figures[i], views->finest);
    }
    for (u32 i = 0; i < views->function_count; i++) {
        weigh(views, &views->figures[i]);
        views->all_weight += views->figures[i].weight;
        if (views->functions[i].is_entry) views->kernel_weight += views->figures[i].weight;
    }
    return STATUS_OK;
}

// --- one function ------------------------------------------------------------------------------------------------
static void grow(u32 *count, u32 pc) {
    if (pc < VIEW_PC_LIMIT && pc >= *count) *count = pc + 1;
}

// Of the code; without code as many as anything speaks of.
static u32 count_insns(const KernelView *view, const ViewFigures *figures, u32 places) {
    if (view->flow.code) return view->flow.code->insn_count;
    u32 count = view->function->insn_count < VIEW_PC_LIMIT ? view->function->insn_count : 0;
    if (places) grow(&count, places - 1);
    for (u32 i = 0; i < figures->sample_count; i++) grow(&count, figures->samples[i].pc);
    for (u32 i = 0; i < figures->count_count; i++) grow(&count, figures->counts[i].pc);
    return count;
}

// Samples of several weights are as sure as (sum of weights)^2 / (sum of their squares) of one weight (Kish, Survey
// Sampling, 1965, 8.2).
static void add_samples(const ViewSource *source, const ViewFigures *figures, KernelView *view, ViewSamples *to) {
    f64 sum = 0, squares = 0;
    for (u32 i = 0; i < figures->sample_count; i++) {
        const ProfileSample *s = &figures->samples[i];
        u64 count = count_of(figures, s->samples, s->period);
        if (s->pc >= view->insn_count || !count) continue;
        u32 reason = source && s->stall < VIEW_STALL_IDS ? source->reason[s->stall] : STALL_MISC;
        to[s->pc].all[reason] += count;
        if (reason != STALL_SELECTED) to[s->pc].latency[reason] += count_of(figures, s->not_issued, s->period);
        view->taken += s->samples;
        if (s->period > view->longest) view->longest = s->period;
        sum += (f64)count;
        squares += (f64)count * ((f64)count / (f64)s->samples);
    }
    view->effective = squares > 0 ? sum * sum / squares : 0;
}

// Warps that have exited but for their stores are sampled at the instruction behind the exit (all of 1.1 million
// samples of drain in 70 programs on an H200, CUDA 13.0), from which nothing leads back to the stores. Who returns from
// a function, or ends, waits for that behind it, too: in the next function, say (240 programs: there it is up to 44 %
// of the samples, and the instruction issues in next to none).
static void behind_to_ends(const KernelView *view, ViewSamples *samples) {
    static const struct {
        u8 kind, reason;
    } rows[] = {{FLOW_EXIT, STALL_DRAIN}, {FLOW_EXIT, STALL_BRANCH_RESOLVING}, {FLOW_RET, STALL_BRANCH_RESOLVING}};
    for (u32 pc = 1; pc < view->flow.code->insn_count; pc++) {
        const FlowInsn *before = &view->flow.code->insns[pc - 1];
        for (u32 i = 0; i < WL_COUNT(rows); i++) {
            u8 reason = rows[i].reason;
            bool never = before->guard == WL_NONE || reason == STALL_DRAIN;  // a guard lets warps go on
            if (before->kind != rows[i].kind || !never) continue;
            samples[pc - 1].all[reason] += samples[pc].all[reason];
            samples[pc - 1].latency[reason] += samples[pc].latency[reason];
            samples[pc].all[reason] = samples[pc].latency[reason] = 0;
        }
    }
}

static void add_up(KernelView *view) {
    for (u32 pc = 0; pc < view->insn_count; pc++) {
        for (u32 r = 0; r < STALL_COUNT; r++) {
            view->total += view->samples[pc].all[r];
            view->total_latency += view->samples[pc].latency[r];
        }
        view->total_issued += view->samples[pc].all[STALL_SELECTED];
    }
}

// One counter by pc; NULL in *out when it was not counted.
static Status column(KernelViews *views, const ViewFigures *figures, const KernelView *view, MetricId metric,
                     const u64 **out) {
    u64 *values = NULL;
    for (u32 i = 0; i < figures->count_count; i++) {
        const ProfilePcMetric *c = &figures->counts[i];
        if (c->metric != metric || c->pc >= view->insn_count || !(c->value >= 0 && c->value < 1e18)) continue;
        if (!values) values = ARENA_ARRAY(&views->arena, u64, view->insn_count);
        if (!values) return STATUS_NO_MEMORY;
        values[c->pc] += (u64)c->value;
    }
    *out = values;
    return STATUS_OK;
}

// What was not issued stands where the instruction before it does.
static Status fill_order(KernelViews *views, const ViewFigures *figures, KernelView *view) {
    const u64 *sums;
    TRY(column(views, figures, view, METRIC_ISSUE_PLACE, &sums));
    if (!sums || !view->issued) return STATUS_OK;
    f64 *place = ARENA_ARRAY(&views->arena, f64, view->insn_count + 1);
    if (!place) return STATUS_NO_MEMORY;
    for (u32 pc = 0; pc < view->insn_count; pc++)
        place[pc] = view->issued[pc] ? (f64)sums[pc] / (f64)view->issued[pc] : pc ? place[pc - 1] : 0;
    view->place = place;
    return STATUS_OK;
}

static Status index_counts(KernelViews *views, const ViewFigures *figures, KernelView *view) {
    u32 *first = ARENA_ARRAY(&views->arena, u32, view->insn_count + 2), at = 0;
    if (!first) return STATUS_NO_MEMORY;
    for (u32 pc = 0; pc <= view->insn_count; pc++) {
        while (at < figures->count_count && figures->counts[at].pc < pc) at++;
        first[pc] = at;
    }
    view->counts = figures->counts;
    view->first_count = first;
    TRY(column(views, figures, view, METRIC_INST, &view->executed));
    TRY(column(views, figures, view, METRIC_ISSUED, &view->issued));
    TRY(column(views, figures, view, METRIC_ISSUE_SPILLED, &view->spilled));
    return fill_order(views, figures, view);
}

static Status fill_places(KernelViews *views, const ProfilePlace *places, u32 count, KernelView *view) {
    view->places = places;
    if (count >= view->insn_count) return STATUS_OK;
    ProfilePlace *all = ARENA_ARRAY(&views->arena, ProfilePlace, view->insn_count + 1);
    if (!all) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) all[i] = places[i];
    view->places = all;
    return STATUS_OK;
}

static int compare_causes(const void *left, const void *right) {
    const ProfileStallCause *a = left, *b = right;
    if (a->pc != b->pc) return a->pc < b->pc ? -1 : 1;
    if (a->stall != b->stall) return a->stall < b->stall ? -1 : 1;
    if (a->cause_function != b->cause_function) return a->cause_function < b->cause_function ? -1 : 1;
    return (a->cause_pc > b->cause_pc) - (a->cause_pc < b->cause_pc);
}

static Status fill_causes(KernelViews *views, const ViewSource *source, KernelView *view, Diag *diag) {
    const ProfileStallCause *rows;
    u32 count;
    TRY(profile_stall_causes(views->profile, view->function, &rows, &count, diag));
    ProfileStallCause *causes = ARENA_ARRAY(&views->arena, ProfileStallCause, count + 1);
    if (!causes) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) {
        if (rows[i].pc >= view->insn_count) continue;
        causes[view->cause_count] = rows[i];
        causes[view->cause_count++].stall =
            source && rows[i].stall < VIEW_STALL_IDS ? source->reason[rows[i].stall] : STALL_MISC;
    }
    if (view->cause_count) qsort(causes, view->cause_count, sizeof *causes, compare_causes);
    view->causes = causes;
    return STATUS_OK;
}

Status view_fill_figures(KernelViews *views, const ViewFigures *figures, KernelView *view, Diag *diag) {
    const ProfilePlace *places;
    u32 place_count;
    const ViewSource *source = view_source(views, figures->source);
    TRY(read_counts(views, (u32)(figures - views->figures), diag));
    TRY(profile_places(views->profile, view->function->id, &places, &place_count, diag));
    if (!place_count) {
        ProfilePlace *read;
        TRY(view_machine_places(views, view, &read, &place_count));
        if (place_count) places = read;
    }
    view->insn_count = count_insns(view, figures, place_count);
    TRY(fill_places(views, places, place_count, view));
    TRY(index_counts(views, figures, view));
    ViewSamples *samples = ARENA_ARRAY(&views->arena, ViewSamples, view->insn_count + 1);
    if (!samples) return STATUS_NO_MEMORY;
    view->samples = samples;
    view->basis = figures->basis;
    if (view->basis != VIEW_NOTHING) {
        view->period = figures->period;
        add_samples(source, figures, view, samples);
        if (view->kind == VIEW_SASS && view->flow.code) behind_to_ends(view, samples);
    }
    add_up(view);
    return fill_causes(views, view_source(views, view->function->source), view, diag);
}
