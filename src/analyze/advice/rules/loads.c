// SPDX-License-Identifier: Apache-2.0
// redundant-loads, memory-transactions, vectorised-access: fewer instructions for the same data.
#include <math.h>

#include "analyze/advice/rule.h"

enum {
    BACK = 48 /* accesses looked back for the same address */,
    WIDEST = WIDEST_ACCESS,
    WORD = 4,
    SECTOR = 32,
    UNROLLED = 4
};

#define LOAD_WAITS (STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(SHORT_SCOREBOARD) | STALL_BIT(BARRIER))

typedef struct Found {
    const CasePart *part;
    u32 pc, count;
    f64 most, requests;
} Found;

static void found(Found *f, const CasePart *part, u32 pc) {
    f64 weight = part->insns[pc].issued + part->insns[pc].blamed;
    f->count++;
    f->requests += part->insns[pc].executed;
    if (weight >= f->most) f->most = weight, f->part = part, f->pc = pc;
}

static bool is_global_load(const CaseAccess *a) {
    return a->load && !a->atomic && !a->store && access_is_global(a) && a->requests > 0;
}

static f64 requests_of_all(const AdviceCase *c, bool with_shared) {
    f64 all = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) {
            const CaseAccess *a = &c->parts[p].accesses[i];
            if (access_is_global(a) || (with_shared && access_is_shared(a))) all += a->requests;
        }
    return all;
}

// --- redundant-loads -----------------------------------------------------------------------------------------------
enum { STEPS_AGAIN = 6 /* instructions from a value back to what it is made of */ };

static f64 repeated_within(const CasePart *part, const CaseAccess *a, u32 depth);

static bool is_plain_load(const CaseAccess *a) { return a->load && !a->atomic && !a->store && a->requests > 0; }

static bool is_stored_in(const CasePart *part, const CaseAccess *a, u32 loop) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if ((b->store || b->atomic) && loop_has(part, loop, b->pc) && access_same_address(part, a, b)) return true;
    }
    return false;
}

// The value (node of Chains) is the same in all turns of the loop if what repeated loads bring is: those of words that
// the loop does not store itself.
static bool comes_again(const CasePart *part, u32 loop, u32 node, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    const ChainNode *n = node == WL_NONE ? NULL : &flow->chains->nodes[node];
    if (!n || !flow_loop_has(flow->loops, loop, n->block)) return true;
    if (!depth || n->insn == WL_NONE) return false;
    const FlowInsn *in = case_insn(part, n->insn);
    const CaseAccess *a = case_access(part, n->insn);
    if (in->guard != WL_NONE || in->is_atomic || in->has_effects) return false;
    if (a && part->insns[a->pc].traits & TRAIT_STRONG) return false;
    if (a) return is_plain_load(a) && repeated_within(part, a, depth - 1) > 0 && !is_stored_in(part, a, loop);
    for (u32 u = 0; u < in->uses; u++)
        if (in->is_load || !comes_again(part, loop, flow->chains->of_operand[in->operands + in->defs + u], depth - 1))
            return false;
    return true;
}

// What data names is the same as in the turn before because the data is.
static bool names_again(const CasePart *part, const CaseAccess *a, u32 loop, u32 depth) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[form->terms + t].factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[affine->terms[form->terms + t].factors[i]];
            bool counts = f->kind == AFFINE_COUNTER && f->id == loop;
            if (counts || (f->kind == AFFINE_NODE && !comes_again(part, loop, f->id, depth))) return false;
        }
    return is_plain_load(a);
}

static f64 repeated_within(const CasePart *part, const CaseAccess *a, u32 depth) {
    u32 loop = part->insns[a->pc].loop;
    i64 step = 1;
    if (loop == WL_NONE || !a->affine || a->atomic || part->loops[loop].tells) return 0;
    if (!access_is_global(a) && (!access_is_shared(a) || part->loops[loop].has_barrier)) return 0;
    AffineStride stride = affine_step(part->view->flow.affine, a->affine->form, loop, &step);
    bool again = stride == AFFINE_STRIDE_CONSTANT ? !step : depth && names_again(part, a, loop, depth);
    if (!again) return 0;
    return part->loops[loop].trips > 0 ? 1 - 1 / part->loops[loop].trips : 0.5;
}

// Part of the executions that get or put the same word as the turn before. Of shared memory, where threads pass values
// to each other, only in loops without a barrier.
static f64 repeated_in_loop(const CasePart *part, const CaseAccess *a) { return repeated_within(part, a, STEPS_AGAIN); }

static bool loaded_before(const CasePart *part, u32 at) {
    const FlowResults *flow = &part->view->flow;
    const CaseAccess *a = &part->accesses[at];
    for (u32 i = at; i > 0 && at - i < BACK; i--) {
        const CaseAccess *b = &part->accesses[i - 1];
        if (b->load && !b->atomic && part->insns[a->pc].loop == part->insns[b->pc].loop &&
            access_same_address(part, a, b) &&
            dom_dominates(flow->dominators, flow->cfg->block_of[b->pc], flow->cfg->block_of[a->pc]))
            return true;
    }
    return false;
}

static bool of_one_memory(const CaseAccess *a, const CaseAccess *b) {
    return access_is_shared(a) ? access_is_shared(b) : access_is_global(a) && access_is_global(b);
}

// Whether an instruction behind the load, ahead of `pc` in its block, needs what it loads: then it is there by `pc`.
static bool is_there_by(const CasePart *part, const CaseAccess *a, u32 pc) {
    const FlowInsn *in = case_insn(part, a->pc);
    const Chains *chains = part->view->flow.chains;
    const u32 *block_of = part->view->flow.cfg->block_of;
    for (u32 d = 0; d < in->defs; d++) {
        u32 node = chains->of_operand[in->operands + d];
        for (u32 i = node == WL_NONE ? 0 : chains->first_user[node];
             node != WL_NONE && i < chains->first_user[node + 1]; i++) {
            u32 user = chains->users[i].insn;
            if (user != WL_NONE && user > a->pc && user < pc && block_of[user] == block_of[a->pc]) return true;
        }
    }
    return false;
}

// No other load of the block is under way by then that is waited for all the same, and longer: this one finds its data
// in the L1.
static bool waits_for_it_alone(const CasePart *part, const BlameEdge *edge) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    u32 at = part->insns[edge->def].access;
    for (u32 i = at > BACK ? at - BACK : 0; i < part->access_count && i < at + BACK; i++) {
        const CaseAccess *b = &part->accesses[i];
        bool before = b->pc < edge->use || edge->use <= edge->def;
        if (i != at && before && is_plain_load(b) && of_one_memory(&part->accesses[at], b) &&
            block_of[b->pc] == block_of[edge->def] && repeated_in_loop(part, b) <= 0 &&
            !is_there_by(part, b, edge->use))
            return false;
    }
    return true;
}

// Where misses are not counted, what L2 and DRAM have to do with loads is each byte once (footprint.c), and stays.
static void keep_bytes(Hit *hit, const CasePart *part, u32 pc, f64 fraction) {
    if (hit->c->misses_known || case_access(part, pc)->store) return;
    for (u32 r = RESOURCE_L2; r <= RESOURCE_DRAM; r++)
        hit_relieve(hit, (Resource)r, -part->insns[pc].use[r] * fraction);
}

static void remove_access(Hit *hit, const CasePart *part, u32 at, f64 fraction) {
    u32 pc = part->accesses[at].pc, latency = LOAD_WAITS;
    hit_unissue(hit, part, pc, fraction);
    hit_edit(hit, EDIT_FREE, part, pc, fraction);
    keep_bytes(hit, part, pc, fraction);
    hit_blamed(hit, part, pc, ~latency, fraction);
    hit_blamed_where(hit, part, pc, latency, fraction, part->accesses[at].load ? waits_for_it_alone : NULL);
}

// Loads of global memory of a turn of the source's loop, which stores the word once, that are left when those that find
// the same word again are gone.
static f64 loads_of_turn(const CasePart *part, const CaseAccess *store) {
    u32 loop = part->insns[store->pc].loop;
    f64 loads = 0, turns = 0;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (part->insns[a->pc].loop != loop) continue;
        loads += is_plain_load(a) && access_is_global(a) && repeated_in_loop(part, a) <= 0;
        turns += a->store && access_same_address(part, a, store);
    }
    return loads / fmax(turns, 1);
}

// When a loop's last store to a memory leaves it, the compiler may start the loads of further turns ahead: by default
// it unrolls four times.
static void free_loads(Hit *hit, const CasePart *part, const CaseAccess *store) {
    u32 loop = part->insns[store->pc].loop;
    if (!loop_is_sequence(part, loop)) return;
    f64 turns = loop_turns_together(loads_of_turn(part, store), UNROLLED);
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (a->store && of_one_memory(store, a) && loop_has(part, loop, a->pc) && repeated_in_loop(part, a) <= 0)
            return;
    }
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool waits_behind = is_plain_load(a) && of_one_memory(store, a) && part->insns[a->pc].loop == loop;
        if (!waits_behind || repeated_in_loop(part, a) > 0 || !access_goes_ahead(part, a, loop)) continue;
        f64 gone = 1 - 1 / (access_is_global(a) ? turns : UNROLLED);
        hit_blamed(hit, part, a->pc, LOAD_WAITS & ~STALL_BIT(BARRIER), gone);
        hit_edit(hit, EDIT_UNROLLED, part, loop_header_pc(part, loop), 1);
    }
}

static bool first_store_of_loop(const CasePart *part, u32 at) {
    for (u32 i = 0; i < at; i++)
        if (part->accesses[i].store && of_one_memory(&part->accesses[i], &part->accesses[at]) &&
            repeated_in_loop(part, &part->accesses[i]) > 0 &&
            part->insns[part->accesses[i].pc].loop == part->insns[part->accesses[at].pc].loop)
            return false;
    return true;
}

static bool in_one_go(const CasePart *part, u32 a, u32 b) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    if (block_of[a] != block_of[b]) return false;
    for (u32 pc = a < b ? a : b; pc < a || pc < b; pc++)
        if (part->insns[pc].traits & TRAIT_BARRIER) return false;  // others read it there
    return true;
}

// Stores to the same address before and behind in the same block: of unrolled turns, between which something is loaded
// that might be the same word, so that neither can the stores be joined nor the loads start together.
static u32 stores_again(const CasePart *part, u32 at, bool behind) {
    const CaseAccess *a = &part->accesses[at];
    u32 count = 0;
    for (u32 n = 1; n < BACK && (behind ? at + n < part->access_count : n <= at); n++) {
        const CaseAccess *b = &part->accesses[behind ? at + n : at - n];
        if (!in_one_go(part, a->pc, b->pc) || b->atomic) break;
        if (!of_one_memory(a, b) || !access_same_address(part, a, b)) continue;
        if (b->load) break;
        count++;
    }
    return count;
}

static void free_loads_of_block(Hit *hit, const CasePart *part, u32 store, u32 turns) {
    const CaseAccess *s = &part->accesses[store];
    for (u32 i = store + 1; i < part->access_count && i < store + BACK; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!in_one_go(part, s->pc, a->pc)) break;
        if (is_plain_load(a) && of_one_memory(s, a))
            hit_blamed(hit, part, a->pc, LOAD_WAITS & ~STALL_BIT(BARRIER), 1 - 1.0 / turns);
    }
}

static bool is_overwritten(const CasePart *part, u32 at) {
    const CaseAccess *a = &part->accesses[at];
    bool store = a->store && !a->atomic && a->requests > 0 && (access_is_global(a) || access_is_shared(a));
    return store && stores_again(part, at, true) > 0;
}

// Part of the executions that could be left out; 0: none. Of words by which threads tell each other something none can.
static f64 repeated(const CasePart *part, u32 at) {
    const CaseAccess *a = &part->accesses[at];
    if (a->atomic || part->insns[a->pc].traits & TRAIT_STRONG) return 0;
    f64 fraction = a->requests > 0 ? repeated_in_loop(part, a) : 0;
    bool load = a->load && access_is_global(a) && a->requests > 0;
    bool again = (load && loaded_before(part, at)) || is_overwritten(part, at);
    return fraction <= 0 && again ? 1 : fraction;
}

// What is also stored again and again at the same place is a sum or the like: one change, and another than for what is
// only read.
static bool is_kept_in_memory(const CasePart *part, u32 at) {
    const CaseAccess *a = &part->accesses[at];
    bool stored = a->store;
    for (u32 i = 0; i < part->access_count && !stored; i++) {
        const CaseAccess *b = &part->accesses[i];
        stored = b->store && access_same_address(part, a, b) && repeated(part, i) > 0;
    }
    return stored;
}

// A load that only the loop's stores, of which none is left, keep compilers from doing once ahead of it.
static bool goes_with_stores(const CasePart *part, const CaseAccess *a) {
    bool any = false;
    if (!is_plain_load(a) || repeated_in_loop(part, a) <= 0) return false;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *b = &part->accesses[i];
        if (!b->store || !of_one_memory(a, b) || !loop_has(part, part->insns[a->pc].loop, b->pc)) continue;
        if (repeated_in_loop(part, b) <= 0) return false;
        any = true;
    }
    return any;
}

// Loads that may start earlier without the store.
static void free_behind(Hit *hit, const CasePart *part, u32 store) {
    u32 behind = stores_again(part, store, true);
    if (repeated_in_loop(part, &part->accesses[store]) > 0) {
        if (first_store_of_loop(part, store)) free_loads(hit, part, &part->accesses[store]);
    } else if (behind && !stores_again(part, store, false)) {
        free_loads_of_block(hit, part, store, behind + 1);
    }
}

static void keep_in_registers(AdviceCase *c, bool stored) {
    Hit *hit = hit_begin(c);
    Found f = {0};
    u32 freed = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        for (u32 i = 0; i < part->access_count; i++) {
            const CaseAccess *a = &part->accesses[i];
            f64 fraction = repeated(part, i);
            bool kept = fraction > 0 && is_kept_in_memory(part, i);
            bool goes_too = stored && fraction > 0 && !kept && goes_with_stores(part, a);
            if (fraction <= 0 || (kept != stored && !goes_too)) continue;
            remove_access(hit, part, i, fraction);
            freed += goes_too;
            if (goes_too) continue;
            if (a->store) free_behind(hit, part, i);
            found(&f, part, a->pc);
        }
    }
    if (!f.part) return hit_drop(hit);
    f64 share = 100 * f.requests / fmax(requests_of_all(c, true), 1);
    hit_fact(hit, "repeated_accesses", f.count, "instructions",
             "%u %s the same words again: %.0f %% of all accesses to memory", f.count,
             stored         ? "accesses store, or load and store,"
             : f.count == 1 ? "load reads"
                            : "loads read",
             share);
    if (freed)
        hit_fact(hit, "freed_loads", freed, "loads",
                 "%u load%s of what does not change in the loop can be done ahead of it then", freed, plural(freed));
    hit_caution(hit, stored ? "only if no other thread reads or writes there meanwhile"
                            : "only if nothing writes there meanwhile: the pointers do not overlap");
    const char *place = place_text(c, f.part, f.pc);
    hit->also = stored ? "register-reuse" : NULL;
    if (stored)
        hit_end_line(hit, f.part, f.pc, "Keep what is stored at %s in a register until the loop ends", place);
    else
        hit_end_line(hit, f.part, f.pc, "Keep the value loaded at %s in a register", place);
}

void rule_redundant_loads(AdviceCase *c) {
    keep_in_registers(c, false);
    keep_in_registers(c, true);
}

// --- memory-transactions -------------------------------------------------------------------------------------------
// Whether the address is the same in every turn of every loop: then a constant is an operand, not a load.
static bool is_constant_operand(const CasePart *part, const CaseAccess *a) {
    const Affine *affine = part->view->flow.affine;
    const AffineForm *form = &affine->forms[a->affine->form];
    for (u32 t = 0; t < form->term_count; t++)
        for (u32 i = 0; i < AFFINE_DEGREE && affine->terms[form->terms + t].factors[i] != WL_NONE; i++)
            if (affine->factors[affine->terms[form->terms + t].factors[i]].kind != AFFINE_PARAMETER) return false;
    return true;
}

// A thread by itself shares nothing, whatever its address is.
static bool is_shared_by_lanes(const AdviceCase *c, const CaseAccess *a) {
    const ProfileLaunch *l = c->view->launches.typical;
    bool alone = l && (u64)l->block[0] * l->block[1] * l->block[2] == 1;
    return a->uniform && a->lanes > 1 && !alone;
}

// A load of what all lanes share that may as well be one of a constant.
static bool is_constant(const AdviceCase *c, const CasePart *part, const CaseAccess *a) {
    bool fits = is_global_load(a) && is_shared_by_lanes(c, a) && a->affine && !access_is_written(part, a);
    return fits && (part->insns[a->pc].loop != WL_NONE || is_constant_operand(part, a));
}

// Part of the waits for the block's loads that goes when they are loads of constants: these are issued one after the
// other, and what the L1 does not have their cache has not either, but it takes larger lines. Without counts: the L1's
// part.
static f64 part_of_constants(const AdviceCase *c, const CasePart *part, u32 block) {
    const GpuModel *g = c->gpu;
    const u32 *block_of = part->view->flow.cfg->block_of;
    f64 waits = 0, count = 0;
    if (!g || c->latency <= 0 || !g->const_l15_line) return c->of_l1;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (block_of[a->pc] != block || !is_constant(c, part, a)) continue;
        if (is_constant_operand(part, a)) continue;
        waits += part->insns[a->pc].blamed / a->requests;
        count++;
    }
    f64 missing = count * c->past_l1 * SECTOR / (f64)g->const_l15_line;
    f64 after = (f64)g->const_l1_latency + (count - 1) * (f64)g->constant_interval + missing * (f64)g->l2_latency;
    return waits > 0 ? fmax(1 - after / waits, 0) : 0;
}

// Whoever waits for what all lanes share waits for a load that DRAM has to serve as well: the later one stays.
static bool waits_for_shared_alone(const CasePart *part, const BlameEdge *edge) {
    const Blame *blame = part->blame;
    for (u32 i = blame->first[edge->use]; i < blame->first[edge->use + 1]; i++) {
        const CaseAccess *b = case_access(part, blame->edges[i].def);
        bool other = b && b->load && !b->uniform && blame->edges[i].reason == edge->reason;
        if (other && part->insns[b->pc].use[RESOURCE_DRAM] > 0) return false;
    }
    return true;
}

void rule_memory_transactions(AdviceCase *c) {
    narrow_places(c);
    join_gathers(c);
    Hit *hit = hit_begin(c);
    hit_text(hit, TEXT_constants);
    Found f = {0};
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        f64 of_block = 0;
        u32 last = WL_NONE;
        for (u32 i = 0; i < part->access_count; i++) {
            const CaseAccess *a = &part->accesses[i];
            if (!is_constant(c, part, a)) continue;
            u32 block = part->view->flow.cfg->block_of[a->pc];
            if (block != last) of_block = part_of_constants(c, part, last = block);
            f64 gone = is_constant_operand(part, a) ? 1 : of_block;
            hit_blamed_where(hit, part, a->pc, STALL_BIT(LONG_SCOREBOARD), gone, waits_for_shared_alone);
            if (c->latency > 0) hit_no_queue(hit, part, a->pc, gone);
            hit_blamed(hit, part, a->pc, ~STALL_BIT(LONG_SCOREBOARD), 1);
            hit_relieve(hit, RESOURCE_LSU, part->insns[a->pc].use[RESOURCE_LSU]);
            hit_edit(hit, EDIT_FREE, part, a->pc, 1);
            if (is_constant_operand(part, a)) hit->change.issues += part->insns[a->pc].issued;
            found(&f, part, a->pc);
        }
    }
    if (!f.part) return hit_drop(hit);
    f64 share = 100 * f.requests / fmax(requests_of_all(c, false), 1);
    hit_fact(hit, "uniform_load_share", share, "%",
             "%.0f %% of the accesses to global memory load one word for all lanes of a warp", share);
    hit_fact(hit, "warplens__l1_busy.pct", 100 * c->load.busy[RESOURCE_LSU], "%", "the L1 is busy %.0f %% of the time",
             100 * c->load.busy[RESOURCE_LSU]);
    hit_caution(hit, "constant memory holds 64 KiB, and must not be written by the kernel");
    hit_end_line(hit, f.part, f.pc, "Read what all threads share at %s from constant memory",
                 place_text(c, f.part, f.pc));
}

// --- vectorised-access ---------------------------------------------------------------------------------------------
// Other lanes, and other turns of the loop, begin at multiples of the width, as far as is known.
static bool stays_aligned(const CasePart *part, const CaseAccess *a, i64 width) {
    u32 loop = part->insns[a->pc].loop;
    i64 step = 0, pitch = access_pitch(part, a);
    if (pitch > a->bytes && pitch % width) return false;  // data names structures of 24 bytes, say
    for (u32 axis = 0; axis < 3; axis++)
        if (a->affine->stride_kind[axis] == AFFINE_STRIDE_CONSTANT && a->affine->stride[axis] % width) return false;
    if (loop != WL_NONE && affine_step(part->view->flow.affine, a->affine->form, loop, &step) == AFFINE_STRIDE_CONSTANT)
        return step % width == 0;
    return true;
}

// Both are made together, always: in one block, or, of loads that nothing stores to, in blocks that run as often, as
// where the long way of a division lies between them.
#define AS_OFTEN 0.8  // as samples tell it

static bool go_together(const CasePart *part, const CaseAccess *a, const CaseAccess *b) {
    const u32 *block_of = part->view->flow.cfg->block_of;
    if (block_of[a->pc] == block_of[b->pc]) return true;
    if (!a->load || !b->load || part->insns[a->pc].loop != part->insns[b->pc].loop) return false;
    f64 runs = block_runs(part, block_of[a->pc]), others = block_runs(part, block_of[b->pc]);
    return fmin(runs, others) > AS_OFTEN * fmax(runs, others) && !access_is_written(part, a);
}

// How many neighbours in memory, made together with it, would be one access with this one, itself included; whether it
// is the one with the lowest address. An aligned piece is as long as a power of two of them.
static u32 neighbours(const CasePart *part, u32 at, bool *is_first) {
    const CaseAccess *a = &part->accesses[at];
    i64 most = WIDEST / a->bytes;
    u32 below = 0, above = 0;  // bits: neighbours at that distance
    for (u32 i = at > BACK ? at - BACK : 0; i < part->access_count && i < at + BACK; i++) {
        const CaseAccess *b = &part->accesses[i];
        i64 bytes;
        if (i == at || !access_distance(part, a, b, &bytes) || bytes % a->bytes || !go_together(part, a, b)) continue;
        i64 steps = bytes / a->bytes;
        if (steps > 0 && steps < most) above |= 1u << steps;
        if (steps < 0 && steps > -most) below |= 1u << -steps;
    }
    u32 run_above = 0, run_below = 0;
    while (above >> (run_above + 1) & 1) run_above++;
    while (below >> (run_below + 1) & 1) run_below++;
    u32 run = run_above + run_below + 1, count = 1;
    while (count * 2 <= run && count * 2 <= (u32)most && stays_aligned(part, a, count * 2 * a->bytes)) count *= 2;
    *is_first = run_below % count == 0;
    return count;
}

#define LEAST_IDLE 0.02  // of the time: a busier unit is told no further apart

static bool can_widen(const CaseAccess *a) {
    return !a->atomic && a->requests > 0 && a->bytes && a->bytes < WIDEST && access_is_global(a) && a->affine;
}

// Joined, they look up all the sectors that they touch together, at once.
static f64 joined_cycles(const CaseAccess *a, u32 count) {
    f64 packed = a->lanes * a->bytes * count / SECTOR, sectors = a->uniform            ? 1
                                                                 : packed > a->sectors ? packed
                                                                                       : a->sectors;
    CaseAccess wide = *a;
    wide.fewest = a->uniform ? 1 : packed;
    return access_l1_cycles(&wide, sectors, 1);
}

// Part of the sectors that stores write: alone each writes those that it touches and that leave with no other.
static f64 sectors_saved(const CaseAccess *a, u32 count) {
    f64 joined = fmax(a->lanes * a->bytes * count / SECTOR, a->sectors);
    return a->store && a->leaving > 0 ? fmax(1 - joined / (a->leaving * count), 0) : 0;
}

// How long what comes waits for a unit that is busy for so much of the time, in times that the unit takes for one.
static f64 line_of(f64 busy) { return busy / fmax(1 - busy, LEAST_IDLE); }

// Part of a load's wait that fewer accesses take away, which save `saved` of the L1's cycles: the line for the L1, if
// that is where loads wait most, or its share of the lines that they stand in. In those for the L2 and for DRAM what
// comes as one is no less.
static f64 wait_saved(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 count, f64 saved) {
    Resource most = case_behind(c, part, a->pc);
    const f64 *busy = c->load.busy;
    f64 l1 = line_of(busy[RESOURCE_LSU]), behind = line_of(busy[RESOURCE_L2]) + line_of(busy[RESOURCE_DRAM]);
    if (most == RESOURCE_LSU) return c->waiting * saved;
    f64 share = l1 > 0 ? l1 / (l1 + behind) : 0;
    f64 l2 = most == RESOURCE_L2 ? sectors_saved(a, count) * (1 - share) : 0;
    return c->waiting * (saved * share + l2);
}

// Conversions name a byte of a register (I2F.U8 R1, R2.B1); bits are masked where they are.
static bool is_done_in_place(const CasePart *part, u32 pc, u32 from) {
    const FlowInsn *in = case_insn(part, pc);
    bool mask = false;
    (void)from;
    for (u32 u = 0; u < in->uses && in->arith == FLOW_AND; u++)
        mask |= part->view->flow.code->operands[in->operands + in->defs + u].kind == FLOW_IMMEDIATE;
    return mask || part->insns[pc].traits & TRAIT_CONVERT;
}

// Any other byte of a word that is loaded as a whole is taken out of it by an instruction of its own.
static void take_out(Hit *hit, const CasePart *part, const CaseAccess *a) {
    if (a->load && a->bytes == 1 && !insn_feeds(part, a->pc, 1, is_done_in_place))
        hit_add_integer(hit, part->insns[a->pc].issued);
}

static void join(Hit *hit, const CasePart *part, const CaseAccess *a, u32 count, bool is_first) {
    const CaseInsn *in = &part->insns[a->pc];
    f64 alone = access_l1_cycles(a, a->sectors, 1), saved = 1 - joined_cycles(a, count) / (alone * count);
    f64 fraction = is_first ? 0 : 1;  // the first stays and brings the others' data
    if (saved < 0) saved = 0;
    hit->change.issues += in->issued * fraction;
    take_out(hit, part, a);
    hit_edit(hit, EDIT_FREE, part, a->pc, fraction);
    hit_relieve(hit, RESOURCE_LSU, in->use[RESOURCE_LSU] * saved);
    hit_relieve(hit, RESOURCE_L2, in->use[RESOURCE_L2] * sectors_saved(a, count));
    hit_blamed(hit, part, a->pc, STALL_BIT(LG_THROTTLE) | STALL_BIT(MIO_THROTTLE), saved);
    hit_blamed(hit, part, a->pc, ~(STALL_BIT(LG_THROTTLE) | STALL_BIT(MIO_THROTTLE)),
               wait_saved(hit->c, part, a, count, saved));
}

// Neighbouring accesses of a thread: k become one. What is saved is instructions and, where lanes are far apart, passes
// through the L1.
static void join_accesses(AdviceCase *c, const CasePart *part) {
    Hit *hit = hit_begin(c);
    Found f = {0};
    u32 widest = 1;
    bool gathered = false;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool is_first;
        if (!can_widen(a)) continue;
        u32 count = neighbours(part, i, &is_first);
        if (count < 2) continue;
        if (count > widest) widest = count;
        join(hit, part, a, count, is_first);
        gathered |= a->gathered;
        found(&f, part, a->pc);
    }
    if (!f.part) return hit_drop(hit);
    if (gathered) {
        hit->change.stays = gathers_time_of_l2(c, false);  // the same sectors as before
        hit->also = "memory-transactions";
    }
    hit_fact(hit, "neighbouring_accesses", f.count, "instructions",
             "%u accesses of a thread are neighbours in memory; up to %u could be one", f.count, widest);
    hit_caution(hit, "the address must be a multiple of the width");
    hit_end_line(hit, f.part, f.pc, "Join the neighbouring accesses at %s into one of up to %u elements",
                 place_text(c, f.part, f.pc), widest);
}

// Elements narrower than an access can be: a thread that takes several pays for its index once, and has more bytes
// under way. What depends on the data stays.
static void mark_data(const CasePart *part, Bitset *data) {
    const FlowInsn *insns = part->view->flow.code->insns;
    const Chains *chains = part->view->flow.chains;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const CaseAccess *a = case_access(part, pc);
        bool is_data = a && a->load;
        for (u32 u = 0; u < insns[pc].uses && !is_data; u++) {
            u32 node = chains->of_operand[insns[pc].operands + insns[pc].defs + u];
            u32 from = node == WL_NONE ? WL_NONE : chains->nodes[node].insn;
            is_data = from != WL_NONE && from < pc && bitset_has(data, from);
        }
        if (is_data) bitset_add(data, pc);
    }
}

// Bytes that a turn of the loop goes on by, where only the sizes of CTAs and grid are in it; 0: something else is.
static f64 step_of_threads(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop) {
    const Affine *affine = part->view->flow.written;
    const AffineForm *form = access_form_written(part, a);
    const ProfileLaunch *l = c->view->launches.typical;
    f64 all = 0;
    for (u32 t = 0; t < form->term_count && l; t++) {
        const AffineTerm *term = &affine->terms[form->terms + t];
        f64 step = (f64)term->coefficient;
        bool turns = false, sizes = true;
        for (u32 i = 0; i < AFFINE_DEGREE && term->factors[i] != WL_NONE; i++) {
            const AffineFactor *f = &affine->factors[term->factors[i]];
            bool size = f->kind == AFFINE_SREG && f->component <= 2 && (f->id == SREG_NTID || f->id == SREG_NCTAID);
            bool counter = f->kind == AFFINE_COUNTER && f->id == loop && !turns;
            turns |= counter;
            sizes &= size || counter;
            if (size) step *= f->id == SREG_NTID ? l->block[f->component] : l->grid[f->component];
        }
        if (turns && !sizes) return 0;
        if (turns) all += step;
    }
    return all;
}

// Turns deal the elements to the threads of the CTA, or of the grid: what a thread takes next is behind all of them. An
// argument that happens to be as much is the length of a row, or of a step of time.
static bool strides_on(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop) {
    const ProfileLaunch *l = c->view->launches.typical;
    f64 of_threads = l ? (f64)a->affine->stride[0] * l->block[0] : 0, step = fabs(step_of_threads(c, part, a, loop));
    return of_threads > 0 && step >= of_threads && fmod(step, of_threads) == 0;
}

// Turns go on to other rows or planes: by an argument, or behind all that the grid's threads have of this one.
static bool goes_over_planes(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop) {
    const ProfileLaunch *l = c->view->launches.typical;
    f64 of_threads = l ? (f64)a->affine->stride[0] * l->block[0] * l->grid[0] : INFINITY;
    f64 step = fabs(step_of_threads(c, part, a, loop));
    return (step <= 0 || step >= of_threads) && !strides_on(c, part, a, loop);
}

// Neighbouring lanes access neighbouring elements, once each, in this loop (WL_NONE: in none, or one over planes); an
// element may be several words.
static bool is_dense(const AdviceCase *c, const CasePart *part, const CaseAccess *a, u32 loop) {
    u32 within = part->insns[a->pc].loop;
    bool here =
        can_widen(a) && (within == loop || loop == WL_NONE) && a->affine->stride_kind[0] == AFFINE_STRIDE_CONSTANT;
    if (!here || a->affine->stride[0] <= 0 || a->affine->stride[0] > WIDEST) return false;
    if (within != loop && !goes_over_planes(c, part, a, within)) return false;
    return (loop == WL_NONE || strides_on(c, part, a, loop)) && access_pieces(part, a) > 0;
}

static u32 narrowest(const AdviceCase *c, const CasePart *part, u32 loop, u32 *at) {
    u32 bytes = WIDEST;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (is_dense(c, part, a, loop) && a->bytes < bytes) bytes = a->bytes, *at = a->pc;
    }
    return bytes;
}

// Whether the data decides if the block runs: then each element has it for itself.
static bool is_conditional(const CasePart *part, const Bitset *data, u32 block) {
    const FlowResults *flow = &part->view->flow;
    for (u32 b = 0; b < flow->cfg->block_count; b++) {
        const FlowBlock *from = &flow->cfg->blocks[b];
        if (b == block || !from->count || !dom_dominates(flow->dominators, b, block)) continue;
        u32 branch = from->first + from->count - 1, node = flow->chains->of_guard[branch];
        u32 test = node == WL_NONE ? WL_NONE : flow->chains->nodes[node].insn;
        if (test != WL_NONE && bitset_has(data, test) && !dom_dominates(flow->postdominators, block, b)) return true;
    }
    return false;
}

// What makes its work on elements: the code that is in no loop for all that a thread does, else the loop.
static bool is_work(const CasePart *part, u32 pc, u32 loop) { return loop == WL_NONE || loop_has(part, loop, pc); }

// A thread's work on one element goes; of each access as many bytes stay, and of words as many lines of the L1.
static void share_index(Hit *hit, const CasePart *part, u32 loop, const Bitset *data, f64 fraction, u32 bytes) {
    const Cfg *cfg = part->view->flow.cfg;
    for (u32 b = 0; b < cfg->block_count; b++) {
        if (is_conditional(part, data, b) || (cfg->blocks[b].count && !is_work(part, cfg->blocks[b].first, loop)))
            continue;
        for (u32 pc = cfg->blocks[b].first; pc < cfg->blocks[b].first + cfg->blocks[b].count; pc++) {
            const CaseAccess *a = case_access(part, pc);
            if (a ? !is_dense(hit->c, part, a, loop) : bitset_has(data, pc)) continue;
            hit_spare(hit, part, pc, fraction);
            for (u32 r = bytes < WORD ? RESOURCE_L2 : RESOURCE_LSU; a && r <= RESOURCE_DRAM; r++)
                hit_relieve(hit, (Resource)r, -part->insns[pc].use[r] * fraction);
        }
    }
    for (u32 pc = 0; pc < part->view->insn_count && loop == WL_NONE; pc++)
        if (part->insns[pc].access == WL_NONE && bitset_has(data, pc))  // threads that are not there: no start, no end
            hit_blamed(hit, part, pc, STALL_BIT(DRAIN), fraction);
}

// Samples that wait for dense loads: what a warp waits for is several times as much when it comes.
static f64 dense_waits(const AdviceCase *c, const CasePart *part, u32 loop) {
    f64 waits = 0;
    for (u32 i = 0; i < part->access_count; i++)
        if (part->accesses[i].load && is_dense(c, part, &part->accesses[i], loop))
            waits += part->insns[part->accesses[i].pc].blamed;
    return waits;
}

static bool has_barriers(const CasePart *part, u32 loop) {
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (part->insns[pc].traits & TRAIT_BARRIER && is_work(part, pc, loop)) return true;
    return false;
}

// Fewer threads would leave SMs without work, fewer turns lanes; where each thread takes one turn there may be fewer of
// them.
static bool is_enough(const AdviceCase *c, const CasePart *part, u32 loop, u32 times) {
    f64 waves = c->view->occupancy.waves, turns = loop == WL_NONE ? 1 : part->loops[loop].trips;
    if (loop != WL_NONE && (turns <= 0 || turns >= times)) return true;
    return turns == 1 && (waves >= times || (waves <= 0 && loop == WL_NONE));
}

// Where all CTAs fit at once, and each SM has several, what a warp does takes as long with several elements; but the
// last CTAs start sooner. The part of the time that this saves; 0: it is not so.
static f64 sooner(const AdviceCase *c, u32 loop, u32 times) {
    const ViewOccupancy *o = &c->view->occupancy;
    bool short_grid = loop == WL_NONE && o->waves > 0 && o->waves <= 1 && o->waves * o->ctas_per_sm >= 2;
    return short_grid ? c->load.busy[RESOURCE_LAUNCH] * (1 - 1.0 / times) : 0;
}

// As wide as accesses can be, but words of what is narrower where too few threads would be left, and of bytes, each of
// which takes arithmetic of its own: so wide are the known pairs' (examples/advice: threshold, angiograms, oil_slicks
// of bytes, concertos and jingles of two).
static u32 width_for(const AdviceCase *c, const CasePart *part, u32 loop, u32 bytes) {
    bool narrow = bytes == 1 || (bytes < WORD && !is_enough(c, part, loop, WIDEST / bytes));
    return narrow ? WORD : WIDEST;
}

#define MOSTLY_WAITS 0.5  // of the samples: else words are not what a kernel is slow for

static void take_several(AdviceCase *c, const CasePart *part, u32 loop) {
    u32 at = 0, bytes = narrowest(c, part, loop, &at), wide = width_for(c, part, loop, bytes), times = wide / bytes;
    Bitset data;
    f64 fraction = 1 - 1.0 / times;
    u32 pieces = times < 2 ? 0 : access_pieces(part, case_access(part, at));
    bool joined = pieces > 1 && !(pieces & (pieces - 1));  // which is the first step, and most of it
    if (times < 2 || joined) return;
    bool enough = is_enough(c, part, loop, times);
    f64 start = enough ? 0 : sooner(c, loop, times);
    if (!enough && start <= 0) return;
    if (bytes >= WORD && (has_barriers(part, loop) || case_share(c, dense_waits(c, part, loop)) < MOSTLY_WAITS)) return;
    if (!bitset_init(&data, c->scratch, part->view->insn_count)) {
        c->status = STATUS_NO_MEMORY;
        return;
    }
    mark_data(part, &data);
    Hit *hit = hit_begin(c);
    if (enough)
        share_index(hit, part, loop, &data, fraction, bytes);
    else
        hit->change.work = 1 - start;
    if (loop == WL_NONE) hit_relieve(hit, RESOURCE_LAUNCH, c->load.busy[RESOURCE_LAUNCH] * fraction);
    hit_fact(hit, "access_bytes", bytes, "bytes", "a lane accesses %u byte%s at a time", bytes, bytes > 1 ? "s" : "");
    hit_end_line(hit, part, at, "Let a thread take %u elements at %s with accesses of %u bytes", times,
                 place_text(c, part, at), wide);
}

void rule_vectorised_access(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) join_accesses(c, &c->parts[p]);
    if (!c->part_count) return;
    take_several(c, &c->parts[0], WL_NONE);
    for (u32 l = 0; l < c->parts[0].view->flow.loops->loop_count; l++)
        if (c->parts[0].loops[l].innermost) take_several(c, &c->parts[0], l);
}
