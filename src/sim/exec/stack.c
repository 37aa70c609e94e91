// SPDX-License-Identifier: Apache-2.0
// alloca, stacksave, stackrestore (PTX ISA 9.7.17). What they give is an address in the lane's local memory; a function
// gives its memory back when it returns (sim/stack.c).
#include "sim/exec/access.h"

enum { DEFAULT_ALIGN = 8 };

// The first byte behind the frame that executes.
static u64 frame_end(const Exec *x) {
    const Warp *w = x->warp;
    const Frame *f = &w->frames.data[w->splits[w->current].frame];
    return f->local + x->grid->program->funcs[f->func].local_bytes;
}

static void stack_alloc(Exec *x, const SimInsn *in, u32 mask) {
    Warp *w = x->warp;
    u64 end = frame_end(x), align = (u64)in->offset;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 size = exec_get_lane(x, in->src[0], l), top = w->stack[l];
        u64 address = size > top ? 0 : (top - size) & ~(align - 1);
        if (size > top || address < end) {
            x->fault = (Fault){.kind = FAULT_STACK, .lane = (u8)l};
            return;
        }
        w->stack[l] = (u32)address;
        if (in->dst != SIM_NO_OPERAND) exec_set_lane(x, in->dst, l, address);
    }
    stack_update(w);
}
EXEC_SELECT(alloca) {
    in->offset = DEFAULT_ALIGN;
    if (shape->insn->operands > 2) {
        const Operand *align = insn_operand(shape->module, shape->insn, 2);
        if (align->kind != OPERAND_INT || align->value == 0 || align->value & (align->value - 1)) return NULL;
        in->offset = (i64)align->value;
    }
    return stack_alloc;
}

static void stack_save(Exec *x, const SimInsn *in, u32 mask) {
    if (in->dst == SIM_NO_OPERAND) return;
    FOR_LANES(mask, exec_set_lane(x, in->dst, l, x->warp->stack[l]));
}
EXEC_SELECT(stacksave) { return (void)shape, (void)in, stack_save; }

static void stack_restore(Exec *x, const SimInsn *in, u32 mask) {
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 top = exec_get_lane(x, in->src[0], l);
        if (top > x->local_stride || top < frame_end(x)) {
            x->fault = (Fault){.kind = FAULT_STACK, .lane = (u8)l};
            return;
        }
        x->warp->stack[l] = (u32)top;
    }
    stack_update(x->warp);
}
EXEC_SELECT(stackrestore) { return (void)shape, (void)in, stack_restore; }
