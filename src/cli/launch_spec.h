// SPDX-License-Identifier: Apache-2.0
// The launch file of `warplens sim`: which kernels run on which data, and what must come out (docs/launch-files.md).
#ifndef WL_CLI_LAUNCH_SPEC_H
#define WL_CLI_LAUNCH_SPEC_H

#include "base/diag.h"
#include "base/vec.h"

// clang-format off
#define SPEC_TYPES(X)                                                                       \
    X(U8, "u8", u8) X(S8, "s8", i8) X(U16, "u16", u16) X(S16, "s16", i16)                   \
    X(U32, "u32", u32) X(S32, "s32", i32) X(U64, "u64", u64) X(S64, "s64", i64)             \
    X(F32, "f32", f32) X(F64, "f64", f64) X(F16, "f16", u16)
// clang-format on

typedef enum SpecType {
#define X(id, name, c) SPEC_##id,
    SPEC_TYPES(X)
#undef X
        SPEC_TYPE_COUNT
} SpecType;

typedef enum SpecInit { SPEC_ZERO, SPEC_FILL, SPEC_IOTA, SPEC_LCG, SPEC_CONTENT } SpecInit;

typedef struct SpecBuffer {
    const char *name;
    u8 type;         // SpecType
    u64 count;       // elements
    u64 written;     // of these, from the first on; the others are left as allocated (for the checker)
    u8 init;         // SpecInit: what the elements are at first
    u64 bits;        // SPEC_FILL: the element's bytes
    f64 first, add;  // SPEC_IOTA
    u32 seed;        // SPEC_LCG
    u64 modulus;
    u8 *content;  // SPEC_CONTENT: count * size bytes, on the heap
} SpecBuffer;

typedef struct SpecParam {
    u32 buffer;  // index, WL_NONE for a scalar
    u8 type;
    u64 bits;  // scalar: the value's bytes
} SpecParam;

typedef struct SpecLaunch {
    const char *kernel;
    u32 grid[3], block[3];
    u32 cluster[3];  // 0 = none asked for
    u32 shared;
    bool cooperative;
    u32 params, param_count;  // LaunchSpec.params
    u32 line;
} SpecLaunch;

typedef struct SpecExpect {
    u32 buffer;
    u64 first;
    u64 count;
    const f64 *values;  // for floats
    const u64 *bits;    // for integers: the element's bytes
    f64 tolerance;      // absolute; 0 = exact
    u32 line;
} SpecExpect;

typedef struct LaunchSpec {
    Arena arena;
    Vec(SpecBuffer) buffers;
    Vec(SpecParam) params;
    Vec(SpecLaunch) launches;
    Vec(SpecExpect) expects;
} LaunchSpec;

WL_MUST_USE Status launch_spec_read(const char *path, LaunchSpec *spec, Diag *diag);
// The same for text in memory; `path` names it in messages, and files that it names are looked for beside it.
WL_MUST_USE Status launch_spec_parse(const char *path, Str content, LaunchSpec *spec, Diag *diag);
void launch_spec_free(LaunchSpec *spec);
u32 spec_type_size(u8 type);
bool spec_is_float(u8 type);
u64 spec_float_bits(u8 type, f64 value);  // a number as the bytes of a type of floats
// Initial content of the elements first .. first + count - 1, whose memory begins at `to` and is zero.
void spec_fill(const SpecBuffer *buffer, u64 first, u64 count, u8 *to);
f64 spec_element(u8 type, const u8 *data, u64 index);  // as a number, for messages and float comparison

#endif
