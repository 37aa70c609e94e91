// SPDX-License-Identifier: Apache-2.0
// lock-contention: threads that ask for a lock over and over, as others have it.
#include <math.h>

#include "analyze/advice/rule.h"

#define WORTH_IT 0.05  // of the samples

// Words of the same lock: what takes it and what gives it back.
static f64 of_lock(const CasePart *part, const CaseAccess *lock) {
    f64 use = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (a->atomic && (a == lock || access_same_address(part, a, lock)))
            use += part->insns[a->pc].use[RESOURCE_ATOMIC];
    }
    return use;
}

// Without the lock nobody turns the loop more than once.
static void look_at(AdviceCase *c, const CasePart *part, u32 l) {
    const CaseLoop *loop = &part->loops[l];
    const CaseAccess *lock = case_access(part, loop->spin_pc);
    f64 share = case_share(c, loop->active + loop->stalled), left = loop->trips > 1 ? 1 / loop->trips : 0;
    if (share < WORTH_IT || !lock) return;
    Hit *hit = hit_begin(c);
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (loop_has(part, l, pc)) hit_spare(hit, part, pc, 1 - left);
    f64 freed = of_lock(part, lock) - (1 - left) * part->insns[lock->pc].use[RESOURCE_ATOMIC];
    hit_relieve(hit, RESOURCE_ATOMIC, fmax(freed, 0));
    hit_fact(hit, "spinning_pct", 100 * share, "%",
             "warps are in the loop that asks for the lock for %.0f %% of their time", 100 * share);
    if (loop->trips > 1)
        hit_fact(hit, "lock_attempts", loop->trips, "turns", "a warp asks %.0f times until it has it", loop->trips);
    hit_basis(hit, "equation 2 over the %.0f %% of the samples in which it is asked for", 100 * share);
    hit_caution(hit,
                "where what is done under the lock can be done by atomics, or by parts that are joined afterwards");
    hit_end_line(hit, part, lock->pc, "Do without the lock at %s", place_text(c, part, lock->pc));
}

void rule_lock_contention(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 l = 0; l < c->parts[p].view->flow.loops->loop_count; l++)
            if (c->parts[p].loops[l].spin == SPIN_LOCK) look_at(c, &c->parts[p], l);
}
