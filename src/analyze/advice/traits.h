// SPDX-License-Identifier: Apache-2.0
// For traits*.c only.
#ifndef WL_ANALYZE_ADVICE_TRAITS_H
#define WL_ANALYZE_ADVICE_TRAITS_H

#include "flow/flow.h"

// TRAITs of a machine instruction that its unit does not say.
u32 insn_traits_sass(const FlowCode *code, u32 pc);

#endif
