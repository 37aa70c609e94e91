// SPDX-License-Identifier: Apache-2.0
#include "sim/time/sm_unit.h"

static const TimeOp *op_of(const TimeWarp *w) { return &code_of(w)->ops[w->op]; }
static u64 later(u64 a, u64 b) { return a > b ? a : b; }
static u64 earlier(u64 a, u64 b) { return a < b ? a : b; }

// A count of the cycles before `cycle`, which is behind the last issue, in which the unit was taken.
static u64 taken_before(const Scheduler *s, u32 unit, u64 cycle) {
    u64 free = s->unit_free[unit];
    return s->units[unit].taken - (free > cycle ? free - cycle : 0);
}

void unit_note(Scheduler *s, const TimeOp *op, u64 cycle, u64 start) {
    HeldUnit *u = &s->units[op->unit];
    if (!u->held) return;
    u->from = cycle + 1;
    u->taken += s->unit_free[op->unit] - later(u->from, start);
}

// So many warps get their turns before it is worth while that they are held.
static bool are_many(u64 slots) {
    enum { FEW = 4 };
    for (u32 i = 0; i < FEW; i++) slots &= slots - 1;
    return slots;
}

bool unit_hold(Sm *sm, Scheduler *s, TimeWarp *w, const TimeOp *op, u64 cycle) {
    u64 bit = 1ull << w->slot, could = s->at[w->slot];
    if (!are_many(s->ready | s->held)) return false;
    if (w->since < sm->sampled) charge_in_vain(sm, s, w, op->pc, cycle), w->since = cycle;
    w->held_taken = taken_before(s, op->unit, cycle) - (could > w->since ? could - w->since : 0);
    s->ready &= ~bit;
    s->held |= bit;
    s->units[op->unit].held |= bit;
    s->held_units |= 1u << op->unit;
    s->next = earlier(s->next, s->unit_free[op->unit]);
    return true;
}

// Samples of a held warp. Nothing was issued after their cycles: those before were settled when the SM passed them
// (account_sample_cycles).
static void sample_held(const Sm *sm, const Scheduler *s, const TimeWarp *w, u64 to) {
    const TimeOp *op = op_of(w);
    u64 from = earlier(later(s->units[op->unit].from, w->since), to);
    u64 free = earlier(later(s->unit_free[op->unit], from), to);
    if (w->since < from) account_samples(sm, w, op->pc, STALL_NOT_SELECTED, w->since, from);
    if (from < free) account_samples(sm, w, op->pc, w->reason, from, free);
    if (free < to) account_samples(sm, w, op->pc, STALL_NOT_SELECTED, free, to);
}

static void charge(Sm *sm, const Scheduler *s, TimeWarp *w, u32 reason, u64 from, u64 to) {
    if (from >= to) return;
    Tally *tally = tally_of(sm, w);
    u32 pc = op_of(w)->pc;
    sm->stalls[reason] += to - from;
    tally_charge(tally, tally_row(tally, pc), reason, WL_NONE, to - from, take_issued(s, w, to - from));
    note_delay(w, reason, pc, WL_NONE, to);
}

static void settle(Sm *sm, Scheduler *s, TimeWarp *w, u64 cycle) {
    if (cycle <= w->since) return;
    const TimeOp *op = op_of(w);
    u64 taken = taken_before(s, op->unit, cycle), until = w->since + (taken - w->held_taken);
    charge(sm, s, w, STALL_NOT_SELECTED, until, cycle);
    charge(sm, s, w, w->reason, w->since, until);
    if (WL_UNLIKELY(sample_any(machine_samples(sm->machine), w->since, cycle))) sample_held(sm, s, w, cycle);
    w->since = cycle;
    w->held_taken = taken;
}

void unit_settle_held(Sm *sm, Scheduler *s, u64 cycle) {
    for (u64 left = s->held; left; left &= left - 1) settle(sm, s, s->warps[__builtin_ctzll(left)], cycle);
}

void unit_let_go(Sm *sm, Scheduler *s, TimeWarp *w, u64 cycle) {
    u32 unit = op_of(w)->unit;
    HeldUnit *u = &s->units[unit];
    u64 bit = 1ull << w->slot;
    settle(sm, s, w, cycle);
    s->held &= ~bit;
    u->held &= ~bit;
    if (!u->held) s->held_units &= ~(1u << unit);
}

u64 unit_ready(const Scheduler *s, u64 cycle) {
    u64 ready = 0;
    for (u32 left = s->held_units; left; left &= left - 1) {
        u32 unit = (u32)__builtin_ctz(left);
        if (s->unit_free[unit] <= cycle) ready |= s->units[unit].held;
    }
    return ready;
}

u64 unit_next(const Scheduler *s, u64 cycle, u64 next) {
    for (u32 left = s->held_units; left; left &= left - 1)
        next = earlier(next, later(s->unit_free[__builtin_ctz(left)], cycle + 1));
    return next;
}

u64 unit_at(const Scheduler *s, const TimeWarp *w) { return s->unit_free[op_of(w)->unit]; }
