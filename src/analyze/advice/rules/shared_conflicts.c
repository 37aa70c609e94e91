// SPDX-License-Identifier: Apache-2.0
// shared-conflicts: accesses to shared memory that take more passes over the banks than their width needs.
#include <math.h>

#include "analyze/advice/rule.h"

#define CONFLICT 1.2  // times the fewest passes

static bool has_conflicts(const CaseAccess *a) {
    return access_is_shared(a) && a->known != ACCESS_UNKNOWN && a->requests > 0 &&
           a->passes > CONFLICT * a->fewest_passes;
}

// Cycles that a warp waits for the access each time, as counted; 0: it is not known.
static f64 wait_of(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    return c->counted && a->load && a->requests > 0 ? part->insns[a->pc].blamed / a->requests : 0;
}

// Of the wait for a load, the part that the further passes cause: its own, and, behind other accesses, theirs. Of a
// wait that was counted as much stays as a load takes alone.
static f64 part_of_latency(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 fewer) {
    f64 alone = c->gpu ? (f64)c->gpu->shared_latency : 25, extra = a->passes - a->fewest_passes;
    f64 own = extra / (alone + a->passes), queue = c->load.busy[RESOURCE_LSU] * fewer, wait = wait_of(c, part, a);
    if (wait > 0) return fmax(1 - (alone + a->fewest_passes) / wait, 0) * fewer;
    return own > queue ? own : queue;
}

// Machine code does not name arrays in shared memory: accesses of which nothing is known are taken for one array's.
static bool is_one_array(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    bool nameless = part->view->kind == VIEW_SASS && access_base(a) == WL_NONE && access_base(b) == WL_NONE;
    return nameless || access_same_array(part, a, b);
}

static void look_at(AdviceCase *c, const CasePart *part, u32 first) {
    const CaseAccess *worst = &part->accesses[first];
    Hit *hit = hit_begin(c);
    f64 excess = 0, passes = 0, fewest = 0;
    for (u32 i = first; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!has_conflicts(a) || !is_one_array(part, &part->accesses[first], a)) continue;
        f64 fewer = 1 - a->fewest_passes / a->passes, more = a->requests * (a->passes - a->fewest_passes);
        if (more > excess) excess = more, worst = a;
        passes += a->requests * a->passes;
        fewest += a->requests * a->fewest_passes;
        hit_blamed(hit, part, a->pc, STALL_BIT(MIO_THROTTLE), fewer);
        f64 gone = part_of_latency(c, part, a, fewer);
        hit_blamed(hit, part, a->pc, ~STALL_BIT(MIO_THROTTLE), gone);
        if (wait_of(c, part, a) > 0) hit_no_queue(hit, part, a->pc, gone);
        hit_shorten(hit, part, a->pc, fewer);
        hit_edit(hit, EDIT_CONFLICT_FREE, part, a->pc, 1);
    }
    hit_fact(hit, "warplens__shared_wavefronts_per_inst.ratio", worst->passes, "wavefronts",
             "each access of %s takes %.1f wavefronts; %.1f would do", place_text(c, part, worst->pc), worst->passes,
             worst->fewest_passes);
    if (passes > 0)
        hit_fact(hit, "conflict_share", 100 * (1 - fewest / passes), "%",
                 "%.0f %% of the wavefronts of this array are conflicts", 100 * (1 - fewest / passes));
    bool constant = worst->affine && worst->affine->stride_kind[0] == AFFINE_STRIDE_CONSTANT;
    hit->doubtful = worst->known != ACCESS_COUNTED && !constant;
    hit_end_line(hit, part, worst->pc, "Pad or permute the shared array at %s so that lanes meet in different banks",
                 place_text(c, part, worst->pc));
}

static bool is_first(const CasePart *part, u32 at) {
    for (u32 i = 0; i < at; i++)
        if (has_conflicts(&part->accesses[i]) && is_one_array(part, &part->accesses[i], &part->accesses[at]))
            return false;
    return true;
}

void rule_shared_conflicts(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++)
            if (has_conflicts(&c->parts[p].accesses[i]) && is_first(&c->parts[p], i)) look_at(c, &c->parts[p], i);
}
