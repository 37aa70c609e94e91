// SPDX-License-Identifier: Apache-2.0
// ld, ldu, st (PTX ISA 9.0, 9.7.9.8-12): all spaces, vectors, widening. A warp-wide access is checked and counted as a
// whole where its lanes fall into one allocation, lane by lane otherwise.
#include "sim/exec/access.h"
#include "sim/time/trace.h"

// --- moving the bytes of one element between memory and a register -----------------------------------------------
// in->mods of a load: how a loaded element becomes a register value.
enum { MOVE_U8, MOVE_S8, MOVE_U16, MOVE_S16, MOVE_32, MOVE_S32, MOVE_64, MOVE_128 };

typedef void (*LoadFn)(const Access *a, void *reg, u32 at, u32 mask);

static inline u8 *lane_bytes(const Access *a, u32 lane) {
    return a->linear ? a->first + lane * a->step : a->lane[lane];
}

#define LOAD_FN(name, memory_type, register_type)                          \
    static void name(const Access *a, void *reg, u32 at, u32 mask) {       \
        register_type *to = reg;                                           \
        memory_type value;                                                 \
        if (a->linear && a->step == 0) {                                   \
            memcpy(&value, a->first + at, sizeof value);                   \
            register_type same = (register_type)value;                     \
            FOR_LANES(mask, to[l] = same);                                 \
        } else if (a->linear && mask == FULL_MASK) {                       \
            for (u32 l = 0; l < LANES; l++) {                              \
                memcpy(&value, a->first + at + l * a->step, sizeof value); \
                to[l] = (register_type)value;                              \
            }                                                              \
        } else {                                                           \
            for (u32 left = mask; left; left &= left - 1) {                \
                u32 l = (u32)__builtin_ctz(left);                          \
                memcpy(&value, lane_bytes(a, l) + at, sizeof value);       \
                to[l] = (register_type)value;                              \
            }                                                              \
        }                                                                  \
    }

// Where lanes meet the lowest one's value stays; accesses of 8 bytes go by halves of the warp, of 16 by quarters, one
// after the other (measured: h200-shared-turns.tsv, `stays`). So `part` lanes at a time are stored, the highest first.
typedef void (*StoreFn)(const Access *a, const void *reg, u32 at, u32 mask, u32 part);

#define STORE_FN(name, memory_type, register_type)                                   \
    static void name(const Access *a, const void *reg, u32 at, u32 mask, u32 part) { \
        const register_type *from = reg;                                             \
        for (u32 k = 0; k < LANES; k++) {                                            \
            u32 l = k ^ (part - 1);                                                  \
            if (!(mask >> l & 1)) continue;                                          \
            memory_type value = (memory_type)from[l];                                \
            memcpy(lane_bytes(a, l) + at, &value, sizeof value);                     \
        }                                                                            \
    }

LOAD_FN(load_u8, u8, u32)
LOAD_FN(load_u8_wide, u8, u64)
LOAD_FN(load_s8, i8, i32)
LOAD_FN(load_s8_wide, i8, i64)
LOAD_FN(load_u16, u16, u32)
LOAD_FN(load_u16_wide, u16, u64)
LOAD_FN(load_s16, i16, i32)
LOAD_FN(load_s16_wide, i16, i64)
LOAD_FN(load_32, u32, u32)
LOAD_FN(load_32_wide, u32, u64)
LOAD_FN(load_s32_wide, i32, i64)
LOAD_FN(load_64, u64, u64)
STORE_FN(store_8, u8, u32)
STORE_FN(store_8_wide, u8, u64)
STORE_FN(store_16, u16, u32)
STORE_FN(store_16_wide, u16, u64)
STORE_FN(store_32, u32, u32)
STORE_FN(store_32_wide, u32, u64)
STORE_FN(store_64, u64, u64)

static void load_128(const Access *a, void *reg, u32 at, u32 mask) {
    load_64(a, reg, at, mask);
    load_64(a, (u64 *)reg + LANES, at + 8, mask);
}

static void store_128(const Access *a, const void *reg, u32 at, u32 mask, u32 part) {
    store_64(a, reg, at, mask, part);
    store_64(a, (const u64 *)reg + LANES, at + 8, mask, part);
}

// [how][register of 64 bits]
static const LoadFn loads[][2] = {
    [MOVE_U8] = {load_u8, load_u8_wide},    [MOVE_S8] = {load_s8, load_s8_wide}, [MOVE_U16] = {load_u16, load_u16_wide},
    [MOVE_S16] = {load_s16, load_s16_wide}, [MOVE_32] = {load_32, load_32_wide}, [MOVE_S32] = {load_32, load_s32_wide},
    [MOVE_64] = {load_64, load_64},         [MOVE_128] = {load_128, load_128},
};

// [logarithm of the bytes][register of 64 bits]
static const StoreFn stores[][2] = {{store_8, store_8_wide},
                                    {store_16, store_16_wide},
                                    {store_32, store_32_wide},
                                    {store_64, store_64},
                                    {store_128, store_128}};

// The common case: a whole warp and one contiguous run of elements as wide as the registers.
static inline bool is_run(const Access *a, u32 mask, u32 width, bool wide) {
    return mask == FULL_MASK && a->linear && a->step == width && width == (wide ? 8u : 4u);
}

static inline void copy_run(void *to, const void *from, bool wide) {
    if (wide)
        memcpy(to, from, LANES * sizeof(u64));
    else
        memcpy(to, from, LANES * sizeof(u32));
}

static void load_element(Exec *x, const SimInsn *in, const Access *a, SimOperand dst, u32 at, u32 mask) {
    if (dst == SIM_NO_OPERAND) return;
    bool wide = dst >> 30 == AREA_R64;
    if (is_run(a, mask, in->width, wide))
        copy_run(exec_operand(x, dst), a->first + at, wide);
    else
        loads[in->mods][wide](a, exec_operand(x, dst), at, mask);
}

static void store_element(Exec *x, const SimInsn *in, const Access *a, SimOperand src, u32 at, u32 mask) {
    bool wide = src >> 30 & 1;
    u32 bytes = (u32)in->width * in->count, part = bytes > 4 ? 4 * LANES / bytes : LANES;
    if (is_run(a, mask, in->width, wide))
        copy_run(a->first + at, exec_operand(x, src), wide);
    else
        stores[__builtin_ctz(in->width)][wide](a, exec_operand(x, src), at, mask, part);
}

static void load_all(Exec *x, const SimInsn *in, const Access *a, u32 mask) {
    if (in->list_count == 0) return load_element(x, in, a, in->dst, 0, mask);
    const SimOperand *list = exec_list(x, in);
    for (u32 k = 0; k < in->list_count; k++) load_element(x, in, a, list[k], k * in->width, mask);
}

static void store_all(Exec *x, const SimInsn *in, const Access *a, u32 mask) {
    x->stores += in->space != SPACE_LOCAL;
    if (in->list_count == 0) return store_element(x, in, a, in->src[1], 0, mask);
    const SimOperand *list = exec_list(x, in);
    for (u32 k = 0; k < in->list_count; k++) store_element(x, in, a, list[k], k * in->width, mask);
}

// --- where the bytes are -----------------------------------------------------------------------------------------
static inline void count_global(Exec *x, const Pattern *p, u32 bytes) {
    PcCounters *c = x->count;
    c->requests++;
    c->bytes += (u64)p->count * bytes;
    c->sectors += p->monotone ? p->sectors : count_distinct_sectors(p->address, p->count);
    if (WL_UNLIKELY(x->trace)) trace_global(x->trace, p->address, p->count, bytes);
}

// `simple`: without conflicts, when the lanes access 4 bytes at most.
static inline void count_shared(Exec *x, const u64 *address, u32 mask, u32 bytes, bool simple, bool store) {
    if (!simple || bytes > 4 || WL_UNLIKELY(x->banks)) return access_count_shared(x, address, mask, bytes, !store);
    x->count->shared++;
    x->count->wavefronts++;
    if (WL_LIKELY(!x->trace)) return;
    trace_shared(x->trace, 1, 1, (u32)__builtin_popcount(mask), bytes, access_is_distributed(x, address, mask));
}

// Local memory is interleaved by words of the 32 lanes, so that a uniform offset is one full line: sectors as on
// hardware.
static inline void count_local(Exec *x, const u64 *address, u32 mask, u32 bytes) {
    PcCounters *c = x->count;
    u64 spread[LANES];
    u32 count = 0, words = bytes < 4 ? 1 : bytes / 4, sectors = 0;
    for (u32 k = 0; k < words; k++) {
        count = 0;
        for (u32 left = mask; left; left &= left - 1) {
            u32 l = (u32)__builtin_ctz(left);
            spread[count++] = ((address[l] >> 2) + k) * 128 + l * 4;
        }
        Pattern p = pattern_of(spread, count, 4);
        sectors += p.monotone ? p.sectors : count_distinct_sectors(spread, count);
    }
    c->local_requests++;
    c->local_sectors += sectors;
    if (WL_UNLIKELY(x->trace)) trace_local(x->trace, address, mask, bytes);
}

// Lane by lane: faults are found here, generic addresses sorted into their spaces.
static bool resolve_lanes(Exec *x, const SimInsn *in, Access *a, u32 mask, u32 bytes, bool store) {
    u64 global[LANES], shared[LANES], local[LANES];
    u32 global_count = 0, shared_mask = 0, local_mask = 0;
    a->linear = false;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u8 space;
        a->lane[l] = access_resolve(x, l, x->address[l], bytes, in->space, store, &space);
        if (!a->lane[l]) return false;
        if (space == SPACE_SHARED)
            shared[l] = x->address[l] & 0xffffffff, shared_mask |= 1u << l;
        else if (space == SPACE_LOCAL)
            local[l] = x->address[l] & 0xffffffff, local_mask |= 1u << l;
        else if (space != SPACE_PARAM)
            global[global_count++] = x->address[l];
    }
    if (in->flags & SIM_UNCOUNTED) return true;
    if (global_count) {
        Pattern p = pattern_of(global, global_count, bytes);
        count_global(x, &p, bytes);
    }
    if (shared_mask) access_count_shared(x, shared, shared_mask, bytes, !store);
    if (local_mask) count_local(x, local, local_mask, bytes);
    return true;
}

// The fast path: all active lanes inside the allocation that this instruction hit last.
static bool resolve_warp(Exec *x, Access *a, u32 mask, u32 bytes, bool store) {
    u64 packed[LANES];
    Pattern p = pattern_of_active(x->address, mask, bytes, packed);
    PcState *state = pc_state(x);
    if (state->generation != x->grid->sim->generation || p.low - state->start >= state->size ||
        p.high - state->start + bytes > state->size || (store && state->read_only) || p.bits & (bytes - 1))
        return false;
    count_global(x, &p, bytes);
    if (mask == FULL_MASK && p.contiguous) {
        a->linear = true;
        a->step = bytes;
        a->first = (u8 *)(uintptr_t)(p.low + (u64)state->delta);
    } else if (p.low == p.high) {
        a->linear = true;
        a->step = 0;
        a->first = (u8 *)(uintptr_t)(p.low + (u64)state->delta);
    } else {
        a->linear = false;
        for (u32 l = 0; l < LANES; l++) a->lane[l] = (u8 *)(uintptr_t)(x->address[l] + (u64)state->delta);
    }
    return true;
}

static bool access_global(Exec *x, const SimInsn *in, Access *a, u32 mask, u32 bytes, bool store) {
    if (in->src[0] == SIM_NO_OPERAND) {  // [variable]: a constant address
        for (u32 l = 0; l < LANES; l++) x->address[l] = (u64)in->offset;
    } else {
        access_addresses(x, in, 0);
    }
    return resolve_warp(x, a, mask, bytes, store) || resolve_lanes(x, in, a, mask, bytes, store);
}

static bool access_shared(Exec *x, const SimInsn *in, Access *a, u32 mask, u32 bytes, bool store) {
    if (in->src[0] == SIM_NO_OPERAND) {
        u64 offset = (u64)in->offset;
        if (offset + bytes > x->shared_size || offset & (bytes - 1)) {
            for (u32 l = 0; l < LANES; l++) x->address[l] = offset;
            return resolve_lanes(x, in, a, mask, bytes, store);
        }
        a->linear = true;
        a->step = 0;
        a->first = x->shared + offset;
        for (u32 l = 0; l < LANES; l++) x->address[l] = offset;
        count_shared(x, x->address, mask, bytes, true, store);
        return true;
    }
    access_addresses(x, in, 0);
    u64 packed[LANES];
    Pattern p = pattern_of_active(x->address, mask, bytes, packed);
    if (p.high + bytes > x->shared_size || p.high > x->shared_size || p.bits & (bytes - 1))
        return resolve_lanes(x, in, a, mask, bytes, store);
    bool simple = p.low == p.high || (p.monotone && p.high - p.low < 128);
    count_shared(x, x->address, mask, bytes, simple, store);
    a->linear = (mask == FULL_MASK && p.contiguous) || p.low == p.high;
    a->step = p.low == p.high ? 0 : bytes;
    a->first = (u8 *)((uintptr_t)x->shared + p.low);
    if (!a->linear)
        // Idle lanes hold any address: no pointer arithmetic.
        for (u32 l = 0; l < LANES; l++) a->lane[l] = (u8 *)((uintptr_t)x->shared + x->address[l]);
    return true;
}

// All lanes at the same offset: one line of the interleaved memory per word, a sector for every 8 lanes with an active
// one.
static inline void count_local_uniform(Exec *x, u64 offset, u32 mask, u32 bytes) {
    PcCounters *c = x->count;
    u32 words = bytes < 4 ? 1 : bytes / 4;
    u32 groups = !!(mask & 0xff) + !!(mask & 0xff00) + !!(mask & 0xff0000) + !!(mask & 0xff000000);
    c->local_requests++;
    c->local_sectors += (u64)words * groups;
    if (WL_UNLIKELY(x->trace)) trace_local_uniform(x->trace, offset, mask, bytes);
}

static bool access_local(Exec *x, const SimInsn *in, Access *a, u32 mask, u32 bytes, bool store) {
    u64 frame = in->flags & SIM_FRAME ? x->frame_local : 0, differs = 0;
    u64 offset = (u64)in->offset + frame;
    if (in->src[0] != SIM_NO_OPERAND) {
        access_addresses(x, in, 0);
        for (u32 l = 0; l < LANES; l++) x->address[l] = (x->address[l] + frame) & 0xffffffff;
        offset = x->address[__builtin_ctz(mask)];
        for (u32 l = 0; l < LANES; l++) differs |= mask >> l & 1 ? x->address[l] ^ offset : 0;
    }
    if (differs || offset + bytes > x->local_stride || offset & (bytes - 1)) {
        if (in->src[0] == SIM_NO_OPERAND)
            for (u32 l = 0; l < LANES; l++) x->address[l] = offset;
        return resolve_lanes(x, in, a, mask, bytes, store);
    }
    a->linear = true;
    a->first = x->local + offset;
    a->step = x->local_stride;
    if (!(in->flags & SIM_UNCOUNTED)) count_local_uniform(x, offset, mask, bytes);
    return true;
}

static bool access_param(Exec *x, const SimInsn *in, Access *a, u32 mask, u32 bytes, bool store) {
    if (in->src[0] != SIM_NO_OPERAND || (u64)in->offset + bytes > x->param_size || store) {
        for (u32 l = 0; l < LANES; l++) x->address[l] = access_address(x, in->src[0], in->offset, l);
        return resolve_lanes(x, in, a, mask, bytes, store);
    }
    a->linear = true;
    a->step = 0;
    a->first = (u8 *)(uintptr_t)x->params + in->offset;
    return true;
}

typedef bool (*AccessFn)(Exec *x, const SimInsn *in, Access *a, u32 mask, u32 bytes, bool store);

#define LOAD_STORE(name, access)                                                                   \
    static void ld_##name(Exec *x, const SimInsn *in, u32 mask) {                                  \
        Access a;                                                                                  \
        x->polls += in->flags >> 7 & 1; /* SIM_POLL */                                             \
        if (access(x, in, &a, mask, (u32)in->width * in->count, false)) load_all(x, in, &a, mask); \
    }                                                                                              \
    static void st_##name(Exec *x, const SimInsn *in, u32 mask) {                                  \
        Access a;                                                                                  \
        if (access(x, in, &a, mask, (u32)in->width * in->count, true)) store_all(x, in, &a, mask); \
    }

LOAD_STORE(global, access_global)
LOAD_STORE(shared, access_shared)
LOAD_STORE(local, access_local)
LOAD_STORE(param, access_param)

static u16 move_of(u8 type) {
    bool is_signed = ptx_types[type].class == TYPE_CLASS_SINT;
    switch (type_bytes(type)) {
    case 1: return is_signed ? MOVE_S8 : MOVE_U8;
    case 2: return is_signed ? MOVE_S16 : MOVE_U16;
    case 4: return is_signed ? MOVE_S32 : MOVE_32;
    case 8: return MOVE_64;
    default: return MOVE_128;
    }
}

static ExecFn by_space(const SimInsn *in, bool store) {
    switch (in->space) {
    case SPACE_SHARED: return store ? st_shared : ld_shared;
    case SPACE_LOCAL: return store ? st_local : ld_local;
    case SPACE_PARAM: return store ? st_param : ld_param;
    default: return store ? st_global : ld_global;  // global, const, generic
    }
}

EXEC_SELECT(ld) {
    in->width = (u8)type_bytes(shape->form->types[0]);
    in->mods = move_of(shape->form->types[0]);
    if (in->mods == MOVE_S32 && shape->dst_bits <= 32) in->mods = MOVE_32;
    return by_space(in, false);
}

EXEC_SELECT(st) {
    in->width = (u8)type_bytes(shape->form->types[0]);
    return by_space(in, true);
}
