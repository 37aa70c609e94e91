// SPDX-License-Identifier: Apache-2.0
#include "analyze/advice/estimate.h"

#include <math.h>

const char *const resource_names[RESOURCE_COUNT] = {
#define RESOURCE(id, text) text,
#include "analyze/advice/resources.def"
#undef RESOURCE
};

static f64 clamp(f64 x, f64 low, f64 high) { return x > low ? x < high ? x : high : low; }

static f64 bounded(f64 speedup) { return isfinite(speedup) ? clamp(speedup, 0, ESTIMATE_MOST) : ESTIMATE_MOST; }

// --- the paper's equations -----------------------------------------------------------------------------------------
f64 estimate_elimination(f64 total, f64 gone) { return total > 0 ? bounded(total / (total - fmin(gone, total))) : 1; }

f64 estimate_hiding(f64 total, f64 active, f64 latency) { return estimate_elimination(total, fmin(active, latency)); }

f64 estimate_issue_rate(f64 ready, f64 warps) { return 1 - pow(1 - clamp(ready, 0, 1), fmax(warps, 0)); }

f64 estimate_parallel(f64 change_of_warps, f64 change_of_issue, f64 factor) {
    return change_of_warps > 0 ? bounded(change_of_issue / change_of_warps * factor) : ESTIMATE_MOST;
}

// --- all together --------------------------------------------------------------------------------------------------
static f64 least(f64 x) { return fmax(x, 1 / ESTIMATE_MOST); }

// Of the waits in a queue, the part that goes when the unit is busy for less of the time: with one server and random
// arrivals they are in proportion to busy / (1 - busy) (M/M/1).
static f64 shorter_wait(f64 busy, f64 relief) {
    f64 before = clamp(busy, 0.001, 0.98), after = clamp(busy - relief, 0, 0.98);
    return clamp(1 - after / (1 - after) * (1 - before) / before, -1, 1);
}

// Waits in queues that get shorter because others no longer queue.
static f64 shorter_queues(const EstimateLoad *load, const EstimateChange *change) {
    f64 gone = 0;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) {
        f64 left = load->queued[r] - change->queued[r];
        if (load->busy[r] > 0 && left > 0) gone += left * shorter_wait(load->busy[r], change->relief[r]);
    }
    return gone;
}

f64 estimate_warps(f64 ready, f64 rate) {
    if (ready <= 0 || ready >= 1 || rate <= ready) return 1;
    return fmax(log(1 - fmin(rate, 0.999)) / log(1 - ready), 1);
}

// What is left for the unit to do. Units of an SM have less of it when other SMs take part; there is only one DRAM.
static f64 busy_after(const EstimateLoad *load, const EstimateChange *change, u32 r) {
    bool shared = r == RESOURCE_L2 || r == RESOURCE_DRAM || r == RESOURCE_LAUNCH;
    f64 left = load->busy[r] - change->relief[r];
    return change->work > 0 && !shared ? left * change->work : left;
}

// How often a scheduler issues when its `warps` warps each take `own` cycles from one instruction to the next, and then
// wait for their turn among the others that are ready: for turn * rate / (1 - rate) cycles, as in a queue with one
// server and random arrivals. Little's law: warps = rate * (own + turn * rate / (1 - rate)), solved for the rate.
static f64 closed_rate(f64 warps, f64 own, f64 turn) {
    f64 low = 0, high = 1;
    for (u32 i = 0; i < 60; i++) {
        f64 rate = (low + high) / 2, inside = rate * (own + turn * rate / fmax(1 - rate, 1e-9));
        if (inside < warps)
            low = rate;
        else
            high = rate;
    }
    return low;
}

f64 estimate_time(const EstimateLoad *load, const EstimateChange *change) {
    f64 own = load->total - load->not_selected, active = fmax(load->issued - change->issues, 0);
    if (load->issued <= 0 || own <= 0) return 1;
    f64 gone = change->stalls + shorter_queues(load, change) + fmin(change->hidden, change->scope_active);
    f64 own_after = fmax(own - change->issues - gone, fmax(active, own / ESTIMATE_MOST));
    f64 rate = clamp(load->issue_rate, 1e-6, 0.995), factor = change->warps > 0 ? change->warps : 1;
    f64 warps = rate * load->total / load->issued, turn = load->not_selected / load->issued * (1 - rate) / rate;
    f64 after = active > 0 ? closed_rate(warps * factor, own_after / active, turn) : 0;
    f64 time = after > 0 ? active / load->issued * rate / after : own_after / own;
    if (change->work > 0) time *= change->work;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) time = fmax(time, busy_after(load, change, r));
    return least(fmax(time, change->stays));
}

f64 estimate_least_time(const EstimateLoad *load, const EstimateChange *change) {
    f64 active = load->issued > 0 ? clamp(1 - change->issues / load->issued, 0, 1) : 0;
    f64 time = active * load->issue_rate * (change->work > 0 ? change->work : 1);
    for (u32 r = 0; r < RESOURCE_COUNT; r++) time = fmax(time, busy_after(load, change, r));
    return least(fmin(fmax(time, change->stays), 1));
}

EstimateChange estimate_scaled(const EstimateChange *change, f64 factor) {
    EstimateChange c = *change;
    c.stalls *= factor;
    c.issues *= factor;
    c.hidden *= factor;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) c.relief[r] *= factor, c.queued[r] *= factor;
    if (c.work > 0) c.work = fmax(1 - (1 - c.work) * factor, 1 / ESTIMATE_MOST);
    if (c.warps > 0) c.warps = fmax(1 + (c.warps - 1) * factor, 1 / ESTIMATE_MOST);
    return c;
}

f64 estimate_error(const EstimateLoad *load, const EstimateChange *change, f64 samples) {
    f64 matched = change->stalls + fabs(change->issues) + fmin(change->hidden, change->scope_active);
    if (!isfinite(samples) || load->total <= 0) return 0;
    f64 part = clamp(matched / load->total, 0, 1);
    if (part <= 0) part = 0.5;  // nothing was matched by samples: a share of the whole, as badly known as can be
    f64 relative = fmin(sqrt((1 - part) / (part * fmax(samples, 1))), 0.9);
    EstimateChange more = estimate_scaled(change, 1 + relative), fewer = estimate_scaled(change, 1 - relative);
    f64 high = 1 / estimate_time(load, &more) - 1, low = 1 / estimate_time(load, &fewer) - 1;
    return high > 0 && low > 0 ? clamp(log(high / low) / 2, 0, 2) : 2;
}
