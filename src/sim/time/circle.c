// SPDX-License-Identifier: Apache-2.0
// Launches that poll for what nobody will ever write. Without timing a round of turns shows it (grid.c); here a look at
// everything that decides what is executed next, now and then, while nothing is written: a state that comes again comes
// forever. Looks change nothing of what the machine does.
#include "base/map.h"
#include "sim/grid.h"
#include "sim/time/machine.h"

// Cycles from one look to the next: at first FIRST, then twice as many each time, as a look costs as much as all
// registers are large. A warp that waits for memory or sleeps is as it was and will go on, so those looks count only in
// which every warp that waits for no other one has gone on since the last. In MOST everything that is under way comes
// to an end: nanosleep sleeps at most a millisecond (PTX ISA 9.7.14.12), 2 million cycles of the fastest model, and no
// queue of the memory system lasts longer but that of printf, for whose buffer thousands of warps wait.
#define FIRST (1u << 16)
#define MOST (1u << 22)

void circle_forget(TimeMachine *m) { m->circle = (Circle){.next_look = m->now + FIRST, .cycles = FIRST}; }

// Differs when a CTA has begun or ended, or global memory has been written.
static u64 headway(const TimeMachine *m) {
    u64 sum = m->runs.len;
    for (u32 i = 0; i < m->runs.len; i++) {
        const TimeRun *run = m->runs.data[i];
        sum += run->next_linear + run->ended + run->grid->exec.stores;
    }
    return sum;
}

// Whether something is left to be executed: what has been, and only takes its time, polls for nothing.
static bool executes(const TimeMachine *m) {
    for (u32 i = 0; i < m->runs.len; i++)
        if (grid_has_ctas(m->runs.data[i]->grid)) return true;
    return false;
}

bool circle_look(TimeMachine *m) {
    Circle *c = &m->circle;
    u64 before = c->headway, passed = c->cycles, hash = 1;
    bool turned = true;
    c->headway = headway(m);
    c->cycles = c->headway != before ? FIRST : passed < MOST ? 2 * passed : MOST;
    c->next_look = m->now + c->cycles;
    for (u32 i = 0; i < m->runs.len; i++) turned &= grid_turned(m->runs.data[i]->grid);
    if (c->headway != before || memsys_prints(m->memsys) || !executes(m)) {
        c->stuck = (Stuck){0};
        return false;
    }
    if (!turned && passed < MOST) return false;
    for (u32 i = 0; i < m->runs.len; i++) hash = hash_u64(hash ^ grid_state(m->runs.data[i]->grid));
    c->found = stuck_again(&c->stuck, hash);
    return c->found;
}
