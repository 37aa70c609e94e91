// SPDX-License-Identifier: Apache-2.0
// How right the instruction blamer is, against what the simulator knows: blame_truth GPUS [--kernels] [--wrong N]
// PROFILE.wlp... A kernel weighs by its stall cycles; the stall cycles of all profiles are as many.
//   --kernels  also a line for each kernel      --wrong N  also the N worst stalls of each kernel, with what was blamed
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/blame.h"

typedef struct Variant {
    const char *name;
    BlameOptions options;
} Variant;

static const Variant variants[] = {
    {"all rules", {0}},
    {"without opcode pruning", {.no_opcode_pruning = true}},
    {"without dominator pruning", {.no_dominator_pruning = true}},
    {"without latency pruning", {.no_latency_pruning = true}},
    {"without issue counts", {.no_issue_weights = true}},
    {"without path lengths", {.no_path_weights = true}},
    {"without the last source", {.no_last_source = true}},
    {"without late arrivers", {.no_late_arrivers = true}},
    {"without own steps", {.no_own_steps = true}},
    {"without units and branches", {.no_turns = true}},
    {"without shared scoreboards", {.no_boards = true}},
    {"GPA as published",
     {.no_last_source = true,
      .no_late_arrivers = true,
      .no_own_steps = true,
      .no_turns = true,
      .no_boards = true,
      .published = true}},
};
enum { VARIANTS = WL_COUNT(variants) };

typedef struct Sums {  // of one program, or of all with equal weights
    f64 cycles, hit, line_hit;
    f64 class_cycles[BLAME_CLASS_COUNT], class_hit[BLAME_CLASS_COUNT];
    f64 reason_cycles[STALL_COUNT], reason_hit[STALL_COUNT];
} Sums;

typedef struct Bench {
    const char *gpus;
    bool kernels;
    u32 wrong;
    Sums all[VARIANTS];
    Vec(f64) precision[VARIANTS];  // of each kernel
    u64 nodes, before, after;
    u32 stalled;  // programs with stalls
    u32 programs, kernels_seen;
} Bench;

static void fail(const char *what, const Diag *diag) {
    char text[512] = "";
    if (diag && diag->entries.len) diag_format(&diag->entries.data[0], text, sizeof text);
    fprintf(stderr, "blame_truth: %s: %s\n", what, text);
    exit(1);
}

static void add_part(f64 part, f64 of, f64 *cycles, f64 *hit) {
    if (of <= 0) return;
    *cycles += of;
    *hit += part * of;
}

static void add_truth(Sums *s, const BlameTruth *t) {
    if (t->cycles <= 0) return;
    s->cycles += t->cycles;
    s->hit += t->precision * t->cycles;
    s->line_hit += t->line_precision * t->cycles;
    for (u32 i = 0; i < BLAME_CLASS_COUNT; i++)
        add_part(t->class_precision[i], t->class_cycles[i], &s->class_cycles[i], &s->class_hit[i]);
    for (u32 i = 0; i < STALL_COUNT; i++)
        add_part(t->reason_precision[i], t->reason_cycles[i], &s->reason_cycles[i], &s->reason_hit[i]);
}

// A program's stall cycles are 1, of which the cause is known of a part.
static void add_program(Sums *all, const Sums *one, f64 stalled) {
    if (stalled <= 0) return;
    all->cycles += one->cycles / stalled;
    all->hit += one->hit / stalled;
    all->line_hit += one->line_hit / stalled;
    for (u32 i = 0; i < BLAME_CLASS_COUNT; i++) {
        all->class_cycles[i] += one->class_cycles[i] / stalled;
        all->class_hit[i] += one->class_hit[i] / stalled;
    }
    for (u32 i = 0; i < STALL_COUNT; i++) {
        all->reason_cycles[i] += one->reason_cycles[i] / stalled;
        all->reason_hit[i] += one->reason_hit[i] / stalled;
    }
}

// --- what went wrong -----------------------------------------------------------------------------------------------
static f64 miss_of(const Blame *blame, u32 first, u32 end) {
    const ProfileStallCause *causes = blame->view->causes;
    f64 cycles = 0, hit = 0, sum = 0;
    for (u32 i = first; i < end; i++) cycles += (f64)causes[i].cycles;
    const BlameEdge *edges = blame->edges;
    for (u32 e = blame->first[causes[first].pc]; e < blame->first[causes[first].pc + 1]; e++)
        if (edges[e].reason == causes[first].stall) sum += edges[e].samples;
    if (sum <= 0) return 0;
    for (u32 e = blame->first[causes[first].pc]; e < blame->first[causes[first].pc + 1]; e++) {
        if (edges[e].reason != causes[first].stall) continue;
        for (u32 i = first; i < end; i++)
            if (causes[i].cause_pc == edges[e].def && causes[i].cause_function == blame->view->function->id)
                hit += fmin(edges[e].samples / sum * cycles, (f64)causes[i].cycles);
    }
    return cycles - hit;
}

static void print_wrong(const Blame *blame, u32 first, u32 end, f64 miss, f64 all) {
    const KernelView *view = blame->view;
    u32 use = view->causes[first].pc;
    printf("    %5.1f %% pc %u %s, truth:", 100 * miss / all, use, stall_names[view->causes[first].stall]);
    for (u32 i = first; i < end; i++)
        printf(" %u:%llu", view->causes[i].cause_pc, (unsigned long long)view->causes[i].cycles);
    printf("; blamed:");
    for (u32 e = blame->first[use]; e < blame->first[use + 1]; e++)
        if (blame->edges[e].reason == view->causes[first].stall)
            printf(" %u:%.0f", blame->edges[e].def, blame->edges[e].samples);
    printf("\n");
}

static void show_wrong(const Blame *blame, u32 most) {
    const KernelView *view = blame->view;
    f64 all = 0, bound = INFINITY;
    for (u32 i = 0; i < view->cause_count; i++) all += (f64)view->causes[i].cycles;
    for (u32 n = 0; n < most; n++) {
        u32 best = 0, best_end = 0;
        f64 worst = 0;
        for (u32 i = 0, next; i < view->cause_count; i = next) {
            for (next = i + 1; next < view->cause_count; next++)
                if (view->causes[next].pc != view->causes[i].pc || view->causes[next].stall != view->causes[i].stall)
                    break;
            f64 miss = miss_of(blame, i, next);
            if (miss < bound && miss > worst) worst = miss, best = i, best_end = next;
        }
        if (worst < all / 200) return;
        print_wrong(blame, best, best_end, worst, all);
        bound = worst;
    }
}

// --- profiles ------------------------------------------------------------------------------------------------------
static void add_coverage(Bench *bench, const Blame *blame) {
    bench->nodes += blame->coverage.nodes;
    bench->before += blame->coverage.single_before;
    bench->after += blame->coverage.single_after;
}

static void do_kernel(Bench *bench, const KernelView *view, Sums *program, f64 *stalled) {
    for (u32 pc = 0; pc < view->insn_count; pc++)
        for (u32 r = STALL_SELECTED + 1; r < STALL_COUNT; r++) *stalled += (f64)view->samples[pc].all[r];
    for (u32 v = 0; v < VARIANTS; v++) {
        Arena arena = {0};
        Blame *blame;
        BlameTruth truth;
        if (blame_kernel(view, &variants[v].options, &arena, &blame) != STATUS_OK) fail(view->function->name, NULL);
        if (blame_compare(blame, &arena, &truth) != STATUS_OK) fail(view->function->name, NULL);
        add_truth(&program[v], &truth);
        if (truth.cycles > 0) (void)!vec_push(&bench->precision[v], truth.precision);
        if (v == 0) add_coverage(bench, blame);
        if (v == 0 && truth.cycles > 0) bench->kernels_seen++;
        if (v == 0 && bench->kernels)
            printf("  %-40.40s %6u insns %12.0f cycles, instruction %5.1f %%, line %5.1f %%, coverage %.2f -> %.2f of "
                   "%u\n",
                   view->function->name, view->insn_count, truth.cycles, 100 * truth.precision,
                   100 * truth.line_precision, (f64)blame->coverage.single_before / blame->coverage.nodes,
                   (f64)blame->coverage.single_after / blame->coverage.nodes, blame->coverage.nodes);
        if (v == 0 && view->no_code) printf("  %s: %s\n", view->function->name, view->no_code);
        if (v == 0 && bench->wrong) show_wrong(blame, bench->wrong);
        arena_free(&arena);
    }
}

static const char *base_name(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

static void do_profile(Bench *bench, const char *path) {
    Diag diag = {0};
    Profile *profile;
    KernelViews *views;
    const KernelView *const *list;
    u32 count;
    Sums sums[VARIANTS] = {0};
    f64 stalled = 0;
    if (profile_open(path, &profile, &diag) != STATUS_OK) fail(path, &diag);
    KernelViewOptions options = {.gpu_folder = bench->gpus};
    if (kernel_views_open(profile, &options, &views, &diag) != STATUS_OK) fail(path, &diag);
    if (kernel_views_all(views, 0, &list, &count, &diag) != STATUS_OK) fail(path, &diag);
    if (bench->kernels || bench->wrong) printf("%s\n", base_name(path));
    for (u32 i = 0; i < count; i++) do_kernel(bench, list[i], sums, &stalled);
    for (u32 v = 0; v < VARIANTS; v++) add_program(&bench->all[v], &sums[v], stalled);
    bench->stalled += stalled > 0;
    bench->programs++;
    if (sums[0].cycles <= 0)
        printf("%-60.60s no stall with a known cause\n", base_name(path));
    else
        printf("%-60.60s %5.1f %% (line %5.1f %%, as published %5.1f %%)\n", base_name(path),
               100 * sums[0].hit / sums[0].cycles, 100 * sums[0].line_hit / sums[0].cycles,
               100 * sums[VARIANTS - 1].hit / sums[VARIANTS - 1].cycles);
    kernel_views_close(views);
    profile_close(profile);
    diag_free(&diag);
}

// --- the table -----------------------------------------------------------------------------------------------------
static int ascending(const void *a, const void *b) {
    f64 x = *(const f64 *)a, y = *(const f64 *)b;
    return (x > y) - (x < y);
}

static f64 quantile(f64 *values, u32 count, f64 at) {
    if (!count) return NAN;
    qsort(values, count, sizeof *values, ascending);
    return values[(u32)(at * (count - 1))];
}

// Classes are those of the edges, so each set of rules has its own cycles of a class.
static void print_parts(const char *title, const char *const *names, const Sums *s, const f64 *cycles, const f64 *hit,
                        const f64 *published_cycles, const f64 *published, u32 count) {
    printf("\n| %s | of the cycles | right | as published |\n|---|---|---|---|\n", title);
    for (u32 i = 0; i < count; i++)
        if (cycles[i] > 0)
            printf("| %s | %.1f %% | %.1f %% | %.1f %% |\n", names[i], 100 * cycles[i] / s->cycles,
                   100 * hit[i] / cycles[i], 100 * published[i] / published_cycles[i]);
}

static void print_table(Bench *bench) {
    printf("\n%u programs, %u kernels; the cause of %.0f %% of the stall cycles is known\n", bench->programs,
           bench->kernels_seen, 100 * bench->all[0].cycles / bench->stalled);
    printf("single-dependency coverage: %.2f before pruning, %.2f after, of %llu instructions\n",
           (f64)bench->before / (f64)bench->nodes, (f64)bench->after / (f64)bench->nodes,
           (unsigned long long)bench->nodes);
    printf("\n| rules | right instruction | right line | kernels: median | lower quartile |\n|---|---|---|---|---|\n");
    for (u32 v = 0; v < VARIANTS; v++) {
        const Sums *s = &bench->all[v];
        printf("| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n", variants[v].name, 100 * s->hit / s->cycles,
               100 * s->line_hit / s->cycles, 100 * quantile(bench->precision[v].data, bench->precision[v].len, 0.5),
               100 * quantile(bench->precision[v].data, bench->precision[v].len, 0.25));
    }
    const Sums *s = &bench->all[0], *p = &bench->all[VARIANTS - 1];
    print_parts("class of the cause", blame_class_names, s, s->class_cycles, s->class_hit, p->class_cycles,
                p->class_hit, BLAME_CLASS_COUNT);
    print_parts("stall", stall_names, s, s->reason_cycles, s->reason_hit, p->reason_cycles, p->reason_hit, STALL_COUNT);
}

int main(int argc, char **argv) {
    Bench bench = {0};
    if (argc < 3) return fprintf(stderr, "usage: blame_truth GPUS [--kernels] [--wrong N] PROFILE...\n"), 2;
    bench.gpus = argv[1];
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--kernels"))
            bench.kernels = true;
        else if (!strcmp(argv[i], "--wrong") && i + 1 < argc)
            bench.wrong = (u32)atoi(argv[++i]);
        else
            do_profile(&bench, argv[i]);
    }
    print_table(&bench);
    return 0;
}
