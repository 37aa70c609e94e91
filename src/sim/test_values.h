// SPDX-License-Identifier: Apache-2.0
// Operands for tests of instructions, and for the programs that ask a GPU about the same ones: special values, and
// random ones of every size. What a seed gives must not change: hashes of a GPU's results depend on it.
#ifndef WL_SIM_TEST_VALUES_H
#define WL_SIM_TEST_VALUES_H

#include <string.h>

#include "base/types.h"

// splitmix64
static inline u64 value_random(u64 *state) {
    u64 z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
// A state that depends on the characters of `text`.
static inline u64 value_seed(u64 seed, const char *text) {
    for (const char *p = text; *p; p++) seed = seed * 31 + (u8)*p;
    return seed;
}
static inline u32 value_f32_bits(f32 v) {
    u32 bits;
    return memcpy(&bits, &v, 4), bits;
}
static inline u64 value_f64_bits(f64 v) {
    u64 bits;
    return memcpy(&bits, &v, 8), bits;
}

static inline u64 value_f32(u64 *state) {
    static const u32 special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc12345, 0x7f812345, 0x7fffffff, 1,          0x80000001, 0x007fffff, 0x807fffff,
                                  0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x3fc00000, 0xc0200000,
                                  0x4b000000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x5f000000, 0xdf000000,
                                  0x5f800000, 0x33800000, 0x3effffff, 0x42fe0000, 0xc2fe0000, 0x7e800000, 0x7f000000};
    u64 r = value_random(state);
    switch (r >> 60) {
    case 0:
    case 1:
    case 2: return special[r % WL_COUNT(special)];
    case 3:
    case 4:
    case 5:
    case 6: return (u32)r;
    case 7: return (u32)r & 0x80ffffff;
    case 8: return value_f32_bits((f32)((i64)(r & 0xffff) - 32768) * 0.5f);
    case 9: return value_f32_bits((f32)(i32)r);
    default: return value_f32_bits((f32)((f64)(i64)(r << 4) * 0x1p-61));
    }
}
static inline u64 value_f64(u64 *state) {
    static const u64 special[] = {0,
                                  0x8000000000000000,
                                  0x3ff0000000000000,
                                  0xbff0000000000000,
                                  0x7ff0000000000000,
                                  0xfff0000000000000,
                                  0x7ff8000000000000,
                                  0xfff8000012345678,
                                  0x7ff0123456789abc,
                                  0x7fffffffffffffff,
                                  1,
                                  0x8000000000000001,
                                  0x000fffffffffffff,
                                  0x0010000000000000,
                                  0x8010000000000000,
                                  0x7fefffffffffffff,
                                  0x3fe0000000000000,
                                  0x3ff8000000000000,
                                  0x4330000000000000,
                                  0x41e0000000000000,
                                  0xc1e0000000000000,
                                  0x41efffffffe00000,
                                  0x43e0000000000000,
                                  0xc3e0000000000000,
                                  0x43f0000000000000,
                                  0x380fffffffffffff,
                                  0x47efffffefffffff};
    u64 r = value_random(state);
    switch (r >> 60) {
    case 0:
    case 1:
    case 2: return special[r % WL_COUNT(special)];
    case 3:
    case 4:
    case 5:
    case 6: return r << 4 ^ r >> 40;
    case 7: return value_f64_bits((f64)((i64)(r & 0xffff) - 32768) * 0.5);
    case 8: return value_f64_bits((f64)(i32)r + 0.5);
    case 9: return (r & 0x800fffffffffffff) | (0x369 + (r >> 52 & 0xff)) << 52;  // around f32's subnormals
    default: return value_f64_bits((f64)(i64)(r << 4) * 0x1p-61);
    }
}
static inline u64 value_int(u64 *state, u32 bits) {
    u64 r = value_random(state), mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    switch (r >> 60) {
    case 0: return r & 3;
    case 1: return (0 - (r & 3)) & mask;
    case 2: return 1ull << (bits - 1) & mask;
    case 3: return mask >> 1;
    default: return value_random(state) >> (r & 63) & mask;
    }
}
// Kinds that need one random number: a amount 0..255, mostly below 72, u 0..31, A -10..9, k shfl's clamp and mask, q
// predicate; 0 for others.
static inline u64 value_small(char kind, u64 r) {
    switch (kind) {
    case 'a': return r >> 60 ? r % 72 : r & 0xff;
    case 'A': return (u32)((i32)(r % 20) - 10);
    case 'u': return r & 31;
    case 'k': return (r & 31) | (r >> 8 & 1 ? 0x1f : 0) | (r >> 16 & 31) << 8;
    case 'q': return r >> 63;
    default: return 0;
    }
}

// FNV-1a over words, with the upper bits folded down.
#define VALUE_HASH_START 0xcbf29ce484222325ull
static inline u64 value_hash(u64 hash, u64 word) {
    hash = (hash ^ word) * 0x100000001b3ull;
    return hash ^ hash >> 29;
}

#endif
