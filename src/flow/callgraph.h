// SPDX-License-Identifier: Apache-2.0
// Who calls whom in a module, and which functions are recursive: strongly connected components, by Tarjan, "Depth-First
// Search and Linear Graph Algorithms" (1972). An indirect call goes to every function of its .calltargets list; with
// only a prototype its targets are not known. Memory belongs to the arena given; immutable once built.
#ifndef WL_FLOW_CALLGRAPH_H
#define WL_FLOW_CALLGRAPH_H

#include "base/arena.h"
#include "base/status.h"
#include "ptx/ir.h"

typedef struct CallNode {       // one per function of the module
    u32 callees, callee_count;  // CallGraph.edges, ascending, none twice
    u32 callers, caller_count;
    u32 component;       // functions that call each other have the same; callees' are lower
    bool recursive;      // can come back to itself
    bool calls_unknown;  // has an indirect call without a list of targets
    bool address_taken;  // may be the target of such a call
} CallNode;

typedef struct CallGraph {
    const Module *module;
    CallNode *nodes;
    u32 *edges;
    u32 component_count;
} CallGraph;

WL_MUST_USE Status flow_callgraph(const Module *module, Arena *arena, CallGraph **graph);

#endif
