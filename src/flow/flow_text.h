// SPDX-License-Identifier: Apache-2.0
// Writing text about a FlowCode: the names of its values, instructions, variables. Appends to a TextBuffer; after a
// failure the rest is dropped and `status` keeps it.
#ifndef WL_FLOW_TEXT_H
#define WL_FLOW_TEXT_H

#include "flow/flow.h"
#include "ptx/ptx.h"

typedef struct FlowText {
    TextBuffer *out;
    Status status;
} FlowText;

void flow_print(FlowText *text, const char *format, ...) WL_PRINTF(2, 3);
void flow_print_value(FlowText *text, const FlowCode *code,
                      u32 value);  // "%r12", "R12", "CC.CF"; "v3" without a module
void flow_print_variable(FlowText *text, const FlowCode *code, u32 var);
void flow_print_insn(FlowText *text, const FlowCode *code, u32 insn);  // on one line, without the semicolon
const char *flow_function_name(const FlowCode *code);                  // "code" without a module

#endif
