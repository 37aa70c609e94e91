// SPDX-License-Identifier: Apache-2.0
// Shared by the analyses of this folder: walking operands, lists grouped by a key. Not for other modules.
#ifndef WL_FLOW_UTIL_H
#define WL_FLOW_UTIL_H

#include "base/vec.h"
#include "flow/flow.h"

typedef Vec(u32) FlowNumbers;

typedef struct FlowPair {
    u32 key, item;
} FlowPair;

typedef Vec(FlowPair) FlowPairs;

// Items by key, in the order in which the pairs were made: items[first[key]] up to items[first[key + 1]].
typedef struct FlowGroups {
    u32 *first;
    u32 *items;
} FlowGroups;

WL_MUST_USE Status flow_group(const FlowPairs *pairs, u32 keys, Arena *arena, FlowGroups *groups);

// Adds the joins of a graph whose other meetings (Meets.at) are known. `kept`, `post`: the graph without edges that are
// not waited for, and its post-dominators.
WL_MUST_USE Status flow_joins(const Cfg *cfg, const Cfg *kept, const DomTree *dominators, const DomTree *post,
                              Arena *arena, Meets *meets);

// Which loops lanes leave apart (Meets.yields).
WL_MUST_USE Status flow_yields(const Cfg *cfg, Arena *arena, Meets *meets);

// How many of its first uses an instruction of this FlowArith computes with.
extern const u8 flow_arith_uses[];

static inline const FlowOperand *flow_defs(const FlowCode *code, const FlowInsn *insn) {
    return code->operands + insn->operands;
}
static inline const FlowOperand *flow_uses(const FlowCode *code, const FlowInsn *insn) {
    return code->operands + insn->operands + insn->defs;
}

// Registers of 32 bits that a value takes: none for a predicate or the carry flag.
static inline u32 flow_value_units(const FlowCode *code, u32 value) {
    return code->value_bits[value] <= 1 ? 0 : (code->value_bits[value] + 31u) / 32;
}

#endif
