// SPDX-License-Identifier: Apache-2.0
// From a rule's change to a speedup with an interval: the model (estimate.h), corrected by how the rule did on known
// pairs, as wide as that record and the sampling error together make it.
#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"

#define NORMAL_90 1.6449  // a 90 % interval is that many standard deviations to each side
#define NARROW 0.75       // spread of the gain's logarithm: the interval is no wider than a factor of 3.5 to each side
// Of the speedup: code that is written anew is also scheduled anew, gets other registers and other places. Half of the
// changes from which less than 15 % was expected brought 4 % more or less than that (20 pairs on an H200).
#define OTHER_CODE 0.03

const AdviceRecord *advice_record(const AdviceRule *rule, const KernelView *kernel) {
    bool simulated = kernel->provenance && !strcmp(kernel->provenance, "simulated");
    return simulated ? &rule->simulated : &rule->record;
}

static f64 clamp(f64 x, f64 low, f64 high) { return x > low ? x < high ? x : high : low; }

// Amdahl: the part of the launch that is not its CTAs', and other kernels, stay as they are.
static f64 of_whole(f64 speedup, f64 part) { return 1 / (1 - part + part / speedup); }

static AdviceConfidence confidence_of(const Hit *hit, const AdviceEstimate *e) {
    const AdviceRecord *r = advice_record(hit->rule, hit->c->view);
    f64 width = hypot(r->spread, e->error);
    if (hit->doubtful || width > 1.2 || e->low <= 1.005) return CONFIDENCE_LOW;
    bool proven = r->tried >= 3 && r->helped * 4 >= r->tried * 3;
    return proven && width < NARROW ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
}

static const char *basis_of(const Hit *hit) {
    const EstimateChange *change = &hit->change;
    f64 matched = change->stalls + fabs(change->issues) + change->hidden;
    const char *unit = isfinite(hit->c->samples) ? "samples" : "warps' cycles";
    if (*hit->basis) return hit->basis;
    const char *equation = change->warps > 0 || change->work > 0 ? "equation 10"
                           : change->hidden > change->stalls     ? "equation 5"
                                                                 : "equation 2";
    return case_printf(hit->c, "%s over %.0f %% of the %s", equation, 100 * case_share(hit->c, matched), unit);
}

void hit_estimate(const Hit *hit, AdviceEstimate *e) {
    const AdviceCase *c = hit->c;
    const AdviceRecord *record = advice_record(hit->rule, c->view);
    f64 part = (hit->of_launch ? 1 : 1 - c->fixed) * (hit->of_shape ? c->view->launches.alike : 1);
    *e = (AdviceEstimate){.error = estimate_error(&c->load, &hit->change, c->samples)};
    f64 width = NORMAL_90 * hypot(record->spread, e->error);
    EstimateChange most = estimate_scaled(&hit->change, exp(width));  // as far as the record lets it be out
    e->limit = fmax(of_whole(1 / estimate_least_time(&c->load, &most), part), 1);
    e->model = clamp(of_whole(1 / estimate_time(&c->load, &hit->change), part), 1, e->limit);
    f64 gain = (e->model - 1) * record->scale;
    e->speedup = clamp(1 + gain, 1, e->limit);
    e->low = clamp(1 + gain * exp(-width) - NORMAL_90 * OTHER_CODE, 1, e->speedup);
    e->high = clamp(1 + gain * exp(width) + NORMAL_90 * OTHER_CODE, e->speedup, e->limit);
    f64 share = hit->share > 0 ? hit->share : c->view->launches.share;
    e->program_speedup = of_whole(e->speedup, share);
    e->program_low = of_whole(e->low, share);
    e->program_high = of_whole(e->high, share);
    f64 ns =
        share > 0 && c->view->launches.share > 0 ? c->view->launches.total_ns * share / c->view->launches.share : 0;
    e->saved_ns = ns * (1 - 1 / e->speedup);
    e->confidence = confidence_of(hit, e);
    e->basis = basis_of(hit);
}
