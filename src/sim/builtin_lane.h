// SPDX-License-Identifier: Apache-2.0
// One lane's call of a builtin: its arguments and its result. For the files that have rows of builtins.def.
#ifndef WL_SIM_BUILTIN_LANE_H
#define WL_SIM_BUILTIN_LANE_H

#include "sim/builtin.h"

typedef struct BuiltinLane {
    Exec *x;
    const SimCall *call;
    u32 lane;
} BuiltinLane;

#define BUILTIN(id, name) u64 builtin_##id(const BuiltinLane *b);  // returns the result
#include "sim/builtins.def"
#undef BUILTIN

// An argument's bytes; what was not passed is zeros.
void arg_bytes(const BuiltinLane *b, u32 index, void *to, u32 size);
u64 arg_u64(const BuiltinLane *b, u32 index);
// Stores a value where an argument points to; false with a fault when it points nowhere.
bool store_through(const BuiltinLane *b, u32 index, const void *value, u32 size);
// Device malloc; heap_free is false when the address is none of its blocks.
u64 heap_alloc(const BuiltinLane *b, u64 size);
bool heap_free(const BuiltinLane *b, u64 address);

static inline u32 lane_device(const BuiltinLane *b) { return b->x->grid->kernel->module->device; }

#endif
