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
