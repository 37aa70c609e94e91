// SPDX-License-Identifier: Apache-2.0
// native-atomic: operations that a loop makes of a compare-and-swap though the GPU has them. Each turn brings the word
// to the warp and back, and all lanes that another thread came before have to turn again.
#include <math.h>

#include "analyze/advice/rule.h"
#include "ptx/ptx.h"

#define WORTH_IT 0.05  // of the samples
enum {
    COPIES = 6, /* moves between the operation and what is swapped in */
    OPERAND_STEPS = 6 /* arithmetic behind what an operand is made of */,
    WARP = 32
};

typedef enum Native {
    NATIVE_NONE,
    NATIVE_ADD_REAL,
    NATIVE_ADD,
    NATIVE_EXTREME,
    NATIVE_EXTREME_REAL,
    NATIVE_LOGIC
} Native;

static const struct {
    u16 op;  // PtxOp, SassOp
    bool sass;
    u8 native;  // Native
} operations[] = {
    {OP_ADD_F, false, NATIVE_ADD_REAL},
    {OP_ADD_F64, false, NATIVE_ADD_REAL},
    {OP_SUB_F, false, NATIVE_ADD_REAL},
    {OP_SUB_F64, false, NATIVE_ADD_REAL},
    {OP_FMA_F, false, NATIVE_ADD_REAL},
    {OP_FMA_F64, false, NATIVE_ADD_REAL},
    {OP_ADD_HALF, false, NATIVE_ADD_REAL},
    {OP_ADD_INT, false, NATIVE_ADD},
    {OP_SUB_INT, false, NATIVE_ADD},
    {OP_MIN_INT, false, NATIVE_EXTREME},
    {OP_MAX_INT, false, NATIVE_EXTREME},
    {OP_MIN_F, false, NATIVE_EXTREME_REAL},
    {OP_MAX_F, false, NATIVE_EXTREME_REAL},
    {OP_MIN_F64, false, NATIVE_EXTREME_REAL},
    {OP_MAX_F64, false, NATIVE_EXTREME_REAL},
    {OP_AND, false, NATIVE_LOGIC},
    {OP_OR, false, NATIVE_LOGIC},
    {OP_XOR, false, NATIVE_LOGIC},
    {SASS_OP_FADD, true, NATIVE_ADD_REAL},
    {SASS_OP_DADD, true, NATIVE_ADD_REAL},
    {SASS_OP_FFMA, true, NATIVE_ADD_REAL},
    {SASS_OP_DFMA, true, NATIVE_ADD_REAL},
    {SASS_OP_HADD2, true, NATIVE_ADD_REAL},
    {SASS_OP_IADD3, true, NATIVE_ADD},
    {SASS_OP_IADD, true, NATIVE_ADD},
    {SASS_OP_IMNMX, true, NATIVE_EXTREME},
    {SASS_OP_VIMNMX, true, NATIVE_EXTREME},
    {SASS_OP_FMNMX, true, NATIVE_EXTREME_REAL},
    {SASS_OP_LOP3, true, NATIVE_LOGIC},
};

// Comparisons by which a loop is left where the word is as large, or as small, already.
static const struct {
    u16 op;
    bool sass, real;
} comparisons[] = {{OP_SETP_F, false, true},    {OP_SETP_F64, false, true},  {OP_SETP_INT, false, false},
                   {SASS_OP_FSETP, true, true}, {SASS_OP_DSETP, true, true}, {SASS_OP_ISETP, true, false}};

static const struct {
    const char *name, *caution;
} natives[] = {
    [NATIVE_ADD_REAL] = {"atomicAdd",
                         "the order in which sums of floating point are made differs from run to run, as it "
                         "does now"},
    [NATIVE_ADD] = {"atomicAdd", NULL},
    [NATIVE_EXTREME] = {"atomicMin or atomicMax", NULL},
    [NATIVE_EXTREME_REAL] =
        {"atomicMin or atomicMax of the bits",
         "as signed integers the bits are in the order of the numbers, unless these are negative: for "
         "those use the opposite one, on the bits as unsigned integers"},
    [NATIVE_LOGIC] = {"atomicAnd, atomicOr or atomicXor", NULL},
};

static u32 node_of_use(const CasePart *part, const FlowInsn *in, u32 use) {
    return part->view->flow.chains->of_operand[in->operands + in->defs + use];
}

// Registers that the instruction reads which are the same in all turns, and others.
typedef struct Operands {
    u32 stay, move;
} Operands;

static Operands operands_of(const CasePart *part, u32 loop, u32 pc) {
    const FlowInsn *in = case_insn(part, pc);
    Operands o = {0};
    for (u32 u = 0; u < in->uses; u++) {
        const FlowOperand *operand = &part->view->flow.code->operands[in->operands + in->defs + u];
        bool stays = operand->kind != FLOW_VALUE || node_stays(part, loop, node_of_use(part, in, u), OPERAND_STEPS);
        o.stay += stays;
        o.move += !stays;
    }
    return o;
}

static bool is_copy(const CasePart *part, u32 pc) {
    u32 op = insn_op(part, pc);
    if (part->view->flow.code->sass) return op == SASS_OP_MOV;
    return op == OP_MOV || op == OP_MOV_PACK || op == OP_MOV_UNPACK;
}

static Native operation_at(const CasePart *part, u32 loop, u32 pc) {
    bool sass = part->view->flow.code->sass != NULL;
    Operands o = operands_of(part, loop, pc);
    for (u32 i = 0; i < WL_COUNT(operations) && o.stay && o.move; i++)
        if (operations[i].sass == sass && operations[i].op == insn_op(part, pc)) return (Native)operations[i].native;
    return NATIVE_NONE;
}

// What the word and something that stays are made one by, before it is swapped in.
static Native operation_of(const CasePart *part, u32 loop, u32 node) {
    const Chains *chains = part->view->flow.chains;
    for (u32 step = 0; step < COPIES && node != WL_NONE; step++) {
        u32 pc = chains->nodes[node].insn;
        if (pc == WL_NONE || !loop_has(part, loop, pc)) return NATIVE_NONE;
        if (!is_copy(part, pc)) return operation_at(part, loop, pc);
        node = node_of_use(part, case_insn(part, pc), 0);
    }
    return NATIVE_NONE;
}

// What is swapped in stays, and a comparison of it with the word leaves the loop.
static Native extreme_of(const CasePart *part, u32 loop) {
    bool sass = part->view->flow.code->sass != NULL;
    for (u32 pc = 0; pc < part->view->insn_count; pc++) {
        const FlowInsn *in = case_insn(part, pc);
        if (!loop_has(part, loop, pc)) continue;
        for (u32 i = 0; i < WL_COUNT(comparisons); i++) {
            if (comparisons[i].sass != sass || comparisons[i].op != insn_op(part, pc)) continue;
            bool equal = !comparisons[i].real && (in->compare == FLOW_EQUAL || in->compare == FLOW_NOT_EQUAL);
            Operands o = operands_of(part, loop, pc);
            if (!equal && o.move == 1 && o.stay) return comparisons[i].real ? NATIVE_EXTREME_REAL : NATIVE_EXTREME;
        }
    }
    return NATIVE_NONE;
}

// Shared memory adds no floating point: compilers make such a loop of atomicAdd there.
static Native native_of(const CasePart *part, u32 loop) {
    const CaseAccess *swap = case_access(part, part->loops[loop].spin_pc);
    if (part->loops[loop].spin != SPIN_RETRY || !swap) return NATIVE_NONE;
    const FlowInsn *in = case_insn(part, swap->pc);
    for (u32 u = 0; u < in->uses; u++) {
        Native native = u == in->address_use ? NATIVE_NONE : operation_of(part, loop, node_of_use(part, in, u));
        if (native) return native == NATIVE_ADD_REAL && access_is_shared(swap) ? NATIVE_NONE : native;
    }
    // The address stays, and what is swapped in.
    return operands_of(part, loop, swap->pc).stay > 1 ? extreme_of(part, loop) : NATIVE_NONE;
}

// Whether what the word was is asked for behind the loop.
static bool is_asked_for(const CasePart *part, u32 loop, u32 node, u32 depth) {
    const FlowResults *flow = &part->view->flow;
    const Chains *chains = flow->chains;
    for (u32 i = node == WL_NONE ? 0 : chains->first_user[node]; node != WL_NONE && i < chains->first_user[node + 1];
         i++) {
        const ChainUser *user = &chains->users[i];
        if (user->insn != WL_NONE && !loop_has(part, loop, user->insn)) return true;
        bool copy = user->insn != WL_NONE && is_copy(part, user->insn) && depth;
        if (copy && is_asked_for(part, loop, chains->of_operand[case_insn(part, user->insn)->operands], depth - 1))
            return true;
        bool merge = user->insn == WL_NONE && !flow_loop_has(flow->loops, loop, chains->nodes[user->operand].block);
        if (merge && depth && is_asked_for(part, loop, user->operand, depth - 1)) return true;
    }
    return false;
}

// Lanes that come to the loop: those that load the word before it, or all.
static f64 lanes_at_first(const CasePart *part, u32 loop, const CaseAccess *swap, const CaseAccess **first) {
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (a->load && !a->atomic && !loop_has(part, loop, a->pc) && access_same_address(part, a, swap))
            return *first = a, fmax(a->lanes, swap->lanes);
    }
    return WARP;
}

// What one loop spares: all but one atomic of each warp, which nobody waits for unless the word is asked for.
static void spare_loop(Hit *hit, const CasePart *part, u32 loop, Native native) {
    const CaseAccess *swap = case_access(part, part->loops[loop].spin_pc), *first = NULL;
    const GpuModel *gpu = hit->c->gpu;
    const FlowInsn *in = case_insn(part, swap->pc);
    f64 turns = fmax(part->loops[loop].trips, 1), lanes = lanes_at_first(part, loop, swap, &first), slower = 1;
    bool asked = false;
    for (u32 d = 0; d < in->defs; d++)  // machine code: a predicate first
        asked |= is_asked_for(part, loop, part->view->flow.chains->of_operand[in->operands + d], COPIES);
    if (native == NATIVE_ADD_REAL && gpu && gpu->l2_atomic_float && gpu->l2_atomic_interval)
        slower = (f64)gpu->l2_atomic_float / (f64)gpu->l2_atomic_interval;
    f64 again = 1 - 1 / turns, left = swap->lanes > 0 ? fmin(slower * lanes / (turns * swap->lanes), 1) : 1;
    for (u32 pc = 0; pc < part->view->insn_count; pc++)
        if (loop_has(part, loop, pc) && pc != swap->pc) hit_spare(hit, part, pc, 1);
    if (first) hit_spare(hit, part, first->pc, 1);
    hit_blamed(hit, part, swap->pc, UINT32_MAX, asked ? again : 1);
    hit_unissue(hit, part, swap->pc, again);
    hit_relieve(hit, RESOURCE_ATOMIC, part->insns[swap->pc].use[RESOURCE_ATOMIC] * (1 - left - again));
}

// All loops of one kind, as `natives_of` says by loop: most often copies of one function.
static void look_at(AdviceCase *c, const CasePart *part, const u8 *natives_of, Native native) {
    f64 all = 0, most = 0, turns = 0;
    u32 at = WL_NONE, count = 0;
    Hit *hit = hit_begin(c);
    for (u32 l = 0; l < part->view->flow.loops->loop_count; l++) {
        const CaseLoop *loop = &part->loops[l];
        if (natives_of[l] != native) continue;
        f64 samples = loop->active + loop->stalled;
        spare_loop(hit, part, l, native);
        all += samples;
        count++;
        if (samples > most) most = samples, at = loop->spin_pc, turns = loop->trips;
    }
    f64 share = case_share(c, all);
    if (at == WL_NONE || share < WORTH_IT) return hit_drop(hit);
    hit_fact(hit, "loop_share", 100 * share, "%", "warps are in the loop%s around it for %.0f %% of their time",
             plural(count), 100 * share);
    if (turns > 1)
        hit_fact(hit, "turns", turns, "turns",
                 "it turns %.1f times, until no other thread has changed the word meanwhile", turns);
    hit_basis(hit, "equation 2 over the loop%s, of which one atomic stays", plural(count));
    if (natives[native].caution) hit_caution(hit, "%s", natives[native].caution);
    hit_end_line(hit, part, at, "Use %s in place of the loop%s around atomicCAS at %s", natives[native].name,
                 plural(count), place_text(c, part, at));
}

void rule_native_atomic(AdviceCase *c) {
    for (u32 p = 0; p < c->part_count; p++) {
        const CasePart *part = &c->parts[p];
        u32 count = part->view->flow.loops->loop_count, found = 0;
        u8 *natives_of = ARENA_ARRAY(c->scratch, u8, count + 1);
        if (!natives_of) return (void)(c->status = STATUS_NO_MEMORY);
        for (u32 l = 0; l < count; l++) found |= 1u << (natives_of[l] = (u8)native_of(part, l));
        for (u32 native = NATIVE_NONE + 1; native < WL_COUNT(natives); native++)
            if (found & 1u << native) look_at(c, part, natives_of, (Native)native);
    }
}
