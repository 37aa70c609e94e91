// SPDX-License-Identifier: Apache-2.0
// The inside of flow_from_sass, for flow_sass*.c only.
#ifndef WL_FLOW_FLOW_SASS_H
#define WL_FLOW_FLOW_SASS_H

#include "base/vec.h"
#include "flow/flow_util.h"
#include "sass/control.h"

typedef struct SassAdapter {
    const FlowSassSource *source;
    const SassFunction *function;
    const SassOperand *sources;        // of the instruction at hand
    FlowInsn *insn;                    // ...
    u32 values[SASS_FILE_COUNT][256];  // value id + 1 of a register
    Vec(SassReg) regs;                 // by value id
    Vec(FlowOperand) operands;
    Vec(u32) targets;
} SassAdapter;

// A constant at a place that a register says; RZ is none.
bool flow_sass_is_indexed(const SassOperand *operand);
// Appends word `nth` of an operand as a use of the instruction at hand.
WL_MUST_USE Status flow_sass_use(SassAdapter *a, const SassOperand *operand, u32 nth, bool is_signed);
WL_MUST_USE Status flow_sass_immediate(SassAdapter *a, i64 value);
FlowOperand flow_sass_special(const SassOperand *operand);  // FLOW_OTHER when it is not known

// flow_sass_arith.c: what the instruction computes, as FlowArith with its uses; FLOW_OPAQUE without any.
WL_MUST_USE Status flow_sass_arith(SassAdapter *a, const SassInsn *source);

#endif
