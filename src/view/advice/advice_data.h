// SPDX-License-Identifier: Apache-2.0
// What the formats of advice share: the list with readable names and places. Texts are valid UTF-8 of one line and live
// as long as the report, or in the arena given.
#ifndef WL_VIEW_ADVICE_DATA_H
#define WL_VIEW_ADVICE_DATA_H

#include "view/advice/advice_report.h"
#include "view/number.h"
#include "view/source_text.h"

typedef struct AdviceName {
    const KernelView *view;
    const char *name;       // without parameters
    const char *brief;      // ... and at most 40 characters
    const char *signature;  // demangled
    const char *mangled;
} AdviceName;

struct AdviceReport {
    Profile *profile;
    const AdviceList *list;  // what, caution, facts and notes are readable and valid UTF-8 here
    AdviceReportOptions options;
    ProfileSummary summary;
    const AdviceName *names;
    u32 name_count;
    u32 shown;  // of list->rows, from the first
};

// Of a kernel or device function of the list.
const AdviceName *advice_name(const AdviceReport *report, const KernelView *view);

// Where the file of a place is seen from the root: "src/nbody.cu"; as the profile has it when it lies elsewhere.
const char *advice_path(const AdviceReport *report, const char *file, Arena *arena);
// "nbody.cu:41", "PTX line 12"; "" when not known. `base`: without the folder. NULL when memory is out.
const char *advice_place_text(const AdviceReport *report, const ProfilePlace *place, bool base, Arena *arena);
// The place to look at first: that of the scope when it is a loop or a line, else the hottest; NULL when not known.
const ProfilePlace *advice_main_place(const Advice *advice);
// The source line without its indentation; "" when it cannot be had.
const char *advice_code(const AdviceReport *report, SourceTexts *sources, const KernelView *view,
                        const ProfilePlace *place, Arena *arena);

// The first of the advice before this one whose gain cannot be added to its own; NULL when there is none.
const Advice *advice_overlapped(const AdviceReport *report, const Advice *advice);
u32 advice_rank(const AdviceReport *report, const Advice *advice);  // from 1

// Part of all kernels' time that goes away when the program becomes `speedup` times as fast, 0..1.
f64 advice_saved(f64 speedup);
NumberText advice_times(f64 speedup);  // "1.23" of 1.23x; about three digits

extern const char *const advice_kind_names[3];   // "eliminate", ...
extern const char *const advice_place_names[4];  // "kernel", ...

Status advice_text(const AdviceReport *report, Output *out, Diag *diag);
Status advice_json(const AdviceReport *report, Output *out, Diag *diag);
Status advice_sarif(const AdviceReport *report, Output *out, Diag *diag);

#endif
