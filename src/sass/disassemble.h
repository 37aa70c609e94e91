// SPDX-License-Identifier: Apache-2.0
// Runs nvdisasm of the CUDA toolkit, which alone knows how instructions are encoded.
#ifndef WL_SASS_DISASSEMBLE_H
#define WL_SASS_DISASSEMBLE_H

#include "base/diag.h"
#include "base/vec.h"

typedef Vec(char) SassText;

// The path of nvdisasm: on the PATH, then $CUDA_HOME/bin, $CUDA_PATH/bin, /usr/local/cuda/bin. A string of the arena;
// NULL: there is none.
const char *sass_find_tool(Arena *arena);

// The listing (sass_read) of a cubin, by `tool`, which is run as a child. STATUS_NOT_FOUND: it cannot be run;
// STATUS_CANCELLED: not ready in `timeout_ms`; STATUS_UNSUPPORTED: it refused (an older toolkit than the code's, or
// than CUDA 12.8, from which on it has -json); STATUS_LIMIT: too long. `diag` says which.
WL_MUST_USE Status sass_disassemble(const char *tool, const u8 *cubin, size_t size, u32 timeout_ms, SassText *json,
                                    Diag *diag);

// The same of some functions only, by the indices of their symbols (CubinFunction.symbol): the cubins of large
// libraries take minutes as a whole. A function's routines come with it.
WL_MUST_USE Status sass_disassemble_some(const char *tool, const u8 *cubin, size_t size, const u32 *symbols, u32 count,
                                         u32 timeout_ms, SassText *json, Diag *diag);

#endif
