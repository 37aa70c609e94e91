// SPDX-License-Identifier: Apache-2.0
// What a report says about time: why warps waited, by line and cause, and what holds a kernel back.
#ifndef WL_VIEW_REPORT_TIMING_H
#define WL_VIEW_REPORT_TIMING_H

#include "view/report_data.h"

typedef struct StallText {
    MetricId metric;  // warp cycles
    const char *name, *cause, *meaning;
} StallText;
extern const StallText stall_texts[];
extern const u32 stall_text_count;
const StallText *stall_text_find(const char *name);  // NULL when unknown

// What stands before the line of the cause, an instruction of this BlameClass: "data loaded at", "the call at".
const char *stall_cause_words(const StallText *reason, u32 class);

// The reason with the most warp cycles; NULL when there are none.
const StallText *stall_text_main(const MetricSet *metrics);

// Why the kernel is not faster, in a few words: what advice says of it too (analyze/limit.h). NULL when it was not
// timed, or memory is out.
const char *timing_limit(const ReportKernel *kernel, Arena *arena);

#endif
