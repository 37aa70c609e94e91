// SPDX-License-Identifier: Apache-2.0
// What of an SM's accounts is not needed for every instruction: samples, stalls that end, bringing all up to date.
#include "sim/time/sm_account.h"

#include <assert.h>

#include "sim/time/sm_unit.h"

void account_residents(Sm *sm, u64 cycle) {
    if (cycle <= sm->integrated) return;
    u64 cycles = cycle - sm->integrated;
    sm->counters[SMC_WARP_CYCLES] += cycles * sm->resident_warps;
    sm->counters[SMC_CTA_CYCLES] += cycles * sm->resident_ctas;
    if (sm->resident_warps) sm->counters[SMC_ACTIVE_CYCLES] += cycles;
    sm->counters[SMC_L1_MSHR_CYCLES] += cycles * sm->sectors_under_way;
    sm->integrated = cycle;
}

// That one is still remembered after `total` cycles has to be as likely as the share of them up to its end, delay /
// total. So the total up to which it is remembered is delay / u, u evenly in (0, 1]: one die for each that is
// remembered, not one for each stall. The same in every run, another for each warp and time: SMs that do the same at
// the same time would else count as one.
static inline void remember_delay(TimeWarp *w, u32 reason, u32 pc, u32 cause, u64 to) {
    if (reason == STALL_BARRIER) return;
    u64 delay = to - w->delay_from;
    w->delay_pc = cause != WL_NONE ? cause : pc;
    u64 dice = (to + w->salt) * 0x9e3779b97f4a7c15;
    dice = (dice ^ dice >> 29) * 0xbf58476d1ce4e5b9 >> 32;  // CTAs begin in equal steps: no pattern may be left of them
    w->delay_next = delay < UINT32_MAX ? w->delay_from + (delay << 32) / (dice + 1) : NEVER;
}

void account_delay(TimeWarp *w, u32 reason, u32 pc, u32 cause, u64 to) { remember_delay(w, reason, pc, cause, to); }

// One place after the other is looked at.
void account_samples(const Sm *sm, const TimeWarp *w, u32 pc, u32 reason, u64 from, u64 to) {
    const SamplePlan *plan = machine_samples(sm->machine);
    const Scheduler *s = &sm->schedulers[w->sched];
    Tally *tally = tally_of(sm, w);
    for (u32 set = 0; set < plan->count; set++) {
        u64 first = sample_number(plan, set, from), last = sample_number(plan, set, to);
        if (first == last) return;  // so do the sets of longer periods
        const SampledSlots *slots = &s->sampled[set];
        for (u64 k = first; k < last; k++) {
            if (k % s->slots != w->slot) continue;
            u32 *count = tally_sample(tally, set, pc, reason);
            bool issued = k <= slots->head && slots->head - k < 64 && slots->issued >> (k & 63) & 1;
            count[0]++;
            count[1] += !issued;
        }
    }
}

void account_sample_cycles(Sm *sm, u64 cycle) {
    const SamplePlan *plan = machine_samples(sm->machine);
    u64 number = sample_number(plan, 0, cycle);  // of the next one
    unit_settle(sm, cycle);
    sm->sample_next = (number << plan->shift[0]) - plan->offset;
    u64 last = ((number - 1) << plan->shift[0]);
    sm->sampled = number && last >= plan->offset ? last - plan->offset + 1 : 0;
}

// The scheduler issues at `cycle`.
static void note_samples(const Sm *sm, Scheduler *s, u64 cycle) {
    const SamplePlan *plan = machine_samples(sm->machine);
    for (u32 set = 0; set < plan->count; set++) {
        u64 at = cycle + plan->offset, k = at >> plan->shift[set];
        if (k << plan->shift[set] != at) return;  // nor is it one of a longer period
        SampledSlots *slots = &s->sampled[set];
        if (k - slots->head >= 64) slots->issued = 0;
        for (u64 i = slots->head + 1; i <= k && i > slots->head && k - i < 64; i++)
            slots->issued &= ~(1ull << (i & 63));
        slots->issued |= 1ull << (k & 63);
        slots->head = k;
    }
}

void account_issue_sample(const Sm *sm, Scheduler *s, const TimeWarp *w, u32 pc, u64 cycle) {
    note_samples(sm, s, cycle);
    account_samples(sm, w, pc, STALL_SELECTED, cycle, cycle + 1);
}

static const u8 part_reasons[WAIT_PARTS] = {[PART_WAIT] = STALL_WAIT,
                                            [PART_TARGET] = STALL_NO_INSTRUCTIONS,
                                            [PART_BRANCH] = STALL_BRANCH_RESOLVING,
                                            [PART_FETCH] = STALL_NO_INSTRUCTIONS};

// The end of the k-th part of [from, to); `from`: there is none.
static u64 part_end(const TimeWarp *w, u32 k, u64 from, u64 to) {
    u64 end = w->until[k] < to ? w->until[k] : to;
    return end > from ? end : from;
}

// [from, to) of a warp that waits for w->reason.
static void account_wait_samples(const Sm *sm, const TimeWarp *w, u32 pc, u64 from, u64 to) {
    for (u32 k = 0; k < WAIT_PARTS; k++) {
        u64 end = part_end(w, k, from, to);
        if (from < end) account_samples(sm, w, pc, part_reasons[k], from, end);
        from = end;
    }
    if (from < to) account_samples(sm, w, stall_pc(w, pc), w->reason, from, to);
}

void account_turn_samples(const Sm *sm, const TimeWarp *w, u32 pc, u64 since, u64 could, u64 cycle) {
    if (could < cycle) account_samples(sm, w, pc, STALL_NOT_SELECTED, could, cycle);
    account_wait_samples(sm, w, pc, since, could);
}

// [since, end) for a reason of its own, if that is not empty; returns its end, or `since`.
static inline u64 charge_part(Sm *sm, const Scheduler *s, TimeWarp *w, Tally *tally, u32 pc, StallReason reason,
                              u32 cause, u64 since, u64 end) {
    if (end <= since) return since;
    sm->stalls[reason] += end - since;
    tally_charge(tally, tally_row(tally, pc), reason, cause, end - since, take_issued(s, w, end - since));
    return end;
}

// The begin of [since, to) that has reasons of its own; returns its end.
static u64 charge_parts(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 since, u64 to) {
    Tally *t = tally_of(sm, w);
    const u64 *until = w->until;
    u64 counted = until[PART_WAIT] < to ? until[PART_WAIT] : to, end = until[PART_FETCH] < to ? until[PART_FETCH] : to;
    since = charge_part(sm, s, w, t, pc, STALL_WAIT, w->counted_for, since, counted);
    if (since >= end) return since;
    u64 target = until[PART_TARGET] < to ? until[PART_TARGET] : to;
    u64 resolved = until[PART_BRANCH] < to ? until[PART_BRANCH] : to;
    since = charge_part(sm, s, w, t, pc, STALL_NO_INSTRUCTIONS, WL_NONE, since, target);
    since = charge_part(sm, s, w, t, pc, STALL_BRANCH_RESOLVING, w->held_by, since, resolved);
    return charge_part(sm, s, w, t, pc, STALL_NO_INSTRUCTIONS, WL_NONE, since, end);
}

// Whether the stall count is all that the warp waits for before its reason.
static inline bool is_counted_only(const TimeWarp *w) { return w->until[PART_FETCH] == w->until[PART_WAIT]; }

// Of account_turn_delays(), a part for `reason`.
static inline u64 part_delay(TimeWarp *w, u32 reason, u32 pc, u32 cause, u64 since, u64 until, u64 to) {
    u64 end = until < to ? until : to;
    if (since >= end) return since;
    if (end > w->delay_next) remember_delay(w, reason, pc, cause, end);
    return end;
}

// ... what comes behind the parts.
static inline void whole_delays(u64 since, u64 could, TimeWarp *w, u32 pc, u64 cycle) {
    if (since < could && could > w->delay_next) remember_delay(w, w->reason, pc, w->cause, could);
    if (could < cycle && cycle > w->delay_next) remember_delay(w, STALL_NOT_SELECTED, pc, WL_NONE, cycle);
}

static __attribute__((noinline)) void counted_delays(u64 since, u64 could, TimeWarp *w, u32 pc, u64 cycle) {
    since = part_delay(w, STALL_WAIT, pc, w->counted_for, since, w->until[PART_WAIT], could);
    whole_delays(since, could, w, pc, cycle);
}

static __attribute__((noinline)) void any_delays(u64 since, u64 could, TimeWarp *w, u32 pc, u64 cycle) {
    const u64 *until = w->until;
    since = part_delay(w, STALL_WAIT, pc, w->counted_for, since, until[PART_WAIT], could);
    since = part_delay(w, STALL_NO_INSTRUCTIONS, pc, WL_NONE, since, until[PART_TARGET], could);
    since = part_delay(w, STALL_BRANCH_RESOLVING, pc, w->held_by, since, until[PART_BRANCH], could);
    since = part_delay(w, STALL_NO_INSTRUCTIONS, pc, WL_NONE, since, until[PART_FETCH], could);
    whole_delays(since, could, w, pc, cycle);
}

static __attribute__((noinline)) void plain_delays(u64 since, u64 could, TimeWarp *w, u32 pc, u64 cycle) {
    whole_delays(since, could, w, pc, cycle);
}

void account_turn_delays(u64 since, u64 could, TimeWarp *w, u32 pc, u64 cycle) {
    if (has_parts(w, since)) return any_delays(since, could, w, pc, cycle);
    plain_delays(since, could, w, pc, cycle);
}

// --- turns and stalls ----------------------------------------------------------------------------------------------
// Most are plain: no samples lie in them, and each cause is the one that was there last. To know that first takes less:
// there is nothing to be kept for a call.

static inline __attribute__((always_inline)) void charge_not_selected(Sm *sm, TallyCell *row, u64 cycles, u64 issued) {
    sm->stalls[STALL_NOT_SELECTED] += cycles;
    tally_not_selected(row, cycles, issued);
}

// What a stall has before its reason.
typedef enum Parts { PARTS_NONE, PARTS_COUNTED, PARTS_ALL } Parts;

static inline __attribute__((always_inline)) bool parts_are_plain(const TimeWarp *w, const TallyCell *row,
                                                                  Parts parts) {
    if (parts == PARTS_NONE) return true;
    if (row[STALL_WAIT].cause != w->counted_for) return false;
    if (parts == PARTS_COUNTED) return true;
    return row[STALL_NO_INSTRUCTIONS].cause == WL_NONE && row[STALL_BRANCH_RESOLVING].cause == w->held_by;
}

// Where the reason of a plain stall adds up; NULL: it is not plain. `row`: of its pc.
static inline __attribute__((always_inline)) TallyCell *plain_cell(const TimeWarp *w, const Tally *tally,
                                                                   TallyCell *row, Parts parts, bool sampled) {
    TallyCell *cell = row + w->reason;
    if (sampled || !parts_are_plain(w, row, parts)) return NULL;
    if (WL_UNLIKELY(w->reason == STALL_BARRIER)) cell = tally_row(tally, w->barrier_pc) + STALL_BARRIER;
    return cell->cause == w->cause ? cell : NULL;
}

// The part of a plain stall from `since` up to `until`, or `to`; returns its end, or `since`. *issued are what is left
// of cycles in which others issued.
static inline __attribute__((always_inline)) u64 charge_plain_part(Sm *sm, TallyCell *row, StallReason reason,
                                                                   u64 since, u64 until, u64 to, u64 *issued) {
    u64 end = until < to ? until : to;
    if (since >= end) return since;
    u64 wait = end - since, others = *issued < wait ? *issued : wait;
    sm->stalls[reason] += wait;
    tally_add(row + reason, wait, others);
    *issued -= others;
    return end;
}

// What charge_turn() does with a plain turn, but for what comes late. Not selected since `could`.
static inline __attribute__((always_inline)) void charge_plain(Sm *sm, const Scheduler *s, TimeWarp *w, TallyCell *row,
                                                               TallyCell *cell, Parts parts, u64 could, u64 cycle) {
    u64 since = w->since, all = s->issued, issued = all - w->issued_before;
    const u64 *until = w->until;
    if (could < cycle) {
        u64 turn = cycle - could, others = issued < turn ? issued : turn;
        charge_not_selected(sm, row, turn, others);
        issued -= others;
    }
    if (parts) since = charge_plain_part(sm, row, STALL_WAIT, since, until[PART_WAIT], could, &issued);
    if (parts == PARTS_ALL) {
        since = charge_plain_part(sm, row, STALL_NO_INSTRUCTIONS, since, until[PART_TARGET], could, &issued);
        since = charge_plain_part(sm, row, STALL_BRANCH_RESOLVING, since, until[PART_BRANCH], could, &issued);
        since = charge_plain_part(sm, row, STALL_NO_INSTRUCTIONS, since, until[PART_FETCH], could, &issued);
    }
    if (since < could) {
        sm->stalls[w->reason] += could - since;
        tally_add(cell, could - since, issued);
        issued = 0;
    }
    w->issued_before = all - issued;
}

// Any turn (charge_in_vain). While the warp was not selected its scheduler issued others, so those cycles are the first
// to be looked for there; the rest of what it issued, even a cycle that comes later (an issue may take several), is in
// what it waited for. Returns for how long it could have issued.
static u64 charge_turn(Sm *sm, const Scheduler *s, TimeWarp *w, Tally *tally, u32 pc, u64 cycle) {
    u64 at = s->at[w->slot], since = w->since, could = at > since ? at : since, begin = since, turn = cycle - could;
    if (turn) charge_not_selected(sm, tally_row(tally, pc), turn, take_issued(s, w, turn));
    if (has_parts(w, since)) begin = charge_parts(sm, s, w, pc, since, could);
    if (begin < could) {
        u64 issued = s->issued - w->issued_before;
        w->issued_before = s->issued;
        charge_reason(sm, w, tally, pc, could - begin, issued);
    }
    if (WL_UNLIKELY(cycle > w->delay_next)) account_turn_delays(since, could, w, pc, cycle);
    if (WL_UNLIKELY(since < sm->sampled)) account_turn_samples(sm, w, pc, since, could, cycle);
    return turn;
}

static __attribute__((noinline)) void charge_any_turn(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 cycle,
                                                      bool vain) {
    u64 turn = charge_turn(sm, s, w, tally_of(sm, w), pc, cycle);
    if (vain) sm->not_eligible += turn;
}

static inline __attribute__((always_inline)) void delays_of(u64 since, u64 could, TimeWarp *w, u32 pc, u64 cycle,
                                                            Parts parts) {
    if (parts == PARTS_NONE) return plain_delays(since, could, w, pc, cycle);
    if (parts == PARTS_COUNTED) return counted_delays(since, could, w, pc, cycle);
    any_delays(since, could, w, pc, cycle);
}

// A turn that may be plain; `vain`: it was in vain.
static inline __attribute__((always_inline)) void charge_some_turn(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc,
                                                                   u64 cycle, Parts parts, bool vain) {
    const Tally *tally = tally_of(sm, w);
    u64 at = s->at[w->slot], since = w->since, could = at > since ? at : since;
    TallyCell *row = tally_row(tally, pc), *cell = plain_cell(w, tally, row, parts, since < sm->sampled);
    if (!cell) return charge_any_turn(sm, s, w, pc, cycle, vain);
    charge_plain(sm, s, w, row, cell, parts, could, cycle);
    if (vain) sm->not_eligible += cycle - could;
    if (cycle > w->delay_next) delays_of(since, could, w, pc, cycle, parts);
}

static __attribute__((noinline)) void charge_counted_turn(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 cycle) {
    charge_some_turn(sm, s, w, pc, cycle, PARTS_COUNTED, false);
}

static __attribute__((noinline)) void charge_parted_turn(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 cycle) {
    charge_some_turn(sm, s, w, pc, cycle, PARTS_ALL, false);
}

void charge_in_vain(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 cycle) {
    if (!SM_ACCOUNTS) return;
    if (has_parts(w, w->since)) return charge_any_turn(sm, s, w, pc, cycle, true);
    charge_some_turn(sm, s, w, pc, cycle, PARTS_NONE, true);
}

void charge_late_turn(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 cycle) {
    if (!has_parts(w, w->since)) return charge_some_turn(sm, s, w, pc, cycle, PARTS_NONE, false);
    if (is_counted_only(w)) return charge_counted_turn(sm, s, w, pc, cycle);
    charge_parted_turn(sm, s, w, pc, cycle);
}

static __attribute__((noinline)) void account_any_stall(Sm *sm, TimeWarp *w, u32 pc, u64 cycle) {
    const Scheduler *s = scheduler_of(sm, w);
    Tally *tally = tally_of(sm, w);
    u64 since = w->since, begin = has_parts(w, since) ? charge_parts(sm, s, w, pc, since, cycle) : since;
    if (begin < cycle) {
        u64 issued = s->issued - w->issued_before;
        w->issued_before = s->issued;
        charge_reason(sm, w, tally, pc, cycle - begin, issued);
    }
    if (WL_UNLIKELY(cycle > w->delay_next)) account_turn_delays(since, cycle, w, pc, cycle);
    if (WL_UNLIKELY(sample_any(machine_samples(sm->machine), since, cycle)))
        account_wait_samples(sm, w, pc, since, cycle);
    w->since = cycle;
}

static inline __attribute__((always_inline)) void account_some_stall(Sm *sm, TimeWarp *w, u32 pc, u64 cycle,
                                                                     Parts parts) {
    const Tally *tally = tally_of(sm, w);
    u64 since = w->since;
    bool sampled = sample_any(machine_samples(sm->machine), since, cycle);
    TallyCell *row = tally_row(tally, pc), *cell = plain_cell(w, tally, row, parts, sampled);
    if (!cell) return account_any_stall(sm, w, pc, cycle);
    charge_plain(sm, scheduler_of(sm, w), w, row, cell, parts, cycle, cycle);
    w->since = cycle;
    if (cycle > w->delay_next) delays_of(since, cycle, w, pc, cycle, parts);
}

static __attribute__((noinline)) void account_counted_stall(Sm *sm, TimeWarp *w, u32 pc, u64 cycle) {
    account_some_stall(sm, w, pc, cycle, PARTS_COUNTED);
}

void account_stall(Sm *sm, TimeWarp *w, u64 cycle) {
    u32 pc = w->op < w->op_end ? code_of(w)->ops[w->op].pc : w->from;
    if (!has_parts(w, w->since)) return account_some_stall(sm, w, pc, cycle, PARTS_NONE);
    if (is_counted_only(w)) return account_counted_stall(sm, w, pc, cycle);
    account_any_stall(sm, w, pc, cycle);
}

static const TimeWarp *first_with_held(const Scheduler *s) {
    const TimeWarp *best = NULL;
    u64 at = NEVER;
    for (u32 i = 0, left = s->resident; left; i++) {
        if (!s->warps[i]) continue;
        left--;
        u64 can = is_held(s, s->warps[i]) ? unit_at(s, s->warps[i]) : s->at[i];
        if (!best || can < at) best = s->warps[i], at = can;
    }
    return best;
}

// The resident warp that will issue first, as far as is known; of several the one in the lowest slot.
static const TimeWarp *first_warp(const Scheduler *s) {
    if (s->held) return first_with_held(s);
    u64 at = NEVER;
    u32 best = 0;
    for (u64 left = s->ready | s->waiting; left; left &= left - 1) {
        u32 i = (u32)__builtin_ctzll(left);
        if (s->at[i] < at) best = i, at = s->at[i];
    }
    while (!s->warps[best]) best++;
    return s->warps[best];
}

// Every instruction has its number of lanes, every cycle of a scheduler without issue its reason; a warp could issue
// when it did and while it was not selected, unless it would have found its unit taken.
void sm_sum_up_values(u64 *values, u64 not_eligible, u64 issue_interval) {
    u64 *stalls = values + SM_STALLS, *slot_stalls = values + SM_SLOT_STALLS, issued = 0, stalled = 0;
    for (u32 i = SMC_LANES_1_4; i <= SMC_LANES_29_32; i++) issued += values[i];
    for (u32 r = 0; r < STALL_COUNT; r++) stalled += slot_stalls[r];
    values[SMC_ISSUED] = stalls[STALL_SELECTED] = issued;
    values[SMC_SLOTS_ISSUED] = issued * issue_interval;
    values[SMC_SLOTS_STALLED] = stalled;
    values[SMC_ELIGIBLE_CYCLES] = issued + stalls[STALL_NOT_SELECTED] - not_eligible;
}

void sm_sum_up(Sm *sm) { sm_sum_up_values(sm->values, sm->not_eligible, sm->gpu->issue_interval); }

#ifndef NDEBUG
// Every cycle of every scheduler has been issued, stalled or empty, once.
static bool slots_add_up(Sm *sm) {
    u64 accounted = 0;
    sm_sum_up(sm);
    for (u32 i = 0; i < sm->scheduler_count; i++) accounted += sm->schedulers[i].accounted;
    const u64 *c = sm->counters;
    return c[SMC_SLOTS_ISSUED] + c[SMC_SLOTS_STALLED] + c[SMC_SLOTS_EMPTY] == accounted;
}
#endif

// Without warps: most SMs of a small launch.
static void settle_idle(Sm *sm, u64 cycle) {
    u64 empty = 0;
    for (u32 i = 0; i < sm->scheduler_count; i++) {
        Scheduler *s = &sm->schedulers[i];
        if (cycle <= s->accounted) continue;
        empty += cycle - s->accounted;
        s->accounted = cycle;
    }
    sm->counters[SMC_SLOTS_EMPTY] += empty;
}

void sm_settle(Sm *sm, u64 cycle) {
    if (!sm->furnished) {
        if (cycle <= sm->integrated) return;
        sm->counters[SMC_SLOTS_EMPTY] += sm->scheduler_count * (cycle - sm->integrated);
        return (void)(sm->integrated = cycle);
    }
    account_residents(sm, cycle);
    assert(slots_add_up(sm));
    if (!sm->resident_warps) return settle_idle(sm, cycle);
    unit_settle(sm, cycle);
    for (u32 i = 0; i < sm->scheduler_count; i++) {
        Scheduler *s = &sm->schedulers[i];
        if (cycle > s->accounted) account_slots(sm, s, cycle, s->resident ? first_warp(s) : NULL);
        for (u32 k = 0; k < s->resident; k++) {
            TimeWarp *w = s->warps[s->by_age[k]];
            if (w->since >= cycle) continue;
            if (w->state == TW_WAIT && w->wait == WAIT_BARRIER) w->untold += cycle - w->since;
            if (w->state == TW_READY && s->at[w->slot] < cycle)
                charge_in_vain(sm, s, w, code_of(w)->ops[w->op].pc, cycle), w->since = cycle;
            else
                stall(sm, w, cycle, w->reason, w->cause);
        }
    }
}
