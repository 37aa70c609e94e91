// SPDX-License-Identifier: Apache-2.0
// Programs with a static cudart (nvcc's default) carry the runtime as local functions, which a preloaded library cannot
// replace by name. Their entry points are found in the executable's symbol table and overwritten with a jump to ours.
#ifndef WL_CUDART_PATCH_H
#define WL_CUDART_PATCH_H

#include "base/diag.h"

typedef enum PatchResult {
    PATCH_NONE,  // no CUDA in this program, or a shared cudart: nothing to do
    PATCH_DONE,
    PATCH_STRIPPED,  // a static cudart without names: cannot be caught
    PATCH_FAILED,    // `diag` says why
} PatchResult;

// For the running program. Must come before its constructors, which register its kernels; `patched` counts functions.
PatchResult patch_program(u32 *patched, Diag *diag);

#endif
