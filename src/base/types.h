// SPDX-License-Identifier: Apache-2.0
// Short names of the fixed-width types, and the few macros that every module uses.
#ifndef WL_BASE_TYPES_H
#define WL_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;

// The null of every 32-bit reference type (registers, symbols, strings, ...).
#define WL_NONE UINT32_MAX

#define WL_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WL_MUST_USE __attribute__((warn_unused_result))
#define WL_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define WL_LIKELY(x) __builtin_expect(!!(x), 1)
#define WL_UNLIKELY(x) __builtin_expect(!!(x), 0)

// A borrowed piece of text: not NUL-terminated, never owned.
typedef struct Str {
    const char *data;
    size_t len;
} Str;

#define STR(literal) ((Str){(literal), sizeof(literal) - 1})

static inline u32 u32_max(u32 a, u32 b) { return a > b ? a : b; }

// What a noun ends with, of so many: "1 byte", "2 bytes".
static inline const char *plural(u64 count) { return count == 1 ? "" : "s"; }

#endif
