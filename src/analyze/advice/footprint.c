// SPDX-License-Identifier: Apache-2.0
// What a launch has to move from or to DRAM at least, where nobody counted it: the different bytes that its accesses
// name (boxes.h). What is not known adds nothing, so the result is a lower bound.
#include <math.h>

#include "analyze/advice/boxes.h"

// Of DRAM's peak, by reading in order and by copying: bench/hwref/h200-micro.tsv, dram/read/256_blocks and
// dram/copy/all. Between reading and writing the bus has to be turned round.
#define REACHED 0.93
#define REACHED_COPYING 0.83

// Of what one SM reads once the L2 holds 36 to 48 MiB from launch to launch where it holds 30 of what all read
// (bench/hwref/h200-writes.tsv, read_by_all; l2_usable).
#define ONCE 1.4

enum { SECTOR = 32 };

static bool has_atomics(const AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++)
        if (part_has_atomics(&c->parts[p])) return true;
    return false;
}

// Executions by warps of an access that issued in one sample, in a launch. SMs that end earlier than others issue
// nothing then; with atomics it may be these that the L2 goes on with.
static f64 executions_per_sample(const AdviceCase *c, f64 seconds) {
    const ProfileLaunch *l = c->view->launches.typical;
    f64 ctas = (f64)l->grid[0] * l->grid[1] * l->grid[2], sms = fmin(ctas, (f64)c->gpu->sms);
    f64 warps = ceil(ctas / (f64)c->gpu->sms) * ceil((f64)l->block[0] * l->block[1] * l->block[2] / 32);
    f64 slots = seconds * (f64)c->gpu->clock_mhz * 1e6 * sms * fmin((f64)c->gpu->warp_schedulers, warps);
    bool known = c->active > 0 && !has_atomics(c);
    f64 active = known ? fmin(c->active * (f64)c->gpu->sms / sms, 1) : 1;  // of those that have CTAs at all
    return c->load.issued > 0 ? slots * active * c->load.issue_rate / c->load.issued : 0;
}

// --- how far loads went --------------------------------------------------------------------------------------------
// Parts of the accesses that the L1 and the L2 did not have, by how long warps waited for them: the mean latency lies
// between that of a hit and that of a miss. Where the queue in front of the L1 is what warps wait for, it says nothing.

static f64 part_between(f64 x, f64 low, f64 more) { return more > 0 ? fmin(fmax((x - low) / more, 0), 1) : 0; }

static bool says_how_far(const AdviceCase *c, const CaseAccess *a) {
    return a->load && !a->atomic && a->latency > 0 && case_share(c, c->stalls[STALL_LG_THROTTLE]) < L1_QUEUED;
}

static f64 past_l1(const AdviceCase *c, const CaseAccess *a) {
    return says_how_far(c, a) ? part_between(a->latency, (f64)c->gpu->l1_latency, (f64)c->gpu->l2_latency) : 0;
}

static f64 past_l2(const AdviceCase *c, const CaseAccess *a) {
    f64 there = (f64)(c->gpu->l1_latency + c->gpu->l2_latency);
    if (!says_how_far(c, a)) return c->fits_l2 ? 0 : 1;
    return part_between(a->latency, there, case_idle_latency(c, 1, 1) - case_idle_latency(c, 1, 0));
}

// Outside of loops an access whose address had to be spilled names a word of the thread's own.
static bool is_own_word(const CasePart *part, const CaseAccess *a) {
    const FlowInsn *in = case_insn(part, a->pc);
    u32 from = in->address_use == 0xff ? WL_NONE : insn_source(part, a->pc, in->address_use);
    const CaseAccess *source = from == WL_NONE ? NULL : case_access(part, from);
    return part->insns[a->pc].loop == WL_NONE && source && source->load && source->space == SPACE_LOCAL;
}

// What a thread stores once nobody else stores as well: that would be a race.
static bool is_stored_once(const CasePart *part, const CaseAccess *a) {
    return a->store && !a->atomic && part->insns[a->pc].loop == WL_NONE;
}

// --- accesses that are no polynomial ---------------------------------------------------------------------------------
typedef struct Nearby {  // accesses at constant distances from each other
    u32 count;
    f64 low, high, bytes;  // the first and the last of a lane; of the widest
} Nearby;

static u32 address_node(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    bool simple = in->address_use != 0xff && !in->address_index && !in->address_shift;
    return simple ? part->view->flow.chains->of_operand[in->operands + in->defs + in->address_use] : WL_NONE;
}

static Nearby find_nearby(const CasePart *part, const CaseAccess *a) {
    Nearby n = {0};
    u32 node = address_node(part, a->pc);
    for (u32 i = 0; node != WL_NONE && i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        f64 at = (f64)case_insn(part, b->pc)->address_offset;
        if (!access_is_global(b) || b->store != a->store || address_node(part, b->pc) != node) continue;
        n.low = n.count ? fmin(n.low, at) : at;
        n.high = n.count++ ? fmax(n.high, at) : at;
        n.bytes = fmax(n.bytes, b->bytes);
    }
    return n;
}

// The part of what it names that is its own. Another load of which as little is known may be of the same bytes, a
// neighbour in the next row; fields of structures that lie as far apart as lanes' words do are different ones, up to
// the structure's size. 0: not known.
static f64 own_part(const CasePart *part, const CaseAccess *a) {
    u32 node = address_node(part, a->pc);
    f64 size = fabs((f64)a->apart), fields = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        bool known = b->uniform || (b->affine && b->affine->stride_kind[0] != AFFINE_STRIDE_UNKNOWN);
        if (!b->load || !access_is_global(b) || b->requests <= 0 || known) continue;
        bool field = size > a->bytes && b->apart == a->apart;
        if (address_node(part, b->pc) != node && !field) return 0;
        fields += b->bytes;
    }
    return fields > size && size > a->bytes ? size / fields : 1;
}

// Where a thread's place is made of quotients and remainders by constants: what a warp names was tried out, and other
// warps other bytes; by an array's length, say, they come round to the same. Of the bytes that it and those nearby name
// its part.
static f64 bytes_by_trial(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 per_sample) {
    i64 lanes[32];
    bool fits = access_is_global(a) && a->known == ACCESS_STATIC && !a->uniform && part->insns[a->pc].loop == WL_NONE &&
                part->access_count <= ACCESS_GROUP_LIMIT;
    f64 own = fits ? own_part(part, a) : 0;
    if (own <= 0 || lanes_through(c, part, a->pc) & LANES_DIVIDED || !lanes_go_apart(c, part, a->pc)) return 0;
    if (!lanes_of_address(c, part, a->pc, 0, 0, lanes)) return 0;
    Nearby n = find_nearby(part, a);
    f64 reach = n.high - n.low + n.bytes, low = 0, high = 0;
    if (!n.count) return 0;
    for (u32 lane = 0; lane < 32; lane++) low = fmin(low, (f64)lanes[lane]), high = fmax(high, (f64)lanes[lane]);
    bool apart = fabs((f64)lanes[1]) >= reach;
    f64 all = n.count * a->lanes * n.bytes, room = apart ? a->lanes * reach : high - low + reach;
    return a->requests * per_sample * fmin(all * own, room) / n.count;
}

// The access's part of the different bytes that it and those like it name; 0: not known.
static f64 bytes_of(const AdviceCase *c, const CasePart *part, u32 at, f64 per_sample) {
    const CaseAccess *a = &part->accesses[at];
    BoxGroup g;
    if (access_is_global(a) && a->requests > 0 && is_own_word(part, a))
        return a->requests * a->lanes * a->bytes * per_sample;
    if (box_group(c->view->launches.typical, part, a, SECTOR, &g))
        return fmin(box_group_bytes(&g), g.executions * per_sample) / g.count;
    f64 tried = bytes_by_trial(c, part, a, per_sample);
    if (tried > 0) return tried;
    return access_is_global(a) && is_stored_once(part, a) ? a->requests * a->lanes * a->bytes * per_sample : 0;
}

static ProfileLaunch launch_of_cta(const AdviceCase *c) {
    ProfileLaunch one = *c->view->launches.typical;
    one.grid[0] = one.grid[1] = one.grid[2] = 1;
    return one;
}

static f64 bytes_of_cta(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 grain) {
    if (!c->view->launches.typical) return 0;
    ProfileLaunch one = launch_of_cta(c);
    BoxGroup g;
    return box_group(&one, part, a, grain, &g) ? box_group_bytes(&g) / g.count : 0;
}

f64 access_cta_bytes(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    return bytes_of_cta(c, part, a, 1);
}

f64 access_part_wanted(const AdviceCase *c, const CasePart *part, const CaseAccess *a, bool of_cta) {
    if (!c->view->launches.typical) return 1;
    ProfileLaunch launch = of_cta ? launch_of_cta(c) : *c->view->launches.typical;
    BoxGroup bytes, sectors;
    bool known = box_group(&launch, part, a, 1, &bytes) && box_group(&launch, part, a, SECTOR, &sectors);
    return known ? fmin(box_group_bytes(&bytes) / box_group_bytes(&sectors), 1) : 1;
}

// --- shared memory -------------------------------------------------------------------------------------------------
static bool term_is_known(const CasePart *part, const AffineTerm *term) {
    const Affine *affine = part->view->flow.affine;
    for (u32 i = 0; i < AFFINE_DEGREE && term->factors[i] != WL_NONE; i++) {
        const AffineFactor *f = &affine->factors[term->factors[i]];
        bool fixed = f->kind == AFFINE_SREG || f->kind == AFFINE_SYMBOL;
        if (f->kind == AFFINE_COUNTER ? part->loops[f->id].trips < 1 : !fixed) return false;
    }
    return true;
}

// Turns for which a place that another loop left is moved on by as much; 0: data decides how far, as of the top of a
// stack.
static f64 turns_behind(const CasePart *part, const CaseAccess *a, const AffineTerm *term) {
    const FlowResults *flow = &part->view->flow;
    u32 node = flow->affine->factors[term->factors[0]].id;
    for (u32 l = part->insns[a->pc].loop; l != WL_NONE; l = flow->loops->loops[l].parent)
        if (flow->loops->loops[l].header == flow->chains->nodes[node].block)
            return node_moves_on(part, l, node) ? fmax(part->loops[l].trips, 1) : 0;
    return 1;
}

// `behind`: turns for which it goes on with what another loop left, from where that ended; 0: it does not.
static bool counts_are_known(const CasePart *part, const CaseAccess *a, f64 *behind) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    *behind = 0;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        const AffineForm *begin = box_begin(part, term);
        f64 turns = begin ? turns_behind(part, a, term) : 0;
        if (begin ? turns <= 0 : !term_is_known(part, term)) return false;
        for (u32 u = 0; begin && u < begin->term_count; u++)
            if (!term_is_known(part, &affine->terms[begin->terms + u])) return false;
        *behind = fmax(*behind, turns);
    }
    return true;
}

// What a loop left is behind all that it went through.
f64 case_shared_reach(const AdviceCase *c) {
    f64 begin = INFINITY, end = 0, left = 0, turns;
    u32 base = WL_NONE - 1;  // none yet
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            Box box;
            if (!access_is_shared(a) || a->requests <= 0) continue;
            bool known = a->affine && counts_are_known(&c->parts[p], a, &turns) &&
                         box_of(c->view->launches.typical, &c->parts[p], a, 1, &box) && box.measured;
            if (!known && (a->load || a->atomic)) return 0;
            if (!known) continue;
            // Two arrays: where each begins is not known.
            if (turns <= 0 && base != WL_NONE - 1 && a->affine->base != base) return 0;
            if (turns <= 0) base = a->affine->base;
            begin = fmin(begin, box.offset);
            if (!a->load && !a->atomic) continue;
            f64 reach = box.offset + box_reach(&box) + a->bytes;
            if (turns > 0)
                left = fmax(left, (reach - begin) * turns);
            else
                end = fmax(end, reach);
        }
    return fmax(end - begin, 0) + left;
}

// Of DRAM, per second, as far as it can be reached when that part is written.
static f64 peak_bytes(const GpuModel *g, f64 written) {
    if (!g->t_burst) return 0;
    f64 reached = REACHED - (REACHED - REACHED_COPYING) * 2 * fmin(written, 1 - written);
    return reached * (f64)g->dram_channels * (f64)g->dram_burst * (f64)g->dram_clock_mhz * 1e6 / (f64)g->t_burst;
}

// --- local memory --------------------------------------------------------------------------------------------------
// Part of the accesses to local memory that a cache of so many bytes does not hold, when `threads` share it.
static f64 local_misses(const AdviceCase *c, f64 threads, f64 room) {
    f64 bytes = (f64)c->view->function->local_bytes * threads;
    return bytes > room ? 1 - fmax(room, 0) / bytes : 0;
}

static f64 resident_threads(const AdviceCase *c) { return c->warps * (f64)c->gpu->warp_schedulers * 32; }

f64 case_l1_room(const AdviceCase *c) {
    f64 shared = (f64)c->view->function->shared_bytes * c->view->occupancy.ctas_per_sm;
    return (f64)c->gpu->l1_size - (c->gpu->l1_unified ? shared : 0);
}

static f64 local_l1_misses(const AdviceCase *c) { return local_misses(c, resident_threads(c), case_l1_room(c)); }

// Where lanes go is certain when it was counted or is written in the code; else as few sectors as can be.
static bool is_certain(const CaseAccess *a) {
    bool certain = a->known != ACCESS_UNKNOWN;
    for (u32 axis = 0; axis < 3 && certain && a->known == ACCESS_STATIC; axis++)
        certain = a->uniform || a->affine->stride_kind[axis] == AFFINE_STRIDE_CONSTANT;
    return certain;
}

static f64 moved(const CaseAccess *a, f64 per_sample) {
    bool certain = is_certain(a) || a->space == SPACE_LOCAL;
    return a->requests * (certain ? fmin(a->sectors, a->leaving) : a->fewest) * SECTOR * per_sample;
}

// --- all -----------------------------------------------------------------------------------------------------------
typedef struct Launch {
    f64 seconds, per_sample;
} Launch;

static bool find_launch(const AdviceCase *c, Launch *launch) {
    const ViewLaunches *l = &c->view->launches;
    if (!c->gpu || !l->count || l->total_ns <= 0 || !l->typical) return false;
    launch->seconds = l->total_ns / l->count * (1 - c->fixed) * 1e-9;
    launch->per_sample = executions_per_sample(c, launch->seconds);
    return launch->seconds > 0;
}

// Turns that a warp makes of a loop that is in no other: those of all warps of the launch, over the warps. What was
// measured at the loop's entry rests on few samples, or on none. Samples say too high a rate of issue: the least that
// is certain.
#define TOO_FEW 1.25  // times

// Long turns are seldom caught at the loop's own instructions; of loops within that turn a number of times that is
// known the one that was caught most often says more.
static f64 runs_of_loop(const CasePart *part, u32 loop) {
    const Loops *loops = part->view->flow.loops;
    f64 caught = block_runs(part, loops->loops[loop].header), runs = caught;
    for (u32 i = 0; i < loops->loop_count; i++) {
        const FlowLoop *inner = &loops->loops[i];
        f64 turns = block_runs(part, inner->header);
        i64 known = flow_loop_turns(inner);
        if (inner->parent == loop && known > 0 && turns > caught) caught = turns, runs = turns / (f64)known;
    }
    return runs;
}

void case_find_trips(AdviceCase *c) {
    Launch launch;
    if (c->counted || c->load.too_high <= 0 || !find_launch(c, &launch)) return;
    const ProfileLaunch *l = c->view->launches.typical;
    const CasePart *part = &c->parts[0];
    const Loops *loops = part->view->flow.loops;
    f64 warps = (f64)l->grid[0] * l->grid[1] * l->grid[2] * c->view->occupancy.warps_per_cta;
    for (u32 i = 0; i < loops->loop_count && warps > 0; i++) {
        f64 trips = runs_of_loop(part, i) * launch.per_sample / (warps * c->load.too_high);
        bool unknown = flow_loop_turns(&loops->loops[i]) <= 0 && loops->loops[i].parent == WL_NONE;
        if (unknown && trips > 1 && trips > TOO_FEW * part->loops[i].trips) part->loops[i].trips = trips;
    }
}

// Outside of loops a warp executes an instruction once at most. More samples of it than that are of what came before.
void case_bound_by_warps(AdviceCase *c) {
    Launch launch;
    const ViewLaunches *l = &c->view->launches;
    if (c->counted || c->load.too_high <= 0 || l->alike < MOSTLY_ALIKE || !find_launch(c, &launch)) return;
    CasePart *part = &c->parts[0];
    const u32 *grid = l->typical->grid, *block = l->typical->block;
    f64 warps = (f64)grid[0] * grid[1] * grid[2] * ceil((f64)block[0] * block[1] * block[2] / 32);
    f64 most = warps * c->load.too_high / launch.per_sample;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        CaseInsn *in = &part->insns[pc];
        if (in->loop != WL_NONE || in->executed <= most || insn_routine(part, pc)) continue;
        in->executed = in->issued = most;
        if (in->access != WL_NONE) part->accesses[in->access].requests = most;
    }
}

typedef struct DramBytes {
    f64 all, local, written;
} DramBytes;

// What one access has DRAM move. What is more than the L2 holds is not there from launch to launch; of less as much
// comes from DRAM as latencies say, and goes there as `leaves`.
static f64 bytes_from_dram(const AdviceCase *c, const CasePart *part, u32 at, const Launch *launch, f64 leaves) {
    const CaseAccess *a = &part->accesses[at];
    f64 bytes = bytes_of(c, part, at, launch->per_sample);
    return leaves >= 1 ? bytes : bytes * (a->load ? past_l2(c, a) : leaves);
}

// Part of what is stored to local memory that goes on to DRAM: a thread's place in it is stored to again by the thread
// that comes after it, and stays in the L2 until then if what is moved in between leaves room for it.
static f64 local_written_back(const AdviceCase *c, f64 streams) {
    f64 waves = fmax(c->view->occupancy.waves, 1), frames = (f64)c->view->function->local_bytes;
    f64 between = frames * resident_threads(c) * (f64)c->gpu->sms + streams / waves;
    return fmin(fmax(between / (f64)c->gpu->l2_usable - 1, 0), 1);
}

static f64 threads_of(const ProfileLaunch *l) {
    return (f64)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] * l->block[1] * l->block[2];
}

static void add_dram(CasePart *part, const CaseAccess *a, f64 bytes, DramBytes *sum) {
    part->insns[a->pc].use[RESOURCE_DRAM] = bytes;
    sum->all += bytes;
    if (a->space == SPACE_LOCAL) sum->local += bytes;
    if (a->store) sum->written += bytes;
}

// Also fills in the uses of DRAM, as bytes.
static DramBytes dram_bytes(AdviceCase *c, const Launch *launch, f64 leaves) {
    DramBytes sum = {0};
    f64 stored = 0, missed = local_misses(c, resident_threads(c) * (f64)c->gpu->sms, (f64)c->gpu->l2_usable);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            bool local = a->space == SPACE_LOCAL;
            if (local && a->store) stored += moved(a, launch->per_sample);
            if (!local) add_dram(&c->parts[p], a, bytes_from_dram(c, &c->parts[p], i, launch, leaves), &sum);
        }
    f64 frames = (f64)c->view->function->local_bytes * threads_of(c->view->launches.typical);
    f64 back = stored > 0 ? local_written_back(c, sum.all) * fmin(frames / stored, 1) : 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (a->space == SPACE_LOCAL)
                add_dram(&c->parts[p], a, moved(a, launch->per_sample) * (a->store ? fmax(back, missed) : missed),
                         &sum);
        }
    return sum;
}

// Part of what is stored that the next launches' lines drive out of the L2, if all of that, and what is read, is so
// many bytes: of copies one after the other 0.39, 0.76 and 0.89 with 48, 64 and 80 MiB, 30 of which are l2_usable
// (bench/hwref/h200-writes.tsv, copy, none).
#define DRIVEN_OUT 0.65

static f64 leaving_l2(const AdviceCase *c, f64 bytes) {
    f64 more = c->gpu->l2_usable ? bytes / (f64)c->gpu->l2_usable - 1 : 0;
    return fmin(fmax(DRIVEN_OUT * more, 0), 0.99);
}

// Of the bytes that DRAM can move in a launch's time: with what the L2 still had of the launch before, as many can be
// named. An array of structures, 92 MB read and written in 24.6 us, 3.9 TB/s, gains nothing by wider accesses
// (examples/advice/held_out_14/anim_blend.cu).
#define WITH_L2 1.35

static f64 busy_with_streams(AdviceCase *c, const Launch *launch) {
    DramBytes bytes = dram_bytes(c, launch, 1);
    // What fits may be in the L2 from launch to launch.
    c->fits_l2 = bytes.all <= ONCE * (f64)c->gpu->l2_usable;
    if (bytes.all <= (f64)c->gpu->l2_bytes) bytes = dram_bytes(c, launch, leaving_l2(c, bytes.all));
    if (bytes.all <= 0) return 0;
    f64 seconds = 1 / peak_bytes(c->gpu, bytes.written / bytes.all), busy = bytes.all * seconds / launch->seconds;
    if (busy > 1 && busy <= WITH_L2) seconds /= busy, busy = 1;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++)
            c->parts[p].insns[c->parts[p].accesses[i].pc].use[RESOURCE_DRAM] *= seconds / launch->seconds;
    // What cannot have been moved in that time are no different bytes.
    return busy <= 1 ? busy : fmin(bytes.local * seconds / launch->seconds, 1);
}

// From where data sends it a lane goes on word by word, so that what it finds of a sector it uses up.
static bool walks_on(const CasePart *part, const CaseAccess *a) {
    u32 loop = part->insns[a->pc].loop;
    i64 step;
    return loop != WL_NONE && a->affine &&
           affine_step(part->view->flow.affine, a->affine->form, loop, &step) == AFFINE_STRIDE_CONSTANT && step;
}

// Part of the array that the access starts from which the L2 does not hold; 0: it holds all of it, or that is not
// known.
static f64 beyond_l2(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    f64 array = access_array_bytes(part, a);
    return array > (f64)c->gpu->l2_usable ? 1 - (f64)c->gpu->l2_usable / array : 0;
}

// Lanes that data sends anywhere in an array find as much of it in the L2 as that holds, if they go everywhere as often
// (far_loads: half of 64 MiB, three quarters of 128 are not there). As far as latencies say that they leave the L2.
static f64 gathered_bytes(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 per_sample) {
    if (!a->gathered || walks_on(part, a)) return 0;
    return a->requests * per_sample * a->lanes * SECTOR * AT_RANDOM * beyond_l2(c, part, a) * past_l2(c, a);
}

// Lanes side by side that go on so through a row, say, which data names for their warp: what they load comes in order.
static f64 walked_bytes(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 per_sample) {
    bool loads = a->load && !a->atomic && !a->uniform && !a->gathered && access_is_global(a);
    if (!loads || part->insns[a->pc].use[RESOURCE_DRAM] > 0 || !walks_on(part, a)) return 0;
    return a->requests * per_sample * a->fewest * SECTOR * beyond_l2(c, part, a) * past_l2(c, a);
}

static f64 unnamed_bytes(const AdviceCase *c, const CasePart *part, const CaseAccess *a, f64 per_sample) {
    return gathered_bytes(c, part, a, per_sample) + walked_bytes(c, part, a, per_sample);
}

// At most `room` of the time: they may go to some places more often than to others.
static f64 busy_with_gathers(AdviceCase *c, const Launch *launch, f64 room) {
    f64 all = 0, full = peak_bytes(c->gpu, 0) * launch->seconds;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++)
            all += unnamed_bytes(c, &c->parts[p], &c->parts[p].accesses[i], launch->per_sample) / full;
    for (u32 p = 0; p < c->part_count && all > 0; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            f64 busy = unnamed_bytes(c, &c->parts[p], a, launch->per_sample) / full;
            c->parts[p].insns[a->pc].use[RESOURCE_DRAM] += busy * fmin(room / all, 1);
        }
    return fmin(all, room);
}

f64 case_dram_busy(AdviceCase *c) {
    Launch launch;
    if (!find_launch(c, &launch) || peak_bytes(c->gpu, 0) <= 0) return 0;
    f64 streams = busy_with_streams(c, &launch);
    return streams + busy_with_gathers(c, &launch, fmax(1 - streams, 0));
}

// --- the L2 ----------------------------------------------------------------------------------------------------------
// Measured with Nsight Compute on an H200 (lts__throughput of 40 kernels of examples/advice, 24 to 97 %): lines that
// one SM asks for are answered at 0.83 of l2_port, which rests on lines that all SMs ask for; where lanes go to sectors
// of different lines a slice answers one a cycle.
#define OF_ONE_SM 0.83
#define SPREAD 1.5  // times the sectors that bytes need

// Bytes that loads of one address in the code have the L2 answer: those that each CTA names, once for it, or once for
// each SM where they stay in the L1.
static f64 bytes_from_l2(const AdviceCase *c, const CasePart *part, u32 at, const Launch *launch) {
    const CaseAccess *a = &part->accesses[at];
    const u32 *grid = c->view->launches.typical->grid;
    f64 once = bytes_of(c, part, at, launch->per_sample), all = a->requests * a->sectors * SECTOR * launch->per_sample;
    if (once <= 0) return 0;
    f64 of_ctas = (f64)grid[0] * grid[1] * grid[2] * bytes_of_cta(c, part, a, SECTOR);
    if (once < (f64)c->gpu->l1_size / 2) of_ctas = fmin(of_ctas, once * (f64)c->gpu->sms);
    return fmax(fmin(of_ctas, all), once) * past_l1(c, a);
}

// A lower bound: where data picks the sectors, how many of them the L1 has is not known. What is written goes to the
// L2, and so does local memory that the L1 does not hold.
static f64 l2_seconds(const AdviceCase *c, const CasePart *part, u32 at, const Launch *launch, f64 local_misses) {
    const CaseAccess *a = &part->accesses[at];
    f64 per_cycle = (f64)c->gpu->l2_slices * (f64)c->gpu->noc_clock_mhz * 1e6;
    f64 read = per_cycle * (f64)c->gpu->l2_port * OF_ONE_SM, write = per_cycle * (f64)c->gpu->l2_write_port;
    if (a->space == SPACE_LOCAL)
        return a->store ? moved(a, launch->per_sample) / write : moved(a, launch->per_sample) * local_misses / read;
    if (!access_is_global(a)) return 0;
    if (a->store || a->atomic) return moved(a, launch->per_sample) / write;
    return bytes_from_l2(c, part, at, launch) /
           (a->sectors > SPREAD * a->fewest ? fmin(read, per_cycle * SECTOR) : read);
}

f64 case_l2_busy(AdviceCase *c) {
    Launch launch;
    f64 all = 0;
    if (!find_launch(c, &launch) || !c->gpu->l2_slices || !c->gpu->noc_clock_mhz) return 0;
    if (!c->gpu->l2_port || !c->gpu->l2_write_port) return 0;
    f64 misses = local_l1_misses(c);
    for (u32 p = 0; p < c->part_count; p++) {
        CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            f64 busy = l2_seconds(c, part, i, &launch, misses) / launch.seconds;
            part->insns[part->accesses[i].pc].use[RESOURCE_L2] = busy;
            all += busy;
        }
    }
    return all;
}

// --- at most ---------------------------------------------------------------------------------------------------------
// Lanes that go to sectors of their own, or may do so, unless another access of the array says how they go: behind a
// loop that some leave earlier it is not known any more.
static bool may_go_apart(const CasePart *part, const CaseAccess *a) {
    if (a->gathered || a->known != ACCESS_UNKNOWN || a->space == SPACE_LOCAL) return a->gathered;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (b->known != ACCESS_UNKNOWN && b->bytes == a->bytes && access_same_array(part, a, b)) return false;
    }
    return true;
}

// Seconds that L2 or DRAM need for all sectors that the access asks for, as if no cache in front of it had any.
static f64 most_seconds(const AdviceCase *c, const CasePart *part, const CaseAccess *a, Resource r, f64 per_sample) {
    bool apart = may_go_apart(part, a), spread = apart || a->sectors > SPREAD * a->fewest;
    f64 bytes = a->requests * (apart ? a->lanes : a->sectors) * SECTOR * per_sample;
    if (r == RESOURCE_DRAM) return bytes * (spread ? AT_RANDOM : 1) / peak_bytes(c->gpu, 0);
    f64 per_cycle = (f64)c->gpu->l2_slices * (f64)c->gpu->noc_clock_mhz * 1e6;
    f64 port = a->store ? (f64)c->gpu->l2_write_port : (f64)c->gpu->l2_port * OF_ONE_SM;
    return bytes / (per_cycle * (spread ? fmin(port, SECTOR) : port));
}

f64 case_most_busy(const AdviceCase *c, Resource r) {
    Launch launch;
    f64 seconds = 0;
    if (!find_launch(c, &launch) || !c->gpu->l2_slices || !c->gpu->noc_clock_mhz || peak_bytes(c->gpu, 0) <= 0)
        return 0;
    if (!c->gpu->l2_port || !c->gpu->l2_write_port) return 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (access_is_shared(a)) continue;
            if (a->atomic) return 0;  // how long they take is another matter
            seconds += most_seconds(c, &c->parts[p], a, r, launch.per_sample);
        }
    return seconds / launch.seconds;
}

f64 case_l2_sectors(const AdviceCase *c, f64 sectors) {
    Launch launch;
    if (!find_launch(c, &launch) || !c->gpu->l2_slices || !c->gpu->noc_clock_mhz) return 0;
    return sectors * launch.per_sample / ((f64)c->gpu->l2_slices * (f64)c->gpu->noc_clock_mhz * 1e6) / launch.seconds;
}

// Where data picks the sectors the L2 may have to answer each lane apart, of each slice one a cycle; or the L1 has most
// of them. When loads wait behind others, and nothing else works that much, it is the L2 that they wait for, for so
// much of the time. Returns what that adds to its work.
f64 case_l2_gathers(AdviceCase *c) {
    Launch launch;
    f64 most = 0;
    if (!find_launch(c, &launch) || !c->gpu->l2_slices || !c->gpu->noc_clock_mhz) return 0;
    f64 seconds = 1 / ((f64)c->gpu->l2_slices * (f64)c->gpu->noc_clock_mhz * 1e6), waits = 0;
    for (u32 step = 0; step < 2; step++)
        for (u32 p = 0; p < c->part_count; p++)
            for (u32 i = 0; i < c->parts[p].access_count; i++) {
                const CaseAccess *a = &c->parts[p].accesses[i];
                CaseInsn *in = &c->parts[p].insns[a->pc];
                f64 use = a->gathered ? a->requests * a->sectors * launch.per_sample * seconds / launch.seconds : 0;
                if (a->atomic && access_is_global(a)) return 0;  // which loads may wait for as well
                most += step ? 0 : use;
                waits += step || use <= 0 ? 0 : in->blamed;
                if (step && use > 0 && waits > 0) in->use[RESOURCE_L2] += in->blamed / waits * fmin(most, c->waiting);
            }
    return fmin(most, c->waiting);
}
