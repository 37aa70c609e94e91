// SPDX-License-Identifier: Apache-2.0
// Loops over the 32 lanes of a warp for the value handlers. MAP1..MAP4 define a handler from one expression over the
// scalars a, b, c, e (the sources in order) of the given C types. The expression is evaluated for inactive lanes too,
// so it must not trap; their results are blended away. An expression that is costly, or calls a function, is better off
// in EACH1..EACH3, which skip inactive lanes.
#ifndef WL_SIM_EXEC_LANES_H
#define WL_SIM_EXEC_LANES_H

// Lets gcc evaluate floating-point expressions of inactive lanes, and take square roots in vectors; clang does by
// itself or by intrinsics. The exception flags of the host are of no interest here.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // a loop that clang does not vectorise is no error
#else
#pragma GCC optimize("no-trapping-math", "no-math-errno")
#endif

#include "sim/exec.h"

// Registers are read with several types, also when source and destination are one register.
typedef u32 __attribute__((may_alias)) Cell32;
typedef u64 __attribute__((may_alias)) Cell64;
typedef f32 __attribute__((may_alias)) CellF32;
typedef f64 __attribute__((may_alias)) CellF64;
#define CELL_u8 Cell32
#define CELL_i8 Cell32
#define CELL_u16 Cell32
#define CELL_i16 Cell32
#define CELL_u32 Cell32
#define CELL_i32 Cell32
#define CELL_u64 Cell64
#define CELL_i64 Cell64
#define CELL_f32 CellF32
#define CELL_f64 CellF64

static const u32 lane_bit[LANES] __attribute__((unused, aligned(32))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

// d[l] = value in the lanes of `mask`; `value` sees l.
#define LANES_SET(mask, CELL, d, value)                                          \
    do {                                                                         \
        if (WL_LIKELY((mask) == FULL_MASK)) {                                    \
            SIM_VECTORIZE for (u32 l = 0; l < LANES; l++)(d)[l] = (CELL)(value); \
        } else {                                                                 \
            SIM_VECTORIZE for (u32 l = 0; l < LANES; l++) {                      \
                CELL old_ = (d)[l], new_ = (CELL)(value);                        \
                (d)[l] = lane_bit[l] & (mask) ? new_ : old_;                     \
            }                                                                    \
        }                                                                        \
    } while (0)

// The same, skipping inactive lanes.
#define LANES_EACH(mask, CELL, d, value)                 \
    do {                                                 \
        for (u32 l = 0; l < LANES; l++)                  \
            if ((mask) >> l & 1) (d)[l] = (CELL)(value); \
    } while (0)

// The lanes in which `condition` holds.
#define LANES_TEST(result, condition)                                                            \
    do {                                                                                         \
        (result) = 0;                                                                            \
        SIM_VECTORIZE for (u32 l = 0; l < LANES; l++)(result) |= (condition) ? lane_bit[l] : 0u; \
    } while (0)

#define MAP_DST_(D) CELL_##D *pd = exec_operand(x, in->dst)
#define MAP_SOURCE_(T, name, k) const CELL_##T *name = exec_operand(x, in->src[k])

#define MAP1_(LOOP, name, D, A, ...)                              \
    static inline D name##_lane(A a) { return (D)(__VA_ARGS__); } \
    static void name(Exec *x, const SimInsn *in, u32 mask) {      \
        MAP_DST_(D);                                              \
        MAP_SOURCE_(A, pa, 0);                                    \
        LOOP(mask, CELL_##D, pd, name##_lane((A)pa[l]));          \
    }
#define MAP2_(LOOP, name, D, A, B, ...)                                \
    static inline D name##_lane(A a, B b) { return (D)(__VA_ARGS__); } \
    static void name(Exec *x, const SimInsn *in, u32 mask) {           \
        MAP_DST_(D);                                                   \
        MAP_SOURCE_(A, pa, 0);                                         \
        MAP_SOURCE_(B, pb, 1);                                         \
        LOOP(mask, CELL_##D, pd, name##_lane((A)pa[l], (B)pb[l]));     \
    }
#define MAP3_(LOOP, name, D, A, B, C, ...)                                   \
    static inline D name##_lane(A a, B b, C c) { return (D)(__VA_ARGS__); }  \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                 \
        MAP_DST_(D);                                                         \
        MAP_SOURCE_(A, pa, 0);                                               \
        MAP_SOURCE_(B, pb, 1);                                               \
        MAP_SOURCE_(C, pc, 2);                                               \
        LOOP(mask, CELL_##D, pd, name##_lane((A)pa[l], (B)pb[l], (C)pc[l])); \
    }
#define MAP4_(LOOP, name, D, A, B, C, E, ...)                                          \
    static inline D name##_lane(A a, B b, C c, E e) { return (D)(__VA_ARGS__); }       \
    static void name(Exec *x, const SimInsn *in, u32 mask) {                           \
        MAP_DST_(D);                                                                   \
        MAP_SOURCE_(A, pa, 0);                                                         \
        MAP_SOURCE_(B, pb, 1);                                                         \
        MAP_SOURCE_(C, pc, 2);                                                         \
        MAP_SOURCE_(E, pe, 3);                                                         \
        LOOP(mask, CELL_##D, pd, name##_lane((A)pa[l], (B)pb[l], (C)pc[l], (E)pe[l])); \
    }

#define MAP1(name, D, A, ...) MAP1_(LANES_SET, name, D, A, __VA_ARGS__)
#define MAP2(name, D, A, B, ...) MAP2_(LANES_SET, name, D, A, B, __VA_ARGS__)
#define MAP3(name, D, A, B, C, ...) MAP3_(LANES_SET, name, D, A, B, C, __VA_ARGS__)
#define MAP4(name, D, A, B, C, E, ...) MAP4_(LANES_SET, name, D, A, B, C, E, __VA_ARGS__)
#define EACH1(name, D, A, ...) MAP1_(LANES_EACH, name, D, A, __VA_ARGS__)
#define EACH2(name, D, A, B, ...) MAP2_(LANES_EACH, name, D, A, B, __VA_ARGS__)
#define EACH3(name, D, A, B, C, ...) MAP3_(LANES_EACH, name, D, A, B, C, __VA_ARGS__)

// What selectors look at.
static inline u8 shape_type(const ExecShape *shape, u32 n) { return shape->form->types[n]; }
static inline u16 shape_mod(const ExecShape *shape, ModClass class) { return shape->form->mods[class]; }
static inline bool shape_has(const ExecShape *shape, ModClass class) {
    return shape->form->mods[class] != MOD_TOKEN_NONE;
}

#endif
