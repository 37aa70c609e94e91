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

// --- maxima: where one is kept in 16 bits all numbers fit these ------------------------------------------------------
enum { LOWER_HALVES = 0x5410 /* of a PRMT's first and last operand */ };

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

// --- what becomes of a value -----------------------------------------------------------------------------------------
enum { LONGEST = 256 /* copies, turns and maxima one after the other */ };

typedef struct Uses {
    const CasePart *part;
    Bitset seen;       // nodes
    bool kinds, kept;  // questions for kinds alone are looked for; a maximum is kept in 16 bits
} Uses;

// Whether the instruction is all that a small number can be for, which ends here.
static bool ends_here(Uses *uses, u32 pc, u32 node, bool is_maximum) {
    if (uses->kinds) return asks_for_kind(uses->part, pc, node);
    bool kept = is_maximum && keeps_lower_half(uses->part, pc, node);
    uses->kept |= kept;
    return kept || (compares(uses->part, pc) && asks_for_small(uses->part, pc, node));
}

// Whether all that becomes of a value, the next turn's included, ends so.
static bool is_small(Uses *uses, u32 node, bool is_maximum, u32 depth) {
    const Chains *chains = uses->part->view->flow.chains;
    if (node == WL_NONE || !depth) return false;
    if (bitset_has(&uses->seen, node)) return true;
    bitset_add(&uses->seen, node);
    for (u32 i = chains->first_user[node]; i < chains->first_user[node + 1]; i++) {
        u32 user = chains->users[i].insn;
        const FlowInsn *in = user == WL_NONE ? NULL : case_insn(uses->part, user);
        bool maximum = in && !uses->kinds && takes_maximum(uses->part, user),
             copy = in && in->arith == FLOW_MOVE && in->defs == 1;
        u32 next = !in ? chains->users[i].operand : maximum || copy ? chains->of_operand[in->operands] : WL_NONE;
        bool ends = in && ends_here(uses, user, node, is_maximum);
        if (!ends && !is_small(uses, next, is_maximum || maximum, depth - 1)) return false;
    }
    return true;
}

static bool is_loaded_small(AdviceCase *c, const CasePart *part, u32 pc, bool kinds) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    Uses uses = {.part = part, .kinds = kinds};
    u32 node = in->defs == 1 ? chains->of_operand[in->operands] : WL_NONE;
    if (node == WL_NONE || chains->first_user[node] == chains->first_user[node + 1]) return false;
    if (!bitset_init(&uses.seen, c->scratch, chains->node_count + 1)) return c->status = STATUS_NO_MEMORY, false;
    return is_small(&uses, node, false, LONGEST) && (kinds || uses.kept);
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

// Bytes for a number that says which place of shared memory is meant.
static u32 bytes_of_place(AdviceCase *c, const CasePart *part, u32 pc) {
    u32 element = WORD;
    return names_places(part, pc, DEEP, &element) ? bytes_for(kernel_view_shared_bytes(c->view) / element) : WORD;
}

static u32 bytes_of_kind(AdviceCase *c, const CasePart *part, u32 pc) {
    return is_loaded_small(c, part, pc, true) ? 1 : WORD;
}

static u32 bytes_of_short(AdviceCase *c, const CasePart *part, u32 pc) {
    return is_loaded_small(c, part, pc, false) ? 2 : WORD;
}

static const struct {
    AdviceTextId text;
    u32 (*bytes)(AdviceCase *c, const CasePart *part, u32 pc);  // that the number needs; WORD: as many as it has
    const char *fact, *one, *more;                              // ... and what one such load does, and several do
} narrower[] = {
    {TEXT_narrow, bytes_of_place, "loads_of_places", "only says which place of the CTA's shared memory is meant",
     "only say which place of the CTA's shared memory is meant"},
    {TEXT_kinds, bytes_of_kind, "loads_of_kinds", "only says which of a few small numbers is there",
     "only say which of a few small numbers is there"},
    {TEXT_maxima, bytes_of_short, "loads_of_short_numbers",
     "brings numbers whose maximum or minimum is kept in 16 bits",
     "bring numbers whose maximum or minimum is kept in 16 bits"},
};

static void narrow_those(AdviceCase *c, u32 why) {
    Narrow n = {.count = 0};
    Hit *hit = hit_begin(c);
    hit_text(hit, narrower[why].text);
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            u32 bytes = is_wide(&c->parts[p], a) ? narrower[why].bytes(c, &c->parts[p], a->pc) : WORD;
            if (bytes < WORD) narrow(hit, &c->parts[p], a->pc, bytes, &n);
        }
    if (!n.where) return hit_drop(hit);
    if (narrower[why].bytes == bytes_of_place)
        hit_fact(hit, "shared_bytes", (f64)kernel_view_shared_bytes(c->view), "bytes",
                 "a CTA has %llu bytes of shared memory", (unsigned long long)kernel_view_shared_bytes(c->view));
    hit_fact(hit, narrower[why].fact, n.count, "instructions", "%u load%s of %d bytes a lane %s", n.count,
             plural(n.count), WORD, n.count == 1 ? narrower[why].one : narrower[why].more);
    end(hit, &n);
}

void narrow_places(AdviceCase *c) {
    if (c->load.busy[RESOURCE_DRAM] < EXPLAINED) return;
    for (u32 why = 0; why < WL_COUNT(narrower); why++) narrow_those(c, why);
}
