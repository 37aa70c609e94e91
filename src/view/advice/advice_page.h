// SPDX-License-Identifier: Apache-2.0
// The advice for a terminal in the making, shared by the files that write its parts.
#ifndef WL_VIEW_ADVICE_PAGE_H
#define WL_VIEW_ADVICE_PAGE_H

#include "view/advice/advice_data.h"

typedef struct AdvicePage {
    const AdviceReport *report;
    Output *out;
    Arena arena;  // of the texts
    SourceTexts sources;
    u32 width;  // 0 = no limit
} AdvicePage;

// Texts in the page's arena; "" and a sticky STATUS_NO_MEMORY when memory is out.
const char *page_text(AdvicePage *page, const char *format, ...) WL_PRINTF(2, 3);
const char *page_clean(AdvicePage *page, const char *raw);
// "1.31x (1.12-1.52)"
const char *page_interval(AdvicePage *page, f64 value, f64 low, f64 high);
const char *page_tried(AdvicePage *page, const Advice *advice);  // "; tried: 1.42x", or ""
const char *page_limit(AdvicePage *page, const AdviceKernel *kernel);
const char *page_percent(AdvicePage *page, f64 part);  // "24 %", "5.1 %"
void page_title(AdvicePage *page, const char *title);  // bold where there are colours
void page_paragraph(AdvicePage *page, u32 indent, const char *text);

// Evidence, hot spots and examples of what the list shows, kernel by kernel.
void advice_details(AdvicePage *page);

#endif
