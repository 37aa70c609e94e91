// SPDX-License-Identifier: Apache-2.0
// atomic-contention: threads all over the GPU that add to the same words.
#include <math.h>

#include "analyze/advice/rule.h"

enum { MOST_LINES = 3 };    // that are named beside the first
enum { SUM_OF_WARP = 10 };  // instructions: five shuffles, five additions
enum {
    WORDS_OF_SECTOR = 8
};                         // that a warp adds to at once when it adds up neighbouring ones (h200-micro.tsv, own_words)
#define WORTH_IT 0.2       // of the time, all of them: with less, atomics overlap with everything else
#define WORTH_NAMING 0.03  // ... one of them

// One word each, and not the same.
static bool are_two_words(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    i64 bytes;
    return access_is_one_word(part, a) && access_distance(part, a, b, &bytes) && bytes;
}

// Not exchanges, nor tickets, nor words by which threads wait for each other.
static bool may_be_added_up(const CasePart *part, const CaseAccess *a) {
    return !(part->insns[a->pc].traits & TRAIT_EXCHANGE) && !access_is_spun_on(part, a) && !atomic_ends_loop(part, a);
}

// Atomics that are changed together: copies of an unrolled loop's are each a part of the time only, and who collects
// those on words that data names does so with all of a loop.
static bool is_copy(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    bool one = access_is_one_word(part, a);
    return b->atomic && part->insns[b->pc].use[RESOURCE_ATOMIC] > 0 &&
           part->insns[a->pc].loop == part->insns[b->pc].loop && one == access_is_one_word(part, b) &&
           (one ? access_same_array(part, a, b) && !are_two_words(part, a, b) : may_be_added_up(part, b));
}

typedef struct Copies {
    f64 use;  // of the L2's time for atomics
    f64 executed;
    u32 count;
    bool first;  // whether the one that is asked about is the first of them
} Copies;

static Copies copies_of(const CasePart *part, u32 access) {
    Copies copies = {.first = true};
    if (part->insns[part->accesses[access].pc].use[RESOURCE_ATOMIC] <= 0) return copies;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!is_copy(part, &part->accesses[access], b)) continue;
        copies.use += part->insns[b->pc].use[RESOURCE_ATOMIC];
        copies.executed += part->insns[b->pc].executed;
        copies.count++;
        copies.first &= i >= access;
    }
    return copies;
}

// The L2's time for all atomics of the part that are on one word, or for all that are not.
static f64 use_of_kind(const CasePart *part, bool one) {
    f64 use = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (a->atomic && access_is_one_word(part, a) == one) use += part->insns[a->pc].use[RESOURCE_ATOMIC];
    }
    return use;
}

// How often a CTA does it: as counted, or as all its warps would.
static f64 times_of_cta(const AdviceCase *c, const CasePart *part, u32 access, const Copies *copies) {
    const CaseAccess *a = &part->accesses[access];
    const ViewLaunches *l = &c->view->launches;
    u32 loop = part->insns[a->pc].loop;
    f64 turns = (loop != WL_NONE ? fmax(part->loops[loop].trips, 1) : 1) * copies->count, ctas = 0, counted = 0;
    for (u32 i = 0; i < l->count; i++) ctas += (f64)l->rows[i]->grid[0] * l->rows[i]->grid[1] * l->rows[i]->grid[2];
    if (part != c->parts || !part->view->executed || ctas <= 0)
        return fmax(c->view->occupancy.warps_per_cta, 1) * turns;
    for (u32 i = access; i < part->access_count; i++)
        if (is_copy(part, a, &part->accesses[i])) counted += (f64)part->view->executed[part->accesses[i].pc];
    return fmax(counted / ctas, 1);
}

// Shared memory adds integers itself; what it cannot add compilers load, add and exchange if nobody else did meanwhile,
// once more for each lane that meets another one there: a turn takes a warp 95 cycles, and 3.9 of the SM's with 32
// warps (h200-shared-turns.tsv, turns/f32/stays/1_lanes to 8_lanes).
#define TURN 95.0
#define TURN_OF_SM 3.9
enum { INSNS_OF_TURN = 6 };

static bool takes_turns(const CasePart *part, const CaseAccess *a) {
    return part->insns[a->pc].traits & TRAIT_FLOAT_ATOMIC;
}

// In shared memory lanes meet in banks, not in sectors.
static void move_to_shared(Hit *hit, const CasePart *part, u32 access) {
    for (u32 i = access; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!is_copy(part, &part->accesses[access], b)) continue;
        f64 cycles = access_l1_cycles(b, b->sectors, b->passes);
        f64 after = ACCESS_AT_RANDOM * (takes_turns(part, b) ? TURN_OF_SM : 1);
        hit_relieve(hit, RESOURCE_LSU, part->insns[b->pc].use[RESOURCE_LSU] * (1 - after / cycles));
        if (!takes_turns(part, b)) continue;
        hit->change.issues -= ACCESS_AT_RANDOM * INSNS_OF_TURN * b->requests;
        hit->change.stalls -= ACCESS_AT_RANDOM * (TURN - INSNS_OF_TURN) * b->requests;
    }
}

// What each CTA adds at its end, over what is added in `use` of the time: no more than what its threads would add, each
// once, eight neighbouring words at a time.
static f64 left_of_collected(const AdviceCase *c, f64 use, f64 turns) {
    f64 most = 1 / (turns * WORDS_OF_SECTOR), flush = use > 0 ? atomic_flush(c) / use : 0;
    return flush > 0 ? fmin(flush, most) : most;
}

// Where the others are that are changed with it.
static const char *other_lines(AdviceCase *c, const CasePart *part, u32 access) {
    const CaseAccess *a = &part->accesses[access];
    const char *text = "";
    u32 last = a->pc, count = 0;
    for (u32 i = access + 1; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!is_copy(part, a, b) || same_line(part, a->pc, b->pc) || same_line(part, last, b->pc)) continue;
        u32 line = part->view->places[b->pc].line;
        if (!line || ++count > MOST_LINES) continue;
        text = case_printf(c, "%s%s%u", text, count > 1 ? ", " : " and in line ", line);
        last = b->pc;
    }
    return text;
}

static void look_at(AdviceCase *c, const CasePart *part, u32 access) {
    const CaseAccess *a = &part->accesses[access];
    Copies copies = copies_of(part, access);
    f64 use = copies.use, lanes = atomic_lanes(part, a), left;
    u32 loop = part->insns[a->pc].loop;
    bool one = access_is_one_word(part, a);
    if (!copies.count || !copies.first || !may_be_added_up(part, a)) return;
    f64 turns = (loop != WL_NONE ? fmax(part->loops[loop].trips, 1) : 1) * copies.count;
    left = !one ? left_of_collected(c, use, turns) : lanes > 1 ? 1 / lanes : 1 / times_of_cta(c, part, access, &copies);
    if (use < WORTH_NAMING || use_of_kind(part, one) < WORTH_IT || left > 0.8) return;
    Hit *hit = hit_begin(c);
    hit_relieve(hit, RESOURCE_ATOMIC, use * (1 - left));
    if (!one) move_to_shared(hit, part, access);
    if (one && lanes > 1) hit->change.issues = -SUM_OF_WARP * copies.executed;
    if (one)
        for (u32 i = access; i < part->access_count; i++)
            if (i == access || is_copy(part, a, &part->accesses[i]))
                hit_edit(hit, lanes > 1 ? EDIT_JOINED : EDIT_FREE, part, part->accesses[i].pc, 1);
    const char *place = place_text(c, part, a->pc);
    hit_fact(
        hit, "atomics_pct_of_time", 100 * c->load.busy[RESOURCE_ATOMIC], "%",
        one ? "atomics of all threads on one word, or its neighbours, take %.0f %% of the time, one after the other"
            : "what waits for the atomics does so for %.0f %% of the time, and neither L1, L2 nor DRAM is busy",
        100 * c->load.busy[RESOURCE_ATOMIC]);
    if (c->load.behind > 0.05)
        hit_fact(hit, "atomics_behind_pct", 100 * c->load.behind, "%",
                 "for %.0f %% of the time no CTA is left, and the L2 goes on with them", 100 * c->load.behind);
    hit->doubtful = !one;
    hit_basis(hit,
              one ? "the L2's time for atomics on one word, measured; %.0f %% of it stays"
                  : "the time for which atomics are waited for, of which %.0f %% stays",
              100 * left);
    if (!one)
        hit_caution(hit, "only where a CTA meets the same words often: each of them is added once more at its end");
    if (!one)
        hit_end_line(hit, part, a->pc, "Collect the atomics at %s%s in shared memory, CTA by CTA", place,
                     other_lines(c, part, access));
    else if (lanes > 1)
        hit_end_line(hit, part, a->pc, "Add up the lanes of a warp before the atomic at %s", place);
    else
        hit_end_line(hit, part, a->pc, "Add up a whole CTA before the atomic at %s", place);
}

// --- in shared memory ----------------------------------------------------------------------------------------------
enum { WARP = 32 };

// What a CTA has of shared memory from the first word on that such atomics go to: nobody says where their array ends.
static f64 bytes_from_counters(const AdviceCase *c, const CasePart *part) {
    f64 all = (f64)kernel_view_shared_bytes(c->view), begin = all;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!atomic_meets_in_shared(part, a)) continue;
        if (!a->affine) return all;
        f64 at = (f64)part->view->flow.affine->forms[a->affine->form].constant;
        if (insn_machine(part, a->pc)) at -= (f64)c->gpu->shared_reserved;  // lies in front of the kernel's
        if (at < 0) return all;
        begin = fmin(begin, at);
    }
    return begin < all ? all - begin : all;
}

// As many copies of these as all lanes of a warp could use and an SM has room for beside what its CTAs have.
static f64 copies_in_shared(const AdviceCase *c, const CasePart *part) {
    f64 all = (f64)kernel_view_shared_bytes(c->view);
    if (all <= 0 || !c->gpu) return 1;
    f64 room =
        (f64)c->gpu->shared_per_sm / fmax(c->view->occupancy.ctas_per_sm, 1) - (f64)c->gpu->shared_reserved - all;
    return fmin(1 + fmax(floor(room / bytes_from_counters(c, part)), 0), WARP);
}

static void copy_counters(AdviceCase *c, const CasePart *part) {
    Hit *hit = hit_begin(c);
    f64 copies = copies_in_shared(c, part), most = 0, all = 0, turn = 0,
        schedulers = c->gpu ? (f64)c->gpu->warp_schedulers : 4;
    u32 at = WL_NONE;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        const CaseInsn *in = &part->insns[a->pc];
        f64 cycles = in->turn / schedulers, left = cycles > 1 ? fmax(1 / cycles, 1 / copies) : 1;
        if (!atomic_meets_in_shared(part, a) || cycles <= ACCESS_AT_RANDOM || left >= 1) continue;
        hit_shorten(hit, part, a->pc, 1 - left);
        hit_blamed(hit, part, a->pc, STALL_BIT(MIO_THROTTLE), 1 - left);
        all += in->use[RESOURCE_LSU];
        if (in->use[RESOURCE_LSU] > most) most = in->use[RESOURCE_LSU], at = a->pc, turn = cycles;
    }
    if (all < WORTH_IT) return hit_drop(hit);
    hit_text(hit, TEXT_shared_counters);
    hit_fact(hit, "shared_atomic_cycles", turn, "cycles",
             "what waits for shared memory says that an atomic of a warp takes it %.0f cycles: so many of its lanes "
             "meet on a word",
             turn);
    hit_fact(hit, "copies", copies, "copies", "%.0f copies of what they add to fit into the shared memory of a CTA",
             copies);
    hit_basis(hit, "the time for which shared memory is waited for, of which one in %.0f lanes that meet stays",
              copies);
    hit_caution(hit,
                "the copies have to be cleared and added up: only where a CTA adds much more often than it has words");
    hit->doubtful = true;
    hit_end_line(hit, part, at, "Give each lane a copy of what the atomics at %s add to in shared memory",
                 place_text(c, part, at));
}

void rule_atomic_contention(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        for (u32 i = 0; i < c->parts[p].access_count; i++) look_at(c, &c->parts[p], i);
        copy_counters(c, &c->parts[p]);
    }
}
