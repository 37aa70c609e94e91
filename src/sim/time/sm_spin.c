// SPDX-License-Identifier: Apache-2.0
#include "sim/time/sm_spin.h"

#include "sim/time/sm_trace.h"

static SpunWord *spun_word(Sm *sm, u64 key) { return &sm->spun[(key >> 2 ^ key >> 32) % SPUN_WORDS]; }

static const u64 *places_of(const TimeWarp *w, const TimeOp *op, u32 *count) {
    OpRun run = run_of(w, op);
    for (const u64 *access; (access = next_access(w, &run, op));) {
        TraceAccess a = trace_access(*access);
        *count = a.lines;
        if (a.space == TRACE_SPIN) return access + 1;
    }
    *count = 0;
    return NULL;
}

// One of the turns left, those first that change the word. False: another warp was quicker; a swap changes the word
// later than a load of the same cycle reads it, by as much as its answer comes later.
static bool swap_place(Sm *sm, TimeWarp *w, u64 place, u8 *left, u64 cycle) {
    u64 key = (u64)(w->cta - sm->ctas) << 32 | trace_spin_where(place);
    SpunWord *word = spun_word(sm, key);
    if (word->key == key && word->at > w->spin_loaded) return false;
    u32 done = trace_spin_turns(place) - *left;
    if (done < trace_spin_changes(place)) *word = (SpunWord){.key = key, .at = cycle + sm->gpu->shared_atomic};
    --*left;
    return true;
}

void spin_swap(Sm *sm, TimeWarp *w, const TimeOp *op, u64 cycle) {
    u32 count;
    const u64 *places = places_of(w, op, &count);
    if (!w->spins)
        for (u32 i = 0; i < count; i++) w->spin_left[i] = (u8)trace_spin_turns(places[i]);
    w->spin_more = w->spin_parts = false;
    for (u32 i = 0; i < count; i++) {
        u8 *left = &w->spin_left[i];
        if (*left) w->spin_parts |= swap_place(sm, w, places[i], left, cycle);
        w->spin_more |= *left > 0;
    }
    w->spins = w->spin_more;
}

u32 spin_begin(const TimeCode *code, u32 at) {
    u32 pc = code->ops[at].pc;
    while (code->ops[at].pc != pc || !(code->ops[at].flags & TIME_FIRST)) at--;
    return at + 1;
}
