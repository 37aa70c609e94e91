// SPDX-License-Identifier: Apache-2.0
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_LIMIT = 50 };

static char *format_text(Arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = len < 0 ? NULL : arena_alloc(arena, (size_t)len + 1, 1);
    if (text) vsnprintf(text, (size_t)len + 1, format, args);
    return text;
}

// Keeps its own copy of the file's name, which many entries share.
static bool own_file_name(Diag *diag, const char **file) {
    if (!*file) return true;
    if (diag->entries.len) {
        const char *last = diag->entries.data[diag->entries.len - 1].file;
        if (last && strcmp(last, *file) == 0) {
            *file = last;
            return true;
        }
    }
    *file = arena_copy_str(&diag->arena, (Str){*file, strlen(*file)});
    return *file != NULL;
}

static void add(Diag *diag, DiagEntry entry, const char *format, va_list args) {
    if (!diag) return;
    if (entry.severity == DIAG_ERROR) diag->errors++;
    u32 limit = diag->limit ? diag->limit : DEFAULT_LIMIT;
    bool kept = diag->entries.len < limit && own_file_name(diag, &entry.file) &&
                (entry.text = format_text(&diag->arena, format, args)) != NULL &&
                vec_push(&diag->entries, entry) == STATUS_OK;
    if (!kept) diag->dropped++;
}

void diag_text(Diag *diag, DiagSeverity severity, const char *file, u32 line, u32 column, const char *format, ...) {
    va_list args;
    va_start(args, format);
    DiagEntry entry = {.severity = severity, .file = file, .line = line, .column = column, .offset = UINT64_MAX};
    add(diag, entry, format, args);
    va_end(args);
}

void diag_offset(Diag *diag, DiagSeverity severity, const char *file, u64 offset, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(diag, (DiagEntry){.severity = severity, .file = file, .offset = offset}, format, args);
    va_end(args);
}

// "file:line:column: ", as much of it as is known.
static void format_place(const DiagEntry *entry, char *buffer, size_t size) {
    const char *file = entry->file ? entry->file : "";
    const char *colon = entry->file ? ":" : "";
    if (entry->line && entry->column) {
        snprintf(buffer, size, "%s%s%u:%u: ", file, colon, entry->line, entry->column);
    } else if (entry->line) {
        snprintf(buffer, size, "%s%s%u: ", file, colon, entry->line);
    } else if (entry->offset != UINT64_MAX) {
        snprintf(buffer, size, "%s%sat byte 0x%llx: ", file, entry->file ? ": " : "",
                 (unsigned long long)entry->offset);
    } else if (entry->file) {
        snprintf(buffer, size, "%s: ", file);
    }
}

size_t diag_format(const DiagEntry *entry, char *buffer, size_t size) {
    static const char *const severities[] = {"note", "warning", "error"};
    char place[4096] = "";  // paths are at most PATH_MAX; a longer one is cut
    format_place(entry, place, sizeof place);
    int len = snprintf(buffer, size, "%s%s: %s", place, severities[entry->severity], entry->text);
    return len < 0 ? 0 : (size_t)len;
}

void diag_free(Diag *diag) {
    vec_free(&diag->entries);
    arena_free(&diag->arena);
    *diag = (Diag){.limit = diag->limit};
}
