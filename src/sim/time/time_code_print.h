// SPDX-License-Identifier: Apache-2.0
// A TimeCode as text, for tests and for people: each block with its machine instructions in the order of issue: PTX
// instruction, unit, latency/interval, kind, and the slots it writes and reads.
#ifndef WL_SIM_TIME_CODE_PRINT_H
#define WL_SIM_TIME_CODE_PRINT_H

#include "flow/flow_text.h"
#include "sim/time/time_code.h"

WL_MUST_USE Status time_code_print(const TimeCode *code, TextBuffer *out);

#endif
