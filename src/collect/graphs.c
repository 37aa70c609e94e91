// SPDX-License-Identifier: Apache-2.0
// Launches of graphs. What kernels one has is known from CUPTI's records of them alone; when CUPTI records no more
// (notes.c), a launch is taken to be that of the same kernels as the graph's first one. A graph that was updated since,
// or branches, may have launched others.
#include "collect/collect_inside.h"

void graphs_launch(Collector *c, const CuptiApiCall *call, u32 stack, bool noted) {
    u64 ticket;
    u32 id = 0;
    void *const *parameters = call->parameters;  // the first one is the graph
    if (!c->graphs.ring.memory) return;
    if (parameters && c->cupti.cuptiGetGraphExecId && c->cupti.cuptiGetGraphExecId(*parameters, &id) != CUPTI_OK)
        id = 0;
    GraphNote *note = ring_put(&c->graphs.ring, &ticket);
    if (!note) return;
    *note = (GraphNote){.graph = id, .correlation = call->correlation, .stack = stack, .noted = noted};
    ring_put_end(&c->graphs.ring, ticket);
    if (ticket % (GRAPH_SLOTS / 4) == 0) sem_post(&c->wake);
}

// --- the writer ---------------------------------------------------------------------------------------------------
static void begin_graph(Graphs *g, const GraphNote *note) {
    if (!note->graph || map_get(&g->by_id, note->graph) || vec_push(&g->list, (Graph){0}) != STATUS_OK) return;
    Status status = map_put(&g->by_id, note->graph, g->list.len - 1);
    if (status == STATUS_OK) status = map_put(&g->by_correlation, note->correlation, g->list.len - 1);
    (void)status;  // without memory its kernels stay unknown
}

static void write_again(Collector *c, const GraphNote *note) {
    u64 *at = note->graph ? map_get(&c->graphs.by_id, note->graph) : NULL;
    const Graph *graph = at ? &c->graphs.list.data[*at] : NULL;
    c->graphs.unknown += !graph || !graph->nodes.len;
    for (u32 i = 0; graph && i < graph->nodes.len; i++) {
        RecordLaunchDone r = graph->nodes.data[i].launch;
        const CollectFunction *function = &c->names.functions.data[graph->nodes.data[i].function];
        activity_write_launch(c, function, note->correlation, note->stack, &r);
    }
}

void graphs_take(Collector *c) {
    Graphs *g = &c->graphs;
    const GraphNote *note;
    if (!g->ring.memory) return;
    for (u64 until = atomic_load(&g->ring.head); (note = ring_take(&g->ring, until)); ring_take_end(&g->ring)) {
        if (note->noted)
            write_again(c, note);
        else
            begin_graph(g, note);
    }
    u64 missed = atomic_exchange(&g->ring.missed, 0);
    if (atomic_load(&c->notes.state) == NOTES_TAKEN) g->unknown += missed;
}

void graphs_learn(Collector *c, u32 correlation, const CollectFunction *function, const RecordLaunchDone *launch) {
    u64 *at = map_get(&c->graphs.by_correlation, correlation);
    if (!at) return;
    GraphNode node = {(u64)(function - c->names.functions.data), *launch};
    node.launch.begin_ns = node.launch.end_ns = 0;
    Status ignored = vec_push(&c->graphs.list.data[*at].nodes, node);
    (void)ignored;
}

void graphs_end(Collector *c) {
    Graphs *g = &c->graphs;
    collect_dropped(c, "launches of graphs, of whose kernels nothing is known (--all-times records all)", g->unknown);
    for (u32 i = 0; i < g->list.len; i++) vec_free(&g->list.data[i].nodes);
    vec_free(&g->list);
    map_free(&g->by_id);
    map_free(&g->by_correlation);
}
