// SPDX-License-Identifier: Apache-2.0
// Misuse of barriers and warp synchronisation. Threads that have exited are excused, as by the CUDA C++ Programming
// Guide
// ("all non-exited threads"). Where lanes of a diverged warp wait for each other, the simulator, like hardware from
// Volta on, lets those go on that wait to reconverge; for a correct program that is never needed at a barrier.
#include <stdio.h>
#include <string.h>

#include "sim/check/check.h"

static u32 thread_of(const Warp *w, u32 lanes) { return w->index * LANES + (u32)__builtin_ctz(lanes); }

static bool is_aligned(const SimInsn *in) {
    bool old = in->form_op == OP_BAR_SYNC || in->form_op == OP_BAR_ARRIVE || in->form_op == OP_BAR_RED ||
               in->form_op == OP_BAR_RED_POPC;  // bar. is barrier.aligned
    return old || in->form->mods[MOD_ALIGNED] != MOD_TOKEN_NONE;
}

// A finding at the place of a split, whose other party is at `pc`.
static SimFinding *tell(Check *c, CheckRule rule, const Warp *w, u32 lanes, u32 pc, u32 other_pc, const char *what) {
    bool is_new;
    SimFinding *f = check_find(c, rule, pc, other_pc, &is_new, what);
    if (!f || !is_new) return NULL;
    check_place_lane(&f->place, w, (u32)__builtin_ctz(lanes));
    return f;
}

static void other_party(Check *c, SimFinding *f, const Warp *w, u32 lanes, u32 pc, const char *role) {
    f->other = check_place(c, pc);
    check_place_lane(&f->other, w, (u32)__builtin_ctz(lanes));
    f->other_role = role;
}

// --- CTA barriers
// ---------------------------------------------------------------------------------------------------------
static void compare_counts(Check *c, CheckBarrier *b, const Warp *w, u32 pc, u32 count, u32 mask) {
    if (!b->used) {
        *b = (CheckBarrier){.used = true, .count = count, .pc = pc, .thread = thread_of(w, mask)};
        return;
    }
    if (b->count == count) return;
    char what[128], counts[2][32];
    snprintf(counts[0], sizeof counts[0], b->count ? "%u" : "all", b->count);
    snprintf(counts[1], sizeof counts[1], count ? "%u" : "all", count);
    snprintf(what, sizeof what, "threads name different numbers of threads for one barrier: %s and %s", counts[1],
             counts[0]);
    SimFinding *f = tell(c, RULE_BARRIER_COUNT, w, mask, pc, b->pc, what);
    if (!f) return;
    f->other = check_place(c, b->pc);
    check_place_thread(&f->other, w->cta, b->thread);
    f->other_role = "Other";
}

void check_barrier_arrive(Exec *x, const Warp *w, const Split *s, const SimInsn *in, u32 id, u32 count, u32 mask) {
    Check *c = x->check;
    u32 pc = (u32)(in - x->grid->program->insns);
    race_barrier_arrive(c, w, id);
    if (!(c->checks & (CHECK_SYNC | CHECK_STRICT)) || !x->grid->its || id >= CLUSTER_BARRIER) return;
    compare_counts(c, &check_cta(c, w->cta)->barriers[id], w, pc, count, mask);
    if (mask == s->mask || !is_aligned(in)) return;
    SimFinding *f = tell(c, RULE_DIVERGENT_BARRIER, w, mask, pc, 0, "only some lanes of a warp execute it");
    if (f) check_note(c, f, "Lanes 0x%08x of the warp execute it, lanes 0x%08x do not", mask, s->mask & ~mask);
}

// The lanes of one warp that wait here must have come to one and the same instruction, if that is aligned.
static bool compare_lanes(Check *c, const Warp *w, u32 id) {
    bool mixed = false;
    const SimInsn *insns = c->grid->program->insns;
    const Split *first = NULL;
    for (u32 k = 0; k < w->split_count; k++) {
        const Split *s = &w->splits[k];
        if (s->state != SPLIT_BARRIER || s->barrier != id || !is_aligned(&insns[s->pc])) continue;
        if (!first) first = s;
        if (first->pc == s->pc) continue;
        mixed = true;
        SimFinding *f = tell(c, RULE_MIXED_BARRIER, w, s->mask, s->pc, first->pc,
                             "lanes of one warp wait at different barrier instructions");
        if (f) other_party(c, f, w, first->mask, first->pc, "Other lanes wait");
    }
    return mixed;
}

static bool same_line(const Check *c, u32 a, u32 b) {
    const SimProgram *p = c->grid->program;
    const Module *m = p->module;
    u32 pcs[2] = {a, b};
    const Loc *locs[2];
    for (u32 i = 0; i < 2; i++) {
        const Function *func = &m->funcs[program_func_at(p, pcs[i])->func];
        LocRef loc = m->insns[func->insns + p->insns[pcs[i]].insn].loc;
        if (!loc) return true;  // not known: then nothing is said
        locs[i] = &m->locs[loc];
    }
    return locs[0]->line == locs[1]->line && locs[0]->file == locs[1]->file;
}

// __syncthreads() at different places of the source that meet.
static void compare_warps(Check *c, const Cta *cta, u32 id) {
    const CheckBarrier *b = &check_cta(c, cta)->barriers[id];
    if (!b->used || b->count) return;
    for (u32 i = 0; i < cta->warp_count; i++) {
        const Warp *w = &cta->warps[i];
        for (u32 k = 0; k < w->split_count; k++) {
            const Split *s = &w->splits[k];
            if (s->state != SPLIT_BARRIER || s->barrier != id || s->pc == b->pc || same_line(c, s->pc, b->pc)) continue;
            if (i == b->thread / LANES) continue;  // within a warp: compare_lanes
            SimFinding *f = tell(c, RULE_MIXED_LINES, w, s->mask, s->pc, b->pc,
                                 "threads of a block meet at different __syncthreads()");
            if (!f) continue;
            f->other = check_place(c, b->pc);
            check_place_thread(&f->other, cta, b->thread);
            f->other_role = "Others wait";
        }
    }
}

void check_barrier_release(const Cta *cta, u32 id) {
    Check *c = cta->grid->exec.check;
    bool sync = c->checks & (CHECK_SYNC | CHECK_STRICT) && cta->grid->its && id < CLUSTER_BARRIER, mixed = false;
    for (u32 i = 0; i < cta->warp_count; i++) {
        const Warp *w = &cta->warps[i];
        u32 lanes = 0;
        for (u32 k = 0; k < w->split_count; k++)
            if (w->splits[k].state == SPLIT_BARRIER && w->splits[k].barrier == id) lanes |= w->splits[k].mask;
        if (!lanes) continue;
        race_barrier_leave(c, w, id, lanes, cta->barriers[id].open_count);
        if (sync) mixed |= compare_lanes(c, w, id);
    }
    race_barrier_reset(c, cta, id);
    if (sync && !mixed && c->checks & CHECK_STRICT) compare_warps(c, cta, id);
    if (id < CLUSTER_BARRIER) check_cta(c, cta)->barriers[id] = (CheckBarrier){0};
}

// --- lanes of a warp
// ----------------------------------------------------------------------------------------------------------
static u32 members_of(const Exec *x, const SimInsn *in, u32 lane) {
    return in->src[3] == SIM_NO_OPERAND ? FULL_MASK : ((const u32 *)exec_operand(x, in->src[3]))[lane];
}

void check_warp_mask(Exec *x, const Warp *w, const SimInsn *in, u32 mask) {
    Check *c = x->check;
    if (!(c->checks & CHECK_SYNC) || in->src[3] == SIM_NO_OPERAND || in->src[3] >> 30 == AREA_C32) {
        if (!(c->checks & CHECK_SYNC) || in->src[3] == SIM_NO_OPERAND || members_of(x, in, 0) == FULL_MASK) return;
    }
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left), members = members_of(x, in, l);
        if (members >> l & 1) continue;
        SimFinding *f = tell(c, RULE_WARP_MASK, w, 1u << l, (u32)(in - x->grid->program->insns), 0,
                             "the mask lacks the lane that executes it");
        if (f) check_note(c, f, "Mask 0x%08x, lane %u", members, l);
    }
}

void check_warp_sync(Exec *x, const Warp *w, const SimInsn *in, u32 mask) {
    if (!(x->check->checks & CHECK_RACE)) return;
    for (u32 rest = mask; rest;) {  // a turn for each group with its own membermask
        u32 lane = (u32)__builtin_ctz(rest), group = (members_of(x, in, lane) & mask) | 1u << lane;
        race_lanes_synced(x->check, w, group);
        rest &= ~group;
    }
}

// Nothing is left of the kernel at `pc`: who waits there has come to the end.
static bool leads_out(const SimProgram *p, u32 pc) {
    for (u32 steps = 0; steps < 16; steps++) {
        const SimInsn *in = &p->insns[pc];
        bool always = in->guard == WL_NONE;
        if (always && in->kind == SIM_EXIT) return true;
        if (always && in->kind == SIM_RET) return program_func_at(p, pc) == &p->funcs[0];
        if (!always || in->kind != SIM_BRANCH) return false;
        pc = in->target;
    }
    return false;
}

static void blame(Exec *x, const Warp *w, const Split *s, const Conv *conv) {
    Check *c = x->check;
    const SimInsn *in = &x->grid->program->insns[s->pc];
    CheckRule rule = s->state == SPLIT_BARRIER ? RULE_DIVERGENT_BARRIER : RULE_WARP_DIVERGENT;
    const char *what = s->state == SPLIT_BARRIER
                           ? "lanes of the warp that wait here diverged from others, which do not come"
                           : "the mask names lanes that do not come here";
    if (s->state == SPLIT_WARPGROUP || (s->state == SPLIT_BARRIER && !is_aligned(in))) return;
    if (s->state == SPLIT_SYNC && !(s->sync_mask & conv->arrived)) return;
    SimFinding *f = tell(c, rule, w, s->mask, s->pc, conv->pc, what);
    if (!f) return;
    if (s->state == SPLIT_SYNC)
        check_note(c, f, "Lanes 0x%08x wait for 0x%08x; lanes 0x%08x are elsewhere", s->mask, s->sync_mask,
                   conv->arrived);
    else
        check_note(c, f, "Lanes 0x%08x wait here; lanes 0x%08x are elsewhere", s->mask, conv->arrived);
    other_party(c, f, w, conv->arrived, conv->pc, "The other lanes are");
}

// No lane of the warp can go on unless those that wait to reconverge are let go.
void check_blocked(Exec *x, const Warp *w) {
    if (!(x->check->checks & CHECK_SYNC)) return;
    for (u32 i = 0; i < w->split_count; i++) {
        const Split *s = &w->splits[i];
        for (u32 conv = s->conv; conv != WL_NONE; conv = w->convs.data[conv].parent) {
            const Conv *at = &w->convs.data[conv];
            if (!at->arrived || leads_out(x->grid->program, at->pc)) continue;
            blame(x, w, s, at);
            break;
        }
    }
}

// --- the end of a launch that went wrong
// -------------------------------------------------------------------------------------
static const char *waiting_text(const Split *s) {
    switch (s->state) {
    case SPLIT_SYNC: return "a warp waits for lanes that never come";
    case SPLIT_BARRIER: return "threads wait at a barrier for others that never come";
    case SPLIT_WARPGROUP: return "a warp waits for wgmma that other warps of its warpgroup never commit";
    default: return "threads repeat the same steps forever";
    }
}

// The first split that waits, and the first that is somewhere else.
void check_deadlock(Grid *g) {
    Check *c = g->exec.check;
    const Warp *first_warp = NULL;
    const Split *first = NULL;
    SimFinding *f = NULL;
    for (u32 i = 0; i < g->cta_cap; i++) {
        if (!g->ctas[i].used) continue;
        for (u32 k = 0; k < g->ctas[i].warp_count; k++) {
            const Warp *w = &g->ctas[i].warps[k];
            for (u32 n = 0; n < w->split_count; n++) {
                const Split *s = &w->splits[n];
                if (!first) {
                    first = s, first_warp = w;
                    f = tell(c, RULE_NO_PROGRESS, first_warp, s->mask, s->pc, 0, waiting_text(s));
                } else if (f && !f->other_role && s->pc != first->pc) {
                    other_party(c, f, w, s->mask, s->pc, "Others are");
                }
            }
        }
    }
}

void check_fault(Grid *g) {
    Check *c = g->exec.check;
    const Exec *x = &g->exec;
    static const char *const texts[] = {[FAULT_ASSERT] = "an assertion failed",
                                        [FAULT_TRAP] = "a trap instruction was executed",
                                        [FAULT_BAD_CALL] = "a call or branch to something that is not code",
                                        [FAULT_STACK] = "call stack or local memory used up",
                                        [FAULT_UNSUPPORTED] = "not supported by the simulator",
                                        [FAULT_BARRIER] = "an invalid barrier number or thread count",
                                        [FAULT_BAD_HANDLE] = "an invalid texture or surface handle",
                                        [FAULT_MBARRIER] = "misuse of an mbarrier",
                                        [FAULT_BAD_TENSOR] = "an invalid tensor map or copy",
                                        [FAULT_BAD_COPY] = "an impossible bulk copy"};
    if (x->fault.kind < WL_COUNT(texts) && !texts[x->fault.kind] && c->checks & CHECK_MEMORY) return;  // told already
    const char *text = x->fault.kind < WL_COUNT(texts) && texts[x->fault.kind] ? texts[x->fault.kind] : "a fault";
    CheckRule rule = x->fault.kind == FAULT_BARRIER ? RULE_BARRIER_COUNT : RULE_FAULT;
    SimFinding *f = tell(c, rule, x->warp, 1u << x->fault.lane, g->faulting_pc, 0, text);
    if (f && x->message) check_note(c, f, "%s", x->message);
}

// --- frames
// ----------------------------------------------------------------------------------------------------------------------
// A new frame holds its parameters and nothing else that was written.
void check_enter(Exec *x, const Warp *w, const SimFunc *callee, u32 local, u32 mask) {
    CheckWarp *cw = check_warp(x->check, w);
    if (!(x->check->checks & CHECK_INIT) || !callee->local_bytes) return;
    for (u32 left = mask; left; left &= left - 1) {
        u64 first = (u32)__builtin_ctz(left) * w->local_stride + local;
        check_bits_set(cw->local_written, first, callee->local_bytes, false);
        if (callee->param_bytes) check_bits_set(cw->local_written, first, callee->param_bytes, true);
    }
}
