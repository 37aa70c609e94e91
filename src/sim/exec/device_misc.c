// SPDX-License-Identifier: Apache-2.0
// What has no effect on values here (hints, fences: memory is sequentially consistent), and a few odd ones (PTX
// ISA 9.0, 9.7.20, 9.7.9.19).
#include "sim/exec/access.h"

static void nothing(Exec *x, const SimInsn *in, u32 mask) { (void)x, (void)in, (void)mask; }

EXEC_SELECT(hint) { return (void)shape, (void)in, nothing; }
EXEC_SELECT(membar) { return (void)shape, (void)in, nothing; }

// Others get to run. How long it sleeps matters where there is time: as long as the lane that asks for most.
static void nanosleep_yield(Exec *x, const SimInsn *in, u32 mask) {
    const u32 *ns = exec_operand(x, in->src[0]);
    u32 most = 0;
    FOR_LANES(mask, most = ns[l] > most ? ns[l] : most);
    if (x->trace) trace_sleep(x->trace, most);
    x->retry = true;
}

EXEC_SELECT(nanosleep) { return (void)shape, (void)in, nanosleep_yield; }

static void brkpt(Exec *x, const SimInsn *in, u32 mask) {
    (void)in;
    x->fault = (Fault){.kind = FAULT_TRAP, .lane = (u8)__builtin_ctz(mask)};
    x->message = "breakpoint instruction executed, and there is no debugger";
}

EXEC_SELECT(brkpt) { return (void)shape, (void)in, brkpt; }

// --- istypep -------------------------------------------------------------------------------------------------------
// Is there a module-scope variable of this opaque type at the address?
static bool is_opaque_variable(const SimModule *module, u64 address, u8 type) {
    const Module *m = module->ptx;
    for (u32 v = 0; v < m->var_count; v++) {
        const Var *var = &m->vars[v];
        if (var->type == type && var->func == WL_NONE && address - module->var_address[v] < var->size) return true;
    }
    return false;
}

static void istypep(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = 0;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 address = exec_get_lane(x, in->src[0], l);
        result |= (u32)is_opaque_variable(x->grid->kernel->module, address, (u8)in->mods) << l;
    }
    exec_set_pred(x, in->pred_dst, result, mask);
}

EXEC_SELECT(istypep) {
    static const u8 types[] = {TYPE_TEXREF, TYPE_SAMPLERREF, TYPE_SURFREF};
    in->mods = types[shape->form->mods[MOD_OPAQUE] - OPAQUE_TEXREF];
    return in->src[0] == SIM_NO_OPERAND ? NULL : istypep;
}
