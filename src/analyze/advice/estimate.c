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
#define MOST_BUSY 0.98
#define MOST_ISSUED 0.995

static f64 least(f64 x) { return fmax(x, 1 / ESTIMATE_MOST); }

// Waits in a queue with one server and random arrivals are in proportion to this (M/M/1).
static f64 crowding_to(f64 busy, f64 most) {
    f64 at = clamp(busy, 0.001, most);
    return at / (1 - at);
}

static f64 crowding(f64 busy) { return crowding_to(busy, MOST_BUSY); }

// The same where no more than `customers` can be in the queue: who comes finds the others only, (customers - 1) of them
// (Schweitzer's approximation of mean value analysis).
static f64 crowding_of(f64 busy, f64 customers) {
    f64 others = customers > 1 ? (customers - 1) / customers : 0;
    return crowding(clamp(busy, 0, 1) * others);
}

// Requests to DRAM take 1 + DRAM_CROWDING * busy / (1 - busy) times as long as to an idle one. Measured on an H200 from
// 27 to 94 % of its peak, where that is 1.04 to 2.4 (bench/hwref/h200-micro.tsv, dram/read/1_blocks to 256_blocks:
// bytes under way over bytes per second).
#define DRAM_CROWDING 0.1

f64 estimate_warps(f64 ready, f64 rate) {
    if (ready <= 0 || ready >= 1 || rate <= ready) return 1;
    return fmax(log(1 - fmin(rate, 0.999)) / log(1 - ready), 1);
}

static bool of_all_sms(u32 r) {
    return r == RESOURCE_L2 || r == RESOURCE_DRAM || r == RESOURCE_LAUNCH || r == RESOURCE_ATOMIC;
}

// What is left for the unit to do. Units of an SM have less of it when other SMs take part; there is only one DRAM.
static f64 busy_after(const EstimateLoad *load, const EstimateChange *change, u32 r) {
    f64 left = load->busy[r] - change->relief[r];
    return change->work > 0 && !of_all_sms(r) ? left * change->work : left;
}

// Of a scheduler, on average (Little's law).
static f64 warps_of(const EstimateLoad *load) {
    return fmax(clamp(load->issue_rate, 1e-6, MOST_ISSUED) * load->total / load->issued, 1);
}

// The same for atomics on few words, over what it is now: all warps of the GPU stand in one line, and how long it is,
// as samples have it, says how near to its limit the L2 is. With less to do it is hardly ever more than one.
static f64 line_left(const EstimateLoad *load, f64 busy) {
    f64 now = load->busy[RESOURCE_ATOMIC], all = fmax(load->customers[RESOURCE_ATOMIC], 1);
    f64 line = fmax(load->queued[RESOURCE_ATOMIC] / load->total * all / now, crowding(now)), full = line / (1 + line);
    return fmin(crowding_to(busy / now * full, full) / line, 1);
}

#define LEAST_LEFT 1e-3  // of what keeps the L1 busy, of its squares

// What comes to a queue waits for the turn under way and for those before it: the more, with as much to do, the longer
// single turns are, in proportion to the mean of their squares over their mean (M/G/1, Pollaczek and Khinchine). That
// of the L1's after the change, over what it is now; 1 where no turn gets shorter.
static f64 turns_after(const EstimateLoad *load, const EstimateChange *change) {
    f64 left = busy_after(load, change, RESOURCE_LSU) / load->busy[RESOURCE_LSU];
    return left > LEAST_LEFT ? clamp((left - change->shorter) / left, LEAST_LEFT, 1) : 1;
}

// How busy a unit of memory is that has `samples` of an SM's warps in its line follows from mean value analysis: who
// comes finds the others' share of the line.
static f64 busy_by_line(const EstimateLoad *load, f64 samples) {
    f64 warps = load->customers[RESOURCE_LSU], line = samples / load->total * warps;
    return samples > 0 ? line / (1 + line * (warps - 1) / warps) : 0;
}

// Where nobody counted, the L1's queue, which samples see, says how busy the L1 is where that is more than accesses are
// known to take: what the L2 has no room for stays in the L1, say.
static f64 busy_by_queue(const EstimateLoad *load, u32 r) {
    bool seen = r == RESOURCE_LSU && load->too_high > 0 && load->customers[r] > 1;
    return seen ? fmax(load->busy[r], fmin(busy_by_line(load, load->queued[r]), MOST_BUSY)) : load->busy[r];
}

// Samples of warps' waits for a place in the unit's queue, when the kernel takes `time`. Of memories only what is
// relieved is believed: their queues are inferred, and a queue that is not theirs must not grow with them.
static f64 queue_after(const EstimateLoad *load, const EstimateChange *change, u32 r, f64 time) {
    bool memory = r == RESOURCE_LSU || r == RESOURCE_L2 || r == RESOURCE_DRAM || r == RESOURCE_ATOMIC;
    f64 left = fmax(load->queued[r] - change->queued[r], 0);
    if (left <= 0 || load->busy[r] <= 0) return left;
    f64 busy = busy_after(load, change, r) / time, warps = warps_of(load), more = change->warps > 0 ? change->warps : 1;
    if (r == RESOURCE_ATOMIC) return left * line_left(load, busy);
    if (r == RESOURCE_LSU) left *= turns_after(load, change);
    f64 now = busy_by_queue(load, r);
    if (memory) return left * fmin(crowding(busy * now / load->busy[r]) / crowding(now), 1);
    return left * crowding_of(busy, warps * more) / crowding_of(load->busy[r], warps);
}

// Samples that loads from DRAM wait longer when it has less time for as many bytes.
static f64 longer_loads(const EstimateLoad *load, const EstimateChange *change, f64 time) {
    f64 left = fmax(load->from_dram - change->from_dram, 0), before = crowding(load->busy[RESOURCE_DRAM]);
    f64 after = crowding(busy_after(load, change, RESOURCE_DRAM) / time);
    return after > before ? left * DRAM_CROWDING * (after - before) / (1 + DRAM_CROWDING * before) : 0;
}

// Samples that warps wait longer in front of units that have less time for their work. A unit serves each for as long:
// half of what it would be if that varied at random (M/D/1, Pollaczek and Khinchine).
#define STEADY 0.5

static f64 longer_queues(const EstimateLoad *load, const EstimateChange *change, f64 time) {
    f64 all = 0, more = change->warps > 0 ? change->warps : 1;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) {
        f64 customers = load->customers[r], left = busy_after(load, change, r);
        if (customers <= 0 || left <= 0 || r == RESOURCE_ATOMIC) continue;
        f64 longer = crowding_of(left / time, customers * more) - crowding_of(load->busy[r], customers);
        if (longer > 0) all += STEADY * left * longer * load->total / customers;
    }
    return all;
}

// More warps on an SM stand in the lines of the memories as well, and go no faster than these serve. Where the start of
// CTAs is what keeps warps away, latencies are those of warps that have just begun.
#define STARTS_LIMIT 0.6

static const u8 memories[] = {RESOURCE_L2, RESOURCE_DRAM};

static f64 samples_in_line(const EstimateLoad *load, const EstimateChange *change, u32 r) {
    f64 warps = load->customers[RESOURCE_LSU];
    if (change->warps <= 1 || change->work > 0 || warps <= 1 || load->busy[RESOURCE_LAUNCH] > STARTS_LIMIT) return 0;
    return fmax(load->queued[r] - change->queued[r], 0);
}

// How busy the memory is that has them in its line. What warps wait for no longer than its work can take is a line;
// what they wait longer is their own burst of accesses, or another unit.
static f64 busy_of_memory(const EstimateLoad *load, f64 samples, u32 r) {
    f64 by_line = busy_by_line(load, samples);
    return load->most[r] > 0 ? fmin(by_line, fmax(load->most[r], load->busy[r])) : by_line;
}

static f64 busy_by_lines(const EstimateLoad *load, const EstimateChange *change) {
    f64 most = 0;
    for (u32 i = 0; i < WL_COUNT(memories); i++)
        most = fmax(most, busy_of_memory(load, samples_in_line(load, change, memories[i]), memories[i]));
    return most;
}

// Samples that the more warps wait longer in these lines: 1 + line * (n - 1) / n turns of those that are there.
static f64 longer_lines(const EstimateLoad *load, const EstimateChange *change, f64 time) {
    f64 all = 0, warps = load->customers[RESOURCE_LSU];
    for (u32 i = 0; i < WL_COUNT(memories); i++) {
        f64 samples = samples_in_line(load, change, memories[i]), busy = busy_of_memory(load, samples, memories[i]);
        if (busy <= 0) continue;
        f64 before = 1 - busy * (warps - 1) / warps, more = warps * change->warps;
        f64 after = 1 - fmin(busy / time, 1) * (more - 1) / more;
        all += samples * fmax(before / after - 1, 0);
    }
    return all;
}

// Samples of waits at barriers that go with the rest: who waits there waits for warps that do the same work, so that
// waits shrink in proportion to it, which is `in_line` samples less for atomics. A change that is about waits at
// barriers, or about how many warps there are, has said itself what becomes of them.
static f64 barriers_with_rest(const EstimateLoad *load, const EstimateChange *change, f64 own, f64 in_line) {
    f64 others = own - load->barrier, gone = change->stalls + change->issues + in_line;
    bool said = change->barrier > 0 || change->hidden > 0 || change->warps > 0 || change->work > 0;
    return others > 0 && !said ? load->barrier * clamp(gone / others, 0, 1) : 0;
}

// Cycles that a ready warp waits for others to issue, which takes each of them one, when the scheduler's crowding goes
// from `before` to `after` and it waits `now`. Warps that become ready in bursts of b, as a barrier or a full queue
// lets them go, wait for half of their own burst and for those before it: (b - 1) / 2 + b / 2 * crowding (M^X/D/1),
// which tells b from the wait. Of `left` of the warps a burst has as many fewer. A wait that is shorter than that of
// single warps grows with the crowding.
static f64 waits_in_bursts(f64 now, f64 before, f64 after, f64 left) {
    if (now <= STEADY * before) return now * after / before;
    f64 burst = (now + STEADY) / (STEADY * (1 + before));
    return STEADY * (fmax(burst * fmin(left, 1), 1) * (1 + after) - 1);
}

// Cycles for which an instruction holds the dispatcher, on average.
static f64 turn_of(const EstimateLoad *load) { return load->held > 0 ? load->held / load->issued : 1; }

// ... after the change, when `active` samples of issue are left.
static f64 turn_after(const EstimateLoad *load, const EstimateChange *change, f64 active) {
    f64 turn = turn_of(load);
    return load->held > 0 && active > 0 ? fmax(turn - change->held / active, 1) : turn;
}

// The samples of the changed kernel, if it takes `time`: its warps are the customers of a closed network of queues.
// Without a change and with time = 1 they are load->total.
static f64 samples_after(const EstimateLoad *load, const EstimateChange *change, f64 time) {
    f64 own = load->total - load->not_selected, active = fmax(load->issued - change->issues, 0);
    f64 left = own - change->issues - change->stalls - fmin(change->hidden, change->scope_active);
    f64 rate = clamp(load->issue_rate * turn_of(load), 1e-6, MOST_ISSUED), work = change->work > 0 ? change->work : 1;
    f64 in_line = 0;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) {
        f64 shorter = fmax(load->queued[r] - change->queued[r], 0) - queue_after(load, change, r, time);
        left -= shorter;
        if (r == RESOURCE_ATOMIC) in_line = shorter;
    }
    left += longer_loads(load, change, time) + longer_queues(load, change, time) + longer_lines(load, change, time);
    left -= barriers_with_rest(load, change, own, in_line);
    left = fmax(left, fmax(active, own / ESTIMATE_MOST));
    if (active <= 0) return left;
    f64 turn = turn_after(load, change, active) / turn_of(load);
    f64 after = rate * turn * active / load->issued * work / time, warps = warps_of(load);
    f64 more = warps * (change->warps > 0 ? change->warps : 1);
    f64 now = load->not_selected / load->issued;
    f64 waits = waits_in_bursts(now, crowding_of(rate, warps), crowding_of(after, more), more / warps);
    return left + active * fmin(waits * turn, fmax(more - 1, now));  // for no more than there are
}

// Little's law for the warps: samples = warps * time. The fewer cycles, the more crowded the queues: the time at which
// both sides agree is the only one.
// The time that the issue slots and the units need for what is left; `sure`: the part of what is known of them that is
// certain; `all`: false without DRAM.
static f64 bound_of_units(const EstimateLoad *load, const EstimateChange *change, f64 sure, bool all) {
    f64 active = load->issued > 0 ? clamp(1 - change->issues / load->issued, 0, ESTIMATE_MOST) : 0;
    f64 with_warps = sure * (1 - load->behind);
    f64 turn = turn_after(load, change, active * load->issued) / turn_of(load);
    f64 slots = fmin(load->issue_rate * turn_of(load), 1) * active * turn;
    f64 time = with_warps * slots * (change->work > 0 ? change->work : 1);
    // Bytes of DRAM are the least that they can be; what an L2 takes for parts of sectors is not as sure.
    for (u32 r = 0; r < RESOURCE_COUNT; r++) {
        f64 part = !of_all_sms(r) ? with_warps : r == RESOURCE_L2 ? sure : 1;
        if (all || r != RESOURCE_DRAM) time = fmax(time, part * busy_after(load, change, r));
    }
    return time;
}

static f64 bound(const EstimateLoad *load, const EstimateChange *change, f64 sure) {
    f64 lines = sure * (1 - load->behind) * busy_by_lines(load, change);
    return fmax(bound_of_units(load, change, sure, true), lines);
}

// A kernel that comes near the limit of a unit does not reach it: its warps meet there now and then, and are elsewhere
// together at other times. With the power 8 it takes 9 % longer where both the warps' own time and the unit's say the
// same (chosen on the pairs of examples/advice: less rounds what memory limits, more nothing). Of loads from DRAM
// longer_loads() says it, of lines longer_lines().
#define KNEE 8.0

static f64 near_limit(const EstimateLoad *load, const EstimateChange *change, f64 time) {
    bool all = load->from_dram <= change->from_dram;
    f64 limit = bound_of_units(load, change, 1, all),
        before = fmin(bound_of_units(load, &(EstimateChange){0}, 1, all), 1);
    f64 both = pow((pow(time, KNEE) + pow(limit, KNEE)) / (1 + pow(before, KNEE)), 1 / KNEE);
    return fmax(both, fmax(bound(load, change, 1), fmin(time, 1)));
}

// Atomics without a result keep no warp: what of them is left when all have ended takes its time, `time` being that of
// the warps over what theirs is now.
static f64 with_what_is_behind(const EstimateLoad *load, const EstimateChange *change, f64 time) {
    if (load->behind <= 0) return time;
    f64 left = fmax(busy_after(load, change, RESOURCE_ATOMIC) / load->busy[RESOURCE_ATOMIC], 0);
    return (1 - load->behind) * time + load->behind * left;
}

f64 estimate_time(const EstimateLoad *load, const EstimateChange *change) {
    if (load->issued <= 0 || load->total <= load->not_selected) return 1;
    f64 per_sample = (change->work > 0 ? change->work : 1) / (change->warps > 0 ? change->warps : 1) / load->total;
    f64 low = 0, high = ESTIMATE_MOST;
    for (u32 i = 0; i < 60; i++) {
        f64 time = (low + high) / 2;
        if (samples_after(load, change, time) * per_sample > time)
            low = time;
        else
            high = time;
    }
    return least(fmax(near_limit(load, change, with_what_is_behind(load, change, high)), change->stays));
}

f64 estimate_least_time(const EstimateLoad *load, const EstimateChange *change) {
    f64 sure = load->too_high > 1 ? 1 / load->too_high : 1;
    return least(fmin(fmax(bound(load, change, sure), change->stays), 1));
}

// What more warps or CTAs cost follows from how many there are, not from samples that match.
static f64 scaled(f64 x, f64 factor, bool counted) { return x < 0 && counted ? x : x * factor; }

EstimateChange estimate_scaled(const EstimateChange *change, f64 factor) {
    EstimateChange c = *change;
    bool counted = c.work > 0 || c.warps > 0;
    c.stalls *= factor;
    c.issues = scaled(c.issues, factor, counted);
    c.held = scaled(c.held, factor, counted);
    c.hidden *= factor;
    c.from_dram *= factor;
    c.shorter *= factor;
    c.barrier *= factor;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) {
        c.relief[r] = scaled(c.relief[r], factor, counted);
        c.queued[r] *= factor;
    }
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
