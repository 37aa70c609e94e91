// SPDX-License-Identifier: Apache-2.0
// The part of memory-transactions that is about numbers wider than they need to be: a word that only says which place
// of shared memory is meant, or which of a few kinds something is of, or whose maximum is kept in 16 bits, fits a byte
// or two, and DRAM or the L2 is busy with the rest of it.
#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum { WORD = 4, DEEP = 4 /* instructions of arithmetic to an address */, OF_BYTE = 1 << 8, OF_TWO = 1 << 16 };

// Whether the node is the address of the access, not what it stores.
static bool is_address(const CasePart *part, u32 pc, u32 node) {
    const FlowInsn *in = case_insn(part, pc);
    if (in->address_use == 0xff) return false;
    const Chains *chains = part->view->flow.chains;
    for (u32 u = 0; u < in->uses; u++)
        if (u != in->address_use && chains->of_operand[in->operands + in->defs + u] == node) return false;
    return chains->of_operand[in->operands + in->defs + in->address_use] == node;
}

// Whether all that the value is for is to name a place in shared memory, through arithmetic. *least becomes the bytes
// of the narrowest access there, if that is less.
static bool names_places(const CasePart *part, u32 pc, u32 depth, u32 *least) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    if (in->defs != 1) return false;
    u32 node = chains->of_operand[in->operands];
    if (node == WL_NONE || chains->first_user[node] == chains->first_user[node + 1]) return false;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        if (user == WL_NONE) return false;
        const CaseAccess *a = case_access(part, user);
        bool arithmetic = depth && part->insns[user].traits & TRAIT_ARITHMETIC;
        if (a ? !access_is_shared(a) || !a->bytes || !is_address(part, user, node)
              : !arithmetic || !names_places(part, user, depth - 1, least))
            return false;
        if (a && a->bytes < *least) *least = a->bytes;
    }
    return true;
}

// --- kinds -----------------------------------------------------------------------------------------------------------
enum { KINDS = 255 /* the largest number of a byte */ };

static bool compares_for_equality(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    u8 compare = case_insn(part, pc)->compare;
    if (!insn) return compare == FLOW_EQUAL || compare == FLOW_NOT_EQUAL;
    return (insn->op == SASS_OP_ISETP || insn->op == SASS_OP_UISETP) && (sass_has(insn, "EQ") || sass_has(insn, "NE"));
}

// Whether the instruction compares the value, and nothing else, with one small number.
static bool asks_for_small(const CasePart *part, u32 pc, u32 node) {
    const FlowResults *flow = &part->view->flow;
    const FlowInsn *in = case_insn(part, pc);
    u32 values = 0, numbers = 0;
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *o = &flow->code->operands[in->operands + in->defs + u];
        if (o->width == 1) continue;  // another predicate, which the result is joined to
        if (o->kind == FLOW_VALUE && flow->chains->of_operand[in->operands + in->defs + u] != node) return false;
        values += o->kind == FLOW_VALUE;
        numbers += o->kind == FLOW_IMMEDIATE && o->value >= 0 && o->value <= KINDS;
    }
    return values == 1 && numbers == 1;
}

static bool asks_for_kind(const CasePart *part, u32 pc, u32 node) {
    return compares_for_equality(part, pc) && asks_for_small(part, pc, node);
}

// Whether all that becomes of a value, the next turn's included, is such questions.
static bool is_kind(const CasePart *part, u32 node, u32 depth) {
    const Chains *chains = part->view->flow.chains;
    if (node == WL_NONE || chains->first_user[node] == chains->first_user[node + 1]) return false;
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        bool copy = user != WL_NONE && case_insn(part, user)->arith == FLOW_MOVE && case_insn(part, user)->defs == 1;
        u32 next = user == WL_NONE ? chains->users[i].operand
                   : copy          ? chains->of_operand[case_insn(part, user)->operands]
                                   : WL_NONE;
        bool goes_on = next != WL_NONE && depth && is_kind(part, next, depth - 1);
        if (!goes_on && (user == WL_NONE || !asks_for_kind(part, user, node))) return false;
    }
    return true;
}

static bool loads_kind(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->defs == 1 && is_kind(part, part->view->flow.chains->of_operand[in->operands], DEEP);
}

// --- numbers whose maximum is kept in 16 bits: they fit these as well ------------------------------------------------
enum { LOWER_HALVES = 0x5410 /* of a PRMT's first and last operand */, LONGEST = 256 /* maxima one after the other */ };

typedef struct Maxima {
    const CasePart *part;
    Bitset seen;  // nodes
    bool kept;    // in 16 bits
} Maxima;

static bool takes_maximum(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    const FlowInsn *in = case_insn(part, pc);
    bool is = in->arith == FLOW_MIN || in->arith == FLOW_MAX || (insn && insn->op == SASS_OP_VIMNMX3);
    return is && in->defs == 1;
}

static bool compares(const CasePart *part, u32 pc) {
    const SassInsn *insn = insn_machine(part, pc);
    return insn ? insn->op == SASS_OP_ISETP : case_insn(part, pc)->arith == FLOW_COMPARE;
}

static bool keeps_lower_half(const CasePart *part, u32 pc, u32 node) {
    const SassInsn *insn = insn_machine(part, pc);
    const FlowInsn *in = case_insn(part, pc);
    const FlowCode *code = part->view->flow.code;
    const CaseAccess *a = case_access(part, pc);
    if (a) return a->store && a->bytes == 2 && !is_address(part, pc, node);
    if (!insn) return in->defs == 1 && in->uses == 1 && code->value_bits[code->operands[in->operands].id] == 16;
    for (u32 i = 0; insn->op == SASS_OP_PRMT && i < insn->operand_count; i++) {
        const SassOperand *o = &code->sass->operands.data[insn->operands + i];
        if (o->kind == SASS_OPERAND_IMMEDIATE) return o->value == LOWER_HALVES;
    }
    return false;
}

// Whether all that becomes of a value is its maximum with others, and comparisons with small numbers.
static bool goes_to_maxima(Maxima *m, u32 node, bool is_maximum, u32 depth) {
    const Chains *chains = m->part->view->flow.chains;
    if (node == WL_NONE || !depth) return false;
    if (bitset_has(&m->seen, node)) return true;
    bitset_add(&m->seen, node);
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        const FlowInsn *in = user == WL_NONE ? NULL : case_insn(m->part, user);
        bool maximum = in && takes_maximum(m->part, user), copy = in && in->arith == FLOW_MOVE && in->defs == 1;
        u32 next = !in ? chains->users[i].operand : maximum || copy ? chains->of_operand[in->operands] : WL_NONE;
        bool kept = in && is_maximum && keeps_lower_half(m->part, user, node);
        bool asked = in && compares(m->part, user) && asks_for_small(m->part, user, node);
        m->kept |= kept;
        if (!kept && !asked && !goes_to_maxima(m, next, is_maximum || maximum, depth - 1)) return false;
    }
    return true;
}

static bool has_short_maximum(AdviceCase *c, const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    Maxima m = {.part = part};
    if (in->defs != 1) return false;
    if (!bitset_init(&m.seen, c->scratch, part->view->flow.chains->node_count + 1))
        return c->status = STATUS_NO_MEMORY, false;
    return goes_to_maxima(&m, part->view->flow.chains->of_operand[in->operands], false, LONGEST) && m.kept;
}

// --- all -------------------------------------------------------------------------------------------------------------
// Each lane loads a word of its own, from DRAM.
static bool is_wide(const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && a->bytes == WORD && a->apart == WORD && a->requests > 0 && access_is_global(a) &&
           part->insns[a->pc].use[RESOURCE_DRAM] > 0;
}

// Bytes for a number below that of the places; WORD: no fewer.
static u32 bytes_for(u64 places) { return places <= OF_BYTE ? 1 : places <= OF_TWO ? 2 : WORD; }

typedef struct Narrow {
    const CasePart *where;
    u32 at, count, widest;  // widest: bytes
    f64 most;
} Narrow;

// A load of which so many bytes stay.
static void narrow(Hit *hit, const CasePart *part, u32 pc, u32 bytes, Narrow *n) {
    const CaseInsn *in = &part->insns[pc];
    f64 gone = 1 - (f64)bytes / WORD;
    hit_relieve(hit, RESOURCE_L2, in->use[RESOURCE_L2] * gone);
    hit_relieve(hit, RESOURCE_DRAM, in->use[RESOURCE_DRAM] * gone);
    hit_blamed(hit, part, pc, STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(BARRIER), hit->c->waiting * gone);
    n->count++;
    if (bytes > n->widest) n->widest = bytes;
    if (in->use[RESOURCE_DRAM] > n->most) n->most = in->use[RESOURCE_DRAM], n->where = part, n->at = pc;
}

static void end(Hit *hit, const Narrow *n) {
    const AdviceCase *c = hit->c;
    hit_fact(hit, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 100 * c->load.busy[RESOURCE_DRAM], "%",
             "DRAM is busy for %.0f %% of the time", 100 * c->load.busy[RESOURCE_DRAM]);
    hit_basis(hit, "the time of DRAM and of the L2 for these loads, of which %u of %d bytes stay", n->widest, WORD);
    hit_caution(hit, "who writes these numbers has to write them as narrow");
    hit->doubtful = true;
    hit_end_line(hit, n->where, n->at, "Keep what is loaded at %s in %u byte%s a number instead of %d",
                 place_text(hit->c, n->where, n->at), n->widest, n->widest > 1 ? "s" : "", WORD);
}

static void narrow_those_of_shared(AdviceCase *c) {
    const ProfileLaunch *l = c->view->launches.typical;
    u64 shared = c->view->function->shared_bytes + (u64)(l ? l->dynamic_shared_bytes : 0);
    Narrow n = {.count = 0};
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_narrow);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            u32 element = WORD;
            if (!is_wide(&c->parts[p], a) || !names_places(&c->parts[p], a->pc, DEEP, &element)) continue;
            u32 bytes = bytes_for(shared / element);
            if (bytes < WORD) narrow(hit, &c->parts[p], a->pc, bytes, &n);
        }
    if (!n.where) return hit_drop(hit);
    hit_fact(hit, "shared_bytes", (f64)shared, "bytes",
             "%u load%s of %d bytes a lane only say%s which place of the CTA's %llu bytes of shared memory is meant",
             n.count, plural(n.count), WORD, n.count == 1 ? "s" : "", (unsigned long long)shared);
    end(hit, &n);
}

static void narrow_kinds(AdviceCase *c) {
    Narrow n = {.count = 0};
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_kinds);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (is_wide(&c->parts[p], a) && loads_kind(&c->parts[p], a->pc)) narrow(hit, &c->parts[p], a->pc, 1, &n);
        }
    if (!n.where) return hit_drop(hit);
    hit_fact(hit, "loads_of_kinds", n.count, "instructions",
             "%u load%s of %d bytes a lane only say%s which of a few small numbers is there", n.count, plural(n.count),
             WORD, n.count == 1 ? "s" : "");
    end(hit, &n);
}

static void narrow_maxima(AdviceCase *c) {
    Narrow n = {.count = 0};
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_narrow);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            bool narrower = is_wide(&c->parts[p], a) && has_short_maximum(c, &c->parts[p], a->pc);
            if (narrower) narrow(hit, &c->parts[p], a->pc, 2, &n);
        }
    if (!n.where) return hit_drop(hit);
    hit_fact(hit, "loads_of_short_numbers", n.count, "instructions",
             "%u load%s of %d bytes a lane bring%s numbers whose maximum or minimum is kept in 16 bits", n.count,
             plural(n.count), WORD, n.count == 1 ? "s" : "");
    end(hit, &n);
}

void narrow_places(AdviceCase *c) {
    if (c->load.busy[RESOURCE_DRAM] < EXPLAINED) return;
    narrow_those_of_shared(c);
    narrow_kinds(c);
    narrow_maxima(c);
}
