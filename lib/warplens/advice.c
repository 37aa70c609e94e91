// SPDX-License-Identifier: Apache-2.0
// Public advice: src/analyze/advice behind opaque types.
#include "warplens/advice.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/advice/advice.h"
#include "warplens/profile_inside.h"

struct WlAdvice {
    Arena arena;
    KernelViews *views;
    AdviceList *list;
};

// The models of the installation that this library belongs to: share/warplens/gpus in a folder above it.
static bool find_models(char *folder, size_t size) {
    Dl_info info;
    char root[PATH_MAX];
    if (!dladdr(&find_models, &info) || !info.dli_fname) return false;
    snprintf(root, sizeof root, "%s", info.dli_fname);
    for (char *slash = strrchr(root, '/'); slash; slash = strrchr(root, '/')) {
        *slash = '\0';
        int length = snprintf(folder, size, "%s/share/warplens/gpus", root);
        if (length > 0 && (size_t)length < size && access(folder, R_OK) == 0) return true;
    }
    return false;
}

static Status make(WlProfile *p, WlAdvice *a) {
    char folder[PATH_MAX];
    KernelViewOptions options = {.gpu_folder = find_models(folder, sizeof folder) ? folder : NULL};
    TRY(kernel_views_open(p->profile, &options, &a->views, &p->diag));
    return advice_make(p->profile, a->views, NULL, &a->arena, &a->list, &p->diag);
}

PUBLIC int wl_advice_make(WlProfile *p, WlAdvice **advice) {
    *advice = NULL;
    if (!p || !p->profile) return 1;
    WlAdvice *a = mem_zero(1, sizeof *a);
    Status status = a ? make(p, a) : STATUS_NO_MEMORY;
    if (status == STATUS_OK) return *advice = a, 0;
    profile_keep_error(p, status);
    wl_advice_free(a);
    return 1;
}

PUBLIC void wl_advice_free(WlAdvice *a) {
    if (!a) return;
    kernel_views_close(a->views);
    arena_free(&a->arena);
    mem_free(a);
}

PUBLIC const char *wl_advice_provenance(const WlAdvice *a) { return a->list->provenance; }
PUBLIC unsigned wl_advice_notes(const WlAdvice *a) { return a->list->note_count; }
PUBLIC const char *wl_advice_note(const WlAdvice *a, unsigned note) {
    return note < a->list->note_count ? a->list->notes[note] : "";
}

PUBLIC unsigned wl_advice_count(const WlAdvice *a) { return a->list->count; }
static const Advice *row(const WlAdvice *a, unsigned i) { return i < a->list->count ? &a->list->rows[i] : NULL; }

PUBLIC const char *wl_advice_rule(const WlAdvice *a, unsigned i) { return row(a, i) ? row(a, i)->rule->name : ""; }
PUBLIC const char *wl_advice_what(const WlAdvice *a, unsigned i) { return row(a, i) ? row(a, i)->what : ""; }
PUBLIC const char *wl_advice_kernel(const WlAdvice *a, unsigned i) {
    return row(a, i) ? row(a, i)->kernel->function->name : "";
}

// That of the scope when it is a loop or a line, else the hottest.
static const ProfilePlace *place(const WlAdvice *a, unsigned i) {
    const Advice *found = row(a, i);
    if (!found) return NULL;
    bool narrow = found->scope.kind == PLACE_LOOP || found->scope.kind == PLACE_LINE;
    if (!narrow && found->place_count && found->places[0].line) return found->places[0].line;
    return found->scope.line;
}
PUBLIC const char *wl_advice_file(const WlAdvice *a, unsigned i) { return place(a, i) ? place(a, i)->file : NULL; }
PUBLIC unsigned wl_advice_line(const WlAdvice *a, unsigned i) { return place(a, i) ? place(a, i)->line : 0; }

PUBLIC const char *wl_advice_confidence(const WlAdvice *a, unsigned i) {
    return row(a, i) ? advice_confidence_names[row(a, i)->estimate.confidence] : "";
}

static double interval(double value, double from, double to, double *low, double *high) {
    if (low) *low = from;
    if (high) *high = to;
    return value;
}

PUBLIC double wl_advice_speedup(const WlAdvice *a, unsigned i, double *low, double *high) {
    const AdviceEstimate *e = row(a, i) ? &row(a, i)->estimate : &(AdviceEstimate){0};
    return interval(e->speedup, e->low, e->high, low, high);
}

PUBLIC double wl_advice_program_speedup(const WlAdvice *a, unsigned i, double *low, double *high) {
    const AdviceEstimate *e = row(a, i) ? &row(a, i)->estimate : &(AdviceEstimate){0};
    return interval(e->program_speedup, e->program_low, e->program_high, low, high);
}

PUBLIC unsigned wl_advice_group(const WlAdvice *a, unsigned i) { return row(a, i) ? row(a, i)->group : 0; }
