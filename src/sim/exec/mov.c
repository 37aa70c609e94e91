// SPDX-License-Identifier: Apache-2.0
// mov in its four meanings (register, special register, variable address, pack and unpack), and cvta (PTX
// ISA 9.0, 9.7.9.1-2, .20).
#include "sim/exec/access.h"

static void mov32(Exec *x, const SimInsn *in, u32 mask) {
    u32 *d = exec_operand(x, in->dst);
    const u32 *a = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = a[l]);
}

static void mov64(Exec *x, const SimInsn *in, u32 mask) {
    u64 *d = exec_operand(x, in->dst);
    const u64 *a = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = a[l]);
}

static void mov128(Exec *x, const SimInsn *in, u32 mask) {
    u64 *d = exec_operand(x, in->dst);
    const u64 *a = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = a[l]);
    FOR_LANES(mask, d[LANES + l] = a[LANES + l]);
}

static void mov_pred(Exec *x, const SimInsn *in, u32 mask) {
    exec_set_pred(x, in->pred_dst, x->pred[in->src[0]], mask);
}

static void mov_uniform(Exec *x, const SimInsn *in, u32 mask, u64 value) {
    if (in->dst >> 30 == AREA_R64) {
        u64 *d = exec_operand(x, in->dst);
        FOR_LANES(mask, d[l] = value);
    } else {
        u32 *d = exec_operand(x, in->dst);
        FOR_LANES(mask, d[l] = (u32)value);
    }
}

// The address of a variable in the current frame, as an offset in local memory.
static void mov_frame(Exec *x, const SimInsn *in, u32 mask) {
    mov_uniform(x, in, mask, x->frame_local + (u64)in->offset);
}

// --- special registers -------------------------------------------------------------------------------------------
// Without timing clocks follow the warp instructions of the CTA, at the pace of a warp that waits for the clock: what
// spins for a time on a GPU spins about as often here.
enum { WAITING_CYCLES = 8, WAITING_NS = 4 };  // of a warp instruction

static u64 clock_of(const Exec *x) { return x->trace ? x->now : x->now * WAITING_CYCLES; }
static u64 timer_of(const Exec *x) {
    const Grid *g = x->warp->cta->grid;
    if (x->trace) return x->now * 1000 / (u64)sim_gpu(g->sim, g->device)->clock_mhz;
    return (g->sim->time + x->now) * WAITING_NS;
}

// in->mods: register * 4 + component.
static u64 sreg_uniform(const Exec *x, u32 sreg, u32 c) {
    const Warp *w = x->warp;
    const Cta *cta = w->cta;
    const Grid *g = cta->grid;
    const GpuModel *gpu = sim_gpu(g->sim, g->device);
    switch (sreg) {
    case SREG_NTID: return c < 3 ? g->block[c] : 0;
    case SREG_CTAID: return c < 3 ? cta->id[c] : 0;
    case SREG_NCTAID: return c < 3 ? g->grid[c] : 0;
    case SREG_WARPID: return w->index;
    case SREG_NWARPID: return gpu->max_threads_per_sm / LANES;
    case SREG_SMID: return cta->linear % (u32)gpu->sms;
    case SREG_NSMID: return gpu->sms;
    case SREG_GRIDID: return g->sim->launches;
    case SREG_CLOCK: return (u32)clock_of(x);
    case SREG_CLOCK_HI: return clock_of(x) >> 32;
    case SREG_CLOCK64: return clock_of(x);
    case SREG_GLOBALTIMER: return timer_of(x);
    case SREG_GLOBALTIMER_LO: return (u32)timer_of(x);
    case SREG_GLOBALTIMER_HI: return timer_of(x) >> 32;
    case SREG_ENVREG1:
        return g->grid_workspace >> 32;  // the grid barrier's word (cooperative_groups/details/driver_abi.h)
    case SREG_ENVREG2: return (u32)g->grid_workspace;
    case SREG_CURRENT_GRAPH_EXEC: return g->graph_exec;
    case SREG_DYNAMIC_SMEM_SIZE: return g->dynamic_shared;
    case SREG_TOTAL_SMEM_SIZE: return (x->shared_size + 127) & ~127u;  // given out in units of 128 bytes
    case SREG_AGGR_SMEM_SIZE:  // dynamic shared memory begins at a multiple of 16
        return gpu->shared_reserved + ((g->program->shared_bytes + 15) & ~15u) + g->dynamic_shared;
    case SREG_NCLUSTERID: return c < 3 ? g->grid[c] / g->cluster[c] : 0;
    case SREG_CLUSTERID: return c < 3 ? cta->id[c] / g->cluster[c] : 0;
    case SREG_CLUSTER_CTAID: return c < 3 ? cta->id[c] % g->cluster[c] : 0;
    case SREG_CLUSTER_NCTAID: return c < 3 ? g->cluster[c] : 0;
    case SREG_CLUSTER_CTARANK: return cta->rank;
    case SREG_CLUSTER_NCTARANK: return g->cluster_size;
    default: return 0;  // %pm, %envreg others, ...
    }
}

// DIV_DIVERGENT ones.
static u32 sreg_lane(const Exec *x, u32 sreg, u32 c, u32 lane) {
    switch (sreg) {
    case SREG_TID: return c < 3 ? x->warp->tid[c][lane] : 0;
    case SREG_LANEID: return lane;
    case SREG_LANEMASK_EQ: return 1u << lane;
    case SREG_LANEMASK_LE: return lane == 31 ? FULL_MASK : (2u << lane) - 1;
    case SREG_LANEMASK_LT: return (1u << lane) - 1;
    case SREG_LANEMASK_GE: return ~((1u << lane) - 1);
    default: return lane == 31 ? 0 : ~((2u << lane) - 1);  // %lanemask_gt
    }
}

static void mov_sreg_lanes(Exec *x, const SimInsn *in, u32 mask) {
    u32 sreg = in->mods >> 2, component = in->mods & 3;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        exec_set_lane(x, in->dst, l, sreg_lane(x, sreg, component, l));
    }
}

static void mov_sreg(Exec *x, const SimInsn *in, u32 mask) {
    mov_uniform(x, in, mask, sreg_uniform(x, in->mods >> 2, in->mods & 3));
}

static void mov_tid(Exec *x, const SimInsn *in, u32 mask) {
    u32 *d = exec_operand(x, in->dst);
    const u32 *tid = x->warp->tid[in->mods & 3];
    FOR_LANES(mask, d[l] = tid[l]);
}

static void mov_explicit_cluster(Exec *x, const SimInsn *in, u32 mask) {
    exec_set_pred(x, in->pred_dst, x->grid->explicit_cluster ? FULL_MASK : 0, mask);
}

static const Operand *source_operand(const ExecShape *shape) { return insn_operand(shape->module, shape->insn, 1); }

static ExecFn select_sreg(SimInsn *in, const Operand *o) {
    u32 component = o->component == 0xff ? 0 : o->component;
    in->mods = (u16)(o->ref * 4 + component);
    if (o->ref == SREG_TID && component < 3 && in->dst >> 30 == AREA_R32) return mov_tid;
    return ptx_sregs[o->ref].divergence == DIV_DIVERGENT ? mov_sreg_lanes : mov_sreg;
}

static bool in_frame(const ExecShape *shape, const Operand *o) {
    const Var *var = &shape->module->vars[o->ref];
    if (var->space == SPACE_LOCAL) return true;
    return var->space == SPACE_PARAM && !shape->module->funcs[var->func].is_entry;
}

static ExecFn by_width(const SimInsn *in, u32 bits) {
    return bits == 128 ? mov128 : in->dst >> 30 == AREA_R64 ? mov64 : mov32;
}

EXEC_SELECT(mov) {
    const Operand *o = source_operand(shape);
    if (o->kind == OPERAND_SREG && o->ref == SREG_IS_EXPLICIT_CLUSTER)
        return in->pred_dst != WL_NONE ? mov_explicit_cluster : NULL;
    if (in->pred_dst != WL_NONE) return mov_pred;
    if (o->kind == OPERAND_SREG) return select_sreg(in, o);
    if (o->kind == OPERAND_VAR && in_frame(shape, o)) return mov_frame;
    return by_width(in, shape->dst_bits);
}

// --- pack and unpack ---------------------------------------------------------------------------------------------
// Element 0 is the least significant part.
EXEC_SELECT(mov_pack);
EXEC_SELECT(mov_unpack);

static void pack(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    u32 bits = in->mods;
    u64 part_mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 value = 0;
        for (u32 k = 0; k < in->list_count; k++) value |= (exec_get_lane(x, list[k], l) & part_mask) << (k * bits);
        exec_set_lane(x, in->dst, l, value);
    }
}

static void pack32x2(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    const u32 *low = exec_operand(x, list[0]), *high = exec_operand(x, list[1]);
    u64 *d = exec_operand(x, in->dst);
    FOR_LANES(mask, d[l] = (u64)high[l] << 32 | low[l]);
}

static void pack64x2(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    const u64 *low = exec_operand(x, list[0]), *high = exec_operand(x, list[1]);
    u64 *d = exec_operand(x, in->dst);
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        d[l] = low[l];
        d[LANES + l] = high[l];
    }
}

static void unpack(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    u32 bits = in->mods;
    u64 part_mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 value = exec_get_lane(x, in->src[0], l);
        for (u32 k = 0; k < in->list_count; k++)
            if (list[k] != SIM_NO_OPERAND) exec_set_lane(x, list[k], l, value >> (k * bits) & part_mask);
    }
}

static void unpack128(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    const u64 *a = exec_operand(x, in->src[0]);
    for (u32 k = 0; k < 2; k++) {
        if (list[k] == SIM_NO_OPERAND) continue;
        u64 *d = exec_operand(x, list[k]);
        FOR_LANES(mask, d[l] = a[k * LANES + l]);
    }
}

// 128 bits in or out of four parts: two words of two parts each.
static void pack32x4(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    u64 *d = exec_operand(x, in->dst);
    for (u32 word = 0; word < 2; word++) {
        const u32 *low = exec_operand(x, list[2 * word]), *high = exec_operand(x, list[2 * word + 1]);
        FOR_LANES(mask, d[word * LANES + l] = (u64)high[l] << 32 | low[l]);
    }
}

static void unpack32x4(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    const u64 *a = exec_operand(x, in->src[0]);
    for (u32 k = 0; k < 4; k++) {
        if (list[k] == SIM_NO_OPERAND) continue;
        u32 *d = exec_operand(x, list[k]);
        FOR_LANES(mask, d[l] = (u32)(a[k / 2 * LANES + l] >> (k % 2 * 32)));
    }
}

static u32 part_bits(const ExecShape *shape, const SimInsn *in) {
    return ptx_types[shape->form->types[0]].bits / (in->list_count ? in->list_count : 1u);
}

EXEC_SELECT(mov_pack) {
    u32 bits = part_bits(shape, in);
    in->mods = (u16)bits;
    if (ptx_types[shape->form->types[0]].bits == 128) return bits == 64 ? pack64x2 : bits == 32 ? pack32x4 : NULL;
    return bits == 32 && in->list_count == 2 ? pack32x2 : pack;
}

EXEC_SELECT(mov_unpack) {
    u32 bits = part_bits(shape, in);
    in->mods = (u16)bits;
    if (ptx_types[shape->form->types[0]].bits == 128) return bits == 64 ? unpack128 : bits == 32 ? unpack32x4 : NULL;
    return unpack;
}

// mov.v2, mov.v4: the list holds the destination's elements, then the source's, which may be the same registers in
// another order.
static void mov_vector(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 value[4];
        for (u32 k = 0; k < in->count; k++) value[k] = exec_get_lane(x, list[in->count + k], l);
        for (u32 k = 0; k < in->count; k++)
            if (list[k] != SIM_NO_OPERAND) exec_set_lane(x, list[k], l, value[k]);
    }
}
EXEC_SELECT(mov_vector) { return (void)shape, in->list_count == 2u * in->count ? mov_vector : NULL; }

// mov.v4.u32 %v, %tid: all elements of a special register.
static void mov_vector_sreg(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        for (u32 k = 0; k < in->count; k++) {
            if (list[k] == SIM_NO_OPERAND) continue;
            bool varies = ptx_sregs[in->mods].divergence == DIV_DIVERGENT;
            exec_set_lane(x, list[k], l, varies ? sreg_lane(x, in->mods, k, l) : sreg_uniform(x, in->mods, k));
        }
    }
}
EXEC_SELECT(mov_vector_sreg) {
    const Operand *o = source_operand(shape);
    if (o->kind != OPERAND_SREG || ptx_sregs[o->ref].vector != 4) return NULL;
    in->mods = (u16)o->ref;
    return mov_vector_sreg;
}

// --- cvta --------------------------------------------------------------------------------------------------------
// Global and constant addresses are generic as they are; the other windows are added or taken away.
static void cvta_add(Exec *x, const SimInsn *in, u32 mask) {
    u64 *d = exec_operand(x, in->dst);
    u64 window = (u64)in->offset;
    bool wide = in->src[0] >> 30 & 1;
    const u64 *a64 = exec_operand(x, in->src[0]);
    const u32 *a32 = exec_operand(x, in->src[0]);
    FOR_LANES(mask, d[l] = (wide ? a64[l] : a32[l]) + window);
}

EXEC_SELECT(cvta) {
    static const u64 windows[SPACE_COUNT] = {[SPACE_SHARED] = WINDOW_SHARED,
                                             [SPACE_SHARED_CLUSTER] = WINDOW_SHARED,
                                             [SPACE_LOCAL] = WINDOW_LOCAL,
                                             [SPACE_PARAM] = WINDOW_PARAM};
    bool to = shape->form->mods[MOD_TO] != MOD_TOKEN_NONE;
    u64 window = windows[shape->form->space];
    if (in->dst >> 30 != AREA_R64) return mov32;  // the windows' lower 32 bits are 0
    if (in->src[0] == SIM_NO_OPERAND) return NULL;
    in->offset = (i64)(to ? -window : window);
    return cvta_add;
}
