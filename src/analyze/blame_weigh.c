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
static f64 spread_of(const Blamer *b, const BlameSource *source) { return b->insns[source->def].parallel ? 8 : 1; }

static f64 latest(const Blamer *b, const BlameSources *sources) {
    f64 most = -INFINITY;
    for (u32 i = 0; i < sources->list.len; i++) most = fmax(most, remaining(b, &sources->list.data[i]));
    return most;
}

// The alternatives of one group.
typedef struct Group {
    f64 weight;  // the sum
    f64 factor;  // how likely it is the last one: the average of its alternatives
} Group;

static Group group_of(const Blamer *b, const BlameSources *sources, u32 group, f64 last) {
    Group g = {0};
    for (u32 i = 0; i < sources->list.len; i++) {
        const BlameSource *source = &sources->list.data[i];
        if (source->group != group) continue;
        g.weight += source->weight;
        g.factor += source->weight * exp((remaining(b, source) - last) / spread_of(b, source));
    }
    g.factor /= g.weight;
    return g;
}

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

static void by_last_source(const Blamer *b, BlameSources *sources) {
    f64 last = latest(b, sources);
    f64 shares[sources->list.len];
    for (u32 i = 0; i < sources->list.len; i++) {
        const BlameSource *source = &sources->list.data[i];
        Group group = group_of(b, sources, source->group, last);
        shares[i] = source->weight / group.weight * group.factor;
    }
    for (u32 i = 0; i < sources->list.len; i++) sources->list.data[i].weight = shares[i];
}

void blame_weigh(Blamer *b, u32 use, StallReason reason, BlameSources *sources) {
    (void)use;
    (void)reason;
    by_equation(b, sources);
    if (!b->options.published && !b->options.no_last_source && sources->list.len > 1) by_last_source(b, sources);
    f64 sum = 0;
    for (u32 i = 0; i < sources->list.len; i++) sum += sources->list.data[i].weight;
    for (u32 i = 0; i < sources->list.len; i++) sources->list.data[i].weight /= sum;
}
