// SPDX-License-Identifier: Apache-2.0
// Divisions, reciprocals and square roots of IEEE accuracy are made of two parts: a few instructions for ordinary
// values, and a subroutine for zeros, subnormal, huge and other special ones. The warp takes it when one of its lanes
// has to.
#ifndef WL_SIM_SLOW_PATH_H
#define WL_SIM_SLOW_PATH_H

#include "sim/code.h"

struct Exec;

typedef enum SlowPath { SLOW_NONE, SLOW_SPECIAL_F32, SLOW_SCALED_F32, SLOW_F64, SLOW_ROOT_F64, SLOW_PATHS } SlowPath;

bool has_slow_path(const Form *form);
// The path that the lanes in `mask` take; SLOW_NONE: the short one. Before the instruction is executed.
SlowPath slow_path(const struct Exec *x, const SimInsn *in, u32 mask);

#endif
