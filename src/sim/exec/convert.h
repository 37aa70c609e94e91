// SPDX-License-Identifier: Apache-2.0
// The part of cvt's selector that lives in convert_packed.c.
#ifndef WL_SIM_EXEC_CONVERT_H
#define WL_SIM_EXEC_CONVERT_H

#include "sim/exec.h"

ExecFn SIM_ISA_NAME(select_tf32)(const ExecShape *shape, SimInsn *in);

#endif
