// SPDX-License-Identifier: Apache-2.0
// Functions that kernels call without defining them: the device runtime. Rows of builtins.def.
#ifndef WL_SIM_BUILTIN_H
#define WL_SIM_BUILTIN_H

#include "sim/warp.h"

typedef enum BuiltinId {
#define BUILTIN(id, name) BUILTIN_##id,
#include "sim/builtins.def"
#undef BUILTIN
    BUILTIN_COUNT
} BuiltinId;

u32 builtin_find(const char *name);  // BuiltinId, WL_NONE when there is none

// Runs the builtin for the lanes in `mask`, in order of lanes. Problems end in x->fault.
void builtin_call(Exec *x, Warp *warp, const SimCall *call, u32 mask);

// The kernel's string at a generic address, at most `size - 1` characters; false when it leaves its allocation.
bool device_string(Exec *x, u32 lane, u64 address, char *buffer, size_t size);
// Formats like the device's printf (printf.c): arguments from a packed block.
// Returns what the device's printf does: the number of arguments used, negative when it failed (then x->fault may be
// set).
i32 device_printf(Exec *x, u32 lane, u64 format, u64 arguments);
// Text to where device printf goes: SimConfig.print, or standard output.
void device_print(const Exec *x, const char *text, size_t size);

#endif
