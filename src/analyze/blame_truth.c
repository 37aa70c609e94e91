// SPDX-License-Identifier: Apache-2.0
// The blame against what truly was waited for: of each use and reason the overlap of both distributions over causes.
#include <math.h>
#include <string.h>

#include "analyze/blame.h"
#include "base/floats.h"
#include "base/map.h"

typedef struct Comparison {
    const Blame *blame;
    f64 *by_pc;  // what of the use's stalls is blamed on an instruction
    Map lines;   // line of a cause -> what is blamed on it, as bits of an f64
    f64 hit, line_hit;
    f64 class_hit[BLAME_CLASS_COUNT], reason_hit[STALL_COUNT];
    BlameTruth *truth;
} Comparison;

// Lines of one file and number are one; without any each instruction is a line of its own.
static u64 line_of(const KernelView *view, u32 pc) {
    ProfilePlace place = view->places[pc];
    if (!place.line) return UINT64_MAX - pc;
    u64 file = place.file ? hash_bytes(place.file, strlen(place.file)) : 0;
    return file << 24 ^ place.line;
}

static Status add_line(Map *lines, u64 line, f64 value) {
    u64 *known = map_get(lines, line);
    return map_put(lines, line, bits_of_f64(value + (known ? f64_of_bits(*known) : 0)));
}

// The edges of a use and reason, as parts of 1; false: the blamer saw no stalls there.
static bool blamed_edges(const Blame *blame, u32 use, u32 reason, const BlameEdge **first, u32 *count, f64 *sum) {
    const BlameEdge *at = blame->edges + blame->first[use], *end = blame->edges + blame->first[use + 1];
    while (at < end && at->reason < reason) at++;
    *first = at;
    *sum = 0;
    for (; at < end && at->reason == reason; at++) *sum += at->samples;
    *count = (u32)(at - *first);
    return *sum > 0;
}

static f64 overlap(f64 blamed, f64 *left) {
    f64 shared = blamed < *left ? blamed : *left;
    return shared > 0 ? shared : 0;
}

static BlameClass class_of_cause(const BlameEdge *edges, u32 count, u32 cause, StallReason reason) {
    for (u32 i = 0; i < count; i++)
        if (edges[i].def == cause) return (BlameClass)edges[i].class;
    return reason == STALL_BARRIER ? BLAME_BARRIER : count ? (BlameClass)edges[0].class : BLAME_OTHER;
}

// Causes in [first, first + count) are of one use and reason.
static Status compare_group(Comparison *c, const ProfileStallCause *first, u32 count) {
    const KernelView *view = c->blame->view;
    const BlameEdge *edges;
    u32 edge_count;
    f64 sum, cycles = 0;
    if (!blamed_edges(c->blame, first->pc, first->stall, &edges, &edge_count, &sum)) return STATUS_OK;
    for (u32 i = 0; i < count; i++) cycles += (f64)first[i].cycles;
    Map lines = {0};
    Status status = STATUS_OK;
    for (u32 i = 0; i < edge_count && status == STATUS_OK; i++) {
        c->by_pc[edges[i].def] = edges[i].samples / sum * cycles;
        status = add_line(&lines, line_of(view, edges[i].def), edges[i].samples / sum * cycles);
    }
    for (u32 i = 0; i < count && status == STATUS_OK; i++) {
        bool own = first[i].cause_function == view->function->id && first[i].cause_pc < view->insn_count;
        f64 truth = (f64)first[i].cycles, hit = own ? overlap(truth, &c->by_pc[first[i].cause_pc]) : 0;
        BlameClass class = class_of_cause(edges, edge_count, first[i].cause_pc, (StallReason)first->stall);
        c->hit += hit;
        c->class_hit[class] += hit;
        c->reason_hit[first->stall] += hit;
        c->truth->cycles += truth;
        c->truth->class_cycles[class] += truth;
        c->truth->reason_cycles[first->stall] += truth;
        u64 *line = own ? map_get(&lines, line_of(view, first[i].cause_pc)) : NULL;
        f64 left = line ? f64_of_bits(*line) : 0, same = overlap(truth, &left);
        c->line_hit += same;
        if (line) status = add_line(&lines, line_of(view, first[i].cause_pc), -same);
    }
    for (u32 i = 0; i < edge_count; i++) c->by_pc[edges[i].def] = 0;
    map_free(&lines);
    return status;
}

static f64 part(f64 hit, f64 of) { return of > 0 ? hit / of : (f64)NAN; }

Status blame_compare(const Blame *blame, Arena *arena, BlameTruth *truth) {
    const KernelView *view = blame->view;
    Comparison c = {.blame = blame, .truth = truth, .by_pc = ARENA_ARRAY(arena, f64, view->insn_count + 1)};
    *truth = (BlameTruth){0};
    if (!c.by_pc) return STATUS_NO_MEMORY;
    for (u32 i = 0, next; i < view->cause_count; i = next) {
        const ProfileStallCause *first = &view->causes[i];
        for (next = i + 1; next < view->cause_count; next++)
            if (view->causes[next].pc != first->pc || view->causes[next].stall != first->stall) break;
        TRY(compare_group(&c, first, next - i));
    }
    truth->precision = part(c.hit, truth->cycles);
    truth->line_precision = part(c.line_hit, truth->cycles);
    for (u32 k = 0; k < BLAME_CLASS_COUNT; k++)
        truth->class_precision[k] = part(c.class_hit[k], truth->class_cycles[k]);
    for (u32 r = 0; r < STALL_COUNT; r++) truth->reason_precision[r] = part(c.reason_hit[r], truth->reason_cycles[r]);
    return STATUS_OK;
}
