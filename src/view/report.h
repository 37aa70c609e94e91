// SPDX-License-Identifier: Apache-2.0
// `warplens report`: a profile as text for a terminal, JSON or CSV. One row of exporters.def per format, one of
// sections.def per section, one of columns.def per column of the text tables.
#ifndef WL_VIEW_REPORT_H
#define WL_VIEW_REPORT_H

#include "store/store.h"
#include "view/output.h"

typedef enum ReportSection {
    REPORT_DEFAULT,  // text: summary, kernels and lines; csv: kernels; json: everything
#define SECTION(id, name, text) REPORT_##id,
#include "view/sections.def"
#undef SECTION
    REPORT_SECTION_COUNT
} ReportSection;

// "summary" -> REPORT_SUMMARY; REPORT_SECTION_COUNT when unknown.
ReportSection report_section(const char *name);

typedef struct ReportOptions {
    ReportSection section;
    u32 width;         // of the terminal in columns; 0 = as wide as it gets
    bool color;        // only when the output is a terminal
    bool ascii;        // no characters beyond ASCII in what the report itself says
    bool units;        // timelines of every unit in JSON and CSV, not of the whole GPU only
    u32 lines;         // lines shown per kernel in the text, 0 = 20; JSON and CSV have all
    const char *sort;  // a metric's name or a column's ("warp", "branch", ...); NULL or "time": kernels by their
                       // time where it is known, else thread instructions; lines by warp instructions
    const char *kernel_regex;  // POSIX extended; kernels whose plain, full or mangled name contains a match. NULL = all
    // The readable form of a mangled name, "void ns::f<4>(int*)"; the result is read before the next call. NULL = as it
    // is.
    const char *(*demangle)(void *context, const char *mangled);
    void *demangle_context;
    const char *gpu_folder;  // with the .gpu files, for what samples are blamed on; may be NULL
    const char *path;        // of the profile, for the summary; may be NULL
} ReportOptions;

typedef struct Report Report;

typedef struct Exporter {
    const char *name;       // "json"
    const char *extension;  // "json"
    const char *text;       // one line for help texts
    Status (*write)(const Report *report, Output *out, Diag *diag);
} Exporter;

extern const Exporter exporter_table[];
extern const u32 exporter_count;
const Exporter *exporter_find(const char *name);  // NULL when unknown

// STATUS_INVALID with a diag for a bad regex or sort column, STATUS_IO when the output fails. `options` NULL =
// defaults.
WL_MUST_USE Status report_write(Profile *profile, const Exporter *exporter, const ReportOptions *options, Output *out,
                                Diag *diag);

#endif
