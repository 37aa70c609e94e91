// SPDX-License-Identifier: Apache-2.0
// PTX text to Module and back.
#ifndef WL_PTX_PTX_H
#define WL_PTX_PTX_H

#include "base/diag.h"
#include "base/vec.h"
#include "ptx/ir.h"

typedef Vec(char) TextBuffer;

// Parses `text` (need not be NUL-terminated; a NUL ends it) into a new Module. `path` names it in messages. All
// problems go to `diag`: the parser resynchronises at the next ';' or '}' and goes on, so one call reports several. On
// an error *module is NULL and STATUS_INVALID comes back. The text is not needed afterwards.
WL_MUST_USE Status ptx_parse(Str text, const char *path, Module **module, Diag *diag);

// Checks what parsing alone does not: operand kinds and types against the forms, ISA and target versions, label and
// symbol use, vector widths, initialisers (PTX ISA 9.0, the constraints of each instruction). STATUS_INVALID when
// anything was reported as an error. Called by ptx_load.
WL_MUST_USE Status ptx_verify(const Module *module, Diag *diag);

// Loads of a kernel's parameters through registers that hold their addresses name them. Called by ptx_load.
WL_MUST_USE Status ptx_name_parameters(Module *module);

// parse, then verify
WL_MUST_USE Status ptx_load(Str text, const char *path, Module **module, Diag *diag);

// Appends the module as PTX that ptxas accepts; ptx_parse of it gives an equal module (module_equal).
WL_MUST_USE Status ptx_print(const Module *module, TextBuffer *out);
WL_MUST_USE Status ptx_print_insn(const Module *module, const Function *func, const Insn *insn, TextBuffer *out);

// Same content, positions in the PTX text (lines) and `path`, `hash` aside. On a difference `why` says where (may be
// NULL).
bool module_equal(const Module *a, const Module *b, char *why, size_t why_size);

size_t module_memory(const Module *module);  // bytes held
void module_free(Module *module);

#endif
