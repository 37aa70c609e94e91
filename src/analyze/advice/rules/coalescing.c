// SPDX-License-Identifier: Apache-2.0
// global-coalescing: accesses whose lanes touch more sectors than their bytes need. One hit for each array.
#include <math.h>

#include "analyze/advice/rule.h"

enum { SECTOR = 32, WORD = 4 /* bytes of a lane where a line has one for each */, ROW = 512 };
#define WASTE 1.5  // times the fewest sectors; below it is alignment, not the layout
// Part of the time in which the L2 would work if all that lists name were out of order.
#define BUSY_BY_LISTS 0.5
#define MOST_BUSY 1.1  // how much an L2 does is known to a tenth

// Each lane goes to the row that its data names, for one word of it; which one it is depends on the thread or the turn:
// others want the row's other words. table[row[i] * WIDTH + column].
static bool is_of_rows(const CasePart *part, const CaseAccess *a) {
    if (!a->gathered || !a->affine) return false;
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    bool row = false, column = false;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        if (term->factors[0] == WL_NONE || term->factors[1] != WL_NONE) continue;
        const AffineFactor *f = &affine->factors[term->factors[0]];
        i64 apart = term->coefficient < 0 ? -term->coefficient : term->coefficient;
        bool data = f->kind == AFFINE_NODE && node_is_loaded(part, f->id, LOADED_STEPS);
        row |= data && apart >= SECTOR && apart % a->bytes == 0;
        column |= !data && f->kind != AFFINE_PARAMETER && f->kind != AFFINE_SYMBOL && apart == a->bytes;
    }
    return row && column;
}

// The instruction that made the value, copies and conversions passed over.
static u32 made_at(const CasePart *part, u32 node) {
    const Chains *chains = part->view->flow.chains;
    for (u32 steps = 0; steps < LOADED_STEPS && node != WL_NONE; steps++) {
        u32 pc = chains->nodes[node].insn;
        if (pc == WL_NONE) return WL_NONE;
        const FlowInsn *in = case_insn(part, pc);
        if (in->is_load || in->uses != 1) return pc;
        node = chains->of_operand[in->operands + in->defs];
    }
    return WL_NONE;
}

static bool is_by_thread(const AffineFactor *f) {
    return f->kind == AFFINE_SREG && (f->id == SREG_TID || f->id == SREG_LANEID);
}

// Each thread takes one element of a list, outside of loops, and what that says is all that tells its lane from the
// others: list[thread] of pixels, of cells. NULL: it is not so.
static const CaseAccess *list_of(const CasePart *part, const CaseAccess *a) {
    if (!a->gathered || !a->affine) return NULL;
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    const CaseAccess *list = NULL;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        for (u32 i = 0; i < AFFINE_DEGREE && term->factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[term->factors[i]];
            if (is_by_thread(f)) return NULL;
            if (f->kind != AFFINE_NODE || !node_is_loaded(part, f->id, LOADED_STEPS)) continue;
            u32 pc = made_at(part, f->id);
            const CaseAccess *from = pc == WL_NONE ? NULL : case_access(part, pc);
            bool alone = term->coefficient == a->bytes && term->factors[1] == WL_NONE && !list;
            if (!from || !alone || from->apart != from->bytes || part->insns[pc].loop != WL_NONE) return NULL;
            list = from;
        }
    }
    return list;
}

// Lanes that go anywhere keep the L2 busy, which would have less to do for neighbours. Were they apart where lists are
// in order already, it would have to do more than there is time for.
static bool are_lists_out_of_order(const AdviceCase *c) {
    f64 sectors = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (list_of(&c->parts[p], a)) sectors += a->requests * a->sectors;
        }
    f64 busy = case_l2_sectors(c, sectors);
    return busy > BUSY_BY_LISTS && busy < MOST_BUSY;
}

// Lanes go over a line of the L1 together, of which the thread's other accesses want what this one leaves.
static bool shares_line(const CasePart *part, const CaseAccess *a) {
    return a->apart > 0 && a->apart <= WORD && access_pieces(part, a) > 1;
}

// `lists`: also what lists name.
static bool is_scattered(const CasePart *part, const CaseAccess *a, bool lists) {
    bool known = a->known != ACCESS_UNKNOWN || is_of_rows(part, a) || (lists && list_of(part, a));
    bool wastes = a->sectors > WASTE * a->fewest && !shares_line(part, a);
    return access_is_global(a) && !a->atomic && known && a->requests > 0 && wastes;
}

// Lanes are as far apart as rows or planes are: farther than structures are large, or the launch decides.
static bool is_by_rows(const CaseAccess *a) {
    bool strides = a->affine && a->affine->stride_kind[0] != AFFINE_STRIDE_CONSTANT && !a->apart;
    bool far = a->apart >= ROW || a->apart <= -ROW;
    return a->known == ACCESS_STATIC && (strides || far) && !a->gathered;
}

// Arrays of the same structures are changed together, and arrays in whose rows lanes stand one below the other: when
// lanes go along rows they do so in all of them.
static bool is_one_change(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    if (access_same_array(part, a, b) || (is_by_rows(a) && is_by_rows(b))) return true;
    return a->apart && a->apart == b->apart;
}

// What the L2 and DRAM need not move any more where nobody counted it: of stores and gathers what is beyond the fewest
// sectors; of loads what no lane of the CTA wants, and of the launch none.
static void relieve_below(Hit *hit, const CasePart *part, const CaseAccess *a) {
    const f64 *use = part->insns[a->pc].use;
    bool seen = a->store || a->gathered;
    f64 left = seen ? a->fewest / a->leaving : access_part_wanted(hit->c, part, a, true);
    hit_relieve(hit, RESOURCE_L2, use[RESOURCE_L2] * fmax(1 - left, 0));
    hit_relieve(hit, RESOURCE_DRAM, use[RESOURCE_DRAM] * (1 - access_part_wanted(hit->c, part, a, false)));
}

// Sectors that do not come from the L1 are what the L2 and DRAM have to move; of those as many stay as are needed.
static void relieve(Hit *hit, const CasePart *part, const CaseAccess *a) {
    const CaseInsn *in = &part->insns[a->pc];
    const AdviceCase *c = hit->c;
    f64 to_l2 = a->load ? a->sectors * c->l1_miss : a->sectors, to_dram = to_l2 * c->l2_miss;
    f64 before = access_l1_cycles(a, a->sectors, 1), after = access_l1_cycles(a, a->fewest, 1);
    hit_relieve(hit, RESOURCE_LSU, in->use[RESOURCE_LSU] * (1 - after / before));
    if (!c->misses_known) return relieve_below(hit, part, a);
    if (to_l2 > a->fewest) hit_relieve(hit, RESOURCE_L2, in->use[RESOURCE_L2] * (1 - a->fewest / to_l2));
    if (to_dram > a->fewest) hit_relieve(hit, RESOURCE_DRAM, in->use[RESOURCE_DRAM] * (1 - a->fewest / to_dram));
}

static f64 part_of_queue(const AdviceCase *c, const CaseAccess *a) { return (1 - a->fewest / a->sectors) * c->waiting; }

// Samples say how long warps waited for the loads of its block.
static bool is_seen(const AdviceCase *c, const CaseAccess *a) {
    return c->gpu && !c->counted && !c->misses_known && a->load && a->latency > 0;
}

static bool is_counted(const AdviceCase *c, const CaseAccess *a) { return c->gpu && c->latency > 0 && a->load; }

// Outside of loops the L1 has what another load of the array has brought, of the warp or of its CTA, and has it when
// all of them go along rows as well.
static bool was_brought(const CasePart *part, const CaseAccess *a) {
    if (part->insns[a->pc].loop != WL_NONE || access_base(a) == WL_NONE) return false;
    for (const CaseAccess *b = part->accesses; b < a; b++) {
        bool loads = b->load && !b->atomic && b->requests > 0 && access_is_global(b);
        if (loads && part->insns[b->pc].loop == WL_NONE && access_base(b) == access_base(a)) return true;
    }
    return false;
}

// Of the latency of a load, the part that goes with its further sectors. Lanes that walk through rows of their own find
// most of their words in the L1, where an earlier turn has brought them; neighbouring lanes take new sectors with each
// turn, so that all of their loads go to the L2, as if to an idle one.
static f64 part_above_idle(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    f64 times = a->sectors / a->fewest;
    if (is_seen(c, a)) {
        f64 idle = case_idle_last(c, 1, c->fits_l2 ? 0 : 1, a->together);
        if (a->latency < idle && was_brought(part, a)) idle = (f64)c->gpu->l1_latency;
        return fmax(1 - idle / a->latency, 0);
    }
    f64 to_l2 = fmin(c->past_l1 * times, 1), to_dram = fmin(c->past_l1 * c->past_l2 * times, 1);
    f64 idle = case_idle_latency(c, to_l2, to_l2 > 0 ? to_dram / to_l2 : 0);
    return fmax(1 - idle / c->latency, 0);
}

static f64 part_of_latency(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    if (!is_counted(c, a) && !is_seen(c, a)) return part_of_queue(c, a);
    return (1 - a->fewest / a->sectors) * part_above_idle(c, part, a);
}

// `gone`: of the latency.
static void add(Hit *hit, const CasePart *part, const CaseAccess *a, f64 gone) {
    hit_blamed(hit, part, a->pc, STALL_BIT(LG_THROTTLE), 1 - a->fewest / a->sectors);
    hit_blamed(hit, part, a->pc, ~STALL_BIT(LG_THROTTLE), gone);
    relieve(hit, part, a);
    hit_edit(hit, EDIT_COALESCED, part, a->pc, 1);
}

static void order_list(Hit *hit, const CasePart *part, const CaseAccess *a, const CaseAccess *list) {
    const char *from = place_text(hit->c, part, list->pc);
    hit_text(hit, TEXT_order);
    hit_fact(hit, "lane_stride", NAN, "bytes", "where each lane goes is read from a list at %s", from);
    hit_end_line(hit, part, a->pc, "Order the list of %s so that neighbouring lanes load neighbouring words at %s",
                 from, place_text(hit->c, part, a->pc));
}

static void look_at(AdviceCase *c, const CasePart *part, u32 first, bool lists) {
    const CaseAccess *worst = &part->accesses[first];
    Hit *hit = hit_begin(c);
    hit->also = "memory-transactions";  // each request is fewer of them then
    f64 excess = 0;
    for (u32 i = first; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_scattered(part, a, lists) || !is_one_change(part, &part->accesses[first], a)) continue;
        if (a->requests * (a->sectors - a->fewest) > excess) {
            excess = a->requests * (a->sectors - a->fewest);
            worst = a;
        }
        f64 gone = part_of_latency(c, part, a);
        add(hit, part, a, gone);
        // What stays of an idle machine's latency is no queue; what its own sectors wait for is.
        if (is_counted(c, a) || is_seen(c, a)) hit_no_queue(hit, part, a->pc, part_above_idle(c, part, a));
    }
    hit_fact(hit, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", worst->sectors, "sectors",
             "each request of %s touches %.1f sectors; %.1f would do", place_text(c, part, worst->pc), worst->sectors,
             worst->fewest);
    const AffineAccess *f = worst->affine;
    if (f && f->stride_kind[0] == AFFINE_STRIDE_CONSTANT && f->stride[0] > worst->bytes)
        hit_fact(hit, "lane_stride", (f64)f->stride[0], "bytes",
                 "neighbouring lanes are %lld bytes apart, each takes %u", (long long)f->stride[0], worst->bytes);
    else if (is_of_rows(part, worst))
        hit_fact(hit, "lane_stride", NAN, "bytes", "each lane takes one word of the row that its data names");
    else if (f && f->stride_kind[0] == AFFINE_STRIDE_SYMBOLIC)
        hit_fact(hit, "lane_stride", NAN, "bytes", "neighbouring lanes are apart by a distance known at launch only");
    hit->doubtful = worst->known != ACCESS_COUNTED && (!f || f->stride_kind[0] != AFFINE_STRIDE_CONSTANT);
    const CaseAccess *list = list_of(part, worst);
    if (list) return order_list(hit, part, worst, list);
    hit_end_line(hit, part, worst->pc, "Let neighbouring lanes %s neighbouring words at %s",
                 worst->load ? "load" : "store", place_text(c, part, worst->pc));
}

static bool is_first(const CasePart *part, u32 at, bool lists) {
    for (u32 i = 0; i < at; i++)
        if (is_scattered(part, &part->accesses[i], lists) &&
            is_one_change(part, &part->accesses[i], &part->accesses[at]))
            return false;
    return true;
}

// --- walks ---------------------------------------------------------------------------------------------------------
enum {
    TURNS_OF_ONE = 32 /* elements that a turn goes on by at most, unrolled */,
    WARP = 32,
    SUM_OF_WARP = 10 /* instructions: five shuffles, five additions */
};

// Each lane goes from word to word through a run of its own, which begins where its data says: a row of a sparse
// matrix, a list.
static bool is_walk(const CasePart *part, const CaseAccess *a) {
    u32 loop = part->insns[a->pc].loop;
    i64 step;
    if (!access_is_global(a) || !a->load || a->atomic || a->known != ACCESS_UNKNOWN || a->uniform || !a->affine)
        return false;
    if (loop == WL_NONE || a->requests <= 0 || a->sectors <= WASTE * a->fewest) return false;
    if (affine_step(part->view->flow.affine, a->affine->form, loop, &step) != AFFINE_STRIDE_CONSTANT) return false;
    return step && step <= TURNS_OF_ONE * a->bytes && step >= -TURNS_OF_ONE * a->bytes;
}

// A warp for each run instead of a lane: what comes before and behind the loop is done by 32 times as many warps, which
// wait there as on an idle machine; and each adds up what its lanes found.
static void add_warps(Hit *hit, const CasePart *part) {
    const AdviceCase *c = hit->c;
    f64 issues = 0, stalls = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const u64 *samples = part->view->samples[pc].all;
        if (part->insns[pc].loop != WL_NONE) continue;
        issues += part->insns[pc].issued;
        for (u32 r = 0; r < STALL_COUNT; r++) {
            bool queues = STALL_BIT(LG_THROTTLE) & 1u << r || r == STALL_SELECTED || STALLED_BY_OTHERS(r);
            f64 idle = r == STALL_LONG_SCOREBOARD || r == STALL_DRAIN ? 1 - c->waiting : 1;
            if (!queues) stalls += (f64)samples[r] * part->weight * idle;
        }
    }
    hit->change.issues -= issues * (WARP - 1) + part->insns[0].executed * WARP * SUM_OF_WARP;
    hit->change.stalls -= stalls * (WARP - 1);
    hit_relieve(hit, RESOURCE_LAUNCH, -c->load.busy[RESOURCE_LAUNCH] * (WARP - 1));
}

static void walk_together(AdviceCase *c, const CasePart *part) {
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_walks);
    u32 at = 0, count = 0;
    f64 most = -1;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_walk(part, a)) continue;
        add(hit, part, a, part_of_queue(c, a));
        count++;
        if (part->insns[a->pc].blamed > most) most = part->insns[a->pc].blamed, at = a->pc;
    }
    if (!count) return hit_drop(hit);
    add_warps(hit, part);
    hit_fact(
        hit, "walking_accesses", count, "instructions",
        "each lane goes from word to word through a run of its own, which begins where its data says, with %u load%s",
        count, plural(count));
    hit_caution(hit,
                "runs much shorter than a warp leave lanes without work: take as many lanes as a run has elements");
    hit->doubtful = true;
    hit_end_line(hit, part, at, "Let the lanes of a warp take the runs read at %s together, one after the other",
                 place_text(c, part, at));
}

void rule_global_coalescing(AdviceCase *c) {
    bool lists = are_lists_out_of_order(c);
    for (u32 p = 0; p < c->part_count; p++) walk_together(c, &c->parts[p]);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++)
            if (is_scattered(&c->parts[p], &c->parts[p].accesses[i], lists) && is_first(&c->parts[p], i, lists))
                look_at(c, &c->parts[p], i, lists);
}
