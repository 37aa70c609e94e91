// SPDX-License-Identifier: Apache-2.0
// The selectors by opcode, from the exec column of ops.def.
#include "sim/exec.h"

// A name pasted to EXEC_IS_ expands to two arguments only when it is `none`; so do the choosers below.
#define EXEC_IS_none ~, 1
#define SECOND(a, b, ...) b
#define EXPAND_SECOND(...) SECOND(__VA_ARGS__)
#define IS_NONE(exec) EXPAND_SECOND(EXEC_IS_##exec, 0, 0)

#define DECLARE_0(exec) ExecFn SIM_ISA_NAME(exec_##exec)(const ExecShape *shape, SimInsn *in);
#define DECLARE_1(exec)
#define ENTRY_0(exec) SIM_ISA_NAME(exec_##exec)
#define ENTRY_1(exec) NULL

#define OP(id, name, mods, sig, flags, unit, div, exec, isa, sm) SIM_CAT(DECLARE, IS_NONE(exec))(exec)
#include "ptx/ops.def"
#undef OP

const ExecSelect SIM_ISA_NAME(exec_table)[OP_COUNT] = {
#define OP(id, name, mods, sig, flags, unit, div, exec, isa, sm) [OP_##id] = SIM_CAT(ENTRY, IS_NONE(exec))(exec),
#include "ptx/ops.def"
#undef OP
};
