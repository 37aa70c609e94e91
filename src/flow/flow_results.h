// SPDX-License-Identifier: Apache-2.0
// Every analysis of one function in one call, for those who want most of them. Memory belongs to the arena given.
#ifndef WL_FLOW_RESULTS_H
#define WL_FLOW_RESULTS_H

#include "flow/affine.h"
#include "flow/callgraph.h"
#include "flow/chains.h"
#include "flow/divergence.h"
#include "flow/flow.h"
#include "flow/liveness.h"

typedef struct FlowResults {
    const FlowCode *code;
    Cfg *cfg;
    DomTree *dominators, *postdominators;
    Loops *loops;  // with trip counts
    Liveness *liveness;
    RegisterPressure pressure;
    Chains *chains;
    DivergenceInfo *divergence;
    Affine *affine;
    Affine *written;  // the same without numbers for arguments: what the code says of any launch. Its accesses are the
                      // same, place by place
    const FlowArguments *arguments;  // of the launches; NULL: none are known
    const CallGraph *calls;          // of the module, set by the caller; may be NULL
} FlowResults;

WL_MUST_USE Status flow_analyse(const FlowCode *code, Arena *arena, FlowResults *results);
// Takes numbers among the arguments for constants: `affine` anew, and FlowLoop.launch_trips. They must live as long as
// the results.
WL_MUST_USE Status flow_take_arguments(FlowResults *results, const FlowArguments *arguments, Arena *arena);

#endif
