// SPDX-License-Identifier: Apache-2.0
// Exchanges between the lanes of a warp (PTX ISA 9.7.9.5-6, 9.7.13): shfl, vote, match, redux, activemask, elect.
// `mask` holds the lanes that execute the instruction together; for .sync forms the warp loop has waited for the lanes
// of the membermask.
#include "sim/exec/float.h"

// --- shfl -------------------------------------------------------------------------------------------------------
// Source lane and, in *inside, whether it is in the segment; the lane copies itself when it is not. c: clamp in bits
// 0-4, segment mask in 8-12.
static inline u32 source_lane(u16 mode, u32 lane, u32 b, u32 c, bool *inside) {
    u32 clamp = c & 31, segment = c >> 8 & 31, b5 = b & 31;
    u32 max = (lane & segment) | (clamp & ~segment), min = lane & segment;
    u32 from;
    switch (mode) {
    case SHFL_MODE_UP: from = lane - b5, *inside = (i32)from >= (i32)max; break;
    case SHFL_MODE_DOWN: from = lane + b5, *inside = from <= max; break;
    case SHFL_MODE_BFLY: from = lane ^ b5, *inside = from <= max; break;
    default: from = min | (b5 & ~segment), *inside = from <= max; break;
    }
    return *inside ? from : lane;
}

static void shfl_b32(Exec *x, const SimInsn *in, u32 mask) {
    const Cell32 *a = exec_operand(x, in->src[0]), *b = exec_operand(x, in->src[1]), *c = exec_operand(x, in->src[2]);
    u32 result[LANES], inside = 0;
    for (u32 l = 0; l < LANES; l++) {
        bool in_segment;
        u32 from = source_lane(in->mods, l, b[l], c[l], &in_segment) & 31;
        result[l] = mask >> from & 1 ? a[from] : 0;  // of a lane that is not here: undefined by the ISA, 0 on an H200
        inside |= (u32)in_segment << l;
    }
    if (in->dst != SIM_NO_OPERAND) {
        Cell32 *d = exec_operand(x, in->dst);
        LANES_SET(mask, Cell32, d, result[l]);
    }
    exec_set_pred(x, in->pred_dst, inside, mask);
}

EXEC_SELECT(shfl) {
    in->mods = shape_mod(shape, MOD_SHFL_MODE);
    return shfl_b32;
}

// --- vote -------------------------------------------------------------------------------------------------------
// The lanes that vote: those of the membermask (src[3]) that are here; the others of `mask` may vote among themselves.
static u32 members(const Exec *x, const SimInsn *in, u32 mask, u32 lane) {
    if (in->src[3] == SIM_NO_OPERAND) return mask;
    return ((const Cell32 *)exec_operand(x, in->src[3]))[lane] & mask;
}

static void vote_pred(Exec *x, const SimInsn *in, u32 mask) {
    u32 votes = exec_get_pred(x, in), result = 0;
    for (u32 rest = mask; rest;) {  // one turn for each group of lanes with the same membermask
        u32 lane = (u32)__builtin_ctz(rest), group = members(x, in, mask, lane) | 1u << lane, yes = votes & group;
        bool holds = in->mods == VOTE_MODE_ALL   ? yes == group
                     : in->mods == VOTE_MODE_ANY ? yes != 0
                                                 : yes == 0 || yes == group;
        result |= holds ? group : 0;
        rest &= ~group;
    }
    exec_set_pred(x, in->pred_dst, result, mask);
}
static void vote_ballot(Exec *x, const SimInsn *in, u32 mask) {
    u32 votes = exec_get_pred(x, in);
    Cell32 *d = exec_operand(x, in->dst);
    if (in->src[3] == SIM_NO_OPERAND) {
        votes &= mask;
        LANES_SET(mask, Cell32, d, votes);
    } else {
        const Cell32 *member = exec_operand(x, in->src[3]);
        LANES_SET(mask, Cell32, d, votes & mask & member[l]);
    }
}

EXEC_SELECT(vote) {
    in->mods = shape_mod(shape, MOD_VOTE_MODE);
    return in->mods == VOTE_MODE_BALLOT ? vote_ballot : vote_pred;
}

// --- match ------------------------------------------------------------------------------------------------------
static inline u64 lane_value(const void *a, bool wide, u32 lane) {
    return wide ? ((const Cell64 *)a)[lane] : ((const Cell32 *)a)[lane];
}
// The lanes of `group` whose value is that of `lane`.
static u32 equal_lanes(const void *a, bool wide, u32 lane, u32 group) {
    u64 value = lane_value(a, wide, lane);
    u32 equal = 0;
    for (u32 l = 0; l < LANES; l++) equal |= (u32)(lane_value(a, wide, l) == value) << l;
    return equal & group;
}
enum { MATCH_ANY, MATCH_ALL, MATCH_WIDE = 2 };
static void match_lanes(Exec *x, const SimInsn *in, u32 mask) {
    const void *a = exec_operand(x, in->src[0]);
    bool wide = in->mods & MATCH_WIDE;
    u32 result[LANES], all = 0;
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u32 group = members(x, in, mask, l), equal = equal_lanes(a, wide, l, group);
        all |= (u32)(equal == group) << l;
        result[l] = in->mods & MATCH_ALL ? (equal == group ? group : 0) : equal;
    }
    if (in->dst != SIM_NO_OPERAND) {
        Cell32 *d = exec_operand(x, in->dst);
        LANES_EACH(mask, Cell32, d, result[l]);
    }
    exec_set_pred(x, in->pred_dst, all, mask);
}
EXEC_SELECT(match) {
    in->mods = (u16)((shape_mod(shape, MOD_VOTE_MODE) == VOTE_MODE_ALL ? MATCH_ALL : MATCH_ANY) |
                     (shape_type(shape, 0) == TYPE_B64 ? MATCH_WIDE : 0));
    return match_lanes;
}

// --- redux ------------------------------------------------------------------------------------------------------
enum { REDUX_SIGNED = 1 << 8, REDUX_ABS = 1 << 9, REDUX_NAN = 1 << 10 };
static u32 redux_int(u16 mods, u32 a, u32 b) {
    switch (mods & 0xff) {
    case ATOM_OP_ADD - ATOM_OP_AND: return a + b;
    case ATOM_OP_MIN - ATOM_OP_AND: return mods & REDUX_SIGNED ? (u32)((i32)a < (i32)b ? a : b) : a < b ? a : b;
    case ATOM_OP_MAX - ATOM_OP_AND: return mods & REDUX_SIGNED ? (u32)((i32)a > (i32)b ? a : b) : a > b ? a : b;
    case ATOM_OP_AND - ATOM_OP_AND: return a & b;
    case ATOM_OP_OR - ATOM_OP_AND: return a | b;
    default: return a ^ b;
    }
}
static u32 redux_f32(u16 mods, u32 a, u32 b) {
    f32 fa = f32_of_bits(a), fb = f32_of_bits(b);
    bool nan = fa != fa || fb != fb, is_min = (mods & 0xff) == ATOM_OP_MIN - ATOM_OP_AND;
    if (nan && mods & REDUX_NAN) return NAN_BITS_F32;
    if (fa != fa) return fb != fb ? NAN_BITS_F32 : b;
    if (fb != fb) return a;
    if (fa == fb) return is_min ? a | b : a & b;  // zeros of both signs
    return (fa < fb) == is_min ? a : b;
}
static void redux_with(Exec *x, const SimInsn *in, u32 mask, u32 (*combine)(u16 mods, u32 a, u32 b), u32 keep) {
    const Cell32 *a = exec_operand(x, in->src[0]);
    Cell32 *d = exec_operand(x, in->dst);
    u32 result[LANES];
    for (u32 rest = mask; rest;) {
        u32 first = (u32)__builtin_ctz(rest), group = members(x, in, mask, first) | 1u << first;
        u32 value = a[first] & keep;
        for (u32 l = first + 1; l < LANES; l++)
            if (group >> l & 1) value = combine(in->mods, value, a[l] & keep);
        for (u32 l = 0; l < LANES; l++)
            if (group >> l & 1) result[l] = value;
        rest &= ~group;
    }
    LANES_EACH(mask, Cell32, d, result[l]);
}
static void redux_integers(Exec *x, const SimInsn *in, u32 mask) { redux_with(x, in, mask, redux_int, UINT32_MAX); }
static void redux_floats(Exec *x, const SimInsn *in, u32 mask) {
    redux_with(x, in, mask, redux_f32, in->mods & REDUX_ABS ? 0x7fffffff : UINT32_MAX);
}
EXEC_SELECT(redux) {
    u8 type = shape_type(shape, 0);
    in->mods = (u16)((shape_mod(shape, MOD_ATOM_OP) - ATOM_OP_AND) | (type == TYPE_S32 ? REDUX_SIGNED : 0) |
                     (shape_has(shape, MOD_ABS) ? REDUX_ABS : 0) | (shape_has(shape, MOD_NAN) ? REDUX_NAN : 0));
    return type == TYPE_F32 ? redux_floats : redux_integers;
}

// --- activemask, elect ------------------------------------------------------------------------------------------
static void activemask_b32(Exec *x, const SimInsn *in, u32 mask) {
    Cell32 *d = exec_operand(x, in->dst);
    LANES_SET(mask, Cell32, d, mask);
}
EXEC_SELECT(activemask) {
    (void)shape, (void)in;
    return activemask_b32;
}

// The lowest lane of the membermask is elected; d is its number.
static void elect_lane(Exec *x, const SimInsn *in, u32 mask) {
    u32 elected = 0, leader[LANES];
    for (u32 l = 0; l < LANES; l++) {
        if (!(mask >> l & 1)) continue;
        u32 group = members(x, in, mask, l) | 1u << l;
        leader[l] = (u32)__builtin_ctz(group);
        elected |= 1u << leader[l];
    }
    if (in->dst != SIM_NO_OPERAND) {
        Cell32 *d = exec_operand(x, in->dst);
        LANES_EACH(mask, Cell32, d, leader[l]);
    }
    exec_set_pred(x, in->pred_dst, elected, mask);
}
EXEC_SELECT(elect) {
    (void)shape, (void)in;
    return elect_lane;
}
