// SPDX-License-Identifier: Apache-2.0
// spills, register-reuse: what goes through local memory. Accesses at a fixed place of the stack frame are values that
// had no register; accesses at a place computed at run time are arrays, which cannot be in registers.
#include <math.h>

#include "analyze/advice/rule.h"

enum { MOST_CHOSEN = 64 };      // elements of an array that registers hold
enum { MOST_BYTES = 255 * 4 };  // of a thread's registers
enum { UNROLLED_TRIPS = 64 };   // longer loops are not unrolled as a whole
#define ADDRESS_PART 0.5        // of the arithmetic for an address of 64 bits

static bool is_local(const CaseAccess *a) { return a->space == SPACE_LOCAL && a->requests > 0; }

// R1 is the stack pointer of the machine code's calling convention.
static bool is_by_stack_pointer(const CasePart *part, const CaseAccess *a) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = &code->insns[a->pc];
    if (!code->sass || in->address_use == 0xff || in->address_index) return false;
    const FlowOperand *o = &code->operands[in->operands + in->defs + in->address_use];
    return o->kind == FLOW_VALUE && code->value_regs[o->id].file == SASS_R && code->value_regs[o->id].index == 1;
}

// The address is the frame's plus a constant.
static bool is_fixed(const CasePart *part, const CaseAccess *a) {
    if (is_by_stack_pointer(part, a)) return true;
    u32 kinds = a->affine ? affine_kinds(part->view->flow.affine, a->affine->form) : 0;
    return a->affine && !(kinds & (1u << AFFINE_COUNTER | 1u << AFFINE_NODE));
}

bool local_is_computed(const CasePart *part, const CaseAccess *a) { return is_local(a) && !is_fixed(part, a); }

// An array of which some elements are accessed at fixed places is no spill; machine code does not say where it ends.
// PTX, whose registers are as many as it likes, has arrays only.
static bool is_of_array(const CasePart *part, const CaseAccess *a) {
    if (part->view->kind == VIEW_PTX || !is_fixed(part, a)) return true;
    for (u32 i = 0; i < part->access_count; i++)
        if (is_local(&part->accesses[i]) && !is_fixed(part, &part->accesses[i])) return true;
    return false;
}

// Address arithmetic that serves nothing else goes with the access.
static void remove_address(Hit *hit, const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    if (in->address_use == 0xff) return;
    u32 source = insn_source(part, pc, in->address_use);
    if (source == WL_NONE || !(part->insns[source].traits & TRAIT_ARITHMETIC)) return;
    const Chains *chains = part->view->flow.chains;
    u32 node = chains->of_operand[case_insn(part, source)->operands];
    bool alone = node != WL_NONE && chains->first_user[node + 1] - chains->first_user[node] == 1;
    if (alone) hit_remove(hit, part, source, 1);
}

// Arguments of a call that cannot be inlined are stored for it: printf's, say.
static bool is_for_call(const CasePart *part, const CaseAccess *a) {
    const Cfg *cfg = part->view->flow.cfg;
    const FlowBlock *b = &cfg->blocks[cfg->block_of[a->pc]];
    for (u32 pc = a->pc; a->store && pc < b->first + b->count; pc++)
        if (insn_calls_outside(part, pc)) return true;
    return false;
}

typedef struct Locals {
    u32 loads, stores;
    f64 issued, most;
    const CasePart *part;
    u32 pc;
} Locals;

// An element whose number comes from memory: with all of them in registers each is compared with it, and chosen or not.
static bool is_by_data(const CasePart *part, const CaseAccess *a) {
    const FlowInsn *in = case_insn(part, a->pc);
    if (in->address_use == 0xff) return false;
    return node_is_loaded(part, part->view->flow.chains->of_operand[in->operands + in->defs + in->address_use],
                          LOADED_STEPS);
}

static void choose_element(Hit *hit, const CasePart *part, const CaseAccess *a) {
    f64 elements = a->bytes ? (f64)hit->c->view->function->local_bytes / a->bytes : 0;
    if (elements > 1 && elements <= MOST_CHOSEN && is_by_data(part, a))
        hit->change.issues -= elements * part->insns[a->pc].issued;
}

static void add(Hit *hit, const CasePart *part, const CaseAccess *a, bool fixed, Locals *l) {
    const CaseInsn *in = &part->insns[a->pc];
    l->loads += a->load;
    l->stores += a->store;
    l->issued += in->issued;
    if (in->issued + in->blamed > l->most) l->most = in->issued + in->blamed, l->part = part, l->pc = a->pc;
    hit_remove(hit, part, a->pc, 1);
    if (!fixed) remove_address(hit, part, a->pc);
    if (!fixed) choose_element(hit, part, a);
}

static Locals collect(Hit *hit, bool fixed) {
    Locals l = {0};
    for (u32 p = 0; p < hit->c->part_count; p++) {
        const CasePart *part = &hit->c->parts[p];
        for (u32 i = 0; i < part->access_count; i++)
            if (is_local(&part->accesses[i]) && is_of_array(part, &part->accesses[i]) != fixed &&
                !is_for_call(part, &part->accesses[i]))
                add(hit, part, &part->accesses[i], fixed, &l);
    }
    if (!l.loads) l.part = NULL;  // who reads it is not here: its address was passed on
    const char *stores = l.stores ? case_printf(hit->c, " and %u store%s", l.stores, plural(l.stores)) : "";
    if (l.part)
        hit_fact(hit, "local_accesses", l.loads + l.stores, "instructions",
                 "of what is issued %.1f %% are %u load%s%s of local memory", 100 * l.issued / hit->c->load.issued,
                 l.loads, plural(l.loads), stores);
    if (l.part && hit->c->view->function->local_bytes)
        hit_fact(hit, "local_bytes", hit->c->view->function->local_bytes, "bytes",
                 "a thread has %u bytes of local memory", hit->c->view->function->local_bytes);
    return l;
}

// PTX has no spills, but the simulator knows which of what it issues for an instruction are some. A warp that waits at
// one for that itself waits for a value that was loaded back, or at a load for its data, which are stored at once.
static bool waits_for_itself(const CasePart *part, const BlameEdge *edge) {
    (void)part;
    return edge->use == edge->def;
}

static bool is_spilled(const KernelView *view, u32 pc) { return view->spilled[pc] && view->issued[pc]; }

static u32 spilled_loads(const CasePart *part, const FlowBlock *b) {
    u32 loads = 0;
    for (u32 pc = b->first; pc < b->first + b->count; pc++) {
        const CaseAccess *a = is_spilled(part->view, pc) ? case_access(part, pc) : NULL;
        loads += a && a->load;
    }
    return loads;
}

// Loads of a block whose data are stored at once, `loads` of them, would be under way together and wait once.
static void add_spilled(Hit *hit, const CasePart *part, u32 pc, u32 loads, Locals *l) {
    const KernelView *view = part->view;
    f64 spilled = (f64)view->spilled[pc] / (f64)view->issued[pc], issued = spilled * part->insns[pc].issued;
    const CaseAccess *a = case_access(part, pc);
    f64 spared = a && a->load ? 1 - 1.0 / loads : 1;
    hit_unissue(hit, part, pc, spilled);
    f64 gone = hit_blamed_where(hit, part, pc, STALL_BIT(LONG_SCOREBOARD), spared, waits_for_itself);
    if (!a) gone += hit_stalled(hit, part, pc, STALL_BIT(LG_THROTTLE), 1);
    l->loads++;
    l->issued += issued;
    if (issued + gone > l->most) l->most = issued + gone, l->part = part, l->pc = pc;
}

static Locals collect_spilled(Hit *hit) {
    Locals l = {0};
    for (u32 p = 0; p < hit->c->part_count; p++) {
        const CasePart *part = &hit->c->parts[p];
        const Cfg *cfg = part->view->flow.cfg;
        for (u32 b = 0; part->view->spilled && part->view->issued && b < cfg->block_count; b++) {
            const FlowBlock *block = &cfg->blocks[b];
            u32 loads = spilled_loads(part, block);
            for (u32 pc = block->first; pc < block->first + block->count; pc++)
                if (is_spilled(part->view, pc)) add_spilled(hit, part, pc, loads, &l);
        }
    }
    if (l.part)
        hit_fact(hit, "spilled_issues", 100 * l.issued / hit->c->load.issued, "%",
                 "%.1f %% of what is issued stores or loads values that have no register, for %u instruction%s",
                 100 * l.issued / hit->c->load.issued, l.loads, plural(l.loads));
    return l;
}

void rule_spills(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    Locals l = collect(hit, true);
    if (!l.part) l = collect_spilled(hit);
    if (!l.part) return hit_drop(hit);
    hit_caution(hit, "with more registers fewer CTAs may fit on an SM");
    hit_end_line(hit, l.part, l.pc, "Give threads more registers so that the values at %s are not spilled",
                 place_text(c, l.part, l.pc));
}

// Loads of all turns are under way at once.
static void overlap_loads(Hit *hit, const CasePart *part, u32 loop, f64 trips) {
    for (u32 i = 0; i < part->access_count && trips > 1; i++) {
        const CaseAccess *a = &part->accesses[i];
        bool ahead = a->load && !a->atomic && access_is_global(a) && access_goes_ahead(part, a, loop);
        if (ahead && part->insns[a->pc].loop == loop)
            hit_blamed(hit, part, a->pc, STALL_BIT(LONG_SCOREBOARD), 1 - 1 / trips);
    }
}

// Part of an instruction that a turn of an unrolled loop does not need: counting is over, what is made of the counter
// alone is a constant, and of an address a sum is left.
static f64 part_of_counting(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    const Chains *chains = part->view->flow.chains;
    if (in->kind == FLOW_BRANCH || in->arith == FLOW_COMPARE) return 1;
    if (in->kind != FLOW_PLAIN || !in->defs || in->is_load) return 0;
    u32 node = chains->of_operand[in->operands];
    u32 kinds = node == WL_NONE ? 0 : affine_kinds(part->view->flow.affine, node);
    if (!(kinds & 1u << AFFINE_COUNTER) || kinds & 1u << AFFINE_NODE) return 0;
    return kinds & ~(1u << AFFINE_COUNTER) ? ADDRESS_PART : 1;
}

static bool is_constant_load(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->is_load && in->space == SPACE_CONST;
}

static void remove_counting(Hit *hit, const CasePart *part, u32 loop) {
    f64 trips = part->loops[loop].trips;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (part->insns[pc].loop != loop) continue;
        bool branch = case_insn(part, pc)->kind == FLOW_BRANCH, whole = trips > 1 && trips <= UNROLLED_TRIPS;
        f64 fraction = branch ? 1 : !whole ? 0 : is_constant_load(part, pc) ? 1 : part_of_counting(part, pc);
        if (fraction > 0) hit_remove(hit, part, pc, fraction);
    }
}

// No more turns than the array can have elements: a loop that goes round in it has more, and does not unroll as a
// whole.
static bool is_over_array(const Hit *hit, const CasePart *part, const CaseAccess *a) {
    f64 bytes = hit->c->view->function->local_bytes, trips = part->loops[part->insns[a->pc].loop].trips;
    return bytes <= 0 || trips * a->bytes <= bytes;
}

// Loops over such an array are to be unrolled, so that all its indices are constants.
static void remove_loops(Hit *hit, const CasePart *part) {
    const FlowResults *flow = &part->view->flow;
    for (u32 l = 0; l < flow->loops->loop_count; l++) {
        bool walks = false;
        for (u32 i = 0; i < part->access_count && !walks; i++) {
            const CaseAccess *a = &part->accesses[i];
            walks = is_local(a) && part->insns[a->pc].loop == l && !is_fixed(part, a) && is_over_array(hit, part, a);
        }
        if (!walks || !part->loops[l].innermost) continue;
        remove_counting(hit, part, l);
        overlap_loads(hit, part, l, part->loops[l].trips);
    }
}

// A loop around such an array, as one that keeps a sorted list: branches pick what is stored, and each turn's loads
// wait behind the turn before. With the elements in registers it is chosen between values instead, and compilers start
// the loads of as many turns together as they unroll: nvcc four.
enum { TURNS_AT_ONCE = 4 };

static void overlap_turns(Hit *hit, const CasePart *part) {
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
        bool picks = false;
        for (u32 i = 0; i < part->access_count && !picks; i++) {
            const CaseAccess *a = &part->accesses[i];
            u32 block = part->view->flow.cfg->block_of[a->pc];
            picks = is_local(a) && a->store && part->insns[a->pc].loop == l && is_of_array(part, a) &&
                    block != part->view->flow.loops->loops[l].header;
        }
        f64 trips = part->loops[l].trips;
        if (picks) overlap_loads(hit, part, l, trips > 0 ? fmin(trips, TURNS_AT_ONCE) : TURNS_AT_ONCE);
    }
}

static void keep_arrays(AdviceCase *c) {
    if (c->view->function->local_bytes > MOST_BYTES) return;
    Hit *hit = hit_begin(c);
    Locals l = collect(hit, false);
    for (u32 p = 0; p < c->part_count; p++) {
        remove_loops(hit, &c->parts[p]);
        overlap_turns(hit, &c->parts[p]);
    }
    if (!l.part) return hit_drop(hit);
    hit->also = "spills";  // as profilers call all of local memory
    hit_end_line(hit, l.part, l.pc, "Keep the array accessed at %s in registers: index it with constants only",
                 place_text(c, l.part, l.pc));
}

void rule_register_reuse(AdviceCase *c) {
    keep_arrays(c);
    reuse_in_tiles(c);
    reuse_windows(c);
    reuse_over_turns(c);
}
