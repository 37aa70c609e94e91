// SPDX-License-Identifier: Apache-2.0
// The inside of the reader, for the files of src/sass only.
#ifndef WL_SASS_SASS_INSIDE_H
#define WL_SASS_SASS_INSIDE_H

#include "sass/sass.h"

// sass_operand.c: appends the operands of an instruction as printed, separated by commas, to module->operands. What
// cannot be understood is SASS_OPERAND_OTHER.
WL_MUST_USE Status sass_parse_operands(SassModule *module, SassInsn *insn, Str text);
// A register or predicate with its decorations: "-R4.64.reuse", "!UP0"; false: something else.
bool sass_parse_reg(Str text, SassOperand *operand);
// "@!P0"; false: damaged.
bool sass_parse_guard(Str text, SassInsn *insn);

// sass_roles.c: sets is_def and the number of registers of every operand.
void sass_set_roles(SassModule *module, const SassInsn *insn);

#endif
