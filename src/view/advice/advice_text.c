// SPDX-License-Identifier: Apache-2.0
// The ranked list, what limits the kernels, and what could not be told.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/shell.h"
#include "view/advice/advice_page.h"
#include "view/number.h"
#include "view/table.h"
#include "view/utf8.h"
#include "view/wrap.h"

// A tenth of so many samples is known to 13 % (binomial).
enum { FEW_SAMPLES = 500 };
enum { TEXT_TOP = 8, KERNELS_SHOWN = 5, LEAST_NAME = 12, LEAST_LIMIT = 24, LIST_INDENT = 32 };

// --- texts --------------------------------------------------------------------------------------------------------
static const char *kept(AdvicePage *page, const char *text) {
    if (!text) page->out->status = STATUS_NO_MEMORY;
    return text ? text : "";
}

const char *page_text(AdvicePage *page, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    char *text = size < 0 ? NULL : arena_alloc(&page->arena, (size_t)size + 1, 1);
    if (text) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    va_end(args);
    return kept(page, text);
}

const char *page_clean(AdvicePage *page, const char *raw) {
    return kept(page, utf8_clean(&page->arena, (Str){raw, strlen(raw)}, true));
}

const char *page_interval(AdvicePage *page, f64 value, f64 low, f64 high) {
    return page_text(page, "%sx (%s-%s)", advice_times(value).text, advice_times(low).text, advice_times(high).text);
}

const char *page_percent(AdvicePage *page, f64 part) {
    bool small = part > 0.0005 && part < 0.0995;
    return page_text(page, "%s %%", number_fixed(100 * part, small ? 1 : 0).text);
}

const char *page_limit(AdvicePage *page, const AdviceKernel *kernel) {
    return *kernel->limit ? page_clean(page, kernel->limit) : "not known";
}

void page_title(AdvicePage *page, const char *title) {
    output_printf(page->out, page->report->options.color ? "\033[1m%s\033[0m\n" : "%s\n", title);
}

void page_paragraph(AdvicePage *page, u32 indent, const char *text) {
    output_repeat(page->out, ' ', indent);
    wrap_text(page->out, text, indent, page->width);
}

// --- head ---------------------------------------------------------------------------------------------------------
static void item(AdvicePage *page, const char *name, const char *value) {
    if (*value) output_printf(page->out, "  %-11s %s\n", name, value);
}

static const char *time_text(AdvicePage *page) {
    const AdviceList *list = page->report->list;
    if (list->gpu_ns <= 0) return "";
    const char *kernels = page_text(page, "%s in kernels", number_time(list->kernel_ns).text);
    if (list->gpu_ns <= list->kernel_ns) return kernels;
    return page_text(page, "%s, %s in %llu %s", kernels, number_time(list->gpu_ns - list->kernel_ns).text,
                     (unsigned long long)list->copies, list->copies == 1 ? "copy" : "copies");
}

static void write_head(AdvicePage *page) {
    const AdviceReport *report = page->report;
    const char *path = report->options.path ? page_clean(page, report->options.path) : NULL;
    page_title(page, path ? page_text(page, "Advice for %s", path) : "Advice");
    item(page, "program", page_clean(page, report->summary.command));
    const char *provenance = report->list->provenance && *report->list->provenance ? report->list->provenance : NULL;
    const char *device = page_clean(page, report->summary.device);
    item(page, "device", provenance ? page_text(page, "%s (%s)", device, provenance) : device);
    item(page, "GPU time", time_text(page));
    item(page, "state", report->summary.complete ? "" : "cut off: the program was killed or is still running");
}

// --- list ---------------------------------------------------------------------------------------------------------
static const char *overlap_text(AdvicePage *page, const Advice *advice) {
    const Advice *other = advice_overlapped(page->report, advice);
    return other ? page_text(page, "; overlaps %u", advice_rank(page->report, other)) : "";
}

const char *page_tried(AdvicePage *page, const Advice *advice) {
    f64 tried = advice->estimate.tried;
    return tried > 0 ? page_text(page, "; tried: %sx", advice_times(tried).text) : "";
}

static void list_row(AdvicePage *page, const Advice *advice) {
    const AdviceEstimate *e = &advice->estimate;
    const char *place = kept(page, advice_place_text(page->report, advice_main_place(advice), true, &page->arena));
    output_printf(page->out, "%3u  %6s  %-17s  ", advice_rank(page->report, advice),
                  page_percent(page, advice_saved(e->program_speedup)),
                  page_interval(page, e->speedup, e->low, e->high));
    wrap_text(page->out, advice->what, LIST_INDENT, page->width);
    bool said = !*place || strstr(advice->what, place);
    page_paragraph(page, LIST_INDENT,
                   page_text(page, "%s%s%s; %s confidence%s%s", advice_name(page->report, advice->kernel)->brief,
                             said ? "" : ", ", said ? "" : place, advice_confidence_names[e->confidence],
                             page_tried(page, advice), overlap_text(page, advice)));
}

static void write_list(AdvicePage *page, u32 shown) {
    const AdviceList *list = page->report->list;
    output_text(page->out, "\n");
    page_title(page, "  #   saves  kernel becomes     what to change");
    for (u32 i = 0; i < shown; i++) list_row(page, &list->rows[i]);
    if (shown < list->count) output_printf(page->out, "     and %u more: --top %u\n", list->count - shown, list->count);
}

static bool looked_at_any(const AdviceList *list) {
    for (u32 i = 0; i < list->kernel_count; i++)
        if (*list->kernels[i].limit) return true;
    return false;
}

static bool all_of_libraries(const AdviceList *list) {
    for (u32 i = 0; i < list->kernel_count; i++)
        if (*list->kernels[i].limit && !list->kernels[i].of_library) return false;
    return list->kernel_count > 0;
}

static void write_nothing(AdvicePage *page) {
    const AdviceList *list = page->report->list;
    const char *words = "No rule found a change that is worth its while. What limits the kernels is below; "
                        "`warplens report` has every line's figures.";
    if (all_of_libraries(list))
        words = "No advice: the kernels are those of libraries. What limits them is below; `warplens report` has every "
                "line's figures.";
    if (!looked_at_any(list)) words = "No advice: no kernel could be analysed; what is missing is said below.";
    output_text(page->out, "\n");
    page_paragraph(page, 2, words);
}

// --- kernels ------------------------------------------------------------------------------------------------------
static void kernel_row(AdvicePage *page, Table *table, const AdviceKernel *kernel) {
    const ViewLaunches *launches = &kernel->view->launches;
    table_cell(table, page_percent(page, launches->share));
    table_cell(table, launches->total_ns > 0 ? page_text(page, "%s", number_time(launches->total_ns).text) : "-");
    table_cell(table, page_text(page, "%s", number_human(launches->count).text));
    table_cell(table, advice_name(page->report, kernel->view)->brief);
    table_cell(table, page_limit(page, kernel));
}

static void write_kernels(AdvicePage *page) {
    const AdviceList *list = page->report->list;
    u32 shown = list->kernel_count < KERNELS_SHOWN ? list->kernel_count : KERNELS_SHOWN;
    if (!shown) return;
    Table table = {0};
    output_text(page->out, "\n");
    table_column(&table, (TableColumn){.header = "share"});
    table_column(&table, (TableColumn){.header = "time", .importance = 2});
    table_column(&table, (TableColumn){.header = "calls", .importance = 3});
    table_column(&table, (TableColumn){.header = "kernel", .align = TABLE_LEFT_NAME, .least = LEAST_NAME});
    table_column(&table, (TableColumn){.header = "what limits it", .align = TABLE_LEFT_WRAP, .least = LEAST_LIMIT});
    for (u32 i = 0; i < shown; i++) kernel_row(page, &table, &list->kernels[i]);
    table_print(&table, page->out, page->width, page->report->options.color);
    table_free(&table);
    if (shown < list->kernel_count)
        output_printf(page->out, "  and %u more kernel%s\n", list->kernel_count - shown,
                      shown + 1 == list->kernel_count ? "" : "s");
}

static void write_notes(AdvicePage *page) {
    const AdviceList *list = page->report->list;
    for (u32 i = 0; i < list->note_count; i++) {
        output_text(page->out, i ? "  Note: " : "\n  Note: ");
        wrap_text(page->out, list->notes[i], 8, page->width);
    }
}

// Sampled kernels of which little was seen, and about which something is said all the same; in simulated ones every
// cycle was.
static void write_few_samples(AdvicePage *page) {
    const AdviceList *list = page->report->list;
    const char *names = "", *more = "";
    f64 shortest = 0;
    const GpuModel *gpu = NULL;
    for (u32 i = 0; i < list->kernel_count && i < KERNELS_SHOWN; i++) {
        const KernelView *view = list->kernels[i].view;
        if (view->basis != VIEW_SAMPLES || view->effective >= FEW_SAMPLES || !list->kernels[i].count) continue;
        names = page_text(page, "%s%s%s (%s)", names, *names ? ", " : "", advice_name(page->report, view)->brief,
                          number_human((f64)view->taken).text);
        f64 ns = view->launches.total_ns;
        if (!strcmp(view->provenance, "sampled") && ns > 0 && (shortest <= 0 || ns < shortest)) {
            shortest = ns;
            gpu = view->gpu;
        }
    }
    if (shortest > 0)
        more = page_text(page, ", or sample more often (`run --sampling-period 2^%u`)", advice_period(shortest, gpu));
    if (!*names) return;
    output_text(page->out, list->note_count ? "  Note: " : "\n  Note: ");
    wrap_text(page->out,
              page_text(page, "few samples of %s: what is said of it is rough; let the program launch it more often%s",
                        names, more),
              8, page->width);
}

static void write_changed(AdvicePage *page) {
    if (!page->sources.changed) return;
    output_text(page->out, "\n");
    page_paragraph(page, 2,
                   page_text(page, "Note: %s was changed after the run: its lines may be others now",
                             page_clean(page, page->sources.changed)));
}

static bool has_overlaps(const AdviceReport *report) {
    for (u32 i = 0; i < report->shown; i++)
        if (advice_overlapped(report, &report->list->rows[i])) return true;
    return false;
}

static void write_end(AdvicePage *page) {
    const AdviceReport *report = page->report;
    if (report->options.verbose || !report->list->count) return;
    const char *word = report->options.path ? shell_word(&page->arena, report->options.path) : "FILE";
    const char *path = word ? page_clean(page, word) : kept(page, NULL);
    output_text(page->out, "\n");
    if (has_overlaps(report)) page_paragraph(page, 2, "Savings of advice that overlaps do not add up.");
    page_paragraph(page, 2,
                   page_text(page, "`warplens advise --verbose %s` gives evidence, places and examples.", path));
}

Status advice_text(const AdviceReport *report, Output *out, Diag *diag) {
    (void)diag;
    AdvicePage page = {.report = report, .out = out, .width = report->options.width};
    page.sources.run_at = source_run_at(report->summary.created);
    AdviceReport limited = *report;
    if (!report->options.top && limited.shown > TEXT_TOP) limited.shown = TEXT_TOP;
    page.report = &limited;
    write_head(&page);
    if (report->list->count)
        write_list(&page, limited.shown);
    else
        write_nothing(&page);
    write_kernels(&page);
    if (report->options.verbose) advice_details(&page);
    write_notes(&page);
    write_few_samples(&page);
    write_changed(&page);
    write_end(&page);
    source_free(&page.sources);
    arena_free(&page.arena);
    return out->status;
}
