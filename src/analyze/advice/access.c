// SPDX-License-Identifier: Apache-2.0
// What each access to memory costs: counted where the profile has counts, else from the stride between lanes, which
// the affine analysis knows of most accesses.
#include "analyze/advice/rule.h"

#include <math.h>
#include <string.h>

enum { WARP = 32, SECTOR = 32, LINE = 128, BANKS = 32, BANK_BYTES = 4 };
enum { AHEAD_NODES = 64, AHEAD_BLOCKS = 64 };  // that an address is made of within a loop; that choose between ways

typedef struct AccessMetrics {
    MetricId requests, amount, conflicts;  // conflicts: METRIC_COUNT: none
} AccessMetrics;

static const AccessMetrics metrics_global[] = {
    {METRIC_GLOBAL_LD_REQ, METRIC_GLOBAL_LD_SECT, METRIC_COUNT},
    {METRIC_GLOBAL_ST_REQ, METRIC_GLOBAL_ST_SECT, METRIC_COUNT},
    {METRIC_GLOBAL_ATOM_REQ, METRIC_GLOBAL_ATOM_SECT, METRIC_COUNT},
    {METRIC_GLOBAL_RED_REQ, METRIC_GLOBAL_RED_SECT, METRIC_COUNT},
    {METRIC_LOCAL_LD_REQ, METRIC_LOCAL_LD_SECT, METRIC_COUNT},
    {METRIC_LOCAL_ST_REQ, METRIC_LOCAL_ST_SECT, METRIC_COUNT},
};
static const AccessMetrics metrics_shared[] = {
    {METRIC_SHARED_LD, METRIC_SHARED_LD_WAVEFRONTS, METRIC_SHARED_LD_CONFLICTS},
    {METRIC_SHARED_ST, METRIC_SHARED_ST_WAVEFRONTS, METRIC_SHARED_ST_CONFLICTS},
    {METRIC_SHARED_ATOM, METRIC_SHARED_ATOM_WAVEFRONTS, METRIC_SHARED_ATOM_CONFLICTS},
};

static f64 fewest_sectors(const CaseAccess *a) {
    return a->uniform && a->space != SPACE_LOCAL ? ceil((f64)a->bytes / SECTOR)
                                                 : fmax(ceil(a->lanes * a->bytes / SECTOR), 1);
}
// 16 bytes are served to half of the lanes at a time, also where all want the same (Nsight Compute counts 2.05
// wavefronts on an H200, held_out_2/attention.cu).
static f64 fewest_passes(const CaseAccess *a) {
    return a->uniform ? (a->bytes > 8 ? 2 : 1) : fmax(ceil(a->lanes * a->bytes / (BANKS * BANK_BYTES)), 1);
}

// --- counted -------------------------------------------------------------------------------------------------------
static void take_counts(CaseAccess *a, const MetricSet *m) {
    f64 inst = m->value[METRIC_INST];
    if (inst > 0 && m->present[METRIC_THREAD_INST_ON]) a->lanes = fmax(m->value[METRIC_THREAD_INST_ON] / inst, 1);
    a->fewest = fewest_sectors(a);
    a->fewest_passes = fewest_passes(a);
    for (u32 i = 0; i < WL_COUNT(metrics_global); i++) {
        f64 requests = m->value[metrics_global[i].requests];
        if (requests <= 0) continue;
        a->sectors = m->value[metrics_global[i].amount] / requests;
        a->fewest = fmin(a->fewest, a->sectors);
        a->known = ACCESS_COUNTED;
        if (a->space == SPACE_NONE) a->space = i < 4 ? SPACE_GLOBAL : SPACE_LOCAL;
    }
    for (u32 i = 0; i < WL_COUNT(metrics_shared); i++) {
        f64 requests = m->value[metrics_shared[i].requests];
        if (requests <= 0) continue;
        a->passes = m->value[metrics_shared[i].amount] / requests;
        a->fewest_passes = fmax(a->passes - m->value[metrics_shared[i].conflicts] / requests, 1);
        a->known = ACCESS_COUNTED;
        if (a->space == SPACE_NONE) a->space = SPACE_SHARED;
    }
}

static bool has_counts(const KernelView *view) { return view->executed != NULL; }

// --- from the stride -----------------------------------------------------------------------------------------------
// Lanes of a warp along each axis of the CTA.
static void lane_of(const ProfileLaunch *launch, u32 lane, i64 at[3]) {
    u32 x = launch && launch->block[0] ? launch->block[0] : WARP, y = launch && launch->block[1] ? launch->block[1] : 1;
    at[0] = lane % x;
    at[1] = lane / x % y;
    at[2] = lane / x / y;
}

static bool offsets_of(const AffineAccess *affine, const ProfileLaunch *launch, i64 offsets[WARP]) {
    for (u32 lane = 0; lane < WARP; lane++) {
        i64 at[3];
        lane_of(launch, lane, at);
        offsets[lane] = 0;
        for (u32 axis = 0; axis < 3; axis++) {
            if (!at[axis]) continue;
            if (affine->stride_kind[axis] == AFFINE_STRIDE_UNKNOWN) return false;
            // A stride that is known at launch only is a row's: far beyond a sector.
            i64 stride = affine->stride_kind[axis] == AFFINE_STRIDE_CONSTANT ? affine->stride[axis] : 1 << 20;
            offsets[lane] += at[axis] * stride;
        }
    }
    return true;
}

// Different pieces of memory of 2^shift bytes.
static f64 count_pieces(const i64 offsets[WARP], u32 bytes, u32 shift) {
    i64 seen[2 * WARP];
    u32 count = 0;
    for (u32 lane = 0; lane < WARP; lane++) {
        for (i64 s = offsets[lane] >> shift; s <= (offsets[lane] + (i64)bytes - 1) >> shift; s++) {
            u32 i = 0;
            while (i < count && seen[i] != s) i++;
            if (i == count && count < WL_COUNT(seen)) seen[count++] = s;
        }
    }
    return count;
}

static f64 count_sectors(const i64 offsets[WARP], u32 bytes) { return count_pieces(offsets, bytes, 5); }
static f64 count_lines(const i64 offsets[WARP], u32 bytes) { return count_pieces(offsets, bytes, 7); }

// Passes over the banks: the most different words that one bank has to give, for lanes served together.
static f64 count_passes(const i64 offsets[WARP], u32 bytes) {
    u32 group = bytes > 4 ? 16 : 32;
    f64 passes = 0;
    for (u32 first = 0; first < WARP; first += group) {
        i64 words[BANKS][WARP];
        u32 count[BANKS] = {0}, most = 1;
        for (u32 lane = first; lane < first + group; lane++) {
            for (i64 w = offsets[lane] >> 2; w <= (offsets[lane] + (i64)bytes - 1) >> 2; w++) {
                u32 bank = (u32)(w & (BANKS - 1)), i = 0;
                while (i < count[bank] && words[bank][i] != w) i++;
                if (i == count[bank] && i < WARP) words[bank][count[bank]++] = w;
                if (count[bank] > most) most = count[bank];
            }
        }
        passes += most;
    }
    return passes;
}

// Turns of the L1 for lanes in strides: loads take one for four lines, and one for each word of the fullest bank
// (bench/hwref/h200-micro.tsv: gather/load_4/32_lines/own_banks 8.0 cycles; stride/load_l1/8 to 128: 2.2, 4.2, 8.2,
// 15.5, 32), stores one for each line (stride/store/8 to 64: 2.1, 4.0, 8.0, 15.9).
enum { LINES_AT_ONCE = 4 };

static f64 count_turns(const CaseAccess *a, const i64 offsets[WARP]) {
    f64 lines = count_lines(offsets, a->bytes);
    return a->store ? lines : fmax(ceil(lines / LINES_AT_ONCE), count_passes(offsets, a->bytes));
}

bool node_is_loaded(const CasePart *part, u32 node, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE) return false;
    const ChainNode *n = &chains->nodes[node];
    if (n->insn != WL_NONE && case_insn(part, n->insn)->is_load) {
        u8 space = case_insn(part, n->insn)->space;
        return space == SPACE_GLOBAL || space == SPACE_SHARED || space == SPACE_NONE;
    }
    if (!depth) return false;
    for (u32 a = 0; n->insn == WL_NONE && a < n->arg_count; a++)
        if (node_is_loaded(part, chains->args[n->args + a], depth - 1)) return true;
    const FlowInsn *in = n->insn == WL_NONE ? NULL : case_insn(part, n->insn);
    for (u32 u = 0; in && u < in->uses; u++)
        if (node_is_loaded(part, chains->of_operand[in->operands + in->defs + u], depth - 1)) return true;
    return false;
}

// An operand that is only added to the others.
static bool is_addend(const FlowInsn *in, u32 use) {
    switch ((FlowArith)in->arith) {
    case FLOW_ADD:
    case FLOW_ADD3:
    case FLOW_SUB: return true;
    case FLOW_MULADD: return use == 2;
    default: return false;
    }
}

// Whether what was loaded says how far lanes are apart. What is the same for all of them and is added, as where a CTA's
// part begins, does not; a factor does.
static bool differs_by_data(const CasePart *part, u32 node, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    if (node == WL_NONE || !bitset_has(&flow->divergence->nodes, node)) return false;
    const ChainNode *n = &flow->chains->nodes[node];
    const FlowInsn *in = n->insn == WL_NONE ? NULL : case_insn(part, n->insn);
    if (!depth || (in && in->is_load)) return node_is_loaded(part, node, 0);
    for (u32 a = 0; !in && a < n->arg_count; a++)
        if (differs_by_data(part, flow->chains->args[n->args + a], depth - 1)) return true;
    for (u32 u = 0; in && u < in->uses; u++) {
        u32 used = flow->chains->of_operand[in->operands + in->defs + u];
        bool shared = used != WL_NONE && !bitset_has(&flow->divergence->nodes, used);
        if (shared ? !is_addend(in, u) && node_is_loaded(part, used, depth - 1)
                   : differs_by_data(part, used, depth - 1))
            return true;
    }
    return false;
}

// Each lane goes where its data sends it.
static bool is_by_data(const CasePart *part, const CaseAccess *a) {
    const FlowInsn *in = case_insn(part, a->pc);
    if (in->address_use == 0xff || (a->affine && a->affine->uniform)) return false;
    return differs_by_data(part, part->view->flow.chains->of_operand[in->operands + in->defs + in->address_use],
                           LOADED_STEPS);
}

static bool is_gathered(const CasePart *part, const CaseAccess *a) {
    return a->space != SPACE_LOCAL && is_by_data(part, a);
}

// Different words of the stack frame that 32 lanes pick at random: each is a line of its own, in which their copies of
// it lie next to each other.
static f64 local_words(const CasePart *part, const CaseAccess *a) {
    f64 words = (f64)part->view->function->local_bytes / fmax(a->bytes, 4);
    return words > 1 ? words * (1 - pow(1 - 1 / words, WARP)) : 1;
}

// --- from trying out -------------------------------------------------------------------------------------------------
enum { TRIALS = 4 };
#define DIFFERENT 0.25  // of the mean, between trials: then what was drawn decides

// Arithmetic that is no stride: thread % 64, thread / 8, exclusive or. Passes over the banks of shared memory, on
// average of the trials; false: what was drawn decides.
static bool try_shared(const AdviceCase *c, const CasePart *part, CaseAccess *a, u32 warps) {
    f64 passes = 0, least = INFINITY, most = 0;
    for (u32 trial = 0; trial < TRIALS; trial++) {
        i64 offsets[WARP];
        if (!lanes_of_address(c, part, a->pc, trial, trial % warps, offsets)) return false;
        f64 cost = count_passes(offsets, a->bytes);
        least = fmin(least, cost), most = fmax(most, cost);
        passes += cost / TRIALS;
    }
    if (most - least > DIFFERENT * most) return false;
    a->fewest_passes = fmin(a->fewest_passes, passes);  // fewer where lanes share words
    a->passes = passes;
    return true;
}

// Bytes from one lane to the next; 0: not the same for all.
static i64 step_of(const i64 offsets[WARP]) {
    for (u32 lane = 2; lane < WARP; lane++)
        if (offsets[lane] - offsets[lane - 1] != offsets[1]) return 0;
    return offsets[1];
}

// What trials say of global memory: means over them, and of sectors the fewest and the most.
typedef struct Tried {
    f64 sectors, lines, turns, least, most;
} Tried;

static void add_trial(Tried *t, const CaseAccess *a, const i64 offsets[WARP], u32 trials) {
    f64 own = count_sectors(offsets, a->bytes);
    t->least = t->sectors > 0 ? fmin(t->least, own) : own;
    t->most = fmax(t->most, own);
    t->sectors += own / trials;
    t->lines += count_lines(offsets, a->bytes) / trials;
    t->turns += count_turns(a, offsets) / trials;
}

static bool try_draws(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 warps, u32 draws, Tried *t) {
    for (u32 draw = 0; draw < draws; draw++) {
        i64 offsets[WARP];
        if (!lanes_of_address(c, part, a->pc, draw, draw % warps, offsets)) return false;
        add_trial(t, a, offsets, draws);
    }
    return true;
}

static bool take_tried(CaseAccess *a, const Tried *t, i64 apart) {
    a->fewest = fmin(a->fewest, t->sectors);
    a->sectors = t->sectors;
    a->lines = t->lines;
    a->turns = t->turns;
    a->apart = apart;
    return true;
}

// Where no number that is known at launch only, as a pitch, has a say in how far lanes are apart: what is drawn for it
// is not aligned as real ones are.
static bool try_global(const AdviceCase *c, const CasePart *part, CaseAccess *a, u32 warps) {
    Tried t = {0};
    i64 offsets[WARP], again[WARP];
    for (u32 trial = 0; trial < TRIALS; trial++) {
        if (!lanes_of_address(c, part, a->pc, trial, trial % warps, offsets) ||
            !lanes_of_address(c, part, a->pc, trial + TRIALS, trial % warps, again) ||
            memcmp(offsets, again, sizeof offsets))
            return false;
        add_trial(&t, a, offsets, TRIALS);
    }
    return take_tried(a, &t, step_of(offsets));
}

// Whatever is drawn puts lanes into sectors of their own, as rows and planes do whose length is known at launch only;
// at the edges some lanes share one. SPREAD: of the lanes.
#define SPREAD 0.9

static bool try_spread(const AdviceCase *c, const CasePart *part, CaseAccess *a, u32 warps) {
    Tried t = {0};
    return try_draws(c, part, a, warps, TRIALS, &t) && t.least >= SPREAD * WARP && take_tried(a, &t, 0);
}

// A remainder is as far from its neighbour's as the numbers were that were divided, but where it begins anew. Whether
// the divisor, known at launch only or to data, is large decides how often that is, and in the first draws it is:
// lanes that meet, as those of a small one do, touch no more sectors. Where they go apart all the same, a factor that
// was drawn did it.
static bool try_divided(const AdviceCase *c, const CasePart *part, CaseAccess *a, u32 warps) {
    Tried t = {0};
    if (!try_draws(c, part, a, warps, LANES_LARGE_DRAWS, &t)) return false;
    bool alike = t.most - t.least <= DIFFERENT * t.most;
    return alike && t.sectors <= SPREAD * WARP && take_tried(a, &t, 0);
}

// Where drawn numbers have a say.
static bool try_drawn(const AdviceCase *c, const CasePart *part, CaseAccess *a, u32 warps) {
    u32 through = lanes_through(c, part, a->pc);
    if (through & LANES_DIVIDED) return try_divided(c, part, a, warps);
    return !through && try_spread(c, part, a, warps);
}

static bool take_trials(const AdviceCase *c, const CasePart *part, CaseAccess *a) {
    const ProfileLaunch *l = c->view->launches.typical;
    u32 warps = l ? (l->block[0] * l->block[1] * l->block[2] + WARP - 1) / WARP : 0;
    if (!warps || (!access_is_shared(a) && !access_is_global(a))) return false;
    bool tried = access_is_shared(a) ? try_shared(c, part, a, warps)
                                     : try_global(c, part, a, warps) || try_drawn(c, part, a, warps);
    if (tried) a->known = ACCESS_STATIC;
    return tried;
}

// What data adds to an address of shared memory, where a term of the thread's index is known besides.
typedef enum ByData {
    DATA_ANYWHERE,
    DATA_IN_ROW,   // of the thread's own: laid out the other way round, each lane would have a bank to itself
    DATA_OF_ROWS,  // as it is there: whole turns of the banks
} ByData;

// A power of two that divides the value, up to a turn of the banks: compilers mask what they have shifted,
// (x & 127) << 8 as x << 8 & 0x7f00.
enum { TURN = BANKS * BANK_BYTES, TURN_BITS = 7 };

static i64 divisor_with(FlowArith arith, i64 of_value, i64 number) {
    i64 of_number = number & -number, all = 1;
    if (arith == FLOW_AND) all = of_value > of_number ? of_value : of_number;
    if (arith == FLOW_MUL) all = of_value * of_number;
    if (arith == FLOW_SHIFT_LEFT && number > 0) all = of_value << (number < TURN_BITS ? number : TURN_BITS);
    return all < TURN ? all : TURN;
}

static i64 divisor_of(const CasePart *part, u32 node, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    u32 pc = node == WL_NONE ? WL_NONE : flow->chains->nodes[node].insn;
    i64 of_value = 1, number = 0;
    if (pc == WL_NONE || !depth || case_insn(part, pc)->uses != 2) return 1;
    const FlowInsn *in = case_insn(part, pc);
    for (u32 u = 0; u < 2; u++) {
        const FlowOperand *o = &flow->code->operands[in->operands + in->defs + u];
        if (o->kind == FLOW_IMMEDIATE)
            number = o->value;
        else
            of_value = divisor_of(part, flow->chains->of_operand[in->operands + in->defs + u], depth - 1);
    }
    return number ? divisor_with((FlowArith)in->arith, of_value, number) : 1;
}

static ByData data_of_shared(const CasePart *part, const CaseAccess *a) {
    const Affine *affine = part->view->flow.affine;
    if (!access_is_shared(a) || !a->affine) return DATA_ANYWHERE;
    const AffineForm *form = &affine->forms[a->affine->form];
    i64 of_lane = 0;
    bool of_rows = true;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        if (term->factors[0] == WL_NONE) continue;
        const AffineFactor *f = &affine->factors[term->factors[0]];
        bool alone = term->factors[1] == WL_NONE;
        if (f->kind == AFFINE_SREG && f->id == SREG_TID && f->component == 0 && alone) of_lane = term->coefficient;
        if (f->kind == AFFINE_NODE)
            of_rows &= alone && term->coefficient * divisor_of(part, f->id, LOADED_STEPS) % TURN == 0;
    }
    if (of_rows && of_lane == BANK_BYTES) return DATA_OF_ROWS;
    bool apart = of_lane > BANK_BYTES || of_lane < -BANK_BYTES;
    return apart && of_lane % BANK_BYTES == 0 && !of_rows ? DATA_IN_ROW : DATA_ANYWHERE;
}

// Wavefronts that an access by data takes at most: as many as there are words of the CTA's in a bank. Lanes of one word
// are served together.
static f64 most_passes(const AdviceCase *c, const CaseAccess *a) {
    f64 bytes = (f64)kernel_view_shared_bytes(c->view);
    if (!access_is_shared(a) || a->atomic || a->bytes > BANK_BYTES || bytes <= 0) return INFINITY;
    return ceil(bytes / (BANKS * BANK_BYTES));
}

// Different sectors that lanes touch which go anywhere in an array; of one that is small they share some.
static f64 sectors_at_random(const CasePart *part, const CaseAccess *a) {
    f64 all = access_is_global(a) ? access_array_bytes(part, a) / SECTOR : 0;
    return all > 1 ? all * (1 - pow(1 - 1 / all, a->lanes)) : a->lanes;
}

static void take_gathered(const AdviceCase *c, const CasePart *part, CaseAccess *a) {
    ByData by = data_of_shared(part, a);
    a->sectors = fmax(a->fewest, sectors_at_random(part, a));
    a->gathered = access_is_global(a) && a->load && !a->atomic;
    if (by == DATA_OF_ROWS) return;
    a->passes = fmax(a->fewest_passes, fmin(ACCESS_AT_RANDOM, most_passes(c, a)));
    if (by == DATA_IN_ROW) a->known = ACCESS_STATIC;
}

static void take_strides(const AdviceCase *c, const CasePart *part, CaseAccess *a) {
    i64 offsets[WARP];
    a->fewest = a->sectors = fewest_sectors(a);
    a->fewest_passes = a->passes = fewest_passes(a);
    if (!a->affine || !a->bytes || a->bytes > 16) return;
    if (a->space == SPACE_LOCAL) {  // lanes' words lie next to each other, if all access the same one
        a->known = a->uniform ? ACCESS_STATIC : ACCESS_UNKNOWN;
        if (!a->uniform && is_by_data(part, a)) a->sectors = fmax(a->fewest, local_words(part, a));
        return;
    }
    if (!a->uniform && !offsets_of(a->affine, c->view->launches.typical, offsets)) {
        if (!take_trials(c, part, a) && is_gathered(part, a)) take_gathered(c, part, a);
        return;
    }
    a->known = ACCESS_STATIC;
    if (a->affine->stride_kind[0] == AFFINE_STRIDE_CONSTANT) a->apart = a->affine->stride[0];
    if (a->uniform) return;
    a->sectors = fmax(count_sectors(offsets, a->bytes), a->fewest);
    a->lines = count_lines(offsets, a->bytes);
    a->turns = count_turns(a, offsets);
    a->passes = count_passes(offsets, a->bytes);
    a->fewest_passes = fmin(a->fewest_passes, a->passes);  // fewer where lanes share words
}

// --- stores that leave together --------------------------------------------------------------------------------------
// A store waits in the L1 for others to its lines, which leave with it if they come soon enough; the more lines each
// warp's store has, and the more warps store, the fewer do. Of the second and further stores of a group that 8, 16 and
// 32 warps of an SM made in turns there joined (bench/hwref/h200-joins.tsv, words_by_8 to 64): of 4 lines 0.97, 0.96
// and 0.57, of 8 lines 0.72, 0.53 and 0.14, of 16 lines 0.27, 0.13 and none.
#define NONE_JOINS 300.0  // lines times warps

static f64 part_joined(const AdviceCase *c, f64 lines) {
    if (!c->gpu || !c->gpu->l1_join) return 0;
    return fmax(1 - lines * c->warps * (f64)c->gpu->warp_schedulers / NONE_JOINS, 0);
}

// Stores of one block to neighbouring words of the same structures.
static bool leaves_with(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    i64 bytes, apart = a->apart < 0 ? -a->apart : a->apart;
    if (!b->store || b->atomic || block_of[a->pc] != block_of[b->pc] || b->apart != a->apart) return false;
    return a == b || (access_distance(part, a, b, &bytes) && bytes < apart && bytes > -apart);
}

static void join_stores(const AdviceCase *c, const CasePart *part, CaseAccess *a) {
    f64 all = 0, bytes = 0;
    if (!a->store || a->atomic || !access_is_global(a) || !a->apart || a->sectors <= a->fewest) return;
    for (u32 i = 0; i < part->access_count; i++)
        if (leaves_with(part, a, &part->accesses[i]))
            all += part->accesses[i].sectors, bytes += part->accesses[i].lanes * part->accesses[i].bytes;
    f64 together = fmax(a->sectors, ceil(bytes / SECTOR)), joined = part_joined(c, a->lines);
    if (all > together) a->leaving = a->sectors * (1 - joined * (1 - together / all));
}

void case_join_stores(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) join_stores(c, &c->parts[p], &c->parts[p].accesses[i]);
}

// --- all -----------------------------------------------------------------------------------------------------------
static void fill(const AdviceCase *c, CasePart *part, CaseAccess *a) {
    const FlowInsn *in = case_insn(part, a->pc);
    MetricSet counted;
    a->space = in->space;
    a->bytes = in->access_bytes;
    a->load = in->is_load;
    a->store = in->is_store;
    a->atomic = in->is_atomic;
    a->lanes = WARP;
    a->requests = part->insns[a->pc].executed;
    bool matrix = part->insns[a->pc].traits & TRAIT_MATRIX;
    a->uniform = !matrix && a->affine && a->affine->uniform;
    take_strides(c, part, a);
    if (!has_counts(part->view)) return;
    kernel_view_metrics(c->context->views, part->view, a->pc, &counted);
    take_counts(a, &counted);
    if (matrix) a->fewest = a->sectors;  // which part each lane has is the machine's
}

static bool is_access(const FlowInsn *in) {
    bool memory = in->is_load || in->is_store || in->is_atomic;
    return memory && in->space != SPACE_PARAM && in->space != SPACE_CONST && in->unit != UNIT_TEX &&
           in->unit != UNIT_TMA;
}

Status case_find_accesses(AdviceCase *c, CasePart *part) {
    const KernelView *v = part->view;
    const Affine *affine = v->flow.affine;
    u32 at = 0;
    for (u32 pc = 0; pc < v->insn_count; pc++) part->access_count += is_access(case_insn(part, pc));
    part->accesses = ARENA_ARRAY(c->scratch, CaseAccess, part->access_count + 1);
    if (!part->accesses) return STATUS_NO_MEMORY;
    part->access_count = 0;
    for (u32 pc = 0; pc < v->insn_count; pc++) {
        if (!is_access(case_insn(part, pc))) continue;
        while (at < affine->access_count && affine->accesses[at].insn < pc) at++;
        CaseAccess *a = &part->accesses[part->access_count];
        bool analysed = at < affine->access_count && affine->accesses[at].insn == pc;
        *a = (CaseAccess){.pc = pc, .affine = analysed ? &affine->accesses[at] : NULL};
        part->insns[pc].access = part->access_count++;
        fill(c, part, a);
        c->counted |= a->known == ACCESS_COUNTED;
    }
    for (u32 i = 0; i < part->access_count; i++) part->accesses[i].leaving = part->accesses[i].sectors;
    return STATUS_OK;
}

// --- comparing -----------------------------------------------------------------------------------------------------
bool access_same_array(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    if (access_base(a) != WL_NONE || access_base(b) != WL_NONE) return access_base(a) == access_base(b);
    return same_line(part, a->pc, b->pc);
}

bool access_distance(const CasePart *part, const CaseAccess *a, const CaseAccess *b, i64 *bytes) {
    const Affine *affine = part->view->flow.affine;
    if (!a->affine || !b->affine || a->bytes != b->bytes || a->load != b->load || a->space != b->space) return false;
    const AffineForm *f = &affine->forms[a->affine->form], *g = &affine->forms[b->affine->form];
    bool known = a->affine->base != WL_NONE || access_is_shared(a);  // addresses of shared memory need no variable
    if (!known || a->affine->base != b->affine->base || f->term_count != g->term_count) return false;
    for (u32 t = 0; t < f->term_count; t++) {
        const AffineTerm *x = &affine->terms[f->terms + t], *y = &affine->terms[g->terms + t];
        if (x->coefficient != y->coefficient) return false;
        for (u32 i = 0; i < AFFINE_DEGREE; i++)
            if (x->factors[i] != y->factors[i]) return false;
    }
    *bytes = g->constant - f->constant;
    return true;
}

u32 access_pieces(const CasePart *part, const CaseAccess *a) {
    i64 stride = a->affine ? a->affine->stride[0] : 0, bytes;
    u32 seen = 1;  // bits: the word itself, and those so many behind it, or before it in the element before
    if (stride <= 0 || stride > WIDEST_ACCESS || stride % a->bytes) return 0;
    i64 words = stride / a->bytes;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (b == a || part->insns[b->pc].loop != part->insns[a->pc].loop || !access_distance(part, a, b, &bytes))
            continue;
        if (bytes % a->bytes || bytes >= stride || bytes <= -stride) return 0;
        seen |= 1u << ((bytes / a->bytes + words) % words);
    }
    return (i64)__builtin_popcount(seen) == words ? (u32)words : 0;
}

bool access_same_address(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    const Affine *affine = part->view->flow.affine;
    if (!a->affine || !b->affine || a->space != b->space) return false;
    return affine_same_form(affine, a->affine->form, b->affine->form);
}

// Values that what turns of a loop go on by is made of, each looked at once.
typedef struct Ahead {
    const CasePart *part;
    u32 loop, pc, count;  // pc: who needs it
    u32 nodes[AHEAD_NODES];
} Ahead;

static bool goes_ahead(Ahead *x, u32 node);

static bool branch_goes_ahead(Ahead *x, u32 block) {
    const FlowResults *flow = &x->part->view->flow;
    const FlowBlock *b = block == WL_NONE ? NULL : &flow->cfg->blocks[block];
    if (!b || !b->count || b->succ_count < 2) return true;
    return goes_ahead(x, flow->chains->of_guard[b->first + b->count - 1]);
}

// Blocks on ways that meet.
typedef struct Ways {
    u32 blocks[AHEAD_BLOCKS], count;
    bool many;  // more than there is room for
} Ways;

static void add_way(Ways *ways, u32 block) {
    for (u32 i = 0; i < ways->count; i++)
        if (ways->blocks[i] == block) return;
    ways->many |= ways->count == AHEAD_BLOCKS;
    if (!ways->many) ways->blocks[ways->count++] = block;
}

// Whether what chooses between the ways that lead to `ways`, from where all of them part, is known.
static bool ways_go_ahead(Ahead *x, Ways *ways, u32 from) {
    const Cfg *cfg = x->part->view->flow.cfg;
    if (ways->count < 2) return true;
    for (u32 i = 0; i < ways->count; i++) {
        const FlowBlock *b = &cfg->blocks[ways->blocks[i]];
        if (!branch_goes_ahead(x, ways->blocks[i])) return false;
        for (u32 p = 0; ways->blocks[i] != from && p < b->pred_count; p++) add_way(ways, cfg->edges[b->preds + p]);
    }
    return !ways->many;
}

// Whether it is known how often a loop within turns, for whoever needs what it leaves.
static bool end_goes_ahead(Ahead *x, u32 loop) {
    const FlowResults *flow = &x->part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    if (loop == x->loop || loop_has(x->part, loop, x->pc)) return true;
    for (u32 i = 0; i < l->block_count; i++) {
        u32 block = flow->loops->members[l->blocks + i];
        if (flow_loop_left_from(flow->cfg, flow->loops, loop, block) && !branch_goes_ahead(x, block)) return false;
    }
    return true;
}

// Ways that meet there: what chose between them has to be known, too. At the header of a loop its turns meet the ways
// to it.
static bool meeting_goes_ahead(Ahead *x, const ChainNode *n) {
    const FlowResults *flow = &x->part->view->flow;
    u32 loop = flow->loops->loop_of[n->block];
    bool header = loop != WL_NONE && n->block == flow->loops->loops[loop].header;
    const FlowBlock *block = &flow->cfg->blocks[n->block];
    Ways ways = {.count = 0}, turns = {.count = 0};
    for (u32 i = 0; i < n->arg_count; i++)
        if (!goes_ahead(x, flow->chains->args[n->args + i])) return false;
    for (u32 i = 0; i < block->pred_count; i++) {
        u32 from = flow->cfg->edges[block->preds + i];
        add_way(header && flow_loop_has(flow->loops, loop, from) ? &turns : &ways, from);
    }
    if (header && (!ways_go_ahead(x, &turns, n->block) || !end_goes_ahead(x, loop))) return false;
    return loop == x->loop && header ? true : ways_go_ahead(x, &ways, flow->dominators->parent[n->block]);
}

// Arithmetic, or what code in loops reads again and again to save a register: who the thread is (S2R), constants.
static bool is_of_what_stays(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const FlowOperand *from = in->uses ? &part->view->flow.code->operands[in->operands + in->defs] : NULL;
    bool constant = in->is_load && (in->space == SPACE_CONST || in->space == SPACE_PARAM);
    return part->insns[pc].traits & TRAIT_ARITHMETIC || constant || (from && from->kind == FLOW_SREG);
}

static bool goes_ahead(Ahead *x, u32 node) {
    const FlowResults *flow = &x->part->view->flow;
    const Chains *chains = flow->chains;
    if (node == WL_NONE || !flow_loop_has(flow->loops, x->loop, chains->nodes[node].block)) return true;
    for (u32 i = 0; i < x->count; i++)
        if (x->nodes[i] == node) return true;
    if (x->count == AHEAD_NODES) return false;
    x->nodes[x->count++] = node;
    const ChainNode *n = &chains->nodes[node];
    if (n->insn == WL_NONE) return meeting_goes_ahead(x, n);
    const FlowInsn *in = case_insn(x->part, n->insn);
    if (case_access(x->part, n->insn) || !is_of_what_stays(x->part, n->insn)) return false;
    if (in->guard != WL_NONE && !goes_ahead(x, chains->of_guard[n->insn])) return false;
    for (u32 u = 0; u < in->uses; u++)
        if (!goes_ahead(x, chains->of_operand[in->operands + in->defs + u])) return false;
    return true;
}

bool access_goes_ahead(const CasePart *part, const CaseAccess *a, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, a->pc);
    i64 step;
    if (a->affine && affine_step(flow->affine, a->affine->form, loop, &step) != AFFINE_STRIDE_UNKNOWN) return true;
    if (in->address_use == 0xff) return false;
    Ahead x = {.part = part, .loop = loop, .pc = a->pc};
    return goes_ahead(&x, flow->chains->of_operand[in->operands + in->defs + in->address_use]);
}

bool loop_ends_by_data(const CasePart *part, u32 loop) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    for (u32 i = 0; i < l->block_count; i++) {
        const FlowBlock *b = &flow->cfg->blocks[flow->loops->members[l->blocks + i]];
        u32 last = b->first + b->count - 1;
        bool leaves = b->count && case_insn(part, last)->kind == FLOW_EXIT;
        for (u32 k = 0; k < b->succ_count; k++)
            leaves |= !flow_loop_has(flow->loops, loop, flow->cfg->edges[b->succs + k]);
        Ahead x = {.part = part, .loop = loop, .pc = last};
        if (leaves && b->count && case_insn(part, last)->guard != WL_NONE &&
            !goes_ahead(&x, flow->chains->of_guard[last]))
            return true;
    }
    return false;
}

u32 access_repeats(const CasePart *part, const CaseAccess *a, u32 loop) {
    i64 step, apart;
    u32 turns = 0;
    if (!a->affine || affine_step(part->view->flow.affine, a->affine->form, loop, &step) != AFFINE_STRIDE_CONSTANT)
        return 0;
    for (u32 i = 0; step && i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!b->load || b->atomic || part->insns[b->pc].loop != loop || !access_distance(part, a, b, &apart)) continue;
        i64 before = apart / step;  // turns
        if (before > 0 && apart % step == 0 && before <= UINT32_MAX && (!turns || before < turns)) turns = (u32)before;
    }
    return turns;
}

bool access_is_carried(const CasePart *part, const CaseAccess *a, u32 loop) {
    i64 step;
    if (!a->affine || affine_step(part->view->flow.affine, a->affine->form, loop, &step) != AFFINE_STRIDE_CONSTANT ||
        step)
        return false;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (b->store && loop_has(part, loop, b->pc) && access_same_address(part, a, b)) return true;
    }
    return false;
}

f64 access_array_bytes(const CasePart *part, const CaseAccess *a) {
    u32 base = access_base(a);
    return base == WL_NONE ? 0 : (f64)kernel_view_array_bytes(part->view, &part->view->flow.affine->factors[base]);
}

bool access_is_written(const CasePart *part, const CaseAccess *a) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!b->store && !b->atomic) continue;
        bool other =
            access_is_shared(a) != access_is_shared(b) || (a->space == SPACE_LOCAL) != (b->space == SPACE_LOCAL);
        if (!other && (access_base(b) == WL_NONE || access_base(b) == access_base(a))) return true;
    }
    return access_base(a) == WL_NONE;
}
