// SPDX-License-Identifier: Apache-2.0
// function-split: code that is larger than the instruction caches; function-inlining: small functions that are called.
#include <string.h>

#include "analyze/advice/rule.h"
#include "base/bitset.h"

enum { INSN_BYTES = 16 };

// --- function-split ------------------------------------------------------------------------------------------------
static f64 machine_insns(const CasePart *part) {
    f64 all = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        f64 steps = insn_steps(part, pc);
        all += part->view->kind == VIEW_PTX ? steps : 1;
    }
    return all;
}

void rule_function_split(AdviceCase *c) {
    Hit *hit = hit_begin(c);
    const CasePart *where = NULL;
    u32 at = 0;
    f64 most = 0, insns = 0;
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        f64 here = 0;
        for (u32 pc = 0; pc < part->view->insn_count; pc++) {
            f64 samples = hit_stalled(hit, part, pc, STALL_BIT(NO_INSTRUCTIONS), 1);
            here += samples;
            if (samples > most) most = samples, at = pc, where = part;
        }
        if (here > 0) insns += machine_insns(part);
    }
    u64 cache = c->gpu && c->gpu->icache_l0 ? c->gpu->icache_l0 : 16384;
    f64 bytes = insns * INSN_BYTES;
    if (!where || bytes <= (f64)cache) return hit_drop(hit);
    hit_fact(hit, "code_bytes", bytes, "bytes",
             "the code is about %.0f KiB; a scheduler's instruction cache holds %.0f", bytes / 1024, (f64)cache / 1024);
    f64 share = 100 * case_share(c, hit->change.stalls);
    hit_fact(hit, "smsp__pcsamp_warps_issue_stalled_no_instructions", share, "%",
             "%.0f %% of the samples wait for instructions", share);
    hit_end_function(hit, where,
                     "Make the code around %s smaller: loops instead of copies, functions instead of inlining",
                     place_text(c, where, at));
}

// --- function-inlining ---------------------------------------------------------------------------------------------
static bool is_parameter(const FlowInsn *in) { return (in->is_load || in->is_store) && in->space == SPACE_PARAM; }

// Of the compiler's own routines (divisions, roots) nobody decides whether they are inlined.
bool is_own_function(const CasePart *part, u32 pc) {
    const char *name = insn_routine(part, pc);
    return name && !strstr(name, "__internal_") && !strstr(name, "__cuda_sm");
}

static const char *callee_of(const CasePart *part, u32 pc) {
    const FlowCode *code = part->view->flow.code;
    const FlowInsn *in = case_insn(part, pc);
    if (!code->sass)
        return in->callee == WL_NONE ? "" : module_text(code->module, code->module->funcs[in->callee].name);
    const SassInsn *insn = &code->sass->insns.data[code->sass->functions.data[code->func].first + pc];
    return insn->operand_count ? code->sass->operands.data[insn->operands + insn->operand_count - 1u].text : "";
}

// A call of a function of the program's own, not of one that comes with the compiler or the runtime.
static bool is_call(const CasePart *part, u32 pc) {
    static const char *const others[] = {"__internal_", "__nv_", "__cuda"};
    if (!(part->insns[pc].traits & TRAIT_CALL) || case_insn(part, pc)->kind == FLOW_PLAIN) return false;
    if (insn_calls_outside(part, pc)) return false;
    const char *name = callee_of(part, pc);
    for (u32 i = 0; i < WL_COUNT(others); i++)
        if (strstr(name, others[i])) return false;
    return true;
}

// Where lanes come to a call apart they have to jump there and meet again behind it, called or not.
#define APART 0.5  // of the jumps' stalls that go

static bool calls_apart(const AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const FlowResults *flow = &c->parts[p].view->flow;
        for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++)
            if (is_call(&c->parts[p], pc) && c->parts[p].insns[pc].executed > 0 &&
                bitset_has(&flow->divergence->partial, flow->cfg->block_of[pc]))
                return true;
    }
    return false;
}

// Of a register, or of a constant: HFMA2 and IMAD of zeros are that, too.
static bool is_move(const CasePart *part, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    return in->arith == FLOW_MOVE || (part->insns[pc].traits & TRAIT_ARITHMETIC && !in->uses && in->defs);
}

// In the block that a call ends, or in the one that it returns to. A call through a pointer ends none.
static bool is_beside_call(const CasePart *part, u32 pc) {
    const Cfg *cfg = part->view->flow.cfg;
    const FlowBlock *block = &cfg->blocks[cfg->block_of[pc]];
    for (u32 other = block->first; other < block->first + block->count; other++)
        if (is_call(part, other)) return true;
    return block->first && is_call(part, block->first - 1);
}

static bool of_itself(const CasePart *part, const BlameEdge *edge) {
    (void)part;
    return edge->use == edge->def;
}

// The simulator knows that a warp waits for a jump out of another function, to its begin or back behind the call, and
// charges it to the instruction that waits (blame_known.c): no other one but a jump waits for itself to be resolved.
static void add_jumps(Hit *hit, const CasePart *part, f64 jumps) {
    for (u32 pc = 0; pc < part->view->insn_count && part->view->kind == VIEW_PTX; pc++)
        if (case_insn(part, pc)->kind == FLOW_PLAIN)
            hit_blamed_where(hit, part, pc, STALL_BIT(BRANCH_RESOLVING), jumps, of_itself);
}

// Jumps there and back, and what passes parameters and results. In machine code moves around the call and in the
// function do that. `callee`: all of the part is a function that is called.
static void add_overhead(Hit *hit, const CasePart *part, bool callee) {
    f64 jumps = calls_apart(hit->c) ? APART : 1;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const FlowInsn *in = case_insn(part, pc);
        bool own = callee || is_own_function(part, pc), machine = part->view->kind == VIEW_SASS;
        bool jump = is_call(part, pc) || (own && in->kind == FLOW_RET);
        bool parameter = is_parameter(in) && (callee || in->is_store);
        bool move = machine && is_move(part, pc) && (own || is_beside_call(part, pc));
        if (jump) {
            hit_blamed(hit, part, pc, UINT32_MAX, jumps);
            hit_unissue(hit, part, pc, 1);
        } else if (parameter || move) {
            hit_remove(hit, part, pc, 1);
        }
    }
    add_jumps(hit, part, jumps);
}

// Locals whose address is passed need not be in memory when the function is inlined.
static void add_locals(Hit *hit, const CasePart *part) {
    for (u32 i = 0; i < part->access_count; i++)
        if (part->accesses[i].space == SPACE_LOCAL) hit_remove(hit, part, part->accesses[i].pc, 1);
}

static f64 add_waits(Hit *hit, const CasePart *part, bool callee, const Bitset *same) {
    f64 samples = 0;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (!callee && !is_own_function(part, pc)) continue;
        samples += part->insns[pc].issued + part->insns[pc].stalled;
        if (same && bitset_has(same, pc)) continue;
        hit_overlapped(hit, part, pc, STALL_BIT(WAIT) | STALL_BIT(SHORT_SCOREBOARD), WL_NONE, 1);
        hit->change.scope_active += part->insns[pc].issued;
    }
    return samples;
}

// What is the same in all turns is made once, before the loop. Behind a way that it decided nobody waits any more.
static void add_invariants(Hit *hit, const CasePart *part, u32 call, const Bitset *same) {
    f64 gone = 1 - 1 / part->loops[part->insns[call].loop].trips, issued = 0;
    u32 ways = STALL_BIT(BRANCH_RESOLVING) | STALL_BIT(NO_INSTRUCTIONS);
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        if (!bitset_has(same, pc) || is_move(part, pc)) continue;
        hit_remove(hit, part, pc, gone);
        issued += part->insns[pc].issued;
        bool jump = case_insn(part, pc)->kind != FLOW_PLAIN || insn_machine(part, pc)->op == SASS_OP_BSYNC;
        if (jump && pc + 1 < part->view->insn_count) hit_stalled(hit, part, pc + 1, ways, gone);
    }
    if (issued <= 0) return;
    hit_fact(hit, "invariant_share", 100 * issued / hit->c->load.issued, "%",
             "%.0f %% of what is issued makes the same for all turns of the loop around the call",
             100 * issued / hit->c->load.issued);
}

static bool find_call(const AdviceCase *c, const CasePart **where, u32 *at) {
    f64 most = 0;
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 pc = 0; pc < c->parts[p].view->insn_count; pc++) {
            const CaseInsn *in = &c->parts[p].insns[pc];
            if (!is_call(&c->parts[p], pc) || in->executed <= most) continue;
            most = in->executed;
            *where = &c->parts[p];
            *at = pc;
        }
    return most > 0;
}

// Of loops without calls whose number of turns is in the code ptxas makes a sequence where that has up to so many
// instructions; of those with calls it never does (nvcc 13.0, sm_90: 36 loops of 64 to 1024 turns; the longest sequence
// within all that are one has 2200, the shortest that is none 3200).
enum { SEQUENCE_INSNS = 2560 };

// Instructions of the sequence, those of the functions called included; what passes parameters is not in it.
static f64 insns_of_turn(const CasePart *part, u32 loop) {
    f64 runs = block_runs(part, part->view->flow.loops->loops[loop].header), insns = 0;
    for (u32 pc = 0; pc < part->view->insn_count && runs > 0; pc++) {
        bool own = is_own_function(part, pc), jump = is_call(part, pc) || case_insn(part, pc)->kind == FLOW_RET;
        bool passes = jump || (is_move(part, pc) && (own || is_beside_call(part, pc)));
        if (passes) continue;
        if (own)
            insns += part->insns[pc].executed / runs;
        else
            insns += loop_has(part, loop, pc);
    }
    return insns;
}

static void add_turns(Hit *hit, const CasePart *part, u32 call) {
    u32 loop = part->insns[call].loop;
    if (loop == WL_NONE || part->view->kind != VIEW_SASS || !part->loops[loop].innermost) return;
    i64 turns = part->view->flow.loops->loops[loop].trip_count;
    if (turns <= 1 || (f64)turns * insns_of_turn(part, loop) > SEQUENCE_INSNS) return;
    hit_sequence(hit, part, loop);
    hit_fact(hit, "loop_trip_count", (f64)turns, "turns",
             "the loop around it turns %.0f times: without calls compilers make one sequence of all turns", (f64)turns);
}

void rule_function_inlining(AdviceCase *c) {
    const CasePart *where = NULL;
    u32 at = 0;
    if (!find_call(c, &where, &at) || insn_calls_itself(c, where, at)) return;
    Hit *hit = hit_begin(c);
    f64 samples = 0;
    Bitset same;
    bool some = callee_invariants(c, where, at, &same);
    if (c->status != STATUS_OK) return hit_drop(hit);
    for (u32 p = 0; p < c->part_count; p++) {
        add_overhead(hit, &c->parts[p], p > 0);
        add_locals(hit, &c->parts[p]);
        samples += add_waits(hit, &c->parts[p], p > 0, some && where == &c->parts[p] ? &same : NULL);
    }
    f64 share = 100 * hit->change.issues / c->load.issued;
    if (some) add_invariants(hit, where, at, &same);
    add_turns(hit, where, at);
    hit_fact(hit, "device_function_share", 100 * case_share(c, samples), "%",
             "%.0f %% of the samples are in functions that are called", 100 * case_share(c, samples));
    hit_fact(hit, "call_share", share, "%", "%.0f %% of what is issued passes parameters, jumps and returns", share);
    hit_basis(hit, "equation 2 over calls and parameters, equation 5 in the functions called");
    hit_caution(hit, "the code grows at every call");
    hit_end_line(hit, where, at, "Inline the function called at %s", place_text(c, where, at));
}
