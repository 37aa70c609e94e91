// SPDX-License-Identifier: Apache-2.0
// Divisions, reciprocals and square roots of IEEE accuracy are made of two parts: a few instructions for ordinary
// values, and a subroutine for zeros, subnormal, huge and other special ones. The warp takes it when one of its lanes
// has to.
#ifndef WL_SIM_SLOW_PATH_H
#define WL_SIM_SLOW_PATH_H

#include "sim/code.h"

struct Exec;

// Special: of a zero, infinity or NaN; scaled: of other operands.
typedef enum SlowPath {
    SLOW_NONE,
    SLOW_RCP_F32_SPECIAL,
    SLOW_RCP_F32_SCALED,
    SLOW_SQRT_F32_SPECIAL,
    SLOW_SQRT_F32_SCALED,
    SLOW_DIV_F32_SPECIAL,
    SLOW_DIV_F32_SCALED,
    SLOW_DIV_F32_SUBNORMAL,
    SLOW_RCP_F64,
    SLOW_SQRT_F64,
    SLOW_DIV_F64,
    SLOW_PATHS
} SlowPath;

bool has_slow_path(const Form *form);
// The path that the lanes in `mask` take; SLOW_NONE: the short one. Before the instruction is executed.
SlowPath slow_path(const struct Exec *x, const SimInsn *in, u32 mask);

// Atomics that shared memory cannot do itself: sums of floats, and of 64 bits all but exchanges. ptxas makes them a
// loop of a load, the arithmetic and a compare-and-swap (ATOMS.CAST.SPIN), which a lane repeats while others change the
// word in between. [L: 42 atomics compiled by ptxas 13.0 for sm_90]
bool spins_in_shared(const Form *form);

#endif
