// SPDX-License-Identifier: Apache-2.0
// The part of kernel-merge that is about arrays which one kernel makes element by element for the next alone. However
// that one goes over them - in rows, in tiles, beside its neighbours -, it can make each element anew where it loads
// it, and the array is neither stored nor loaded.
#include <math.h>

#include "analyze/advice/rule.h"
#include "analyze/advice/shared_arrays.h"
#include "base/bitset.h"

enum { DEEPEST = 64 /* instructions from what is loaded to what is stored; more are not made again */ };
#define NOT_INDICES 0.5  // of what such kernels issue; to find the place is the next kernel's work already
#define SURE 0.83        // of the cycles in which samples say that schedulers issue (bench/advice/h200-rates.tsv)
#define WORTH_IT 0.98    // of the time, at most

// --- made element by element -----------------------------------------------------------------------------------------
typedef struct Made {
    CasePart part;
    Bitset seen;  // nodes
} Made;

static bool is_memory_of_others(const Made *m, u32 pc) {
    const FlowInsn *in = case_insn(&m->part, pc);
    return in->is_atomic || in->polls || !insn_is_global(in) || in->address_use == 0xff;
}

static u32 node_of(const Made *m, u32 pc, u32 use) {
    const FlowInsn *in = case_insn(&m->part, pc);
    return m->part.view->flow.chains->of_operand[in->operands + in->defs + use];
}

// Of where the thread is, of constants, and of elements that lie where data has no say: of nothing that another thread,
// or an earlier turn, has made.
static bool is_own(Made *m, u32 node, u32 depth) {
    const FlowResults *flow = &m->part.view->flow;
    if (node == WL_NONE || bitset_has(&m->seen, node)) return true;
    if (!depth) return false;
    bitset_add(&m->seen, node);
    if (!(affine_kinds(flow->affine, node) & 1u << AFFINE_NODE)) return true;
    const ChainNode *n = &flow->chains->nodes[node];
    u32 loop = flow->loops->loop_of[n->block];
    if (chain_is_merge(flow->chains, node) && loop != WL_NONE && flow->loops->loops[loop].header == n->block)
        return false;
    for (u32 a = 0; a < n->arg_count; a++)
        if (!is_own(m, flow->chains->args[n->args + a], depth - 1)) return false;
    if (chain_is_merge(flow->chains, node)) return true;
    const FlowInsn *in = case_insn(&m->part, n->insn);
    if (in->is_load && (in->space == SPACE_CONST || in->space == SPACE_PARAM)) return true;
    if (in->is_load && !is_memory_of_others(m, n->insn))
        return !node_is_loaded(&m->part, node_of(m, n->insn, in->address_use), LOADED_STEPS);
    if (in->is_load || in->is_atomic || in->kind != FLOW_PLAIN) return false;
    for (u32 u = 0; u < in->uses; u++)
        if (!is_own(m, node_of(m, n->insn, u), depth - 1)) return false;
    return true;
}

static bool stores_own(Made *m, u32 pc) {
    const FlowInsn *in = case_insn(&m->part, pc);
    if (is_memory_of_others(m, pc) || node_is_loaded(&m->part, node_of(m, pc, in->address_use), LOADED_STEPS))
        return false;
    for (u32 u = 0; u < in->uses; u++)
        if (insn_stores_use(m->part.view, pc, u) && !is_own(m, node_of(m, pc, u), DEEPEST)) return false;
    return true;
}

// In loops; without them the chain of kernels that merge.c finds says it.
static bool makes_elements_in_loops(AdviceCase *c, const KernelView *v) {
    Made m = {.part = {.view = v}};
    u32 stores = 0;
    if (!v->flow.code || !v->flow.affine || !v->flow.loops->loop_count) return false;
    if (!bitset_init(&m.seen, c->scratch, v->flow.chains->node_count + 1)) return c->status = STATUS_NO_MEMORY, false;
    for (u32 pc = 0; pc < v->flow.code->insn_count; pc++) {
        const FlowInsn *in = &v->flow.code->insns[pc];
        u32 traits = insn_traits(v, pc);
        if (in->is_barrier || in->is_atomic || traits & (TRAIT_SHUFFLE | TRAIT_ASYNC | TRAIT_MATRIX)) return false;
        if (in->is_store && !stores_own(&m, pc)) return false;
        stores += in->is_store;
    }
    return stores > 0;
}

// --- for the next alone ----------------------------------------------------------------------------------------------
static bool others_have(const AdviceContext *x, const KernelView *first, const KernelView *second, u64 array) {
    for (u32 k = 0; k < x->kernel_count; k++) {
        const KernelView *v = x->kernels[k];
        bool other = v != first && v != second && v->flow.affine;
        if (other && (!shared_arrays_known(v) || shared_arrays_has(v, array, false))) return true;
    }
    return false;
}

// All that the first stores, the second loads, and nobody else has.
static bool made_for(const AdviceContext *x, const KernelView *first, const KernelView *second) {
    const Affine *affine = first->flow.affine;
    if (!second->flow.affine || !shared_arrays_known(first) || !shared_arrays_known(second)) return false;
    for (u32 i = 0; i < affine->access_count; i++) {
        if (!first->flow.code->insns[affine->accesses[i].insn].is_store) continue;
        u64 array = shared_arrays_of(first, &affine->accesses[i]);
        if (!shared_arrays_has(second, array, false) || shared_arrays_has(second, array, true)) return false;
        if (others_have(x, first, second, array)) return false;
    }
    return true;
}

// Samples in which the kernel's accesses were issued to arrays that the first one stores to, times their bytes;
// *gathered: data says where some of them go.
static f64 accessed(const KernelView *v, const KernelView *first, bool *gathered) {
    CasePart part = {.view = v};
    f64 bytes = 0;
    for (u32 i = 0; i < v->flow.affine->access_count; i++) {
        const AffineAccess *a = &v->flow.affine->accesses[i];
        const FlowInsn *in = &v->flow.code->insns[a->insn];
        if (!insn_is_global(in) || !shared_arrays_has(first, shared_arrays_of(v, a), true)) continue;
        u32 node =
            in->address_use == 0xff ? WL_NONE : v->flow.chains->of_operand[in->operands + in->defs + in->address_use];
        *gathered |= node_is_loaded(&part, node, LOADED_STEPS);
        bytes += (f64)v->samples[a->insn].all[STALL_SELECTED] * in->access_bytes;
    }
    return bytes;
}

static bool was_before(const KernelView *v, u32 access) {
    const AffineAccess *a = v->flow.affine->accesses;
    for (u32 i = 0; i < access; i++)
        if (insn_is_global(&v->flow.code->insns[a[i].insn]) &&
            shared_arrays_of(v, &a[i]) == shared_arrays_of(v, &a[access]))
            return true;
    return false;
}

// Bytes of the kernel's arrays but for those that the other one (NULL: none) stores to, or, with `any`, has at all.
static f64 bytes_but_for(const KernelView *v, const KernelView *other, bool any) {
    f64 bytes = 0;
    for (u32 i = 0; i < v->flow.affine->access_count; i++) {
        const AffineAccess *a = &v->flow.affine->accesses[i];
        if (!insn_is_global(&v->flow.code->insns[a->insn]) || was_before(v, i)) continue;
        if (other && shared_arrays_has(other, shared_arrays_of(v, a), !any)) continue;
        bytes += (f64)kernel_view_array_bytes(v, &v->flow.affine->factors[a->base]);
    }
    return bytes;
}

// --- and made anew ---------------------------------------------------------------------------------------------------
// What the kernel issues, as the time that it would take if each scheduler did so in each cycle.
static f64 issuing_ns(const KernelView *v) {
    return v->total ? v->launches.total_ns * (1 - (f64)v->total_latency / (f64)v->total) : 0;
}

typedef struct Anew {
    f64 times;          // that the second kernel loads what was stored, and would make it
    f64 stored, asked;  // bytes of the arrays between the kernels; that are loaded in place of them
    f64 ns;             // of the one kernel
} Anew;

// The second kernel takes as long as it does, or as long as it takes to issue what both do; where the first loads more
// than it stores, DRAM has as much more to do.
static bool make_anew(const KernelView *first, const KernelView *second, Anew *anew) {
    bool gathered = false;
    f64 out = accessed(first, first, &gathered), in = accessed(second, first, &gathered);
    f64 made = issuing_ns(first), issued = issuing_ns(second);
    if (gathered || out <= 0 || in <= 0 || made <= 0 || issued <= 0) return false;
    anew->times = in / (f64)second->total_issued * issued / (out / (f64)first->total_issued * made);
    f64 own = bytes_but_for(second, first, false), of_both = bytes_but_for(second, NULL, false);
    anew->stored = of_both - own;
    anew->asked = bytes_but_for(first, second, true);
    f64 more = of_both > 0 ? fmax((own + anew->asked) / of_both, 1) : 1;
    anew->ns = fmax(second->launches.total_ns * more, SURE * (issued + anew->times * NOT_INDICES * made));
    return true;
}

void merge_map(AdviceCase *c, const KernelView *first, const KernelView *second) {
    Anew anew;
    f64 ns = first->launches.total_ns + second->launches.total_ns;
    if (kernel_library(first) || kernel_library(second) || ns <= 0) return;
    if (!makes_elements_in_loops(c, first) || !made_for(c->context, first, second)) return;
    if (!make_anew(first, second, &anew) || anew.ns > WORTH_IT * ns) return;
    f64 left = anew.ns / ns;
    Hit *hit = hit_begin(c);
    hit->change.work = hit->change.stays = left;
    for (u32 r = 0; r < RESOURCE_COUNT; r++)  // what all SMs share; of an SM's own units `work` tells
        if (r == RESOURCE_L2 || r == RESOURCE_DRAM || r == RESOURCE_LAUNCH || r == RESOURCE_ATOMIC)
            hit_relieve(hit, (Resource)r, c->load.busy[r] * (1 - left));
    hit->share = first->launches.share + second->launches.share;
    hit->of_launch = true;
    hit_fact(hit, "intermediate_bytes", anew.stored, "bytes",
             "%.3g MB are stored by %s and loaded by %s; it would load %.3g MB in place of them", anew.stored / 1e6,
             first->function->name, second->function->name, anew.asked / 1e6);
    hit_fact(hit, "times_made", anew.times, "times", "each element would be made %.1f times, where it is loaded",
             anew.times);
    hit_basis(hit, "the second kernel's time, or that of issuing what both do, where elements are made anew");
    hit_end_kernel(hit, "Merge %s into %s, which makes each element where it loads it now", first->function->name,
                   second->function->name);
}
