// SPDX-License-Identifier: Apache-2.0
// The copy engine: cp.async.bulk, cp.reduce.async.bulk, their tensor forms, tensor maps changed by kernels (PTX
// ISA 9.0, 9.7.9.25-28), st.async and red.async (9.7.9.13, 9.7.13.7). Every copy is made at once, so bulk groups are
// always complete, and an mbarrier hears of the bytes when the copy is issued: one of the orders that the hardware may
// choose. The operands are in the instruction's list (lower_list).
#include "sim/exec/mbarrier.h"
#include "sim/reduce.h"
#include "sim/tensor_copy.h"
#include "sim/time/trace.h"

#define COPY_UNIT 16u  // sizes and addresses are multiples of it

static u64 value_at(const Exec *x, const SimOperand *list, u32 at, u32 lane) {
    return exec_get_lane(x, list[at], lane);
}
// An address is two entries.
static u64 address_at(const Exec *x, const SimOperand *list, u32 at, u32 lane) {
    return access_address(x, list[at], (i32)list[at + 1], lane);
}

static bool bad_copy(Exec *x, u32 lane, const char *why) {
    x->fault = (Fault){.kind = FAULT_BAD_COPY, .lane = (u8)lane};
    x->message = why;
    return false;
}

static void count_bytes(Exec *x, u64 bytes, u64 sectors) {
    x->count->requests++;
    x->count->bytes += bytes;
    x->count->sectors += sectors;
    x->stores++;
}

static bool has(const SimInsn *in, ModClass class) { return in->form->mods[class] != MOD_TOKEN_NONE; }

// The address of the same place in another CTA of the cluster.
static u64 in_cta(u64 address, u32 rank) {
    return (address & SHARED_OFFSET_MASK) | (u64)(rank + 1) << SHARED_RANK_SHIFT;
}

// What goes from one shared memory to another is illegal in a launch without clusters (on an H200, for the own CTA
// too).
static bool has_cluster(Exec *x, u32 mask) {
    if (x->grid->explicit_cluster) return true;
    return bad_copy(x, (u32)__builtin_ctz(mask), "asynchronous access to shared::cluster in a launch without clusters");
}

// --- bulk copies -------------------------------------------------------------------------------------------------
typedef struct BulkCopy {
    u64 to, from;
    u32 size, lane, bytes_mask;  // bytes_mask: of each 16, 0xffff = all
    u8 to_space, from_space;
    bool again;  // for another CTA: the source has been read
    ReduceFn reduce;
    u32 element;  // bytes, of a reduction
} BulkCopy;

static bool copy_bulk(Exec *x, const BulkCopy *c) {
    u8 space;
    if (c->size % COPY_UNIT) return bad_copy(x, c->lane, "bulk copy of a size that is not a multiple of 16 bytes");
    if (c->size == 0) return true;
    const u8 *from = access_aligned(x, c->lane, c->from, c->size, COPY_UNIT, c->from_space, false, &space);
    u8 *to = from ? access_aligned(x, c->lane, c->to, c->size, COPY_UNIT, c->to_space, true, &space) : NULL;
    if (!to) return false;
    if (c->reduce) {
        c->reduce(to, from, c->size / c->element);
    } else if (c->bytes_mask == 0xffff) {
        memmove(to, from, c->size);
    } else {
        for (u32 i = 0; i < c->size; i++)
            if (c->bytes_mask >> (i & 15) & 1) to[i] = from[i];
    }
    u64 global = c->to_space == SPACE_GLOBAL ? c->to : c->from;
    bool touches_global = c->to_space == SPACE_GLOBAL || c->from_space == SPACE_GLOBAL;
    if (!touches_global) return true;
    if (WL_UNLIKELY(x->trace) && !c->again) trace_bulk(x->trace, global, c->size);
    count_bytes(x, c->size, ((global + c->size - 1) >> 5) - (global >> 5) + 1);
    return true;
}

// What all begin with: [to], [from], size.
static BulkCopy copy_of(const Exec *x, const SimOperand *list, u32 lane, u8 to_space, u8 from_space) {
    return (BulkCopy){.to = address_at(x, list, 0, lane),
                      .from = address_at(x, list, 2, lane),
                      .size = (u32)value_at(x, list, 4, lane),
                      .lane = lane,
                      .bytes_mask = 0xffff,
                      .to_space = to_space,
                      .from_space = from_space};
}

// To shared memory: [to], [from], size, [mbarrier], mask of CTAs.
static void bulk_load(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    u8 from = in->form->space2 == SPACE_GLOBAL ? SPACE_GLOBAL : SPACE_SHARED;
    if (from == SPACE_SHARED && !has_cluster(x, mask)) return;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        BulkCopy c = copy_of(x, list, l, SPACE_SHARED, from);
        u64 barrier = address_at(x, list, 5, l);
        if (!has(in, MOD_MULTICAST)) {
            if (!copy_bulk(x, &c) || !mbarrier_complete(x, l, barrier, SPACE_SHARED, c.size)) return;
            continue;
        }
        u64 to = c.to;
        for (u32 ctas = (u32)value_at(x, list, 7, l) & 0xffff; ctas; ctas &= ctas - 1) {
            u32 rank = (u32)__builtin_ctz(ctas);
            c.to = in_cta(to, rank);
            if (!copy_bulk(x, &c) || !mbarrier_complete(x, l, in_cta(barrier, rank), SPACE_SHARED, c.size)) return;
            c.again = true;
        }
    }
}

// To global memory: [to], [from], size, cache policy, mask of bytes. in->mods: where the mask is.
static void bulk_store(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        BulkCopy c = copy_of(x, list, l, SPACE_GLOBAL, SPACE_SHARED);
        if (in->mods) c.bytes_mask = (u32)value_at(x, list, in->mods, l) & 0xffff;
        if (!copy_bulk(x, &c)) return;
    }
}

// [to], [from], size, [mbarrier] of shared memory; in->mods: type.
static void bulk_reduce(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    bool shared = in->form_op == OP_CP_REDUCE_BULK;
    if (shared && !has_cluster(x, mask)) return;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        BulkCopy c = copy_of(x, list, l, shared ? SPACE_SHARED : SPACE_GLOBAL, SPACE_SHARED);
        c.reduce = reduce_function(in->form->mods[MOD_ATOM_OP], (u8)in->mods);
        c.element = type_bytes((u8)in->mods);
        if (!copy_bulk(x, &c)) return;
        if (shared && !mbarrier_complete(x, l, address_at(x, list, 5, l), SPACE_SHARED, c.size)) return;
    }
}

EXEC_SELECT(bulk_load) { return (void)shape, (void)in, bulk_load; }

EXEC_SELECT(bulk_store) {
    (void)shape;
    if (has(in, MOD_CP_MASK)) in->mods = has(in, MOD_CACHE_HINT) ? 6 : 5;
    return bulk_store;
}

EXEC_SELECT(bulk_reduce) {
    in->mods = shape->form->types[0];
    return reduce_function(shape->form->mods[MOD_ATOM_OP], shape->form->types[0]) ? bulk_reduce : NULL;
}

// Zeros: [to], size, 0.
static void st_bulk(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 size = value_at(x, list, 2, l);
        u8 space;
        if (size % 8 || size > SHARED_OFFSET_MASK) {
            bad_copy(x, l, "st.bulk of a size that is not a multiple of 8 bytes, or too large");
            return;
        }
        u8 *to = access_aligned(x, l, address_at(x, list, 0, l), (u32)size, 8, in->space, true, &space);
        if (!to) return;
        memset(to, 0, size);
        x->stores++;
    }
}

EXEC_SELECT(st_bulk) { return (void)shape, (void)in, st_bulk; }

// --- tensors -----------------------------------------------------------------------------------------------------
// Where the coordinates begin in the list, and how many there are.
static void read_coordinates(const Exec *x, const SimOperand *list, u32 at, u32 count, u32 lane, TensorCopy *t) {
    for (u32 i = 0; i < count; i++) t->at[i] = (i32)value_at(x, list, at + i, lane);
}

static u32 coordinate_count(const SimInsn *in) {
    u16 mode = in->form->mods[MOD_LOAD_MODE];
    bool rows = mode == LOAD_MODE_TILE_GATHER4 || mode == LOAD_MODE_TILE_SCATTER4;
    return rows ? TENSOR_MAX_RANK : in->form->mods[MOD_DIM] - DIM_1D + 1u;
}

static TensorCopy tensor_of(const SimInsn *in, u32 lane, TensorAction action) {
    u16 mode = in->form->mods[MOD_LOAD_MODE];
    return (TensorCopy){.mode = (u8)(mode == MOD_TOKEN_NONE ? LOAD_MODE_TILE : mode),
                        .action = (u8)action,
                        .reduction = in->form->mods[MOD_ATOM_OP],
                        .rank = in->form->mods[MOD_DIM] - DIM_1D + 1u,
                        .lane = lane};
}

// The im2col offsets lie behind the mbarrier: W, H, D.
static u32 read_offsets(const Exec *x, const SimOperand *list, u32 at, TensorCopy *t) {
    u32 count = t->mode == LOAD_MODE_IM2COL ? t->rank - 2 : 0;
    for (u32 i = 0; i < count; i++) t->offset[i] = (u32)value_at(x, list, at + i, t->lane) & 0xffff;
    return count;
}

// [to], [map, {coordinates}], [mbarrier], {offsets}, mask of CTAs.
static void tensor_load(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    u32 count = coordinate_count(in), barrier_at = 4 + count;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        TensorCopy t = tensor_of(in, l, TENSOR_LOAD);
        read_coordinates(x, list, 4, count, l, &t);
        u32 next = barrier_at + 2 + read_offsets(x, list, barrier_at + 2, &t);
        u64 to = address_at(x, list, 0, l), barrier = address_at(x, list, barrier_at, l);
        if (!tensor_map_read(x, &t, address_at(x, list, 2, l))) return;
        bool multicast = has(in, MOD_MULTICAST);
        u32 ctas = multicast ? (u32)value_at(x, list, next, l) & 0xffff : 1;
        for (; ctas; ctas &= ctas - 1) {
            u32 rank = (u32)__builtin_ctz(ctas);
            t.shared = multicast ? in_cta(to, rank) : to;
            u64 signal = multicast ? in_cta(barrier, rank) : barrier;
            if (!tensor_copy(x, &t) || !mbarrier_complete(x, l, signal, SPACE_SHARED, tensor_box_bytes(&t))) return;
            t.again = true;
        }
        count_bytes(x, t.bytes, t.sectors);
    }
}

// [map, {coordinates}], [from].
static void tensor_put(Exec *x, const SimInsn *in, u32 mask, TensorAction action) {
    const SimOperand *list = exec_list(x, in);
    u32 count = coordinate_count(in);
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        TensorCopy t = tensor_of(in, l, action);
        read_coordinates(x, list, 2, count, l, &t);
        t.shared = address_at(x, list, 2 + count, l);
        if (!tensor_map_read(x, &t, address_at(x, list, 0, l)) || !tensor_copy(x, &t)) return;
        count_bytes(x, t.bytes, t.sectors);
    }
}

static void tensor_store(Exec *x, const SimInsn *in, u32 mask) { tensor_put(x, in, mask, TENSOR_STORE); }
static void tensor_reduce(Exec *x, const SimInsn *in, u32 mask) { tensor_put(x, in, mask, TENSOR_REDUCE); }

EXEC_SELECT(tensor_load) {
    (void)shape;
    u16 mode = in->form->mods[MOD_LOAD_MODE];
    bool halos = mode == LOAD_MODE_IM2COL_W || mode == LOAD_MODE_IM2COL_W_128;
    return halos || has(in, MOD_CTA_GROUP) ? NULL : tensor_load;
}
EXEC_SELECT(tensor_store) { return (void)shape, (void)in, tensor_store; }
EXEC_SELECT(tensor_reduce) { return (void)shape, (void)in, tensor_reduce; }

// --- tensor maps -------------------------------------------------------------------------------------------------
// [map], value, or [map], ordinal, value. True when the value is one that the field can have.
static bool replace_field(TensorMap *m, u16 field, u32 ordinal, u64 value) {
    static const u8 types[] = {TENSOR_U8,       TENSOR_U16,         TENSOR_U32,          TENSOR_S32,
                               TENSOR_U64,      TENSOR_S64,         TENSOR_F16,          TENSOR_F32,
                               TENSOR_F32_FTZ,  TENSOR_F64,         TENSOR_BF16,         TENSOR_TF32,
                               TENSOR_TF32_FTZ, TENSOR_16U4_ALIGN8, TENSOR_16U4_ALIGN16, TENSOR_16U6_ALIGN16};
    static const u8 atoms[] = {TENSOR_SWIZZLE_128B, TENSOR_SWIZZLE_128B_ATOM_32B, TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B,
                               TENSOR_SWIZZLE_128B_ATOM_64B};
    if (ordinal >= TENSOR_MAX_RANK) return false;
    switch (field) {
    case TENSORMAP_FIELD_GLOBAL_ADDRESS: return m->address = value, true;
    case TENSORMAP_FIELD_RANK: return m->rank = (u8)(value + 1), value < TENSOR_MAX_RANK;  // one less than the rank
    case TENSORMAP_FIELD_BOX_DIM: return m->box[ordinal] = (u16)value, value - 1 < 256;
    case TENSORMAP_FIELD_GLOBAL_DIM: return m->last[ordinal] = (u32)value - 1, true;
    case TENSORMAP_FIELD_GLOBAL_STRIDE:
        if (ordinal + 1 >= TENSOR_MAX_RANK) return false;
        return m->stride[ordinal] = value, true;
    case TENSORMAP_FIELD_ELEMENT_STRIDE: return m->step[ordinal] = (u8)value, value - 1 < 8;
    case TENSORMAP_FIELD_ELEMTYPE:
        if (value >= WL_COUNT(types)) return false;
        return m->type = types[value], true;
    case TENSORMAP_FIELD_INTERLEAVE_LAYOUT: return m->interleave = (u8)value, value <= TENSOR_INTERLEAVE_32B;
    case TENSORMAP_FIELD_SWIZZLE_MODE: return m->swizzle = (u8)value, value <= TENSOR_SWIZZLE_128B;
    case TENSORMAP_FIELD_SWIZZLE_ATOMICITY:
        if (value >= WL_COUNT(atoms)) return false;
        if (m->swizzle >= TENSOR_SWIZZLE_128B) m->swizzle = atoms[value];
        return true;
    default: return m->fill = (u8)value, value <= TENSOR_FILL_NAN;
    }
}

static void tensormap_replace(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    bool indexed = in->list_count > 3;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        TensorMap m;
        u8 space;
        u8 *at = access_aligned(x, l, address_at(x, list, 0, l), sizeof m, sizeof m, in->space, true, &space);
        if (!at) return;
        memcpy(&m, at, sizeof m);
        u32 ordinal = indexed ? (u32)value_at(x, list, 2, l) : 0;
        u64 value = value_at(x, list, indexed ? 3 : 2, l);
        if (m.magic != TENSOR_MAP_MAGIC || !replace_field(&m, in->form->mods[MOD_TENSORMAP_FIELD], ordinal, value)) {
            x->fault = (Fault){.kind = FAULT_BAD_TENSOR, .lane = (u8)l};
            x->message = m.magic != TENSOR_MAP_MAGIC ? "tensormap.replace in something that is not a tensor map"
                                                     : "tensormap.replace with a value that the field cannot have";
            return;
        }
        memcpy(at, &m, sizeof m);
        x->stores++;
    }
}

EXEC_SELECT(tensormap_replace) { return (void)shape, (void)in, tensormap_replace; }

// [to], [from], size: the whole warp makes one copy.
static void tensormap_copy(Exec *x, const SimInsn *in, u32 mask) {
    const SimOperand *list = exec_list(x, in);
    u32 lane = (u32)__builtin_ctz(mask);
    u8 space;
    const u8 *from = access_aligned(x, lane, address_at(x, list, 2, lane), TENSOR_MAP_BYTES, TENSOR_MAP_BYTES,
                                    SPACE_SHARED, false, &space);
    u8 *to = from ? access_aligned(x, lane, address_at(x, list, 0, lane), TENSOR_MAP_BYTES, TENSOR_MAP_BYTES,
                                   SPACE_GLOBAL, true, &space)
                  : NULL;
    if (!to) return;
    memcpy(to, from, TENSOR_MAP_BYTES);
    count_bytes(x, TENSOR_MAP_BYTES, TENSOR_MAP_BYTES / 32);
}

EXEC_SELECT(tensormap_copy) { return (void)shape, (void)in, tensormap_copy; }

// --- st.async, red.async -----------------------------------------------------------------------------------------
// [to], value or vector, [mbarrier]; in->target: constant part of the first address.
static u64 remote_address(const Exec *x, const SimInsn *in, u32 lane) {
    return access_address(x, in->src[0], (i32)in->target, lane);
}

static bool complete_lane(Exec *x, const SimInsn *in, u32 lane, SimOperand barrier, u32 bytes) {
    return mbarrier_complete(x, lane, access_address(x, barrier, in->offset, lane), in->space, bytes);
}

static void st_async(Exec *x, const SimInsn *in, u32 mask) {
    u32 bytes = (u32)in->width * in->count;
    const SimOperand single = in->src[1], *list = in->list_count ? exec_list(x, in) : &single;
    SimOperand barrier = in->src[in->list_count ? 1 : 2];
    if (!has_cluster(x, mask)) return;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u8 space;
        u8 *to = access_resolve(x, l, remote_address(x, in, l), bytes, in->space, true, &space);
        if (!to) return;
        for (u32 k = 0; k < in->count; k++) {
            u64 value = exec_get_lane(x, list[k], l);
            memcpy(to + k * in->width, &value, in->width);
        }
        if (!complete_lane(x, in, l, barrier, bytes)) return;
    }
}

EXEC_SELECT(st_async) {
    in->width = (u8)type_bytes(shape->form->types[0]);
    return st_async;
}

// in->mods: type.
static void red_async(Exec *x, const SimInsn *in, u32 mask) {
    ReduceFn reduce = reduce_function(in->form->mods[MOD_ATOM_OP], (u8)in->mods);
    if (!has_cluster(x, mask)) return;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u8 space, from[8];
        u8 *to = access_resolve(x, l, remote_address(x, in, l), in->width, in->space, true, &space);
        if (!to) return;
        u64 value = exec_get_lane(x, in->src[1], l);
        memcpy(from, &value, sizeof from);
        reduce(to, from, 1);
        if (!complete_lane(x, in, l, in->src[2], in->width)) return;
    }
}

EXEC_SELECT(red_async) {
    in->width = (u8)type_bytes(shape->form->types[0]);
    in->mods = shape->form->types[0];
    return reduce_function(shape->form->mods[MOD_ATOM_OP], shape->form->types[0]) ? red_async : NULL;
}
