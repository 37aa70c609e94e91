// SPDX-License-Identifier: Apache-2.0
// Element-wise reductions of asynchronous copies: red.async, cp.reduce.async.bulk and its tensor form.
#ifndef WL_SIM_REDUCE_H
#define WL_SIM_REDUCE_H

#include "ptx/ir.h"

// to[i] = to[i] op from[i]; the two need no alignment and do not overlap.
typedef void (*ReduceFn)(u8 *to, const u8 *from, u32 count);

// ATOM_OP_* and TYPE_*; NULL when there is no such reduction.
ReduceFn reduce_function(u16 op, u8 type);
// Addition for tensors of F32_FTZ, which is no type of PTX: subnormals are zeros.
ReduceFn reduce_add_f32_ftz(void);

#endif
