// SPDX-License-Identifier: Apache-2.0
// How busy the kernel keeps the machine: which unit works how much of the time, and for which instructions. Counters
// say it where the profile has them, else it follows from what issued and the units' intervals in the GPU's model.
#include "analyze/advice/rule.h"

#include <math.h>
#include <string.h>

#include "analyze/limit.h"

enum { SECTORS_PER_LINE = 4, BYTES_OF_LINE = 128 };

#define GATHERED 0.5  // of a block's waits

static f64 ratio(const MetricSet *m, MetricId part, MetricId whole) {
    return m->present[part] && m->value[whole] > 0 ? m->value[part] / m->value[whole] : 0;
}

// --- samples -------------------------------------------------------------------------------------------------------
static void add_samples(AdviceCase *c, const CasePart *part) {
    const KernelView *v = part->view;
    for (u32 pc = 0; pc < v->insn_count; pc++)
        for (u32 r = 0; r < STALL_COUNT; r++) c->stalls[r] += part->weight * (f64)v->samples[pc].all[r];
    c->load.latency += part->weight * (f64)v->total_latency;
}

// Samples of a GPU say too seldom that a scheduler issued nothing, the more so where warps are in line for it: of the
// rate that follows from them CUPTI counts RATE_COUNTED - RATE_IN_LINE * their share of the samples, 0.83 to 1.17 times
// (45 kernels on an H200, bench/advice/h200-rates.tsv).
#define RATE_COUNTED 0.95
#define RATE_IN_LINE 0.35
#define TOO_HIGH (1 / 0.83)

static bool is_sampled(const AdviceCase *c) { return !strcmp(c->view->provenance, "sampled"); }

static f64 issue_rate(const AdviceCase *c) {
    const MetricSet *m = &c->view->metrics;
    f64 slots = m->value[METRIC_ISSUE_ACTIVE] + m->value[METRIC_ISSUE_STALLED];
    if (m->present[METRIC_ISSUE_ACTIVE] && slots > 0) return m->value[METRIC_ISSUE_ACTIVE] / slots;
    f64 rate = c->load.latency > 0 ? 1 - c->load.latency / c->load.total : 0;
    if (is_sampled(c)) rate *= RATE_COUNTED - RATE_IN_LINE * case_share(c, c->load.not_selected);
    f64 by_warps = c->warps > 0 ? c->warps * c->load.issued / c->load.total : 0;
    return fmin(rate > 0 ? rate : by_warps > 0 ? by_warps : c->load.issued / c->load.total, 1);
}

// Warps of a scheduler by Little's law. No more are resident than fit: what is above is the rate's fault.
static void find_warps(AdviceCase *c) {
    EstimateLoad *load = &c->load;
    f64 fit = c->gpu ? c->view->occupancy.warps_per_sm / (f64)c->gpu->warp_schedulers : 0;
    c->warps = load->issue_rate * load->total / load->issued;
    if (fit <= 0 || c->warps <= fit) return;
    load->issue_rate *= fit / c->warps;
    c->warps = fit;
}

// Samples of one weight that would be as sure as those of all parts (KernelView.effective).
static f64 sure_as(const AdviceCase *c) {
    f64 squares = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const KernelView *v = c->parts[p].view;
        if (v->effective > 0) squares += c->parts[p].weight * (f64)v->total * ((f64)v->total / v->effective);
    }
    return squares > 0 ? c->load.total * c->load.total / squares : 0;
}

static void find_samples(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) add_samples(c, &c->parts[p]);
    for (u32 r = 0; r < STALL_COUNT; r++) c->load.total += c->stalls[r];
    c->load.issued = c->stalls[STALL_SELECTED];
    c->load.not_selected = c->stalls[STALL_NOT_SELECTED] + c->stalls[STALL_DISPATCH];
    c->load.barrier = c->stalls[STALL_BARRIER];
    c->warps = c->view->occupancy.warps_per_scheduler;
    c->load.issue_rate = issue_rate(c);
    bool known = c->view->occupancy.achieved_known || c->load.latency <= 0 || c->load.issued <= 0;
    // Counted as resident are also warps that are being started, and those whose CTA has not left yet.
    f64 running = c->load.issued > 0 ? c->load.issue_rate * c->load.total / c->load.issued : 0;
    if (!known)
        find_warps(c);
    else if (running > 0 && running < c->warps)
        c->warps = running;
    c->samples = c->view->basis == VIEW_CYCLES ? INFINITY : sure_as(c);
    if (is_sampled(c)) c->load.too_high = TOO_HIGH;
}

static f64 fixed_part(const KernelView *view) {
    const ViewLaunches *l = &view->launches;
    return view->gpu ? limit_fixed(view->gpu, l->count, l->total_ns * (f64)view->gpu->clock_mhz / 1000) : 0;
}

// --- units by instruction ------------------------------------------------------------------------------------------
// Cycles of the scheduler's unit for one machine instruction.
static f64 interval_of(const GpuModel *g, UnitClass unit, Resource *resource) {
    switch (unit) {
    case UNIT_ALU: return *resource = RESOURCE_ALU, g ? (f64)g->alu_interval : 2;
    case UNIT_FMA: return *resource = RESOURCE_FMA, g ? (f64)g->fma_interval : 1;
    case UNIT_FMAHEAVY: return *resource = RESOURCE_FMAHEAVY, g ? (f64)g->fmaheavy_interval : 2;
    case UNIT_FP64: return *resource = RESOURCE_FP64, g ? (f64)g->fp64_interval : 2;
    case UNIT_XU: return *resource = RESOURCE_XU, g ? (f64)g->xu_interval : 8;
    default: return *resource = RESOURCE_COUNT, 0;
    }
}

// Cycles of the L1 for each line of a load whose lanes go anywhere: it looks up four at once, if their banks differ
// (bench/hwref/h200-micro.tsv, gather/load_4/random_of_512: 11.1 cycles for 32 lines).
#define LINE_AT_RANDOM (11.1 / 32)

// What the L1 gives back fills 128 bytes of registers a cycle, also where all lanes load the same word
// (h200-l1-read.tsv: one/4 1.0, one/8 2.0, one/16 4.0).
static f64 returned_cycles(const CaseAccess *a) {
    return a->load && !a->atomic ? fmax(ceil(a->lanes * a->bytes / BYTES_OF_LINE), 1) : 1;
}

f64 access_l1_cycles(const CaseAccess *a, f64 sectors, f64 passes) {
    if (access_is_shared(a)) return passes;
    if (a->turns > 0 && sectors >= a->sectors && sectors > a->fewest * 1.5) return a->turns;
    f64 packed = ceil(sectors / SECTORS_PER_LINE),
        lines = sectors <= a->fewest * 1.5 ? packed : fmin(sectors, a->lanes);
    if (a->gathered) lines *= LINE_AT_RANDOM;
    return fmax(fmax(lines, packed), returned_cycles(a));
}

// Requests of which the L1 knows: a guard that differs between threads is false for whole warps too, in how many is not
// known: in half of them.
static f64 requests_made(const CasePart *part, const CaseAccess *a) {
    bool differs = divergence_of_guard(part->view->flow.divergence, a->pc);
    return a->known != ACCESS_COUNTED && differs ? a->requests / 2 : a->requests;
}

static void use_of_access(const AdviceCase *c, const CasePart *part, CaseInsn *in, f64 per_slot) {
    const CaseAccess *a = &part->accesses[in->access];
    f64 schedulers = c->gpu ? (f64)c->gpu->warp_schedulers : 4;
    in->use[RESOURCE_LSU] = requests_made(part, a) * access_l1_cycles(a, a->sectors, a->passes) * schedulers * per_slot;
    f64 behind_l1 = a->load && !a->atomic ? c->l1_miss : 1;
    if (!access_is_shared(a))
        in->use[RESOURCE_L2] = in->use[RESOURCE_DRAM] = a->requests * a->sectors * behind_l1 * per_slot;
}

// A PTX instruction that became a sequence uses other units than its own; what they are is seen in the counters.
#define SEQUENCE 3.5  // machine instructions

static bool is_sequence(const AdviceCase *c, const CasePart *part, u32 pc) {
    return part->view->kind == VIEW_PTX && c->view->metrics.present[METRIC_PIPE_ALU] && part->insns[pc].issued > 0 &&
           part->insns[pc].access == WL_NONE && insn_steps(part, pc) > SEQUENCE;
}

static void add_uses(AdviceCase *c, CasePart *part, f64 per_slot, f64 sums[RESOURCE_COUNT]) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        CaseInsn *in = &part->insns[pc];
        const FlowInsn *flow = case_insn(part, pc);
        Resource resource;
        in->held = in->issued * insn_held(c, part, pc);
        c->load.held += in->held;
        f64 interval = interval_of(c->gpu, (UnitClass)flow->unit, &resource);
        if (resource == RESOURCE_FMAHEAVY && c->gpu && insn_is_wide_product(part, pc))
            interval = fmax(interval, (f64)c->gpu->wide_interval);
        if (in->access != WL_NONE)
            use_of_access(c, part, in, per_slot);
        else if (flow->unit == UNIT_LSU)
            in->use[RESOURCE_LSU] = in->issued * (c->gpu ? (f64)c->gpu->warp_schedulers : 4) * per_slot;
        else if (resource != RESOURCE_COUNT && !is_sequence(c, part, pc))
            in->use[resource] = in->issued * interval * per_slot;
        for (u32 r = 0; r < RESOURCE_COUNT; r++) sums[r] += in->use[r];
    }
}

// --- what counters say ---------------------------------------------------------------------------------------------
// What is counted of a unit's work and single instructions do not explain is that of the sequences.
static void give_to_sequences(AdviceCase *c, const f64 busy[RESOURCE_COUNT], f64 sums[RESOURCE_COUNT]) {
    static const u8 units[] = {RESOURCE_ALU, RESOURCE_FMA, RESOURCE_FMAHEAVY, RESOURCE_FP64, RESOURCE_XU};
    f64 all = 0;
    for (u32 step = 0; step < 2; step++)
        for (u32 p = 0; p < c->part_count; p++)
            for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++) {
                if (!is_sequence(c, &c->parts[p], pc)) continue;
                CaseInsn *in = &c->parts[p].insns[pc];
                if (!step) all += in->issued;
                for (u32 i = 0; step && i < WL_COUNT(units); i++)
                    in->use[units[i]] = fmax(busy[units[i]] - sums[units[i]], 0) * in->issued / all;
            }
    for (u32 i = 0; all > 0 && i < WL_COUNT(units); i++) sums[units[i]] = fmax(sums[units[i]], busy[units[i]]);
}

static void scale_uses(CasePart *part, const f64 factor[RESOURCE_COUNT]) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        for (u32 r = 0; r < RESOURCE_COUNT; r++) part->insns[pc].use[r] *= factor[r];
}

static void find_turns(AdviceCase *c, CasePart *part, f64 per_slot) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        CaseInsn *in = &part->insns[pc];
        if (in->executed > 0) in->turn = in->use[RESOURCE_LSU] / (in->executed * per_slot);
        c->load.turns += in->use[RESOURCE_LSU] * in->turn;
    }
}

// --- queues --------------------------------------------------------------------------------------------------------
static void find_unit_queues(AdviceCase *c, const CasePart *part) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        Resource resource;
        interval_of(c->gpu, (UnitClass)case_insn(part, pc)->unit, &resource);
        f64 waits = (f64)part->view->samples[pc].all[STALL_MATH_PIPE_THROTTLE] * part->weight;
        if (resource != RESOURCE_COUNT) c->load.queued[resource] += waits;
    }
}

// How many loads of global memory from `first` on lie one behind the other on the way to the value: each needs what the
// one before it brought.
static u32 loads_behind(const CasePart *part, u32 node, u32 first, u32 steps) {
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE || !steps) return 0;
    const ChainNode *n = &chains->nodes[node];
    u32 most = 0;
    for (u32 a = 0; n->insn == WL_NONE && a < n->arg_count; a++)
        most = u32_max(most, loads_behind(part, chains->args[n->args + a], first, steps - 1));
    const FlowInsn *in = n->insn == WL_NONE ? NULL : case_insn(part, n->insn);
    if (!in || n->insn < first ||
        (in->is_load && !in->is_atomic && in->space != SPACE_GLOBAL && in->space != SPACE_NONE))
        return most;
    for (u32 u = 0; u < in->uses; u++)
        most = u32_max(most, loads_behind(part, chains->of_operand[in->operands + in->defs + u], first, steps - 1));
    return most + in->is_load;
}

// Loads of a block that are under way together: what starts behind the place where those before it are waited for waits
// once more.
typedef struct Rounds {
    u32 end;             // where the round's loads are waited for longest; of no round yet, or no wait: most == 0
    f64 most;            // ... samples there
    f64 waits, longest;  // samples of the round, and of that with most of them
} Rounds;

// Samples of the load's own waits, not of those at barriers for warps that were at it.
static f64 waits_of_load(const CasePart *part, u32 pc) {
    f64 waits = 0;
    for (u32 i = part->first_blaming[pc]; i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *e = &part->blame->edges[part->blaming[i]];
        if (e->class != BLAME_BARRIER) waits += e->samples * part->weight;
    }
    return waits;
}

static void add_to_rounds(Rounds *r, const CasePart *part, u32 pc, f64 waits) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    if (r->most > 0 && pc >= r->end) r->most = r->waits = 0;
    r->waits += waits;
    r->longest = fmax(r->longest, r->waits);
    for (u32 i = part->first_blaming[pc]; i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *e = &part->blame->edges[part->blaming[i]];
        bool behind = e->use > pc && block_of[e->use] == block_of[pc] && e->class != BLAME_WAR;
        f64 samples = behind && e->reason == STALL_LONG_SCOREBOARD ? e->samples * part->weight : 0;
        if (samples > r->most) r->most = samples, r->end = e->use;
    }
}

// Cycles from the issue of a block's loads of global memory to their last data, as warps were seen waiting for them:
// each sample of an issue stands for one cycle. Of loads that need each other's data one's share of it, of those that
// are waited for before others start the longest wait. Loads that are not waited for make it an underestimate. Returns
// the first access of the next block.
static u32 latency_of_block(CasePart *part, u32 first, f64 *waits, f64 *latency) {
    const FlowResults *flow = &part->view->flow;
    u32 block = flow->cfg->block_of[part->accesses[first].pc], next = first, depth = 1;
    f64 requests = 0, lines = 0;
    Rounds rounds = {0};
    for (*waits = 0; next < part->access_count; next++) {
        const CaseAccess *a = &part->accesses[next];
        const FlowInsn *in = case_insn(part, a->pc);
        if (flow->cfg->block_of[a->pc] != block) break;
        if (!a->load || !access_is_global(a)) continue;
        f64 own = waits_of_load(part, a->pc);
        *waits += own;
        add_to_rounds(&rounds, part, a->pc, own);
        requests = fmax(requests, a->requests);
        if (a->requests > 0) lines += ceil(a->fewest / SECTORS_PER_LINE);
        if (in->address_use == 0xff) continue;
        u32 node = flow->chains->of_operand[in->operands + in->defs + in->address_use];
        depth = u32_max(depth, 1 + loads_behind(part, node, flow->cfg->blocks[block].first, LOADED_STEPS));
    }
    f64 serial = rounds.longest > 0 ? fmax(*waits / rounds.longest, depth) : depth;
    *latency = requests > 0 ? *waits / requests / serial : 0;
    for (u32 i = first; i < next; i++)
        if (part->accesses[i].load && access_is_global(&part->accesses[i]))
            part->accesses[i].latency = *latency, part->accesses[i].serial = serial,
            part->accesses[i].together = fmax(lines / serial, 1);
    return next;
}

// SM cycles that DRAM takes besides the way there: a row is opened and read, half of the lines lie in the other
// partition of the L2, and now and then a bank is being refreshed. Of counted latencies that is taken for waiting, as
// the simulator's records have it.
static f64 dram_access(const AdviceCase *c) {
    const GpuModel *g = c->gpu;
    if (!is_sampled(c)) return 0;
    f64 refresh = g->t_refi ? (f64)g->t_rfc * (f64)g->t_rfc / (2 * (f64)g->t_refi) : 0;
    f64 cycles = (f64)(g->t_rcd + g->t_cl + g->t_burst) + refresh;
    return (f64)g->l2_crossing / 2 + (g->dram_clock_mhz ? cycles * (f64)g->clock_mhz / (f64)g->dram_clock_mhz : 0);
}

f64 case_idle_latency(const AdviceCase *c, f64 past_l1, f64 past_l2) {
    const GpuModel *g = c->gpu;
    f64 dram = (f64)g->dram_latency + dram_access(c);
    return (f64)g->l1_latency + past_l1 * ((f64)g->l2_latency + past_l2 * dram);
}

// Cycles that the last of twice as many lines comes later on an idle machine: 323, 366, 395 and 441 of 1, 2, 4 and 8
// from the L2, 703, 843, 910, 996 and 1,140 of 1 to 16 from DRAM (bench/hwref/h200-far-loads.tsv: lines).
#define LATER_FROM_L2 36.0
#define LATER_FROM_DRAM 100.0

f64 case_idle_last(const AdviceCase *c, f64 past_l1, f64 past_l2, f64 lines) {
    f64 doublings = lines > 1 && is_sampled(c) ? log2(lines) : 0;
    f64 later = LATER_FROM_L2 + past_l2 * (LATER_FROM_DRAM - LATER_FROM_L2);
    return case_idle_latency(c, past_l1, past_l2) + past_l1 * later * doublings;
}

bool part_has_atomics(const CasePart *part) {
    for (u32 i = 0; i < part->access_count; i++)
        if (part->accesses[i].atomic && access_is_global(&part->accesses[i])) return true;
    return false;
}

static bool is_in_l2(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    f64 bytes = access_array_bytes(part, a);
    return bytes > 0 && bytes <= (f64)c->gpu->l2_usable;
}

// A warp whose lanes go anywhere waits for the slowest of them: where it waits less than for DRAM, or the L2 holds what
// they go anywhere in, none of them is there, and what it waits longer than for the L2 is a queue.
static bool gathers_from_l2(const AdviceCase *c, const CasePart *part, u32 first, u32 end, f64 latency) {
    f64 gathers = 0, held = 0, all = 0;
    for (u32 i = first; i < end; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!a->load || !access_is_global(a)) continue;
        all += part->insns[a->pc].blamed;
        if (a->gathered) gathers += part->insns[a->pc].blamed;
        if (a->gathered && is_in_l2(c, part, a)) held += part->insns[a->pc].blamed;
    }
    return (gathers > GATHERED * all && latency < case_idle_latency(c, 1, 1)) ||
           (held > GATHERED * all && !part_has_atomics(part));
}

// Cycles that an access waits in the L1's queue: where warps wait for a place in it, it is full, and serves those that
// are in it at the rate at which the SM issues accesses (Little's law). 0: it is not full.
static f64 line_when_full(const AdviceCase *c) {
    f64 requests = 0, throttled = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const u64 *samples = c->parts[p].view->samples[c->parts[p].accesses[i].pc].all;
            requests += c->parts[p].accesses[i].requests;
            throttled += (f64)(samples[STALL_LG_THROTTLE] + samples[STALL_MIO_THROTTLE]) * c->parts[p].weight;
        }
    if (!c->gpu || requests <= 0 || case_share(c, throttled) < L1_QUEUED || c->load.issue_rate <= 0) return 0;
    f64 a_cycle = requests / c->load.issued * c->load.issue_rate * (f64)c->gpu->warp_schedulers;
    return (f64)c->gpu->lsu_queue / a_cycle;
}

// Cycles that the block's loads would take on an idle machine: as if from DRAM, but for what is there before DRAM could
// have it although it has waited in a full queue. The slowest lane's slice is the farthest.
static f64 idle_of_block(const AdviceCase *c, bool of_l2, f64 latency, f64 lines, f64 line) {
    if (!c->gpu) return 0;
    if (of_l2) return case_idle_latency(c, 1, 0) + (f64)c->gpu->noc_spread;
    f64 dram = case_idle_last(c, 1, 1, lines), nearer = fmax(latency - line, (f64)c->gpu->l1_latency);
    return line > 0 ? fmin(dram, nearer) : dram;
}

// Means over blocks, weighted by their waits; `idle`: of an idle machine.
static f64 sampled_latency(AdviceCase *c, f64 *idle) {
    f64 sum = 0, weights = 0, from_l2 = 0, line = line_when_full(c), waits, latency;
    *idle = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count;) {
            u32 next = latency_of_block(&c->parts[p], i, &waits, &latency);
            bool of_l2 = c->gpu && gathers_from_l2(c, &c->parts[p], i, next, latency);
            *idle += waits * idle_of_block(c, of_l2, latency, c->parts[p].accesses[i].together, line);
            from_l2 += of_l2 ? waits : 0;
            sum += waits * latency;
            weights += waits;
            i = next;
        }
    if (weights > 0) *idle /= weights;
    c->gathers_l2 = from_l2 > GATHERED * weights;
    return weights > 0 ? sum / weights : 0;
}

// Until the last of so many loads that are under way together is there: one that misses is enough.
static f64 latency_of(const AdviceCase *c, f64 loads) {
    return case_idle_latency(c, fmin(loads * c->past_l1, 1), c->past_l2);
}

f64 case_part_together(const AdviceCase *c, f64 together, f64 times) {
    if (!c->gpu || c->latency <= 0) return 1 - 1 / times;
    return fmax(1 - latency_of(c, together * times) / latency_of(c, together) / times, 0);
}

// Of the latency of loads, what is above that of an idle machine is waiting for others.
static f64 waiting_part(AdviceCase *c) {
    const MetricSet *m = &c->view->metrics;
    const GpuModel *g = c->gpu;
    f64 idle_sampled;  // of an idle machine, with as many of the loads' lanes in the L2 as samples say
    f64 sampled = sampled_latency(c, &idle_sampled);
    c->of_l1 = 1;
    if (!g || !g->l1_latency) return 0;
    bool measured = m->present[METRIC_LOAD_CYCLES] && m->value[METRIC_LOADS_ENDED] > 0;
    f64 latency = measured ? m->value[METRIC_LOAD_CYCLES] / m->value[METRIC_LOADS_ENDED] : sampled;
    // Hits of lines that are under way wait for them as the misses do.
    f64 past_l1 = fmin(c->l1_miss + ratio(m, METRIC_L1_GLOBAL_LD_PENDING, METRIC_GLOBAL_LD_SECT), 1),
        there = ratio(m, METRIC_L2_READ_HITS, METRIC_L2_READS) - ratio(m, METRIC_L2_READ_PENDING, METRIC_L2_READS),
        past_l2 = m->present[METRIC_L2_READ_HITS] ? 1 - there : c->l2_miss;
    bool counted = measured || c->misses_known || sampled <= 0;
    f64 idle = counted ? case_idle_latency(c, past_l1, past_l2) : idle_sampled;
    f64 waiting = latency > idle ? 1 - idle / latency : 0;
    c->latency = measured ? latency : 0;
    c->past_l1 = past_l1, c->past_l2 = past_l2;
    c->gathers_l2 &= !counted;
    if (measured) c->of_l1 = waiting + (1 - waiting) * (f64)g->l1_latency / idle;
    return waiting;
}

static void find_misses(AdviceCase *c) {
    const MetricSet *m = &c->view->metrics;
    c->l1_miss = c->l2_miss = 1;
    if (m->value[METRIC_L1_SECTORS] > 0) c->l1_miss -= ratio(m, METRIC_L1_HITS, METRIC_L1_SECTORS);
    if (m->value[METRIC_GLOBAL_LD_SECT] > 0 && m->present[METRIC_L1_GLOBAL_LD_HITS])
        c->l1_miss = 1 - fmin(ratio(m, METRIC_L1_GLOBAL_LD_HITS, METRIC_GLOBAL_LD_SECT), 1);
    if (m->value[METRIC_L2_SECTORS] > 0) c->l2_miss -= ratio(m, METRIC_L2_HITS, METRIC_L2_SECTORS);
    c->misses_known = m->value[METRIC_L1_SECTORS] > 0;
    c->waiting = waiting_part(c);
}

// Waits for accesses: through the L1, and for global memory through what lies behind, whichever is busiest. Special
// registers come through the queue of the L1 as well, and stores that a warp's end waits for.
static void find_memory_queues(AdviceCase *c, const CasePart *part) {
    EstimateLoad *load = &c->load;
    for (u32 i = 0; i < part->blame->edge_count; i++) {
        const BlameEdge *e = &part->blame->edges[i];
        Resource queue;
        f64 samples = e->samples * part->weight, in_line = case_in_line(c, part, e, &queue);
        bool loads = e->reason == STALL_LONG_SCOREBOARD && case_access(part, e->def);
        load->queued[queue] += samples * in_line;
        if (loads && part->insns[e->def].use[RESOURCE_DRAM] > 0) load->from_dram += samples;
    }
}

static void find_queues(AdviceCase *c) {
    EstimateLoad *load = &c->load;
    case_find_behind(c);
    for (u32 p = 0; p < c->part_count; p++) {
        find_unit_queues(c, &c->parts[p]);
        find_memory_queues(c, &c->parts[p]);
    }
    c->full = case_full_queue(c);
    load->queued[c->full] += c->stalls[STALL_LG_THROTTLE];
    load->queued[case_slow_unit(c)] += c->stalls[STALL_MIO_THROTTLE];
}

static f64 launch_busy(const AdviceCase *c) {
    const ViewLaunches *l = &c->view->launches;
    const GpuModel *g = c->gpu;
    if (!g || !l->typical || l->total_ns <= 0) return 0;
    f64 ctas = 0, cycles = l->total_ns * (f64)g->clock_mhz / 1000 * (1 - c->fixed);
    for (u32 i = 0; i < l->count; i++) ctas += (f64)l->rows[i]->grid[0] * l->rows[i]->grid[1] * l->rows[i]->grid[2];
    return limit_starts(g, ctas, c->view->occupancy.warps_per_cta, cycles);
}

// A unit at its limit has warps waiting for a place in its queue. Without them what was estimated for it is too much.
#define NO_QUEUE 0.02     // of the samples
#define MOSTLY 0.8        // of what accesses are known to take
#define MOST_WITHOUT 0.6  // busy: with more, the queue would be seen (M/M/1: 1.5 are in it on average)

static f64 most_by_queues(const AdviceCase *c, Resource resource) {
    if (resource == RESOURCE_LSU && c->l1_full) return 1;
    f64 waits = resource == RESOURCE_LSU  ? c->stalls[STALL_LG_THROTTLE] + c->stalls[STALL_MIO_THROTTLE]
                : resource == RESOURCE_XU ? c->stalls[STALL_MATH_PIPE_THROTTLE] + c->stalls[STALL_MIO_THROTTLE]
                                          : c->stalls[STALL_MATH_PIPE_THROTTLE];
    return case_share(c, waits) < NO_QUEUE ? MOST_WITHOUT : 1;
}

// Many warps that wait for a place in the queue of the L1 say that it is busy, whatever accesses are known to take: of
// a server with random arrivals busy^2 / (1 - busy) wait (M/M/1). `samples`: of waits in the queue.
static f64 busy_by_line(const AdviceCase *c, f64 samples) {
    f64 waiting = case_share(c, samples) * c->warps * (c->gpu ? (f64)c->gpu->warp_schedulers : 4);
    return (sqrt(waiting * waiting + 4 * waiting) - waiting) / 2;
}

static f64 least_by_queue(const AdviceCase *c) { return busy_by_line(c, c->stalls[STALL_LG_THROTTLE]); }

// Loads wait for longer than L1, L2 or DRAM explain, behind atomics in shared memory: the L1 takes both in turn, so
// that its queue need not be full where each warp has but one atomic and the loads of the next turn in it.
static f64 busy_by_shared_atomics(AdviceCase *c, f64 known, f64 others, f64 per_slot) {
    f64 queue = c->stalls[STALL_MIO_THROTTLE], behind = c->waiting * case_waits_by_shared_atomics(c);
    if (fmax(known, others) > EXPLAINED || case_share(c, queue + behind) < NO_QUEUE) return known;
    return case_shared_atomics(c, known, busy_by_line(c, queue + behind), per_slot);
}

// What is missing is taken by arrays in local memory, of which lanes access different elements: how many is not known.
static f64 give_to_arrays(CasePart *part, f64 missing, f64 requests) {
    f64 all = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (a->space != SPACE_LOCAL || a->known != ACCESS_UNKNOWN) continue;
        all += a->requests;
        if (requests > 0) part->insns[a->pc].use[RESOURCE_LSU] += missing * a->requests / requests;
    }
    return all;
}

static f64 busy_by_queue(AdviceCase *c, f64 known) {
    f64 busy = least_by_queue(c), requests = 0;
    if (busy <= known) return known;
    for (u32 p = 0; p < c->part_count; p++) requests += give_to_arrays(&c->parts[p], 0, 0);
    if (requests <= 0) return known;
    for (u32 p = 0; p < c->part_count; p++) give_to_arrays(&c->parts[p], busy - known, requests);
    return busy;
}

// Cycles that a warp waits for the block's accesses when all resident warps are in line for the L1, over those that it
// waited: an L1 that is full is seen in latencies too, where warps have but one access under way.
static bool fills_l1(const AdviceCase *c, const CasePart *part, u32 access) {
    const CaseAccess *a = &part->accesses[access];
    const u32 *block_of = part->view->flow.cfg->block_of;
    f64 cycles = 0;
    for (u32 i = access; i-- > 0 && block_of[part->accesses[i].pc] == block_of[a->pc];) access = i;
    for (u32 i = access; i < part->access_count && block_of[part->accesses[i].pc] == block_of[a->pc]; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (b->load && !access_is_shared(b)) cycles += access_l1_cycles(b, b->sectors, b->passes);
    }
    return c->warps > 0 && a->latency * a->serial > c->warps * (c->gpu ? (f64)c->gpu->warp_schedulers : 4) * cycles;
}

// Accesses to global memory have a queue of their own: without waits in it they do not fill the L1, however many
// sectors a stride that is known at launch only was taken to touch.
static void bound_by_queue(AdviceCase *c, f64 *sum) {
    f64 all = 0, full = 0, most = MOST_WITHOUT;
    if (case_share(c, c->stalls[STALL_LG_THROTTLE]) >= NO_QUEUE) return;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CasePart *part = &c->parts[p];
            f64 use = access_is_shared(&part->accesses[i]) ? 0 : part->insns[part->accesses[i].pc].use[RESOURCE_LSU];
            all += use;
            if (use > 0 && part->accesses[i].load && fills_l1(c, part, i)) full += use;
        }
    c->l1_full = full > MOSTLY * all;
    if (all <= most || c->l1_full) return;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++)
            if (!access_is_shared(&c->parts[p].accesses[i]))
                c->parts[p].insns[c->parts[p].accesses[i].pc].use[RESOURCE_LSU] *= most / all;
    *sum -= all - most;
}

// The rate of issue, and with it what accesses take, may be as much higher as it may be lower: by so much where the
// line for the L1 says that it works more. Behind shared memory (MIO) warps wait for the special function unit as well:
// `others`: how busy that is.
static f64 raised_by_line(AdviceCase *c, f64 known, f64 others) {
    f64 mio = known >= others ? c->stalls[STALL_MIO_THROTTLE] : 0;
    f64 line = busy_by_line(c, c->stalls[STALL_LG_THROTTLE] + mio);
    f64 times = known > 0 ? fmin(line / known, TOO_HIGH) : 1;
    if (!is_sampled(c) || times <= 1) return known;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++) c->parts[p].insns[pc].use[RESOURCE_LSU] *= times;
    return known * times;
}

// Where nothing was counted.
static void infer(AdviceCase *c, f64 busy[RESOURCE_COUNT], f64 sums[RESOURCE_COUNT], f64 per_slot) {
    c->active = sms_active(c);
    sums[RESOURCE_DRAM] = busy[RESOURCE_DRAM] = case_dram_busy(c);
    sums[RESOURCE_L2] = case_l2_busy(c);
    busy[RESOURCE_L2] = fmin(sums[RESOURCE_L2], 1);
    bound_by_queue(c, &sums[RESOURCE_LSU]);
    sums[RESOURCE_LSU] = raised_by_line(c, busy_by_queue(c, sums[RESOURCE_LSU]), sums[RESOURCE_XU]);
    sums[RESOURCE_LSU] =
        busy_by_shared_atomics(c, sums[RESOURCE_LSU], fmax(busy[RESOURCE_L2], busy[RESOURCE_DRAM]), per_slot);
    if (sums[RESOURCE_LSU] < EXPLAINED && busy[RESOURCE_L2] < EXPLAINED && busy[RESOURCE_DRAM] < EXPLAINED)
        sums[RESOURCE_L2] = busy[RESOURCE_L2] = fmax(busy[RESOURCE_L2], case_l2_gathers(c));
    c->load.most[RESOURCE_L2] = case_most_busy(c, RESOURCE_L2);
    c->load.most[RESOURCE_DRAM] = case_most_busy(c, RESOURCE_DRAM);
}

static void find_customers(AdviceCase *c) {
    EstimateLoad *load = &c->load;
    f64 of_scheduler = fmax(load->issue_rate * load->total / load->issued, 1);
    if (!c->gpu) return;
    load->customers[RESOURCE_LSU] = of_scheduler * (f64)c->gpu->warp_schedulers;
    // An SM's places for CTAs wait for it to start one in them.
    load->customers[RESOURCE_LAUNCH] =
        fmin(c->view->occupancy.ctas_per_sm, c->view->occupancy.waves * c->view->occupancy.ctas_per_sm);
    load->customers[RESOURCE_ATOMIC] = load->customers[RESOURCE_LSU] * (f64)c->gpu->sms;
    if (c->gpu->l2_slices)
        load->customers[RESOURCE_L2] =
            of_scheduler * (f64)(c->gpu->warp_schedulers * c->gpu->sms) / (f64)c->gpu->l2_slices;
}

// Part of the SMs' time with CTAs. Where it was not counted no more SMs have some than there are CTAs.
static f64 sms_at_work(const AdviceCase *c, const LimitFacts *facts) {
    const ViewOccupancy *o = &c->view->occupancy;
    bool counted = c->view->metrics.present[METRIC_SM_ACTIVE] || o->waves <= 0;
    return counted ? facts->sms : fmin(o->waves * o->ctas_per_sm, 1);
}

Status case_find_load(AdviceCase *c) {
    f64 sums[RESOURCE_COUNT] = {0}, factor[RESOURCE_COUNT];
    find_samples(c);
    c->fixed = fixed_part(c->view);
    if (c->load.issued <= 0) return STATUS_OK;
    f64 per_slot = c->load.issue_rate / c->load.issued;
    find_misses(c);
    TRY(case_find_phases(c));
    case_find_trips(c);
    case_bound_by_warps(c);
    case_join_stores(c);
    for (u32 p = 0; p < c->part_count; p++) add_uses(c, &c->parts[p], per_slot, sums);
    LimitFacts counted = limit_facts(&c->view->metrics, c->gpu, c->fixed);
    f64 *busy = counted.busy;
    give_to_sequences(c, busy, sums);
    if (!c->view->metrics.present[METRIC_DRAM_PEAK]) infer(c, busy, sums, per_slot);
    busy[RESOURCE_LAUNCH] = launch_busy(c);
    for (u32 r = 0; r < RESOURCE_COUNT; r++) {
        bool only_counted = r == RESOURCE_L2 || r == RESOURCE_DRAM;
        f64 all = busy[r] > 0 ? busy[r] : only_counted ? 0 : fmin(sums[r], most_by_queues(c, (Resource)r));
        c->load.busy[r] = fmin(all, 1);
        factor[r] = sums[r] > 0 ? c->load.busy[r] / sums[r] : 0;
    }
    for (u32 p = 0; p < c->part_count; p++) {
        scale_uses(&c->parts[p], factor);
        find_turns(c, &c->parts[p], per_slot);
    }
    find_queues(c);
    case_find_atomics(c, per_slot * sms_at_work(c, &counted));  // the whole GPU does them, however few SMs ask for them
    find_customers(c);
    return STATUS_OK;
}

#define MOST_WAITS 0.5  // of the samples

// --- in words ------------------------------------------------------------------------------------------------------
static const char *const limit_of_class[BLAME_CLASS_COUNT] = {
    [BLAME_GLOBAL] = "waits for global memory",
    [BLAME_LOCAL] = "waits for local memory",
    [BLAME_CONSTANT] = "waits for constants",
    [BLAME_TEXTURE] = "waits for textures",
    [BLAME_SHARED] = "waits for shared memory",
    [BLAME_ARITHMETIC] = "waits for results of arithmetic",
    [BLAME_SPECIAL] = "waits for special functions and conversions",
    [BLAME_SHUFFLE] = "waits for exchanges between lanes",
    [BLAME_SREG] = "waits for special registers, as the thread's index",
    [BLAME_TENSOR] = "waits for the matrix unit",
    [BLAME_WAR] = "waits until registers were read",
    [BLAME_ATOMIC] = "waits for atomics",
    [BLAME_ASYNC] = "waits for asynchronous copies",
    [BLAME_BARRIER] = "waits at barriers",
    [BLAME_FENCE] = "waits at fences",
    [BLAME_FETCH] = "waits for instructions",
    [BLAME_THROTTLE] = "waits for places in full queues",
    [BLAME_CONTROL] = "waits for branches",
    [BLAME_NOT_SELECTED] = "has more ready warps than issue slots",
    [BLAME_OTHER] = "waits",
};

const char *case_short(Arena *arena, const KernelView *view) {
    const ViewLaunches *l = &view->launches;
    if (limit_of(&(LimitFacts){.fixed = fixed_part(view), .sms = 1}).by != HELD_BY_LAUNCH) return "";
    return arena_printf(arena, "its launches are short (%.2g us): make them fewer and larger, or a CUDA graph",
                        l->total_ns / l->count / 1000);
}

static Limit limit_of_case(const AdviceCase *c) {
    LimitFacts facts = limit_facts(&c->view->metrics, c->gpu, c->fixed);
    facts.sms = sms_at_work(c, &facts);
    facts.issue = c->load.issue_rate;
    memcpy(facts.busy, c->load.busy, sizeof facts.busy);
    return limit_of(&facts);
}

const char *case_limit(AdviceCase *c) {
    f64 waits[BLAME_CLASS_COUNT] = {0};
    u32 most = 0;
    Limit limit = limit_of_case(c);
    const CasePart *where;
    u32 pc;
    f64 lock = case_spinning(c, SPIN_LOCK, &where, &pc),
        flag = lock > MOST_WAITS ? 0 : case_spinning(c, SPIN_FLAG, &where, &pc);
    if (lock > MOST_WAITS || flag > MOST_WAITS)
        return case_printf(c, "waits for %s at %s (%.0f %% of its warps' time)",
                           lock > MOST_WAITS ? "the lock" : "other threads", place_text(c, where, pc),
                           100 * fmax(lock, flag));
    f64 outside = case_outside(c, &where, &pc);
    if (outside > MOST_WAITS)
        return case_printf(c, "spends its time in %s at %s (%.0f %% of its warps' time)", callee_name(where, pc),
                           place_text(c, where, pc), 100 * outside);
    if (limit.by == HELD_BY_SMS) return case_printf(c, "leaves SMs idle (%.0f %% of their time)", 100 * limit.part);
    if (limit.by == HELD_BY_UNIT)
        return case_printf(c, "keeps %s busy (%.0f %% of the time)", resource_names[limit.unit], 100 * limit.part);
    if (limit.by == HELD_BY_ISSUE) return case_printf(c, "issues in %.0f %% of all cycles", 100 * limit.part);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].blame->edge_count; i++)
            waits[c->parts[p].blame->edges[i].class] += c->parts[p].weight * c->parts[p].blame->edges[i].samples;
    waits[BLAME_NOT_SELECTED] = 0;  // others issue meanwhile: no limit before they do all the time
    for (u32 i = 1; i < BLAME_CLASS_COUNT; i++)
        if (waits[i] > waits[most]) most = i;
    return case_printf(c, "%s (%.0f %% of its warps' time)", limit_of_class[most], 100 * case_share(c, waits[most]));
}
