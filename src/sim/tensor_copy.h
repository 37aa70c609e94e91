// SPDX-License-Identifier: Apache-2.0
// Copies of tensor boxes between global and shared memory, as cp.async.bulk.tensor makes them (PTX ISA 9.0, 5.5): the
// walk over the box, what lies outside of the tensor, and the swizzling of shared memory.
#ifndef WL_SIM_TENSOR_COPY_H
#define WL_SIM_TENSOR_COPY_H

#include "sim/exec.h"
#include "sim/reduce.h"
#include "sim/tensor_map.h"

typedef enum TensorAction { TENSOR_LOAD, TENSOR_STORE, TENSOR_REDUCE } TensorAction;

typedef struct TensorCopy {
    TensorMap map;
    u8 mode;        // LOAD_MODE_* of the instruction
    u8 action;      // TensorAction
    u16 reduction;  // ATOM_OP_*
    u32 rank;       // of the instruction
    i32 at[TENSOR_MAX_RANK];
    u32 offset[3];  // im2col, W first
    u64 shared;     // address of the box in shared memory
    u32 lane;
    bool again;  // for another CTA: the tensor has been read
    // set while copying
    u8 *box;  // its bytes on the host
    ReduceFn reduce;
    u32 pitch;           // bytes between rows of the box
    u64 bytes, sectors;  // of global memory, touched
} TensorCopy;

// False: x->fault says why. Nothing is written before the map and the shared addresses have been found good.
bool tensor_copy(Exec *x, TensorCopy *t);
// Bytes of the box in shared memory, as an mbarrier counts them.
u32 tensor_box_bytes(const TensorCopy *t);
// Reads the map at a generic address into t->map. False: x->fault says why.
bool tensor_map_read(Exec *x, TensorCopy *t, u64 address);

#endif
