// SPDX-License-Identifier: Apache-2.0
// From a rule's change to a speedup with an interval: the model (estimate.h), corrected by how the rule did on known
// pairs, as wide as programs that nobody had in view demand (interval.h).
#include <math.h>
#include <string.h>

#include "analyze/advice/interval.h"
#include "analyze/advice/rule.h"

#define NARROW 0.75  // of all rules' width, with the error of sampling
#define WIDE 1.2
#define NARROW_SPAN 2.5   // high / low: what may be two or five times as fast is not known well
#define TYPICAL 0.7       // standard deviation of ln(achieved gain / expected gain) where the width is 1
#define MOST_OF_CHANGE 4  // limits are of changes that do so much more than what was matched
// Of a limit's gain: what units can do is not known better. 4 of 131 pairs achieved more than their limit, up to 18 %.
#define LIMIT_ERROR 0.2
// What is told beside the waits: a unit that works so much of the time, and by how much of the time less.
#define LEAST_BUSY 0.3
#define LEAST_RELIEF 0.05

const AdviceRecord *advice_record(const AdviceRule *rule, const KernelView *kernel) {
    bool simulated = kernel->provenance && !strcmp(kernel->provenance, "simulated");
    return simulated ? &rule->simulated : &rule->record;
}

static f64 clamp(f64 x, f64 low, f64 high) { return x > low ? x < high ? x : high : low; }

// Amdahl: the part of the launch that is not its CTAs', and other kernels, stay as they are.
static f64 of_whole(f64 speedup, f64 part) { return 1 / (1 - part + part / speedup); }

static AdviceConfidence confidence_of(const Hit *hit, const AdviceEstimate *e) {
    const AdviceRecord *r = advice_record(hit->rule, hit->c->view);
    f64 width = hypot(TYPICAL * r->width, e->error);
    if (hit->doubtful || width > WIDE || e->low <= 1.005) return CONFIDENCE_LOW;
    bool proven = r->tried >= 3 && r->helped * 4 >= r->tried * 3;
    return proven && width < NARROW && e->high < NARROW_SPAN * e->low ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

// The unit whose relief is worth most; RESOURCE_COUNT where none is, as one that is idle most of the time.
static Resource relieved(const Hit *hit) {
    Resource most = RESOURCE_COUNT;
    f64 best = LEAST_RELIEF;
    for (Resource r = 0; r < RESOURCE_COUNT; r++) {
        if (hit->c->load.busy[r] < LEAST_BUSY || hit->change.relief[r] <= best) continue;
        best = hit->change.relief[r];
        most = r;
    }
    return most;
}

static const char *basis_of(const Hit *hit) {
    const EstimateChange *change = &hit->change;
    f64 matched = change->stalls + fabs(change->issues) + change->hidden;
    const char *unit = isfinite(hit->c->samples) ? "samples" : "warps' cycles";
    if (*hit->basis) return hit->basis;
    const char *equation = change->warps > 0 || change->work > 0 ? "equation 10"
                           : change->hidden > change->stalls     ? "equation 5"
                                                                 : "equation 2";
    const char *over =
        case_printf(hit->c, "%s over %.0f %% of the %s", equation, 100 * case_share(hit->c, matched), unit);
    Resource unit_relieved = relieved(hit);
    if (unit_relieved == RESOURCE_COUNT) return over;
    f64 busy = hit->c->load.busy[unit_relieved], less = fmin(change->relief[unit_relieved] / busy, 1);
    return case_printf(hit->c, "%s; %.0f %% less work for %s, busy %.0f %% of the time", over, 100 * less,
                       resource_names[unit_relieved], 100 * fmin(busy, 1));
}

// The experiment is the estimate where the rule's are nearer to what is achieved: it knows what limits the kernel then.
// The interval stays as wide as the rule's.
static bool take_tried(const Hit *hit, AdviceEstimate *e) {
    if (!(e->tried > 0) || !hit_tried_counts(hit)) return false;
    e->model = e->speedup = fmax(e->tried, 1);
    e->limit = fmax(e->limit, 1 + (e->model - 1) * (1 + LIMIT_ERROR));
    e->error = 0;
    return true;
}

// Where all CTAs fit at once, the last ones start when all others have: what shortens CTAs shortens the launch without
// that time. Of CTAs in waves others start while some run.
static f64 before_last_start(const Hit *hit) {
    const AdviceCase *c = hit->c;
    f64 waves = c->view->occupancy.waves;
    bool same = hit->change.relief[RESOURCE_LAUNCH] == 0 && hit->change.work == 0 && hit->change.warps == 0;
    return same && waves > 0 && waves <= 1 ? fmin(c->load.busy[RESOURCE_LAUNCH], 1) : 0;
}

void hit_estimate(const Hit *hit, AdviceEstimate *e) {
    const AdviceCase *c = hit->c;
    const AdviceRecord *record = advice_record(hit->rule, c->view);
    f64 part = (hit->of_launch ? 1 : 1 - c->fixed) * (hit->of_shape ? c->view->launches.alike : 1) *
               (1 - before_last_start(hit));
    EstimateLoad load = c->load;
    if (!hit->of_dispatcher) load.held = 0;
    *e = (AdviceEstimate){.error = estimate_error(&load, &hit->change, c->samples)};
    EstimateChange most = estimate_scaled(&hit->change, MOST_OF_CHANGE);
    // What the change adds instead counts four times in `most`, so that the change itself may have the farther limit.
    f64 time = fmin(estimate_least_time(&load, &most), estimate_least_time(&load, &hit->change));
    f64 least = fmax(of_whole(1 / time, part), 1);
    e->limit = 1 + (least - 1) * (1 + LIMIT_ERROR);
    e->tried = hit_tried(hit);
    e->model = clamp(of_whole(1 / estimate_time(&load, &hit->change), part), 1, least);
    e->speedup = clamp(1 + (e->model - 1) * record->scale, 1, least);
    bool counts = take_tried(hit, e);
    Interval interval = interval_around(e->speedup, record->width, e->error);
    e->low = interval.low;
    e->high = clamp(interval.high, e->speedup, e->limit);
    f64 share = hit->share > 0 ? hit->share : c->view->launches.share;
    e->program_speedup = of_whole(e->speedup, share);
    e->program_low = of_whole(e->low, share);
    e->program_high = of_whole(e->high, share);
    f64 ns =
        share > 0 && c->view->launches.share > 0 ? c->view->launches.total_ns * share / c->view->launches.share : 0;
    e->saved_ns = ns * (1 - 1 / e->speedup);
    e->confidence = confidence_of(hit, e);
    e->basis = counts ? case_printf(hit->c, "tried: the kernel timed once more as if it were so") : basis_of(hit);
}
