// SPDX-License-Identifier: Apache-2.0
// The driver: which kernels are looked at, by which rules; then what they found becomes the list (advice_rank.c).
#include "analyze/advice/advice.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/advice/advice_inside.h"
#include "base/near.h"

enum {
    MOST_KERNELS = 32,
    KERNELS_NAMED = 8,  // when none is what was asked for
    LEAST_SAMPLES = 12  /* of a kernel: with fewer a third of them may as well be half */
};
#define LEAST_GAIN 0.01  // of the program

const char *const advice_confidence_names[3] = {"low", "medium", "high"};

// --- which rules ---------------------------------------------------------------------------------------------------
static bool is_rule(const char *name, Near *near) {
    for (u32 i = 0; i < advice_rule_count; i++) {
        if (!strcmp(name, advice_rules[i].name)) return true;
        near_try(near, advice_rules[i].name);
    }
    return false;
}

static Status check_names(const char *const *names, u32 count, Diag *diag) {
    for (u32 i = 0; i < count; i++) {
        Near near = {.word = names[i]};
        if (is_rule(names[i], &near)) continue;
        const char *meant = near_result(&near);
        diag_text(diag, DIAG_ERROR, NULL, 0, 0,
                  "no rule is called `%s`%s%s%s `warplens advise --list-rules` names them all", names[i],
                  meant ? "; did you mean `" : ";", meant ? meant : "", meant ? "`?" : "");
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static bool is_among(const char *name, const char *const *names, u32 count) {
    for (u32 i = 0; i < count; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

static bool is_wanted(const AdviceOptions *o, const AdviceRule *rule) {
    return (!o->only || is_among(rule->name, o->only, o->only_count)) &&
           !(o->except && is_among(rule->name, o->except, o->except_count));
}

// --- kernels -------------------------------------------------------------------------------------------------------
static Status note(AdviceMaker *m, const char *text) {
    if (!text) return STATUS_NO_MEMORY;
    return vec_push(&m->notes, text);
}

static Status run_rules(AdviceMaker *m, AdviceCase *c) {
    for (u32 i = 0; i < advice_rule_count && c->status == STATUS_OK; i++) {
        c->rule = &advice_rules[i];
        if (is_wanted(m->options, c->rule)) advice_functions[i](c);
    }
    return c->status;
}

static Status leave_out(AdviceMaker *m, const KernelView *view, const char *why) {
    for (u32 i = 0; i < m->left_out.len; i++)
        if (!strcmp(m->left_out.data[i].why, why)) return m->left_out.data[i].count++, STATUS_OK;
    return vec_push(&m->left_out, ((LeftOut){why, view, 1}));
}

// One for each reason: a program can have hundreds of kernels.
static Status tell_left_out(AdviceMaker *m) {
    for (u32 i = 0; i < m->left_out.len; i++) {
        const LeftOut *out = &m->left_out.data[i];
        const char *name = out->first->function->name, *plural = out->count == 2 ? "" : "s";
        TRY(note(m, out->count == 1 ? arena_printf(m->context.arena, "%s is left out: %s", name, out->why)
                                    : arena_printf(m->context.arena, "%s and %u more kernel%s are left out: %s", name,
                                                   out->count - 1, plural, out->why)));
    }
    return STATUS_OK;
}

// Nobody changes the code of a library's kernel who only calls it; who names it wants to hear of it.
static const char *not_to_change(AdviceMaker *m, const KernelView *view) {
    const char *library = m->options->wanted ? NULL : kernel_library(view);
    return library ? arena_printf(m->context.arena, "code of %s, not of the program (-k NAME: look at it all the same)",
                                  library)
                   : NULL;
}

static bool has_samples(const AdviceCase *c) {
    return c->part_count && c->load.issued > 0 &&
           (c->view->basis != VIEW_SAMPLES || c->view->effective >= LEAST_SAMPLES);
}

#define MOSTLY_COPIES 0.5  // of the time of both
#define MOSTLY_IDLE 0.5    // of the time of kernels
#define OUTSIDE 0.02       // of the warps' time

// printf, malloc and the like are the driver's and take microseconds: with them a kernel is another one than without.
// Told of the call that is waited for most. Calls through pointers may be anything.
static Status tell_outside(AdviceMaker *m, AdviceCase *c) {
    const CasePart *worst;
    u32 at;
    f64 part = 100 * case_outside(c, &worst, &at);
    if (part < 100 * OUTSIDE) return STATUS_OK;
    const char *kernel = c->view->function->name, *place = place_text(c, worst, at), *name = callee_name(worst, at);
    return note(m, arena_printf(m->context.arena,
                                "%s spends %.0f %% of its warps' time in %s at %s: take it out first, all else is with "
                                "it",
                                kernel, part, name, place));
}

static Status look_at(AdviceMaker *m, const KernelView *view) {
    AdviceCase c;
    AdviceKernel kernel = {.view = view, .limit = case_short(m->context.arena, view)};
    const char *others = not_to_change(m, view);
    Status status = case_make(&m->context, view, &m->scratch, &c);
    if (status == STATUS_OK && has_samples(&c)) {
        status = others ? leave_out(m, view, others) : run_rules(m, &c);
        kernel.of_library = others != NULL;
        if (!*kernel.limit) kernel.limit = case_limit(&c);
        kernel.stalled = case_share(&c, c.load.total - c.load.issued - c.load.not_selected);
        if (status == STATUS_OK) status = rank_kernel(m, &c);
        if (status == STATUS_OK && !others) status = tell_outside(m, &c);
    } else if (status == STATUS_OK) {
        status = leave_out(m, view, view->no_code ? view->no_code : "too few samples");
    }
    case_free(&c);
    arena_reset(&m->scratch);
    return status == STATUS_OK ? vec_push(&m->kernels, kernel) : status;
}

static Status find_kernels(AdviceMaker *m) {
    const AdviceOptions *o = m->options;
    const ProfileFunction *const *functions;
    u32 count;
    AdviceContext *x = &m->context;
    u32 most = o->most_kernels ? o->most_kernels : MOST_KERNELS;
    TRY(profile_functions(x->profile, &x->functions, &x->function_count, x->diag));
    TRY(kernel_views_launched(x->views, most, o->wanted, o->context, &functions, &count));
    x->kernels = ARENA_ARRAY(x->arena, const KernelView *, count + 1);
    if (!x->kernels) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++)
        TRY(kernel_views_get(x->views, functions[i], &x->kernels[x->kernel_count++], x->diag));
    return STATUS_OK;
}

#define ENOUGH_PERIODS 500
#define USUAL_MHZ 1500.0                       // of a GPU that is not known
enum { LEAST_PERIOD = 10, MOST_PERIOD = 16 };  // what CUPTI can decode, and what is taken anyway

u32 advice_period(f64 total_ns, const GpuModel *gpu) {
    f64 cycles = total_ns * (gpu && gpu->clock_mhz ? (f64)gpu->clock_mhz : USUAL_MHZ) / 1000;
    u32 period = LEAST_PERIOD;
    while (period < MOST_PERIOD && cycles / (f64)(2ull << period) >= ENOUGH_PERIODS) period++;
    return period;
}

// What the collector said when it could not sample, NULL if it did not.
static Status find_refusal(AdviceMaker *m, const char **refusal) {
    const char *const *texts;
    u32 count;
    *refusal = NULL;
    TRY(profile_messages(m->context.profile, &texts, &count, m->context.diag));
    for (u32 i = 0; i < count && !*refusal; i++)
        if (strstr(texts[i], "sampling")) *refusal = texts[i];
    return STATUS_OK;
}

// The names that could have been asked for.
static Status tell_none_wanted(AdviceMaker *m) {
    const ProfileFunction *const *functions;
    const char *names = "";
    u32 count;
    TRY(kernel_views_launched(m->context.views, KERNELS_NAMED + 1, NULL, NULL, &functions, &count));
    for (u32 i = 0; i < count && names; i++)
        names = arena_printf(m->context.arena, "%s%s%s", names, i ? ", " : "; there are ",
                             i < KERNELS_NAMED ? functions[i]->name : "...");
    return note(m, names ? arena_printf(m->context.arena,
                                        "no kernel that was launched is among those that were asked for%s", names)
                         : NULL);
}

// Why no launch has samples, when it is not for want of looking; NULL: they were not looked for.
static Status find_trouble(AdviceMaker *m, const char **trouble) {
    ProfileSummary summary;
    u32 launched = 0, failed = 0, unfinished = 0;
    TRY(profile_summary(m->context.profile, &summary, m->context.diag));
    for (u32 i = 0; i < m->context.kernel_count; i++) {
        const ProfileLaunch *launches;
        u32 count;
        TRY(profile_launches(m->context.profile, m->context.kernels[i]->function->id, &launches, &count,
                             m->context.diag));
        launched += count;
        for (u32 k = 0; k < count; k++) failed += launches[k].status != 0, unfinished += launches[k].end_ns == 0;
    }
    *trouble = NULL;
    if (!summary.launches)
        *trouble = "no launch was profiled: the program launched no kernel, or none that was to be profiled";
    else if (failed == launched)
        *trouble = "all launches failed; `warplens report` has the messages";
    else if (unfinished == launched && !summary.complete)
        *trouble = "no launch had ended when the run was cut off, and what is known of one is written when it ends: "
                   "let the program run longer, or give it less to do";
    return STATUS_OK;
}

// Why nothing can be said, and what to do.
static Status tell_no_samples(AdviceMaker *m) {
    const char *refusal, *trouble;
    const ProfileSource *sources;
    u32 count;
    f64 ns = 0;
    bool on_gpu = false;
    if (m->options->wanted && !m->context.kernel_count) return tell_none_wanted(m);
    TRY(profile_sources(m->context.profile, &sources, &count, m->context.diag));
    for (u32 i = 0; i < count; i++) on_gpu |= !strcmp(sources[i].tool, "CUPTI");
    for (u32 i = 0; i < m->context.kernel_count; i++) ns += m->context.kernels[i]->launches.total_ns;
    TRY(find_trouble(m, &trouble));
    if (trouble && !on_gpu) return note(m, trouble);
    if (!on_gpu || ns <= 0)
        return note(m, "the profile has no samples of kernels: run the program with `warplens run --timing`, or on a "
                       "GPU with `--on gpu`");
    TRY(find_refusal(m, &refusal));
    if (refusal) return note(m, arena_printf(m->context.arena, "the profile has no samples of kernels: %s", refusal));
    return note(m, arena_printf(m->context.arena,
                                "the profile has no samples of kernels, which ran for %.3g us in all: let the program "
                                "launch them more often, or sample more often (`run --sampling-period 2^%u`), and "
                                "without `--interval` or `--sampling off`",
                                ns / 1000, advice_period(ns, m->context.kernels[0]->gpu)));
}

// The collector keeps its own cost low where launches follow each other fast.
static Status tell_unmeasured(AdviceMaker *m) {
    f64 ns = 0, error = 0;
    u32 count = 0, unknown = 0, all = 0;
    for (u32 i = 0; i < m->context.kernel_count; i++) {
        const ViewLaunches *l = &m->context.kernels[i]->launches;
        ns += l->total_ns;
        error += l->error_ns;
        count += l->unmeasured;
        unknown += l->unknown;
        all += l->count;
    }
    if (ns <= 0) return STATUS_OK;
    if (unknown)
        TRY(note(m, arena_printf(m->context.arena,
                                 "%u of %u launches are of kernels without any time; theirs is what their samples "
                                 "make likely (`run --all-times` takes them all)",
                                 unknown, all)));
    if (!count) return STATUS_OK;
    return note(m, arena_printf(m->context.arena,
                                "%u of %u launches were recorded without their times, which are taken to be those of "
                                "launches alike: GPU time may be off by %.2g %%",
                                count, all, 100 * error / ns));
}

// Without its model no limit of a GPU's units is known, and what a change brings is expected from samples alone.
static Status tell_unknown_gpus(AdviceMaker *m) {
    const ProfileSource *sources;
    u32 count, unknown = 0;
    for (u32 i = 0; i < m->context.kernel_count; i++) unknown += !m->context.kernels[i]->gpu;
    if (!unknown) return STATUS_OK;
    TRY(profile_sources(m->context.profile, &sources, &count, m->context.diag));
    const char *device = count && *sources[0].device ? sources[0].device : "the GPU";
    return note(m, arena_printf(m->context.arena,
                                "there is no model of %s in share/warplens/gpus: what its units and its memory can "
                                "do is not known, and estimates are rougher for it (docs/how-to-add-a-gpu.md)",
                                device));
}

// No kernel can give back what copies take.
static Status tell_copies(AdviceMaker *m) {
    AdviceTimes times;
    TRY(time_of_all(m, &times));
    f64 part = times.kernel_ns > 0 ? times.copy_ns / (times.copy_ns + times.kernel_ns) : 0;
    if (part < MOSTLY_COPIES) return STATUS_OK;
    return note(m,
                arena_printf(m->context.arena,
                             "%.0f %% of the time of kernels and copies is that of copies: keep data on the GPU from "
                             "kernel to kernel, or copy beside kernels (pinned memory, several streams)",
                             100 * part));
}

static bool leaves_sms_out(const KernelView *view) {
    const ProfileLaunch *l = view->launches.typical;
    u64 ctas = l ? (u64)l->grid[0] * l->grid[1] * l->grid[2] : 0;
    return view->gpu && ctas && ctas < view->gpu->sms;
}

// A program that is tried out with little to do is not the one that has much to do.
static Status tell_small_grids(AdviceMaker *m) {
    f64 all = 0, small = 0;
    u64 sms = 0;
    for (u32 i = 0; i < m->context.kernel_count; i++) {
        const KernelView *view = m->context.kernels[i];
        all += view->launches.total_ns;
        if (!leaves_sms_out(view)) continue;
        small += view->launches.total_ns;
        sms = view->gpu->sms;
    }
    if (small <= MOSTLY_IDLE * all) return STATUS_OK;
    return note(m, arena_printf(m->context.arena,
                                "%.0f %% of the time of kernels is that of grids with fewer CTAs than the GPU has SMs "
                                "(%" PRIu64 "): if that is a small size of the problem, larger ones may be limited by "
                                "something else, so profile the size that matters",
                                100 * small / all, sms));
}

static Status look_at_all(AdviceMaker *m) {
    u64 samples = 0;
    TRY(find_kernels(m));
    for (u32 i = 0; i < m->context.kernel_count; i++) samples += m->context.kernels[i]->total;
    if (!samples) return tell_no_samples(m);
    for (u32 i = 0; i < m->context.kernel_count; i++) TRY(look_at(m, m->context.kernels[i]));
    TRY(tell_unmeasured(m));
    TRY(tell_unknown_gpus(m));
    TRY(tell_copies(m));
    TRY(tell_small_grids(m));
    return tell_left_out(m);
}

// --- the list ------------------------------------------------------------------------------------------------------
static Status make(AdviceMaker *m, Diag *diag) {
    TRY(check_names(m->options->only, m->options->only ? m->options->only_count : 0, diag));
    TRY(check_names(m->options->except, m->options->except ? m->options->except_count : 0, diag));
    TRY(profile_experiments(m->context.profile, &m->context.experiments, &m->context.experiment_count, diag));
    TRY(look_at_all(m));
    return rank_all(m);
}

Status advice_make(Profile *profile, KernelViews *views, const AdviceOptions *options, Arena *arena, AdviceList **list,
                   Diag *diag) {
    AdviceMaker m = {.context = {.profile = profile, .views = views, .arena = arena, .diag = diag},
                     .options = options ? options : &(AdviceOptions){0}};
    m.least = m.options->least > 0 ? m.options->least : LEAST_GAIN;
    Status status = make(&m, diag);
    *list = status == STATUS_OK ? m.list : NULL;
    vec_free(&m.rows);
    vec_free(&m.kernels);
    vec_free(&m.notes);
    vec_free(&m.left_out);
    arena_free(&m.scratch);
    return status;
}
