// SPDX-License-Identifier: Apache-2.0
// What the blame of a kernel is worth when it was sampled: blame_samples GPUS PROFILE.wlp... prints a line for each
// kernel and each period of its profile's samples, period 1 (every cycle) being the bound that sampling cannot pass:
//   profile, kernel, period, instants, samples of stalls, right, top
//   instants  cycles of the kernel's launches / period: all SMs are sampled in the same cycles, so that samples of one
//             instant are not independent
//   right  overlap of the samples' blame with the truth, both as parts of 1 over all instructions that can be blamed:
//          what is missing was blamed on the wrong instruction, or was sampled too often or too rarely
//   top    1 when the instruction that most is blamed on is the one that most was truly waited for
// Stalls are those whose cause the simulator knows.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/blame.h"

typedef struct Shares {
    f64 *of;  // by pc
    f64 sum;
} Shares;

static void fail(const char *what, const Diag *diag) {
    char text[512] = "";
    if (diag && diag->entries.len) diag_format(&diag->entries.data[0], text, sizeof text);
    fprintf(stderr, "blame_samples: %s: %s\n", what, text);
    exit(1);
}

static bool is_known(const KernelView *view, u32 pc, u32 reason) {
    u32 low = 0, high = view->cause_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        const ProfileStallCause *c = &view->causes[middle];
        if (c->pc < pc || (c->pc == pc && c->stall < reason))
            low = middle + 1;
        else
            high = middle;
    }
    return low < view->cause_count && view->causes[low].pc == pc && view->causes[low].stall == reason;
}

static Shares new_shares(Arena *arena, const KernelView *view) {
    Shares shares = {.of = ARENA_ARRAY(arena, f64, view->insn_count + 1)};
    if (!shares.of) fail("memory", NULL);
    return shares;
}

static void add(Shares *shares, u32 pc, f64 value) {
    shares->of[pc] += value;
    shares->sum += value;
}

static Shares truth_of(const KernelView *view, Arena *arena) {
    Shares truth = new_shares(arena, view);
    for (u32 i = 0; i < view->cause_count; i++) {
        const ProfileStallCause *c = &view->causes[i];
        bool own = c->cause_function == view->function->id && c->cause_pc < view->insn_count;
        add(&truth, own ? c->cause_pc : view->insn_count, (f64)c->cycles);
    }
    return truth;
}

static Shares blame_of(const KernelView *view, Arena *arena) {
    Blame *blame;
    Shares shares = new_shares(arena, view);
    if (blame_kernel(view, NULL, arena, &blame) != STATUS_OK) fail(view->function->name, NULL);
    for (u32 i = 0; i < blame->edge_count; i++) {
        const BlameEdge *edge = &blame->edges[i];
        if (is_known(view, edge->use, edge->reason)) add(&shares, edge->def, edge->samples);
    }
    return shares;
}

static u32 top_of(const KernelView *view, const Shares *shares) {
    u32 top = 0;
    for (u32 pc = 1; pc <= view->insn_count; pc++)
        if (shares->of[pc] > shares->of[top]) top = pc;
    return top;
}

static f64 cycles_of(const KernelView *view) {
    f64 cycles = 0;
    for (u32 i = 0; i < view->launches.count; i++) {
        const ProfileTime *time = &view->launches.rows[i]->time;
        if (time->known) cycles += (f64)(time->end_cycle - time->begin_cycle);
    }
    return cycles;
}

static void print_kernel(const char *profile, const KernelView *view) {
    Arena arena = {0};
    Shares truth = truth_of(view, &arena), blamed = blame_of(view, &arena);
    f64 right = 0;
    for (u32 pc = 0; pc <= view->insn_count && blamed.sum > 0 && truth.sum > 0; pc++)
        right += fmin(truth.of[pc] / truth.sum, blamed.of[pc] / blamed.sum);
    if (truth.sum > 0)
        printf("%s\t%s\t%llu\t%.0f\t%.0f\t%.5f\t%d\n", profile, view->function->name, (unsigned long long)view->period,
               cycles_of(view) / (f64)view->period, blamed.sum, right,
               blamed.sum > 0 && top_of(view, &truth) == top_of(view, &blamed));
    arena_free(&arena);
}

static void do_period(const char *path, Profile *profile, const char *gpus, u64 period) {
    Diag diag = {0};
    KernelViews *views;
    const KernelView *const *list;
    u32 count;
    KernelViewOptions options = {.gpu_folder = gpus, .period = period};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (kernel_views_open(profile, &options, &views, &diag) != STATUS_OK) fail(path, &diag);
    if (kernel_views_all(views, 0, &list, &count, &diag) != STATUS_OK) fail(path, &diag);
    for (u32 i = 0; i < count; i++)
        if (list[i]->function->is_entry) print_kernel(name, list[i]);
    kernel_views_close(views);
    diag_free(&diag);
}

int main(int argc, char **argv) {
    if (argc < 3) return fprintf(stderr, "usage: blame_samples GPUS PROFILE...\n"), 2;
    for (int i = 2; i < argc; i++) {
        Diag diag = {0};
        Profile *profile;
        if (profile_open(argv[i], &profile, &diag) != STATUS_OK) fail(argv[i], &diag);
        for (u32 shift = 0; shift < 32; shift++) do_period(argv[i], profile, argv[1], 1ull << shift);
        profile_close(profile);
        diag_free(&diag);
    }
    return 0;
}
