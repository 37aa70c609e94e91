// SPDX-License-Identifier: Apache-2.0
#include "view/report_timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/blame.h"
#include "analyze/limit.h"
#include "ptx/ops.h"

const StallText stall_texts[] = {
#define STALL(metric, name, cause, meaning) {METRIC_STALL_##metric, name, cause, meaning},
#include "view/stalls.def"
#undef STALL
};
const u32 stall_text_count = WL_COUNT(stall_texts);

const StallText *stall_text_find(const char *name) {
    for (u32 i = 0; i < stall_text_count; i++)
        if (strcmp(stall_texts[i].name, name) == 0) return &stall_texts[i];
    return NULL;
}

const StallText *stall_text_main(const MetricSet *metrics) {
    const StallText *most = NULL;
    for (u32 i = 0; i < stall_text_count; i++) {
        f64 value = metrics->value[stall_texts[i].metric];
        if (value > 0 && (!most || value > metrics->value[most->metric])) most = &stall_texts[i];
    }
    return most;
}

static const struct {
    const char *reason;
    u32 class;
    const char *cause;
} awaited[] = {
#define AWAITED(reason, class, cause) {reason, BLAME_##class, cause},
#include "view/stalls.def"
#undef AWAITED
};

const char *stall_cause_words(const StallText *reason, u32 class) {
    for (u32 i = 0; i < WL_COUNT(awaited); i++)
        if (awaited[i].class == class && strcmp(awaited[i].reason, reason->name) == 0) return awaited[i].cause;
    return reason->cause;
}

static const struct {
    const char *reason;
    u32 class;
    const char *meaning;
} meanings[] = {
#define MEANING(reason, class, meaning) {reason, BLAME_##class, meaning},
#include "view/stalls.def"
#undef MEANING
};

// What the reason means for a kernel most of whose waits of that reason are for one kind of thing.
static const char *meaning_for(const ReportKernel *kernel, const StallText *reason) {
    f64 cycles[BLAME_CLASS_COUNT] = {0};
    u32 most = 0;
    for (u32 i = 0; i < kernel->stall_count; i++)
        if (!strcmp(kernel->stalls[i].reason, reason->name))
            cycles[kernel->stalls[i].cause_class] += kernel->stalls[i].cycles;
    for (u32 c = 1; c < BLAME_CLASS_COUNT; c++)
        if (cycles[c] > cycles[most]) most = c;
    for (u32 i = 0; i < WL_COUNT(meanings); i++)
        if (cycles[most] > 0 && meanings[i].class == most && !strcmp(meanings[i].reason, reason->name))
            return meanings[i].meaning;
    return reason->meaning;
}

static u32 class_of_space(u32 space) {
    switch ((PtxSpace)space) {
    case SPACE_CONST:
    case SPACE_PARAM: return BLAME_CONSTANT;
    case SPACE_LOCAL: return BLAME_LOCAL;
    case SPACE_SHARED:
    case SPACE_SHARED_CLUSTER: return BLAME_SHARED;
    case SPACE_NONE:
    case SPACE_GLOBAL: return BLAME_GLOBAL;
    default: return BLAME_OTHER;
    }
}

// What is waited for, as far as the instruction says it.
static u32 class_of(const ProfilePlace *cause) {
    if (cause->atomic) return BLAME_ATOMIC;
    if (cause->space) return class_of_space(cause->space - 1u);
    switch ((UnitClass)cause->op_class) {
    case UNIT_TEX: return BLAME_TEXTURE;
    case UNIT_CBU: return BLAME_CONTROL;
    case UNIT_XU: return BLAME_SPECIAL;
    default: return BLAME_OTHER;
    }
}

static LimitFacts facts_of(const ReportKernel *kernel) {
    const MetricSet *m = &kernel->metrics;
    f64 cycles = m->value[METRIC_ELAPSED], fixed = limit_fixed(kernel->gpu, kernel->timed_launches, cycles);
    LimitFacts facts = limit_facts(m, kernel->gpu, fixed);
    const u32 *block = kernel->longest ? kernel->longest->block : (const u32[3]){0};
    f64 warps = ceil((f64)block[0] * block[1] * block[2] / 32);
    facts.busy[RESOURCE_LAUNCH] = limit_starts(kernel->gpu, m->value[METRIC_CTAS], warps, cycles * (1 - fixed));
    return facts;
}

#define MANY_TIMES 4.0  // an idle machine's latency: loads of which most wait in line
#define EXPLAINED 0.6   // busy: a unit that works more than that may be what loads wait for

// Loads wait far longer than on an idle machine, and neither L1 nor L2 nor DRAM has so much to do: the atomics among
// them meet on the same words.
static bool wait_behind_atomics(const ReportKernel *kernel, const LimitFacts *facts) {
    static const Resource memory[] = {RESOURCE_LSU, RESOURCE_L2, RESOURCE_DRAM};
    const MetricSet *m = &kernel->metrics;
    const GpuModel *g = kernel->gpu;
    if (!g || m->value[METRIC_GLOBAL_RED_REQ] + m->value[METRIC_GLOBAL_ATOM_REQ] <= 0) return false;
    for (u32 i = 0; i < WL_COUNT(memory); i++)
        if (facts->busy[memory[i]] > EXPLAINED) return false;
    return m->present[METRIC_LOAD_LATENCY] &&
           m->value[METRIC_LOAD_LATENCY] > MANY_TIMES * (f64)(g->l1_latency + g->l2_latency + g->dram_latency);
}

const char *timing_limit(const ReportKernel *kernel, Arena *arena) {
    const MetricSet *m = &kernel->metrics;
    LimitFacts facts = facts_of(kernel);
    Limit limit = limit_of(&facts);
    const StallText *most = stall_text_main(m);
    if (!m->present[METRIC_ELAPSED]) return NULL;
    switch (limit.by) {
    case HELD_BY_LAUNCH:
        return arena_printf(arena, "beginning and ending its launches, %.0f %% of the time", 100 * limit.part);
    case HELD_BY_SMS:
        return arena_printf(arena, "idle SMs: %s (idle for %.0f %% of their time)",
                            m->value[METRIC_GLOBAL_RED_REQ] > 0
                                ? "too few CTAs, too uneven ones, or ones that end before the L2 has done their atomics"
                                : "too few CTAs, or too uneven ones",
                            100 * limit.part);
    case HELD_BY_UNIT:
        return arena_printf(arena, "%s, busy %.0f %% of the time", resource_names[limit.unit], 100 * limit.part);
    case HELD_BY_ISSUE: return arena_printf(arena, "instruction issue, in %.0f %% of all cycles", 100 * limit.part);
    default:
        if (wait_behind_atomics(kernel, &facts))
            return "atomics on the same words: the L2 does them one after the other, and loads wait behind them";
        return most ? meaning_for(kernel, most) : "too few warps";
    }
}

// --- stalls by line ---------------------------------------------------------------------------------------------
typedef struct Loader {
    Report *report;
    Arena *arena;
    Diag *diag;
} Loader;

static Status place_of(Loader *loader, u32 function, u32 pc, ProfilePlace *place) {
    const ProfilePlace *places;
    u32 count;
    *place = (ProfilePlace){0};
    if (!function) return STATUS_OK;
    TRY(profile_places(loader->report->profile, function, &places, &count, loader->diag));
    if (pc < count) *place = places[pc];
    return STATUS_OK;
}

static int compare_texts(const char *a, const char *b) {
    if (!a || !b) return (b == NULL) - (a == NULL);
    return strcmp(a, b);
}

static int compare_places(const ReportStall *a, const ReportStall *b) {
    int order = compare_texts(a->file, b->file);
    if (!order) order = (a->line > b->line) - (a->line < b->line);
    if (!order) order = strcmp(a->reason, b->reason);
    if (!order) order = compare_texts(a->cause_file, b->cause_file);
    if (!order) order = (a->cause_line > b->cause_line) - (a->cause_line < b->cause_line);
    return order;
}

static int by_place(const void *left, const void *right) {
    const ReportStall *a = left, *b = right;
    int order = compare_places(a, b);
    if (!order) order = (a->cause_class > b->cause_class) - (a->cause_class < b->cause_class);
    return order ? order : (a->cycles < b->cycles) - (a->cycles > b->cycles);
}

static int by_cycles(const void *left, const void *right) {
    const ReportStall *a = left, *b = right;
    if (a->cycles != b->cycles) return a->cycles < b->cycles ? 1 : -1;
    return compare_places(a, b);
}

u32 report_join_stalls(ReportStall *rows, u32 count) {
    u32 kept = 0;
    f64 most = 0;  // cycles of one row of the place
    qsort(rows, count, sizeof *rows, by_place);
    for (u32 i = 0; i < count; i++) {
        f64 cycles = rows[i].cycles;
        if (kept && compare_places(&rows[kept - 1], &rows[i]) == 0) {
            if (cycles > most) rows[kept - 1].cause_class = rows[i].cause_class;
            most = fmax(most, cycles);
            rows[kept - 1].cycles += rows[i].cycles;
            rows[kept - 1].times += rows[i].times;
        } else {
            rows[kept++] = rows[i];
            most = cycles;
        }
    }
    qsort(rows, kept, sizeof *rows, by_cycles);
    return kept;
}

static const char *reason_of(const ProfileStall *stalls, u32 count, u32 id) {
    for (u32 i = 0; i < count; i++)
        if (stalls[i].id == id) return stalls[i].name;
    return "unknown";
}

static Status load_stalls(Loader *loader, ReportKernel *kernel) {
    Profile *profile = loader->report->profile;
    const ProfileStallCause *causes;
    const ProfileStall *stalls;
    u32 count, names;
    TRY(profile_stall_causes(profile, kernel->function, &causes, &count, loader->diag));
    TRY(profile_stalls(profile, kernel->function->source, &stalls, &names, loader->diag));
    ReportStall *rows = ARENA_ARRAY(loader->arena, ReportStall, count + 1u);
    if (!rows) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < count; i++) {
        const ProfileStallCause *c = &causes[i];
        ProfilePlace at, cause;
        TRY(place_of(loader, kernel->function->id, c->pc, &at));
        TRY(place_of(loader, c->cause_function, c->cause_pc, &cause));
        rows[i] = (ReportStall){.file = at.file,
                                .line = at.line,
                                .reason = reason_of(stalls, names, c->stall),
                                .cause_file = cause.file,
                                .cause_line = cause.line,
                                .cause_class = class_of(&cause),
                                .cycles = (f64)c->cycles,
                                .times = (f64)c->times};
    }
    kernel->stall_count = report_join_stalls(rows, count);
    kernel->stalls = rows;
    return STATUS_OK;
}

Status report_load_timing(Report *report, ReportKernel *kernel, Arena *arena, Diag *diag) {
    Loader loader = {report, arena, diag};
    TRY(load_stalls(&loader, kernel));
    u64 longest = 0;
    f64 insts = 0, detailed = 0;
    for (u32 i = 0; i < kernel->launch_count; i++) {
        const ProfileTime *time = &kernel->launches[i].time;
        kernel->timed_launches += time->known;
        if (!time->known) continue;
        f64 executed = kernel->launches[i].metrics->value[METRIC_INST];
        insts += executed;
        detailed += executed * time->detail;
        kernel->low += (f64)time->low_cycles;
        kernel->high += (f64)time->high_cycles;
        kernel->estimated_launches += time->estimated;
        if (time->end_cycle - time->begin_cycle <= longest) continue;
        longest = time->end_cycle - time->begin_cycle;
        kernel->longest = &kernel->launches[i];
    }
    kernel->detail = insts > 0 ? detailed / insts : 1;
    return profile_latencies(report->profile, kernel->function, &kernel->latencies, &kernel->latency_count, diag);
}
