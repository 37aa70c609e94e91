// SPDX-License-Identifier: Apache-2.0
// The part of memory-transactions that is about numbers wider than they need to be: a word that only says which place
// of shared memory is meant fits a byte or two, and DRAM or the L2 is busy with the rest of it.
#include "analyze/advice/rule.h"

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

// Each lane loads a word of its own, from DRAM.
static bool is_wide(const CasePart *part, const CaseAccess *a) {
    return a->load && !a->atomic && a->bytes == WORD && a->apart == WORD && a->requests > 0 && access_is_global(a) &&
           part->insns[a->pc].use[RESOURCE_DRAM] > 0;
}

// Bytes for a number below that of the places; WORD: no fewer.
static u32 bytes_for(u64 places) { return places <= OF_BYTE ? 1 : places <= OF_TWO ? 2 : WORD; }

void narrow_places(AdviceCase *c) {
    const ProfileLaunch *l = c->view->launches.typical;
    u64 shared = c->view->function->shared_bytes + (u64)(l ? l->dynamic_shared_bytes : 0);
    u32 count = 0, at = 0, widest = 0;
    f64 most = 0;
    const CasePart *where = NULL;
    if (c->load.busy[RESOURCE_DRAM] < EXPLAINED) return;
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_narrow);
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            const CaseAccess *a = &part->accesses[i];
            u32 element = WORD;
            if (!is_wide(part, a) || !names_places(part, a->pc, DEEP, &element)) continue;
            u32 bytes = bytes_for(shared / element);
            f64 gone = 1 - (f64)bytes / WORD;
            if (bytes == WORD) continue;
            const CaseInsn *in = &part->insns[a->pc];
            hit_relieve(hit, RESOURCE_L2, in->use[RESOURCE_L2] * gone);
            hit_relieve(hit, RESOURCE_DRAM, in->use[RESOURCE_DRAM] * gone);
            hit_blamed(hit, part, a->pc, STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(BARRIER), c->waiting * gone);
            count++;
            if (bytes > widest) widest = bytes;
            if (in->use[RESOURCE_DRAM] > most) most = in->use[RESOURCE_DRAM], where = part, at = a->pc;
        }
    }
    if (!where) return hit_drop(hit);
    hit_fact(hit, "shared_bytes", (f64)shared, "bytes",
             "%u load%s of %d bytes a lane only say%s which place of the CTA's %llu bytes of shared memory is meant",
             count, plural(count), WORD, count == 1 ? "s" : "", (unsigned long long)shared);
    hit_fact(hit, "dram__throughput.avg.pct_of_peak_sustained_elapsed", 100 * c->load.busy[RESOURCE_DRAM], "%",
             "DRAM is busy for %.0f %% of the time", 100 * c->load.busy[RESOURCE_DRAM]);
    hit_basis(hit, "the time of DRAM and of the L2 for these loads, of which %u of %d bytes stay", widest, WORD);
    hit_caution(hit, "who writes these numbers has to write them as narrow");
    hit->doubtful = true;
    hit_end_line(hit, where, at, "Keep what is loaded at %s in %u byte%s a number instead of %d",
                 place_text(c, where, at), widest, widest > 1 ? "s" : "", WORD);
}
