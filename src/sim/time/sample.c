// SPDX-License-Identifier: Apache-2.0
// Which CTAs and launches are simulated in detail, and what the others are estimated at.
#include "sim/time/sample.h"

#include <math.h>
#include <string.h>

#include "sim/time/machine.h"

// Launches of a kernel and shape that are simulated in detail before one is not; clusters of them at most.
enum { FIRST_LAUNCHES = 4, CLUSTERS = 64 };
enum { MEASURE = 8192 };  // cycles that are measured at a stretch, when a wave is shorter
// Launches whose mixes are no further apart are alike; and so are their sizes.
static const f64 ALIKE = 0.05, ALIKE_SIZE = 0.1;
// Half-widths of intervals are at least this much of the estimate: what the variance between measurements does not
// show (the state of caches and DRAM behind a stretch that was skipped).
static const f64 LEAST_HALF = 0.01;
// Weight of measured waves that are not next to a stretch.
static const f64 ELSEWHERE = 0.05;
// One launch says nothing about the variance of its like; one that is like none can be anything near the nearest.
static const f64 LONE_HALF = 0.1, UNLIKE_HALF = 0.3;
// A launch of a kernel of which none was simulated: cycles of any launch, and for each warp instruction of a scheduler.
// Of 2,005 launches on an H200 (bench/hwref/h200-ncu-*.csv) half are within a factor of 1.45, nine tenths of 4.5.
static const f64 ANY_LAUNCH = 4000, ANY_INSTRUCTION = 5;

// --- groups and clusters -----------------------------------------------------------------------------------------
static bool is_group(const SampleGroup *group, const TimeRun *run) {
    const Grid *g = run->grid;
    return group->code == run->code_id && group->dynamic_shared == g->dynamic_shared &&
           memcmp(group->grid, g->grid, sizeof g->grid) == 0 && memcmp(group->block, g->block, sizeof g->block) == 0 &&
           memcmp(group->cluster, g->cluster, sizeof g->cluster) == 0;
}

static SampleGroup *group_of(TimeRun *run) {
    SampleGroup **at = &run->machine->groups;
    const Grid *g = run->grid;
    for (; *at; at = &(*at)->next)
        if (is_group(*at, run)) return *at;
    SampleGroup *group = *at = mem_zero(1, sizeof *group);
    if (!group) return NULL;
    group->code = run->code_id;
    group->dynamic_shared = g->dynamic_shared;
    memcpy(group->grid, g->grid, sizeof g->grid);
    memcpy(group->block, g->block, sizeof g->block);
    memcpy(group->cluster, g->cluster, sizeof g->cluster);
    return group;
}

static void figures_free(SampleFigures *f) {
    mem_free((void *)(uintptr_t)f->result.pcs);
    mem_free((void *)(uintptr_t)f->result.edges);
    mem_free((void *)(uintptr_t)f->result.samples);
    mem_free(f->totals);
    *f = (SampleFigures){0};
}

static void cluster_free(SampleCluster *cluster) {
    figures_free(&cluster->figures);
    mem_free(cluster);
}

void sample_groups_free(SampleGroup *group) {
    while (group) {
        SampleGroup *next = group->next;
        for (SampleCluster *c = group->clusters, *after; c; c = after) {
            after = c->next;
            cluster_free(c);
        }
        mem_free(group);
        group = next;
    }
}

static f64 size_distance(const Mix *a, const Mix *b) { return fabs(log((a->insts + 1) / (b->insts + 1))); }

static SampleCluster *nearest(const SampleGroup *group, const Mix *mix, f64 *distance) {
    SampleCluster *best = NULL;
    *distance = INFINITY;
    for (SampleCluster *c = group->clusters; c; c = c->next) {
        f64 d = mix_distance(&c->mix, mix) / ALIKE, size = size_distance(&c->mix, mix) / ALIKE_SIZE;
        if (size > d) d = size;
        if (!best || d < *distance) best = c, *distance = d;
    }
    return best;
}

// --- the plan ----------------------------------------------------------------------------------------------------
static bool reads_clock(const SimProgram *p) {
    for (u32 pc = 0; pc < p->insn_count; pc++)
        if (p->insns[pc].flags & SIM_CLOCK) return true;
    return false;
}

// Short waves are measured several at a time: they alternate with the bursts of the memory system.
static Status plan_waves(TimeRun *run, u64 wave_cycles) {
    Sample *s = run->sample;
    SampleChunks chunks = {0};
    u64 waves = run->grid->cta_count / s->wave;
    s->measured = MEASURE / (wave_cycles ? wave_cycles : 1) + 1;
    Status status = sample_plan(waves, s->period, waves * 31 + run->code_id, &s->measured, &chunks);
    for (u32 i = 0; i < chunks.len && status == STATUS_OK; i++) {
        const SampleChunk *c = &chunks.data[i];
        u64 from = c->first + c->count, to = i + 1 < chunks.len ? chunks.data[i + 1].first : waves - 1;
        if (i + 1 == chunks.len && to < from) to = from;
        status = vec_push(&s->skips, ((SampleSkip){from * s->wave, (to - from) * s->wave}));
    }
    vec_free(&chunks);
    return status;
}

static bool skips_launch(SampleGroup *group, u32 period) {
    if (group->detailed < FIRST_LAUNCHES || group->unlike || group->since + 1 >= period) return false;
    return group->clusters != NULL;
}

// Only among launches that are passed over, too, and not when its CTAs wait for each other. A trace has the machine's
// clock, which stands still.
static bool pass_over(TimeRun *run) {
    Sample *s = run->sample;
    const TimeMachine *m = run->machine;
    bool alone = run->grid->pass != PASS_NONE && !run->grid->grid_workspace;
    for (u32 i = 0; i < m->runs.len; i++) alone &= m->runs.data[i]->sample->passed;
    s->passed = s->whole = alone;
    s->untraced = run->grid->pass == PASS_REST || reads_clock(run->grid->program);
    return alone;
}

// Another launch is on the machine.
static void sample_share(TimeRun *run) { run->sample->shared = run->sample->off = true; }

Status sample_begin(TimeRun *run, u32 period) {
    Sample *s = run->sample = mem_zero(1, sizeof *s);
    if (!s) return STATUS_NO_MEMORY;
    s->group = group_of(run);
    if (!s->group) return STATUS_NO_MEMORY;
    s->wave = (u64)run->slot_groups * run->grid->cluster_size;
    s->detail = 1;
    if (pass_over(run)) return vec_push(&s->skips, ((SampleSkip){0, run->grid->cta_count}));
    s->shared = s->off = run->machine->runs.len != 0;
    for (u32 i = 0; i < run->machine->runs.len; i++) sample_share(run->machine->runs.data[i]);
    if (!period) return STATUS_OK;
    if (run->grid->grid_workspace || reads_clock(run->grid->program)) s->group->refused = true;
    if (s->group->refused || s->shared) return STATUS_OK;
    s->whole = skips_launch(s->group, period);
    if (s->whole) return vec_push(&s->skips, ((SampleSkip){0, run->grid->cta_count}));
    s->period = period;
    s->in_waves = sample_worth(run->grid->cta_count / s->wave);
    return STATUS_OK;
}

void sample_free(TimeRun *run) {
    Sample *s = run->sample;
    if (!s) return;
    vec_free(&s->skips);
    vec_free(&s->skipped);
    vec_free(&s->waves);
    trace_free(&s->trace);
    mem_free(s->filter);
    mem_free(s);
    run->sample = NULL;
}

// --- while it runs -----------------------------------------------------------------------------------------------
bool sample_due(const TimeRun *run, u64 *goal) {
    const Sample *s = run->sample;
    *goal = run->next_linear;
    if (!s || s->next_skip == s->skips.len) return false;
    const SampleSkip *skip = &s->skips.data[s->next_skip];
    if (!s->off) *goal = skip->first + skip->count;
    return s->skipping || (!s->off && run->next_linear == skip->first);
}

void sample_skip_begin(TimeRun *run) {
    Sample *s = run->sample;
    if (s->skipping) return;
    s->skipping = true;
    s->before = mix_read(run->grid);
    if (!s->measuring || s->closing) return;
    s->mark = mix_difference(&s->before, &s->mark);
    s->closing = true;
}

void sample_skip_end(TimeRun *run) {
    Sample *s = run->sample;
    Mix now = mix_read(run->grid), executed = mix_difference(&now, &s->before);
    s->skipping = false;
    s->next_skip++;
    if (vec_push(&s->skipped, executed) != STATUS_OK) s->off = true;
}

static void end_measure(TimeRun *run, u64 start) {
    Sample *s = run->sample;
    Mix now = mix_read(run->grid);
    SampleWave wave = {.mix = s->closing ? s->mark : mix_difference(&now, &s->mark), .cycles = start - s->mark_cycle};
    s->measuring = s->closing = false;
    if (vec_push(&s->waves, wave) != STATUS_OK) s->off = true;
}

// Waves are measured from the start of their first CTA to that of the first one after them: what lies before the next
// stretch that is skipped.
void sample_given(TimeRun *run, u64 linear, u64 start) {
    Sample *s = run->sample;
    if (!s || !s->in_waves) return;
    if (linear == s->wave) s->first_wave = start;
    if (linear == SAMPLE_FIRST * s->wave && !s->off) s->off = plan_waves(run, start - s->first_wave) != STATUS_OK;
    if (s->measuring && linear >= s->measure_until) end_measure(run, start);
    if (s->measuring || s->off || s->next_skip == s->skips.len) return;
    u64 until = s->skips.data[s->next_skip].first;
    if (linear + s->measured * s->wave != until) return;
    s->measuring = true;
    s->measure_until = until;
    s->mark_cycle = start;
    s->mark = mix_read(run->grid);
}

// --- estimates ---------------------------------------------------------------------------------------------------
// Of one more launch.
static f64 half_of(const SampleTally *t) {
    f64 half = sample_student(t->count) * sample_deviation(t) * sqrt(1.0 / t->count + 1);
    return half > LEAST_HALF ? half : LEAST_HALF;
}

// Of the measured waves those count most for a stretch that lie before and after it, and the more, the more their mix
// is like its.
static f64 rate_for(const Sample *s, u32 stretch) {
    f64 sum = 0, weights = 0;
    for (u32 i = 0; i < s->waves.len; i++) {
        const SampleWave *w = &s->waves.data[i];
        f64 near = i == stretch || i == stretch + 1 ? 1 : ELSEWHERE;
        f64 weight = near / (ALIKE + mix_distance(&w->mix, &s->skipped.data[stretch]));
        sum += weight * (f64)w->cycles / w->mix.insts;
        weights += weight;
    }
    return sum / weights;
}

// How much the mixes of a stretch and of what it is estimated from differ, as a share of its time.
static f64 unlike(const Sample *s, const Mix *stretch) {
    f64 least = 1;
    for (u32 i = 0; i < s->waves.len; i++) {
        f64 d = mix_distance(&s->waves.data[i].mix, stretch);
        if (d < least) least = d;
    }
    return least > ALIKE ? least - ALIKE : 0;
}

// Neighbours are compared, so that a trend over the grid, which the estimate follows, does not count.
static f64 half_of_waves(const Sample *s) {
    u32 n = s->waves.len;
    f64 squares = 0, mean = 0;
    for (u32 i = 0; i < n; i++) {
        const SampleWave *w = &s->waves.data[i];
        f64 rate = (f64)w->cycles / w->mix.insts;
        f64 next = i + 1 < n ? (f64)w[1].cycles / w[1].mix.insts : rate;
        mean += rate / n;
        squares += (next - rate) * (next - rate);
    }
    if (n < 2) return LONE_HALF;
    f64 half = sample_student(n) * sqrt(squares / (2 * (n - 1)) / n) / mean;
    return half > LEAST_HALF ? half : LEAST_HALF;
}

// Nothing can be told from waves in which nothing was executed.
static void drop_empty(Sample *s) {
    u32 kept = 0;
    for (u32 i = 0; i < s->waves.len; i++)
        if (s->waves.data[i].mix.insts > 0 && s->waves.data[i].cycles) s->waves.data[kept++] = s->waves.data[i];
    s->waves.len = kept;
}

static void estimate_waves(TimeRun *run) {
    Sample *s = run->sample;
    f64 skipped = 0;
    drop_empty(s);
    if (s->waves.len == 0) return;
    for (u32 i = 0; i < s->skipped.len; i++) {
        f64 cycles = s->skipped.data[i].insts * rate_for(s, i);
        s->estimate.value += cycles;
        s->estimate.half += cycles * unlike(s, &s->skipped.data[i]);
        skipped += s->skipped.data[i].insts;
    }
    s->estimate.half += s->estimate.value * half_of_waves(s);
    Mix all = mix_read(run->grid);
    s->detail = all.insts > 0 ? 1 - skipped / all.insts : 1;
}

static f64 estimate_any(const TimeRun *run, const Mix *mix) {
    f64 schedulers = (f64)run->machine->sm_count * (f64)run->machine->gpu->warp_schedulers;
    f64 warps = (f64)run->grid->cta_count * run->cta_warps;
    return ANY_LAUNCH + ANY_INSTRUCTION * mix->insts / (warps < schedulers ? warps : schedulers);
}

// A launch that is passed over teaches nothing about which ones to simulate.
static void estimate_passed(TimeRun *run, const Mix *mix) {
    Sample *s = run->sample;
    f64 distance;
    const SampleCluster *c = nearest(s->group, mix, &distance);
    s->estimate.value = c ? c->cycles.mean * (mix->insts > 0 ? mix->insts : 1) : estimate_any(run, mix);
    s->detail = 0;
}

static void estimate_launch(TimeRun *run, const Mix *mix) {
    Sample *s = run->sample;
    f64 distance;
    SampleCluster *c = s->cluster = nearest(s->group, mix, &distance);
    if (!c) return;
    f64 rate = c->cycles.mean, half = c->cycles.count > 1 ? half_of(&c->cycles) : LONE_HALF;
    s->group->unlike = distance > 1;
    if (s->group->unlike) half = UNLIKE_HALF + mix_distance(&c->mix, mix);
    s->estimate.value = rate * (mix->insts > 0 ? mix->insts : 1);
    // Of launches of other sizes, a part of the time is the same.
    s->estimate.half = s->estimate.value * half + fabs(rate * (mix->insts - c->mix.insts)) / 2;
    s->detail = 0;
}

static void remember(TimeRun *run, const Mix *mix, f64 cycles) {
    Sample *s = run->sample;
    SampleGroup *group = s->group;
    f64 distance;
    u32 count = 0;
    for (const SampleCluster *c = group->clusters; c; c = c->next) count++;
    SampleCluster *c = nearest(group, mix, &distance);
    if (!c || (distance > 1 && count < CLUSTERS)) {
        c = mem_zero(1, sizeof *c);
        if (!c) return;
        c->mix = *mix;
        c->next = group->clusters;
        c->cold = group->detailed == 0;
        group->clusters = c;
    } else if (c->cold) {
        c->cold = false;
        c->cycles = (SampleTally){0};
        figures_free(&c->figures);
    }
    f64 insts = mix->insts > 0 ? mix->insts : 1;
    sample_add(&c->cycles, cycles / insts, insts);
    s->cluster = c;
    group->unlike = false;
    group->detailed++;
    group->since = 0;
}

static void *copy_of(const void *from, size_t size) {
    void *copy = mem_alloc(size + 1);
    if (copy && size) memcpy(copy, from, size);
    return copy;
}

Status sample_keep(TimeRun *run, const TimeResult *result, const u64 *totals, u32 count) {
    SampleCluster *c = run->sample ? run->sample->cluster : NULL;
    if (!c || run->sample->whole || c->figures.cycles) return STATUS_OK;
    SampleFigures *f = &c->figures;
    *f = (SampleFigures){.result = *result, .totals = copy_of(totals, sizeof *totals * count), .total_count = count};
    f->result.pcs = copy_of(result->pcs, sizeof *result->pcs * run->grid->program->insn_count);
    f->result.edges = copy_of(result->edges, sizeof *result->edges * result->edge_count);
    f->result.samples = copy_of(result->samples, sizeof *result->samples * result->sample_count);
    if (!f->totals || !f->result.pcs || !f->result.edges || !f->result.samples) return STATUS_NO_MEMORY;
    f->cycles = result->detail_end - result->begin;
    return STATUS_OK;
}

const SampleFigures *sample_figures(const TimeRun *run) {
    const Sample *s = run->sample;
    return s && s->whole && s->cluster && s->cluster->figures.cycles ? &s->cluster->figures : NULL;
}

void sample_end(TimeRun *run) {
    Sample *s = run->sample;
    if (s->passed) {
        Mix all = mix_read(run->grid);
        estimate_passed(run, &all);
        return;
    }
    if (run->grid->exec.polls) s->group->refused = true;
    if (s->group->refused && !s->skipped.len) return;
    Mix mix = mix_read(run->grid);
    if (s->whole) {
        s->group->since++;
        estimate_launch(run, &mix);
        return;
    }
    if (s->skipped.len) estimate_waves(run);
    if (!s->shared) remember(run, &mix, (f64)(run->end - run->begin) + s->estimate.value);
}
