// SPDX-License-Identifier: Apache-2.0
// Problems found in input: a list that the caller owns and shows. Library code never prints.
#ifndef WL_BASE_DIAG_H
#define WL_BASE_DIAG_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

typedef enum DiagSeverity { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR } DiagSeverity;

typedef struct DiagEntry {
    DiagSeverity severity;
    const char *file;  // as the caller named it; NULL when there is none
    u32 line, column;  // from 1; 0 = not known
    u64 offset;        // byte offset in a binary file, UINT64_MAX = not known
    const char *text;
} DiagEntry;

typedef struct Diag {
    Arena arena;
    Vec(DiagEntry) entries;
    u32 errors;   // counted also past the limit
    u32 limit;    // entries kept at most; 0 = 50
    u32 dropped;  // entries past the limit
} Diag;

// Adding never fails: when memory is out the entry is dropped and counted. `diag` may be NULL.
void diag_text(Diag *diag, DiagSeverity severity, const char *file, u32 line, u32 column, const char *format, ...)
    WL_PRINTF(6, 7);
void diag_offset(Diag *diag, DiagSeverity severity, const char *file, u64 offset, const char *format, ...)
    WL_PRINTF(5, 6);

// "file:line:column: error: text" (or "file: at byte 0x1f: error: text"), NUL-terminated, cut at `size`; returns the
// full length.
size_t diag_format(const DiagEntry *entry, char *buffer, size_t size);
void diag_free(Diag *diag);

#endif
