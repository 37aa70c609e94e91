// SPDX-License-Identifier: Apache-2.0
// blame_coverage PROFILE...: of every kernel's instructions that wait for a result, how many have one source only,
// before and after pruning (GPA, section 6.3: single-dependency coverage), and which part of those stalls has none at
// all.
#include <stdio.h>

#include "analyze/blame.h"

typedef struct Totals {
    u32 kernels, nodes, before, after;
    f64 unattributed, waiting;
} Totals;

static f64 waiting_in(const KernelView *view) {
    static const StallReason reasons[] = {STALL_WAIT, STALL_LONG_SCOREBOARD, STALL_SHORT_SCOREBOARD, STALL_IMC_MISS};
    f64 sum = 0;
    for (u32 pc = 0; pc < view->insn_count; pc++)
        for (u32 r = 0; r < WL_COUNT(reasons); r++) sum += (f64)view->samples[pc].all[reasons[r]];
    return sum;
}

static void print(const char *name, const Totals *t) {
    f64 nodes = t->nodes ? (f64)t->nodes : 1, waiting = t->waiting > 0 ? t->waiting : 1;
    printf("%s\t%u\t%.3f\t%.3f\t%.4f\n", name, t->nodes, (f64)t->before / nodes, (f64)t->after / nodes,
           t->unattributed / waiting);
}

static Status measure(const KernelView *view, Totals *all) {
    Arena arena = {0};
    Blame *blame;
    Status status = blame_kernel(view, NULL, &arena, &blame);
    if (status == STATUS_OK) {
        const BlameCoverage *c = &blame->coverage;
        Totals own = {1, c->nodes, c->single_before, c->single_after, blame->unattributed, waiting_in(view)};
        print(view->function->name, &own);
        all->kernels++;
        all->nodes += own.nodes;
        all->before += own.before;
        all->after += own.after;
        all->unattributed += own.unattributed;
        all->waiting += own.waiting;
    }
    arena_free(&arena);
    return status;
}

static Status measure_profile(const char *path, Totals *all, Diag *diag) {
    const KernelViewOptions options = {.gpu_folder = "gpus"};
    Profile *profile;
    KernelViews *views = NULL;
    const KernelView *const *list;
    u32 count = 0;
    TRY(profile_open(path, &profile, diag));
    Status status = kernel_views_open(profile, &options, &views, diag);
    if (status == STATUS_OK) status = kernel_views_all(views, 0, &list, &count, diag);
    for (u32 i = 0; i < count && status == STATUS_OK; i++)
        if (list[i]->flow.code) status = measure(list[i], all);
    kernel_views_close(views);
    profile_close(profile);
    return status;
}

int main(int argc, char **argv) {
    Totals all = {0};
    int failed = 0;
    printf("# kernel\tinstructions\tsingle_before\tsingle_after\tunattributed\n");
    for (int i = 1; i < argc; i++) {
        Diag diag = {0};
        if (measure_profile(argv[i], &all, &diag) != STATUS_OK) {
            fprintf(stderr, "blame_coverage: %s: %s\n", argv[i],
                    diag.entries.len ? diag.entries.data[0].text : "failed");
            failed = 1;
        }
        diag_free(&diag);
    }
    print("all", &all);
    return failed;
}
