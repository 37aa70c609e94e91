// SPDX-License-Identifier: Apache-2.0
// `warplens advise`: an AdviceList as text for a terminal, JSON or SARIF. One row of advice_exporters.def per format.
#ifndef WL_VIEW_ADVICE_REPORT_H
#define WL_VIEW_ADVICE_REPORT_H

#include "analyze/advice/advice.h"
#include "view/output.h"

typedef struct AdviceReportOptions {
    u32 width;     // of the terminal in columns; 0 = as wide as it gets
    bool color;    // only when the output is a terminal
    bool verbose;  // text: evidence, hot spots, examples
    u32 top;       // pieces of advice at most, the best ones; 0 = text 8, JSON and SARIF all
    // The readable form of a mangled name, "void ns::f<4>(int*)"; the result is read before the next call. NULL = as it
    // is.
    const char *(*demangle)(void *context, const char *mangled);
    void *demangle_context;
    const char *path;  // of the profile, for headings; may be NULL
    // The folder that relative locations are relative to: files below it are named without it. NULL: all are named as
    // the profile has them.
    const char *root;
    bool alone;  // brief: nothing more is to be seen of the profile
} AdviceReportOptions;

typedef struct AdviceReport AdviceReport;

typedef struct AdviceExporter {
    const char *name;  // "json"
    const char *text;  // one line for help texts
    Status (*write)(const AdviceReport *report, Output *out, Diag *diag);
} AdviceExporter;
extern const AdviceExporter advice_exporter_table[];
extern const u32 advice_exporter_count;
const AdviceExporter *advice_exporter_find(const char *name);  // NULL when unknown

// `list` was made of `profile`. STATUS_IO when the output fails. `options` NULL = defaults.
WL_MUST_USE Status advice_report_write(Profile *profile, const AdviceList *list, const AdviceExporter *exporter,
                                       const AdviceReportOptions *options, Output *out, Diag *diag);

// The three best pieces of advice in a few lines, each beginning with `prefix`; where there is none, what limits the
// kernel with the most time; nothing at all where nothing was sampled.
WL_MUST_USE Status advice_report_brief(Profile *profile, const AdviceList *list, const AdviceReportOptions *options,
                                       const char *prefix, Output *out, Diag *diag);

// All rules: their names, titles and how they did on known pairs; as text, or JSON (schema warplens-advice-rules/1).
WL_MUST_USE Status advice_rules_write(const AdviceReportOptions *options, bool json, Output *out);

#endif
