// SPDX-License-Identifier: Apache-2.0
// Elements of buffers: what they are at first, and what they are as numbers.
#include <math.h>
#include <string.h>

#include "cli/launch_spec.h"
#include "sim/exec/half.h"

static const u8 sizes[] = {
#define X(id, name, c) sizeof(c),
    SPEC_TYPES(X)
#undef X
};

u32 spec_type_size(u8 type) { return sizes[type]; }

bool spec_is_float(u8 type) { return type == SPEC_F32 || type == SPEC_F64 || type == SPEC_F16; }

f64 spec_element(u8 type, const u8 *data, u64 index) {
    const u8 *at = data + index * sizes[type];
    switch (type) {
#define X(id, name, c)                                                      \
    case SPEC_##id: {                                                       \
        c value;                                                            \
        memcpy(&value, at, sizeof value);                                   \
        return SPEC_##id == SPEC_F16 ? f16_to_f32((u16)value) : (f64)value; \
    }
        SPEC_TYPES(X)
#undef X
    default: return 0;
    }
}

u64 spec_float_bits(u8 type, f64 value) {
    u64 bits = 0;
    f32 narrow = (f32)value;
    if (type == SPEC_F64)
        memcpy(&bits, &value, 8);
    else if (type == SPEC_F32)
        memcpy(&bits, &narrow, 4);
    else
        bits = (u16)f16_of_f64(value);
    return bits;
}

static inline void put(u8 *to, u32 size, u64 i, u64 bits) {
    if (size == 4)  // most of them: no call
        memcpy(to + i * 4, &bits, 4);
    else
        memcpy(to + i * size, &bits, size);
}

// A number of a sequence; one that an integer type cannot hold leaves the element as it is.
static void put_number(u8 type, u8 *to, u64 i, f64 value) {
    u32 size = sizes[type], width = size * 8;
    if (spec_is_float(type)) return put(to, size, i, spec_float_bits(type, value));
    bool is_signed = type == SPEC_S8 || type == SPEC_S16 || type == SPEC_S32 || type == SPEC_S64;
    f64 whole = nearbyint(value), limit = ldexp(1, (int)(is_signed ? width - 1 : width));
    if (!(whole < limit) || whole < (is_signed ? -limit : 0)) return;
    put(to, size, i, whole < 0 ? (u64)(i64)whole : (u64)whole);
}

static void fill_iota(const SpecBuffer *b, u64 first, u64 count, u8 *to) {
    f64 base = (f64)first;
    if (b->type == SPEC_F32 && count <= INT32_MAX) {  // most of them
        f32 *data = (f32 *)(void *)to;
        for (i32 i = 0; i < (i32)count; i++) data[i] = (f32)(b->first + (base + i) * b->add);
        return;
    }
    for (u64 i = 0; i < count; i++) put_number(b->type, to, i, b->first + (base + (f64)i) * b->add);
}

// The generator of the examples: x = x * 1664525 + 1013904223, element (x >> 8) % modulus.
enum { LCG_TIMES = 1664525, LCG_ADD = 1013904223 };

// The state after `steps` steps: a step is squared, 2^k steps are again one multiplication and one addition.
static u32 lcg_skip(u32 x, u64 steps) {
    u32 times = LCG_TIMES, add = LCG_ADD;
    for (; steps; steps >>= 1) {
        if (steps & 1) x = x * times + add;
        add *= times + 1;
        times *= times;
    }
    return x;
}

static void fill_lcg(const SpecBuffer *b, u64 first, u64 count, u8 *to) {
    u32 x = lcg_skip(b->seed, first);
    for (u64 i = 0; i < count; i++) {
        x = x * LCG_TIMES + LCG_ADD;
        put_number(b->type, to, i, (f64)((x >> 8) % b->modulus));
    }
}

void spec_fill(const SpecBuffer *b, u64 first, u64 count, u8 *to) {
    u32 size = sizes[b->type];
    switch ((SpecInit)b->init) {
    case SPEC_ZERO: break;
    case SPEC_FILL:
        for (u64 i = 0; i < count; i++) put(to, size, i, b->bits);
        break;
    case SPEC_IOTA: fill_iota(b, first, count, to); break;
    case SPEC_LCG: fill_lcg(b, first, count, to); break;
    case SPEC_CONTENT: memcpy(to, b->content + first * size, count * size); break;
    }
}
