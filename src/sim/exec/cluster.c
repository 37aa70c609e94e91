// SPDX-License-Identifier: Apache-2.0
// mapa, getctarank, isspacep and setmaxnreg (PTX ISA 9.0, 9.7.9.22-24, 9.7.19.5).
#include "sim/exec/access.h"

#define RANK_BITS ((u64)0xff << SHARED_RANK_SHIFT)

// A rank that no address has room for is one that no cluster has.
static u64 rank_bits(u32 rank) { return (u64)(rank < 0xfe ? rank + 1 : 0xff) << SHARED_RANK_SHIFT; }

static void give(const Exec *x, SimOperand dst, u32 lane, u64 value) {
    void *lanes = exec_operand(x, dst);
    if (dst >> 30 == AREA_R64)
        ((u64 *)lanes)[lane] = value;
    else
        ((u32 *)lanes)[lane] = (u32)value;
}

static bool is_shared(const Exec *x, const SimInsn *in, u64 address) {
    (void)x;
    return in->space != SPACE_NONE || address >> WINDOW_SHIFT == WINDOW_SHARED >> WINDOW_SHIFT;
}

static void mapa(Exec *x, const SimInsn *in, u32 mask) {
    const u32 *rank = exec_operand(x, in->src[1]);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 address = exec_get_lane(x, in->src[0], l);
        if (!is_shared(x, in, address)) {
            x->fault = (Fault){.kind = FAULT_WRONG_SPACE, .lane = (u8)l, .address = address};
            x->message = "mapa of an address that is not in shared memory";
            return;
        }
        give(x, in->dst, l, (address & ~RANK_BITS) | rank_bits(rank[l]));
    }
}

static void getctarank(Exec *x, const SimInsn *in, u32 mask) {
    u32 *d = exec_operand(x, in->dst);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u32 rank = (u32)((exec_get_lane(x, in->src[0], l) & RANK_BITS) >> SHARED_RANK_SHIFT);
        d[l] = rank ? rank - 1 : x->cta->rank;
    }
}

// --- isspacep ------------------------------------------------------------------------------------------------------
static bool in_space(const Exec *x, u64 address, u8 space) {
    u32 rank = (u32)((address & RANK_BITS) >> SHARED_RANK_SHIFT);
    switch (address >> WINDOW_SHIFT) {
    case WINDOW_SHARED >> WINDOW_SHIFT:
        if (space == SPACE_SHARED_CLUSTER) return true;
        return space == SPACE_SHARED && (rank == 0 || rank == x->cta->rank + 1);
    case WINDOW_LOCAL >> WINDOW_SHIFT: return space == SPACE_LOCAL;
    case WINDOW_PARAM >> WINDOW_SHIFT: return space == SPACE_PARAM;
    default: break;
    }
    const SimAllocation *a = sim_find(x->grid->sim, address);
    return space == (a && a->kind == MEMORY_MODULE && a->read_only ? SPACE_CONST : SPACE_GLOBAL);
}

static void isspacep(Exec *x, const SimInsn *in, u32 mask) {
    u32 result = 0;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        result |= (u32)in_space(x, exec_get_lane(x, in->src[0], l), in->space) << l;
    }
    exec_set_pred(x, in->pred_dst, result, mask);
}

EXEC_SELECT(isspacep) {
    (void)shape;
    return in->src[0] == SIM_NO_OPERAND ? NULL : isspacep;
}

EXEC_SELECT(mapa) { return (void)shape, in->src[0] == SIM_NO_OPERAND ? NULL : mapa; }
EXEC_SELECT(getctarank) { return (void)shape, in->src[0] == SIM_NO_OPERAND ? NULL : getctarank; }
