// SPDX-License-Identifier: Apache-2.0
// occupancy-up: more warps would fit if CTAs took less of what limits them. occupancy-down: so many warps are resident
// that each evicts from the L1 what the others are about to use.
#include <math.h>

#include "analyze/advice/rule.h"
#include "gpu/occupancy.h"

#define USELESS 0.5  // of the shared memory: where more than that is read, halving it takes other data
#define FILLED 0.7   // of the warps that fit: with fewer resident on average, something else is the limit

static u32 least_of(u32 a, u32 b) { return a < b ? a : b; }

// CTAs that an SM would hold if they took so much, and if the limit `without` were gone; no more than the grid has.
static u32 ctas_with(const AdviceCase *c, OccupancyLimit without, u32 registers, u64 shared) {
    const KernelView *v = c->view;
    const ViewOccupancy *o = &v->occupancy;
    u32 threads = o->warps_per_cta * 32;
    GpuOccupancy fits = gpu_occupancy(c->gpu, registers, shared, threads);
    u32 ctas = least_of(fits.by_ctas, fits.by_warps);
    if (without != LIMIT_REGISTERS) ctas = least_of(ctas, fits.by_registers);
    if (without != LIMIT_SHARED) ctas = least_of(ctas, fits.by_shared);
    f64 of_grid = ceil(o->waves * o->ctas_per_sm);
    return of_grid < ctas ? (u32)of_grid : ctas;
}

static u32 ctas_without(const AdviceCase *c, OccupancyLimit without, u64 shared) {
    return ctas_with(c, without, kernel_view_registers(c->view), shared);
}

static u32 threads_of(const AdviceCase *c) {
    const u32 *block = c->view->launches.typical->block;
    return block[0] * block[1] * block[2];
}

// Registers of a thread with which so many CTAs fit.
static u32 registers_left(const AdviceCase *c, u32 ctas) {
    const u32 unit = (u32)c->gpu->register_unit, warps = ctas * c->view->occupancy.warps_per_cta;
    return (u32)c->gpu->registers_per_sm / warps / unit * unit / 32;
}

// Bytes of shared memory that a CTA makes use of, if most of what it asks for is of no use to it; 0: not known to be
// so.
static f64 useful_shared(const AdviceCase *c, OccupancyLimit limit) {
    f64 reach = limit == LIMIT_SHARED ? case_shared_reach(c) : 0;
    return reach < USELESS * (f64)kernel_view_shared_bytes(c->view) ? reach : 0;
}

// Of an SM: a quarter and more of them all have the 16 pairs of held_out_22 to 36 that shrink shared memory,
// afterwards.
enum { ENOUGH_WARPS = 24 };

static void look_at(AdviceCase *c, OccupancyLimit limit, const char *what) {
    const ViewOccupancy *o = &c->view->occupancy;
    u32 ctas = ctas_without(c, limit, kernel_view_shared_bytes(c->view));
    if (!(o->limits & 1u << limit) || ctas <= o->ctas_per_sm || !o->ctas_per_sm) return;
    // Half of the registers: further down values are spilled. Half of the shared memory: what is used is needed, as far
    // as is known; who shrinks a tile that leaves room for a few warps only does so until there are enough.
    f64 useful = useful_shared(c, limit);
    if (useful > 0)
        ctas = ctas_without(c, LIMIT_GRID, (u64)useful);  // with all limits
    else
        ctas = least_of(ctas, u32_max(o->ctas_per_sm * 2, limit == LIMIT_SHARED ? ENOUGH_WARPS / o->warps_per_cta : 0));
    if (ctas <= o->ctas_per_sm) return;
    if (c->warps * (f64)c->gpu->warp_schedulers < FILLED * o->warps_per_sm) return;  // it is not what keeps warps away
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    hit->change.warps = (f64)ctas / o->ctas_per_sm;
    hit_edit(hit, EDIT_RESIDENT, &c->parts[0], ctas, 1);
    hit_fact(hit, "theoretical_warps_per_sm", o->warps_per_sm, "warps", "an SM holds %u of %llu warps, limited by %s",
             o->warps_per_sm, (unsigned long long)c->gpu->max_threads_per_sm / 32, what);
    hit_fact(hit, "issue_rate", 100 * c->load.issue_rate, "%", "schedulers issue in %.0f %% of the cycles",
             100 * c->load.issue_rate);
    if (limit == LIMIT_REGISTERS)
        hit_fact(hit, "launch__registers_per_thread", kernel_view_registers(c->view), "registers",
                 "a thread has %u registers; __launch_bounds__(%u, %u) leaves it %u", kernel_view_registers(c->view),
                 threads_of(c), ctas, registers_left(c, ctas));
    hit_basis(hit, "equations 8 to 10, %.1f warps per scheduler instead of %.1f", c->warps * hit->change.warps,
              c->warps);
    if (useful > 0)
        hit_fact(hit, "useful_shared_bytes", useful, "bytes",
                 "of the %.1f KiB of shared memory of a CTA it reads %.*f%s",
                 (f64)kernel_view_shared_bytes(c->view) / 1024, useful < 1024 ? 0 : 1,
                 useful < 1024 ? useful : useful / 1024, useful < 1024 ? " bytes" : "");
    if (limit == LIMIT_REGISTERS) hit_caution(hit, "fewer registers may spill: look for local memory afterwards");
    hit_end_kernel(hit, "Let %u CTAs fit on an SM instead of %u by using %s", ctas, o->ctas_per_sm,
                   limit == LIMIT_REGISTERS ? "fewer registers" : "less shared memory");
}

// Of kernels that compute in half as many bits: 0.59 to 0.84 times, of eight with double or 64-bit integers (nvcc 13.0,
// sm_90; held_out_22 to 33: guitars, holidays, calendars, journeys, crates, cinemas, oceans, brines).
#define NARROW_REGISTERS 0.7

void hit_narrows(Hit *hit) {
    const AdviceCase *c = hit->c;
    const ViewOccupancy *o = &c->view->occupancy;
    if (!c->gpu || !c->view->launches.typical || o->waves <= 1 || !(o->limits & 1u << LIMIT_REGISTERS)) return;
    u32 registers = (u32)ceil(NARROW_REGISTERS * kernel_view_registers(c->view));
    u32 ctas = ctas_with(c, LIMIT_GRID, registers, kernel_view_shared_bytes(c->view));
    if (ctas <= o->ctas_per_sm || !o->ctas_per_sm) return;
    hit->change.warps = (f64)ctas / o->ctas_per_sm;
    hit_fact(hit, "ctas_of_narrow", ctas, "CTAs",
             "of %u registers of a thread some %u stay: an SM holds %u CTAs instead of %u",
             kernel_view_registers(c->view), registers, ctas, o->ctas_per_sm);
}

void rule_occupancy_up(AdviceCase *c) {
    if (!c->gpu || !c->view->launches.typical || c->view->occupancy.waves <= 1) return;
    look_at(c, LIMIT_SHARED, "shared memory");
    look_at(c, LIMIT_REGISTERS, "registers");
}

// --- occupancy-down ------------------------------------------------------------------------------------------------
enum { SECTOR = 32 };
#define THRASHING 1.5  // times the misses that a cache which keeps each sector until it is used up would have

typedef struct Walk {  // loads that come back to what they, or their neighbours, loaded before
    const CasePart *part;
    u32 pc;
    f64 sectors, fewest;  // looked up; brought if each is brought once
    f64 bytes;            // of the L1 that a CTA walks through before it comes back
    f64 most;
} Walk;

// Part of the sectors that have to be brought: lanes that each walk through memory of their own, in steps of less than
// a sector; *bytes: of a CTA.
static f64 brought_by_steps(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 *bytes) {
    i64 step = 0;
    if (affine_step(part->view->flow.affine, a->affine->form, part->insns[a->pc].loop, &step) != AFFINE_STRIDE_CONSTANT)
        return 1;
    if (step < 0) step = -step;
    if (step == 0 || step >= SECTOR || a->sectors <= 2 * a->fewest) return 1;
    *bytes = a->sectors * SECTOR * c->view->occupancy.warps_per_cta;
    return (f64)step / SECTOR;
}

// Nodes of the chains behind an address, those within a loop.
typedef struct Behind {
    const CasePart *part;
    u32 loop;
    Bitset seen;
    bool changes;
    Arena *scratch;
} Behind;

enum { BEHIND_DEPTH = 64 };

// A polynomial over what stays the same in all turns.
static bool is_known_to_stay(const Behind *b, u32 node) {
    const Affine *affine = b->part->view->flow.affine;
    const AffineForm *form = &affine->forms[node];
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[form->terms + t].factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[affine->terms[form->terms + t].factors[i]];
            if (f->kind == AFFINE_NODE || (f->kind == AFFINE_COUNTER && f->id == b->loop)) return false;
        }
    return true;
}

// Whether all definitions that a merge brings together have the same form; *first: one of them, WL_NONE at the begin.
static bool merges_the_same(const Behind *b, u32 node, u32 *first, Bitset *met, u32 depth) {
    const Chains *chains = b->part->view->flow.chains;
    if (node == WL_NONE || bitset_has(met, node)) return true;
    bitset_add(met, node);
    if (!depth) return false;
    if (!chain_is_merge(chains, node)) {
        if (*first == WL_NONE) *first = node;
        return is_known_to_stay(b, node) && affine_same_form(b->part->view->flow.affine, node, *first);
    }
    for (u32 i = 0; i < chains->nodes[node].arg_count; i++)
        if (!merges_the_same(b, chains->args[chains->nodes[node].args + i], first, met, depth - 1)) return false;
    return true;
}

static bool stays_all_the_same(const Behind *b, u32 node) {
    Bitset met;
    u32 first = WL_NONE;
    if (!chain_is_merge(b->part->view->flow.chains, node)) return false;
    if (!bitset_init(&met, b->scratch, b->part->view->flow.chains->node_count)) return false;
    return merges_the_same(b, node, &first, &met, BEHIND_DEPTH);
}

// Whether the value may differ between turns of the loop: then one is carried from turn to turn, or loaded.
static void look_behind(Behind *b, u32 node, u32 depth) {
    const FlowResults *flow = &b->part->view->flow;
    const Chains *chains = flow->chains;
    if (node == WL_NONE || b->changes || bitset_has(&b->seen, node)) return;
    bitset_add(&b->seen, node);
    const ChainNode *n = &chains->nodes[node];
    if (!flow_loop_has(flow->loops, b->loop, n->block) || is_known_to_stay(b, node)) return;
    bool carried = chain_is_merge(chains, node) && n->block == flow->loops->loops[b->loop].header;
    if (carried && stays_all_the_same(b, node)) return;
    bool loaded = !chain_is_merge(chains, node) && case_access(b->part, n->insn);
    if (carried || loaded || !depth) {
        b->changes = true;
        return;
    }
    for (u32 i = 0; i < n->arg_count; i++) look_behind(b, chains->args[n->args + i], depth - 1);
    if (chain_is_merge(chains, node)) return;
    const FlowInsn *in = case_insn(b->part, n->insn);
    for (u32 u = 0; u < in->uses; u++) look_behind(b, chains->of_operand[in->operands + in->defs + u], depth - 1);
}

static bool is_same_in_turns(AdviceCase *c, const CasePart *part, u32 pc, u32 loop) {
    const FlowInsn *in = case_insn(part, pc);
    Behind b = {.part = part, .loop = loop, .scratch = c->scratch};
    if (!bitset_init(&b.seen, c->scratch, part->view->flow.chains->node_count)) return false;
    for (u32 u = 0; u < in->uses; u++)
        look_behind(&b, part->view->flow.chains->of_operand[in->operands + in->defs + u], BEHIND_DEPTH);
    return !b.changes;
}

// Bytes that a CTA's warps load by the instruction in one turn of a loop around it.
static f64 bytes_of_turn(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop) {
    u32 own = part->insns[a->pc].loop;
    f64 turns = block_runs(part, part->view->flow.loops->loops[loop].header),
        times = turns > 0 ? a->requests / turns : 0;
    i64 step = 1;
    AffineStride kind =
        own == loop ? AFFINE_STRIDE_UNKNOWN : affine_step(part->view->flow.affine, a->affine->form, own, &step);
    if (kind == AFFINE_STRIDE_CONSTANT && !step) times = fmin(times, 1);
    f64 known = access_cta_bytes(c, part, a), bytes = times * a->lanes * a->bytes * c->view->occupancy.warps_per_cta;
    return known > 0 ? fmin(known, bytes) : bytes;
}

// ... or a loop whose turns all go through the same memory.
static f64 brought_by_turns(AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 *bytes) {
    const Loops *loops = part->view->flow.loops;
    for (u32 l = part->insns[a->pc].loop; l != WL_NONE; l = loops->loops[l].parent) {
        if (part->loops[l].trips < 2 || !is_same_in_turns(c, part, a->pc, l)) continue;
        *bytes = bytes_of_turn(c, part, a, l);
        return *bytes > 0 ? 1 / part->loops[l].trips : 1;
    }
    return 1;
}

static f64 brought(AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 *bytes) {
    *bytes = 0;
    if (!a->load || !access_is_global(a) || !a->affine || a->uniform || part->insns[a->pc].loop == WL_NONE) return 1;
    f64 by_steps = brought_by_steps(c, part, a, bytes);
    return by_steps < 1 ? by_steps : brought_by_turns(c, part, a, bytes);
}

static void add_walk(AdviceCase *c, const CasePart *part, const CaseAccess *a, Walk *w) {
    f64 bytes, once = brought(c, part, a, &bytes);
    if (once >= 1) return;
    w->sectors += a->requests * a->sectors;
    w->fewest += a->requests * a->sectors * once;
    w->bytes += bytes;
    if (a->requests > w->most) w->most = a->requests, w->part = part, w->pc = a->pc;
}

static void keep_fewer(AdviceCase *c, const Walk *w, f64 room) {
    const ViewOccupancy *o = &c->view->occupancy;
    f64 fit = fmin(fmax(floor(room / w->bytes), 1), o->ctas_per_sm - 1.0), after = w->fewest / w->sectors;
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    f64 fewer = 1 - after / c->l1_miss;
    for (u32 i = 0; i < w->part->access_count; i++) {
        const CaseAccess *a = &w->part->accesses[i];
        f64 bytes;
        if (brought(c, w->part, a, &bytes) >= 1) continue;
        hit_blamed(hit, w->part, a->pc, ~STALL_BIT(BARRIER), fewer);  // fewer CTAs cover less of those
        hit_relieve(hit, RESOURCE_L2, w->part->insns[a->pc].use[RESOURCE_L2] * fewer);
        if (c->misses_known) hit_relieve(hit, RESOURCE_DRAM, w->part->insns[a->pc].use[RESOURCE_DRAM] * fewer);
    }
    hit->change.warps = fit / o->ctas_per_sm;
    hit_edit(hit, EDIT_RESIDENT, &c->parts[0], (u32)fit, 1);
    hit->doubtful = !c->misses_known;
    if (c->misses_known)
        hit_fact(hit, "l1tex__t_sector_hit_rate.pct", 100 * (1 - c->l1_miss), "%",
                 "%.0f %% of the sectors hit the L1; %.0f %% would if each stayed until it was used up",
                 100 * (1 - c->l1_miss), 100 * (1 - after));
    f64 all = w->bytes * o->ctas_per_sm / 1024;
    hit_fact(hit, "l1_footprint", all * 1024, "bytes",
             "resident warps walk through %.0f KiB before they come back; the L1 has %.0f", all, room / 1024);
    hit_basis(hit, "equations 2 and 8 to 10: fewer misses, %.0f CTAs on an SM instead of %u", fit, o->ctas_per_sm);
    hit_end_kernel(hit, "Let %.0f CTAs be resident on an SM instead of %u, so that the L1 holds what they use", fit,
                   o->ctas_per_sm);
}

void rule_occupancy_down(AdviceCase *c) {
    const ViewOccupancy *o = &c->view->occupancy;
    Walk w = {0};
    if (!c->gpu || !o->ctas_per_sm || o->ctas_per_sm < 2 || !c->view->launches.typical) return;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) add_walk(c, &c->parts[p], &c->parts[p].accesses[i], &w);
    u64 shared = kernel_view_shared_bytes(c->view);
    f64 room = (f64)c->gpu->l1_size - (c->gpu->l1_unified ? (f64)(shared * o->ctas_per_sm) : 0);
    // Where misses were not counted, what is used again only after more than the L1 holds is taken for lost.
    f64 least = c->misses_known ? room : THRASHING * room;
    bool thrashes = w.sectors > 0 && c->l1_miss * w.sectors > THRASHING * w.fewest && w.bytes * o->ctas_per_sm > least;
    if (thrashes && room > w.bytes) keep_fewer(c, &w, room);
}
