// SPDX-License-Identifier: Apache-2.0
// Launches made by kernels (CUDA dynamic parallelism, the V2 device runtime). A kernel asks for a parameter buffer,
// which remembers the configuration, writes the parameters there and launches it; the child runs when its parent grid
// is complete. Buffers are device memory owned by the Grid's list of children.
#ifndef WL_SIM_CHILD_H
#define WL_SIM_CHILD_H

#include "sim/warp.h"

// The buffer's device address; 0 when `func` is no kernel of this module or the configuration is impossible.
u64 child_buffer(Exec *x, u64 func, const u32 grid[3], const u32 block[3], u32 shared);
// Queues the launch of a buffer. False when it is none, or was launched already.
bool child_launch(Exec *x, u64 buffer);

// After `grid` completed: runs what it queued, in order. The Grid's list is taken over first, so the Grid may be used
// again inside.
WL_MUST_USE Status child_run_all(Grid *grid, Diag *diag);
// After a fault: forgets what was queued.
void child_discard(Grid *grid);

#endif
