// SPDX-License-Identifier: Apache-2.0
// The part of memory-transactions that is about what data names elements of: what lanes gather at one index from
// several arrays, or from parts of one structure, comes in a sector for each of them, in one if it lies side by side.
// Structures whose size is no power of two lie across two sectors now and then, and cannot be loaded in pieces of 16
// bytes.
#include <math.h>

#include "analyze/advice/rule.h"

enum { SECTOR = 32, WIDEST = 16, ELEMENTS = 8 /* looked for, of one structure */, WARP = 32 };
#define SPREAD 0.5  // of the lanes have sectors of their own

// Turn by turn through neighbours, as along a row that data names: sectors are used up by later turns.
static bool is_walk(const CasePart *part, const CaseAccess *a) {
    u32 loop = part->insns[a->pc].loop;
    i64 step;
    if (loop == WL_NONE) return false;
    return affine_step(part->view->flow.affine, a->affine->form, loop, &step) == AFFINE_STRIDE_CONSTANT && step;
}

// A sector for each lane, or for most.
static bool is_spread(const CasePart *part, const CaseAccess *a) {
    return access_is_global(a) && a->load && !a->atomic && a->affine && a->gathered && a->requests > 0 && a->bytes &&
           a->bytes < WIDEST && a->sectors >= SPREAD * WARP && !is_walk(part, a);
}

// Where an array begins.
static bool is_begin(const CasePart *part, const AffineTerm *term) {
    const AffineFactor *f = &part->view->flow.affine->factors[term->factors[0]];
    bool alone = term->coefficient == 1 && term->factors[1] == WL_NONE;
    return term->factors[0] != WL_NONE && alone && (f->kind == AFFINE_PARAMETER || f->kind == AFFINE_SYMBOL);
}

// The index of the next term that is not where the array begins; *begin: that of the one which is.
static u32 next_of_index(const CasePart *part, const AffineForm *form, u32 from, u32 *begin) {
    const AffineTerm *terms = part->view->flow.affine->terms + form->terms;
    while (from < form->term_count && is_begin(part, &terms[from])) *begin = terms[from++].factors[0];
    return from;
}

i64 access_pitch(const CasePart *part, const CaseAccess *a) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    i64 most = 0;
    for (u32 t = 0; t < form->term_count; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        bool data = term->factors[0] != WL_NONE && affine->factors[term->factors[0]].kind == AFFINE_NODE;
        i64 times = term->coefficient < 0 ? -term->coefficient : term->coefficient;
        if (data && times > most) most = times;
    }
    return most;
}

static bool is_other_sector(i64 a, i64 b) { return (a < 0 ? -1 : a / SECTOR) != (b < 0 ? -1 : b / SECTOR); }

static i64 constant_of(const CasePart *part, const CaseAccess *a) {
    return part->view->flow.affine->forms[a->affine->form].constant;
}

// All that differs between their addresses is a constant, and where the arrays begin, if it is not one: *one.
static bool has_same_terms(const CasePart *part, const CaseAccess *a, const CaseAccess *b, bool *one) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *f = &affine->forms[a->affine->form], *g = &affine->forms[b->affine->form];
    u32 of_a = WL_NONE, of_b = WL_NONE;
    u32 x = next_of_index(part, f, 0, &of_a), y = next_of_index(part, g, 0, &of_b);
    if (f->term_count != g->term_count) return false;
    while (x < f->term_count && y < g->term_count) {
        const AffineTerm *s = &affine->terms[f->terms + x], *t = &affine->terms[g->terms + y];
        if (!affine_same_term(s, t)) return false;
        x = next_of_index(part, f, x + 1, &of_a), y = next_of_index(part, g, y + 1, &of_b);
    }
    *one = of_a == of_b;
    return x >= f->term_count && y >= g->term_count;
}

// Elements of the same number in two arrays. Or parts of one structure that are not in the same sector.
static bool has_same_index(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    i64 f = constant_of(part, a), g = constant_of(part, b), apart = f > g ? f - g : g - f;
    bool one;
    if (!has_same_terms(part, a, b, &one)) return false;
    if (!one) return !apart && a->bytes == b->bytes;
    return is_other_sector(f, g) && apart + a->bytes <= access_pitch(part, a);
}

// Whether one of the elements is as far from the first as this one, or in the same sector of one structure.
static bool is_there(const CasePart *part, const u32 elements[ELEMENTS], u32 count, const CaseAccess *a) {
    for (u32 i = 0; i < count; i++)
        if (!has_same_index(part, &part->accesses[elements[i]], a)) return true;
    return false;
}

// The loads of the block that are elements of one structure, the at-th access the first of them.
static u32 find_elements(const CasePart *part, u32 at, u32 elements[ELEMENTS]) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    const CaseAccess *a = &part->accesses[at];
    u32 count = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (block_of[b->pc] != block_of[a->pc] || !is_spread(part, b)) continue;
        if (i != at && !has_same_index(part, a, b)) continue;
        if (i < at) return 0;  // found with that one
        if (count < ELEMENTS && !is_there(part, elements, count, b)) elements[count++] = i;
    }
    return count;
}

// --- what is asked of the same element later -------------------------------------------------------------------------
// A turn that goes on to another element, as along a list or down a tree, takes some parts of it at once, to decide
// where to go or whether to, and the next turn the others, where to. Those wait once more, and lie in the same
// structure.

// The value that comes to a loop's header from its own turns is `now`.
static bool is_handed_on(const CasePart *part, u32 merge, u32 now) {
    const FlowResults *flow = &part->view->flow;
    const ChainNode *n = &flow->chains->nodes[merge];
    u32 loop = flow->loops->loop_of[n->block];
    if (!chain_is_merge(flow->chains, merge) || loop == WL_NONE || flow->loops->loops[loop].header != n->block)
        return false;
    for (u32 i = 0; i < n->arg_count; i++) {
        u32 arg = flow->chains->args[n->args + i];
        const AffineForm *form = arg == WL_NONE ? NULL : &flow->affine->forms[arg];
        if (!form || form->term_count != 1 || form->constant) continue;
        const AffineTerm *term = &flow->affine->terms[form->terms];
        const AffineFactor *f = &flow->affine->factors[term->factors[0]];
        bool alone = term->coefficient == 1 && term->factors[1] == WL_NONE && f->kind == AFFINE_NODE;
        if (alone && f->id == now) return true;
    }
    return false;
}

// The only value that the data says of the address; WL_NONE: there is none, or several. *times: what it is multiplied
// by.
static u32 index_of(const CasePart *part, const CaseAccess *a, i64 *times) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    u32 found = WL_NONE, begin = WL_NONE, t = next_of_index(part, form, 0, &begin);
    if (t < form->term_count && next_of_index(part, form, t + 1, &begin) >= form->term_count) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        const AffineFactor *f = &affine->factors[term->factors[0]];
        if (term->factors[1] == WL_NONE && f->kind == AFFINE_NODE) found = f->id, *times = term->coefficient;
    }
    return found;
}

// Parts of the element that `a` is of which an earlier load of the loop takes, one turn before; 0: none does.
static u32 parts_before(const CasePart *part, const CaseAccess *a) {
    i64 times = 0, other = 0;
    u32 merge = index_of(part, a, &times), count = 0;
    for (u32 i = 0; merge != WL_NONE && i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        bool same = b != a && part->insns[b->pc].loop == part->insns[a->pc].loop && is_spread(part, b);
        u32 now = same && constant_of(part, a) == constant_of(part, b) ? index_of(part, b, &other) : WL_NONE;
        count += now != WL_NONE && times == other && is_handed_on(part, merge, now);
    }
    return count;
}

typedef struct Gathers {
    u32 pc, arrays, loads;
    bool fields;  // of one structure
    f64 most;
} Gathers;

// Loads of as many bytes as one can take, and sectors, instead of one for each array.
static void join(Hit *hit, const CasePart *part, const u32 elements[ELEMENTS], u32 count, Gathers *g) {
    u32 bytes = 0;
    for (u32 i = 0; i < count; i++) bytes += part->accesses[elements[i]].bytes;
    f64 loads = (bytes + WIDEST - 1) / WIDEST, sectors = (bytes + SECTOR - 1) / SECTOR;
    f64 gone = fmax(1 - loads / count, 0), moved = fmax(1 - sectors / count, 0);
    for (u32 i = 0; i < count; i++) {
        const CaseInsn *in = &part->insns[part->accesses[elements[i]].pc];
        u32 pc = part->accesses[elements[i]].pc, queue = STALL_BIT(LG_THROTTLE) | STALL_BIT(MIO_THROTTLE);
        hit->change.issues += in->issued * gone;
        hit_edit(hit, EDIT_FREE, part, pc, gone);
        hit_blamed(hit, part, pc, queue, gone);
        hit_blamed(hit, part, pc, ~queue, hit->c->waiting * moved);
        hit_relieve(hit, RESOURCE_LSU, in->use[RESOURCE_LSU] * moved);
        hit_relieve(hit, RESOURCE_L2, in->use[RESOURCE_L2] * moved);
        hit_relieve(hit, RESOURCE_DRAM, in->use[RESOURCE_DRAM] * moved);
        f64 weight = in->issued + in->blamed;
        if (weight > g->most) g->most = weight, g->pc = pc;
    }
    const Affine *affine = part->view->flow.affine;
    const CaseAccess *first = &part->accesses[elements[0]], *last = &part->accesses[elements[count - 1]];
    g->fields |= affine->forms[first->affine->form].constant != affine->forms[last->affine->form].constant;
    g->arrays = count > g->arrays ? count : g->arrays;
    g->loads += count;
}

// They come with the parts that are loaded before: nobody waits for them, nor loads them.
static void join_later(Hit *hit, const CasePart *part, const u32 elements[ELEMENTS], u32 count, Gathers *g) {
    u32 before = parts_before(part, &part->accesses[elements[0]]);
    for (u32 i = 0; i < count; i++) {
        u32 pc = part->accesses[elements[i]].pc;
        f64 weight = part->insns[pc].issued + part->insns[pc].blamed;
        hit_remove(hit, part, pc, 1);
        if (weight > g->most) g->most = weight, g->pc = pc;
    }
    g->arrays = count + before > g->arrays ? count + before : g->arrays;
    g->loads += count;
}

static void say(Hit *hit, const CasePart *part, const Gathers *g) {
    AdviceCase *c = hit->c;
    hit_text(hit, g->fields ? TEXT_gathered_fields : TEXT_gathered_arrays);
    if (g->fields)
        hit_fact(hit, "gathered_fields", g->arrays, "sectors",
                 "lanes take parts of a structure that data names from %u of its sectors", g->arrays);
    else
        hit_fact(hit, "gathered_arrays", g->arrays, "arrays",
                 "lanes take one element of each of %u arrays at an index that data names", g->arrays);
    hit_fact(hit, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 100 * c->load.busy[RESOURCE_L2], "%",
             "the L2 is busy %.0f %% of the time", 100 * c->load.busy[RESOURCE_L2]);
    if (!g->fields) hit_caution(hit, "what goes over single arrays in order then moves the others' elements, too");
    const char *place = place_text(c, part, g->pc);
    if (g->fields)
        hit_end_line(hit, part, g->pc, "Let the parts of a structure that are read at %s follow one another in it",
                     place);
    else
        hit_end_line(hit, part, g->pc, "Lay the %u arrays that are gathered from at %s side by side, in structures",
                     g->arrays, place);
}

// --- structures across sectors ---------------------------------------------------------------------------------------
enum { FIELDS = 16 /* of a structure */, LARGEST = 1024 /* bytes of one */ };

typedef struct Structure {
    u32 fields[FIELDS], count;  // loads
    i64 pitch, padded;          // bytes
    f64 sectors, fewest;        // touched by a lane, as it is and padded
    u32 loads;                  // of 16 bytes at most, padded
} Structure;

static i64 floor_of(i64 x, i64 step) { return (x < 0 ? x - step + 1 : x) / step; }

static i64 place_in(const CasePart *part, u32 access, i64 pitch) {
    i64 constant = constant_of(part, &part->accesses[access]);
    return constant - floor_of(constant, pitch) * pitch;
}

// Pieces of so many bytes that the loads touch, on average over where structures begin that are `pitch` apart.
static f64 pieces_of(const CasePart *part, const Structure *s, i64 pitch, i64 piece) {
    f64 all = 0, begins = 0;
    i64 begin = 0;
    do {
        u64 touched = 0;
        for (u32 i = 0; i < s->count; i++) {
            i64 first = begin + place_in(part, s->fields[i], s->pitch),
                last = first + part->accesses[s->fields[i]].bytes - 1;
            touched |= 1ull << first / piece % 64 | 1ull << last / piece % 64;
        }
        for (; touched; touched &= touched - 1) all++;
        begins++;
        begin = (begin + pitch) % piece;
    } while (begin);
    return all / begins;
}

// So that none lies across more sectors than its bytes need.
static i64 padded_to(i64 pitch) {
    i64 padded = 1;
    while (padded < pitch && padded < SECTOR) padded *= 2;
    return pitch <= SECTOR ? padded : (pitch + SECTOR - 1) / SECTOR * SECTOR;
}

// The loads of the block that take parts of one structure, the at-th access the first of them; false: it is none, or
// not the first.
static bool find_structure(const CasePart *part, u32 at, Structure *s) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    const CaseAccess *a = &part->accesses[at];
    *s = (Structure){.pitch = is_spread(part, a) ? access_pitch(part, a) : 0};
    if (s->pitch <= 0 || s->pitch > LARGEST) return false;
    for (u32 i = 0; i < part->access_count && s->count < FIELDS; i++) {
        const CaseAccess *b = &part->accesses[i];
        bool one = false, here = block_of[b->pc] == block_of[a->pc] && is_spread(part, b);
        if (!here || !has_same_terms(part, a, b, &one) || !one) continue;
        if (floor_of(constant_of(part, a), s->pitch) != floor_of(constant_of(part, b), s->pitch)) continue;
        if (i < at) return false;
        s->fields[s->count++] = i;
    }
    s->padded = padded_to(s->pitch);
    s->sectors = pieces_of(part, s, s->pitch, SECTOR);
    s->fewest = pieces_of(part, s, s->padded, SECTOR);
    s->loads = (u32)pieces_of(part, s, s->padded, s->padded < WIDEST ? s->padded : WIDEST);
    return true;
}

static bool lies_across(const Structure *s) { return s->count > 1 && s->sectors > s->fewest; }

// Sectors that the L2 is asked for if the L1 has none of them, a structure's once; `padded`: when those lie across
// none.
static f64 sectors_of_all(const AdviceCase *c, bool padded) {
    f64 all = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CasePart *part = &c->parts[p];
            const CaseAccess *a = &part->accesses[i];
            Structure s;
            if (find_structure(part, i, &s))
                all += a->requests * a->lanes * (padded && lies_across(&s) ? s.fewest : s.sectors);
            else if (access_is_global(a) && s.pitch <= 0)
                all += a->requests * (a->store ? a->leaving : a->sectors);
        }
    return all;
}

f64 gathers_time_of_l2(const AdviceCase *c, bool padded) {
    f64 now = case_l2_sectors(c, sectors_of_all(c, false)), sure = c->load.too_high > 1 ? c->load.too_high : 1;
    f64 left = padded ? case_l2_sectors(c, sectors_of_all(c, true)) : now;
    // As many as samples say, or as are certain: in the middle.
    return now <= sure ? fmin(left * (1 / fmax(now, 1) + 1 / sure) / 2, 1) : 0;
}

static void pad(Hit *hit, const CasePart *part, const Structure *s) {
    const AdviceCase *c = hit->c;
    f64 gone = fmax(1 - (f64)s->loads / s->count, 0), moved = 1 - s->fewest / s->sectors;
    u32 queue = STALL_BIT(LG_THROTTLE) | STALL_BIT(MIO_THROTTLE);
    for (u32 i = 0; i < s->count; i++) {
        u32 pc = part->accesses[s->fields[i]].pc;
        const CaseInsn *in = &part->insns[pc];
        bool of_l1 = case_behind(c, part, pc) == RESOURCE_LSU;
        hit->change.issues += in->issued * gone;
        hit_edit(hit, EDIT_FREE, part, pc, i < s->loads ? 0 : 1);
        hit_blamed(hit, part, pc, queue, gone);
        hit_blamed(hit, part, pc, ~queue, c->waiting * (of_l1 ? gone : moved));
        hit_relieve(hit, RESOURCE_LSU, in->use[RESOURCE_LSU] * gone);
        hit_relieve(hit, RESOURCE_L2, in->use[RESOURCE_L2] * moved);
        hit_relieve(hit, RESOURCE_DRAM, in->use[RESOURCE_DRAM] * moved);
    }
}

static void pad_structures(AdviceCase *c, const CasePart *part) {
    Hit *hit = hit_begin(c);
    Structure s, worst = {0};
    f64 most = -1;
    u32 at = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        u32 pc = part->accesses[i].pc;
        if (!find_structure(part, i, &s) || !lies_across(&s)) continue;
        pad(hit, part, &s);
        if (part->insns[pc].issued + part->insns[pc].blamed <= most) continue;
        most = part->insns[pc].issued + part->insns[pc].blamed, at = pc, worst = s;
    }
    if (!worst.count) return hit_drop(hit);
    hit->change.stays = gathers_time_of_l2(c, true);
    hit_text(hit, TEXT_padded_structures);
    hit_fact(hit, "structure_bytes", (f64)worst.pitch, "bytes",
             "lanes take %u words of structures of %lld bytes that data names, from %.2f sectors each; padded to %lld "
             "bytes, from %.2g",
             worst.count, (long long)worst.pitch, worst.sectors, (long long)worst.padded, worst.fewest);
    hit_caution(hit, "the array takes %.0f %% more room", 100 * ((f64)worst.padded / (f64)worst.pitch - 1));
    hit_end_line(hit, part, at, "Align the structures that are read at %s, so that none lies across two sectors",
                 place_text(c, part, at));
}

void join_gathers(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) pad_structures(c, &c->parts[p]);
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        Hit *hit = hit_begin(c);
        Gathers g = {0};
        for (u32 i = 0; i < part->access_count; i++) {
            u32 elements[ELEMENTS], count = is_spread(part, &part->accesses[i]) ? find_elements(part, i, elements) : 0;
            if (count && parts_before(part, &part->accesses[i]))
                join_later(hit, part, elements, count, &g);
            else if (count > 1)
                join(hit, part, elements, count, &g);
        }
        if (!g.loads) {
            hit_drop(hit);
            continue;
        }
        say(hit, part, &g);
    }
}
