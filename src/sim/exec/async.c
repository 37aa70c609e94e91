// SPDX-License-Identifier: Apache-2.0
// cp.async (PTX ISA 9.0, 9.7.9.25) and mbarrier (9.7.13.15). Copies are made at once, so that groups are always
// complete and an arrive "when the copies are done" is an arrive now.
#include <stdio.h>

#include "sim/exec/mbarrier.h"

static u64 lane_address(const Exec *x, SimOperand base, i64 offset, u32 lane) {
    return access_address(x, base, offset, lane);
}

// --- cp.async ------------------------------------------------------------------------------------------------------
// in->width: bytes written; in->mods: src[3] says how many are read; in->target: constant part of the shared address
// (in->offset is that of the global one); a predicate source: the lanes where it holds read nothing.
enum { CP_FROM_REGISTERS = 1 };

static u32 source_bytes(const Exec *x, const SimInsn *in, u32 lane, u32 ignored) {
    if (ignored >> lane & 1) return 0;
    if (!(in->mods & CP_FROM_REGISTERS)) return in->width;
    u32 size = (u32)exec_get_lane(x, in->src[3], lane);
    return size < in->width ? size : in->width;
}

static const u8 *source_place(Exec *x, u32 lane, u64 address, u32 size, u32 width) {
    const PcState *s = pc_state(x);
    u64 at = address - s->start;
    bool aligned = !(address & (width - 1));
    if (aligned && s->generation == x->grid->sim->generation && at < s->size && size <= s->size - at)
        return (const u8 *)(uintptr_t)(address + (u64)s->delta);
    u8 space;  // all of `width` when misaligned: that is the fault to report
    return access_resolve(x, lane, address, aligned ? size : width, SPACE_GLOBAL, false, &space);
}

static bool copy_lane(Exec *x, const SimInsn *in, u32 lane, u64 to, u64 from, u32 size) {
    u8 space, bytes[16] = {0};
    u8 *shared = access_resolve(x, lane, to, in->width, SPACE_SHARED, true, &space);
    const u8 *global = shared && size ? source_place(x, lane, from, size, in->width) : bytes;
    if (!shared || !global) return false;
    memcpy(bytes, global, size);
    memcpy(shared, bytes, in->width);
    return true;
}

static void cp_async(Exec *x, const SimInsn *in, u32 mask) {
    u64 shared[LANES], global[LANES];
    u32 count = 0, missing = 0, ignored = in->pred_src == WL_NONE ? 0 : exec_get_pred(x, in);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left), size = source_bytes(x, in, l, ignored);
        shared[l] = lane_address(x, in->src[0], (i32)in->target, l) & 0xffffffff;
        u64 from = lane_address(x, in->src[1], in->offset, l);
        if (!copy_lane(x, in, l, shared[l], from, size)) return;
        if (size) global[count++] = from, missing += in->width - size;
    }
    if (count) access_count_global(x, global, count, in->width);
    x->count->bytes -= missing;
    access_count_shared(x, shared, mask, in->width, false);
}

EXEC_SELECT(cp_async) {
    const Operand *size = insn_operand(shape->module, shape->insn, 2);
    u32 values =
        shape->insn->operands - (shape->form->mods[MOD_CACHE_HINT] != MOD_TOKEN_NONE);  // a cache policy comes last
    if (size->kind != OPERAND_INT || (size->value != 4 && size->value != 8 && size->value != 16)) return NULL;
    in->width = (u8)size->value;
    if (values > 3 && in->pred_src == WL_NONE) in->mods = CP_FROM_REGISTERS;
    return cp_async;
}

static void nothing(Exec *x, const SimInsn *in, u32 mask) { (void)x, (void)in, (void)mask; }

EXEC_SELECT(cp_async_commit) { return (void)shape, (void)in, nothing; }
EXEC_SELECT(cp_async_wait) { return (void)shape, (void)in, nothing; }
EXEC_SELECT(griddepcontrol) { return (void)shape, (void)in, nothing; }  // grids run one after the other

// --- mbarrier ------------------------------------------------------------------------------------------------------
typedef void (*MbarrierOp)(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b);

// Operations of one CTA on its own mbarriers, in the order in which they are made.
static void trace_operation(Exec *x, const SimInsn *in, u64 address) {
    u32 offset;
    if (!mbarrier_is_own(x, address, &offset) || x->retry) return;
    bool waits = in->kind == SIM_WAIT;
    bool copies = in->form_op == OP_CP_ASYNC_MBARRIER;
    trace_sync(x->trace, waits ? SYNC_WAIT : copies ? SYNC_ARRIVE_COPIES : SYNC_ARRIVE, offset);
}

// Lane after lane: what the hardware may do too.
static void each_lane(Exec *x, const SimInsn *in, u32 mask, MbarrierOp op, bool init) {
    u64 offset[LANES];
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        Mbarrier b;
        u64 address = lane_address(x, in->src[0], in->offset, l);
        u8 *at = mbarrier_at(x, l, address, in->space, &b);
        if (!at) return;
        offset[l] = address & 0xffffffff;
        if (b.live != MBARRIER_LIVE && !init) return mbarrier_misuse(x, l, "mbarrier object that was not initialised");
        op(x, in, l, &b);
        if (x->fault.kind) return;
        x->stores += memcmp(at, &b, sizeof b) != 0;
        memcpy(at, &b, sizeof b);
        if (WL_UNLIKELY(x->trace)) trace_operation(x, in, address);
    }
    access_count_shared(x, offset, mask, 8, false);
}

static u64 value_of(const Exec *x, SimOperand operand, u32 lane, u64 absent) {
    return operand == SIM_NO_OPERAND ? absent : exec_get_lane(x, operand, lane);
}

static void give_state(const Exec *x, const SimInsn *in, u32 lane, const Mbarrier *b) {
    if (in->dst != SIM_NO_OPERAND) memcpy((u64 *)exec_operand(x, in->dst) + lane, b, sizeof *b);
}

static void op_init(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    u64 count = value_of(x, in->src[1], lane, 0);
    if (count == 0 || count > MBARRIER_MAX)
        return mbarrier_misuse(x, lane, "mbarrier.init with a count that is not in 1..1048575");
    *b = (Mbarrier){.pending = count & MBARRIER_MAX, .expected = count & MBARRIER_MAX, .live = MBARRIER_LIVE};
}

static void op_inval(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    (void)x, (void)in, (void)lane;
    *b = (Mbarrier){0};
}

static void op_expect_tx(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    b->tx += value_of(x, in->src[1], lane, 0);
}

static void op_complete_tx(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    b->tx -= value_of(x, in->src[1], lane, 0);
    mbarrier_end_phase(b);
}

// in->mods: src[1] is a number of bytes to expect, and one thread arrives.
static u64 arrive_count(const Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    u64 value = value_of(x, in->src[1], lane, 1);
    if (!in->mods) return value;
    b->tx += value;
    return 1;
}

static void op_arrive(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    give_state(x, in, lane, b);
    mbarrier_arrive_count(x, lane, b, arrive_count(x, in, lane, b));
}

static void op_arrive_drop(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    give_state(x, in, lane, b);
    u64 count = arrive_count(x, in, lane, b);
    if (count > b->expected) return mbarrier_misuse(x, lane, "mbarrier.arrive_drop of more threads than are expected");
    b->expected -= count;
    mbarrier_arrive_count(x, lane, b, count);
}

// Without .noinc the count is raised before the arrive: nothing changes. in->mods: .noinc.
static void op_copies_done(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    if (in->mods) mbarrier_arrive_count(x, lane, b, 1);
}

// in->mods: src[1] is the parity of a phase, otherwise a state. Done when that phase is not the current one.
static void op_wait(Exec *x, const SimInsn *in, u32 lane, Mbarrier *b) {
    u64 value = value_of(x, in->src[1], lane, 0);
    Mbarrier state;
    memcpy(&state, &value, sizeof state);
    bool done = b->phase != (in->mods ? (value & 1) : state.phase);
    exec_set_pred(x, in->pred_dst, (u32)done << lane, 1u << lane);
    if (!done) x->retry = true;
}

#define MBARRIER_HANDLER(name, op, init) \
    static void name(Exec *x, const SimInsn *in, u32 mask) { each_lane(x, in, mask, op, init); }

MBARRIER_HANDLER(mbarrier_init, op_init, true)
MBARRIER_HANDLER(mbarrier_inval, op_inval, false)
MBARRIER_HANDLER(mbarrier_expect_tx, op_expect_tx, false)
MBARRIER_HANDLER(mbarrier_complete_tx, op_complete_tx, false)
MBARRIER_HANDLER(mbarrier_arrive, op_arrive, false)
MBARRIER_HANDLER(mbarrier_arrive_drop, op_arrive_drop, false)
MBARRIER_HANDLER(mbarrier_wait, op_wait, false)
MBARRIER_HANDLER(cp_async_mbarrier, op_copies_done, false)

static void mbarrier_pending_count(Exec *x, const SimInsn *in, u32 mask) {
    const u64 *states = exec_operand(x, in->src[0]);
    u32 *d = exec_operand(x, in->dst);
    FOR_LANES(mask, d[l] = (u32)(states[l] & MBARRIER_MAX));
}

static ExecFn with_flag(const ExecShape *shape, SimInsn *in, ModClass class, ExecFn function) {
    in->mods = shape->form->mods[class] != MOD_TOKEN_NONE;
    return function;
}

EXEC_SELECT(mbarrier_init) { return (void)shape, (void)in, mbarrier_init; }
EXEC_SELECT(mbarrier_inval) { return (void)shape, (void)in, mbarrier_inval; }
EXEC_SELECT(mbarrier_expect_tx) { return (void)shape, (void)in, mbarrier_expect_tx; }
EXEC_SELECT(mbarrier_complete_tx) { return (void)shape, (void)in, mbarrier_complete_tx; }
EXEC_SELECT(mbarrier_pending_count) { return (void)shape, (void)in, mbarrier_pending_count; }
EXEC_SELECT(mbarrier_arrive) { return with_flag(shape, in, MOD_EXPECT_TX, mbarrier_arrive); }
EXEC_SELECT(mbarrier_arrive_drop) { return with_flag(shape, in, MOD_EXPECT_TX, mbarrier_arrive_drop); }
EXEC_SELECT(mbarrier_test_wait) { return with_flag(shape, in, MOD_PARITY, mbarrier_wait); }
EXEC_SELECT(mbarrier_try_wait) { return with_flag(shape, in, MOD_PARITY, mbarrier_wait); }
EXEC_SELECT(cp_async_mbarrier) { return with_flag(shape, in, MOD_NOINC, cp_async_mbarrier); }
