// SPDX-License-Identifier: Apache-2.0
// streaming-hints: data that is used once evicts from the L2 what is used again.
#include <math.h>

#include "analyze/advice/rule.h"

#define LEAST_MISSES 0.1
#define LEAST_STREAM 0.1  // of the sectors: with fewer, what is used again evicts itself
#define KEPT 0.5          // of what is read again: how much would stay is not known, none to all are as likely

typedef struct Streams {
    f64 stream, again;  // sectors
    u32 count;
    const CasePart *part;
    u32 pc;
    f64 most;
} Streams;

// In order, each word once: neighbouring lanes next to each other, and never the same word in a further turn.
static bool is_stream(const CasePart *part, const CaseAccess *a) {
    u32 loop = part->insns[a->pc].loop;
    i64 step = 0;
    if (!a->affine || a->uniform || a->atomic || part->insns[a->pc].traits & TRAIT_HINTED) return false;
    if (a->affine->stride_kind[0] != AFFINE_STRIDE_CONSTANT || a->affine->stride[0] != a->bytes) return false;
    if (loop == WL_NONE) return true;
    AffineStride kind = affine_step(part->view->flow.affine, a->affine->form, loop, &step);
    return kind == AFFINE_STRIDE_SYMBOLIC || (kind == AFFINE_STRIDE_CONSTANT && (step >= 32 || step <= -32));
}

// Anywhere in a table: the address comes from other data.
static bool is_look_up(const CaseAccess *a) { return a->gathered && !a->uniform; }

static void add(const CasePart *part, const CaseAccess *a, Streams *s) {
    f64 sectors = a->requests * a->sectors;
    if (is_look_up(a)) s->again += sectors;
    if (!access_is_global(a) || !is_stream(part, a)) return;
    s->stream += sectors;
    s->count++;
    if (sectors > s->most) s->most = sectors, s->part = part, s->pc = a->pc;
}

static void keep_tables(Hit *hit, const CasePart *part) {
    const AdviceCase *c = hit->c;
    f64 from_dram = c->l2_miss * KEPT;
    for (u32 i = 0; i < part->access_count; i++) {
        const CaseAccess *a = &part->accesses[i];
        if (!is_look_up(a)) continue;
        hit_blamed(hit, part, a->pc, STALL_BIT(LONG_SCOREBOARD), from_dram * fmax(c->waiting, 0.5));
        if (c->misses_known) hit_relieve(hit, RESOURCE_DRAM, part->insns[a->pc].use[RESOURCE_DRAM] * KEPT);
    }
}

void rule_streaming_hints(AdviceCase *c) {
    Streams s = {0};
    for (u32 p = 0; p < c->part_count; p++)
        for (u32 i = 0; i < c->parts[p].access_count; i++) add(&c->parts[p], &c->parts[p].accesses[i], &s);
    bool counted = c->view->metrics.present[METRIC_L2_HITS];
    if (!s.count || s.again <= 0 || s.stream < LEAST_STREAM * (s.stream + s.again)) return;
    if (counted && c->l2_miss < LEAST_MISSES) return;
    Hit *hit = hit_begin(c);
    for (u32 p = 0; p < c->part_count; p++) keep_tables(hit, &c->parts[p]);
    if (counted)
        hit_fact(hit, "lts__t_sector_hit_rate.pct", 100 * (1 - c->l2_miss), "%", "%.0f %% of the sectors hit the L2",
                 100 * (1 - c->l2_miss));
    f64 share = 100 * s.stream / (s.stream + s.again);
    hit_fact(hit, "stream_share", share, "%",
             "%.0f %% of the sectors are accessed once and in order, by %u instructions", share, s.count);
    hit->doubtful = true;
    hit_end_line(hit, s.part, s.pc, "Mark what is used once at %s as streaming", place_text(c, s.part, s.pc));
}
