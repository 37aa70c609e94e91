// SPDX-License-Identifier: Apache-2.0
// Results of the analyses as text, stable from run to run. The kinds are the rows of dumps.def.
#ifndef WL_FLOW_DUMP_H
#define WL_FLOW_DUMP_H

#include "flow/flow_results.h"
#include "ptx/ptx.h"

typedef enum FlowDump {
#define DUMP(name, function, text) FLOW_DUMP_##function,
#include "flow/dumps.def"
#undef DUMP
    FLOW_DUMP_COUNT
} FlowDump;

u32 flow_dump_find(Str name);  // FlowDump, WL_NONE when there is none of this name
const char *flow_dump_name(FlowDump dump);
const char *flow_dump_text(FlowDump dump);

// Appends the dump with a heading.
WL_MUST_USE Status flow_dump(FlowDump dump, const FlowResults *results, TextBuffer *out);

#endif
