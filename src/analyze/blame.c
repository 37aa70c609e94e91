// SPDX-License-Identifier: Apache-2.0
#include "analyze/blame.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/blame_inside.h"

const char *const blame_class_names[BLAME_CLASS_COUNT] = {
#define BLAME_CLASS(id, text) text,
#include "analyze/blame_classes.def"
#undef BLAME_CLASS
};

// --- classes -----------------------------------------------------------------------------------------------------
// Of stalls that are no wait for a result; those are of the class of what is waited for.
static const u8 class_of_reason[STALL_COUNT] = {
    [STALL_SELECTED] = BLAME_OTHER,
    [STALL_NOT_SELECTED] = BLAME_NOT_SELECTED,
    [STALL_WAIT] = BLAME_ARITHMETIC,
    [STALL_LONG_SCOREBOARD] = BLAME_GLOBAL,
    [STALL_SHORT_SCOREBOARD] = BLAME_SHARED,
    [STALL_IMC_MISS] = BLAME_CONSTANT,
    [STALL_NO_INSTRUCTIONS] = BLAME_FETCH,
    [STALL_BRANCH_RESOLVING] = BLAME_CONTROL,
    [STALL_BARRIER] = BLAME_BARRIER,
    [STALL_MEMBAR] = BLAME_FENCE,
    [STALL_MATH_PIPE_THROTTLE] = BLAME_THROTTLE,
    [STALL_MIO_THROTTLE] = BLAME_THROTTLE,
    [STALL_LG_THROTTLE] = BLAME_THROTTLE,
    [STALL_TEX_THROTTLE] = BLAME_THROTTLE,
    [STALL_GMMA] = BLAME_TENSOR,
    [STALL_WARPGROUP_ARRIVE] = BLAME_BARRIER,
    [STALL_SLEEPING] = BLAME_OTHER,
    [STALL_DRAIN] = BLAME_THROTTLE,
    [STALL_DISPATCH] = BLAME_OTHER,
    [STALL_MISC] = BLAME_OTHER,
};

static BlameClass class_of(const Blamer *b, u32 use, StallReason reason, u32 def) {
    if (blame_is_dependency(reason) && blame_is_war(b, use, def)) return BLAME_WAR;
    bool by_source = b->insns && blame_is_dependency(reason) && b->insns[def].reasons & REASON_BIT(reason);
    return by_source ? (BlameClass)b->insns[def].class : (BlameClass)class_of_reason[reason];
}

// --- edges -------------------------------------------------------------------------------------------------------
static bool in_one_loop(const Blamer *b, u32 use, u32 def) {
    if (!b->flow) return false;
    const Loops *loops = b->flow->loops;
    u32 a = b->flow->cfg->block_of[use], c = b->flow->cfg->block_of[def];
    return flow_loop_has(loops, loops->loop_of[a], c) || flow_loop_has(loops, loops->loop_of[c], a);
}

static Status add_edge(Blamer *b, u32 use, StallReason reason, const BlameSource *source) {
    const ViewSamples *s = &b->view->samples[use];
    f32 distance = source->def == use || !source->path.found ? 0 : source->path.most;
    BlameEdge edge = {.use = use,
                      .def = source->def,
                      .reason = (u8)reason,
                      .class = (u8)class_of(b, use, reason, source->def),
                      .same_loop = in_one_loop(b, use, source->def),
                      .distance = (u32)distance,
                      .samples = (f64)s->all[reason] * source->weight,
                      .latency_samples = (f64)s->latency[reason] * source->weight};
    return vec_push(&b->edges, edge);
}

static Status add_self(Blamer *b, u32 use, StallReason reason) {
    return add_edge(b, use, reason, &(BlameSource){.def = use, .weight = 1});
}

static Status add_sources(Blamer *b, u32 use, StallReason reason, const BlameSources *sources) {
    if (!sources->list.len) return add_self(b, use, reason);
    for (u32 i = 0; i < sources->list.len; i++) TRY(add_edge(b, use, reason, &sources->list.data[i]));
    return STATUS_OK;
}

static void cover(Blamer *b, u32 before, u32 after) {
    BlameCoverage *c = &b->result->coverage;
    c->nodes++;
    c->single_before += before <= 1;
    c->single_after += after <= 1;
    c->edges_before += before;
    c->edges_after += after;
}

// A stall that is a wait for a result, or for what lies behind.
static Status blame_wait(Blamer *b, u32 use, StallReason reason, BlameSources *sources) {
    sources->list.len = sources->before = 0;
    sources->own = false;
    if (blame_is_dependency(reason)) TRY(blame_sources(b, use, reason, sources));
    u32 before = sources->before;
    if (blame_has_region(b, use, reason) && !sources->list.len) TRY(blame_region(b, use, reason, sources));
    if (sources->before < before) sources->before = before;
    if (blame_is_dependency(reason)) {
        cover(b, sources->before, sources->list.len);
        if (!sources->list.len && !sources->own) b->result->unattributed += (f64)b->view->samples[use].all[reason];
    }
    if (sources->list.len || sources->own) TRY(blame_weigh(b, use, reason, sources));
    return add_sources(b, use, reason, sources);
}

static Status known_sources(Blamer *b, u32 use, StallReason reason, BlameSources *sources) {
    sources->list.len = 0;
    return b->options.known_causes ? blame_known(b, use, reason, sources) : STATUS_OK;
}

static Status blame_uses(Blamer *b, BlameSources *sources) {
    for (u32 use = 0; use < b->view->insn_count; use++) {
        for (u32 r = STALL_SELECTED + 1; r < STALL_COUNT; r++) {
            if (!b->view->samples[use].all[r] || r == STALL_BARRIER) continue;
            TRY(known_sources(b, use, (StallReason)r, sources));
            if (sources->list.len) {
                TRY(add_sources(b, use, (StallReason)r, sources));
                continue;
            }
            TRY(b->flow ? blame_wait(b, use, (StallReason)r, sources) : add_self(b, use, (StallReason)r));
        }
    }
    return STATUS_OK;
}

static Status blame_barriers(Blamer *b, BlameSources *sources) {
    f64 *blamed = ARENA_ARRAY(&b->scratch, f64, b->view->insn_count + 1);
    if (!blamed) return STATUS_NO_MEMORY;
    for (u32 i = 0; i < b->edges.len; i++)  // waits for an issue slot too: they delay a warp as well
        blamed[b->edges.data[i].def] += b->edges.data[i].samples;
    for (u32 use = 0; use < b->view->insn_count; use++) {
        if (!b->view->samples[use].all[STALL_BARRIER]) continue;
        TRY(known_sources(b, use, STALL_BARRIER, sources));
        if (!sources->list.len && b->flow && !b->options.no_late_arrivers)
            TRY(blame_late_arrivers(b, use, blamed, sources));
        TRY(add_sources(b, use, STALL_BARRIER, sources));
    }
    return STATUS_OK;
}

static int compare_edges(const void *left, const void *right) {
    const BlameEdge *a = left, *c = right;
    if (a->use != c->use) return a->use < c->use ? -1 : 1;
    if (a->reason != c->reason) return a->reason < c->reason ? -1 : 1;
    return (a->def > c->def) - (a->def < c->def);
}

static Status keep_edges(Blamer *b) {
    u32 count = b->view->insn_count, at = 0;
    BlameEdge *edges = ARENA_ARRAY(b->arena, BlameEdge, b->edges.len + 1);
    u32 *first = ARENA_ARRAY(b->arena, u32, count + 2);
    if (!edges || !first) return STATUS_NO_MEMORY;
    if (b->edges.len) {
        qsort(b->edges.data, b->edges.len, sizeof *edges, compare_edges);
        memcpy(edges, b->edges.data, b->edges.len * sizeof *edges);
    }
    for (u32 pc = 0; pc <= count; pc++) {
        while (at < b->edges.len && edges[at].use < pc) at++;
        first[pc] = at;
    }
    b->result->edges = edges;
    b->result->first = first;
    b->result->edge_count = b->edges.len;
    return STATUS_OK;
}

static Status prepare(Blamer *b) {
    if (!b->view->flow.code) return STATUS_OK;
    b->flow = &b->view->flow;
    b->block_stamp = ARENA_ARRAY(&b->scratch, u32, b->flow->cfg->block_count + 1);
    if (!b->block_stamp) return STATUS_NO_MEMORY;
    TRY(blame_facts(b));
    TRY(blame_order(b));
    TRY(blame_slice(b));
    return blame_path_init(b);
}

static Status blame_all(Blamer *b) {
    BlameSources sources = {0};
    b->result = ARENA_NEW(b->arena, Blame);
    if (!b->result) return STATUS_NO_MEMORY;
    b->result->view = b->view;
    TRY(prepare(b));
    Status status = blame_uses(b, &sources);
    if (status == STATUS_OK) status = blame_barriers(b, &sources);
    vec_free(&sources.list);
    return status == STATUS_OK ? keep_edges(b) : status;
}

Status blame_kernel(const KernelView *view, const BlameOptions *options, Arena *arena, Blame **blame) {
    Blamer b = {.view = view, .arena = arena};
    if (options) b.options = *options;
    Status status = blame_all(&b);
    *blame = status == STATUS_OK ? b.result : NULL;
    vec_free(&b.deps);
    vec_free(&b.edges);
    arena_free(&b.scratch);
    return status;
}
