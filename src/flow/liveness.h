// SPDX-License-Identifier: Apache-2.0
// Which values are still needed where, and how many registers that takes. A guarded definition does not end the life
// of the value before it. Computed per value by walking back from its uses to its definitions (Appel, Palsberg:
// "Modern Compiler Implementation", section 19.6; Boissinot et al. call it path exploration), so that time and memory
// are proportional to the answer: a sorted list of live-in values per block, no bit matrix. Memory belongs to the arena
// given; immutable once built.
#ifndef WL_FLOW_LIVENESS_H
#define WL_FLOW_LIVENESS_H

#include "base/bitset.h"
#include "flow/flow.h"

typedef struct Liveness {
    const Cfg *cfg;
    u32 *first;  // block b: values[first[b]] up to values[first[b + 1]], ascending; nothing for unreachable blocks
    u32 *values;
} Liveness;

WL_MUST_USE Status flow_liveness(const Cfg *cfg, Arena *arena, Liveness **liveness);

bool liveness_has_in(const Liveness *liveness, u32 block, u32 value);
u32 liveness_find_in(const Liveness *liveness, u32 block, u32 value);  // position in `values`, WL_NONE when not live-in

// Adds the values live at the block's begin or end to `set` (capacity value_count).
void liveness_add_in(const Liveness *liveness, u32 block, Bitset *set);
void liveness_add_out(const Liveness *liveness, u32 block, Bitset *set);

// From the values live after the instruction to those live before it. A walk through a block: liveness_add_out, then
// this from the last instruction to the first.
void liveness_step_back(const FlowCode *code, u32 insn, Bitset *set);

// Most registers live at once, before or right after an instruction: what an allocator without spills needs at least.
typedef struct RegisterPressure {
    u32 units;       // of 32 bits; predicates and the carry flag not counted
    u32 insn;        // the first instruction where that is so, WL_NONE in an empty function
    u32 predicates;  // most predicates at once
} RegisterPressure;

WL_MUST_USE Status flow_pressure(const Liveness *liveness, RegisterPressure *pressure);

// The units and, unless NULL, the predicates live before each instruction (0 in unreachable blocks): arrays of
// insn_count elements.
WL_MUST_USE Status flow_pressure_by_insn(const Liveness *liveness, u32 *units, u32 *predicates,
                                         RegisterPressure *pressure);

#endif
