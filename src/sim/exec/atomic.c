// SPDX-License-Identifier: Apache-2.0
// atom and red (PTX ISA 9.0, 9.7.13.5-6): lane after lane, so that the order is that of the lanes - one of those the
// hardware may choose.
#include "sim/exec/access.h"
#include "sim/exec/half.h"

typedef u64 (*AtomicOp)(u64 old, u64 operand, u64 swap);

static u64 add_u32(u64 a, u64 b, u64 c) { return (void)c, (u32)((u32)a + (u32)b); }
static u64 add_u64(u64 a, u64 b, u64 c) { return (void)c, a + b; }

#define MIN_MAX(T, U)                                                                           \
    static u64 min_##T(u64 a, u64 b, u64 c) { return (void)c, (U)((T)a < (T)b ? (T)a : (T)b); } \
    static u64 max_##T(u64 a, u64 b, u64 c) { return (void)c, (U)((T)a > (T)b ? (T)a : (T)b); }

MIN_MAX(u32, u32)
MIN_MAX(i32, u32)
MIN_MAX(u64, u64)
MIN_MAX(i64, u64)

static u64 op_and(u64 a, u64 b, u64 c) { return (void)c, a & b; }
static u64 op_or(u64 a, u64 b, u64 c) { return (void)c, a | b; }
static u64 op_xor(u64 a, u64 b, u64 c) { return (void)c, a ^ b; }
static u64 op_exch(u64 a, u64 b, u64 c) { return (void)a, (void)c, b; }
static u64 op_inc(u64 a, u64 b, u64 c) { return (void)c, (u32)a >= (u32)b ? 0 : (u32)a + 1; }
static u64 op_dec(u64 a, u64 b, u64 c) { return (void)c, (u32)a == 0 || (u32)a > (u32)b ? (u32)b : (u32)a - 1; }
static u64 op_cas(u64 a, u64 b, u64 c) { return a == b ? c : a; }

static f32 as_f32(u64 bits) { return f32_of_bits((u32)bits); }
static u64 of_f32(f32 value) { return bits_of_f32(canonical_f32(value)); }

// NaN results are those of add (measured on an H200).
// atom.add.f32 on global memory flushes subnormal values, on shared memory it keeps them (PTX ISA, atom).
static u64 add_f32_global(u64 a, u64 b, u64 c) {
    return (void)c, of_f32(flush_f32(flush_f32(as_f32(a)) + flush_f32(as_f32(b))));
}
static u64 add_f32_shared(u64 a, u64 b, u64 c) { return (void)c, of_f32(as_f32(a) + as_f32(b)); }
// The NaN that stays of two: the operand's in global memory, the old value in shared memory.
static bool is_nan_f64(u64 bits) { return (bits & INT64_MAX) > 0x7ff0000000000000ull; }
static u64 sum_f64(u64 a, u64 b) { return bits_of_f64(f64_of_bits(a) + f64_of_bits(b)); }
static u64 add_f64_global(u64 a, u64 b, u64 c) {  // signalling NaNs stay so
    return (void)c, is_nan_f64(b) ? b : is_nan_f64(a) ? a : is_nan_f64(sum_f64(a, b)) ? NAN_BITS_F64 : sum_f64(a, b);
}
static u64 add_f64_shared(u64 a, u64 b, u64 c) {
    u64 nan = is_nan_f64(a) ? a : is_nan_f64(b) ? b : NAN_BITS_F64;
    return (void)c, is_nan_f64(sum_f64(a, b)) ? nan | 0x0008000000000000ull : sum_f64(a, b);
}

// Half precision: widened, computed and rounded once (the sum of two halves is exact in f64).
#define HALF_OPS(name)                                                                                            \
    static u64 add_##name(u64 a, u64 b, u64 c) {                                                                  \
        return (void)c, name##_of_f64((f64)name##_to_f32((u32)a & 0xffff) + (f64)name##_to_f32((u32)b & 0xffff)); \
    }                                                                                                             \
    static u64 add_##name##x2(u64 a, u64 b, u64 c) {                                                              \
        return add_##name(a, b, c) | add_##name(a >> 16, b >> 16, c) << 16;                                       \
    }

HALF_OPS(f16)
HALF_OPS(bf16)

// The smaller or larger number; a NaN only where both are; -0 below +0.
#define HALF_MIN_MAX(name, op, OP, ZERO_OP)                                   \
    static u32 op##_##name##_of(u32 a, u32 b) {                               \
        f32 fa = name##_to_f32(a), fb = name##_to_f32(b);                     \
        u32 m = fa == fb ? (a ZERO_OP b) : fb != fb || fa OP fb ? a : b;      \
        return fa != fa && fb != fb ? NAN_BITS_HALF : m;                      \
    }                                                                         \
    static u64 op##_##name(u64 a, u64 b, u64 c) {                             \
        return (void)c, op##_##name##_of((u32)a & 0xffff, (u32)b & 0xffff);   \
    }                                                                         \
    static u64 op##_##name##x2(u64 a, u64 b, u64 c) {                         \
        return op##_##name(a, b, c) | op##_##name(a >> 16, b >> 16, c) << 16; \
    }
HALF_MIN_MAX(f16, min, <, |)
HALF_MIN_MAX(f16, max, >, &)
HALF_MIN_MAX(bf16, min, <, |)
HALF_MIN_MAX(bf16, max, >, &)

// --- the warp ----------------------------------------------------------------------------------------------------
static inline u64 lane_value(const Exec *x, SimOperand operand, u32 lane, u32 bytes) {
    const void *lanes = exec_operand(x, operand);
    if (bytes == 8) return ((const u64 *)lanes)[lane];
    return ((const u32 *)lanes)[lane] & (bytes == 2 ? 0xffffu : 0xffffffffu);
}

static void count_global(Exec *x, const u64 *global, u32 global_count, u32 bytes) {
    if (x->trace) x->trace->atomic = true;
    if (global_count) access_count_global(x, global, global_count, bytes);
    if (x->trace) x->trace->atomic = false;
}

static void count_atomic(Exec *x, const u64 *global, u32 global_count, const u64 *shared, u32 shared_mask, u32 bytes) {
    count_global(x, global, global_count, bytes);
    if (shared_mask) access_count_shared_atomic(x, shared, shared_mask, bytes);
}

static const AtomicOp *atomic_ops(void);

typedef struct Places {
    u8 *memory[LANES];
    u64 global[LANES], shared[LANES];  // addresses: packed; by lane
    u32 global_count, shared_mask;
} Places;

// Where the bytes of all lanes lie, before any is changed. False: those of a lane are not to be had.
static bool find_places(Exec *x, const SimInsn *in, u32 mask, u32 bytes, Places *p) {
    p->global_count = p->shared_mask = 0;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u64 address = access_address(x, in->src[0], in->offset, l);
        u8 space;
        p->memory[l] = access_resolve(x, l, address, bytes, in->space, true, &space);
        if (!p->memory[l]) return false;
        if (space == SPACE_SHARED)
            p->shared[l] = address & 0xffffffff, p->shared_mask |= 1u << l;
        else
            p->global[p->global_count++] = address;
    }
    return true;
}

// A loop around a compare-and-swap in shared memory: lanes of one word do not follow each other in an access, but turn
// after turn. Of minima and maxima lanes that would change nothing swap nothing.
static void count_spin(Exec *x, const SimInsn *in, const Places *p, u32 changing, u32 bytes) {
    u16 op = in->form->mods[MOD_ATOM_OP];
    bool leaves = op == ATOM_OP_MIN || op == ATOM_OP_MAX;
    access_count_shared(x, p->shared, p->shared_mask, bytes, false);
    if (x->trace) trace_spin(x->trace, p->shared, leaves ? p->shared_mask & changing : p->shared_mask, changing, bytes);
}

// in->mods: index into atomic_ops.
static void atomic(Exec *x, const SimInsn *in, u32 mask) {
    AtomicOp op = atomic_ops()[in->mods];
    AtomicOp op_shared = op == add_f32_global ? add_f32_shared : op == add_f64_global ? add_f64_shared : op;
    u32 bytes = in->width, changing = 0;
    Places p;
    if (!find_places(x, in, mask, bytes, &p)) return;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u8 *memory = p.memory[l];
        u64 old = 0, operand = lane_value(x, in->src[1], l, bytes);
        u64 swap = in->src[2] != SIM_NO_OPERAND ? lane_value(x, in->src[2], l, bytes) : 0;
        memcpy(&old, memory, bytes);
        u64 value = (p.shared_mask >> l & 1 ? op_shared : op)(old, operand, swap);
        memcpy(memory, &value, bytes);
        changing |= (u32)(value != old) << l;
        x->stores += value != old;
        x->polls += value == old;
        if (in->dst == SIM_NO_OPERAND) continue;
        void *dst = exec_operand(x, in->dst);
        if (in->dst >> 30 == AREA_R64)
            ((u64 *)dst)[l] = old;
        else
            ((u32 *)dst)[l] = (u32)old;
    }
    if (!p.shared_mask || !(in->flags & SIM_SPINS))
        return count_atomic(x, p.global, p.global_count, p.shared, p.shared_mask, bytes);
    count_global(x, p.global, p.global_count, bytes);
    count_spin(x, in, &p, changing, bytes);
}

// Vectors: each element is an atomic of its own, in global memory. The list holds the destination's elements where
// there is one, then the source's.
static void atomic_vector(Exec *x, const SimInsn *in, u32 mask) {
    AtomicOp op = atomic_ops()[in->mods];
    u32 bytes = in->width, elements = in->count, whole = bytes * elements;
    const SimOperand *list = exec_list(x, in), *source = list + (in->list_count - elements);
    Places p;
    if (!find_places(x, in, mask, whole, &p)) return;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u8 *memory = p.memory[l];
        for (u32 k = 0; k < elements; k++) {
            u64 old = 0;
            memcpy(&old, memory + k * bytes, bytes);
            u64 value = op(old, lane_value(x, source[k], l, bytes), 0);
            memcpy(memory + k * bytes, &value, bytes);
            x->stores += value != old;
            x->polls += value == old;
            if (source != list && list[k] != SIM_NO_OPERAND) ((u32 *)exec_operand(x, list[k]))[l] = (u32)old;
        }
    }
    count_atomic(x, p.global, p.global_count, NULL, 0, whole);
}

// atom.cas.b128, atom.exch.b128: register pairs.
static void atomic128(Exec *x, const SimInsn *in, u32 mask) {
    bool cas = in->src[2] != SIM_NO_OPERAND;
    Places p;
    if (!find_places(x, in, mask, 16, &p)) return;
    for (u32 left = mask; left; left &= left - 1) {
        u32 l = (u32)__builtin_ctz(left);
        u8 *memory = p.memory[l];
        const u64 *compare = exec_operand(x, in->src[1]), *swap = cas ? exec_operand(x, in->src[2]) : compare;
        u64 old[2], next[2] = {swap[l], swap[LANES + l]};
        memcpy(old, memory, 16);
        if (!cas || (old[0] == compare[l] && old[1] == compare[LANES + l])) memcpy(memory, next, 16), x->stores++;
        if (in->dst == SIM_NO_OPERAND) continue;
        u64 *dst = exec_operand(x, in->dst);
        dst[l] = old[0];
        dst[LANES + l] = old[1];
    }
    count_atomic(x, p.global, p.global_count, p.shared, p.shared_mask, 16);
}

// --- selection ---------------------------------------------------------------------------------------------------
// op, type (TYPE_NONE: any of the width), function
typedef struct AtomicRow {
    u16 op;
    u8 type;
    AtomicOp function;
} AtomicRow;

// clang-format off
#define ATOMIC_TABLE(X)                                                                                   \
    X(ADD, U32, add_u32) X(ADD, S32, add_u32) X(ADD, U64, add_u64) X(ADD, S64, add_u64)                   \
    X(ADD, F32, add_f32_global) X(ADD, F64, add_f64_global) X(ADD, F16, add_f16) X(ADD, F16X2, add_f16x2)        \
    X(ADD, BF16, add_bf16) X(ADD, BF16X2, add_bf16x2)                                                     \
    X(MIN, U32, min_u32) X(MIN, S32, min_i32) X(MIN, U64, min_u64) X(MIN, S64, min_i64)                   \
    X(MAX, U32, max_u32) X(MAX, S32, max_i32) X(MAX, U64, max_u64) X(MAX, S64, max_i64)                   \
    X(MIN, F16, min_f16) X(MIN, F16X2, min_f16x2) X(MIN, BF16, min_bf16) X(MIN, BF16X2, min_bf16x2)       \
    X(MAX, F16, max_f16) X(MAX, F16X2, max_f16x2) X(MAX, BF16, max_bf16) X(MAX, BF16X2, max_bf16x2)       \
    X(AND, NONE, op_and) X(OR, NONE, op_or) X(XOR, NONE, op_xor) X(EXCH, NONE, op_exch)                   \
    X(INC, U32, op_inc) X(DEC, U32, op_dec) X(CAS, NONE, op_cas)
// clang-format on

static const AtomicRow rows[] = {
#define X(op, type, function) {ATOM_OP_##op, TYPE_##type, function},
    ATOMIC_TABLE(X)
#undef X
};
static const AtomicOp functions[] = {
#define X(op, type, function) function,
    ATOMIC_TABLE(X)
#undef X
};

static const AtomicOp *atomic_ops(void) { return functions; }

static ExecFn select_atomic(const ExecShape *shape, SimInsn *in, u16 token) {
    const Form *form = shape->form;
    u8 type = form->types[form->type_count - 1];
    in->width = (u8)type_bytes(type);
    if (in->width == 16) return atomic128;
    for (u32 i = 0; i < WL_COUNT(rows); i++) {
        if (rows[i].op != token || (rows[i].type != TYPE_NONE && rows[i].type != type)) continue;
        in->mods = (u16)i;
        return in->list_count ? atomic_vector : atomic;
    }
    return NULL;
}

EXEC_SELECT(atom) { return select_atomic(shape, in, shape->form->mods[MOD_ATOM_OP]); }
EXEC_SELECT(atom_cas) { return select_atomic(shape, in, ATOM_OP_CAS); }
EXEC_SELECT(red) { return select_atomic(shape, in, shape->form->mods[MOD_ATOM_OP]); }
EXEC_SELECT(atom_vector) { return select_atomic(shape, in, shape->form->mods[MOD_ATOM_OP]); }
EXEC_SELECT(red_vector) { return select_atomic(shape, in, shape->form->mods[MOD_ATOM_OP]); }
