// SPDX-License-Identifier: Apache-2.0
// block-increase, thread-increase, sm-balance, tail-effect: how the grid fills the machine.
#include <math.h>
#include <string.h>

#include "analyze/advice/rule.h"
#include "gpu/occupancy.h"

enum { WARP = 32, BLOCK_WARPS = 8, SECTOR = 32 };
#define MOST_FIXED 0.25    // in shorter kernels the starts of CTAs are what differs
#define MOST_SPINNING 0.2  // of the samples
#define MOST_OUTSIDE 0.5   // ... in the driver's code
#define EVEN 0.9           // of what equal CTAs would give; above, starts and ends of CTAs explain it

typedef struct Grid {
    f64 ctas, sms, per_sm;  // per_sm: CTAs that fit on an SM
    f64 rounds;             // CTAs of the busiest SM over those that fit
} Grid;

static bool find_grid(const AdviceCase *c, Grid *g) {
    const ProfileLaunch *l = c->view->launches.typical;
    const ViewOccupancy *o = &c->view->occupancy;
    if (!l || !c->gpu || !o->ctas_per_sm) return false;
    *g = (Grid){.ctas = (f64)l->grid[0] * l->grid[1] * l->grid[2], .sms = (f64)c->gpu->sms, .per_sm = o->ctas_per_sm};
    g->rounds = g->ctas / (g->sms * g->per_sm);
    return g->ctas > 0;
}

typedef struct MainLoop {
    u32 loop;                  // the hottest outermost one, WL_NONE: none is hot
    f64 turns;                 // 1: not known
    f64 copies;                // turns of the source's loop in one
    f64 outside;               // samples of issue outside of it, which further threads have as well
    f64 waits;                 // ... of stalls, but for the other warps of the CTA
    f64 uses[RESOURCE_COUNT];  // of what is outside of it
} MainLoop;

static MainLoop main_loop(const AdviceCase *c) {
    const CasePart *part = &c->parts[0];
    const Loops *loops = part->view->flow.loops;
    f64 best = 0;
    MainLoop m = {.loop = WL_NONE, .turns = 1, .copies = 1};
    for (u32 l = 0; l < loops->loop_count; l++) {
        f64 samples = part->loops[l].active + part->loops[l].stalled;
        if (loops->loops[l].parent != WL_NONE || samples <= best || loop_spins(part, l)) continue;
        best = samples;
        m.loop = l, m.turns = fmax(part->loops[l].trips, 1);
    }
    if (best <= 0.5 * c->load.total) m.loop = WL_NONE, m.turns = 1;
    if (m.loop != WL_NONE) m.copies = loop_copies(part, m.loop);
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (m.loop != WL_NONE && loop_has(part, m.loop, pc)) continue;
        m.outside += part->insns[pc].issued;
        m.waits += part->insns[pc].stalled - part->weight * (f64)part->view->samples[pc].all[STALL_BARRIER];
        for (u32 r = 0; r < RESOURCE_COUNT; r++) m.uses[r] += part->insns[pc].use[r];
    }
    return m;
}

// As the source has them.
static void tell_turns(Hit *hit, const MainLoop *loop) {
    f64 turns = loop->turns * loop->copies;
    hit_fact(hit, "loop_trip_count", turns, "turns", "a thread's loop turns %.0f times, which more threads could share",
             turns);
}

// --- block-increase ------------------------------------------------------------------------------------------------
// The same threads in smaller CTAs, so that all SMs have alike: from the fullest SM to the average.
static f64 evened_out(const AdviceCase *c, const Grid *g) {
    f64 fullest = ceil(g->ctas / g->sms), mean = g->ctas / g->sms;
    return c->view->occupancy.warps_per_cta > 1 ? fmax(mean / fullest, 1.0 / c->view->occupancy.warps_per_cta) : 1;
}

// Where the loop ends depends on the thread or the CTA: else it goes from one array, or from one step of time, to the
// next, each as large as the grid.
static bool ends_by_thread(AdviceCase *c, const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        const FlowBlock *block = &flow->cfg->blocks[b];
        bool leaves = false;
        if (!block->count || !flow_loop_has(flow->loops, loop, b)) continue;
        for (u32 i = 0; i < block->succ_count; i++)
            leaves |= !flow_loop_has(flow->loops, loop, flow->cfg->edges[block->succs + i]);
        if (leaves && guard_differs(c, part, block->first + block->count - 1)) return true;
    }
    return false;
}

// A loop that goes on by all threads' elements, where the size of the grid is written down as a number. (An argument
// that happens to be as much is the length of a row, or of a step of time.)
static bool steps_over_grid(AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    const ProfileLaunch *l = c->view->launches.typical;
    const Affine *affine = part->view->flow.written;
    const AffineForm *form = a->affine ? access_form_written(part, a) : NULL;
    i64 all = (i64)l->grid[0] * l->block[0] * a->bytes;
    if (!form || !all || l->grid[1] * l->grid[2] * l->block[1] * l->block[2] != 1) return false;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        const AffineFactor *f = term->factors[0] == WL_NONE ? NULL : &affine->factors[term->factors[0]];
        bool counter = f && f->kind == AFFINE_COUNTER && term->factors[1] == WL_NONE;
        if (counter && term->coefficient % all == 0 && ends_by_thread(c, part, f->id)) return true;
    }
    return false;
}

// A loop that goes on by as many elements as the grid has threads deals its work to any number of CTAs. Who only
// numbers threads of a grid of several dimensions asks for its size too.
static bool any_grid(AdviceCase *c) {
    const Affine *affine = c->view->flow.affine;
    for (u32 f = 0; f < affine->form_count; f++) {
        for (u32 t = 0; t < affine->forms[f].term_count; t++) {
            const AffineTerm *term = &affine->terms[affine->forms[f].terms + t];
            u32 loop = WL_NONE;
            bool grid = false;
            for (u32 i = 0; i < AFFINE_DEGREE && term->factors[i] != WL_NONE; i++) {
                const AffineFactor *factor = &affine->factors[term->factors[i]];
                if (factor->kind == AFFINE_COUNTER) loop = factor->id;
                grid |= factor->kind == AFFINE_SREG && factor->id == SREG_NCTAID;
            }
            if (loop != WL_NONE && grid && ends_by_thread(c, &c->parts[0], loop)) return true;
        }
    }
    for (u32 i = 0; i < c->parts[0].access_count; i++)
        if (steps_over_grid(c, &c->parts[0], &c->parts[0].accesses[i])) return true;
    return false;
}

// `more` times as many threads share the turns of the loop; each has what is outside of it for itself.
static void share_loop(Hit *hit, const Grid *g, const MainLoop *loop, f64 more) {
    f64 fullest = ceil(g->ctas * more / g->sms), before = ceil(g->ctas / g->sms);
    hit->change.work = fmin(fullest / more / before, 1);  // idle SMs take their part
    hit->change.warps = fmin(fullest, g->per_sm) / before;
    hit->change.issues = -loop->outside * (more - 1);
    hit->change.stalls = -loop->waits * (more - 1);
    for (u32 r = 0; r < RESOURCE_COUNT; r++) hit_relieve(hit, (Resource)r, -loop->uses[r] * (more - 1));
    tell_turns(hit, loop);
    hit_caution(hit,
                "if there are no further elements for further threads, the turns of a thread's loop have to be split, "
                "and results joined");
}

static f64 threads_of_cta(const AdviceCase *c) {
    const ProfileLaunch *l = c->view->launches.typical;
    return (f64)l->block[0] * l->block[1] * l->block[2];
}

// CTAs that end late because others made them wait, or the driver's code did that launches and prints, have no more
// work than those, and further ones would wait, too.
static bool wait_for_others(const AdviceCase *c) {
    const CasePart *part;
    u32 pc;
    if (case_outside(c, &part, &pc) > MOST_OUTSIDE) return true;
    return case_spinning(c, SPIN_LOCK, &part, &pc) + case_spinning(c, SPIN_FLAG, &part, &pc) > MOST_SPINNING;
}

void rule_block_increase(AdviceCase *c) {
    Grid g;
    if (!find_grid(c, &g) || g.rounds >= 1 || wait_for_others(c)) return;
    MainLoop loop = main_loop(c);
    if (threads_of_cta(c) < WARP && loop.turns > 1) return;  // lanes first
    bool shared = loop.loop != WL_NONE && loop_can_be_dealt(c, &c->parts[0], loop.loop);
    f64 more = shared || any_grid(c) ? floor(fmin(g.sms * g.per_sm / g.ctas, loop.turns)) : 1;
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    if (more >= 2)
        share_loop(hit, &g, &loop, more);
    else
        hit->change.work = hit->change.warps = evened_out(c, &g);  // the same warps, on more SMs
    if (hit->change.work > 0.99 && hit->change.warps < 1.01) return hit_drop(hit);
    hit_fact(hit, "launch__grid_size", g.ctas, "CTAs", "%.0f CTA%s on %.0f SMs, each of which holds %.0f", g.ctas,
             plural((u64)g.ctas), g.sms, g.per_sm);
    hit_basis(hit, "equations 6 to 10: %.2f of the work per SM, %.1f times the warps", hit->change.work,
              hit->change.warps > 0 ? hit->change.warps : 1);
    if (more >= 2 && any_grid(c))
        hit_end_kernel(hit, "Launch %.0f CTAs instead of %.0f, to fill all SMs", g.ctas * more, g.ctas);
    else if (more >= 2)
        hit_end_kernel(hit, "Split the loop at %s among %.0f CTAs instead of %.0f",
                       place_text(c, &c->parts[0], loop_line_pc(&c->parts[0], loop.loop)), g.ctas * more, g.ctas);
    else
        hit_end_kernel(hit, "Launch more and smaller CTAs than %.0f of %u threads, to load all SMs alike", g.ctas,
                       c->view->occupancy.warps_per_cta * WARP);
}

// --- thread-increase -----------------------------------------------------------------------------------------------
#define STARTING 0.8     // of the time: then CTAs end faster than others start, and warps are missing
#define WORTH_RAMP 0.03  // of the time

// A lane that walks through memory alone finds most words in the L1, as the last miss brought its neighbours; where all
// lanes work, each access of a warp brings new sectors. The samples that loads of the loop wait longer for it.
static f64 longer_waits(const AdviceCase *c, const CasePart *part, u32 loop, f64 threads) {
    f64 longer = 0, far = (f64)(c->gpu->l1_latency + c->gpu->l2_latency);
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool dense = a->affine && a->affine->stride_kind[0] == AFFINE_STRIDE_CONSTANT && a->affine->stride[0];
        if (!a->load || !access_is_global(a) || !dense || !loop_has(part, loop, a->pc) || a->latency >= far) continue;
        if (a->latency > 0 && threads * a->bytes < SECTOR) longer += part->insns[a->pc].blamed * (far / a->latency - 1);
    }
    return longer;
}

// CTAs of less threads than a warp has lanes: each further lane takes turns of the loop in instructions that are
// executed anyway, and each further warp in the waits.
static bool fill_lanes(AdviceCase *c, const Grid *g) {
    const CasePart *part = &c->parts[0];
    MainLoop loop = main_loop(c);
    f64 threads = threads_of_cta(c);
    bool shared = loop.loop != WL_NONE && loop_can_be_dealt(c, part, loop.loop);
    f64 more = shared ? fmin(floor(BLOCK_WARPS * WARP / threads), loop.turns) : 1;
    if (more < 2) return false;
    f64 lanes = fmin(WARP / threads, more);
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    hit->change.work = 1 / lanes;
    hit->change.warps = fmax(more / lanes, 1);
    hit->change.stalls = -longer_waits(c, part, loop.loop, threads);
    hit_fact(hit, "launch__block_size", threads, "threads",
             "a warp of a CTA of %.0f thread%s works with as many of its %d lanes", threads, threads > 1 ? "s" : "",
             WARP);
    tell_turns(hit, &loop);
    hit->doubtful = true;  // what threads share may be more than the loop
    if (g->ctas < g->sms)
        hit_caution(hit, "%.0f of %.0f SMs have a CTA: launch as many CTAs as there is work for, too", g->ctas, g->sms);
    hit_basis(hit, "equations 6 to 10: %.3g of the instructions, in %.0f warps", 1 / lanes, hit->change.warps);
    hit_end_kernel(hit, "Launch CTAs of %d threads instead of %.0f: share the loop at %s among them",
                   BLOCK_WARPS * WARP, threads, place_text(c, part, loop_line_pc(part, loop.loop)));
    return true;
}

// Warps that share a loop: their lanes take neighbouring elements, and they join their results behind it.
static bool shared_by_warps(const AdviceCase *c, const CasePart *part, u32 loop) {
    bool dense = false, joined = false;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool neighbours = a->load && a->apart == a->bytes && loop_has(part, loop, a->pc);
        dense |= neighbours && (access_is_global(a) || access_deals_tile(c, part, a, loop));
    }
    for (u32 pc = loop_header_pc(part, loop); pc < part->view->insn_count && dense && !joined; pc++)
        joined = part->insns[pc].traits & TRAIT_BARRIER && part->insns[pc].loop == WL_NONE;
    return joined;
}

// A grid that does not fill the machine with CTAs of few warps: further warps of a CTA take turns of the loop that its
// warps share.
static bool add_warps(AdviceCase *c, const Grid *g) {
    const CasePart *part = &c->parts[0];
    const ViewOccupancy *o = &c->view->occupancy;
    MainLoop loop = main_loop(c);
    bool fits = g->rounds < 1 && o->warps_per_cta < BLOCK_WARPS && !wait_for_others(c) && loop.loop != WL_NONE;
    if (!fits || !loop_can_be_dealt(c, part, loop.loop) || !shared_by_warps(c, part, loop.loop)) return false;
    f64 more = floor(fmin(fmin((f64)BLOCK_WARPS / o->warps_per_cta, loop.turns), 1 / g->rounds));
    if (more < 2) return false;
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    share_loop(hit, g, &loop, more);
    hit->change.work = 1;
    hit->change.warps = more;
    hit_fact(hit, "launch__block_size", threads_of_cta(c), "threads",
             "%.0f CTAs of %.0f threads are %.0f %% of what the GPU holds", g->ctas, threads_of_cta(c),
             100 * g->rounds);
    hit_basis(hit, "equations 6 to 10: %.0f times the warps", more);
    hit_end_kernel(hit, "Launch CTAs of %.0f threads instead of %.0f: share the loop at %s among them",
                   threads_of_cta(c) * more, threads_of_cta(c), place_text(c, part, loop_line_pc(part, loop.loop)));
    return true;
}

void rule_thread_increase(AdviceCase *c) {
    Grid g;
    const ViewOccupancy *o = &c->view->occupancy;
    bool known = find_grid(c, &g);
    if (known && threads_of_cta(c) < WARP ? fill_lanes(c, &g) : known && add_warps(c, &g)) return;
    if (known && share_tables(c)) return;
    bool full = known && o->limits & 1u << LIMIT_CTAS;
    f64 starting = c->load.busy[RESOURCE_LAUNCH], fewer = 1 - (f64)o->warps_per_cta / BLOCK_WARPS;
    // Where all CTAs fit at once, the last ones start as late as it takes to start the others, and nothing hides that.
    f64 ramp = known && g.rounds <= 1 && starting < STARTING ? starting * fewer : 0;
    if (!o->ctas_per_sm || o->warps_per_cta >= BLOCK_WARPS || (!full && starting < STARTING && ramp < WORTH_RAMP))
        return;
    f64 most = (f64)c->gpu->max_threads_per_sm / WARP, of_grid = ceil(g.ctas / g.sms) * o->warps_per_cta;
    f64 resident = c->warps > 0 ? c->warps * (f64)c->gpu->warp_schedulers : o->warps_per_sm;
    f64 after = fmin(most, of_grid);
    if (c->view->function->registers)
        after = fmin(after, (f64)c->gpu->registers_per_sm / (c->view->function->registers * (f64)WARP));
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    if (ramp > 0)
        hit->change.work = 1 - ramp;
    else
        hit->change.warps = fmax(after / resident, 1);
    hit_relieve(hit, RESOURCE_LAUNCH, starting * fewer);
    if (full)
        hit_fact(hit, "launch__block_size", o->warps_per_cta * WARP, "threads",
                 "an SM holds %u CTAs at most, which of %u threads are %u of %.0f warps", o->ctas_per_sm,
                 o->warps_per_cta * WARP, o->warps_per_sm, most);
    if (starting >= STARTING || ramp > 0)
        hit_fact(hit, "cta_start_busy", 100 * starting, "%", "starting and ending CTAs takes %.0f %% of the time",
                 100 * starting);
    hit_fact(hit, "sm__warps_active.avg.per_cycle_active", resident, "warps", "%.1f warps are resident on average",
             resident);
    if (ramp > 0)
        hit_basis(hit, "CTAs start one after the other before anything can end: %.0f %% of the time", 100 * ramp);
    else
        hit_basis(hit, "equations 8 to 10, %.1f warps on an SM instead of %.1f", after, resident);
    hit_end_kernel(hit, "Launch CTAs of %u threads instead of %u", BLOCK_WARPS * WARP, o->warps_per_cta * WARP);
}

// --- sm-balance, tail-effect ---------------------------------------------------------------------------------------
// Time with CTAs of the average SM, over that of the longest; 1 = not known. Of samples: an SM with a resident warp
// gives one each period (measured on an H200: a kernel that fills it gives 0.99 of that, one on 64 of its 132 SMs
// 0.48).
static f64 sampled_part(const AdviceCase *c) {
    const ViewLaunches *l = &c->view->launches;
    bool usable =
        c->view->basis == VIEW_SAMPLES && !strcmp(c->view->provenance, "sampled") && l->total_ns > 0 && c->gpu;
    if (!usable || !c->view->period) return 1;
    f64 cycles = l->total_ns * (f64)c->gpu->clock_mhz / 1000 * (f64)c->gpu->sms;
    f64 part = c->load.total * (f64)c->view->period / cycles / (1 - c->fixed);
    return part > 0 && part < 1 ? part : 1;
}

static f64 active_part(const AdviceCase *c) {
    const MetricSet *m = &c->view->metrics;
    if (c->view->launches.alike < MOSTLY_ALIKE) return 1;
    if (m->value[METRIC_SM_ELAPSED] <= 0 || !m->present[METRIC_SM_ACTIVE]) return sampled_part(c);
    return fmin(m->value[METRIC_SM_ACTIVE] / m->value[METRIC_SM_ELAPSED] / (1 - c->fixed), 1);
}

// What CTAs that all take as long would give: SMs have a whole number of them, and the last wave is not full.
// The first wave's CTAs start one after the other, and so they end: on average an SM waits for half of that.
static f64 even_part(const AdviceCase *c, const Grid *g) {
    f64 mean = g->ctas / g->sms, by_waves = g->rounds > 1 ? g->rounds / ceil(g->rounds) : 1;
    f64 ramp = c->load.busy[RESOURCE_LAUNCH] / fmax(g->rounds, 1) / 2;
    return fmin(mean / ceil(mean), by_waves) * (1 - fmin(ramp, 0.5));
}

// Warps that CTAs of equal length would keep resident, over those that were on average; 1: not known. Where all CTAs
// start at once, an SM whose short ones have ended goes on with fewer warps.
#define IN_LINE \
    0.1  // of the samples; warps that wait for their turn have no use for others, and how many there are is not sure

static f64 launched_over_resident(const AdviceCase *c, const Grid *g) {
    f64 resident = c->warps * (f64)c->gpu->warp_schedulers,
        at_start = g->ctas / g->sms * c->view->occupancy.warps_per_cta;
    if (c->view->launches.alike < MOSTLY_ALIKE || g->rounds > 1 || resident <= 0 || at_start <= resident ||
        case_share(c, c->load.not_selected) > IN_LINE)
        return 1;
    return at_start / resident;
}

// ... as far as they are of use: more are of none to loads that queue already.
static f64 missing_warps(const AdviceCase *c, const Grid *g) {
    return 1 + (launched_over_resident(c, g) - 1) * (1 - c->waiting);
}

// Samples may be lost, which looks like SMs without work. But CTAs go to the SM that has room: at the end of many waves
// SMs wait for no more than the longest of them.
#define LONGEST_CTA 2.0  // times the mean
// Where so many warps are in line for the schedulers and CTAs follow CTAs an H200 loses samples: two fifths of
// black_scholes', whose SMs have CTAs for 98 % of the time (Nsight Compute) and all equal ones; as many of materials'.
// Of seven kernels whose CTAs are all resident at once it lost none.
#define MOST_IN_LINE 0.4

static f64 credible_part(const AdviceCase *c, const Grid *g) {
    f64 active = active_part(c);
    bool counted = c->view->metrics.present[METRIC_SM_ACTIVE];
    if (!counted && g->rounds > 1 && case_share(c, c->load.not_selected) > MOST_IN_LINE) return 1;
    return counted || g->rounds <= 1 ? active : fmax(active, 1 - LONGEST_CTA / g->rounds);
}

f64 sms_active(AdviceCase *c) {
    Grid g;
    if (!find_grid(c, &g) || c->fixed > MOST_FIXED || g.rounds > 1) return 1;
    f64 active = active_part(c);
    return active < EVEN * even_part(c, &g) && ctas_may_differ(c) ? active : 1;
}

f64 warps_missing(const AdviceCase *c) {
    Grid g;
    if (!find_grid(c, &g) || c->fixed > MOST_FIXED || c->view->occupancy.warps_per_cta < 2) return 1;
    return credible_part(c, &g) < EVEN * even_part(c, &g) ? 1 : launched_over_resident(c, &g);
}

static u32 hottest_block(const CasePart *part) {
    u32 hottest = 0;
    for (u32 pc = 1; pc < part->view->flow.code->insn_count; pc++) {
        const CaseInsn *in = &part->insns[pc], *most = &part->insns[hottest];
        if (in->issued + in->stalled > most->issued + most->stalled) hottest = pc;
    }
    return part->view->flow.cfg->block_of[hottest];
}

// Samples of what cannot be dealt any further, for each time that a warp did it: of one turn of the outermost loop that
// has the longest, or of all that a warp does where there is no loop.
static f64 longest_turn(const CasePart *part, f64 total) {
    const Loops *loops = part->view->flow.loops;
    f64 longest = 0, runs;
    for (u32 l = 0; l < loops->loop_count; l++) {
        if (loops->loops[l].parent != WL_NONE || (runs = block_runs(part, loops->loops[l].header)) <= 0) continue;
        longest = fmax(longest, (part->loops[l].active + part->loops[l].stalled) / runs);
    }
    if (loops->loop_count) return longest;
    runs = block_runs(part, hottest_block(part));
    return runs > 0 ? total / runs : 0;
}

// Part of a launch's time that a warp needs for it. A sample of an issue stands for one cycle, so samples over runs are
// cycles. 0 = not known.
static f64 smallest_piece(const AdviceCase *c) {
    const ViewLaunches *l = &c->view->launches;
    if (l->total_ns <= 0 || !l->count || !c->parts[0].view->executed) return 0;
    f64 cycles = l->total_ns / l->count * (f64)c->gpu->clock_mhz / 1000 * (1 - c->fixed);
    return cycles > 0 ? fmin(longest_turn(&c->parts[0], c->load.total) / cycles, 1) : 0;
}

// Turns of the loop over what a CTA is dealt: the outermost one with most of the time; 0: there is none.
static f64 pieces_of_cta(const CasePart *part) {
    const Loops *loops = part->view->flow.loops;
    f64 most = 0, pieces = 0;
    for (u32 l = 0; l < loops->loop_count; l++) {
        f64 all = part->loops[l].active + part->loops[l].stalled;
        if (loops->loops[l].parent == WL_NONE && all > most) most = all, pieces = part->loops[l].trips;
    }
    return pieces;
}

// What dealing in turn leaves, over the average CTA's time. Work that grows evenly from CTA to CTA, the longest being
// twice the average, becomes even. What is longer is a few long pieces, of which CTAs have more or less by chance: the
// largest of N sums of k pieces is sqrt(2 ln N) standard deviations above the average (the largest of N normal
// numbers), each of which is sqrt(k) times a piece's. Sizes of pieces: beta(1, b), that is (1 - size / longest)^(b -
// 1).
static f64 left_by_chance(const AdviceCase *c, const Grid *g, f64 longest) {
    f64 pieces = pieces_of_cta(&c->parts[0]), b = longest - 1;
    if (longest <= 2 || pieces < 1 || g->ctas < 2) return 0;
    return (1 - 2 / longest) * sqrt(b / (b + 2)) * sqrt(2 * log(g->ctas) / pieces);
}

void rule_sm_balance(AdviceCase *c) {
    Grid g;
    if (!find_grid(c, &g) || c->fixed > MOST_FIXED) return;
    f64 active = credible_part(c, &g);
    f64 even = even_part(c, &g), missing = missing_warps(c, &g);
    f64 piece =
        fmax(smallest_piece(c), 1 - warps_alive(c));  // few warps of a CTA are left, which has no more to give away
    if (active >= EVEN * even || piece > EVEN || wait_for_others(c)) return;
    if (!c->view->metrics.present[METRIC_SM_ACTIVE] && !ctas_may_differ(c)) return;  // samples were lost
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    f64 uneven = left_by_chance(c, &g, even / active * missing);
    hit->change.work = fmin(fmax(active / even * (1 + uneven), piece), 1);
    hit->change.stays = piece;
    hit->change.warps = missing;
    hit->doubtful = !c->view->metrics.present[METRIC_SM_ACTIVE];
    hit_fact(
        hit, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 100 * active, "%",
        "the average SM has CTAs for %.3g %% of the time between the first and the last; equal CTAs would make that "
        "%.3g %%",
        100 * active, 100 * even);
    if (piece > active / even)
        hit_fact(hit, "turn_pct_of_launch", 100 * piece, "%",
                 "what a warp does in one turn takes %.0f %% of a launch and cannot be dealt out", 100 * piece);
    if (missing > 1)
        hit_fact(hit, "sm__warps_active.avg.per_cycle_active", c->warps * (f64)c->gpu->warp_schedulers, "warps",
                 "all CTAs start at once, %.0f warps to an SM; on average %.1f of them still run",
                 g.ctas / g.sms * c->view->occupancy.warps_per_cta, c->warps * (f64)c->gpu->warp_schedulers);
    hit_basis(hit, "equation 10: the average SM's time instead of the longest");
    hit_end_kernel(hit, "Give all SMs equal work: deal long and short parts of the data to CTAs in turn");
}

// Time of the last wave, in full ones: with fewer warps each SM issues less often, but has less to issue.
static f64 last_wave(const AdviceCase *c, const Grid *g) {
    f64 left = g->rounds - floor(g->rounds), ctas = ceil(left * g->per_sm), full = g->per_sm;
    f64 ready =
        c->load.issued / (c->load.total - c->load.not_selected);  // of the cycles, without the others in the way
    f64 warps = ctas * c->view->occupancy.warps_per_cta / (f64)c->gpu->warp_schedulers;
    f64 rate_of_last = fmin(warps * ready, c->load.issue_rate);
    return left <= 0 || rate_of_last <= 0 ? 0 : ctas / full * c->load.issue_rate / rate_of_last;
}

// Waves of CTAs of BLOCK_WARPS warps: still a whole number of them on each SM. CTAs that are as small already can only
// be made to divide.
static f64 waves_of_smaller(const AdviceCase *c, const Grid *g) {
    f64 pieces = floor((f64)c->view->occupancy.warps_per_cta / BLOCK_WARPS);
    return pieces > 1 ? ceil(g->ctas * pieces / g->sms) / (g->per_sm * pieces) : g->rounds;
}

void rule_tail_effect(AdviceCase *c) {
    Grid g;
    if (!find_grid(c, &g) || g.rounds <= 1 || g.rounds > 8) return;
    f64 waves = floor(g.rounds) + last_wave(c, &g), even = waves_of_smaller(c, &g) / waves, active = active_part(c);
    if (even > 0.97) return;
    Hit *hit = hit_begin(c);
    hit_of_shape(hit);
    hit->change.work = active < 1 ? fmax(even, active) : even;
    hit->change.stays = g.rounds / ceil(g.rounds);
    hit_fact(hit, "launch__waves_per_multiprocessor", g.rounds, "waves",
             "%.0f CTAs are %.2f times what the GPU holds: the last wave is %.0f %% full", g.ctas, g.rounds,
             100 * (g.rounds - floor(g.rounds)));
    hit_basis(hit, "equations 8 to 10: %.2f waves of work in the time of %.2f", g.rounds, waves);
    hit_end_kernel(hit, "Make the last wave of CTAs full: smaller CTAs, or a number of them that divides");
}
