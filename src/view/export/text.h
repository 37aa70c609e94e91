// SPDX-License-Identifier: Apache-2.0
// The text report in the making, shared by the files that write its sections.
#ifndef WL_VIEW_EXPORT_TEXT_H
#define WL_VIEW_EXPORT_TEXT_H

#include "view/number.h"
#include "view/report_data.h"
#include "view/source_text.h"
#include "view/table.h"

enum { MAX_COLUMNS = 64, KERNELS_WITH_LINES = 10 };

typedef struct Text {
    const Report *report;
    Output *out;
    Arena arena;  // of the cells
    Formula columns[MAX_COLUMNS];
    SourceTexts sources;
    u32 hidden;  // columns dropped because the terminal is narrow
    bool begun;  // something stands above
} Text;

// Which rows of columns.def a table shows: those that are not 0 everywhere.
typedef struct TextColumns {
    bool shown[MAX_COLUMNS];
} TextColumns;

void text_note_columns(const Text *text, TextColumns *set, const MetricSet *metrics);
// `which`: 'K' kernels, 'L' lines.
void text_figure_columns(Table *table, const TextColumns *set, char which);
void text_figure_cells(Text *text, Table *table, const TextColumns *set, char which, const MetricSet *metrics);

// Texts in the arena; NULL when memory is out.
const char *text_clean(Text *text, const char *raw);
// The name of a kernel for tables. Those of generated kernels can be longer than any line: their ends tell them apart.
const char *text_kernel(Text *text, const ReportKernel *kernel);
// ... in a line of which `others` columns are taken; where those leave too little, the line will be too long.
const char *text_kernel_beside(Text *text, const ReportKernel *kernel, u32 others);
const char *text_keep(Text *text, NumberText number);
const char *text_shape(Text *text, const u32 *dims);                    // "8x8"
const char *text_launch_shape(Text *text, const ReportKernel *kernel);  // "64 x 256", "various", "-"
// The source line of `line`, without its indentation; empty when it cannot be had.
const char *text_code(Text *text, const ReportKernel *kernel, const ProfileLine *line);
// A file of the kernel's, without its folder where that leaves no doubt; NULL: "PTX".
const char *text_file(const ReportKernel *kernel, const char *file);
// Some builds call the folder they run in /proc/self/cwd; without that.
const char *text_path(const char *file);
// "41", or "a.cu:41"; `file` NULL: a line of the PTX.
const char *text_place(Text *text, const ReportKernel *kernel, const char *file, u32 number, bool with_file);
bool text_same_file(const char *a, const char *b);
// "data loaded at line 41"; empty when the cause is not known or the reason has none.
const char *text_cause(Text *text, const ReportKernel *kernel, const ReportStall *stall);
void text_heading(Text *text, const char *title);
u32 text_width(const Text *text);  // of the terminal, 0 = no limit

// text_timing.c, text_samples.c, text_launches.c: sections. In the whole report only kernels that were timed are
// mentioned.
void text_timing(Text *text);
void text_stalls(Text *text);
void text_samples(Text *text);
void text_launches(Text *text);
Status text_timelines(Text *text, Diag *diag);
Status text_run_curves(Text *text, bool brief, Diag *diag);  // of the whole run; on a GPU only

#endif
