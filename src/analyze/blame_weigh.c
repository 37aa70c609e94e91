// SPDX-License-Identifier: Apache-2.0
// How the stalls of a use are shared out among the sources that are left. GPA (equation 1): the more often a source was
// issued the more, the longer the way from it the less. That takes all sources for alternatives. Those of different
// operands are not: the use waits for all, so for the one that is ready last; only what reaches the same operand on
// different ways is weighed by equation 1.
#include <math.h>

#include "analyze/blame_inside.h"

// When the result is there, counted from the use's turn, if the warp issues once a cycle.
static f64 remaining(const Blamer *b, const BlameSource *source) {
    return (f64)b->insns[source->def].latency - (source->path.found ? (f64)source->path.least : 0);
}

// How much earlier a result has to be there to be waited for hardly ever, in cycles: what is of fixed latency comes in
// order, memory differs from one access to the next.
static f64 spread_of(const Blamer *b, const BlameSource *source) { return b->insns[source->def].parallel ? 3 : 1; }

// Equation 1 over all, as a start.
static void by_equation(const Blamer *b, BlameSources *sources) {
    for (u32 i = 0; i < sources->list.len; i++) {
        BlameSource *source = &sources->list.data[i];
        f64 issued = b->options.no_issue_weights ? 1 : (f64)b->insns[source->def].weight;
        f64 length = source->path.found && source->path.most >= 1 ? (f64)source->path.most : 1;
        if (b->options.no_path_weights) length = 1;
        source->weight = (issued > 0 ? issued : 1e-3) / length;
    }
}

// The alternatives of one group: [first, end) of the list.
typedef struct Group {
    u32 end;
    f64 sum;    // of weights by equation 1
    f64 fresh;  // part of the uses that come after a new one of them: what lies ahead of a loop is waited for once
    f64 ready;  // remaining, the latest
    f64 last;   // how likely it is the one that the use waits for
} Group;

static Group group_at(const Blamer *b, u32 use, const BlameSources *sources, u32 first, f64 latest) {
    Group g = {.end = first, .ready = -INFINITY};
    u32 group = sources->list.data[first].group;
    f64 issued = 0;
    for (; g.end < sources->list.len && sources->list.data[g.end].group == group; g.end++) {
        const BlameSource *source = &sources->list.data[g.end];
        g.sum += source->weight;
        issued += (f64)b->insns[source->def].weight;
        g.ready = fmax(g.ready, remaining(b, source));
        g.last += source->weight * exp((remaining(b, source) - latest) / spread_of(b, source));
    }
    f64 uses = (f64)b->insns[use].weight;
    g.fresh = uses > issued && !b->options.no_issue_weights ? issued / uses : 1;
    g.last *= g.fresh / g.sum;
    return g;
}

// Returns for how long a use waits for its sources on average, in cycles.
static f64 by_last_source(const Blamer *b, u32 use, BlameSources *sources) {
    f64 latest = -INFINITY, waits = 0, all = 0;
    for (u32 i = 0; i < sources->list.len; i++) latest = fmax(latest, remaining(b, &sources->list.data[i]));
    for (u32 first = 0, end; first < sources->list.len; first = end) {
        Group g = group_at(b, use, sources, first, latest);
        for (end = first; end < g.end; end++) sources->list.data[end].weight *= g.last / g.sum;
        waits += g.last * fmax(g.ready, 0) * g.fresh;
        all += g.last;
    }
    return all > 0 ? waits / all : 0;
}

// A use of several steps waits for its sources at the first of them and for itself at the others, one after the other.
static f64 own_wait(const Blamer *b, u32 use, StallReason reason) {
    const BlameInsn *insn = &b->insns[use];
    return reason == STALL_WAIT ? (insn->steps - 1) * fmax(b->step_latency - 1, 1) : b->slow_latency;
}

static void scale_to_one(BlameSources *sources) {
    f64 sum = 0;
    for (u32 i = 0; i < sources->list.len; i++) sum += sources->list.data[i].weight;
    for (u32 i = 0; i < sources->list.len; i++)
        sources->list.data[i].weight = sum > 0 ? sources->list.data[i].weight / sum : 1.0 / sources->list.len;
}

Status blame_weigh(Blamer *b, u32 use, StallReason reason, BlameSources *sources) {
    f64 waits = 0;
    by_equation(b, sources);
    if (!b->options.published && !b->options.no_last_source && sources->list.len)
        waits = by_last_source(b, use, sources);
    scale_to_one(sources);
    if (!sources->own) return STATUS_OK;
    f64 own = own_wait(b, use, reason), part = own / (own + waits);
    if (!sources->list.len) part = 1;
    for (u32 i = 0; i < sources->list.len; i++) sources->list.data[i].weight *= 1 - part;
    return vec_push(&sources->list, ((BlameSource){.def = use, .weight = part}));
}
