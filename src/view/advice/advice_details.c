// SPDX-License-Identifier: Apache-2.0
// All that is known of each piece of advice, kernel by kernel.
#include <string.h>

#include "view/advice/advice_page.h"
#include "view/advice/advice_stack.h"
#include "view/number.h"
#include "view/report_timing.h"
#include "view/table.h"
#include "view/wrap.h"

#define LEAST_SHARE 0.005  // places with less are not worth a line of the screen
enum { LABEL = 11, BODY = 5 + LABEL, LEAST_PLACE = 14, LEAST_CODE = 16, LEAST_CAUSE = 24, FRAMES_SHOWN = 4 };

static void label(AdvicePage *page, const char *name) { output_printf(page->out, "     %-*s", LABEL, name); }

static void field(AdvicePage *page, const char *name, const char *text) {
    if (!*text) return;
    label(page, name);
    wrap_text(page->out, text, BODY, page->width);
}

static const char *place_of(AdvicePage *page, const ProfilePlace *place) {
    const char *text = advice_place_text(page->report, place, false, &page->arena);
    if (!text) page->out->status = STATUS_NO_MEMORY;
    return text ? text : "";
}

static const char *base_place(AdvicePage *page, const ProfilePlace *place) {
    const char *text = advice_place_text(page->report, place, true, &page->arena);
    if (!text) page->out->status = STATUS_NO_MEMORY;
    return text ? text : "";
}

// --- where --------------------------------------------------------------------------------------------------------
// "kernel nbody > function force > loop at nbody.cu:41"
static const char *scope_text(AdvicePage *page, const Advice *advice) {
    const AdvicePlace *scope = &advice->scope;
    const char *text = page_text(page, "kernel %s", advice_name(page->report, advice->kernel)->brief);
    if (scope->view && scope->view != advice->kernel)
        text = page_text(page, "%s > function %s", text, advice_name(page->report, scope->view)->brief);
    const char *place = place_of(page, scope->line);
    if (scope->kind == PLACE_LOOP)
        text = page_text(page, "%s > %s%s%s", text, advice_place_names[scope->kind], *place ? " at " : "", place);
    else if (scope->kind == PLACE_LINE && *place)
        text = page_text(page, "%s > %s %s", text, advice_place_names[scope->kind], place);
    else if (*place)
        text = page_text(page, "%s, %s", text, place);
    return text;
}

static bool same_file(const ProfilePlace *a, const ProfilePlace *b) {
    return a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0);
}

// "data loaded at line 42"; "" when the cause is not known or the line itself is.
static const char *cause_text(AdvicePage *page, const AdvicePlace *place) {
    const ProfilePlace *cause = place->cause_line, *line = place->line;
    if (!cause || !cause->line || !line) return "";
    const StallText *stall = stall_text_find(stall_names[place->stall]);
    const char *words = stall ? stall_cause_words(stall, place->cause_class) : "the result of";
    if (!same_file(cause, line)) return page_text(page, "%s %s", words, base_place(page, cause));
    if (cause->line == line->line) return page_text(page, "%s this line", words);
    return page_text(page, "%s line %u", words, cause->line);
}

static void place_row(AdvicePage *page, Table *table, const AdvicePlace *place) {
    const char *at = base_place(page, place->line);
    table_cell(table, "");
    table_cell(table, page_percent(page, place->share));
    table_cell(table, *at ? at : page_text(page, "instruction %u", place->pc));
    table_cell(table, place->stall == STALL_SELECTED ? "-" : stall_names[place->stall]);
    table_cell(table, cause_text(page, place));
    table_cell(table, advice_code(page->report, &page->sources, place->view, place->line, &page->arena));
}

static void write_places(AdvicePage *page, const Advice *advice) {
    if (!advice->place_count) return;
    Table table = {0};
    table_column(&table, (TableColumn){.header = " "});  // the indentation
    table_column(&table, (TableColumn){.header = "share"});
    table_column(&table, (TableColumn){.header = "place", .align = TABLE_LEFT_TAIL, .least = LEAST_PLACE});
    table_column(&table, (TableColumn){.header = "stall", .align = TABLE_LEFT, .importance = 1});
    table_column(
        &table,
        (TableColumn){
            .header = "waits for", .align = TABLE_LEFT, .importance = 2, .least = LEAST_CAUSE, .optional = true});
    table_column(&table, (TableColumn){.header = "source", .align = TABLE_LEFT, .least = LEAST_CODE, .optional = true});
    for (u32 i = 0; i < advice->place_count; i++)
        if (i == 0 || advice->places[i].share >= LEAST_SHARE) place_row(page, &table, &advice->places[i]);
    table_print(&table, page->out, page->width, false);
    table_free(&table);
}

// --- how much, why, how -------------------------------------------------------------------------------------------
static void write_estimate(AdvicePage *page, const Advice *advice) {
    const AdviceEstimate *e = &advice->estimate;
    const char *kernel = page_interval(page, e->speedup, e->low, e->high);
    const char *program =
        page_text(page, "%s less time in kernels (%s to %s)", page_percent(page, advice_saved(e->program_speedup)),
                  page_percent(page, advice_saved(e->program_low)), page_percent(page, advice_saved(e->program_high)));
    const char *saved = e->saved_ns > 0 ? page_text(page, ", %s", number_time(e->saved_ns).text) : "";
    field(page, "expected",
          page_text(page, "kernel %s; program: %s%s; %s confidence%s", kernel, program, saved,
                    advice_confidence_names[e->confidence], page_tried(page, advice)));
    const AdviceRecord *record = advice_record(advice->rule, advice->kernel);
    const char *tried =
        record->tried ? page_text(page, "; on known pairs the rule helped in %u of %u", record->helped, record->tried)
                      : "";
    field(page, "", page_text(page, "%s (%s)%s", page_clean(page, e->basis), page->report->list->provenance, tried));
}

static void write_facts(AdvicePage *page, const Advice *advice) {
    for (u32 i = 0; i < advice->fact_count; i++) field(page, i ? "" : "evidence", advice->facts[i].text);
}

static void write_code(AdvicePage *page, const char *name, const char *code) {
    if (!*code) return;
    for (bool first = true; *code; first = false) {
        size_t size = strcspn(code, "\n");
        label(page, first ? name : "");
        output_bytes(page->out, code, size);
        output_text(page->out, "\n");
        code += size + (code[size] == '\n');
    }
}

static void write_overlap(AdvicePage *page, const Advice *advice) {
    const AdviceList *list = page->report->list;
    const char *others = "";
    for (u32 i = 0; i < list->count; i++) {
        const Advice *other = &list->rows[i];
        if (other == advice || other->kernel != advice->kernel || other->group != advice->group) continue;
        others = page_text(page, "%s%s%u", others, *others ? ", " : "", i + 1);
    }
    if (*others)
        field(page, "overlaps",
              page_text(page, "with %s: they would save the same time, so gains do not add up", others));
}

static void write_advice(AdvicePage *page, const Advice *advice) {
    AdviceText words = advice_words(advice);
    output_text(page->out, "\n");
    output_printf(page->out, "%3u. ", advice_rank(page->report, advice));
    const char *also = advice->also ? page_text(page, ", also %s", advice->also) : "";
    wrap_text(page->out, page_text(page, "%s  [%s%s]", advice->what, advice->rule->name, also), 5, page->width);
    write_estimate(page, advice);
    field(page, "where", scope_text(page, advice));
    write_places(page, advice);
    field(page, "why", words.why);
    write_facts(page, advice);
    field(page, "how", words.how);
    write_code(page, "before", words.before);
    write_code(page, "after", words.after);
    field(page, "check", advice->caution);
    write_overlap(page, advice);
}

// --- kernels ------------------------------------------------------------------------------------------------------
static const char *shape(AdvicePage *page, const u32 *dims) {
    if (dims[2] > 1) return page_text(page, "%u x %u x %u", dims[0], dims[1], dims[2]);
    return dims[1] > 1 ? page_text(page, "%u x %u", dims[0], dims[1]) : page_text(page, "%u", dims[0]);
}

static const char *launch_text(AdvicePage *page, const KernelView *view) {
    const ViewLaunches *l = &view->launches;
    if (!l->count || !l->typical) return "not launched itself";
    const u32 *grid = l->typical->grid, *block = l->typical->block;
    bool one = grid[0] == 1 && grid[1] == 1 && grid[2] == 1, alone = block[0] == 1 && block[1] == 1 && block[2] == 1;
    const char *blocks = page_text(page, "%s block%s of %s thread%s", shape(page, grid), one ? "" : "s",
                                   shape(page, block), alone ? "" : "s");
    if (l->shapes > 1)
        return page_text(page, "%s launches of %u shapes, %.0f %% of their time in those of about %s",
                         number_human(l->count).text, l->shapes, 100 * l->alike, blocks);
    return page_text(page, "%s launch%s of %s", number_human(l->count).text, l->count == 1 ? "" : "es", blocks);
}

// Where the host launches it, when the profile has call stacks.
static void write_stack(AdvicePage *page, const KernelView *view) {
    AdviceStack stack;
    if (advice_stack(page->report, view, &page->arena, &stack) != STATUS_OK) page->out->status = STATUS_NO_MEMORY;
    if (page->out->status != STATUS_OK || !stack.count) return;
    const char *text = advice_stack_text(&stack, FRAMES_SHOWN, &page->arena);
    if (!text) page->out->status = STATUS_NO_MEMORY;
    bool all = stack.launches == view->launches.count;
    page_paragraph(page, 2,
                   page_text(page, "launched by: %s%s", text ? text : "",
                             all ? "" : page_text(page, "; %u of %u launches", stack.launches, view->launches.count)));
}

static bool is_shown(const AdvicePage *page, const AdviceKernel *kernel) {
    for (u32 i = 0; i < kernel->count; i++)
        if (page->report->list->ranked[kernel->first + i] < page->report->shown) return true;
    return false;
}

static void write_kernel(AdvicePage *page, const AdviceKernel *kernel) {
    const AdviceList *list = page->report->list;
    output_text(page->out, "\n");
    page_title(page, page_text(page, "Kernel %s", advice_name(page->report, kernel->view)->signature));
    page_paragraph(page, 2,
                   page_text(page, "%s of all kernels' time; %s", page_percent(page, kernel->view->launches.share),
                             launch_text(page, kernel->view)));
    write_stack(page, kernel->view);
    page_paragraph(page, 2, page_text(page, "what limits it: %s", page_limit(page, kernel)));
    for (u32 i = 0; i < kernel->count; i++) {
        u32 row = list->ranked[kernel->first + i];
        if (row < page->report->shown) write_advice(page, &list->rows[row]);
    }
}

void advice_details(AdvicePage *page) {
    const AdviceList *list = page->report->list;
    for (u32 i = 0; i < list->kernel_count && page->out->status == STATUS_OK; i++)
        if (is_shown(page, &list->kernels[i])) write_kernel(page, &list->kernels[i]);
}
