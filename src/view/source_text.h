// SPDX-License-Identifier: Apache-2.0
// Single lines of source files and module texts, for showing beside figures. Files are looked for where the line table
// says and then by ever shorter ends of that path below the current folder. A zeroed SourceTexts is empty and ready.
#ifndef WL_VIEW_SOURCE_TEXT_H
#define WL_VIEW_SOURCE_TEXT_H

#include "base/arena.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/vec.h"
#include "store/store.h"

typedef struct SourceText {
    Str text;         // empty when it cannot be read
    FileData file;    // its owner; zero for a module's text
    Vec(u32) starts;  // offset of each line
} SourceText;

typedef struct SourceTexts {
    Intern names;  // "file PATH" and "module ID", by position in texts
    Vec(SourceText) texts;
    const char *missing;  // the first file that was not found, as the caller named it
    bool any;             // file that was found
    i64 run_at;           // when the program ran, seconds since 1970; 0: not known
    const char *changed;  // the first file that was changed since, as the caller named it
} SourceTexts;

// Where a file of the line table is, seen from the current folder; NULL when it is not found. Part of `path`.
const char *source_find(const char *path);
// When a run was, as ProfileSummary.created has it; 0: not known.
i64 source_run_at(const char *created);
// The line (from 1) without its end and the blanks around it; empty when it cannot be had.
Str source_line(SourceTexts *sources, const char *path, u32 line);
Str source_module_line(SourceTexts *sources, Profile *profile, u32 module, u32 line);
// A file to tell of when no source could be shown at all, so that somebody wonders; NULL when there is none.
const char *source_missing(const SourceTexts *sources);
void source_free(SourceTexts *sources);

#endif
