// SPDX-License-Identifier: Apache-2.0
// What a kernel was launched with. A number among its arguments that was the same in all launches that are looked at is
// as good as a constant for what the launch does, though not for what the compiler could know.
#ifndef WL_FLOW_ARGUMENTS_H
#define WL_FLOW_ARGUMENTS_H

#include "flow/flow.h"

typedef struct FlowArguments {  // the kernel's parameters as they lie in its memory
    const u8 *bytes;
    const bool *known;    // by byte; what belongs to a pointer is not
    const bool *pointer;  // by byte: a pointer begins there, in a structure; NULL: that is not known
    u32 size;             // 0: nothing is known
} FlowArguments;

// The number of so many bytes (4 or 8) at byte `inside` of the parameter `id` (FlowOperand.id). Of 32 bits it is taken
// for a signed one, of 64 bits it is known from 1 to UINT32_MAX: what is larger may be an address, 0 may be none.
// False: it is not known.
bool flow_argument(const FlowCode *code, const FlowArguments *arguments, u32 id, i64 inside, u32 bytes, i64 *value);
// Whether a pointer begins at byte `inside` of the parameter, which is a structure.
bool flow_argument_is_pointer(const FlowCode *code, const FlowArguments *arguments, u32 id, i64 inside);
// The 32 bits at byte `offset` of constant bank 0 in machine code.
bool flow_constant_argument(const FlowCode *code, const FlowArguments *arguments, i64 offset, i64 *value);

#endif
