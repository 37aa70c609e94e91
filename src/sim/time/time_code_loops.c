// SPDX-License-Identifier: Apache-2.0
// Which loops ptxas unrolls: short counted ones that are one region, sides that are predicated and shuffles included.
// From loops compiled by ptxas 13.0 for sm_90: tests/time/loops.tsv, and 70 of several blocks.
#include "sim/slow_path.h"
#include "sim/time/time_lower.h"

#include <string.h>

// Of a loop that is unrolled: instructions, loads and stores twice, a sum or product of 64 bits once, half words and
// bytes once more where they are loaded and where they are compared; pointers that each turn moves on nothing: they go
// into offsets. Loops of a load, and 0 to 4 of 20 kinds of instructions, compiled with one multiply-add more each: the
// last that is unrolled has 49 of all kinds, and with 1 to 12 loads and up to 4 stores through 1 to 4 pointers
// (loops.tsv, "weight"). Without loads that take long it is unrolled up to BARE_MAX, stores and predicated ones twice,
// and so many more for each load from shared memory: chains of ten kinds, compiled in the same way (loops.tsv, "bare").
enum { UNROLLED_MAX = 49, BARE_MAX = 21, SHARED_MORE = 4 };

// A loop whose turns are known, but too many to unroll it altogether: KNOWN_MAX / weight turns may be issued, those
// that are left over included, of that the largest number at once; weight is without counter, comparison and branch.
// Of bodies of 4 to 120 multiply-adds and 0 to 16 loads compiled with 200 to 1,024 turns: 50 of a weight of 7, 31 of
// 11, 18 of 19, 10 of 33, 4 of 72, none of 73.
enum { KNOWN_MAX = 350, KNOWN_WEIGHT_MAX = 72, WHOLE_PARTS = 64 };

typedef struct Body {
    TimeFunc *f;
    u32 header, latch;  // blocks: it is all those from one to the other
    u32 first, last;    // instructions
    u32 top;            // the one that the loop is entered at: `first`, or behind it
    u32 branch;         // the one that leaves: the last, but for a jump back
    u32 parts;          // blocks of the code
} Body;

static const FlowInsn *insn_at(const Body *b, u32 i) { return &b->f->code->insns[i]; }
static bool is_in_side(const Body *b, u32 i) { return b->f->predicated[b->f->cfg->block_of[i]]; }
static const FlowOperand *operands_of(const Body *b, u32 i) { return b->f->code->operands + insn_at(b, i)->operands; }

// Whether the loop is a region, and nothing else.
static bool find_body(TimeFunc *f, const FlowLoop *loop, Body *b) {
    const FlowBlock *header = &f->cfg->blocks[loop->header];
    if (loop->irreducible || loop->latch_count != 1 || !header->count) return false;
    const TimeBlock *block = time_block(f, header->first);
    *b = (Body){.f = f, .header = loop->header, .latch = f->loops->members[loop->latches], .first = header->first};
    b->last = b->branch = time_region_end(f, block) - 1;
    b->top = b->first;
    b->parts = block->parts;
    if (block->part || block->pc - f->func->entry != b->first || b->last >= f->code->insn_count) return false;
    const FlowBlock *latch = &f->cfg->blocks[b->latch];
    return b->latch >= b->header && b->last == latch->first + latch->count - 1 && !f->speculated[b->latch] &&
           loop->block_count == b->latch - b->header + 1;
}

// `bra MID; L: back; MID: front; @p bra X; bra L; X:`, both parts regions. ptxas issues the front once, then back and
// front so many times as are left, which it unrolls like any other loop.
static bool find_rotated(TimeFunc *f, const FlowLoop *loop, Body *b) {
    if (loop->irreducible || loop->latch_count != 1 || loop->block_count < 2) return false;
    u32 latch = f->loops->members[loop->latches], first = latch, last = loop->header;
    for (u32 k = 0; k < loop->block_count; k++) {
        u32 member = f->loops->members[loop->blocks + k];
        if (member < first) first = member;
        if (member > last) last = member;
    }
    if (latch + 1 != loop->header || last - first + 1 != loop->block_count) return false;
    const FlowBlock *end = &f->cfg->blocks[last];
    *b = (Body){.f = f, .header = first, .latch = last, .first = f->cfg->blocks[first].first};
    b->top = f->cfg->blocks[loop->header].first;
    b->last = b->branch = end->first + end->count - 1;
    if (insn_at(b, b->last)->guard == WL_NONE && end->count == 1 && f->no_branch[b->last]) b->branch--;
    b->parts = time_rotated_parts(f, b->first, b->top, b->branch);
    return b->parts > 0;
}

bool time_forbids_unrolling(const TimeFunc *f, u32 first) {
    const Module *m = f->lower->module;
    const Function *function = f->function;
    for (u32 i = 0; i < function->directive_count; i++) {
        const Directive *d = &m->directives[function->directives + i];
        if (d->is_text && d->insn == first && d->value_count &&
            strcmp(module_text(m, m->refs[d->values]), "nounroll") == 0)
            return true;
    }
    return false;
}

// --- counting -----------------------------------------------------------------------------------------------------
static bool is_only_definition(const Body *b, u32 value) {
    const TimeFunc *f = b->f;
    u32 found = 0;
    for (u32 d = f->first_def[value]; d < f->first_def[value + 1]; d++)
        found += f->defs_of[d] >= b->first && f->defs_of[d] <= b->last;
    return found == 1;
}

// r = r + constant, in every turn
static bool is_increment(const Body *b, u32 i) {
    return time_adds_number(b->f, i) && !is_in_side(b, i) && is_only_definition(b, operands_of(b, i)->id);
}

static bool is_counted(const Body *b, const FlowOperand *o) {
    return o->kind == FLOW_VALUE && bitset_has(&b->f->counted, o->id);
}

static bool is_fixed(const Body *b, const FlowOperand *o) {
    const TimeFunc *f = b->f;
    if (o->kind != FLOW_VALUE) return true;
    for (u32 d = f->first_def[o->id]; d < f->first_def[o->id + 1]; d++)
        if (f->defs_of[d] >= b->first && f->defs_of[d] <= b->last) return false;
    return true;
}

static bool counts_to_bound(const Body *b, const FlowOperand *counter, const FlowOperand *bound) {
    return is_counted(b, counter) && is_fixed(b, bound);
}

// A counter of floating point, which is added to in each turn all the same.
static bool is_real_step(const Body *b, u32 i) {
    return time_adds_real(b->f, i) && !is_in_side(b, i) && is_only_definition(b, operands_of(b, i)->id);
}

// The comparison that the loop's branch asks, of something that is increased in the loop with what is not changed
// there.
static u32 counting_compare(const Body *b) {
    const FlowInsn *branch = insn_at(b, b->branch);
    u32 compare = WL_NONE;
    bitset_clear(&b->f->counted);
    for (u32 i = b->first; i <= b->last; i++) {
        const FlowOperand *o = operands_of(b, i);
        if (is_increment(b, i) || is_real_step(b, i)) bitset_add(&b->f->counted, o[0].id);
        if (time_compares(b->f, i) && o[0].id == branch->guard)
            compare = !is_in_side(b, i) && (counts_to_bound(b, &o[1], &o[2]) || counts_to_bound(b, &o[2], &o[1]))
                          ? i
                          : WL_NONE;
    }
    return compare;
}

// --- memory -------------------------------------------------------------------------------------------------------
// Spaces that an access may touch, as bits 1 << PtxSpace; of what does not lie in memory that is written: none.
static u32 spaces_of(const FlowInsn *in) {
    const u32 all = 1u << SPACE_GLOBAL | 1u << SPACE_LOCAL | 1u << SPACE_SHARED | 1u << SPACE_SHARED_CLUSTER;
    return in->space == SPACE_NONE ? all : all & 1u << in->space;
}

static bool is_read(const FlowInsn *in) {
    return in->is_load && !in->is_atomic && in->space != SPACE_CONST && in->space != SPACE_PARAM;
}

static bool uses_marked(const Body *b, u32 i, const Bitset *marked) {
    const FlowInsn *in = insn_at(b, i);
    if (in->guard != WL_NONE && bitset_has(marked, in->guard)) return true;
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *o = &operands_of(b, i)[in->defs + u];
        if (o->kind == FLOW_VALUE && bitset_has(marked, o->id)) return true;
    }
    return false;
}

// v = v + constant in every turn, be it by way of another register.
static bool is_bumped(const Body *b, u32 value) {
    u32 from = WL_NONE;
    for (u32 i = b->last + 1; i-- > b->first;) {
        const FlowInsn *in = insn_at(b, i);
        const FlowOperand *o = operands_of(b, i);
        if (in->defs != 1 || o[0].id != (from == WL_NONE ? value : from)) continue;
        if (is_in_side(b, i) || in->guard != WL_NONE) return false;
        if (from == WL_NONE && in->arith == FLOW_MOVE && o[1].kind == FLOW_VALUE)
            from = o[1].id;
        else
            return in->arith == FLOW_ADD && o[1].kind == FLOW_VALUE && o[1].id == value && o[2].kind == FLOW_IMMEDIATE;
    }
    return false;
}

// Spaces with stores and atomics that wait for a load of the same turn, be it for what guards them: no load of the next
// turn can start before them. Stores through a pointer that each turn moves on do not count.
static u32 spaces_behind_loads(const Body *b) {
    Bitset *loaded = &b->f->counted;
    u32 spaces = 0;
    bool guard = false;  // of the sides that come next
    bitset_clear(loaded);
    for (u32 i = b->first; i <= b->last; i++) {
        const FlowInsn *in = insn_at(b, i);
        bool side = is_in_side(b, i), waits = is_read(in) || uses_marked(b, i, loaded) || (side && guard);
        if (in->kind == FLOW_BRANCH && !side) guard = waits;
        bool moves_on = in->is_store && !side && is_bumped(b, b->f->picked[i].base);
        if ((in->is_store || in->is_atomic) && waits && !moves_on) spaces |= spaces_of(in);
        for (u32 d = 0; d < in->defs; d++) {
            u32 value = operands_of(b, i)[d].id;
            if (waits)
                bitset_add(loaded, value);
            else if (in->guard == WL_NONE && !side)
                bitset_remove(loaded, value);
        }
    }
    return spaces;
}

// Whether lanes leave the loop at different times, or it lies between BSSY and BSYNC.
static bool may_part(const Body *b) {
    const TimeFunc *f = b->f;
    return bitset_has(&f->divergence->branches, b->branch) || time_lanes_parted(f, b->header);
}

// Whether loads of several turns would be under way at once, or there are none: else ptxas leaves a loop as it is where
// lanes may part.
static bool is_worth_unrolling(const Body *b) {
    u32 behind = spaces_behind_loads(b);
    bool loads = false;
    for (u32 i = b->first; i <= b->last; i++) {
        if (!is_read(insn_at(b, i))) continue;
        if (!(spaces_of(insn_at(b, i)) & behind)) return true;
        loads = true;
    }
    return !loads;
}

// --- the choice ---------------------------------------------------------------------------------------------------
// `parts`: may_part.
static bool can_unroll_insn(const Body *b, u32 i, bool parts) {
    const FlowInsn *in = insn_at(b, i);
    u32 flags = form_op(time_form(b->f, i))->flags;
    if (in->guard != WL_NONE && in->kind != FLOW_BRANCH) return false;
    if (parts && flags & (OPF_CONVERGENT | OPF_WARP_SYNC | OPF_ATOMIC)) return false;
    if (flags & OPF_ATOMIC && time_kind(b->f, i) != TIME_REDUCE) return false;
    if (b->f->picked[i].needed && has_slow_path(time_form(b->f, i))) return false;
    return !(flags & (OPF_FENCE | OPF_CALL | OPF_VOLATILE | OPF_ASYNC));
}

static bool can_unroll(const Body *b, bool whole) {
    bool parts = may_part(b);
    for (u32 i = b->first; i <= b->last; i++)
        if (!can_unroll_insn(b, i, parts)) return false;
    return !time_forbids_unrolling(b->f, b->top) && (!parts || whole || is_worth_unrolling(b));
}

static bool compares_halves(const Body *b, u32 i) {
    const FlowOperand *o = operands_of(b, i);
    return insn_at(b, i)->arith == FLOW_COMPARE && o[1].kind == FLOW_VALUE && b->f->code->value_bits[o[1].id] == 16;
}

// Whether nothing in the loop reads a value but accesses, for their address, and its own increment.
static bool is_pointer(const Body *b, u32 value) {
    bool accesses = false;
    for (u32 i = b->first; i <= b->last; i++) {
        const Picked *p = &b->f->picked[i];
        if (!p->needed || (is_increment(b, i) && operands_of(b, i)->id == value)) continue;
        for (u32 k = 0; k < p->leaf_count; k++) {
            if (b->f->leaves.data[p->leaves + k] != value) continue;
            if (p->base != value) return false;
            accesses = true;
        }
    }
    return accesses;
}

// The base of a sum with a number is read by others in the loop, too.
static bool shares_base(const Body *b, u32 i) {
    const FlowOperand *base = time_uses(b->f, i);
    return base->kind == FLOW_VALUE && !time_is_single(b->f, base->id);
}

// An instruction that is part of another one on the machine, but that ptxas still has by itself when it unrolls: logic,
// sums and comparisons that LOP3, IADD3 and ISETP take more of, sums that go into the offset of an address.
static bool is_merged_later(const Body *b, u32 i) {
    const TimeFunc *f = b->f;
    const FlowInsn *in = insn_at(b, i);
    if (f->picked[i].needed || in->defs != 1 || !f->use_count[operands_of(b, i)->id] || is_increment(b, i))
        return false;
    switch (time_op(f, i)) {
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SETP_INT:
    case OP_SETP_F:
    case OP_SETP_F64: return true;
    case OP_ADD_INT:
    case OP_SUB_INT:
        if (f->code->value_bits[operands_of(b, i)->id] == 64 && time_uses(f, i)[1].kind == FLOW_IMMEDIATE)
            return !shares_base(b, i);
        return true;
    case OP_CVT_INT: return time_bits(f, i, 0) == 32 && time_bits(f, i, 1) == 16;
    default: return false;
    }
}

// What an instruction weighs of UNROLLED_MAX.
static u32 weight_of(const Body *b, u32 i) {
    const FlowInsn *in = insn_at(b, i);
    if (in->kind == FLOW_BRANCH) return in->guard != WL_NONE;
    if (!b->f->picked[i].needed) return is_merged_later(b, i);
    if (is_increment(b, i) && is_pointer(b, operands_of(b, i)->id)) return 0;
    if (in->address_use != 0xff) return 2 + (in->is_load && in->access_bytes == 1);
    u32 steps = time_step_count(b->f, i);
    bool wide = in->defs == 1 && b->f->code->value_bits[operands_of(b, i)->id] == 64;
    if (wide && steps > 1) steps = (steps + 1) / 2;
    return steps + 2 * compares_halves(b, i);
}

// Whether it is short enough.
static bool is_short(const Body *b) {
    u32 total = 1, weight = 1, stores = 0, most = BARE_MAX;  // 1: the branch
    bool waits = false;
    for (u32 i = b->first; i < b->last; i++) {
        const FlowInsn *in = insn_at(b, i);
        total += weight_of(b, i);
        bool issued = b->f->picked[i].needed && in->kind != FLOW_BRANCH;
        weight += issued + (issued && is_in_side(b, i)) + (in->is_store && stores++);
        if (!is_read(in)) continue;
        waits |= in->space != SPACE_SHARED;
        most += SHARED_MORE;
    }
    return total <= UNROLLED_MAX && (waits || weight <= most);
}

static bool is_unrolled_whole(const Body *b, i64 turns) {
    u64 weight = 1, most = TIME_WHOLE_MAX;
    for (u32 i = b->first; i < b->last; i++) {
        bool placed = time_has_known_place(b->f, i);
        weight += b->f->picked[i].needed && insn_at(b, i)->kind != FLOW_BRANCH && !placed;
        weight += is_read(insn_at(b, i));
        most += placed ? TIME_PLACED_MORE : 0;
    }
    return turns >= 2 && turns <= TIME_WHOLE_MAX && (u64)turns * weight * weight <= most;
}

// Whether instruction `i` is the step of what is compared.
static bool counts_for(const Body *b, u32 i, u32 compare) {
    const FlowOperand *o = operands_of(b, compare);
    u32 made = is_increment(b, i) ? operands_of(b, i)->id : WL_NONE;
    for (u32 k = 1; k <= 2; k++)
        if (made != WL_NONE && o[k].kind == FLOW_VALUE && o[k].id == made) return true;
    return false;
}

// Of a loop whose turns are known: how many of them are at once at most, with those that are left over behind them. All
// of them, or as many as the trace is looked through for.
static u32 most_turns(const Body *b, i64 turns) {
    u32 weight = 0;
    if (turns < 2) return 0;
    if (is_unrolled_whole(b, turns)) return WHOLE_PARTS / b->parts;
    u32 compare = counting_compare(b);
    if (compare == WL_NONE) return 0;
    for (u32 i = b->first; i < b->last; i++)
        weight += i == compare || i == b->branch || counts_for(b, i, compare) ? 0 : weight_of(b, i);
    if (!weight || weight > KNOWN_WEIGHT_MAX) return 0;
    u32 most = KNOWN_MAX / weight, room = TIME_PARTS / b->parts;
    return most < room ? most : room;
}

// So many turns at once that no more than `most` are issued, those left over included; 0: not unrolled.
static u32 known_turns(u32 most, i64 turns) {
    if (!most) return 0;
    if (turns <= most) return (u32)turns;
    u32 n = most;
    while (n > 1 && n + turns % n > most) n--;
    return n > 1 ? n : 0;
}

// An experiment has it unrolled, however long it is.
static bool is_wanted(const Body *b) {
    bool wanted = false;
    for (u32 i = b->first; i <= b->last; i++) wanted |= time_edited(b->f, i, EDIT_UNROLLED) != 0;
    for (u32 i = b->first; i <= b->last && wanted; i++) wanted = can_unroll_insn(b, i, true);
    return wanted && b->parts * TIME_UNROLL <= TIME_PARTS;
}

static void choose(const Body *b, i64 turns) {
    TimeFunc *f = b->f;
    const FlowInsn *branch = insn_at(b, b->branch);
    if (branch->kind != FLOW_BRANCH || branch->guard == WL_NONE) return;
    u32 known = known_turns(most_turns(b, turns), turns);
    bool wanted = is_wanted(b);
    if (!known && !wanted && (turns >= 0 || !is_short(b) || b->parts * TIME_UNROLL > TIME_PARTS)) return;
    u32 compare = counting_compare(b);
    if (compare == WL_NONE || !(wanted || can_unroll(b, known != 0))) return;
    for (u32 i = b->first; i < b->last; i++) f->loop_control[i] = is_increment(b, i);
    f->loop_control[compare] = f->loop_control[b->branch] = true;
    if (b->top != b->first) time_rotate(f, b->first, b->last);
    for (u32 k = b->header; k <= b->latch; k++) {
        f->unrolled[k] = (u8)(known ? known : TIME_UNROLL);
        f->left[k] = (u8)(turns < 0 ? TIME_PAIR : known && turns % known > 1 ? turns % known : 0);
        f->whole[k] = known && is_unrolled_whole(b, turns);
        f->rest[k] = turns < 0;
    }
}

void time_choose_unrolled(TimeFunc *f) {
    for (u32 l = 0; l < f->loops->loop_count; l++) {
        const FlowLoop *loop = &f->loops->loops[l];
        Body body;
        if (find_body(f, loop, &body))
            choose(&body, loop->trip_count);
        else if (loop->trip_count > 2 && find_rotated(f, loop, &body))
            choose(&body, loop->trip_count - 1);
    }
}
