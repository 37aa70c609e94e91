// SPDX-License-Identifier: Apache-2.0
// indirect-addressing: a pointer, or where a row or a block begins, is loaded, and waited for, before the data it leads
// to can be; what a table has is only where to look in the next one.
#include <math.h>

#include "analyze/advice/rule.h"

enum {
    POINTER = 8,
    PLACE = 4,
    SECTOR = 32,
    WARP = 32,
    TRIALS = 4,
    SHARED_BY = 4 /* lanes for each place: what each lane looks up for itself is data */
};

static bool is_base_of_access(const CasePart *part, u32 pc, u32 from) {
    const FlowInsn *in = case_insn(part, pc);
    const CaseAccess *a = case_access(part, pc);
    if (!a || a->space == SPACE_LOCAL || in->address_use == 0xff) return false;
    // Its address, not what is stored: the source itself or sums of it.
    const Chains *chains = part->view->flow.chains;
    u32 node = chains->of_operand[in->operands + in->defs + in->address_use];
    return node != WL_NONE && chains->nodes[node].insn == from;
}

static bool is_pointer_load(const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && a->bytes % POINTER == 0 && a->bytes && a->requests > 0 &&
           (access_is_global(a) || access_is_shared(a)) && insn_feeds(part, a->pc, 3, is_base_of_access);
}

// What is compared with a constant says only whether there is a place at all, -1 for none, say.
static bool asks_whether_any(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const FlowOperand *uses = &part->view->flow.code->operands[in->operands + in->defs];
    for (u32 u = 0; u < in->uses; u++)
        if (uses[u].kind == FLOW_IMMEDIATE) return in->arith == FLOW_COMPARE;
    return false;
}

static bool compares(const CasePart *part, u32 pc, u32 from) {
    (void)from;
    return case_insn(part, pc)->arith == FLOW_COMPARE && !asks_whether_any(part, pc);
}

// Neighbouring lanes load the same word.
static bool lanes_share(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    const ProfileLaunch *l = c->view->launches.typical;
    u32 warps = l ? (l->block[0] * l->block[1] * l->block[2] + WARP - 1) / WARP : 0;
    if (a->uniform) return true;
    for (u32 trial = 0; trial < TRIALS; trial++) {
        i64 offsets[WARP];
        u32 words = 1;
        if (!warps || !lanes_of_address(c, part, a->pc, trial, trial % warps, offsets)) return false;
        for (u32 lane = 1; lane < WARP; lane++) words += offsets[lane] != offsets[lane - 1];
        if (words * SHARED_BY > WARP) return false;
    }
    return true;
}

// A number that many lanes have in common and that leads to an element of another array. What loops end with is the
// length of something besides: data.
// DRAM is busy with what neighbouring lanes load, the places among it, so that what the places lead to comes from the
// caches: it lies near what the neighbours look up, as in a table of neighbours on a board or a mesh.
static bool leads_nearby(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    return c->load.busy[RESOURCE_DRAM] > EXPLAINED && part->insns[a->pc].use[RESOURCE_DRAM] > 0 && a->apart == PLACE;
}

// Whoever waits for it waits for a load that DRAM has to serve as well, and that stays: what a table leads to is waited
// for together with it, and later than that it hardly comes.
static bool waits_for_it_alone(const CasePart *part, const BlameEdge *edge) {
    const Blame *blame = part->blame;
    if (part->insns[edge->def].use[RESOURCE_DRAM] > 0) return true;
    for (u32 i = blame->first[edge->use]; i < blame->first[edge->use + 1]; i++) {
        const CaseAccess *b = case_access(part, blame->edges[i].def);
        bool other = b && b->pc != edge->def && blame->edges[i].reason == edge->reason;
        if (other && b->load && !is_pointer_load(part, b) && part->insns[b->pc].use[RESOURCE_DRAM] > 0) return false;
    }
    return true;
}

// A guarded definition leaves what was there before, which nobody sees who reads it under the same guard, or leaves it
// in turn.
enum { KEPT_ON = 4 };

static bool is_overwritten(const CasePart *part, u32 node, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    u32 keeper = chains->nodes[node].insn;
    if (keeper == WL_NONE) return false;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn, reader = user;
        if (user == WL_NONE) {
            u32 kept = chains->users[i].operand;
            reader = chains->nodes[kept].insn;
            if (reader == WL_NONE || !depth || !is_overwritten(part, kept, depth - 1)) return false;
        }
        bool same = chains->of_guard[reader] == chains->of_guard[keeper] &&
                    case_insn(part, reader)->guard_negated == case_insn(part, keeper)->guard_negated;
        if (!same) return false;
    }
    return true;
}

// Machine code may make an address word by word, as it does of bytes' places: the upper one is used as well.
static bool is_part_of_address(const CasePart *part, u32 pc, u32 operand) {
    const FlowInsn *in = case_insn(part, pc);
    const CaseAccess *a = case_access(part, pc);
    if (!a || a->space == SPACE_LOCAL || in->address_use == 0xff || operand == WL_NONE) return false;
    u32 use = operand - in->operands - in->defs;
    bool upper = part->view->kind == VIEW_SASS && !access_is_shared(a) && use == in->address_use + 1u;
    return use == in->address_use || upper;
}

// Loads at what the value of `pc` says, through arithmetic; false: it is for something else as well, or they are too
// many.
enum { NEXT_TABLES = 8 };

static bool add_next(const CasePart *part, u32 pc, u32 depth, u32 *next, u32 *count) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        for (u32 i = node == WL_NONE ? 0 : chains->first_user[node];
             node != WL_NONE && i < chains->first_user[node + 1]; i++) {
            u32 user = chains->users[i].insn, k = 0;
            if (user == WL_NONE && is_overwritten(part, chains->users[i].operand, KEPT_ON)) continue;
            if (user == WL_NONE) return false;
            if (asks_whether_any(part, user)) continue;
            if (!case_access(part, user)) {
                bool arithmetic = depth && part->insns[user].traits & TRAIT_ARITHMETIC;
                if (!arithmetic || !add_next(part, user, depth - 1, next, count)) return false;
                continue;
            }
            while (k < *count && next[k] != user) k++;
            if (k == NEXT_TABLES || !is_part_of_address(part, user, chains->users[i].operand)) return false;
            if (k == *count) next[(*count)++] = user;
        }
    }
    return true;
}

static u32 next_tables(const CasePart *part, u32 pc, u32 next[NEXT_TABLES]) {
    u32 count = 0;
    return add_next(part, pc, LOADED_STEPS, next, &count) ? count : 0;
}

// The one load that the value of `pc` leads to, and that is all that it is for; WL_NONE: there are more, or it is for
// something else as well.
static u32 leads_to(const CasePart *part, u32 pc) {
    u32 next[NEXT_TABLES];
    return next_tables(part, pc, next) == 1 ? next[0] : WL_NONE;
}

// The loop makes something of the elements that places lead to, and of nothing that comes with each of the places: no
// entries of a matrix, and no results for as many.
static bool has_places_alone(const CasePart *part, const CaseAccess *a) {
    u32 loop = part->insns[a->pc].loop;
    for (u32 i = 0; loop != WL_NONE && i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!access_is_global(b) || !loop_has(part, loop, b->pc)) continue;
        if (!b->load || b->atomic) return false;
        if (b->apart == b->bytes && !access_same_array(part, a, b)) return false;
    }
    return loop != WL_NONE;
}

// Places of their own for each thread and turn, next to each other, of which there are many times more than elements of
// the array that they lead to, and more bytes than the L2 holds, while it does hold that array: a mapping, of pixels to
// what a detector saw, say, that was written down. Where neighbours lead lies nearby.
static bool maps_to_less(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    u32 next = a->apart == PLACE ? leads_to(part, a->pc) : WL_NONE;
    const CaseAccess *b = next == WL_NONE ? NULL : case_access(part, next);
    if (!b || !b->load || !c->gpu || !access_is_global(b) || !has_places_alone(part, a)) return false;
    f64 places = access_array_bytes(part, a), array = access_array_bytes(part, b);
    return array > 0 && places > (f64)c->gpu->l2_usable && array < (f64)c->gpu->l2_usable &&
           places / PLACE >= WARP * array / b->bytes;
}

static bool is_place_load(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && a->bytes == PLACE && a->requests > 0 && access_is_global(a) &&
           !access_is_written(part, a) && insn_feeds(part, a->pc, LOADED_STEPS, is_base_of_access) &&
           !insn_feeds(part, a->pc, LOADED_STEPS, compares) &&
           (lanes_share(c, part, a) || leads_nearby(c, part, a) || maps_to_less(c, part, a));
}

// What lies nearby the L1 takes as that of neighbouring lanes, not lane by lane as what data may send anywhere.
static void bring_together(Hit *hit, const CasePart *part, u32 place) {
    u32 next[NEXT_TABLES], count = next_tables(part, place, next);
    for (u32 k = 0; k < count; k++) {
        const CaseAccess *a = case_access(part, next[k]);
        if (!a || !a->gathered) continue;
        f64 packed = access_l1_cycles(a, a->fewest, 1) / access_l1_cycles(a, a->sectors, 1);
        hit_relieve(hit, RESOURCE_LSU, part->insns[next[k]].use[RESOURCE_LSU] * (1 - packed));
    }
}

static void compute_addresses(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = NULL;
    u32 at = 0, count = 0, places = 0;
    f64 most = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            u32 pc = part->accesses[i].pc;
            f64 weight = part->insns[pc].issued + part->insns[pc].blamed;
            bool pointer = is_pointer_load(part, &part->accesses[i]);
            if (!pointer && !is_place_load(c, part, &part->accesses[i])) continue;
            places += !pointer;
            // An instruction that computes takes its place.
            hit_blamed_where(hit, part, pc, UINT32_MAX, 1, waits_for_it_alone);
            for (u32 r = 0; r < RESOURCE_COUNT; r++) hit_relieve(hit, (Resource)r, part->insns[pc].use[r]);
            bool nearby = leads_nearby(c, part, &part->accesses[i]) || maps_to_less(c, part, &part->accesses[i]);
            if (!pointer && nearby) bring_together(hit, part, pc);
            hit_edit(hit, EDIT_FREE, part, pc, 1);
            count++;
            if (weight > most) most = weight, where = part, at = pc;
        }
    }
    if (!where) return hit_drop(hit);
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "pointer_loads", count, "instructions", "%s that the next access needs are fetched by %u load%s",
             places ? "places" : "pointers", count, plural(count));
    if (places) hit_caution(hit, "only where what is loaded could be computed: where rows of equal length begin, say");
    hit->doubtful = places > 0;
    hit_fact(hit, "pointer_wait_share", share, "%", "%.0f %% of the samples wait for them", share);
    hit_end_line(hit, where, at, "Compute the address at %s instead of loading it", place_text(c, where, at));
}

// --- tables behind tables --------------------------------------------------------------------------------------------
// The element that what was loaded names, and nothing besides: a list, which lanes or turns go along from where data
// says, is no table.
static bool is_element_named(const CasePart *part, const CaseAccess *a) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = a->affine ? &affine->forms[a->affine->form] : NULL;
    u32 named = 0;
    for (u32 t = 0; form && t < form->term_count; t++) {
        const u32 *factors = affine->terms[form->terms + t].factors;
        const AffineFactor *f = factors[0] == WL_NONE ? NULL : &affine->factors[factors[0]];
        if (!f || factors[1] != WL_NONE || f->kind == AFFINE_SREG || f->kind == AFFINE_COUNTER) return false;
        if (f->kind != AFFINE_NODE) continue;
        u32 insn = affine->chains->nodes[f->id].insn;
        if (insn == WL_NONE || !case_insn(part, insn)->is_load) return false;
        named++;
    }
    return named == 1;
}

static bool is_table_load(const CasePart *part, const CaseAccess *a) {
    bool load = a && a->load && !a->store && !a->atomic && a->requests > 0 && a->gathered;
    return load && is_element_named(part, a) && !access_is_written(part, a);
}

// A table that the L1 has room for once nothing is looked up in the next one any more, which both together had not:
// nothing of it comes from the L2 then.
static void keep_in_l1(Hit *hit, const CasePart *part, const CaseAccess *a, const CaseAccess *next) {
    f64 table = access_array_bytes(part, a), both = table + access_array_bytes(part, next);
    f64 room = hit->c->gpu ? case_l1_room(hit->c) : 0;
    if (table > 0 && table <= room && both > room) hit_relieve(hit, RESOURCE_L2, part->insns[a->pc].use[RESOURCE_L2]);
}

// Both as one table: what is looked up in the first is what the second has there.
static void join_tables(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = NULL;
    u32 at = 0, count = 0;
    f64 most = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            u32 next = is_table_load(part, &part->accesses[i]) ? leads_to(part, part->accesses[i].pc) : WL_NONE;
            if (next == WL_NONE || next == part->accesses[i].pc || !is_table_load(part, case_access(part, next)))
                continue;
            hit_remove(hit, part, next, 1);
            keep_in_l1(hit, part, &part->accesses[i], case_access(part, next));
            count++;
            if (part->insns[next].blamed > most) most = part->insns[next].blamed, where = part, at = next;
        }
    }
    if (!where) return hit_drop(hit);
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "tables", count + 1, "tables", "%u table%s only where another one has what is wanted", count,
             count == 1 ? " says" : "s say");
    hit_fact(hit, "table_wait_share", share, "%", "%.0f %% of the samples wait for what is looked up with it", share);
    hit_caution(hit, "only where the tables stay as they are for many launches, or are made anew with little work");
    hit->doubtful = true;
    hit_end_line(hit, where, at, "Look up once at %s, in one table that is made of %s beforehand",
                 place_text(c, where, at), count == 1 ? "both" : "all");
}

static bool is_read(const CasePart *part, const CaseAccess *a) {
    return a && a->load && !a->store && !a->atomic && a->requests > 0 && access_is_global(a) &&
           !access_is_written(part, a);
}

// --- lists of all elements -----------------------------------------------------------------------------------------
// A list, gone through from one place on, that has as many entries as the arrays that it leads to have elements: each
// is named once, most likely, and could be stored where the list has its number.
#define AS_MANY 1.1

static bool leads_to_all(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    i64 pitch = b && b->gathered && b->load && !access_is_written(part, b) ? access_pitch(part, b) : 0;
    f64 entries = access_array_bytes(part, a) / PLACE,
        elements = pitch > 0 ? access_array_bytes(part, b) / (f64)pitch : 0;
    return elements > 0 && entries < AS_MANY * elements && elements < AS_MANY * entries;
}

// The element is waited for where its number was. Of the sectors that it comes in all is used, which DRAM reads in
// order.
static void bring_in_order(Hit *hit, const CasePart *part, u32 pc) {
    const CaseAccess *a = case_access(part, pc);
    f64 used = fmin((f64)a->bytes / SECTOR, 1), sectors = a->requests * a->lanes * a->bytes / SECTOR;
    hit_blamed(hit, part, pc, UINT32_MAX, 1);
    hit_relieve(hit, RESOURCE_L2, part->insns[pc].use[RESOURCE_L2] - case_l2_sectors(hit->c, sectors));
    hit_relieve(hit, RESOURCE_DRAM, part->insns[pc].use[RESOURCE_DRAM] * (1 - used / AT_RANDOM));
}

static void store_in_order(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = NULL;
    u32 at = 0;
    f64 most = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            const CaseAccess *a = &part->accesses[i];
            u32 next[NEXT_TABLES];
            bool list = is_read(part, a) && a->bytes == PLACE && !is_element_named(part, a);
            u32 count = list ? next_tables(part, a->pc, next) : 0, all = 0;
            for (u32 k = 0; k < count; k++) all += leads_to_all(part, a, case_access(part, next[k]));
            if (!count || all < count) continue;
            for (u32 k = 0; k < count; k++) bring_in_order(hit, part, next[k]);
            hit_unissue(hit, part, a->pc, 1);
            if (part->insns[a->pc].blamed >= most) most = part->insns[a->pc].blamed, where = part, at = next[0];
        }
    }
    if (!where) return hit_drop(hit);
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "element_wait_share", share, "%", "%.0f %% of the samples wait for elements that a list names",
             share);
    hit_caution(hit, "only where the list stays as it is for many launches, or elements can be kept in its order");
    hit->doubtful = true;
    hit_end_line(hit, where, at, "Store the elements at %s in the order of the list that names them",
                 place_text(c, where, at));
}

// --- tables behind tables, several of them -------------------------------------------------------------------------
// Of a mesh, say: the first edge of a face, the edge behind that, the corner that it begins at. Where all that a table
// is for is to look in others, and these in others again, one table for each of the last says at once what they have.
enum { LONGEST_CHAIN = 8 };

typedef struct Chained {
    const CasePart *part;
    u8 *state;  // by access
} Chained;

enum { NOT_ASKED, IS_DATA, IS_INDEX, IS_JOINED /* an index that is one of a table's that was found */ };

// Whether all that the load is for is to say where others go.
static bool is_index(Chained *x, const CaseAccess *a) {
    u8 *state = &x->state[a - x->part->accesses];
    u32 next[NEXT_TABLES];
    if (*state != NOT_ASKED) return *state >= IS_INDEX;
    u32 count = is_read(x->part, a) && a->bytes == PLACE ? next_tables(x->part, a->pc, next) : 0, read = 0;
    for (u32 i = 0; i < count; i++) read += is_read(x->part, case_access(x->part, next[i]));
    *state = count && read == count ? IS_INDEX : IS_DATA;
    return *state == IS_INDEX;
}

typedef struct Joined {
    const CaseAccess *root;
    u32 gone, last;  // loads: that are not needed, that look up what the last tables had
    u32 at;
    f64 most;
} Joined;

// From the load on: what only leads to other tables goes, what leads to data is looked up where the first was.
static bool join_from(Hit *hit, Chained *x, const CaseAccess *a, Joined *j, u32 depth) {
    const CasePart *part = x->part;
    u32 next[NEXT_TABLES], count = next_tables(part, a->pc, next), tables = 0;
    if (!depth) return false;
    if (x->state[a - part->accesses] == IS_JOINED) return true;
    x->state[a - part->accesses] = IS_JOINED;
    for (u32 i = 0; i < count; i++) tables += is_index(x, case_access(part, next[i]));
    if (tables && tables < count) return false;
    if (!tables) {
        for (u32 r = 0; r < RESOURCE_COUNT; r++) {
            f64 less = part->insns[a->pc].use[r] - part->insns[j->root->pc].use[r];
            if (less > 0) hit_relieve(hit, (Resource)r, less);
        }
        j->last++;
        return true;
    }
    f64 waits = hit_blamed(hit, part, a->pc, UINT32_MAX, 1);
    hit_unissue(hit, part, a->pc, 1);
    if (waits > j->most) j->most = waits, j->at = a->pc;
    j->gone++;
    for (u32 i = 0; i < count; i++)
        if (!join_from(hit, x, case_access(part, next[i]), j, depth - 1)) return false;
    return true;
}

static bool is_led_to(Chained *x, const CaseAccess *a) {
    for (u32 i = 0; i < x->part->access_count; i++) {
        u32 next[NEXT_TABLES];
        const CaseAccess *b = &x->part->accesses[i];
        u32 count = b != a && is_index(x, b) ? next_tables(x->part, b->pc, next) : 0;
        for (u32 k = 0; k < count; k++)
            if (next[k] == a->pc) return true;
    }
    return false;
}

static void join_chain(AdviceCase *c, Chained *x, const CaseAccess *root) {
    Hit *hit = hit_begin(c);
    Joined j = {.root = root, .at = root->pc};
    hit_text(hit, TEXT_chains);
    if (!join_from(hit, x, root, &j, LONGEST_CHAIN) || !j.gone || j.last < 2) {
        for (u32 i = 0; i < x->part->access_count; i++)
            if (x->state[i] == IS_JOINED) x->state[i] = IS_INDEX;
        return hit_drop(hit);
    }
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "tables", j.gone, "tables", "%u load%s only where others have what is wanted", j.gone,
             j.gone == 1 ? " says" : "s say");
    hit_fact(hit, "table_wait_share", share, "%", "%.0f %% of the samples wait for them", share);
    hit_caution(hit, "only where the tables stay as they are for many launches, or are made anew with little work");
    hit->doubtful = true;
    hit_end_line(hit, x->part, j.at,
                 "Look up %u places at once instead of one after the other at %s, in tables made beforehand", j.last,
                 place_text(c, x->part, j.at));
}

static void join_chains(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        Chained x = {.part = &c->parts[p], .state = ARENA_ARRAY(c->scratch, u8, c->parts[p].access_count + 1)};
        if (!x.state) {
            c->status = STATUS_NO_MEMORY;
            return;
        }
        for (u32 i = 0; i < x.part->access_count; i++)
            if (is_index(&x, &x.part->accesses[i]) && !is_led_to(&x, &x.part->accesses[i]))
                join_chain(c, &x, &x.part->accesses[i]);
    }
}

void rule_indirect_addressing(AdviceCase *c) {
    compute_addresses(c);
    join_tables(c);
    store_in_order(c);
    join_chains(c);
}
