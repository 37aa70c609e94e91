// SPDX-License-Identifier: Apache-2.0
// The figures of a view: samples, or cycles where there are none, counts, places, causes; all by pc.
#include <stdlib.h>

#include "analyze/kernel_view_inside.h"

enum {
    VIEW_PC_LIMIT = 1 << 22,     // what lies beyond is damage
    VIEW_ENOUGH_SAMPLES = 1000,  // of a function: a share of a half is known to +- 3 per cent (95 % confidence)
};

// The metric that counts warp cycles of a reason; METRIC_COUNT: there is none.
static const u16 cycles_of_reason[STALL_COUNT] = {
    [STALL_SELECTED] = METRIC_STALL_SELECTED,
    [STALL_NOT_SELECTED] = METRIC_STALL_NOT_SELECTED,
    [STALL_WAIT] = METRIC_STALL_WAIT,
    [STALL_LONG_SCOREBOARD] = METRIC_STALL_LONG_SCOREBOARD,
    [STALL_SHORT_SCOREBOARD] = METRIC_STALL_SHORT_SCOREBOARD,
    [STALL_IMC_MISS] = METRIC_COUNT,
    [STALL_NO_INSTRUCTIONS] = METRIC_STALL_NO_INSTRUCTIONS,
    [STALL_BRANCH_RESOLVING] = METRIC_STALL_BRANCH_RESOLVING,
    [STALL_BARRIER] = METRIC_STALL_BARRIER,
    [STALL_MEMBAR] = METRIC_STALL_MEMBAR,
    [STALL_MATH_PIPE_THROTTLE] = METRIC_STALL_MATH_PIPE_THROTTLE,
    [STALL_MIO_THROTTLE] = METRIC_STALL_MIO_THROTTLE,
    [STALL_LG_THROTTLE] = METRIC_STALL_LG_THROTTLE,
    [STALL_TEX_THROTTLE] = METRIC_STALL_TEX_THROTTLE,
    [STALL_GMMA] = METRIC_STALL_GMMA,
    [STALL_WARPGROUP_ARRIVE] = METRIC_COUNT,
    [STALL_SLEEPING] = METRIC_STALL_SLEEPING,
    [STALL_DRAIN] = METRIC_COUNT,
    [STALL_DISPATCH] = METRIC_COUNT,
    [STALL_MISC] = METRIC_COUNT,
};

static StallReason reason_of_metric(MetricId metric) {
    for (u32 r = 0; r < STALL_COUNT; r++)
        if (cycles_of_reason[r] == metric) return (StallReason)r;
    return STALL_COUNT;
}

// --- all functions -------------------------------------------------------------------------------------------------
static Status read_counts(KernelViews *views, u32 at, Diag *diag) {
    ViewFigures *figures = &views->figures[at];
    if (figures->has_counts) return STATUS_OK;
    TRY(profile_pc_metrics(views->profile, &views->functions[at], &figures->counts, &figures->count_count, diag));
    figures->has_counts = true;
    return STATUS_OK;
}

static u64 cycles_in(const ViewFigures *figures) {
    f64 sum = 0;
    for (u32 i = 0; i < figures->count_count; i++)
        if (reason_of_metric(figures->counts[i].metric) != STALL_COUNT) sum += figures->counts[i].value;
    return sum > 0 && sum < 1e18 ? (u64)sum : 0;
}

static Status weigh(KernelViews *views, u32 at, Diag *diag) {
    ViewFigures *figures = &views->figures[at];
    for (u32 i = 0; i < figures->sample_count; i++) figures->weight += figures->samples[i].samples;
    figures->basis = figures->weight ? VIEW_SAMPLES : VIEW_NOTHING;
    bool enough = figures->weight >= VIEW_ENOUGH_SAMPLES && !views->options.prefer_cycles;
    if (!views->functions[at].source || enough) return STATUS_OK;
    TRY(read_counts(views, at, diag));
    u64 cycles = cycles_in(figures);
    if (!cycles) return STATUS_OK;
    figures->weight = cycles;
    figures->basis = VIEW_CYCLES;
    return STATUS_OK;
}

Status view_read_figures(KernelViews *views, Diag *diag) {
    for (u32 i = 0; i < views->function_count; i++) {
        ViewFigures *figures = &views->figures[i];
        TRY(profile_samples(views->profile, &views->functions[i], &figures->samples, &figures->sample_count, diag));
    }
    for (u32 i = 0; i < views->function_count; i++) {
        TRY(weigh(views, i, diag));
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

static void add_samples(const ViewSource *source, const ViewFigures *figures, KernelView *view, ViewSamples *to) {
    for (u32 i = 0; i < figures->sample_count; i++) {
        const ProfileSample *s = &figures->samples[i];
        if (s->pc >= view->insn_count) continue;
        u32 reason = source && s->stall < VIEW_STALL_IDS ? source->reason[s->stall] : STALL_MISC;
        to[s->pc].all[reason] += s->samples;
        if (reason != STALL_SELECTED) to[s->pc].latency[reason] += s->not_issued;
        if (s->period && (!view->period || s->period < view->period)) view->period = s->period;
    }
}

// Cycles of warps do not say what their schedulers did meanwhile. Where a scheduler issued nothing none of its warps
// was eligible, so all that they spent in such cycles is of the other reasons; it is shared out to them alike.
static f64 latency_part(const KernelViews *views, const KernelView *view, const ViewSamples *to) {
    const MetricSet *m = &view->metrics;
    f64 lost = m->value[METRIC_ISSUE_STALLED], slots = lost + m->value[METRIC_ISSUE_ACTIVE];
    if (slots <= 0) lost = views->lost_slots, slots = views->all_slots;  // a device function: as its callers
    f64 all = 0, waiting = 0;
    for (u32 pc = 0; pc < view->insn_count; pc++) {
        for (u32 r = 0; r < STALL_COUNT; r++) all += (f64)to[pc].all[r];
        waiting -= (f64)to[pc].all[STALL_SELECTED] + (f64)to[pc].all[STALL_NOT_SELECTED];
    }
    waiting += all;
    f64 part = slots > 0 && waiting > 0 ? lost / slots * all / waiting : 0;
    return part < 1 ? part : 1;
}

static void add_cycles(const KernelViews *views, const ViewFigures *figures, KernelView *view, ViewSamples *to) {
    for (u32 i = 0; i < figures->count_count; i++) {
        const ProfilePcMetric *c = &figures->counts[i];
        StallReason reason = reason_of_metric(c->metric);
        bool usable = reason != STALL_COUNT && c->pc < view->insn_count && c->value > 0 && c->value < 1e18;
        if (usable) to[c->pc].all[reason] += (u64)c->value;
    }
    f64 part = latency_part(views, view, to);
    for (u32 pc = 0; pc < view->insn_count; pc++)
        for (u32 r = STALL_NOT_SELECTED + 1; r < STALL_COUNT; r++) to[pc].latency[r] = (u64)((f64)to[pc].all[r] * part);
    view->period = 1;
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
    return column(views, figures, view, METRIC_ISSUED, &view->issued);
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
    const ViewSource *source = view_source(views, view->function->source);
    TRY(read_counts(views, (u32)(figures - views->figures), diag));
    TRY(profile_places(views->profile, view->function->id, &places, &place_count, diag));
    view->insn_count = count_insns(view, figures, place_count);
    TRY(fill_places(views, places, place_count, view));
    TRY(index_counts(views, figures, view));
    ViewSamples *samples = ARENA_ARRAY(&views->arena, ViewSamples, view->insn_count + 1);
    if (!samples) return STATUS_NO_MEMORY;
    view->samples = samples;
    view->basis = figures->basis;
    if (view->basis == VIEW_SAMPLES) add_samples(source, figures, view, samples);
    if (view->basis == VIEW_CYCLES) add_cycles(views, figures, view, samples);
    add_up(view);
    return fill_causes(views, source, view, diag);
}
