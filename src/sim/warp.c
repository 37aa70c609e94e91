// SPDX-License-Identifier: Apache-2.0
// The warp loop: fetch, guard, count, execute; and everything that moves lanes between program counters.
#include "sim/splits.h"

#include <string.h>

#include "sim/builtin.h"
#include "sim/check/check.h"
#include "sim/slow_path.h"
#include "sim/time/trace.h"

#define SPLIT_TURN 2000u  // instructions before another ready split of the warp gets its turn
#define MAX_CALL_DEPTH 4096u

const SimOperand *exec_program_list(const Exec *x, u32 list) { return x->grid->program->lists + list; }

// Whether the instruction may leave lanes of a split behind, or send them different ways.
static bool parts(const SimInsn *in, u32 lanes, u32 mask) {
    return mask && (mask != lanes || in->kind == SIM_SWITCH || in->kind == SIM_CALL);
}

// --- registers -------------------------------------------------------------------------------------------------
// The kernel's own registers first; those of functions that it calls find more room than they need.
static bool grow_area(Pages *pages, void **area, u32 *size, u32 needed, u32 unit) {
    if (needed <= *size) return true;
    u64 wanted = *size ? needed + needed / 2 : needed;
    u8 *bigger = pages_resize(pages, *area, (u64)*size * unit, wanted * unit);
    if (!bigger) return false;
    memset(bigger + (u64)*size * unit, 0, (wanted - *size) * unit);
    *area = bigger;
    *size = (u32)wanted;
    return true;
}

static bool warp_reserve(Warp *w, u32 r32, u32 r64, u32 preds) {
    Pages *pages = w->cta->grid->sim->pages;
    return grow_area(pages, (void **)&w->r32, &w->r32_size, r32, 1) &&
           grow_area(pages, (void **)&w->r64, &w->r64_size, r64, 1) &&
           grow_area(pages, (void **)&w->preds, &w->pred_count, preds, sizeof(u32));
}

static void exec_enter(Exec *x, Warp *w, const Split *s) {
    const Frame *f = &w->frames.data[s->frame];
    x->base[AREA_R32] = w->r32 + f->r32;
    x->base[AREA_R64] = w->r64 + f->r64;
    x->pred = w->preds + f->pred;
    x->frame_local = f->local;
    x->active = s->mask;
}

// All lanes' local memory, cleared as far as it was used: `stride` bytes each, whatever earlier launches had. Where the
// depth of the stack is not known most of it never is, and takes no memory of the host's.
static Status local_reset(Warp *w, const SimProgram *program, u64 stride) {
    if (stride > w->local_cap) {
        mem_free(w->local);
        w->local = mem_zero(LANES, stride);
        w->local_cap = w->local ? stride : 0;
        w->local_used = 0;
        if (!w->local) return STATUS_NO_MEMORY;
    }
    for (u32 l = 0; l < LANES && w->local_used; l++) memset(w->local + l * w->local_stride, 0, w->local_used);
    w->local_stride = stride;
    w->stack_limit = (u32)stride;
    w->local_used = program->recursive && !program->allocates ? program->funcs[0].local_bytes : stride;
    if (program->allocates) stack_reset(w);
    return STATUS_OK;
}

Status warp_start(Warp *w, const SimProgram *program, u32 lanes, u64 local_stride) {
    const SimFunc *kernel = &program->funcs[0];
    w->frames.len = w->free_frames.len = w->convs.len = w->free_convs.len = 0;
    w->executed = w->stuck_since = w->turn = w->turned = 0;
    w->polled = false;
    w->stopped = false;
    w->exited = w->cluster_pending = w->wgmma_committed = w->wgmma_awaited = 0;
    w->current = 0;
    w->lanes = lanes == LANES ? FULL_MASK : (1u << lanes) - 1;
    if (!warp_reserve(w, kernel->r32_bytes, kernel->r64_bytes, kernel->preds)) return STATUS_NO_MEMORY;
    if (kernel->r32_bytes) memset(w->r32, 0, kernel->r32_bytes);
    if (kernel->r64_bytes) memset(w->r64, 0, kernel->r64_bytes);
    memset(w->preds, 0, kernel->preds * sizeof(u32));
    w->preds[1] = FULL_MASK;
    TRY(local_reset(w, program, local_stride));
    u32 frame = frame_new(w, (Frame){.parent = WL_NONE, .call_pc = WL_NONE, .refs = 1});
    if (frame == WL_NONE) return STATUS_NO_MEMORY;
    w->splits = w->all ? w->all : &w->only;
    w->splits[0] = (Split){.pc = kernel->entry, .mask = w->lanes, .frame = frame, .conv = WL_NONE};
    w->split_count = 1;
    return STATUS_OK;
}

void warp_free(Pages *pages, Warp *w) {
    pages_give(pages, w->frames.data, w->frames.cap * sizeof *w->frames.data);
    vec_free(&w->free_frames);
    vec_free(&w->convs);
    vec_free(&w->free_convs);
    pages_give(pages, w->all, sizeof *w->all * LANES);
    pages_give(pages, w->r32, w->r32_size);
    pages_give(pages, w->r64, w->r64_size);
    pages_give(pages, w->preds, w->pred_count * sizeof *w->preds);
    mem_free(w->local);
}

// --- branches --------------------------------------------------------------------------------------------------
static bool exec_branch(Exec *x, Warp *w, Split *s, const SimInsn *in, u32 taken) {
    if (WL_UNLIKELY(in->flags & SIM_YIELD) && x->grid->its) leave_meetings(w, s);
    if (taken == s->mask)
        s->pc = in->target;
    else if (taken == 0)
        s->pc++;
    else {
        x->count->divergent++;
        return split_diverge(x, w, s, taken, in->target, s->pc + 1, in);
    }
    return true;
}

// brx.idx: lanes by their index into the target list.
static bool exec_switch(Exec *x, Warp *w, Split *s, const SimInsn *in, u32 mask) {
    const u32 *index = exec_operand(x, in->src[0]);
    const u32 *table = x->grid->program->lists + in->list;
    u32 fall = s->mask & ~mask, left = mask, self = s->pc;
    bool diverged = false;
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1 && index[l] >= in->list_count) {
            x->fault = (Fault){.kind = FAULT_BAD_CALL, .lane = (u8)l, .address = index[l]};
            return true;
        }
    while (left) {
        u32 lane = (u32)__builtin_ctz(left), target = table[index[lane]], group = 0;
        for (u32 l = lane; l < LANES; l++) group |= (u32)((left >> l & 1) && table[index[l]] == target) << l;
        left &= ~group;
        if (left == 0 && fall == 0) {
            s->pc = target;
            break;
        }
        diverged = true;
        if (!split_diverge(x, w, s, group, target, self, in)) return false;
    }
    if (fall) s->pc = self + 1;
    x->count->divergent += diverged;
    return true;
}

// --- calls -----------------------------------------------------------------------------------------------------
static void copy_arg(Exec *x, const Warp *w, const SimArg *arg, u32 from, u32 to, u32 mask, bool result) {
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u8 *local = w->local + l * w->local_stride;
        u8 *caller = local + from + arg->caller, *callee = local + to + arg->callee;
        if (arg->is_reg) {
            u32 lane_bytes = arg->caller >> 30 == AREA_R64 || arg->caller >> 30 == AREA_C64 ? 8 : 4;
            caller = (u8 *)exec_operand(x, arg->caller) + l * lane_bytes;
        }
        memcpy(result ? caller : callee, result ? callee : caller, arg->size);
    }
}

// The lanes in `mask` enter the callee. Those in `later` stay at the call, to call something else; the rest wait behind
// it.
static bool enter_function(Exec *x, Warp *w, Split *s, const SimInsn *in, const SimFunc *callee, u32 mask, u32 later) {
    const SimProgram *p = x->grid->program;
    const SimCall *call = &p->calls[in->list];
    Frame caller = w->frames.data[s->frame];
    const SimFunc *from = &p->funcs[caller.func];
    Frame frame = {.parent = s->frame,
                   .func = (u32)(callee - p->funcs),
                   .call_pc = s->pc,
                   .r32 = caller.r32 + from->r32_bytes,
                   .r64 = caller.r64 + from->r64_bytes,
                   .pred = caller.pred + from->preds,
                   .local = caller.local + from->local_bytes};
    if (frame.local + callee->local_bytes > w->stack_limit || w->frames.len > MAX_CALL_DEPTH) {
        x->fault = (Fault){.kind = FAULT_STACK, .lane = (u8)__builtin_ctz(mask)};
        return true;
    }
    if (frame.local + callee->local_bytes > w->local_used) w->local_used = frame.local + callee->local_bytes;
    if (!warp_reserve(w, frame.r32 + callee->r32_bytes, frame.r64 + callee->r64_bytes, frame.pred + callee->preds))
        return false;
    exec_enter(x, w, s);
    if (WL_UNLIKELY(x->check)) check_enter(x, w, callee, frame.local, mask);
    for (u32 i = 0; i < call->arg_count; i++)
        copy_arg(x, w, &p->args[call->args + i], caller.local, frame.local, mask, false);
    if (callee->stack_slot != WL_NONE) stack_enter(w, frame.local + callee->stack_slot, mask);
    w->preds[frame.pred] &= ~mask;
    w->preds[frame.pred + 1] |= mask;
    u32 conv = conv_new(
        w, (Conv){.parent = s->conv, .pc = s->pc + 1, .frame = s->frame, .mask = s->mask, .refs = 1, .is_call = true});
    if (conv == WL_NONE) return false;
    s->conv = conv;
    u32 at = frame_new(w, frame);
    if (at == WL_NONE) return false;
    // The split's reference to the caller's frame goes to the new frame.
    warp_split_off(w, s, later, s->pc);
    warp_split_off(w, s, s->mask & ~mask, s->pc + 1);
    w->frames.data[at].refs = 1;
    s->frame = at;
    s->pc = callee->entry;
    return true;
}

static const SimFunc *call_target(const SimProgram *p, FuncRef func) {
    u32 index = func < p->module->func_count ? p->func_of[func] : WL_NONE;
    return index == WL_NONE ? NULL : &p->funcs[index];
}

static bool exec_call(Exec *x, Warp *w, Split *s, const SimInsn *in, u32 mask) {
    const SimProgram *p = x->grid->program;
    const SimCall *call = &p->calls[in->list];
    if (call->builtin || mask == 0) {
        if (mask) builtin_call(x, w, call, mask);
        s->pc++;
        return true;
    }
    if (in->target != WL_NONE) return enter_function(x, w, s, in, &p->funcs[in->target], mask, 0);
    // Through a pointer: lanes with the target of the first one go, the others call when they are back.
    const u64 *handles = exec_operand(x, in->src[0]);
    u32 lane = (u32)__builtin_ctz(mask), same = 0;
    const SimFunc *callee = call_target(p, function_from_handle(p->module, handles[lane]));
    if (!callee) {
        x->fault = (Fault){.kind = FAULT_BAD_CALL, .lane = (u8)lane, .address = handles[lane]};
        return true;
    }
    for (u32 l = 0; l < LANES; l++) same |= (u32)((mask >> l & 1) && handles[l] == handles[lane]) << l;
    return enter_function(x, w, s, in, callee, same, mask & ~same);
}

static bool exec_return(Exec *x, Warp *w, Split *s, u32 mask) {
    const SimProgram *p = x->grid->program;
    Frame frame = w->frames.data[s->frame];
    const SimInsn *call_insn = &p->insns[frame.call_pc];
    const SimCall *call = &p->calls[call_insn->list];
    u32 conv = s->conv;
    while (!(w->convs.data[conv].is_call && w->convs.data[conv].frame == frame.parent))
        conv = w->convs.data[conv].parent;
    warp_split_off(w, s, s->mask & ~mask, s->pc + 1);  // predicated off: these go on
    Split caller = {.frame = frame.parent};
    exec_enter(x, w, &caller);
    for (u32 i = 0; i < call->result_count; i++)
        copy_arg(x, w, &p->args[call->results + i], w->frames.data[frame.parent].local, frame.local, mask, true);
    u32 stack_slot = p->funcs[frame.func].stack_slot;
    if (stack_slot != WL_NONE) stack_leave(w, frame.local + stack_slot, mask);
    u32 inner = s->conv, old_frame = s->frame;
    s->pc = frame.call_pc + 1;
    s->frame = frame.parent;
    w->frames.data[frame.parent].refs++;
    s->conv = conv;
    w->convs.data[conv].refs++;
    conv_forget(w, inner, conv, mask);
    conv_release(w, inner);
    frame_release(w, old_frame);
    return true;
}

static void exec_exit(Warp *w, Split *s, u32 mask) {
    if (WL_UNLIKELY(w->trace)) trace_exit(w->trace, lanes_in(mask));
    w->exited |= mask;
    if (WL_UNLIKELY(w->cluster_pending & mask)) cluster_lanes_exited(w, mask);
    w->cta->exited_threads += lanes_in(mask);
    if (WL_UNLIKELY(w->cta->grid->exec.check)) race_exit(w->cta->grid->exec.check, w);
    u32 at = (u32)(s - w->splits), conv = s->conv;
    s->mask &= ~mask;
    if (conv != WL_NONE) w->convs.data[conv].refs++;  // keep it over the removal
    if (s->mask == 0)
        split_remove(w, at);
    else
        s->pc++;
    conv_forget(w, conv, WL_NONE, mask);
    conv_release(w, conv);
    barrier_threads_exited(w->cta);
    if (WL_UNLIKELY(w->cta->wgmma_committed) && warp_done(w)) warpgroup_advanced(w);
}

// --- warp-level synchronisation --------------------------------------------------------------------------------
static u32 sync_members(Exec *x, const SimInsn *in, u32 mask) {
    if (in->src[3] == SIM_NO_OPERAND) return mask;  // forms without a membermask
    const u32 *members = exec_operand(x, in->src[3]);
    return members[__builtin_ctz(mask)];
}

static bool goes_on_with(const Split *s, const Split *o) {
    return s->pc == o->pc && s->frame == o->frame && s->conv == o->conv && o->state == SPLIT_READY;
}

void splits_join(Warp *w, u32 pc) {
    for (u32 i = 0; i + 1 < w->split_count && w->cta->grid->its; i++) {
        Split *s = &w->splits[i];
        for (u32 k = w->split_count; s->pc == pc && s->state == SPLIT_READY && --k > i;) {
            if (!goes_on_with(s, &w->splits[k])) continue;
            s->mask |= w->splits[k].mask;
            split_remove(w, k);
        }
    }
}

// Lets go on those that wait with split `s`: at the same instruction in the same frame, or anywhere when it does
// nothing but wait. `here`: the lanes of those at the same one.
static void sync_let_go(Exec *x, Warp *w, const Split *s, u32 here, u32 wanted) {
    u32 pc = s->pc, frame = s->frame;
    const SimInsn *in = &x->grid->program->insns[pc];
    exec_enter(x, w, s);
    x->count = &x->states[pc].counters;
    x->active = here;
    x->retry = false;
    if (in->exec) in->exec(x, in, here);
    if (WL_UNLIKELY(x->check)) check_warp_sync(x, w, in, in->exec ? here : wanted);
    for (u32 j = 0; j < w->split_count; j++) {
        Split *o = &w->splits[j];
        bool joins =
            o->state == SPLIT_SYNC && ((o->pc == pc && o->frame == frame) || (!in->exec && (o->mask & wanted)));
        if (!joins) continue;
        o->state = x->retry ? SPLIT_WARPGROUP : SPLIT_READY;
        o->pc += !x->retry;
    }
    splits_join(w, pc + 1);
}

// Whether some that wait together were all the members that they wait for.
static bool sync_release_some(Exec *x, Warp *w) {
    for (u32 i = 0; i < w->split_count; i++) {
        const Split *s = &w->splits[i];
        if (s->state != SPLIT_SYNC) continue;
        u32 here = 0, anywhere = 0, wanted = s->sync_mask & w->lanes & ~w->exited;
        for (u32 j = 0; j < w->split_count; j++) {
            const Split *o = &w->splits[j];
            if (o->state != SPLIT_SYNC) continue;
            anywhere |= o->mask;
            if (o->pc == s->pc && o->frame == s->frame) here |= o->mask;
        }
        if (wanted & ~(x->grid->program->insns[s->pc].exec ? here : anywhere)) continue;
        sync_let_go(x, w, s, here, wanted);
        return true;
    }
    return false;
}

static void sync_release(Exec *x, Warp *w) {
    while (sync_release_some(x, w)) {}
}

// Lanes that wait for ones that have exited need not wait any more (measured on an H200: neither __syncwarp nor a
// shuffle hangs).
static void exit_and_release(Exec *x, Warp *w, Split *s, u32 mask) {
    exec_exit(w, s, mask);
    for (u32 i = 0; i < w->split_count; i++)
        if (w->splits[i].state == SPLIT_SYNC) return sync_release(x, w);
}

// True when the instruction was executed, false when the split has to wait.
static bool exec_sync(Exec *x, Warp *w, Split *s, const SimInsn *in, u32 mask) {
    u32 members = sync_members(x, in, mask) & w->lanes & ~w->exited;
    if (WL_UNLIKELY(x->check)) check_warp_mask(x, w, in, mask);
    if (WL_LIKELY((members & ~mask) == 0)) {
        x->retry = false;
        if (in->exec) in->exec(x, in, mask);
        if (WL_UNLIKELY(x->check)) check_warp_sync(x, w, in, mask);
        if (WL_UNLIKELY(x->retry)) return s->state = SPLIT_WARPGROUP, false;
        s->pc++;
        return true;
    }
    warp_split_off(w, s, s->mask & ~mask, s->pc + 1);  // predicated off lanes do not wait
    s->state = SPLIT_SYNC;
    s->sync_mask = members;
    sync_release(x, w);
    return false;
}

// --- the loop --------------------------------------------------------------------------------------------------
static inline u32 guarded(const Exec *x, const SimInsn *in, u32 mask) {
    if (in->guard == WL_NONE) return mask;
    u32 p = x->pred[in->guard];
    return mask & (in->flags & SIM_GUARD_NEGATED ? ~p : p);
}

static inline void count_insn(Exec *x, u32 active, u32 mask) {
    x->count->warps++;
    u32 lanes = lanes_in(active);
    x->count->threads += lanes;
    x->count->threads_on += mask == active ? lanes : lanes_in(mask);
}

typedef enum RunEvent { RUN_ON, RUN_SWITCH, RUN_NEXT, RUN_FAIL, RUN_YIELD, RUN_WAIT, RUN_STOP, RUN_LATER } RunEvent;

// Control flow and synchronisation: RUN_SWITCH when the set of splits changed.
static RunEvent run_control(Exec *x, Warp *w, Split *s, const SimInsn *in, u32 mask) {
    u32 before = w->split_count;
    bool good = true;
    switch (in->kind) {
    case SIM_BRANCH:
        good = exec_branch(x, w, s, in, mask);
        if (good && in->flags & SIM_YIELD && x->grid->its && w->split_count > 1) return RUN_NEXT;
        return !good ? RUN_FAIL : w->split_count == before ? RUN_ON : RUN_SWITCH;
    case SIM_SWITCH: good = mask ? exec_switch(x, w, s, in, mask) : (s->pc++, true); break;
    case SIM_CALL: good = exec_call(x, w, s, in, mask); break;
    case SIM_RET:
        if (mask == 0)
            s->pc++;
        else if (w->frames.data[s->frame].parent == WL_NONE)
            exit_and_release(x, w, s, mask);
        else
            good = exec_return(x, w, s, mask);
        break;
    case SIM_EXIT:
        if (mask == 0)
            s->pc++;
        else
            exit_and_release(x, w, s, mask);
        break;
    case SIM_TRAP:
        if (mask) x->fault = (Fault){.kind = FAULT_TRAP, .lane = (u8)__builtin_ctz(mask)};
        s->pc++;
        break;
    case SIM_BARRIER:
        if (mask == 0)
            s->pc++;
        else
            barrier_arrive(x, w, s, in, mask);
        break;
    case SIM_WARP_SYNC:
        if (mask == 0)
            s->pc++;
        else if (exec_sync(x, w, s, in, mask))
            return x->fault.kind ? RUN_FAIL : RUN_ON;
        break;
    default: break;
    }
    return good && !x->fault.kind ? RUN_SWITCH : RUN_FAIL;
}

static RunEvent run_wait(Exec *x, Split *s, const SimInsn *in, u32 mask) {
    x->retry = false;
    if (mask) in->exec(x, in, mask);
    if (x->fault.kind) return RUN_FAIL;
    s->pc++;
    return x->retry ? RUN_WAIT : RUN_ON;
}

static void note_slow_path(Exec *x, const SimInsn *in, u32 mask) {
    SlowPath path = slow_path(x, in, mask);
    if (path) trace_slow(x->trace, path);
}

// Whether a traced warp has to stop before this instruction; otherwise it becomes part of the trace.
static bool trace_insn(Exec *x, const Split *s, const SimInsn *in, u64 left) {
    Trace *t = x->trace;
    bool in_time = in->flags & SIM_IN_TIME;
    if (in_time || !trace_goes_on(t, s->pc, s->mask)) {
        trace_close(t);
        if (left == 0 || (in_time && !trace_empty(t))) return true;
        trace_open(t, s->pc, s->mask);
    }
    if (in->flags & SIM_CLOCK) x->now = t->clock;
    t->constant = in->kind == SIM_MEMORY && in->space == SPACE_CONST;
    t->next = s->pc;  // accesses are filed under this instruction; it ends behind it
    return false;
}

// The instruction has not been executed after all (FAULT_LATER).
static RunEvent take_back(Exec *x, u32 active, u32 mask, u64 budget, u64 *executed, u64 *left) {
    if (x->trace) trace_take_back(x->trace);
    x->fault = (Fault){0};
    x->now--;
    --*executed;
    *left = budget > *executed ? budget - *executed : 0;
    x->count->warps--;
    x->count->threads -= lanes_in(active);
    x->count->threads_on -= lanes_in(mask);
    return RUN_LATER;
}

// Runs one split until something changes the set of splits, or `budget` instructions have passed (traced: at the end of
// the run then). Ahead: or it comes to what is to be executed in order, or less than `least` is left.
static inline RunEvent split_run_as(Exec *x, Warp *w, u32 at, u64 *budget, const bool traced, const bool ahead,
                                    u64 least) {
    const SimInsn *insns = x->grid->program->insns;
    PcState *states = x->states;
    Split *s = &w->splits[at];
    exec_enter(x, w, s);
    u64 left = *budget, executed = 0;
    RunEvent event = RUN_ON;
    while (traced || left > 0) {
        const SimInsn *in = &insns[s->pc];
        if (ahead && WL_UNLIKELY(in->flags & SIM_IN_ORDER || left < least)) {
            event = RUN_LATER;
            break;
        }
        if (WL_UNLIKELY(in->flags & SIM_RECONVERGE) && s->conv != WL_NONE) {
            if (split_arrive(x, w, at, in)) {
                event = RUN_SWITCH;
                break;
            }
            x->active = s->mask;
        }
        if (traced && trace_insn(x, s, in, left)) {
            event = RUN_STOP;
            break;
        }
        u32 mask = guarded(x, in, s->mask);
        x->count = &states[s->pc].counters;
        count_insn(x, s->mask, mask);
        if (traced && WL_UNLIKELY(in->flags & SIM_SLOW_PATH) && mask) note_slow_path(x, in, mask);
        left -= !traced || left > 0;
        executed++;
        x->now++;
        if (WL_LIKELY(in->kind <= SIM_MEMORY)) {
            if (mask) in->exec(x, in, mask);
            if (WL_UNLIKELY(x->fault.kind)) {
                event = RUN_FAIL;
                if (x->fault.kind == FAULT_LATER) event = take_back(x, s->mask, mask, *budget, &executed, &left);
                break;
            }
            s->pc++;
            if (traced) x->trace->next++;
            if (WL_LIKELY(!(in->flags & SIM_LONG))) continue;
            event = RUN_YIELD;
            break;
        }
        if (WL_UNLIKELY(!w->all && parts(in, s->mask, mask)) && !(s = splits_part(w))) {
            event = RUN_FAIL;
            break;
        }
        event = in->kind == SIM_WAIT ? run_wait(x, s, in, mask) : run_control(x, w, s, in, mask);
        if (traced) x->trace->next++, trace_close(x->trace);
        if (event != RUN_ON) break;
    }
    w->executed += executed;
    w->cta->executed = x->now;
    *budget = left;
    return event;
}

static RunEvent split_run(Exec *x, Warp *w, u32 at, u64 *budget) {
    return split_run_as(x, w, at, budget, false, false, 0);
}
static RunEvent split_run_traced(Exec *x, Warp *w, u32 at, u64 *budget) {
    return split_run_as(x, w, at, budget, true, false, 0);
}
static RunEvent split_run_ahead(Exec *x, Warp *w, u32 at, u64 *budget, bool strict) {
    return split_run_as(x, w, at, budget, true, true, strict);
}

static u32 next_ready(const Warp *w) {
    for (u32 i = 0; i < w->split_count; i++) {
        u32 at = (w->current + i) % w->split_count;
        if (w->splits[at].state == SPLIT_READY) return at;
    }
    return WL_NONE;
}

// Nothing is ready: before Volta that is final; later, lanes waiting at convergence points are let go.
static bool unblock(Exec *x, Warp *w) {
    if (!x->grid->its) return false;
    if (WL_UNLIKELY(x->check)) check_blocked(x, w);
    for (u32 i = 0; i < w->split_count; i++)
        if (warp_let_go(w, &w->splits[i])) return true;
    return false;
}

static void not_stuck(Warp *w) {
    w->stuck_since = w->executed;
    w->polled = false;
}

// After how many instructions of a split lanes that wait for it are let go: soon where it polls. ptxas has a YIELD in
// loops around volatile loads and compare-and-swaps, and in no others, however long they are (an H200's counts).
static u64 release_after(const Exec *x, const Warp *w) { return w->polled ? x->grid->release_budget : RELEASE_PLAIN; }

// The split has run for long: others of the warp get their turn, and lanes that wait for it are let go.
static void take_turns(Exec *x, Warp *w, u32 at) {
    w->turn = 0;
    w->current = (at + 1) % w->split_count;
    if (w->executed - w->stuck_since < release_after(x, w)) return;
    bool released = warp_let_go(w, &w->splits[at % w->split_count]);
    if (released && w->polled) x->grid->release_budget = RELEASE_LATER;
    not_stuck(w);
}

// A split that is the only one left runs until lanes that wait for it are due to be let go.
static u64 turn_length(const Grid *g, const Warp *w) { return w->split_count == 1 ? g->release_budget : SPLIT_TURN; }

static WarpStop stop_later(Warp *w, u64 budget, u64 *left) {
    w->stopped = true;
    *left = budget;
    return WARP_LATER;
}

static u64 turn_left(const Grid *g, const Warp *w) {
    u64 length = turn_length(g, w);
    return w->turn < length ? length - w->turn : 1;
}

// Ahead, nothing is let go, since when depends on other CTAs: what the turn of a split has left before that.
static u64 turn_left_ahead(const Warp *w) {
    u64 length = w->split_count == 1 ? RELEASE_LATER : SPLIT_TURN;
    return w->turn + 1 < length ? length - 1 - w->turn : 0;
}

static WarpStop run_warp(Exec *x, Warp *w, u64 *left) {
    u64 budget = *left;
    x->warp = w;
    x->cta = w->cta;
    x->now = w->cta->executed;
    x->local = w->local;
    x->local_stride = w->local_stride;
    x->trace = w->trace;
    bool goes_on = w->stopped;
    w->stopped = false;
    while (w->split_count) {
        u32 at = next_ready(w);
        if (at == WL_NONE) {
            if (unblock(x, w)) continue;
            return WARP_BLOCKED;
        }
        if (budget == 0 && !goes_on) return WARP_BUDGET;
        goes_on = false;
        bool alone = w->split_count == 1 && w->splits[at].conv == WL_NONE;
        bool limited = !alone && x->grid->its;
        u64 turn = !limited ? budget : x->ahead ? turn_left_ahead(w) : turn_left(x->grid, w);
        bool strict = turn < budget;
        u64 given = turn = strict ? turn : budget;
        w->current = at;
        u64 polls = x->polls;
        RunEvent event = x->ahead   ? split_run_ahead(x, w, at, &turn, strict)
                         : x->trace ? split_run_traced(x, w, at, &turn)
                                    : split_run(x, w, at, &turn);
        budget -= given - turn;
        w->turn += given - turn;
        w->polled |= x->polls != polls;
        if (event == RUN_LATER) return stop_later(w, budget, left);
        if (event == RUN_FAIL) return WARP_FAULT;
        if (w->split_count == 0) break;
        if (event == RUN_SWITCH) w->current = w->split_count - 1;  // the newest split first: depth first
        if (alone || event == RUN_SWITCH)
            not_stuck(w), w->turn = 0;
        else if (!x->ahead && x->grid->its && w->turn >= turn_length(x->grid, w))
            take_turns(x, w, at);
        else if (event == RUN_WAIT || event == RUN_NEXT)
            w->current = (at + 1) % w->split_count;
        if (event == RUN_WAIT && x->trace) return WARP_POLLED;
        if (event == RUN_YIELD || event == RUN_WAIT || event == RUN_STOP) return WARP_BUDGET;
    }
    return WARP_DONE;
}

WarpStop warp_run_apart(Exec *x, Warp *w, u64 *budget) {
    WarpStop stop = run_warp(x, w, budget);
    if (w->trace && stop != WARP_BUDGET && stop != WARP_LATER) trace_close(w->trace);  // its turn may end within a run
    return stop;
}

WarpStop warp_run(Exec *x, Warp *w, u64 budget) { return warp_run_apart(x, w, &budget); }
