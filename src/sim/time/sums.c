// SPDX-License-Identifier: Apache-2.0
// Each function twice where the host may have AVX2: for that, and for any of them, where a Four is two registers.
#include "sim/time/sums.h"

#include <string.h>

typedef u64 Four __attribute__((vector_size(4 * sizeof(u64)), aligned(sizeof(u64)), may_alias));
enum { FOUR = sizeof(Four) / sizeof(u64), AT_ONCE = 4 };  // at once: of several rows, in the host's registers

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void add(u64 *restrict to, const u64 *restrict from, u32 count) {
    u32 i = 0;
    _Pragma("GCC unroll 4") for (; i + FOUR <= count; i += FOUR) * (Four *)(to + i) += *(const Four *)(from + i);
    for (; i < count; i++) to[i] += from[i];
}

ALWAYS u64 all(const u64 *values, u32 count) {
    Four some = {0};
    u32 i = 0;
    _Pragma("GCC unroll 4") for (; i + FOUR <= count; i += FOUR) some += *(const Four *)(values + i);
    u64 sum = some[0] + some[1] + some[2] + some[3];
    for (; i < count; i++) sum += values[i];
    return sum;
}

ALWAYS u64 bits(const u64 *values, u32 count) {
    Four some = {0};
    u32 i = 0;
    _Pragma("GCC unroll 4") for (; i + FOUR <= count; i += FOUR) some |= *(const Four *)(values + i);
    u64 any = some[0] | some[1] | some[2] | some[3];
    for (; i < count; i++) any |= values[i];
    return any;
}

ALWAYS void note(u64 *restrict to, const u64 *restrict now, u64 *restrict base, u32 count) {
    u32 i = 0;
    _Pragma("GCC unroll 4") for (; i + FOUR <= count; i += FOUR) {
        Four some = *(const Four *)(now + i);
        *(Four *)(to + i) = some - *(const Four *)(base + i);
        *(Four *)(base + i) = some;
    }
    for (; i < count; i++) to[i] = now[i] - base[i], base[i] = now[i];
}

ALWAYS void sum_rows(u64 *restrict to, const u64 *const *rows, u32 row_count, u32 count) {
    u32 from = 0;
    for (; from + AT_ONCE * FOUR <= count; from += AT_ONCE * FOUR) {
        Four some[AT_ONCE] = {{0}};
        for (u32 row = 0; row < row_count; row++)
            for (u32 i = 0; i < AT_ONCE; i++) some[i] += *(const Four *)(rows[row] + from + i * FOUR);
        memcpy(to + from, some, sizeof some);
    }
    memset(to + from, 0, sizeof *to * (count - from));
    for (u32 row = 0; row < row_count; row++) add(to + from, rows[row] + from, count - from);
}

#if SIM_HAS_V3
#define WIDE static __attribute__((target("avx2")))
WIDE void add_wide(u64 *to, const u64 *from, u32 count) { add(to, from, count); }
WIDE u64 all_wide(const u64 *values, u32 count) { return all(values, count); }
WIDE u64 bits_wide(const u64 *values, u32 count) { return bits(values, count); }
WIDE void note_wide(u64 *to, const u64 *now, u64 *base, u32 count) { note(to, now, base, count); }
WIDE void sum_rows_wide(u64 *to, const u64 *const *rows, u32 row_count, u32 count) {
    sum_rows(to, rows, row_count, count);
}
#define EITHER(function, ...) (__builtin_cpu_supports("avx2") ? function##_wide(__VA_ARGS__) : function(__VA_ARGS__))
#else
#define EITHER(function, ...) function(__VA_ARGS__)
#endif

void sums_add(u64 *restrict to, const u64 *restrict from, u32 count) { EITHER(add, to, from, count); }

u64 sums_all(const u64 *values, u32 count) { return EITHER(all, values, count); }
u64 sums_bits(const u64 *values, u32 count) { return EITHER(bits, values, count); }

void sums_note(u64 *restrict to, const u64 *restrict now, u64 *restrict base, u32 count) {
    EITHER(note, to, now, base, count);
}

void sums_rows(u64 *restrict to, const u64 *const *rows, u32 row_count, u32 count) {
    EITHER(sum_rows, to, rows, row_count, count);
}
