// SPDX-License-Identifier: Apache-2.0
#include "view/advice/advice_report.h"

#include <string.h>

#include "binary/kernel_name.h"
#include "view/advice/advice_data.h"
#include "view/short_name.h"
#include "view/utf8.h"

enum { BRIEF_TOP = 3, BRIEF_NAME = 40 };

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
    name->brief = name->name ? short_name(names->arena, name->name, BRIEF_NAME) : NULL;
    return name->brief ? STATUS_OK : STATUS_NO_MEMORY;
}

static size_t alike(const char *a, const char *b) {
    size_t at = 0;
    while (a[at] && a[at] == b[at]) at++;
    return at;
}

// Of the names that look like row `i` in brief the one that is alike the longest; NULL when there is none.
static const char *look_alike(const Names *names, u32 i) {
    const AdviceName *row = &names->rows[i];
    const char *found = NULL;
    for (u32 k = 0; k < names->count; k++) {
        const char *other = names->rows[k].name;
        if (strcmp(names->rows[k].brief, row->brief) || !strcmp(other, row->name)) continue;
        if (!found || alike(other, row->name) > alike(found, row->name)) found = other;
    }
    return found;
}

static Status tell_apart(Names *names) {
    const char **briefs = ARENA_ARRAY(names->arena, const char *, names->count + 1);
    if (!briefs) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < names->count; i++) {
        const char *other = look_alike(names, i), *brief = names->rows[i].brief;
        briefs[i] = other ? short_name_apart(names->arena, names->rows[i].name, other, BRIEF_NAME) : brief;
        if (!briefs[i]) return STATUS_NO_MEMORY;
    }
    for (u32 i = 0; i < names->count; i++) names->rows[i].brief = briefs[i];
    return STATUS_OK;
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
    TRY(tell_apart(&names));
    report->names = names.rows;
    report->name_count = names.count;
    return STATUS_OK;
}

const AdviceName *advice_name(const AdviceReport *report, const KernelView *view) {
    static const AdviceName unknown = {NULL, "?", "?", "?", "?"};
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
    return utf8_clean(arena, found, true);
}

const Advice *advice_overlapped(const AdviceReport *report, const Advice *advice) {
    for (const Advice *other = report->list->rows; other < advice; other++)
        if (other->kernel == advice->kernel && other->group == advice->group) return other;
    return NULL;
}

u32 advice_rank(const AdviceReport *report, const Advice *advice) { return (u32)(advice - report->list->rows) + 1; }

NumberText advice_times(f64 speedup) { return number_fixed(speedup, speedup < 9.995 ? 2 : speedup < 99.95 ? 1 : 0); }

f64 advice_saved(f64 speedup) { return speedup > 1 ? 1 - 1 / speedup : 0; }

// --- readable texts -------------------------------------------------------------------------------------------------
static bool is_symbol(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.';
}

static const char *plain_name(const AdviceReportOptions *o, const char *mangled, Arena *arena) {
    const char *signature = o->demangle ? o->demangle(o->demangle_context, mangled) : mangled;
    const char *name = arena_copy_str(arena, kernel_plain_name(signature ? signature : mangled));
    return name ? short_name(arena, name, BRIEF_NAME) : NULL;
}

// One line of valid UTF-8 with kernels' names as in the source. NULL when memory is out.
static const char *readable(const AdviceReportOptions *o, const char *raw, Arena *arena) {
    const char *text = utf8_clean(arena, str(raw), true);
    for (const char *at = text ? strstr(text, "_Z") : NULL; at; at = at ? strstr(at, "_Z") : NULL) {
        size_t before = (size_t)(at - text), size = 0;
        while (is_symbol(at[size])) size++;
        if (before && is_symbol(at[-1])) {
            at += size;
            continue;
        }
        const char *mangled = arena_copy_str(arena, (Str){at, size});
        const char *name = mangled ? plain_name(o, mangled, arena) : NULL;
        if (!name) return NULL;
        text = arena_printf(arena, "%.*s%s%s", (int)before, text, name, at + size);
        at = text ? text + before + strlen(name) : NULL;
    }
    return text;
}

static Status make_readable(const AdviceReportOptions *o, Advice *advice, Arena *arena) {
    AdviceFact *facts = ARENA_ARRAY(arena, AdviceFact, advice->fact_count + 1);
    if (!facts) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < advice->fact_count; i++) {
        facts[i] = advice->facts[i];
        facts[i].text = readable(o, facts[i].text, arena);
        if (!facts[i].text) return STATUS_NO_MEMORY;
    }
    advice->facts = facts;
    advice->what = readable(o, advice->what, arena);
    advice->caution = readable(o, advice->caution, arena);
    return advice->what && advice->caution ? STATUS_OK : STATUS_NO_MEMORY;
}

// report->list becomes a copy whose texts are fit to be shown.
static Status copy_list(AdviceReport *report, Arena *arena) {
    AdviceList *list = ARENA_NEW(arena, AdviceList);
    Advice *rows = ARENA_ARRAY(arena, Advice, report->list->count + 1);
    const char **notes = ARENA_ARRAY(arena, const char *, report->list->note_count + 1);
    if (!list || !rows || !notes) return STATUS_NO_MEMORY;
    *list = *report->list;
    for (u32 i = 0; i < list->count; i++) {
        rows[i] = list->rows[i];
        TRY(make_readable(&report->options, &rows[i], arena));
    }
    for (u32 i = 0; i < list->note_count; i++) {
        notes[i] = readable(&report->options, list->notes[i], arena);
        if (!notes[i]) return STATUS_NO_MEMORY;
    }
    list->rows = rows;
    list->notes = notes;
    report->list = list;
    return STATUS_OK;
}

// --- the report -----------------------------------------------------------------------------------------------------
static Status load(AdviceReport *report, Arena *arena, Diag *diag) {
    TRY(profile_summary(report->profile, &report->summary, diag));
    TRY(copy_list(report, arena));
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
    const char *place = advice_place_text(report, advice_main_place(advice), true, arena);
    if (!place) return NULL;
    bool said = !*place || advice->scope.kind == PLACE_KERNEL || strstr(advice->what, place);
    const char *tried = e->tried > 0 ? arena_printf(arena, ", tried: %sx", advice_times(e->tried).text) : "";
    if (!tried) return NULL;
    return arena_printf(arena, "%s  %3.0f %%  %s%s%s: %s %sx (%s-%s)%s\n", prefix,
                        100 * advice_saved(e->program_speedup), advice->what, said ? "" : " at ", said ? "" : place,
                        advice_name(report, advice->kernel)->brief, advice_times(e->speedup).text,
                        advice_times(e->low).text, advice_times(e->high).text, tried);
}

// Where no rule has a remedy: what the kernel with the most time is limited by.
static const char *limit_line(const AdviceReport *report, const char *prefix, Arena *arena) {
    const AdviceKernel *kernel = &report->list->kernels[0];
    const char *limit = utf8_clean(arena, str(kernel->limit), true);
    if (!limit) return NULL;
    return arena_printf(arena, "%snothing to advise; %s (%.0f %% of the kernels' time)%s%s (%s)\n", prefix,
                        advice_name(report, kernel->view)->brief, 100 * kernel->view->launches.share,
                        *limit ? ": " : "", limit, report->list->provenance);
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
