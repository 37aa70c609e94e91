// SPDX-License-Identifier: Apache-2.0
// How the stalls of a use are shared out among the sources that are left. GPA (equation 1): the more often a source was
// issued the more, the longer the way from it the less. That takes all sources for alternatives. Those of different
// operands are not: the use waits for all, so for the one that is ready last; only what reaches the same operand on
// different ways is weighed by equation 1.
#include <math.h>

#include "analyze/blame_inside.h"

// How much earlier a result has to be there to come before another one, as a rule, in cycles: what is of fixed latency
// comes in order, memory differs from one access to the next.
static f64 spread_of(const Blamer *b, const BlameSource *source) { return (f64)b->insns[source->def].spread; }

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
    u32 first, end;
    f64 sum;     // of weights by equation 1
    f64 slow;    // how often it is waited for at all: it is new (what lies ahead of a loop is waited for once) and was
                 // in no cache
    f64 ready;   // remaining, the latest
    f64 spread;  // ... give or take
    f64 last;    // how often it is the last one of all groups
    bool mate;   // not read: it shares a scoreboard with what is
} Group;

static Group group_at(const Blamer *b, u32 use, const BlameSources *sources, u32 first) {
    Group g = {.first = first, .end = first, .ready = -INFINITY, .mate = sources->list.data[first].mate};
    u32 group = sources->list.data[first].group;
    f64 issued = 0, uses = (f64)b->insns[use].weight;
    for (; g.end < sources->list.len && sources->list.data[g.end].group == group; g.end++) {
        const BlameSource *source = &sources->list.data[g.end];
        g.sum += source->weight;
        g.slow += source->weight * (f64)b->insns[source->def].miss;
        issued += (f64)b->insns[source->def].weight;
        g.ready = fmax(g.ready, source->ready);
        g.spread = fmax(g.spread, spread_of(b, source));
    }
    bool fresh = uses <= issued || b->options.no_issue_weights;
    g.slow *= (fresh ? 1 : issued / uses) / g.sum;
    return g;
}

// What shares a scoreboard was asked for in a row, and comes in that order as a rule.
enum { ROW_SPREAD = 3 };

static f64 spread_between(const Group *a, const Group *c) {
    return a->mate || c->mate ? ROW_SPREAD : fmax(a->spread, c->spread);
}

// Group `g` is the last one where each other is fast or comes earlier.
static f64 last_of(const Group *groups, u32 count, u32 g) {
    f64 part = groups[g].slow;
    for (u32 k = 0; k < count && part > 0; k++) {
        if (k == g) continue;
        f64 later = (groups[k].ready - groups[g].ready) / spread_between(&groups[k], &groups[g]);
        f64 before = 1 / (1 + exp(later));
        part *= 1 - groups[k].slow + groups[k].slow * before;
    }
    return part;
}

// Waits: for how long a use waits for its sources on average, in cycles.
static Status by_last_source(const Blamer *b, u32 use, BlameSources *sources, f64 *waits) {
    Vec(Group) groups = {0};
    Status status = STATUS_OK;
    for (u32 first = 0; first < sources->list.len && status == STATUS_OK;) {
        Group g = group_at(b, use, sources, first);
        first = g.end;
        status = vec_push(&groups, g);
    }
    f64 all = 0;
    for (u32 i = 0; i < groups.len && status == STATUS_OK; i++) {
        Group *g = &groups.data[i];
        g->last = last_of(groups.data, groups.len, i);
        for (u32 k = g->first; k < g->end; k++) sources->list.data[k].weight *= g->last / g->sum;
        *waits += g->last * fmax(g->ready, 0) * g->slow;
        all += g->last;
    }
    *waits = all > 0 ? *waits / all : 0;
    vec_free(&groups);
    return status;
}

// A use of several steps waits for its sources at the first of them and for itself at the others, one after the other.
static f64 own_wait(const Blamer *b, u32 use, StallReason reason) {
    const BlameInsn *insn = &b->insns[use];
    const GpuModel *g = b->view->gpu;
    if (reason == STALL_BRANCH_RESOLVING) return g ? fmax((f64)g->sync_latency - (f64)g->branch_latency, 1) : 1;
    f64 each = insn->halves ? (f64)insn->interval : b->step_latency;
    return reason == STALL_WAIT ? (insn->steps - 1) * fmax(each - 1, 1) : b->slow_latency;
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
        TRY(by_last_source(b, use, sources, &waits));
    scale_to_one(sources);
    if (!sources->own) return STATUS_OK;
    f64 own = own_wait(b, use, reason), part = own / (own + waits);
    if (!sources->list.len) part = 1;
    for (u32 i = 0; i < sources->list.len; i++) sources->list.data[i].weight *= 1 - part;
    return vec_push(&sources->list, ((BlameSource){.def = use, .weight = part}));
}
