// SPDX-License-Identifier: Apache-2.0
// Which definitions reach which uses, both ways. Kept as a pruned SSA web, so that its size is linear in the code where
// explicit lists would be quadratic: every use names one node, which is a definition or a merge. Merges are the minimal
// phi functions of Cytron et al. (TOPLAS 1991) over live values only, found by resolving one candidate per join and
// live-in value optimistically (the value-numbering view of Braun et al., "Simple and Efficient Construction of Static
// Single Assignment Form", 2013). A guarded definition does not kill: it is a node that also names what was there
// before. Memory belongs to the arena given; immutable once built.
#ifndef WL_FLOW_CHAINS_H
#define WL_FLOW_CHAINS_H

#include "base/vec.h"
#include "flow/liveness.h"

typedef struct ChainNode {
    u32 value;
    u32 block;
    u32 insn;             // WL_NONE: a merge at the begin of `block`
    u32 operand;          // of a definition: index in FlowCode.operands
    u32 args, arg_count;  // Chains.args. Merge: the node coming from each predecessor, in order; one more at the
                          // function's entry. Guarded definition: the one node that stays when the guard is false.
} ChainNode;

// Where a node is used: by instruction `insn` as `operand` (index in FlowCode.operands, WL_NONE = as its guard), or,
// when insn is WL_NONE, as an argument of node `operand`.
typedef struct ChainUser {
    u32 insn, operand;
} ChainUser;

typedef struct Chains {
    const Cfg *cfg;
    ChainNode *nodes;  // definitions in program order, then merges in order of blocks
    u32 node_count, def_count;
    u32 *args;        // nodes; WL_NONE = not written yet
    u32 *of_operand;  // FlowCode.operands -> node: a definition's own, the one that reaches a use; WL_NONE = none
    u32 *of_guard;    // instruction -> node that reaches its guard
    u32 *first_user;  // node n: users[first_user[n]] up to users[first_user[n + 1]]
    ChainUser *users;
} Chains;

WL_MUST_USE Status flow_chains(const Liveness *liveness, Arena *arena, Chains **chains);

static inline bool chain_is_merge(const Chains *chains, u32 node) { return chains->nodes[node].insn == WL_NONE; }

// Lists behind a node, through merges and guarded definitions. Reusable; one at a time.
typedef struct ChainWalk {
    const Chains *chains;
    Vec(u32) found;  // chain_reaching: definitions, ascending; chain_readers: instructions, ascending, none twice
    bool undefined;  // chain_reaching: on some path nothing was written
    Vec(u32) work;
    u32 *stamp;  // per node
    u32 round;
} ChainWalk;

WL_MUST_USE Status chain_walk_init(ChainWalk *walk, const Chains *chains, Arena *arena);
WL_MUST_USE Status chain_reaching(ChainWalk *walk, u32 node);  // all definitions that a use of `node` may see
WL_MUST_USE Status chain_readers(ChainWalk *walk, u32 def);    // all instructions that may see definition `def`
void chain_walk_free(ChainWalk *walk);

#endif
