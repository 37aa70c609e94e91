// SPDX-License-Identifier: Apache-2.0
// What kernels ask to be done after them (CUDA dynamic parallelism, the V2 device runtime): launches, copies, fills.
// For a launch, a kernel asks for a parameter buffer, which remembers the configuration, writes the parameters there
// and launches it. Buffers are device memory owned by the Grid's list of children.
#ifndef WL_SIM_CHILD_H
#define WL_SIM_CHILD_H

#include "sim/warp.h"

// Streams that the device runtime predefines (cuda_device_runtime_api.h).
enum { CHILD_STREAM_TAIL = 3, CHILD_STREAM_FIRE_AND_FORGET = 4 };

// The buffer's device address; 0 when `func` is no kernel of this module or the configuration is impossible.
u64 child_buffer(Exec *x, u64 func, const u32 grid[3], const u32 block[3], u32 shared);
// Queues the launch of a buffer. False when it is none, or was launched already.
bool child_launch(Exec *x, u64 buffer, u64 stream);

// Rows of bytes to be copied or filled.
typedef struct ChildBox {
    DevicePtr to, from;  // from 0: filled with `value`
    u64 to_pitch, to_slice, from_pitch, from_slice;
    u64 width, height, depth;
    u8 value;
} ChildBox;
Status child_move(Exec *x, const ChildBox *box, u64 stream);  // queues it

// After a kernel of `module` completed: runs what it queued, in order, tail launches last; frees the list.
WL_MUST_USE Status child_run_all(Sim *sim, SimModule *module, ChildList *children, Diag *diag);
// After a fault: forgets what was queued.
void child_discard(Grid *grid);

#endif
