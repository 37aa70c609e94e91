// SPDX-License-Identifier: Apache-2.0
// What has no effect on values here (hints, fences: memory is sequentially consistent), and a few odd ones (PTX
// ISA 9.0, 9.7.20, 9.7.9.19).
#include "sim/exec/access.h"

static void nothing(Exec *x, const SimInsn *in, u32 mask) { (void)x, (void)in, (void)mask; }

EXEC_SELECT(hint) { return (void)shape, (void)in, nothing; }
EXEC_SELECT(membar) { return (void)shape, (void)in, nothing; }

// Others get to run; how long it sleeps does not matter where there is no time.
static void nanosleep_yield(Exec *x, const SimInsn *in, u32 mask) {
    (void)in, (void)mask;
    x->retry = true;
}

EXEC_SELECT(nanosleep) { return (void)shape, (void)in, nanosleep_yield; }

static void brkpt(Exec *x, const SimInsn *in, u32 mask) {
    (void)in;
    x->fault = (Fault){.kind = FAULT_TRAP, .lane = (u8)__builtin_ctz(mask)};
    x->message = "breakpoint instruction executed, and there is no debugger";
}

EXEC_SELECT(brkpt) { return (void)shape, (void)in, brkpt; }

// --- isspacep ------------------------------------------------------------------------------------------------------
static u8 space_of(const Exec *x, u64 address) {
    switch (address >> WINDOW_SHIFT) {
    case WINDOW_SHARED >> WINDOW_SHIFT: return SPACE_SHARED;
    case WINDOW_LOCAL >> WINDOW_SHIFT: return SPACE_LOCAL;
    case WINDOW_PARAM >> WINDOW_SHIFT: return SPACE_PARAM;
    default: break;
    }
    const SimAllocation *a = sim_find(x->grid->sim, address);
    return a && a->kind == MEMORY_MODULE && a->read_only ? SPACE_CONST : SPACE_GLOBAL;
}

static void isspacep(Exec *x, const SimInsn *in, u32 mask) {
    u8 wanted = in->space == SPACE_SHARED_CLUSTER ? SPACE_SHARED : in->space;
    u32 result = 0;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        result |= (u32)(space_of(x, operand_address(x, in->src[0], l)) == wanted) << l;
    }
    exec_set_pred(x, in->pred_dst, result, mask);
}

EXEC_SELECT(isspacep) {
    (void)shape;
    return in->src[0] == SIM_NO_OPERAND ? NULL : isspacep;
}
