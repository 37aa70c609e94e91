// SPDX-License-Identifier: Apache-2.0
// CTA barriers: bar and barrier with .sync, .arrive and .red (PTX ISA 9.0, 9.7.13.1). Threads are counted, as from
// Volta on; before that a warp counts whole.
#include "sim/check/check.h"
#include "sim/time/trace.h"
#include "sim/warp.h"

static u32 scalar(const Exec *x, SimOperand operand, u32 mask) {
    return ((const u32 *)exec_operand(x, operand))[__builtin_ctz(mask)];
}

static void store_result(Warp *w, const Split *s, const SimInsn *in) {
    const Frame *f = &w->frames.data[s->frame];
    u32 mask = s->sync_mask;
    if (in->pred_dst != WL_NONE) {
        u32 *slot = &w->preds[f->pred + in->pred_dst];
        *slot = (*slot & ~mask) | (s->result ? mask : 0);
    } else if (in->dst != SIM_NO_OPERAND) {
        u32 *dst = (u32 *)(void *)(w->r32 + f->r32 + (in->dst & 0x3fffffff));
        for (u32 l = 0; l < LANES; l++)
            if (mask >> l & 1) dst[l] = s->result;
    }
}

static u32 reduction_of(const Barrier *b, const SimInsn *in) {
    const Form *form = in->form;
    if (form->mods[MOD_POPC] != MOD_TOKEN_NONE) return b->sum;
    return form->mods[MOD_BOOL] == BOOL_AND ? b->all : b->any;
}

static void release(Cta *cta, u32 id) {
    Barrier *b = &cta->barriers[id];
    const SimInsn *insns = cta->grid->program->insns;
    if (WL_UNLIKELY(cta->grid->exec.check)) check_barrier_release(cta, id);
    for (u32 i = 0; i < cta->warp_count; i++) {
        Warp *w = &cta->warps[i];
        u32 pc = WL_NONE;
        for (u32 k = 0; k < w->split_count; k++) {
            Split *s = &w->splits[k];
            if (s->state != SPLIT_BARRIER || s->barrier != id) continue;
            const SimInsn *in = &insns[s->pc];
            if (in->form->mods[MOD_POPC] != MOD_TOKEN_NONE || in->form->mods[MOD_BOOL] != MOD_TOKEN_NONE) {
                s->result = reduction_of(b, in);
                store_result(w, s, in);
            }
            s->state = SPLIT_READY;
            pc = ++s->pc;
        }
        if (pc != WL_NONE && w->split_count > 1) splits_join(w, pc);
    }
    *b = (Barrier){0};
    cta->open_barriers &= ~(1u << id);
}

static void check(Cta *cta, u32 id) {
    const Barrier *b = &cta->barriers[id];
    u32 expected = b->open_count ? cta->threads - cta->exited_threads : b->expected;
    if (b->arrived >= expected) release(cta, id);
}

void barrier_threads_exited(Cta *cta) {
    for (u32 left = cta->open_barriers; left; left &= left - 1) check(cta, (u32)__builtin_ctz(left));
    cluster_check(cluster_first(cta));
}

static void reduce(Exec *x, Barrier *b, const SimInsn *in, u32 mask) {
    if (in->pred_src == WL_NONE) return;
    u32 holds = exec_get_pred(x, in) & mask;
    b->sum += (u32)__builtin_popcount(holds);
    b->all = (b->arrived == 0 || b->all) && holds == mask;
    b->any = (b->arrived != 0 && b->any) || holds != 0;
}

bool barrier_arrive(Exec *x, Warp *w, Split *s, const SimInsn *in, u32 mask) {
    Cta *cta = w->cta;
    if (in->form_op == OP_BARRIER_CLUSTER_ARRIVE || in->form_op == OP_BARRIER_CLUSTER_WAIT)
        return cluster_barrier(x, w, s, in, mask);
    u32 id = in->src[0] == SIM_NO_OPERAND ? 0 : scalar(x, in->src[0], mask);
    if (id >= CTA_BARRIERS) {
        x->fault = (Fault){.kind = FAULT_BARRIER, .lane = (u8)__builtin_ctz(mask), .address = id};
        return true;
    }
    Barrier *b = &cta->barriers[id];
    bool counted = in->src[1] != SIM_NO_OPERAND;
    u32 count = counted ? scalar(x, in->src[1], mask) : 0;
    if (counted && (count == 0 || count % LANES)) {
        x->fault = (Fault){.kind = FAULT_BARRIER, .lane = (u8)__builtin_ctz(mask), .address = count};
        return true;
    }
    if (WL_UNLIKELY(x->check)) check_barrier_arrive(x, w, s, in, id, count, mask);
    bool waits = in->form->mods[MOD_ARRIVE] == MOD_TOKEN_NONE;
    reduce(x, b, in, mask);
    u32 lanes = (u32)__builtin_popcount(x->grid->its ? mask : w->lanes & ~w->exited);
    b->arrived += lanes;
    cta->open_barriers |= 1u << id;
    b->open_count = !counted;
    b->expected = count;
    if (counted) b->arrived += LANES - (u32)__builtin_popcount(w->lanes);  // a count is in whole warps
    if (WL_UNLIKELY(x->trace)) trace_barrier(x->trace, id, lanes, count, waits);
    if (waits) {
        if (x->grid->its) warp_split_off(w, s, s->mask & ~mask, s->pc + 1);  // predicated off lanes go on
        s->state = SPLIT_BARRIER;
        s->barrier = (u8)id;
        s->sync_mask = mask;
    } else {
        s->pc++;
    }
    check(cta, id);
    return s->state == SPLIT_READY;
}
