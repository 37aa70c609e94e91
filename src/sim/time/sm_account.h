// SPDX-License-Identifier: Apache-2.0
// Inside of an SM, for sm.c (issue), sm_cta.c (CTAs and life) and sm_account.c: accounts, and when a warp can issue. A
// warp's time is accounted for when its state changes, not cycle by cycle: every cycle of every warp and of every
// scheduler gets exactly one reason. What every instruction needs of that is inline here.
#ifndef WL_SIM_SM_ACCOUNT_H
#define WL_SIM_SM_ACCOUNT_H

#include "sim/time/machine.h"

// 0: nothing is accounted for, so that bench/cost.sh can tell what that costs.
#ifndef SM_ACCOUNTS
#define SM_ACCOUNTS 1
#endif

static inline const TimeCode *code_of(const TimeWarp *w) { return w->code; }
static inline Tally *tally_of(const Sm *sm, const TimeWarp *w) { return (Tally *)((u8 *)w->tallies + sm->tally_at); }
static inline Scheduler *scheduler_of(Sm *sm, const TimeWarp *w) { return &sm->schedulers[w->sched]; }

// The samples in [from, to) of a warp, at `pc` for `reason`, when there are any (sample_any).
void account_samples(const Sm *sm, const TimeWarp *w, u32 pc, u32 reason, u64 from, u64 to);
// What cycles before `cycle` and from it on have samples: Sm.sampled, Sm.sample_next.
void account_sample_cycles(Sm *sm, u64 cycle);
// ... of one that could issue from `could` on, and of its reason before.
void account_turn_samples(const Sm *sm, const TimeWarp *w, u32 pc, u64 since, u64 could, u64 cycle);
// ... of the scheduler and the warp that it issues in sample cycle `cycle`.
void account_issue_sample(const Sm *sm, Scheduler *s, const TimeWarp *w, u32 pc, u64 cycle);
// A stall of a warp at `pc` that ends at `to` is the one that is remembered (note_delay); all that ends with one of
// [since, could) for its reason and [could, cycle), not selected, has its turn.
void account_delay(TimeWarp *w, u32 reason, u32 pc, u32 cause, u64 to);
void account_turn_delays(u64 since, u64 could, TimeWarp *w, u32 pc, u64 cycle);
// The warp's cycles since `since` for the reason that it had; `cycle` is later.
void account_stall(Sm *sm, TimeWarp *w, u64 cycle);
// Counters of residents up to `cycle`.
void account_residents(Sm *sm, u64 cycle);

// Of a warp's stalls since its last barrier, one is remembered, each as likely as the time from the end of the one
// before it to its own is long. What it takes to get on after the barrier itself makes nobody late.
static inline void note_delay(TimeWarp *w, u32 reason, u32 pc, u32 cause, u64 to) {
    if (SM_ACCOUNTS && WL_UNLIKELY(to > w->delay_next)) account_delay(w, reason, pc, cause, to);
}

// What the scheduler issued since the warp's accounts were looked at last, as far as `cycles` have room for it.
static inline u64 take_issued(const Scheduler *s, TimeWarp *w, u64 cycles) {
    u64 issued = s->issued - w->issued_before;
    if (issued > cycles) issued = cycles;
    w->issued_before += issued;
    return issued;
}

// Where a stall of a warp whose next instruction is `pc` counts: waiting for a barrier at that.
static inline u32 stall_pc(const TimeWarp *w, u32 pc) { return w->reason == STALL_BARRIER ? w->barrier_pc : pc; }

// `cycles` of a warp for the reason that it has; `issued`: in so many of them its scheduler issued. Inline always, as
// all of these: a call of it takes half as long again.
static inline __attribute__((always_inline)) void charge_reason(Sm *sm, const TimeWarp *w, Tally *tally, u32 pc,
                                                                u64 cycles, u64 issued) {
    u32 reason = w->reason;
    sm->stalls[reason] += cycles;
    tally_charge(tally, tally_row(tally, stall_pc(w, pc)), reason, w->cause, cycles, issued);
}

// Whether the begin of a stall since `since` has reasons of its own (TimeWarp.until).
static inline bool has_parts(const TimeWarp *w, u64 since) { return w->until[PART_FETCH] > since; }

// The warp stalls for another reason from `cycle` on.
static inline void stall(Sm *sm, TimeWarp *w, u64 cycle, StallReason reason, u32 cause) {
    if (SM_ACCOUNTS && cycle > w->since) account_stall(sm, w, cycle);
    w->reason = (u8)reason;
    w->cause = cause;
}

// A warp that waited for its reason until it could issue, and since then for its turn, until `cycle`, from which on the
// caller lets it wait: it could not have issued, as its unit is taken, or will go on waiting for it.
void charge_in_vain(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 cycle);
// The same of one that issues, which most often does so as soon as it can.
void charge_late_turn(Sm *sm, const Scheduler *s, TimeWarp *w, u32 pc, u64 cycle);
static inline __attribute__((always_inline)) void charge_issue(Sm *sm, const Scheduler *s, TimeWarp *w, Tally *tally,
                                                               u32 pc, u64 cycle) {
    u64 since = w->since;
    if (!SM_ACCOUNTS || cycle <= since) return;
    bool late = s->at[w->slot] != cycle || has_parts(w, since);
    if (late || WL_UNLIKELY(since < sm->sampled)) return charge_late_turn(sm, s, w, pc, cycle);
    u64 issued = s->issued - w->issued_before;
    w->issued_before = s->issued;
    charge_reason(sm, w, tally, pc, cycle - since, issued);
    if (WL_UNLIKELY(cycle > w->delay_next)) account_delay(w, w->reason, pc, w->cause, cycle);
}

// Cycles of a scheduler before `cycle` that did not issue; NULL: it had no warp.
static inline void account_slots(Sm *sm, Scheduler *s, u64 cycle, const TimeWarp *w) {
    if (!SM_ACCOUNTS || cycle <= s->accounted) return;
    u64 cycles = cycle - s->accounted;
    s->accounted = cycle;
    if (!w) return (void)(sm->counters[SMC_SLOTS_EMPTY] += cycles);
    sm->slot_stalls[w->reason] += cycles;
    tally_of(sm, w)->slot_stalls[w->reason] += cycles;
}

static inline void set_slot(Scheduler *s, u32 slot, u64 at) {
    u64 bit = 1ull << slot;
    s->at[slot] = at;
    s->ready &= ~bit;
    s->waiting = at == NEVER ? s->waiting & ~bit : s->waiting | bit;
}

static inline void set_at(Sm *sm, TimeWarp *w, WarpState state, u64 at) {
    Scheduler *s = scheduler_of(sm, w);
    u64 bit = 1ull << w->slot;
    s->tracing = state == TW_TRACE ? s->tracing | bit : s->tracing & ~bit;
    w->state = (u8)state;
    set_slot(s, w->slot, at);
    if (at < s->next) s->next = at;
}

#endif
