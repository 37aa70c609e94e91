// SPDX-License-Identifier: Apache-2.0
// What the blamer has to know of each instruction: whether it is issued at all, how often, what a wait for its result
// is called, and how long that can last.
#include <math.h>

#include "analyze/blame_inside.h"

enum {
    WAIT = REASON_BIT(STALL_WAIT),
    LONG = REASON_BIT(STALL_LONG_SCOREBOARD),
    SHORT = REASON_BIT(STALL_SHORT_SCOREBOARD),
    CONSTANT = REASON_BIT(STALL_IMC_MISS),
    EXPANDED_STEPS = 4,   // a PTX instruction of as many machine instructions is a routine of its own
    MEMORY_UPPER = 4000,  // cycles: a load that misses every cache and the translation behind full queues
    QUEUE_UPPER = 500,    // ... what goes through the queue of shared memory and slow units
};

// Without a model of the GPU: bounds that hold since Volta (Jia et al., 2018, and the tables of gpus/).
typedef struct Latencies {
    u32 alu, fp64, xu, tensor, shared, constant, texture, global;
} Latencies;

static Latencies latencies_of(const KernelView *view) {
    const GpuModel *g = view->gpu;
    if (!view->latency_known || !g) return (Latencies){6, 48, 40, 40, 40, 60, 500, 600};
    return (Latencies){(u32)g->alu_latency,    (u32)g->fp64_latency,     (u32)g->xu_latency,  (u32)g->tensor_latency,
                       (u32)g->shared_latency, (u32)g->const_l1_latency, (u32)g->tex_latency, (u32)(g->l2_latency * 2)};
}

// --- PTX -----------------------------------------------------------------------------------------------------------
static bool reads_sreg(const FlowCode *code, const FlowInsn *in) {
    return in->arith == FLOW_MOVE && in->uses == 1 && code->operands[in->operands + in->defs].kind == FLOW_SREG;
}

typedef struct Waiting {
    u32 reasons, latency, upper;
    BlameClass class;
} Waiting;

static Waiting of_memory(const FlowInsn *in, const Latencies *l) {
    bool atomic = in->is_atomic;
    switch ((PtxSpace)in->space) {
    case SPACE_SHARED:
    case SPACE_SHARED_CLUSTER: return (Waiting){SHORT, l->shared, QUEUE_UPPER, atomic ? BLAME_ATOMIC : BLAME_SHARED};
    case SPACE_PARAM:
    case SPACE_CONST: return (Waiting){LONG | SHORT | CONSTANT, l->constant, MEMORY_UPPER, BLAME_CONSTANT};
    case SPACE_LOCAL: return (Waiting){LONG, l->global, MEMORY_UPPER, BLAME_LOCAL};
    case SPACE_NONE: return (Waiting){LONG | SHORT, l->global, MEMORY_UPPER, atomic ? BLAME_ATOMIC : BLAME_GLOBAL};
    default: return (Waiting){LONG, l->global, MEMORY_UPPER, atomic ? BLAME_ATOMIC : BLAME_GLOBAL};
    }
}

static Waiting of_unit(const FlowInsn *in, const Latencies *l) {
    switch ((UnitClass)in->unit) {
    case UNIT_FP64: return (Waiting){WAIT, l->fp64, l->fp64, BLAME_ARITHMETIC};
    case UNIT_XU: return (Waiting){SHORT, l->xu, QUEUE_UPPER, BLAME_SPECIAL};
    case UNIT_TENSOR: return (Waiting){WAIT, l->tensor, QUEUE_UPPER, BLAME_TENSOR};
    case UNIT_LSU: return (Waiting){WAIT | SHORT, l->shared, QUEUE_UPPER, BLAME_SHUFFLE};
    case UNIT_TEX: return (Waiting){LONG | SHORT, l->texture, MEMORY_UPPER, BLAME_TEXTURE};
    case UNIT_TMA: return (Waiting){LONG, l->global, MEMORY_UPPER, BLAME_ASYNC};
    default: return (Waiting){WAIT, l->alu, l->alu + 2, BLAME_ARITHMETIC};
    }
}

static Waiting ptx_waiting(const FlowCode *code, const FlowInsn *in, f32 steps, const Latencies *l) {
    bool memory = (in->is_load || in->is_atomic) && in->unit != UNIT_TEX;
    if (memory) return of_memory(in, l);
    if (reads_sreg(code, in)) return (Waiting){WAIT | SHORT, l->xu, QUEUE_UPPER, BLAME_SREG};
    Waiting w = of_unit(in, l);
    if (in->unit == UNIT_XU && steps > 1.5f) w.reasons |= WAIT;
    if (steps < EXPANDED_STEPS) return w;
    w.reasons |= WAIT | SHORT;  // divisions, roots: reciprocals of the slow unit are among the steps
    w.upper = w.upper == UINT32_MAX ? w.upper : w.upper * (u32)steps;
    return w;
}

static void ptx_facts(const FlowCode *code, u32 pc, const Latencies *latencies, BlameInsn *insn) {
    Waiting w = ptx_waiting(code, &code->insns[pc], insn->steps, latencies);
    insn->reasons = w.reasons;
    insn->latency = w.latency;
    insn->upper = w.upper;
    insn->class = (u8)w.class;
}

// Copies have no instruction of their own on the machine; nor has what the lowering folded into its users.
static bool is_dropped(const KernelView *view, u32 pc) {
    const FlowInsn *in = &view->flow.code->insns[pc];
    if (view->kind != VIEW_PTX || !in->defs) return false;
    if (view->issued) return view->issued[pc] == 0 && (!view->executed || view->executed[pc] > 0);
    return in->arith == FLOW_MOVE && !reads_sreg(view->flow.code, in);
}

static f32 weight_of(const KernelView *view, u32 pc) {
    if (view->executed) return (f32)view->executed[pc];
    if (view->issued) return (f32)view->issued[pc];
    return view->total_issued ? (f32)view->samples[pc].all[STALL_SELECTED] : 1.0f;
}

static f32 steps_of(const KernelView *view, u32 pc) {
    if (view->kind != VIEW_PTX || !view->issued) return 1;
    if (!view->executed || !view->executed[pc]) return view->issued[pc] ? 1.0f : 0.0f;
    return (f32)view->issued[pc] / (f32)view->executed[pc];
}

// --- all -----------------------------------------------------------------------------------------------------------
// As the machine has them: the middle of an instruction's steps is known.
static void order_block(Blamer *b, const FlowBlock *block) {
    const f64 *place = b->view->place;
    f64 begin = INFINITY;
    for (u32 pc = block->first; pc < block->first + block->count; pc++)
        if (b->insns[pc].steps > 0) begin = fmin(begin, place[pc] - (b->insns[pc].steps - 1) / 2);
    for (u32 pc = block->first; pc < block->first + block->count; pc++) {
        if (b->insns[pc].steps > 0) b->before[pc] = (f32)(place[pc] - (b->insns[pc].steps - 1) / 2 - begin);
    }
}

static void measure_blocks(Blamer *b) {
    const Cfg *cfg = b->flow->cfg;
    for (u32 i = 0; i < cfg->block_count; i++) {
        const FlowBlock *block = &cfg->blocks[i];
        f32 length = 0;
        for (u32 pc = block->first; pc < block->first + block->count; pc++) {
            b->before[pc] = length;
            length += b->insns[pc].steps;
        }
        b->block_length[i] = length;
        if (b->view->place) order_block(b, block);
    }
}

// All instructions of a block are issued equally often; samples of that have a draw each.
static void share_weights(Blamer *b) {
    const Cfg *cfg = b->flow->cfg;
    for (u32 i = 0; i < cfg->block_count; i++) {
        const FlowBlock *block = &cfg->blocks[i];
        f64 sum = 0;
        for (u32 pc = block->first; pc < block->first + block->count; pc++) sum += (f64)b->insns[pc].weight;
        for (u32 pc = block->first; pc < block->first + block->count; pc++)
            b->insns[pc].weight = (f32)(sum / block->count);
    }
}

Status blame_facts(Blamer *b) {
    const KernelView *view = b->view;
    const FlowCode *code = b->flow->code;
    Latencies latencies = latencies_of(view);
    b->step_latency = latencies.alu;
    b->slow_latency = latencies.xu;
    b->insns = ARENA_ARRAY(&b->scratch, BlameInsn, code->insn_count + 1);
    b->before = ARENA_ARRAY(&b->scratch, f32, code->insn_count + 1);
    b->block_length = ARENA_ARRAY(&b->scratch, f32, b->flow->cfg->block_count + 1);
    if (!b->insns || !b->before || !b->block_length) return STATUS_NO_MEMORY;
    for (u32 pc = 0; pc < code->insn_count; pc++) {
        BlameInsn *insn = &b->insns[pc];
        insn->dropped = is_dropped(view, pc);
        insn->steps = insn->dropped ? 0 : steps_of(view, pc);
        insn->weight = weight_of(view, pc);
        if (view->kind == VIEW_SASS)
            blame_sass_facts(b, pc, insn);
        else
            ptx_facts(code, pc, &latencies, insn);
        insn->parallel = insn->reasons & LONG;
        insn->miss = 1;
        insn->spread = insn->parallel ? 3 : 1;
        if (insn->class == BLAME_CONSTANT) insn->miss = 0.5f;
    }
    if (!view->executed && !view->issued) share_weights(b);
    measure_blocks(b);
    return blame_reuse(b);
}
