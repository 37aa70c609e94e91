// SPDX-License-Identifier: Apache-2.0
#include "view/advice/advice_report.h"

#include <string.h>

#include "binary/kernel_name.h"
#include "view/advice/advice_data.h"
#include "view/utf8.h"

enum { BRIEF_TOP = 3 };

const AdviceExporter advice_exporter_table[] = {
#define EXPORTER(name, function, text) {name, text, function},
#include "view/advice/advice_exporters.def"
#undef EXPORTER
};
const u32 advice_exporter_count = WL_COUNT(advice_exporter_table);

const char *const advice_kind_names[3] = {"eliminate", "hide", "parallel"};
const char *const advice_place_names[4] = {"kernel", "function", "loop", "line"};

const AdviceExporter *advice_exporter_find(const char *name) {
    for (u32 i = 0; i < advice_exporter_count; i++)
        if (strcmp(advice_exporter_table[i].name, name) == 0) return &advice_exporter_table[i];
    return NULL;
}

// --- names and places --------------------------------------------------------------------------------------------
static Str str(const char *text) { return (Str){text, strlen(text)}; }

typedef struct Names {
    const AdviceReportOptions *options;
    Arena *arena;
    AdviceName *rows;
    u32 count;
} Names;

static Status add_name(Names *names, const KernelView *view) {
    if (!view) return STATUS_OK;
    for (u32 i = 0; i < names->count; i++)
        if (names->rows[i].view == view) return STATUS_OK;
    const AdviceReportOptions *o = names->options;
    const char *mangled = view->function->name;
    const char *signature = o->demangle ? o->demangle(o->demangle_context, mangled) : mangled;
    AdviceName *name = &names->rows[names->count++];
    name->view = view;
    name->mangled = utf8_clean(names->arena, str(mangled), true);
    name->signature = utf8_clean(names->arena, str(signature ? signature : mangled), true);
    if (!name->mangled || !name->signature) return STATUS_NO_MEMORY;
    name->name = arena_copy_str(names->arena, kernel_plain_name(name->signature));
    return name->name ? STATUS_OK : STATUS_NO_MEMORY;
}

static Status name_all(AdviceReport *report, Arena *arena) {
    const AdviceList *list = report->list;
    u32 most = list->kernel_count;
    for (u32 i = 0; i < list->count; i++) most += 2 + list->rows[i].place_count;
    Names names = {&report->options, arena, ARENA_ARRAY(arena, AdviceName, most + 1), 0};
    if (!names.rows) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < list->kernel_count; i++) TRY(add_name(&names, list->kernels[i].view));
    for (u32 i = 0; i < list->count; i++) {
        TRY(add_name(&names, list->rows[i].kernel));
        TRY(add_name(&names, list->rows[i].scope.view));
        for (u32 k = 0; k < list->rows[i].place_count; k++) TRY(add_name(&names, list->rows[i].places[k].view));
    }
    report->names = names.rows;
    report->name_count = names.count;
    return STATUS_OK;
}

const AdviceName *advice_name(const AdviceReport *report, const KernelView *view) {
    static const AdviceName unknown = {NULL, "?", "?", "?"};
    for (u32 i = 0; i < report->name_count; i++)
        if (report->names[i].view == view) return &report->names[i];
    return &unknown;
}

// Some builds call the folder they run in /proc/self/cwd, so that their output does not depend on where it is.
static const char *below(const char *file, const char *folder) {
    size_t size = strlen(folder);
    while (size && folder[size - 1] == '/') size--;
    return strncmp(file, folder, size) == 0 && file[size] == '/' ? file + size + strspn(file + size, "/") : file;
}

const char *advice_path(const AdviceReport *report, const char *file, Arena *arena) {
    const char *shown = below(file, "/proc/self/cwd");
    if (report->options.root && shown == file) shown = below(file, report->options.root);
    if (shown[0] == '/') shown = source_find(file) ? source_find(file) : file;
    return utf8_clean(arena, str(shown), true);
}

const char *advice_place_text(const AdviceReport *report, const ProfilePlace *place, bool base, Arena *arena) {
    if (!place || !place->line) return "";
    if (!place->file) return arena_printf(arena, "PTX line %u", place->line);
    const char *file = advice_path(report, place->file, arena);
    const char *slash = file && base ? strrchr(file, '/') : NULL;
    return file ? arena_printf(arena, "%s:%u", slash ? slash + 1 : file, place->line) : NULL;
}

const ProfilePlace *advice_main_place(const Advice *advice) {
    const AdvicePlace *scope = &advice->scope;
    bool narrow = scope->kind == PLACE_LOOP || scope->kind == PLACE_LINE;
    if (narrow && scope->line && scope->line->line) return scope->line;
    for (u32 i = 0; i < advice->place_count; i++)
        if (advice->places[i].line && advice->places[i].line->line) return advice->places[i].line;
    return scope->line && scope->line->line ? scope->line : NULL;
}

const char *advice_code(const AdviceReport *report, SourceTexts *sources, const KernelView *view,
                        const ProfilePlace *place, Arena *arena) {
    if (!place || !place->line) return "";
    Str found = place->file ? source_line(sources, place->file, place->line)
                            : source_module_line(sources, report->profile, view->function->module_id, place->line);
    while (found.len && (*found.data == ' ' || *found.data == '\t')) found = (Str){found.data + 1, found.len - 1};
    return utf8_clean(arena, found, true);
}

const Advice *advice_overlapped(const AdviceReport *report, const Advice *advice) {
    for (const Advice *other = report->list->rows; other < advice; other++)
        if (other->kernel == advice->kernel && other->group == advice->group) return other;
    return NULL;
}

u32 advice_rank(const AdviceReport *report, const Advice *advice) { return (u32)(advice - report->list->rows) + 1; }

f64 advice_saved(f64 speedup) { return speedup > 1 ? 1 - 1 / speedup : 0; }

// --- the report -----------------------------------------------------------------------------------------------------
static Status load(AdviceReport *report, Arena *arena, Diag *diag) {
    TRY(profile_summary(report->profile, &report->summary, diag));
    TRY(name_all(report, arena));
    u32 top = report->options.top;
    report->shown = top && top < report->list->count ? top : report->list->count;
    return STATUS_OK;
}

static Status finish(Status status, const Output *out, Diag *diag) {
    if (status == STATUS_OK) status = out->status;
    if (out->status == STATUS_IO) diag_text(diag, DIAG_ERROR, NULL, 0, 0, "cannot write the advice");
    return status;
}

Status advice_report_write(Profile *profile, const AdviceList *list, const AdviceExporter *exporter,
                           const AdviceReportOptions *options, Output *out, Diag *diag) {
    AdviceReport report = {.profile = profile, .list = list};
    Arena arena = {0};
    if (options) report.options = *options;
    Status status = load(&report, &arena, diag);
    if (status == STATUS_OK) status = exporter->write(&report, out, diag);
    arena_free(&arena);
    return finish(status, out, diag);
}

static const char *brief_line(const AdviceReport *report, const Advice *advice, const char *prefix, Arena *arena) {
    const AdviceEstimate *e = &advice->estimate;
    const char *what = utf8_clean(arena, str(advice->what), true);
    const char *place = advice_place_text(report, advice_main_place(advice), true, arena);
    if (!what || !place) return NULL;
    bool said = !*place || strstr(what, place);
    return arena_printf(arena, "%s  %3.0f %%  %s%s%s: %s %.2fx (%.2f-%.2f)\n", prefix,
                        100 * advice_saved(e->program_speedup), what, said ? "" : " at ", said ? "" : place,
                        advice_name(report, advice->kernel)->name, e->speedup, e->low, e->high);
}

// Where no rule has a remedy: what the kernel with the most time is limited by.
static const char *limit_line(const AdviceReport *report, const char *prefix, Arena *arena) {
    const AdviceKernel *kernel = &report->list->kernels[0];
    const char *limit = utf8_clean(arena, str(kernel->limit), true);
    if (!limit) return NULL;
    return arena_printf(arena, "%sno rule has advice; %s, %.0f %% of the kernels' time, %s (%s)\n", prefix,
                        advice_name(report, kernel->view)->name, 100 * kernel->view->launches.share, limit,
                        report->list->provenance);
}

static Status write_line(Output *out, const char *line) {
    if (line) output_text(out, line);
    return line ? STATUS_OK : STATUS_NO_MEMORY;
}

static Status write_brief(const AdviceReport *report, const char *prefix, Arena *arena, Output *out) {
    const AdviceList *list = report->list;
    if (!report->shown) return list->kernel_count ? write_line(out, limit_line(report, prefix, arena)) : STATUS_OK;
    output_printf(out, "%swhat to change first (%s):\n", prefix, list->provenance);
    for (u32 i = 0; i < report->shown; i++) TRY(write_line(out, brief_line(report, &list->rows[i], prefix, arena)));
    return STATUS_OK;
}

Status advice_report_brief(Profile *profile, const AdviceList *list, const AdviceReportOptions *options,
                           const char *prefix, Output *out, Diag *diag) {
    AdviceReport report = {.profile = profile, .list = list};
    Arena arena = {0};
    if (options) report.options = *options;
    report.options.top = report.options.top ? report.options.top : BRIEF_TOP;
    Status status = load(&report, &arena, diag);
    if (status == STATUS_OK) status = write_brief(&report, prefix, &arena, out);
    arena_free(&arena);
    return finish(status, out, diag);
}
