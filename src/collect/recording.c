// SPDX-License-Identifier: Apache-2.0
// Which launches are recorded. Recording one costs nothing that could be measured as long as the GPU has pauses; where
// kernels follow each other without any, CUPTI's time stamps keep the end of one and the beginning of the next apart,
// up to 4.6 us a launch (an H200, CUDA 13.0). So a full GPU has a budget of launches: some at once, and some each
// second. When it is spent, launches are recorded for moments only, as far apart as the budget wants, and what is
// recorded in a moment stands for all that was launched since the moment before (RecordLaunchPart).
#include "collect/collect_inside.h"

// At 4.6 us each: 46 ms, and half a percent of the run time.
enum { BUDGET_LAUNCHES = 10000, BUDGET_A_SECOND = 1100 };
// Records arrive when CUPTI hands them out, at the latest every 0.4 s: within a window or a gap all have.
enum { WINDOW_NS = 500000000, GAP_NS = 500000000, MOMENT_NS = 50000000 };
#define MOST_GAP_NS 2000000000u  // a program's phases are not to be missed
// Part of the time that kernels must take for the GPU to be full; on several streams their times add up.
#define FULL 0.85

Recording recording_begin(u64 now_ns) {
    return (Recording){.on = true, .begin_ns = now_ns, .gap_ns = now_ns, .moment_ns = now_ns, .window_ns = now_ns};
}

void recording_count(Recording *r, u64 ns) {
    r->launches++;
    r->window_launches++;
    r->busy_ns += ns;
}

static bool is_full(const Recording *r, u64 ns) { return (f64)r->busy_ns > FULL * (f64)ns; }

static void begin_window(Recording *r, u64 now_ns) {
    r->window_ns = now_ns;
    r->busy_ns = r->window_launches = 0;
}

// Launches that may be recorded until now.
static f64 budget(const Recording *r, u64 now_ns) {
    return BUDGET_LAUNCHES + BUDGET_A_SECOND * 1e-9 * (f64)(now_ns - r->begin_ns) - (f64)r->launches;
}

// What was spent before it was known that the GPU is full is forgiven.
static bool turn_off(Recording *r, u64 now_ns) {
    f64 left = budget(r, now_ns);
    if (left < 0) r->launches -= (u64)-left;
    r->on = r->full = false;
    r->off_ns = now_ns;
    return true;
}

f64 recording_weight(const Recording *r, u64 until_ns) {
    u64 recorded = (r->on ? until_ns : r->off_ns) - r->moment_ns;
    f64 weight = recorded ? (f64)(until_ns - r->gap_ns) / (f64)recorded : 1;
    return weight > 1 ? weight : 1;
}

f64 recording_more(const Recording *r, u64 until_ns) {
    return r->before_ns ? (f64)(until_ns - r->gap_ns) / (f64)r->before_ns : 0;
}

static bool turn_on(Recording *r, u64 now_ns, bool for_a_moment) {
    r->weight = recording_weight(r, r->off_ns);
    r->before_ns = r->off_ns - r->moment_ns;
    r->on = true;
    r->moments = for_a_moment;
    r->gap_ns = r->off_ns;
    r->moment_ns = now_ns;
    begin_window(r, now_ns);
    return true;
}

bool recording_turns(Recording *r, u64 now_ns) {
    if (r->on && r->moments) return now_ns - r->moment_ns >= MOMENT_NS && turn_off(r, now_ns);
    if (r->on) {
        u64 ns = now_ns - r->window_ns;
        if (ns >= WINDOW_NS) {
            r->full = is_full(r, ns);
            r->a_moment = r->window_launches * MOMENT_NS / ns;
            begin_window(r, now_ns);
        }
        return r->full && budget(r, now_ns) < 0 && turn_off(r, now_ns);
    }
    u64 gap_ns = now_ns - r->off_ns;
    if (gap_ns < GAP_NS) return false;
    if (r->moments && !is_full(r, r->off_ns - r->moment_ns)) return turn_on(r, now_ns, false);
    if (r->moments) r->a_moment = r->window_launches;
    return (budget(r, now_ns) >= (f64)r->a_moment || gap_ns >= MOST_GAP_NS) && turn_on(r, now_ns, true);
}
