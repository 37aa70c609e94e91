// SPDX-License-Identifier: Apache-2.0
// How long atomics on few words hold up a kernel: the L2 does those on one word one after the other, and what the SMs
// have sent behind them waits, loads as well (an H200's samples of examples/advice/kinetic.cu and gray_levels.cu).
#include <math.h>

#include "analyze/advice/boxes.h"
#include "analyze/limit.h"

enum { WARP = 32, SECTORS_OF_LINE = 4, LINES = 2, LINE_BYTES = 128 };
static bool is_counted(const CaseAccess *a) { return a->atomic && access_is_global(a) && a->requests > 0; }

// Words of different CTAs or warps that lie in two neighbouring lines are of one slice of the L2, which does them one
// after the other as those on one word (h200-atomic-spread.tsv, 1x128 and 2x128).
static bool in_lines_of_slice(const CasePart *part, const CaseAccess *a) {
    const ProfileLaunch *launch = part->view->launches.typical;
    Box box;
    if (!launch || !box_of(launch, part, a, 1, &box)) return false;
    for (u32 i = 0; i < box.count; i++)
        if (!box.sides[i].pitch && box.sides[i].values > 1) return false;
    return box_reach(&box) <= LINES * LINE_BYTES;
}

bool access_is_one_word(const CasePart *part, const CaseAccess *a) {
    const u32 same = 1u << AFFINE_PARAMETER | 1u << AFFINE_SYMBOL;
    if (!a->atomic || !access_is_global(a) || !a->affine || !a->uniform) return false;
    u32 others = affine_kinds(part->view->flow.affine, a->affine->form) & ~same;
    return !others || (others == 1u << AFFINE_SREG && in_lines_of_slice(part, a));
}

// A guard that picks lanes out, as `lane == 0`; one that compares by size is a check against an end.
static bool picks(const CasePart *part, u32 pc) {
    const Chains *chains = part->view->flow.chains;
    u32 node = chains->of_guard[pc];
    if (case_insn(part, pc)->guard == WL_NONE || node == WL_NONE || node >= chains->def_count) return false;
    const FlowInsn *test = case_insn(part, chains->nodes[node].insn);
    return test->arith != FLOW_COMPARE || test->compare == FLOW_EQUAL || test->compare == FLOW_NOT_EQUAL;
}

// Whether it does so by what was loaded, as `label != 0`: of how many lanes is not known.
static bool asks_data(const CasePart *part, u32 pc) {
    const Chains *chains = part->view->flow.chains;
    u32 test = chains->nodes[chains->of_guard[pc]].insn;
    const FlowInsn *in = case_insn(part, test);
    for (u32 u = 0; u < in->uses; u++)
        if (node_is_loaded(part, chains->of_operand[in->operands + in->defs + u], LOADED_STEPS)) return true;
    return false;
}

// One lane of a warp, or few, as far as the guards on the only way to it say. `surely`: not by data.
static bool is_picked(const CasePart *part, u32 pc, bool surely) {
    const Cfg *cfg = part->view->flow.cfg;
    u32 block = cfg->block_of[pc], guarded = pc;
    for (u32 depth = 0;; depth++) {
        if (picks(part, guarded) && !(surely && asks_data(part, guarded))) return true;
        if (depth == 4 || cfg->blocks[block].pred_count != 1) return false;
        block = cfg->edges[cfg->blocks[block].preds];
        guarded = cfg->blocks[block].first + cfg->blocks[block].count - 1;
    }
}

f64 atomic_lanes(const CasePart *part, const CaseAccess *a) {
    bool all = part->insns[a->pc].traits & TRAIT_LANE_ATOMIC;
    return !all ? 1 : a->known == ACCESS_COUNTED ? a->lanes : is_picked(part, a->pc, false) ? 1 : a->lanes;
}

// Data decides which word it is.
static bool is_by_data(const CasePart *part, const CaseAccess *a) {
    return !a->affine || affine_kinds(part->view->flow.affine, a->affine->form) & 1u << AFFINE_NODE;
}

// SM cycles of the L2 for one lane's.
static f64 interval(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    const GpuModel *g = c->gpu;
    bool slower = part->insns[a->pc].traits & TRAIT_FLOAT_ATOMIC && g->l2_atomic_float;
    return (f64)(slower ? g->l2_atomic_float : g->l2_atomic_interval) / 100 * (f64)g->clock_mhz / (f64)g->noc_clock_mhz;
}

// On every way through the kernel, outside of loops: each warp does it once, however often it was caught doing so.
static bool is_done_once(const CasePart *part, u32 pc) {
    const FlowResults *flow = &part->view->flow;
    if (part->insns[pc].loop != WL_NONE || case_insn(part, pc)->guard != WL_NONE || insn_routine(part, pc))
        return false;
    for (u32 block = 0; block < flow->cfg->block_count; block = flow->postdominators->parent[block])
        if (block == flow->cfg->block_of[pc]) return true;
    return false;
}

static f64 volume(const u32 *size) { return (f64)size[0] * size[1] * size[2]; }

// Warps that are launched in a cycle, on average.
static f64 warps_a_cycle(const AdviceCase *c) {
    const ViewLaunches *l = &c->view->launches;
    f64 warps = 0, cycles = l->total_ns * (f64)c->gpu->clock_mhz / 1000 * (1 - c->fixed);
    for (u32 i = 0; i < l->count; i++) warps += volume(l->rows[i]->grid) * ceil(volume(l->rows[i]->block) / WARP);
    return cycles > 0 ? warps / cycles : 0;
}

// Words that lie next to each other are done a sector at a time: who adds up in shared memory has each CTA add what it
// has to the same few lines, one CTA after the other. Lines that lie next to each other are in slices of which no more
// than a few are different: two of them take 9.3 cycles, four 9.4 (h200-atomic-spread.tsv, 1x128 to 16x128: one 4.8,
// eight 18.7, sixteen 19.0). How many there are is not known: as many as most counters need, up to 128 words.
f64 atomic_flush(const AdviceCase *c) {
    const ViewLaunches *l = &c->view->launches;
    const GpuModel *g = c->gpu;
    f64 ctas = 0, cycles = l->total_ns * (f64)g->clock_mhz / 1000 * (1 - c->fixed);
    f64 sector = g->l2_atomic_sector ? (f64)g->l2_atomic_sector / 100 : 1;
    for (u32 i = 0; i < l->count; i++) ctas += volume(l->rows[i]->grid);
    return cycles > 0 ? ctas * LINES * SECTORS_OF_LINE * sector * (f64)g->clock_mhz / (f64)g->noc_clock_mhz / cycles
                      : 0;
}

// How often warps of the whole GPU do it in a cycle.
static f64 times_a_cycle(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 per_slot) {
    bool once = part == c->parts && a->known != ACCESS_COUNTED && c->view->launches.total_ns > 0;
    if (once && is_done_once(part, a->pc)) return warps_a_cycle(c);
    return a->requests * per_slot * (f64)(c->gpu->sms * c->gpu->warp_schedulers);
}

// Words that are the same for all threads: what they take is known.
static f64 on_one_word(AdviceCase *c, f64 per_slot) {
    f64 busy = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            CasePart *part = &c->parts[p];
            const CaseAccess *a = &part->accesses[i];
            if (!is_counted(a) || !access_is_one_word(part, a)) continue;
            f64 times = times_a_cycle(c, part, a, per_slot);
            busy += part->insns[a->pc].use[RESOURCE_ATOMIC] = times * atomic_lanes(part, a) * interval(c, part, a);
        }
    return busy;
}

// Part of the latency of loads that is waiting behind atomics. Where latencies are the atomics', they do not say what
// DRAM had to do with loads: nothing, where all fits the L2.
static f64 waiting_for_atomics(const AdviceCase *c) {
    f64 near = case_idle_latency(c, 1, 0), far = case_idle_latency(c, 1, 1);
    bool inferred = !c->misses_known && c->fits_l2 && c->waiting > 0;
    return inferred ? 1 - (1 - c->waiting) * near / far : c->waiting;
}

// Part of the samples in which warps waited because such an atomic had yet to leave the SM: the queue is full, its
// registers have yet to be read, or the warp is over but for it. Where most of the GPU's warps stand in that line it
// does not run empty: all that they wait longer than on an idle machine is the L2's.
#define MOSTLY 0.5  // of the samples

static f64 held_by_atomics(const AdviceCase *c) {
    f64 all = 0, requests = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->blame->edge_count; i++) {
            const BlameEdge *e = &part->blame->edges[i];
            const CaseAccess *a = case_access(part, e->def);
            bool held = e->class == BLAME_WAR || e->reason == STALL_LG_THROTTLE || e->reason == STALL_DRAIN;
            if (held && a && is_counted(a) && is_by_data(part, a)) all += part->weight * e->samples;
        }
        for (u32 i = 0; i < part->access_count; i++)
            if (is_counted(&part->accesses[i]) && is_by_data(part, &part->accesses[i]))
                requests += part->accesses[i].requests;
    }
    f64 share = case_share(c, all);
    return share > MOSTLY ? fmax(share, 1 - requests * case_idle_latency(c, 1, 0) / all) : share;
}

// Part of the launches' time behind the end of the last CTA, of which the L2 makes use: the simulator knows that time.
static f64 behind_last_cta(const AdviceCase *c) {
    const ViewLaunches *l = &c->view->launches;
    f64 behind = 0, all = 0;
    for (u32 i = 0; i < l->count; i++) {
        const ProfileTime *t = &l->rows[i]->time;
        if (!t->known || t->overlapped || t->estimated || t->last_cta_cycle < t->begin_cycle) continue;
        all += (f64)(t->end_cycle - t->begin_cycle);
        behind += fmax((f64)t->end_cycle - (f64)t->last_cta_cycle - (f64)c->gpu->launch_end, 0);
    }
    return all > 0 ? fmin(behind / all / (1 - c->fixed), 1) : 0;
}

// Part of the time that it takes if all lanes of the launch meet on one word: they cannot take longer.
static f64 if_all_meet(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 per_slot) {
    f64 lanes = a->known != ACCESS_COUNTED && is_picked(part, a->pc, true) ? 1 : a->lanes;
    return times_a_cycle(c, part, a, per_slot) * lanes * interval(c, part, a);
}

// Part of the time for which the unit is busy with anything but atomics on words that data decides: how many sectors
// those touch is not known, and of lanes that meet it is few.
static f64 busy_with_others(const AdviceCase *c, Resource unit) {
    f64 busy = c->load.busy[unit];
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            bool unknown = is_counted(a) && a->known == ACCESS_UNKNOWN && is_by_data(&c->parts[p], a);
            if (unknown) busy -= c->parts[p].insns[a->pc].use[unit];
        }
    return busy;
}

// Words that data decides: loads wait many times as long as on an idle machine, and neither L1 nor L2 nor DRAM has so
// much else to do. What is left is atomics that meet, as far as there are enough of them. `behind`: part of the time in
// which they alone are left; `known`: part of the time that those on one word take, which explains as much of it.
static f64 on_some_words(AdviceCase *c, f64 behind, f64 known, f64 per_slot) {
    f64 requests = 0, most = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (is_counted(a) && is_by_data(&c->parts[p], a)) most += if_all_meet(c, &c->parts[p], a, per_slot);
        }
    f64 waits = behind + (1 - behind) * fmax(waiting_for_atomics(c), held_by_atomics(c));
    f64 waiting = fmin(waits - known, most);
    if (waiting <= 0) return 0;
    for (u32 r = RESOURCE_LSU; r <= RESOURCE_DRAM; r++)
        if (busy_with_others(c, (Resource)r) > EXPLAINED) return 0;
    for (u32 step = 0; step < 2; step++)
        for (u32 p = 0; p < c->part_count; p++)
            for (u32 i = 0; i < c->parts[p].access_count; i++) {
                const CaseAccess *a = &c->parts[p].accesses[i];
                if (!is_counted(a) || !is_by_data(&c->parts[p], a)) continue;
                if (step) c->parts[p].insns[a->pc].use[RESOURCE_ATOMIC] = waiting * a->requests / requests;
                requests += step ? 0 : a->requests;
            }
    return requests > 0 ? waiting : 0;
}

// Samples of waits for loads, not for what atomics bring back.
static f64 waits_for_loads(const AdviceCase *c) {
    f64 all = case_stalls(c, STALL_BIT(LONG_SCOREBOARD)), own = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->blame->edge_count; i++) {
            const BlameEdge *e = &part->blame->edges[i];
            const CaseAccess *a = e->reason == STALL_LONG_SCOREBOARD ? case_access(part, e->def) : NULL;
            if (a && is_counted(a)) own += part->weight * e->samples;
        }
    }
    return fmax(all - own, 0);
}

// Samples of waits for the special function unit itself: accesses may be in its queue (MIO), but not behind it.
static f64 waits_for_special(const AdviceCase *c) {
    f64 all = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++)
            if (case_insn(&c->parts[p], pc)->unit == UNIT_XU)
                all += (f64)c->parts[p].view->samples[pc].all[STALL_MATH_PIPE_THROTTLE] * c->parts[p].weight;
    return all;
}

void case_find_atomics(AdviceCase *c, f64 per_slot) {
    EstimateLoad *load = &c->load;
    if (!c->gpu || !c->gpu->noc_clock_mhz) return;
    f64 known = on_one_word(c, per_slot), behind = known > 0 ? 0 : behind_last_cta(c);
    f64 busy = fmin(known + on_some_words(c, behind, known, per_slot), 1);
    if (busy <= 0) return;
    if (known > 1)
        for (u32 p = 0; p < c->part_count; p++)
            for (u32 i = 0; i < c->parts[p].access_count; i++)
                c->parts[p].insns[c->parts[p].accesses[i].pc].use[RESOURCE_ATOMIC] /= known;
    // What loads take on an idle machine they take without atomics as well.
    f64 latency = c->waiting > 0 ? waiting_for_atomics(c) : 1;
    load->busy[RESOURCE_ATOMIC] = busy;
    // Of the time in which SMs are idle at least what is more than all of it together with the atomics is both.
    load->behind = behind;
    if (known > 0 && c->view->metrics.present[METRIC_SM_ACTIVE])
        load->behind = fmax(busy - limit_facts(&c->view->metrics, c->gpu, c->fixed).sms, 0);
    load->queued[RESOURCE_LSU] *= 1 - busy;
    load->queued[RESOURCE_L2] *= 1 - busy;
    load->queued[RESOURCE_DRAM] *= 1 - busy;
    load->queued[RESOURCE_XU] -= busy * fmax(load->queued[RESOURCE_XU] - waits_for_special(c), 0);
    load->from_dram *= 1 - busy;  // nor do loads wait for DRAM meanwhile
    load->queued[RESOURCE_ATOMIC] =
        busy * case_stalls(c, STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(SHORT_SCOREBOARD) | STALL_BIT(LG_THROTTLE) |
                                  STALL_BIT(MIO_THROTTLE) | STALL_BIT(DRAIN) | STALL_BIT(MEMBAR)) -
        (busy - fmin(busy, latency)) * waits_for_loads(c);
}

// --- in shared memory ----------------------------------------------------------------------------------------------
// It does the lanes of a warp that meet on a word one a cycle (bench/hwref/h200-micro.tsv, shared/atomic_add/one_word
// of 8 warps: 32 cycles each), but for POPC.INC, which joins those that add one.
bool atomic_meets_in_shared(const CasePart *part, const CaseAccess *a) {
    const SassInsn *insn = insn_machine(part, a->pc);
    bool counted = a->atomic && access_is_shared(a) && a->requests > 0 && a->known != ACCESS_COUNTED;
    return counted && is_by_data(part, a) && !(insn && sass_has(insn, "INC"));
}

// The first such atomic of its loop.
static bool is_first_of_loop(const CasePart *part, u32 access) {
    u32 loop = part->insns[part->accesses[access].pc].loop;
    for (u32 i = 0; i < access; i++)
        if (part->insns[part->accesses[i].pc].loop == loop && atomic_meets_in_shared(part, &part->accesses[i]))
            return false;
    return atomic_meets_in_shared(part, &part->accesses[access]);
}

f64 case_waits_by_shared_atomics(const AdviceCase *c) {
    f64 waits = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            if (!is_first_of_loop(part, i)) continue;
            for (u32 k = 0; k < part->blame->edge_count; k++) {
                const BlameEdge *e = &part->blame->edges[k];
                bool here = part->insns[e->use].loop == part->insns[part->accesses[i].pc].loop;
                if (here && e->reason == STALL_LONG_SCOREBOARD) waits += part->weight * e->samples;
            }
        }
    }
    return waits;
}

f64 case_shared_atomics(AdviceCase *c, f64 known, f64 line, f64 per_slot) {
    f64 schedulers = c->gpu ? (f64)c->gpu->warp_schedulers : 4, most = 0;
    for (u32 step = 0; step < 2; step++)
        for (u32 p = 0; p < c->part_count; p++)
            for (u32 i = 0; i < c->parts[p].access_count; i++) {
                const CaseAccess *a = &c->parts[p].accesses[i];
                CaseInsn *in = &c->parts[p].insns[a->pc];
                if (!atomic_meets_in_shared(&c->parts[p], a)) continue;
                f64 all_meet = a->requests * a->lanes * schedulers * per_slot - in->use[RESOURCE_LSU];
                if (step && all_meet > 0 && line > known)
                    in->use[RESOURCE_LSU] += all_meet * fmin((line - known) / most, 1);
                most += step ? 0 : fmax(all_meet, 0);
            }
    return most > 0 && line > known ? fmin(line, known + most) : known;
}
