// SPDX-License-Identifier: Apache-2.0
// Which values and branches may differ between the lanes of a warp. Everything else is the same in all active lanes.
//
// Data dependence follows the Divergence columns of ops.def and sregs.def. Sync dependence: lanes that part at a
// divergent branch meet again where disjoint paths join, and merges there differ (labels are spread from the branch's
// targets up to its post-dominator; where two meet, they join: Rosemann, Moll, Hack, "An Abstract Interpretation for
// SPMD Divergence on Reducible Control Flow Graphs", POPL 2021). Temporal divergence: when lanes may leave a loop in
// different iterations, every value computed in the loop differs outside of it.
//
// Taken for granted: lanes meet again at the immediate post-dominator at the latest; the function is entered by whole
// warps. Parameters of an entry are uniform, those of other functions and what a call returns are not. Generic and
// local loads count as divergent, because the same address may name each lane's own memory. The answer errs towards
// "divergent". Memory belongs to the arena given; immutable once built.
#ifndef WL_FLOW_DIVERGENCE_H
#define WL_FLOW_DIVERGENCE_H

#include "flow/chains.h"

typedef struct DivergenceInfo {
    const Chains *chains;
    const Loops *loops;
    Bitset nodes;  // nodes of Chains whose value may differ, inside the loop where it is made
    Bitset
        branches;    // instructions: control flow that may go different ways (ret, exit and trap under a guard as well)
    Bitset partial;  // blocks that may run with a part of the lanes, because of a divergent branch
    Bitset temporal;  // loops that lanes may leave in different iterations
} DivergenceInfo;

WL_MUST_USE Status flow_divergence(const Chains *chains, const Loops *loops, const DomTree *postdominators,
                                   Arena *arena, DivergenceInfo **info);

// A node of Chains as seen from a block: outside of its loop it may differ although it does not inside.
bool divergence_of_node(const DivergenceInfo *info, u32 node, u32 block);
// A use (index in FlowCode.operands) as instruction `insn` sees it; also special registers and parameters.
bool divergence_of_use(const DivergenceInfo *info, u32 insn, u32 operand);
bool divergence_of_guard(const DivergenceInfo *info, u32 insn);    // false when there is none
bool divergence_of_result(const DivergenceInfo *info, u32 insn);   // any definition
bool divergence_of_address(const DivergenceInfo *info, u32 insn);  // of a memory access's first address

#endif
