// SPDX-License-Identifier: Apache-2.0
// What a rule found, put together piece by piece: the samples that matched, what goes away with them, the words.
#include <math.h>
#include <stdlib.h>

#include "analyze/advice/rule.h"

static const AdviceText texts[] = {
#define ADVICE_TEXT(id, why, how, before, after) {why, how, before, after},
#include "analyze/advice/texts.def"
#undef ADVICE_TEXT
};

void hit_text(Hit *hit, AdviceTextId id) { hit->text = &texts[id]; }

Hit *hit_begin(AdviceCase *c) {
    Hit *hit = ARENA_NEW(c->scratch, Hit);
    if (!hit) {
        c->status = STATUS_NO_MEMORY;
        hit = &c->spare;
    }
    *hit = (Hit){.c = c, .rule = c->rule, .caution = "", .basis = ""};
    return hit;
}

static bool failed(const Hit *hit) { return hit->c->status != STATUS_OK; }

// --- samples -------------------------------------------------------------------------------------------------------
// What of the samples is in EstimateLoad.queued already, so that it is not taken away twice (queues.c).
static void take_queue(Hit *hit, const CasePart *part, const BlameEdge *edge, f64 samples) {
    const AdviceCase *c = hit->c;
    f64 *queued = hit->change.queued;
    Resource queue;
    f64 in_line = case_in_line(c, part, edge, &queue);
    queued[queue] += samples * in_line;
    switch ((StallReason)edge->reason) {
    case STALL_LG_THROTTLE: queued[c->full] += samples; break;
    case STALL_MIO_THROTTLE: queued[case_slow_unit(c)] += samples; break;
    case STALL_MATH_PIPE_THROTTLE:
        for (u32 r = 0; r < RESOURCE_COUNT; r++)
            if (part->insns[edge->use].use[r] > 0) queued[r] += samples;
        break;
    default: break;
    }
    if (edge->reason == STALL_BARRIER) hit->change.barrier += samples;
    if (edge->reason == STALL_LONG_SCOREBOARD && part->insns[edge->def].use[RESOURCE_DRAM] > 0)
        hit->change.from_dram += samples;
}

static void add_spot(Hit *hit, const CasePart *part, const BlameEdge *edge, f64 samples) {
    if (samples <= 0) return;
    HitSpot spot = {.part = part,
                    .use = edge->use,
                    .def = edge->def,
                    .reason = edge->reason,
                    .class = edge->class,
                    .samples = samples,
                    .whole = edge->samples * part->weight};
    if (vec_push(&hit->spots, spot) != STATUS_OK) hit->c->status = STATUS_NO_MEMORY;
}

static bool matches(const BlameEdge *edge, u32 reasons) {
    return !STALLED_BY_OTHERS(edge->reason) && reasons & 1u << edge->reason;
}

f64 hit_blamed(Hit *hit, const CasePart *part, u32 pc, u32 reasons, f64 fraction) {
    return hit_blamed_where(hit, part, pc, reasons, fraction, NULL);
}

f64 hit_blamed_where(Hit *hit, const CasePart *part, u32 pc, u32 reasons, f64 fraction,
                     bool (*wanted)(const CasePart *part, const BlameEdge *edge)) {
    f64 all = 0;
    if (failed(hit)) return 0;
    for (u32 i = part->first_blaming[pc]; i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *edge = &part->blame->edges[part->blaming[i]];
        f64 samples = edge->samples * part->weight * fraction;
        if (!matches(edge, reasons) || (wanted && !wanted(part, edge))) continue;
        add_spot(hit, part, edge, samples);
        take_queue(hit, part, edge, samples);
        all += samples;
    }
    hit->change.stalls += all;
    return all;
}

void hit_no_queue(Hit *hit, const CasePart *part, u32 pc, f64 gone) {
    u32 waits = STALL_BIT(LONG_SCOREBOARD) | STALL_BIT(SHORT_SCOREBOARD) | STALL_BIT(BARRIER);
    for (u32 i = part->first_blaming[pc]; case_access(part, pc) && i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *edge = &part->blame->edges[part->blaming[i]];
        f64 stay = waits & 1u << edge->reason ? edge->samples * part->weight * (1 - gone) : 0;
        Resource queue;
        f64 in_line = case_in_line(hit->c, part, edge, &queue);
        hit->change.queued[queue] += stay * in_line;
    }
}

f64 hit_overlapped(Hit *hit, const CasePart *part, u32 pc, u32 reasons, u32 loop, f64 fraction) {
    f64 all = 0;
    if (failed(hit)) return 0;
    for (u32 i = part->first_blaming[pc]; i < part->first_blaming[pc + 1]; i++) {
        const BlameEdge *edge = &part->blame->edges[part->blaming[i]];
        f64 samples = edge->latency_samples * part->weight * fraction;
        if (!matches(edge, reasons) || (loop != WL_NONE && !loop_has(part, loop, edge->use))) continue;
        add_spot(hit, part, edge, samples);
        all += samples;
    }
    hit->change.hidden += all;
    return all;
}

f64 hit_stalled(Hit *hit, const CasePart *part, u32 pc, u32 reasons, f64 fraction) {
    f64 all = 0;
    if (failed(hit)) return 0;
    for (u32 i = part->blame->first[pc]; i < part->blame->first[pc + 1]; i++) {
        const BlameEdge *edge = &part->blame->edges[i];
        f64 samples = edge->samples * part->weight * fraction;
        if (!matches(edge, reasons)) continue;
        add_spot(hit, part, edge, samples);
        take_queue(hit, part, edge, samples);
        all += samples;
    }
    hit->change.stalls += all;
    return all;
}

void hit_unissue(Hit *hit, const CasePart *part, u32 pc, f64 fraction) {
    const CaseInsn *in = &part->insns[pc];
    const EstimateLoad *load = &hit->c->load;
    hit->change.issues += in->issued * fraction;
    if (load->issued > 0) hit->change.held += (in->held - in->issued * load->held / load->issued) * fraction;
    for (u32 r = 0; r < RESOURCE_COUNT; r++) hit->change.relief[r] += in->use[r] * fraction;
}

void hit_spare(Hit *hit, const CasePart *part, u32 pc, f64 fraction) {
    hit_blamed(hit, part, pc, UINT32_MAX, fraction);
    hit_unissue(hit, part, pc, fraction);
}

void hit_remove(Hit *hit, const CasePart *part, u32 pc, f64 fraction) {
    hit_spare(hit, part, pc, fraction);
    hit_edit(hit, EDIT_FREE, part, pc, fraction);
}

void hit_edit(Hit *hit, EditKind kind, const CasePart *part, u32 pc, f64 fraction) {
    HitEdit edit = {.part = part, .pc = pc, .kind = (u8)kind, .percent = (u8)(100 * fraction + 0.5)};
    if (part->view->kind != VIEW_PTX || !edit.percent || failed(hit)) return;
    if (vec_push(&hit->edits, edit) != STATUS_OK) hit->c->status = STATUS_NO_MEMORY;
}

void hit_relieve(Hit *hit, Resource resource, f64 part_of_time) { hit->change.relief[resource] += part_of_time; }

// Cycles, of a GPU that is not known.
#define SPECIAL_INTERVAL 8.0
#define ALU_INTERVAL 2.0

static void add_issues(Hit *hit, Resource unit, f64 issued, f64 interval) {
    const AdviceCase *c = hit->c;
    if (issued <= 0 || c->load.issued <= 0) return;
    hit->change.issues -= issued;
    hit_relieve(hit, unit, -issued * interval * c->load.issue_rate / c->load.issued);
}

void hit_add_special(Hit *hit, f64 issued) {
    add_issues(hit, RESOURCE_XU, issued, hit->c->gpu ? (f64)hit->c->gpu->xu_interval : SPECIAL_INTERVAL);
}

void hit_add_integer(Hit *hit, f64 issued) {
    add_issues(hit, RESOURCE_ALU, issued, hit->c->gpu ? (f64)hit->c->gpu->alu_interval : ALU_INTERVAL);
}

void hit_shorten(Hit *hit, const CasePart *part, u32 pc, f64 fraction) {
    const EstimateLoad *load = &hit->c->load;
    f64 use = part->insns[pc].use[RESOURCE_LSU], left = 1 - fraction;
    hit_relieve(hit, RESOURCE_LSU, use * fraction);
    if (load->turns <= 0 || load->busy[RESOURCE_LSU] <= 0) return;
    f64 squares = use * part->insns[pc].turn * (1 - left * left) / load->turns;
    hit->change.shorter += squares - use * fraction / load->busy[RESOURCE_LSU];
}

// --- words ---------------------------------------------------------------------------------------------------------
#define FORMATTED(into)                               \
    do {                                              \
        va_list args_;                                \
        va_start(args_, format);                      \
        (into) = case_vprintf(hit->c, format, args_); \
        va_end(args_);                                \
    } while (0)

void hit_fact(Hit *hit, const char *name, f64 value, const char *unit, const char *format, ...) {
    const char *text;
    FORMATTED(text);
    AdviceFact fact = {.name = name, .text = text, .value = value, .unit = unit};
    if (!failed(hit) && vec_push(&hit->facts, fact) != STATUS_OK) hit->c->status = STATUS_NO_MEMORY;
}

void hit_caution(Hit *hit, const char *format, ...) { FORMATTED(hit->caution); }
void hit_basis(Hit *hit, const char *format, ...) { FORMATTED(hit->basis); }

void hit_of_shape(Hit *hit) {
    const ViewLaunches *l = &hit->c->view->launches;
    hit->of_shape = true;
    if (l->shapes < 2 || l->alike >= MOSTLY_ALIKE) return;
    hit_fact(hit, "launches_alike", 100 * l->alike, "%",
             "launches have %u shapes; the advice is for those like the typical one, %.0f %% of the kernel's time",
             l->shapes, 100 * l->alike);
}

// --- the end -------------------------------------------------------------------------------------------------------
// Where cuRAND's states skip ahead nobody changes single lines: not doing it is all that can be done.
static bool is_not_to_edit(const Hit *hit, const CasePart *part, u32 pc) {
    bool own = advice_functions[hit->rule - advice_rules] == rule_random_states;
    return !own && loop_skips_ahead(part, part->insns[pc].loop);
}

static void keep(Hit *hit, AdvicePlaceKind kind, const CasePart *part, u32 pc, u32 pc_end) {
    if ((kind == PLACE_LINE || kind == PLACE_LOOP) && is_not_to_edit(hit, part, pc)) return hit_drop(hit);
    const ProfilePlace *line = pc < part->view->insn_count ? &part->view->places[pc] : NULL;
    hit_constants_meet(hit);
    hit->scope = (AdvicePlace){.kind = kind,
                               .view = part->view,
                               .pc = pc,
                               .pc_end = pc_end,
                               .line = line && line->line ? line : NULL,
                               .cause_pc = WL_NONE,
                               .stall = STALL_SELECTED};
    if (!failed(hit) && vec_push(&hit->c->hits, hit) != STATUS_OK) hit->c->status = STATUS_NO_MEMORY;
    if (!failed(hit)) return;
    vec_free(&hit->spots);
    vec_free(&hit->facts);
    vec_free(&hit->edits);
}

void hit_end_kernel(Hit *hit, const char *format, ...) {
    FORMATTED(hit->what);
    if (hit->c->part_count) keep(hit, PLACE_KERNEL, &hit->c->parts[0], 0, hit->c->view->insn_count);
}

void hit_end_function(Hit *hit, const CasePart *part, const char *format, ...) {
    FORMATTED(hit->what);
    keep(hit, PLACE_FUNCTION, part, 0, part->view->insn_count);
}

void hit_end_loop(Hit *hit, const CasePart *part, u32 loop, const char *format, ...) {
    const FlowResults *flow = &part->view->flow;
    const FlowLoop *l = &flow->loops->loops[loop];
    u32 first = UINT32_MAX, end = 0;
    FORMATTED(hit->what);
    for (u32 i = 0; i < l->block_count; i++) {
        const FlowBlock *b = &flow->cfg->blocks[flow->loops->members[l->blocks + i]];
        if (b->first < first) first = b->first;
        if (b->first + b->count > end) end = b->first + b->count;
    }
    u32 header = loop_line_pc(part, loop);
    keep(hit, PLACE_LOOP, part, header, end);
    hit->scope.pc = first;
    hit->scope.line = part->view->places[header].line ? &part->view->places[header] : NULL;
}

void hit_end_line(Hit *hit, const CasePart *part, u32 pc, const char *format, ...) {
    FORMATTED(hit->what);
    hit->remedy = format;
    keep(hit, PLACE_LINE, part, pc, pc + 1);
}

void hit_drop(Hit *hit) {
    vec_free(&hit->spots);
    vec_free(&hit->facts);
    vec_free(&hit->edits);
}
